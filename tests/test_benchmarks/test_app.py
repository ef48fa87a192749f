"""The benchmarks of the running app: what they time is what they say, and they print tables."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import page, pages, visitors
from benchmarks.common import sentences
from benchmarks.support import timed_server
from benchmarks.support.server import ROOT, serve
from benchmarks.support.visitor import visit
from model import load_translator
from model.interventions.edits import Edits

pytestmark = pytest.mark.slow

not_in_ci = pytest.mark.skipif(bool(os.environ.get("CI")), reason="a minute each; `make test SLOW=1` runs them")
FETCHED = "fetched by the browser before the map is there, MB"
WANTED = {
    "new sentence, on top of translating, ms": "<= 0.5 of it",
    "another kind, 12 tokens, ms": "<= 90",
    "bytes of a first visit, MB": "<= 0.65 of it",
    "answers with Plotly in their name": "1",
    "reload to first heatmap, ms": "<= 0.75 of it",
    "process start to first heatmap, ms": "<= 1 of it",
    "6 x 8 heads, 128 tokens: sent at first, MB": "<= 1",
    "6 x 8 heads, 128 tokens: translation to map, ms": "<= 1000",
}


@pytest.fixture
def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app and the benchmarks find the tiny checkpoint."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def timed_app(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the app with the tiny checkpoint and a stopwatch on, and the stopwatch's log."""
    log = tmp_path_factory.mktemp("stopwatch") / "runs.jsonl"
    variables = {"HEADLIGHT_CHECKPOINTS": str(folder.parent), "PYTHONPATH": str(ROOT), timed_server.VARIABLE: str(log)}
    with serve(module="benchmarks.support.timed_server", environment=variables) as url:
        yield url, log


def test_a_visitor_gets_the_maps_and_the_stopwatch_sees_the_same_run(timed_app: tuple[str, Path], folder: Path) -> None:
    url, log = timed_app
    first, second, _ = texts = [text for text, _ in zip(sentences(), range(3))]

    async def come(url: str) -> list[int]:
        async with visit(url) as connection:
            visitor = visitors.Reader(connection)
            await visitor.open("text")
            assert set(visitor.charts) == {"stage"}
            return [await visitor.type(text) for text in (first, second, second)]

    new_charts = asyncio.run(come(url))
    assert new_charts == [1, 1, 0]  # the same sentence again changes nothing
    # What another visitor's page opened with may stand before.
    runs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()][-2:]
    assert [run["text"] for run in runs] == texts[:2]  # and is not translated again
    translator = load_translator(str(folder))
    for run in runs:
        result = translator.translate(run["text"], beam=visitors.BEAM)
        assert run["shape"] == [len(result.target_tokens), len(result.source_tokens)]
        assert 0 < run["translate"] < run["rerun"]


