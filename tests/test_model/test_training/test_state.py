"""The state of a run: what it may go on with, and damage told in one sentence, with nothing changed."""

from __future__ import annotations

import json
import re
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.storage import checkpoint
from model.training.loop import Trainer
from model.training.state import FILE, HISTORY, JSON, MAY_DIFFER, Progress
from tests.support.repeated import first_quick
from tests.test_model.test_training.language import tiny_run, write_two_corpora

STEPS = 6
NORM = "decoder.norm.weight"


def run_of(**training: Any):
    return tiny_run(**({"steps": STEPS, "average_every": 2, "validation_pairs": 0} | training))


@pytest.fixture(scope="module")
def begun(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    out = tmp_path_factory.mktemp("runs") / "begun"
    torch.set_num_threads(1)
    Trainer(run_of(), data_dir, out).train()
    return out


@pytest.fixture
def out(begun: Path, tmp_path: Path) -> Path:
    """A copy of it to be damaged."""
    return shutil.copytree(begun, tmp_path / "run")


@pytest.fixture(scope="module")
def data(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second corpus beside the first."""
    return write_two_corpora(tmp_path_factory.mktemp("two"), data_dir, ["house\thaus"] * 9)


def change_json(out: Path, change: Callable[[dict], Any]) -> None:
    path = out / "resume" / FILE
    tensors = checkpoint.read_tensors(path)
    values = json.loads(bytes(tensors[JSON].tolist()))
    change(values)
    write_json(path, tensors, json.dumps(values))


def write_json(path: Path, tensors: dict[str, torch.Tensor], text: str) -> None:
    checkpoint.write_tensors(path, tensors | {JSON: torch.tensor(list(text.encode()), dtype=torch.uint8)})


class TestWhatMayDiffer:
    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            ({"data": "multi30k + tatoeba"}, "data 'multi30k', which cannot become 'multi30k + tatoeba'"),
            ({"data": "2*multi30k"}, "data 'multi30k', which cannot become '2*multi30k'"),
            ({"source": "de", "target": "en"}, "source 'en', which cannot become 'de'"),
            ({"seed": 2}, "seed 1, which cannot become 2"),
            ({"batch_tokens": 601}, "batch_tokens 600, which cannot become 601"),
            ({"max_length": 41}, "max_length 40, which cannot become 41"),
            ({"accumulate": 2}, "accumulate times the number of processes 1, which cannot become 2"),
            ({"bpe_dropout": 0.2}, "bpe_dropout 0.1, which cannot become 0.2"),
            ({"bpe_dropout_target": 0.0}, "bpe_dropout_target 0.1, which cannot become 0.0"),
            ({"typo_rate": 0.2}, "typo_rate 0.1, which cannot become 0.2"),
            ({"join_rate": 0.2}, "join_rate 0.1, which cannot become 0.2"),
            ({"label_smoothing": 0.0}, "label_smoothing 0.1, which cannot become 0.0"),
            ({"clip_norm": 2.0}, "clip_norm 1.0, which cannot become 2.0"),
        ],
        ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
    )
    def test_another_kind_of_update_is_refused_with_what_may_differ(self, changed, words, data, begun):
        with pytest.raises(ValueError, match=re.escape(f"holds a run that began with {words}: ")) as caught:
            Trainer(run_of(**changed), data, begun, resume=True)
        assert str(caught.value).endswith(f"only these may differ: {', '.join(MAY_DIFFER)}")

    def test_the_rest_may_change(self, data_dir, out):
        changed = {
            "steps": STEPS + 2,
            "schedule": "warmup_stable_decay",
            "learning_rate": 0.01,
            "warmup": 1,
            "decay": 2,
            "final_data": "multi30k",
            "held_out": ("house", "mouse green"),
            "validate_every": 1,
            "validation_pairs": 2,
            "average_last": 2,
            "average_every": 1,
        }
        assert set(changed) == set(MAY_DIFFER)
        trainer = Trainer(run_of(**changed), data_dir, out, resume=True)
        trainer.train()
        assert trainer.progress.step == STEPS + 2 and trainer.progress.final

    def test_a_state_from_before_a_key_was_there_had_its_default(self, data_dir, out):
        def forget(values: dict) -> None:
            del values["processes"]
            for key in ("held_out", "final_data", "accumulate", "clip_norm"):
                del values["run"]["training"][key]

        change_json(out, forget)
        assert Trainer(run_of(), data_dir, out, resume=True).progress.step == STEPS
        with pytest.raises(ValueError, match="clip_norm 1.0, which cannot become 2.0"):
            Trainer(run_of(clip_norm=2.0), data_dir, out, resume=True)


def broken(key: str, value: Any) -> Callable[[dict], None]:
    return lambda values: values["progress"].__setitem__(key, value)


class TestDamage:
    @pytest.mark.parametrize(
        ("change", "words"),
        first_quick(
            [
                (lambda values: values.clear(), "the key 'tokenizer' is missing"),
                (lambda values: values.pop("progress"), "the key 'progress' is missing"),
                (lambda values: values.pop("run"), "the key 'run' is missing"),
                (lambda values: values["run"].pop("model"), "the key 'model' is missing"),
                (lambda values: values["run"].pop("training"), "the key 'training' is missing"),
                (lambda values: values["run"].update(training=3), "not iterable"),
                (lambda values: values["run"].update(model=[]), "expected a JSON object, got list"),
                (lambda values: values["run"]["model"].update(depth=3), "unknown key 'depth'"),
                (lambda values: values.update(run=[1]), "list indices"),
                (lambda values: values.update(progress=[1]), "expected a JSON object, got list"),
                (lambda values: values.update(processes="x"), "'x' is not a number of batches"),
                (lambda values: values["progress"].update(place=3), "unknown key 'place'"),
                (broken("step", -1), "step must be at least 0, got -1"),
                (broken("step", True), "step must be of type int, got True"),
                (broken("epoch", 1.5), "epoch must be of type int, got 1.5"),
                (broken("batch", "7"), "batch must be of type int, got '7'"),
                (broken("seconds", float("nan")), "seconds must be at least 0 and finite, got nan"),
                (broken("tokens", None), "tokens must be of type int, got None"),
                (broken("final", 1), "final must be of type bool, got 1"),
            ],
            7,
        ),
    )
    def test_a_damaged_state_is_one_sentence(self, change, words, data_dir, out):
        change_json(out, change)
        with pytest.raises(
            ValueError, match=rf"(?s)the state in .* is damaged \(.*{re.escape(words)}.*\): put back a copy"
        ):
            Trainer(run_of(), data_dir, out, resume=True)

    @pytest.mark.parametrize("content", ["", '{"run": ', "[1]", "3", "{}"])
    def test_a_state_that_is_not_json(self, content, data_dir, out):
        path = out / "resume" / FILE
        write_json(path, checkpoint.read_tensors(path), content)
        with pytest.raises(ValueError, match=r"the state in .* is damaged \(.*\): put back a copy"):
            Trainer(run_of(), data_dir, out, resume=True)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            (f"model.{NORM}", None, f"the tensor model.{NORM} is missing"),
            (f"adam.exp_avg.{NORM}", None, f"the tensor adam.exp_avg.{NORM} is missing"),
            (f"adam.step.{NORM}", None, f"the tensor adam.step.{NORM} is missing"),
            (f"snapshot.1.{NORM}", None, f"the tensor snapshot.1.{NORM} is missing"),
            ("random.cpu", None, "the tensor random.cpu is missing"),
            ("random.cpu", torch.zeros(3, dtype=torch.uint8), "the state of the random numbers is none"),
            ("random.cpu", torch.zeros(3), "the state of the random numbers is none"),
            (f"model.{NORM}", torch.zeros(3), "is not of (32,) floating-point numbers"),
            (f"model.{NORM}", torch.zeros(32, dtype=torch.int64), "is not of (32,) floating-point numbers"),
            (f"adam.exp_avg_sq.{NORM}", torch.full((32,), float("nan")), "holds numbers that are not finite"),
            (f"adam.step.{NORM}", torch.tensor(5.0), "of step 5, but its progress of step 6"),
        ],
    )
    def test_a_tensor_that_is_missing_or_wrong(self, name, value, words, data_dir, out):
        path = out / "resume" / FILE
        tensors = checkpoint.read_tensors(path)
        assert name in tensors
        tensors = {key: tensor for key, tensor in tensors.items() if key != name} | (
            {} if value is None else {name: value}
        )
        checkpoint.write_tensors(path, tensors)
        with pytest.raises(ValueError, match=rf"state\.safetensors is .*{re.escape(words)}"):
            Trainer(run_of(), data_dir, out, resume=True)

    def test_tensors_that_are_cut_off(self, data_dir, out):
        path = out / "resume" / FILE
        path.write_bytes(path.read_bytes()[:-1000])
        with pytest.raises(ValueError, match=r"state\.safetensors is not a whole safetensors file"):
            Trainer(run_of(), data_dir, out, resume=True)


class TestSaving:
    @pytest.mark.parametrize(
        ("begins", "files"),
        first_quick([*(("again", files) for files in range(6)), *(("at first", files) for files in (0, 1, 5))]),
    )
    def test_killed_while_saving_it_goes_on(self, begins, files, data_dir, begun, out, tmp_path, monkeypatch):
        """Killed when that many files are in their places: the first time, or after more steps than are saved."""

        class Killed(BaseException):
            pass

        out = tmp_path / "new" if begins == "at first" else out
        steps = STEPS if begins == "at first" else STEPS + 2
        replace, left = Path.replace, iter(range(files))

        def replace_some(path: Path, target: Path) -> Path:
            if path.name.endswith(".part") and path.parent in (out, out / "resume") and next(left, None) is None:
                raise Killed
            return replace(path, target)

        trainer = Trainer(run_of(steps=steps), data_dir, out, resume=begins != "at first")
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(Path, "replace", replace_some)
            trainer.train()
        if begins == "at first" and not files:
            (out / HISTORY).unlink()  # is not written over
        has_begun = begins != "at first" or files > 0
        resumed = Trainer(run_of(steps=STEPS + 4), data_dir, out, resume=has_begun)
        assert resumed.progress.step == (steps if files else steps - 2 if has_begun else 0)
        resumed.train()
        checkpoint.load(out)

    def test_without_room_the_last_save_stays(self, data_dir, out):
        before = (out / "resume" / FILE).read_bytes()
        trainer = Trainer(run_of(steps=STEPS + 2), data_dir, out, resume=True)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(OSError, match=FILE):
                trainer.train()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert trainer.progress.step == STEPS + 2
        assert (out / "resume" / FILE).read_bytes() == before
        assert sorted(path.name for path in (out / "resume").iterdir()) == [FILE]
        Trainer(run_of(steps=STEPS + 2), data_dir, out, resume=True).train()


def test_progress_at_the_beginning_is_allowed():
    assert Progress() == Progress(0, 0, 0, 0, 0, False)
