"""Every tap of every kind of model is proved, and recording and changing stay in the context that asked for them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from model.config import RELATIVE_POSITIONS
from model.taps import Tap, addresses, intervene, observed, record
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, VARIANTS, B, D, F, H, K, S, T, V, assert_near, tiny_model


@cache
def model_of(variant: str) -> Transformer:
    return tiny_model(n_encoder_layers=1, **VARIANTS[variant])


@torch.no_grad()
def logits_of(model: Transformer) -> Tensor:
    return model(SRC, TGT)


@cache
def plain_logits(variant: str) -> Tensor:
    """What comes out when nobody looks: the fused path."""
    return logits_of(model_of(variant))


@cache
def recorded(variant: str) -> dict[str, Tensor]:
    with record() as trace:
        logits_of(model_of(variant))
    return dict(trace)


# Pre- and post-norm, final norm or not, biases or not, tied or not.
NAMES = ("pre", "paper", "post-with-final-norm", "untied", "modern", "biased", "buckets", "learned")
PROVED = pytest.mark.parametrize("variant", NAMES)
WEIGHTS = "decoder.layers.0.cross_attention.weights"
CONTEXT = "decoder.layers.0.cross_attention.context"
STREAM = "encoder.layers.0.residual_self.stream"


def sizes_at(address: str, groups: int) -> dict[str, int]:
    """What the shape letters of a tap mean at its address: the encoder's queries are those of the source."""
    n_queries = S if address.startswith("encoder") else T
    n_keys = T if ".self_attention." in address and address.startswith("decoder") else S
    return {"1": 1, "B": B, "H": H, "G": groups, "K": K, "D": D, "F": F, "V": V, "T": n_queries, "S": n_keys}


def zero(value: Tensor) -> Tensor:
    """Zeros; for a mask, that nothing may be attended."""
    return torch.zeros_like(value)


