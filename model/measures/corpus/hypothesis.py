"""A visitor's own idea of what a head does, as a rule for pairs of tokens, and which heads it fits over a corpus."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import regex

from model.analysis import maps as analysis
from model.analysis.token_facts import TokenTable
from model.measures.corpus.edges import LEVEL_OF_ONE, LINES, NONE, Edges, Line
from model.text.errors import Problem

MOST_CELLS = 2_000_000  # that are compared at once
SECONDS = 0.5  # that a regular expression may take over all words
LONGEST = 200  # letters of a list of words or a regular expression
PLACES = ("any", "words", "expression", "capital", "punctuation", "special")  # what a token may be
OCCURRENCES = ("any", "first", "again")
RELATIONS = ("any", "same", "after_same", "aligned")


@dataclass(frozen=True)
class Pattern:
    """What a token is.

    Attributes:
        form: one of PLACES.
        text: of "words" a list with commas, of "expression" a regular expression that is searched for in words.
        occurrence: whether the token is the "first" of its text, or stood there before ("again").
    """

    form: str = "any"
    text: str = ""
    occurrence: str = "any"


@dataclass(frozen=True)
class Hypothesis:
    """Which keys a head looks at from which queries.

    Attributes:
        query, key: what each is; of cross-attention the query is the word that is written.
        relation: of the key to the query, one of RELATIONS: the "same" token, the one "after_same", or "aligned": the
            key that all heads of cross-attention together look at most.
        low, high: of the distance, key minus query; None is open.
    """

    query: Pattern = field(default_factory=Pattern)
    key: Pattern = field(default_factory=Pattern)
    relation: str = "any"
    low: int | None = None
    high: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every pair fits."""
        return self == Hypothesis()


@dataclass(frozen=True)
class Fit:
    """How well a hypothesis fits the heads of one kind, float (L, H) each; NaN where there is nothing to divide by.

    Attributes:
        precision: of a head's strong edges from queries that are meant the share that fits, each weighted by how active
            its row is.
        share: of all its strong edges the share that fits, weighted likewise.
        recall: of the queries that have a key that fits the share from which the head looks at one.
        n_edges: int, the strong edges of each head.
        n_queries: queries that have a key that fits.
        has_key: bool (N,), which these are.
        fits: bool (L, H, N), which rows have a strong edge that fits.
    """

    precision: np.ndarray
    share: np.ndarray
    recall: np.ndarray
    n_edges: np.ndarray
    n_queries: int
    has_key: np.ndarray
    fits: np.ndarray

    @property
    def score(self) -> np.ndarray:
        """The harmonic mean of precision and recall (F1), 0 where one is not known."""
        precision, recall = np.nan_to_num(self.precision), np.nan_to_num(self.recall)
        total = precision + recall
        return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


class EdgeTexts:
    """The texts of edges with what hypotheses ask of their tokens; made once for many hypotheses.

    Attributes:
        spellings: the words of the texts, none twice.
        words: by line, for each token the place of its word in `spellings`, int (N,).
        special, punctuation: which of the tokens of the edges are, bool.
    """

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        mark = analysis.word_mark(edges.names)
        numbers: dict[str, int] = {}
        self.words: dict[str, np.ndarray] = {}  # by line, for each token the number of its word
        for name, line in edges.lines.items():
            of_line = np.zeros(len(line.ids), dtype=np.int64)
            for text, start in enumerate(line.starts):
                tokens = edges.tokens(name, text)
                words = analysis.words(tokens, mark) if mark else analysis.Words(tokens, list(range(len(tokens))))
                places = [numbers.setdefault(word, len(numbers)) for word in words.names]
                of_line[start : start + line.lengths[text]] = np.array(places, dtype=np.int64)[words.of_token]
            self.words[name] = of_line
        self.spellings = list(numbers)
        table = TokenTable(edges.names, np.zeros(len(edges.names)))
        flags = table.tokens([edges.names])
        self.special, self.punctuation = flags.special[0], flags.punctuation[0]

    @cached_property
    def _again(self) -> dict[str, np.ndarray]:
        """By line, which tokens stood in their text before, bool (N,)."""
        result = {}
        for name, line in self.edges.lines.items():
            of_text = line.text * (len(self.edges.names) + 1) + line.ids
            _, first = np.unique(of_text, return_index=True)
            again = np.ones(len(line.ids), dtype=bool)
            again[first] = False
            result[name] = again
        return result

    def matches(self, name: str, pattern: Pattern) -> np.ndarray:
        """Which tokens of a line are what a pattern says, bool (N,)."""
        line = self.edges.lines[name]
        if pattern.form == "special":
            hits = self.special[line.ids]
        elif pattern.form == "punctuation":
            hits = self.punctuation[line.ids]
        elif pattern.form == "any":
            hits = np.ones(len(line.ids), dtype=bool)
        else:
            hits = words_matching(self.spellings, pattern)[self.words[name]] & ~self.special[line.ids]
        if pattern.occurrence != "any":
            hits = hits & (self._again[name] == (pattern.occurrence == "again"))
        return hits


