"""The page Positions: encodings side by side, and the live model under another encoding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from model.catalogue import checkpoints_folder
from model.experiments.positions import MAX_SCALE, MAX_SHIFT
from viz.figures import attention_heatmap, positional_heatmap
from viz.language import message, say
from viz.screens import (
    controls,
    encodings,
    explore,
    position_results,
    shared,
    words,
    words_masks,
    words_positions,
)
from viz.screens.position_results import Reading
from viz.ui import choices
from viz.views import maps
from viz.views.made import made

ORDERS = (1, 2, 3, 4, 5)
EXAMPLE = next(iter(words.EXAMPLES.values()))


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
    language = words.language(card.get("source"), message("Source"))
    text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        off = controls.switch(say("Switch it off"), "off", say(words_positions.OFF))
        scale = controls.slider(
            say("Scale"),
            0.0,
            MAX_SCALE,
            1.0,
            step=0.1,
            key="scale",
            help=say(words_positions.SCALE),
            disabled=off,
            width=220,
        )
        shift = controls.slider(
            say("Shift"), 0, MAX_SHIFT, 0, key="shift", help=say(words_positions.SHIFT), disabled=off, width=220
        )
        places = words_positions.WHERE
        where = controls.choose(say("Change it in the"), list(places), "where", "both", places)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        shuffle = controls.switch(say("Shuffle the words"), "shuffle", say(words_positions.SHUFFLE))
        order = controls.choose(say("Order"), list(ORDERS), "order", 1, disabled=not shuffle)
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
    how = words_positions.what_changed(asked.scale, asked.shift, asked.where, asked.order is not None)
    for column, (key, title, reading, read) in zip(
        st.columns(2, gap="medium"),
        (
            ("trained", say("As trained"), trained, asked.text),
            ("changed", say("Changed: {how}", how=how), changed, text),
        ),
        strict=True,
    ):
        with column, st.container(border=True, gap="xsmall"):
            st.markdown(f"**{title}**")
            shared.small(read, f"{key}-source")
            shared.large(reading.text or say("(the model wrote nothing)"), f"{key}-translation")
            if not reading.finished:
                st.caption(say("The translation was stopped at the length limit."))


def show_order(asked: Asked) -> None:
    """Show that an encoder without positions only shuffles its output when its input is shuffled."""
    explore.heading(say("Is the encoder order-blind?"), say(words_positions.SHUFFLED))
    text, (off, on) = position_results.shuffled(asked.checkpoint, asked.text, asked.order)
    if text.split() == asked.text.split():
        st.info(say(words_positions.ONE_WORD))
        return
    with st.container(horizontal=True, gap="large"):
        st.metric(say("Largest difference, encoder's positions off"), words_masks.number(off))
        st.metric(say("Largest difference, as trained"), words_masks.number(on))
    readings = [position_results.read(asked.checkpoint, words_, 0.0, 0, ("encoder",)) for words_ in (asked.text, text)]
    st.caption(
        say("With the encoder's positions off the two orders give the same translation:")
        if readings[0].text == readings[1].text
        else say("With the encoder's positions off the two orders give different translations:")
    )
    for key, words_, reading in zip(("order-own", "order-shuffled"), (asked.text, text), readings, strict=True):
        shared.small(f"{words_} → {reading.text}", key)


def show_maps(asked: Asked, trained: Reading, changed: Reading, text: str) -> None:
    """Draw a head as trained and as changed, and the encoding that was added."""
    kind, layer, head = controls.choose_head(lambda kind: trained.weights[kind].shape[:2], "encoder_self")
    spoken = words.KINDS[kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    sides = words_positions.SIDES[asked.where]
    made_by = {
        "trained": position_results.recipe(asked.checkpoint, asked.text, 1.0, 0, sides),
        "changed": position_results.recipe(asked.checkpoint, text, asked.scale, asked.shift, sides),
    }
    for column, (key, title, reading) in zip(
        st.columns(2, gap="medium"),
        (("trained", say("As trained"), trained), ("changed", say("Changed"), changed)),
        strict=True,
    ):
        with column:
            title = say(
                "{which}: {kind}, layer {layer}, head {head}",
                which=title,
                kind=say(spoken.title),
                layer=layer,
                head=head,
            )
            explore.heading(title, say(spoken.rows))
            plot = made_by[key].plot(
                title,
                attention_heatmap,
                made(reading.weights[kind][layer, head], f"result.attention({kind!r})[{layer}, {head}]"),
                *maps.axis_tokens(made(reading, "result"), kind, words.READ)[:2],
                **axes,
                mask=made(reading.masks[kind], f"result.mask({kind!r})"),
            )
            explore.draw(plot, f"map-{key}")
    explore.heading(say("The encoding of the changed run"), say(words_positions.ADDED))
    plot = made_by["changed"].plot(
        say("Positional encoding of the source"),
        positional_heatmap,
        made(changed.positions["source"], "result.positional('source')"),
        made(changed, "result").source_tokens,
    )
    encodings.draw(plot, "added")


@choices.fragment
def live() -> None:
    """The part about the live model."""
    st.header(say("In the live model"), divider=True)
    st.caption(say(words_positions.LIVE))
    try:
        checkpoint = shared.default_checkpoint()
        asked = ask(checkpoint)
    except ValueError as error:
        st.error(say("There is no model to change the positions of."))
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        shared.small(f"{shared.sentence(error)} {folder}", "no-model")
        return
    with st.container():
        answered = answer(asked)
    if answered is not None:
        asked, trained, changed, text = answered
        show_translations(asked, trained, changed, text)
        with st.container():
            if asked.order is not None:
                show_order(asked)
        show_maps(asked, trained, changed, text)
    shared.small(words.describe_card(checkpoint, shared.translator(checkpoint).card), "card")


st.title(say("Positions"))
st.markdown(say(words_positions.INTRO))
encodings.tables()
live()
