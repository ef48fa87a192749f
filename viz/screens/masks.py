"""The page Masks: a batch of sentences, its masks in every convention, and what they do to the model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model.catalogue import checkpoints_folder
from model.experiments import masks as mask_experiments
from viz.figures import attention_heatmap, mask_heatmap
from viz.language import message, say
from viz.screens import controls, explore, shared, words, words_masks
from viz.screens.mask_results import Request, Result, axes_made, compute, future_leaks, pad_differences, recipe
from viz.ui import choices
from viz.views.made import Recipe, made

COUNTS = (2, 3, 4)
NARROW_COLUMN = 17  # pixels of a column whose label leans


def ask(checkpoint: str) -> Request:
    """Ask for the sentences of the batch, or for the worked example."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = words_masks.BATCHES
        help_ = say(words_masks.BATCH)
        batch = controls.choose(say("Batch"), list(names), "batch", words_masks.SENTENCES, names, help=help_)
        typed = batch == words_masks.SENTENCES
        count = controls.choose(say("Sentences"), list(COUNTS), "sentences", 3, disabled=not typed)
    if not typed:
        st.caption(say(words_masks.EXAMPLE_NOTE))
        return Request(checkpoint)
    card = shared.translator(checkpoint).card
    names = (
        words.language(card.get("source"), message("Source")),
        words.language(card.get("target"), message("Target")),
    )
    texts: list[list[str]] = [[], []]
    for number in range(1, count + 1):
        for side, column in enumerate(st.columns(2, gap="small")):
            with column:
                key = f"{('source', 'target')[side]}{number}"
                example = words_masks.PAIRS[number - 1][side]
                texts[side].append(controls.text(f"{names[side]} {number}", example, key, live="200ms"))
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
        shown = (
            say("Shown below: the last batch that could be read.")
            if before
            else say("Shown below: the worked example.")
        )
        shared.warn(f"{shared.sentence(error)} {shown}")
        before = before or Request(request.checkpoint)
        return before, compute(before, left_out)


def draw_mask(result: Result, made_by: Recipe, mask: str, sentence: int, key: str, convention: str = "") -> None:
    """Draw one mask of one sentence, with the numbers that a convention writes where there is one."""
    spoken = words_masks.MASKS[mask]
    values = made(result.masks[mask][sentence], f"result.masks[{mask!r}][{sentence}]")
    title = say("{mask}, sentence {number}", mask=say(spoken.name), number=sentence + 1)
    written = None
    if convention:
        written = made(mask_experiments.conventions, "conventions")(values)[convention]
        title = f"{title}: {say(words_masks.CONVENTIONS[convention].name)}"
    plot = made_by.plot(
        title,
        mask_heatmap,
        values,
        *axes_made(result, mask, sentence),
        written=written,
        query_axis=spoken.query_axis,
        key_axis=spoken.key_axis,
        legend=False,  # the words above name the colours
    )
    explore.draw(plot, key, NARROW_COLUMN)


def show_masks(result: Result, made_by: Recipe) -> tuple[str, int]:
    """Draw the masks of a sentence, or a mask of all sentences; return which mask and sentence is chosen."""
    n_sentences = len(result.lengths)
    explore.heading(say("The masks of this batch"), say(words_masks.COLOURS))
    names = {name: spoken.name for name, spoken in words_masks.MASKS.items()}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        shows = words_masks.SHOWS
        show = controls.choose(say("Show"), list(shows), "show", words_masks.ONE_SENTENCE, shows)
        sentence = controls.choose(
            say("Sentence"), list(range(1, n_sentences + 1)), "sentence", 1, disabled=show == words_masks.ONE_MASK
        )
        mask = controls.choose(say("Mask"), list(words_masks.MASKS), "mask", "decoder_self", names)
    sentence -= 1
    if show == words_masks.ONE_MASK:
        st.caption(f"{say(names[mask])}. {say(words_masks.MASKS[mask].line)}")
        pictures = [(say("Sentence {number}", number=number + 1), mask, number) for number in range(n_sentences)]
    else:
        pictures = [(say(names[name]), name, sentence) for name in words_masks.MASKS]
    in_a_row = 3 if len(pictures) > 4 else len(pictures)
    for start in range(0, len(pictures), in_a_row):
        for column, (title, name, number) in zip(st.columns(in_a_row), pictures[start : start + in_a_row]):
            with column:
                line = (
                    say(words_masks.MASKS[name].line) if show == words_masks.ONE_SENTENCE else _lengths(result, number)
                )
                explore.heading(title, line)
                draw_mask(result, made_by, name, number, f"mask-{name}-{number}")
    return mask, sentence


