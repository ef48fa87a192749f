"""The commands: python -m viz COMMAND. `python -m viz COMMAND --help` explains each."""

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from model.__main__ import DEFAULT_CHECKPOINT, add_commands, carry_out
from viz.text.language import ENGLISH, LANGUAGES, PARAMETER, using

TRANSLATED = """
from model import load_translator

translator = load_translator($checkpoint)
result = translator.translate($text, beam=$beam)
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command of these words after `python -m viz`; the exit code is that of `model.__main__.carry_out`."""
    does = "Put what the app shows into files, or serve it."
    parser = argparse.ArgumentParser(prog="python -m viz", description=does)
    _add_commands(parser.add_subparsers(metavar="COMMAND", required=True))
    return carry_out(parser.parse_args(argv))


def headlight(argv: list[str] | None = None) -> int:
    """Run the command `headlight`, which an installed package brings: all of `python -m viz` and `python -m model`."""
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="headlight", description="Attention of Transformers: see, change, train.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_commands(commands)
    add_commands(commands, argv)
    return carry_out(parser.parse_args(argv))


def _add_commands(commands: Any) -> None:
    # No `choices`: those are listed in several lines.
    languages = ", ".join(f"{code} ({language})" for code, language in LANGUAGES.items())
    does = "translate a text and write the stage, every head a click away, and a report into one HTML file"
    command = commands.add_parser("stage", aliases=["report"], help=does)
    add = command.add_argument
    default = "default: %(default)s"
    add("text", metavar="TEXT")
    add("--out", type=Path, required=True, metavar="FILE.html")
    add("--checkpoint", default=DEFAULT_CHECKPOINT, metavar="NAME", help=default)
    add("--beam", type=int, default=4, metavar="N", help=f"width, 1 is greedy; {default}")
    add("--lang", default=ENGLISH, metavar="CODE", help=f"language of the file: {languages}; {default}")
    live = "the stage translates by itself, in the browser: any sentence, and every change (about 30 MB)"
    add("--live", action="store_true", help=live)
    add("--model", metavar="DIR|HUB_NAME", help="a model of transformers reads the text")
    off = "with --model, heads that are switched off: 23-0; of an encoder-decoder e0-1, d0-1 or c0-1"
    add("--off", nargs="+", default=[], metavar="LAYER-HEAD", help=off)
    add("--address", metavar="URL", help="of the app that the report links to; default: where make run serves it")
    command.set_defaults(run=_write)
    site = commands.add_parser("site", help="write the stage as static files that translate in the browser, no server")
    site.add_argument("--out", type=Path, required=True, metavar="DIR", help="made where it is missing")
    languages = "translators, the first one opens; default: %(default)s"
    site.add_argument("--checkpoints", nargs="+", default=["en-de", "de-en"], metavar="NAME", help=languages)
    lesson = "a lesson of your own beside those that ship: docs/teaching.md says how it is written"
    site.add_argument("--lesson", nargs="+", type=Path, default=[], metavar="FILE.md", help=lesson)
    address = "where the folder will be given out: then who links to it sees a picture of it"
    site.add_argument("--address", default="", metavar="URL", help=address)
    site.set_defaults(run=_site)
    served = commands.add_parser("serve", help="serve the app to a class: several replicas behind a proxy")
    served.add_argument("--hosts", default="", metavar="NAMES", help="by which the class opens it, with commas between")
    served.add_argument("--replicas", default="2", metavar="N", help="processes, 1 to 16; default: %(default)s")
    served.add_argument("--port", default="8080", metavar="PORT", help="of the proxy; default: %(default)s")
    served.add_argument("--no-site", action="store_true", help="without the page that needs no server beside the app")
    served.set_defaults(run=_serve)
    run = commands.add_parser("run", help="serve the app on this machine, for yourself")
    run.add_argument("--port", default="8501", metavar="PORT", help="default: %(default)s")
    models = "models of transformers to offer: folders, or names of the Hugging Face hub"
    run.add_argument("--model", nargs="+", default=[], metavar="DIR|HUB_NAME", help=models)
    run.set_defaults(run=_run)


def _write(arguments: argparse.Namespace) -> None:
    """Write what a command makes of a text into a file, and say what the model wrote."""
    from model.running.translator import Writer, load_translator

    text, beam = arguments.text, arguments.beam
    if arguments.live:
        return _live(arguments)
    if arguments.model:
        return _read(arguments)
    with using(arguments.lang):
        translator = load_translator(arguments.checkpoint)
        result = translator.read(text) if isinstance(translator, Writer) else translator.translate(text, beam)
        content = _stage(result, translator, arguments)
    arguments.out.write_bytes(content)
    print(f"{arguments.out}: {len(content) / 1e6:.1f} MB, “{result.text}”")


def _read(arguments: argparse.Namespace) -> None:
    """Write the stage with what a model of transformers reads, and say how large it is."""
    from model.adapters.loading import load_model
    from model.commands.any_model import heads_off
    from viz.stage.alone import stage

    reader = load_model(arguments.model)
    with using(arguments.lang):
        page = stage(reader, None, arguments.text, off=heads_off(arguments.off, reader.config.kinds).off)
        path = page.save(arguments.out)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def _run(arguments: argparse.Namespace) -> None:
    from model.adapters.files.download import check_name
    from model.storage.installation import root
    from viz.app.replicas import read_number

    port = read_number("PORT", arguments.port, 65535)
    for name in arguments.model:
        check_name(name)
    if arguments.model:
        os.environ["HEADLIGHT_MODELS"] = " ".join(map(shlex.quote, arguments.model))
    # In place of this process, so that whoever ends it ends the app.
    app = [sys.executable, "-m", "streamlit", "run", str(root() / "app.py"), "--server.address", "127.0.0.1"]
    os.execv(sys.executable, [*app, "--server.port", str(port)])


