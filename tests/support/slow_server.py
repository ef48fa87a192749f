"""Serves the app with slow importance of heads: `python -m tests.support.slow_server run app.py ...`.

Every layer's heads take SECONDS longer, so that a test has the time to stop the work; all else is the shipped app.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

SECONDS = 1.0


def main() -> None:
    """Slow down and be Streamlit."""
    from streamlit.web.cli import main as streamlit_main

    from model.measures import head_importance

    quick = head_importance.without_each_head

    def slow(*args: Any) -> Iterator[Any]:
        for part in quick(*args):
            time.sleep(SECONDS)
            yield part

    head_importance.without_each_head = slow
    sys.exit(streamlit_main(prog_name="streamlit"))


if __name__ == "__main__":
    main()
