"""The page Pitfalls: every mistake is drawn beside the right version, with numbers of this run."""

from __future__ import annotations

import ast
import html
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import load_translator
from model.analysis.comparison import beside
from model.experiments import modern_pitfalls, pitfalls
from model.positional import literal_loop, sinusoidal
from model.training.sweeps import mistakes
from model.training.sweeps.grid import MISTAKES_FOLDER, VALUES, read_grid
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.systems import save_language_model
from viz.pages.pitfalls.common import Sentence
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS
from viz.pages.pitfalls.modern import MODERN, fitting, writer_for

PAGE = screen.path("pitfalls.py")
SHIPPED = Path(__file__).parents[2] / "checkpoints"
TEXT = "A man is too tired."


def open_page(**query: str) -> AppTest:
    """The page by itself, as the navigation runs it."""
    at = AppTest.from_file(PAGE, default_timeout=120)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def headline_numbers(at: AppTest) -> str:
    """The headline's number, or two, as it stands under the pictures."""
    return screen.framed(at, "note").rsplit(": ", 1)[1]


def harm(at: AppTest) -> list[str]:
    """What came of it, wrong and right, as it is read."""
    parts = [element.proto.body for element in at.get("html") if "hl-harm" in element.proto.body]
    return [re.sub(r"<b>.*?</b> |<[^>]*>", "", part) for part in parts]


@pytest.fixture(scope="session")
def sentence(recorded):
    """The demos' input for TEXT, made apart from the page."""
    return Sentence(recorded, recorded.translate(TEXT, beam=1))


@pytest.mark.slow
def test_it_is_in_the_navigation():
    at = screen.open_app().switch_page(screen.path("pitfalls.py")).run()
    assert ">Pitfalls</h1>" in "".join(part.proto.body for part in at.get("html")) and not at.exception


@pytest.mark.parametrize("key", first_quick(list(PITFALLS)))
def test_both_pictures_the_number_and_both_lines_are_there(sentence, key):
    at = open_page(pitfall=key, text=TEXT)
    assert not at.exception and not at.error and not at.warning
    demo = PITFALLS[key](sentence)
    for side, figure in (("wrong", demo.wrong), ("right", demo.right)):
        expected = figure.data[0]
        if demo.heads:
            np.testing.assert_allclose(screen.head(at, side), expected.z, atol=2e-5)
            continue
        trace = screen.figure(at, side)["data"][0]
        name = "z" if expected.type == "heatmap" else "y"
        np.testing.assert_allclose(screen.values(trace[name]), expected[name], rtol=1e-5, atol=1e-6)
    assert screen.framed(at, "note") == demo.lines[0]
    headline = next(iter(demo.numbers.values()))
    values = [float(part.split(" ")[0].replace(",", "")) for part in headline_numbers(at).split(", ")]
    assert values == pytest.approx([float(number) for number in np.atleast_1d(headline)], rel=2e-3, abs=6e-4)
    assert [html.unescape(text) for text in harm(at)] == [" ".join(text.split()) for text in demo.outputs or ()]
    assert screen.framed(at, "answer-note") == PITFALLS[key].lesson
    if demo.outputs is None:
        assert screen.framed(at, "answer") == demo.lines[0]
    at = screen.choose(at, **{"pitfall-show": "code"})
    assert [code.value for code in at.code] == [PITFALLS[key].wrong, PITFALLS[key].right]
    assert all(line[1:] in screen.page_text(at) for line in demo.lines[1:])


@pytest.mark.slow
def test_tiles_and_answer_say_where_the_translation_breaks(sentence):
    at = open_page(text=TEXT)
    tiles = screen.tiles(at, "pitfall-tiles")
    for mistake in pitfalls.WRITTEN:
        wrong, right = (text.split() for text in sentence.both_written(mistake))
        changes = [pair for pair in beside(wrong, right) if pair[0] != pair[1]]
        assert tiles[mistake]["flag"] == (f"✗ words changed: {len(changes)}" if changes else "")
        at = screen.choose_tile(at, "pitfall-tiles", mistake)
        answer = screen.framed(at, "answer")
        if changes:
            assert f"{len(changes)} of {len(beside(wrong, right))} words change" in answer
            assert all(word in answer for word in changes[0])
        else:
            assert answer == f"The text stays the same: “{' '.join(right)}”"


@pytest.fixture(scope="session")
def with_writers(tmp_path_factory, checkpoints) -> Path:
    """A folder with the translator, a language model with added positions and one of today."""
    folder = tmp_path_factory.mktemp("writers")
    (folder / "en-de").symlink_to(checkpoints / "en-de")
    save_language_model(folder / "lm", max_length=80)
    modern = {"positional": "rotary_halves", "d_model": 16, "n_heads": 4, "n_kv_heads": 2, "max_length": 80}
    save_language_model(folder / "modern", **modern)
    return folder


