"""Fetches the public originals of the corpora into the layout that `load_corpus` reads. Nothing that exists is
replaced, and a file gets its name only when it is whole: it is fetched to NAME.part, checked and renamed.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import urllib.error
import urllib.request
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from model.checkpoint import replacing
from model.training.data.corpora import CORPORA, Pair, comparable
from model.training.data.more import MORE

URLS = {
    "multi30k": "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw",  # a folder
    "tatoeba": "https://www.manythings.org/anki/deu-eng.zip",
}
MULTI30K_SPLITS = ("train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
TSV_FILES = ("train.tsv.gz", "valid.tsv.gz", "test.tsv.gz")
MAX_BYTES = 200_000_000  # of one file as it is fetched
MAX_TEXT_BYTES = 300_000_000  # of its text when unpacked
TIMEOUT_SECONDS = 30.0
# manythings.org refuses the name that urllib gives itself.
_USER_AGENT = "Mozilla/5.0 (compatible; Headlight)"
_CHUNK = 1 << 16
_ZIP_MEMBER = "deu.txt"
# So many pairs that share sentences stay in training, lest one cluster be the whole of a test set.
_MAX_CLUSTER = 100


def download(name: str, data_dir: Path, url: str | None = None) -> list[Path]:
    """Fetch a corpus of CORPORA, and return its files; what is there already is kept.

    Tatoeba grows: its splits, made here, are not those of an older file, and scores on their test sets differ.

    Raises:
        ValueError: if anything could not be fetched or is not what it should be; one sentence says what to do.
    """
    if name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}")
    folder = data_dir / CORPORA[name].folder
    if name not in URLS:
        return _put_by_hand(name, folder)
    fetch = {"multi30k": _multi30k, "tatoeba": _tatoeba}[name]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return fetch(folder, url or URLS[name])
    except OSError as error:  # of the disk; those of the network have become ValueErrors
        raise ValueError(f"{folder} cannot be written: {error}") from None


def _multi30k(folder: Path, url: str) -> list[Path]:
    for split in MULTI30K_SPLITS:
        counts = {}
        for path in (folder / f"{split}.en.gz", folder / f"{split}.de.gz"):
            if not path.exists():
                _fetch(f"{url.rstrip('/')}/{path.name}", path, _count_lines)
            counts[path] = _kept(path, _count_lines)
        (first, lines), (second, others) = counts.items()
        if lines != others:
            raise ValueError(f"{first} has {lines} lines, {second.name} has {others}: delete both and download again")
    return [folder / f"{split}.{language}.gz" for split in MULTI30K_SPLITS for language in ("en", "de")]


def _tatoeba(folder: Path, url: str) -> list[Path]:
    paths = [folder / name for name in TSV_FILES]
    there = [path.name for path in paths if path.exists()]
    if there:
        if len(there) < len(paths):
            missing = next(path.name for path in paths if not path.exists())
            raise ValueError(
                f"{folder} has {', '.join(there)} but no {missing}: "
                "the three are made together, so move away what is there and download again"
            )
        return paths
    archive = folder / url.rsplit("/", 1)[-1]  # kept: the attribution that its licence asks for is in it
    if not archive.exists():
        _fetch(url, archive, _read_pairs)
    splits = split_pairs(_kept(archive, _read_pairs))
    parts = [_write_tsv(path, pairs) for path, pairs in zip(paths, splits, strict=True)]
    for part, path in zip(parts, paths, strict=True):
        part.replace(path)
    return paths


def _put_by_hand(name: str, folder: Path) -> list[Path]:
    """The files of a corpus without a public original in this form; a ValueError says how to make them."""
    names = {"news": TSV_FILES[:2], "wmt16": TSV_FILES[:1]}.get(name, (f"{name}.tsv.gz",))
    paths = [folder / name for name in names]
    if all(path.exists() for path in paths):
        return paths
    form = "gzip-compressed, each line English, a tab, German"
    if name == "news":
        raise ValueError(
            "the news corpus is not one public file and has to be put together: print each WMT news test set with "
            "'sacrebleu -t wmt18 -l en-de --echo src ref' (wmt18 for valid.tsv.gz; wmt08 to wmt17, with wmt14/full, "
            f"for train.tsv.gz) and put the two files into {folder}, {form}"
        )
    if name == "wmt16":
        raise ValueError(
            "the wmt16 corpus is made of several files of statmt.org/wmt16 (the German-English training data of the "
            "news task: europarl-v7, commoncrawl, news-commentary-v11): join them, in this order, into "
            f"{paths[0]}, {form}"
        )
    _, _, licence, origin = MORE[name]
    raise ValueError(
        f"the corpus {name!r} ({origin}; {licence}) has no public original in this form: "
        f"put pairs of it into {paths[0]}, {form}"
    )


def split_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Train, valid and test, so that no sentence of either language is in two, compared without case and punctuation.

    Pairs that share a sentence, directly or through others, form a cluster; a hash of its first sentence puts about 1 %
    of the clusters into valid and 1 % into test, whatever the order of the pairs. Repetitions count once.

    Example:
        >>> train, valid, test = split_pairs([("Hi.", "Hallo!"), ("Hi!", "Tag."), ("Go.", "Geh.")])
        >>> train
        [('Hi.', 'Hallo!'), ('Hi!', 'Tag.'), ('Go.', 'Geh.')]
    """
    keyed = [(pair, "en " + comparable(pair[0]), "de " + comparable(pair[1])) for pair in dict.fromkeys(pairs)]
    parents: dict[str, str] = {}

    def root(node: str) -> str:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[parent]  # halve the path
        return node

    for _, english, german in keyed:
        parents[root(english)] = root(german)
    sizes = Counter(root(english) for _, english, _ in keyed)
    names: dict[str, str] = {}
    for _, english, _ in keyed:
        names[root(english)] = min(names.get(root(english), english), english)
    splits: tuple[list[Pair], list[Pair], list[Pair]] = ([], [], [])
    for pair, english, _ in keyed:
        cluster = root(english)
        percent = int.from_bytes(hashlib.sha256(names[cluster].encode()).digest()[:8]) % 100
        splits[{0: 1, 1: 2}.get(percent, 0) if sizes[cluster] <= _MAX_CLUSTER else 0].append(pair)
    return splits


