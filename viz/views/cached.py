"""Models and translations: loaded once for all visitors, translated once, remembered.

State has three homes: models in `viz.views.memory`, results in `st.cache_data`, choices in the session and the URL.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check, get_script_run_ctx

from model.adapters.readers.inputs.chat import Messages, message_of
from model.adapters.readers.reader import Reader
from model.adapters.readers.reading import Reading
from model.adapters.readers.tasks import PairReader
from model.analysis.rotation import Rotation
from model.experiments import inside
from model.experiments.positions import changed_positions
from model.results.recording import Candidates
from model.results.translation import Translation
from model.running.translator import DEFAULT_CHECKPOINT, Translator, Writer, load_translator
from model.storage.checkpoint import available, checkpoints_folder
from model.text.errors import Problem
from viz.text.language import message, say
from viz.views import model_shelf
from viz.views.changes import Changes
from viz.views.memory import Memory
from viz.views.turns import TURNS, queued
from viz.views.view import EXAMPLE, Input

TRANSLATING = message("Translating …")
ROOM = 256_000_000  # bytes of the weights of checkpoints: the four of Four systems and the one that pages begin with
CHECKPOINTS: Memory[Translator | Writer] = Memory(ROOM)  # by folder
# What pages draw from a trace; the rest, several times as much, is not kept.
_DRAWN = (".weights", ".mask", ".positions", "decoder.context")


class Waiting(str):
    """What is said while something is computed: a cache gets it once, each visitor in their language."""

    def __str__(self) -> str:
        return say(str.__str__(self))


def cache_results(entries: int = 64, line: str = message("Computing …")) -> Callable[[Callable], Callable]:
    """Remembers results of a function; while it computes, its visitor sees the line."""
    return st.cache_data(max_entries=entries, show_spinner=Waiting(line), show_time=True)


def end_unwanted() -> None:
    """End the run of a page whose visitor has left or wants something else by now.

    Streamlit looks for that whenever a page shows something; a long computation looks here.
    """
    if (look := get_run_yield_check()) is not None:
        look()


TURNS.still_wanted = end_unwanted


def presence() -> Callable[[], bool]:
    """Says, in any thread, whether the visitor of this run is still connected."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return lambda: True
    return partial(runtime.get_instance().is_active_session, context.session_id)


def translator(name: str) -> Translator | Writer | Reader:
    """A checkpoint or a model of transformers, shared by all visitors; a ValueError says why it cannot be loaded.

    It is loaded when somebody asks for it first, and again where it has left memory meanwhile.
    """
    if _is_in_memory(name):
        return _loaded(name)
    with st.spinner(say("Loading …"), show_time=True):
        return _loaded(name)


_Kind = TypeVar("_Kind", bound=Translator | Writer | Reader)


def loaded_as(kind: type[_Kind], name: str) -> _Kind:
    """The model of a name that is known to be of a kind; errors as in `translator`, a TypeError if it is of another."""
    loaded = translator(name)
    if not isinstance(loaded, kind):
        raise TypeError(f"{name} is a {type(loaded).__name__}, no {kind.__name__}")
    return loaded


def _loaded(name: str) -> Translator | Writer | Reader:
    if name in model_shelf.SHELF:
        return model_shelf.SHELF.reader(name)
    folder = checkpoints_folder() / name
    return CHECKPOINTS.get(str(folder), lambda: folder, lambda _: _load_checkpoint(name))


def _is_in_memory(name: str) -> bool:
    if name in model_shelf.SHELF:
        return name in model_shelf.SHELF.in_memory()
    return str(checkpoints_folder() / name) in CHECKPOINTS


def _load_checkpoint(name: str) -> Translator | Writer:
    try:
        return queued(load_translator(name))
    except OSError as error:
        raise Problem("the checkpoint {name!r} cannot be read: {error}", name=name, error=error) from None


def default_checkpoint() -> str:
    """The checkpoint that pages show first."""
    names = available("transformer")
    return DEFAULT_CHECKPOINT if DEFAULT_CHECKPOINT in names or not names else names[0]


def preload() -> None:
    """Run the model once, so that the first visitor waits for nothing."""
    with suppress(ValueError):  # no usable checkpoint: the page tells its reader
        loaded_as(Translator, default_checkpoint()).translate("a", beam=1)


