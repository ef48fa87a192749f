"""The choice of a model at the right of a sentence: what ships, what the operator lists, what was opened here."""

import os
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.storage.checkpoint import available
from viz.text import errors
from viz.text.language import message, say
from viz.ui import frame, shared, texts, widgets
from viz.views import cached, model_shelf

OPENING, ARRIVED, PROBLEM = "opening", "opened-model", "opening-problem"  # in the session
PLACE = "open-place"  # the box for a folder or a name
EVERY = 0.5  # seconds between two looks at a download
SERVED = ("HEADLIGHT_HOSTS", "HEADLIGHT_REPLICAS")  # variables of an app for others
TITLES = {"language_model": message("Language model"), "translate": message("Translate")}  # of these pages
PAGES = {DECODER: "language_model", ENCODER: "language_model", ENCODER_DECODER: "translate"}  # where a model is at home
ASKED_ON = "steer"  # where visitors find what suggestions of decoders ask for


class Suggestion(NamedTuple):
    """A model of the hub that a newcomer can open with a click."""

    place: str
    size: str  # of its weights in GB, rounded
    licence: str
    about: str  # what to look for
    text: str  # in which one sees it

    @property
    def name(self) -> str:
        """What it is called, without its owner and the revision."""
        return self.place.partition("/")[2].partition("@")[0]

    @property
    def terms(self) -> str:
        """How large it is, and its licence."""
        return say("≈ {size} GB · {licence}", size=self.size, licence=self.licence)


SUGGESTIONS = (
    Suggestion(
        "HuggingFaceTB/SmolLM2-135M",
        "0.27",
        "Apache 2.0",
        message("30 layers of 9 heads: which of them look at Mary, and what happens without them?"),
        texts.NAMES,
    ),
    Suggestion(
        "openai-community/gpt2",
        "0.55",
        "MIT",
        message("12 layers of 12 heads, in which name movers were found first (Wang et al. 2022)."),
        texts.NAMES,
    ),
    Suggestion(
        "google-bert/bert-base-uncased",
        "0.44",
        "Apache 2.0",
        message("Reads both ways and fills in [MASK]: heads for objects of verbs and for [SEP]."),
        texts.MASKED[0],
    ),
    Suggestion(
        "google-t5/t5-small",
        "0.24",
        "Apache 2.0",
        message("Encoder and decoder with relative positions; the text begins with the task."),
        "translate English to German: The house is wonderful.",
    ),
    Suggestion(
        "Helsinki-NLP/opus-mt-en-de@refs/pr/4",  # whose main branch has pickled weights alone
        "0.3",
        "CC BY 4.0",
        message("A translator of 6 + 6 layers: its cross-attention beside ours."),
        "The animal didn't cross the street because it was too tired.",
    ),
)


class Stopped(Exception):
    """The visitor does not want the download any more, or has left."""


