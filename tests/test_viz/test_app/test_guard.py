"""The guard before Streamlit: which names and origins are the app's, and what Streamlit is still told of them."""

from __future__ import annotations

import asyncio
import socket

import pytest
from streamlit import config
from streamlit.web.server.starlette import starlette_websocket

from viz.app.guard import VARIABLE, Guard


def ask(host: str | None, origin: str | None = None, kind: str = "http", extensions: dict | None = None):
    """What a request is answered, and what reaches the application behind the guard: messages and headers."""
    replies, requests = [], []

    async def app(scope, receive, send):
        requests.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the page"})

    async def send(message):
        replies.append(message)

    fields = {"host": host, "origin": origin}
    headers = [(name.encode(), value.encode("latin-1")) for name, value in fields.items() if value is not None]
    scope = {"type": kind, "method": "GET", "headers": headers, "extensions": extensions or {}}
    asyncio.run(Guard(app)(scope, None, send))
    return replies, requests


def passes(host: str | None, origin: str | None = None, kind: str = "http") -> bool:
    return bool(ask(host, origin, kind)[1])


def setting(monkeypatch, **settings):
    """Sets options of Streamlit's section "server", and "shown" of its section "browser"."""
    names = {"shown": "browser.serverAddress"}
    options = {names.get(name, f"server.{name}"): value for name, value in settings.items()}
    monkeypatch.setattr(config, "get_option", lambda name, ask=config.get_option: options.get(name) or ask(name))


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8501", "LOCALHOST.", "127.0.0.1:8501", "[::1]:8501", "[fe80::1]", "192.168.1.7:80"),
        *(socket.gethostname(), f"{socket.gethostname()}:8501", None),
    ],
)
def test_the_names_of_this_machine_and_addresses_are_answered(host):
    assert passes(host)


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "[::1", ""),
        *("localhost@evil.example", "localhost/", "localhost:x", "localhost evil", "[evil.example]", "evil\xe9", "*"),
    ],
)
def test_any_other_name_is_refused_in_one_sentence(host):
    replies, requests = ask(host)
    assert requests == [] and replies[0]["status"] == 403
    assert dict(replies[0]["headers"])[b"content-type"].startswith(b"text/plain")
    words = replies[1]["body"].decode()
    assert words.count("\n") == 1 and repr(host) in words and VARIABLE in words


def test_no_refusal_is_taken_for_something_else():
    assert dict(ask("evil.example")[0][0]["headers"])[b"x-content-type-options"] == b"nosniff"


def test_names_are_added_by_a_variable_and_by_streamlits_own_settings(monkeypatch):
    monkeypatch.setenv(VARIABLE, "Headlight.example.org , *.school.test,")
    setting(monkeypatch, allowedHosts=["listed.test"], shown="shown.test")
    hosts = ("headlight.example.org:443", "a.school.test", "listed.test", "shown.test:80", "localhost")
    assert [name for name in hosts if not passes(name)] == []
    assert not passes("school.test") and not passes("example.org") and not passes("evil.example")
    monkeypatch.setenv(VARIABLE, "*")
    assert passes("evil.example") and not passes("evil.example", "http://other.example", "websocket")


@pytest.mark.parametrize(
    ("host", "origin", "accepted"),
    [
        ("localhost:8501", "http://localhost:8501", True),
        ("localhost:8501", "HTTP://LocalHost:8501", True),
        ("localhost", "https://localhost", True),  # a proxy with TLS before it
        ("localhost:8501", "https://friend.test", True),
        ("localhost:8501", None, True),
        ("localhost:8501", "http://localhost:3000", False),
        ("localhost:8501", "http://127.0.0.1:8501", False),
        ("localhost:8501", "http://localhost:8501@evil.example", False),
        ("localhost:8501", "https://friend.test.evil.example", False),
        ("localhost:8501", "http://[", False),
        ("localhost:8501", "null", False),
        ("localhost:8501", "", False),
        (None, "http://evil.example", False),
        (None, "", False),
    ],
)
def test_websockets_of_its_own_pages_are_taken_and_streamlit_has_no_origin_to_look_up(
    host, origin, accepted, monkeypatch
):
    setting(monkeypatch, corsAllowedOrigins=["https://friend.test/"])
    _, requests = ask(host, origin, "websocket")
    assert bool(requests) is accepted
    monkeypatch.setattr(starlette_websocket, "is_url_from_allowed_origins", lambda url: pytest.fail("it is looked up"))
    for headers in requests:
        assert starlette_websocket._is_origin_allowed(headers.get("origin"), headers.get("host"))


def test_a_websocket_is_refused_before_it_is_accepted():
    plain, _ = ask("evil.example", kind="websocket")
    assert [message["type"] for message in plain] == ["websocket.close"]
    with_words, _ = ask("evil.example", kind="websocket", extensions={"websocket.http.response": {}})
    assert with_words[0]["type"] == "websocket.http.response.start" and with_words[0]["status"] == 403


def test_what_is_no_request_passes():
    assert passes("evil.example", kind="lifespan")
