"""The page Positions as the browser makes it and in Python: the same tables, curves and maps as of "Save · Code"."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator, positional
from model.experiments import positions as experiments
from model.experiments import recorded_positions
from tests.support.javascript import node
from viz.figures import Figure
from viz.pages.positions import contents
from viz.stage.payload.packing import pack
from viz.text.words_positions import ENCODINGS, RELATIVE
from viz.views.snippets import Plot

SCRIPT = Path(__file__).with_name("positions.js")
EXAMPLE = "A man is riding a bicycle down the street."
SMALL = {"length": "20", "width": "8"}  # a table that nobody recorded
FILES = {"kernels": ("kernels", "reads"), "order": ("order",), "rotary": ("rotary",), "beyond": ("beyond",)}
HOSTILE = [
    {"picture": "order", "order": "9", "trained": "2", "kind": "<b>", "layer": "-1", "head": "1e3"},
    {"picture": "kernels", "kind": "cross", "layer": "77", "head": "1"},
    {"length": "7", "width": "9", "first": "x", "dimensions": "0.999", "picture": "y"},
    {"length": "1.5", "dimensions": "0.1.2.3.4.5.6.7.8", "second": "alibi"},
]
ADDRESSES = [
    *({"first": name, **SMALL, "dimensions": "0.2.7"} for name in ENCODINGS),
    {},
    {"dimensions": "", "length": "128", "width": "16", "first": "rotary"},
    *({"picture": "difference", "second": name} for name in ENCODINGS if name not in RELATIVE),
    *({"picture": view, "first": "alibi"} for view in ("difference", "similarity", "wavelengths")),
    {"picture": "similarity", "first": "learned", "second": "sinusoidal_concatenated", **SMALL},
    {"picture": "wavelengths", "second": "sinusoidal_concatenated", "width": "8"},
    {"picture": "wavelengths", "first": "none", "second": "learned_start"},
    {"picture": "kernels"},
    {"picture": "kernels", "kind": "cross", "layer": "2", "head": "5", "text": "A dog runs."},
    {"picture": "kernels", "model": "wikitext2-modern"},
    {"picture": "order"},
    {
        "picture": "order",
        "text": "Two dogs run.",
        "order": "3",
        "trained": "1",
        "kind": "cross",
        "layer": "1",
        "head": "4",
    },
    {"picture": "order", "text": "too too"},
    {"picture": "rotary"},
    {"picture": "beyond"},
    {"picture": "beyond", "measured": "wikitext2-modern"},
    *HOSTILE,
]
Made = tuple[dict[str, str], dict[str, Any], dict[str, Plot]]


def sheets_of(
    folder: Path, told: dict[str, Any], addresses: list[dict[str, str]], on_site: bool
) -> list[dict[str, Any]]:
    """What the browser's maker makes of addresses, with the files of each."""
    folder.mkdir()
    for n, asked in enumerate(addresses):
        for name in FILES.get(asked.get("picture", ""), ("learned", "reads")):
            (folder / f"{n}-{name}").write_bytes(contents.file(name, {} if on_site else asked))
    (folder / "told").write_bytes(pack(told))
    request = {"addresses": addresses, "language": "en", "on_site": on_site}
    (folder / "asked.json").write_text(json.dumps(request))
    finished = node(SCRIPT, folder)
    assert not finished.returncode, finished.stderr
    return json.loads(finished.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Made]:
    """Each address, what the browser's maker makes of it in the app, and its pictures in Python."""
    folder = tmp_path_factory.mktemp("positions")
    of_model = [(asked.get("model", ""), asked) for asked in ADDRESSES]  # the session says whose heads are looked at
    sheets = {}
    for model in ("", "wikitext2-modern"):
        addresses = [asked for name, asked in of_model if name == model]
        made_of_model = sheets_of(folder / f"model-{model}", contents.told(in_app=True, model=model), addresses, False)
        sheets |= {json.dumps(asked): sheet for asked, sheet in zip(addresses, made_of_model, strict=True)}
    return [(asked, sheets[json.dumps(asked)], contents.plots(asked)) for asked in ADDRESSES]


