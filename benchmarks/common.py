"""What the benchmarks share: sentences that no call sees twice, interleaved timing, tables, how busy the machine is."""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from model import load_translator
from model.running.translator import DEFAULT_CHECKPOINT, Translator

Result = TypeVar("Result")

# One from each list makes a sentence of twelve words.
_PARTS = (
    ("A young man", "An old woman", "The little girl", "The tall boy", "Our new teacher", "My best friend"),
    ("in a red shirt", "in a black jacket", "with a brown dog", "with a big hat", "in the white dress"),
    ("is walking", "is sitting", "was standing", "is waiting", "was running", "was sleeping"),
    ("near the house.", "at the station.", "by the river.", "in the street.", "on the beach.", "under a tree."),
)


def sentences(seed: int = 0) -> Iterator[str]:
    """English sentences of twelve words, each another one, in a random order.

    Example:
        >>> [len(sentence.split()) for sentence in itertools.islice(sentences(), 3)]
        [12, 12, 12]
    """
    every = [" ".join(parts) for parts in itertools.product(*_PARTS)]
    random.Random(seed).shuffle(every)
    return iter(every)


def text_of(translator: Translator, n_tokens: int, texts: Iterator[str]) -> str:
    """A new text of n_tokens tokens, the end token counted, or of a few less where the words do not fit."""

    def fits(text: str) -> bool:
        try:
            return len(translator.source_ids(text)) <= n_tokens
        except ValueError:  # more than the model reads
            return False

    text = ""
    for word in [*" ".join(itertools.islice(texts, n_tokens // 8 + 1)).split(), *("." * n_tokens)]:
        longer = f"{text} {word}".strip()
        text = longer if fits(longer) else text
    return text


def arguments(description: str, rounds: int, with_cpu: bool = True) -> argparse.Namespace:
    """Read the options that every benchmark of the model has.

    Args:
        description: what the benchmark measures.
        rounds: timed calls of each side unless --rounds says otherwise.
        with_cpu: whether the clock can be chosen.

    Returns:
        checkpoint, rounds, warmup, threads, cpu.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=rounds, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=4, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    if with_cpu:
        parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    return parser.parse_args()


def translator_of(options: argparse.Namespace) -> Translator:
    """The translator that the options name, or the end of the program in one line."""
    try:
        return load_translator(options.checkpoint)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None


def timed(call: Callable[[], Result], cpu: bool) -> tuple[float, Result]:
    """How many seconds a call takes, by the clock on the wall or in processor time, and what it returns."""
    clock = time.process_time if cpu else time.perf_counter
    start = clock()
    result = call()
    return clock() - start, result


def spread(times: Sequence[float]) -> str:
    """Median and quartiles of some times in milliseconds.

    Example:
        >>> spread([0.001, 0.002, 0.003, 0.004, 0.005])
        '3.0 (2.0 to 4.0)'
    """
    low, middle, high = statistics.quantiles((1000 * t for t in times), n=4, method="inclusive")
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def ratio(slower: Sequence[float], faster: Sequence[float]) -> str:
    """Ratio of the medians, and the quartiles of the ratios of neighbouring calls.

    Example:
        >>> ratio([2.0, 4.0, 6.0], [1.0, 2.0, 2.0])
        '2.00 (2.00 to 2.50)'
    """
    low, _, high = statistics.quantiles((a / b for a, b in zip(slower, faster)), n=4, method="inclusive")
    return f"{statistics.median(slower) / statistics.median(faster):.2f} ({low:.2f} to {high:.2f})"


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


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in (heads, *rows))
    return "\n".join(line.rstrip() for line in lines)


class Machine:
    """How much of this machine others use from now on: programs that this one did not start, and other machines."""

    def __init__(self) -> None:
        self._before = self._now()

    def message(self) -> str:
        """One sentence, to be made while what this program started still runs (Linux; elsewhere that it is unknown)."""
        passed = [now - before for now, before in zip(self._now(), self._before)]
        if not any(passed):
            return "how busy the machine was is not known"
        total, idle, stolen, own_time = passed
        other_time = max(0.0, total - idle - stolen - own_time)
        return (
            f"of the time of {os.cpu_count()} processors other programs used {other_time / total:.0%}, the benchmark "
            f"{own_time / total:.0%}; {stolen / total:.1%} were stolen by other machines"
        )

    @staticmethod
    def _now() -> tuple[float, ...]:
        """Since the start, in ticks: all time, idle, stolen, and that of this process and its descendants."""
        try:
            ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        except OSError:
            return 0, 0, 0, 0
        parents, times = {}, {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = path.read_text().rpartition(")")[2].split()
            except OSError:  # ended meanwhile
                continue
            process = int(path.parent.name)
            parents[process], times[process] = int(words[1]), sum(map(int, words[11:15]))
        processes = {os.getpid()}
        while children := {process for process, parent in parents.items() if parent in processes} - processes:
            processes |= children
        return sum(ticks), ticks[3] + ticks[4], ticks[7], sum(times.get(process, 0) for process in processes)


def conditions(options: argparse.Namespace) -> str:
    """What the numbers were made with and how to read them."""
    clock = "processor time" if options.cpu else "wall-clock time"
    return (
        f"torch {torch.__version__}, float32, {torch.backends.cpu.get_cpu_capability()}; {clock}, medians of "
        f"{options.rounds} calls per side, taken in turns, with quartiles; a new sentence for every pair\n"
    )
