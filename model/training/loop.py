"""The training loop: resumable, interruptible, with a history file.

The run's folder is a checkpoint folder (the averaged weights, ready to load) with two more things in it: history.jsonl
and resume/, which holds the exact state to go on from.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from model import checkpoint
from model.tokenizer import PAD_ID, Tokenizer
from model.training import schedules
from model.training.batching import Batch, TrainingStream
from model.training.config import RunConfig
from model.training.data import CORPORA, leave_out, load_corpus, parse_mix
from model.training.evaluation import Validation
from model.training.interrupts import undivided
from model.transformer import Transformer

HISTORY = "history.jsonl"
SAVE_EVERY_SECONDS = 480
_LOG_EVERY = 20


@dataclass
class Progress:
    """Where a run stands, saved with its state.

    Attributes:
        step: optimiser steps done.
        epoch: the pass over the data, from 0.
        batch: batches of the pass that are done.
        seconds: time spent training, over all resumptions.
        tokens: source and target tokens seen.
        final: whether the present pass is over the data of the final decay.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    tokens: int = 0
    final: bool = False


class Trainer:
    """One training run.

    Args:
        run: model and training configuration.
        data_dir: the folder with the corpora.
        out: the run's folder.
        command: the command line, for the card.
        resume: continue from out/resume instead of starting anew.

    Raises:
        ValueError: if data are missing, there is nothing to resume from, or a fresh run would overwrite another.
    """

    def __init__(self, run: RunConfig, data_dir: Path, out: Path, command: str = "", resume: bool = False) -> None:
        self.out = out
        self.command = command
        self._resume_dir = out / "resume"
        if resume and not (self._resume_dir / "state.json").is_file():
            raise ValueError(f"there is nothing to resume in {out}: run without --resume first")
        if not resume and self._resume_dir.exists():
            raise ValueError(f"{out} holds another run: pass --resume to continue it, or choose another --out")
        config = run.training
        languages = (config.source, config.target)
        mix = parse_mix(config.data)
        pairs = {name: leave_out(load_corpus(data_dir, name, "train", languages), config.held_out) for name in mix}
        if resume:
            self.tokenizer = Tokenizer.from_json(checkpoint.read_text(out / checkpoint.TOKENIZER))
        else:
            texts = (text for name in mix for pair in pairs[name] for text in pair)
            self.tokenizer = Tokenizer.train(texts, run.model.vocab_size)
        self.run = replace(run, model=replace(run.model, vocab_size=len(self.tokenizer)))
        self.stream = TrainingStream(
            [(pairs[name], weight) for name, weight in mix.items()],
            self.tokenizer,
            config.noise,
            config.batch_tokens,
            config.max_length,
            config.seed,
        )
        self.validation = Validation(
            {name: load_corpus(data_dir, name, "valid", languages) for name in mix},
            self.tokenizer,
            config.validation_pairs,
        )
        torch.manual_seed(config.seed)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Transformer(self.run.model).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.schedule = schedules.by_name(
            config.schedule,
            d_model=self.run.model.d_model,
            peak=config.learning_rate,
            warmup=config.warmup,
            steps=config.steps,
            decay=config.decay,
        )
        self.progress = Progress()
        self.snapshots: list[dict[str, Tensor]] = []
        if resume:
            self._load_state()

    def train(self) -> None:
        """Train to the configured number of steps, saving on the way; an interruption (Ctrl-C) saves and is raised."""
        config = self.run.training
        if self.progress.step >= config.steps:
            raise ValueError(f"the run is complete: {self.progress.step} of {config.steps} steps done")
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"the folder {self.out} cannot be made: {error}") from None
        bar = tqdm(total=config.steps, initial=self.progress.step, unit="step", dynamic_ncols=True)
        try:
            self._train(bar)
        finally:
            bar.close()
            self.save()

    def _train(self, bar: tqdm) -> None:
        config, progress = self.run.training, self.progress
        last_save = time.monotonic()
        meter = _Meter()
        self.model.train()
        for batch in self._batches():
            begun = time.perf_counter()
            with undivided():
                loss, norm = self._step(batch)
                seconds = time.perf_counter() - begun
                progress.batch += 1
                progress.seconds += seconds
                progress.tokens += batch.n_tokens
                if progress.step % config.average_every == 0:
                    self._snapshot()
            meter.add(loss, norm, batch.n_tokens, seconds)
            bar.update()
            step = progress.step
            validates = step % config.validate_every == 0 or step == config.steps
            if step % _LOG_EVERY == 0 or validates:
                bar.set_postfix_str(f"loss {meter.loss:.3f}, {meter.tokens_per_second:.0f} tok/s", refresh=False)
                entry = {"step": step, "learning_rate": self.schedule(step), **meter.entry()}
                meter = _Meter()
                if validates:
                    entry |= self._validate(bar)
                self._log(entry)
            if time.monotonic() - last_save > SAVE_EVERY_SECONDS:
                self.save()
                last_save = time.monotonic()
            if step >= config.steps:
                return

    def _batches(self) -> Iterator[Batch]:
        """Batches from where the run stands, without end; who trains on one counts it."""
        progress = self.progress
        mixes = {final: list(self._mix(final).values()) for final in (False, True)}
        while True:
            if self._is_final() and not progress.final:
                progress.epoch, progress.batch, progress.final = progress.epoch + 1, 0, True
            skipped = progress.batch
            for number, batch in enumerate(self.stream.epoch(progress.epoch, mixes[progress.final])):
                if number >= skipped:
                    yield batch
                if self._is_final() and not progress.final:
                    break
            else:
                if progress.batch == 0:
                    raise ValueError("the training data hold no sentence pair that is short enough")
                progress.epoch, progress.batch = progress.epoch + 1, 0

    def _mix(self, final: bool) -> dict[str, float]:
        """How often each corpus is seen in a pass, before or during the final decay; all corpora are named."""
        config = self.run.training
        mix = parse_mix(config.data)
        return dict.fromkeys(mix, 0.0) | parse_mix(config.final_data) if final and config.final_data else mix

    def _is_final(self) -> bool:
        """Whether the next step belongs to the final decay and its data."""
        config = self.run.training
        return bool(config.final_data) and self.progress.step >= config.steps - config.decay

    def _step(self, batch: Batch) -> tuple[float, float]:
        """One update; returns the loss a token (nats, smoothed) and the gradient norm before clipping."""
        config = self.run.training
        src, tgt = batch.src.to(self.device), batch.tgt.to(self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            logits = self.model(src, tgt[:, :-1])  # (B, T, V)
        loss = smoothed_cross_entropy(logits.float(), tgt[:, 1:], config.label_smoothing)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip_norm)
        if not torch.isfinite(norm):
            raise ValueError(f"the gradient is not finite at step {self.progress.step + 1}: lower the learning rate")
        self.progress.step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule(self.progress.step)
        self.optimizer.step()
        return loss.item(), norm.item()

    def _snapshot(self) -> None:
        """Keep a copy of the weights for the average."""
        copy = {name: value.detach().to("cpu", copy=True) for name, value in self.model.named_parameters()}
        self.snapshots = [*self.snapshots, copy][-self.run.training.average_last :]

    def averaged(self) -> Transformer:
        """A copy of the model with the mean of the kept snapshots (Vaswani et al. 2017, section 6.1).

        Before the first snapshot: the present weights.
        """
        model = copy.deepcopy(self.model)  # a new model would draw random numbers that the training needs
        current = {name: value.detach().cpu() for name, value in self.model.named_parameters()}
        snapshots = self.snapshots or [current]
        mean = {name: torch.stack([snapshot[name] for snapshot in snapshots]).mean(0) for name in current}
        checkpoint.load_parameters(model, mean)
        return model.eval()

    def _validate(self, bar: tqdm) -> dict[str, Any]:
        scores = self.validation.run(self.averaged())
        bar.write(f"step {self.progress.step}: " + ", ".join(f"{name} {value}" for name, value in scores.items()))
        return scores

    def _log(self, entry: dict[str, Any]) -> None:
        with (self.out / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _forget_unsaved_history(self) -> None:
        """Drop what was logged after the last save: a run that was killed does those steps again."""
        path = self.out / HISTORY
        if path.is_file():
            lines = [line for line in checkpoint.read_text(path).splitlines() if line.endswith("}")]  # or half written
            lines = [line for line in lines if json.loads(line)["step"] <= self.progress.step]
            checkpoint.write_text(path, "".join(line + "\n" for line in lines))

    def card(self) -> dict[str, Any]:
        """What is known of the run, for card.json; scores are added by `evaluate`."""
        config, progress = self.run.training, self.progress
        return {
            "task": f"translation {config.source}-{config.target}",
            "source": config.source,
            "target": config.target,
            "command": self.command,
            "data": {
                name: {"weight": weight, "licence": CORPORA[name].licence}
                for name, weight in parse_mix(config.data).items()
            },
            "parameters": sum(value.numel() for value in self.model.parameters()),
            "steps": progress.step,
            "complete_passes": progress.epoch,
            "training_tokens": progress.tokens,
            "training_hours": round(progress.seconds / 3600, 2),
            "device": _device_name(self.device),
            "averaged_snapshots": len(self.snapshots),
            "training": config.to_dict(),
        }

    def save(self) -> None:
        """Write the checkpoint with the averaged weights, and the state to resume from."""
        with undivided():
            self._save()

    def _save(self) -> None:
        checkpoint.save(self.out, self.averaged(), self.tokenizer, self.card())
        self._resume_dir.mkdir(parents=True, exist_ok=True)
        tensors = {f"model.{name}": value for name, value in self.model.named_parameters()}
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"adam.{key}.{name}"] = value
        for i, snapshot in enumerate(self.snapshots):
            tensors |= {f"snapshot.{i}.{name}": value for name, value in snapshot.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if self.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        checkpoint.write_tensors(self._resume_dir / "state.safetensors", tensors)
        state = {"run": self.run.to_dict(), "progress": vars(self.progress)}
        checkpoint.write_json(self._resume_dir / "state.json", state)

    def _load_state(self) -> None:
        """Continue exactly where `save` left the run."""
        state = checkpoint.read_json(self._resume_dir / "state.json")
        if state.get("run", {}).get("model") != self.run.model.to_dict():
            raise ValueError(
                f"{self.out} holds a run of a model of other sizes: resume it with the configuration it began with"
            )
        self.progress = Progress(**state["progress"])
        self._forget_unsaved_history()
        tensors = checkpoint.read_tensors(self._resume_dir / "state.safetensors")
        checkpoint.load_parameters(self.model, _under("model.", tensors))
        adam = {key: _under(f"adam.{key}.", tensors) for key in ("step", "exp_avg", "exp_avg_sq")}
        for name, parameter in self.model.named_parameters():
            if name in adam["step"]:
                # Adam counts its steps in a tensor that lives where the fused kernel runs.
                self.optimizer.state[parameter] = {key: adam[key][name].to(self.device) for key in adam}
        count = len({name.split(".")[1] for name in tensors if name.startswith("snapshot.")})
        self.snapshots = [_under(f"snapshot.{i}.", tensors) for i in range(count)]
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors and self.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"])


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Mean cross entropy a token with label smoothing (Szegedy et al. 2016; section 5.4 of Vaswani et al. 2017).

    The target distribution is (1 - smoothing) on the right token plus smoothing spread evenly over the vocabulary.

    Args:
        logits: (B, T, V).
        targets: (B, T) ids; padding does not count.
        smoothing: in [0, 1); 0 gives plain cross entropy.

    Returns:
        The mean in nats, a scalar.
    """
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD_ID, label_smoothing=smoothing)


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


class _Meter:
    """Means over the steps since the last log line."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._norms: list[float] = []
        self._tokens = 0
        self._seconds = 0.0

    def add(self, loss: float, norm: float, tokens: int, seconds: float) -> None:
        self._losses.append(loss)
        self._norms.append(norm)
        self._tokens += tokens
        self._seconds += seconds

    @property
    def loss(self) -> float:
        return sum(self._losses) / len(self._losses)

    @property
    def tokens_per_second(self) -> float:
        return self._tokens / self._seconds

    def entry(self) -> dict[str, float]:
        return {
            "loss": round(self.loss, 4),
            "gradient_norm": round(sum(self._norms) / len(self._norms), 4),
            "tokens_per_second": round(self.tokens_per_second, 1),
        }
