"""The Head atlas over many texts in the app: what its browser makes of an index is what the index and the model say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from model import load_translator
from model.interventions.edits import Head
from model.measures import reports
from model.measures.corpus import edges, index, points
from model.measures.corpus.hypothesis import EdgeTexts, Hypothesis, evaluate
from tests.support.app_sheets import part, visit
from tests.support.repeated import first_quick
from tests.test_app.conftest import CARD, SENTENCES, save_tiny
from tests.test_app.screen import leave_sheet, measure_all, open_page, sheet, warnings
from viz.pages.atlas import over_texts as page
from viz.stage.payload import head_card, head_rows
from viz.ui import sheets
from viz.ui.controls import EXAMPLE
from viz.views import view

PAGE = "atlas.py"
KINDS = ("encoder_self", "decoder_self", "cross")
PAIRS = list(zip(SENTENCES[:2], SENTENCES[2:], strict=True))
HEAD = {"kind": "cross", "layer": "1", "head": "2"}


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The index of the tiny checkpoint, in a folder of its own."""
    folder = save_tiny(tmp_path / "en-de")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    made = index.CorpusIndex(load_translator(str(folder)), PAIRS, 1)
    made.read_all()
    about = {"command": "python -m model atlas --corpus", "credit": "somebody, CC0; trained on"}
    reports.write(folder / index.FILE, about | made.report())
    edges.write(edges.beside(folder / index.FILE), made.edges())
    return index.read(folder)


def drawn(at: Any, *addresses: Mapping[str, str], language: str = "en") -> list[dict[str, Any]]:
    """What the browser makes of addresses, with what the page has given it."""
    assert not at.exception and not at.error and not at.warning
    message = sheet(at)
    return visit(page, message["told"], addresses, language, message["asks"])


def board_of(made: dict[str, Any]) -> np.ndarray:
    return np.array(part(made, "board", "left")["values"])


def all_heads(report: dict[str, Any], measure: str = "unexplained") -> np.ndarray:
    numbers = index.numbers_of_heads(report)
    return np.concatenate([numbers[kind][measure] for kind in KINDS])


def query_of(href: str) -> dict[str, str]:
    return dict(parse_qsl(href.partition("?")[2]))


def test_it_opens_with_what_rules_do_not_explain_and_rows_that_lead_to_the_stage(indexed) -> None:
    at = open_page(PAGE, **HEAD)
    of_none = {"texts-colour": "rule same word", "texts-sort": "rule heads together"}
    made, fails, pairs, without = drawn(at, HEAD, {"over-texts": "fails"}, {"over-texts": "pairs"}, of_none)
    np.testing.assert_allclose(board_of(made), all_heads(indexed), atol=1e-6)
    assert part(made, "board", "left")["selected"] == [[6, 2]]
    text, row, *_ = indexed["kinds"]["cross"]["top"][1][2][0]
    first = part(made, "rows")["rows"][0]
    query = query_of(first["href"])
    assert first["label"].startswith("most active") and first["href"].startswith("./translate?")
    assert [query.get("text", view.EXAMPLE), query["reference"]] == indexed["texts"][text]
    assert (query["kind"], query["layer"], query["head"], query["pin"]) == ("cross", "1", "2", f"t{row}")
    assert without["left"][0]["text"].startswith("No kind of attention has both")  # of self-attention, and of cross
    assert part(pairs, "table")["rows"] and fails["right"]


@pytest.mark.parametrize("kind", first_quick(list(KINDS)))
def test_distributions_mark_where_the_rows_of_the_sentence_fall(indexed, recorded, kind: str) -> None:
    at = open_page(PAGE)
    address = {**HEAD, "kind": kind}
    numbers, tenths = drawn(at, address | {"over-texts": "numbers"}, address)
    histograms = {drawn["name"]: drawn for drawn in part(numbers, "histograms")["histograms"]}
    result = recorded.translate(EXAMPLE)
    here = index.measure(recorded, [(result.source, result.text)])["kinds"][kind]
    for name in ("largest", "spread"):
        marked = [len(mark.split(", ")) if mark else 0 for mark in histograms[name]["marks"]]
        assert marked == here[name][1][2]
    scale = indexed["bins"]["activity"]
    filled = np.flatnonzero(here["activity"][1][2])
    names = [f"{10 ** (scale['from'] + place / scale['per_decade']):.2g}" for place in filled]
    activity = histograms["activity"]
    assert [name for name, mark in zip(activity["bins"], activity["marks"], strict=True) if mark] == names
    assert sum(len(mark.split(", ")) for mark in activity["marks"] if mark) == here["rows"]
    assert f"{here['rows']} rows" in part(numbers, "note")["text"]
    assert part(tenths, "note")["text"].count(" · ") == here["rows"] - 1


