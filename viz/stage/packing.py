"""One message to the browser: a JSON header, and beside it the arrays that the header points at.

Layout: the length of the header in bytes (uint32, little endian), the header in UTF-8, spaces up to a multiple of
eight, then the arrays, each beginning at a multiple of eight. In the header an array is
`{"@": [offset, length, dtype, shape]}`, where the offset counts from the first array. `data.js` reads it.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass

import numpy as np

DTYPES = {"uint8": "u1", "bool": "u1", "uint16": "u2", "int16": "i2", "int32": "i4", "float32": "f4"}
SCALE = 65_535  # what 1 becomes where weights travel as 16-bit integers: an error of at most 8e-6
SIGNED_SCALE = 32_767  # the same for numbers from -1 to 1
_ALIGNED = 8


@dataclass(frozen=True)
class Weights:
    """Numbers within [0, limit], or within [-limit, limit] if `signed`, that travel as 16-bit integers."""

    values: np.ndarray
    signed: bool = False
    limit: float = 1.0


@dataclass(frozen=True)
class Texts:
    """An array of texts, of which many may be the same: each travels once."""

    values: np.ndarray


def quantised(values: np.ndarray, signed: bool = False, limit: float = 1.0) -> np.ndarray:
    """Numbers as integers of 16 bits: value / limit x SCALE or, if `signed`, x SIGNED_SCALE, rounded."""
    scale, dtype = (SIGNED_SCALE, np.int16) if signed else (SCALE, np.uint16)
    return np.rint(values * np.float32(scale / limit)).astype(dtype)


def pack(header: dict) -> bytes:
    """The message of a header, which also gets a "stamp": a hash of all of it.

    Args:
        header: of dictionaries, lists, texts, numbers, None; arrays, Weights and Texts anywhere in it. NaN outside of
            arrays becomes null. It is not empty.

    Raises:
        ValueError: for an array of a type that no browser array has.
    """
    parts: list[bytes] = []
    length = 0

    def put(array: np.ndarray, **more: object) -> dict:
        nonlocal length
        if array.dtype.name not in DTYPES:
            raise ValueError(f"an array of {array.dtype.name} cannot travel: use one of {', '.join(DTYPES)}")
        data = np.ascontiguousarray(array).tobytes()
        place = [length, len(data), DTYPES[array.dtype.name], list(array.shape)]
        parts.append(data + bytes(-len(data) % _ALIGNED))
        length += len(parts[-1])
        return {"@": place, **more}

    def travel(value: object) -> object:
        """What stands in the header for a value that JSON does not know."""
        if isinstance(value, Weights):
            scale = (SIGNED_SCALE if value.signed else SCALE) / value.limit
            return put(quantised(value.values, value.signed, value.limit), scale=scale)
        if isinstance(value, Texts):
            numbers: dict[str, int] = {}
            codes = np.array([numbers.setdefault(text, len(numbers)) for text in value.values.ravel().tolist()], int)
            small = np.uint8 if len(numbers) <= 1 << 8 else np.uint16 if len(numbers) <= 1 << 16 else np.int32
            return put(codes.reshape(value.values.shape).astype(small), texts=list(numbers))
        if isinstance(value, np.ndarray) and value.dtype != object:
            return put(value.astype(np.float32) if value.dtype == np.float64 else value)
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        raise TypeError(f"a {type(value).__name__} cannot travel")

    write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=travel).encode
    try:
        text = write(header).encode("utf-8")
    except ValueError as error:
        if "JSON" not in str(error):
            raise
        parts, length = [], 0
        text = write(_finite(header)).encode("utf-8")
    stamp = hashlib.blake2b(b"".join([text, *parts]), digest_size=12).hexdigest()
    text = b'{"stamp":"%s",%s' % (stamp.encode(), text[1:])
    text += b" " * (-(len(text) + 4) % _ALIGNED)
    return len(text).to_bytes(4, "little") + text + b"".join(parts)


def _finite(value: object) -> object:
    """The same with None instead of floats that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, (float, np.floating)) and not math.isfinite(value) else value


def unpack(message: bytes) -> dict:
    """Read what `pack` wrote; Weights come back as float32."""
    end = 4 + int.from_bytes(message[:4], "little")
    types = {"u1": np.uint8, "u2": np.uint16, "i2": np.int16, "i4": np.int32, "f4": np.float32}

    def walk(value: object) -> object:
        if isinstance(value, list):
            return [walk(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "@" not in value:
            return {key: walk(one) for key, one in value.items()}
        offset, length, dtype, shape = value["@"]
        array = np.frombuffer(message, types[dtype], length // types[dtype]().itemsize, end + offset).reshape(shape)
        if "texts" in value:
            return np.array(value["texts"], dtype=object)[array]
        return array / np.float32(value["scale"]) if "scale" in value else array

    return walk(json.loads(message[4:end]))
