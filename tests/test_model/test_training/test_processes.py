"""Two processes on the CPU, as torchrun starts them, train what one process does that accumulates; Ctrl-C ends both."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from model.storage import checkpoint
from model.training import processes, state
from model.training.loop import Trainer
from model.training.state import HISTORY
from tests.test_model.test_training.language import tiny_run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
MORE_STEPS = 5
SECONDS = 300  # each start takes seconds, unless the machine is busy


def run_of(steps: int, accumulate: int):
    """Without dropout, whose numbers are each process's own; everything else as in any run."""
    return tiny_run({"dropout": 0.0}, steps=steps, accumulate=accumulate, average_every=3, validation_pairs=2)


def start(folder: Path, data_dir: Path, steps: int, *options: str) -> subprocess.Popen:
    """Starts torchrun with two processes, in a process group of its own like a terminal's."""
    config = folder / "run.json"
    config.write_text(json.dumps(run_of(steps, accumulate=1).to_dict()))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = ["-m", "model", "train", str(config), "--data-dir", str(data_dir), "--out", str(folder / "out"), *options]
    return subprocess.Popen(
        [*torchrun, *command],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen, folder: Path) -> str:
    """Waits for the end; returns what was printed. No process is left: torchrun's have sessions of their own."""
    try:
        output, _ = process.communicate(timeout=SECONDS)
    finally:
        left = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder) in words_of(path)]
        for number in left:
            os.kill(number, signal.SIGKILL)
    assert not left, "processes were left behind"
    return output


def words_of(path: Path) -> str:
    """The command line of a process, none of one that has just ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def interrupt_after_a_line_of_history(process: subprocess.Popen, out: Path) -> None:
    """Ctrl-C once the first twenty steps are done."""
    deadline = time.monotonic() + SECONDS
    while not (out / HISTORY).is_file():
        assert process.poll() is None and time.monotonic() < deadline, finish(process, out.parent)
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)


def test_two_processes_interrupted_and_resumed_are_one_that_accumulates(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(tmp_path, data_dir, 100_000)
    interrupt_after_a_line_of_history(process, out)
    output = finish(process, tmp_path)
    assert process.returncode != 0
    assert output.count("interrupted") == 1 and "error:" not in output and "loop.py" not in output, output
    values = state.read(out / "resume").values
    stopped = values["progress"]["step"]
    assert stopped >= 20 and values["processes"] == 2

    steps = stopped + MORE_STEPS
    process = start(tmp_path, data_dir, steps, "--resume")
    output = finish(process, tmp_path)
    assert process.returncode == 0, output
    card = checkpoint.load(out).card
    assert card["steps"] == steps and card["device"].startswith("2 processes, each CPU")

    alone = Trainer(run_of(steps, accumulate=2), data_dir, tmp_path / "alone")
    alone.train()
    expected = {f"model.{name}": value for name, value in alone.model.named_parameters()}
    saved = state.read(out / "resume")
    for name, value in expected.items():
        torch.testing.assert_close(saved.tensors[name], value.detach(), rtol=1e-6, atol=1e-6)
    assert {**saved.values["progress"], "seconds": 0} == {**vars(alone.progress), "seconds": 0}
    last, expected_last = ((path / HISTORY).read_text().splitlines()[-1] for path in (out, tmp_path / "alone"))
    for key in ("step", "learning_rate", "valid_perplexity.multi30k"):
        assert json.loads(last)[key] == pytest.approx(json.loads(expected_last)[key], rel=1e-3)

    # The same batches per update: one process may go on where two were, and not with half of the batches.
    assert Trainer(run_of(steps, accumulate=2), data_dir, out, resume=True).progress.step == steps
    with pytest.raises(ValueError, match="accumulate times the number of processes 2, which cannot become 1"):
        Trainer(run_of(steps, accumulate=1), data_dir, out, resume=True)


def test_alone_nothing_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    handler = signal.getsignal(signal.SIGINT)
    with processes.started() as joined:
        assert (joined.count, joined.rank, joined.is_first) == (1, 0, True)
        assert not torch.distributed.is_initialized()
        assert joined.sum(2.0, True) == [2.0, True] and joined.agree("a") == "a" and joined.share([1, 2]) == [1, 2]
        before = torch.get_rng_state()
        joined.draw_anew(1, 2)
        assert torch.equal(torch.get_rng_state(), before)
        model = torch.nn.Linear(1, 1)
        assert joined.wrap(model) is model
    assert signal.getsignal(signal.SIGINT) is handler


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "LOCAL_RANK": "0", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match="a GPU of its own and this machine has 1: .* CUDA_VISIBLE_DEVICES=''"):
        with processes.started():
            pass


def test_shares_are_disjoint_and_draws_differ_between_processes_and_steps() -> None:
    both = [processes.Processes(2, rank, torch.device("cpu")) for rank in range(2)]
    assert [joined.share([1, 2, 3, 4]) for joined in both] == [[1, 3], [2, 4]]
    draws = set()
    for joined in both:
        for step in range(2):
            joined.draw_anew(1, step)
            draws.add(torch.rand(()).item())
    assert len(draws) == 4
    both[0].draw_anew(1, 0)
    assert torch.rand(()).item() in draws