def _lengths(result: Result, sentence: int) -> str:
    source, target = result.lengths[sentence]
    return say(
        "{source} of {sources} source tokens and {target} of {targets} target tokens are real, the rest is padding.",
        source=source,
        sources=len(result.source_tokens[sentence]),
        target=target,
        targets=len(result.target_tokens[sentence]),
    )


def show_conventions(result: Result, made_by: Recipe, mask: str, sentence: int) -> None:
    """Draw the chosen mask in the four conventions, each with its lines of PyTorch."""
    name = say(words_masks.MASKS[mask].name)
    explore.heading(
        say("{mask}, sentence {number}, in four conventions", mask=name, number=sentence + 1),
        f"{say(words_masks.CONVENTION_LINE)} {say(words_masks.LINES_START)}",
    )
    names = list(words_masks.CONVENTIONS)
    for pair in (names[:2], names[2:]):
        for column, convention in zip(st.columns(2), pair, strict=True):
            with column:
                spoken = words_masks.CONVENTIONS[convention]
                explore.heading(say(spoken.name), say(spoken.users))
                draw_mask(result, made_by, mask, sentence, f"convention-{convention}", convention)
                st.code(words_masks.code(mask, convention), language="python", wrap_lines=True)


def show_heads(result: Result, made_by: Recipe, sentence: int, left_out: str, head: tuple[str, int, int]) -> None:
    """Draw a head of a sentence with and without masks, and say what that does to the output."""
    kind, layer, number = head
    axes = {"query_axis": words_masks.MASKS[kind].query_axis, "key_axis": words_masks.MASKS[kind].key_axis}
    sides = (
        ("with", say(words_masks.WITH_ALL), result.weights, result.masks),
        ("without", say(words_masks.WITHOUT_SOME[left_out]), result.other_weights, result.other_masks),
    )
    for column, (key, title, weights, masks) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            title = say(
                "{masks}: {kind}, layer {layer}, head {head}, sentence {number}",
                masks=title,
                kind=say(words.KINDS[kind].title),
                layer=layer,
                head=number,
                number=sentence + 1,
            )
            st.markdown(f"**{title}**")
            lines = without_lines(left_out) if key == "without" else ()
            at = f"[{kind!r}][{sentence}"
            plot = made_by.then(*lines).plot(
                title,
                attention_heatmap,
                made(weights[kind][sentence, layer, number], f"result.weights{at}, {layer}, {number}]"),
                *axes_made(result, kind, sentence),
                **axes,
                mask=made(masks[kind][sentence], f"result.masks{at}]"),
            )
            explore.draw(plot, f"head-{key}")
    show_effect(result, sentence, left_out, head)


def without_lines(left_out: str) -> tuple[str, ...]:
    """The pass that lacks some masks, in Python."""
    switches = {"padding": left_out == words_masks.LOOK_AHEAD, "look_ahead": left_out == words_masks.PADDING}
    arguments = ", ".join(f"{name}={value}" for name, value in switches.items())
    return (f"result = run(translator.model, batch.src, batch.tgt, {arguments})",)


