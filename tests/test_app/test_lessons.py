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
    at = screen.open_page("lessons.py")
    assert not at.exception
    assert [heading.value for heading in at.subheader] == [lesson.name for lesson in LESSONS.values()]
    bodies = "".join(element.proto.body for element in at.get("html"))
    for name, number in STOPS:
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


def test_without_scaling_entropy_and_gradient_are_nearly_0(bicycle) -> None:
    arrays = inside.recorded(bicycle, "cross", 1)
    plain, unscaled = (inside.row(arrays, 4, 5, switches) for switches in (inside.Switches(), inside.Switches(False)))

    def entropy(weights) -> float:
        return float(-(weights * np.log(weights + 1e-30)).sum())

    assert entropy(plain.weights) > 0.2 and entropy(unscaled.weights) < 0.01
    assert inside.softmax_gradient(plain.weights) > 0.05 and inside.softmax_gradient(unscaled.weights) < 0.005


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


def test_the_head_of_the_last_layer_reads_the_previous_token() -> None:
    kinds = json.loads((CHECKPOINTS / "en-de" / "atlas.json").read_text())["kinds"]["encoder_self"]
    assert kinds["role"][2][0] == "previous token" and kinds["previous"][2][0] > 0.5


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


def test_some_heads_align_far_better_than_others() -> None:
    sets = json.loads((CHECKPOINTS / "en-de" / "atlas.json").read_text())["alignment"]
    errors = np.array(next(iter(sets.values()))["aer"]["output"]["weights"]["heads"])
    assert errors.max() - errors.min() > 0.25


def test_what_the_recorded_runs_show() -> None:
    runs = {}
    for path in (CHECKPOINTS / "runs").glob("*/history.jsonl"):
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        runs[path.parent.name] = [entry for entry in entries if "loss" in entry]
    assert len(runs) == 6
    ends = {name: np.mean([entry["loss"] for entry in entries[-20:]]) for name, entries in runs.items()}
    assert max(ends, key=ends.get) == "no-warmup" and ends.pop("no-warmup") > 6
    assert max(ends, key=ends.get) == "pre-norm-no-warmup"
    norms = {
        name: np.array([entry["gradient_norm"] for entry in entries if 300 <= entry["step"] <= 1000])
        for name, entries in runs.items()
    }
    failed = norms.pop("no-warmup").mean()
    assert all(failed < other.mean() for other in norms.values())


def test_the_gru_falls_off_with_the_length() -> None:
    scores = json.loads((CHECKPOINTS / "multi30k-de-en-gru" / "card.json").read_text())["scores"]
    by_length = next(score["by_length"] for score in scores.values() if "by_length" in score)
    groups = [group for group in by_length if group["sentences"] >= 30]
    assert groups[0]["bleu"] > groups[-1]["bleu"] + 5
