"""What the page Steer computes, remembered: plain choices in, arrays and words out."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from model.decoding import Search
from model.experiments.positions import changed_positions
from model.interventions.edits import Edits
from model.measures.search_attention import looked_at
from model.translation import Translation
from viz.app.turns import in_turn
from viz.text.language import message, say
from viz.views import cached, recipes
from viz.views.changes import STACKS, Changes, prefix_code, read_prefix
from viz.views.made import Recipe, call, made
from viz.views.view import View

ANSWERED, CHANGES = "steer-answered", "steer-changes"  # where the session keeps the Request that is shown, and Changes
CACHED_TREES = 16


@dataclass(frozen=True)
class Request(cached.Request):
    """A sentence and what is changed while it is translated.

    Attributes:
        prefix: code of the locked beginning, as of `prefix_code`.
        edits: code of the edits, as of `model.interventions.edits.Edits`.
        scale, shift, stacks: of the positions, as of `viz.views.changes.Changes`.
    """

    prefix: str = ""
    edits: str = ""
    scale: float = 1.0
    shift: int = 0
    stacks: str = "both"

    @classmethod
    def of(cls, model: str, view: View, changes: Changes) -> Request:
        """What a view and changes ask of a model."""
        prefix, edits = prefix_code(changes.locked), changes.edits.code
        search = (view.text, view.beam, view.penalty, view.reference)
        return cls(model, *search, prefix, edits, changes.scale, changes.shift, changes.stacks)

    @property
    def plain(self) -> Request:
        """The same without changes."""
        return replace(self, prefix="", edits="", scale=1.0, shift=0, stacks="both")

    def positions(self) -> AbstractContextManager[None]:
        """Changes the positions of every pass in its block, in this thread only; errors as `changed_positions`."""
        layout = getattr(cached.translator(self.checkpoint).config, "positional", "")
        return changed_positions(layout, self.scale, self.shift, STACKS[self.stacks])

    @property
    def is_plain(self) -> bool:
        """Whether nothing is changed."""
        return self == self.plain


def recipe(request: Request) -> Recipe:
    """The translation with the changes, in Python called `result`."""
    prefix = list(read_prefix(request.prefix))
    more: dict[str, object] = {"edits": made(None, "edits") if request.edits else None, "prefix": prefix or None}
    lines = [recipes.loading(request.checkpoint)]
    lines += [f"edits = {call('Edits.from_code', request.edits)}"] if request.edits else []
    changes = [request.edits, say("locked beginning {code}", code=request.prefix) if prefix else ""]
    written = f"result = {call('translator.translate', request.text, **recipes.searching(request), **more)}"
    if (request.scale, request.shift) != (1, 0):
        layout = made(None, "translator.config.positional")
        moved = call("changed_positions", layout, request.scale, request.shift, STACKS[request.stacks])
        written = f"with {moved}:\n    " + written.replace("\n", "\n    ")
    return Recipe(recipes.spoken(request), (*lines, written)).then(note=" · ".join(filter(None, changes)))


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Translating …")), show_time=True)
def steer(request: Request) -> cached.Shown:
    """Translate with the changes.

    Args:
        request: the sentence and the changes.

    Returns:
        The translation, cut down as by `cached.translate`.

    Raises:
        ValueError: for codes that cannot be read, and as `Translator.translate`.
    """
    return cached.cut(translated(request)[0], cached.translator(request.checkpoint))


@dataclass(frozen=True)
class Effect:
    """What edits do to the log-probabilities of the translation that the unchanged model writes, teacher-forced.

    Attributes:
        all: float32 (T,), of each of its tokens, with all changes.
        without_future: (T,) with all changes but the cells that open the future; None where there are none.
    """

    all: np.ndarray
    without_future: np.ndarray | None


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def effect(request: Request) -> Effect:
    """Make the model read its own old translation with the edits; errors as `Translator.force`."""
    translator = cached.translator(request.checkpoint)
    edits = Edits.from_code(request.edits)
    old = steer(request.plain)
    # Edits of steps that the old translation does not have are none of it.
    n_steps = len(old.predicted_tokens)
    edits = replace(
        edits,
        forced=tuple(force for force in edits.forced if force.query < n_steps),
        cells=tuple(cell for cell in edits.cells if in_steps(cell.kind, cell.query, cell.key, n_steps)),
    )

    def read(some: Edits) -> np.ndarray:
        with request.positions():
            return translator.force(request.text, old, some).log_probabilities

    honest = edits.without_future
    return Effect(
        all=read(edits),
        without_future=read(honest) if honest != edits else None,
    )


def in_steps(kind: str, query: int, key: int, n_steps: int) -> bool:
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


@st.cache_data(max_entries=CACHED_TREES, show_spinner=cached.Waiting(message("Computing …")))
def tree(request: Request) -> Tree:
    """Search with the changes and keep everything it looked at; errors as `steer`."""
    translator = cached.translator(request.checkpoint)
    result, edits = translated(request)
    tokenizer, search = translator.tokenizer.target, result.search
    return Tree(
        search=search,
        tokens=tokenizer.tokens(search.tree.token),
        looked_at=_looked_at(request, search, edits),
        keys=result.source_tokens,
        texts={one.node: tokenizer.decode(one.ids) for one in search.hypotheses},
    )


def _looked_at(request: Request, search: Search, edits: Edits) -> np.ndarray:
    with request.positions():
        return in_turn(looked_at)(cached.translator(request.checkpoint), request.text, search.tree, edits)


def translated(request: Request) -> tuple[Translation, Edits]:
    """Translate with the changes, the whole trace kept, and say with which edits; errors as `steer`."""
    edits, prefix = Edits.from_code(request.edits), list(read_prefix(request.prefix))
    translator = cached.translator(request.checkpoint)
    with request.positions():
        if request.reference is not None:
            cached.check_reference(request.reference)
            return translator.force(request.text, request.reference, edits), edits
        return translator.translate(request.text, request.beam, request.length_penalty, edits, prefix), edits
