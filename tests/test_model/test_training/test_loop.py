"""The loop on a made-up language: it learns, writes down what it did, and is stopped and resumed to the last bit."""

from __future__ import annotations

import dataclasses
import json
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from model.storage import checkpoint
from model.text.special import EOS_ID
from model.training import loop, losses
from model.training.config import RunConfig
from model.training.data.corpora import load_corpus
from model.training.loop import Trainer
from model.training.state import HISTORY, read
from tests.support.repeated import first_quick
from tests.test_model.test_training.language import tiny_run

EVERY_NOISE = tiny_run()
QUIET = {"bpe_dropout": 0.0, "bpe_dropout_target": 0.0, "typo_rate": 0.0, "join_rate": 0.0}


def history(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / HISTORY).read_text(encoding="utf-8").splitlines()]


def state(out: Path) -> tuple[dict[str, torch.Tensor], dict]:
    """Everything a run is resumed from, without the time it took."""
    saved = read(out / "resume")
    return saved.tensors, {key: value for key, value in saved.values["progress"].items() if key != "seconds"}


def assert_same_run(out: Path, expected: Path) -> None:
    """Weights, Adam's state, snapshots, random state, place in the data, and the shipped average: equal to the bit."""
    (tensors, progress), (expected_tensors, expected_progress) = state(out), state(expected)
    assert progress == expected_progress
    assert tensors.keys() == expected_tensors.keys()
    assert {name.split(".")[0] for name in tensors} >= {"model", "adam", "snapshot", "random"}
    different = [name for name in tensors if not torch.equal(tensors[name], expected_tensors[name])]
    assert not different
    assert (out / checkpoint.WEIGHTS).read_bytes() == (expected / checkpoint.WEIGHTS).read_bytes()


@pytest.fixture
def stop_in_step(monkeypatch):
    """Sets the step in whose middle (after the forward pass) the signal of Ctrl-C comes."""

    def stop(step: int, number: int = signal.SIGINT) -> None:
        steps = iter(range(step))
        original = loop.nn.utils.clip_grad_norm_

        def clip(*arguments):
            if next(steps, None) == step - 1:
                signal.raise_signal(number)
            return original(*arguments)

        monkeypatch.setattr(loop.nn.utils, "clip_grad_norm_", clip)

    return stop


@pytest.fixture(scope="module")
def trained(data_dir, tmp_path_factory) -> tuple[Path, Trainer]:
    """A whole run without noise, long enough to learn something; some seeds would need more steps."""
    out = tmp_path_factory.mktemp("runs") / "trained"
    run = tiny_run(steps=250, learning_rate=1.5, warmup=60, average_every=20, validate_every=125, seed=3, **QUIET)
    torch.set_num_threads(1)
    trainer = Trainer(run, data_dir, out, command="python -m model train tiny")
    trainer.train()
    return out, trainer


