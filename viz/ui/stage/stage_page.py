"""The row above a stage (sentence, examples, model, search), and what the stage shows of a translation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import streamlit as st

from model.adapters.readers.layout import ReaderConfig
from model.config import StackConfig
from model.experiments.inside import are_whole
from model.results.recording import CANDIDATES, Recording
from model.results.translation import Translation
from model.storage.checkpoint import available, by_direction
from viz.stage import assets
from viz.stage.payload import inside
from viz.stage.payload import message as stage_message
from viz.stage.payload.answers import answer_of, line_of
from viz.stage.payload.notes import of_reading
from viz.stage.payload.payloads import InsidePayload, NamesPayload
from viz.stage.payload.roles import heads_here, heads_of
from viz.text import words
from viz.text.language import current, message, say, using
from viz.ui import controls, frame, language_menu, shared, texts, widgets
from viz.ui.models import model_choice
from viz.ui.stage import why_results
from viz.ui.stage.effects_results import effects_payload
from viz.views import cached, model_shelf, recipes, view
from viz.views.results import heads_results
from viz.views.snippets import Code, Plot, program, snippet, split_imports
from viz.views.view import FIELDS, View

Show = Callable[[list[str], View, bool], None]

# In the session: the address as the stage knows it; that it changed; what the visitor is shown who has just come.
QUERY = "stage-query"
ASKED = "stage-asked"
CAME = "stage-came"
PREFIX = "stage-"  # of the keys of controls
LEAST = 200  # pixels of the large picture, on a page that shows one map
LOW = 160  # or of each of several

CANDIDATES_CODE = """
import model.analysis.maps as analysis
import numpy as np
from viz.figures import candidates_heatmap

ids, logs = analysis.candidates(result.trace['logits'], $count)
names = [$words_of(row.tolist()) for row in ids]
figure = candidates_heatmap(
    np.exp(logs),
    result.predicted_tokens,
    names,
    output_probabilities=np.exp(result.log_probabilities),
)
figure.show()
"""


def typing_pause() -> str | bool:
    """The pause in typing after which Streamlit's text boxes have a sentence translated."""
    return st.session_state.get("stage-live", True) and "200ms"


def translators() -> list[str]:
    """The checkpoints that translate, the default one first, and the encoder-decoders of transformers."""
    ours = (cached.default_checkpoint(), *chain(*by_direction()[0].values()))
    return list(dict.fromkeys((*ours, *model_shelf.SHELF.names(model_shelf.TRANSLATORS))))


def models() -> list[str]:
    """All that attends: the checkpoints that translate, language models, and those of transformers."""
    return list(dict.fromkeys((*translators(), *available("language_model"), *model_shelf.SHELF.names())))


def show_page(
    names: list[str],
    show: Show,
    elsewhere: Sequence[str] = (),
    first_text: Callable[[list[str]], str | None] = lambda names: None,
) -> None:
    """Draw a page of the stage with a choice of models, the default one first.

    Args:
        show: draws what is below the row, given the names, the request, and whether the visitor has just come.
        elsewhere: as in `model_choice.choose`.
        first_text: the text of a visitor who has just come, where that is another one than the page before had.
    """
    state = st.session_state
    # A page that is left while it is drawn keeps some of its controls.
    if widgets.has_arrived("sentence", *(PREFIX + name for name in ("model", "forced", "beam", "penalty"))):
        text = first_text(names)
        state[CAME] = controls.restore_search(names, View(), PREFIX)
        if text is not None:
            state[CAME] = replace(state[CAME], text=text)
        state[QUERY] = st.query_params.to_dict()
        state["sentence"] = state[CAME].text
    model_choice.arrive(names, "stage-model", "sentence")
    with shared.row(gap="small", key="ask"):
        with st.popover(say("Examples"), key="examples"):
            controls.example_buttons("sentence", texts.examples_of(state["stage-model"]))
        label = state["stage-model"]
        if _writes_target():
            how = say("reference") if state["stage-forced"] else recipes.decoded(state["stage-beam"])
            label = f"{label} · {how}"
        memory = model_choice.choose(label, names, "stage-model", "sentence", _search, elsewhere)
        with st.container(key="live"):
            _live(names, show)
        with memory:
            model_choice.say_memory()


def _writes_target() -> bool:
    return recipes.writes_target(st.session_state["stage-model"])


def _search() -> None:
    """How the model searches, where it does."""
    if _writes_target():
        controls.show_search_options(PREFIX)
    else:
        controls.keep_search_options(PREFIX)
    st.toggle(say("Translate while typing"), value=True, key="stage-live")