def parts_that_save(sheet: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pictures of a sheet by the name that Python has for them."""
    parts = [part for part in sheet["right"] if "save" in part]
    maps = [
        picture for part in sheet["right"] if part["type"] == "maps" for picture in part["maps"] if "save" in picture
    ]
    return {part["save"]: part for part in [*parts, *maps]}


def heat(figure: Figure) -> np.ndarray:
    """The numbers of a map; NaN where it is masked."""
    return np.array(figure.data[0]["z"], float)


def test_every_picture_is_that_of_its_program(made: list[Made]) -> None:
    for asked, sheet, plots in made:
        shown = parts_that_save(sheet)
        assert set(shown) == set(plots), asked
        for name, part in shown.items():
            if "values" in part:
                values = np.array(part["values"], float)
                if "mask" in part:
                    values[~np.array(part["mask"], bool)] = np.nan
                np.testing.assert_allclose(
                    values, heat(plots[name].figure), rtol=1e-4, atol=2e-5, err_msg=f"{asked} {name}"
                )
                continue
            lines = [trace for trace in plots[name].figure.data if trace.type == "scatter" and trace.name]
            drawn = part["panels"][0]["lines"]
            assert [line["name"] for line in drawn] == [line["name"] for line in lines], asked
            for line, expected in zip(drawn, lines, strict=True):
                np.testing.assert_allclose(line["x"], np.array(expected["x"], float), rtol=1e-5, atol=0.3)
                np.testing.assert_allclose(line["y"], np.array(expected["y"], float), rtol=1e-4, atol=1e-3)


def sheet_at(made: list[Made], **asked: str) -> dict[str, Any]:
    """The sheet of an address."""
    return next(sheet for other, sheet, _ in made if other == asked)


def test_tables_and_waves_are_those_of_the_names(made: list[Made]) -> None:
    for name in ENCODINGS:
        sheet = sheet_at(made, first=name, **SMALL, dimensions="0.2.7")
        if name in ("rotary", *RELATIVE):
            table = experiments.relative_table(name, 20, 8)
        elif name.startswith("learned"):
            learned = experiments.learn(20, 8)
            table = learned.initial if name == "learned_start" else learned.trained
        else:
            table = positional.VARIANTS[name](20, 8).numpy()
        np.testing.assert_allclose(sheet["right"][0]["maps"][0]["values"], table.T, atol=1e-6, err_msg=name)
        lines = sheet["right"][1]["panels"][0]["lines"]
        np.testing.assert_allclose([line["y"] for line in lines], table[:, [0, 2, 7]].T, atol=1e-6)
        assert ENCODINGS[name][1] in sheet["below"] and ("; the loss is" in sheet["below"]) == (name == "learned")
    table = positional.VARIANTS["sinusoidal"](50, 64).numpy()
    products = table @ table.T
    answer = sheet_at(made)["answer"]
    assert f"5 apart have the product {products[0, 5]:.1f}, wherever they stand" in answer
    assert answer.endswith(f"a position with itself {products[7, 7]:.1f}.")
    answer = sheet_at(made, first="alibi", **SMALL, dimensions="0.2.7")["answer"]
    assert f"shrinks to {np.exp(-10 / 2):.1%} in head 0, to {np.exp(-10 / 256):.1%} in head 7" in answer


def test_differences_similarities_and_wavelengths_are_said_in_numbers(made: list[Made]) -> None:
    for name in set(ENCODINGS) - set(RELATIVE):
        same = "with each sine before its cosine at most 0."
        answer = sheet_at(made, picture="difference", second=name)["answer"]
        assert (same in answer) == (name in ("sinusoidal", "sinusoidal_concatenated")), name
    asked = {"picture": "similarity", "first": "learned", "second": "sinusoidal_concatenated", **SMALL}
    numbers = re.findall(r"([\d.e-]+) in the (?:first|second)", sheet_at(made, **asked)["answer"])
    products = (table := experiments.learn(20, 8).trained) @ table.T
    means = [np.diagonal(products, k).mean() for k in range(20)]
    residual = max(np.abs(np.diagonal(products, k) - means[k]).max() for k in range(20))
    assert float(numbers[0]) == pytest.approx(residual, rel=1e-2) and float(numbers[1]) == 0
    sheet = sheet_at(made, picture="wavelengths", second="sinusoidal_concatenated", width="8")
    waves = 2 * np.pi * 10000.0 ** (np.arange(0, 8, 2) / 8)
    rows = [[float(text.replace(",", "")) for text in row] for row in sheet["left"][-1]["rows"]]
    np.testing.assert_allclose(rows, np.stack([np.arange(4), *[waves] * 4]).T, atol=1e-3)
    lacking = sheet_at(made, picture="wavelengths", first="none", second="learned_start")
    assert "Neither encoding has waves" in lacking["right"][0]["text"]


def test_heads_and_both_orders_are_described_as_they_are(made: list[Made]) -> None:
    translator = load_translator("en-de")
    shuffle = experiments.shuffle(translator, "Two dogs run.", 3)
    asked = {"text": "Two dogs run.", "order": "3", "trained": "1", "kind": "cross", "layer": "1", "head": "4"}
    sheet = sheet_at(made, picture="order", **asked)
    for words, drawn in zip(("Two dogs run.", shuffle.shuffled), sheet["right"][1]["maps"], strict=True):
        result = translator.translate(words, beam=1)
        assert drawn["title"] == f"“{words}”" and result.text in sheet["answer"]
        np.testing.assert_allclose(drawn["values"], result.attention("cross")[1, 4], atol=2e-5)
        assert len(drawn["rows"]) == len(result.target_tokens) and len(drawn["columns"]) == len(result.source_tokens)
    numbers = re.search(r"difference ([\d.e-]+); as trained ([\d.e-]+)\)", sheet["below"])
    assert numbers
    for value, scale in zip(numbers.groups(), (0.0, 1.0), strict=True):
        assert float(value) == pytest.approx(experiments.order_difference(translator, shuffle, scale), abs=1e-3)
    alone = sheet_at(made, picture="order", text="too too")
    assert "This sentence has no other order" in alone["warning"] and len(alone["right"][1]["maps"]) == 1
    sheet = sheet_at(made, picture="kernels")
    scores = np.array(sheet["right"][0]["maps"][0]["values"])
    offsets = scores.argmax(axis=1) - np.arange(len(scores))
    most = max(int((offsets == offset).sum()) for offset in offsets)
    assert f"in {most} of {len(scores)} rows" in sheet["answer"] and f"In “{EXAMPLE}” " in sheet["below"]


def test_what_is_not_there_gives_the_default_and_is_named(made: list[Made]) -> None:
    by_address = {json.dumps(asked): sheet for asked, sheet, _ in made}
    order, kernels, table, sizes = (by_address[json.dumps(asked)] for asked in HOSTILE)
    assert order["missed"] == ["order=9", "trained=2", "kind=<b>", "layer=-1", "head=1e3"]
    assert order["right"] == sheet_at(made, picture="order")["right"]
    assert kernels["missed"] == [] and kernels["right"] == sheet_at(made, picture="kernels")["right"]
    assert sorted(table["missed"]) == ["dimensions=0.999", "first=x", "length=7", "picture=y", "width=9"]
    assert table["right"] == sizes["right"] == sheet_at(made)["right"]


def test_the_site_shows_what_is_recorded_and_nothing_in_its_place(made: list[Made], tmp_path: Path) -> None:
    told = contents.told()
    assert not told["trains"] and told["of_text"] == ["order"] and set(FILES) <= set(contents.files())
    addresses = [{}, {"picture": "kernels"}, {"picture": "order"}, {"picture": "rotary"}, {"picture": "beyond"}]
    other_sizes = {"first": "learned", **SMALL}
    *sheets, trained_elsewhere = sheets_of(tmp_path / "site", told, [*addresses, other_sizes], True)
    for asked, sheet in zip(addresses, sheets, strict=True):
        in_app = sheet_at(made, **asked)
        assert [sheet[name] for name in ("answer", "below", "right")] == [
            in_app[n] for n in ("answer", "below", "right")
        ]
        assert sheet["left"] == in_app["left"], asked
    sizes = recorded_positions.N_POSITIONS, recorded_positions.D_MODEL
    assert "{} positions and {} dimensions".format(*sizes) in trained_elsewhere["answer"]
    assert not parts_that_save(trained_elsewhere)
