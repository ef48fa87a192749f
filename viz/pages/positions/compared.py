"""Two encodings beside each other: their difference, the similarity of positions, their wavelengths."""

import numpy as np
import pandas as pd
import streamlit as st

from viz.figures import offset_lines, positional_heatmap, similarity_heatmap, wavelength_lines
from viz.pages.positions.encoding import Encodings, answer, legend
from viz.pages.positions.page import Page
from viz.text import words
from viz.text.language import message, say
from viz.text.words_positions import ENCODINGS, OF_TABLES, RELATIVE
from viz.ui import controls, frame
from viz.views.results import position_results
from viz.views.snippets import Code, Plot, program, snippet

DIFFERENCE = """
from viz.figures import positional_heatmap
figure = positional_heatmap(first - second, value=$value)
figure.show()
"""
SIMILARITY = """
import model.analysis.maps as analysis
from viz.figures import similarity_heatmap

products, _ = analysis.by_offset($table)
figure = similarity_heatmap(products)
figure.show()
"""
OFFSETS = """
import model.analysis.maps as analysis
import numpy as np
from viz.figures import offset_lines

means = np.stack([analysis.by_offset(table)[1].means for table in $tables])
figure = offset_lines(means, $names)
figure.show()
"""
WAVELENGTHS = """
import numpy as np
from model.positional import frequencies
from viz.figures import wavelength_lines

waves = np.stack([2 * np.pi / frequencies(name, $d_model).numpy() for name in $encodings])
figure = wavelength_lines(waves, $names)
figure.show()
"""

TITLED = frame.TITLED + 8  # pixels of the titles of a second row of pictures, and the gap above them
LOW = 150  # pixels of each of two rows of pictures in a low window


def second(page: Page) -> Encodings | None:
    """The chosen encoding and another one of the same size; None, and a sentence, where there is none."""
    tables = [name for name in ENCODINGS if name not in RELATIVE]
    with page.places.left_controls:
        frame.note(say("Beside"))
        names = {name: ENCODINGS[name][0] for name in tables}
        name = controls.choose_from_list(
            say("Second encoding"), names, "second", "literal_loop", label_visibility="collapsed", width=240
        )
    if page.first in RELATIVE:
        with page.places.right:
            st.info(say(OF_TABLES["no_table"], name=page.name))
        with page.places.answer:
            frame.answer(answer(page.first, page.sizes), say(ENCODINGS[page.first][1]))
        return None
    return Encodings(page.sizes, {"first": page.first, "second": name})


def show_difference(page: Page) -> None:
    """One encoding minus the other, over both."""
    if (encodings := second(page)) is None:
        return
    difference = encodings.tables["first"] - encodings.tables["second"]
    ordered = (position_results.in_order(encodings.codes[at], table) for at, table in encodings.tables.items())
    largest = (np.abs(table).max() for table in (difference, np.subtract(*ordered)))
    values = dict(zip(("cells", "waves"), map(words.number, largest)))
    with page.places.answer:
        line = say(OF_TABLES["difference"], **values)
        frame.answer(line, f"{encodings.line('first')} {encodings.line('second')}")
    with page.places.right:
        value = message("difference")
        origin = encodings.origin
        figure = positional_heatmap(difference, value=value, say=say)
        code = program(origin.code, snippet(DIFFERENCE, value=value))
        plot = Plot(say(OF_TABLES["difference_title"]), origin.note, figure, code)
        frame.pictures({"table-difference": plot}, below=TITLED, share=0.5, least=LOW)
        titles = {f"table-{place}": (name, "") for place, name in encodings.names.items()}
        frame.pictures(encodings.plots("first", "second"), titles=titles, bar=False, least=LOW)
        frame.note(say(OF_TABLES["about_difference"]))


def show_similarity(page: Page) -> None:
    """Dot products of all pairs of positions in both, and their means by offset."""
    if (encodings := second(page)) is None:
        return
    plots = {}
    titles = {}
    residuals = {}
    means = []
    origin = encodings.origin
    for place, name in encodings.codes.items():
        products, by_offset = position_results.similarity(name, encodings.n_positions, encodings.d_model)
        means.append(by_offset.means)
        is_equal = by_offset.residual < position_results.ROUNDING
        residuals[place] = words.number(0 if is_equal else by_offset.residual)
        title = say("Similarity of positions: {name}", name=encodings.names[place])
        code = program(origin.code, snippet(SIMILARITY, table=Code(place)))
        plots[f"similarity-{place}"] = Plot(title, origin.note, similarity_heatmap(products, say=say), code)
        titles[f"similarity-{place}"] = encodings.legends[place], ""
    with page.places.answer:
        frame.answer(say(OF_TABLES["similarity"], **residuals), say(OF_TABLES["about_similarity"]))
    with page.places.right:
        frame.pictures(plots, titles=titles, below=230, least=150)
        names = list(encodings.legends.values())
        code = program(origin.code, snippet(OFFSETS, tables=[Code(place) for place in encodings.codes], names=names))
        plot = Plot(
            say(OF_TABLES["similarity_title"]), origin.note, offset_lines(np.stack(means), names, say=say), code
        )
        frame.pictures({"offset": plot}, is_map=False, least=200)


def show_wavelengths(page: Page) -> None:
    """How many positions the dimensions of both need for one wave."""
    if (encodings := second(page)) is None:
        return
    waves = {place: position_results.wavelengths(name, encodings.d_model) for place, name in encodings.codes.items()}
    waves = {place: wave for place, wave in waves.items() if wave is not None}
    if not waves:
        with page.places.right:
            st.info(say(OF_TABLES["no_wavelengths"]))
        return
    longest = {place: words.number(float(wave.max())) for place, wave in waves.items()}
    with page.places.answer:
        first = next(iter(waves))
        line = say(OF_TABLES["wavelengths"], name=encodings.names[first], n=longest[first])
        frame.answer(line, say(OF_TABLES["about_wavelengths"]))
    names = [encodings.legends[place] for place in waves]
    figure = wavelength_lines(np.stack(list(waves.values())), names, say=say)
    names_of_encodings = [encodings.codes[place] for place in waves]
    code = program(snippet(WAVELENGTHS, d_model=encodings.d_model, encodings=names_of_encodings, names=names))
    plot = Plot(say(OF_TABLES["wavelengths_title"]), encodings.origin.note, figure, code)
    table = pd.DataFrame({say("pair"): range(encodings.d_model // 2)})
    for place, one in waves.items():
        pairs = position_results.in_order(encodings.codes[place], one[None])[0].reshape(-1, 2).round(3)
        table[legend(place, say("sine"))], table[legend(place, say("cosine"))] = pairs.T
    with page.places.right:
        frame.pictures({"wavelengths": plot}, is_map=False)
    with page.places.left:
        st.dataframe(table, hide_index=True, key="pairs", height=140)
