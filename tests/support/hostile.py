"""What nobody hopes to be sent: odd texts and addresses, and what a page must not do with them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.messages import unpack
from viz.app.menu import MENU
from viz.ui import widgets
from viz.ui.plot import plot
from viz.views.view import NAMES, PLACE

PAGES = [f"{Path(file).name}.py" for pages in MENU.values() for file in pages]
# Words that no page has: where one of them comes back, it came from the visitor.
MARKED = (
    "<script>zq7()</script>",
    "<img src=x onerror=zq7()>",
    "<b>zq7</b>",
    "![zq7](//zq7.test/a.png)",
    "[zq7](javascript:zq7)",
    "$zq7$ `zq7` **zq7** :material/zq7:",
    "</style><script>zq7</script>",
    '"><svg onload=zq7>',
    "https://zq7.test/a",
    "(HTTP://zq7.test/`a`)",
    "www.zq7.test",
    "me@zq7.test",
    "https&colon;//zq7.test",
    ":streamlit: :zq7:",
    ":material_zq7:",
)
LINKS = "www.zq7.test me@zq7.test https://zq7.test/a"  # all within what a warning repeats
PIECES = (
    "",
    " ",
    "\t\r\n",
    "\x00\x01\x7f",
    "\u200b\u202e\u2066\ufeff",  # no width, right to left, isolated, byte order
    "e\u0301\u0323" + "\u0300" * 30,
    "ﬁ①Ⅷ℃ⅷİıſßẞ",
    "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "שלום مرحبا नमस्ते 你好 안녕",
    "\u2581<0x41><s></s><unk><pad>",
    "\uffff\ufffe\U0010ffff\ue000",
    "../../etc/passwd",
    "/dev/zero",
    "C:\\CON",
    "%s%n{0}{x}%00",
    "nan inf -1 1e309 " + "9" * 400,
    "[1,2]{}null true",
    "v1_oc0-0_oe9-9_f0-0-9_bc1-1",
    "🐈" * 40,
    "tired " * 300,
    "a" * 9_000,
)


def text(rng: random.Random) -> str:
    """A text that somebody could paste: marked, odd, or any characters (no surrogates: those cannot be sent)."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(MARKED)
    if kind == 1:
        return "".join(rng.choices((*PIECES, *MARKED), k=rng.randint(1, 4)))
    if kind == 2:
        return "".join(chr(rng.randint(32, 126)) for _ in range(rng.randint(1, 40)))
    ends = (0xFF, 0x7FF, 0xD7FF, 0xD7FF)
    return "".join(chr(rng.randint(0, rng.choice(ends))) for _ in range(rng.randint(1, 40)))


def address(rng: random.Random, keys: list[str]) -> dict[str, str | list[str]]:
    """A query for some of a page's keys: texts, small numbers, empty ones, several values for one key."""
    values = [lambda: text(rng), lambda: str(rng.randint(-2, 9)), lambda: "", lambda: [text(rng), str(rng.random())]]
    return {key: rng.choice(values)() for key in keys if rng.random() < 0.6}


def elements(block: Any) -> Iterator[Any]:
    """All elements of a page, and its blocks."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def url_keys(at: AppTest, kind: str = "") -> list[str]:
    """The keys of the controls of a page that stand in its address; only those of one kind of control if named."""
    of_kind = {getattr(element, "key", None) for element in elements(at._tree) if kind in ("", element.type)}
    parts = at.session_state[widgets.PARTS].codes if widgets.PARTS in at.session_state else {}
    keys = of_kind.intersection(*[set().union(*parts.values())])
    # The stage's choices stand in the address without such a control.
    on_stage = any(getattr(element.proto, "id", "").endswith("-stage") for element in of_type(at, "bidi_component"))
    return sorted(keys | ({*NAMES, *PLACE} if on_stage and not kind else {"text", "reference"} if on_stage else set()))


def of_type(at: AppTest, name: str) -> list[Any]:
    """The elements of a type."""
    return [element for element in elements(at._tree) if element.type == name]


def complaints(at: AppTest) -> list[str]:
    """What a page does that it must not, whatever it was given.

    Returns:
        One line for each traceback, each place where words of the visitor could become code, a link or a picture, and
        each label of a figure that holds a tag.
    """
    problems = [f"it raised {element.value}" for element in at.exception]
    for element in elements(at._tree):
        proto = getattr(element, "proto", None)
        if is_figure(element):
            problems += [f"a figure holds {label!r}" for label in _strings(_drawn(proto.bytes)) if _has_tag(label)]
        elif element.type not in ("text", "code", "bidi_component"):
            for name in ("body", "label", "help", "markdown", "text"):
                words = getattr(proto, name, "")
                if element.type == "html" and isinstance(words, str):  # no Markdown: what is escaped has no "<"
                    words = re.sub(r"<q>[^<]*</q>", "", words)
                if isinstance(words, str) and _can_act(words):
                    problems.append(f"{element.type} {name} holds {words!r}")
    return problems


def _can_act(words: str) -> bool:
    """Whether marked words stand there without what makes Markdown leave them alone."""
    words = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", words)  # code
    words = re.sub(r'href="\./[\w?=&;%.+-]*"', "", words)  # a link to our page, with what was typed in it
    alive = r"(?<!\\)(?:[<\[$`]|\*\*|:material|&colon)[^\n]*zq7|(?:https?://|www\.|@|:)(?:www\.)?zq7|:streamlit:"
    return re.search(alive, words, re.I) is not None


def _has_tag(label: str) -> bool:
    return "zq7" in label and re.search(r"<[^>]*zq7|<(?:script|img|svg)|<b>zq7", label) is not None


def is_figure(element: Any) -> bool:
    """Whether a part of a page is a figure."""
    return element.type == "bidi_component" and element.proto.component_name == plot.COMPONENT


def _drawn(message: bytes) -> dict[str, Any]:
    """What Plotly draws of a figure; its description and the names of its table are set as plain text."""
    figure = unpack(message)
    return {"data": figure["data"], "layout": figure["layout"]}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype == object):
        for part in value:
            yield from _strings(part)


def shows_something(at: AppTest) -> bool:
    """Whether a page shows figures, or the stage."""
    return any(is_figure(element) or element.type == "bidi_component" for element in elements(at._tree))
