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
def shown(tiny):
    """A translation on the stage with its direct effects and more: `shown(result, against, measured, **told)`."""

    def made(result, against="runner-up", measured=None, **told):
        of_all = tiny.effects(result, None if against == "mean" else against)
        alternatives = (
            None if of_all.alternatives is None else tiny.tokenizer.target.tokens(of_all.alternatives.tolist())
        )
        recording = replace(result.recording(), effects={kind: of_all.heads(kind) for kind in of_all.kinds})
        return message.Version(recording, effects=effects.payload(of_all, alternatives, measured) | told)

    return made


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max() + 1e-7)


@pytest.mark.parametrize("against", ["mean", "runner-up"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_map_is_the_effect_of_its_head(shown, tiny, result, kind, against) -> None:
    told = read(message.message(shown(result, against)))
    wanted = tiny.effects(result, None if against == "mean" else against).heads(kind)
    found = told["effects"]["kinds"][kind]
    close(found["weights"], wanted)
    close(found["did"], wanted.sum(-1))
    limit = np.abs(wanted).max()
    heat = found["look"]["data"][0]
    assert heat["zmax"] == -heat["zmin"] == pytest.approx(limit)
    np.testing.assert_allclose(found["tiles"], 128 + 127 * wanted / limit, atol=0.51)
    weights = {one["code"]: one for one in told["kinds"]}[kind]
    assert found["first"] == weights["first"], "the head that is open stays open"
    np.testing.assert_allclose(weights["weights"], result.attention(kind), atol=2e-5)


def test_a_head_did_as_much_when_keys_are_hidden(shown, tiny, result) -> None:
    found = read(message.message(shown(result)), {"hide": "1"})["effects"]["kinds"]["cross"]
    wanted = tiny.effects(result, "runner-up").heads("cross")
    kept = [token != "</s>" for token in result.predicted_tokens]
    assert found["weights"].shape[-1] < wanted.shape[-1]
    close(found["did"], wanted.sum(-1)[:, :, kept])


@pytest.mark.parametrize("against", ["mean", "runner-up"])
def test_the_parts_of_each_word_sum_to_its_logit(shown, tiny, result, against) -> None:
    told = read(message.message(shown(result, against)))["effects"]
    wanted = tiny.effects(result, None if against == "mean" else against)
    bars, keys, heads = (trace[axis] for trace, axis in zip(told["parts"]["data"], "xyz", strict=True))
    close(bars.sum(1), wanted.logits)
    assert len(told["parts"]["names"]) == bars.shape[1] == 2 + 3 * tiny.config.n_decoder_layers + 3
    close(keys, wanted.heads("cross").sum((0, 1)))
    close(heads, np.concatenate([wanted.heads(kind).sum(-1) for kind in KINDS]).transpose(2, 0, 1))
    for t, line in enumerate(told["parts"]["lines"]):
        assert f"{wanted.logits[t]:+.2f} logits" in line and f"“{label(result.predicted_tokens[t])}”" in line


def test_the_lens_names_the_words_of_the_lens(shown, tiny, result) -> None:
    lens = tiny.lens(result)
    told = read(message.message(shown(result, lens=effects.lens_payload(lens))))["effects"]["lens"]
    np.testing.assert_allclose(told["z"], lens.probabilities[:, :, 0].T)
    names, columns, cells = told["table"]
    assert len(columns) == len(lens.sublayers) and names == [label(token) for token in result.predicted_tokens]
    for t, row in enumerate(cells):
        for n, cell in enumerate(row):
            assert cell == f"{label(lens.words[n][t][0])} {lens.probabilities[n, t, 0]:.0%}"
            bold = told["look"]["texts"][t][n].startswith("<b>")
            assert bold == (lens.words[n][t][0] == result.predicted_tokens[t])
            assert all(f"{p:.1%}" in told["look"]["hover"]["cells"][t][n] for p in lens.probabilities[n, t])


def test_left_out_tokens_are_those_of_occlusion(shown, tiny, result) -> None:
    drops = tiny.occlusion(result)
    told = read(message.message(shown(result, left_out=drops)))["effects"]["left-out"]
    np.testing.assert_array_equal(told["z"], drops.astype(np.float32))
    heat = told["look"]["data"][0]
    assert heat["zmax"] == -heat["zmin"] == pytest.approx(np.abs(drops).max())
    for line, row in zip(told["lines"], drops, strict=True):
        best = label(result.source_tokens[int(row.argmax())])
        assert f"“{best}”" in line and f"{row.max():.2f}" in line or row.max() < 0.005


def test_agreement_has_a_row_for_each_measure_and_names_the_head_where_they_agree_most(shown, result) -> None:
    rates = {name: np.linspace(-0.5, 0.4, 6).reshape(2, 3) for name in effects.COMPARED}
    rates["agreement"] = np.array([[0.1, 0.9, 0.2], [np.nan, 0.3, -0.5]])
    told = read(message.message(shown(result, agree=effects.agreement_payload(rates))))["effects"]["agree"]
    names, heads = told["look"]["names"]
    assert names == [say(words.WORDS[f"agree_{name}"]) for name in rates] and heads[4] == "1.1"
    np.testing.assert_allclose(told["z"][0], rates["agreement"].ravel().astype(np.float32))
    assert "In head 0.1," in told["line"] and "(0.90)" in told["line"]


def test_before_after_and_the_difference(shown, tiny, result) -> None:
    edits = Edits(off=(Head("cross", 1, 2),))
    after = tiny.force(result.source, result, edits)
    told = read(message.message(shown(after), before=shown(result)))
    for kind in KINDS:
        new, old = (tiny.effects(one, "runner-up").heads(kind) for one in (after, result))
        close(told["effects"]["kinds"][kind]["weights"], new)
        close(told["before"]["effects"]["kinds"][kind]["weights"], old)
        close(told["difference"]["effects"]["kinds"][kind]["weights"], new - old)
    assert "parts" not in told["difference"]["effects"]


def test_what_was_measured_is_said_of_each_head(shown, tiny, result) -> None:
    table = np.arange(tiny.config.n_decoder_layers * tiny.config.n_heads).reshape(-1, tiny.config.n_heads) / 8
    measured = {"sentences": 7, "agreement": dict.fromkeys(("runner-up", "mean"), {"spearman": 0.25})}
    measured["kinds"] = {kind: dict.fromkeys(("runner-up", "mean", "log_probability"), table) for kind in DECODER}
    told = read(message.message(shown(result, measured=measured)))["effects"]
    text = told["kinds"]["cross"]["measured"][1][2]
    assert f"{table[1, 2]:+.2f} logits" in text and f"{-table[1, 2]:.3f} nats" in text and "7 sentences" in text
    assert "0.25 (7 sentences)" in told["notes"]["map"]


def test_a_recurrent_network_says_why_it_has_none(tell, grus) -> None:
    result = grus[True].translate("too tired.")
    told = tell(result, effects=effects.NO_EFFECTS)["effects"]
    assert told == {"reason": say(effects.NO_EFFECTS)}
    assert tell(result)["effects"] is None, "none were asked for"
