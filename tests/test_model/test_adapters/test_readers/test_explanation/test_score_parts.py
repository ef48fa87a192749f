"""The parts of scores of transformers' models against plain models in which one part at a time is left out, float64."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.adapters.readers.explanation.layer_inputs import _tensors_in
from model.adapters.readers.tasks import attach
from model.analysis.score_parts import by_group
from model.interventions.edits import Edits, Head
from tests.support.architectures import DECODERS, ENCODERS, ON_THE_INTERFACE, PAIRS, Numbers, build, inputs_of
from tests.support.repeated import first_quick

# What writes into the stream, by path: a matrix over all heads, the last matrix or the whole of a feed-forward.
PROJECTIONS = re.compile(
    r"(o_proj|out_proj|attn\.c_proj|attention\.(output\.)?dense|self_attn\.dense|out_lin|attn\.Wo|Attention\.o)$"
)
FEED_FORWARDS = re.compile(
    r"\.\d+\.(.*\.)?(mlp|fc2|ffn|DenseReluDense|block_sparse_moe|(?<!attention\.)output\.dense)$"
)
EXACT = [name for name in DECODERS | ENCODERS | PAIRS if name != "albert"]
CHECKED = ["gpt2", "bert", "t5", "gemma3_text", "bart", "qwen3", "marian", "mistral", "llama", "gemma2", "opt"]
CHECKED += ["gpt_neox", "phi", "olmo2", "mbart", "distilbert", "modernbert", "m2m_100", "roberta", "starcoder2"]


class Plain:
    """A plain model in float64, its pass looked into and changed by hooks of its own."""

    def __init__(self, name: str) -> None:
        self.model, self.inputs = build(name, "eager").double(), inputs_of(name)
        self.calls: dict[str, tuple[Tensor, Tensor, float]] = {}  # by path of an attention: queries, keys, scale
        self.swaps: dict[str, tuple[int, int, Tensor]] = {}  # by path the side, the head, and its queries or keys
        self.weights: dict[str, Tensor] = {}
        self.values: dict[str, Tensor] = {}
        self.paths = {module: path for path, module in self.model.named_modules()}
        self._look_into_attention()
        self.outputs: dict[str, tuple[Tensor, Tensor]] = {}  # by path what a module is given, and gives
        with self.hooks(lambda path, x, y: self.outputs.update({path: (x, y)})):
            self.run()
        self.whole = dict(self.calls)

    def run(self) -> Any:
        with torch.no_grad():
            return self.model(**self.inputs)

    def without(self, writer: str, head: int | None, attention: str, holds_norms: bool = True) -> tuple[Tensor, Tensor]:
        """Queries and keys of an attention, without what a writer, or a head of it, writes; others write the same."""

        def change(path: str, x: Tensor, y: Tensor) -> Tensor | None:
            read, given = self.outputs[path]
            module = self.model.get_submodule(path)
            if "Norm" in type(module).__name__:
                return self._held(module, x, read, given) if holds_norms else None
            return given - self._written(module, read, given, head) if path == writer else given

        with self.hooks(change):
            self.run()
        queries, keys, _ = self.calls[attention]
        return queries, keys

    @contextmanager
    def hooks(self, call: Callable[[str, Tensor, Tensor], Any]) -> Iterator[None]:
        """Call a function with what each writer, embedding and norm is given and gives, and put in what it returns."""

        def hook_of(path: str) -> Callable:
            def hook(_: nn.Module, arguments: tuple, output: Any) -> Any:
                first = output[0] if isinstance(output, tuple) else output
                changed = call(path, arguments[0], first)
                if changed is None:
                    return None
                return (changed, *output[1:]) if isinstance(output, tuple) else changed

            return hook

        handles = [
            module.register_forward_hook(hook_of(path))
            for path, module in self.model.named_modules()
            if self.is_writer(path) or "Norm" in type(module).__name__
        ]
        yield
        for handle in handles:
            handle.remove()

    def is_writer(self, path: str) -> bool:
        module = self.model.get_submodule(path)
        is_embedding = (isinstance(module, nn.Embedding) or path.endswith("embed_positions")) and "bias" not in path
        return bool(PROJECTIONS.search(path) or FEED_FORWARDS.search(path)) or is_embedding

    def _written(self, module: nn.Module, read: Tensor, given: Tensor, head: int | None) -> Tensor:
        if head is None:
            return given
        attention_heads = self.heads_of[self.paths[module]]
        alone = torch.zeros_like(read)
        columns = slice(head * read.size(-1) // attention_heads, (head + 1) * read.size(-1) // attention_heads)
        alone[..., columns] = read[..., columns]
        with torch.no_grad():
            return module.forward(alone) - module.forward(torch.zeros_like(read))

    @staticmethod
    def _held(norm: nn.Module, x: Tensor, before: Tensor, after: Tensor) -> Tensor:
        """The norm with its deviation as it was: every number is multiplied by what it was multiplied by."""
        bias = getattr(norm, "bias", None)
        bias = torch.zeros(()) if bias is None else bias.detach()
        if isinstance(norm, nn.LayerNorm):
            x, before = (value - value.mean(-1, keepdim=True) for value in (x, before))
        return x * ((after - bias) / before) + bias

    def _look_into_attention(self) -> None:
        from transformers import AttentionInterface, AttentionMaskInterface
        from transformers.masking_utils import eager_mask

        def witness(module, query, key, value, attention_mask, scaling=None, position_bias=None, softcap=None, **_):
            scale = query.size(-1) ** -0.5 if scaling is None else scaling
            groups = query.size(1) // key.size(1)
            key, value = (part.repeat_interleave(groups, 1) for part in (key, value))
            self.calls[self.paths[module]] = (query[0].detach(), key[0].detach(), scale)
            self.values[self.paths[module]] = value[0].detach()
            if self.paths[module] in self.swaps:
                side, head, vectors = self.swaps[self.paths[module]]
                query, key = query.clone(), key.clone()
                (query, key)[side][0, head] = vectors
            scores = query @ key.transpose(-2, -1) * scale
            if softcap is not None:
                scores = softcap * torch.tanh(scores / softcap)
            for bias in (position_bias, attention_mask):
                scores = scores if bias is None else scores + bias[..., : key.size(2)]
            weights = self.weights[self.paths[module]] = scores.softmax(-1)
            return (weights @ value).transpose(1, 2).contiguous(), weights

        AttentionInterface.register("witness", witness)
        AttentionMaskInterface.register("witness", eager_mask)
        self.model.set_attn_implementation("witness")


def writers_of(plain: Plain, reader: Any) -> dict[str, dict[str, tuple[str, int | None]]]:
    """By stack and name of a part the path of what writes it, and the head; from paths alone."""
    heads = reader.config.heads_by_layer
    pair = len(heads) > 1
    writers: dict[str, dict[str, tuple[str, int | None]]] = {"encoder": {}, "decoder": {}}
    plain.heads_of = {}
    for path in plain.outputs:
        if not plain.is_writer(path):
            continue
        stack = "encoder" if "encoder_self" in heads and (not pair or "encoder." in path) else "decoder"
        layer = re.search(r"\.(\d+)\.", path)
        if layer is None:
            part = (
                "positions" if re.search("position|wpe", path) else "token types" if "token_type" in path else "tokens"
            )
            places = [stack] if not pair or "coder." in path else ["encoder", "decoder"]
            for place in places:
                writers[place][part] = (path, None)
        elif PROJECTIONS.search(path):
            is_cross = re.search("encoder_attn|EncDec", path) is not None
            kind = "cross" if is_cross else f"{stack}_self"
            plain.heads_of[path] = heads[kind][int(layer[1])]
            for head in range(plain.heads_of[path]):
                writers[stack][f"{'cross ' if is_cross else ''}head {layer[1]}.{head}"] = (path, head)
        else:
            writers[stack][f"feed-forward {layer[1]}"] = (path, None)
    return writers


def attention_path(plain: Plain, kind: str, layer: int) -> str:
    """The path of an attention in the calls of a plain model."""
    paths = [path for path in plain.whole if re.search(rf"\.{layer}\.", path)]
    if kind == "cross":
        return next(path for path in paths if re.search("encoder_attn|EncDec", path))
    stack = kind.removesuffix("_self")
    paths = [path for path in paths if not re.search("encoder_attn|EncDec", path)]
    return next((path for path in paths if f"{stack}." in path), paths[0])


@pytest.mark.parametrize("name", first_quick(CHECKED, 6))
def test_every_part_is_what_the_plain_model_loses_without_it(name: str) -> None:
    plain = Plain(name)
    reader = attach(build(name).double(), Numbers())
    result = reader.read(**inputs_of(name))
    writers = writers_of(plain, reader)
    for kind in result.kinds:
        layer = result.layers(kind)[-1]
        head = reader.config.heads_by_layer[kind][layer] - 2
        parts = reader.score_parts(result, kind, layer, head)
        path = attention_path(plain, kind, layer)
        scale = plain.whole[path][2]
        stacks = ("decoder", "encoder") if kind == "cross" else (kind.removesuffix("_self"),) * 2
        sides = []
        for side, (stack, names) in enumerate(zip(stacks, (parts.query_names, parts.key_names), strict=True)):
            named = [part for part in names if part not in ("bias", "distance")]
            of_stack = writers[stack]
            assert set(named) <= set(of_stack)
            assert set(of_stack) - set(named) <= {  # what is written later
                part for part in of_stack if re.search(rf"[ ]{layer}(\.\d+)?$", part)
            }
            whole = plain.whole[path][side][head]
            vectors = [whole - plain.without(*of_stack[part], path)[side][head] for part in named]
            sides.append(torch.stack([*vectors, whole - sum(vectors)]).numpy())
        expected = np.einsum("atk,bsk->abts", *sides) * scale
        a, b = expected.shape[:2]
        for query, key in ((0, 0), (3, 1), (4, 4)):
            cell = parts.at(query, key)
            np.testing.assert_allclose(cell[:a, :b], expected[:, :, query, key], atol=1e-6)
            np.testing.assert_allclose(cell.sum(), parts.scores[query, key], atol=1e-9)
        assert np.isclose(parts.shares.sum(), 1)


@pytest.mark.parametrize("name", first_quick(EXACT, 4))
def test_the_parts_of_every_head_add_up(name: str) -> None:
    reader = attach(build(name), Numbers())
    result = reader.read(**inputs_of(name))
    shares = reader.score_shares(result)
    layers = reader.layer_inputs(result)
    for kind in result.kinds:
        for place, layer in enumerate(result.layers(kind)):
            for head in range(0, reader.config.heads_by_layer[kind][layer], 3):
                parts = reader.score_parts(result, kind, layer, head)
                assert parts.rest <= 1e-5 * np.abs(parts.scores[parts.mask]).max()
                again = reader.score_parts(result, kind, layer, head, layers)
                assert again.query_names == parts.query_names and again.key_names == parts.key_names
                np.testing.assert_allclose(again.of_keys, parts.of_keys, atol=1e-4)
                np.testing.assert_allclose(again.of_queries, parts.of_queries, atol=1e-4)
                folded = parts.folded(by_group)
                rows = [shares.names.index(part) for part in folded.query_names]
                columns = [shares.names.index(part) for part in folded.key_names]
                together = shares.shares[kind][place, head]
                np.testing.assert_allclose(together[np.ix_(rows, columns)], folded.shares, atol=1e-4)


def test_edits_of_the_result_hold() -> None:
    reader = attach(build("gpt2"), Numbers())
    edits = Edits(off=(Head("decoder_self", 0, 1),))
    result = reader.read("5 6 7 8 9", edits=edits)
    parts = reader.score_parts(result, "decoder_self", 2, 0)
    again = reader.score_parts(result, "decoder_self", 2, 0, reader.layer_inputs(result))
    np.testing.assert_allclose(again.of_keys, parts.of_keys, atol=1e-5)
    place = parts.key_names.index("head 0.1")
    assert np.abs(parts.of_keys[place]).max() < 1e-6 < np.abs(parts.of_keys[place + 1]).max()


def test_a_layer_without_a_kept_input_is_read_again() -> None:
    for name in ("llama", "bert"):
        reader = attach(build(name), Numbers())
        result = reader.read("5 6 7 8 9")
        kind, last = reader.config.kinds[0], result.layers(reader.config.kinds[0])[-1]
        stack = kind.removesuffix("_self")
        whole = reader.layer_inputs(result)
        assert whole.get(stack, last) is not None
        layers = reader.layer_inputs(result, room=whole.n_bytes - 1)
        assert layers.get(stack, 0) is not None and layers.get(stack, last) is None
        storages = {
            tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
            for layer_input in layers._inputs.values()
            for tensor in _tensors_in(layer_input)
        }
        assert 0 < sum(storages.values()) == layers.n_bytes < whole.n_bytes
        stream = next(_tensors_in(whole.get(stack, last)))
        assert stream.untyped_storage().nbytes() == stream.nbytes
        parts = reader.score_parts(result, kind, last, 0, layers)
        np.testing.assert_allclose(parts.of_keys, reader.score_parts(result, kind, last, 0, whole).of_keys, atol=1e-5)


def test_other_passes_are_not_followed() -> None:
    reader = attach(build("llama"), Numbers())
    before = reader.read("5 6 7 8").logits
    reader.score_parts(reader.read("5 6 7 8"), "decoder_self", 1, 0)
    np.testing.assert_array_equal(reader.read("5 6 7 8").logits, before)


def test_images_and_sounds_have_one_input() -> None:
    for name, kind in (("vit", "encoder_self"), ("whisper", "cross")):
        reader = attach(build(name), Numbers())
        parts = reader.score_parts(reader.read(**inputs_of(name)), kind, 1, 0)
        assert parts.key_names[:2] == ["input", "head 0.0"]


def test_what_cannot_be_split_is_said() -> None:
    for name, reason in (("albert", "share their weights"), ("gptj", "computes its attention in its own way")):
        reader = attach(build(name), Numbers())
        with pytest.raises(ValueError, match=reason):
            reader.score_parts(reader.read("5 6 7"), reader.config.kinds[0], 0, 0)
    reader = attach(build("gpt2"), Numbers())
    with pytest.raises(ValueError, match="heads of the decoder self-attention are 0 to 3"):
        reader.score_parts(reader.read("5 6 7"), "decoder_self", 0, 4)
    assert set(EXACT) <= set(ON_THE_INTERFACE)
