"""Each mistake that training can have is exactly the one that its name says, in the model, the loss or the tokenizer;
and its run is trained with it and kept beside the run without one.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from model.__main__ import main
from model.config import GruConfig
from model.positional import literal_loop, sinusoidal
from model.storage import checkpoint
from model.taps import record
from model.text.special import BOS_ID, PAD_ID
from model.training.config import TrainingConfig
from model.training.sweeps import grid, mistakes, recorder
from model.training.sweeps.grid import GridCell, harm_of, read_grid
from tests.test_model.builders import SRC, TGT, D, assert_near, tiny_model

STEPS = 6


def read(model: nn.Module, src: torch.Tensor = SRC, tgt: torch.Tensor = TGT) -> dict[str, torch.Tensor]:
    with torch.no_grad(), record() as trace:
        model(src, tgt)
    return dict(trace)


def both(mistake: str, **changes) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """What a tiny model computes with a mistake, and without it."""
    model = tiny_model(**changes)
    return read(mistakes.with_mistake(mistake, model)), read(model)


@pytest.mark.parametrize("mistake", mistakes.IN_TRANSFORMER)
def test_a_copy_with_a_mistake_shares_its_weights_and_leaves_the_model_as_it_was(mistake):
    model = tiny_model()
    before = read(model)
    mistaken = mistakes.with_mistake(mistake, model)
    assert all(
        parameter is other_parameter
        for parameter, other_parameter in zip(model.parameters(), mistaken.parameters(), strict=True)
    )
    assert torch.equal(read(model)["logits"], before["logits"])
    same = torch.allclose(read(mistaken)["logits"], before["logits"], atol=1e-9)
    assert same == (mistake == "dropout"), "in evaluation the forgotten dropout is none"


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_positions_are_those_of_the_literal_loop_also_step_by_step(side):
    wrong, right = both("loop")
    n = wrong[f"{side}.input.positions"].size(1)
    assert_near(wrong[f"{side}.input.positions"][0], literal_loop(n, D))
    assert_near(right[f"{side}.input.positions"][0], sinusoidal(n, D), within=1e-6)
    model = mistakes.with_mistake("loop", tiny_model())
    with torch.no_grad():
        state = model.start(SRC)
        steps = torch.stack([model.step(state, ids) for ids in TGT[:, :3].unbind(1)], dim=1)
    assert_near(steps, wrong["logits"][:, :3])


def test_the_embedding_is_added_as_it_stands_in_its_table():
    table = tiny_model().encoder.input.embedding.weight
    wrong, right = both("scale")
    assert_near(wrong["encoder.input.tokens"], table[SRC])
    assert_near(right["encoder.input.tokens"], table[SRC] * math.sqrt(D))


def test_the_input_is_never_dropped_in_training_other_places_are():
    model = tiny_model(dropout=0.5).train()
    mistaken = mistakes.with_mistake("dropout", model)
    for module in (mistaken.encoder.input, mistaken.decoder.input):
        with record(*("*.stream",)) as trace:
            output = module(SRC)
        assert torch.equal(output, trace[next(iter(trace))])
    assert (model.encoder.input(SRC) == 0).double().mean() > 0.3
    first, second = (mistaken(SRC, TGT) for _ in range(2))
    assert not torch.equal(first, second)


def test_scores_are_not_scaled():
    wrong, right = both("scaling", n_encoder_layers=1)
    for name in ("encoder.layers.0.self_attention", "decoder.layers.0.self_attention"):
        allowed = right[f"{name}.mask"].expand_as(right[f"{name}.raw_scores"])
        scores = right[f"{name}.raw_scores"].masked_fill(~allowed, -math.inf)
        assert_near(wrong[f"{name}.weights"], scores.softmax(-1))


def test_nothing_passes_between_tokens_of_the_encoder_and_the_decoder_is_right():
    model = tiny_model()
    mistaken = mistakes.with_mistake("transpose", model)
    changed_source = SRC.clone()
    changed_source[0, 3] = 15
    for variant, alone in ((mistaken, True), (model, False)):
        before, after = (read(variant, src)["encoder.output"][0] for src in (SRC, changed_source))
        unchanged = [place for place in range(SRC.size(1)) if torch.allclose(before[place], after[place])]
        assert unchanged == ([0, 1, 2, 4, 5, 6] if alone else [])
    address = "decoder.layers.0.self_attention.weights"
    assert_near(read(mistaken)[address], read(model)[address])


def test_padding_is_read_and_its_number_changes_what_real_tokens_get():
    model = tiny_model()
    src, tgt = SRC[1:, :4], TGT[1:, :3]
    longer = torch.cat([src, torch.full((1, 3), PAD_ID)], dim=1)
    for variant, same in ((model, True), (mistakes.with_mistake("rows", model), False)):
        assert torch.allclose(read(variant, src, tgt)["logits"], read(variant, longer, tgt)["logits"]) == same
    cross = read(mistakes.with_mistake("rows", model), longer, tgt)["decoder.layers.0.cross_attention.weights"]
    assert (cross[..., 4:] > 0).all()


def test_the_feed_forward_adds_its_input_once_more():
    wrong, right = both("residual", norm="post", final_norm=False, n_encoder_layers=1)
    stream = right["encoder.layers.0.residual_self.stream"]
    expected = 2 * stream + right["encoder.layers.0.feed_forward.output"]
    norm = tiny_model(norm="post", final_norm=False, n_encoder_layers=1).encoder.layers[0].residual_ff.norm
    assert_near(wrong["encoder.output"], norm(expected))


def test_every_norm_is_the_hand_written_one():
    model = tiny_model(n_encoder_layers=1)
    stream = read(mistakes.with_mistake("norm", model))["encoder.layers.0.residual_ff.stream"]
    norm = model.encoder.norm
    expected = norm.weight * (stream - stream.mean(-1, True)) / (stream.std(-1, keepdim=True) + norm.eps + norm.bias)
    assert_near(read(mistakes.with_mistake("norm", model))["encoder.output"], expected)


@pytest.mark.parametrize("mistake", mistakes.IN_TRANSFORMER)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_mistake_can_be_trained_with_on_padded_batches(mistake, norm):
    model = mistakes.with_mistake(mistake, tiny_model(norm=norm, dropout=0.1)).train()
    loss = functional.cross_entropy(model(SRC, TGT[:, :-1]).flatten(0, 1), TGT[:, 1:].flatten(), ignore_index=PAD_ID)
    loss.backward()
    assert all(value.grad is None or value.grad.isfinite().all() for value in model.parameters())


def test_without_a_start_token_the_first_word_is_no_target():
    model = tiny_model()
    loss = mistakes.LossWithoutStart(model, TrainingConfig(label_smoothing=0.0))(SRC, TGT)
    logits = model(SRC, TGT[:, 1:-1])
    assert_near(loss, functional.cross_entropy(logits.flatten(0, 1), TGT[:, 2:].flatten(), ignore_index=PAD_ID))
    other_target = torch.cat([torch.full((2, 1), BOS_ID + 5), TGT[:, 1:]], dim=1)
    assert torch.equal(mistakes.LossWithoutStart(model, TrainingConfig(label_smoothing=0.0))(SRC, other_target), loss)


def test_the_source_sides_tokenizer_cuts_targets_into_more_pieces():
    pairs = [("the green house", "das grüne Haus")] * 50
    source = mistakes.source_tokenizer(pairs, 460)
    assert len(source.encode("the green house")) == 3 < len(source.encode("das grüne Haus"))


def test_a_recurrent_encoder_goes_on_over_padding():
    config = GruConfig(source_vocab_size=17, target_vocab_size=17, d_embedding=4, d_hidden=6, dropout=0.0)
    model = checkpoint.build(config).eval()
    src, longer = SRC[1:, :4], SRC[1:]
    for variant, same in ((model, True), (mistakes.with_mistake("gru", model), False)):
        states = [variant.start(ids).summary for ids in (src, longer)]
        assert torch.equal(*states) == same


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a second each."""
    original = GridCell.run

    def run(self):
        run = original(self)
        sizes = {"d_embedding": 8, "d_hidden": 8}
        if not self.is_recurrent:
            sizes = {"vocab_size": 460, "d_model": 32, "d_ff": 32}
        training = dataclasses.replace(run.training, steps=STEPS, validate_every=3, validation_pairs=6)
        if self.is_recurrent:
            training = dataclasses.replace(training, min_count=1)
        return dataclasses.replace(run, model=dataclasses.replace(run.model, **sizes), training=training)

    monkeypatch.setattr(GridCell, "run", run)
    monkeypatch.setattr(grid, "SNAPSHOTS", (2,))
    monkeypatch.setattr(grid, "EXAMPLES", (("green house", "haus grün"), ("mouse sings", "singt maus")))
    monkeypatch.setattr(grid, "MISTAKE_SEEDS", (1,))


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    shrink(monkeypatch)


