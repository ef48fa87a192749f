"""Positional encodings side by side, as tables, waves, similarities and wavelengths: no model is needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from viz.figures import offset_lines, positional_heatmap, positional_waves, similarity_heatmap, wavelength_lines
from viz.language import message, say
from viz.screens import controls, explore, position_results, words_masks, words_positions
from viz.screens.beside import Beside, Recipe
from viz.screens.code_lines import Code, call
from viz.screens.position_results import table_code
from viz.ui import choices

WIDTHS = (8, 16, 32, 64, 128, 256)
MAX_WAVES = 8
TABLE_HEIGHT = 420  # pixels that a table of encodings may take


def draw(figure: go.Figure, key: str, about: Beside) -> None:
    """Draw a figure without Plotly's buttons, not so high that two of them fill the page."""
    figure.layout.height = min(figure.layout.height, TABLE_HEIGHT)
    explore.draw(figure, key, about=about)


def choose_encodings() -> tuple[dict[str, str], int, int]:
    """Let the visitor choose two encodings and their size; return them by "first" and "second", and T and D."""
    names = {name: spoken.name for name, spoken in words_positions.ENCODINGS.items()}
    chosen = {}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        for place, default in words_positions.COMPARED.items():
            label = say(words_positions.CHOICES[place])
            chosen[place] = controls.among(label, list(names), place, default, names, width=280)
        n_positions = controls.slider(say("Positions"), 8, 128, 50, key="length", width=200)
        d_model = controls.choose("d_model", list(WIDTHS), "width", 64)
    return chosen, n_positions, d_model


def show_tables(
    chosen: dict[str, str], tables: dict[str, np.ndarray], n_positions: int, d_model: int, recipe: Recipe
) -> None:
    """Draw two encodings and their difference."""
    explore.heading(say("Side by side"), say(words_positions.HEATMAP))
    for column, place in zip(st.columns(2, gap="medium"), chosen, strict=True):
        with column:
            spoken = words_positions.ENCODINGS[chosen[place]]
            name, line = say(spoken.name), say(spoken.line)
            if chosen[place] == "learned":
                learned = position_results.learn(n_positions, d_model)
                line += " " + words_positions.learned(len(learned.losses), learned.losses[-1], learned.hits)
            explore.heading(say(words_positions.TITLES[place], name=name), line)
            about = recipe.figure(say("Positional encoding: {name}", name=name), f"positional_heatmap({place})")
            draw(positional_heatmap(tables[place]), f"table-{place}", about)
    difference = tables["first"] - tables["second"]
    made = call("positional_heatmap", Code("first - second"), value="difference")
    left, right = st.columns(2, gap="medium", vertical_alignment="center")
    with left:
        explore.heading(say("Difference"), say(words_positions.DIFFERENCE))
        about = recipe.figure(say("Difference of the encodings"), made)
        draw(positional_heatmap(difference, value=message("difference")), "table-difference", about)
    with right:
        st.metric(say("Largest difference"), words_masks.number(float(np.abs(difference).max())))
        if set(chosen.values()) == {"sinusoidal", "sinusoidal_concatenated"}:
            ordered = [position_results.in_order(chosen[place], tables[place]) for place in chosen]
            largest = float(np.abs(ordered[0] - ordered[1]).max())
            st.caption(say(words_positions.SAME_WAVES, difference=words_masks.number(largest)))


