"""Edits of heads, weights and masks: proved against the parameters they stand for, and against hand computation."""

from __future__ import annotations

import copy
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import Tensor

from model import load_translator
from model.config import GruConfig, TransformerConfig
from model.interventions.edits import Cell, Edits, Force, Head, all_heads, layer_counts
from model.results.translation import MODULES
from model.running.translator import Translator
from model.storage import checkpoint
from model.taps import intervene, observed, record
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, TGT_LENGTHS, VARIANTS, H, K, S, T, assert_near, tiny_model

SENTENCES = ["Two young men walk on the street.", "The animal was too tired.", "Zwei Männer gehen über die Straße."]
TEXT = "Two men walk on the street, and the animal was too tired."
NONE = Edits()
KIND_NAMES = list(MODULES)
FORCED = Force(2, 3, 0.7)
MIXED = Edits(
    off=(Head("encoder_self", 1, 0), Head("cross", 0, 2)),
    uniform=(Head("decoder_self", 1, 1), Head("cross", 1, 0), Head("encoder_self", 0, 2)),
    forced=(
        FORCED,
        Force(3, 1, 1.0, ((0, 1), (1, 2))),
        Force(1, 3, 0.4, (), "encoder_self"),
        Force(3, 1, 0.6, (), "decoder_self"),
    ),
    cells=(Cell("cross", 1, 0, False), Cell("decoder_self", 3, 1, False), Cell("encoder_self", 2, 4, False)),
)


@torch.no_grad()
def logits_of(model: Transformer, edits: Edits = NONE) -> Tensor:
    """Of one teacher-forced pass over the two sentences."""
    with intervene(edits.changes(model.config)):
        return model(SRC, TGT)


@torch.no_grad()
def assert_steps_agree(model: Transformer, edits: Edits, full: Edits | None = None) -> None:
    """One token per row at a time gives what one pass over all tokens gives, up to where padding begins."""
    with intervene(edits.changes(model.config)):
        state = model.start(SRC)
        stepped = torch.stack([model.step(state, TGT[:, t]) for t in range(T)], dim=1)
    expected = logits_of(model, edits if full is None else full)
    for row, length in enumerate(TGT_LENGTHS):
        assert_near(stepped[row, :length], expected[row, :length])


def module_of(model: Transformer, head: Head):
    """The attention that a head is one of."""
    stack, name = MODULES[head.kind]
    return getattr(getattr(model, stack).layers[head.layer], name)


def address(head: Head, tap: str) -> str:
    stack, name = MODULES[head.kind]
    return f"{stack}.layers.{head.layer}.{name}.{tap}"


class TestHeads:
    @pytest.mark.parametrize("variant", first_quick(VARIANTS))
    def test_off_equals_zeroing_its_slice_of_the_output_projection(self, variant: str) -> None:
        model = tiny_model(**VARIANTS[variant])
        plain = logits_of(model)
        for head in all_heads(model.config):
            without = copy.deepcopy(model)
            with torch.no_grad():
                module_of(without, head).output_projection.weight[:, head.head * K : (head.head + 1) * K] = 0
                expected = without(SRC, TGT)
            assert_near(logits_of(model, Edits(off=(head,))), expected)
            assert (expected - plain).abs().max() > 1e-6, head

    def test_several_off_equal_zeroing_all_their_slices(self) -> None:
        model, without = tiny_model(), tiny_model()
        heads = (Head("encoder_self", 0, 1), Head("encoder_self", 0, 2), Head("cross", 1, 2))
        with torch.no_grad():
            for head in heads:
                module_of(without, head).output_projection.weight[:, head.head * K : (head.head + 1) * K] = 0
            assert_near(logits_of(model, Edits(off=heads)), without(SRC, TGT))

    @pytest.mark.parametrize("kind", KIND_NAMES)
    def test_uniform_reads_the_mean_of_what_the_mask_allows(self, kind: str) -> None:
        model, head = tiny_model(), Head(kind, 1, 2)
        with record() as plain:
            logits_of(model)
        with intervene(Edits(uniform=(head,)).changes(model.config)), record() as trace, torch.no_grad():
            model(SRC, TGT)
        mask, values = trace[address(head, "mask")][:, 0], trace[address(head, "v")][:, head.head]
        for row in range(2):
            for query in range(mask.size(1)):
                allowed = mask[row, query]
                expected = values[row, allowed].mean(0)
                assert_near(trace[address(head, "context")][row, head.head, query], expected)
                expected = allowed.double() / allowed.sum()
                assert_near(trace[address(head, "weights")][row, head.head, query], expected)
        for other in range(H - 1):
            assert_near(trace[address(head, "weights")][:, other], plain[address(head, "weights")][:, other])

    def test_uniform_with_nothing_to_read_is_nothing(self) -> None:
        model, head = tiny_model(), Head("cross", 0, 1)
        blocked = tuple(Cell("cross", 2, key, False) for key in range(S))
        edits = Edits(uniform=(head,), cells=blocked)
        with intervene(edits.changes(model.config)), record("*.weights") as trace:
            model(SRC, TGT)
        assert not trace[address(head, "weights")][:, :, 2].any()
        assert_near(trace[address(head, "weights")][0, 1, 1], torch.full((S,), 1 / S, dtype=torch.float64))

    def test_all_heads_are_counted_by_kind(self) -> None:
        config = TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_encoder_layers=1, n_decoder_layers=2)
        assert layer_counts(config) == {"encoder_self": 1, "decoder_self": 2, "cross": 2}
        assert len(all_heads(config)) == 15 and len(all_heads(config, "cross")) == 6
        assert all_heads(config, "encoder_self") == [Head("encoder_self", 0, head) for head in range(3)]


