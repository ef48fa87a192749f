"""The page Self-check: what must be true of every map, measured on the visitor's sentence."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from model.measures.checks import Check, check
from viz.app.turns import in_turn
from viz.text import words_check
from viz.text.language import counted, message, say
from viz.ui import asking, choices, shared
from viz.views import cached


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Measuring …")), show_time=True)
def measured(checkpoint: str, text: str, beam: int, length_penalty: float, reference: str | None) -> list[Check]:
    """Measure every claim about what is asked for (arguments as of a Request), or return what is remembered."""
    loaded = cached.translator(checkpoint)
    if reference is None:
        return in_turn(check)(loaded, loaded.translate(text, beam, length_penalty))
    return in_turn(check)(loaded, loaded.force(text, reference))


def claim_table(checks: list[Check]) -> pd.DataFrame:
    """The claims as rows of plain text."""

    def row(one: Check) -> tuple[str, ...]:
        title = say(words_check.CLAIMS[one.claim][0])
        if not one.compared:
            return title, say(words_check.NOTHING), "", "", "0", ""
        control = "" if one.control is None else f"{one.control:.3g}"
        holds = words_check.HOLDS if one.holds else words_check.BROKEN
        return (
            title,
            say(holds),
            f"{one.deviation:.1e}" if one.deviation else "0",
            f"{one.allowed:.0e}" if one.allowed else "0",
            counted(one.compared),
            control,
        )

    columns = list(map(say, words_check.COLUMNS))
    return pd.DataFrame([row(one) for one in checks], columns=columns).set_index(columns[0])


def show(result: cached.Shown, request: cached.Request, card: dict) -> None:
    """Measure the claims and show them."""
    checks = measured(request.checkpoint, request.text, request.beam, request.length_penalty, request.reference)
    broken = [words_check.CLAIMS[one.claim][0] for one in checks if one.compared and not one.holds]
    if broken:
        st.error(words_check.broken(broken))
    else:
        st.success(say(words_check.ALL_HOLD))
    with st.container(key="claims"):
        st.table(claim_table(checks))
    st.caption(f"{say(words_check.DIGITS)} {say(words_check.MASK_OFF)}")
    with st.expander(say("What is measured")):
        for title, how in words_check.CLAIMS.values():
            shared.small(f"{say(title)}. {say(how)}", title)
    st.caption(say(words_check.NEXT))


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    claims, beside = shared.picture_first()
    with claims:
        asking.one_translation(show, beside)


shared.opening(say("Self-check"), say(words_check.INTRO))
live()
