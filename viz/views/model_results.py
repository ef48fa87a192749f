"""What the page Four systems computes: one sentence through several translators, cut into words."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time

import numpy as np
import streamlit as st

from model import catalogue
from model.analysis import comparison
from model.analysis import maps as analysis
from model.text.special import SPECIAL_TOKENS, UNK_ID
from viz.text import errors
from viz.text.language import message, say
from viz.views import cached, recipes
from viz.views.made import Made, Recipe, call, made

UNKNOWN = SPECIAL_TOKENS[UNK_ID]


@dataclass(frozen=True)
class Side:
    """One model's translation; T counts its words, S those of the source.

    Attributes:
        name: of the checkpoint.
        system: one of catalogue.SYSTEMS.
        result: the translation.
        words, keys: what was written and read, in words, the end included.
        weights: float32 (L, H, T, S), what each word read; None without attention.
        context: float32 (T, D), the vector that each word's step read where there is no attention; else None.
        seconds: of computing that the translation took when it was made.
    """

    name: str
    system: str
    result: cached.Shown
    words: list[str]
    keys: list[str]
    weights: np.ndarray | None
    context: np.ndarray | None
    seconds: float

    def unknown(self, side: str) -> int:
        """How many words of the "source" or the "target" are <unk>."""
        return (self.keys if side == "source" else self.words).count(UNKNOWN)

    def map(self, layer: int, head: int | None) -> tuple[np.ndarray, str]:
        """What each word read, (T, S), and a line that says which map that is.

        Args:
            layer, head: of a Transformer, the last one where there are fewer; no head: the mean of all.
        """
        n_layers, n_heads = self.weights.shape[:2]
        if self.system != catalogue.TRANSFORMER:
            return self.weights[0, 0], say("One head; each row adds up to 1.")
        layer = min(layer, n_layers - 1)
        if head is None:
            line = say("Layer {layer}, mean of {n} heads; each row adds up to 1.", layer=layer, n=n_heads)
            return self.weights[layer].mean(axis=0), line
        head = min(head, n_heads - 1)
        line = say("Layer {layer}, head {head}; each row adds up to 1.", layer=layer, head=head)
        return self.weights[layer, head], line


@st.cache_resource(show_spinner=False)
def _warm(name: str) -> None:
    """Translate once, so that no time counts what a model does only the first time."""
    cached.translator(name).translate("a", beam=1)


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Translating …")), show_time=True)
def _timed(name: str, text: str, beam: int) -> tuple[cached.Shown, float]:
    """Translate, and measure how long this thread computes: waiting for other visitors does not count."""
    loaded = cached.translator(name)
    _warm(name)
    began = thread_time()
    result = loaded.translate(text, beam, cached.LENGTH_PENALTY)
    seconds = thread_time() - began
    return cached.cut(result, loaded), seconds


def side_of(name: str, text: str, beam: int) -> Side:
    """Translate with one model; errors as `cached.translate`."""
    loaded = cached.translator(name)
    result, seconds = _timed(name, text, beam)
    written = comparison.words_of(loaded.tokenizer.target, result.predicted_tokens)
    read = comparison.words_of(loaded.tokenizer.source, result.source_tokens)
    system = catalogue.system_of(loaded.config)
    weights = context = None
    if system == catalogue.GRU:
        firsts = [written.of_token.index(word) for word in range(len(written.names))]
        context = result.trace["decoder.context"][firsts]
    else:
        weights = analysis.merge_words(result.attention("cross"), written, read)
    return Side(name, system, result, written.names, read.names, weights, context, seconds)


def usable(names: list[str]) -> tuple[list[str], list[str]]:
    """Which checkpoints can be loaded, the systems in their order, and why others cannot."""
    systems, problems = {}, []
    for name in names:
        try:
            loaded = cached.translator(name)
            systems[name] = catalogue.SYSTEMS.index(catalogue.system_of(loaded.config))
        except ValueError as error:
            problems.append(errors.sentence(error))
    return sorted(systems, key=systems.__getitem__), problems


def compare(names: list[str], text: str, beam: int) -> tuple[list[Side], dict[str, str]]:
    """Translate with every model.

    Args:
        names: of checkpoints that can be loaded.
        text: the sentence.
        beam: width of the search.

    Returns:
        The translations in order, and for those that could not translate it by name why.
    """
    sides, problems = [], {}
    for name in names:
        try:
            sides.append(side_of(name, text, beam))
        except ValueError as error:
            problems[name] = errors.sentence(error)
    return sides, problems


def recipe(side: Side, beam: int) -> Recipe:
    """The translation of a model in words, in Python called `result`, `written` and `read`."""
    lines = [
        recipes.loading(side.name),
        f"result = {call('translator.translate', side.result.source, beam=beam)}",
        "written = comparison.words_of(translator.tokenizer.target, result.predicted_tokens)",
    ]
    if side.weights is None:
        lines.append("firsts = [written.of_token.index(word) for word in range(len(written.names))]")
    else:
        lines += [
            "read = comparison.words_of(translator.tokenizer.source, result.source_tokens)",
            "weights = analysis.merge_words(result.attention('cross'), written, read)",
        ]
    how = say("beam {width}", width=beam) if beam > 1 else say("greedy")
    note = say("“{text}” · {checkpoint} · {how}", text=side.result.source, checkpoint=side.name, how=how)
    return Recipe(note, tuple(lines))


def map_made(side: Side, layer: int, head: int | None) -> Made:
    """The map that `Side.map` gives."""
    n_layers, n_heads = side.weights.shape[:2]
    if side.system != catalogue.TRANSFORMER:
        code = "weights[0, 0]"
    else:
        layer = min(layer, n_layers - 1)
        code = f"weights[{layer}].mean(axis=0)" if head is None else f"weights[{layer}, {min(head, n_heads - 1)}]"
    return made(side.map(layer, head)[0], code)
