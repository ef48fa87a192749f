"""One encoding: its table over some of its waves, and what it does in the numbers of this table."""

from html import escape

import numpy as np
import streamlit as st

from viz.figures import encoding_panels, positional_heatmap
from viz.pages.positions.page import Page, Sizes
from viz.pages.positions.reading import reading
from viz.text import words
from viz.text.language import say
from viz.text.words_positions import ANSWERS, ENCODINGS, LEARNED, OF_TABLES, STEER
from viz.ui import controls, frame, language_menu
from viz.views import view
from viz.views.results import position_results
from viz.views.snippets import Code, Origin, Plot, program, snippet

MAX_WAVES = 8
LINE = 20  # pixels of a second line under the picture

HEATMAP = """
from viz.figures import positional_heatmap
figure = positional_heatmap($table)
figure.show()
"""
PANELS = """
from viz.figures import encoding_panels
figure = encoding_panels(first, $dimensions, column_axis=$column_axis, row_axis=$row_axis)
figure.show()
"""


def legend(place: str, name: str) -> str:
    """What a line of the first or second encoding is called."""
    return say(OF_TABLES[place], name=name)


class Encodings:
    """One encoding or two, "first" and "second", their tables by these names, and how they are computed."""

    def __init__(self, sizes: Sizes, encodings: dict[str, str]) -> None:
        self.codes = encodings
        self.n_positions, self.d_model = sizes.n_positions, sizes.d_model
        self.names = {place: say(ENCODINGS[name][0]) for place, name in encodings.items()}
        self.legends = {place: legend(place, name) for place, name in self.names.items()}
        self.tables = {
            place: position_results.table(name, self.n_positions, self.d_model) for place, name in encodings.items()
        }
        line = say(OF_TABLES["size"], positions=sizes.n_positions, dimensions=sizes.d_model)
        code = [
            position_results.table_code(place, name, self.n_positions, self.d_model)
            for place, name in encodings.items()
        ]
        self.origin = Origin(" · ".join([line, *self.legends.values()]), program(*code))

    def line(self, place: str) -> str:
        """What is said of an encoding."""
        line = say(ENCODINGS[self.codes[place]][1])
        if self.codes[place] == "learned":
            learned = position_results.learn(self.n_positions, self.d_model)
            values = {"hits": learned.hits, "loss": learned.losses[-1]}
            line += " " + say(LEARNED, **values)
        return line

    def plots(self, *places: str) -> dict[str, Plot]:
        """The tables of some of them as figures, by the key of each."""
        plots = {}
        for place in places:
            figure = positional_heatmap(self.tables[place], say=say)
            code = program(self.origin.code, snippet(HEATMAP, table=Code(place)))
            plots[f"table-{place}"] = Plot(
                say(OF_TABLES["title"], name=self.names[place]), self.origin.note, figure, code
            )
        return plots


def answer(name: str, sizes: Sizes) -> str:
    """What an encoding does, in the numbers of this table."""
    n = sizes.n_positions
    if name == "none":
        return say(ANSWERS["none"])
    if name == "alibi":
        table = position_results.table(name, max(n, 11), sizes.d_model)
        near, far = (float(np.exp(table[10, head])) for head in (0, -1))
        return say(ANSWERS["alibi"], near=near, far=far)
    if name == "buckets":
        exact, far = position_results.bucket_limits()
        return say(ANSWERS["buckets"], exact=exact, far=far)
    _, by_offset = position_results.similarity(name, n, sizes.d_model)
    if by_offset.residual < position_results.ROUNDING:
        apart = min(5, n - 1)
        values = {"apart": apart, "product": by_offset.means[apart], "self": by_offset.means[0]}
        return say(ANSWERS["by_offset"], **values)
    return say(ANSWERS["by_place"], residual=words.number(by_offset.residual))


def show_encoding(page: Page) -> None:
    """The table of the chosen encoding over some of its waves."""
    name = page.first
    state = st.session_state
    encodings = Encodings(page.sizes, {"first": name})
    width = encodings.tables["first"].shape[1]
    if "dimensions" in state:  # a narrower encoding lacks some
        state["dimensions"] = [dimension for dimension in state["dimensions"] if dimension < width][:MAX_WAVES]
    column, row = position_results.axes(name)
    default = sorted({0, 1, width // 4, width // 2})
    with page.places.left_controls:
        frame.note(say("Lines"))
        dimensions = controls.choose_several(
            st.multiselect,
            say(column),
            list(range(width)),
            default,
            "dimensions",
            max_selections=MAX_WAVES,
            label_visibility="collapsed",
            width=340,
        )
    with page.places.answer:
        frame.answer(answer(name, page.sizes), encodings.line("first"))
    with page.places.right:
        if not dimensions:
            st.info(say(OF_TABLES["no_wave"]))
        title = say(OF_TABLES["title"], name=encodings.names["first"])
        axes = {"column_axis": column, "row_axis": row}
        origin = encodings.origin
        figure = encoding_panels(encodings.tables["first"], dimensions, **axes, say=say)
        code = program(origin.code, snippet(PANELS, dimensions=dimensions, **axes))
        plot = Plot(title, origin.note, figure, code)
        frame.pictures({"table": plot}, on_click=add_wave, is_map=False, below=LINE)
        about = say(OF_TABLES["about"], column=say(column))
        st.html(f'<p class="hl-note hl-two-lines">{escape(about)} {reading(page)}</p>')
    with page.places.left:
        text = {"text": state[view.KEPT].text} if view.KEPT in state else {}
        links = [language_menu.link(say(name), "steer", text | query) for name, query in STEER.items()]
        st.html(f'<p class="hl-note">{say("In the model, on Steer:")} {" · ".join(links)}</p>')


def add_wave(dimension: int, _: int) -> None:
    """Draw the line of a dimension, or take it away."""
    dimensions = st.session_state["dimensions"]
    new_dimensions = (
        [shown_dimension for shown_dimension in dimensions if shown_dimension != dimension]
        if dimension in dimensions
        else [*dimensions, dimension][-MAX_WAVES:]
    )
    st.session_state["dimensions"] = sorted(new_dimensions)
