"""The page Positions: what encodings look like, and what a model knows of word order without one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.interventions.edits import layer_counts
from viz.figures import offset_lines, positional_heatmap, positional_waves, similarity_heatmap, wavelength_lines
from viz.text import words
from viz.text.language import begun, message, messages, say
from viz.text.words_masks import axes
from viz.ui import choices, controls, explore, shared, speaking
from viz.views import cached, position_results, recipes, view
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.heads_results import name_of
from viz.views.made import Plot, Recipe, lines_of, made, value_of
from viz.views.position_results import ENCODINGS

MAX_WAVES = 8
NARROW_COLUMN = 13  # pixels of a column with a number of two digits under it
LARGE, SMALL = 470, 300  # pixels of the pictures that are seen first, and of several on a page
EXAMPLE = next(iter(words.EXAMPLES.values()))
ON_STEER = {
    message("positions off"): {"scale": "0"},
    message("off in the encoder"): {"scale": "0", "stacks": "encoder"},
    message("half as strong"): {"scale": "0.5"},
    message("shifted by 20"): {"shift": "20"},
}


def draw(plot: Plot, key: str, height: int = SMALL, **more) -> None:
    explore.draw(plot, key, NARROW_COLUMN, height=height, **more)


def legend(place: str, name: str) -> str:
    return say({"first": message("first: {name}"), "second": message("second: {name}")}[place], name=name)


class Encodings:
    def __init__(self, beside: DeltaGenerator, *places: str) -> None:
        labels = (say("First encoding"), say("Second encoding")) if places[1:] else (say("Encoding"),)
        names, self.chosen = {name: said for name, (said, _) in ENCODINGS.items()}, {}
        with beside:
            for place, label, default in zip(places, labels, ("sinusoidal", "literal_loop")):
                self.chosen[place] = controls.among(label, names, place, default)
            self.n_positions = n = controls.slider(say("Positions"), 8, 128, 50, key="length")
            self.d_model = d = controls.choose("d_model", (8, 16, 32, 64, 128, 256), "width", 64)
        self.names = {place: say(names[name]) for place, name in self.chosen.items()}
        self.legends = {place: legend(place, name) for place, name in self.names.items()}
        self.tables = {place: position_results.table(name, n, d).named(place) for place, name in self.chosen.items()}
        sizes = say("{positions} positions, {dimensions} dimensions", positions=n, dimensions=d)
        self.recipe = Recipe(" · ".join([sizes, *self.legends.values()]), lines_of(self.tables))

    def draw(self, place: str, key: str, height: int = SMALL, **more) -> None:
        title = say("Positional encoding: {name}", name=self.names[place])
        draw(self.recipe.plot(title, positional_heatmap, self.tables[place]), key, height, **more)

    def line(self, place: str) -> str:
        line = say(ENCODINGS[self.chosen[place]][1])
        if self.chosen[place] == "learned":
            learned = position_results.learn(self.n_positions, self.d_model)
            more = {"hits": learned.hits, "loss": learned.losses[-1]}
            line += " " + say("It does in {hits:.0%} of the rows, at a loss of {loss:.3f}.", **more)
        return line


def show_encoding(beside: DeltaGenerator) -> None:
    found, state = Encodings(beside, "first"), st.session_state
    d_model = found.d_model
    if "dimensions" in state:  # a narrower encoding lacks some
        state["dimensions"] = [one for one in state["dimensions"] if one < d_model][:MAX_WAVES]
    options = say("Dimensions"), range(d_model), sorted({0, 1, d_model // 4, d_model // 2}), "dimensions"
    with beside:
        dimensions = controls.some(st.multiselect, *options, max_selections=MAX_WAVES)
    left, right = st.columns([3, 2], gap="small")
    with left:
        found.draw("first", "table", LARGE, on_click=add_wave)
    with right:
        if dimensions:
            title = say("{name} as waves", name=found.names["first"])
            draw(found.recipe.plot(title, positional_waves, found.tables["first"], dimensions), "waves", LARGE)
        else:
            st.info(say("Choose at least one dimension to see its wave."))
    st.caption(f"{say('Click a column to see its wave.')} {found.line('first')}")
    text = {"text": state[view.KEPT].text} if view.KEPT in state else {}
    links = [speaking.link(say(name), "steer", text | query) for name, query in ON_STEER.items()]
    st.html(f"{say('In the model, on Steer:')} {' · '.join(links)}")


def add_wave(_: int, dimension: int) -> None:
    kept = st.session_state["dimensions"]
    changed = [one for one in kept if one != dimension] if dimension in kept else [*kept, dimension][-MAX_WAVES:]
    st.session_state["dimensions"] = sorted(changed)


def show_difference(beside: DeltaGenerator) -> None:
    found = Encodings(beside, "first", "second")
    difference = found.tables["first"] - found.tables["second"]
    title, more = say("Difference of the encodings"), {"value": message("difference")}
    draw(found.recipe.plot(title, positional_heatmap, difference, **more), "table-difference")
    ordered = (position_results.in_order(found.chosen[at], value_of(one)) for at, one in found.tables.items())
    largest = (np.abs(one).max() for one in (value_of(difference), np.subtract(*ordered)))
    told = dict(zip(("cells", "waves"), map(words.number, largest)))
    st.caption(say("First minus second: at most {cells}; with each sine before its cosine at most {waves}.", **told))
    for place in shared.columns(found.chosen):
        found.draw(place, f"table-{place}", line=found.line(place))


def show_similarity(beside: DeltaGenerator) -> None:
    found, means = Encodings(beside, "first", "second"), []
    for place, name in shared.columns(found.chosen.items()):
        products, by_offset = position_results.similarity(name, found.n_positions, found.d_model)
        means.append(by_offset.means)
        title = say("Similarity of positions: {name}", name=found.names[place])
        known = made(products, f"analysis.by_offset({place})[0]")
        draw(found.recipe.plot(title, similarity_heatmap, known), f"similarity-{place}")
        st.metric(begun(legend(place, say("residual"))), words.number(by_offset.residual))
    line = say(
        "Dot products of all pairs of positions; below, their mean by distance, from which the residual is the largest "
        "deviation. If only distance matters, each diagonal has one colour."
    )
    st.caption(line)
    line = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(found.chosen)})])"
    known, title = made(np.stack(means), "means"), say("Similarity by offset")
    draw(found.recipe.then(line).plot(title, offset_lines, known, list(found.legends.values())), "offset")


def show_wavelengths(beside: DeltaGenerator) -> None:
    found = Encodings(beside, "first", "second")
    waves = {place: position_results.wavelengths(name, found.d_model) for place, name in found.chosen.items()}
    waves = {place: one for place, one in waves.items() if one is not None}
    if not waves:
        st.info(say("Neither encoding has waves: none and learned positions have no wavelength."))
        return
    of = ", ".join(f"frequencies({found.chosen[place]!r}, {found.d_model})" for place in waves)
    recipe = found.recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
    known, title = made(np.stack(list(waves.values())), "waves"), say("Wavelengths of the dimensions")
    draw(recipe.plot(title, wavelength_lines, known, [found.legends[place] for place in waves]), "wavelengths")
    st.caption(say("In the paper's formula a sine and its cosine share a wavelength."))
    table = pd.DataFrame({say("pair"): range(found.d_model // 2)})
    for place, one in waves.items():
        pairs = position_results.in_order(found.chosen[place], one[None])[0].reshape(-1, 2).round(3)
        table[legend(place, say("sine"))], table[legend(place, say("cosine"))] = pairs.T
    st.dataframe(table, hide_index=True, key="pairs", height=300)


def both_orders(own: Request, order: int) -> tuple[dict[Request, cached.Shown], tuple[float, float]]:
    """The translations by what was read, and how order-blind the encoder is, as of `shuffled`."""
    found = {own: compute(own)}  # says what is wrong with the sentence
    other, differences = position_results.shuffled(own.model, own.text, order)
    other = replace(own, text=other)
    return found | {other: compute(other)}, differences


def show_order(beside: DeltaGenerator) -> None:
    if (checkpoint := controls.default_model()) is None:
        return
    loaded = cached.translator(checkpoint)
    with beside:
        text = controls.sentence(loaded.card.get("source"), EXAMPLE)
        help_ = say("The same words in another order; tokens of a word stay together.")
        order = controls.choose(say("Order"), (1, 2, 3, 4, 5), "order", help=help_)
        trained = controls.switch(say("Positions as trained"), "trained", say("Off: the encoder has no positions."))
        counts = layer_counts(loaded.config)
        head = controls.choose_head(lambda kind: (counts[kind], loaded.config.n_heads), "encoder_self")
    kind, place = head[0], head[1:]
    changes = Changes(scale=float(trained), stacks="encoder")
    asked, example = (Request(one, checkpoint, 1, changes=changes) for one in (text, EXAMPLE))
    kept = shared.compute_or_keep("positions-answered", asked, lambda own: both_orders(own, order), example)
    if kept is None:
        return
    found, (off, on) = kept[1]
    if len(found) == 1:
        st.info(say("This sentence has no other order: type one with two different words or more."))
    for key, (request, result) in shared.columns(zip(("own", "shuffled"), found.items()), 2):
        shared.small(request.text, f"{key}-source")
        shared.written(result, f"{key}-translation")
        known, recipe = made(result, "result"), recipes.translation(request)
        more = axes(kind) | {"mask": known.mask(kind)}
        draw(recipes.head(recipe, name_of(*head), known, kind, place, **more), f"map-{key}", LARGE)
    same = len({result.text for result in found.values()}) == 1
    line = say("Both orders give the same translation.") if same else say("The translations differ.")
    blind = say("Without positions the encoder is order-blind: shuffled input gives shuffled output.")
    st.caption(f"{line} {blind}")
    with shared.row(gap="large"):
        st.metric(say("Largest difference, encoder's positions off"), words.number(off))
        st.metric(say("Largest difference, as trained"), words.number(on))
    shared.card(checkpoint)


VIEWS = messages(
    encoding=("Encoding", show_encoding),
    difference=("Two compared", show_difference),
    similarity=("Similarity", show_similarity),
    wavelengths=("Wavelengths", show_wavelengths),
    order=("Word order", show_order),
)


@choices.fragment
def live() -> None:
    pictures, beside = shared.picture_first()
    with pictures:
        show = controls.part(VIEWS, "picture")
        with st.container():
            show(beside)


intro = say(
    "Without a causal mask attention does not know word order (with one a model can learn it, Haviv et al. 2022), so "
    "every token gets a positional encoding."
)
shared.opening(say("Positions"), intro)
live()
