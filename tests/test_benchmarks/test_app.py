"""The benchmarks of the running app: what they time is what they say, and they print tables."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import page, visitors
from benchmarks.common import sentences
from model import load_translator
from tests.conftest import no_browser
from tests.support import timed_server
from tests.support.browser import MISSING, find_browser
from tests.support.server import ROOT, serve
from tests.support.visitor import Visitor, visit


@pytest.fixture
def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app and the benchmarks find the tiny checkpoint."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_a_visitor_gets_the_maps_and_the_stopwatch_sees_the_same_run(
    environment: None, folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "runs.jsonl"
    first, second, _ = texts = [text for text, _ in zip(sentences(), range(3))]

    async def come(url: str) -> list[int]:
        async with visit(url) as connection:
            visitor = Visitor(connection)
            await visitor.open("text")
            assert set(visitor.charts) == {"overview", "heatmap"}
            return [await visitor.type(text) for text in (first, second, second)]

    with serve(module="tests.support.timed_server", environment={timed_server.VARIABLE: str(log)}) as url:
        new_charts = asyncio.run(come(url))
    assert new_charts == [2, 2, 0]  # the same sentence again changes nothing
    _, *runs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [run["text"] for run in runs] == texts[:2]  # and is not translated again
    translator = load_translator(str(folder))
    for run in runs:
        result = translator.translate(run["text"], beam=visitors.BEAM)
        assert run["shape"] == [len(result.target_tokens), len(result.source_tokens)]
        assert min(run["translate"], run["figures"], run["charts"]) > 0
        assert run["translate"] + run["figures"] + run["charts"] < run["rerun"]


def test_visitors_prints_a_table(
    environment: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["visitors", "--visitors", "2", "--sentences", "2", "--think", "0"])
    visitors.main()
    title, *_, waited, alone, on_top = capsys.readouterr().out.splitlines()
    assert title.startswith("2 visitors at once") and "4 sentences" in title
    numbers = [[float(number) for number in re.findall(r"\d+\.\d", line)] for line in (waited, alone, on_top)]
    assert all(0 < p50 <= p95 for p50, p95 in numbers)
    assert numbers[1][0] < numbers[0][0]


def test_too_many_visitors_end_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["visitors", "--visitors", "1000", "--sentences", "1000"])
    with pytest.raises(SystemExit) as ended:
        visitors.main()
    assert ended.value.code == 2
    assert "got 1000 * 1000" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.browser
def test_page_prints_both_tables(environment: None) -> None:
    """In a process of its own: Playwright runs once in a process, and the browser tests have it."""
    if find_browser() is None:
        no_browser(MISSING)
    command = [sys.executable, "-m", "benchmarks.page", "--starts", "1", "--rounds", "2", "--warmup", "0"]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    start = re.search(r"^start +(\d+\.\d)", done.stdout, flags=re.MULTILINE)
    assert float(start[1]) > 0
    rows = {part: re.search(rf"^{part} +(-?\d+\.\d)", done.stdout, flags=re.MULTILINE) for part in page.PARTS}
    numbers = {part: float(found[1]) for part, found in rows.items()}
    assert all(number > 0 for number in numbers.values())
    assert numbers["translate"] + numbers["build figures"] < numbers["whole"]
