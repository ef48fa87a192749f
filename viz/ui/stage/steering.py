"""What a visitor changes inside the model: actions on the stage, and what the stage is sent of them."""

import math
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from model.adapters.readers.reader import Reader
from model.analysis import comparison
from model.analysis import maps as analysis
from model.decoding import Search
from model.interventions.cuts import Cut
from model.interventions.edits import Cell, Edits, Force, Head, all_heads
from model.measures.search_attention import looked_at
from model.results.recording import axis_tokens
from model.results.translation import SIDES
from model.running.translator import Translator, Writer
from model.text.cleaning import tidy
from model.text.errors import Problem
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.stage.payload.answers import answer_of, line_of
from viz.stage.payload.cuts import part_name
from viz.stage.payload.payloads import Action, SteeringPayload
from viz.stage.payload.roles import keep_roles
from viz.stage.words import field, unique_labels
from viz.text.language import message, messages, say
from viz.ui.stage import cut_paths, stage_page
from viz.views import cached, recipes
from viz.views import changes as change
from viz.views.cached import Request, cache_results, compute
from viz.views.changes import Changes
from viz.views.results import heads_results
from viz.views.turns import in_turn
from viz.views.view import View

_KINDS = messages(cross="cross", encoder_self="encoder", decoder_self="decoder")
_SAID = messages(  # by the letter of their code
    o="{kind} {layer}.{head} off",
    u="{kind} {layer}.{head} uniform",
    f="step {step} attends to “{key}” × {strength:g}, {heads}",
    b="{kind} “{query}” → “{key}” blocked",
    a="{kind} “{query}” → “{key}” open",
    q="{kind} {layer}.{head} queries without {part}",
    k="{kind} {layer}.{head} keys without {part}",
)
_MANY = messages(b="{n} mask cells blocked", a="{n} mask cells open")


def apply_action(request: Request, action: Action) -> Changes:
    """The changes of a request after an action on the stage; a switch used twice is back as it was.

    Raises:
        ValueError: for what is not an action, and where the model refuses the changes.
    """
    try:
        new = _done(request, action)
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"this change cannot be made here: {str(dict(action))[:80]}") from None
    compute(replace(request, changes=new))
    return new


def _done(request: Request, action: Mapping) -> Changes:
    changes = request.changes
    edits = request.changes.edits
    result = compute(request)
    predicted = tuple(result.predicted_ids)
    match action["do"]:
        case "off" | "uniform" | "alone" | "layer":
            return replace(changes, edits=_switched(request, action))
        case "cells":
            return replace(changes, edits=replace(edits, cells=_painted(edits, action)))
        case "force":
            heads = tuple((int(layer), int(head)) for layer, head in action["heads"])
            cell = int(action["row"]), int(action["key"])
            new = Force(*cell, float(action["strength"]), heads, action.get("kind", "cross"))

            def is_other(old: Force) -> bool:  # of another row, or of other heads; () are all
                shares = not old.heads or not heads or bool(set(old.heads) & set(heads))
                return (old.kind, old.query) != (new.kind, new.query) or not shares

            # What stands before a step stays as it is, so that the cell means the same step.
            locked = changes.locked if new.kind == "encoder_self" else predicted[: new.query]
            forced = *filter(is_other, edits.forced), new
            return replace(changes, edits=replace(edits, forced=forced), locked=locked)
        case "cut":
            cut = Cut(action["kind"], int(action["layer"]), int(action["head"]), action["side"], str(action["part"]))
            cut_paths.check_cell(request, action)
            return replace(changes, edits=replace(edits, cut=tuple(set(edits.cut) ^ {cut})))
        case "positions":
            positions = {
                name: str(action[name]) for name in ("scale", "shift", "stacks") if action.get(name) is not None
            }
            return change.read(changes.address() | {"stacks": changes.stacks} | positions)
        case "drop":
            return _dropped(changes, action["code"])
        case "reset":
            return Changes()
        case "keep" | "write" | "type" as do if 0 <= (step := int(action["step"])) < len(predicted):
            new = predicted[step : step + 1]
            if do == "write":
                new = [result.next_words.ids[step][int(action["rank"])]]
            elif do == "type":
                new = _ids_of(request, str(action["text"]))
            if new:
                return replace(changes, locked=(*predicted[:step], *new))
    raise KeyError


def _ids_of(request: Request, text: str) -> list[int]:
    loaded = request.translator
    if isinstance(loaded, Reader):
        return loaded.tokenizer(text_target=text, add_special_tokens=False)["input_ids"]
    return loaded.tokenizer.target.encode(tidy(text))


