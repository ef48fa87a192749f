"""How many spans are copied whole: names, addresses, emoji, numbers, markup, words in capitals, places.

Two hundred sentences are made from templates, names and a seed that no training sees; of each it is looked up whether
the span stands in the translation as it should. Places should have the name that they have in the other language.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.common import table
from model import load_translator
from model.running.translator import DEFAULT_CHECKPOINT
from model.training.data.copying import PLACES, UNSEEN_EMOJI

N_SENTENCES = 200
SEED = 2017
TEMPLATES = {
    "en": {
        "name": ["{} is my neighbour.", "Have you met {} yet?", "I gave {} the book.", "Mr. {} is sleeping."],
        "place": ["I live in {}.", "We are going to {} tomorrow.", "My sister works in {}."],
        "capitals": ["The sign says {}.", "What does {} mean?"],
        "address": ["Please write to {} today.", "The photos are on {} now.", "I read it on {} yesterday."],
        "emoji": ["I love this song {}", "See you tomorrow {}", "The dog is sleeping {}"],
        "number": ["The room is {} large.", "It costs {} here.", "He drove {} yesterday."],
        "markup": ["This is {} here.", "Press {} now.", "The value of {} is small."],
    },
    "de": {
        "name": ["{} ist mein Nachbar.", "Kennst du {} schon?", "Ich gab {} das Buch.", "Herr {} schläft."],
        "place": ["Ich wohne in {}.", "Wir fahren morgen nach {}.", "Meine Schwester arbeitet in {}."],
        "capitals": ["Auf dem Schild steht {}.", "Was bedeutet {}?"],
        "address": ["Bitte schreib heute an {}.", "Die Fotos sind jetzt auf {}.", "Ich las es gestern auf {}."],
        "emoji": ["Ich liebe dieses Lied {}", "Bis morgen {}", "Der Hund schläft {}"],
        "number": ["Das Zimmer ist {} groß.", "Es kostet hier {}.", "Er fuhr gestern {}."],
        "markup": ["Das ist hier {}.", "Drück jetzt {}.", "Der Wert von {} ist klein."],
    },
}
NAMES = "Müller Kowalski Nguyen Okafor Yilmaz Svensson Petrović Almeida Haruki Oyelaran Brzęczek Lindqvist".split()
SITES = "example.org wiki.example.com kino-heute.de mytown.co.uk".split()
ADDRESSES = ["https://www.{}/a{}", "post{1}@{0}"]
MARKUP = ["<b>new</b>", "**bold**", "$x^2$", "`run`", "<i>old</i>", "$a_1$", "_this_"]


class Case(NamedTuple):
    """A sentence, the kind of its span, and the span that its translation should hold."""

    kind: str
    text: str
    span: str


def make_cases(source: str, seed: int = SEED, count: int = N_SENTENCES) -> list[Case]:
    """Sentences of a source language, "en" or "de", as many of each kind as of another, within one."""
    rng = random.Random(seed)
    spans: dict[str, Callable[[], str]] = {
        "name": lambda: rng.choice(NAMES),
        "capitals": lambda: rng.choice(NAMES).upper(),
        "address": lambda: rng.choice(ADDRESSES).format(rng.choice(SITES), rng.randrange(99)),
        "emoji": lambda: rng.choice(UNSEEN_EMOJI),
        "number": lambda: f"{rng.randrange(2, 999)} {rng.choice(['km', 'kg', 'm²', '€', 'GB'])}",
        "markup": lambda: rng.choice(MARKUP),
    }
    side = 0 if source == "en" else 1
    cases = []
    for number in range(count):
        kind = list(TEMPLATES[source])[number % len(TEMPLATES[source])]
        template = rng.choice(TEMPLATES[source][kind])
        if kind == "place":
            place = rng.choice(PLACES)
            cases.append(Case(kind, template.format(place[side]), place[1 - side]))
        else:
            span = spans[kind]()
            expected = span
            if kind == "markup" and span[1:-1].isalpha() or "<" in span or "**" in span:
                # The word inside may be translated; the marks around it stay.
                expected = span[:3] if span.startswith("<") else span[: len(span) - len(span.lstrip("*_`"))]
            cases.append(Case(kind, template.format(span), expected))
    return cases


def main() -> None:
    """Measure as the command line says, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--show", action="store_true", help="print what was not copied")
    options = parser.parse_args()
    translator = load_translator(options.checkpoint)
    cases = make_cases(translator.card["source"])
    answers = translator.translate_lines([case.text for case in cases], beam=options.beam)
    counts: dict[str, list[int]] = {}
    for case, answer in zip(cases, answers, strict=True):
        counts.setdefault(case.kind, []).append(case.span in answer)
        if options.show and case.span not in answer:
            print(f"{case.kind}: {case.text} -> {answer}")
    rows = [[kind, f"{sum(right)} of {len(right)}"] for kind, right in counts.items()]
    total = sum(sum(right) for right in counts.values())
    print(table(["kind", "copied whole"], [*rows, ["all", f"{total} of {len(cases)} ({total / len(cases):.0%})"]]))


if __name__ == "__main__":
    main()
