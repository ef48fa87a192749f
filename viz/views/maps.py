"""What the maps show of a recording: summaries, words, hidden tokens, a threshold. Arrays in, arrays and words out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model.analysis import comparison
from model.analysis import maps as analysis
from model.analysis.comparison import Pairs
from model.text.special import MARK
from viz.figures import labels
from viz.text.language import message, say

SINGLE = message("single heads")
SUMMARIES = (SINGLE, *analysis.AGGREGATES)
OVER = {
    message("heads"): ("heads",),
    message("layers"): ("layers",),
    message("heads and layers"): ("layers", "heads"),
}
VALUES = {
    SINGLE: message("weight"),
    message("mean"): message("mean weight"),
    message("max"): message("max"),
    message("standard deviation"): message("deviation"),
}
NO_SUMS = {
    "max": message("Rows of this summary do not add up to 1."),
    "standard deviation": message("Rows of this summary do not add up to 1."),
}


@dataclass(frozen=True)
class Options:
    """What the visitor chose for the maps.

    Attributes:
        summary: one of SUMMARIES.
        over: a key of OVER; means nothing for single heads.
        merge: draw words instead of tokens.
        hide: leave special tokens out.
        share: percent of a row's mass that its drawn cells hold at least, the largest first; 100 draws all.
        mark: what marks words where the tokens of an axis have no mark, as for `analysis.words`.
    """

    summary: str = SINGLE
    over: str = "heads"
    merge: bool = False
    hide: bool = False
    share: int = 100
    mark: str = MARK

    @property
    def axes(self) -> tuple[str, ...]:
        """What is summarised over: "layers", "heads", both or nothing."""
        return () if self.summary == SINGLE else OVER[self.over]


@dataclass(frozen=True)
class Maps:
    """All maps of one kind as they are drawn; L and H are 1 where layers or heads are summarised.

    Attributes:
        weights: float32 (L, H, T, S), with the small ones that are not shown.
        shown: bool (L, H, T, S), False = below the threshold.
        mask: bool (T, S), True = may attend.
        queries, keys: names of the rows and columns.
        others: what the steps of the rows read or predicted beside their name; None in the encoder.
        removed: float32 (L, H, T), the part of each row that went to hidden columns: where heads or layers are
            summarised the mean over them.
        row_of, column_of: for each token of the rows and the columns the row or column that draws it, -1 for none.
        hidden: how many rows and columns are hidden.
        layer_names, head_names: of the tiles, said.
        value: what a number is, in English.
        options: that made them.
        counts: layers and heads of the recording.
    """

    weights: np.ndarray
    shown: np.ndarray
    mask: np.ndarray
    queries: list[str]
    keys: list[str]
    others: list[str] | None
    removed: np.ndarray
    row_of: list[int]
    column_of: list[int]
    hidden: tuple[int, int]
    layer_names: list[str]
    head_names: list[str]
    value: str
    options: Options
    counts: tuple[int, int]

    def place(self, layer: int, head: int) -> tuple[int, int]:
        """Where the map of a chosen layer and head lies in the arrays."""
        return (0 if "layers" in self.options.axes else layer), (0 if "heads" in self.options.axes else head)


def build(
    weights: np.ndarray,
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    options: Options,
    others: Sequence[str] | None = None,
) -> Maps:
    """Turn the recorded weights of one kind into the maps that are drawn.

    Words are merged first, then special tokens left out, then heads summarised, then small cells left blank, so a
    summary is one of what single heads would show. Nothing is renormalised.

    Args:
        weights: (L, H, T, S).
        mask: bool (T, S), True = may attend.
        queries, keys: T and S tokens that name rows and columns.
        options: what to do.
        others: T tokens, the other ones of the steps.

    Returns:
        The maps.
    """
    counts = weights.shape[:2]
    special_rows, special_columns = analysis.is_special(queries), analysis.is_special(keys)
    queries, keys = list(queries), list(keys)
    others = None if others is None else list(others)
    row_of, column_of = list(range(len(queries))), list(range(len(keys)))
    if options.merge:
        from_words, to_words = (analysis.words(tokens, options.mark) for tokens in (queries, keys))
        weights = analysis.merge_words(weights, from_words, to_words)
        mask = _merge_any(mask, from_words, to_words)
        special_rows, special_columns = _first(special_rows, from_words), _first(special_columns, to_words)
        others = None if others is None else _join(others, from_words)
        queries, keys = from_words.names, to_words.names
        row_of, column_of = from_words.of_token, to_words.of_token
    rows = special_rows & options.hide & (not special_rows.all())
    columns = special_columns & options.hide & (not special_columns.all())
    weights, removed = analysis.hide(weights, rows, columns)
    summed = {"layers": 0, "heads": 1}
    if options.axes:
        weights = analysis.aggregate(weights, options.summary, options.axes)
        removed = removed.mean(axis=tuple(summed[name] for name in options.axes), keepdims=True)
    weights = weights.astype(np.float32)
    shown = analysis.top_share(weights, options.share / 100) if options.share < 100 else np.ones(weights.shape, bool)
    return Maps(
        weights=weights,
        shown=shown,
        mask=mask[~rows][:, ~columns],
        queries=_keep(queries, rows),
        keys=_keep(keys, columns),
        others=None if others is None else _keep(others, rows),
        removed=removed.astype(np.float32),
        row_of=_drawn_at(row_of, rows),
        column_of=_drawn_at(column_of, columns),
        hidden=(int(rows.sum()), int(columns.sum())),
        layer_names=_layer_names(counts[0], options),
        head_names=_head_names(counts[1], options),
        value=VALUES[options.summary],
        options=options,
        counts=counts,
    )


def axis_tokens(result: Any, kind: str, named: str) -> tuple[Any, Any, Any]:
    """The tokens of the rows and of the columns of a kind, and the other tokens of the rows' steps.

    Args:
        result: a recording, or a Made of one.
        kind: of attention.
        named: whether steps are named by the token "read" or "predicted".

    Returns:
        Its tokens; the others are None where rows are not steps, or it does not know what was predicted.
    """
    if kind == "encoder_self":
        return result.source_tokens, result.source_tokens, None
    keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
    if named == "predicted":
        return result.predicted_tokens, keys, result.target_tokens
    return result.target_tokens, keys, result.predicted_tokens or None


def title(maps: Maps, layer: int, head: int | None) -> str:
    """Name the map of a head, or all maps of a layer (head is None), as the end of a heading."""
    n_layers, n_heads = maps.counts
    values = {"layer": layer, "head": head, "n_layers": n_layers, "n_heads": n_heads}
    values["summary"] = say(maps.options.summary)
    if maps.options.axes == ("heads",):
        return say("{summary} of {n_heads} heads of layer {layer}", **values)
    if maps.options.axes == ("layers",):
        if head is None:
            return say("{summary} of each head over {n_layers} layers", **values)
        return say("{summary} of head {head} over {n_layers} layers", **values)
    if maps.options.axes:
        return say("{summary} of all {n_heads} heads of all {n_layers} layers", **values)
    if head is None:
        return say("layer {layer}, all {n_heads} heads", **values)
    return say("layer {layer}, head {head}", **values)


def heading(of: str, maps: Maps, layer: int, head: int | None) -> str:
    """A whole heading: the title of a kind of attention, in English, and what `title` says."""
    return say("{kind}, {place}", kind=say(of), place=title(maps, layer, head))


def notes(maps: Maps, layer: int, head: int | None) -> list[str]:
    """Say in sentences what was done to the maps that `title` names, so that nobody takes them for something else."""
    options = maps.options
    place = maps.place(layer, head or 0)[: 1 if head is None else 2]
    said = []
    if options.axes:
        said.append(say("No single head looks like this."))
    if options.summary in NO_SUMS:
        said.append(say(NO_SUMS[options.summary]))
    if options.merge:
        said.append(say("Subwords are merged into words: to a word the sum, from a word the mean of its tokens."))
    if options.hide:
        said.append(
            say(
                "Special tokens are hidden: on average, {share:.1%} of a remaining row goes to them. Nothing is "
                "rescaled.",
                share=maps.removed[place].mean(),
            )
        )
    if options.share < 100:
        shown = maps.shown[place]
        said.append(
            say(
                "Each row shows only its largest cells, which hold {share} % of it: {n} of {total} cells are left.",
                share=options.share,
                n=shown.sum(),
                total=shown.size,
            )
        )
    return said


def _keep(names: list[str], left_out: np.ndarray) -> list[str]:
    return [name for name, out in zip(names, left_out, strict=True) if not out]


def _drawn_at(of_token: list[int], left_out: np.ndarray) -> list[int]:
    """Where each token is drawn after some rows or columns were left out; -1 where it is not."""
    places = np.where(left_out, -1, np.cumsum(~left_out) - 1)
    return [int(places[place]) for place in of_token]


def _first(marked: np.ndarray, words: analysis.Words) -> np.ndarray:
    """Whether the first token of each word is marked; special tokens are words of their own."""
    return np.array([marked[words.of_token.index(word)] for word in range(len(words.names))], dtype=bool)


def _join(tokens: list[str], words: analysis.Words) -> list[str]:
    """The tokens of each word's positions in one string, a space between them."""
    return [
        " ".join(token for token, at in zip(tokens, words.of_token, strict=True) if at == word)
        for word in range(len(words.names))
    ]