class TestAWholeRun:
    def test_it_learns_what_only_the_source_can_tell(self, trained, data_dir):
        """Better than any model that knows how often each token comes but not the source."""
        out, trainer = trained
        entries = history(out)
        assert entries[-1]["loss"] < 0.5 * entries[0]["loss"]
        targets = [target for _, target in load_corpus(data_dir, "multi30k", "valid", ("en", "de"))]
        counts = Counter(index for target in targets for index in [*trainer.tokenizer.encode(target), EOS_ID])
        shares = np.array(list(counts.values())) / counts.total()
        blind = np.exp(-np.sum(shares * np.log(shares)))
        assert entries[-1]["valid_perplexity.multi30k"] < 0.6 * blind

    def test_the_history_has_every_number(self, trained):
        entries = history(trained[0])
        assert [entry["step"] for entry in entries] == sorted([*range(20, 250, 20), 125, 250])
        numbers = {"step", "learning_rate", "loss", "gradient_norm", "tokens_per_second"}
        validation = {"valid_perplexity.multi30k", "valid_bleu.multi30k"}
        assert all(numbers <= entry.keys() for entry in entries)
        assert all(np.isfinite(value) and value >= 0 for entry in entries for value in entry.values())
        assert [entry["step"] for entry in entries if validation <= entry.keys()] == [125, 250]
        schedule = trained[1].schedule
        assert [entry["learning_rate"] for entry in entries] == [schedule(entry["step"]) for entry in entries]

    def test_the_checkpoint_loads_and_is_the_average(self, trained):
        out, trainer = trained
        loaded = checkpoint.load(out)
        assert not loaded.model.training
        assert loaded.tokenizer.to_json() == trainer.tokenizer.to_json()
        averaged = dict(trainer.averaged().named_parameters())
        for name, parameter in loaded.model.named_parameters():
            torch.testing.assert_close(parameter, averaged[name], rtol=1e-3, atol=1e-6)  # saved as float16

    def test_the_average_is_the_mean_of_the_last_snapshots(self, trained):
        """Three snapshots, of steps 200, 220 and 240; the present weights are not among them."""
        out, trainer = trained
        tensors, _ = state(out)
        assert len(trainer.snapshots) == 3
        for name, parameter in trainer.averaged().named_parameters():
            snapshots = [tensors[f"snapshot.{i}.{name}"].numpy().astype(np.float64) for i in range(3)]
            assert any(np.any(snapshots[0] != other) for other in snapshots[1:])
            np.testing.assert_allclose(parameter.detach().numpy(), np.mean(snapshots, axis=0), rtol=1e-5, atol=1e-7)
            assert not torch.equal(tensors[f"snapshot.2.{name}"], tensors[f"model.{name}"])

    def test_the_card_says_where_it_comes_from(self, trained):
        card = checkpoint.load(trained[0]).card
        assert card["command"] == "python -m model train tiny"
        assert (card["source"], card["target"], card["steps"]) == ("en", "de", 250)
        assert card["data"]["multi30k"]["weight"] == 1.0 and "non-commercial" in card["data"]["multi30k"]["licence"]
        assert card["training"]["steps"] == 250 and card["averaged_snapshots"] == 3
        assert card["training_tokens"] > 0 and card["complete_passes"] > 0

    def test_a_complete_run_is_not_trained_on(self, trained, data_dir):
        out, trainer = trained
        before = (out / checkpoint.WEIGHTS).read_bytes()
        with pytest.raises(ValueError, match="the run is complete: 250 of 250 steps done"):
            Trainer(trainer.run, data_dir, out, resume=True).train()
        assert (out / checkpoint.WEIGHTS).read_bytes() == before


@pytest.fixture(scope="module")
def uninterrupted(data_dir, tmp_path_factory) -> Path:
    """30 steps with every noise and dropout, through several passes."""
    out = tmp_path_factory.mktemp("runs") / "uninterrupted"
    torch.set_num_threads(1)
    Trainer(EVERY_NOISE, data_dir, out).train()
    assert state(out)[1]["epoch"] >= 2
    return out


@pytest.fixture(scope="module")
def accumulating(data_dir, tmp_path_factory) -> tuple[RunConfig, Path]:
    """The same with three batches per update, so that updates reach over the ends of passes."""
    out = tmp_path_factory.mktemp("runs") / "accumulating"
    torch.set_num_threads(1)
    run = tiny_run(accumulate=3, steps=12)
    Trainer(run, data_dir, out).train()
    return run, out


@pytest.fixture(scope="module")
def steps_a_pass(data_dir, tmp_path_factory) -> int:
    """The number of batches in the first pass of that run."""
    trainer = Trainer(EVERY_NOISE, data_dir, tmp_path_factory.mktemp("unused"))
    count = sum(1 for _ in trainer.stream.epoch(0))
    assert 6 < count < 16
    return count


