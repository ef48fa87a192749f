"""Downloading, from a server on this machine: whole files with their names, or one sentence that says what to do."""

from __future__ import annotations

import gzip
import io
import re
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.training.data import download as module
from model.training.data.corpora import CORPORA, load_corpus
from model.training.data.download import MULTI30K_SPLITS, URLS, download, split_pairs


class Site:
    """A web site: what each path answers, and what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.requests: list[str] = []
        self.agents: set[str] = set()
        self.url = ""

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append(handler.path)
        self.agents.add(handler.headers["User-Agent"])
        if handler.path in self.answers:
            self.answers[handler.path](handler)
        elif handler.path in self.files:
            send(handler, self.files[handler.path])
        else:
            handler.send_error(404)


def send(handler: BaseHTTPRequestHandler, body: bytes, length: int | None = None) -> None:
    """Answers with a body, perhaps claiming that it is longer; -1 claims nothing."""
    handler.send_response(200)
    if length != -1:
        handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def site(monkeypatch) -> Iterator[Site]:
    """A running web site on this machine."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                site.serve(self)
            except OSError:
                pass  # the client has had enough

        def log_message(self, *_) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


def packed(*lines: str) -> bytes:
    return gzip.compress("".join(line + "\n" for line in lines).encode())


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_about.txt", "attribution")
        archive.writestr(name, content)
    return buffer.getvalue()


def put_multi30k(site: Site) -> None:
    for number, split in enumerate(MULTI30K_SPLITS, start=1):
        for language in ("en", "de"):
            lines = [f"{split} {language} {line}" for line in range(number)]
            site.files[f"/raw/{split}.{language}.gz"] = packed(*lines)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(name: str, data_dir: Path, url: str | None = None) -> str:
    """The one sentence with which a download is given up; nothing half done may be left."""
    with pytest.raises(ValueError) as caught:
        download(name, data_dir, url)
    assert not list(data_dir.rglob("*.part"))
    message = str(caught.value)
    assert "\n" not in message
    return message


MULTI30K = [f"{split}.{language}.gz" for split in MULTI30K_SPLITS for language in ("en", "de")]
TATOEBA = ["train.tsv.gz", "valid.tsv.gz", "test.tsv.gz"]
ADVICE = "open it in a browser, put the file into {}, and run this command again"


