"""The twelve main figures as small pictures, beside which a test lays what is drawn now.

`python -m tests.support.reference_images` draws the references again, after a change of looks that is meant.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from plotly.offline import get_plotlyjs

from benchmarks.browsing import chromium
from viz import figures
from viz.figures import Figure

FOLDER = Path(__file__).parents[1] / "references"
SIZE = (600, 420)  # pixels of a drawn figure
SMALL = (60, 42)  # of a reference: what fonts of another machine change is spread over a whole word
DRAW = """async figure => {
    Plotly.purge('g');
    await Plotly.newPlot('g', figure.data, figure.layout, { staticPlot: true });
    await Promise.all([...document.querySelectorAll('#g image')].map(image => image.decode()));
}"""

TOKENS = ["<s>", "The", "dog", "runs", "fast", ".", "</s>"]
CAUSAL = np.tri(len(TOKENS), dtype=bool)
LAYERS = ["layer 0", "layer 1"]
HEADS = ["head 0", "head 1", "head 2"]


def attention(*shape: int) -> np.ndarray:
    """Weights of causal rows (..., T, T), each of which sums to 1."""
    weights = np.exp(np.random.default_rng(0).normal(0, 2, (*shape, *CAUSAL.shape))) * CAUSAL
    return weights / weights.sum(-1, keepdims=True)


def encoding(n_positions: int = 40, d_model: int = 32) -> np.ndarray:
    """Sines and cosines of positions (Vaswani et al. 2017, section 3.5), (n_positions, d_model)."""
    angles = np.arange(n_positions)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n_positions, d_model)


def curve(low: float, high: float) -> np.ndarray:
    """A line (2, 50) that falls from `high` to `low`."""
    steps = np.arange(50.0)
    return np.stack([steps, low + (high - low) * np.exp(-steps / 12)])


def candidates() -> Figure:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.9, 0.06, 0.04]])
    words = [["Der", "Ein", "Das"], ["Hund", "Hase", "Kater"], ["läuft", "rennt", "geht"]]
    return figures.candidates_heatmap(
        probabilities, ["Der", "Hase", "läuft"], words, output_probabilities=np.array([0.7, 0.4, 0.9])
    )


def rate_and_loss() -> Figure:
    rates = {"warmup 4": np.stack([np.arange(50.0), np.minimum(np.arange(50.0) / 4, 1) * 1e-3])}
    return figures.run_curves(rates, {"warmup 4": curve(2, 9)}, limit=6.5, step=20)


FIGURES: dict[str, Callable[[], Figure]] = {
    "attention": lambda: figures.attention_heatmap(attention(), TOKENS, TOKENS, mask=CAUSAL),
    "mask": lambda: figures.mask_heatmap(CAUSAL, TOKENS, TOKENS, look_ahead=~CAUSAL),
    "difference": lambda: figures.difference_heatmap(attention(2)[0] - attention(2)[1], TOKENS, TOKENS),
    "positions": lambda: figures.positional_heatmap(encoding()),
    "similarity": lambda: figures.similarity_heatmap(encoding() @ encoding().T),
    "candidates": candidates,
    "next words": lambda: figures.bars(np.array([[0.6], [0.3], [0.1]]), ["dog", "cat", "hare"], value="probability"),
    "curves": lambda: figures.curves({"with warmup": curve(2, 9), "without": curve(5, 9)}, y_axis="loss"),
    "rate and loss": rate_and_loss,
    "roles of heads": lambda: figures.head_board(np.array([[0.9, 0.2, 0.4], [0.1, 0.6, 0.8]]), LAYERS, HEADS),
}


def draw(page: Any, figure: Figure) -> np.ndarray:
    """Draw a figure on a page that has Plotly and an element `g`; small, uint8 (height, width, 3)."""
    described = json.loads(figure.to_json() or "")
    described["layout"].pop("template", None)  # Plotly's own, or Streamlit's where that was imported before
    described["layout"] |= dict(zip(("width", "height"), SIZE)) | {"paper_bgcolor": "white"}
    page.evaluate(DRAW, described)
    width, height = SIZE
    png = page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height})
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    return np.asarray(picture.resize(SMALL, Image.Resampling.BOX))


def open_page(browser: Any) -> Any:
    """A page of Playwright, for these pictures alone."""
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    page.set_content("<!doctype html><body style='margin:0'><div id=g></div>")
    page.add_script_tag(content=get_plotlyjs())
    return page


def path_of(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '-')}.png"


def main() -> None:
    """Draw all references again."""
    FOLDER.mkdir(exist_ok=True)
    with chromium() as browser:
        page = open_page(browser)
        for name, figure in FIGURES.items():
            Image.fromarray(draw(page, figure())).save(path_of(name), optimize=True)


if __name__ == "__main__":
    main()
