"""Words of two languages: cut, counted, saved, and put together again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from model.text import words as words_module
from model.text.special import PAD_ID, SPECIAL_TOKENS, UNK_ID
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer, WordTokenizers, read_tokenizer
from model.training.data.corpora import load_corpus
from tests.test_model.test_training.language import small_tokenizer

DATA = os.environ.get("HEADLIGHT_DATA")
TEXTS = ["Two men, a T-shirt and the dog's ball.", "A man isn't here (yet).", "the T-shirt, the man's dog (yet)"]


@pytest.fixture(scope="module")
def words() -> WordTokenizer:
    return WordTokenizer.train(TEXTS, "en", 1, lowercase=True)


def pair(words: WordTokenizer) -> WordTokenizers:
    return WordTokenizers(words, WordTokenizer("de", True, ["hund", "ein"]))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back_in_lower_case(words: WordTokenizer, text: str) -> None:
    assert words.decode(words.encode(text)) == text.lower()


def test_rare_words_are_unknown() -> None:
    often = WordTokenizer.train(TEXTS, "en", 2, lowercase=True)
    assert often.encode("ball") == [UNK_ID]
    assert often.tokens(often.encode("The ball")) == ["the", "<unk>"]
    assert often.decode(often.encode("The ball, dog")) == "the, dog"
    assert len(often) == len(SPECIAL_TOKENS) + len(set(often.tokens(range(4, len(often)))))


@pytest.mark.slow
def test_words_that_are_seen_are_not_kept_for_ever(words: WordTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "MAX_STRINGS", 4000)
    begun = words.encode("The man's dog")
    for start in range(0, 30_000, 500):
        words.encode(" ".join(f"x{n}x" for n in range(start, start + 500)))
    assert len(words_module._cutter("en").vocab.strings) <= 4000 + 500
    assert words.encode("The man's dog") == begun


def test_typed_text_is_never_special(words: WordTokenizer) -> None:
    assert PAD_ID not in words.encode("<pad> <s> </s> \ud800")


def test_its_file_brings_it_back(words: WordTokenizer) -> None:
    read = read_tokenizer(pair(words).to_json())
    assert isinstance(read, WordTokenizers)
    assert read.to_json() == pair(words).to_json()
    assert read.source.encode(TEXTS[0]) == words.encode(TEXTS[0]) and read.target.language == "de"
    assert isinstance(read_tokenizer(small_tokenizer().to_json()), Tokenizer)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda values: values.pop("target"), "have the keys type, source and target"),
        (lambda values: values.update(source=3), "the keys must be language"),
        (lambda values: values["source"].pop("words"), "the keys must be language"),
        (lambda values: values["source"].update(words=[3]), "words must be a list of texts"),
        (lambda values: values["source"].update(lowercase="yes"), "lowercase is 'yes'"),
        (lambda values: values["source"].update(language="fr"), "one of en, de, got 'fr'"),
        (lambda values: values["source"]["words"].append("<unk>"), "must differ from each other"),
        (lambda values: values.update(type="syllables"), "not a byte-pair tokenizer"),
    ],
)
def test_a_damaged_file_is_refused(words: WordTokenizer, change, says: str) -> None:
    values = json.loads(pair(words).to_json())
    change(values)
    with pytest.raises(ValueError, match=says):
        read_tokenizer(json.dumps(values))


@pytest.mark.skipif(not DATA, reason="set HEADLIGHT_DATA to the folder with the corpora")
def test_the_vocabularies_of_the_reference() -> None:
    """English is as large as stated; of German two words fewer: spaCy's rules have changed since."""
    german, english = zip(*load_corpus(Path(DATA), "multi30k", "train", ("de", "en"), as_meant=False))
    source, target = (WordTokenizer.train(t, language, 2, True) for t, language in ((german, "de"), (english, "en")))
    assert len(target) == 5893
    assert 7855 - 5 <= len(source) <= 7855
    first = source.encode(german[0]), target.encode(english[0])
    assert " ".join(source.tokens(first[0])) == "zwei junge weiße männer sind im freien in der nähe vieler büsche ."
    assert " ".join(target.tokens(first[1])) == "two young , white males are outside near many bushes ."
    assert target.decode(first[1]) == "two young, white males are outside near many bushes."


def test_a_noun_before_a_full_stop_is_not_written_close_to_the_next_word() -> None:
    texts = ["I'm in the house.", "a middle-aged man don't see (the house)."]
    words = WordTokenizer.train(texts, "en", 1, lowercase=False)
    for text in (*texts, "the house a man.", "a aged man in middle-house."):
        assert words.decode(words.encode(text)) == text
