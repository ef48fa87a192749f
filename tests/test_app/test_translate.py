"""The page Translate without a browser: every control, and what the figures then hold, against separate recordings."""

from __future__ import annotations

import html

import numpy as np
import pytest

from tests.test_app import screen
from viz.screens import words
from viz.screens.shared import LENGTH_PENALTY

EXAMPLE = "A man is riding a bicycle down the street."
SENTENCE = "A man is too tired."
PARAMETERS = ("kind", "layer", "head", "view", "beam", "stretch", "side", "other")
KINDS = ("encoder_self", "decoder_self", "cross")


@pytest.fixture
def example(recorded):
    """What the model computes for the example, recorded without the app."""
    return recorded.translate(EXAMPLE, beam=4, length_penalty=LENGTH_PENALTY)


def axes_of(result, kind):
    """The tokens of rows and columns that a map of a kind must have."""
    queries = result.source_tokens if kind == "encoder_self" else result.target_tokens
    keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
    return queries, keys


def labelled(tokens):
    """Short tokens as figures write them: every one, or every second (third, ...) where there are more than 32."""
    return [html.escape(token, quote=False) for token in tokens[:: -(-len(tokens) // 32)]]


def assert_drawn(at, result, kind, layer, head):
    """The large map is this head's recorded array, with its tokens; the heading and the controls say so, too."""
    assert not at.exception
    drawn = screen.values(screen.figure(at, "heatmap")["data"][0]["z"])
    np.testing.assert_array_equal(drawn, result.attention(kind)[layer, head])
    queries, keys = axes_of(result, kind)
    assert screen.tokens(at, "heatmap", "y") == labelled(queries)
    assert screen.tokens(at, "heatmap", "x") == labelled(keys)
    assert any(element.value == f"**{words.KINDS[kind].title}, layer {layer}, head {head}**" for element in at.markdown)
    for key, value in {"kind": kind, "layer": layer, "head": head, "view": "Attention"}.items():
        assert at.button_group(key=key).value == value


class TestFirstPaint:
    def test_the_example_is_translated(self, example):
        at = screen.open_app()
        assert not at.exception and not at.warning and not at.error
        assert at.text_input(key="text").value == EXAMPLE
        assert example.text in [element.value for element in at.text]

    def test_one_head_is_drawn_large(self, example):
        assert_drawn(screen.open_app(), example, "cross", 0, 0)

    def test_the_overview_holds_every_head(self, example):
        at = screen.open_app()
        weights = example.attention("cross")
        montage = screen.values(screen.figure(at, "overview")["data"][0]["z"])
        n_layers, n_heads, n_queries, n_keys = weights.shape
        row_pitch = (montage.shape[0] - n_queries) // (n_layers - 1)
        column_pitch = (montage.shape[1] - n_keys) // (n_heads - 1)
        for layer in range(n_layers):
            for head in range(n_heads):
                top, left = layer * row_pitch, head * column_pitch
                tile = montage[top : top + n_queries, left : left + n_keys]
                np.testing.assert_array_equal(tile, weights[layer, head])

    def test_the_card_is_told(self):
        text = screen.written(screen.open_app())
        assert "en-de" in text and "toys" in text and "1.2 million" in text and "BLEU 12.3 on toys/test, beam 4" in text

    def test_every_chart_has_words_for_those_who_cannot_see_it(self):
        for view in ("Attention", "Mask", "Positions"):
            for key, chart in screen.charts(screen.open_app(view=view)).items():
                assert "ows " in chart.proto.alt or "One line" in chart.proto.alt, key

    def test_no_language_is_claimed_that_the_card_does_not_name(self, checkpoints, tmp_path, monkeypatch):
        from tests.test_app.conftest import save_tiny

        save_tiny(tmp_path / "other", card={"data": "?", "scores": [1], "source": ["en"]})
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = screen.open_app()
        assert not at.exception
        assert at.text_input(key="text").label == "Source sentence"
        assert "Checkpoint other" in screen.written(at)


class TestChoosing:
    @pytest.mark.parametrize("kind", KINDS)
    def test_kind_layer_and_head(self, example, kind):
        n_layers, n_heads = example.attention(kind).shape[:2]
        for layer, head in [(n_layers - 1, 0), (0, n_heads - 1), (1, 2)]:
            at = screen.choose(screen.open_app(), kind=kind, layer=layer, head=head)
            assert_drawn(at, example, kind, layer, head)

    def test_a_layer_that_the_other_kind_lacks_becomes_the_first(self, example):
        at = screen.choose(screen.open_app(), kind="encoder_self", layer=2, head=3)
        assert_drawn(at, example, "encoder_self", 2, 3)
        assert_drawn(screen.choose(at, kind="cross"), example, "cross", 0, 3)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_click_on_a_tile_opens_its_head(self, example, kind):
        at = screen.choose(screen.open_app(), kind=kind)
        at = screen.click_head(at, 1, 2)
        assert_drawn(at, example, kind, 1, 2)
        assert_drawn(screen.click_head(at, 0, 3), example, kind, 0, 3)

    def test_a_click_leaves_the_mask_for_the_head(self, example):
        at = screen.choose(screen.open_app(), view="Mask")
        assert_drawn(screen.click_head(at, 1, 1), example, "cross", 1, 1)

    def test_a_choice_after_a_click_counts(self, example):
        at = screen.choose(screen.click_head(screen.open_app(), 1, 2), head=0)
        assert_drawn(at, example, "cross", 1, 0)
        assert_drawn(screen.click_head(at, 1, 2), example, "cross", 1, 2)

    def test_taking_a_selection_back_changes_nothing(self, example):
        at = screen.click_head(screen.open_app(), 1, 2)
        assert_drawn(screen.select_points(at, []), example, "cross", 1, 2)

    def test_the_selected_tile_is_outlined(self):
        def outline(at):
            (shape,) = screen.figure(at, "overview")["layout"]["shapes"]
            return shape["x0"], shape["y0"]

        first = screen.open_app()
        x, y = outline(first)
        assert outline(screen.choose(screen.open_app(), head=1))[0] > x
        assert outline(screen.choose(screen.open_app(), layer=1))[1] > y

    @pytest.mark.parametrize("kind", ["decoder_self", "cross"])
    def test_hover_names_what_a_step_read_and_predicted(self, example, kind):
        at = screen.choose(screen.open_app(), kind=kind)
        cells = screen.figure(at, "heatmap")["data"][0]["customdata"]
        for t, (read, predicted) in enumerate(zip(example.target_tokens, example.predicted_tokens, strict=True)):
            read, predicted = (html.escape(token, quote=False) for token in (read, predicted))
            assert cells[t][0][0] == f"{t} “{read}”, predicted “{predicted}”"

    def test_encoder_rows_predict_nothing(self):
        at = screen.choose(screen.open_app(), kind="encoder_self")
        assert "predicted" not in screen.figure(at, "heatmap")["data"][0]["customdata"][0][0][0]
        assert "predicted" not in screen.written(at)

    def test_stretched_colours_end_at_the_largest_weight_and_keep_the_numbers(self, example):
        at = screen.open_app()
        assert screen.figure(at, "heatmap")["data"][0]["zmax"] == 1
        at = at.toggle(key="stretch").set_value(True).run()
        assert screen.figure(at, "heatmap")["data"][0]["zmax"] == example.attention("cross")[0, 0].max()
        overview = screen.figure(at, "overview")["data"][0]
        assert overview["zmax"] == example.attention("cross").max() and overview["showscale"]
        assert_drawn(at, example, "cross", 0, 0)

    def test_beam_and_greedy_are_what_they_say(self, recorded):
        at = screen.choose(screen.open_app(), beam=1)
        greedy = recorded.translate(EXAMPLE, beam=1)
        assert greedy.text in [element.value for element in at.text]
        assert_drawn(at, greedy, "cross", 0, 0)


class TestSentences:
    def test_a_new_sentence_changes_everything(self, recorded):
        at = screen.open_app().text_input(key="text").set_value(SENTENCE).run()
        result = recorded.translate(SENTENCE)
        assert result.text in [element.value for element in at.text]
        assert_drawn(at, result, "cross", 0, 0)

    @pytest.mark.parametrize(
        "text",
        [
            "a",
            "too too too tired tired",
            "  A man \n is\ttired.  ",
            "A\x00 man\x1b[31m",
            "<script>alert(1)</script>",
            "<s> A man </s> <pad>",
            "**bold** $x$ :smile: [a](http://b.c) # d",
            "متعب 🐈 שלום",
            "&amp; %{z} {x}",
            "▁",
        ],
    )
    def test_odd_text_is_translated_and_labelled_literally(self, recorded, text):
        at = screen.open_app().text_input(key="text").set_value(text).run()
        assert not at.exception and not at.warning
        result = recorded.translate(text)
        for kind in KINDS:
            at = screen.choose(at, kind=kind)
            drawn = screen.values(screen.figure(at, "heatmap")["data"][0]["z"])
            np.testing.assert_array_equal(drawn, result.attention(kind)[0, 0])

    def test_text_never_passes_through_markdown(self):
        at = screen.open_app().text_input(key="text").set_value("<b>MARK</b> **MARK**").run()
        at = at.text_input(key="text").set_value("").run()
        assert "<b>MARK</b> **MARK**" in screen.written(at)
        for element in [*at.markdown, *at.caption, *at.warning, *at.title, *at.get("html")]:
            assert "MARK" not in str(element.proto)


class TestBadInput:
    CASES = [
        ("", "There is nothing to translate"),
        ("   \t ", "There is nothing to translate"),
        ("\x00\x07", "There is nothing to translate"),
        ("a" * 10_000, "10,000 characters; at most 2,000"),
        ("tired " * 100, "tokens; at most 60"),
        ("🐈" * 40, "tokens; at most 60"),
    ]

    @pytest.mark.parametrize(("text", "words_of_it"), CASES, ids=[f"case{i}" for i in range(len(CASES))])
    def test_one_sentence_and_the_result_before_stays(self, recorded, text, words_of_it):
        at = screen.choose(screen.open_app(), kind="encoder_self")
        at = at.text_input(key="text").set_value(SENTENCE).run()
        at = at.text_input(key="text").set_value(text).run()
        (warning,) = at.warning
        assert words_of_it in warning.value and "the last sentence" in warning.value
        assert SENTENCE in [element.value for element in at.text], "the page says whose result it shows"
        assert_drawn(at, recorded.translate(SENTENCE), "encoder_self", 0, 0)
        # Everything still works on the result that stayed, and a good sentence ends it.
        assert_drawn(screen.click_head(at, 2, 1), recorded.translate(SENTENCE), "encoder_self", 2, 1)
        assert not at.text_input(key="text").set_value("A man.").run().warning

    @pytest.mark.parametrize("text", ["", "a" * 10_000])
    def test_a_bad_link_shows_the_example(self, example, text):
        at = screen.open_app(text=text)
        (warning,) = at.warning
        assert "the example" in warning.value
        assert EXAMPLE in [element.value for element in at.text]
        assert_drawn(at, example, "cross", 0, 0)

    def test_the_result_that_stays_keeps_its_search(self, recorded):
        at = screen.choose(screen.open_app(), beam=1)
        at = at.text_input(key="text").set_value(" ").run()
        assert_drawn(screen.choose(at, beam=4), recorded.translate(EXAMPLE, beam=1), "cross", 0, 0)


class TestViews:
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_mask_is_the_one_the_model_used(self, example, kind):
        at = screen.choose(screen.open_app(), view="Mask", kind=kind)
        assert not at.exception
        mask = example.mask(kind)
        np.testing.assert_array_equal(screen.values(screen.figure(at, "mask")["data"][0]["z"]), mask)
        queries, keys = axes_of(example, kind)
        assert screen.tokens(at, "mask", "y") == labelled(queries) and screen.tokens(at, "mask", "x") == labelled(keys)
        said = " ".join(element.value for element in at.caption)
        assert "Nothing is blocked" in said if mask.all() else f"{(~mask).sum()} of {mask.size} cells" in said

    @pytest.mark.parametrize("side", ["source", "target"])
    def test_the_positions_are_those_that_were_added(self, example, side):
        at = screen.choose(screen.open_app(view="Positions"), side=side)
        assert not at.exception
        table = example.positional(side)
        np.testing.assert_array_equal(screen.values(screen.figure(at, "positions")["data"][0]["z"]), table)
        tokens = example.source_tokens if side == "source" else example.target_tokens
        assert screen.tokens(at, "positions", "y") == labelled(tokens)
        waves = screen.figure(at, "waves")["data"]
        assert len(waves) >= 2
        for wave in waves:
            dimension = int(wave["name"].removeprefix("dimension "))
            np.testing.assert_array_equal(screen.values(wave["y"]), table[:, dimension])

    def test_only_the_chosen_view_is_drawn(self):
        drawn = {view: set(screen.charts(screen.open_app(view=view))) for view in ("Attention", "Mask", "Positions")}
        assert drawn == {
            "Attention": {"overview", "heatmap"},
            "Mask": {"overview", "mask"},
            "Positions": {"overview", "positions", "waves"},
        }


class TestLinks:
    def test_a_link_opens_what_it_names(self, recorded):
        at = screen.open_app(text=SENTENCE, kind="Encoder self", layer="2", head="1", beam="greedy", stretch="true")
        assert_drawn(at, recorded.translate(SENTENCE, beam=1), "encoder_self", 2, 1)
        assert at.toggle(key="stretch").value

    @pytest.mark.parametrize("rubbish", ["", "99", "-1", "1.5", "<script>", "encoder_self", "x" * 5000])
    def test_rubbish_falls_back(self, example, rubbish):
        assert_drawn(screen.open_app(**dict.fromkeys(PARAMETERS, rubbish)), example, "cross", 0, 0)

    @pytest.mark.parametrize("name", PARAMETERS)
    def test_one_empty_parameter_falls_back(self, example, name):
        assert_drawn(screen.open_app(**{name: ""}), example, "cross", 0, 0)

    def test_a_parameter_twice_is_no_trouble(self):
        assert not screen.open_app(layer=["1", "0"], text=["a", "b"], kind=["Cross", "Encoder self"]).exception
