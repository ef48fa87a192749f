"""What the page Steer computes beside translations, remembered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from model.decoding import Search
from model.interventions.edits import Edits
from model.measures.search_attention import looked_at
from viz.app.turns import in_turn
from viz.views.cached import Request, compute, remembered

ANSWERED, CHANGES = "steer-answered", "steer-changes"  # where the session keeps the Request that is shown, and Changes


@dataclass(frozen=True)
class Effect:
    """What edits do to the log-probabilities of the translation that the unchanged model writes, teacher-forced.

    Attributes:
        all: float32 (T,), of each of its tokens, with all changes.
        without_future: (T,) with all changes but the cells that open the future; None where there are none.
    """

    all: np.ndarray
    without_future: np.ndarray | None


@remembered()
def effect(request: Request) -> Effect:
    """Make the model read its own old translation with the edits; errors as `Translator.force`."""
    edits, old = request.changes.edits, compute(request.plain)
    n_steps = len(old.predicted_tokens)  # edits of later steps are none of it
    edits = replace(
        edits,
        forced=tuple(force for force in edits.forced if force.query < n_steps),
        cells=tuple(cell for cell in edits.cells if _in_steps(cell.kind, cell.query, cell.key, n_steps)),
    )

    def read(some: Edits) -> np.ndarray:
        with request.positions():
            return request.translator.force(request.text, old, some).log_probabilities

    honest = edits.without_future
    return Effect(read(edits), read(honest) if honest != edits else None)


def _in_steps(kind: str, query: int, key: int, n_steps: int) -> bool:
    """Whether a cell of a mask lies within so many steps of the decoder."""
    return (kind == "encoder_self" or query < n_steps) and (kind != "decoder_self" or key < n_steps)


@dataclass(frozen=True)
class Tree:
    """The tree of a search.

    Attributes:
        search: what was found, and everything it was found among.
        tokens: of every node.
        looked_at: float32 (N, S), what the step of every node read, mean over layers and heads.
        keys: S source tokens.
        texts: of the hypotheses, by their last node.
    """

    search: Search
    tokens: list[str]
    looked_at: np.ndarray
    keys: list[str]
    texts: dict[int, str]


@remembered(16)
def tree(request: Request) -> Tree:
    """Search with the changes and keep everything it looked at; errors as `compute`."""
    translator, result = request.translator, request.translated()
    tokenizer, search = translator.tokenizer.target, result.search
    with request.positions():
        read = in_turn(looked_at)(translator, request.text, search.tree, request.changes.edits)
    texts = {one.node: tokenizer.decode(one.ids) for one in search.hypotheses}
    return Tree(search, tokenizer.tokens(search.tree.token), read, result.source_tokens, texts)
