"""The page Positions: encodings side by side, and the live model under another encoding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model.position_experiments import MAX_SCALE, MAX_SHIFT
from model.translator import checkpoints_folder
from viz.figures import (
    attention_heatmap,
    offset_lines,
    positional_heatmap,
    positional_waves,
    similarity_heatmap,
    wavelength_lines,
)
from viz.screens import controls, explore, links, position_results, recipes, shared, words, words_masks, words_positions
from viz.screens.beside import Beside, Recipe
from viz.screens.code_lines import Code, call
from viz.screens.position_results import Reading, table_code

WIDTHS = (8, 16, 32, 64, 128, 256)
MAX_WAVES = 8
ORDERS = (1, 2, 3, 4, 5)
EXAMPLE = next(iter(words.EXAMPLES.values()))
TABLE_HEIGHT = 420  # pixels that a table of encodings may take
_NO_TOOLS = {"displayModeBar": False}


def draw(figure: go.Figure, key: str, about: Beside) -> None:
    """Draw a figure without Plotly's buttons, not so high that two of them fill the page."""
    figure.layout.height = min(figure.layout.height, TABLE_HEIGHT)
    explore.draw(figure, key, _NO_TOOLS, about=about)


def choose_encodings() -> tuple[dict[str, str], int, int]:
    """Let the visitor choose two encodings and their size; return them by "first" and "second", and T and D."""
    names = {name: spoken.name for name, spoken in words_positions.ENCODINGS.items()}
    chosen = {}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        for place, default in words_positions.COMPARED.items():
            links.expect(f"{place.capitalize()} encoding", place, list(names.values()))
            if st.session_state.get(place, default) not in names:
                st.session_state[place] = default
            value = st.selectbox(
                f"{place.capitalize()} encoding",
                list(names),
                list(names).index(default),
                format_func=names.__getitem__,
                key=place,
                bind="query-params",
                width=280,
            )
            chosen[place] = value or default
        n_positions = controls.slider("Positions", 8, 128, 50, key="length", width=200)
        d_model = controls.choose("d_model", list(WIDTHS), "width", 64)
    return chosen, int(n_positions), d_model


def show_tables(
    chosen: dict[str, str], tables: dict[str, np.ndarray], n_positions: int, d_model: int, recipe: Recipe
) -> None:
    """Draw two encodings and their difference."""
    explore.heading("Side by side", words_positions.HEATMAP)
    for column, place in zip(st.columns(2, gap="medium"), chosen, strict=True):
        with column:
            spoken = words_positions.ENCODINGS[chosen[place]]
            line = spoken.line
            if chosen[place] == "learned":
                learned = position_results.learn(n_positions, d_model)
                line += " " + words_positions.learned(len(learned.losses), learned.losses[-1], learned.hits)
            explore.heading(f"{place.capitalize()}: {spoken.name}", line)
            about = recipe.figure(f"Positional encoding: {spoken.name}", f"positional_heatmap({place})")
            draw(positional_heatmap(tables[place]), f"table-{place}", about)
    difference = tables["first"] - tables["second"]
    made = call("positional_heatmap", Code("first - second"), value="difference")
    left, right = st.columns(2, gap="medium", vertical_alignment="center")
    with left:
        explore.heading("Difference", words_positions.DIFFERENCE)
        about = recipe.figure("Difference of the encodings", made)
        draw(positional_heatmap(difference, value="difference"), "table-difference", about)
    with right:
        st.metric("Largest difference", words_masks.number(float(np.abs(difference).max())))
        if set(chosen.values()) == {"sinusoidal", "sinusoidal_concatenated"}:
            ordered = [position_results.in_order(chosen[place], tables[place]) for place in chosen]
            largest = float(np.abs(ordered[0] - ordered[1]).max())
            st.caption(words_positions.SAME_WAVES.format(words_masks.number(largest)))


