"""What `--why` and `--cut` print: why a head looks where it looks, and what becomes of it with one path cut."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from model.analysis.score_cause import Cause, cause_of
from model.analysis.score_parts import ScoreParts, less_row_means
from model.commands.heads import head_of
from model.interventions.cuts import SIDES_IN_WORDS, Cut
from model.interventions.edits import Head, check_head
from model.results.recording import axis_tokens
from model.results.translation import Translation
from model.running.cut_path import PathCut
from model.text.special import MARK

KEYS, PARTS = 5, 8  # that are printed: columns, and rows of each side beside all others as one
WIDTH = 12  # of a column, in characters
_OF_QUERY = {
    "tokens": "what the word “{query}” asks for",
    "positions": "what the position of “{query}” asks for",
    "bias": "what every query asks for",
}
_OF_KEY = {"tokens": "the word there", "positions": "its position"}


def check(args: Namespace) -> None:
    """Refuse options that need another one."""
    for name in ("row", "key"):
        if getattr(args, name) is not None and not (args.why or args.cut):
            raise ValueError(f"--{name} needs --why or --cut: the head whose {name} it is")


def explained(system: Any, result: Translation, args: Namespace) -> Iterator[str]:
    """The lines of --why about one row of a head: the cause, the largest parts of both sides at the keys, their sums.

    None without the option.
    """
    if not args.why:
        return
    head = head_of("--why", args.why, system.config.heads_by_layer)
    check_head(system.config, head)
    parts = system.score_parts(result, head.kind, head.layer, head.head)
    queries, keys = _tokens(result, head.kind)
    weights = result.attention(head.kind)[result.layers(head.kind).index(head.layer), head.head]  # (T, S)
    row = _place("row", args.row, queries, len(queries) - 1)
    key = _place("key", args.key, keys, int(weights[row].argmax()))
    mask = parts.mask[row]
    yield heading(head, queries[row], keys[key], cause_of(parts, row, key))
    shown = _keys_shown(weights[row], mask, key)
    yield from _head_lines(keys, shown)
    yield _line("weight", [f"{weights[row, place]:.3f}" for place in shown])
    of_keys = less_row_means(parts.keys_of_row(row), mask)[:, shown]
    yield "what stands at each key"
    yield from _table(parts.key_names, of_keys)
    of_queries = less_row_means(parts.queries_of_row(row), mask)[:, shown]
    yield f"what is asked for at “{queries[row]}”"
    yield from _table(parts.query_names, of_queries)
    yield _about(parts, int(mask.sum()))


def _about(parts: ScoreParts, count: int) -> str:
    before = f"before scores are capped at {parts.cap:g}, " if parts.cap else ""
    held = "norms are held as they were: a share is not a cause"
    return f"{before}above the mean of {count} keys; sums miss recorded scores by at most {parts.rest:.1e}; {held}"


def heading(head: Head, query: str, key: str, cause: Cause) -> str:
    """The sentence that says what decides most, as the view Why has it."""
    name = f"Head {head.layer}.{head.head}"
    if cause.side == "masked":
        return f"{name} may not look from “{query}” to “{key}”: the mask blocks it."
    if cause.side == "alone":
        return f"{name} has no choice at “{query}”: it may look only to “{key}”."
    if cause.side == "position":
        way = "distance" if cause.name == "distance" else "position"
        return f"{name} looks from “{query}” to “{key}” by {way}: {cause.part:.0%} of what decides where it looks."
    away = "away from" if cause.sum < 0 else "to"
    how_much = f"{cause.part:.1f} of {cause.sum:.1f}"
    return f"{name} looks from “{query}” {away} “{key}”, above all ({how_much}) because of {_because(cause, query)}."


def _because(cause: Cause, query: str) -> str:
    if cause.side == "query":
        return _OF_QUERY.get(cause.name, f"what {cause.name} asks for").format(query=query)
    is_writer = "head" in cause.name or cause.name.startswith("feed-forward")
    written = f"what {cause.name} wrote there" if is_writer else f"what comes from {cause.name} there"
    return _OF_KEY.get(cause.name, written)


def cut_path(system: Any, result: Translation, args: Namespace) -> PathCut:
    """Cut the path of --cut in what a system translated or read."""
    code, side, part = args.cut
    if side not in SIDES_IN_WORDS:
        raise ValueError(
            f"--cut takes a head, queries or keys, and a part, such as 18-6 keys 'head 16.0'; got {side!r}"
        )
    head = head_of("--cut", code, system.config.heads_by_layer)
    check_head(system.config, head)
    return system.cut_path(result, Cut(head.kind, head.layer, head.head, side, part))


def compared(path: PathCut, result: Translation, args: Namespace) -> Iterator[str]:
    """The lines of --cut about one row: weights before, as the split predicts them, and with the path cut."""
    cut = path.cut
    queries, keys = _tokens(result, cut.kind)
    row = _place("row", args.row, queries, len(queries) - 1)
    key = _place("key", args.key, keys, int(path.weights[row].argmax()))
    yield f"head {cut.layer}.{cut.head}, its {cut.side} without {cut.part}: weights from “{queries[row]}” to"
    shown = _keys_shown(path.weights[row], result.mask(cut.kind)[row], key)
    yield from _head_lines(keys, shown)
    rows = {"before": path.weights, "predicted": path.predicted, "with the cut": path.actual}
    for name, weights in rows.items():
        yield _line(name, [f"{weights[row, place]:.3f}" for place in shown])
    yield "predicted by the split of the scores before, with norms held as they were"


def _tokens(result: Translation, kind: str) -> tuple[list[str], list[str]]:
    """The tokens of rows and columns, as they are printed."""
    queries, keys, _ = axis_tokens(result, kind)
    printed = [[_printed(token) for token in tokens] for tokens in (queries, keys)]
    return printed[0], printed[1]


def _printed(token: str) -> str:
    text = token.replace(MARK, " ").strip() or token
    return text if text.isprintable() else repr(text)[1:-1]


def _place(name: str, text: str | None, tokens: Sequence[str], otherwise: int) -> int:
    """The place of a row or key, which a token or its number names."""
    if text is None:
        return otherwise
    if text.isascii() and text.isdigit():
        if int(text) < len(tokens):
            return int(text)
        raise ValueError(f"--{name} is from 0 to {len(tokens) - 1} here, got {text}")
    places = [place for place, token in enumerate(tokens) if token == text.strip()]
    if len(places) == 1:
        return places[0]
    if places:
        raise ValueError(f"--{name}: {text!r} stands at {', '.join(map(str, places))}: give one of these numbers")
    raise ValueError(f"--{name}: no token is {text!r}; there are {', '.join(dict.fromkeys(tokens))}")


def _keys_shown(weights: np.ndarray, mask: np.ndarray, first: int) -> list[int]:
    """The key that is asked about, then those with the largest weights that may be attended to."""
    others = [int(key) for key in np.argsort(-weights, kind="stable") if mask[key] and key != first]
    return [first, *others[: KEYS - 1]]


def _head_lines(keys: Sequence[str], shown: Sequence[int]) -> Iterator[str]:
    """Tokens and places of columns."""
    tokens = [keys[place] for place in shown]
    yield _line("", [token if len(token) < WIDTH else f"{token[: WIDTH - 2]}…" for token in tokens])
    yield _line("key", list(map(str, shown)))


def _table(names: Sequence[str], values: np.ndarray) -> Iterator[str]:
    """Lines of the largest parts at some keys, of all others, and of their sum; `values` are (parts, keys)."""
    order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
    largest: list[int] = sorted(order[:PARTS].tolist(), key=lambda part: -values[part, 0])
    for part in largest:
        yield _line(names[part], [f"{value:+.2f}" for value in values[part]])
    if others := len(order) - len(largest):
        rest = values[order[PARTS:]].sum(axis=0)
        yield _line(f"{others} others", [f"{value:+.2f}" for value in rest])
    yield _line("sum", [f"{value:+.2f}" for value in values.sum(axis=0)])


def _line(name: str, cells: Sequence[str]) -> str:
    return f"  {name:<18}" + "".join(f"{cell:>{WIDTH}}" for cell in cells)
