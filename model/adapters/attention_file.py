"""Attention of any model as a file: an .npz of tokens and arrays, from any tool, checked before it is believed.

A file holds, each by this name:

    source_tokens     (S,) texts: what an encoder read
    target_tokens     (T,) texts: what a decoder read, the start token first where there is one
    predicted_tokens  (T,) texts, optional: what it predicted at each of these
    encoder_self      (layers, heads, S, S) numbers from 0 to 1: row = query, column = key
    decoder_self      (layers, heads, T, T)
    cross             (layers, heads, T, S)
    KIND_mask         (queries, keys) true or false, optional: True = may attend

with at least one of the three kinds, and the tokens of its axes. A recording of `python -m model trace`, which has its
arrays by address, is such a file too. Whatever else is in a file is not read.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from model.translation import KINDS, MODULES

AXES = {"encoder_self": ("source", "source"), "decoder_self": ("target", "target"), "cross": ("target", "source")}
TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
MAX_TOKENS = 256
MAX_TOKEN_LENGTH = 200  # characters
MAX_CHARACTERS = 4000  # of the tokens of one axis: tables repeat each in every cell
MAX_NUMBERS = 4_000_000  # of all kinds together: 12 layers of 12 heads over 166 tokens
MAX_LAYERS, MAX_HEADS = 100, 128
MAX_ENTRIES = 5000
ENTRY = b"PK\x01\x02"  # what each begins with in the table of contents of an archive
PART = 1 << 20  # bytes that are searched at a time
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # unpacking another kind can take any amount of memory
MAX_HEADER = 10_000  # bytes of an array's description
ROUNDING = 1e-2  # how far a weight may lie outside [0, 1]: half precision, and sums over words; 0 or 1 is read


@dataclass(frozen=True)
class Attention:
    """Tokens and attention weights of one pass of any model.

    Attributes:
        source_tokens: of the S positions of an encoder; empty where there is none.
        target_tokens: of the T positions of a decoder; empty where there is none.
        weights: kind ("encoder_self", "decoder_self", "cross") to float32 (layers, heads, queries, keys).
        masks: kind to bool (queries, keys), True = may attend; only those that are known.
        predicted_tokens: what was predicted at each target token; empty where that is not known.

    Raises:
        ValueError: if tokens and arrays do not fit together, or numbers are not attention; the message says what.
    """

    source_tokens: list[str]
    target_tokens: list[str]
    weights: Mapping[str, np.ndarray] = field(repr=False)
    masks: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    predicted_tokens: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.weights:
            raise ValueError(f"there is no attention: at least one of {', '.join(KINDS)} is needed")
        _check_tokens(self)
        for kind, weights in self.weights.items():
            _check_shape(kind, weights.shape, self._counts(kind))
            _check_weights(kind, weights)
        for kind, mask in self.masks.items():
            self._check_mask(kind, mask)
        _check_total(sum(weights.size for weights in self.weights.values()))

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention there are."""
        return [kind for kind in KINDS if kind in self.weights]

    def attention(self, kind: str) -> np.ndarray:
        """The weights of a kind, float32 (layers, heads, queries, keys)."""
        return self.weights[kind]

    def mask(self, kind: str) -> np.ndarray:
        """The mask of a kind, bool (queries, keys); all True where it is not known."""
        return self.masks.get(kind, np.ones(self.weights[kind].shape[2:], dtype=bool))

    def residual(self, kind: str) -> float:
        """How far the sum of a row is from 1 at most; rows of zeros, which have nothing to attend, do not count."""
        sums = self.weights[kind].sum(axis=-1, dtype=np.float64)
        return float(np.abs(sums - 1)[sums != 0].max(initial=0.0))

    def zero_rows(self, kind: str) -> tuple[int, int]:
        """How many rows of a kind are 0 everywhere, as of a head that was switched off, and how many there are."""
        empty = ~self.weights[kind].any(axis=-1)
        return int(empty.sum()), empty.size

    def save(self, path: Path | str) -> None:
        """Write the file that `read_attention` reads."""
        tokens = {name: np.array(getattr(self, name), dtype=str) for name in TOKENS if getattr(self, name)}
        masks = {f"{kind}_mask": mask for kind, mask in self.masks.items()}
        with Path(path).open("wb") as file:  # given a name, numpy would add .npz to it
            np.savez_compressed(file, **tokens, **self.weights, **masks)

    def _counts(self, kind: str) -> tuple[int, int]:
        queries, keys = AXES[kind]
        return len(getattr(self, f"{queries}_tokens")), len(getattr(self, f"{keys}_tokens"))

    def _check_mask(self, kind: str, mask: np.ndarray) -> None:
        if kind not in self.weights:
            raise ValueError(f"there is a mask for {kind}, but no {kind}")
        if mask.dtype != bool or mask.shape != self._counts(kind):
            raise ValueError(
                f"{kind}_mask must be true or false in {self._counts(kind)} cells (queries, keys), "
                f"got {mask.dtype} in {mask.shape}"
            )
        largest = float(self.weights[kind].max(axis=(0, 1))[~mask].max(initial=0.0))
        if largest > ROUNDING:
            raise ValueError(
                f"{kind}_mask blocks a cell with a weight of {largest:.2f}: True must mean 'may attend', "
                "and rows must be queries"
            )


