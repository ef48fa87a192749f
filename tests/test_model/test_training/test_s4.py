"""The WMT16 system of the reference: its sizes, its data, and a few of its steps."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from model.training.batching import group_by_length
from model.training.data.corpora import load_corpus
from model.training.loop import Trainer
from model.training.presets import PRESETS
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.test_training.language import VOCAB_SIZE, sentence_pairs, write_gz


def write_wmt16(folder: Path, lines: int) -> list[tuple[str, str]]:
    pairs = sentence_pairs(lines, seed=3)
    write_gz(folder / "wmt16-de-en" / "train.tsv.gz", ["\t".join(pair) for pair in pairs])
    return pairs


def test_a_tenth_of_wmt16_in_nine_to_one(tmp_path: Path) -> None:
    pairs = write_wmt16(tmp_path, 300)
    train, valid = (load_corpus(tmp_path, "wmt16", split, ("en", "de")) for split in ("train", "valid"))
    assert sorted(train + valid) == sorted(pairs[:30])
    assert len(train) == 27 and valid == [pairs[9], pairs[19], pairs[29]]


@pytest.mark.parametrize("name", ["s4", "s4-post"])
def test_the_model_is_the_notebooks(name: str) -> None:
    with torch.device("meta"):
        model = Transformer(PRESETS[name].model)
    assert len(model.encoder.layers) == len(model.decoder.layers) == 3
    attention, ff = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 512 + 2048
    norm = 2 * 512
    layers = 3 * (attention + ff + 2 * norm) + 3 * (2 * attention + ff + 3 * norm)
    expected = 3 * 58_101 * 512 + 58_101 + layers + 2 * norm
    assert sum(parameter.numel() for parameter in model.parameters()) == expected
    assert isinstance(model.encoder.norm, nn.LayerNorm) and isinstance(model.decoder.norm, nn.LayerNorm)
    assert model.encoder.layers[0].residual_self.is_pre == (name == "s4")
    assert model.encoder.input.scale == 1.0


def test_xavier_makes_the_words_of_a_large_table_faint() -> None:
    """rms of the uniform distribution of Glorot and Bengio 2010: sqrt(2 / (rows + columns))."""
    config = replace(PRESETS["s4"].model, vocab_size=6000, n_encoder_layers=1, n_decoder_layers=1)
    table = Transformer(config).encoder.input.embedding.weight
    assert abs(table.square().mean().sqrt().item() - math.sqrt(2 / (6000 + 512))) < 1e-4


def test_batches_of_so_many_pairs() -> None:
    batches = list(group_by_length([([7] * n, [8] * n) for n in range(1, 11)], 10_000, batch_pairs=4))
    assert [len(batch) for batch in batches] == [4, 4, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", first_quick(["s4", "s4-post"]))
def test_a_few_steps(name: str, tmp_path: Path) -> None:
    write_wmt16(tmp_path, 400)
    run = PRESETS[name]
    run = replace(
        run,
        model=replace(run.model, vocab_size=VOCAB_SIZE),
        training=replace(run.training, steps=3, batch_pairs=8, validation_pairs=4),
    )
    trainer = Trainer(run, tmp_path, tmp_path / "run")
    before = trainer.model.output.weight.detach().clone()
    trainer.train()
    assert trainer.progress.step == 3
    assert not torch.equal(before, trainer.model.output.weight)
    assert all(len(batch.src) <= 8 for batch in trainer.stream.epoch(0))
