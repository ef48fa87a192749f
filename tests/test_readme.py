"""README and docs are true: their Python runs, their links lead somewhere, their commands and folders exist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import model
from model import attach, load_translator
from model.__main__ import main
from model.adapters.attention_file import read_attention
from model.adapters.readers.reader import Reader
from model.analysis.maps import entropy
from tests.test_app import screen
from tests.test_model.test_adapters.other_models import model_of, theirs
from viz.app.menu import MENU
from viz.stage.alone import stage
from viz.text.words import EXAMPLES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
# Those of from-bertviz.md are calls of BertViz with a model of the reader's.
PAGES = "\n".join(text for path, text in DOCS.items() if path.stem != "from-bertviz")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGES, flags=re.DOTALL)


# Of the pages your-own-model.md and from-transformerlens.md, in order.
ANY_MODEL = ("reader.read(result.text, edits", "reader.config.layers")
TRANSFORMERLENS = (
    "clean = reader.read",
    "without = reader.read",
    "def sharpen",
    "patching = reader.patching",
    "patched = reader.read",
    "effects = reader.effects",
    "parts = reader.score_parts",
    "circuit = reader.circuit",
)


# Run by other tests: test_notebook.py (docs/your-own-attention.ipynb does both) and test_chat.py.
OF_A_MODULE, OF_ONES_OWN = "record_attention(module)", "layer.self_attn.attn"
OF_A_CHAT = "reader.read(messages=question)"


def block_with(words: str) -> str:
    """The one block of Python in which these words stand."""
    (block,) = [block for block in BLOCKS if words in block]
    return block


def test_every_block_is_run() -> None:
    ran = ("result.text ", "record(", 'off=(Head("cross"', "translator.patching", "head_view", "stage(result")
    ran += ("attention_of", "attention_heatmap")
    ran += (OF_A_MODULE, OF_ONES_OWN, OF_A_CHAT)
    ran += ("def live", "np.savez", *ANY_MODEL, *TRANSFORMERLENS)
    assert {block_with(words) for words in ran} == set(BLOCKS)


def test_the_readmes_python_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict = {}
    exec(block, names)  # our own pages
    assert names["result"].text == "Ein Hund rennt."


def test_a_clause_of_the_long_example_has_lost_its_verb() -> None:
    """“is playing” is left out of the translation."""
    text = load_translator("en-de").translate(EXAMPLES["A long one"], beam=4).text
    assert "ein kleines Mädchen in einem roten Kleid mit einem gelben Hund" in text and "spielt" not in text


def test_ten_lines_of_numpy_write_a_recording(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    block = block_with("np.savez")
    assert len(block.strip().splitlines()) <= 10
    exec(block, {})  # our own pages
    read = read_attention("mine.npz")
    assert (read.text, read.kinds, read.weights["decoder_self"].shape) == ("a dog runs", ["decoder_self"], (2, 3, 4, 4))
    np.testing.assert_allclose(read.weights["decoder_self"].sum(-1), 1, atol=1e-6)
    assert read.log_probabilities.shape == (4,) and "<!DOCTYPE html>" in stage(read).to_html()


@pytest.mark.slow
def test_the_python_of_the_docs_runs() -> None:
    names: dict = {"src": torch.tensor([[300, 301, 2]]), "tgt": torch.tensor([[1, 300]])}
    for words in ("result.text ", "record(", 'off=(Head("cross"', "translator.patching", "stage(result", "head_view"):
        exec(block_with(words), names)  # our own pages
    result = names["result"]
    assert result.text.startswith("Das Tier")
    assert result.attention("cross").shape[2:] == (len(result.target_tokens), len(result.source_tokens))
    assert np.isneginf(result.trace["decoder.layers.0.self_attention.scores"]).any()
    assert set(names["trace"]) == {address for address in result.trace if address.endswith(".weights")}
    assert not names["trace"]["decoder.layers.2.cross_attention.weights"].any()
    assert names["patching"].words == ("▁mein", "▁meine")


def test_its_figure_is_the_head_that_it_names() -> None:
    names: dict = {}
    exec(block_with("attention_heatmap"), names)  # our own pages
    np.testing.assert_array_equal(names["figure"].data[0].z, names["result"].attention("cross")[2, 5])


@pytest.fixture
def small_smollm(monkeypatch: pytest.MonkeyPatch) -> Reader:
    """What `load_model` gives for SmolLM2: a model with as many layers and heads, and none of its weights."""
    words = "When Mary and John went to the store , gave a drink".split()
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token=","))
    tokenizer.pre_tokenizer = Whitespace()
    torch.manual_seed(0)
    heads = {"num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 36, "num_hidden_layers": 30}
    config = LlamaConfig(vocab_size=len(words), intermediate_size=20, eos_token_id=None, bos_token_id=None, **heads)
    reader = attach(LlamaForCausalLM(config), PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    monkeypatch.setattr(model, "load_model", lambda name: {"HuggingFaceTB/SmolLM2-135M": reader}[name], raising=False)
    return reader


@pytest.mark.slow
def test_the_python_of_any_model_runs(small_smollm: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict = {}
    for words in ANY_MODEL:
        exec(block_with(words), names)  # our own pages
    result, changed = names["result"], names["changed"]
    word, cost = capsys.readouterr().out.split()
    assert word == result.predicted_tokens[-1]
    best = result.predicted_ids[-1]
    assert float(cost) == pytest.approx(result.logits[-1, best] - changed.logits[-1, best], rel=1e-4) != 0


@pytest.mark.slow
def test_what_transformerlens_does_is_done(small_smollm: Reader) -> None:
    names: dict = {}
    for words in TRANSFORMERLENS:
        exec(block_with(words), names)  # our own pages
    clean, without, changed = names["clean"], names["without"], names["changed"]
    squares = clean.attention("decoder_self")[23] ** 2
    sharpened = squares / squares.sum(-1, keepdims=True)
    np.testing.assert_allclose(changed.attention("decoder_self")[23], sharpened, atol=1e-6)
    assert not without.attention("decoder_self")[23, 0].any()
    runs = [names[run].attention("decoder_self")[23, 0] for run in ("patched", "clean")]
    np.testing.assert_allclose(*runs, atol=1e-6)
    assert names["shares"].shape == (30, 9)
    mary, john = (names["reader"].token(f" {name}") for name in ("Mary", "John"))
    difference = clean.logits[-1, mary] - clean.logits[-1, john]
    assert names["effects"].logits[-1] == pytest.approx(difference, abs=1e-4)
    assert names["patching"].clean == pytest.approx(difference, abs=1e-4)


def test_its_recipe_for_transformers_makes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"model": model_of("bart"), "tokenizer": theirs("bart")}
    exec(block_with("attention_of"), names)  # our own pages
    recording = read_attention(tmp_path / "mine.npz")
    assert recording.source_tokens == names["tokenizer"].convert_ids_to_tokens(names["inputs"]["input_ids"][0].tolist())
    assert recording.attention("cross").shape[:2] == (3, 2) and recording.residual("cross") < 1e-5
    page = ROOT / "viz" / "ui" / "models" / "attention_file.py"
    assert f'"""\\\n{block_with("attention_of")}"""' in page.read_text(encoding="utf-8"), "the same recipe"


@pytest.mark.slow
def test_its_page_is_a_page_of_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "entropy.py").write_text(block_with("def live"), encoding="utf-8")
    monkeypatch.setitem(MENU["Explore"], str(tmp_path / "entropy"), "Entropy")
    at = screen.open_page("entropy.py", text="A dog runs.", beam="1")
    assert not at.exception
    result = load_translator("en-de").translate("A dog runs.", beam=1)
    plotted = screen.values(screen.figure(at, "entropy")["data"][0]["z"])
    np.testing.assert_allclose(plotted, entropy(result.attention("cross"))[-1], rtol=1e-5)


def test_links_lead_to_files_and_every_page_has_one_from_the_readme() -> None:
    linked = set()
    for path, text in {ROOT / "README.md": README, **DOCS}.items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            if not link.startswith("http"):
                name, _, heading = link.partition("#")
                file = path.parent / name if name else path
                assert file.exists(), f"{path.name}: {link}"
                headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE) if heading else []
                assert heading in {"", *(title.lower().replace(" ", "-") for title in headings)}, f"{path.name}: {link}"
                linked.add(file.resolve())
    assert set(DOCS) <= linked


def test_the_folders_that_are_listed_exist() -> None:
    section = DOCS[ROOT / "docs" / "how-it-is-built.md"].split("\n## ")[0]
    folders = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert len(folders) >= 6
    assert all((ROOT / folder).exists() for folder in folders)


@pytest.mark.parametrize("command", re.findall(r"^python -m model (\w+)", PAGES, flags=re.MULTILINE))
def test_its_commands_exist(command: str) -> None:
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
