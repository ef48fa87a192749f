"""What is known of heads over thousands of texts: the index of a checkpoint, or one that was made here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from model.adapters.readers.reader import Reader
from model.interventions.edits import Head
from model.measures.corpus import edges, index, points
from model.storage.checkpoint import checkpoints_folder
from viz.views import cached
from viz.views.results.indexed_heads import RULES as RULES
from viz.views.results.indexed_heads import IndexedHeads
from viz.views.results.indexed_heads import rule_name as rule_name
from viz.views.results.indexed_heads import tenth_of as tenth_of
from viz.views.turns import in_turn


@dataclass(frozen=True)
class Corpus(IndexedHeads):
    """An index of a model, whose texts are cut by the model as the app has it."""

    @property
    def translator(self) -> Any:
        """The model, loaded once for all pages."""
        return cached.translator(self.model)


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


@cached.cache_results(64)
def activity_here(model: str, text: Any, head: Head) -> dict[int, float]:
    """How active each row of a head is in one text, by the number of the row."""
    of_text = index.CorpusIndex(cached.translator(model), [text], 0)
    of_text.read_batch()
    return of_text.rows_of_text(head.kind, head.layer, head.head)


@cached.cache_results(16)
def points_of(model: str, texts: list[Any], head: Head) -> Mapping[str, points.HeadPoints]:
    """What a head has at the places of texts, by side."""
    return in_turn(points.read_head)(cached.translator(model), texts, head)
