"""A click on the board of heads: to the new translation and the repainted maps.

    python -m benchmarks.click [--rounds 20]

Runs the app with `streamlit run app.py` on a free port and looks at its page Heads in Chromium. In turns, a click
switches off a head of the cross-attention that was never off before, and a click on the same cell takes that back: the
first needs the model, the second only what is remembered, so that it is the price of the page alone.

The clock runs inside the page, from the mouse button going up to the board, the map after the change and the difference
all being new, drawn and two animation frames later. The server has a stopwatch on (tests/support/timed_server.py), so
the parts of a click that switches off are those of the very same rerun: translating anew; reading the old translation
with the head off; building the figures; the rest of the rerun (Streamlit, labels, encoding); and what is left of the
whole, that is the way to the server and back, and drawing. Medians are taken of each column for itself, so the parts
need not add up to the whole.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.browsing import chromium, only_run, timed_page, watching
from benchmarks.common import row, table
from model import load_translator
from model.interventions.edits import Head, all_heads

BOARD = "board-cross"
PARTS = ("whole", "translate anew", "read the old one", "build figures", "rest of the rerun", "transfer and paint")

_DRAWN, FIRST = watching([BOARD, "head-after", "head-change"])
# Where on the screen the middle of a cell of the board lies.
CELL = f"""([layer, head]) => {{
  const plot = document.querySelector('.st-key-{BOARD} .js-plotly-plot');
  plot.scrollIntoView({{block: 'center'}});
  const {{xaxis, yaxis}} = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(head), box.top + yaxis._offset + yaxis.d2p(layer)];
}}"""
# Made before the click and asked after it: nothing to the browser lies between the click and the picture.
WATCH = f"""() => {{
  {_DRAWN}
  for (const plot of document.querySelectorAll('.js-plotly-plot')) plot.dataset.seen = 1;
  let start = null;
  window.addEventListener('pointerup', () => (start = performance.now()), {{once: true, capture: true}});
  window.clicked = new Promise(done => {{
    const watcher = new MutationObserver(() => {{
      if (start === null || !drawn()) return;
      watcher.disconnect();
      frames(() => done((performance.now() - start) / 1000));
    }});
    watcher.observe(document.body, {{childList: true, subtree: true, attributes: true}});
  }});
}}"""


def click(page: Any, layer: int, head: int) -> float:
    """Click a cell of the board; return the seconds until everything is repainted."""
    at = page.evaluate(CELL, [layer, head])
    page.evaluate(WATCH)
    page.mouse.click(*at)
    return page.evaluate("() => window.clicked")


def switch_off(page: Any, layer: int, head: int, log: Path) -> tuple[float, ...]:
    """Switch a head off that was never off before; return the seconds in the order of PARTS.

    Raises:
        RuntimeError: if the page did not translate once.
    """
    n_before = len(log.read_text(encoding="utf-8").splitlines())
    whole = click(page, layer, head)
    run = only_run(log, n_before)
    translate, read, figures = run["translate"], run["read"], run["figures"]
    return whole, translate, read, figures, run["rerun"] - translate - read - figures, whole - run["rerun"]


def measure(browser: Any, heads: list[Head], warmup: int) -> tuple[list[tuple[float, ...]], list[float]]:
    """Switch each head off and on again; return the parts of each click off and the seconds of each click on."""
    off, back = [], []
    with timed_page(browser, "/heads", FIRST) as (page, log):
        for head in heads:
            off.append(switch_off(page, head.layer, head.head, log))
            back.append(click(page, head.layer, head.head))
    return off[warmup:], back[warmup:]


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="timed clicks of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="untimed clicks first (default: %(default)s)")
    options = parser.parse_args()
    if options.rounds < 1 or options.warmup < 0:
        parser.error(f"rounds must be at least 1 and warmup 0, got {options.rounds} and {options.warmup}")
    return options


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    heads, wanted = all_heads(load_translator().config, "cross"), options.warmup + options.rounds
    if wanted > len(heads):
        asked = f"{options.warmup} + {options.rounds} clicks"
        raise SystemExit(f"error: {asked} need as many heads; there are {len(heads)}")
    with chromium() as browser:
        off, back = measure(browser, heads[:wanted], options.warmup)
    print(f"A click on the board to the repainted page, {len(off)} heads off and on again; wall-clock time\n")
    rows = [row(part, times, 1000) for part, times in zip(PARTS, zip(*off))]
    print(table(("switched off", "median, ms", "quartiles", "extremes"), rows))
    print()
    print(table(("taken back", "median, ms", "quartiles", "extremes"), [row("whole", back, 1000)]))


if __name__ == "__main__":
    main()
