"""Text as it is typed, pasted and read from files becomes what the models read."""

from __future__ import annotations

import unicodedata

import pytest

from model.storage.checkpoint import load
from model.text.cleaning import MEANT, MEANT_QUOTES, as_meant, source_text, tidy
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer, WordTokenizers, read_tokenizer
from tests.test_model.test_shipped import CHECKPOINTS

UNSEEN = {
    "soft hyphen": "\u00ad",
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "byte order mark": "\ufeff",
    "right-to-left mark": "\u200f",
    "override of the direction": "\u202e",
    "isolate": "\u2066",
    "word joiner": "\u2060",
    "variation selector": "\ufe0f",
    "another one": "\U000e0101",
    "Mongolian one": "\u180b",
    "tag": "\U000e0067",
    "Hangul filler": "\u3164",
    "grapheme joiner": "\u034f",
    "NUL": "\x00",
    "C1 control": "\x9f",
}
EMOJI = (
    "👩\u200d👩\u200d👧",
    "🏳\ufe0f\u200d🌈",
    "☀\ufe0f",
    "👍🏽",
    "🧑🏽\u200d🚀",
    "1\ufe0f\u20e3",
    "❤\ufe0f\u200d🔥",
    "🇩🇪",
)
SCOTLAND = "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbsct") + "\U000e007f"
PLAIN = (
    "The animal didn't cross the street because it was too tired.",
    "Die Straße führt über die Brücke – zum „Alten Schloss“, glaube ich.",
    "Ça coûte 3,50 €, soit 4 $ (5 %).",
    "Er sagte: ‚Nein‘ — und «ging».",
)


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_what_nobody_sees_goes_wherever_it_stands(unseen):
    assert tidy(f"{unseen}sta{unseen}tion {unseen} is{unseen}") == "station is"
    assert tidy(unseen) == tidy(f" {unseen}\n") == ""


@pytest.mark.parametrize("emoji", [*EMOJI, SCOTLAND])
def test_what_holds_an_emoji_together_stays(emoji):
    assert tidy(f"a {emoji}\u200b{emoji} b") == f"a {emoji}{emoji} b"
    assert as_meant(emoji) == emoji


def test_no_format_or_control_character_is_left_beside_a_letter():
    for character in map(chr, range(0x110000)):
        if unicodedata.category(character) in ("Cc", "Cf"):
            cleaned = "a b" if character.isspace() else "ab"
            assert tidy(f"a{character}b") == cleaned, hex(ord(character))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("It’s Tomʼs “own” ‘word’ …", "It's Tom's \"own\" 'word' ..."),
        ("The ﬁsh is in the ofﬁce.", "The fish is in the office."),
        ("Ｔｈｅ　ｄｏｇ！", "The dog!"),
        ("well\u2010known, non\u2011stop, \u22125", "well-known, non-stop, -5"),
        ("2½ cups, ¼ cup, 10² m", "2 1/2 cups, 1/4 cup, 10^2 m"),
        ("12 m², 3 cm³, x²", "12 m², 3 cm³, x2"),
        ("don´t", "don't"),
        ("cafe\u0301", "café"),
    ],
)
def test_what_only_looks_different_is_read_as_what_it_means(typed, meant):
    assert as_meant(typed) == meant


@pytest.mark.parametrize("text", PLAIN)
def test_sentences_that_are_plain_already_stay_as_they_are(text):
    assert tidy(text) == as_meant(text) == text


def test_cleaning_twice_changes_nothing_more():
    characters = (letter for letter in map(chr, range(0x30000)) if unicodedata.normalize("NFKC", letter) != letter)
    for character in (*characters, *MEANT, *MEANT_QUOTES, *UNSEEN.values()):
        for text in (character, f"1{character}2"):
            assert as_meant(as_meant(text)) == as_meant(text), hex(ord(character))
    assert not {*MEANT.values(), *MEANT_QUOTES.values()} & {*MEANT, *MEANT_QUOTES}


@pytest.mark.slow
def test_a_tokenizer_says_where_its_language_is_read_as_it_stands():
    for as_it_stands in (
        Tokenizer.train(PLAIN, 500, alphabet_size=60, as_meant=False),
        WordTokenizers(*(WordTokenizer.train(PLAIN, "en", 1, False) for _ in range(2))),
    ):
        as_it_stands.as_meant = False
        again = read_tokenizer(as_it_stands.to_json())
        assert again.as_meant is False and source_text("ﬁsh\u200b", again) == "ﬁsh"
        as_it_stands.as_meant = True
        again = read_tokenizer(as_it_stands.to_json())
        assert again.as_meant is True and source_text("ﬁsh\u200b", again) == "fish"
    text = as_it_stands.to_json().replace("{", '{"as_meant": 1,', 1)
    with pytest.raises(ValueError, match="as_meant must be true or false, got 1"):
        read_tokenizer(text)


@pytest.mark.parametrize("name", ["en-de", "de-en"])
def test_the_shipped_translators_read_it_so(name):
    assert load(CHECKPOINTS / name).tokenizer.as_meant
