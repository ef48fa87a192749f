"""MarianMT of Hugging Face into a checkpoint of ours: the same numbers in a model whose every step can be seen.

Marian (Junczys-Dowmunt et al. 2018) starts a target with the padding token. Here padding is masked, so the start token
gets an id of its own and a copy of the padding token's embedding. It can never be written: its bias says so.
"""

from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from model.adapters.files.hub import CONFIG, fetch, load_network
from model.config import TransformerConfig
from model.storage import checkpoint
from model.text.pieces import PieceTokenizer, PieceTokenizers
from model.text.special import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS
from model.transformer import Transformer

VOCABULARY = "vocab.json"
SENTENCEPIECE = ("source.spm", "target.spm")
ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu"}
MAX_SENTENCEPIECE = 20_000_000  # bytes
NEVER = -1000.0  # bias of the start token: its probability is 0, also in float64
AGREEMENT = 1e-3  # logits further apart than that, in float32, are not those of the same model

_SIZES = {
    "vocab_size": "vocab_size",
    "d_model": "d_model",
    "n_encoder_layers": "encoder_layers",
    "n_decoder_layers": "decoder_layers",
    "n_heads": "encoder_attention_heads",
    "d_ff": "encoder_ffn_dim",
    "max_length": "max_position_embeddings",
}
# What of the configuration is handed to the library: sizes and ids, nothing that could choose code.
_READ = (
    *_SIZES.values(),
    *("decoder_attention_heads", "decoder_ffn_dim", "decoder_vocab_size", "activation_function", "scale_embedding"),
    *("share_encoder_decoder_embeddings", "tie_word_embeddings"),
    *("pad_token_id", "eos_token_id", "decoder_start_token_id"),
)
_LAYER = {"feed_forward.inner": "fc1", "feed_forward.outer": "fc2", "residual_ff.norm": "final_layer_norm"}
_PARTS = {f"{x}_projection": f"{x}_proj" for x in "qkv"} | {"output_projection": "out_proj"}
for _ours, _theirs in (("self", "self_attn"), ("cross", "encoder_attn")):
    _LAYER |= {f"{_ours}_attention.{ours}": f"{_theirs}.{theirs}" for ours, theirs in _PARTS.items()}
    _LAYER[f"residual_{_ours}.norm"] = f"{_theirs}_layer_norm"


