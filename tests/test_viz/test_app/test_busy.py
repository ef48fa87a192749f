"""Who waits because others compute is shown where to go on: the same page without a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.app import busy
from viz.app.replicas import FOLDER, SITE, SITE_URL
from viz.stage.files import WEB
from viz.views.turns import Turns

ENVIRONMENT = (busy.VARIABLE, busy.FOLDER)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def test_make_serve_says_what_the_app_reads() -> None:
    assert (SITE_URL, FOLDER) == ENVIRONMENT
    assert SITE.startswith("/") and SITE.endswith("/")


def test_where_no_page_is_given_out_nothing_is_added() -> None:
    assert busy.head() == "" and busy.routes() == []


@pytest.mark.parametrize("address", ["site", "javascript:alert(1)", '/"><script>', "ftp://example.org/"])
def test_what_is_no_address_is_not_linked(address: str, monkeypatch) -> None:
    monkeypatch.setenv(busy.VARIABLE, address)
    assert busy.head() == "" and busy.routes() == []


def test_the_pages_are_those_of_the_page_without_a_server() -> None:
    view = (WEB / "site" / "view" / "view.js").read_text(encoding="utf-8")
    (pages,) = re.findall(r"^export const PAGES = .*?(\[[^\]]*\])", view, re.M)
    (lessons,) = re.findall(r'^export const LESSONS = "(\w+)"', view, re.M)
    (sheets,) = re.findall(
        r"^export const SHEETS = .*?(\[[^\]]*\])", (WEB / "site" / "view" / "pages.js").read_text(), re.M
    )
    assert list(busy.PAGES) == [*re.findall(r'"(\w+)"', pages), lessons, *re.findall(r'"(\w+)"', sheets)]


def test_the_server_says_it_where_somebody_waits_and_the_page_is_built(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(busy.VARIABLE, "/site/")
    assert 'href="/site/"' in busy.head()
    client = TestClient(Starlette(routes=busy.routes()))

    class Queue(Turns):
        longest_wait = 0.9

    monkeypatch.setattr(busy, "TURNS", Queue(1))
    assert client.get("/headlight/busy").status_code == 204
    Queue.longest_wait = 1.1
    answer = client.get("/headlight/busy", params={"lang": "de"})
    assert answer.json()["line"] == "Der Server ist beschäftigt: Mach in deinem Browser weiter, ohne zu warten"
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/headlight/busy", params={"lang": "xx"}).json()["line"] == busy.LINE
    monkeypatch.setenv(busy.FOLDER, str(tmp_path))
    assert client.get("/headlight/busy").status_code == 204
    (tmp_path / "index.html").touch()
    assert client.get("/headlight/busy").status_code == 200
