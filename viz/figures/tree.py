"""The tree of a beam search: what was kept, what ended, what was pruned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.tables import Points
from viz.figures.wording import Say, english, message, separated

KEPT, FINISHED, PRUNED = message("kept"), message("finished"), message("pruned")
FATES = (KEPT, FINISHED, PRUNED)
ROW_HEIGHT = 64  # pixels of a row: a token, a number under it, and room for the lines to the next row
CHANNELS = (0.34, 0.66)  # between two rows, where lines turn: labels take the rest
ASIDE = 0.04  # columns that a line leaves right of a node and comes in left of it, so that no two look like one
COLUMN_ROOM = 26  # pixels of a column beside its widest token
NUMBER_WIDTH = 60  # pixels of a number under a token
LOOKED_AT = 3  # source tokens that a hover text names
_SYMBOLS = {KEPT: "circle", FINISHED: "star", PRUNED: "x-thin"}
_SIZES = {KEPT: 9, FINISHED: 14, PRUNED: 8}
_COLORS = {KEPT: theme.LINES[0], FINISHED: theme.LINES[2], PRUNED: theme.LINES[6]}
_EDGE = "#8c8c8c"
_BEST_WIDTH = 4


@dataclass(frozen=True)
class _Tree:
    """Where the nodes stand: in the row of their number of tokens, in the column of their rank."""

    parents: list[int]
    step: np.ndarray
    rank: np.ndarray
    totals: np.ndarray
    width: np.ndarray  # nodes of each row

    @classmethod
    def of(cls, parents: list[int], log_probabilities: np.ndarray) -> "_Tree":
        """Lay the nodes out."""
        n = len(parents)
        step, totals = np.zeros(n, int), log_probabilities.astype(np.float64)
        for node in range(1, n):
            step[node] = step[parents[node]] + 1
            totals[node] += totals[parents[node]]
        rank = np.zeros(n, int)
        for one in range(step.max() + 1):
            nodes = np.flatnonzero(step == one)
            rank[nodes[np.argsort(-totals[nodes], kind="stable")]] = range(len(nodes))
        return cls(parents, step, rank, totals, np.bincount(step))

    def path(self, node: int) -> list[int]:
        """The nodes from a node up to the root."""
        nodes = [node]
        while self.parents[nodes[-1]] >= 0:
            nodes.append(self.parents[nodes[-1]])
        return nodes

    def edges(self, nodes: Sequence[int]) -> dict[str, np.ndarray]:
        """Lines from the parents of nodes to the nodes, with gaps between them."""
        xs: list[float] = []
        ys: list[float] = []
        first, last = CHANNELS
        for node in nodes:
            parent = self.parents[node]
            (x0, y0), (x1, y1) = ((float(self.rank[one]), float(self.step[one])) for one in (parent, node))
            if x0 == x1:
                xs += [x0, x1, np.nan]
                ys += [y0, y1, np.nan]
                continue
            # Every parent turns at a height of its own, so that lines of two parents never lie on each other.
            channel = y0 + first + (last - first) * (x0 + 0.5) / self.width[self.step[parent]]
            xs += [x0 + ASIDE, x0 + ASIDE, x1 - ASIDE, x1 - ASIDE, np.nan]
            ys += [y0, channel, channel, y1, np.nan]
        return {"x": np.array(xs, np.float32), "y": np.array(ys, np.float32)}


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
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw the tree of a beam search: row n from the top holds the candidates for the n-th token, by their rank.

    Kept, finished and pruned nodes differ in symbol and in the line that leads to them; the best path is a thick line.
    Every node has customdata = [its number], for clicks.

    Args:
        log_probabilities: float (N,), of each token after its parents; node 0 is the start token.
        parents: N numbers of the node before, smaller than the node's own; -1 for node 0.
        tokens: N tokens.
        fates: N words of FATES.
        scores: of finished nodes, by node; the largest marks the best path.
        looked_at: float (N, S), how much the step that wrote each node read of each source token; the hover text names
            the largest. A row of zeros names none.
        keys: S source tokens, with looked_at.
        steps: the first and the last row to draw; all otherwise.
        title: text above the tree.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; the last traces are the nodes, one a fate.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, log-probabilities above 0, parents that do not come before
            their nodes, and other fates.
    """
    log_probabilities = checks.as_float("log_probabilities", log_probabilities, "N")
    n = len(log_probabilities)
    if log_probabilities.max() > checks.TOLERANCE:
        raise ValueError(f"log_probabilities has {log_probabilities.max():.6g}; allowed are numbers up to 0.")
    tokens = checks.as_tokens("tokens", tokens, n, "nodes")
    fates = checks.as_tokens("fates", fates, n, "nodes")
    tree = _Tree.of(_checked_parents(parents, n), log_probabilities)
    wrong = [fate for fate in fates if fate not in FATES]
    if wrong:
        raise ValueError(f"the fate {wrong[0]!r} is unknown; allowed are {', '.join(FATES)}.")
    scores = dict(scores or {})
    first, last = (0, int(tree.step.max())) if steps is None else steps
    drawn = [node for node in range(n) if first <= tree.step[node] <= last]
    texts = _hover_texts(tree, tokens, fates, log_probabilities, scores, _looked(looked_at, keys, n, say), say)
    below = [node for node in drawn if tree.step[node] > first]
    traces = _edges(tree, below, fates, max(scores, key=scores.__getitem__) if scores else None, say)
    nodes = {fate: [i for i in drawn if fates[i] == fate] for fate in FATES}
    traces += [_nodes(tree, fate, some, tokens, texts, say) for fate, some in nodes.items()]
    named = [say("{token}, {x:.2f}", token=token, x=_added(tree, i)) if i else token for i, token in enumerate(tokens)]
    written = {fate: [named[i] for i in nodes[fate]] for fate in FATES}
    return Drawn(
        traces,
        _layout(tree, drawn, (first, last), title, say),
        description=say(
            "Row n holds the candidates for the n-th token, by rank; lines lead from each token to what followed it: "
            "{kept} kept, {finished} finished, {pruned} pruned.",
            kept=fates.count(KEPT),
            finished=fates.count(FINISHED),
            pruned=fates.count(PRUNED),
        ),
        table=Points([(say(fate), tree.rank[some], tree.step[some], written[fate]) for fate, some in nodes.items()]),
    )


