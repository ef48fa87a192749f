"""The pictures beside the maps: masks, positions, next words."""

from collections.abc import Container
from typing import Any

import numpy as np

from viz.figures import looks
from viz.stage import words
from viz.stage.words import named
from viz.text.language import message, say
from viz.views import maps

WAVES = (0, 1, 2, 4)  # sixteenths of d_model that are drawn as waves
WRITTEN_UP_TO = 12  # words; the cells of a larger mask have no room for what is added


def told(shown: Any) -> dict[str, list[dict]]:
    """By view, of a `message.Shown`."""
    masked = getattr(shown.result, "masks", shown.built)  # kinds whose masks are known
    sides = {"source": say("Source"), "target": say("Translation")}
    return {
        "mask": [_mask(shown, kind, masked) for kind in shown.built if masked],
        "positions": [one for side in sides.items() for one in _positions(shown.result, *side)],
        "words": _words(shown) if shown.next_words else [],
    }


def _mask(shown: Any, kind: str, masked: Container[str]) -> dict:
    queries, keys, _ = maps.axis_tokens(shown.result, kind, shown.view.rows)
    look = looks.mask(named(queries), named(keys), say, **words.axes(kind, shown.view.rows))
    mask = shown.result.mask(kind)
    known, text = kind in masked, message("{n} of {total} cells are blocked.")
    causal = known and kind == "decoder_self" and np.array_equal(mask, np.tri(*mask.shape))
    if not known:
        text = message("The mask of this kind of attention is not known.")
    elif mask.all():
        text = message("Nothing is blocked: every query may attend to every key.")
    elif causal:
        text = message("{n} of {total} cells are blocked: a word cannot attend to later words.")
    line = say(text, n=int((~mask).sum()), total=mask.size)
    if shown.alone and causal:
        look["hover"]["values"] = [f"{name}: {one}" for name, one in zip(look["hover"]["values"], ("-inf", "0"))]
        if len(mask) <= WRITTEN_UP_TO:
            look["texts"] = np.where(mask, "0", "-inf").tolist()
        added = say("Added to the scores before the softmax: 0, and -inf for a word that comes later: its weight is 0.")
        line = f"{added} {line}"
    z = mask if known else np.full_like(mask, np.nan, np.float32)
    return {"name": "", "kind": kind, "look": look, "z": z, "line": line}


def _positions(result: Any, side: str, name: str) -> list[dict]:
    try:
        table = result.positional(side).astype(np.float32)
    except (ValueError, AttributeError):  # a recurrent network has none, nor has a file
        return []
    names, size = named(getattr(result, f"{side}_tokens")), table.shape[1]
    heat = looks.positions(names, size, max(1.0, float(np.abs(table).max())), say)
    about = say("Added to the embedding of each token.")
    waves = looks.waves(names, sorted({size * part // 16 for part in WAVES}), table, say)
    line = say("Each line is one dimension of the encoding.")
    as_waves = {"name": say("{side} as waves", side=name), "look": waves, "line": line}
    return [{"name": name, "look": heat, "z": table, "line": about}, as_waves]


def _words(shown: Any) -> list[dict]:
    tokens, candidates = named(shown.written), words.candidates(shown.result, shown.next_words)
    names = [[name for name, _ in row] for row in candidates]
    z = np.array([[p for _, p in row] for row in candidates], dtype=np.float32)
    look = looks.candidates(tokens, names, say)
    written = np.exp(shown.result.log_probabilities).tolist()
    said = [[say("{word} {p:.1%}", word=name, p=p) for name, p in zip(*row)] for row in zip(names, z.tolist())]
    first = say("probability of the word that follows") if shown.alone else say("probability")
    columns = [first, *map(str, range(1, z.shape[1] + 1))]
    table = [tokens, columns, [[p, *row] for p, row in zip(written, said)]]
    line = say("The most probable next words. Beam search may choose another one than the first.")
    every = {"name": "", "look": look, "z": z, "table": table, "line": line}
    if shown.next is None:
        return [every]
    look["layout"]["yaxis"]["title"]["text"] = say("word just read")
    line = say("The most probable next words after every word of the text.")
    return [{"name": say("After the text")}, every | {"name": say("Every step"), "line": line}]
