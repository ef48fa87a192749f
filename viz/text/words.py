"""The plain words of the pages: what kinds of attention are called, and how their figures are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from model.analysis.maps import CONTINUED, word_mark
from viz.text.language import message, say

LANGUAGES = {"en": message("English"), "de": message("German"), "fr": message("French"), "es": message("Spanish")}

BEAMS = {1: message("greedy")} | {width: str(width) for width in range(2, 9)}
SEARCH = message(
    "Greedy takes the likeliest token at every step. A beam of 4 keeps the four best beginnings until the end."
)
PENALTY = message(
    "Among finished translations the score is divided by a power of the length: 0 compares bare probabilities and "
    "prefers short ones, larger values prefer long ones."
)
LINES = message(
    "Point at a token to see its lines alone; a click keeps it so. A click on a head takes its lines away and brings "
    "them back, a double-click (Shift+Enter) shows it alone."
)
TABLES = message("The tokens with their probabilities, and the weights of the large map, to read and to download.")
REPORT = message(
    "The translation, every head of every kind, masks, positions and settings in one file that needs no network."
)
FREE, FORCED = message("free-running"), message("teacher-forced")
DECODING = message(
    "Free-running: each step reads what the model wrote itself. Teacher-forced: each step reads a reference that you "
    "type, whatever the model would have written."
)
EXAMPLES = {
    message("A short one"): "A man is riding a bicycle down the street.",
    message("What is “it”?"): "The animal didn't cross the street because it was too tired.",
    message("A question"): "Why are there so many people in front of the church?",
    message("With a typo"): "I am happy. Because studing is hard.",
    message("A long one"): (
        "On a sunny day in the summer, a group of young people is sitting on the grass in front of an old building, "
        "and while some of them are eating and talking to each other, a little girl in a red dress is playing with a "
        "small brown dog that has a yellow ball in its mouth."
    ),
}


STRETCH = message(
    "Lets the colours end at the largest weight instead of 1, so that faint maps can be read. Colours can then no "
    "longer be compared between the overview and the large map: each has its own scale."
)

SUMMARY = message(
    "Mean, maximum or standard deviation over heads, layers or both, cell by cell. A summary is no head: no single "
    "head may look like it, and rows of a maximum or a deviation do not add up to 1."
)
ROWS = message(
    "A step of the translation reads one token and predicts the next one. Other tools name rows by one or the other "
    "and do not say which."
)
MERGE = message("Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.")
HIDE = message("Leaves out the start and end tokens, where heads with nothing to do look. The rest is not scaled up.")
SHARE = message(
    "At 90 %, each row shows only its largest weights that together hold 90 % of its mass; the rest is left blank."
)


@dataclass(frozen=True)
class KindWords:
    """What a page says about one kind of attention.

    Attributes:
        name: short, for a button and the URL.
        title: for a heading.
        rows, lines: how a map and how lines of this kind are read, in a sentence.
        query_axis, key_axis: titles of the axes, where rows are named by the token read.
    """

    name: str
    title: str
    rows: str
    lines: str
    query_axis: str
    key_axis: str


KINDS = {
    "encoder_self": KindWords(
        name=message("Encoder self"),
        title=message("Encoder self-attention"),
        rows=message("Rows ask, columns are read: the source sentence reads itself, every token all of it."),
        lines=message(
            "Lines lead from who asks (left) to who is read (right), a colour a head, stronger for larger weights: "
            "the source sentence reads itself, every token all of it."
        ),
        query_axis=message("source token (asks)"),
        key_axis=message("source token (is read)"),
    ),
    "decoder_self": KindWords(
        name=message("Decoder self (masked)"),
        title=message("Masked decoder self-attention"),
        rows=message("Rows ask, columns are read: each step reads what was written so far."),
        lines=message(
            "Lines lead from who asks (left) to who is read (right), a colour a head, stronger for larger weights: "
            "each step reads what was written so far."
        ),
        query_axis=message("token this step read (asks)"),
        key_axis=message("token so far (is read)"),
    ),
    "cross": KindWords(
        name=message("Cross"),
        title=message("Cross-attention"),
        rows=message("Rows ask, columns are read: each step reads the source."),
        lines=message(
            "Lines lead from who asks (left) to who is read (right), a colour a head, stronger for larger weights: "
            "each step reads the source."
        ),
        query_axis=message("token this step read (asks)"),
        key_axis=message("source token (is read)"),
    ),
}
TEXT_SELF = "text_self"  # of a language model, which has one kind
KINDS[TEXT_SELF] = KindWords(
    name=message("Self (masked)"),
    title=message("Masked self-attention"),
    rows=message("Rows ask, columns are read: each word reads itself and the words before it."),
    lines=message(
        "Lines lead from who asks (left) to who is read (right), a colour a head, stronger for larger weights: "
        "each word reads itself and the words before it."
    ),
    query_axis=message("word that was read (asks)"),
    key_axis=message("word so far (is read)"),
)


READ, PREDICTED = message("read"), message("predicted")
NAMED_BY = {
    READ: message("A step is named by the token it read; what it predicted is the next token."),
    PREDICTED: message("A step is named by the token it predicted; what it read is the token before."),
}
PREDICTED_AXIS = message("token this step predicted (asks)")


def named_by(kind: str, names: str, lines: bool = False) -> tuple[str, str]:
    """How to read a picture of a kind, as it is said, and the title of those who ask, in English.

    Args:
        kind: of attention.
        names: whether steps are named by the token READ or PREDICTED.
        lines: whether the picture is one of lines and no map.
    """
    spoken = KINDS[kind]
    reading = say(spoken.lines if lines else spoken.rows)
    if kind in ("encoder_self", TEXT_SELF):
        return reading, spoken.query_axis
    return f"{reading} {say(NAMED_BY[names])}", PREDICTED_AXIS if names == PREDICTED else spoken.query_axis


def without_line(count: int, least: float, most: int) -> str:
    """Say how many cells have no line, and why."""
    if count == 1:
        text = message("One cell has no line: its weight is below {least:.3f}, or not among the {most} largest.")
    else:
        text = message("{count} cells have no line: a weight below {least:.3f}, or not among the {most} largest.")
    return say(text, count=count, least=least, most=most)


def how_to_read(tokens: list[str], whole: bool = True) -> str:
    """A short guide for beginners, in Markdown, to maps of these tokens, whose rows add up to 1 if they are whole."""
    said = [
        say(
            "**How to read a map.** Each row is a token that asks, each column a token that it can read. The brighter "
            "a cell, the more is read there; every row of a head adds up to 1."
        )
        if whole
        else say(
            "**How to read a map.** Each row is a token that asks, each column a token that it can read. The brighter "
            "a cell, the more is read there."
        )
    ]
    mark = word_mark(tokens)
    if mark == CONTINUED:
        said.append(say("\\#\\# goes on with a word."))
    elif mark:
        said.append(say("{mark} marks the start of a word.", mark=mark))
    if {"<s>", "</s>"} & set(tokens):
        said.append(say("\\<s> and \\</s> are the start and the end of the sentence."))
    if "<eos>" in tokens:
        said.append(say("\\<eos> is the end of a line."))
    if any("<0x" in token for token in tokens):
        said.append(say("\\<0x…> is one byte: of a sign that is no token, or of one that cannot be seen."))
    return " ".join(said)


def how_decoded(beam: int, length_penalty: float, forced: bool) -> str:
    """One line on how the translation below came about."""
    if forced:
        return say(
            "Teacher-forced: the model was made to read this reference; it may have written something else itself."
        )
    if beam == 1:
        return say("Free-running, greedy: each step reads what the model wrote.")
    return say(
        "Free-running, beam of {beam}, length penalty {penalty:g}: each step reads what the model wrote itself.",
        beam=beam,
        penalty=length_penalty,
    )


def language(code: object, otherwise: str) -> str:
    """The name of a language of a card, or another word where it has none, as it is said."""
    return say(LANGUAGES.get(code, otherwise) if isinstance(code, str) else otherwise)


def describe_card(name: str, card: dict[str, Any]) -> str:
    """One line on where a checkpoint comes from, of what its card really says.

    Args:
        name: of the checkpoint.
        card: its card; anything may be missing or of another type.

    Returns:
        Plain text.
    """
    parts = [say("Checkpoint {name}", name=name)]
    if isinstance(card.get("parameters"), int):
        parts.append(say("{millions:.1f} million parameters", millions=card["parameters"] / 1e6))
    if isinstance(card.get("converted_from"), str):
        parts.append(say("converted from {origin}", origin=card["converted_from"]))
    data = card.get("data")
    if isinstance(data, dict) and data:
        names = reduce(lambda first, second: say("{first} and {second}", first=first, second=second), map(str, data))
        parts.append(say("trained in this project on {data}", data=names))
    scores = card.get("scores")
    for test, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict) and isinstance(score.get("bleu"), (int, float)):
            if isinstance(score.get("beam"), int):
                bleu = say("BLEU {bleu:.1f} on {test}, beam {beam}", bleu=score["bleu"], test=test, beam=score["beam"])
            else:
                bleu = say("BLEU {bleu:.1f} on {test}", bleu=score["bleu"], test=test)
            parts.append(bleu)
        elif isinstance(score, dict) and isinstance(score.get("perplexity"), (int, float)):
            parts.append(say("perplexity {perplexity:.1f} on {test}", perplexity=score["perplexity"], test=test))
    return " · ".join(parts)
