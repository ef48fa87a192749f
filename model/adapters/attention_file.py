"""Recordings as files: an .npz of tokens and arrays, from any tool, checked before it is believed.

    source_tokens     (S,) texts: what an encoder read
    target_tokens     (T,) texts: what a decoder read, the start token first where there is one
    encoder_self      (layers, heads, S, S) numbers from 0 to 1: row = query, column = key
    decoder_self      (layers, heads, T, T)
    cross             (layers, heads, T, S)
    KIND_mask         (queries, keys), or of each layer, true or false, or 1 and 0, optional: True = may attend
    KIND_layers       (layers,) whole numbers, optional: how the model numbers them, where it has others between them

At least one of the three kinds, and the tokens of its axes; docs/recording.md says what else there may be. Without
heads or layers, (heads, T, S) and (T, S) are one layer, and one head. Instead of a kind, `attention` or `attentions` is
a decoder's where nothing attends to what comes later, and else an encoder's; `tokens` are those of its axes. A
recording of `python -m model trace`, which has its arrays by address, is such a file too. Nothing else in it is read.
"""

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, TypedDict

import numpy as np
from numpy.lib import format as npy

from model.adapters.conversion import byte_level
from model.adapters.conversion.weights import (
    NUMBERS,
    ROUNDING,
    as_maps,
    check_shapes,
    is_band,
    is_within_range,
    kind_of,
    known_mask,
    without_nan_rows,
)
from model.adapters.files.inspection import available_memory
from model.results.recording import KINDS, SIDES, TOKENS, Candidates, Recording, TokenTexts
from model.results.translation import MODULES

MAX_TOKENS = 1024
MAX_TOKEN_LENGTH = 200  # characters
MAX_CHARACTERS = 16_000  # of the tokens of one axis: tables repeat each in every cell
MAX_NUMBERS = 160_000_000  # of all kinds together: 12 layers of 12 heads over 1024 tokens
MAX_LAYERS, MAX_HEADS = 100, 128
MAX_ENTRIES = 5000
ENTRY = b"PK\x01\x02"  # what each begins with in an archive's table of contents
MAX_BYTES = 8 * MAX_NUMBERS  # of all arrays, unpacked
COPIES = 4  # how much more memory than its arrays a file takes while it is read and drawn
UNNAMED = ("attention", "attentions")  # weights of a kind that their shape tells
_HOLDS = {"U": "texts", NUMBERS: "numbers", "iu": "whole numbers", "b": "true and false"}  # by kinds of numpy's types
_MORE: dict[str, tuple[str, int | None]] = {  # what a file may hold beside weights and masks: types, and how many axes
    **dict.fromkeys((*TOKENS, "tokens"), ("U", 1)),
    **dict.fromkeys(("text", "model"), ("U", 0)),
    **dict.fromkeys(("log_probabilities", "entropy"), (NUMBERS, 1)),
    "candidates": ("U", 2),
    **dict.fromkeys(("candidate_probabilities", "source_positions", "target_positions"), (NUMBERS, 2)),
    **dict.fromkeys([f"{kind}_effects" for kind in KINDS], (NUMBERS, 4)),
    **dict.fromkeys([f"{kind}_layers" for kind in KINDS], ("iu", 1)),
    **dict.fromkeys(("source_special", "target_special"), ("b", 1)),
}


def checked(recording: Recording) -> Recording:
    """Return the recording of a model that is not ours if it holds weights under masks and can be drawn.

    Raises:
        ValueError: says what is wrong with it, or too much.
    """
    if not recording.weights:
        raise ValueError(f"there is no attention: at least one of {', '.join(KINDS)} is needed")
    for name in TOKENS:
        _check_tokens(name, getattr(recording, name))
    for kind, weights in recording.weights.items():
        n_layers, n_heads = weights.shape[:2]
        if not 1 <= n_layers <= MAX_LAYERS or not 1 <= n_heads <= MAX_HEADS:
            allowed = f"from 1 to {MAX_LAYERS} and {MAX_HEADS} are allowed"
            raise ValueError(f"{kind} has {n_layers} layers and {n_heads} heads; {allowed}")
        if not is_within_range(weights):
            values = f"numbers from {weights.min():.3g} to {weights.max():.3g}"
            raise ValueError(f"{kind} holds {values}; weights are from 0 to 1: take them after the softmax")
        if kind != "cross" and is_band(weights):
            raise ValueError(
                f"{kind} holds the bands of a sliding window, as Longformer hands them out, and no maps of tokens by "
                "tokens: model.adapters.outputs.attention_of(model(...), inputs, tokenizer) makes maps of them"
            )
    for kind, mask in recording.masks.items():
        of_layers = recording.weights[kind].max(axis=1)  # (L, queries, keys), over heads
        blocked = of_layers[~np.broadcast_to(mask, of_layers.shape)]  # a mask is of all layers, or of each
        if (largest := float(blocked.max(initial=0.0))) > ROUNDING:
            convention = "True must mean 'may attend', and rows must be queries"
            raise ValueError(f"{kind}_mask blocks a cell with a weight of {largest:.2f}: {convention}")
    if (count := sum(weights.size for weights in recording.weights.values())) > MAX_NUMBERS:
        most = f"at most {MAX_NUMBERS:,} can be drawn: take a shorter text or fewer layers"
        raise ValueError(f"there are {count:,} weights; {most}")
    return recording


