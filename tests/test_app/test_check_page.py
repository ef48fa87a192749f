"""The page Check without a browser: every claim stands with its measured number, and a breach is told."""

import dataclasses
import json

import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from model import load_translator
from model.measures import checks, reports
from tests.support.javascript import node
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.test_translate import EXAMPLE
from viz.ui.engine import check as engine_check
from viz.ui.engine import files as engine_files

OWN_CACHES = True


NAMES = (
    "Rows sum to 1",
    "Every map is the softmax of its scores",
    "Masked cells are 0",
    "Nothing sees the future",
    "Padding changes nothing",
    "Cached decoding equals the full pass: logits",
    "Cached decoding equals the full pass: maps",
    "What is recorded is what was decoded",
    "Positions are those of the formula",
    "Direct effects add up to the logits",
)
TITLES = dict(zip(checks.CLAIMS, NAMES, strict=True))
ENGINE = "Your browser computes the same"


def table(at) -> dict[str, tuple[str, ...]]:
    """The rows of the table by claim."""
    frame = at.table[0].value
    return {title: tuple(row) for title, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)}


def open_page(**query: str):
    return screen.open_page("check.py", **({"run": "mine", "check-show": "table"} | query))


@pytest.mark.slow
def test_the_claims_of_the_example_stand_with_their_numbers(recorded) -> None:
    at = open_page()
    assert not at.exception and not at.error
    rows = table(at)
    claims = checks.check(recorded, recorded.translate(EXAMPLE))
    assert list(rows) == [*(TITLES[claim.claim] for claim in claims), ENGINE]
    assert rows[ENGINE] == ("Computing …", "", "", "", "")  # there is no browser here
    for claim in claims:
        holds, _, _, compared, control = rows[TITLES[claim.claim]]
        assert (holds, compared) == ("yes", f"{claim.compared:,}")
        assert bool(control) == (claim.control is not None)
    largest = max(claim.deviation for claim in claims if claim.claim in ("rows", "softmax", "cached_maps"))
    digits = min(7, int(-np.log10(max(largest, 1e-7))))
    answer = f"Yes, to {digits} digits: all {len(claims)} claims hold. For your sentence."
    assert screen.framed(at, "answer") == answer
    tiles = screen.tiles(at, "claim-tiles")
    assert [tiles[claim.claim]["name"] for claim in claims] == [f"✓ {TITLES[claim.claim]}" for claim in claims]
    assert "Computing …" in tiles["engine"]["note"]
    at = screen.choose(at, **{"check-show": "all"})
    data = screen.figure(at, "claims")["data"]
    deviations, allowed = (screen.values(trace["x"]) for trace in data[:2])
    assert (deviations <= allowed).all()
    np.testing.assert_allclose(allowed[1], claims[1].allowed, rtol=1e-6)


