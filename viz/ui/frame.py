"""The frame that pages share: a question, its answer in one sentence, all of them small, one of them large.

Every page has the same places, in this order: `question` (what the page is about), `answer` (one large computed
sentence and a small one), and two sides that begin at the same edge: tiles at the left, a picture at the right that
reaches the lower edge of the window, and one sentence under it. Controls stand in the row directly above what they
change. On a phone: question, answer, picture, tiles.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.figures.framed import framed
from viz.stage import assets
from viz.stage.payload import packing
from viz.text.language import say
from viz.ui import explore
from viz.ui.plot.plot import plot as show_plot
from viz.ui.widgets import control
from viz.views.codes import one_of
from viz.views.snippets import Plot

TILES = "headlight_tiles"
LEAST = 300  # pixels of the large picture


@dataclass(frozen=True)
class Tile:
    """One of all: what it is called, what is said under it, and its picture, or none.

    A picture is colours, uint8 (rows, columns, 4), or numbers about 0 as `signed_pixels` gives them.
    """

    code: str
    name: str
    note: str = ""
    _: KW_ONLY
    flag: str = ""  # said in the colour of rings
    heading: str = ""  # above it, of the tiles that begin with it
    pixels: np.ndarray | None = None


@dataclass(frozen=True)
class Top:
    """The frame of a page, and where its question and warnings go; each may be filled in any order."""

    box: DeltaGenerator
    question: DeltaGenerator
    notes: DeltaGenerator


@dataclass(frozen=True)
class Places(Top):
    """Where the parts of a page go."""

    answer: DeltaGenerator
    left_controls: DeltaGenerator
    left: DeltaGenerator
    right_controls: DeltaGenerator
    right: DeltaGenerator


def opening(title: str) -> None:
    """Name the page for screen readers and tests; the answer takes the place of a title."""
    st.html(f'<h1 class="hl-hidden">{html.escape(title)}</h1>')


def places(left: int = 38) -> Places:
    """Lay out the frame; `left`: per cent of the width that the left side has."""
    return sides(top(), left)


def top() -> Top:
    """Lay out the frame with what stands above the answer; the rest is drawn into its box."""
    box = st.container(key="frame")
    with box:
        question = st.container(horizontal=True, gap="small", vertical_alignment="center", key="frame-question")
        notes = st.container(key="frame-notes")
    return Top(box, question, notes)


def sides(above: Top, left: int = 38) -> Places:
    """Lay out the answer and both sides below what stands above; `left` as in `places`."""
    with above.box:
        answer = st.container(key="frame-answer")
        with st.container(key="frame-sides"):
            small, large = st.columns([left, 100 - left], gap="medium")
        with small, st.container(key="frame-left"):
            left_controls = controls("left")
            left_side = st.container(key="frame-small")
        with large, st.container(key="frame-right"):
            right_controls = controls("right")
            right_side = st.container(key="frame-large")
    return Places(above.box, above.question, above.notes, answer, left_controls, left_side, right_controls, right_side)


def controls(name: str) -> DeltaGenerator:
    """A row of controls directly above what they change."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"frame-controls-{name}")


def question(text: str) -> None:
    """The question of a page that the visitor does not type, in the place of a text box."""
    st.html(f'<p class="hl-question">{html.escape(text)}</p>')


def answer(text: str, note: str = "", quoted: str = "") -> None:
    """The answer of the page: one large sentence and a small one, plain text; `quoted`: what a model wrote."""
    html_text = f'<p class="hl-answer" role="status">{html.escape(text)}</p>'
    quoted = f"<q>{html.escape(quoted)}</q> " if quoted else ""
    st.html(f'{html_text}<p class="hl-answer-note">{quoted}{html.escape(note)}</p>')


def note(text: str, tag: str = "") -> None:
    """One sentence under a picture, plain text; `tag`: "code" for a formula."""
    text = f"<{tag}>{html.escape(text)}</{tag}>" if tag else html.escape(text)
    st.html(f'<p class="hl-note">{text}</p>')


def label(text: str) -> None:
    """What a control says that has no label of its own, in a row of controls."""
    st.html(f'<p class="hl-note">{html.escape(text)}</p>', width="content")


