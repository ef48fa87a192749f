"""Links that name a page (/masks) open without looking for the server under that name first.

Streamlit's browser code takes a page's path for a folder that the app may be served in, asks there, is answered 404
(an error in the console) and only then asks at the root. Here the page itself says where the server is.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SERVER = b"<script>window.__streamlit = {BACKEND_BASE_URL: window.location.origin}</script>"


class RootServer:
    """Adds to every HTML page that the server is at the root of its address.

    Args:
        app: the application that answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; anything but a whole HTML page passes as it is."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                held.append(message)
            elif held:
                held.append(message)
                if not message.get("more_body"):
                    for changed in _with_server(held):
                        await send(changed)
            else:
                await send(message)

        await self.app(_plain(scope), receive, pass_on)


def _plain(scope: Scope) -> Scope:
    """A request for a page, asked without compression, which could not be added to; another request as it is."""
    headers = dict(scope["headers"])
    if b"text/html" not in headers.get(b"accept", b""):
        return scope
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != b"accept-encoding"]}


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(raw=start["headers"])
    is_html = headers.get("content-type", "").startswith("text/html")
    return start["status"] == 200 and is_html and "content-encoding" not in headers


def _with_server(messages: list[Message]) -> list[Message]:
    """The start and the parts of a page as a start and one part, the script first in its head."""
    start, *parts = messages
    body = b"".join(part.get("body", b"") for part in parts).replace(b"<head>", b"<head>" + SERVER, 1)
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["content-length"] = str(len(body))
    return [{**start, "headers": headers.raw}, {"type": "http.response.body", "body": body}]
