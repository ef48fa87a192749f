"""Parallel corpora by name, read from a folder that the user names."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.training.data.more import GROUPS, MONOLINGUAL, MORE

Pair = tuple[str, str]
MAX_LINE = 1_000_000  # characters; files such as /dev/zero have no line end


@dataclass(frozen=True)
class Corpus:
    """Where a parallel corpus comes from and how its files are read."""

    folder: str  # below the data folder
    licence: str  # for the model card, with the attribution that it asks for
    read: Callable[[Path, str], list[Pair]]  # (folder, split) to English and German; none where there is no such split
    group: str  # what may be done with it, a key of `more.GROUPS`
    share: float = 1.0  # seen in a pass where a mix names its group


def _read_multi30k(folder: Path, split: str) -> list[Pair]:
    name = {"train": "train", "valid": "val"}[split]
    english, german = (list(read_lines(folder / f"{name}.{language}.gz")) for language in ("en", "de"))
    if len(english) != len(german):
        raise ValueError(f"{folder}: {len(english)} English lines but {len(german)} German lines in {split}")
    return list(zip(english, german, strict=True))


def _read_tsv(folder: Path, split: str) -> list[Pair]:
    return _read_table(folder / f"{split}.tsv.gz")


def _read_file(name: str, folder: Path, split: str) -> list[Pair]:
    return _read_table(folder / f"{name}.tsv.gz") if split == "train" else []


def _read_wmt16(folder: Path, split: str) -> list[Pair]:
    """The first tenth of the training file, of which every tenth line is for validation."""
    pairs = _read_tsv(folder, "train")
    tenth = pairs[: max(1, len(pairs) // 10)]
    return [pair for i, pair in enumerate(tenth) if (i % 10 == 9) == (split == "valid")]


def _read_table(path: Path) -> list[Pair]:
    """The pairs of a file of lines of English, a tab, German; a ValueError if a line is another."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        if "\t" not in line:
            raise ValueError(f"{path}, line {number}: expected English, a tab, German; got {line[:80]!r}")
        english, german, *_ = line.split("\t")
        pairs.append((english, german))
    return pairs


CORPORA = {
    "multi30k": Corpus(
        "multi30k", "non-commercial research and education (Elliott et al. 2016, 2017)", _read_multi30k, "nc"
    ),
    "tatoeba": Corpus("tatoeba-de-en", "CC-BY 2.0 (tatoeba.org, manythings.org/anki)", _read_tsv, "by"),
    "news": Corpus("news-de-en", "WMT news test sets, research use", _read_tsv, "res", 0.5),
    "wmt16": Corpus(
        "wmt16-de-en", "WMT 2016 training data (Europarl, Common Crawl, News), research use", _read_wmt16, "res", 0.0
    ),
} | {
    name: Corpus("more-de-en", f"{licence} ({origin})", partial(_read_file, name), group, share)
    for name, (group, share, licence, origin) in MORE.items()
}
BACK = "back-"  # before the name of a corpus that `python -m model backtranslate` made
BACK_FOLDER = "back-translated"


def find(name: str) -> Corpus:
    """The corpus of a key of CORPORA, or of back-NAME, read from back-translated/NAME.tsv.gz; else a ValueError."""
    if name in CORPORA:
        return CORPORA[name]
    text = name.removeprefix(BACK)
    if text in ("", name):
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}, and {BACK}NAME")
    group, licence = MONOLINGUAL.get(text, ("res", "not stated"))
    return Corpus(BACK_FOLDER, f"text: {licence}; translated by a model", partial(_read_file, text), group, 0.0)


@dataclass(frozen=True)
class Text:
    """A text in one language."""

    folder: str
    licence: str


TEXTS = {"wikitext2": Text("wikitext-2", "CC-BY-SA 3.0 (Wikipedia; Merity et al. 2016)")}


