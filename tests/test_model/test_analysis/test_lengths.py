"""Groups of sentences by length, and what a card says of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analysis.lengths import KEY, STARTS, Group, numbers_by_length, read

GROUP = Group(words=5.5, shortest=4, longest=6, sentences=80, bleu=30.0, chrf=50.0)


@given(st.lists(st.integers(0, 40), max_size=60))
def test_every_sentence_is_in_the_group_of_its_length(counts: list[int]) -> None:
    groups = numbers_by_length([" ".join(["word"] * count) for count in counts])
    assert sorted(number for group in groups for number in group) == list(range(len(counts)))
    begun = [{max((start for start in STARTS if start <= counts[n]), default=1) for n in group} for group in groups]
    assert all(len(starts) == 1 for starts in begun)  # one group, one start
    firsts = [starts.pop() for starts in begun]
    assert firsts == sorted(set(firsts))


def test_a_card_is_read() -> None:
    card = {"scores": {"a": {"bleu": 1.0, KEY: [vars(GROUP)]}, "b": {"bleu": 2.0}, "c": 3}}
    assert read(card) == {"a": [GROUP]}
    for nothing in ({}, {"scores": None}, {"scores": {}}):
        assert read(nothing) == {}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "of 'a' are empty"),
        (7, "other keys"),
        (["x"], "other keys"),
        ([{"words": 1}], "other keys"),
        ([vars(GROUP) | {"bleu": "high"}], "bleu must be a number from 0 up, got 'high'"),
        ([vars(GROUP) | {"chrf": float("nan")}], "chrf must be a number from 0 up, got nan"),
        ([vars(GROUP) | {"sentences": -1}], "sentences must be a number from 0 up, got -1"),
        ([vars(GROUP) | {"words": True}], "words must be a number from 0 up, got True"),
    ],
)
def test_a_card_that_cannot_be_read_says_why(rows: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read({"scores": {"a": {KEY: rows}}})
