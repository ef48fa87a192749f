"""What happens to the work of a visitor who leaves, over a real websocket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.support.server import ROOT, serve
from benchmarks.support.visitor import visit

pytestmark = pytest.mark.slow

PATIENCE = 60
# A page that translates with a beam of 16, and notes every step of the search and how it ended. Each step takes longer
# than there is time for all of them: the search cannot end by itself.
PAGE = """
import os, time
from pathlib import Path
import streamlit as st
from model.running.stepper import Stepper
from viz.views import cached

log, step = Path(os.environ["LOG"]), Stepper.step

def note(word):
    with log.open("a") as file:
        file.write(word + "\\n")

def slow(*arguments):
    note("step")
    time.sleep(2)
    return step(*arguments)

if not hasattr(Stepper, "patched"):
    Stepper.step, Stepper.patched = slow, True
try:
    cached.compute(cached.Request("The animal was tired. " * 4, "en-de", 16))
    note("translated")
except BaseException as error:
    note(type(error).__name__)
    raise
"""

# A page on which a model is trained at once, and paused, since a small one may be done before anybody leaves.
TRAINING = """
import os, threading
from pathlib import Path
import streamlit as st
from model.films.settings import Settings
from viz.pages.training import here, live

log = Path(os.environ["LOG"])
live.FORGOTTEN_AFTER = float("inf")  # it is the leaving that ends it
here.start_runs(Settings(), "")
(run,) = st.session_state[here.RUNS]["backwards"]
run.pause()

def follow():
    run._thread.join()
    log.write_text("step " + run.frame().status)

threading.Thread(target=follow, daemon=True).start()
log.write_text("step")
"""


def lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").split() if log.exists() else []


async def look_in_and_leave(url: str, log: Path) -> None:
    """Open the page, and close it when the search has begun."""
    async with visit(url) as connection:
        await connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        deadline = time.monotonic() + PATIENCE
        while "step" not in lines(log):
            assert time.monotonic() < deadline, "the search did not begin"
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def after_leaving(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], list[str]]]:
    """What a page has noted when it is over with a visitor who left as soon as the work had begun."""
    folder = tmp_path_factory.mktemp("leaving")
    script, page, log = (folder / name for name in ("script.py", "page.py", "log"))
    script.write_text(f"exec(compile(open({str(page)!r}).read(), 'page', 'exec'))", encoding="utf-8")
    environment = {"LOG": str(log), "PYTHONPATH": str(ROOT), "HEADLIGHT_CHECKPOINTS": str(checkpoints)}
    with serve(script, environment=environment) as url:

        def run(code: str) -> list[str]:
            page.write_text(code, encoding="utf-8")
            log.unlink(missing_ok=True)
            asyncio.run(look_in_and_leave(url, log))
            deadline = time.monotonic() + PATIENCE
            while set(lines(log)) <= {"step"} and time.monotonic() < deadline:
                time.sleep(0.1)
            return lines(log)

        yield run


def test_a_search_ends_when_its_visitor_leaves(after_leaving: Callable[[str], list[str]]) -> None:
    *steps, ended = after_leaving(PAGE)
    assert ended == "StopException"
    assert len(steps) < 8  # of 60 and more


def test_training_ends_when_its_visitor_leaves(after_leaving: Callable[[str], list[str]]) -> None:
    assert after_leaving(TRAINING) == ["step", "stopped"]