@pytest.mark.parametrize("key", first_quick(list(MODERN)))
def test_mistakes_of_today_change_the_next_words(with_writers, sentence, key, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(with_writers))
    at = open_page(pitfall=key, text=TEXT)
    assert not at.exception and not at.error and not at.warning
    if key == "direction":
        later = np.triu(np.ones((len(sentence.result.source_tokens),) * 2), 1)
        wrong, right = (screen.head(at, side) for side in ("wrong", "right"))
        assert not (wrong * later).any() and (right * later).any() and harm(at)[1] == sentence.result.text
        return
    writer = writer_for(key)
    assert modern_pitfalls.MISTAKES[key](writer.config)
    ids = torch.tensor([writer.tokenizer.eos_id, *writer.tokenizer.encode(TEXT.rstrip("."))])
    names = writer.tokenizer.tokens(range(len(writer.tokenizer)))
    for side, mistake in (("wrong", key), ("right", None)):
        chances = modern_pitfalls.next_logits(writer.model, ids, mistake, len(ids)).softmax(-1).numpy()
        trace = screen.figure(at, side)["data"][0]
        best = [names.index(html.unescape(text)) for text in screen.tokens(at, side, "x")]
        np.testing.assert_allclose(screen.values(trace["y"]), chances[best], atol=1e-6)
        assert chances.argmax() in best
    right = writer.model(ids[None])[0, -1].softmax(-1).detach().numpy()
    np.testing.assert_allclose(chances, right, atol=1e-6), "without the mistake it is the model's own prediction"


