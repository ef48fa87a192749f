"""What every view of the page Positions gets: its places, sizes, the chosen encoding, model and text."""

from dataclasses import dataclass

from viz.text import words
from viz.text.language import say
from viz.text.words_positions import ENCODINGS
from viz.ui import frame

EXAMPLE = next(iter(words.EXAMPLES.values()))


@dataclass(frozen=True)
class Sizes:
    """How many positions a table has, and how many dimensions."""

    n_positions: int
    d_model: int


@dataclass(frozen=True)
class Page:
    """What the visitor chose, and the places to fill."""

    places: frame.Places
    sizes: Sizes
    first: str  # the chosen encoding
    checkpoint: str | None
    text: str

    @property
    def name(self) -> str:
        """The first encoding in words."""
        return say(ENCODINGS[self.first][0])