def _site(arguments: argparse.Namespace) -> None:
    """Write the folder, and say how large it is."""
    from viz.site import contents, pages
    from viz.views.view import EXAMPLE

    if arguments.address:
        _check_address(arguments.address)
    models, translators = zip(*map(contents.read_model, dict.fromkeys(arguments.checkpoints)))
    if arguments.lesson and DEFAULT_CHECKPOINT not in arguments.checkpoints:
        raise ValueError(f"lessons need the checkpoint {DEFAULT_CHECKPOINT}: name it among --checkpoints")
    if arguments.lesson:
        os.environ["HEADLIGHT_LESSONS"] = " ".join(shlex.quote(str(path)) for path in arguments.lesson)
    lessons = _lessons() if DEFAULT_CHECKPOINT in [model.name for model in models] else None
    first = contents.first_message(translators[0], EXAMPLE)
    sheets = _sheets(translators)
    size = pages.write_folder(arguments.out, models, first, lessons, arguments.address, sheets)
    print(f"{arguments.out}: {size / 1e6:.1f} MB, {', '.join(model.name for model in models)}")


def _lessons() -> Any:
    """The lessons, whose answers the models that ship compute."""
    import torch

    from viz.pages.lessons import contents
    from viz.site.contents import Lessons

    torch.set_num_threads(1)  # as in the app: for models this small more cost more than they bring
    indexes, states = {}, {}
    for language, name in LANGUAGES.items():
        with using(language):
            indexes[language] = contents.index(contents.stories())
            total = 2 * len(contents.codes())  # before a guess, and with the answer
        states[language] = dict(_counted(contents.files(language), total, f"lessons, {name}"))
    return Lessons(indexes, states, dict(contents.recorded_files()))


def _sheets(translators: Sequence[Any]) -> list[Any]:
    """The pages beside the stage and the lessons, whose parts `contents` of each one makes; of these translators."""
    from viz.pages.atlas import contents as atlas
    from viz.pages.masks import contents as masks
    from viz.pages.positions import contents as positions
    from viz.pages.training import contents as training
    from viz.site.contents import Sheet

    sheets = []
    for page in (masks, positions, training):
        told = {}
        for language in LANGUAGES:
            with using(language):
                told[language] = page.told()
        sheets.append(Sheet(page.NAME, told, page.files()))
    of_atlas = atlas.parts(translators)
    return [*sheets, Sheet(atlas.NAME, *of_atlas)] if of_atlas else sheets


def _counted(items: Iterable, total: int, what: str) -> Iterator:
    """Yield items, and say on the terminal how many there have been: in one line where it can be written over."""
    writes_over = sys.stderr.isatty()
    for count, item in enumerate(items, 1):
        yield item
        if writes_over or count == total:
            print(f"{what}: {count} of {total}", file=sys.stderr, end="\r" if count < total else "\n", flush=True)


def _live(arguments: argparse.Namespace) -> None:
    """Write the stage that translates by itself into one file, and say how large it is."""
    from viz.site import contents, pages

    model, translator = contents.read_model(arguments.checkpoint)
    first = contents.first_message(translator, arguments.text, arguments.beam)
    with using(arguments.lang):
        content = pages.one_file(model, first, arguments.text, arguments.beam)
    arguments.out.write_bytes(content)
    print(f"{arguments.out}: {len(content) / 1e6:.1f} MB")


def _serve(arguments: argparse.Namespace) -> None:
    from viz.app.replicas import serve

    serve(arguments.hosts, arguments.replicas, arguments.port, not arguments.no_site)


def _stage(result: Any, translator: Any, arguments: argparse.Namespace) -> bytes:
    """The stage of a result, and below it the report of a translation."""
    from viz.stage.alone import page_of, version_of

    report = _report(result, translator, arguments) if result.source_tokens else ()
    return page_of(version_of(result, translator), report=report).to_html().encode("utf-8", "replace")


def _check_address(address: str) -> None:
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"the address {address!r} is none of the web: it begins with http:// or https://")


def _report(result: Any, translator: Any, arguments: argparse.Namespace) -> Any:
    from viz.stage.payload.report import ADDRESS, link_to, report
    from viz.text import words
    from viz.views.snippets import program, snippet
    from viz.views.view import BEAMS, View

    name = arguments.checkpoint
    beam = arguments.beam
    address = arguments.address or ADDRESS
    _check_address(address)
    view = View(result.source, name, beam)
    state = view.address() | ({} if arguments.lang == ENGLISH else {PARAMETER: arguments.lang})
    return report(
        result,
        checkpoint=name,
        card=words.describe_card(name, translator.card),
        decoded=words.how_decoded(view),
        link=link_to(address, state) if beam in BEAMS else "",
        code=program(snippet(TRANSLATED, checkpoint=name, text=result.source, beam=beam)),
    )


if __name__ == "__main__":
    sys.exit(main())
