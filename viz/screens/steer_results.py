"""What the page Steer computes, remembered: plain choices in, arrays and words out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from model.decoding import Search
from model.interventions.edits import VERSION, Edits
from model.measures.search_attention import looked_at
from model.translation import Translation
from viz.app.turns import in_turn
from viz.language import message, say
from viz.screens import controls, recipes, shared
from viz.views.made import Recipe, call, made

ANSWERED = "steer-answered"  # where the session keeps the Request that is shown
CACHED_TREES = 16
MAX_PREFIX = 600  # tokens
_PREFIX = re.compile(rf"{VERSION}_(\d{{1,6}}(?:-\d{{1,6}})*)")


@dataclass(frozen=True)
class Request(controls.Request):
    """A sentence and what is changed while it is translated.

    Attributes:
        prefix: code of the locked beginning, as of `prefix_code`.
        edits: code of the edits, as of `model.interventions.edits.Edits`.
    """

    prefix: str = ""
    edits: str = ""

    @property
    def plain(self) -> Request:
        """The same without changes."""
        return replace(self, prefix="", edits="")

    @property
    def is_plain(self) -> bool:
        """Whether nothing is changed."""
        return self == self.plain


def recipe(request: Request) -> Recipe:
    """The translation with the changes, in Python called `result`."""
    prefix = read_prefix(request.prefix)
    more: dict[str, object] = {"edits": made(None, "edits") if request.edits else None, "prefix": prefix or None}
    written = call("translator.translate", request.text, **recipes.searching(request), **more)
    lines = [recipes.loading(request.checkpoint)]
    lines += [f"edits = {call('Edits.from_code', request.edits)}"] if request.edits else []
    changes = [request.edits, say("locked beginning {code}", code=request.prefix) if prefix else ""]
    return Recipe(recipes.spoken(request), (*lines, f"result = {written}")).then(note=" · ".join(filter(None, changes)))


def prefix_code(ids: list[int]) -> str:
    """A locked beginning as a short text; empty for none.

    Example:
        >>> prefix_code([12, 7]), read_prefix("v1_12-7")
        ('v1_12-7', [12, 7])
    """
    return f"{VERSION}_{'-'.join(map(str, ids))}" if ids else ""


def read_prefix(code: str) -> list[int]:
    """Read what `prefix_code` wrote.

    Raises:
        ValueError: if it is no such code; the message says what one looks like.
    """
    if not code:
        return []
    match = _PREFIX.fullmatch(code)
    if not match:
        raise ValueError(
            say(
                "the locked beginning {code!r} cannot be read: it is written like {example}",
                code=code[:20],
                example=f"{VERSION}_12-7",
            )
        )
    ids = list(map(int, match[1].split("-")))
    if len(ids) > MAX_PREFIX:
        raise ValueError(
            say("the locked beginning has {n} tokens; at most {most} are allowed", n=len(ids), most=MAX_PREFIX)
        )
    return ids


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner=shared.Waiting(message("Translating …")), show_time=True)
def steer(request: Request) -> shared.Shown:
    """Translate with the changes.

    Args:
        request: the sentence and the changes.

    Returns:
        The translation, cut down as by `shared.translate`.

    Raises:
        ValueError: for codes that cannot be read, and as `Translator.translate`.
    """
    return shared.cut(_translate(request)[0], shared.translator(request.checkpoint))


@dataclass(frozen=True)
class Effect:
    """What edits do to the log-probabilities of the translation that the unchanged model writes, teacher-forced.

    Attributes:
        all: float32 (T,), of each of its tokens, with all edits.
        without_cells: (T,) with all edits but those of masks.
        without_future: (T,) with all edits but the cells that open the future; None where there are none.
    """

    all: np.ndarray
    without_cells: np.ndarray
    without_future: np.ndarray | None


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner=shared.Waiting(message("Reading the old translation …")))
def effect(request: Request) -> Effect:
    """Make the model read its own old translation with the edits; errors as `Translator.force`."""
    translator = shared.translator(request.checkpoint)
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
        return translator.force(request.text, old, some).log_probabilities

    honest = edits.without_future
    return Effect(
        all=read(edits),
        without_cells=read(replace(edits, cells=())),
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


@st.cache_data(
    max_entries=CACHED_TREES, show_spinner=shared.Waiting(message("Searching, and noting where every step looks …"))
)
def tree(request: Request) -> Tree:
    """Search with the changes and keep everything it looked at; errors as `steer`."""
    translator = shared.translator(request.checkpoint)
    result, edits = _translate(request)
    tokenizer, search = translator.tokenizer.target, result.search
    return Tree(
        search=search,
        tokens=tokenizer.tokens(search.tree.token),
        looked_at=in_turn(looked_at)(translator, request.text, search.tree, edits),
        keys=result.source_tokens,
        texts={one.node: tokenizer.decode(one.ids) for one in search.hypotheses},
    )


def _translate(request: Request) -> tuple[Translation, Edits]:
    edits, prefix = Edits.from_code(request.edits), read_prefix(request.prefix)
    translator = shared.translator(request.checkpoint)
    return translator.translate(request.text, request.beam, request.length_penalty, edits, prefix), edits
