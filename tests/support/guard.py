"""Watches what a page in the browser does, and objects to errors and to anything that leaves the app's own server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

# These addresses hold their own content or name something inside the page: nothing is fetched.
INSIDE = {"data", "blob", "about"}
MISBEHAVED = "the page misbehaved"


class Guard:
    """The record of one browser context: requests, console errors, page errors.

    Args:
        url: the app server; only its host and port may be asked for anything, websockets included.
    """

    def __init__(self, url: str):
        self.allowed = urlsplit(url).netloc
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._leaving: list[Callable[[], None]] = []

    def watch(self, context: BrowserContext) -> None:
        """Starts recording every page that the context has or will open."""
        handlers = {
            "request": lambda request: self.requests.append(request.url),
            "console": self._hear,
            "weberror": lambda error: self.errors.append(f"page error: {error.error}"),
            "page": self._watch_page,
        }
        for event, handler in handlers.items():
            context.on(event, handler)
            self._leaving.append(partial(context.remove_listener, event, handler))
        for page in context.pages:
            self._watch_page(page)

    def leave(self) -> None:
        """Stops recording what the contexts do; pages that were opened meanwhile are heard until they close."""
        while self._leaving:
            self._leaving.pop()()

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", lambda websocket: self.requests.append(websocket.url))
        page.on("crash", lambda: self.errors.append("the page crashed"))

    def _hear(self, message) -> None:
        if message.type in ("error", "assert"):
            place = message.location.get("url", "")
            if place.endswith("/favicon.ico"):  # which the browser asks for by itself, outside the app
                return
            self.errors.append(f"console {message.type}: {message.text} ({place})")

    def foreign(self) -> list[str]:
        """Returns the requests so far that went elsewhere than to the app server."""
        parts = [(url, urlsplit(url)) for url in self.requests]
        return [url for url, part in parts if part.scheme not in INSIDE and part.netloc != self.allowed]

    def check(self) -> None:
        """Objects to what was recorded.

        Raises:
            AssertionError: names every console error, page error and request to somewhere else.
        """
        complaints = list(self.errors)
        complaints += [f"request to another server than {self.allowed}: {url}" for url in self.foreign()]
        if complaints:
            raise AssertionError(f"{MISBEHAVED}:\n" + "\n".join(complaints))
