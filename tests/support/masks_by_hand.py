"""What the page Masks has to say of a head, from Python's passes: what leaks, and the sentences with its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.results.translation import SIDES
from tests.support.app_sheets import part
from viz.figures.framed import shown_token
from viz.pages.masks.compared import Compared, of_batch, of_text, text_request
from viz.pages.masks.page import Choice
from viz.text import words
from viz.text.language import say, using
from viz.text.words_masks import NO_MASK, PAIRS, SENTENCES, TEXT_MASKS, TEXT_SENTENCES
from viz.views.results import mask_results
from viz.views.results.mask_results import Result, TextResult

SEEN = 0.05  # weight from which on an opened cell is worth a ring


@dataclass(frozen=True)
class Leak:
    """The cell that says most of all that another mask opens in a head."""

    row: int
    column: int
    weight: float
    of_row: float  # the part of the row's attention that goes to opened cells
    cells: list[tuple[int, int]]  # all opened cells that get attention


def leak_of(cells_opened: np.ndarray, weights: np.ndarray, telling: np.ndarray | None = None) -> Leak | None:
    """What cells bool (T, S) that a mask opened get in a head (T, S); None if nothing.

    The cell of a query that sees the very next token is taken if it gets at least half of the largest weight. One of
    the cells `telling` bool (T, S) is taken before all others, if one of them is worth a ring.
    """
    values = np.where(cells_opened, weights, 0.0)
    if not cells_opened.any() or values.max() <= 0:
        return None
    candidates = values
    if telling is not None and values[telling].max(initial=0.0) >= SEEN:
        candidates = np.where(telling, values, 0.0)
    row, column = analysis.largest_cell(candidates)
    following = np.diagonal(candidates, offset=1)
    if len(following) and following.max() >= candidates.max() / 2:
        row = int(following.argmax())
        column = row + 1
    cells = [(int(t), int(s)) for t, s in np.argwhere(values >= SEEN)]
    return Leak(row, column, float(values[row, column]), float(values[row].sum()), cells)


@dataclass(frozen=True)
class Seen:
    """What the page shows at an address: a batch, or texts in one row."""

    choice: Choice
    compared: Compared
    place: tuple[int, int]  # layer and head
    leak: Leak | None
    result: Result | None
    texts: TextResult | None

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The tokens of rows and columns."""
        queries, keys = ([shown_token(token) for token in side] for side in (self.compared.queries, self.compared.keys))
        return queries, keys


def seen_at(state: dict[str, str]) -> Seen:
    """What the page computes of an address that says nothing wrong."""
    count = int(state.get("sentences", "3"))
    pairs = [(state.get(f"source{n}", a), state.get(f"target{n}", b)) for n, (a, b) in enumerate(PAIRS[:count], 1)]
    cells = [tuple(map(int, cell.split("-"))) for cell in state.get("cells", "").split(".") if cell]
    choice = Choice(
        pairs=() if state.get("batch") == "example" else tuple(pairs),
        sentence=int(state.get("sentence", "1")) - 1,
        mask=state.get("mask", "decoder_self"),
        left_out=state.get("without", "look-ahead"),
        cells=tuple((query, key) for query, key in sorted(cells)),
        window=int(state.get("window", "4")),
    )
    result = texts = telling = None
    if choice.mask in TEXT_MASKS:
        request = text_request(choice)
        assert request is not None, "there is a language model"
        compared, texts = of_text(request, choice.mask), mask_results.compute_texts(request)
        is_word = np.array([not shown_token(token).startswith("<") for token in compared.queries])
        telling = is_word[:, None] & is_word
    else:
        compared, result = of_batch(choice)
    place = compared.most_telling_head
    if "layer" in state or "head" in state:
        place = int(state.get("layer", "0")), int(state.get("head", "0"))
    leak = leak_of(compared.leaking, compared.weights[1][place], telling)
    return Seen(choice, compared, place, leak, result, texts)


