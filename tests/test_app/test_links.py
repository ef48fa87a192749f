"""What an address is worth: its version, and choices that are not there; each answered in a sentence."""

from __future__ import annotations

import pytest

from tests.test_app import screen
from viz.screens import words

VERSION = "another version of Headlight"
MISSED = "The address asks for something that is not there."


def said(at):
    assert not at.exception and not at.error
    return " ".join(warning.value for warning in at.warning)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"v": "1"},
        {"penalty": "1.5", "mean-of-heads": "true"},
        {"kind": words.KINDS["encoder_self"].name, "layer": "1"},
    ],
)
def test_an_address_of_this_version_says_nothing(query):
    assert said(screen.open_page("heads.py", **query)) == ""


@pytest.mark.parametrize("version", ["2", "0", "<b>**x**</b>", "![x](http://x)", "9" * 5000])
def test_another_version_is_told_and_read_as_far_as_it_goes(recorded, version):
    at = screen.open_page("heads.py", v=version, layer="1")
    assert VERSION in said(at) and f"Version: {version[:40]} (there is: 1)" in screen.written(at)
    assert not any(version in warning.value for warning in at.warning), "it is text and never Markdown"
    assert at.session_state["layer"] == 1


@pytest.mark.parametrize(
    ("page", "query", "line"),
    [
        ("heads.py", {"layer": "9"}, "Layer: 9 (there is: 0, 1)"),
        (
            "heads.py",
            {"kind": "<b>x</b>"},
            "Attention: <b>x</b> (there is: Encoder self, Decoder self (masked), Cross)",
        ),
        ("heads.py", {"layer": "x" * 900}, f"Layer: {'x' * 40} (there is: 0, 1)"),
        ("compare.py", {"model": "none"}, "Model: none (there is: en-de)"),
        ("masks.py", {"mask": "x"}, "Mask: x (there is: “Padding, source”, “Padding, target”, Look-ahead, "),
        ("heads.py", {"head": "-1"}, "Head: -1 (there is: 0, 1, 2, 3)"),
        ("heads.py", {"penalty": "99"}, "Length penalty: 99 (there is: 0.0 to 2.0)"),
        ("heads.py", {"penalty": "nan"}, "Length penalty: nan (there is: 0.0 to 2.0)"),
        ("positions.py", {"shuffle": "maybe"}, "Shuffle the words: maybe (there is: true, false)"),
        ("heads.py", {"penalty": "<b>"}, "Length penalty: <b> (there is: 0.0 to 2.0)"),
        ("training.py", {"noam-warmup": "3"}, "Warmup (steps): 3 (there is: 1, 10, 50, 100, 200, 400, 500, 1000, …)"),
        ("training.py", {"against": ["cosine", "Linear", "x"]}, "Against: x (there is: "),
        ("positions.py", {"first": "waves"}, "First encoding: waves (there is: "),
        ("positions.py", {"dimensions": ["0", "64"]}, "Dimensions: 64 (there is: 0, 1, 2, 3, 4, 5, 6, 7, …)"),
    ],
)
def test_a_choice_that_is_not_there_is_told(page, query, line):
    at = screen.open_page(page, **query)
    assert MISSED in said(at) and line in screen.written(at)
    assert MISSED not in said(at.run()), "it is told once"


def test_every_choice_that_is_not_there_is_told_at_once():
    at = screen.open_page("heads.py", layer="9", head="9", kind="Cross")
    assert screen.written(at).count("(there is:") == 2 and said(at).count(MISSED) == 1
