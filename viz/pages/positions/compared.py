"""Two encodings beside each other: their difference, the similarity of positions, their wavelengths."""

import numpy as np
import pandas as pd
import streamlit as st

from viz.figures import offset_lines, positional_heatmap, similarity_heatmap, wavelength_lines
from viz.pages.positions.encoding import Encodings, answer, legend
from viz.pages.positions.page import Page
from viz.text import words
from viz.text.language import message, say
from viz.ui import controls, frame
from viz.views import position_results
from viz.views.made import made, value_of
from viz.views.position_results import ENCODINGS, RELATIVE


def second(page: Page) -> Encodings | None:
    """The chosen encoding and another one of the same size; None, and a sentence, where there is none."""
    tables = [name for name in ENCODINGS if name not in RELATIVE]
    with page.places.left_controls:
        frame.note(say("Beside"))
        names = {name: ENCODINGS[name][0] for name in tables}
        hidden = {"label_visibility": "collapsed", "width": 240}
        other = controls.among(say("Second encoding"), names, "second", "literal_loop", **hidden)
    if page.first in RELATIVE:
        with page.places.right:
            st.info(
                say("{name} adds to the scores, not to embeddings: choose an encoding with a table.", name=page.name)
            )
        with page.places.answer:
            frame.answer(answer(page.first, page.sizes), say(ENCODINGS[page.first][1]))
        return None
    return Encodings(page.sizes, {"first": page.first, "second": other})


def show_difference(page: Page) -> None:
    """One encoding minus the other, over both."""
    if (encodings := second(page)) is None:
        return
    difference = encodings.tables["first"] - encodings.tables["second"]
    ordered = (position_results.in_order(encodings.chosen[at], value_of(one)) for at, one in encodings.tables.items())
    largest = (np.abs(one).max() for one in (value_of(difference), np.subtract(*ordered)))
    values = dict(zip(("cells", "waves"), map(words.number, largest)))
    with page.places.answer:
        line = say("First minus second: at most {cells}; with each sine before its cosine at most {waves}.", **values)
        frame.answer(line, f"{encodings.line('first')} {encodings.line('second')}")
    with page.places.right:
        plot = encodings.recipe.plot(
            say("Difference of the encodings"), positional_heatmap, difference, value=message("difference")
        )
        frame.pictures({"table-difference": plot} | encodings.drawn("first", "second"))
        frame.note(say("Rows are positions, columns dimensions: the difference, the first encoding, the second."))


def show_similarity(page: Page) -> None:
    """Dot products of all pairs of positions in both, and their means by offset."""
    if (encodings := second(page)) is None:
        return
    plots, titles, residuals, means = {}, {}, {}, []
    for place, name in encodings.chosen.items():
        products, by_offset = position_results.similarity(name, encodings.n_positions, encodings.d_model)
        means.append(by_offset.means)
        residuals[place] = words.number(by_offset.residual)
        title = say("Similarity of positions: {name}", name=encodings.names[place])
        known = made(products, f"analysis.by_offset({place})[0]")
        plots[f"similarity-{place}"] = encodings.recipe.plot(title, similarity_heatmap, known)
        titles[f"similarity-{place}"] = encodings.legends[place], ""
    with page.places.answer:
        line = say(
            "Products at one distance differ by at most {first} in the first encoding, {second} in the second.",
            **residuals,
        )
        note = say("Dot products of all pairs of positions. If only distance matters, each diagonal has one colour.")
        frame.answer(line, note)
    with page.places.right:
        frame.pictures(plots, titles=titles, below=230)
        line = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(encodings.chosen)})])"
        known, title = made(np.stack(means), "means"), say("Similarity by offset")
        plot = encodings.recipe.then(line).plot(title, offset_lines, known, list(encodings.legends.values()))
        frame.pictures({"offset": plot}, is_map=False, least=200)


def show_wavelengths(page: Page) -> None:
    """How many positions the dimensions of both need for one wave."""
    if (encodings := second(page)) is None:
        return
    waves = {place: position_results.wavelengths(name, encodings.d_model) for place, name in encodings.chosen.items()}
    waves = {place: one for place, one in waves.items() if one is not None}
    if not waves:
        with page.places.right:
            st.info(say("Neither encoding has waves: none and learned positions have no wavelength."))
        return
    longest = {place: words.number(float(one.max())) for place, one in waves.items()}
    with page.places.answer:
        line = say(
            "The longest wave of “{name}” takes {n} positions.",
            name=encodings.names[next(iter(waves))],
            n=longest[next(iter(waves))],
        )
        frame.answer(line, say("In the paper's formula a sine and its cosine share a wavelength."))
    of = ", ".join(f"frequencies({encodings.chosen[place]!r}, {encodings.d_model})" for place in waves)
    recipe = encodings.recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
    known, title = made(np.stack(list(waves.values())), "waves"), say("Wavelengths of the dimensions")
    table = pd.DataFrame({say("pair"): range(encodings.d_model // 2)})
    for place, one in waves.items():
        pairs = position_results.in_order(encodings.chosen[place], one[None])[0].reshape(-1, 2).round(3)
        table[legend(place, say("sine"))], table[legend(place, say("cosine"))] = pairs.T
    with page.places.right:
        plot = recipe.plot(title, wavelength_lines, known, [encodings.legends[place] for place in waves])
        frame.pictures({"wavelengths": plot}, is_map=False)
    with page.places.left:
        st.dataframe(table, hide_index=True, key="pairs", height=240)
