"""A circuit as a picture: columns are layers, rows the tokens at which heads stand, edges what they use."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from model.analysis.circuits import Circuit, Edge, HeadName, Node, Place

COLOURS = {"q": "#3b6fd4", "k": "#c9522b", "v": "#2f8f57"}
_TO_WORD = "#7a8594"
_NAMES = {"q": "queries", "k": "keys", "v": "values"}
_COLUMN, _ROW, _LEFT, _TOP, _RIGHT = 92, 40, 130, 84, 150
_THICKEST = 7.0
_TITLE = 44  # pixels above the columns that a title takes
_NARROWEST = 860  # what the legend takes
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2430 } .small { font-size: 11px; fill: #5b6675 }
.title { font-size: 16px; font-weight: 600 } .paper { fill: #fff } .row { stroke: #e3e7ec }
.head { fill: #fff; stroke: #1c2430; stroke-width: 1.2 } path { fill: none; opacity: .75 }
.down { stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e8ecf2 } .small { fill: #a5b0bf } .paper { fill: #12161c } .row { stroke: #2a313b }
  .head { fill: #1c222b; stroke: #e8ecf2 }
}
"""


@dataclass(frozen=True)
class Captions:
    """The words of a picture, in the language of its reader."""

    encoder: str = "encoder"
    decoder: str = "decoder"
    cross: str = "cross"
    layer: str = "layer"
    queries: str = "queries"
    keys: str = "keys"
    values: str = "values"
    to_word: str = "to the word"
    legend: str = "thickness: logits; dashed: against the word"


@dataclass(frozen=True)
class Picture:
    """What a picture says beside the circuit.

    Attributes:
        word: the word that comes from it.
        source_tokens: the rows of an encoder, above those of the decoder.
        rows: of the decoder.
        name_of: how a head is called.
    """

    title: str
    word: str
    source_tokens: Sequence[str]
    rows: Sequence[str]
    name_of: Callable[[HeadName | Place], str]
    captions: Captions = Captions()


def draw(circuit: Circuit, picture: Picture) -> str:
    """The picture as SVG, which follows light and dark."""
    layout = _Layout(circuit)
    columns, rows = len(layout.columns), sum(layout.heights.values())
    width = max(_NARROWEST, _LEFT + (columns + 1) * _COLUMN + _RIGHT)
    height = _TOP + max(1, rows) * _ROW + 46
    top = 0 if picture.title else _TITLE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {width} {height - top}" width="{width}" '
        f'height="{height - top}" role="img" aria-label="{escape(picture.title or picture.word)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="title" x="16" y="26">{escape(picture.title)}</text>',
        *_axes(circuit, picture, layout, width),
        *_edges(circuit, layout),
        *_heads(circuit, picture, layout),
        *_legend(height, picture.captions),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Layout:
    """Where heads stand."""

    def __init__(self, circuit: Circuit) -> None:
        places = [node.place for node in circuit.nodes]
        self.columns = sorted({_column(place) for place in places})
        self.heights: dict[tuple[bool, int], int] = {}  # by row, how many heads stand above each other
        self._slots: dict[Place, int] = {}
        for place in sorted(places):
            row = _row(place)
            slot = sum(_row(other) == row and _column(other) == _column(place) for other in self._slots)
            self._slots[place] = slot
            self.heights[row] = max(self.heights.get(row, 1), slot + 1)
        self.heights.setdefault((True, circuit.step), 1)
        self.heights = dict(sorted(self.heights.items()))

    def top(self, row: tuple[bool, int]) -> float:
        """The upper end of a row."""
        return _TOP + _ROW * sum(height for other, height in self.heights.items() if other < row)

    def at(self, place: Place) -> tuple[float, float]:
        """The middle of a head."""
        x = _LEFT + _COLUMN * (self.columns.index(_column(place)) + 0.5)
        return x, self.top(_row(place)) + _ROW * (self._slots[place] + 0.5)


def _column(place: Place) -> tuple[bool, int, bool]:
    """Layers of the encoder come first; in a layer of a decoder self-attention comes before cross-attention."""
    return place.kind != "encoder_self", place.layer, place.kind == "cross"


def _row(place: Place) -> tuple[bool, int]:
    return place.kind != "encoder_self", place.position