def answer(seen: Seen) -> str:
    """The answer of the page, with the numbers of the head that is shown."""
    choice, compared, leak, result = seen.choice, seen.compared, seen.leak, seen.result
    if leak is None:
        if result is None:
            return say(TEXT_SENTENCES["too_short"])
        if choice.cells:
            return say(SENTENCES["not_taken"])
        if choice.left_out == "nothing":
            return say(SENTENCES["holds"], n=int((~compared.masks[0]).sum()), total=compared.masks[0].size)
        return say(SENTENCES["opens_nothing"], mask=say(NO_MASK[choice.left_out]))
    queries, keys = seen.names
    values = {"query": queries[leak.row], "key": keys[leak.column], "share": leak.weight}
    if result is None:
        return say(TEXT_SENTENCES[f"answer_{choice.mask}"], **values)
    if leak.column >= result.lengths[choice.sentence][SIDES[choice.kind][1] == "target"]:
        return say(SENTENCES["on_padding"], query=values["query"], share=leak.of_row)
    if choice.kind == "decoder_self" and leak.column == leak.row + 1:
        return say(SENTENCES["next_word"], **values)
    return say(SENTENCES["opened" if choice.cells and choice.left_out == "nothing" else "future"], **values)


def below(seen: Seen) -> str:
    """What the whole model makes of it, in numbers."""
    choice, result = seen.choice, seen.result
    if result is None:
        assert seen.texts
        causal, with_mask = (seen.texts.passes[name].loss for name in ("causal", choice.mask))
        return say(TEXT_SENTENCES["loss_prefix" if choice.mask == "prefix" else "loss"], causal=causal, other=with_mask)
    number = say(SENTENCES["sentence_of"], number=choice.sentence + 1, total=len(result.lengths))
    original, with_changes = result.reference[choice.sentence]
    if original == with_changes:
        source, target = result.lengths[choice.sentence]
        return f"{number} {say(SENTENCES['real'], source=source, target=target)}"
    factor = np.exp(abs(original - with_changes))
    times = words.number(float(factor)) if factor < 100 else say("{x:,.0f}", x=float(f"{factor:.1e}"))
    line = SENTENCES["less_probable" if with_changes < original else "more_probable"]
    return f"{number} {say(line, times=times)}"


def under(seen: Seen) -> str:
    """What the row of the largest leak attends to under both masks, and how many next tokens change."""
    queries, keys = seen.names
    rows = [weights[seen.place] for weights in seen.compared.weights]
    row = seen.leak.row if seen.leak else int(rows[0][: len(queries)].max(-1).argmin())
    tops = [int(weights[row].argmax()) for weights in rows]
    values = {"query": queries[row], "a": keys[tops[0]], "b": keys[tops[1]]}
    values |= {"x": float(rows[0][row, tops[0]]), "y": float(rows[1][row, tops[1]])}
    if not seen.leak:
        return say(SENTENCES["attends"], **values)
    line = say(SENTENCES["attends_both"], **values)
    if seen.result is None:
        return line
    pairs = seen.result.likeliest[seen.choice.sentence]
    return f"{line} {say(SENTENCES['next_tokens'], n=sum(a != b for a, b in pairs), total=len(pairs))}"


def effect(seen: Seen) -> str:
    """How much the change moves weights, logits and the likeliest next tokens."""
    result, choice = seen.result, seen.choice
    assert result
    index = (choice.sentence, *seen.place)
    pairs = result.likeliest[choice.sentence]
    rows = [
        say(SENTENCES["step"], step=t, a=shown_token(a), b=shown_token(b)) for t, (a, b) in enumerate(pairs) if a != b
    ]
    change = np.abs(result.original.weights[choice.kind][index] - result.with_changes.weights[choice.kind][index]).max()
    line = say(
        SENTENCES["changes"],
        weight=words.number(float(change)),
        logit=words.number(result.difference[choice.sentence]),
        n=len(rows),
        total=len(pairs),
    )
    return f"{line} {' · '.join(rows)}"


def assert_said(sheet: dict[str, Any], state: dict[str, str], language: str) -> None:
    """The sentences of a sheet are those of Python's numbers, and the head that leaks most is open."""
    with using(language):
        seen = seen_at(state)
        assert sheet["answer"] == answer(seen), state
        assert sheet["below"] == below(seen), state
        if state.get("show", "both") in ("both", "head"):
            assert part(sheet, "note", name="under")["text"] == under(seen), state
        if state.get("show") == "numbers":
            assert part(sheet, "note", name="effect")["text"] == effect(seen), state
    layer, head = seen.place
    assert part(sheet, "tiles", "left", "heads")["value"] == f"{layer}-{head}", state
    if state.get("show", "both") == "both" and len(part(sheet, "maps")["maps"]) == 2:
        second = part(sheet, "maps")["maps"][1]
        assert second["rings"] == [list(cell) for cell in (seen.leak.cells if seen.leak else [])], state
        assert bool(second["mark"]) == bool(seen.compared.leaking.any()), state
