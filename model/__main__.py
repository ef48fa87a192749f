"""The commands: python -m model COMMAND."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path


def _train(arguments: argparse.Namespace) -> None:
    from model.training.commands import train

    train(arguments)


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 2 for what the caller can mend, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m model", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train a model")
    train.add_argument("config", metavar="PRESET|CONFIG.json")
    train.add_argument("--data-dir", type=Path, required=True)
    train.add_argument("--out", type=Path, required=True)
    train.add_argument("--resume", action="store_true")
    train.add_argument("--steps", type=int)
    train.set_defaults(run=_train)
    arguments = parser.parse_args(argv)
    arguments.command_line = "python -m model " + shlex.join(argv if argv is not None else sys.argv[1:])
    try:
        arguments.run(arguments)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