class TestForced:
    @pytest.mark.parametrize("kind", KIND_NAMES)
    @pytest.mark.parametrize("heads", [(), ((0, 0), (0, 2), (1, 1))], ids=["all", "some"])
    def test_equals_the_weights_recomputed_by_hand(self, heads: tuple, kind: str) -> None:
        model = tiny_model()
        key = 1 if kind == "decoder_self" else 3
        force = Force(2, key, 0.7, heads, kind)
        with intervene(Edits(forced=(force,)).changes(model.config)), record() as trace, torch.no_grad():
            logits = model(SRC, TGT)
        for layer in range(2):
            base = f"{MODULES[kind][0]}.layers.{layer}.{MODULES[kind][1]}"
            expected = trace[f"{base}.scores"].softmax(-1)
            for head in range(H):
                if not heads or (layer, head) in heads:
                    expected[:, head, 2] = 0.3 * expected[:, head, 2]
                    expected[:, head, 2, key] += 0.7
            assert_near(trace[f"{base}.weights"], expected)
            assert_near(trace[f"{base}.context"], expected @ trace[f"{base}.v"])
        plain = logits_of(model)
        if kind != "encoder_self":
            assert_near(logits[:, :2], plain[:, :2])  # earlier steps know nothing of it
        assert (logits[:, 2:] - plain[:, 2:]).abs().amax((0, 2)).min() > 1e-6

    def test_full_strength_reads_one_token_and_none_changes_nothing(self) -> None:
        model = tiny_model()
        with intervene(Edits(forced=(Force(1, 2),)).changes(model.config)), record("*.weights") as trace:
            model(SRC, TGT)
        row = trace["decoder.layers.1.cross_attention.weights"][:, :, 1]
        assert_near(row, torch.eye(S, dtype=torch.float64)[2].expand(2, H, S))
        assert_near(logits_of(model, Edits(forced=(Force(1, 2, 0.0),))), logits_of(model))

    def test_a_head_that_is_off_stays_off(self) -> None:
        model, off = tiny_model(), (Head("cross", 0, 1),)
        with intervene(Edits(off=off, forced=(Force(1, 2),)).changes(model.config)), record("*.weights") as trace:
            model(SRC, TGT)
        assert not trace[address(off[0], "weights")][:, 1].any()


