"""Something is added to the head of a page; everything else passes as it came."""

from __future__ import annotations

import asyncio
import base64
import hashlib

import pytest
from starlette.responses import PlainTextResponse

from viz.app.guard import PageHead

ADDED = "<script>first()</script>"
LATER = ["later()"]
PAGE = b"<!doctype html><html><head><title>x</title></head><body>\xc3\xa4<head></body></html>"


def respond(
    parts, content_type=b"text/html; charset=utf-8", status=200, extra_headers=(), kind="http", host=b"a.test:80"
):
    """What a visitor gets of an application that answers so: status, headers, body."""
    messages = []

    async def app(scope, receive, send):
        length = str(sum(map(len, parts))).encode()
        headers = [(b"content-type", content_type), (b"content-length", length), *extra_headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for i, part in enumerate(parts):
            await send({"type": "http.response.body", "body": part, "more_body": i < len(parts) - 1})

    async def send(message):
        messages.append(message)

    asyncio.run(PageHead(app, ADDED, LATER)({"type": kind, "headers": [(b"host", host)]}, None, send))
    headers = dict(messages[0]["headers"])
    return messages[0]["status"], headers, b"".join(message["body"] for message in messages[1:])


@pytest.mark.parametrize("parts", [[PAGE], [PAGE[:17], PAGE[17:60], PAGE[60:]], [PAGE, b""]])
def test_a_page_gets_what_is_added_first_in_its_head_and_its_new_length(parts):
    status, headers, body = respond(parts)
    assert status == 200 and body == PAGE.replace(b"<head><title>", b"<head>" + ADDED.encode() + b"<title>")
    assert headers[b"content-length"] == str(len(body)).encode()


@pytest.mark.parametrize(
    ("host", "sockets"), [(b"a.test:80", "ws://a.test:80 wss://a.test:80"), (b"[::1]:80", ""), (b"", "")]
)
@pytest.mark.parametrize(("framed", "frames"), [("", ""), ("https://a.test, *.b.test", " https://a.test *.b.test")])
def test_a_page_runs_its_own_scripts_and_no_other_and_says_who_may_frame_it(monkeypatch, host, sockets, framed, frames):
    monkeypatch.setenv("HEADLIGHT_FRAMED_BY", framed)
    _, headers, _ = respond([PAGE.replace(b"<title>", b"<script>own()</script><title>")], host=host)
    rules = dict(rule.split(" ", 1) for rule in headers[b"content-security-policy"].decode().split("; "))
    hashes = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (b"first()", b"own()", b"later()")]
    allowed = ["'self'", "blob:", "'wasm-unsafe-eval'", *(f"'sha256-{digest}'" for digest in hashes)]
    assert rules["script-src"].split() == allowed
    assert rules["connect-src"] == f"'self' {sockets}".strip() and rules["frame-ancestors"] == f"'self'{frames}"
    assert rules["default-src"] == "'self'" and rules["object-src"] == "'none'"


@pytest.mark.parametrize(
    "other",
    [
        {"content_type": b"application/javascript"},
        {"status": 404},
        {"status": 206},
        {"extra_headers": [(b"content-encoding", b"gzip")]},
        {"kind": "websocket"},
    ],
)
def test_anything_else_passes_as_it_came(other):
    _, headers, body = respond([PAGE[:9], PAGE[9:]], **other)
    assert body == PAGE and headers[b"content-length"] == str(len(PAGE)).encode()
    assert b"content-security-policy" not in headers


@pytest.mark.parametrize("content_type", [b"text/html", b"application/javascript"])
def test_no_answer_is_taken_for_something_else(content_type):
    assert respond([PAGE], content_type)[1][b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize(("accept", "kept"), [(b"text/html,*/*;q=0.8", []), (b"*/*", [b"accept-encoding"])])
def test_pages_and_only_pages_are_asked_for_without_compression(accept, kept):
    names = []

    async def app(scope, receive, send):
        names.extend(name for name, _ in scope["headers"])
        await PlainTextResponse("")(scope, receive, send)

    async def send(message):
        pass

    scope = {"type": "http", "headers": [(b"accept", accept), (b"accept-encoding", b"gzip, br")]}
    asyncio.run(PageHead(app, ADDED)(scope, None, send))
    assert names == [b"accept", *kept] and len(scope["headers"]) == 2
