"""Tiny models of transformers with random weights, and tokenizers for them, laid out as on the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers, processors

from tests.test_model.builders import randomise

WORDS = "the a cat dog sat ran on under mat tree and then slept".split()
SPECIAL = ["<pad>", "</s>", "<s>", "<unk>", "[CLS]", "[SEP]"]
VOCAB = [*SPECIAL, *WORDS]
TEXTS = ["the cat sat on the mat", "a dog ran"]
FRAMES = {"t5": "$A </s>", "bart": "<s> $A </s>", "gpt2": "$A", "bert": "[CLS] $A [SEP]", "marian": "$A </s>"}
IDS = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2}
BART = {
    "d_model": 12,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 1,
    "forced_eos_token_id": None,
}
# kind: class of the configuration, class of the model, sizes. Encoder and decoder differ where they can.
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"d_model": 12, "d_kv": 4, "num_heads": 3, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 3}
        | {"decoder_start_token_id": 0},
    ),
    "bart": ("BartConfig", "BartForConditionalGeneration", BART),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {"n_embd": 12, "n_head": 3, "n_layer": 2, "n_positions": 64}),
    "bert": (
        "BertConfig",
        "BertModel",
        {"hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 20},
    ),
    "marian": ("MarianConfig", "MarianMTModel", BART | {"decoder_start_token_id": 0, "decoder_vocab_size": len(VOCAB)}),
}


def tokenizer_of(kind: str) -> tokenizers.Tokenizer:
    """A tokenizer of whole words that adds the special tokens of a kind of model."""
    tokenizer = tokenizers.Tokenizer(models.WordLevel({word: i for i, word in enumerate(VOCAB)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [(token, VOCAB.index(token)) for token in SPECIAL]
    tokenizer.post_processor = processors.TemplateProcessing(single=FRAMES[kind], special_tokens=special)
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def theirs(kind: str, padding_side: str = "right") -> transformers.PreTrainedTokenizerFast:
    """The same as users of transformers hold it."""
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_of(kind), pad_token="<pad>", eos_token="</s>", padding_side=padding_side
    )


def model_of(kind: str, seed: int = 0, attention: str = "eager") -> Any:
    """A model with random weights, in evaluation mode."""
    config_class, model_class, sizes = KINDS[kind]
    config = getattr(transformers, config_class)(vocab_size=len(VOCAB), **IDS, **sizes)
    torch.manual_seed(seed)
    model = getattr(transformers, model_class)._from_config(config, attn_implementation=attention)
    randomise(model, seed)
    if kind in ("bart", "marian"):
        model.final_logits_bias[0, IDS["eos_token_id"]] = 1.5  # random models would hardly ever stop
    return model.eval()


def save_model(folder: Path, kind: str) -> Any:
    """Write a model and its tokenizer; returns the model."""
    model = model_of(kind)
    model.save_pretrained(folder)
    tokenizer_of(kind).save(str(folder / "tokenizer.json"))
    return model
