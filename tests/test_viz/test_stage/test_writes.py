"""What a head writes: which place an address asks for, and what travels of it."""

from __future__ import annotations

import numpy as np
import pytest

from model.running import attribution
from viz.stage.payload import writes

ASKED = {"view": "writes", "kind": "cross", "layer": "1", "head": "2", "row": "3", "key": "0"}


def test_the_place_of_an_address() -> None:
    assert writes.place_of(ASKED) == writes.Place("cross", 1, 2, 3, 0)
    without = {name: ASKED[name] for name in ("view", "kind", "layer", "head")}
    assert writes.place_of(without) == writes.Place("cross", 1, 2)
    assert writes.place_of(without | {"key": "4", "row": "x"}) == writes.Place("cross", 1, 2, None, 4)


@pytest.mark.parametrize("query", [{"view": "why"}, {"view": "map"}, {"kind": "none"}, {"layer": "x"}, {"head": ""}])
def test_an_address_without_a_place(query) -> None:
    assert writes.place_of(ASKED | query) is None


@pytest.mark.parametrize("kind", ["cross", "decoder_self"])
def test_the_weight_times_what_travels_is_the_direct_effect(tiny, result, kind) -> None:
    """Of every word that is named, above the mean over the vocabulary."""
    place = writes.Place(kind, 1, 2, 1, 0)
    payload = writes.payload(place, [tiny.head_words(result, kind, 1, 2, query=1, key=0)])
    assert payload["place"] == {"kind": kind, "layer": 1, "head": 2, "row": 1, "key": 0}
    [cell] = payload["cells"]
    assert cell["weight"] == result.attention(kind)[1, 2, 1, 0]
    words = tiny.tokenizer.target.tokens(range(tiny.config.vocab_sizes[1]))
    for side, sign in (("raised", 1), ("lowered", -1)):
        logits = cell[side]["logits"]
        assert len(logits) == len(cell[side]["tokens"]) == 10 and (np.diff(sign * logits) <= 0).all()
        for token, logit in zip(cell[side]["tokens"], logits):
            word = [words.index(token)] * len(result.predicted_ids)
            effect = attribution.effects(tiny.model, result, None, word).heads(kind)[1, 2, 1, 0]
            assert cell["weight"] * logit == pytest.approx(effect, abs=1e-5)