@dataclass(frozen=True)
class Result(Translation):
    """What pages draw of a translation, or of a text that a model read."""

    next_words: Candidates | None  # None of encoders and of models without an output over words
    next_logits: np.ndarray | None = field(repr=False, default=None)  # float32 (V,), after a text that was read
    masked_words: dict[int, list[tuple[str, float]]] = field(default_factory=dict)  # as in `Reading`
    masked_ids: dict[int, int] = field(repr=False, default_factory=dict)  # by masked position the best word

    @property
    def masked_log_probabilities(self) -> np.ndarray:
        """float64 (masks,), in nats, of the best word at each masked position."""
        return np.log([candidates[0][1] for candidates in self.masked_words.values()])


class Names:
    """The names of a vocabulary's tokens, of whatever kind of model."""

    def __init__(self, loaded: Translator | Writer | Reader) -> None:
        self._loaded = loaded

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens of ids."""
        if isinstance(self._loaded, Reader):
            return self._loaded.words(ids)
        tokenizer = self._loaded.tokenizer
        vocabulary: Any = getattr(tokenizer, "target", tokenizer)
        return vocabulary.tokens(ids)


def result_of(result: Translation, loaded: Translator | Writer | Reader) -> Result:
    """Cut a translation, or what a model read, down to what pages draw."""
    trace = {address: value for address, value in result.trace.items() if address.endswith(_DRAWN)}
    attributes = {attribute.name: getattr(result, attribute.name) for attribute in fields(Translation)}
    attributes |= {"trace": trace, "search": None}
    logits = result.trace.get("logits") if result.predicted_ids else None
    extras: dict[str, Any] = {"masked_words": getattr(result, "masked_words", {})}
    if masked := extras["masked_words"]:
        extras["masked_ids"] = {place: int(result.trace["logits"][place].argmax()) for place in masked}
    if logits is not None and not result.source_tokens:
        extras["next_logits"] = logits[-1].copy()
    return Result(**attributes, next_words=None if logits is None else Candidates.of(logits, Names(loaded)), **extras)


@dataclass(frozen=True)
class Request(Input):
    """What to translate, with which changes inside the model."""

    changes: Changes = Changes()

    @classmethod
    def of(cls, view: Input, model: str) -> Self:
        """What a view asks of its model, or of this one where it names none."""
        return cls(view.text, view.model or model, view.beam, view.penalty, view.reference, view.chat)

    @property
    def plain(self) -> Self:
        """This request without changes inside the model."""
        return replace(self, changes=Changes())

    @property
    def example(self) -> Self:
        """This request for the example sentence."""
        return replace(self.plain, text=EXAMPLE, reference=None)

    @property
    def translator(self) -> Translator | Writer | Reader:
        """The model of the request, loaded."""
        return translator(self.model)

    @property
    def messages(self) -> Messages | None:
        """The text as a chat of one turn, where the model is to read it so and has a template for it."""
        return message_of(self.text) if self.chat and model_shelf.SHELF.has_chat(self.model) else None

    def positions(self) -> AbstractContextManager[None]:
        """Changes the positions of every pass in its block, in this thread."""
        return changed_positions(getattr(self.translator.config, "positional", ""), *self.changes.positions)

    def translated(self) -> Translation:
        """The whole trace, with the changes; errors as `Translator.translate`."""
        loaded = self.translator
        edits = self.changes.edits
        locked = self.changes.locked
        if isinstance(loaded, Reader):
            return self.read_with(loaded)
        if isinstance(loaded, Writer):
            return loaded.read(self.text, edits)
        with self.positions():
            if self.reference is None:
                return loaded.translate(self.text, self.beam, self.penalty, edits, locked)
            if not self.reference.strip():
                raise Problem("there is no reference: type the translation for the model to read")
            return loaded.force(self.text, self.reference, edits)

    def read_with(self, reader: Reader) -> Reading:
        """Like `translated`, but for a model of transformers."""
        edits = self.changes.edits
        if not isinstance(reader, PairReader):
            messages = self.messages
            return reader.read(self.text if messages is None else None, messages=messages, edits=edits)
        if self.reference is None:
            return reader.translate(self.text, self.beam, edits, self.changes.locked)
        return reader.read(self.text, target=self.reference, edits=edits)


@cache_results(line=TRANSLATING)
def compute(request: Request) -> Result:
    """The translation of a request; errors as `Request.translated`, which are not remembered."""
    return result_of(request.translated(), request.translator)


@cache_results()
def layer_of(request: Request, kind: str, layer: int) -> tuple[dict[str, np.ndarray], Rotation | None]:
    """What one layer recorded, as in `model.experiments.inside.recorded`, and what rotary positions do in it."""
    loaded = request.translator
    if isinstance(loaded, Reader):
        result = request.read_with(loaded)
        return inside.recorded(result, kind, layer), loaded.rotation(result, kind, layer)
    result = request.translated()
    return inside.recorded(result, kind, layer), inside.rotation(result, kind, layer)
