"""The tiny model that learns to reverse strings: its data, its bounds, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.experiments import practice
from model.experiments.practice import Practice, Settings


def test_a_batch_is_strings_and_their_reversals():
    src, tgt = practice.batch(["abc", "z"])
    assert src.tolist() == [[4, 5, 6, 2], [29, 2, 0, 0]]
    assert tgt.tolist() == [[1, 6, 5, 4, 2], [1, 29, 2, 0, 0]]


def test_strings_are_of_all_lengths_and_come_again_with_the_seed():
    texts = practice.strings(500, torch.Generator().manual_seed(3))
    assert {len(text) for text in texts} == set(range(1, practice.LONGEST + 1))
    assert set("".join(texts)) == set(practice.LETTERS)
    assert texts == practice.strings(500, torch.Generator().manual_seed(3))


def test_unseen_strings_are_never_trained_on(monkeypatch):
    run = Practice(Settings())
    monkeypatch.setattr(practice, "strings", lambda n, generator: [*run.unseen, "abc"])
    batches = []
    batch = practice.batch
    monkeypatch.setattr(practice, "batch", lambda texts: batches.append(texts) or batch(texts))
    run.advance()
    assert batches[0] == ["abc"]


@pytest.mark.slow
def test_it_learns_and_the_same_settings_give_the_same_run():
    runs = [Practice(Settings(n_heads=2)) for _ in range(2)]
    for run in runs:
        for _ in range(60):
            run.advance()
    first, second = runs
    assert first.losses == second.losses
    assert np.mean(first.losses[-5:]) < 0.9 * np.mean(first.losses[:5])
    output, weights = first.reverse(practice.SAMPLE)
    assert weights.shape == (1, 2, min(len(output) + 1, practice.LONGEST + 2), len(practice.SAMPLE) + 1)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [Settings(norm="post"), Settings(schedule="step_decay"), Settings(n_heads=1), Settings(n_heads=8, warmup=1)],
)
def test_every_choice_trains_and_its_rate_peaks_as_it_says(settings):
    run = Practice(settings)
    run.advance()
    assert run.model.config.norm == settings.norm and run.model.config.n_heads == settings.n_heads
    schedule = settings.function()
    assert max(schedule(step) for step in range(1, practice.MAX_STEPS)) == pytest.approx(settings.peak)
    assert run.optimizer.param_groups[0]["lr"] == schedule(1)


def test_starting_one_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    Practice(Settings()).advance()
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"norm": "mid"}, "norm must be one of pre, post, got 'mid'"),
        ({"n_heads": 3}, "n_heads must be one of 1, 2, 4, 8, got 3"),
        ({"peak": 0}, "peak must be above 0"),
        ({"warmup": 0}, "warmup"),
        ({"warmup": 10**6}, "warmup must be from 1"),
        ({"schedule": "x"}, "schedule must be one of"),
    ],
)
def test_wrong_settings_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        Settings(**values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to reverse"),
        ("héllo", "got 'é'"),
        ("a b", "got ' '"),
        ("A", "got 'A'"),
        ("a" * 11, "11 characters"),
    ],
)
def test_strings_that_it_cannot_read_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        Practice(Settings()).reverse(text)


def test_what_it_writes_is_its_own_greedy_decoding():
    run = Practice(Settings())
    output, weights = run.reverse("abc")
    src, _ = practice.batch(["abc"])
    ids = [1]
    for _ in range(practice.LONGEST + 1):
        with torch.no_grad():
            logits = run.model(src, torch.tensor([ids]))[0, -1]
        logits[[0, 1]] = -torch.inf
        ids.append(int(logits.argmax()))
        if ids[-1] == 2:
            break
    expected = "".join(practice.LETTERS[i - 4] if i > 3 else "?" for i in ids[1:] if i != 2)
    assert output == expected
    assert weights.shape[-1] == 4 and weights.shape[-2] <= practice.LONGEST + 2
