"""The app in a browser, for the benchmarks: served from a checkout, opened in Chromium, and watched while it draws."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.support import timed_server
from benchmarks.support.browser import FLAGS, MISSING, find_browser
from benchmarks.support.server import ROOT, serve

PATIENCE = 120_000  # milliseconds
WINDOW = {"width": 1280, "height": 900}
# What waits too long for a picture ends with an error.
FRAMES = f"""
const frames = then => requestAnimationFrame(() => requestAnimationFrame(then));
const late = failed => setTimeout(() => failed(new Error('the map was not drawn')), {PATIENCE});
"""

# The page Translate as it is and as it was (818b508): where the sentence and the large map are, and the sign of a map,
# which is another one as soon as a new translation is drawn. The stage counts; Streamlit puts a new chart in the place
# of a changed one.
FIELDS = ".st-key-sentence input, .st-key-text input"
MAP = "[data-testid=stage-map] .js-plotly-plot"
_VERSIONS = f"""
{FRAMES}
const drawn = selector => {{
  const plot = document.querySelector(selector);
  return plot?._fullData && plot.querySelector('.heatmaplayer image') ? plot : null;
}};
const versions = [
  {{map: '{MAP}', sign: () => document.querySelector('.hl-stage').dataset.ready}},
  {{map: '.st-key-heatmap .js-plotly-plot', sign: () => drawn('.st-key-heatmap .js-plotly-plot')}},
];
const version = () => versions.find(({{map}}) => drawn(map));
const sign = () => version()?.sign();
"""
# Gives the seconds since the browser was asked for the page.
FIRST = f"""() => new Promise((done, failed) => {{
  {_VERSIONS}
  late(failed);
  const look = () => sign() ? frames(() => done(performance.now() / 1000)) : requestAnimationFrame(look);
  look();
}})"""
# Typed and entered inside the page: the clock starts with the key and no message to the browser lies in between. The
# two frames after typing give the field the time to take the text; they are fewer than the wait of the live input.
ENTER = f"""text => new Promise((done, failed) => {{
  {_VERSIONS}
  late(failed);
  const before = sign(), field = document.querySelector('{FIELDS}');
  field.focus();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
  field.dispatchEvent(new InputEvent('input', {{bubbles: true}}));
  frames(() => {{
    const start = performance.now();
    const key = {{key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true}};
    for (const kind of ['keydown', 'keypress', 'keyup']) field.dispatchEvent(new KeyboardEvent(kind, key));
    const look = () => {{
      const now = sign();
      if (!now || now === before) return;
      watcher.disconnect();
      const z = document.querySelector(version().map)._fullData[0].z;
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


def new_page(browser: Any) -> Any:
    """An empty page in a fresh profile."""
    page = browser.new_context(viewport=WINDOW).new_page()
    page.set_default_timeout(PATIENCE)
    return page


class Wire:
    """What goes over the network of a page from now on.

    Attributes:
        sent: messages to the server over the websocket.
        messages: bytes that came over the websocket.
        fetched: bytes of all other answers, as they travelled.
        addresses: of the answers that travelled.
    """

    def __init__(self, page: Any) -> None:
        self.sent = self.messages = self.fetched = 0
        self.addresses: list[str] = []
        self._asked: dict[str, str] = {}
        self._page = page
        session = page.context.new_cdp_session(page)
        session.on("Network.webSocketFrameSent", self._send)
        session.on("Network.webSocketFrameReceived", self._receive)
        session.on("Network.requestWillBeSent", lambda event: self._ask(event["requestId"], event["request"]["url"]))
        session.on("Network.loadingFinished", self._finish)
        session.send("Network.enable")

    def settled(self, milliseconds: int = 400) -> Wire:
        """Itself, when what is on its way has come; by itself that is longer than the live input waits for keys."""
        self._page.wait_for_timeout(milliseconds)
        return self

    def _send(self, event: dict) -> None:
        self.sent += 1

    def _receive(self, event: dict) -> None:
        frame = event["response"]
        is_text = frame["opcode"] == 1  # others are given in base64
        self.messages += len(frame["payloadData"].encode()) if is_text else len(frame["payloadData"]) * 3 // 4

    def _ask(self, request: str, url: str) -> None:
        self._asked[request] = url

    def _finish(self, event: dict) -> None:
        if event["encodedDataLength"] > 0:  # otherwise it was in the browser's memory
            self.fetched += int(event["encodedDataLength"])
            self.addresses.append(self._asked.get(event["requestId"], ""))


def open_page(browser: Any, url: str, first: str = FIRST) -> Any:
    """Open the app in a fresh profile; return the page when it is drawn, which the JavaScript `first` waits for."""
    page = new_page(browser)
    page.goto(url)
    page.evaluate(first)
    return page


@contextmanager
def timed_page(
    browser: Any, path: str = "", first: str = FIRST, root: Path = ROOT, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[Any, Path]]:
    """A page of an app with a stopwatch on, and the stopwatch's log.

    Args:
        browser: that opens it.
        path: of the page.
        first: JavaScript that ends when the page is drawn.
        root: the checkout whose app it is.
        environment: variables of the server.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "runs.jsonl"
        log.touch()
        watched = {timed_server.VARIABLE: str(log), "PYTHONPATH": str(root), **(environment or {})}
        where = next(room for room in ("benchmarks", "tests") if (root / room / "support/timed_server.py").exists())
        with serve(root / "app.py", module=f"{where}.support.timed_server", environment=watched) as url:
            page = open_page(browser, url + path, first)
            yield page, log
            page.context.close()


def only_run(log: Path, n_before: int) -> dict[str, Any]:
    """What the stopwatch saw of the one run since its log had n_before lines.

    Raises:
        RuntimeError: if there were more runs that translated, or none.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    while len(lines := log.read_text(encoding="utf-8").splitlines()) == n_before and time.monotonic() < deadline:
        time.sleep(0.01)  # the run may end a moment after the picture is there
    if len(lines) != n_before + 1:
        raise RuntimeError(f"the page translated {len(lines) - n_before} times instead of once")
    return json.loads(lines[-1])