class TestEveryTap:
    @PROVED
    def test_fires_once_a_pass_with_its_declared_shape(self, variant: str) -> None:
        model = model_of(variant)
        for address, tap in addresses(model).items():
            with record(address) as trace:
                logits_of(model)
            (value,) = trace.all(address)
            assert list(trace) == [address]
            sizes = sizes_at(address, model.config.n_groups)
            assert value.shape == tuple(sizes[letter] for letter in tap.shape.split()), address
            assert value.dtype == (torch.bool if address.endswith(".mask") else torch.float64), address
            assert not value.requires_grad, address

    @PROVED
    def test_returning_the_value_changes_nothing(self, variant: str) -> None:
        for address in addresses(model_of(variant)):
            with record() as trace, intervene({address: lambda value: value}):
                logits = logits_of(model_of(variant))
            assert_near(logits, plain_logits(variant))
            assert trace.keys() == recorded(variant).keys()
            for other, value in recorded(variant).items():
                assert torch.equal(trace[other], value), (address, other)

    @PROVED
    def test_zeroing_changes_the_output_inside_the_block_only(self, variant: str) -> None:
        model = model_of(variant)
        nothing_added = model.config.positional in RELATIVE_POSITIONS
        for address in addresses(model):
            if address.endswith(".sink") or nothing_added and address.endswith("input.positions"):
                continue  # nothing reads the sink's weight, and zeros are zeros already
            with intervene({address: zero}):
                changed = logits_of(model)
            assert torch.isfinite(changed).all(), address
            assert (changed - plain_logits(variant)).abs().max() > 1e-4, address
            assert torch.equal(logits_of(model), plain_logits(variant)), address

    @pytest.mark.parametrize("address", first_quick(addresses(model_of("paper")), 24))
    def test_unseen_from_another_thread_on_the_same_model(self, address: str, threads: ThreadPoolExecutor) -> None:
        """Both threads make their pass while the block of the first is open."""
        model = model_of("paper")
        inside, done = threading.Barrier(2, timeout=10), threading.Barrier(2, timeout=10)

        def changing() -> tuple[Tensor, int]:
            with record(address) as trace, intervene({address: zero}):
                inside.wait()
                logits = logits_of(model)
                done.wait()
            return logits, len(trace.all(address))

        def bystander() -> Tensor:
            inside.wait()
            assert not observed()
            logits = logits_of(model)
            done.wait()
            return logits

        first, second = threads.submit(changing), threads.submit(bystander)
        changed, times = first.result()
        assert times == 1
        assert torch.equal(second.result(), plain_logits("paper"))
        assert (changed - plain_logits("paper")).abs().max() > 1e-4

    def test_all_of_them_are_there(self) -> None:
        """Written out, so that a tap that disappears is missed."""
        attention = ("q", "k", "v", "mask", "raw_scores", "scores", "weights", "context", "output")
        inputs = ("tokens", "positions", "stream")
        expected = {f"{stack}.input.{name}" for stack in ("encoder", "decoder") for name in inputs}
        expected |= {"encoder.output", "decoder.output", "logits"}
        for layer, residuals in {
            "encoder.layers.0": ("self", "ff"),
            "decoder.layers.0": ("self", "cross", "ff"),
            "decoder.layers.1": ("self", "cross", "ff"),
        }.items():
            expected |= {f"{layer}.residual_{kind}.stream" for kind in residuals}
            expected |= {f"{layer}.feed_forward.{name}" for name in ("hidden", "output")}
            kinds = ("self",) if layer.startswith("encoder") else ("self", "cross")
            expected |= {f"{layer}.{kind}_attention.{name}" for kind in kinds for name in attention}
        self_attentions = [
            f"{layer}.self_attention" for layer in ("encoder.layers.0", "decoder.layers.0", "decoder.layers.1")
        ]
        every = [*self_attentions, "decoder.layers.0.cross_attention", "decoder.layers.1.cross_attention"]
        modern = {f"{module}.relative.{name}" for module in self_attentions for name in ("q", "k")}
        modern |= {f"{module.rpartition('.')[0]}.feed_forward.gate" for module in self_attentions}
        biases = {f"{module}.relative.bias" for module in self_attentions}
        more = {"modern": modern, "biased": biases | {f"{name}.sink" for name in every}, "buckets": biases}
        for variant in VARIANTS:
            assert set(addresses(model_of(variant))) == expected | more.get(variant, set()), variant
            assert set(recorded(variant)) == expected | more.get(variant, set()), variant

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_nothing_is_registered_on_the_model(self, variant: str) -> None:
        model = tiny_model(n_encoder_layers=1, **VARIANTS[variant])
        before = {name: dict(vars(module)) for name, module in model.named_modules()}
        with record(), intervene({STREAM: zero}):
            logits_of(model)
            for name, module in model.named_modules():
                assert vars(module).keys() == before[name].keys()
                assert not (module._forward_hooks or module._forward_pre_hooks)


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


class TestOutsideTheBlock:
    def test_a_recording_stops_with_its_block(self) -> None:
        model = model_of("pre")
        logits_of(model)
        with record() as trace:
            assert observed()
        logits_of(model)
        assert not observed()
        assert len(trace) == 0

    def test_an_exception_restores_the_state(self) -> None:
        model = model_of("pre")
        with pytest.raises(ZeroDivisionError), record(), intervene({WEIGHTS: zero}):
            raise ZeroDivisionError
        assert not observed()
        assert torch.equal(logits_of(model), plain_logits("pre"))

    def test_an_exception_in_an_intervention_restores_the_state(self) -> None:
        def fail(value: Tensor) -> Tensor:
            raise ZeroDivisionError

        with record() as outer:
            with pytest.raises(ZeroDivisionError), intervene({WEIGHTS: fail}):
                logits_of(model_of("pre"))
            n_recorded = len(outer.all(WEIGHTS))
            assert torch.isfinite(logits_of(model_of("pre"))).all()
            assert len(outer.all(WEIGHTS)) == n_recorded + 1  # the outer recording goes on
        assert not observed()

    def test_a_thread_started_inside_the_block_sees_nothing(self) -> None:
        model, results = model_of("pre"), []
        with record() as trace, intervene({WEIGHTS: zero}):
            thread = threading.Thread(target=lambda: results.append(logits_of(model)))
            thread.start()
            thread.join()
            assert len(trace) == 0
            logits_of(model)
        assert torch.equal(results[0], plain_logits("pre"))


