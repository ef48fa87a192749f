"""Measures the heads of a model over a visitor's texts, in a thread that can be stopped."""

import threading
from typing import Any, NamedTuple

from model.measures import atlas
from model.measures.corpus import index
from model.running.translator import Translator
from viz.views import cached
from viz.views.results.corpus_results import Corpus, TextSet
from viz.views.turns import in_turn

MOST_READ_SINGLY = 200  # texts of which it is said where each head does most


class TextReport(NamedTuple):
    """Texts of a visitor, and what was measured over them.

    Attributes:
        numbers: what `atlas.measure` says; None of translators.
        corpus: an index over the texts; None where none can be made of the model, then `problem` says why.
    """

    texts: TextSet
    numbers: dict[str, Any] | None
    corpus: Corpus | None
    problem: ValueError | None = None


class Stopped(Exception):
    """The visitor does not want the numbers any more, or has left."""


class Measuring:
    """The heads of a model that are measured for one visitor, in a thread of its own.

    Texts are read once for an index. Of models other than translators up to MOST_READ_SINGLY of them are read before,
    one at a time, to say where each head does most.
    """

    def __init__(self, model: str, texts: TextSet) -> None:
        self.model = model
        self.texts = texts
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
            model = cached.translator(self.model)
            if isinstance(model, Translator):
                self.report = TextReport(self.texts, None, self._corpus(model, 0.0))
            else:
                self.report = self._report(model)
        except Stopped:
            self.is_stopped = True
        except ValueError as error:
            self.problem = error

    def _report(self, reader: Any) -> TextReport:
        """What is measured of a model that reads texts."""
        texts = self.texts.texts
        n_singly = min(len(texts), MOST_READ_SINGLY)
        first = n_singly / (n_singly + len(texts))  # of the time, if each text takes as long
        numbers = atlas.measure(reader, texts, n_singly, progress=lambda share: self._progress(first * share))
        try:
            return TextReport(self.texts, numbers, self._corpus(reader, first))
        except ValueError as error:  # the other numbers are shown without it
            return TextReport(self.texts, numbers, None, error)

    def _corpus(self, model: Any, first: float) -> Corpus:
        """The index over the texts, from this share of the time on; a ValueError if none can be made."""
        over_texts = index.CorpusIndex(model, self.texts.texts, 0)
        while not over_texts.is_complete:
            self._progress(first + (1 - first) * over_texts.n_read / over_texts.n_texts)
            in_turn(over_texts.read_batch)()
        return Corpus(self.model, over_texts.report(), over_texts.edges(), self.texts)

    def _progress(self, share: float) -> None:
        self.share = share
        if self.is_stopped or not self._is_present():
            raise Stopped
