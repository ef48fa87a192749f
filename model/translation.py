"""The result of one translation: texts, tokens, every recorded array, and the maps that people ask for."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from model.architectures import Config
from model.decoding import Search
from model.errors import Phrase, Problem

KINDS = ("encoder_self", "decoder_self", "cross")
IN_WORDS = dict(zip(KINDS, (Phrase("encoder self"), Phrase("decoder self"), Phrase("cross"))))
MODULES = {  # by kind the stack and the module of its layers
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


def module_of(kind: str, layer: int) -> str:
    """The address of an attention module: "decoder.layers.0.cross_attention"."""
    stack, module = MODULES[kind]
    return f"{stack}.layers.{layer}.{module}"


@dataclass(frozen=True)
class Translation:
    """One translation and what the model computed for it.

    In the shapes below S counts source_tokens and T target_tokens.

    Attributes:
        source: the text that was translated, with white space and control characters tidied.
        text: the translation.
        source_tokens: what the encoder read, the end token last.
        target_tokens: what the decoder read, the start token first: the names of the rows of decoder and cross maps.
        predicted_tokens: what it predicted at each of these, the end token last unless the length limit came first.
        predicted_ids: their ids, of which a text may have several spellings.
        log_probabilities: (T,) float32, of each predicted token, in nats.
        finished: whether the translation ended by itself and not at the length limit.
        trace: every array recorded while the translation was written or read, by address, without the batch axis;
            float32, masks bool.
        search: the hypotheses and the search tree; None where the target was given.
        config: of the model.
    """

    source: str
    text: str
    source_tokens: list[str]
    target_tokens: list[str]
    predicted_tokens: list[str]
    predicted_ids: list[int] = field(repr=False)
    log_probabilities: np.ndarray
    finished: bool
    trace: Mapping[str, np.ndarray] = field(repr=False)
    search: Search | None = field(repr=False)
    config: Config = field(repr=False)

    def attention(self, kind: str) -> np.ndarray:
        """The attention weights of every layer and head.

        Args:
            kind: "encoder_self", "decoder_self" or "cross".

        Returns:
            float32 (layers, heads, queries, keys): (L, H, S, S), (L, H, T, T) or (L, H, T, S); rows sum to 1.

        Raises:
            ValueError: if the kind is another word, or the model has no such attention.
        """
        return np.stack([self.trace[f"{layer}.weights"] for layer in self.modules(kind)])

    def mask(self, kind: str) -> np.ndarray:
        """The mask that the model used, the same in every layer and head.

        Args:
            kind: "encoder_self", "decoder_self" or "cross".

        Returns:
            bool (queries, keys), True = may attend.

        Raises:
            ValueError: if the kind is another word, or the model has no such attention.
        """
        return self.trace[f"{self.modules(kind)[0]}.mask"][0]

    def positional(self, side: str) -> np.ndarray:
        """The positional encoding that was added to the embeddings.

        Args:
            side: "source" or "target".

        Returns:
            float32 (S, d_model) or (T, d_model).

        Raises:
            ValueError: if the side is another word, or the model has no positional encoding.
        """
        if side not in ("source", "target"):
            raise ValueError(f'the side is "source" or "target", got {side!r}')
        address = f"{'encoder' if side == 'source' else 'decoder'}.input.positions"
        if address not in self.trace:
            raise Problem("this model has no positional encoding: it reads word by word")
        return self.trace[address]

    def _repr_html_(self) -> str:
        """How a notebook shows it: both texts, and a table of the steps."""
        return _page_of(self)

    def modules(self, kind: str) -> list[str]:
        """The addresses of the attention modules of a kind, one a layer: "decoder.layers.0.cross_attention", ...

        Args:
            kind: "encoder_self", "decoder_self" or "cross".

        Raises:
            ValueError: if the kind is another word, or the model has no such attention.
        """
        if kind not in MODULES:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {kind!r}")
        stack, module = MODULES[kind]
        pattern = rf"({stack}\.(?:layers\.\d+\.)?{module})\.(?:weights|mask)"
        matches = (re.fullmatch(pattern, address) for address in self.trace)
        found = list(dict.fromkeys(match[1] for match in matches if match))
        if not found:
            raise Problem("this model has no {kind}-attention", kind=IN_WORDS[kind])
        return found


def as_array(value: torch.Tensor) -> np.ndarray:
    """A recorded tensor as float32, or bool where it is a mask."""
    return (value if value.dtype in (torch.bool, torch.float32) else value.float()).numpy()


_HEADS = ("step", "reads", "writes", "probability", "looks at most")


def _page_of(result: Translation) -> str:
    """A translation as HTML.

    Args:
        result: of any model.

    Returns:
        The source, the translation, and a table with a row per step: the token that it read, the one that it wrote with
        its probability, and the source token with the most cross-attention, mean over all layers and heads, where the
        model has such attention.
    """
    try:
        cross = result.attention("cross").mean(axis=(0, 1))  # (T, S)
    except ValueError:  # a recurrent network without attention
        cross = None
    rows = []
    steps = zip(result.target_tokens, result.predicted_tokens, np.exp(result.log_probabilities), strict=True)
    for step, (read, written, probability) in enumerate(steps):
        cells = [str(step), read, written, f"{probability:.1%}"]
        if cross is not None:
            key = int(cross[step].argmax())
            cells.append(f"{result.source_tokens[key]} ({cross[step, key]:.2f})")
        rows.append(_row(cells, "td"))
    head = _row(_HEADS if cross is not None else _HEADS[:-1], "th")
    return (
        f"<div><p>{html.escape(result.source)}</p><p><strong>{html.escape(result.text)}</strong></p>"
        f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(cells: list[str] | tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
