"""The page Positions: what encodings look like, and what a model knows of word order without one."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from model.checkpoint import available
from model.interventions.edits import layer_counts
from model.measures import context
from viz.figures import curves, encoding_panels, offset_lines, positional_heatmap, similarity_heatmap, wavelength_lines
from viz.text import words
from viz.text.language import listed, message, say
from viz.text.words_masks import axes
from viz.ui import choices, controls, frame, shared, speaking
from viz.ui.frame import Tile
from viz.views import cached, position_results, recipes, view
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.heads_results import name_of
from viz.views.made import Made, Recipe, lines_of, made, value_of
from viz.views.position_results import ENCODINGS, RELATIVE

MAX_WAVES = 8
EXAMPLE = next(iter(words.EXAMPLES.values()))
N_OFFSETS = 64  # of a rotary head
NEAR, FAR = 0, 16  # offsets that are compared in words
ON_STEER = {
    message("positions off"): {"scale": "0"},
    message("off in the encoder"): {"scale": "0", "stacks": "encoder"},
    message("half as strong"): {"scale": "0.5"},
    message("shifted by 20"): {"shift": "20"},
}
SIZES = {"length": "50", "width": "64"}  # the defaults, as codes


@dataclass(frozen=True)
class Sizes:
    n_positions: int
    d_model: int


def legend(place: str, name: str) -> str:
    return say({"first": message("first: {name}"), "second": message("second: {name}")}[place], name=name)


class Encodings:
    """One encoding or two, their tables, and the recipe of figures of them."""

    def __init__(self, sizes: Sizes, chosen: dict[str, str]) -> None:
        self.chosen = chosen
        self.n_positions, self.d_model = sizes.n_positions, sizes.d_model
        self.names = {place: say(ENCODINGS[name][0]) for place, name in chosen.items()}
        self.legends = {place: legend(place, name) for place, name in self.names.items()}
        self.tables = {
            place: position_results.table(name, self.n_positions, self.d_model).named(place)
            for place, name in chosen.items()
        }
        line = say(
            "{positions} positions, {dimensions} dimensions", positions=sizes.n_positions, dimensions=sizes.d_model
        )
        self.recipe = Recipe(" · ".join([line, *self.legends.values()]), lines_of(self.tables))

    def line(self, place: str) -> str:
        """What is said of an encoding."""
        line = say(ENCODINGS[self.chosen[place]][1])
        if self.chosen[place] == "learned":
            learned = position_results.learn(self.n_positions, self.d_model)
            values = {"hits": learned.hits, "loss": learned.losses[-1]}
            line += " " + say("It does in {hits:.0%} of the rows, at a loss of {loss:.3f}.", **values)
        return line

    def drawn(self, *places: str) -> dict:
        """The tables of some of them as figures, by the key of each."""
        title = message("Positional encoding: {name}")
        return {
            f"table-{place}": self.recipe.plot(
                say(title, name=self.names[place]), positional_heatmap, self.tables[place]
            )
            for place in places
        }


def answer(name: str, sizes: Sizes) -> str:
    """What an encoding does, in the numbers of this table."""
    n = sizes.n_positions
    if name == "none":
        return say("Without an encoding every position looks the same.")
    if name == "alibi":
        table = value_of(position_results.table(name, max(n, 11), sizes.d_model))
        near, far = (float(np.exp(table[10, head])) for head in (0, -1))
        line = message("ALiBi: 10 positions back a weight shrinks to {near:.1%} in head 0, to {far:.1%} in head 7.")
        return say(line, near=near, far=far)
    if name == "buckets":
        line = message("T5 tells distances up to {exact} apart one by one; from {far} on all share one bucket.")
        exact, far = position_results.bucket_limits()
        return say(line, exact=exact, far=far)
    _, by_offset = position_results.similarity(name, n, sizes.d_model)
    if by_offset.residual < 1e-9:
        apart = min(5, n - 1)
        values = {"apart": apart, "product": by_offset.means[apart], "self": by_offset.means[0]}
        line = message(
            "Any two positions {apart} apart have the product {product:.1f}, wherever they stand; a position with "
            "itself {self:.1f}."
        )
        return say(line, **values)
    line = message("Here the place matters, too: at one distance products differ by up to {residual}.")
    return say(line, residual=words.number(by_offset.residual))


def show_encoding(page: "Page") -> None:
    name, state = page.first, st.session_state
    found = Encodings(page.sizes, {"first": name})
    width = value_of(found.tables["first"]).shape[1]
    if "dimensions" in state:  # a narrower encoding lacks some
        state["dimensions"] = [one for one in state["dimensions"] if one < width][:MAX_WAVES]
    column, row = position_results.axes(name)
    default = sorted({0, 1, width // 4, width // 2})
    with page.places.left_controls:
        frame.note(say("Lines"))
        dimensions = controls.some(
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
        frame.answer(answer(name, page.sizes), found.line("first"))
    with page.places.right:
        if not dimensions:
            st.info(say("Choose at least one dimension to see its wave."))
        title = say("Positional encoding: {name}", name=found.names["first"])
        table = found.tables["first"]
        plot = found.recipe.plot(title, encoding_panels, table, dimensions, column_axis=column, row_axis=row)
        frame.pictures({"table": plot}, on_click=add_wave, is_map=False)
        frame.note(
            say(
                "Above, a row per {column}; below, some of them as lines. Click a row to see its line.",
                column=say(column),
            )
        )
    with page.places.left:
        text = {"text": state[view.KEPT].text} if view.KEPT in state else {}
        links = [speaking.link(say(name), "steer", text | query) for name, query in ON_STEER.items()]
        st.html(f'<p class="hl-note">{say("In the model, on Steer:")} {" · ".join(links)}</p>')


def add_wave(dimension: int, _: int) -> None:
    kept = st.session_state["dimensions"]
    changed = [one for one in kept if one != dimension] if dimension in kept else [*kept, dimension][-MAX_WAVES:]
    st.session_state["dimensions"] = sorted(changed)


def second(page: "Page") -> Encodings | None:
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


def show_difference(page: "Page") -> None:
    if (found := second(page)) is None:
        return
    difference = found.tables["first"] - found.tables["second"]
    ordered = (position_results.in_order(found.chosen[at], value_of(one)) for at, one in found.tables.items())
    largest = (np.abs(one).max() for one in (value_of(difference), np.subtract(*ordered)))
    values = dict(zip(("cells", "waves"), map(words.number, largest)))
    with page.places.answer:
        line = say("First minus second: at most {cells}; with each sine before its cosine at most {waves}.", **values)
        frame.answer(line, f"{found.line('first')} {found.line('second')}")
    with page.places.right:
        plot = found.recipe.plot(
            say("Difference of the encodings"), positional_heatmap, difference, value=message("difference")
        )
        frame.pictures({"table-difference": plot} | found.drawn("first", "second"))
        frame.note(say("Rows are positions, columns dimensions: the difference, the first encoding, the second."))


def show_similarity(page: "Page") -> None:
    if (found := second(page)) is None:
        return
    plots, titles, residuals, means = {}, {}, {}, []
    for place, name in found.chosen.items():
        products, by_offset = position_results.similarity(name, found.n_positions, found.d_model)
        means.append(by_offset.means)
        residuals[place] = words.number(by_offset.residual)
        title = say("Similarity of positions: {name}", name=found.names[place])
        known = made(products, f"analysis.by_offset({place})[0]")
        plots[f"similarity-{place}"] = found.recipe.plot(title, similarity_heatmap, known)
        titles[f"similarity-{place}"] = found.legends[place], ""
    with page.places.answer:
        line = say(
            "Products at one distance differ by at most {first} in the first encoding, {second} in the second.",
            **residuals,
        )
        note = say("Dot products of all pairs of positions. If only distance matters, each diagonal has one colour.")
        frame.answer(line, note)
    with page.places.right:
        frame.pictures(plots, titles=titles, below=230)
        line = f"means = np.stack([analysis.by_offset(table)[1].means for table in ({', '.join(found.chosen)})])"
        known, title = made(np.stack(means), "means"), say("Similarity by offset")
        plot = found.recipe.then(line).plot(title, offset_lines, known, list(found.legends.values()))
        frame.pictures({"offset": plot}, is_map=False, least=200)


def show_wavelengths(page: "Page") -> None:
    if (found := second(page)) is None:
        return
    waves = {place: position_results.wavelengths(name, found.d_model) for place, name in found.chosen.items()}
    waves = {place: one for place, one in waves.items() if one is not None}
    if not waves:
        with page.places.right:
            st.info(say("Neither encoding has waves: none and learned positions have no wavelength."))
        return
    longest = {place: words.number(float(one.max())) for place, one in waves.items()}
    with page.places.answer:
        line = say(
            "The longest wave of “{name}” takes {n} positions.",
            name=found.names[next(iter(waves))],
            n=longest[next(iter(waves))],
        )
        frame.answer(line, say("In the paper's formula a sine and its cosine share a wavelength."))
    of = ", ".join(f"frequencies({found.chosen[place]!r}, {found.d_model})" for place in waves)
    recipe = found.recipe.then(f"waves = np.stack([2 * np.pi / of.numpy() for of in [{of}]])")
    known, title = made(np.stack(list(waves.values())), "waves"), say("Wavelengths of the dimensions")
    table = pd.DataFrame({say("pair"): range(found.d_model // 2)})
    for place, one in waves.items():
        pairs = position_results.in_order(found.chosen[place], one[None])[0].reshape(-1, 2).round(3)
        table[legend(place, say("sine"))], table[legend(place, say("cosine"))] = pairs.T
    with page.places.right:
        plot = recipe.plot(title, wavelength_lines, known, [found.legends[place] for place in waves])
        frame.pictures({"wavelengths": plot}, is_map=False)
    with page.places.left:
        st.dataframe(table, hide_index=True, key="pairs", height=240)


def both_orders(own: Request, order: int) -> tuple[dict[Request, cached.Shown], tuple[float, float]]:
    """The translations by what was read, and how order-blind the encoder is, as of `shuffled`."""
    found = {own: compute(own)}  # says what is wrong with the sentence
    other, differences = position_results.shuffled(own.model, own.text, order)
    other = replace(own, text=other)
    return found | {other: compute(other)}, differences


def show_order(page: "Page") -> None:
    if page.checkpoint is None:
        return
    loaded = cached.translator(page.checkpoint)
    hidden = {"label_visibility": "collapsed"}
    with page.places.left_controls:
        help_ = say("The same words in another order; tokens of a word stay together.")
        order = controls.choose(say("Order"), (1, 2, 3, 4, 5), "order", help=help_, **hidden)
        trained = controls.switch(say("Positions as trained"), "trained", say("Off: the encoder has no positions."))
    with page.places.left:
        kinds = {kind: words.KINDS[kind].name for kind in layer_counts(loaded.config)}
        kind = controls.choose(say("Attention"), kinds, "kind", "encoder_self", on_change=frame.forget_head, **hidden)
    changes = Changes(scale=float(trained), stacks="encoder")
    asked, example = (Request(one, page.checkpoint, 1, changes=changes) for one in (page.text, EXAMPLE))
    with page.places.notes:
        kept = shared.compute_or_keep("positions-answered", asked, lambda own: both_orders(own, order), example)
    if kept is None:
        return
    found, (off, on) = kept[1]
    if len(found) == 1:
        with page.places.notes:
            st.info(say("This sentence has no other order: type one with two different words or more."))
    own = next(iter(found.values()))
    with page.places.left:
        place = frame.choose_head(own.attention(kind), own.mask(kind), (0, 0))
    plots, titles = {}, {}
    for key, (request, result) in zip(("own", "shuffled"), found.items()):
        known, recipe = made(result, "result"), recipes.translation(request)
        more = axes(kind) | {"mask": known.mask(kind)}
        plots[f"map-{key}"] = recipes.head(recipe, name_of(kind, *place), known, kind, place, **more)
        titles[f"map-{key}"] = request.text, "", "", "q"
    texts = [result.text for result in found.values()]
    with page.places.answer:
        same = len(set(texts)) == 1
        line = message("Both orders give the same translation: “{a}”") if same else message("“{a}” becomes “{b}”")
        blind = say(
            "Without positions the encoder is order-blind: shuffled input gives shuffled output (largest difference "
            "{off}; as trained {on}).",
            off=words.number(off),
            on=words.number(on),
        )
        frame.answer(say(line, a=texts[0], b=texts[-1]), blind)
    with page.places.right:
        frame.pictures(plots, titles=titles)
        frame.note(say("The same head over the sentence and over its words in another order."))


def rotary_model() -> str | None:
    """A language model here whose positions are rotary, if any."""
    for name in available("language_model"):
        try:
            if cached.translator(name).config.positional.startswith("rotary"):
                return name
        except ValueError:
            continue
    return None


def show_rotary(page: "Page") -> None:
    name = rotary_model()
    with page.places.notes:
        kept = shared.compute_or_keep(
            "rotary-answered", page.text, lambda text: position_results.turned(name, text, N_OFFSETS), EXAMPLE
        )
    if kept is None:
        return
    text, (before, after) = kept
    with page.places.left_controls:
        frame.note(say("Encodings"))
    default = np.unravel_index(np.abs(after[..., NEAR] - after[..., FAR]).argmax(), before.shape)
    with page.places.left:
        frame.picture_title(say("Heads"), small=say("rows: layers, columns: heads; left near, right far"))
        limit = float(np.abs(after).max())
        layer, head = frame.choose_head_by_pixels(
            [[frame.signed_pixels(line[None], limit) for line in row] for row in after], tuple(map(int, default))
        )
    near, far = after[layer, head, [NEAR, FAR]]
    with page.places.answer:
        line = message(
            "Turned {n} positions apart, q·k falls from {a:.1f} to {b:.1f}; before the turn it stays {a:.1f}."
        )
        if far > near:
            line = message(
                "Turned {n} positions apart, q·k rises from {a:.1f} to {b:.1f}; before the turn it stays {a:.1f}."
            )
        about = message(
            "Layer {layer}, head {head} of {name}: the mean over all pairs of a query and a key of the text."
        )
        note = say(about, layer=layer, head=head, name=name)
        frame.answer(say(line, n=FAR, a=near, b=far), note)
    code = f"before, after = positions.turned_products(writer, {text!r}, {N_OFFSETS})"
    lines = (f"writer = load_translator({name!r})", code, f"offsets = np.arange({N_OFFSETS})")
    recipe = Recipe(say("“{text}” · {checkpoint}", text=text, checkpoint=name), lines)
    offsets = np.arange(N_OFFSETS)
    flat = f"np.full({N_OFFSETS}, before[{layer}, {head}])"
    turned, still = (
        np.stack([offsets, after[layer, head]]),
        np.stack([offsets, np.full(N_OFFSETS, before[layer, head])]),
    )
    drawn = {
        say("after the turn"): made(turned, f"np.stack([offsets, after[{layer}, {head}]])"),
        say("before the turn"): made(still, f"np.stack([offsets, {flat}])"),
    }
    title = say("q·k by offset, layer {layer}, head {head}", layer=layer, head=head)
    plot = recipe.plot(title, curves, drawn, x_axis=message("offset (positions apart)"), y_axis="q·k / √d")
    with page.places.right:
        frame.pictures({"turned": plot}, is_map=False)
        frame.note(
            say("Each pair of dimensions turns at a speed of its own: the sum of their waves favours some distances.")
        )


def measured() -> dict[str, dict]:
    """What is recorded of the loss by position, by language model."""
    found = {}
    for name in available("language_model"):
        try:
            if (own := context.read(cached.translator(name).folder)) is not None:
                found[name] = own
        except ValueError:
            continue
    return found


def loss_lines(own: dict) -> dict[str, Made]:
    """The loss by position at every length that was measured, named by the length and its perplexity."""
    lines = {}
    for entry in own["lengths"]:
        edges = np.linspace(0, entry["length"], len(entry["loss"]) + 1)
        line = np.stack([(edges[:-1] + edges[1:]) / 2, entry["loss"]]).round(3)
        name = say("{n:,} tokens: {perplexity:.1f}", n=entry["length"], perplexity=entry["perplexity"])
        lines[name] = made(line, f"np.array({line.tolist()})")
    return lines


def encoding_of(name: str) -> str:
    """What the positions of a model are called."""
    positional = cached.translator(name).config.positional
    code = position_results.ROTARY if positional.startswith("rotary") else positional
    return say(ENCODINGS[code][0]) if code in ENCODINGS else positional


def show_beyond(page: "Page") -> None:
    results = measured()
    with page.places.left_controls:
        frame.note(say("Encodings"))
    lines = {name: loss_lines(own) for name, own in results.items()}
    losses = [value_of(line)[1] for own in lines.values() for line in own.values()]
    reach = min(map(np.min, losses)), max(map(np.max, losses))
    axes = {"x_axis": message("position"), "y_axis": message("loss per token (nats)")}
    plots, titles, factors, notes = {}, {}, [], []
    for name, own in results.items():
        key, title = f"beyond-{name}", say("{name}: loss by position", name=name)
        recipe = Recipe(own["command"], ("# as measured",))
        plots[key] = recipe.plot(title, curves, lines[name], reach=reach, **axes)
        titles[key] = name, "", encoding_of(name)
        first, last = own["lengths"][0], own["lengths"][-1]
        factor = last["perplexity"] / first["perplexity"]
        factors.append(say("{factor:.2f} ({name})", factor=factor, name=name))
        line = message("{name} has perplexity {a} at the trained {n:,} tokens, {b} when it reads {m:,} at once.")
        values = {"a": first["perplexity"], "n": first["length"], "b": last["perplexity"], "m": last["length"]}
        notes.append(say(line, name=name, **values))
    with page.places.answer:
        line = message("Four times the trained length multiplies the perplexity by {list}.")
        frame.answer(say(line, list=listed(factors)), " ".join(notes))
    with page.places.right:
        frame.pictures(plots, titles=titles, is_map=False)
        tokens = max(own["tokens"] for own in results.values())
        frame.note(say("Measured over {n:,} tokens by {command}.", n=tokens, command="python -m model context"))


VIEWS = {
    "encoding": (message("Encoding"), show_encoding),
    "difference": (message("Two compared"), show_difference),
    "similarity": (message("Similarity"), show_similarity),
    "wavelengths": (message("Wavelengths"), show_wavelengths),
    "order": (message("Word order"), show_order),
    "rotary": (message("Rotary head"), show_rotary),
    "beyond": (message("Too long"), show_beyond),
}


@dataclass(frozen=True)
class Page:
    places: frame.Places
    sizes: Sizes
    first: str  # the chosen encoding
    checkpoint: str | None
    text: str

    @property
    def name(self) -> str:
        return say(ENCODINGS[self.first][0])


def settings() -> Sizes:
    changed = sum(choices.code_of(key, default) != default for key, default in SIZES.items())
    with frame.options(changed, "positions"):
        n = controls.slider(say("Positions"), 8, 128, 50, key="length")
        d = controls.choose("d_model", (8, 16, 32, 64, 128, 256), "width", 64)
    return Sizes(n, d)


def tiles(sizes: Sizes) -> list[Tile]:
    """The encodings, positions to the right; one that is learned has its picture once it was."""
    found = []
    for name, (said, _) in ENCODINGS.items():
        pixels = None
        if name != "learned":
            table = value_of(position_results.table(name, sizes.n_positions, sizes.d_model))
            limit = 1.0 if name == "none" else float(np.abs(table).max())
            pixels = frame.signed_pixels(table.T, limit)
        note = say("trains when chosen") if name == "learned" else ""
        found.append(Tile(name, say(said), note, pixels=pixels))
    return found


@choices.fragment
def live() -> None:
    places = frame.places()
    with places.right_controls:
        shown = {code: name for code, (name, _) in VIEWS.items()}
        if rotary_model() is None:
            del shown["rotary"]
        if not measured():
            del shown["beyond"]
        view_code = controls.views(shown, "picture")
    checkpoint, text = None, EXAMPLE
    with places.notes:
        if view_code == "order":
            checkpoint = controls.default_model()
    with places.question:
        language = cached.translator(checkpoint).card.get("source") if checkpoint else "en"
        text = controls.sentence_box(language, EXAMPLE)
        sizes = settings()
    with places.left:
        first = frame.choose_tile(say("Encodings"), tiles(sizes), "first", "sinusoidal", columns=3)
    VIEWS[view_code][1](Page(places, sizes, first, checkpoint, text))


frame.opening(say("Positions"))
live()
