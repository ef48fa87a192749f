"""The page Masks: a batch of sentences, its masks in every convention, and what they do to the model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model import mask_experiments
from model.translator import checkpoints_folder
from viz.figures import attention_heatmap, mask_heatmap
from viz.screens import controls, explore, shared, words, words_masks
from viz.screens.beside import Recipe
from viz.screens.code_lines import Code, call
from viz.screens.mask_results import Request, Result, axes_code, compute, future_leaks, pad_differences, recipe

COUNTS = (2, 3, 4)
NARROW_COLUMN = 17  # pixels of a column whose label leans


def ask(checkpoint: str) -> Request:
    """Ask for the sentences of the batch, or for the worked example."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = words_masks.BATCHES
        batch = controls.choose("Batch", list(names), "batch", words_masks.SENTENCES, names, help=words_masks.BATCH)
        typed = batch == words_masks.SENTENCES
        count = controls.choose("Sentences", list(COUNTS), "sentences", 3, disabled=not typed)
    if not typed:
        st.caption(words_masks.EXAMPLE_NOTE)
        return Request(checkpoint)
    card = shared.translator(checkpoint).card
    names = (words.language(card.get("source"), "Source"), words.language(card.get("target"), "Target"))
    texts: list[list[str]] = [[], []]
    for number in range(1, count + 1):
        for side, column in enumerate(st.columns(2, gap="small")):
            with column:
                text = st.text_input(
                    f"{names[side]} {number}",
                    words_masks.PAIRS[number - 1][side],
                    key=f"{('source', 'target')[side]}{number}",
                    bind="query-params",
                    live="200ms",
                )
                texts[side].append(text or "")
    return Request(checkpoint, tuple(texts[0]), tuple(texts[1]))


def answer(request: Request, left_out: str) -> tuple[Request, Result]:
    """Compute; what cannot be is told in a sentence, and the last batch stays.

    Args:
        request: the batch that is asked for.
        left_out: which masks the second pass lacks.

    Returns:
        The batch that could be computed, and its result.

    Raises:
        ValueError: if the model cannot even read the worked example.
    """
    try:
        result = compute(request, left_out)
        st.session_state["masks-answered"] = request
        return request, result
    except ValueError as error:
        before = st.session_state.get("masks-answered")
        shown = "the last batch that could be read" if before else "the worked example"
        shared.warn(f"{shared.sentence(error)} Shown below: {shown}.")
        before = before or Request(request.checkpoint)
        return before, compute(before, left_out)


def draw_mask(result: Result, made_by: Recipe, mask: str, sentence: int, key: str, convention: str = "") -> None:
    """Draw one mask of one sentence, with the numbers that a convention writes where there is one."""
    spoken = words_masks.MASKS[mask]
    queries, keys = result.axes(mask, sentence)
    # The words above name the colours.
    more = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis, "legend": False}
    values, code = result.masks[mask][sentence], f"result.masks[{mask!r}][{sentence}]"
    written = mask_experiments.conventions(values)[convention] if convention else None
    figure = mask_heatmap(values, queries, keys, written=written, **more)
    of_convention = Code(f"conventions({code})[{convention!r}]") if convention else None
    made = call("mask_heatmap", Code(code), *axes_code(mask, sentence), written=of_convention, **more)
    title = f"{spoken.name}, sentence {sentence + 1}"
    if convention:
        title += f": {words_masks.CONVENTIONS[convention].name}"
    explore.draw(figure, key, {"displayModeBar": False}, NARROW_COLUMN, made_by.figure(title, made))


