"""The result of a measure in a sealed file beside the weights that were measured: both may have been changed since."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from model.storage.checkpoint import WEIGHTS, read_json, sha256_of, write_text

_ROW = re.compile(r'\[(?:[^\[\]{}"]|"(?:[^"\\]|\\.)*")*\]')  # a list without lists in it; strings may have brackets


def write(path: Path, result: dict[str, Any]) -> None:
    """Write a result, which has the SHA-256 of its "weights", as JSON with a seal, one row of a table per line."""
    text = json.dumps(result | {"seal": _seal(result)}, indent=1, ensure_ascii=False)
    write_text(path, _ROW.sub(lambda row: re.sub(r"\n *", " ", row[0]), text) + "\n")


def read(path: Path, command: str) -> dict[str, Any] | None:
    """The result that `write` wrote, without its seal, or None if there is no file.

    A ValueError, which names the command to run again, if the file or the weights beside it were changed since.
    """
    if not path.is_file():
        return None
    result = read_json(path)
    if result.pop("seal", None) != _seal(result):
        raise ValueError(f"{path} is not what python -m model {command} wrote: run it again")
    if result["weights"] != sha256_of(path.parent / WEIGHTS):
        raise ValueError(f"{path} was measured with other weights: run python -m model {command} again")
    return result


def _seal(result: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