def rewrite_text(request: Request, action: Mapping) -> str | None:
    """The text that a model of texts reads after an action on its words: up to there, or with another word there.

    None for other actions, and for models that translate.
    """
    loaded = request.translator
    if action.get("do") not in ("keep", "write", "type") or recipes.writes_target(request.model):
        return None
    if request.messages is not None:
        raise Problem("a chat turn is changed in its box: the words around it are those of the model's template")
    result = compute(request)
    step = int(action["step"])
    if not 0 <= step < len(result.predicted_ids):
        return None
    if isinstance(loaded, Reader):
        first = loaded.encode(request.text)["input_ids"][0].tolist()[:1]
        text_of = loaded.text_of
    else:
        assert isinstance(loaded, Writer)  # it does not translate
        first = []
        text_of = loaded.tokenizer.decode
    before = [*first, *result.predicted_ids[:step]]
    new = result.predicted_ids[step : step + 1]
    if action["do"] == "write":
        new = [result.next_words.ids[step][int(action["rank"])]]
    if action["do"] == "type":
        return f"{text_of(before)} {action['text']}"
    return text_of([*before, *new])


def _switched(request: Request, action: Mapping) -> Edits:
    edits = request.changes.edits
    kind = action["kind"]
    head = Head(kind, int(action["layer"]), int(action.get("head", 0)))
    every = set(all_heads(request.translator.config, kind))
    layer = {each for each in every if each.layer == head.layer}
    all_others = every - {head}
    off, uniform = set(edits.off), set(edits.uniform)
    match action["do"]:
        case "off":
            off ^= {head}
        case "layer":
            off = off - layer if layer <= off else off | layer
        case "uniform":
            uniform ^= {head}
            off -= uniform
        case "alone":
            alone = all_others <= off and head not in off
            off = off - every | (set() if alone else all_others)
    return replace(edits, off=tuple(off), uniform=tuple(uniform - off))


def _painted(edits: Edits, action: Mapping) -> tuple[Cell, ...]:
    kind = action["kind"]
    is_open = bool(action["open"])
    places = {(int(row), int(key)) for row, key in action["cells"]}
    edited = {(cell.query, cell.key): cell for cell in edits.cells if cell.kind == kind}
    cells = [cell for cell in edits.cells if cell.kind != kind or (cell.query, cell.key) not in places]
    # A cell that was edited is as it was before when it is flipped back.
    new = [Cell(kind, *place, is_open) for place in places if place not in edited or edited[place].open == is_open]
    return (*cells, *new)


def _dropped(changes: Changes, code: str) -> Changes:
    if code == "prefix":
        return replace(changes, locked=())
    if code == "positions":
        return replace(changes, scale=1.0, shift=0)
    # Of several cells the code is their letter.
    items = [item for item in changes.edits.code.split("_") if code not in {item, item[:1]}]
    return replace(changes, edits=Edits.from_code("_".join(items) if len(items) > 1 else ""))


def chips(request: Request) -> list[tuple[str, str]]:
    """Every change of a request: a code, by which it can be taken back, and a short text."""
    changes = request.changes
    result = compute(request)
    chips_by_code = {}
    edits = changes.edits
    locked = cached.Names(request.translator).tokens(list(changes.locked))
    items = edits.code.split("_")[1:]
    letters = [item[0] for item in items]
    for code, edit in zip(items, (*edits.off, *edits.uniform, *edits.forced, *edits.cells, *edits.cut)):
        names: dict[str, Any] = vars(edit) | {"kind": say(_KINDS[edit.kind])}
        letter = code[0]
        text = _SAID[letter]
        n = letters.count(letter)
        if letter in _MANY and n > 3:
            chips_by_code[letter] = say(_MANY[letter], n=n)
            continue
        if isinstance(edit, Cut):
            names["part"] = part_name(edit.part)
        if isinstance(edit, Force | Cell):
            names["step"] = edit.query + 1
            queries, keys, _ = axis_tokens(result, edit.kind)
            for side, tokens in ("query", queries), ("key", keys):
                names[side] = unique_labels(tokens)[names[side]] if names[side] < len(tokens) else str(names[side])
        if isinstance(edit, Force):
            heads = ", ".join(f"{layer}.{head}" for layer, head in edit.heads)
            names["heads"] = say("head {head}", head=heads) if heads else say("all heads")
            if edit.kind == "encoder_self":
                text = message("“{query}” attends to “{key}” × {strength:g}, {heads}")
        chips_by_code[code] = say(text, **names)
    if locked:
        chips_by_code["prefix"] = say(
            "locked up to “{token}” (step {n})", token=unique_labels(locked)[-1], n=len(locked)
        )
    if changes.moves:
        chips_by_code["positions"] = changes.position_change
    return list(chips_by_code.items())


