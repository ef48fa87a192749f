"""The page Pitfalls: mistakes that run without an error, each live beside the right version."""

from functools import partial
from html import escape

import streamlit as st

from model.analysis.comparison import beside
from viz.pages.pitfalls.common import Demo, Sentence
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS
from viz.text.language import current, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes
from viz.views.cached import Request
from viz.views.made import Recipe, made


@st.cache_resource(max_entries=100, show_spinner=cached.Waiting(cached.TRANSLATING))
def demonstrated(key: str, language: str, request: Request) -> Demo:
    return PITFALLS[key](Sentence(request.translator, request.translated()))


def harm(demo: Demo) -> list[str]:
    """What came of it, wrong and right, in HTML with the words that differ marked."""
    if not demo.written:
        return ["", ""]
    pairs, marked = beside(*(text.split() for text in demo.written)), []
    for side in (0, 1):
        found = ((escape(pair[side]), pair[0] == pair[1]) for pair in pairs if pair[side])
        marked.append(" ".join(word if same else f"<mark>{word}</mark>" for word, same in found))
    return [text or escape(say("(nothing)")) for text in marked]


def show(key: str, demo: Demo, recipe: Recipe, spoken_in: str) -> None:
    spoken = PITFALLS[key]
    for side, name, text in shared.columns(zip(("wrong", "right"), (say("Wrong"), say("Right")), harm(demo)), 2):
        st.html(f'<p class="hl-harm hl-{side}"><b>{escape(name)}</b> <q lang="{spoken_in}">{text}</q></p>')
        title = say(spoken.picture)
        st.caption(title)
        figure = made(getattr(demo, side), f"PITFALLS[{key!r}](sentence).{side}")
        explore.draw(recipe.plot(f"{name}: {title}", figure), side)
        st.code(getattr(spoken, side), language="python", wrap_lines=True)
    st.markdown(say(spoken.explanation).replace("$", "\\$"))
    headline, *more = demo.lines
    with st.expander(headline, expanded=not demo.written):
        shared.small("\n".join(more), "numbers")


@choices.fragment
def live() -> None:
    notes = st.container()
    pictures, beside = shared.picture_first()
    with notes:
        name = controls.default_model()
    with beside:
        names = {key: one.name for key, one in PITFALLS.items()}
        key = controls.choose(say("Pitfall"), names, "pitfall", widget=st.radio, label_visibility="collapsed")
        if name is None:
            return
        card = cached.translator(name).card
        text = controls.sentence(card.get("source"), EXAMPLE)
        if key == "best":
            st.caption(say("This one does not depend on the sentence: a linear model of 20 inputs learns 18 examples."))
    with notes:
        asked, example = (Request(one, name, beam=1) for one in (text, EXAMPLE))
        shown = shared.compute_or_keep("pitfalls-answered", asked, partial(demonstrated, key, current()), example)
    if shown is not None:
        request, demo = shown
        recipe = recipes.translation(request).then("sentence = Sentence(translator, result)")
        with pictures:
            show(key, demo, recipe, escape(str(card.get("target", ""))))


intro = say("Mistakes that run without an error, computed on your sentence beside the right version.")
shared.opening(say("Pitfalls"), intro)
live()
