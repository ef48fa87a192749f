"""The stage as a part of a Streamlit page: it takes a message, and asks for another when an option is chosen."""

import json
from collections.abc import Callable
from functools import cache
from urllib.parse import parse_qsl

import streamlit as st

from viz.stage import assets

KEY = "stage"  # of no other part of a page


@cache
def _mounted():
    return assets.component("headlight_stage", "streamlit.js")


def stage(
    message: bytes, on_asked: Callable[[dict[str, str]], None], on_did: Callable[[dict], None] = lambda _: None
) -> None:
    """Show a message, as of `viz.stage.message.message`; both functions are called before the page runs again.

    Args:
        on_asked: of the address, as it is then, where something was chosen that the server computes.
        on_did: of an action (steer.js), where something was changed.
    """

    def asked() -> None:
        on_asked(dict(parse_qsl(str(st.session_state[KEY]["asked"] or "").lstrip("?"), keep_blank_values=True)))

    def did() -> None:
        try:
            action = json.loads(str(st.session_state[KEY]["did"]))
        except ValueError:
            return
        if isinstance(action, dict):
            on_did(action)

    _mounted()(key=KEY, data=message, on_asked_change=asked, on_did_change=did)
