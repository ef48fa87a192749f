"""What the browser reads from the file of a film, and its curves, equal Python's."""

from __future__ import annotations

import json

import numpy as np
import pytest

from model.films import file
from model.films.film import EARLIER, Film, FilmText
from model.films.rules import kind_of
from model.films.run import Run
from model.films.settings import Settings
from tests.support.javascript import node

SCRIPT = "tests/test_viz/test_web/test_recording/film.js"


def drawn(losses: int, has_encoder: bool, predicted: bool) -> Film:
    """A film of random numbers: three frames, two layers of three heads, two texts."""
    dice = np.random.default_rng(losses)
    steps = np.array([0, max(1, losses // 3), max(2, losses)])
    sides = {"encoder_self": (4, 4), "decoder_self": (3, 3), "cross": (3, 4)}
    kinds = list(sides) if has_encoder else ["decoder_self"]
    texts = []
    for row in range(2):
        maps = {kind: dice.integers(0, 256, (3, 2, 3, *sides[kind]), np.uint8) for kind in kinds}
        source = ["▁ä", "글", "</s>", f"{row}"] if has_encoder else []
        texts.append(FilmText(source, ["<s>", "▁c", "😀"], maps, [["a", "b", "ß"]] * 3 if predicted else []))
    scores = {rule: dice.random((3, 2, 3)).astype(np.float32) for rule in ("previous", "source", EARLIER)}
    scores["previous"][-1] = 0.5  # a tie: the first head is the best one
    right = dice.random(3).astype(np.float32)
    values = (8 * dice.random(losses)).astype(np.float32)
    return Film({"task": "copy", "peak": 0.5}, values, steps, right, scores, texts, True, {"seconds": 1.5})


def trained() -> Film:
    run = Run(Settings.of("seen before", heads=2, steps=50))
    for _ in range(12):
        run.advance()
    return run.film()


FILMS = {
    "decoder": drawn(40, False, True),
    "encoder-decoder": drawn(5, True, False),
    "before the first step": drawn(0, True, True),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, tuple[Film, dict]]:
    folder = tmp_path_factory.mktemp("films")
    films = FILMS | {"trained": trained()}
    paths = [folder / f"{number}.film" for number in range(len(films))]
    for path, film in zip(paths, films.values()):
        file.save(film, path)
    finished = node(SCRIPT, folder / "answers.json", *paths)
    assert finished.returncode == 0, finished.stderr
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    loaded = [file.load(path) for path in paths]
    return dict(zip(films, zip(loaded, answers), strict=True))


@pytest.mark.parametrize("name", [*FILMS, "trained"])
def test_the_browser_reads_what_python_wrote(answers, name):
    film, answer = answers[name]
    read = answer["film"]
    for field in ("losses", "steps", "right"):
        np.testing.assert_array_equal(np.array(read[field], np.float32), getattr(film, field).astype(np.float32))
    assert list(read["scores"]) == list(film.scores)
    for rule, values in film.scores.items():
        np.testing.assert_array_equal(np.array(read["scores"][rule], np.float32), values)
    assert (read["settings"], read["card"], read["is_solved"]) == (film.settings, film.card, film.is_solved)
    for mine, text in zip(read["texts"], film.texts, strict=True):
        assert (mine["source"], mine["target"]) == (text.source_tokens, text.target_tokens)
        assert mine["predicted"] == text.predicted and list(mine["maps"]) == list(text.maps)
        for kind, maps in text.maps.items():
            np.testing.assert_array_equal(np.array(mine["maps"][kind]), maps)


@pytest.mark.parametrize("name", [*FILMS, "trained"])
def test_the_browser_computes_the_curves_that_python_does(answers, name):
    film, answer = answers[name]
    losses = np.array([film.loss_at(frame) for frame in range(film.n_frames)])
    np.testing.assert_allclose(np.array(answer["losses"], np.float64), losses, rtol=1e-6)
    steps = film.steps.tolist()
    assert answer["frames"] == [max(n for n, at in enumerate(steps) if at <= step) for step in range(steps[-1] + 2)]
    has_encoder = "cross" in film.texts[0].maps
    expected = {("loss", 0, 0): losses / losses[0], ("right", 0, 0): film.right}
    for rule, values in film.scores.items():
        assert answer["best"][rule] == [*film.best_head(rule), kind_of(rule, has_encoder)]
        expected |= {(rule, *place): values[:, *place] for place in np.ndindex(values.shape[1:])}
    curves = {(curve["rule"], curve["layer"], curve["head"]): curve for curve in answer["curves"]}
    assert list(curves) == list(expected)
    for place, values in expected.items():
        np.testing.assert_allclose(np.array(curves[place]["values"], np.float64), values, rtol=1e-6)
        is_best = place[0] not in film.scores or film.best_head(place[0]) == place[1:]
        assert curves[place]["isBest"] == is_best
    for map_, (_, maps) in zip(answer["map"], film.texts[0].maps.items(), strict=True):
        np.testing.assert_array_equal(np.array(map_), maps[-1, 0, 1])