@cache_results()
def cost_of_changes(request: Request) -> float:
    """How the log-probability (nats) of the unchanged model's translation changes; errors as `Translator.force`."""
    edits = request.changes.edits
    old = compute(request.plain)
    if not recipes.writes_target(request.model):
        return _cost_of_answer(request, old)

    def is_in(cell: Cell | Force) -> bool:  # edits of later steps are none of it
        places = zip(SIDES[cell.kind], (cell.query, cell.key))
        return all(side == "source" or place < len(old.predicted_tokens) for side, place in places)

    forced = tuple(force for force in edits.forced if is_in(force))
    edits = replace(edits, forced=forced, cells=tuple(cell for cell in edits.cells if is_in(cell)))
    with request.positions():
        loaded = request.translator
        if isinstance(loaded, Reader):
            forced = loaded.read(request.text, target=old.predicted_ids, edits=edits)
        else:
            forced = cached.loaded_as(Translator, request.model).force(request.text, old, edits)
    return float((forced.log_probabilities.astype(np.float64) - old.log_probabilities).sum())


def _cost_of_answer(request: Request, old: cached.Result) -> float:
    """By how much the log-probability of the next word, or of the best words under masks, falls; 0 without either."""
    result = request.translated()
    places = {-1: old.predicted_ids[-1]} if old.predicted_ids else old.masked_ids
    logs = analysis.log_softmax(result.trace["logits"][list(places)]) if places else np.zeros((0, 1))
    before = old.log_probabilities[-1:] if old.predicted_ids else old.masked_log_probabilities
    return float(sum(row[index] for row, index in zip(logs, places.values())) - before.sum(dtype=np.float64))


@cache_results(16)
def search_tree(request: Request) -> tuple[Search, np.ndarray]:
    """A search with the changes, and what each of its N steps attended to, float32 (N, S): mean over all heads."""
    search = request.translated().search
    if search is None:
        raise TypeError(f"{request.model} does not search")
    with request.positions():
        return search, in_turn(looked_at)(request.translator, request.text, search.tree, request.changes.edits)


def _spoken_cost(request: Request) -> str:
    change = cost_of_changes(request)
    factor = math.exp(min(abs(change), 700))
    is_translation = recipes.writes_target(request.model)
    if f"{factor:.1f}" == "1.0":
        line = message("The old translation is about as probable as before.")
        return say(line if is_translation else message("The old answer is about as probable as before."))
    line = message("The old translation is {factor} times more probable.")
    if change < 0:
        line = message("The old translation is {factor} times less probable.")
    if not is_translation:
        line = message("The old answer is {factor} times more probable.")
        if change < 0:
            line = message("The old answer is {factor} times less probable.")
    rounded = "{x:.1f}" if factor < 10 else "{x:.0f}"
    return say(line, factor=say(rounded, x=factor) if factor < 1e6 else f"10^{math.log10(factor):.0f}")


def payload(
    request: Request,
    result: cached.Result,
    current_view: View,
    problem: str = "",
    weighed: bool = False,
    query: Mapping[str, str] | None = None,
    splits: bool = True,
    **settings: Any,
) -> bytes:
    """The message of a translation with and without changes; the rest as in `viz.stage.payload.message.message`.

    `problem`: why what was asked for last cannot be; `weighed`: tiles show what each head is worth;
    `query` and `splits` as in `stage_page.version_of`.
    """
    changes = request.changes
    edits = request.changes.edits
    before = None
    version = stage_page.version_of(result, request, current_view, splits=splits, query=query)
    help_ = say("Scale and shift the encodings that are added to the embeddings.")
    steering: SteeringPayload = {
        "chips": chips(request),
        "off": [astuple(head) for head in edits.off],
        "uniform": [astuple(head) for head in edits.uniform],
        "cells": [astuple(cell) for cell in edits.cells],
        "forced": [(force.kind, force.query, force.key, force.heads) for force in edits.forced],
        "locked": changes.locked,
        "importance": heads_results.importance(request.plain) if weighed else None,
        "positions": [
            field("range", "scale", say("Scale"), changes.scale, help_, low=0, high=2, step=0.1),
            field("range", "shift", say("Shift"), changes.shift, help_, low=0, high=100),
            field("choice", "stacks", say("in"), changes.stacks, options=change.STACK_NAMES),
        ],
    }
    if cut_paths.can_cut(request, result):
        steering["cuts"], refusal = cut_paths.cuts_of(request)
        problem = problem or refusal
    if changes:
        old = compute(request.plain)
        before = stage_page.version_of(old, request.plain, current_view, rowwise=False, splits=splits, query=query)
        version = keep_roles(version, before, edits)
        answers = [line_of(answer_of(each, each.next_words)) for each in (old, result)]
        steering["pairs"] = comparison.beside(*((answer or "").split() for answer in answers))
        if answers[0] is not None:
            steering["cost"] = _spoken_cost(request)
        if edits.without_future != edits:
            line = message(
                "This mask opens the future: with teacher forcing a model could copy what it should predict. While it "
                "writes, later tokens do not exist yet, so nothing changes."
            )
            if not recipes.writes_target(request.model):
                line = message("This mask opens the future: the model sees words that it should predict.")
            steering["future"] = say(line)
    if problem:
        steering["problem"] = problem
    return stage_message.message(version, assets.keep, before, steering, owned=change.NAMES, **settings)
