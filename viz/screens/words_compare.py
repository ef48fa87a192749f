"""The plain words of the page Compare: what can be compared, what cannot, and how the figures are read."""

from __future__ import annotations

from viz.language import message, say
from viz.screens import words

INTRO = message(
    "Two runs side by side, and their difference. Choose what differs; everything else stays the same. Both maps have "
    "the colours of 0 to 1, and the difference is drawn about 0."
)
SENTENCE, SEARCH, MODEL, POSITION, MASK = "sentence", "search", "model", "position", "mask"
EDIT = "edit"
VERSUS = {
    SENTENCE: message("Sentences"),
    SEARCH: message("Searches"),
    MODEL: message("Models"),
    POSITION: message("Positions"),
    MASK: message("Look-ahead mask"),
    EDIT: message("Before and after an edit"),
}
LINES = {
    SENTENCE: message("The same model reads two sentences. Change one word and see what follows."),
    SEARCH: message(
        "The same model searches for the translation with two beam widths. What the encoder does is the same."
    ),
    MODEL: message(
        "Two models read the same sentence. Their heads were trained apart: head 3 of one has nothing to do with "
        "head 3 of the other."
    ),
    POSITION: message(
        "B reads the sentence with its positional encodings scaled or shifted, as on the page Positions; 0 "
        "switches them off."
    ),
    MASK: message(
        "B reads the translation of A once more, in one pass without the look-ahead mask: each step can see the "
        "tokens that come after it. In a free run there is nothing to see yet, so the translation itself could not "
        "change."
    ),
    EDIT: message(
        "A is the model as it is, B the same model with heads switched off or made uniform, attention forced, mask "
        "cells edited or a beginning locked. Changes are made on the pages Heads and Steer, whose links lead here."
    ),
}
SAME = message(
    "B does not write its own translation but is made to read that of A. Then the rows of both are the same tokens, "
    "and every cell has a partner."
)
B_EXAMPLE = "A woman is riding a bicycle down the street."
ONE_MODEL = message(
    "There is one checkpoint only, so both sides are the same model. To train another: python -m model train --help"
)
CHIPS = message(
    "Point at a token, or reach it with Tab: its partner lights up with it, and their rows or columns in the maps. "
    "Point at a cell: its row and column light up in both maps."
)
EQUAL = message("Nothing differs: both sides are the same run.")
NO_EDIT = message(
    "Nothing is changed yet, so both sides are the same run. Make a change on one of these pages and come back:"
)
BACK = message("Change more on:")
TO_COMPARE = message("Compare before and after, side by side →")
NO_PREFIX = message("B is made to read a translation, so that the locked beginning changes nothing.")
READ_FUTURE = message(
    "Cells that open the future are read only where B is made to read a translation: while it writes, later tokens do "
    "not exist yet."
)
DIFFERENCE = message("Rows ask, columns are read: orange where A reads more, blue where B does.")
BOARD = message(
    "How much of its attention each head gives to other tokens in B than in A: half the sum of absolute differences "
    "of two rows, averaged over the rows that belong together; one half where a head is off and reads nothing. Click a "
    "cell to open that head."
)
NOTHING_IN_COMMON = message("The sides have no tokens that belong together here, so no difference can be drawn.")

WHERE = {
    "encoder_self": message("Where the encoder self-attention of A and B differs"),
    "decoder_self": message("Where the masked decoder self-attention of A and B differs"),
    "cross": message("Where the cross-attention of A and B differs"),
}
NO_ORDER = message(
    "The heads of two models have no order in common: a difference between heads of the same number says nothing about "
    "what either model knows. Choose heads that do the same job."
)
LANGUAGES = message("A translates {a}, B {b}: one of them reads a language that it does not know.")


def two_models(a: tuple[object, object], b: tuple[object, object]) -> str:
    """Say what comparing two models cannot tell.

    Args:
        a, b: source and target language of each.
    """
    if a == b:
        return say(NO_ORDER)
    names = ["-".join(words.language(code, "?") for code in model) for model in (a, b)]
    return f"{say(LANGUAGES, a=names[0], b=names[1])} {say(NO_ORDER)}"


PAIRS = {
    "rows": message("Rows: {n} belong together"),
    "columns": message("Columns: {n} belong together"),
}
REPLACED = {
    "rows": message("Rows: {n} belong together, {replaced} of them a different token in the same place (A → B)"),
    "columns": message("Columns: {n} belong together, {replaced} of them a different token in the same place (A → B)"),
}
ONE_ALONE = message("{pairs}; of {side} {n} has no partner.")
SOME_ALONE = message("{pairs}; of {side} {n} have no partner.")
BOTH_ALONE = message("{pairs}; of A {a} and of B {b} have no partner.")


def paired(what: str, pairs: int, replaced: int, alone: tuple[int, int]) -> str:
    """Say which tokens of an axis belong together.

    Args:
        what: "rows" or "columns".
        pairs: how many belong together.
        replaced: how many of these are different tokens in the same place.
        alone: how many of A and of B have no partner.

    Example:
        >>> paired("rows", 5, 1, (0, 2))
        'Rows: 5 belong together, 1 of them a different token in the same place (A → B); of B 2 have no partner.'
    """
    said = say(REPLACED[what], n=pairs, replaced=replaced) if replaced else say(PAIRS[what], n=pairs)
    if all(alone):
        return say(BOTH_ALONE, pairs=said, a=alone[0], b=alone[1])
    if not any(alone):
        return f"{said}."
    side = "A" if alone[0] else "B"
    return say(ONE_ALONE if sum(alone) == 1 else SOME_ALONE, pairs=said, side=side, n=sum(alone))