@pytest.mark.slow
def test_the_last_recorded_run_comes_first(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = load_translator(str(save_tiny(tmp_path / "en-de")))
    report = checks.measure(translator, [EXAMPLE, "A man is riding."])
    reports.write(translator.folder / checks.FILE, {"command": "python -m model check", "data": "d.tsv", **report})
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    st.cache_data.clear()
    at = screen.open_page("check.py")
    assert not at.exception and not at.text_input
    assert "worst of 2 held-out sentences (d.tsv)" in screen.framed(at, "answer-note")
    assert screen.framed(at, "answer").endswith("Over 2 held-out sentences.")
    at = screen.choose(at, **{"check-show": "table"})
    for claim in checks.read(translator.folder)["claims"]:
        assert table(at)[TITLES[claim.claim]][3] == f"{claim.compared:,}"
    at = screen.choose(at, **{"check-show": "all"})
    at = screen.click_marker(at, "claims", checks.CLAIMS.index("future"))
    assert checks.source_of("future").strip() in [code.value for code in at.code]
    at = screen.choose(at, run="mine")
    assert at.text_input(key="text").value == EXAMPLE
    assert screen.open_page("check.py", text="A man.").text_input(key="text").value == "A man."
    card = translator.folder / checks.FILE
    card.write_text(card.read_text().replace('"weights": "', '"weights": "0'))
    st.cache_data.clear()
    at = screen.open_page("check.py")
    assert "is not what python -m model check --save wrote" in at.warning[0].value and at.text_input
    st.cache_data.clear()


def test_a_reference_has_nothing_that_was_decoded() -> None:
    at = open_page(reference="Das Tier war zu müde.")
    assert table(at)[TITLES["decoded"]][0] == "nothing to compare"
    assert screen.framed(at, "answer").startswith("Yes, to ")
    assert screen.tiles(at, "claim-tiles")["decoded"]["note"] == "nothing to compare"


def test_a_breach_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = checks.check

    def off(*args):
        claims = measure(*args)
        return [dataclasses.replace(claims[0], deviation=float("nan")), *claims[1:]]

    st.cache_data.clear()
    monkeypatch.setattr(checks, "check", off)
    at = open_page(text="A man is riding a bicycle.")
    assert len(at.error) == 1 and "Not every claim holds for this sentence: Rows sum to 1." in at.error[0].value
    assert table(at)["Rows sum to 1"][:2] == ("NO", "nan")
    assert screen.framed(at, "answer").startswith(f"No: 1 of {len(checks.CLAIMS)} claims do not hold.")
    assert screen.tiles(at, "claim-tiles")["rows"]["name"] == "✗ Rows sum to 1"
    st.cache_data.clear()


def test_what_cannot_be_translated_is_told_and_the_last_claims_stay() -> None:
    at = open_page()
    at.text_input(key="text").set_value("a" * 3000).run()
    assert at.warning and not at.exception
    assert len(table(at)) == len(checks.CLAIMS) + 1


COMPARE = """
import { compareAnswers } from "%s";
const [answers, expected] = JSON.parse(process.argv[1]);
const weights = { cross: Float32Array.from(expected.weights.cross) };
const answer = ({ ids, cross }) => ({ predicted_ids: ids, attention: { cross: { data: Float32Array.from(cross) } } });
process.stdout.write(JSON.stringify(answers.map((one) => compareAnswers(answer(one), { ids: expected.ids, weights }))));
"""


def test_another_token_another_weight_and_another_shape_are_seen() -> None:
    answers = [
        {"ids": [5, 2], "cross": [0.25, 0.5, 0.25]},
        {"ids": [5, 2], "cross": [0.25, 0.25, 0.5]},
        {"ids": [6, 2], "cross": [0.25, 0.5, 0.25]},
        {"ids": [5], "cross": [0.25, 0.5, 0.25]},
        {"ids": [5, 2], "cross": [0.25, 0.5]},
    ]
    expected = {"ids": [5, 2], "weights": {"cross": [0.25, 0.5, 0.25]}}
    module = engine_check.SOURCE.as_uri()
    finished = node("--input-type=module", "--eval", COMPARE % module, json.dumps([answers, expected]))
    assert finished.returncode == 0, finished.stderr
    comparisons = [(answer["same"], answer["deviation"]) for answer in json.loads(finished.stdout)]
    assert comparisons == [(True, 0), (True, 0.25), (False, 0), (False, 0), (False, 1)]


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ({"same": True, "deviation": 1e-6, "compared": 9}, True),
        ({"same": True, "deviation": 3e-5, "compared": 9}, False),
        ({"same": True, "deviation": None, "compared": 9}, False),  # JSON has no NaN
        ({"same": False, "deviation": 0, "compared": 9}, False),
        ({"same": True, "deviation": 0, "compared": 0}, None),
        ({"same": True, "deviation": 0, "compared": "9"}, None),
        ({}, None),
        ("nonsense", None),
    ],
)
def test_what_a_browser_says_is_read_with_care(answer, holds: bool | None) -> None:
    of_task = {"name": "a"} | answer if isinstance(answer, dict) else answer
    result = engine_check.read_answer(of_task, "a")
    assert (result.check and result.check.holds) == holds
    assert engine_check.read_answer(of_task, "b").check is None  # of another sentence


def test_browsers_get_only_the_files_of_offered_checkpoints(tmp_path) -> None:
    folder = save_tiny(tmp_path / "en-de")
    client = TestClient(Starlette(routes=engine_files.routes()))
    address = engine_files.offer(folder)["config"]
    assert client.get(address).content == (folder / "config.json").read_bytes()
    assert client.get(engine_files.engine_address("client.js")).text.startswith("// The engine")
    refused = [
        address.replace("config.json", "card.json"),
        address.replace("config.json", "..%2Fen-de%2Fcard.json"),
        engine_files.engine_address("kernel.c"),
        "/headlight/checkpoint/0/config.json",
    ]
    assert [client.get(path).status_code for path in refused] == [404] * len(refused)
