"""What a positional encoding says about distance: similarity of positions, and how long its waves are."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.differences import centred_colors
from viz.figures.drawn import Drawn
from viz.figures.tables import Cells, Points
from viz.figures.wording import Say, english, message, separated


def similarity_heatmap(products: np.ndarray, *, title: str = "", say: Say = english) -> Drawn:
    """Draw how similar every position is to every other one.

    Args:
        products: float (T, T), dot products of the encodings of two positions.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the products, float32 (T, T), on colours that are symmetric about 0.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    products = checks.as_float("products", products, "TS")
    n_rows, n_columns = products.shape
    if n_rows != n_columns:
        raise ValueError(f"products has shape {products.shape}; allowed is one row and one column for each position.")
    _, colors = centred_colors(products, say("dot product"))
    return Drawn(
        go.Heatmap(
            z=products,
            hovertemplate=say(
                "position {row}<br>position {column}<br>dot product {product}",
                row="%{y:d}",
                column="%{x:d}",
                product="%{z:.3f}",
            )
            + "<extra></extra>",
            **colors,
        ),
        theme.layout(
            theme.plot_height(n_rows),
            separated(say),
            title=labels.escape(title),
            left=labels.tick_width([str(n_rows)]) + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            xaxis=heatmap.number_axis(n_columns, message("position"), say),
            yaxis=heatmap.number_axis(n_rows, message("position"), say, downwards=True),
        ),
        description=say(
            "Rows and columns are positions: the dot product of the encodings of any two of {n}.", n=n_rows
        ),
        table=Cells(products, ("position", "position"), value=message("dot product")),
    )


def offset_lines(similarity: np.ndarray, names: Sequence[str], *, title: str = "", say: Say = english) -> Drawn:
    """Draw similarity over distance: one line an encoding.

    Args:
        similarity: float (K, T), for each of K encodings the mean dot product of positions 0, 1, ... T - 1 apart.
        names: K names, for the legend.
        title: text above the lines.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure, of K lines; data[k].y is float32 (T,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    similarity = checks.as_float("similarity", similarity, "KT")
    names = checks.as_tokens("names", names, len(similarity), "rows")
    return _lines(
        similarity,
        names,
        title,
        say,
        say("{offset} apart<br>mean dot product {product}", offset="%{x:d}", product="%{y:.3f}"),
        xaxis=heatmap.number_axis(similarity.shape[1], message("offset (positions apart)"), say),
        yaxis={"title": {"text": say("mean dot product")}, "automargin": False},
        description=say(
            "One line for each of {n} encodings: the similarity of positions by their distance.", n=len(names)
        ),
    )


def wavelength_lines(wavelengths: np.ndarray, names: Sequence[str], *, title: str = "", say: Say = english) -> Drawn:
    """Draw how many positions each dimension needs for one wave, on a logarithmic axis: one line an encoding.

    Args:
        wavelengths: float (K, D), above 0, of each of K encodings.
        names: K names, for the legend.
        title: text above the lines.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure, of K lines; data[k].y is float32 (D,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, infinity, and wavelengths that are not above 0.
    """
    wavelengths = checks.as_float("wavelengths", wavelengths, "KD")
    names = checks.as_tokens("names", names, len(wavelengths), "rows")
    if wavelengths.min() <= 0:
        raise ValueError(f"wavelengths reach down to {wavelengths.min():.6g}; allowed are numbers above 0.")
    return _lines(
        wavelengths,
        names,
        title,
        say,
        say("dimension {dimension}<br>wavelength: {wavelength} positions", dimension="%{x:d}", wavelength="%{y:.4g}"),
        xaxis=heatmap.number_axis(wavelengths.shape[1], message("dimension"), say),
        yaxis={"title": {"text": say("wavelength (positions)")}, "type": "log", "automargin": False},
        description=say(
            "One line for each of {n} encodings: the wavelength of every dimension, in positions.", n=len(names)
        ),
    )


def _lines(values: np.ndarray, names: list[str], title: str, say: Say, hover: str, description: str, **layout) -> Drawn:
    """Draw K named lines (K, N) over 0 to N - 1, with these settings of the layout."""
    x = np.arange(values.shape[1], dtype=np.int32)
    traces = [
        go.Scatter(
            x=x,
            y=row.copy(),
            mode="lines+markers" if len(x) <= theme.MAX_TICKS else "lines",
            line={
                "color": theme.LINES[k % len(theme.LINES)],
                "dash": theme.DASHES[k % len(theme.DASHES)],
                "width": theme.LINE_WIDTH,
            },
            name=labels.escape(name),
            hovertemplate=f"{labels.escape(name)}<br>{hover}<extra></extra>",
            showlegend=True,
        )
        for k, (row, name) in enumerate(zip(values, names, strict=True))
    ]
    return Drawn(
        traces,
        theme.layout(
            theme.WAVES_HEIGHT,
            separated(say),
            title=labels.escape(title),
            left=theme.TICK_SIZE * 4 + theme.AXIS_TITLE_HEIGHT,
            top=theme.LEGEND_HEIGHT * -(-len(names) // 2),
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **layout,
        ),
        description=description,
        table=Points([(name, x, row, None) for name, row in zip(names, values, strict=True)]),
    )
