"""Training that leaves a recorded run: `python -m model train ... --record FOLDER`."""

from __future__ import annotations

from pathlib import Path

from model import checkpoint
from model.training import runs
from model.training.config import RunConfig
from model.training.data.batching import Batch
from model.training.history import HISTORY, make_folder
from model.training.loop import Trainer


class RecordingTrainer(Trainer):
    """A Trainer that keeps snapshots, the losses of the first steps, and at the end a history that says all.

    Args:
        run: as for Trainer.
        data_dir: as for Trainer.
        out: as for Trainer.
        more: further arguments of Trainer, in its order.
        record_to: the folder of the recorded run.

    Raises:
        ValueError: as Trainer; if a fresh run would overwrite a recorded one; and if a run is resumed that was
            interrupted before its first steps were written down.
    """

    def __init__(self, run: RunConfig, data_dir: Path, out: Path, *more, record_to: Path) -> None:
        super().__init__(run, data_dir, out, *more)
        self.folder = record_to
        history = record_to / HISTORY
        if self.progress.step:
            # A history that is not complete lacks the hash, which is not known yet.
            begun = checkpoint.read_text(history).splitlines() if history.is_file() else []
            if not begun:
                raise ValueError(f"the first steps of the run in {out} were not recorded in {record_to}: begin anew")
            self.header = runs.read_object(history, 1, begun[0])
        elif history.exists():
            raise ValueError(f"{record_to} holds a recorded run: choose another folder")
        else:
            self.header = {
                "command": self.command,
                "seed": run.training.seed,
                "sha256": "",
                "config": run.to_dict(),
                "first_losses": [],
            }

    def _step(self, batches: list[Batch], stop: bool = False) -> tuple[float, float, bool]:
        loss, norm, stop = super()._step(batches, stop)
        if self.processes.is_first:
            self._note(loss)
        return loss, norm, stop

    def _note(self, loss: float) -> None:
        """Write down what belongs to the step just done."""
        step, last = self.progress.step, self.run.training.steps
        if step <= runs.FIRST_STEPS:
            self.header["first_losses"].append(round(loss, 6))
        if step in runs.snapshot_steps(last):
            self._keep(step)
        if step == min(runs.FIRST_STEPS, last):
            runs.write_history(self.folder, self.header, [])

    def _keep(self, step: int) -> None:
        """Write the weights as they are now, not averaged, as a checkpoint."""
        checkpoint.save(self._snapshot_folder(step), self.model, self.tokenizer, self.card())

    def _snapshot_folder(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}"

    def train(self) -> None:
        """Train as Trainer does; when the last step is done, write the whole history."""
        make_folder(self.folder)
        super().train()
        if self.processes.is_first:
            self.header["sha256"] = runs.digest(self._snapshot_folder(self.run.training.steps))
            lines = checkpoint.read_text(self.out / HISTORY).splitlines()
            runs.write_history(self.folder, self.header, lines)