def picture_title(text: str, mark: str = "", small: str = "", tag: str = "", quoted: str = "") -> None:
    """What a picture shows, and what is small beside it.

    Args:
        mark: underlined in the colour of rings.
        tag: "code" or "q", where the text is code or a quotation and not of the page's language.
        quoted: what a model wrote, small beside it.
    """
    text = f"<{tag}>{html.escape(text)}</{tag}>" if tag else html.escape(text)
    mark = f" <em>{html.escape(mark)}</em>" if mark else ""
    small = f" <small>{html.escape(small)}</small>" if small else ""
    quoted = f" <small><q>{html.escape(quoted)}</q></small>" if quoted else ""
    st.html(f'<p class="hl-picture-title">{text}{mark}{small}{quoted}</p>')


def options(count: int, key: str) -> DeltaGenerator:
    """A menu of settings, which says how many are not the default."""
    label = say("Options · {count}", count=count) if count else say("Options")
    return st.popover(label, key=f"options-{key}")


def pictures(
    plots: Mapping[str, Plot],
    *,
    titles: Mapping[str, tuple[str, ...]] = {},
    on_click: Callable[..., None] | None = None,
    is_map: bool = True,
    bar: bool = True,
    fills: bool = True,
    below: int = 0,
    least: int = LEAST,
) -> None:
    """Draw figures beside each other, equally high, down to the window's lower edge.

    Args:
        plots: by key.
        titles: what stands above each, as for `picture_title`.
        is_map: columns are named above, else the figure keeps its axes.
        fills: reach the lower edge, else as high as they are.
        below: pixels that are left free under the pictures, besides one sentence.
        least: pixels that they are high in a low window.
    """
    for (key, plot), column in zip(plots.items(), st.columns(len(plots), gap="small")):
        with column:
            figure = plot.figure
            title_row(plot, key, titles.get(key, (plot.title,)))
            if is_map:
                figure = framed(figure.copy(), bar=bar)  # it may be drawn again
            show_plot(figure, key, on_click=on_click, column_width=13, fills=(least, below, 1.0) if fills else None)


def title_row(plot: Plot, key: str, title: tuple[str, ...]) -> None:
    """What stands above a picture, and the button that saves it; the title as in `picture_title`."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"frame-title-{key}"):
        picture_title(*title)
        explore.offer(plot, key, plot.figure)


def choose_tile(
    label: str,
    tiles: Sequence[Tile],
    key: str,
    default: str,
    *,
    columns: int,
    small: bool = False,
    height: int = 52,
    fills: bool = False,
    scrolls: bool = False,
    on_change: Callable[[], None] | None = None,
) -> str:
    """Let the visitor choose one of some tiles; the choice stands in the address as a code of a tile.

    Args:
        small: pictures without names.
        height: pixels of a picture.
        fills: or more, so that the left side ends where the right one does.
        scrolls: where there is no room for all, so that it does, too.
    """

    def widget(label: str, tiles: Sequence[Tile], *, key: str, persist_state: str | None = None) -> str:
        def keep_choice() -> None:
            code = st.session_state[f"{key}-tiles"].get("selected")
            if code in [tile.code for tile in tiles]:
                st.session_state[key] = code
                if on_change:
                    on_change()

        payload = {
            "label": label,
            "columns": columns,
            "small": small,
            "height": height,
            "fills": fills,
            "scrolls": scrolls,
            "selected": st.session_state[key],
            "tiles": [_packed(tile) for tile in tiles],
        }
        _mounted()(key=f"{key}-tiles", data=packing.pack(payload), on_selected_change=keep_choice)
        return st.session_state[key]

    return control(widget, label, tiles, key=key, reader=one_of([tile.code for tile in tiles]), default=default)


@cache
def _mounted():
    return assets.component(TILES, "pages/tiles.js")


def _packed(tile: Tile) -> dict:
    payload = {"code": tile.code, "name": tile.name, "note": tile.note, "flag": tile.flag, "heading": tile.heading}
    return payload | ({} if tile.pixels is None else {"pixels": tile.pixels})
