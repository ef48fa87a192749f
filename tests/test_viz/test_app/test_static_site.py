"""The page without a server beside the app: built once, and given out by the proxy as browsers need it."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks.support.server import ROOT, end, free_port
from viz.app import replicas, static_site
from viz.text.language import LANGUAGES

HASH = "-0123456789ab"
FILES = {
    "index.html": "page",
    "service_worker.js": "keeps",
    f"headlight{HASH}.js": "script",
    f"lessons/en/index{HASH}.bin": "cards",
    f"docs/translate{HASH}.webp": "picture",
    "docs/serving.html": "document",
}
FOR_GOOD = "public, max-age=31536000, immutable"


class App(BaseHTTPRequestHandler):
    """What the proxy asks for all that is not of the page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"app")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of Caddy with the settings that ship, a folder of small files and a server in the place of the app."""
    if not shutil.which("caddy"):
        pytest.skip("the proxy Caddy is not installed")
    folder = tmp_path_factory.mktemp("proxy") / "site"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder.parent / "secret.html").write_text("secret")
    app = ThreadingHTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=app.serve_forever, daemon=True).start()
    port = free_port()
    environment = os.environ | {
        "HEADLIGHT_SITE": f":{port}",
        "HEADLIGHT_REPLICAS": f"to 127.0.0.1:{app.server_port}",
        replicas.FOLDER: str(folder),
    }
    command = ["caddy", "run", "--config", str(ROOT / "Caddyfile"), "--adapter", "caddyfile"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=environment, start_new_session=True, **quiet)
    try:
        deadline = time.monotonic() + 60
        while replicas.is_free("127.0.0.1", port):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        yield port
    finally:
        end(process)
        app.shutdown()


def ask(port: int, path: str) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": f"classroom.test:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()


@pytest.mark.parametrize(
    ("path", "text", "media_type", "kept"),
    [
        ("", "page", "text/html", "no-cache"),
        ("docs/serving.html", "document", "text/html", "no-cache"),
        ("service_worker.js", "keeps", "text/javascript", "no-cache"),
        (f"headlight{HASH}.js", "script", "text/javascript", FOR_GOOD),
        (f"lessons/en/index{HASH}.bin", "cards", "", FOR_GOOD),
        (f"docs/translate{HASH}.webp", "picture", "image/webp", FOR_GOOD),
    ],
)
def test_the_proxy_gives_files_out_with_their_types_and_how_long_to_keep_them(
    proxy: int, path: str, text: str, media_type: str, kept: str
) -> None:
    status, headers, body = ask(proxy, f"/site/{path}")
    assert (status, body) == (200, text)
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == (kept, "nosniff")
    given = headers.get("Content-Type", "").split(";")[0].replace("application/javascript", "text/javascript")
    assert given == media_type or not media_type


def test_the_proxy_gives_out_nothing_else(proxy: int) -> None:
    assert ask(proxy, "/site")[1]["Location"] == "/site/"
    assert ask(proxy, "/site/lessons/")[0] == ask(proxy, "/site/nothing")[0] == 404
    for path in (
        "/site/../secret.html",
        "/site/%2e%2e/secret.html",
        "/site/..%2fsecret.html",
        "/site//..//secret.html",
    ):
        assert "secret" not in ask(proxy, path)[2], path
    for path in ("/", "/steer", "/sites/"):
        assert ask(proxy, path)[2] == "app"


def test_the_page_is_built_once_and_again_when_its_sources_change(tmp_path: Path, monkeypatch, capfd) -> None:
    writes = tmp_path / "python"
    writes.write_text('#!/bin/sh\necho finished >> "$5/index.html"\n')
    writes.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(static_site.sys, "executable", str(writes))
    keys = iter(["first", "first", "second", "third"])
    monkeypatch.setattr(static_site, "sources_key", lambda: next(keys))
    for count, works in ((1, True), (1, True), (2, True), (2, False)):
        if not works:
            writes.write_text("#!/bin/sh\necho why >&2; exit 2\n")
        build = static_site.Build("http://classroom.lan:8080/site/")
        build.start(os.environ)
        while build._process is not None:
            build.look()
        assert build.is_new == works
        assert (build.folder / "index.html").read_text().count("finished") == count
        out, err = capfd.readouterr()
        assert (build.folder.is_relative_to(tmp_path), "/site/\n" in out, "why" in err) == (True, works, not works)


def test_a_build_that_is_not_waited_for_ends(tmp_path: Path, monkeypatch) -> None:
    sleeps = tmp_path / "python"
    sleeps.write_text("#!/bin/sh\nexec sleep 600\n")
    sleeps.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(static_site.sys, "executable", str(sleeps))
    build = static_site.Build("")
    build.start(os.environ)
    process = build._process
    waits = (build.folder / "index.html").read_text(encoding="utf-8")  # what visitors see until then
    assert all(f'<p lang="{language}">' in waits for language in LANGUAGES) and 'http-equiv="refresh"' in waits
    build.stop()
    assert process.returncode is not None and not build.is_new


def test_what_the_page_is_made_of_tells_one_build_from_another(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(static_site, "PACKAGES", tmp_path)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "checkpoints"))
    module = tmp_path / "viz" / "web" / "main.js"
    module.parent.mkdir(parents=True)
    module.write_text("old")
    keys = [static_site.sources_key(), static_site.sources_key()]
    module.write_text("new words")
    keys.append(static_site.sources_key())
    lesson = tmp_path / "my lesson.md"
    lesson.write_text("# Mine")
    monkeypatch.setenv("HEADLIGHT_LESSONS", f"'{lesson}'")
    keys.append(static_site.sources_key())
    lesson.write_text("# Mine, changed")
    keys.append(static_site.sources_key())
    assert keys[0] == keys[1] and len(set(keys)) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="a path of Unix")
def test_where_nothing_can_be_kept_a_line_says_so(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build = static_site.Build("")
    build.start(os.environ)
    build.look()
    assert "cannot be kept" in capsys.readouterr().err
