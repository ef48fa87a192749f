"""Twenty visitors at once: how long each waits for a new sentence, over the translation itself.

    python -m benchmarks.visitors [--visitors 20] [--sentences 5] [--think 1.0]

The app is started with `streamlit run app.py`. Each visitor has a websocket of its own and speaks Streamlit's protocol:
opens the page, waits the thinking time (the first time a random part of it, so that they do not march in step), types a
sentence that nobody typed before, and waits until the rerun is over and both maps have come. The clock runs from
sending the sentence to the end of the rerun; drawing in a browser is not in it (that is benchmarks.page). All visitors
come from one process on the same machine, which takes a little of its time.

The translation alone is `Translator.translate` on the very same sentences, one after the other, with one thread like
the app's, when the visitors have left. "On top" is each visitor's wait less the translation of that sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Iterator, Sequence

import torch

from benchmarks.common import sentences, table, timed, translator_of
from model.translator import DEFAULT_CHECKPOINT
from tests.support.server import serve
from tests.support.visitor import Visitor, visit

BEAM = 4  # what the page starts with
HEADS = ("", "p50, ms", "p95, ms")


async def come(url: str, texts: Iterator[str], options: argparse.Namespace, doors: asyncio.Barrier) -> dict[str, float]:
    """Be one visitor.

    Args:
        url: of the app.
        texts: sentences, shared with the other visitors.
        options: sentences and think are used.
        doors: where all wait for each other, their pages open.

    Returns:
        Seconds waited, by sentence.

    Raises:
        RuntimeError: if a rerun failed or brought no new maps.
    """
    waited = {}
    async with visit(url) as connection:
        visitor = Visitor(connection)
        await visitor.open("text")
        await doors.wait()
        await asyncio.sleep(options.think * random.random())
        for _ in range(options.sentences):
            await asyncio.sleep(options.think)
            text = next(texts)
            start = time.perf_counter()
            n_charts = await visitor.type(text)
            waited[text] = time.perf_counter() - start
            if n_charts < 2:
                raise RuntimeError(f"{n_charts} new maps came for {text!r}, not 2")
    return waited


async def all_come(url: str, texts: Iterator[str], options: argparse.Namespace) -> dict[str, float]:
    """Let all visitors come at once; return the seconds waited, by sentence."""
    doors = asyncio.Barrier(options.visitors)
    every = await asyncio.gather(*(come(url, texts, options, doors) for _ in range(options.visitors)))
    return {text: seconds for waited in every for text, seconds in waited.items()}


def row(name: str, seconds: Sequence[float]) -> tuple[str, str, str]:
    """The cells of the table for some times.

    Example:
        >>> row("all", [0.001 * n for n in range(1, 101)])
        ('all', '50.5', '95.0')
    """
    twentieths = statistics.quantiles((1000 * s for s in seconds), n=20, method="inclusive")
    return name, f"{twentieths[9]:.1f}", f"{twentieths[18]:.1f}"


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.set_defaults(checkpoint=DEFAULT_CHECKPOINT)  # what the page starts with
    parser.add_argument("--visitors", type=int, default=20, help="at once (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=5, help="of each visitor (default: %(default)s)")
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two (default: %(default)s)")
    options = parser.parse_args()
    every = len(list(sentences()))
    if options.visitors < 1 or options.sentences < 1 or options.visitors * options.sentences > every:
        got = f"{options.visitors} * {options.sentences}"
        parser.error(f"visitors times sentences must be from 1 to {every}, got {got}")
    if options.think < 0:
        parser.error(f"the thinking time must not be negative, got {options.think}")
    return options


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    translator = translator_of(options)
    random.seed(0)
    with serve() as url:
        waited = asyncio.run(all_come(url, sentences(seed=3), options))
    torch.set_num_threads(1)
    alone = {text: timed(lambda text=text: translator.translate(text, beam=BEAM), False)[0] for text in waited}
    print(
        f"{options.visitors} visitors at once, {options.think:g} s thinking time, {len(waited)} sentences, "
        f"beam {BEAM}; wall-clock time\n"
    )
    rows = [
        row("request to finished rerun", list(waited.values())),
        row("the translation alone", list(alone.values())),
        row("on top of the translation", [waited[text] - alone[text] for text in waited]),
    ]
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