class TestContexts:
    def test_tasks_do_not_see_each_other(self) -> None:
        """Two tasks of one thread take turns: one is inside its block whenever the other makes its pass."""
        model = model_of("post")

        async def recording(mine: asyncio.Event, theirs: asyncio.Event) -> tuple[Tensor, int]:
            with record(WEIGHTS) as trace, intervene({STREAM: zero}):
                mine.set()
                await theirs.wait()
                logits = logits_of(model)
            return logits, len(trace.all(WEIGHTS))

        async def bystander(mine: asyncio.Event, theirs: asyncio.Event) -> Tensor:
            await theirs.wait()
            logits = logits_of(model)
            mine.set()
            return logits

        async def both():
            first, second = asyncio.Event(), asyncio.Event()
            return await asyncio.gather(recording(first, second), bystander(second, first))

        (changed, times), untouched = asyncio.run(both())
        assert times == 1
        assert torch.equal(untouched, plain_logits("post"))
        assert (changed - plain_logits("post")).abs().max() > 1e-4

    def test_a_context_is_what_it_was_when_it_was_copied(self) -> None:
        model = model_of("pre")
        before = contextvars.copy_context()
        with record(WEIGHTS) as trace:
            within = contextvars.copy_context()
            before.run(logits_of, model)
            assert len(trace.all(WEIGHTS)) == 0
            within.run(logits_of, model)
            assert len(trace.all(WEIGHTS)) == 1


class TestNesting:
    def test_a_recording_inside_an_intervention_sees_the_change(self) -> None:
        with intervene({WEIGHTS: zero}), record() as trace:
            logits_of(model_of("pre"))
        assert not trace[WEIGHTS].any()
        assert not trace[CONTEXT].any()

    def test_a_recording_around_an_intervention_sees_what_was_there(self) -> None:
        with record() as trace, intervene({WEIGHTS: zero}):
            logits_of(model_of("pre"))
        assert torch.equal(trace[WEIGHTS], recorded("pre")[WEIGHTS])
        assert not trace[CONTEXT].any()

    def test_interventions_at_one_address_follow_each_other(self) -> None:
        with intervene({STREAM: lambda value: value + 1}), intervene({STREAM: lambda value: value * 2}):
            with record() as trace:
                logits_of(model_of("pre"))
        assert_near(trace[STREAM], (recorded("pre")[STREAM] + 1) * 2)

    def test_recordings_are_independent(self) -> None:
        with record() as outer:
            logits_of(model_of("pre"))
            with record("*.weights") as inner:
                logits_of(model_of("pre"))
        assert len(outer.all(WEIGHTS)) == 2 and len(inner.all(WEIGHTS)) == 1
        assert torch.equal(outer[WEIGHTS], inner[WEIGHTS])

    def test_several_addresses_at_once(self) -> None:
        with intervene({WEIGHTS: zero, STREAM: zero}), record() as trace:
            logits_of(model_of("pre"))
        assert not trace[WEIGHTS].any() and not trace[STREAM].any()