def words_matching(words: Sequence[str], pattern: Pattern) -> np.ndarray:
    """Which words a list, an expression or "capital" means, bool; a ValueError says what is wrong with a text."""
    if len(pattern.text) > LONGEST:
        raise Problem("a list of words or a regular expression has at most {most} letters", most=LONGEST)
    if pattern.form == "capital":
        return np.array([word[:1].isupper() for word in words], dtype=bool)
    if pattern.form == "words":
        listed = {word.strip().casefold() for word in pattern.text.split(",") if word.strip()}
        if not listed:
            raise Problem("name one word or more, with commas between them")
        return np.array([word.casefold() in listed for word in words], dtype=bool)
    return _found_by_expression(words, pattern.text)


def _found_by_expression(words: Sequence[str], text: str) -> np.ndarray:
    """Which words a regular expression is found in; all words have one limit of time together."""
    if not text:
        raise Problem("write a regular expression, such as ing$")
    try:
        compiled = regex.compile(text)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise Problem("not a regular expression: {why}", why=str(error)) from None
    hits = np.zeros(len(words), dtype=bool)
    end = time.monotonic() + SECONDS
    try:
        for place, word in enumerate(words):
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            hits[place] = compiled.search(word, timeout=left) is not None
    except (TimeoutError, MemoryError):
        raise Problem(
            "this regular expression takes more than {seconds} seconds: write a simpler one", seconds=SECONDS
        ) from None
    return hits


def evaluate(texts: EdgeTexts, kind: str, hypothesis: Hypothesis) -> Fit:
    """Compare a hypothesis with the strong edges of all heads of a kind of attention.

    Raises:
        ValueError: if a pattern cannot be read, or "aligned" is asked of another kind than cross-attention.
    """
    pairs = _Pairs(texts, kind, hypothesis)
    of_kind = texts.edges.kinds[kind]
    has_key = np.zeros(len(pairs.is_query), dtype=bool)
    for queries, keys in pairs.cells():
        has_key[queries[pairs.fit(queries, keys)]] = True
    is_strong = of_kind.keys != NONE
    *_, rows = np.nonzero(is_strong)
    fits = np.zeros(is_strong.shape, dtype=bool)
    fits[is_strong] = pairs.fit(rows, pairs.key_starts[rows] + of_kind.keys[is_strong])
    weights = np.where(is_strong, 2.0 ** (of_kind.levels.astype(np.float32) - LEVEL_OF_ONE), 0)
    n_queries = int(has_key.sum())
    with np.errstate(invalid="ignore"):
        precision = (weights * fits).sum(-1) / (weights * pairs.is_query).sum(-1)
        share = (weights * fits).sum(-1) / weights.sum(-1)
        recall = fits.sum(-1) / np.float64(n_queries)
    return Fit(precision, share, recall, is_strong.sum(-1), n_queries, has_key, fits)


class _Pairs:
    """The pairs of queries and keys of a kind, each by its place in its line, and which of them a hypothesis means."""

    def __init__(self, texts: EdgeTexts, kind: str, hypothesis: Hypothesis) -> None:
        edges = texts.edges
        query_line, key_line = LINES[kind]
        self.kind = kind
        self.hypothesis = hypothesis
        self.queries: Line = edges.lines[query_line]
        self.keys: Line = edges.lines[key_line]
        self.together = edges.kinds[kind].together
        self.is_query = texts.matches(query_line, hypothesis.query)
        self.is_key = texts.matches(key_line, hypothesis.key)
        self.key_starts = self.keys.starts[self.queries.text]  # (N,), where the keys of each query begin
        if hypothesis.relation == "aligned" and kind != "cross":
            raise Problem("“aligned” is of cross-attention: it joins a word that is written with one of the source")

    def fit(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Which pairs, given by the places of query and key in their lines, the hypothesis means, bool."""
        hypothesis = self.hypothesis
        result = self.is_query[queries] & self.is_key[keys]
        distance = self.keys.place[keys] - self.queries.place[queries]
        if hypothesis.low is not None:
            result &= distance >= hypothesis.low
        if hypothesis.high is not None:
            result &= distance <= hypothesis.high
        if hypothesis.relation == "same":
            result &= self._same(queries, keys)
        elif hypothesis.relation == "after_same":
            before = np.maximum(keys - 1, 0)
            result &= (self.keys.place[keys] > 0) & self._same(queries, before)
            result &= (distance != 0) | (self.kind == "cross")
        elif hypothesis.relation == "aligned":
            result &= self.together[queries] == self.keys.place[keys]
        return result

    def _same(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Whether both are the same token; in self-attention at two places."""
        same = self.queries.ids[queries] == self.keys.ids[keys]
        return same & (queries != keys) if self.kind != "cross" else same

    def cells(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The places of queries and keys of all pairs that attention may join, MOST_CELLS at a time.

        Only queries that the hypothesis means, that have a choice between several keys.
        """
        queries = np.flatnonzero(self.is_query)
        counts = self.keys.lengths[self.queries.text[queries]].astype(np.int64)
        if self.kind == "decoder_self":
            counts = self.queries.place[queries] + 1
        queries, counts = queries[counts > 1], counts[counts > 1]
        ends = np.cumsum(counts)
        start = 0
        while start < len(queries):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + MOST_CELLS, side="right")))
            of_part = counts[start:stop]
            repeated = np.repeat(queries[start:stop], of_part)
            within = np.arange(len(repeated)) - np.repeat(np.cumsum(of_part) - of_part, of_part)
            yield repeated, self.key_starts[repeated] + within
            start = stop
