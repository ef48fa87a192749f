"""How well heads find the source word of each written word: error rates against links made by people."""

from typing import Any

import numpy as np
import streamlit as st

from model.analysis import maps as analysis
from model.interventions.edits import Head
from viz.figures import head_board
from viz.text.language import message, messages, say
from viz.ui import controls, explore, shared
from viz.ui.models.heads_roles import open_head
from viz.views import recipes
from viz.views.results import head_sources
from viz.views.snippets import Plot, program, snippet

COMMAND = "python -m model atlas --data FILE.tsv --checkpoint {name}"
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

ALIGNMENT = """
import numpy as np
from viz.figures import head_board

rates = report['alignment'][$links]['aer'][$at][$measure]
figure = head_board(
    np.column_stack([rates['heads'], rates['mean'], rates['max']]),
    columns=$columns,
    names=$names,
    value=$value,
    selected=$selected,
    low_is_good=True,
)
figure.show()
"""


def show(checkpoint: str, report: dict[str, Any] | None, head: Head) -> None:
    """Boards of the error rates of all heads, read from the atlas of a checkpoint; `head` is the opened one."""
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
    shared.write_small(line, "counted")
    boards = [(at, measure, rates) for at, by_measure in result["aer"].items() for measure, rates in by_measure.items()]
    selected = (head.layer, head.head) if head.kind == "cross" else None

    def clicked(layer: int, column: int) -> None:
        if column < n_heads:  # not of the mean, nor of the largest
            open_head("cross", layer, column)

    for at, measure, rates in shared.columns(boards, 2):
        heads = np.array(rates["heads"])
        summaries = (message("mean"), message("max"))
        n_heads = heads.shape[1]
        layer, best_head = analysis.largest_cell(-heads)
        line = message("Best head: layer {layer}, head {head} with {error:.3f}.")
        best = say(line, layer=layer, head=best_head, error=heads.min())
        of_all = say("All heads: mean {mean_of_all:.3f}, maximum {max_of_all:.3f}.", **rates)
        values = np.column_stack([rates["heads"], rates["mean"], rates["max"]])
        columns = [*map(str, range(n_heads)), *map(say, summaries)]
        value = message("error rate")
        columns_in_words = [*(f"{say('head')} {head}" for head in range(n_heads)), *map(say, summaries)]
        names = [[f"{say('layer')} {layer}, {column}" for column in columns_in_words] for layer in range(len(heads))]
        look: dict[str, Any] = {"columns": columns, "names": names, "value": value, "selected": selected}
        figure = head_board(values, **look, low_is_good=True, say=say)
        code = snippet(ALIGNMENT, links=name, at=at, measure=measure, **look)
        code = program(recipes.load_code(checkpoint), head_sources.REPORT, code)
        plot = Plot(f"{say(READ_AT[at])} · {say(ALIGNED_FROM[measure])}", f"{checkpoint} · {name}", figure, code)
        explore.draw(plot, f"aer-{at}-{measure}", on_click=clicked, line=f"{best} {of_all}")
    line = say(
        "A target word is linked to the source word with the largest weight (Chen et al. 2020; contributions: "
        "Kobayashi et al. 2020), special tokens excluded. Error rate: Och and Ney 2003; 0 is perfect, brighter is "
        "better."
    )
    st.caption(line)
