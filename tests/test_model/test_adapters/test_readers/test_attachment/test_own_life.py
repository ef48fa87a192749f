"""Attached models whose owners go on with them: other attention functions, training, copies, detaching, devices."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from model import attach
from model.adapters.readers.reader import Reader
from model.interventions.edits import Edits, Head
from model.taps import record
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick

# One of each way in which readers hold a model: a decoder, shared layers, two stacks, no choice of functions.
SEVERAL = ["llama", "albert", "t5", "falcon"]


def state_of(model: Any) -> dict[str, Any]:
    """All that `attach` may change on a model."""
    hooks = {
        path: [list(getattr(module, name).values()) for name in ("_forward_hooks", "_forward_pre_hooks")]
        for path, module in model.named_modules()
    }
    configs = {path: module.config for path, module in model.named_modules() if hasattr(module, "config")}
    return {
        "hooks": hooks,
        "implementations": {path: config._attn_implementation for path, config in configs.items()},
        "training": {path: module.training for path, module in model.named_modules()},
        "attributes": {path: sorted(vars(module)) for path, module in model.named_modules()},
    }


def reading_of(reader: Reader, inputs: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    result = reader.read(**inputs)
    return {"logits": result.logits, **{kind: result.attention(kind) for kind in reader.config.kinds}}


def check_same(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert actual.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(actual[name], values, atol=2e-6)


class TestDetaching:
    @pytest.mark.parametrize("name", SEVERAL)
    @pytest.mark.parametrize("implementation", ["eager", "sdpa"])
    def test_puts_all_of_it_back(self, name: str, implementation: str) -> None:
        model, inputs = architectures.build(name, implementation).train(), architectures.inputs_of(name)
        next(model.modules()).training = False  # as an owner may freeze a part
        before = state_of(model)
        with attach(model, Numbers()) as reader:
            assert state_of(model) != before
            reader.read(**inputs)
            assert state_of(model)["training"] == before["training"]
        assert state_of(model) == before
        reader.detach()
        assert state_of(model) == before
        with pytest.raises(ValueError, match="this reader was detached from its model: attach the model again"):
            reader.read(**inputs)
        check_same(
            reading_of(attach(model, Numbers()), inputs),
            reading_of(attach(architectures.build(name), Numbers()), inputs),
        )

    def test_other_readers_go_on(self) -> None:
        model, inputs = architectures.build("llama"), architectures.inputs_of("llama")
        first, second = attach(model, Numbers()), attach(model, Numbers())
        expected = reading_of(first, inputs)
        first.detach()
        check_same(reading_of(second, inputs), expected)

    def test_of_a_part_leaves_the_whole_attached(self) -> None:
        model, inputs = architectures.build("llama"), architectures.inputs_of("llama")
        whole = attach(model, Numbers())
        expected, importance = reading_of(whole, inputs), whole.importance(whole.read(**inputs))
        part = attach(model.model, Numbers())
        check_same(
            {"decoder_self": part.read(**inputs).attention("decoder_self")}, {"decoder_self": expected["decoder_self"]}
        )
        check_same(reading_of(whole, inputs), expected)
        part.read(**inputs)
        part.detach()
        check_same(reading_of(whole, inputs), expected)
        np.testing.assert_array_equal(
            whole.importance(whole.read(**inputs))["decoder_self"], importance["decoder_self"]
        )


class TestOwners:
    @pytest.mark.parametrize("name", ["llama", "bert", "t5", "mistral", "whisper", "vit"])
    @pytest.mark.parametrize("implementation", ["eager", "sdpa"])
    def test_choose_another_attention_function(self, name: str, implementation: str) -> None:
        model, inputs = architectures.build(name), architectures.inputs_of(name)
        reader = attach(model, Numbers())
        expected = reading_of(reader, inputs)
        kind = reader.config.kinds[0]
        edits = Edits(off=(Head(kind, 1, 2 % reader.config.layers(kind)[1].n_heads),))
        changed = reader.read(**inputs, edits=edits).logits
        model.set_attn_implementation(implementation)
        check_same(reading_of(reader, inputs), expected)
        model.set_attn_implementation(implementation)
        np.testing.assert_allclose(reader.read(**inputs, edits=edits).logits, changed, atol=2e-6)
        model.config._attn_implementation = implementation
        check_same(reading_of(attach(model, Numbers()), inputs), expected)
        model.set_attn_implementation(implementation)
        with torch.inference_mode(), record("*.weights") as trace:
            model(**inputs)
        assert trace[f"{reader.config.layers(kind)[0].address}.weights"].shape == expected[kind][:1].shape
        reader.detach()
        assert model.config._attn_implementation == implementation

    def test_write_after_choosing_another_function(self) -> None:
        reader = attach(architectures.build("llama"), Numbers())
        edits = Edits(off=(Head("decoder_self", 1, 2),))
        expected = reader.generate("11 12 13", tokens=5, edits=edits).predicted_ids
        reader.model.set_attn_implementation("eager")
        assert reader.generate("11 12 13", tokens=5, edits=edits).predicted_ids == expected

    def test_of_a_model_without_a_choice_of_functions(self) -> None:
        model, inputs = architectures.build("falcon", "sdpa"), architectures.inputs_of("falcon")
        reader = attach(model, Numbers())
        expected = reading_of(reader, inputs)
        model.config._attn_implementation = "sdpa"
        check_same(reading_of(reader, inputs), expected)
        reader.detach()
        assert model.config._attn_implementation == "sdpa"

    def test_train_between_two_readings(self) -> None:
        model, inputs = architectures.build("gpt2").train(), architectures.inputs_of("gpt2")  # with dropout
        reader = attach(model, Numbers())
        expected = reading_of(attach(architectures.build("gpt2"), Numbers()), inputs)
        check_same(reading_of(reader, inputs), expected)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(**inputs, labels=inputs["input_ids"]).loss.backward()
        optimizer.step()
        assert model.training and all(module.training for module in model.modules())
        other = copy.deepcopy(model).eval()
        check_same(reading_of(reader, inputs), reading_of(attach(other, Numbers()), inputs))
        assert np.abs(reading_of(reader, inputs)["logits"] - expected["logits"]).max() > 1e-3
        words = [reader.generate("11 12 13", tokens=4).predicted_ids for _ in range(3)]
        assert words[0] == words[1] == words[2]

    def test_readers_in_several_threads_do_not_wake_dropout(self) -> None:
        model, inputs = architectures.build("gpt2").train(), architectures.inputs_of("gpt2")
        reader = attach(model, Numbers())
        expected = reader.read(**inputs).logits
        wrong = []

        def work() -> None:
            wrong.extend(1 for _ in range(20) if not np.array_equal(reader.read(**inputs).logits, expected))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and model.training

    @pytest.mark.parametrize("change", [lambda model: model.resize_token_embeddings(120), lambda model: model.half()])
    def test_change_parts_of_the_model(self, change: Callable[[Any], object]) -> None:
        model, other = architectures.build("llama"), architectures.build("llama")
        reader = attach(model, Numbers())
        reader.read("11 12")
        for one in (model, other):
            torch.manual_seed(0)
            change(one)
        check_same(
            reading_of(reader, {"input_ids": torch.tensor([[11, 12]])}),
            reading_of(attach(other, Numbers()), {"input_ids": torch.tensor([[11, 12]])}),
        )
        assert reader.config == attach(other, Numbers()).config

    @pytest.mark.parametrize("name", SEVERAL)
    def test_copy_a_model(self, name: str) -> None:
        model, inputs = architectures.build(name), architectures.inputs_of(name)
        reader = attach(model, Numbers())
        expected = reading_of(reader, inputs)
        other = copy.deepcopy(model)
        with torch.inference_mode():
            with record() as trace:
                logits = other(**inputs).logits[0].numpy()
            assert not trace
            np.testing.assert_allclose(logits, expected["logits"], atol=2e-6)
        with attach(other, Numbers()) as second:
            check_same(reading_of(second, inputs), expected)
            if not second.config.read_only:
                with torch.inference_mode(), record() as trace:
                    other(**inputs)
                assert all(len(trace.all(address)) == 1 for address in trace)
        check_same(reading_of(reader, inputs), expected)
        again = pickle.loads(pickle.dumps(other))
        check_same(reading_of(attach(again, Numbers()), inputs), expected)

    def test_save_a_model(self, tmp_path: Any) -> None:
        import transformers

        model, inputs = architectures.build("llama"), architectures.inputs_of("llama")
        reader = attach(model, Numbers())
        model.save_pretrained(tmp_path)
        torch.save(model.state_dict(), io.BytesIO())
        other = transformers.LlamaForCausalLM.from_pretrained(tmp_path)
        assert "headlight" not in (tmp_path / "config.json").read_text("utf-8")
        check_same(reading_of(attach(other, Numbers()), inputs), reading_of(reader, inputs))


class TestWithoutATokenizer:
    def test_ids_have_their_numbers_as_names(self) -> None:
        reader = attach(architectures.build("llama"))
        ids = torch.tensor([[11, 17, 3]])
        result = reader.read(input_ids=ids)
        named = attach(architectures.build("llama"), Numbers()).read(input_ids=ids)
        assert result.target_tokens == ["11", "17", "3"] and result.text == "11 17 3"
        assert result.predicted_tokens == named.predicted_tokens
        assert reader.effects(result, 17, against=3).logits.shape == (3,)
        assert reader.lens(result, k=2).words == attach(reader.model, Numbers()).lens(named, k=2).words
        assert reader.importance(result)["decoder_self"].shape == (3, 4, 3)

    @pytest.mark.parametrize("name", ["bert", "bart", "whisper"])
    def test_every_kind_of_model(self, name: str) -> None:
        inputs = architectures.inputs_of(name)
        result, named = (attach(architectures.build(name), tokenizer).read(**inputs) for tokenizer in (None, Numbers()))
        assert result.source_tokens == named.source_tokens and result.target_tokens == named.target_tokens
        assert result.predicted_tokens == named.predicted_tokens and not result.masked_words

    @pytest.mark.parametrize(
        "asks",
        first_quick(
            [
                lambda decoder, encoder, pair: decoder.read("a text"),
                lambda decoder, encoder, pair: decoder.generate("a text"),
                lambda decoder, encoder, pair: decoder.token("word"),
                lambda decoder, encoder, pair: pair.translate("a text"),
                lambda decoder, encoder, pair: pair.read(input_ids=torch.tensor([[11]]), target="a text"),
                lambda decoder, encoder, pair: encoder.importance(encoder.read(input_ids=torch.tensor([[11, 4]]))),
            ],
            2,
        ),
    )
    def test_a_text_gets_one_sentence(self, asks: Any) -> None:
        readers = [attach(architectures.build(name)) for name in ("llama", "bert", "bart")]
        with pytest.raises(ValueError, match="without a tokenizer: give ids instead of texts and words"):
            asks(*readers)


class TestNumbers:
    """What comes back is float32 on the CPU, whatever the model computes with."""

    @pytest.mark.parametrize("name", ["llama", "vit", "whisper", "falcon"])
    def test_of_a_bfloat16_model(self, name: str) -> None:
        inputs = architectures.inputs_of(name)
        result = attach(architectures.build(name).to(torch.bfloat16), Numbers()).read(**inputs)
        assert {str(value.dtype) for value in result.trace.values()} <= {"float32", "bool"}
        assert result.log_probabilities.dtype == np.float32
        whole = attach(architectures.build(name), Numbers()).read(**inputs)
        for kind in result.kinds:
            np.testing.assert_allclose(result.attention(kind), whole.attention(kind), atol=0.05)

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a graphics processor")
    @pytest.mark.parametrize("name", ["llama", "bert", "t5", "vit"])
    def test_of_a_model_on_a_graphics_processor(self, name: str) -> None:
        inputs = architectures.inputs_of(name)
        reader, expected = (attach(architectures.build(name).to(device), Numbers()) for device in ("cuda", "cpu"))
        result, same = reader.read(**inputs), expected.read(**inputs)
        assert {str(value.dtype) for value in result.trace.values()} <= {"float32", "bool"}
        for kind in result.kinds:
            np.testing.assert_allclose(result.attention(kind), same.attention(kind), atol=1e-4)
        if name == "llama":
            assert reader.effects(result, 11).rest < 1e-3
            reader.importance(result), reader.occlusion(result), reader.lens(result), reader.generate("11", tokens=3)
