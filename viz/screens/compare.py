"""The page Compare: two runs side by side, and their difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from model.analysis import differences
from model.catalogue import available, checkpoints_folder
from model.experiments.positions import MAX_SCALE, MAX_SHIFT
from viz.components.chips import Chip, chips
from viz.figures import attention_heatmap, difference_heatmap, share_board
from viz.language import message, say
from viz.screens import compare_edits, controls, explore, shared, words, words_compare, words_positions
from viz.screens.compare_results import Recipe, Side, make, pair_recipe
from viz.ui import choices
from viz.views import made, maps

EXAMPLE = words.EXAMPLES["A short one"]
MAPS = ("map-a", "map-b", "map-difference")
PARTNER = message("{token}: token {i}, with a partner on the other side.")
NO_PARTNER = message("{token}: token {i}, without a partner on the other side.")
Pair = tuple[Recipe, Recipe]


def ask(versus: str) -> Pair:
    """Ask for the sentence, and for how B differs from A.

    Args:
        versus: what differs.

    Returns:
        Both sides; B reads the translation of A where `reads` is not None.

    Raises:
        ValueError: if a model cannot be loaded.
    """
    st.caption(say(words_compare.LINES[versus]))
    if versus == words_compare.EDIT:
        return compare_edits.ask()
    first, second = st.container(), st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    default = shared.default_checkpoint()
    names = available("transformer") or [default]
    with second:
        label = say("Model A") if versus == words_compare.MODEL else say("Model")
        name = controls.among(label, names, "model", default)
    language = words.language(shared.translator(name).card.get("source"), "Source")
    with first:
        if versus == words_compare.SENTENCE:
            text = controls.sentence(say("{language} sentence A", language=language), EXAMPLE)
            label = say("{language} sentence B", language=language)
            other = controls.text(label, words_compare.B_EXAMPLE, "text-b", live="200ms")
        else:
            text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    a = Recipe(name, text)
    with second:
        if versus == words_compare.SENTENCE:
            return a, replace(a, text=other)
        if versus == words_compare.MASK:
            return replace(a, reads=""), replace(a, reads="", look_ahead=False)
        if versus == words_compare.SEARCH:
            return ask_searches(a)
        b = ask_positions(a) if versus == words_compare.POSITION else ask_model(a, names)
        same = controls.switch(say("B reads the translation of A"), "same", say(words_compare.SAME))
    return a, replace(b, reads="") if same else b


def ask_searches(a: Recipe) -> Pair:
    """Ask for two beam widths."""
    widths = [
        controls.choose(say("Beam width {side}", side=side), list(controls.BEAMS), key, default, controls.BEAMS)
        for side, key, default in (("A", "beam", 4), ("B", "beam-b", 1))
    ]
    return replace(a, beam=widths[0]), replace(a, beam=widths[1])


def ask_positions(a: Recipe) -> Recipe:
    """Ask how the positions of B are changed."""
    scale = controls.slider(
        say("Scale"), 0.0, MAX_SCALE, 0.0, step=0.1, key="scale-b", help=say(words_positions.SCALE), width=220
    )
    shift = controls.slider(say("Shift"), 0, MAX_SHIFT, 0, key="shift-b", help=say(words_positions.SHIFT), width=220)
    label, options = say("Change it in the"), words_positions.WHERE
    where = controls.choose(label, list(options), "where-b", "both", options)
    return replace(a, scale=round(float(scale), 1), shift=int(shift), stacks=words_positions.SIDES[where])


def ask_model(a: Recipe, names: list[str]) -> Recipe:
    """Ask for the model of B."""
    others = [name for name in names if name != a.checkpoint]
    return replace(a, checkpoint=controls.among(say("Model B"), names, "model-b", (others or names)[0]))


def compute(pair: Pair) -> tuple[Side, Side]:
    """Compute both sides; where a side shall read the translation of A, A is translated first; errors as `make`."""
    a, b = pair
    if "" in (a.reads, b.reads):
        written = make(replace(a, reads=None)).text
        if not written:
            raise ValueError(say("the model of A wrote nothing that B could read: change the sentence or the model"))
        a, b = (replace(recipe, reads=written) if recipe.reads == "" else recipe for recipe in pair)
    return make(a), make(b)


def answer(versus: str, pair: Pair) -> tuple[str, Pair, Side, Side] | None:
    """Compute; what cannot be computed is told in a sentence, and the last result stays; None without any."""
    plain = Recipe(pair[0].checkpoint, EXAMPLE)
    examples = (words_compare.SENTENCE, (plain, replace(plain, text=words_compare.B_EXAMPLE)))
    kept = shared.compute_or_keep(
        "compare-answered",
        (versus, pair),
        lambda asked: compute(asked[1]),
        lambda before: before or examples,
        last=message("the last two that could be compared"),
        first=message("the examples"),
    )
    if kept is None:
        return None
    (versus, pair), sides = kept
    return versus, pair, *sides


def titles(versus: str, pair: Pair) -> list[str]:
    """Name what each side is."""
    a, b = pair
    if versus == words_compare.SEARCH:
        beams = [recipe.beam for recipe in pair]
        said = [say(controls.BEAMS[1]) if beam == 1 else say("beam of {width}", width=beam) for beam in beams]
    elif versus == words_compare.MODEL:
        said = [recipe.checkpoint for recipe in pair]
    elif versus == words_compare.POSITION:
        where = {stacks: name for name, stacks in words_positions.SIDES.items()}[b.stacks]
        said = [say("positions as trained"), words_positions.what_changed(b.scale, b.shift, where, False)]
    elif versus == words_compare.EDIT:
        said = [say("as it is"), compare_edits.title(b)]
    elif versus == words_compare.MASK:
        said = [say("with the look-ahead mask"), say("without the look-ahead mask")]
    else:
        return ["A", "B"]
    return [f"{name}: {words_}" for name, words_ in zip("AB", said, strict=True)]


def show_translations(pair: Pair, sides: tuple[Side, Side], named: list[str]) -> None:
    """Show both sentences with both translations, and how probable each is."""
    for column, key, title, recipe, side in zip(st.columns(2, gap="medium"), "ab", named, pair, sides, strict=True):
        with column, st.container(border=True, gap="xsmall"):
            shared.small(title, f"title-{key}")
            shared.small(recipe.text, f"source-{key}")
            shared.large(side.text or say("(the model wrote nothing)"), f"translation-{key}")
            read = [say("It was made to read this translation.")] if recipe.reads is not None else []
            st.caption(" ".join([say("Log-probability {number:.2f}.", number=side.log_probability), *read]))
            if not side.finished:
                st.caption(say("The translation was stopped at the length limit."))


def show_chips(kind: str, sides: tuple[Side, Side], pairs: dict[str, differences.Pairs]) -> None:
    """Show the tokens of both sides; pointing at one lights its partner too."""
    lines = {}
    for number, (name, side) in enumerate(zip("AB", sides, strict=True)):
        for line, title, tokens in (
            ("source", message("{side}, source"), side.source_tokens),
            ("target", message("{side}, translation, as it was read"), side.target_tokens),
        ):
            is_source = line == "source"
            group = {pair[number]: f"{line}{place}" for place, pair in enumerate(pairs["source" if is_source else ""])}
            asks = is_source == (kind == "encoder_self")
            is_read = is_source != (kind == "decoder_self")
            lines[say(title, side=name)] = [
                Chip(
                    token,
                    say(PARTNER if i in group else NO_PARTNER, token=token, i=i),
                    row=i if asks else -1,
                    column=i if is_read else -1,
                    map=MAPS[number],
                    group=group.get(i, ""),
                )
                for i, token in enumerate(tokens)
            ]
    chips(lines, None, say(words_compare.CHIPS), "pairs")


def head_title(kind: str, place: tuple[int, int]) -> str:
    """Name a head."""
    where = say("layer {layer}, head {head}", layer=place[0], head=place[1])
    return say("{kind}, {place}", kind=say(words.KINDS[kind].title), place=where)


def show_maps(
    kind: str, place: tuple[int, int], sides: tuple[Side, Side], named: list[str], recipe: made.Recipe
) -> None:
    """Draw one head of each side, on the same colours."""
    spoken = words.KINDS[kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    for column, key, title, side, name in zip(st.columns(2, gap="medium"), MAPS, named, sides, "ab"):
        with column:
            title = f"{title}: {head_title(kind, place)}"
            shared.small(title, f"over-{key}")
            plot = recipe.plot(
                title,
                attention_heatmap,
                made.made(side.weights[kind][place], f"{name}.attention({kind!r})[{place[0]}, {place[1]}]"),
                *map(made.made, side.axes(kind), axes_code(kind, name)),
                **axes,
                mask=made.made(side.masks[kind], f"{name}.mask({kind!r})"),
            )
            explore.draw(plot, key)


def show_difference(
    kind: str,
    place: tuple[int, int],
    sides: tuple[Side, Side],
    rows: differences.Pairs,
    columns: differences.Pairs,
    recipe: made.Recipe,
) -> None:
    """Draw A minus B where both have a cell, and say which cells these are."""
    a, b = (side.weights[kind][place] for side in sides)
    names, said = [], [say(words_compare.DIFFERENCE)]
    for what, tokens, found in zip(
        ("rows", "columns"), zip(*(side.axes(kind) for side in sides), strict=True), (rows, columns), strict=True
    ):
        own, others = tokens
        names.append([own[i] if own[i] == others[j] else f"{own[i]} → {others[j]}" for i, j in found])
        replaced = sum(own[i] != others[j] for i, j in found)
        said.append(words_compare.paired(what, len(found), replaced, (len(own) - len(found), len(others) - len(found))))
    explore.heading("A − B", " ".join(said))
    spoken = words.KINDS[kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    weights = ", ".join(f"{name}.attention({kind!r})[{place[0]}, {place[1]}]" for name in "ab")
    known = made.made(differences.difference(a, b, rows, columns), f"differences.difference({weights}, rows, columns)")
    title = f"A − B: {head_title(kind, place)}"
    explore.draw(recipe.then(*pair_lines(kind)).plot(title, difference_heatmap, known, *names, **axes), MAPS[2])


def axes_code(kind: str, name: str) -> list[str]:
    """The tokens of the rows and of the columns of a side, in Python."""
    return [repr(one) for one in maps.axis_tokens(made.made(None, name), kind, words.READ)[:2]]


def pair_lines(kind: str) -> tuple[str, ...]:
    """Which rows and columns of both sides belong together, in Python."""
    names = zip(("rows", "columns"), axes_code(kind, "a"), axes_code(kind, "b"), strict=True)
    return tuple(f"{what} = differences.pairs({a}, {b})" for what, a, b in names)


def open_head(layer: int, head: int) -> None:
    """Open the head whose cell was clicked; runs before the page is drawn again."""
    st.session_state["layer"], st.session_state["head"] = layer, head


def show_board(moved: np.ndarray, place: tuple[int, int], kind: str, recipe: made.Recipe) -> None:
    """Draw how much the attention of every head moved."""
    explore.heading(say("Where do they differ?"), say(words_compare.BOARD))
    n_layers, n_heads = moved.shape
    weights = ", ".join(f"{name}.attention({kind!r})[:{n_layers}, :{n_heads}]" for name in "ab")
    lines = (*pair_lines(kind), f"moved = differences.moved({weights}, rows, columns)")
    plot = recipe.then(*lines).plot(
        say(words_compare.WHERE[kind]),
        share_board,
        made.made(moved, "moved"),
        value=message("share moved"),
        selected=place,
        scale_to_max=True,
    )
    explore.draw(plot, "moved", on_click=open_head)


def show(versus: str, pair: Pair, a: Side, b: Side) -> None:
    """Draw everything about two sides."""
    sides, named = (a, b), titles(versus, pair)
    show_translations(pair, sides, named)
    notes, chips_place = st.container(), st.container()

    def shapes(kind: str) -> list[tuple[int, int]]:
        return [side.weights[kind].shape[:2] for side in sides]

    kind, layer, head = controls.choose_head(lambda kind: tuple(map(min, *shapes(kind))), "cross")
    with notes:
        if versus == words_compare.EDIT:
            compare_edits.show_notes(*pair)  # its links name the head that is chosen
        elif pair[0] == pair[1]:
            st.info(say(words_compare.EQUAL))
    both = shapes(kind)
    n_layers, n_heads = map(min, *both)
    if both[0] != both[1]:
        counts = dict(zip(("a_layers", "a_heads", "b_layers", "b_heads"), [*both[0], *both[1]], strict=True))
        st.caption(say("A has {a_layers} × {a_heads} heads of this kind, B {b_layers} × {b_heads}.", **counts))
    if versus == words_compare.MODEL:
        cards = [shared.translator(recipe.checkpoint).card for recipe in pair]
        st.caption(words_compare.two_models(*[(card.get("source"), card.get("target")) for card in cards]))
    place = (layer, head)
    pairs = {
        "source": differences.pairs(a.source_tokens, b.source_tokens),
        "": differences.pairs(a.target_tokens, b.target_tokens),
    }
    rows = pairs["source" if kind == "encoder_self" else ""]
    columns = pairs["" if kind == "decoder_self" else "source"]
    with chips_place:
        show_chips(kind, sides, pairs)
    recipe = pair_recipe(pair, named)
    show_maps(kind, place, sides, named, recipe)
    if not rows or not columns:
        st.info(say(words_compare.NOTHING_IN_COMMON))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        show_difference(kind, place, sides, rows, columns, recipe)
    with right:
        weights = [side.weights[kind][:n_layers, :n_heads] for side in sides]
        show_board(differences.moved(*weights, rows, columns), place, kind, recipe)


def compare(versus: str) -> None:
    """Ask for two that differ in one thing, and draw them."""
    try:
        pair = ask(versus)
    except ValueError as error:
        st.error(say("There is no model to compare with."))
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        shared.small(f"{shared.sentence(error)} {folder}", "no-model")
        return
    with st.container():
        if versus == words_compare.MODEL and len(available("transformer")) < 2:
            st.info(say(words_compare.ONE_MODEL))
        answered = answer(versus, pair)
    if answered is not None:
        show(*answered)
        for checkpoint in dict.fromkeys(recipe.checkpoint for recipe in answered[1]):
            shared.small(words.describe_card(checkpoint, shared.translator(checkpoint).card), f"card-{checkpoint}")


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    names = words_compare.VERSUS
    versus = controls.choose(say("What differs"), list(names), "versus", words_compare.SENTENCE, names)
    with st.container():
        compare(versus)


st.title(say("Compare"))
st.markdown(say(words_compare.INTRO))
live()
