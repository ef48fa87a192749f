"""The result of one translation: texts, tokens, every recorded array, and the maps that people ask for."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from model.config import Config
from model.decoding import Search
from model.errors import Phrase, Problem

KINDS = ("encoder_self", "decoder_self", "cross")
IN_WORDS = dict(zip(KINDS, (Phrase("encoder self"), Phrase("decoder self"), Phrase("cross"))))
MODULES = {  # by kind the stack and the module of its layers
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
SIDES = {  # by kind the line that the rows (queries) and the line that the columns (keys) are tokens of
    "encoder_self": ("source", "source"),
    "decoder_self": ("target", "target"),
    "cross": ("target", "source"),
}


def module_of(kind: str, layer: int) -> str:
    """The address of an attention module: "decoder.layers.0.cross_attention"."""
    stack, module = MODULES[kind]
    return f"{stack}.layers.{layer}.{module}"


@dataclass(frozen=True)
class Translation:
    """One translation and what the model computed for it; below S counts source_tokens and T target_tokens."""

    source: str  # tidied
    text: str
    source_tokens: list[str]  # what the encoder read, the end token last
    target_tokens: list[str]  # what the decoder read, the start token first: the rows of decoder and cross maps
    predicted_tokens: list[str]  # at each of these, the end token last unless the length limit came first
    predicted_ids: list[int] = field(repr=False)  # a text may have several spellings
    log_probabilities: np.ndarray  # (T,) float32, of each predicted token, in nats
    finished: bool  # by itself and not at the length limit
    trace: Mapping[str, np.ndarray] = field(repr=False)  # by address, without the batch axis; float32, masks bool
    search: Search | None = field(repr=False)  # None where the target was given
    config: Config = field(repr=False)

    def attention(self, kind: str) -> np.ndarray:
        """The attention weights, float32 (layers, heads, queries, keys): (L, H, S, S), (L, H, T, T) or (L, H, T, S).

        Raises:
            ValueError: if the kind is not one of KINDS, or the model has no such attention.
        """
        return np.stack([self.trace[f"{layer}.weights"] for layer in self.modules(kind)])

    def mask(self, kind: str) -> np.ndarray:
        """The mask of every layer and head, bool (queries, keys), True = may attend; errors as of `attention`."""
        return self.trace[f"{self.modules(kind)[0]}.mask"][0]

    def positional(self, side: str) -> np.ndarray:
        """The positional encoding that was added, float32 (S, d_model) of the "source" or (T, d_model) of the "target".

        Raises:
            ValueError: if the side is another word, or the model has none.
        """
        if side not in ("source", "target"):
            raise ValueError(f'the side is "source" or "target", got {side!r}')
        address = f"{'encoder' if side == 'source' else 'decoder'}.input.positions"
        if address not in self.trace:
            raise Problem("this model has no positional encoding: it reads word by word")
        return self.trace[address]

    def _repr_html_(self) -> str:
        """For a notebook: both texts, and a row per step: what it read and wrote, with its probability.

        Where the model has cross-attention also the source token with most of it, mean over all layers and heads.
        """
        try:
            cross = self.attention("cross").mean(axis=(0, 1))  # (T, S)
        except ValueError:  # a recurrent network without attention
            cross = None
        rows = []
        steps = zip(self.target_tokens, self.predicted_tokens, np.exp(self.log_probabilities), strict=True)
        for step, (read, written, probability) in enumerate(steps):
            cells = [str(step), read, written, f"{probability:.1%}"]
            if cross is not None:
                key = int(cross[step].argmax())
                cells.append(f"{self.source_tokens[key]} ({cross[step, key]:.2f})")
            rows.append(_row(cells, "td"))
        head = _row(_HEADS if cross is not None else _HEADS[:-1], "th")
        return (
            f"<div><p>{html.escape(self.source)}</p><p><strong>{html.escape(self.text)}</strong></p>"
            f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table></div>"
        )

    def modules(self, kind: str) -> list[str]:
        """The modules of a kind, one per layer: "decoder.layers.0.cross_attention", ...; errors as of `attention`."""
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


def _row(cells: list[str] | tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
