"""What the tests of training share: made-up data and one thread, which is faster for tiny models."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from model.text.subwords import Tokenizer
from tests.test_model.test_training.language import small_tokenizer, write_multi30k


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Runs the test with one torch thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, as at a terminal; a shell that starts the tests in the background has it ignored."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the made-up languages as multi30k."""
    path = tmp_path_factory.mktemp("data")
    write_multi30k(path)
    return path


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """A tokenizer with some merges."""
    return small_tokenizer()
