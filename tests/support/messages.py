"""Reads messages of `viz.stage.payload.packing` in Python, and asks the browser's modules what they make of them."""

import base64
import json
import subprocess
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

import numpy as np

from tests.support.javascript import NODE
from tests.support.payloads import complaint
from viz.stage import words
from viz.stage.payload.payloads import Message

ARRAYS = ("weights", "tiles", "entropy", "largest", "telling", "shown", "removed", "opened", "did", "z", "x", "y")
ARRAYS += ("probability", "blocked", "logits", "probabilities", "cross", "encoder_self", "decoder_self")

TYPES = {"u1": np.uint8, "u2": np.uint16, "i2": np.int16, "i4": np.int32, "f4": np.float32}


def unpack(message: bytes) -> dict[str, Any]:
    """The header of a message, its arrays in their places; weights come back as float32, texts as objects."""
    end = 4 + int.from_bytes(message[:4], "little")

    def read(value: dict) -> Any:
        if "@" not in value:  # maps of a kind travel as integers
            if isinstance(value.get("weights"), np.ndarray) and "scale" in value:
                value["weights"] = value["weights"] / np.float32(value["scale"])
            if isinstance(value.get("openHeads"), dict):
                value["openHeads"] = {
                    name: head / np.float32(value["scale"]) for name, head in value["openHeads"].items()
                }
            return value
        offset, length, dtype, shape = value["@"]
        array = np.frombuffer(message[end + offset : end + offset + length], TYPES[dtype]).reshape(shape)
        if "texts" in value:
            return np.array(value["texts"], dtype=object)[array]
        return array

    return json.loads(message[4:end], object_hook=read)


def browser_state(message: bytes, options: Mapping = {}, maps: Mapping[str, bytes] = {}) -> dict[str, Any]:
    """What the browser makes of a message of the stage (tell.js), numbers as arrays; "code" is of the last heads.

    Whoever asks again of the same message gets the same objects: to read them, not to change them.

    Args:
        options: what the visitor chooses of the maps, by its codes in an address.
        maps: what did not travel, by address.
    """
    header = unpack(message)
    if not header["words"]["catalogue"]:
        maps = {**maps, header["words"]["address"]: words.packed(header["language"])}
    return _browser_state(message, json.dumps(options), tuple(sorted(maps.items())))


@lru_cache(maxsize=8)  # a test asks of one message several times
def _browser_state(message: bytes, options: str, maps: tuple[tuple[str, bytes], ...]) -> dict[str, Any]:
    assert complaint(unpack(message), Message) is None
    parts = {name: base64.b64encode(part).decode() for name, part in maps}
    with TemporaryDirectory() as folder:
        path = Path(folder, "message")
        path.write_bytes(message)
        Path(folder, "maps").write_text(json.dumps(parts))
        return _with_arrays(json.loads(_ask(json.dumps([str(path), options, str(Path(folder, "maps"))]))))


def _ask(question: str) -> str:
    """The answer of tell.js to one line; of a process that goes on answering, since Node takes long to start."""
    process, errors = _teller()
    try:
        process.stdin.write(f"{question}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:
        _teller.cache_clear()
        process.wait()
        errors.seek(0)
        raise AssertionError(errors.read())
    return answer


@cache
def _teller() -> tuple[subprocess.Popen[str], IO[str]]:
    """Node with tell.js, which ends with its standard input; and the file of its complaints."""
    errors = TemporaryFile("w+", encoding="utf-8")
    command = [NODE, Path(__file__).with_name("tell.js")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
    return subprocess.Popen(command, text=True, encoding="utf-8", **pipes), errors


def _with_arrays(value: object, name: str = "") -> Any:
    if isinstance(value, list) and name in ARRAYS and value and not _holds_texts(value):
        return np.array(value, float)
    if isinstance(value, dict):
        return {key: _with_arrays(part, key) for key, part in value.items()}
    return [_with_arrays(part) for part in value] if isinstance(value, list) else value


def _holds_texts(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_holds_texts, value))
    return isinstance(value, dict) or isinstance(value, str) and value not in ("NaN", "-Infinity")
