"""Muon: what it changes, by how much, and that a run that was stopped goes on to the same bits."""

from __future__ import annotations

import pytest
import torch

from model.config import GruConfig, LanguageModelConfig
from model.storage import checkpoint
from model.training import optimizers, state
from model.training.config import TrainingConfig
from model.training.loop import Trainer
from model.training.optimizers import Muon, layer_matrices, orthogonalised
from tests.support.repeated import first_quick
from tests.test_model.test_training.language import tiny_run

MUON = {"optimizer": "muon", "schedule": "constant", "learning_rate": 0.01, "warmup": 2, "validation_pairs": 0}


def test_singular_values_come_near_one():
    torch.manual_seed(0)
    for shape in ((3, 8, 20), (3, 20, 8)):
        values = torch.linalg.svdvals(orthogonalised(torch.randn(shape)))
        assert 0.5 < values.min() and values.max() < 1.5


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_step_is_that_of_the_library(decay):
    """In bfloat16, which torch.optim.Muon always computes in; in float32 it is the same up to what bfloat16 rounds."""
    torch.manual_seed(0)
    starts = [torch.randn(24, 16), torch.randn(16, 24), torch.randn(16, 16), torch.randn(16, 24)]
    sets = [[torch.nn.Parameter(start.clone()) for start in starts] for _ in range(3)]
    settings = {"momentum": 0.95, "nesterov": True, "weight_decay": decay, "adjust_lr_fn": "match_rms_adamw"}
    library = torch.optim.Muon(sets[0], lr=0.02, **settings)
    ours, exact = Muon(sets[1], torch.bfloat16, decay), Muon(sets[2], weight_decay=decay)
    for _ in range(4):
        gradients = [torch.randn_like(start) for start in starts]
        for optimizer, matrices in zip((library, ours, exact), sets):
            for matrix, gradient in zip(matrices, gradients):
                matrix.grad = gradient.clone()
            optimizer.param_groups[0]["lr"] = 0.02
            optimizer.step()
    for start, theirs, same, near in zip(starts, *sets):
        distance = (theirs - start).norm()
        assert (same - theirs).norm() < 0.01 * distance
        assert (near - theirs).norm() < 0.02 * distance


def test_muon_has_the_matrices_of_the_layers_and_adam_the_rest():
    config = TrainingConfig(optimizer="muon", adam_share=0.5)
    language_model = LanguageModelConfig(
        vocab_size=50, d_model=8, n_heads=2, d_ff=12, cutoffs=(10,), init="normal", tie_embeddings=True
    )
    for model_config in (tiny_run().model, language_model):
        model = checkpoint.build(model_config)
        names = {parameter: name for name, parameter in model.named_parameters()}
        muon, adam = (
            {names[weight] for group in optimizer.param_groups for weight in group["params"]}
            for optimizer in optimizers.build(model, config)
        )
        assert muon | adam == set(names.values()) and not muon & adam
        parts = ("q_projection", "k_projection", "v_projection", "output_projection", "inner", "outer")
        assert {name.split(".")[-2] for name in muon} == set(parts)
        assert all(name.endswith(".weight") and ".layers." in name for name in muon)
        assert any("norm" in name for name in adam) and any(name.endswith("bias") for name in adam)
        table = "softmax" if model_config is language_model else "encoder.input.embedding"
        assert any(name.startswith(table) for name in adam)


def test_weight_decay_is_of_matrices_and_not_of_gains_and_biases():
    config = TrainingConfig(optimizer="muon", weight_decay=0.5, learning_rate=0.1)
    model = checkpoint.build(tiny_run().model)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for optimizer in optimizers.build(model, config):
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate
        for parameter in (parameter for group in optimizer.param_groups for parameter in group["params"]):
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
    for name, parameter in model.named_parameters():
        factor = 1 - 0.5 * 0.1 if parameter.ndim > 1 else 1.0
        torch.testing.assert_close(parameter.detach(), factor * before[name], msg=name)


def test_a_model_without_layers_is_refused():
    model = checkpoint.build(GruConfig(source_vocab_size=9, target_vocab_size=9, d_embedding=4, d_hidden=4))
    with pytest.raises(ValueError, match="optimizer 'muon' is for the matrices of layers"):
        optimizers.build(model, TrainingConfig(optimizer="muon"))


def test_rates_follow_the_schedule_and_the_share(data_dir, tmp_path):
    trainer = Trainer(tiny_run(steps=3, adam_share=0.25, **MUON), data_dir, tmp_path)
    trainer.train()
    muon, adam = (optimizer.param_groups[0]["lr"] for optimizer in trainer.optimizers)
    assert (muon, adam) == (trainer.schedule(3), 0.25 * trainer.schedule(3))


@pytest.mark.parametrize("accumulate", first_quick([1, 2]))
def test_an_interrupted_run_is_the_uninterrupted_one(data_dir, tmp_path, monkeypatch, accumulate):
    run = tiny_run(steps=8, accumulate=accumulate, **MUON)
    Trainer(run, data_dir, tmp_path / "whole").train()
    step = Trainer._step

    def interrupted(self, *arguments):
        result = step(self, *arguments)
        return (*result[:2], self.progress.step == 3)

    monkeypatch.setattr(Trainer, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Trainer(run, data_dir, tmp_path / "parts").train()
    monkeypatch.undo()
    Trainer(run, data_dir, tmp_path / "parts", resume=True).train()
    tensors, others = (state.read(tmp_path / name / "resume").tensors for name in ("whole", "parts"))
    assert tensors.keys() == others.keys() and all(torch.equal(tensors[name], others[name]) for name in tensors)
    matrices = layer_matrices(checkpoint.build(run.model))
    assert {f"muon.momentum_buffer.{name}" for name in matrices} == {name for name in tensors if name[:5] == "muon."}


def test_another_optimizer_or_a_missing_momentum_is_refused(data_dir, tmp_path):
    run = tiny_run(steps=2, **MUON)
    Trainer(run, data_dir, tmp_path).train()
    with pytest.raises(ValueError, match="optimizer 'muon', which cannot become 'adam'"):
        Trainer(tiny_run(steps=2, **(MUON | {"optimizer": "adam"})), data_dir, tmp_path, resume=True)
    path = tmp_path / "resume" / "state.safetensors"
    tensors = checkpoint.read_tensors(path)
    name = next(name for name in tensors if name.startswith("muon."))
    checkpoint.write_tensors(path, {key: value for key, value in tensors.items() if key != name})
    with pytest.raises(ValueError, match=f"the tensor {name} is missing"):
        Trainer(run, data_dir, tmp_path, resume=True)
