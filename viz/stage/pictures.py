"""The pictures beside the maps: masks, positions, next words. Each has a name, its kind if any, a look, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.figures import looks
from viz.stage import sampling, words
from viz.stage.words import label, named
from viz.text.language import say
from viz.views import maps

WAVES = (0, 1, 2, 4)  # sixteenths of d_model: which dimensions are drawn as waves
WRITTEN_UP_TO = 12  # words; the cells of a larger mask have no room for what is added


def told(shown: Any, kinds: Sequence[str]) -> dict[str, list[dict]]:
    """The pictures of each view, of a `message.Shown` and its kinds."""
    sides = {"source": shown.result.source_tokens, "target": shown.result.target_tokens}
    return {
        "mask": [_mask(shown, kind) for kind in kinds if shown.masked],
        "positions": [one for side, tokens in sides.items() for one in _positions(shown.result, side, tokens)],
        "words": _words(shown) if shown.candidates else [],
    }


def _mask(shown: Any, kind: str) -> dict:
    queries, keys, _ = maps.axis_tokens(shown.result, kind, shown.rows)
    axes = dict(zip(("query_axis", "key_axis"), words.axes(kind, shown.rows)))
    look = looks.mask(list(map(label, queries)), list(map(label, keys)), say, **axes)
    mask = shown.result.mask(kind)
    picture = {"name": "", "kind": kind, "look": look, "z": mask, "table": [named(queries), named(keys)]}
    if kind not in shown.masked:
        return picture | {"z": np.full(mask.shape, np.nan, np.float32), "line": say(words.NO_MASK)}
    blocked = mask.size - int(mask.sum())
    causal = kind == "decoder_self" and np.array_equal(mask, np.tri(*mask.shape, dtype=bool))
    some = words.BLOCKED if causal else words.EDITED_CELLS
    line = say(some, n=blocked, total=mask.size) if blocked else say(words.NOTHING_BLOCKED)
    if shown.alone and causal:
        look["hover"]["values"] = [f"{name}: {one}" for name, one in zip(look["hover"]["values"], ("-inf", "0"))]
        if len(mask) <= WRITTEN_UP_TO:
            look["texts"] = np.where(mask, "0", "-inf").tolist()
        line = f"{say(words.ADDED)} {line}"
    return picture | {"line": line}


def _positions(result: Any, side: str, tokens: Sequence[str]) -> list[dict]:
    try:
        table = result.positional(side).astype(np.float32)
    except ValueError:  # a recurrent network has none
        return []
    names, name, size = list(map(label, tokens)), say(words.SIDES[side]), table.shape[1]
    heat = looks.positions(names, size, max(1.0, float(np.abs(table).max())), say)
    dimensions = list(map(str, range(size)))
    waves = looks.waves(names, sorted({size * part // 16 for part in WAVES}), table, say)
    return [
        {"name": name, "look": heat, "z": table, "line": say(words.POSITIONS), "table": [named(tokens), dimensions]},
        {"name": say(words.AS_WAVES, side=name), "look": waves, "line": say(words.WAVES)},
    ]


def _words(shown: Any) -> list[dict]:
    names = [[label(name) for name, _ in row] for row in shown.candidates]
    z = np.array([[p for _, p in row] for row in shown.candidates], dtype=np.float32)
    look = looks.candidates(list(map(label, shown.result.predicted_tokens)), names, say)
    written = [[float(p)] for p in shown.probabilities]
    said = [[say("{word} {p:.1%}", word=name, p=p) for name, p in zip(*row)] for row in zip(names, z.tolist())]
    columns = [say(words.OF_NEXT if shown.alone else words.PROBABILITY), *map(str, range(1, z.shape[1] + 1))]
    table = [named(shown.result.predicted_tokens), columns, [p + row for p, row in zip(written, said)]]
    every = {"look": look, "z": z, "table": table}
    if shown.next is None:
        return [every | {"name": "", "line": say(words.CANDIDATES)}]
    look["layout"]["yaxis"]["title"]["text"] = say(words.JUST_READ)
    every |= {"name": say(sampling.EVERY_STEP), "line": say(words.FOLLOWING)}
    return [{"name": say(sampling.AT_THE_END)}, every]
