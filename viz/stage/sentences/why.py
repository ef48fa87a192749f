"""Why a query of a head looks where it looks."""

from viz.text.language import messages

WHY = messages(
    why="Why",
    why_way="The way here",
    # The heading.
    why_most="Head {head} looks from “{query}” to “{key}”, above all ({part:.1f} of {sum:.1f}) because of {cause}.",
    why_away=(
        "Head {head} looks from “{query}” away from “{key}”, above all ({part:.1f} of {sum:.1f}) because of {cause}."
    ),
    why_wrote="what {name} wrote there",
    why_asks="what {name} asks for",
    why_word="the word there",
    why_position="its position",
    why_word_asks="what the word “{query}” asks for",
    why_position_asks="what the position of “{query}” asks for",
    why_bias_asks="what every query asks for",
    why_stands="what comes from “{name}” there",
    why_by_position=(
        "Head {head} looks from “{query}” to “{key}” by position: {part:.0%} of what decides where it looks."
    ),
    why_by_distance=(
        "Head {head} looks from “{query}” to “{key}” by distance: {part:.0%} of what decides where it looks."
    ),
    why_masked="Head {head} may not look from “{query}” to “{key}”: the mask blocks it.",
    why_alone="Head {head} has no choice at “{query}”: it may look only to “{key}”.",
    # What stands around the numbers.
    why_asked="What is asked for at “{query}”",
    why_found="What stands at “{key}”",
    why_sum="sum",
    why_others="{n} others",
    why_fold="Fold all",
    why_pictures="Parts of the score",
    why_picture_keys="What stands at each key",
    why_picture_queries="What asks for each key",
    why_picture_pairs="Both, at this key",
    why_of_query="asked for by",
    why_of_key="stands there from",
    why_above_mean=(
        "Parts of the score above its mean over the {n} keys that may be attended to; they add up to the sum."
    ),
    why_before_cap="The score is split before it is capped at ±{cap:g}.",
    why_no_cause="Norms are held as they were: a share is not a cause.",
    why_cell="{head} “{query}” → “{key}”",
    why_row="{head} “{query}”",
    # In the card of a head.
    why_card="Where it looks is decided {causes}.",
    why_share_positions="by position {share:.0%}",
    why_share_words="by words {share:.0%}",
    why_share_earlier_heads="by what earlier heads wrote {share:.0%}",
    why_share_feed_forward="by what feed-forwards wrote {share:.0%}",
    why_share_bias="by biases {share:.0%}",
    why_share_distance="by distance {share:.0%}",
    # Parts.
    why_head="head {head}",
    why_cross_head="cross head {head}",
    why_part_tokens="words",
    why_part_positions="positions",
    why_part_token_types="token types",
    why_part_attention="attention {layer}",
    why_part_cross_attention="cross-attention {layer}",
    why_part_feed_forward="feed-forward {layer}",
    why_part_bias="biases",
    why_part_distance="distance",
    why_part_mamba="mamba {layer}",
    why_part_linear_attn="linear attention {layer}",
    why_part_input="input",
)
