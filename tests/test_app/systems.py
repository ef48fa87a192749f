"""Tiny checkpoints of the other systems, with random weights: what the pages Models and Language model are tried on."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from model.analysis import lengths
from model.config import GruConfig, LanguageModelConfig
from model.gru import GruModel
from model.language_model import LanguageModel
from model.storage import checkpoint
from model.text.special import EOS_ID, SPECIAL_TOKENS
from model.text.words import TextWords, WordTokenizer, WordTokenizers
from tests.test_app.conftest import CARD, SENTENCES, save_tiny

GERMAN, ENGLISH = SENTENCES[2:], SENTENCES[:2]
CARD_DE_EN = CARD | {"source": "de", "target": "en", "task": "translation de-en"}
BY_LENGTH = [
    vars(lengths.Group(words=5.5, shortest=4, longest=6, sentences=80, bleu=30.5, chrf=50.5)),
    vars(lengths.Group(words=7.6, shortest=7, longest=8, sentences=200, bleu=20.25, chrf=40.25)),
]
MEASURED = {"bleu": 25.0, "beam": 4, "signature": "tok:13a", "command": "python -m model evaluate --by-length"}
END = -4.0  # with it greedy search ends with attention, and goes on to the length limit without
TEXT = ["the cat sat on the mat .", "the well @-@ known cat , which <unk> , sat down .", "a dog ran ."]
LM_CARD = {"task": "language model", "parameters": 7_654, "data": {"toys": {"weight": 1.0}}, "scores": {}}


def sharpen(model: nn.Module, by: float) -> None:
    """Moves weights off what they start with, so that maps are not flat."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by * torch.randn_like(parameter))


def save_gru(folder: Path, attention: bool, card: dict = CARD_DE_EN) -> Path:
    """Writes a GRU from German to English that knows all words of SENTENCES but one; returns its folder."""
    german = WordTokenizer.train(GERMAN * 2, "de", 2, True)
    english = WordTokenizer.train(ENGLISH * 2, "en", 2, True)
    sizes = {"d_embedding": 9, "d_hidden": 14, "max_length": 60}
    config = GruConfig(
        source_vocab_size=len(german),
        target_vocab_size=len(english),
        attention=attention,
        bidirectional=attention,
        **sizes,
    )
    torch.manual_seed(3 + attention)
    model = GruModel(config)
    sharpen(model, 0.6)
    with torch.no_grad():
        model.decoder.output.bias[: len(SPECIAL_TOKENS)] = -20  # words only
        model.decoder.output.bias[EOS_ID] = END  # and an end, after some of them
    checkpoint.save(folder, model, WordTokenizers(german, english), card)
    return folder


def save_comparison(folder: Path) -> Path:
    """Writes a Transformer, a GRU and a GRU with attention from German to English; returns the folder of them."""
    save_tiny(folder / "c-transformer", card=CARD_DE_EN)
    save_gru(folder / "a-gru", attention=False)
    card = CARD_DE_EN | {"scores": {"toys/test": MEASURED | {lengths.KEY: BY_LENGTH}}}
    save_gru(folder / "b-gru-attention", attention=True, card=card)
    return folder


def save_all(folder: Path) -> Path:
    """Writes a checkpoint of every kind, so that every page has something to show; returns the folder of them."""
    save_tiny(folder / "en-de")
    save_comparison(folder)
    save_language_model(folder / "lm")
    return folder


def save_language_model(folder: Path, card: dict = LM_CARD, **changes) -> Path:
    """Writes a language model over the words of TEXT; returns its folder."""
    words = TextWords.train(TEXT)
    sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20, "max_length": 24} | changes
    torch.manual_seed(5)
    model = LanguageModel(LanguageModelConfig(vocab_size=len(words), **sizes))
    sharpen(model, 0.5)
    checkpoint.save(folder, model, words, card)
    return folder
