"""The page Masks: who may attend to whom in a padded batch, and what leaks where a mask is left out."""

from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.experiments import text_masks
from model.interventions.edits import Cell, Edits
from model.results.translation import SIDES
from model.running.translator import Translator
from model.storage.checkpoint import available
from viz.pages.masks import captions, conventions, measurements, pictures
from viz.pages.masks.compared import Choices, Compared, head_of, of_batch, of_text
from viz.text import errors, words
from viz.text.language import messages, say
from viz.text.words_masks import LEFT_OUT, PAIRS, SENTENCES, TEXT_MASKS, VIEWS, kind_of
from viz.ui import controls, frame, language_menu, shared, widgets
from viz.views import cached
from viz.views.results import mask_results
from viz.views.results.mask_results import Leak, Request, Result, TextRequest, TextResult

CELLS = "cells"
WINDOWS = 2, 3, 4, 6, 8
MODERN = "wikitext2-modern"
OF_TEXT = ("both", "head", "code")


def flip(*cell: int) -> None:
    """Open a blocked cell of a query and a key, or block an open one."""
    st.session_state[CELLS] = sorted({*st.session_state.get(CELLS, ())} ^ {cell})


def forget_flips() -> None:
    """Another mask or sentence: flipped cells are of the one before, and its most telling head is opened."""
    st.session_state[CELLS] = []
    frame.forget_head()


def ask_texts(checkpoint: str) -> tuple[Request, int]:
    """The batch, and the number of the sentence that is shown; the other sentences keep their texts."""
    state, query = st.session_state, st.query_params
    once: dict[str, Any] = {"on_change": forget_flips, "label_visibility": "collapsed"}
    count_of = widgets.code_of("sentences", "3")
    count = int(count_of) if count_of in ("2", "3", "4") else 3
    if widgets.code_of("batch", "sentences") == "example":
        number = controls.choose(say("Sentence"), (1, 2, 3), "sentence", **once)
        return Request(checkpoint), number - 1
    number = controls.choose(say("Sentence"), range(1, count + 1), "sentence", **once)
    card = cached.loaded_as(Translator, checkpoint).card
    sides = messages(source="Source", target="Target").items()
    pairs = []
    for at, examples in enumerate(PAIRS[:count], 1):
        pair = []
        for (side, name), example in zip(sides, examples):
            key, label = f"{side}{at}", f"{words.language(card.get(side), name)} {at}"
            if at == number:
                pair.append(controls.text(label, example, key, live="200ms", label_visibility="collapsed"))
                continue
            text = state.setdefault(key, query.get(key, example))
            widgets.note_codes({key: None if text == example else text})
            pair.append(text)
        pairs.append(pair)
    return Request(checkpoint, *zip(*pairs)), number - 1


def settings(checkpoint: str) -> DeltaGenerator:
    """What is set once: which batch, and how many sentences it has; and the model. Returns the menu, for more."""
    batches = messages(sentences="My sentences", example="Worked example")
    help_ = say("4, 2 and 6 tokens in a batch 7 wide, the same on both sides: each token is 2, padding 1 (here: 0).")
    count = sum(
        widgets.code_of(key, default) != default for key, default in (("batch", "sentences"), ("sentences", "3"))
    )
    count += bool(widgets.code_of(CELLS, ""))
    menu = frame.options(count, "masks")
    with menu:
        if controls.choose(say("Batch"), batches, "batch", help=help_) == "sentences":
            controls.choose(say("Sentences"), (2, 3, 4), "sentences", 3)
        flipped = st.container()
        shared.write_card(checkpoint)
    return flipped


def language_model() -> str | None:
    """The model under the masks of texts: that of today where it is there."""
    names = available("language_model")
    return MODERN if MODERN in names else next(iter(names), None)


def texts_of(request: Request, window: int) -> TextRequest | None:
    """The source texts as one row of the language model; None without a model or texts."""
    name = language_model()
    return TextRequest(name, request.sources, window) if name and request.sources else None


def flipped_cells(compared: Compared, sentence: int) -> list[tuple[int, int, int]]:
    """The cells that a visitor flipped, of which more can be chosen: sentence, query and key of each."""
    queries, keys = compared.names
    spots = {(t, s): f"{t} {row} → {s} {key}" for t, row in enumerate(queries) for s, key in enumerate(keys)}
    cells = controls.choose_several(
        st.multiselect,
        say("Flipped cells"),
        list(spots),
        [],
        CELLS,
        format_func=lambda cell: spots.get(tuple(cell), ""),
        placeholder=say("Click a cell of the mask"),
        help=say("Opens blocked cells and blocks open ones, in all layers and heads, for this sentence."),
    )
    return [(sentence, *cell) for cell in sorted(cells)]


