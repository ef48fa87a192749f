"""Heads as word aligners: the error rate by hand, subwords to words, planted heads, what was kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from model import load_translator
from model.config import TransformerConfig
from model.gru import GruConfig, GruModel
from model.measures import alignment
from model.measures.contribution import contributions
from model.measures.word_links import LinkedPair, LinkedText
from model.running.translator import Translator
from model.storage import checkpoint
from model.taps import intervene
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer
from model.transformer import Transformer

SENTENCES = ["the old house here .", "das alte Haus hier .", "Ein T-Shirt."]


def save(folder: Path, model_of, config, tokenizer: Tokenizer) -> Translator:
    torch.manual_seed(3)
    checkpoint.save(folder, model_of(config), tokenizer, {"source": "en", "target": "de"})
    return load_translator(str(folder))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=300, alphabet_size=30)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Translator:
    config = TransformerConfig(
        vocab_size=len(tokenizer), d_model=12, n_heads=3, n_encoder_layers=1, n_decoder_layers=2, d_ff=8, max_length=60
    )
    return save(tmp_path_factory.mktemp("checkpoints") / "small", Transformer, config, tokenizer)


def linked(source: str, target: str, sure: set, possible: set = frozenset(), languages=("en", "de")) -> LinkedText:
    pair = LinkedPair(
        1, source, target, source.split(), target.split(), frozenset(sure), frozenset(sure) | frozenset(possible)
    )
    return LinkedText("toys", languages, "a test", [pair], 0)


# -- the error rate


def test_the_error_rate_by_hand():
    pair = linked("a b c", "x y", {(0, 0), (1, 1)}, {(2, 1)}).pairs[0]
    counts = alignment.Counts()
    # Three aligners of x and y. Of 2 links made and 2 sure ones: all right; one only possible; none right.
    counts.add(np.array([[0, 1], [0, 2], [2, 0]]), [0, 1], pair)
    np.testing.assert_allclose(counts.error_rate(), [1 - 4 / 4, 1 - (1 + 2) / 4, 1 - 0 / 4])


def test_counts_are_summed_over_pairs_before_the_rate_is_taken():
    counts = alignment.Counts()
    counts.add(np.array([0]), [0], linked("a b", "x", {(0, 0)}).pairs[0])
    counts.add(np.array([0, 0, 0]), [0, 1, 2], linked("a b", "x y z", {(1, 0), (1, 1), (1, 2)}).pairs[0])
    assert float(counts.error_rate()) == 1 - 2 / 8  # the mean of both rates would be 1/2


def test_a_pair_without_sure_links_has_none_right():
    pair = linked("a b", "x y", set(), {(0, 0), (1, 1)}).pairs[0]
    counts = alignment.Counts()
    counts.add(np.array([[0, 1], [1, 0]]), [0, 1], pair)
    assert counts.in_sure.tolist() == [0, 0] and counts.in_possible.tolist() == [2, 0]
    np.testing.assert_allclose(counts.error_rate(), [1 - 2 / 2, 1 - 0 / 2])


def test_with_sure_links_only_it_is_one_minus_f1():
    sure = {(0, 0), (1, 1), (1, 2)}
    counts = alignment.Counts()
    counts.add(np.array([0, 0]), [0, 1], linked("a b", "x y z", sure).pairs[0])
    precision, recall = 1 / 2, 1 / 3
    assert float(counts.error_rate()) == pytest.approx(1 - 2 * precision * recall / (precision + recall))


# -- tokens and words


def test_tokens_find_the_word_they_are_in(tokenizer):
    text, words = "Ein T-Shirt. Ωx", ["Ein", "T-Shirt", ".", "Ωx"]
    of_token = alignment.word_of_each_token(tokenizer, text, words)
    tokens = tokenizer.tokens(tokenizer.encode(text))
    assert len(of_token) == len(tokens) and of_token == sorted(of_token)
    spelt = ["".join(t for t, index in zip(tokens, of_token, strict=True) if index == word) for word in range(4)]
    assert spelt[:3] == ["▁Ein", "▁T-Shirt", "."] and spelt[3].startswith("▁<0xCE><0xA9>")


def test_spaces_and_composed_letters_do_not_matter(tokenizer):
    of_token = alignment.word_of_each_token(tokenizer, "das Ha\u0308us .", ["das", "H\u00e4us", "."])
    assert set(of_token) == {0, 1, 2}


def test_words_of_a_list_may_be_unknown_and_lowercased():
    cut = WordTokenizer("en", True, ["the"])
    assert alignment.word_of_each_token(cut, "The DOG can't.", ["The", "DOG", "can't", "."]) == [0, 1, 2, 2, 3]


@pytest.mark.parametrize("words", [["das"], ["das", "Haus", "da"], ["da"]])
def test_words_that_do_not_spell_the_text_are_refused(tokenizer, words):
    with pytest.raises(ValueError, match="the words do not spell the text|the text ends before the word"):
        alignment.word_of_each_token(tokenizer, "das Haus", words)


def test_subwords_are_summed_into_and_averaged_from_their_words():
    # Columns 1 and 2 are one word, and rows 1 and 2.
    values = np.array([[0.40, 0.30, 0.30], [0.90, 0.05, 0.05], [0.00, 0.45, 0.55]])
    best = alignment.best_words(values, [0, 1, 1], [0, 1, 1])
    # Row 0: 0.4 against 0.6. Rows 1 and 2: the mean of 0.9 and 0 against the mean of 0.1 and 1.
    assert best.tolist() == [1, 1]
    assert alignment.best_words(values[:2], [0, 1, 1], [0, 1]).tolist() == [1, 0]


def test_words_without_a_token_take_no_part():
    values = np.array([[0.1, 0.9], [0.8, 0.2]])
    assert alignment.best_words(values, [0, 2], [1, 3]).tolist() == [2, 0]


# -- whole measurements


def planted(translator: Translator, text: LinkedText, shift: int) -> dict:
    """An intervention by which head 1 of layer 1 reads, at step t + shift, a word that token t is linked to."""
    pair = text.pairs[0]
    source_of = alignment.word_of_each_token(translator.tokenizer, pair.source, pair.source_words)
    target_of = alignment.word_of_each_token(translator.tokenizer, pair.target, pair.target_words)
    right = {t: s for s, t in pair.sure}

    def plant(weights: torch.Tensor) -> torch.Tensor:
        weights[0, 1] = 0
        weights[0, 1, :, -1] = 0.4  # the end token, which takes no part
        for t, word in enumerate(target_of):
            weights[0, 1, t + shift, source_of.index(right[word])] = 0.3
        return weights

    return {"decoder.layers.1.cross_attention.weights": plant}


@pytest.mark.parametrize("direction", [("en", "de"), ("de", "en")])
@pytest.mark.parametrize(("shift", "read_at"), [(0, "output"), (1, "input")])
def test_a_planted_aligner_is_perfect_where_it_was_planted(translator, direction, shift, read_at):
    links = {(0, 2), (1, 1), (2, 0), (3, 4), (4, 3)}
    text = linked("the old house here .", "Haus alte das . hier", links)
    changes = planted(translator, text, shift)
    if direction == ("de", "en"):
        turned = linked(text.pairs[0].target, text.pairs[0].source, {(t, s) for s, t in links}, languages=("de", "en"))
        text = turned
    with intervene(changes):
        result = alignment.measure(translator, text)
    assert (result["source"], result["target"], result["pairs"]) == ("en", "de", 1)
    rates = {at: np.array(result["aer"][at]["weights"]["heads"]) for at in ("output", "input")}
    assert rates[read_at].shape == (2, 3)
    assert rates[read_at][1, 1] == 0
    assert rates["input" if read_at == "output" else "output"][1, 1] > 0
    assert (result["words"], result["links"], result["best"]) == (5, 5, 0)


def test_the_diagonal_and_the_best_by_hand(translator):
    text = linked("the old house here", "das alte", {(0, 0), (1, 0), (3, 1)}, {(2, 1)})
    result = alignment.measure(translator, text)
    # The diagonal links word 0 of 2 to word 1 of 4 and word 1 to word 3: two sure links, of 3.
    assert result["diagonal"] == pytest.approx(1 - 4 / 5, abs=1e-4)
    assert result["best"] == pytest.approx(1 - 4 / 5, abs=1e-4)
    assert (result["links"], result["words"]) == (3, 2)


def test_summaries_are_those_of_the_heads(translator):
    text = linked("the old house here .", "das alte Haus hier .", {(i, i) for i in range(5)})
    address, plant = next(iter(planted(translator, text, 0).items()))

    def nearly_even(weights: torch.Tensor) -> torch.Tensor:
        return torch.full_like(weights, 0.001)

    changes = {
        address.replace("layers.1", "layers.0"): nearly_even,
        address: lambda weights: plant(nearly_even(weights)),
    }
    with intervene(changes):
        rates = alignment.measure(translator, text)["aer"]["output"]["weights"]
    assert rates["mean"][1] == rates["max"][1] == rates["mean_of_all"] == rates["max_of_all"] == 0
    assert rates["mean"][0] > 0


def test_norms_are_those_of_the_vectors_that_a_head_adds(translator):
    result = translator.force("the old house", "das alte Haus hier")
    norms = contributions(translator.model, result, "cross")
    assert norms.shape == (2, 3, len(result.target_tokens), len(result.source_tokens))
    for layer in range(2):
        attention = translator.model.decoder.layers[layer].cross_attention
        v = result.trace[f"decoder.layers.{layer}.cross_attention.v"]
        for head, t, s in ((0, 0, 0), (1, 3, 2), (2, 4, 1)):
            context = torch.zeros(3, 4)
            context[head] = torch.from_numpy(v[head, s]) * float(result.attention("cross")[layer, head, t, s])
            head_output = attention.output_projection(context.flatten()) - attention.output_projection(torch.zeros(12))
            assert norms[layer, head, t, s] == pytest.approx(float(head_output.norm()), rel=1e-4)


def test_the_vectors_behind_the_norms_add_up_to_the_output(translator):
    result = translator.force("the old house", "das alte Haus hier")
    attention = translator.model.decoder.layers[0].cross_attention
    context = torch.from_numpy(result.trace["decoder.layers.0.cross_attention.context"])  # (H, T, K)
    output = attention.output_projection(context.transpose(0, 1).flatten(1))
    torch.testing.assert_close(output, torch.from_numpy(result.trace["decoder.layers.0.cross_attention.output"]))
    # So the length of a step's output is at most the sum of the norms, and the bias.
    bound = contributions(translator.model, result, "cross")[0].sum(axis=(0, 2))
    without_bias = output - attention.output_projection(torch.zeros(12))
    assert (without_bias.norm(dim=1).numpy() <= bound * (1 + 1e-5)).all()


def test_a_recurrent_model_is_measured_by_its_weights(tmp_path, tokenizer):
    config = GruConfig(
        source_vocab_size=len(tokenizer), target_vocab_size=len(tokenizer), d_embedding=6, d_hidden=8, attention=True
    )
    result = alignment.measure(
        save(tmp_path / "gru", GruModel, config, tokenizer), linked("the house", "das Haus", {(0, 0), (1, 1)})
    )
    assert set(result["aer"]["output"]) == {"weights"}
    assert np.shape(result["aer"]["input"]["weights"]["heads"]) == (1, 1)


def test_pairs_too_long_are_counted_and_a_set_of_such_is_refused(translator):
    text = linked("the " * 59 + "the", "das", {(0, 0)})
    with pytest.raises(ValueError, match="toys: the model can read none of the 1 pairs"):
        alignment.measure(translator, text)
    both = LinkedText("toys", ("en", "de"), "a test", [*text.pairs, *linked("the", "das", {(0, 0)}).pairs], 0)
    result = alignment.measure(translator, both)
    assert (result["pairs"], result["too_long"]) == (1, 1)


# -- roles


def of_heads(diagonal, output, input):
    """A result with these error rates."""
    rates = {"output": {"weights": {"heads": output}}, "input": {"weights": {"heads": input}}}
    return {"aer": rates, "diagonal": diagonal}


def test_a_head_aligns_where_it_beats_the_diagonal_on_every_set():
    scores = of_heads(0.5, [[0.4, 0.6, 0.2], [0.5, 0.1, 0.9]], [[0.3, 0.4, 0.9], [0.5, 0.2, 0.9]])
    assert alignment.roles([scores]) == [["input", "input", "output"], ["", "output", ""]]
    other_scores = of_heads(0.3, [[0.1, 0.2, 0.4], [0.1, 0.3, 0.1]], [[0.4, 0.29, 0.1], [0.1, 0.0, 0.1]])
    # What beats it read in one way here and in another way there beats it in neither.
    assert alignment.roles([scores, other_scores]) == [["output", "input", ""], ["", "input", ""]]
