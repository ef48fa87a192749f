"""The page Pitfalls: well-known mistakes that run without an error, each live beside the right version."""

from dataclasses import replace
from html import escape
from itertools import groupby

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis.comparison import beside
from model.translation import Translation
from viz.pages.pitfalls.common import Demo, Sentence, number
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS
from viz.text import words
from viz.text.language import current, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes
from viz.views.cached import Request
from viz.views.made import Recipe, made

REMEMBERED = 8


@cached.remembered(REMEMBERED, cached.TRANSLATING)
def record(request: Request) -> Translation:
    """Translate and keep everything recorded, or return what is remembered of it."""
    return replace(request.translated(), search=None)


def answered(notes: DeltaGenerator) -> tuple[Request, Translation] | None:
    """Ask for a sentence and translate it; what cannot be translated is told in the notes, and the example is shown."""
    name = cached.default_checkpoint()
    try:
        card = cached.translator(name).card
    except ValueError as error:
        with notes:
            controls.no_model(error)
        return None
    text = controls.sentence(words.sentence_in(card.get("source")), EXAMPLE)
    with notes:
        asked, example = (Request(name, one, beam=1) for one in (text, EXAMPLE))
        return shared.compute_or_keep("pitfalls-answered", asked, record, example)


@st.cache_resource(max_entries=REMEMBERED * len(PITFALLS), show_spinner=False)
def demonstrated(key: str, request: Request, language: str, _result: Translation) -> Demo:
    """A mistake on a sentence, or what is remembered of it; nobody writes into it."""
    return PITFALLS[key](Sentence(request.translator, _result))


def harm(demo: Demo) -> list[str]:
    """What came of it, wrong and right, in HTML: the words that differ are marked, as on Steer."""
    if not demo.written:
        return ["", ""]
    pairs, marked = beside(*(text.split() for text in demo.written)), []
    for side in (0, 1):
        found = groupby((pair for pair in pairs if pair[side]), key=lambda pair: pair[0] == pair[1])
        parts = [(same, escape(" ".join(pair[side] for pair in group))) for same, group in found]
        marked.append(" ".join(text if same else f"<mark>{text}</mark>" for same, text in parts))
    return [text or escape(say("(nothing)")) for text in marked]


def show(key: str, demo: Demo, recipe: Recipe, spoken_in: str) -> None:
    """Show what came of it (in the language of that code), both pictures with their lines, and the numbers folded."""
    spoken = PITFALLS[key]
    names = {"wrong": say("Wrong"), "right": say("Right")}
    for place, (side, name), text in zip(st.columns(2, gap="medium"), names.items(), harm(demo)):
        with place:
            st.html(f'<p class="hl-harm hl-{side}"><b>{escape(name)}</b> <q lang="{spoken_in}">{text}</q></p>')
            title = say(getattr(spoken, f"{side}_picture"))
            st.caption(title)
            figure = made(getattr(demo, side), f"PITFALLS[{key!r}](sentence).{side}")
            explore.draw(recipe.plot(f"{name}: {title}", figure), side)
            st.code(getattr(spoken, f"{side}_line"), language="python", wrap_lines=True)
    st.markdown(say(spoken.explanation).replace("$", "\\$"))
    with st.expander(f"{demo.measured}: {number(demo.difference)}", expanded=not demo.written):
        for row, line in enumerate(demo.lines):
            shared.small(line, f"number-{row}")


@choices.fragment
def live() -> None:
    notes = st.container()
    pictures, beside = shared.picture_first()
    with beside:
        names = {key: one.name for key, one in PITFALLS.items()}
        key = controls.choose(say("Pitfall"), names, "pitfall", widget=st.radio, label_visibility="collapsed")
        shown = answered(notes)
        if key == "best":
            st.caption(say("This one does not depend on the sentence: a linear model of 20 inputs learns 18 examples."))
    if shown is None:
        return
    request, result = shown
    recipe = recipes.translation(request).then("sentence = Sentence(translator, result)")
    with pictures:
        target = escape(str(request.translator.card.get("target", "")))
        show(key, demonstrated(key, request, current(), result), recipe, target)


line = say("Mistakes that run without an error, computed on your sentence beside the right version.")
shared.opening(say("Pitfalls"), line)
live()
