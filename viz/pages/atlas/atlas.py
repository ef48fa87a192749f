"""The page Head atlas: all heads over held-out sentences and in the visitor's own."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures.heads.translators import SOMETIMES
from model.results.translation import KINDS
from model.storage.checkpoint import available
from viz.pages.atlas import alignment, card, contributions, text_atlas, text_index
from viz.stage.payload import held_out as held_out_card
from viz.stage.payload.roles import best_aligner
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared, widgets
from viz.ui.models import heads_roles, heads_together, measured_texts
from viz.views import cached, model_shelf, recipes, view
from viz.views.results import corpus_results, head_boards, head_sources, heads_results
from viz.views.results.head_sources import Source
from viz.views.snippets import Origin

VIEWS = messages(
    texts="Many texts",
    board="All heads",
    scatter="Two measures",
    alike="Alike",
    contribution="Contribution",
    rollout="Rollout",
    alignment="Alignment",
    table="Table",
)
REPEATING = ("induction", "duplicate", "moves")  # measures of decoders alone
OLD_MODEL = "atlas-model"  # what addresses called a model that reads texts, before they called it as other pages do
INDEX_COMMAND = "python -m model atlas --corpus --checkpoint {name} --data FILE --sentences 5000"
UNDER = 98  # pixels of the choice of a head, and of what opens beside it
SOURCES = {"held-out": message("held-out sentences")} | messages(sentence="this sentence", difference="difference")


def show(above: frame.Top, part: str, result: cached.Result, request: cached.Request) -> None:
    """Draw all heads at the left, and the chosen one, or what was measured of all, at the right."""
    if part == "texts" and show_over_texts(above, result, request.model):
        return
    places = frame.sides(above)
    with places.right_controls:
        controls.choose(say("Show"), VIEWS, "part", first_part(request.model), label_visibility="collapsed")
    if part == "texts":
        offer_index(places, request.model)
        return
    report = None
    with places.notes:
        try:
            report = heads_results.report(request.model)
            if report is None:
                line = say(
                    "This checkpoint has no atlas yet; only your sentence is measured. To make one: {command}",
                    command=alignment.COMMAND.format(name=request.model),
                )
                st.info(line)
        except ValueError as error:
            shared.warn(errors.sentence(error))
    with places.left:
        board, choice = st.container(), st.container()
        beside = st.container(horizontal=True, gap="small", key="atlas-beside")
        with beside:
            numbers = st.popover(say("Numbers of this head"), type="tertiary")
        first = best_aligner(report) if report else (0, 0)
        with choice:
            head = Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross", first))
    origin = recipes.origin(request)
    held_out = head_sources.of_report(report) if report else None
    with places.left_controls:
        measures, chosen_kinds, over = choose_measures(part, held_out)
    if over == "held-out" or set(measures) - {"place"} <= set(head_roles.NUMBERS):
        of_text = heads_results.of_weights(result)
    else:
        of_text = heads_results.of_request(request)
    source = held_out if held_out is not None and over == "held-out" else of_text
    with board:
        show_all(part, source, held_out if over == "difference" else None, measures, chosen_kinds, head, origin)
    weights = result.attention(head.kind)[head.layer, head.head]
    with places.answer:
        line = say("Colour all heads by a measure, click one, compare with your own sentence.")
        if report:
            line = held_out_card.about(report)
            if held_out is not None and over == "held-out" and measures and held_out.having(measures[0], [head.kind]):
                line += " " + head_boards.ranked(held_out, measures[0], head)
        name = head_sources.name_of(head.kind, head.layer, head.head)
        frame.answer(f"{name}: {heads_results.in_words(weights, head.kind)}", line)
    with places.right:
        if part == "contribution":
            contributions.show(result, request, head)
        elif part == "rollout":
            heads_together.show_rollout(result, KINDS, origin)
        elif part == "alignment":
            alignment.show(request.model, report, head)
        else:
            sources = {say("held-out"): held_out, say("this sentence"): of_text}
            sources = {name: source for name, source in sources.items() if source}
            card.show(head, result, request, report, sources, numbers)
    if report:
        with beside, st.popover(say("How this was measured"), type="tertiary"):
            about = [say("BLEU {score} on {sentences} of them.", **report["bleu"])] if report["bleu"] else []
            shared.write_small(" ".join([line, *about, report["credit"]]), "report")
            st.code(report["command"], language="bash", wrap_lines=True)


def show_over_texts(above: frame.Top, result: cached.Result, model: str) -> bool:
    """All heads by what they do over thousands of texts, drawn by a browser; whether there is an index of them."""
    measured_texts.take_up()
    with above.notes:
        measured_texts.show_progress()
        try:
            corpus = measured_texts.corpus_of(model)
        except ValueError as error:
            shared.warn(errors.sentence(error))
            corpus = None
    if corpus is None:
        return False
    with above.question, st.popover(say("Your own texts"), key="atlas-texts", width=160):
        measured_texts.offer_measuring(model, measured_texts.ask_texts(model))
        measured_texts.offer_shipped(model)
    with above.box:
        text_index.show(corpus, VIEWS, (result.source, result.text))
    return True


def offer_index(places: frame.Places, model: str) -> None:
    """What can be done where there is no index over many texts."""
    with places.answer:
        line = say("Measure its heads here over pairs of texts, or over a file by the command below.")
        frame.answer(say("This checkpoint has no index over many texts yet."), line)
    with places.right:
        measured_texts.offer_measuring(model, measured_texts.ask_texts(model))
        st.code(INDEX_COMMAND.format(name=model), "bash", wrap_lines=True)


def show_all(
    part: str,
    source: Source,
    beside: Source | None,
    measures: list[str],
    chosen_kinds: str,
    head: Head,
    origin: Origin,
) -> None:
    """All heads, small: as a table, by likeness, by two measures or as a board coloured by one."""
    if part == "table":
        heads_roles.show_table(source, head.kind)
    elif part == "alike":
        heads_together.show_alike(source, head, origin, UNDER)
    else:
        of_all = [measure for measure in measures if measure != "place"]
        kinds = [kind for kind in KINDS if all(source.having(measure, [kind]) for measure in of_all)]
        kinds = [kind for kind in kinds if chosen_kinds in (kind, "all")] or kinds
        if not kinds:
            st.info(say("This was not measured in one sentence."))
        elif part == "scatter":
            heads_roles.show_scatter(source, kinds, measures[0], measures[1], head, origin, UNDER)
        else:
            heads_roles.show_board(
                source, kinds, measures[0], head, origin, other=beside, sort=measures[1], below=UNDER
            )


def choose_measures(part: str, held_out: Source | None) -> tuple[list[str], str, str]:
    """Two measures, a kind, and over what they are measured.

    The measures are the colours and the order of the board ("place": as they stand); of views that need none, none.
    """
    over = ["held-out", "sentence"] if held_out else ["sentence"]
    if part in ("alike", "table"):
        return [], "all", controls.choose(say("Over"), over, "over-what", names=SOURCES, label_visibility="collapsed")
    offered = [
        name
        for name in head_boards.MEASURES
        if (held_out.having(name, KINDS) if held_out else name not in (*SOMETIMES, *REPEATING))
    ]
    names = head_boards.MEASURES | {"place": message("layer and head")}
    measures = [
        controls.choose_from_list(say("Measure"), offered, "colour", "sharpness", names, label_visibility="collapsed")
    ]
    if part == "scatter":
        second = say("Against"), offered, "measured", "log_probability"
    else:
        second = say("Sort by"), ["place", *offered], "sort", "place"
        over += ["difference"] if held_out else []
    frame.label(second[0])
    measures.append(controls.choose_from_list(*second, names, label_visibility="collapsed"))
    is_set = [widgets.code_of("kinds", "all") != "all", widgets.code_of("over-what", over[0]) != over[0]]
    with frame.options(sum(is_set), "atlas"):
        kind = controls.choose(say("Heads"), {"all": message("all")} | words.SHORT_KINDS, "kinds")
        over = controls.choose(say("Over"), over, "over-what", names=SOURCES)
    return measures, kind, over


@widgets.fragment
def live() -> None:
    """The atlas of a checkpoint that translates, of a language model, or of a model of transformers that is opened."""
    above = frame.top()
    readers = [*available("language_model"), *model_shelf.SHELF.names()]
    with above.question:
        model = choose_model(readers)
    if model in readers:
        text_atlas.show(model, above)
        return
    first = first_part(model)
    part = widgets.code_of("part", first)
    controls.show_translation(above, partial(show, above, part if part in VIEWS else first), asks_model=False)


def first_part(model: str) -> str:
    """The part of the page that is shown where the address names none."""
    asks_board = "colour" in st.query_params  # of addresses that were made before there were many texts, too
    has_index = corpus_results.has_index(model) or measured_texts.report_of(model) is not None
    return "texts" if has_index and not asks_board else "board"


def choose_model(readers: Sequence[str]) -> str:
    """Let the visitor choose a translator or one of the readers; at first what the address or the page before had."""
    state = st.session_state
    if (name := st.query_params.pop(OLD_MODEL, None)) is not None:
        st.query_params["model"] = name
    names = controls.arrived_models(readers)

    def change() -> None:
        last_view = state.get(view.KEPT, view.View())
        state[view.KEPT] = replace(last_view, model="" if state["model"] == names[0] else state["model"])

    model = st.selectbox(
        say("Model"),
        names,
        key="model",
        on_change=change,
        width=190,
        label_visibility="collapsed",
        persist_state="session",
    )
    if model in readers:  # which have no search
        controls.keep_search_options()
        widgets.note_codes(dict.fromkeys(view.FIELDS[1:]) | {"model": model})
        change()
    return model


frame.opening(say("Head atlas"))
live()
