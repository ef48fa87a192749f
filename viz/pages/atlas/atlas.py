"""The page Head atlas: all heads over held-out sentences and in the visitor's own, and the card of one."""

import html
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures import agreement, atlas
from model.translation import KINDS
from viz.pages.atlas import parts
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import choices, controls, explore, heads_roles, shared, speaking
from viz.views import cached, changes, heads_results, recipes
from viz.views.heads_results import Source
from viz.views.made import Recipe
from viz.views.view import View

NEIGHBOURS = 4
VIEWS = messages(
    board="All heads",
    scatter="Two measures",
    alike="Alike",
    contribution="Contribution",
    rollout="Through all layers",
    alignment="Alignment",
    table="Table",
)
WITH_CARD = ("board", "scatter", "alike", "table")  # views of all heads
SOURCES = {
    "held-out": message("held-out sentences"),
    "sentence": message("this sentence"),
    "difference": message("difference"),
}


class Places(NamedTuple):
    """Where things stand: the picture and beside it what changes it; below them the card and the head."""

    picture: DeltaGenerator
    choices: DeltaGenerator
    card: DeltaGenerator
    head: DeltaGenerator


class Known(NamedTuple):
    """What there is to show: the translation and its request, the atlas if any, numbers of both, and the open head."""

    result: cached.Shown
    request: cached.Request
    report: dict[str, Any] | None
    held: Source | None
    own: Source
    head: Head

    @property
    def recipe(self) -> Recipe:
        return recipes.translation(self.request)

    def address(self, view: View) -> dict[str, str]:
        """The codes of a view, of the model and of the head, for other pages."""
        model = self.request.checkpoint
        view = replace(view, model="" if model == cached.default_checkpoint() else model)
        return view.address() | {name: str(one) for name, one in vars(self.head).items()}


def show(part: str, result: cached.Shown, request: cached.Request, at: Places) -> None:
    with at.card:
        missing = say(
            "This checkpoint has no atlas yet; only your sentence is measured. To make one: {command}",
            command=parts.COMMAND.format(name=request.checkpoint),
        )
        report = shared.measured(heads_results.report, request.checkpoint, missing)
    with at.head:
        first = heads_results.best_aligner(report) if report else (0, 0)
        head = Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross", first))
        if report:
            made_of = {name: report[name] for name in ("sentences", "words", "data")}
            line = say("{sentences} held-out sentences, {words} words, {data}.", **made_of)
            if report["bleu"]:
                line += " " + say("BLEU {score} on {sentences} of them.", **report["bleu"])
            shared.small(f"{line} {report['credit']}", "report")
            with st.popover(say("How this was measured"), type="tertiary"):
                st.code(report["command"], language="bash", wrap_lines=True)
    with at.picture:
        if part == "contribution":
            parts.show_contribution(result, request, head, at.choices)
        elif part == "rollout":
            heads_roles.show_rollout(result, KINDS, recipes.translation(request))
        elif part == "alignment":
            parts.show_alignment(request.checkpoint, report, at.choices)
    if part not in WITH_CARD:
        return
    held = heads_results.of_report(report) if report else None
    with at.choices:
        measures = choose_measures(part, held)
        # On the board also what is different in the visitor's own sentence.
        over = ["held-out", "sentence", *(["difference"] if part == "board" else [])] if held else ["sentence"]
        over = controls.choose(say("Over"), over, "over-what", names=SOURCES)
    if over == "held-out" or set(measures) - {"place"} <= set(head_roles.NUMBERS):
        own = heads_results.of_weights(result)
    else:
        own = heads_results.of_request(request)
    known = Known(result, request, report, held, own, head)
    of_kind = (held if over == "held-out" else own).kinds[head.kind]
    with at.picture:
        if part == "table":
            heads_roles.show_table(of_kind, head.kind)
        elif part == "alike":
            recipe, divergence = known.recipe, f"head_roles.divergences(result.attention({head.kind!r}))"
            if over == "held-out":
                recipe = recipe.then(heads_results.REPORT)
                divergence = f"np.array(report['kinds'][{head.kind!r}]['divergence'])"
            heads_roles.show_alike(of_kind, head, recipe.then(f"divergence = {divergence}"), "divergence")
        else:
            show_measures(part, measures, over, known, at.choices)
    with at.card:
        show_card(known)


def choose_measures(part: str, held: Source | None) -> list[str]:
    """The measures of the board (its colours, and what it is sorted by, "place" if by none) or of two axes, if any."""
    of_sentence = {name for names in atlas.ALWAYS.values() for name in names} - {"rare"}
    known = {name for of_kind in held.kinds.values() for name in of_kind.numbers} if held else of_sentence
    offered = [name for name in heads_roles.MEASURES if name in known]
    names = heads_roles.MEASURES | {"place": message("layer and head")}
    asked = {
        "board": [(say("Colour by"), "colour", "sharpness"), (say("Sort by"), "sort", "place")],
        "scatter": [(say("Measure"), "colour", "sharpness"), (say("Against"), "measured", "log_probability")],
    }.get(part, [])
    return [
        controls.among(label, ["place", *offered] if key == "sort" else offered, key, default, names)
        for label, key, default in asked
    ]


