"""Why a query looks where it looks: which cell an address asks for, and what travels of its scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from model.analysis.score_cause import cause_of
from model.analysis.score_parts import by_group
from tests.support.javascript import node
from viz.stage.payload import why

CAUSES = """
import { readFileSync } from "node:fs";
import { causeOf } from "%s";
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[1], "utf-8")).map(causeOf)));
"""

ASKED = {"view": "why", "kind": "cross", "layer": "1", "head": "2", "row": "3", "key": "0"}
KINDS = ("cross", "encoder_self", "decoder_self")


def test_the_cell_of_an_address() -> None:
    assert why.cell_of(ASKED) == why.Cell("cross", 1, 2, 3, 0)
    assert why.cell_of({name: ASKED[name] for name in ASKED if name != "key"}) == why.Cell("cross", 1, 2, 3)
    assert why.cell_of(ASKED | {"key": "x"}) == why.Cell("cross", 1, 2, 3)


@pytest.mark.parametrize(
    "query",
    [{"view": "map"}, {"view": "inside"}, {"kind": "none"}]
    + [{name: bad} for name in ("layer", "head", "row") for bad in ("", "x", "²", "1.5")],
)
def test_an_address_without_a_cell(query) -> None:
    assert why.cell_of(ASKED | query) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_travels_adds_up_to_the_recorded_scores(tiny, result, kind) -> None:
    """Compared with the scores and weights of the trace, which no split has seen."""
    layer, head = 1, 2
    parts = tiny.score_parts(result, kind, layer, head)
    weights = result.attention(kind)[layer, head]
    module = {"cross": "decoder.layers.1.cross_attention"}.get(kind, f"{kind.split('_')[0]}.layers.1.self_attention")
    for row in range(len(weights)):
        for key in (None, 0, weights.shape[1] - 1):
            payload = why.payload(why.Cell(kind, layer, head, row, key), parts, weights)
            mask = payload["mask"].astype(bool)
            recorded = result.trace[f"{module}.scores"][head, row]
            expected = np.where(mask, recorded - recorded[mask].mean(), 0)
            for name in ("of_queries", "of_keys"):
                np.testing.assert_allclose(payload[name].sum(axis=0), expected, atol=1e-4)
            np.testing.assert_allclose(payload["scores"], expected, atol=1e-4)
            column = payload["place"]["key"]
            assert column == (weights[row].argmax() if key is None else key)
            assert payload["pairs"].shape == (len(parts.query_names), len(parts.key_names))
            assert payload["pairs"].sum() == pytest.approx(expected[column], abs=1e-4)
            np.testing.assert_allclose(payload["pairs"].sum(axis=1), payload["of_queries"][:, column], atol=1e-9)
            np.testing.assert_allclose(payload["pairs"].sum(axis=0), payload["of_keys"][:, column], atol=1e-9)
    assert set(payload["groups"]) == set(map(by_group, [*parts.query_names, *parts.key_names]))
    assert payload["shares"].sum() == pytest.approx(1)


def test_the_shares_of_all_heads_are_those_of_each(tiny, result) -> None:
    payload = why.shares_payload(tiny.score_shares(result))
    for kind in KINDS:
        for layer, heads in enumerate(payload["shares"][kind]):
            for head, shares in enumerate(heads):
                weights = result.attention(kind)[layer, head]
                cell = why.payload(why.Cell(kind, layer, head, 0), tiny.score_parts(result, kind, layer, head), weights)
                places = [payload["groups"].index(group) for group in cell["groups"]]
                np.testing.assert_allclose(shares[np.ix_(places, places)], cell["shares"], atol=1e-9)
                assert shares.sum() == pytest.approx(1)


def test_browsers_name_the_same_cause(tiny, result, tmp_path: Path) -> None:
    """For every row of every head, at the key with the largest weight and at the first."""
    payloads, causes = [], []
    for kind in KINDS:
        for layer, head in np.ndindex(result.attention(kind).shape[:2]):
            parts = tiny.score_parts(result, kind, layer, head)
            weights = result.attention(kind)[layer, head]
            for row in range(len(weights)):
                for key in (None, 0):
                    payload = why.payload(why.Cell(kind, layer, head, row, key), parts, weights)
                    payloads.append(payload)
                    causes.append(vars(cause_of(parts, row, payload["place"]["key"])))
    module = Path("viz/web/recording/pictures/why_parts.js").resolve().as_uri()
    file = tmp_path / "payloads.json"
    file.write_text(json.dumps(payloads, default=lambda array: array.tolist()), "utf-8")
    finished = node("--input-type=module", "--eval", CAUSES % module, file)
    assert finished.returncode == 0, finished.stderr
    assert {cause["side"] for cause in causes} >= {"key", "query", "alone"}
    for expected, actual in zip(causes, json.loads(finished.stdout), strict=True):
        assert (actual["side"], actual["name"]) == (expected["side"], expected["name"])
        assert (actual["part"], actual["sum"]) == pytest.approx((expected["part"], expected["sum"]), abs=1e-9)
