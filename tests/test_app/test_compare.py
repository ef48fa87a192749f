"""The page Compare without a browser: what the stage is told of both sides, against separate runs of the models."""

from __future__ import annotations

import numpy as np
import pytest

from model import load_translator
from model.experiments.text_pairs import PAIRS
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.conftest import CARD, save_tiny
from viz.views.view import EXAMPLE

A, B = EXAMPLE, "The animal didn't cross the street because it was too wide."
FIRST = next((pair.clean, pair.corrupted) for pair in PAIRS if pair.model == "en-de")
KINDS = ("encoder_self", "decoder_self", "cross")
EQUAL = "too too tired."


def open_page(**query):
    at = screen.open_page("compare.py", **query)
    assert not at.exception and not at.error
    return at


def side(at, version: str, kind: str = "cross"):
    """What is told of a kind in a version, "before" (A), "after" (B) or "difference"; None where it has none."""
    payload = screen.stage(at)
    kinds = (payload if version == "after" else payload[version])["kinds"]
    matches = [entry for entry in kinds if entry["code"] == kind]
    return matches[0] if matches else None


def common(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Pairs of places of a longest common subsequence."""
    length = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            equal = 1 + length[i + 1, j + 1] if a[i] == b[j] else 0
            length[i, j] = max(equal, length[i + 1, j], length[i, j + 1])
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j] and length[i, j] == 1 + length[i + 1, j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i + 1, j] >= length[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def assert_shown(at, a, b):
    """Both translations, all maps of both, and the difference in every cell that is compared."""
    payload = screen.stage(at)
    assert (payload["before"]["translation"], payload["translation"]) == (a.text, b.text)
    assert [" ".join(filter(None, words)) for words in zip(*payload["comparing"]["words"])] == [a.text, b.text]
    for about, result in zip(payload["comparing"]["about"], (a, b), strict=True):
        assert f"log-probability {float(result.log_probabilities.sum()):.2f}" in about
    for kind in KINDS:
        for version, result in (("before", a), ("after", b)):
            np.testing.assert_allclose(side(at, version, kind)["weights"], result.attention(kind), atol=2e-5)
        aligned, change = payload["comparing"]["aligned"][kind], side(at, "difference", kind)
        n_layers, n_heads = np.minimum(a.attention(kind).shape[:2], b.attention(kind).shape[:2])
        assert change["tiles"].shape[:2] == (n_layers, n_heads)
        compared = np.zeros(b.attention(kind).shape[2:], bool)
        for i, j in aligned["rows"]:
            for k, m in aligned["columns"]:
                expected = b.attention(kind)[:n_layers, :n_heads, j, m] - a.attention(kind)[:n_layers, :n_heads, i, k]
                np.testing.assert_allclose(change["weights"][:, :, j, m], expected, atol=4e-5)
                compared[j, m] = True
        visible = np.ones_like(compared) if change["shown"] is None else change["shown"][0, 0]
        np.testing.assert_array_equal(visible, compared)


def test_two_sentences_are_compared_at_first_and_either_can_be_typed(recorded):
    at = open_page()
    assert not at.warning and screen.stage(at)["address"] == {"text": FIRST[0]}
    assert_shown(at, *map(recorded.translate, FIRST))
    at = at.text_input(key="text-b").set_value("A man is tired.").run()
    assert_shown(at, recorded.translate(FIRST[0]), recorded.translate("A man is tired."))
    at = at.text_input(key="sentence").set_value("A man is too tired.").run()
    assert_shown(at, recorded.translate("A man is too tired."), recorded.translate("A man is tired."))
    assert screen.stage(at)["address"] == {"text": "A man is too tired.", "text-b": "A man is tired."}


@pytest.mark.parametrize("other", ["too tired.", "too too too tired.", "too too tired too."])
def test_tokens_are_aligned_in_order_also_where_some_are_equal(recorded, other):
    at = open_page(text=EQUAL, **{"text-b": other})
    a, b = recorded.translate(EQUAL), recorded.translate(other)
    assert_shown(at, a, b)
    rows = screen.stage(at)["comparing"]["aligned"]["encoder_self"]["rows"]
    assert len(rows) >= len(common(a.source_tokens, b.source_tokens)), "all that both have in common"
    assert all(i < k and j < m for (i, j), (k, m) in zip(rows, rows[1:])), "in order"
    replaced = [(i, j) for i, j in rows if a.source_tokens[i] != b.source_tokens[j]]
    names = side(at, "difference", "encoder_self")["queries"]
    assert all(" → " in names[j] for _, j in replaced)
    assert sum(" → " in name for name in names) == len(replaced)


def test_equal_sentences_differ_in_nothing_and_the_page_says_what_to_do():
    at = open_page(text="A man is tired.")
    assert at.text_input(key="text-b").value == "A man is tired."
    assert screen.stage(at)["comparing"]["note"] == "Nothing differs yet: change sentence, model or search of B."
    assert not any(side(at, "difference", kind)["weights"].any() for kind in KINDS)


@pytest.mark.slow
def test_two_searches(recorded):
    at = open_page(versus="search", **{"beam-b": "2"})
    assert_shown(at, recorded.translate(A), recorded.translate(A, beam=2))
    assert screen.stage(at)["comparing"]["names"] == ["A · beam 4", "B · beam 2"]
    at = at.select_slider(key="stage-beam").set_value(1).run()
    assert_shown(at, recorded.translate(A, beam=1), recorded.translate(A, beam=2))
    assert screen.stage(at)["address"] == {"text": A, "beam": "1", "versus": "search", "beam-b": "2"}


def test_both_read_a_reference(recorded):
    at = open_page(reference="Ein Mann war müde.", **{"text-b": "A man is tired."})
    results = [recorded.force(text, "Ein Mann war müde.") for text in (A, "A man is tired.")]
    assert_shown(at, *results)
    assert side(at, "difference")["weights"].shape[2] == len(results[0].target_tokens)


class TestModels:
    @pytest.fixture
    def second(self, checkpoints, tmp_path, monkeypatch):
        """A second checkpoint with other sizes, of the other direction."""
        (tmp_path / "en-de").symlink_to(checkpoints / "en-de")
        save_tiny(tmp_path / "other", CARD | {"source": "de", "target": "en"}, n_heads=2, n_decoder_layers=1)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        return tmp_path

    def test_one_model_is_said_to_be_alone(self):
        note = screen.stage(open_page(versus="model"))["comparing"]["note"]
        assert note.startswith("There is only one checkpoint. To train another")

    @pytest.mark.slow
    def test_they_are_compared_where_both_have_a_head(self, recorded, second):
        at = open_page(versus="model")
        assert at.selectbox(key="model-b").value == "other"
        assert_shown(at, recorded.translate(A), load_translator("other").translate(A))
        assert screen.stage(at)["comparing"]["note"].startswith("A translates English-German, B German-English")
        assert side(at, "difference")["tiles"].shape[:2] == (1, 2) and side(at, "before")["tiles"].shape[:2] == (2, 4)

    @pytest.mark.slow
    def test_one_that_cannot_be_loaded_leaves_the_last_comparison(self, recorded, second):
        at = open_page(text=A)
        (second / "other" / "config.json").write_text("{}")
        at = at.button_group(key="versus").set_value("model").run()
        assert not at.exception
        assert "Showing the last one that worked." in at.warning[0].value
        assert_shown(at, recorded.translate(A), recorded.translate(B))

    @pytest.mark.usefixtures("all_systems")
    def test_a_gru_has_one_map_or_none(self):
        text = "ein mann ."
        query = {"text": text, "model": "c-transformer", "versus": "model"}
        at = open_page(**query, **{"model-b": "b-gru-attention"})
        transformer, gru = (load_translator(name).translate(text) for name in ("c-transformer", "b-gru-attention"))
        np.testing.assert_allclose(side(at, "before")["weights"], transformer.attention("cross"), atol=2e-5)
        np.testing.assert_allclose(side(at, "after")["weights"], gru.attention("cross"), atol=2e-5)
        assert side(at, "difference")["tiles"].shape[:2] == (1, 1)
        assert side(at, "after", "encoder_self") is None and side(at, "difference", "encoder_self") is None
        at = open_page(**query, **{"model-b": "a-gru"})
        payload = screen.stage(at)
        assert payload["kinds"] == payload["difference"]["kinds"] == [] and len(payload["before"]["kinds"]) == 3
        assert payload["words"]["no_attention"].startswith("This model has no attention")


class TestAddress:
    def test_every_choice_comes_back_and_along_to_another_page(self, recorded):
        query = {"text": "A man is tired.", "text-b": "A man.", "beam": "2"}
        at = open_page(**query)
        assert screen.stage(at)["address"] == query
        at = at.button_group(key="versus").set_value("search").run()
        at = at.button_group(key="versus").set_value("sentence").run()
        assert screen.stage(at)["address"] == query
        at.query_params.clear()  # as the menu does
        at = at.switch_page(screen.path("translate.py")).run()
        assert at.text_input(key="sentence").value == "A man is tired."
        at.query_params.clear()
        at = at.switch_page(screen.path("compare.py")).run()
        assert_texts = [at.text_input(key=key).value for key in ("sentence", "text-b")]
        assert assert_texts == ["A man is tired.", "A man."]

    @pytest.mark.slow
    def test_rubbish_falls_back_and_is_told(self, recorded):
        at = open_page(versus="edit", kind="y", layer="99", **{"beam-b": "z", "model-b": "<b>none</b>"})
        (warning,) = screen.warnings(at)
        assert all(part in warning for part in ("versus=edit", "kind=y", "beam-b=z", "model-b=<b>none</b>"))
        assert_shown(at, recorded.translate(A), recorded.translate(B))

    @pytest.mark.parametrize("text", first_quick(["", "a " * 200]))
    def test_a_sentence_that_cannot_be_read_leaves_the_last_two(self, recorded, text):
        at = open_page(text=A).text_input(key="text-b").set_value(text).run()
        assert "Showing the last one that worked." in at.warning[0].value
        assert_shown(at, recorded.translate(A), recorded.translate(B))
        fresh = open_page(**{"text-b": text})
        assert "Showing the example." in fresh.warning[0].value

    def test_no_model_is_one_sentence(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = screen.open_page("compare.py")
        assert not at.exception and [element.value for element in at.error] == ["No translation model found."]


def test_the_code_makes_the_difference(recorded):
    code = screen.stage(open_page(text=A))["difference"]["code"]["cross"]
    variables: dict = {}
    exec(code.replace("figure.show()", ""), variables)
    a, b = recorded.translate(A), recorded.translate(B)
    (i, j), (k, m) = variables["rows"][0][::-1], variables["columns"][0][::-1]
    expected = b.attention("cross")[-1, -1, j, m] - a.attention("cross")[-1, -1, i, k]
    assert np.array(variables["figure"].data[0].z)[0, 0] == pytest.approx(expected, abs=1e-6)
