"""A figure of a page: its title, itself, and beside it what says, makes and keeps it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from viz.figures import Drawn
from viz.text.language import say
from viz.ui import beside
from viz.ui.plot import plot as show
from viz.views.made import Plot


def heading(title: str, line: str) -> None:
    """Put a title over a figure, and one line that says what it shows."""
    with st.container(gap="xxsmall"):
        st.markdown(f"**{title}**")
        st.caption(line)


def draw(
    plot: Plot,
    key: str,
    column_width: int | None = None,
    on_click: Callable[..., None] | None = None,
    figure: Drawn | None = None,
) -> None:
    """Show a figure, and beside it what says, makes and keeps it.

    Args:
        plot: the figure.
        key, column_width, on_click: as for `viz.ui.plot.plot`.
        figure: it as drawn, where the page adds something to it.
    """
    figure = figure or plot.draw(say)
    show(figure, key, on_click=on_click, column_width=column_width)
    beside.offer(plot, key, figure)
