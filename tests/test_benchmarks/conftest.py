"""A tiny checkpoint with random weights for all benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.common import sentences
from model.config import TransformerConfig
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer

SIZES = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 32, "max_length": 100}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; it has the name that the app starts with."""
    folder = tmp_path_factory.mktemp("checkpoints") / "en-de"
    tokenizer = Tokenizer.train(list(sentences())[:50], vocab_size=400, alphabet_size=40)
    torch.manual_seed(3)
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **SIZES))
    checkpoint.save(folder, model, tokenizer, {"task": "test", "parameters": 1, "source": "en", "target": "de"})
    return folder