def show_waves(chosen: dict[str, str], tables: dict[str, np.ndarray], d_model: int, recipe: Recipe) -> None:
    """Draw chosen dimensions of both encodings over the positions."""
    explore.heading("Waves", words_positions.WAVES)
    default = sorted({0, 1, d_model // 4, d_model // 2})
    kept = st.session_state.get("dimensions")
    if kept is not None:  # a narrower encoding lacks some
        st.session_state["dimensions"] = [dimension for dimension in kept if dimension in range(d_model)][:MAX_WAVES]
    links.expect("Dimensions", "dimensions", list(map(str, range(d_model))))
    dimensions = st.multiselect(
        "Dimensions",
        list(range(d_model)),
        default,
        max_selections=MAX_WAVES,
        key="dimensions",
        bind="query-params",
    )
    if not dimensions:
        st.info(words_positions.NO_DIMENSIONS)
        return
    for column, place in zip(st.columns(2, gap="medium"), tables, strict=True):
        with column:
            name = words_positions.ENCODINGS[chosen[place]].name
            st.markdown(f"**{place.capitalize()}: {name}**")
            about = recipe.figure(f"{name} as waves", call("positional_waves", Code(place), dimensions))
            draw(positional_waves(tables[place], dimensions), f"waves-{place}", about)


def show_similarity(chosen: dict[str, str], n_positions: int, d_model: int, recipe: Recipe) -> None:
    """Draw how similar positions are, all pairs and by offset, with the residual."""
    explore.heading("Similarity of positions", f"{words_positions.SIMILARITY} {words_positions.RESIDUAL}")
    results = {place: position_results.similarity(name, n_positions, d_model) for place, name in chosen.items()}
    for column, (place, (products, by_offset)) in zip(st.columns(2, gap="medium"), results.items(), strict=True):
        with column:
            name = words_positions.ENCODINGS[chosen[place]].name
            st.markdown(f"**{place.capitalize()}: {name}**")
            made = f"similarity_heatmap(analysis.by_offset({place})[0])"
            about = recipe.figure(f"Similarity of positions: {name}", made)
            draw(similarity_heatmap(products), f"similarity-{place}", about)
            st.metric(f"Residual, {place}", words_masks.number(by_offset.residual))
    explore.heading("Similarity by offset", words_positions.OFFSET)
    curves = np.stack([by_offset.means for _, by_offset in results.values()])
    lines = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(chosen)})])"
    about = recipe.then(lines).figure("Similarity by offset", call("offset_lines", Code("means"), legend_names(chosen)))
    draw(offset_lines(curves, legend_names(chosen)), "offset", about)


def legend_names(chosen: dict[str, str]) -> list[str]:
    """What the chosen encodings are called in a legend."""
    return [f"{place}: {words_positions.ENCODINGS[name].short}" for place, name in chosen.items()]


