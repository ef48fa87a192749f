"""Train here: a recorded film plays at first, runs are filmed, two of them beside each other."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.films import file, shipped
from model.films.bump import bump_of
from model.films.film import EARLIER
from model.films.run import Run
from model.films.settings import Settings
from tests.support.messages import unpack
from tests.test_app import screen
from viz.pages.training import film_words, here
from viz.pages.training.film_settings import CHANGES, changed
from viz.pages.training.live import MAX_RUNS, LiveRun
from viz.text.language import ENGLISH, LANGUAGES, begun, using

OWN_CACHES = True

PAGE = screen.path("training.py")
FILMS = Path(__file__).parents[2] / "checkpoints" / shipped.FOLDER
PATIENCE = 300  # seconds until a run of a few steps must have ended on a busy machine
FEW = 5


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Runs end after a few steps, and none outlives its test; recorded films are those that ship."""
    runs = []

    class Watched(LiveRun):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            runs.append(self)

    monkeypatch.setattr(Run, "has_ended", property(lambda run: run.is_solved or run.step >= FEW))
    monkeypatch.setattr(here, "LiveRun", Watched)
    monkeypatch.setattr(here.shipped, "load", lambda name: file.load(FILMS / f"{name}{file.ENDING}"))
    monkeypatch.setattr(here.shipped, "names", lambda: [path.stem for path in FILMS.glob("*")])
    here._map_pixels.clear()
    yield runs
    for run in runs:
        run.stop()


def open_page(**query: str) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=120)
    for name, value in {"section": "here", **query}.items():
        at.query_params[name] = value
    return at.run()


