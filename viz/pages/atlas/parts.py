"""What keys add beside the weights, and how well cross-attention heads align words: views of the Head atlas."""

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import contribution
from viz.figures import attention_heatmap, difference_heatmap, head_board
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import controls, explore, shared
from viz.views import cached, heads_results, maps, recipes
from viz.views.made import Recipe, made

COMMAND = "python -m model atlas --data FILE.tsv --checkpoint {name}"
SINKS = messages(nothing="nothing", special="special tokens", punctuation="special tokens and punctuation")
LINK_SETS = {  # by name: what their links and their domain mean for the numbers
    "alignment-de-en": message(
        "European Parliament, lowercased, links made by people. Far from the captions and everyday sentences that the "
        "model was trained on: a high error rate says as much about the domain as about the heads."
    ),
    "multi30k/test_2016_flickr": message(
        "Sixty image captions, linked by a language model and not checked: take the error rate as a hint. Both "
        "languages have nearly the same word order: compare with the diagonal."
    ),
}
READ_AT = messages(
    output="At the output: the step that predicts the word",
    input="At the input: one step later, the step that reads the word",
)
ALIGNED_FROM = messages(weights="attention weights", norms="contributions, ‖weight · value · output projection‖")


def show_contribution(result: cached.Shown, request: cached.Request, head: Head, beside: DeltaGenerator) -> None:
    """Draw the weights of a head, the shares of what its keys add, and the difference."""
    with beside:
        help_ = say(
            "Heads with nothing to do often attend to the start, the end or a full stop. Leave these keys out and the "
            "rest of each row is scaled up; the amount removed is shown below and beside each row."
        )
        sinks = controls.choose(say("Leave out"), SINKS, "sinks", help=help_)
    known, spoken, place = made(result, "result"), words.KINDS[head.kind], (head.layer, head.head)
    keys = maps.axis_tokens(result, head.kind, "read")[1]
    left_out = analysis.is_special(keys) & (sinks != "nothing")
    if sinks == "punctuation":
        left_out |= analysis.is_punctuation(keys)
    lengths = heads_results.added(request)[head.kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights, removed = contribution.without_columns(result.attention(head.kind)[place], left_out)
    shares, removed_shares = contribution.without_columns(shares, left_out)
    name = heads_results.name_of(head.kind, *place)
    line = say(
        "A weight says where a head looks, not how much comes from there. What a key adds is weight × value × output "
        "projection; its length is compared here, as a share of its row (Kobayashi et al. 2020)."
    )
    explore.heading(name, line)
    names = maps.axis_tokens(known, head.kind, "read")[:2]
    at = f"[{head.layer}, {head.head}]"
    lines = [
        "whole = translator.force(result.source, result)",
        f"lengths = contribution.contributions(translator.model, whole, {head.kind!r}){at}",
        "shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)",
        f"weights = result.attention({head.kind!r}){at}",
    ]
    of_map = {"mask": known.mask(head.kind)}
    of_shares = of_map | {"value": message("share")}
    if sinks != "nothing":
        punctuation = f" | analysis.is_punctuation({names[1]})" if sinks == "punctuation" else ""
        lines += [
            f"left_out = analysis.is_special({names[1]}){punctuation}",
            "weights, removed = contribution.without_columns(weights, left_out)",
            "shares, removed_shares = contribution.without_columns(shares, left_out)",
        ]
    if left_out.any():
        line = say(
            "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights and "
            "{contributions:.1%} of the contributions.",
            n=int(left_out.sum()),
            total=len(keys),
            weights=removed.mean(),
            contributions=removed_shares.mean(),
        )
        st.caption(line)
        of_map |= {"removed": made(removed, "removed")}
        of_shares |= {"removed": made(removed_shares, "removed_shares")}
    recipe, seen, added = recipes.translation(request).then(*lines), made(weights, "weights"), made(shares, "shares")
    total = say(
        "Shares of the lengths, which add up to {length:.2f} per row on average.", length=lengths.sum(-1).mean()
    )
    change = say("Orange: contributes more than its weight suggests. Blue: less.")
    of_change = {"a": message("contribution"), "b": message("weights")}
    pictures = (
        ("weights", say("Weights"), say(spoken.rows), attention_heatmap, seen, of_map),
        ("added", say("Contributions"), total, attention_heatmap, added, of_shares),
        ("added-change", say("Contributions minus weights"), change, difference_heatmap, added - seen, of_change),
    )
    for key, title, line, figure, array, more in shared.columns(pictures, gap="small"):
        explore.heading(title, line)
        explore.draw(recipe.plot(f"{title}: {name}", figure, array, *names, **more, **spoken.axes), key)


def show_alignment(checkpoint: str, report: dict[str, Any] | None, beside: DeltaGenerator) -> None:
    """Draw the error rate of every head, for a set of links that the visitor chooses; or say how to measure it."""
    results = report["alignment"] if report else {}
    if not results:
        line = say(
            "The atlas of this checkpoint was made without word links. With them: {command} --links FOLDER",
            command=COMMAND.format(name=checkpoint),
        )
        st.info(line)
        return
    with beside:
        name = controls.choose(say("Links"), list(results), "links")
        result = results[name]
        if name in LINK_SETS:
            st.caption(say(LINK_SETS[name]))
        counts = {name: result[name] for name in ("pairs", "links", "words")}
        said = [say("{pairs} pairs, {links} links, {words} target words", **counts)]
        if result["outside"]:
            said.append(say("links left out that point outside their sentence: {n}", n=result["outside"]))
        if result["too_long"]:
            said.append(say("pairs too long: {n}", n=result["too_long"]))
        shared.small(f"{'; '.join(said)}. {say('Links: {made_by}.', made_by=result['made_by'])}", "counted")
    for at, by_measure in result["aer"].items():
        read_at = say(READ_AT[at])
        st.markdown(f"**{read_at}**")
        for what, rates in shared.columns(by_measure.items(), 2):
            measure = say(ALIGNED_FROM[what])
            st.markdown(say("From {measure}", measure=measure))
            place = f"rates = report['alignment'][{name!r}]['aer'][{at!r}][{what!r}]"
            recipe = Recipe(f"{checkpoint} · {name}", (recipes.loading(checkpoint), heads_results.REPORT, place))
            title = say("Alignment error rate, {read_at}, from {measure}", read_at=read_at, measure=measure)
            show_board(rates, result, f"aer-{at}-{what}", title, recipe)
    grouped = say(
        "Rows are layers, columns are heads; on the right the mean and the maximum of a layer's heads. Brighter is "
        "better."
    )
    alignment = say(
        "Every target word is linked to the source word with the largest weight and compared with links made "
        "beforehand; 0 is perfect (error rate of Och and Ney 2003; output and input as in Chen et al. 2020; "
        "contributions as in Kobayashi et al. 2020). Special tokens take no part."
    )
    st.caption(f"{grouped} {alignment}")


def show_board(rates: dict[str, Any], result: dict[str, Any], key: str, title: str, recipe: Recipe) -> None:
    heads, summaries = np.array(rates["heads"]), (message("mean"), message("max"))
    every = np.column_stack([heads, *(rates[name] for name in summaries)])
    plot = recipe.plot(
        title,
        head_board,
        made(every, f"np.column_stack([rates['heads'], *(rates[name] for name in {summaries!r})])"),
        [say("layer {n}", n=layer) for layer in range(len(heads))],
        [*map(str, range(heads.shape[1])), *map(say, summaries)],
        texts=[[say("{x:.2f}", x=rate) for rate in row] for row in every],
        value=message("error rate"),
        low_is_good=True,
    )
    explore.draw(plot, key)
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    best = say(
        "Best head: layer {layer}, head {head} with {error:.3f}. The diagonal alone: {diagonal:.3f}. The least with "
        "one link per word: {best:.3f}.",
        layer=layer,
        head=head,
        error=heads.min(),
        diagonal=result["diagonal"],
        best=result["best"],
    )
    mean, largest = rates["mean_of_all"], rates["max_of_all"]
    of_all = say("All heads: mean {mean:.3f}, maximum {largest:.3f}.", mean=mean, largest=largest)
    st.caption(f"{best} {of_all}")
