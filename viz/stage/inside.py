"""How one row of a head comes about: q·k, scaling, mask, softmax, values, as panels one below the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis import maps as analysis
from model.experiments.inside import AS_RECORDED, Row, Switches, softmax_gradient
from model.translation import KINDS
from viz import theme
from viz.figures import labels
from viz.figures.looks import layout_of, tick_axis
from viz.stage.form import field
from viz.text.language import message, say

LOWEST, HIGHEST = 0.1, 5.0  # of the temperature
MOST_SAMPLES = 20  # draws of dropout that can be told apart
GAP = 0.025  # between two panels, as a part of the height
SCALED, NOT_SCALED = message("÷ √d"), message("not scaled")
COOLED = message("{scaling} ÷ {temperature:.1f}")
PRODUCT, MASKED, SOFTMAX, ADDED = message("q·k"), message("masked"), message("softmax"), message("weight × |value|")
LINE = message(
    "“{query}”: largest weight {weight:.2f} on “{key}” · entropy {entropy:.2f} nats · gradient of the softmax "
    "{gradient:.3f}."
)
CHANGED = message("As recorded: largest weight {weight:.2f}, entropy {entropy:.2f}, gradient {gradient:.3f}.")
NOTHING = message("“{query}” may attend to nothing here: all its weights are 0.")
UNSCALED, TEMPERATURE = message("No scaling"), message("Temperature")
UNMASKED, DROPOUT, SAMPLE = message("No mask"), message("Dropout"), message("Sample")
UNSCALED_HELP = message("Leaves out the division by √d, which softens rows with one large weight.")
TEMPERATURE_HELP = message("Divides the scores: above 1 the row gets flatter, below 1 more peaked. The model has 1.")
UNMASKED_HELP = message("Softmax over all keys, including those that the model may not attend to here.")
DROPOUT_HELP = message("In training, every weight is set to 0 with probability {p:.2f}, and the others are scaled up.")


@dataclass(frozen=True)
class Asked:
    """Which row is asked for, and what is done differently in it.

    Attributes:
        kind: of attention.
        layer, head, row: counted from 0.
        switches: as of `model.experiments.inside`.
    """

    kind: str
    layer: int
    head: int
    row: int
    switches: Switches = AS_RECORDED


def asked(query: Mapping[str, str], dropout: float) -> Asked | None:
    """The row that an address asks for; None where it asks for none, or not for one that there can be.

    What is done differently is read as far as it goes: the browser, which asks for another row where this one cannot
    be, leaves it in the address.

    Args:
        query: parameters of the address.
        dropout: the model's, in training.
    """
    if query.get("view") != "inside" or query.get("kind") not in KINDS:
        return None
    try:
        layer, head, row = (int(query.get(name, "1")) for name in ("layer", "head", "row"))
    except ValueError:
        return None
    temperature = _number(query, "temperature")
    dropped = query.get("dropout") == "1"
    switches = Switches(
        scaled=query.get("unscaled") != "1",
        temperature=min(max(temperature, LOWEST), HIGHEST),
        masked=query.get("unmasked") != "1",
        dropout=dropout if dropped else 0.0,
        draw=int(min(max(_number(query, "sample"), 1), MOST_SAMPLES)) if dropped else 0,
    )
    return Asked(query["kind"], layer, head, row, switches)


def _number(query: Mapping[str, str], name: str) -> float:
    """A number of an address, 1 where it is none."""
    try:
        found = float(query.get(name, "1"))
    except ValueError:
        return 1.0
    return 1.0 if math.isnan(found) else found


def told(asked: Asked, made: Row, recorded: Row, query: str, keys: Sequence[str], dropout: float) -> dict:
    """What the stage is told of a row.

    Args:
        asked: which row it is.
        made: the row, computed with the switches.
        recorded: the row as the model computed it.
        query: its token.
        keys: S tokens.
        dropout: the model's, in training.

    Returns:
        Which row it is, its picture as of `viz.figures.looks` (numbers and all), the line under it, and its options.
    """
    scaling = say(SCALED if asked.switches.scaled else NOT_SCALED)
    if asked.switches.temperature != 1:
        scaling = say(COOLED, scaling=scaling, temperature=asked.switches.temperature)
    place = {"kind": asked.kind, "layer": asked.layer, "head": asked.head, "row": asked.row}
    line = _line(LINE, made, query, keys)
    if asked.switches != AS_RECORDED:
        line += " " + _line(CHANGED, recorded, query, keys)
    return {"place": place, "look": panels(made, keys, scaling), "line": line, "options": form(asked.switches, dropout)}


def panels(row: Row, keys: Sequence[str], scaling: str) -> dict:
    """The steps of a row as bars, a panel per step, all over the same keys; blocked keys are grey bands.

    Args:
        row: S keys.
        keys: S tokens.
        scaling: what the panel of the scaled scores is called.
    """
    added = np.linalg.norm(row.weighted.astype(np.float64), axis=-1)
    visible = np.where(row.mask, row.scaled, np.nan)
    values = (row.raw_scores, row.scaled, visible, row.dropped, added)
    names = labels.hover_texts(keys, say)
    titles = (say(PRODUCT), scaling, say(MASKED), say(SOFTMAX), say(ADDED))
    height = (1 - GAP * (len(titles) - 1)) / len(titles)
    layout = layout_of(64, theme.LEANING * labels.tick_width(keys) + 24, say)
    layout["xaxis"] = tick_axis(keys, "") | {"side": "top", "tickangle": -45, "anchor": "y"}
    layout["bargap"] = 0.25
    bars = []
    for number, (title, numbers) in enumerate(zip(titles, values)):
        axis = "y" if number == 0 else f"y{number + 1}"
        top = 1 - number * (height + GAP)
        layout["yaxis" + axis[1:]] = {
            "domain": [max(0.0, top - height), top],
            "anchor": "x",
            "title": {"text": labels.escape(title), "font": {"size": theme.TICK_SIZE}, "standoff": 2},
            "zeroline": True,
            "zerolinecolor": "rgba(128,128,128,0.6)",
            "gridcolor": "rgba(128,128,128,0.2)",
            "nticks": 4,
            "range": [0, 1.05] if number == 3 and numbers.max() <= 1 else None,
        }
        bars.append(
            {
                "type": "bar",
                "x": list(range(len(keys))),
                "y": np.asarray(numbers, dtype=np.float32),
                "yaxis": axis,
                "marker": {"color": theme.LINES[2 if number == 3 else 0]},
                "customdata": names,
                "hovertemplate": "%{customdata}<br>" + labels.escape(title) + " %{y:.4g}<extra></extra>",
            }
        )
    layout["shapes"] = [
        {"type": "rect", "x0": key - 0.5, "x1": key + 0.5, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
        | {"line": {"width": 0}, "fillcolor": "rgba(138,141,147,0.35)"}
        for key in np.flatnonzero(~row.mask).tolist()
    ]
    return {"data": bars, "layout": layout, "hover": None}


def form(switches: Switches, dropout: float) -> list[dict]:
    """What can be done differently, as menus.js shows it."""
    between = {"low": LOWEST, "high": HIGHEST, "step": 0.1, "unit": ""}
    fields = [
        field("switch", "unscaled", UNSCALED, "0" if switches.scaled else "1", say(UNSCALED_HELP)),
        field("switch", "unmasked", UNMASKED, "0" if switches.masked else "1", say(UNMASKED_HELP)),
        field("range", "temperature", TEMPERATURE, switches.temperature, say(TEMPERATURE_HELP), **between),
    ]
    if dropout:
        about = say(DROPOUT_HELP, p=dropout)
        fields.append(field("switch", "dropout", DROPOUT, "1" if switches.dropout else "0", about))
        if switches.dropout:
            between = {"low": 1, "high": MOST_SAMPLES, "step": 1, "unit": ""}
            fields.append(field("range", "sample", SAMPLE, switches.draw, about, **between))
    return fields


def _line(text: str, row: Row, query: str, keys: Sequence[str]) -> str:
    if not row.weights.any():
        return say(NOTHING, query=query)
    return say(
        text,
        query=query,
        key=keys[int(row.weights.argmax())],
        weight=float(row.weights.max()),
        entropy=float(analysis.entropy(row.weights.astype(np.float64))),
        gradient=softmax_gradient(row.weights),
    )
