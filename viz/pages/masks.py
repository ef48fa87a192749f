"""The page Masks: who may attend to whom in a padded batch, and what leaks where a mask is left out."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.checkpoint import available
from model.experiments import masks as mask_experiments
from model.experiments import text_masks
from model.interventions.edits import Cell, Edits
from model.translation import SIDES
from viz.figures import attention_heatmap, mask_heatmap
from viz.figures.framed import shown_token
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.text.words_masks import CONVENTIONS, FLEX, MASKS, PAIRS, TEXT_MASKS, axes, code, flex_code, kind_of
from viz.ui import choices, controls, frame, shared, speaking
from viz.ui.frame import Tile
from viz.views import cached, mask_results
from viz.views.heads_results import name_of
from viz.views.made import Made, Recipe, made, value_of
from viz.views.mask_results import Leak, Request, Result, TextRequest, TextResult

CELLS = "cells"
WINDOWS = 2, 3, 4, 6, 8
MODERN = "wikitext2-modern"
# Why a cell is blocked: of masks that are not of padding only, the parts that say it.
PARTS = {"look_ahead": {"look_ahead": "look_ahead"}}
PARTS["decoder_self"] = PARTS["look_ahead"] | {"padding": "target_padding"}
LEFT_OUT = {
    "nothing": message("All masks"),
    "look-ahead": message("No look-ahead"),
    "padding": message("No padding mask"),
    "both": message("Neither"),
}
NO_MASK = messages(
    padding="the padding mask",
    both="both masks",
)
NO_MASK["look-ahead"] = message("the look-ahead mask")
ROWS = {
    "scores": message("score"),
    "-inf": message("−inf, then softmax"),
    "-1e9": message("−1e9, then softmax"),
    "fused": "F.scaled_dot_product_attention",
    "ours": message("this project"),
}


@dataclass(frozen=True)
class Choices:
    """What is chosen of a batch: which sentence (from 0), which mask, what is left out, which cells are flipped."""

    sentence: int
    mask: str
    left_out: str
    cells: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Compared:
    """One kind of attention under two masks: weights (L, H, T, S), masks (T, S), what stands beside the maps."""

    mask: str
    queries: Made
    keys: Made
    weights: tuple[Made, Made]
    masks: tuple[Made, Made]
    opened: np.ndarray  # bool (T, S): what to ring
    titles: tuple[tuple[str, str], tuple[str, str]]
    recipe: Recipe

    @property
    def names(self) -> tuple[list[str], list[str]]:
        return tuple([shown_token(token) for token in value_of(side)] for side in (self.queries, self.keys))


def flip(*cell: int) -> None:
    st.session_state[CELLS] = sorted({*st.session_state.get(CELLS, ())} ^ {cell})


def forget() -> None:
    """Another mask or sentence: flipped cells are of the one before, and its most telling head is opened."""
    st.session_state[CELLS] = []
    frame.forget_head()


def ask(checkpoint: str) -> tuple[Request, int]:
    """The batch, and the number of the sentence that is shown; the other sentences keep their texts."""
    state, query = st.session_state, st.query_params
    once = {"on_change": forget, "label_visibility": "collapsed"}
    count_of = choices.code_of("sentences", "3")
    count = int(count_of) if count_of in ("2", "3", "4") else 3
    if choices.code_of("batch", "sentences") == "example":
        number = controls.choose(say("Sentence"), (1, 2, 3), "sentence", **once)
        return Request(checkpoint), number - 1
    number = controls.choose(say("Sentence"), range(1, count + 1), "sentence", **once)
    card = cached.translator(checkpoint).card
    sides = messages(source="Source", target="Target").items()
    pairs = []
    for at, examples in enumerate(PAIRS[:count], 1):
        pair = []
        for (side, name), example in zip(sides, examples):
            key, label = f"{side}{at}", f"{words.language(card.get(side), name)} {at}"
            if at == number:
                pair.append(controls.text(label, example, key, live="200ms", label_visibility="collapsed"))
                continue
            text = state.setdefault(key, query.get(key, example))
            choices.told({key: None if text == example else text})
            pair.append(text)
        pairs.append(pair)
    return Request(checkpoint, *zip(*pairs)), number - 1


def settings(checkpoint: str) -> DeltaGenerator:
    """What is set once: which batch, and how many sentences it has; and the model. Returns the menu, for more."""
    batches = messages(sentences="My sentences", example="Worked example")
    help_ = say("4, 2 and 6 tokens in a batch 7 wide, the same on both sides: each token is 2, padding 1 (here: 0).")
    count = sum(
        choices.code_of(key, default) != default for key, default in (("batch", "sentences"), ("sentences", "3"))
    )
    count += bool(choices.code_of(CELLS, ""))
    menu = frame.options(count, "masks")
    with menu:
        if controls.choose(say("Batch"), batches, "batch", help=help_) == "sentences":
            controls.choose(say("Sentences"), (2, 3, 4), "sentences", 3)
        flipped = st.container()
        shared.card(checkpoint)
    return flipped


def of_batch(request: Request, chosen: Choices) -> tuple[Compared, Result]:
    """A head with the masks of the model, and with what is left out or flipped."""
    kind, sentence = kind_of(chosen.mask), chosen.sentence
    changed = mask_results.change(chosen.left_out, kind, chosen.cells)
    result = mask_results.compute(request, changed)
    own, other = made(result.own, "result"), made(result.other, "changed" if changed else "result")
    masks = tuple(one.masks[kind][sentence] for one in (own, other))
    real = result.lengths[sentence][1 if SIDES[kind][0] == "target" else 0]
    opened = ~value_of(masks[0]) & value_of(masks[1])
    opened[real:] = False  # what padding attends to matters to nobody
    left_out = chosen.left_out != "nothing"
    without = say("Without {mask}", mask=say(NO_MASK[chosen.left_out])) if left_out else say("With flipped cells")
    first = say("With its masks"), ""
    compared = Compared(
        chosen.mask,
        *result.axes(kind, sentence),
        tuple(one.weights[kind][sentence] for one in (own, other)),
        masks,
        opened,
        (first, (without, say("leaks") if opened.any() else "") if changed else first),
        mask_results.recipe(request, changed),
    )
    return compared, result


def of_text(request: TextRequest, mask: str) -> Compared:
    """A head of a language model under the causal mask and under another one."""
    result = mask_results.compute_texts(request)
    causal, other = (result.passes[name] for name in ("causal", mask))
    tokens = made(result.packed, "packed").tokens
    name = say(TEXT_MASKS[mask][0])
    masked = (name, ""), made(other, mask)
    plain = (say("Causal mask only"), ""), made(causal, "causal")
    if mask == "prefix":
        first, second, opened = plain, masked, other.mask & ~causal.mask
    else:
        first, second, opened = masked, plain, causal.mask & ~other.mask
    marked = {"documents": say("leaks"), "window": say("sees further"), "prefix": say("reads ahead")}[mask]
    titles = first[0], (second[0][0], marked if opened.any() else "")
    weights, masks = ((getattr(first[1], name), getattr(second[1], name)) for name in ("weights", "mask"))
    recipe = mask_results.text_recipe(request, mask)
    return Compared(mask, tokens, tokens, weights, masks, opened, titles, recipe)


def head_of(compared: Compared, place: tuple[int, int]) -> tuple[np.ndarray, Leak | None]:
    """The weights (T, S) of the second map in a head, and what leaks there."""
    weights = value_of(compared.weights[1])[place]
    return weights, mask_results.leak(compared.opened, weights)


def answer_of(compared: Compared, chosen: Choices, found: Leak | None, result: Result | None) -> str:
    """The answer of the page, with the numbers of the head that is shown."""
    if found is None:
        if chosen.mask in TEXT_MASKS:
            return say("This mask changes nothing in this row: it is too short.")
        if chosen.cells:
            return say("No flipped cell opens a way that this head takes.")
        if chosen.left_out == "nothing":
            mask = value_of(compared.masks[0])
            line = message("The masks hold: the {n} blocked cells of {total} get 0% of the attention.")
            return say(line, n=int((~mask).sum()), total=mask.size)
        return say("Leaving out {mask} opens no cell here.", mask=say(NO_MASK[chosen.left_out]))
    queries, keys = compared.names
    values = {"query": queries[found.row], "key": keys[found.column], "share": found.weight}
    if chosen.mask == "window":
        line = message(
            "With a window “{query}” loses sight of “{key}”, which gets {share:.0%} of its attention otherwise."
        )
        return say(line, **values)
    if chosen.mask == "documents":
        line = message(
            "Without the document mask “{query}” reads another text: “{key}” gets {share:.0%} of its attention."
        )
        return say(line, **values)
    if chosen.mask == "prefix":
        return say("In the prefix “{query}” reads ahead: “{key}” gets {share:.0%} of its attention.", **values)
    if (
        kind_of(chosen.mask) == "decoder_self"
        and found.column == found.row + 1
        and not is_padding(result, chosen, found)
    ):
        line = message(
            "“{query}” sees the very word that it has to predict: “{key}” gets {share:.0%} of its attention."
        )
        return say(line, **values)
    if is_padding(result, chosen, found):
        line = message("Without the padding mask “{query}” gives {share:.0%} of its attention to padding.")
        return say(line, query=values["query"], share=found.of_row)
    if chosen.cells and chosen.left_out == "nothing":
        return say("The opened cell lets “{query}” read “{key}”: {share:.0%} of its attention.", **values)
    line = message("Without the look-ahead mask “{query}” reads the future: “{key}” gets {share:.0%} of its attention.")
    return say(line, **values)


def is_padding(result: Result, chosen: Choices, found: Leak) -> bool:
    side = SIDES[kind_of(chosen.mask)][1]
    return found.column >= result.lengths[chosen.sentence][side == "target"]


def below_answer(compared: Compared, chosen: Choices, result: Result | None, text: TextResult | None) -> str:
    """What the whole model makes of it, in numbers."""
    if text is not None:
        causal, other = (text.passes[name].loss for name in ("causal", compared.mask))
        line = message("Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one.")
        if compared.mask == "prefix":
            line = message(
                "Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one: the "
                "prefix sees the words that it predicts."
            )
        return say(line, causal=causal, other=other)
    number = say("Sentence {number} of {total}.", number=chosen.sentence + 1, total=len(result.lengths))
    own, other = result.reference[chosen.sentence]
    if own == other:
        source, target = result.lengths[chosen.sentence]
        line = message("{source} source and {target} target tokens are real, the rest is padding.")
        return f"{number} {say(line, source=source, target=target)}"
    factor = np.exp(abs(own - other))
    times = words.number(float(factor)) if factor < 100 else say("{x:,.0f}", x=float(f"{factor:.1e}"))
    line = message("With the mask these cells get 0%. Without it the reference is {times} times more probable.")
    if other < own:
        line = message(
            "With the mask these cells get 0%. Without it the reference is {times} times less probable: this model was "
            "trained with the mask."
        )
    return f"{number} {say(line, times=times)}"


def mask_tiles(result: Result, sentence: int, texts: TextResult | None) -> list[Tile]:
    """The masks of the batch, as the model used them, and of the texts in one row."""
    masks = result.own.masks
    tiles = []
    for mask, (name, _) in MASKS.items():
        side = SIDES[kind_of(mask)][1]
        real = np.arange(masks[mask].shape[-1]) < result.lengths[sentence][side == "target"]
        padding = None if mask == "look_ahead" else real[None]
        tiles.append(Tile(mask, say(name), pixels=frame.mask_pixels(masks[mask][sentence], padding)))
    for mask, (name, _) in TEXT_MASKS.items() if texts else ():
        tiles.append(Tile(mask, say(name), pixels=frame.mask_pixels(texts.passes[mask].mask)))
    return tiles


def axes_of(mask: str) -> dict[str, str]:
    return {} if mask in TEXT_MASKS else axes(mask)


def draw_head(compared: Compared, place: tuple[int, int], found: Leak | None, is_changed: bool) -> None:
    plots, titles, rings = {}, {}, {}
    both = list(zip(("head-with", "head-without"), compared.weights, compared.masks, compared.titles))
    for number, (key, weights, mask, title) in enumerate(both[: 2 if is_changed else 1]):
        name = name_of(kind_of(compared.mask), *place)
        more = axes_of(compared.mask) | {"mask": mask}
        sides = compared.queries, compared.keys
        plots[key] = compared.recipe.plot(f"{title[0]}: {name}", attention_heatmap, weights[place], *sides, **more)
        titles[key] = title
        rings[key] = found.cells if found and number else []
    frame.pictures(plots, titles=titles, rings=rings, bar=not is_changed)


def draw_mask(compared: Compared, chosen: Choices, result: Result | None) -> None:
    """The large mask; of a batch a click flips a cell."""
    told = {"legend": False}
    sides = compared.queries, compared.keys
    if result is None:
        values = compared.masks[1 if compared.mask == "prefix" else 0]
        title, clicked = say(TEXT_MASKS[compared.mask][0]), None
    else:
        sentence, is_changed = chosen.sentence, chosen.cells or chosen.left_out != "nothing"
        own, other = made(result.own, "result"), made(result.other, "changed" if is_changed else "result")
        values, title = other.masks[compared.mask][sentence], say(MASKS[compared.mask][0])
        parts = PARTS.get(compared.mask, {"padding": compared.mask})
        told |= {name: own.masks[part][sentence] for name, part in parts.items()}
        clicked = flip if compared.mask == kind_of(compared.mask) else None
    plots = {"large-mask": compared.recipe.plot(title, mask_heatmap, values, *sides, **axes_of(compared.mask), **told)}
    frame.pictures(plots, titles={"large-mask": (title, "")}, on_click=clicked)


def show_sentences(compared: Compared, chosen: Choices, result: Result) -> None:
    name = "changed" if chosen.cells or chosen.left_out != "nothing" else "result"
    plots, titles = {}, {}
    for sentence, (source, target) in enumerate(result.lengths):
        key, title = f"sentence-{sentence}", say("Sentence {number}", number=sentence + 1)
        sides = result.axes(compared.mask, sentence)
        values = made(result.other, name).masks[compared.mask][sentence]
        plots[key] = compared.recipe.plot(title, mask_heatmap, values, *sides, **axes(compared.mask), legend=False)
        line = say("{source} source and {target} target tokens", source=source, target=target)
        titles[key] = f"{title}: {line}", ""
    half = list(plots)[:2], list(plots)[2:]
    for keys in filter(None, half):
        frame.pictures({key: plots[key] for key in keys}, titles=titles, fills=False)


def show_conventions(compared: Compared) -> None:
    """One mask as libraries take it, and the lines that apply it."""
    frame.picture_title("F.scaled_dot_product_attention", small=say(CONVENTIONS["keep"][0]), tag="code")
    st.code(code(compared.mask, "keep"), language="python", wrap_lines=True)
    frame.picture_title("FlexAttention", small=say(FLEX), tag="code")
    st.code(flex_code(compared.mask), language="python", wrap_lines=True)
    for convention in ("additive", "blocked", "integers"):
        name, users, _ = CONVENTIONS[convention]
        frame.picture_title(say(name), small=say(users))
        st.code(code(compared.mask, convention), language="python", wrap_lines=True)


def show_numbers(request: Request, chosen: Choices) -> None:
    """What padding and the future change, with the mask and without."""
    count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
    measures = (
        (say("Padding must change nothing"), say("Logits at real steps when source and target get pads."), count),
        (say("The future must not leak"), say("Logits before the last step when the last token becomes <unk>.")),
    )
    for title, line, *pads in shared.columns(measures):
        frame.picture_title(title, small=line)
        try:
            on, off = map(words.number, mask_results.differences(request, chosen.sentence, *pads))
        except ValueError as error:
            shared.warn(errors.sentence(error))
            continue
        with shared.row(gap="large"):
            st.metric(say("Largest change, mask on"), on)
            st.metric(say("Largest change, mask off"), off)


def show_nothing(compared: Compared, chosen: Choices, result: Result, place: tuple[int, int]) -> None:
    frame.picture_title(say("What if all keys of a query are blocked?"), small=say("This head's first row, four ways:"))
    scores = result.own.scores[kind_of(compared.mask)][chosen.sentence, *place, 0]
    table = {say("key"): compared.names[1]}
    for name, row in ({"scores": scores} | mask_experiments.nothing_to_attend(scores)).items():
        table[say(ROWS[name])] = ["NaN" if np.isnan(number) else say("{x:.3f}", x=number) for number in row]
    st.dataframe(table, hide_index=True, key="nothing")
    frame.note(say("NaN spreads through the whole sentence; a uniform row attends to padding and future, too."))


def effect(compared: Compared, chosen: Choices, result: Result, place: tuple[int, int]) -> str:
    """How much the change moves weights, logits and the likeliest next tokens."""
    kind, here = kind_of(compared.mask), (chosen.sentence, *place)
    pairs = result.likeliest[chosen.sentence]
    changed = [
        say("step {step}: {a} → {b}", step=t, a=shown_token(a), b=shown_token(b))
        for t, (a, b) in enumerate(pairs)
        if a != b
    ]
    change = np.abs(result.own.weights[kind][here] - result.other.weights[kind][here]).max()
    line = say(
        "Largest changes: {weight} for a weight in this map, {logit} for a logit at real steps. The likeliest next "
        "token changes at {n} of {total} steps.",
        weight=words.number(float(change)),
        logit=words.number(result.difference[chosen.sentence]),
        n=len(changed),
        total=len(pairs),
    )
    return f"{line} {' · '.join(changed)}"


def under_picture(
    compared: Compared, chosen: Choices, found: Leak | None, result: Result | None, place: tuple[int, int]
) -> str:
    """What the row of the largest leak attends to under both masks, and how many next tokens change."""
    queries, keys = compared.names
    rows = [value_of(weights)[place] for weights in compared.weights]
    row = found.row if found else int(rows[0][: len(queries)].max(-1).argmin())
    tops = [int(weights[row].argmax()) for weights in rows]
    values = {"query": queries[row], "a": keys[tops[0]], "b": keys[tops[1]]}
    values |= {"x": float(rows[0][row, tops[0]]), "y": float(rows[1][row, tops[1]])}
    if not found:
        return say("“{query}” attends most to “{a}” ({x:.2f}).", **values)
    line = say("Left “{query}” attends most to “{a}” ({x:.2f}), right to “{b}” ({y:.2f}).", **values)
    if result is None:
        return line
    pairs = result.likeliest[chosen.sentence]
    changed = sum(a != b for a, b in pairs)
    return f"{line} {say('The likeliest next token changes at {n} of {total} steps.', n=changed, total=len(pairs))}"


def link_to_steer(request: Request, chosen: Choices, result: Result) -> None:
    """On Steer the model writes a translation of its own with the flipped cells."""
    kind = kind_of(chosen.mask)
    real = dict(zip(("source", "target"), result.lengths[chosen.sentence]))
    n_queries, n_keys = (real[side] for side in SIDES[kind])
    mask = result.own.masks[kind]
    cells = [Cell(kind, t, s, not mask[b, t, s]) for b, t, s in chosen.cells if t < n_queries and s < n_keys]
    if cells and request.sources:
        query = {"text": request.sources[chosen.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(speaking.link(say("Translate with these cells on Steer"), "steer", query))


VIEWS = messages(
    both="Head under the mask",
    head="Mask, large",
    sentences="All sentences",
    code="PyTorch",
    numbers="As numbers",
    blocked="No key left",
)
OF_TEXT = ("both", "head", "code")


def language_model() -> str | None:
    """The model under the masks of texts: that of today where it is there."""
    names = available("language_model")
    return MODERN if MODERN in names else next(iter(names), None)


def texts_of(request: Request, window: int) -> TextRequest | None:
    name = language_model()
    return TextRequest(name, request.sources, window) if name and request.sources else None


def flipped_cells(compared: Compared, sentence: int) -> list[tuple[int, int, int]]:
    queries, keys = compared.names
    spots = {(t, s): f"{t} {row} → {s} {key}" for t, row in enumerate(queries) for s, key in enumerate(keys)}
    cells = controls.some(
        st.multiselect,
        say("Flipped cells"),
        list(spots),
        [],
        CELLS,
        format_func=lambda cell: spots.get(tuple(cell), ""),
        placeholder=say("Click a cell of the mask"),
        help=say("Opens blocked cells and blocks open ones, in all layers and heads, for this sentence."),
    )
    return [(sentence, *cell) for cell in sorted(cells)]


@choices.fragment
def live() -> None:
    places = frame.places()
    with places.notes:
        if (checkpoint := controls.default_model()) is None:
            return
    with places.question:
        request, sentence = ask(checkpoint)
        flipped = settings(checkpoint)
    with places.notes:
        answered = shared.compute_or_keep("masks-answered", request, mask_results.compute, Request(checkpoint))
    if answered is None:
        return
    request, plain = answered
    sentence = min(sentence, len(plain.lengths) - 1)
    window = int(choices.code_of("window", str(text_masks.WINDOW)))
    of_texts = texts_of(request, window)
    texts = None
    if of_texts is not None:
        try:
            texts = mask_results.compute_texts(of_texts)
        except ValueError as error:
            with places.notes:
                shared.small(errors.sentence(error), "texts")
    with places.left:
        tiles = mask_tiles(plain, sentence, texts)
        mask = frame.choose_tile(say("Masks"), tiles, "mask", "decoder_self", columns=4, on_change=forget)
    is_text = mask in TEXT_MASKS
    with places.left_controls:
        if is_text:
            left_out = "nothing"
            if mask == "window":
                frame.note(say("Window (keys)"))
                hidden = {"label_visibility": "collapsed"}
                window = controls.choose(say("Window (keys)"), WINDOWS, "window", text_masks.WINDOW, **hidden)
            else:
                frame.note(say("The source texts in one row, read by {name}.", name=of_texts.checkpoint))
        else:
            left_out = controls.choose(
                say("Leave out"), LEFT_OUT, "without", "look-ahead", label_visibility="collapsed"
            )
    with places.right_controls:
        views = {name: VIEWS[name] for name in (OF_TEXT if is_text else VIEWS)}
        view = controls.views(views, "show")
    chosen, result = Choices(sentence, mask, left_out, []), None
    if is_text:
        compared = of_text(of_texts, mask)
    else:
        compared, _ = of_batch(request, chosen)
        with flipped:
            chosen = Choices(sentence, mask, left_out, flipped_cells(compared, sentence))
        compared, result = of_batch(request, chosen)
    is_changed = is_text or bool(chosen.cells) or left_out != "nothing"
    weights = value_of(compared.weights[1])
    default = mask_results.leaking_head(compared.opened, weights)
    with places.left:
        frame.picture_title(say("Heads of this kind"), small=say("rows: layers, columns: heads"))
        place = frame.choose_head(weights, value_of(compared.masks[1]), default)
        frame.note(purpose(mask, window))
    _, found = head_of(compared, place)
    with places.answer:
        frame.answer(
            answer_of(compared, chosen, found, result),
            below_answer(compared, chosen, result, texts if is_text else None),
        )
    with places.right:
        if view == "both":
            draw_head(compared, place, found, is_changed)
        elif view == "head":
            draw_mask(compared, chosen, result)
        elif view == "sentences":
            show_sentences(compared, chosen, result)
        elif view == "code":
            show_conventions(compared)
        elif view == "numbers":
            show_numbers(request, chosen)
        else:
            show_nothing(compared, chosen, result, place)
        if view in ("both", "head"):
            frame.note(under_picture(compared, chosen, found, result, place))
        if view in ("both", "head") and chosen.cells and not is_text:
            link_to_steer(request, chosen, result)
        if view == "numbers" and is_changed:
            frame.note(effect(compared, chosen, result, place))


def purpose(mask: str, window: int) -> str:
    """What a mask is for."""
    return say((MASKS | TEXT_MASKS)[mask][1], n=window - 1) if mask == "window" else say((MASKS | TEXT_MASKS)[mask][1])


frame.opening(say("Masks"))
live()
