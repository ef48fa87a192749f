"""What is known of heads over thousands of texts: the index of a checkpoint, or one that was made here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from model.adapters.readers.reader import Reader
from model.interventions.edits import Head
from model.measures.corpus import edges, index, points, row_numbers
from model.running.translator import Translator
from model.storage.checkpoint import by_direction, checkpoints_folder
from viz.views import cached
from viz.views.results.head_sources import Source
from viz.views.results.indexed_heads import RULES as RULES
from viz.views.results.indexed_heads import IndexedHeads
from viz.views.results.indexed_heads import rule_name as rule_name
from viz.views.results.indexed_heads import tenth_of as tenth_of
from viz.views.turns import in_turn

SHIPPED = 200  # texts of an index that ships, which any model can read
POINTS_WORK = 1.2e9  # texts by parameters of the model that are read for points: about half a second of one core
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
    """An index of a model, whose texts are cut by the model as the app has it; its texts where it does not ship."""

    texts: TextSet | None = None

    @property
    def translator(self) -> Any:
        """The model, loaded once for all pages."""
        return cached.translator(self.model)

    def source(self, roles: Source | None) -> Source:
        """The numbers of all heads; no code makes those of an index that does not ship."""
        of_index = super().source(roles)
        return replace(of_index, code="") if self.texts else of_index


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


def shipped_texts(model: str) -> TextSet | None:
    """Texts of an index that ships, for another model: of a translator pairs in its direction, else English lines.

    None where there is no such index, or it cannot be used.
    """
    loaded = cached.translator(model)
    card = loaded.card if isinstance(loaded, Translator) else {}
    return _shipped_texts(str(checkpoints_folder()), card.get("source", "en"), card.get("target", ""))


@st.cache_resource(max_entries=8, show_spinner=False)
def _shipped_texts(folder: str, source: str, target: str) -> TextSet | None:
    """The texts in the checkpoints of a folder; without a `target` one side of the pairs."""
    for languages, names in by_direction()[0].items():
        if source not in languages or (target or source) not in languages:
            continue
        for name in filter(has_index, names):
            path = checkpoints_folder() / name
            try:
                report, edge_file = index.read(path), edges.read(edges.beside(path / index.FILE))
            except ValueError:
                continue
            if report is None or edge_file is None:
                continue
            sides = [languages.index(language) for language in (source, target) if language]
            chosen = [tuple(pair[side] for side in sides) for pair in edge_file.texts[:SHIPPED]]  # drawn at random
            texts = chosen if target else [text for (text,) in chosen]
            return TextSet(texts, credit=report["credit"].partition(";")[0])  # then what that model was trained on
    return None


@cached.cache_results(64)
def rows_here(model: str, text: Any, head: Head) -> row_numbers.RowNumbers:
    """What a head does in the rows of one text; errors as in `row_numbers.read_rows`."""
    return in_turn(row_numbers.read_rows)(cached.translator(model), text, head)


def step_of_points(corpus: Corpus) -> int:
    """Of which part of the texts that `points.sample` draws points are read: every n-th, fewer of large models."""
    model = cached.translator(corpus.model).model
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    n_drawn = min(len(corpus.report["texts"]), points.MOST_TEXTS)
    return max(1, min(round(n_drawn * n_parameters / POINTS_WORK), n_drawn // LEAST_OF_POINTS))


@cached.cache_results(16)
def points_of(model: str, texts: list[Any], head: Head) -> Mapping[str, points.HeadPoints]:
    """What a head has at the places of texts, by side."""
    return in_turn(points.read_head)(cached.translator(model), texts, head)
