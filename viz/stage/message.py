"""What the stage is told of a translation: maps of all kinds, tokens, looks, words. Arrays in, one message out.

Means, entropies, roles and what to open first are computed here: the browser picks a slice, turns a value into a
colour, writes a value down. One exception: viz/stage/sampling.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from plotly.colors import sample_colorscale

from model.analysis import maps as analysis
from model.recording import Recording
from model.text.special import MARK
from model.translation import Translation
from viz import theme
from viz.figures import labels, looks
from viz.stage import coarse, effects, pictures, words
from viz.stage.effects import Found
from viz.stage.packing import pack, quantised
from viz.stage.words import label, named
from viz.text.language import PARAMETER, current, say, using
from viz.views import maps
from viz.views.maps import Maps, NextWords
from viz.views.view import NAMES, View

BUDGET = 700_000  # bytes of maps that travel at once; of more only the opened heads do
KINDS_SHOWN = ("cross", "encoder_self", "decoder_self")  # in this order
Keep = Callable[[np.ndarray], str] | None
Known = tuple[list[list[str]] | None, tuple[int, int] | None]  # roles (L, H), as they are said; the head to open first


@dataclass(frozen=True)
class Shown:
    """Everything one message is made of; what is None or empty is not known, or was not asked for."""

    result: Translation | Recording  # without `predicted_tokens` each token of the translation has its own row
    view: View
    built: Mapping[str, Maps]  # by kind
    next_words: NextWords | None = None  # at every step
    known: Mapping[str, Known] = field(default_factory=dict)  # by kind
    opened: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # by kind, a head that travels with the message
    in_file: bool = False  # the message is for a file, and not for a page of the app
    address: dict[str, str] = field(default_factory=dict)  # what that of the page should say
    notes: Sequence[str] = ()
    code: Mapping[str, str] = field(default_factory=dict)  # Python by kind and by view; of the head {layer}, {head}
    inside: dict | None = None
    next: dict | None = None
    effects: Found | str | None = None  # or, in a sentence, why there are none
    rowwise: bool = False  # rows can be looked into

    @property
    def alone(self) -> bool:  # a text without a source
        return not self.result.source_tokens

    @property
    def written(self) -> Sequence[str]:
        """The tokens of the translation, or of the text."""
        return self.result.predicted_tokens or self.result.target_tokens


def message(
    shown: Shown,
    keep: Keep = None,
    before: Shown | None = None,
    steering: dict | None = None,
    comparing: dict | None = None,
    owned: Sequence[str] = (),
    setting: dict | None = None,
) -> bytes:
    """The message of a translation.

    Args:
        keep: stores quantised maps (L, H, T, S) and returns an address below which the browser can fetch them, all
            together or a head at a time (packing.py); None: all travels at once.
        before: the translation without the changes of `shown`; the visitor sees both in turn, and the difference.
        steering: for steer.js, where the visitor changes something.
        comparing: for beside.js, where both stand beside each other; also the code of the difference. Then tokens that
            replace each other are compared, too.
        owned: further parameters of the address that the message sets or takes out.
        setting: what is open, by names of `view.PLACE`, and "ring", a cell to frame, on a page that sets the stage
            itself: the address does not count, and only the picture or, for steering, the tiles are shown.
    """
    spoken = words.WORDS | (words.READING if shown.alone else {}) | (words.COMPARING if comparing else {})
    with using(current()):  # asked once, not for each word
        header = _version(shown, keep) | {
            "language": current(),
            "words": {name: say(text) for name, text in spoken.items()},
            "address": dict.fromkeys([*NAMES, PARAMETER, *owned]) | shown.address,
            "options": words.form(shown.view, bool(shown.result.predicted_tokens)),
            "setting": setting,
            "steering": steering,
        }
        if before is not None:
            both = {kind: (before.built[kind], made) for kind, made in shown.built.items() if kind in before.built}
            built = {kind: maps.difference(*pair, bool(comparing)) for kind, pair in both.items()}
            changed = effects.difference(before.effects, shown.effects)
            code = comparing["code"] if comparing else shown.code
            change = replace(shown, built=built, inside=None, known={}, effects=changed, code=code)
            if comparing:
                aligned = {kind: dict(zip(("rows", "columns"), maps.aligned(*pair))) for kind, pair in both.items()}
                header["comparing"] = comparing | {"aligned": aligned}
            header |= {"before": _version(before, keep), "difference": _version(change, keep) | {"views": {}}}
        return pack(header)


def _version(shown: Shown, keep: Keep) -> dict:
    result, found = shown.result, shown.next_words
    kinds = [_kind(shown, kind, made, keep) for kind, made in shown.built.items()]
    logs = getattr(result, "log_probabilities", None)
    target = {
        "start": " ".join(map(label, result.target_tokens[:1])),
        "probability": None if logs is None else np.exp(logs),
        "entropy": found and found.entropy,
        "candidates": words.candidates(result, found) if found else [],
        "late": int(not result.predicted_tokens),
    }
    return {
        "translation": getattr(result, "text", None),
        "notes": shown.notes,
        "source": _line(result.source_tokens),
        "target": _line(shown.written) | target,
        "kinds": kinds,
        "views": pictures.told(shown),
        "effects": _effects(shown, kinds, keep),
        "code": shown.code,
        "inside": shown.inside,
        "next": shown.next,
    }


def _line(tokens: Sequence[str]) -> dict:
    """Tokens, and whether each goes on with the word before it."""
    mark = analysis.word_mark(tokens)
    of_token = analysis.words(tokens, mark).of_token if mark else range(len(tokens))
    return {"tokens": named(tokens), "joined": [i > 0 and word == of_token[i - 1] for i, word in enumerate(of_token)]}


def _effects(shown: Shown, of_weights: Sequence[dict], keep: Keep) -> Mapping | None:
    found = shown.effects
    if not isinstance(found, Found):
        return found and {"reason": say(found)}
    kinds = {}
    for weights in of_weights:
        kind = weights["code"]
        if made := found.built.get(kind):
            told = _kind(shown, kind, made, keep, (weights["roles"], weights["first"]))
            if kind == "cross":  # whose memory mixes words
                told["look"]["layout"]["xaxis"]["title"]["text"] = say("encoder position (key)")
            kinds[kind] = told | {"removed": None, "said": None, "plain": False} | found.more.get(kind, {})
    return {"kinds": kinds, **found.told}


def built(result: Translation, view: View) -> dict[str, Maps]:
    """The maps of every kind, with the options of a view."""
    made, mark = {}, analysis.word_mark([*result.source_tokens, *result.target_tokens]) or MARK
    for kind in KINDS_SHOWN:
        try:
            weights, mask = result.attention(kind), result.mask(kind)
        except (ValueError, KeyError):  # a recurrent network has no self-attention, and perhaps none at all
            continue
        queries, keys, others = maps.axis_tokens(result, kind, view.rows)
        made[kind] = maps.build(weights, mask, queries, keys, view, others, mark)
    return made


def _kind(shown: Shown, kind: str, made: Maps, keep: Keep, known: Known | None = None) -> dict:
    roles, first = known or shown.known.get(kind, (None, None))
    weights, signed, limit = made.weights, made.signed, made.limit
    name, title = words.spoken(kind, shown.alone)
    shape = weights.shape[:2]
    of_rows = np.stack([np.abs(layer).max(axis=-1) for layer in weights])  # (L, H, T), the largest of each row
    largest = of_rows.max(axis=-1)
    most = float(largest.max()) if shown.view.stretch else 0  # where colours end
    single, plain = not made.options.axes, not made.options.changed
    if first is None or not single:
        first = np.unravel_index(largest.argmax(), shape) if signed else coarse.first_head(weights, made.mask)
    # The row of each head that is worth a sentence has the largest number, and is of a word where there are any.
    dull = words.dull(made.queries) & (not signed)
    told = np.where(dull & (not dull.all()), -1, of_rows).argmax(axis=-1)
    return {
        **_places(shown, kind, made),
        **_weights(shown, kind, made, first, keep),
        "code": kind,
        "name": name,
        "title": title,
        "layerNames": made.layer_names,
        "headNames": made.head_names,
        "single": single,
        "signed": signed,
        "plain": plain,
        "inside": plain and shown.rowwise and not signed,
        "steps": kind != "encoder_self",
        "queries": named(made.queries),
        "keys": named(made.keys),
        "dull": words.dull(made.keys).tolist(),
        "tiles": coarse.tiles(weights, made.mask, made.shown, most or limit, signed),
        "colours": _colours(signed),
        "shown": None if made.shown.all() else made.shown,
        "removed": made.removed if made.options.hide else None,
        "entropy": None if signed else np.stack([analysis.entropy(layer).mean(axis=-1) for layer in weights]),
        "largest": largest,
        "limit": limit,
        "stretch": shown.view.stretch,
        "roles": roles if single and np.shape(roles) == shape else None,
        "told": told,
        "said": None if plain else _said(made),
        "first": first,
        "look": _look(made, kind, shown.view.rows),
    }


def _places(shown: Shown, kind: str, made: Maps) -> dict:
    """The row and the column of each token, and of the start token, -1 where there is none."""
    rows, columns, late = made.row_of, made.column_of, bool(shown.result.predicted_tokens)
    encoder, decoder, read = kind == "encoder_self", kind == "decoder_self", shown.view.rows == "read"
    source, target = ([-1] * len(tokens) for tokens in (shown.result.source_tokens, shown.written))
    # Target token t of the line is predicted at step t; as a key it stands one column later, after the start token.
    moved = [[*one[1:], -1] if late else one for one in (rows, columns)]
    return {
        "source": {"row": rows if encoder else source, "column": source if decoder else columns},
        "target": {"row": target if encoder else moved[0] if read else rows, "column": moved[1] if decoder else target},
        "start": columns[0] if decoder and late else -1,
        "startRow": rows[0] if read and not encoder and late else -1,
    }


def _said(made: Maps) -> list[list[str]]:
    """What was done to each map, by layer and head."""
    n_layers, n_heads = made.weights.shape[:2]
    return [[" ".join(maps.notes(made, layer, head)) for head in range(n_heads)] for layer in range(n_layers)]


def _weights(shown: Shown, kind: str, made: Maps, first: tuple[int, int], keep: Keep) -> dict:
    whole, scale = quantised(made.weights, made.signed, made.limit)
    budget = (coarse.FILE_BUDGET if shown.in_file else BUDGET) / len(shown.built)
    opened = [first, shown.opened.get(kind, first)]
    return {"scale": scale, **coarse.travelling(whole, opened, keep, budget, shown.in_file)}


def _look(made: Maps, kind: str, rows: str) -> dict:
    read, writes = say("<br>at the step that reads {token}"), say("<br>at the step that writes {token}")
    step = read if rows == "predicted" else writes
    notes = made.others and [step.format(token=labels.quoted(token, say)) for token in named(made.others)]
    how = {"mask": made.mask, "value": made.value, "notes": notes, "signed": made.signed, "limit": made.limit}
    return looks.attention(named(made.queries), named(made.keys), say, **words.axes(kind, rows), **how)


@cache
def _colours(signed: bool) -> np.ndarray:
    """The colours of tiles, uint8 (steps, 3), as the large map has them."""
    scale = theme.DIVERGING if signed else theme.SEQUENTIAL
    return np.rint(255 * np.array(sample_colorscale(scale, 256, colortype="tuple"))).astype(np.uint8)
