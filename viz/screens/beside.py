"""What stands beside every figure: it in words, the lines of Python that reproduce it, and the figure to take away."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from viz import page
from viz.figures import Drawn
from viz.figures.export import titled
from viz.language import message, say
from viz.screens import code_lines, shared
from viz.ui.plot import pictures

LABEL = message("Words, code, files")
IN_WORDS = message("The figure in words:")
WORDS_HEIGHT = 200  # pixels; what is longer than a few lines scrolls
FEW_LINES = 4
LONGEST_NAME = 80  # characters; file systems take 255 bytes
REPRODUCE = message("These lines make the same figure, in the folder of this project:")
ONLY_HERE = message("No program makes this figure again: what it shows was computed here and is kept nowhere else.")
FILES = message("The figure as a picture, as a web page that needs no network, and its numbers:")


@dataclass(frozen=True)
class Beside:
    """What belongs to one figure.

    Attributes:
        title: what it shows, as it stands in a file of it, said.
        note: of what: the sentence, the checkpoint.
        lines: of Python that make `figure`, without imports; none where no program can make it again.
        twin: makes the figure that is taken away, where the page draws no Plotly figure.
    """

    title: str
    note: str
    lines: tuple[str, ...]
    twin: Callable[[], Drawn] | None = None

    @property
    def code(self) -> str:
        """The lines with their imports."""
        return code_lines.program(*self.lines)


@dataclass(frozen=True)
class Recipe:
    """How the arrays of a page come about: what its figures are of, and the lines that all of them begin with.

    Attributes:
        note: of what the figures are.
        lines: of Python.
    """

    note: str
    lines: tuple[str, ...] = ()

    def then(self, *lines: str, note: str = "") -> Recipe:
        """The same with further lines, and something more to say."""
        return Recipe(" · ".join(filter(None, (self.note, note))), (*self.lines, *lines))

    def figure(self, title: str, figure: str, *after: str, twin: Callable[[], Drawn] | None = None) -> Beside:
        """What belongs to one figure.

        Args:
            title: what it shows.
            figure: the call that makes it.
            after: lines that change it.
            twin: as for Beside.
        """
        return Beside(title, self.note, (*self.lines, f"figure = {figure}", *after), twin)


def file_name(title: str) -> str:
    """The name of a file, without an ending: letters and digits of any script, at most LONGEST_NAME of them.

    Example:
        >>> file_name("Cross-attention, layer 0, head 3")
        'headlight-cross-attention-layer-0-head-3'
        >>> file_name("크로스 어텐션, 헤드 3")
        'headlight-크로스-어텐션-헤드-3'
    """
    name = "headlight-" + (re.sub(r"[\W_]+", "-", title.lower()).strip("-") or "figure")
    return name[:LONGEST_NAME].rstrip("-")


def offer(figure: Drawn | None, beside: Beside, key: str) -> None:
    """Show the button that opens words, code and files; they are made when it is opened, files when asked for.

    Args:
        figure: as drawn; None where there is a twin.
        beside: what belongs to it.
        key: of the chart.
    """
    # No fragment of its own: one costs every redrawing a millisecond, and is worth something only to who opens it.
    popover = st.popover(say(LABEL), key=f"beside-{key}", on_change="rerun", type="tertiary")
    if popover.open:
        with popover:
            _show(figure if beside.twin is None else beside.twin(), beside, key)


def _show(figure: Drawn, beside: Beside, key: str) -> None:
    said = "\n".join([figure.description, *figure.table.in_words(say)])
    st.caption(say(IN_WORDS))
    with st.container(height=WORDS_HEIGHT if said.count("\n") > FEW_LINES else "content", key=f"words-{key}"):
        st.text(said)
    if beside.lines:
        st.caption(say(REPRODUCE))
        st.code(beside.code, language="python", wrap_lines=True, height="content")
    else:
        st.caption(say(ONLY_HERE))
    st.caption(say(FILES))
    name = file_name(beside.title)
    export = titled(figure, beside.title, beside.note)

    def as_page() -> bytes:
        return page.of_figure(export, beside.title, beside.note, name)

    def as_table() -> bytes:
        return figure.table.csv()

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pictures(export, name, f"pictures_{key}")
        for label, make, ending, mime in (
            ("HTML", as_page, "html", "text/html"),
            ("CSV", as_table, "csv", "text/csv"),
        ):
            st.download_button(
                label, shared.later(make), f"{name}.{ending}", mime, key=f"{ending}-{key}", on_click="ignore"
            )
