"""What the tests stand on: finding a browser, starting the app, watching what a page does."""

import os
import sys

# Milliseconds until a wait for the browser gives up: a busy machine is not a failure.
PATIENCE = 1000 * int(os.environ.get("HEADLIGHT_PATIENCE", 120))


def forget() -> None:
    """Empties Streamlit's caches."""
    if streamlit := sys.modules.get("streamlit"):
        streamlit.cache_data.clear()
        streamlit.cache_resource.clear()


_CACHED_FROM = [""]  # the folder of checkpoints that Streamlit's caches are filled from


def forget_other_models() -> None:
    """Empties Streamlit's caches where the models are others than before: caches know them by name."""
    if (folder := os.environ.get("HEADLIGHT_CHECKPOINTS", "")) != _CACHED_FROM[0]:
        forget()
        _CACHED_FROM[0] = folder
