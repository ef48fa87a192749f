"""The committed kernel is what its source says."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.engine.compile import FOLDER, VARIANTS, VERSION, compile_kernel, is_possible


@pytest.mark.skipif(not is_possible(), reason=f"the compiler (ziglang {VERSION}) is not installed")
def test_the_kernel_is_compiled_from_its_source(tmp_path: Path) -> None:
    compile_kernel(tmp_path)
    for name in VARIANTS:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name


def test_the_kernel_is_small_and_needs_nothing_but_memory() -> None:
    for name in VARIANTS:
        code = (FOLDER / name).read_bytes()
        assert len(code) < 20_000
        assert code.startswith(b"\0asm") and code.count(b"\x03env\x06memory") == 1