def show_wavelengths(chosen: dict[str, str], d_model: int, recipe: Recipe) -> None:
    """Draw and list the wavelength of every pair of dimensions."""
    explore.heading("Wavelengths", words_positions.WAVELENGTH)
    found = {place: position_results.wavelengths(name, d_model) for place, name in chosen.items()}
    found = {place: waves for place, waves in found.items() if waves is not None}
    if not found:
        st.info(words_positions.NO_WAVES)
        return
    left, right = st.columns(2, gap="medium")
    with left:
        names = legend_names({place: chosen[place] for place in found})
        of = ", ".join(f"frequencies({chosen[place]!r}, {d_model})" for place in found)
        recipe = recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
        about = recipe.figure("Wavelengths of the dimensions", call("wavelength_lines", Code("waves"), names))
        draw(wavelength_lines(np.stack(list(found.values())), names), "wavelengths", about)
    with right:
        table = pd.DataFrame({"pair": range(d_model // 2)})
        for place, waves in found.items():
            pairs = position_results.in_order(chosen[place], waves[None])[0].reshape(-1, 2)
            table[f"{place}: sine"], table[f"{place}: cosine"] = pairs.T.round(3)
        st.dataframe(table, hide_index=True, key="pairs", height=300)


@dataclass(frozen=True)
class Asked:
    """What the live model shall read, and under which encoding.

    Attributes:
        checkpoint: the model's name.
        text: the sentence.
        scale, shift, where: of the encoding.
        order: the seed of the shuffled words; None leaves them in place.
    """

    checkpoint: str
    text: str
    scale: float = 1.0
    shift: int = 0
    where: str = "both"
    order: int | None = None


def ask(checkpoint: str) -> Asked:
    """Ask for a sentence and for what is done to the encoding."""
    card = shared.translator(checkpoint).card
    text = controls.sentence(f"{words.language(card.get('source'), 'Source')} sentence", EXAMPLE)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        off = controls.switch("Switch it off", "off", words_positions.OFF)
        scale = controls.slider(
            "Scale", 0.0, MAX_SCALE, 1.0, step=0.1, key="scale", help=words_positions.SCALE, disabled=off, width=220
        )
        shift = controls.slider(
            "Shift", 0, MAX_SHIFT, 0, key="shift", help=words_positions.SHIFT, disabled=off, width=220
        )
        where = controls.choose("Change it in the", list(words_positions.WHERE), "where", "both", words_positions.WHERE)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        shuffle = controls.switch("Shuffle the words", "shuffle", words_positions.SHUFFLE)
        order = controls.choose("Order", list(ORDERS), "order", 1, disabled=not shuffle)
    return Asked(checkpoint, text, 0.0 if off else round(scale, 1), shift, where, order if shuffle else None)


def compute(asked: Asked) -> tuple[Reading, Reading, str]:
    """Translate as trained and as changed; return both and the sentence that the changed run read."""
    as_trained = position_results.read(asked.checkpoint, asked.text, 1.0, 0, words_positions.SIDES["both"])
    text = asked.text
    if asked.order is not None:
        text = position_results.shuffled(asked.checkpoint, text, asked.order)[0]
    sides = words_positions.SIDES[asked.where]
    return as_trained, position_results.read(asked.checkpoint, text, asked.scale, asked.shift, sides), text


def answer(asked: Asked) -> tuple[Asked, Reading, Reading, str] | None:
    """Translate; what cannot be translated is told in a sentence, and the last one stays; None without any."""
    kept = shared.compute_or_keep(
        "positions-answered",
        asked,
        compute,
        lambda before: replace(asked, text=before.text if before else EXAMPLE),
    )
    return kept and (kept[0], *kept[1])


def show_translations(asked: Asked, trained: Reading, changed: Reading, text: str) -> None:
    """Show both translations."""
    said = words_positions.what_changed(asked.scale, asked.shift, asked.where, asked.order is not None)
    for column, (key, title, reading, read) in zip(
        st.columns(2, gap="medium"),
        (("trained", "As trained", trained, asked.text), ("changed", f"Changed: {said}", changed, text)),
        strict=True,
    ):
        with column, st.container(border=True, gap="xsmall"):
            st.markdown(f"**{title}**")
            shared.small(read, f"{key}-source")
            shared.large(reading.text or "(the model wrote nothing)", f"{key}-translation")
            if not reading.finished:
                st.caption("The translation was stopped at the length limit.")


def show_order(asked: Asked) -> None:
    """Show that an encoder without positions only shuffles its output when its input is shuffled."""
    explore.heading("Is the encoder order-blind?", words_positions.SHUFFLED)
    text, (off, on) = position_results.shuffled(asked.checkpoint, asked.text, asked.order)
    if text.split() == asked.text.split():
        st.info(words_positions.ONE_WORD)
        return
    with st.container(horizontal=True, gap="large"):
        st.metric("Largest difference, encoder's positions off", words_masks.number(off))
        st.metric("Largest difference, as trained", words_masks.number(on))
    readings = [position_results.read(asked.checkpoint, words_, 0.0, 0, ("encoder",)) for words_ in (asked.text, text)]
    same = readings[0].text == readings[1].text
    st.caption(f"With the encoder's positions off both orders give {'the same' if same else 'another'} translation:")
    for key, words_, reading in zip(("order-own", "order-shuffled"), (asked.text, text), readings, strict=True):
        shared.small(f"{words_} → {reading.text}", key)


def show_maps(asked: Asked, trained: Reading, changed: Reading, text: str) -> None:
    """Draw a head as trained and as changed, and the encoding that was added."""
    kind, layer, head = controls.choose_head(lambda kind: trained.weights[kind].shape[:2], "encoder_self")
    spoken = words.KINDS[kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    sides = words_positions.SIDES[asked.where]
    made = {
        "trained": position_results.recipe(asked.checkpoint, asked.text, 1.0, 0, sides),
        "changed": position_results.recipe(asked.checkpoint, text, asked.scale, asked.shift, sides),
    }
    for column, (key, title, reading) in zip(
        st.columns(2, gap="medium"), (("trained", "As trained", trained), ("changed", "Changed", changed)), strict=True
    ):
        with column:
            title = f"{title}: {spoken.title}, layer {layer}, head {head}"
            explore.heading(title, words.ROWS_ASK + spoken.reading)
            figure = attention_heatmap(
                reading.weights[kind][layer, head],
                reading.source_tokens if kind == "encoder_self" else reading.target_tokens,
                reading.target_tokens if kind == "decoder_self" else reading.source_tokens,
                **axes,
                mask=reading.masks[kind],
            )
            about = recipes.head(made[key], title, kind, (layer, head), **axes)
            explore.draw(figure, f"map-{key}", about=about)
    explore.heading("The encoding of the changed run", words_positions.ADDED)
    figure = positional_heatmap(changed.positions["source"], changed.source_tokens)
    draw(figure, "added", recipes.positions(made["changed"], "source"))


@st.fragment
def tables() -> None:
    """The part about encodings as such; it needs no model."""
    chosen, n_positions, d_model = choose_encodings()
    made = {place: position_results.table_of(name, n_positions, d_model) for place, name in chosen.items()}
    lines = (f"{place} = {table_code(name, n_positions, d_model)}" for place, name in chosen.items())
    recipe = Recipe(f"{n_positions} positions, {d_model} dimensions · {' · '.join(legend_names(chosen))}", tuple(lines))
    show_tables(chosen, made, n_positions, d_model, recipe)
    show_waves(chosen, made, d_model, recipe)
    show_similarity(chosen, n_positions, d_model, recipe)
    show_wavelengths(chosen, d_model, recipe)


@st.fragment
def live() -> None:
    """The part about the live model."""
    st.header("In the live model", divider=True)
    st.caption(words_positions.LIVE)
    try:
        checkpoint = shared.default_checkpoint()
        asked = ask(checkpoint)
    except ValueError as error:
        st.error("There is no model to change the positions of.")
        shared.small(f"{shared.sentence(error)} The folder is {checkpoints_folder()}.", "no-model")
        return
    with controls.place():
        answered = answer(asked)
    if answered is not None:
        asked, trained, changed, text = answered
        show_translations(asked, trained, changed, text)
        with controls.place():
            if asked.order is not None:
                show_order(asked)
        show_maps(asked, trained, changed, text)
    shared.small(words.describe_card(checkpoint, shared.translator(checkpoint).card), "card")


st.title("Positions")
st.markdown(words_positions.INTRO)
tables()
live()
