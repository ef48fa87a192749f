"""The search tree: where nodes stand, what tells their fates apart, what a hover text says."""

import html

import numpy as np
import pytest

from viz.figures import search_tree
from viz.text.language import say, using

#     0 <s>
#   1 A    2 b    3 c (pruned)
#   4 </s> (from 2)  5 d (from 1)  6 </s> (from 1, pruned)
PARENTS = [-1, 0, 0, 0, 2, 1, 1]
TOKENS = ["<s>", "A", "b", "c", "</s>", "d", "</s>"]
FATES = ["kept", "kept", "kept", "pruned", "finished", "kept", "pruned"]
LOGS = np.log([1, 0.5, 0.4, 0.1, 0.9, 0.6, 0.2])
LOOKED = np.array([[0, 0, 0, 0]] + [[0.1, 0.2, 0.3, 0.4]] * 3 + [[0.7, 0.1, 0.15, 0.05]] * 3)
KEYS = ["x", "<b>", "x", "y"]


def tree(**more):
    return search_tree(LOGS, PARENTS, TOKENS, FATES, **more)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def on_nodes(line):
    """The nodes (rank, row) that a line touches, in order: between rows it only turns."""
    return [(round(float(x)), int(y)) for x, y in zip(line.x, line.y, strict=True) if y == np.round(y)]


def test_lines_of_two_parents_never_lie_on_each_other():
    solid = next(trace for trace in tree().data if trace.mode == "lines" and trace.line.dash is None)
    dotted = next(trace for trace in tree().data if trace.mode == "lines" and trace.line.dash == "dot")
    heights = {(int(y), float(y)) for line in (solid, dotted) for y in line.y if not np.isnan(y) and y != np.round(y)}
    # row 0: one parent; row 1: A goes to ranks 1 and 2, b to rank 0
    assert sorted(row for row, _ in heights) == [0, 1, 1]
    assert all(0.3 < height - row < 0.7 for row, height in heights)


def test_nodes_stand_at_their_step_and_rank():
    by_fate = traces(tree())
    places = {
        node: (x, y)
        for fate in ("kept", "finished", "pruned")
        for (node,), x, y in zip(by_fate[fate].customdata, by_fate[fate].x, by_fate[fate].y, strict=True)
    }
    # sums: A .5, b .4, c .1; then b</s> .36, Ad .3, A</s> .1
    assert places == {0: (0, 0), 1: (0, 1), 2: (1, 1), 3: (2, 1), 4: (0, 2), 5: (1, 2), 6: (2, 2)}
    figure = tree()
    assert figure.layout.yaxis.range == (2.5, -0.5), "step 0 is on top"
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "3"]


def test_fates_differ_without_colour():
    by_fate = traces(tree())
    assert len({by_fate[fate].marker.symbol for fate in ("kept", "finished", "pruned")}) == 3
    edges = [trace for trace in tree().data if trace.mode == "lines"]
    assert {edge.line.dash for edge in edges} == {None, "dot"}
    dotted = next(edge for edge in edges if edge.line.dash == "dot")
    assert on_nodes(dotted) == [(0, 0), (2, 1), (0, 1), (2, 2)], "to c and to A </s>"


def test_the_best_score_marks_its_path():
    for scores, way in (({4: -0.2, 6: -0.9}, {4, 2, 0}), ({4: -0.9, 6: -0.2}, {6, 1, 0})):
        line = traces(tree(scores=scores))["best path"]
        points = set(on_nodes(line))
        everything = [trace for trace in tree().data if trace.mode == "markers+text"]
        places = {n: (x, y) for t in everything for (n,), x, y in zip(t.customdata, t.x, t.y, strict=True)}
        assert points == {places[node] for node in way}
    assert "best path" not in traces(tree())


def test_hover_says_probability_sum_score_and_what_was_looked_at():
    figure = tree(scores={4: -0.5, 6: -0.25}, looked_at=LOOKED, keys=KEYS)
    (text,) = traces(figure)["finished"].hovertext
    lines = html.unescape(text.replace("<br>", "\n")).split("\n")
    assert lines == [
        "2 “</s>”, finished",
        f"log-probability {np.log(0.9):.3f} (90.0%)",
        f"sum so far {np.log(0.36):.3f}",
        "score -0.500, number 2 of 2",
        "its step attended to 0 “x” 0.70 · 2 “x” 0.15 · 1 “<b>” 0.10",
    ]
    assert traces(figure)["kept"].hovertext[0] == "0 “&lt;s&gt;”, kept", "no step wrote the start token"
    assert traces(figure)["finished"].text[0] == f"&lt;/s&gt;<br>−{-np.log(0.9):.2f}"


def test_some_steps_only():
    figure = tree(steps=(2, 2))
    assert {node for trace in figure.data for (node,) in trace.customdata or ()} == {4, 5, 6}
    assert not [trace for trace in figure.data if trace.mode == "lines"]
    assert figure.layout.yaxis.range == (2.5, 1.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fates": ["kept"]}, "fates has 1 labels"),
        ({"looked_at": LOOKED}, "keys has 0 labels for 4 entries"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    arguments = {"log_probabilities": LOGS, "parents": PARENTS, "tokens": TOKENS, "fates": FATES} | changes
    with pytest.raises(ValueError, match=message):
        search_tree(**arguments)


def test_the_byte_that_completes_a_character_is_named_by_it():
    tokens = ["<s>", "<0xC3>", "b", "<0xA9>", "</s>", "<0xA4>", "<0x41>"]
    by_fate = traces(search_tree(LOGS, PARENTS, tokens, FATES))
    kept_texts = dict(zip((node for (node,) in by_fate["kept"].customdata), by_fate["kept"].text, strict=True))
    assert [kept_texts[node].split("<br>")[0] for node in (1, 5)] == ["&lt;0xC3&gt;", "ä 2/2"]
    pruned_texts = dict(zip((node for (node,) in by_fate["pruned"].customdata), by_fate["pruned"].text, strict=True))
    assert [pruned_texts[node].split("<br>")[0] for node in (3, 6)] == ["&lt;0xA9&gt;", "A"], "whatever came before"


def test_weights_in_hover_texts_are_written_as_the_language_does():
    with using("de"):
        texts = [text for trace in tree(looked_at=LOOKED, keys=KEYS, say=say).data for text in trace.hovertext or ()]
    assert sum(" 0,40 · " in text for text in texts) == 3 and not any(" 0.40" in text for text in texts)
