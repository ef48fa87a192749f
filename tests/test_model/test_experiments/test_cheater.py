"""The cheater: both models learn from the same sentences, and an opened cell changes its row alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from model.experiments import cheater


def test_sentences_are_told_from_others() -> None:
    generator = random.Random(0)
    sentences = [cheater.sentence(generator) for _ in range(200)]
    assert all(map(cheater.is_sentence, sentences)) and {len(sentence) for sentence in sentences} == {6, 7, 8}
    for sentence in sentences:
        assert not cheater.is_sentence(sentence[1:]) and not cheater.is_sentence(sentence[:-1])
        assert not cheater.is_sentence([*sentence, cheater.STOP])


def test_the_models_differ_in_what_they_see_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cheater, "STEPS", 2)
    honest, twin, cheating = (cheater.train(looks_ahead) for looks_ahead in (False, False, True))
    np.testing.assert_array_equal(honest.losses, twin.losses)
    ids = cheater.batch(4, random.Random(1))
    with torch.inference_mode():
        plain = honest.model(ids)
        with cheater.open_mask(honest.model, [(2, 5)]):
            logits = honest.model(ids)
        with cheater.open_mask(honest.model):
            every = honest.model(ids)
    changed = (logits - plain).abs().amax((0, 2)) > 1e-6
    assert changed.tolist() == [row == 2 for row in range(ids.size(1))]
    assert ((every - plain).abs().amax((0, 2))[:-1] > 1e-6).all() and torch.allclose(every[:, -1], plain[:, -1])
    assert not np.array_equal(honest.losses, cheating.losses)
