"""Which models stay in memory: the same rule for our own checkpoints and for models of transformers."""

from __future__ import annotations

import gc
import shutil
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from model.running.translator import Translator
from tests.support import forget
from tests.test_app.conftest import SENTENCES, SIZES, save_tiny
from viz.views import cached
from viz.views.cached import Request, compute
from viz.views.memory import Memory, size_of
from viz.views.turns import queued

NAMES = "en-de", "second", "third"
PATIENCE = 60


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three checkpoints that translate differently."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for number, name in enumerate(NAMES):
        save_tiny(folder / name, d_ff=SIZES["d_ff"] + number)
    return folder


@pytest.fixture
def checkpoints(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same in a folder that the app reads, with room for two of them."""
    folder = tmp_path / "checkpoints"
    shutil.copytree(tiny, folder)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    size = size_of(load_translator(str(folder / "third")))
    monkeypatch.setattr(cached, "CHECKPOINTS", Memory(n_bytes=2 * size))
    forget()
    yield folder
    forget()


@contextmanager
def without_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_memory() -> list[str]:
    return [Path(key).name for key in cached.CHECKPOINTS.sizes()]


@pytest.mark.slow
def test_a_checkpoint_that_was_used_the_longest_ago_leaves_and_comes_back(checkpoints: Path) -> None:
    first = cached.translator("en-de")
    cached.translator("second")
    assert cached.translator("en-de") is first
    cached.translator("third")
    assert in_memory() == ["en-de", "third"]
    assert cached.translator("second").config.d_ff == SIZES["d_ff"] + 1
    assert in_memory() == ["third", "second"]


def test_a_checkpoint_that_leaves_is_freed_although_pages_have_used_it(checkpoints: Path) -> None:
    request = Request(SENTENCES[0], "en-de")
    with without_collection():  # app.py freezes what is loaded at the start: no collection looks at it again
        model = weakref.ref(cached.translator("en-de").model)
        compute(request)
        cached.layer_of(request, "cross", 1)
        cached.translator("second")
        cached.translator("third")
        assert model() is None, "something still holds the model that left"


def test_results_stay_when_their_model_leaves(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = {name: Request(SENTENCES[0], name) for name in NAMES}
    results = {name: compute(request) for name, request in requests.items()}
    assert in_memory() == ["second", "third"]
    assert len({result.log_probabilities.tobytes() for result in results.values()}) == len(NAMES)
    with monkeypatch.context() as patch:
        patch.setattr(Translator, "translate", lambda *_: pytest.fail("it was remembered"))
        for name, request in requests.items():
            np.testing.assert_array_equal(compute(request).attention("cross"), results[name].attention("cross"))
    assert in_memory() == ["second", "third"]
    forget()
    for name, request in requests.items():  # by models that were loaded again
        np.testing.assert_array_equal(compute(request).attention("cross"), results[name].attention("cross"))


@pytest.mark.slow
def test_a_model_in_use_is_neither_dropped_nor_loaded_twice(checkpoints: Path) -> None:
    used = cached.loaded_as(Translator, "en-de")
    expected = load_translator(str(checkpoints / "en-de")).translate(SENTENCES[0])
    for name in NAMES[1:]:
        cached.translator(name)
    assert in_memory() == ["second", "third"]
    assert used.translate(SENTENCES[0]).text == expected.text
    assert cached.translator("en-de") is used
    assert in_memory() == ["third", "en-de"]


@pytest.mark.slow
def test_threads_that_ask_at_once_get_one_model_each_of_its_own_name(checkpoints: Path) -> None:
    loads: list[str] = []
    problems: list[object] = []
    expected = {name: load_translator(str(checkpoints / name)).translate(SENTENCES[1]) for name in NAMES}
    memory: Memory[Translator] = Memory(count=1)
    barrier = threading.Barrier(6)

    def load(folder: Path) -> Translator:
        loads.append(folder.name)
        loaded = queued(load_translator(str(folder)))
        assert isinstance(loaded, Translator)
        return loaded

    def visit(name: str) -> None:
        try:
            barrier.wait(PATIENCE)
            for _ in range(5):
                loaded = memory.get(name, lambda: checkpoints / name, load)
                result = loaded.translate(SENTENCES[1])
                np.testing.assert_allclose(result.attention("cross"), expected[name].attention("cross"), atol=2e-6)
        except BaseException as error:
            problems.append(error)

    visitors = [threading.Thread(target=visit, args=(name,), daemon=True) for name in (*NAMES, *NAMES)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(PATIENCE)
    assert not problems and not any(visitor.is_alive() for visitor in visitors)
    assert len(memory.sizes()) == 1 and len(loads) >= len(NAMES)

    loads.clear()
    memory = Memory()
    together = [threading.Thread(target=memory.get, args=("a", lambda: checkpoints / "en-de", load)) for _ in range(4)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join(PATIENCE)
    assert loads == ["en-de"]


def test_results_of_a_checkpoint_whose_weights_are_others_now_are_forgotten(checkpoints: Path, tiny: Path) -> None:
    request = Request(SENTENCES[0], "en-de")
    old = compute(request).log_probabilities
    shutil.rmtree(checkpoints / "en-de")
    shutil.copytree(tiny / "second", checkpoints / "en-de")
    np.testing.assert_array_equal(compute(request).log_probabilities, old)
    for name in NAMES[1:]:
        cached.translator(name)
    cached.translator("en-de")
    np.testing.assert_array_equal(
        compute(request).log_probabilities, compute(Request(SENTENCES[0], "second")).log_probabilities
    )


def test_a_checkpoint_that_cannot_be_loaded_leaves_room_for_others(checkpoints: Path) -> None:
    (checkpoints / "third" / "config.json").write_text("{}")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"config\.json"):
            cached.translator("third")
    with pytest.raises(ValueError, match="no checkpoint"):
        cached.translator("fourth")
    cached.translator("en-de")
    cached.translator("second")
    assert in_memory() == ["en-de", "second"]
