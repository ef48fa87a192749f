"""A recurrent system from training to the commands: learnt, resumed, loaded, translated, traced, evaluated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model import load_translator
from model.__main__ import main
from model.config import GruConfig
from model.decoding import beam_search
from model.running.translator import Translator
from model.text.special import EOS_ID, pad_ids
from model.training.config import RunConfig, TrainingConfig
from model.training.loop import Trainer
from tests.test_model.test_training.language import VOCAB_SIZE, sentence_pairs

TRAINING = TrainingConfig(
    data="multi30k", lowercase=True, min_count=2, steps=60, batch_tokens=4000, batch_pairs=30, max_length=40,
    schedule="constant", learning_rate=0.01, warmup=0, betas=(0.9, 0.999), teacher_forcing=0.5, label_smoothing=0.0,
    average_last=2, average_every=5, validate_every=30, validation_pairs=8,
)  # fmt: skip
SIZES = {"source_vocab_size": 1, "target_vocab_size": 1, "d_embedding": 12, "d_hidden": 24, "max_length": 64}
PLAIN = RunConfig(model=GruConfig(**SIZES), training=TRAINING)
ATTENTION = replace(PLAIN, model=GruConfig(**SIZES, attention=True, bidirectional=True))


@pytest.fixture(scope="module", params=[PLAIN, ATTENTION], ids=["plain", "attention"])
def folder(request, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "gru"
    Trainer(request.param, data_dir, out, "python -m model train gru").train()
    return out


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return load_translator(str(folder))


def test_it_learns(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text("utf-8").splitlines()]
    assert lines[-1]["loss"] < lines[0]["loss"]
    for name in ("valid_perplexity.multi30k", "valid_free_perplexity.multi30k"):
        first, last = (line[name] for line in lines if name in line)
        assert 1 < last < first < 8  # of the 10 tokens, special ones counted, none is told apart at the beginning


def test_a_resumed_run_ends_with_the_same_weights(data_dir: Path, tmp_path: Path) -> None:
    short = replace(ATTENTION, training=replace(TRAINING, steps=6, validation_pairs=0))
    whole = Trainer(short, data_dir, tmp_path / "whole")
    whole.train()
    Trainer(replace(short, training=replace(short.training, steps=3)), data_dir, tmp_path / "parts").train()
    rest = Trainer(short, data_dir, tmp_path / "parts", resume=True)
    rest.train()
    ours = dict(rest.model.named_parameters())
    assert all(torch.equal(value, ours[name]) for name, value in whole.model.named_parameters())


def test_what_is_shown_is_what_was_searched(translator: Translator) -> None:
    result = translator.translate("Green HOUSE sings", beam=3)
    assert result.source_tokens == ["green", "house", "sings", "</s>"]
    assert result.target_tokens[0] == "<s>" and result.target_tokens[1:] == result.predicted_tokens[:-1]
    best = result.search.hypotheses[0]
    assert abs(float(result.log_probabilities.sum()) - best.log_probability) < 1e-4
    ids = [*translator.tokenizer.source.encode("green house sings"), EOS_ID]
    state = translator.model.start(pad_ids([ids]))
    again = beam_search(translator.model, state, width=3, alpha=0.6, max_lengths=[18])
    assert again[0].hypotheses[0].ids == best.ids


def test_gates_and_maps_are_in_the_trace(translator: Translator) -> None:
    result = translator.translate("green house sings", beam=1)
    n_read, n_source, width = len(result.target_tokens), len(result.source_tokens), translator.config.d_hidden
    for gate in ("r", "u"):
        for address, length in (("encoder.forward_gru", n_source), ("decoder.gru", n_read)):
            gates = result.trace[f"{address}.{gate}"]
            assert gates.shape == (length, width) and gates.dtype == np.float32
            assert ((gates > 0) & (gates < 1)).all()
    assert result.trace["logits"].shape == (n_read, len(translator.tokenizer.target))
    if translator.config.attention:
        weights = result.attention("cross")
        assert weights.shape == (1, 1, n_read, n_source) and weights.dtype == np.float32
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        assert result.mask("cross").shape == (n_read, n_source) and result.mask("cross").all()
    else:
        with pytest.raises(ValueError, match="this model has no cross-attention"):
            result.attention("cross")
    with pytest.raises(ValueError, match="no encoder self-attention"):
        result.attention("encoder_self")
    with pytest.raises(ValueError, match="no positional encoding"):
        result.positional("source")


def test_a_given_translation_is_read(translator: Translator) -> None:
    result = translator.force("green house", "Haus grün")
    assert result.target_tokens == ["<s>", "haus", "grün"] and result.text == "haus grün"


def test_batches_translate_as_one_by_one(translator: Translator) -> None:
    texts = ["green house", "mouse sings water bread", "", "bread"]
    lines = translator.translate_lines(texts, beam=2)
    assert lines == [translator.translate(text, beam=2).text if text else "" for text in texts]


def test_the_commands(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["translate", "green house", "--checkpoint", str(folder)]) == 0
    assert main(["trace", "green house", "--out", str(tmp_path / "t.npz"), "--checkpoint", str(folder)]) == 0
    assert "decoder.gru.u" in np.load(tmp_path / "t.npz")
    pairs = sentence_pairs(20, seed=9)
    (tmp_path / "test.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    words = ["evaluate", "--data", str(tmp_path / "test.tsv"), "--checkpoint", str(folder), "--lowercase"]
    assert main([*words, "--beam", "1"]) == 0
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert scores["sentences"] == 20 and scores["bleu"] >= 0 and "case:lc" in scores["signature"]
    assert scores["perplexity"] > 1 and scores["perplexity_teacher_forced"] > 1


def test_perplexity_without_teacher_forcing_is_counted_by_hand(folder: Path) -> None:
    translator = load_translator(str(folder))
    from model.training.evaluation import perplexity

    pairs = sentence_pairs(5, seed=9)
    total = count = 0.0
    for source, target in pairs:
        src = torch.tensor([[*translator.tokenizer.source.encode(source), EOS_ID]])
        reference = [*translator.tokenizer.target.encode(target), EOS_ID]
        state, token = translator.model.start(src), torch.tensor([1])
        for right in reference:
            logs = translator.model.step(state, token).log_softmax(-1)
            total, count, token = total - logs[0, right].item(), count + 1, logs.argmax(-1)
    free = perplexity(translator.model, translator.tokenizer, pairs, teacher_forcing=0)
    assert abs(free - np.exp(total / count)) < 1e-3 * free


def test_what_does_not_fit_is_refused(data_dir: Path, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"min_count must be 1 or more \(words\) for the architecture 'gru', got 0"):
        replace(PLAIN, training=replace(TRAINING, min_count=0))
    with pytest.raises(ValueError, match=r"min_count must be 0 \(subwords\) for the architecture 'transformer', got 2"):
        RunConfig.from_dict({"model": {"vocab_size": VOCAB_SIZE}, "training": {"min_count": 2}})
    other = ATTENTION if not load_translator(str(folder)).config.attention else PLAIN
    with pytest.raises(ValueError, match="the checkpoint to start from has attention"):
        Trainer(other, data_dir, tmp_path / "new", start_from=str(folder))
