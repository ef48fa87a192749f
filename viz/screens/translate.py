"""The page Translate: a sentence, its translation, and every head that made it."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from model.translator import KINDS, Translation, checkpoints_folder
from viz.figures import attention_heatmap, describe, head_overview, mask_heatmap, positional_heatmap, positional_waves
from viz.screens import shared, words

EXAMPLE = "The animal didn't cross the street because it was too tired."
BEAMS = {4: "beam of 4", 1: "greedy"}
VIEWS = ("Attention", "Mask", "Positions")
SIDES = {"source": "Source", "target": "Translation"}
HEADS_IN_A_ROW = 8
TOOLS_HEIGHT = 16  # pixels

_TOOLS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
_NO_TOOLS = {"displayModeBar": False}


def choose(label: str, options: list, key: str, default, names: dict | None = None, **more):
    """Let the visitor choose one of a few options; the choice is kept in the URL.

    Args:
        label: over the options.
        options: what can be chosen.
        key: in the session and in the URL.
        default: the option chosen at first, and whenever the session or the URL holds none of them.
        names: what the options are called.
        more: further settings of the control.

    Returns:
        The chosen option.
    """
    # A model with fewer layers, or an empty parameter in the URL (?kind=), leaves a choice that is none.
    if key in st.session_state and st.session_state[key] not in options:
        st.session_state[key] = default
    value = st.segmented_control(
        label,
        options,
        default=default,
        required=True,
        format_func=(names or {option: str(option) for option in options}).__getitem__,
        key=key,
        bind="query-params",
        wrap=True,
        **more,
    )
    if value is None:
        st.rerun()
    return value


def ask(card: dict) -> tuple[str, int]:
    """Ask for a sentence, and how to search for its translation."""
    text_place, beam_place = st.columns([4, 1])
    with text_place:
        text = st.text_input(
            f"{words.language(card.get('source'), 'Source')} sentence",
            EXAMPLE,
            key="text",
            bind="query-params",
            placeholder="Type a sentence and press Enter",
        )
    with beam_place:
        beam = choose("Search", list(BEAMS), "beam", 4, BEAMS, help=words.SEARCH)
    return text or "", beam


def answer(name: str, text: str, beam: int) -> Translation | None:
    """Translate; what cannot be translated is told in a sentence, and the last result stays.

    Args:
        name: of the checkpoint.
        text: what the visitor typed.
        beam: width of the search.

    Returns:
        The translation, the one before, or None if there is none at all.
    """
    try:
        result = shared.translate(name, text, beam)
        st.session_state["answered"] = (text, beam)
        return result
    except ValueError as error:
        problem = shared.sentence(error)
    shown = "the last sentence that could be translated" if "answered" in st.session_state else "the example"
    try:
        result = shared.translate(name, *st.session_state.get("answered", (EXAMPLE, beam)))
    except ValueError:  # a model that cannot even read the example
        st.warning(problem)
        return None
    st.warning(f"{problem} Shown below: {shown}.")
    shared.small(result.source, "shown")
    return result


def show_translation(result: Translation, card: dict) -> None:
    """Show the translation, and how it ended where it did not end by itself."""
    with st.container(border=True, gap="xsmall"):
        shared.small(words.language(card.get("target"), "Translation"), "language")
        shared.large(result.text or "(the model wrote nothing)", "translation")
        if not result.finished:
            st.caption("The translation was stopped at the length limit.")


def explore(result: Translation) -> None:
    """Let the visitor choose a kind, a head and a view, and draw them."""
    names = {kind: words.KINDS[kind].name for kind in KINDS}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = choose("Attention", list(KINDS), "kind", "cross", names)
        n_layers, n_heads = result.attention(kind).shape[:2]
        layer = choose("Layer", list(range(n_layers)), "layer", 0)
        head = choose("Head", list(range(n_heads)), "head", 0)
        stretch = st.toggle("Stretch colours", key="stretch", bind="query-params", help=words.STRETCH)
    left, right = st.columns(2, gap="medium")
    with left:
        show_overview(result, kind, layer, head, stretch)
    with right:
        view = choose("Show", list(VIEWS), "view", VIEWS[0], label_visibility="collapsed")
        if view == "Mask":
            show_mask(result, kind)
        elif view == "Positions":
            show_positions(result)
        else:
            show_attention(result, kind, layer, head, stretch)


def heading(title: str, line: str) -> None:
    """Put a title over a figure, and one line that says what it shows."""
    with st.container(gap="xxsmall"):
        st.markdown(f"**{title}**")
        st.caption(line)


def draw(figure: go.Figure, key: str, config: dict = _TOOLS, **more) -> None:
    """Show a figure, with its description for those who cannot see it."""
    shared.keep_legible(figure, key)
    if config is _TOOLS:  # room for Plotly's buttons, which would otherwise hide the legend
        figure.update_layout(margin_t=figure.layout.margin.t + TOOLS_HEIGHT, height=figure.layout.height + TOOLS_HEIGHT)
    st.plotly_chart(figure, key=key, config=config, alt=describe(figure), **more)


def open_head() -> None:
    """Open the head whose tile was clicked; runs before the page is drawn again."""
    points = st.session_state["overview"]["selection"]["points"]
    if points and len(points[0].get("customdata") or ()) == 2:
        st.session_state["layer"], st.session_state["head"] = map(int, points[0]["customdata"])
        st.session_state["view"] = VIEWS[0]


def show_overview(result: Translation, kind: str, layer: int, head: int, stretch: bool) -> None:
    """Draw all heads of a kind; a click on one opens it."""
    heading("All heads", "Each tile is one head: rows ask, columns are read. Click a tile to open it.")
    weights = result.attention(kind)
    n_columns = min(HEADS_IN_A_ROW, weights.shape[1])
    figure = head_overview(weights, selected=(layer, head), n_columns=n_columns, scale_to_max=stretch)
    # Not stretched, the large map has the same scale, and the tiles need the room.
    figure.update_traces(showscale=stretch, selector={"type": "heatmap"})
    draw(figure, "overview", _NO_TOOLS, on_select=open_head, selection_mode="points")
    st.caption(words.how_to_read([*result.source_tokens, *result.target_tokens]))


def axes(result: Translation, kind: str) -> dict:
    """The tokens on both axes of a map of this kind, and the axes' titles."""
    return {
        "queries": result.source_tokens if kind == "encoder_self" else result.target_tokens,
        "keys": result.target_tokens if kind == "decoder_self" else result.source_tokens,
        "query_axis": words.KINDS[kind].query_axis,
        "key_axis": words.KINDS[kind].key_axis,
    }