def show_masks(result: Result, made_by: Recipe) -> tuple[str, int]:
    """Draw the masks of a sentence, or a mask of all sentences; return which mask and sentence is chosen."""
    n_sentences = len(result.lengths)
    explore.heading("The masks of this batch", words_masks.COLOURS)
    names = {name: spoken.name for name, spoken in words_masks.MASKS.items()}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        show = controls.choose("Show", list(words_masks.SHOWS), "show", words_masks.ONE_SENTENCE, words_masks.SHOWS)
        sentence = controls.choose(
            "Sentence", list(range(1, n_sentences + 1)), "sentence", 1, disabled=show == words_masks.ONE_MASK
        )
        mask = controls.choose("Mask", list(words_masks.MASKS), "mask", "decoder_self", names)
    sentence -= 1
    if show == words_masks.ONE_MASK:
        st.caption(f"{names[mask]}. {words_masks.MASKS[mask].line}")
        pictures = [(f"Sentence {number + 1}", mask, number) for number in range(n_sentences)]
    else:
        pictures = [(names[name], name, sentence) for name in words_masks.MASKS]
    in_a_row = 3 if len(pictures) > 4 else len(pictures)
    for start in range(0, len(pictures), in_a_row):
        for column, (title, name, number) in zip(st.columns(in_a_row), pictures[start : start + in_a_row]):
            with column:
                line = words_masks.MASKS[name].line if show == words_masks.ONE_SENTENCE else _lengths(result, number)
                explore.heading(title, line)
                draw_mask(result, made_by, name, number, f"mask-{name}-{number}")
    return mask, sentence


def _lengths(result: Result, sentence: int) -> str:
    source, target = result.lengths[sentence]
    return (
        f"{source} of {len(result.source_tokens[sentence])} source tokens and {target} of "
        f"{len(result.target_tokens[sentence])} target tokens are real, the rest is padding."
    )


def show_conventions(result: Result, made_by: Recipe, mask: str, sentence: int) -> None:
    """Draw the chosen mask in the four conventions, each with its lines of PyTorch."""
    name = words_masks.MASKS[mask].name
    explore.heading(
        f"{name}, sentence {sentence + 1}, in four conventions",
        f"{words_masks.CONVENTION_LINE} The lines start from src, tgt and pad; T is the length of tgt.",
    )
    names = list(words_masks.CONVENTIONS)
    for pair in (names[:2], names[2:]):
        for column, convention in zip(st.columns(2), pair, strict=True):
            with column:
                spoken = words_masks.CONVENTIONS[convention]
                explore.heading(spoken.name, spoken.users)
                draw_mask(result, made_by, mask, sentence, f"convention-{convention}", convention)
                st.code(words_masks.code(mask, convention), language="python", wrap_lines=True)


def show_heads(result: Result, made_by: Recipe, sentence: int, left_out: str, head: tuple[str, int, int]) -> None:
    """Draw a head of a sentence with and without masks, and say what that does to the output."""
    kind, layer, number = head
    queries, keys = result.axes(kind, sentence)
    axes = {"query_axis": words_masks.MASKS[kind].query_axis, "key_axis": words_masks.MASKS[kind].key_axis}
    sides = (
        ("with", "With its masks", result.weights, result.masks),
        ("without", f"Without {words_masks.LEFT_OUT[left_out]}", result.other_weights, result.other_masks),
    )
    for column, (key, title, weights, masks) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            place = f"layer {layer}, head {number}, sentence {sentence + 1}"
            title = f"{title}: {words.KINDS[kind].title}, {place}"
            st.markdown(f"**{title}**")
            figure = attention_heatmap(
                weights[kind][sentence, layer, number],
                queries,
                keys,
                **axes,
                mask=masks[kind][sentence],
            )
            made = call(
                "attention_heatmap",
                Code(f"result.weights[{kind!r}][{sentence}, {layer}, {number}]"),
                *axes_code(kind, sentence),
                **axes,
                mask=Code(f"result.masks[{kind!r}][{sentence}]"),
            )
            lines = without_lines(left_out) if key == "without" else ()
            explore.draw(figure, f"head-{key}", about=made_by.then(*lines).figure(title, made))
    show_effect(result, sentence, left_out, head)


def without_lines(left_out: str) -> tuple[str, ...]:
    """The pass that lacks some masks, in Python."""
    switches = {"padding": left_out == words_masks.LOOK_AHEAD, "look_ahead": left_out == words_masks.PADDING}
    return (f"result = {call('run', *map(Code, ('translator.model', 'batch.src', 'batch.tgt')), **switches)}",)


