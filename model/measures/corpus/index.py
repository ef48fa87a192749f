"""The index of a corpus: the loop over texts that makes it, its state between two runs, and its file."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.analysis.token_facts import PAD
from model.measures import reports
from model.measures.corpus import edges
from model.measures.corpus.activity import HIGH, LOW, SHOWN_PER_DECADE
from model.measures.corpus.batch_cells import DISTANCES
from model.measures.corpus.batches import Batches, with_edges
from model.measures.corpus.combinations import GROUPS
from model.measures.corpus.counts import BINS, BatchTexts, KindCounts
from model.measures.corpus.sources import source_of
from model.measures.corpus.store import TextStore
from model.measures.corpus.tap import BatchTap, OutputMatrices, PassOver
from model.running.translator import Translator, Writer
from model.storage.checkpoint import WEIGHTS, replacing, sha256_of
from model.taps import hooked

FILE = "corpus.json"
BEGUN = ".begun.npz"  # after the name of a file: what is counted so far
MOST_BYTES = 3_000_000  # of a file; its edges are about as large
SAVE_AFTER = 60.0  # seconds
FORMAT = 2  # of that file; another one cannot be resumed
_SIZES = ((4, 12), (3, 12), (2, 10), (1, 8), (1, 4), (0, 2))  # rows of each tenth of a head, pairs of tokens


class CorpusIndex:
    """What is counted of a model over texts, batch by batch; it can be reported, kept and loaded after each.

    Texts lie in a temporary file: memory holds some thirty bytes of each, and what is counted, whose size depends on
    the model.

    Args:
        model: a translator, a language model of this project, or a decoder or encoder of transformers.
        texts: what is read, once, one after another; of a translator pairs of a text and its translation.
        seed: of what is drawn at random.

    Attributes:
        n_done: batches that were read.
        seconds: how long reading and counting took, also before a state was loaded.

    Raises:
        ValueError: if no text can be read, or no index can be made of the model.
    """

    def __init__(self, model: Any, texts: Iterable[Any], seed: int) -> None:
        begun = time.monotonic()
        self.model = model
        self.seed = seed
        self._source = source_of(model)
        self.store = TextStore(self._source, texts)
        self._matrices = OutputMatrices(self._source)
        order = np.random.default_rng(seed).permutation(len(self.store)).astype(np.int32)
        self._groups = np.empty(len(order), dtype=np.int8)
        self._groups[order] = np.arange(len(order)) % GROUPS
        self._with_edges = with_edges(self.store, order, self._source)
        self._edge_numbers = {place: number for number, place in enumerate(self._with_edges.tolist())}
        self._starts = {kind: self._starts_of(kind) for kind in self._source.layers}
        self._batches = Batches(self.store.longest, order)
        self.n_done = 0
        self._n_tokens = 0
        self.counts = {kind: self._no_counts(kind) for kind in self._source.layers}
        self.seconds = time.monotonic() - begun

    def _no_counts(self, kind: str) -> KindCounts:
        n_layers, n_heads = len(self._source.layers[kind]), self._source.n_heads[kind]
        return KindCounts(kind, n_layers, n_heads, self.store.table, n_edge_rows=int(self._starts[kind][-2]))

    def _starts_of(self, kind: str) -> np.ndarray:
        """Where the edges of each text that has some begin, and end, int (texts + 2,); last -1, of the others."""
        lengths = self.store.n_tokens(edges.LINES[kind][0])[self._with_edges]
        return np.array([0, *np.cumsum(lengths), -1], dtype=np.int64)

    @property
    def n_texts(self) -> int:
        """How many texts the model can read."""
        return len(self.store)

    @property
    def n_read(self) -> int:
        """How many texts were read."""
        return self._batches.n_before(self.n_done)

    @property
    def is_complete(self) -> bool:
        """Whether all texts were read."""
        return self.n_done == len(self._batches)

    def read_plainly(self) -> None:
        """Have the model read the next batch of texts, of about one length, without counting anything."""
        self._source.read(self.store.rows(self._batches[self.n_done]))

    @torch.inference_mode()
    def read_batch(self) -> None:
        """Read the next batch, and count what the heads do in it."""
        begun = time.monotonic()
        batch = self._batches[self.n_done]
        rows = self.store.rows(batch)
        draw = np.random.default_rng([self.seed, self.n_done])
        numbers = [self._edge_numbers.get(place, -1) for place in batch.tolist()]
        starts = {kind: of_kind[numbers] for kind, of_kind in self._starts.items()}
        texts = BatchTexts(batch, self._groups[batch], starts, draw)
        tap = BatchTap(self._source, self._matrices, self.counts, self.store.table, rows, texts)
        with suppress(PassOver), hooked(tap):
            self._source.read(rows)
        tap.finish()
        self.n_done += 1
        self._n_tokens += sum(len(row.source) + len(row.target) for row in rows)
        self.seconds += time.monotonic() - begun

    def arrays(self) -> dict[str, np.ndarray]:
        """All that is counted so far, by name: what `load` takes."""
        progress = {"n_done": self.n_done, "n_tokens": self._n_tokens, "seconds": self.seconds}
        arrays = {name: np.array(value) for name, value in progress.items()}
        for kind, counts in self.counts.items():
            arrays |= {f"{kind}.{name}": array for name, array in counts.arrays().items()}
        return arrays

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what was counted before, by an index of the same model, texts and seed."""
        self.n_done = int(arrays["n_done"])
        self._n_tokens = int(arrays["n_tokens"])
        self.seconds += float(arrays["seconds"])
        for kind, counts in self.counts.items():
            prefix = f"{kind}."
            counts.load({name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)})

    def read_all(
        self,
        *,
        state: Path | None = None,
        resume: bool = False,
        is_stopped: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], object] = lambda n_read, n_texts: None,
    ) -> None:
        """Read the batches that are left; arguments and errors as in `measure`."""
        header = self._header()
        if state is not None:
            _begin(self, state, header, resume)
        progress(self.n_read, self.n_texts)
        saved = time.monotonic()
        while not self.is_complete and not is_stopped():
            self.read_batch()
            progress(self.n_read, self.n_texts)
            if state is not None and time.monotonic() - saved > SAVE_AFTER:
                _save(self, state, header)
                saved = time.monotonic()
        if state is not None:
            if self.is_complete:
                state.unlink(missing_ok=True)
            else:
                _save(self, state, header)

    def edges(self) -> edges.Edges:
        """The strong edges of the heads, over as many of the texts as `edges.MOST_EDGES` allow."""
        rows = self.store.rows(self._with_edges)
        lines = {}
        for name in sorted({line for kind in self.counts for line in edges.LINES[kind]}):
            side = "source" if name == "source" else "target"
            texts = [self._source.names(side, getattr(row, name)) for row in rows]
            numbers = self.store.table.tokens(texts).ids if texts else np.zeros((0, 0), dtype=np.int64)
            lines[name] = edges.Line(numbers[numbers != PAD], np.array([len(text) for text in texts]))
        kinds = {
            kind: edges.KindEdges(**counts.edges.arrays(), layers=self._source.layers[kind])
            for kind, counts in self.counts.items()
        }
        texts = [self.store.text(place) for place in self._with_edges]
        return edges.Edges(list(self.store.table.names), texts, lines, kinds, weights_of(self.model))

    def rows_of_text(self, kind: str, layer: int, head: int) -> dict[int, float]:
        """Of an index of one text of at most DRAWN tokens: the activity of each row of a head, by its number."""
        rows = self.counts[kind].drawn.of_one_text(layer, head)
        return dict(sorted(rows.items()))

    def report(self) -> dict[str, Any]:
        """What `measure` returns, with as many rows and pairs of each head as MOST_BYTES allow."""
        report: dict[str, Any] = {}
        for per_tenth, n_pairs in _SIZES:
            report = self._report(per_tenth, n_pairs)
            if len(json.dumps(report, ensure_ascii=False).encode()) < 0.9 * MOST_BYTES:
                break
        return report

    def _report(self, per_tenth: int, n_pairs: int) -> dict[str, Any]:
        kinds = {kind: counts.report(per_tenth, n_pairs) for kind, counts in self.counts.items()}
        numbers: dict[int, int] = {}
        for kind, values in kinds.items():
            values["layers"] = self._source.layers[kind]
            for rows in _rows_in(values):
                for row in rows:
                    row[0] = numbers.setdefault(row[0], len(numbers))
        report = {
            "texts_read": self.n_read,
            "texts_left_out": self.store.n_given - self.n_texts,
            "texts_in_all": self.store.n_given,
            "tokens": self._n_tokens,
            "seed": self.seed,
            "bins": {
                "distance": list(DISTANCES),
                "share": BINS,
                "activity": {"from": LOW, "to": HIGH, "per_decade": SHOWN_PER_DECADE},
            },
            "kinds": kinds,
            "texts": [self.store.text(place) for place in numbers],
        }
        weights = weights_of(self.model)
        return report | ({"weights": weights} if weights else {})

    def _header(self) -> str:
        """What an index is of, as a text: a state is resumed only by the same."""
        model = weights_of(self.model) or str(self.model.config)
        return json.dumps({"format": FORMAT, "texts": self.store.digest, "model": model, "seed": self.seed})


