"""The tree of a beam search: what was kept, what ended, what was pruned."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.figure import Figure, build_figure, dots, polylines
from viz.figures.labels import Say, english, message
from viz.figures.tables import LineWithTexts, Points

# Symbol, size and colour of a node.
FATES = {
    message("kept"): ("circle", 7, theme.LINES[0]),
    message("finished"): ("star", 12, theme.LINES[2]),
    message("pruned"): ("x-thin", 8, theme.LINES[6]),
}
ROW_HEIGHT = 64  # pixels
CHANNELS = (0.34, 0.66)  # between two rows, where lines turn
ASIDE = 0.04  # columns that a line leaves right of a node and comes in left of it, so that no two look like one
_EDGE = {"color": "#8c8c8c", "width": theme.LINE_WIDTH}


class _Tree:
    """Where the nodes stand: in the row `step`, their number of tokens, and the column `rank`."""

    def __init__(self, parents: Sequence[int], gains: np.ndarray) -> None:
        self.parents = np.array(parents, int)
        self.gains = gains.astype(np.float64)
        self.totals, (self.step, self.rank) = self.gains.copy(), np.zeros((2, len(gains)), int)
        for node, parent in enumerate(self.parents[1:], 1):
            self.step[node] = self.step[parent] + 1
            self.totals[node] += self.totals[parent]
        self.width = np.bincount(self.step)  # nodes of each row
        ranks: list[np.ndarray] = [np.arange(n) for n in self.width]
        self.rank[np.lexsort((-self.totals, self.step))] = np.concatenate(ranks)

    def path(self, node: int) -> list[int]:
        return [node, *self.path(self.parents[node])] if node >= 0 else []

    def lines(self, nodes: np.ndarray, name: str, **line: Any) -> go.Scatter:
        """Each parent's lines turn at a height of their own: those of two parents never lie on each other."""
        (x0, x1), (y0, y1) = ([row[self.parents[nodes]], row[nodes]] for row in (self.rank, self.step))
        turn = y0 + CHANNELS[0] + (CHANNELS[1] - CHANNELS[0]) * (x0 + 0.5) / self.width[y0]
        left, right = x0 + ASIDE * (x0 != x1), x1 - ASIDE * (x0 != x1)
        points = polylines([left, left, right, right], [y0, turn, turn, y1])
        return go.Scatter(**points, mode="lines", line=line, name=name, showlegend=bool(name), hoverinfo="skip")


def search_tree(
    log_probabilities: np.ndarray,
    parents: Sequence[int],
    tokens: Sequence[str],
    fates: Sequence[str],
    *,
    scores: Mapping[int, float] | None = None,
    looked_at: np.ndarray | None = None,
    keys: Sequence[str] | None = None,
    steps: tuple[int, int] | None = None,
    say: Say = english,
) -> Figure:
    """Draw the tree of a beam search: row n from the top holds the candidates for the n-th token, by their rank.

    The last traces are the nodes, one per fate, with customdata = [number].

    Args:
        log_probabilities: float (N,), of each token after its parents; node 0 is the start token.
        parents: N numbers of the node before, smaller than the node's own; -1 for node 0.
        fates: N keys of FATES.
        scores: by finished node; the largest marks the best path.
        looked_at: float (N, S), what the step that wrote each node attended to of S keys.
        steps: the first and the last row to draw.
    """
    log_probabilities = checks.as_float("log_probabilities", log_probabilities, "N")
    n = len(log_probabilities)
    tokens = checks.as_tokens("tokens", tokens, n)
    fates = checks.as_tokens("fates", fates, n)
    fate_of_node = np.array(fates)
    tree = _Tree(parents, log_probabilities)
    scores = scores or {}
    tokens = [_name(tokens, node, tree) for node in range(n)]
    texts = _hover_texts(tree, tokens, fates, scores, say)
    if looked_at is not None:
        _add_largest_keys(texts, checks.as_probabilities("looked_at", looked_at, "NS"), keys or [], say)
    first, last = steps or (0, int(tree.step.max()))
    visible_nodes = np.flatnonzero((tree.step >= first) & (tree.step <= last))
    later = visible_nodes[tree.step[visible_nodes] > first]
    best = np.isin(np.arange(n), tree.path(max(scores, key=scores.__getitem__)) if scores else [])
    traces = _edges(tree, later, fate_of_node == "pruned", best, say)
    nodes, points = _nodes(tree, visible_nodes, fate_of_node, tokens, texts, say)
    n_columns = int(tree.rank[visible_nodes].max(initial=0)) + 1
    columns = [str(rank + 1) for rank in range(n_columns)]
    numbers = [str(step) for step in range(last + 1)]
    across, down = [-0.25, n_columns - 0.15], [last + 0.5, first - 0.5]
    return build_figure(
        [*traces, *nodes],
        (last - first + 1) * ROW_HEIGHT,
        say,
        left=theme.TICK_SIZE + theme.AXIS_HEIGHT,
        top=theme.LEGEND_HEIGHT,
        xaxis=heatmap.axis(columns, say("rank among these candidates"), step=1, fixedrange=True, range=across),
        yaxis=heatmap.axis(numbers, say("tokens written"), step=1, fixedrange=True, range=down),
        dragmode=False,
        description=say(
            "Row n: the candidates for the n-th token, by rank; {kept} kept, {finished} finished, {pruned} pruned.",
            **{fate: np.count_nonzero(fate_of_node == fate) for fate in FATES},
        ),
        table=Points(points),
    )


