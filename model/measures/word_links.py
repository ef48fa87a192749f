"""Sentence pairs with word links made by hand, by which word aligners are measured."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.storage.checkpoint import read_json
from model.training.data.corpora import read_lines

Links = frozenset[tuple[int, int]]
Listed = tuple[int, tuple[int, int], str]  # line, words, S (sure) or P
About = tuple[str, tuple[str, str], str]  # name, languages of source and target, who made the links
_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_LISTED = re.compile(r"(\w+)-(\w+)(?:\.ref)?\.wa")


@dataclass(frozen=True)
class LinkedPair:
    """One sentence pair and the links between its words."""

    number: int  # of its line, counted from 1
    source: str
    target: str
    source_words: list[str]  # which links count from 0
    target_words: list[str]
    sure: Links  # (source word, target word)
    possible: Links  # the sure ones among them

    def turned(self) -> "LinkedPair":
        """This pair with source and target exchanged."""
        return LinkedPair(
            self.number,
            source=self.target,
            target=self.source,
            source_words=self.target_words,
            target_words=self.source_words,
            sure=frozenset((t, s) for s, t in self.sure),
            possible=frozenset((t, s) for s, t in self.possible),
        )


@dataclass(frozen=True)
class LinkedText:
    """A set of linked sentence pairs."""

    name: str
    languages: tuple[str, str]  # of source and target
    made_by: str  # who made the links, as far as the files say
    pairs: list[LinkedPair]  # those that have links
    outside: int  # how many links were left out because they point outside their sentence

    def towards(self, source: str, target: str) -> "LinkedText":
        """These pairs between two languages, turned round where they must be; a ValueError for others."""
        if (source, target) == self.languages:
            return self
        if (target, source) != self.languages:
            raise ValueError(f"{self.name} links {' and '.join(self.languages)}, the checkpoint goes {source}-{target}")
        return replace(self, languages=(source, target), pairs=[pair.turned() for pair in self.pairs])


def read_linked_text(paths: Sequence[Path]) -> LinkedText:
    """Read pairs and their links; a ValueError names the file, the line and what is wrong there.

    Args:
        paths: a folder with X-Y.ref.wa (lines of sentence from 1, word of X from 0, word of Y from 0, S or P), test.X
            and test.Y, cut into words by spaces; or such a file or one of `model/measures/links/`, and the two texts.
    """
    if len(paths) == 1 and paths[0].is_dir():
        link_files = sorted(paths[0].glob("*.wa"))
        if len(link_files) != 1 or not (languages := _LISTED.fullmatch(link_files[0].name)):
            raise ValueError(f"{paths[0]} must hold one file of links, named like de-en.ref.wa")
        paths = [link_files[0], *(paths[0] / f"test.{language}" for language in languages.groups())]
    if len(paths) != 3:
        raise ValueError("give a folder with links and texts, or three files: the links and the text of each language")
    texts = [list(read_lines(path)) for path in paths[1:]]
    if len(texts[0]) != len(texts[1]):
        raise ValueError(f"{paths[1]} has {len(texts[0])} lines, {paths[2]} has {len(texts[1])}")
    lines = list(zip(texts[0], texts[1], strict=True))
    is_json = paths[0].suffix == ".json"
    about, listed = _read_json(paths[0], lines) if is_json else _read_list(paths[0])
    words = [[_WORD.findall(text) if is_json else text.split() for text in line] for line in lines]
    links: dict[int, dict[tuple[int, int], str]] = {}
    outside = 0
    for number, link, kind in listed:
        is_inside = 1 <= number <= len(lines)
        if is_inside and all(place < len(sentence) for place, sentence in zip(link, words[number - 1])):
            links.setdefault(number, {})[link] = kind
        else:
            outside += 1
    pairs = []
    for number, of_pair in sorted(links.items()):
        sure = frozenset(link for link, kind in of_pair.items() if kind == "S")
        source, target = lines[number - 1]
        source_words, target_words = words[number - 1]
        pairs.append(LinkedPair(number, source, target, source_words, target_words, sure, frozenset(of_pair)))
    name, languages, made_by = about
    return LinkedText(name, languages, made_by, pairs, outside)


def _read_list(path: Path) -> tuple[About, list[Listed]]:
    """The links of a text file, one a line: "sentence word word S"."""
    languages = _LISTED.fullmatch(path.name)
    if not languages:
        raise ValueError(f"{path}: the name must say which languages are linked, like de-en.ref.wa")
    links = []
    for number, line in enumerate(read_lines(path), start=1):
        match = re.fullmatch(r"(\d+) (\d+) (\d+) ([SP])", line.strip(), re.ASCII)
        if not match:
            raise ValueError(f"{path}, line {number}: expected sentence, word, word, S or P, got {line[:60]!r}")
        links.append((int(match[1]), (int(match[2]), int(match[3])), match[4]))
    return (path.parent.name, (languages[1], languages[2]), f"as in {path.name}"), links


def _read_json(path: Path, lines: list[tuple[str, str]]) -> tuple[About, list[Listed]]:
    """The links of a JSON file, by line number of raw texts, of which the file has only a hash each."""
    values = read_json(path)
    for key, kind in (("name", str), ("made_by", str), ("languages", list), ("pairs", list)):
        if not isinstance(values.get(key), kind):
            raise ValueError(f"{path} is not a file of links: {key} is missing or wrong")
    if len(values["languages"]) != 2:
        raise ValueError(f"{path} must name two languages, got {len(values['languages'])}")
    links = []
    for entry in values["pairs"]:
        if not isinstance(entry, dict) or (type(entry.get("line")), type(entry.get("links"))) != (int, str):
            raise ValueError(f"{path}: each pair has line, sha256 and links, got {str(entry)[:60]}")
        number = entry["line"]
        if not 1 <= number <= len(lines):
            raise ValueError(f"{path}: there is no line {number} in texts of {len(lines)} lines")
        if text_hash(*lines[number - 1]) != entry.get("sha256"):
            raise ValueError(f"{path}: line {number} of the texts is not the pair that was linked")
        for link in entry["links"].split():
            match = re.fullmatch(r"(\d+)-(\d+)", link, re.ASCII)
            if not match:
                raise ValueError(f"{path}, line {number} of the texts: expected links like 0-1, got {link!r}")
            links.append((number, (int(match[1]), int(match[2])), "S"))
    source, target = values["languages"]
    return (values["name"], (source, target), values["made_by"]), links


def text_hash(first: str, second: str) -> str:
    """The start of the SHA-256 of both texts, a tab between."""
    return hashlib.sha256(f"{first.strip()}\t{second.strip()}".encode()).hexdigest()[:16]
