"""What a positional encoding says about distance: similarity of positions, and how long its waves are."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.scores import centred_colors
from viz.language import message, say


def similarity_heatmap(products: np.ndarray, *, title: str = "") -> go.Figure:
    """Draw how similar every position is to every other one.

    Args:
        products: float (T, T), dot products of the encodings of two positions.
        title: text above the map.

    Returns:
        go.Figure; data[0].z is the products, float32 (T, T), on colours that are symmetric about 0.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    products = checks.as_float("products", products, "TS")
    n_rows, n_columns = products.shape
    if n_rows != n_columns:
        raise ValueError(f"products has shape {products.shape}; allowed is one row and one column for each position.")
    limit, colors = centred_colors(products, say("dot product"))
    return go.Figure(
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
        layout=theme.layout(
            theme.plot_height(n_rows),
            title=labels.escape(title),
            left=labels.tick_width([str(n_rows)]) + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            xaxis=heatmap.number_axis(n_columns, message("position")),
            yaxis=heatmap.number_axis(n_rows, message("position"), downwards=True),
            meta={
                "figure": "similarity_heatmap",
                "description": say(
                    "Rows and columns are positions: the dot product of the encodings of any two of {n}.", n=n_rows
                ),
                "rows": message("position"),
                "columns": message("position"),
                "n_rows": n_rows,
                "n_columns": n_columns,
                "value": message("dot product"),
                "range": [-limit, limit],
            },
        ),
    )


def offset_lines(similarity: np.ndarray, names: Sequence[str], *, title: str = "") -> go.Figure:
    """Draw similarity over distance: one line an encoding.

    Args:
        similarity: float (K, T), for each of K encodings the mean dot product of positions 0, 1, ... T - 1 apart.
        names: K names, for the legend.
        title: text above the lines.

    Returns:
        go.Figure of K lines; data[k].y is float32 (T,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    similarity = checks.as_float("similarity", similarity, "KT")
    names = checks.as_tokens("names", names, len(similarity), "rows")
    low, high = float(similarity.min()), float(similarity.max())
    return _lines(
        similarity,
        names,
        title,
        say("{offset} apart<br>mean dot product {product}", offset="%{x:d}", product="%{y:.3f}"),
        xaxis=heatmap.number_axis(similarity.shape[1], message("offset (positions apart)")),
        yaxis={"title": {"text": say("mean dot product")}, "automargin": False},
        meta=_meta(
            "offset_lines",
            say("One line for each of {n} encodings: how similar positions are that lie so far apart.", n=len(names)),
            similarity.shape,
            message("offset"),
            message("dot product"),
            (low, high),
        ),
    )


def wavelength_lines(wavelengths: np.ndarray, names: Sequence[str], *, title: str = "") -> go.Figure:
    """Draw how many positions each dimension needs for one wave, on a logarithmic axis: one line an encoding.

    Args:
        wavelengths: float (K, D), above 0, of each of K encodings.
        names: K names, for the legend.
        title: text above the lines.

    Returns:
        go.Figure of K lines; data[k].y is float32 (D,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, infinity, and wavelengths that are not above 0.
    """
    wavelengths = checks.as_float("wavelengths", wavelengths, "KD")
    names = checks.as_tokens("names", names, len(wavelengths), "rows")
    if wavelengths.min() <= 0:
        raise ValueError(f"wavelengths reach down to {wavelengths.min():.6g}; allowed are numbers above 0.")
    low, high = float(wavelengths.min()), float(wavelengths.max())
    return _lines(
        wavelengths,
        names,
        title,
        say("dimension {dimension}<br>{wavelength} positions a wave", dimension="%{x:d}", wavelength="%{y:.4g}"),
        xaxis=heatmap.number_axis(wavelengths.shape[1], message("dimension")),
        yaxis={"title": {"text": say("positions a wave")}, "type": "log", "automargin": False},
        meta=_meta(
            "wavelength_lines",
            say("One line for each of {n} encodings: the wavelength of every dimension, in positions.", n=len(names)),
            wavelengths.shape,
            message("dimension"),
            message("wavelength"),
            (low, high),
        ),
    )


def _lines(values: np.ndarray, names: list[str], title: str, hover: str, **layout) -> go.Figure:
    """Draw K named lines (K, N) over 0 to N - 1, with these settings of the layout."""
    n = values.shape[1]
    traces = [
        go.Scatter(
            x=np.arange(n, dtype=np.int32),
            y=row.copy(),
            mode="lines+markers" if n <= theme.MAX_TICKS else "lines",
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
    return go.Figure(
        traces,
        layout=theme.layout(
            theme.WAVES_HEIGHT,
            title=labels.escape(title),
            left=theme.TICK_SIZE * 4 + theme.AXIS_TITLE_HEIGHT,
            top=theme.LEGEND_HEIGHT * -(-len(names) // 2),
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **layout,
        ),
    )


def _meta(figure: str, description: str, shape: tuple[int, ...], columns: str, value: str, ends: tuple) -> dict:
    """Say what a figure of lines shows; equal ends are widened, so that the range is one."""
    low, high = ends
    return {
        "figure": figure,
        "description": description,
        "rows": message("encoding"),
        "columns": columns,
        "n_rows": shape[0],
        "n_columns": shape[1],
        "value": value,
        "range": [low, high if high > low else low + 1],
    }
