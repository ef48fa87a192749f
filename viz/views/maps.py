"""What the maps show of a recording: summaries, words, hidden tokens, a threshold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from model.analysis import comparison
from model.analysis import maps as analysis
from model.analysis.comparison import Pairs
from model.text.special import MARK
from model.translation import SIDES
from viz.text.language import message, messages, say
from viz.views.view import SUMMARIES, View

VALUES = messages(single="weight", mean="mean weight", max="max", deviation="deviation")
CANDIDATES = 5  # tokens that could have been written at a step


@dataclass(frozen=True)
class Maps:
    """All maps of one kind as they are drawn; L and H are 1 where layers or heads are summarised."""

    weights: np.ndarray  # float32 (L, H, T, S), all of them
    shown: np.ndarray  # bool (L, H, T, S), False = below the threshold
    mask: np.ndarray  # bool (T, S), True = may attend
    queries: list[str]  # names of the rows
    keys: list[str]
    others: list[str] | None  # what the steps of the rows read or predicted beside their name; None in the encoder
    removed: np.ndarray  # float32 (L, H, T), the part of each row that went to hidden columns; of summaries the mean
    row_of: list[int]  # for each token the row that draws it, -1 for none
    column_of: list[int]
    layer_names: list[str]  # of the tiles, said
    head_names: list[str]
    value: str  # what a number is, in English
    options: View  # that made them
    mark: str  # of words where the tokens of an axis have none, as for `analysis.words`
    signed: bool = False  # numbers are within [-limit, limit], else within [0, limit]
    limit: float = 1.0


def build(
    weights: np.ndarray,
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    options: View,
    others: Sequence[str] | None = None,
    mark: str = MARK,
) -> Maps:
    """Turn the recorded weights (L, H, T, S) and the mask (T, S) of one kind into the maps that are drawn.

    Words are merged first, then special tokens left out, then heads summarised, then small cells left blank, so a
    summary is one of what single heads would show. Nothing is renormalised.
    """
    counts, places = weights.shape[:2], [range(len(queries)), range(len(keys))]
    special = [analysis.is_special(tokens) for tokens in (queries, keys)]
    if options.words:
        merged = [analysis.words(tokens, mark) for tokens in (queries, keys)]
        weights, mask = analysis.merge_words(weights, *merged), analysis.merge_words(mask, *merged) > 0
        places, (queries, keys) = [one.of_token for one in merged], [one.names for one in merged]
        special = [one[np.unique(of, return_index=True)[1]] for one, of in zip(special, places)]
        if others is not None:
            others = [" ".join(compress(others, np.equal(places[0], word))) for word in range(len(queries))]
    rows, columns = kept = [~one | (not options.hide or one.all()) for one in special]
    row_of, column_of = (np.where(on, np.cumsum(on) - 1, -1)[list(of)].tolist() for on, of in zip(kept, places))
    weights, removed = analysis.hide(weights, ~rows, ~columns)
    if options.axes:
        weights = analysis.aggregate(weights, SUMMARIES[options.summary], options.axes)
        removed = removed.mean(axis=tuple(map(("layers", "heads").index, options.axes)), keepdims=True)
    weights = weights.astype(np.float32, copy=False)
    shown = analysis.top_share(weights, options.share / 100) if options.share < 100 else np.ones(weights.shape, bool)
    return Maps(
        weights=weights,
        shown=shown,
        mask=mask[rows][:, columns],
        queries=list(compress(queries, rows)),
        keys=list(compress(keys, columns)),
        others=None if others is None else list(compress(others, rows)),
        removed=removed.astype(np.float32),
        row_of=row_of,
        column_of=column_of,
        layer_names=_names("layers", counts[0], options),
        head_names=_names("heads", counts[1], options),
        value=VALUES[options.summary],
        options=options,
        mark=mark,
    )


def _names(axis: str, count: int, options: View) -> list[str]:
    if axis in options.axes:
        said = message("{summary} of {count} layers") if axis == "layers" else message("{summary} of {count} heads")
        return [say(said, summary=say(SUMMARIES[options.summary]), count=count)]
    said = message("layer {n}") if axis == "layers" else message("head {n}")
    return [say(said, n=number) for number in range(count)]


def axis_tokens(result: Any, kind: str, named: str) -> tuple[Any, Any, Any]:
    """The tokens of the rows and columns of a kind in a recording, or a Made of one.

    And where rows are steps, named by the token "read" or "predicted", the other one of each, where known.
    """
    rows, columns = SIDES[kind]
    keys = getattr(result, f"{columns}_tokens")
    if rows == "source":
        return result.source_tokens, keys, None
    if named == "predicted":
        return result.predicted_tokens, keys, result.target_tokens
    return result.target_tokens, keys, result.predicted_tokens or None


def notes(maps: Maps, layer: int, head: int) -> list[str]:
    """What was done to a map, in sentences."""
    options, shown = maps.options, maps.shown[layer, head]
    lines = {
        message("No single head looks like this."): options.axes,
        message("Rows of this summary do not add up to 1."): options.summary in ("max", "deviation"),
        message(
            "Subwords are merged into words: to a word the sum, from a word the mean of its tokens."
        ): options.words,
        message(
            "Special tokens are hidden: on average, {hidden:.1%} of a remaining row goes to them. Nothing is rescaled."
        ): options.hide,
        message(
            "Each row shows only its largest cells, which hold {share} % of it: {n} of {total} cells are left."
        ): options.share < 100,
    }
    values = {"hidden": maps.removed[layer, head].mean(), "share": options.share, "n": shown.sum(), "total": shown.size}
    return [say(line, **values) for line, said in lines.items() if said]


def aligned(before: Maps, after: Maps) -> tuple[Pairs, Pairs]:
    return comparison.pairs(before.queries, after.queries), comparison.pairs(before.keys, after.keys)


def difference(before: Maps, after: Maps, replaced: bool = False) -> Maps:
    """After minus before, of the layers and heads that both have, on the axes of `after`; the same options made both.

    Rows and columns of the same token are compared, and if `replaced` those of tokens that replace each other, under
    both names. Other cells are not shown.
    """
    pairs, names = aligned(before, after), [(before.queries, after.queries), (before.keys, after.keys)]
    if not replaced:
        pairs = [[(i, j) for i, j in found if old[i] == new[j]] for found, (old, new) in zip(pairs, names)]
    there, here = (np.ix_(*([pair[side] for pair in found] for found in pairs)) for side in (0, 1))
    both = tuple(slice(min(counts)) for counts in zip(before.weights.shape[:2], after.weights.shape[:2]))
    own, other = after.weights[both], before.weights[both]
    weights, shown = np.zeros_like(own), np.zeros(own.shape, bool)
    weights[..., *here] = own[..., *here] - other[..., *there]
    shown[..., *here] = after.shown[both][..., *here] | before.shown[both][..., *there]
    queries, keys = (list(new) for _, new in names)
    for tokens, (old, new), found in zip((queries, keys), names, pairs):
        for i, j in found:
            if old[i] != new[j]:
                tokens[j] = " → ".join(one.lstrip(MARK) or one for one in (old[i], new[j]))
    return replace(
        after,
        weights=weights,
        shown=shown,
        queries=queries,
        keys=keys,
        removed=after.removed[both],
        layer_names=after.layer_names[both[0]],
        head_names=after.head_names[both[1]],
        value=message("B minus A") if replaced else message("after minus before"),
        signed=True,
    )


class NextWords(NamedTuple):
    """What a model could have written at T steps."""

    candidates: list[list[tuple[str, float]]]  # T lists of tokens and probabilities, the most probable first
    candidate_ids: list[list[int]]
    entropy: np.ndarray  # float32 (T,), of the distribution over the whole vocabulary, in nats


def next_words(logits: np.ndarray, tokenizer: Any) -> NextWords:
    """Read logits (T, V) over the vocabulary of a tokenizer, that of the target where each side has one."""
    names = getattr(tokenizer, "target", tokenizer).tokens
    ids, log_probabilities = analysis.candidates(logits, CANDIDATES)
    logs = analysis.log_softmax(logits)  # (T, V); no logarithm of the probabilities again
    entropy = -(np.exp(logs) * logs).sum(axis=-1).astype(np.float32)
    rows = zip(ids.tolist(), np.exp(log_probabilities).tolist(), strict=True)
    return NextWords([list(zip(names(row), shares, strict=True)) for row, shares in rows], ids.tolist(), entropy)
