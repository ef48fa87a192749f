"""Checkpoints of small random models that the engine and Python both open, and changes to what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from model.config import LanguageModelConfig, TransformerConfig
from model.interventions.edits import Cell, Edits, Force, Head
from model.language_model import LanguageModel
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.text.words import TextWords
from model.transformer import Transformer
from tests.test_model.builders import randomise

SENTENCES = ["Two young men walk on the street.", "The animal was too tired.", "Zwei Männer gehen über die Straße."]
TEXT = "Two men walk on the street."
SIZES = {"d_model": 36, "n_heads": 6, "d_ff": 50, "n_encoder_layers": 2, "n_decoder_layers": 3, "max_length": 90}
ODD = {"without-positions": {"positional": "none"}, "heads-of-five": {"d_model": 30, "n_heads": 6}}
MIXED = Edits(
    off=(Head("encoder_self", 1, 0), Head("cross", 0, 2)),
    uniform=(Head("decoder_self", 2, 1), Head("cross", 1, 0), Head("encoder_self", 0, 2)),
    forced=(
        Force(2, 3, 0.7),
        Force(3, 1, 1.0, ((0, 1), (1, 2))),
        Force(1, 3, 0.4, (), "encoder_self"),
        Force(3, 1, 0.6, (), "decoder_self"),
    ),
    cells=(
        Cell("cross", 1, 0, False),
        Cell("decoder_self", 3, 1, False),
        Cell("encoder_self", 2, 4, False),
        *(Cell("decoder_self", 2, key, False) for key in range(3)),  # a row that may attend to nothing
        Cell("decoder_self", 1, 3, True),  # the future
    ),
)
WRITERS = {
    "post": {"norm": "post"},
    "pre": {"norm": "pre", "final_norm": True, "tie_embeddings": True, "positional": "rotary"},
    "adaptive": {"cutoffs": (5, 11), "init": "normal"},
}


def save(folder: Path, config: dict[str, Any], weight_type: torch.dtype = torch.float16) -> Path:
    """A checkpoint of a random model."""
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=350, alphabet_size=40)
    torch.manual_seed(3)
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **(SIZES | config)))
    randomise(model)
    checkpoint.save(folder, model, tokenizer, {"task": "test", "parameters": 1}, weight_type)
    return folder


def save_writer(folder: Path, name: str) -> Path:
    """A checkpoint of a random language model, one of WRITERS."""
    words = TextWords.train(["the game of a million players was great", "it 's a @-@ b , is n't it ?"])
    sizes = {"d_model": 20, "n_heads": 2, "d_ff": 30, "n_layers": 3, "max_length": 60}
    model = LanguageModel(LanguageModelConfig(vocab_size=len(words), **sizes, **WRITERS[name]))
    randomise(model)
    checkpoint.save(folder, model, words, {"task": "test", "parameters": 1})
    return folder
