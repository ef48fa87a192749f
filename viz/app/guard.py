"""Between browsers and Streamlit: who may talk to the app (`Guard`), and what its pages have and may do (`PageHead`).

A foreign page can point a name of its own at this machine (DNS rebinding); the browser then says that name in `Host`:
only the app's own names are answered. Of a websocket whose `Origin` it does not know, Streamlit would ask a host on the
internet for this machine's address, while every visitor waits: it is never told one.
"""

import base64
import hashlib
import os
import re
import socket
from collections.abc import Iterable
from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.logger import get_logger

from viz.text.language import PARAMETER

VARIABLE = "HEADLIGHT_HOSTS"
NO_SNIFFING = {"x-content-type-options": "nosniff"}
_HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[^\s:/?#@\[\]]+?)\.?(?::\d+)?", re.I)  # the name, and maybe a port


class Guard:
    """Refuses what comes from elsewhere, in one sentence with status 403; anything else passes."""

    def __init__(self, app: ASGIApp) -> None:
        machine = socket.gethostname()
        get = config.get_option
        names = ["localhost", machine, f"{machine}.local", *os.environ.get(VARIABLE, "").split(",")]
        names += [get("server.address") or "", get("browser.serverAddress") or "", *get("server.allowedHosts")]
        self.app, self.names = app, {name.strip().lower().rstrip(".") for name in names} - {""}  # patterns
        self.origins = {origin.strip().rstrip("/") for origin in get("server.corsAllowedOrigins")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        is_websocket = scope["type"] == "websocket"
        host, origin = headers.get("host"), headers.get("origin")
        problem = self._wrong_host(host) or (self._wrong_origin(origin, host) if is_websocket else "")
        if not problem:
            return await self.app(_without(b"origin", scope) if is_websocket else scope, receive, send)
        if is_websocket:  # a browser does not show its answer
            get_logger(__name__).warning(problem)
            if "websocket.http.response" not in scope.get("extensions", {}):
                return await send({"type": "websocket.close", "code": 1008, "reason": ""})  # gives a plain 403
        await PlainTextResponse(problem + "\n", 403, NO_SNIFFING)(scope, receive, send)

    def _wrong_host(self, host: str | None) -> str:
        """What is wrong with the name that a request is for; only programs send none."""
        if host is None:
            return ""
        match = _HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        try:
            ip_address(name.strip("[]"))  # looked up nowhere, so nobody can point it elsewhere
            return ""
        except ValueError:
            if name and any(fnmatchcase(name, pattern) for pattern in self.names):
                return ""
        return (
            f"Headlight does not answer to the name {host[:100]!r}: open it by its own name or IP address, or add the "
            f"name to the environment variable {VARIABLE} (names with commas between them, * for any)."
        )

    def _wrong_origin(self, origin: str | None, host: str | None) -> str:
        """What is wrong with the page that a websocket comes from; only programs come from none."""
        try:
            place = urlsplit(origin or "").netloc.lower()  # host and port, as in a Host header
        except ValueError:
            place = ""
        if origin is None or origin in self.origins or (host and place == host.lower()):
            return ""
        name = (host or "")[:100]
        return (
            f"Headlight at {name!r} takes no connection from a page of {origin[:100]!r}: have the proxy keep the Host "
            "header, or add that origin to server.corsAllowedOrigins in .streamlit/config.toml."
        )


def _without(name: bytes, scope: Scope) -> Scope:
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != name]}


# Streamlit's browser code takes the path of a link (/masks) for a folder that the app may be served in, and never asks
# below a path that the app is served below: that path is filled in.
SERVER = '<script>window.__streamlit = {BACKEND_BASE_URL: new URL("%s", window.location.origin).href}</script>'
# Streamlit puts an open popover at the end of the document: from its button Tab goes on inside it; Escape leads back.
INTO_POPOVERS = """<script>addEventListener("keydown", event => {
  const popover = document.querySelector("[data-testid=stPopoverBody]");
  const from = document.activeElement;
  if (!popover || event.key !== "Tab" || event.shiftKey || from.dataset.testid !== "stPopoverButton") return;
  if (from.ariaExpanded !== "true") return;
  popover.tabIndex = -1;
  popover.focus();
})</script>"""
# Streamlit makes an entry of the browser's history per change of a parameter. Back should lead to the page before: what
# a page shows replaces the entry that it has; the stage does so by itself, unless a page sets it. Where another page
# opens, its address has the language at once: a run adds parameters at its end, and may be cut off by another load.
ONE_ENTRY = """<script>{
  const push = history.pushState.bind(history);
  history.pushState = (state, title, address) => {
    const next = new URL(address || location.href, location.href);
    if (next.pathname !== location.pathname) {
      const language = new URLSearchParams(location.search).get("PARAMETER");
      if (language && !next.searchParams.has("PARAMETER")) next.searchParams.set("PARAMETER", language);
      push(state, title, next);
    } else if (!address) push(state, title);
    else if (!document.querySelector(`.hl-stage:not(.hl-set)[data-path="${location.pathname}"]`)) {
      history.replaceState(state, title, address); // no stage of this page
    }
  };
}</script>""".replace("PARAMETER", PARAMETER)
_INLINE = re.compile(rb"<script>(.*?)</script>", re.S)


class PageHead(BaseHTTPMiddleware):
    """Adds HTML to the head of every page; `later`: scripts that a page may add to itself."""

    def __init__(self, app: ASGIApp, head: str, later: Iterable[str] = ()) -> None:
        super().__init__(app)
        self.head_html = head.encode()
        self.later = [script.encode() for script in later]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with the head added where the answer is the page."""
        if "text/html" in Headers(raw=scope.get("headers", [])).get("accept", ""):
            scope = _without(b"accept-encoding", scope)  # what is compressed could not be added to
        await super().__call__(scope, receive, send)

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Add the head to the page, and its policy to every answer."""
        answer = await call_next(request)
        answer.headers.update(NO_SNIFFING)
        of_html = answer.headers.get("content-type", "").startswith("text/html")
        if answer.status_code != 200 or not of_html or "content-encoding" in answer.headers:
            return answer
        streamed: Any = answer  # starlette streams every one
        page = b"".join([part async for part in streamed.body_iterator])
        page = page.replace(b"<head>", b"<head>" + self.head_html, 1)
        rules = policy([*_INLINE.findall(page), *self.later], request.headers.get("host", ""))
        response = Response(page)
        response.raw_headers = answer.raw_headers
        response.headers.update({"content-length": str(len(page)), "content-security-policy": rules})
        return response


def policy(scripts: Iterable[bytes], host: str) -> str:
    """What browsers may do with a page: run these scripts, those of this server and of Streamlit's components (blobs).

    `host`: by which it was asked for: to some browsers websockets are not 'self'.
    """
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    allowed = {
        "default-src": "'self'",
        # WebAssembly: a part of Streamlit's that counts with long integers.
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *(f"'sha256-{digest}'" for digest in hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{host} wss://{host}" if host and "[" not in host else "'self'",  # no IPv6 in these
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(["'self'", *os.environ.get("HEADLIGHT_FRAMED_BY", "").replace(",", " ").split()]),
    }
    return "; ".join(f"{rule} {where}" for rule, where in allowed.items())