class TestMasks:
    @pytest.mark.parametrize("kind", KIND_NAMES)
    def test_the_model_runs_with_exactly_that_mask(self, kind: str) -> None:
        model = tiny_model()
        cells = (Cell(kind, 1, 3, True), Cell(kind, 2, 1, False), Cell(kind, 2, 0, False))
        with record() as plain, torch.no_grad():
            model(SRC, TGT)
        with intervene(Edits(cells=cells).changes(model.config)), record() as trace, torch.no_grad():
            model(SRC, TGT)
        for layer in range(2):
            place = Head(kind, layer, 0)
            expected = plain[address(place, "mask")].clone()
            expected[:, :, 1, 3], expected[:, :, 2, 1], expected[:, :, 2, 0] = True, False, False
            assert torch.equal(trace[address(place, "mask")], expected)
            weights = trace[address(place, "weights")]
            assert not weights[~expected.expand_as(weights)].any()
            assert (weights[expected.expand_as(weights)] > 0).all()
        others = [Head(other, layer, 0) for other in KIND_NAMES for layer in range(2) if other != kind]
        assert all(torch.equal(trace[address(o, "mask")], plain[address(o, "mask")]) for o in others)

    def test_an_open_future_is_seen_by_a_full_pass_and_by_no_step(self) -> None:
        model = tiny_model()
        future = Edits(cells=(Cell("decoder_self", 1, 3, True),))
        assert (logits_of(model, future) - logits_of(model)).abs().max() > 1e-6
        assert_steps_agree(model, future, full=NONE)
        assert not future.without_future
        assert Cell("cross", 1, 3, True).shows_future is Cell("decoder_self", 1, 3, False).shows_future is False


class TestSteps:
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_steps_and_a_full_pass_agree_row_by_row(self, variant: str) -> None:
        model = tiny_model(**VARIANTS[variant])
        assert_steps_agree(model, MIXED)
        assert (logits_of(model, MIXED) - logits_of(model)).abs().max() > 1e-3

    def test_each_edit_alone(self) -> None:
        model = tiny_model()
        names = ("off", "uniform", "forced", "cells")
        singles = [Edits(**{name: (edit,)}) for name in names for edit in getattr(MIXED, name)]
        for edits in singles:
            assert_steps_agree(model, edits)
            assert (logits_of(model, edits) - logits_of(model)).abs().max() > 1e-9, edits

    def test_rows_may_be_reordered_between_steps(self) -> None:
        """As a beam does: every row is a hypothesis of the same sentence."""
        model, rows = tiny_model(), torch.tensor([0, 0])
        with intervene(MIXED.changes(model.config)), torch.no_grad():
            state = model.reorder(model.start(SRC), rows)
            model.step(state, torch.tensor([1, 1]))
            model.step(state, torch.tensor([13, 6]))
            state = model.reorder(state, torch.tensor([1, 1]))
            actual = model.step(state, torch.tensor([14, 15]))
        expected = []
        for last in (14, 15):
            with intervene(MIXED.changes(model.config)), torch.no_grad():
                expected.append(model(SRC[:1], torch.tensor([[1, 6, last]]))[0, -1])
        assert_near(actual, torch.stack(expected))


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = tmp_path_factory.mktemp("checkpoints") / "tiny"
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=350, alphabet_size=40)
    torch.manual_seed(3)
    sizes = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 32, "max_length": 150}
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    checkpoint.save(folder, model, tokenizer, {"task": "test", "parameters": 1})
    return load_translator(str(folder))


def some_edits(number: int) -> Edits:
    """Different ones for every number."""
    rng = random.Random(number)
    off = tuple(Head("cross", rng.randrange(3), rng.randrange(4)) for _ in range(3))
    forced = tuple(Force(t, rng.randrange(8), rng.random()) for t in range(6))
    forced += (Force(3, rng.randrange(8), 0.5, (), "encoder_self"), Force(4, rng.randrange(5), 0.5, (), "decoder_self"))
    cells = tuple(Cell("encoder_self", rng.randrange(8), rng.randrange(8), False) for _ in range(1))
    future = (Cell("decoder_self", 0, 2, True), Cell("decoder_self", 2, 1, False))
    return Edits(off=off, uniform=(Head("encoder_self", 1, rng.randrange(4)),), forced=forced, cells=cells + future)


