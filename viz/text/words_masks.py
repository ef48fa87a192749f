"""The words of the page Masks."""

from dataclasses import dataclass

from viz.text.language import message, say

INTRO = message("A batch is padded to its longest sentence. Blue cells may be attended to, orange ones are blocked.")
SENTENCES, EXAMPLE = "sentences", "example"
BATCHES = {SENTENCES: message("My sentences"), EXAMPLE: message("Worked example")}
BATCH = message(
    "Three sentences of 4, 2 and 6 tokens in a batch 7 wide; tokens are written as 2, padding as 1 (this model pads "
    "with 0). Source and target are the same."
)
PAIRS = (
    ("I am happy.", "Ich bin glücklich."),
    ("A man is riding a bicycle down the street.", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."),
    ("The dog sleeps under the table.", "Der Hund schläft unter dem Tisch."),
    ("Why?", "Warum?"),
)

SHOWS = {
    "head": message("Mask and head"),
    "both": message("With and without"),
    "masks": message("All masks"),
    "sentences": message("All sentences"),
    "code": message("Conventions"),
    "blocked": message("All keys blocked"),
}
HEAD, COMPARE, MASKS_OF_ONE, ONE_OF_ALL, CONVENTION, NOTHING = SHOWS


@dataclass(frozen=True)
class MaskWords:
    name: str
    line: str  # what it is for
    kind: str  # of attention that uses it, alone or as a part
    query_axis: str
    key_axis: str
    keep: str  # a line of PyTorch that makes it as True = may attend, out of src, tgt, pad and T
    blocked: str  # as True = blocked
    additive: str  # as a number to add to the scores
    has_batch: bool = True  # whether it has a batch axis

    @property
    def axes(self) -> dict[str, str]:
        """The titles, as figures take them."""
        return {"query_axis": self.query_axis, "key_axis": self.key_axis}


def _padding(ids: str) -> dict[str, str]:
    keep = f"({ids} != pad)[:, None, :]"
    return {
        "keep": keep,
        "blocked": f"({ids} == pad)[:, None, :]",
        "additive": f"torch.where({keep}, 0.0, -torch.inf)",
    }


_BOTH = "(tgt != pad)[:, None, :] & torch.ones(T, T).tril().bool()"
_SOURCE = (message("source (query)"), message("source (key)"))
_TARGET = (message("target (query)"), message("target (key)"))
MASKS = {
    "encoder_self": MaskWords(
        message("Padding, source"),
        message("Encoder: every source token attends to all of the source but padding."),
        "encoder_self",
        *_SOURCE,
        **_padding("src"),
    ),
    "target_padding": MaskWords(
        message("Padding, target"),
        message("One part of the decoder's mask: no padding of the target."),
        "decoder_self",
        *_TARGET,
        **_padding("tgt"),
    ),
    "look_ahead": MaskWords(
        message("Look-ahead"),
        message("The other part: a step attends to itself and to what came before it, in every sentence."),
        "decoder_self",
        *_TARGET,
        keep="torch.ones(T, T).tril().bool()",
        blocked="torch.ones(T, T).triu(diagonal=1).bool()",
        additive="torch.full((T, T), -torch.inf).triu(diagonal=1)",
        has_batch=False,
    ),
    "decoder_self": MaskWords(
        message("Padding AND look-ahead"),
        message("Decoder: blue where both parts are blue."),
        "decoder_self",
        *_TARGET,
        keep=_BOTH,
        blocked="(tgt == pad)[:, None, :] | torch.ones(T, T).triu(diagonal=1).bool()",
        additive=f"torch.where({_BOTH}, 0.0, -torch.inf)",
    ),
    "cross": MaskWords(
        message("Cross"),
        message("Every step of the target attends to all of the source but padding."),
        "cross",
        _TARGET[0],
        _SOURCE[1],
        **_padding("src"),
    ),
}


@dataclass(frozen=True)
class ConventionWords:
    name: str
    users: str  # who reads a mask so
    apply: str  # a line of PyTorch that applies a broadcastable {mask} to scores (B, H, T, S), or to q, k and v


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
    """Two lines of PyTorch that make a mask (of MASKS) in a convention (of CONVENTIONS) and apply it.

    They start from src (B, S), tgt (B, T), pad, T, and q, k, v or scores.
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
    "The same mask four ways: colours say what it means, letters what the tensor holds. T is the length of tgt."
)

LEFT_OUT = {
    "nothing": message("nothing"),
    "padding": message("the padding mask"),
    "look-ahead": message("the look-ahead mask"),
    "both": message("both"),
}
NONE, PADDING, LOOK_AHEAD, BOTH = LEFT_OUT
WITHOUT = message("Leaves out the padding mask in encoder, decoder and cross-attention.")
CELLS = message("Opens blocked cells and blocks open ones, in all layers and heads, for this sentence.")
EFFECT = message(
    "Largest changes: {weight} for a weight in this map, {logit} for a logit at real steps. The likeliest next "
    "token changes at {n} of {total} steps."
)
UNCHANGED = message("Nothing is changed: leave a mask out, or click a cell under “Mask and head”.")

PADS = message("Appends {n} pads to source and target: the largest logit change at the sentence's real steps.")
LEAK = message(
    "Replaces the last token by <unk>: the largest logit change before the last step. Training on whole sentences "
    "needs 0."
)
NO_LEAK = message("The decoder reads only one token of this sentence: there is no earlier step. Type a longer target.")
NO_KEYS = message(
    "What if all keys of a query are blocked, as in a sentence of padding only? This head's first row, four ways:"
)
TREATMENTS = {
    "-inf": (message("−inf, then softmax"), message("NaN, which spreads through the whole sentence.")),
    "-1e9": (message("−1e9, then softmax"), message("A uniform row: padding and future included.")),
    "fused": (message("fused attention, boolean mask"), message("F.scaled_dot_product_attention of this PyTorch.")),
    "ours": (message("this project"), message("All zeros: nothing to attend to.")),
}


def number(value: float) -> str:
    """A number for a large label: 0 as it is, small ones with their power of ten."""
    return "0" if value == 0 else say("{x:.1e}" if abs(value) < 0.001 else "{x:.3f}", x=value)
