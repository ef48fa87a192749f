"""What every page needs: the model, cached translations, and ways to show text that a visitor or a file brought.

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
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check, get_script_run_ctx

from model.catalogue import available
from model.translation import KINDS, Translation
from model.translator import DEFAULT_CHECKPOINT, Translator, load_translator
from viz.app.turns import TURNS, queued
from viz.language import current, message, say, using
from viz.markdown import literal
from viz.screens.words_errors import understood
from viz.views.next_words import next_words

Asked = TypeVar("Asked")
Result = TypeVar("Result")

LENGTH_PENALTY = 0.6  # exponent alpha of Wu et al. 2016
CACHED_RESULTS = 64

# What pages draw from a trace; the rest (several times as much) is not kept in the cache.
_DRAWN = (".weights", ".mask", ".positions", "decoder.context")

_STYLE = """
<style>
.stMainBlockContainer { max-width: 90rem; padding-top: 4.25rem; padding-bottom: 3rem; }
h1 { font-size: clamp(1.7rem, 1.2rem + 2vw, 2.5rem) !important; }
.stText { overflow-wrap: anywhere; unicode-bidi: plaintext; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 0.8; }
.stMarkdown table { display: block; overflow-x: auto; }
.stTextInput input { unicode-bidi: plaintext; }
:has(> .st-key-speaking) { position: absolute; }
.st-key-speaking { position: fixed; top: 0.6rem; right: 3.6rem; z-index: 999991; width: auto; }
a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid currentColor !important; }
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }
.st-key-tour { margin-top: 1.5rem; }
[class*="st-key-large"] .stText { font-size: 1.6rem; line-height: 1.35; font-weight: 500; }
[class*="st-key-example-"] button { min-height: 1.9rem; padding: 0.1rem 0.7rem; border-radius: 1rem; }
.st-key-ask > :first-child, .st-key-ask-b > :last-child { flex: 1 1 16rem; }
@media (max-width: 640px) { .st-key-ask > :first-child, .st-key-ask-b > :last-child { flex: 1 1 100%; } }
[class*="st-key-ask"] input { font-size: max(1rem, 16px); }
[class*="st-key-small"] .stText { font-size: 0.875rem; opacity: 0.8; }
</style>
"""


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


def style() -> None:
    """Add the few rules of style that themes have no setting for."""
    st.html(_STYLE)


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


@st.cache_resource(show_spinner=Waiting(message("Loading the model …")), show_time=True)
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
        raise ValueError(say("the checkpoint {name!r} cannot be read: {error}", name=name, error=error)) from None


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
        raise ValueError(say("there is no reference to read: type the translation that the model shall read"))


@st.cache_data(max_entries=CACHED_RESULTS, show_spinner=Waiting(message("Reading the reference …")), show_time=True)
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


def cut(result: Translation, translator: Translator) -> Shown:
    """Cut a translation down to what pages draw."""
    drawn = {address: value for address, value in result.trace.items() if address.endswith(_DRAWN)}
    candidates, ids, entropy = next_words(result.trace["logits"], translator.tokenizer.target.tokens)
    kept = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    kept |= {"trace": drawn, "search": None}
    return Shown(**kept, candidates=candidates, candidate_ids=ids, entropy=entropy)


def sentence(error: ValueError) -> str:
    """The words of an error as a sentence of the page, in the visitor's language."""
    words = understood(str(error))
    first = words.split(" ", 1)[0]
    if "_" not in first and first not in KINDS:  # names of arrays stay as they are spelt
        words = words[:1].upper() + words[1:]
    return words.rstrip(".") + "."


def measured(read: Callable[[str], Result | None], checkpoint: str, missing: str) -> Result | None:
    """What was measured of a checkpoint and is kept beside its weights; where it cannot be had, a sentence says why.

    Args:
        read: gives it, or None where nothing was measured; a ValueError where it cannot be used.
        checkpoint: its name.
        missing: what is said for None, in English.

    Returns:
        It, or None.
    """
    try:
        found = read(checkpoint)
    except ValueError as error:
        warn(sentence(error))
        return None
    if found is None:
        st.info(say(missing))
    return found


def warn(text: str) -> None:
    """Warn with words that may hold what a visitor, an address or a file said: shown as they are, not as Markdown.

    A link could otherwise make the page show a picture from elsewhere, or a link of its own in the page's name.
    """
    st.warning(literal(text))


def compute_or_keep(
    key: str,
    asked: Asked,
    compute: Callable[[Asked], Result],
    instead: Callable[[Asked | None], Asked],
    last: str = message("the last sentence that could be translated"),
    first: str = message("the example"),
) -> tuple[Asked, Result] | None:
    """Compute what is asked for; what cannot be computed is told in a sentence, and the last result stays.

    Args:
        key: where the session keeps what was asked for last.
        asked: what the visitor wants.
        compute: raises ValueError where it cannot.
        instead: what to compute in its place, given what was asked for last, if anything was.
        last, first: what that is called when there was such a thing, and when there was none, in English.

    Returns:
        What was computed and its result, or None if even the other cannot be computed.
    """
    try:
        result = compute(asked)
        st.session_state[key] = asked
        return asked, result
    except ValueError as error:
        problem = sentence(error)
    before = st.session_state.get(key)
    other = instead(before)
    try:
        result = compute(other)
    except ValueError:  # a model that cannot even read the example
        warn(problem)
        return None
    warn(f"{problem} {say('Shown below: {what}.', what=say(last if before else first))}")
    return other, result


def opening(title: str, line: str) -> None:
    """Begin a page: its name, and beside it, where there is room, one line that says what can be done here."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="opening"):
        st.title(title, width="content")
        st.caption(line, width="content")


def picture_first() -> tuple[DeltaGenerator, DeltaGenerator]:
    """A place for a picture, and one beside it (on a phone: below) for the controls that change it."""
    return tuple(st.columns([8, 3], gap="medium"))


def small(text: str, key: str) -> None:
    """Show a line in small letters, exactly as it is: no Markdown, no HTML.

    Args:
        text: any text.
        key: a name that no other text of the page has.
    """
    with st.container(key=f"small-{key}"):
        st.text(text)


def large(text: str, key: str) -> None:
    """Show a line in large letters, exactly as it is; arguments as for `small`."""
    with st.container(key=f"large-{key}"):
        st.text(text)