def _merge_any(mask: np.ndarray, queries: analysis.Words, keys: analysis.Words) -> np.ndarray:
    """A word may attend to another where any of its tokens may to any of the other's."""
    merged = np.zeros((len(queries.names), len(keys.names)), dtype=bool)
    rows, columns = np.nonzero(mask)
    merged[np.array(queries.of_token)[rows], np.array(keys.of_token)[columns]] = True
    return merged


def _layer_names(count: int, options: Options) -> list[str]:
    if "layers" in options.axes:
        return [say("{summary} of {count} layers", summary=say(options.summary), count=count)]
    return [labels.layer_label(layer, say) for layer in range(count)]


def _head_names(count: int, options: Options) -> list[str]:
    if "heads" in options.axes:
        return [say("{summary} of {count} heads", summary=say(options.summary), count=count)]
    return [labels.head_label(head, say) for head in range(count)]


def aligned(before: Maps, after: Maps) -> tuple[Pairs, Pairs]:
    """The rows and the columns of two maps that belong together, as of `comparison.pairs`."""
    rows, columns = (comparison.pairs(getattr(before, axis), getattr(after, axis)) for axis in ("queries", "keys"))
    return rows, columns


def difference(before: Maps, after: Maps, replaced: bool = False) -> Maps:
    """After minus before, on the axes of `after`.

    Args:
        before, after: maps of one kind, made with the same options; where models differ, of the layers and heads that
            both have.
        replaced: whether tokens that replace each other are compared as well; their rows and columns have both names.

    Returns:
        Maps whose weights are differences, from -1 to 1. Rows and columns are those of the same token in both
        translations, aligned in order; where one has no counterpart, its cells are not shown.
    """
    pairs = aligned(before, after)
    names = [(before.queries, after.queries), (before.keys, after.keys)]
    if not replaced:
        pairs = [[(i, j) for i, j in found if old[i] == new[j]] for found, (old, new) in zip(pairs, names)]
    (old_rows, rows), (old_columns, columns) = (([i for i, _ in one], [j for _, j in one]) for one in pairs)
    n_layers, n_heads = map(min, before.weights.shape[:2], after.weights.shape[:2])
    own, other = after.weights[:n_layers, :n_heads], before.weights[:n_layers, :n_heads]
    here, there = np.ix_(rows, columns), np.ix_(old_rows, old_columns)
    weights, shown = np.zeros_like(own), np.zeros(own.shape, bool)
    weights[..., *here] = own[..., *here] - other[..., *there]
    shown[..., *here] = after.shown[:n_layers, :n_heads][..., *here] | before.shown[:n_layers, :n_heads][..., *there]
    queries, keys = (_both_names(*one, found) for one, found in zip(names, pairs))
    return replace(
        after,
        weights=weights,
        shown=shown,
        queries=queries,
        keys=keys,
        removed=after.removed[:n_layers, :n_heads],
        layer_names=after.layer_names[:n_layers],
        head_names=after.head_names[:n_heads],
        value=message("B minus A") if replaced else message("after minus before"),
    )


def _both_names(old: Sequence[str], new: Sequence[str], pairs: Pairs) -> list[str]:
    """The names of an axis, where a token replaces another one those of both."""
    names = list(new)
    for i, j in pairs:
        if old[i] != new[j]:
            names[j] = f"{old[i].lstrip(MARK) or old[i]} → {new[j].lstrip(MARK) or new[j]}"
    return names