def _checked_parents(parents: Sequence[int], n: int) -> list[int]:
    parents = [int(parent) for parent in parents]
    if len(parents) != n:
        raise ValueError(f"parents has {len(parents)} numbers; allowed are {n}, one for each node.")
    wrong = [node for node, parent in enumerate(parents) if not (parent == -1 if node == 0 else 0 <= parent < node)]
    if wrong:
        raise ValueError(f"the parent of node {wrong[0]} is {parents[wrong[0]]}; allowed are smaller numbers (0: -1).")
    return parents


def _looked(looked_at: np.ndarray | None, keys: Sequence[str] | None, n: int, say: Say) -> list[str]:
    """Name for every node what its step read most; an empty text where nothing is known."""
    if looked_at is None:
        return [""] * n
    looked_at = checks.as_probabilities("looked_at", looked_at, "NS")
    if len(looked_at) != n:
        raise ValueError(f"looked_at has {len(looked_at)} rows; allowed are {n}, one for each node.")
    names = labels.hover_texts(checks.as_tokens("keys", keys or [], looked_at.shape[1], "columns"), say)
    largest = np.argsort(-looked_at, axis=1, kind="stable")[:, :LOOKED_AT]
    return [
        "<br>" + say("its step attended to {tokens}", tokens=" · ".join(f"{names[key]} {row[key]:.2f}" for key in best))
        if row.any()
        else ""
        for row, best in zip(looked_at, largest, strict=True)
    ]


