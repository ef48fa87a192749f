"""Parallel corpora by name, and mixes of them, read from a folder that the user names."""

import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.text import cleaning

Pair = tuple[str, str]
MAX_LINE = 1_000_000  # characters; files such as /dev/zero have no line end

# What may be done with a corpus, from the most to the least.
GROUPS = {
    "cc0": "no conditions",
    "by": "attribution",
    "perm": "permissive software licences and weak copyleft",
    "sa": "share alike",
    "gpl": "copyleft on the text; whether weights inherit it is not settled",
    "res": "published for research, without a licence file",
    "nc": "not for commercial use",
}
_GPL2 = "GPL-2 or later"
# Name to group, share seen in a pass, licence and origin. more-de-en/NAME.tsv.gz holds no sentence of our validation
# or test sets, but published test sets on which nothing may be scored then: Tatoeba's of 2020-2021, newstest2019
# (ntrex), WMT21 to WMT24.
MORE: dict[str, tuple[str, float, str, str]] = {
    "xdailydialog": ("nc", 1.0, "CC BY-NC-SA 4.0", "XDailyDialog, everyday dialogues"),
    "bcontrast": ("sa", 0.7, "CC BY-SA 4.0", "Unbabel BConTrasT, customer chats"),
    "ding-examples": ("gpl", 1.0, _GPL2, "examples of the Ding dictionary, TU Chemnitz, trans-de-en 1.9"),
    "ding-dict": ("gpl", 0.15, _GPL2, "entries of the Ding dictionary, TU Chemnitz, trans-de-en 1.9"),
    "tatoeba-testsets-rest": ("by", 1.0, "CC BY 2.0 FR", "Tatoeba, test sets of the Tatoeba Challenge 2020-2021"),
    "tatoeba-2018-06-new": ("by", 1.0, "CC BY 2.0 FR", "Tatoeba through manythings.org, 2018-06"),
    "mlqe-pe": ("cc0", 1.0, "CC0 1.0", "MLQE-PE, Wikipedia sentences, post-edited"),
    "mt-geneval": ("sa", 0.7, "CC BY-SA 3.0", "MT-GenEval, Wikipedia sentences, Amazon"),
    "xquad": ("sa", 1.0, "CC BY-SA 4.0", "XQuAD, Google DeepMind"),
    "pud": ("sa", 1.0, "CC BY-SA 3.0", "Parallel Universal Dependencies, English and German"),
    "qald": ("by", 1.0, "CC BY 4.0", "QALD-9-plus, questions"),
    "ntrex": ("sa", 0.7, "CC BY-SA 4.0", "NTREX, newstest2019, Microsoft"),
    "wmt21-23": ("res", 0.5, "WMT data, research use", "WMT test sets of 2021-2023"),
    "wmt24": ("res", 0.5, "WMT data, research use", "WMT test set of 2024"),
    "cocoa-mt": ("sa", 0.5, "CDLA-Sharing-1.0", "CoCoA-MT, formal and informal speech, Amazon"),
    "woz": ("perm", 0.3, "Apache-2.0", "WOZ restaurant dialogues, Neural Belief Tracker"),
    "xsid": ("sa", 0.3, "CC BY-SA 4.0", "xSID, commands to voice assistants"),
    "stsb-mt": ("sa", 0.4, "CC BY-SA 4.0", "STSb Multi MT, translated by DeepL"),
    "games-l10n": ("gpl", 0.4, _GPL2, "Wesnoth, FreedroidRPG, Freeciv, Widelands, Warzone 2100 and others"),
    "games2-l10n": ("gpl", 0.3, "GPL-2 or GPL-3, CC BY-SA 3.0", "Naev, 0 A.D., FreeOrion, Unknown Horizons"),
    "shattered-pd": ("gpl", 0.3, "GPL-3", "Shattered Pixel Dungeon"),
    "fillets": ("gpl", 0.5, _GPL2, "Fish Fillets NG"),
    "libreoffice-help": ("perm", 0.15, "MPL-2.0", "LibreOffice 7.4 help"),
    "gnome-help": ("sa", 0.4, "CC BY 3.0, CC BY-SA 3.0", "GNOME user help"),
    "debian-handbook": ("gpl", 0.2, "GPL-2 or later, or CC BY-SA 3.0", "The Debian Administrator's Handbook"),
    "debian-docs": ("gpl", 0.15, _GPL2, "Debian FAQ, installation guide, Edu manual, developers reference"),
    "ui-messages": ("gpl", 0.07, "GPL-2, GPL-3 or LGPL of each program", "messages of 150 GNOME, KDE and GNU programs"),
    "edu-l10n": ("gpl", 0.3, _GPL2, "KStars, Kalzium, KGeography, GCompris and others"),
    "iso-names": ("perm", 0.2, "LGPL-2.1 or later", "iso-codes: names of countries, languages, currencies"),
    "osm-presets": ("perm", 0.2, "ISC", "OpenStreetMap id-tagging-schema"),
    "osm-website": ("gpl", 0.2, "GPL-2", "OpenStreetMap website"),
    "mozilla-www": ("perm", 0.3, "MPL-2.0", "mozilla.org, www-l10n"),
    "ms-business": ("by", 0.1, "CC BY 4.0", "Microsoft Dynamics 365 Business Central documentation"),
    "rust-book": ("perm", 0.3, "MIT or Apache-2.0", "The Rust Programming Language, rust-lang-de"),
    "tldr": ("by", 0.05, "CC BY 4.0", "tldr pages"),
    "gimp-help": ("sa", 0.1, "GFDL-1.2 or later", "GIMP manual"),
    "blender-manual": ("sa", 0.1, "CC BY-SA 4.0", "Blender manual"),
}
# Of texts in one language, for back-translation: NAME in back-NAME to group and licence.
MONOLINGUAL = {
    "thorsten": ("cc0", "CC0 1.0 (prompts of Thorsten-Voice)"),
    "wiki-cv": ("sa", "CC0 1.0, CC BY-SA (Common Voice, Wikipedia)"),
    "mimic": ("res", "not stated (prompts of Mimic Recording Studio)"),
    "tatoeba-en": ("by", "CC-BY 2.0 (English of tatoeba.org, manythings.org/anki)"),  # for distillation
}