def _axes(circuit: Circuit, picture: Picture, layout: _Layout, width: int) -> Iterator[str]:
    several = len({column[0] for column in layout.columns} | {column[2] for column in layout.columns}) > 1
    for number, (is_decoder, layer, is_cross) in enumerate(layout.columns):
        captions = picture.captions
        stack = captions.cross if is_cross else captions.decoder if is_decoder else captions.encoder
        name = f"{stack if several else captions.layer} {layer}"
        x = _LEFT + _COLUMN * (number + 0.5)
        yield f'<text class="small" x="{x}" y="{_TOP - 12}" text-anchor="middle">{name}</text>'
    for row, height in layout.heights.items():
        top, middle = layout.top(row), layout.top(row) + _ROW * height / 2
        tokens = picture.rows if row[0] else picture.source_tokens
        yield f'<line class="row" x1="16" x2="{width - 16}" y1="{top}" y2="{top}"/>'
        yield f'<text x="{_LEFT - 14}" y="{middle + 4}" text-anchor="end">{escape(tokens[row[1]])}</text>'
        yield f'<text class="small" x="16" y="{middle + 4}">{row[1]}</text>'
    x, y = _end(circuit, layout)
    yield f'<text x="{x + 10}" y="{y + 4}">{escape(picture.word)}</text>'


def _end(circuit: Circuit, layout: _Layout) -> tuple[float, float]:
    """Where the word stands."""
    row = (True, circuit.step)
    return _LEFT + _COLUMN * (len(layout.columns) + 0.7), layout.top(row) + _ROW * layout.heights[row] / 2


def _edges(circuit: Circuit, layout: _Layout) -> Iterator[str]:
    largest = max([abs(edge.amount) for edge in circuit.edges] + [abs(node.effect) for node in circuit.nodes] + [1e-9])

    def line(start: tuple[float, float], end: tuple[float, float], amount: float, colour: str, about: str) -> str:
        (x, y), (to_x, to_y) = start, end
        bend = max(30.0, (to_x - x) / 2)
        down = ' class="down"' if amount < 0 else ""
        thickness = max(0.8, _THICKEST * abs(amount) / largest)
        return (
            f'<path{down} d="M {x:.1f} {y:.1f} C {x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} '
            f'{to_y:.1f}" stroke="{colour}" stroke-width="{thickness:.2f}"><title>{escape(about)}</title></path>'
        )

    for edge in reversed(circuit.edges):
        yield line(layout.at(edge.source), layout.at(edge.target), edge.amount, COLOURS[edge.side], _about(edge))
    for node in circuit.nodes:
        if node.effect:
            about = f"{node.effect:+.3f} logits added to the word itself"
            yield line(layout.at(node.place), _end(circuit, layout), node.effect, _TO_WORD, about)


def _about(edge: Edge) -> str:
    return f"{_NAMES[edge.side]}: {edge.amount:+.3f} logits by the gradient, share {edge.share:.0%}"


def _heads(circuit: Circuit, picture: Picture, layout: _Layout) -> Iterator[str]:
    for node in circuit.nodes:
        x, y = layout.at(node.place)
        yield f"<g><title>{escape(_about_head(node, picture))}</title>"
        yield f'<rect class="head" x="{x - 24}" y="{y - 13}" width="48" height="26" rx="7"/>'
        yield f'<text x="{x}" y="{y + 4}" text-anchor="middle">{node.place.layer}.{node.place.head}</text></g>'


def _about_head(node: Node, picture: Picture) -> str:
    own = f"adds {node.effect:+.3f} logits itself; " if node.effect else ""
    return f"{picture.name_of(node.place)}: {own}{node.amount:+.3f} logits in all, by the gradient"


def _legend(height: int, captions: Captions) -> Iterator[str]:
    x = 16
    names = {"q": captions.queries, "k": captions.keys, "v": captions.values, "": captions.to_word}
    for side, name in names.items():
        colour = COLOURS.get(side, _TO_WORD)
        yield f'<line x1="{x}" x2="{x + 26}" y1="{height - 20}" y2="{height - 20}" stroke="{colour}" stroke-width="4"/>'
        yield f'<text class="small" x="{x + 32}" y="{height - 16}">{escape(name)}</text>'
        x += 120
    yield f'<text class="small" x="{x}" y="{height - 16}">{escape(captions.legend)}</text>'
