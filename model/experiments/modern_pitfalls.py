"""Mistakes with what came after 2017, each made in a trained language model by changing what passes its taps.

All run without an error; their effect shows in the next words.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from model import masks
from model.config import ADDED_POSITIONS, StackConfig
from model.language_model import LanguageModel
from model.relative import rotary_frequencies, rotate
from model.results.translation import module_of
from model.taps import Change, intervene
from model.transformer import Transformer

PADS = 32  # before the text, as beside one that is so much longer
MISTAKES: dict[str, Callable[[StackConfig], bool]] = {  # and which models they can be made in
    "layout": lambda config: config.positional.startswith("rotary"),
    "groups": lambda config: 1 < config.n_groups < config.n_heads,
    "padding": lambda config: config.positional in ADDED_POSITIONS and config.positional != "none",
    "offset": lambda config: config.positional in ADDED_POSITIONS[:2] or config.positional.startswith("rotary"),
    "alignment": lambda config: True,
}


@torch.inference_mode()
def next_logits(model: LanguageModel, ids: Tensor, mistake: str | None, n_prompt: int) -> Tensor:
    """The logits (V,) of the token after ids (T,), computed with a mistake of MISTAKES or, for None, correctly.

    The first n_prompt - 1 ids count as read at once, each of the others as a step with cached keys and values.
    """
    if mistake == "padding":
        return _left_padded(model, ids)
    with _making(model, mistake, n_prompt - 1, len(ids)):
        return model(ids[None])[0, -1]


def continue_greedily(
    model: LanguageModel, ids: Tensor, mistake: str | None, words: int, never: int | None = None
) -> list[int]:
    """The ids of the most probable words after ids (T,), one after the other; the id `never` is left out."""
    n_prompt = len(ids)
    output_ids = []
    for _ in range(min(words, model.config.max_length - n_prompt - PADS)):
        logits = next_logits(model, ids, mistake, n_prompt).clone()
        if never is not None:
            logits[never] = -torch.inf
        output_ids.append(int(logits.argmax()))
        ids = torch.cat([ids, torch.tensor(output_ids[-1:])])
    return output_ids


def _making(model: LanguageModel, mistake: str | None, start: int, length: int) -> AbstractContextManager[None]:
    """Make a mistake in every layer; tokens from `start` on are steps of their own."""
    config = model.config
    if mistake is None:
        return nullcontext()
    by_tap: dict[str, Change] = {}
    if mistake == "layout":
        by_tap = dict.fromkeys("qk", _other_layout(config.positional))
    elif mistake == "groups":
        by_tap = _wrong_groups(config)
    elif mistake == "alignment":

        def first_key_only(mask: Tensor) -> Tensor:  # (B, 1, T, S)
            mask = mask.clone()
            mask[:, :, start:] = torch.arange(mask.size(-1)) == 0
            return mask

        by_tap = {"mask": first_key_only}
    elif config.positional.startswith("rotary"):
        by_tap = dict.fromkeys("qk", _turned_back(config, start, length))
    else:

        def at_the_start(positions: Tensor) -> Tensor:  # (1, T, D)
            positions = positions.clone()
            positions[:, start:] = positions[:, :1]
            return positions

        return intervene({"decoder.input.positions": at_the_start})
    layers = range(config.n_layers)
    return intervene(
        {f"{module_of('decoder_self', i)}.{tap}": change for i in layers for tap, change in by_tap.items()}
    )


def _other_layout(positional: str) -> Change:
    """A change of q or k that turns as neighbours the pairs that were trained in halves, or the other way round.

    The model turns as it was trained, so the dimensions are put where the other layout would look for them: the scores
    are those of the wrong layout.
    """

    def to_halves(x: Tensor) -> Tensor:
        return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)

    def to_neighbours(x: Tensor) -> Tensor:
        return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)

    return to_halves if positional == "rotary_halves" else to_neighbours


def _wrong_groups(config: StackConfig) -> dict[str, Change]:
    """Keys and values repeated by `repeat`, not `repeat_interleave`: head h reads group h % G, not h // (H / G)."""
    heads = torch.arange(config.n_heads)
    order = torch.argsort(heads % config.n_groups, stable=True)  # the head that reads at each place
    back = torch.argsort(order)
    return {"q": lambda q: q[:, order], "context": lambda context: context[:, back]}


def _turned_back(config: StackConfig, start: int, length: int) -> Change:
    """A change of q or k that turns tokens from `start` on back, as if each stood at position 0."""
    angles = -torch.arange(start, length)[:, None] * rotary_frequencies(config.d_head, config.rotary_base)
    interleaved = config.positional == "rotary"

    def change(x: Tensor) -> Tensor:  # (B, H or G, T, K)
        cosine, sine = (table.to(x.dtype) for table in (angles.cos(), angles.sin()))
        return torch.cat([x[..., :start, :], rotate(x[..., start:, :], cosine, sine, interleaved)], dim=-2)

    return change


def _left_padded(model: LanguageModel, ids: Tensor) -> Tensor:
    """The logits (V,) after ids (T,) behind PADS pads, which the mask hides and the positions count."""
    padded = torch.cat([ids[:1].expand(PADS), ids])[None]
    real = (torch.arange(padded.size(1)) >= PADS)[None, None, None]  # (1, 1, 1, S)
    mask = masks.combine(masks.causal_mask(padded.size(1)), real)
    return model(padded, mask)[0, -1]


def causal_encoder(model: Transformer) -> AbstractContextManager[None]:
    """Give the encoder, which reads in both directions, a causal mask while the block runs."""

    def past_only(mask: Tensor) -> Tensor:  # (B, 1, T, S)
        return masks.combine(mask, masks.causal_mask(mask.size(-1)))

    layers = range(model.config.n_encoder_layers)
    return intervene({f"{module_of('encoder_self', i)}.mask": past_only for i in layers})
