"""Direct effects, lens and occlusion of what a translator or a writer recorded, and what they refuse."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from model.config import GruConfig, LanguageModelConfig, TransformerConfig
from model.gru import GruModel
from model.interventions.edits import Cell, Edits, Force, Head
from model.language_model import LanguageModel
from model.results.translation import Translation
from model.running import attribution
from model.running.translator import Translator, Writer
from model.storage.checkpoint import Checkpoint
from model.text.special import EOS_ID
from model.text.subwords import Tokenizer
from model.text.words import TextWords
from model.transformer import Transformer
from tests.test_model.builders import VARIANTS, randomise

TEXT = "The animal was too tired."
TOKENIZER = Tokenizer.train([TEXT, "Two young men walk.", "Zwei Männer gehen."], vocab_size=330, alphabet_size=40)
SIZES = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 3, "d_ff": 32, "max_length": 60}
EDITS = Edits(
    off=(Head("cross", 1, 2),),
    uniform=(Head("decoder_self", 0, 1),),
    forced=(Force(2, 3, 0.7),),
    cells=(Cell("encoder_self", 1, 2, False),),
)


def translator_of(seed: int = 1, **changes) -> Translator:
    """A translator of random weights that ends its sentences."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(vocab_size=len(TOKENIZER), **(SIZES | {"output_bias": True} | changes)))
    randomise(model, seed)
    if model.output.bias is not None:
        model.output.bias.data[EOS_ID] += 2
    return Translator(Checkpoint(Path("tiny"), model.eval(), TOKENIZER, {}))


def writer_of(**changes) -> Writer:
    words = TextWords([TextWords.EOS, TextWords.UNK, *"the cat sat on a red mat".split()])
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(vocab_size=len(words), d_model=12, n_heads=3, d_ff=20, **changes))
    randomise(model)
    return Writer(Checkpoint(Path("tiny"), model.eval(), words, {}))


@pytest.fixture(scope="module")
def translator() -> Translator:
    return translator_of()


@pytest.fixture(scope="module")
def result(translator: Translator) -> Translation:
    return translator.translate(TEXT, beam=3)


@pytest.mark.parametrize("edits", [Edits(), EDITS], ids=["as it is", "edited"])
@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_parts_add_up_to_the_logits_of_what_was_written(changes, edits: Edits) -> None:
    translator = translator_of(**changes)
    result = translator.translate(TEXT, beam=3, edits=edits, prefix=TOKENIZER.encode("Zwei Männer"))
    logits, n_steps = result.trace["logits"], len(result.target_tokens)
    assert n_steps != len(result.source_tokens)
    for against in (None, "runner-up", np.arange(n_steps)):
        effects = translator.effects(result, against)
        assert effects.rest <= 1e-4 * max(1, np.abs(effects.logits).max())
        assert {part.dtype for part in effects.parts.values()} == {effects.logits.dtype} == {np.dtype("float32")}
        assert effects.heads("cross").shape == result.attention("cross").shape
        assert effects.heads("decoder_self").shape == result.attention("decoder_self").shape
        predicted = logits[np.arange(n_steps), result.predicted_ids]
        alternative = logits.mean(1) if against is None else logits[np.arange(n_steps), effects.alternatives]
        np.testing.assert_allclose(effects.logits, predicted - alternative, atol=1e-4)
    read = translator.force(TEXT, result, edits)
    np.testing.assert_allclose(
        translator.effects(read).heads("cross"), translator.effects(result).heads("cross"), atol=1e-4
    )
    if edits:
        assert not effects.heads("cross")[1, 2].any()


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "final_norm": True}], ids=["post", "pre"])
def test_a_language_models_words(changes) -> None:
    writer = writer_of(**changes)
    result = writer.read("the red cat sat")
    effects = writer.effects(result, "runner-up")
    assert effects.rest < 1e-4 and effects.kinds == ["decoder_self"]
    assert effects.heads("decoder_self").shape == (2, 3, 5, 5)
    assert not np.triu(effects.heads("decoder_self"), 1).any()
    lens = writer.lens(result, k=2)
    assert lens.words[-1][-1][0] == result.predicted_tokens[-1]
    np.testing.assert_allclose(lens.probabilities[-1, -1, 0], np.exp(result.log_probabilities[-1]), atol=1e-6)


@torch.no_grad()
@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_the_lens_ends_with_what_the_model_says(changes) -> None:
    translator = translator_of(**changes)
    result = translator.translate(TEXT, beam=1)
    lens = translator.lens(result, k=4)
    sublayers = ["self_attention", "cross_attention", "feed_forward"]
    assert lens.sublayers == ["input", *(f"decoder.layers.{i}.{name}" for i in range(3) for name in sublayers)]
    assert lens.ids.shape == lens.probabilities.shape == (10, len(result.target_tokens), 4)
    ranks = [int(words[0] in ("<s>", "<pad>")) for words in lens.words[-1]]  # which greedy search never writes
    assert [words[rank] for rank, words in zip(ranks, lens.words[-1])] == result.predicted_tokens
    probabilities = lens.probabilities[-1, range(len(ranks)), ranks]
    np.testing.assert_allclose(probabilities, np.exp(result.log_probabilities), atol=1e-5)
    # After the second layer: the model without its third.
    shorter = translator_of(**changes).model
    shorter.decoder.layers = shorter.decoder.layers[:2]
    ids = torch.tensor([[1, *result.predicted_ids[:-1]]])
    expected = shorter(torch.tensor([translator.source_ids(TEXT)]), ids)[0].softmax(-1).topk(4)
    np.testing.assert_array_equal(lens.ids[6], expected.indices)
    np.testing.assert_allclose(lens.probabilities[6], expected.values, atol=1e-5)


