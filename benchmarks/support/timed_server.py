"""Serves the app with a stopwatch on each rerun: `python -m benchmarks.support.timed_server run app.py ...`.

Wraps the translation, the figure functions and Streamlit's run of a script before the app is imported, then hands over
to Streamlit's own command line; the app itself is the shipped one. After every run that translated something a line of
JSON goes to the file that HEADLIGHT_STOPWATCH names: text, source and target tokens, and the seconds of
translate, read (where a given translation is read), figures (building them), charts (encoding and sending them) and
rerun (all of it).
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIABLE = "HEADLIGHT_STOPWATCH"

# Streamlit runs each script in a thread of its own.
_run = threading.local()


def _timed(function: Callable, part: str, note: Callable[[Any], dict] = lambda result: {}) -> Callable:
    """The function, adding its seconds to a part of the present run, and noting what its result says."""

    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        if hasattr(_run, "entry"):
            _run.entry[part] = _run.entry.get(part, 0.0) + time.perf_counter() - start
            _run.entry |= note(result)
        return result

    return timed


def _whole(run_script: Callable, log: Path) -> Callable:
    """Streamlit's run of a script, writing down what was measured in it."""

    @functools.wraps(run_script)
    def timed(*args: Any, **kwargs: Any) -> None:
        _run.entry = {}
        start = time.perf_counter()
        try:
            run_script(*args, **kwargs)
        finally:
            entry = _run.entry | {"rerun": time.perf_counter() - start}
            del _run.entry
            if "translate" in entry:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")

    return timed


def _about(result: Any) -> dict[str, Any]:
    return {"text": result.source, "shape": [len(result.target_tokens), len(result.source_tokens)]}


def attach(log: Path) -> None:
    """Put the stopwatch on; to be called before anything imports the pages.

    Args:
        log: the file that a line is added to for every run.
    """
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

    from model.running.translator import Translator
    from viz import figures
    from viz.ui.plot import plot

    Translator.translate = _timed(Translator.translate, "translate", _about)
    Translator.force = _timed(Translator.force, "read")
    for name in figures.__all__:
        setattr(figures, name, _timed(getattr(figures, name), "figures"))
    plot.plot = _timed(plot.plot, "charts")
    ScriptRunner._run_script = _whole(ScriptRunner._run_script, log)


def main() -> None:
    """Put the stopwatch on and be Streamlit."""
    attach(Path(os.environ[VARIABLE]))
    from streamlit.web.cli import main as streamlit_main

    sys.exit(streamlit_main(prog_name="streamlit"))


if __name__ == "__main__":
    main()
