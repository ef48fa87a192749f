"""The stage in the app: what shows it, and what browsers fetch.

Our modules and styles and Plotly have their version in their address, so that browsers keep them for good.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import cast
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st
from plotly import offline
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from viz.stage import words
from viz.stage.files import ALONE, EARLY, FILES, TYPES, VERSION, page, plotly
from viz.stage.payload.packing import pack_head
from viz.stage.payload.payloads import Action
from viz.text.language import LANGUAGES

PAGE = "stage/stage.html"  # what streamlit.js keeps the stage as
KEPT = 256_000_000  # bytes of maps, the newest
MOST_LATER = 64  # computations that browsers may still ask for
_MAPS: dict[str, np.ndarray] = {}  # quantised (L, H, T, S)
_LATER: "dict[str, _Later]" = {}
_ANSWERS: "dict[str, Answer]" = {}
_LOCK = threading.Lock()
_SALT = secrets.token_bytes(16)
Answer = Callable[[Mapping[str, str]], bytes | None]  # of the parameters of an address; None: there is nothing
_FOR_GOOD = {"cache-control": "public, max-age=31536000, immutable"}


def root() -> str:
    """The path below which the app is served, without a last slash."""
    path = (st.get_option("server.baseUrlPath") or "").strip("/")
    return path and f"/{path}"


def _address(*names: str) -> str:
    return "/".join((root(), "headlight", *names))


def _plotly_address() -> str:
    return _address(offline.get_plotlyjs_version(), "plotly.min.js")


def address_of(name: str) -> str:
    """Where browsers fetch a module or a style, by its place below viz/web/."""
    return _address(VERSION, name)


def head() -> str:
    """Tags for the head of every page, which fetch styles, modules and Plotly early."""
    how = {".js": "modulepreload", ".css": "stylesheet"}
    names = [name for name in FILES if name != ALONE and (name in EARLY or name.endswith(".css"))]
    ours = "".join(f'<link rel="{how[Path(name).suffix]}" href="{address_of(name)}">' for name in names)
    library = address_of("stage/frame/plotly.js")
    return (
        f'{ours}<link rel="preload" as="script" data-plotly href="{_plotly_address()}">'
        f'<script>(window.requestIdleCallback ?? setTimeout)(() => import("{library}").then((ours) => ours.plotly())'
        ".catch(() => {}))</script>"
    )


@cache
def component(name: str, module: str, shows: str = "show"):
    """What mounts a component of Streamlit, whose messages a function of a module of FILES shows."""
    # In a shadow tree Plotly's own styles are missing. The code travels with every message, so it only fetches modules.
    return st.components.v2.component(  # pyright: ignore[reportAttributeAccessIssue] imported on first use
        name,
        html='<div class="hl-place"></div>',
        js=f"""
