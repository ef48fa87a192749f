"""Pages wait until all is loaded; a server that cannot load ends."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests.support.server import ROOT
from viz.screens import starting


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(starting, "_loading", None)


def test_nobody_waits_where_nothing_is_loaded():
    starting.wait()


def test_pages_wait_until_the_work_is_done():
    go_on, done = threading.Event(), []
    starting.load(lambda: (go_on.wait(), done.append("loaded")))
    page = threading.Thread(target=lambda: (starting.wait(), done.append("drawn")))
    page.start()
    page.join(0.1)
    assert done == []
    go_on.set()
    page.join()
    assert done == ["loaded", "drawn"]


def test_a_server_that_cannot_load_says_why_and_ends():
    lines = [
        "import asyncio",
        "from viz.screens import starting",
        "starting.load(lambda: 1 / 0)",
        "asyncio.run(asyncio.sleep(600))",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode != 0
    assert "the app cannot be loaded, and the server ends" in ended.stderr and "division by zero" in ended.stderr
