"""The page Inside a head without a browser: every control, and what is drawn, against separate recordings."""

from __future__ import annotations

import html

import numpy as np
import pytest

from model.analysis import maps as analysis
from model.experiments.inside import Switches, row, softmax_gradient
from model.experiments.inside import recorded as inside_of
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.test_translate import EXAMPLE
from viz.screens import words, words_inside

FIGURES = {
    "project": {"q": lambda made: made.q[None], "k": lambda made: made.k},
    "multiply": {"q × k": lambda made: made.products},
    "add": {"q · k": lambda made: made.raw_scores[None]},
    "scale": {"scaled scores": lambda made: made.scaled[None]},
    "mask": {"mask": lambda made: made.mask[None], "masked scores": lambda made: finite(made.scores)[None]},
    "softmax": {"weights": lambda made: made.weights[None]},
    "dropout": {"weights after dropout": lambda made: made.dropped[None]},
    "values": {"v": lambda made: made.v, "weight × v": lambda made: made.weighted},
    "context": {"context": lambda made: made.context[None]},
}


def finite(scores):
    return np.where(np.isneginf(scores), np.nan, scores)


def open_page(**query):
    at = screen.open_page("inside.py", **query)
    assert not at.exception and not at.error
    return at


def z(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def assert_steps(at, made, steps):
    """These steps and no other ones are drawn, each with the numbers of a row."""
    drawn = {key for key in screen.charts(at) if key != "whole-head"}
    assert drawn == {f"{step}-{i}" for step in steps for i in range(len(FIGURES[step]))}
    for step in steps:
        for i, (name, of) in enumerate(FIGURES[step].items()):
            np.testing.assert_allclose(z(at, f"{step}-{i}"), of(made), atol=1e-6, err_msg=f"{step}, {name}")
            assert name in [caption.value for caption in at.caption]
    assert len(at.latex) == len(steps)


def metrics(at):
    return {metric.label: metric.value for metric in at.metric}


def without_dropout():
    return [step for step in FIGURES if step != "dropout"]


def test_the_first_paint_is_the_second_word_of_the_first_cross_head(recorded):
    at = open_page()
    result = recorded.translate(EXAMPLE)
    arrays = inside_of(result, "cross", 0)
    assert_steps(at, row(arrays, 0, 1), ["project"])
    np.testing.assert_array_equal(z(at, "whole-head"), result.attention("cross")[0, 0])
    (frame,) = screen.figure(at, "whole-head")["layout"]["shapes"]
    assert (frame["y0"], frame["y1"]) == (0.5, 1.5)
    assert f"1 {result.target_tokens[1]}" in screen.written(at)
    assert result.text in screen.written(at)
    assert words_inside.RECORDED in [caption.value for caption in at.caption]
    for key, chart in screen.charts(at).items():
        assert screen.described(chart), key


@pytest.mark.parametrize(("kind", "layer", "head", "query"), [("encoder_self", 2, 3, 4), ("decoder_self", 1, 2, 2)])
def test_all_steps_of_any_row_are_the_recorded_numbers(recorded, kind, layer, head, query):
    at = screen.choose(open_page(step="all"), kind=kind, layer=layer, head=head).slider(key="query").set_value(query)
    at = at.run()
    result = recorded.translate(EXAMPLE)
    arrays = inside_of(result, kind, layer)
    assert_steps(at, row(arrays, head, query), without_dropout())
    queries = result.source_tokens if kind == "encoder_self" else result.target_tokens
    for key in ("add-0", "softmax-0"):
        assert screen.tokens(at, key, "x") == [html.escape(token, quote=False) for token in queries]
        assert screen.tokens(at, key, "y") == [html.escape(queries[query], quote=False)]
    # What is drawn of the recorded steps is the trace itself, not something near it.
    module = result.modules(kind)[layer]
    for key, name in (("add-0", "raw_scores"), ("softmax-0", "weights"), ("context-0", "context"), ("project-0", "q")):
        np.testing.assert_array_equal(z(at, key)[0], result.trace[f"{module}.{name}"][head, query])
    weights = result.attention(kind)[layer, head, query]
    assert metrics(at) == {
        "Entropy (nats)": f"{analysis.entropy(weights):.3f}",
        "Softmax gradient": f"{softmax_gradient(weights):.3f}",
        "Largest weight": f"{weights.max():.3f}",
        "Sum of the row": f"{weights.sum():.3f}",
    }


def test_steps_are_walked_one_by_one(recorded):
    at = open_page()
    made = row(inside_of(recorded.translate(EXAMPLE), "cross", 0), 0, 1)
    for number, step in enumerate(without_dropout()):
        at = screen.choose(at, step=step)
        assert_steps(at, made, [step])
        assert f"**Step {number + 1} of 8: {words_inside.STEPS[step].title}**" in [e.value for e in at.markdown]


def test_every_switch_recomputes_what_follows_from_it(recorded):
    arrays = inside_of(recorded.translate(EXAMPLE), "decoder_self", 0)
    at = screen.choose(open_page(step="all"), kind="decoder_self")
    for key, value, switches, said in (
        ("unscaled", True, Switches(scaled=False), "without the division by √d_head"),
        ("temperature", 2.5, Switches(temperature=2.5), "at temperature 2.5"),
        ("unmasked", True, Switches(masked=False), "without the mask"),
        ("dropped", True, Switches(dropout=0.1, draw=1), "with dropout 0.1, draw 1"),
    ):
        at = (at.slider if key == "temperature" else at.toggle)(key=key).set_value(value).run()
        steps = list(FIGURES) if key == "dropped" else without_dropout()
        made = row(arrays, 0, 1, switches)
        assert_steps(at, made, steps)
        assert f"Recomputed from the recorded q, k and v: {said}." in [caption.value for caption in at.caption]
        assert metrics(at)["Entropy (nats)"] == f"{analysis.entropy(made.weights):.3f}"
        assert metrics(at)["Sum of the row"] == f"{made.dropped.sum():.3f}"
        change = float(analysis.entropy(made.weights)) - float(analysis.entropy(arrays["weights"][0, 1]))
        deltas = {metric.label: metric.delta for metric in at.metric}
        assert deltas["Entropy (nats)"] == (f"{change:+.3f} against the recorded row" if abs(change) >= 5e-4 else "")
        if key == "dropped":
            at = at.slider(key="draw").set_value(5).run()
            assert_steps(at, row(arrays, 0, 1, Switches(dropout=0.1, draw=5)), steps)
        at = (at.slider if key == "temperature" else at.toggle)(key=key).set_value(
            1.0 if key == "temperature" else False
        )
        at = at.run()
    assert_steps(at, row(arrays, 0, 1), without_dropout())


def test_a_mask_that_hides_nothing_is_said_to():
    at = open_page().toggle(key="unmasked").set_value(True).run()
    assert any(words_inside.NOTHING_HIDDEN in caption.value for caption in at.caption)


def test_a_model_without_dropout_has_no_switch_for_it(tmp_path, monkeypatch):
    save_tiny(tmp_path / "en-de", dropout=0.0)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page(dropped="true")
    assert at.toggle(key="dropped").disabled and at.slider(key="draw").disabled
    assert at.toggle(key="dropped").help == words_inside.NO_DROPOUT


def test_a_reference_is_looked_into_as_well(recorded):
    at = open_page(mode=words.FORCED, reference="Ein Mann war müde.", step="softmax")
    arrays = inside_of(recorded.force(EXAMPLE, "Ein Mann war müde."), "cross", 0)
    assert_steps(at, row(arrays, 0, 1), ["softmax"])


def test_another_sentence_and_nonsense_in_the_address(recorded):
    at = open_page(query="99", step="nonsense", layer="77", temperature="hot")
    assert at.slider(key="query").value == 1 and at.button_group(key="step").value == "project"
    at = at.text_input(key="text").set_value("A man is riding.").run()
    assert_steps(at, row(inside_of(recorded.translate("A man is riding."), "cross", 0), 0, 1), ["project"])
    at = at.text_input(key="text").set_value("").run()
    assert "there is nothing to translate" in at.warning[0].value.lower()
    assert_steps(at, row(inside_of(recorded.translate("A man is riding."), "cross", 0), 0, 1), ["project"])


def test_without_a_model_it_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("inside.py")
    assert not at.exception and [error.value for error in at.error] == ["There is no model to translate with."]


@pytest.mark.parametrize("bias", [True, False])
def test_equations_say_what_is_done(bias):
    plain, other = Switches(), Switches(scaled=False, temperature=2.0, masked=False, dropout=0.25)
    assert ("b^Q" in words_inside.formula("project", 8, bias, plain)) == bias
    assert words_inside.formula("scale", 8, bias, plain) == r"s_{tj} = \frac{r_{tj}}{\sqrt{8}}"
    assert words_inside.formula("scale", 8, bias, other) == r"s_{tj} = \frac{r_{tj}}{2}"
    assert words_inside.formula("scale", 8, bias, Switches(scaled=False)) == r"s_{tj} = r_{tj}"
    assert r"-\infty" in words_inside.formula("mask", 8, bias, plain)
    assert r"-\infty" not in words_inside.formula("mask", 8, bias, other)
    assert "{0.75}" in words_inside.formula("dropout", 8, bias, other)
    for step in ("values", "context"):
        assert (
            r"\tilde" in words_inside.formula(step, 8, bias, plain),
            r"\tilde" in words_inside.formula(step, 8, bias, other),
        ) == (False, True)