class Opening:
    """A model that is being fetched and loaded for one visitor, in a thread of its own."""

    def __init__(self, place: str, text: str = "") -> None:
        self.place = place.strip()
        self.text = text
        self.done = self.total = 0
        self.is_stopped = False
        self.name = ""
        self.problem: ValueError | None = None
        self._is_present = cached.presence()
        self._thread = threading.Thread(target=self._open, name="opening a model", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the model has come, or cannot."""
        return not self._thread.is_alive()

    def _open(self) -> None:
        try:
            self.name = model_shelf.SHELF.open(self.place, self._progress)
        except Stopped:
            self.is_stopped = True
        except ValueError as error:
            self.problem = error

    def _progress(self, n_bytes: int, total: int) -> None:
        self.done, self.total = n_bytes, total
        if self.is_stopped or not self._is_present():
            raise Stopped


def is_own_machine() -> bool:
    """Whether the app runs for whoever sits at this machine, and for nobody else: `make run`."""
    if any(os.environ.get(name) for name in SERVED):
        return False
    address = st.get_option("server.address") or ""
    visitor = st.context.ip_address
    forwarded = any(name.lower().startswith("x-forwarded") for name in st.context.headers)
    return _is_loopback(address) and not forwarded and (visitor is None or _is_loopback(visitor))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def arrived() -> tuple[str, str] | None:
    """The model that has just been opened, or that another page hands over, and the text for it ("": none)."""
    state = st.session_state
    opening = state.get(OPENING)
    if opening is not None and opening.is_over:
        del state[OPENING]
        if opening.problem is not None:
            state[PROBLEM] = opening.problem
        elif opening.name:
            state[ARRIVED] = opening.name, opening.text
            state[PLACE] = ""
    return state.get(ARRIVED)


def arrive(names: Sequence[str], key: str, text_key: str) -> bool:
    """Choose the model that has just been opened, if one has, before the controls of these keys are drawn.

    A model that is none of the names of this page is shown where it is at home; a suggested decoder where its heads are
    switched off, which is what its suggestion asks for. Where no text came with it, an example gives way to one that
    suits the model.
    """
    state = st.session_state
    arrived_models = arrived()
    if arrived_models is None:
        return False
    name, text = arrived_models
    if name not in names:
        asks = text in {suggestion.text for suggestion in SUGGESTIONS} and model_shelf.SHELF.task(name) == DECODER
        st.switch_page(f"../pages/{ASKED_ON if asks else home(name)}.py")
    del state[ARRIVED]
    state[key] = name
    state[text_key] = text or texts.suited(state.get(text_key, ""), name)
    return True


def home(name: str) -> str:
    """The page on which a model is at home: the name of its file, which is the address."""
    if name not in model_shelf.SHELF:
        return "language_model" if name in available("language_model") else "translate"
    return PAGES[model_shelf.SHELF.task(name) or DECODER]


def choose(
    label: str,
    names: Sequence[str],
    key: str,
    text_key: str,
    extra_controls: Callable[[], None] | None = None,
    elsewhere: Sequence[str] = (),
) -> DeltaGenerator:
    """The button with what is chosen on it; in it the models, what else is chosen of one, and how to open another.

    Args:
        names: the models of this page.
        key: of the chosen one in the session.
        text_key: of the text that it reads.
        extra_controls: draws what else is chosen.
        elsewhere: models that this page cannot show. Whoever chooses one is led to the page where it is at home.

    Returns the place there for `say_memory`, which knows what is in memory when the chosen model is loaded.
    """
    state = st.session_state

    def change() -> None:
        widgets.keep_choice(key)
        name = state[key]
        text = state.get(text_key, "")
        if name in elsewhere:
            state[ARRIVED] = name, "" if texts.is_example(text) else text
        else:
            state[text_key] = texts.suited(text, name)

    def label_of(name: str) -> str:
        return f"{name} → {say(TITLES[home(name)])}" if name in elsewhere else name

    with st.popover(label, key="search"):
        offered = [*names, *elsewhere]
        st.selectbox(say("Model"), offered, key=widgets.menu_key(key), format_func=label_of, on_change=change)
        with st.container():  # how much is drawn here depends on the model: what follows keeps its place
            if extra_controls is not None:
                extra_controls()
        if is_own_machine():
            st.markdown(say("**Open another model**"))
            offer_opening()
        memory = st.container(width=380)
    watch()
    return memory


def watch() -> None:
    """Say how far the model is that is being opened, or why it could not be."""
    state = st.session_state
    if state.get(OPENING) is not None:
        _watch()
    if problem := state.pop(PROBLEM, None):
        shared.warn(errors.sentence(problem))


def open_place(place: str, text: str = "") -> None:
    """Begin to open a model, where no other one is being opened."""
    if place.strip() and st.session_state.get(OPENING) is None:
        st.session_state[OPENING] = Opening(place, text)


def offer_opening() -> None:
    """A box for a folder or a name, and models to click, each with what to look for in it."""
    with shared.row(gap="small", align="bottom"):
        ask_place(label_visibility="visible", placeholder=SUGGESTIONS[0].place)
    for number, suggestion in enumerate(SUGGESTIONS):
        with st.container(gap=None):
            st.button(
                f"{suggestion.name} · {suggestion.terms}",
                key=f"suggestion-{number}",
                type="tertiary",
                on_click=open_place,
                args=(suggestion.place, suggestion.text),
                disabled=st.session_state.get(OPENING) is not None,
            )
            frame.note(say(suggestion.about))


def ask_place(**kwargs: Any) -> None:
    """A box for a folder or a name, and a button that tries the same one again; `kwargs` are those of the box."""

    def open_it() -> None:
        widgets.keep_choice(PLACE)
        open_place(st.session_state[PLACE])

    st.session_state.setdefault(PLACE, "")
    label = say("A folder, or a name on the Hugging Face hub")
    st.text_input(label, key=widgets.menu_key(PLACE), on_change=open_it, **kwargs)
    st.button(say("Open"), key="open", on_click=open_it)


def say_memory() -> None:
    """Which models are in memory, which of them goes first, and for which one that would be so now."""
    sizes = model_shelf.SHELF.in_memory()
    if not sizes:
        return
    listed = ", ".join(say("{name} {size:.1f} GB", name=name, size=size / 1e9) for name, size in sizes.items())
    first = next(iter(sizes))
    line = message("In memory: {models}. {first} goes first where another one needs room, and comes back when chosen.")
    lines = [say(line, models=listed, first=first)]
    for name in model_shelf.SHELF.names():
        if leaving := model_shelf.SHELF.leaving(name):
            lines.append(say("Choosing {name} takes {models} out of memory.", name=name, models=", ".join(leaving)))
    frame.note(" ".join(lines))


@st.fragment(run_every=EVERY)
def _watch() -> None:
    """How far a download is, and a way to stop it."""
    opening = st.session_state.get(OPENING)
    if opening is None:
        return
    if opening.is_over:
        st.rerun()
    with shared.row(gap="small", key="opening"):
        if opening.total and opening.done < opening.total:
            line = say("{done:,.0f} of {total:,.0f} MB", done=opening.done / 1e6, total=opening.total / 1e6)
            st.progress(opening.done / opening.total, f"{opening.place}: {line}")
        else:
            st.progress(1.0 if opening.total else 0.0, say("{name} is being opened …", name=opening.place))
        st.button(say("Stop"), key="stop-opening", on_click=_stop)


def _stop() -> None:
    if opening := st.session_state.get(OPENING):
        opening.is_stopped = True
