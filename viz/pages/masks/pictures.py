"""Pictures of masks for "Save · Code": a head with its mask and without, one mask large, that of each sentence."""

from dataclasses import replace

from viz.figures import attention_heatmap, mask_heatmap
from viz.pages.masks.compared import Compared, of_batch, of_text, text_request
from viz.pages.masks.page import Choice
from viz.text.language import say
from viz.text.words_masks import MASKS, SENTENCES, TEXT_MASKS, axes, kind_of
from viz.views.results.head_sources import name_of
from viz.views.results.mask_results import Result, axes_code
from viz.views.snippets import Code, Plot, program, snippet

HEAD = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    $weights[$layer, $head],
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=$mask,
)
figure.show()
"""
MASK = """
from viz.figures import mask_heatmap

figure = mask_heatmap(
    $mask,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    padding=$padding,
    look_ahead=$look_ahead,
    legend=False,
)
figure.show()
"""
# Why a cell is blocked: of masks that are not of padding only, the parts that say it.
PARTS = {
    "look_ahead": {"look_ahead": "look_ahead"},
    "decoder_self": {"look_ahead": "look_ahead", "padding": "target_padding"},
}


def plots(choice: Choice) -> dict[str, Plot]:
    """The pictures of a view by name: none of one in code or numbers. Errors as in `Request.batch` and `pack_texts`."""
    if choice.mask in TEXT_MASKS:
        request = text_request(choice)
        if request is not None:
            return _of_text(of_text(request, choice.mask), choice)
        choice = replace(choice, mask="decoder_self")
    compared, result = of_batch(choice)
    if choice.view == "both":
        return heads(compared, choice)
    if choice.view == "head":
        return {"large-mask": _large_mask(compared, choice, result)}
    return sentences(compared, choice, result) if choice.view == "sentences" else {}


def _of_text(compared: Compared, choice: Choice) -> dict[str, Plot]:
    if choice.view == "both":
        return heads(compared, choice)
    return {"large-mask": _large_text_mask(compared)} if choice.view == "head" else {}


def heads(compared: Compared, choice: Choice) -> dict[str, Plot]:
    """A head under its mask and, where something is changed, without."""
    n_layers, n_heads = compared.weights[1].shape[:2]
    layer, head = choice.head_of((n_layers, n_heads), compared.most_telling_head)
    name = name_of(kind_of(compared.mask), layer, head)
    titles = axes(compared.mask)
    codes, origin = compared.codes, compared.origin
    plots = {}
    for number, key in enumerate(("head-with", "head-without") if compared.is_changed else ("head-with",)):
        weights, mask = compared.weights[number][layer, head], compared.masks[number]
        figure = attention_heatmap(weights, compared.queries, compared.keys, **titles, mask=mask, say=say)
        code = snippet(
            HEAD,
            weights=codes.weights[number],
            layer=layer,
            head=head,
            queries=codes.queries,
            keys=codes.keys,
            mask=codes.masks[number],
            **titles,
        )
        plots[key] = Plot(f"{compared.titles[number]}: {name}", origin.note, figure, program(origin.code, code))
    return plots


def _large_text_mask(compared: Compared) -> Plot:
    """A mask of texts in one row."""
    titles, codes, origin = axes(compared.mask), compared.codes, compared.origin
    number = 1 if compared.mask == "prefix" else 0
    figure = mask_heatmap(compared.masks[number], compared.queries, compared.keys, **titles, legend=False, say=say)
    parts = {"padding": None, "look_ahead": None}
    code = snippet(MASK, mask=codes.masks[number], queries=codes.queries, keys=codes.keys, **titles, **parts)
    return Plot(say(TEXT_MASKS[compared.mask][0]), origin.note, figure, program(origin.code, code))


def _large_mask(compared: Compared, choice: Choice, result: Result) -> Plot:
    """A mask of the chosen sentence, as it is changed, with why cells are blocked."""
    name, sentence = choice.mask, choice.sentence
    titles, codes, origin = axes(name), compared.codes, compared.origin
    of_parts = PARTS.get(name, {"padding": name})
    parts = {part: result.original.masks[mask][sentence] for part, mask in of_parts.items()}
    figure = mask_heatmap(
        result.with_changes.masks[name][sentence],
        compared.queries,
        compared.keys,
        **titles,
        padding=parts.get("padding"),
        look_ahead=parts.get("look_ahead"),
        legend=False,
        say=say,
    )
    code_of_parts = {part: Code(f"result.masks[{mask!r}][{sentence}]") for part, mask in of_parts.items()}
    code = snippet(
        MASK,
        mask=_code_of_mask(compared, sentence),
        queries=codes.queries,
        keys=codes.keys,
        padding=code_of_parts.get("padding"),
        look_ahead=code_of_parts.get("look_ahead"),
        **titles,
    )
    return Plot(say(MASKS[name][0]), origin.note, figure, program(origin.code, code))


def _code_of_mask(compared: Compared, sentence: int) -> Code:
    """Python for a mask of a sentence, as it is changed."""
    variable = "changed" if compared.is_changed else "result"
    return Code(f"{variable}.masks[{compared.mask!r}][{sentence}]")


def sentences(compared: Compared, choice: Choice, result: Result) -> dict[str, Plot]:
    """The chosen mask of every sentence of the batch."""
    name, origin = choice.mask, compared.origin
    titles = axes(name)
    parts = {"padding": None, "look_ahead": None}
    plots = {}
    for sentence, mask in enumerate(result.with_changes.masks[name]):
        queries, keys = result.axes(name, sentence)
        figure = mask_heatmap(mask, queries, keys, **titles, legend=False, say=say)
        rows, columns = axes_code(name, sentence)
        mask_code = _code_of_mask(compared, sentence)
        code = snippet(MASK, mask=mask_code, queries=rows, keys=columns, **titles, **parts)
        title = say(SENTENCES["numbered"], number=sentence + 1)
        plots[f"sentence-{sentence}"] = Plot(title, origin.note, figure, program(origin.code, code))
    return plots
