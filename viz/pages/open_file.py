"""The page Your own model: models and files are opened here; what is chosen stands on the stage beside the list."""

from dataclasses import replace

import streamlit as st

from model.storage.checkpoint import available
from viz.text import errors
from viz.text.language import message, say
from viz.ui import controls, frame, language_menu, shared, widgets
from viz.ui.models import attention_file, model_choice, own_models
from viz.ui.models.own_models import FILE, Entry
from viz.ui.stage import stage_page
from viz.views import cached, model_shelf, view
from viz.views.cached import Request
from viz.views.view import View

LEFT = 27  # per cent of the width: names are short, and the stage has tiles of its own
LEAST = 260  # pixels of the large picture, below a row of its own
MARIAN = "python -m model import marian DIR|HUB_NAME --out checkpoints/NAME"
CHAT = "reads-as-chat"  # in the session: whether a text is read as a turn of a chat
STEER = message("Switch heads off →")
ELSEWHERE = {  # the same model and text on other pages: the file of each
    "language_model": message("Language model"),
    "translate": message("Translate"),
    "compare": message("Compare"),
    "atlas": message("Head atlas"),
}
FETCHED = message(
    "It goes into the cache of the hub's own library on this machine. Only safetensors are read, and no code of the "
    "repository is run. A download can be stopped, and one that fails leaves nothing."
)


def ask_what(entry_code: str) -> None:
    """Which model or file: the box, on this machine."""
    if model_choice.is_own_machine():
        hint = say("A folder, or a name on the Hugging Face hub")
        model_choice.ask_place(label_visibility="collapsed", placeholder=f"{hint}: HuggingFaceTB/SmolLM2-135M")
    else:
        frame.label(say("Whoever runs this app lists the models that are here."))
    if entry_code != FILE:
        st.button(say("A file of attention"), key="to-file", on_click=st.session_state.update, args=({"model": FILE},))


def take_arrived() -> None:
    """Choose the model that has just been opened, and the text for it."""
    state = st.session_state
    if (arrived := model_choice.arrived()) is None:
        return
    del state[model_choice.ARRIVED]
    name, text = arrived
    state["model"] = name
    if text:
        entry = next(entry for group in own_models.entries(None).values() for entry in group if entry.code == name)
        state[own_models.text_key(entry, own_models.mask_of(entry))] = text


def show_suggestion(entry: Entry, places: frame.Places) -> None:
    """A model of the hub that is not here yet: what to look for in it, and a button that fetches it."""
    suggestion = entry.suggestion
    assert suggestion is not None
    with places.answer:
        frame.answer(say(suggestion.about), suggestion.terms)
    with places.right_controls:
        st.button(
            say("Download and open · about {size} GB", size=suggestion.size),
            key="download",
            type="primary",
            on_click=model_choice.open_place,
            args=(suggestion.place, suggestion.text),
            disabled=st.session_state.get(model_choice.OPENING) is not None,
        )
    with places.right:
        frame.picture_title(suggestion.place)
        frame.note(say(FETCHED))
        frame.note(say("It reads: {text}", text=suggestion.text))


def show_file(places: frame.Places) -> None:
    """A file of attention, or where to drop one and how to make it."""
    file = attention_file.opened_file()
    if file is None:
        with places.answer:
            frame.answer(
                say("Heads of any model, from a file that any tool can write."),
                say("It holds weights alone: heads can be seen, not switched off."),
            )
        with places.right_controls:
            frame.label(say("Drop a file here, or make one as below."))
        with places.right:
            attention_file.ask_file()
            attention_file.explain()
        return
    with places.right_controls:
        part = attention_file.choose_part()
    with places.answer:
        frame.answer(own_models.sharp_heads(file.name, file.attention), " ".join(attention_file.sums(file.attention)))
    with places.right:
        attention_file.show(file, part)


