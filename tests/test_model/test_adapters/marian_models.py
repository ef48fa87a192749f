"""Marian checkpoints with random weights, made with transformers and laid out as on the hub."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tokenizers
import torch
from tokenizers import models, trainers

from tests.test_model.builders import randomise

if TYPE_CHECKING:
    from transformers import MarianMTModel

ENGLISH = [
    "The animal didn't cross the street because it was too tired.",
    "A man is riding a bicycle down the street.",
    "Two dogs run across the green meadow, and the cat looks at them.",
]
GERMAN = [
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
    "Zwei Hunde laufen über die grüne Wiese, und die Katze sieht sie an.",
]
CODE = ">>deu<<"
# Every size is another number. The heads are few and the layers differ in the second; the third is not shared.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"d_model": 12, "encoder_attention_heads": 3, "encoder_ffn_dim": 20},
    "uneven": {
        "d_model": 16,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "encoder_layers": 3,
        "decoder_layers": 1,
        "scale_embedding": False,
        "activation_function": "relu",
    },
    "not-shared": {
        "d_model": 24,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 28,
        "encoder_layers": 1,
        "decoder_layers": 3,
        "share_encoder_decoder_embeddings": False,
        "activation_function": "gelu",
    },
}


def pieces_of(texts: list[str], size: int = 90) -> list[tuple[str, float]]:
    """Unigram pieces of some texts with their log-probabilities, the unknown one first."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False, max_piece_length=8
    )
    # Words apart, so that no piece reaches over a space, as SentencePiece trains them.
    words = ["▁" + word for text in texts for word in text.split()]
    tokenizer.train_from_iterator(words, trainer)
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


def compiled(replacements: Mapping[str, str]) -> bytes:
    """A table of characters as SentencePiece compiles it: a double array (darts-clone) and the texts it points to."""
    texts, starts = b"", {}
    for key, value in replacements.items():
        starts[key.encode()] = len(texts)
        texts += value.encode() + b"\0"
    units = [0] * 4096
    occupied, bases = {0}, {0}

    def place(prefix: bytes, node: int) -> None:
        below = sorted({key[len(prefix)] for key in starts if key.startswith(prefix) and len(key) > len(prefix)})
        labels = [*([0] if prefix in starts else []), *below]
        # No two nodes share a base: the children of one would be those of the other.
        base = next(b for b in range(4096) if b not in bases and not any((b ^ label) in occupied for label in labels))
        bases.add(base)
        occupied.update(base ^ label for label in labels)
        units[node] |= (node ^ base) << 10 | (256 if prefix in starts else 0)
        if prefix in starts:
            units[base] = 1 << 31 | starts[prefix]
        for label in below:
            units[base ^ label] |= label
        for label in below:
            place(prefix + bytes([label]), base ^ label)

    place(b"", 0)
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + texts


REPLACEMENTS = {"\t": " ", "\u00a0": " ", "ﬁ": "fi", "u\u0308": "ü", "…": "...", "\u200b": ""}


def write_sentencepiece(path: Path, pieces: list[tuple[str, float]], **changes: Any) -> None:
    """A SentencePiece model file; changes are of its trainer and its normaliser."""
    from transformers.convert_slow_tokenizer import import_protobuf

    proto = import_protobuf().ModelProto()
    for number, (piece, score) in enumerate([*pieces[:1], ("<s>", 0.0), ("</s>", 0.0), *pieces[1:]]):
        kind = 2 if number == 0 else 3 if number < 3 else 1
        proto.pieces.add(piece=piece, score=score, type=kind)
    proto.trainer_spec.model_type = 1
    proto.normalizer_spec.precompiled_charsmap = compiled(REPLACEMENTS)
    for name, value in changes.items():
        spec = proto.trainer_spec if hasattr(proto.trainer_spec, name) else proto.normalizer_spec
        setattr(spec, name, value)
    path.write_bytes(proto.SerializeToString())


@torch.no_grad()
def marian_model(vocab_size: int, seed: int = 0, **sizes: Any) -> MarianMTModel:
    """A MarianMT with random weights, in evaluation mode, with eager attention."""
    from transformers import MarianConfig, MarianMTModel  # takes seconds, which what is collected only need not wait

    values = {
        "vocab_size": vocab_size,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_position_embeddings": 64,
        "activation_function": "swish",
        "scale_embedding": True,
        "pad_token_id": vocab_size - 1,
        "decoder_start_token_id": vocab_size - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
    } | sizes
    values.setdefault("decoder_attention_heads", values["encoder_attention_heads"])
    values.setdefault("decoder_ffn_dim", values["encoder_ffn_dim"])
    torch.manual_seed(seed)
    model = MarianMTModel._from_config(MarianConfig(**values), attn_implementation="eager")
    randomise(model, seed)
    for side in (model.get_encoder(), model.get_decoder()):
        side.embed_positions.weight.copy_(side.embed_positions.create_weight())  # computed, not learned
    generator = torch.Generator().manual_seed(seed)
    model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape, generator=generator))
    return model.eval()


def save_marian(folder: Path, seed: int = 0, **sizes: Any) -> MarianMTModel:
    """Write a checkpoint as on the hub.

    Args:
        folder: for the files.
        seed: of the weights.
        sizes: of MarianConfig, where they are not those of `marian_model`.

    Returns:
        The model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    english, german = pieces_of(ENGLISH), pieces_of(GERMAN)
    write_sentencepiece(folder / "source.spm", english)
    write_sentencepiece(folder / "target.spm", german)
    # One token of the source is in no vocabulary, and one of the target that the source lacks is.
    names = [piece for piece, _ in [*english[1:-1], *german[1:]]]
    tokens = ["</s>", "<unk>", *dict.fromkeys(names), CODE, "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), "utf-8")
    values = {"source_lang": "en", "target_lang": "de", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(values), "utf-8")
    model = marian_model(len(tokens), seed, **(SIZES["small"] | sizes))
    model.save_pretrained(folder)
    return model