def show_attention(result: Translation, kind: str, layer: int, head: int, stretch: bool) -> None:
    """Draw one head large."""
    heading(f"{words.KINDS[kind].title}, layer {layer}, head {head}", words.KINDS[kind].reading)
    figure = attention_heatmap(
        result.attention(kind)[layer, head],
        mask=result.mask(kind),
        predicted=None if kind == "encoder_self" else result.predicted_tokens,
        scale_to_max=stretch,
        **axes(result, kind),
    )
    draw(figure, "heatmap")
    if kind != "encoder_self":
        steps = [result.target_tokens[0], *result.predicted_tokens]
        shared.small("Read → predicted: " + " → ".join(steps), "steps")


def show_mask(result: Translation, kind: str) -> None:
    """Draw the mask that the model used."""
    mask = result.mask(kind)
    n_blocked = int((~mask).sum())
    heading(
        f"{words.KINDS[kind].title}, mask",
        "Rows ask, columns are read: blue cells may be read, orange ones are blocked. The model used this very mask "
        "in every layer and head. "
        + (f"{n_blocked} of {mask.size} cells are blocked." if n_blocked else "Nothing is blocked."),
    )
    figure = mask_heatmap(mask, **axes(result, kind))
    figure.update_traces(showscale=False)  # the line above names the colours; beside a short map they would not fit
    draw(figure, "mask")


def show_positions(result: Translation) -> None:
    """Draw the positional encoding that was added, as a table and as waves."""
    side = choose("Positions of the", list(SIDES), "side", "source", SIDES)
    table = result.positional(side)
    tokens = result.source_tokens if side == "source" else result.target_tokens
    heading(
        "Positional encoding",
        "Rows are positions, columns are dimensions: the numbers that were added to the embedding of each token.",
    )
    draw(positional_heatmap(table, tokens), "positions")
    heading("The same as waves", "Each line is one dimension: its value at every position of the sentence.")
    n_dimensions = table.shape[1]
    draw(positional_waves(table, sorted({n_dimensions * part // 16 for part in (0, 1, 2, 4)}), tokens), "waves")


@st.fragment
def live(name: str) -> None:
    """The part that every choice redraws; the rest of the page is left alone."""
    card = shared.translator(name).card
    text, beam = ask(card)
    result = answer(name, text, beam)
    if result is not None:
        show_translation(result, card)
        explore(result)


def page() -> None:
    """Draw the page, or one sentence where there is no model."""
    st.title("Headlight")
    st.markdown("Type a sentence, read its translation, and see what every attention head looked at.")
    name = shared.default_checkpoint()
    try:
        card = shared.translator(name).card
    except ValueError as error:
        st.error("There is no model to translate with.")
        shared.small(f"{shared.sentence(error)} The folder is {checkpoints_folder()}.", "no-model")
        shared.small("To train one: python -m model train --help", "train")
        return
    live(name)
    shared.small(words.describe_card(name, card), "card")


page()
