"""What pages share: starting with and without a model, and what is remembered of a translation."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from model.running.translator import Translator
from tests.test_app import screen
from tests.test_app.conftest import CARD, save_tiny
from viz.text import words
from viz.views import cached

OWN_CACHES = True


class TestStart:
    @pytest.mark.slow
    def test_no_checkpoint_is_one_sentence(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        cached.preload()
        at = screen.open_app()
        assert not at.exception and not screen.has_stage(at)
        assert [element.value for element in at.error] == ["No translation model found."]
        assert "There is no checkpoint 'en-de'" in screen.page_text(at)

    @pytest.mark.parametrize(
        ("name", "content"),  # test_checkpoint.py has every damage of every file
        [
            ("config.json", b"{}"),
            ("model.safetensors", b"\x00\xff"),
            ("tokenizer.json", b"[1]"),
            ("card.json", b""),
            ("model.safetensors", None),
        ],
    )
    def test_a_broken_checkpoint_is_one_sentence(self, checkpoints, tmp_path, monkeypatch, name, content):
        shutil.copytree(checkpoints / "en-de", tmp_path / "en-de")
        file = tmp_path / "en-de" / name
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        cached.preload()
        at = screen.open_app()
        assert not at.exception
        assert len(at.error) == 1 and not screen.has_stage(at)

    def test_a_model_too_small_for_the_example_says_so_and_reads_what_it_can(self, tmp_path, monkeypatch):
        save_tiny(tmp_path / "en-de", max_length=5)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        cached.preload()
        at = screen.open_app()
        assert not at.exception and not screen.has_stage(at)
        assert "at most 5" in at.warning[0].value
        at = at.text_input(key="sentence").set_value("a").run()
        assert not at.exception and not at.warning and screen.has_stage(at)

    def test_a_checkpoint_of_another_name_is_used_when_it_is_the_only_one(self, tmp_path, monkeypatch):
        save_tiny(tmp_path / "xx")
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        assert cached.default_checkpoint() == "xx"


class TestCache:
    def test_the_same_request_is_computed_once_and_another_one_anew(self, monkeypatch):
        calls = []
        translate = Translator.translate
        monkeypatch.setattr(Translator, "translate", lambda self, *key: calls.append(key) or translate(self, *key))
        for text, beam in [("a", 1), ("a", 1), ("a", 2), ("b", 1), ("a", 1)]:
            cached.compute(cached.Request(text, "en-de", beam))
        assert [key[:2] for key in calls] == [("a", 1), ("a", 2), ("b", 1)]

    def test_what_is_remembered_is_what_was_computed(self, recorded):
        expected = recorded.translate("A man.")
        for _ in range(2):
            result = cached.compute(cached.Request("A man.", "en-de"))
            assert (result.text, result.target_tokens) == (expected.text, expected.target_tokens)
            for kind in ("encoder_self", "decoder_self", "cross"):
                np.testing.assert_array_equal(result.attention(kind), expected.attention(kind))
                np.testing.assert_array_equal(result.mask(kind), expected.mask(kind))
            for side in ("source", "target"):
                np.testing.assert_array_equal(result.positional(side), expected.positional(side))

    def test_what_pages_do_not_draw_is_not_kept(self, recorded):
        result = cached.compute(cached.Request("A man.", "en-de"))
        assert result.search is None
        size = sum(value.nbytes for value in result.trace.values())
        assert size < sum(value.nbytes for value in recorded.translate("A man.").trace.values()) / 3

    def test_a_visitor_cannot_change_what_another_one_sees(self):
        first = cached.compute(cached.Request("A man.", "en-de"))
        next(iter(first.trace.values()))[:] = 0
        second = cached.compute(cached.Request("A man.", "en-de"))
        assert any(np.any(value != first.trace[address]) for address, value in second.trace.items())


class TestWords:
    def test_a_card_in_a_line(self):
        assert words.describe_card("en-de", CARD) == (
            "Checkpoint en-de · 1.2 million parameters · trained in this project on toys · "
            "BLEU 12.3 on toys/test, beam 4"
        )
        line = words.describe_card("many", {"data": {f"corpus {n}": {} for n in range(7)}})
        assert line == "Checkpoint many · trained in this project on 7 corpora, listed on its card"

    @pytest.mark.parametrize(
        "card",
        [{}, {"data": None, "scores": 3, "parameters": "x"}, {"scores": {"a": None, "b": {"bleu": "?"}}}],
    )
    def test_what_a_card_does_not_say_is_left_out(self, card):
        assert words.describe_card("x", card) == "Checkpoint x"

    def test_a_language_model_has_its_perplexity(self):
        card = {"scores": {"wikitext-2/test": {"perplexity": 141.05, "tokens": 9}, "odd": {"perplexity": "low"}}}
        assert words.describe_card("lm", card) == "Checkpoint lm · perplexity 141.1 on wikitext-2/test"
