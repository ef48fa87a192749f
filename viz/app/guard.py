"""Who may talk to the app: requests by a name that is its own, and websockets from its own pages.

A foreign page can point a name of its own at this machine (DNS rebinding); the browser then says that name in `Host`.
And for a websocket whose `Origin` it does not know, Streamlit asks a host on the internet for this machine's own
address while every visitor waits: that question is never left to it.
"""

import os
import re
import socket
from collections.abc import Iterable
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.logger import get_logger

VARIABLE = "HEADLIGHT_HOSTS"
_HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[^\s:/?#@\[\]]+?)\.?(?::\d+)?", re.I)  # the name, and maybe a port


class Guard:
    """Refuses what comes from elsewhere, in one sentence with status 403; anything else passes.

    Args:
        app: the application that answers.
        names: patterns of the names that it is reached by; None: those of this machine and its settings.
        origins: of other servers whose pages may connect; None: those of `server.corsAllowedOrigins`.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] | None = None, origins: Iterable[str] | None = None) -> None:
        self.app = app
        self.names = own_names() if names is None else set(names)
        listed = config.get_option("server.corsAllowedOrigins") if origins is None else origins
        self.origins = {origin.strip().rstrip("/") for origin in listed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        is_websocket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        problem = self._wrong_host(host) or (self._wrong_origin(origin, host) if is_websocket else "")
        if not problem:
            if is_websocket:  # without its origin, which Streamlit would look up
                scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"origin"]}
            return await self.app(scope, receive, _no_sniffing(send))
        if is_websocket:  # a browser does not show its answer
            get_logger(__name__).warning(problem)
        if is_websocket and "websocket.http.response" not in scope.get("extensions", {}):
            # Before it is accepted: a plain 403.
            return await send({"type": "websocket.close", "code": 1008, "reason": ""})
        await PlainTextResponse(problem + "\n", 403)(scope, receive, _no_sniffing(send))

    def _wrong_host(self, host: str | None) -> str:
        """What is wrong with the name that a request is for. Only programs send none, and nothing can be rebound."""
        if host is None or self._is_own(host):
            return ""
        return (
            f"Headlight does not answer to the name {host[:100]!r}: open it by a name of its own or by its IP address, "
            f"or add the name to the environment variable {VARIABLE} (names with commas between them, * for any)."
        )

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        try:
            return bool(ip_address(name.strip("[]")))  # looked up nowhere, so nobody can point it elsewhere
        except ValueError:
            return bool(name) and any(fnmatchcase(name, pattern) for pattern in self.names)

    def _wrong_origin(self, origin: str | None, host: str | None) -> str:
        """What is wrong with the page that a websocket comes from. Only programs come from none."""
        if origin is None or origin in self.origins or (host and _place(origin) == host.lower()):
            return ""
        name = (host or "")[:100]
        return (
            f"Headlight at {name!r} takes no connection from a page of {origin[:100]!r}: where both are the same app, "
            "have the proxy keep the Host header; else add that origin to server.corsAllowedOrigins in "
            ".streamlit/config.toml."
        )


def own_names() -> set[str]:
    """Patterns of the names that this machine, Streamlit's settings and HEADLIGHT_HOSTS give to the app."""
    machine = socket.gethostname()
    names = ["localhost", machine, f"{machine}.local", *os.environ.get(VARIABLE, "").split(",")]
    names += [config.get_option(name) or "" for name in ("server.address", "browser.serverAddress")]
    names += config.get_option("server.allowedHosts")
    return {name.strip().lower().rstrip(".") for name in names} - {""}


def _place(origin: str) -> str:
    """Host and port of an origin, as in a Host header; nothing for what is not an origin, as "null"."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _no_sniffing(send: Send) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["x-content-type-options"] = "nosniff"
        await send(message)

    return told
