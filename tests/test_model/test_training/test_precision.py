"""Precision: bfloat16 products keep float32 weights and a float32 loss; "auto" asks the processor."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.training.loop import Trainer
from model.training.processes import Processes
from tests.test_model.test_training.language import tiny_run

BOTH = ["bfloat16", "float32"]


@pytest.fixture
def trainers(data_dir: Path, tmp_path: Path) -> dict[str, Trainer]:
    """The same run in either precision, without dropout."""
    return {name: Trainer(tiny_run({"dropout": 0.0}, precision=name), data_dir, tmp_path / name) for name in BOTH}


def test_bfloat16_takes_nearly_the_step_of_float32(trainers):
    results = {name: trainer._step([next(iter(trainer.stream.epoch(0)))]) for name, trainer in trainers.items()}
    (loss, norm, _), (exact_loss, exact_norm, _) = results["bfloat16"], results["float32"]
    assert loss != exact_loss and norm != exact_norm
    assert loss == pytest.approx(exact_loss, rel=2e-3)
    assert norm == pytest.approx(exact_norm, rel=0.05)
    assert {value.dtype for value in trainers["bfloat16"].model.parameters()} == {torch.float32}


def test_the_loss_is_not_rounded_to_bfloat16(trainers):
    trainer = trainers["bfloat16"]
    loss = trainer._loss(next(iter(trainer.stream.epoch(0)))).detach()
    assert loss.dtype == torch.float32 and loss != loss.bfloat16().float()


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [({}, "float32"), ({"avx512_f": True, "avx512_bf16": False}, "float32"), ({"avx512_bf16": True}, "bfloat16")],
)
def test_auto_asks_the_processor(data_dir, tmp_path, monkeypatch, capabilities, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    trainer = Trainer(tiny_run(), data_dir, tmp_path, processes=Processes(1, 0, torch.device("cpu")))
    assert trainer.precision == expected and trainer.card()["device"].endswith(f", {expected}")


def test_a_gpu_multiplies_bfloat16():
    assert Processes(1, 0, torch.device("cuda")).multiplies_bfloat16()
