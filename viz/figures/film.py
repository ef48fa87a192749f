"""The decoding as a film: at every step the decoder's map so far, the cross row, and what could have been written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.language import message, say

STEP_MILLISECONDS = 900  # how long a step is shown while the film plays
_LEFT, _RIGHT = (0.0, 0.42), (0.6, 1.0)  # the two columns, as parts of the width
_ROW_BAND, _CURVE_BAND = 40, 90  # pixels
_SLIDER_HEIGHT = 110  # pixels, with the buttons
_NAME_ROOM = 0.9  # beside the longest bar, in units of its axis
_PLACES = {"query": "%{customdata[0]}", "key": "%{customdata[1]}", "weight": "%{z:.3f}"}  # in a hover text
_COLORS = {"colorscale": theme.SEQUENTIAL, "zmin": 0.0, "zmax": 1.0, "showscale": False}
_AT_ONCE = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}


@dataclass(frozen=True)
class Film:
    """What a film shows of T steps, S source tokens and K candidates.

    Attributes:
        decoder: float (T, T), self-attention weights of the decoder.
        cross: float (T, S), cross-attention weights.
        encoder: float (S, S), self-attention weights of the encoder.
        probabilities: float (T, K), of the most probable next tokens.
        entropy: float (T,), of the whole distribution of the next token, in nats.
        mask: bool (T, T), the decoder's, True = may attend.
        read: T tokens, what each step read.
        written: T tokens, what each step wrote.
        source: S tokens.
        candidates: T times K tokens, what could have been written.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and probabilities outside [0, 1].
    """

    decoder: np.ndarray
    cross: np.ndarray
    encoder: np.ndarray
    probabilities: np.ndarray
    entropy: np.ndarray
    mask: np.ndarray
    read: Sequence[str]
    written: Sequence[str]
    source: Sequence[str]
    candidates: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        checked = {
            "decoder": checks.as_probabilities("decoder", self.decoder, "TT"),
            "cross": checks.as_probabilities("cross", self.cross, "TS"),
            "encoder": checks.as_probabilities("encoder", self.encoder, "SS"),
            "probabilities": checks.as_probabilities("probabilities", self.probabilities, "TK"),
            "entropy": checks.as_float("entropy", self.entropy, "T"),
        }
        n_steps, n_keys = checked["cross"].shape
        shapes = {"decoder": (n_steps, n_steps), "encoder": (n_keys, n_keys), "entropy": (n_steps,)}
        shapes["probabilities"] = (n_steps, checked["probabilities"].shape[1])
        for name, shape in shapes.items():
            if checked[name].shape != shape:
                found = checked[name].shape
                raise ValueError(f"{name} has shape {found}; allowed is {shape}, as cross is {(n_steps, n_keys)}.")
        checked["mask"] = checks.as_mask("mask", self.mask, shapes["decoder"])
        checked["read"] = checks.as_tokens("read", self.read, n_steps, "rows")
        checked["written"] = checks.as_tokens("written", self.written, n_steps, "rows")
        checked["source"] = checks.as_tokens("source", self.source, n_keys, "columns")
        if len(self.candidates) != n_steps:
            raise ValueError(f"candidates has {len(self.candidates)} rows; allowed are {n_steps}, one a step.")
        n_names = shapes["probabilities"][1]
        checked["candidates"] = [checks.as_tokens("candidates", row, n_names, "columns") for row in self.candidates]
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def n_steps(self) -> int:
        """T."""
        return len(self.read)

    def most_read(self, step: int) -> int:
        """The source token that a step reads most, the first of several."""
        return int(self.cross[step].argmax())


def step_film(film: Film) -> go.Figure:
    """Draw a film of the decoding: a slider goes from step to step, two buttons play and pause.

    Args:
        film: what is shown.

    Returns:
        go.Figure that shows the last step, with a frame for every step named by its number. data[0] is the decoder's
        map, float32 (T, T); in frame t it has the rows and columns up to t. Cells that the mask blocks are hatched.
    """
    bands = _bands(film)
    last = film.n_steps - 1
    layout = theme.layout(
        bands["height"],
        title=_title(film, last),
        left=max(labels.tick_width(film.read), labels.tick_width(film.source)) + theme.AXIS_TITLE_HEIGHT,
        top=theme.LEGEND_HEIGHT,
        bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT + _SLIDER_HEIGHT,
        **_axes(film, bands),
        sliders=[_slider(film)],
        updatemenus=[_buttons()],
        meta={
            "figure": "step_film",
            "description": say(
                "A film of {n} decoding steps: the decoder's map so far, the row with which the step reads "
                "the source, the encoder's map, the likeliest next tokens, and the entropy of the next token.",
                n=film.n_steps,
            ),
            "rows": message("query"),
            "columns": message("key"),
            "n_rows": film.n_steps,
            "n_columns": film.n_steps,
            "value": message("weight"),
            "range": [0.0, 1.0],
            "read": film.read,
            "source": film.source,
            "candidates": film.candidates,
        },
    )
    layout.margin.r += 60  # the colour bar
    moving = [style | change for style, change in zip(_styles(film, bands), _changes(film, last), strict=True)]
    still = [_encoder(film)] + ([heatmap.hatching(~film.mask)] if not film.mask.all() else [])
    frames = [
        {
            "name": str(step),
            "data": _changes(film, step),
            "traces": list(range(len(moving))),
            "layout": {"title": {"text": _title(film, step)}},
        }
        for step in range(film.n_steps)
    ]
    return go.Figure([*moving, *still], layout=layout, frames=frames)


def _bands(film: Film) -> dict:
    """Where the rows of panels lie, as parts of the height from below, and the height in pixels."""
    maps = theme.plot_height(max(film.n_steps, len(film.source)))
    names = max(labels.tick_width(film.read), labels.tick_width(film.source))
    gap = theme.LEANING * names + theme.TICK_SIZE + 2 * theme.AXIS_TITLE_HEIGHT
    height = maps + 2 * gap + _ROW_BAND + _CURVE_BAND
    edges = np.cumsum([_CURVE_BAND, gap, _ROW_BAND, gap, maps]) / height
    return {
        "height": round(height),
        "maps": (float(edges[3]), 1.0),
        "row": (float(edges[1]), float(edges[2])),
        "bars": (0.0, float(edges[2])),
        "curve": (0.0, float(edges[0])),
    }


def _axes(film: Film, bands: dict) -> dict:
    """The axes of the five panels: decoder, encoder (2), cross row (3), candidates (4), entropy (5)."""
    n_candidates = film.probabilities.shape[1]
    top = float(film.entropy.max()) or 1.0

    def placed(axis: dict, anchor: str, domain: tuple[float, float]) -> dict:
        return axis | {"anchor": anchor, "domain": domain}

    return {
        "xaxis": placed(heatmap.token_axis(film.read, message("token so far (is read)")), "y", _LEFT),
        "yaxis": placed(
            heatmap.token_axis(film.read, message("token read (asks)"), downwards=True), "x", bands["maps"]
        ),
        "xaxis2": placed(heatmap.token_axis(film.source, message("source token (is read)")), "y2", _RIGHT),
        "yaxis2": placed(heatmap.token_axis(film.source, "", downwards=True), "x2", bands["maps"]),
        "xaxis3": placed(heatmap.token_axis(film.source, message("source token (is read by this step)")), "y3", _LEFT),
        "yaxis3": {"visible": False, "range": [0.5, -0.5], "anchor": "x3", "domain": bands["row"]},
        "xaxis4": placed(
            {"title": {"text": say("probability")}, "range": [0, 1 + _NAME_ROOM], "tickvals": [0, 0.5, 1]},
            "y4",
            _RIGHT,
        ),
        "yaxis4": {"visible": False, "range": [n_candidates - 0.4, -0.6], "anchor": "x4", "domain": bands["bars"]},
        "xaxis5": placed(heatmap.number_axis(film.n_steps, message("step")), "y5", _LEFT),
        "yaxis5": placed(
            {"title": {"text": say("entropy<br>(nats)")}, "range": [0, 1.1 * top], "nticks": 3}, "x5", bands["curve"]
        ),
    }


def _styles(film: Film, bands: dict) -> list[dict]:
    """What stays the same at every step of the traces that move: decoder, cross row, bars, entropy, two frames."""
    reading, source = labels.hover_texts(film.read), labels.hover_texts(film.source)
    low, high = bands["maps"]
    frame = {
        "mode": "lines",
        "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return [
        _COLORS
        | {
            "customdata": heatmap.hover_cells(reading, reading),
            "hovertemplate": _hover(),
            "showscale": True,
            "colorbar": theme.color_bar(say("weight"), len=high - low, y=1, yanchor="top"),
        },
        _COLORS
        | {
            "customdata": heatmap.hover_cells([""], source),
            "hovertemplate": say("this step<br>key {key}<br>weight {weight}", **_PLACES) + "<extra></extra>",
            "xaxis": "x3",
            "yaxis": "y3",
        },
        {
            "y": np.arange(film.probabilities.shape[1], dtype=np.int32),
            "orientation": "h",
            "textposition": "outside",
            "cliponaxis": False,
            "hoverinfo": "text",
            "marker": {"color": theme.LINES[0]},
            "xaxis": "x4",
            "yaxis": "y4",
            "showlegend": False,
        },
        {
            "mode": "lines+markers",
            "line": {"color": theme.LINES[0]},
            "hovertemplate": say("step {step}<br>entropy {entropy} nats", step="%{x}", entropy="%{y:.3f}")
            + "<extra></extra>",
            "xaxis": "x5",
            "yaxis": "y5",
            "showlegend": False,
        },
        frame | {"x": _around(len(film.read))},
        frame | {"x": _around(len(film.source)), "xaxis": "x2", "yaxis": "y2"},
    ]


def _changes(film: Film, step: int) -> list[dict]:
    """What a step changes of the traces that move."""
    so_far = slice(0, step + 1)

    def bar(name: str, p: float) -> str:
        token = labels.tick_text(name)
        return say("{token} {p:.3f} (written)", token=token, p=p) if name == film.written[step] else f"{token} {p:.3f}"

    names = [bar(*one) for one in zip(film.candidates[step], film.probabilities[step], strict=True)]
    allowed = np.where(film.mask, film.decoder, np.float32(np.nan))
    return [
        {"type": "heatmap", "z": allowed[so_far, so_far].copy()},
        {"type": "heatmap", "z": film.cross[step : step + 1].copy()},
        {"type": "bar", "x": film.probabilities[step].copy(), "text": names},
        {"type": "scatter", "x": np.arange(step + 1, dtype=np.float32), "y": film.entropy[so_far].copy()},
        {"type": "scatter", "y": _beside(step)},
        {"type": "scatter", "y": _beside(film.most_read(step))},
    ]


def _around(n_columns: int) -> np.ndarray:
    """The x of a frame round a row: a trace, because shapes do not follow the frames of a film."""
    return np.array([-0.5, n_columns - 0.5, n_columns - 0.5, -0.5, -0.5], dtype=np.float32)


def _beside(row: int) -> np.ndarray:
    """The y of a frame round a row."""
    return np.array([row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5], dtype=np.float32)


def _hover() -> str:
    """What is said of a cell of a whole map."""
    return say("query {query}<br>key {key}<br>weight {weight}", **_PLACES) + "<extra></extra>"


def _encoder(film: Film) -> go.Heatmap:
    names = labels.hover_texts(film.source)
    return go.Heatmap(
        z=film.encoder,
        customdata=heatmap.hover_cells(names, names),
        hovertemplate=_hover(),
        xaxis="x2",
        yaxis="y2",
        **_COLORS,
    )


def _title(film: Film, step: int) -> str:
    read, written = labels.quoted(film.read[step]), labels.quoted(film.written[step])
    places = {"step": step, "last": film.n_steps - 1, "read": read, "written": written}
    return say("Step {step} of 0 to {last}: reads {read}, writes {written}", **places)


def _slider(film: Film) -> dict:
    return {
        "active": film.n_steps - 1,
        "currentvalue": {"prefix": say("step") + " "},
        "pad": {"t": 64},
        "steps": [
            {"label": str(step), "method": "animate", "args": [[str(step)], _AT_ONCE]} for step in range(film.n_steps)
        ],
    }


def _buttons() -> dict:
    playing = {"mode": "immediate", "transition": {"duration": 0}}
    playing["frame"] = {"duration": STEP_MILLISECONDS, "redraw": True}
    return {
        "type": "buttons",
        "direction": "left",
        "x": 1,
        "xanchor": "right",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 56},
        "showactive": False,
        "buttons": [
            {"label": say("Play"), "method": "animate", "args": [None, playing]},
            {"label": say("Pause"), "method": "animate", "args": [[None], _AT_ONCE]},
        ],
    }
