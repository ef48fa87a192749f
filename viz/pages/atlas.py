"""The page Head atlas: all heads over held-out sentences and in the visitor's own."""

import html
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import agreement, atlas, contribution
from model.translation import KINDS
from viz.figures import attention_heatmap, difference_heatmap, head_board
from viz.stage.roles import best_aligner
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import choices, controls, explore, frame, heads_roles, shared, speaking, text_atlas
from viz.views import cached, changes, heads_results, opened, recipes
from viz.views.heads_results import Source
from viz.views.snippets import Code, Origin, Plot, program, snippet
from viz.views.view import View

VIEWS = messages(
    board="All heads",
    scatter="Two measures",
    alike="Alike",
    contribution="Contribution",
    rollout="Through all layers",
    alignment="Alignment",
    table="Table",
)
REPEATING = ("induction", "duplicate", "moves")  # measures of decoders alone
HIDDEN: dict[str, Any] = {"label_visibility": "collapsed"}
SOURCES = {"held-out": message("held-out sentences")} | messages(sentence="this sentence", difference="difference")
COMMAND = "python -m model atlas --data FILE.tsv --checkpoint {name}"
SINKS = messages(nothing="nothing", special="special tokens", punctuation="special tokens and punctuation")
LINK_SETS = {  # by name: what their domain means for the numbers
    "alignment-de-en": message(
        "European Parliament, lowercased, links made by people: far from what the model was trained on, which raises "
        "the error rate."
    ),
    "multi30k/test_2016_flickr": message(
        "Image captions, in nearly the same word order in both languages: compare with the diagonal."
    ),
}
READ_AT = messages(
    output="At the output: the step that predicts the word",
    input="At the input: one step later, the step that reads the word",
)
ALIGNED_FROM = messages(weights="attention weights", norms="contributions")

SHARES = """
import numpy as np
from model.measures import contribution

whole = translator.force(result.source, result)
lengths = contribution.contributions(translator.model, whole, $kind)[$layer, $head]
shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
weights = result.attention($kind)[$layer, $head]
"""
SPECIAL = """
import model.analysis.maps as analysis
left_out = analysis.is_special($keys)
"""
PUNCTUATION = """
left_out = left_out | analysis.is_punctuation($keys)
"""
LEFT_OUT = """
weights, weights_removed = contribution.without_columns(weights, left_out)
shares, shares_removed = contribution.without_columns(shares, left_out)
"""
CONTRIBUTION = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    $values,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=result.mask($kind),
    removed=$removed,
    value=$value,
)
figure.show()
"""
CHANGE = """
from viz.figures import difference_heatmap

figure = difference_heatmap(
    shares - weights,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    a=$a,
    b=$b,
)
figure.show()
"""
ALIGNMENT = """
import numpy as np
from viz.figures import head_board