def measure(
    model: Any,
    texts: Iterable[Any],
    *,
    seed: int = 0,
    state: Path | None = None,
    resume: bool = False,
    is_stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], object] = lambda n_read, n_texts: None,
) -> dict[str, Any]:
    """Read texts with a model, and say what every head does over them and how much of it rules explain.

    Args:
        model: a translator, a language model of this project, or a decoder or encoder of transformers.
        texts: lines; of a translator pairs of a source and its translation, with teacher forcing.
        seed: the same gives the same result.
        state: a file for what is counted so far, written every minute and where `is_stopped`; gone at the end.
        resume: go on with that file.
        is_stopped: asked after every batch; the result is then that of the texts so far.
        progress: called after every batch with how many texts are read, and of how many.

    Returns:
        JSON: "texts_read", "texts_left_out" (too long for the model, or empty) and "texts_in_all"; "tokens"; "seed";
        "bins" of the histograms; in "texts" those that rows are of. In "kinds", by kind of attention, with (L, H) lists
        for layers, numbered in "layers", and heads:

        - "rows": how many were counted, those that may attend to several keys. The "rules" (`model.analysis.rules`).
        - "explained": by "weight" and by what is "written" (||w v W_O||, Kobayashi et al. 2020) of each head
          [rule, share, low, high] with the 95 % interval over texts, taken greedily, and last, with rule None, what no
          rule explains. "alone": the share of each rule by itself; "even": that of a head that looks evenly at all.
        - Histograms: of "distance" (key minus query), as shares of "weight" and of what is "written"; of the "largest"
          weight of a row and its "spread" (entropy by the largest possible one), from 0 to 1; of the "activity": the
          length of what the head writes in a row, by the length of the stream that it is added to.
        - "tenths": the nine activities between ten equal parts of all rows; "drawn": of each part rows drawn at random,
          [text, row, activity, [key, weight], ...]; "top" the most active ones. "unexplained": of the rows of which no
          rule explains UNEXPLAINED of what is written, with "unexplained_tenths".
        - "pairs": [query, key, rows, share of what the head writes], by the key that a row writes most from.

    Raises:
        ValueError: if no text can be read, no index can be made of the model, or there is nothing to resume.
    """
    index = CorpusIndex(model, texts, seed)
    index.read_all(state=state, resume=resume, is_stopped=is_stopped, progress=progress)
    return index.report()


