"""The page as a user meets it: from process start to the first heatmap, and from Enter to the repainted one.

    python -m benchmarks.page [--starts 5] [--rounds 20]

Both run the app with `streamlit run app.py` on a free port and look at it in Chromium, which is open already.

Start: from the start of the process to the large heatmap in the window (drawn, and two animation frames later); a new
process and a fresh browser profile each time.

Enter: a sentence that was never translated before is put into the field; the clock runs inside the page from Enter to
the new heatmap, drawn and two animation frames later. The server has a stopwatch on (tests/support/timed_server.py), so
the parts are those of the very same rerun: translating; building the figures; the rest of the rerun (Streamlit, labels,
encoding); and what is left of the whole, that is the way to the server and back, and drawing. Medians are taken of each
column for itself, so the parts need not add up to the whole.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common import sentences, table
from tests.support import timed_server
from tests.support.browser import FLAGS, MISSING, find_browser
from tests.support.server import ROOT, serve

PATIENCE = 120_000  # milliseconds
PARTS = ("whole", "translate", "build figures", "rest of the rerun", "transfer and paint", "whole less translate")


def watching(keys: Sequence[str]) -> tuple[str, str]:
    """JavaScript that sees charts appear: Streamlit puts a new chart in the place of a changed one.

    Args:
        keys: of the charts, which hold heatmaps.

    Returns:
        Definitions of `drawn`, which says whether all of them are drawn and were not there before (those before have
        `data-seen`), and of `frames`, which calls after two animation frames; and a function that waits for it.
    """
    definitions = f"""
