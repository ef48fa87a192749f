"""What an index says of the heads of a model; pages and the site without a server read it alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus import edges, index
from model.measures.corpus.hypothesis import EdgeTexts
from model.measures.corpus.sources import Source as TextSource
from model.measures.corpus.sources import source_of
from viz.text.language import message, say
from viz.views.results.head_sources import Source
from viz.views.snippets import snippet

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
MOST_LINES = 20_000  # texts whose tokens are remembered
NO_RULE = message("no rule")
MEASURES = {"unexplained": message("under no rule (share of what is written)")}
MEASURES["idle"] = message("sink in weight, not in what is written")
INDEX = """
from model.measures.corpus import index

report = index.read(translator.folder)
numbers = index.numbers_of_heads(report)
"""


@dataclass(frozen=True)
class IndexedHeads:
    """What the index of a model says of its heads over thousands of texts, and its strong edges if they are there."""

    model: str
    report: dict[str, Any]
    edge_file: edges.Edges | None = None
    numbers: Mapping[str, dict[str, np.ndarray]] = field(init=False)  # by kind and measure (L, H)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", index.numbers_of_heads(self.report))

    @cached_property
    def edge_texts(self) -> EdgeTexts | None:
        """The texts of the edges, as hypotheses ask of them."""
        return self.edge_file and EdgeTexts(self.edge_file)

    @property
    def translator(self) -> Any:
        """The model, which cuts texts into tokens: loaded by who made this."""
        raise NotImplementedError

    @cached_property
    def text_source(self) -> TextSource:
        """What cuts texts into tokens as the model reads them."""
        return source_of(self.translator)

    def lines(self, text: Any, kind: str) -> tuple[list[str], list[str]]:
        """The tokens of a text that name the queries and the keys of a kind of attention."""
        return self._lines_of(text if isinstance(text, str) else tuple(text), kind)

    @cached_property
    def _lines_of(self) -> Callable[[Any, str], tuple[list[str], list[str]]]:
        return lru_cache(MOST_LINES)(self._read_lines)

    def _read_lines(self, text: Any, kind: str) -> tuple[list[str], list[str]]:
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

    @property
    def measure_names(self) -> dict[str, str]:
        """The measures that can colour a board, and what they are called in English."""
        rules = sorted({name for numbers in self.numbers.values() for name in numbers} - set(MEASURES))
        return MEASURES | {rule: RULES[rule.removeprefix("rule ")] for rule in rules}

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
        return Source(kinds, "numbers", snippet(INDEX), layers)


def rule_name(rule: str | None) -> str:
    """What a rule is called; None stands for what follows none."""
    return say(NO_RULE if rule is None else RULES[rule])


def tenth_of(corpus: IndexedHeads, head: Head, activity: float) -> int:
    """In which tenth of a head's rows one falls, 1 the least active to 10."""
    return 1 + int(np.searchsorted(corpus.of_head("tenths", head), activity, side="right"))
