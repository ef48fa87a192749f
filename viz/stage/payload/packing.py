"""One message to the browser: a JSON header, and beside it the arrays that the header points at.

`model.storage.packed` has the layout, which `viz/web/recording/message/packed.js` reads.
"""

import hashlib
import json

import numpy as np

from model.storage.packed import Packed

TYPES = ("u1", "u2", "i2", "i4", "f4")  # that browsers have
NEAREST = {"b": "u1", "i": "i4", "u": "i4", "f": "f4"}  # to others, by kind
SCALE = 65_535  # what 1 becomes where weights travel as 16-bit integers: an error of at most 8e-6
SIGNED_SCALE = 32_767  # the same for numbers from -1 to 1


def quantised(numbers: np.ndarray, signed: bool = False, limit: float = 1.0) -> tuple[np.ndarray, float]:
    """Numbers in [0, limit], [-limit, limit] if signed, as 16-bit integers, and what they are multiplied by."""
    scale = (SIGNED_SCALE if signed else SCALE) / limit
    integers = np.empty(numbers.shape, np.int16 if signed else np.uint16)
    for place, part in enumerate(numbers):  # a layer at a time: of large maps there is no second copy
        integers[place] = np.rint(part * np.float32(scale))
    return integers, scale


def pack_head(head: np.ndarray, in_bytes: bool = False) -> bytes:
    """The message of one head (T, S) of quantised maps, with "weights" of 16 bits.

    In bytes, "roots" uint8 are 255 times the square root of each weight as a share of the largest of its row, which
    are "largest" float32 (T,), quantised: an error of at most 0.4 % of that. What is signed keeps its 16 bits.
    """
    if not in_bytes or head.dtype != np.uint16:
        return pack({"weights": head})
    largest = head.max(axis=1).astype(np.float32)
    shares = head / np.maximum(largest, 1)[:, None]
    return pack({"roots": np.rint(255 * np.sqrt(shares)).astype(np.uint8), "largest": largest})


def pack(header: dict) -> bytes:
    """The message of a header, not empty, with arrays anywhere; its "stamp" is a hash of all of it.

    Arrays travel in the nearest of TYPES (a TypeError where there is none), of texts each once. NaN outside of arrays
    becomes null.
    """
    packed = Packed()

    def place_array(array: np.ndarray, **fields: object) -> dict:
        name = array.dtype.str[1:]
        kind = array.dtype.kind
        if name not in TYPES:
            if kind not in NEAREST:
                raise TypeError(f"an array of {array.dtype} cannot travel")
            name = NEAREST[kind]
        return {**packed.place(array.astype(name, copy=False)), **fields}

    def travel(value: object) -> object:
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a {type(value).__name__} cannot travel")
        if value.dtype.kind not in "OU":
            return place_array(value)
        if not all(isinstance(text, str) for text in value.flat):
            return value.tolist()
        texts, places = np.unique(value, return_inverse=True)
        return place_array(places.reshape(value.shape).astype(np.min_scalar_type(len(texts))), texts=texts.tolist())

    write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=travel).encode
    text = write(header)
    if "NaN" in text or "Infinity" in text:  # looking for the numbers would take longer
        text = write(json.loads(text, parse_constant=lambda _: None))
    text = text.encode("utf-8")
    stamp = hashlib.blake2b(b"".join([text, *packed.parts]), digest_size=12).hexdigest()
    return packed.message(b'{"stamp":"%s",%s' % (stamp.encode(), text[1:]))
