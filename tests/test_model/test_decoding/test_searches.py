"""Greedy decoding and beam search, against brute force and against each other."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from model.config import TransformerConfig
from model.decoding import Search, beam_search, greedy
from model.decoding.beam import ROOT, length_penalty
from model.decoding.sampling import sample
from model.taps import record
from model.transformer import Transformer

PAD, BOS, EOS = 0, 1, 2
SOURCES = torch.tensor([[4, 5, 6, 3, EOS], [6, 4, EOS, PAD, PAD], [3, 3, 5, EOS, PAD]])


def tiny_model(seed: int, vocab_size: int = 7) -> Transformer:
    """A random model, sharpened so that its predictions differ from token to token."""
    torch.manual_seed(seed)
    model = Transformer(
        TransformerConfig(vocab_size=vocab_size, d_model=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=2, d_ff=8)
    ).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)
    return model.eval()


def searched(model, src: torch.Tensor, **how) -> list[Search]:
    return beam_search(model, model.start(src), **how)


def log_probability(model: Transformer, src: torch.Tensor, ids: list[int]) -> float:
    """Of a whole target, by one full pass."""
    logits = model(src[None], torch.tensor([[BOS, *ids[:-1]]]))[0]
    return logits.log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids)].sum().item()


def all_targets(vocab_size: int, max_length: int) -> list[list[int]]:
    """Every target that ends by itself within the limit."""
    words = range(EOS + 1, vocab_size)
    return [[*body, EOS] for n in range(max_length) for body in itertools.product(words, repeat=n)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@torch.no_grad()
def test_a_wide_beam_finds_what_brute_force_finds(seed: int, alpha: float) -> None:
    model, max_length = tiny_model(seed, vocab_size=6), 4
    targets = all_targets(6, max_length)
    searches = searched(model, SOURCES.clamp(max=5), width=200, alpha=alpha, max_lengths=[max_length] * 3)
    for src, search in zip(SOURCES.clamp(max=5), searches, strict=True):
        totals = [log_probability(model, src, target) for target in targets]
        expected = {
            tuple(target[:-1]): total / ((5 + len(target)) / 6) ** alpha
            for target, total in zip(targets, totals, strict=True)
        }
        score_of = {tuple(hypothesis.ids): hypothesis.score for hypothesis in search.hypotheses}
        assert score_of == pytest.approx(expected, abs=1e-5)  # the searches sum in float32
        best = max(expected, key=expected.__getitem__)
        assert tuple(search.hypotheses[0].ids) == best
        scores = [hypothesis.score for hypothesis in search.hypotheses]
        assert scores == sorted(scores, reverse=True)


def test_brute_force_has_targets_of_every_length() -> None:
    assert len(all_targets(6, 4)) == 1 + 3 + 9 + 27


@pytest.mark.parametrize("seed", range(5))
def test_beam_of_one_is_greedy(seed: int) -> None:
    model = tiny_model(seed)
    outputs = greedy(model, SOURCES, max_length=9)
    searches = searched(model, SOURCES, width=1, alpha=0.6, max_lengths=[9] * 3)
    assert [search.hypotheses[0].ids for search in searches] == outputs


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_batch_finds_what_single_sentences_find(width: int) -> None:
    model = tiny_model(1)
    together = searched(model, SOURCES, width=width, alpha=0.6, max_lengths=[9] * 3)
    for src, search in zip(SOURCES, together, strict=True):
        alone = searched(model, src[None, src != PAD], width=width, alpha=0.6, max_lengths=[9])[0]
        assert [hypothesis.ids for hypothesis in search.hypotheses] == [h.ids for h in alone.hypotheses]
        assert search.tree.token == alone.tree.token
        assert search.tree.fate == alone.tree.fate
        assert search.tree.total == pytest.approx(alone.tree.total, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_wider_beam_never_scores_lower_here(seed: int) -> None:
    model = tiny_model(seed, vocab_size=6)
    narrow = searched(model, SOURCES[:1].clamp(max=5), width=1, alpha=0.0, max_lengths=[4])[0]
    widest = searched(model, SOURCES[:1].clamp(max=5), width=200, alpha=0.0, max_lengths=[4])[0]
    finished = [hypothesis for hypothesis in narrow.hypotheses if hypothesis.finished]
    assert all(hypothesis.score <= widest.hypotheses[0].score + 1e-5 for hypothesis in finished)


@torch.no_grad()
def test_every_node_of_the_tree_has_the_log_probability_of_a_full_pass() -> None:
    model = tiny_model(2)
    search = searched(model, SOURCES[:1], width=3, alpha=0.6, max_lengths=[6])[0]
    tree = search.tree
    assert {"kept", "finished", "pruned"} == set(tree.fate)
    for node in range(1, len(tree.token)):
        path = tree.path(node)
        assert path[-1] == tree.token[node]
        assert tree.total[node] == pytest.approx(log_probability(model, SOURCES[0], path), abs=1e-5)
        assert tree.log_probability[node] == pytest.approx(tree.total[node] - tree.total[tree.parent[node]], abs=1e-9)
        assert tree.fate[tree.parent[node]] == "kept"
    assert tree.parent[ROOT] == -1
    for step in range(1, 6):
        survivors = [n for n in range(1, len(tree.token)) if len(tree.path(n)) == step and tree.fate[n] == "kept"]
        assert len(survivors) <= 3


def test_a_search_ends_with_as_many_finished_hypotheses_as_it_is_wide() -> None:
    for search in searched(tiny_model(3), SOURCES, width=3, alpha=0.6, max_lengths=[60] * 3):
        assert len(search.hypotheses) >= 3 or not all(hypothesis.finished for hypothesis in search.hypotheses)
        assert all(search.tree.path(h.node)[: len(h.ids)] == h.ids for h in search.hypotheses)


def test_a_hypothesis_cut_off_at_the_limit_says_so() -> None:
    class Endless:
        """Predicts token 4, never the end."""

        def start(self, src):
            return src

        def step(self, state, tokens):
            logits = torch.zeros(len(tokens), 7)
            logits[:, 4] = 9.0
            logits[:, EOS] = -torch.inf
            return logits

        def reorder(self, state, rows):
            return state[rows]

    search = searched(Endless(), SOURCES[:1], width=2, alpha=0.6, max_lengths=[5])[0]
    assert search.hypotheses[0].ids == [4] * 5
    assert not search.hypotheses[0].finished
    assert greedy(Endless(), SOURCES[:1], max_length=5) == [[4] * 5]


def test_padding_and_start_are_never_written() -> None:
    class Padder:
        def start(self, src):
            return src

        def step(self, state, tokens):
            logits = torch.zeros(len(tokens), 7)
            logits[:, [PAD, BOS]] = 50.0
            return logits

        def reorder(self, state, rows):
            return state[rows]

    outputs = greedy(Padder(), SOURCES, max_length=4)
    searches = searched(Padder(), SOURCES, width=4, alpha=0.0, max_lengths=[4] * 3)
    outputs += [hypothesis.ids for search in searches for hypothesis in search.hypotheses]
    assert not {PAD, BOS} & {token for output in outputs for token in output}


def test_cross_attention_keys_are_computed_once_for_a_whole_search() -> None:
    with record("*.cross_attention.k") as trace:
        searched(tiny_model(1), SOURCES, width=2, alpha=0.6, max_lengths=[8] * 3)
    assert len(trace) == 2
    assert all(len(trace.all(address)) == 1 for address in trace)


@pytest.mark.parametrize("width, max_length", [(0, 5), (-1, 5), (2, 0)])
def test_refuses_an_impossible_beam(width: int, max_length: int) -> None:
    with pytest.raises(ValueError, match=f"must be at least 1, got {width} and {max_length}"):
        searched(tiny_model(1), SOURCES, width=width, alpha=0.0, max_lengths=[max_length] * 3)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_logits_that_are_not_numbers_are_refused(wrong: float) -> None:
    class Broken:
        def start(self, src):
            return None

        def step(self, state, tokens):
            return torch.tensor([wrong if wrong < 0 else 0.0, wrong, wrong]).repeat(len(tokens), 1)

    says = "the model computed logits that are not numbers"
    with pytest.raises(ValueError, match=says):
        searched(Broken(), SOURCES, width=2, alpha=0.6, max_lengths=[3] * 3)
    # A model in training may be broken for a while, and is looked at all the same.
    assert [len(ids) <= 3 for ids in greedy(Broken(), SOURCES, max_length=3)] == [True] * 3
    with pytest.raises(ValueError, match=says):
        sample(Broken(), None, torch.tensor([1]), length=2)


def test_length_penalty_is_wu_et_al_2016() -> None:
    assert length_penalty(1, 0.7) == 1.0
    assert length_penalty(13, 0.5) == pytest.approx(3**0.5)


# -- a locked prefix


@pytest.mark.parametrize("seed", range(5))
def test_greedy_decoding_after_its_own_prefix_is_the_same(seed: int) -> None:
    model = tiny_model(seed)
    outputs = greedy(model, SOURCES, max_length=9)
    for length in range(9):
        prefixes = [output[:length] for output in outputs]
        searches = searched(model, SOURCES, width=1, alpha=0.6, max_lengths=[9] * 3, prefixes=prefixes)
        assert [search.hypotheses[0].ids for search in searches] == outputs


@pytest.mark.parametrize("prefix", [[], [3], [4, 4], [5, 3, 4], [3, 5, 4]])
@torch.no_grad()
def test_a_wide_beam_finds_the_best_of_all_targets_with_a_prefix(prefix: list[int]) -> None:
    model = tiny_model(1, vocab_size=6)
    src = SOURCES[:1].clamp(max=5)
    search = searched(model, src, width=200, alpha=0.6, max_lengths=[4], prefixes=[prefix])[0]
    expected = {
        tuple(target[:-1]): log_probability(model, src[0], target)
        for target in all_targets(6, 4)
        if target[: len(prefix)] == prefix
    }
    assert {tuple(h.ids): h.log_probability for h in search.hypotheses} == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_batch_with_prefixes_of_its_own_finds_what_single_sentences_find(width: int) -> None:
    model, prefixes = tiny_model(1), [[4, 3, 5], [], [6, EOS]]
    together = searched(model, SOURCES, width=width, alpha=0.6, max_lengths=[9] * 3, prefixes=prefixes)
    for src, prefix, search in zip(SOURCES, prefixes, together, strict=True):
        alone = searched(model, src[None, src != PAD], width=width, alpha=0.6, max_lengths=[9], prefixes=[prefix])[0]
        assert search.tree.token == alone.tree.token
        assert search.tree.total == pytest.approx(alone.tree.total, abs=1e-5)
        hypotheses = [[*h.ids, EOS] if h.finished else h.ids for h in search.hypotheses]
        assert all(ids[: len(prefix)] == prefix for ids in hypotheses)
    assert [h.ids for h in together[2].hypotheses] == [[6]], "a prefix with the end token is a whole translation"


@pytest.mark.parametrize("width", [1, 3])
def test_a_whole_translation_as_prefix_is_found_with_its_score(width: int) -> None:
    model = tiny_model(2)
    free = searched(model, SOURCES, width=width, alpha=0.6, max_lengths=[20] * 3)
    best = [search.hypotheses[0] for search in free]
    assert any(hypothesis.finished for hypothesis in best)
    prefixes = [[*candidate.ids, EOS] if candidate.finished else candidate.ids for candidate in best]
    locked = searched(model, SOURCES, width=width, alpha=0.6, max_lengths=[20] * 3, prefixes=prefixes)
    for search, expected in zip(locked, best, strict=True):
        (continuation,) = search.hypotheses
        assert (continuation.ids, continuation.finished) == (expected.ids, expected.finished)
        assert continuation.score == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        ([3] * 6, "the locked beginning has 6 tokens; at most 5"),
        ([PAD], f"token {PAD} cannot stand"),
        ([3, BOS], f"token {BOS} cannot stand"),
        ([EOS, 3], f"token {EOS} cannot stand"),
    ],
)
def test_refuses_an_impossible_prefix(prefix: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        searched(tiny_model(1), SOURCES[:1], width=2, alpha=0.0, max_lengths=[5], prefixes=[prefix])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0, 5.0])
def test_ranking_anew_is_what_a_search_with_that_penalty_finds(alpha: float) -> None:
    model = tiny_model(3)
    for search, expected in zip(
        searched(model, SOURCES, width=4, alpha=1.0, max_lengths=[20] * 3),
        searched(model, SOURCES, width=4, alpha=alpha, max_lengths=[20] * 3),
        strict=True,
    ):
        assert search.rescored(alpha) == expected
