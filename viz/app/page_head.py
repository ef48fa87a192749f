"""What Streamlit's own HTML page lacks, added to its head: where the server is, a way into popovers, Plotly early.

And its content security policy: browsers run the scripts that stand in the page as it leaves here, those of this
server, and what Streamlit makes of a component (a blob); fetch nothing from elsewhere; and show it inside pages of this
server and of those that HEADLIGHT_FRAMED_BY names, as a course page that embeds it.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Links that name a page (/masks): Streamlit's browser code takes a page's path for a folder that the app may be served
# in, asks there, is answered 404 (an error in the console) and only then asks at the root, but never below a path that
# the app is served below; that path is filled in.
SERVER = '<script>window.__streamlit = {BACKEND_BASE_URL: new URL("%s", window.location.origin).href}</script>'
# Streamlit puts an open popover at the end of the document, where Tab would come last. From its button Tab goes on from
# its beginning; Escape leads back.
INTO_POPOVERS = """<script>addEventListener("keydown", event => {
  const popover = document.querySelector("[data-testid=stPopoverBody]");
  const from = document.activeElement;
  if (!popover || event.key !== "Tab" || event.shiftKey || from.dataset.testid !== "stPopoverButton") return;
  if (from.ariaExpanded !== "true") return;
  popover.tabIndex = -1;
  popover.focus();
})</script>"""
# Streamlit makes an entry of the browser's history whenever a parameter of the address changes during a run. Back
# should lead to the page before: what a page shows is written into the entry that it has; the stage does so by itself,
# unless a page sets it.
ONE_ENTRY = """<script>{
  const push = history.pushState.bind(history);
  history.pushState = (state, title, address) => {
    if (!address || new URL(address, location.href).pathname !== location.pathname) push(state, title, address);
    else if (!document.querySelector(".hl-stage:not(.hl-set)")) history.replaceState(state, title, address);
  };
}</script>"""
_INLINE = re.compile(rb"<script>(.*?)</script>", re.S)


class PageHead:
    """Adds HTML to the beginning of the head of every page; `later`: scripts that a page may add to itself."""

    def __init__(self, app: ASGIApp, added: str, later: Iterable[str] = ()) -> None:
        self.app, self.added = app, added.encode()
        self.later = [script.encode() for script in later]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, held = Headers(scope=scope), []
        host = headers.get("host", "")

        async def pass_on(message: Message) -> None:
            if not held and not _is_page(message):
                await send(message)
                return
            held.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                start, *parts = held
                page = b"".join(part.get("body", b"") for part in parts).replace(b"<head>", b"<head>" + self.added, 1)
                headers = MutableHeaders(scope=start)
                headers["content-length"] = str(len(page))
                headers["content-security-policy"] = policy([*_INLINE.findall(page), *self.later], host)
                await send(start)
                await send({"type": "http.response.body", "body": page})

        if "text/html" in headers.get("accept", ""):  # what is compressed could not be added to
            scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != b"accept-encoding"]}
        await self.app(scope, receive, pass_on)


def _is_page(message: Message) -> bool:
    if message["type"] != "http.response.start" or message["status"] != 200:
        return False
    headers = Headers(raw=message["headers"])
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers


def policy(scripts: Iterable[bytes], host: str) -> str:
    """What browsers may do with a page: run these scripts, which stand in it, and no others.

    `host`: by which it was asked for: some browsers take 'self' for pages only, not for websockets.
    """
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    allowed = {
        "default-src": "'self'",
        # WebAssembly: a part of Streamlit's that counts with long integers.
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *(f"'sha256-{one}'" for one in hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{host} wss://{host}" if host and "[" not in host else "'self'",  # no IPv6 in these
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(["'self'", *os.environ.get("HEADLIGHT_FRAMED_BY", "").replace(",", " ").split()]),
    }
    return "; ".join(f"{what} {where}" for what, where in allowed.items())
