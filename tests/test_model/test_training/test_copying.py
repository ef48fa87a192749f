"""Spans to copy: that both sides get the same one, at the same place, and the places their own names."""

from __future__ import annotations

import random

import pytest

from model.training.data.copying import PLACES, Copying, find_names, made_up_name

PAIRS = [
    (["▁My", "▁friend", "▁Tom", "▁sleeps", "."], ["▁Mein", "▁Freund", "▁Tom", "▁schläft", "."]),
    (["▁I", "▁saw", "▁Tom", "."], ["▁Ich", "▁sah", "▁Tom", "."]),
    (["▁He", "▁lives", "▁in", "▁Boston", "."], ["▁Er", "▁wohnt", "▁in", "▁Boston", "."]),
    (["▁We", "▁went", "▁to", "▁Boston", "."], ["▁Wir", "▁fuhren", "▁nach", "▁Boston", "."]),
    (["▁The", "▁hand", "▁is", "▁cold", "."], ["▁Die", "▁Hand", "▁ist", "▁kalt", "."]),
    (["▁A", "▁cold", "▁Hand", "."], ["▁Eine", "▁kalte", "▁Hand", "."]),
    (["▁Another", "▁cold", "▁Hand", "."], ["▁Noch", "▁eine", "▁Hand", "."]),
]


def cut(text: str) -> list[str]:
    return ["▁" + word for word in text.split()]


def copying(source: str = "en") -> Copying:
    found = Copying(PAIRS * 2, cut, cut, source)
    assert set(found.names) == {"▁Tom", "▁Boston"}, "a word that is also written small is not a name"
    return found


def test_names_stand_on_both_sides_and_never_first() -> None:
    assert find_names([(["▁Anna", "▁sings"], ["▁Anna", "▁singt"])] * 5) == []
    assert find_names(PAIRS, least=2) == ["▁Tom", "▁Boston"]


@pytest.mark.parametrize("number", [0, 1])
def test_both_sides_get_the_same_span_at_the_same_place(number: int) -> None:
    pair, rng, seen = PAIRS[number], random.Random(0), set()
    for _ in range(300):
        source, target = copying().change(pair, rng)
        if (source, target) == pair:
            continue  # the name that was drawn is the one that stood there
        if source[0].isupper() and source[0] == pair[0][0].upper() and source[1].isupper():
            assert (source, target) == tuple([piece.upper() for piece in side] for side in pair)
            seen.add("capitals")
        elif source[: len(pair[0])] == pair[0]:
            assert source[len(pair[0]) :] == target[len(pair[1]) :] != []
            seen.add("appended")
        else:
            at = pair[0].index("▁Tom"), pair[1].index("▁Tom")
            spans = [side[i : len(side) - len(whole) + i + 1] for side, whole, i in zip((source, target), pair, at)]
            assert spans[0] == spans[1]
            assert source[: at[0]] == pair[0][: at[0]] and source[-1] == target[-1] == "."
            seen.add("replaced")
    assert seen == {"capitals", "appended", "replaced"}


@pytest.mark.parametrize("source", ["en", "de"])
@pytest.mark.parametrize("number", [2, 3])
def test_places_have_their_name_in_either_language(source: str, number: int) -> None:
    pair = PAIRS[number] if source == "en" else PAIRS[number][::-1]
    known = {("▁" + english, "▁" + german) for english, german in PLACES}
    rng, places = random.Random(1), set()
    for _ in range(200):
        changed = copying(source).change(pair, rng)
        if [len(side) for side in changed] == [len(side) for side in pair] and not changed[0][1].isupper():
            place = changed[0][3], changed[1][3]
            assert (place if source == "en" else place[::-1]) in known
            places.add(place)
    assert len(places) > 10


def test_one_seed_gives_one_result() -> None:
    drawn = [[copying().change(PAIRS[0], random.Random(seed)) for seed in range(20)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len({made_up_name(random.Random(seed)) for seed in range(200)}) > 150