rates = report['alignment'][$links]['aer'][$at][$what]
figure = head_board(
    np.column_stack([rates['heads'], rates['mean'], rates['max']]),
    $rows,
    $columns,
    value=$value,
    low_is_good=True,
)
figure.show()
"""


def show(places: frame.Places, part: str, result: cached.Shown, request: cached.Request) -> None:
    """Draw all heads at the left, and the chosen one, or what was measured of all, at the right."""
    with places.notes:
        try:
            report = heads_results.report(request.model)
            if report is None:
                line = say(
                    "This checkpoint has no atlas yet; only your sentence is measured. To make one: {command}",
                    command=COMMAND.format(name=request.model),
                )
                st.info(line)
        except ValueError as error:
            report = shared.warn(errors.sentence(error))
    with places.left:
        board, choice, numbers = st.container(), st.container(), st.container()
        first = best_aligner(report) if report else (0, 0)
        with choice:
            head = Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross", first))
    origin = recipes.origin(request)
    held = heads_results.of_report(report) if report else None
    with places.left_controls:
        measures, some, over = choose_measures(part, held)
    if over == "held-out" or set(measures) - {"place"} <= set(head_roles.NUMBERS):
        own = heads_results.of_weights(result)
    else:
        own = heads_results.of_request(request)
    source = held if held is not None and over == "held-out" else own
    with board:
        show_all(part, source, held if over == "difference" else None, measures, some, head, origin)
    weights = result.attention(head.kind)[head.layer, head.head]
    with places.answer:
        line = say("Colour all heads by a measure, click one, compare with your own sentence.")
        if report:
            line = say("{sentences} held-out sentences, {words} words, {data}.", **report)
        name = heads_results.name_of(head.kind, head.layer, head.head)
        frame.answer(f"{name}: {heads_results.in_words(weights, head.kind)}", line)
    with places.right:
        if part == "contribution":
            show_contribution(result, request, head)
        elif part == "rollout":
            heads_roles.show_rollout(result, KINDS, origin)
        elif part == "alignment":
            show_alignment(request.model, report)
        else:
            sources = {say("held-out"): held, say("this sentence"): own}
            show_card(head, result, request, report, {name: one for name, one in sources.items() if one}, numbers)
    if report:
        with places.left, st.popover(say("How this was measured"), type="tertiary"):
            about = [say("BLEU {score} on {sentences} of them.", **report["bleu"])] if report["bleu"] else []
            shared.small(" ".join([line, *about, report["credit"]]), "report")
            st.code(report["command"], language="bash", wrap_lines=True)


def show_all(
    part: str,
    source: Source,
    other: Source | None,
    measures: list[str],
    some: str,
    head: Head,
    origin: Origin,
) -> None:
    """All heads, small: as a table, by likeness, by two measures or as a board coloured by one."""
    if part == "table":
        heads_roles.show_table(source, head.kind)
    elif part == "alike":
        heads_roles.show_alike(source, head, origin)
    else:
        of_all = [one for one in measures if one != "place"]
        kinds = [kind for kind in KINDS if all(source.having(one, [kind]) for one in of_all)]
        kinds = [kind for kind in kinds if some in (kind, "all")] or kinds
        if not kinds:
            st.info(say("This was not measured in one sentence."))
        elif part == "scatter":
            heads_roles.show_scatter(source, kinds, measures[0], measures[1], head, origin)
        else:
            heads_roles.show_board(source, kinds, measures[0], head, origin, other=other, sort=measures[1])


def choose_measures(part: str, held: Source | None) -> tuple[list[str], str, str]:
    """Two measures, a kind, and over what they are measured.

    The measures are the colours and the order of the board ("place": as they stand); of views that need none, none.
    """
    over = ["held-out", "sentence"] if held else ["sentence"]
    if part in ("alike", "table"):
        return [], "all", controls.choose(say("Over"), over, "over-what", names=SOURCES, **HIDDEN)
    offered = [
        name
        for name in heads_roles.MEASURES
        if (held.having(name, KINDS) if held else name not in ("rare", *atlas.SOMETIMES, *REPEATING))
    ]
    names = heads_roles.MEASURES | {"place": message("layer and head")}
    measures = [controls.among(say("Measure"), offered, "colour", "sharpness", names, **HIDDEN)]
    if part == "scatter":
        second = say("Against"), offered, "measured", "log_probability"
    else:
        second = say("Sort by"), ["place", *offered], "sort", "place"
        over += ["difference"] if held else []
    frame.label(second[0])
    measures.append(controls.among(*second, names, **HIDDEN))
    changed = [choices.code_of("kinds", "all") != "all", choices.code_of("over-what", over[0]) != over[0]]
    with frame.options(sum(changed), "atlas"):
        some = controls.choose(say("Heads"), {"all": message("all")} | words.SHORT_KINDS, "kinds")
        over = controls.choose(say("Over"), over, "over-what", names=SOURCES)
    return measures, some, over


def show_card(
    head: Head,
    result: cached.Shown,
    request: cached.Request,
    report: dict[str, Any] | None,
    sources: dict[str, Source],
    numbers: DeltaGenerator,
) -> None:
    """The head in this sentence, and where it is strongest; its numbers go to a place of their own."""
    kind, layer, number = vars(head).values()
    source = next(iter(sources.values()))
    of_kind = source.kinds[kind]
    model = {} if request.model == cached.default_checkpoint() else {"model": request.model}
    of_head = model | {name: str(one) for name, one in vars(head).items()}  # in an address
    left, right = st.columns([6, 4], gap="small")
    with right:
        frame.picture_title(source.about(kind, layer, number))
        if report:
            frame.note(say("Strongest in these held-out sentences; each opens on the stage:"))
            st.html(examples(report, kind, of_kind["examples"][layer][number], of_head))
        if of_kind["divergence"] is not None:
            with shared.row(gap="small"):
                st.caption(say("Most alike:"))
                n_heads = len(of_kind["role"][0])
                own_place = layer * n_heads + number
                distances = np.sqrt(of_kind["divergence"][own_place])
                for at in [at for at in np.argsort(distances, kind="stable") if at != own_place][:4]:
                    other = divmod(int(at), n_heads)
                    name, opens = "{}.{}".format(*other), {"on_click": heads_roles.open_head, "args": other}
                    label = say("{name} ({x:.2f})", name=name, x=distances[at])
                    st.button(label, key="like-{}-{}".format(*other), type="tertiary", **opens)
        query, asked = replace(request, model="").address() | of_head, st.query_params.to_dict()
        # Of links that were made when heads were switched off here.
        changed = query | {name: asked[name] for name in changes.NAMES if name in asked}
        here = speaking.link(say("Open this head on the stage →"), "", query)
        steer = speaking.link(say("Switch heads off in this sentence, on the page Steer →"), "steer", changed)
        st.html(f"{here}<br>{steer}")
    with left:
        heads_roles.show_here(head, result, recipes.origin(request))
    with numbers, st.expander(say("Numbers of this head")):
        heads_roles.show_card(head, sources)
        frame.note(say(heads_roles.ROLE))


def examples(report: dict[str, Any], kind: str, found: list[list], of_head: dict[str, str]) -> str:
    side, line, more = "s", message("“{word}” attends {value:.2f} to “{key}”"), {}
    if kind in agreement.DECODER:
        side, line, more = "t", message("“{word}” {value:+.1f} logits from “{key}”"), {"measure": "effects"}
    items = []
    for text, row, word, key, value in found:
        told = {name: token.removeprefix("▁") or token for name, token in (("word", word), ("key", key))}
        source = report["texts"][text]
        query = View(source, beam=1).address() | of_head | more | {"pin": f"{side}{row}"}
        said = html.escape(say(line, **told, value=value))
        items.append(f"<li>{speaking.link(source, '', query)}<br><small>{said}</small></li>")
    return f"<ol>{''.join(items)}</ol>"


def show_contribution(result: cached.Shown, request: cached.Request, head: Head) -> None:
    help_ = say(
        "Heads with nothing to do often attend to the start, the end or a full stop. Without these keys, the rest "
        "of each row is scaled up."
    )
    sinks = controls.choose(say("Leave out"), SINKS, "sinks", help=help_)
    st.caption(
        say(
            "What a key adds is weight × value × output projection; its length is drawn as a share of its row "
            "(Kobayashi et al. 2020)."
        )
    )
    kind, place = head.kind, (head.layer, head.head)
    spoken, name = words.KINDS[kind], heads_results.name_of(kind, *place)
    queries, keys, _ = recipes.axis_tokens(result, kind, "read")
    rows, columns = recipes.axis_code(kind)
    lengths = heads_results.added(request)[kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights = result.attention(kind)[place]
    origin = recipes.origin(request).then(snippet(SHARES, kind=kind, layer=head.layer, head=head.head))
    weights_removed = shares_removed = None
    if sinks != "nothing":
        left_out = analysis.is_special(keys)
        origin = origin.then(snippet(SPECIAL, keys=columns))
        if sinks == "punctuation":
            left_out = left_out | analysis.is_punctuation(keys)
            origin = origin.then(snippet(PUNCTUATION, keys=columns))
        if left_out.any():
            weights, weights_removed = contribution.without_columns(weights, left_out)
            shares, shares_removed = contribution.without_columns(shares, left_out)
            origin = origin.then(LEFT_OUT)
            line = say(
                "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights "
                "and {contributions:.1%} of the contributions.",
                n=int(left_out.sum()),
                total=left_out.size,
                weights=weights_removed.mean(),
                contributions=shares_removed.mean(),
            )
            st.caption(line)
    plots, titles = {}, {}
    maps = (
        ("weights", "weights", say("Weights"), weights, weights_removed, message("weight")),
        ("added", "shares", say("Contributions"), shares, shares_removed, message("share")),
    )
    for key, variable, title, values, removed, value in maps:
        look: dict[str, Any] = {**spoken.axes, "value": value}
        mask = result.mask(kind)
        figure = attention_heatmap(values, queries, keys, **look, mask=mask, removed=removed, say=say)
        removed_code = None if removed is None else Code(f"{variable}_removed")
        tokens = {"queries": rows, "keys": columns}
        code = snippet(CONTRIBUTION, values=Code(variable), **tokens, kind=kind, removed=removed_code, **look)
        plots[key] = Plot(f"{title}: {name}", origin.note, figure, program(origin.code, code))
        titles[key] = title, ""
    title = say("Contributions minus weights")
    both: dict[str, Any] = {**spoken.axes, "a": message("contribution"), "b": message("weights")}
    figure = difference_heatmap(shares - weights, queries, keys, **both, say=say)
    code = snippet(CHANGE, queries=rows, keys=columns, **both)
    plots["added-change"] = Plot(f"{title}: {name}", origin.note, figure, program(origin.code, code))
    titles["added-change"] = title, ""
    frame.pictures(plots, titles=titles, bar=False)
    frame.note(say("Orange: contributes more than its weight suggests. Blue: less."))


def show_alignment(checkpoint: str, report: dict[str, Any] | None) -> None:
    results = report["alignment"] if report else {}
    if not results:
        line = say(
            "The atlas of this checkpoint was made without word links. With them: {command} --links FOLDER",
            command=COMMAND.format(name=checkpoint),
        )
        st.info(line)
        return
    name = controls.choose(say("Links"), list(results), "links")
    result = results[name]
    if name in LINK_SETS:
        st.caption(say(LINK_SETS[name]))
    line = say(
        "{pairs} pairs, {links} links, {words} target words. Left out, links outside their sentence: {outside}; "
        "pairs too long: {too_long}. Links: {made_by}. Error rate of the diagonal alone: {diagonal:.3f}; the "
        "least with one link per word: {best:.3f}.",
        **result,
    )
    shared.small(line, "counted")
    boards = [(at, what, rates) for at, by_measure in result["aer"].items() for what, rates in by_measure.items()]
    for at, what, rates in shared.columns(boards, 2):
        heads, summaries = np.array(rates["heads"]), (message("mean"), message("max"))
        layer, head = np.unravel_index(heads.argmin(), heads.shape)
        best = say("Best head: layer {layer}, head {head} with {error:.3f}.", layer=layer, head=head, error=heads.min())
        of_all = say("All heads: mean {mean_of_all:.3f}, maximum {max_of_all:.3f}.", **rates)
        values = np.column_stack([rates["heads"], rates["mean"], rates["max"]])
        rows = [say("layer {n}", n=layer) for layer in range(len(heads))]
        columns = [*map(str, range(heads.shape[1])), *map(say, summaries)]
        value = message("error rate")
        figure = head_board(values, rows, columns, value=value, low_is_good=True, say=say)
        code = snippet(ALIGNMENT, links=name, at=at, what=what, rows=rows, columns=columns, value=value)
        code = program(recipes.load_code(checkpoint), heads_results.REPORT, code)
        plot = Plot(f"{say(READ_AT[at])} · {say(ALIGNED_FROM[what])}", f"{checkpoint} · {name}", figure, code)
        explore.draw(plot, f"aer-{at}-{what}", line=f"{best} {of_all}")
    line = say(
        "A target word is linked to the source word with the largest weight (Chen et al. 2020; contributions: "
        "Kobayashi et al. 2020), special tokens apart. Error rate: Och and Ney 2003; 0 is perfect, brighter is better."
    )
    st.caption(line)


@choices.fragment
def live() -> None:
    """The atlas of a checkpoint that translates, or of a model of transformers that is opened."""
    places = frame.places()
    names = {"": message("Translators of this app")} | {name: name for name in opened.SHELF.names()}
    with places.question:
        model = controls.choose(say("Model"), names, "atlas-model", "", **HIDDEN) if len(names) > 1 else ""
    if model:
        text_atlas.show(model, places)
        return
    with places.right_controls:
        part = controls.views(VIEWS, "part")
    controls.translation_in(places, partial(show, places, part))


frame.opening(say("Head atlas"))
live()
