"""Models and translations: loaded once for all visitors, translated once, remembered.

State has three homes: models in `st.cache_resource`, results in `st.cache_data`, choices in the session and the URL.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check, get_script_run_ctx

from model.catalogue import available
from model.errors import Problem
from model.translation import Translation
from model.translator import DEFAULT_CHECKPOINT, Translator, load_translator
from model.writer import Writer
from viz.app.turns import TURNS, queued
from viz.text.language import current, message, say, using
from viz.views.next_words import next_words

Result = TypeVar("Result")

LENGTH_PENALTY = 0.6  # exponent alpha of Wu et al. 2016
CACHED_RESULTS = 64

# What pages draw from a trace; the rest (several times as much) is not kept in the cache.
_DRAWN = (".weights", ".mask", ".positions", "decoder.context")


class Waiting(str):
    """What is said while something is computed: at import in English, and in the visitor's language when it is shown.

    Caches are given their line once, for all visitors; they turn it into a string when they show it.
    """

    def __str__(self) -> str:
        return say(str.__str__(self))


def later(make: Callable[[], Result]) -> Callable[[], Result]:
    """Have something made later, where there is no visitor, in the language that is spoken now."""

    def make_it(language: str) -> Result:
        with using(language):
            return make()

    return partial(make_it, current())


def end_unwanted() -> None:
    """End the run of the page whose visitor has left or wants something else by now; what it computed is dropped.

    Streamlit looks for that whenever a page shows something. A long computation shows nothing, and looks here.
    """
    if (look := get_run_yield_check()) is not None:
        look()


TURNS.still_wanted = end_unwanted


def presence() -> Callable[[], bool]:
    """Make a function that says, in any thread, whether the visitor for whom the page runs now is still connected."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return lambda: True
    return partial(runtime.get_instance().is_active_session, context.session_id)


@st.cache_resource(show_spinner=Waiting(message("Loading …")), show_time=True)
def translator(name: str) -> Translator:
    """Load a checkpoint once for all visitors.

    Args:
        name: of the checkpoint.

    Returns:
        The Translator, shared between threads.

    Raises:
        ValueError: if it cannot be loaded; the message says why.
    """
    try:
        return queued(load_translator(name))
    except OSError as error:
        raise Problem("the checkpoint {name!r} cannot be read: {error}", name=name, error=error) from None


def default_checkpoint() -> str:
    """The name of the checkpoint that pages start with: en-de, or the first one there is."""
    names = available("transformer")
    return DEFAULT_CHECKPOINT if DEFAULT_CHECKPOINT in names or not names else names[0]


def preload() -> None:
    """Load the model and run it once, so that the first visitor waits for nothing."""
    try:
        translator(default_checkpoint()).translate("a", beam=1)
    except ValueError:
        pass  # no usable checkpoint: the page tells its reader


@dataclasses.dataclass(frozen=True)
class Shown(Translation):
    """A translation cut down to what pages draw.

    Attributes:
        candidates: the most probable tokens of every step with their probabilities, the most probable first.
        candidate_ids: their ids.
        entropy: float32 (T,), of every step's distribution over the whole vocabulary, in nats.
    """

    candidates: list[list[tuple[str, float]]]
    candidate_ids: list[list[int]]
    entropy: np.ndarray


def cut(result: Translation, translator: Translator | Writer) -> Shown:
    """Cut a translation, or what a language model read, down to what pages draw."""
    tokenizer = translator.tokenizer
    drawn = {address: value for address, value in result.trace.items() if address.endswith(_DRAWN)}
    candidates, ids, entropy = next_words(result.trace["logits"], getattr(tokenizer, "target", tokenizer).tokens)
    kept = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    kept |= {"trace": drawn, "search": None}
    return Shown(**kept, candidates=candidates, candidate_ids=ids, entropy=entropy)


@st.cache_data(max_entries=CACHED_RESULTS, show_spinner=Waiting(message("Translating …")), show_time=True)
def translate(checkpoint: str, text: str, beam: int, length_penalty: float = LENGTH_PENALTY) -> Shown:
    """Translate a text, or return what is remembered of it.

    Args:
        checkpoint: name of the checkpoint.
        text: what to translate.
        beam: width of the search; 1 is greedy.
        length_penalty: of the search.

    Returns:
        The Translation without its search, its trace cut down to weights, masks, positions and the one vector of a
        GRU, with candidates.

    Raises:
        ValueError: as `Translator.translate`; errors are not remembered.
    """
    loaded = translator(checkpoint)
    return cut(loaded.translate(text, beam, length_penalty), loaded)


def check_reference(reference: str) -> None:
    """Refuse an empty reference with a ValueError."""
    if not reference.strip():
        raise Problem("there is no reference: type the translation for the model to read")


@st.cache_data(max_entries=CACHED_RESULTS, show_spinner=Waiting(message("Computing …")), show_time=True)
def force(checkpoint: str, text: str, reference: str) -> Shown:
    """Have the model read a given translation, or return what is remembered of it.

    Args:
        checkpoint: name of the checkpoint.
        text: the source.
        reference: what the decoder reads.

    Returns:
        The Translation, cut down as for `translate`.

    Raises:
        ValueError: as `Translator.force`.
    """
    check_reference(reference)
    loaded = translator(checkpoint)
    return cut(loaded.force(text, reference), loaded)


@dataclasses.dataclass(frozen=True)
class Request:
    """What to translate, and how.

    Attributes:
        checkpoint: its name.
        text: what the visitor typed.
        beam: width of the search.
        length_penalty: of the search.
        reference: what the decoder reads; None lets it run freely.
    """

    checkpoint: str
    text: str
    beam: int
    length_penalty: float
    reference: str | None = None


def compute(request: Request) -> Shown:
    """Translate, or read the reference where there is one; errors as there."""
    if request.reference is not None:
        return force(request.checkpoint, request.text, request.reference)
    return translate(request.checkpoint, request.text, request.beam, request.length_penalty)
