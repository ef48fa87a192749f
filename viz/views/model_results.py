"""What the page Four systems computes: one sentence through several translators, cut into words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np
import streamlit as st

from model import checkpoint
from model.analysis import comparison
from model.analysis import maps as analysis
from model.text.special import SPECIAL_TOKENS, UNK_ID
from viz.text import errors
from viz.text.language import say
from viz.views import cached
from viz.views.cached import Request
from viz.views.made import Made, made, the, value_of


@dataclass(frozen=True)
class Side:
    """One model's translation; T counts its words, S those of the source."""

    request: Request
    system: str  # one of checkpoint.SYSTEMS
    result: cached.Shown
    seconds: float  # of computing, when it was made
    written: Made  # the words, the end included
    read: Made
    weights: Made | None  # of float32 (L, H, T, S), what each word attends to; None without attention
    context: Made | None  # of float32 (T, D), the vector that each word's step read where there is no attention

    @property
    def words(self) -> list[str]:
        return value_of(self.written).names

    @property
    def keys(self) -> list[str]:
        return value_of(self.read).names

    @property
    def name(self) -> str:
        return self.request.model

    def unknown(self, side: str) -> int:
        """How many words of "source" or "target" are <unk>."""
        return (self.keys if side == "source" else self.words).count(SPECIAL_TOKENS[UNK_ID])

    def map(self, layer: int, head: int | None) -> tuple[Made, str]:
        """What each word attends to, (T, S), or the context, and a line that says which map that is.

        Of a Transformer the last layer or head where there are fewer; for no head the mean of all.
        """
        if self.context is not None:
            size = value_of(self.context).shape[1]
            return self.context, say("No map: the same {size} numbers for every word.", size=size)
        weights, (n_layers, n_heads, *_) = self.weights, value_of(self.weights).shape
        if self.system != checkpoint.TRANSFORMER:
            return weights[0, 0], say("One head; each row adds up to 1.")
        at = {"layer": min(layer, n_layers - 1), "head": min(head or 0, n_heads - 1)}
        if head is None:
            line = say("Layer {layer}, mean of {n} heads; each row adds up to 1.", n=n_heads, **at)
            return weights[at["layer"]].mean(axis=0), line
        return weights[*at.values()], say("Layer {layer}, head {head}; each row adds up to 1.", **at)


@st.cache_resource(show_spinner=False)
def _warm(name: str) -> None:
    """Translate once, as the first time takes longer."""
    cached.translator(name).translate("a", beam=1)


@cached.remembered(line=cached.TRANSLATING)
def _timed(request: Request) -> tuple[cached.Shown, float]:
    """Translate, and measure how long this thread computes."""
    _warm(request.model)
    began = thread_time()
    result = request.translated()
    seconds = thread_time() - began
    return cached.cut(result, request.translator), seconds


def side_of(name: str, text: str, beam: int) -> Side:
    """Errors as of `cached.compute`."""
    request = Request(text, name, beam)
    loaded, (result, seconds) = request.translator, _timed(request)
    tokenizer, known = made(loaded, "translator").tokenizer, made(result, "result")
    written = the(comparison.words_of)(tokenizer.target, known.predicted_tokens).named("written")
    read = the(comparison.words_of)(tokenizer.source, known.source_tokens).named("read")
    system, weights, context = checkpoint.system_of(loaded.config), None, None
    if system == checkpoint.GRU:
        context = known.trace["decoder.context"][the(np.unique)(written.of_token, return_index=True)[1].named("first")]
    else:
        weights = the(analysis.merge_words)(known.attention("cross"), written, read).named("weights")
    return Side(request, system, result, seconds, written, read, weights, context)


def usable(names: list[str]) -> tuple[list[str], list[str]]:
    """Which checkpoints can be loaded, in the order of SYSTEMS, and why others cannot."""
    systems, problems = _each(names, lambda name: checkpoint.system_of(cached.translator(name).config))
    names = sorted(systems, key=lambda name: checkpoint.SYSTEMS.index(systems[name]))
    return names, list(map(errors.sentence, problems.values()))


def compare(names: tuple[str, ...], text: str, beam: int) -> tuple[list[Side], dict[str, str]]:
    """The translations of all models, and by name why others could not; a ValueError where none could."""
    sides, problems = _each(names, lambda name: side_of(name, text, beam))
    if not sides:
        raise next(iter(problems.values()))
    return list(sides.values()), {name: errors.sentence(error) for name, error in problems.items()}


def _each(names: Iterable[str], make: Callable[[str], Any]) -> tuple[dict[str, Any], dict[str, ValueError]]:
    found, problems = {}, {}
    for name in names:
        try:
            found[name] = make(name)
        except ValueError as error:
            problems[name] = error
    return found, problems
