"""Readers of models of transformers: every architecture against `eager` of the same model, without edits and with."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model import attach
from model.adapters.attention_file import read_attention
from model.adapters.readers.reader import Reader
from model.interventions.edits import Cell, Edits, Force, Head
from model.taps import intervene, record
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick

OUTPUTS = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}


@pytest.fixture(scope="module", params=[*architectures.ON_THE_INTERFACE])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def inputs(name: str) -> dict[str, torch.Tensor]:
    return architectures.inputs_of(name)


@pytest.fixture(scope="module")
def reader(name: str) -> Reader:
    return attach(architectures.build(name), Numbers())


@torch.inference_mode()
def outputs_of(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What a model gives by itself: logits, and by kind, "all" where there is one, maps (layers, heads, T, S)."""
    outputs = model(**inputs, output_attentions=True)
    pair = model.config.is_encoder_decoder
    maps = {kind: outputs[name] for kind, name in OUTPUTS.items()} if pair else {"all": outputs["attentions"]}
    stacked = {kind: torch.cat([layer for layer in layers if layer is not None]) for kind, layers in maps.items()}
    return {"logits": outputs["logits"][0], **stacked}


def close(actual: np.ndarray, expected: torch.Tensor) -> None:
    torch.testing.assert_close(torch.from_numpy(actual), expected, rtol=0, atol=1e-6)


class TestEveryArchitecture:
    def test_logits_and_maps_are_those_of_eager(self, name: str, reader: Reader, inputs: dict) -> None:
        result, eager = reader.read(**inputs), outputs_of(architectures.build(name, "eager"), inputs)
        close(result.logits, eager["logits"])
        for kind in reader.config.kinds:
            close(result.attention(kind), eager.get(kind, eager.get("all")))

    def test_masks_are_where_weights_can_be(self, reader: Reader, inputs: dict) -> None:
        result = reader.read(**inputs)
        for kind in reader.config.kinds:
            weights = result.attention(kind)
            mask = np.broadcast_to(result.mask(kind), (len(weights), *weights.shape[2:]))
            assert ((weights > 0) == mask[:, None]).all()
            reached = [layer.sum(axis=-1).max() for layer in mask]
            assert reached == [min(layer.window or 99, mask.shape[-1]) for layer in reader.config.layers(kind)]

    def test_an_attached_model_computes_what_it_did(self, name: str, inputs: dict) -> None:
        model = architectures.build(name)
        with torch.inference_mode():
            before = model(**inputs)["logits"]
            attach(attach(model, Numbers()).model, Numbers())
            assert torch.equal(model(**inputs)["logits"], before)

    def test_a_head_off_equals_zeroing_its_slice_of_the_output_projection(
        self, name: str, reader: Reader, inputs: dict
    ) -> None:
        for kind in reader.config.kinds:
            last = reader.config.layers(kind)[-1]
            head = last.n_heads - 1
            # Where layers share their weights, the slice is that of all of them.
            off = reader.config.layers(kind) if reader.layout.shared else [last]
            eager_model = architectures.build(name, "eager")
            zero_slice(projection_of(eager_model, reader, last.address), head, last.n_heads)
            edits = Edits(off=tuple(Head(kind, layer.layer, head) for layer in off))
            close(reader.read(**inputs, edits=edits).logits, outputs_of(eager_model, inputs)["logits"])

    def test_cells_and_heads_do_what_they_say(self, reader: Reader, inputs: dict) -> None:
        for kind in reader.config.kinds:
            layer = reader.config.layers(kind)[0]
            before = reader.read(**inputs).attention(kind)
            edits = Edits(
                uniform=(Head(kind, layer.layer, 0),),
                forced=(Force(2, 1, 0.75, kind=kind),),
                cells=(Cell(kind, 4, 3, open=False), Cell(kind, 3, 4, open=True)),
            )
            result = reader.read(**inputs, edits=edits)
            first, mask = result.attention(kind)[0], result.trace[f"{layer.address}.mask"][0]
            assert not mask[4, 3] and mask[3, 4]
            assert not first[:, 4, 3].any() and (first[:, 3, 4] > 0).all()
            others = [key for key in range(mask.shape[1]) if key != 3]
            sink = result.sink(kind)
            if sink is None:  # else it takes a part of what the blocked key leaves
                expected = before[0, 1:, 4, others] / before[0, 1:, 4, others].sum(axis=0)
                np.testing.assert_allclose(first[1:, 4, others], expected.T, atol=1e-6)
            np.testing.assert_allclose(first[0, 4, others], mask[4, others] / mask[4].sum(), atol=1e-6)
            forced = np.eye(mask.shape[1])[1] * 0.75 + before[0, 1:, 2] * 0.25
            np.testing.assert_allclose(first[1:, 2], forced, atol=1e-6)