def _edges(tree: _Tree, nodes: np.ndarray, is_pruned: np.ndarray, is_best: np.ndarray, say: Say) -> list[go.Scatter]:
    """The lines that lead to nodes, dotted to those that were pruned, and over them the best path."""
    kinds = (
        (~is_pruned, "", _EDGE),
        (is_pruned, "", _EDGE | {"width": 1, "dash": "dot"}),
        (is_best, say("best path"), theme.SELECTED),
    )
    return [tree.lines(nodes[is_drawn[nodes]], name, **line) for is_drawn, name, line in kinds if is_drawn[nodes].any()]


def _nodes(
    tree: _Tree, visible: np.ndarray, fates: np.ndarray, tokens: Sequence[str], texts: Sequence[str], say: Say
) -> tuple[list[go.Scatter], list[LineWithTexts]]:
    """The nodes of each fate with their tokens and log-probabilities, and the same as lines of the table.

    Args:
        visible: the numbers of the nodes that are drawn.
        fates, tokens, texts: of all N nodes; texts are those on hover.
    """
    gains = ["", *(say("{x:.2f}", x=x) for x in tree.gains[1:])]
    below = [f"<br>{number.replace('-', '−')}" if number else "" for number in gains]
    look_of_text = {"mode": "markers+text", "textposition": "middle right", "showlegend": True}
    traces: list[go.Scatter] = []
    points: list[LineWithTexts] = []
    for fate, look in FATES.items():
        nodes: list[int] = visible[fates[visible] == fate].tolist()
        ranks, steps = tree.rank[nodes], tree.step[nodes]
        trace = dots(ranks, steps, [[node] for node in nodes], say(fate), look, "%{hovertext}", **look_of_text)
        text = [labels.tick_text(tokens[node]) + below[node] for node in nodes]
        trace.update(text=text, hovertext=[texts[node] for node in nodes], textfont_size=theme.TICK_SIZE)
        traces.append(trace)
        points.append((say(fate), ranks, steps, [f"{tokens[node]} {gains[node]}".strip() for node in nodes]))
    return traces, points


def _add_largest_keys(texts: list[str], looked_at: np.ndarray, keys: Sequence[str], say: Say) -> None:
    """Add to the text of each node which keys the step that wrote it attended to most, of weights (N, S)."""
    names = labels.hover_texts(labels.spell_bytes(checks.as_tokens("keys", keys, looked_at.shape[1])), say)
    for node in np.flatnonzero(looked_at.any(axis=1)):
        largest = np.argsort(-looked_at[node], kind="stable")[:3]
        largest_keys = " · ".join(f"{names[key]} {say('{x:.2f}', x=looked_at[node, key])}" for key in largest)
        texts[node] += "<br>" + say("its step attended to {tokens}", tokens=largest_keys)


def _name(tokens: Sequence[str], node: int, tree: _Tree) -> str:
    """The name of a node's token; the last byte of a character is named by it."""
    if not labels.is_byte(tokens[node]):
        return tokens[node]
    path = [tokens[place] for place in reversed(tree.path(node))]
    return labels.spell_bytes(path)[-1]


def _hover_texts(
    tree: _Tree, tokens: list[str], fates: Sequence[str], scores: Mapping[int, float], say: Say
) -> list[str]:
    texts: list[str] = []
    order = sorted(scores, key=lambda node: -scores[node])
    for node, token in enumerate(tokens):
        lines = [f"{labels.hover_text(token, tree.step[node], say)}, {say(fates[node])}"]
        if node:
            log = tree.gains[node]
            lines.append(say("log-probability {log:.3f} ({probability:.1%})", log=log, probability=np.exp(log)))
            lines.append(say("sum so far {sum:.3f}", sum=tree.totals[node]))
        if node in scores:
            place = {"rank": order.index(node) + 1, "total": len(order)}
            lines.append(say("score {score:.3f}, number {rank} of {total}", score=scores[node], **place))
        texts.append("<br>".join(lines))
    return texts


def column_width(tokens: Sequence[str]) -> int:
    """Pixels that a column needs for its widest token or a number under it."""
    return round(max(labels.tick_width(tokens), 60)) + 26