def _fetch(url: str, path: Path, check: Callable[[Path], object]) -> None:
    advice = f"open it in a browser, put the file into {path.parent}, and run this command again"
    with replacing(path) as part:
        with part.open("wb") as file, closing(_chunks(url, path.name, advice)) as chunks:
            file.writelines(chunks)
        try:
            check(part)
        except ValueError as error:
            reason = str(error).replace(str(part), "the file")
            raise ValueError(f"what came from {url} is not usable ({reason}): {advice}") from None


def _kept(path: Path, check: Callable[[Path], Any]) -> Any:
    try:
        return check(path)
    except ValueError as error:
        raise ValueError(f"{error}: delete it and download again") from None


def _chunks(url: str, name: str, advice: str) -> Iterator[bytes]:
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT})
    received = 0
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else None
            bar = tqdm(total=total, desc=name, unit="B", unit_scale=True, disable=None, dynamic_ncols=True)
            with bar:
                while chunk := response.read(_CHUNK):
                    received += len(chunk)
                    if max(received, total or 0) > MAX_BYTES:
                        raise ValueError(f"{url} is larger than {MAX_BYTES:,} bytes, which it should not be: {advice}")
                    bar.update(len(chunk))
                    yield chunk
    except urllib.error.URLError as error:  # an HTTPError says its code, the others have a reason
        reason = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else error.reason
        raise ValueError(f"{url} could not be fetched ({reason}): {advice}") from None
    except (OSError, http.client.HTTPException) as error:
        raise ValueError(f"{url} could not be fetched ({error or type(error).__name__}): {advice}") from None
    if total is not None and received < total:
        raise ValueError(f"{url} could not be fetched (it ended after {received} of {total} bytes): {advice}")


def _unpacked(path: Path, kind: str, opened: Callable[[], IO[bytes]]) -> str:
    """The text of a compressed file; never more of it than is allowed, whatever it claims."""
    try:
        with opened() as file:
            content = file.read(MAX_TEXT_BYTES + 1)
        if len(content) <= MAX_TEXT_BYTES:
            return content.decode("utf-8-sig")
    # RuntimeErrors: encrypted, or packed in a way that Python does not know.
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not whole {kind} UTF-8 text: {error}") from None
    raise ValueError(f"{path} unpacks to more than {MAX_TEXT_BYTES:,} bytes")


def _count_lines(path: Path) -> int:
    text = _unpacked(path, "gzip-compressed", lambda: gzip.open(path))
    if not text:
        raise ValueError(f"{path} is empty")
    return text.count("\n") + (text[-1] != "\n")


def _read_pairs(archive: Path) -> list[Pair]:
    """The lines of English, German and attribution in manythings.org's archive."""
    try:
        text = _unpacked(archive, "zipped", lambda: zipfile.ZipFile(archive).open(_ZIP_MEMBER))
    except KeyError:
        raise ValueError(f"{archive} holds no {_ZIP_MEMBER}") from None
    rows = [line.rstrip("\r").split("\t") for line in text.split("\n")]
    pairs = [(row[0].strip(), row[1].strip()) for row in rows if len(row) > 1]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise ValueError(f"{archive}: {_ZIP_MEMBER} holds no lines of English, a tab, German")
    return pairs


def _write_tsv(path: Path, pairs: list[Pair]) -> Path:
    """Write PATH.part, the same bytes for the same pairs at any time."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.writelines(f"{english}\t{german}\n".encode() for english, german in pairs)
    return part
