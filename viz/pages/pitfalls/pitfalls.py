"""The page Pitfalls: mistakes that run without an error, each live beside the right version."""

from collections.abc import Mapping
from html import escape

import streamlit as st

from model.analysis.comparison import beside
from model.experiments.modern_pitfalls import MISTAKES
from model.running.translator import Translator
from model.training.sweeps.grid import Harm
from viz.figures import Figure
from viz.pages.pitfalls import harm
from viz.pages.pitfalls.common import Demo, HeadPicture, Sentence
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS
from viz.pages.pitfalls.modern import MODERN, fitting
from viz.stage.payload.payloads import NamesPayload
from viz.text.language import current, messages, say
from viz.ui import controls, frame, shared, widgets
from viz.ui.frame import Tile
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.cached import Request
from viz.views.snippets import Code, Origin, Plot, program, snippet

ALL = PITFALLS | MODERN
VIEWS = messages(pictures="Wrong and right", code="Code and numbers", costs="What it costs")

PICTURE = """
from viz.pages.pitfalls.common import Sentence
from viz.pages.pitfalls.demos import PITFALLS

sentence = Sentence(translator, result)
figure = PITFALLS[$key](sentence).$side
figure.show()
"""
MODERN_PICTURE = """
from viz.pages.pitfalls.common import Sentence
from viz.pages.pitfalls.modern import MODERN

sentence = Sentence(translator, result)
figure = MODERN[$key](sentence).$side
figure.show()
"""


@st.cache_resource(max_entries=100, show_spinner=cached.Waiting(cached.TRANSLATING))
def demonstrated(key: str, language: str, request: Request) -> Demo:
    """The demonstration of a mistake on a sentence, kept."""
    return ALL[key](Sentence(cached.loaded_as(Translator, request.model), request.translated()))


def word_pairs(demo: Demo) -> list[tuple[str, str]]:
    """The words of what came of it, wrong and right, those that are the same beside each other."""
    return beside(*(text.split() for text in demo.outputs)) if demo.outputs else []


def marked_words(demo: Demo) -> list[str]:
    """What came of it, wrong and right, in HTML with the words that differ marked."""
    if not demo.outputs:
        return ["", ""]
    marks = []
    for side in (0, 1):
        words = ((escape(pair[side]), pair[0] == pair[1]) for pair in word_pairs(demo) if pair[side])
        marks.append(" ".join(word if same else f"<mark>{word}</mark>" for word, same in words))
    return [text or escape(say("(nothing)")) for text in marks]


@st.cache_resource(max_entries=200, show_spinner=cached.Waiting(cached.TRANSLATING))
def breaks(request: Request) -> dict[str, int]:
    """How many words of a translation change, by mistake that can change it."""
    return Sentence(cached.loaded_as(Translator, request.model), request.translated()).changed_words()


def mistake_tiles(harms: Mapping[str, Harm], n_changed: Mapping[str, int]) -> list[Tile]:
    """The mistakes, marked where the translation of this sentence breaks."""
    names = {key: pitfall.name for key, pitfall in (PITFALLS | fitting()).items()}
    tiles = []
    for (key, name), caption in zip(names.items(), harm.captions(harms, names), strict=True):
        n = n_changed.get(key, 0)
        tiles.append(Tile(key, say(name), caption, flag=say("✗ words changed: {n}", n=n) if n else ""))
    return tiles


def answer(demo: Demo) -> str:
    """What becomes of the translation with the mistake, else its first number."""
    if not demo.outputs:
        return demo.lines[0]
    pairs = word_pairs(demo)
    different = [number for number, (wrong, right) in enumerate(pairs) if wrong != right]
    if not different:
        return say("The text stays the same: “{text}”", text=" ".join(demo.outputs[1].split()))
    last = next((number for number in different[1:] if number - 1 not in different), None)
    run = [number for number in different if last is None or number < last]
    wrong, right = (" ".join(filter(None, (pairs[number][side] for number in run))) for side in (0, 1))
    values = {"n": len(different), "total": len(pairs), "wrong": wrong, "right": right}
    if not wrong:
        return say("With this mistake {n} of {total} words change: “{right}” is lost.", **values)
    if not right:
        return say("With this mistake {n} of {total} words change: “{wrong}” comes in.", **values)
    return say("With this mistake {n} of {total} words change: “{right}” becomes “{wrong}”.", **values)


