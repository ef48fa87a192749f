"""The page Positions as data: what a browser fetches that computes and draws it without a server.

Encodings, what is measured of them, and words in another order are computed there. What needs PyTorch is recorded here:
the trained table, what heads make of positions, and the losses of language models beyond their trained length.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from model.experiments import recorded_positions
from model.measures.heads.weights import above_row_means, by_distance
from model.running.translator import Translator
from viz.pages.positions import beyond, kernels, order, reading, rotary
from viz.pages.positions.page import EXAMPLE
from viz.stage.payload.packing import pack
from viz.text import words, words_positions
from viz.text.language import messages, say
from viz.text.words_positions import ENCODINGS, IN_STREAM, RELATIVE, STEER
from viz.views import cached
from viz.views.cached import Request
from viz.views.changes import Changes
from viz.views.results import position_results

NAME = "positions"  # of its address
ORDER = 1  # of the words of the example, which is shown first
WORDS = messages(
    recorded_sizes=(
        "The trained table is recorded with {positions} positions and {dimensions} dimensions; the app trains other "
        "sizes: make run."
    ),
    use_sizes="Show these sizes",
    only_sizes="{positions} × {dimensions} only",
    showing_example="Showing the example.",
    showing_last="Showing the last one that worked.",
    trained_0="off in the encoder",
    trained_1="as trained",
    head_name="{kind}, layer {layer}, head {head}",
    layer_head="Layer {layer}, head {head}",
    table_cell="{column} {n}, {row} {m}: {value}",
    loss_of="{name}: loss by position",
)
GROUPS = {  # of sentences that app and browser share, by what their names begin with
    "answer": words_positions.ANSWERS,
    "label": words_positions.LABELS,
    "table": words_positions.OF_TABLES,
    "order": words_positions.ORDERS,
    "heads": words_positions.OF_HEADS,
    "rotary": words_positions.ROTARY_HEAD,
    "long": words_positions.TOO_LONG,
    "view": words_positions.VIEWS,
    "kind": words.SHORT_KINDS,
}


def told() -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here."""
    sentences = {f"{group}.{name}": text for group, texts in GROUPS.items() for name, text in texts.items()}
    sentences |= {f"title.{kind}": of_kind.title for kind, of_kind in words.KINDS.items()}
    sentences |= {f"{axis}.{kind}": text for kind in words.KINDS for axis, text in words.axes(kind).items()}
    sentences |= {"learned": words_positions.LEARNED, **WORDS}
    return {
        "words": {name: say(text) for name, text in sentences.items()},
        "encodings": {code: {"name": say(name), "about": say(about)} for code, (name, about) in ENCODINGS.items()},
        "relative": RELATIVE,
        "steer": [{"name": say(name), "query": query} for name, query in STEER.items()],
        "rotary": rotary.rotary_model() is not None,
        "text": EXAMPLE,
        "model": _model().name,
        "own": _config().positional,
        "reads": _reads(),
        "beyond": {name: beyond.encoding_of(name) for name in beyond.context_losses()},
    }


def files() -> dict[str, bytes]:
    """What is fetched when a view of the page is opened, by name; a view whose file is missing is not shown."""
    recorded = {"learned": _learned(), "kernels": _kernels(), "order": _orders()}
    if name := rotary.rotary_model():
        recorded["rotary"] = _rotary(name)
    if losses := beyond.context_losses():
        recorded["beyond"] = _losses(losses)
    return {name: pack(content) for name, content in recorded.items()}


def _model() -> Translator:
    """The model whose heads are looked at."""
    return cached.loaded_as(Translator, cached.default_checkpoint())


def _config() -> Any:
    """Its configuration: a Transformer's, which alone has positions."""
    return _model().config


def _learned() -> dict[str, Any]:
    """The recorded table, or one that is trained now where there is none."""
    learned = position_results.learn(recorded_positions.N_POSITIONS, recorded_positions.D_MODEL)
    return {"table": learned.trained, "hits": learned.hits, "loss": float(learned.losses[-1])}


