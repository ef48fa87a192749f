"""The page Positions of the site, whose engine computes what Python does: tables, and words in another order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator
from model.experiments import positions as experiments
from model.measures.heads.weights import by_distance, position_kernels
from tests.support.javascript import node
from tests.test_app.conftest import save_tiny
from viz.pages.positions import contents as page
from viz.site import contents
from viz.stage.payload.packing import pack
from viz.text.language import LANGUAGES, using
from viz.text.words_positions import ENCODINGS
from viz.views.results import position_results

pytestmark = pytest.mark.slow

SIZES = ((50, 64), (8, 8), (9, 16), (128, 32), (77, 256))
Sheets = Callable[[Sequence[dict[str, str]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Sheets:
    """The sheets of addresses, as the site makes them."""
    return sheets_in(tmp_path_factory.mktemp("positions"))


def sheets_in(folder: Path) -> Sheets:
    """What makes sheets with the checkpoints of here; its files go into a folder."""
    parts = dict(page.files())
    for language in LANGUAGES:
        with using(language):
            parts[language] = pack(page.told())
    files = {name: str(folder / name) for name in parts}
    for name, content in parts.items():
        Path(files[name]).write_bytes(content)
    model, translator = contents.read_model("en-de")
    settings = contents.settings([model])

    def make(addresses: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
        job = {"name": page.NAME, "settings": settings, "files": files, "addresses": addresses}
        path = folder / "job.json"
        path.write_text(json.dumps(job | {"folders": {"en-de": str(translator.folder)}}), encoding="utf-8")
        finished = node(Path(__file__).with_name("sheets.js"), path)
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)

    return make


def test_every_encoding_has_the_table_of_python(sheets: Sheets) -> None:
    """In all languages and some sizes."""
    sizes = [(name, *size) for name in ENCODINGS for size in SIZES if name != "learned" or size == SIZES[0]]
    addresses = [
        {"first": name, "length": str(n), "width": str(d), "lang": language}
        for language in LANGUAGES
        for name, n, d in sizes
    ]
    for address, sheet in zip(addresses, sheets(addresses), strict=True):
        n, d = int(address["length"]), int(address["width"])
        assert sheet["answer"] and not sheet["missed"], address
        [picture] = [part for part in sheet["right"] if part["type"] == "maps"]
        table = position_results.table(address["first"], n, d)
        np.testing.assert_allclose(picture["maps"][0]["values"], table.T, atol=1e-6)
        limit = max(1.0, np.abs(table).max())
        assert picture["range"] == pytest.approx([-limit, limit])


@pytest.mark.parametrize("positional", ["alibi", "none"])
def test_models_whose_positions_are_not_in_the_stream(positional: str, tmp_path: Path, monkeypatch) -> None:
    """Their heads are drawn by distance; without positions nobody is said to read any."""
    save_tiny(tmp_path / "en-de", positional=positional)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    addresses = [{"first": positional}, {"picture": "kernels"}, {"picture": "order", "trained": "1"}]
    encoding, heads, order = sheets = sheets_in(tmp_path)(addresses)
    assert not any(sheet["missed"] for sheet in sheets)
    links = [part for part in encoding["left"] if part.get("name") == "read"]
    assert len(links) == (positional == "alibi")
    kernel = position_kernels(load_translator(str(tmp_path / "en-de")))[heads["left"][1]["value"].split("-")[0]]
    _, layer, head = heads["left"][1]["value"].split("-")
    [line] = heads["right"][0]["panels"][0]["lines"]
    np.testing.assert_allclose([line["x"], line["y"]], by_distance(kernel[int(layer), int(head)]), atol=1e-4)
    assert [picture["options"][-1][0] for picture in order["controls"]["right"]] == ["order"]


def test_a_head_over_both_orders_is_that_of_python(sheets: Sheets, translators) -> None:
    address = {"picture": "order", "text": "Two dogs run.", "order": "4", "kind": "cross", "layer": "2", "head": "2"}
    [sheet] = sheets([address])
    translator = translators["en-de"]
    shuffle = experiments.shuffle(translator, address["text"], 4)
    [picture] = [part for part in sheet["right"] if part["type"] == "maps"]
    for drawn, text in zip(picture["maps"], (shuffle.text, shuffle.shuffled), strict=True):
        with experiments.changed_positions(translator.config.positional, 0.0, sides=("encoder",)):
            result = translator.translate(text, beam=1)
        np.testing.assert_allclose(drawn["values"], result.attention("cross")[2, 2], atol=2e-5)
        assert drawn["title"] == f"“{text}”"
        labels = [token.removeprefix("▁") for token in result.predicted_tokens]
        assert drawn["rows"] == labels
        assert drawn["columns"] == [token.removeprefix("▁") for token in result.source_tokens]


def test_what_cannot_be_read_is_a_sentence_and_another_one_is_shown(sheets: Sheets) -> None:
    texts = ["x " * 500, " ", "too too"]
    long, empty, same = sheets([{"picture": "order", "text": text} for text in texts])
    for sheet, problem in ((long, "at most"), (empty, "nothing to translate")):
        assert problem in sheet["warning"] and "Showing the example." in sheet["warning"]
        assert "Ein Mann fährt" in sheet["answer"]
    assert "This sentence has no other order" in same["warning"]
    assert len([part for part in same["right"] if part["type"] == "maps"][0]["maps"]) == 1
    [small, wrong] = sheets([{"first": "learned", "length": "20"}, {"first": "none", "length": "7", "dimensions": "x"}])
    assert "recorded with 50 positions and 64 dimensions" in small["answer"] + small["below"]
    assert wrong["missed"] == ["length=7", "dimensions=x"]