@st.fragment  # another sentence, or what is asked for on the stage, leaves the rest of the page alone
def _live(names: list[str], show: Show) -> None:
    state = st.session_state
    with using(current()):  # the language is looked up once, not for each word
        came = state.pop(CAME, None)
        selection = controls.selection(names, PREFIX)
        current_view = came or last_view(names)
        card = {}
        broken = None
        try:
            card = getattr(cached.translator(state["stage-model"]), "card", {})
        except ValueError as error:
            broken = error
        label = words.sentence_in(card.get("source"))
        hint = say(controls.HINT)
        if not _writes_target():
            label, hint = say("Text"), say("Type a text")
        text = st.text_input(label, key="sentence", live=typing_pause(), placeholder=hint, label_visibility="collapsed")
        is_chat = broken is None and controls.choose_chat(state["stage-model"], f"{PREFIX}chat")
        with st.container(key="below"):
            if broken is not None:
                controls.say_no_model(broken)
                return
            show(names, replace(current_view, text=text or "", chat=is_chat, **selection), came is not None)


def last_view(names: list[str]) -> View:
    """The view of the page before this one, of these models."""
    if st.session_state.pop(ASKED, False):
        options = {name: value for name, value in st.session_state[QUERY].items() if name not in FIELDS}
        return view.read(options, names)[0]
    return st.session_state.get(view.KEPT, View())


def keep_query(query: dict[str, str]) -> None:
    """Keep in the session what the stage requests."""
    st.session_state[QUERY] = query
    st.session_state[ASKED] = True


def show_stage(
    version: stage_message.Version,
    before: stage_message.Version | None = None,
    on_request: Callable = keep_query,
    on_action: Callable = lambda action: None,
    key: str = "stage",
    **settings: Any,
) -> None:
    """Show it on a stage; `on_action` as `on_did` of `viz.stage.assets.stage`, and key.

    The others are as in `viz.stage.payload.message.message`.
    """
    assets.stage(stage_message.message(version, assets.keep, before, **settings), on_request, on_action, key=key)


def show_map(
    version: stage_message.Version,
    place: Mapping[str, str],
    rings: Sequence[tuple[int, int]] = (),
    key: str = "stage",
    share: float = 1.0,
    before: stage_message.Version | None = None,
) -> None:
    """Show one map of a recording, which the page chooses: of the stage only the picture, and in a high window lines.

    Args:
        place: what is open, by names of `view.PLACE` and `view.OPTIONS`.
        rings: the cells to frame, by row and column.
        key: of a map beside another one; it has no lines.
        share: of what is left of the window, which it takes; the rest is for rows of maps under it.
        before: as in `show_stage`.
    """
    version = replace(version, recording=replace(version.recording, text=None), notes=())
    with st.container(key="one-map" if key == "stage" else f"map-beside-{key}"):
        setting = {**place, "rings": rings, "room": share}
        least = LEAST if key == "stage" else LOW
        show_stage(version, before, on_request=lambda query: None, key=key, setting=setting, least=least)


def show_head(
    result: cached.Result,
    request: cached.Request,
    place: Mapping[str, str],
    rings: Sequence[tuple[int, int]] = (),
    roles: Mapping[str, stage_message.Known] | None = None,
) -> None:
    """Show the map of one head in a text.

    Args:
        result: what the model did with the text of `request`.
        place: kind, layer (as the model numbers it) and head, maybe the pinned token, as an address writes them.
        rings: the cells to frame, by row and column.
        roles: by kind the roles of all heads, if not those that `version_of` finds.
    """
    st.session_state[QUERY] = place
    version = version_of(result, request, View(text=request.text), rowwise=False, splits=False)
    if roles is not None:
        version = replace(version, roles=roles)
    show_map(version, place, rings)


@dataclass(frozen=True)
class HeadMap:
    """A head beside others: what stands above it, its recording, and its figure for what is saved.

    The rings are as in `show_map`, the title as in `frame.picture_title`; of another recording it shows what differs
    from that.
    """

    plot: Plot
    title: tuple[str, ...]
    recording: Recording
    kind: str
    layer: int
    head: int
    rings: Sequence[tuple[int, int]] = ()
    names: NamesPayload | None = None
    minus: Recording | None = None


