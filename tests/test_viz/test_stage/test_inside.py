"""How one row of a head is computed: which one an address asks for, and that its bars are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from model import attach
from model.analysis.maps import entropy
from model.experiments import inside as experiment
from model.experiments.inside import AS_RECORDED, Switches, softmax_gradient
from model.results.recording import axis_tokens
from tests.support import architectures
from tests.support.messages import browser_state as read
from viz.stage import words
from viz.stage.payload import inside, message

ASKED = {"view": "inside", "kind": "cross", "layer": "1", "head": "2", "row": "3"}
KINDS = ("cross", "encoder_self", "decoder_self")
DROPOUT = 0.3
SWITCHES = {  # by their codes in an address
    (): AS_RECORDED,
    (("unscaled", "1"),): Switches(scaled=False),
    (("temperature", "2.5"),): Switches(temperature=2.5),
    (("unmasked", "1"),): Switches(masked=False),
    (("dropout", "1"), ("sample", "4")): Switches(dropout=DROPOUT, draw=4),
    (("dropout", "1"), ("unscaled", "1"), ("temperature", "0.5")): Switches(False, 0.5, True, DROPOUT, 1),
}


def test_the_row_of_an_address() -> None:
    assert inside.place_of(ASKED | {"temperature": "x"}) == inside.Place("cross", 1, 2, 3)
    assert inside.place_of({}) is None


@pytest.mark.parametrize(
    "query",
    [{"view": "map"}, {"view": ""}, {"kind": "none"}, {"kind": "Cross"}]
    + [{name: bad} for name in ("layer", "head", "row") for bad in ("", "x", "<b>", "²")]
    + [{"layer": "1.5"}, {"row": "1e0"}, {"row": "9" * 5000}],
)
def test_an_address_without_a_row(query) -> None:
    assert inside.place_of(ASKED | query) is None


def draw_row(result, kind: str, row: int, codes: dict, dropout: float = DROPOUT) -> dict:
    """What the browser draws of a row of the third head of the second layer."""
    place = inside.Place(kind, 1, 2, row)
    payload = inside.payload(place, experiment.recorded(result, kind, 1), dropout)
    return read(message.message(message.Version(result.recording(), inside=payload)), {"rows": "read"} | codes)[
        "inside"
    ]


@pytest.mark.parametrize("codes", SWITCHES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bars_are_the_row(result, kind, codes) -> None:
    for row in (0, len(result.attention(kind)[0, 0]) - 1):
        picture = draw_row(result, kind, row, dict(codes))
        expected = experiment.row(experiment.recorded(result, kind, 1), 2, row, SWITCHES[codes])
        bars = picture["look"]["data"]
        norms = np.linalg.norm(expected.weighted.astype(np.float64), axis=-1)
        masked = np.where(expected.mask, expected.scaled, np.nan)
        numbers = [expected.raw_scores, expected.scaled, masked, expected.dropped, norms]
        keys = [words.label(key) for key in axis_tokens(result, kind, "read")[1]]
        assert len(bars) == len(numbers)
        for bar, number in zip(bars, numbers):
            np.testing.assert_allclose(np.asarray(bar["y"], float), number, rtol=2e-5, atol=2e-6)
            assert bar["x"].tolist() == list(range(len(keys))) and len(bar["customdata"]) == len(keys)
        if SWITCHES[codes] == AS_RECORDED:
            np.testing.assert_array_equal(np.float32(bars[3]["y"]), result.attention(kind)[1, 2, row])
        weights = expected.weights
        assert f"largest weight {weights.max():.2f} on “{keys[int(weights.argmax())]}”" in picture["line"]
        assert f"entropy {entropy(weights.astype(float)):.2f} nats" in picture["line"]
        assert f"gradient of the softmax {softmax_gradient(weights):.3f}" in picture["line"]
        assert ("As recorded" in picture["line"]) == (SWITCHES[codes] != AS_RECORDED)
        layout = picture["look"]["layout"]
        blocked = np.flatnonzero(~expected.mask).tolist()
        assert [shape["x0"] + 0.5 for shape in layout["shapes"]] == blocked
        below_each_other = [[f"x{bar['yaxis']}"] for bar in bars]
        assert layout["grid"]["subplots"] == below_each_other and len({bar["yaxis"] for bar in bars}) == len(bars)
        assert layout["xaxis"]["anchor"] == bars[0]["yaxis"] and layout["xaxis"]["side"] == "top"


def test_the_second_panel_says_how_scores_are_scaled(result) -> None:
    titles = {
        (): "÷ √d",
        (("unscaled", "1"),): "not scaled",
        (("temperature", "2"),): "÷ √d ÷ 2.0",
    }
    for codes, title in titles.items():
        look = draw_row(result, "cross", 0, dict(codes))["look"]
        assert look["data"][1]["name"] == look["layout"]["annotations"][1]["text"] == title


@pytest.mark.parametrize("bad", ["", "x", "<b>", "nan", "1 2", "-3", "0", "99", "1e999", "-inf"])
def test_switches_that_an_address_gets_wrong_are_as_recorded(result, bad) -> None:
    codes = {"temperature": bad, "sample": bad, "unmasked": bad, "unscaled": bad}
    requested, usual = (draw_row(result, "decoder_self", 1, address) for address in (codes, {}))
    assert requested["line"] == usual["line"] and requested["options"] == usual["options"]


def test_a_model_without_dropout_offers_none(result) -> None:
    def fields(codes: dict, dropout: float) -> dict:
        return {field["name"]: field["value"] for field in draw_row(result, "cross", 0, codes, dropout)["options"]}

    usual = {"unscaled": "0", "unmasked": "0", "temperature": 1}
    assert fields({}, 0.0) == usual and fields({}, 0.1) == usual | {"dropout": "0"}
    codes = {"unscaled": "1", "dropout": "1", "sample": "3"}
    assert fields(codes, 0.1) == {"unscaled": "1", "unmasked": "0", "temperature": 1, "dropout": "1", "sample": 3}


FAMILIES = {  # of transformers, by what is special in how they score
    "llama": "rotated",
    "gemma2": "capped at ±50",
    "t5": "+ position bias",
    "gpt_oss": "÷ √d",
    "bert": "÷ √d",
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("codes", [{}, {"unscaled": "1", "unmasked": "1"}, {"temperature": "2"}], ids=str)
def test_a_row_of_a_model_of_transformers(name: str, codes: dict) -> None:
    """Its steps lead to the recorded weights, and to those that the equations give where something is switched."""
    reader = attach(architectures.build(name), architectures.Numbers())
    result = reader.read(**architectures.inputs_of(name, 12))
    kind = result.kinds[-1] if name == "t5" else result.kinds[0]
    kind = "decoder_self" if name == "t5" else kind
    layer, head, query, cap = 1, 2, 4, result.config.score_cap
    arrays = experiment.recorded(result, kind, layer)
    place = inside.Place(kind, layer, head, query)
    payload = inside.payload(place, arrays, 0.0, cap, reader.rotation(result, kind, layer))
    view = read(message.message(message.Version(result.recording(), inside=payload)), {"rows": "read"} | codes)[
        "inside"
    ]
    switches = Switches("unscaled" not in codes, float(codes.get("temperature", 1)), "unmasked" not in codes)
    expected = experiment.row(arrays, head, query, switches, cap)
    bars = {bar["name"]: np.asarray(bar["y"], float) for bar in view["look"]["data"]}
    np.testing.assert_allclose(bars["softmax"], expected.weights, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(bars["masked"], np.where(expected.mask, expected.scores, np.nan), rtol=1e-4, atol=1e-5)
    if not codes:
        assert FAMILIES[name] in bars
        recorded = result.attention(kind)[layer, head, query]
        np.testing.assert_array_equal(np.float32(bars["softmax"]), recorded)
        # The same from the first step, without what was recorded of the softmax.
        scores = np.where(expected.mask, bars["masked"], -np.inf)
        powers = np.exp(scores - scores.max())
        denominator = powers.sum() + (0 if payload["sink"] is None else np.exp(payload["sink"] - scores.max()))
        np.testing.assert_allclose(powers / denominator, recorded, rtol=1e-3, atol=1e-5)
    assert ("rotation" in view["line"]) == (name in ("llama", "gemma2", "gpt_oss"))
    assert ("sink takes" in view["line"]) == (name == "gpt_oss")
