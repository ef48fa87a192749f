"""Thirty visitors at once: how long each waits, what that costs in memory, and that nobody sees another's sentence.

    python -m benchmarks.visitors [--visitors 30] [--sentences 5] [--think 1.0] [--long 1] [--changing 2] [--after 70]

The app is started with `streamlit run app.py`. Each visitor has a websocket of its own and speaks Streamlit's protocol:
opens the page, waits the thinking time (the first time a random part of it, so that they do not march in step), types a
sentence that nobody typed before, and waits until the rerun is over and the new maps have come. The clock runs from
sending the sentence to the end of the rerun; drawing in a browser is not in it (that is benchmarks.page). All visitors
come from one process on the same machine, which takes a little of its time.

Among them, --long visitors ask for nothing but the longest work: a beam of 8 over some 120 tokens. Their waits are a
row of their own. And --changing visitors sit at the page Heads with heads switched off: their translations are those of
the changed model, everybody else's those of the model as it is. When all have left, both are compared with
`Translator.translate` on the very same sentences, alone, with one thread like the app's: each page must have shown its
own visitor's translation and nobody else's. One in the wrong place ends the benchmark with an error.

Memory is the resident set of the server's process (Linux only): when one visitor has come and gone, so that all is
loaded, and before the others come; at most while they are there (looked at every quarter of a second); and --after
seconds after the last one left, when Streamlit has forgotten them (disconnectedSessionTTL in .streamlit/config.toml).
It includes what is remembered for all: 64 translations.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch

from benchmarks.common import sentences, table, timed, translator_of
from model.interventions.edits import Edits, all_heads
from model.translator import DEFAULT_CHECKPOINT, Translator
from tests.support.server import serve
from tests.support.visitor import Visitor, visit

BEAM = 4  # what the page starts with
LONG_BEAM = 8  # the widest that the page offers
LONG_TOKENS = 110  # from here on no further sentence is added to a long text
HEADS = ("", "p50, ms", "p95, ms")
PLAIN, LONG, CHANGING = "plain", "long", "changing"
PAGES = {PLAIN: "", LONG: "", CHANGING: "heads"}


@dataclass
class Guest:
    """A visitor to be: what is typed, and what came of it.

    Attributes:
        kind: PLAIN, LONG or CHANGING.
        query: of the address that is opened.
        texts: what is typed, one after the other.
        waited: seconds, by text.
        shown: the plain texts of the page, by text.
    """

    kind: str
    query: str
    texts: list[str]
    waited: dict[str, float] = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)


def invite(translator: Translator, options: argparse.Namespace) -> list[Guest]:
    """The visitors with their sentences, no sentence twice."""
    texts = sentences(seed=3)
    kinds = [LONG] * options.long + [CHANGING] * options.changing
    kinds += [PLAIN] * (options.visitors - len(kinds))
    queries = {PLAIN: "", LONG: f"beam={LONG_BEAM}", CHANGING: f"edits={changes(translator).code}"}
    write = {kind: (lambda: next(texts)) for kind in kinds} | {LONG: lambda: long_text(translator, texts)}
    return [Guest(kind, queries[kind], [write[kind]() for _ in range(options.sentences)]) for kind in kinds]


def changes(translator: Translator) -> Edits:
    """What is switched off at the page Heads: every second head of the cross-attention."""
    return Edits(off=tuple(all_heads(translator.config, "cross")[::2]))


def long_text(translator: Translator, texts: Iterator[str]) -> str:
    """Some sentences in a row, of LONG_TOKENS tokens or a little more."""
    parts = [next(texts)]
    while len(translator.source_ids(" ".join(parts))) < min(LONG_TOKENS, translator.max_source_tokens - 30):
        parts.append(next(texts))
    return " ".join(parts)


async def come(url: str, guest: Guest, think: float, doors: asyncio.Barrier) -> None:
    """Be one visitor.

    Args:
        url: of the app.
        guest: who comes; what came of it is noted there.
        think: seconds between two sentences.
        doors: where all wait for each other, their pages open.

    Raises:
        RuntimeError: if a rerun failed or brought no new maps.
    """
    async with visit(url) as connection:
        visitor = Visitor(connection)
        await visitor.open("text", PAGES[guest.kind], guest.query)
        await doors.wait()
        await asyncio.sleep(think * random.random())
        for text in guest.texts:
            await asyncio.sleep(think)
            start = time.perf_counter()
            n_charts = await visitor.type(text)
            guest.waited[text] = time.perf_counter() - start
            guest.shown[text] = visitor.texts
            if n_charts < 2:
                raise RuntimeError(f"{n_charts} new maps came for {text!r}, not 2 or more")


async def come_and_go(url: str) -> None:
    """Be a visitor who opens the page and leaves: by then all is loaded that is loaded once."""
    async with visit(url) as connection:
        await Visitor(connection).open("text")


async def all_come(url: str, guests: Sequence[Guest], think: float, note: Callable[[], None]) -> None:
    """Let all visitors come at once; call `note` again and again while they are there."""
    doors = asyncio.Barrier(len(guests))

    async def take_notes() -> None:
        while True:
            note()
            await asyncio.sleep(0.25)

    notes = asyncio.create_task(take_notes())
    try:
        await asyncio.gather(*(come(url, guest, think, doors) for guest in guests))
    finally:
        notes.cancel()


def check(translator: Translator, guests: Sequence[Guest]) -> dict[str, float]:
    """Translate all sentences once more, alone, and compare with what the pages showed.

    Returns:
        Seconds, by sentence.

    Raises:
        RuntimeError: if a page did not show its visitor's translation, or showed another visitor's.
    """
    alone, right = {}, {}
    for guest in guests:
        edits = changes(translator) if guest.kind == CHANGING else Edits()
        beam = LONG_BEAM if guest.kind == LONG else BEAM
        for text in guest.texts:
            alone[text], result = timed(partial(translator.translate, text, beam, edits=edits), False)
            right[text] = result.text or "(the model wrote nothing)"
    for guest in guests:
        for text in guest.texts:
            if right[text] not in guest.shown[text]:
                raise RuntimeError(f"not the translation of {text!r}, {guest.kind}: {guest.shown[text]}")
            own = {right[text], translator.translate(text, BEAM).text if guest.kind == CHANGING else right[text]}
            if found := set(guest.shown[text]) & (set(right.values()) - own):
                raise RuntimeError(f"the page with {text!r} shows what somebody else asked for: {found}")
    return alone


def memory(url: str) -> float:
    """The resident set of the process that serves an address, in MB."""
    port = url.rpartition(":")[2].encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"--server.port" in words and words[words.index(b"--server.port") + 1] == port:
                line = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmRSS"))
                return int(line.split()[1]) / 1000
        except (OSError, StopIteration):  # a process that ended meanwhile
            continue
    raise SystemExit(f"error: no process under /proc serves {url}: memory can be measured on Linux only")


def row(name: str, seconds: Sequence[float]) -> tuple[str, str, str]:
    """The cells of the table for some times.

    Example:
        >>> row("all", [0.001 * n for n in range(1, 101)])
        ('all', '50.5', '95.0')
    """
    if len(seconds) < 2:
        return name, *(f"{1000 * s:.1f}" for s in [*seconds, *seconds][:2])
    twentieths = statistics.quantiles((1000 * s for s in seconds), n=20, method="inclusive")
    return name, f"{twentieths[9]:.1f}", f"{twentieths[18]:.1f}"


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.set_defaults(checkpoint=DEFAULT_CHECKPOINT)  # what the page starts with
    parser.add_argument("--visitors", type=int, default=30, help="at once (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=5, help="of each visitor (default: %(default)s)")
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two (default: %(default)s)")
    parser.add_argument("--long", type=int, default=1, help="visitors with long texts (default: %(default)s)")
    parser.add_argument("--changing", type=int, default=2, help="visitors who change heads (default: %(default)s)")
    parser.add_argument("--after", type=float, default=70.0, help="seconds until memory is looked at again")
    options = parser.parse_args()
    every = len(list(sentences()))
    if min(options.long, options.changing) < 0 or options.long + options.changing >= options.visitors:
        parser.error(f"of {options.visitors} visitors at least one must be neither long nor changing")
    needed = (options.visitors + 10 * options.long) * options.sentences
    if options.sentences < 1 or needed > every:
        got = f"{options.visitors} * {options.sentences}"
        parser.error(f"visitors times sentences must be from 1 to about {every}, got {got}")
    if options.think < 0 or options.after < 0:
        parser.error(f"times must not be negative, got {options.think} and {options.after}")
    return options


def main() -> None:
    """Measure and print the tables."""
    options = arguments()
    translator = translator_of(options)
    random.seed(0)
    guests = invite(translator, options)
    with serve() as url:
        asyncio.run(come_and_go(url))
        start, seen = memory(url), []
        asyncio.run(all_come(url, guests, options.think, lambda: seen.append(memory(url))))
        time.sleep(options.after)
        after = memory(url)
    torch.set_num_threads(1)
    alone = check(translator, guests)
    waited = {guest_kind: {} for guest_kind in PAGES}
    for guest in guests:
        waited[guest.kind] |= guest.waited
    print(
        f"{options.visitors} visitors at once, {options.think:g} s thinking time, {len(alone)} sentences, "
        f"beam {BEAM}; wall-clock time\n"
    )
    plain = waited[PLAIN]
    rows = [
        row("request to finished rerun", list(plain.values())),
        row("the translation alone", [alone[text] for text in plain]),
        row("on top of the translation", [plain[text] - alone[text] for text in plain]),
    ]
    for kind, name in ((LONG, f"long texts, beam {LONG_BEAM}"), (CHANGING, "page Heads, heads off")):
        if waited[kind]:
            rows.append(row(f"{name}: request to finished rerun", list(waited[kind].values())))
            rows.append(row(f"{name}: the translation alone", [alone[text] for text in waited[kind]]))
    print(table(HEADS, rows))
    peak = max(seen)
    print(
        f"\nmemory of the server: {start:.0f} MB at the start, {peak:.0f} MB at most, {after:.0f} MB "
        f"{options.after:g} s after they left; {(peak - start) / options.visitors:.1f} MB a visitor\n"
        f"{len(alone)} of {len(alone)} translations are the visitor's own; no page shows another visitor's"
    )


if __name__ == "__main__":
    main()