def read_attention(file: BinaryIO | Path | str) -> Attention:
    """Read a file of attention.

    Nothing in it can run code, and every array's size is checked before its data are unpacked.

    Args:
        file: an open file, or a path.

    Returns:
        What is in it.

    Raises:
        ValueError: if it is not such a file, or something in it is missing, too large or not allowed; the message says
            what.
    """
    try:
        with Path(file).open("rb") if isinstance(file, Path | str) else nullcontext(file) as opened:
            _check_entries(opened)
            with zipfile.ZipFile(opened) as archive:
                return _read(archive)
    except FileNotFoundError:
        raise ValueError(f"the file {file} does not exist") from None
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, OverflowError, UnicodeError):
        # RuntimeError: an entry behind a password, or packed in an unusual way.
        raise ValueError("this is not a whole .npz file, as numpy.savez writes it") from None


def _check_entries(file: BinaryIO) -> None:
    """Count the entries of an archive; zipfile takes 12 microseconds for each before it can be asked."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    count, end = 0, b""
    for _ in range(0, size, PART):
        part = end + file.read(PART)
        count += part.count(ENTRY)
        end = part[1 - len(ENTRY) :]
    if count > MAX_ENTRIES:
        raise ValueError(f"the file has {count:,} entries; at most {MAX_ENTRIES:,} are allowed")


def _read(archive: zipfile.ZipFile) -> Attention:
    if any(entry.compress_type not in PACKED for entry in archive.infolist()):
        raise ValueError("the file is packed in another way than numpy.savez and savez_compressed do it")
    entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    tokens = {name: _tokens(archive, entries[name], name) for name in TOKENS if name in entries}
    stacks = {kind: found for kind in KINDS if (found := _addresses(kind, entries))}
    if not stacks:
        raise ValueError(
            f"there is no attention in the file: at least one of {', '.join(KINDS)} is needed, "
            f"got {', '.join(sorted(map(repr, entries))[:5]) or 'nothing'}"
        )
    shapes = {name: _shape(archive, entries[name], name) for stack in stacks.values() for name in stack}
    _check_total(sum(math.prod(shape) for shape in shapes.values()))
    weights, masks = {}, {}
    for kind, stack in stacks.items():
        if len({shapes[name] for name in stack}) > 1:
            raise ValueError(f"the layers of {kind} have different shapes")
        whole = [_open(archive, entries[name]) for name in stack]
        weights[kind] = clipped((whole[0] if stack == [kind] else np.stack(whole)).astype(np.float32))
        mask = f"{kind}_mask" if stack == [kind] else stack[0].replace(".weights", ".mask")
        if mask in entries:
            _shape(archive, entries[mask], mask)
            values = _open(archive, entries[mask])
            masks[kind] = values[0] if stack != [kind] and values.ndim == 3 else values
    named = {name: tokens.get(name, []) for name in TOKENS}
    return Attention(weights=weights, masks=masks, **named)


def _addresses(kind: str, entries: Mapping[str, zipfile.ZipInfo]) -> list[str]:
    """The entries with the weights of a kind: one by its name, or one a layer by address, in the layers' order."""
    if kind in entries:
        return [kind]
    stack, module = MODULES[kind]
    pattern = re.compile(rf"{stack}\.(?:layers\.(\d{{1,3}})\.)?{module}\.weights")
    found = {name: match for name in entries if (match := pattern.fullmatch(name))}
    ordered = sorted(found, key=lambda name: int(found[name][1] or 0))
    if [int(found[name][1] or 0) for name in ordered] != list(range(len(ordered))):
        raise ValueError(f"the layers of {kind} must be numbered from 0 without gaps")
    return ordered


