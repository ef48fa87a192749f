"""How translations come about, in words and in Python."""

import textwrap
from collections.abc import Mapping
from typing import Any

from model.checkpoint import available
from model.translation import SIDES
from viz.figures import attention_heatmap
from viz.figures.labels import in_quotes
from viz.text.language import say
from viz.text.words import BEAMS
from viz.views import opened, snippets
from viz.views.cached import Request
from viz.views.made import Made, Plot, Recipe, call, made
from viz.views.snippets import Code, Origin, program, snippet
from viz.views.view import LENGTH_PENALTY


def loading(model: str, name: str = "translator") -> str:
    """The line that loads a checkpoint or a model of transformers."""
    if model in opened.SHELF:
        return f"{name} = {call('load_model', opened.SHELF.place(model))}"
    return f"{name} = {call('load_translator', model)}"


def decoded(beam: int) -> str:
    return say("beam {width}", width=beam) if beam > 1 else say(BEAMS[1])


def translation(request: Request) -> Recipe:
    """How Python makes `result`, the translation of a request, or what a model read."""
    how = decoded(request.beam) if writes_target(request.model) else ""
    if request.reference is not None:
        how = say("reading the reference “{reference}”", reference=request.reference)
    address = request.changes.address()
    prefix = say("locked beginning {code}", code=address["prefix"]) if "prefix" in address else ""
    said = in_quotes(request.text, say), request.model, how, address.get("edits"), prefix, request.changes.moved
    return Recipe(" · ".join(filter(None, said)), (loading(request.model), *translating(request)))


def both(a: Request, b: Request) -> Recipe:
    """How Python makes `a` and `b`, two translations beside each other."""
    loaded = {b.model: "other"} | {a.model: "translator"}
    lines = [loading(checkpoint, name) for checkpoint, name in loaded.items()]
    for name, request in zip("ab", (a, b)):
        lines += translating(request, name, loaded[request.model])
    return Recipe("", tuple(lines))


def translating(request: Request, result: str = "result", translator: str = "translator") -> list[str]:
    changes, lines, more = request.changes, [], {}
    if changes.edits:
        lines, more = [f"edits = {call('Edits.from_code', changes.edits.code)}"], {"edits": made(None, "edits")}
    if not writes_target(request.model):
        return [*lines, f"{result} = {call(f'{translator}.read', request.text, **more)}"]
    if request.model in opened.SHELF:
        target = request.reference
        how = {"beam": request.beam, **more, "prefix": list(changes.locked) or None}
        line = call(f"{translator}.translate", request.text, **how)
        if target is not None:
            line = call(f"{translator}.read", request.text, target=target, **more)
        return [*lines, f"{result} = {line}"]
    if request.reference is None:
        penalty = None if request.penalty == LENGTH_PENALTY else request.penalty
        more = {"beam": request.beam, "length_penalty": penalty, **more, "prefix": list(changes.locked) or None}
        line = f"{result} = {call(f'{translator}.translate', request.text, **more)}"
    else:
        line = f"{result} = {call(f'{translator}.force', request.text, request.reference, **more)}"
    if changes.moves:
        moved = call("changed_positions", made(None, f"{translator}.config.positional"), *changes.positions)
        line = f"with {moved}:\n    " + line.replace("\n", "\n    ")
    return [*lines, line]


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


def load_code(model: str, name: str = "translator") -> str:
    """The snippet that loads a checkpoint or a model of transformers."""
    load, place = "load_translator", model
    if model in opened.SHELF:
        load, place = "load_model", opened.SHELF.place(model)
    return snippet(LOADING, load=Code(load), name=Code(name), place=place)


def origin(request: Request) -> Origin:
    """How `result` comes about, the translation of a request or what a model read."""
    search = decoded(request.beam) if writes_target(request.model) else ""
    if request.reference is not None:
        search = say("reading the reference “{reference}”", reference=request.reference)
    address = request.changes.address()
    prefix = say("locked beginning {code}", code=address["prefix"]) if "prefix" in address else ""
    parts = in_quotes(request.text, say), request.model, search, address.get("edits"), prefix, request.changes.moved
    return Origin(" · ".join(filter(None, parts)), program(load_code(request.model), translate_code(request)))


