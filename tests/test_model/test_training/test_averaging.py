"""The mean of several checkpoints: its weights, its card, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.storage import checkpoint
from tests.test_model.test_storage.test_checkpoint import model_of, tokenizer


def save(folder: Path, seed: int, **changes) -> Path:
    model = model_of(**changes)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    card = {"steps": seed, "command": f"run {seed}", "scores": {"x": 1}, "task": "translation en-de"}
    checkpoint.save(folder, model, tokenizer(), card)
    (folder / "history.jsonl").write_text(f'{{"step": {seed}}}\n', encoding="utf-8")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    return [save(tmp_path / name, seed) for seed, name in enumerate(("a", "b", "c"), start=1)]


def test_weights_are_the_mean_and_the_card_says_of_what(folders, tmp_path):
    out = tmp_path / "new" / "mean"
    assert main(["average", *map(str, folders), "--out", str(out)]) == 0
    weights = [dict(checkpoint.load(folder).model.named_parameters()) for folder in folders]
    mean = checkpoint.load(out)
    for name, value in mean.model.named_parameters():
        expected = (weights[0][name] + weights[1][name] + weights[2][name]) / 3
        torch.testing.assert_close(value, expected, atol=2e-3, rtol=1e-3)  # rounded to float16
        assert not torch.equal(value, weights[2][name])
    assert "scores" not in mean.card and mean.card["steps"] == 3
    assert mean.card["average_command"].startswith("python -m model average ")
    listed = [(part["steps"], part["command"], part["weights"]) for part in mean.card["mean_of"]]
    digests = [checkpoint.sha256_of(folder / "model.safetensors") for folder in folders]
    assert listed == [(i, f"run {i}", digest) for i, digest in enumerate(digests, start=1)]
    assert json.loads((out / "history.jsonl").read_text("utf-8")) == {"step": 3}


def test_a_narrower_model_is_widened_before_its_weights_count(folders, tmp_path):
    wide = save(tmp_path / "wide", 4, d_ff=2 * checkpoint.load(folders[0]).model.config.d_ff)
    out = tmp_path / "mean"
    assert main(["average", str(folders[0]), str(wide), "--out", str(out)]) == 0
    narrow, last, mean = (
        checkpoint.load(folder).model.encoder.layers[0].feed_forward for folder in (folders[0], wide, out)
    )
    width = narrow.inner.out_features
    rounded = {"atol": 2e-3, "rtol": 1e-3}
    torch.testing.assert_close(
        mean.inner.weight[:width], (narrow.inner.weight + last.inner.weight[:width]) / 2, **rounded
    )
    torch.testing.assert_close(mean.inner.weight[width:], last.inner.weight[width:], **rounded)
    torch.testing.assert_close(mean.outer.weight[:, width:], last.outer.weight[:, width:] / 2, **rounded)


def test_dropout_which_has_no_weights_may_differ(folders, tmp_path):
    other = save(tmp_path / "dropout", 5, dropout=0.7)
    assert main(["average", str(folders[0]), str(other), "--out", str(tmp_path / "mean")]) == 0
    assert checkpoint.load(tmp_path / "mean").model.config.dropout == 0.7


def test_what_cannot_be_averaged_is_told_in_one_line(folders, tmp_path, capsys):
    a, b, c = map(str, folders)
    other_folder = str(save(tmp_path / "other", 4, n_decoder_layers=1))
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, words in [
        ([a, "--out", str(tmp_path / "x")], "a mean is of two checkpoints or more, got 1"),
        ([a, b, "--out", c], "is not empty: name a new folder"),
        ([a, other_folder, "--out", str(tmp_path / "x")], "differ in n_decoder_layers"),
        ([a, str(empty), "--out", str(tmp_path / "x")], "does not exist"),
    ]:
        assert main(["average", *arguments]) == 2
        problem = capsys.readouterr().err
        assert words in problem and problem.count("\n") == 1
    assert not (tmp_path / "x").exists()
