"""The page Self-check: what must be true of every map."""

import numpy as np
import pandas as pd
import streamlit as st

from model.checkpoint import checkpoints_folder
from model.measures import checks
from model.measures.checks import Check
from viz.figures import deviations
from viz.text import errors
from viz.text.language import counted, messages, say
from viz.ui import choices, controls, engine_check, explore, shared
from viz.views import cached, recipes, view
from viz.views.made import Recipe, made
from viz.views.turns import in_turn

RUNS = messages(last="Last recorded run", mine="Run on my sentence")
CLAIMS = messages(  # the name of each, and what was compared
    rows=("Rows sum to 1", "The sum of the weights in each row, of all maps, with 1."),
    softmax=(
        "Every map is the softmax of its scores",
        "The recorded weights with a 64-bit softmax of the recorded scores.",
    ),
    masked=(
        "Masked cells are 0",
        "The weights of all masked cells, with pads after source and target, with exactly 0.",
    ),
    future=(
        "Nothing sees the future",
        "The logits before each step, with those when all later tokens are replaced by <unk>.",
    ),
    padding=(
        "Padding changes nothing",
        "The logits with those when source and target get three pads, as beside a longer sentence.",
    ),
    cached_logits=(
        "Cached decoding equals the full pass: logits",
        "Decoding token by token with cached keys and values, and the recorded logits, with one pass over all tokens.",
    ),
    cached_maps=(
        "Cached decoding equals the full pass: maps",
        "The attention rows of cached decoding, and the maps drawn, with one pass over all tokens.",
    ),
    decoded=(
        "What is recorded is what was decoded",
        "The log-probability of each token in the search with the recorded logits.",
    ),
    positions=(
        "Positions are those of the formula",
        "The positional encodings that were added with the formula in 64 bits.",
    ),
    effects=(
        "Direct effects add up to the logits",
        "The sum of the direct effects on a written word's logit (less the vocabulary mean) with that logit.",
    ),
    engine=(
        "Your browser computes the same",
        "The tokens and the weights of all maps that the engine without a server computes in this browser, with those "
        "of Python; another token breaks the claim.",
    ),
)
# What `python -m model check --save` kept beside the weights.
recorded = st.cache_data(max_entries=4, show_spinner=False)(checks.read)


@cached.remembered()
def measured(request: cached.Request) -> list[Check]:
    return in_turn(checks.check)(request.translator, request.translated())


def row(one: Check) -> tuple[str, ...]:
    deviation, allowed, control = (
        "" if x is None else say("{x:.2g}", x=x) for x in (one.deviation, one.allowed, one.control)
    )
    holds = say("yes") if one.holds else say("NO")
    return holds if one.compared else say("nothing to compare"), deviation, allowed, counted(one.compared), control


def engine_row(engine: engine_check.EngineResult) -> tuple[str, ...]:
    if engine.check:
        return row(engine.check)
    return (say("not run") if engine.problem else say("Computing …"), *4 * ("",))


def show(found: list[Check], recipe: Recipe, engine: engine_check.EngineResult | None = None) -> None:
    names = [say(CLAIMS[one.claim][0]) for one in found]
    numbers = [(one.deviation, one.allowed, one.control) if one.compared else (np.nan,) * 3 for one in found]
    numbers = made(
        np.nan_to_num(np.array(numbers, float), nan=-np.inf),
        "np.nan_to_num(np.array([(one.deviation, one.allowed, one.control) for one in found], float), nan=-np.inf)",
    )
    plot = recipe.plot(say("Self-check"), deviations, numbers, names)
    explore.draw(plot, "claims", on_click=lambda row, *_: st.session_state.update(claim=found[row].claim))
    broken = [name for name, one in zip(names, found) if not one.holds]
    if engine and engine.check and not engine.check.holds:
        broken.append(say(CLAIMS[engine_check.CLAIM][0]))
    if engine and engine.problem:
        st.warning(say("The engine could not run in this browser: {reason}", reason=engine.problem))
    if broken:
        line = say(
            "Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model.",
            claims="; ".join(broken),
        )
        st.error(line)
    else:
        line = say(
            "All claims hold. 32-bit numbers carry about seven digits: two computations differ in the last ones."
        )
        shared.small(line, "all")
    columns = say("Holds"), say("Largest deviation"), say("Allowed"), say("Numbers compared"), say("With the mask off")
    rows = [*map(row, found), *([] if engine is None else [engine_row(engine)])]
    names = names if engine is None else [*names, say(CLAIMS[engine_check.CLAIM][0])]
    st.table(pd.DataFrame(rows, pd.Index(names, name=say("Claim")), columns))
    st.caption(say("“With the mask off” leaves out the mask that the claim rests on, to show that the check can fail."))


@choices.fragment
def live() -> None:
    name, state = cached.default_checkpoint(), st.session_state
    try:
        kept = recorded(checkpoints_folder() / name)
    except ValueError as error:
        kept = shared.warn(errors.sentence(error))
    if "run" not in state and view.is_addressed(st.query_params):
        state["run"] = "mine"  # a link to a sentence
    pictures, beside = shared.picture_first()
    with beside:
        runs = RUNS if kept else {"mine": RUNS["mine"]}
        run = controls.choose(say("Measured"), runs, "run", label_visibility="collapsed")
        if run == "last":
            over = say("The worst of {sentences} held-out sentences ({data}), recorded by the command below.", **kept)
            shared.small(over, "over")
            st.code(kept["command"], "bash", wrap_lines=True)
    with pictures:
        if run == "last":
            lines = (recipes.loading(name), "found = checks.read(translator.folder)['claims']")
            show(kept["claims"], Recipe(kept["command"], lines))
        else:
            line = "found = checks.check(translator, result)"
            controls.one_translation(
                lambda result, asked: show(
                    measured(asked), recipes.translation(asked).then(line), engine_check.measure(asked, result)
                ),
                beside,
            )
    with beside:
        names = {claim: title for claim, (title, _) in CLAIMS.items() if run == "mine" or claim != engine_check.CLAIM}
        claim = controls.among(say("What was compared"), names, "claim", "rows")
        shared.small(say(CLAIMS[claim][1]), "how")
        if claim == engine_check.CLAIM:
            st.code(engine_check.SOURCE.read_text(encoding="utf-8"), "javascript", wrap_lines=True)
        else:
            st.code(checks.source_of(claim), "python", wrap_lines=True)


shared.opening(say("Self-check"), say("Does this app draw what the model computed?"))
live()