class TestMulti30k:
    def test_everything_is_fetched_and_can_be_loaded(self, site, tmp_path):
        put_multi30k(site)
        paths = download("multi30k", tmp_path / "data", f"{site.url}/raw")
        assert sorted(path.name for path in paths) == sorted(MULTI30K)
        assert contents(tmp_path) == {f"data/multi30k/{name}": site.files[f"/raw/{name}"] for name in MULTI30K}
        assert load_corpus(tmp_path / "data", "multi30k", "valid", ("en", "de")) == [
            ("val en 0", "val de 0"),
            ("val en 1", "val de 1"),
        ]
        assert not any("urllib" in agent.lower() for agent in site.agents)

    def test_a_second_time_nothing_is_fetched_or_changed(self, site, tmp_path):
        put_multi30k(site)
        download("multi30k", tmp_path, f"{site.url}/raw/")
        before, n_requests = contents(tmp_path), len(site.requests)
        paths = download("multi30k", tmp_path, f"{site.url}/raw/")
        assert len(paths) == 10 and contents(tmp_path) == before and len(site.requests) == n_requests == 10

    def test_what_is_there_is_kept_and_the_rest_fetched(self, site, tmp_path):
        put_multi30k(site)
        content = packed("put there by hand")
        (tmp_path / "multi30k").mkdir()
        (tmp_path / "multi30k" / "train.en.gz").write_bytes(content)
        download("multi30k", tmp_path, f"{site.url}/raw")
        assert (tmp_path / "multi30k" / "train.en.gz").read_bytes() == content
        assert "/raw/train.en.gz" not in site.requests and len(site.requests) == 9

    def test_a_file_that_is_not_there(self, site, tmp_path):
        put_multi30k(site)
        del site.files["/raw/val.de.gz"]
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert f"{site.url}/raw/val.de.gz could not be fetched (HTTP 404)" in message
        assert ADVICE.format(tmp_path / "multi30k") in message
        # The next time goes on where this one ended.
        put_multi30k(site)
        site.requests.clear()
        assert len(download("multi30k", tmp_path, f"{site.url}/raw")) == 10
        assert "/raw/train.en.gz" not in site.requests

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (packed(*["line"] * 200)[:-9], "not whole gzip-compressed UTF-8 text"),
            (b"<html>Please log in</html>", "not whole gzip-compressed UTF-8 text"),
            (gzip.compress("häuser\n".encode("latin-1")), "not whole gzip-compressed UTF-8 text"),
            (gzip.compress("ä".encode()[:1]), "not whole gzip-compressed UTF-8 text"),
            (gzip.compress(b""), "is empty"),
        ],
        ids=["truncated", "a web page", "latin-1", "half a character", "empty"],
    )
    def test_what_is_no_text_is_not_kept(self, site, tmp_path, body, words):
        put_multi30k(site)
        site.files["/raw/train.en.gz"] = body
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert f"what came from {site.url}/raw/train.en.gz is not usable" in message and words in message
        assert ADVICE.format(tmp_path / "multi30k") in message and ".part" not in message
        assert contents(tmp_path) == {}

    def test_a_connection_that_ends_early(self, site, tmp_path):
        put_multi30k(site)
        body = site.files["/raw/train.en.gz"]
        site.answers["/raw/train.en.gz"] = lambda handler: send(handler, body[:10], length=len(body))
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert f"could not be fetched (it ended after 10 of {len(body)} bytes)" in message
        assert contents(tmp_path) == {}

    @pytest.mark.parametrize("length", [None, -1], ids=["announced", "not announced"])
    def test_a_file_that_is_too_large(self, site, tmp_path, monkeypatch, length):
        monkeypatch.setattr(module, "MAX_BYTES", 100_000)
        body = bytes(150_000)
        site.answers["/raw/train.en.gz"] = lambda handler: send(handler, body, length)
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert "is larger than 100,000 bytes" in message
        assert contents(tmp_path) == {}

    def test_a_small_file_that_unpacks_to_a_large_one(self, site, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "MAX_TEXT_BYTES", 100_000)
        site.files["/raw/train.en.gz"] = gzip.compress(bytes(10_000_000))
        assert "unpacks to more than 100,000 bytes" in refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert contents(tmp_path) == {}

    def test_a_server_that_says_nothing(self, site, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.2)
        asked_enough = threading.Event()
        site.answers["/raw/train.en.gz"] = lambda handler: asked_enough.wait(20)
        try:
            assert "could not be fetched (timed out)" in refusal("multi30k", tmp_path, f"{site.url}/raw")
        finally:
            asked_enough.set()

    def test_a_redirect_is_followed(self, site, tmp_path):
        put_multi30k(site)

        def elsewhere(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", f"{site.url}/raw/val.en.gz")
            handler.end_headers()

        site.answers["/raw/train.en.gz"] = elsewhere
        site.files["/raw/train.de.gz"] = packed("eins", "zwei")
        download("multi30k", tmp_path, f"{site.url}/raw")
        assert (tmp_path / "multi30k" / "train.en.gz").read_bytes() == site.files["/raw/val.en.gz"]

    def test_sides_that_do_not_belong_together(self, site, tmp_path):
        put_multi30k(site)
        site.files["/raw/val.de.gz"] = gzip.compress(b"eins\nzwei\ndrei\nvier ohne Zeilenende")
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert re.search(r"val\.en\.gz has 2 lines, val\.de\.gz has 4: delete both and download again", message)

    def test_a_damaged_file_that_was_there_is_named(self, site, tmp_path):
        put_multi30k(site)
        path = tmp_path / "multi30k" / "train.en.gz"
        path.parent.mkdir()
        path.write_bytes(b"half a download")
        message = refusal("multi30k", tmp_path, f"{site.url}/raw")
        assert str(path) in message and message.endswith("delete it and download again")
        assert path.read_bytes() == b"half a download"


@pytest.mark.parametrize("name", ["multi30k", "tatoeba"])
def test_without_a_network_the_sentence_says_what_to_do(name, tmp_path):
    """No server listens at a port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/deu-eng.zip"
    message = refusal(name, tmp_path, url)
    assert message.startswith(url) and "could not be fetched" in message and "refused" in message
    assert ADVICE.format(tmp_path / CORPORA[name].folder) in message
    assert contents(tmp_path) == {}


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refusal("multi30k", tmp_path / "file" / "data")


def test_an_unknown_corpus(tmp_path):
    assert "unknown corpus 'europarl'; there are multi30k, tatoeba, news" in refusal("europarl", tmp_path)


def test_the_real_addresses():
    assert URLS["multi30k"].startswith("https://raw.githubusercontent.com/multi30k/dataset/")
    assert URLS["tatoeba"] == "https://www.manythings.org/anki/deu-eng.zip"


def test_news_is_not_pretended_to_be_one_file(tmp_path):
    message = refusal("news", tmp_path)
    assert "sacrebleu -t wmt18 -l en-de --echo src ref" in message and str(tmp_path / "news-de-en") in message
    assert "train.tsv.gz" in message and "valid.tsv.gz" in message
    (tmp_path / "news-de-en").mkdir()
    for name in TATOEBA[:2]:
        (tmp_path / "news-de-en" / name).write_bytes(packed("one\teins"))
    assert [path.name for path in download("news", tmp_path)] == TATOEBA[:2]


NUMBERS = [f"number {i}" for i in range(600)]
TABLE = "".join(f"It's {n}.\tDas ist {n}.\tCC-BY 2.0 (somebody)\n" for n in NUMBERS).encode()


class TestTatoeba:
    def test_it_is_fetched_and_split(self, site, tmp_path):
        site.files["/anki/deu-eng.zip"] = zipped("deu.txt", b"\xef\xbb\xbf" + TABLE.replace(b"\n", b"\r\n"))
        paths = download("tatoeba", tmp_path, f"{site.url}/anki/deu-eng.zip")
        assert [path.name for path in paths] == TATOEBA
        rows = [line for path in paths for line in gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]]
        assert sorted(rows) == sorted(f"It's {n}.\tDas ist {n}." for n in NUMBERS)
        pairs = load_corpus(tmp_path, "tatoeba", "train", ("en", "de"))
        valid = load_corpus(tmp_path, "tatoeba", "valid", ("en", "de"))
        assert len(pairs) > 500 and 0 < len(valid) < 20
        assert sorted(contents(tmp_path)) == sorted(f"tatoeba-de-en/{name}" for name in [*TATOEBA, "deu-eng.zip"])

    def test_a_second_time_nothing_is_fetched_or_changed(self, site, tmp_path):
        site.files["/deu-eng.zip"] = zipped("deu.txt", TABLE)
        download("tatoeba", tmp_path, f"{site.url}/deu-eng.zip")
        before = contents(tmp_path)
        download("tatoeba", tmp_path, f"{site.url}/deu-eng.zip")
        assert contents(tmp_path) == before and len(site.requests) == 1

    def test_a_file_put_there_by_hand_is_used_and_gives_the_same_bytes(self, site, tmp_path):
        site.files["/deu-eng.zip"] = zipped("deu.txt", TABLE)
        download("tatoeba", tmp_path / "fetched", f"{site.url}/deu-eng.zip")
        by_hand = tmp_path / "by hand" / "tatoeba-de-en"
        by_hand.mkdir(parents=True)
        (by_hand / "deu-eng.zip").write_bytes(site.files["/deu-eng.zip"])
        download("tatoeba", tmp_path / "by hand")  # the real address: it must not be asked
        assert contents(tmp_path / "by hand") == contents(tmp_path / "fetched")

    def test_splits_of_another_version_are_not_completed(self, site, tmp_path):
        site.files["/deu-eng.zip"] = zipped("deu.txt", TABLE)
        (tmp_path / "tatoeba-de-en").mkdir()
        (tmp_path / "tatoeba-de-en" / "train.tsv.gz").write_bytes(packed("one\teins"))
        message = refusal("tatoeba", tmp_path, f"{site.url}/deu-eng.zip")
        assert "has train.tsv.gz but no valid.tsv.gz" in message and "move away what is there" in message
        assert site.requests == [] and len(contents(tmp_path)) == 1

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"<html>", "not whole zipped UTF-8 text"),
            (zipped("deu.txt", TABLE)[:-40], "not whole zipped UTF-8 text"),
            (zipped("deu.txt", TABLE).replace(b"deu.txt", b"../.txt"), "holds no deu.txt"),
            (zipped("/etc/deu.txt", TABLE), "holds no deu.txt"),
            (zipped("deu.txt", b"no tab here\n"), "no lines of English, a tab, German"),
            (zipped("deu.txt", b"\xff\xfe\ta\n"), "not whole zipped UTF-8 text"),
            (zipped("deu.txt", bytes(10_000_000)), "unpacks to more than 1,000,000 bytes"),
        ],
        ids=["a web page", "truncated", "a path upwards", "an absolute path", "no table", "not UTF-8", "a zip bomb"],
    )
    def test_what_is_not_the_archive_is_not_kept(self, site, tmp_path, monkeypatch, body, words):
        monkeypatch.setattr(module, "MAX_TEXT_BYTES", 1_000_000)
        site.files["/deu-eng.zip"] = body
        message = refusal("tatoeba", tmp_path / "data", f"{site.url}/deu-eng.zip")
        assert words in message and ADVICE.format(tmp_path / "data" / "tatoeba-de-en") in message
        assert contents(tmp_path) == {}

    def test_a_damaged_member_is_noticed(self, site, tmp_path):
        body = bytearray(zipped("deu.txt", TABLE))
        body[len(body) // 2] ^= 0xFF
        site.files["/deu-eng.zip"] = bytes(body)
        assert "not whole zipped UTF-8 text" in refusal("tatoeba", tmp_path, f"{site.url}/deu-eng.zip")


# Sentences that differ only in what is compared (the letter), in case and in punctuation, so that many are the same.
sentences = st.builds(
    lambda letter, number, style: style.format(letter if number % 2 else letter.upper(), number),
    st.sampled_from("abcäßé"),
    st.integers(0, 40),
    st.sampled_from(["{} {}", "{} {}.", "«{}, {}!»", "{}{}", "- {}-{} -", "..."]),
)


def plain(sentence: str) -> str:
    return "".join(re.findall(r"[^\W_]", sentence.casefold())) or sentence


@given(st.lists(st.tuples(sentences, sentences), max_size=300))
def test_no_sentence_of_either_language_is_in_two_splits(pairs):
    splits = split_pairs(pairs)
    assert sorted(pair for split in splits for pair in split) == sorted(set(pairs))
    for side in (0, 1):
        plain_sentences = [{plain(pair[side]) for pair in split} for split in splits]
        assert not (
            plain_sentences[0] & plain_sentences[1]
            or plain_sentences[0] & plain_sentences[2]
            or plain_sentences[1] & plain_sentences[2]
        )


def test_pairs_that_share_sentences_through_others_stay_together():
    """The chains that only following every link brings together: each pair shares a sentence with the next."""
    chains = [[(f"chain {c}x{(i + 1) // 2}", f"Kette {c}x{i // 2}") for i in range(10)] for c in range(1000)]
    splits = split_pairs(pair for chain in chains for pair in chain)
    assert all(splits)
    whole = [set(split) for split in splits]
    for chain in chains:
        assert [set(chain) <= split for split in whole].count(True) == 1


def test_about_one_percent_is_valid_and_one_percent_test():
    """20,000 clusters of one pair each: 200 of them with a standard error of 14, so 5 of those."""
    train, valid, test = split_pairs((f"sentence {i}", f"Satz {i}") for i in range(20_000))
    assert abs(len(valid) - 200) < 70 and abs(len(test) - 200) < 70
    assert len(train) + len(valid) + len(test) == 20_000


def test_the_split_does_not_depend_on_the_order_or_on_what_else_there_is():
    pairs = [(f"sentence {i}.", f"Satz {i}.") for i in range(2000)]
    splits = split_pairs(pairs)
    assert [sorted(split) for split in split_pairs(pairs[::-1])] == [sorted(split) for split in splits]
    assert [[pair for pair in split if pair in pairs[:900]] for split in splits] == list(split_pairs(pairs[:900]))


def test_a_large_cluster_stays_in_training():
    """Whatever its hash says: 300 clusters of 101 pairs, of which 6 would be elsewhere."""
    pairs = [(f"shared {c}", f"Satz {c}x{i}") for c in range(300) for i in range(101)]
    assert split_pairs(pairs)[1:] == ([], [])
