"""The page Head atlas: all heads over held-out sentences and in the visitor's own, and the card of one."""

from __future__ import annotations

import html
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures import agreement, atlas
from model.translation import KINDS
from viz.pages.atlas import alignment, contribution
from viz.text import words, words_heads
from viz.text.language import say
from viz.text.words_heads import BOARD, CHANGE, HELD_OUT, PLACE, SCATTER, SENTENCE, SHARPNESS
from viz.ui import choices, controls, explore, heads_roles, shared, speaking
from viz.views import cached, changes, heads_results, recipes
from viz.views.heads_results import Source
from viz.views.made import Recipe
from viz.views.view import View

NEIGHBOURS = 4
WITH_CARD = (BOARD, SCATTER, words_heads.ALIKE, words_heads.TABLE)  # views of all heads


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

    def address(self, text: str, **how: Any) -> dict[str, str]:
        """The codes of a sentence, and of the head and the model, for other pages."""
        model = self.request.checkpoint
        model = "" if model == cached.default_checkpoint() else model
        return View(text, model, **how).address() | {name: str(one) for name, one in vars(self.head).items()}


def show(part: str, result: cached.Shown, request: cached.Request, at: Places) -> None:
    with at.card:
        missing = say(words_heads.NO_ATLAS, command=words_heads.COMMAND.format(name=request.checkpoint))
        report = shared.measured(heads_results.report, request.checkpoint, missing)
    with at.head:
        first = heads_results.best_aligner(report) if report else (0, 0)
        head = Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross", first))
        if report:
            shared.small(words_heads.counted_atlas(report), "report")
            with st.popover(say("How this was measured"), type="tertiary"):
                st.code(report["command"], language="bash", wrap_lines=True)
    with at.picture:
        if part == words_heads.ADDS:
            contribution.show(result, request, head, at.choices)
        elif part == words_heads.ROLLOUT:
            contribution.show_rollout(result, request)
        elif part == words_heads.ALIGNED:
            alignment.show(request.checkpoint, report, at.choices)
    if part not in WITH_CARD:
        return
    held = heads_results.of_report(report) if report else None
    with at.choices:
        measures = choose_measures(part, held)
        over = choose_source(held, part)
    if over == HELD_OUT or set(measures) - {PLACE} <= set(head_roles.NUMBERS):
        own = heads_results.of_weights(result)
    else:
        own = heads_results.of_request(request)
    known = Known(result, request, report, held, own, head)
    of_kind = (held if over == HELD_OUT else own).kinds[head.kind]
    with at.picture:
        if part == words_heads.TABLE:
            heads_roles.show_table(of_kind, head.kind)
        elif part == words_heads.ALIKE:
            heads_roles.show_alike(of_kind, head, known.recipe.then(*alike(head.kind, over)), "divergence")
        else:
            show_measures(part, measures, over, known, at.choices)
    with at.card:
        show_card(known)


def choose_source(held: Source | None, part: str) -> str:
    """Whether held-out sentences are shown, the visitor's own, or on the board what is different there."""
    options = [HELD_OUT, SENTENCE, *([CHANGE] if part == BOARD else [])] if held else [SENTENCE]
    return controls.choose(say("Over"), options, "over-what", names=words_heads.SOURCES)


def choose_measures(part: str, held: Source | None) -> list[str]:
    """The measures of the board (its colours, and what it is sorted by, PLACE if by none) or of two axes, if any."""
    of_sentence = {name for names in atlas.ALWAYS.values() for name in names} - {"rare"}
    known = {name for of_kind in held.kinds.values() for name in of_kind.numbers} if held else of_sentence
    offered = [name for name in words_heads.MEASURES if name in known]
    names, wide = words_heads.MEASURES | {PLACE: words_heads.BY_PLACE}, {"width": "stretch"}
    asked = {
        BOARD: [(say("Colour by"), "colour", SHARPNESS), (say("Sort by"), "sort", PLACE)],
        SCATTER: [(say("Measure"), "colour", SHARPNESS), (say("Against"), "measured", "log_probability")],
    }.get(part, [])
    return [
        controls.among(label, [PLACE, *offered] if key == "sort" else offered, key, default, names, **wide)
        for label, key, default in asked
    ]


