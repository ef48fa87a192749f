"""How long each page takes to open in a warm app.

    python -m benchmarks.pages [--rounds 5]

Runs the app with `streamlit run app.py` on a free port and looks at it in Chromium, in a window of 1400 by 900 pixels.
Before the clock runs, every page is opened once, so that what is shared by all visitors is loaded and what is
remembered is remembered. Then the pages are opened one after the other, as often as asked, by a click on their names
in the menus, and two clocks run inside the browser from the mouse button going up: until the last of the charts that
are in the window without scrolling (or, where there is none there, the whole page) is drawn; and until the whole page
is: its heading, its run over, every chart. Drawn is two animation frames later.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from benchmarks.browsing import PATIENCE, chromium
from benchmarks.common import row, table
from tests.support import menu
from tests.support.server import serve

LAPTOP = {"width": 1400, "height": 900}
# What Streamlit leaves of the page before stays in the window, marked as stale, until the new run is over.
OPENED = """title => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && (title ? [...document.querySelectorAll('h1')].some(heading => heading.innerText.trim() === title)
      : document.querySelector('.hl-stage[data-ready] .main-svg'))
    && !document.querySelector('[data-stale="true"]')
    && [...document.querySelectorAll('.hl-figure')].every(chart => chart.querySelector('.main-svg'));
}"""
# Made before the click and asked after it: nothing to the browser lies between the click and the picture.
WATCH = f"""title => {{
  const opened = {OPENED}, frames = then => requestAnimationFrame(() => requestAnimationFrame(then));
  window.opened = new Promise(done => window.addEventListener('pointerup', () => {{
    const start = performance.now(), seen = new Set(), drawn = new Map();
    const inWindow = ([chart, _]) => chart.isConnected && chart.getBoundingClientRect().top < innerHeight;
    const look = () => {{
      for (const svg of document.querySelectorAll('.hl-figure .main-svg')) {{
        const chart = svg.closest('.hl-figure');
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


def measure(browser: Any, rounds: int, only: Sequence[str] = ()) -> dict[str, list[tuple[float, float]]]:
    """Open every page so often, or only some, each time coming from the one before; return the seconds by name."""
    names = [*menu.groups()]
    if unknown := set(only) - set(names):
        raise SystemExit(f"error: there is no page {min(unknown)!r}; there are {', '.join(names)}")
    with serve() as url:
        page = browser.new_context(viewport=LAPTOP).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.wait_for_function(OPENED, arg="")
        page.wait_for_timeout(1000)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in (only or names)}
        for _ in range(1 + rounds):
            for name in [*times][1:] + [*times][:1]:  # the first one is open
                times[name].append(open_by_name(page, name, "" if name == names[0] else name))
        page.context.close()
    return {name: seconds[1:] for name, seconds in times.items()}


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is opened (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these pages (default: all)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"rounds must be at least 1, got {options.rounds}")
    if len(set(options.only)) == 1:
        parser.error("name two pages or more: each is opened coming from another one")
    return options


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    with chromium() as browser:
        times = measure(browser, options.rounds, options.only)
    print(f"A click on a page's name to the page, {options.rounds} times each, the app being warm; wall-clock time\n")
    rows = []
    for name, seconds in times.items():
        window, whole = (row(name, some, 1000) for some in zip(*seconds))
        rows.append((name, window[1], window[3], whole[1], whole[3]))
    print(table(("page", "its window, median ms", "extremes", "all of it, median ms", "extremes"), rows))


if __name__ == "__main__":
    main()
