"""What the stage says, by name: the browser puts values into the sentences (viz/recording/text/sentences.js)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.text.special import MARK
from viz.figures import labels
from viz.stage.payload.payloads import Field
from viz.text.language import message, messages, say, using
from viz.text.words import KINDS, PREDICTED_AXIS, SHORT_KINDS

WORDS = messages(  # the browser fills the places in braces
    heads="Heads",
    kinds="Kind of attention",
    jump="Go to a layer",
    sort="Sort heads",
    sort_layer="by layer",
    sort_role="by role",
    sort_first="by weight on the first token",
    sort_effect="by direct effect",
    no_role="no clear role",
    views="Picture",
    map="Map",
    mask="Mask",
    positions="Positions",
    words="Next words",
    inside="Inside",
    computing="Computing …",
    looks_together="In {n} of {total} rows it looks most where all heads together look most.",
    looks_previous="In {n} of {total} rows it looks most at the token before.",
    looks_same="In {n} of {total} rows it looks most at the token itself.",
    looks_read="In {n} of {total} rows it looks most at the token just read.",
    looks_next="In {n} of {total} rows it looks most at the token after.",
    looks_first="In {n} of {total} rows it looks most at the first token.",
    looks_last="In {n} of {total} rows it looks most at the last token.",
    role="Role over many sentences: {role}",
    spread="On average a row is as spread out as equal weights on {n} tokens.",
    numbers="Numbers",
    entropy="Entropy {entropy} nats (mean of its rows)",
    largest="Largest weight {weight}",
    attends="“{query}” attends most to “{key}” ({weight}).",
    attended="“{key}” gets the most attention from “{query}” ({weight}).",
    empty="“{query}” attends to nothing here: all its weights are 0.",
    strongest="Heads that link “{query}” most to another word:",
    looks_back="Heads that look back most at the earlier “{query}”:",
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
    options="Options",
    options_set="Options · {n}",
    controls="Controls",
    controls_set="Controls · {n}",
    download="Save",
    code="Code",
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
    against_word="against another word",
    against_named="against “{word}”",
    part_others="all others",
    panel_tokens="Added from each token",
    note_left_out_text="Blocks each token in turn, in all layers, for all other positions.",
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
    # Their other pictures.
    against_mean="against the mean of all words",
    part_tokens="token just read",
    part_positions="its position",
    part_input="input",
    part_self_attention="self-attention {layer}",
    part_cross_attention="cross-attention {layer}",
    part_feed_forward="feed-forward {layer}",
    part_bias="attention biases",
    part_norm="norm bias",
    part_output_bias="output bias",
    panel_parts="Parts of the decoder",
    panel_keys="Added from each encoder position",
    panel_heads="Each head: layers in rows",
    parts_over="“{token}” over “{other}”: {logit:+.2f} logits, the sum of all parts.",
    parts_above="“{token}” above the mean of all words: {logit:+.2f} logits, the sum of all parts.",
    measured_head="Over {n} sentences: {effect:+.2f} logits per word; without this head {drop:.3f} nats are lost.",
    note_map="Direct effect: what is added to the logit itself, not through later layers.",
    note_rate="Rank correlation with switching heads off: {rate:.2f} ({n} sentences).",
    note_lens="The most probable word if the model stopped there; bold where it is the one that was written.",
    note_left_out=(
        "Blocks each source token in turn, in all layers of encoder and cross-attention; the decoder reads the "
        "same words."
    ),
    lens_rows="word being written",
    lens_columns="after this part of the decoder",
    lens_from="“{token}” is the most probable word from here on: {part}.",
    lens_never=("“{token}” is not the most probable word even at the end: the search, or the reference, chose it."),
    left_out_columns="source token that is left out",
    left_out_value="drop of the log-probability (nats)",
    loses_most="Without “{key}”, “{token}” loses the most: {drop:.2f} nats.",
    loses_nothing="Without any one source token, “{token}” loses nothing.",
    note_agree="Rank correlations over this sentence: 1 the same order, 0 none. Mean over its words (Kendall).",
    agree_agreement="weights and direct effects",
    agree_norms="weights and norms of contributions",
    agree_occlusion="weights and leaving tokens out",
    agree_input_gradient="weights and gradient × input",
    agree_off="direct effects and switching off",
    agree_columns="cross-attention head (layer.head)",
    agree_best="In head {head}, weights and direct effects order the source tokens most alike ({rate:.2f}).",
    rank_correlation="rank correlation",
    # How a row of a head comes about.
    products="q·k",
    rotated="rotated",
    scaled="÷ √d",
    divided="÷ {divisor:.3g}",
    capped="capped at ±{cap:g}",
    biased="+ position bias",
    not_scaled="not scaled",
    scaled_by="{scaling} ÷ {temperature:.1f}",
    masked="masked",
    softmax="softmax",
    weighted_values="weight × |value|",
    row_line=(
        "“{query}”: largest weight {weight:.2f} on “{key}” · entropy {entropy:.2f} nats · gradient of the softmax "
        "{gradient:.3f}."
    ),
    row_recorded="As recorded: largest weight {weight:.2f}, entropy {entropy:.2f}, gradient {gradient:.3f}.",
    row_sink="A learned sink takes {weight:.2f} of the softmax, which no key gets.",
    row_rotation=(
        "“{key}” is {distance} tokens away: q·k is {turned:.2f} after the rotation, {plain:.2f} before it. Dimensions "
        "that turn by up to 45° over this distance add {near:+.2f}, up to 180° {half:+.2f}, further {far:+.2f}."
    ),
    row_empty="“{query}” may attend to nothing here: all its weights are 0.",
    no_scaling="No scaling",
    about_no_scaling="Leaves out the division by √d, which softens rows with one large weight.",
    no_mask="No mask",
    about_no_mask="Softmax over all keys, including those that the model may not attend to here.",
    about_temperature_of_row=(
        "Divides the scores: above 1 the row gets flatter, below 1 more peaked. The model has 1."
    ),
    dropout="Dropout",
    about_dropout=("In training, every weight is set to 0 with probability {p:.2f}, and the others are scaled up."),
    sample="Sample",
    # The page Language model.
    bar_hover="{word}<br>model {model}<br>sampling {drawn}",
    bar_sampling="sampling",
    bar_falls_out="falls out",
    bar_model="model",
    next_word="next word",
    temperature="Temperature",
    about_temperature="Divides the logits: below 1 likely words get likelier, at 0 only the likeliest stays.",
    top_k="Top-k",
    about_top_k="Keeps only the k most probable words (Fan et al. 2018).",
    all_words="all",
    top_p="Top-p",
    about_top_p="Keeps the fewest top words whose probabilities reach p (Holtzman et al. 2020).",
    words_to_draw="Words to draw",
    seed="Seed",
    about_seed="The same seed draws the same words.",
    comes_next="“{word}” is the likeliest next word: {share}.",
    after_text="The next word after “{text}”",
    can_be_drawn="{left} of {total} words can be drawn; the {count} bars hold {share} (model: {model}).",
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
    unchanged_text="Nothing is changed yet. Switch a head off, force a cell or edit a mask.",  # no word can be written
    click_force="Click a cell to force it.",
    strength="Strength",
    within="in",
    one_head="this head only",
    every_head="all heads",
    click_cell="Click or drag to block or open cells, in every layer and head.",
    click_word="Click a word to write it; everything before it is kept.",
    with_options="To change single cells, reset the map options first.",
    importance="Importance",
    costs="Without it the log-probability of the old translation changes by {change} nats",
    changed_most="The largest difference is in “{query}” → “{key}” ({weight}).",
    no_change="Nothing differs in this head.",
    unmatched="this token is not in both translations",
    # Names and axes of maps, and what was done to them.
    quoted="“{text}”",
    short_self="Self",
    title_self="Masked self-attention",
    layer_n="layer {n}",
    head_n="head {n}",
    summary_of_layers="{summary} of {count} layers",
    summary_of_heads="{summary} of {count} heads",
    value_mean="mean weight",
    value_max="max",
    value_deviation="deviation",
    effect_value="direct effect (logits)",
    encoder_position="encoder position (key)",
    b_minus_a="B minus A",
    after_minus_before="after minus before",
    step_that_reads="<br>at the step that reads {token}",
    step_that_writes="<br>at the step that writes {token}",
    not_allowed="not allowed (masked)",
    no_single_head="No single head looks like this.",
    not_to_one="Rows of this summary do not add up to 1.",
    merged="Subwords are merged into words: to a word the sum, from a word the mean of its tokens.",
    hidden_tokens=(
        "Special tokens are hidden: on average, {hidden:.1%} of a remaining row goes to them. Nothing is rescaled."
    ),
    largest_cells="Each row shows only its largest cells, which hold {share} % of it: {n} of {total} cells are left.",
    # Pictures beside them.
    blocked="blocked (orange)",
    may_attend="may attend (blue)",
    unknown_mask="The mask of this kind of attention is not known.",
    nothing_blocked="Nothing is blocked: every query may attend to every key.",
    causal="{n} of {total} cells are blocked: a word cannot attend to later words.",
    cells_blocked="{n} of {total} cells are blocked.",
    added_to_scores=(
        "Added to the scores before the softmax: 0, and -inf for a word that comes later: its weight is 0."
    ),
    of_source="Source",
    of_translation="Translation",
    position="position",
    dimension="dimension",
    value="value",
    added_to_embedding="Added to the embedding of each token.",
    as_waves="{side} as waves",
    one_dimension="Each line is one dimension of the encoding.",
    step_name="step",
    candidate="candidate",
    probability="probability",
    written_word="written word",
    rank="candidate (1 = most probable)",
    probability_of_next="probability of the word that follows",
    word_share="{word} {p:.1%}",
    next_words_line="The most probable next words. Beam search may choose another one than the first.",
    word_just_read="word just read",
    after_every_word="The most probable next words after every word of the text.",
    after_the_text="After the text",
    every_step="Every step",
    # Options of the maps.
    show="Show",
    single="single heads",
    mean="mean",
    max="max",
    deviation="standard deviation",
    no_head_looks_like="A summary is not a real head: no single head may look like it.",
    over="Summarised over",
    over_heads="heads",
    over_layers="layers",
    over_all="heads and layers",
    rows="Rows are named by",
    rows_predicted="word being written",
    rows_read="word just read",
    whole_words="Words instead of subwords",
    about_words="Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.",
    hide_special="Hide special tokens",
    about_hide="Leaves out the start and end tokens; the rest is not rescaled.",
    stretch="Stretch colours",
    about_stretch="Ends the colours at the largest weight of each map instead of 1.",
    share="Largest weights of a row",
    about_share="At 90 %, each row shows only its largest weights that together hold 90 % of it.",
) | {"left-out": message("Left out"), "against_runner-up": message("against the runner-up")}

READING = messages(  # in place of the same where there is no source
    versions="Which answer",
    costs="Without it the log-probability of the old next word changes by {change} nats",
    target="Tokens of the text",
    written="“{token}” has probability {probability} here.",
    next_words_line="The most probable next words after every word of the text.",
)

COMPARING = messages(  # more of them, on the page Compare, where A stands before and B after
    versions="Tiles",
    before="A",
    after="B",
    minus="B minus A",
    unmatched="this token has no partner on the other side",
    lacks_kind="{name} has no attention of this kind.",
    lacks_head="{name} has no layer {layer}, head {head}.",
    no_difference="A and B have no kind of attention in common, so there is no difference.",
)

LIVE = messages(role="Role in this text: {role}")


Forms = dict[str, dict[str, str]]


def forms() -> Forms:
    """Every sentence by name, in the language of here: of "all", and what stands in its place in other messages.

    "alone": there is no source; "comparing": two stand beside each other; "live": roles of heads are those in one text.
    """
    texts = WORDS | {"predicted_axis": PREDICTED_AXIS}
    for kind, about in KINDS.items():
        texts |= {f"short_{kind}": SHORT_KINDS[kind], f"title_{kind}": about.title}
        texts |= {f"rows_{kind}": about.query_axis, f"columns_{kind}": about.key_axis}
    of_forms = {"all": texts, "alone": READING, "comparing": COMPARING, "live": LIVE}
    return {form: {name: say(text) for name, text in of_form.items()} for form, of_form in of_forms.items()}


@cache
def packed(language: str) -> bytes:
    """The forms of a language as browsers fetch them, once: JSON."""
    with using(language):
        return json.dumps(forms(), ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def address(language: str) -> str:
    """Where browsers fetch them, below the app's root; other sentences have another address."""
    return f"headlight/words/{hashlib.blake2b(packed(language), digest_size=8).hexdigest()}/{language}"


def dull(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens say little, bool."""
    return analysis.is_special(tokens) | analysis.is_punctuation(tokens)


def label(token: str) -> str:
    """A token without the mark of a space, which lines of tokens show by distance."""
    return token.removeprefix(MARK) or token


def unique_labels(tokens: Sequence[str]) -> list[str]:
    """The tokens of a text, in order, as they are shown."""
    return list(map(labels.visible, labels.spell_bytes(list(map(label, tokens)))))


def field(
    kind: str, name: str, label: str, value: object, help: str = "", options: Mapping[str, str] = {}, **settings: Any
) -> Field:
    """A control for menus.js: its name in the address, label and help as they are said, options in English."""
    if options:
        settings["options"] = [[code, say(text)] for code, text in options.items()]
    value = str(int(value)) if isinstance(value, bool) else value
    control: Any = {"type": kind, "name": name, "label": label, "value": value, "help": help, **settings}
    return control