def show_measures(part: str, wanted: list[str], over: str, known: Known, beside: DeltaGenerator) -> None:
    with beside:
        some = controls.choose(say("Heads"), {"all": message("all")} | words.SHORT_KINDS, "kinds")
    source = known.held if over == "held-out" else known.own
    measures = [one for one in wanted if one != "place"]
    kinds = [kind for kind in KINDS if all(source.having(one, [kind]) for one in measures)]
    if not kinds:
        st.info(say("This was not measured in one sentence."))
        return
    kinds = [kind for kind in kinds if some in (kind, "all")] or kinds
    if part == "scatter":
        heads_roles.show_scatter(source, kinds, *wanted, known.head, known.recipe)
    else:
        more = {"other": known.held if over == "difference" else None, "sort": wanted[1]}
        heads_roles.show_board(source, kinds, wanted[0], known.head, known.recipe, heads_roles.open_head, **more)


def show_card(known: Known) -> None:
    """Show the numbers of a head, the sentences where it is strongest, heads like it, and it in this sentence."""
    kind, layer, number = vars(known.head).values()
    source = known.held or known.own
    of_kind = source.kinds[kind]
    left, right = st.columns(2, gap="medium")
    with left:
        explore.heading(heads_results.name_of(kind, layer, number), source.about(kind, layer, number))
        if known.report:
            st.html(examples(known, of_kind.examples[layer][number]))
        with shared.row(gap="small"):
            st.caption(say("Most alike:"))
            for distance, *other in neighbours(of_kind, known.head):
                name, key = "{}.{}".format(*other), "like-{}-{}".format(*other)
                opens = {"on_click": heads_roles.open_head, "args": other}
                st.button(say("{name} ({x:.2f})", name=name, x=distance), key=key, type="tertiary", **opens)
        query, asked = known.address(known.request.view()), st.query_params.to_dict()
        # Of links that were made when heads were switched off here.
        changed = query | {name: asked[name] for name in changes.NAMES if name in asked}
        here = speaking.link(say("Open this head on the stage →"), "", query)
        steer = speaking.link(say("Switch heads off in this sentence, on the page Steer →"), "steer", changed)
        st.html(f"{here}<br>{steer}")
    with right:
        heads_roles.show_here(known.head, known.result, known.recipe)
    columns = {say("held-out"): known.held} if known.held else {}
    heads_roles.show_card(known.head, columns | {say("this sentence"): known.own})
    st.caption(say(heads_roles.ROLE))


def neighbours(of_kind: heads_results.Numbers, head: Head) -> list[tuple[float, int, int]]:
    """The heads of its kind that are most like a head: the Jensen-Shannon distance, layer and number of each."""
    if of_kind.divergence is None:
        return []
    places = list(np.ndindex(np.shape(of_kind.roles)))
    own = places.index((head.layer, head.head))
    distances = np.sqrt(of_kind.divergence[own])
    nearest = [at for at in np.argsort(distances, kind="stable") if at != own][:NEIGHBOURS]
    return [(distances[at], *places[at]) for at in nearest]


def examples(known: Known, found: list[list]) -> str:
    """The sentences where a head is strongest (as of `atlas.measure`), as HTML: links that open them on the stage."""
    of_effect, items = known.head.kind in agreement.DECODER, []
    for text, row, word, key, value in found:
        told = {name: token.removeprefix("▁") or token for name, token in (("word", word), ("key", key))}
        if of_effect:
            said = say("“{word}” {value:+.1f} logits from “{key}”", **told, value=value)
        else:
            said = say("“{word}” attends {value:.2f} to “{key}”", **told, value=value)
        pin = {"pin": f"t{row}", "measure": "effects"} if of_effect else {"pin": f"s{row}"}
        source = known.report["texts"][text]
        link = speaking.link(source, "", known.address(View(source, beam=1)) | pin)
        items.append(f"<li>{link}<br><small>{html.escape(said)}</small></li>")
    strongest = say("Strongest in these held-out sentences; each opens on the stage:")
    return f"<small>{html.escape(strongest)}</small><ol>{''.join(items)}</ol>"


@choices.fragment
def live() -> None:
    picture, beside = shared.picture_first()
    card, below = shared.picture_first()
    with picture:
        part = controls.views(VIEWS, "part")
    with beside:
        choose = st.container()
    with below if part in WITH_CARD else beside:
        at = Places(picture, choose, card, st.container())
        sentence = st.container()
    with picture:
        controls.one_translation(lambda result, request: show(part, result, request, at), sentence)


intro = say("All heads over held-out sentences: colour them by a measure, click one, compare with your own sentence.")
shared.opening(say("Head atlas"), intro)
live()
