"""The Head atlas of the site says and shows of every head and every board what Python does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from model import load_translator
from model.interventions.edits import Head
from model.measures.corpus.hypothesis import Hypothesis, Pattern, evaluate
from model.results.recording import axis_tokens
from tests.support.app_sheets import part
from tests.support.javascript import node
from viz.pages.atlas import contents, idea_file
from viz.stage.payload import head_card, head_rows, held_out
from viz.stage.payload.packing import pack
from viz.text.language import LANGUAGES, say, using
from viz.views.results import corpus_results, head_boards, head_sources, heads_results

SCRIPT = "tests/test_viz/test_site/atlas_sheets.js"
MODEL = "en-de"
HEADS = [Head("cross", 1, 5), Head("encoder_self", 0, 7), Head("decoder_self", 2, 3)]
Sheets = Callable[[list[tuple[str, dict[str, str]]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page over one model, as browsers have them once they are inflated."""
    folder = tmp_path_factory.mktemp("atlas")
    said, contents_of = contents.parts([load_translator(MODEL)])
    told = {f"told-{language}": pack(of_language) for language, of_language in said.items()}
    for name, content in (told | contents_of).items():
        (folder / name.replace("/", "_")).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def sheets(files: Path) -> Sheets:
    """Makes the sheets of addresses, each a language and parameters."""

    def make(addresses: list[tuple[str, dict[str, str]]]) -> list[dict[str, Any]]:
        asked = [{"language": language, "parameters": parameters} for language, parameters in addresses]
        (files / "addresses.json").write_text(json.dumps(asked), encoding="utf-8")
        finished = node(SCRIPT, files / "out.json", files / "addresses.json", files)
        assert finished.returncode == 0, finished.stderr
        return json.loads((files / "out.json").read_text(encoding="utf-8"))

    return make


def place_of(head: Head) -> dict[str, str]:
    return {"kind": head.kind, "layer": str(head.layer), "head": str(head.head)}


