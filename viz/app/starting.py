"""Loading while the server answers already: a browser fetches the code of the page in the meantime."""

import logging
import os
import signal
import threading
from collections.abc import Callable

import streamlit as st

from viz.text.language import say

_loading: threading.Thread | None = None


def load(work: Callable[[], None]) -> None:
    """Load what pages need in a thread; if that fails, the server ends."""
    global _loading

    def run() -> None:
        # Streamlit warns where a cache is filled for no visitor.
        warnings = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
        warnings.disabled = True
        try:
            work()
            warnings.disabled = False
        except Exception:
            logging.getLogger(__name__).exception("the app cannot be loaded, and the server ends")
            # Not as Ctrl-C would: what a shell starts in the background ignores that.
            os.kill(os.getpid(), signal.SIGTERM)

    _loading = threading.Thread(target=run, name="loading", daemon=True)
    _loading.start()


def wait() -> None:
    """Wait until all is loaded; only then import it: two threads at it can get half a module."""
    if _loading is not None and _loading.is_alive():
        with st.spinner(say("Loading …"), show_time=True):
            _loading.join()
