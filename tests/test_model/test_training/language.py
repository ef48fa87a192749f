"""A made-up pair of languages in the folder layout of Multi30k, and tiny models to learn it.

A "German" sentence says the words of the "English" one in German and backwards: to be learnt only from the source.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from model.config import TransformerConfig
from model.text.special import BYTE_TOKENS, SPECIAL_TOKENS
from model.text.subwords import Tokenizer
from model.training.config import RunConfig, TrainingConfig

WORDS = {"house": "haus", "mouse": "maus", "green": "grün", "sings": "singt", "bread": "brot", "water": "wasser"}
# Special, byte and character entries of a trained tokenizer take 420.
VOCAB_SIZE = 460


def sentence_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """So many different sentences of 2 to 6 words and their translations."""
    rng = random.Random(seed)
    sentences: dict[str, str] = {}
    while len(sentences) < count:
        words = rng.choices(sorted(WORDS), k=rng.randint(2, 6))
        sentences[" ".join(words)] = " ".join(WORDS[word] for word in reversed(words))
    return list(sentences.items())


def write_gz(path: Path, lines: list[str]) -> None:
    """Writes lines, gzip-compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))


def write_multi30k(data_dir: Path, train: int = 300, valid: int = 20) -> None:
    """Writes train and val files of the made-up languages."""
    pairs = sentence_pairs(train + valid, seed=1)
    for name, part in (("train", pairs[:train]), ("val", pairs[train:])):
        write_gz(data_dir / "multi30k" / f"{name}.en.gz", [source for source, _ in part])
        write_gz(data_dir / "multi30k" / f"{name}.de.gz", [target for _, target in part])


def write_two_corpora(folder: Path, data_dir: Path, second: list[str]) -> Path:
    """Makes the folder one of two corpora, the made-up languages as multi30k and lines of their own as tatoeba."""
    (folder / "multi30k").symlink_to(data_dir / "multi30k", target_is_directory=True)
    for split in ("train", "valid"):
        write_gz(folder / "tatoeba-de-en" / f"{split}.tsv.gz", second)
    return folder


def small_tokenizer() -> Tokenizer:
    """A tokenizer with some merges, trained on the made-up languages."""
    return Tokenizer.train((text for pair in sentence_pairs(100, seed=2) for text in pair), VOCAB_SIZE)


def toy_tokenizer(*merges: tuple[str, str]) -> Tokenizer:
    """A tokenizer over a, b, c, d with these merges, first first; a+b and ab+c if none is given."""
    merges = merges or (("a", "b"), ("ab", "c"))
    tokens = [*SPECIAL_TOKENS, *BYTE_TOKENS, *"abcd", *map("".join, merges)]
    vocab = {token: index for index, token in enumerate(tokens)}
    return Tokenizer.from_json(json.dumps({"model": {"vocab": vocab, "merges": merges}}))


def tiny_run(model: dict[str, Any] | None = None, **training: Any) -> RunConfig:
    """A run of seconds: one layer each, every kind of noise on unless said otherwise."""
    sizes = {"d_model": 32, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 64, "max_length": 64}
    values: dict[str, Any] = {
        "data": "multi30k",
        "steps": 30,
        "batch_tokens": 600,
        "max_length": 40,
        "learning_rate": 1.0,
        "warmup": 20,
        "bpe_dropout": 0.1,
        "bpe_dropout_target": 0.1,
        "typo_rate": 0.1,
        "join_rate": 0.1,
        "average_last": 3,
        "average_every": 5,
        "validate_every": 1000,
        "validation_pairs": 8,
    }
    return RunConfig(
        model=TransformerConfig(**({"vocab_size": VOCAB_SIZE, **sizes} | (model or {}))),
        training=TrainingConfig(**(values | training)),
    )
