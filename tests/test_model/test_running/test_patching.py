"""Patching between two texts in our models, against single passes in which a tap is replaced by hand."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from model import Edits, Head, HeadPatch, StreamPatch, load_translator
from model.config import LanguageModelConfig
from model.decoding.protocol import BETWEEN_STEPS
from model.interventions.patches import Donor, patched_weights
from model.language_model import LanguageModel
from model.results.translation import SIDES, module_of
from model.running.patch_passes import compare
from model.running.patching import Patching
from model.running.patching_words import ComparedWords
from model.taps import intervene, record
from model.text.special import BOS_ID
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS, randomise, tiny_model

VOCABULARY: Any = SimpleNamespace(tokens=lambda ids: [f"t{index}" for index in ids])
ALIKE = [5, 6, 7, 8, 9, 10, 2], [5, 6, 12, 8, 9, 10, 2]
UNLIKE = [5, 6, 7, 8, 9, 2], [5, 14, 6, 12, 8, 9, 2]  # the second has a token more, and another one
PAIRS = {"alike": [(i, i) for i in range(7)], "unlike": [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]}
BEGINNING = [13, 14, 5]
ANSWER, OTHER = 6, 15
WORDS = ComparedWords(ANSWER, OTHER, len(BEGINNING))
KINDS = ("encoder_self", "decoder_self", "cross")


@cache
def model_of(name: str) -> Transformer:
    return tiny_model(**VARIANTS[name])


@torch.no_grad()
def run(model: Transformer, source: list[int], changes: dict[str, Tensor] | None = None) -> tuple[dict, Tensor]:
    """Everything recorded, and the logits (V,) of the last step, where some taps have other values."""
    with intervene({name: lambda _, value=value: value for name, value in (changes or {}).items()}), record() as trace:
        logits = model(torch.tensor([source]), torch.tensor([[BOS_ID, *BEGINNING]]))
    return dict(trace), logits[0, -1]


def result_of(model: Transformer, source: list[int]) -> Any:
    trace, _ = run(model, source)
    return SimpleNamespace(
        config=model.config,
        source_tokens=VOCABULARY.tokens(source),
        target_tokens=VOCABULARY.tokens([BOS_ID, *BEGINNING]),
        predicted_ids=[*BEGINNING, ANSWER],
        trace={address: value[0].numpy() for address, value in trace.items()},
        ids=source,
    )


def patching_of(model: Transformer, texts: tuple[list[int], list[int]], reverse: bool = False) -> Patching:
    results = [result_of(model, source) for source in texts]
    return compare(model, VOCABULARY, lambda result: result.ids, *results, WORDS, reverse)


def by_hand(
    model: Transformer, source: list[int], a: dict, b: dict, pairs: list, kind: str, layer: int, head: int, what: str
) -> Tensor:
    """The logits with one head patched, of what passed in both texts."""
    module = module_of(kind, layer)
    steps = [(i, i) for i in range(len(BEGINNING) + 1)]
    rows, columns = (pairs if side == "source" else steps for side in SIDES[kind])
    group = head * len(b[f"{module}.v"][0]) // model.config.n_heads
    context = b[f"{module}.context"].clone()
    weights, values = b[f"{module}.weights"][0, head].clone(), b[f"{module}.v"][0, group].clone()
    of_a = a[f"{module}.weights"][0, head]
    for i, j in rows:
        if what == "both":
            context[0, head, j] = a[f"{module}.context"][0, head, i]
        if what == "weights":
            room = sum(float(weights[j, to]) for _, to in columns)
            mass = sum(float(of_a[i, origin]) for origin, _ in columns)
            is_whole = len(columns) == weights.size(1) == of_a.size(1)
            for origin, to in columns:
                weights[j, to] = of_a[i, origin] * (1 if is_whole or mass == 0 else room / mass)
    if what == "values":
        for i, j in columns:
            values[j] = a[f"{module}.v"][0, group, i]
    if what != "both":
        context[0, head] = weights @ values
    return run(model, source, {f"{module}.context": context})[1]


def share(patching: Patching, logits: Tensor) -> float:
    difference = float(logits[ANSWER] - logits[OTHER])
    return (difference - patching.corrupted) / (patching.clean - patching.corrupted)


@pytest.mark.parametrize("name", first_quick(list(VARIANTS), 2))
@pytest.mark.parametrize("what", ["both", "weights", "values"])
def test_heads_are_what_single_passes_say(name: str, what: str) -> None:
    model = model_of(name)
    for texts, pairs in (ALIKE, PAIRS["alike"]), (UNLIKE, PAIRS["unlike"]):
        patching = patching_of(model, texts)
        traces, logits = zip(*(run(model, source) for source in texts))
        assert [patching.clean, patching.corrupted] == pytest.approx([float(x[ANSWER] - x[OTHER]) for x in logits])
        for kind in KINDS:
            shares = patching.heads(kind, what)
            assert shares.shape == (2, 3) and shares.dtype == np.float64
            for layer, head in np.ndindex(shares.shape):
                expected = share(patching, by_hand(model, texts[1], *traces, pairs, kind, layer, head, what))
                assert shares[layer, head] == pytest.approx(expected, abs=1e-8), (kind, layer, head)


@pytest.mark.parametrize("name", first_quick(list(VARIANTS), 2))
def test_streams_and_sublayers_are_what_single_passes_say(name: str) -> None:
    model = model_of(name)
    for texts, pairs in (ALIKE, PAIRS["alike"]), (UNLIKE, PAIRS["unlike"]):
        patching = patching_of(model, texts)
        (a, _), (b, _) = (run(model, source) for source in texts)
        steps = [(i, i) for i in range(len(BEGINNING) + 1)]
        for stack, belong in ("encoder", pairs), ("decoder", steps):
            streams = ["input.stream", "layers.0.residual_ff.stream", "layers.1.residual_ff.stream"]
            measured = dict(zip(streams, patching.streams(stack), strict=True))
            for layer in range(2):
                names = {"attention": "self_attention", "feed-forward": "feed_forward", "cross": "cross_attention"}
                for part, shares in patching.sublayers(stack).items():
                    measured[f"layers.{layer}.{names[part]}.output"] = shares[layer]
            assert len(measured) == 3 + (4 if stack == "encoder" else 6)
            for address, shares in measured.items():
                address = f"{stack}.{address}"
                for i, j in belong:
                    value = b[address].clone()
                    value[0, j] = a[address][0, i]
                    expected = share(patching, run(model, texts[1], {address: value})[1])
                    assert shares[j] == pytest.approx(expected, abs=1e-8), (address, j)
                alone = [j for j in range(len(shares)) if j not in dict(map(reversed, belong))]
                assert np.isnan(shares[alone]).all()
                assert patching.unaligned(stack) == alone


def test_the_other_direction_puts_b_into_a() -> None:
    model = model_of("pre")
    there, back = (patching_of(model, texts, reverse) for texts, reverse in ((ALIKE[::-1], False), (ALIKE, True)))
    assert (back.clean, back.corrupted) == pytest.approx((there.corrupted, there.clean))
    for kind in KINDS:
        np.testing.assert_allclose(back.heads(kind), there.heads(kind), atol=1e-10)


def test_estimates_are_gradients() -> None:
    """Against central differences along the way from B's output of a part to A's, which is where both agree."""
    model = model_of("post")
    patching = patching_of(model, ALIKE)
    (a, _), (b, _) = (run(model, source) for source in ALIKE)
    for kind in KINDS:
        for what in ("both", "weights", "values"):
            estimate = patching.estimate(kind, what)
            assert estimate.shape == (2, 3)
        address, step = f"{module_of(kind, 1)}.context", 1e-5
        for head in range(3):
            sides = []
            for sign in (1, -1):
                value = b[address].clone()
                value[:, head] += sign * step * (a[address] - b[address])[:, head]
                sides.append(share(patching, run(model, ALIKE[1], {address: value})[1]))
            expected = (sides[0] - sides[1]) / (2 * step)
            assert patching.estimate(kind)[1, head] == pytest.approx(expected, rel=1e-5, abs=1e-8)
    assert patching.estimate("encoder").shape == patching.streams("encoder").shape


@pytest.mark.parametrize("name", first_quick(list(VARIANTS), 2))
def test_edits_do_the_same_in_a_whole_pass_and_step_by_step(name: str) -> None:
    model = model_of(name)
    source, tgt = torch.tensor([UNLIKE[1]]), torch.tensor([[BOS_ID, *BEGINNING]])
    patching = patching_of(model, UNLIKE)
    patches = [HeadPatch(kind, 1, 2, what) for kind in KINDS for what in ("both", "weights", "values")]
    patches += [StreamPatch("encoder", 1, 3), StreamPatch("decoder", 0, 2), StreamPatch("decoder", 2, 3)]
    for patch in patches:
        edits = patching.edits(patch)
        assert Edits.from_code(edits.code).patched == edits.patched
        edits.check(model.config, 7, 4)
        with torch.no_grad():
            with edits.applied(model, "encoder"):
                state = model.start(source)
            with edits.applied(model, "decoder"):
                whole = model.read(tgt, state.fresh())
            with edits.applied(model, "decoder"):
                cached = state.fresh()
                steps = torch.stack([model.step(cached, tgt[:, step]) for step in range(4)], dim=1)
        torch.testing.assert_close(whole, steps, rtol=0, atol=1e-9)
        if isinstance(patch, HeadPatch):
            expected = patching.heads(patch.kind, patch.what)[patch.layer, patch.head]
        else:
            expected = patching.streams(patch.stack)[patch.layer, patch.position]
        assert share(patching, whole[0, -1]) == pytest.approx(expected, abs=1e-8), patch


def test_a_language_model_goes_on_alike_until_it_differs() -> None:
    config = LanguageModelConfig(vocab_size=17, d_model=12, n_heads=3, d_ff=20, norm="pre", max_length=16)
    model = LanguageModel(config).double().eval()
    randomise(model)
    texts = [[1, 5, 6, 7, 8], [1, 5, 9, 7, 8]]

    def follow(ids: list[int]) -> int:
        with torch.no_grad():
            return int(model(torch.tensor([ids]))[0, -1].argmax())

    results = [
        SimpleNamespace(config=config, source_tokens=[], target_tokens=VOCABULARY.tokens(ids), trace={}, ids=ids)
        for ids in texts
    ]
    written: list[int] = []
    while len({follow([*ids, *written]) for ids in texts}) == 1 and len(written) < 12:
        written.append(follow([*texts[0], *written]))
    patching = compare(model, VOCABULARY, lambda result: result.ids, *results, ComparedWords(), False)
    assert patching.step == len(written)
    assert [patching.answer, patching.against] == [follow([*ids, *written]) for ids in texts]
    streams = patching.streams("decoder")
    assert streams.shape == (3, 5 + len(written))
    assert not streams[:, :2].any()  # both texts begin so, and nothing later reaches it
    assert streams[0, 2] == pytest.approx(1)
    assert streams[2, -1] == pytest.approx(1)
    for step in -1, 13:
        with pytest.raises(ValueError, match=f"are 0 to 12, got {step}"):
            compare(model, VOCABULARY, lambda result: result.ids, *results, ComparedWords(step=step), False)


def test_weights_of_unaligned_columns_stay() -> None:
    own, other = torch.tensor([[0.2, 0.5, 0.3]]), torch.tensor([[0.6, 0.1, 0.2, 0.1]])
    rows = patched_weights(own, other, [(0, 0), (2, 2)])
    torch.testing.assert_close(rows, torch.tensor([[0.5 * 0.75, 0.5, 0.5 * 0.25]]))
    torch.testing.assert_close(patched_weights(own, own.flip(1), [(i, i) for i in range(3)]), own.flip(1))


def test_progress_and_a_way_to_stop() -> None:
    patching = patching_of(model_of("pre"), ALIKE)
    done: list[float] = []
    patching.heads("cross", progress=done.append)
    assert done[-1] == 1 and done == sorted(done)

    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    token = BETWEEN_STEPS.set(stop)
    try:
        with pytest.raises(Stop):
            patching.streams("encoder")
    finally:
        BETWEEN_STEPS.reset(token)
    assert patching.heads("cross").shape == (2, 3)


def test_what_says_nothing_is_refused() -> None:
    model = model_of("pre")
    a, b = (result_of(model, source) for source in ALIKE)
    with Edits(off=(Head("cross", 1, 2),)).applied(model, "decoder"):
        edited = result_of(model, ALIKE[1])
    ids_of: Any = lambda result: result.ids  # noqa: E731
    for results, words, sentence in (
        ((a, a), WORDS, "as far apart in one text as in the other"),
        ((a, b), ComparedWords(), "both texts give the same output"),
        ((a, b), ComparedWords(ANSWER, ANSWER), "compared with itself: name another word"),
        ((a, edited), WORDS, "made with edits or by another model"),
        ((a, b), ComparedWords(step=9), "steps of this output are 0 to 4, got 9"),
    ):
        with pytest.raises(ValueError, match=sentence):
            compare(model, VOCABULARY, ids_of, *results, words, False)
    patching = patching_of(model, UNLIKE)
    for call, sentence in (
        (lambda: patching.heads("self"), "the kind of attention is one of"),
        (lambda: patching.heads("cross", "queries"), "one of both, weights, values"),
        (lambda: patching.streams("target"), 'the side is "encoder" or "decoder"'),
        (lambda: HeadPatch("cross", 0, 0, "keys"), "one of both, weights, values"),
        (lambda: Edits(off=(Head("cross", 0, 1),), patched=(HeadPatch("cross", 0, 1),)), "patched once"),
        (lambda: Edits(patched=(HeadPatch("cross", 0, 1),)).check(model.config, 7, 4), "needs a recording"),
        (lambda: patching.edits(HeadPatch("cross", 5, 1)).check(model.config, 7, 4), "layers of the cross"),
        (lambda: patching.edits(HeadPatch("cross", 1, 1)).check(model.config, 6, 4), "made for another text"),
        (lambda: patching.edits(HeadPatch("cross", 1, 1)).check(model.config), "for one sentence only"),
        (
            lambda: patching.edits(StreamPatch("encoder", 9, 1)).check(model.config, 7, 4),
            "layers of the encoder's stream are 0 to 2, got 9",
        ),
        (lambda: patching.edits(StreamPatch("encoder", 1, 1)).check(model.config, 7, 4), "position 1 has no like"),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_donors_are_equal_by_what_they_hold() -> None:
    model = model_of("pre")
    a, b = (result_of(model, source) for source in ALIKE)
    patch = (HeadPatch("cross", 0, 1),)
    same = [Edits(patched=patch, donor=Donor.between(a, b)) for _ in range(2)]
    assert same[0] == same[1] and len(set(same)) == 1
    assert same[0] != Edits(patched=patch, donor=Donor.between(b, a))


@pytest.mark.slow
def test_where_german_gender_comes_from() -> None:
    translator = load_translator("en-de")
    a, b = (translator.translate(f"Where is my {word}?") for word in ("brother", "sister"))
    patching = translator.patching(a, b)
    assert patching.words == ("▁mein", "▁meine")
    assert patching.heads("cross")[2, 2] > 0.3
    streams = patching.streams("encoder")
    place = patching.tokens("encoder").index("▁sister")
    assert streams[0, place] == pytest.approx(1, abs=1e-4)
    assert streams[2, place - 1] > 0.2 > streams[1, place - 1]
    changed = translator.translate(b.source, edits=patching.edits(StreamPatch("encoder", 0, place)))
    assert changed.text == a.text
