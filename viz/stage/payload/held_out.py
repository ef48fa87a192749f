"""A head over the held-out sentences of an atlas, as data: its numbers, and where it is strongest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.interventions.edits import Head
from model.measures import agreement
from viz.stage import words as stage_words
from viz.text.language import message, say
from viz.views.results.head_boards import MEASURES, numbers_of, ranked
from viz.views.results.head_sources import Source
from viz.views.view import View, place_of_head

STRONGEST = message("Strongest in these held-out sentences; each opens on the stage:")


@dataclass(frozen=True)
class Example:
    """A sentence where a head is strongest: its address on the stage as parameters, and what the head does there."""

    text: str
    query: dict[str, str]
    caption: str


@dataclass(frozen=True)
class HeldOutCard:
    """What is said of one head over the sentences.

    Attributes:
        about: its name and role.
        ranked: by measure its number and rank, as a sentence.
        numbers: rows of measure, number and rank.
        examples: where it is strongest.
    """

    about: str
    ranked: dict[str, str]
    numbers: list[list[str]]
    examples: list[Example]


def held_out_card(report: Mapping[str, Any], source: Source, head: Head, model: str) -> HeldOutCard:
    """Describe a head, in the language of here; `source` is that of the report, `model` the name of a checkpoint."""
    place = (head.kind, head.layer, head.head)
    measures = [measure for measure in MEASURES if source.having(measure, [head.kind])]
    return HeldOutCard(
        source.about(*place, name=source.name(*place)),
        {measure: ranked(source, measure, head) for measure in measures},
        [[name, *values] for name, values in numbers_of(source, head).items()],
        examples(report, head, model),
    )


def about(report: Mapping[str, Any]) -> str:
    """Over which sentences an atlas was measured."""
    return say("{sentences} held-out sentences, {words} words, {data}.", **report)


def examples(report: Mapping[str, Any], head: Head, model: str) -> list[Example]:
    """The sentences of a report where a head is strongest; `model` translates, "" is the default one."""
    if head.kind in agreement.DECODER:
        side = "t"
        line = message("“{word}” {value:+.1f} logits from “{key}”")
        measure = {"measure": "effects"}
    else:
        side = "s"
        line = message("“{word}” attends to “{key}” with weight {value:.2f}")
        measure = {}
    result = []
    for text, row, _, word, key, value in report["kinds"][head.kind]["examples"][head.layer][head.head]:
        source = report["texts"][text]
        place = place_of_head(head.kind, head.layer, head.head)
        query = View(source, model=model, beam=1).address() | place | measure | {"pin": f"{side}{row}"}
        caption = say(line, word=stage_words.label(word), key=stage_words.label(key), value=value)
        result.append(Example(source, query, caption))
    return result
