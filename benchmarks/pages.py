"""Where the first picture of each page begins, and how long the page takes to open in a warm app.

    python -m benchmarks.pages [--rounds 5] [--only NAME ...] [--training N]

Runs the app with `streamlit run app.py` on a free port and looks at it in Chromium, in a window of 1400 by 900 pixels.
Before the clock runs, every page is opened once, so that what is shared by all visitors is loaded and what is
remembered is remembered. Then the pages are opened one after the other, as often as asked, by a click on their names
in the menus, and two clocks run inside the browser from the mouse button going up: until the last of the charts that
are in the window without scrolling (or, where there is none there, the whole page) is drawn; and until the whole page
is: its heading, its run over, every chart. Drawn is two animation frames later.

With `--training N` each round is repeated while N runs of Train here (1 or 2, the most that a server allows) train in
the app's process, begun and watched by another visitor on the page Warm-up, in a browser of its own on this machine; a
second table has both medians and their ratio.

Then every page is opened by its address in a window of that size and in one of 400 by 860, and it is measured how far
down the first picture begins (a figure or the stage; tables are none), how many words are to be read on the page before
it, and how high the page is. A star marks what is over the limits: 420 pixels, 40 words.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.browsing import PATIENCE, chromium
from benchmarks.common import row, table
from benchmarks.support import menu
from benchmarks.support.server import serve
from viz.pages.training.live import MAX_RUNS

LAPTOP, PHONE = {"width": 1400, "height": 900}, {"width": 400, "height": 860}
# A run that solves nothing: it lasts as long as its steps. With another seed beside it there are two.
TRAINING = "training?section=here&film-task=seen+before&film-layers-seen+before=1"
BESIDE = "&film-change-seen+before=seed"
STILL = 6  # looks, four a second, after which a page no longer changes
STAGES = ("Translate", "Compare", "Language model", "Steer")  # pages without a heading
SHEETS = ("Masks", "Positions", "Warm-up", "Head atlas")  # pages that a browser draws once Streamlit is done
HIGHEST, FEWEST = 420, 40  # pixels above the first picture, and words
# What Streamlit leaves of the page before stays in the window, marked as stale, until the new run is over.
OPENED = """title => {
  const sheets = SHEETS;
  // From one page with the stage to another the same element may stay.
  const another = stage => stage && (stage !== window.left?.[0] || stage.dataset.ready !== window.left[1]);
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && (title ? [...document.querySelectorAll('h1')].some(heading => heading.innerText.trim() === title)
      : !document.querySelector('h1') && another(document.querySelector('.hl-stage[data-ready]:has(.main-svg)')))
    && !document.querySelector('[data-stale="true"]')
    && (!sheets.includes(title) || document.querySelector('.hl-sheet[data-ready]'))
    && [...document.querySelectorAll('.hl-figure')].every(chart => chart.querySelector('.main-svg, .hl-head-board'));
}""".replace("SHEETS", str(list(SHEETS)))
# Made before the click and asked after it: nothing to the browser lies between the click and the picture.
WATCH = f"""title => {{
  const stage = document.querySelector('.hl-stage');
  window.left = [stage, stage?.dataset.ready];
  const opened = {OPENED}, frames = then => requestAnimationFrame(() => requestAnimationFrame(then));
  window.opened = new Promise(done => window.addEventListener('pointerup', () => {{
    const start = performance.now(), seen = new Set(), drawn = new Map();
    const inWindow = ([chart, _]) => chart.isConnected && chart.getBoundingClientRect().top < innerHeight;
    const look = () => {{
      const charts = '.hl-figure :is(.main-svg, .hl-head-board), .hl-sheet[data-ready]';
      for (const part of document.querySelectorAll(charts)) {{
        const chart = part.closest('.hl-figure, .hl-sheet');
        if (!seen.has(chart)) frames(now => drawn.set(chart, now - start));
        seen.add(chart);
      }}
      if (!opened(title) || drawn.size < seen.size) return requestAnimationFrame(look);
      frames(now => {{
        const times = [...drawn].filter(inWindow).map(([_, when]) => when);
        done([(times.length ? Math.max(...times) : now - start) / 1000, (now - start) / 1000]);
      }});
    }};
    requestAnimationFrame(look);
  }}, {{once: true, capture: true}}));
}}"""

# Words are those of the page's own part, without the menus above it; those for screen readers only are none.
FIRST_PICTURE = """() => {
  const page = document.querySelector('[data-testid=stMainBlockContainer]');
  const shown = node => node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().height > 4;
  const pictures = '.hl-figure, .hl-stage, .hl-sheet-board, .hl-sheet-map, .hl-sheet-plot, .hl-sheet-shares';
  const topOf = node => node.getBoundingClientRect().top;
  const [picture] = [...page.querySelectorAll(pictures)].filter(shown).sort((a, b) => topOf(a) - topOf(b));
  const scrolled = document.querySelector('[data-testid=stMain]').scrollTop;
  const top = picture ? topOf(picture) + scrolled : null;
  const texts = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  let words = 0;
  for (let text; (text = texts.nextNode());) {
    if (picture && !(picture.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING)) continue;
    if (text.parentElement.closest('style, script') || !shown(text.parentElement)) continue;
    words += text.data.split(/\\s+/).filter(Boolean).length;
  }
  return [top, words, page.getBoundingClientRect().height];
}"""


def title_of(name: str) -> str:
    """The heading of a page; "" for one with the stage."""
    return "" if name in STAGES else name


def first_picture(page: Any, url: str, size: dict[str, int], only: Sequence[str] = ()) -> dict[str, list]:
    """Top of the first picture in pixels (None without one), words before it and height, of every page by its name."""
    page.set_viewport_size(size)
    pictures = {}
    for name, path in menu.paths().items():
        if only and name not in only:
            continue
        page.goto(f"{url}/{path}")
        still, last = 0, None
        while still < STILL:  # between connecting and drawing nothing runs
            page.wait_for_timeout(250)
            page.wait_for_function(OPENED, arg=title_of(name))
            pictures[name] = page.evaluate(FIRST_PICTURE)
            still, last = still + 1 if pictures[name] == last else 0, pictures[name]
    return pictures


def open_by_name(page: Any, name: str, title: str) -> tuple[float, float]:
    """Click a name in the menus; return the seconds until its window and until its whole page is drawn.

    Args:
        page: of the app.
        name: in the menus.
        title: the page's heading; "" for the one with the stage.
    """
    item = menu.unfold(page, name)
    page.evaluate(WATCH, title)
    item.click()
    return page.evaluate("() => window.opened")


Seconds = dict[str, list[tuple[float, float]]]  # by page: until its window and until all of it is drawn, by round


class Training:
    """Runs of Train here in the app, which the page of another visitor begins, watches and ends."""

    def __init__(self, page: Any, url: str, runs: int) -> None:
        self._page = page
        self._address = f"{url}/{TRAINING}{BESIDE if runs > 1 else ''}"

    def start(self) -> None:
        """Open the page and begin the runs."""
        self._page.goto(self._address)
        self.go_on()

    def go_on(self) -> None:
        """Begin the runs again if they have ended; returns when they train."""
        if not self.is_under_way():
            self._page.locator(".st-key-film-train button:enabled").click()
            self._page.locator(".st-key-film-stop button:enabled").wait_for()

    def is_under_way(self) -> bool:
        """Whether the runs train."""
        return self._page.locator(".st-key-film-stop button:enabled").count() > 0

    def stop(self) -> None:
        """End the runs."""
        self._page.locator(".st-key-film-stop button").click()
        self._page.locator(".st-key-film-train button:enabled").wait_for()


def measure(
    page: Any, url: str, rounds: int, only: Sequence[str] = (), training: Training | None = None
) -> list[Seconds]:
    """Open every page so often, or only some, each time coming from the one before.

    Returns the seconds, and with a training beside them those of the same rounds while it is under way.
    """
    page.set_viewport_size(LAPTOP)
    page.goto(url)
    page.wait_for_function(OPENED, arg="")
    page.wait_for_timeout(1000)
    names = list(only or menu.groups())
    times: list[Seconds] = [{name: [] for name in names} for _ in range(2 if training else 1)]
    for _ in range(1 + rounds):
        for number, seconds in enumerate(times):
            if number and training:
                training.start()
            for name in [*names[1:], names[0]]:  # the first one is open
                if number and training:
                    training.go_on()
                seconds[name].append(open_by_name(page, name, title_of(name)))
            if number and training:
                training.stop()
    return [{name: values[1:] for name, values in seconds.items()} for seconds in times]


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is opened (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these pages (default: all)")
    parser.add_argument(
        "--training", type=int, default=0, metavar="N", help="also while so many runs train, 1 or 2 (default: none)"
    )
    options = parser.parse_args()
    if options.training not in (0, 1, MAX_RUNS):
        parser.error(f"training must be from 0 to {MAX_RUNS}, got {options.training}")
    if options.rounds < 1:
        parser.error(f"rounds must be at least 1, got {options.rounds}")
    if len(set(options.only)) == 1:
        parser.error("name two pages or more: each is opened coming from another one")
    return options


def main() -> None:
    """Measure and print the tables."""
    options = arguments()
    if unknown := set(options.only) - set(menu.groups()):
        raise SystemExit(f"error: there is no page {min(unknown)!r}; there are {', '.join(menu.groups())}")
    with chromium() as browser, serve() as url:
        page = browser.new_context(viewport=LAPTOP).new_page()
        page.set_default_timeout(PATIENCE)
        training = watched_training(browser, url, options.training)
        times, *beside = measure(page, url, options.rounds, options.only, training)
        sizes = {size["width"]: first_picture(page, url, size, options.only) for size in (LAPTOP, PHONE)}
        page.context.close()
    print(f"A click on a page's name to the page, {options.rounds} times each, the app being warm; wall-clock time\n")
    rows = []
    for name, seconds in times.items():
        window, page_times = (row(name, values, 1000) for values in zip(*seconds))
        rows.append((name, window[1], window[3], page_times[1], page_times[3]))
    print(table(("page", "its window, median ms", "extremes", "all of it, median ms", "extremes"), rows))
    for trained in beside:
        print_ratios(times, trained, options.training)
    print("\nWhere the first picture begins (pixels), words before it, and the page's height (pixels)\n")
    heads = [f"{what}, {width} wide" for width in sizes for what in ("top", "words", "height")]
    print(
        table(
            ("page", *heads),
            [(name, *(cell for size in sizes.values() for cell in cells_of(*size[name]))) for name in times],
        )
    )


def watched_training(browser: Any, url: str, runs: int) -> Training | None:
    """So many runs, which another visitor is about to begin; None of none."""
    if not runs:
        return None
    page = browser.new_context(viewport=LAPTOP).new_page()
    page.set_default_timeout(PATIENCE)
    return Training(page, url, runs)


def print_ratios(alone: Seconds, trained: Seconds, runs: int) -> None:
    """The medians of whole pages without and with runs that train, page by page and over all pages."""
    medians = [
        {name: 1000 * median(each for _, each in values) for name, values in s.items()} for s in (alone, trained)
    ]
    print(f"\nAll of a page, median ms, without and with {runs} runs that train\n")
    rows = [
        (name, f"{a:.0f}", f"{medians[1][name]:.0f}", f"{medians[1][name] / a:.2f}") for name, a in medians[0].items()
    ]
    a, b = (median(each.values()) for each in medians)
    print(
        table(("page", "without", "with", "ratio"), [*rows, ("median of all", f"{a:.0f}", f"{b:.0f}", f"{b / a:.2f}")])
    )


def cells_of(top: float | None, words: int, height: float) -> tuple[str, str, str]:
    """What was measured of a page, with a star where it is over a limit."""
    begins = "no picture" if top is None else f"{top:.0f}{' *' * (top > HIGHEST)}"
    return begins, f"{words}{' *' * (words > FEWEST)}", f"{height:.0f}"


if __name__ == "__main__":
    main()
