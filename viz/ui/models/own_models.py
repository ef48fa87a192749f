"""The models of the page Your own model: what is open or listed here, what a click fetches, and what ships."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.results.recording import Recording
from model.storage.checkpoint import available, by_direction
from viz.stage.payload.answers import answer_of
from viz.text import words
from viz.text.language import message, say
from viz.ui import controls, frame, texts
from viz.ui.frame import Tile
from viz.ui.models import attention_file, model_choice
from viz.ui.models.model_choice import Suggestion
from viz.views import cached, model_shelf, view

FILE, WRITER = attention_file.CODE, "language model"  # beside the tasks of models of transformers
TEXTS = {  # that a model reads until the visitor types another one
    DECODER: texts.NAMES,
    ENCODER: view.EXAMPLE,  # of one that predicts no words
    ENCODER_DECODER: view.EXAMPLE,
    WRITER: "The game was released in",
}
ABOUT = {  # by task
    DECODER: message("goes on with a text"),
    ENCODER: message("reads both ways"),
    ENCODER_DECODER: message("reads a text and writes another"),
    WRITER: message("goes on with a text"),
}
BARE = message("predicts no words")
HERE = message("Here")
HUB = message("On the Hugging Face hub")
SHIPPED = message("In this app")


@dataclass(frozen=True)
class Entry:
    """One of the list: a model, a file, or a model of the hub that is not here yet."""

    code: str  # in addresses
    name: str
    task: str
    note: str = ""
    suggestion: Suggestion | None = None


def entries(file: str | None) -> dict[str, list[Entry]]:
    """What can be chosen, by heading; `file`: the name of the one that is open."""
    loaded = list(map(_of_shelf, model_shelf.SHELF.names()))
    loaded.append(Entry(FILE, file or say("A file of attention"), FILE, say("from any tool, .npz")))
    hub = [
        Entry(suggestion.place, suggestion.name, "", suggestion.terms, suggestion)
        for suggestion in model_choice.SUGGESTIONS
        if model_choice.is_own_machine() and suggestion.place not in model_shelf.SHELF
    ]
    return {heading: entries for heading, entries in ((HERE, loaded), (HUB, hub), (SHIPPED, _shipped())) if entries}


def _of_shelf(name: str) -> Entry:
    task = model_shelf.SHELF.task(name) or DECODER  # until it is loaded
    about = ABOUT[task] if model_shelf.SHELF.predicts_words(name) else BARE
    return Entry(name, Path(name.partition("@")[0]).name, task, say(about))


def _shipped() -> list[Entry]:
    """The checkpoints that attend, the default one first."""
    attending = available("transformer")
    listed = []
    for codes, names in by_direction()[0].items():
        languages = " → ".join(words.language(code, code) for code in codes)
        listed += [Entry(name, name, ENCODER_DECODER, languages) for name in names if name in attending]
    default = cached.default_checkpoint()
    listed.sort(key=lambda entry: entry.code != default)
    return listed + [Entry(name, name, WRITER, say(ABOUT[WRITER])) for name in available("language_model")]


def choose(groups: dict[str, list[Entry]]) -> Entry:
    """Let the visitor choose one, at first a model that is here, else the one that the app begins with."""
    by_code = {entry.code: entry for entries in groups.values() for entry in entries}
    loaded = [
        name
        for name in model_shelf.SHELF.names()
        if name in model_shelf.SHELF.in_memory() or model_shelf.SHELF.task(name)
    ]
    default = next(iter([*loaded, *(entry.code for entry in groups.get(SHIPPED, ()))]), FILE)
    tiles = [
        Tile(entry.code, entry.name, entry.note, heading="" if number else say(heading))
        for heading, listed in groups.items()
        for number, entry in enumerate(listed)
    ]
    return by_code[frame.choose_tile(say("Models"), tiles, "model", default, columns=2, scrolls=True)]


def mask_of(entry: Entry) -> str:
    """What stands for a masked word; "" of models that predict none. Errors as in `cached.translator`."""
    cached.translator(entry.code)  # which says whether its files hold a layer for that
    return model_shelf.SHELF.mask(entry.code)


def text_key(entry: Entry, mask: str) -> str:
    """Where a session keeps the text for a model: models of one task read the same one."""
    return f"own-text-{entry.task}-{mask}"


def first_text(entry: Entry, mask: str) -> str:
    """What a model reads until the visitor types another text."""
    return texts.masked(mask)[0] if mask else TEXTS[entry.task]


def ask_text(entry: Entry, mask: str) -> str:
    """The text that a model reads, in the row above its maps."""
    key = text_key(entry, mask)
    state = st.session_state
    if key not in state:
        state[key] = first_text(entry, mask)
    text = st.text_input(
        say("Text"),
        key=key,
        live="200ms",
        persist_state="session",
        label_visibility="collapsed",
        placeholder=say("Type a text"),
    )
    with st.popover(say("Examples"), key="examples"):
        controls.example_buttons(key, texts.examples_of(entry.code))
    return text or ""


def answer(name: str, result: cached.Result) -> str:
    """What a model says to a text, in one sentence computed from it."""
    reply = answer_of(result, result.next_words)
    if reply.text is not None:
        return say("{name} writes “{text}”", name=name, text=reply.text or say("(the model wrote nothing)"))
    if reply.next:
        (first, p), (second, q), *_ = reply.next
        line = message("{name} goes on with “{first}” ({p:.0%}), or else with “{second}” ({q:.1%}).")
        return say(line, name=name, first=first, p=p, second=second, q=q)
    if reply.masked:
        word, share = reply.masked[0][0]
        return say(
            message("For the masked word {name} predicts “{word}” ({share:.0%})."), name=name, word=word, share=share
        )
    return sharp_heads(name, result)


def sharp_heads(name: str, recording: cached.Result | Recording) -> str:
    """How many heads put most of a row on one token, of a file or a model that predicts no word."""
    largest = [np.nan_to_num(recording.attention(kind)).max(-1) for kind in recording.kinds]  # of each row, (L, H, T)
    of_heads = np.concatenate([weights.mean(-1).ravel() for weights in largest])
    n = int((of_heads > 0.5).sum())
    total = of_heads.size
    line = message("{n} of {total} heads of {name} put more than half of a row, on average, on one token.")
    return say(line, name=name, n=n, total=total)
