"""Every page works on an imported MarianMT model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from model.adapters.marian import import_marian
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_model.test_adapters.marian_models import ENGLISH, GERMAN, save_marian


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints with an imported one in it."""
    root = tmp_path_factory.mktemp("imported")
    save_marian(root / "theirs")
    import_marian(str(root / "theirs"), root / "checkpoints" / "marian")
    return root / "checkpoints"


@pytest.fixture(autouse=True)
def only_imported(tiny_checkpoint: None, imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every page find that checkpoint alone."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(imported))


@pytest.mark.parametrize("page", first_quick(["masks.py", "positions.py", "pitfalls.py"]))
def test_pages_with_experiments(page: str) -> None:
    at = screen.open_page(page)
    assert not at.exception and not at.error
    assert screen.charts(at) or screen.stages(at) or screen.sheet(at)


def test_the_translation_is_recorded(imported: Path) -> None:
    at = screen.open_app(text=ENGLISH[1])
    assert not at.exception and not at.error and not at.warning
    result = load_translator(str(imported / "marian")).translate(ENGLISH[1])
    np.testing.assert_allclose(screen.weights(at, "cross"), result.attention("cross"), atol=2e-5)
    assert "converted from" in screen.page_text(at) and "marian" in screen.page_text(at)


def test_a_reference_is_cut_as_the_target_language() -> None:
    at = screen.open_app(text=ENGLISH[1], reference=GERMAN[1])
    assert not at.exception and not at.error and not at.warning
    assert screen.stage(at)["translation"] == GERMAN[1]
