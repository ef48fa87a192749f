"""What the page Compare computes, remembered: how each side came about in, arrays and words out."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from model.experiments import masks as mask_experiments
from model.experiments.positions import SIDES, changed_positions
from model.interventions.edits import Edits
from model.taps import intervene
from model.translation import KINDS
from viz.figures.labels import in_quotes
from viz.language import message, say
from viz.screens import recipes, shared
from viz.views import made
from viz.views.changes import read_prefix
from viz.views.made import Made, call


@dataclass(frozen=True)
class Recipe:
    """How one side comes about.

    Attributes:
        checkpoint: the model's name.
        text: the sentence.
        beam, penalty: width and length penalty of the search.
        edits: code of what is changed inside the model, as of `model.interventions.edits.Edits`.
        prefix: code of the tokens that the translation begins with, as of `viz.views.changes.prefix_code`.
        scale, shift, stacks: of the positional encoding, as for `position_experiments.changed_positions`.
        reads: the translation that the decoder is made to read; None lets it write its own. Where it is what this model
            writes by itself, its very tokens are read.
        look_ahead: whether the look-ahead mask is on; without it the decoder must be made to read something.
    """

    checkpoint: str
    text: str
    beam: int = 4
    penalty: float = shared.LENGTH_PENALTY
    edits: str = ""
    prefix: str = ""
    scale: float = 1.0
    shift: int = 0
    stacks: tuple[str, ...] = SIDES
    reads: str | None = None
    look_ahead: bool = True


@dataclass(frozen=True)
class Side:
    """One side, cut down to what the page draws.

    Attributes:
        text: the translation that was written or read.
        finished: whether it ended by itself.
        source_tokens, target_tokens: the tokens on the axes.
        log_probability: of the whole translation, its end included, in nats.
        weights, masks: by kind of attention (L, H, T, S) and (T, S).
    """

    text: str
    finished: bool
    source_tokens: list[str]
    target_tokens: list[str]
    log_probability: float
    weights: dict[str, np.ndarray]
    masks: dict[str, np.ndarray]

    def axes(self, kind: str) -> tuple[list[str], list[str]]:
        """The tokens of the rows and of the columns of a kind."""
        queries = self.source_tokens if kind == "encoder_self" else self.target_tokens
        return queries, self.target_tokens if kind == "decoder_self" else self.source_tokens


def read_by(recipe: Recipe) -> str | shared.Shown:
    """What the decoder is made to read: the model's own translation where it is of these words, else the words."""
    shared.check_reference(recipe.reads or "")
    own = shared.translate(recipe.checkpoint, recipe.text, recipe.beam, recipe.penalty)
    return own if own.text == recipe.reads else recipe.reads or ""


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner=shared.Waiting(message("Computing …")), show_time=True)
def make(recipe: Recipe) -> Side:
    """Compute one side, or return what is remembered of it.

    Raises:
        ValueError: as `Translator.translate` and `Translator.force`, for a model that cannot be loaded, for codes that
            cannot be read, and for an empty translation to read.
    """
    translator = shared.translator(recipe.checkpoint)
    edits, prefix = Edits.from_code(recipe.edits), read_prefix(recipe.prefix)
    target = None if recipe.reads is None else read_by(recipe)
    with ExitStack() as changes:
        changes.enter_context(
            changed_positions(translator.config.positional, recipe.scale, recipe.shift, recipe.stacks)
        )
        if not recipe.look_ahead:
            changes.enter_context(intervene(mask_experiments.without_look_ahead(translator.model)))
        if target is None:
            result = translator.translate(recipe.text, recipe.beam, recipe.penalty, edits, prefix)
        else:
            result = translator.force(recipe.text, target, edits)
    return Side(
        text=result.text,
        finished=result.finished,
        source_tokens=result.source_tokens,
        target_tokens=result.target_tokens,
        log_probability=float(result.log_probabilities.sum()),
        weights={kind: result.attention(kind) for kind in KINDS},
        masks={kind: result.mask(kind) for kind in KINDS},
    )


def side_lines(name: str, recipe: Recipe, translator: str, read: Made) -> list[str]:
    """How a side comes about, in Python.

    Args:
        name: what the side is called there.
        recipe: of the side.
        translator: what its model is called.
        read: what it reads, where it reads something.
    """
    indent, lines = "", []
    if (recipe.scale, recipe.shift) != (1, 0):
        positional = made.made(None, f"{translator}.config.positional")
        changed = call("changed_positions", positional, recipe.scale, recipe.shift, recipe.stacks)
        lines.append(f"with {changed}:")
        indent = "    "
    if not recipe.look_ahead:
        lines.append(f"{indent}with intervene(without_look_ahead({translator}.model)):")
        indent += "    "
    edits = made.made(None, call("Edits.from_code", recipe.edits)) if recipe.edits else None
    if recipe.reads is None:
        penalty = None if recipe.penalty == shared.LENGTH_PENALTY else recipe.penalty
        more = {"beam": recipe.beam, "length_penalty": penalty, "prefix": read_prefix(recipe.prefix) or None}
        line = call(f"{translator}.translate", recipe.text, edits=edits, **more)
    else:
        line = call(f"{translator}.force", recipe.text, read, edits=edits)
    return [*lines, f"{indent}{name} = {line}".replace("\n", f"\n{indent}")]


def pair_recipe(pair: tuple[Recipe, Recipe], named: list[str]) -> made.Recipe:
    """Both sides, in Python called `a` and `b`.

    Args:
        pair: how they come about; where B reads something, it is what A reads or else the translation of A.
        named: what each is.
    """
    a, b = pair
    lines, names = [recipes.loading(a.checkpoint)], ["translator", "translator"]
    if b.checkpoint != a.checkpoint:
        lines.append(recipes.loading(b.checkpoint, "other"))
        names[1] = "other"
    # The very tokens of a translation, where both models have the same ones.
    read = made.made(None, "a" if b.checkpoint == a.checkpoint else "a.text")
    if a.reads is not None:
        given = read_by(a) if a.reads else None  # "" is what the model writes by itself
        read = made.made(None, repr(given) if isinstance(given, str) else "free")
        if not isinstance(given, str):
            free = replace(a, reads=None, look_ahead=True, edits="", prefix="")
            lines += side_lines("free", free, names[0], read)
    lines += side_lines("a", a, names[0], read) + side_lines("b", b, names[1], read)
    said = [f"{title}: {in_quotes(one.text, say)} · {one.checkpoint}" for title, one in zip(named, pair, strict=True)]
    return made.Recipe(" · ".join(said), tuple(lines))