def read_attention(file: BinaryIO | Path | str) -> Recording:
    """Read a recording from its file; a ValueError says what is wrong with it. Sizes are checked before unpacking."""
    try:
        with Path(file).open("rb") if isinstance(file, Path | str) else nullcontext(file) as stream:
            stream.seek(0)
            entries = sum(part.count(ENTRY) for part in iter(partial(stream.read, 1 << 20), b""))
            if entries > MAX_ENTRIES:  # zipfile takes 12 microseconds for each before it can be asked
                raise ValueError(f"the file has {entries:,} entries; at most {MAX_ENTRIES:,} are allowed")
            with zipfile.ZipFile(stream) as archive:
                return _read(archive)
    except FileNotFoundError:
        raise ValueError(f"the file {file} does not exist") from None
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, OverflowError, UnicodeError):
        # RuntimeError: an entry behind a password, or packed in an unusual way.
        raise ValueError("this is not a whole .npz file, as numpy.savez writes it") from None


def _read(archive: zipfile.ZipFile) -> Recording:
    # Unpacking another kind can take any amount of memory.
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in archive.infolist()):
        raise ValueError("the file is packed in another way than numpy.savez and savez_compressed do it")
    entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    stacks = {kind: addresses for kind in KINDS if (addresses := _addresses(kind, entries))}
    unnamed = [] if stacks else [name for name in UNNAMED if name in entries][:1]
    if not stacks and not unnamed:
        needed = ", ".join(KINDS)
        entry_names = ", ".join(sorted(map(repr, entries))[:5]) or "nothing"
        raise ValueError(f"there is no attention in the file: at least one of {needed} is needed, got {entry_names}")
    stacks |= {name: [name] for name in unnamed}
    masked = {kind: f"{kind}_mask" if kind in stack else stack[0][:-7] + "mask" for kind, stack in stacks.items()}
    numbers = [*(name for stack in stacks.values() for name in stack), *masked.values()]
    types: dict[str, tuple[str, int | None]] = {**_MORE, **dict.fromkeys(numbers, (NUMBERS, None))}
    types = {name: allowed for name, allowed in types.items() if name in entries}
    _check_memory(sum(entries[name].file_size for name in types))
    arrays = {name: _array(archive, entries[name], name, *allowed) for name, allowed in types.items()}
    weights = {}
    masks = {}
    layers = {}
    nan_rows = {}
    for name, stack in stacks.items():
        maps, n_nan = without_nan_rows(name, as_maps(name, _joined(name, [arrays[part] for part in stack])))
        kind = kind_of(maps) if name in unnamed else name
        mask = _as_mask(masked[name], arrays[masked[name]]) if masked[name] in arrays else None
        if mask is None and name in unnamed:
            mask = known_mask(kind, maps)
        weights[kind] = maps
        if (numbers := _layer_numbers(name, stack, arrays, len(maps))) != list(range(len(maps))):
            layers[kind] = numbers
        masks |= {} if mask is None else {kind: mask}
        nan_rows |= {kind: n_nan} if n_nan else {}
    tokens = {name: arrays[name].tolist() if name in arrays else [] for name in TOKENS}
    if "tokens" in arrays:
        for side in {f"{side}_tokens" for kind in weights for side in SIDES[kind]}:
            tokens[side] = tokens[side] or arrays["tokens"].tolist()
    for name, texts in tokens.items():
        _check_tokens(name, texts)
    return checked(
        Recording(
            weights=weights,
            masks=masks,
            layer_numbers=layers,
            nan_rows=nan_rows,
            **spelt_tokens(tokens),
            **_optional(arrays, weights),
        )
    )


