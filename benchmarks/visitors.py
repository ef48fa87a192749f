"""Twenty visitors at once: how long each waits, what that costs in memory, and that nobody sees another's sentence.

    python -m benchmarks.visitors [--against DIR] [--rounds 2] [--visitors 20] [--sentences 5] [--think 1.0] [--long 1]
                                  [--changing 2] [--after 70]

The app is started with `streamlit run app.py`. Each visitor has a websocket of its own and speaks Streamlit's protocol:
opens the page, waits the thinking time (the first time a random part of it, so that they do not march in step), types a
sentence that nobody typed before, and waits until the rerun is over and the new maps have come. The clock runs from
sending the sentence to the end of the rerun; drawing in a browser is not in it (that is benchmarks.page). All visitors
come from one process on the same machine, which takes a little of its time. In each round they come with new sentences.

--against is a second checkout (`git worktree add DIR COMMIT`): its app runs with the same Python, and the visitors of a
round come to both, with the same sentences, first to the one and then to the other; which is first alternates.

Among them, --long visitors ask for nothing but the longest work: a beam of 8 over some 120 tokens. Their waits are a
row of their own. And --changing visitors sit at the page Steer (in older versions: Heads) with heads switched off:
their translations are those of the changed model, everybody else's those of the model as it is. When all have left,
both are compared with `Translator.translate` on the very same sentences, alone, with one thread like the app's: each
page must have shown its own visitor's translation and nobody else's. One in the wrong place ends the benchmark with an
error.

Memory is the resident set of the server's process (Linux only): when one visitor has come and gone, so that all is
loaded, and before the others come; at most while they are there (looked at every quarter of a second); --after seconds
after the last one left, when Streamlit has forgotten them (disconnectedSessionTTL in .streamlit/config.toml); and when
then somebody has opened every page once, so that every checkpoint was in use. It includes what is remembered for all
(maxCacheDataSize there). Pages alone: --visitors 1 --sentences 1 --rounds 1 --long 0 --changing 0 --after 0.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.common import Machine, sentences, table, timed, translator_of
from benchmarks.support import menu
from benchmarks.support.server import ROOT, memory, serve
from benchmarks.support.visitor import Visitor, visit
from model.interventions.edits import Edits, all_heads
from model.running.translator import DEFAULT_CHECKPOINT, Translator

BEAM = 4  # what the page starts with
LONG_BEAM = 8  # the widest that the page offers
LONG_TOKENS = 110  # from here on no further sentence is added to a long text
HEADS = ("", "p50, ms", "p95, ms")
AGAINST = ("against: p50, ms", "p95, ms", "ratio: p50", "p95", "wanted")
ON_TOP = "on top of the translation"
WANTED = "p95 <= 0.5 of it"
NOTHING = "(the model wrote nothing)"
PLAIN, LONG, CHANGING = "plain", "long", "changing"
KINDS = PLAIN, LONG, CHANGING
CHANGED_AT = "steer"  # the page that switches heads off
OF_OLD = "heads"  # the same in versions before the stage


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
    translations: dict[str, list[str]] = field(default_factory=dict)


class Reader(Visitor):
    """A visitor of any version of the app, who finds the stage's sentence and reads the payload of the stage, too."""

    async def _run(self, request: BackMsg) -> list[ForwardMsg]:
        messages = await super()._run(request)
        for delta in (message.delta for message in messages):
            element = delta.new_element
            if element.WhichOneof("type") == "plotly_chart":  # what older versions drew with
                self.charts[element.plotly_chart.id] = element.plotly_chart.spec
            elif element.WhichOneof("type") == "text_input" and element.text_input.id.endswith("-sentence"):
                self._input, self._fragment = element.text_input.id, delta.fragment_id
            elif element.WhichOneof("type") == "bidi_component" and element.bidi_component.id.endswith("-stage"):
                message = self.charts["stage"] = element.bidi_component.bytes
                header = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
                self.texts.append(header["after"]["recording"]["text"] or NOTHING)
        return messages


