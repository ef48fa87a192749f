"""The view Circuit: the heads that a word comes from, and who uses whom."""

from viz.text.language import messages

CIRCUIT = messages(
    circuit="Circuit",
    # What is drawn.
    circuit_graph="What is drawn",
    circuit_word="This word",
    circuit_heads="All heads",
    circuit_of="Word",
    circuit_against="Compared with",
    circuit_runner_up="the runner-up",
    circuit_mean="the mean of all words",
    circuit_other="another word",
    circuit_least="Share from which it counts",
    # The heading.
    circuit_title="“{word}” over “{other}”: {logit:+.2f} logits, with {places} places in {heads} heads.",
    circuit_title_mean=(
        "“{word}” over the mean of all words: {logit:+.2f} logits, with {places} places in {heads} heads."
    ),
    circuit_title_none="“{word}”: no head adds {share:.0%} of its {logit:+.2f} logits by itself.",
    circuit_title_takes="Head {head} takes most from head {source}: {share:.0%} of its {side}.",
    circuit_title_gives="Head {head} gives most to head {target}: {share:.0%} of its {side}.",
    circuit_title_alone="Head {head}: no other head has a share of {share:.0%} in it, nor it in another one.",
    circuit_no_words="This model predicts no words; “All heads” shows who uses whom.",
    # What the answer keeps.
    circuit_kept=(
        "These {places} places keep {share:.0%}: of {whole:.2f} logits {left:.2f} are left with all other heads "
        "replaced by their means over {texts} other texts, {nothing:.2f} with all heads replaced. "
        "With the {heads} heads left at all positions {of_heads:.0%}."
    ),
    circuit_kept_here=(
        "These {places} places keep {share:.0%}: of {whole:.2f} logits {left:.2f} are left with all other heads "
        "replaced by their means over the text, {nothing:.2f} with all heads replaced. "
        "With the {heads} heads left at all positions {of_heads:.0%}."
    ),
    circuit_kept_little=(
        "Heads add little to this word: of {whole:.2f} logits {nothing:.2f} are left with all heads replaced by "
        "means, {left:.2f} with all but these {places} places."
    ),
    circuit_checking="What the answer keeps of these heads alone is being computed … {share:.0%}",
    circuit_computing="The circuit is being computed … {share:.0%}",
    circuit_graph_computing="Who uses whom is being computed … {share:.0%}",
    circuit_about=(
        "Thickness: logits, estimated by one gradient; dashed: against the word. Colour of a head: direct effect."
    ),
    circuit_graph_about=(
        "Thickness: share over all queries; dashed: negative. The open head's lines are in full colour. A share is not "
        "a cause."
    ),
    circuit_most="{n} of {total} lines are drawn.",
    circuit_side_q="queries",
    circuit_side_k="keys",
    circuit_side_v="values",
    # A line, and a head.
    circuit_link="{source} → {side} of {target}: {value}",
    circuit_logits="{value:+.2f} logits",
    circuit_share="{value:.0%}",
    circuit_head="Head {head}, direct effect {effect:+.2f} logits",
    circuit_head_unused="Head {head}",
    circuit_looks="{head} at “{query}” looks most at “{key}” ({weight:.2f})",
    circuit_map="Map of {head}",
    circuit_list="Lines",
    circuit_close="Close",
    circuit_from="{source} → {target}, {side}",
    circuit_edge="at “{from}” → at “{to}”: {amount:+.2f} logits by the gradient, {share:.0%} of the {side}",
    circuit_cut="Cut on its own: {lost:+.2f} logits are lost.",
    circuit_cut_weight="The weight {weight:.2f} becomes {actual:.2f}; the split predicted {predicted:.2f}.",
    circuit_cutting="It is being cut …",
    circuit_column_from="from",
    circuit_column_to="to",
    circuit_column_side="takes part in",
    circuit_column_value="logits",
    circuit_column_share="share",
    circuit_json="Numbers (JSON)",
)
