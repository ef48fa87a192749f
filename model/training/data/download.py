"""Fetches the public originals of corpora. Nothing is replaced, and a file gets its name only when it is whole."""

import gzip
import hashlib
import http.client
import urllib.error
import urllib.request
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from model.storage.checkpoint import replacing
from model.training.data.corpora import CORPORA, Pair, comparable

URLS = {
    "multi30k": "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw",  # a folder
    "tatoeba": "https://www.manythings.org/anki/deu-eng.zip",
}
MULTI30K_SPLITS = ("train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
TSV_FILES = ("train.tsv.gz", "valid.tsv.gz", "test.tsv.gz")
MAX_BYTES = 200_000_000  # of one file as it is fetched
MAX_TEXT_BYTES = 300_000_000  # of its text when unpacked
TIMEOUT_SECONDS = 30.0
_ZIP_MEMBER = "deu.txt"
_MAX_CLUSTER = 100  # larger ones stay in training, lest one be the whole of a test set


def download(name: str, data_dir: Path, url: str | None = None) -> list[Path]:
    """Fetch a corpus and return its files; a ValueError says what is wrong and what to do.

    Tatoeba grows: its splits, made here, are not those of an older file, and scores on their test sets differ.
    """
    if name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}")
    folder = data_dir / CORPORA[name].folder
    if name not in URLS:
        return _put_by_hand(name, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (_multi30k if name == "multi30k" else _tatoeba)(folder, url or URLS[name])
    except OSError as error:  # of the disk; those of the network have become ValueErrors
        raise ValueError(f"{folder} cannot be written: {error}") from None


def _multi30k(folder: Path, url: str) -> list[Path]:
    for split in MULTI30K_SPLITS:
        paths = (folder / f"{split}.en.gz", folder / f"{split}.de.gz")
        lines, other_lines = (_checked(path, f"{url.rstrip('/')}/{path.name}", _count_lines) for path in paths)
        if lines != other_lines:
            first, second = paths
            raise ValueError(
                f"{first} has {lines} lines, {second.name} has {other_lines}: delete both and download again"
            )
    return [folder / f"{split}.{language}.gz" for split in MULTI30K_SPLITS for language in ("en", "de")]


def _tatoeba(folder: Path, url: str) -> list[Path]:
    paths = [folder / name for name in TSV_FILES]
    existing = [path.name for path in paths if path.exists()]
    if existing:
        if missing := [name for name in TSV_FILES if name not in existing]:
            raise ValueError(
                f"{folder} has {', '.join(existing)} but no {missing[0]}: "
                "the three are made together, so move away what is there and download again"
            )
        return paths
    archive = folder / url.rsplit("/", 1)[-1]  # kept: the attribution that its licence asks for is in it
    splits = split_pairs(_checked(archive, url, _read_pairs))
    with ExitStack() as parts:
        for path, pairs in zip(paths, splits, strict=True):
            text = "".join(f"{english}\t{german}\n" for english, german in pairs)
            parts.enter_context(replacing(path)).write_bytes(gzip.compress(text.encode(), mtime=0))
    return paths


def _put_by_hand(name: str, folder: Path) -> list[Path]:
    names = {"news": TSV_FILES[:2], "wmt16": TSV_FILES[:1]}.get(name, (f"{name}.tsv.gz",))
    paths = [folder / name for name in names]
    if all(path.exists() for path in paths):
        return paths
    how = f"has no public original in this form ({CORPORA[name].licence})"
    if name == "news":
        how = (
            "is put together of the WMT news test sets, printed with 'sacrebleu -t wmt18 -l en-de --echo src ref': "
            "wmt18 in valid.tsv.gz; wmt08 to wmt17, with wmt14/full, in train.tsv.gz"
        )
    elif name == "wmt16":
        how = "is europarl-v7, commoncrawl and news-commentary-v11 of statmt.org/wmt16, joined in this order"
    places = " and ".join(map(str, paths))
    raise ValueError(f"the corpus {name!r} {how}: put it into {places}, each line English, a tab, German")


def split_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Train, valid and test, so that no sentence of either language is in two, as `comparable` compares them.

    Pairs that share a sentence, directly or through others, form a cluster; a hash of its first sentence puts about 1 %
    of the clusters into valid and 1 % into test.
    """
    keyed = [(pair, "en " + comparable(pair[0]), "de " + comparable(pair[1])) for pair in dict.fromkeys(pairs)]
    parents: dict[str, str] = {}

    def root(node: str) -> str:
        """The sentence that stands for the cluster of a sentence (union-find)."""
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[parent]  # halve the path
        return node

    for _, english, german in keyed:
        parents[root(english)] = root(german)
    clusters: dict[str, list[str]] = defaultdict(list)
    for _, english, _ in keyed:
        clusters[root(english)].append(english)
    number = {}
    for cluster, sentences in clusters.items():
        percent = int.from_bytes(hashlib.sha256(min(sentences).encode()).digest()[:8]) % 100
        number[cluster] = {0: 1, 1: 2}.get(percent, 0) if len(sentences) <= _MAX_CLUSTER else 0
    splits: tuple[list[Pair], list[Pair], list[Pair]] = ([], [], [])
    for pair, english, _ in keyed:
        splits[number[root(english)]].append(pair)
    return splits


def _checked(path: Path, url: str, check: Callable[[Path], Any]) -> Any:
    """The result of `check` for a file, which is fetched if it is not there."""
    if path.exists():
        try:
            return check(path)
        except ValueError as error:
            raise ValueError(f"{error}: delete it and download again") from None
    advice = f"open it in a browser, put the file into {path.parent}, and run this command again"
    with replacing(path) as part:
        with part.open("wb") as file, closing(_chunks(url, path.name, advice)) as chunks:
            file.writelines(chunks)
        try:
            return check(part)
        except ValueError as error:
            reason = str(error).replace(str(part), "the file")
            raise ValueError(f"what came from {url} is not usable ({reason}): {advice}") from None


def _chunks(url: str, name: str, advice: str) -> Generator[bytes, None, None]:
    # manythings.org refuses the name that urllib gives itself.
    request = urllib.request.Request(url, headers={"User-Agent": "Mozilla/5.0 (compatible; Headlight)"})
    received, reason = 0, None
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else None
            with tqdm(total=total, desc=name, unit="B", unit_scale=True, disable=None, dynamic_ncols=True) as bar:
                while chunk := response.read(1 << 16):
                    received += len(chunk)
                    if max(received, total or 0) > MAX_BYTES:
                        raise ValueError(f"{url} is larger than {MAX_BYTES:,} bytes, which it should not be: {advice}")
                    bar.update(len(chunk))
                    yield chunk
        if received < (total or 0):
            reason = f"it ended after {received} of {total} bytes"
    except urllib.error.HTTPError as error:
        reason = f"HTTP {error.code}"
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
    if reason:
        raise ValueError(f"{url} could not be fetched ({reason}): {advice}")


def _unpacked(path: Path, kind: str, open_file: Callable[[], IO[bytes] | gzip.GzipFile]) -> str:
    try:
        with open_file() as file:
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
    try:
        text = _unpacked(archive, "zipped", lambda: zipfile.ZipFile(archive).open(_ZIP_MEMBER))
    except KeyError:
        raise ValueError(f"{archive} holds no {_ZIP_MEMBER}") from None
    rows = ([cell.strip() for cell in line.split("\t")[:2]] for line in text.split("\n"))
    pairs = [(row[0], row[1]) for row in rows if len(row) == 2 and all(row)]
    if not pairs:
        raise ValueError(f"{archive}: {_ZIP_MEMBER} holds no lines of English, a tab, German")
    return pairs
