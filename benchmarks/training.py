"""Training tokens per second: our loop against the same sizes in torch.nn.Transformer in the plainest correct loop.

    python -m benchmarks.training [--checkpoint NAME] [--rounds N] [--threads 1 2]

Ours is one step of the loop that `python -m model train` runs, whole: loss, gradients, clipping, schedule, Adam. Theirs
is `PlainLoop` below, as a careful reader of the PyTorch documentation would write it. Both begin with the same weights
and see the same padded batches, with the same masks, dropout, tied embeddings, label smoothing, Adam and clipping, in
float32; the test holds their losses equal over several steps. Batches are random ids in sentences of 5 to 30 tokens,
grouped by length as in training; every pair of steps has a new one, and ours and theirs take turns at being first.
Counted are tokens that are not padding, source and target. Each step is timed by the clock on the wall and in processor
time (of all threads).
"""

from __future__ import annotations

import math
import random
import statistics
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from benchmarks.common import arguments, ratio, table, translator_of
from model.config import TransformerConfig
from model.positional import TABLES
from model.text.special import EOS_ID, PAD_ID
from model.text.subwords import Tokenizer
from model.training.batching import Batch, group_by_length, pad
from model.training.config import RunConfig, TrainingConfig
from model.training.loop import Trainer
from model.training.losses import TranslationLoss
from model.training.presets import PRESETS
from model.training.tasks import Task
from model.transformer import Transformer

HEADS = ("threads", "clock", "ours, tokens/s", "nn.Transformer, tokens/s", "ours / nn.Transformer")
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}
POOL = 1024


class OurLoop(Trainer):
    """The project's loop on a checkpoint's weights, fed from outside instead of from corpora."""

    def _prepare(self, run: RunConfig, data_dir: Path, tokenizer: Tokenizer) -> Task:
        return Task(
            config=run.model,
            tokenizer=tokenizer,
            stream=[],
            validation=None,
            objective=lambda model: TranslationLoss(model, run.training),
            about={},
        )

    def step(self, batch: Batch) -> float:
        """One update; returns the loss per token."""
        self.model.train()
        return self._step([batch])[0]