def _hover_texts(
    tree: _Tree,
    tokens: list[str],
    fates: list[str],
    log_probabilities: np.ndarray,
    scores: dict[int, float],
    looked: list[str],
    say: Say,
) -> list[str]:
    order = sorted(scores, key=lambda node: -scores[node])
    texts = []
    for node, token in enumerate(tokens):
        lines = [f"{labels.hover_text(token, int(tree.step[node]), say)}, {say(fates[node])}"]
        if node:
            log = log_probabilities[node]
            lines.append(say("log-probability {log:.3f} ({probability:.1%})", log=log, probability=np.exp(log)))
            lines.append(say("sum so far {sum:.3f}", sum=tree.totals[node]))
        if node in scores:
            place = {"rank": order.index(node) + 1, "total": len(order)}
            lines.append(say("score {score:.3f}, number {rank} of {total}", score=scores[node], **place))
        texts.append("<br>".join(lines) + looked[node])
    return texts


def _edges(tree: _Tree, nodes: list[int], fates: list[str], best: int | None, say: Say) -> list[go.Scatter]:
    """Lines to the nodes: dotted to pruned ones, thick on the best path."""
    groups = (
        ([node for node in nodes if fates[node] != PRUNED], {"color": _EDGE, "width": theme.LINE_WIDTH}, ""),
        ([node for node in nodes if fates[node] == PRUNED], {"color": _EDGE, "width": 1, "dash": "dot"}, ""),
        (
            [node for node in nodes if best is not None and node in tree.path(best)],
            {"color": theme.SELECTED, "width": _BEST_WIDTH},
            say("best path"),
        ),
    )
    return [
        go.Scatter(**tree.edges(group), mode="lines", line=line, name=name, showlegend=bool(name), hoverinfo="skip")
        for group, line, name in groups
        if group
    ]


def _added(tree: _Tree, node: int) -> float:
    """What a node adds to the log-probability."""
    return tree.totals[node] - (tree.totals[tree.parents[node]] if node else 0)


def _nodes(tree: _Tree, fate: str, nodes: list[int], tokens: list[str], texts: list[str], say: Say) -> go.Scatter:
    """The nodes of a fate, each with its token and what it adds to the log-probability."""
    marker = {"symbol": _SYMBOLS[fate], "size": _SIZES[fate], "color": _COLORS[fate], "opacity": 1}
    if fate == PRUNED:
        marker["line"] = {"width": 2, "color": _COLORS[fate]}
    return go.Scatter(
        x=tree.rank[nodes].astype(np.float32),
        y=tree.step[nodes].astype(np.float32),
        # Lists on purpose, as for the tiles of an overview.
        customdata=[[node] for node in nodes],
        hovertext=[texts[node] for node in nodes],
        text=[
            labels.tick_text(tokens[node])
            + (say("<br>{x:.2f}", x=_added(tree, node)).replace("-", "−") if node else "")
            for node in nodes
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        mode="markers+text",
        textposition="middle right",
        textfont={"size": theme.TICK_SIZE},
        cliponaxis=False,
        marker=marker,
        name=say(fate),
        showlegend=True,
    )


def _layout(tree: _Tree, drawn: list[int], steps: tuple[int, int], title: str, say: Say) -> go.Layout:
    n_columns = int(tree.rank[drawn].max(initial=0)) + 1
    first, last = steps
    height = (last - first + 1) * ROW_HEIGHT
    ranks = [str(rank + 1) for rank in range(n_columns)]
    step_axis = heatmap.axis([str(step) for step in range(last + 1)], 1, message("tokens written"), say)
    return theme.layout(
        height,
        separated(say),
        title=labels.escape(title),
        left=theme.TICK_SIZE * 2 + theme.AXIS_TITLE_HEIGHT,
        top=theme.LEGEND_HEIGHT,
        bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
        xaxis=heatmap.axis(ranks, 1, message("rank among these candidates"), say)
        | {"range": [-0.25, n_columns - 0.15], "fixedrange": True},
        yaxis=step_axis | {"range": [last + 0.5, first - 0.5], "fixedrange": True},
        hovermode="closest",
        dragmode=False,
    )


def column_width(tokens: Sequence[str]) -> int:
    """Pixels that a column of the tree of these tokens needs."""
    return round(max(labels.tick_width(tokens), NUMBER_WIDTH)) + COLUMN_ROOM
