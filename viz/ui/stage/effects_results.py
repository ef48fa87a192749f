"""Direct effects, the layer lens and left-out source tokens, computed when they are asked for."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from model.adapters.readers.layout import ReaderConfig
from model.adapters.readers.reader import Reader
from model.analysis.effects import RUNNER_UP, Effects
from model.config import TransformerConfig
from model.measures import agreement
from model.text.errors import Problem
from viz.stage.payload import effects as stage_effects
from viz.text import errors
from viz.text.language import say
from viz.views.cached import Names, Request, Result, cache_results
from viz.views.results import heads_results
from viz.views.snippets import Code, call, program, snippet
from viz.views.turns import in_turn
from viz.views.view import AGAINST

EFFECTS = """
from viz.figures import values_heatmap

effects = $effects
figure = values_heatmap(
    effects.heads($kind)[{layer}, {head}],
    result.predicted_tokens,
    value=$value,
    column_axis='key',
)
figure.show()
"""
PARTS = """
for name, part in $effects.parts.items():
    print(name, part)
"""
LENS = """
lens = translator.lens(result)
for name, words in zip(lens.sublayers, lens.words):
    print(name, [best[0] for best in words])
"""
LEFT_OUT = """
print($occlusion)
"""
AGREEMENT = """
from model.measures import agreement
print(agreement.of_words(translator, result)['cross'])
"""


def effects_payload(
    result: Result, request: Request, query: Mapping[str, str], origin: str
) -> tuple[dict[str, np.ndarray], stage_effects.EffectsPayload | str | None]:
    """The direct effects that an address asks for: by kind (L, H, T, S), and what the stage is sent beside.

    Instead of that a sentence says why there are none; None where it asks for none, or the model predicts no words.
    `origin` is the snippet that makes `result`.
    """
    loaded = request.translator
    if isinstance(loaded, Reader) and not loaded.has_words:
        return {}, None
    if reason := _without_effects(loaded):
        return {}, reason
    if query.get("measure") != "effects":
        return {}, None
    view, against_code = query.get("view"), query.get("against", RUNNER_UP)
    against = None if against_code == AGAINST[1] else against_code
    is_reader = isinstance(loaded, Reader)
    settings: dict[str, Any] = {"lacks": ("agree",) if request.changes or is_reader else ()}
    other_word = ""
    if against not in (None, RUNNER_UP):
        try:
            other_word = against = _token_of(loaded, against)
        except ValueError as error:
            settings["problem"] = errors.sentence(error)
            against = RUNNER_UP
    try:
        effects = compute_result(request, "effects", *((None, against) if is_reader else (against,)))
        if view == "lens":
            settings["lens"] = stage_effects.lens_payload(compute_result(request, "lens"))
        elif view == "left-out":
            edits = () if is_reader else (request.changes.edits,)
            settings["left_out"] = compute_result(request, "occlusion", *edits).astype(np.float32)
        elif view == "agree" and not request.changes:
            settings["agree"] = stage_effects.agreement_payload(agreement_of(request))
    except ValueError as error:
        return {}, errors.sentence(error)
    other_words = effects.alternatives
    other_words = None if other_words is None else Names(loaded).tokens(other_words.tolist())
    report = heads_results.usable_report(request.model)
    payload = stage_effects.payload(effects, other_words, report, other_word)
    settings["code"] = code(origin, effects, result, against, bool(request.changes.edits))
    effects_view = cast(stage_effects.EffectsPayload, payload | settings)
    return {kind: effects.heads(kind) for kind in effects.kinds}, effects_view


def _without_effects(loaded: Any) -> str:
    """Why there are no direct effects, in a sentence; "" where there are."""
    if isinstance(loaded, Reader):
        try:
            loaded.check_effects()
        except ValueError as error:
            return errors.sentence(error)
        return ""
    return "" if isinstance(loaded.config, TransformerConfig) else say(stage_effects.NO_EFFECTS)


def _token_of(loaded: Any, word: str) -> str:
    """A word as a model of transformers has it, after a space where that is one token; else a ValueError."""
    if not isinstance(loaded, Reader):
        raise Problem("only models that read a text can be compared with a word of your own")
    spaced = f" {word.strip()}"
    try:
        loaded.token(spaced)
    except ValueError:
        loaded.token(word)
        return word
    return spaced


@cache_results(32)
def compute_result(request: Request, method: str, *result: Any) -> Any:
    """What a method of the Translator, by its name, gives of the translation of a request."""
    translation = request.translated()
    with request.positions() if method == "occlusion" else nullcontext():  # the others read what was recorded
        return getattr(request.translator, method)(translation, *result)


@cache_results(32)
def agreement_of(request: Request) -> dict[str, np.ndarray]:
    """How far measures agree in a translation without changes, by name of COMPARED float (L, H), mean over words."""
    agreements = in_turn(agreement.of_words)(request.translator, request.translated())["cross"]
    rates = {name: agreements[name] for name in stage_effects.COMPARED if name in agreements}
    means = {name: np.nansum(rate, -1) / np.maximum(np.isfinite(rate).sum(-1), 1) for name, rate in rates.items()}
    return means | {"off": agreement.kendall(agreements[RUNNER_UP], -agreements["log_probability"])}


def code(origin: str, effects: Effects, result: Result, against: str | None, edited: bool) -> dict[str, str]:
    """Python of the pictures of direct effects, by kind and by view; {layer} and {head} stand for the opened head.

    Args:
        origin: the snippet that makes `result`.
        edited: whether it makes `edits`, too.
    """
    effects_call = call("translator.effects", Code("result"), against=against)
    edits = Code("edits") if edited and not isinstance(result.config, ReaderConfig) else None
    arguments = [Code("result")] if edits is None else [Code("result"), edits]
    maps = {
        kind: snippet(EFFECTS, effects=effects_call, kind=kind, value=stage_effects.VALUE) for kind in effects.kinds
    }
    views = {
        "parts": snippet(PARTS, effects=effects_call),
        "lens": LENS,
        "left-out": snippet(LEFT_OUT, occlusion=call("translator.occlusion", *arguments)),
        "agree": AGREEMENT,
    }
    return {name: program(origin, part) for name, part in (maps | views).items()}
