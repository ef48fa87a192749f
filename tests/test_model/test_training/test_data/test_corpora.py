"""Corpora: reading files of every kind there is, and saying what is wrong with the others."""

from __future__ import annotations

import gzip
import re
from functools import partial

import pytest

from model.training.data.corpora import CORPORA, comparable, leave_out, load_corpus, parse_mix, read_lines
from tests.test_model.test_training.language import write_gz

BOTH = ("en", "de")


@pytest.mark.parametrize(
    ("mix", "weights"),
    [
        ("tatoeba", {"tatoeba": 1.0}),
        ("tatoeba + 2*multi30k", {"tatoeba": 1.0, "multi30k": 2.0}),
        (" 0.5 * news+tatoeba ", {"news": 0.5, "tatoeba": 1.0}),
    ],
)
def test_a_mix_is_read(mix, weights):
    assert parse_mix(mix) == weights


@pytest.mark.parametrize(
    ("mix", "words"),
    [
        ("", "a mix is written like"),
        ("tatoeba +", "a mix is written like"),
        ("tatoeba multi30k", "a mix is written like"),
        ("-1*tatoeba", "a mix is written like"),
        ("multi30k*2", "a mix is written like"),
        ("nan*tatoeba", "a mix is written like"),
        ("europarl", "unknown corpus 'europarl'; there are multi30k, tatoeba, news"),
        ("tatoeba + 2*tatoeba", "'tatoeba' is named twice"),
    ],
)
def test_a_wrong_mix_is_refused_in_words(mix, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_mix(mix)


def test_a_missing_folder_is_answered_with_the_command_that_fetches_it(tmp_path):
    for name in CORPORA:
        with pytest.raises(ValueError) as caught:
            load_corpus(tmp_path, name, "train", BOTH)
        assert f"python -m model download {name} --data-dir {tmp_path}" in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "multi30k").mkdir()
    with pytest.raises(ValueError, match=r"train\.en\.gz does not exist"):
        load_corpus(tmp_path, "multi30k", "train", BOTH)


def test_an_unknown_corpus_is_refused(tmp_path):
    with pytest.raises(ValueError, match="unknown corpus 'x'"):
        load_corpus(tmp_path, "x", "train", BOTH)


CONTENT = "Grüße\r\n\n  zwei \u2028 Zeilen\u0085 \nEnde"
LINES = ["Grüße", "", "  zwei \u2028 Zeilen\u0085 ", "Ende"]


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["", "byte-order mark"])
def test_lines_are_the_same_from_plain_and_from_gzip(tmp_path, start):
    """Only line feeds end a line (Unicode has other separators, which real sentences contain)."""
    (tmp_path / "a.txt").write_bytes((start + CONTENT).encode())
    (tmp_path / "a.gz").write_bytes(gzip.compress((start + CONTENT).encode()))
    assert list(read_lines(tmp_path / "a.txt")) == LINES
    assert list(read_lines(tmp_path / "a.gz")) == LINES


def damaged(content: bytes) -> bytes:
    """A gzip file whose compressed bytes, not whose header, are wrong."""
    packed = bytearray(gzip.compress(content))
    packed[10:14] = b"\xff\xff\xff\xff"
    return bytes(packed)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"one line\n" * 100)[:-12], damaged(b"one line\n" * 100)],
    ids=["not gzip", "truncated", "damaged"],
)
def test_an_unreadable_file_is_named(tmp_path, content):
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"the file {path} cannot be read: ")):
        list(read_lines(path))


def test_a_line_that_is_not_utf_8_is_named(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress("gut\nschön\n".encode("latin-1")))
    with pytest.raises(ValueError, match=re.escape(f"{path}, line 2 is not UTF-8 text: byte 4 is 0xF6")):
        list(read_lines(path))


def test_pairs_are_cleaned_as_what_a_translator_is_given(tmp_path):
    write_gz(tmp_path / "multi30k" / "train.en.gz", ["The ﬁsh\u200b isn’t …", "\u200b"])
    write_gz(tmp_path / "multi30k" / "train.de.gz", ["Der Fi\u00adsch ist’s", "leer"])
    load = partial(load_corpus, tmp_path, "multi30k", "train")
    assert load(BOTH) == [("The fish isn't ...", "Der Fisch ist’s")]
    assert load(BOTH[::-1]) == [("Der Fisch ist's", "The ﬁsh isn’t …")], "the source alone is read as it is meant"
    assert load(BOTH, as_meant=False) == [("The ﬁsh isn’t …", "Der Fisch ist’s")]


def test_sides_of_different_length_are_refused_with_both_numbers(tmp_path):
    write_gz(tmp_path / "multi30k" / "train.en.gz", ["one", "two", "three"])
    write_gz(tmp_path / "multi30k" / "train.de.gz", ["eins", "zwei"])
    with pytest.raises(ValueError, match="3 English lines but 2 German lines in train"):
        load_corpus(tmp_path, "multi30k", "train", BOTH)


def test_pairs_come_in_the_asked_direction_without_empty_sides(tmp_path):
    write_gz(tmp_path / "multi30k" / "val.en.gz", ["one ", "", "three"])
    write_gz(tmp_path / "multi30k" / "val.de.gz", ["eins", "zwei", " drei"])
    assert load_corpus(tmp_path, "multi30k", "valid", ("en", "de")) == [("one", "eins"), ("three", "drei")]
    assert load_corpus(tmp_path, "multi30k", "valid", ("de", "en")) == [("eins", "one"), ("drei", "three")]


@pytest.mark.parametrize("name", ["tatoeba", "news"])
def test_tables_are_read_and_further_columns_ignored(tmp_path, name):
    write_gz(tmp_path / CORPORA[name].folder / "train.tsv.gz", ["one\teins", "two\tzwei\tby someone"])
    assert load_corpus(tmp_path, name, "train", ("en", "de")) == [("one", "eins"), ("two", "zwei")]
    assert load_corpus(tmp_path, name, "train", ("de", "en")) == [("eins", "one"), ("zwei", "two")]


def test_a_line_of_a_table_without_a_tab_is_named(tmp_path):
    write_gz(tmp_path / "news-de-en" / "train.tsv.gz", ["one\teins", "two zwei"])
    with pytest.raises(ValueError, match=r"train\.tsv\.gz, line 2: expected English, a tab, German; got 'two zwei'"):
        load_corpus(tmp_path, "news", "train", BOTH)


@pytest.mark.parametrize(
    ("sentence", "variant"),
    [("It's late.", "its LATE"), ("Straße", "strasse"), ("e\u0301t\u00e9 x\u00b2", "\u00e9te\u0301 x2"), ("?!", "?!")],
    ids=["case and punctuation", "sharp s", "composed or not", "punctuation alone"],
)
def test_sentences_that_differ_in_nothing_else_are_comparable(sentence, variant):
    assert comparable(sentence) == comparable(variant) != ""


def test_sentences_of_punctuation_alone_are_not_all_the_same():
    assert leave_out([("?!", "?!"), ("Yes.", "Ja.")], ["..."]) == [("?!", "?!"), ("Yes.", "Ja.")]
