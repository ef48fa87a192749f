"""The rules about attention decided cell by cell, as a person would, from the tokens of a text alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import lru_cache

Text = list[str]
# Whether a rule holds for a query and a key of one text, given the keys that are allowed.
SelfRule = Callable[[Text, int, int, list[int]], bool]
# Likewise for the word that is written at a step, and the source.
CrossRule = Callable[[Text, Text, int, int], bool]
WORDS = '▁the ▁cat s ▁sat ▁( ▁“ ▁„ “ ” ) ▁on . , ▁? \' ▁red ing ▁- ▁mat " ▁"'.split()
END = "</s>"


def random_texts(seed: int, count: int) -> list[Text]:
    """Texts of 2 to 14 random tokens, many of which come again, and the end token."""
    draw = random.Random(seed)
    return [[*draw.choices(WORDS, range(1, len(WORDS) + 1), k=draw.randint(2, 14)), END] for _ in range(count)]


@lru_cache
def words_of(text: tuple[str, ...]) -> list[int]:
    """The number of each token's word, by hand: a mark of a space, a change to punctuation or back, a special token."""
    numbers = []
    for place, token in enumerate(text):
        before = text[place - 1] if place else END
        marks = [not any(letter.isalnum() for letter in part.strip("▁")) for part in (before, token)]
        begins = token.startswith("▁") or END in (before, token) or marks[0] != marks[1]
        numbers.append((numbers[-1] if numbers else -1) + begins)
    return numbers


def opens(text: Text, key: int) -> bool:
    bare = text[key].strip("▁")
    if bare == '"':
        return [part.strip("▁") for part in text[:key]].count('"') % 2 == 0
    if bare == "“":
        before = [part.strip("▁") for part in text[:key] if part.strip("▁") in "„“"]
        # A low quote that is still open is closed by the first “ after it.
        return not before or before[-1] != "„"
    return bare in ("(", "„")


def is_rarest(text: Text, key: int, allowed: list[int], counts: Mapping[str, int]) -> bool:
    ordinary = {text[place] for place in allowed if text[place] != END}
    if text[key] not in ordinary:
        return False
    return all(counts[other] > counts[text[key]] for other in ordinary - {text[key]})


def is_mark(token: str) -> bool:
    return token != END and not any(letter.isalnum() for letter in token)


def is_same_word(text: Text, query: int, key: int) -> bool:
    words = words_of(tuple(text))
    return words[query] == words[key]


def ends_clause(token: str) -> bool:
    return token.strip("▁") in (".", ",", "?")


def self_rules(counts: Mapping[str, int]) -> dict[str, SelfRule]:
    """The rules of self-attention by name, over texts in which each token occurs so many times."""
    return {
        "first token": lambda text, query, key, allowed: key == 0,
        "special token": lambda text, query, key, allowed: text[key] == END and key > 0,
        "same token": lambda text, query, key, allowed: key == query,
        "previous token": lambda text, query, key, allowed: key == query - 1,
        "next token": lambda text, query, key, allowed: key == query + 1,
        "induction": lambda text, query, key, allowed: (
            key > 0 and text[key - 1] == text[query] and key - 1 != query and key != query
        ),
        "duplicate token": lambda text, query, key, allowed: text[key] == text[query] and key != query,
        "same word": lambda text, query, key, allowed: key != query and is_same_word(text, query, key),
        "end of clause": lambda text, query, key, allowed: ends_clause(text[key]),
        "opening bracket or quote": lambda text, query, key, allowed: opens(text, key),
        "other punctuation": lambda text, query, key, allowed: (
            is_mark(text[key]) and not ends_clause(text[key]) and not opens(text, key)
        ),
        "rarest token": lambda text, query, key, allowed: is_rarest(text, key, allowed, counts),
    }


def cross_rules(counts: Mapping[str, int]) -> dict[str, CrossRule]:
    """Likewise of cross-attention, but for the key that all heads look at together."""
    return {
        "first token": lambda text, source, query, key: key == 0,
        "special token": lambda text, source, query, key: source[key] == END and key > 0,
        "same place": lambda text, source, query, key: query == key,
        "place before": lambda text, source, query, key: key == query - 1,
        "place after": lambda text, source, query, key: key == query + 1,
        "duplicate token": lambda text, source, query, key: text[query] == source[key],
        "end of clause": lambda text, source, query, key: ends_clause(source[key]),
        "opening bracket or quote": lambda text, source, query, key: opens(source, key),
        "other punctuation": lambda text, source, query, key: (
            is_mark(source[key]) and not ends_clause(source[key]) and not opens(source, key)
        ),
        "rarest token": lambda text, source, query, key: is_rarest(source, key, list(range(len(source))), counts),
    }
