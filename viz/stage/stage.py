"""The stage as a part of a Streamlit page: it takes a message, and asks for another when an option is chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from urllib.parse import parse_qsl

import streamlit as st

from viz.stage import assets


@cache
def _mounted():
    # Styles are not isolated: in a shadow tree Plotly's own are missing. Every class of ours begins with "hl-".
    # The code travels with every message, so it only fetches the modules, which browsers keep.
    return st.components.v2.component(
        "headlight_stage",
        html='<div class="hl-place"></div>',
        js=f"""
let modules;
export default function (component) {{
  modules ??= import(new URL("{assets.module_address("streamlit.js")}", location.origin).href);
  modules.then((stage) => stage.show(component));
  return () => {{}};
}}
""",
        isolate_styles=False,
    )


def stage(message: bytes, on_asked: Callable[[dict[str, str]], None], key: str = "stage") -> None:
    """Show a message on the stage.

    Args:
        message: as of `viz.stage.message.message`.
        on_asked: called before the page runs again because something was chosen that the server computes, with the
            parameters of the address as they are then.
        key: a name that no other part of the page has.
    """

    def asked() -> None:
        value = st.session_state[key]["asked"]
        on_asked(dict(parse_qsl(str(value or "").lstrip("?"), keep_blank_values=True)))

    _mounted()(key=key, data=message, on_asked_change=asked)
