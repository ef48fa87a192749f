"""Numbers over recorded arrays: numpy in, numpy out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from model.text.special import BYTE_TOKENS, MARK, SPECIAL_TOKENS

AGGREGATES: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "max": np.max, "standard deviation": np.std}
# Of other libraries: BERT's, and those of RoBERTa, BART and GPT-2 that are not ours too.
OTHER_SPECIAL_TOKENS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "<mask>", "<|endoftext|>")
_SPECIAL = frozenset((*SPECIAL_TOKENS, *OTHER_SPECIAL_TOKENS))
_TURN = re.compile(r"<\|.+\|>")  # marks of turns of a chat, and the like
_BREAK = re.compile("[▁Ġ]*(?:(?:<0x0[9A-D]>|[Ċĉč])[▁Ġ]*)+")  # line feeds and tabs, as bytes or as GPT-2's letters
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
BYTE_LEVEL_MARK, CONTINUED = "Ġ", "##"  # a space in vocabularies like GPT-2's; what goes on with a word in BERT's


def aggregate(weights: np.ndarray, how: str, over: Sequence[str]) -> np.ndarray:
    """Summarise attention (L, H, T, S) over "layers", "heads" or both: (L or 1, H or 1, T, S) float32."""
    axes = {"layers": 0, "heads": 1}
    return AGGREGATES[how](weights, axis=tuple(axes[name] for name in over), keepdims=True).astype(np.float32)


@dataclass(frozen=True)
class Words:
    """Words, and of which tokens they are made."""

    names: list[str]  # without the mark of the space
    of_token: list[int]  # for each token the number of its word


def words(tokens: Sequence[str], mark: str = MARK) -> Words:
    """Join subwords of any vocabulary to words: a word begins at a mark of a space and at punctuation.

    Special tokens and breaks of lines stand alone; bytes are put together to the characters they spell. `mark` is that
    of the vocabulary (`word_mark`) where none of the tokens has one.

    Example:
        >>> words(["<s>", "▁happ", "y", ".", "</s>"])
        Words(names=['<s>', 'happy', '.', '</s>'], of_token=[0, 1, 1, 2, 3])
        >>> words(["[CLS]", "happ", "##y", "dog", "[SEP]"]).names
        ['[CLS]', 'happy', 'dog', '[SEP]']
    """
    mark = word_mark(tokens) or mark
    of_token = word_numbers(tokens, mark)
    groups: list[list[str]] = [[] for _ in range(of_token[-1] + 1 if of_token else 0)]
    for token, number in zip(tokens, of_token):
        groups[number].append(token)
    return Words([_spell(group, mark) for group in groups], of_token)


def word_numbers(tokens: Sequence[str], mark: str) -> list[int]:
    """For each token the number of its word, as in `words`; `mark` is that of the vocabulary.

    Example:
        >>> word_numbers(["▁happ", "y", "▁dog", "."], "▁")
        [0, 0, 1, 2]
    """
    numbers: list[int] = []
    before = None
    for token in tokens:
        bounds = word_bounds(token, mark)
        numbers.append(numbers[-1] + bool(begins_word(before, bounds)) if before else 0)
        before = bounds
    return numbers


def word_mark(tokens: Sequence[str]) -> str | None:
    """The mark of words in these tokens: "▁" or "Ġ" at their start, "##" at a continuation; None without marks."""
    return next((mark for mark in (MARK, BYTE_LEVEL_MARK, CONTINUED) if any(t.startswith(mark) for t in tokens)), None)


class WordBounds(NamedTuple):
    """What says of a token, or of an array of tokens, where words begin and end: booleans, or arrays of them."""

    begins: Any  # a word, whatever stands before it
    stands_alone: Any
    is_mark: Any  # of punctuation; a word ends between such a mark and something else


@lru_cache(maxsize=2**14)
def word_bounds(token: str, mark: str) -> WordBounds:
    """What says where words begin and end, of one token."""
    if mark == CONTINUED:
        return WordBounds(not token.startswith(mark), _stands_alone(token), False)
    return WordBounds(token.startswith(mark), _stands_alone(token), _is_mark_of_punctuation(token, mark))


def begins_word(before: WordBounds, token: WordBounds) -> Any:
    """Whether a token begins a word after the token before it; of arrays an array."""
    return token.begins | token.stands_alone | before.stands_alone | (token.is_mark != before.is_mark)


def _stands_alone(token: str) -> bool:
    return _looks_special(token) or bool(_BREAK.fullmatch(token))


def _looks_special(token: str) -> bool:
    return token in _SPECIAL or bool(_TURN.fullmatch(token))


def _is_mark_of_punctuation(token: str, mark: str) -> bool:
    bare = token.removeprefix(mark)
    return bool(bare) and token not in BYTE_TOKENS and not any(c.isalnum() for c in bare)


def _spell(group: Sequence[str], mark: str) -> str:
    if _BREAK.fullmatch(group[0]):  # nothing could be seen of what it spells
        return group[0]
    parts = [token.removeprefix(mark) for token in group] if mark == CONTINUED else group
    spelt = b"".join(_BYTE.sub(lambda byte: bytes.fromhex(byte[1].decode()), part.encode()) for part in parts)
    return spelt.decode(errors="replace").removeprefix(mark) or mark


def merge_words(weights: np.ndarray, queries: Words, keys: Words) -> np.ndarray:
    """Turn attention between tokens (..., T, S) into attention between words, float32 (Clark et al. 2019, section 4.1).

    To a word: the sum over its tokens. From a word: the mean over its tokens.
    """
    from_words = np.eye(len(queries.names), dtype=np.float32)[queries.of_token].T  # (words, T)
    from_words /= from_words.sum(axis=1, keepdims=True)
    to_words = np.eye(len(keys.names), dtype=np.float32)[keys.of_token]  # (S, words)
    return (from_words @ weights @ to_words).astype(np.float32)


def is_special(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens are special ones, of this project or another library: bool (tokens,)."""
    return np.array(list(map(_looks_special, tokens)), dtype=bool)