def show_measures(part: str, wanted: list[str], over: str, known: Known, beside: DeltaGenerator) -> None:
    with beside:
        some = controls.choose(say("Heads"), words_heads.BOARD_KINDS, "kinds")
    source = known.held if over == HELD_OUT else known.own
    measures = [one for one in wanted if one != PLACE]
    kinds = [kind for kind in KINDS if all(source.having(one, [kind]) for one in measures)]
    if not kinds:
        st.info(say(words_heads.NOT_HERE))
        return
    kinds = [kind for kind in kinds if some in (kind, words_heads.ALL_KINDS)] or kinds
    if part == SCATTER:
        heads_roles.show_scatter(source, kinds, *wanted, known.head, known.recipe)
    else:
        more = {"other": known.held if over == CHANGE else None, "sort": wanted[1]}
        heads_roles.show_board(source, kinds, wanted[0], known.head, known.recipe, heads_roles.open_head, **more)


def alike(kind: str, over: str) -> tuple[str, ...]:
    """How the divergence of the heads of a kind comes about, in Python."""
    if over == HELD_OUT:
        return heads_results.REPORT, f"divergence = np.array(report['kinds'][{kind!r}]['divergence'])"
    return (f"divergence = head_roles.divergences(result.attention({kind!r}))",)


def show_card(known: Known) -> None:
    """Show the numbers of a head, the sentences where it is strongest, heads like it, and it in this sentence."""
    kind, layer, number = vars(known.head).values()
    source, request = known.held or known.own, known.request
    of_kind = source.kinds[kind]
    left, right = st.columns(2, gap="medium")
    with left:
        said = filter(None, [words_heads.role(of_kind.roles[layer][number]), source.mark(kind, layer, number)])
        explore.heading(words_heads.head(words.KINDS[kind].title, layer, number), " · ".join(said))
        if known.report:
            st.html(examples(known, of_kind.examples[layer][number]))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(say("Most alike:"))
            for distance, *other in neighbours(of_kind, known.head):
                name, key = "{}.{}".format(*other), "like-{}-{}".format(*other)
                opens = {"on_click": heads_roles.open_head, "args": other}
                st.button(say("{name} ({x:.2f})", name=name, x=distance), key=key, type="tertiary", **opens)
        how = {"beam": request.beam, "penalty": request.length_penalty, "reference": request.reference}
        query, asked = known.address(request.text, **how), st.query_params.to_dict()
        # Of links that were made when heads were switched off here.
        changed = query | {name: asked[name] for name in changes.NAMES if name in asked}
        links = (words_heads.OPEN_HERE, "", query), (words_heads.TO_STEER, "steer", changed)
        st.html("<br>".join(speaking.link(say(text), page, asks) for text, page, asks in links))
    with right:
        heads_roles.show_here(known.head, known.result, known.recipe)
    columns = {say("held-out"): known.held} if known.held else {}
    heads_roles.show_card(known.head, columns | {say("this sentence"): known.own})
    st.caption(say(words_heads.ROLE))


def neighbours(of_kind: heads_results.Numbers, head: Head) -> list[tuple[float, int, int]]:
    """The heads of its kind that are most like a head: the Jensen-Shannon distance, layer and number of each."""
    if of_kind.divergence is None:
        return []
    shape = np.shape(of_kind.roles)
    own = np.ravel_multi_index((head.layer, head.head), shape)
    distances = np.sqrt(of_kind.divergence[own])
    nearest = [at for at in np.argsort(distances, kind="stable") if at != own][:NEIGHBOURS]
    return [(distances[at], *map(int, np.unravel_index(at, shape))) for at in nearest]


def examples(known: Known, found: list[list]) -> str:
    """The sentences where a head is strongest (as of `atlas.measure`), as HTML: links that open them on the stage."""
    of_effect, items = known.head.kind in agreement.DECODER, []
    for text, row, word, key, value in found:
        told = words_heads.ADDED_TO if of_effect else words_heads.ATTENDS
        word, key = (token.removeprefix("▁") or token for token in (word, key))
        said = say(told, word=word, key=key, value=value)
        pin = {"pin": f"t{row}", "measure": "effects"} if of_effect else {"pin": f"s{row}"}
        source = known.report["texts"][text]
        link = speaking.link(source, "", known.address(source, beam=1) | pin)
        items.append(f"<li>{link}<br><small>{html.escape(said)}</small></li>")
    return f"<small>{html.escape(say(words_heads.STRONGEST))}</small><ol>{''.join(items)}</ol>"


@choices.fragment
def live() -> None:
    picture, beside = shared.picture_first()
    card, below = shared.picture_first()
    with picture:
        part = controls.views(words_heads.PARTS, "part")
    with beside:
        choose = st.container()
    with below if part in WITH_CARD else beside:
        at = Places(picture, choose, card, st.container())
        sentence = st.container()
    with picture:
        controls.one_translation(lambda result, request: show(part, result, request, at), sentence)


shared.opening(say("Head atlas"), say(words_heads.INTRO))
live()
