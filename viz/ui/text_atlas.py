"""The atlas of a model of transformers: what its heads do over texts, measured when a visitor asks for it."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures import text_roles
from viz.text import errors
from viz.text.language import message, say
from viz.ui import controls, heads_roles, shared, speaking
from viz.views import heads_results, opened
from viz.views.made import Recipe, call, made

MOST_LINES = 200  # that are read
LINES = """\
The cat sat on the mat, and the dog lay beside it.
When Mary and John went to the store, John gave a drink to Mary.
In 1998, the company opened its first office in Berlin; in 2004, its second one in Paris.
She said that she would come, but nobody believed that she would.
The keys to the cabinet, which nobody had seen for years, were on the table.
A river runs through the town, and an old bridge crosses the river.
He poured water from the bottle into the cup until it was full.
If it rains tomorrow, we will stay at home and read a book.
The capital of France is Paris, and the capital of Italy is Rome.
One two three four five, one two three four five."""
RULES = message(
    "Of decoders also induction and duplicate token: the weight on the token after the earlier occurrence of a token, "
    "or on that occurrence, in random tokens that are read twice (Olsson et al. 2022). A head with more than a third "
    "of its weight there has that role."
)
COMMAND = "python -m model atlas --model {place} --data FILE.txt --out atlas.json"
MEASURED = "measured-texts"  # in the session: by model the lines that were read, and what was measured
BY_PLACE = message("layer and head")


def show(name: str) -> None:
    """The heads of a model over the texts that the visitor gives."""
    lines = st.text_area(say("Texts, one per line"), LINES, key="atlas-lines", height=100).splitlines()[:MOST_LINES]
    measured: dict[str, tuple[list[str], dict[str, Any]]] = st.session_state.setdefault(MEASURED, {})
    with shared.row(gap="small"):
        is_asked = st.button(say("Measure all heads"), key="measure-heads", type="primary")
        with st.popover(say("Over a file, as a command"), type="tertiary"):
            st.code(COMMAND.format(place=opened.SHELF.place(name)), "bash", wrap_lines=True)
    if is_asked:
        measure(name, lines, measured)
    if name not in measured:
        st.caption(say("Every text is read once; of a decoder, random tokens besides."))
        return
    read, found = measured[name]
    if read != lines:
        shared.small(say("The texts have changed since they were measured."), "changed-texts")
    show_board(name, read, found)


def measure(name: str, lines: Sequence[str], measured: dict[str, tuple[list[str], dict[str, Any]]]) -> None:
    """Measure the heads of a model over lines, and keep that; a warning says why it cannot be."""
    bar = st.progress(0.0, say("Reading the texts …"))
    try:
        reader = opened.SHELF.reader(name)
        measured[name] = list(lines), text_roles.measure(reader, lines, max(len(lines), 1), progress=bar.progress)
    except ValueError as error:
        shared.warn(errors.sentence(error))
    finally:
        bar.empty()


def show_board(name: str, lines: Sequence[str], found: dict[str, Any]) -> None:
    """All heads by a measure, and the numbers of the one that is clicked."""
    kinds = {kind: numbers | {"divergence": None} for kind, numbers in found["kinds"].items()}
    loading = f"reader = {call('load_model', opened.SHELF.place(name))}"
    measuring = f"found = {call('text_roles.measure', made(None, 'reader'), list(lines), len(lines))}"
    source = heads_results.Source(kinds, "found['kinds']", (loading, measuring))
    known = list(kinds)
    repeating = [one for one in ("induction", "duplicate") if any(one in numbers for numbers in kinds.values())]
    names = heads_roles.MEASURES | {"place": BY_PLACE}
    offered = [*repeating, *head_roles.NUMBERS]
    with shared.row(gap="small"):
        colour = controls.among(say("Measure"), offered, "atlas-colour", "sharpness", names)
        order = controls.among(say("Sort by"), ["place", *offered], "atlas-sort", "place", names)
    line = message("{sentences} texts, {tokens:,} tokens of {model}.")
    shared.small(say(line, sentences=found["sentences"], tokens=found["tokens"], model=name), "measured")
    counts = {kind: (len(numbers["role"]), len(numbers["role"][0])) for kind, numbers in kinds.items()}
    board = st.container()
    head = Head(*controls.choose_head(counts.__getitem__, known[-1], kinds=known))
    asked = [one for one in (colour, order) if one != "place"]
    shown = [kind for kind in known if all(source.having(one, [kind]) for one in asked)]
    with board:
        if shown:
            heads_roles.show_board(source, shown, colour, head, Recipe(name, ()), sort=order)
        else:
            st.info(say("No head of this model has this measure."))
        st.caption(f"{say(heads_roles.ROLE)} {say(RULES)}")
    heads_roles.show_card(head, {say("these texts"): source})
    layer = kinds[head.kind]["layers"][head.layer]
    query = {"model": name, "text": lines[0], "kind": head.kind, "layer": str(layer), "head": str(head.head)}
    st.html(speaking.link(say("Open this head on the stage →"), "steer", query))
