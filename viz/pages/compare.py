"""The page Compare: two texts beside each other on the stage, their difference, and what of a model carries it."""

from dataclasses import replace

import streamlit as st

from model.analysis import comparison
from model.experiments.text_pairs import PAIRS, TextPair
from model.interventions.edits import Edits
from viz.stage.payload.answers import answer_of, line_of
from viz.stage.payload.payloads import Action
from viz.text import errors, words
from viz.text.language import messages, say
from viz.ui import shared, widgets
from viz.ui.stage import patching, stage_page
from viz.ui.stage.patching import Patches
from viz.views import cached, codes, recipes, view
from viz.views.results.patching_results import TextsRequest
from viz.views.view import View

Pair = tuple[cached.Request, cached.Request]
VERSUS = messages(sentence="Sentences", model="Models", search="Searches")
OF = {"sentence": "text-b", "model": "model-b", "search": "beam-b"}  # in address and session, what is chosen of B
B_EXAMPLE = "The animal didn't cross the street because it was too wide."
PATCHES = "compare-patches"  # in the session: what the visitor put from one text into the other
PROBLEM = "compare-problem"  # why the last of it cannot be


def pairs_of(model: str) -> list[TextPair]:
    """The pairs of texts that are offered with a model."""
    return [pair for pair in PAIRS if pair.model == model]


def first_text(names: list[str]) -> str | None:
    """What A is for a visitor who has asked for nothing yet: a text of the first pair of the model that is open."""
    state = st.session_state
    kept = state.get(view.KEPT, View())
    query = st.query_params.to_dict()
    asks = view.is_addressed(query) or bool({"versus", *OF.values()} & query.keys()) or "versus" in state
    if asks or kept.text != view.EXAMPLE:
        return None
    return next((pair.clean for pair in pairs_of(kept.model or names[0])), None)


def open_pair(pair: TextPair) -> None:
    """Put the texts of a pair into their boxes."""
    st.session_state.update({"sentence": pair.clean, OF["sentence"]: pair.corrupted})


def offer_pairs(pairs: list[TextPair]) -> None:
    """A menu of pairs of texts, none where there are no pairs."""
    if not pairs:
        return
    with st.popover(say("{n} pairs to choose from", n=len(pairs)), key="pairs", width="content"):
        for number, pair in enumerate(pairs):
            st.button(say(pair.title), key=f"pair-{number}", on_click=open_pair, args=(pair,))


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
            offer_pairs(pairs_of(a.model))
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


def partner_of(a: cached.Request) -> str:
    """What B is at first: what stands beside A in a pair that is offered, else the same sentence."""
    pairs = {pair.clean: pair.corrupted for pair in pairs_of(a.model)} | {view.EXAMPLE: B_EXAMPLE}
    return pairs.get(a.text, a.text)


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


def patches_asked(texts: TextsRequest, came: bool) -> Patches:
    """What is put from one text into the other: by the address, or as before where the texts are the same."""
    state = st.session_state
    kept = state.get(PATCHES)
    patches = kept if kept is not None and kept.texts == texts else Patches(texts)
    if came and (code := state[stage_page.QUERY].get(patching.PATCH)):
        try:
            patches = Patches(texts, Edits(patched=patching.patches_of(Edits.from_code(code))).code)
        except ValueError as error:
            state[PROBLEM] = errors.sentence(error)
    state[PATCHES] = patches
    return patches


def carry_out(action: Action) -> None:
    """Carry an action on the stage out."""
    state = st.session_state
    try:
        state[PATCHES] = state[PATCHES].after(action)
    except ValueError as error:
        state[PROBLEM] = errors.sentence(error)


def show(names: list[str], current_view: View, came: bool) -> None:
    """Two translations beside each other, on one stage."""
    state = st.session_state
    a = cached.Request.of(current_view, names[0])
    default = {
        "versus": "sentence",
        "text-b": partner_of(a),
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
    (versus, pair), outputs = answered
    state["shown-text"] = outputs[0].text
    state[view.KEPT] = current_view
    show_pair(versus, pair, outputs, current_view, came, chose)
    for checkpoint in dict.fromkeys(request.model for request in pair):
        shared.write_card(checkpoint, f"card-{checkpoint}")


def show_pair(
    versus: str, pair: Pair, outputs: list[cached.Result], current_view: View, came: bool, chose: dict[str, str]
) -> None:
    """Show two answers on the stage, or one of them without and with patches.

    Args:
        versus: in what both differ.
        came: whether the visitor has just come.
        chose: what of B is not the default, as the address says it.
    """
    texts = TextsRequest(*pair, reverse=patching.is_reverse(st.session_state[stage_page.QUERY]))
    patches = patches_asked(texts, came)
    differing = [{"sentence": "", "model": each.model, "search": recipes.decoded(each.beam)}[versus] for each in pair]
    comparing = {
        "names": [f"{side} · {what}" if what else side for side, what in zip("AB", differing)],
        "about": [" · ".join(filter(None, (what, score_of(each)))) for what, each in zip(differing, outputs)],
        "words": comparison.beside(*(words_of(*side) for side in zip(pair, outputs))),
        "note": describe_pair(versus, pair),
        "program": vars(stage_page.program_of(recipes.code_of_both(*pair))),
    }
    made = None
    if pair[0] != pair[1]:
        made = patching.compared(patches, outputs, st.session_state.pop(PROBLEM, ""))
        comparing |= {"patching": made.patching, "patched": made.patched}
    address = dict(patching.address_of(patches)) | chose
    if made is not None and made.changed is not None:
        before, after = patching.sides_of(patches, made.changed, current_view)
        results = [outputs[0 if texts.reverse else 1], made.changed.result]
        comparing["names"] = list(patching.LETTERS[texts.reverse])
        comparing["about"] = [score_of(result) for result in results]
        comparing["words"] = comparison.beside(*(words_of(texts.own, result) for result in results))
    else:
        before, after = (
            stage_page.version_of(result, request, current_view, rowwise=False, splits=False)
            for request, result in zip(pair, outputs)
        )
    stage_page.show_stage(
        replace(after, effects=None, address=dict(after.address) | {"text": current_view.text} | address),
        replace(before, effects=None),
        comparing=comparing,
        owned=("versus", *OF.values(), *patching.NAMES),
        on_action=carry_out,
    )


stage_page.show_page(stage_page.models(), show, first_text=first_text)