def show_effect(result: Result, sentence: int, left_out: str, head: tuple[str, int, int]) -> None:
    """Say what leaving masks out does to a map and to the output of a sentence."""
    kind, layer, number = head
    here = (sentence, layer, number)
    change = float(np.abs(result.weights[kind][here] - result.other_weights[kind][here]).max())
    pairs = list(zip(result.predicted[sentence], result.other_predicted[sentence], strict=True))
    changed = [say("step {step}: {a} → {b}", step=t, a=a, b=b) for t, (a, b) in enumerate(pairs) if a != b]
    with st.container(horizontal=True, gap="large"):
        st.metric(say("Largest change of a weight in this map"), words_masks.number(change))
        st.metric(say("Largest change of a logit at real steps"), words_masks.number(result.difference[sentence]))
        st.metric(
            say("Steps whose likeliest next token changes"), say("{n} of {total}", n=len(changed), total=len(pairs))
        )
    if changed:
        shared.small(say("Likeliest next token, with → without: {changes}", changes=" · ".join(changed)), "changed")
    padded = result.lengths[sentence] != (len(result.source_tokens[sentence]), len(result.target_tokens[sentence]))
    if left_out == words_masks.PADDING and not padded:
        st.caption(say(words_masks.UNCHANGED[words_masks.PADDING]))
    if left_out == words_masks.LOOK_AHEAD and kind == "encoder_self":
        st.caption(say(words_masks.UNCHANGED[words_masks.LOOK_AHEAD]))


def show_numbers(request: Request, sentence: int) -> None:
    """Show the pad-invariance number and the future-leak number, each with its mask on and off."""
    left, right = st.columns(2, gap="medium")
    with left:
        title = say("Padding must change nothing (sentence {number})", number=sentence + 1)
        explore.heading(title, say(words_masks.PADS))
        count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
        try:
            on_off(words_masks.PADDING, pad_differences(request, sentence, count))
        except ValueError as error:
            shared.warn(shared.sentence(error))
    with right:
        title = say("The future must not leak (sentence {number})", number=sentence + 1)
        explore.heading(title, say(words_masks.LEAK))
        try:
            on_off(words_masks.LOOK_AHEAD, future_leaks(request, sentence))
        except ValueError:
            st.info(say(words_masks.NO_LEAK))


def on_off(mask: str, values: tuple[float, float]) -> None:
    """Show a number with a mask on and off, side by side."""
    with st.container(horizontal=True, gap="large"):
        for label, value in zip(words_masks.CHANGES[mask], values, strict=True):
            st.metric(say(label), words_masks.number(value))


def show_nothing(result: Result, sentence: int, head: tuple[str, int, int]) -> None:
    """Show a fully blocked row of a head, as four programs would compute it."""
    kind, layer, number = head
    explore.heading(say("A row with nothing to read"), say(words_masks.NOTHING))
    scores = result.first_scores[kind][sentence, layer, number]
    rows = mask_experiments.nothing_to_attend(scores)
    keys = result.axes(kind, sentence)[1]
    table = pd.DataFrame({say("key"): keys, say("score"): [f"{score:.3f}" for score in scores]})
    for name, (title, _) in words_masks.TREATMENTS.items():
        table[say(title)] = ["NaN" if np.isnan(weight) else f"{weight:.3f}" for weight in rows[name]]
    st.dataframe(table, hide_index=True, key="nothing", height=min(320, 40 + 35 * len(table)))
    st.markdown("\n".join(f"- **{say(title)}**: {say(line)}" for title, line in words_masks.TREATMENTS.values()))


def choose_left_out() -> str:
    """Let the visitor choose which masks the second pass lacks."""
    explore.heading(say("A head with and without masks"), say(words_masks.WITHOUT))
    return controls.choose(
        say("Leave out"), list(words_masks.LEFT_OUT), "without", words_masks.PADDING, words_masks.LEFT_OUT
    )


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    above, below = st.container(), st.container()
    try:
        with above, st.container():
            request = ask(shared.default_checkpoint())
        with below:
            left_out = choose_left_out()
        with above:
            with st.container():
                request, result = answer(request, left_out)
            made_by = recipe(request)
            mask, sentence = show_masks(result, made_by)
            show_conventions(result, made_by, mask, sentence)
    except ValueError as error:
        st.error(say("There is no model to show masks of."))
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        shared.small(f"{shared.sentence(error)} {folder}", "no-model")
        return
    with below:
        head = controls.choose_head(lambda kind: result.weights[kind].shape[1:3], "encoder_self")
        with st.container():
            show_heads(result, made_by, sentence, left_out, head)
        show_numbers(request, sentence)
        show_nothing(result, sentence, head)
    shared.small(words.describe_card(request.checkpoint, shared.translator(request.checkpoint).card), "card")


st.title(say("Masks"))
st.markdown(say(words_masks.INTRO))
live()
