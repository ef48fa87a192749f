"""The masks of the page Masks, the lines of PyTorch that make them, and the sentences of its batch."""

from typing import NamedTuple

from model.translation import SIDES
from viz.text.language import message

PAIRS = (
    ("I am happy.", "Ich bin glücklich."),
    ("A man is riding a bicycle down the street.", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."),
    ("The dog sleeps under the table.", "Der Hund schläft unter dem Tisch."),
    ("Why?", "Warum?"),
)
QUERIES = {"source": message("source (query)"), "target": message("target (query)")}
KEYS = {"source": message("source (key)"), "target": message("target (key)")}


class MaskWords(NamedTuple):
    """What a mask is called, what it is for, and the attention that uses it, alone or as a part.

    Then expressions of PyTorch that make it as True = may attend and as True = blocked, out of src, tgt, pad and T.
    """

    name: str
    line: str
    kind: str
    keep: str
    blocked: str

    @property
    def axes(self) -> dict[str, str]:
        """The titles, as figures take them."""
        rows, columns = SIDES[self.kind]
        return {"query_axis": QUERIES[rows], "key_axis": KEYS[columns]}


_SOURCE = "(src != pad)[:, None, :]", "(src == pad)[:, None, :]"
_TARGET = "(tgt != pad)[:, None, :]", "(tgt == pad)[:, None, :]"
_PAST = "torch.ones(T, T).tril().bool()", "torch.ones(T, T).triu(diagonal=1).bool()"
MASKS = {
    "encoder_self": MaskWords(
        message("Padding, source"),
        message("Encoder: every source token attends to all of the source but padding."),
        "encoder_self",
        *_SOURCE,
    ),
    "target_padding": MaskWords(
        message("Padding, target"),
        message("One part of the decoder's mask: no padding of the target."),
        "decoder_self",
        *_TARGET,
    ),
    "look_ahead": MaskWords(
        message("Look-ahead"),
        message("The other part: a step attends to itself and to what came before it, in every sentence."),
        "decoder_self",
        *_PAST,
    ),
    "decoder_self": MaskWords(
        message("Padding AND look-ahead"),
        message("Decoder: blue where both parts are blue."),
        "decoder_self",
        f"{_TARGET[0]} & {_PAST[0]}",
        f"{_TARGET[1]} | {_PAST[1]}",
    ),
    "cross": MaskWords(
        message("Cross"),
        message("Every step of the target attends to all of the source but padding."),
        "cross",
        *_SOURCE,
    ),
}
# What each is called, who reads a mask so, and a line that applies a broadcastable one to scores, or to q, k and v.
CONVENTIONS = {
    "keep": (
        message("True = may attend"),
        message("F.scaled_dot_product_attention with a boolean mask, and this project."),
        "F.scaled_dot_product_attention(q, k, v, attn_mask={mask})",
    ),
    "blocked": (
        message("True = blocked"),
        message("nn.MultiheadAttention and nn.Transformer (attn_mask, key_padding_mask): the opposite."),
        "scores.masked_fill({mask}, -torch.inf)",
    ),
    "integers": (
        "1 / 0",
        message("attention_mask of many libraries: 1 is a real token, 0 padding."),
        "scores.masked_fill({mask} == 0, -torch.inf)",
    ),
    "additive": (
        "0 / -inf",
        message("Added to the scores, as generate_square_subsequent_mask makes it."),
        "scores + {mask}",
    ),
}


def code(mask: str, convention: str) -> str:
    """Two lines of PyTorch that make a mask in a convention and apply it to scores (B, H, T, S), or to q, k and v."""
    keep, blocked = MASKS[mask].keep, MASKS[mask].blocked
    made = {
        "keep": keep,
        "blocked": blocked,
        "integers": f"({keep}).long()" if "&" in keep else f"{keep}.long()",
        "additive": f"torch.where({keep}, 0.0, -torch.inf)",
    }[convention]
    # A mask with a batch axis needs one for the heads.
    applied = CONVENTIONS[convention][2].format(mask="mask" if mask == "look_ahead" else "mask[:, None]")
    return f"mask = {made}\n{applied}"