def invite(translator: Translator, options: argparse.Namespace, texts: Iterator[str]) -> list[Guest]:
    """The visitors of a round with their sentences, no sentence twice."""
    kinds = [LONG] * options.long + [CHANGING] * options.changing
    kinds += [PLAIN] * (options.visitors - len(kinds))
    queries = {PLAIN: "", LONG: f"beam={LONG_BEAM}", CHANGING: f"edits={changes(translator).code}"}
    write = {kind: (lambda: next(texts)) for kind in kinds} | {LONG: lambda: long_text(translator, texts)}
    return [Guest(kind, queries[kind], [write[kind]() for _ in range(options.sentences)]) for kind in kinds]


def changes(translator: Translator) -> Edits:
    """What is switched off: every second head of the cross-attention."""
    return Edits(off=tuple(all_heads(translator.config, "cross")[::2]))


def long_text(translator: Translator, texts: Iterator[str]) -> str:
    """Some sentences in a row, of LONG_TOKENS tokens or a little more."""
    parts = [next(texts)]
    while len(translator.source_ids(" ".join(parts))) < min(LONG_TOKENS, translator.max_source_tokens - 30):
        parts.append(next(texts))
    return " ".join(parts)


async def come(url: str, page: str, guest: Guest, think: float, doors: asyncio.Barrier) -> None:
    """Be one visitor.

    Args:
        url: of the app.
        page: where those are who change heads.
        guest: who comes; what came of it is noted there.
        think: seconds between two sentences.
        doors: where all wait for each other, their pages open.

    Raises:
        RuntimeError: if a rerun failed or brought no new maps.
    """
    async with visit(url) as connection:
        visitor = Reader(connection)
        await visitor.open("text", page if guest.kind == CHANGING else "", guest.query)
        n_maps = 1 if "stage" in visitor.charts else 2
        await doors.wait()
        await asyncio.sleep(think * random.random())
        for text in guest.texts:
            await asyncio.sleep(think)
            start = time.perf_counter()
            n_charts = await visitor.type(text)
            guest.waited[text] = time.perf_counter() - start
            guest.translations[text] = visitor.texts
            if n_charts < n_maps:
                raise RuntimeError(f"{n_charts} new maps came for {text!r}, not {n_maps} or more")


async def come_and_go(url: str) -> None:
    """Be a visitor who opens the page and leaves: by then all is loaded that is loaded once."""
    async with visit(url) as connection:
        await Reader(connection).open("text")


async def open_every_page(url: str) -> None:
    """Be a visitor who looks at one page after the other."""
    async with visit(url) as connection:
        visitor = Visitor(connection)
        for page in menu.paths().values():
            await visitor.look(page)


async def all_come(url: str, page: str, guests: Sequence[Guest], think: float, megabytes: list[float]) -> None:
    """Let all visitors come at once; note the server's memory again and again while they are there."""
    doors = asyncio.Barrier(len(guests))

    async def take_notes() -> None:
        while True:
            megabytes.append(memory(url))
            await asyncio.sleep(0.25)

    notes = asyncio.create_task(take_notes())
    try:
        await asyncio.gather(*(come(url, page, guest, think, doors) for guest in guests))
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
        for text in set(guest.texts) - set(alone):
            alone[text], result = timed(partial(translator.translate, text, beam, edits=edits), False)
            right[text] = result.text or NOTHING
    for guest in guests:
        for text in guest.texts:
            if right[text] not in guest.translations[text]:
                raise RuntimeError(f"not the translation of {text!r}, {guest.kind}: {guest.translations[text]}")
            expected = {right[text], translator.translate(text, BEAM).text if guest.kind == CHANGING else right[text]}
            if found := set(guest.translations[text]) & (set(right.values()) - expected):
                raise RuntimeError(f"the page with {text!r} shows what somebody else asked for: {found}")
    return alone


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


