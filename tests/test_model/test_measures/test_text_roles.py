"""What heads of a model do in one text: who repeats, and who moves the next word."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from model.measures.heads import text_roles

TOKENS = ["▁When", "▁Mary", "▁and", "▁John", "▁gave", "▁to"]


def effects_of(**last: dict[str, float]) -> np.ndarray:
    """Direct effects of one layer of heads, by name what each adds at the last step from each token."""
    effects = np.zeros((1, len(last), len(TOKENS), len(TOKENS)), np.float32)
    for head, additions in enumerate(last.values()):
        for token, value in additions.items():
            effects[0, head, -1, TOKENS.index(token)] = value
    return effects


def test_heads_that_add_the_next_word_from_where_it_stands_are_its_movers() -> None:
    effects = effects_of(mover={"▁Mary": 1.5, "▁to": 0.5}, other={"▁John": 2.0}, against={"▁Mary": -1.0})
    moves = text_roles.moves(effects, TOKENS, "▁Mary")
    np.testing.assert_allclose(moves, [[1.5 / 4, 0, -1 / 4]])
    assert not text_roles.moves(effects, TOKENS, "▁store").any()
    assert not text_roles.moves(-np.abs(effects), TOKENS, "▁Mary").any()


def test_a_mover_has_that_role_whatever_else_it_does() -> None:
    n_heads, size = 2, len(TOKENS)
    weights = np.tri(size, dtype=np.float32) / np.arange(1, size + 1)[:, None]
    result = SimpleNamespace(
        source_tokens=[],
        target_tokens=TOKENS,
        predicted_tokens=[*TOKENS[1:], "▁Mary"],
        attention=lambda kind: np.broadcast_to(weights, (1, n_heads, size, size)),
        mask=lambda kind: np.tri(size, dtype=bool),
    )
    effects = effects_of(mover={"▁Mary": 1.0}, other={"▁John": 1.0})
    assert text_roles.in_one_text(result, "decoder_self") == [["broad", "broad"]]
    assert text_roles.in_one_text(result, "decoder_self", effects) == [[text_roles.NAME_MOVER, "broad"]]


def test_movers_of_a_file_count_names_that_stood_before_at_every_step() -> None:
    tokens, following = ["▁Mary", "▁and", "▁Mary", "▁and"], ["▁and", "▁Mary", "▁and", "▁Mary"]
    effects = np.zeros((1, 2, 4, 4), np.float32)
    effects[0, 0, 1, 0] = 1.0  # a step after which Mary comes, from where she stands
    effects[0, 1, 3] = [0.0, 2.0, 0.5, 0.5]  # from other tokens, and from where she stands the second time
    effects[0, :, 2] = 9.0  # "and" is not a name
    reader = SimpleNamespace(effects=lambda result: SimpleNamespace(heads=lambda kind: effects))
    logits = np.eye(4)[[0, 1, 0, 1]]
    result = SimpleNamespace(
        target_tokens=tokens, predicted_tokens=following, predicted_ids=[0, 1, 0, 1], trace={"logits": logits}
    )
    movers = text_roles.Movers()
    movers.add(reader, result)
    assert movers.steps == 2
    np.testing.assert_allclose(movers.shares(), [[1.0 / 4, 0.5 / 4]])
    logits[1] = logits[0]  # the model does not predict Mary there
    unsure = text_roles.Movers()
    unsure.add(reader, result)
    np.testing.assert_allclose(unsure.shares(), [[0, 0.5 / 3]])
    lower = text_roles.Movers()
    lower.count(effects[:, :, 2, :3], ["mary", "and", "mary"], "mary")
    assert not lower.steps and not text_roles.moves(effects, ["a", "b", "a", "b"], "a").any()
