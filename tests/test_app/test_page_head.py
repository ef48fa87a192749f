"""Something is added to the head of a page; everything else passes as it came."""

from __future__ import annotations

import asyncio

import pytest

from viz.screens.page_head import PageHead

ADDED = "<script>first()</script>"
PAGE = b"<!doctype html><html><head><title>x</title></head><body>\xc3\xa4<head></body></html>"


def answered(parts, content_type=b"text/html; charset=utf-8", status=200, more=(), kind="http"):
    """What a visitor gets of an application that answers so: status, headers, body."""
    sent = []

    async def app(scope, receive, send):
        length = str(sum(map(len, parts))).encode()
        headers = [(b"content-type", content_type), (b"content-length", length), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for i, part in enumerate(parts):
            await send({"type": "http.response.body", "body": part, "more_body": i < len(parts) - 1})

    async def send(message):
        sent.append(message)

    asyncio.run(PageHead(app, ADDED)({"type": kind, "headers": []}, None, send))
    headers = dict(sent[0]["headers"])
    return sent[0]["status"], headers, b"".join(message["body"] for message in sent[1:])


@pytest.mark.parametrize("parts", [[PAGE], [PAGE[:17], PAGE[17:60], PAGE[60:]], [PAGE, b""]])
def test_a_page_gets_what_is_added_first_in_its_head_and_its_new_length(parts):
    status, headers, body = answered(parts)
    assert status == 200 and body == PAGE.replace(b"<head><title>", b"<head>" + ADDED.encode() + b"<title>")
    assert headers[b"content-length"] == str(len(body)).encode()


@pytest.mark.parametrize(
    "other",
    [
        {"content_type": b"application/javascript"},
        {"status": 404},
        {"status": 206},
        {"more": [(b"content-encoding", b"gzip")]},
        {"kind": "websocket"},
    ],
)
def test_anything_else_passes_as_it_came(other):
    _, headers, body = answered([PAGE[:9], PAGE[9:]], **other)
    assert body == PAGE and headers[b"content-length"] == str(len(PAGE)).encode()


@pytest.mark.parametrize(("accept", "kept"), [(b"text/html,*/*;q=0.8", []), (b"*/*", [b"accept-encoding"])])
def test_pages_and_only_pages_are_asked_for_without_compression(accept, kept):
    asked = []

    async def app(scope, receive, send):
        asked.extend(name for name, _ in scope["headers"])

    scope = {"type": "http", "headers": [(b"accept", accept), (b"accept-encoding", b"gzip, br")]}
    asyncio.run(PageHead(app, ADDED)(scope, None, None))
    assert asked == [b"accept", *kept] and len(scope["headers"]) == 2