def show_waves(chosen: dict[str, str], tables: dict[str, np.ndarray], d_model: int, recipe: Recipe) -> None:
    """Draw chosen dimensions of both encodings over the positions."""
    explore.heading(say("Waves"), say(words_positions.WAVES))
    default = sorted({0, 1, d_model // 4, d_model // 2})
    kept = st.session_state.get("dimensions")
    if kept is not None:  # a narrower encoding lacks some
        st.session_state["dimensions"] = [dimension for dimension in kept if dimension in range(d_model)][:MAX_WAVES]
    label, options = say("Dimensions"), list(range(d_model))
    dimensions = controls.some(st.multiselect, label, options, default, "dimensions", max_selections=MAX_WAVES)
    if not dimensions:
        st.info(say(words_positions.NO_DIMENSIONS))
        return
    for column, place in zip(st.columns(2, gap="medium"), tables, strict=True):
        with column:
            name = say(words_positions.ENCODINGS[chosen[place]].name)
            st.markdown(f"**{say(words_positions.TITLES[place], name=name)}**")
            about = recipe.figure(say("{name} as waves", name=name), call("positional_waves", Code(place), dimensions))
            draw(positional_waves(tables[place], dimensions), f"waves-{place}", about)


def show_similarity(chosen: dict[str, str], n_positions: int, d_model: int, recipe: Recipe) -> None:
    """Draw how similar positions are, all pairs and by offset, with the residual."""
    line = f"{say(words_positions.SIMILARITY)} {say(words_positions.RESIDUAL)}"
    explore.heading(say("Similarity of positions"), line)
    results = {place: position_results.similarity(name, n_positions, d_model) for place, name in chosen.items()}
    for column, (place, (products, by_offset)) in zip(st.columns(2, gap="medium"), results.items(), strict=True):
        with column:
            name = say(words_positions.ENCODINGS[chosen[place]].name)
            st.markdown(f"**{say(words_positions.TITLES[place], name=name)}**")
            made = f"similarity_heatmap(analysis.by_offset({place})[0])"
            about = recipe.figure(say("Similarity of positions: {name}", name=name), made)
            draw(similarity_heatmap(products), f"similarity-{place}", about)
            st.metric(say(words_positions.RESIDUALS[place]), words_masks.number(by_offset.residual))
    title = say("Similarity by offset")
    explore.heading(title, say(words_positions.OFFSET))
    curves = np.stack([by_offset.means for _, by_offset in results.values()])
    lines = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(chosen)})])"
    about = recipe.then(lines).figure(title, call("offset_lines", Code("means"), legend_names(chosen)))
    draw(offset_lines(curves, said_names(chosen)), "offset", about)


def legend_names(chosen: dict[str, str]) -> list[str]:
    """What the chosen encodings are called in a legend, in English."""
    legends, encodings = words_positions.LEGENDS, words_positions.ENCODINGS
    return [legends[place].format(name=encodings[name].short) for place, name in chosen.items()]


def said_names(chosen: dict[str, str]) -> list[str]:
    """What the chosen encodings are called in a legend, in the language of the visitor."""
    legends, encodings = words_positions.LEGENDS, words_positions.ENCODINGS
    return [say(legends[place], name=say(encodings[name].short)) for place, name in chosen.items()]


def show_wavelengths(chosen: dict[str, str], d_model: int, recipe: Recipe) -> None:
    """Draw and list the wavelength of every pair of dimensions."""
    explore.heading(say("Wavelengths"), say(words_positions.WAVELENGTH))
    found = {place: position_results.wavelengths(name, d_model) for place, name in chosen.items()}
    found = {place: waves for place, waves in found.items() if waves is not None}
    if not found:
        st.info(say(words_positions.NO_WAVES))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        having = {place: chosen[place] for place in found}
        of = ", ".join(f"frequencies({chosen[place]!r}, {d_model})" for place in found)
        recipe = recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
        made = call("wavelength_lines", Code("waves"), legend_names(having))
        about = recipe.figure(say("Wavelengths of the dimensions"), made)
        draw(wavelength_lines(np.stack(list(found.values())), said_names(having)), "wavelengths", about)
    with right:
        table = pd.DataFrame({say("pair"): range(d_model // 2)})
        for place, waves in found.items():
            pairs = position_results.in_order(chosen[place], waves[None])[0].reshape(-1, 2)
            for column, values in zip(words_positions.COLUMNS[place], pairs.T.round(3), strict=True):
                table[say(column)] = values
        st.dataframe(table, hide_index=True, key="pairs", height=300)


@choices.fragment
def tables() -> None:
    """The part about encodings as such; it needs no model."""
    chosen, n_positions, d_model = choose_encodings()
    made = {place: position_results.table_of(name, n_positions, d_model) for place, name in chosen.items()}
    lines = (f"{place} = {table_code(name, n_positions, d_model)}" for place, name in chosen.items())
    sizes = say("{positions} positions, {dimensions} dimensions", positions=n_positions, dimensions=d_model)
    recipe = Recipe(" · ".join([sizes, *said_names(chosen)]), tuple(lines))
    show_tables(chosen, made, n_positions, d_model, recipe)
    show_waves(chosen, made, d_model, recipe)
    show_similarity(chosen, n_positions, d_model, recipe)
    show_wavelengths(chosen, d_model, recipe)
