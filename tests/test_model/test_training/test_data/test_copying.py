"""Spans to copy: that both sides get the same one, and the places their own names."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

from model.text.special import join_pieces
from model.training.data.copying import FRAMES, PLACES, UNSEEN_EMOJI, Copying, emoji, find_names, made_up_name
from model.training.data.noise import Pieces

PAIRS = [
    (["▁My", "▁friend", "▁Tom", "▁sleeps", "."], ["▁Mein", "▁Freund", "▁Tom", "▁schläft", "."]),
    (["▁I", "▁saw", "▁Tom", "."], ["▁Ich", "▁sah", "▁Tom", "."]),
    (["▁He", "▁lives", "▁in", "▁Boston", "."], ["▁Er", "▁wohnt", "▁in", "▁Boston", "."]),
    (["▁We", "▁went", "▁to", "▁Boston", "."], ["▁Wir", "▁fuhren", "▁nach", "▁Boston", "."]),
    (["▁The", "▁hand", "▁is", "▁cold", "."], ["▁Die", "▁Hand", "▁ist", "▁kalt", "."]),
    (["▁A", "▁cold", "▁Hand", "."], ["▁Eine", "▁kalte", "▁Hand", "."]),
    (["▁Another", "▁cold", "▁Hand", "."], ["▁Noch", "▁eine", "▁Hand", "."]),
    (["▁I", "▁have", "▁1", "2", "▁cats", "."], ["▁Ich", "▁habe", "▁1", "2", "▁Katzen", "."]),
]
NAMED, COLD, COUNTED = 1, 4, 7


def cut(text: str) -> list[str]:
    return re.findall(r"▁?\w+|▁?\W", "▁" + text.replace(" ", "▁"))


def copying(source: str = "en") -> Copying:
    pairs = PAIRS if source == "en" else [pair[::-1] for pair in PAIRS]
    augmentation = Copying(pairs * 2, cut, cut, source)
    assert set(augmentation.names) == {"▁Tom", "▁Boston"}, "a word that is also written small is not a name"
    return augmentation


def changes(number: int, source: str = "en", count: int = 800) -> list[tuple[str, str]]:
    """The texts of a pair, changed `count` times: English and German."""
    pair: Pieces = PAIRS[number] if source == "en" else PAIRS[number][::-1]
    changed, rng = copying(source), random.Random(0)
    texts = []
    for _ in range(count):
        sides = [join_pieces(side) for side in changed.change(pair, rng)]
        texts.append((sides[0], sides[1]) if source == "en" else (sides[1], sides[0]))
    return texts


def copied_span(texts: tuple[str, str], template: tuple[str, str]) -> str | None:
    """What stands at "{}" of the templates of both languages, if it is the same."""
    patterns = [re.escape(side).replace(r"\{\}", "(.+)") for side in template]
    matches = [re.fullmatch(pattern, text) for pattern, text in zip(patterns, texts)]
    spans = {match[1] if match else None for match in matches}
    return spans.pop() if len(spans) == 1 else None


def templates(number: int) -> dict[str, list[tuple[str, str]]]:
    english, german = (join_pieces(side) for side in PAIRS[number])
    bare = english.removesuffix("."), german.removesuffix(".")
    return {
        "sentence made for a span": list(FRAMES),
        "name": [(english.replace("Tom", "{}"), german.replace("Tom", "{}"))] if "Tom" in english else [],
        "number": [(english.replace("12", "{}"), german.replace("12", "{}"))] if "12" in english else [],
        "after": [(english + " {}", german + " {}"), (bare[0] + " {}", bare[1] + " {}")],
        "before": [("{} " + english, "{} " + german)],
    }


@pytest.mark.parametrize("source", ["en", "de"])
@pytest.mark.parametrize("number", [NAMED, COLD, COUNTED])
def test_both_sides_get_the_same_span_at_the_same_place(number: int, source: str) -> None:
    english, german = (join_pieces(side) for side in PAIRS[number])
    kinds = templates(number)
    places = {(f"{start[0]} {place[0]}.", f"{start[1]} {place[1]}.") for start, place in product(STARTS, PLACES)}
    span_kinds = set()
    for texts in changes(number, source):
        if texts == (english.upper(), german.upper()):
            span_kinds.add("capitals")
        elif texts in places:
            span_kinds.add("place")
        elif matches := [kind for kind in kinds if any(copied_span(texts, template) for template in kinds[kind])]:
            span_kinds.update(matches)
        else:
            before, after = texts[0].split(english)
            assert texts == (before + english + after, before + german + after)
            assert before and after, "what is left are sentences in markup"
            span_kinds.add("markup")
    expected = {kind for kind in kinds if kinds[kind]} | {"capitals", "place"}
    if number == COUNTED:
        expected -= {"after", "before"}  # its number is replaced instead
    elif number == COLD:
        expected.add("markup")
    assert expected <= span_kinds


STARTS = [("He lives in", "Er wohnt in"), ("We went to", "Wir fuhren nach")]


@pytest.mark.parametrize("source", ["en", "de"])
def test_places_have_their_name_in_either_language(source: str) -> None:
    texts = set(changes(COLD, source))
    for start in STARTS:
        places_found = {place for place in PLACES if (f"{start[0]} {place[0]}.", f"{start[1]} {place[1]}.") in texts}
        assert len(places_found) > 10


def test_names_stand_on_both_sides_and_never_first() -> None:
    assert find_names([(["▁Anna", "▁sings"], ["▁Anna", "▁singt"])] * 5) == []
    assert find_names(PAIRS, least=2) == ["▁Tom", "▁Boston"]


def test_the_emoji_of_tests_are_never_trained_on() -> None:
    rng = random.Random(0)
    symbols = {symbol for _ in range(20000) for symbol in emoji(rng).split()}
    assert len(symbols) > 800
    assert symbols.isdisjoint(UNSEEN_EMOJI)


def test_one_seed_gives_one_result() -> None:
    results = [[copying().change(PAIRS[0], random.Random(seed)) for seed in range(20)] for _ in range(2)]
    assert results[0] == results[1]
    assert len({made_up_name(random.Random(seed)) for seed in range(200)}) > 150
