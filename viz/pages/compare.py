"""The page Compare: two translations beside each other on the stage, and their difference."""

from dataclasses import replace

import streamlit as st

from model.analysis import comparison
from viz.stage.payload.answers import answer_of, line_of
from viz.text import words
from viz.text.language import messages, say
from viz.ui import shared, widgets
from viz.ui.stage import stage_page
from viz.views import cached, codes, recipes, view
from viz.views.view import View

Pair = tuple[cached.Request, cached.Request]
VERSUS = messages(sentence="Sentences", model="Models", search="Searches")
OF = {"sentence": "text-b", "model": "model-b", "search": "beam-b"}  # in address and session, what is chosen of B
B_EXAMPLE = "The animal didn't cross the street because it was too wide."


def choose_second(names: list[str], a: cached.Request) -> tuple[str, cached.Request]:
    """Let the visitor choose what B is; returns in what it differs from A, and B."""
    offered = [versus for versus in VERSUS if versus != "search" or recipes.writes_target(a.model)]
    if st.session_state["versus"] not in offered:
        st.session_state["versus"] = offered[0]
    with shared.row(gap="small", key="ask-b"):
        versus = st.segmented_control(
            say("What differs"),
            offered,
            key="versus",
            format_func=lambda code: say(VERSUS[code]),
            required=True,
            label_visibility="collapsed",
            persist_state="session",
        )
        assert versus is not None  # a choice is required
        if versus == "sentence":
            text = st.text_input(
                say("Sentence B") if recipes.writes_target(a.model) else say("Text B"),
                key=OF[versus],
                live=stage_page.typing_pause(),
                label_visibility="collapsed",
                persist_state="session",
            )
            return versus, replace(a, text=text or "")
        if versus == "model":
            model = st.selectbox(
                say("Model B"), names, key=OF[versus], label_visibility="collapsed", persist_state="session"
            )
            return versus, replace(a, model=model)
        beam = st.selectbox(
            say("Search of B"),
            list(words.BEAMS),
            key=OF[versus],
            format_func=recipes.decoded,
            label_visibility="collapsed",
            persist_state="session",
        )
        return versus, replace(a, beam=beam)


def describe_pair(versus: str, pair: Pair) -> str:
    """What there is to say of both before their difference is looked at."""
    if pair[0] == pair[1]:
        if versus == "model" and len(stage_page.models()) < 2:
            return say("There is only one checkpoint. To train another: python -m model train --help")
        return say("Nothing differs yet: change sentence, model or search of B.")
    if versus != "model":
        return ""
    a, b = map(languages_of, pair)
    if a == b or None in (*a, *b):
        return say("Heads of different models do not correspond: head 3 in A is unrelated to head 3 in B.")
    a, b = ("-".join(words.language(code, "?") for code in codes) for codes in (a, b))
    return say("A translates {a}, B {b}: one of them reads a language it was not trained on.", a=a, b=b)


def languages_of(request: cached.Request) -> list[str | None]:
    """The language that a model reads and the one that it writes, where its card says so."""
    card = getattr(cached.translator(request.model), "card", {})
    return [card.get("source"), card.get("target")]


def words_of(request: cached.Request, result: cached.Result) -> list[str]:
    """The words that a model answers, or, where it has no output over words, those that it read."""
    line = line_of(answer_of(result, result.next_words))
    return (request.text if line is None else line).split()


def score_of(result: cached.Result) -> str:
    """How probable a translation is, or a text that was read; "" where the model predicts no words."""
    logs = result.log_probabilities
    if result.next_logits is not None:
        logs = logs[:-1]  # what would follow is not of the text
    return say("log-probability {number:.2f}", number=float(logs.sum(dtype="float64"))) if logs.size else ""


def restore_second(names: list[str], default: dict[str, object]) -> None:
    """Choose what the address asks for of B; without anything there, what was chosen before, else the default."""
    query = st.session_state[stage_page.QUERY]
    readers: dict[str, codes.Reader] = {
        "versus": codes.one_of(VERSUS),
        "text-b": str,
        "model-b": codes.one_of(names),
        "beam-b": codes.one_of(view.BEAMS),
    }
    values, problems = codes.read(query, readers)
    widgets.note_problems(problems)
    if values or view.is_addressed(query) or "versus" not in st.session_state:
        st.session_state.update(default | values)


def show(names: list[str], current_view: View, came: bool) -> None:
    """Two translations beside each other, on one stage."""
    state = st.session_state
    a = cached.Request.of(current_view, names[0])
    default = {
        "versus": "sentence",
        "text-b": B_EXAMPLE if a.text == view.EXAMPLE else a.text,
        "model-b": next((name for name in names if name != a.model), a.model),
        "beam-b": 1,
    }
    if came:
        restore_second(names, default)
    versus, b = choose_second(names, a)
    chose = {name: codes.code(state[name]) for name in ("versus", OF[versus]) if state[name] != default[name]}
    example = "sentence", (a.example, replace(a.example, text=B_EXAMPLE))
    answered = shared.compute_or_keep(
        "compare-answered", (versus, (a, b)), lambda versions: list(map(cached.compute, versions[1])), example
    )
    if answered is None:
        return
    (versus, pair), results = answered
    state["shown-text"] = results[0].text
    state[view.KEPT] = current_view
    sides = []
    names = []
    about = []
    for side, request, result in zip("AB", pair, results):
        version = stage_page.version_of(result, request, current_view, rowwise=False, splits=False)
        sides.append(replace(version, effects=None, address=dict(version.address) | chose))
        differing = {"sentence": "", "model": request.model, "search": recipes.decoded(request.beam)}[versus]
        names.append(f"{side} · {differing}" if differing else side)
        about.append(" · ".join(filter(None, (differing, score_of(result)))))
    a, b = sides
    comparing = {
        "names": names,
        "about": about,
        "words": comparison.beside(*(words_of(*side) for side in zip(pair, results))),
        "note": describe_pair(versus, pair),
        "program": vars(stage_page.program_of(recipes.code_of_both(*pair))),
    }
    stage_page.show_stage(b, a, comparing=comparing, owned=("versus", *OF.values()))
    for checkpoint in dict.fromkeys(request.model for request in pair):
        shared.write_card(checkpoint, f"card-{checkpoint}")


stage_page.show_page(stage_page.models(), show)
