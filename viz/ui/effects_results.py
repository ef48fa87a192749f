"""Direct effects, the layer lens and left-out source tokens: computed when they are asked for, and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import streamlit as st

from model.analysis.effects import RUNNER_UP, Effects
from model.attribution import Lens
from model.config import TransformerConfig
from model.measures import agreement
from viz.app.turns import in_turn
from viz.figures import values_heatmap
from viz.stage import effects as stage_effects
from viz.stage.effects import Found
from viz.text import errors
from viz.text.language import message
from viz.views import cached, heads_results
from viz.views.made import Recipe, call, made, with_imports
from viz.views.maps import Maps
from viz.views.steer_results import Request, translated
from viz.views.view import AGAINST, MEASURES

CACHED = 32
_WAITING = cached.Waiting(message("Computing …"))


def found(
    result: cached.Shown,
    request: cached.Request,
    query: Mapping[str, str],
    built: Mapping[str, Maps],
    rows: str,
    recipe: Recipe,
) -> Found | str | None:
    """The direct effects that an address asks for.

    Args:
        result: the translation.
        request: what it is of.
        query: parameters of the address.
        built: by kind the maps of its weights.
        rows: whether steps are named by the token "predicted" or "read".
        recipe: the lines that make the translation.

    Returns:
        Them; None where the address asks for none; or a sentence on why there are none, asked for or not.
    """
    if not isinstance(result.config, TransformerConfig):
        return stage_effects.NO_EFFECTS
    if query.get("measure") != MEASURES[1]:
        return None
    against = query.get("against") if query.get("against") in AGAINST else AGAINST[0]
    asked = Request(**{field.name: getattr(request, field.name) for field in fields(request)})
    try:
        effects = effects_of(asked, against)
        view = query.get("view")
        lens = lens_of(asked) if view == "lens" else None
        left_out = left_out_of(asked) if view == "left-out" else None
        agree = agreement_of(asked) if view == "agree" and asked.is_plain else None
    except ValueError as error:
        return errors.sentence(error)
    others = None
    if effects.others is not None:
        others = cached.translator(request.checkpoint).tokenizer.target.tokens(effects.others.tolist())
    maps_of = stage_effects.built(effects, result, built, rows)
    measured = heads_results.usable_report(request.checkpoint)
    pictures = {"lens": lens, "left_out": left_out, "agree": agree, "lacks": () if asked.is_plain else ("agree",)}
    written = code(recipe, effects, result, against)
    return Found(maps_of, effects, against, others, measured=measured, code=written, **pictures)


@st.cache_data(max_entries=CACHED, show_spinner=_WAITING)
def effects_of(request: Request, against: str) -> Effects:
    """The direct effects, against a name of AGAINST; errors as `Translator.effects`."""
    translation, _ = translated(request)
    compared = RUNNER_UP if against == RUNNER_UP else None
    return in_turn(cached.translator(request.checkpoint).effects)(translation, compared)


@st.cache_data(max_entries=CACHED, show_spinner=_WAITING)
def lens_of(request: Request) -> Lens:
    """The layer lens; errors as `Translator.lens`."""
    return in_turn(cached.translator(request.checkpoint).lens)(translated(request)[0])


@st.cache_data(max_entries=CACHED, show_spinner=_WAITING)
def left_out_of(request: Request) -> np.ndarray:
    """What each word loses without each source token, float32 (T, S); errors as `Translator.occlusion`."""
    translation, edits = translated(request)
    with request.positions():
        return in_turn(cached.translator(request.checkpoint).occlusion)(translation, edits)


@st.cache_data(max_entries=CACHED, show_spinner=_WAITING)
def agreement_of(request: Request) -> dict[str, np.ndarray]:
    """How far measures agree in a translation without changes, by name float (L, H): means over its words.

    The last one compares, over the words, the direct effect of a head with the loss when it alone is switched off.
    """
    translation, loaded = translated(request)[0], cached.translator(request.checkpoint)
    found = in_turn(agreement.of_words)(loaded, translation)["cross"]
    rates = {name: found[name] for name in stage_effects.COMPARED if name in found}
    counted = {name: np.maximum(np.isfinite(one).sum(-1), 1) for name, one in rates.items()}
    means = {name: np.nansum(one, axis=-1) / counted[name] for name, one in rates.items()}
    return means | {"off": agreement.kendall(found[RUNNER_UP], -found["log_probability"])}


def code(recipe: Recipe, effects: Effects, result: cached.Shown, against: str) -> dict[str, str]:
    """Python that makes each picture, by kind and by view; {layer} and {head} stand for the opened head."""
    compared = {"against": RUNNER_UP if against == RUNNER_UP else None}
    line = f"effects = {call('translator.effects', made(None, 'result'), **compared)}"
    known, tokens = made(effects, "effects"), made(result, "result").predicted_tokens
    found = {}
    for kind in effects.kinds:
        place = made(0, "{layer}"), made(0, "{head}")
        more = {"value": stage_effects.VALUE, "column_axis": "key"}
        found[kind] = recipe.then(line).plot("", values_heatmap, known.heads(kind)[place], tokens, **more).code
    parts = "for name, part in effects.parts.items():\n    print(name, part)"
    lens = "for name, words in zip(lens.sublayers, lens.words):\n    print(name, [best[0] for best in words])"
    found["parts"] = with_imports(*recipe.lines, line, parts)
    found["lens"] = with_imports(*recipe.lines, "lens = translator.lens(result)", lens)
    edited = ", edits" if any(one.startswith("edits = ") for one in recipe.lines) else ""
    found["left-out"] = with_imports(*recipe.lines, f"print(translator.occlusion(result{edited}))")
    found["agree"] = with_imports(*recipe.lines, "print(agreement.of_words(translator, result)['cross'])")
    return found
