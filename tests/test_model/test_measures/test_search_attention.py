"""What the steps of a search looked at, against a pass for every node by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from model.config import GruConfig, TransformerConfig
from model.decoding.beam import ROOT
from model.gru import GruModel
from model.interventions.edits import Cell, Edits, Force
from model.measures.search_attention import looked_at
from model.running.translator import Translator
from model.storage.checkpoint import Checkpoint
from model.taps import record
from model.text.special import BOS_ID
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support.repeated import first_quick

TEXT = "Two men walk on the street."


def translator_of(kind: str) -> Translator:
    """A random model that ends its sentences, of 2 encoder and 3 decoder layers, or recurrent."""
    tokenizer = Tokenizer.train([TEXT, "The animal was too tired."], vocab_size=320, alphabet_size=40)
    torch.manual_seed(5)
    size = len(tokenizer)
    if kind == "transformer":
        sizes = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 32}
        model: nn.Module = Transformer(TransformerConfig(vocab_size=size, max_length=40, **sizes))
    else:
        sizes = {"source_vocab_size": size, "target_vocab_size": size, "d_embedding": 12, "d_hidden": 16}
        model = GruModel(GruConfig(attention=kind == "gru with attention", max_length=40, **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return Translator(Checkpoint(Path("tiny"), model.eval(), tokenizer, {}))


@pytest.fixture(scope="module")
def tiny_translator() -> Translator:
    return translator_of("transformer")


def row_of(translator: Translator, path: list[int]) -> np.ndarray:
    """The last row of a pass over the tokens before the last of a path, averaged over layers and heads."""
    src = torch.tensor([translator.source_ids(TEXT)])
    with record("*cross_attention.weights") as trace, torch.no_grad():
        translator.model(src, torch.tensor([[BOS_ID, *path[:-1]]]))
    return np.mean([trace[address][0, :, -1].numpy() for address in trace], axis=(0, 1))


@pytest.mark.parametrize(("beam", "batch"), first_quick([(1, 1), (4, 3), (4, 16)]))
def test_every_node_has_the_row_of_its_own_pass(
    tiny_translator: Translator, monkeypatch: pytest.MonkeyPatch, beam: int, batch: int
) -> None:
    monkeypatch.setattr("model.measures.search_attention.BATCH", batch)
    tree = tiny_translator.translate(TEXT, beam=beam).search.tree
    table = looked_at(tiny_translator, TEXT, tree)
    assert table.shape == (len(tree.token), len(tiny_translator.source_ids(TEXT))) and table.dtype == np.float32
    assert not table[ROOT].any() and len(tree.token) > 5
    for node in range(1, len(tree.token)):
        np.testing.assert_allclose(table[node], row_of(tiny_translator, tree.path(node)), atol=1e-5)


def test_recurrent_models_have_rows_too_if_they_attend() -> None:
    translator = translator_of("gru with attention")
    tree = translator.translate(TEXT, beam=2).search.tree
    table = looked_at(translator, TEXT, tree)
    assert translator.translate(TEXT, beam=2).attention("cross").shape[:2] == (1, 1)
    np.testing.assert_allclose(table[1:].sum(axis=1), 1, atol=1e-5)
    plain = translator_of("gru")
    with pytest.raises(ValueError, match="no cross-attention"):
        looked_at(plain, TEXT, plain.translate(TEXT, beam=2).search.tree)


def test_edits_are_felt_as_in_the_search(tiny_translator: Translator) -> None:
    edits = Edits(forced=(Force(1, 2, 1.0),), cells=(Cell("cross", 2, 0, False), Cell("decoder_self", 0, 3, True)))
    result = tiny_translator.translate(TEXT, beam=3, edits=edits)
    tree = result.search.tree
    table = looked_at(tiny_translator, TEXT, tree, edits)
    steps = np.array([len(tree.path(node)) for node in range(len(tree.token))])
    expected = np.zeros(table.shape[1])
    expected[2] = 1
    np.testing.assert_array_equal(table[steps == 2], np.tile(expected, ((steps == 2).sum(), 1)))
    assert (table[steps == 3, 0] == 0).all() and (table[steps == 3, 1:] > 0).all()
    mean = result.attention("cross").mean(axis=(0, 1))
    node = result.search.hypotheses[0].node
    while node != ROOT:
        np.testing.assert_allclose(table[node], mean[steps[node] - 1], atol=1e-5)
        node = tree.parent[node]
