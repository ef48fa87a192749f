"""Pages that are sheets as the app's browser makes them: Node runs the maker, and asks Python for files as it does."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.javascript import NODE, ROOT
from viz.ui import sheets

SCRIPT = Path(__file__).with_name("app_sheets.js")


def visit(
    page: sheets.Sheet,
    told: Mapping[str, Any],
    visits: Sequence[Mapping[str, str]],
    language: str = "en",
    asks: Mapping[str, str] = {},
) -> list[dict[str, Any]]:
    """The sheet of each address, with `missed`, what in it means nothing.

    Args:
        told, asks: what the page gives `viz.ui.sheets.show`.
    """
    job = {"name": page.NAME, "told": told, "asks": asks, "language": language, "visits": list(visits)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "job.json")
        path.write_text(json.dumps(job, default=np.ndarray.tolist), encoding="utf-8")
        with subprocess.Popen(
            [NODE, SCRIPT, path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        ) as process:
            assert process.stdout and process.stdin
            for line in process.stdout:
                message = json.loads(line)
                if "sheets" in message:
                    return message["sheets"]
                answer = sheets.answer(page, language, message["query"])
                assert answer is not None, f"there is no {message['query']}"
                process.stdin.write(f"{base64.b64encode(answer).decode()}\n")
                process.stdin.flush()
    raise AssertionError("no sheets came")


def part(sheet: dict[str, Any], type_: str, side: str = "right", name: str | None = None) -> dict[str, Any]:
    """A part of a sheet by its type and, where there are several, its name."""
    return next(part for part in sheet[side] if part["type"] == type_ and name in (None, part.get("name")))


def control(sheet: dict[str, Any], place: str, key: str) -> dict[str, Any]:
    """A control of a sheet by its key."""
    return next(control for control in sheet["controls"][place] if control["key"] == key)
