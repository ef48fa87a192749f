"""What the stage is told of one translation: the maps of all kinds, tokens, looks, words. Arrays in, one message out.

Nothing is computed in the browser: it picks a slice, turns a value into a colour, writes a value down. Whatever is a
mean, an entropy, a role or a choice of what to open first is made here. One exception: viz/stage/sampling.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.text.special import MARK
from model.translation import KINDS, Translation
from viz.figures import labels, looks
from viz.stage import effects, sampling, words
from viz.stage.packing import Weights, pack, quantised
from viz.text.language import PARAMETER, current, say, using
from viz.views import maps
from viz.views.maps import Maps
from viz.views.view import NAMES

TILE, SMALLEST_TILE = 32, 8  # most rows and columns of a tile: larger maps are drawn coarsely there
TILES = 150_000  # cells of all tiles of a kind together, above which they have fewer
BUDGET = 700_000  # bytes of maps that travel at once; of more only the opened head does
WAVES = (0, 1, 2, 4)  # sixteenths of d_model: which dimensions are drawn as waves
WRITTEN_UP_TO = 12  # words; the cells of a larger mask have no room for what is added
KINDS_SHOWN = ("cross", "encoder_self", "decoder_self")  # in this order
_COLOURS = 64  # steps of the table of colours of the tiles


@dataclass(frozen=True)
class Known:
    """What is known of the heads of a kind beside the maps of this sentence.

    Attributes:
        roles: L lists of H short descriptions, as they are said.
        first: (layer, head) that is opened at first; None: by the maps of this sentence.
    """

    roles: list[list[str]] | None = None
    first: tuple[int, int] | None = None


@dataclass(frozen=True)
class Shown:
    """Everything one message is made of.

    Attributes:
        result: the translation.
        built: by kind its maps, as the options make them.
        probabilities: float (T,), of the written tokens; None where they are not known.
        candidates: T lists of (token, probability), the most probable first; empty where they are not known.
        entropy: float (T,), of every step's distribution over the vocabulary, in nats; None where it is not known.
        rows: whether steps are named by the token "predicted" or "read".
        stretch: whether colours end at the largest weight.
        known: by kind.
        address: what the address of the page should say.
        notes: sentences about the translation.
        code: by kind, and by view, Python that makes the picture; `{layer}` and `{head}` stand for the opened head.
        options: the choices of the options, as `viz.stage.form` writes them.
        inside: how one row comes about, as of `viz.stage.inside`; None where none was asked for.
        rowwise: whether rows can be looked into: not where the model has no queries and keys of heads.
        signed: whether the maps are differences or effects, which have no entropy and no other views.
        aligned: whether each token of the translation's line has the row and the column of its own place, as where
            it is not known what a model predicted: then `rows` is "read".
        masked: the kinds whose masks are known.
        limits: by kind where the numbers of the maps end, 1 where nothing is said.
        effects: the direct effects, where they were asked for; or why there are none.
        next: of a text alone: what can follow it, as of `viz.stage.sampling.told`.
    """

    result: Translation
    built: Mapping[str, Maps]
    probabilities: np.ndarray | None
    candidates: Sequence[Sequence[tuple[str, float]]] = ()
    entropy: np.ndarray | None = None
    rows: str = "predicted"
    stretch: bool = False
    known: Mapping[str, Known] = field(default_factory=dict)
    address: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    code: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[dict] = ()
    inside: Mapping[str, object] | None = None
    rowwise: bool = True
    signed: bool = False
    aligned: bool = False
    masked: Sequence[str] = KINDS
    limits: Mapping[str, float] = field(default_factory=dict)
    effects: effects.Found | effects.Without | None = None
    next: Mapping[str, object] | None = None

    @property
    def alone(self) -> bool:
        """Whether there is a text and no source."""
        return not self.result.source_tokens


def message(
    shown: Shown,
    keep: Callable[[bytes], str] | None = None,
    before: Shown | None = None,
    steering: Mapping[str, object] | None = None,
    comparing: Mapping[str, object] | None = None,
    owned: Sequence[str] = (),
    setting: Mapping[str, object] | None = None,
) -> bytes:
    """The message of a translation.

    Args:
        shown: what it is of.
        keep: stores bytes and returns the address where the browser can fetch them; None: all travels at once.
        before: the translation without the changes that `shown` has, which is then shown in turn, and the difference.
        steering: what a page says that lets the visitor change something, as steer.js names it.
        comparing: what a page says on which `before` and `shown` stand beside each other, as beside.js names it. Then
            tokens that replace each other are compared as well.
        owned: further parameters of the address that are the message's to set or to take out.
        setting: what is open on a page that sets the stage itself: names of `view.PLACE`, where it may also say "ring",
            the (row, column) of a cell to frame. Then neither the address nor what was open before counts, the stage
            writes no address, and is the picture alone; where it is for steering, the tiles alone, which switch off.

    Returns:
        What `packing.pack` makes of a header with the keys that viz/stage/data.js names.
    """
    with using(current()):  # asked once, not for each word
        header = _header(shown, keep)
        header["owned"] += owned
        header["setting"] = None if setting is None else dict(setting)
        if steering is not None:
            header["steering"] = dict(steering)
            header["words"] |= {name: say(text) for name, text in words.STEERING.items()}
        if before is not None:
            both = {kind: (before.built[kind], made) for kind, made in shown.built.items() if kind in before.built}
            if comparing is not None:
                aligned = {kind: dict(zip(("rows", "columns"), maps.aligned(*pair))) for kind, pair in both.items()}
                header["comparing"] = dict(comparing) | {"aligned": aligned}
                header["words"] |= {name: say(text) for name, text in words.COMPARING.items()}
            built = {kind: maps.difference(*pair, comparing is not None) for kind, pair in both.items()}
            code = header.get("comparing", {}).pop("code", shown.code)
            change = replace(shown, built=built, signed=True, inside=None, known={}, code=code)
            change = replace(change, effects=effects.difference(before.effects, shown.effects))
            own = {"words", "owned", "address", "options", "language"}
            for name, other in (("before", before), ("difference", change)):
                header[name] = {key: value for key, value in _header(other, keep).items() if key not in own}
        return pack(header)


def _header(shown: Shown, keep: Callable[[bytes], str] | None) -> dict:
    result = shown.result
    kinds = [kind for kind in KINDS_SHOWN if kind in shown.built]
    of_kinds = [_kind(shown, kind, keep) for kind in kinds]
    spoken = words.WORDS | effects.WORDS
    if shown.alone:
        spoken |= words.READING | sampling.WORDS
    return {
        "language": current(),
        "address": dict(shown.address),
        "owned": [*NAMES, PARAMETER],
        "translation": result.text,
        "notes": list(shown.notes),
        "source": _line(result.source_tokens),
        "target": _line(result.predicted_tokens)
        | {"start": " ".join(map(label, result.target_tokens[:1])), "entropy": shown.entropy}
        | {"late": int(shown.aligned)}
        | {"probability": None if shown.probabilities is None else shown.probabilities.astype(np.float32)}
        | {"candidates": [[[label(name), p] for name, p in row] for row in shown.candidates]},
        "kinds": of_kinds,
        "effects": _effects(shown, of_kinds, keep),
        "colours": _colour_table(looks.DIVERGING if shown.signed else looks.SEQUENTIAL),
        "views": {"mask": [], "positions": [], "words": []} if shown.signed else _views(shown, kinds),
        "options": list(shown.options),
        "code": dict(shown.code),
        "inside": shown.inside,
        "next": shown.next,
        "words": {name: say(text) for name, text in spoken.items()},
    }


def _effects(shown: Shown, of_kinds: Sequence[dict], keep: Callable[[bytes], str] | None) -> dict | None:
    """What the stage is told of the direct effects, their maps as those of the weights of the same kinds."""
    found = shown.effects
    if not isinstance(found, effects.Found):
        return None if found is None else {"reason": say(found.reason)}
    kinds = {}
    for told in of_kinds:
        kind = told["code"]
        if made := found.built.get(kind):
            limit = {kind: float(np.abs(made.weights).max()) or 1.0}
            known = {kind: Known(told["roles"], tuple(told["first"]))}
            drawn = replace(shown, built={kind: made}, signed=True, limits=limit, known=known)
            kinds[kind] = _kind(drawn, kind, keep) | effects.of_kind(found, kind, limit[kind])
            kinds[kind]["colours"] = _colour_table(looks.DIVERGING)
            if kind == "cross":  # whose memory mixes words
                kinds[kind]["look"]["layout"]["xaxis"]["title"]["text"] = say(effects.ENCODER_POSITION)
    return {"kinds": kinds, **effects.told(found, shown.result.source_tokens, shown.result.predicted_tokens)}


def built(result: Translation, options: maps.Options, rows: str) -> dict[str, Maps]:
    """The maps of every kind that a model has.

    Args:
        result: the translation.
        options: of the maps.
        rows: as of Shown.
    """
    made = {}
    if options.merge:
        mark = analysis.word_mark([*result.source_tokens, *result.target_tokens])
        options = maps.Options(**(vars(options) | {"mark": mark or options.mark}))
    for kind in KINDS:
        try:
            weights, mask = result.attention(kind), result.mask(kind)
        except ValueError:  # a recurrent network has no self-attention, and perhaps none at all
            continue
        queries, keys, others = maps.axis_tokens(result, kind, rows)
        made[kind] = maps.build(weights, mask, queries, keys, options, others)
    return made


def first_head(weights: np.ndarray, mask: np.ndarray) -> tuple[int, int]:
    """The head whose map says most: the sharpest one that is not a single column.

    Args:
        weights: (L, H, T, S).
        mask: bool (T, S), True = may attend.

    Returns:
        Layer and head: of the heads whose most read column holds at most half of the attention, the one with the least
        entropy, each row's as a share of an even spread's; of all heads, where every one is such a column.
    """
    counted = mask.sum(axis=1) > 1
    if not counted.any():
        return 0, 0
    rows, allowed = weights[:, :, counted], mask[counted]
    entropy = (analysis.entropy(rows) / np.log(allowed.sum(axis=1))).mean(axis=-1)  # (L, H)
    column = rows.mean(axis=2).max(axis=-1)
    dead = rows.sum(axis=(2, 3)) == 0
    penalised = entropy + np.where(column > 0.5, 10.0, 0.0) + np.where(dead, 100.0, 0.0)
    layer, head = np.unravel_index(int(penalised.argmin()), penalised.shape)
    return int(layer), int(head)


def told_row(weights: np.ndarray, queries: Sequence[str]) -> np.ndarray:
    """The row that is worth a sentence, uint16 (L, H): of the words, the one with the largest weight.

    Args:
        weights: (L, H, T, S).
        queries: T tokens; special ones and punctuation count only where there is nothing else.
    """
    largest = weights.max(axis=-1)  # (L, H, T)
    dull = analysis.is_special(queries) | analysis.is_punctuation(queries)
    if not dull.all():
        largest = np.where(dull, -1.0, largest)
    return largest.argmax(axis=-1).astype(np.uint16)


def large_map(shown: Shown, kind: str) -> dict:
    """The look of the opened head of a kind; the same for all its heads."""
    made = shown.built[kind]
    row_title, column_title = words.axes(kind, shown.rows, shown.alone)
    notes = None
    if made.others is not None:
        other = words.READS if shown.rows == "predicted" else words.WRITES
        notes = [say(other, token=labels.quoted(label(token), say)) for token in made.others]
    return looks.attention(
        list(map(label, made.queries)),
        list(map(label, made.keys)),
        say,
        query_axis=row_title,
        key_axis=column_title,
        mask=made.mask,
        value=made.value,
        notes=notes,
        signed=shown.signed,
        limit=shown.limits.get(kind, 1.0),
    )


def label(token: str) -> str:
    """A token as it is shown: without the mark of a space, which tokens lines show by distance."""
    return token[len(MARK) :] if token.startswith(MARK) and len(token) > len(MARK) else token


def _line(tokens: Sequence[str]) -> dict:
    """A line of tokens: what they are called, and whether each goes on with the word before it."""
    mark = analysis.word_mark(tokens)
    of_token = analysis.words(tokens, mark or MARK).of_token if mark else list(range(len(tokens)))
    joined = [i > 0 and word == of_token[i - 1] for i, word in enumerate(of_token)]
    return {"tokens": [labels.visible(label(token)) for token in tokens], "joined": joined}


def _kind(shown: Shown, kind: str, keep: Callable[[bytes], str] | None) -> dict:
    """What the stage knows of one kind of attention."""
    made, known = shown.built[kind], shown.known.get(kind, Known())
    single = not made.options.axes
    size, limit = np.abs(made.weights) if shown.signed else made.weights, shown.limits.get(kind, 1.0)
    if single and known.first is not None:
        first = known.first
    elif shown.signed:
        first = tuple(map(int, np.unravel_index(size.max(axis=(2, 3)).argmax(), size.shape[:2])))
    else:
        first = first_head(made.weights, made.mask)
    n_layers, n_heads = made.weights.shape[:2]
    roles = known.roles if single and np.shape(known.roles) == (n_layers, n_heads) else None
    weights: dict = {"weights": Weights(made.weights, shown.signed, limit)}
    if keep is not None and made.weights.size * 2 > BUDGET / len(shown.built):
        whole = quantised(made.weights, shown.signed, limit).tobytes()
        weights = {"address": keep(whole), "shape": list(made.weights.shape)}
        weights["opened"] = Weights(made.weights[first], shown.signed, limit)
    rows, columns = made.row_of, made.column_of
    # Target token t of the line is predicted at step t; as a key it stands one column later, after the start token.
    steps = rows if shown.rows == "predicted" or shown.aligned else [*rows[1:], -1]
    written = columns if shown.aligned else [*columns[1:], -1]
    none = [-1] * len(shown.result.predicted_tokens)
    nowhere = [-1] * len(shown.result.source_tokens)
    return weights | {
        "code": kind,
        "name": say(words.spoken(kind, shown.alone).name),
        "title": say(words.spoken(kind, shown.alone).title),
        "layers": [n_layers, n_heads],
        "layerNames": made.layer_names,
        "headNames": made.head_names,
        "single": single,
        "signed": shown.signed,
        "plain": made.options == maps.Options(mark=made.options.mark),
        "inside": made.options == maps.Options(mark=made.options.mark) and shown.rowwise and not shown.signed,
        "steps": kind != "encoder_self",
        "source": {"row": rows if kind == "encoder_self" else nowhere}
        | {"column": nowhere if kind == "decoder_self" else columns},
        "target": {"row": none if kind == "encoder_self" else steps}
        | {"column": written if kind == "decoder_self" else none},
        "start": columns[0] if kind == "decoder_self" and not shown.aligned else -1,
        "startRow": rows[0] if shown.rows == "read" and kind != "encoder_self" and not shown.aligned else -1,
        "queries": [labels.visible(label(token)) for token in made.queries],
        "keys": [labels.visible(label(token)) for token in made.keys],
        "dull": (analysis.is_special(made.keys) | analysis.is_punctuation(made.keys)).astype(int).tolist(),
        "tiles": _tiles(np.where(made.shown & made.mask, made.weights, 0) / limit, shown.signed),
        "shown": None if made.shown.all() else made.shown.astype(np.uint8),
        "removed": made.removed if made.options.hide else None,
        "entropy": None if shown.signed else analysis.entropy(made.weights).mean(axis=-1).astype(np.float32),
        "largest": size.max(axis=(2, 3)),
        "limit": limit,
        "top": float(size.max() / limit) if shown.stretch and size.max() > 0 else 1.0,
        "stretch": shown.stretch,
        "roles": roles,
        "told": size.max(axis=-1).argmax(axis=-1).astype(np.uint16) if shown.signed else told_row(size, made.queries),
        "said": _said(made),
        "first": list(first),
        "look": large_map(shown, kind),
    }


def _said(made: Maps) -> list[list[str]] | None:
    """What the options did to each map, in sentences; None where there are no options."""
    if made.options == maps.Options(mark=made.options.mark):
        return None
    n_layers, n_heads = made.weights.shape[:2]
    return [[" ".join(maps.notes(made, layer, head)) for head in range(n_heads)] for layer in range(n_layers)]


def _tiles(weights: np.ndarray, signed: bool = False) -> np.ndarray:
    """Every map (L, H, T, S) as uint8, with at most TILE rows and columns: each cell the largest weight of a block.

    Signed numbers become 128 + 127 times themselves.
    """
    n_heads = weights.shape[0] * weights.shape[1]
    most = int(np.clip(np.sqrt(TILES / n_heads), SMALLEST_TILE, TILE))
    for axis in (2, 3):
        size = weights.shape[axis]
        if size > most:
            edges = np.unique(np.linspace(0, size, most, endpoint=False).astype(int))
            high, low = (one.reduceat(weights, edges, axis=axis) for one in (np.maximum, np.minimum))
            weights = np.where(high >= -low, high, low)
    return np.rint(128 + 127 * weights if signed else weights * 255).astype(np.uint8)


def _colour_table(scale: Sequence[Sequence]) -> np.ndarray:
    """The colours of a scale, uint8 (steps, 3), as the large map has them."""
    places = np.array([place for place, _ in scale])
    channels = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _, colour in scale])
    at = np.linspace(0, 1, _COLOURS * 4)
    return np.stack([np.interp(at, places, channel) for channel in channels.T], axis=-1).round().astype(np.uint8)


def _views(shown: Shown, kinds: Sequence[str]) -> dict[str, list[dict]]:
    """The other pictures: each a name, the kind it is of if it is of one, a look and its numbers."""
    result = shown.result
    masks = []
    for kind in kinds if shown.masked else ():
        queries, keys, _ = maps.axis_tokens(result, kind, shown.rows)
        row_title, column_title = words.axes(kind, shown.rows, shown.alone)
        queries, keys = list(map(label, queries)), list(map(label, keys))
        look = looks.mask(queries, keys, say, query_axis=row_title, key_axis=column_title)
        mask = result.mask(kind)
        blocked = int(mask.size - mask.sum())
        causal = kind == "decoder_self" and np.array_equal(mask, np.tri(*mask.shape, dtype=bool))
        some = words.BLOCKED if causal else words.EDITED_CELLS
        line = say(some, n=blocked, total=mask.size) if blocked else say(words.NOTHING_BLOCKED)
        if shown.alone and causal:
            added = np.where(mask, "0", "-inf").tolist()
            look["hover"]["values"] = [f"{name}: {one}" for name, one in zip(look["hover"]["values"], ("-inf", "0"))]
            look |= {"texts": added} if len(mask) <= WRITTEN_UP_TO else {}
            line = f"{say(words.ADDED)} {line}"
        z = mask.astype(np.uint8)
        if kind not in shown.masked:
            line, z = say(words.NO_MASK), np.full(mask.shape, np.nan, np.float32)
        masks.append({"name": "", "kind": kind, "look": look, "z": z, "line": line})
    positions = []
    for side, tokens in (("source", result.source_tokens), ("target", result.target_tokens)):
        try:
            table = result.positional(side)
        except ValueError:  # a recurrent network has none
            continue
        names, name = list(map(label, tokens)), say(words.SIDES[side])
        limit = max(1.0, float(np.abs(table).max()))
        line = say(words.POSITIONS)
        table_look = looks.positions(names, table.shape[1], limit, say)
        positions.append({"name": name, "look": table_look, "z": table.astype(np.float32), "line": line})
        chosen = sorted({table.shape[1] * part // 16 for part in WAVES})
        waves = looks.waves(names, chosen, table.astype(np.float32), say)
        positions.append({"name": say(words.AS_WAVES, side=name), "look": waves, "line": say(words.WAVES)})
    found: dict[str, list[dict]] = {"mask": masks, "positions": positions, "words": []}
    if shown.candidates:
        written = list(map(label, result.predicted_tokens))
        names = [[label(name) for name, _ in row] for row in shown.candidates]
        z = np.array([[p for _, p in row] for row in shown.candidates], dtype=np.float32)
        look = looks.candidates(written, names, say)
        found["words"] = [{"name": "", "look": look, "z": z, "line": say(words.CANDIDATES)}]
    if shown.next is not None:
        look["layout"]["yaxis"]["title"]["text"] = say(words.READING["word"])
        every = {"name": say(sampling.EVERY_STEP), "line": say(words.FOLLOWING)}
        found["words"] = [{"name": say(sampling.AT_THE_END)}, found["words"][0] | every]
    return found


def known_roles(kind: str, roles: Sequence[Sequence[str]], say_role: Callable[[str], str]) -> list[list[str]]:
    """The roles of `head_roles`, as they are said; those that say nothing are empty.

    In the decoder the same token as the query is the word that the step reads, the last one that was written.
    """
    dull = ("mixed", head_roles.NO_CHOICE)
    own = {name: say(text) for name, text in words.WRITTEN_ROLES.items()} if kind == "decoder_self" else {}
    return [["" if role in dull else own.get(role) or say_role(role) for role in row] for row in roles]
