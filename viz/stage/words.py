"""What the stage says: names, titles of axes, the lines under its pictures, controls."""

from collections.abc import Mapping, Sequence

import numpy as np

from model.analysis import maps as analysis
from model.text.special import MARK
from model.translation import Translation
from viz.figures import labels
from viz.text.language import message, messages, say
from viz.text.words import KINDS, PREDICTED_AXIS, SHORT_KINDS
from viz.views.maps import NextWords
from viz.views.view import OVER, SUMMARIES, View

WORDS = messages(  # the browser fills the places in braces
    heads="Heads",
    kinds="Kind of attention",
    views="Picture",
    map="Map",
    mask="Mask",
    positions="Positions",
    words="Next words",
    inside="Inside",
    computing="Computing …",
    role="Role over many sentences: {role}",
    entropy="Entropy {entropy} nats (mean of its rows)",
    largest="Largest weight {weight}",
    attends="“{query}” attends most to “{key}” ({weight}).",
    attended="“{key}” gets the most attention from “{query}” ({weight}).",
    empty="“{query}” attends to nothing here: all its weights are 0.",
    strongest="Heads that link “{query}” most to another word:",
    link="{layer}.{head} → {key} {weight}",
    written="“{token}” was written with probability {probability}.",
    undecided="Entropy of this step: {entropy} nats (0: no doubt).",
    instead="Other candidates: {others}",
    hidden="{share} of this row is hidden",
    below="not drawn (below the threshold)",
    play="Play step by step",
    pause="Pause",
    step="step {step} of {steps}",
    slider="Step",
    this_head="This head",
    layer="All heads of the layer",
    lines="Lines between the words",
    options="Map options",
    download="Download",
    code="Python",
    table="Table",
    projector="Projector: large type, PageUp and PageDown for steps (p)",
    copy="Copy",
    reset="Reset",
    png="Picture (PNG)",
    svg="Picture (SVG)",
    html="Web page (HTML)",
    csv="Numbers (CSV)",
    query="query",
    key="key",
    weight="weight",
    source="Source tokens",
    target="Tokens of the translation",
    no_plotly="The drawing library could not be loaded, so the large picture is shown as a table.",
    loading="Loading …",
    failed="The maps of this kind could not be fetched. Please reload the page.",
    in_bytes=(
        "This file of {size} MB holds the head that was open in 16 bits for each weight and the others in 8: off by at "
        "most 0.4 % of the largest weight of their row."
    ),
    nothing="(the model wrote nothing)",
    no_attention="This model has no attention: it reads the whole sentence through one vector.",
    hide="click to hide or show its lines",
    pick="Tap or click a word to pin its row.",
    zoom_in="See fewer tokens, larger",
    zoom_out="See more tokens",
    rows_before="To earlier rows",
    rows_after="To later rows",
    columns_before="To earlier columns",
    columns_after="To later columns",
    # Direct effects.
    measure="Weights or direct effects",
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
    # The page Language model.
    after_text="The next word after “{text}”",
    can_be_drawn="{left} of {total} words can be drawn; the {count} bars hold {share} (model: {own}).",
    go_on="Continue the text",
    again="Draw again",
    # The page Steer.
    versions="Which translation",
    before="Before",
    after="After",
    difference="Difference",
    do="A click on a head",
    open="Open",
    off="Off",
    uniform="Uniform",
    alone="Alone",
    several="Several",
    picked="chosen",
    chosen_heads="heads {heads}",
    instead_of="Instead of “{token}”:",
    type="another word",
    keep="Keep everything up to here",
    is_off="off",
    is_uniform="uniform",
    switch="Switch layer {layer}, head {head} off or on",
    whole_layer="Layer {layer}: switch all its heads off or on",
    changes="Changes",
    take_back="Take back: {change}",
    reset_all="Reset all",
    copy_link="Copy link",
    unchanged="Nothing is changed yet. Switch a head off, force a cell, edit a mask or write another word.",
    click_force="Click a cell to force it.",
    strength="Strength",
    within="in",
    one_head="this head",
    every_head="all heads",
    click_cell="Click or drag to block or open cells, in every layer and head.",
    click_word="Click a word to write it; everything before it is kept.",
    with_options="To change single cells, reset the map options first.",
    importance="Importance",
    costs="Without it the log-probability of the old translation changes by {change} nats",
    changed_most="The largest difference is in “{query}” → “{key}” ({weight}).",
    no_change="Nothing differs in this head.",
    unmatched="this token is not in both translations",
) | {"left-out": message("Left out")}

