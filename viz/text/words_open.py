"""The words of the page Your own model."""

from viz.text.language import message, say, say_n

LINE = message("The attention of any model, from a file.")
INTRODUCTION = message(
    "Any tool can write this file. It does not contain the model: to switch heads off, import the model or train "
    "one here."
)
EXAMPLE_MODEL, EXAMPLE = "multi30k-de-en", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."
OF_EXAMPLE = message("Example: a translation by {model}, as python -m model trace writes it.")
NO_EFFECTS = message("A file holds weights alone: direct effects need the model.")
NOTHING_OPEN = message("Nothing is open. Open a file above.")
PRIVATE = message("This app checks and draws the file; it does not keep it, and nothing in it can run.")
FORMAT = message("""
An `.npz` file of numpy, with at least one of the three kinds of attention and the tokens of its axes:

| name | what it is | shape |
| --- | --- | --- |
| `source_tokens` | texts: what an encoder read | S |
| `target_tokens` | texts: what a decoder read, the start token first | T |
| `predicted_tokens` | texts, optional: what it predicted at each of these | T |
| `encoder_self` | weights after the softmax: row = query, column = key | layers, heads, S, S |
| `decoder_self` | the same of a decoder | layers, heads, T, T |
| `cross` | the same from decoder to encoder | layers, heads, T, S |
| `encoder_self_mask`, `decoder_self_mask`, `cross_mask` | optional: True = may attend | queries, keys |

At most {tokens} tokens per side, and {weights:,} weights in all. A model without an encoder has only
`decoder_self`, one without a decoder only `encoder_self`.
""")
FROM_TRANSFORMERS = message(
    '**From Hugging Face transformers**, with a model loaded with `attn_implementation="eager"`:'
)
RECIPE = """\
from model.adapters.outputs import attention_of

inputs = tokenizer(["The street is wide."], return_tensors="pt")
outputs = model.generate(**inputs, num_beams=4, output_attentions=True, return_dict_in_generate=True)
attention_of(outputs, inputs, tokenizer).save("mine.npz")
"""
FROM_COMMANDS = message("**From the command line**: a model of this project, or a T5, BART, GPT-2 or BERT.")
COMMANDS = """\
python -m model trace "The street is wide." --out mine.npz
python -m model attention DIR_OR_HUB_NAME "The street is wide." --out mine.npz
"""
FROM_ANY_TOOL = message("**From any other tool**:")
BY_HAND = """\
import numpy as np

np.savez("mine.npz", source_tokens=["a", "cat"], target_tokens=["<s>", "eine"],
         cross=np.full((1, 1, 2, 2), 0.5, dtype="float32"))      # layers, heads, target, source
"""
MAPS, ROLES, ROLLOUT = "maps", "roles", "rollout"
PARTS = {MAPS: message("Maps"), ROLES: message("Roles"), ROLLOUT: message("Through all layers")}
EVERY_KEY = message(
    "The file does not say which cells were blocked. Every key counts as allowed, so heads of a decoder look "
    "sharper than they are."
)
NO_DECODER = message(
    "The file has cross-attention, but no decoder_self: attention cannot be followed through the decoder."
)
WHOLE_ROWS = 1e-2  # sums nearer to 1 are 1 but for rounding, of bfloat16 for one


def sums(residual: float, zeros: int, total: int) -> str:
    """Say whether rows add up to 1.

    Args:
        residual: how far from 1 the sum of a row is at most.
        zeros: how many of the `total` rows are 0 everywhere; they do not count.
    """
    if zeros == total:
        return say("Every weight of this kind is 0: nothing is attended to.")
    if residual > WHOLE_ROWS:
        said = not_whole(residual)
    elif zeros:
        said = say("All other rows add up to 1 (largest deviation {off:.1g}).", off=residual)
    else:
        said = say("All rows add up to 1 (largest deviation {off:.1g}).", off=residual)
    return f"{_zeros(zeros, total)} {said}".strip()


def not_whole(residual: float) -> str:
    """Say that rows do not add up to 1, which keeps heads from being told apart; residual as for `sums`."""
    return say(
        "Rows do not add up to 1: the worst is off by {off:.2g}. They may be summed, pruned or taken after dropout, so "
        "roles and attention through layers cannot be computed.",
        off=residual,
    )


def _zeros(zeros: int, total: int) -> str:
    if not zeros:
        return ""
    return say_n(
        "One of {total} rows is entirely 0: it attends to nothing.",
        "{n} of {total} rows are entirely 0: they attend to nothing.",
        zeros,
        total=total,
    )