def test_every_picture_is_kept_with_the_lines_that_draw_it(indexed) -> None:
    at = open_page(PAGE)
    asks = sheet(at)["asks"]
    names = {"tenths": ["role-board"], "points": ["corpus-points"]}
    names["numbers"] = [f"corpus-{name}" for name in head_card.DISTRIBUTIONS]
    for view_of_head, pictures in names.items():
        plots = page.plots({**HEAD, **asks, "over-texts": view_of_head})
        assert set(pictures) <= set(plots)
        for name in pictures:
            asked = {**HEAD, **asks, "over-texts": view_of_head, "save": name}
            assert plots[name].code and sheets.answer(page, "en", asked)[:1] == b"\0"
    sort = {"texts-colour": "rule special token", "texts-sort": "unexplained"}
    [made] = drawn(at, sort)
    board = page.plots({**asks, **sort})["role-board"].figure
    np.testing.assert_allclose(board_of(made), np.array(board.data[0]["z"], float), atol=1e-6)


def test_a_file_of_pairs_takes_the_place_of_the_index_and_goes_again(indexed) -> None:
    at = open_page(PAGE)
    [before] = drawn(at, {})
    lines = "".join(f"{source}\t{target}\tCC BY\n" for source, target in [*PAIRS, *PAIRS[::-1]])
    upload(at, "mine.tsv", lines.encode())
    measure_all(at)
    [made] = drawn(at, {})
    report = index.measure(load_translator(), [*PAIRS, *PAIRS[::-1]])
    np.testing.assert_allclose(board_of(made), all_heads(report), atol=1e-6)
    assert "mine.tsv" in json.dumps(sheet(at)["told"]["models"])
    of_somebody = {**sheet(at)["asks"], "corpus": "guessed"}
    assert sheets.answer(page, "en", {**of_somebody, "file": "en-de"}) is None
    at.button(key="forget-texts").click().run()
    [after] = drawn(at, {})
    np.testing.assert_array_equal(board_of(after), board_of(before))


def test_texts_of_an_index_that_ships_are_for_other_models_in_their_direction(indexed, tmp_path: Path) -> None:
    save_tiny(tmp_path / "other", CARD | {"source": "de", "target": "en"})
    at = open_page(PAGE, model="other", part="texts")
    measure_all(at)
    [made] = drawn(at, {})
    report = index.measure(load_translator("other"), [pair[::-1] for pair in PAIRS])
    np.testing.assert_allclose(board_of(made), all_heads(report), atol=1e-6)
    assert "somebody, CC0" in json.dumps(sheet(at)["told"]["models"])


def upload(at: Any, name: str, content: bytes) -> None:
    at.file_uploader(key="atlas-file").set_value((name, content, "text/plain")).run()


def test_without_an_index_hostile_files_get_a_sentence_each_and_pairs_are_measured() -> None:
    at = open_page(PAGE, part="texts")
    assert not at.exception and not at.warning
    assert at.code[0].value.startswith("python -m model atlas --corpus --checkpoint en-de")
    for name, content, sentence in (
        ("<b>x</b>.tsv", b"", "The file holds no text."),
        ("x.tsv", b"A dog.\tEin Hund.\nno tab\n", "Line 2 is not a pair: a text and its translation"),
        ("x.npz", b"PK\x03\x04\x00\x00", "The file is not text in UTF-8."),
        ("x.gz", b"\x1f\x8b\x00", "The compressed file is damaged."),
    ):
        upload(at, name, content)
        (warning,) = warnings(at)
        assert warning.startswith(f"{name}: {sentence}") and at.button(key="measure-heads").disabled
        assert not at.exception
    upload(at, "long.tsv", f"{'a ' * 9000}\tEin Hund.\n".encode())  # which the model cannot read
    measure_all(at)
    assert len(at.warning) == 1


