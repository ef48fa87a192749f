"""Tiny models and sentences that the tests of the core share.

Every size is another number, so that a swapped axis cannot go unnoticed: B=2, H=3, K=4, T=5, S=7, D=12, V=17, F=20.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from model.config import TransformerConfig
from model.experiments.positions import changed_positions
from model.results.translation import Translation
from model.running.translator import Translator
from model.text.special import BOS_ID, PAD_ID
from model.transformer import Transformer

B, H, K, T, S, D, V, F = 2, 3, 4, 5, 7, 12, 17, 20
DTYPES = [torch.float64, torch.float32]

# Sentence 0 fills its row; sentence 1 ends early on both sides.
SRC = torch.tensor([[5, 6, 7, 8, 9, 10, 2], [11, 5, 12, 2, PAD_ID, PAD_ID, PAD_ID]])
TGT = torch.tensor([[BOS_ID, 13, 14, 5, 16], [BOS_ID, 6, 15, PAD_ID, PAD_ID]])
SRC_LENGTHS, TGT_LENGTHS = (7, 4), (5, 3)

# The choices that change which code runs, by name.
VARIANTS: dict[str, dict[str, Any]] = {
    "pre": {"norm": "pre"},
    "post": {"norm": "post", "final_norm": False},
    "pre-without-final-norm": {"norm": "pre", "final_norm": False, "positional": "sinusoidal_concatenated"},
    "post-with-final-norm": {"norm": "post", "final_norm": True, "activation": "gelu"},
    "paper": {"norm": "post", "final_norm": False, "attention_bias": False},
    "modern": {
        "positional": "rotary_halves",
        "norm_type": "rms",
        "qk_norm": True,
        "n_kv_heads": 1,
        "attention_window": 4,
        "gated": True,
        "activation": "swish",
        "attention_bias": False,
        "feed_forward_bias": False,
    },
    "biased": {"positional": "alibi", "attention_sink": True, "score_cap": 1.5},
    "buckets": {"positional": "buckets", "norm": "post", "norm_type": "rms"},
    "learned": {"positional": "learned", "n_kv_heads": 1},
    "untied": {"tie_embeddings": False, "output_bias": True, "scale_embedding": False, "activation": "swish"},
}


def tolerance(dtype: torch.dtype) -> float:
    """How near two ways to compute the same must be."""
    return 1e-10 if dtype == torch.float64 else 1e-5


def assert_near(actual: Tensor, expected: Tensor, within: float | None = None) -> None:
    """Two tensors of one shape and type agree to `within`, absolutely and relatively; by default as the type allows."""
    within = tolerance(expected.dtype) if within is None else within
    torch.testing.assert_close(actual.detach(), expected.detach(), rtol=within, atol=within)


def randomise(module: nn.Module, seed: int = 0) -> None:
    """Moves every parameter off the value it starts with: a bias that is 0 or a norm weight of 1 proves nothing."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_((0.2 * noise).to(parameter.dtype))


def tiny_config(**changes: Any) -> TransformerConfig:
    """A configuration of the sizes above."""
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "d_ff": F, "n_encoder_layers": 2, "n_decoder_layers": 2}
    return TransformerConfig(**(sizes | {"max_length": 16} | changes))


def tiny_model(dtype: torch.dtype = torch.float64, seed: int = 0, **changes: Any) -> Transformer:
    """A model of the sizes above with random parameters, in evaluation mode."""
    torch.manual_seed(seed)
    model = Transformer(tiny_config(**changes)).to(dtype)
    randomise(model, seed)
    return model.eval()


def write_folder(folder: Path, links: str, first: str = "das haus\nja .\n", second: str = "the house\nyes .\n") -> Path:
    """Writes a set of two linked pairs as it is distributed, with a byte-order mark before the first text."""
    folder.mkdir(exist_ok=True)
    (folder / "test.de").write_text("\ufeff" + first, encoding="utf-8")
    (folder / "test.en").write_text(second, encoding="utf-8")
    (folder / "de-en.ref.wa").write_text(links, encoding="utf-8")
    return folder


def translate_elsewhere(translator: Translator, text: str, *changes: Any) -> Translation:
    """Translates greedily with changed positional encodings: scale, shift, sides."""
    with changed_positions(translator.config.positional, *changes):
        return translator.translate(text, beam=1)
