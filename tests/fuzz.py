"""Ten thousand hostile inputs: does anything answer otherwise than with a result or one sentence?

    python -m tests.fuzz [--share 1.0] [--part NAME] [--first N] [--count N]

Each input is made from its own number, so that a finding can be made again: --part NAME --first N --count 1. The parts:

    tokenizers     any text, surrogates included, through every tokenizer: ids of the vocabulary, and text comes back
    edits          codes of changes and of locked beginnings in an address, at random: refused, or written back alike
    translations   any text through tiny models of every kind, with random searches: rows of weights sum to 1
    attention      a file of attention with damaged, exchanged or invented parts: read or refused
    checkpoints    a checkpoint with one file damaged or one value changed: loaded or refused
    pages          every page of the app with random addresses, and random texts in its boxes: no traceback, nothing of
                   the visitor's words becomes code, a link or a picture, and what was shown stays

A ValueError of one line is an answer; any other error is a finding. The program ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.common import table
from model import load_translator
from model.adapters.attention_file import read_attention
from model.interventions.edits import Edits
from model.results.recording import Recording
from model.results.translation import KINDS
from model.running.translator import Translator
from model.storage import checkpoint
from model.text.errors import Problem
from tests.support import hostile
from tests.test_app.systems import save_all

Try = Callable[[random.Random], None]
COUNTS = {
    "tokenizers": 4000,
    "edits": 3500,
    "translations": 600,
    "attention": 1500,
    "checkpoints": 400,
    "pages": 56,
}
ONE_LINE = 600  # characters


class Finding(Exception):
    """Something answered wrongly."""


def expect(fine: bool, words: str) -> None:
    """Raise a Finding unless it is fine."""
    if not fine:
        raise Finding(words)


def answered(call: Callable[[], object]) -> object | None:
    """What a call returns; None where it refuses in one line. Other errors pass."""
    try:
        return call()
    except ValueError as error:
        expect(type(error) in (ValueError, Problem) and 0 < len(str(error)) < ONE_LINE, f"no sentence: {error!r:.300}")
        return None


def any_text(rng: random.Random) -> str:
    """A text, sometimes with an unpaired surrogate."""
    text = hostile.text(rng)
    return text + chr(rng.randint(0xD800, 0xDFFF)) + text[:3] if rng.random() < 0.1 else text


def tokenizers(folder: Path) -> Try:
    """Every tokenizer of the tiny checkpoints."""
    sides = [
        side
        for name in sorted(path.name for path in folder.iterdir())
        for side in (lambda cut: (cut.source, cut.target))(load_translator(str(folder / name)).tokenizer)
    ]

    def try_one(rng: random.Random) -> None:
        side, text = rng.choice(sides), any_text(rng)
        ids = side.encode(text)
        expect(all(0 <= index < len(side) for index in ids), f"ids beyond the vocabulary for {text!r:.100}")
        expect(len(side.tokens(ids)) == len(ids), f"not a token an id for {text!r:.100}")
        expect(isinstance(side.decode(ids), str), f"no text for {text!r:.100}")
        strange = [rng.randint(0, len(side) - 1) for _ in range(rng.randint(0, 20))]
        side.decode(strange).encode()  # what comes back is Unicode, whatever a model writes

    return try_one


def edits(folder: Path) -> Try:
    """Codes of changes and of locked beginnings."""
    from viz.views.changes import read

    pieces = ("v1", *"_oufabcdeh-.017", "99", "1e9", "-1", "٣", "")
    config = load_translator(str(folder / "en-de")).config

    def try_one(rng: random.Random) -> None:
        code = any_text(rng) if rng.random() < 0.3 else "v1_" * (rng.random() < 0.8)
        code += "".join(rng.choices(pieces, k=rng.randint(0, 25)))
        decoded = answered(lambda: Edits.from_code(code))
        if decoded is not None:
            expect(Edits.from_code(decoded.code) == decoded, f"{code!r} comes back as {decoded.code!r}")
            answered(lambda: decoded.check(config, rng.randint(1, 9), rng.randint(1, 9)))
        view = answered(lambda: read({"prefix": code}))
        expect(not view or read(view.address()) == view, f"{code!r} comes back as {view}")

    return try_one


def translations(folder: Path) -> Try:
    """Texts through every tiny model."""
    models = [load_translator(str(path)) for path in sorted(folder.iterdir())]

    def try_one(rng: random.Random) -> None:
        model, text = rng.choice(models), any_text(rng)
        if not isinstance(model, Translator):
            result = answered(lambda: model.read(text))
            chance = {"temperature": rng.random() * 2, "top_k": rng.randint(0, 3), "top_p": rng.random()}
            answered(lambda: model.write(text, rng.randint(0, 8), **chance))
        elif rng.random() < 0.3:
            result = answered(lambda: model.force(text, any_text(rng)))
        else:
            beam, penalty = rng.choice((0, 1, 1, 2, 4)), rng.choice((0, 0.6, 2, -1, float("nan")))
            prefix = [rng.randint(-1, 400) for _ in range(rng.choice((0, 0, 1, 3)))]
            result = answered(lambda: model.translate(text, beam, penalty, prefix=prefix))
        for kind in KINDS if result is not None else ():
            try:
                weights, mask = result.attention(kind), result.mask(kind)
            except (KeyError, ValueError):  # a GRU has one kind or none
                continue
            sums = weights.sum(-1)
            expect(np.allclose(sums[..., mask.any(-1)], 1, atol=1e-4), f"rows of {kind} for {text!r:.100}")

    return try_one


def attention(folder: Path) -> Try:
    """Files of attention."""
    result = load_translator(str(folder / "en-de")).translate("A man.", beam=1)
    names = {"source_tokens": result.source_tokens, "target_tokens": result.target_tokens}
    good = {name: np.array(tokens) for name, tokens in names.items()} | {kind: result.attention(kind) for kind in KINDS}
    inventions = (
        lambda rng: np.array(hostile.text(rng)[:50]),
        lambda rng: np.full(
            [rng.randint(0, 4) for _ in range(rng.randint(0, 5))], rng.choice((0, 1, -1, np.nan, 1e30))
        ),
        lambda rng: np.zeros((1,) * rng.randint(1, 5), rng.choice(("i4", "c8", "O", "S3", "M8[s]", "f2", "?"))),
        lambda rng: np.array([hostile.text(rng) for _ in range(rng.randint(0, 5))]),
    )

    def try_one(rng: random.Random) -> None:
        parts = dict(good)
        for _ in range(rng.randint(0, 2)):
            name = rng.choice([*good, *(f"{kind}_mask" for kind in KINDS), "predicted_tokens", "x/../../y"])
            parts[name] = rng.choice((lambda _: rng.choice(list(good.values())), *inventions))(rng)
        for name in rng.sample(list(parts), rng.choice((0, 0, 1, 3))):
            del parts[name]
        file = io.BytesIO()
        rng.choice((np.savez, np.savez_compressed))(file, **parts)
        content = damaged(rng, file.getvalue()) if rng.random() < 0.6 else file.getvalue()
        read = answered(lambda: read_attention(io.BytesIO(content)))
        expect(read is None or isinstance(read, Recording), "neither read nor refused")

    return try_one


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Some bytes changed, cut off, doubled or left out."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        place, length = rng.randrange(len(changed) + 1), rng.randint(1, 40)
        kind = rng.randrange(4)
        if kind == 0 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif kind == 1:
            del changed[place : place + length]
        elif kind == 2:
            changed[place:place] = changed[place : place + length]
        elif rng.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def checkpoints(folder: Path) -> Try:
    """Checkpoints of which one file is not what it was."""
    strange = (
        None,
        True,
        -1,
        0,
        2,
        1e400,
        10**12,
        10**400,
        0.5,
        "x" * 50,
        "pre",
        [],
        [3, 1],
        {},
        {"a": {}},
        float("nan"),
    )

    def try_one(rng: random.Random) -> None:
        name = rng.choice(sorted(path.name for path in folder.iterdir()))
        file = rng.choice((*checkpoint.LISTED, checkpoint.CONFIG, checkpoint.CONFIG))
        with tempfile.TemporaryDirectory() as place:
            copy = Path(shutil.copytree(folder / name, Path(place) / name))
            if rng.random() < 0.8:  # else the manifest finds it
                (copy / checkpoint.MANIFEST).unlink()
            if file == checkpoint.CONFIG and rng.random() < 0.7:
                values = json.loads((copy / file).read_text("utf-8"))
                values[rng.choice([*values, "surprise"])] = rng.choice(strange)
                (copy / file).write_text(json.dumps(values), "utf-8")
            else:
                (copy / file).write_bytes(damaged(rng, (copy / file).read_bytes()))
            loaded = answered(lambda: checkpoint.load(copy))
            if loaded is not None:
                finite = all(bool(torch.isfinite(value).all()) for value in loaded.model.parameters())
                expect(finite, "weights that are not numbers were loaded")

    return try_one


def pages(folder: Path) -> Try:
    """Pages of the app."""
    from tests.test_app import screen

    gc.collect()
    gc.freeze()
    order = iter(range(10**9))
    keys: dict[str, tuple[list[str], bool]] = {}

    def try_one(rng: random.Random) -> None:
        page = hostile.PAGES[next(order) % len(hostile.PAGES)]
        if page not in keys:
            plain = screen.open_page(page)
            keys[page] = hostile.url_keys(plain), hostile.shows_something(plain)
        at = screen.open_page(page, **hostile.address(rng, keys[page][0]))
        for _ in range(min(2, len(at.text_input))):
            at = at.text_input[rng.randrange(len(at.text_input))].set_value(hostile.text(rng)).run()
            problems = hostile.complaints(at)
            expect(not problems, f"{page}: {problems[:3]}")
        expect(hostile.shows_something(at) or not keys[page][1], f"{page} has nothing to show any more")
        expect(not hostile.complaints(at), f"{page}: {hostile.complaints(at)[:3]}")

    return try_one


PARTS: dict[str, Callable[[Path], Try]] = {
    "tokenizers": tokenizers,
    "edits": edits,
    "translations": translations,
    "attention": attention,
    "checkpoints": checkpoints,
    "pages": pages,
}


def run(part: str, folder: Path, first: int, count: int) -> list[str]:
    """Try some inputs of a part.

    Returns:
        What was found, one line each, with the number that makes the input again.
    """
    try_one, failures = PARTS[part](folder), []
    for number in range(first, first + count):
        try:
            try_one(random.Random(f"{part} {number}"))
        except Exception as error:  # whatever it is: that is what is looked for
            where = error.__traceback__
            while where.tb_next is not None:
                where = where.tb_next
            place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            failures.append(f"--part {part} --first {number}: {type(error).__name__} at {place}: {error!s:.300}")
    return failures


def main() -> None:
    """Try all inputs, and print how many there were and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the inputs of every part (default: %(default)s)")
    parser.add_argument("--part", choices=PARTS, help="only this one")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default: %(default)s)")
    parser.add_argument("--count", type=int, help="how many inputs of each part; --share of its own when left out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows, every = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = save_all(Path(place))
        os.environ["HEADLIGHT_CHECKPOINTS"] = str(folder)
        for part in [options.part] if options.part else PARTS:
            count = options.count or max(1, round(COUNTS[part] * options.share))
            start = time.perf_counter()
            failures = run(part, folder, options.first, count)
            rows.append((part, f"{count:,}", f"{time.perf_counter() - start:.0f}", str(len(failures))))
            every += failures
            print("\n".join(failures), flush=True) if failures else None
    total = sum(int(row[1].replace(",", "")) for row in rows)
    print(table(("part", "inputs", "seconds", "findings"), rows))
    print(f"\n{total:,} inputs, {len(every)} findings")
    sys.exit(bool(every))


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # AppTest has no server, and says so with every result that it keeps
    main()
