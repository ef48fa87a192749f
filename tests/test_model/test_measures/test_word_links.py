"""Sentence pairs with links: byte-order marks, links outside, texts that are not those that were linked, directions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from model.measures.word_links import read_linked_text, text_hash
from tests.test_model.builders import write_folder

SHIPPED = Path(__file__).parents[3] / "model" / "measures" / "links" / "multi30k_test_2016_flickr.json"


def write_json(folder: Path, **changes) -> list[Path]:
    """Writes a file of links with the texts of one pair; returns the paths."""
    texts = ("Ein Hotdog-Stand.", "A hotdog stand.")
    entry = {"line": 1, "sha256": text_hash(*texts), "links": "0-0 1-1 1-2 2-3"} | changes.pop("entry", {})
    values = {"name": "toys", "made_by": "a test", "languages": ["de", "en"], "pairs": [entry]} | changes
    paths = [folder / "links.json", folder / "de.txt", folder / "en.txt"]
    for path, text in zip(paths, (json.dumps(values), *texts), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_a_folder_is_read_without_its_byte_order_mark(tmp_path):
    text = read_linked_text([write_folder(tmp_path / "toys", "1 0 0 S \n1 1 1 P\n2 1 1 S\n")])
    assert (text.name, text.languages, text.outside) == ("toys", ("de", "en"), 0)
    first, second = text.pairs
    assert first.source_words == ["das", "haus"] and first.target_words == ["the", "house"]
    assert (first.number, first.sure, first.possible) == (1, {(0, 0)}, {(0, 0), (1, 1)})
    assert (second.number, second.sure) == (2, {(1, 1)})


@pytest.mark.parametrize("link", ["1 2 0 S", "1 0 2 S", "3 0 0 S", "0 0 0 S"])
def test_a_link_outside_its_sentence_is_left_out_and_counted(tmp_path, link):
    text = read_linked_text([write_folder(tmp_path / "toys", f"1 0 1 S\n{link}\n")])
    assert text.outside == 1
    assert [pair.sure for pair in text.pairs] == [{(0, 1)}]


@pytest.mark.parametrize("line", ["1 0 S", "1 0 x S", "1 0 0 Q", "1 0 -1 S", "", "１ 0 0 S"])
def test_a_line_that_is_no_link_is_named(tmp_path, line):
    with pytest.raises(ValueError, match=r"line 2: expected sentence, word, word, S or P"):
        read_linked_text([write_folder(tmp_path / "toys", f"1 0 0 S\n{line}\n1 1 1 S\n")])


def test_turning_a_set_swaps_texts_words_and_links(tmp_path):
    text = read_linked_text([write_folder(tmp_path / "toys", "1 0 1 S\n", "das haus da\n", "the house\n")])
    assert text.towards("de", "en") is text
    turned = text.towards("en", "de")
    (pair,) = turned.pairs
    assert turned.languages == ("en", "de")
    assert (pair.source, pair.target) == ("the house", "das haus da")
    assert (pair.source_words, pair.target_words) == (["the", "house"], ["das", "haus", "da"])
    assert pair.sure == pair.possible == {(1, 0)}
    with pytest.raises(ValueError, match="toys links de and en, the checkpoint goes en-fr"):
        text.towards("en", "fr")


def test_links_in_a_file_of_their_own_find_their_pairs(tmp_path):
    text = read_linked_text(write_json(tmp_path))
    (pair,) = text.pairs
    assert (text.name, text.made_by, text.languages) == ("toys", "a test", ("de", "en"))
    assert pair.source_words == ["Ein", "Hotdog-Stand", "."]
    assert pair.target_words == ["A", "hotdog", "stand", "."]
    assert pair.sure == {(0, 0), (1, 1), (1, 2), (2, 3)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entry": {"sha256": "0"}}, "line 1 of the texts is not the pair that was linked"),
        ({"entry": {"line": 2}}, "there is no line 2 in texts of 1 lines"),
        ({"entry": {"links": "0-0 1"}}, "expected links like 0-1, got '1'"),
        ({"pairs": [{"line": 1}]}, "each pair has line, sha256 and links, got {'line': 1}"),
        ({"pairs": [3]}, "each pair has line, sha256 and links, got 3"),
        ({"pairs": 3}, "pairs is missing or wrong"),
        ({"languages": ["de"]}, "must name two languages, got 1"),
    ],
)
def test_a_wrong_file_of_links_is_told_in_a_sentence(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        read_linked_text(write_json(tmp_path, **changes))


def test_links_outside_are_counted_in_such_a_file_too(tmp_path):
    text = read_linked_text(write_json(tmp_path, entry={"links": "0-0 3-0 0-4"}))
    assert text.outside == 2 and text.pairs[0].sure == {(0, 0)}


def test_paths_that_are_no_set_are_told(tmp_path):
    with pytest.raises(ValueError, match="must hold one file of links, named like de-en.ref.wa"):
        read_linked_text([tmp_path])
    with pytest.raises(ValueError, match="give a folder with links and texts, or three files"):
        read_linked_text([tmp_path / "de-en.ref.wa"])
    folder = write_folder(tmp_path / "toys", "1 0 0 S\n", second="only one\n")
    with pytest.raises(ValueError, match=r"test\.de has 2 lines, .*test\.en has 1"):
        read_linked_text([folder])
    with pytest.raises(ValueError, match="the name must say which languages are linked"):
        read_linked_text([tmp_path / "links.wa", folder / "test.de", folder / "test.de"])


def test_the_shipped_links_say_that_a_model_made_them_and_hold_no_sentences():
    values = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert "language model" in values["made_by"] and "never a gold standard" in values["made_by"]
    assert len(values["pairs"]) == 60
    lines = [entry["line"] for entry in values["pairs"]]
    assert lines == sorted(set(lines))
    for entry in values["pairs"]:
        assert set(entry) == {"line", "sha256", "links"}
        assert re.fullmatch(r"[0-9a-f]{16}", entry["sha256"])
        links = entry["links"].split()
        assert len(links) == len(set(links)) >= 5
        assert all(re.fullmatch(r"\d{1,2}-\d{1,2}", link) for link in links)
