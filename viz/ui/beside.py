"""What stands beside every figure: it in words, the lines of Python that reproduce it, and the figure to take away."""

from __future__ import annotations

import re

import streamlit as st

from viz.export import page
from viz.figures import Drawn
from viz.figures.export import titled
from viz.text.language import message, say
from viz.ui.plot import pictures
from viz.views import cached
from viz.views.made import Plot

LABEL = message("Description · Python · Download")
IN_WORDS = message("The figure in words:")
WORDS_HEIGHT = 200  # pixels; what is longer than a few lines scrolls
FEW_LINES = 4
LONGEST_NAME = 80  # characters; file systems take 255 bytes
REPRODUCE = message("These lines make the same figure, in the folder of this project:")
ONLY_HERE = message("This figure has no code: it exists only in this session.")
FILES = message("The figure as a picture, an offline web page, or numbers:")


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


def offer(plot: Plot, key: str, figure: Drawn | None = None) -> None:
    """Show the button that opens words, code and files; they are made when it is opened, files when asked for.

    Args:
        plot: the figure.
        key: of the chart.
        figure: as drawn; drawn when it is asked for, where the page shows it in another way.
    """
    # No fragment of its own: one costs every redrawing a millisecond, and is worth something only to who opens it.
    popover = st.popover(say(LABEL), key=f"beside-{key}", on_change="rerun", type="tertiary")
    if popover.open:
        with popover:
            _show(figure or plot.draw(say), plot, key)


def _show(figure: Drawn, plot: Plot, key: str) -> None:
    said = "\n".join([figure.description, *figure.table.in_words(say)])
    st.caption(say(IN_WORDS))
    with st.container(height=WORDS_HEIGHT if said.count("\n") > FEW_LINES else "content", key=f"words-{key}"):
        st.text(said)
    if code := plot.code:
        st.caption(say(REPRODUCE))
        st.code(code, language="python", wrap_lines=True, height="content")
    else:
        st.caption(say(ONLY_HERE))
    st.caption(say(FILES))
    name = file_name(plot.title)
    export = titled(figure, plot.title, plot.note)

    def as_page() -> bytes:
        return page.of_figure(export, plot.title, plot.note, name)

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pictures(export, name, f"pictures_{key}")
        for label, make, ending, mime in (
            ("HTML", as_page, "html", "text/html"),
            ("CSV", figure.table.csv, "csv", "text/csv"),
        ):
            st.download_button(
                label, cached.later(make), f"{name}.{ending}", mime, key=f"{ending}-{key}", on_click="ignore"
            )
