"""Models of other libraries in exactly our sizes, with random weights: what the benchmarks compare with."""

from __future__ import annotations

from typing import Any

from model.config import TransformerConfig
from model.text.special import EOS_ID, PAD_ID


def random_marian(config: TransformerConfig) -> Any:
    """Hugging Face MarianMT of the sizes of a configuration.

    Args:
        config: whose layers, widths, heads, vocabulary, positions and tied embeddings are taken. Marian's norms come
            after the sublayers, and it has no norm at the end of a stack.

    Returns:
        The MarianMTModel in evaluation mode, with eager attention (the only kind that hands out its weights).
    """
    from transformers import MarianConfig, MarianMTModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    model = MarianMTModel._from_config(
        MarianConfig(
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.n_encoder_layers,
            decoder_layers=config.n_decoder_layers,
            encoder_attention_heads=config.n_heads,
            decoder_attention_heads=config.n_heads,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            activation_function=config.activation,
            max_position_embeddings=config.max_length,
            scale_embedding=config.scale_embedding,
            share_encoder_decoder_embeddings=config.tie_embeddings,
            tie_word_embeddings=config.tie_embeddings,
            pad_token_id=PAD_ID,
            decoder_start_token_id=PAD_ID,
            eos_token_id=EOS_ID,
            forced_eos_token_id=EOS_ID,
        ),
        attn_implementation="eager",
    )
    return model.eval()
