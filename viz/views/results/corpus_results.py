"""What is known of heads over thousands of texts: the index of a checkpoint, or one that was made here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st

from model.adapters.readers.reader import Reader
from model.interventions.edits import Head
from model.measures.corpus import edges, index, points, row_numbers
from model.measures.corpus.hypothesis import EdgeTexts
from model.measures.corpus.sources import Source as TextSource
from model.measures.corpus.sources import source_of
from model.running.translator import Translator
from model.storage.checkpoint import by_direction, checkpoints_folder
from model.text.errors import Problem
from viz.text.language import message, say
from viz.views import cached
from viz.views.results.heads_results import Source
from viz.views.snippets import snippet
from viz.views.turns import in_turn

RULES = {
    "first token": message("first token"),
    "special token": message("special token"),
    "same token": message("same token"),
    "previous token": message("previous token"),
    "next token": message("next token"),
    "induction": message("induction"),
    "duplicate token": message("duplicate token"),
    "same word": message("same word"),
    "end of clause": message("end of clause"),
    "opening bracket or quote": message("opening bracket or quote"),
    "other punctuation": message("other punctuation"),
    "rarest token": message("rarest token"),
    "same place": message("same place"),
    "place before": message("place before"),
    "place after": message("place after"),
    "heads together": message("aligned (all heads together)"),
}
NO_RULE = message("no rule")
INDEX = """
from model.measures.corpus import index

report = index.read(translator.folder)
numbers = index.numbers_of_heads(report)
"""


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
class Corpus:
    """An index of a model, its strong edges where these are there, and its texts where it does not ship."""

    model: str
    report: dict[str, Any]
    edge_file: edges.Edges | None = None
    texts: TextSet | None = None
    numbers: Mapping[str, dict[str, np.ndarray]] = field(init=False)  # by kind and measure (L, H)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", index.numbers_of_heads(self.report))

    @cached_property
    def edge_texts(self) -> EdgeTexts | None:
        """The texts of the edges, as hypotheses ask of them."""
        return self.edge_file and EdgeTexts(self.edge_file)

    @cached_property
    def text_source(self) -> TextSource:
        """What cuts texts into tokens as the model reads them."""
        return source_of(cached.translator(self.model))

    def lines(self, text: Any, kind: str) -> tuple[list[str], list[str]]:
        """The tokens of a text that name the queries and the keys of a kind of attention."""
        row = self.text_source.row(text)
        queries, keys = (
            self.text_source.names("source" if line == "source" else "target", getattr(row, line))
            for line in edges.LINES[kind]
        )
        return list(queries), list(keys)

    def explained(self, measure: str, head: Head) -> list[list[Any]]:
        """[rule, share, low, high] of a head, the largest share first, last what no rule explains."""
        return self.report["kinds"][head.kind]["explained"][measure][head.layer][head.head]

    def of_head(self, name: str, head: Head) -> Any:
        """What the report says of a head under a name."""
        return self.report["kinds"][head.kind][name][head.layer][head.head]

    def source(self, roles: Source | None) -> Source:
        """The numbers of all heads as boards take them, with the roles that an atlas says."""
        kinds = {}
        for kind, numbers in self.numbers.items():
            best = [
                [row[0][0] or "mixed" for row in layer] for layer in self.report["kinds"][kind]["explained"]["written"]
            ]
            role = roles.kinds[kind]["role"] if roles and kind in roles.kinds else best
            kinds[kind] = {**numbers, "role": role, "divergence": None}
        layers = {kind: values["layers"] for kind, values in self.report["kinds"].items()}
        return Source(kinds, "numbers", "" if self.texts else snippet(INDEX), layers)


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


def rule_name(rule: str | None) -> str:
    """What a rule is called; None stands for what follows none."""
    return say(NO_RULE if rule is None else RULES[rule])


def tenth_of(corpus: Corpus, head: Head, activity: float) -> int:
    """In which tenth of a head's rows one falls, 1 the least active to 10."""
    return 1 + int(np.searchsorted(corpus.of_head("tenths", head), activity, side="right"))
