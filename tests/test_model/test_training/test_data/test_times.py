"""Times of day: which sentences have one, and that both languages tell the same."""

from __future__ import annotations

import random

import pytest

from model.training.data.copying import Copying
from model.training.data.times import find_timed, tell, write_time

TRAIN = (("The train leaves at ", "."), ("Der Zug fährt um ", " ab."))


def minutes(text: str) -> int:
    """Of an English or German time, in its own way or in digits."""
    english = "one two three four five six seven eight nine ten eleven twelve".split()
    german = "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
    hours = {word: hour for words in (english, german) for hour, word in enumerate(words, start=1)}
    hours |= {str(hour): hour for hour in range(1, 13)} | {"ein": 1}
    *before, last = text.removesuffix(" o'clock").removesuffix(" Uhr").split()
    if ":" in last:
        hour, minute = map(int, last.split(":"))
        return 60 * hour + minute
    offset = {"": 0, "half past": 30, "halb": -30, "a quarter past": 15, "Viertel nach": 15}
    offset |= {"a quarter to": -15, "Viertel vor": -15}
    return 60 * hours[last] + offset[" ".join(before)]


def test_the_ways_to_write_a_time_are_one_time() -> None:
    for hour in range(1, 13):
        for quarter in range(4):
            ways = write_time(hour, quarter)
            times = {minutes(way) % 720 for way in (*ways["en"][:2], *ways["de"][:2])}
            assert times == {(60 * hour + 15 * quarter) % 720}, ways


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("The train leaves at six.", "Der Zug fährt um 6 Uhr ab."),
        ("The train leaves at 6:30.", "Der Zug fährt um halb sieben ab."),
        ("The train leaves at a quarter to nine.", "Der Zug fährt um Viertel vor neun ab."),
        ("The train leaves at seven o'clock.", "Der Zug fährt um sieben Uhr ab."),
    ],
)
def test_a_sentence_with_one_time_is_cut_where_it_stands(english: str, german: str) -> None:
    assert find_timed([(english, german)]) == [TRAIN]


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("We close at 7 p.m.", "Wir schließen um 19 Uhr."),
        ("I have six cats.", "Ich habe sechs Katzen."),
        ("At one o'clock or at two o'clock?", "Um ein Uhr oder um zwei Uhr?"),
        ("It is 8:30.", "Die Uhr geht."),
    ],
)
def test_others_are_left_out(english: str, german: str) -> None:
    assert find_timed([(english, german)]) == []


@pytest.mark.parametrize("source", ["en", "de"])
def test_only_the_source_varies(source: str) -> None:
    pairs = {tell(TRAIN, source, random.Random(seed)) for seed in range(2000)}
    english, german = (len({pair[side] for pair in pairs}) for side in (0, 1))
    assert min(english, german) == 48 < max(english, german) == len(pairs)
    assert ("The train leaves at half past seven.", "Der Zug fährt um halb acht ab.") in pairs


def test_pairs_of_training_are_told_with_other_times() -> None:
    def cut(text: str) -> list[str]:
        return ["▁" + word for word in text.split()]

    pair = cut("Der Zug fährt um 6 Uhr ab."), cut("The train leaves at six.")
    copying, rng = Copying([pair], cut, cut, source="de"), random.Random(0)
    changed = [copying.change((["▁Ja"], ["▁Yes"]), rng) for _ in range(10000)]
    assert (cut("Der Zug fährt um halb acht ab."), cut("The train leaves at half past seven.")) in changed
