"""What `python -m model train` does."""

from __future__ import annotations

import argparse
import signal
from dataclasses import replace
from pathlib import Path

from model import checkpoint
from model.training.config import RunConfig
from model.training.presets import PRESETS


def train(arguments: argparse.Namespace) -> None:
    """Train the preset or configuration file named on the command line, in one process or in those of torchrun."""
    from model.training.loop import Trainer
    from model.training.processes import started

    run = read_run(arguments.config)
    said = {name: value for name in ("steps", "data") if (value := getattr(arguments, name)) is not None}
    run = replace(run, training=replace(run.training, **said))
    # Being told to end is answered like Ctrl-C: the state is saved.
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell lets what it starts with "&" ignore the first
        signal.signal(ending, signal.default_int_handler)
    with started() as processes:
        try:
            trainer = Trainer(
                run,
                arguments.data_dir,
                arguments.out,
                arguments.command_line,
                arguments.resume,
                processes,
                arguments.start_from,
                arguments.tokenizer,
            )
            trainer.train()
        except KeyboardInterrupt:
            if processes.is_first:
                raise
            raise SystemExit(130) from None  # one process says it for all


def read_run(name: str) -> RunConfig:
    """The preset of that name, or what a JSON file of that path holds.

    Raises:
        ValueError: if it is neither.
    """
    if name in PRESETS:
        return PRESETS[name]
    if not name.endswith(".json"):
        raise ValueError(f"unknown preset {name!r}; there are {', '.join(PRESETS)}, or give a CONFIG.json")
    return RunConfig.from_dict(checkpoint.read_json(Path(name)))
