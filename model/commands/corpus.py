"""What `atlas --corpus` does: an index of what every head does over thousands of texts."""

import itertools
import shlex
import signal
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from model.commands import any_model
from model.measures import reports
from model.measures.corpus import edges, index
from model.measures.evaluate import pairs_in
from model.running.translator import Translator, load_translator
from model.training.data.corpora import read_lines

MOST_HEADS = 5  # that are printed


def make_index(args: Namespace) -> None:
    """Read the texts, print what the rules explain, and write the index; after Ctrl-C keep what is counted so far."""
    if args.links or args.bleu_sentences:
        raise ValueError("--links and --bleu-sentences are not for an index: leave out --corpus")
    if args.seed < 0:
        raise ValueError(f"--seed must be at least 0, got {args.seed}")
    if args.model and not args.out:
        raise ValueError("--corpus with --model needs --out FILE.json")
    model = any_model.load(args) if args.model else load_translator(args.checkpoint)
    texts, counts = choose_texts([partial(texts_in, model, path) for path in args.data], args.sentences)
    out = args.out or model.folder / index.FILE
    out.parent.mkdir(parents=True, exist_ok=True)  # says now if it cannot be written
    state = out.with_name(out.name + index.BEGUN)
    with signals() as received, progress_bar() as progress:
        corpus_index = index.CorpusIndex(model, texts, args.seed)
        corpus_index.read_all(state=state, resume=args.resume, is_stopped=lambda: bool(received), progress=progress)
    report = corpus_index.report()
    if state.exists():
        print(f"{state}: {report['texts_read']} texts are counted; --resume goes on")
        raise KeyboardInterrupt
    print(*summary(report), sep="\n")
    seconds = float(f"{corpus_index.seconds:.3g}")
    texts_of = dict(zip((path.name for path in args.data), counts))
    reports.write(out, about(args) | {"seconds": seconds, "texts_of": texts_of} | report)
    edges_file = edges.beside(out)
    edges.write(edges_file, corpus_index.edges())
    print(out, edges_file, sep="\n")


def texts_in(model: Any, path: Path) -> Iterator[Any]:
    """The pairs of a file for a translator, for other models its lines that are not empty, one after another."""
    if isinstance(model, Translator):
        return pairs_in(path)
    return (line for line in read_lines(path) if line.strip())


def choose_texts(files: Sequence[Callable[[], Iterator[Any]]], count: int) -> tuple[Iterator[Any], list[int]]:
    """`count` texts: all of the first files, and of the last that is needed as many as are missing, spread over it.

    Each file is read twice, first to count its texts, so that memory does not depend on their number. Also returns how
    many each file gives.

    Example:
        >>> texts, counts = choose_texts([lambda: iter("ab"), lambda: iter("cdef"), lambda: iter("gh")], 4)
        >>> list(texts), counts
        (['a', 'b', 'c', 'e'], [2, 2, 0])
    """
    sizes, counts = [], []
    for file in files:
        missing = count - sum(counts)
        sizes.append(sum(1 for _ in file()) if missing else 0)
        counts.append(min(sizes[-1], missing))
    chosen = (spread(file(), size, n) for file, size, n in zip(files, sizes, counts) if n)
    return itertools.chain.from_iterable(chosen), counts


def spread(texts: Iterator[Any], size: int, count: int) -> Iterator[Any]:
    """`count` of `size` texts, spread evenly.

    Example:
        >>> list(spread(iter("abcdef"), 6, 3))
        ['a', 'c', 'e']
    """
    places = (int(number * (size / count)) for number in range(count))
    read = -1
    for place in places:
        yield next(itertools.islice(texts, place - read - 1, None))
        read = place


def about(args: Namespace) -> dict[str, Any]:
    """What a report says of where it comes from; the command is the one that makes all of it."""
    names = ", ".join(path.name for path in args.data)
    command = shlex.join(word for word in shlex.split(args.command_line) if word != "--resume")
    about = {"command": command, "data": names, "credit": args.credit}
    return about | ({"model": args.model} if args.model else {})


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None]]:
    """A function of how many texts are read, and of how many, that shows it on stderr where that is a terminal."""
    bar: tqdm | None = None

    def progress(n_read: int, n_texts: int) -> None:
        nonlocal bar
        if bar is None:  # an error before the first text stands alone
            bar = tqdm(total=n_texts, initial=n_read, unit=" texts", disable=None, dynamic_ncols=True)
        bar.update(n_read - bar.n)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def signals() -> Iterator[list[int]]:
    """The numbers of the signals that asked this program to end in the block; a second one ends it at once."""
    received: list[int] = []

    def receive(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    former = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def summary(report: dict[str, Any]) -> Iterator[str]:
    """Lines: how much was read; of each kind how many heads rest on the first token, by weight and by what they write,
    and which ones the rules explain least.
    """
    left_out = report["texts_left_out"]
    yield f"{report['texts_read']:,} texts, {report['tokens']:,} tokens; {left_out:,} texts could not be read"
    for kind, values in report["kinds"].items():
        first = values["rules"].index("first token")
        weight, written = (np.array(values["alone"][name])[..., first] for name in ("weight", "written"))
        counts = f"{(weight > 0.5).sum()} by weight, {(written > 0.5).sum()} by what they write"
        yield f"{kind}, {values['rows']:,} rows: more than half on the first token of {counts} of {weight.size} heads"
        rest = np.array([[head[-1][1] for head in layer] for layer in values["explained"]["written"]])
        order = np.argsort(-rest, axis=None, kind="stable")[:MOST_HEADS]
        heads = (divmod(int(place), rest.shape[1]) for place in order)
        names = ", ".join(f"{values['layers'][row]}-{head} {rest[row, head]:.2f}" for row, head in heads)
        yield f"{kind}, most of what is written under no rule: {names}"