def projection_of(model: Any, reader: Reader, address: str) -> nn.Module:
    """The output projection of a model that is another one than the reader's, at the same path."""
    paths = {module: path for path, module in reader.model.named_modules()}
    attention = next(candidate for candidate in reader.layout.attentions if candidate.layer.address == address)
    return model.get_submodule(paths[attention.projection])


@torch.no_grad()
def zero_slice(projection: nn.Module, head: int, n_heads: int) -> None:
    weight = projection.weight if isinstance(projection, nn.Linear) else projection.weight.T  # of GPT-2 (in, out)
    d_head = weight.size(1) // n_heads
    weight[:, head * d_head : (head + 1) * d_head] = 0


def endless(architecture: str) -> Reader:
    """A reader of a model that writes until the length ends it."""
    reader = attach(architectures.build(architecture), Numbers())
    reader.model.generation_config.eos_token_id = None
    return reader


class TestGeneration:
    @pytest.mark.parametrize("architecture", first_quick([*architectures.DECODERS, *architectures.PAIRS], 4))
    def test_with_a_cache_every_step_writes_the_best_word_of_the_whole_pass(self, architecture: str) -> None:
        reader = endless(architecture)
        kind = "decoder_self"
        layer = reader.config.layers(kind)[-1].layer
        edits = Edits(
            off=(Head(kind, layer, 0),),
            uniform=(Head(kind, layer, 1),),
            forced=(Force(5, 1, 0.9, kind=kind),),
            cells=(Cell(kind, 4, 0, open=False), Cell(kind, 6, 5, open=False)),
        )
        if reader.config.task == "decoder":
            result, first = reader.generate("11 12 13", tokens=6, edits=edits), 2
        else:
            result, first = reader.translate("11 12 13", beam=1, edits=edits), 0
        assert result.trace[f"decoder.layers.{layer}.self_attention.mask"][0, 4, 0] == False  # noqa: E712
        best = result.logits[first:-1].argmax(axis=-1)  # the last is forced to be the end where the length ends it
        assert len(best) > 3
        assert result.predicted_ids[first:-1] == best.tolist()

    def test_one_seed_gives_one_text_and_others_give_others(self) -> None:
        reader = attach(architectures.build("llama"), Numbers())
        texts = [reader.write("11 12 13", tokens=8, seed=seed, temperature=2.0) for seed in (1, 1, 2)]
        assert texts[0] == texts[1] != texts[2]
        assert reader.write("11 12", tokens=8, temperature=0) == reader.generate("11 12", tokens=8).text

    def test_a_beam_finds_what_is_at_least_as_probable_as_greedy(self) -> None:
        reader = endless("bart")
        greedy, beam = (reader.translate("11 12 13", beam=width) for width in (1, 4))
        assert len(greedy.predicted_ids) == len(beam.predicted_ids) == 16  # twice the source and ten more
        assert beam.log_probabilities.sum() >= greedy.log_probabilities.sum() - 1e-4

    def test_a_beginning_can_be_locked(self) -> None:
        reader = endless("t5")
        assert reader.translate("11 12 13", beam=2, prefix=[31, 32]).predicted_ids[:2] == [31, 32]
        forced = reader.read("11 12 13", target="41 42")
        assert forced.predicted_ids == [41, 42]
        assert forced.target_tokens == ["0", "41"]


