"""The page Self-check: what must be true of every map, as it was last measured and on the visitor's sentence."""

import numpy as np
import pandas as pd
import streamlit as st

from model.checkpoint import checkpoints_folder
from model.measures import checks
from model.measures.checks import Check
from viz.app.turns import in_turn
from viz.figures import deviations
from viz.text import errors
from viz.text.language import counted, messages, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes, view
from viz.views.made import Recipe, made

RUNS = messages(last="Last recorded run", mine="Run on my sentence")
CLAIMS = messages(  # the name of each, and what was compared
    rows=("Rows sum to 1", "Adds up the weights of each row, in all maps of all layers and heads."),
    softmax=(
        "Every map is the softmax of its scores",
        "Compares the recorded weights with a 64-bit softmax of the recorded scores (scaled and masked).",
    ),
    masked=(
        "Masked cells are 0",
        "The weights in all cells that a mask hides, with three pads after source and target: exactly 0.",
    ),
    future=(
        "Nothing sees the future",
        "From every step on, all later tokens are replaced by <unk>: the logits of the steps before must stay.",
    ),
    padding=(
        "Padding changes nothing",
        "Three pads after source and target, as a longer sentence in the same batch adds them: the logits must stay.",
    ),
    cached_logits=(
        "Cached decoding equals the full pass: logits",
        "Compares decoding token by token with cached keys and values, and the recorded logits, with one pass over all "
        "tokens.",
    ),
    cached_maps=(
        "Cached decoding equals the full pass: maps",
        "Compares the attention rows of cached decoding, and the maps drawn, with one pass over all tokens.",
    ),
    decoded=(
        "What is recorded is what was decoded",
        "Compares the log-probability of each token in the search with the recorded logits.",
    ),
    positions=(
        "Positions are those of the formula",
        "Compares the positional encodings that were added with the formula in 64 bits.",
    ),
    effects=(
        "Direct effects add up to the logits",
        "Sums in 64 bits what each part of the decoder adds directly to a written word's logit (less the vocabulary "
        "mean), and compares with that logit.",
    ),
)


@cached.remembered()
def measured(request: cached.Request) -> list[Check]:
    return in_turn(checks.check)(request.translator, request.translated())


@st.cache_data(max_entries=4, show_spinner=False)
def recorded(checkpoint: str) -> dict | None:
    """What `python -m model check --save` kept beside the weights; None where there is nothing."""
    return checks.read(checkpoints_folder() / checkpoint)


def claim_table(found: list[Check]) -> pd.DataFrame:
    rows = []
    for one in found:
        row = say("nothing to compare"), "", "", "0", ""
        if one.compared:
            row = (
                say("yes") if one.holds else say("NO"),
                say("{x:.1e}", x=one.deviation) if one.deviation else "0",
                say("{x:.0e}", x=one.allowed) if one.allowed else "0",
                counted(one.compared),
                "" if one.control is None else say("{x:.3g}", x=one.control),
            )
        rows.append((say(CLAIMS[one.claim][0]), *row))
    columns = say("Claim"), say("Holds"), say("Largest deviation"), say("Allowed"), say("Numbers compared")
    return pd.DataFrame(rows, columns=[*columns, say("With the mask off")]).set_index(columns[0])


def show(found: list[Check], recipe: Recipe) -> None:
    numbers = [(one.deviation, one.allowed, one.control) if one.compared else (-np.inf,) * 3 for one in found]
    numbers = made(
        np.nan_to_num(np.array(numbers, float), nan=-np.inf, neginf=-np.inf),
        "np.nan_to_num(np.array([(one.deviation, one.allowed, one.control) for one in found], float), nan=-np.inf)",
    )
    plot = recipe.plot(say("Self-check"), deviations, numbers, [say(CLAIMS[one.claim][0]) for one in found])
    explore.draw(plot, "claims", on_click=lambda row, *_: st.session_state.update(claim=found[row].claim))
    if broken := [say(CLAIMS[one.claim][0]) for one in found if one.compared and not one.holds]:
        line = say(
            "Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model.",
            claims="; ".join(broken),
        )
        st.error(line)
    else:
        digits = say(
            "32-bit numbers carry about seven digits; two ways of computing the same value differ in the last ones."
        )
        shared.small(f"{say('All claims hold.')} {digits}", "all")
    st.table(claim_table(found))
    mask_off = say(
        "“With the mask off” repeats the measurement without the mask that the claim rests on: it shows that the check "
        "can fail."
    )
    other = say(
        "What a mask does, and what leaks without it, is on the page Masks; other known mistakes are on the page "
        "Pitfalls."
    )
    st.caption(f"{mask_off} {other}")


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
    if "run" not in state and any(key in st.query_params for key in view.FIELDS):
        state["run"] = "mine"  # a link to a sentence
    pictures, beside = shared.picture_first()
    with beside:
        runs = RUNS if kept else {"mine": RUNS["mine"]}
        run = controls.choose(say("Measured"), runs, "run", label_visibility="collapsed")
        if run == "last":
            over = say(
                "The worst of {n} held-out sentences ({data}) with the model {model}, recorded by the command below.",
                n=kept["sentences"],
                data=kept["data"],
                model=name,
            )
            shared.small(over, "over")
            st.code(kept["command"], "bash", wrap_lines=True)
    with pictures:
        if run == "last":
            lines = (recipes.loading(name), "found = checks.read(translator.folder)['claims']")
            show(kept["claims"], Recipe(kept["command"], lines))
        else:
            controls.one_translation(on_sentence, beside)
    with beside:
        names = {claim: title for claim, (title, _) in CLAIMS.items()}
        claim = controls.among(say("What was compared"), names, "claim", "rows")
        shared.small(say(CLAIMS[claim][1]), "how")
        st.code(checks.source_of(claim), "python", wrap_lines=True)


shared.opening(say("Self-check"), say("Does this app draw what the model computed?"))
live()
