"""The page Positions as Python tells it: whose heads read positions, other models, and the sentence of the session.

What a browser makes of it is held equal to these pictures in tests/test_viz/test_web/test_sheets/test_positions.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator, positional
from model.experiments import positions as experiments
from model.measures import context, reports
from model.measures.heads.weights import position_kernels
from tests.support.messages import unpack
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_language_model
from tests.test_model.builders import translate_elsewhere
from viz.pages.positions import contents
from viz.text.language import using
from viz.ui import sheets
from viz.views import view
from viz.views.snippets import Plot

EXAMPLE = "A man is riding a bicycle down the street."
KINDS = ("encoder_self", "decoder_self", "cross")


def file(name: str, **asked: str) -> dict[str, Any]:
    """One of the files of the page, as a browser has it."""
    return unpack(contents.file(name, asked))


def heat(plot: Plot) -> np.ndarray:
    """The numbers of a map."""
    return np.array(plot.figure.data[0]["z"], float)


def lines(plot: Plot) -> list[np.ndarray]:
    """The heights of the lines of a figure."""
    return [np.array(trace["y"], float) for trace in plot.figure.data]


def by_position(recorded) -> dict[tuple[str, int, int], float]:
    """The share of position x position in the scores of each head, from the parts of each."""
    result = recorded.translate(EXAMPLE, beam=1)
    shares = {}
    for kind in KINDS:
        for layer, head in np.ndindex(result.attention(kind).shape[:2]):
            parts = recorded.score_parts(result, kind, layer, head)
            if "positions" in parts.query_names and "positions" in parts.key_names:
                share = parts.shares[parts.query_names.index("positions"), parts.key_names.index("positions")]
                shares[kind, layer, head] = share
    return shares


@pytest.mark.parametrize("text", [EXAMPLE, "x" * 3000, ""])
def test_the_heads_that_read_an_encoding_are_those_whose_scores_follow_it(recorded, text: str) -> None:
    """Of a sentence that cannot be read the example is taken, and nothing is complained of."""
    reads = file("reads", text=text)
    shares = by_position(recorded)
    strongest = sorted(shares, key=shares.__getitem__, reverse=True)[:3]
    assert [(head["kind"], head["layer"], head["head"]) for head in reads["heads"]] == strongest
    assert tuple(reads["first"]) == strongest[0] and reads["text"] == EXAMPLE and reads["page"] == "translate"
    np.testing.assert_allclose([head["share"] for head in reads["heads"]], [shares[head] for head in strongest])
    query = reads["heads"][0]["query"]
    page = screen.open_page("translate.py", **query)
    assert not page.exception and screen.warnings(page) == []
    assert query["view"] == "why" and screen.message(page)["after"]["splits"]


def test_a_head_shows_its_scores_between_positions_and_the_waves_of_its_encoding(recorded) -> None:
    kind, layer, head = max(by_position(recorded), key=by_position(recorded).__getitem__)
    plots = contents.plots({"picture": "kernels", "text": EXAMPLE})
    kernel = position_kernels(recorded)[kind][layer, head]
    expected = np.where(np.isfinite(kernel), kernel, np.nan)
    expected -= np.nanmean(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(heat(plots["kernel"]), expected, atol=1e-4)
    table = positional.sinusoidal(len(kernel), recorded.config.d_model).numpy()
    width = table.shape[1]
    np.testing.assert_allclose(lines(plots["waves"]), table[:, [0, 1, width // 4, width // 2]].T, atol=1e-5)


@pytest.mark.parametrize(("seed", "trained"), [(1, False), (3, True)])
def test_both_orders_without_positions_and_as_trained(recorded, seed: int, trained: bool) -> None:
    place = {"kind": "cross", "layer": "1", "head": "2"}
    asked = {"text": EXAMPLE, "order": str(seed), "trained": str(int(trained))}
    plots = contents.plots({"picture": "order", **asked, **place})
    answers = file("order", **asked)["answers"]
    shuffle = experiments.shuffle(recorded, EXAMPLE, seed)
    for key, answer, words in zip(("own", "shuffled"), answers, (EXAMPLE, shuffle.shuffled), strict=True):
        result = translate_elsewhere(recorded, words, float(trained), 0, ("encoder",))
        assert answer["source"] == words and answer["text"] == result.text
        np.testing.assert_allclose(heat(plots[f"map-{key}"]), result.attention("cross")[1, 2], atol=2e-5)


@pytest.mark.parametrize("positional", ["alibi", "none"])
def test_heads_that_read_distances_or_nothing(monkeypatch, tmp_path: Path, positional: str) -> None:
    """ALiBi adds to scores: the share of what it adds counts. Without positions no head reads any."""
    save_tiny(tmp_path / "en-de", positional=positional)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert contents.told(in_app=True)["own"] == positional
    heads = file("reads")["heads"]
    translator = load_translator(str(tmp_path / "en-de"))
    if positional == "none":
        assert not heads
        return
    parts = translator.score_parts(
        translator.translate(EXAMPLE, beam=1), *(heads[0][name] for name in ("kind", "layer", "head"))
    )
    assert heads[0]["share"] == pytest.approx(parts.shares[-1, -1]) and parts.key_names[-1] == "distance"
    assert list(contents.plots({"picture": "kernels"})) == ["distances"]


@pytest.fixture(scope="module")
def modern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two language models, one of rotary positions, and what was measured of their loss by position."""
    folder = tmp_path_factory.mktemp("modern")
    save_language_model(folder / "adding")
    save_language_model(folder / "turning", positional="rotary_halves", n_kv_heads=1)
    for name in ("adding", "turning"):
        writer = load_translator(str(folder / name))
        report = {"command": "x", "data": "y"} | context.measure(writer, ["the cat sat"] * 99)
        reports.write(writer.folder / context.FILE, report)
    return folder