def numbers_of_heads(report: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """What boards are coloured by, from what `measure` returns: by kind and measure float (L, H).

    - "unexplained": the share of what a head writes that no rule accounts for.
    - "idle": the weight on the first token and special tokens, less the share of what it writes from them: of a sink
      that writes next to nothing it is near 1.
    - "rule NAME": the share of what it writes that falls under a rule, whatever others hold there too.
    """
    numbers = {}
    for kind, values in report["kinds"].items():
        rest = [[head[-1][1] for head in layer] for layer in values["explained"]["written"]]
        by_weight, by_written = (np.array(values["alone"][name]) for name in ("weight", "written"))
        sinks = [values["rules"].index(name) for name in ("first token", "special token")]
        of_kind = {"unexplained": np.array(rest)}
        of_kind["idle"] = by_weight[..., sinks].sum(-1) - by_written[..., sinks].sum(-1)
        of_kind |= {f"rule {name}": by_written[..., place] for place, name in enumerate(values["rules"])}
        numbers[kind] = of_kind
    return numbers


def weights_of(model: Any) -> str:
    """The SHA-256 of the weights of a checkpoint, "" of other models."""
    return sha256_of(model.folder / WEIGHTS) if isinstance(model, Translator | Writer) else ""


def read(folder: Path) -> dict[str, Any] | None:
    """The index in a checkpoint's folder, or None if there is none; errors as `reports.read`.

    Beside what `measure` returns it has the "command" that made it, the "data", whose they are and under which licence
    ("credit"), how many texts each file gave ("texts_of"), and how many "seconds" it took there to read and to count;
    indexes of before do not say those.
    """
    return reports.read(folder / FILE, "atlas --corpus")


def _rows_in(values: dict[str, Any]) -> Iterator[list[list]]:
    """The lists of rows in a report of one kind."""
    for name in ("drawn", "unexplained"):
        for layer in values[name]:
            for head in layer:
                yield from head
    for layer in values["top"]:
        yield from layer


def _begin(index: CorpusIndex, state: Path, header: str, resume: bool) -> None:
    """Load a state, if it is to be resumed; a ValueError if there is none, another one, or one that nobody resumes."""
    if not resume:
        if state.exists():
            raise ValueError(f"{state} holds an index that was interrupted: pass --resume, or delete it")
        return
    if not state.exists():
        raise ValueError(f"there is nothing to resume: no {state}")
    try:
        with np.load(state, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{state} cannot be read, delete it: {error}") from None
    if str(arrays.pop("header", "")) != header:
        raise ValueError(f"{state} was begun with another model, other texts or another seed: delete it")
    index.load(arrays)


def _save(index: CorpusIndex, state: Path, header: str) -> None:
    with replacing(state) as path, path.open("wb") as file:
        np.savez(file, allow_pickle=False, header=np.array(header), **index.arrays())
