"""Other models of Hugging Face to look at: a text goes in, tokens and attention come out. Nothing can be changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers
import torch

from model.adapters import byte_level
from model.adapters.attention_file import MAX_TOKENS
from model.adapters.hub import CONFIG, fetch, load_network, reason
from model.adapters.inspection import WEIGHTS
from model.adapters.outputs import NAMES, attention_from
from model.results.recording import KINDS, Recording
from model.storage import checkpoint

TOKENIZER = "tokenizer.json"
FILES = (CONFIG, WEIGHTS, TOKENIZER)
# The class for each type, named here: a file of the model can choose one of these and nothing else.
CLASSES = {
    "t5": "T5ForConditionalGeneration",
    "bart": "BartForConditionalGeneration",
    "gpt2": "GPT2LMHeadModel",
    "bert": "BertModel",
}
PAIRS = ("t5", "bart")


def look(name: str, text: str, target: str | None = None, revision: str | None = None) -> Recording:
    """Have a T5, BART, GPT-2 or BERT, a folder or a name on the Hugging Face hub, read a text.

    `target` is the output forced on the decoder of a T5 or BART; left out, what it writes by itself, greedily.
    """
    folder = fetch(name, revision)
    _expect(folder, CONFIG)
    values = checkpoint.read_json(folder / CONFIG)
    kind = values.get("model_type")
    if kind not in CLASSES:
        classes = f"there are {', '.join(CLASSES)}, and 'marian' with python -m model import"
        raise ValueError(f"{folder / CONFIG}: models of type {kind!r} cannot be looked at; {classes}")
    if target is not None and kind not in PAIRS:
        raise ValueError(f"a {kind} has no target: only {' and '.join(PAIRS)} read one")
    _expect(folder, TOKENIZER)
    tokenizer = _tokenizer(folder / TOKENIZER)
    ids = _encode(tokenizer, text)
    model = load_network(folder, CLASSES[kind], values, **({"add_pooling_layer": False} if kind == "bert" else {}))
    _check_ids(ids, model.config)
    spell = byte_level.speller(tokenizer)

    def names(indices: list[int]) -> list[str]:
        return [spell(tokenizer.id_to_token(index), index) for index in indices]

    arguments = {"input_ids": torch.tensor([ids]), "output_attentions": True, "use_cache": False}
    config = model.config
    layers = dict.fromkeys(KINDS, config.num_hidden_layers)
    if kind not in PAIRS:
        attention = attention_from(_run(folder, model, **arguments).attentions, names(ids))
    else:
        start = getattr(config, "decoder_start_token_id", None)
        size = config.vocab_size
        if type(start) is not int or not 0 <= start < size:
            raise ValueError(f"{folder / CONFIG}: decoder_start_token_id must be from 0 to {size - 1}, got {start}")
        target_ids = _encode(tokenizer, target) if target is not None else _run(folder, _write, model, ids)
        _check_ids(target_ids, config)
        decoder_ids = [start, *target_ids[:-1]]
        outputs = _run(folder, model, **arguments, decoder_input_ids=torch.tensor([decoder_ids]))
        tokens = {"source": names(ids), "target": names(decoder_ids), "predicted": names(target_ids)}
        attention = attention_from({stack: outputs[f"{stack}_attentions"] for stack in NAMES}, tokens)
        decoder = getattr(config, "decoder_layers", None) or config.num_decoder_layers
        layers |= {"decoder_self": decoder, "cross": decoder}
    for name, maps in attention.weights.items():
        if len(maps) != layers[name]:
            raise ValueError(f"{name} has maps of {len(maps)} layers, the model has {layers[name]}")
    return attention


def _expect(folder: Path, file: str) -> None:
    if not (folder / file).is_file():
        saved = f"a model and its tokenizer saved with save_pretrained make {', '.join(FILES)}"
        raise ValueError(f"{folder} has no {file}; {saved}")


def _run(folder: Path, function: Callable[..., Any], *inputs: Any, **keywords: Any) -> Any:
    try:
        with torch.inference_mode():
            return function(*inputs, **keywords)
    except Exception as error:  # whatever a network does whose config.json does not fit
        raise ValueError(f"the model in {folder} cannot run as its {CONFIG} describes it: {reason(error)}") from None


def _tokenizer(path: Path) -> tokenizers.Tokenizer:
    text = checkpoint.read_text(path)
    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises bare Exceptions
        raise ValueError(f"{path} is not a tokenizer: {reason(error)}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _encode(tokenizer: tokenizers.Tokenizer, text: str) -> list[int]:
    ids = tokenizer.encode(text).ids
    if not ids or not text.strip():
        raise ValueError("there is nothing to read: type a text")
    if len(ids) > MAX_TOKENS:
        raise ValueError(f"the text has {len(ids)} tokens; at most {MAX_TOKENS} can be drawn")
    return ids


def _check_ids(ids: list[int], config: Any) -> None:
    positions = getattr(config, "max_position_embeddings", MAX_TOKENS)
    if len(ids) > positions:
        raise ValueError(f"the text has {len(ids)} tokens; the model has positions for {positions}")
    if max(ids) >= config.vocab_size:
        raise ValueError(f"the tokenizer gives the id {max(ids)}, the model has ids below {config.vocab_size}")


def _write(model: Any, ids: list[int]) -> list[int]:
    # The library's cache fails where encoder and decoder differ in depth.
    rules = {"num_beams": 1, "do_sample": False, "max_new_tokens": min(2 * len(ids) + 10, MAX_TOKENS)}
    return model.generate(torch.tensor([ids]), **rules, use_cache=False)[0, 1:].tolist()  # without the start token
