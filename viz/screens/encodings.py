"""Positional encodings side by side, as tables, waves, similarities and wavelengths: no model is needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from viz.figures import offset_lines, positional_heatmap, positional_waves, similarity_heatmap, wavelength_lines
from viz.language import message, say
from viz.screens import controls, explore, position_results, words_masks, words_positions
from viz.screens.position_results import table_code
from viz.ui import choices
from viz.views.made import Made, Plot, Recipe, made, value_of

WIDTHS = (8, 16, 32, 64, 128, 256)
MAX_WAVES = 8
TABLE_HEIGHT = 420  # pixels that a table of encodings may take


def draw(plot: Plot, key: str) -> None:
    """Draw a figure that is not so high that two of them fill the page."""
    figure = plot.draw(say)
    figure.layout.height = min(figure.layout.height, TABLE_HEIGHT)
    explore.draw(plot, key, figure=figure)


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
    chosen: dict[str, str], tables: dict[str, Made], n_positions: int, d_model: int, recipe: Recipe
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
            title = say("Positional encoding: {name}", name=name)
            draw(recipe.plot(title, positional_heatmap, tables[place]), f"table-{place}")
    difference = tables["first"] - tables["second"]
    left, right = st.columns(2, gap="medium", vertical_alignment="center")
    with left:
        explore.heading(say("Difference"), say(words_positions.DIFFERENCE))
        title = say("Difference of the encodings")
        draw(recipe.plot(title, positional_heatmap, difference, value=message("difference")), "table-difference")
    with right:
        st.metric(say("Largest difference"), words_masks.number(float(np.abs(value_of(difference)).max())))
        if set(chosen.values()) == {"sinusoidal", "sinusoidal_concatenated"}:
            ordered = [position_results.in_order(chosen[place], value_of(tables[place])) for place in chosen]
            largest = float(np.abs(ordered[0] - ordered[1]).max())
            st.caption(say(words_positions.SAME_WAVES, difference=words_masks.number(largest)))


def show_waves(chosen: dict[str, str], tables: dict[str, Made], d_model: int, recipe: Recipe) -> None:
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
            title = say("{name} as waves", name=name)
            draw(recipe.plot(title, positional_waves, tables[place], dimensions), f"waves-{place}")


def show_similarity(chosen: dict[str, str], n_positions: int, d_model: int, recipe: Recipe) -> None:
    """Draw how similar positions are, all pairs and by offset, with the residual."""
    line = f"{say(words_positions.SIMILARITY)} {say(words_positions.RESIDUAL)}"
    explore.heading(say("Similarity of positions"), line)
    results = {place: position_results.similarity(name, n_positions, d_model) for place, name in chosen.items()}
    for column, (place, (products, by_offset)) in zip(st.columns(2, gap="medium"), results.items(), strict=True):
        with column:
            name = say(words_positions.ENCODINGS[chosen[place]].name)
            st.markdown(f"**{say(words_positions.TITLES[place], name=name)}**")
            title = say("Similarity of positions: {name}", name=name)
            known = made(products, f"analysis.by_offset({place})[0]")
            draw(recipe.plot(title, similarity_heatmap, known), f"similarity-{place}")
            st.metric(say(words_positions.RESIDUALS[place]), words_masks.number(by_offset.residual))
    title = say("Similarity by offset")
    explore.heading(title, say(words_positions.OFFSET))
    curves = np.stack([by_offset.means for _, by_offset in results.values()])
    lines = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(chosen)})])"
    draw(recipe.then(lines).plot(title, offset_lines, made(curves, "means"), said_names(chosen)), "offset")


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
        known = made(np.stack(list(found.values())), "waves")
        title = say("Wavelengths of the dimensions")
        draw(recipe.plot(title, wavelength_lines, known, said_names(having)), "wavelengths")
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
    known = {
        place: made(position_results.table_of(name, n_positions, d_model), place) for place, name in chosen.items()
    }
    lines = (f"{place} = {table_code(name, n_positions, d_model)}" for place, name in chosen.items())
    sizes = say("{positions} positions, {dimensions} dimensions", positions=n_positions, dimensions=d_model)
    recipe = Recipe(" · ".join([sizes, *said_names(chosen)]), tuple(lines))
    show_tables(chosen, known, n_positions, d_model, recipe)
    show_waves(chosen, known, d_model, recipe)
    show_similarity(chosen, n_positions, d_model, recipe)
    show_wavelengths(chosen, d_model, recipe)
