"""The lessons: every link opens its page with its settings, and what an answer says of the shipped model is so."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import streamlit as st

from model import load_translator
from model.experiments import inside
from model.experiments import positions as position_experiments
from model.interventions.edits import Edits, Head
from model.measures import contribution
from model.measures.checks import check
from model.positional import sinusoidal
from model.training import grid
from tests.test_app import screen
from viz.text import words_lessons
from viz.text.words_lessons import LESSONS
from viz.ui import tour
from viz.views import view
from viz.views.codes import code

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
FILES = {"": "translate.py"}
STOPS = [(name, number) for name, lesson in LESSONS.items() for number in range(1, len(lesson.steps) + 1)]


@pytest.fixture(scope="module")
def shipped():
    return load_translator(str(CHECKPOINTS / "en-de"))


@pytest.fixture(scope="module")
def bicycle(shipped):
    return shipped.translate(words_lessons.BICYCLE)


@pytest.fixture
def shipped_pages(monkeypatch: pytest.MonkeyPatch):
    """Has the pages use what ships, and forget it afterwards."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(CHECKPOINTS))
    for cache in (st.cache_resource, st.cache_data):
        cache.clear()
    yield
    for cache in (st.cache_resource, st.cache_data):
        cache.clear()


def open_link(target: str):
    parts = urlsplit(target)
    page = parts.path.strip("./")
    return screen.open_page(FILES.get(page, f"{page}.py"), **dict(parse_qsl(parts.query)))


def off(query) -> list[tuple[str, int, int]]:
    """The heads that a step switches off."""
    return [(head.kind, head.layer, head.head) for head in Edits.from_code(query.get("edits", "")).off]


def assert_on_stage(at, query) -> None:
    """The stage has the sentence of a step, and the head that the browser then opens."""
    told = screen.stage(at)
    assert at.text_input(key="sentence").value == query["text"]
    (kind,) = [one for one in told["kinds"] if one["code"] == query.get("kind", told["kinds"][0]["code"])]
    assert all(int(query.get(name, "0")) < count for name, count in zip(("layer", "head"), kind["layers"]))
    assert int(query.get("step", "0")) < len(told["target"]["tokens"])
    if query.get("view") == "inside":
        place = {name: int(query[name]) for name in ("layer", "head", "row")}
        assert told["inside"]["place"] == {"kind": kind["code"], **place}
        assert query["pin"] == f"t{query['row']}", "the row that the browser asks for is that of the pinned word"
    assert told["steering"]["off"] == [[*one] for one in off(query)] if "steering" in told else not off(query)
    if "scale" in query:
        assert told["steering"]["positions"] == [float(query["scale"]), 0, query["stacks"]]
    assert view.read(query, []) == (view.View(text=query["text"], beam=int(query.get("beam", view.BEAM))), [])


@pytest.mark.parametrize(("name", "number"), STOPS)
def test_a_step_opens_its_page_with_its_settings(shipped_pages, name, number) -> None:
    step = LESSONS[name].steps[number - 1]
    at = open_link(tour.address(name, number))
    assert not at.exception and not at.error and not at.warning
    on_stage = step.page in ("", "steer")
    if on_stage:
        assert_on_stage(at, step.query)
    for key, value in () if on_stage else step.query.items():
        assert code(at.session_state[key]) == value, key
    written = [text.value for text in at.markdown]
    assert step.look in written and step.answer in written
    assert f"**{step.question}**" in written


def test_the_links_walk_through_every_lesson() -> None:
    for name, lesson in LESSONS.items():
        at = screen.open_page("lessons.py", tour=name)
        assert not at.exception and at.radio(key="tour").options == [one.name for one in LESSONS.values()]
        bodies = "".join(element.proto.body for element in at.get("html"))
        for number in range(1, len(lesson.steps) + 1):
            assert tour.address(name, number).replace("&", "&amp;") in bodies
    name, lesson = "warmup", words_lessons.WARMUP
    target, seen = tour.address(name, 1), []
    while target:
        seen.append(target)
        found = screen.links(open_link(target))
        assert found[words_lessons.END] == "./lessons"
        assert found.get(words_lessons.BACK) == (seen[-2] if len(seen) > 1 else None)
        target = found.get(words_lessons.NEXT)
    assert seen == [tour.address(name, number) for number in range(1, len(lesson.steps) + 1)]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_begins_with_its_picture(shipped_pages, name) -> None:
    at = screen.open_page("lessons.py", tour=name)
    assert not at.exception and list(screen.charts(at)) == ["picture"]


