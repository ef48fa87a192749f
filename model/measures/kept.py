"""What a measure found, in a sealed file beside the weights it is of: anybody can have changed either."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from model.checkpoint import WEIGHTS, read_json, sha256_of, write_text


def write(path: Path, found: dict[str, Any]) -> None:
    """Write JSON that names the SHA-256 of its "weights", one row of a table per line, with a seal."""
    text = json.dumps(found | {"seal": _seal(found)}, indent=1, ensure_ascii=False)
    write_text(path, re.sub(r"\[[^\[\]{}]*\]", lambda row: " ".join(row[0].split()), text) + "\n")


def read(path: Path, command: str) -> dict[str, Any] | None:
    """What `write` wrote, or None; a ValueError if it was changed since, or is not of the weights beside it."""
    if not path.is_file():
        return None
    found = read_json(path)
    if found.pop("seal", None) != _seal(found):
        raise ValueError(f"{path} is not what python -m model {command} wrote: run it again")
    if found["weights"] != sha256_of(path.parent / WEIGHTS):
        raise ValueError(f"{path} was measured with other weights: run python -m model {command} again")
    return found


def _seal(found: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
