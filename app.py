"""Starts the app: loads the model before the first visitor's page is drawn, then serves viz/app/main.py.

Run with `streamlit run app.py` (or `make run`).
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import FileResponse

from viz.app import busy, guard, starting
from viz.stage import assets
from viz.ui import language_menu
from viz.ui.engine import files as engine_files


def load() -> None:
    """Does the slow things once, for all visitors: imports, the model, Plotly's first figure."""
    # Streamlit collects garbage after every run, with all threads waiting: what lives for good need not be looked at,
    # neither then nor while it comes to life.
    gc.disable()

    import torch

    from viz.ui import explore  # noqa: F401  what the first page imports
    from viz.ui.stage import stage_page  # noqa: F401
    from viz.views import cached

    # More threads than one cost more than they bring as soon as two visitors compute at a time.
    torch.set_num_threads(1)
    # Without a model the page says so itself.
    cached.preload()
    assets.plotly()
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
HEAD = guard.SERVER % (assets.root() or "/") + guard.ONE_ENTRY + guard.INTO_POPOVERS + assets.head() + busy.head()
app = st.App(
    Path(guard.__file__).with_name("main.py"),
    lifespan=loading,
    routes=[*assets.routes(), *engine_files.routes(), *busy.routes()],
    middleware=[Middleware(guard.Guard), Middleware(guard.PageHead, head=HEAD, later=language_menu.SCRIPTS.values())],
)