class TestResuming:
    @pytest.mark.slow
    def test_there_is_no_dropout_in_what_ships(self, uninterrupted):
        """The subwords of a run with BPE-dropout are those of the tokenizer when translating."""
        text = (uninterrupted / checkpoint.TOKENIZER).read_text(encoding="utf-8")
        assert json.loads(text)["model"]["dropout"] is None
        tokenizer = checkpoint.load(uninterrupted).tokenizer
        assert len({tuple(tokenizer.encode("the green mouse sings")) for _ in range(50)}) == 1

    @pytest.mark.parametrize(
        "stops",
        first_quick([lambda n: [n + 1], lambda n: [3, n, 26]]),
        ids=["at the start of a pass", "within a pass, at its end, and again"],
    )
    def test_an_interrupted_run_is_the_uninterrupted_one(
        self, stops, data_dir, tmp_path, uninterrupted, steps_a_pass, stop_in_step
    ):
        """Ctrl-C in the middle of a step, resumed, perhaps again; the last after snapshots that the average needs."""
        done = 0
        for step in stops(steps_a_pass):
            stop_in_step(step - done)
            with pytest.raises(KeyboardInterrupt):
                Trainer(EVERY_NOISE, data_dir, tmp_path, resume=done > 0).train()
            assert state(tmp_path)[1]["step"] == step
            checkpoint.load(tmp_path)
            torch.manual_seed(99)  # nothing may depend on what was drawn before
            done = step
        Trainer(EVERY_NOISE, data_dir, tmp_path, resume=True).train()
        assert_same_run(tmp_path, uninterrupted)
        scores = [
            {key: value for key, value in history(out)[-1].items() if key.startswith("valid")}
            for out in (tmp_path, uninterrupted)
        ]
        assert scores[0] == scores[1] and scores[0]

    @pytest.mark.slow
    def test_an_interruption_between_steps_saves_too(self, data_dir, tmp_path, uninterrupted, monkeypatch):
        original, calls = loop.Trainer._step, iter(range(100))

        def step(self, *arguments):
            if next(calls) == 7:
                raise KeyboardInterrupt
            return original(self, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(loop.Trainer, "_step", step)
            with pytest.raises(KeyboardInterrupt):
                Trainer(EVERY_NOISE, data_dir, tmp_path).train()
        assert state(tmp_path)[1]["step"] == 7
        Trainer(EVERY_NOISE, data_dir, tmp_path, resume=True).train()
        assert_same_run(tmp_path, uninterrupted)

    @pytest.mark.parametrize("offset", first_quick([0, 1]), ids=["before an update over the end of a pass", "after it"])
    def test_an_interrupted_run_with_accumulation_is_the_uninterrupted_one(
        self, offset, data_dir, tmp_path, accumulating, steps_a_pass, stop_in_step
    ):
        run, expected = accumulating
        assert steps_a_pass % 3, "the first pass must end within an update"
        step = steps_a_pass // 3 + offset
        stop_in_step(step)
        with pytest.raises(KeyboardInterrupt):
            Trainer(run, data_dir, tmp_path).train()
        stopped = state(tmp_path)[1]
        assert (stopped["step"], stopped["epoch"]) == (step, offset)
        assert offset * steps_a_pass + stopped["batch"] == 3 * step
        Trainer(run, data_dir, tmp_path, resume=True).train()
        assert_same_run(tmp_path, expected)

    @pytest.mark.slow
    def test_more_steps_continue_a_complete_run(self, data_dir, tmp_path, uninterrupted):
        short = dataclasses.replace(EVERY_NOISE, training=dataclasses.replace(EVERY_NOISE.training, steps=11))
        Trainer(short, data_dir, tmp_path).train()
        Trainer(EVERY_NOISE, data_dir, tmp_path, resume=True).train()
        assert_same_run(tmp_path, uninterrupted)

    @pytest.mark.slow
    def test_what_was_logged_after_the_last_save_is_forgotten(self, data_dir, tmp_path):
        """A run that was killed does the steps after its last save again, and logs them again."""
        run = tiny_run(steps=20, validation_pairs=0)
        Trainer(run, data_dir, tmp_path).train()
        with (tmp_path / HISTORY).open("a", encoding="utf-8") as file:
            file.write('{"step": 40, "loss": 1.0}\n[]\n{"step": 60, "lo')
        Trainer(tiny_run(steps=40, validation_pairs=0), data_dir, tmp_path, resume=True).train()
        assert [entry["step"] for entry in history(tmp_path)] == [20, 40]

    def test_a_signal_to_end_waits_for_the_step_too(self, data_dir, tmp_path, stop_in_step):
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            stop_in_step(3, signal.SIGTERM)
            with pytest.raises(KeyboardInterrupt):
                Trainer(EVERY_NOISE, data_dir, tmp_path).train()
            assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGTERM, before)
        assert state(tmp_path)[1]["step"] == 3