@pytest.mark.parametrize("edits", [Edits(), Edits(off=(Head("cross", 1, 2),))], ids=["as it is", "edited"])
@pytest.mark.parametrize("most", [attribution.MOST, 1], ids=["at once", "one by one"])
def test_occlusion_is_what_blocking_a_column_costs(monkeypatch, translator, edits: Edits, most: int) -> None:
    monkeypatch.setattr(attribution, "MOST", most)
    result = translator.translate(TEXT, edits=edits)
    costs = translator.occlusion(result, edits)
    n_source, n_steps = len(result.source_tokens), len(result.target_tokens)
    assert costs.shape == (n_steps, n_source) and costs.dtype == np.float32
    for key in range(n_source):
        cells = [Cell("encoder_self", query, key, False) for query in range(n_source)]
        cells += [Cell("cross", step, key, False) for step in range(n_steps)]
        without = translator.force(TEXT, result, dataclasses.replace(edits, cells=tuple(cells)))
        np.testing.assert_allclose(costs[:, key], result.log_probabilities - without.log_probabilities, atol=1e-4)
    assert np.abs(costs).max(0).min() > 1e-3


def test_what_does_not_belong_together_is_told(translator: Translator, result: Translation) -> None:
    for other_translator in (translator_of(seed=2), translator_of(d_ff=36)):
        for call in (other_translator.effects, other_translator.lens, other_translator.occlusion):
            with pytest.raises(ValueError, match="^the result was made by another model"):
                call(result)
    with pytest.raises(ValueError, match="with other edits"):
        translator.occlusion(translator.translate(TEXT, edits=EDITS))
    with pytest.raises(ValueError, match="one id for each of the"):
        translator.effects(result, [1])
    with pytest.raises(ValueError, match=f"ids of words are 0 to {len(TOKENIZER) - 1}, got {len(TOKENIZER)} in"):
        translator.effects(result, [len(TOKENIZER)] * len(result.target_tokens))
    with pytest.raises(ValueError, match=f"k must be from 1 to {len(TOKENIZER)}, got 0"):
        translator.lens(result, 0)
    lacking = {translator.effects: "decoder.layers.2.cross_attention.v", translator.lens: "decoder.input.stream"}
    for call, gone in lacking.items():
        incomplete = dataclasses.replace(result, trace={k: v for k, v in result.trace.items() if k != gone})
        with pytest.raises(ValueError, match=f"^the whole trace is needed; the result lacks '{gone}'$"):
            call(incomplete)


def test_models_without_such_a_sum_say_so() -> None:
    writer = writer_of(cutoffs=(4,), init="normal")
    result = writer.read("the cat")
    with pytest.raises(ValueError, match="adaptive softmax"):
        writer.effects(result)
    np.testing.assert_allclose(
        writer.lens(result, 1).probabilities[-1, -1], np.exp(result.log_probabilities[-1]), atol=1e-6
    )
    size = len(TOKENIZER)
    recurrent = GruModel(
        GruConfig(source_vocab_size=size, target_vocab_size=size, d_embedding=8, d_hidden=8, attention=True)
    )
    translator = Translator(Checkpoint(Path("tiny"), recurrent.eval(), TOKENIZER, {}))
    result = translator.translate(TEXT, beam=1)
    for call in (translator.effects, translator.lens, translator.occlusion):
        with pytest.raises(ValueError, match="a recurrent network has no residual stream"):
            call(result)


def test_edits_hold_in_a_language_model_and_are_those_of_its_own_heads() -> None:
    writer = writer_of()
    edits = Edits(off=(Head("decoder_self", 1, 2),), cells=(Cell("decoder_self", 3, 0, False),))
    result = writer.read("the cat sat", edits)
    weights = result.attention("decoder_self")
    assert not weights[1, 2].any() and weights[1, :2].any()
    assert not weights[:, :, 3, 0].any() and not result.mask("decoder_self")[3, 0]
    projection = writer.model.decoder.layers[1].self_attention.output_projection
    with torch.no_grad():
        projection.weight[:, 8:12] = 0  # the third head's slice
    expected = writer.read("the cat sat", Edits(cells=edits.cells))
    np.testing.assert_allclose(result.trace["logits"], expected.trace["logits"], atol=1e-6)
    with pytest.raises(ValueError, match="this model has no cross-attention"):
        writer.read("the cat sat", Edits(off=(Head("cross", 0, 0),)))
    with pytest.raises(ValueError, match="got row 4"):
        writer.read("the cat sat", Edits(cells=(Cell("decoder_self", 4, 0, False),)))
