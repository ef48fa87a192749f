"""The page Alignment without a browser: the boards are the kept numbers, and what they are worth is said."""

from __future__ import annotations

import json

import numpy as np
import pytest

from model import load_translator
from model.measures import alignment
from model.measures.word_links import LinkedPair, LinkedText
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from viz.text import words_alignment

NAMES = list(words_alignment.SETS)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A checkpoint of its own with results for both sets of links: made of one pair each, under their names."""
    translator = load_translator(str(save_tiny(tmp_path / "en-de")))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    results = {}
    for name, links in zip(NAMES, ({(0, 0), (1, 1)}, {(1, 0)}), strict=True):
        pair = LinkedPair(1, "A man", "Ein Mann", ["A", "man"], ["Ein", "Mann"], frozenset(links), frozenset(links))
        text = LinkedText(name, ("en", "de"), f"a <b>test</b> of {name}", [pair], 1)
        results[name] = {"command": f"python -m model align {name}", **alignment.measure(translator, text)}
        alignment.keep(translator, name, results[name])
    return translator, results


def open_page(**query):
    at = screen.open_page("alignment.py", **query)
    assert not at.exception
    return at


def assert_boards(at, result):
    assert not at.exception and not at.error
    for read_at, by_measure in result["aer"].items():
        for what, rates in by_measure.items():
            board = screen.figure(at, f"aer-{read_at}-{what}")["data"][0]
            expected = np.concatenate([rates["heads"], np.transpose([rates["mean"], rates["max"]])], axis=1)
            np.testing.assert_allclose(screen.values(board["z"]), expected, atol=1e-6)
            assert (board["zmin"], board["zmax"], board["reversescale"]) == (0, 1, True)
    assert result["made_by"] in screen.written(at)
    assert at.code[0].value == result["command"]


def test_both_sets_are_drawn_with_what_they_are_worth(measured):
    _, results = measured
    at = open_page()
    assert not at.warning
    assert len(screen.charts(at)) == 4
    for name in NAMES:
        at = screen.choose(at, links=name)
        assert_boards(at, results[name])
        assert words_alignment.SETS[name] in [element.value for element in at.markdown]
        assert "links left out that point outside their sentence: 1" in screen.written(at)


def test_the_best_head_is_named(measured):
    _, results = measured
    heads = np.array(results[NAMES[0]]["aer"]["output"]["weights"]["heads"])
    layer, head = np.argwhere(heads == heads.min())[0]
    said = " ".join(caption.value for caption in open_page().caption)
    assert f"Best head: layer {layer}, head {head} with {heads.min():.3f}." in said


def test_results_of_other_weights_are_called_so(measured):
    translator, results = measured
    alignment.keep(translator, NAMES[0], results[NAMES[0]] | {"weights_sha256": "0"})
    at = open_page(links=NAMES[0])
    assert [warning.value for warning in at.warning] == [words_alignment.STALE]
    assert_boards(at, results[NAMES[0]])


def test_without_results_the_command_is_shown():
    at = open_page()
    assert [info.value for info in at.info] == [words_alignment.NOTHING]
    assert at.code[0].value == "python -m model align --data FOLDER --checkpoint en-de --save"


def test_a_damaged_file_is_told_in_a_sentence(measured):
    translator, _ = measured
    (translator.folder / alignment.FILE).write_text(json.dumps({"x": {}}))
    at = open_page()
    assert [error.value for error in at.error] == ["The results of this model cannot be read."]
    assert "the result of 'x' is not a result of 'python -m model align'" in screen.written(at)


def test_another_model_can_be_chosen(measured, tmp_path):
    save_tiny(tmp_path / "other", n_heads=2)
    at = open_page()
    at.selectbox(key="model").set_value("other").run()
    assert at.code[0].value == "python -m model align --data FOLDER --checkpoint other --save"