class TestWhatIsRefused:
    def test_a_fresh_run_does_not_overwrite_another(self, data_dir, uninterrupted):
        with pytest.raises(ValueError, match="holds another run: pass --resume to continue it, or choose"):
            Trainer(EVERY_NOISE, data_dir, uninterrupted)

    @pytest.mark.parametrize("name", [*checkpoint.LISTED, HISTORY])
    def test_a_fresh_run_does_not_overwrite_a_checkpoint_or_a_history(self, data_dir, tmp_path, name):
        (tmp_path / name).write_text("precious")
        with pytest.raises(ValueError, match=f"already has a file {name}, which is not overwritten: choose another"):
            Trainer(EVERY_NOISE, data_dir, tmp_path)

    def test_nothing_to_resume(self, data_dir, tmp_path):
        (tmp_path / "resume").mkdir()  # is not a run
        Trainer(EVERY_NOISE, data_dir, tmp_path)
        with pytest.raises(ValueError, match="there is nothing to resume in .*: run without --resume first"):
            Trainer(EVERY_NOISE, data_dir, tmp_path, resume=True)

    def test_a_model_of_another_size(self, data_dir, uninterrupted):
        with pytest.raises(ValueError, match="holds a run of a model of other sizes: resume it with the configuration"):
            Trainer(tiny_run({"d_ff": 128}), data_dir, uninterrupted, resume=True)

    def test_a_folder_that_cannot_be_made(self, data_dir, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(ValueError, match="the folder .*file.* cannot be written to"):
            Trainer(EVERY_NOISE, data_dir, tmp_path / "file" / "out").train()

    @pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to")
    def test_a_folder_that_cannot_be_written_to_before_the_first_step(self, data_dir):
        trainer = Trainer(EVERY_NOISE, data_dir, Path("/proc/self"))
        with pytest.raises(ValueError, match="the folder /proc/self cannot be written to"):
            trainer.train()
        assert trainer.progress.step == 0

    def test_data_without_a_pair_that_is_short_enough(self, data_dir, tmp_path):
        with pytest.raises(ValueError, match="no sentence pair that is short enough"):
            Trainer(tiny_run(max_length=1), data_dir, tmp_path).train()


@pytest.mark.slow
def test_a_gradient_that_is_not_finite_ends_the_run_with_the_last_good_weights(data_dir, tmp_path, monkeypatch):
    original, calls = losses.smoothed_cross_entropy, iter(range(100))

    def loss(*arguments):
        return original(*arguments) * (float("nan") if next(calls) == 4 else 1.0)

    monkeypatch.setattr(losses, "smoothed_cross_entropy", loss)
    with pytest.raises(ValueError, match="the gradient is not finite at step 5: lower the learning rate"):
        Trainer(tiny_run(), data_dir, tmp_path).train()
    tensors, progress = state(tmp_path)
    assert progress["step"] == progress["batch"] == 4
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    checkpoint.load(tmp_path)


def test_the_other_direction_swaps_the_sides(data_dir, tmp_path):
    run: RunConfig = tiny_run(steps=1, source="de", target="en", validation_pairs=0, **QUIET)
    trainer = Trainer(run, data_dir, tmp_path)
    batch = next(trainer.stream.epoch(0))
    words = set(trainer.tokenizer.decode(batch.src[0].tolist()).split())
    assert words <= {"haus", "maus", "grün", "singt", "brot", "wasser"}
