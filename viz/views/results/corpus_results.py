"""What is known of heads over thousands of texts: the index of a checkpoint, or one that was made here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from model.adapters.readers.reader import Reader
from model.interventions.edits import Head
from model.measures.corpus import edges, index, points, row_numbers
from model.running.translator import Translator
from model.storage.checkpoint import by_direction, checkpoints_folder
from model.text.errors import Problem
from viz.views import cached
from viz.views.results.head_sources import Source
from viz.views.results.indexed_heads import IndexedHeads
from viz.views.turns import in_turn

SHIPPED = 200  # texts of an index that ships, which any model can read
POINTS_WORK = 3e10  # tokens times parameters that are read for points: about a second of one core
LEAST_OF_POINTS = 20  # texts


@dataclass(frozen=True)
class TextSet:
    """Texts over which a visitor has heads measured.

    Attributes:
        texts: lines; of translators pairs.
        name: of the file that they are from; "" of others.
        n_lines: how many texts the file has.
        credit: who wrote the texts, and under which licence, where they ship.
    """

    texts: list[Any]
    name: str = ""
    n_lines: int = 0
    credit: str = ""


@dataclass(frozen=True)
class Corpus(IndexedHeads):
    """An index of a model, whose texts are cut by the model as the app has it, and its texts where it does not ship."""

    texts: TextSet | None = None

    @property
    def translator(self) -> Any:
        """The model, loaded once for all pages."""
        return cached.translator(self.model)

    def source(self, roles: Source | None) -> Source:
        """The numbers of all heads as boards take them; no Python makes those of texts of the visitor's."""
        source = super().source(roles)
        return replace(source, code="") if self.texts else source


@st.cache_resource(max_entries=4, show_spinner=False)
def corpus_of(checkpoint: str) -> Corpus | None:
    """The index that ships with a checkpoint, if any; a ValueError says why it cannot be used."""
    loaded = cached.translator(checkpoint)
    if isinstance(loaded, Reader):
        return None
    report = index.read(loaded.folder)
    if report is None:
        return None
    return Corpus(checkpoint, report, edges.read(edges.beside(loaded.folder / index.FILE), report["weights"]))


def has_index(checkpoint: str) -> bool:
    """Whether an index stands beside the weights of a checkpoint."""
    return (checkpoints_folder() / checkpoint / index.FILE).is_file()


@dataclass(frozen=True)
class ShippedTexts:
    """Where texts for a model ship: in the index of a checkpoint, of whose pairs these sides are taken."""

    checkpoint: str
    sides: list[int]

    def load(self) -> TextSet:
        """The texts; errors as in `corpus_of`, and a Problem if they are missing."""
        corpus = corpus_of(self.checkpoint)
        if corpus is None or corpus.edge_file is None:
            raise Problem("the texts of {name} are missing: make its index again", name=self.checkpoint)
        chosen = [tuple(pair[side] for side in self.sides) for pair in corpus.edge_file.texts[:SHIPPED]]  # at random
        texts = chosen if len(self.sides) > 1 else [text for (text,) in chosen]
        credit = corpus.report["credit"].partition(";")[0]  # then what that checkpoint was trained on
        return TextSet(texts, credit=credit)


def shipped_texts(model: str) -> ShippedTexts | None:
    """Texts that ship for a model: of a translator pairs in its direction, else English lines; None without any."""
    loaded = cached.translator(model)
    card = loaded.card if isinstance(loaded, Translator) else {"source": "en"}
    wanted = [card[side] for side in ("source", "target") if side in card]
    for languages, names in by_direction()[0].items():
        for name in filter(has_index, names):
            if set(wanted) <= set(languages):
                return ShippedTexts(name, list(map(languages.index, wanted)))
    return None


@cached.cache_results(64)
def rows_here(model: str, text: Any, head: Head) -> row_numbers.RowNumbers:
    """What a head does in the rows of one text; errors as in `row_numbers.read_rows`."""
    return in_turn(row_numbers.read_rows)(cached.translator(model), text, head)


def step_of_points(corpus: Corpus) -> int:
    """Of which part of the texts that `points.sample` draws points are read: every n-th, fewer of large models."""
    model = cached.translator(corpus.model).model
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    n_tokens = corpus.report["tokens"] / corpus.report["texts_read"]  # of a text
    n_drawn = min(len(corpus.report["texts"]), points.MOST_TEXTS)
    return max(1, min(math.ceil(n_drawn * n_tokens * n_parameters / POINTS_WORK), n_drawn // LEAST_OF_POINTS))


@cached.cache_results(16)
def points_of(model: str, texts: list[Any], head: Head) -> Mapping[str, points.HeadPoints]:
    """What a head has at the places of texts, by side."""
    return in_turn(points.read_head)(cached.translator(model), texts, head)
