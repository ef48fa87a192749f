"""The page without a server as its commands write it: a folder behind `python -m http.server`, and one file."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.server import end, free_port
from model import load_translator
from model.running.translator import Translator
from viz.__main__ import main

SENTENCE = "A dog runs after the ball."  # of the one file


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both directions."""
    out = tmp_path_factory.mktemp("site") / "out"
    assert main(["site", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    """Where a plain web server gives it out."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)
    url = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        end(process)


@pytest.fixture(scope="session")
def live_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one file of a sentence."""
    out = tmp_path_factory.mktemp("live") / "stage.html"
    assert main(["stage", SENTENCE, "--live", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def translators() -> dict[str, Translator]:
    """What Python translates with, by name."""
    return {name: load_translator(name) for name in ("en-de", "de-en")}