def show_effect(result: Result, sentence: int, left_out: str, head: tuple[str, int, int]) -> None:
    """Say what leaving masks out does to a map and to the output of a sentence."""
    kind, layer, number = head
    here = (sentence, layer, number)
    change = float(np.abs(result.weights[kind][here] - result.other_weights[kind][here]).max())
    pairs = list(zip(result.predicted[sentence], result.other_predicted[sentence], strict=True))
    changed = [f"step {t}: {a} → {b}" for t, (a, b) in enumerate(pairs) if a != b]
    with st.container(horizontal=True, gap="large"):
        st.metric("Largest change of a weight in this map", words_masks.number(change))
        st.metric("Largest change of a logit at real steps", words_masks.number(result.difference[sentence]))
        st.metric("Steps whose likeliest next token changes", f"{len(changed)} of {len(pairs)}")
    if changed:
        shared.small("Likeliest next token, with → without: " + " · ".join(changed), "changed")
    padded = result.lengths[sentence] != (len(result.source_tokens[sentence]), len(result.target_tokens[sentence]))
    if left_out == words_masks.PADDING and not padded:
        st.caption(words_masks.UNCHANGED[words_masks.PADDING])
    if left_out == words_masks.LOOK_AHEAD and kind == "encoder_self":
        st.caption(words_masks.UNCHANGED[words_masks.LOOK_AHEAD])


def show_numbers(request: Request, sentence: int) -> None:
    """Show the pad-invariance number and the future-leak number, each with its mask on and off."""
    left, right = st.columns(2, gap="medium")
    with left:
        explore.heading(f"Padding must change nothing (sentence {sentence + 1})", words_masks.PADS)
        count = controls.slider("Pads appended", 1, 16, 4, key="pads")
        try:
            on_off("padding mask", pad_differences(request, sentence, count))
        except ValueError as error:
            shared.warn(shared.sentence(error))
    with right:
        explore.heading(f"The future must not leak (sentence {sentence + 1})", words_masks.LEAK)
        try:
            on_off("look-ahead mask", future_leaks(request, sentence))
        except ValueError:
            st.info(words_masks.NO_LEAK)


def on_off(mask: str, values: tuple[float, float]) -> None:
    """Show a number with a mask on and off, side by side."""
    with st.container(horizontal=True, gap="large"):
        for word, value in zip(("on", "off"), values, strict=True):
            st.metric(f"Largest change, {mask} {word}", words_masks.number(value))


def show_nothing(result: Result, sentence: int, head: tuple[str, int, int]) -> None:
    """Show a fully blocked row of a head, as four programs would compute it."""
    kind, layer, number = head
    explore.heading("A row with nothing to read", words_masks.NOTHING)
    scores = result.first_scores[kind][sentence, layer, number]
    rows = mask_experiments.nothing_to_attend(scores)
    table = pd.DataFrame({"key": result.axes(kind, sentence)[1], "score": [f"{score:.3f}" for score in scores]})
    for name, (title, _) in words_masks.TREATMENTS.items():
        table[title] = ["NaN" if np.isnan(weight) else f"{weight:.3f}" for weight in rows[name]]
    st.dataframe(table, hide_index=True, key="nothing", height=min(320, 40 + 35 * len(table)))
    st.markdown("\n".join(f"- **{title}**: {line}" for title, line in words_masks.TREATMENTS.values()))


def choose_left_out() -> str:
    """Let the visitor choose which masks the second pass lacks."""
    explore.heading("A head with and without masks", words_masks.WITHOUT)
    return controls.choose(
        "Leave out", list(words_masks.LEFT_OUT), "without", words_masks.PADDING, words_masks.LEFT_OUT
    )


@st.fragment
def live() -> None:
    """The part that every choice redraws."""
    above, below = st.container(), st.container()
    try:
        with above, controls.place():
            request = ask(shared.default_checkpoint())
        with below:
            left_out = choose_left_out()
        with above:
            with controls.place():
                request, result = answer(request, left_out)
            made_by = recipe(request)
            mask, sentence = show_masks(result, made_by)
            show_conventions(result, made_by, mask, sentence)
    except ValueError as error:
        st.error("There is no model to show masks of.")
        shared.small(f"{shared.sentence(error)} The folder is {checkpoints_folder()}.", "no-model")
        return
    with below:
        head = controls.choose_head(lambda kind: result.weights[kind].shape[1:3], "encoder_self")
        with controls.place():
            show_heads(result, made_by, sentence, left_out, head)
        show_numbers(request, sentence)
        show_nothing(result, sentence, head)
    shared.small(words.describe_card(request.checkpoint, shared.translator(request.checkpoint).card), "card")


st.title("Masks")
st.markdown(words_masks.INTRO)
live()