def is_punctuation(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens have neither letters nor digits, special ones and bytes aside: bool (tokens,)."""
    mark = word_mark(tokens) or MARK
    marks = [token not in SPECIAL_TOKENS and _is_mark_of_punctuation(token, mark) for token in tokens]
    return np.array(marks, dtype=bool)


def hide(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (..., T, S) without rows, bool (T,), and columns, bool (S,), and the mass that each remaining row lost.

    With T' rows and S' columns left: (..., T', S') and (..., T').
    """
    if not rows.any() and not columns.any():
        return weights, np.zeros(weights.shape[:-1], weights.dtype)
    remaining = weights[..., ~rows, :]
    return remaining[..., ~columns], remaining[..., columns].sum(axis=-1)


def top_share(weights: np.ndarray, share: float) -> np.ndarray:
    """Mark the fewest largest weights of every row (..., T, S) that together hold a share, in (0, 1], of its mass.

    Example:
        >>> top_share(np.array([[0.1, 0.6, 0.3]]), 0.8).tolist()
        [[False, True, True]]
    """
    order = np.argsort(-weights, axis=-1, kind="stable")
    ranked = np.take_along_axis(weights, order, axis=-1).astype(np.float64)
    larger = np.cumsum(ranked, axis=-1) - ranked  # the mass of all larger weights
    total = ranked.sum(axis=-1, keepdims=True)
    in_share = (larger < share * total * (1 - 1e-6)) & (ranked > 0)  # rounding must not ask for one weight more
    is_marked = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(is_marked, order, in_share, axis=-1)
    return is_marked


def largest_cell(table: np.ndarray) -> tuple[int, int]:
    """Row and column of the largest number of a table (A, B), such as layer and head: the first of equals."""
    row, column = np.unravel_index(table.argmax(), table.shape)
    return int(row), int(column)


def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy of every row (..., S) in nats."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return np.abs((weights * logs).sum(axis=-1))


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """The log-probabilities of logits (..., V), in nats, float64 (..., V)."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def candidates(logits: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ids (T, count) of the most probable tokens of every step of logits (T, V), and their log-probabilities.

    The most probable come first, of equally probable ones the smaller id.
    """
    # Sorting the whole vocabulary at every step would take longer than a step of the search.
    least = np.partition(logits, -count, axis=-1)[:, -count]  # (T,)
    at_least = [np.flatnonzero(row >= smallest) for row, smallest in zip(logits, least)]
    ids = np.stack([at[np.argsort(-row[at], kind="stable")][:count] for row, at in zip(logits, at_least)])
    return ids, np.take_along_axis(log_softmax(logits), ids, axis=-1)


@dataclass(frozen=True)
class ByOffset:
    """Dot products of positions, summarised by how far apart the positions are."""

    means: np.ndarray  # (T,) float64, for every offset from 0 the mean dot product of two positions that far apart
    residual: float  # the largest distance of any dot product from that mean: 0 where only the offset matters


def by_offset(table: np.ndarray) -> tuple[np.ndarray, ByOffset]:
    """The dot products (T, T) of all positions of an encoding (T, D), and their means by offset.

    In float32 rounding alone makes a residual of about 3e-4.
    """
    products = table @ table.T
    diagonals = [np.diagonal(products, offset) for offset in range(len(table))]
    means = np.array([diagonal.mean() for diagonal in diagonals])
    residual = max(float(np.abs(diagonal - mean).max()) for diagonal, mean in zip(diagonals, means))
    return products, ByOffset(means, residual)