@pytest.mark.parametrize(
    "value", ["masks", "masks-0", "masks-99", "masks-²", "masks--1", "nonsense-1", "", "<script>-1", "x" * 5000]
)
def test_another_value_is_answered_in_a_sentence_and_the_page_stays(value) -> None:
    at = screen.open_page("masks.py", lesson=value)
    assert not at.exception
    assert screen.warnings(at) == [words_lessons.unknown(value)]
    assert at.title[0].value == "Masks"


def test_without_a_lesson_no_page_has_a_bar() -> None:
    assert "Next step" not in screen.links(screen.open_page("masks.py"))


# What the answers say of the model that ships.


def test_the_step_that_has_read_einem_and_writes_fahrrad_attends_to_bicycle(bicycle) -> None:
    row = bicycle.target_tokens.index("▁einem")
    weights = bicycle.attention("cross")[1, 4, row]
    assert bicycle.source_tokens[weights.argmax()] == "▁bicycle" and weights.max() > 0.5
    assert bicycle.predicted_tokens[row] == "▁Fahrrad"
    assert row == 5


def test_the_steps_of_the_head_that_is_opened_at_first_often_attend_to_one_or_two(shipped_pages, bicycle) -> None:
    cross = screen.stage(screen.open_app(text=words_lessons.BICYCLE))["kinds"][0]
    assert cross["code"] == "cross"
    weights = np.sort(bicycle.attention("cross")[tuple(cross["first"])])[:, ::-1]
    assert np.mean(weights[:, :2].sum(-1) > 0.8) >= 0.5


def test_what_scaling_does_to_the_cross_attention_of_the_sentence(bicycle) -> None:
    arrays = [inside.recorded(bicycle, "cross", layer) for layer in range(3)]
    answer = words_lessons.ATTENTION.steps[1].answer
    for switches, largest, gradient in ((inside.Switches(), "0.64", "0.27"), (inside.Switches(False), "0.93", "0.09")):
        rows = [
            inside.row(one, head, row, switches).weights for one in arrays for head in range(8) for row in range(11)
        ]
        assert f"{np.mean([weights.max() for weights in rows]):.2f}" == largest and largest in answer
        assert f"{np.mean([inside.softmax_gradient(weights) for weights in rows]):.2f}" == gradient
        assert gradient in answer
    assert inside.row(arrays[1], 4, 5, inside.Switches(False)).weights.max() > 0.99


def test_the_first_self_attention_head_looks_at_the_next_token(bicycle) -> None:
    weights = bicycle.attention("encoder_self")[0, 7]
    assert np.mean(weights.argmax(-1)[:-1] == np.arange(1, len(weights))) >= 0.75


def test_the_end_token_is_read_much_and_adds_little(shipped, bicycle) -> None:
    weights = bicycle.attention("cross")[2, 6]
    arrives = contribution.contributions(shipped.model, bicycle, "cross")[2, 6]
    arrives = arrives / arrives.sum(-1, keepdims=True)
    assert weights[:, -1].mean() > 0.25 > 2 * arrives[:, -1].mean()


def test_the_claims_that_rest_on_masks_are_those_with_controls(shipped, bicycle) -> None:
    found = check(shipped, bicycle)
    assert {one.claim for one in found if one.control is not None} == {"masked", "future", "padding"}
    assert len(found) == 10
    assert all(one.control > 1000 * one.allowed for one in found if one.control is not None)


