"""checkpoints/README.md says what the cards say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model.__main__ import main
from model.commands import table
from model.storage.checkpoint import CARD, CONFIG, read_json, write_json

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"


def test_the_shipped_table_is_up_to_date() -> None:
    """If not: python -m model checkpoints --readme."""
    assert (CHECKPOINTS / table.README).read_text(encoding="utf-8") == table.render(CHECKPOINTS)


def test_every_published_figure_has_a_preset_or_a_checkpoint() -> None:
    from model.training.presets import PRESETS

    assert set(table.PUBLISHED) <= set(PRESETS)


def copy_of_en_de(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    for file in (CARD, CONFIG):
        shutil.copy(CHECKPOINTS / "en-de" / file, folder / name)
    return folder / name


def test_figures_stand_beside_published_ones(tmp_path: Path) -> None:
    folder = copy_of_en_de(tmp_path, "multi30k-de-en-gru")
    score = {"bleu": 21.04, "perplexity": 36.96, "beam": 1, "signature": "case:lc|tok:13a"}
    card = read_json(folder / CARD) | {"scores": {"multi30k/test_2016_flickr": score}}
    write_json(folder / CARD, card)
    write_json(folder / CONFIG, {"architecture": "gru", "attention": True})
    row = table.render(tmp_path).splitlines()[6]
    assert "GRU encoder-decoder with attention, en-de" in row and f"{card['parameters']:,}" in row
    assert "multi30k/test_2016_flickr: BLEU 21.0 (greedy, lowercased), perplexity 37.0" in row
    assert "40.6 (the reference)" in row and "20.6 ¹" in row and f"`{card['command']}`" in row
    assert row.count(" | ") == 5


def test_many_corpora_are_named_by_their_mix(tmp_path: Path) -> None:
    folder = copy_of_en_de(tmp_path, "a")
    card = read_json(folder / CARD)
    card["data"] = {f"corpus{i}": {"weight": 1.0, "licence": "CC0"} for i in range(9)}
    card["training"]["data"] = "cc0 + by"
    write_json(folder / CARD, card)
    row = table.render(tmp_path).splitlines()[6]
    assert "cc0 + by: 9 corpora, listed on its card" in row and "corpus1" not in row


def test_the_command_writes_it(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    folder = copy_of_en_de(tmp_path, "a")
    assert main(["checkpoints", "--readme"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / table.README)
    assert (tmp_path / table.README).read_text(encoding="utf-8") == table.render(tmp_path)
    write_json(folder / CARD, {})
    assert main(["checkpoints", "--readme"]) == 2
    assert "lacks what the table shows: 'task'" in capsys.readouterr().err
