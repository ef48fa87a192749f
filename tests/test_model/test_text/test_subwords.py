"""Any text becomes ids and comes back, nothing typed is special, and a tokenizer's file can change neither."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from model.text.special import BOS_ID, BYTE_TOKENS, EOS_ID, MARK, PAD_ID, SPECIAL_TOKENS, UNK_ID
from model.text.subwords import Tokenizer

ROOT = Path(__file__).resolve().parents[3]
N_RESERVED = len(SPECIAL_TOKENS) + len(BYTE_TOKENS)
SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "the cat and the dog and the bird, 1984 and 2024!",
    "He said: <b>no</b>, didn't he?",
]

# Text that something in the way might trip over.
AWKWARD = [
    "",
    " ",
    "   two  spaces   ",
    "\n",
    "a\nb\r\n\tc\x0b\x0c",
    "\x00\x01\x1f\x7f\x85",
    MARK,
    f"{MARK}a{MARK}{MARK} b{MARK}",
    f" {MARK} ",
    "<s>",
    "</s><pad><unk>",
    "a<s>b </s> c",
    "<0x41><0xFF>",
    "<mark>",
    "\u2028\u2029\u00a0\u3000\ufeff",
    "\ufeffstarts with a byte order mark",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "שלום עולم مرحبا \u202eabc\u202c",
    "नमस्ते ไทย 漢字かな 한국어",
    "e\u0301 \u1e9b\u0323 \u212b \ufb01 q\u0307\u0323",
    "\u0301begins with a combining mark",
    "\u1112\u1161\u11ab",
    "unpaired \ud800 and \udfff surrogates",
    "a pair in two halves: \ud83d\ude00",
    "\ufffd\ufffe\uffff\U0010ffff",
    "ß ẞ ŉ Ω ½ ² ٣ Ⅷ",
    "don't stop-it e.g. 3.14 (x)",
]


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=420, alphabet_size=40)


def tampered(change: Callable[[dict[str, Any]], Any]) -> str:
    """The tokenizer's JSON after a change."""
    values = json.loads(tokenizer().to_json())
    change(values)
    return json.dumps(values)


def as_unicode(text: str) -> str:
    """What comes back: surrogates that are not a pair are not text; the rest in Unicode's composed form (NFC)."""
    pairs = re.sub(
        "([\ud800-\udbff])([\udc00-\udfff])",
        lambda match: chr(0x10000 + ((ord(match[1]) - 0xD800) << 10) + ord(match[2]) - 0xDC00),
        text,
    )
    return unicodedata.normalize("NFC", re.sub("[\ud800-\udfff]", "\ufffd", pairs))


def check(text: str) -> None:
    """All that holds for any text."""
    tok = tokenizer()
    ids = tok.encode(text)
    assert tok.decode(ids) == as_unicode(text)
    assert all(len(SPECIAL_TOKENS) <= index < len(tok) for index in ids)
    assert (not ids) == (not text)
    vocab = tok.backend.get_vocab()
    assert [vocab[token] for token in tok.tokens(ids)] == ids
    # Special tokens around it give nothing.
    assert tok.decode([BOS_ID, *ids, EOS_ID, PAD_ID, UNK_ID]) == as_unicode(text)
    # Subwords are formed inside the pieces.
    assert [index for piece in tok.pieces(text) for index in tok.piece_ids(piece)] == ids


any_character = st.characters(codec=None, categories=None)  # surrogates too
snippet = st.sampled_from([*AWKWARD, *SENTENCES, *SPECIAL_TOKENS, *BYTE_TOKENS[:3], MARK, " ", "the", "<", "0x41", ">"])


class TestRoundTrip:
    @pytest.mark.parametrize("text", AWKWARD, ids=ascii)
    def test_awkward(self, text: str) -> None:
        check(text)

    @pytest.mark.parametrize("text", SENTENCES)
    def test_what_it_was_trained_on(self, text: str) -> None:
        check(text)

    @given(st.text(any_character))
    def test_any_text(self, text: str) -> None:
        check(text)

    @pytest.mark.slow
    @given(st.lists(snippet | st.text(any_character, max_size=2), max_size=8).map("".join))
    def test_any_mixture(self, text: str) -> None:
        check(text)

    def test_surrogates_are_among_them(self) -> None:
        """The strategies above would prove less if they drew none."""
        assert find(any_character, lambda character: 0xD800 <= ord(character) < 0xE000)
        assert as_unicode("\ud800") == "\ufffd" and as_unicode("\ud83d\ude00") == "\U0001f600"

    def test_every_letter_in_use(self) -> None:
        """Hypothesis sees few characters; here are all up to the ideographs, and some of the million beyond."""
        rng = random.Random(0)
        points = [*range(0x3400), *rng.sample([*range(0x3400, 0xD800), *range(0xE000, 0x110000)], 7000)]
        rng.shuffle(points)
        text = "".join(map(chr, points))
        assert tokenizer().decode(tokenizer().encode(text)) == unicodedata.normalize("NFC", text)

    def test_a_long_text(self) -> None:
        check("The animal didn't cross. \U0001f600 " * 400)


