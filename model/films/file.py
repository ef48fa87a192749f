"""The file of a film: gzip of a JSON header with arrays behind it (`model.storage.packed`)."""

import gzip
import io
import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from model.films.film import Film, FilmText
from model.results.recording import SIDES
from model.storage.packed import Packed
from model.text.errors import Problem

ENDING = ".film"
VERSION = 1
MOST_BYTES = 4_000_000  # of a file
MOST_UNPACKED = 60_000_000  # of what is in it
MOST_FRAMES, MOST_HEADS, MOST_TOKENS, MOST_TEXTS, MOST_STEPS = 200, 128, 256, 20, 1_000_000
_TYPES = {"u1": np.uint8, "i4": np.int32, "f4": np.float32}


def pack(film: Film, level: int = 6) -> bytes:
    """The film as the bytes of its file; level 9 of gzip makes them a fiftieth smaller and takes ten times as long."""
    header = {
        "film": VERSION,
        "settings": dict(film.settings),
        "card": dict(film.card),
        "is_solved": film.is_solved,
        "losses": film.losses.astype(np.float32),
        "steps": film.steps.astype(np.int32),
        "right": film.right.astype(np.float32),
        "scores": {rule: values.astype(np.float32) for rule, values in film.scores.items()},
        "texts": [
            {
                "source": text.source_tokens,
                "target": text.target_tokens,
                "predicted": text.predicted,
                "maps": dict(text.maps),
            }
            for text in film.texts
        ],
    }
    packed = Packed()

    def place(value: object) -> dict[str, object]:
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a {type(value).__name__} cannot be filmed")
        return packed.place(value)

    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), default=place, allow_nan=False).encode()
    return gzip.compress(packed.message(text), level, mtime=0)


def save(film: Film, path: Path) -> None:
    """Write a film; a ValueError refuses a file that `load` would refuse."""
    data = pack(film, 9)
    if len(data) > MOST_BYTES:
        raise ValueError(f"the film has {len(data):,} bytes; at most {MOST_BYTES:,} are allowed")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def load(path: Path) -> Film:
    """Read what `save` wrote; a Problem says what is wrong with it."""
    if not path.is_file():
        raise Problem("the film {path} is missing", path=path)
    with path.open("rb") as file:
        return unpack(file.read(MOST_BYTES + 1))


def unpack(data: bytes) -> Film:
    """Read the bytes of a film; a Problem says in one sentence what is wrong with them."""
    if len(data) > MOST_BYTES:
        raise Problem("a film has at most {most:,} bytes", most=MOST_BYTES)
    try:
        return _film(_header(_inflated(data)))
    except Problem:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OSError, zlib.error) as error:
        raise Problem("this is not a film: {error}", error=" ".join(str(error).split())[:200]) from None
    except RecursionError:
        raise Problem("this is not a film: {error}", error="its header is nested too deeply") from None


def _inflated(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        content = file.read(MOST_UNPACKED + 1)
    if len(content) > MOST_UNPACKED:
        raise Problem("a film unpacks to at most {most:,} bytes", most=MOST_UNPACKED)
    return content


def _header(content: bytes) -> dict[str, Any]:
    length = int.from_bytes(content[:4], "little")
    body = memoryview(content)[4 + length :]

    def array(value: dict[str, Any]) -> Any:
        if "@" not in value:
            return value
        offset, size, kind, shape = value["@"]
        if not all(type(number) is int and number >= 0 for number in (offset, size, *shape)):
            raise ValueError("an array lies nowhere")
        if offset + size > len(body) or math.prod(shape) * np.dtype(_TYPES[kind]).itemsize != size:
            raise ValueError("an array is cut off")
        return np.frombuffer(body[offset : offset + size], _TYPES[kind]).reshape(shape)

    header = json.loads(content[4 : 4 + length], object_hook=array)
    if not isinstance(header, dict) or header.get("film") != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    return header


def _film(header: dict[str, Any]) -> Film:
    losses = _array(header["losses"], "f4", (None,), "losses")
    steps = _array(header["steps"], "i4", (None,), "steps").astype(np.int64)
    count = len(steps)
    _check(0 < count <= MOST_FRAMES and len(losses) <= MOST_STEPS, "it has too many frames or steps, or none")
    _check(bool(steps[0] >= 0 and (np.diff(steps) > 0).all()), "its steps do not rise")
    right = _array(header["right"], "f4", (count,), "right")
    scores = header["scores"]
    _check(isinstance(scores, dict) and len(scores) < 10, "its scores are not by rule")
    layers, heads = next(iter(scores.values())).shape[1:] if scores else (0, 0)
    _check(layers * heads <= MOST_HEADS, "it has too many heads")
    for rule, values in scores.items():
        _array(values, "f4", (count, layers, heads), rule)
    texts = header["texts"]
    _check(isinstance(texts, list) and 0 < len(texts) <= MOST_TEXTS, "it has too many texts or none")
    settings, card = header["settings"], header["card"]
    _check(isinstance(settings, dict) and isinstance(card, dict), "its settings are not an object")
    for arrays in (losses, right, *scores.values()):
        _check(bool(np.isfinite(arrays).all()), "a number is not finite")
    read = [_text(text, count) for text in texts]
    return Film(settings, losses, steps, right, scores, read, bool(header["is_solved"]), card)


def _text(text: dict[str, Any], count: int) -> FilmText:
    tokens = {"source": _tokens(text["source"]), "target": _tokens(text["target"])}
    _check(bool(tokens["source"] or tokens["target"]), "a text has no tokens")
    for kind, maps in text["maps"].items():
        rows, columns = (len(tokens[side]) for side in SIDES[kind])
        _array(maps, "u1", (count, None, None, rows, columns), kind)
        _check(maps.shape[1] * maps.shape[2] <= MOST_HEADS, "it has too many heads")
    predicted = text["predicted"]
    _check(isinstance(predicted, list) and len(predicted) in (0, count), "predictions are not by frame")
    for row in predicted:
        _check(len(_tokens(row)) == len(tokens["target"]), "predictions are not by token")
    return FilmText(tokens["source"], tokens["target"], text["maps"], predicted)


def _tokens(tokens: Any) -> list[str]:
    is_list = isinstance(tokens, list) and all(isinstance(token, str) and len(token) <= 40 for token in tokens)
    _check(is_list and len(tokens) <= MOST_TOKENS, f"tokens are at most {MOST_TOKENS} short texts")
    return tokens


def _array(value: Any, kind: str, shape: tuple[int | None, ...], name: str) -> np.ndarray:
    """The array, if it has the type and shape, of which None may be any size."""
    _check(isinstance(value, np.ndarray) and value.dtype == _TYPES[kind], f"{name} is not an array of {kind}")
    fits = value.ndim == len(shape) and all(want in (None, size) for want, size in zip(shape, value.shape))
    _check(fits, f"{name} has the wrong shape")
    return value


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
