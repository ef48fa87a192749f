"""Before and after an edit on the page Compare, and the links that lead there."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from model.interventions.edits import Cell, Edits, Force, Head
from tests.test_app import screen
from tests.test_app.test_compare import A, assert_shown, drawn, open_page
from viz.screens import words, words_compare
from viz.views.changes import prefix_code

VERSUS = words_compare.EDIT
EVERY = Edits(
    off=(Head("cross", 1, 2), Head("encoder_self", 0, 3)),
    uniform=(Head("decoder_self", 0, 1),),
    forced=(Force(1, 3, 0.75, ((0, 0), (1, 3))),),
    cells=(Cell("cross", 2, 1, False), Cell("encoder_self", 0, 4, False)),
)
CHANGES = "1 attention forced, 2 mask cells edited, 2 heads off, 1 head uniform"


def said(at):
    return [caption.value for caption in at.caption]


def link(at, label):
    """Where a link leads: the page, and what its address holds."""
    parts = urlsplit(screen.links(at)[label])
    return parts.path, dict(parse_qsl(parts.query, strict_parsing=True))


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_same_sentence_without_and_with_every_edit(recorded, kind):
    at = open_page(versus=VERSUS, edits=EVERY.code, kind=kind, layer="1", head="2")
    assert not at.warning and not at.info
    assert_shown(at, recorded.translate(A), recorded.translate(A, edits=EVERY), kind, 1, 2)
    assert "A: as it is" in screen.written(at) and f"B: {CHANGES}" in screen.written(at)


def test_a_search_and_a_locked_beginning_come_along(recorded):
    prefix = recorded.translate(A, beam=1).predicted_ids[:1]
    at = open_page(versus=VERSUS, edits=EVERY.code, prefix=prefix_code(prefix), beam="2", penalty="1.5")
    a = recorded.translate(A, beam=2, length_penalty=1.5)
    assert_shown(at, a, recorded.translate(A, 2, 1.5, EVERY, prefix))
    assert f"B: 1 token locked at the beginning, {CHANGES}" in screen.written(at)


def test_b_reads_the_very_tokens_of_a(recorded):
    at = open_page(versus=VERSUS, edits=EVERY.code, prefix="v1_300").toggle(key="same").set_value(True).run()
    a = recorded.translate(A)
    assert_shown(at, a, recorded.force(A, a, EVERY))
    assert drawn(at, "map-difference").shape == (len(a.target_tokens), len(a.source_tokens))
    assert words_compare.NO_PREFIX in said(at)


def test_a_cell_that_opens_the_future_is_read_only_with_a_given_translation(recorded):
    edits = Edits(cells=(Cell("decoder_self", 0, 2, True),))
    at = open_page(versus=VERSUS, edits=edits.code, kind="decoder_self")
    assert words_compare.READ_FUTURE in said(at) and not drawn(at, "map-difference").any()
    at = at.toggle(key="same").set_value(True).run()
    assert words_compare.READ_FUTURE not in said(at) and drawn(at, "map-b")[0, 2] > 0


def test_both_sides_read_a_reference(recorded):
    reference = "Ein Mann war müde."
    edits = Edits(off=(Head("cross", 0, 0),))
    at = open_page(versus=VERSUS, edits=edits.code, mode=words.FORCED, reference=reference)
    assert_shown(at, recorded.force(A, reference), recorded.force(A, reference, edits))
    assert at.toggle(key="same").disabled
    at = at.text_input(key="reference").set_value(" ").run()
    assert at.warning[0].value.startswith("There is no reference to read") and not at.exception
    assert_shown(at, recorded.force(A, reference), recorded.force(A, reference, edits))


def test_without_an_edit_the_page_says_where_they_are_made(recorded):
    at = open_page(versus=VERSUS, text="A dog runs.")
    assert words_compare.NO_EDIT in said(at) and not drawn(at, "map-difference").any()
    assert link(at, "Heads") == ("./heads", {"text": "A dog runs."})  # what is so anyway is left out


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ("<b>x</b>", "The code of edits begins with 'v1', got '<b>x</b>'."),
        ("v1_oc9-0", "Layers of the cross-attention are 0 to 1, got layer 9."),
        ("v1_f1-99-1", "Columns of the cross-attention are 0 to"),
    ],
)
def test_edits_that_cannot_be_made_are_told_and_the_last_comparison_stays(recorded, edits, sentence):
    at = open_page(versus=VERSUS, edits=EVERY.code)
    at = at.text_input(key="edits").set_value(edits).run()
    (said,) = screen.warnings(at)
    assert said.startswith(sentence)
    assert "Shown below: the last two that could be compared." in said
    assert_shown(at, recorded.translate(A), recorded.translate(A, edits=EVERY))
    fresh = open_page(versus=VERSUS, edits=edits)
    assert "Shown below: the examples." in fresh.warning[0].value and not fresh.exception


def test_the_page_of_heads_leads_here_with_what_it_shows(recorded):
    edits = Edits(off=EVERY.off, uniform=EVERY.uniform)
    query = {"edits": edits.code, "beam": "1", "kind": "decoder_self", "layer": "1", "text": "A man is tired."}
    there = screen.open_page("heads.py", **query)
    to, query = link(there, words_compare.TO_COMPARE)
    assert to == "./compare" and query["versus"] == VERSUS and query["edits"] == edits.code
    at = open_page(**query)
    a, b = (recorded.translate("A man is tired.", beam=1, edits=some) for some in (Edits(), edits))
    assert_shown(at, a, b, "decoder_self", int(query.get("layer", 0)))
    back, query = link(at, "Heads")
    again = screen.open_page("heads.py", **query)
    assert back == "./heads" and again.session_state["edits"] == edits.code
    assert a.text in screen.written(again) and b.text in screen.written(again)


def test_a_reference_comes_along(recorded):
    reference = "Ein Mann war müde."
    edits = Edits(off=(Head("cross", 0, 0),))
    there = screen.open_page("heads.py", edits=edits.code, mode=words.FORCED, reference=reference)
    _, query = link(there, words_compare.TO_COMPARE)
    assert_shown(open_page(**query), recorded.force(A, reference), recorded.force(A, reference, edits))


def test_a_head_that_the_page_does_not_ask_for_and_the_lesson_come_along(recorded):
    query = {"kind": "encoder_self", "layer": "1", "head": "2", "lesson": "heads-3"}
    heads_only = Edits(off=EVERY.off)
    there = screen.open_page("heads.py", edits=heads_only.code, **query)
    _, asked = link(there, words_compare.TO_COMPARE)
    assert {name: asked.get(name) for name in query} == query
    assert link(open_page(**asked), "Heads")[1]["lesson"] == "heads-3"
    _, asked = link(screen.open_page("heads.py", edits=heads_only.code, lesson="x"), words_compare.TO_COMPARE)
    assert "lesson" not in asked


def test_nothing_changed_leads_nowhere():
    assert words_compare.TO_COMPARE not in screen.links(screen.open_page("heads.py"))


def test_the_difference_is_what_the_edit_did(recorded):
    edits = Edits(off=(Head("cross", 0, 0),))
    at = open_page(versus=VERSUS, edits=edits.code, same="1")
    a = recorded.translate(A)
    np.testing.assert_allclose(drawn(at, "map-difference"), a.attention("cross")[0, 0], atol=1e-6)
    assert drawn(at, "moved")[0, 0] == pytest.approx(0.5, abs=1e-6), "a head that is off reads nothing any more"