@dataclass(frozen=True)
class Corpus:
    """Where a parallel corpus lies, how it is read, and what may be done with it."""

    folder: str  # below the data folder
    licence: str  # for the model card, with the attribution that it asks for
    read: Callable[[Path, str], list[Pair]]  # of folder and split English and German, none without such a split
    group: str  # a key of GROUPS
    share: float = 1.0  # seen in a pass where a mix names its group


def _read_multi30k(folder: Path, split: str) -> list[Pair]:
    name = {"train": "train", "valid": "val"}[split]
    english, german = (list(read_lines(folder / f"{name}.{language}.gz")) for language in ("en", "de"))
    if len(english) != len(german):
        raise ValueError(f"{folder}: {len(english)} English lines but {len(german)} German lines in {split}")
    return list(zip(english, german))


def _read_tsv(folder: Path, split: str) -> list[Pair]:
    pairs = []
    path = folder / f"{split}.tsv.gz"
    for number, line in enumerate(read_lines(path), start=1):
        if "\t" not in line:
            raise ValueError(f"{path}, line {number}: expected English, a tab, German; got {line[:80]!r}")
        english, german, *_ = line.split("\t")
        pairs.append((english, german))
    return pairs


def _read_file(name: str, folder: Path, split: str) -> list[Pair]:
    return _read_tsv(folder, name) if split == "train" else []


