"""How many of sixty sentences are translated as a teacher would accept them, greedily and with beam search.

`sentences.tsv` holds the kind of a sentence, the sentence, and a regular expression for all German that is accepted. It
judges a checkpoint; nothing is trained on it and no checkpoint is chosen by it. Four of the sixty happen to be in the
training set of Tatoeba ("What time is it?"), none in that of Multi30k.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import table
from model import load_translator
from model.translator import DEFAULT_CHECKPOINT

FILE = Path(__file__).with_suffix(".tsv")
BEAMS = (1, 4)


class Question(NamedTuple):
    """A sentence and what is accepted as its translation.

    Attributes:
        kind: everyday, textbook or attention (the literature on attention and ambiguity).
        text: in English.
        accepted: a regular expression for whole answers.
    """

    kind: str
    text: str
    accepted: str

    def right(self, answer: str) -> bool:
        """Whether an answer is accepted, spaces aside."""
        return re.fullmatch(self.accepted, " ".join(answer.split())) is not None


def questions() -> list[Question]:
    """The sixty sentences."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return [Question(*row) for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


def main() -> None:
    """Translate all, print those that are wrong and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    options = parser.parse_args()
    translator, asked = load_translator(options.checkpoint), questions()
    kinds, right = [*dict.fromkeys(question.kind for question in asked), "all"], {}
    for beam in BEAMS:
        for question in asked:
            answer = translator.translate(question.text, beam=beam).text
            right[beam, question] = question.right(answer)
            if not right[beam, question]:
                print(f"beam {beam}  {question.text}\n        {answer}")
    rows = []
    for kind in kinds:
        some = [question for question in asked if kind in (question.kind, "all")]
        rows.append([kind, *(f"{sum(right[beam, one] for one in some)} of {len(some)}" for beam in BEAMS)])
    print(f"{options.checkpoint}, sentences with an accepted translation")
    print(table(["sentences", *(f"beam {beam}" for beam in BEAMS)], rows))


if __name__ == "__main__":
    main()
