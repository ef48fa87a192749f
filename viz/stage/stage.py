"""The stage as a part of a Streamlit page: it takes a message, and asks for another when an option is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from urllib.parse import parse_qsl

import streamlit as st

from viz.stage import assets


@cache
def _mounted():
    return assets.component("headlight_stage", "streamlit.js")


def stage(
    message: bytes,
    on_asked: Callable[[dict[str, str]], None],
    key: str = "stage",
    on_did: Callable[[dict], None] | None = None,
) -> None:
    """Show a message on the stage.

    Args:
        message: as of `viz.stage.message.message`.
        on_asked: called before the page runs again because something was chosen that the server computes, with the
            parameters of the address as they are then.
        key: a name that no other part of the page has.
        on_did: the same with an action (steer.js) where something was changed; None: the page changes nothing.
    """

    def asked() -> None:
        value = st.session_state[key]["asked"]
        on_asked(dict(parse_qsl(str(value or "").lstrip("?"), keep_blank_values=True)))

    def did() -> None:
        try:
            action = json.loads(str(st.session_state[key]["did"]))
        except ValueError:
            return
        if on_did is not None and isinstance(action, dict):
            on_did(action)

    _mounted()(key=key, data=message, on_asked_change=asked, on_did_change=did)
