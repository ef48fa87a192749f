"""The claim about the engine on the page Self-check, which is measured in the visitor's browser."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from model.measures.checks import Check
from model.results.translation import Translation
from model.running.translator import Translator
from viz.stage import assets
from viz.stage.files import WEB
from viz.stage.payload import packing
from viz.ui.engine import files as engine_files
from viz.views.cached import Request

CLAIM = "engine"
KEY = "engine-check"
ALLOWED = 2e-5  # of weights; the tests hold both to the same
SOURCE = WEB / "pages/check.js"


@dataclass(frozen=True)
class EngineResult:
    """What a browser measured: the claim, or why there is none (an empty text: not yet)."""

    check: Check | None
    problem: str = ""


def measure(request: Request, result: Translation) -> EngineResult | None:
    """Have the browser translate what Python translated, and compare.

    Returns:
        None where no browser can: another kind of model, or more weights than are sent.
    """
    translator = request.translator
    files = engine_files.offer(translator.folder) if isinstance(translator, Translator) else None
    if files is None or getattr(translator.config, "architecture", "") != "transformer":
        return None
    task = {
        "client": engine_files.engine_address("client.js"),
        "worker": engine_files.engine_address("worker.js"),
        "kernels": {name: engine_files.engine_address(file) for name, file in engine_files.KERNELS.items()},
        "files": files,
        "request": _request(request),
        "expected": {
            "ids": list(result.predicted_ids),
            "weights": {kind: result.attention(kind).astype(np.float32).ravel() for kind in result.kinds},
        },
    }
    name = hashlib.blake2b(packing.pack(task), digest_size=12).hexdigest()
    check = read_answer((st.session_state.get(KEY) or {}).get("result"), name)
    message = packing.pack(task | {"name": name, "known": check.check is not None or bool(check.problem)})
    mounted = assets.component("headlight_engine_check", "pages/check.js")
    state = mounted(key=KEY, data=message, default={"result": None}, on_result_change=lambda: None)
    return read_answer(state.result, name)


def _request(request: Request) -> dict[str, Any]:
    """A request in the form that viz/web/engine/run/translator.js takes."""
    values: dict[str, Any] = {"text": request.text, "beam": request.beam, "penalty": request.penalty}
    return values if request.reference is None else values | {"target": request.reference}


def read_answer(answer: Any, name: str) -> EngineResult:
    """What a browser sent; nothing yet where it is about another sentence, or no answer of ours."""
    if not isinstance(answer, dict) or answer.get("name") != name:
        return EngineResult(None)
    if isinstance(problem := answer.get("problem"), str):
        return EngineResult(None, problem or "?")
    same, deviation, compared = (answer.get(name) for name in ("same", "deviation", "compared"))
    if type(compared) is not int or compared < 1:
        return EngineResult(None)
    number = float(deviation) if same is True and isinstance(deviation, (int, float)) else float("nan")
    return EngineResult(Check(CLAIM, number, ALLOWED, compared))
