"""Both shipped directions in the engine and in Python: the same translations, weights and searches.

Ties: of equally probable tokens the engine takes the smaller id, and of equally probable hypotheses the one that came
first. Python's `topk` promises no order among equal values; sentences where two candidates are as near as rounding
could swap them, and the order did swap, would fail here.
"""

from __future__ import annotations

import gzip
import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.common import sentences
from model import load_translator
from model.interventions.edits import Cell, Edits, Force, Head
from model.storage.checkpoint import checkpoints_folder
from tests.support.repeated import first_quick
from tests.test_viz.test_web.test_engine.comparing import Request, assert_same

DATA = os.environ.get("HEADLIGHT_DATA")
N_SENTENCES = 50  # of each direction
CHUNK = 10  # sentences of a test
GERMAN = (
    ("Ein junger Mann", "Eine alte Frau", "Das kleine Mädchen", "Dieser neue Lehrer", "Mein bester Freund"),
    ("in einem roten Hemd", "mit einem braunen Hund", "mit einem großen Hut", "in dem weißen Kleid"),
    ("geht", "sitzt", "wartet", "schläft", "steht", "isst"),
    ("in der Nähe des Hauses.", "am Bahnhof.", "am Fluss.", "auf der Straße.", "unter einem Baum."),
)
ODD = (
    "The animal didn't cross the street because it was too tired.",
    "🐈 is a cat, 👩‍👩‍👧‍👦 a family, 🏴󠁧󠁢󠁥󠁮󠁧󠁿 a flag.",
    "שלום مرحبا नमस्ते 你好 안녕 Привет",
    "e\u0301\u0323 \u00e9 ﬁ①Ⅷ℃ⅷİıſßẞ",
    "\u2581<0x41><s></s><unk><pad> a\u2581b",
    "\x00a\x01\tb\r\n c\u200b\u202e\u2066d\ufeff\x85e\x1cf\u3000g",
    "\uffff\ufffe\U0010ffff\ue000 \ud800 x \udc00",
    "9" * 60 + " 3,14 1/2 50% €20 #1 a_b c++",
    "tired " * 30,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ".",
    "a",
    "DAS IST ALLES GROSS GESCHRIEBEN!!!",
    "„Zitat“ – »noch eins« … ‚und‘ 'so' \"weiter\"",
)


def german() -> Iterator[str]:
    """German sentences, as those of `benchmarks.common.sentences`."""
    combinations = [" ".join(parts) for parts in itertools.product(*GERMAN)]
    random.Random(40).shuffle(combinations)
    return iter(combinations)


def of_data(language: str) -> list[str]:
    """Sentences of the corpora, where they are."""
    if not DATA:
        return []

    def lines(name: str) -> list[str]:
        with gzip.open(Path(DATA, name), "rt", encoding="utf-8") as file:
            return file.read().splitlines()

    column = {"en": 0, "de": 1}[language]
    short = [line.split("\t")[column] for line in lines("tatoeba-de-en/test.tsv.gz")]
    rng = random.Random(40)
    return [*rng.sample(short, 15), *rng.sample(lines(f"multi30k/test_2016_flickr.{language}.gz"), 15)]


def texts(direction: str) -> list[str]:
    """N_SENTENCES of a direction: odd ones, ordinary ones, and those of the corpora."""
    source = direction[:2]
    phrases = {"en": sentences(seed=40), "de": german()}[source]
    return list(itertools.islice(itertools.chain(ODD, of_data(source), phrases), N_SENTENCES))


def changed(text: str, number: int, n_source: int, prefix: tuple[int, ...], beam: int) -> Request:
    """A request with a change of one kind, of one after the other; or with several."""
    rng = random.Random(number)
    kind = rng.choice(["encoder_self", "decoder_self", "cross"])
    heads = tuple(Head(kind, rng.randrange(3), head) for head in rng.sample(range(8), rng.randint(1, 4)))
    key = rng.randrange(n_source)
    row = 0 if kind == "decoder_self" else rng.randrange(min(4, n_source))
    force = Force(2, key, round(rng.random(), 2), () if number % 2 else ((rng.randrange(3), 5),))
    cells = (Cell("cross", row, key, False), Cell("encoder_self", row, key, False), Cell("decoder_self", 3, 1, False))
    layer = tuple(Head("cross", 1, head) for head in range(8))
    return [
        lambda: Request(text, beam, Edits(off=heads)),
        lambda: Request(text, beam, Edits(uniform=heads)),
        lambda: Request(text, beam, Edits(forced=(force, Force(1, 0, 0.5, (), "decoder_self")))),
        lambda: Request(text, beam, Edits(cells=cells)),
        lambda: Request(text, beam, prefix=prefix),
        lambda: Request(text, beam, positions={"scale": rng.choice([0, 0.5, 1.5]), "shift": rng.randrange(9)}),
        lambda: Request(text, beam, positions={"shift": 5, "sides": ("encoder",)}),
        lambda: Request(text, beam, Edits(off=layer, cells=(Cell("decoder_self", 1, 3, True),)), prefix[:1]),
        lambda: Request(text, beam, penalty=rng.choice([0, 1, 2])),
        lambda: Request(text, target="Das ist so. That is it.", edits=Edits(cells=(Cell("decoder_self", 1, 3, True),))),
    ][number % 10]()


@pytest.mark.parametrize("first", first_quick(range(0, N_SENTENCES, CHUNK)))
@pytest.mark.parametrize("direction", first_quick(["en-de", "de-en"]))
def test_the_engine_translates_as_python_does(direction: str, first: int, answers) -> None:
    translator = load_translator(direction)
    requests, results = [], []
    for number, text in enumerate(texts(direction)[first : first + CHUNK], start=first):
        beam = Request(text, 4)
        requests += [beam, Request(text, 1)]
        results += [request.by_python(translator) for request in requests[-2:]]
        prefix = tuple(results[-2].predicted_ids[: number % 5 + 1])
        if number % 3 == 0:  # another word than the model's
            prefix = (*prefix[:-1], 300 + number)
        requests.append(changed(text, number, len(results[-1].source_tokens), prefix, (4, 1)[number % 2]))
        results.append(requests[-1].by_python(translator))
    replies = answers(checkpoints_folder() / direction, [request.for_engine() for request in requests])
    wrong = []
    for request, answer, result in zip(requests, replies, results):
        try:
            assert_same(answer, result)
        except (AssertionError, KeyError) as error:
            wrong.append(f"{request}\n{answer.get('text', answer)}\n{result.text}\n{error}")
    assert not wrong, f"{len(wrong)} of {len(requests)} differ\n\n" + "\n\n".join(wrong[:5])