def test_without_positions_in_the_encoder_nobody_knows_who_bites_whom(shipped) -> None:
    texts = [words_lessons.DOG, words_lessons.MAN]
    assert [shipped.translate(text).text for text in texts] == ["Der Hund beißt den Mann.", "Der Mann beißt den Hund."]
    lost = {position_experiments.translate(shipped, text, 0.0, 0, ("encoder",)).text for text in texts}
    assert len(lost) == 1


def test_the_columns_that_tell_beginning_from_end() -> None:
    table = sinusoidal(50, 64).numpy()  # as the page opens
    assert np.abs(np.diff(table[:, :2], axis=0)).max(1).min() > 0.4, "the first change at every step"
    falling = table[:, 21]
    assert falling[0] == 1 and (np.diff(falling) < 0).all() and f"{falling[-1]:.2f}" == "-0.93"
    assert np.ptp(table[:, -16:], axis=0).max() <= 0.05


def test_few_heads_have_one_role_and_that_of_the_last_layer_attends_to_the_previous_token() -> None:
    kinds = json.loads((CHECKPOINTS / "en-de" / "atlas.json").read_text())["kinds"]
    assert kinds["encoder_self"]["role"][2][0] == "previous token" and kinds["encoder_self"]["previous"][2][0] > 0.5
    roles = [role for kind in kinds.values() for layer in kind["role"] for role in layer]
    assert (roles.count("mixed"), len(roles)) == (46, 72)


def test_single_heads_can_be_spared_and_a_layer_cannot(shipped, bicycle) -> None:
    base = shipped.score(words_lessons.BICYCLE, bicycle)
    single = []
    for layer in range(3):
        for head in range(8):
            edits = Edits(off=(Head("cross", layer, head),))
            single.append(shipped.score(words_lessons.BICYCLE, bicycle, edits) - base)
            assert "Fahrrad" in shipped.translate(words_lessons.BICYCLE, edits=edits).text
    edits = Edits.from_code(words_lessons.WHOLE_LAYER)
    assert len(edits.off) == shipped.config.n_heads
    assert shipped.score(words_lessons.BICYCLE, bicycle, edits) - base < 3 * min(single) < 0
    without = shipped.translate(words_lessons.BICYCLE, edits=edits).text
    assert "Fahrrad" in without and without != bicycle.text


def test_how_many_heads_align_better_than_the_diagonal() -> None:
    sets = json.loads((CHECKPOINTS / "en-de" / "atlas.json").read_text())["alignment"]
    for name, at_output in (("alignment-de-en", 13), ("multi30k/test_2016_flickr", 1)):
        for read_at, expected in (("input", 1), ("output", at_output)):
            errors = np.array(sets[name]["aer"][read_at]["weights"]["heads"])
            assert errors.size == 24 and (errors < sets[name]["diagonal"]).sum() == expected


def test_the_peak_decides_whether_post_norm_learns_and_not_the_warmup_alone() -> None:
    found = grid.read_grid(CHECKPOINTS / grid.FOLDER)
    for warmup in grid.WARMUPS:
        learned, failed = (found.runs[grid.GridCell("post", peak, warmup)] for peak in (0.005, 0.1))
        assert learned.validation[grid.STEPS] < found.entropy - 1
        assert abs(failed.loss[-50:].mean() - found.entropy_smoothed) < 0.15, "it knows the frequencies of words only"


def test_the_gru_falls_off_where_attention_does_not_and_all_fall_at_last() -> None:
    bleu = {}
    for name in ("multi30k-de-en-gru", "multi30k-de-en-gru-attention", "multi30k-de-en"):
        scores = json.loads((CHECKPOINTS / name / "card.json").read_text())["scores"]
        by_length = next(score["by_length"] for score in scores.values() if "by_length" in score)
        bleu[name] = {round(group["words"]): group["bleu"] for group in by_length}
        assert bleu[name][21] < bleu[name][16] - 5
    rounded = {name: (f"{of[6]:.0f}", f"{of[16]:.0f}") for name, of in bleu.items()}
    assert rounded["multi30k-de-en-gru"] == ("31", "22") and rounded["multi30k-de-en-gru-attention"] == ("32", "30")