const drawn = () => {list(keys)}.every(key => {{
  const plot = document.querySelector(`.st-key-${{key}} .js-plotly-plot:not([data-seen])`);
  return plot && plot._fullData && plot.querySelector('.heatmaplayer image');
}});
const frames = then => requestAnimationFrame(() => requestAnimationFrame(then));
"""
    first = f"""() => new Promise(done => {{
  {definitions}
  const look = () => drawn() ? frames(done) : requestAnimationFrame(look);
  look();
}})"""
    return definitions, first


FIELD = ".st-key-text input"
_DRAWN, FIRST = watching(["heatmap"])
# Typed and entered inside the page: the clock starts with the key and no message to the browser lies in between. The
# two frames after typing give the field the time to take the text; they are fewer than the wait of the live input.
ENTER = f"""text => new Promise(done => {{
  {_DRAWN}
  for (const plot of document.querySelectorAll('.js-plotly-plot')) plot.dataset.seen = 1;
  const field = document.querySelector('{FIELD}');
  field.focus();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
  field.dispatchEvent(new InputEvent('input', {{bubbles: true}}));
  frames(() => {{
    const start = performance.now();
    const key = {{key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true}};
    for (const kind of ['keydown', 'keypress', 'keyup']) field.dispatchEvent(new KeyboardEvent(kind, key));
    const look = () => {{
      if (!drawn()) return;
      watcher.disconnect();
      const z = document.querySelector('.st-key-heatmap .js-plotly-plot')._fullData[0].z;
      frames(() => done({{seconds: (performance.now() - start) / 1000, shape: [z.length, z[0].length]}}));
    }};
    const watcher = new MutationObserver(look);
    watcher.observe(document.body, {{childList: true, subtree: true, attributes: true}});
  }});
}})"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser, or the end of the program in one line."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        raise SystemExit(f"error: {MISSING}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


def open_page(browser: Any, url: str, first: str = FIRST) -> Any:
    """Open the app in a fresh profile; return the page when it is drawn, which the JavaScript `first` waits for."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.evaluate(first)
    return page


def start_once(browser: Any) -> float:
    """Seconds from the start of the server's process to the first heatmap."""
    start = time.perf_counter()
    with serve(pause=0.02) as url:
        page = open_page(browser, url)
        seconds = time.perf_counter() - start
        page.context.close()
    return seconds


def enter(page: Any, text: str, log: Path) -> tuple[float, ...]:
    """Type a sentence and wait for its heatmap.

    Args:
        page: of the app.
        text: never translated before.
        log: what the stopwatch writes.

    Returns:
        Seconds, in the order of PARTS.

    Raises:
        RuntimeError: if another sentence was translated meanwhile, or the heatmap is of another one.
    """
    n_before = len(log.read_text(encoding="utf-8").splitlines())
    seen = page.evaluate(ENTER, text)
    run = only_run(log, n_before)
    if run["text"] != text or run["shape"] != seen["shape"]:
        raise RuntimeError(f"{text!r} was entered, but {run['text']!r} translated or another map drawn")
    whole, translate, figures = seen["seconds"], run["translate"], run["figures"]
    rest = run["rerun"] - translate - figures
    return whole, translate, figures, rest, whole - run["rerun"], whole - translate


def only_run(log: Path, n_before: int) -> dict[str, Any]:
    """What the stopwatch saw of the one run since its log had so many lines.

    Raises:
        RuntimeError: if there were more runs that translated, or none.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    while len(lines := log.read_text(encoding="utf-8").splitlines()) == n_before and time.monotonic() < deadline:
        time.sleep(0.01)  # the run may end a moment after the picture is there
    if len(lines) != n_before + 1:
        raise RuntimeError(f"the page translated {len(lines) - n_before} times instead of once")
    return json.loads(lines[-1])


@contextmanager
def timed_page(browser: Any, path: str = "", first: str = FIRST) -> Iterator[tuple[Any, Path]]:
    """A page of an app with a stopwatch on, and the stopwatch's log.

    Args:
        browser: that opens it.
        path: of the page.
        first: JavaScript that ends when the page is drawn.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "runs.jsonl"
        log.touch()
        watched = {timed_server.VARIABLE: str(log), "PYTHONPATH": str(ROOT)}
        with serve(module="tests.support.timed_server", environment=watched) as url:
            page = open_page(browser, url + path, first)
            yield page, log
            page.context.close()


def measure_enter(browser: Any, rounds: int, warmup: int) -> list[tuple[float, ...]]:
    """Enter new sentences one after the other; return the parts of each, without the first ones."""
    texts = sentences(seed=4)
    with timed_page(browser) as (page, log):
        page.wait_for_selector(FIELD)  # its code may come after that of the charts
        times = [enter(page, next(texts), log) for _ in range(warmup + rounds)]
    return times[warmup:]


def row(name: str, seconds: Sequence[float], unit: float) -> tuple[str, ...]:
    """Name, median, quartiles and extremes of some times.

    Example:
        >>> row("start", [1.0, 2.0, 3.0, 4.0, 5.0], unit=1)
        ('start', '3.0', '2.0 to 4.0', '1.0 to 5.0')
    """
    several = seconds if len(seconds) > 1 else 2 * tuple(seconds)
    low, middle, high = statistics.quantiles(several, n=4, method="inclusive")
    numbers = [f"{unit * value:.1f}" for value in (middle, low, high, min(seconds), max(seconds))]
    return name, numbers[0], f"{numbers[1]} to {numbers[2]}", f"{numbers[3]} to {numbers[4]}"


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=5, help="timed starts (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="timed sentences (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="untimed sentences first (default: %(default)s)")
    options = parser.parse_args()
    if min(options.starts, options.rounds) < 1 or options.warmup < 0:
        parser.error(f"starts and rounds must be at least 1, got {options.starts} and {options.rounds}")
    return options


def main() -> None:
    """Measure and print the tables."""
    options = arguments()
    with chromium() as browser:
        starts = [start_once(browser) for _ in range(options.starts)]
        runs = measure_enter(browser, options.rounds, options.warmup)
    heads = ("quartiles", "extremes")
    print(f"Process start to the first heatmap, {len(starts)} starts; wall-clock time\n")
    print(table(("", "median, s", *heads), [row("start", starts, 1)]))
    print(f"\nEnter to the repainted heatmap, {len(runs)} new sentences; wall-clock time\n")
    print(table(("", "median, ms", *heads), [row(part, times, 1000) for part, times in zip(PARTS, zip(*runs))]))


if __name__ == "__main__":
    main()
