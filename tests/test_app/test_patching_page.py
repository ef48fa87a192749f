"""Patching on the page Compare: what the stage is sent, fetches and does, against the API."""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from model import HeadPatch
from model.interventions.patches import WHAT, StreamPatch
from model.running.patching import Patching
from model.running.translator import Translator
from tests.support.messages import unpack
from tests.test_app import screen
from viz.stage import assets
from viz.views.cached import Request
from viz.views.jobs import Stopped
from viz.views.results import patching_results
from viz.views.results.patching_results import Patchings, TextsRequest

A, B = "A man is tired.", "A man is too tired."


def open_page(**query):
    at = screen.open_page("compare.py", **({"text": A, "text-b": B} | query))
    assert not at.exception and not at.error
    return at


def patching_of(recorded: Translator, **settings: Any) -> Patching:
    return recorded.patching(recorded.translate(A), recorded.translate(B), **settings)


def comparing(at) -> dict[str, Any]:
    return screen.message(at)["comparing"]


def fetch(address: str, **query: str) -> dict[str, Any]:
    """What a browser gets that asks for a part."""
    data = assets._ANSWERS[urlsplit(address).path.rpartition("/")[2]](query)
    assert data is not None
    return unpack(data)


def assert_heads(heads: dict[str, Any], patching: Patching, what: str) -> None:
    assert list(heads) == patching.kinds
    for kind in patching.kinds:
        np.testing.assert_allclose(heads[kind][what], patching.heads(kind, what), atol=1e-6)


@pytest.mark.parametrize("into", ["", "a"])
def test_the_stage_is_sent_what_the_api_measures(recorded: Translator, into: str) -> None:
    expected = patching_of(recorded, reverse=bool(into))
    payload = comparing(open_page(**({"into": into} if into else {})))["patching"]
    assert tuple(payload["words"]) == expected.words and payload["reverse"] == bool(into)
    assert [payload["clean"], payload["corrupted"]] == pytest.approx([expected.clean, expected.corrupted])
    assert_heads(payload["heads"], expected, "both")
    for side in expected.sides:
        np.testing.assert_allclose(payload["streams"][side], expected.streams(side), atol=1e-6)
        assert payload["tokens"][side] == expected.tokens(side)
        assert payload["unaligned"][side] == expected.unaligned(side)
    assert into or payload["unaligned"]["encoder"], "B has a word more"
    assert payload["donor"] == (B if into else A) and payload["estimate"] is False
    for what in WHAT[1:]:
        assert_heads(fetch(payload["address"], part=f"heads {what}")["heads"], expected, what)
    sublayers = fetch(payload["address"], part="sublayers")["sublayers"]
    for side in expected.sides:
        for name, shares in expected.sublayers(side).items():
            np.testing.assert_allclose(sublayers[side][name], shares, atol=1e-6)


def test_a_click_changes_b_for_real_and_an_address_does_the_same(recorded: Translator) -> None:
    expected = patching_of(recorded)
    head, cell = HeadPatch("cross", 1, 2, "weights"), StreamPatch("encoder", 1, 0)
    at = open_page()
    for patch in (head, cell):
        at = screen.do(at, "patch", code=patch.code)
    old, new = recorded.translate(B), recorded.translate(B, edits=expected.edits(head, cell))
    assert_shown(at, old, new)
    address = screen.stage(at)["address"]
    assert address["patch"] == "v1_pwc1-2_se1-0"
    assert_shown(open_page(**address), old, new)
    at = screen.do(at, "patch", code=HeadPatch("cross", 1, 2).code)  # another part of the same head takes its place
    assert screen.stage(at)["address"]["patch"] == "v1_pc1-2_se1-0"
    for code in comparing(at)["patched"]["codes"]:
        at = screen.do(at, "drop", code=code)
    assert comparing(at)["patched"] is None and "patch" not in screen.stage(at)["address"]
    payload = screen.stage(at)
    assert (payload["before"]["translation"], payload["translation"]) == (recorded.translate(A).text, old.text)


