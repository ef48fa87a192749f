"""How one row of a head comes about: q·k, scaling, mask, softmax, values."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis import maps as analysis
from model.experiments.inside import AS_RECORDED, Row, Switches, row, softmax_gradient
from model.translation import KINDS
from viz import theme
from viz.figures import labels, looks
from viz.stage.words import field, named
from viz.text.language import message, say
from viz.views import codes

LOWEST, HIGHEST = 0.1, 5.0  # of the temperature
MOST_SAMPLES = 20  # draws of dropout that can be told apart


class Asked(NamedTuple):
    """A row, counted from 0, and what is done differently in it."""

    kind: str
    layer: int
    head: int
    row: int
    switches: Switches = AS_RECORDED


_PLACE = Asked._fields[:4]
_READERS = {
    "view": codes.one_of(["inside"]),
    "kind": codes.one_of(KINDS),
    **dict.fromkeys(_PLACE[1:], int),
    **dict.fromkeys(("unscaled", "unmasked", "dropout"), codes.switch),
    "temperature": codes.number(LOWEST, HIGHEST),
    "sample": codes.number(1, MOST_SAMPLES),
}


def asked(query: Mapping[str, str], dropout: float) -> Asked | None:
    """The row that an address asks for, if any; what is wrong there is as recorded. Dropout is that of training."""
    found, _ = codes.read(query, _READERS)
    if not {"view", *_PLACE} <= found.keys():
        return None
    dropped = (dropout, found.get("sample", 1)) if found.get("dropout") else ()
    changed = not found.get("unscaled"), found.get("temperature", 1.0), not found.get("unmasked")
    return Asked(*(found[name] for name in _PLACE), Switches(*changed, *dropped))


def told(
    asked: Asked, arrays: Mapping[str, np.ndarray], queries: Sequence[str], keys: Sequence[str], dropout: float
) -> dict:
    """What the stage is told of a row.

    Given the arrays of its layer, as of `model.experiments.inside.recorded`, its tokens, and dropout in training.
    """
    query, keys, switches = named(queries)[asked.row], named(keys), asked.switches
    made, recorded = (row(arrays, asked.head, asked.row, one) for one in (switches, AS_RECORDED))
    scaling = say("÷ √d") if switches.scaled else say("not scaled")
    if switches.temperature != 1:
        scaling = say("{scaling} ÷ {temperature:.1f}", scaling=scaling, temperature=switches.temperature)
    text = message(
        "“{query}”: largest weight {weight:.2f} on “{key}” · entropy {entropy:.2f} nats · gradient of the softmax "
        "{gradient:.3f}."
    )
    line = _line(text, made, query, keys)
    if switches != AS_RECORDED:
        text = message("As recorded: largest weight {weight:.2f}, entropy {entropy:.2f}, gradient {gradient:.3f}.")
        line += " " + _line(text, recorded, query, keys)
    look, options = panels(made, keys, scaling), form(switches, dropout)
    return {"place": dict(zip(_PLACE, asked)), "look": look, "line": line, "options": options}


def panels(row: Row, keys: Sequence[str], scaling: str) -> dict:
    """The steps of a row as bars, a panel per step, all over the same S keys; blocked keys are grey bands."""
    softmax = say("softmax")
    steps = {
        say("q·k"): row.raw_scores,
        scaling: row.scaled,
        say("masked"): np.where(row.mask, row.scaled, np.nan),
        softmax: row.dropped,
        say("weight × |value|"): np.linalg.norm(row.weighted.astype(np.float64), axis=-1),
    }
    places = ["", *map(str, range(2, len(steps) + 1))]
    band = {"type": "rect", "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "line": {"width": 0}}
    band["fillcolor"] = "rgba(138,141,147,0.35)"
    layout = looks.layout_of(64, theme.LEANING * labels.tick_width(keys) + 24, say) | {
        "bargap": 0.25,
        "grid": {"rows": len(steps), "columns": 1, "subplots": [[f"xy{of}"] for of in places], "ygap": 0.12},
        "xaxis": looks.tick_axis(keys, "", side="top", tickangle=-45, anchor="y"),
        "shapes": [band | {"x0": key - 0.5, "x1": key + 0.5} for key in np.flatnonzero(~row.mask).tolist()],
    }
    bars, shared = [], {"type": "bar", "x": list(range(len(keys))), "customdata": labels.hover_texts(keys, say)}
    for of, (title, numbers) in zip(places, steps.items()):
        weights, title = title == softmax, labels.escape(title)
        layout[f"yaxis{of}"] = looks.GRID | {
            "title": {"text": title, "font": {"size": theme.TICK_SIZE}, "standoff": 2},
            "nticks": 4,
            "range": [0, 1.05] if weights and numbers.max() <= 1 else None,
        }
        hover = {"hovertemplate": f"%{{customdata}}<br>{title} %{{y:.4g}}<extra></extra>"}
        look = {"yaxis": f"y{of}", "marker": {"color": theme.LINES[2 * weights]}}
        bars.append(shared | look | hover | {"y": np.asarray(numbers, dtype=np.float32)})
    return {"data": bars, "layout": layout, "hover": None}


def form(switches: Switches, dropout: float) -> list[dict]:
    unscaled = say("Leaves out the division by √d, which softens rows with one large weight.")
    unmasked = say("Softmax over all keys, including those that the model may not attend to here.")
    about = say("Divides the scores: above 1 the row gets flatter, below 1 more peaked. The model has 1.")
    between = {"low": LOWEST, "high": HIGHEST, "step": 0.1}
    fields = [
        field("switch", "unscaled", say("No scaling"), not switches.scaled, unscaled),
        field("switch", "unmasked", say("No mask"), not switches.masked, unmasked),
        field("range", "temperature", say("Temperature"), switches.temperature, about, **between),
    ]
    if dropout:
        about = say(
            "In training, every weight is set to 0 with probability {p:.2f}, and the others are scaled up.", p=dropout
        )
        fields.append(field("switch", "dropout", say("Dropout"), bool(switches.dropout), about))
    if switches.dropout:
        between = {"low": 1, "high": MOST_SAMPLES}
        fields.append(field("range", "sample", say("Sample"), switches.draw, about, **between))
    return fields


def _line(text: str, row: Row, query: str, keys: Sequence[str]) -> str:
    best = int(row.weights.argmax())
    if not row.weights[best]:
        return say("“{query}” may attend to nothing here: all its weights are 0.", query=query)
    entropy, gradient = analysis.entropy(row.weights.astype(np.float64)), softmax_gradient(row.weights)
    about = {"query": query, "key": keys[best], "weight": row.weights[best]}
    return say(text, **about, entropy=entropy, gradient=gradient)
