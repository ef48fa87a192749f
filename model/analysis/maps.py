"""Numbers over recorded arrays: numpy in, numpy out.

Shape letters: L layers, H heads, T queries (rows), S keys (columns), V vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model.text.special import BYTE_TOKENS, MARK, SPECIAL_TOKENS

AGGREGATES: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "max": np.max, "standard deviation": np.std}
# Of other libraries: BERT's, and those of RoBERTa, BART and GPT-2 that are not ours too.
OTHER_SPECIAL_TOKENS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "<mask>", "<|endoftext|>")
_SPECIAL = frozenset((*SPECIAL_TOKENS, *OTHER_SPECIAL_TOKENS))
_BREAK = re.compile("[▁Ġ]*(?:(?:<0x0[9A-D]>|[Ċĉč])[▁Ġ]*)+")  # line feeds and tabs, as bytes or as GPT-2's letters
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
BYTE_LEVEL_MARK, CONTINUED = "Ġ", "##"  # a space in vocabularies like GPT-2's; what goes on with a word in BERT's


def aggregate(weights: np.ndarray, how: str, over: Sequence[str]) -> np.ndarray:
    """Summarise attention over heads, layers or both.

    A maximum or a standard deviation is not a distribution: its rows do not sum to 1.

    Args:
        weights: (L, H, T, S).
        how: "mean", "max" or "standard deviation" (of the population).
        over: what to summarise over: "layers", "heads" or both; the other axis stays, with length 1 where summarised.

    Returns:
        (L or 1, H or 1, T, S) float32.

    Raises:
        ValueError: if how or over is another word.

    Example:
        >>> aggregate(np.eye(2, dtype=np.float32).reshape(1, 2, 1, 2), "mean", ["heads"]).tolist()
        [[[[0.5, 0.5]]]]
    """
    if how not in AGGREGATES:
        raise ValueError(f"the summary must be one of {', '.join(AGGREGATES)}, got {how!r}")
    axes = {"layers": 0, "heads": 1}
    unknown = [name for name in over if name not in axes]
    if unknown or not over:
        raise ValueError(f"heads are summarised over layers, heads or both, got {', '.join(over) or 'nothing'}")
    return AGGREGATES[how](weights, axis=tuple(axes[name] for name in over), keepdims=True).astype(np.float32)


@dataclass(frozen=True)
class Words:
    """How tokens make up words.

    Attributes:
        names: one string per word, without the mark of the space.
        of_token: for each token the number of its word.
    """

    names: list[str]
    of_token: list[int]


def words(tokens: Sequence[str], mark: str = MARK) -> Words:
    """Join subwords to words: a word begins at a mark of a space and at punctuation; special tokens stand alone.

    Breaks of lines, too, stand alone.

    Args:
        tokens: token strings, as `Tokenizer.tokens` gives them, or of other vocabularies: in GPT-2's "Ġ" marks a space,
            in BERT's "##" what goes on with a word.
        mark: which of them it is where none of the tokens has one, as `word_mark` knows it from other texts.

    Returns:
        The words; bytes are put together to the characters they spell.

    Example:
        >>> words(["<s>", "▁happ", "y", ".", "</s>"])
        Words(names=['<s>', 'happy', '.', '</s>'], of_token=[0, 1, 1, 2, 3])
        >>> words(["[CLS]", "happ", "##y", "dog", "[SEP]"]).names
        ['[CLS]', 'happy', 'dog', '[SEP]']
    """
    mark = word_mark(tokens) or mark
    groups: list[list[str]] = []
    of_token = []
    for token in tokens:
        if not groups or _begins_word(groups[-1][-1], token, mark):
            groups.append([])
        groups[-1].append(token)
        of_token.append(len(groups) - 1)
    return Words([_spell(group, mark) for group in groups], of_token)


def word_mark(tokens: Sequence[str]) -> str | None:
    """What marks words in these tokens: "▁" or "Ġ" their start, "##" what goes on with one; None where nothing does."""
    return next((mark for mark in (MARK, BYTE_LEVEL_MARK, CONTINUED) if any(t.startswith(mark) for t in tokens)), None)


def _begins_word(before: str, token: str, mark: str) -> bool:
    if any(one in _SPECIAL or _BREAK.fullmatch(one) for one in (before, token)):
        return True
    if mark == CONTINUED:
        return not token.startswith(mark)
    return token.startswith(mark) or _is_mark_of_punctuation(token, mark) != _is_mark_of_punctuation(before, mark)


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
    """Turn attention between tokens into attention between words (Clark et al. 2019, section 4.1).

    To a word: the sum over its tokens. From a word: the mean over its tokens. So rows that sum to 1 still do.

    Args:
        weights: (..., T, S).
        queries: the words of the T rows.
        keys: the words of the S columns.

    Returns:
        (..., query words, key words) float32.

    Raises:
        ValueError: if the words are not those of as many tokens as there are rows and columns.
    """
    if (len(queries.of_token), len(keys.of_token)) != weights.shape[-2:]:
        raise ValueError(
            f"the weights have {weights.shape[-2]} rows and {weights.shape[-1]} columns, "
            f"the words {len(queries.of_token)} and {len(keys.of_token)} tokens"
        )
    from_words = np.eye(len(queries.names), dtype=np.float32)[queries.of_token].T  # (words, T)
    from_words /= from_words.sum(axis=1, keepdims=True)
    to_words = np.eye(len(keys.names), dtype=np.float32)[keys.of_token]  # (S, words)
    return (from_words @ weights @ to_words).astype(np.float32)


def is_special(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens are special tokens.

    Args:
        tokens: N token strings.

    Returns:
        bool (N,).
    """
    return np.array([token in _SPECIAL for token in tokens], dtype=bool)


