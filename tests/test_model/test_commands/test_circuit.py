"""The command circuit: a table, JSON and a picture of what the Python API says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from transformers import LlamaConfig, LlamaForCausalLM

from model import load_model, load_translator
from model.__main__ import main
from tests.test_model.builders import randomise
from tests.test_model.test_adapters.other_models import IDS, VOCAB, theirs

TEXT = "the cat sat on the"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Runs a command; gives exit code, lines of stdout, and stderr."""

    def run(*words: object) -> tuple[int, list[str], str]:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out.splitlines(), captured.err

    return run


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "llama"
    theirs("gpt2").save_pretrained(folder)
    shape = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 3, "max_position_embeddings": 64}
    llama = LlamaForCausalLM(LlamaConfig(vocab_size=len(VOCAB), num_attention_heads=4, **shape, **IDS))
    randomise(llama)
    llama.save_pretrained(folder)
    return folder


def test_a_translation(run, tmp_path: Path) -> None:
    files = tmp_path / "c.json", tmp_path / "c.svg"
    words = ["--word", "mein", "--against", "meine", "--threshold", "0.02", "--most", "12", "--cut-edges"]
    words += ["--from", "Where is my sister?", "--json", files[0], "--svg", files[1]]
    code, lines, _ = run("circuit", "Where is my brother?", *words)
    assert code == 0
    translator = load_translator("en-de")
    result, other = (translator.translate(f"Where is my {word}?") for word in ("brother", "sister"))
    step = result.predicted_tokens.index("▁mein")
    circuit = translator.circuit(result, against="meine", step=step, threshold=0.02, most=12)
    assert {("cross", 2, 2), ("encoder_self", 1, 5)} <= set(circuit.heads)
    assert lines[0] == f"logit of “▁mein” less that of “▁meine”, after “▁ist” ({step}): {circuit.logit:.3f}"
    assert sum(" looks at " in line for line in lines) == len(circuit.nodes)
    report = json.loads(files[0].read_text(encoding="utf-8"))
    assert [edge["amount"] for edge in report["edges"]] == pytest.approx([edge.amount for edge in circuit.edges])
    kept = translator.faithfulness(result, circuit, [other], patched=True)
    assert report["faithfulness"]["share_of_heads"] == pytest.approx(kept.share(kept.heads))
    assert any(line.startswith(f"{kept.heads:8.3f} {kept.share(kept.heads):7.1%}") for line in lines)
    cuts = list(translator.cut_edges(result, circuit))
    assert [cut["lost"] for cut in report["cuts"]] == pytest.approx([circuit.logit - cut.logit for cut in cuts])
    assert np.corrcoef([edge.amount for edge in circuit.edges], [cut["lost"] for cut in report["cuts"]])[0, 1] > 0.9
    picture = ElementTree.parse(files[1]).getroot()
    heads = [element for element in picture.iter() if element.get("class") == "head"]
    curves = [element for element in picture.iter() if element.tag.endswith("path")]
    assert len(heads) == len(circuit.nodes)
    assert len(curves) == len(circuit.edges) + sum(bool(node.effect) for node in circuit.nodes)


def test_a_model_of_transformers(run, small_model: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("the cat sat\n\non the mat\n", encoding="utf-8")
    words = ["--model", small_model, "--word", "mat", "--against", "dog", "--threshold", "0.01"]
    code, lines, _ = run("circuit", TEXT, *words, "--texts", tmp_path / "texts.txt")
    reader = load_model(str(small_model))
    result = reader.read(TEXT)
    circuit = reader.circuit(result, "mat", "dog", threshold=0.01)
    kept = reader.faithfulness(result, circuit, [reader.read(text) for text in ("the cat sat", "on the mat")])
    assert code == 0 and lines[0].endswith(f"{circuit.logit:.3f}")
    assert any(f"{kept.places:8.3f} " in line for line in lines)
    code, lines, _ = run("circuit", TEXT, *words[:4])
    assert code == 0 and "less the mean of all words" in lines[0]
    code, lines, _ = run("circuit", TEXT, *words[:4], "--threshold", "1e9")
    assert code == 0 and "no head adds that much" in lines[1]


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "give --word, or --step"),
        (["--word", "Katze"], "is not a token of the translation"),
        (["--step", "99"], "steps are 0 to"),
        (["--step", "1", "--threshold", "0"], "above 0"),
        (["--step", "1", "--most", "0"], "at least 1"),
        (["--step", "1", "--from", "A dog.", "--texts", "x"], "do not go together"),
        (["--step", "1", "--against", "Donaudampfschiff"], "tokens of this model"),
        (["--step", "1", "--texts", "nowhere.txt"], "nowhere.txt"),
        (["--checkpoint", "wikitext2-lm", "--target", "x"], "--target is for models that translate"),
    ],
)
def test_what_is_refused(run, words: list[str], message: str) -> None:
    code, _, error = run("circuit", "Where is my brother?", *words)
    assert code == 2 and message in error and error.count("\n") == 1
