"""What the page Four systems computes: one sentence through several translators, cut into words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import thread_time
from typing import Any
from weakref import WeakSet

import numpy as np

from model.analysis import comparison
from model.analysis import maps as analysis
from model.analysis.maps import Words
from model.running.translator import Translator
from model.storage import checkpoint
from model.text.special import SPECIAL_TOKENS, UNK_ID
from viz.text import errors
from viz.text.language import say
from viz.views import cached
from viz.views.cached import Request
from viz.views.snippets import Code, program

WORDS = """
from model.analysis import comparison
written = comparison.words_of(translator.tokenizer.target, result.predicted_tokens)
read = comparison.words_of(translator.tokenizer.source, result.source_tokens)
"""
WEIGHTS = """
import model.analysis.maps as analysis
weights = analysis.merge_words(result.attention('cross'), written, read)
"""
CONTEXT = """
import numpy as np
_, first = np.unique(written.of_token, return_index=True)
context = result.trace['decoder.context'][first]
"""


@dataclass(frozen=True)
class Side:
    """One model's translation; T counts its words, S those of the source."""

    request: Request
    system: str  # one of checkpoint.SYSTEMS
    result: cached.Result
    seconds: float  # of computing, when it was made
    output: Words  # the end included
    read: Words
    weights: np.ndarray | None  # float32 (L, H, T, S), what each word attends to; None without attention
    context: np.ndarray | None  # float32 (T, D), the vector that each word's step read where there is no attention

    @property
    def words(self) -> list[str]:
        """The words that were written."""
        return self.output.names

    @property
    def keys(self) -> list[str]:
        """The words that were read."""
        return self.read.names

    @property
    def name(self) -> str:
        """The name of the checkpoint."""
        return self.request.model

    def unknown(self, side: str) -> int:
        """How many words of "source" or "target" are <unk>."""
        return (self.keys if side == "source" else self.words).count(SPECIAL_TOKENS[UNK_ID])

    @property
    def code(self) -> str:
        """The snippet that makes `written`, `read`, and `weights` or `context` of `result`."""
        return program(WORDS, CONTEXT if self.weights is None else WEIGHTS)

    def map(self, layer: int, head: int | None) -> tuple[np.ndarray, Code, str]:
        """What each word attends to, (T, S), or the context; Python for it; and a line that says which map that is.

        Of a Transformer the last layer or head where there are fewer; for no head the mean of all.
        """
        if self.context is not None:
            line = say("No map: the same {size} numbers for every word.", size=self.context.shape[1])
            return self.context, Code("context"), line
        assert self.weights is not None
        n_layers, n_heads, *_ = self.weights.shape
        if self.system != checkpoint.TRANSFORMER:
            return self.weights[0, 0], Code("weights[0, 0]"), say("One head; each row adds up to 1.")
        layer = min(layer, n_layers - 1)
        if head is None:
            line = say("Layer {layer}, mean of {n} heads; each row adds up to 1.", layer=layer, n=n_heads)
            return self.weights[layer].mean(axis=0), Code(f"weights[{layer}].mean(axis=0)"), line
        head = min(head, n_heads - 1)
        line = say("Layer {layer}, head {head}; each row adds up to 1.", layer=layer, head=head)
        return self.weights[layer, head], Code(f"weights[{layer}, {head}]"), line


_WARM: WeakSet[Translator] = WeakSet()  # those that have translated since they were loaded


def _warm(loaded: Translator) -> None:
    """Translate once, as the first time takes longer."""
    if loaded not in _WARM:
        loaded.translate("a", beam=1)
        _WARM.add(loaded)


@cached.cache_results(line=cached.TRANSLATING)
def _timed(request: Request) -> tuple[cached.Result, float]:
    """Translate, and measure how long this thread computes."""
    loaded = cached.loaded_as(Translator, request.model)  # which stays in memory as long as it is held here
    _warm(loaded)
    began = thread_time()
    result = request.translated()
    seconds = thread_time() - began
    return cached.result_of(result, loaded), seconds


def side_of(name: str, text: str, beam: int) -> Side:
    """Errors as in `cached.compute`."""
    request = Request(text, name, beam)
    loaded, (result, seconds) = cached.loaded_as(Translator, name), _timed(request)
    tokenizer = loaded.tokenizer
    output = comparison.words_of(tokenizer.target, result.predicted_tokens)
    read = comparison.words_of(tokenizer.source, result.source_tokens)
    system = checkpoint.system_of(loaded.config)
    weights = None
    context = None
    if system == checkpoint.GRU:
        _, first = np.unique(output.of_token, return_index=True)
        context = result.trace["decoder.context"][first]
    else:
        weights = analysis.merge_words(result.attention("cross"), output, read)
    return Side(request, system, result, seconds, output, read, weights, context)


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
    results, problems = {}, {}
    for name in names:
        try:
            results[name] = make(name)
        except ValueError as error:
            problems[name] = error
    return results, problems
