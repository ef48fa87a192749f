"""What the stage is told of direct effects equals what the translator computes, and of what has none it says why."""

from dataclasses import replace

import numpy as np
import pytest

from model.interventions.edits import Edits, Head
from model.measures.agreement import DECODER
from tests.support.messages import browser_state as read
from viz.stage import words
from viz.stage.payload import effects, message
from viz.stage.words import label
from viz.text.language import say

KINDS = ("cross", "decoder_self")


@pytest.fixture
def make_version(tiny):
    """A translation with its direct effects: `make_version(result, against, measured, **extras)`."""

    def make(result, against="runner-up", measured=None, **extras):
        of_all = tiny.effects(result, None if against == "mean" else against)
        alternatives = (
            None if of_all.alternatives is None else tiny.tokenizer.target.tokens(of_all.alternatives.tolist())
        )
        recording = replace(result.recording(), effects={kind: of_all.heads(kind) for kind in of_all.kinds})
        return message.Version(recording, effects=effects.payload(of_all, alternatives, measured) | extras)

    return make


def close(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, atol=1e-5 * np.abs(expected).max() + 1e-7)


@pytest.mark.parametrize("against", ["mean", "runner-up"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_map_is_the_effect_of_its_head(make_version, tiny, result, kind, against) -> None:
    payload = read(message.message(make_version(result, against)))
    expected = tiny.effects(result, None if against == "mean" else against).heads(kind)
    effects_payload = payload["effects"]["kinds"][kind]
    close(effects_payload["weights"], expected)
    close(effects_payload["did"], expected.sum(-1))
    limit = np.abs(expected).max()
    heat = effects_payload["look"]["data"][0]
    assert heat["zmax"] == -heat["zmin"] == pytest.approx(limit)
    np.testing.assert_allclose(effects_payload["tiles"], 128 + 127 * expected / limit, atol=0.51)
    weights = {kind_payload["code"]: kind_payload for kind_payload in payload["kinds"]}[kind]
    assert effects_payload["first"] == weights["first"], "the head that is open stays open"
    np.testing.assert_allclose(weights["weights"], result.attention(kind), atol=2e-5)


def test_a_head_did_as_much_when_keys_are_hidden(make_version, tiny, result) -> None:
    effects_payload = read(message.message(make_version(result)), {"hide": "1"})["effects"]["kinds"]["cross"]
    expected = tiny.effects(result, "runner-up").heads("cross")
    is_visible = [token != "</s>" for token in result.predicted_tokens]
    assert effects_payload["weights"].shape[-1] < expected.shape[-1]
    close(effects_payload["did"], expected.sum(-1)[:, :, is_visible])


@pytest.mark.parametrize("against", ["mean", "runner-up"])
def test_the_parts_of_each_word_sum_to_its_logit(make_version, tiny, result, against) -> None:
    payload = read(message.message(make_version(result, against)))["effects"]
    expected = tiny.effects(result, None if against == "mean" else against)
    bars, keys, heads = (trace[axis] for trace, axis in zip(payload["parts"]["data"], "xyz", strict=True))
    close(bars.sum(1), expected.logits)
    assert len(payload["parts"]["names"]) == bars.shape[1] == 2 + 3 * tiny.config.n_decoder_layers + 3
    close(keys, expected.heads("cross").sum((0, 1)))
    close(heads, np.concatenate([expected.heads(kind).sum(-1) for kind in KINDS]).transpose(2, 0, 1))
    for t, line in enumerate(payload["parts"]["lines"]):
        assert f"{expected.logits[t]:+.2f} logits" in line and f"“{label(result.predicted_tokens[t])}”" in line


def test_the_lens_names_the_words_of_the_lens(make_version, tiny, result) -> None:
    lens = tiny.lens(result)
    payload = read(message.message(make_version(result, lens=effects.lens_payload(lens))))["effects"]["lens"]
    np.testing.assert_allclose(payload["z"], lens.probabilities[:, :, 0].T)
    names, columns, cells = payload["table"]
    assert len(columns) == len(lens.sublayers) and names == [label(token) for token in result.predicted_tokens]
    for t, row in enumerate(cells):
        for n, cell in enumerate(row):
            assert cell == f"{label(lens.words[n][t][0])} {lens.probabilities[n, t, 0]:.0%}"
            assert payload["look"]["texts"][t][n]["isBold"] == (lens.words[n][t][0] == result.predicted_tokens[t])
            assert all(f"{p:.1%}" in payload["look"]["hover"]["cells"][t][n] for p in lens.probabilities[n, t])


def test_left_out_tokens_are_those_of_occlusion(make_version, tiny, result) -> None:
    drops = tiny.occlusion(result)
    payload = read(message.message(make_version(result, left_out=drops)))["effects"]["left-out"]
    np.testing.assert_array_equal(payload["z"], drops.astype(np.float32))
    heat = payload["look"]["data"][0]
    assert heat["zmax"] == -heat["zmin"] == pytest.approx(np.abs(drops).max())
    for line, row in zip(payload["lines"], drops, strict=True):
        best = label(result.source_tokens[int(row.argmax())])
        assert f"“{best}”" in line and f"{row.max():.2f}" in line or row.max() < 0.005


def test_agreement_has_a_row_for_each_measure_and_names_the_head_where_they_agree_most(make_version, result) -> None:
    rates = {name: np.linspace(-0.5, 0.4, 6).reshape(2, 3) for name in effects.COMPARED}
    rates["agreement"] = np.array([[0.1, 0.9, 0.2], [np.nan, 0.3, -0.5]])
    payload = read(message.message(make_version(result, agree=effects.agreement_payload(rates))))["effects"]["agree"]
    names, heads = payload["look"]["names"]
    assert names == [say(words.WORDS[f"agree_{name}"]) for name in rates] and heads[4] == "1.1"
    np.testing.assert_allclose(payload["z"][0], rates["agreement"].ravel().astype(np.float32))
    assert "In head 0.1," in payload["line"] and "(0.90)" in payload["line"]


def test_before_after_and_the_difference(make_version, tiny, result) -> None:
    edits = Edits(off=(Head("cross", 1, 2),))
    after = tiny.force(result.source, result, edits)
    payload = read(message.message(make_version(after), before=make_version(result)))
    for kind in KINDS:
        new, old = (tiny.effects(version, "runner-up").heads(kind) for version in (after, result))
        close(payload["effects"]["kinds"][kind]["weights"], new)
        close(payload["before"]["effects"]["kinds"][kind]["weights"], old)
        close(payload["difference"]["effects"]["kinds"][kind]["weights"], new - old)
    assert "parts" not in payload["difference"]["effects"]


def test_what_was_measured_is_said_of_each_head(make_version, tiny, result) -> None:
    table = np.arange(tiny.config.n_decoder_layers * tiny.config.n_heads).reshape(-1, tiny.config.n_heads) / 8
    measured = {"sentences": 7, "agreement": dict.fromkeys(("runner-up", "mean"), {"spearman": 0.25})}
    measured["kinds"] = {kind: dict.fromkeys(("runner-up", "mean", "log_probability"), table) for kind in DECODER}
    payload = read(message.message(make_version(result, measured=measured)))["effects"]
    text = payload["kinds"]["cross"]["measured"][1][2]
    assert f"{table[1, 2]:+.2f} logits" in text and f"{-table[1, 2]:.3f} nats" in text and "7 sentences" in text
    assert "0.25 (7 sentences)" in payload["notes"]["map"]


def test_a_recurrent_network_says_why_it_has_none(tell, grus) -> None:
    result = grus[True].translate("too tired.")
    payload = tell(result, effects=effects.NO_EFFECTS)["effects"]
    assert payload == {"reason": say(effects.NO_EFFECTS)}
    assert tell(result)["effects"] is None, "none were asked for"
