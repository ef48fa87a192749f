"""Direct effects on the stage: what each part of the decoder adds to the logit of each word.

Their maps are in the recording; here are the other pictures, and what is said of them.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from model.analysis.effects import Effects
from model.attribution import Lens
from model.translation import Translation
from viz import theme
from viz.figures import heatmap, labels, looks
from viz.stage import words
from viz.stage.words import named
from viz.text.language import message, say
from viz.views.view import AGAINST

VALUE = message("direct effect (logits)")
NO_EFFECTS = message("Direct effects need the residual stream of a Transformer; a recurrent network has none.")
COMPARED = {  # in each head of the cross-attention
    "agreement": message("weights and direct effects"),
    "norms": message("weights and norms of contributions"),
    "occlusion": message("weights and leaving tokens out"),
    "input_gradient": message("weights and gradient × input"),
    "off": message("direct effects and switching off"),
}
_PARTS = {  # of the decoder, by the end of their address
    "tokens": message("token just read"),
    "positions": message("its position"),
    "input": message("input"),
    "self_attention": message("self-attention {layer}"),
    "cross_attention": message("cross-attention {layer}"),
    "feed_forward": message("feed-forward {layer}"),
    "bias": message("attention biases"),
    "norm": message("norm bias"),
    "output_bias": message("output bias"),
}
_COLOURS = {"self_attention": theme.LINES[1], "cross_attention": theme.LINES[0], "feed_forward": theme.LINES[2]}
_CELL = 11  # letters that a cell of the lens has room for


def told(
    effects: Effects, result: Translation, others: Sequence[str] | None = None, measured: Mapping | None = None
) -> dict:
    """What the stage is told of the direct effects on a translation, beside their maps.

    Args:
        others: the T tokens that logits are compared with; None: with the mean.
        measured: the atlas of the checkpoint (`model.measures.atlas`).
    """
    against, of_heads = AGAINST[others is None], {}
    for kind in effects.kinds if measured else ():
        known, n = measured["kinds"][kind], measured["sentences"]
        text = message("Over {n} sentences: {effect:+.2f} logits per word; without this head {drop:.3f} nats are lost.")
        of_heads[kind] = [
            [say(text, effect=effect, drop=-change, n=n) for effect, change in zip(*layer)]
            for layer in zip(known[against], known["log_probability"])
        ]
    notes = {
        "map": say("Direct effect: what is added to the logit itself, not through later layers."),
        "lens": say("The most probable word if the model stopped there; bold where it is the one that was written."),
        "left-out": say(
            "Blocks each source token in turn, in all layers of encoder and cross-attention; the decoder reads the "
            "same words."
        ),
        "agree": say("Rank correlations over this sentence: 1 the same order, 0 none. Mean over its words (Kendall)."),
    }
    if measured:
        rate, n = measured["agreement"][against]["spearman"], measured["sentences"]
        text = message("Rank correlation with switching heads off: {rate:.2f} ({n} sentences).")
        notes["map"] += " " + say(text, rate=rate, n=n)
    return {
        "against": against,
        "measured": of_heads,
        "choices": list(zip(AGAINST, (say("against the runner-up"), say("against the mean of all words")))),
        "notes": notes,
        "step": int(np.where(words.dull(result.predicted_tokens), -np.inf, effects.logits).argmax()),
        "parts": parts(effects, named(result.source_tokens), named(result.predicted_tokens), others),
    }


def sublayer(address: str) -> str:
    *_, layer, module = f".{address}".split(".")
    return say(_PARTS[module], layer=layer)


def parts(effects: Effects, source: Sequence[str], written: Sequence[str], others: Sequence[str] | None) -> dict:
    """Who wrote a word: its parts, what was read at each source token, and each head.

    The numbers of its traces are of all steps; it has one layout for a wide and one for a narrow page.
    """
    biases = [part for name, part in effects.parts.items() if name.endswith(".bias")]
    *inner, norm, output = ((name, part) for name, part in effects.parts.items() if not name.endswith(".bias"))
    of_parts = dict([*inner, ("bias", np.sum(biases, axis=0, dtype=np.float64)), norm, output])
    names = list(map(sublayer, of_parts))
    of_kinds = {kind: effects.heads(kind).sum(-1) for kind in sorted(effects.kinds)}  # (L, H, T), cross-attention first
    rows = [f"{words.spoken(kind, False)[0]} {layer}" for kind, one in of_kinds.items() for layer in range(len(one))]
    heads = np.concatenate(list(of_kinds.values()))
    most = float(np.abs(heads).max()) or 1.0
    colours = [_COLOURS.get(name.rpartition(".")[2], theme.LINES[-1]) for name in of_parts]
    bars = {"orientation": "h", "x": np.stack(list(of_parts.values()), axis=1), "y": list(range(len(names)))}
    bars |= {"customdata": names, "marker": {"color": colours}}
    keys = {"x": list(range(len(source))), "y": effects.heads("cross").sum((0, 1))}
    keys |= {"customdata": labels.hover_texts(source, say), "marker": {"color": theme.LINES[0]}}
    for axis, bar in (("x", bars), ("y", keys)):
        bar |= {"type": "bar", "hovertemplate": f"%{{customdata}}<br>%{{{axis}:+.2f}}<extra></extra>"}
    grid = {"type": "heatmap", "z": heads.transpose(2, 0, 1), "xgap": 1, "ygap": 1, "colorscale": theme.DIVERGING}
    grid |= {"zmin": -most, "zmax": most, "showscale": False, "texttemplate": "%{z:.1f}", "textfont": {"size": 10}}
    grid["hovertemplate"] = f"%{{y}} · %{{x}}<br>{labels.escape(say(VALUE))} %{{z:+.2f}}<extra></extra>"
    font = {"tickfont": {"size": theme.TICK_SIZE - 1}}

    def listed(texts: Iterable[str], downwards: bool = True) -> dict:
        return heatmap.axis(list(map(labels.escape, texts)), step=1, downwards=downwards, **font)

    lines, tokens = looks.GRID | font, looks.tick_axis(source, "", tickangle=-45, **font)
    columns = listed(map(str, range(heads.shape[1])), False)
    left, right, column = (0, 0.42), (0.54, 1), (0, 1)
    panels = {  # across and upwards on a wide page, upwards on a narrow one, what is drawn, axes
        say("Parts of the decoder"): (left, column, (0.54, 1), bars, lines | {"nticks": 6}, listed(names)),
        say("Added from each encoder position"): (right, (0.66, 1), (0.32, 0.42), keys, tokens, lines | {"nticks": 4}),
        say("Each head: layers in rows"): (right, (0, 0.36), (0, 0.2), grid, columns, listed(rows)),
    }
    margins = theme.GLYPH_WIDTH * max(map(labels.text_width, names)), 22
    title = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    title["font"], layouts = {"size": theme.TICK_SIZE}, []
    for narrow in (False, True):
        layout = looks.layout_of(*margins, say, right=12, bottom=22) | {"bargap": 0.2, "annotations": []}
        layouts.append(layout)
        for of, (text, (x, wide, tall, trace, below, beside)) in zip(("", "2", "3"), panels.items()):
            x, y = (column, tall) if narrow else (x, wide)
            trace |= {"xaxis": f"x{of}", "yaxis": f"y{of}"}
            layout[f"xaxis{of}"] = below | {"domain": x, "anchor": f"y{of}"}
            layout[f"yaxis{of}"] = beside | {"domain": y, "anchor": f"x{of}"}
            layout["annotations"].append(title | {"x": x[0], "y": y[1], "text": labels.escape(text)})
    text = message("“{token}” over “{other}”: {logit:+.2f} logits, the sum of all parts.")
    if others is None:
        text = message("“{token}” above the mean of all words: {logit:+.2f} logits, the sum of all parts.")
    said = zip(written, words.choices(others or written), effects.logits.tolist())
    return {
        "data": [bars, keys, grid],
        "layouts": layouts,
        "names": names,
        "lines": [say(text, token=token, other=other, logit=logit) for token, other, logit in said],
    }


def lens(found: Lens, written: Sequence[str]) -> dict:
    """The layer lens: steps in rows, sublayers in columns, in each cell the most probable word."""
    columns, steps = list(map(sublayer, found.sublayers)), named(written)
    texts, hover, table, lines = [], [], [], []
    for t, token in enumerate(written):
        named_tops = [words.choices(one[t], token, steps[t]) for one in found.words]
        tops = [list(zip(names, p[t].tolist())) for names, p in zip(named_tops, found.probabilities)]
        right = [one[t][0] == token for one in found.words]
        short = [labels.escape(word if len(word) <= _CELL else f"{word[: _CELL - 1]}…") for (word, _), *_ in tops]
        texts.append([f"<b>{word}</b>" if same else word for word, same in zip(short, right)])
        likely = [[say("{word} {p:.1%}", word=labels.quoted(word, say), p=p) for word, p in top] for top in tops]
        hover.append(["<br>".join([labels.escape(column), *best]) for column, best in zip(columns, likely)])
        table.append([f"{top[0][0]} {top[0][1]:.0%}" for top in tops])
        text = message("“{token}” is the most probable word from here on: {part}.")
        first = max((n + 1 for n, same in enumerate(right) if not same), default=0)
        if first == len(columns):
            text = message(
                "“{token}” is not the most probable word even at the end: the search, or the reference, chose it."
            )
        lines.append(say(text, token=steps[t], part=columns[min(first, len(columns) - 1)]))
    titles = say("word being written"), say("after this part of the decoder")
    look = looks.lens(steps, columns, texts, hover, titles, say)
    look["layout"]["xaxis"]["ticktext"] = list(map(labels.escape, columns))  # whole
    z = found.probabilities[:, :, 0].T.astype(np.float32)
    return {"look": look, "z": z, "lines": lines, "table": [steps, columns, table]}


def left_out(drops: np.ndarray, source: Sequence[str], written: Sequence[str]) -> dict:
    """What each word loses without each source token; steps in rows, source tokens in columns."""
    source, written = named(source), named(written)
    axes = {"query_axis": say("word being written"), "key_axis": say("source token that is left out")}
    value, limit = message("drop of the log-probability (nats)"), float(np.abs(drops).max()) or 1.0
    look = looks.signed(written, source, say, **axes, value=value, limit=limit)
    lines = []
    for token, row in zip(written, drops):
        text = message("Without “{key}”, “{token}” loses the most: {drop:.2f} nats.")
        if row.max() < 0.005:
            text = message("Without any one source token, “{token}” loses nothing.")
        lines.append(say(text, token=token, key=source[row.argmax()], drop=row.max()))
    return {"look": look, "z": drops.astype(np.float32), "lines": lines}


def agree(rates: Mapping[str, np.ndarray]) -> dict:
    """Whether measures agree: what is compared in rows, cross-attention heads in columns.

    `rates`: by name of COMPARED, float (L, H).
    """
    rows = [say(COMPARED[name]) for name in rates]
    columns = [f"{layer}.{head}" for layer, head in np.ndindex(rates["agreement"].shape)]
    z = np.stack([one.ravel() for one in rates.values()]).astype(np.float32)
    axes = {"query_axis": "", "key_axis": say("cross-attention head (layer.head)")}
    look = looks.signed(rows, columns, say, **axes, value=message("rank correlation"))
    look["layout"]["yaxis"]["ticktext"] = list(map(labels.escape, rows))  # whole
    look["layout"]["margin"]["l"] = theme.GLYPH_WIDTH * max(map(labels.text_width, rows))
    best = np.nan_to_num(rates["agreement"].ravel(), nan=-2)
    text = message("In head {head}, weights and direct effects order the source tokens most alike ({rate:.2f}).")
    return {"look": look, "z": z, "line": say(text, head=columns[best.argmax()], rate=best.max())}
