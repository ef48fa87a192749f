"""The page Positions: what positional encodings look like, and what a model knows of word order without one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from model.interventions.edits import layer_counts
from viz.figures import offset_lines, positional_heatmap, positional_waves, similarity_heatmap, wavelength_lines
from viz.text import words, words_heads, words_masks, words_positions
from viz.text.language import message, say
from viz.text.words_positions import ENCODINGS
from viz.ui import choices, controls, explore, shared, speaking
from viz.views import cached, position_results, recipes, view
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.made import Plot, Recipe, lines_of, made, value_of

WIDTHS = (8, 16, 32, 64, 128, 256)
MAX_WAVES = 8
NARROW_COLUMN = 13  # pixels of a column with a number of two digits under it
LARGE, SMALL = 470, 300  # pixels of the pictures that are seen first, and of several on a page
ORDERS = (1, 2, 3, 4, 5)
EXAMPLE = next(iter(words.EXAMPLES.values()))


def draw(plot: Plot, key: str, height: int = SMALL, **more) -> None:
    explore.draw(plot, key, NARROW_COLUMN, height=height, **more)


class Encodings:
    """One encoding, or two that are compared, by "first" and "second": which of these are to be chosen."""

    def __init__(self, *places: str) -> None:
        names, self.chosen = {name: spoken.name for name, spoken in ENCODINGS.items()}, {}
        for place in places:
            default = words_positions.COMPARED[place]
            label = say(words_positions.CHOICES[place]) if places[1:] else say("Encoding")
            self.chosen[place] = controls.among(label, names, place, default, width="stretch")
        self.n_positions = n = controls.slider(say("Positions"), 8, 128, 50, key="length")
        self.d_model = d = controls.choose("d_model", WIDTHS, "width", 64)
        self.tables = {place: position_results.table(name, n, d).named(place) for place, name in self.chosen.items()}
        sizes = say("{positions} positions, {dimensions} dimensions", positions=n, dimensions=d)
        self.recipe = Recipe(" · ".join([sizes, *self.said(*places)]), lines_of(self.tables))

    def name(self, place: str) -> str:
        return say(ENCODINGS[self.chosen[place]].name)

    def said(self, *places: str) -> list[str]:
        """What chosen encodings are called in a legend."""
        legends = words_positions.LEGENDS
        return [say(legends[place], name=say(ENCODINGS[self.chosen[place]].short)) for place in places]

    def draw(self, place: str, key: str, height: int = SMALL, **more) -> None:
        title = say("Positional encoding: {name}", name=self.name(place))
        draw(self.recipe.plot(title, positional_heatmap, self.tables[place]), key, height, **more)

    def line(self, place: str) -> str:
        line = say(ENCODINGS[self.chosen[place]].line)
        if self.chosen[place] == "learned":
            learned = position_results.learn(self.n_positions, self.d_model)
            line += " " + words_positions.learned(len(learned.losses), learned.losses[-1], learned.hits)
        return line


def show_encoding(pictures, beside) -> None:
    with beside:
        found = Encodings("first")
        d_model = found.d_model
        default = sorted({0, 1, d_model // 4, d_model // 2})
        kept = st.session_state.get("dimensions")
        if kept is not None:  # a narrower encoding lacks some
            st.session_state["dimensions"] = [one for one in kept if one in range(d_model)][:MAX_WAVES]
        options = say("Dimensions"), range(d_model), default, "dimensions"
        dimensions = controls.some(st.multiselect, *options, max_selections=MAX_WAVES)
    with pictures:
        left, right = st.columns([3, 2], gap="small")
        with left:
            found.draw("first", "table", LARGE, on_click=add_wave)
        with right:
            if dimensions:
                title = say("{name} as waves", name=found.name("first"))
                plot = found.recipe.plot(title, positional_waves, found.tables["first"], dimensions)
                draw(plot, "waves", LARGE)
            else:
                st.info(say(words_positions.NO_DIMENSIONS))
        st.caption(f"{say(words_positions.TABLE)} {found.line('first')}")
        kept = st.session_state.get(view.KEPT)
        text = {"text": kept.text} if kept else {}
        links = [speaking.link(say(name), "steer", text | more) for name, more in words_positions.ON_STEER.items()]
        st.html(f"{say(words_positions.LIVE)} {' · '.join(links)}")


def add_wave(_: int, dimension: int) -> None:
    """Draw the wave of a dimension whose column was clicked, or take it away."""
    kept = st.session_state["dimensions"]
    without = [one for one in kept if one != dimension]
    st.session_state["dimensions"] = without if dimension in kept else sorted([*kept, dimension][-MAX_WAVES:])


def show_difference(pictures, beside) -> None:
    with beside:
        found = Encodings("first", "second")
    with pictures:
        difference = found.tables["first"] - found.tables["second"]
        title, more = say("Difference of the encodings"), {"value": message("difference")}
        draw(found.recipe.plot(title, positional_heatmap, difference, **more), "table-difference")
        largest = float(np.abs(value_of(difference)).max())
        said = [say(words_positions.DIFFERENCE, difference=words_masks.number(largest))]
        if set(found.chosen.values()) == {"sinusoidal", "sinusoidal_concatenated"}:
            ordered = (position_results.in_order(found.chosen[at], value_of(one)) for at, one in found.tables.items())
            largest = float(np.abs(np.subtract(*ordered)).max())
            said.append(say(words_positions.SAME_WAVES, difference=words_masks.number(largest)))
        st.caption(" ".join(said))
        for place in shared.columns(found.chosen):
            explore.heading(say(words_positions.TITLES[place], name=found.name(place)), found.line(place))
            found.draw(place, f"table-{place}")


def show_similarity(pictures, beside) -> None:
    with beside:
        found = Encodings("first", "second")
    with pictures:
        means, sizes = [], (found.n_positions, found.d_model)
        for place, name in shared.columns(found.chosen.items()):
            products, by_offset = position_results.similarity(name, *sizes)
            means.append(by_offset.means)
            title = say("Similarity of positions: {name}", name=found.name(place))
            known = made(products, f"analysis.by_offset({place})[0]")
            draw(found.recipe.plot(title, similarity_heatmap, known), f"similarity-{place}")
            label = say(words_positions.TITLES[place], name=say(words_positions.THE_RESIDUAL))
            st.metric(label, words_masks.number(by_offset.residual))
        st.caption(f"{say(words_positions.SIMILARITY)} {say(words_positions.RESIDUAL)}")
        curves = np.stack(means)
        lines = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(found.chosen)})])"
        names = found.said(*found.chosen)
        plot = found.recipe.then(lines).plot(say("Similarity by offset"), offset_lines, made(curves, "means"), names)
        draw(plot, "offset")


def show_wavelengths(pictures, beside) -> None:
    with beside:
        found = Encodings("first", "second")
    waves = {place: position_results.wavelengths(name, found.d_model) for place, name in found.chosen.items()}
    waves = {place: one for place, one in waves.items() if one is not None}
    with pictures:
        if not waves:
            st.info(say(words_positions.NO_WAVES))
            return
        of = ", ".join(f"frequencies({found.chosen[place]!r}, {found.d_model})" for place in waves)
        recipe = found.recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
        known, title = made(np.stack(list(waves.values())), "waves"), say("Wavelengths of the dimensions")
        draw(recipe.plot(title, wavelength_lines, known, found.said(*waves)), "wavelengths")
        st.caption(say(words_positions.WAVELENGTH))
        table = pd.DataFrame({say("pair"): range(found.d_model // 2)})
        for place, one in waves.items():
            pairs = position_results.in_order(found.chosen[place], one[None])[0].reshape(-1, 2)
            for column, values in zip(words_positions.COLUMNS, pairs.T.round(3), strict=True):
                table[say(words_positions.LEGENDS[place], name=say(column))] = values
        st.dataframe(table, hide_index=True, key="pairs", height=300)


@dataclass(frozen=True)
class Asked:
    """What the encoder reads in two orders: its own, and the words shuffled with a seed."""

    own: Request
    order: int

    def shuffled(self) -> tuple[str, tuple[float, float]]:
        """As of `position_results.shuffled`."""
        return position_results.shuffled(self.own.checkpoint, self.own.text, self.order)


def ask() -> tuple[Asked, tuple[str, int, int]]:
    checkpoint = cached.default_checkpoint()
    loaded = cached.translator(checkpoint)
    language = words.language(loaded.card.get("source"), message("Source"))
    text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    order = controls.choose(say("Order"), ORDERS, "order", help=say(words_positions.SHUFFLE))
    trained = controls.switch(say("Positions as trained"), "trained", say(words_positions.TRAINED))
    counts = layer_counts(loaded.config)
    head = controls.choose_head(lambda kind: (counts[kind], loaded.config.n_heads), "encoder_self")
    changes = Changes(scale=float(trained), stacks="encoder")
    return Asked(Request(checkpoint, text, 1, changes=changes), order), head


def both_orders(asked: Asked) -> dict[Request, cached.Shown]:
    """The translations of the sentence in its own order and shuffled, by what was read."""
    found = {asked.own: compute(asked.own)}  # says what is wrong with the sentence
    other = replace(asked.own, text=asked.shuffled()[0])
    return found | {other: compute(other)}


def show_order(pictures, beside) -> None:
    """Show that an encoder without positions only shuffles its output when its input is shuffled."""
    try:
        with beside:
            asked, head = ask()
    except ValueError as error:
        with pictures:
            controls.no_model(error)
        return
    with pictures:
        example = replace(asked, own=replace(asked.own, text=EXAMPLE))
        kept = shared.compute_or_keep("positions-answered", asked, both_orders, example)
        if kept is None:
            return
        asked, found = kept
        if len(found) == 1:
            st.info(say(words_positions.ONE_WORD))
        for key, (request, result) in shared.columns(zip(("own", "shuffled"), found.items()), 2):
            shared.small(request.text, f"{key}-source")
            shared.large(result.text or say("(the model wrote nothing)"), f"{key}-translation")
            if not result.finished:
                st.caption(say("The translation stopped at the length limit."))
            show_map(request, result, head, key)
        texts = {result.text for result in found.values()}
        line = words_positions.SAME if len(texts) == 1 else words_positions.OTHER
        st.caption(f"{say(line)} {say(words_positions.SHUFFLED)}")
        off, on = asked.shuffled()[1]
        with st.container(horizontal=True, gap="large"):
            st.metric(say("Largest difference, encoder's positions off"), words_masks.number(off))
            st.metric(say("Largest difference, as trained"), words_masks.number(on))
        shared.small(words.describe_card(asked.own.checkpoint, asked.own.translator.card), "card")


def show_map(request: Request, result: cached.Shown, head: tuple[str, int, int], key: str) -> None:
    kind, *place = head
    title, recipe = words_heads.head(words.KINDS[kind].title, *place), recipes.translation(request)
    axes, known = words_masks.MASKS[kind].axes, made(result, "result")
    draw(recipes.head(recipe, title, known, kind, tuple(place), **axes, mask=known.mask(kind)), f"map-{key}", LARGE)


VIEWS = dict(
    zip(words_positions.VIEWS, (show_encoding, show_difference, show_similarity, show_wavelengths, show_order))
)


@choices.fragment
def live() -> None:
    pictures, beside = shared.picture_first()
    with pictures:
        chosen = controls.views(words_positions.VIEWS, "picture")
        place = st.container()
    VIEWS[chosen](place, beside)


shared.opening(say("Positions"), say(words_positions.INTRO))
live()
