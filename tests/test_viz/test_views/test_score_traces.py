"""What scores are split from is computed once for each text, and kept of the texts that were asked about last."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from model.adapters.readers.tasks import attach
from tests.support.architectures import Numbers, build
from viz.views import score_traces
from viz.views.cached import Request
from viz.views.score_traces import ScoreTrace, ScoreTraces


@dataclass(frozen=True)
class Recorded:
    """A recording of some bytes."""

    trace: dict[str, np.ndarray]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read, in order; each trace has 100 bytes per letter."""
    texts: list[str] = []

    def compute(request: Request) -> ScoreTrace:
        texts.append(request.text)
        if not request.text:
            raise ValueError("there is no text")
        result = Recorded({"weights": np.zeros(100 * len(request.text), np.uint8)})
        return ScoreTrace(request, result, None)  # type: ignore[arg-type]

    monkeypatch.setattr(score_traces, "_compute", compute)
    return texts


def test_those_that_were_used_last_stay_within_the_limit(computed: list[str]) -> None:
    traces = ScoreTraces(n_bytes=1000)
    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        assert traces.get(Request(text, "m")).request.text == text
    assert computed == ["aaaa", "bbbb", "cccc", "bbbb"]
    for _ in range(2):  # larger than all that may stay
        traces.get(Request("d" * 11, "m"))
    assert computed[4:] == ["d" * 11] * 2
    traces.get(Request("aaaa", "m"))
    assert len(computed) == 6 and not traces._computing


def test_who_asks_at_the_same_time_waits_for_the_same(computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    traces = ScoreTraces(n_bytes=1000)
    started, go_on = threading.Event(), threading.Event()
    compute = score_traces._compute

    def slowly(request: Request) -> ScoreTrace:
        started.set()
        go_on.wait(30)
        return compute(request)

    monkeypatch.setattr(score_traces, "_compute", slowly)
    with ThreadPoolExecutor(3) as pool:
        pending = [pool.submit(traces.get, Request("text", "m")) for _ in range(3)]
        assert started.wait(30)
        go_on.set()
        assert len({id(future.result()) for future in pending}) == 1
    assert computed == ["text"]


def test_an_error_is_no_result(computed: list[str]) -> None:
    traces = ScoreTraces(n_bytes=1000)
    for _ in range(2):
        with pytest.raises(ValueError, match="no text"):
            traces.get(Request("", "m"))
    assert computed == ["", ""]


def test_a_model_that_leaves_is_not_held() -> None:
    reader = attach(build("llama"), Numbers())
    layers = reader.layer_inputs(reader.read("5 6 7 8"))
    network = weakref.ref(reader.model)
    del reader
    gc.collect()
    assert network() is None and layers.n_bytes
