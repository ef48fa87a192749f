"""Writing token by token with a cache: greedily, with a beam, or drawn."""

from collections.abc import Mapping
from typing import Any, Unpack

import torch
from torch import Tensor

from model.adapters.readers.reading import no_words
from model.decoding.protocol import between_steps, check_logits
from model.decoding.sampling import Chance, restrict

MAX_BEAM = 16


@torch.inference_mode()
def continuation(
    model: Any,
    inputs: Mapping[str, Tensor],
    tokens: int,
    beam: int = 1,
    seed: int | None = None,
    **chance: Unpack[Chance],
) -> list[int]:
    """The ids of a decoder with what it writes after them: of an encoder-decoder, the start token first.

    Args:
        inputs: what the model reads, a batch of one.
        tokens: the most that are written; fewer if the model ends by itself.
        beam: width of the search; 1 is greedy.
        seed: where one is given, each token is drawn, and one seed gives one result.
        chance: what is drawn from, as for `model.decoding.sampling.restrict`.

    Raises:
        ValueError: for a value that is not allowed.
    """
    if not model.can_generate():
        raise no_words()
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, got {tokens}")
    if not 1 <= beam <= MAX_BEAM:
        raise ValueError(f"the beam width must be from 1 to {MAX_BEAM}, got {beam}")
    if chance and seed is None:
        raise ValueError(f"{', '.join(chance)} is for drawing: give a seed")
    if beam > 1 and seed is not None:
        raise ValueError("a beam searches for the best text and draws nothing: give a seed or a beam, not both")
    ids = model.generate(
        **inputs,
        max_new_tokens=tokens,
        num_beams=beam,
        do_sample=False,
        use_cache=True,
        logits_processor=[_EachStep(seed, chance)],
        pad_token_id=_padding(model),
        **_cache(model),
    )
    return ids[0].tolist()


class _EachStep:
    """What happens between two steps: others may compute, and where a seed is given a token is drawn.

    The library's own sampling draws from a generator that all threads share.
    """

    def __init__(self, seed: int | None, chance: Chance) -> None:
        self.generator = None if seed is None else torch.Generator().manual_seed(seed)
        self.chance = chance

    def __call__(self, input_ids: Tensor, logits: Tensor) -> Tensor:
        """The logits (B, V); where a token is drawn it alone can be chosen."""
        between_steps()
        check_logits(logits)
        if self.generator is None:
            return logits
        probabilities = restrict(logits, **self.chance)  # (B, V)
        tokens = torch.multinomial(probabilities.cpu(), 1, generator=self.generator).to(logits.device)
        return torch.full_like(logits, -torch.inf).scatter(1, tokens, 0.0)


def _padding(model: Any) -> int:
    config = model.generation_config
    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    candidates = (index for index in (config.pad_token_id, *ends) if index is not None)
    return next(candidates, 0)


def _cache(model: Any) -> dict[str, Any]:
    """A cache that keeps what lies behind a sliding window, too, so that keys keep their places; masks hide it.

    That of an encoder-decoder grows with its layers: the library's own is as deep as the encoder.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer, EncoderDecoderCache

    if model.config.is_encoder_decoder:
        return {"past_key_values": EncoderDecoderCache(DynamicCache(), DynamicCache())}
    if not model._supports_default_dynamic_cache():
        return {}
    cache = DynamicCache(config=model.config)
    cache.layers = [DynamicLayer() if isinstance(layer, DynamicSlidingWindowLayer) else layer for layer in cache.layers]
    return {"past_key_values": cache}
