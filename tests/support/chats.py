"""A tiny language model whose tokenizer has a chat template, as instruct models have one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers

MARKS = ["<pad>", "<|im_start|>", "<|im_end|>"]
LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
# ChatML, with a system message of the template's own; a system message that comes later is refused.
TEMPLATE = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind<|im_end|>\n' }}{% endif %}"
    "{% for message in messages %}"
    "{% if message['role'] == 'system' and not loop.first %}{{ raise_exception('System message first') }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def tokenizer_of(template: str | None = TEMPLATE) -> Any:
    """A tokenizer whose tokens are bytes and the marks of turns."""
    vocabulary = {token: index for index, token in enumerate([*MARKS, *LETTERS])}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(MARKS)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=MARKS[0], eos_token=MARKS[2], chat_template=template
    )


def model_of(implementation: str | None = None) -> Any:
    """A tiny Llama with random weights, the same each time."""
    config = transformers.LlamaConfig(
        vocab_size=len(MARKS) + len(LETTERS),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=256,
        pad_token_id=0,
        eos_token_id=2,
        attn_implementation=implementation,
    )
    torch.manual_seed(3)
    return transformers.LlamaForCausalLM(config).eval()


def save(folder: Path, template: str | None = TEMPLATE) -> Path:
    """Write model and tokenizer into a folder; returns it."""
    model_of().save_pretrained(folder)
    tokenizer_of(template).save_pretrained(folder)
    return folder
