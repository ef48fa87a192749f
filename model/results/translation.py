"""The result of one translation: texts, tokens, every recorded array, and the maps that people ask for."""

import html
import re
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import torch

from model.decoding import Search
from model.results.recording import KINDS, SIDES, Candidates, Recording
from model.text.errors import Phrase, Problem

__all__ = ["IN_WORDS", "KINDS", "MODULES", "SIDES", "Translation", "as_array", "module_of"]

MODULES = {  # the stack and the module of its layers
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
_STACKS = {"source": "encoder", "target": "decoder"}
IN_WORDS = dict(zip(KINDS, (Phrase("encoder self"), Phrase("decoder self"), Phrase("cross"))))


def module_of(kind: str, layer: int) -> str:
    """An address: "decoder.layers.0.cross_attention"."""
    stack, module = MODULES[kind]
    return f"{stack}.layers.{layer}.{module}"


class Description(Protocol):
    """A dataclass that says what a model is made of."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True)
class Translation:
    """One translation and what the model computed for it; S counts source_tokens and T target_tokens."""

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
    config: Description = field(repr=False)
    # By side, "source" or "target", which tokens are special whatever they look like, bool (tokens,): those of the
    # tokenizer of another model, and what its chat template writes.
    special: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict, kw_only=True)

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention that the model has."""
        return [kind for kind in KINDS if self._has(kind)]

    def attention(self, kind: str) -> np.ndarray:
        """The attention weights, float32 (layers, heads, queries, keys), of a kind of KINDS that the model has."""
        return np.stack([self.trace[f"{layer}.weights"] for layer in self.modules(kind)])

    def layers(self, kind: str) -> list[int]:
        """The number in the model of each layer of `attention(kind)`; some models have layers without attention."""
        numbers = [re.search(r"\.layers\.(\d+)\.", module) for module in self.modules(kind)]
        return [0 if number is None else int(number[1]) for number in numbers]

    def mask(self, kind: str) -> np.ndarray:
        """The mask of all heads, bool (queries, keys), True = may attend; (layers, queries, keys) if layers differ."""
        masks = np.stack([self.trace[f"{layer}.mask"][0] for layer in self.modules(kind)])
        return masks[0] if (masks == masks[0]).all() else masks

    def positional(self, side: str) -> np.ndarray:
        """The positional encoding that was added, float32: "source" (S, d_model) or "target" (T, d_model)."""
        if side not in ("source", "target"):
            raise ValueError(f'the side is "source" or "target", got {side!r}')
        address = f"{_STACKS[side]}.input.positions"
        if address not in self.trace:
            raise Problem("this model has no positional encoding: it reads word by word")
        return self.trace[address]

    def recording(self, candidates: Candidates | None = None, **model: object) -> Recording:
        """The parts that are data alone: all that the stage needs.

        Args:
            candidates: what could have been written at every step.
            model: what the model is, by name, beside its configuration.
        """
        kinds = self.kinds
        sides = [side for side, stack in _STACKS.items() if f"{stack}.input.positions" in self.trace]
        return Recording(
            list(self.source_tokens),
            list(self.target_tokens),
            {kind: self.attention(kind) for kind in kinds},
            {kind: self.mask(kind) for kind in kinds},
            list(self.predicted_tokens),
            self.text,
            self.log_probabilities if self.predicted_tokens else None,
            candidates,
            {side: self.positional(side) for side in sides},
            model=asdict(self.config) | model,
            special=self.special,
            layer_numbers={
                kind: numbers for kind in kinds if (numbers := self.layers(kind)) != list(range(len(numbers)))
            },
        )

    def _has(self, kind: str) -> bool:
        stack, module = MODULES[kind]
        return any(address.startswith(stack) and address.endswith(f"{module}.weights") for address in self.trace)

    def _repr_html_(self) -> str:
        """For a notebook: both texts, and a row per step, where it can be with the most attended source token."""
        heads = ["step", "reads", "writes", "probability"]
        if self.predicted_tokens:
            steps = zip(self.target_tokens, self.predicted_tokens, np.exp(self.log_probabilities), strict=True)
            rows = [[str(step), *tokens, f"{chance:.1%}"] for step, (*tokens, chance) in enumerate(steps)]
        else:
            heads = heads[:2]
            rows = [[str(step), token] for step, token in enumerate(self.target_tokens)]
        if any("cross_attention" in address for address in self.trace):
            heads.append("looks at most")
            for row, weights in zip(rows, self.attention("cross").mean(axis=(0, 1))):  # (S,)
                row.append(f"{self.source_tokens[weights.argmax()]} ({weights.max():.2f})")
        head = _row(heads, "th")
        body = [_row(cells, "td") for cells in rows]
        return (
            f"<div><p>{html.escape(self.source)}</p><p><strong>{html.escape(self.text)}</strong></p>"
            f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table></div>"
        )

    def modules(self, kind: str) -> list[str]:
        """The addresses of a kind's modules, one per layer."""
        if kind not in MODULES:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {kind!r}")
        stack, module = MODULES[kind]
        pattern = rf"({stack}\.(?:layers\.\d+\.)?{module})\.(?:weights|mask)"
        matches = (re.fullmatch(pattern, address) for address in self.trace)
        addresses = list(dict.fromkeys(match[1] for match in matches if match))
        if not addresses:
            raise Problem("this model has no {kind}-attention", kind=IN_WORDS[kind])
        return addresses


def as_array(value: torch.Tensor) -> np.ndarray:
    """A recorded tensor of any shape as float32, or bool where it is a mask."""
    return (value if value.dtype in (torch.bool, torch.float32) else value.float()).cpu().numpy()


def _row(cells: list[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