def test_language_models_with_rotary_positions_and_beyond_their_length(modern: Path, monkeypatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(modern))
    told = contents.told(in_app=True, model="turning")
    assert (told["model"], told["own"]) == ("turning", "rotary") and told["views"][-2:] == ["rotary", "beyond"]
    writer = load_translator(str(modern / "turning"))
    text = "the cat sat on the mat ."
    before, after = experiments.turned_products(writer, text, 64)
    [(name, plot)] = contents.plots({"picture": "rotary", "text": text, "layer": "1", "head": "0"}).items()
    assert name == "turned"
    np.testing.assert_allclose(lines(plot), [after[1, 0], np.full(64, before[1, 0])], atol=1e-5)
    [(name, plot)] = contents.plots({"picture": "kernels", "model": "turning", "layer": "0", "head": "1"}).items()
    kernel = position_kernels(writer)["decoder_self"][0, 1]
    means = np.array([np.diagonal(kernel, -distance).mean() for distance in range(len(kernel))])
    assert name == "distances"
    np.testing.assert_allclose(lines(plot)[0], means - means.mean(), atol=1e-4)
    plots = contents.plots({"picture": "beyond"})
    assert list(plots) == ["beyond-adding", "beyond-turning"]
    for name in ("adding", "turning"):
        for line, entry in zip(lines(plots[f"beyond-{name}"]), context.read(modern / name)["lengths"], strict=True):
            np.testing.assert_allclose(line, entry["loss"], atol=1e-3)
    ranges = [tuple(plot.figure.layout.yaxis.range) for plot in plots.values()]
    assert ranges[0] == ranges[1], "both have one axis"
    assert list(contents.plots({"picture": "beyond", "measured": "turning"})) == ["beyond-turning"]


def test_without_a_model_encodings_remain_and_a_command_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("positions.py", picture="order")
    assert not at.exception
    told = screen.sheet(at)["told"]
    assert told["model"] is None and told["translator"] is None
    assert "There is no checkpoint 'en-de'" in told["no_translator"][0] and "model train" in told["no_translator"][1]
    assert (
        list(contents.plots({"first": "learned_start"})) == ["table"] and contents.plots({"picture": "kernels"}) == {}
    )
    for query in ({"file": "kernels"}, {"file": "order"}, {"file": "rotary"}, {"save": "map-own", "picture": "order"}):
        assert sheets.answer(contents, "en", query)[:1] == b"\1", query


@pytest.mark.parametrize(("text", "problem"), [("", "nothing to translate"), ("tired " * 900, "at most")])
@pytest.mark.parametrize("query", [{"file": "order"}, {"save": "map-own", "picture": "order"}])
def test_what_cannot_be_read_is_a_sentence(query: dict[str, str], text: str, problem: str) -> None:
    answer = sheets.answer(contents, "en", query | {"text": text})
    assert answer[:1] == b"\1" and problem in answer[1:].decode() and answer.endswith(b".")
    assert sheets.answer(contents, "de", query | {"text": text}) != answer


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp; a\x00b"])
def test_odd_text_is_read_shuffled_and_without_positions(text: str) -> None:
    assert len(file("order", text=text)["answers"]) in (1, 2)
    assert "map-own" in contents.plots({"picture": "order", "text": text})


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>", "../../en-de", "9" * 400])
def test_rubbish_in_an_address_falls_back(rubbish: str) -> None:
    names = ("picture", "first", "second", "length", "width", "order", "trained", "kind", "layer", "head", "model")
    asked = dict.fromkeys(names, rubbish)
    assert contents.plots(asked)["table"].figure == contents.plots({})["table"].figure
    with using("en"):
        assert contents.file("kernels", asked) == contents.file("kernels", {})
        assert contents.file("order", asked) == contents.file("order", {})
    assert sheets.answer(contents, "en", {"file": rubbish}) is None
    assert sheets.answer(contents, "en", {"save": rubbish}) is None


def test_the_sentence_is_that_of_the_page_before_and_of_the_next_one() -> None:
    at = screen.open_app(text="A man is too tired.")
    at.query_params.clear()  # as a browser that follows the menu
    at = at.switch_page(screen.path("positions.py")).run()
    message = screen.sheet(at)
    assert not at.exception and at.query_params["text"] == "A man is too tired."
    assert message["parameters"] == {"text": "A man is too tired."} and message["asks"] == {"model": "en-de"}
    assert message["told"]["examples"] and set(message["told"]["views"]) >= {"encoding", "kernels", "order"}
    at.query_params["text"] = "A dog."
    at = screen.type_in_sheet(at, text="A dog.")
    assert at.session_state[view.KEPT].text == "A dog." and screen.sheet(at)["parameters"] == {}
    at = at.switch_page(screen.path("steer.py")).run()
    assert at.text_input(key="sentence").value == "A dog."
    fresh = screen.open_page("positions.py")
    assert screen.sheet(fresh)["parameters"] == {} and "text" not in fresh.query_params
