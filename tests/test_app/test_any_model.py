"""Models of transformers on the pages: what the stage is told against the same computed by their reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model import load_model
from tests.test_app import screen
from tests.test_model.test_adapters.other_models import save_model
from viz.stage.words import label
from viz.views import opened

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models of transformers by kind, each in the folder of its name."""
    folders = {kind: tmp_path_factory.mktemp("models") / kind for kind in ("gpt2", "bert", "bart")}
    for kind, folder in folders.items():
        save_model(folder, kind)
    return folders


@pytest.fixture
def shelf(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, checkpoints: Path) -> opened.Shelf:
    """The app's shelf, on which they stand."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    shelf = opened.Shelf(list(map(str, folders.values())))
    monkeypatch.setattr(opened, "SHELF", shelf)
    return shelf


def test_a_decoder_on_language_model(shelf: opened.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["gpt2"])
    at = screen.open_page("language_model.py", text=TEXT, model="gpt2")
    assert not at.exception and not at.error
    told, result = screen.stage(at), reader.read(TEXT)
    assert told["target"]["tokens"] == list(map(label, result.target_tokens)) and not told["source"]["tokens"]
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), result.attention("decoder_self"), atol=2e-5)
    best = np.argsort(-result.logits[-1], kind="stable")
    np.testing.assert_allclose(told["next"]["logits"], result.logits[-1][best], atol=1e-5)
    assert told["next"]["names"][:5] == reader.words(best[:5].tolist())
