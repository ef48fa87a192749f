"""What heads can do by their weights alone, against the matrices of plain models multiplied out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.adapters.readers.tasks import attach
from model.measures.heads import weights
from model.measures.heads.any_model import HeadMeasures
from tests.support.architectures import Numbers, build
from tests.test_model.builders import VARIANTS
from tests.test_model.test_running.test_attribution import TEXT, translator_of, writer_of

N_HEADS, SIZE = 4, 8  # of the tiny GPT-2


def of_head(vectors: torch.Tensor, head: int) -> np.ndarray:
    return vectors[:, head * SIZE : (head + 1) * SIZE].detach().numpy().astype(np.float64)


@torch.no_grad()
def test_gpt2_multiplied_out() -> None:
    model = build("gpt2").eval()
    reader = attach(model, Numbers())
    measured = weights.measure(reader)["decoder_self"]
    kernels = weights.position_kernels(reader)["decoder_self"]
    plain = build("gpt2").transformer
    tokens = plain.wte.weight + plain.wpe.weight[0]  # (V, D)
    positions = plain.wte.weight[:64].mean(0) + plain.wpe.weight[: weights.POSITIONS]  # (T, D)
    unembedded = model.get_output_embeddings().weight * plain.ln_f.weight  # (V, D)
    unembedded = unembedded - unembedded.mean(1, keepdim=True)
    causal = np.tril(np.ones((weights.POSITIONS,) * 2, bool))
    for layer, block in enumerate(plain.h):
        queries, keys, values = block.attn.c_attn(block.ln_1(tokens)).split(32, -1)
        of_places = block.attn.c_attn(block.ln_1(positions)).split(32, -1)
        for head in range(N_HEADS):
            query, key, value = (of_head(vectors, head) for vectors in (queries, keys, values))
            projection = block.attn.c_proj.weight[head * SIZE : (head + 1) * SIZE]  # (K, D)
            written = (torch.from_numpy(value).float() @ projection @ unembedded.T).numpy().astype(np.float64)
            written = written - written.mean(0) - written.mean(1, keepdims=True) + written.mean()  # (V, V)
            eigenvalues = np.linalg.eigvals(written)
            largest = eigenvalues[np.argsort(-np.abs(eigenvalues))[:SIZE]]
            assert np.isclose(measured["copying"][layer, head], (largest.real > 0).mean())
            scores = query @ key.T
            above = (np.diag(scores) - scores.mean(1)) / scores.std(1)
            assert np.isclose(measured["same_by_weights"][layer, head], above.mean(), atol=1e-4)
            query, key = (of_head(vectors, head) for vectors in of_places[:2])
            expected = np.where(causal, query @ key.T / np.sqrt(SIZE), -np.inf)
            np.testing.assert_allclose(kernels[layer, head], expected, atol=1e-4)
            rows = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
            previous = np.mean([rows[row, row - 1] for row in range(1, len(rows))])
            assert np.isclose(measured["previous_by_weights"][layer, head], previous, atol=1e-5)
            assert measured["distance_by_weights"][layer, head] <= 1


def test_rotary_positions_decide_by_distance() -> None:
    reader = attach(build("llama"), Numbers())
    kernels = weights.position_kernels(reader)["decoder_self"]
    for distance in (0, 1, 5):
        diagonal = np.diagonal(kernels, -distance, axis1=2, axis2=3)
        np.testing.assert_allclose(diagonal, diagonal[..., :1].repeat(diagonal.shape[-1], -1), atol=1e-4)
    assert np.isneginf(kernels[0, 0, 0, 1])


@pytest.mark.parametrize("name", ["pre", "post", "untied", "post-with-final-norm", "modern"])
def test_words_of_our_translators_are_the_directions_of_effects(name: str) -> None:
    """The direction of a word in a context is that along which a direct effect is measured, up to a factor above 0."""
    translator = translator_of(**VARIANTS[name])
    result = translator.force(TEXT, "Zwei Männer gehen.")
    ids = list(range(4, len(translator.tokenizer.target)))
    words = weights._Lab.of(translator).words()
    _, effects = translator.effects_on(result, 20, 33, 1)
    for layer in range(3):
        of_words = words[f"decoder.layers.{layer}.self_attention"]  # (N, H, K)
        expected = of_words[ids.index(20)] - of_words[ids.index(33)]
        direction = effects.directions("decoder_self")[layer][:, 1]  # (H, K)
        cosine = (direction * expected).sum() / np.linalg.norm(direction) / np.linalg.norm(expected)
        assert np.isclose(cosine, 1, atol=1e-4)


def test_every_kind_of_model_has_what_can_be_measured() -> None:
    translator = translator_of(norm="pre")
    measured = weights.measure(translator)
    assert {kind: set(values) for kind, values in measured.items()} == {
        "encoder_self": set(weights.NAMES) - {"copying"},
        "decoder_self": set(weights.NAMES),
        "cross": {"distance_by_weights"},
    }
    assert measured["decoder_self"]["copying"].shape == (3, 4)
    writer = writer_of(norm="pre", final_norm=True)
    measures = HeadMeasures(writer, ["the red cat sat on a mat"])
    for place, result in measures.readings(measures.texts):
        measures.add(place, result)
    report = measures.report()
    np.testing.assert_allclose(
        report["kinds"]["decoder_self"]["copying"], weights.measure(writer)["decoder_self"]["copying"], atol=1e-4
    )
    for name in ("bert", "t5", "gemma2", "bart", "opt", "olmo2"):
        reader = attach(build(name), Numbers())
        for kind, values in weights.measure(reader).items():
            assert all(np.isfinite(value).all() for value in values.values())
            assert ("copying" in values) == (reader.config.task == "decoder")
            assert values["distance_by_weights"].shape[0] == len(reader.config.layers(kind))
    for name in ("albert", "gptj", "vit"):
        assert weights.measure(attach(build(name), Numbers())) == {}
