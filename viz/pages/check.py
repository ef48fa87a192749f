"""The page Self-check: what must be true of every map."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.measures import checks
from model.measures.checks import Check
from model.storage.checkpoint import checkpoints_folder
from viz.figures import deviations
from viz.text import errors, words
from viz.text.language import format_count, message, messages, say
from viz.ui import controls, frame, shared, widgets
from viz.ui.engine import check as engine_check
from viz.ui.frame import Tile
from viz.views import cached, recipes, view
from viz.views.snippets import Origin, Plot, program, snippet
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
READ = """
from model.measures import checks
found = checks.read(translator.folder)['claims']
"""
CHECK = """
from model.measures import checks
found = checks.check(translator, result)
"""
DEVIATIONS = """
import numpy as np
from viz.figures import deviations

numbers = [
    (check.deviation, check.allowed, check.control) if check.compared else (np.nan,) * 3
    for check in found
]
values = np.nan_to_num(np.array(numbers, float), nan=-np.inf)
figure = deviations(values, $names)
figure.show()
"""
# What `python -m model check --save` kept beside the weights.
recorded = st.cache_data(max_entries=4, show_spinner=False)(checks.read)


@cached.cache_results()
def run_checks(request: cached.Request) -> list[Check]:
    """The checks of a translation of the visitor's sentence."""
    return in_turn(checks.check)(request.translator, request.translated())


VIEWS = messages(compared="What was compared", all="All deviations", table="Table")
OF_WEIGHTS = ("rows", "softmax", "cached_maps", engine_check.CLAIM)  # claims about numbers from 0 to 1
DIGITS = 7  # that 32-bit numbers carry


@dataclass(frozen=True)
class Claims:
    """What is shown: the claims that were measured, of what, and how Python measures them."""

    checks: list[Check]
    origin: Origin
    over: str  # what they were measured over
    engine: engine_check.EngineResult | None = None

    @property
    def all(self) -> dict[str, Check | None]:
        """By claim; None where a browser has not measured it."""
        by_claim: dict[str, Check | None] = {check.claim: check for check in self.checks}
        return by_claim if self.engine is None else by_claim | {engine_check.CLAIM: self.engine.check}

    @property
    def broken(self) -> list[str]:
        """The claims that do not hold, in words."""
        return [say(CLAIMS[claim][0]) for claim, check in self.all.items() if check and not check.holds]


def row(check: Check) -> tuple[str, ...]:
    """A check as a row of the table."""
    deviation, allowed, control = (
        "" if x is None else say("{x:.2g}", x=x) for x in (check.deviation, check.allowed, check.control)
    )
    holds = say("yes") if check.holds else say("NO")
    return (
        holds if check.compared else say("nothing to compare"),
        deviation,
        allowed,
        format_count(check.compared),
        control,
    )


def unmeasured(engine: engine_check.EngineResult | None) -> str:
    """Why a browser has not measured its claim."""
    return say("not run") if engine and engine.problem else say("Computing …")


def answer(claims: Claims) -> str:
    """Whether all claims hold, and to how many digits weights agree."""
    compared_checks = [check for check in claims.all.values() if check and check.compared]
    if broken := claims.broken:
        return say("No: {m} of {n} claims do not hold. {over}", m=len(broken), n=len(compared_checks), over=claims.over)
    largest = max((check.deviation for check in compared_checks if check.claim in OF_WEIGHTS), default=0.0)
    digits = min(DIGITS, int(-np.log10(max(largest, 10.0**-DIGITS))))
    line = message("Yes, to {digits} digits: all {n} claims hold. {over}")
    return say(line, digits=digits, n=len(compared_checks), over=claims.over)


def claim_tiles(claims: Claims) -> list[Tile]:
    """The claims, each with a tick and its deviation."""
    tiles = []
    for claim, check in claims.all.items():
        name = say(CLAIMS[claim][0])
        if check is None:
            tiles.append(Tile(claim, f"… {name}", unmeasured(claims.engine)))
        elif not check.compared:
            tiles.append(Tile(claim, f"– {name}", say("nothing to compare")))
        else:
            note = say("at most {x:.2g} off, {allowed:.2g} allowed", x=check.deviation, allowed=check.allowed)
            tiles.append(
                Tile(claim, f"{'✓' if check.holds else '✗'} {name}", note, flag="" if check.holds else say("NO"))
            )
    return tiles


