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
from viz.views.made import Recipe, made, the, value_of

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


def show_contribution(result: cached.Shown, request: cached.Request, head: Head, beside: DeltaGenerator) -> None:
    with beside:
        help_ = say(
            "Heads with nothing to do often attend to the start, the end or a full stop. Without these keys, the rest "
            "of each row is scaled up."
        )
        sinks = controls.choose(say("Leave out"), SINKS, "sinks", help=help_)
    known, kind, place = made(result, "result"), head.kind, (head.layer, head.head)
    spoken, name, names = words.KINDS[kind], heads_results.name_of(kind, *place), maps.axis_tokens(known, kind, "read")
    line = say(
        "What a key adds is weight × value × output projection; its length is drawn as a share of its row (Kobayashi "
        "et al. 2020)."
    )
    st.caption(line)
    lengths = made(
        heads_results.added(request)[kind][place],
        f"contribution.contributions(translator.model, whole, {kind!r})[{head.layer}, {head.head}]",
        "whole = translator.force(result.source, result)",
    ).named("lengths")
    shares = the(np.divide)(lengths, the(np.maximum)(lengths.sum(-1, keepdims=True), 1e-12))
    weights, of_map = known.attention(kind)[place], {"mask": known.mask(kind)}
    of_shares = of_map | {"value": message("share")}
    left_out = the(analysis.is_special)(names[1])
    if sinks == "punctuation":
        left_out = the(np.logical_or)(left_out, the(analysis.is_punctuation)(names[1]))
    if sinks != "nothing" and (found := value_of(left_out)).any():
        kept, kept_shares = (
            the(contribution.without_columns)(of, left_out.named("left_out")) for of in (weights, shares)
        )
        weights, shares = kept[0], kept_shares[0]
        of_map, of_shares = of_map | {"removed": kept[1]}, of_shares | {"removed": kept_shares[1]}
        line = say(
            "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights and "
            "{contributions:.1%} of the contributions.",
            n=int(found.sum()),
            total=found.size,
            weights=value_of(kept[1]).mean(),
            contributions=value_of(kept_shares[1]).mean(),
        )
        st.caption(line)
    change = say("Orange: contributes more than its weight suggests. Blue: less.")
    of_change = {"a": message("contribution"), "b": message("weights")}
    pictures = (
        ("weights", say("Weights"), say(spoken.rows), attention_heatmap, weights, of_map),
        ("added", say("Contributions"), "", attention_heatmap, shares, of_shares),
        ("added-change", say("Contributions minus weights"), change, difference_heatmap, shares - weights, of_change),
    )
    for key, title, line, figure, array, more in shared.columns(pictures, gap="small"):
        plot = recipes.translation(request).plot(f"{title}: {name}", figure, array, *names[:2], **more, **spoken.axes)
        explore.draw(plot, key, line=line)


def show_alignment(checkpoint: str, report: dict[str, Any] | None, beside: DeltaGenerator) -> None:
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
        known = made(rates, f"report['alignment'][{name!r}]['aer'][{at!r}][{what!r}]").named("rates")
        layer, head = np.unravel_index(heads.argmin(), heads.shape)
        best = say("Best head: layer {layer}, head {head} with {error:.3f}.", layer=layer, head=head, error=heads.min())
        of_all = say("All heads: mean {mean_of_all:.3f}, maximum {max_of_all:.3f}.", **rates)
        plot = Recipe(f"{checkpoint} · {name}", (recipes.loading(checkpoint), heads_results.REPORT)).plot(
            f"{say(READ_AT[at])} · {say(ALIGNED_FROM[what])}",
            head_board,
            the(np.column_stack)([known[one] for one in ("heads", *summaries)]),
            [say("layer {n}", n=layer) for layer in range(len(heads))],
            [*map(str, range(heads.shape[1])), *map(say, summaries)],
            value=message("error rate"),
            low_is_good=True,
        )
        explore.draw(plot, f"aer-{at}-{what}", line=f"{best} {of_all}")
    line = say(
        "A target word is linked to the source word with the largest weight (Chen et al. 2020; contributions: "
        "Kobayashi et al. 2020), special tokens apart. Error rate: Och and Ney 2003; 0 is perfect, brighter is better."
    )
    st.caption(line)
