"""The film of the decoding: what each frame shows, and what is refused."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
import pytest

from viz.figures import step_film
from viz.figures.film import Film
from viz.figures.in_words import in_words
from viz.figures.numbers import numbers

READ, WRITTEN, SOURCE = ["<s>", "ein", "<b>k</b>"], ["ein", "<b>k</b>", "</s>"], ["a", "a", "$5$", "</s>"]


def rows(*shape: int) -> np.ndarray:
    values = np.random.default_rng(2).random(shape)
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def film() -> Film:
    mask = np.arange(3)[:, None] >= np.arange(3)
    return Film(
        decoder=np.where(mask, rows(3, 3), 0).astype(np.float32),
        cross=rows(3, 4),
        encoder=rows(4, 4),
        probabilities=np.sort(rows(3, 2))[:, ::-1],
        entropy=np.array([0.5, 2.0, 0.25]),
        mask=mask,
        read=READ,
        written=WRITTEN,
        source=SOURCE,
        candidates=[["ein", "der"], ["k", "<b>k</b>"], ["</s>", "."]],
    )


def test_every_step_has_a_frame_and_a_place_on_the_slider(film):
    figure = step_film(film)
    assert [frame.name for frame in figure.frames] == ["0", "1", "2"]
    steps = figure.layout.sliders[0].steps
    assert [(step.method, list(step.args[0])) for step in steps] == [("animate", [str(t)]) for t in range(3)]
    assert [button.label for button in figure.layout.updatemenus[0].buttons] == ["Play", "Pause"]
    assert figure.layout.sliders[0].active == 2, "the picture without a film is the whole translation"


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_frame_shows_its_step(film, step):
    figure = step_film(film)
    frame = figure.frames[step]
    decoder, cross, bars, entropy, own_row, encoder_row = frame.data
    so_far = slice(0, step + 1)
    expected = np.where(film.mask, film.decoder, np.nan)[so_far, so_far]
    np.testing.assert_array_equal(decoder.z, expected)
    np.testing.assert_array_equal(cross.z, film.cross[step : step + 1])
    np.testing.assert_array_equal(bars.x, film.probabilities[step])
    names = [html.unescape(text) for text in bars.text]
    assert [name.split()[0] for name in names] == film.candidates[step]
    assert [("written" in name) for name in names] == [name == WRITTEN[step] for name in film.candidates[step]]
    np.testing.assert_array_equal(entropy.y, film.entropy[so_far])
    assert (min(own_row.y), max(own_row.y)) == (step - 0.5, step + 0.5)
    most = film.cross[step].argmax()
    assert (min(encoder_row.y), max(encoder_row.y)) == (most - 0.5, most + 0.5)
    title = html.unescape(frame.layout.title.text)
    assert title == f"Step {step} of 0 to 2: reads “{READ[step]}”, writes “{WRITTEN[step]}”"
    assert "<b>" not in frame.layout.title.text and not any("<b>" in text for text in bars.text)
    # A frame moves only what it names, and these traces are in the same places of the figure.
    assert list(frame.traces) == list(range(6))
    assert [moved.type for moved in frame.data] == [still.type for still in figure.data[:6]]


def test_its_numbers_are_those_of_every_step(film):
    names, table = numbers(step_film(film))
    assert names == ["step", "panel", "query", "place", "name", "value"]

    def values(panel: str, step: int, called: list[str]) -> list[float]:
        found = [row for row in table if row[:3] == [step, panel, READ[step]]]
        assert [row[3:5] for row in found] == [[i, name] for i, name in enumerate(called)]
        return [row[5] for row in found]

    for step in range(3):
        own = values("decoder weight", step, READ[: step + 1])
        np.testing.assert_allclose(own, film.decoder[step, : step + 1])
        np.testing.assert_allclose(values("cross weight", step, SOURCE), film.cross[step])
        np.testing.assert_allclose(values("probability of", step, film.candidates[step]), film.probabilities[step])
        assert values("entropy (nats)", step, [""]) == [film.entropy[step]]
    encoder = [row for row in table if row[1] == "encoder weight"]
    np.testing.assert_allclose(np.array([row[5] for row in encoder]).reshape(4, 4), film.encoder)
    assert [row[2] for row in encoder] == [name for name in SOURCE for _ in range(4)]
    assert len(table) == (1 + 2 + 3) + 3 * 4 + 3 * 2 + 3 + 16


def test_its_words_are_of_every_step(film):
    said = in_words(step_film(film))
    assert len(said) == 3 * 4 + len(SOURCE)
    best = film.cross[1].argsort()[::-1]
    first, second = (f"“{SOURCE[i]}” ({i}) {film.cross[1][i]:.3g}" for i in best[:2])
    assert f"step 1, “ein”, cross weight: {first}, then {second}." in said
    assert "step 1, “ein”, entropy (nats): 2." in said
    assert sum(line.startswith("“a”, encoder weight: ") for line in said) == 2


def test_the_figure_itself_is_the_last_step_with_the_encoder_and_the_blocked_cells(film):
    figure = step_film(film)
    np.testing.assert_array_equal(figure.data[0].z, np.where(film.mask, film.decoder, np.nan))
    np.testing.assert_array_equal(figure.data[6].z, film.encoder)
    assert figure.data[7].fillpattern.shape == "/" and len(figure.data) == 8
    assert len(step_film(replace(film, mask=np.ones((3, 3), bool))).data) == 7


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decoder": np.eye(2)}, r"decoder has shape \(2, 2\); allowed is \(3, 3\), as cross is \(3, 4\)"),
        ({"encoder": np.eye(3)}, r"encoder has shape \(3, 3\); allowed is \(4, 4\)"),
        ({"probabilities": np.ones((2, 2))}, r"probabilities has shape \(2, 2\); allowed is \(3, 2\)"),
        ({"entropy": np.ones(4)}, r"entropy has shape \(4,\); allowed is \(3,\)"),
        ({"cross": np.full((3, 4), 2.0)}, r"cross has values from 2 to 2"),
        ({"mask": np.ones((3, 4), bool)}, r"mask has shape \(3, 4\); allowed is \(3, 3\)"),
        ({"written": ["a"]}, r"written has 1 labels, but the array has 3 rows"),
        ({"source": ["a"]}, r"source has 1 labels, but the array has 4 columns"),
        ({"candidates": [["a", "b"]]}, r"candidates has 1 rows; allowed are 3"),
        ({"candidates": [["a"]] * 3}, r"candidates has 1 labels, but the array has 2 columns"),
    ],
)
def test_what_does_not_fit_together_is_refused(film, changes, words):
    with pytest.raises(ValueError, match=words):
        replace(film, **changes)
