"""How many texts per second an index of a corpus reads, beside plain batches, and beside those with weights recorded.

    python -m benchmarks.corpus [--texts N] [--model DIR] [--data FILE.tsv[.gz]] [--threads N] [--cpu] [--only PART]

First the translator, over pairs of --data; else over those that the index beside its weights is of; else over made
sentences and the model's own translations. Its sides: the batches of the index, the same batches with all weights
recorded and kept until the end of each, and the same without anything recorded. How long it takes to cut the texts into
tokens, before the first batch, is printed apart. Then a model of transformers: SmolLM2-135M where its folder is given,
else a Llama of its sizes with random weights; texts of up to 96 random tokens. Every batch is measured once on each
side, in turns; what a side takes is the sum over the batches, and a ratio is printed with the quartiles of those of
single batches.

Finally memory: how large the arrays of the index are after a third of the texts and after all of them, and the most
memory (resident set) of two processes that make an index of the translator from a file of N and of 4 N lines.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import resource
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.any_model import random_llama
from benchmarks.common import Machine, ratio, sentences, table, timed
from model import attach, load_translator
from model.adapters.loading import load
from model.commands.corpus import choose_texts
from model.config import DEFAULT_CHECKPOINT
from model.measures.corpus import edges
from model.measures.corpus.index import FILE, CorpusIndex
from model.measures.corpus.sources import MOST_TOKENS
from model.measures.evaluate import pairs_in
from model.running.translator import Translator
from model.taps import record

HEADS = ("model", "side", "texts per second", "seconds", "times the plain batch", "times all weights recorded")
INDEX, RECORDED, PLAIN = "index", "all weights recorded", "nothing recorded"


class NumberedTokens:
    """A tokenizer of random texts: a token is called by its number."""

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        """The ids of a text of numbers."""
        ids = [int(word) for word in text.split()]
        return {"input_ids": torch.tensor([ids])}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        """The names of ids."""
        return [f"▁{index}" for index in ids]


def random_texts(count: int, vocabulary: int) -> list[str]:
    """Texts of MOST_TOKENS / 2 to MOST_TOKENS tokens, some of which come again, as numbers."""
    generator = torch.Generator().manual_seed(0)
    texts = []
    for _ in range(count):
        length = int(torch.randint(MOST_TOKENS // 2, MOST_TOKENS + 1, (1,), generator=generator))
        few = torch.randint(5, vocabulary, (length // 2,), generator=generator)
        ids = few[torch.randint(len(few), (length,), generator=generator)]
        texts.append(" ".join(map(str, ids.tolist())))
    return texts


def sides_of(index: CorpusIndex) -> dict[str, Callable[[], object]]:
    """What is timed of the next batch; the index last, as it goes on to the next one."""

    def with_weights() -> object:
        with torch.inference_mode(), record("*.weights") as trace:
            index.read_plainly()
        return trace

    def plainly() -> None:
        with torch.inference_mode():
            index.read_plainly()

    return {RECORDED: with_weights, PLAIN: plainly, INDEX: index.read_batch}


def measure(name: str, model: Any, texts: list[Any], cpu: bool) -> tuple[list[list[str]], str]:
    """Time all batches of an index; the rows of the table, and how large the index is."""
    preparation, index = timed(lambda: CorpusIndex(model, texts, 0), cpu)
    times: dict[str, list[float]] = {INDEX: [], RECORDED: [], PLAIN: []}
    sizes = []
    sides_of(index)[PLAIN]()  # the first pass of a model takes longer
    while not index.is_complete:
        sides = sides_of(index)
        first = [RECORDED, PLAIN] if index.n_done % 2 else [PLAIN, RECORDED]
        for side in (*first, INDEX):
            times[side].append(timed(sides[side], cpu)[0])
        sizes.append((index.n_read, sum(array.nbytes for array in index.arrays().values())))
    rows = []
    for side, seconds in times.items():
        rate = f"{index.n_texts / sum(seconds):.0f}"
        ratios = [_ratio(seconds, times[other]) for other in (PLAIN, RECORDED)]
        rows.append([name, side, rate, f"{sum(seconds):.1f}", *ratios])
    third = next(size for size in sizes if size[0] >= index.n_texts / 3)
    of_sizes = ", ".join(f"{size / 1e6:.1f} MB after {count:,} texts" for count, size in (third, sizes[-1]))
    words = f"{preparation:.1f} seconds before the first batch; the arrays of the index have {of_sizes}"
    return rows, f"{name}: {words}"


def _ratio(seconds: list[float], others: list[float]) -> str:
    if seconds is others:
        return "1"
    if len(seconds) < 2:
        return f"{sum(seconds) / sum(others):.2f}"
    return f"{sum(seconds) / sum(others):.2f}, of batches {ratio(seconds, others).partition(' ')[2]}"


def pairs_of(translator: Translator, data: Path | None, count: int) -> list[Any]:
    """Pairs of a file, or those of the translator's own index, or made ones."""
    if data:
        return list(itertools.islice(pairs_in(data), count))
    of_index = edges.read(edges.beside(translator.folder / FILE))
    if of_index:
        return list(map(tuple, of_index.texts[:count]))
    texts = list(itertools.islice(sentences(), count))
    return list(zip(texts, translator.translate_lines(texts, beam=1)))


