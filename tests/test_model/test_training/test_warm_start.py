"""Beginning with the weights of a checkpoint, and the noise of careless typing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.training.batching import TrainingStream
from model.training.config import TrainingConfig
from model.training.evaluation import Validation
from model.training.loop import Trainer
from tests.test_model.test_training.language import sentence_pairs, tiny_run


@pytest.fixture(scope="module")
def shipped(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    Trainer(tiny_run(steps=3), data_dir, folder).train()
    return folder


@pytest.mark.slow
def test_it_begins_with_the_weights_and_the_tokenizer_of_the_checkpoint(
    shipped: Path, data_dir: Path, tmp_path: Path
) -> None:
    trainer = Trainer(tiny_run(), data_dir, tmp_path / "second", start_from=str(shipped))
    begun = checkpoint.load(shipped)
    assert trainer.tokenizer.to_json() == begun.tokenizer.to_json()
    expected = dict(begun.model.named_parameters())
    assert all(torch.equal(value, expected[name]) for name, value in trainer.model.named_parameters())
    assert all(value.requires_grad for value in trainer.model.parameters())
    trainer.train()
    assert any(not torch.equal(value, expected[name]) for name, value in trainer.model.named_parameters())


def test_dropout_may_be_another_one(shipped: Path, data_dir: Path, tmp_path: Path) -> None:
    trainer = Trainer(tiny_run(model={"dropout": 0.7}), data_dir, tmp_path / "second", start_from=str(shipped))
    assert {layer.p for layer in trainer.model.modules() if isinstance(layer, torch.nn.Dropout)} == {0.7}


@pytest.mark.slow
def test_wider_feed_forward_layers_begin_with_the_same_function_and_learn(
    shipped: Path, data_dir: Path, tmp_path: Path
) -> None:
    trainer = Trainer(tiny_run(model={"d_ff": 128}), data_dir, tmp_path / "wide", start_from=str(shipped))
    ids = torch.tensor([[5, 6, 7, 8]])
    trainer.model.eval()
    torch.testing.assert_close(trainer.model(ids, ids), checkpoint.load(shipped).model(ids, ids))
    outer = trainer.model.decoder.layers[0].feed_forward.outer.weight
    assert outer.shape[1] == 128 and not outer[:, 64:].any()
    trainer.train()
    assert outer[:, 64:].any()


def test_a_checkpoint_of_another_size_is_refused(shipped: Path, data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the checkpoint to start from has d_ff 64, the run 32"):
        Trainer(tiny_run(model={"d_ff": 32}), data_dir, tmp_path / "x", start_from=str(shipped))
    with pytest.raises(ValueError, match="the checkpoint to start from has d_model "):
        Trainer(tiny_run(model={"d_model": 64, "d_ff": 128}), data_dir, tmp_path / "x", start_from=str(shipped))
    with pytest.raises(ValueError, match="does-not-exist/config.json cannot be read"):
        Trainer(tiny_run(), data_dir, tmp_path / "x", start_from="does-not-exist")


@pytest.mark.parametrize("rate", [0.0, 0.999])
def test_recasing_changes_the_first_letters_of_the_source_only(tokenizer: Tokenizer, rate: float) -> None:
    pairs = sentence_pairs(30, seed=4)
    config = TrainingConfig(recase_rate=rate, batch_tokens=400, max_length=60)
    stream = TrainingStream([(pairs, 1)], tokenizer, config)
    sources = {}
    for batch in stream.epoch(0):
        for src, tgt in zip(batch.src.tolist(), batch.tgt.tolist(), strict=True):
            sources[tokenizer.decode(tgt)] = tokenizer.decode(src)
    assert set(sources) == {target for _, target in pairs}
    for source, target in pairs:
        assert sources[target].lower() == source
        upper = [word[0].isupper() for word in sources[target].split()]
        assert not any(upper) if rate == 0 else True
    share = sum(word[0].isupper() for text in sources.values() for word in text.split())
    total = sum(len(text.split()) for text in sources.values())
    assert share / total == pytest.approx(rate, abs=0.05)


def test_validation_pairs_come_from_all_over_the_set(tokenizer: Tokenizer) -> None:
    pairs = [(str(i), str(i)) for i in range(10)]
    assert Validation({"a": pairs, "b": pairs}, tokenizer, 8)._corpora["b"] == [pairs[i] for i in (0, 2, 5, 7)]
    assert Validation({"a": pairs}, tokenizer, 100)._corpora["a"] == pairs
    assert Validation({"a": pairs}, tokenizer, 0)._corpora["a"] == []
