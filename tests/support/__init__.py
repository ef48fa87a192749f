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
