"""The page Self-check: what must be true of every map, as it was last measured and on the visitor's sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model.catalogue import checkpoints_folder
from model.measures import checks
from model.measures.checks import Check
from viz.app.turns import in_turn
from viz.figures import deviations
from viz.text import errors, words_check
from viz.text.language import counted, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes
from viz.views.made import Recipe, made

RUN = "run"


@cached.remembered()
def measured(request: cached.Request) -> list[Check]:
    """Measure every claim about what is asked for, or return what is remembered."""
    return in_turn(checks.check)(request.translator, request.translated())


@st.cache_data(max_entries=4, show_spinner=False)
def recorded(checkpoint: str) -> dict | None:
    """What `python -m model check --save` kept beside the weights; None where there is nothing."""
    return checks.read(checkpoints_folder() / checkpoint)


def claim_table(found: list[Check]) -> pd.DataFrame:
    def row(one: Check) -> tuple[str, ...]:
        title = say(words_check.CLAIMS[one.claim][0])
        if not one.compared:
            return title, say(words_check.NOTHING), "", "", "0", ""
        control = "" if one.control is None else say("{x:.3g}", x=one.control)
        holds = words_check.HOLDS if one.holds else words_check.BROKEN
        return (
            title,
            say(holds),
            say("{x:.1e}", x=one.deviation) if one.deviation else "0",
            say("{x:.0e}", x=one.allowed) if one.allowed else "0",
            counted(one.compared),
            control,
        )

    columns = list(map(say, words_check.COLUMNS))
    return pd.DataFrame([row(one) for one in found], columns=columns).set_index(columns[0])


def show(found: list[Check], recipe: Recipe) -> None:
    claims, none = words_check.CLAIMS, -np.inf
    numbers = [(one.deviation, one.allowed, one.control) if one.compared else (none,) * 3 for one in found]
    numbers = made(
        np.nan_to_num(np.array(numbers, float), nan=none, neginf=none),
        "np.nan_to_num(np.array([(one.deviation, one.allowed, one.control) for one in found], float), nan=-np.inf)",
    )
    plot = recipe.plot(say("Self-check"), deviations, numbers, [say(claims[one.claim][0]) for one in found])
    explore.draw(plot, "claims", on_click=lambda row, *_: st.session_state.update(claim=found[row].claim))
    broken = [claims[one.claim][0] for one in found if one.compared and not one.holds]
    if broken:
        st.error(words_check.broken(broken))
    else:
        shared.small(f"{say(words_check.ALL_HOLD)} {say(words_check.DIGITS)}", "all")
    st.table(claim_table(found))
    st.caption(f"{say(words_check.MASK_OFF)} {say(words_check.NEXT)}")


def show_code() -> None:
    claims = words_check.CLAIMS
    names = {claim: title for claim, (title, _) in claims.items()}
    claim = controls.among(say("What was compared"), names, "claim", "rows", width="stretch")
    shared.small(say(claims[claim][1]), "how")
    st.code(checks.source_of(claim), "python", wrap_lines=True)


def on_sentence(result: cached.Shown, request: cached.Request) -> None:
    found = measured(request)
    show(found, recipes.translation(request).then("found = checks.check(translator, result)"))


@choices.fragment
def live() -> None:
    name, state = cached.default_checkpoint(), st.session_state
    try:
        kept = recorded(name)
    except ValueError as error:
        kept = shared.warn(errors.sentence(error))
    if RUN not in state and any(key in st.query_params for key in controls.TRANSLATED):
        state[RUN] = words_check.MINE  # a link to a sentence
    pictures, beside = shared.picture_first()
    with beside:
        runs = words_check.RUNS if kept else {words_check.MINE: words_check.RUNS[words_check.MINE]}
        run = controls.choose(say("Measured"), runs, RUN, label_visibility="collapsed")
        if run == words_check.LAST:
            shared.small(say(words_check.OVER, n=kept["sentences"], data=kept["data"], model=name), "over")
            st.code(kept["command"], "bash", wrap_lines=True)
    with pictures:
        if run == words_check.LAST:
            lines = (recipes.loading(name), "found = checks.read(translator.folder)['claims']")
            show(kept["claims"], Recipe(kept["command"], lines))
        else:
            controls.one_translation(on_sentence, beside)
    with beside:
        show_code()


shared.opening(say("Self-check"), say(words_check.INTRO))
live()
