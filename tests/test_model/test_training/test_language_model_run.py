"""A language model from training to the commands: learnt, resumed, loaded, read, written with, evaluated."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model import load_translator
from model.__main__ import main
from model.config import LanguageModelConfig
from model.language_model import LanguageModel
from model.measures import context
from model.running.translator import Writer
from model.text.words import TextWords, read_tokenizer
from model.training.config import RunConfig, TrainingConfig
from model.training.data.corpora import read_lines
from model.training.evaluation import text_perplexity
from model.training.loop import Trainer
from model.training.presets import PRESETS
from tests.test_model.test_training.language import write_gz

ADAPTIVE = RunConfig(
    model=LanguageModelConfig(
        vocab_size=99, d_model=16, n_heads=2, n_layers=1, d_ff=32, max_length=16, norm="pre", final_norm=True,
        tie_embeddings=True, cutoffs=(5, 9), init="normal", dropout=0.1,
    ),
    training=TrainingConfig(
        data="wikitext2", min_count=1, steps=40, columns=6, window=16, shuffle_windows=True, schedule="constant",
        learning_rate=0.02, warmup=5, label_smoothing=0.0, average_every=5, average_last=2, validate_every=20,
    ),
)  # fmt: skip


def story(lines: int, seed: int) -> list[str]:
    """Lines in which every word but the first follows from the one before it."""
    rng = random.Random(seed)
    after = {"the": "cat", "cat": "sat", "sat": "down", "a": "dog", "dog": "@-@", "@-@": "ran"}
    texts = []
    for _ in range(lines):
        words = [rng.choice(["the", "a"])]
        while words[-1] in after:
            words.append(after[words[-1]])
        texts.append(" " + " ".join([*words, ","][: rng.choice([9, 9, 0])] + ["<unk>", "."]) + " ")
    return texts


@pytest.fixture(scope="module")
def text_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    for split, lines in (("train", 200), ("valid", 30), ("test", 30)):
        write_gz(folder / "wikitext-2" / f"{split}.txt.gz", story(lines, seed=len(split)))
    return folder


@pytest.fixture(scope="module")
def folder(text_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "lm"
    Trainer(ADAPTIVE, text_dir, out, "python -m model train lm").train()
    return out


@pytest.fixture(scope="module")
def writer(folder: Path) -> Writer:
    return load_translator(str(folder))


def test_it_learns(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text("utf-8").splitlines()]
    first, last = (line["valid_perplexity.wikitext2"] for line in lines if "valid_perplexity.wikitext2" in line)
    assert 1 < last < first < 12  # of 12 words


def test_its_words_are_those_of_the_text(writer: Writer, text_dir: Path) -> None:
    words = writer.tokenizer
    assert set(words.tokens(range(len(words)))) == {*"the cat sat down a dog @-@ ran , . <unk> <eos>".split()}
    assert words.tokens([0]) == ["."]  # as frequent as <eos> and <unk>; ties go by the alphabet
    assert words.tokens(words.encode("The cat-dog sat.")) == ["<unk>", "cat", "@-@", "dog", "sat", "."]
    assert words.decode(words.encode("a dog-ran, the cat.")) == "a dog-ran, the cat."
    assert read_tokenizer(words.to_json()).to_json() == words.to_json()
    lines = story(5, seed=1)
    assert len(words.line_ids(lines)) == sum(len(line.split()) + 1 for line in lines)


def test_words_that_cannot_be() -> None:
    for words, says in ((["a"], "must include <eos> and <unk>"), (["<eos>", "<unk>", "a b"], "hold no white space")):
        with pytest.raises(ValueError, match=says):
            TextWords(words)
    with pytest.raises(ValueError, match="must be a list of texts"):
        read_tokenizer('{"type": "text", "words": [3]}')


def test_a_resumed_run_ends_with_the_same_weights(text_dir: Path, tmp_path: Path) -> None:
    for name, base in (("adam", ADAPTIVE), ("sgd", PRESETS["s2"])):
        model = base.model if name == "adam" else replace(base.model, d_model=8, d_ff=8)
        run = RunConfig(model=model, training=replace(base.training, steps=6, columns=4, validation_pairs=0))
        whole = Trainer(run, text_dir, tmp_path / name / "whole")
        whole.train()
        short = replace(run, training=replace(run.training, steps=3))
        Trainer(short, text_dir, tmp_path / name / "parts").train()
        rest = Trainer(run, text_dir, tmp_path / name / "parts", resume=True)
        rest.train()
        ours = dict(rest.model.named_parameters())
        assert all(torch.equal(value, ours[key]) for key, value in whole.model.named_parameters())


def test_reading_shows_what_was_computed(writer: Writer) -> None:
    result = writer.read("the cat sat")
    assert result.target_tokens == ["<eos>", "the", "cat", "sat"]
    assert result.predicted_tokens[:3] == ["the", "cat", "sat"]
    weights = result.attention("decoder_self")
    assert weights.shape == (1, 2, 4, 4) and weights.dtype == np.float32
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    assert np.array_equal(result.mask("decoder_self"), np.tril(np.ones((4, 4), bool)))
    assert result.positional("target").shape == (4, 16)
    following = writer.distribution("the cat sat")
    assert writer.tokenizer.tokens([int(following.argmax())]) == [result.predicted_tokens[-1]] == ["down"]
    assert abs(np.log(following.max()) - result.log_probabilities[-1]) < 1e-5
    with pytest.raises(ValueError, match="no cross-attention"):
        result.attention("cross")


def test_the_distribution_is_that_of_the_last_logits(writer: Writer) -> None:
    logits = writer.read("the cat sat").trace["logits"][-1]
    odds = np.exp(logits - logits.max(), dtype=np.float64)
    np.testing.assert_allclose(writer.distribution("the cat sat"), odds / odds.sum(), atol=1e-6)
    hot = np.exp((logits - logits.max()) / 2, dtype=np.float64)
    np.testing.assert_allclose(writer.distribution("the cat sat", temperature=2), hot / hot.sum(), atol=1e-6)
    unk = writer.tokenizer.unk_id
    odds[unk] = 0
    probabilities = writer.distribution("the cat sat", unknown=False)
    np.testing.assert_allclose(probabilities, odds / odds.sum(), atol=1e-6)
    assert probabilities[unk] == 0 and writer.distribution("the cat sat")[unk] > 0
    best = writer.distribution("", top_k=2)
    assert np.count_nonzero(best) == 2 and abs(best.sum() - 1) < 1e-6
    with pytest.raises(ValueError, match="top_p must be above 0 and at most 1, got 0"):
        writer.distribution("", top_p=0)


def test_writing_goes_on(writer: Writer) -> None:
    assert writer.write("the cat", words=2, temperature=0) == "the cat sat down"
    assert writer.write("a", 12, seed=3) == writer.write("a", 12, seed=3)
    assert len({writer.write("", 12, seed=seed) for seed in range(5)}) > 1
    assert "<unk>" not in writer.write("", 60)
    for values, says in (({"words": 0}, "from 1 to 500, got 0"), ({"text": "a " * 30}, "31 tokens; at most 16")):
        with pytest.raises(ValueError, match=says):
            writer.write(**({"text": "a"} | values))


def test_the_commands(folder: Path, text_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    name = ["--checkpoint", str(folder)]
    assert main(["write", "the cat", "--words", "1", "--temperature", "0", *name]) == 0
    assert capsys.readouterr().out == "the cat sat\n"
    assert main(["trace", "the cat", "--out", str(tmp_path / "t.npz"), *name]) == 0
    assert "decoder.layers.0.self_attention.scores" in np.load(tmp_path / "t.npz")
    test = text_dir / "wikitext-2" / "test.txt.gz"
    assert main(["evaluate", "--data", str(test), "--save-as", "test", *name]) == 0
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert scores["tokens"] == sum(len(line.split()) + 1 for line in story(30, seed=4))
    assert 1 < scores["perplexity"] < 12
    assert load_translator(str(folder)).card["scores"]["test"]["perplexity"] == scores["perplexity"]
    assert main(["evaluate", "--data", str(test), "--by-length", *name]) == 2
    assert "--by-length is for translators" in capsys.readouterr().err
    assert main(["translate", "the cat", *name]) == 2
    assert "is a language model: use 'write'" in capsys.readouterr().err


def test_the_loss_by_position_beyond_the_trained_length(writer: Writer, text_dir: Path, tmp_path: Path, capsys) -> None:
    test = text_dir / "wikitext-2" / "test.txt.gz"
    copy = shutil.copytree(writer.folder, tmp_path / "lm")
    assert main(["context", "--data", str(test), "--checkpoint", str(copy), "--save"]) == 0
    measures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert measures["trained"] == 16 and [entry["length"] for entry in measures["lengths"]] == [16, 32, 64]
    assert [len(entry["loss"]) for entry in measures["lengths"]] == [16, 32, 64]
    assert context.read(copy)["lengths"] == measures["lengths"]
    ids = torch.tensor(writer.tokenizer.line_ids(list(read_lines(test))))[:32]
    losses = context.loss_by_position(writer.model, ids, writer.tokenizer.eos_id, 16)
    assert [entry["windows"] for entry in measures["lengths"]] == [
        measures["tokens"] // length for length in (16, 32, 64)
    ]
    perplexity = text_perplexity(writer.model, ids, writer.tokenizer.eos_id)
    assert math.isclose(math.exp(losses.mean()), perplexity, rel_tol=1e-5)
    # At the positions that both have, a longer table changes nothing.
    longer = context.loss_by_position(writer.model, ids, writer.tokenizer.eos_id, 32)
    first = context.loss_by_position(writer.model, ids[:16], writer.tokenizer.eos_id, 16)
    np.testing.assert_allclose(longer[:16], first, atol=1e-5)
    with pytest.raises(ValueError, match="the text has 32 tokens, and a window 64"):
        context.loss_by_position(writer.model, ids, writer.tokenizer.eos_id, 64)
    learned = LanguageModel(replace(writer.config, positional="learned"))
    with pytest.raises(ValueError, match="learned positions end at 16"):
        context.with_positions(learned, 17)


def test_the_loss_of_each_token_is_its_own_log_probability(writer: Writer) -> None:
    ids = torch.arange(12).view(2, 6)
    for config in (writer.config, replace(writer.config, cutoffs=())):
        model = LanguageModel(config).eval()
        expected = -model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
        torch.testing.assert_close(model.losses(ids[:, :-1], ids[:, 1:]), expected)


def test_how_far_it_is_is_said_while_it_reads(writer: Writer, monkeypatch) -> None:
    monkeypatch.setattr(context, "_EVERY", -1.0)
    lines: list[str] = []
    context.measure(writer, ["the cat"] * 40, lines.append)
    assert any(re.fullmatch(r"16 tokens at once: \d+ of \d+ windows", line) for line in lines)


def test_every_step_is_timed_with_a_cache_and_without(writer: Writer) -> None:
    for uses_cache in (True, False):
        seconds = context.seconds_per_token(writer.model, torch.arange(5), uses_cache)
        assert len(seconds) == 5 and min(seconds) > 0


def test_a_window_has_positions() -> None:
    with pytest.raises(ValueError, match=r"training.window \(17\) must be at most model.max_length \(16\)"):
        replace(ADAPTIVE, training=replace(ADAPTIVE.training, window=17))
    with pytest.raises(ValueError, match="cutoffs must be from 1 to 98"):
        replace(ADAPTIVE.model, cutoffs=(5, 99))
