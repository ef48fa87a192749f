"""The commands: python -m viz COMMAND. `python -m viz COMMAND --help` explains each."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from model.__main__ import DEFAULT_CHECKPOINT, carry_out
from viz.text.language import ENGLISH, LANGUAGES, PARAMETER, using

WIDEST_OF_THE_APP = 8  # beam that its page offers


def main(argv: list[str] | None = None) -> int:
    """Run the command of these words after `python -m viz`; the exit code is that of `model.__main__.carry_out`."""
    arguments = _parser().parse_args(sys.argv[1:] if argv is None else argv)
    return carry_out(arguments)


def _parser() -> argparse.ArgumentParser:
    does = "Put what the app shows into files, or serve it."
    parser = argparse.ArgumentParser(prog="python -m viz", description=does)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    report = _command(
        commands,
        "report",
        "translate a text and write everything about it into one HTML file that needs no network",
        _report,
    )
    report.add_argument(
        "--address", metavar="URL", help="of the app that the report links to; default: where make run serves it"
    )
    _command(
        commands,
        "stage",
        "translate a text and write the stage into one HTML file, every head a click away, that needs no network",
        _stage,
    )
    served = commands.add_parser("serve", help="serve the app to a class: several replicas behind a proxy")
    served.add_argument("--hosts", default="", metavar="NAMES", help="by which the class opens it, with commas between")
    served.add_argument("--replicas", default="2", metavar="N", help="processes, 1 to 16; default: %(default)s")
    served.add_argument("--port", default="8080", metavar="PORT", help="of the proxy; default: %(default)s")
    served.set_defaults(run=_serve)
    return parser


def _command(
    commands: argparse._SubParsersAction, name: str, does: str, make: Callable[[argparse.Namespace], tuple[bytes, str]]
) -> argparse.ArgumentParser:
    """A command that writes what it makes of a text into a file; `make` gives that and what the model wrote."""

    def run(arguments: argparse.Namespace) -> None:
        with using(arguments.lang):
            content, text = make(arguments)
        arguments.out.write_bytes(content)
        print(f"{arguments.out}: {len(content) / 1e6:.1f} MB, “{text}”")

    command = commands.add_parser(name, help=does)
    command.add_argument("text", metavar="TEXT")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    command.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, metavar="NAME", help="default: %(default)s")
    command.add_argument("--beam", type=int, default=4, metavar="N", help="width, 1 is greedy; default: %(default)s")
    # No `choices`: those are told in several lines.
    known = ", ".join(f"{code} ({language})" for code, language in LANGUAGES.items())
    command.add_argument(
        "--lang", default=ENGLISH, metavar="CODE", help=f"language of the file: {known}; default: %(default)s"
    )
    command.set_defaults(run=run)
    return command


def _serve(arguments: argparse.Namespace) -> None:
    from viz.app.replicas import serve

    serve(arguments.hosts, arguments.replicas, arguments.port)


def _stage(arguments: argparse.Namespace) -> tuple[bytes, str]:
    from model import load_translator
    from model.translator import Writer
    from viz.stage.alone import stage

    loaded = load_translator(arguments.checkpoint)
    if isinstance(loaded, Writer):
        result = loaded.read(arguments.text)
    else:
        result = loaded.translate(arguments.text, arguments.beam)
    return stage(result, loaded).to_html().encode("utf-8"), result.text


def _report(arguments: argparse.Namespace) -> tuple[bytes, str]:
    from model import load_translator
    from model.translator import Writer
    from viz.stage.alone import ADDRESS, Settings, link_to, report
    from viz.text import words
    from viz.views.made import call, with_imports
    from viz.views.maps import next_words

    address = arguments.address or ADDRESS
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"the address {address!r} is none of the web: it begins with http:// or https://")
    translator = load_translator(arguments.checkpoint)
    if isinstance(translator, Writer):
        raise ValueError(f"the checkpoint {arguments.checkpoint!r} is a language model; a report needs a translator")
    result = translator.translate(arguments.text, arguments.beam)
    state = {"text": result.source, "model": arguments.checkpoint, "beam": arguments.beam}
    if arguments.lang != ENGLISH:
        state[PARAMETER] = arguments.lang
    lines = (
        f"translator = {call('load_translator', arguments.checkpoint)}",
        f"result = {call('translator.translate', result.source, beam=arguments.beam)}",
    )
    settings = Settings(
        checkpoint=arguments.checkpoint,
        decoded=words.how_decoded(arguments.beam, 0.6, forced=False),
        card=words.describe_card(arguments.checkpoint, translator.card),
        link=link_to(address, state) if arguments.beam <= WIDEST_OF_THE_APP else "",
        code=with_imports(*lines),
    )
    return report(result, settings, next_words(result.trace["logits"], translator.tokenizer)), result.text


if __name__ == "__main__":
    sys.exit(main())
