"""The commands: python -m viz COMMAND. `python -m viz COMMAND --help` explains each."""

import argparse
import sys
from pathlib import Path

from model.__main__ import DEFAULT_CHECKPOINT, carry_out
from viz.text.language import ENGLISH, LANGUAGES, PARAMETER, using

WIDEST_OF_THE_APP = 8  # beam that its page offers


def main(argv: list[str] | None = None) -> int:
    """Run the command of these words after `python -m viz`; the exit code is that of `model.__main__.carry_out`."""
    return carry_out(_parser().parse_args(argv))


def _parser() -> argparse.ArgumentParser:
    does = "Put what the app shows into files, or serve it."
    parser = argparse.ArgumentParser(prog="python -m viz", description=does)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    files = {
        "report": "translate a text and write everything about it into one HTML file that needs no network",
        "stage": "translate a text and write the stage into one HTML file, every head a click away, that needs no "
        "network",
    }
    # No `choices`: those are told in several lines.
    known = ", ".join(f"{code} ({language})" for code, language in LANGUAGES.items())
    for name, does in files.items():
        command = commands.add_parser(name, help=does)
        add, default = command.add_argument, "default: %(default)s"
        add("text", metavar="TEXT")
        add("--out", type=Path, required=True, metavar="FILE.html")
        add("--checkpoint", default=DEFAULT_CHECKPOINT, metavar="NAME", help=default)
        add("--beam", type=int, default=4, metavar="N", help=f"width, 1 is greedy; {default}")
        add("--lang", default=ENGLISH, metavar="CODE", help=f"language of the file: {known}; {default}")
        if name == "report":
            add(
                "--address",
                metavar="URL",
                help="of the app that the report links to; default: where make run serves it",
            )
        command.set_defaults(run=_write, make=_report if name == "report" else _stage)
    served = commands.add_parser("serve", help="serve the app to a class: several replicas behind a proxy")
    served.add_argument("--hosts", default="", metavar="NAMES", help="by which the class opens it, with commas between")
    served.add_argument("--replicas", default="2", metavar="N", help="processes, 1 to 16; default: %(default)s")
    served.add_argument("--port", default="8080", metavar="PORT", help="of the proxy; default: %(default)s")
    served.set_defaults(run=_serve)
    return parser


def _write(arguments: argparse.Namespace) -> None:
    """Write what a command makes of a text into a file, and say what the model wrote."""
    with using(arguments.lang):
        content, text = arguments.make(arguments)
    arguments.out.write_bytes(content)
    print(f"{arguments.out}: {len(content) / 1e6:.1f} MB, “{text}”")


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

    name, beam, address = arguments.checkpoint, arguments.beam, arguments.address or ADDRESS
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"the address {address!r} is none of the web: it begins with http:// or https://")
    translator = load_translator(name)
    if isinstance(translator, Writer):
        raise ValueError(f"the checkpoint {name!r} is a language model; a report needs a translator")
    result = translator.translate(arguments.text, beam)
    state = {"text": result.source, "model": name, "beam": beam}
    if arguments.lang != ENGLISH:
        state[PARAMETER] = arguments.lang
    lines = (
        f"translator = {call('load_translator', name)}",
        f"result = {call('translator.translate', result.source, beam=beam)}",
    )
    settings = Settings(
        checkpoint=name,
        decoded=words.how_decoded(beam, 0.6),
        card=words.describe_card(name, translator.card),
        link=link_to(address, state) if beam <= WIDEST_OF_THE_APP else "",
        code=with_imports(*lines),
    )
    return report(result, settings, next_words(result.trace["logits"], translator.tokenizer)), result.text


if __name__ == "__main__":
    sys.exit(main())
