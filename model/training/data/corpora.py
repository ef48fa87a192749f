"""Parallel corpora by name, read from a folder that the user names."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

Pair = tuple[str, str]
SPLITS = ("train", "valid")


@dataclass(frozen=True)
class Corpus:
    """A parallel corpus: where it comes from and how its files are read.

    Attributes:
        folder: the folder below the data folder.
        licence: in words, for the model card.
        read: (folder, split, language) -> the lines of one language.
    """

    folder: str
    licence: str
    read: Callable[[Path, str, str], list[str]]


def _read_multi30k(folder: Path, split: str, language: str) -> list[str]:
    name = {"train": "train", "valid": "val"}[split]
    return list(read_lines(folder / f"{name}.{language}.gz"))


def _read_tsv(folder: Path, split: str, language: str) -> list[str]:
    path, column = folder / f"{split}.tsv.gz", ("en", "de").index(language)
    sentences = []
    for number, line in enumerate(read_lines(path), start=1):
        if "\t" not in line:
            raise ValueError(f"{path}, line {number}: expected English, a tab, German; got {line[:80]!r}")
        sentences.append(line.split("\t")[column])
    return sentences


def _read_wmt16(folder: Path, split: str, language: str) -> list[str]:
    """Of the first tenth of the training file every tenth line is for validation, the others are for training."""
    sentences = _read_tsv(folder, "train", language)
    tenth = sentences[: max(1, len(sentences) // 10)]
    return [sentence for i, sentence in enumerate(tenth) if (i % 10 == 9) == (split == "valid")]


CORPORA = {
    "multi30k": Corpus("multi30k", "non-commercial research and education (Elliott et al. 2016, 2017)", _read_multi30k),
    "tatoeba": Corpus("tatoeba-de-en", "CC-BY 2.0 (tatoeba.org, manythings.org/anki)", _read_tsv),
    "news": Corpus("news-de-en", "WMT news test sets, research use", _read_tsv),
    "wmt16": Corpus("wmt16-de-en", "WMT 2016 training data (Europarl, Common Crawl, News), research use", _read_wmt16),
}


@dataclass(frozen=True)
class Text:
    """A text in one language: the folder below the data folder, and the licence in words."""

    folder: str
    licence: str


TEXTS = {"wikitext2": Text("wikitext-2", "CC-BY-SA 3.0 (Wikipedia; Merity et al. 2016)")}


def load_text(data_dir: Path, name: str, split: str) -> list[str]:
    """Read the lines of a text, words apart by spaces.

    Args:
        data_dir: the folder that holds the texts' folders.
        name: a key of TEXTS.
        split: "train", "valid" or "test".

    Raises:
        ValueError: if the name is unknown or a file is missing.
    """
    if name not in TEXTS:
        raise ValueError(f"unknown text {name!r}; there are {', '.join(TEXTS)}")
    folder = data_dir / TEXTS[name].folder
    if not folder.is_dir():
        raise ValueError(
            f"the text {name!r} is not in {data_dir} (no folder {TEXTS[name].folder}): put the word-level files of "
            "WikiText-2 there, gzip-compressed, as train.txt.gz, valid.txt.gz and test.txt.gz"
        )
    return list(read_lines(folder / f"{split}.txt.gz"))


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, gzip-compressed or not, without their line ends.

    Args:
        path: the file.

    Raises:
        ValueError: if it does not exist or is not UTF-8 text, in one sentence that names it.
    """
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            for line in file:
                yield line.rstrip("\r\n")
    except FileNotFoundError:
        raise ValueError(f"the file {path} does not exist") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"the file {path} cannot be read as UTF-8 text: {error}") from None


def load_corpus(data_dir: Path, name: str, split: str, languages: tuple[str, str]) -> list[Pair]:
    """Read the sentence pairs of one corpus.

    Args:
        data_dir: the folder that holds the corpora's folders.
        name: a key of CORPORA.
        split: "train" or "valid".
        languages: source and target, such as ("en", "de").

    Returns:
        The pairs in which neither side is empty.

    Raises:
        ValueError: if the name is unknown, a file is missing, or the sides differ in length.
    """
    if name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}")
    folder = data_dir / CORPORA[name].folder
    if not folder.is_dir():
        raise ValueError(
            f"the corpus {name!r} is not in {data_dir} (no folder {CORPORA[name].folder}); fetch it with: "
            f"python -m model download {name} --data-dir {data_dir}"
        )
    source, target = (CORPORA[name].read(folder, split, language) for language in languages)
    if len(source) != len(target):
        raise ValueError(f"{folder}: {len(source)} source lines but {len(target)} target lines in {split}")
    return [(s.strip(), t.strip()) for s, t in zip(source, target, strict=True) if s.strip() and t.strip()]


def leave_out(pairs: list[Pair], sentences: Collection[str]) -> list[Pair]:
    """Drop the pairs of which a side is one of the sentences, compared without case, punctuation and white space.

    Args:
        pairs: source and target.
        sentences: what must not be trained on.

    Returns:
        The other pairs, in order.

    Example:
        >>> leave_out([("Where is it?", "Wo ist es?"), ("Yes.", "Ja.")], ["where is it"])
        [('Yes.', 'Ja.')]
    """
    keys = {comparable(sentence) for sentence in sentences}
    return [pair for pair in pairs if not keys & {comparable(side) for side in pair}]


def comparable(sentence: str) -> str:
    """The letters and digits of a sentence without case, equal for sentences that differ in nothing else.

    Args:
        sentence: any text.

    Returns:
        What is to be compared; of a sentence without letters and digits, the sentence.

    Example:
        >>> comparable("It's 5 %."), comparable("!?")
        ('its5', '!?')
    """
    text = unicodedata.normalize("NFKC", sentence).casefold()
    return "".join(character for character in text if character.isalnum()) or text


def parse_mix(mix: str) -> dict[str, float]:
    """Read a mix such as "tatoeba + 2*multi30k".

    Args:
        mix: names joined by "+", each with an optional weight (how often it is seen in a pass) before "*".

    Returns:
        Name to weight.

    Raises:
        ValueError: if it is not such an expression, or a corpus is unknown or named twice.

    Example:
        >>> parse_mix("tatoeba + 2*multi30k")
        {'tatoeba': 1.0, 'multi30k': 2.0}
    """
    weights: dict[str, float] = {}
    for term in mix.split("+"):
        match = re.fullmatch(r"\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?([a-z0-9-]+)\s*", term)
        if not match:
            raise ValueError(f'a mix is written like "tatoeba + 2*multi30k", got {mix!r}')
        weight, name = match.groups()
        if name not in CORPORA | TEXTS:
            raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA | TEXTS)}")
        if name in weights:
            raise ValueError(f"the corpus {name!r} is named twice in {mix!r}")
        weights[name] = float(weight or 1)
    return weights
