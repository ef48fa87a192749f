"""The commands: python -m model COMMAND. `python -m model COMMAND --help` explains each."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from model.commands import handlers as commands
from model.config import DEFAULT_CHECKPOINT
from model.training import schedules

_TRAIN_EPILOG = f"""\
CONFIG.json holds {{"model": {{...}}, "training": {{...}}}}; what is left out takes the defaults of
model.config.TransformerConfig and model.training.config.TrainingConfig, where each key is explained. "architecture":
"gru" or "language_model" in "model" means GruConfig or LanguageModelConfig instead. Among the keys of "training":
  schedule      of the learning rate: {", ".join(schedules.NAMES[:4])},
                {", ".join(schedules.NAMES[4:])}; with learning_rate (its peak; for noam a
                factor), warmup, and decay for the last two
  data          a mix of corpora and of groups of licences: "tatoeba + 2*multi30k", "cc0 + by + perm + sa", "all"
  optimizer     adam, muon or sgd
  batch_tokens  ids in a batch
  accumulate    batches an update, as if they were one

Ctrl-C saves; --resume goes on to the same weights as if nothing had happened.

Several processes, each with its share of every update's batches, each on a GPU of its own where there are GPUs:
  torchrun --nproc-per-node 2 -m model train PRESET|CONFIG.json --data-dir DIR --out DIR
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after `python -m model`; those of the command line when left out.

    Returns:
        The exit code: 0; 2 after an error that the caller can mend, told in one line on stderr; 130 after Ctrl-C.
    """
    argv = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args(argv)
    arguments.command_line = "python -m model " + shlex.join(argv)
    return carry_out(arguments)


def carry_out(arguments: argparse.Namespace) -> int:
    """Run what the arguments say, and tell errors as every command does.

    Args:
        arguments: parsed, with the function `run`.

    Returns:
        As `main`.
    """
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error.filename or 'file'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except ValueError as error:
        print("error: " + " ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model", description="Translate, trace, evaluate and train.")
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = subcommands.add_parser("checkpoints", help="what can be loaded, with sizes and scores")
    command.add_argument("--readme", action="store_true", help="write them as a table into README.md beside them")
    command.set_defaults(run=commands.checkpoints)

    command = subcommands.add_parser("seal", help="write the SHA-256 of a checkpoint's files, which loading compares")
    command.add_argument("folders", metavar="DIR", nargs="+", type=Path, help="a checkpoint's folder")
    command.set_defaults(run=commands.seal)

    command = subcommands.add_parser(
        "average", help="make a checkpoint of the mean weights of several, for runs of one line"
    )
    command.add_argument(
        "folders", metavar="DIR", nargs="+", type=Path, help="their folders; the last one's card is kept"
    )
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the new checkpoint's folder")
    command.set_defaults(run=commands.average)

    command = subcommands.add_parser("translate", help="translate texts, one translation a line")
    command.add_argument("texts", metavar="TEXT", nargs="*", help="what to translate; lines of stdin when left out")
    command.add_argument("--json", action="store_true", help="print tokens and probabilities, a JSON object a line")
    _add_checkpoint(command)
    _add_beam(command)
    command.set_defaults(run=commands.translate)

    command = subcommands.add_parser("trace", help="write tokens and every recorded array of one translation to a file")
    command.add_argument("text", metavar="TEXT")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    _add_checkpoint(command)
    _add_beam(command)
    command.set_defaults(run=commands.trace)

    command = subcommands.add_parser(
        "effects", help="write what every part of the decoder adds directly to each written word to a file"
    )
    command.add_argument("text", metavar="TEXT")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    command.add_argument(
        "--against", choices=["runner-up"], help="compare with the most probable other word, not with the mean of all"
    )
    _add_checkpoint(command)
    _add_beam(command)
    command.set_defaults(run=commands.effects)

    command = subcommands.add_parser("import", help="convert a model of another library into a checkpoint")
    command.add_argument("kind", choices=["marian"], help="of model: marian, a MarianMT of Hugging Face (opus-mt-*)")
    command.add_argument("name", metavar="DIR|HUB_NAME", help="its folder, or its name on the Hugging Face hub")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the new checkpoint's folder")
    command.add_argument("--revision", metavar="NAME", help="a branch or a commit on the hub")
    command.set_defaults(run=commands.import_)

    command = subcommands.add_parser("attention", help="write the attention of a T5, BART, GPT-2 or BERT to a file")
    command.add_argument("name", metavar="DIR|HUB_NAME", help="its folder, or its name on the Hugging Face hub")
    command.add_argument("text", metavar="TEXT")
    command.add_argument("--target", metavar="TEXT", help="what the decoder of a T5 or BART is made to write")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    command.add_argument("--revision", metavar="NAME", help="a branch or a commit on the hub")
    command.set_defaults(run=commands.attention)

    command = subcommands.add_parser("write", help="go on with a text, drawing words from a language model")
    command.add_argument("text", metavar="TEXT")
    command.add_argument("--words", type=int, default=30, metavar="N", help="how many to draw; default: %(default)s")
    command.add_argument("--temperature", type=float, default=1.0, metavar="X", help="0: no chance; default: 1")
    command.add_argument("--top-k", type=int, default=0, metavar="K", help="of the K most probable only; 0: of all")
    command.add_argument("--top-p", type=float, default=1.0, metavar="P", help="of the most probable up to P in all")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="the same gives the same words")
    _add_checkpoint(command)
    command.set_defaults(run=commands.write)

    command = subcommands.add_parser("evaluate", help="score translations of a file with sacreBLEU; last line: JSON")
    command.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="FILE[.gz]",
        help="lines of source<TAB>reference, raw text; for a language model a plain text, words apart by spaces",
    )
    command.add_argument("--lowercase", action="store_true", help="lowercase both sides before scoring")
    command.add_argument("--by-length", action="store_true", help="also score short and long sentences apart")
    command.add_argument("--save-as", metavar="NAME", help="keep the scores on the checkpoint's card under this name")
    _add_checkpoint(command)
    _add_beam(command)
    command.set_defaults(run=commands.evaluate)

    command = subcommands.add_parser(
        "atlas", help="measure every head over held-out sentences, for the page Head atlas"
    )
    command.add_argument(
        "--data", type=Path, required=True, metavar="FILE[.gz]", help="lines of source<TAB>reference, raw text"
    )
    command.add_argument(
        "--sentences", type=int, default=100, metavar="N", help="read N, spread over the file; default: %(default)s"
    )
    command.add_argument(
        "--bleu-sentences", type=int, default=0, metavar="N", help="also translate N without each head; default: none"
    )
    command.add_argument(
        "--links",
        type=Path,
        nargs="+",
        action="append",
        default=[],
        metavar="PATH",
        help="also score heads as word aligners: a folder with de-en.ref.wa, test.de and test.en, or a file of links "
        "(as in model/measures/links/) and both texts; may be given again",
    )
    command.add_argument("--credit", default="", metavar="TEXT", help="whose sentences they are, and their licence")
    command.add_argument(
        "--out", type=Path, metavar="FILE.json", help="where to write it; default: atlas.json beside the weights"
    )
    _add_checkpoint(command)
    command.set_defaults(run=commands.atlas)

    command = subcommands.add_parser("check", help="measure what must be true of every map; prints JSON")
    command.add_argument(
        "--data", type=Path, required=True, metavar="FILE[.gz]", help="lines of source<TAB>reference, raw text"
    )
    command.add_argument("--sentences", type=int, default=30, metavar="N", help="read N; default: %(default)s")
    command.add_argument("--save", action="store_true", help="keep the result in check.json beside the weights")
    _add_checkpoint(command)
    command.set_defaults(run=commands.check)

    command = subcommands.add_parser(
        "train",
        help="train a model",
        description="Train a model, or go on with one.",
        epilog=_TRAIN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("config", metavar="PRESET|CONFIG.json", help="a preset's name or a configuration file")
    command.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the folder with the corpora")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the run's folder")
    command.add_argument("--resume", action="store_true", help="continue the run in --out where it stopped")
    command.add_argument(
        "--start-from", default="", metavar="FOLDER", help="begin with the weights and the tokenizer of a checkpoint"
    )
    command.add_argument(
        "--tokenizer", default="", metavar="FOLDER", help="cut text with this folder's tokenizer.json; train none"
    )
    command.add_argument("--steps", type=int, help="train to this step instead of the configured one")
    command.add_argument("--data", metavar="MIX", help="train on this mix instead of the configured one (see below)")
    command.set_defaults(run=commands.train)

    command = subcommands.add_parser("backtranslate", help="make training pairs of sentences in the target language")
    command.add_argument("--data", type=Path, required=True, metavar="FILE[.gz]", help="a sentence on each line")
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE.tsv.gz",
        help="pairs of English and German; DIR/back-translated/NAME.tsv.gz is the corpus back-NAME of --data-dir DIR",
    )
    command.add_argument("--resume", action="store_true", help="go on where it was interrupted")
    _add_checkpoint(command)
    _add_beam(command)
    command.set_defaults(run=commands.backtranslate)

    command = subcommands.add_parser("grid", help="train the small runs that tell a rate's peak from its warmup")
    command.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the folder with multi30k/")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the grid's folder")
    command.add_argument("--resume", action="store_true", help="train the cells that the grid in --out does not have")
    command.add_argument("--only", default="", metavar="NAME", help="the cells whose names begin so: post-0.02")
    command.set_defaults(run=commands.grid)

    command = subcommands.add_parser("download", help="fetch a corpus to train on (needs a network)")
    command.add_argument("name", metavar="CORPUS")
    command.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="where to put its folder")
    command.set_defaults(run=commands.download)
    return parser


def _add_checkpoint(command: argparse.ArgumentParser) -> None:
    command.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, metavar="NAME", help="default: %(default)s")


def _add_beam(command: argparse.ArgumentParser) -> None:
    command.add_argument("--beam", type=int, default=4, metavar="N", help="width, 1 is greedy; default: %(default)s")
    length_penalty = "exponent of the length penalty; default: %(default)s"
    command.add_argument("--length-penalty", type=float, default=0.6, metavar="A", help=length_penalty)


if __name__ == "__main__":
    sys.exit(main())
