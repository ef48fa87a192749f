"""Models as people hold them (PEFT, compiled, pipelines, parallel, SentenceTransformer) against `eager` of the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import peft
import pytest
import torch
import transformers
from torch import nn

from model import attach
from model.adapters.readers.reader import Reader
from model.interventions.edits import Edits, Head
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.other_models import TEXTS, model_of, theirs

TUNERS: dict[str, Any] = {
    "lora": lambda: peft.LoraConfig(r=3, target_modules="all-linear", init_lora_weights=False),
    "lora_with_biases": lambda: peft.LoraConfig(
        r=3, target_modules=["q_proj", "o_proj"], lora_bias=True, bias="all", init_lora_weights=False
    ),
    "dora": lambda: peft.LoraConfig(r=3, target_modules=["q_proj", "v_proj"], use_dora=True, init_lora_weights=False),
    "ia3": lambda: peft.IA3Config(
        target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"], init_ia3_weights=False
    ),
    "norms": lambda: peft.LNTuningConfig(target_modules=["input_layernorm", "norm"]),
    "whole_modules": lambda: peft.LoraConfig(
        r=3, target_modules=["v_proj"], modules_to_save=["norm", "lm_head"], init_lora_weights=False
    ),
}


def tuned(name: str, implementation: str | None = None) -> Any:
    """A Llama with an adapter whose numbers are not those of its beginning."""
    torch.manual_seed(3)
    model = peft.get_peft_model(architectures.build("llama", implementation), TUNERS[name]()).eval()
    torch.manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@torch.inference_mode()
def expected(wrapper: Any, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (T, V) and maps (L, H, T, T) of what a wrapper computes itself, with eager attention."""
    outputs = wrapper(**inputs, output_attentions=True)
    return outputs.logits[0], torch.cat(outputs.attentions)


def check(reader: Reader, eager: Any, inputs: dict[str, torch.Tensor]) -> None:
    """Logits and maps are those of the wrapper itself; a head off is what it is with its values at zero."""
    result = reader.read(**inputs)
    logits, maps = expected(eager, inputs)
    (kind,) = reader.config.kinds
    torch.testing.assert_close(torch.from_numpy(result.logits), logits, rtol=0, atol=2e-6)
    torch.testing.assert_close(torch.from_numpy(result.attention(kind)), maps, rtol=0, atol=2e-6)
    edited = reader.read(**inputs, edits=Edits(off=(Head(kind, 1, 2),)))
    attention = next(module for path, module in eager.named_modules() if path.endswith("layers.1.self_attn"))
    d_head = reader.config.layers(kind)[1].d_head

    def without_head(module: nn.Module, arguments: tuple) -> tuple:
        context = arguments[0].clone()  # (B, T, H * K)
        context[..., 2 * d_head : 3 * d_head] = 0
        return (context,)

    handle = attention.o_proj.register_forward_pre_hook(without_head)
    logits, _ = expected(eager, inputs)
    handle.remove()
    torch.testing.assert_close(torch.from_numpy(edited.logits), logits, rtol=0, atol=2e-6)
    assert not np.allclose(edited.logits, result.logits, atol=1e-4)


