"""Hypotheses about heads against a count pair by pair, and expressions that no server survives."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from model import attach
from model.measures.corpus import edges, hypothesis, index
from model.measures.corpus.hypothesis import EdgeTexts, Hypothesis, Pattern
from tests.support.architectures import Numbers, build

DRAW = np.random.default_rng(7)
TEXTS = [" ".join(map(str, DRAW.integers(5, 15, length))) for length in DRAW.integers(2, 15, 50)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> EdgeTexts:
    with attach(build("llama"), Numbers()) as reader:
        over_texts = index.CorpusIndex(reader, TEXTS, 0)
        over_texts.read_all()
    path = tmp_path_factory.mktemp("edges") / "small-edges.safetensors.gz"
    edges.write(path, over_texts.edges())
    before = path.read_bytes()
    edges.write(path, over_texts.edges())
    assert path.read_bytes() == before
    kept = edges.read(path)
    assert kept is not None
    assert sorted(kept.texts) == sorted(TEXTS)
    return EdgeTexts(kept)


def is_meant(pattern: Pattern, ids: list[str], place: int) -> bool:
    """One token, as a person would decide."""
    if pattern.form == "words" and ids[place] not in pattern.text.split(","):
        return False
    if pattern.form == "expression" and not ids[place].endswith("1"):
        return False
    again = ids[place] in ids[:place]
    return pattern.occurrence == "any" or again == (pattern.occurrence == "again")


def fits(idea: Hypothesis, ids: list[str], query: int, key: int) -> bool:
    if not is_meant(idea.query, ids, query) or not is_meant(idea.key, ids, key):
        return False
    if idea.low is not None and key - query < idea.low or idea.high is not None and key - query > idea.high:
        return False
    if idea.relation == "same":
        return key != query and ids[key] == ids[query]
    if idea.relation == "after_same":
        return 0 < key != query and key - 1 != query and ids[key - 1] == ids[query]
    return True


@pytest.mark.parametrize(
    "idea",
    [
        Hypothesis(low=-1, high=-1),
        Hypothesis(relation="after_same"),
        Hypothesis(relation="same"),
        Hypothesis(Pattern("words", "7,11"), Pattern(occurrence="again")),
        Hypothesis(Pattern(occurrence="first"), Pattern("expression", "1$"), high=-2),
    ],
)
def test_precision_and_recall_are_those_of_a_count_by_pairs(texts: EdgeTexts, idea: Hypothesis) -> None:
    fit = hypothesis.evaluate(texts, "decoder_self", idea)
    n_layers, n_heads = fit.precision.shape
    sums = {name: np.zeros((n_layers, n_heads)) for name in ("fit", "meant", "edges", "hits")}
    n_queries = 0
    with attach(build("llama"), Numbers()) as reader:
        over_text = {text: index.CorpusIndex(reader, [text], 0) for text in texts.edges.texts}
        for text, of_text in over_text.items():
            ids = text.split()
            of_text.read_batch()
            weights = reader.read(text).attention("decoder_self")
            rows = [
                query for query in range(1, len(ids)) if any(fits(idea, ids, query, key) for key in range(query + 1))
            ]
            n_queries += len(rows)
            for layer, head in np.ndindex(n_layers, n_heads):
                active = of_text.rows_of_text("decoder_self", layer, head)
                for query in range(1, len(ids)):
                    key = int(weights[layer, head, query].argmax())
                    if weights[layer, head, query, key] < 0.3:
                        continue
                    size = 2.0 ** math.floor(math.log2(active[query]))
                    sums["edges"][layer, head] += size
                    sums["meant"][layer, head] += size * is_meant(idea.query, ids, query)
                    sums["fit"][layer, head] += size * fits(idea, ids, query, key)
                    sums["hits"][layer, head] += fits(idea, ids, query, key)
    assert fit.n_queries == n_queries > 0
    np.testing.assert_allclose(fit.recall, sums["hits"] / n_queries)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(fit.precision, sums["fit"] / sums["meant"], rtol=1e-3)
        np.testing.assert_allclose(fit.share, sums["fit"] / sums["edges"], rtol=1e-3)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (Pattern("expression", "("), "not a regular expression"),
        (Pattern("expression", ""), "write a regular expression"),
        (Pattern("expression", r"(?:(?:x+x+)+)+y|(x|xx|xxx)+\1z"), "takes more than"),
        (Pattern("expression", "x" * 201), "at most 200 letters"),
        (Pattern("words", " , "), "name one word or more"),
    ],
)
def test_what_cannot_be_searched_for_is_one_sentence(pattern: Pattern, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        hypothesis.words_matching(["x" * 60, "y"], pattern)


def test_words_are_whole_words_whatever_their_tokens() -> None:
    line = edges.Line(np.array([0, 1, 2, 3]), np.array([4]))
    none = np.full((1, 1, 4), edges.NONE, dtype=np.uint8)
    of_kind = edges.KindEdges(none, np.zeros_like(none), none[0, 0], [0])
    small = edges.Edges(["▁happ", "y", "▁Dog", "."], ["happy Dog."], {"source": line}, {"encoder_self": of_kind}, "")
    texts = EdgeTexts(small)
    assert texts.matches("source", Pattern("words", "HAPPY")).tolist() == [True, True, False, False]
    assert texts.matches("source", Pattern("capital")).tolist() == [False, False, True, False]
    assert texts.matches("source", Pattern("punctuation")).tolist() == [False, False, False, True]
    with pytest.raises(ValueError, match="is of cross-attention"):
        hypothesis.evaluate(texts, "encoder_self", Hypothesis(relation="aligned"))


def test_no_file_has_no_edges_and_a_broken_one_says_so(tmp_path: Path) -> None:
    path = tmp_path / "edges.gz"
    assert edges.read(path) is None
    path.write_bytes(b"broken")
    with pytest.raises(ValueError, match="cannot be read"):
        edges.read(path)