def load_text(data_dir: Path, name: str, split: str) -> list[str]:
    """The lines of a text of TEXTS ("train", "valid" or "test"), words apart by spaces; else a ValueError."""
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
    """The lines of a UTF-8 file, gzip-compressed or not; a ValueError if it is none, or a line is endless."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise ValueError(f"a line of {path} has more than {MAX_LINE:,} characters")
                yield line.rstrip("\r\n")
    except FileNotFoundError:
        raise ValueError(f"the file {path} does not exist") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"the file {path} cannot be read as UTF-8 text: {error}") from None


def load_corpus(data_dir: Path, name: str, split: str, languages: tuple[str, str]) -> list[Pair]:
    """The sentence pairs of the split ("train" or "valid") of a corpus, without those of which a side is empty.

    Raises:
        ValueError: if the name is unknown, a file is missing, or the sides differ in length.
    """
    corpus = find(name)
    folder = data_dir / corpus.folder
    if not folder.is_dir():
        advice = f"fetch it with: python -m model download {name} --data-dir {data_dir}"
        if corpus.folder == BACK_FOLDER:
            file = folder / f"{name.removeprefix(BACK)}.tsv.gz"
            advice = f"make its file with: python -m model backtranslate --out {file}"
        raise ValueError(f"the corpus {name!r} is not in {data_dir} (no folder {corpus.folder}); {advice}")
    step = 1 if languages == ("en", "de") else -1
    pairs = ((english.strip(), german.strip())[::step] for english, german in corpus.read(folder, split))
    return [pair for pair in pairs if all(pair)]


def leave_out(pairs: list[Pair], sentences: Collection[str]) -> list[Pair]:
    """The pairs of which no side is one of the sentences, compared without case, punctuation and white space.

    Example:
        >>> leave_out([("Where is it?", "Wo ist es?"), ("Yes.", "Ja.")], ["where is it"])
        [('Yes.', 'Ja.')]
    """
    keys = {comparable(sentence) for sentence in sentences}
    return [pair for pair in pairs if not keys & {comparable(side) for side in pair}]


def comparable(sentence: str) -> str:
    """The letters and digits without case; of a sentence without any, the sentence.

    Example:
        >>> comparable("It's 5 %."), comparable("!?")
        ('its5', '!?')
    """
    text = unicodedata.normalize("NFKC", sentence).casefold()
    return "".join(character for character in text if character.isalnum()) or text


def parse_mix(mix: str) -> dict[str, float]:
    """Name to weight, of a mix such as "tatoeba + 2*multi30k" or "cc0 + by + 0*tldr".

    A weight says how often a corpus is seen in a pass; a fraction draws again in each. A group of licences
    (`more.GROUPS`) stands for its corpora with their own shares, times its weight, and "all" for all groups; what is
    named besides has the weight said there, and with 0 is left out. Anything else is a ValueError.

    Example:
        >>> parse_mix("tatoeba + 2*multi30k")
        {'tatoeba': 1.0, 'multi30k': 2.0}
        >>> parse_mix("0.5*cc0 + tatoeba")
        {'mlqe-pe': 0.5, 'tatoeba': 1.0}
    """
    named: dict[str, float] = {}
    for term in mix.split("+"):
        match = re.fullmatch(r"\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?([a-z0-9-]+)\s*", term)
        if not match:
            raise ValueError(f'a mix is written like "tatoeba + 2*multi30k", got {mix!r}')
        weight, name = match.groups()
        if name in named:
            raise ValueError(f"the corpus {name!r} is named twice in {mix!r}")
        if name not in (*TEXTS, *GROUPS, "all"):
            find(name)
        named[name] = float(weight or 1)
    weights: dict[str, float] = {}
    for name, weight in named.items():
        members = {name: weight}
        if name in (*GROUPS, "all"):
            members = {one: corpus.share * weight for one, corpus in CORPORA.items() if name in (corpus.group, "all")}
        weights |= {one: share for one, share in members.items() if one not in named or one == name}
    groups = [name for name in named if name in (*GROUPS, "all")]
    return {name: weight for name, weight in weights.items() if weight or not groups}
