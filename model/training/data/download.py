"""Fetches the public originals of the corpora into the folder layout that `load_corpus` reads.

Nothing that exists is replaced, and a file gets its name only when it is whole: it is fetched to NAME.part, checked and
renamed.
"""

from __future__ import annotations

import codecs
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
from typing import Any

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
    """Fetch a corpus; what is there already is kept.

    Tatoeba grows, so that its splits, made here, are not those of an older file: scores on their test sets differ.

    Args:
        name: a key of `model.training.data.corpora.CORPORA`.
        data_dir: the folder that holds the corpora's folders.
        url: fetch from here instead of `URLS[name]`.

    Returns:
        The corpus's files.

    Raises:
        ValueError: if the name is unknown, or anything could not be fetched or is not what it should be; one sentence
            says what, and what to do.
    """
    if name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}")
    folder = data_dir / CORPORA[name].folder
    if name in MORE:
        return _more(folder, name)
    if name in ("news", "wmt16"):
        return {"news": _news, "wmt16": _wmt16}[name](folder)
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


def _news(folder: Path) -> list[Path]:
    paths = [folder / name for name in TSV_FILES[:2]]
    if all(path.exists() for path in paths):
        return paths
    raise ValueError(
        "the news corpus is not one public file and has to be put together: print each WMT news test set with "
        "'sacrebleu -t wmt18 -l en-de --echo src ref' (wmt18 for valid.tsv.gz; wmt08 to wmt17, with wmt14/full, for "
        f"train.tsv.gz) and put the two files into {folder}, gzip-compressed, each line English, a tab, German"
    )


def _wmt16(folder: Path) -> list[Path]:
    path = folder / TSV_FILES[0]
    if path.exists():
        return [path]
    raise ValueError(
        "the wmt16 corpus is made of several files of statmt.org/wmt16 (the German-English training data of the news "
        f"task: europarl-v7, commoncrawl, news-commentary-v11): join them, in this order, into {path}, "
        "gzip-compressed, each line English, a tab, German"
    )


def _more(folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.tsv.gz"
    if path.exists():
        return [path]
    raise ValueError(
        f"the corpus {name!r} ({MORE[name][3]}; {MORE[name][2]}) has no public original in this form: "
        f"put pairs of it into {path}, gzip-compressed, each line English, a tab, German"
    )


def split_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split pairs so that no sentence of either language is in two splits, compared without case and punctuation.

    Pairs that share a sentence, directly or through others, form a cluster; a hash of the cluster's first sentence
    puts about 1 % of the clusters into valid and 1 % into test, the same ones whatever the order of the pairs.

    Args:
        pairs: English and German; exact repetitions count once.

    Returns:
        Train, valid, test, each in the order of the pairs.

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
    """Fetch a file; it gets its name when `check` has read it without a ValueError."""
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
    """What `check` reads in a file that may have been put there by hand."""
    try:
        return check(path)
    except ValueError as error:
        raise ValueError(f"{error}: delete it and download again") from None


def _chunks(url: str, name: str, advice: str) -> Iterator[bytes]:
    """What the URL gives, with a progress bar; every failure of the network is one ValueError."""
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


def _count_lines(path: Path) -> int:
    """The lines of a gzip-compressed UTF-8 text; a ValueError if it is none, or is not whole."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    size = lines = 0
    last = b"\n"
    try:
        with gzip.open(path) as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > MAX_TEXT_BYTES:
                    raise ValueError(f"{path} unpacks to more than {MAX_TEXT_BYTES:,} bytes")
                decoder.decode(chunk)
                lines += chunk.count(b"\n")
                last = chunk[-1:]
        decoder.decode(b"", final=True)
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not whole gzip-compressed UTF-8 text: {error}") from None
    if size == 0:
        raise ValueError(f"{path} is empty")
    return lines + (last != b"\n")


def _read_pairs(archive: Path) -> list[Pair]:
    """The pairs of manythings.org's archive: lines of English, German and attribution. Only the one member is read."""
    try:
        with zipfile.ZipFile(archive) as file, file.open(_ZIP_MEMBER) as member:
            content = member.read(MAX_TEXT_BYTES + 1)  # never what the archive claims
        if len(content) > MAX_TEXT_BYTES:
            raise ValueError(f"{archive}: {_ZIP_MEMBER} unpacks to more than {MAX_TEXT_BYTES:,} bytes")
        text = content.decode("utf-8-sig")
    except KeyError:
        raise ValueError(f"{archive} holds no {_ZIP_MEMBER}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{archive}: {_ZIP_MEMBER} is not UTF-8 text: {error}") from None
    # Damaged; RuntimeErrors: encrypted, or packed in a way that Python does not know.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValueError(f"{archive} is not a whole zip archive: {error}") from None
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