def film_message(at: AppTest) -> dict:
    """What the component of the film is sent."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.component_name.endswith("headlight_film")]
    return unpack(part.proto.bytes)


def films_shown(at: AppTest) -> list:
    return [file.unpack(bytes(np.asarray(each["file"], np.uint8))) for each in film_message(at)["films"]]


def finish(at: AppTest, runs: list[LiveRun]) -> AppTest:
    deadline = time.monotonic() + PATIENCE
    while any(run.active for run in runs) and time.monotonic() < deadline:
        for run in runs:
            run.frame()
        time.sleep(0.05)
    assert not any(run.active for run in runs)
    return at.run()


def test_a_recorded_film_is_there_at_first_and_says_when_its_heads_came(quick):
    at = open_page()
    assert not at.exception and not at.warning and not quick
    message = film_message(at)
    (film,) = films_shown(at)
    expected = file.load(FILMS / "seen-before.film")
    np.testing.assert_array_equal(film.scores["induction"], expected.scores["induction"])
    assert message["plays"] and not message["live"]
    marks = {mark["rule"]: mark["step"] for mark in message["films"][0]["marks"]}
    for rule in ("previous", "induction"):
        curves = expected.scores[rule].reshape(expected.n_frames, -1)
        curve = curves[:, curves[-1].argmax()]
        half = (curve[0] + curve[-1]) / 2
        frame = expected.n_frames - next(n for n, score in enumerate(curve[::-1]) if score < half)
        assert marks[rule] == expected.steps[frame]
        assert f"at step {marks[rule]}" in screen.framed(at, "answer")


def test_a_change_that_was_recorded_stands_beside_the_film(quick):
    at = open_page(**{"film-change-seen before": "one-layer"})
    assert not at.exception
    first, second = films_shown(at)
    assert (first.settings["layers"], second.settings["layers"]) == (2, 1)
    right = f"{second.right[-1]:.0%} is right by step {len(second.losses):,}"
    expected = f"With two layers the task is solved by step {len(first.losses)}, with one layer {right}."
    assert screen.framed(at, "answer") == expected
    ends = [film.scores["induction"][-1].max() for film in (first, second)]
    assert f"induction {ends[0]:.2f} and {ends[1]:.2f}" in screen.framed(at, "answer-note")
    assert [film["name"] for film in film_message(at)["films"]] == ["With two layers", "With one layer"]


def test_two_runs_train_together_and_differ_in_one_thing(quick):
    at = open_page(**{"film-task": "add", "film-change-add": "no-positions"})
    at = at.button(key="film-train").click().run()
    assert not at.exception and [run.settings.positions for run in quick] == ["learned", "none"]
    at = finish(at, quick)
    films = films_shown(at)
    assert [replace(Settings(**film.settings), positions="none") for film in films] == [quick[1].settings] * 2
    for film, run in zip(films, quick):
        np.testing.assert_array_equal(film.losses, run.frame().film.losses)
        assert len(film.losses) == FEW
    first, second = (f"{film.right[-1]:.0%}" for film in films)
    expected = f"With learned positions {first} is right by step {FEW}, without positions {second} by step {FEW}."
    assert screen.framed(at, "answer") == expected
    assert not at.button(key="film-train").disabled and at.button(key="film-stop").disabled


def test_a_string_of_the_visitor_is_filmed_and_one_that_cannot_be_read_is_one_sentence(quick):
    at = open_page(**{"film-task": "backwards"})
    at = at.text_input(key="film-text-backwards").set_value("abc").run()
    at = finish(at.button(key="film-train").click().run(), quick)
    (film,) = films_shown(at)
    assert film.texts[0].target_tokens == ["<s>", "c", "b", "a"]
    assert f"“abc” → “{quick[0].write('abc')}”" in screen.framed(at, "answer-note")
    at = at.text_input(key="film-text-backwards").set_value("Straße").run()
    assert not at.exception and "got 'S'" in screen.warnings(at)[0] and at.button(key="film-train").disabled


def test_of_real_text_each_film_says_whether_its_loss_has_a_bump(quick):
    at = open_page(**{"film-task": "wikitext-2", "film-real": "wikitext-4-layers"})
    at = at.toggle(key="film-pair").set_value(True).run()
    assert not at.exception
    note = screen.framed(at, "answer-note")
    films = films_shown(at)
    assert [film.settings["warmup"] for film in films] == [200, 1]
    ends = [float(film.losses[-9:].mean()) for film in films]
    expected = f"With a warmup of 200 steps the loss ends at {ends[0]:.2f}, with no warmup at {ends[1]:.2f}."
    assert screen.framed(at, "answer") == expected
    for name, film in zip(("With a warmup of 200 steps", "With no warmup"), films):
        bump = bump_of(film.losses)
        expected = f"about step {bump.slow_step} it falls by {bump.slow:.2f}" if bump else "no bump"
        assert f"{name}: The loss has " in note and expected in note


@pytest.mark.parametrize(("warmup", "is_near"), [(1, False), (100, False), (200, True), (300, True), (600, False)])
def test_a_bump_is_said_to_come_with_the_end_of_the_warmup_where_it_does(warmup, is_near):
    """Of a loss that falls a second time at step 300, by films whose warmups end elsewhere."""
    steps = np.arange(1, 3001)
    loss = 3 + 5 * steps**-0.4 + 1.5 / (1 + (steps / 300) ** 6.0)
    film = replace(file.load(FILMS / "wikitext-2-layers.film"), losses=loss.astype(np.float32))
    film = replace(film, settings={**film.settings, "warmup": warmup})
    assert 200 < bump_of(film.losses).fast_step < 450
    assert (f"near the end of the warmup, step {warmup}." in film_words.bump(film)) == is_near


def test_a_head_that_is_clicked_opens_on_the_stage_at_its_step(quick):
    at = open_page()
    (film,) = films_shown(at)
    step = int(film.steps[-2])
    at.session_state["film-opened"] = {"film": 0, "kind": "decoder_self", "layer": 1, "head": 2, "step": step}
    at.session_state["film-view"] = "stage"
    at = at.run()
    assert not at.exception and screen.has_stage(at)
    at.session_state["film-opened"] = {"film": 9, "kind": "x", "layer": -1, "head": "2"}
    at = at.run()
    assert not at.exception and not screen.has_stage(at)


def test_more_runs_than_the_machine_allows_are_one_sentence(quick, monkeypatch):
    monkeypatch.setattr(Run, "advance", lambda run: time.sleep(0.05))
    others = [here.LiveRun(Settings()) for _ in range(MAX_RUNS)]
    at = open_page(**{"film-task": "copy"})
    at = at.button(key="film-train").click().run()
    assert "runs are already training on this machine" in screen.warnings(at)[0] and len(quick) == len(others)
    others[0].stop()
    at = open_page(**{"film-task": "copy", "film-change-copy": "seed"})
    at = at.button(key="film-train").click().run()
    assert "runs are already training" in screen.warnings(at)[0]
    assert not quick[-1].active, "the first of a pair does not stay where the second finds no place"


@pytest.mark.parametrize("change", [code for code in CHANGES if code])
def test_a_change_is_one_thing_and_names_both_runs(change):
    before = Settings.of("seen before", layers=3)
    after = changed(before, change)
    different = [name for name, value in before.to_dict().items() if after.to_dict()[name] != value]
    assert len(different) == 1
    english = film_words.names_of_pair(before.to_dict(), after.to_dict())
    for language in LANGUAGES:
        with using(language):
            names = film_words.names_of_pair(before.to_dict(), after.to_dict())
        assert len(set(names)) == 2 and (language == ENGLISH or not set(names) & set(english))


ENDS = {  # of two runs: solved by a step, or the share right by one
    (("150", 1.0), ("200", 1.0)): "With two layers the task is solved by step 150, with one layer by step 200.",
    (("1", 0.25), ("1", 0.0)): "With two layers 25% is right by step 1, with one layer 0% by step 1.",
    (("2,000", 0.16), ("150", 1.0)): (
        "With one layer the task is solved by step 150, with two layers 16% is right by step 2,000."
    ),
}


@pytest.mark.parametrize(("ends", "sentence"), ENDS.items())
def test_the_difference_of_two_runs_is_one_sentence(ends, sentence):
    """Whichever of them solves the task, and after a single step, too."""
    film = file.load(FILMS / "seen-before.film")
    films = []
    for layers, (step, share) in zip((2, 1), ends):
        losses, right = np.ones(int(step.replace(",", "")), np.float32), np.full_like(film.right, share)
        settings = {**film.settings, "layers": layers}
        films.append(replace(film, settings=settings, losses=losses, right=right, is_solved=share == 1))
    names = film_words.names_of_pair(*(film.settings for film in films))
    assert film_words.difference(films, names) == sentence
    for language in LANGUAGES:
        with using(language):
            names = film_words.names_of_pair(*(film.settings for film in films))
            said = film_words.difference(films, names)
        assert all(name in begun(said, small=True) for name in names), said


def test_the_share_of_earlier_heads_is_that_of_score_parts(quick):
    """Of the open string, for one head, from the parts of its scores."""
    from model.films.run import Run as FilmRun
    from model.results.translation import Translation
    from model.running.attribution import score_parts
    from model.taps import record

    run = FilmRun(Settings.of("seen before", heads=2, steps=50))
    run.advance()
    with record("*") as trace:
        run._logits(run._open, True)
    trace = {address: value.detach()[0].numpy() for address, value in trace.items()}
    names = run.open_tokens[1]
    ids = run._open.read[0].tolist()
    result = Translation("", "", [], names, names, ids, np.zeros(len(ids)), True, trace, None, run.model.config)
    parts = score_parts(run.model, result, "decoder_self", 1, 0)
    shares = dict(zip(parts.key_names, parts.shares.sum(0)))
    expected = sum(share for name, share in shares.items() if name.startswith("head 0."))
    assert run.film().scores[EARLIER][-1, 1, 0] == pytest.approx(expected, abs=1e-5)
