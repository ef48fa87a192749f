"""The page Language model: one text on the stage, its next or masked words, and a continuation drawn by chance."""

from dataclasses import replace

import streamlit as st

from model.adapters.readers.layout import ENCODER, ReaderConfig
from model.adapters.readers.reader import Reader
from model.adapters.readers.tasks import DecoderReader
from model.running.translator import Translator, Writer
from model.storage.checkpoint import available
from viz.stage.payload import sampling
from viz.stage.payload.message import Version
from viz.text.language import current, message, say, using
from viz.ui import controls, language_menu, shared, texts, widgets
from viz.ui.models import cache_card, model_choice, systems_card
from viz.ui.stage import stage_page
from viz.views import cached, model_shelf, recipes, view
from viz.views.results.model_results import usable
from viz.views.snippets import Code, call, program, snippet
from viz.views.view import CHANCES, Chance, View, chance_of

EXAMPLE = "The game was released in"
BARS = """
import numpy as np
from viz.figures import bars

best = np.argsort(-$distribution, kind='stable')[:$count]
drawn = $drawn
figure = bars(
    drawn[best][:, None],
    $words_of(best.tolist()),
    value='probability',
    token_axis='next word',
)
figure.show()
"""
MASK = """
from model.experiments.masks import conventions
print(conventions(result.mask('decoder_self'))['additive'])
"""
CHAT = "language-model-chat"  # in the session: whether a text is read as a turn of a chat
KEPT = "language-model-kept"  # in the session: what is shown, a View and a Chance


def opened_view(names: list[str]) -> tuple[View, Chance]:
    """What the page shows: at first by the address, then by what was open before; later as it is chosen."""
    state = st.session_state
    came = widgets.has_arrived("beginning")
    if came:
        state[stage_page.QUERY] = st.query_params.to_dict()
    query = state[stage_page.QUERY]
    is_requested = state.pop(stage_page.ASKED, False)
    if is_requested or KEPT not in state or came and any(name in query for name in (*view.NAMES, *CHANCES)):
        (current_view, problems), (chance, chance_problems) = view.read(query, names, View(EXAMPLE)), chance_of(query)
        widgets.note_problems(problems + chance_problems if came else ())
        state[KEPT] = current_view, chance
    current_view, chance = state[KEPT]
    if came:
        state["beginning"] = current_view.text
        state[CHAT] = current_view.chat
        state["language-model"] = current_view.model if current_view.model in names else next(iter(names), None)
    return current_view, chance


@cached.cache_results()
def continued(request: cached.Request, chance: Chance) -> str:
    """The text with what the model writes after it, or the answer to a turn of a chat, drawn as `chance` says."""
    values = dict(vars(chance))
    count = values.pop("count")
    if request.messages is not None:
        return cached.loaded_as(DecoderReader, request.model).write(messages=request.messages, tokens=count, **values)
    loaded = request.translator
    assert isinstance(loaded, Writer | DecoderReader)  # the others predict no next word
    return loaded.write(request.text, count, **values)


def code(request: cached.Request, result: cached.Result) -> dict[str, str]:
    """Python of the pictures that no translation has; {temperature} and the like stand for what is chosen."""
    origin = recipes.origin(request).code
    text = recipes.text_code(request)
    is_reader = isinstance(result.config, ReaderConfig)
    chance = {name: Code(f"{{{name}}}") for name in ("temperature", "top_k", "top_p")}
    words_of = Code("translator.words" if is_reader else "translator.tokenizer.tokens")
    bars = snippet(
        BARS,
        distribution=call("translator.distribution", *text),
        count=sampling.SHOWN,
        drawn=call("translator.distribution", *text, unknown=None if is_reader else False, **chance),
        words_of=words_of,
    )
    return {"words": program(origin, bars), "mask decoder_self": program(origin, MASK)}


