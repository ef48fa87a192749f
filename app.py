"""Starts the app: loads the model before the first visitor's page is drawn, then serves viz/screens/main.py.

Run with `streamlit run app.py` (or `make run`).
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import FileResponse

from viz.app.guard import Guard
from viz.components.plotly_js import PLOTLY_ROUTE
from viz.screens import page_head, starting


def load() -> None:
    """Does the slow things once, for all visitors: imports, the model, Plotly's first figure."""
    # Streamlit collects garbage after every run, with all threads waiting: what lives for good need not be looked at,
    # neither then nor while it comes to life.
    gc.disable()

    import numpy as np
    import torch

    from viz.figures import attention_heatmap
    from viz.screens import explore, shared  # noqa: F401  explore: what the first page imports, pandas with it

    # More threads than one cost more than they bring as soon as two visitors compute at a time.
    torch.set_num_threads(1)
    # Without a model the page says so itself.
    shared.preload()
    attention_heatmap(np.eye(2), ["a", "b"], ["a", "b"]).to_json()
    gc.enable()
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def loading(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Begins to load when the server begins to answer."""
    starting.load(load)
    yield {}


# Each part of a file is read by another thread: Plotly's five megabytes would be 72 parts, while the model is loaded.
FileResponse.chunk_size = 1 << 20
HEAD = page_head.SERVER + page_head.INTO_POPOVERS + page_head.early_plotly()
app = st.App(
    "viz/screens/main.py",
    lifespan=loading,
    routes=[PLOTLY_ROUTE],
    middleware=[Middleware(Guard), Middleware(page_head.PageHead, added=HEAD)],
)