def show(places: frame.Places, claims: Claims, line: str, quoted: str = "") -> None:
    """Draw the claims as tiles and what was compared for the chosen one; the others are small under the answer."""
    engine = claims.engine
    with places.notes:
        if engine and engine.problem:
            st.warning(say("The engine could not run in this browser: {reason}", reason=engine.problem))
        if broken := claims.broken:
            text = say(
                "Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model.",
                claims="; ".join(broken),
            )
            st.error(text)
    with places.answer:
        frame.answer(answer(claims), line, quoted)
    with places.right_controls:
        view_ = controls.choose_view(VIEWS, "check-show")
    with places.left_controls:
        frame.label(say("Does this app draw what the model computed?"))
    with places.left:
        claim = frame.choose_tile(say("Claim"), claim_tiles(claims), "claim", "rows", columns=2)
    with places.right:
        if view_ == "compared":
            show_compared(claim, claims.all[claim], engine)
        elif view_ == "all":
            show_deviations(claims)
        else:
            show_table(claims)


def show_compared(claim: str, check: Check | None, engine: engine_check.EngineResult | None) -> None:
    """What a claim compares: in a sentence, in its numbers, and in code."""
    name, about = map(say, CLAIMS[claim])
    frame.picture_title(name)
    frame.note(about)
    if check is None:
        frame.note(unmeasured(engine))
    else:
        holds, deviation, allowed, compared, control = row(check)
        numbers = {
            say("Holds"): holds,
            say("Largest deviation"): deviation,
            say("Allowed"): allowed,
            say("Numbers compared"): compared,
        }
        if control:
            numbers[say("With the mask off")] = control
        with shared.row(gap="large"):
            for label, number in numbers.items():
                st.metric(label, number)
    with st.container(key="frame-fill"):
        if claim == engine_check.CLAIM:
            st.code(engine_check.SOURCE.read_text(encoding="utf-8"), "javascript", wrap_lines=True)
        else:
            st.code(checks.source_of(claim), "python", wrap_lines=True)


def show_deviations(claims: Claims) -> None:
    """How far each claim is from its limit; a click opens what was compared."""
    checks = claims.checks
    numbers = [(check.deviation, check.allowed, check.control) if check.compared else (np.nan,) * 3 for check in checks]
    values = np.nan_to_num(np.array(numbers, float), nan=-np.inf)
    names = [say(CLAIMS[check.claim][0]) for check in checks]

    def clicked(row: int, *_: int) -> None:
        st.session_state.update({"claim": checks[row].claim, "check-show": "compared"})

    code = program(claims.origin.code, snippet(DEVIATIONS, names=names))
    plot = Plot(say("Self-check"), claims.origin.note, deviations(values, names, say=say), code)
    frame.pictures({"claims": plot}, is_map=False, on_click=clicked)
    frame.note(say("“With the mask off” leaves out the mask that the claim rests on, to show that the check can fail."))


def show_table(claims: Claims) -> None:
    """All claims with their numbers."""
    columns = say("Holds"), say("Largest deviation"), say("Allowed"), say("Numbers compared"), say("With the mask off")
    rows = [row(check) if check else (unmeasured(claims.engine), *4 * ("",)) for check in claims.all.values()]
    names = [say(CLAIMS[claim][0]) for claim in claims.all]
    st.table(pd.DataFrame(rows, pd.Index(names, name=say("Claim")), columns))
    frame.note(say("32-bit numbers carry about seven digits: two computations differ in the last ones."))


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    unseen = st.container()
    name = cached.default_checkpoint()
    state = st.session_state
    recorded_checks = None
    with places.notes:
        try:
            recorded_checks = recorded(checkpoints_folder() / name)
        except ValueError as error:
            shared.warn(errors.sentence(error))
    if "run" not in state and view.is_addressed(st.query_params):
        state["run"] = "mine"  # a link to a sentence
    with places.question:
        runs = RUNS if recorded_checks else {"mine": RUNS["mine"]}
        run = controls.choose(say("Measured"), runs, "run", label_visibility="collapsed")
    if recorded_checks is not None and run == "last":
        origin = Origin(recorded_checks["command"], program(recipes.load_code(name), snippet(READ)))
        over = say("Over {sentences} held-out sentences.", sentences=recorded_checks["sentences"])
        line = say(
            "The worst of {sentences} held-out sentences ({data}), recorded by the command below.", **recorded_checks
        )
        show(places, Claims(recorded_checks["claims"], origin, over), line)
        with places.left:
            st.code(recorded_checks["command"], "bash", wrap_lines=True)
        return

    def show_mine(result: cached.Result, request: cached.Request) -> None:
        with unseen:
            engine = engine_check.measure(request, result)
        origin = recipes.origin(request).then(snippet(CHECK))
        nothing = "" if result.text else say("(the model wrote nothing)")
        line = f"{nothing} {words.how_decoded(request)}".strip()
        show(places, Claims(run_checks(request), origin, say("For your sentence."), engine), line, result.text)

    controls.show_translation(places, show_mine)


frame.opening(say("Self-check"))
live()