READING = messages(  # in place of the same where there is no source
    target="Tokens of the text",
    written="“{token}” has probability {probability} here.",
)

COMPARING = messages(  # more of them, on the page Compare, where A stands before and B after
    versions="Tiles",
    before="A",
    after="B",
    minus="B minus A",
    unmatched="this token has no partner on the other side",
    lacks_kind="{name} has no attention of this kind.",
    lacks_head="{name} has no layer {layer}, head {head}.",
    no_difference="Only one of them has attention, so there is no difference.",
)

_ROWS = {"predicted": message("word being written"), "read": message("word just read")}


def spoken(kind: str, alone: bool) -> tuple[str, str]:
    """The short name of a kind, and its title; `alone`: there is no source."""
    if alone and kind == "decoder_self":
        return say("Self"), say("Masked self-attention")
    return say(SHORT_KINDS[kind]), say(KINDS[kind].title)


def axes(kind: str, rows: str) -> dict[str, str]:
    """Titles as figures take them; `rows` as of a View."""
    query = PREDICTED_AXIS if rows == "predicted" and kind != "encoder_self" else KINDS[kind].query_axis
    return {"query_axis": say(query), "key_axis": say(KINDS[kind].key_axis)}


def dull(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens say little, bool."""
    return analysis.is_special(tokens) | analysis.is_punctuation(tokens)


def label(token: str) -> str:
    """A token without the mark of a space, which lines of tokens show by distance."""
    return token.removeprefix(MARK) or token


def named(tokens: Sequence[str]) -> list[str]:
    """The tokens of a text, in order, as they are shown."""
    return list(map(labels.visible, labels.spell_bytes(list(map(label, tokens)))))


def choices(tokens: Sequence[str], written: str = "", name: str = "") -> list[str]:
    """Tokens that could stand at one place, as they are shown: the one `written` there by its `name` in the text."""
    return [name if token == written else labels.visible(label(token)) for token in tokens]


def candidates(result: Translation, next_words: NextWords) -> list[list[tuple[str, float]]]:
    """The candidates of every step as they are shown, with their probabilities."""
    written = result.predicted_tokens or [""] * len(next_words.candidates)
    steps = zip(next_words.candidates, written, named(written), strict=True)
    return [[(choices([token], *own)[0], p) for token, p in row] for row, *own in steps]


def form(view: View, named: bool) -> list[dict]:
    """Options of the maps; `named`: it is known both what the step of a row read and what it predicted."""
    summary = say("A summary is not a real head: no single head may look like it.")
    merged = say("Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.")
    hide = say("Leaves out the start and end tokens; the rest is not rescaled.")
    stretch = say("Ends the colours at the largest weight of each map instead of 1.")
    share = say("At 90 %, each row shows only its largest weights that together hold 90 % of it.")
    fields = [
        field("choice", "summary", say("Show"), view.summary, summary, options=SUMMARIES),
        field("choice", "over", say("Summarised over"), view.over, options=OVER, enabled=bool(view.axes)),
        field("choice", "rows", say("Rows are named by"), view.rows, options=_ROWS),
        field("switch", "words", say("Words instead of subwords"), view.words, merged),
        field("switch", "hide", say("Hide special tokens"), view.hide, hide),
        field("switch", "stretch", say("Stretch colours"), view.stretch, stretch),
        field("range", "share", say("Largest weights of a row"), view.share, share, low=50, high=100, unit=" %"),
    ]
    return [one for one in fields if named or one["name"] != "rows"]


def field(
    kind: str, name: str, label: str, value: object, help: str = "", options: Mapping[str, str] = {}, **more: object
) -> dict:
    """A control for menus.js: its name in the address, label and help as they are said, options in English."""
    if options:
        more["options"] = [[code, say(text)] for code, text in options.items()]
    value = str(int(value)) if isinstance(value, bool) else value
    return {"type": kind, "name": name, "label": label, "value": value, "help": help} | more
