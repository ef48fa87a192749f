"""A figure of a page with what says, makes and keeps it."""

import re
from collections.abc import Callable
from functools import partial

import streamlit as st

from viz.export import page
from viz.figures import Figure
from viz.figures.figure import titled
from viz.stage.payload.packing import pack
from viz.text.language import current, say, using
from viz.ui import shared
from viz.ui.plot.plot import picture_payload, pictures
from viz.ui.plot.plot import plot as show
from viz.views.snippets import Plot

FORMATS = ("html", "csv")


def heading(title: str, line: str) -> None:
    """The title of a part of a page, and a line under it."""
    with st.container(gap="xxsmall"):
        st.markdown(f"**{title}**")
        if line:
            st.caption(line)


def draw(
    plot: Plot,
    key: str,
    column_width: int | None = None,
    on_click: Callable[..., None] | None = None,
    height: int | None = None,
    least: int = 0,
    line: str | None = None,
) -> None:
    """Show a figure and the button beside it, under its title if there is a line of what it shows.

    `height` and `least` are pixels, where they are not those of the figure; the rest is as for `viz.ui.plot.plot.plot`.
    """
    if line is not None:
        heading(plot.title, line)
    figure = plot.figure
    if height or least:
        figure = figure.copy()
        figure.layout.height = height or max(least, figure.layout.height)
    show(figure, key, on_click=on_click, column_width=column_width)
    offer(plot, key, figure)


def file_name(title: str) -> str:
    """The name of a file, without an ending.

    >>> file_name("Attention, layer 0, head 3"), file_name("어텐션, 헤드 3")
    ('headlight-attention-layer-0-head-3', 'headlight-어텐션-헤드-3')
    """
    name = "headlight-" + (re.sub(r"[\W_]+", "-", title.lower()).strip("-") or "figure")
    return name[:80].rstrip("-")  # file systems take 255 bytes


def offer(plot: Plot, key: str, figure: Figure) -> None:
    """Show the button that opens words, code and files, all made when they are asked for."""
    # No fragment of its own: one costs every redrawing a millisecond.
    label = say("Save · Code")
    with st.popover(label, key=f"beside-{key}", on_change="rerun", type="tertiary") as popover:
        if popover.open:
            _beside(plot, key, figure)


def _beside(plot: Plot, key: str, figure: Figure) -> None:
    text = in_words(figure)
    with st.container(height=200 if text.count("\n") > 4 else "content", key=f"words-{key}"):
        st.text(text)
    if code := plot.code:
        st.caption(say("This makes the same figure in the folder of this project:"))
        st.code(code, language="python", wrap_lines=True, height="content")
    else:
        st.caption(say("This figure has no code: it exists only in this session."))
    name = file_name(plot.title)
    with shared.row(gap="small"):
        pictures(titled(figure, plot.title, plot.note), name, f"pictures_{key}")
        for kind in FORMATS:
            content = using(current())(partial(file_of, plot, kind, figure))
            st.download_button(
                kind.upper(), content, f"{name}.{kind}", f"text/{kind}", key=f"{kind}-{key}", on_click="ignore"
            )


def in_words(figure: Figure) -> str:
    """What a figure shows, in sentences."""
    table = figure.table
    assert table is not None  # every figure that is shown has one
    return "\n".join([figure.description, *table.in_words(say)])


def file_of(plot: Plot, kind: str, figure: Figure) -> bytes:
    """A figure, with the title and the note of its plot, as a file of one of FORMATS; another kind is a KeyError."""
    export = titled(figure, plot.title, plot.note)
    assert figure.table is not None
    make = {
        "html": partial(page.of_figure, export, plot.title, plot.note, file_name(plot.title)),
        "csv": figure.table.csv,
    }
    return make[kind]()


def saved(plot: Plot, kind: str | None) -> bytes:
    """What a browser keeps of a picture: words, code and the figure (`Saved` in viz/web/sheets/types.js), or a file."""
    if kind is not None:
        return file_of(plot, kind, plot.figure)
    export = titled(plot.figure, plot.title, plot.note)
    return pack(
        {"text": in_words(plot.figure), "code": plot.code, "picture": picture_payload(export, file_name(plot.title))}
    )
