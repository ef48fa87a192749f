"""What one head has at the places of many texts, on two principal components; a click shows the text of a point."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from model.interventions.edits import Head
from model.measures.corpus import points
from model.measures.corpus.points import HeadPoints
from viz.figures import scatter
from viz.text import errors
from viz.text.language import message, messages, say
from viz.ui import controls, frame, language_menu, shared
from viz.ui.models import corpus_rows
from viz.views import recipes
from viz.views.results import corpus_results
from viz.views.results.corpus_results import RULES, Corpus, rule_name
from viz.views.snippets import Code, Origin, Plot, program, snippet

SIDES = messages(outputs="outputs", queries="queries", keys="keys")
COLOURS = {"class": message("token class")} | messages(position="position", rule="rule")
CLASSES = {
    "special token": message("special token"),
    "punctuation": message("punctuation"),
    "inside a word": message("inside a word"),
    "number": message("number"),
    "capital": message("with a capital"),
    "other token": message("other token"),
    "other rules": message("other rules"),
}
NAMED = 4  # rules with a colour of their own
PLACE = "corpus-point"  # in the session: model, head, side and number of the point that was clicked
LEAST = 240  # pixels of the picture in a low window
UNDER = 104  # pixels for what stands below the picture
AXES = message("component 1"), message("component 2")
CODE = """
from model.interventions.edits import Head
from model.measures.corpus import index, points
from viz.figures import scatter

every = $texts
texts = [every[place] for place in points.sample(every)[::$step]]
head = Head($kind, $layer, $head)
rows = points.read_head(translator, texts, head)[$side]
coordinates = points.plane(rows.vectors).coordinates.T
groups = points.groups(rows, $colour, $rules, $named)
clouds = {name: coordinates[:, chosen] for name, chosen in groups.items()}
figure = scatter(clouds, x_axis=$x, y_axis=$y)
figure.show()
"""


def show(corpus: Corpus, head: Head, origin: Origin) -> None:
    """The points of a head, and the text of the one that was clicked."""
    side, colour = choose()
    every = corpus.report["texts"]
    step = corpus_results.step_of_points(corpus)
    texts = [every[place] for place in points.sample(every)[::step]]
    try:
        of_head = corpus_results.points_of(corpus.model, texts, head)[side]
        plane = points.plane(of_head.vectors)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    rules = corpus.report["kinds"][head.kind]["rules"]
    named = [rule for rule, *_ in corpus.explained("weight", head) if rule is not None][:NAMED]
    groups = points.groups(of_head, colour, rules, named)
    names = {name: name_of(name) for name in groups}
    figure = scatter(
        {names[name]: plane.coordinates[chosen].T for name, chosen in groups.items()},
        x_axis=AXES[0],
        y_axis=AXES[1],
        places={names[name]: [[int(point)] for point in chosen] for name, chosen in groups.items()},
        texts={names[name]: list(map(corpus_rows.plain, of_head.tokens[chosen])) for name, chosen in groups.items()},
        say=say,
    )
    texts_code = Code('index.read(translator.folder)["texts"]') if corpus.texts is None else every
    values = {"kind": head.kind, "layer": head.layer, "head": head.head, "side": side, "colour": colour}
    code = snippet(CODE, texts=texts_code, step=step, rules=rules, named=named, x=AXES[0], y=AXES[1], **values)
    plot = Plot(say(SIDES[side]), origin.note, figure, program(recipes.load_code(corpus.model), code))

    def clicked(point: int) -> None:
        st.session_state[PLACE] = corpus.model, head, side, point

    frame.pictures({"corpus-points": plot}, on_click=clicked, is_map=False, below=UNDER, least=LEAST)
    *of_point, number = st.session_state.get(PLACE, (None, 0))
    if of_point == [corpus.model, head, side] and number < len(of_head.places):
        st.html(corpus_rows.list_html([point_html(corpus, head, side, texts, of_head, number)]))
    line = message(
        "{n:,} places in {texts:,} texts. The two principal components hold {first:.0%} and {second:.0%} of the "
        "variance. Click a point to see its text."
    )
    first, second = plane.shares
    frame.note(say(line, n=len(of_head.places), texts=len(set(of_head.texts.tolist())), first=first, second=second))


def choose() -> tuple[str, str]:
    """Of what the points are, and what their colours say; which rule holds is said of rows, not of keys."""
    with frame.controls("points"):
        side = controls.choose_from_list(
            say("Points"), SIDES, "points-of", "outputs", SIDES, label_visibility="collapsed"
        )
        frame.label(say("Colour"))
        offered = [colour for colour in COLOURS if colour != "rule" or side != "keys"]
        colour = controls.choose_from_list(
            say("Colour"), offered, "points-colour", "class", COLOURS, label_visibility="collapsed"
        )
    return side, colour


def name_of(group: str) -> str:
    """What a group of points is called."""
    if group in CLASSES and group not in RULES:
        return say(CLASSES[group])
    if group == "no rule":
        return rule_name(None)
    return rule_name(group) if group in RULES else group


def point_html(corpus: Corpus, head: Head, side: str, texts: Sequence[Any], of_head: HeadPoints, number: int) -> str:
    """The text of a point, whose label leads to the stage."""
    text, place = texts[of_head.texts[number]], int(of_head.places[number])
    label = say("{token}, on the stage", token=corpus_rows.plain(of_head.tokens[number]))
    if side == "keys" and head.kind == "cross":
        page, query = corpus_rows.address(corpus, head, text, place)
        query["pin"] = f"s{place}"  # of the source
        link = language_menu.link(label, page, query)
        _, tokens = corpus.lines(text, head.kind)
        return f"<li><span>{link}</span><span>{corpus_rows.shaded(tokens, {}, place, None)}</span></li>"
    key = int(of_head.keys[number])
    keys = {key: float(of_head.weights[number])} if key >= 0 else {}
    return corpus_rows.row_html(corpus, head, label, text, place, keys)