let modules;
export default function (component) {{
  modules ??= import(new URL("{address_of(module)}", location.origin).href);
  modules.then((ours) => ours.{shows}(component));
  return () => modules.then((ours) => ours.leave?.(component));
}}
""",
        isolate_styles=False,
    )


def stage(
    message: bytes,
    on_asked: Callable[[dict[str, str]], None],
    on_did: Callable[[Action], None] = lambda _: None,
    key: str = "stage",
) -> None:
    """Show a message, as in `viz.stage.payload.message.message`.

    Before the page runs again, `on_asked` is called with the address where something was chosen that the server
    computes, and `on_did` with an action (steer.js) where something was changed. The key tells several apart.
    """

    def pass_request() -> None:
        on_asked(dict(parse_qsl(str(st.session_state[key]["asked"] or "").lstrip("?"), keep_blank_values=True)))

    def pass_action() -> None:
        if isinstance(action := st.session_state[key]["did"], dict):
            on_did(cast(Action, action))

    mounted = component("headlight_stage", "stage/main/streamlit.js")
    mounted(key=key, data=message, on_asked_change=pass_request, on_did_change=pass_action)


def keep(maps: np.ndarray) -> str:
    """Keep quantised maps (L, H, T, S) for browsers to fetch, all together or, by layer and head below that, each.

    Returns an address below the app's root, which nobody can guess.
    """
    name = hashlib.blake2b(np.ascontiguousarray(maps).data, digest_size=16, key=_SALT).hexdigest()
    with _LOCK:
        _MAPS.pop(name, None)
        _MAPS[name] = maps  # behind all others
        while len(_MAPS) > 1 and sum(stack.nbytes for stack in _MAPS.values()) > KEPT:
            del _MAPS[next(iter(_MAPS))]
    return f"headlight/maps/{name}"


class _Later:
    """Bytes that are computed when a browser first asks for them; None where they cannot be."""

    def __init__(self, compute: Callable[[], bytes]) -> None:
        self._compute: Callable[[], bytes] | None = compute
        self._lock = threading.Lock()
        self._data: bytes | None = None

    def read(self) -> bytes | None:
        """The bytes, computed once."""
        with self._lock:
            if self._compute is not None:
                compute, self._compute = self._compute, None
                with suppress(ValueError):
                    self._data = compute()
            return self._data


def keep_later(name: str, compute: Callable[[], bytes]) -> str:
    """Keep a computation, named by what it computes, until a browser asks for its result.

    Returns an address below the app's root, which nobody can guess. A ValueError of the computation is a result that
    there is not.
    """
    key = hashlib.blake2b(name.encode("utf-8"), digest_size=16, key=_SALT).hexdigest()
    with _LOCK:
        _LATER[key] = _LATER.pop(key, None) or _Later(compute)
        while len(_LATER) > MOST_LATER:
            del _LATER[next(iter(_LATER))]
    return f"headlight/later/{key}"


def keep_answers(name: str, answer: Answer) -> str:
    """Keep what answers browsers, named by what it knows: they add a query to the address.

    Returns an address below the app's root, which nobody can guess.
    """
    key = hashlib.blake2b(name.encode("utf-8"), digest_size=16, key=_SALT).hexdigest()
    with _LOCK:
        _ANSWERS[key] = _ANSWERS.pop(key, None) or answer
        while len(_ANSWERS) > MOST_LATER:
            del _ANSWERS[next(iter(_ANSWERS))]
    return f"headlight/answers/{key}"


async def _answers(request: Request) -> Response:
    answer = _ANSWERS.get(request.path_params["name"])
    data = answer and await run_in_threadpool(answer, dict(request.query_params))
    return Response(status_code=204) if data is None else _answer(data)


async def _later(request: Request) -> Response:
    later = _LATER.get(request.path_params["name"])
    if later is None:
        return _answer(None)
    data = await run_in_threadpool(later.read)
    return Response(status_code=204) if data is None else _answer(data)


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    content = page() if name == PAGE else FILES.get(name)
    if content is None:
        return Response(status_code=404)
    return Response(content, media_type=TYPES.get(Path(name).suffix, "text/plain"), headers=_FOR_GOOD)


async def _words(request: Request) -> Response:
    language = request.path_params["language"]
    if language not in LANGUAGES:
        return Response(status_code=404)
    return Response(words.packed(language), media_type="application/json", headers=_FOR_GOOD)


async def _plotly(request: Request) -> Response:
    return Response(plotly(), media_type="text/javascript", headers=_FOR_GOOD | {"content-encoding": "gzip"})


async def _maps(request: Request) -> Response:
    maps = _MAPS.get(request.path_params["name"])
    return _answer(None if maps is None else maps.tobytes())


async def _head(request: Request) -> Response:
    """One head, in bytes instead of 16 bits where the address ends with "?bytes"."""
    maps = _MAPS.get(request.path_params["name"])
    layer, head = request.path_params["layer"], request.path_params["head"]
    if maps is None or layer >= maps.shape[0] or head >= maps.shape[1]:
        return _answer(None)
    return _answer(pack_head(maps[layer, head], "bytes" in request.query_params))


def _answer(data: bytes | None) -> Response:
    if data is None:
        return Response(status_code=404)
    return Response(data, media_type="application/octet-stream", headers={"cache-control": "private, max-age=3600"})


def routes() -> list[BaseRoute]:
    """Where the app answers with modules, styles and maps."""
    return [
        Route(_plotly_address(), _plotly),
        Route(_address("words", "{version}", "{language}"), _words),
        Route(_address("maps", "{name}"), _maps),
        Route(_address("maps", "{name}", "{layer:int}", "{head:int}"), _head),
        Route(_address("later", "{name}"), _later),
        Route(_address("answers", "{name}"), _answers),
        Route(_address(VERSION, "{name:path}"), _file),
    ]
