"""Small pictures without words, for tiles: weights, signed numbers and curves as arrays of pixels."""

import base64
from collections.abc import Iterable
from io import BytesIO

import numpy as np
from PIL import Image
from plotly.colors import hex_to_rgb

from viz import theme


def weight_pixels(weights: np.ndarray, mask: np.ndarray | None = None, top: float = 1.0) -> np.ndarray:
    """The colours of a map of weights (T, S) from 0 to `top`, uint8 (T, S, 4); masked cells are clear."""
    return _pixels(weights / top, theme.SEQUENTIAL, mask)


def pixels_tag(pixels: np.ndarray) -> str:
    """HTML of a small picture without words, from pixels as in `weight_pixels`: each is a cell."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    code = base64.b64encode(file.getvalue()).decode()
    return f'<img class="hl-cells" alt="" src="data:image/png;base64,{code}">'


def signed_pixels(values: np.ndarray, limit: float | None = None) -> np.ndarray:
    """Places of numbers about 0 (T, D) on a scale whose colours the page chooses, light or dark: uint8 (T, D)."""
    limit = limit or float(np.abs(values).max()) or 1.0
    return np.rint(255 * np.clip((np.nan_to_num(values) / limit + 1) / 2, 0, 1)).astype(np.uint8)


def curve_pixels(values: np.ndarray, height: int = 48, width: int = 160) -> np.ndarray:
    """A line of numbers (N,) from left to right as pixels, uint8 (height, width, 4); 0 is at the bottom."""
    places = np.linspace(0, len(values) - 1, width)
    shares = np.interp(places, np.arange(len(values)), np.nan_to_num(values))
    rows = np.rint((1 - np.clip(shares / (shares.max() or 1.0), 0, 1)) * (height - 3)).astype(int)
    pixels = np.zeros((height, width, 4), np.uint8)
    for column, row in enumerate(rows):
        low, high = sorted((row, rows[max(0, column - 1)]))
        pixels[low : high + 3, column] = (*_rgb(theme.LINES[0]), 255)
    return pixels


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = hex_to_rgb(colour)
    return red, green, blue


def _pixels(shares: np.ndarray, scale: Iterable, mask: np.ndarray | None) -> np.ndarray:
    places, names = zip(*scale, strict=True)
    channels = np.array([_rgb(name) for name in names]).T
    shares = np.clip(np.nan_to_num(shares), 0, 1)
    pixels = _opaque(np.stack([np.interp(shares, places, channel) for channel in channels], axis=-1))
    if mask is not None:
        pixels[~mask] = (138, 141, 147, 110)
    return pixels


def _opaque(colours: np.ndarray) -> np.ndarray:
    full = np.full((*colours.shape[:2], 4), 255, np.uint8)
    full[..., :3] = np.rint(colours)
    return full
