"""Links from page to page that load the page again.

Within a session Streamlit drops from an address what it asks of controls that both pages have: there, the choices of
the page that was left would hold.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from urllib.parse import urlencode

from viz.ui import speaking


def address(page: str, query: Mapping[str, str] | None = None) -> str:
    """Where a page ("" for the first) is, seen from any other, in the language that is spoken; relative to any path.

    Example:
        >>> address("atlas", {"kind": "encoder_self"})
        './atlas?kind=encoder_self'
    """
    asked = urlencode(speaking.address(dict(query or {})))
    return f"./{page}?{asked}" if asked else f"./{page}"


def link(label: str, target: str) -> str:
    """A link in the same window, as HTML, of plain text."""
    return f'<a href="{html.escape(target)}" target="_self" style="color: inherit">{html.escape(label)}</a>'
