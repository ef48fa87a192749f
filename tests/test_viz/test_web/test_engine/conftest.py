"""The engine of the browser, run by Node on a checkpoint: requests in, answers with numpy arrays out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.javascript import node

SIMD = ("kernel.relaxed.wasm", "kernel.wasm")
Answers = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Translate requests with the engine and the checkpoint of a folder; `kernels` are tried in order, then none."""
    numbers = itertools.count()

    def answer(folder: Path, requests: Sequence[dict], kernels: Sequence[str] = SIMD, browser: str = "") -> list[dict]:
        out = tmp_path_factory.mktemp("engine") / str(next(numbers))
        job = {"folder": str(folder), "kernels": kernels, "requests": requests, "out": str(out), "browser": browser}
        path = out.with_suffix(".job.json")
        path.write_text(json.dumps(job), encoding="utf-8")
        finished = node(Path(__file__).parent / "answers.js", path)
        assert finished.returncode == 0, finished.stderr
        assert finished.stdout == (kernels[0] if kernels and not browser else "plain")
        numbers_of = np.fromfile(f"{out}.bin", np.uint8)

        def revive(value: dict) -> Any:
            if "@" not in value:
                return value
            first, dtype, shape = value["@"]
            count = int(np.prod(shape)) * np.dtype(dtype).itemsize
            return numbers_of[first : first + count].view(dtype).reshape(shape)

        text = Path(f"{out}.json").read_text(encoding="utf-8")
        return json.loads(text, object_hook=revive)

    return answer