def _read_wmt16(folder: Path, split: str) -> list[Pair]:
    """The first tenth of the file, of which every tenth line is for validation."""
    pairs = _read_tsv(folder, "train")
    tenth = pairs[: max(1, len(pairs) // 10)]
    return [pair for i, pair in enumerate(tenth) if (i % 10 == 9) == (split == "valid")]


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
# Texts in one language: name to folder and licence.
TEXTS = {"wikitext2": ("wikitext-2", "CC-BY-SA 3.0 (Wikipedia; Merity et al. 2016)")}


def find(name: str) -> Corpus:
    """The corpus of a key of CORPORA, or of back-NAME; else a ValueError."""
    if name in CORPORA:
        return CORPORA[name]
    text = name.removeprefix(BACK)
    if text in ("", name):
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}, and {BACK}NAME")
    group, licence = MONOLINGUAL.get(text, ("res", "not stated"))
    return Corpus(BACK_FOLDER, f"text: {licence}; translated by a model", partial(_read_file, text), group, 0.0)


def load_text(data_dir: Path, name: str, split: str) -> list[str]:
    """The lines of a text of TEXTS ("train", "valid" or "test"); a ValueError says what is missing."""
    if name not in TEXTS:
        raise ValueError(f"unknown text {name!r}; there are {', '.join(TEXTS)}")
    folder, _ = TEXTS[name]
    if not (data_dir / folder).is_dir():
        raise ValueError(
            f"the text {name!r} is not in {data_dir} (no folder {folder}): put the word-level files of "
            "WikiText-2 there, gzip-compressed, as train.txt.gz, valid.txt.gz and test.txt.gz"
        )
    return list(read_lines(data_dir / folder / f"{split}.txt.gz"))


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, gzip-compressed if so named; a ValueError if it is none, or a line is endless.

    A byte order mark at the beginning, and CR before LF, are left out.
    """
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            number = 0
            while line := file.readline(4 * MAX_LINE + 1):  # a character has at most four bytes
                number += 1
                text = decoded(line, f"{path}, line {number}") if len(line) <= 4 * MAX_LINE else ""
                if not text or len(text) > MAX_LINE:
                    raise ValueError(f"{path}, line {number} has more than {MAX_LINE:,} characters")
                yield (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")
    except FileNotFoundError:
        raise ValueError(f"the file {path} does not exist") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"the file {path} cannot be read: {error}") from None


def decoded(line: bytes, where: str) -> str:
    """A line as text; a ValueError says where it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"{where} is not UTF-8 text: byte {error.start + 1} is 0x{byte:02X}") from None


def load_corpus(data_dir: Path, name: str, split: str, languages: tuple[str, str], as_meant: bool = True) -> list[Pair]:
    """The pairs of a split ("train" or "valid") whose sides are not empty; a ValueError says what is missing.

    Both sides are tidied, and characters of the source `as_meant`, as those that a translator is given; without
    as_meant texts stay as they are, their white space too, but for what nobody sees.
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
    read_source, read_target = (cleaning.as_meant, cleaning.tidy) if as_meant else (cleaning.visible,) * 2
    pairs = (
        (read_source(source), read_target(target))
        for source, target in (pair[::step] for pair in corpus.read(folder, split))
    )
    return [pair for pair in pairs if all(pair)]


def leave_out(pairs: list[Pair], sentences: Collection[str]) -> list[Pair]:
    """The pairs of which no side is one of the sentences, as `comparable` compares them."""
    keys = set(map(comparable, sentences))
    return [pair for pair in pairs if keys.isdisjoint(map(comparable, pair))]


def comparable(sentence: str) -> str:
    """The letters and digits without case, "its5" of "It's 5 %."; of a sentence without any, the sentence."""
    text = unicodedata.normalize("NFKC", sentence).casefold()
    return re.sub(r"[\W_]+", "", text) or text


def parse_mix(mix: str) -> dict[str, float]:
    """Name to weight, of a mix such as "tatoeba + 2*multi30k" or "cc0 + by + 0*tldr"; else a ValueError.

    A weight says how often a corpus is seen in a pass; a fraction draws again in each. A key of GROUPS stands for its
    corpora with their own shares, times its weight, and "all" for all groups; what is named besides has the weight
    said there, and with 0 is left out.

    Example:
        >>> parse_mix("0.5*cc0 + tatoeba")
        {'mlqe-pe': 0.5, 'tatoeba': 1.0}
    """
    shares: dict[str, float] = {}
    for term in mix.split("+"):
        match = re.fullmatch(r"\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?([a-z0-9-]+)\s*", term)
        if not match:
            raise ValueError(f'a mix is written like "tatoeba + 2*multi30k", got {mix!r}')
        weight, name = match.groups()
        if name in shares:
            raise ValueError(f"the corpus {name!r} is named twice in {mix!r}")
        if name not in (*TEXTS, *GROUPS, "all"):
            find(name)
        shares[name] = float(weight or 1)
    groups = [name for name in shares if name in (*GROUPS, "all")]
    weights: dict[str, float] = {}
    for name, weight in shares.items():
        members = {name: weight}
        if name in groups:
            members = {key: corpus.share * weight for key, corpus in CORPORA.items() if name in (corpus.group, "all")}
        weights |= {member: share for member, share in members.items() if member not in shares or member == name}
    return {name: weight for name, weight in weights.items() if weight or not groups}