class TestTokens:
    def test_reserved_ids(self) -> None:
        tok = tokenizer()
        assert (PAD_ID, BOS_ID, EOS_ID, UNK_ID) == (0, 1, 2, 3)
        assert tok.tokens(range(N_RESERVED)) == ["<pad>", "<s>", "</s>", "<unk>", *(f"<0x{n:02X}>" for n in range(256))]

    def test_a_word_begins_with_the_mark_of_the_space_before_it(self) -> None:
        tok = tokenizer()
        assert "".join(tok.tokens(tok.encode("the cat"))) == f"{MARK}the{MARK}cat"
        assert tok.encode("the the") == tok.encode("the") * 2
        assert tok.encode("athe") != tok.encode("a the")

    def test_punctuation_stands_apart(self) -> None:
        assert tokenizer().pieces("tired. (1984)don't") == [
            f"{MARK}tired", ".", f"{MARK}(", "1", "9", "8", "4", ")", "don", "'", "t",
        ]  # fmt: skip

    def test_frequent_words_are_merged_and_rare_characters_are_bytes(self) -> None:
        tok = tokenizer()
        assert tok.tokens(tok.encode("the")) == [f"{MARK}the"]
        # A new character after a space: the mark stands alone, then the bytes of its UTF-8.
        assert tok.tokens(tok.encode("\U0001f600")) == [MARK, "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]

    def test_typed_special_tokens_are_text(self) -> None:
        tok = tokenizer()
        for typed in SPECIAL_TOKENS:
            ids = tok.encode(typed)
            assert min(ids) > UNK_ID and tok.decode(ids) == typed
        ids = tok.encode("<0x41>")
        assert tok.decode(ids) == "<0x41>" and len(SPECIAL_TOKENS) + 0x41 not in ids

    @pytest.mark.parametrize("bad", [-1, -420, 10**6, 2**32, 2**70])
    def test_ids_out_of_range(self, bad: int) -> None:
        tok = tokenizer()
        for read in (tok.decode, tok.tokens):
            with pytest.raises(ValueError, match=f"token ids must be 0 to {len(tok) - 1}, got {bad}"):
                read([5, bad])
        with pytest.raises(ValueError, match=f"got {len(tok)}"):
            tok.decode([len(tok)])
        assert len(tok.tokens([len(tok) - 1])) == 1

    @given(st.lists(st.integers(0, len(tokenizer()) - 1)))
    def test_a_model_may_write_anything(self, ids: list[int]) -> None:
        """Any ids decode, to text that can be written out as UTF-8."""
        tokenizer().decode(ids).encode("utf-8")

    @given(st.binary(min_size=1))
    def test_bytes_decode_as_utf8_or_to_the_replacement_character(self, data: bytes) -> None:
        text = tokenizer().decode([UNK_ID + 1 + byte for byte in data])
        try:
            expected = data.decode("utf-8")
            assert text == expected[expected.startswith(" ") :]  # the space before the first word is not text
        except UnicodeDecodeError:
            assert "\ufffd" in text

    def test_a_cut_character(self) -> None:
        assert tokenizer().decode([4 + 0xF0, 4 + 0x9F]) == "\ufffd\ufffd"


class TestTraining:
    @pytest.mark.slow
    def test_is_deterministic_between_processes(self, capsys) -> None:
        """With many equally frequent characters at the limit of the alphabet: hash tables iterate in random order."""
        letters = "".join(map(chr, [*range(0x61, 0x7B), *range(0x3B1, 0x3C9)]))
        program = (
            "from model.text.subwords import Tokenizer\n"
            f"texts = [{letters!r}, ' '.join({letters!r}), 'ab ab cd cd ef ef']\n"
            "print(Tokenizer.train(texts, 300, 20).to_json().encode('utf-8'))"
        )
        process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert process.returncode == 0, process.stderr
        exec(program)
        assert capsys.readouterr().out == process.stdout

    def test_is_deterministic_within_a_process(self) -> None:
        texts = ["".join(chr(point) for point in range(0x61, 0x7B)), "ab ab cd cd ef ef"]
        assert len({Tokenizer.train(texts, 300, 20).to_json() for _ in range(8)}) == 1

    def test_the_alphabet_is_the_most_frequent_characters(self) -> None:
        tok = Tokenizer.train(["aaaa bbb cc d"], vocab_size=N_RESERVED + 4 + 1, alphabet_size=4)
        characters = [token for token in tok.tokens(range(N_RESERVED, len(tok))) if len(token) == 1]
        assert sorted(characters) == ["a", "b", "c", MARK]  # four words, so four marks
        assert tok.tokens(tok.encode("d"))[-1] == "<0x64>"

    def test_texts_may_be_a_generator(self) -> None:
        assert Tokenizer.train(iter(SENTENCES), 420, 40).to_json() == tokenizer().to_json()

    def test_size(self) -> None:
        assert len(tokenizer()) <= 420
        assert len(Tokenizer.train(SENTENCES, 330, 40)) == 330

    def test_no_room_for_merges(self) -> None:
        with pytest.raises(ValueError, match="vocab_size must be above 300 .* got 300"):
            Tokenizer.train(SENTENCES, 300, 40)

    def test_nothing_random_is_saved(self) -> None:
        values = json.loads(tokenizer().to_json())
        assert values["model"]["dropout"] is None
        assert values["added_tokens"] == []


class TestJson:
    def test_round_trip(self) -> None:
        text = tokenizer().to_json()
        read = Tokenizer.from_json(text)
        assert read.to_json() == text
        assert all(read.encode(sentence) == tokenizer().encode(sentence) for sentence in [*SENTENCES, *AWKWARD])

    def test_dropout_is_ignored(self) -> None:
        read = Tokenizer.from_json(tampered(lambda values: values["model"].update(dropout=0.9)))
        for _ in range(20):
            assert [read.encode(text) for text in SENTENCES] == [tokenizer().encode(text) for text in SENTENCES]

    def test_added_tokens_are_ignored(self) -> None:
        added = [
            {"id": index, "content": content, "single_word": False, "lstrip": False, "rstrip": False}
            | {"normalized": False, "special": special}
            for index, content, special in ((1, "<s>", True), (2, "</s>", True), (9000, "the", False))
        ]
        read = Tokenizer.from_json(tampered(lambda values: values.update(added_tokens=added)))
        assert len(read) == len(tokenizer())
        for text in ("<s>", "a </s> b", "the cat"):
            assert read.encode(text) == tokenizer().encode(text)

    def test_what_else_it_says_of_the_pipeline_is_ignored(self) -> None:
        def change(values: dict[str, Any]) -> None:
            values["normalizer"] = {"type": "Lowercase"}
            values["truncation"] = {"max_length": 1, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
            values["pre_tokenizer"] = values["decoder"] = values["post_processor"] = None

        read = Tokenizer.from_json(tampered(change))
        assert read.to_json() == tokenizer().to_json()

    def test_merges_as_strings(self) -> None:
        """How older files of the library write them."""
        old = tampered(lambda values: values["model"].update(merges=[" ".join(m) for m in values["model"]["merges"]]))
        assert Tokenizer.from_json(old).to_json() == tokenizer().to_json()

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda values: values.pop("model"), "not a byte-pair tokenizer"),
            (lambda values: values["model"].pop("merges"), "not a byte-pair tokenizer"),
            (lambda values: values["model"].update(vocab=[]), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["merges"].append(["qq", "zz"]), "not a byte-pair tokenizer.*qq"),
            (lambda values: values["model"]["vocab"].pop(max(values["model"]["vocab"], key=len)), "not a byte-pair"),
            (lambda values: values["model"]["merges"].append(["a", "b", "c"]), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["merges"].append(7), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"x!": -1}), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"x!": 2**40}), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"x!": None}), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"x!": "many"}), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"\ud800": 5}), "not a byte-pair tokenizer"),
            (lambda values: values["model"]["vocab"].update({"<s>": 2, "</s>": 1}), "<s> must have id 1, .* 2"),
            (lambda values: values["model"]["vocab"].pop("<unk>"), "<unk> must have id 3, .* None"),
            (lambda values: values["model"]["vocab"].update({"<0x41>": 4}), "<0x41> must have id 69, .* 4"),
            (lambda values: values["model"]["vocab"].update({"x!": 9000}), r"token ids must be 0 to \d+ without gaps"),
            (lambda values: values["model"]["vocab"].update({"x!": 300}), r"token ids must be 0 to \d+ without gaps"),
        ],
    )
    def test_refused(self, change: Callable, words: str) -> None:
        with pytest.raises(ValueError, match=words) as caught:
            Tokenizer.from_json(tampered(change))
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("text", ["", "{", "null", "[]", "3", '"x"', "{}", '{"model": 3}', "[" * 100_000])
    def test_not_even_nearly(self, text: str) -> None:
        with pytest.raises(ValueError, match="not a byte-pair tokenizer: .") as caught:
            Tokenizer.from_json(text)
        assert "\n" not in str(caught.value)
