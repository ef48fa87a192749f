"""Tiny translators whose translations are put on the stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from model import load_translator
from model.results.recording import Candidates, Recording
from model.results.translation import Translation
from model.running.translator import Translator
from tests.support.messages import browser_state
from tests.test_app.conftest import CARD, save_tiny
from tests.test_app.systems import save_gru
from viz.stage.payload import message

EQUAL = "too too tired tired."  # each twice, and another number of tokens than its translation


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A Transformer of 3 and 2 layers with 4 heads."""
    return load_translator(str(save_tiny(tmp_path_factory.mktemp("tiny") / "en-de")))


@pytest.fixture(scope="session")
def grus(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Translator]:
    """A GRU without (False) and with (True) attention."""
    folder = tmp_path_factory.mktemp("grus")
    return {with_it: load_translator(str(save_gru(folder / str(with_it), with_it, CARD))) for with_it in (False, True)}


@pytest.fixture(scope="session")
def result(tiny: Translator) -> Translation:
    """A sentence in which two tokens occur twice, translated."""
    translated = tiny.translate(EQUAL)
    assert len(set(translated.source_tokens)) < len(translated.source_tokens) != len(translated.target_tokens)
    return translated


@pytest.fixture
def tell() -> Callable[..., dict]:
    """What the browser makes of a translation: `tell(result, options, candidates, **more of message.Shown)`."""

    def unpacked_message(
        result: Translation | Recording, options: Mapping = {}, candidates: Candidates | None = None, keep=None, **more
    ) -> dict:
        recording = result if isinstance(result, Recording) else result.recording(candidates)
        return browser_state(message.message(message.Version(recording, **more), keep), options)

    return unpacked_message


@pytest.fixture
def foreign(result: Translation) -> Translation:
    """The same numbers under tokens of scripts of all kinds."""
    words = ["▁שלום", "▁العالم", "▁안녕", "하세요", "\u200b", "<b>", "$x$", "▁"]
    source = [words[i % len(words)] for i in range(len(result.source_tokens) - 1)]
    return replace(result, source_tokens=[*source, "</s>"])