def beside(name: str, ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, ...]:
    """A row, with theirs and the ratios where there are any."""
    cells = row(name, ours)
    if not theirs:
        return cells
    others = row(name, theirs)[1:]
    ratios = (f"{float(own) / float(other):.2f}" for own, other in zip(cells[1:], others))
    return *cells, *others, *ratios, WANTED if name == ON_TOP else ""


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.set_defaults(checkpoint=DEFAULT_CHECKPOINT)  # what the page starts with
    parser.add_argument("--against", type=Path, metavar="DIR", help="a second checkout, of an older commit")
    parser.add_argument("--rounds", type=int, default=2, help="how often they come (default: %(default)s)")
    parser.add_argument("--visitors", type=int, default=20, help="at once (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=5, help="of each visitor (default: %(default)s)")
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two (default: %(default)s)")
    parser.add_argument("--long", type=int, default=1, help="visitors with long texts (default: %(default)s)")
    parser.add_argument("--changing", type=int, default=2, help="visitors who change heads (default: %(default)s)")
    parser.add_argument("--after", type=float, default=70.0, help="seconds until memory is looked at again")
    options = parser.parse_args()
    every = len(list(sentences()))
    if min(options.long, options.changing) < 0 or options.long + options.changing >= options.visitors:
        parser.error(f"of {options.visitors} visitors at least one must be neither long nor changing")
    needed = (options.visitors + 10 * options.long) * options.sentences * options.rounds
    if min(options.sentences, options.rounds) < 1 or needed > every:
        got = f"{options.visitors} * {options.sentences} * {options.rounds}"
        parser.error(f"visitors times sentences times rounds must be from 1 to about {every}, got {got}")
    if options.think < 0 or options.after < 0:
        parser.error(f"times must not be negative, got {options.think} and {options.after}")
    return options


def main() -> None:
    """Measure and print the tables."""
    options = arguments()
    translator, texts, machine = translator_of(options), sentences(seed=3), Machine()
    random.seed(0)
    roots = [ROOT, *([options.against] if options.against else [])]
    pages = [CHANGED_AT if (root / "viz" / "stage").is_dir() else OF_OLD for root in roots]
    guests: list[list[Guest]] = [[] for _ in roots]
    megabytes: list[list[float]] = [[] for _ in roots]
    with ExitStack() as stack:
        urls = [stack.enter_context(serve(root / "app.py", environment={"PYTHONPATH": str(root)})) for root in roots]
        for url, sizes in zip(urls, megabytes):
            asyncio.run(come_and_go(url))
            sizes.append(memory(url))
        for i in range(options.rounds):
            invited = invite(translator, options, texts)
            for side in range(len(roots))[:: -1 if i % 2 else 1]:
                come_now = copy.deepcopy(invited)
                asyncio.run(all_come(urls[side], pages[side], come_now, options.think, megabytes[side]))
                guests[side] += come_now
        time.sleep(options.after)
        after = [memory(url) for url in urls]
        every_page = []
        for url in urls:
            asyncio.run(open_every_page(url))
            every_page.append(memory(url))
        busy = machine.message()
    torch.set_num_threads(1)
    alone = check(translator, sum(guests, []))

    def waits(kind: str, take: Callable[[str, float], float]) -> list[list[float]]:
        """By side (theirs empty without --against), what `take` makes of each sentence and the seconds it took."""
        by_side = ([guest for guest in side if guest.kind == kind] for side in guests)
        times = [[take(*item) for guest in side for item in guest.waited.items()] for side in by_side]
        return [*times, []][:2]

    print(
        f"{options.visitors} visitors at once, {options.think:g} s thinking time, {len(alone)} sentences, "
        f"beam {BEAM}; wall-clock time; {busy}\n"
    )
    rows = []
    names = {PLAIN: "", LONG: f"long texts, beam {LONG_BEAM}: ", CHANGING: "heads off: "}
    for kind in (kind for kind in KINDS if any(guest.kind == kind for guest in guests[0])):
        rows.append(beside(f"{names[kind]}request to finished rerun", *waits(kind, lambda _, seconds: seconds)))
        rows.append(row(f"{names[kind]}the translation alone", waits(kind, lambda text, _: alone[text])[0]))
        if kind == PLAIN:
            rows.append(beside(ON_TOP, *waits(kind, lambda text, seconds: seconds - alone[text])))
    width = max(map(len, rows))
    print(table((HEADS + AGAINST)[:width], [(*cells, *[""] * (width - len(cells))) for cells in rows]))
    print()
    for root, sizes, left, all_pages in zip(roots, megabytes, after, every_page):
        start, peak = sizes[0], max(sizes)
        print(
            f"memory of the server{'' if root == ROOT else f' of {root}'}: {start:.0f} MB at the start, {peak:.0f} MB "
            f"at most, {left:.0f} MB {options.after:g} s after they left, {all_pages:.0f} MB when every page has been "
            f"opened; {(peak - start) / options.visitors:.1f} MB a visitor"
        )
    print(f"{len(alone)} of {len(alone)} translations are the visitor's own; no page shows another visitor's")


if __name__ == "__main__":
    main()
