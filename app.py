"""Starts the app: loads the model before the first visitor comes, then serves viz/screens/main.py.

Run with `streamlit run app.py` (or `make run`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from viz.components.plotly_js import PLOTLY_ROUTE
from viz.screens.deep_links import RootServer


@asynccontextmanager
async def preloaded(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Does the slow things once, before the server answers: imports, the model, Plotly's first figure."""
    import gc

    import numpy as np
    import torch

    from viz.figures import attention_heatmap
    from viz.screens import explore, shared  # noqa: F401  explore: what the first page imports, pandas with it

    # More threads than one cost more than they bring as soon as two visitors compute at a time.
    torch.set_num_threads(1)
    # Without a model the page says so itself.
    shared.preload()
    attention_heatmap(np.eye(2), ["a", "b"], ["a", "b"]).to_json()
    # Streamlit collects garbage after every run, with all threads waiting: what lives for good need not be looked at.
    gc.collect()
    gc.freeze()
    yield {}


app = st.App("viz/screens/main.py", lifespan=preloaded, routes=[PLOTLY_ROUTE], middleware=[Middleware(RootServer)])