def test_mistakes_that_no_model_here_can_show_are_not_listed(with_writers, checkpoints, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    assert set(fitting()) == {"direction"}


def test_the_words_are_sentences_and_python():
    for words in (PITFALLS | MODERN).values():
        assert words.lesson.count(". ") == 0 and words.lesson.endswith("."), words.name
        assert words.explanation.count(". ") == 1 and words.explanation.endswith("."), words.name
        for line in (words.wrong, words.right):
            ast.parse("def f():\n " + line.replace("\n", "\n "))


@pytest.mark.parametrize("key", first_quick(["transpose", "scaling", "start", "residual", "direction"]))
def test_heads_are_shown_by_the_stage_and_say_of_what(sentence, key):
    at = open_page(pitfall=key, text=TEXT)
    assert screen.stages(at) == {"wrong", "right"} and not screen.charts(at)
    heads = dict(zip(("wrong", "right"), (PITFALLS | MODERN)[key](sentence).heads))
    for side, head in heads.items():
        payload = screen.message(at, side)
        (kind,) = payload["after"]["recording"]["kinds"]
        assert (kind["code"], list(kind["layers"])) == (head.kind, [head.layer])
        assert kind["shape"] == [1, 1, *head.weights.shape]
        line = payload["after"]["recording"]["target_tokens" if head.kind == "decoder_self" else "source_tokens"]
        assert list(line) == head.queries
    names = screen.message(at, "wrong")["after"].get("names")
    assert (names and names["rows"]) == ("head (query)" if key == "transpose" else None)


def test_a_masked_first_row_is_not_drawn_as_blocked(sentence):
    wrong, right = PITFALLS["start"](sentence).heads
    assert wrong.mask[0].all() and not right.mask[0, 1:].any()
    np.testing.assert_allclose(wrong.weights[0], 1 / len(wrong.queries), atol=1e-6)


def test_the_pictures_of_the_positions_are_the_two_tables(sentence):
    at = open_page(pitfall="loop", text=TEXT)
    n = len(sentence.result.source_tokens)
    for side, table in (("wrong", literal_loop), ("right", sinusoidal)):
        values = screen.values(screen.figure(at, side)["data"][0]["z"])
        np.testing.assert_allclose(values, table(n, 32).numpy(), atol=1e-6)
        assert len(screen.tokens(at, side, "y")) == n


def test_where_the_causal_mask_hides_the_mistake_the_page_says_0():
    assert headline_numbers(open_page(pitfall="rows", text=TEXT)) == "0"
    assert headline_numbers(open_page(pitfall="dropout", text=TEXT)) != "0"


def test_numbers_without_a_sentence_are_those_of_the_two_ways_to_keep(sentence):
    demo = PITFALLS["best"](sentence)
    losses, _ = pitfalls.overfit()
    assert demo.numbers["Loss of what was kept"] == pytest.approx((losses[-1], min(losses)))


def test_another_sentence_gives_other_numbers():
    at = open_page(pitfall="scaling", text=TEXT)
    before = headline_numbers(at)
    at = at.text_input(key="text").set_value("A man is riding a bicycle down the street.").run()
    assert headline_numbers(at) != before


@pytest.mark.slow
def test_the_example_is_right_without_and_wrong_with_each_mistake():
    """On the weights that ship."""
    translator = load_translator(str(Path(__file__).parents[2] / "checkpoints" / "en-de"))
    shipped = Sentence(translator, translator.translate(EXAMPLE, beam=1))
    right = "Der Bauer gab den Kindern Äpfel und Milch."
    for mistake in pitfalls.WRITTEN:
        wrong, without_mistake = shipped.both_written(mistake)
        assert without_mistake == right and wrong != right, mistake


def test_choosing_another_pitfall():
    at = open_page(text=TEXT)
    assert screen.tiles(at, "pitfall-tiles")["selected"] == next(iter(PITFALLS))
    at = screen.choose_tile(screen.choose(at, **{"pitfall-show": "code"}), "pitfall-tiles", "gru")
    assert not at.exception and [code.value for code in at.code][0] == PITFALLS["gru"].wrong
    at = open_page(pitfall="nonsense", text=TEXT)
    assert screen.tiles(at, "pitfall-tiles")["selected"] == next(iter(PITFALLS))


@pytest.mark.parametrize(("text", "problem"), [("", "nothing to translate"), ("a" * 3000, "3,000 characters")])
def test_what_cannot_be_translated_is_one_sentence_and_the_last_one_stays(text, problem):
    at = open_page(pitfall="scaling", text=TEXT)
    weights = screen.head(at, "wrong")
    at = at.text_input(key="text").set_value(text).run()
    assert not at.exception
    np.testing.assert_array_equal(screen.head(at, "wrong"), weights)
    assert problem in at.warning[0].value and "the last one that worked" in at.warning[0].value
    assert "the example" in open_page(pitfall="scaling", text=text).warning[0].value
    assert screen.stages(at) == {"wrong", "right"}


@pytest.mark.parametrize("text", first_quick(["a", "$x_1$ **b** <b>c</b>", "漢字 👩‍👩‍👧 שלום", "x " * 20]))
@pytest.mark.parametrize("key", first_quick(list(PITFALLS)))
def test_odd_sentences_break_no_demo(recorded, key, text):
    demo = PITFALLS[key](Sentence(recorded, recorded.translate(text, beam=1)))
    assert "nan" not in " ".join(demo.lines) and "inf" not in " ".join(demo.lines)


@pytest.mark.slow
def test_demos_leave_the_random_state_alone(sentence):
    before = torch.get_rng_state()
    for demo in PITFALLS.values():
        demo(sentence)
    assert torch.equal(before, torch.get_rng_state())


def test_without_a_model_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page()
    assert not at.exception and len(at.error) == 1 and not screen.charts(at)


# What is said of the runs that ship, by mistake: the least and the most that it may cost, in nats per token, a model
# that was trained with it.
CLAIMS = {
    "loop": (0.0, 0.2),
    "scale": (1.0, 2.0),
    "dropout": (-0.1, 0.1),
    "transpose": (-0.1, 0.1),
    "scaling": (0.4, 1.0),
    "tokenizer": (0.4, 1.2),
    "start": (0.3, 0.8),
    "rows": (0.0, 0.2),
    "residual": (-0.15, 0.05),
    "norm": (-0.1, 0.1),
    "gru": (0.0, 0.3),
}


@pytest.fixture(scope="module")
def losses() -> dict[str, dict[int, float]]:
    """From the file: the last validation loss of the runs by mistake, and of "afterwards: ...", each by seed."""
    by_mistake: dict[str, dict[int, float]] = {}
    for run in json.loads((SHIPPED / MISTAKES_FOLDER / VALUES).read_text(encoding="utf-8"))["runs"]:
        name, seed = run["cell"]["mistake"], run["cell"]["seed"]
        by_mistake.setdefault(name, {})[seed] = run["validation"]["1000"]
        for mistake, loss in run.get("afterwards", {}).items():
            by_mistake.setdefault(f"afterwards: {mistake}", {})[seed] = loss
    return by_mistake


@pytest.fixture
def with_runs(checkpoints, tmp_path, monkeypatch) -> Path:
    """A folder with the tiny checkpoint and the runs that ship."""
    shutil.copytree(checkpoints, tmp_path, dirs_exist_ok=True)
    shutil.copytree(SHIPPED / MISTAKES_FOLDER, tmp_path / MISTAKES_FOLDER)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    return tmp_path


def difference(losses: dict[int, float], without: dict[int, float]) -> float:
    return float(np.mean([loss - without[seed] for seed, loss in losses.items()]))


def tiles(at: AppTest) -> list[str]:
    """The texts of both tiles."""
    (body,) = (element.proto.body for element in at.get("html") if '"hl-costs"' in element.proto.body)
    return [html.unescape(re.sub(r"<[^>]*>", " ", part)) for part in body.split("<section")[1:]]


@pytest.mark.parametrize("key", first_quick(mistakes.TRAINED, 3))
def test_the_tiles_have_the_recorded_losses_of_every_seed(with_runs, losses, key):
    at = open_page(pitfall=key, text=TEXT, **{"pitfall-show": "costs"})
    assert not at.exception and not at.warning
    without = losses[mistakes.GRU_WITHOUT if key == "gru" else mistakes.NO_MISTAKE]
    costs = []
    for tile, name in zip(tiles(at), (f"afterwards: {key}", key), strict=True):
        if name in losses:
            costs.append(f"{difference(losses[name], without):+.2f}")
            for by_seed in (without, losses[name]):
                assert " · ".join(f"{loss:.2f}" for _, loss in sorted(by_seed.items())) in tile
            assert costs[-1].lstrip("+") in tile
        else:
            costs.append("–")
    assert screen.tiles(at, "pitfall-tiles")[key]["note"].replace("-0.00", "+0.00") == " / ".join(costs)


@pytest.mark.slow
def test_what_no_training_can_have_says_why_and_no_numbers(with_runs):
    for key in PITFALLS.keys() - set(mistakes.TRAINED):
        texts = tiles(open_page(pitfall=key, text=TEXT, **{"pitfall-show": "costs"}))
        assert len(texts) == 2 and not re.search(r"\d", "".join(texts))


@pytest.mark.parametrize(("key", "least", "most"), [(key, *costs) for key, costs in CLAIMS.items()])
def test_what_a_mistake_teaches_holds_of_the_runs(losses, key, least, most):
    without = losses[mistakes.GRU_WITHOUT if key == "gru" else mistakes.NO_MISTAKE]
    assert least <= difference(losses[key], without) <= most


def test_what_is_said_of_single_mistakes_holds_of_the_runs(losses):
    without = losses[mistakes.NO_MISTAKE]
    assert difference(losses["afterwards: loop"], without) > difference(losses["loop"], without)
    assert difference(losses["afterwards: residual"], without) > difference(losses["residual"], without)
    assert difference(losses["scaling"], without) > difference(losses["afterwards: scaling"], without)
    costs = [difference(losses[name], losses[mistakes.GRU_WITHOUT]) for name in ("gru", "afterwards: gru")]
    assert costs[0] == pytest.approx(costs[1], abs=0.1), "training does not cure it"
    recorded = read_grid(SHIPPED / MISTAKES_FOLDER)
    for cell, run in recorded.runs.items():
        begins = [
            text.split()[0] == reference.split()[0] for text, (_, reference) in zip(run.texts[1000], recorded.examples)
        ]
        if cell.mistake in (mistakes.NO_MISTAKE, "start"):
            assert begins == [cell.mistake != "start"] * len(begins), "the first word is left out"


def test_every_mistake_that_training_can_have_is_recorded_and_small(losses):
    assert {*mistakes.TRAINED, mistakes.NO_MISTAKE, mistakes.GRU_WITHOUT} <= losses.keys()
    assert all(1 in by_seed for by_seed in losses.values())
    assert sum(path.stat().st_size for path in (SHIPPED / MISTAKES_FOLDER).iterdir()) < 400_000


@pytest.mark.slow
def test_without_recorded_runs_the_lesson_is_there_and_no_cost():
    at = open_page(text=TEXT, **{"pitfall-show": "costs"})
    assert not at.exception and not at.warning
    bodies = [element.proto.body for element in at.get("html")]
    assert screen.framed(at, "answer-note") == PITFALLS["loop"].lesson
    assert not any('"hl-costs"' in body for body in bodies) and "No training" in at.info[0].value


@pytest.mark.slow
def test_damaged_runs_are_one_sentence(with_runs):
    (with_runs / MISTAKES_FOLDER / VALUES).write_text("{}", encoding="utf-8")
    at = open_page(text=TEXT)
    assert not at.exception and len(at.warning) == 1 and set(screen.charts(at)) == {"wrong", "right"}