class TestTranslator:
    @pytest.mark.parametrize("beam", first_quick([1, 4]))
    def test_the_search_and_its_maps_are_of_the_same_edits(self, translator: Translator, beam: int) -> None:
        plain = translator.translate(TEXT, beam)
        texts = set()
        for number in range(4):
            result = translator.translate(TEXT, beam, edits=some_edits(number))
            total = result.search.hypotheses[0].log_probability
            assert float(result.log_probabilities.sum()) == pytest.approx(total, rel=1e-4)
            forced = translator.force(TEXT, result, some_edits(number).without_future)
            assert forced.predicted_ids == result.predicted_ids and forced.text == result.text
            np.testing.assert_array_equal(forced.attention("cross"), result.attention("cross"))
            assert not result.mask("decoder_self")[2, 1] and not result.mask("decoder_self")[0, 2]
            texts.add(result.text)
        assert len(texts | {plain.text}) > 2
        assert not observed()

    def test_greedy_takes_the_best_of_every_row_of_the_edited_pass(self, translator: Translator) -> None:
        edits = some_edits(1)
        result = translator.translate(TEXT, 1, edits=edits)
        logits = translator.force(TEXT, result, edits.without_future).trace["logits"].copy()
        logits[:, [0, 1]] = -np.inf  # padding and the start token are never written
        assert logits.argmax(-1).tolist() == result.predicted_ids

    def test_an_open_future_counts_where_the_target_is_given(self, translator: Translator) -> None:
        plain = translator.translate(TEXT, 1)
        future = Edits(cells=(Cell("decoder_self", 0, 2, True),))
        assert translator.translate(TEXT, 1, edits=future).text == plain.text
        read = translator.force(TEXT, plain, future)
        assert read.mask("decoder_self")[0, 2]
        assert (read.attention("decoder_self")[:, :, 0, 2] > 0).all()
        assert translator.score(TEXT, plain, future) != pytest.approx(translator.score(TEXT, plain), abs=1e-4)

    def test_a_score_is_the_sum_over_the_very_tokens(self, translator: Translator) -> None:
        plain = translator.translate(TEXT, 4)
        expected = plain.search.hypotheses[0].log_probability
        assert translator.score(TEXT, plain) == pytest.approx(expected, rel=1e-4)
        target = "Zwei Männer gehen."
        forced = translator.force(TEXT, target, MIXED)
        assert translator.score(TEXT, target, MIXED) == pytest.approx(float(forced.log_probabilities.sum()), rel=1e-5)
        assert translator.score(TEXT, target, MIXED) != pytest.approx(translator.score(TEXT, target), abs=1e-3)

    def test_no_edits_change_nothing(self, translator: Translator) -> None:
        plain, edited = translator.translate(TEXT), translator.translate(TEXT, edits=Edits())
        assert plain.predicted_ids == edited.predicted_ids
        assert all(np.array_equal(plain.trace[name], edited.trace[name]) for name in plain.trace)

    @pytest.mark.slow
    def test_lines_with_heads_off(self, translator: Translator) -> None:
        edits = Edits(off=(Head("cross", 1, 0), Head("encoder_self", 0, 3)), uniform=(Head("decoder_self", 2, 1),))
        texts = [TEXT, "The animal.", "", "Two young men walk."]
        expected = [translator.translate(text, 2, edits=edits).text if text else "" for text in texts]
        assert translator.translate_lines(texts, 2, edits=edits) == expected
        assert translator.translate_lines(texts, 2) != expected

    @pytest.mark.slow
    def test_edits_of_many_threads_never_mix(self, translator: Translator) -> None:
        """Under load: more threads than processors, every one with other edits, plain ones between them."""
        jobs = [Edits() if number % 4 == 0 else some_edits(number) for number in range(8)]

        def work(edits: Edits):
            result = translator.translate(TEXT, 2, edits=edits)
            return result.predicted_ids, result.attention("cross"), result.log_probabilities

        expected = [work(edits) for edits in jobs]
        with ThreadPoolExecutor(8) as pool:
            for actual, single in zip(pool.map(work, jobs), expected, strict=True):
                assert actual[0] == single[0]
                np.testing.assert_allclose(actual[1], single[1], atol=1e-6)
                np.testing.assert_allclose(actual[2], single[2], atol=1e-5)


