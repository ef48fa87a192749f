"""Serves the app with all its places taken as long as a file exists: `python -m tests.support.busy_server run app.py`.

HEADLIGHT_BUSY names the file. Everything else is the shipped app.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from streamlit.web.cli import main

from viz.views import turns

VARIABLE = "HEADLIGHT_BUSY"
LOOK = 0.02  # seconds


def hold(file: Path) -> None:
    """Take a place for as long as the file exists, again and again."""
    while True:
        if file.exists():
            with turns.TURNS.turn():
                while file.exists():
                    time.sleep(LOOK)
        time.sleep(LOOK)


if __name__ == "__main__":
    for _ in range(turns.TURNS._free):
        threading.Thread(target=hold, args=(Path(os.environ[VARIABLE]),), daemon=True).start()
    main()