def drawn_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a sheet as `contents.row_payload` describes it."""
    query = dict(parse_qsl(row["href"][1:]))
    page = query.pop("page").replace("translate", "")
    return {"page": page, "query": query, "pieces": row["pieces"]}


def drawn_rows(rows: list[dict[str, float]]) -> np.ndarray:
    """The numbers of a map, whose rows JSON has by their places."""
    return np.array([list(row.values()) for row in rows])


def payload(row: head_rows.TextRow) -> dict[str, Any]:
    """What a browser is told of a row, as JSON has it."""
    return json.loads(json.dumps(contents.row_payload(row)))


def test_a_head_is_described_as_python_does(sheets) -> None:
    corpus = corpus_results.corpus_of(MODEL)
    views = [("tenths", "0"), ("fails", "1"), ("pairs", "0"), ("numbers", "0")]
    cases = [(language, head, view, draw) for language in LANGUAGES for head in HEADS for view, draw in views]
    addresses = [
        (language, {**place_of(head), "over-texts": view, "draw": draw}) for language, head, view, draw in cases
    ]
    for (language, head, view, draw), made in zip(cases, sheets(addresses)):
        sheet = made["sheet"]
        with using(language):
            name = head_sources.name_of(head.kind, head.layer, head.head)
            assert (sheet["answer"], sheet["below"]) == head_card.answer(corpus, head, name)
            if view in ("tenths", "fails"):
                assert part(sheet, "shares")["bars"] == [
                    {**vars(bar), "shares": [{**vars(share), "ink": share.ink} for share in bar.shares]}
                    for bar in head_card.bars(corpus, head)
                ]
                groups = head_rows.tenths(corpus, head) if view == "tenths" else head_rows.failures(corpus, head)
                drawn = [(row["label"], drawn_row(row)) for row in part(sheet, "rows")["rows"]]
                assert drawn == [(label, payload(row)) for label, row in (group.drawn(int(draw)) for group in groups)]
            elif view == "pairs":
                table = head_card.pairs(corpus, head)
                assert (part(sheet, "table")["head"], part(sheet, "table")["rows"]) == (table.columns, table.rows)
            else:
                for drawn, histogram in zip(
                    part(sheet, "histograms")["histograms"], head_card.histograms(corpus, head).values(), strict=True
                ):
                    assert drawn["axis"] == say(histogram.axis) and drawn["bins"] == histogram.bins
                    assert drawn["shares"] == histogram.shares


@pytest.mark.parametrize("view", ["texts", "board"])
def test_boards_are_those_of_python(sheets, view: str) -> None:
    """By every measure, sorted by every one, in all languages."""
    corpus = corpus_results.corpus_of(MODEL)
    report = heads_results.report(MODEL)
    roles = head_sources.of_report(report)
    source = corpus.source(roles) if view == "texts" else roles
    names = corpus.measure_names if view == "texts" else head_boards.MEASURES
    colour, order = ("texts-colour", "texts-sort") if view == "texts" else ("colour", "sort")
    measures = [name for name in names if source.having(name, list(source.kinds))]
    sorts = ["place", *measures[1:], measures[0]]
    cases = [
        (language, measure, sort)
        for number, language in enumerate(LANGUAGES)
        for measure, sort in zip([*measures, *measures], [*["place"] * len(measures), *sorts[number:]])
    ]
    addresses = [(code, {"part": view, colour: measure, order: sort}) for code, measure, sort in cases]
    head = Head("cross", *heads_results_first(report))
    for (language, measure, sort), made in zip(cases, sheets(addresses), strict=True):
        kinds = [kind for kind in source.kinds if sort == "place" or source.having(sort, [kind])]
        kinds = source.having(measure, kinds)
        if not kinds:
            with using(language):
                assert made["sheet"]["left"][0]["text"] == say(head_boards.NO_KIND)
            continue
        board = part(made["sheet"], "board", "left")
        with using(language):
            picture = head_boards.picture_of(source, kinds, measure, sort=sort, name=names[measure])
            texts = picture.texts or [[say("{x:.3g}", x=x) for x in row] for row in picture.board.values]
            assert (board["rows"], board["columns"]) == (picture.rows, picture.columns), (measure, sort)
            assert board["texts"] == texts
            for drawn, expected in zip(sum(board["names"], []), sum(picture.names, [])):
                assert drawn.startswith(f"{expected} · {say(picture.value)} ")
            assert part(made["sheet"], "note", "left")["text"] == picture.note
            cell = picture.board.cell_of(head)
        np.testing.assert_array_equal(board["values"], picture.board.values)
        assert (board["signed"], board["reversed"]) == (picture.signed, picture.low_is_good and not picture.signed)
        assert board["selected"] == ([list(cell)] if cell else [])


def heads_results_first(report: dict[str, Any]) -> tuple[int, int]:
    """The head that is opened at first."""
    rates = np.array(report["kinds"]["cross"]["aer_output"])
    return divmod(int(rates.argmin()), rates.shape[1])


def test_a_head_over_held_out_sentences_is_as_python_says(sheets) -> None:
    report = heads_results.report(MODEL)
    roles = head_sources.of_report(report)
    translator = load_translator(MODEL)
    places = [(language, head, number) for language in LANGUAGES for number, head in enumerate(HEADS)]
    addresses = [
        (language, {"part": "board", "example": str(number), **place_of(head)}) for language, head, number in places
    ]
    for (language, head, number), made in zip(places, sheets(addresses), strict=True):
        sheet = made["sheet"]
        with using(language):
            card = held_out.held_out_card(report, roles, head, MODEL)
            assert (sheet["answer"], sheet["below"]) == (card.about, card.ranked["sharpness"])
            assert part(sheet, "table")["rows"] == card.numbers
            example = card.examples[number]
            assert len(part(sheet, "tiles")["tiles"]) == len(card.examples)
            [drawn] = part(sheet, "maps")["maps"]
            assert (drawn["title"], drawn["small"]) == (f"“{example.text}”", example.caption)
            [link] = part(sheet, "controls")["controls"]
            assert dict(parse_qsl(link["href"][1:])) == {"page": "translate", **example.query}
        _, row, column, *_ = report["kinds"][head.kind]["examples"][head.layer][head.head][number]
        assert drawn["rings"] == [[row, column]]
        result = translator.translate(example.text, beam=1)
        queries, keys, _ = axis_tokens(result, head.kind)
        assert (len(drawn["rows"]), len(drawn["columns"])) == (len(queries), len(keys))
        weights = result.attention(head.kind)[head.layer, head.head]
        np.testing.assert_allclose(drawn_rows(drawn["values"]), weights, atol=0.5 / 255 + 1e-6)
        np.testing.assert_array_equal(drawn_rows(drawn["mask"]), result.mask(head.kind))


IDEAS: list[tuple[str, dict[str, str], Hypothesis]] = [
    ("cross", {}, Hypothesis(relation="aligned")),
    ("encoder_self", {}, Hypothesis(relation="after_same")),
    ("cross", {"idea-relation": "any"}, Hypothesis()),
    (
        "cross",
        {"idea-relation": "aligned", "idea-key": "capital"},
        Hypothesis(key=Pattern("capital"), relation="aligned"),
    ),
    (
        "cross",
        {"idea-relation": "any", "idea-query": "words", "idea-query-words": "Nicht, groß, KEIN"}
        | {"idea-low": "-2", "idea-high": "3"},
        Hypothesis(Pattern("words", "Nicht, groß, KEIN"), Pattern(), "any", -2, 3),
    ),
    (
        "encoder_self",
        {"idea-query": "expression", "idea-query-expression": "^(un|dis).*[a-z]{2,}", "idea-relation": "after_same"},
        Hypothesis(Pattern("expression", "^(un|dis).*[a-z]{2,}"), Pattern(), "after_same"),
    ),
    (
        "encoder_self",
        {"idea-query-when": "again", "idea-key-when": "first", "idea-relation": "same"},
        Hypothesis(Pattern(occurrence="again"), Pattern(occurrence="first"), "same"),
    ),
    (
        "decoder_self",
        {"idea-relation": "any", "idea-key": "special", "idea-query": "punctuation", "idea-high": "-1"},
        Hypothesis(Pattern("punctuation"), Pattern("special"), "any", None, -1),
    ),
]


def test_an_idea_fits_as_python_says(sheets) -> None:
    """Precision, recall and shares of all heads by every form, occurrence and relation."""
    corpus = corpus_results.corpus_of(MODEL)
    addresses = [("en", {"over-texts": "idea", "kind": kind, **parameters}) for kind, parameters, _ in IDEAS]
    for (kind, _, hypothesis), made in zip(IDEAS, sheets(addresses), strict=True):
        fit = evaluate(corpus.edge_texts, kind, hypothesis)
        for name in ("precision", "recall", "share", "score"):
            drawn = np.array(made["fit"][name], dtype=float)
            np.testing.assert_allclose(drawn, getattr(fit, name), rtol=1e-5, err_msg=f"{name} {hypothesis}")
        np.testing.assert_array_equal(made["fit"]["nEdges"], fit.n_edges)
        assert made["fit"]["nQueries"] == fit.n_queries > 0
        notes = [part["text"] for part in made["sheet"]["right"] if part["type"] == "note"]
        values = {"pairs": fit.n_queries, "texts": len(corpus.edge_texts.edges.texts)}
        assert notes == [say(idea_file.WORDS["pairs_there"], **values)]


def test_rows_of_an_idea_are_those_of_the_index_and_wrong_ideas_get_a_sentence(sheets) -> None:
    corpus = corpus_results.corpus_of(MODEL)
    parameters = {"over-texts": "idea", **place_of(HEADS[0]), "idea-relation": "aligned"}
    wrong = {**parameters, "idea-query": "expression", "idea-query-expression": "("}
    [made, broken] = sheets([("en", parameters), ("de", wrong)])
    for row in part(made["sheet"], "rows")["rows"]:
        query = dict(parse_qsl(row["href"][1:]))
        place = int(query["pin"][1:])
        keys = dict.fromkeys(range(len(corpus.lines((query["text"], query["reference"]), "cross")[1])), 1.0)
        described = [
            head_rows.text_row(corpus, HEADS[0], (query["text"], query["reference"]), place, {key: 1.0}) for key in keys
        ]
        assert drawn_row(row) in list(map(payload, described))
    assert "regular expression" in broken["sheet"]["warning"]
    assert broken["sheet"]["answer"]


def test_what_an_address_cannot_have_is_told(sheets) -> None:
    wrong = {"model": "nothing", "part": "scatter", "layer": "9", "texts-colour": "beauty"}
    wrong |= {"kind": "cross", "head": "2"}
    [made] = sheets([("en", wrong)])
    assert made["missed"] == ["model=nothing", "part=scatter", "layer=9", "texts-colour=beauty"]
    assert part(made["sheet"], "board", "left")["selected"][0][1] == 2
    [made] = sheets([("en", {"colour": "entropy"})])  # of addresses from before there were many texts
    assert made["sheet"]["answer"].startswith("Cross-attention") and not made["missed"]
    assert part(made["sheet"], "maps")["maps"]


def test_language_models_that_ship_are_there_without_ideas_and_without_a_stage(sheets) -> None:
    corpus = corpus_results.corpus_of("wikitext2-lm")
    number = int(np.argmax(corpus.numbers["decoder_self"]["rule induction"]))
    head = Head("decoder_self", *divmod(number, 4))  # which has the most induction
    [made] = sheets([("ko", {"model": "wikitext2-lm"})])
    with using("ko"):
        name = say("Layer {layer}, head {head}", layer=head.layer, head=head.head)
        assert (made["sheet"]["answer"], made["sheet"]["below"]) == head_card.answer(corpus, head, name)
        rows = [group.drawn(0) for group in head_rows.tenths(corpus, head)]
        drawn = part(made["sheet"], "rows")["rows"]
        assert [(row["label"], row["href"]) for row in drawn] == [(label, "") for label, _ in rows]
    [made] = sheets([("en", {"model": "wikitext2-modern", "over-texts": "idea", "part": "board"})])
    assert made["missed"] == ["part=board", "over-texts=idea"]


def test_models_without_an_index_are_not_on_the_page() -> None:
    assert contents.read_heads(load_translator("multi30k-de-en")) is None