class TestRefusals:
    @pytest.mark.parametrize(
        ("edits", "words"),
        [
            (Edits(off=(Head("cross", 3, 0),)), "layers of the cross-attention are 0 to 2, got layer 3"),
            (Edits(uniform=(Head("encoder_self", 2, 0),)), "layers of the encoder self-attention are 0 to 1"),
            (Edits(off=(Head("decoder_self", 0, 4),)), "heads of the decoder self-attention are 0 to 3, got head 4"),
            (Edits(off=(Head("cross", -1, 0),)), "got layer -1"),
            (Edits(forced=(Force(0, 0, 1.0, ((0, 7),)),)), "heads of the cross-attention are 0 to 3, got head 7"),
            (Edits(forced=(Force(0, 99),)), "columns of the cross-attention are 0 to .*, got column 99"),
            (Edits(forced=(Force(140, 0),)), "rows of the cross-attention are 0 to .*, got row 140"),
            (Edits(cells=(Cell("encoder_self", 99, 0, True),)), "rows of the encoder self-attention .* got row 99"),
            (Edits(cells=(Cell("decoder_self", 0, 149, True),)), "columns of the decoder self-attention .* column 149"),
        ],
    )
    def test_what_the_model_or_the_sentence_does_not_have(self, translator, edits: Edits, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            translator.translate(TEXT, edits=edits)
        with pytest.raises(ValueError, match=words):
            translator.score(TEXT, "Zwei Männer.", edits)

    def test_a_step_that_the_given_target_does_not_have(self, translator: Translator) -> None:
        steps = len(translator.force(TEXT, "Zwei").target_tokens)
        with pytest.raises(ValueError, match=f"rows of the cross-attention are 0 to {steps - 1} here, got row {steps}"):
            translator.force(TEXT, "Zwei", Edits(forced=(Force(steps, 0),)))

    def test_cells_of_many_sentences(self, translator: Translator) -> None:
        with pytest.raises(ValueError, match="one sentence only"):
            translator.translate_lines([TEXT], edits=Edits(forced=(Force(0, 0),)))

    def test_other_architectures(self) -> None:
        config = GruConfig(source_vocab_size=9, target_vocab_size=9)
        with pytest.raises(ValueError, match="this model has no attention heads that can be changed"):
            Edits(off=(Head("cross", 0, 0),)).check(config)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Force(2, 3, 1.0, (), "decoder_self"), "step 2 of the decoder cannot attend to the later step 3"),
            (lambda: Force(0, 0, 1.5), "from 0 to 1, got 1.5"),
            (lambda: Force(0, 0, float("nan")), "from 0 to 1, got nan"),
            (
                lambda: Edits(off=(Head("cross", 0, 1),), uniform=(Head("cross", 0, 1),)),
                "both are set for cross, layer 0, head 1",
            ),
            (lambda: Edits(forced=(Force(1, 2), Force(1, 3, 0.5, ((0, 0),)))), "step 1 is forced twice"),
            (
                lambda: Edits(cells=(Cell("cross", 1, 2, True), Cell("cross", 1, 2, False))),
                "the cross cell in row 1, column 2 cannot be both open and blocked",
            ),
        ],
    )
    def test_what_contradicts_itself(self, make, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            make()


class TestCode:
    def test_every_kind_of_edit_comes_back(self) -> None:
        for edits in (Edits(), MIXED, *map(some_edits, range(20))):
            assert Edits.from_code(edits.code) == edits
            assert hash(Edits.from_code(edits.code)) == hash(edits)
            assert not set(edits.code) - set("abcdefhouv0123456789-_.")  # nothing that an address must escape

    def test_order_means_nothing(self) -> None:
        heads = (Head("cross", 1, 2), Head("cross", 0, 3))
        assert Edits(off=heads) == Edits(off=heads[::-1] + heads) == Edits.from_code("v1_oc1-2_oc0-3")

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("v2_oc0-1", "begins with 'v1', got 'v2'"),
            ("oc0-1", "begins with 'v1'"),
            ("v1_", "'' is not a valid edit"),
            ("v1_oc0-", "'oc0-' is not a valid edit"),
            ("v1_ox0-1", "is not a valid edit"),
            ("v1_oc0-1_<script>", "'<script>' is not a valid edit"),
            ("v1_oc٣-1", "is not a valid edit"),
            ("v1_f1-2-3", "from 0 to 1, got 3.0"),
            ("v1_f1-2", "is not a valid edit"),
            ("v1_f1-2-1h0", "is not a valid edit"),
            ("v1_oc0-1_uc0-1", "either switched off or made uniform"),
            ("v1" + "_oc0-1" * 5000, "characters; at most"),
        ],
    )
    def test_rubbish(self, code: str, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            Edits.from_code(code)
