"""The plain words of the page Masks: what each mask is for, the conventions, and how the numbers are read."""

from __future__ import annotations

from dataclasses import dataclass

from viz.language import message

INTRO = message(
    "A mask says who may read whom. Type a few sentences of different length: a batch is padded to its longest, and "
    "the masks keep the padding, and the decoder's own future, out of sight. What is drawn is what the model used."
)
SENTENCES, EXAMPLE = "sentences", "example"
BATCHES = {SENTENCES: message("My sentences"), EXAMPLE: message("Worked example")}
BATCH = message(
    "The worked example: three sentences of 4, 2 and 6 tokens in a batch 7 wide. Every token is the number 2, every "
    "pad the number 1."
)
EXAMPLE_NOTE = message(
    "B = 3, T = 7: every token is the number 2, every pad the number 1. The model of this page pads with 0, so the "
    "ones were handed to it as 0. Source and target are the same three rows."
)
PAIRS = (
    ("I am happy.", "Ich bin glücklich."),
    ("A man is riding a bicycle down the street.", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."),
    ("The dog sleeps under the table.", "Der Hund schläft unter dem Tisch."),
    ("Why?", "Warum?"),
)

ONE_SENTENCE, ONE_MASK = "masks", "sentences"
SHOWS = {ONE_SENTENCE: message("every mask of one sentence"), ONE_MASK: message("one mask of every sentence")}
COLOURS = message("Rows ask, columns are read: blue cells may be read, orange ones are blocked.")


@dataclass(frozen=True)
class MaskWords:
    """What the page says about one mask.

    Attributes:
        name: for headings and buttons.
        line: one sentence on what it is for.
        query_axis, key_axis: titles of the axes.
        keep: a line of PyTorch that makes it as True = may attend, out of src, tgt, pad and T.
        blocked: the same as True = blocked.
        additive: the same as a number to add to the scores.
        has_batch: whether it has a batch axis.
    """

    name: str
    line: str
    query_axis: str
    key_axis: str
    keep: str
    blocked: str
    additive: str
    has_batch: bool = True


def _padding(ids: str) -> dict[str, str]:
    keep = f"({ids} != pad)[:, None, :]"
    return {
        "keep": keep,
        "blocked": f"({ids} == pad)[:, None, :]",
        "additive": f"torch.where({keep}, 0.0, -torch.inf)",
    }


_BOTH = "(tgt != pad)[:, None, :] & torch.ones(T, T).tril().bool()"
MASKS = {
    "encoder_self": MaskWords(
        message("Padding, source"),
        message("The encoder reads every source token and no padding. Recorded in the encoder's self-attention."),
        message("source token (asks)"),
        message("source token (is read)"),
        **_padding("src"),
    ),
    "target_padding": MaskWords(
        message("Padding, target"),
        message("One part of the decoder's mask: no padding of the target is read."),
        message("target token (asks)"),
        message("target token (is read)"),
        **_padding("tgt"),
    ),
    "look_ahead": MaskWords(
        message("Look-ahead"),
        message("The other part: a step reads itself and what came before it, the same for every sentence."),
        message("target token (asks)"),
        message("target token (is read)"),
        keep="torch.ones(T, T).tril().bool()",
        blocked="torch.ones(T, T).triu(diagonal=1).bool()",
        additive="torch.full((T, T), -torch.inf).triu(diagonal=1)",
        has_batch=False,
    ),
    "decoder_self": MaskWords(
        message("Padding AND look-ahead"),
        message("Blue where both parts are blue. Recorded in the decoder's self-attention."),
        message("target token (asks)"),
        message("target token (is read)"),
        keep=_BOTH,
        blocked="(tgt == pad)[:, None, :] | torch.ones(T, T).triu(diagonal=1).bool()",
        additive=f"torch.where({_BOTH}, 0.0, -torch.inf)",
    ),
    "cross": MaskWords(
        message("Cross"),
        message("Every step of the target reads the source and no padding of it. Recorded in the cross-attention."),
        message("target token (asks)"),
        message("source token (is read)"),
        **_padding("src"),
    ),
}


@dataclass(frozen=True)
class ConventionWords:
    """What the page says about one convention.

    Attributes:
        name: for the heading.
        users: who reads a mask so.
        apply: a line of PyTorch that applies it to scores (B, H, T, S), or to q, k and v; {mask} stands for the mask,
            already broadcastable.
    """

    name: str
    users: str
    apply: str


CONVENTIONS = {
    "keep": ConventionWords(
        message("True = may attend"),
        message("F.scaled_dot_product_attention with a boolean mask, and this project."),
        "F.scaled_dot_product_attention(q, k, v, attn_mask={mask})",
    ),
    "blocked": ConventionWords(
        message("True = blocked"),
        message("nn.MultiheadAttention and nn.Transformer (attn_mask, key_padding_mask): the opposite."),
        "scores.masked_fill({mask}, -torch.inf)",
    ),
    "integers": ConventionWords(
        "1 / 0",
        message("attention_mask of many libraries: 1 is a real token, 0 padding."),
        "scores.masked_fill({mask} == 0, -torch.inf)",
    ),
    "additive": ConventionWords(
        "0 / -inf",
        message("Added to the scores, as generate_square_subsequent_mask makes it."),
        "scores + {mask}",
    ),
}


def code(mask: str, convention: str) -> str:
    """Two lines of PyTorch: one makes a mask in a convention, one applies it.

    Args:
        mask: a key of MASKS.
        convention: a key of CONVENTIONS.

    Returns:
        Python source; src (B, S), tgt (B, T), pad, T, and q, k, v or scores are what it starts from.
    """
    spoken = MASKS[mask]
    made = {
        "keep": spoken.keep,
        "blocked": spoken.blocked,
        "integers": f"({spoken.keep}).long()" if "&" in spoken.keep else f"{spoken.keep}.long()",
        "additive": spoken.additive,
    }[convention]
    # A mask with a batch axis needs one for the heads.
    applied = CONVENTIONS[convention].apply.format(mask="mask[:, None]" if spoken.has_batch else "mask")
    return f"mask = {made}\n{applied}"


CONVENTION_LINE = message(
    "One and the same mask. The colours are what it means, blue may attend and orange is blocked; the letters in the "
    "cells are what the tensor holds."
)
LINES_START = message("The lines start from src, tgt and pad; T is the length of tgt.")

PADDING, LOOK_AHEAD, BOTH = "padding", "look-ahead", "both"
LEFT_OUT = {PADDING: message("the padding mask"), LOOK_AHEAD: message("the look-ahead mask"), BOTH: message("both")}
WITH_ALL = message("With its masks")
WITHOUT_SOME = {
    PADDING: message("Without the padding mask"),
    LOOK_AHEAD: message("Without the look-ahead mask"),
    BOTH: message("Without both"),
}
WITHOUT = message(
    "The same batch through the same weights, once with its masks and once without. The padding mask is left out "
    "everywhere: in the encoder, in the decoder and between them."
)
UNCHANGED = {
    PADDING: message("This sentence has no padding, so its padding mask hides nothing."),
    LOOK_AHEAD: message("The encoder has no look-ahead mask: its maps are those of the same pass and do not change."),
}

CHANGES = {  # with the mask on and off
    PADDING: (message("Largest change, padding mask on"), message("Largest change, padding mask off")),
    LOOK_AHEAD: (message("Largest change, look-ahead mask on"), message("Largest change, look-ahead mask off")),
}
PADS = message(
    "The sentence is passed alone, then with so many pads after its source and its target. The number is the largest "
    "change of any logit at its real steps. With the mask it may differ from 0 in the last digit of a float."
)
LEAK = message(
    "The last token that the decoder reads is replaced by another one (<unk>). The number is the largest change of any "
    "logit at the steps before it: a decoder that can be trained on whole sentences at once must show 0."
)
NO_LEAK = message("The decoder reads only one token of this sentence: there is no earlier step. Type a longer target.")
NOTHING = message(
    "What becomes of a query all of whose keys are blocked: a sentence of nothing but padding, or the first step of "
    "one padded on the left. These are the scores of this head's first row, with every key blocked, computed just now."
)
TREATMENTS = {
    "-inf": (message("−inf, then softmax"), message("NaN, which spreads through the whole sentence.")),
    "-1e9": (
        message("−1e9, then softmax"),
        message("A uniform row: it reads everything, padding and future included."),
    ),
    "fused": (message("fused attention, boolean mask"), message("F.scaled_dot_product_attention of this PyTorch.")),
    "ours": (message("this project"), message("Zeros: who may read nothing reads nothing.")),
}


def number(value: float) -> str:
    """A number for a large label: 0 as it is, small ones with their power of ten."""
    return "0" if value == 0 else f"{value:.1e}" if abs(value) < 0.001 else f"{value:.3f}"
