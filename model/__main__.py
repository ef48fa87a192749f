"""python -m model COMMAND: which commands and options there are."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from model.config import DEFAULT_CHECKPOINT
from model.training import schedules

_TRAIN_EPILOG = f"""\
CONFIG.json holds {{"model": {{...}}, "training": {{...}}}}: the fields of model.config.TransformerConfig (with
"architecture": "gru" or "language_model" GruConfig or LanguageModelConfig) and of model.training.config.TrainingConfig,
which are explained there. Among those of "training":
  schedule      of the learning rate: {", ".join(schedules.NAMES[:4])},
                {", ".join(schedules.NAMES[4:])}
  data          a mix of corpora and of groups of licences: "tatoeba + 2*multi30k", "cc0 + by + perm + sa", "all"
  optimizer     adam, muon or sgd
  accumulate    batches per update, as if they were one

Ctrl-C saves; --resume goes on to the same weights as if nothing had happened. Several processes share each update:
  torchrun --nproc-per-node 2 -m model train PRESET|CONFIG.json --data-dir DIR --out DIR
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command of the words after `python -m model`; the exit code is that of `carry_out`."""
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="python -m model", description="Translate, trace, evaluate and train.")
    add_commands(parser.add_subparsers(metavar="COMMAND", required=True), argv)
    return carry_out(parser.parse_args(argv))


def _run(arguments: argparse.Namespace) -> None:
    from model.commands import handlers  # takes seconds: `--help` and a wrong option answer at once

    getattr(handlers, f"run_{arguments.command}")(arguments)


def carry_out(arguments: argparse.Namespace) -> int:
    """Call `arguments.run`, and return 0; 2 after an error that the caller can mend, told in one line on stderr; 130
    after Ctrl-C.
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


def add_commands(subcommands: Any, argv: list[str]) -> None:
    """Add every command to what `add_subparsers` made; results and cards name the one that `argv` calls."""
    for name, (help_text, *options) in _COMMANDS.items():
        command = subcommands.add_parser(name, help=help_text, **(_OF_TRAIN if name == "train" else {}))
        for names, settings in options:
            command.add_argument(*names, **settings)
        line = "python -m model " + shlex.join(argv)
        command.set_defaults(run=_run, command=name, command_line=line, main=main)
    # No character begins an option: whatever follows the old name is answered with the sentence.
    replaced = subcommands.add_parser("attention", prefix_chars="\0", add_help=False)
    replaced.add_argument("words", nargs="*")
    replaced.set_defaults(run=_refuse_attention)


def _refuse_attention(arguments: argparse.Namespace) -> None:
    raise ValueError("there is no command 'attention' any more: use read TEXT --model DIR|NAME --out FILE.npz")


def _option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return names, settings


def _value(name: str, default: float | str, metavar: str, help_text: str):
    return _option(name, type=type(default), default=default, metavar=metavar, help=help_text)


def _switch(name: str, help_text: str):
    return _option(name, action="store_true", help=help_text)


def _path(name: str, help_text: str, metavar: str = "DIR", required: bool = True):
    return _option(name, type=Path, required=required, metavar=metavar, help=help_text)