def peaks(checkpoint: str, pairs: list[Any]) -> str:
    """The most memory of processes that make an index from files of as many lines as there are pairs, and 4 times.

    What is freed is given back at once (glibc's MALLOC_MMAP_THRESHOLD_), so that memory is what is in use.
    """
    os.environ["MALLOC_MMAP_THRESHOLD_"] = "100000"  # bytes; of the processes that begin here
    most = []
    for times in (1, 4):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.tsv"
            path.write_text("".join(f"{source}\t{target}\n" for source, target in times * pairs), encoding="utf-8")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                most.append((times * len(pairs), pool.apply(peak, (checkpoint, path))))
    return ", ".join(f"{size:.0f} MB for {count:,} texts" for count, size in most)


def peak(checkpoint: str, path: Path) -> float:
    """The most memory of this process after it has made an index from a file, in MB."""
    translator = load_translator(checkpoint)
    texts, _ = choose_texts([partial(pairs_in, path)], 10**9)
    CorpusIndex(translator, texts, 0).read_all()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--data", type=Path, help="lines of source<TAB>translation (default: those of its index)")
    parser.add_argument(
        "--texts", type=int, default=640, help="pairs, and a tenth as many texts (default: %(default)s)"
    )
    parser.add_argument("--model", help="the folder of a model of transformers (default: random weights)")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch (default: 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    parser.add_argument("--only", choices=("translator", "reader", "memory"), help="one part (default: all)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    machine = Machine()
    translator = load_translator(options.checkpoint)
    pairs = pairs_of(translator, options.data, options.texts)
    rows: list[list[str]] = []
    sizes: list[str] = []
    if options.only in (None, "translator"):
        of_translator, size = measure(options.checkpoint, translator, pairs, options.cpu)
        rows += of_translator
        sizes.append(size)
    if options.only in (None, "reader"):
        network, _ = load(options.model) if options.model else random_llama()
        reader = attach(network, NumberedTokens())
        texts = random_texts(max(1, options.texts // 10), reader.config.vocab_size)
        of_reader, size = measure(options.model or "random Llama", reader, texts, options.cpu)
        rows += of_reader
        sizes.append(size)
    clock = "processor time" if options.cpu else "wall-clock time"
    print(f"torch {torch.__version__}, float32, {options.threads} threads, {clock}; {machine.message()}\n")
    if rows:
        print(table(HEADS, rows), *sizes, sep="\n")
    if options.only in (None, "memory"):
        print(f"{options.checkpoint}: at most {peaks(options.checkpoint, pairs)}")


if __name__ == "__main__":
    main()
