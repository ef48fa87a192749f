"""The README is true: its Python runs, its commands and folders exist, its picture is there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from model.__main__ import main
from model.adapters.attention_file import read_attention
from tests.test_model.test_adapters.other_models import model_of, theirs
from viz.text.words_open import RECIPE

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def block_with(words: str) -> str:
    """The one block of Python in which these words stand."""
    (block,) = [block for block in BLOCKS if words in block]
    return block


def test_every_block_is_run() -> None:
    ran = ("result.text ", "record(", "edits=", "head_view", "stage(", "attention_of", "attention_heatmap")
    assert {block_with(words) for words in ran} == set(BLOCKS)


def test_its_python_runs() -> None:
    names: dict = {"src": torch.tensor([[300, 301, 2]]), "tgt": torch.tensor([[1, 300]])}
    for words in ("result.text ", "record(", "edits=", "stage(", "head_view"):
        exec(block_with(words), names)  # our own README
    result = names["result"]
    assert result.text.startswith("Das Tier")
    assert result.attention("cross").shape[2:] == (len(result.target_tokens), len(result.source_tokens))
    assert np.isneginf(result.trace["decoder.layers.0.self_attention.scores"]).any()
    assert set(names["trace"]) == {address for address in result.trace if address.endswith(".weights")}
    assert not names["trace"]["decoder.layers.2.cross_attention.weights"].any()


def test_its_figure_is_the_head_that_it_names() -> None:
    names: dict = {}
    exec(block_with("attention_heatmap"), names)  # our own README
    np.testing.assert_array_equal(names["figure"].data[0].z, names["result"].attention("cross")[2, 5])


def test_its_recipe_for_transformers_makes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"model": model_of("bart"), "tokenizer": theirs("bart")}
    exec(block_with("attention_of"), names)  # our own README
    found = read_attention(tmp_path / "mine.npz")
    assert found.source_tokens == names["tokenizer"].convert_ids_to_tokens(names["inputs"]["input_ids"][0].tolist())
    assert found.attention("cross").shape[:2] == (3, 2) and found.residual("cross") < 1e-5
    assert block_with("attention_of").rstrip() == RECIPE.rstrip()


def test_the_files_it_shows_exist() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert links
    assert all((ROOT / link).exists() for link in links if not link.startswith("http"))
    section = TEXT.split("## Where things are")[1].split("\n## ")[0]
    folders = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert len(folders) >= 6
    assert all((ROOT / folder).exists() for folder in folders)


@pytest.mark.parametrize("command", re.findall(r"^python -m model (\w+)", TEXT, flags=re.MULTILINE))
def test_its_commands_exist(command: str) -> None:
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
