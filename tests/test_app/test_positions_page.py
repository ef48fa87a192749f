"""The page Positions without a browser: every control, and what is drawn, against the same computed here."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from model import load_translator, positional
from model.experiments import positions as experiments
from model.measures import context, reports
from model.measures.heads.weights import position_kernels
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_language_model
from tests.test_model.builders import translate_elsewhere
from viz.text.words import number
from viz.text.words_positions import ENCODINGS, RELATIVE

EXAMPLE = "A man is riding a bicycle down the street."
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("positions.py", **query)
    assert not at.exception and not at.error
    return at


def heatmap(at, key):
    assert not at.exception
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def lines(at, key):
    return [screen.values(trace.get("y", [])) for trace in screen.figure(at, key)["data"]]


def waves(at):
    """The lines under the table: after the map and the trace of its ticks."""
    return lines(at, "table")[2:]


def table_of(name, n, d):
    if name in ("rotary", "alibi", "buckets"):
        return experiments.relative_table(name, n, d)
    if name.startswith("learned"):
        learned = experiments.learn(n, d)
        return learned.initial if name == "learned_start" else learned.trained
    return positional.VARIANTS[name](n, d).numpy()


def assert_compared(at, first, second, n=50, d=64):
    """Both encodings and their difference are those of the names; the page is left on their similarity."""
    tables = [table_of(name, n, d) for name in (first, second)]
    at = screen.choose(at, picture="difference")
    for place, table in zip(("first", "second"), tables, strict=True):
        np.testing.assert_array_equal(heatmap(at, f"table-{place}"), table.astype(np.float32))
    difference = tables[0] - tables[1]
    np.testing.assert_array_equal(heatmap(at, "table-difference"), difference.astype(np.float32))
    largest = number(float(np.abs(difference).max()))
    assert f"First minus second: at most {largest};" in screen.framed(at, "answer")
    at = screen.choose(at, picture="similarity")
    for place, table in zip(("first", "second"), tables, strict=True):
        products = table @ table.T
        np.testing.assert_allclose(heatmap(at, f"similarity-{place}"), products, rtol=1e-5, atol=1e-5)
        means = [np.diagonal(products, k).mean() for k in range(n)]
        residual = max(np.abs(np.diagonal(products, k) - means[k]).max() for k in range(n))
        value = re.search(rf"([\d.e-]+) in the {place}", screen.framed(at, "answer"))
        value = float(value[1].rstrip("."))
        assert value == pytest.approx(residual, rel=0.1) if residual > 1e-9 else value < 1e-9
        np.testing.assert_allclose(lines(at, "offset")[("first", "second").index(place)], means, rtol=1e-5, atol=1e-5)


def assert_orders(at, recorded, text, seed=1, scale=0.0):
    """The two orders are translated, and their maps drawn."""
    shuffle = experiments.shuffle(recorded, text, seed)
    for key, words in (("own", text), ("shuffled", shuffle.shuffled)):
        result = translate_elsewhere(recorded, words, scale, 0, ("encoder",))
        assert result.text in screen.framed(at, "answer")
        np.testing.assert_allclose(screen.head(at, f"map-{key}"), result.attention("encoder_self")[0, 0], atol=2e-5)
        recording = screen.message(at, f"map-{key}")["after"]["recording"]
        assert recording["source_tokens"] == result.source_tokens
    numbers = re.search(r"difference ([\d.e-]+); as trained ([\d.e-]+)\)", screen.framed(at, "answer-note"))
    for value, scale in zip(numbers.groups(), (0.0, 1.0), strict=True):
        assert float(value) == pytest.approx(experiments.order_difference(recorded, shuffle, scale), abs=1e-3)


@pytest.mark.slow
def test_the_first_paint_is_the_table_and_its_waves():
    at = open_page()
    assert not at.warning and set(screen.charts(at)) == {"table"}
    table = table_of("sinusoidal", 50, 64)
    np.testing.assert_array_equal(heatmap(at, "table"), table.T.astype(np.float32))
    np.testing.assert_array_equal(waves(at), table[:, [0, 1, 16, 32]].T.astype(np.float32))
    products = table @ table.T
    answer = f"5 apart have the product {products[0, 5]:.1f}, wherever they stand; a position with itself"
    assert answer in screen.framed(at, "answer") and f"{products[7, 7]:.1f}." in screen.framed(at, "answer")
    assert ENCODINGS["sinusoidal"][1] in screen.framed(at, "answer-note")


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name != "learned"])
def test_a_tile_opens_its_encoding(name):
    at = screen.choose_tile(open_page(), "first-tiles", name)
    table = table_of(name, 50, 64)
    np.testing.assert_allclose(heatmap(at, "table"), table.T, atol=1e-6)
    assert at.query_params.get("first", "sinusoidal") == name
    assert ENCODINGS[name][1] in screen.framed(at, "answer-note")
    answer = screen.framed(at, "answer")
    if name == "alibi":
        assert f"{np.exp(-10 / 2):.1%} in head 0" in answer and f"{np.exp(-10 / 256):.1%} in head 7" in answer
    if name == "buckets":
        column = np.argmax(experiments.relative_table("buckets", 300, 64), axis=1)
        alone = [distance for distance in range(300) if (column == column[distance]).sum() == 1]
        assert f"up to {len(alone) - 1} apart one by one" in answer
        assert f"from {np.flatnonzero(column == column.max())[0]} on" in answer


@pytest.mark.slow
def test_a_click_on_a_row_draws_its_wave_or_takes_it_away():
    at = screen.click_cell(open_page(), "table", 5, 3)
    table = table_of("sinusoidal", 50, 64).astype(np.float32)
    np.testing.assert_array_equal(waves(at), table[:, [0, 1, 5, 16, 32]].T)
    at = screen.click_cell(screen.click_cell(at, "table", 16, 9), "table", 0, 9)
    assert at.query_params["dimensions"] == "1.5.32" and len(waves(at)) == 3
    for dimension in range(40, 48):
        at = screen.click_cell(at, "table", dimension, 0)
    assert at.multiselect(key="dimensions").value == list(range(40, 48))


@pytest.mark.slow
def test_links_lead_to_steer_with_the_change_and_the_sentence(recorded):
    at = screen.open_app(text="A man is too tired.").switch_page(screen.path("positions.py")).run()
    links = {name: dict(parse_qsl(urlsplit(target).query)) for name, target in screen.links(at).items()}
    links = {name: query for name, query in links.items() if "view" not in query}  # those lead to Why
    scales = {link["scale"] for link in links.values() if "scale" in link}
    assert scales == {"0", "0.5"} and {link["text"] for link in links.values()} == {"A man is too tired."}
    assert len(links) == 4
    for query in links.values():
        steer_page = screen.open_page("steer.py", **query)
        scale, shift = float(query.get("scale", 1)), int(query.get("shift", 0))
        fields = screen.stage(steer_page)["steering"]["positions"]
        assert [field["value"] for field in fields] == [scale, shift, query.get("stacks", "both")]
        assert not steer_page.warning


@pytest.mark.parametrize("name", first_quick([name for name in ENCODINGS if name not in RELATIVE]))
def test_every_encoding_beside_the_papers(name):
    at = screen.choose(open_page(second=name), picture="difference")
    note = screen.framed(at, "answer-note")
    assert ENCODINGS[name][1] in note
    assert ("; the loss is" in note) == (name == "learned")
    same = "with each sine before its cosine at most 0."
    assert (same in screen.framed(at, "answer")) == (name in ("sinusoidal", "sinusoidal_concatenated"))
    assert_compared(at, "sinusoidal", name)
    n_lines = len(screen.figure(screen.choose(at, picture="wavelengths"), "wavelengths")["data"])
    assert n_lines == (1 if name in ("none", "learned", "learned_start") else 2)


def test_encodings_without_waves_have_no_wavelength():
    at = open_page(first="none", second="learned_start", picture="wavelengths")
    assert any("Neither encoding has waves" in element.value for element in at.info)
    assert "wavelengths" not in screen.charts(at)


def test_size_and_dimensions():
    at = screen.choose(open_page(first="literal_loop"), width=16).slider(key="length").set_value(30).run()
    at = at.multiselect(key="dimensions").set_value([3, 15]).run()
    table = table_of("literal_loop", 30, 16).astype(np.float32)
    np.testing.assert_array_equal(waves(at), table[:, [3, 15]].T)
    at = screen.choose(at, width=8)  # dimension 15 is gone
    assert not at.exception and at.multiselect(key="dimensions").value == [3]
    at = at.multiselect(key="dimensions").set_value([]).run()
    assert any("Choose at least one dimension" in element.value for element in at.info)


def test_the_wavelength_of_each_pair():
    at = open_page(second="sinusoidal_concatenated", width="8", picture="wavelengths")
    waves = 2 * np.pi * 10000.0 ** (np.arange(0, 8, 2) / 8)
    for line, expected in zip(lines(at, "wavelengths"), (np.repeat(waves, 2), np.tile(waves, 2)), strict=True):
        np.testing.assert_allclose(line, expected, rtol=1e-5)
    table = at.dataframe[0].value
    for column in table.columns[1:]:
        np.testing.assert_allclose(table[column], waves, atol=1e-3)
    at = at.selectbox(key="second").set_value("literal_loop").run()
    loop = 2 * np.pi * 10000.0 ** (2 * np.arange(8) / 8)
    np.testing.assert_allclose(at.dataframe[0].value["second: sine"], loop[0::2], rtol=1e-3)
    np.testing.assert_allclose(at.dataframe[0].value["second: cosine"], loop[1::2], rtol=1e-3)


@pytest.mark.slow
def test_both_orders_without_positions_and_as_trained(recorded):
    at = open_page(picture="order")
    assert_orders(at, recorded, EXAMPLE)
    assert "Both orders give the same translation" in screen.framed(at, "answer")
    at = screen.choose(at, order=3)
    assert_orders(at, recorded, EXAMPLE, 3)
    at = at.toggle(key="trained").set_value(True).run()
    assert_orders(at, recorded, EXAMPLE, 3, 1.0)
    at = at.text_input(key="text").set_value("too too").run()
    assert any("This sentence has no other order" in element.value for element in at.info)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_layer_and_head_of_both_orders(recorded, kind):
    at = screen.choose_tile(open_page(picture="order"), "heads-tiles", f"{kind}-1-2")
    assert [at.query_params[name] for name in ("kind", "layer", "head")] == [kind, "1", "2"]
    for key, text in (("own", EXAMPLE), ("shuffled", experiments.shuffle(recorded, EXAMPLE, 1).shuffled)):
        result = translate_elsewhere(recorded, text, 0.0, 0, ("encoder",))
        np.testing.assert_allclose(screen.head(at, f"map-{key}"), result.attention(kind)[1, 2], atol=2e-5)
        recording = screen.message(at, f"map-{key}")["after"]["recording"]
        assert [recording[f"{side}_tokens"] for side in ("source", "target")] == [
            result.source_tokens,
            result.target_tokens,
        ]


def test_a_link_brings_every_choice(recorded):
    at = open_page(text="A man is too tired.", picture="order", order="2", trained="1", length="20", width="32")
    assert_orders(at, recorded, "A man is too tired.", 2, 1.0)
    assert_compared(open_page(length="20", width="32"), "sinusoidal", "literal_loop", 20, 32)


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    names = ("picture", "first", "second", "length", "width", "dimensions", "order", "trained", "kind", "layer", "head")
    at = open_page(**dict.fromkeys(names, rubbish))
    np.testing.assert_array_equal(heatmap(at, "table"), table_of("sinusoidal", 50, 64).T.astype(np.float32))
    assert_orders(screen.choose(at, picture="order"), recorded, EXAMPLE)


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp; a\x00b"])
def test_odd_text_is_read_shuffled_and_without_positions(text):
    at = open_page(picture="order", text=text)
    assert not at.exception and not at.warning and "map-own" in screen.stages(at)


@pytest.mark.parametrize(("text", "problem"), [("", "nothing to translate"), ("x" * 10_000, "10,000 characters")])
def test_what_cannot_be_read_is_a_sentence_and_the_last_one_stays(recorded, text, problem):
    at = open_page(picture="order").text_input(key="text").set_value("A man.").run()
    at = at.text_input(key="text").set_value(text).run()
    assert problem in at.warning[0].value and "the last one that worked" in at.warning[0].value
    assert_orders(at, recorded, "A man.")
    assert "the example" in open_page(picture="order", text=text).warning[0].value


def test_without_a_model_the_encodings_remain(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page()
    assert_compared(at, "sinusoidal", "literal_loop")
    at = screen.open_page("positions.py", picture="order")
    assert not at.exception and len(at.error) == 1 and "There is no checkpoint 'en-de'" in screen.page_text(at)


@pytest.fixture(scope="module")
def modern(tmp_path_factory):
    """A folder with two language models, one of rotary positions, and what was measured of their loss by position."""
    folder = tmp_path_factory.mktemp("modern")
    save_language_model(folder / "adding")
    save_language_model(folder / "turning", positional="rotary_halves", n_kv_heads=1)
    for name in ("adding", "turning"):
        writer = load_translator(str(folder / name))
        report = {"command": "x", "data": "y"} | context.measure(writer, ["the cat sat"] * 99)
        reports.write(writer.folder / context.FILE, report)
    return folder


def test_a_rotary_head_before_and_after_the_turn(modern, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(modern))
    at = open_page(picture="rotary", text="the cat sat on the mat .")
    writer = load_translator(str(modern / "turning"))
    before, after = experiments.turned_products(writer, "the cat sat on the mat .", 64)
    layer, head = map(int, screen.tiles(at, "heads-tiles")["selected"].split("-"))
    curves = lines(at, "turned")
    np.testing.assert_allclose(curves[0], after[layer, head], atol=1e-5)
    np.testing.assert_allclose(curves[1], np.full(64, before[layer, head]), atol=1e-5)
    values = f"from {after[layer, head, 0]:.1f} to {after[layer, head, 16]:.1f}"
    assert values in screen.framed(at, "answer")


def test_what_was_measured_beyond_the_trained_length(modern, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(modern))
    at = open_page(picture="beyond")
    answer, note, charts = screen.framed(at, "answer"), screen.framed(at, "answer-note"), screen.charts(at)
    ranges = []
    for name in ("adding", "turning"):
        lengths = context.read(modern / name)["lengths"]
        curves = lines(at, f"beyond-{name}")
        assert len(curves) == 3
        for line, entry in zip(curves, lengths):
            np.testing.assert_allclose(line, entry["loss"], atol=1e-3)
        ranges.append(screen.figure(at, f"beyond-{name}")["layout"]["yaxis"]["range"])
        first, last = lengths[0]["perplexity"], lengths[-1]["perplexity"]
        assert f"perplexity {first} at" in note and f"{last} when" in note and f"{last / first:.2f} ({name})" in answer
    assert ranges[0] == ranges[1], "both have one axis"
    assert len([key for key in charts if key.startswith("beyond")]) == 2
    alone = screen.choose_tile(at, "measured-tiles", "turning")
    assert not alone.exception and list(screen.charts(alone)) == ["beyond-turning"]


def all_html(at) -> str:
    return " ".join(html.proto.body for html in at.get("html"))


def links_of_heads(at) -> list[tuple[dict[str, str], str]]:
    """The heads that are said to read an encoding: the query of each link, and its label."""
    _, _, links = all_html(at).partition("positions-read")
    found = re.findall(r'href="\./(?:language_model)?\?([^"]*)"[^>]*>([^<]*)</a>', links)
    return [(dict(parse_qsl(query.replace("&amp;", "&"))), label) for query, label in found]


def by_position(recorded) -> dict[tuple[str, str, str], float]:
    """The share of position x position in the scores of each head, from the parts of each."""
    result = recorded.translate(EXAMPLE, beam=1)
    shares = {}
    for kind in KINDS:
        for layer, head in np.ndindex(result.attention(kind).shape[:2]):
            parts = recorded.score_parts(result, kind, layer, head)
            if "positions" in parts.query_names and "positions" in parts.key_names:
                share = parts.shares[parts.query_names.index("positions"), parts.key_names.index("positions")]
                shares[kind, str(layer), str(head)] = share
    return shares


@pytest.mark.parametrize("text", [EXAMPLE, "x" * 3000, ""])
def test_the_heads_that_read_an_encoding_are_those_whose_scores_follow_it(recorded, text) -> None:
    """Of a sentence that cannot be read the example is taken, and nothing is complained of."""
    at = open_page(first="sinusoidal", text=text)
    shares = by_position(recorded)
    links = links_of_heads(at)
    strongest = sorted(shares, key=shares.__getitem__, reverse=True)[: len(links)]
    assert len(links) == 3
    for (place, label), best in zip(links, strongest, strict=True):
        assert (place["kind"], place["layer"], place["head"]) == best and place["text"] == EXAMPLE
        assert label.endswith(f"{shares[best]:.0%}")
    page = screen.open_page("translate.py", **links[0][0])
    assert not page.exception and screen.warnings(page) == []
    assert links[0][0]["view"] == "why" and screen.message(page)["after"]["splits"]


def test_a_head_shows_its_scores_between_positions(recorded) -> None:
    """At first of the head that reads positions most; the waves beside it are those of the encoding."""
    at = open_page(picture="kernels", text=EXAMPLE)
    kind, layer, head = max(by_position(recorded), key=by_position(recorded).__getitem__)
    assert screen.tiles(at, "heads-tiles")["selected"] == f"{kind}-{layer}-{head}"
    kernel = position_kernels(recorded)[kind][int(layer), int(head)]
    shown = np.asarray(screen.figure(at, "kernel")["data"][0]["z"], float)
    expected = np.where(np.isfinite(kernel), kernel, np.nan)
    np.testing.assert_allclose(shown, expected - np.nanmean(expected, axis=1, keepdims=True), atol=1e-4)
    offsets = kernel.argmax(axis=1) - np.arange(len(kernel))
    most = max(int((offsets == offset).sum()) for offset in offsets)
    assert f"in {most} of {len(kernel)} rows" in screen.framed(at, "answer")
    table = positional.sinusoidal(len(kernel), recorded.config.d_model).numpy()
    width = table.shape[1]
    expected_waves = table[:, [0, 1, width // 4, width // 2]].T
    np.testing.assert_allclose(lines(at, "waves"), expected_waves, atol=1e-5)


def test_a_rotary_model_shows_scores_by_distance(modern, monkeypatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(modern))
    monkeypatch.setattr("viz.pages.positions.kernels.loaded_model", lambda: "turning")  # which was open last
    at = open_page(picture="kernels")
    layer, head = map(int, screen.tiles(at, "heads-tiles")["selected"].split("-")[1:])
    kernel = position_kernels(load_translator(str(modern / "turning")))["decoder_self"][layer, head]
    means = np.array([np.diagonal(kernel, -distance).mean() for distance in range(len(kernel))])
    np.testing.assert_allclose(lines(at, "distances")[0], means - means.mean(), atol=1e-4)


@pytest.mark.parametrize("name", sorted(set(ENCODINGS) - {"sinusoidal"}))
def test_no_head_is_said_to_read_an_encoding_that_the_model_lacks(name: str) -> None:
    at = open_page(first=name)
    assert links_of_heads(at) == []
    text = all_html(at)
    assert ("do not stand in the stream" if name == "rotary" else "No head of en-de reads it") in text


@pytest.mark.parametrize("positional", ["alibi", "none"])
def test_heads_that_read_distances_or_nothing(monkeypatch, tmp_path, positional) -> None:
    """ALiBi adds to scores: the share of what it adds counts. Without positions no head reads any."""
    save_tiny(tmp_path / "en-de", positional=positional)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page(first=positional)
    links = links_of_heads(at)
    if positional == "none":
        assert links == [] and "en-de has no positions" in all_html(at)
        return
    translator = load_translator(str(tmp_path / "en-de"))
    result = translator.translate(EXAMPLE, beam=1)
    place = links[0][0]
    parts = translator.score_parts(result, place["kind"], int(place["layer"]), int(place["head"]))
    assert links[0][1].endswith(f"{parts.shares[-1, -1]:.0%}") and parts.key_names[-1] == "distance"


def test_without_a_model_nothing_is_said_of_heads(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page(first="sinusoidal")
    assert links_of_heads(at) == [] and not at.warning and "table" in screen.charts(at)
