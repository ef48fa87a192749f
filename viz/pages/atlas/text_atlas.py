"""The atlas of a model that reads texts: what its heads do over them, measured when a visitor asks for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures.heads import text_roles, weights
from model.text.errors import Problem
from viz.pages.atlas import text_index
from viz.stage.payload.roles import heads_here
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.text.roles import role_name, rules_of
from viz.ui import controls, frame, language_menu, shared, thumbnails, widgets
from viz.ui.models import heads_roles, measured_texts
from viz.ui.models.text_measuring import TextReport
from viz.ui.stage import stage_page
from viz.views import cached, model_shelf
from viz.views.cached import Request
from viz.views.results import head_boards, heads_results
from viz.views.results.corpus_results import TextSet
from viz.views.results.head_sources import Source
from viz.views.snippets import Origin
from viz.views.view import View, pin_of, place_of_head

TEXT = "The cat sat on the mat, and the dog lay beside it."
LINES = f"""\
{TEXT}
When Mary and John went to the store, John gave a drink to Mary.
When Anna and Peter had dinner at home, Peter read a book to Anna.
In 1998, the company opened its first office in Berlin; in 2004, its second one in Paris.
She said that she would come, but nobody believed that she would.
The keys to the cabinet, which nobody had seen for years, were on the table.
A river runs through the town, and an old bridge crosses the river.
He poured water from the bottle into the cup until it was full.
The capital of France is Paris, and the capital of Italy is Rome.
One two three four five, one two three four five."""
RULES = message(
    "For decoders, also induction and duplicate token: the weight on the token after the earlier occurrence of a "
    "token, or on that occurrence, in random tokens that are read twice (Olsson et al. 2022). A head with more than a "
    "third of its weight there has that role."
)
COMMAND = "python -m model atlas --corpus --model {place} --data FILE.txt --out corpus.json"
PARTS = messages(texts="Many texts", strongest="Where each is strongest")
BY_PLACE = message("layer and head")
REPEATING = ("induction", "duplicate", "moves")  # measures of decoders alone
TILES = 3  # examples of a head
TILE_HEIGHT = 84  # pixels


def show(name: str, above: frame.Top) -> None:
    """The heads of a model, in one text until the visitor has all measured over texts."""
    measured_texts.take_up()
    with above.question:
        text = controls.text(
            say("Text"), TEXT, "atlas-text", live="200ms", label_visibility="collapsed", placeholder=say("Type a text")
        )
        try:
            texts = ask_texts(name)
        except ValueError as error:  # the model cannot be loaded
            with above.notes:
                shared.warn(errors.sentence(error))
            return
    with above.notes:
        measured_texts.show_progress()
    report = measured_texts.report_of(name)
    try:
        corpus = measured_texts.corpus_of(name)
        if corpus is not None and widgets.code_of("part", "texts") != "strongest":
            with above.box:
                text_index.show(corpus, PARTS, text if text.strip() else None)
            return
        if report and report.numbers:
            source = source_of(report.numbers)
            example_texts = report.numbers["texts"]
            caption = measured_caption(name, report, texts)
        else:
            example_texts = [text]
            source = of_text(cached.compute(_request(name, text)))
            caption = say(
                message("In one text. “Measure all heads” reads all texts and, for a decoder, random tokens as well.")
            )
    except ValueError as error:
        with above.notes:
            shared.warn(errors.sentence(error))
        return
    places = frame.sides(above)
    if corpus is not None:
        with places.right_controls:
            controls.choose(say("Show"), PARTS, "part", "texts", label_visibility="collapsed")
    show_heads(name, source, example_texts, caption, places)


def measured_caption(name: str, report: TextReport, texts: TextSet | None) -> str:
    """Over what the heads of a model were measured, and why there is no index where there is none."""
    numbers = report.numbers or {}
    caption = say(
        message("{sentences} texts, {tokens:,} tokens of {model}."),
        model=name,
        sentences=numbers["sentences"],
        tokens=numbers["tokens"],
    )
    if report.texts != texts:
        caption += " " + say("The texts have changed since they were measured.")
    if report.problem is not None:
        why = errors.text_of(report.problem) if isinstance(report.problem, Problem) else str(report.problem)
        caption += " " + say("This model gets no index over many texts: {why}.", why=why)
    return caption


def ask_texts(name: str) -> TextSet | None:
    """The texts of the visitor, a button that has heads measured over them, and the command that does so."""
    with st.popover(say("Texts"), key="atlas-texts", width=160):
        texts = measured_texts.ask_texts(name, LINES)
        measured_texts.offer_shipped(name)
    measured_texts.offer_measuring(name, texts)
    if name in model_shelf.SHELF:
        with st.popover(say("As a command"), type="tertiary"):
            st.code(COMMAND.format(place=model_shelf.SHELF.place(name)), "bash", wrap_lines=True)
    return texts


def source_of(report: Mapping[str, Any]) -> Source:
    """What `atlas.measure` says of heads over texts."""
    kinds = {kind: numbers | {"divergence": None} for kind, numbers in report["kinds"].items()}
    layers = {kind: numbers["layers"] for kind, numbers in kinds.items()}
    return Source(kinds, "found['kinds']", "", layers)


def of_text(result: cached.Result) -> Source:
    """What heads do in one text."""
    kinds = {}
    for kind in result.kinds:
        numbers = text_roles.tally(result, kind).numbers()
        kinds[kind] = numbers | {"role": text_roles.in_one_text(result, kind), "divergence": None}
    return Source(kinds, "here", "", {kind: result.layers(kind) for kind in result.kinds})


def show_heads(name: str, source: Source, texts: Sequence[str], caption: str, places: frame.Places) -> None:
    """All heads at the left, by a measure; at the right one of them in the texts where it says most."""
    kinds = list(source.kinds)
    repeating = [measure for measure in REPEATING if any(measure in numbers for numbers in source.kinds.values())]
    names = head_boards.MEASURES | {"place": BY_PLACE}
    by_weights = [name for name in weights.NAMES if any(name in numbers for numbers in source.kinds.values())]
    offered = [*repeating, *head_roles.NUMBERS, *by_weights]
    with places.left_controls:
        colour = controls.choose_from_list(
            say("Measure"), offered, "atlas-colour", offered[0], names, label_visibility="collapsed"
        )
        frame.label(say("Sort by"))
        order = controls.choose_from_list(
            say("Sort by"), ["place", *offered], "atlas-sort", "place", names, label_visibility="collapsed"
        )
    with places.right_controls:
        head = choose_head(source, kinds)
    requested = [measure for measure in (colour, order) if measure != "place"]
    kinds_with = [kind for kind in kinds if all(source.having(measure, [kind]) for measure in requested)]
    with places.left:
        if kinds_with:
            heads_roles.show_board(source, kinds_with, colour, head, Origin(name, ""), sort=order)
        else:
            st.info(say("No head of this model has this measure."))
        with st.expander(say("Numbers of this head")):
            heads_roles.show_card(head, {say("these texts"): source})
            frame.note(f"{say(head_boards.ROLE)} {say(RULES)}")
    with places.right:
        result = show_example(name, source, head, texts)
    with places.answer:
        looks = heads_results.in_words(result.attention(head.kind)[head.layer, head.head], head.kind)
        frame.answer(f"{title_of(source, head)}: {looks}", f"{caption} {counted_roles(source)}")


def title_of(source: Source, head: Head, has_role: bool = True) -> str:
    """A head and its role; of models with one kind of attention without the kind."""
    role = source.kinds[head.kind]["role"][head.layer][head.head]
    name = source.title(head.kind, head.layer, head.head)
    return f"{name} ({role_name(role)})" if has_role else name


def counted_roles(source: Source) -> str:
    """How many heads have the roles that most have."""
    roles = [role for numbers in source.kinds.values() for row in numbers["role"] for role in row]
    counts = {role: roles.count(role) for role in roles if role != "mixed"}
    most = sorted(counts, key=lambda role: -counts[role])[:4]
    listed = ", ".join(f"{role_name(role)} {counts[role]}" for role in most)
    return say("Roles of {total} heads: {listed}.", total=len(roles), listed=listed) if most else ""


def choose_head(source: Source, kinds: Sequence[str], default: Head | None = None) -> Head:
    """Let the visitor choose a head by its numbers, as a click on the board does; layers as the model numbers them."""
    default = default or telling_head(source, kinds)
    kind = default.kind
    if len(kinds) > 1:
        names = {kind: words.SHORT_KINDS[kind] for kind in kinds}
        kind = controls.choose_from_list(
            say("Attention"), kinds, "kind", default.kind, names, label_visibility="collapsed"
        )
    n_layers, n_heads = np.shape(source.kinds[kind]["role"])
    first = default if kind == default.kind else Head(kind, 0, 0)
    numbers = [source.number(kind, layer) for layer in range(n_layers)]
    frame.label(say("Layer"))
    layer = controls.choose_from_list(
        say("Layer"), numbers, "layer", numbers[first.layer], label_visibility="collapsed"
    )
    frame.label(say("Head"))
    number = controls.choose_from_list(say("Head"), range(n_heads), "head", first.head, label_visibility="collapsed")
    return Head(kind, numbers.index(layer), number)


def telling_head(source: Source, kinds: Sequence[str]) -> Head:
    """The head that repeats most, or moves names most; where neither is known the one with most on the token before."""
    for measure in ("induction", "moves", "previous"):
        for kind in kinds[::-1]:
            if measure in source.kinds[kind] and (kind != "cross" or measure == "previous"):
                numbers = np.array(source.kinds[kind][measure])
                return Head(kind, *analysis.largest_cell(numbers))
    return Head(kinds[0], 0, 0)


def show_example(name: str, source: Source, head: Head, texts: Sequence[str]) -> cached.Result:
    """The head in the texts where it attends most, small, and in one of them large; what was read there."""
    kind = head.kind
    layer = head.layer
    number = head.head
    numbers = source.kinds[kind]
    examples = numbers["examples"][layer][number][:TILES] if "examples" in numbers else []
    example_texts = [texts[int(example[0])] for example in examples] or list(texts[:1])
    results = [cached.compute(_request(name, text)) for text in example_texts]
    at = 0
    if len(example_texts) > 1:
        tiles = []
        for place, (text, result) in enumerate(zip(example_texts, results)):
            tiles.append(frame.Tile(str(place), _short(text), _said(examples[place]), pixels=head_pixels(result, head)))
        title = say("Texts in which this head attends most to one token other than the first and the query itself")
        at = int(frame.choose_tile(title, tiles, "atlas-example", "0", columns=TILES, height=TILE_HEIGHT))
    result = results[at]
    request = _request(name, example_texts[at])
    ring = tuple(examples[at][1:3]) if examples else None
    place = place_of_head(kind, source.number(kind, layer), number)
    pin = pin_of(kind, ring[0]) if ring else None
    if pin:
        place["pin"] = pin
    stage_page.show_head(result, request, place, [ring] if ring else [], _roles_of(source, result))
    for rule in rules_of([role_name(numbers["role"][layer][number])]).values():
        frame.note(rule)
    query = {"model": name, "text": example_texts[at], **place}
    st.html(language_menu.link(say("Open this head on the stage →"), "steer", query))
    return result


def _roles_of(source: Source, result: cached.Result) -> dict[str, Any]:
    """The roles that the board says, as the stage is sent them; in one text those of the text."""
    if source.variable == "here":
        return heads_here(result)
    names = {"mixed": "", head_roles.NO_CHOICE: ""}
    return {
        kind: ([[names.get(role, role) and role_name(role) for role in row] for row in numbers["role"]], None)
        for kind, numbers in source.kinds.items()
        if kind in result.kinds
    }


def _request(name: str, text: str) -> Request:
    return Request.of(View(text=text, model=name, beam=1), name)


def head_pixels(result: cached.Result, head: Head) -> np.ndarray:
    """A head in a text as pixels of `thumbnails.weight_pixels`, uint8 (T, S, 4)."""
    mask = result.mask(head.kind)
    mask = mask[head.layer] if mask.ndim == 3 else mask
    return thumbnails.weight_pixels(result.attention(head.kind)[head.layer, head.head], mask)


def _said(example: Sequence[Any]) -> str:
    """What a head does in a text: whom a token attends to most."""
    *_, query, key, value = example
    tokens = {name: token.strip("▁ ") or token for name, token in (("word", query), ("key", key))}
    return say("“{word}” attends to “{key}” with weight {value:.2f}", value=value, **tokens)


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"
