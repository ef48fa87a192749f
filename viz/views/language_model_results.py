"""What the page Language model computes, remembered: texts and numbers in, arrays and words out."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from model.translation import Translation
from viz.text.language import message
from viz.views import cached

CACHED_DISTRIBUTIONS = 32  # of a few hundred kilobytes each at the most


@dataclasses.dataclass(frozen=True)
class Read:
    """What a language model computes when it reads a text.

    Attributes:
        text: that was read.
        shown: tokens, weights and mask.
        unknown: how many of its words are <unk>.
    """

    text: str
    shown: Translation
    unknown: int


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Reading …")))
def read(checkpoint: str, text: str) -> Read:
    """Read a text, or return what is remembered of it; errors as `Writer.read`."""
    writer = cached.translator(checkpoint)
    result = writer.read(text)
    drawn = {address: value for address, value in result.trace.items() if address.endswith((".weights", ".mask"))}
    unknown = result.target_tokens.count(writer.tokenizer.UNK)
    return Read(text, dataclasses.replace(result, trace=drawn), unknown)


@st.cache_data(max_entries=CACHED_DISTRIBUTIONS, show_spinner=cached.Waiting(message("Reading …")))
def distributions(
    checkpoint: str, text: str, temperature: float, top_k: int, top_p: float
) -> tuple[np.ndarray, np.ndarray]:
    """How probable every word (V,) is as the next one: as the model says, and as it is drawn from, without <unk>."""
    writer = cached.translator(checkpoint)
    return writer.distribution(text), writer.distribution(text, temperature, top_k, top_p, unknown=False)


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Writing …")), show_time=True)
def continued(checkpoint: str, text: str, count: int, temperature: float, top_k: int, top_p: float, seed: int) -> str:
    """A text and what is drawn after it; errors as `Writer.write`."""
    return cached.translator(checkpoint).write(text, count, temperature, top_k, top_p, seed)
