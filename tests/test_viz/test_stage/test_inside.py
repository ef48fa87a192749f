"""How one row of a head comes about: which one an address asks for, and that its bars are the recorded numbers."""

from __future__ import annotations

import numpy as np
import pytest

from model.experiments import inside as experiment
from model.experiments.inside import AS_RECORDED, Switches
from viz.stage import inside, words
from viz.views import recipes

ASKED = {"view": "inside", "kind": "cross", "layer": "1", "head": "2", "row": "3"}
KINDS = ("cross", "encoder_self", "decoder_self")
SWITCHES = [
    AS_RECORDED,
    Switches(scaled=False),
    Switches(temperature=2.5),
    Switches(masked=False),
    Switches(dropout=0.3, draw=4),
]


class TestAsked:
    def test_a_row(self) -> None:
        assert inside.asked(ASKED, 0.1) == inside.Asked("cross", 1, 2, 3)

    @pytest.mark.parametrize(
        ("query", "switches"),
        [
            ({"unscaled": "1"}, Switches(scaled=False)),
            ({"unmasked": "1"}, Switches(masked=False)),
            ({"unscaled": "0", "unmasked": "0", "dropout": "0", "sample": "7"}, AS_RECORDED),
            ({"temperature": "2.5"}, Switches(temperature=2.5)),
            ({"dropout": "1", "sample": "7"}, Switches(dropout=0.1, draw=7)),
            ({"dropout": "1"}, Switches(dropout=0.1, draw=1)),
        ],
    )
    def test_what_is_done_differently(self, query, switches) -> None:
        assert inside.asked(ASKED | query, 0.1).switches == switches

    @pytest.mark.parametrize(
        "query",
        [{"view": "map"}, {"view": ""}, {"kind": "none"}, {"kind": "Cross"}]
        + [{name: bad} for name in ("layer", "head", "row") for bad in ("", "x", "<b>", "²")]
        + [{"layer": "1.5"}, {"row": "1e0"}, {"row": "9" * 5000}],
    )
    def test_what_is_none(self, query) -> None:
        assert inside.asked(ASKED | query, 0.1) is None

    @pytest.mark.parametrize("bad", ["", "x", "<b>", "nan", "1 2", "-3", "0", "99", "1e999", "-inf"])
    def test_what_is_done_differently_is_read_as_far_as_it_goes(self, bad) -> None:
        query = ASKED | {"temperature": bad, "sample": bad, "dropout": "1", "unscaled": "1", "unmasked": bad}
        assert inside.asked(query, 0.1).switches == Switches(scaled=False, dropout=0.1, draw=1)

    def test_nothing_is_asked_by_an_empty_address(self) -> None:
        assert inside.asked({}, 0.1) is None


def told(result, kind: str, layer: int, head: int, row: int, switches: Switches, dropout: float = 0.3) -> tuple:
    """What the stage is told of a row, the row, and its keys."""
    arrays = experiment.recorded(result, kind, layer)
    queries, keys, _ = recipes.axis_tokens(result, kind, "read")
    asked = inside.Asked(kind, layer, head, row, switches)
    found, made = inside.told(asked, arrays, queries, keys, dropout), experiment.row(arrays, head, row, switches)
    return found, made, [words.label(key) for key in keys]


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bars_are_the_row(result, kind, switches) -> None:
    found, made, keys = told(result, kind, 1, 2, 0, switches)
    assert found["place"] == {"kind": kind, "layer": 1, "head": 2, "row": 0}
    bars = found["look"]["data"]
    norms = np.linalg.norm(made.weighted.astype(np.float64), axis=-1)
    wanted = [made.raw_scores, made.scaled, np.where(made.mask, made.scaled, np.nan), made.dropped, norms]
    assert len(bars) == len(wanted)
    for bar, numbers in zip(bars, wanted):
        np.testing.assert_allclose(bar["y"], numbers, rtol=1e-6)
        assert bar["x"] == list(range(len(keys))) and len(bar["customdata"]) == len(keys)
    if switches == AS_RECORDED:
        np.testing.assert_array_equal(bars[3]["y"], result.attention(kind)[1, 2, 0])
    elif made.mask.sum() > 1 and switches.masked:  # a row with one key has nothing to change
        assert not np.allclose(bars[3]["y"], result.attention(kind)[1, 2, 0])
    layout = found["look"]["layout"]
    blocked = np.flatnonzero(~made.mask).tolist()
    assert [shape["x0"] + 0.5 for shape in layout["shapes"]] == blocked
    assert (kind == "decoder_self" and switches.masked) == bool(blocked)
    below_each_other = [[f"x{bar['yaxis']}"] for bar in bars]
    assert layout["grid"]["subplots"] == below_each_other and len({bar["yaxis"] for bar in bars}) == len(bars)
    assert layout["xaxis"]["anchor"] == bars[0]["yaxis"] and layout["xaxis"]["side"] == "top", "keys stand above all"


def test_the_line_says_what_is_largest_and_what_it_was(result) -> None:
    found, made, keys = told(result, "cross", 0, 1, 0, AS_RECORDED)
    largest = f"largest weight {made.weights.max():.2f} on “{keys[made.weights.argmax()]}”"
    assert largest in found["line"] and "As recorded" not in found["line"]
    changed, other, _ = told(result, "cross", 0, 1, 0, Switches(scaled=False))
    assert f"largest weight {other.weights.max():.2f}" in changed["line"]
    assert f"As recorded: largest weight {made.weights.max():.2f}" in changed["line"]
    assert changed["look"]["layout"]["yaxis2"]["title"]["text"] == "not scaled"
    assert found["look"]["layout"]["yaxis2"]["title"]["text"] == "÷ √d"
    warm, _, _ = told(result, "cross", 0, 1, 0, Switches(temperature=2.0))
    assert warm["look"]["layout"]["yaxis2"]["title"]["text"] == "÷ √d ÷ 2.0"


def test_a_model_without_dropout_offers_none() -> None:
    names = [field["name"] for field in inside.form(AS_RECORDED, 0.0)]
    assert names == ["unscaled", "unmasked", "temperature"]
    assert [field["name"] for field in inside.form(AS_RECORDED, 0.1)] == [*names, "dropout"]
    with_draw = inside.form(Switches(scaled=False, dropout=0.1, draw=3), 0.1)
    assert {field["name"]: field["value"] for field in with_draw} == {
        "unscaled": "1",
        "unmasked": "0",
        "temperature": 1.0,
        "dropout": "1",
        "sample": 3,
    }