def show_pictures(key: str, demo: Demo, origin: Origin, spoken_in: str) -> None:
    """What came of it, wrong and right, over both pictures on one scale."""
    pitfall = ALL[key]
    plots = {}
    titles = {}
    heads = dict(zip(("wrong", "right"), demo.heads or ()))
    sides = list(zip(("wrong", "right"), (say("Wrong"), say("Right")), marked_words(demo)))
    if demo.outputs:
        for side, name, text in shared.columns(sides, 2):
            st.html(f'<p class="hl-harm hl-{side}"><b>{escape(name)}</b> <q lang="{spoken_in}">{text}</q></p>')
    for side, name, _ in sides:
        figure: Figure = getattr(demo, side)
        code = snippet(MODERN_PICTURE if key in MODERN else PICTURE, key=key, side=Code(side))
        title = heads[side].title if heads else ""
        picture = say(title or pitfall.picture)
        # A copy, which the frame may change: visitors share the demonstration.
        plots[side] = Plot(f"{name}: {picture}", origin.note, figure.copy(), program(origin.code, code))
        titles[side] = name, "", picture
    if heads:
        stage_page.show_maps({side: head_map(head, plots[side], titles[side]) for side, head in heads.items()})
    else:
        is_map = demo.right.data[0]["type"] == "heatmap"
        frame.pictures(plots, titles=titles, is_map=is_map, bar=False)
    frame.note(demo.lines[0])


def head_map(head: HeadPicture, plot: Plot, title: tuple[str, ...]) -> stage_page.HeadMap:
    """A head as the stage shows it."""
    names: NamesPayload | None = None
    if axes := head.own_axes:
        names = {"value": say("weight"), "rows": say(axes["query_axis"]), "columns": say(axes["key_axis"])}
    return stage_page.HeadMap(plot, title, head.recording, head.kind, head.layer, 0, names=names)


def show_code(key: str, demo: Demo) -> None:
    """The line of the mistake and the right one, and all numbers."""
    pitfall = ALL[key]
    for side, name in (("wrong", say("Wrong")), ("right", say("Right"))):
        frame.picture_title(name)
        st.code(getattr(pitfall, side), language="python", wrap_lines=True)
    frame.note(say(pitfall.explanation))
    shared.write_small("\n".join(demo.lines), "numbers")


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    with places.notes:
        name = controls.default_model()
        grid = harm.load()
    if name is None:
        return
    harms = harm.harms(grid)
    card = cached.loaded_as(Translator, name).card
    with places.question:
        text = controls.sentence_box(card.get("source"), EXAMPLE)
    request, example = (Request(sentence, name, beam=1) for sentence in (text, EXAMPLE))
    with places.notes:
        pair = shared.compute_or_keep("pitfalls-answered", request, breaks, example)
    request, n_changed = pair or (None, {})
    with places.left_controls:
        frame.label(say("Loss added: afterwards / trained with it"))
    with places.left:
        tiles = mistake_tiles(harms, n_changed)
        key = frame.choose_tile(say("Mistakes"), tiles, "pitfall", next(iter(PITFALLS)), columns=2, scrolls=True)
        frame.note(say(ALL[key].explanation))
        if key == "best":
            frame.note(say("This one does not depend on the sentence: a linear model of 20 inputs learns 18 examples."))
    with places.right_controls:
        view = controls.choose_view(VIEWS, "pitfall-show")
    if request is None:
        return
    demo = demonstrated(key, current(), request)
    with places.answer:
        frame.answer(answer(demo), say(ALL[key].lesson))
    with places.right:
        if view == "pictures":
            show_pictures(
                key, demo, recipes.origin(request), "en" if key in MISTAKES else escape(str(card.get("target", "")))
            )
        elif view == "code":
            show_code(key, demo)
        else:
            harm.show(key, grid, harms, n_changed.get(key) if ALL[key].changes_translation else None)


frame.opening(say("Pitfalls"))
live()