_TEXT = _option("text", metavar="TEXT")
_CHECKPOINT = _value("--checkpoint", DEFAULT_CHECKPOINT, "NAME", "default: %(default)s")
_SEARCH = (
    _value("--beam", 4, "N", "width, 1 is greedy; default: %(default)s"),
    _value("--length-penalty", 0.6, "A", "exponent of the length penalty; default: %(default)s"),
)
_RECORDED = (_TEXT, _option("--out", type=Path, required=True, metavar="FILE.npz"), _CHECKPOINT, *_SEARCH)
_HUB = (
    _option("name", metavar="DIR|HUB_NAME", help="its folder, or its name on the Hugging Face hub"),
    _option("--revision", metavar="NAME", help="a branch or a commit on the hub"),
)
_MODEL = (
    _option(
        "--model", metavar="DIR|NAME", help="instead of a checkpoint: a folder, or a model of the Hugging Face hub"
    ),
    _option("--revision", metavar="NAME", help="a branch or a commit on the hub"),
)
_WHY = (
    _option(
        "--why",
        metavar="LAYER-HEAD",
        help="print why a head looks where it looks: 18-6; of an encoder-decoder e0-1, d0-1 or c0-1",
    ),
    _option(
        "--cut",
        nargs=3,
        metavar=("LAYER-HEAD", "SIDE", "PART"),
        help="leave a part out of the queries or keys of one head only: 18-6 keys 'head 16.0'; prints its weights "
        "before, as the split of its scores predicts them, and with the cut, and the output without and with it",
    ),
    _option("--row", metavar="TOKEN|N", help="with --why or --cut: the row, by its token or from 0; default: the last"),
    _option("--key", metavar="TOKEN|N", help="with --why or --cut: the key; default: that with the largest weight"),
)
_LINES = "lines of source<TAB>reference, raw text"
_PAIRS = _path("--data", _LINES, "FILE[.gz]")
_NEW = _path("--out", "the new checkpoint's folder")
_OF_TRAIN = {
    "description": "Train a model, or go on with one.",
    "epilog": _TRAIN_EPILOG,
    "formatter_class": argparse.RawDescriptionHelpFormatter,
}
# By name what each does, and its options.
_COMMANDS = {
    "checkpoints": (
        "what can be loaded, with sizes and scores",
        _switch("--readme", "write them as a table into README.md beside them"),
    ),
    "seal": (
        "write the SHA-256 of a checkpoint's files, which loading compares",
        _option("folders", metavar="DIR", nargs="+", type=Path, help="a checkpoint's folder"),
    ),
    "average": (
        "make a checkpoint of the mean weights of several, for runs of one line",
        _option("folders", metavar="DIR", nargs="+", type=Path, help="their folders; the last one's card is kept"),
        _NEW,
    ),
    "translate": (
        "translate texts, one translation per line",
        _option("texts", metavar="TEXT", nargs="*", help="what to translate; lines of stdin when left out"),
        _switch("--json", "print tokens and probabilities, a JSON object a line"),
        _CHECKPOINT,
        *_MODEL,
        *_SEARCH,
        *_WHY,
    ),
    "read": (
        "let any model of transformers read a text: what it predicts, with heads off, and what each head adds",
        _TEXT,
        _option("--model", metavar="DIR|NAME", required=True, help="a folder, or a model of the Hugging Face hub"),
        _MODEL[1],
        _switch("--chat", "read the text as a user's message, as the model's chat template writes it"),
        _option("--target", metavar="TEXT", help="the output forced on the decoder of an encoder-decoder"),
        _option(
            "--off",
            metavar="LAYER-HEAD",
            nargs="+",
            default=[],
            help="switch heads off: 23-0; of an encoder-decoder e0-1, d0-1 or c0-1 (encoder, decoder, cross)",
        ),
        _option(
            "--patch",
            metavar="LAYER-HEAD",
            nargs="+",
            default=[],
            help="put in what heads had in the text of --from: 18-6; of an encoder-decoder c0-1",
        ),
        _option("--from", dest="source", metavar="TEXT", help="with --patch: the text that they are taken from"),
        _option("--what", choices=["both", "weights", "values"], help="with --patch: of a head; default: both"),
        _option("--answer", metavar="WORD", help="with --patch: the next word of the other text that is measured"),
        _option("--than", metavar="WORD", help="with --patch: the next word here that it is compared with"),
        _option(
            "--effects", metavar="WORD", help="print which heads add most to the logit of the next word being WORD"
        ),
        _option("--against", metavar="WORD", help="with --effects: compare with this word"),
        *_WHY,
        _path("--out", "write tokens and every recorded array", "FILE.npz", required=False),
    ),
    "circuit": (
        "trace which heads a word comes from and which these use, and what the answer keeps of them alone",
        _TEXT,
        _CHECKPOINT,
        *_MODEL,
        _option("--word", metavar="WORD", help="one token; default: of a text the most probable next word"),
        _option("--against", metavar="WORD", help="the word that its logit is compared with; default: the mean of all"),
        _option("--step", type=int, metavar="N", help="the row of the decoder before the word; default: the last"),
        _option("--target", metavar="TEXT", help="of a model that translates: the output that it is given"),
        _value("--threshold", 0.05, "X", "the share of the logit from which a head counts; default: %(default)s"),
        _value("--most", 16, "N", "how many heads at positions; default: %(default)s"),
        _option("--from", dest="source", metavar="TEXT", help="replace other heads by what they write in this text"),
        _option("--texts", type=Path, metavar="FILE", help="replace other heads by their means over lines of a text"),
        _switch("--cut-edges", "also cut each edge on its own"),
        _path("--json", "write the circuit", "FILE.json", required=False),
        _path("--svg", "write a picture", "FILE.svg", required=False),
    ),
    "trace": ("write tokens and every recorded array of one translation to a file", *_RECORDED),
    "effects": (
        "write what every part of the decoder adds directly to each written word to a file",
        *_RECORDED,
        _option(
            "--against", choices=["runner-up"], help="compare with the most probable other word, not with the mean"
        ),
    ),
    "import": (
        "convert a model of another library into a checkpoint",
        _option("kind", choices=["marian"], help="of model: marian, a MarianMT of Hugging Face (opus-mt-*)"),
        *_HUB,
        _NEW,
    ),
    "write": (
        "go on with a text, drawing words from a language model",
        _TEXT,
        _value("--words", 30, "N", "how many to draw; default: %(default)s"),
        _value("--temperature", 1.0, "X", "0: no chance; default: 1"),
        _value("--top-k", 0, "K", "of the K most probable only; 0: of all"),
        _value("--top-p", 1.0, "P", "of the most probable up to P in all"),
        _value("--seed", 0, "N", "the same gives the same words"),
        _CHECKPOINT,
    ),
    "evaluate": (
        "score translations of a file with sacreBLEU; last line: JSON",
        _path("--data", f"{_LINES}; of a language model a plain text, words apart by spaces", "FILE[.gz]"),
        _switch("--lowercase", "lowercase both sides before scoring"),
        _switch("--by-length", "also score short and long sentences apart"),
        _option("--save-as", metavar="NAME", help="keep the scores on the checkpoint's card under this name"),
        _CHECKPOINT,
        *_SEARCH,
    ),
    "atlas": (
        "measure every head: of a translator over held-out sentences, of other models over the lines of a text",
        _option(
            "--data",
            type=Path,
            nargs="+",
            required=True,
            metavar="FILE[.gz]",
            help=f"{_LINES}; of models that read texts a plain text; of several files the first are read whole, the "
            "last one as far as texts are missing",
        ),
        _value("--sentences", 100, "N", "read N, spread over the file; default: %(default)s"),
        _value("--bleu-sentences", 0, "N", "also translate N without each head; default: none"),
        _option(
            "--links",
            type=Path,
            nargs="+",
            action="append",
            default=[],
            metavar="PATH",
            help="also score heads as word aligners: a folder with de-en.ref.wa, test.de and test.en, or a file of "
            "links (as in model/measures/links/) and both texts; may be given again",
        ),
        _switch(
            "--corpus",
            "make an index instead: how much of every head rules explain, with rows drawn at random, over thousands "
            "of texts; a translator reads the given translations; Ctrl-C keeps what is counted in FILE.json.begun.npz",
        ),
        _switch("--resume", "with --corpus: go on where it was interrupted, with the same model, texts and seed"),
        _value(
            "--seed", 0, "N", "with --corpus: of the order of texts and the rows drawn; the same gives the same numbers"
        ),
        _value("--credit", "", "TEXT", "whose sentences they are, and their licence"),
        _path(
            "--out",
            "where to write it; default: atlas.json, or corpus.json, beside the weights of a checkpoint",
            "FILE.json",
            required=False,
        ),
        _CHECKPOINT,
        *_MODEL,
    ),
    "check": (
        "measure what must be true of every map; prints JSON",
        _PAIRS,
        _value("--sentences", 30, "N", "read N; default: %(default)s"),
        _switch("--save", "keep the result in check.json beside the weights"),
        _CHECKPOINT,
    ),
    "context": (
        "measure a language model's loss by position, up to four times the length it was trained with; prints JSON",
        _path("--data", "a text, its words between spaces", "FILE[.gz]"),
        _switch("--save", "keep the result in context.json beside the weights"),
        _CHECKPOINT,
    ),
    "refresh": (
        "measure checkpoints again after their weights changed, and say what became different",
        _option("names", metavar="NAME", nargs="+", help="a checkpoint"),
        _switch("--pictures", "also take the pictures of the README again (needs what `make test` installs)"),
    ),
    "train": (
        "train a model",
        _option("config", metavar="PRESET|CONFIG.json", help="a preset's name or a configuration file"),
        _path("--data-dir", "the folder with the corpora"),
        _path("--out", "the run's folder"),
        _switch("--resume", "continue the run in --out where it stopped"),
        _value("--start-from", "", "FOLDER", "begin with a checkpoint's weights and tokenizer"),
        _value("--tokenizer", "", "FOLDER", "cut text with this folder's tokenizer.json"),
        _option("--steps", type=int, help="train to this step instead of the configured one"),
        _option("--data", metavar="MIX", help="train on this mix instead of the configured one (see below)"),
    ),
    "backtranslate": (
        "make training pairs of sentences in the target language",
        _path("--data", "a sentence on each line", "FILE[.gz]"),
        _path(
            "--out",
            "pairs of English and German; DIR/back-translated/NAME.tsv.gz is the corpus back-NAME of --data-dir DIR",
            "FILE.tsv.gz",
        ),
        _switch("--resume", "go on where it was interrupted"),
        _CHECKPOINT,
        *_SEARCH,
    ),
    "grid": (
        "train the small runs that tell a rate's peak from its warmup",
        _path("--data-dir", "the folder with multi30k/"),
        _path("--out", "the grid's folder"),
        _switch("--mistakes", "train instead one small model with each mistake of the page Pitfalls"),
        _switch("--resume", "train the cells that the grid in --out does not have"),
        _value("--only", "", "NAME", "the cells whose names begin so: post-0.02, or scaling with --mistakes"),
    ),
    "board": (
        "train small language models with each step since 2017 alone, and with all",
        _path("--data-dir", "the folder with wikitext-2/"),
        _path("--out", "the board's folder"),
        _switch("--resume", "train the runs that the board in --out does not have"),
    ),
    "film": (
        "train a tiny model on a task and film all its heads",
        _option("task", metavar="TASK", help="backwards, copy, sort, 'seen before', brackets, add or wikitext-2"),
        _path("--out", "the film", "FILE.film"),
        _path("--data-dir", "the folder with wikitext-2/, for that task", required=False),
        _option(
            "--set",
            nargs="*",
            default=[],
            metavar="NAME=VALUE",
            help="settings of the run: layers=1 positions=none warmup=1000; see model.films.settings.Settings",
        ),
    ),
    "download": (
        "fetch a corpus to train on (needs a network)",
        _option("name", metavar="CORPUS"),
        _path("--data-dir", "where to put its folder"),
    ),
}


if __name__ == "__main__":
    sys.exit(main())
