"""The plain words of the pages: what kinds of attention are called, and how their figures are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish"}

SEARCH = "Greedy takes the likeliest token at every step. A beam of 4 keeps the four best beginnings until the end."
STRETCH = (
    "Lets the colours end at the largest weight instead of 1, so that faint maps can be read. Colours can then no "
    "longer be compared between the overview and the large map: each has its own scale."
)


@dataclass(frozen=True)
class KindWords:
    """What a page says about one kind of attention.

    Attributes:
        name: short, for a button and the URL.
        title: for a heading.
        reading: one line that says what a map of this kind shows.
        query_axis, key_axis: titles of the axes.
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
        reading="Rows ask, columns are read: the source sentence reads itself, every token all of it.",
        query_axis="source token (asks)",
        key_axis="source token (is read)",
    ),
    "decoder_self": KindWords(
        name="Decoder self (masked)",
        title="Masked decoder self-attention",
        reading="Rows ask, columns are read: each step reads the translation so far. A row is named by the token its "
        "step read; what the step predicted is the next token.",
        query_axis="token this step read (asks)",
        key_axis="token so far (is read)",
    ),
    "cross": KindWords(
        name="Cross",
        title="Cross-attention",
        reading="Rows ask, columns are read: each step of the translation reads the source sentence. A row is named "
        "by the token its step read; what the step predicted is the next token.",
        query_axis="token this step read (asks)",
        key_axis="source token (is read)",
    ),
}


def how_to_read(tokens: list[str]) -> str:
    """A short guide for beginners, in Markdown, about maps of these tokens."""
    text = (
        "**How to read a map.** Each row is a token that asks, each column a token that it can read. The brighter a "
        "cell, the more is read there; every row adds up to 1. ▁ marks the start of a word, \\<s> and \\</s> the start "
        "and the end of the sentence."
    )
    if any(token.startswith("<0x") for token in tokens):
        text += " \\<0x…> is one byte of a sign that the vocabulary lacks."
    return text


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
    data = card.get("data")
    if isinstance(data, dict) and data:
        parts.append("trained in this project on " + " and ".join(map(str, data)))
    scores = card.get("scores")
    for test, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict) and isinstance(score.get("bleu"), (int, float)):
            beam = f", beam {score['beam']}" if isinstance(score.get("beam"), int) else ""
            parts.append(f"BLEU {score['bleu']:.1f} on {test}{beam}")
    return " · ".join(parts)
