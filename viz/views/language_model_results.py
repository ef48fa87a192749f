"""What the page Language model computes, remembered."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import streamlit as st

from viz.text.language import message
from viz.views import cached
from viz.views.chance import Chance


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def read(checkpoint: str, text: str) -> tuple[cached.Shown, np.ndarray]:
    """Read a text, or return what is remembered of it; errors as `Writer.read`.

    Returns:
        What was read, and the logits of the next word, float32 (V,).
    """
    writer = cached.translator(checkpoint)
    result = writer.read(text)
    return cached.cut(result, writer), result.trace["logits"][-1]


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")), show_time=True)
def continued(checkpoint: str, text: str, chance: Chance) -> str:
    """A text and what is drawn after it; errors as `Writer.write`."""
    chosen: dict[str, Any] = {field.name: getattr(chance, field.name) for field in fields(chance)}
    return cached.translator(checkpoint).write(text, chosen.pop("count"), **chosen)