class TestPeft:
    @pytest.mark.parametrize("name", [*TUNERS])
    def test_adapters_are_active(self, name: str) -> None:
        inputs = architectures.inputs_of("llama")
        reader = attach(tuned(name), Numbers())
        check(reader, tuned(name, "eager"), inputs)
        plain, _ = expected(architectures.build("llama", "eager"), inputs)
        assert np.abs(reader.read(**inputs).logits - plain.numpy()).max() > 0.01
        assert reader.config.random_output is None and reader.config.norm_position == "pre"

    @pytest.mark.parametrize("name", [*TUNERS])
    def test_effects_sum_to_logits_and_heads_have_their_importance(self, name: str) -> None:
        reader = attach(tuned(name), Numbers())
        result = reader.read("11 12 13 14")
        effects = reader.effects(result, against="runner-up")
        np.testing.assert_allclose(sum(effects.parts.values()), effects.logits, atol=1e-3)
        off = reader.read(result.text, edits=Edits(off=(Head("decoder_self", 1, 2),)))
        loss = torch.from_numpy(result.logits).log_softmax(-1) - torch.from_numpy(off.logits).log_softmax(-1)
        at_words = loss[range(4), result.predicted_ids].numpy()
        np.testing.assert_allclose(reader.importance(result)["decoder_self"][1, 2], at_words, atol=1e-4)

    def test_one_of_several_adapters_none_and_merged_ones(self) -> None:
        inputs = architectures.inputs_of("llama")
        model, eager = tuned("lora"), tuned("lora", "eager")
        reader = attach(model, Numbers())
        for wrapper in (model, eager):
            torch.manual_seed(5)
            wrapper.add_adapter("second", TUNERS["dora"]())
            wrapper.set_adapter("second")
            wrapper.eval()
        check(reader, eager, inputs)  # chosen after the model was attached
        with model.disable_adapter(), eager.disable_adapter():
            check(reader, eager, inputs)
        check(attach(model.merge_and_unload(), Numbers()), eager, inputs)

    def test_adapters_that_come_after_attaching(self) -> None:
        inputs = architectures.inputs_of("llama")
        model = architectures.build("llama")
        reader = attach(model, Numbers())
        reader.read(**inputs)
        eager = architectures.build("llama", "eager")
        for one in (model, eager):
            torch.manual_seed(3)
            peft.get_peft_model(one, TUNERS["lora"]())
        check(reader, eager.eval(), inputs)

    def test_those_that_act_outside_the_layers_are_refused(self) -> None:
        virtual = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
        before = peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
        at_a_word = peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], alora_invocation_tokens=[5])
        for config, words in ((virtual, "PROMPT_TUNING"), (before, "PREFIX_TUNING"), (at_a_word, "always active")):
            with pytest.raises(ValueError, match=words) as error:
                attach(peft.get_peft_model(architectures.build("llama"), config), Numbers())
            assert "\n" not in str(error.value)


class TestCompiled:
    """With a backend that compiles nothing: what runs is Dynamo's, as with every other."""

    @pytest.mark.slow
    @pytest.mark.parametrize("way", ["wrapped", "layers in place", "in place", "layers wrapped"])
    def test_is_read_as_it_was_written(self, way: str) -> None:
        torch._dynamo.reset()
        inputs = architectures.inputs_of("llama")
        model = architectures.build("llama")
        compiled: Any = model
        layers = model.model.layers
        if way == "wrapped":
            compiled = torch.compile(model, backend="eager")
        elif way == "in place":
            model.compile(backend="eager")
        for number, layer in enumerate(layers if way.startswith("layers") else ()):
            if way == "layers in place":
                layer.compile(backend="eager")
            else:
                layers[number] = torch.compile(layer, backend="eager")
        with torch.no_grad():
            before = compiled(**inputs).logits
            reader = attach(compiled, Numbers())
            check(reader, architectures.build("llama", "eager"), inputs)
            reader.effects(reader.read("11 12 13"))
            assert torch.equal(compiled(**inputs).logits, before)

    @pytest.mark.parametrize("name", first_quick(["llama", "albert"]))
    def test_an_attached_model_compiles_in_one_graph(self, name: str) -> None:
        torch._dynamo.reset()
        inputs = architectures.inputs_of(name)
        model = architectures.build(name)
        with torch.no_grad():
            before = model(**inputs).logits
            attach(model, Numbers())
            after = torch.compile(model, backend="eager", fullgraph=True)(**inputs).logits
        torch.testing.assert_close(after, before, rtol=0, atol=1e-6)


class SentenceTransformer(nn.Sequential):
    """The structure of the class in the package of its name: modules, the first with the model and its tokenizer."""

    __module__ = "sentence_transformers.SentenceTransformer"