def assert_shown(at, old, new) -> None:
    """B as it was and with the patches: what is written, and all maps."""
    payload = screen.stage(at)
    assert (payload["before"]["translation"], payload["translation"]) == (old.text, new.text)
    for version, result in ((payload["before"], old), (payload, new)):
        for entry in version["kinds"]:
            np.testing.assert_allclose(entry["weights"], result.attention(entry["code"]), atol=2e-5)


def test_the_code_measures_what_is_shown_and_makes_what_is_written(recorded: Translator) -> None:
    at = screen.do(open_page(), "patch", code="pc1-2")
    code = comparing(at)["patching"]["code"].replace("{what}", "both")
    variables: dict[str, Any] = {}
    exec(code, variables)
    expected = patching_of(recorded)
    np.testing.assert_allclose(variables["patching"].heads("cross"), expected.heads("cross"))
    program = screen.message(at)["after"]["program"]
    exec("\n".join([*program["imports"], *program["lines"]]), variables)
    assert variables["result"].text == recorded.translate(B, edits=expected.edits(HeadPatch("cross", 1, 2))).text


@pytest.mark.parametrize(
    "query, reason",
    [
        ({"text-b": A}, None),  # which the page says already
        ({"versus": "search", "beam-b": "2", "reference": "Ein Mann war müde."}, "Both texts give the same output"),
        ({"reference": "Ein Mann war müde."}, "Both texts give the same output"),
    ],
)
def test_texts_that_cannot_be_patched_are_compared_and_one_sentence_says_why(query: dict, reason: str | None) -> None:
    at = open_page(**query)
    payload = comparing(at).get("patching")
    assert payload is None if reason is None else payload["reason"].startswith(reason)
    assert len(screen.stage(at)["kinds"]) == 3


@pytest.mark.parametrize("code", ["rubbish", "v1_pc9-9", "v1_oc0-0", "v1_se1-99", "v1_pc0-0_pwc0-0"])
def test_what_cannot_be_put_there_is_one_sentence_beside_the_comparison(recorded: Translator, code: str) -> None:
    at = open_page(patch=code)
    assert comparing(at)["patched"]["problem"] and not comparing(at)["patched"]["codes"]
    assert "patched" not in screen.message(at)["words"]["forms"], "A and B are shown, and named so"
    payload = screen.stage(at)
    assert (payload["before"]["translation"], payload["translation"]) == tuple(
        recorded.translate(text).text for text in (A, B)
    )


@pytest.mark.parametrize(
    "action", [{"do": "patch"}, {"do": "patch", "code": "pc0-0_pc0-1"}, {"do": "off", "code": "pc0-0"}]
)
def test_an_action_that_is_none_of_these_is_one_sentence(action: dict) -> None:
    at = screen.do(open_page(), action["do"], **{name: value for name, value in action.items() if name != "do"})
    assert not at.exception and comparing(at)["patched"]["problem"]


def test_a_pair_is_opened_from_the_menu_and_goes_with_the_model_only() -> None:
    at = screen.open_page("compare.py")
    last = [pair for pair in patching_results.PAIRS if pair.model == "en-de"][-1]
    at = next(button for button in at.button if button.label == last.title).click().run()
    assert [at.text_input(key=key).value for key in ("sentence", "text-b")] == [last.clean, last.corrupted]


@pytest.mark.usefixtures("recorded")
def test_a_part_is_measured_once_tells_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = TextsRequest(Request(A, "en-de"), Request(B, "en-de"))
    store = Patchings()
    begun, looked = threading.Event(), threading.Event()
    calls = []

    def compute(patching: Patching, progress) -> dict[str, Any]:
        calls.append(patching)
        progress(0.5)
        begun.set()
        assert looked.wait(10)
        progress(1.0)
        return {"streams": {}}

    monkeypatch.setitem(patching_results.COMPUTE, "streams", compute)
    problems = []

    def ask() -> None:
        try:
            store.get(texts, ["streams"])
        except Stopped as error:
            problems.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(60) and store.share(texts, "streams") == 0.5
    store.stop(texts, "streams")
    looked.set()
    thread.join(10)
    assert len(problems) == 1
    assert store.get(texts, ["streams"]) == store.get(texts, ["streams"]) == {"streams": {}}
    assert len(calls) == 2, "once in vain, once for good"
