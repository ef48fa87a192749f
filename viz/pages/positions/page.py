"""What an address chooses on the page Positions: viz/web/sheets/makers/positions.js reads the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from model.results.translation import KINDS
from viz.text import words
from viz.text.words_positions import ENCODINGS, RELATIVE, VIEWS
from viz.views import codes
from viz.views.view import MOST_CHARACTERS

EXAMPLE = next(iter(words.EXAMPLES.values()))
WIDTHS = (8, 16, 32, 64, 128, 256)
ORDERS = (1, 2, 3, 4, 5)
MOST_WAVES = 8


@dataclass(frozen=True)
class Choice:
    """What a visitor chose."""

    view: str = "encoding"
    first: str = "sinusoidal"  # the encoding
    second: str = "literal_loop"  # beside it
    n_positions: int = 50
    d_model: int = 64
    dimensions: list[int] | None = None  # whose waves are drawn
    text: str = EXAMPLE
    model: str = ""  # whose heads are looked at; empty: the default one
    order: int = 1  # of the words
    trained: bool = False  # whether the encoder has its positions while words stand in another order
    measured: str = ""  # the language model whose losses are drawn; empty: all
    head: Mapping[str, str | int] = field(default_factory=dict)  # kind, layer and head, as far as they are chosen

    def head_of(self, heads: Mapping[str, tuple[int, int]], usual: tuple[str, int, int]) -> tuple[str, int, int]:
        """The kind, layer and head that are chosen; the default ones where there are no such.

        `heads`: how many layers and heads each kind has; "" where there is one kind without a name.
        """
        chosen = {**dict(zip(("kind", "layer", "head"), usual)), **self.head}
        kind = "" if "" in heads else str(chosen["kind"])
        layer, head = int(chosen["layer"]), int(chosen["head"])
        n_layers, n_heads = heads.get(kind, (0, 0))
        return (kind, layer, head) if layer < n_layers and head < n_heads else usual


_READERS: dict[str, codes.Reader] = {
    "picture": codes.one_of(VIEWS),
    "first": codes.one_of(ENCODINGS),
    "second": codes.one_of([name for name in ENCODINGS if name not in RELATIVE]),
    "length": codes.number(8, 128),
    "width": codes.one_of(WIDTHS),
    "dimensions": codes.several_of(range(max(WIDTHS)), MOST_WAVES),
    "text": itemgetter(slice(MOST_CHARACTERS)),
    "model": str,
    "order": codes.one_of(ORDERS),
    "trained": codes.switch,
    "measured": str,
}
_OF_HEADS: dict[str, codes.Reader] = {"kind": codes.one_of(KINDS), **codes.PLACE}
_NAMES = {"picture": "view", "length": "n_positions", "width": "d_model"}  # of a Choice, where the address has others


def choice_of(asked: Mapping[str, str]) -> Choice:
    """What the parameters of an address choose, else the defaults."""
    values, _ = codes.read(asked, _READERS)
    head, _ = codes.read(asked, _OF_HEADS)
    return Choice(**{_NAMES.get(name, name): value for name, value in values.items()}, head=head)
