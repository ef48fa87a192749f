"""One encoding: its table over some of its waves, and the table that is trained."""

from collections.abc import Sequence
from typing import Any

from model.experiments import recorded_positions
from viz.figures import encoding_panels, positional_heatmap
from viz.pages.positions.page import Choice
from viz.text.language import say
from viz.text.words_positions import ENCODINGS, OF_TABLES
from viz.views.results import position_results
from viz.views.snippets import Code, Origin, Plot, program, snippet

HEATMAP = """
from viz.figures import positional_heatmap
figure = positional_heatmap($table)
figure.show()
"""
PANELS = """
from viz.figures import encoding_panels
figure = encoding_panels(first, $dimensions, column_axis=$column_axis, row_axis=$row_axis)
figure.show()
"""


def legend(place: str, name: str) -> str:
    """What a line of the first or second encoding is called."""
    return say(OF_TABLES[place], name=name)


class Encodings:
    """One encoding or two, "first" and "second", their tables by these names, and how they are computed."""

    def __init__(self, choice: Choice, *places: str) -> None:
        self.codes = {place: str(getattr(choice, place)) for place in places}
        self.n_positions, self.d_model = choice.n_positions, choice.d_model
        self.names = {place: say(ENCODINGS[name][0]) for place, name in self.codes.items()}
        self.legends = {place: legend(place, name) for place, name in self.names.items()}
        self.tables = {
            place: position_results.table(name, self.n_positions, self.d_model) for place, name in self.codes.items()
        }
        line = say(OF_TABLES["size"], positions=self.n_positions, dimensions=self.d_model)
        code = [
            position_results.table_code(place, name, self.n_positions, self.d_model)
            for place, name in self.codes.items()
        ]
        self.origin = Origin(" · ".join([line, *self.legends.values()]), program(*code))

    def plots(self, *places: str) -> dict[str, Plot]:
        """The tables of some of them as figures, by the name of each."""
        plots = {}
        for place in places:
            figure = positional_heatmap(self.tables[place], say=say)
            code = program(self.origin.code, snippet(HEATMAP, table=Code(place)))
            title = say(OF_TABLES["title"], name=self.names[place])
            plots[f"table-{place}"] = Plot(title, self.origin.note, figure, code)
        return plots


def plots(choice: Choice) -> dict[str, Plot]:
    """The table of the chosen encoding over some of its waves."""
    encodings = Encodings(choice, "first")
    table = encodings.tables["first"]
    dimensions = _dimensions(choice.dimensions, table.shape[1])
    column, row = position_results.axes(choice.first)
    axes = {"column_axis": column, "row_axis": row}
    figure = encoding_panels(table, dimensions, **axes, say=say)
    code = program(encodings.origin.code, snippet(PANELS, dimensions=dimensions, **axes))
    title = say(OF_TABLES["title"], name=encodings.names["first"])
    return {"table": Plot(title, encodings.origin.note, figure, code)}


def _dimensions(chosen: Sequence[int] | None, width: int) -> list[int]:
    """The dimensions whose waves are drawn; a narrower encoding lacks some."""
    if chosen is None:
        chosen = [0, 1, width // 4, width // 2]
    return sorted({dimension for dimension in chosen if dimension < width})


def recorded_sizes(trains: bool) -> dict[str, int] | None:
    """The sizes of the trained table that nobody waits for; where it is not recorded, None or, if it trains, those."""
    sizes = {"positions": recorded_positions.N_POSITIONS, "dimensions": recorded_positions.D_MODEL}
    is_there = recorded_positions.shipped(*sizes.values()) is not None
    return sizes if is_there or not trains else None


def learned_data(choice: Choice) -> dict[str, Any]:
    """The trained table of some sizes: the recorded one, or one that is trained now."""
    learned = position_results.learn(choice.n_positions, choice.d_model)
    return {"table": learned.trained, "hits": learned.hits, "loss": float(learned.losses[-1])}
