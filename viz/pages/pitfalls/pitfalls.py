"""The page Pitfalls: mistakes that run without an error, each live beside the right version."""

from functools import partial
from html import escape

import streamlit as st

from model.analysis.comparison import beside
from model.experiments.modern_pitfalls import MISTAKES
from viz.pages.pitfalls import harm
from viz.pages.pitfalls.common import Demo, Sentence
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS
from viz.pages.pitfalls.modern import MODERN, fitting
from viz.text.language import current, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes
from viz.views.cached import Request
from viz.views.made import Recipe, made

ALL = PITFALLS | MODERN


@st.cache_resource(max_entries=100, show_spinner=cached.Waiting(cached.TRANSLATING))
def demonstrated(key: str, language: str, request: Request) -> Demo:
    return ALL[key](Sentence(request.translator, request.translated()))


def word_pairs(demo: Demo) -> list[tuple[str, str]]:
    """The words of what came of it, wrong and right, those that are the same beside each other."""
    return beside(*(text.split() for text in demo.written)) if demo.written else []


def marked_words(demo: Demo) -> list[str]:
    """What came of it, wrong and right, in HTML with the words that differ marked."""
    if not demo.written:
        return ["", ""]
    marked = []
    for side in (0, 1):
        words = ((escape(pair[side]), pair[0] == pair[1]) for pair in word_pairs(demo) if pair[side])
        marked.append(" ".join(word if same else f"<mark>{word}</mark>" for word, same in words))
    return [text or escape(say("(nothing)")) for text in marked]


def show(key: str, demo: Demo, recipe: Recipe, spoken_in: str) -> None:
    spoken, sides = ALL[key], zip(("wrong", "right"), (say("Wrong"), say("Right")), marked_words(demo))
    for side, name, text in shared.columns(sides, 2):
        st.html(f'<p class="hl-harm hl-{side}"><b>{escape(name)}</b> <q lang="{spoken_in}">{text}</q></p>')
        title = say(spoken.picture)
        st.caption(title)
        figure = made(getattr(demo, side), f"{'MODERN' if key in MODERN else 'PITFALLS'}[{key!r}](sentence).{side}")
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
        name, grid = controls.default_model(), harm.load()
    known = harm.harms(grid)
    with beside:
        names = {key: one.name for key, one in (PITFALLS | fitting()).items()}
        captions = harm.captions(known, names)
        label = say("Loss added: afterwards / trained with it")
        key = controls.choose(label, names, "pitfall", widget=st.radio, captions=captions)
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
        changed = None
        if ALL[key].changes_translation:
            changed = sum(wrong != right for wrong, right in word_pairs(demo))
        with pictures:
            harm.show(key, ALL[key].lesson, grid, known, changed)
            show(key, demo, recipe, "en" if key in MISTAKES else escape(str(card.get("target", ""))))


intro = say("Mistakes that run without an error, computed on your sentence beside the right version.")
shared.opening(say("Pitfalls"), intro)
live()
