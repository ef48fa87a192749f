"""Direct effects on the stage: what each part of the decoder adds to the logit of each word, and what stands beside.

The maps themselves are told as those of the weights are (message.py); here are the pictures of one word's parts, of the
layer lens and of left-out source tokens, and what is said of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from model.analysis import maps as analysis
from model.analysis.effects import Effects
from model.attribution import Lens
from model.text.special import MARK
from model.translation import Translation
from viz import theme
from viz.figures import labels, looks
from viz.stage import words
from viz.text.language import message, say
from viz.views import maps
from viz.views.maps import Maps
from viz.views.view import AGAINST

VALUE = message("direct effect (logits)")
DROP = message("drop of the log-probability (nats)")
AGAINST_NAMES = {"runner-up": message("against the runner-up"), "mean": message("against the mean of all words")}
DIRECT = message("Direct effect: what is added to the logit itself, not through later layers.")
ENCODER_POSITION = message("encoder position (key)")
CORRELATED = message("Rank correlation with switching heads off: {rate:.2f} ({n} sentences).")
OF_HEAD = message("Over {n} sentences: {effect:+.2f} logits per word; without this head {drop:.3f} nats are lost.")
LENS = message("The most probable word if the model stopped there; bold where it is the one that was written.")
AGREE = message("Rank correlations over this sentence: 1 the same order, 0 none. Mean over its words (Kendall).")
AGREES = message("In head {layer}.{head}, weights and direct effects order the source tokens most alike ({rate:.2f}).")
CORRELATION = message("rank correlation")
COMPARED = {  # with the weights of a head over the source tokens; the last one with its direct effect on each word
    "agreement": message("weights and direct effects"),
    "norms": message("weights and norms of contributions"),
    "occlusion": message("weights and leaving tokens out"),
    "input_gradient": message("weights and gradient × input"),
    "off": message("direct effects and switching off"),
}
LEFT_OUT = message(
    "Blocks each source token in turn, in all layers of encoder and cross-attention; the decoder reads the same words."
)
OVER = message("“{token}” over “{other}”: {logit:+.2f} logits, the sum of all parts.")
ABOVE = message("“{token}” above the mean of all words: {logit:+.2f} logits, the sum of all parts.")
FROM = message("“{token}” is the most probable word from here on: {part}.")
NEVER = message("“{token}” is not the most probable word even at the end: the search, or the reference, chose it.")
WITHOUT = message("Without “{key}”, “{token}” loses the most: {drop:.2f} nats.")
UNMOVED = message("Without any one source token, “{token}” loses nothing.")
NO_EFFECTS = message("Direct effects need the residual stream of a Transformer; a recurrent network has none.")
PARTS_TITLE, KEYS_TITLE = message("Parts of the decoder"), message("Added from each encoder position")
HEADS_TITLE = message("Each head: layers in rows")
PARTS = {
    "input": message("input"),
    "input.tokens": message("token just read"),
    "input.positions": message("its position"),
    "self_attention": message("self-attention {layer}"),
    "cross_attention": message("cross-attention {layer}"),
    "feed_forward": message("feed-forward {layer}"),
    "bias": message("attention biases"),
    "norm": message("norm bias"),
    "output_bias": message("output bias"),
}
_COLOURS = {"self_attention": theme.LINES[1], "cross_attention": theme.LINES[0], "feed_forward": theme.LINES[2]}
_CELL = 11  # letters that a cell of the lens has room for

WORDS = {  # as of viz.stage.words
    "measures": message("Weights or direct effects"),
    "weights": message("Weights"),
    "against": message("What the logit is compared with"),
    "effects": message("Effects"),
    "no effects": message("Encoder maps have no direct effect on a word: these are the weights."),
    "computing effects": message("Computing …"),
    "parts": message("Who wrote it"),
    "lens": message("Layer lens"),
    "left-out": message("Left out"),
    "agree": message("Do they agree?"),
    "who": message("Who wrote “{token}”?"),
    "adds": message("For “{query}”, this head adds most from “{key}” ({weight} logits)."),
    "adds nothing": message("For “{query}”, this head adds next to nothing directly."),
    "contribution": message("From “{key}”, this head adds most for “{query}” ({weight} logits)."),
    "adding": message("Heads that add most to “{query}” directly:"),
}


@dataclass(frozen=True)
class Without:
    """Why a translation has no direct effects.

    Attributes:
        reason: one sentence.
    """

    reason: str


@dataclass(frozen=True)
class Found:
    """The direct effects on a translation.

    Attributes:
        built: by kind the maps of its heads.
        effects: all of them; None where the maps are differences.
        against: a name of AGAINST: what the logits are compared with.
        others: T tokens that they are compared with; None for the mean.
        lens: where it was asked for.
        left_out: float (T, S), the drop of each word's log-probability without a source token, where asked for.
        agree: by name of COMPARED the rank correlation of each cross-attention head, float (L, H), where asked for.
        lacks: views that there are none of.
        measured: the atlas of the checkpoint (`model.measures.atlas`), if there is one.
        code: by view or kind, Python that makes the picture.
    """

    built: Mapping[str, Maps]
    effects: Effects | None = None
    against: str = AGAINST[0]
    others: Sequence[str] | None = None
    lens: Lens | None = None
    left_out: np.ndarray | None = None
    agree: Mapping[str, np.ndarray] | None = None
    lacks: Sequence[str] = ()
    measured: Mapping | None = None
    code: Mapping[str, str] = field(default_factory=dict)


def built(found: Effects, result: Translation, as_weights: Mapping[str, Maps], rows: str) -> dict[str, Maps]:
    """The maps of effects, with the options of those of the weights; a threshold, which is of weights, means nothing.

    Args:
        found: of the result.
        result: the translation.
        as_weights: by kind the maps of its weights.
        rows: whether steps are named by the token "predicted" or "read".
    """
    made = {}
    for kind in found.kinds:
        options = replace(as_weights[kind].options, share=100)
        queries, keys, others = maps.axis_tokens(result, kind, rows)
        maps_of = maps.build(found.heads(kind), result.mask(kind), queries, keys, options, others)
        made[kind] = replace(maps_of, value=VALUE)
    return made


def difference(before: Found | Without | None, after: Found | Without | None) -> Found | Without | None:
    """After minus before: maps only; where one of them has none, that one."""
    if not isinstance(before, Found) or not isinstance(after, Found):
        return after if isinstance(before, Found) else before
    return Found({kind: maps.difference(before.built[kind], made) for kind, made in after.built.items()})


def of_kind(found: Found, kind: str, limit: float) -> dict:
    """What the stage is told of a kind beside what it is told of weights.

    Args:
        found: the effects.
        kind: of attention.
        limit: the largest effect on a side of 0.

    Returns:
        With "did", float32 (L, H, T): each head's effect over all keys, hidden ones too.
    """
    made = found.built[kind]
    said: dict = {"removed": None, "said": None, "inside": False, "plain": False, "roles": None}
    if found.effects is None:
        return said
    did = (made.weights.sum(-1, dtype=np.float64) + made.removed).astype(np.float32)
    sums = made.options.summary in ("single", "mean")
    said |= {"effect": True, "did": did if sums else None, "most": float(np.abs(did).max()) or 1.0}
    del said["roles"]
    if found.measured and not made.options.axes:
        known = found.measured["kinds"][kind]
        tables = known[found.against], known["log_probability"]
        numbers = {"n": found.measured["sentences"]}
        said["measured"] = [
            [say(OF_HEAD, effect=effect, drop=-change, **numbers) for effect, change in zip(*rows)]
            for rows in zip(*tables)
        ]
    return said


def told(found: Found, source: Sequence[str], written: Sequence[str]) -> dict:
    """What the stage is told of direct effects beside the maps: the other pictures, and what is said of them.

    Args:
        found: them.
        source, written: S and T tokens.
    """
    if found.effects is None:
        return {}
    names = [_name(token) for token in written]
    note = say(DIRECT)
    if found.measured:
        rate = found.measured["agreement"][found.against]["spearman"]
        note += " " + say(CORRELATED, rate=rate, n=found.measured["sentences"])
    step = np.where(analysis.is_special(written) | analysis.is_punctuation(written), -np.inf, found.effects.logits)
    return {
        "against": found.against,
        "choices": [[code, say(AGAINST_NAMES[code])] for code in AGAINST],
        "notes": {"map": note, "lens": say(LENS), "left-out": say(LEFT_OUT), "agree": say(AGREE)},
        "step": int(step.argmax()),
        "code": dict(found.code),
        "parts": parts(found, source, written),
        "lens": None if found.lens is None else lens(found.lens, written, names),
        "left-out": None if found.left_out is None else left_out(found.left_out, source, written),
        "agree": None if found.agree is None else agree(found.agree),
        "lacks": list(found.lacks),
    }


def named_parts(effects: Effects) -> tuple[list[str], list[str], np.ndarray]:
    """The parts in the order of the pass, the biases of the attention's output projections as one.

    Returns:
        Their names, as they are said; what each is, a key of PARTS; float64 (T, N), whose rows sum to the logits.
    """
    names, kinds, columns = [], [], []
    bias = np.zeros(len(effects.logits))
    for name, part in effects.parts.items():
        if name.endswith(".bias"):
            bias += part
            continue
        kind = name if name in PARTS else name.rpartition(".")[2]
        names.append(sublayer(name))
        kinds.append(kind)
        columns.append(part.astype(np.float64))
    last = next((i for i, kind in enumerate(kinds) if kind in ("norm", "output_bias")), len(kinds))
    for values, new in ((names, say(PARTS["bias"])), (kinds, "bias"), (columns, bias)):
        values.insert(last, new)
    return names, kinds, np.stack(columns, axis=1)


def sublayer(name: str) -> str:
    """What a part of the decoder is called, by its address."""
    if name in PARTS:
        return say(PARTS[name])
    *_, layer, module = name.split(".")
    return say(PARTS[module], layer=layer)


def parts(found: Found, source: Sequence[str], written: Sequence[str]) -> dict:
    """The picture of who wrote a word: its parts, what was read at each source token, and each head.

    Returns:
        "look" without layout; "layouts" for a wide and a narrow page; "values": what each of its traces draws, by step;
        "names", of the parts; "lines" by step.
    """
    effects = found.effects
    names, kinds, of_parts = named_parts(effects)
    of_kinds = sorted(effects.kinds)  # cross-attention first
    found_heads = [effects.heads(kind) for kind in of_kinds]
    rows = [f"{say(words.KINDS[kind].name)} {layer}" for kind in of_kinds for layer in range(len(effects.heads(kind)))]
    source = written_labels(source)
    heads = np.concatenate([one.sum(-1) for one in found_heads])  # (layers of all kinds, H, T)
    keys = effects.heads("cross").sum((0, 1))  # (T, S)
    most = float(np.abs(heads).max()) or 1.0
    hover = f"{labels.escape(say(VALUE))} %{{z:+.2f}}"
    bar, named = {"type": "bar"}, "%{customdata}<br>"
    colours = [_COLOURS.get(kind, theme.LINES[-1]) for kind in kinds]
    data = [
        bar
        | {"orientation": "h", "y": list(range(len(names))), "customdata": names, "marker": {"color": colours}}
        | {"hovertemplate": named + "%{x:+.2f}<extra></extra>"},
        bar
        | {"x": list(range(len(source))), "customdata": labels.hover_texts(source, say), "xaxis": "x2", "yaxis": "y2"}
        | {"marker": {"color": theme.LINES[0]}, "hovertemplate": named + "%{y:+.2f}<extra></extra>"},
        {"type": "heatmap", "xaxis": "x3", "yaxis": "y3", "zmin": -most, "zmax": most, "showscale": False}
        | {"colorscale": looks.DIVERGING, "texttemplate": "%{z:.1f}", "textfont": {"size": 10}, "xgap": 1, "ygap": 1}
        | {"hovertemplate": "%{y} · %{x}<br>" + hover + "<extra></extra>"},
    ]
    lines = []
    for t, token in enumerate(written):
        said = {"token": _name(token), "logit": float(effects.logits[t])}
        other = None if found.others is None else _name(found.others[t])
        lines.append(say(ABOVE, **said) if other is None else say(OVER, other=other, **said))
    return {
        "look": {"data": data, "hover": None},
        "layouts": [_layout(names, rows, source, narrow) for narrow in (False, True)],
        "values": [["x", of_parts], ["y", keys], ["z", heads.transpose(2, 0, 1)]],
        "names": names,
        "lines": lines,
    }


def _layout(names: Sequence[str], rows: Sequence[str], source: Sequence[str], narrow: bool) -> dict:
    """Where the three panels of `parts` stand: the first left of the others or, on a narrow page, above them."""
    left = theme.GLYPH_WIDTH * max(map(labels.text_width, names))
    layout = looks.layout_of(left, 22, say) | {"bargap": 0.2}
    layout["margin"] |= {"r": 12, "b": 22}
    across = ([0, 1], [0, 1], [0, 1]) if narrow else ([0, 0.42], [0.54, 1], [0.54, 1])
    upwards = ([0.54, 1], [0.32, 0.42], [0, 0.2]) if narrow else ([0, 1], [0.66, 1], [0, 0.36])
    grid = {"gridcolor": "rgba(128,128,128,0.2)", "zeroline": True, "zerolinecolor": "rgba(128,128,128,0.7)"}
    font = {"tickfont": {"size": theme.TICK_SIZE - 1}}
    flat = {"showgrid": False, "zeroline": False, "ticks": "", **font}
    places = list(range(len(names)))
    layout["yaxis"] = {"tickmode": "array", "tickvals": places, "ticktext": list(map(labels.escape, names))}
    layout["yaxis"] |= {"range": [len(names) - 0.5, -0.5], **flat}
    layout["xaxis"] = {"nticks": 6, **grid, **font}
    layout["xaxis2"] = looks.tick_axis(source, "") | {"tickangle": -45, **font}
    layout["yaxis2"] = {"nticks": 4, **grid, **font}
    layout["xaxis3"] = {"tickmode": "linear", "dtick": 1, **flat}
    layout["yaxis3"] = {"tickmode": "array", "tickvals": list(range(len(rows))), "ticktext": rows, **flat}
    layout["yaxis3"] |= {"range": [len(rows) - 0.5, -0.5]}
    layout["annotations"] = []
    for number, title in enumerate((PARTS_TITLE, KEYS_TITLE, HEADS_TITLE)):
        of = "" if number == 0 else str(number + 1)
        layout[f"xaxis{of}"] |= {"domain": across[number], "anchor": f"y{of}"}
        layout[f"yaxis{of}"] |= {"domain": upwards[number], "anchor": f"x{of}"}
        place = {"x": across[number][0], "y": upwards[number][1], "xref": "paper", "yref": "paper"}
        look = {"xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": theme.TICK_SIZE}}
        layout["annotations"].append(place | look | {"text": labels.escape(say(title))})
    return layout


def lens(found: Lens, written: Sequence[str], names: Sequence[str]) -> dict:
    """The picture of the layer lens: steps in rows, sublayers in columns, in each cell the most probable word."""
    columns = list(map(sublayer, found.sublayers))
    top = [[_name(found.words[n][t][0]) for n in range(len(columns))] for t in range(len(written))]
    right = np.array([[found.words[n][t][0] == written[t] for n in range(len(columns))] for t in range(len(written))])
    cells, named = [], []
    for t in range(len(written)):
        said = (zip(found.words[n][t], found.probabilities[n, t].tolist()) for n in range(len(columns)))
        lines = [[say("{word} {p:.1%}", word=labels.quoted(_name(word), say), p=p) for word, p in row] for row in said]
        cells.append(list(map("<br>".join, lines)))
        short = [word if len(word) <= _CELL else f"{word[: _CELL - 1]}…" for word in map(labels.visible, top[t])]
        bold = zip(map(labels.escape, short), right[t])
        named.append([f"<b>{word}</b>" if same else word for word, same in bold])
    cells = [[f"{labels.escape(column)}<br>{cell}" for column, cell in zip(columns, row)] for row in cells]
    titles = say("word being written"), say("after this part of the decoder")
    look = looks.lens(written_labels(written), columns, named, cells, titles, say)
    look["layout"]["xaxis"]["ticktext"] = list(map(labels.escape, columns))  # whole: they lean, and there is room
    lines = []
    for t, name in enumerate(names):
        wrong = np.flatnonzero(~right[t])
        first = int(wrong[-1]) + 1 if len(wrong) else 0
        text = NEVER if first == len(columns) else FROM
        lines.append(say(text, token=name, part=columns[min(first, len(columns) - 1)]))
    return {
        "look": look,
        "z": found.probabilities[:, :, 0].T.astype(np.float32),
        "lines": lines,
        "table": [names, columns, [[f"{w} {p:.0%}" for w, p in zip(*row)] for row in zip(top, _best(found))], ""],
    }


def _best(found: Lens) -> list[list[float]]:
    return found.probabilities[:, :, 0].T.tolist()


def left_out(drops: np.ndarray, source: Sequence[str], written: Sequence[str]) -> dict:
    """The picture of what each word loses without each source token; steps in rows, source tokens in columns."""
    row_title, column_title = say("word being written"), say("source token that is left out")
    limit = float(np.abs(drops).max()) or 1.0
    rows, columns = written_labels(written), written_labels(source)
    axes = {"query_axis": row_title, "key_axis": column_title}
    look = looks.attention(rows, columns, say, **axes, value=DROP, signed=True, limit=limit)
    lines = []
    for token, row in zip(rows, drops):
        key = int(row.argmax())
        text = WITHOUT if row[key] >= 0.005 else UNMOVED
        lines.append(say(text, token=token, key=columns[key], drop=float(row[key])))
    z = drops.astype(np.float32)
    table = [rows, columns, [[f"{value:.3f}" for value in row] for row in z.tolist()], ""]
    return {"look": look, "z": z, "lines": lines, "table": table}


def agree(rates: Mapping[str, np.ndarray]) -> dict:
    """The picture of whether measures agree: what is compared in rows, cross-attention heads in columns."""
    layers, heads = rates["agreement"].shape
    rows = [say(COMPARED[name]) for name in rates]
    columns = [f"{layer}.{head}" for layer in range(layers) for head in range(heads)]
    z = np.stack([one.ravel() for one in rates.values()]).astype(np.float32)
    axes = {"query_axis": "", "key_axis": say("cross-attention head (layer.head)")}
    look = looks.attention(rows, columns, say, **axes, value=CORRELATION, signed=True)
    look["layout"]["yaxis"]["ticktext"] = list(map(labels.escape, rows))  # whole
    look["layout"]["margin"]["l"] = theme.GLYPH_WIDTH * max(map(labels.text_width, rows))
    layer, head = np.unravel_index(np.nan_to_num(rates["agreement"], nan=-2).argmax(), (layers, heads))
    line = say(AGREES, layer=int(layer), head=int(head), rate=float(rates["agreement"][layer, head]))
    table = [rows, columns, [[f"{value:.2f}" for value in row] for row in z.tolist()], ""]
    return {"look": look, "z": z, "line": line, "table": table}


def written_labels(tokens: Sequence[str]) -> list[str]:
    """Tokens as they are shown, without the mark of a space."""
    return list(map(_name, tokens))


def _name(token: str) -> str:
    return token[len(MARK) :] if token.startswith(MARK) and len(token) > len(MARK) else token
