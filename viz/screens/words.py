"""The plain words of the pages: what kinds of attention are called, and how their figures are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.tokenizer import MARK

LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish"}

SEARCH = "Greedy takes the likeliest token at every step. A beam of 4 keeps the four best beginnings until the end."
PENALTY = (
    "Among finished translations the score is divided by a power of the length: 0 compares bare probabilities and "
    "prefers short ones, larger values prefer long ones."
)
CHIPS = "Point at a token, or reach it with Tab: its row or column lights up in the large map."
LINES = (
    "Point at a token to see its lines alone; a click keeps it so. A click on a head takes its lines away and brings "
    "them back, a double-click (Shift+Enter) shows it alone."
)
PROBABILITIES = (
    "Rows are the tokens that were written, columns the most probable candidates of each step, by probability. The "
    "written token is not always the first: a beam looks ahead, and a reference is given."
)
TABLES = "The tokens with their probabilities, and the weights of the large map, to read and to download."
REPORT = "The translation, every head of every kind, masks, positions and settings in one file that needs no network."
FREE, FORCED = "free-running", "teacher-forced"
DECODING = (
    "Free-running: each step reads what the model wrote itself. Teacher-forced: each step reads a reference that you "
    "type, whatever the model would have written."
)
EXAMPLES = {
    "A short one": "A man is riding a bicycle down the street.",
    "What is “it”?": "The animal didn't cross the street because it was too tired.",
    "A question": "Why are there so many people in front of the church?",
    "With a typo": "I am happy. Because studing is hard.",
    "A long one": "On a sunny day in the summer, a group of young people is sitting on the grass in front of an old "
    "building, and while some of them are eating and talking to each other, a little girl in a red dress is playing "
    "with a small brown dog that has a yellow ball in its mouth.",
}


STRETCH = (
    "Lets the colours end at the largest weight instead of 1, so that faint maps can be read. Colours can then no "
    "longer be compared between the overview and the large map: each has its own scale."
)

SUMMARY = (
    "Mean, maximum or standard deviation over heads, layers or both, cell by cell. A summary is no head: no single "
    "head may look like it, and rows of a maximum or a deviation do not add up to 1."
)
ROWS = (
    "A step of the translation reads one token and predicts the next one. Other tools name rows by one or the other "
    "and do not say which."
)
MERGE = "Attention to a word is the sum over its tokens, attention from a word the mean over its tokens."
HIDE = "Leaves out the start and end tokens, where heads with nothing to do look. The rest is not scaled up."
SHARE = "At 90 %, each row shows only its largest weights that together hold 90 % of its mass; the rest is left blank."


@dataclass(frozen=True)
class KindWords:
    """What a page says about one kind of attention.

    Attributes:
        name: short, for a button and the URL.
        title: for a heading.
        reading: what a map of this kind shows, the part of a sentence that follows ROWS_ASK or LEFT_ASKS.
        query_axis, key_axis: titles of the axes, where rows are named by the token read.
    """

    name: str
    title: str
    reading: str
    query_axis: str
    key_axis: str


KINDS = {
    "encoder_self": KindWords(
        name="Encoder self",
        title="Encoder self-attention",
        reading="the source sentence reads itself, every token all of it.",
        query_axis="source token (asks)",
        key_axis="source token (is read)",
    ),
    "decoder_self": KindWords(
        name="Decoder self (masked)",
        title="Masked decoder self-attention",
        reading="each step reads what was written so far.",
        query_axis="token this step read (asks)",
        key_axis="token so far (is read)",
    ),
    "cross": KindWords(
        name="Cross",
        title="Cross-attention",
        reading="each step reads the source.",
        query_axis="token this step read (asks)",
        key_axis="source token (is read)",
    ),
}
TEXT_SELF = "text_self"  # of a language model, which has one kind
KINDS[TEXT_SELF] = KindWords(
    name="Self (masked)",
    title="Masked self-attention",
    reading="each word reads itself and the words before it.",
    query_axis="word that was read (asks)",
    key_axis="word so far (is read)",
)


ROWS_ASK = "Rows ask, columns are read: "
LEFT_ASKS = "Lines lead from who asks (left) to who is read (right), a colour a head, stronger for larger weights: "
READ, PREDICTED = "read", "predicted"
NAMED_BY = {
    READ: " A step is named by the token it read; what it predicted is the next token.",
    PREDICTED: " A step is named by the token it predicted; what it read is the token before.",
}
PREDICTED_AXIS = "token this step predicted (asks)"


def named_by(kind: str, names: str, who: str = ROWS_ASK) -> tuple[str, str]:
    """How to read a picture of a kind, and the title of those who ask.

    Args:
        kind: of attention.
        names: whether steps are named by the token READ or PREDICTED.
        who: ROWS_ASK for a map, LEFT_ASKS for lines.
    """
    spoken = KINDS[kind]
    if kind in ("encoder_self", TEXT_SELF):
        return who + spoken.reading, spoken.query_axis
    return who + spoken.reading + NAMED_BY[names], PREDICTED_AXIS if names == PREDICTED else spoken.query_axis


def without_line(count: int, least: float, most: int) -> str:
    """Say how many cells have no line, and why."""
    return f"{count} cells have no line: a weight below {least:.3f}, or not among the {most} largest."


def how_to_read(tokens: list[str], whole: bool = True) -> str:
    """A short guide for beginners, in Markdown, to maps of these tokens, whose rows add up to 1 if they are whole."""
    text = (
        "**How to read a map.** Each row is a token that asks, each column a token that it can read. The brighter a "
        "cell, the more is read there" + ("; every row of a head adds up to 1." if whole else ".")
    )
    if any(token.startswith(MARK) for token in tokens):
        text += f" {MARK} marks the start of a word."
    if "<s>" in tokens:
        text += " \\<s> and \\</s> are the start and the end of the sentence."
    if "<eos>" in tokens:
        text += " \\<eos> is the end of a line."
    if any(token.startswith("<0x") for token in tokens):
        text += " \\<0x…> is one byte of a sign that the vocabulary lacks."
    return text


def how_decoded(beam: int, length_penalty: float, forced: bool) -> str:
    """One line on how the translation below came about."""
    if forced:
        return "Teacher-forced: the model was made to read this reference; it may have written something else itself."
    if beam == 1:
        return "Free-running, greedy: each step reads what the model wrote."
    return (
        f"Free-running, beam of {beam}, length penalty {length_penalty:g}: each step reads what the model wrote itself."
    )


def language(code: object, otherwise: str) -> str:
    """The name of a language of a card, or another word where it has none."""
    return LANGUAGES.get(code, otherwise) if isinstance(code, str) else otherwise


def describe_card(name: str, card: dict[str, Any]) -> str:
    """One line on where a checkpoint comes from, of what its card really says.

    Args:
        name: of the checkpoint.
        card: its card; anything may be missing or of another type.

    Returns:
        Plain text.
    """
    parts = [f"Checkpoint {name}"]
    if isinstance(card.get("parameters"), int):
        parts.append(f"{card['parameters'] / 1e6:.1f} million parameters")
    if isinstance(card.get("converted_from"), str):
        parts.append(f"converted from {card['converted_from']}")
    data = card.get("data")
    if isinstance(data, dict) and data:
        parts.append("trained in this project on " + " and ".join(map(str, data)))
    scores = card.get("scores")
    for test, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict) and isinstance(score.get("bleu"), (int, float)):
            beam = f", beam {score['beam']}" if isinstance(score.get("beam"), int) else ""
            parts.append(f"BLEU {score['bleu']:.1f} on {test}{beam}")
        elif isinstance(score, dict) and isinstance(score.get("perplexity"), (int, float)):
            parts.append(f"perplexity {score['perplexity']:.1f} on {test}")
    return " · ".join(parts)
