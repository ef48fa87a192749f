"""All heads as a board, one head's card, which heads look alike, all as a table."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures import agreement, contribution
from model.recording import Recording
from viz.figures import attention_heatmap, head_board, head_map
from viz.text import words
from viz.text.language import message, messages, say
from viz.text.roles import role_name
from viz.ui import explore, frame
from viz.views import cached, recipes
from viz.views.heads_results import Source, name_of
from viz.views.made import Recipe, made, the, value_of

# By what `model.measures.atlas` calls them; of cross-attention some are called otherwise.
MEASURES = messages(
    sharpness="sharpness",
    entropy="entropy (nats)",
    relative_entropy="entropy / even spread",
    distance="mean distance (tokens)",
    previous="previous token",
    same="same token",
    next="next token",
    first="first token",
    last="last token",
    punctuation="punctuation",
    rare="rarest token",
    log_probability="log-probability without it (nats per word)",
    bleu="BLEU without it",
    gradient="importance by gradient (nats per word)",
    effect="size of the direct effect (logits)",
    agreement="agreement of weights and direct effect",
    norms="agreement of weights and contributions",
    occlusion="agreement of weights and left-out tokens",
    input_gradient="agreement of weights and gradient × input",
    aer_output="alignment error, step that writes",
    aer_input="alignment error, step that reads",
    induction="induction",
    duplicate="duplicate token",
    moves="name mover (share of the direct effect)",
)
CROSS_MEASURES = messages(previous="place before", same="same place", next="place after")
SIGNED = ("sharpness", "moves", "log_probability", "bleu", "agreement", "norms", "occlusion", "input_gradient")
LOW_IS_GOOD = ("aer_output", "aer_input")
LOW_FIRST = (*LOW_IS_GOOD, "log_probability", "bleu")  # when a board is sorted: what is missed most
ABOUT = messages(
    sharpness="Orange heads are sharp, blue ones broad. ★ keeps one distance, ⇄ aligns words.",
    log_probability="Blue: the model's own translation gets less probable when this head alone is off.",
    gradient="Estimates the change without this head by one backward pass (Michel et al. 2019).",
    effect="Direct effect on the logit of the written word, against the most probable other word; effects through "
    "later layers do not count.",
    moves="Of what all heads add directly to names that are predicted and stood before: the share that a head adds "
    "from there (Wang et al. 2022).",
    agreement="Kendall's rank correlation of a row of weights with the direct effects of its keys.",
)
ROLE = message(
    "Positional: the largest weight keeps one distance in at least 90 % of the rows (Voita et al. 2019). Else the "
    "place with most of the weight, if more than a third. Broad: at least 80 % of the entropy of an even spread. Rows "
    "without a choice are not counted."
)
HIGH = 12  # rows of a board, above which it takes what is left of the window
BELOW = 80  # pixels that are left free under a board
ROLLOUTS = messages(  # of each of `contribution.rollouts` the name, and what it shows
    encoder=("Encoder", "How much of each encoder output comes from each source token."),
    source=("Source", "How much of each decoder step comes from each source token, through the cross-attention."),
    target=("Target", "How much of each decoder step comes from the tokens read before it."),
)
KINDS_OF = {"encoder": "encoder_self", "source": "cross", "target": "decoder_self"}  # whose axes they have


def measure_name(name: str, kind: str) -> str:
    """What a measure is called, of a kind of attention."""
    return say((CROSS_MEASURES if kind == "cross" else MEASURES).get(name, MEASURES[name]))


def show_board(
    source: Source,
    kinds: Sequence[str],
    measure: str,
    head: Head,
    recipe: Recipe,
    *,
    other: Source | None = None,
    sort: str = "place",
) -> None:
    """Draw all heads of some kinds, which have all the measures, coloured by one, and a frame round one head.

    The numbers of `other` are subtracted; `sort` is "place" or a measure: the largest first, of LOW_FIRST the smallest.
    """
    known = source.table(measure, kinds)
    known = known if other is None else known - other.table(measure, kinds)
    numbers, places = value_of(known), source.places(kinds)
    n_heads, sorted_by, ordered = numbers.shape[1], sort != "place", places
    if sorted_by:
        by = source.table(sort, kinds).ravel()
        order = the(np.argsort)(by if sort in LOW_FIRST else -by, kind="stable").named("order")
        ordered = [places[at] for at in value_of(order)]
        known = known.named("values").ravel()[order].reshape(-1, n_heads)
    signed = other is not None or measure in SIGNED
    with_roles = measure == "sharpness" and other is None and not sorted_by

    def text(kind: str, layer: int, head: int) -> str:
        if sorted_by:
            return f"{say(words.SHORT_KINDS[kind])[0]} {source.number(kind, layer)}.{head}"
        # A small board has no room for roles: the card says them.
        positional = role_name(source.kinds[kind]["role"][layer][head], short=True).startswith("★")
        return source.mark(kind, layer, head)[:1] or ("★" if positional else "")

    def in_rows(say_of: Callable[..., str]) -> list[list[str]]:
        return np.reshape([say_of(*place) for place in ordered], (-1, n_heads)).tolist()

    if sorted_by:
        rows = [f"{start + 1}–{start + n_heads}" for start in range(0, len(places), n_heads)]
    else:
        rows = [
            f"{say(words.SHORT_KINDS[kind])} {source.number(kind, layer)}"
            for kind, layer, number in places
            if not number
        ]
    spot, is_high = (head.kind, head.layer, head.head), len(rows) > HIGH
    texts = in_rows(text) if sorted_by or with_roles else None
    if texts is None and is_high:  # there is no room for numbers
        texts = in_rows(lambda *place: "")
    plot = recipe.plot(
        f"{say('All heads')}: {say(MEASURES[measure])}",
        head_board,
        known,
        rows,
        [str(number + sorted_by) for number in range(n_heads)],
        texts=texts,
        names=in_rows(lambda *place: source.about(*place, name=source.name(*place))),
        value=MEASURES[measure],
        signed=signed or None,
        low_is_good=measure in LOW_IS_GOOD or None,
        selected=divmod(ordered.index(spot), n_heads) if spot in ordered else None,
    )

    def clicked(row: int, column: int) -> None:
        kind, layer, number = ordered[row * n_heads + column]
        open_head(kind, source.number(kind, layer), number)

    frame.pictures({"role-board": plot}, on_click=clicked, fills=is_high, bar=False, below=BELOW)
    high, low = (source.name(*places[at]) for at in (numbers.argmax(), numbers.argmin()))
    line = message("Highest: {high} ({most:.3g}). Lowest: {low} ({least:.3g}).")
    _caption(say(line, high=high, low=low, most=numbers.max(), least=numbers.min()), measure)


def _caption(line: str, *measures: str) -> None:
    frame.note(" ".join([line, *(say(ABOUT[one]) for one in measures if one in ABOUT)]))


def show_scatter(source: Source, kinds: Sequence[str], x: str, y: str, head: Head, recipe: Recipe) -> None:
    """Draw two measures of all heads of some kinds, which have both."""
    points = the(np.stack)([source.table(measure, kinds).ravel() for measure in (x, y)], axis=1)
    places, axes = source.places(kinds), (MEASURES[x], MEASURES[y])
    everything = list(words.KINDS)
    spot, *known = ((everything.index(kind), *place) for kind, *place in (vars(head).values(), *places))
    plot = recipe.plot(
        say("{y} over {x}", x=say(axes[0]), y=say(axes[1])),
        head_map,
        points,
        known,
        [say(words.SHORT_KINDS[kind]) for kind, *_ in places],
        axes=axes,
        selected=spot if spot in known else None,
    )

    def clicked(kind: int, *place: int) -> None:
        open_head(everything[kind], *place)

    frame.pictures({"scatter": plot}, on_click=clicked, is_map=False, fills=False)
    rate = agreement.spearman(*value_of(points).T)
    line = say("Rank correlation (Spearman) over {n} heads: {rate:.2f}.", n=len(places), rate=rate)
    _caption(f"{line} {say('Click a point to open its head.')}", x, y)


def show_card(head: Head, columns: Mapping[str, Source]) -> None:
    """Show the role and the numbers of one head, a column per source, and in an atlas its rank."""
    kind, place = head.kind, (head.layer, head.head)
    rank = say("rank, largest first")
    rows = {say("role"): {title: source.about(kind, *place) for title, source in columns.items()}}
    for measure in MEASURES:
        for title, source in columns.items():
            if source.having(measure, [kind]):
                row, own = rows.setdefault(measure_name(measure, kind), {}), np.array(source.kinds[kind][measure])
                row[title] = say("{x:.3f}", x=own[place])
                if rank not in row and source.held != "here":
                    every = value_of(source.table(measure, source.having(measure, list(source.kinds))))
                    n = int((every > own[place]).sum()) + 1
                    row[rank] = say("{n} of {total}", n=n, total=every.size)
    st.dataframe(pd.DataFrame(rows).T.fillna(""), key="card", height="content")


def show_table(source: Source, kind: str) -> None:
    """Show the numbers of all heads of a kind."""
    shown = source.kinds[kind]
    roles = np.array(shown["role"])
    layers, heads = np.indices(roles.shape).reshape(2, -1)
    columns = {say("layer"): layers, say("head"): heads, say("role"): list(map(role_name, roles.ravel()))}
    for name in MEASURES:
        if source.having(name, [kind]):
            columns[measure_name(name, kind)] = np.round(np.ravel(shown[name]), 4)
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="roles")


def show_here(head: Head, result: cached.Shown | Recording, recipe: Recipe) -> None:
    spoken, known, (kind, *place) = words.KINDS[head.kind], made(result, "result"), vars(head).values()
    title = f"{name_of(kind, *place)} · {say('this sentence')}"
    plot = recipes.head(recipe, title, known, kind, tuple(place), **spoken.axes, mask=known.mask(kind))
    frame.pictures({"head-opened": plot}, bar=False)
    frame.note(say(spoken.rows))


def show_alike(source: Source, head: Head, recipe: Recipe) -> None:
    kind, shown, lines = head.kind, source.kinds[head.kind], ()
    name, (n_layers, n_heads) = say("Which heads look alike"), np.shape(shown["role"])
    if shown["divergence"] is None:
        line = say(
            "Comparing all pairs of {n} heads over this many tokens takes too long: take a shorter text or fewer "
            "layers.",
            n=n_layers * n_heads,
        )
        explore.heading(name, line)
        return
    divergence = f"head_roles.divergences(result.attention({kind!r}))"
    if source.held != "here":  # an atlas keeps it
        divergence, lines = f"np.array({source.held}[{kind!r}]['divergence'])", source.lines
    points, kept = head_roles.layout(shown["divergence"])
    line = say(
        "Distances approximate the mean Jensen-Shannon distance between rows; this plane keeps {kept:.0%} of the "
        "spread. Click a point to open its head.",
        kept=kept,
    )
    plot = recipe.plot(
        name,
        head_map,
        the(head_roles.layout)(made(shown["divergence"], divergence, *lines))[0].being(points),
        list(np.ndindex(n_layers, n_heads)),
        [say("layer {n}", n=layer) for layer in range(n_layers) for _ in range(n_heads)],
        selected=(head.layer, head.head),
    )
    frame.pictures({"head-map": plot}, on_click=open_head, is_map=False, fills=False)
    frame.note(line)


def open_head(*place: int | str) -> None:
    """Open a head: its kind, where it may be another, layer and number."""
    st.session_state.update(zip(("kind", "layer", "head")[-len(place) :], place))


def show_rollout(result: cached.Shown | Recording, kinds: Sequence[str], recipe: Recipe) -> None:
    """Draw where attention of some kinds leads through all layers; errors as `contribution.rollouts`."""
    flows = contribution.rollouts({kind: result.attention(kind) for kind in kinds})
    recipe = recipe.then(f"flows = contribution.rollouts({{kind: result.attention(kind) for kind in {kinds!r}}})")
    line = say(
        "Attention followed through all layers, heads averaged, the residual connection counted as much as the "
        "attention (Abnar and Zuidema 2020). Colours end at the largest value."
    )
    frame.note(line)
    plots, titles, lines = {}, {}, []
    for which in [name for name in ROLLOUTS if name in flows]:
        name, line = ROLLOUTS[which]
        if which == "source" and "encoder" not in flows:
            line = message("How much of each decoder step comes from each encoder output (it has no encoder maps).")
        line, mean = say(line), flows[which].sum(-1).mean()
        if mean < 0.995:  # nearer to 1 it need not be said
            line += " " + say("Mean of a row: {share:.0%}.", share=mean)
        plots[f"rollout-{which}"] = recipe.plot(
            f"{say('Through all layers')}: {say(name)}",
            attention_heatmap,
            the(np.clip)(made(flows, "flows")[which], 0, 1),
            *recipes.axis_tokens(made(result, "result"), KINDS_OF[which], "read")[:2],
            **words.KINDS[KINDS_OF[which]].axes,
            value=message("share"),
            scale_to_max=True,
        )
        titles[f"rollout-{which}"] = say(name), ""
        lines.append(f"{say(name)}: {line}")
    frame.pictures(plots, titles=titles, bar=False, below=60)
    frame.note(" ".join(lines))