class TestReading:
    def test_sinks_take_what_rows_lack(self) -> None:
        reader = attach(architectures.build("gpt_oss"), Numbers())
        result = reader.read("11 12 13 14")
        weights, sink = result.attention("decoder_self"), result.sink("decoder_self")
        np.testing.assert_allclose(weights.sum(axis=-1) + sink, 1, atol=1e-6)
        assert sink.min() > 0.01
        assert attach(architectures.build("llama"), Numbers()).read("11").sink("decoder_self") is None

    def test_layers_of_hybrids_are_numbered_as_in_the_model(self) -> None:
        reader = attach(architectures.build("jamba"), Numbers())
        result = reader.read("11 12 13")
        assert result.layers("decoder_self") == [1, 3]
        with pytest.raises(ValueError, match="layer 0 has no decoder self-attention; the layers 1, 3 have it"):
            reader.read("11 12 13", edits=Edits(off=(Head("decoder_self", 0, 0),)))

    def test_layers_that_share_a_module_have_addresses_of_their_own(self) -> None:
        sizes = {"num_hidden_layers": 4, "num_hidden_groups": 2}
        reader = attach(architectures.build("albert", **sizes), Numbers())
        before = reader.read("11 12 13")
        after = reader.read("11 12 13", edits=Edits(off=(Head("encoder_self", 1, 0),)))
        assert before.layers("encoder_self") == [0, 1, 2, 3]
        assert [bool(layer[0].any()) for layer in after.attention("encoder_self")] == [True, False, True, True]
        np.testing.assert_array_equal(before.attention("encoder_self")[0], after.attention("encoder_self")[0])

    @pytest.mark.parametrize("architecture", ["gemma2", "bert", "t5", "vit", "whisper"])
    def test_a_recording_keeps_what_the_stage_needs(self, architecture: str, tmp_path: Path) -> None:
        result = attach(architectures.build(architecture), Numbers()).read(**architectures.inputs_of(architecture))
        result.recording().save(tmp_path / "recording.npz")
        recording = read_attention(tmp_path / "recording.npz")
        assert recording.source_tokens == result.source_tokens
        for kind in result.config.kinds:
            np.testing.assert_allclose(recording.attention(kind), result.attention(kind), atol=1e-6)
        if architecture == "vit":
            assert recording.source_tokens[:3] == ["[CLS]", "1,1", "1,2"]

    def test_masked_words_are_the_best_of_their_place(self) -> None:
        reader = attach(architectures.build("bert"), Numbers())
        result = reader.read("11 4 13")
        (place, words), *others = result.masked_words.items()
        assert place == 1 and not others
        assert words[0][0] == str(result.logits[1].argmax())
        assert 0 < words[1][1] <= words[0][1] < 1

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("architecture", ["llama", "gpt2", "bert", "t5", "gpt_oss"])
    def test_half_precision(self, architecture: str, dtype: torch.dtype) -> None:
        inputs = architectures.inputs_of(architecture)
        whole = attach(architectures.build(architecture), Numbers()).read(**inputs)
        half = attach(architectures.build(architecture).to(dtype), Numbers()).read(**inputs)
        for kind in whole.config.kinds:
            assert half.attention(kind).dtype == np.float32
            np.testing.assert_allclose(half.attention(kind), whole.attention(kind), atol=0.05)

    @pytest.mark.parametrize(
        ("architecture", "side"),
        [
            *((name, side) for name in ("llama", "gpt2", "gemma2", "opt") for side in ("left", "right")),
            *((name, "right") for name in ("bert", "bart", "t5")),  # whose positions begin at the padding
        ],
    )
    def test_padding_changes_nothing(self, architecture: str, side: str) -> None:
        reader = attach(architectures.build(architecture), Numbers())
        short, long = [11, 12, 13, 14], [21, 22, 23, 24, 25, 26]
        rows = torch.tensor([[0, 0, *short] if side == "left" else [*short, 0, 0], long])
        batch, alone = {"input_ids": rows, "attention_mask": (rows != 0).long()}, {"input_ids": torch.tensor([short])}
        if architecture == "gpt2":  # as its `generate` does: positions are counted from the first real token
            batch["position_ids"] = (batch["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        if reader.config.task == "encoder-decoder":
            alone["decoder_input_ids"] = torch.tensor([[2, 31, 32]])
            batch["decoder_input_ids"] = alone["decoder_input_ids"].expand(2, -1)
        with torch.inference_mode(), record("*.weights") as trace:
            reader.model(**batch)
        result, read = reader.read(**alone), batch["attention_mask"][0].bool()
        every_token = torch.ones(3, dtype=torch.bool)
        for kind in reader.config.kinds:
            one_side = "cross" not in reader.config.kinds or kind == "encoder_self"
            queries, keys = read if one_side else every_token, every_token if not one_side and kind != "cross" else read
            for module in result.modules(kind):
                weights = trace[f"{module}.weights"][0]
                assert not weights[..., ~keys].any()
                close(result.trace[f"{module}.weights"], weights[:, queries][..., keys])

    def test_edits_in_one_thread_are_unseen_in_another(self) -> None:
        reader = attach(architectures.build("llama"), Numbers())
        every = Edits(off=tuple(Head("decoder_self", 1, head) for head in range(4)))
        expected = {edits: reader.read("11 12 13", edits=edits).logits for edits in (Edits(), every)}
        wrong = []

        def work(edits: Edits) -> None:
            for _ in range(5):
                if not np.array_equal(reader.read("11 12 13", edits=edits).logits, expected[edits]):
                    wrong.append(edits)

        threads = [threading.Thread(target=work, args=(edits,)) for edits in (Edits(), every) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestTaps:
    SPECIAL = {"llama": {"cos", "sin"}, "gpt_oss": {"cos", "sin", "sink"}, "t5": {"bias"}}  # what only some have

    @pytest.mark.parametrize("architecture", first_quick(["gpt2", "llama", "gpt_oss", "t5", "bert", "albert"]))
    def test_every_tap_is_proved(self, architecture: str) -> None:
        reader = attach(architectures.build(architecture), Numbers())
        inputs = architectures.inputs_of(architecture)
        with torch.inference_mode():
            with record() as trace:
                before = reader.model(**inputs).logits
            lacks = {"cos", "sin", "bias", "sink"} - self.SPECIAL.get(architecture, set())
            expected = {address for address in reader.taps if address.rpartition(".")[2] not in lacks}
            assert set(trace) == {address for address in expected if "cross_attention.bias" not in address}
            for address, tap in reader.taps.items():
                if address not in trace:
                    continue
                assert len(trace.all(address)) == 1
                assert trace[address].dim() == len(tap.shape.split())
                with intervene({address: lambda value: value}):
                    assert torch.equal(reader.model(**inputs).logits, before)
                if not address.endswith(".sink"):
                    with intervene({address: torch.zeros_like}):
                        assert not torch.equal(reader.model(**inputs).logits, before), address


class TestReadOnly:
    @pytest.mark.parametrize("architecture", [*architectures.READ_ONLY])
    def test_maps_are_read_and_changes_refused(self, architecture: str) -> None:
        reader = attach(architectures.build(architecture), Numbers())
        inputs = architectures.inputs_of(architecture)
        result, eager = reader.read(**inputs), outputs_of(architectures.build(architecture, "eager"), inputs)
        (kind,) = reader.config.kinds
        close(result.attention(kind), eager["all"])
        close(result.logits, eager["logits"])
        mask = np.broadcast_to(result.mask(kind), (len(result.layers(kind)), *result.mask(kind).shape[-2:]))
        np.testing.assert_array_equal((result.attention(kind) > 0).any(axis=1), mask)
        for refused in (
            lambda: reader.read(**inputs, edits=Edits(off=(Head(kind, 0, 0),))),
            lambda: reader.effects(result, 11),
            lambda: reader.importance(result),
            lambda: reader.lens(result),
        ):
            with pytest.raises(ValueError, match="its maps can be read, but nothing in it can be changed"):
                refused()


class TestRefusals:
    @pytest.mark.parametrize(
        ("read", "words"),
        [
            (lambda reader: reader.read(""), "nothing to read"),
            (lambda reader: reader.read(), "give a text, messages, or the tensors"),
            (lambda reader: reader.read("11 " * 65), "65 tokens; at most 64 are allowed"),
            (lambda reader: reader.read("11", edits=Edits(off=(Head("decoder_self", 3, 0),))), "got layer 3"),
            (lambda reader: reader.read("11", edits=Edits(off=(Head("decoder_self", 0, 4),))), "got head 4"),
            (lambda reader: reader.read("11", edits=Edits(off=(Head("cross", 0, 0),))), "has no cross-attention"),
            (lambda reader: reader.read("11", edits=Edits(forced=(Force(1, 0, kind="decoder_self"),))), "got row 1"),
            (lambda reader: reader.generate("11", tokens=0), "at least 1"),
            (lambda reader: reader.generate("11", tokens=64), "at most 64 are allowed together"),
            (lambda reader: reader.generate("11", beam=99), "from 1 to 16"),
            (lambda reader: reader.generate("11", beam=2, seed=1), "not both"),
            (lambda reader: reader.generate("11", top_k=2), "give a seed"),
            (lambda reader: reader.write("11", temperature=-1), "from 0 to 100"),
        ],
    )
    def test_are_one_sentence(self, read: Any, words: str) -> None:
        reader = attach(architectures.build("llama"), Numbers())
        with pytest.raises(ValueError, match=words) as error:
            read(reader)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("kind", ["GPT2Model", "GPT2ForSequenceClassification", "GPT2ForTokenClassification"])
    def test_a_decoder_without_words(self, kind: str) -> None:
        reader = attach(architectures.build_as(kind, "gpt2"), Numbers())
        result = reader.read("11 12 13")
        assert result.attention("decoder_self").shape == (3, 4, 3, 3)
        assert not result.predicted_tokens
        for refused in (
            lambda: reader.generate("11", tokens=2),
            lambda: reader.lens(result),
            lambda: reader.importance(result),
            lambda: reader.effects(result, 11),
        ):
            with pytest.raises(ValueError, match="no output over words"):
                refused()

    def test_an_encoder_decoder_without_words(self) -> None:
        reader = attach(architectures.build_as("BartModel", "bart"), Numbers())
        with pytest.raises(ValueError, match="no output over words"):
            reader.read("11 12 13")
        assert reader.read("11 12 13", target="21 22").attention("cross").shape == (3, 2, 2, 3)

    def test_an_encoder_with_another_head(self) -> None:
        reader = attach(architectures.build_as("BertForTokenClassification", "bert"), Numbers())
        result = reader.read("11 4 13")
        assert result.attention("encoder_self").shape == (3, 4, 3, 3)
        assert not result.masked_words

    def test_a_model_without_attention(self) -> None:
        from transformers import MambaConfig, MambaForCausalLM

        config = MambaConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, state_size=2)
        with pytest.raises(ValueError, match="MambaForCausalLM has no attention layers"):
            attach(MambaForCausalLM(config), Numbers())