def is_punctuation(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens are marks of punctuation.

    Args:
        tokens: N token strings.

    Returns:
        bool (N,).
    """
    mark = word_mark(tokens) or MARK
    marks = [token not in SPECIAL_TOKENS and _is_mark_of_punctuation(token, mark) for token in tokens]
    return np.array(marks, dtype=bool)


def hide(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave rows and columns out and say how much attention went with them; nothing is renormalised.

    Args:
        weights: (..., T, S).
        rows: bool (T,), True = leave out.
        columns: bool (S,), True = leave out.

    Returns:
        The rest (..., rows kept, columns kept), and the mass removed from each kept row (..., rows kept).
    """
    kept = weights[..., ~rows, :]
    return kept[..., ~columns], kept[..., columns].sum(axis=-1)


def top_share(weights: np.ndarray, share: float) -> np.ndarray:
    """Mark the largest weights of every row that together hold a share of the row's mass.

    Args:
        weights: (..., T, S), not negative.
        share: in (0, 1]; 1 marks every weight above 0.

    Returns:
        bool (..., T, S): the fewest largest weights whose sum reaches the share; ties go to the earlier key.

    Raises:
        ValueError: if the share is out of range.

    Example:
        >>> top_share(np.array([[0.1, 0.6, 0.3]]), 0.8).tolist()
        [[False, True, True]]
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share of the mass must be above 0 and at most 1, got {share}")
    order = np.argsort(-weights, axis=-1, kind="stable")
    ranked = np.take_along_axis(weights, order, axis=-1).astype(np.float64)
    before = np.cumsum(ranked, axis=-1) - ranked  # the mass of all larger weights
    total = ranked.sum(axis=-1, keepdims=True)
    kept = (before < share * total * (1 - 1e-6)) & (ranked > 0)  # rounding must not ask for one weight more
    marked = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(marked, order, kept, axis=-1)
    return marked


def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy of every row.

    Args:
        weights: (..., S), rows summing to 1 (or 0, which gives 0).

    Returns:
        (...) in nats: 0 where all mass is on one key, ln S where it is spread evenly.

    Example:
        >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(4).tolist()
        [0.0, 0.6931]
    """
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return np.abs((weights * logs).sum(axis=-1))


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logarithm of the softmax over the last axis, in float64.

    Args:
        logits: (..., V).

    Returns:
        (..., V) float64, in nats.
    """
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def candidates(logits: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The most probable tokens of every step.

    Args:
        logits: (T, V).
        count: how many tokens per step, at most V.

    Returns:
        Token ids (T, count), the most probable first, of equally probable ones the smaller id, and their
        log-probabilities (T, count) in nats.

    Raises:
        ValueError: if count is out of range.
    """
    if not 1 <= count <= logits.shape[-1]:
        raise ValueError(f"from 1 to {logits.shape[-1]} candidates can be had, got {count}")
    # Sorting the whole vocabulary at every step would take longer than a step of the search.
    least = np.partition(logits, -count, axis=-1)[:, -count]  # (T,)
    ids = np.stack([_largest(row, at_least, count) for row, at_least in zip(logits, least)])
    return ids, np.take_along_axis(log_softmax(logits), ids, axis=-1)


def _largest(values: np.ndarray, at_least: float, count: int) -> np.ndarray:
    """Where the count largest of some values (V,) stand, given the smallest of them; the earlier of equal ones."""
    places = np.flatnonzero(values >= at_least)
    return places[np.argsort(-values[places], kind="stable")][:count]


@dataclass(frozen=True)
class ByOffset:
    """How similar positions are that lie a fixed number of places apart.

    Attributes:
        means: (T,) float64, for every offset from 0 the mean dot product of two positions that far apart.
        residual: the largest distance of any dot product from the mean of its offset: 0 where similarity is a function
            of the offset only.
    """

    means: np.ndarray
    residual: float


def by_offset(table: np.ndarray) -> tuple[np.ndarray, ByOffset]:
    """Compare all positions of an encoding with each other, and ask whether only their distance matters.

    Args:
        table: (T, D), one row per position; float64, because in float32 rounding alone makes a residual of about 3e-4.

    Returns:
        The dot products (T, T) of all pairs, and what they are by offset.

    Example:
        >>> by_offset(np.eye(3))[1].means.tolist()
        [1.0, 0.0, 0.0]
    """
    products = table @ table.T
    diagonals = [np.diagonal(products, offset) for offset in range(len(table))]
    means = np.array([diagonal.mean() for diagonal in diagonals])
    residual = max(float(np.abs(diagonal - mean).max()) for diagonal, mean in zip(diagonals, means, strict=True))
    return products, ByOffset(means, residual)