def show_model(entry: Entry, places: frame.Places) -> None:
    """A model on the stage, with the text that it reads in the row above."""
    state = st.session_state
    place = places.answer.empty()
    with place:
        frame.answer(say("{name} is being opened …", name=entry.name))
    try:
        with places.right:  # where a spinner is shown
            mask = own_models.mask_of(entry)
            cached.translator(entry.code)
    except ValueError as error:
        with place:
            frame.answer(say("{name} cannot be opened.", name=entry.name), errors.sentence(error))
        return
    with places.right_controls:
        if linked_text := state[stage_page.QUERY].pop("text", None):  # of a link
            state[own_models.text_key(entry, mask)] = linked_text
        if linked_chat := state[stage_page.QUERY].pop("chat", None):
            state[CHAT] = linked_chat == "1"
        text = own_models.ask_text(entry, mask)
        is_chat = controls.choose_chat(entry.code, CHAT)
        steers = st.button(say(STEER), key="to-steer", type="primary")
    with places.right:
        example = Request(own_models.first_text(entry, mask), entry.code)
        asked = Request(text, entry.code, chat=is_chat)
        answer = shared.compute_or_keep(f"own-{entry.code}", asked, cached.compute, example)
    if answer is None:
        place.empty()
        return
    request, result = answer
    state[view.KEPT] = replace(
        state.get(view.KEPT, View()), text=request.text, model=entry.code, reference=None, chat=request.chat
    )
    with place:
        frame.answer(own_models.answer(entry.name, result), shared.describe(entry.code))
    with places.right:
        version = stage_page.version_of(result, request, request)
        address = language_menu.address(request.address())
        stage_page.show_stage(
            replace(version, recording=replace(version.recording, text=None), address=address), least=LEAST
        )
    with places.left:
        goes_to = show_elsewhere(entry)
    if page := "steer" if steers else goes_to:
        open_page(page, entry.code, request.text)


def show_elsewhere(entry: Entry) -> str | None:
    """Buttons for other pages that have this model; returns the one that was clicked."""
    translates = entry.task == own_models.ENCODER_DECODER
    pages = [page for page in ELSEWHERE if page != ("language_model" if translates else "translate")]
    if entry.code not in (*model_shelf.SHELF.names(), *available("language_model")):
        pages.remove("atlas")
    frame.note(say("The same model and text on another page:"))
    with shared.row(gap="small"):
        clicked = [page for page in pages if st.button(f"{say(ELSEWHERE[page])} →", key=f"to-{page}", type="tertiary")]
    return next(iter(clicked), None)


def open_page(page: str, name: str, text: str) -> None:
    """Go on with a model and a text on another page."""
    if page != "atlas":  # which takes the model that was shown last
        st.session_state[model_choice.ARRIVED] = name, text
    st.switch_page(f"../pages/{page}.py")


@widgets.fragment
def live() -> None:
    """The list at the left, what is chosen of it at the right."""
    state = st.session_state
    places = frame.places(LEFT)
    if widgets.has_arrived("model"):
        state[stage_page.QUERY] = st.query_params.to_dict()
    take_arrived()
    file = attention_file.opened_file()
    with places.left_controls:
        frame.label(say("Which model, or which file?"))
    with places.left:
        entry = own_models.choose(own_models.entries(file and file.name))
        memory = st.container()
    with places.question:
        ask_what(entry.code)
    with places.notes:
        model_choice.watch()
        attention_file.say_problem()
    if entry.suggestion is not None:
        show_suggestion(entry, places)
    elif entry.code == FILE:
        show_file(places)
    else:
        show_model(entry, places)
    with memory:  # the chosen model is there by now
        model_choice.say_memory()
    if model_choice.is_own_machine():
        with places.left, st.expander(say("A Marian translator beside those of this app")):
            st.caption(say("A command imports a Marian translator, which then stands beside those that ship:"))
            st.code(MARIAN, "bash", wrap_lines=True)


frame.opening(say("Your own model"))
live()