def code_of_both(a: Request, b: Request) -> str:
    """The snippet of two translations beside each other, `a` and `b`."""
    loaded = {b.model: "other"} | {a.model: "translator"}
    loads = [load_code(checkpoint, name) for checkpoint, name in loaded.items()]
    return program(*loads, translate_code(a, "a", loaded[a.model]), translate_code(b, "b", loaded[b.model]))


def translate_code(request: Request, result: str = "result", translator: str = "translator") -> str:
    """The snippet that makes a translation, or what a model reads, with the changes of a request."""
    changes, text, target = request.changes, request.text, request.reference
    edits = Code("edits") if changes.edits else None
    prefix = list(changes.locked) or None
    is_checkpoint = request.model not in opened.SHELF
    if not writes_target(request.model):
        value = snippets.call(f"{translator}.read", text, edits=edits)
    elif target is not None and is_checkpoint:
        value = snippets.call(f"{translator}.force", text, target, edits=edits)
    elif target is not None:
        value = snippets.call(f"{translator}.read", text, target=target, edits=edits)
    else:
        penalty = request.penalty if is_checkpoint and request.penalty != LENGTH_PENALTY else None
        value = snippets.call(
            f"{translator}.translate", text, beam=request.beam, length_penalty=penalty, edits=edits, prefix=prefix
        )
    code = f"{result} = {value}"
    if changes.moves and is_checkpoint and writes_target(request.model):
        positions = snippets.call("changed_positions", Code(f"{translator}.config.positional"), *changes.positions)
        code = f"{snippet(MOVED, positions=positions)}\n{textwrap.indent(code, '    ')}"
    if changes.edits:
        code = f"{snippet(EDITS, edits=snippets.call('Edits.from_code', changes.edits.code))}\n{code}"
    return code


def writes_target(model: str) -> bool:
    """Whether a model answers a text with another one, which an encoder-decoder and a recurrent translator do."""
    if model in opened.SHELF:
        return opened.SHELF.task(model) in (None, *opened.TRANSLATORS)
    return model not in available("language_model")


def head_plot(
    origin: Origin, title: str, result: Any, kind: str, place: tuple[int, int], axes: Mapping[str, str]
) -> snippets.Plot:
    """A head of a recording, rows named by the token that was read.

    Args:
        place: layer and head.
        axes: the names of both axes, `query_axis` and `key_axis`.
    """
    layer, head = place
    queries, keys, _ = axis_tokens(result, kind, "read")
    figure = attention_heatmap(
        result.attention(kind)[layer, head], queries, keys, **axes, mask=result.mask(kind), say=say
    )
    rows, columns = axis_code(kind)
    code = snippet(HEAD, kind=kind, layer=layer, head=head, queries=rows, keys=columns, **axes)
    return snippets.Plot(title, origin.note, figure, program(origin.code, code))


def axis_code(kind: str) -> tuple[Code, Code]:
    """Python for the tokens of the rows and columns of a kind in `result`, rows named by the token that was read."""
    rows, columns = SIDES[kind]
    return Code(f"result.{rows}_tokens"), Code(f"result.{columns}_tokens")


def head(recipe: Recipe, title: str, result: Made, kind: str, place: tuple[int, int], **more: Any) -> Plot:
    """A head of a recording, rows named by the token that was read."""
    queries, keys, _ = axis_tokens(result, kind, "read")
    return recipe.plot(title, attention_heatmap, result.attention(kind)[place], queries, keys, **more)


def axis_tokens(result: Any, kind: str, named: str) -> tuple[Any, Any, Any]:
    """The tokens of the rows and columns of a kind in a recording, or a Made of one.

    And where rows are steps, named by the token "read" or "predicted", the other one of each, where known.
    """
    rows, columns = SIDES[kind]
    keys = getattr(result, f"{columns}_tokens")
    if rows == "source":
        return result.source_tokens, keys, None
    if named == "predicted":
        return result.predicted_tokens, keys, result.target_tokens
    return result.target_tokens, keys, result.predicted_tokens or None