def _check_memory(unpacked: int) -> None:
    """Raise a ValueError unless arrays of `unpacked` bytes, and what is computed of them, fit into memory."""
    free = available_memory()
    most = MAX_BYTES if free is None else min(MAX_BYTES, free // COPIES)
    if unpacked > most:
        sizes = f"{unpacked:,} bytes of arrays; at most {most:,} are unpacked"
        raise ValueError(f"the file has {sizes}{' with the memory that is free now' if most < MAX_BYTES else ''}")


def spelt_tokens(tokens: Mapping[str, list[str]]) -> TokenTexts:
    """Tokens by the names of TOKENS, spelt as text where those of a text are of a byte-level vocabulary."""
    target = ("target_tokens", "predicted_tokens")
    coded = {name for name, texts in tokens.items() if byte_level.is_coded(texts)}
    if coded.intersection(target):  # predicted ones are the same text from its second token on
        coded.update(target)

    def spelt(name: str) -> list[str]:
        texts = tokens.get(name, [])
        return [*map(byte_level.spelt, texts)] if name in coded else texts

    return TokenTexts(
        source_tokens=spelt("source_tokens"),
        target_tokens=spelt("target_tokens"),
        predicted_tokens=spelt("predicted_tokens"),
    )


def _joined(kind: str, layers: list[np.ndarray]) -> np.ndarray:
    """The only array, or one of layers by address."""
    check_shapes([layer.shape for layer in layers], kind)
    return layers[0] if len(layers) == 1 else np.stack(layers)


def _layer_numbers(kind: str, entries: list[str], arrays: Mapping[str, np.ndarray], count: int) -> list[int]:
    """How a model numbers the layers of a kind: as the file says, or by the addresses of its entries."""
    if f"{kind}_layers" in arrays:
        return arrays[f"{kind}_layers"].tolist()
    matches = [re.search(r"\.layers\.(\d+)\.", entry) for entry in entries]
    numbers = [int(match[1]) for match in matches if match]
    return numbers if len(numbers) == len(entries) else list(range(count))


def _as_mask(name: str, mask: np.ndarray) -> np.ndarray:
    """Bool (queries, keys), of true and false or 1 and 0, without axes of one element before these."""
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise ValueError(f"{name} must hold true and false, or 1 and 0: True = may attend")
    while mask.ndim > 2 and len(mask) == 1:
        mask = mask[0]
    return mask.astype(bool)


class _Optional(TypedDict, total=False):
    """The arguments of `Recording` beside tokens, weights and masks."""

    text: str | None
    log_probabilities: np.ndarray | None
    candidates: Candidates
    positions: dict[str, np.ndarray]
    effects: dict[str, np.ndarray]
    model: dict[str, Any]
    special: dict[str, np.ndarray]


def _optional(arrays: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray]) -> _Optional:
    """What a recording has beside tokens, weights and masks, of the arrays of a file."""
    numbers = {name: array.astype(np.float32) for name, array in arrays.items() if _MORE.get(name, "U")[0] == NUMBERS}
    if bad := [name for name, array in numbers.items() if not np.isfinite(array).all()]:
        raise ValueError(f"{bad[0]} holds numbers that are not finite")
    optional: _Optional = {
        "text": str(arrays["text"]) if "text" in arrays else None,
        "log_probabilities": numbers.get("log_probabilities"),
        "positions": {side: numbers[name] for side in ("source", "target") if (name := f"{side}_positions") in numbers},
        "effects": {kind: numbers[name] for kind in weights if (name := f"{kind}_effects") in numbers},
        "model": _json(str(arrays["model"])) if "model" in arrays else {},
        "special": {side: arrays[name] for side in ("source", "target") if (name := f"{side}_special") in arrays},
    }
    parts = [name for name in ("candidates", "candidate_probabilities", "entropy") if name in arrays]
    if parts:
        shapes = [arrays[name].shape for name in parts]
        if len(parts) < 3 or not shapes[0] == shapes[1] == (*shapes[2], shapes[0][-1]):
            raise ValueError("candidates (T, K) need candidate_probabilities (T, K) and entropy (T,)")
        optional["candidates"] = Candidates(
            tokens=arrays["candidates"].tolist(),
            probabilities=numbers["candidate_probabilities"],
            entropy=numbers["entropy"],
        )
    return optional


def _json(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError("model must be a JSON object, as text")
    return values


def _addresses(kind: str, entries: Mapping[str, zipfile.ZipInfo]) -> list[str]:
    """The entry with the weights of a kind by its name, or one per layer by address, in order."""
    if kind in entries:
        return [kind]
    stack, module = MODULES[kind]
    pattern = re.compile(rf"{stack}\.(?:layers\.(\d{{1,3}})\.)?{module}\.weights")
    layers = {int(match[1] or 0): match[0] for match in map(pattern.fullmatch, entries) if match}
    return [layers[layer] for layer in sorted(layers)]


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, types: str, axes: int | None) -> np.ndarray:
    try:
        with archive.open(entry) as file:
            array = npy.read_array(file, allow_pickle=False)
    except (KeyError, ValueError, SyntaxError, TokenError, TypeError, MemoryError, RecursionError):
        plain_array = "a whole array of plain texts or numbers, as numpy.save writes it"
        raise ValueError(f"{name} is not {plain_array}; Python objects could run code") from None
    if array.dtype.kind not in types or axes not in (None, array.ndim):
        holds = "one text" if axes == 0 else f"a row of {_HOLDS[types]}" if axes == 1 else _HOLDS[types]
        raise ValueError(f"{name} must hold {holds}, got {array.dtype} of shape {array.shape}")
    return array


def _check_tokens(name: str, tokens: list[str]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise ValueError(f"there are {len(tokens):,} {name}; at most {MAX_TOKENS} can be drawn")
    if max(map(len, tokens), default=0) > MAX_TOKEN_LENGTH:
        raise ValueError(f"one of the {name} is longer than {MAX_TOKEN_LENGTH} characters")
    if (count := sum(map(len, tokens))) > MAX_CHARACTERS:
        raise ValueError(f"the {name} have {count:,} characters; at most {MAX_CHARACTERS:,} can be drawn")