def show_maps(maps: Mapping[str, HeadMap], share: float = 1.0) -> None:
    """Show heads beside each other, by key, each with its title and what saves it; share as in `show_map`."""
    with st.container(key=f"maps-row-{next(iter(maps))}"):
        columns = st.columns(len(maps), gap="small")
    for (key, head_map), column in zip(maps.items(), columns):
        place = view.place_of_head(head_map.kind, head_map.layer, head_map.head)
        before = stage_message.Version(head_map.minus) if head_map.minus else None
        if before:
            place |= {"version": "difference", "stretch": "1"}
        with column:
            frame.title_row(head_map.plot, key, head_map.title)
            version = stage_message.Version(head_map.recording, names=head_map.names)
            show_map(version, place, head_map.rings, key, share, before)


@cached.cache_results(16)
def roles_of(checkpoint: str, language: str) -> dict[str, stage_message.Known]:
    """The roles of a checkpoint's heads by kind, where they were measured."""
    return heads_of(heads_results.usable_report(checkpoint))


def program_of(code: str) -> stage_message.Program:
    """The snippet that makes `result`, as the stage builds on it."""
    return stage_message.Program(*split_imports(code))


def candidates_code(result: Translation, code: str) -> dict[str, str]:
    """Python that makes the picture of the next words of `result`, given the snippet that makes it."""
    words_of = "translator.words" if isinstance(result.config, ReaderConfig) else "translator.tokenizer.target.tokens"
    return {"words": program(code, snippet(CANDIDATES_CODE, count=CANDIDATES, words_of=Code(words_of)))}


def inside_of(result: cached.Result, request: cached.Request) -> InsidePayload | None:
    """The row that the address asks for."""
    place = inside.place_of(st.session_state[QUERY])
    if not place or place.kind not in result.kinds or place.layer not in result.layers(place.kind):
        return None
    _, *shape = result.attention(place.kind).shape
    if not all(0 <= n < size for n, size in zip((place.head, place.row), shape)):
        return None
    config = result.config
    arrays, rotation = cached.layer_of(request, place.kind, place.layer)
    return inside.payload(place, arrays, getattr(config, "dropout", 0.0), getattr(config, "score_cap", 0.0), rotation)


def splits_scores(result: cached.Result) -> bool:
    """Whether the scores of the model of a result may be split: it has a residual stream that can be read."""
    config = result.config
    return not config.read_only if isinstance(config, ReaderConfig) else isinstance(config, StackConfig)


def has_rows(result: cached.Result) -> bool:
    """Whether all steps of a row are recorded."""
    config = result.config
    if isinstance(config, ReaderConfig):
        return not config.read_only
    return isinstance(config, StackConfig) and are_whole(config)


def predicts_words(result: Translation) -> bool:
    """Whether the model of a result has an output over words."""
    return not isinstance(result.config, ReaderConfig) or result.config.has_words


def version_of(
    result: cached.Result, request: cached.Request, current_view: View, rowwise: bool = True, splits: bool = True
) -> stage_message.Version:
    """What the stage shows of a translation.

    Args:
        rowwise: whether also how its rows are computed, where nothing is changed.
        splits: whether also why its heads look where they look, where nothing is changed.
    """
    rowwise = rowwise and not request.changes and has_rows(result)
    splits = splits and not request.changes and splits_scores(result)
    notes = []
    code = recipes.origin(request).code
    if request.reference is not None and recipes.writes_target(request.model):
        notes.append(words.how_decoded(request))
    notes += of_reading(result)
    if (mask := model_shelf.SHELF.mask(request.model)) and not result.masked_words:
        line = message("No word is masked: write {mask} in the place of one, and the model says which word it expects.")
        notes.append(say(line, mask=mask))
    if not result.finished:
        notes.append(say("The translation stopped at the length limit."))
    effects, payload = effects_payload(result, request, st.session_state[QUERY], code)
    text = line_of(answer_of(result, result.next_words))
    recording = replace(result.recording(result.next_words, name=request.model), text=text)
    is_reader = isinstance(result.config, ReaderConfig)
    return stage_message.Version(
        replace(recording, effects=effects),
        roles=heads_here(result, effects) if is_reader else roles_of(request.model, current()),
        is_live=is_reader,
        address=language_menu.address(current_view.address() | request.changes.address()),
        notes=notes,
        program=program_of(code),
        code=candidates_code(result, code) if result.next_words else {},
        inside=inside_of(result, request) if rowwise else None,
        why=why_results.open_cell(request, st.session_state[QUERY]) if splits else None,
        parts=why_results.parts_address(request) if splits else None,
        shares=why_results.shares_address(request) if splits else None,
        rowwise=rowwise,
        splits=splits,
        predicts=predicts_words(result),
        effects=payload,
    )
