"""What a figure function returns."""

from __future__ import annotations

import plotly.graph_objects as go

from viz.figures.tables import Table


class Drawn(go.Figure):
    """A plotly Figure that gives along what it shows.

    Attributes:
        description: the sentence for a caption or a screen reader, plain.
        table: what was drawn.
    """

    description = ""
    table: Table | None = None

    def __init__(self, *drawn, description: str = "", table: Table | None = None) -> None:
        super().__init__(*drawn)
        self.description, self.table = description, table
