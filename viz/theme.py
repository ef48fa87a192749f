"""The one place for colours, fonts and sizes, right on a light and on a dark page and for colour-blind readers.

Backgrounds are transparent; text and grid colours are left to the page's own theme.
"""

from typing import Any

from plotly.colors import get_colorscale

Settings = dict[str, Any]  # JSON that Plotly reads: of a trace, an axis, a layout, or of a part of them
ColorScale = list[list[float | str]]  # pairs of a place from 0 to 1 and a colour

TRANSPARENT = "rgba(0,0,0,0)"
# Probabilities on [0, 1]: lightness grows evenly, also in greyscale print.
SEQUENTIAL: ColorScale = get_colorscale("Viridis")
# Values about zero: blue below, pale grey at zero, orange above.
DIVERGING: ColorScale = [[0.0, "#08519c"], [0.25, "#6baed6"], [0.5, "#f0f0f0"], [0.75, "#f5a462"], [1.0, "#a63603"]]
# Values about zero on a dark page: near zero about as dark as the page, the largest the lightest.
DIVERGING_ON_DARK: ColorScale = [
    [0.0, "#a6d3f7"],
    [0.25, "#3f85bd"],
    [0.5, "#262d35"],
    [0.75, "#b8641f"],
    [1.0, "#ffc38f"],
]

# A mask's two colours.
MAY_ATTEND = "#0072b2"
BLOCKED = "#e69f00"
MASK_SCALE: ColorScale = [[0.0, BLOCKED], [0.5, BLOCKED], [0.5, MAY_ATTEND], [1.0, MAY_ATTEND]]

# Cells that a mask takes out of a map: hatched, because every plain colour already means a number.
HATCH_FILL = "#8a8d93"
HATCH: Settings = {
    "mode": "lines",
    "line": {"width": 0},
    "fill": "toself",
    "fillcolor": HATCH_FILL,
    "fillpattern": {"shape": "/", "size": 7, "bgcolor": HATCH_FILL, "fgcolor": "#c3c6cb", "solidity": 0.2},
    "hoverinfo": "skip",
}

SELECTED: Settings = {"color": "#ff4b1f", "width": 3}

# Okabe and Ito's colours without yellow and black, which vanish on a light or a dark page.
LINES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c")
DASHES = ("solid", "dash", "dot", "dashdot")
LINE_WIDTH = 2

TICK_SIZE = 12
GLYPH_WIDTH = 0.62 * TICK_SIZE  # pixels an average Latin letter takes in a tick label
MAX_TICKS = 32  # labels on one axis: more cost more time than the map itself
MAX_NUMBERS = 16  # on one axis
MAX_TICK_WIDTH = 14  # letters of a token that a tick shows

# In pixels.
ROW_HEIGHT = 24
LEGEND_HEIGHT = 29
AXIS_TITLE_HEIGHT = 34
AXIS_HEIGHT = TICK_SIZE + AXIS_TITLE_HEIGHT
MARGIN = 12
UPRIGHT = 30  # the widest label of columns up to which none leans
LEANING = 0.71  # height of a label that leans at 45 degrees, as a part of its length


def line(k: int) -> Settings:
    """Colour, dash and width of the k-th line."""
    return {"color": LINES[k % len(LINES)], "dash": DASHES[k % len(DASHES)], "width": LINE_WIDTH}


def cell_gaps(*sizes: int) -> dict[str, int]:
    """Gaps in pixels between the cells of a map, while they are large enough for it."""
    gap = int(max(sizes) <= 32)
    return {"xgap": gap, "ygap": gap}


def plot_height(n_rows: int) -> int:
    """Height in pixels of a heatmap of n_rows rows, margins not counted."""
    return min(max(n_rows * ROW_HEIGHT, 150), 620)


def color_bar(title: str, **settings: Any) -> Settings:
    """Settings of a colour bar, its title (short, escaped) on top."""
    gap = '<br><span style="font-size:8px"> </span>'  # keeps the title off the highest number
    about = {"text": title + gap if title else "", "side": "top"}
    return {"title": about, "thickness": 14, "outlinewidth": 0, "ticks": "outside", "ticklen": 4, "xpad": 8, **settings}
