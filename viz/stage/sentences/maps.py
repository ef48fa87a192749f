"""Names and axes of maps, the pictures beside them, and their options."""

from viz.text.language import messages

MAPS = messages(
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
    causal_written=(
        "{n} of {total} cells are blocked: a step cannot attend to the word that it writes, nor to later ones."
    ),
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
    no_head_looks_like="A summary is not a real head: possibly no single head looks like it.",
    over="Summarised over",
    over_heads="heads",
    over_layers="layers",
    over_all="heads and layers",
    rows="Rows are named by",
    rows_predicted="word being written",
    rows_read="word just read",
    about_rows=(
        "Each row is a step, which reads a word and writes the next one. Self-attention names it by the word that "
        "attends, cross-attention by the word being written."
    ),
    whole_words="Words instead of subwords",
    about_words="Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.",
    hide_special="Hide special tokens",
    about_hide="Leaves out the start and end tokens; the rest is not rescaled.",
    stretch="Stretch colours",
    about_stretch="Ends the colours at the largest weight of each map instead of 1.",
    share="Largest weights of a row",
    about_share="At 90 %, each row shows only its largest weights that together hold 90 % of it.",
)
