"""What attached models say about a word: direct effects, the lens, occlusion and the importance of heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from model import attach
from model.adapters.readers.reader import Reader
from model.adapters.readers.reading import Reading
from model.interventions.edits import Cell, Edits, Force, Head, all_heads
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick

POST_NORM = ("bart", "marian")
WORD, OTHER = 17, 23
NO_EDITS = Edits()


def read(architecture: str, edits: Edits = NO_EDITS) -> tuple[Reader, Reading]:
    reader, inputs = attach(architectures.build(architecture), Numbers()), architectures.inputs_of(architecture)
    if architecture in architectures.ENCODERS:
        inputs["input_ids"][0, 3] = Numbers.mask_token_id
    return reader, reader.read(**inputs, edits=edits)


def log_probabilities(result: Reading) -> np.ndarray:
    """Of the words that measures are about, float32 (words,)."""
    logs = torch.from_numpy(result.logits).log_softmax(-1).numpy()
    if result.masked_words:
        return logs[list(result.masked_words)]
    return logs


class TestEffects:
    @pytest.mark.parametrize(
        "architecture",
        first_quick([name for name in [*architectures.DECODERS, *architectures.PAIRS] if name not in POST_NORM], 4),
    )
    def test_parts_sum_to_the_difference_of_the_logits(self, architecture: str) -> None:
        kind = "cross" if architecture in architectures.PAIRS else "decoder_self"
        for edits in (Edits(), Edits(off=(Head("decoder_self", 1, 0),), forced=(Force(3, 1, 0.8, kind=kind),))):
            reader, result = read(architecture, edits)
            effects = reader.effects(result, WORD, against=OTHER)
            expected = result.logits[:, WORD] - result.logits[:, OTHER]
            np.testing.assert_allclose(np.sum(list(effects.parts.values()), axis=0), effects.logits, atol=1e-5)
            capped = getattr(reader.model.config, "final_logit_softcapping", None)
            if capped:
                expected = np.subtract(
                    *(np.arctanh(result.logits[:, word] / capped) * capped for word in (WORD, OTHER))
                )
            np.testing.assert_allclose(effects.logits, expected, atol=1e-4)
            for kind in effects.kinds:
                assert effects.heads(kind).shape == result.attention(kind).shape
                assert not effects.heads(kind)[result.attention(kind) == 0].any()
                modules = [effects.parts[module] for module in result.modules(kind)]
                np.testing.assert_allclose(effects.heads(kind).sum(axis=(1, 3)), modules, atol=1e-5)

    @pytest.mark.parametrize(
        ("architecture", "norm", "layers", "projection"),
        [
            ("llama", "model.norm", "model.layers", "self_attn.o_proj"),
            ("qwen3", "model.norm", "model.layers", "self_attn.o_proj"),
            ("gpt_neox", "gpt_neox.final_layer_norm", "gpt_neox.layers", "attention.dense"),
        ],
    )
    def test_a_head_adds_its_slice_of_the_output_projection(
        self, architecture: str, norm: str, layers: str, projection: str
    ) -> None:
        reader, result = read(architecture)
        effects = reader.effects(result, WORD, against=OTHER)
        final = reader.model.get_submodule(norm)
        stream = result.trace[f"decoder.layers.{len(result.attention('decoder_self')) - 1}.residual_ff.stream"]
        centred = stream - stream.mean(-1, keepdims=True) * (final.__class__.__name__ == "LayerNorm")
        eps = getattr(final, "variance_epsilon", None) or final.eps
        scale = 1 / np.sqrt((centred**2).mean(-1) + eps)  # (T,)
        matrix = reader.model.get_output_embeddings().weight.detach().numpy()
        direction = (matrix[WORD] - matrix[OTHER]) * final.weight.detach().numpy()
        if final.__class__.__name__ == "LayerNorm":
            direction = direction - direction.mean()
        for layer, head, query, key in np.ndindex(effects.heads("decoder_self").shape):
            weight = reader.model.get_submodule(f"{layers}.{layer}.{projection}").weight.detach().numpy()
            values = result.trace[f"decoder.layers.{layer}.self_attention.v"]
            value = values[head * len(values) // 4, key]
            head_output = weight[:, head * len(value) : (head + 1) * len(value)] @ value
            expected = (
                result.attention("decoder_self")[layer, head, query, key] * scale[query] * direction @ head_output
            )
            assert effects.heads("decoder_self")[layer, head, query, key] == pytest.approx(expected, abs=1e-5)

    def test_words_are_compared_with_each_other_or_the_mean(self) -> None:
        reader, result = read("llama")
        logits = result.logits[np.arange(7), result.predicted_ids]
        np.testing.assert_allclose(reader.effects(result).logits, logits - result.logits.mean(-1), atol=1e-4)
        best = reader.effects(result, against="runner-up")
        assert best.logits[-1] > 0  # the last word is the model's own
        assert (best.alternatives != result.predicted_ids).all()
        np.testing.assert_array_equal(reader.effects(result, "17", against="23").alternatives, [OTHER] * 7)

    @pytest.mark.parametrize(
        ("architecture", "words"),
        [
            *((name, "this model is an encoder") for name in ("bert", "modernbert", "vit")),
            *((name, "normalises the sum after every sublayer") for name in POST_NORM),
        ],
    )
    def test_where_they_would_not_be_exact_one_sentence_says_why(self, architecture: str, words: str) -> None:
        reader, inputs = attach(architectures.build(architecture), Numbers()), architectures.inputs_of(architecture)
        with pytest.raises(ValueError, match=words) as error:
            reader.effects(reader.read(**inputs), WORD)
        assert "\n" not in str(error.value)

    def test_a_norm_that_is_no_norm(self) -> None:
        reader, result = read("llama")
        layer = reader.model.model.layers[1]
        forward = layer.input_layernorm.forward
        layer.input_layernorm.forward = lambda x: torch.tanh(forward(x))
        with pytest.raises(ValueError, match="would not be exact"):
            reader.effects(reader.read(**architectures.inputs_of("llama")), WORD)

    @pytest.mark.parametrize(
        ("word", "words"), [("11 12", "is 2 tokens of this model"), ("99", "0 to 98"), (-1, "0 to 98")]
    )
    def test_words_that_are_not_one_token(self, word: Any, words: str) -> None:
        reader, result = read("llama")
        with pytest.raises(ValueError, match=words):
            reader.effects(result, word)

    def test_what_another_model_read(self) -> None:
        with pytest.raises(ValueError, match="made by another model"):
            read("llama")[0].effects(read("gpt2")[1], WORD)


class TestImportance:
    @pytest.mark.parametrize(
        "architecture", first_quick(["gpt2", "llama", "gpt_oss", "jamba", "bert", "albert", "t5", "bart"], 2)
    )
    def test_rows_of_a_batch_are_what_single_passes_are(self, architecture: str, monkeypatch) -> None:
        monkeypatch.setattr("model.adapters.readers.explanation.removal.MOST", 99 * 7 * 5)  # several batches
        reader, result = read(architecture)
        importance = reader.importance(result)
        words = result.logits[list(result.masked_words)].argmax(-1) if result.masked_words else result.predicted_ids
        before = log_probabilities(result)[np.arange(len(words)), words]
        for head in all_heads(reader.config):
            without_head = reader.read(**result.inputs, edits=Edits(off=(head,)))
            after = log_probabilities(without_head)[np.arange(len(words)), words]
            layer = result.layers(head.kind).index(head.layer)
            np.testing.assert_allclose(importance[head.kind][layer, head.head], before - after, atol=1e-5)

    @pytest.mark.parametrize("architecture", ["gpt2", "bert", "t5", "bart"])
    def test_a_text_as_a_tokenizer_gives_it(self, architecture: str) -> None:
        """With a mask over padding, which has the one row of the text."""
        reader, plain = read(architecture)
        padding = torch.ones_like(plain.inputs["input_ids"])
        expected = reader.importance(plain)
        for kind, importance in reader.importance(reader.read(**plain.inputs, attention_mask=padding)).items():
            np.testing.assert_allclose(importance, expected[kind], atol=1e-5)

    def test_some_steps(self) -> None:
        reader, result = read("llama")
        every, selection = (reader.importance(result, steps)["decoder_self"] for steps in (None, [2, -1]))
        np.testing.assert_allclose(selection, every[..., [2, -1]], atol=1e-5)
        with pytest.raises(ValueError, match="numbered from 0 to 6, got 7"):
            reader.importance(result, [7])

    def test_with_edits_of_the_result(self) -> None:
        edits = Edits(off=(Head("decoder_self", 0, 1),))
        reader, result = read("llama", edits)
        assert not reader.importance(result)["decoder_self"][0, 1].any()

    def test_a_text_without_a_masked_word(self) -> None:
        reader = attach(architectures.build("bert"), Numbers())
        with pytest.raises(ValueError, match="no word is masked: write 4 in the place of one"):
            reader.importance(reader.read("11 12"))


class TestOcclusion:
    @pytest.mark.parametrize("architecture", ["llama", "gemma2", "bert"])
    def test_a_token_that_is_left_out_is_read_by_no_other(self, architecture: str) -> None:
        reader, result = read(architecture)
        (kind,) = reader.config.kinds
        drops = reader.occlusion(result)
        words = result.logits[list(result.masked_words)].argmax(-1) if result.masked_words else result.predicted_ids
        before = log_probabilities(result)[np.arange(len(words)), words]
        for token in range(7):
            cells = tuple(Cell(kind, query, token, open=False) for query in range(7) if query != token)
            blocked = reader.read(**result.inputs, edits=Edits(cells=cells))
            after = log_probabilities(blocked)[np.arange(len(words)), words]
            np.testing.assert_allclose(drops[:, token], before - after, atol=1e-5)
        if kind == "decoder_self":
            assert np.abs(np.triu(drops, 1)).max() < 1e-5  # what comes later changes nothing

    def test_of_an_encoder_decoder_the_source_is_left_out(self) -> None:
        reader, result = read("t5")
        drops = reader.occlusion(result)
        cells = tuple(
            Cell(kind, query, 2, open=False) for kind, n in (("encoder_self", 7), ("cross", 5)) for query in range(n)
        )
        blocked = reader.read(**result.inputs, edits=Edits(cells=cells))
        steps = np.arange(5)
        before, after = (log_probabilities(run)[steps, result.predicted_ids] for run in (result, blocked))
        np.testing.assert_allclose(drops[:, 2], before - after, atol=1e-5)


class TestLens:
    @pytest.mark.parametrize("architecture", ["gpt2", "opt", "gemma2", "t5", "bert", "jamba"])
    def test_the_last_layer_is_the_model(self, architecture: str, monkeypatch) -> None:
        monkeypatch.setattr("model.adapters.readers.explanation.lens.MOST", 99 * 7 * 2)  # several passes
        reader, result = read(architecture)
        lens = reader.lens(result, k=3)
        expected = torch.from_numpy(result.logits).softmax(-1).topk(3)
        np.testing.assert_allclose(lens.probabilities[-1], expected.values, atol=1e-6)
        np.testing.assert_array_equal(lens.ids[-1], expected.indices)
        stack = "encoder" if architecture == "bert" else "decoder"
        n_layers = len(reader.layout.stacks[stack])
        assert lens.sublayers == ["input", *(f"{stack}.layers.{layer}.feed_forward" for layer in range(n_layers))]
        assert lens.ids.shape == (n_layers + 1, *expected.indices.shape)

    def test_a_layer_before_is_the_model_without_those_after(self) -> None:
        reader, result = read("llama")
        stream = torch.from_numpy(result.trace["decoder.layers.1.residual_ff.stream"])
        with torch.inference_mode():
            logits = reader.model.lm_head(reader.model.model.norm(stream))
        np.testing.assert_array_equal(reader.lens(result).ids[2], logits.topk(5).indices)

    @pytest.mark.parametrize(
        ("architecture", "k", "words"),
        [
            ("llama", 0, "k must be from 1 to 99"),
            ("albert", 5, "share their weights"),
            ("vit", 5, "reads no text"),
            ("whisper", 5, "reads no text"),
        ],
    )
    def test_refusals(self, architecture: str, k: int, words: str) -> None:
        reader, inputs = attach(architectures.build(architecture), Numbers()), architectures.inputs_of(architecture)
        with pytest.raises(ValueError, match=words):
            reader.lens(reader.read(**inputs), k)
