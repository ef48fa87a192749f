"""The lines of Python beside every figure: they run as they are shown, and give the very figure that is drawn."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from model import load_translator
from model.interventions.edits import Cell, Edits, Force, Head
from model.measures import atlas, reports
from model.measures.corpus import index
from model.measures.word_links import LinkedPair, LinkedText
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_comparison
from tests.test_app.test_open_page import WHOLE
from viz.figures import Figure
from viz.figures.figure import titled
from viz.pages.atlas import over_texts
from viz.pages.masks import contents as masks
from viz.pages.pitfalls.demos import PITFALLS
from viz.pages.positions import contents as positions
from viz.pages.training import contents as training
from viz.ui import explore
from viz.views.snippets import Plot

SENTENCE = 'The animal\'s street is "too" {tired} $5$ </script>\\.'
DECODER = "decoder_self"
CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
OFF = Edits(off=(Head("cross", 1, 2), Head("encoder_self", 0, 1)), uniform=(Head("decoder_self", 0, 3),)).code
FORCED = Edits(forced=(Force(0, 1, 0.8, ((1, 2),)),), cells=(Cell("cross", 0, 1, False),)).code


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Figure, Plot]]:
    """What stands beside the figures of the pages that are opened, by the key of the chart."""
    plots: dict[str, tuple[Figure, Plot]] = {}

    def keep(plot: Plot, key: str, figure: Figure | None = None) -> None:
        plots[key] = (figure or plot.figure), plot

    monkeypatch.setattr(explore, "offer", keep)
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    return plots


def run(code: str) -> Figure:
    """The figure that a program makes."""
    names: dict = {}
    exec(compile(code, "beside", "exec"), names)  # what the page shows
    return names["figure"]


def check(at, offered, *expected: str) -> None:
    """Runs the lines of every figure of a page.

    Args:
        at: the page.
        offered: by the key of the chart.
        expected: keys that must be among them.
    """
    assert not at.exception
    charts = screen.charts(at)
    assert set(expected) <= set(offered)
    assert set(charts) <= set(offered), "a figure without code"
    for key, (figure, about) in offered.items():
        assert about.title and about.note, key
        result = run(about.code)
        assert result == about.figure, key
        assert result.description == figure.description, key
        assert figure.table.in_words() and all(len(sentence) > 5 for sentence in figure.table.in_words())


STAGE = [
    {},
    {"rows": "read", "stretch": "1", "beam": "1"},
    {"words": "1", "hide": "1", "share": "90", "penalty": "1.5"},
    {"summary": "mean", "over": "layers"},
    {"summary": "max", "over": "all", "hide": "1"},
    {"reference": "Ein Mann </b> 'fährt'."},
]


@pytest.mark.parametrize("query", first_quick(STAGE), ids=lambda query: "-".join(query.values()) or "first")
def test_the_python_of_the_stage_makes_the_numbers_that_it_draws(monkeypatch, query):
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    at = screen.open_app(text=SENTENCE, **query)
    assert not at.exception
    payload = screen.stage(at)
    for kind in payload["kinds"]:
        layer, head = (count - 1 for count in kind["tiles"].shape[:2])
        heat = run(payload["code"][kind["code"]]).data[0]
        expected = kind["weights"][layer, head]
        visible = np.ones(expected.shape, bool) if kind["shown"] is None else kind["shown"][layer, head].astype(bool)
        values = np.asarray(heat.z, dtype=np.float32)
        np.testing.assert_allclose(values[visible], expected[visible], atol=5e-5)  # sums of numbers of 16 bits
        assert np.isnan(values[~visible]).all()
    masks = {f"mask {entry['kind']}": entry for entry in payload["views"]["mask"]}
    for name, view in (masks | {name: payload["views"][name][0] for name in ("positions", "words")}).items():
        np.testing.assert_allclose(np.asarray(run(payload["code"][name]).data[0].z, float), view["z"], atol=1e-5)


HEADS = {"text": SENTENCE}
STEER = {"text": SENTENCE, "edits": FORCED, "prefix": "v1_300-301", "beam": "3"}
ENCODINGS = {"first": "learned", "second": "sinusoidal_concatenated", "length": "20", "width": "8"}
TEXTS = {"source1": SENTENCE, "target1": "Ein Mann 'fährt'.", "sentences": "2"}
PAGES = [
    ("atlas.py", HEADS | {"part": "contribution", "kind": DECODER}, ["weights", "added"]),
    ("atlas.py", HEADS | {"part": "contribution", "added-show": "change"}, ["weights", "added-change"]),
    ("atlas.py", HEADS | {"part": "contribution", "sinks": "punctuation"}, ["weights", "added"]),
    ("atlas.py", HEADS | {"part": "rollout"}, ["rollout-encoder", "rollout-target"]),
    ("atlas.py", HEADS | {"part": "alike"}, ["head-map"]),
    ("atlas.py", HEADS | {"colour": "effect", "sort": "log_probability"}, ["role-board"]),
    ("check.py", {"run": "mine", "text": SENTENCE, "check-show": "all"}, ["claims"]),
]


@pytest.mark.parametrize(("page", "query", "expected"), first_quick(PAGES, 2))
def test_a_page(offered, page, query, expected):
    check(screen.open_page(page, **query), offered, *expected)


SHEETS = [  # pages that a browser draws: their parts, and parameters of addresses
    (training, {}),
    (
        training,
        {"noam-warmup": "500", "kept": "256-100-2", "against": "step_decay", "epoch": "50"},
    ),
    (positions, ENCODINGS),
    (positions, ENCODINGS | {"picture": "difference"}),
    (positions, ENCODINGS | {"picture": "similarity"}),
    (positions, ENCODINGS | {"picture": "wavelengths", "first": "sinusoidal"}),
    (positions, {"picture": "kernels", "text": SENTENCE}),
    (positions, {"picture": "kernels", "model": "wikitext2-modern", "layer": "1", "head": "2"}),
    (positions, {"picture": "order", "text": SENTENCE, "kind": "cross"}),
    (positions, {"picture": "order", "trained": "1"}),
    (positions, {"picture": "rotary", "text": SENTENCE}),
    (positions, {"picture": "beyond"}),
    (masks, TEXTS | {"cells": "1-2.3-0", "without": "padding", "show": "head"}),
    (masks, TEXTS | {"cells": "1-2.3-0", "mask": "cross", "layer": "1", "head": "2"}),
    (masks, {"batch": "example"}),
    (masks, TEXTS | {"show": "sentences", "mask": "cross"}),
    (masks, TEXTS | {"mask": "window", "window": "2"}),
    (masks, TEXTS | {"mask": "documents"}),
    (masks, TEXTS | {"mask": "prefix", "show": "head"}),
    (training, {"grid-runs": "3.40.2", "grid-step": "100", "grid-kind": "decoder_self", "layer": "1", "head": "2"}),
]


@pytest.mark.parametrize(("page", "asked"), first_quick(SHEETS, 2))
def test_a_sheet(monkeypatch: pytest.MonkeyPatch, page, asked):
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(CHECKPOINTS))
    plots = page.plots(asked)
    assert plots
    for name, plot in plots.items():
        assert plot.title and plot.note, name
        assert run(plot.code) == plot.figure, name
        assert plot.figure.table and all(len(sentence) > 5 for sentence in plot.figure.table.in_words()), name


def test_the_search_tree(offered):
    at = screen.open_page("steer.py", **STEER)
    at.toggle(key="search-tree").set_value(True).run()
    check(at, offered, "tree")


@pytest.mark.parametrize("pitfall", first_quick(PITFALLS, 4))
def test_pitfalls(offered, pitfall):
    check(screen.open_page("pitfalls.py", text=SENTENCE, pitfall=pitfall), offered, "wrong", "right")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder of checkpoints, empty."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_models(offered, elsewhere):
    save_comparison(elsewhere)
    at = screen.open_page("models.py", beam="1", system="a-gru")
    check(at, offered, "vector")
    check(screen.choose(at, **{"models-show": "lengths"}), offered, "lengths")


def test_open(offered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "my 'file'.npz"
    (tmp_path / name).write_bytes(WHOLE)
    at = screen.open_page("open_file.py", model="file", kind=DECODER, rows="predicted")
    at.file_uploader(key="file").set_value((name, WHOLE, "application/octet-stream")).run()
    assert run(screen.stage(at)["code"]["cross"]).data[0].z.shape == (5, 7)
    at = screen.choose(at, part="roles", kind="cross", layer=1)
    check(at, offered, "role-board", "head-map", "head-opened")
    # The decoder cannot be followed: the file has two layers of its self-attention and four of its cross-attention.
    at = screen.choose(at, part="rollout")
    check(at, offered, "rollout-encoder")


def test_open_where_heads_read_nothing_and_words_are_marked_elsewhere(offered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weights = np.full((2, 2, 3, 4), 0.25, np.float32)
    weights[0, 1] = 0
    tokens = {"source_tokens": ["[CLS]", "cat", "##s", "[SEP]"], "target_tokens": ["[CLS]", "eine", "Katze"]}
    np.savez(tmp_path / "mine.npz", cross=weights, decoder_self=np.full((2, 2, 3, 3), 1 / 3, np.float32), **tokens)
    at = screen.open_page("open_file.py", model="file")
    data = (tmp_path / "mine.npz").read_bytes()
    at.file_uploader(key="file").set_value(("mine.npz", data, "application/octet-stream")).run()
    at = screen.choose(at, part="roles")
    check(at, offered, "role-board", "head-map")
    at = screen.choose(at, part="rollout")
    check(at, offered, "rollout-source", "rollout-target")


@pytest.mark.parametrize(
    ("query", "expected"),
    first_quick(
        [
            ({}, "role-board"),
            ({"colour": "aer_output", "sort": "aer_input"}, "role-board"),
            ({"colour": "agreement", "over-what": "difference"}, "role-board"),
            ({"part": "scatter", "colour": "effect"}, "scatter"),
            ({"part": "alike"}, "head-map"),
            ({"part": "alignment"}, "aer-input-norms"),
        ]
    ),
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_atlas(offered, elsewhere, query, expected):
    translator = load_translator(str(save_tiny(elsewhere / "en-de")))
    pair = LinkedPair(1, "A man", "Ein Mann", ["A", "man"], ["Ein", "Mann"], frozenset({(0, 0)}), frozenset({(0, 0)}))
    links = LinkedText("toys", ("en", "de"), "a test", [pair], 1)
    data = {"command": "python -m model atlas", "data": "x", "credit": ""}
    data |= atlas.measure(translator, ["A man"], 1, references=["Ein Mann"], links=[links])
    reports.write(translator.folder / atlas.FILE, data)
    check(screen.open_page("atlas.py", text=SENTENCE, **query), offered, expected)


def test_many_texts(monkeypatch, elsewhere):
    translator = load_translator(str(save_tiny(elsewhere / "en-de")))
    pairs = [("A man", "Ein Mann"), ("The animal's street", "Die Straße"), ("Two dogs.", "Zwei Hunde.")]
    data = {"command": "python -m model atlas --corpus", "credit": ""} | index.measure(translator, pairs)
    reports.write(translator.folder / index.FILE, data)
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    asks = screen.sheet(screen.open_page("atlas.py", text=SENTENCE))["asks"]
    for sort in ("place", "idle"):
        for name, plot in over_texts.plots({**asks, "texts-sort": sort, "over-texts": "numbers"}).items():
            assert run(plot.code) == plot.figure, name
    plot = over_texts.plots({**asks, "over-texts": "points"})["corpus-points"]
    clouds = run(plot.code).data  # without what a pointer is told
    for cloud, drawn in zip(clouds, plot.figure.data, strict=True):
        np.testing.assert_array_equal([cloud.x, cloud.y], [drawn.x, drawn.y])


def test_what_is_beside_a_figure_is_made_when_it_is_opened(monkeypatch):
    calls = []
    monkeypatch.setattr(explore, "titled", lambda *arguments: calls.append(arguments) or titled(*arguments))
    at = screen.open_page("atlas.py", text=SENTENCE)
    assert not at.code and not calls
    at.session_state["beside-role-board"] = True
    at.run()
    assert not at.exception and len(calls) == 1
    code = at.code[0].value
    ast.parse(code)
    assert repr(SENTENCE) in code
    assert {"html-role-board", "csv-role-board"} <= {button.key for button in at.get("download_button")}
    (pictures,) = [part.proto for part in at.get("bidi_component") if part.proto.id.endswith("-pictures_role-board")]
    title = unpack(pictures.bytes)["layout"]["title"]["text"]
    assert "&lt;/script&gt;" in title and "· en-de" in title
