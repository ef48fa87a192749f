"""A server on this machine that plays the Hugging Face hub: models in folders, and ways to misbehave."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


class SmallHub:
    """What is on the hub, what was asked of it, and how it answers."""

    def __init__(self) -> None:
        self.models: dict[str, Path] = {}  # by name the folder with its files
        self.commit = COMMIT  # of all models
        self.revisions: dict[str, tuple[str, Path]] = {}  # beside them, by "name@revision": its commit and its folder
        self.status: dict[str, tuple[int, str]] = {}  # by file, or "" for the listing: an error and its code
        self.answers: dict[str, Answer] = {}  # by file, or "" for the listing, how its content is sent
        self.sent: list[str] = []  # files whose whole content was sent
        self.url = ""

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        path = unquote(urlsplit(handler.path).path).strip("/")
        if path.startswith("api/models/"):
            self._list(handler, path.removeprefix("api/models/"))
        else:
            name, _, remainder = path.partition("/resolve/")
            revision, _, file = remainder.partition("/")
            self._file(handler, name, revision, file)

    def _find(self, name: str, revision: str) -> tuple[str, Path] | None:
        """The commit and the folder of a revision, by its name or its commit; None where there is none."""
        for place, (commit, folder) in self.revisions.items():
            if place.partition("@")[0] == name and revision in (place.partition("@")[2], commit):
                return commit, folder
        return (self.commit, self.models[name]) if revision in ("", "main", self.commit) else None

    def _list(self, handler: BaseHTTPRequestHandler, path: str) -> None:
        name, _, revision = path.partition("/revision/")
        if "" in self.status:
            refuse(handler, *self.status[""])
        elif name not in self.models:
            refuse(handler, 401, "RepoNotFound")
        elif (match := self._find(name, revision)) is None:
            refuse(handler, 404, "RevisionNotFound")
        else:
            commit, folder = match
            files = sorted(folder.iterdir())
            siblings = [{"rfilename": file.name, "size": file.stat().st_size, "blobId": "0"} for file in files]
            body = json.dumps({"id": name, "modelId": name, "sha": commit, "siblings": siblings}).encode()
            if "" in self.answers:
                self.answers[""](handler, body)
            else:
                send(handler, 200, body, {"Content-Type": "application/json"})

    def _file(self, handler: BaseHTTPRequestHandler, name: str, revision: str, file: str) -> None:
        match = self._find(name, revision) if name in self.models else None
        if match is None or not (match[1] / file).is_file():
            refuse(handler, 404, "EntryNotFound" if name in self.models else "RepoNotFound")
            return
        if file in self.status:
            refuse(handler, *self.status[file])
            return
        commit, folder = match
        content = (folder / file).read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": commit}
        byte_range = handler.headers.get("Range")
        if handler.command == "HEAD":
            send(handler, 200, content, headers)
        elif byte_range:
            start, _, end = byte_range.removeprefix("bytes=").partition("-")
            part = content[int(start) : int(end or len(content)) + 1]
            send(handler, 206, part, headers | {"Content-Range": f"bytes {start}-*/{len(content)}"})
        elif file in self.answers:
            self.answers[file](handler, content)
        else:
            send(handler, 200, content, headers)
            self.sent.append(file)


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in (headers | {"Content-Length": str(len(body))}).items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


def refuse(handler: BaseHTTPRequestHandler, status: int, code: str) -> None:
    send(handler, status, b"", {"X-Error-Code": code} if code else {})


def half(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Says how long the file is, sends half of it, and hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True


def web_page(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Sends what a hotel's network or a proxy shows whoever has to log in first."""
    send(handler, 200, b"<!DOCTYPE html><title>Log in</title>", {"Content-Type": "text/html"})


def saying(body: bytes) -> Answer:
    """Sends other content than there is."""
    return lambda handler, _: send(handler, 200, body, {"Content-Type": "application/json"})


class Stall:
    """Sends a part of the file; when it is over, the rest or nothing more."""

    def __init__(self, sends_rest: bool = False) -> None:
        self.sends_rest = sends_rest
        self.begun = threading.Event()
        self.over = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:100])
        handler.wfile.flush()
        self.begun.set()
        self.over.wait()
        if self.sends_rest:
            handler.wfile.write(content[100:])


@contextmanager
def small_hub() -> Iterator[SmallHub]:
    """A running hub."""
    hub = SmallHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                hub.serve(self)
            except OSError:
                pass  # the client has had enough

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
