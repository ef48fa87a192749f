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
from model.translation import Translation
from viz import theme
from viz.figures import labels, looks
from viz.stage import words
from viz.stage.words import label
from viz.text.language import message, messages, say
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
TITLES = (
    message("Parts of the decoder"),
    message("Added from each encoder position"),
    message("Each head: layers in rows"),
)
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
_SLIGHT = 0.005  # nats; a smaller drop does not count

WORDS = messages(  # as of viz.stage.words
    measures="Weights or direct effects",
    weights="Weights",
    against="What the logit is compared with",
    effects="Effects",
    no_effects="Encoder maps have no direct effect on a word: these are the weights.",
    parts="Who wrote it",
    lens="Layer lens",
    agree="Do they agree?",
    who="Who wrote “{token}”?",
    adds="For “{query}”, this head adds most from “{key}” ({weight} logits).",
    adds_nothing="For “{query}”, this head adds next to nothing directly.",
    added="From “{key}”, this head adds most for “{query}” ({weight} logits).",
    adding="Heads that add most to “{query}” directly:",
) | {"left-out": message("Left out")}


@dataclass(frozen=True)
class Found:
    """The direct effects on a translation.

    Attributes:
        built: by kind the maps of its heads.
        effects: all of them; None where the maps are differences.
        against, others: a name of AGAINST: what the logits are compared with; the T tokens, None for the mean.
        left_out: float (T, S), the drop of each word's log-probability without a source token.
        agree: by name of COMPARED the rank correlation of each cross-attention head, float (L, H).
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


def built(effects: Effects, result: Translation, as_weights: Mapping[str, Maps], rows: str) -> dict[str, Maps]:
    """The maps of effects, with the options of those of the weights but for the threshold; `rows` as of Shown."""
    made = {}
    for kind in effects.kinds:
        options = replace(as_weights[kind].options, share=100)
        queries, keys, others = maps.axis_tokens(result, kind, rows)
        made[kind] = maps.build(effects.heads(kind), result.mask(kind), queries, keys, options, others)
        made[kind] = replace(made[kind], value=VALUE)
    return made


def difference(before: Found | str | None, after: Found | str | None) -> Found | str | None:
    """After minus before: maps only; where one of them has none, that one."""
    if not isinstance(before, Found) or not isinstance(after, Found):
        return after if isinstance(before, Found) else before
    return Found({kind: maps.difference(before.built[kind], made) for kind, made in after.built.items()})


def of_kind(found: Found, kind: str) -> dict:
    """What the stage is told of a kind beside what it is told of weights.

    With "did", float32 (L, H, T): each head's effect over all keys, hidden ones too.
    """
    made = found.built[kind]
    said: dict = {"removed": None, "said": None, "inside": False, "plain": False}
    if found.effects is None:
        return said | {"roles": None}
    did = (made.weights.sum(-1, dtype=np.float64) + made.removed).astype(np.float32)
    sums = made.options.summary in ("single", "mean")
    said |= {"effect": True, "did": did if sums else None, "most": float(np.abs(did).max()) or 1.0}
    if found.measured and not made.options.axes:
        known, n = found.measured["kinds"][kind], found.measured["sentences"]
        said["measured"] = [
            [say(OF_HEAD, effect=effect, drop=-change, n=n) for effect, change in zip(*layer)]
            for layer in zip(known[found.against], known["log_probability"])
        ]
    return said


def told(found: Found, source: Sequence[str], written: Sequence[str]) -> dict:
    """What the stage is told of direct effects on S source and T written tokens beside the maps."""
    if found.effects is None:
        return {}
    note = say(DIRECT)
    if found.measured:
        rate = found.measured["agreement"][found.against]["spearman"]
        note += " " + say(CORRELATED, rate=rate, n=found.measured["sentences"])
    dull = analysis.is_special(written) | analysis.is_punctuation(written)
    return {
        "against": found.against,
        "choices": [[code, say(AGAINST_NAMES[code])] for code in AGAINST],
        "notes": {"map": note, "lens": say(LENS), "left-out": say(LEFT_OUT), "agree": say(AGREE)},
        "step": int(np.where(dull, -np.inf, found.effects.logits).argmax()),
        "code": found.code,
        "parts": parts(found, list(map(label, source)), list(map(label, written))),
        "lens": found.lens and lens(found.lens, written),
        "left-out": None if found.left_out is None else left_out(found.left_out, source, written),
        "agree": found.agree and agree(found.agree),
        "lacks": found.lacks,
    }


def named_parts(effects: Effects) -> dict[str, np.ndarray]:
    """The parts by address in the order of the pass, float64 (T,), which sum to the logits.

    The biases of the attention's output projections are one.
    """
    bias = sum((part for name, part in effects.parts.items() if name.endswith(".bias")), np.zeros(len(effects.logits)))
    found = {}
    for name, part in effects.parts.items():
        if name in ("norm", "output_bias"):
            found.setdefault("bias", bias)
        if not name.endswith(".bias"):
            found[name] = part.astype(np.float64)
    return {"bias": bias} | found if "bias" not in found else found


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
    of_parts = named_parts(effects)
    names, kinds = list(map(sublayer, of_parts)), sorted(effects.kinds)  # cross-attention first
    of_kinds = [effects.heads(kind).sum(-1) for kind in kinds]  # (L, H, T)
    rows = [
        f"{words.spoken(kind, False)[0]} {layer}" for kind, one in zip(kinds, of_kinds) for layer in range(len(one))
    ]
    heads = np.concatenate(of_kinds)
    most = float(np.abs(heads).max()) or 1.0
    colours = [_COLOURS.get(name.rpartition(".")[2], theme.LINES[-1]) for name in of_parts]
    bar, hover = {"type": "bar"}, "%{customdata}<br>%{x:+.2f}<extra></extra>"
    data = [
        bar
        | {"orientation": "h", "y": list(range(len(names))), "customdata": names, "marker": {"color": colours}}
        | {"hovertemplate": hover},
        bar
        | {"x": list(range(len(source))), "customdata": labels.hover_texts(source, say), "xaxis": "x2", "yaxis": "y2"}
        | {"marker": {"color": theme.LINES[0]}, "hovertemplate": hover.replace("{x", "{y")},
        {"type": "heatmap", "xaxis": "x3", "yaxis": "y3", "zmin": -most, "zmax": most, "showscale": False}
        | {"colorscale": looks.DIVERGING, "texttemplate": "%{z:.1f}", "textfont": {"size": 10}, "xgap": 1, "ygap": 1}
        | {"hovertemplate": f"%{{y}} · %{{x}}<br>{labels.escape(say(VALUE))} %{{z:+.2f}}<extra></extra>"},
    ]
    text, others = (ABOVE, written) if found.others is None else (OVER, map(label, found.others))
    said = zip(written, others, effects.logits.tolist())
    return {
        "look": {"data": data, "hover": None},
        "layouts": [_layout(names, rows, source, narrow) for narrow in (False, True)],
        "values": [
            ["x", np.stack(list(of_parts.values()), axis=1)],
            ["y", effects.heads("cross").sum((0, 1))],
            ["z", heads.transpose(2, 0, 1)],
        ],
        "names": names,
        "lines": [say(text, token=token, other=other, logit=logit) for token, other, logit in said],
    }


def _layout(names: Sequence[str], rows: Sequence[str], source: Sequence[str], narrow: bool) -> dict:
    """Where the three panels of `parts` stand: the first left of the others or, on a narrow page, above them."""
    layout = looks.layout_of(theme.GLYPH_WIDTH * max(map(labels.text_width, names)), 22, say) | {"bargap": 0.2}
    layout["margin"] |= {"r": 12, "b": 22}
    across = [(0, 1)] * 3 if narrow else [(0, 0.42), (0.54, 1), (0.54, 1)]
    upwards = [(0.54, 1), (0.32, 0.42), (0, 0.2)] if narrow else [(0, 1), (0.66, 1), (0, 0.36)]
    font = {"tickfont": {"size": theme.TICK_SIZE - 1}}
    flat = {"showgrid": False, "zeroline": False, "ticks": "", **font}
    grid = {"gridcolor": "rgba(128,128,128,0.2)", "zeroline": True, "zerolinecolor": "rgba(128,128,128,0.7)", **font}

    def listed(texts: Sequence[str]) -> dict:
        """Texts from the top down."""
        places = {"tickmode": "array", "tickvals": list(range(len(texts))), "range": [len(texts) - 0.5, -0.5]}
        return places | {"ticktext": list(map(labels.escape, texts)), **flat}

    axes = [
        ({"nticks": 6, **grid}, listed(names)),
        (looks.tick_axis(source, "") | {"tickangle": -45, **font}, {"nticks": 4, **grid}),
        ({"dtick": 1, **flat}, listed(rows)),
    ]
    layout["annotations"] = []
    for of, x, y, title, (below, left) in zip(("", "2", "3"), across, upwards, TITLES, axes):
        layout[f"xaxis{of}"] = below | {"domain": x, "anchor": f"y{of}"}
        layout[f"yaxis{of}"] = left | {"domain": y, "anchor": f"x{of}"}
        look = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        text = {"text": labels.escape(say(title)), "font": {"size": theme.TICK_SIZE}}
        layout["annotations"].append({"x": x[0], "y": y[1], **look, **text})
    return layout


def lens(found: Lens, written: Sequence[str]) -> dict:
    """The picture of the layer lens: steps in rows, sublayers in columns, in each cell the most probable word."""
    columns, steps = list(map(sublayer, found.sublayers)), list(map(label, written))
    texts, hover, table, lines = [], [], [], []
    for t, token in enumerate(written):
        tops = [
            [(label(word), p) for word, p in zip(found.words[n][t], found.probabilities[n, t].tolist())]
            for n in range(len(columns))
        ]
        right = [found.words[n][t][0] == token for n in range(len(columns))]
        short = [
            word if len(word) <= _CELL else f"{word[: _CELL - 1]}…"
            for word in (labels.visible(top[0][0]) for top in tops)
        ]
        texts.append(
            [f"<b>{labels.escape(word)}</b>" if same else labels.escape(word) for word, same in zip(short, right)]
        )
        hover.append(
            [
                "<br>".join(
                    [
                        labels.escape(column),
                        *(say("{word} {p:.1%}", word=labels.quoted(word, say), p=p) for word, p in top),
                    ]
                )
                for column, top in zip(columns, tops)
            ]
        )
        table.append([f"{top[0][0]} {top[0][1]:.0%}" for top in tops])
        first = max((n + 1 for n, same in enumerate(right) if not same), default=0)
        text = NEVER if first == len(columns) else FROM
        lines.append(say(text, token=steps[t], part=columns[min(first, len(columns) - 1)]))
    titles = say("word being written"), say("after this part of the decoder")
    look = looks.lens(steps, columns, texts, hover, titles, say)
    look["layout"]["xaxis"]["ticktext"] = list(map(labels.escape, columns))  # whole: they lean, and there is room
    z = found.probabilities[:, :, 0].T.astype(np.float32)
    return {"look": look, "z": z, "lines": lines, "table": [steps, columns, table]}


def left_out(drops: np.ndarray, source: Sequence[str], written: Sequence[str]) -> dict:
    """The picture of what each word loses without each source token; steps in rows, source tokens in columns."""
    rows, columns = list(map(label, written)), list(map(label, source))
    axes = {"query_axis": say("word being written"), "key_axis": say("source token that is left out")}
    limit = float(np.abs(drops).max()) or 1.0
    look = looks.attention(rows, columns, say, **axes, value=DROP, signed=True, limit=limit)
    best = [(token, int(row.argmax()), float(row.max())) for token, row in zip(rows, drops)]
    lines = [
        say(WITHOUT if drop >= _SLIGHT else UNMOVED, token=token, key=columns[key], drop=drop)
        for token, key, drop in best
    ]
    return {"look": look, "z": drops.astype(np.float32), "lines": lines, "table": [rows, columns]}


def agree(rates: Mapping[str, np.ndarray]) -> dict:
    """The picture of whether measures agree: what is compared in rows, cross-attention heads in columns."""
    rows = [say(COMPARED[name]) for name in rates]
    columns = [f"{layer}.{head}" for layer, head in np.ndindex(rates["agreement"].shape)]
    z = np.stack([one.ravel() for one in rates.values()]).astype(np.float32)
    axes = {"query_axis": "", "key_axis": say("cross-attention head (layer.head)")}
    look = looks.attention(rows, columns, say, **axes, value=CORRELATION, signed=True)
    look["layout"]["yaxis"]["ticktext"] = list(map(labels.escape, rows))  # whole
    look["layout"]["margin"]["l"] = theme.GLYPH_WIDTH * max(map(labels.text_width, rows))
    best = np.nan_to_num(rates["agreement"], nan=-2)
    layer, head = np.unravel_index(best.argmax(), best.shape)
    line = say(AGREES, layer=int(layer), head=int(head), rate=float(best.max()))
    return {"look": look, "z": z, "line": line, "table": [rows, columns]}
