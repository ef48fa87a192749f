"""Measures the heads of a model over a visitor's lines, in a thread that can be stopped."""

import threading
from typing import Any, NamedTuple

from model.measures import atlas
from model.measures.corpus import index
from model.running.translator import Translator
from viz.views import cached
from viz.views.results.corpus_results import Corpus


class TextReport(NamedTuple):
    """Lines of a visitor, and what `atlas.measure` and an index say of them."""

    lines: list[str]
    numbers: dict[str, Any]
    corpus: Corpus | None  # None where no index can be made of the model


class Stopped(Exception):
    """The visitor does not want the numbers any more, or has left."""


class Measuring:
    """The heads of a model that are measured for one visitor, in a thread of its own."""

    def __init__(self, model: str, lines: list[str]) -> None:
        self.model = model
        self.lines = lines
        self.share = 0.0
        self.is_stopped = False
        self.report: TextReport | None = None
        self.problem: ValueError | None = None
        self._is_present = cached.presence()
        self._thread = threading.Thread(target=self._measure, name="measuring heads", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the numbers are there, or cannot be had."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is over."""
        self._thread.join()

    def _measure(self) -> None:
        try:
            reader = cached.translator(self.model)
            assert not isinstance(reader, Translator)
            numbers = atlas.measure(
                reader, self.lines, max(len(self.lines), 1), progress=lambda share: self._progress(share / 2)
            )
            self.report = TextReport(self.lines, numbers, self._corpus(reader))
        except Stopped:
            self.is_stopped = True
        except ValueError as error:
            self.problem = error

    def _corpus(self, reader: Any) -> Corpus | None:
        """The index over the lines, which takes the second half of the time."""
        try:
            over_texts = index.CorpusIndex(reader, self.lines, 0)
            over_texts.read_all(progress=lambda n_read, total: self._progress(0.5 + n_read / total / 2))
        except ValueError:  # the other numbers are shown without it
            return None
        return Corpus(self.model, over_texts.report(), over_texts.edges())

    def _progress(self, share: float) -> None:
        self.share = share
        if self.is_stopped or not self._is_present():
            raise Stopped
