"""The page Steps: the decoding as a film."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from viz.components.film import film
from viz.figures import step_film
from viz.figures.film import Film
from viz.language import say
from viz.screens import asking, beside, controls, recipes, shared, words_steps


def choose_maps(result: shared.Shown) -> tuple[int, int, int | None]:
    """Let the visitor choose which maps the film shows; return the decoder's layer, the encoder's, and the head.

    The head is None for the mean over all heads.
    """
    n_layers, n_heads = result.attention("cross").shape[:2]
    n_encoder_layers = len(result.attention("encoder_self"))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        layer = controls.choose(say("Decoder layer"), list(range(n_layers)), "layer", n_layers - 1)
        encoder_layer = controls.choose(
            say("Encoder layer"), list(range(n_encoder_layers)), "encoder-layer", n_encoder_layers - 1
        )
        place = st.container(width="content")
        mean = controls.switch(say("Mean of all heads"), "mean-of-heads", say(words_steps.MEAN))
    with place:
        head = controls.choose(say("Head"), list(range(n_heads)), "head", 0, disabled=mean)
    return layer, encoder_layer, None if mean else head


def film_of(result: shared.Shown, layer: int, encoder_layer: int, head: int | None) -> Film:
    """The film of a translation.

    Args:
        result: the translation.
        layer: of the decoder.
        encoder_layer: of the encoder.
        head: None for the mean over all heads.
    """

    def one(kind: str, layer: int) -> np.ndarray:
        maps = result.attention(kind)[layer]
        return maps.mean(axis=0) if head is None else maps[head]

    return Film(
        decoder=one("decoder_self", layer),
        cross=one("cross", layer),
        encoder=one("encoder_self", encoder_layer),
        probabilities=np.array([[p for _, p in row] for row in result.candidates]),
        entropy=result.entropy,
        mask=result.mask("decoder_self"),
        read=result.target_tokens,
        written=result.predicted_tokens,
        source=result.source_tokens,
        candidates=[[name for name, _ in row] for row in result.candidates],
    )


def show(result: shared.Shown, request: controls.Request, card: dict) -> None:
    """Let the visitor choose a head, and show the film."""
    layer, encoder_layer, head = choose_maps(result)
    if request.reference is not None:
        st.caption(say(words_steps.FORCED))
    panels = words_steps.panels(words_steps.of_map(layer, head), words_steps.of_map(encoder_layer, head))
    made = film_of(result, layer, encoder_layer, head)
    film(made, panels, "film")
    title = words_steps.title(layer, encoder_layer, head)
    about = recipes.film(recipes.translation(request), title, layer, encoder_layer, head, partial(step_film, made))
    beside.offer(None, about, "film")


@st.fragment
def live() -> None:
    """The part that every choice redraws; a step of the film redraws nothing here."""
    asking.one_translation(show)


st.title(say("Steps"))
st.markdown(say(words_steps.INTRO))
live()
