"""Chips, candidates and tables: the tokens and probabilities they show, against separate recordings."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE
from viz.screens import words


@pytest.fixture
def example(recorded):
    return recorded.translate(EXAMPLE, beam=4)


def softmax(logits):
    powers = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def chips(at):
    """What the browser is given to show chips."""
    return screen.component(at, "chips")


def test_chips_are_the_tokens_with_their_probabilities(example):
    source, target = chips(screen.open_app())["lines"]
    assert (source["name"], target["name"]) == ("English tokens", "German tokens, with probability")
    assert [chip["token"] for chip in source["chips"]] == example.source_tokens
    assert [chip["token"] for chip in target["chips"]] == example.predicted_tokens
    written = np.exp(example.log_probabilities)
    assert [chip["note"] for chip in target["chips"]] == [f"{p:.0%}" for p in written]


def test_runner_ups_are_the_most_probable_others(example, recorded):
    _, target = chips(screen.open_app())["lines"]
    probabilities = softmax(example.trace["logits"])
    for chip, row, token in zip(target["chips"], probabilities, example.predicted_tokens, strict=True):
        best = [i for i in np.argsort(-row, kind="stable")[:5] if recorded.tokenizer.tokens([int(i)])[0] != token]
        for i in best:
            assert f"{recorded.tokenizer.tokens([int(i)])[0]} {row[i]:.1%}" in chip["words"]


@pytest.mark.parametrize("named", [words.READ, words.PREDICTED])
@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_a_chip_points_at_the_row_and_column_that_carry_its_name(example, kind, named):
    at = screen.choose(screen.open_app(), rows=named, kind=kind)
    lines = chips(at)
    source, target = (line["chips"] for line in lines["lines"])
    rows, columns = (screen.figure(at, "heatmap")["layout"][f"{axis}axis"]["ticktext"] for axis in "yx")
    for chip in source + target:
        escaped = chip["token"].replace("<", "&lt;").replace(">", "&gt;")
        assert chip["row"] == -1 or rows[chip["row"]] == escaped
        assert chip["column"] == -1 or columns[chip["column"]] == escaped
    if kind == "encoder_self":
        assert [chip["row"] for chip in source] == [chip["column"] for chip in source] == list(range(len(source)))
    else:
        first = 0 if named == words.PREDICTED else 1
        found = [chip["row"] for chip in target]
        assert found == [*range(first, len(target)), *[-1] * first]
    np.testing.assert_allclose(lines["weights"], example.attention(kind)[0, 0], atol=5e-4)


def test_hidden_tokens_and_merged_words_move_the_places(example):
    at = screen.open_app(hide="true", merge="true")
    source, _ = (line["chips"] for line in chips(at)["lines"])
    assert source[-1]["column"] == -1, "the end token is not drawn"
    columns = screen.figure(at, "heatmap")["layout"]["xaxis"]["ticktext"]
    spelt = [""] * len(columns)
    for chip in source[:-1]:
        spelt[chip["column"]] += chip["token"]
    assert [text.removeprefix("▁") for text in spelt] == columns


def test_the_view_of_probabilities(example):
    at = screen.choose(screen.open_app(), view="Probabilities")
    drawn = screen.values(screen.figure(at, "candidates")["data"][0]["z"])
    expected = -np.sort(-softmax(example.trace["logits"]), axis=-1)[:, :5]
    np.testing.assert_allclose(drawn, expected, atol=1e-6)


def test_a_reference_is_judged_token_by_token(recorded):
    at = screen.open_app(mode=words.FORCED, reference="Ein Mann war müde.")
    forced = recorded.force(EXAMPLE, "Ein Mann war müde.")
    _, target = chips(at)["lines"]
    assert [chip["note"] for chip in target["chips"]] == [f"{p:.0%}" for p in np.exp(forced.log_probabilities)]


def test_tables_hold_what_is_drawn(example):
    at = screen.open_app(tables="true", kind="Cross", layer="1", head="2")
    tokens, weights = (element.value for element in at.dataframe)
    assert tokens["read"].tolist() == example.target_tokens
    assert tokens["predicted"].tolist() == example.predicted_tokens
    np.testing.assert_allclose(tokens["probability"], np.exp(example.log_probabilities), atol=1e-6)
    whole = example.attention("cross")[1, 2]
    assert len(weights) == whole.size and weights["drawn"].all() and weights["allowed"].all()
    for _, cell in weights.iterrows():
        assert cell["weight"] == pytest.approx(whole[cell["row"], cell["column"]])
        assert cell["query"] == example.target_tokens[cell["row"]]
        assert cell["key"] == example.source_tokens[cell["column"]]


def test_tables_say_what_is_blank_and_blocked(example):
    weights = screen.open_app(tables="true", kind="Decoder self (masked)", share="60").dataframe[1].value
    np.testing.assert_array_equal(weights["allowed"], example.mask("decoder_self").ravel())
    assert 0 < weights["drawn"].sum() < len(weights)


def test_tables_survive_the_way_to_a_file(example):
    from viz.screens import maps, shared, tokens

    result = shared.translate("en-de", EXAMPLE, 4)
    keys, mask = result.source_tokens, result.mask("cross")
    built = maps.build(result.attention("cross"), mask, result.target_tokens, keys, maps.Options())
    for table in (tokens.token_table(result), tokens.weight_table(built, 0, 1)):
        text = table.to_csv(index=False)
        read = pd.read_csv(io.StringIO(text), keep_default_na=False)
        pd.testing.assert_frame_equal(read, table, check_dtype=False, rtol=1e-6)


def test_no_tables_unless_asked_for():
    assert not screen.open_app().dataframe


def test_the_component_sets_no_html_from_data():
    from pathlib import Path

    import viz.components

    for script in Path(viz.components.__file__).parent.glob("*.js"):
        text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, no address
        for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http"):
            assert danger not in text
