"""Cuts of paths in transformers' models against plain models whose passes hooks of the tests change, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from model.adapters.readers.tasks import attach
from model.interventions.edits import Cut, Edits, Head
from tests.support.architectures import Numbers, build, inputs_of
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.test_readers.test_explanation.test_score_parts import (
    Plain,
    attention_path,
    writers_of,
)

MODELS = ["llama", "gpt2", "t5", "bert", "bart", "qwen3", "gemma2", "gpt_neox", "olmo2", "marian", "modernbert", "phi"]


@pytest.mark.parametrize("name", first_quick(MODELS, 6))
def test_a_cut_is_what_three_plain_passes_make_of_it(name: str) -> None:
    plain = Plain(name)
    reader = attach(build(name).double(), Numbers())
    result = reader.read(**inputs_of(name))
    writers = writers_of(plain, reader)
    before = plain.run().logits[0].numpy()
    for kind in result.kinds:
        layer = result.layers(kind)[-1]
        head = reader.config.heads_by_layer[kind][layer] - 1
        path = attention_path(plain, kind, layer)
        for side, part in (("keys", "head 0.1"), ("queries", f"feed-forward {layer - 1}"), ("keys", "tokens")):
            cut = Cut(kind, layer, head, side, part)
            plain.swaps = {}
            writer, of_head = writers[cut.stack][part]
            vectors = plain.without(writer, of_head, path, holds_norms=False)
            place = ("queries", "keys").index(side)
            plain.swaps = {path: (place, head, vectors[place][head])}
            logits = plain.run().logits[0].numpy()
            outcome = reader.cut_path(result, cut)
            np.testing.assert_allclose(outcome.actual, plain.weights[path][0, head], atol=1e-6)
            np.testing.assert_allclose(outcome.result.logits, logits, atol=1e-5)
            assert np.abs(outcome.result.logits - before).max() > 1e-6
            parts = reader.score_parts(result, kind, layer, head)
            names, values = (
                (parts.key_names, parts.of_keys) if side == "keys" else (parts.query_names, parts.of_queries)
            )
            if not parts.cap:
                scores = np.where(parts.mask, parts.scores - values[names.index(part)], -np.inf)
                expected = np.exp(scores - scores.max(-1, keepdims=True))
                np.testing.assert_allclose(outcome.predicted, expected / expected.sum(-1, keepdims=True), atol=1e-6)


def test_heads_cut_together_are_the_module_and_texts_of_a_batch_are_read_as_alone() -> None:
    reader = attach(build("llama").double(), Numbers())
    cut = Cut("decoder_self", 2, 1, "keys", "attention 0")
    n_heads = reader.config.heads_by_layer["decoder_self"][0]
    heads = tuple(Cut("decoder_self", 2, 1, "keys", f"head 0.{head}") for head in range(n_heads))
    other = Cut("decoder_self", 2, 0, "keys", "tokens")  # which reads the same keys: it has a group with the first
    whole = reader.read("5 6 7 8 9 10", edits=Edits(cut=(cut, other)))
    by_head = reader.read("5 6 7 8 9 10", edits=Edits(cut=(*heads, other)))
    np.testing.assert_allclose(whole.logits, by_head.logits, atol=1e-6)
    for single in (cut, other):
        alone = reader.read("5 6 7 8 9 10", edits=Edits(cut=(single,)))
        weights = [each.attention("decoder_self")[2, single.head] for each in (whole, alone)]
        np.testing.assert_allclose(*weights, atol=1e-6)
    together = reader.read_batch(["5 6 7", "5 6 7 8 9 10"], edits=Edits(cut=(cut, other)))
    np.testing.assert_allclose(together[1].logits, whole.logits, atol=1e-5)
    edits = Edits(off=(Head("decoder_self", 0, 1),))
    result = reader.read("5 6 7 8 9 10", edits=edits)
    nothing = reader.cut_path(result, Cut("decoder_self", 2, 1, "keys", "head 0.1"))  # it wrote nothing
    np.testing.assert_allclose(nothing.actual, nothing.weights, atol=1e-6)
    np.testing.assert_array_equal(reader.read("5 6 7 8 9 10", edits=edits).logits, result.logits)


def test_what_cannot_be_cut_is_said() -> None:
    reader = attach(build("llama"), Numbers())
    cut = Cut("decoder_self", 1, 0, "keys", "positions")
    with pytest.raises(
        ValueError, match="have no part 'positions'; they have tokens, attention 0, feed-forward 0, head 0.0"
    ):
        reader.read("5 6 7 8", edits=Edits(cut=(cut,)))
    edits = Edits(cut=(Cut("decoder_self", 1, 0, "keys", "tokens"),))
    with pytest.raises(ValueError, match="not while one is written"):
        reader.write("5 6 7 8", tokens=3, edits=edits)
    with pytest.raises(ValueError, match="read the text again without the cut"):
        reader.score_parts(reader.read("5 6 7 8", edits=edits), "decoder_self", 1, 0)
    for name, reason in (("albert", "share their weights"), ("gptj", "in its own way")):
        reader = attach(build(name), Numbers())
        with pytest.raises(ValueError, match=reason):
            reader.read("5 6 7", edits=Edits(cut=(Cut(reader.config.kinds[0], 1, 0, "keys", "tokens"),)))