class TestTrace:
    def test_patterns_choose_addresses(self) -> None:
        with record("encoder.*.weights", "logits") as trace:
            logits_of(model_of("pre"))
        assert list(trace) == ["encoder.layers.0.self_attention.weights", "logits"]
        assert len(trace) == 2 and "logits" in trace and WEIGHTS not in trace

    def test_the_last_of_several_passes(self) -> None:
        model = model_of("pre")
        with record("encoder.output") as trace, torch.no_grad():
            model.start(SRC)
            model.start(SRC.flip(0))
        first, second = trace.all("encoder.output")
        assert_near(first[0], second[1])
        assert torch.equal(trace["encoder.output"], second) and not torch.equal(first, second)

    def test_an_address_that_was_not_recorded(self) -> None:
        with record("*.weights") as trace:
            logits_of(model_of("pre"))
        assert trace.all("encoder.output") == []
        with pytest.raises(KeyError, match="nothing was recorded at 'decoder.nowhere.weights'.*encoder.layers.0"):
            trace["decoder.nowhere.weights"]

    @pytest.mark.slow
    def test_what_was_recorded_belongs_to_the_trace(self) -> None:
        """Overwriting a recorded array must not reach the model (positions are a part of its table) or its output."""
        model = model_of("pre")
        for address in addresses(model):
            with record() as trace:
                logits = logits_of(model)
            expected = logits.clone()
            trace[address].zero_()
            assert torch.equal(logits, expected), address
            assert torch.equal(logits_of(model), plain_logits("pre")), address
            with record() as trace:
                logits_of(model).zero_()
            assert torch.equal(trace[address], recorded("pre")[address]), address

    @pytest.mark.slow
    def test_an_intervention_may_work_in_place(self) -> None:
        """What it is given is its own: not a part of the model's table, not what an outer recording has seen."""
        model = model_of("pre")
        for address in addresses(model):
            with intervene({address: zero}):
                expected = logits_of(model)
            with record() as outer, intervene({address: lambda value: value.zero_()}):
                assert_near(logits_of(model), expected)
            assert torch.equal(outer[address], recorded("pre")[address]), address
            assert torch.equal(logits_of(model), plain_logits("pre")), address

    def test_gradients_flow_through_a_recording(self) -> None:
        model = tiny_model()
        model(SRC, TGT).square().sum().backward()
        expected = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
        model.zero_grad()
        with record() as trace:
            model(SRC, TGT).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad.abs().max() > 0, name
            assert_near(parameter.grad, expected[name], 1e-8)
        assert not any(value.requires_grad for value in trace.values())

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_weights_are_recorded_before_dropout(self, variant: str) -> None:
        model = tiny_model(n_encoder_layers=1, dropout=0.5, **VARIANTS[variant]).train()
        with record() as trace, torch.no_grad():
            model(SRC, TGT)
        n_equal = 0
        for address in [address for address in trace if address.endswith(".weights")]:
            rows = trace[address].sum(-1)
            if (sink := address.replace(".weights", ".sink")) in trace:
                rows = rows + trace[sink]
            assert_near(rows, torch.ones_like(rows))
            context = trace[address] @ trace[address.replace(".weights", ".v")]  # G = 1 is broadcast over the heads
            n_equal += torch.allclose(context, trace[address.replace(".weights", ".context")])
        assert n_equal == 0  # dropout did take place, after the tap


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda value: value[:1], r"returned \(1, 3, 5, 7\) torch.float64; it must return \(2, 3, 5, 7\) torch.f"),
            (lambda value: value.float(), r"returned \(2, 3, 5, 7\) torch.float32; it must return .* torch.float64"),
            (lambda value: value.mT, r"returned \(2, 3, 7, 5\)"),
            (lambda value: value.sum(), r"returned \(\) torch.float64"),
            (lambda value: None, "returned NoneType"),
            (lambda value: value.numpy(), "returned ndarray"),
            (lambda value: value.tolist(), "returned list"),
        ],
    )
    def test_what_an_intervention_returns_is_checked(self, change: Callable, words: str) -> None:
        with pytest.raises(ValueError, match=f"the intervention at '{WEIGHTS}' {words}"), intervene({WEIGHTS: change}):
            logits_of(model_of("pre"))
        assert not observed()

    def test_a_misspelt_address(self) -> None:
        with pytest.raises(LookupError, match="no pass went through 'decoder.layers.0.cros_attention.weights'"):
            with intervene({"decoder.layers.0.cros_attention.weights": zero}):
                logits_of(model_of("pre"))
        assert not observed()

    def test_no_pass_at_all(self) -> None:
        with pytest.raises(LookupError, match=f"no pass went through '{WEIGHTS}'"), intervene({WEIGHTS: zero}):
            pass

    def test_the_blocks_own_exception_comes_first(self) -> None:
        with pytest.raises(ZeroDivisionError), intervene({"nowhere": zero}):
            raise ZeroDivisionError


def test_a_tap_outside_any_block_is_the_identity_itself() -> None:
    value = torch.randn(3)
    assert Tap("B")(value) is value
    assert np.shares_memory(Tap("B")(value).numpy(), value.numpy())
