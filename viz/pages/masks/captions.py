"""What the page Masks says of a head under a mask: what leaks, and what the whole model makes of it."""

import numpy as np

from model.results.translation import SIDES
from viz.pages.masks.compared import Choices, Compared
from viz.text import words
from viz.text.language import message, say
from viz.text.words_masks import MASKS, NO_MASK, SENTENCES, TEXT_MASKS, kind_of
from viz.views.results.mask_results import Leak, Result, TextResult


def answer_of(compared: Compared, selection: Choices, leak: Leak | None, result: Result | None) -> str:
    """The answer of the page, with the numbers of the head that is shown."""
    if leak is None:
        if selection.mask in TEXT_MASKS:
            return say("This mask changes nothing in this row: it is too short.")
        if selection.cells:
            return say(SENTENCES["not_taken"])
        if selection.left_out == "nothing":
            mask = compared.masks[0]
            return say(SENTENCES["holds"], n=int((~mask).sum()), total=mask.size)
        return say(SENTENCES["opens_nothing"], mask=say(NO_MASK[selection.left_out]))
    queries, keys = compared.names
    values = {"query": queries[leak.row], "key": keys[leak.column], "share": leak.weight}
    if selection.mask == "window":
        line = message(
            "With a window “{query}” loses sight of “{key}”, which gets {share:.0%} of its attention otherwise."
        )
        return say(line, **values)
    if selection.mask == "documents":
        line = message(
            "Without the document mask “{query}” reads another text: “{key}” gets {share:.0%} of its attention."
        )
        return say(line, **values)
    if selection.mask == "prefix":
        return say("In the prefix “{query}” reads ahead: “{key}” gets {share:.0%} of its attention.", **values)
    if (
        kind_of(selection.mask) == "decoder_self"
        and leak.column == leak.row + 1
        and not is_padding(result, selection, leak)
    ):
        return say(SENTENCES["next_word"], **values)
    if is_padding(result, selection, leak):
        return say(SENTENCES["on_padding"], query=values["query"], share=leak.of_row)
    if selection.cells and selection.left_out == "nothing":
        return say(SENTENCES["opened"], **values)
    return say(SENTENCES["future"], **values)


def is_padding(result: Result | None, selection: Choices, leak: Leak) -> bool:
    """Whether what leaks most is a pad of the sentence."""
    side = SIDES[kind_of(selection.mask)][1]
    return result is not None and leak.column >= result.lengths[selection.sentence][side == "target"]


def below_answer(compared: Compared, selection: Choices, result: Result | None, text: TextResult | None) -> str:
    """What the whole model makes of it, in numbers."""
    if text is not None:
        causal, with_mask = (text.passes[name].loss for name in ("causal", compared.mask))
        line = message("Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one.")
        if compared.mask == "prefix":
            line = message(
                "Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one: the "
                "prefix sees the words that it predicts."
            )
        return say(line, causal=causal, other=with_mask)
    if result is None:
        return ""
    number = say(SENTENCES["sentence_of"], number=selection.sentence + 1, total=len(result.lengths))
    original, with_changes = result.reference[selection.sentence]
    if original == with_changes:
        source, target = result.lengths[selection.sentence]
        return f"{number} {say(SENTENCES['real'], source=source, target=target)}"
    factor = np.exp(abs(original - with_changes))
    times = words.number(float(factor)) if factor < 100 else say("{x:,.0f}", x=float(f"{factor:.1e}"))
    line = SENTENCES["less_probable" if with_changes < original else "more_probable"]
    return f"{number} {say(line, times=times)}"


def under_picture(
    compared: Compared, selection: Choices, leak: Leak | None, result: Result | None, place: tuple[int, int]
) -> str:
    """What the row of the largest leak attends to under both masks, and how many next tokens change."""
    queries, keys = compared.names
    rows = [weights[place] for weights in compared.weights]
    row = leak.row if leak else int(rows[0][: len(queries)].max(-1).argmin())
    tops = [int(weights[row].argmax()) for weights in rows]
    values = {"query": queries[row], "a": keys[tops[0]], "b": keys[tops[1]]}
    values |= {"x": float(rows[0][row, tops[0]]), "y": float(rows[1][row, tops[1]])}
    if not leak:
        return say(SENTENCES["attends"], **values)
    line = say(SENTENCES["attends_both"], **values)
    if result is None:
        return line
    pairs = result.likeliest[selection.sentence]
    n_different = sum(a != b for a, b in pairs)
    return f"{line} {say(SENTENCES['next_tokens'], n=n_different, total=len(pairs))}"


def purpose(mask: str, window: int) -> str:
    """What a mask is for."""
    return say((MASKS | TEXT_MASKS)[mask][1], n=window - 1) if mask == "window" else say((MASKS | TEXT_MASKS)[mask][1])