def version_of_text(name: str, text: str, current_view: View, chance: Chance) -> Version:
    """What the stage shows of a text that a model reads."""
    loaded = cached.translator(name)
    request = cached.Request(text, name, 1, chat=current_view.chat)
    result = cached.compute(request)
    of_stage = stage_page.version_of(result, request, current_view)
    if result.next_logits is None or isinstance(loaded, Translator):
        return of_stage
    after = ""
    seed = {}
    if chance.seed is not None:
        after = continued(request, chance)
        after = after.removeprefix(result.text) if request.messages is None else after
        seed = {"seed": str(chance.seed)}
    unknown = loaded.tokenizer.unk_id if isinstance(loaded, Writer) else None
    return replace(
        of_stage,
        # Each token of the text has its own row.
        recording=replace(of_stage.recording, text=result.text, predicted_tokens=[]),
        address=language_menu.address(current_view.address() | seed),
        notes=[*of_stage.notes, *unknown_words(result, loaded)],
        code=code(request, result),
        next=sampling.payload(result.next_logits, cached.Names(loaded), chance, after, unknown),
    )


def unknown_words(result: cached.Result, loaded: Writer | Reader) -> list[str]:
    """A sentence on the words that a model of whole words does not know."""
    if isinstance(loaded, Reader) or not (count := result.target_tokens.count(loaded.tokenizer.UNK)):
        return []
    line = message("{count} of {total} words are not in the model's list of {size:,} and are read as <unk>.")
    return [say(line, count=count, total=len(result.target_tokens) - 1, size=len(loaded.tokenizer))]


def show() -> None:
    """The page."""
    names, problems = usable(available("language_model"))
    names += model_shelf.SHELF.names(model_shelf.WRITERS)
    if problems:
        shared.write_small("\n".join(problems), "unreadable")
    if not names and not model_choice.is_own_machine():
        controls.say_no_model(line=message("No language model found."), preset="wikitext2-lm")
        return
    before, chance = opened_view(names)
    came = model_choice.arrive(names, "language-model", "beginning")
    state = st.session_state
    with shared.row(gap="small", key="ask-text"):
        name = state.get("language-model") or ""
        label, hint = say("Beginning"), say("Type a beginning")
        if model_shelf.SHELF.task(name) == ENCODER or not model_shelf.SHELF.predicts_words(name):
            label, hint = say("Text"), say("Type a text")
        text = st.text_input(label, key="beginning", live="200ms", placeholder=hint, label_visibility="collapsed") or ""
        with st.popover(say("Examples"), key="examples"):
            controls.example_buttons("beginning", texts.examples_of(name))
        label = name or say("Model")
        translators = stage_page.translators()
        memory = model_choice.choose(label, names, "language-model", "beginning", elsewhere=translators)
        if names:
            if state["language-model"] not in model_shelf.SHELF:
                systems_card.menu(names)
            cache_card.menu(state["language-model"], text)
        is_chat = bool(names) and _choose_chat(state["language-model"])
    if not names:
        controls.say_no_model(line=message("No language model found."), preset="wikitext2-lm")
        return
    name = state["language-model"]
    current_view = replace(before, text=text, model="" if name == names[0] else name, chat=is_chat)
    if came or current_view != before:  # what was drawn went on with another text
        chance = replace(chance, seed=None)
    state[KEPT] = current_view, chance
    with st.container():
        key = f"language-model-answered-{name}"
        example = (name, EXAMPLE)
        answered = shared.compute_or_keep(
            key, (name, text), lambda names: version_of_text(names[0], names[1], current_view, chance), example
        )
    with memory:
        model_choice.say_memory()
    if answered is None:
        return
    (name, _), of_stage = answered
    if name in model_shelf.SHELF:  # it is on the other pages of the stage, too, which go on with it
        kept = state.get(view.KEPT, View())
        state[view.KEPT] = replace(kept, text=text, model=name, reference=None, chat=is_chat)
    stage_page.show_stage(of_stage, owned=("seed",))
    shared.write_small(about(name), "card")


def _choose_chat(name: str) -> bool:
    """Whether the text is read as a turn of a chat; a model that cannot be loaded says so below."""
    try:
        cached.translator(name)
    except ValueError:
        return False
    return controls.choose_chat(name, CHAT)


def about(name: str) -> str:
    """What a model is, and what its texts begin with."""
    if isinstance(cached.translator(name), Reader):
        return shared.describe(name)
    start = say("<eos>, the end of the line before, comes first. <unk>, any word that the list lacks, is never drawn.")
    return f"{start} {shared.describe(name)}"


st.fragment(using(current())(show))()  # the language is looked up once, not for each word
