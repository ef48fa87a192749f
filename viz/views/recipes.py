"""How translations are computed, in words and in Python."""

import textwrap

from model.results.recording import Recording, axis_tokens, row_naming
from model.results.translation import SIDES, Translation
from model.storage.checkpoint import available
from viz.figures import attention_heatmap
from viz.figures.labels import in_quotes
from viz.text.language import say
from viz.text.words import BEAMS, Axes
from viz.views import model_shelf
from viz.views.cached import Request
from viz.views.snippets import Code, Origin, Plot, call, program, snippet
from viz.views.view import LENGTH_PENALTY

LOADING = """
from model import $load
$name = $load($place)
"""
EDITS = """
from model.interventions.edits import Edits
edits = $edits
"""
MOVED = """
from model.experiments.positions import changed_positions
with $positions:
"""
HEAD = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    result.attention($kind)[$layer, $head],
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=result.mask($kind),
)
figure.show()
"""


def decoded(beam: int) -> str:
    """How wide the search is, in words."""
    return say("beam {width}", width=beam) if beam > 1 else say(BEAMS[1])


def load_code(model: str, name: str = "translator") -> str:
    """The snippet that loads a checkpoint or a model of transformers."""
    load = "load_translator"
    place = model
    if model in model_shelf.SHELF:
        load = "load_model"
        place = model_shelf.SHELF.place(model)
    return snippet(LOADING, load=Code(load), name=Code(name), place=place)


def origin(request: Request) -> Origin:
    """How `result` is computed, the translation of a request or what a model read."""
    search = decoded(request.beam) if writes_target(request.model) else ""
    if request.reference is not None:
        search = say("reading the reference “{reference}”", reference=request.reference)
    elif request.messages is not None:
        search = say("as a chat turn")
    address = request.changes.address()
    prefix = say("locked beginning {code}", code=address["prefix"]) if "prefix" in address else ""
    parts = (
        in_quotes(request.text, say),
        request.model,
        search,
        address.get("edits"),
        prefix,
        request.changes.position_change,
    )
    return Origin(" · ".join(filter(None, parts)), program(load_code(request.model), translate_code(request)))


def code_of_both(a: Request, b: Request) -> str:
    """The snippet of two translations beside each other, `a` and `b`."""
    loaded = {b.model: "other"} | {a.model: "translator"}
    loads = [load_code(checkpoint, name) for checkpoint, name in loaded.items()]
    return program(*loads, translate_code(a, "a", loaded[a.model]), translate_code(b, "b", loaded[b.model]))


def translate_code(request: Request, result: str = "result", translator: str = "translator") -> str:
    """The snippet that makes a translation, or what a model reads, with the changes of a request."""
    changes = request.changes
    text = request.text
    target = request.reference
    edits = Code("edits") if changes.edits else None
    prefix = list(changes.locked) or None
    is_checkpoint = request.model not in model_shelf.SHELF
    if not writes_target(request.model):
        value = call(f"{translator}.read", *text_code(request), edits=edits)
    elif target is not None and is_checkpoint:
        value = call(f"{translator}.force", text, target, edits=edits)
    elif target is not None:
        value = call(f"{translator}.read", text, target=target, edits=edits)
    else:
        penalty = request.penalty if is_checkpoint and request.penalty != LENGTH_PENALTY else None
        value = call(
            f"{translator}.translate", text, beam=request.beam, length_penalty=penalty, edits=edits, prefix=prefix
        )
    code = f"{result} = {value}"
    if changes.moves and is_checkpoint and writes_target(request.model):
        positions = call("changed_positions", Code(f"{translator}.config.positional"), *changes.positions)
        code = f"{snippet(MOVED, positions=positions)}\n{textwrap.indent(code, '    ')}"
    if changes.edits:
        code = f"{snippet(EDITS, edits=call('Edits.from_code', changes.edits.code))}\n{code}"
    return code


def text_code(request: Request) -> list[object]:
    """The argument of `Reader.read` and `distribution` that says what the model of a request reads."""
    return [request.text] if request.messages is None else [Code(f"messages={request.messages!r}")]


def writes_target(model: str) -> bool:
    """Whether a model answers a text with another one, which an encoder-decoder and a recurrent translator do."""
    if model in model_shelf.SHELF:
        return model_shelf.SHELF.task(model) in (None, *model_shelf.TRANSLATORS)
    return model not in available("language_model")


def head_plot(
    origin: Origin, title: str, result: Recording | Translation, kind: str, place: tuple[int, int], axes: Axes
) -> Plot:
    """A head of a recording, rows named by the rule of `row_naming`.

    Args:
        place: layer and head.
        axes: the names of both axes, `query_axis` and `key_axis`.
    """
    layer, head = place
    queries, keys, _ = axis_tokens(result, kind)
    figure = attention_heatmap(
        result.attention(kind)[layer, head], queries, keys, **axes, mask=result.mask(kind), say=say
    )
    rows, columns = axis_code(result, kind)
    code = snippet(HEAD, kind=kind, layer=layer, head=head, queries=rows, keys=columns, **axes)
    return Plot(title, origin.note, figure, program(origin.code, code))


def axis_code(result: Recording | Translation, kind: str, variable: str = "result") -> tuple[Code, Code]:
    """Python for the tokens of the rows and columns of a kind in a result, rows named by the rule of `row_naming`."""
    rows, columns = SIDES[kind]
    if row_naming(kind, has_predictions=bool(result.predicted_tokens)) == "predicted":
        rows = "predicted"
    return Code(f"{variable}.{rows}_tokens"), Code(f"{variable}.{columns}_tokens")