def _describe(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of an array, whose data are as long as these say."""
    damaged = f"{name} is not a whole array, as numpy.save writes it"
    with archive.open(entry) as file:
        try:
            read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(file)]
            shape, _, dtype = read(file, max_header_size=MAX_HEADER)
        except (KeyError, ValueError, SyntaxError, TokenError, TypeError, MemoryError, RecursionError):
            raise ValueError(damaged) from None
        length = file.tell()
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects, which could run code: save plain texts or numbers")
    if min(shape, default=0) < 0 or length + math.prod(shape) * dtype.itemsize != entry.file_size:
        raise ValueError(damaged)
    return shape, dtype


def _shape(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> tuple[int, ...]:
    """The shape of an array of numbers, after a look at its type and size."""
    shape, dtype = _describe(archive, entry, name)
    if dtype.kind not in "fb" or dtype.itemsize > 8:
        raise ValueError(f"{name} must hold floating-point numbers (a mask: true or false), got {dtype}")
    if math.prod(shape) > MAX_NUMBERS:
        raise ValueError(f"{name} has the shape {shape}; at most {MAX_NUMBERS:,} numbers are allowed")
    return shape


def _tokens(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> list[str]:
    shape, dtype = _describe(archive, entry, name)
    if len(shape) != 1 or dtype.kind != "U":
        raise ValueError(f"{name} must be a row of texts, got {dtype} of shape {shape}")
    if shape[0] > MAX_TOKENS:
        raise ValueError(f"there are {shape[0]:,} {name}; at most {MAX_TOKENS} can be drawn")
    if dtype.itemsize > 4 * MAX_TOKEN_LENGTH:
        raise ValueError(f"one of the {name} is longer than {MAX_TOKEN_LENGTH} characters")
    return _open(archive, entry).tolist()


def _open(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """An array that has been allowed."""
    with archive.open(entry) as file:
        return npy.read_array(file, allow_pickle=False, max_header_size=MAX_HEADER)


def _check_tokens(attention: Attention) -> None:
    for name in TOKENS:
        tokens = getattr(attention, name)
        if len(tokens) > MAX_TOKENS:
            raise ValueError(f"there are {len(tokens)} {name}; at most {MAX_TOKENS} can be drawn")
        if any(len(token) > MAX_TOKEN_LENGTH for token in tokens):
            raise ValueError(f"one of the {name} is longer than {MAX_TOKEN_LENGTH} characters")
        if (count := sum(map(len, tokens))) > MAX_CHARACTERS:
            raise ValueError(f"the {name} have {count:,} characters; at most {MAX_CHARACTERS:,} can be drawn")
    predicted, target = len(attention.predicted_tokens), len(attention.target_tokens)
    if predicted and predicted != target:
        raise ValueError(f"there are {predicted} predicted_tokens for {target} target_tokens; each needs one")


def _check_shape(kind: str, shape: tuple[int, ...], counts: tuple[int, int]) -> None:
    queries, keys = (f"{side}_tokens" for side in AXES[kind])
    if not all(counts):
        raise ValueError(f"{kind} needs {queries}" + (f" and {keys}" if keys != queries else "") + " to name its axes")
    if len(shape) != 4:
        raise ValueError(f"{kind} must have the four axes (layers, heads, queries, keys), got the shape {shape}")
    if shape[2:] != counts:
        raise ValueError(
            f"{kind} has {shape[2]} rows and {shape[3]} columns, but its rows are {counts[0]} {queries} "
            f"and its columns {counts[1]} {keys}"
        )
    if not 1 <= shape[0] <= MAX_LAYERS or not 1 <= shape[1] <= MAX_HEADS:
        raise ValueError(
            f"{kind} has {shape[0]} layers and {shape[1]} heads; from 1 to {MAX_LAYERS} and {MAX_HEADS} are allowed"
        )


def _check_weights(kind: str, weights: np.ndarray) -> None:
    if weights.dtype != np.float32:
        raise ValueError(f"{kind} must be float32, got {weights.dtype}")
    if not np.isfinite(weights).all():
        raise ValueError(f"{kind} holds numbers that are not finite")
    low, high = float(weights.min()), float(weights.max())
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise ValueError(
            f"{kind} holds numbers from {low:.3g} to {high:.3g}; weights are from 0 to 1: take them after the softmax"
        )


def clipped(weights: np.ndarray) -> np.ndarray:
    """The same between 0 and 1, where rounding alone led out of that; what lies further out is told later."""
    low, high = weights.min(initial=0.0), weights.max(initial=0.0)
    return np.clip(weights, 0, 1) if low >= -ROUNDING and high <= 1 + ROUNDING else weights


def _check_total(count: int) -> None:
    if count > MAX_NUMBERS:
        raise ValueError(
            f"there are {count:,} weights; at most {MAX_NUMBERS:,} can be drawn: take a shorter text or fewer layers"
        )