class PlainLoop:
    """torch.nn.Transformer with embeddings, positions and a tied output, and a plain training loop.

    Args:
        model: whose sizes and weights it takes; pre-norm or post-norm, with a norm at the end of both stacks.
        training: schedule, label smoothing and clipping.
        schedule: the learning rate of each step, from 1.

    Raises:
        ValueError: if nn.Transformer cannot be of that kind.
    """

    def __init__(self, model: Transformer, training: TrainingConfig, schedule: Callable[[int], float]) -> None:
        config = model.config
        if not (config.final_norm and config.attention_bias and config.tie_embeddings and not config.output_bias):
            raise ValueError("nn.Transformer is compared with final norms, biases in the attention and tied embeddings")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "enable_nested_tensor")  # which is of no use in training
            self.transformer = nn.Transformer(
                config.d_model,
                config.n_heads,
                config.n_encoder_layers,
                config.n_decoder_layers,
                config.d_ff,
                config.dropout,
                config.activation,
                layer_norm_eps=config.norm_eps,
                batch_first=True,
                norm_first=config.norm == "pre",
            )
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        self.positions = TABLES[config.positional](config.max_length, config.d_model).float()
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=training.label_smoothing)
        self.parameters = [*self.transformer.parameters(), *self.embedding.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self.clip_norm, self.schedule, self.n_steps = training.clip_norm, schedule, 0
        copy_weights(model, self)

    def embed(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, D)."""
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.size(1)])

    def step(self, batch: Batch) -> float:
        """One update; returns the loss per token."""
        src, tgt, labels = batch.src, batch.tgt[:, :-1], batch.tgt[:, 1:]
        future = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), dtype=torch.bool)  # True = blocked
        self.optimizer.zero_grad()
        hidden = self.transformer(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=future,
            src_key_padding_mask=src == PAD_ID,
            tgt_key_padding_mask=tgt == PAD_ID,
            memory_key_padding_mask=src == PAD_ID,
            tgt_is_causal=True,
        )
        logits = hidden @ self.embedding.weight.t()  # (B, T, V)
        loss = self.criterion(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.clip_norm)
        self.n_steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule(self.n_steps)
        self.optimizer.step()
        return loss.item()


@torch.no_grad()
def copy_weights(ours: Transformer, theirs: PlainLoop) -> None:
    """Give their model our weights."""
    theirs.embedding.weight.copy_(ours.encoder.input.embedding.weight)
    for ours_stack, stack in ((ours.encoder, theirs.transformer.encoder), (ours.decoder, theirs.transformer.decoder)):
        stack.norm.load_state_dict(ours_stack.norm.state_dict())
        for own, layer in zip(ours_stack.layers, stack.layers, strict=True):
            pairs = [(own.self_attention, layer.self_attn)]
            residuals = [own.residual_self, own.residual_ff]
            if stack is theirs.transformer.decoder:
                pairs.append((own.cross_attention, layer.multihead_attn))
                residuals.insert(1, own.residual_cross)
            for attention, target in pairs:
                projections = (attention.q_projection, attention.k_projection, attention.v_projection)
                target.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
                target.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
                target.out_proj.load_state_dict(attention.output_projection.state_dict())
            for number, residual in enumerate(residuals, start=1):
                getattr(layer, f"norm{number}").load_state_dict(residual.norm.state_dict())
            layer.linear1.load_state_dict(own.feed_forward.inner.state_dict())
            layer.linear2.load_state_dict(own.feed_forward.outer.state_dict())


def batches(vocab_size: int, batch_tokens: int, seed: int = 0) -> Iterator[Batch]:
    """Batches of random ids without end; sentences of about equal length share one."""
    rng = random.Random(seed)
    while True:
        pool = []
        for _ in range(POOL):
            n_source = rng.randint(5, 30)
            lengths = n_source, max(3, n_source + rng.randint(-3, 3))
            pool.append(tuple([rng.randrange(EOS_ID + 1, vocab_size) for _ in range(n)] for n in lengths))
        grouped = [pad(group) for group in group_by_length(pool, batch_tokens)]
        rng.shuffle(grouped)
        yield from grouped


def both_loops(checkpoint: Path, out: Path, model: TransformerConfig, **training: object) -> tuple[OurLoop, PlainLoop]:
    """Both sides with the weights of a checkpoint.

    Args:
        checkpoint: its folder.
        out: a folder that does not exist, of the run; nothing is written there.
        model: the checkpoint's sizes and choices.
        training: changes to the settings of the preset that the shipped model was trained with.
    """
    as_the_plain_loop = {"precision": "float32", "optimizer": "adam"}
    same = {"max_length": min(100, model.max_length - 1)} | as_the_plain_loop
    settings = PRESETS["en-de"].training.to_dict() | same | training
    run = RunConfig(model=model, training=TrainingConfig.from_dict(settings))
    ours = OurLoop(run, out, out, start_from=str(checkpoint))
    return ours, PlainLoop(ours.model, run.training, ours.schedule)


def timed_step(step: Callable[[Batch], float], batch: Batch) -> dict[str, float]:
    """Seconds a token of one step, by each clock."""
    starts = {name: clock() for name, clock in CLOCKS.items()}
    step(batch)
    return {name: (clock() - starts[name]) / batch.n_tokens for name, clock in CLOCKS.items()}


def measure(ours: OurLoop, theirs: PlainLoop, stream: Iterator[Batch], options: Namespace) -> Iterator[list[str]]:
    """Step in turns; yield the cells of the table after threads, for each clock."""
    rows = []
    for i, batch in enumerate(islice(stream, options.warmup + options.rounds)):
        sides = {"ours": ours.step, "theirs": theirs.step}
        order = list(sides) if i % 2 else list(sides)[::-1]
        rows.append({side: timed_step(sides[side], batch) for side in order})
    for clock in CLOCKS:
        times = {side: [row[side][clock] for row in rows[options.warmup :]] for side in ("ours", "theirs")}
        speeds = [f"{1 / statistics.median(times[side]):.0f}" for side in ("ours", "theirs")]
        yield [clock, *speeds, ratio(times["theirs"], times["ours"])]


def main() -> None:
    """Measure and print the table."""
    options = arguments(__doc__.splitlines()[0], rounds=20, with_cpu=False)
    translator = translator_of(options)
    rows = []
    with TemporaryDirectory() as folder:
        try:
            ours, theirs = both_loops(translator.folder, Path(folder) / "run", translator.config)
        except ValueError as error:
            raise SystemExit(f"error: {error}") from None
        stream = batches(translator.config.vocab_size, ours.run.training.batch_tokens)
        for threads in options.threads:
            torch.set_num_threads(threads)
            rows += [[str(threads), *cells] for cells in measure(ours, theirs, stream, options)]
    print(
        f"torch {torch.__version__}, float32, {torch.backends.cpu.get_cpu_capability()}; medians of {options.rounds} "
        "steps per side, taken in turns on the same batches, with quartiles of the ratio\n"
    )
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
