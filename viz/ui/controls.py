"""The controls of the pages, and what pages about one translation begin with.

Controls take a label, a key (in session and address), what is chosen at first (else the first option), the names of
options that are not sentences themselves, and further settings of the widget.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from model.results.translation import KINDS
from model.running.translator import Translator
from model.storage.checkpoint import available, checkpoints_folder
from viz.text import errors, words
from viz.text.language import message, say
from viz.ui import frame, shared, widgets
from viz.ui.widgets import control
from viz.views import cached, codes, model_shelf, view
from viz.views.cached import Request
from viz.views.view import FIELDS, View

EXAMPLE = next(iter(words.EXAMPLES.values()))
HINT = message("Type a sentence to translate it")
TO_TRAIN = message("To train one (the data first: python -m model download):")
TRAIN = "python -m model train {preset} --data-dir data --out checkpoints/{preset}"
PENALTY = message(
    "Divides the log-probability of a translation by ((5 + length) / 6)^α: large values prefer long ones."
)
AS_TEXT, AS_CHAT = message("As text"), message("As a chat turn")
ABOUT_CHAT = message("A chat turn: the model's own chat template writes the text as a message, up to where it answers.")
Number = TypeVar("Number", int, float)


def choose(
    label: str, options: Iterable, key: str, default=None, names: Mapping | None = None, widget=None, **settings
):
    """Let the visitor choose an option, with buttons or another widget of Streamlit."""
    names = options if isinstance(options, Mapping) else names
    options = list(options)
    settings |= {"key": key, "reader": codes.one_of(options), "default": options[0] if default is None else default}
    if names or widget is None:
        settings["format_func"] = lambda option: say(names[option]) if names else _spoken(option)
    if widget is None:
        widget = st.segmented_control
        settings = {"required": True, "wrap": True, **settings}
    return control(widget, label, options, **settings)


def _spoken(option: object) -> str:
    """An option without a name of its own; numbers as the language writes them."""
    return say("{number}", number=option) if isinstance(option, (int, float)) else say(str(option))


def choose_view(names: Mapping, key: str):
    """Choose one of the pictures of a page, by code."""
    return choose(say("Show"), names, key, label_visibility="collapsed")


def choose_part(parts: Mapping[str, tuple[str, Callable]], key: str) -> Callable:
    """Let the visitor choose one of the parts of a page; returns what shows it."""
    return parts[choose_view({code: name for code, (name, _) in parts.items()}, key)][1]


def choose_from_list(label: str, options: Iterable, key: str, default=None, names: Mapping | None = None, **settings):
    """Choose one of the options from a list without a visible label."""
    return choose(label, options, key, default, names, st.selectbox, **{"width": "stretch", **settings})


def choose_several(widget: Callable, label: str, options: list, default: list, key: str, **settings) -> list:
    """Choose several of the options."""
    reader = codes.several_of(options, settings.get("max_selections"))
    return control(widget, label, options, key=key, reader=reader, default=default, **settings)


def switch(label: str, key: str, help: str) -> bool:
    """A switch, off by default."""
    return control(st.toggle, label, key=key, reader=codes.switch, default=False, help=help)


def slider(label: str, low: Number, high: Number, default: Number, key: str, **settings) -> Number:
    """Choose a number from low to high."""
    return control(st.slider, label, low, high, key=key, reader=codes.number(low, high), default=default, **settings)


def steps(label: str, values: Sequence[Number], default: Number, key: str, **settings) -> Number:
    """Choose one of the numbers, in their order."""
    return choose(label, values, key, default, widget=st.select_slider, **settings)


def text(label: str, default: str, key: str, **settings) -> str:
    """A box for a text."""
    return control(st.text_input, label, key=key, reader=str, default=default, **settings)


def choose_chat(model: str, key: str) -> bool:
    """Whether a text is read as a turn of a chat; asked of models with a chat template, which are loaded by then."""
    if not model_shelf.SHELF.has_chat(model):
        return False
    st.session_state.setdefault(key, False)
    chosen = st.segmented_control(
        say("How the text is read"),
        [False, True],
        key=key,
        format_func=lambda is_chat: say(AS_CHAT) if is_chat else say(AS_TEXT),
        required=True,
        label_visibility="collapsed",
        help=say(ABOUT_CHAT),
        persist_state="session",
    )
    return bool(chosen)


def choose_head(
    counts: Callable[[str], tuple[int, int]], default: str, first=(0, 0), prefix: str = "", kinds: Sequence[str] = KINDS
) -> tuple[str, int, int]:
    """Let the visitor choose a head of some kinds; `counts` gives how many layers and heads a kind has."""
    with shared.row(gap="small", key=f"{prefix}head-row"):
        names = {kind: words.KINDS[kind].name for kind in kinds}
        kind = choose_from_list(
            say("Attention"),
            names,
            f"{prefix}kind",
            default if default in names else None,
            label_visibility="collapsed",
        )
        n_layers, n_heads = counts(kind)
        first_layer, first_head = first if kind == default else (0, 0)
        frame.label(say("Layer"))
        layer = choose_from_list(
            say("Layer"), range(n_layers), f"{prefix}layer", first_layer, label_visibility="collapsed"
        )
        frame.label(say("Head"))
        return (
            kind,
            layer,
            choose_from_list(say("Head"), range(n_heads), f"{prefix}head", first_head, label_visibility="collapsed"),
        )


def example_buttons(key: str, texts: dict[str, str] = words.EXAMPLES) -> None:
    """Buttons that put an example into the box with this key."""
    for number, (name, example) in enumerate(texts.items()):
        st.button(say(name), key=f"example-{number}", on_click=st.session_state.update, args=({key: example},))


def sentence_box(source: str | None, example: str, key: str = "text", texts: dict[str, str] = words.EXAMPLES) -> str:
    """A sentence in one line, for the row of a question: as `ask_sentence`, the examples in a menu."""
    state = st.session_state
    last_view = st.session_state.get(view.KEPT)
    if key == "text" and last_view is not None and key not in state and key not in st.query_params:
        state[key] = last_view.text  # what was translated on the page before
    typed = text(
        words.sentence_in(source), example, key, live="200ms", label_visibility="collapsed", placeholder=say(HINT)
    )
    with st.popover(say("Examples"), key="examples"):
        example_buttons(key, texts)
    if key == "text":
        state[view.KEPT] = replace(last_view or View(), text=typed)
    return typed


def ask_sentence(source: str | None, example: str, key: str = "text", texts: dict[str, str] = words.EXAMPLES) -> str:
    """A box for a sentence, with examples under it; returns the sentence, or the first example where it is empty."""
    state = st.session_state
    last_view = st.session_state.get(view.KEPT)
    if key == "text" and last_view is not None and key not in state and key not in st.query_params:
        state[key] = last_view.text  # what was translated on the page before
    typed = text(words.sentence_in(source), example, key, live="200ms", placeholder=say(HINT))
    with shared.row(gap="xsmall"):
        example_buttons(key, texts)
    if key == "text":
        state[view.KEPT] = replace(last_view or View(), text=typed)
    return typed


def restore_search(names: list[str], default: View, prefix: str = "") -> View:
    """Set the controls of `show_search` to what a page shows at first, by the address or as before."""
    state = st.session_state
    query = st.query_params.to_dict()
    values, problems = view.read(query, names, default if view.is_addressed(query) else state.get(view.KEPT, default))
    widgets.note_problems(problems)
    state.update({prefix + name: getattr(values, name) for name in FIELDS})
    # A model of another page may be none of this one's.
    state[f"{prefix}model"] = values.model if values.model in names else names[0]
    state[f"{prefix}forced"] = values.reference is not None
    return values


def show_search(names: list[str], prefix: str = "") -> None:
    """Controls of model, search and reference, whose keys begin with a prefix."""
    st.selectbox(say("Model"), names, key=f"{prefix}model")
    show_search_options(prefix)


def show_search_options(prefix: str = "") -> None:
    """Controls of search and reference."""
    state = st.session_state
    key = f"{prefix}reference"
    help_ = say("Teacher forcing: each step reads the reference that you type instead of what the model wrote.")
    if forced := st.toggle(say("Read a reference instead"), key=f"{prefix}forced", help=help_):
        state[key] = state.get(key) or state.get("shown-text", "")  # to be changed word by word
        st.text_input(say("Reference"), key=key, live=False if prefix else "200ms")
    settings: dict[str, Any] = {"key": f"{prefix}beam", "help": say(words.SEARCH), "disabled": forced}
    beam = st.select_slider(
        say("Beam width"), words.BEAMS, format_func=lambda width: say(words.BEAMS[width]), **settings
    )
    settings: dict[str, Any] = {"key": f"{prefix}penalty", "help": say(PENALTY), "disabled": forced or beam == 1}
    st.slider(say("Length penalty"), 0.0, 2.0, step=0.1, **settings)


def keep_search_options(prefix: str = "") -> None:
    """Keep what is chosen of search and reference where a model has neither, and no control shows it."""
    for name in ("forced", "beam", "penalty", "reference"):
        if prefix + name in st.session_state:
            st.session_state[prefix + name] = st.session_state[prefix + name]


def selection(names: list[str], prefix: str = "") -> dict[str, Any]:
    """What is chosen in the controls of `show_search`, by the names of a View."""
    state = st.session_state
    values = {name: state[prefix + name] for name in ("model", "beam", "penalty")}
    values["model"] = "" if values["model"] == names[0] else values["model"]
    return values | {"reference": state.get(f"{prefix}reference", "") if state[f"{prefix}forced"] else None}


def ask_in_row(asks_model: bool = True) -> Request:
    """Ask for what to translate, in the row of a question; errors as in `translator`.

    A page that has a choice of models of its own, of `arrived_models`, does not ask for the model once more.
    """
    names = arrived_models() if asks_model else translators()
    first = st.container(horizontal=True, gap="small", vertical_alignment="center")
    default = View()
    state = st.session_state
    is_set = [asks_model and state["model"] != names[0], state["forced"]]
    is_set += [state[name] != getattr(default, name) for name in ("beam", "penalty")]
    with frame.options(sum(is_set), "search"):
        if asks_model:
            show_search(names)
        else:
            show_search_options()
    options = selection(names)
    with first:
        card = getattr(cached.translator(options["model"] or names[0]), "card", {})
        text = sentence_box(card.get("source"), EXAMPLE)
    return _request(names, text, options)


def translators() -> list[str]:
    """The translators of this project, the default one first."""
    return list(dict.fromkeys((cached.default_checkpoint(), *available("transformer"))))


def arrived_models(others: Sequence[str] = ()) -> list[str]:
    """The translators and the `others` that can be chosen, the default first; sets the controls of `show_search`."""
    names = list(dict.fromkeys((*translators(), *others)))
    if widgets.has_arrived("penalty") or widgets.goes_through_history():
        restore_search(names, View(EXAMPLE))
    return names


def _request(names: list[str], text: str, options: dict[str, Any]) -> Request:
    """The request; the address and the session hold it, too."""
    state = st.session_state
    widgets.note_codes(dict.fromkeys(FIELDS[1:]) | View(**options).address())
    request = Request.of(View(text, **options), names[0])
    before = state[view.KEPT]
    if not options["model"] and before.model not in names:  # one that this page does not have
        options["model"] = before.model
    state[view.KEPT] = replace(before, **options)
    return request


def say_no_model(
    error: ValueError | None = None, line: str = message("No translation model found."), preset: str = "en-de"
) -> None:
    """Say that there is no model, and how one is trained."""
    st.error(say(line))
    why = [errors.sentence(error)] if error else []
    folder = say("The folder is {folder}.", folder=checkpoints_folder())
    shared.write_small(" ".join([*why, folder, say(TO_TRAIN)]), "no-model")
    st.code(TRAIN.format(preset=preset), "bash", wrap_lines=True)


def default_model() -> str | None:
    """The checkpoint that pages begin with; where it cannot be used, that is said."""
    name = cached.default_checkpoint()
    try:
        cached.translator(name)
    except ValueError as error:
        return say_no_model(error)
    return name


def default_translator() -> tuple[Translator | None, list[str]]:
    """The translation model that pages begin with; without one, why there is none, and the command that trains one."""
    try:
        return cached.loaded_as(Translator, cached.default_checkpoint()), []
    except ValueError as error:
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        line = " ".join([errors.sentence(error), folder, say(TO_TRAIN)])
        return None, [line, TRAIN.format(preset="en-de")]


def show_translation(
    places: frame.Top, show: Callable[[cached.Result, Request], None], asks_model: bool = True
) -> None:
    """Ask for a sentence in the row of the question, and show what is to be shown of its translation.

    `asks_model` as in `ask_in_row`.
    """
    try:
        with places.question:
            request = ask_in_row(asks_model)
    except ValueError as error:
        with places.notes:
            say_no_model(error)
        return
    with places.notes:
        answer = shared.compute_or_keep("answered", request, cached.compute, request.example)
        if answer is not None and answer[0] is not request:
            shared.write_small(answer[1].source, "shown")
    if answer is not None:
        current, result = answer
        st.session_state["shown-text"] = result.text
        show(result, current)
