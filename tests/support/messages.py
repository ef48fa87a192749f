"""Reads in Python what the browser reads: the messages of `viz.stage.packing`."""

import json
from typing import Any

import numpy as np

TYPES = {"u1": np.uint8, "u2": np.uint16, "i2": np.int16, "i4": np.int32, "f4": np.float32}


def unpack(message: bytes) -> dict[str, Any]:
    """The header of a message, its arrays in their places; weights come back as float32, texts as objects."""
    end = 4 + int.from_bytes(message[:4], "little")

    def read(value: dict) -> Any:
        if "@" not in value:  # maps of a kind travel as integers
            if isinstance(value.get("weights"), np.ndarray) and "scale" in value:
                value["weights"] = value["weights"] / np.float32(value["scale"])
            if isinstance(value.get("opened"), dict):
                value["opened"] = {name: head / np.float32(value["scale"]) for name, head in value["opened"].items()}
            return value
        offset, length, dtype, shape = value["@"]
        array = np.frombuffer(message[end + offset : end + offset + length], TYPES[dtype]).reshape(shape)
        if "texts" in value:
            return np.array(value["texts"], dtype=object)[array]
        return array

    return json.loads(message[4:end], object_hook=read)