def make(data_dir: Path, out: Path, *options: str) -> int:
    return main(["grid", "--mistakes", "--data-dir", str(data_dir), "--out", str(out), *options])


@pytest.fixture(scope="module")
def recorded(data_dir, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pitfalls") / "pitfalls"
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        assert make(data_dir, folder) == 0
    return folder


@pytest.mark.slow
def test_every_mistake_is_trained_with_and_differs_from_the_run_without(recorded):
    runs = read_grid(recorded).runs
    assert set(runs) == set(grid.mistake_cells())
    for cell, run in runs.items():
        assert list(run.validation) == [3, 6] and list(run.texts) == [2, 6] and run.maps_of == {}
        right = runs[cell.reference]
        if cell == cell.reference:
            assert list(run.afterwards) == list(mistakes.IN_GRU if cell.is_recurrent else mistakes.IN_TRANSFORMER)
            assert all(loss > 0 for loss in run.afterwards.values())
        elif not cell.is_recurrent:  # six steps of a recurrent model hardly depend on anything
            assert run.loss.tolist() != right.loss.tolist() and run.validation != right.validation, cell.name
    none = runs[GridCell("pre", 0.005, 100, mistake=mistakes.NO_MISTAKE)]
    assert none.afterwards["dropout"] == none.final != none.afterwards["residual"]


@pytest.mark.slow
def test_the_harm_is_the_difference_of_the_seeds_that_have_both(recorded):
    recording = read_grid(recorded)
    by_name = {cell.mistake: run for cell, run in recording.runs.items()}
    harm = harm_of(recording, "scaling")
    assert (harm.without, harm.trained) == ({1: by_name["none"].final}, {1: by_name["scaling"].final})
    assert harm.afterwards == {1: by_name["none"].afterwards["scaling"]}
    assert harm_of(recording, "gru").without == {1: by_name[mistakes.GRU_WITHOUT].final}
    assert harm_of(recording, "start").afterwards == {} and harm.cost({}) is None
    two = grid.Harm(without={1: 2.0, 2: 3.0}, afterwards={}, trained={1: 2.5, 2: 3.1, 3: 9.0})
    assert two.cost(two.trained) == pytest.approx(0.3)
    cell = GridCell("pre", 0.005, 100, mistake="scaling")
    recording.runs[cell] = dataclasses.replace(recording.runs[cell], diverged=4)
    assert harm_of(recording, "scaling").trained == {1: math.inf}


def test_losses_are_per_token_of_the_run_without_the_mistake(recorded, data_dir, monkeypatch):
    """A tokenizer that cuts finer would make each token easier: its sum is divided by the same number."""
    sums = []
    original = recorder.cross_entropy

    def noting(*arguments):
        sums.append(original(*arguments))
        return sums[-1]

    monkeypatch.setattr(recorder, "cross_entropy", noting)
    out = recorded.parent / "again"
    assert make(data_dir, out, "--only", "tokenizer") == 0
    total, count = sums[-1]
    (run,) = read_grid(out).runs.values()
    assert run.final == read_grid(recorded).runs[run.cell].final
    assert round(total / run.final) < count, "the finer tokens are more than those that are divided by"


@pytest.mark.slow
def test_it_goes_on_where_it_ended_and_the_two_grids_are_kept_apart(recorded, data_dir, tmp_path, capsys):
    folder = tmp_path / "begun"
    assert make(data_dir, folder, "--only", "scaling") == 0
    assert make(data_dir, folder) == 2 and "pass --resume" in capsys.readouterr().err
    assert make(data_dir, folder, "--resume", "--only", "none") == 0
    assert [run.cell.mistake for run in read_grid(folder).runs.values()] == ["scaling", "none"]
    for cell, run in read_grid(folder).runs.items():
        assert run.loss.tolist() == read_grid(recorded).runs[cell].loss.tolist()
    assert main(["grid", "--data-dir", str(data_dir), "--out", str(folder), "--resume"]) == 2
    assert "holds the other grid" in capsys.readouterr().err
    assert make(data_dir, tmp_path / "new", "--only", "nonsense") == 2
    assert "no cell begins with 'nonsense'" in capsys.readouterr().err


def test_weights_of_a_mistake_begin_as_those_of_the_run_without(data_dir, tmp_path):
    """One seed, one beginning: what differs at the end is the mistake's."""
    tasks = recorder.Tasks(data_dir, grid.mistake_cells()[0])
    models = []
    for name in (mistakes.NO_MISTAKE, "scaling", "norm"):
        cell = GridCell("pre", 0.005, 100, mistake=name)
        folder = tmp_path / name
        models.append(recorder.CellTrainer(cell, tasks.of(cell), [], 1, data_dir, folder).model)
    first, *states = (copy.deepcopy(model.state_dict()) for model in models)
    assert all(torch.equal(value, state[name]) for state in states for name, value in first.items())


@pytest.mark.parametrize(("name", "wrong"), [("gru", True), (mistakes.GRU_WITHOUT, False)])
def test_the_recurrent_model_is_trained_over_padding(data_dir, tmp_path, name, wrong):
    cell = GridCell("pre", 0.005, 100, mistake=name)
    tasks = recorder.Tasks(data_dir, cell)
    trainer = recorder.CellTrainer(cell, tasks.of(cell), [], 1, data_dir, tmp_path)
    ids_of_words = SRC[1:].clamp(max=5)  # the made-up language has few words
    states = [trainer.model.eval().start(ids).summary for ids in (ids_of_words[:, :4], ids_of_words)]
    assert torch.equal(*states) != wrong