def import_marian(name: str, out: Path, revision: str | None = None, command: str = "") -> dict[str, Any]:
    """Convert a MarianMT checkpoint, a folder or a name on the Hugging Face hub, and check that it computes the same.

    The card's "difference" is the largest one between the logits of both models on random tokens.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} is there already: name a new folder with --out")
    folder = fetch(name, revision)
    values = checkpoint.read_json(folder / CONFIG)
    config = _config(folder / CONFIG, values)
    vocabulary = _vocabulary(folder / VOCABULARY, values["vocab_size"])
    order = _order(folder, values, vocabulary)
    tokenizer = _tokenizer(folder, vocabulary, order)
    settings = {name: values[name] for name in _READ if name in values}
    theirs = load_network(folder, "MarianMTModel", settings)
    model = convert(theirs, config, order)
    languages = _languages(folder)
    lossless = all(torch.equal(value.half().float(), value) for value in model.parameters())  # as most published ones
    card = {
        "task": " ".join(["translation", "-".join(languages.values())]).strip(),
        **languages,
        "converted_from": f"{name}@{revision}" if revision else name,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "command": command,
        "difference": _difference(theirs, model, order),
    }
    checkpoint.save(out, model, tokenizer, card, torch.float16 if lossless else torch.float32)
    return card


def convert(theirs: Any, config: TransformerConfig, order: list[int]) -> Transformer:
    """Copy a MarianMTModel; `order` has the id there of each of our ids."""
    state = {key: value.float() for key, value in theirs.state_dict().items()}
    model = Transformer(config)
    embeddings = theirs.get_decoder().embed_tokens.weight
    outputs = theirs.get_output_embeddings().weight
    with torch.no_grad():
        cast(nn.Embedding, model.encoder.input.embedding).weight.copy_(theirs.get_encoder().embed_tokens.weight[order])
        cast(nn.Embedding, model.decoder.input.embedding).weight.copy_(embeddings[order])
        model.output.weight.copy_(outputs[order])
        model.output.bias.copy_(state["final_logits_bias"][0, order])
        model.output.bias[BOS_ID] = NEVER
        for side in ("encoder", "decoder"):
            for name, parameter in getattr(model, side).layers.named_parameters():  # "0.feed_forward.inner.weight"
                i, *module, part = name.split(".")
                parameter.copy_(state[f"model.{side}.layers.{i}.{_LAYER['.'.join(module)]}.{part}"])
    return model.eval()


def _config(path: Path, values: dict[str, Any]) -> TransformerConfig:
    if values.get("model_type") != "marian":
        raise ValueError(f"{path}: the model is of type {values.get('model_type')!r}, not 'marian'")
    for mine in ("decoder_attention_heads", "decoder_ffn_dim"):
        encoder_name = mine.replace("decoder", "encoder")
        if values.get(mine) != values.get(encoder_name):
            raise ValueError(f"{path}: {mine} ({values.get(mine)}) must be {encoder_name} ({values.get(encoder_name)})")
    if (values.get("decoder_vocab_size") or values.get("vocab_size")) != values.get("vocab_size"):
        raise ValueError(f"{path}: source and target have two vocabularies; only one for both can be converted")
    activation = values.get("activation_function")
    if activation not in tuple(ACTIVATIONS):  # a list can be compared, not looked up
        raise ValueError(f"{path}: activation_function must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    sizes = {ours: values.get(theirs) for ours, theirs in _SIZES.items()}
    tied = ("share_encoder_decoder_embeddings", "tie_word_embeddings")
    choices = {
        "norm": "post",
        "final_norm": False,
        "activation": ACTIVATIONS[activation],
        "positional": "sinusoidal_concatenated",
        "scale_embedding": values.get("scale_embedding", False),
        "tie_embeddings": all(values.get(name, True) is True for name in tied),
        "output_bias": True,
        "dropout": values.get("dropout", 0.1),
    }
    try:
        config = TransformerConfig.from_dict(sizes | choices)
        config = config.with_vocabularies(config.vocab_size + 1, config.vocab_size + 1)
        config.check_loadable()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return config


def _vocabulary(path: Path, size: int) -> list[str]:
    ids = checkpoint.read_json(path)
    if not all(type(index) is int for index in ids.values()) or sorted(ids.values()) != list(range(size)):
        raise ValueError(f"{path} must give each of the {size:,} ids of the model to one token")
    return sorted(ids, key=ids.__getitem__)


def _order(folder: Path, values: dict[str, Any], vocabulary: list[str]) -> list[int]:
    """For each of our ids the id there: the special tokens first."""
    special = [SPECIAL_TOKENS[PAD_ID if index == BOS_ID else index] for index in range(len(SPECIAL_TOKENS))]
    if missing := [token for token in special if token not in vocabulary]:
        raise ValueError(f"{folder / VOCABULARY}: the token {missing[0]!r} is missing")
    first = [vocabulary.index(token) for token in special]
    for key, place in (("pad_token_id", PAD_ID), ("eos_token_id", EOS_ID), ("decoder_start_token_id", BOS_ID)):
        if values.get(key) != first[place]:
            right = f"must be {first[place]}, the id of {special[place]!r}"
            raise ValueError(f"{folder / CONFIG}: {key} {right}, got {values.get(key)!r}")
    return [*first, *(index for index in range(len(vocabulary)) if index not in first)]


def _tokenizer(folder: Path, vocabulary: list[str], order: list[int]) -> PieceTokenizers:
    tokens = [*SPECIAL_TOKENS, *(vocabulary[index] for index in order[len(SPECIAL_TOKENS) :])]
    sides = []
    for path in (folder / name for name in SENTENCEPIECE):
        model = checkpoint.check_file(path, MAX_SENTENCEPIECE).read_bytes()
        try:
            sides.append(PieceTokenizer(tokens, model))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return PieceTokenizers(*sides)


@torch.no_grad()
def _difference(theirs: Any, ours: Transformer, order: list[int]) -> float:
    generator = torch.Generator().manual_seed(0)
    size = min(9, ours.config.max_length)
    src, tgt = torch.randint(EOS_ID, len(order), (2, 1, size), generator=generator)
    tgt[:, 0] = BOS_ID
    new_order = torch.tensor(order)
    expected = theirs(input_ids=new_order[src], decoder_input_ids=new_order[tgt]).logits
    rest = [index for index in range(len(order)) if index != BOS_ID]
    difference = float((ours(src, tgt)[..., rest] - expected[..., new_order[rest]]).abs().max())
    if not difference <= AGREEMENT:
        raise ValueError(f"the converted model's logits differ by {difference:.2g} from the original's: report it")
    return difference


def _languages(folder: Path) -> dict[str, str]:
    path = folder / "tokenizer_config.json"
    values = checkpoint.read_json(path) if path.is_file() else {}
    source, target = values.get("source_lang"), values.get("target_lang")
    if isinstance(source, str) and isinstance(target, str):
        return {"source": source, "target": target}
    return {}