class Transformer(nn.Module):
    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.auto_model = model
        self.tokenizer = tokenizer


class TestOthers:
    def test_a_pipeline_brings_its_tokenizer(self) -> None:
        pipeline = transformers.pipeline("text-generation", model=model_of("gpt2"), tokenizer=theirs("gpt2"))
        result, alone = attach(pipeline).read(TEXTS[0]), attach(model_of("gpt2"), theirs("gpt2")).read(TEXTS[0])
        assert result.target_tokens == alone.target_tokens
        np.testing.assert_array_equal(result.attention("decoder_self"), alone.attention("decoder_self"))
        np.testing.assert_array_equal(result.logits, alone.logits)

    @pytest.mark.parametrize("wrapper", [nn.DataParallel, torch.optim.swa_utils.AveragedModel])
    def test_parallel_and_averaged_models(self, wrapper: Any) -> None:
        inputs = architectures.inputs_of("llama")
        check(attach(wrapper(architectures.build("llama")), Numbers()), architectures.build("llama", "eager"), inputs)

    def test_a_sentence_transformer(self) -> None:
        model = SentenceTransformer(Transformer(model_of("bert"), theirs("bert")), nn.Identity())
        result, alone = attach(model).read(TEXTS[0]), attach(model_of("bert"), theirs("bert")).read(TEXTS[0])
        assert result.source_tokens == alone.source_tokens == ["[CLS]", *TEXTS[0].split(), "[SEP]"]
        np.testing.assert_array_equal(result.attention("encoder_self"), alone.attention("encoder_self"))

    def test_wrappers_of_wrappers(self) -> None:
        inputs = architectures.inputs_of("llama")
        model = nn.DataParallel(torch.compile(tuned("lora"), backend="eager"))
        check(attach(model, Numbers()), tuned("lora", "eager"), inputs)
        check(attach(attach(model, Numbers())), tuned("lora", "eager"), inputs)

    def test_tokenizers_as_people_hold_them(self) -> None:
        alone = attach(model_of("bert"), theirs("bert")).read(TEXTS[0])
        raw = attach(model_of("bert"), theirs("bert").backend_tokenizer).read(TEXTS[0])
        assert raw.source_tokens == alone.source_tokens


class Classifier(nn.Module):
    """A module of one's own with a model in it."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


class TestRefusals:
    @pytest.mark.parametrize(
        ("thing", "words"),
        [
            (lambda: None, "got None"),
            (lambda: theirs("bert"), "got the tokenizer .* in its place: attach"),
            (lambda: "gpt2", r"the name of one is for load_model\('gpt2'\)"),
            (lambda: transformers.GPT2LMHeadModel, "got the class GPT2LMHeadModel"),
            (lambda: nn.Linear(2, 2), "got the module Linear$"),
            (lambda: nn.DataParallel(nn.Linear(2, 2)), "got the module Linear in a DataParallel"),
            (lambda: Classifier(body=model_of("bert")), "got the module Classifier: give the model in it, its body"),
            (lambda: SentenceTransformer(nn.Identity()), "got the module Identity in a SentenceTransformer"),
            (lambda: SentenceTransformer(), "got the module SentenceTransformer"),
            (lambda: {"model": 1}, "got dict"),
            (lambda: architectures.build("llama").to("meta"), "device 'meta', without numbers"),
        ],
    )
    def test_what_is_no_model_gets_one_sentence(self, thing: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words) as error:
            attach(thing(), Numbers())
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("thing", ["gpt2", 3, transformers.PreTrainedTokenizerFast, nn.Linear(2, 2)])
    def test_what_is_no_tokenizer_gets_one_sentence(self, thing: Any) -> None:
        with pytest.raises(ValueError, match="the tokenizer must be one of transformers, a processor, or None, got"):
            attach(architectures.build("llama"), thing)