def _shares() -> dict[str, np.ndarray]:
    """By kind, how much of what decides where each head looks in the example comes from positions, (L, H)."""
    return position_results.read_by(Request(EXAMPLE, _model().name, 1))


def _reads() -> list[dict[str, Any]]:
    """The heads that read the encoding of the model most, in the example."""
    if _config().positional == "none":
        return []
    shares = _shares()
    return [
        {"kind": kind, "layer": layer, "head": head, "share": float(shares[kind][layer, head])}
        for kind, layer, head in reading.strongest(shares)
    ]


def _kernels() -> dict[str, Any]:
    """What each head makes of positions: scores above the means of their rows, or by distance; the first head."""
    config = _config()
    measured = position_results.kernels(_model().name)
    offsets = {kind: _of_heads(kernels.usual_offset, of_kind) for kind, of_kind in measured.items()}
    recorded: dict[str, Any] = {"offsets": offsets, "rows": next(iter(measured.values())).shape[2]}
    if config.positional not in IN_STREAM:
        strength = {kind: kernels.spread(of_kind) for kind, of_kind in measured.items()}
        lines = {kind: _of_heads(by_distance, of_kind) for kind, of_kind in measured.items()}
        return {**recorded, "distances": lines, "first": kernels.strongest(strength)}
    scores = {kind: _of_heads(above_row_means, of_kind) for kind, of_kind in measured.items()}
    shares = _shares()
    first = kernels.strongest(shares)
    return {**recorded, "kernels": scores, "shares": shares, "first": first, "width": config.d_model}


def _of_heads(compute: Callable[[np.ndarray], Any], of_kind: np.ndarray) -> np.ndarray:
    """Something of the scores (T, S) of each head, float32 (L, H, ...)."""
    return np.array([[compute(head) for head in heads] for heads in of_kind], np.float32)


def _orders() -> dict[str, Any]:
    """The example and its words in another order without positions, as the engine of browsers answers."""
    name = _model().name
    request = Request(EXAMPLE, name, 1, changes=Changes(scale=0.0, stacks="encoder"))
    results, differences = order.both_orders(request, ORDER)
    first, second = results.values()
    words_of_both = {"text": first.source, "shuffled": second.source, "differences": differences}
    return {"answers": [_answer(first), _answer(second)], "order": words_of_both}


def _answer(result: cached.Result) -> dict[str, Any]:
    """A translation as viz/web/engine/run/answer.js has it, as far as the page draws it."""
    names = ("source", "text", "source_tokens", "target_tokens", "predicted_tokens")
    weights = {kind: result.attention(kind) for kind in result.kinds}
    masks = {kind: result.mask(kind) for kind in result.kinds}
    return {
        **{name: getattr(result, name) for name in names},
        "attention": {kind: {"data": array.ravel(), "shape": array.shape} for kind, array in weights.items()},
        "masks": {
            kind: {"data": array.ravel().astype(np.uint8), "shape": array.shape} for kind, array in masks.items()
        },
    }


def _rotary(name: str) -> dict[str, Any]:
    """q·k of every head of a rotary model by offset, before and after the turn."""
    before, after = position_results.turned(name, EXAMPLE, rotary.N_OFFSETS)
    return {"name": name, "before": before, "after": after, "far": rotary.FAR}


def _losses(recorded: dict[str, dict]) -> dict[str, Any]:
    """The measured losses by position of language models."""
    models = [
        {"name": name, "tokens": losses["tokens"], "lengths": [_of_length(entry) for entry in losses["lengths"]]}
        for name, losses in recorded.items()
    ]
    return {"models": models}


def _of_length(entry: dict[str, Any]) -> dict[str, Any]:
    """The mean losses of bins of positions, in windows of one length."""
    return {"length": entry["length"], "perplexity": entry["perplexity"], "loss": np.array(entry["loss"])}