def link_to_steer(request: Request, selection: Choices, result: Result) -> None:
    """On Steer the model writes a translation of its own with the flipped cells."""
    kind = kind_of(selection.mask)
    real: dict[str, int] = dict(zip(("source", "target"), result.lengths[selection.sentence]))
    n_queries, n_keys = (real[side] for side in SIDES[kind])
    mask = result.original.masks[kind]
    cells = [Cell(kind, t, s, not mask[b, t, s]) for b, t, s in selection.cells if t < n_queries and s < n_keys]
    if cells and request.sources:
        query = {"text": request.sources[selection.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(language_menu.link(say(SENTENCES["to_steer"]), "steer", query))


def compute_texts(request: TextRequest | None, places: frame.Places) -> TextResult | None:
    """The texts in one row under their masks; where they do not fit, the notes say why."""
    if request is None:
        return None
    try:
        return mask_results.compute_texts(request)
    except ValueError as error:
        with places.notes:
            shared.write_small(errors.sentence(error), "texts")
        return None


def choose_window(of_texts: TextRequest | None, mask: str, window: int) -> int:
    """The keys that a window leaves; for the other masks of a text `window`, and which model reads the texts."""
    if mask == "window":
        frame.note(say("Window (keys)"))
        return controls.choose(say("Window (keys)"), WINDOWS, "window", text_masks.WINDOW, label_visibility="collapsed")
    if of_texts is not None:
        frame.note(say("The source texts in one row, read by {name}.", name=of_texts.checkpoint))
    return window


def show_view(
    view: str,
    request: Request,
    selection: Choices,
    compared: Compared,
    place: tuple[int, int],
    leak: Leak | None,
    result: Result | None,
) -> None:
    """Draw the large picture or the table that a visitor chose, and what is said below it.

    Args:
        view: a key of VIEWS.
        place: layer and head.
        leak: what that head attends to where a mask is left out.
        result: the batch without and with what is changed; None for a mask of a text.
    """
    is_changed = result is None or bool(selection.cells) or selection.left_out != "nothing"
    if view == "both":
        pictures.draw_head(compared, place, leak, is_changed)
    elif view == "head":
        pictures.draw_mask(compared, selection, result, flip)
    elif view == "code":
        conventions.show_conventions(compared)
    elif view == "sentences" and result is not None:
        pictures.show_sentences(compared, selection, result)
    elif view == "numbers":
        measurements.show_numbers(request, selection)
        if is_changed and result is not None:
            frame.note(measurements.effect(compared, selection, result, place))
    elif result is not None:
        measurements.show_nothing(compared, selection, result, place)
    if view in ("both", "head"):
        frame.note(captions.under_picture(compared, selection, leak, result, place))
        if selection.cells and result is not None:
            link_to_steer(request, selection, result)


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    with places.notes:
        if (checkpoint := controls.default_model()) is None:
            return
    with places.question:
        request, sentence = ask_texts(checkpoint)
        flipped = settings(checkpoint)
    with places.notes:
        answered = shared.compute_or_keep("masks-answered", request, mask_results.compute, Request(checkpoint))
    if answered is None:
        return
    request, plain = answered
    sentence = min(sentence, len(plain.lengths) - 1)
    window = int(widgets.code_of("window", str(text_masks.WINDOW)))
    of_texts = texts_of(request, window)
    texts = compute_texts(of_texts, places)
    with places.left:
        tiles = pictures.mask_tiles(plain, sentence, texts)
        mask = frame.choose_tile(
            say("Masks"), tiles, "mask", "decoder_self", columns=4, fills=True, on_change=forget_flips
        )
    is_text = mask in TEXT_MASKS
    left_out = "nothing"
    with places.left_controls:
        if is_text:
            window = choose_window(of_texts, mask, window)
        else:
            left_out = controls.choose(
                say("Leave out"), LEFT_OUT, "without", "look-ahead", label_visibility="collapsed"
            )
    with places.right_controls:
        view = controls.choose_view({name: VIEWS[name] for name in (OF_TEXT if is_text else VIEWS)}, "show")
    selection = Choices(sentence, mask, left_out, [])
    result = None
    if of_texts is not None and is_text:
        compared = of_text(of_texts, mask)
    else:
        compared, _ = of_batch(request, selection)
        with flipped:
            selection = replace(selection, cells=flipped_cells(compared, sentence))
        compared, result = of_batch(request, selection)
    with places.left:
        frame.picture_title(say(SENTENCES["heads"]), small=say(SENTENCES["layers_heads"]))
        place = frame.choose_head(compared.weights[1], compared.masks[1], compared.most_telling_head)
        frame.note(captions.purpose(mask, window))
    _, leak = head_of(compared, place)
    with places.answer:
        frame.answer(
            captions.answer_of(compared, selection, leak, result),
            captions.below_answer(compared, selection, result, texts if is_text else None),
        )
    with places.right:
        show_view(view, request, selection, compared, place, leak, result)


frame.opening(say("Masks"))
live()