def test_visitors_prints_a_table_of_everybody_with_the_right_sentence(
    environment: None, timed_app: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Four at once, one with long texts and one who changes heads; the benchmark itself compares what each is shown."""
    options = "--visitors 4 --sentences 1 --rounds 2 --think 0 --long 1 --changing 1 --after 0"
    monkeypatch.setattr(visitors, "serve", lambda *_, **__: nullcontext(timed_app[0]))
    # Under the stopwatch Lessons end in an error with the tiny checkpoint, which single visitors do not see.
    pages = {name: path for name, path in visitors.menu.paths().items() if path != "lessons"}
    monkeypatch.setattr(visitors.menu, "paths", lambda: pages)
    monkeypatch.setattr(sys, "argv", ["visitors", *options.split()])
    visitors.main()
    title, *_ = lines = capsys.readouterr().out.splitlines()
    assert title.startswith("4 visitors at once") and "8 sentences" in title
    rows = [matches[0] for line in lines if (matches := re.findall(r"^.*? {2,}(-?\d+\.\d) +(-?\d+\.\d)$", line))]
    assert len(rows) == 7
    waited, alone, _, long_waited, long_alone, changing, changing_alone = [[float(n) for n in row] for row in rows]
    for slower, faster in ((waited, alone), (long_waited, long_alone), (changing, changing_alone)):
        assert 0 < faster[0] < slower[0] <= slower[1]
    start, peak, after, every_page = map(int, re.findall(r"(\d+) MB(?! a visitor)", lines[-2]))
    assert 0 < start <= peak and after > 0 and every_page > 0
    assert lines[-1].startswith("8 of 8 translations are the visitor's own")


@pytest.fixture
def guests(folder: Path) -> list[visitors.Guest]:
    translator = load_translator(str(folder))
    edits = visitors.changes(translator)
    plain = visitors.Guest(visitors.PLAIN, "", ["A young man in a red shirt is walking near the house."])
    changing = visitors.Guest(visitors.CHANGING, f"edits={edits.code}", ["The tall boy with a big hat is walking."])
    for guest, guest_edits in ((plain, Edits()), (changing, edits)):
        text = guest.texts[0]
        guest.translations[text] = ["other words", translator.translate(text, visitors.BEAM, edits=guest_edits).text]
    return [plain, changing]


def test_the_comparison_finds_a_translation_of_somebody_else(guests: list[visitors.Guest], folder: Path) -> None:
    translator = load_translator(str(folder))
    assert set(visitors.check(translator, guests)) == {text for guest in guests for text in guest.texts}
    for guest in guests:
        right = dict(guest.translations)
        guest.translations[guest.texts[0]] = ["other words", "Ein Hund."]
        with pytest.raises(RuntimeError, match="not the translation of"):
            visitors.check(translator, guests)
        guest.translations = right
    first, second = guests
    first.translations[first.texts[0]] += second.translations[second.texts[0]]
    with pytest.raises(RuntimeError, match="shows what somebody else asked for"):
        visitors.check(translator, guests)
    changed = guests[1].translations[guests[1].texts[0]][1]
    assert changed != translator.translate(guests[1].texts[0], visitors.BEAM).text  # heads off do change it


def test_too_many_visitors_end_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    for options, message in (
        ("--visitors 1000 --sentences 1000", "got 1000 * 1000"),
        ("--visitors 3 --long 2 --changing 1", "of 3 visitors at least one must be neither"),
    ):
        monkeypatch.setattr(sys, "argv", ["visitors", *options.split()])
        with pytest.raises(SystemExit) as ended:
            visitors.main()
        assert ended.value.code == 2
        assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def printed(browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[..., str]:
    """Runs a benchmark with the browser of the tests; returns what it prints."""

    def run(module: ModuleType, *options: str) -> str:
        monkeypatch.setattr(module, "chromium", lambda: nullcontext(browser))
        monkeypatch.setattr(sys, "argv", [module.__name__, *options])
        module.main()
        return capsys.readouterr().out

    return run


@not_in_ci
@pytest.mark.long
def test_page_prints_what_is_wanted_beside_each_figure(
    environment: None, printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "LARGE", page.LARGE | {"n_encoder_layers": 2, "n_decoder_layers": 2})
    monkeypatch.setattr(page, "RELOADS", 1)
    monkeypatch.setattr(page.engine, "TOKENS", (15,))
    out = printed(page, *"--starts 1 --rounds 2 --warmup 0 --tokens 12".split())
    app, engine = out.split("\n\nengine, ")
    title, _, heads, *lines = app.splitlines()
    assert title.startswith("2 sentences and clicks, 1 starts") and "other programs used" in title
    assert heads.split() == [head for head in page.HEADS if head]
    cells = [re.split(" {2,}", line.strip()) for line in lines]
    median = {name: float(next(cell for cell in rest if re.fullmatch(r"-?\d+\.\d", cell))) for name, *rest in cells}
    assert all(number > 0 for name, number in median.items() if name not in ("messages sent", FETCHED))
    assert median["whole, ms"] > max(median["translate, ms"], median["new sentence, on top of translating, ms"])
    names, wishes = [name for name, *_ in cells], {name: wish for name, wish, *_ in cells}
    for name, wish in WANTED.items():
        assert wishes[name] == wish
    for way in ("click", "key"):
        name = f"another head by {way}, 12 tokens, ms (against: bare react)"
        assert wishes[name] == "<= 70" and re.fullmatch(r"\d+\.\d\d \(<= 1\.6\)", cells[names.index(name)][-1])
    assert [rest[1] for name, *rest in cells if name == "messages sent"] == ["0.0"]
    beside = re.findall(r"^(\d+) +(\d) +([\d.]+) \(.*\) +([\d.]+) \(.*\) +[\d.]+ \(.*\) +<= 1$", engine, re.M)
    assert [(n_tokens, beam) for n_tokens, beam, *_ in beside] == [("15", "4"), ("15", "1")]
    assert all(float(number) > 0 for *_, ours, theirs in beside for number in (ours, theirs))
    assert re.search(r"^memory: [1-9]\d* MB of the kernel, ", engine, re.M)
    assert re.search(r"^15 +[\d.]+ \(.*\) +[\d.]+ +[\d.]+ \(.*\) +<= 80, 95 % <= 120$", engine, re.M)


@not_in_ci
@pytest.mark.long
def test_pages_prints_when_each_was_there(
    timed_app: tuple[str, Path], printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(pages, "serve", lambda: nullcontext(timed_app[0]))
    monkeypatch.setattr(pages, "STILL", 1)
    out = printed(pages, "--rounds", "1", "--only", "Pitfalls", "Self-check")
    for name in ("Pitfalls", "Self-check"):
        window, whole = re.search(rf"^{name} +(\d+\.\d) .* (\d+\.\d) +\S+ to \S+$", out, re.M).groups()
        assert 0 < float(window) <= float(whole)
    top, words, height = re.search(r"^Pitfalls +(\d+)(?: \*)? +(\d+)(?: \*)? +(\d+) ", out, re.M).groups()
    assert 0 < int(words) < int(top) < int(height)
    assert re.search(r"^Self-check +no picture ", out, re.M)
    with pytest.raises(SystemExit, match="error: there is no page 'Chek'; there are Translate, Compare, Four"):
        printed(pages, "--only", "Chek", "Self-check")
    with pytest.raises(SystemExit):
        printed(pages, "--only", "Self-check")
    assert "name two pages or more" in capsys.readouterr().err
