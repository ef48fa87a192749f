"""What is remembered for the view Inside: everything that a translation recorded in the attention of one layer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.experiments import inside
from viz.text.language import message
from viz.views import cached


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def layer_of(request: cached.Request, kind: str, layer: int) -> dict[str, np.ndarray]:
    """Translate once more and keep the inside of one layer, which other pages do not need.

    Args:
        request: the translation.
        kind: of attention.
        layer: counted from 0.

    Returns:
        As `model.experiments.inside.recorded`.

    Raises:
        ValueError: as `Translator.translate` and `Translator.force`.
    """
    translator = cached.translator(request.checkpoint)
    if request.reference is None:
        result = translator.translate(request.text, request.beam, request.length_penalty)
    else:
        result = translator.force(request.text, request.reference)
    return inside.recorded(result, kind, layer)
