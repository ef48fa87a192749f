"""Pages wait until all is loaded; a server that cannot load ends."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from benchmarks.support.server import ROOT
from tests.test_app import screen
from viz.app import starting


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(starting, "_loading", None)


@pytest.mark.slow
def test_nobody_waits_where_nothing_is_loaded():
    starting.wait()


def test_pages_wait_until_the_work_is_done():
    go_on, events = threading.Event(), []
    starting.load(lambda: (go_on.wait(), events.append("loaded")))
    page = threading.Thread(target=lambda: (starting.wait(), events.append("drawn")))
    page.start()
    page.join(0.1)
    assert events == []
    go_on.set()
    page.join()
    assert events == ["loaded", "drawn"]


@pytest.mark.parametrize(("parameters", "message"), [({}, "Loading …"), ({"lang": "de"}, "Lädt …")])
def test_the_first_visitor_reads_what_is_waited_for(monkeypatch, parameters, message):
    go_on, texts = threading.Event(), []

    @contextmanager
    def spinner(text, **_):
        texts.append(text)
        go_on.set()
        yield
        assert not starting._loading.is_alive()

    monkeypatch.setattr(starting.st, "spinner", spinner)
    starting.load(go_on.wait)
    at = screen.open_app(**parameters)
    assert texts == [message] and screen.has_stage(at)


@pytest.mark.slow
def test_a_server_that_cannot_load_says_why_and_ends():
    """Also where Ctrl-C is ignored, as in the background of a shell."""
    lines = [
        "import signal",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "import time",
        "from viz.app import starting",
        "starting.load(lambda: 1 / 0)",
        "while True: time.sleep(0.1)  # as the server looks around in its main thread",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode != 0
    assert "the app cannot be loaded, and the server ends" in ended.stderr and "division by zero" in ended.stderr
