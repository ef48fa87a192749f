"""The training loop. A run's folder is a checkpoint of averaged weights with history.jsonl, and resume/ to continue."""

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from model.storage import checkpoint
from model.storage.checkpoint import AnyModel
from model.text.words import read_tokenizer
from model.training import optimizers, state, tasks
from model.training.batching import Batch
from model.training.config import RunConfig
from model.training.data.corpora import parse_mix
from model.training.growth import find_conflict, widen_feed_forward
from model.training.processes import Processes, alone, undivided
from model.training.state import HISTORY, Progress

SAVE_EVERY_SECONDS = 480
_LOG_EVERY = 20
Step = tuple[float, float, int, float]  # loss, gradient norm, tokens, seconds


class Diverged(ValueError):
    """A gradient is not finite."""


class Trainer:
    """One training run.

    Args:
        out: the run's folder.
        command: the command line, for the card.
        start_from: a checkpoint folder with whose weights and tokenizer to begin; its feed-forward layers may be
            narrower.
        tokenizer: a folder whose tokenizer to use; its size is that of the vocabulary.

    Raises:
        ValueError: if data or what to resume from is missing or damaged, or a run or checkpoint would be overwritten.
    """

    def __init__(
        self,
        run: RunConfig,
        data_dir: Path,
        out: Path,
        command: str = "",
        resume: bool = False,
        start_from: str = "",
        tokenizer: str = "",
        processes: Processes | None = None,
    ) -> None:
        self.out, self.command = out, command
        self.processes = processes or alone()
        self.device = self.processes.device
        auto = "bfloat16" if self.processes.multiplies_bfloat16() else "float32"
        self.precision = auto if run.training.precision == "auto" else run.training.precision
        self._resume_dir = out / "resume"
        if resume != (self._resume_dir / state.FILE).is_file():
            advice = f"there is nothing to resume in {out}: run without --resume first"
            if not resume:
                advice = f"{out} holds another run: pass --resume to continue it, or choose another --out"
            raise ValueError(advice)
        for name in () if resume else (*checkpoint.LISTED, HISTORY):
            if (out / name).exists():
                raise ValueError(f"{out} already has a file {name}, which is not overwritten: choose another --out")
        start = checkpoint.load(Path(start_from)) if start_from else None
        loaded_tokenizer = start.tokenizer if start else None
        saved = state.read(self._resume_dir) if resume else None
        if saved or tokenizer:
            text = saved.tokenizer if saved else checkpoint.read_text(Path(tokenizer) / checkpoint.TOKENIZER)
            loaded_tokenizer = read_tokenizer(text)
        self.task = self._prepare(run, data_dir, loaded_tokenizer)
        self.tokenizer = self.task.tokenizer
        self.stream = self.task.stream
        self.validation = self.task.validation
        self.run = replace(run, model=self.task.config)
        config = self.run.training
        torch.manual_seed(config.seed)
        self.model = checkpoint.build(self.run.model).to(self.device)
        if start:
            self._warm_start(start.model)
        self.optimizers = optimizers.build(self.model, config, self.processes.multiplies_bfloat16())
        self.schedule = config.rates(getattr(self.run.model, "d_model", 1))
        self.progress = Progress()
        self.snapshots = []
        if saved:
            self.progress, self.snapshots = state.restore(
                saved, self.run, self.processes.count, self.model, self.optimizers
            )
            if self.processes.is_first:
                state.forget_after(out, self.progress.step)
        self._wrapped = self.processes.wrap(self.task.objective(self.model))

    def _prepare(self, run: RunConfig, data_dir: Path, tokenizer: Any) -> tasks.Task:
        return tasks.prepare(run, data_dir, tokenizer, self.processes)

    def _warm_start(self, model: AnyModel) -> None:
        theirs, ours = (config.to_dict() for config in (model.config, self.run.model))
        if name := find_conflict(theirs, ours):
            raise ValueError(f"the checkpoint to start from has {name} {theirs[name]!r}, the run {ours[name]!r}")
        checkpoint.load_parameters(self.model, widen_feed_forward(dict(model.named_parameters()), self.model))

    def train(self) -> None:
        """Train to the configured step, saving on the way; Ctrl-C saves and is raised."""
        config = self.run.training
        if self.progress.step >= config.steps:
            raise ValueError(f"the run is complete: {self.progress.step} of {config.steps} steps done")
        state.make_folder(self.out)
        done = self.progress.step
        quiet = not self.processes.is_first
        bar = tqdm(total=config.steps, initial=done, unit="step", dynamic_ncols=True, disable=quiet)
        try:
            # Several processes end after the same step, or one would wait for the others for ever.
            with undivided() if self.processes.count > 1 else nullcontext([]) as signals:
                self._train(bar, signals)
        finally:
            bar.close()
            self.save()

    def _train(self, bar: tqdm, signals: list[int]) -> None:
        config = self.run.training
        progress = self.progress
        last_save = time.monotonic()
        steps: list[Step] = []
        self.model.train()
        batches = self._batches()
        while progress.step < config.steps:
            update = list(islice(batches, config.accumulate * self.processes.count))
            n_tokens = sum(batch.n_tokens for batch, _ in update)
            begun = time.perf_counter()
            with undivided():
                loss, norm, stop = self._step([batch for batch, _ in update], bool(signals))
                seconds = time.perf_counter() - begun
                progress.epoch, progress.batch, progress.final = update[-1][1]
                progress.seconds += seconds
                progress.tokens += n_tokens
                if progress.step % config.average_every == 0:
                    now = {name: value.detach().to("cpu", copy=True) for name, value in self.model.named_parameters()}
                    self.snapshots = [*self.snapshots, now][-config.average_last :]
            steps.append((loss, norm, n_tokens, seconds))
            bar.update()
            if stop and progress.step < config.steps:
                raise KeyboardInterrupt
            if self.processes.is_first and self._report(bar, steps):
                steps = []
            if time.monotonic() - last_save > SAVE_EVERY_SECONDS:
                self.save()
                last_save = time.monotonic()

    def _report(self, bar: tqdm, steps: list[Step]) -> bool:
        config = self.run.training
        step = self.progress.step
        validates = step % config.validate_every == 0 or step == config.steps
        if step % _LOG_EVERY and not validates:
            return False
        losses, norms, tokens, seconds = map(sum, zip(*steps))
        loss, speed = losses / len(steps), tokens / seconds
        bar.set_postfix_str(f"loss {loss:.3f}, {speed:.0f} tok/s", refresh=False)
        entry = {
            "step": step,
            "learning_rate": self.schedule(step),
            "loss": round(loss, 4),
            "gradient_norm": round(norms / len(steps), 4),
            "tokens_per_second": round(speed, 1),
        }
        if validates:
            if self.processes.count > 1:
                self.save()  # Ctrl-C waits for the validation, and what waits for too long is killed
            entry |= (scores := self.validation.run(self.averaged()))
            bar.write(f"step {step}: " + ", ".join(f"{name} {value}" for name, value in scores.items()))
        state.append(self.out, entry)
        return True

    def _batches(self) -> Iterator[tuple[Batch, tuple[int, int, bool]]]:
        """From where the run stands, without end, each with the progress after it."""
        epoch = self.progress.epoch
        n_seen = self.progress.batch
        final = self.progress.final
        config = self.run.training
        mix = parse_mix(config.data)
        last = dict.fromkeys(mix, 0.0) | parse_mix(config.final_data) if config.final_data else mix
        while True:
            if self._is_final() != final:  # back again, too: a finished run may be given more steps
                epoch = epoch + 1
                n_seen = 0
                final = not final
            number = 0
            for number, batch in enumerate(self.stream.epoch(epoch, list((last if final else mix).values())), start=1):
                if number > n_seen:
                    yield batch, (epoch, number, final)
                if self._is_final() != final:
                    break
            else:
                if number == 0:
                    raise ValueError("the training data hold no sentence pair that is short enough")
                epoch = epoch + 1
                n_seen = 0

    def _is_final(self) -> bool:
        config = self.run.training
        return bool(config.final_data) and self.progress.step >= config.steps - config.decay

    def _step(self, batches: Sequence[Batch], stop: bool = False) -> tuple[float, float, bool]:
        """One update, as if the batches were one; returns loss per token (nats), gradient norm, whether to stop."""
        config = self.run.training
        processes = self.processes
        counts = [batch.n_targets for batch in batches]
        # A batch weighs its share of the tokens; averaging over the processes divides by their number.
        weights = [count * processes.count / sum(counts) for count in counts]
        weighted_batches = processes.share(list(zip(batches, weights)))
        processes.draw_anew(config.seed, self.progress.step)
        self.model.zero_grad(set_to_none=True)
        losses = []
        for i, (batch, weight) in enumerate(weighted_batches, start=1):
            is_last = i == len(weighted_batches)
            with nullcontext() if is_last else processes.keeps_gradients(self._wrapped):
                loss = self._loss(batch) * weight
                loss.backward()
            losses.append(loss.detach())
        total, n_stopping = processes.sum(torch.stack(losses).sum().item(), stop)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip_norm)
        if not torch.isfinite(norm):
            raise Diverged(f"the gradient is not finite at step {self.progress.step + 1}: lower the learning rate")
        self.progress.step += 1
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.schedule(self.progress.step) * group.get("share", 1.0)
            optimizer.step()
        return total / processes.count, norm.item(), n_stopping > 0

    def _loss(self, batch: Batch) -> Tensor:
        src = batch.src.to(self.device)
        tgt = batch.tgt.to(self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.precision == "bfloat16"):
            return self._wrapped(src, tgt)

    def averaged(self) -> AnyModel:
        """A copy with the mean of the snapshots, if there are any (Vaswani et al. 2017, section 6.1)."""
        model = copy.deepcopy(self.model)  # a new model would draw random numbers that the training needs
        if self.snapshots:
            checkpoint.load_parameters(model, mean(self.snapshots))
        return model.eval()

    def card(self) -> dict[str, Any]:
        """The content of the checkpoint's card: data, command, and how far the training is."""
        config = self.run.training
        progress = self.progress
        return {
            **self.task.about,
            "command": self.command,
            "parameters": sum(value.numel() for value in self.model.parameters()),
            "steps": progress.step,
            "complete_passes": progress.epoch,
            "training_tokens": progress.tokens,
            "training_hours": round(progress.seconds / 3600, 2),
            "device": f"{self.processes.describe()}, {self.precision}",
            "averaged_snapshots": len(self.snapshots),
            "training": config.to_dict(),
        }

    def save(self) -> None:
        """The first process writes the state to resume from, then the checkpoint."""
        if not self.processes.is_first:
            return
        values = {
            "run": self.run.to_dict(),
            "progress": vars(self.progress),
            "processes": self.processes.count,
            "tokenizer": self.tokenizer.to_json(),
        }
        with undivided():
            state.save(self._resume_dir, values, self.model, self.optimizers, self.snapshots)
            checkpoint.save(self.out, self.averaged(), self.tokenizer, self.card())


class UnsavedTrainer(Trainer):
    """Trains on a task that was prepared for several runs, and writes nothing: a run of minutes is done again."""

    def __init__(self, run: RunConfig, task: tasks.Task, data_dir: Path, out: Path) -> None:
        self._task = task
        super().__init__(run, data_dir, out)

    def _prepare(self, run: RunConfig, data_dir: Path, tokenizer: Any) -> tasks.Task:
        return replace(self._task, config=run.model.with_vocabularies(*self._task.config.vocab_sizes))

    def save(self) -> None:
        """There is nothing to go on from."""


def mean(snapshots: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of every parameter over snapshots of the same model, each of its own shape (Izmailov et al. 2018)."""
    return {name: torch.stack([snapshot[name].detach() for snapshot in snapshots]).mean(0) for name in snapshots[0]}
