"""What browsers fetch beside a message: sentences once per language; maps that are too many, by kind or by head."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.support.messages import unpack
from viz.stage import assets
from viz.stage.payload.message import Version, message
from viz.stage.payload.packing import quantised
from viz.text.language import LANGUAGES, using


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=assets.routes()))


def test_a_head_is_fetched_by_its_layer_and_number(client: TestClient) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(7), (2, 3, 5)).astype(np.float32)
    whole, scale = quantised(weights)
    address = f"/{assets.keep(whole)}"
    assert client.get(address).content == whole.tobytes()
    for layer, head in np.ndindex(2, 3):
        head_weights = unpack(client.get(f"{address}/{layer}/{head}").content)["weights"]
        np.testing.assert_array_equal(head_weights, whole[layer, head])
        part = unpack(client.get(f"{address}/{layer}/{head}?bytes").content)
        head_weights = (part["roots"] / 255) ** 2 * part["largest"][:, None] / scale
        np.testing.assert_allclose(head_weights, weights[layer, head], atol=0.004)


@pytest.mark.parametrize("place", ["", "/2/0", "/0/3", "/-1/0", "/x/0", "/0"])
def test_what_is_not_there_is_not_found(client: TestClient, place: str) -> None:
    address = assets.keep(np.zeros((2, 3, 5, 7), np.uint16)) if place else "headlight/maps/none"
    assert client.get(f"/{address}{place}").status_code == 404


def test_the_newest_maps_are_kept(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = [np.full((1, 1, 4, 4), value, np.uint16) for value in range(3)]
    monkeypatch.setattr(assets, "KEPT", 2 * maps[0].nbytes)
    monkeypatch.setattr(assets, "_MAPS", {})
    statuses = [client.get(f"/{address}").status_code for address in [assets.keep(array) for array in maps]]
    assert statuses == [404, 200, 200]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_come_once_for_each_language_and_not_with_a_message(client: TestClient, result, language) -> None:
    version = Version(result.recording())
    with using(language):
        fetched, whole = (message(version, keep) for keep in (assets.keep, None))
        other = unpack(message(Version(result.recording(), is_live=True), assets.keep))["words"]
    words, of_file = unpack(fetched)["words"], unpack(whole)["words"]
    assert words["catalogue"] is None and of_file["address"] is None
    answer = client.get(f"/{words['address']}")
    assert answer.json() == of_file["catalogue"] and "immutable" in answer.headers["cache-control"]
    assert len(whole) - len(fetched) > 9000
    assert other["address"] == words["address"] and (other["forms"], words["forms"]) == (["live"], [])


def test_sentences_of_no_language_are_not_found(client: TestClient) -> None:
    assert client.get("/headlight/words/0/xx").status_code == 404