def test_an_idea_is_tested_and_a_wrong_one_gets_a_sentence_of_the_language(indexed) -> None:
    at = open_page(PAGE, lang="de")
    idea = {"over-texts": "idea", "kind": "cross"}
    broken = {"idea-query": "expression", "idea-query-expression": "(x+"}
    aligned, wrong, elsewhere = drawn(
        at,
        idea | {"idea-relation": "aligned"},
        idea | broken,
        idea | {"kind": "encoder_self", "idea-relation": "aligned"},
        language="de",
    )
    corpus_edges = edges.read(edges.beside(load_translator().folder / index.FILE), indexed["weights"])
    fit = evaluate(EdgeTexts(corpus_edges), "cross", Hypothesis(relation="aligned"))
    [row] = [row for row in part(aligned, "table")["rows"] if row[0] == "0.0"] or [part(aligned, "table")["rows"][0]]
    layer, head = map(int, row[0].split("."))
    assert row[-1] == str(int(fit.n_edges[layer, head]))
    assert wrong["warning"].startswith("Kein regulärer Ausdruck") and wrong["answer"]
    assert elsewhere["missed"] == ["idea-relation=aligned"]


def test_points_open_their_text_and_the_lines_beside_them_draw_the_same(indexed) -> None:
    at = open_page(PAGE)
    of_points = {**HEAD, "over-texts": "points", "points-colour": "rule"}
    [made] = drawn(at, of_points)
    clouds = part(made, "figure")["figure"]["data"]
    number = clouds[-1]["customdata"][0][0]
    of_head = points.read_head(load_translator(), indexed["texts"], Head("cross", 1, 2))["outputs"]
    assert sum(len(cloud["customdata"]) for cloud in clouds) == len(of_head.places)
    opened, keys, wrong = drawn(
        at,
        of_points | {"point": str(number)},
        of_points | {"points-of": "keys", "points-colour": "class"},
        of_points | {"points-colour": "class", "point": "-1"},
    )
    [row] = part(opened, "rows")["rows"]
    query = query_of(row["href"])
    assert [query.get("text", view.EXAMPLE), query["reference"]] == indexed["texts"][of_head.texts[number]]
    assert (query["kind"], query["pin"]) == ("cross", f"t{of_head.places[number]}")
    assert row["label"] == f"{head_rows.plain(of_head.tokens[number])}, on the stage"
    assert "no rule" not in [cloud["name"] for cloud in part(keys, "figure")["figure"]["data"]]
    assert wrong["missed"] == ["point=-1"] and [part["type"] for part in wrong["right"]] == ["figure", "note"]


def test_the_open_head_stays_where_streamlit_draws_and_comes_back(indexed) -> None:
    at = open_page(PAGE)
    at = leave_sheet(at, part="board", **HEAD)
    assert not at.exception and sheet(at) is None
    assert (at.selectbox(key="kind").value, at.selectbox(key="layer").value) == ("cross", 1)
    at.selectbox(key="head").set_value(3).run()
    at = at.segmented_control(key="part").set_value("texts").run()
    assert sheet(at) is not None and {"kind": "cross", "layer": "1", "head": "3"}.items() >= address_of(at).items()


def address_of(at: Any) -> dict[str, str]:
    return {name: at.query_params[name][-1] for name in ("kind", "layer", "head") if name in at.query_params}


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>", "../../en-de", "9" * 400])
def test_rubbish_in_an_address_falls_back(indexed, rubbish: str) -> None:
    at = open_page(PAGE)
    asks = sheet(at)["asks"]
    names = ("kind", "layer", "head", "texts-colour", "texts-sort", "over-texts", "points-of", "points-colour", "point")
    made, usual = drawn(at, dict.fromkeys(names, rubbish), {})
    assert {**made, "missed": []} == usual and len(made["missed"]) >= len(names) - 3
    assert sheets.answer(page, "en", {**asks, "file": rubbish}) is None
    assert sheets.answer(page, "en", {**asks, "file": f"en-de/{rubbish}"}) is None
    assert sheets.answer(page, "en", {**asks, "save": rubbish}) is None
    assert sheets.answer(page, "en", {"file": "en-de", "model": rubbish or "x"}) is None
