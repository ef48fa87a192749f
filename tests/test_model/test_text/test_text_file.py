"""Files of texts that visitors bring: what is read of them, and the one sentence that each hostile one gets."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from model.text import text_file
from model.text.errors import Problem
from model.text.text_file import read_texts

BOMB = gzip.compress(b"a\n" * 11_000_000, mtime=0)
ARCHIVE = io.BytesIO()
with zipfile.ZipFile(ARCHIVE, "w") as archive:
    archive.writestr(zipfile.ZipInfo("a.txt"), "a text")


@pytest.mark.parametrize(
    "content",
    [
        "eins\n\n zwei \u200b\n\u200b\ndrei".encode(),
        "\ufeffeins\r\nzwei\r\ndrei\r\n".encode(),
        b"eins\rzwei\rdrei",
        gzip.compress(b"eins\nzwei\ndrei\n", mtime=0),
    ],
)
def test_lines_that_hold_something_are_texts(content: bytes) -> None:
    of_file = read_texts(content, is_pairs=False)
    assert of_file.texts == ["eins", "zwei", "drei"] and of_file.n_lines == 3


def test_pairs_are_the_first_two_columns() -> None:
    of_file = read_texts(b"A dog.\tEin  Hund.\tCC BY\n\nA cat.\tEine Katze.\n", is_pairs=True)
    assert of_file.texts == [("A dog.", "Ein Hund."), ("A cat.", "Eine Katze.")]


def test_of_a_long_file_texts_are_spread_over_it() -> None:
    n = 3 * text_file.MOST_TEXTS
    of_file = read_texts("\n".join(map(str, range(n))).encode(), is_pairs=False)
    assert of_file.n_lines == n and of_file.texts == [str(3 * place) for place in range(text_file.MOST_TEXTS)]


@pytest.mark.parametrize(
    ("content", "is_pairs", "words"),
    [
        (b"", False, "the file holds no text"),
        (" \n\u200b\n\t".encode(), False, "the file holds no text"),
        (b"\xe9\n", False, "the file is not text in UTF-8"),
        ("a text\n".encode("utf-16"), False, "the file is not text in UTF-8"),
        (ARCHIVE.getvalue(), False, "the file is not text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", False, "the file is not text in UTF-8"),
        (b"a text\n\0\n", False, "the file is not text in UTF-8"),
        (b"short\n" + b"a" * 20_001, False, "line 2 has more than 20,000 characters"),
        (b"a\tb\nno tab\n", True, "line 2 is not a pair: a text and its translation, with a tab between"),
        (b"\ta\n", True, "line 1 is not a pair: a text and its translation, with a tab between"),
        (gzip.compress(b"eins\nzwei\n", mtime=0)[:-9], False, "the compressed file is damaged"),
        (b"\x1f\x8b and no more", False, "the compressed file is damaged"),
        (BOMB, False, "the file has more than 20 MB"),
        (b"a\n" * 10_000_001, False, "the file has more than 20 MB"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(content: bytes, is_pairs: bool, words: str) -> None:
    with pytest.raises(Problem) as error:
        read_texts(content, is_pairs=is_pairs)
    assert str(error.value) == words
