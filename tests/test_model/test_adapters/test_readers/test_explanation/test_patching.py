"""Patching between two texts in models of transformers, against hooks on plain models that were never attached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from model import Edits, Head, HeadPatch, StreamPatch, attach
from model.adapters.readers.reader import Reader
from model.adapters.readers.reading import Reading
from model.running.patching import Patching
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick

ANSWER, OTHER = 17, 23
A, B = [11, 12, 13, 14, 15, 16, 18], [11, 12, 20, 14, 21, 16, 18]
LONGER = [11, 12, 20, 14, 21, 30, 31, 16, 18]  # than A: 30 and 31 stand in the place of nothing
PLAIN = ["gpt2", "llama"]


class Plain:
    """A model of transformers with hooks written for its architecture alone."""

    def __init__(self, name: str) -> None:
        self.model = architectures.build(name, "eager").eval()
        self.is_gpt2 = name == "gpt2"
        self.blocks = self.model.transformer.h if self.is_gpt2 else self.model.model.layers
        self.n_heads = self.model.config.num_attention_heads
        self.n_groups = getattr(self.model.config, "num_key_value_heads", None) or self.n_heads

    def part(self, layer: int, name: str) -> Any:
        block = self.blocks[layer]
        attention = block.attn if self.is_gpt2 else block.self_attn
        parts = {"attention": attention, "feed-forward": block.mlp, "block": block}
        parts["projection"] = attention.c_proj if self.is_gpt2 else attention.o_proj
        parts["values"] = attention.c_attn if self.is_gpt2 else attention.v_proj
        return parts[name]

    def values_of(self, output: Tensor) -> Tensor:
        """(G, S, K)."""
        values = output[0].chunk(3, dim=-1)[2] if self.is_gpt2 else output[0]
        return values.unflatten(-1, (self.n_groups, -1)).transpose(0, 1)

    @torch.no_grad()
    def read(self, ids: list[int], changes: Callable[[], Any] | None = None) -> tuple[dict[Any, Tensor], Tensor]:
        """What passed, and the logits of the last step, with more hooks while it ran."""
        passed: dict[Any, Tensor] = {}
        with self._kept(passed):
            handles = changes() if changes else []
            outputs = self.model(torch.tensor([ids]), output_attentions=True)
            for handle in handles:
                handle.remove()
        for layer, weights in enumerate(outputs.attentions):
            passed["weights", layer] = weights[0]
        return passed, outputs.logits[0, -1]

    @contextmanager
    def _kept(self, passed: dict[Any, Tensor]) -> Iterator[None]:
        handles = []

        def keep(name: str, layer: int, take: Callable[[Any, Any], Tensor]) -> Any:
            def hook(_: Any, arguments: Any, output: Any) -> None:
                passed[name, layer] = take(arguments, output).clone()

            return hook

        first = lambda output: output[0] if isinstance(output, tuple) else output  # noqa: E731
        for layer in range(len(self.blocks)):
            takes = {
                "attention": lambda _, output: first(output)[0],
                "feed-forward": lambda _, output: output[0],
                "block": lambda _, output: first(output)[0],
                "projection": lambda arguments, _: arguments[0][0],
                "values": lambda _, output: self.values_of(output),
            }
            for name, take in takes.items():
                handles.append(self.part(layer, name).register_forward_hook(keep(name, layer, take)))
        yield
        for handle in handles:
            handle.remove()

    def putting(self, layer: int, name: str, place: Any, value: Tensor) -> Callable[[], Any]:
        """Hooks that put a value to a place of what a part gives, or of what the projection is given."""

        def before(_: Any, arguments: Any) -> Any:
            changed = arguments[0].clone()
            changed[0][place] = value
            return (changed, *arguments[1:])

        def after(_: Any, arguments: Any, output: Any) -> Any:
            changed = (output[0] if isinstance(output, tuple) else output).clone()
            changed[0][place] = value
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        if name == "projection":
            return lambda: [self.part(layer, name).register_forward_pre_hook(before)]
        if layer < 0:
            return lambda: [self.blocks[0].register_forward_pre_hook(before)]
        return lambda: [self.part(layer, name).register_forward_hook(after)]

    def head(self, a: dict, b: dict, layer: int, head: int, what: str) -> Callable[[], Any]:
        """One head of text A in text B, which has as many tokens."""
        width = a["projection", layer].size(-1) // self.n_heads
        columns = slice(head * width, (head + 1) * width)
        if what == "both":
            context = a["projection", layer][:, columns]
        else:
            weights, values = (a, b) if what == "weights" else (b, a)
            group = head * self.n_groups // self.n_heads
            context = weights["weights", layer][head] @ values["values", layer][group]
        return self.putting(layer, "projection", (slice(None), columns), context)


def read(name: str, ids: list[int], **options: Any) -> tuple[Reader, Reading]:
    reader = attach(architectures.build(name), Numbers())
    return reader, reader.read(input_ids=torch.tensor([ids]), **options)


def patching_of(name: str, a: list[int] = A, b: list[int] = B, **options: Any) -> tuple[Reader, Reading, Patching]:
    reader, first = read(name, a)
    second = reader.read(input_ids=torch.tensor([b]))
    options = {"answer": ANSWER, "against": OTHER} | options
    return reader, second, reader.patching(first, second, **options)


def share(patching: Patching, logits: Any) -> float:
    difference = float(logits[ANSWER] - logits[OTHER])
    return (difference - patching.corrupted) / (patching.clean - patching.corrupted)


@pytest.mark.parametrize("name", PLAIN)
def test_every_head_is_what_hooks_on_a_plain_model_say(name: str) -> None:
    plain = Plain(name)
    (a, clean), (b, corrupted) = plain.read(A), plain.read(B)
    _, _, patching = patching_of(name)
    expected = [float(logits[ANSWER] - logits[OTHER]) for logits in (clean, corrupted)]
    assert [patching.clean, patching.corrupted] == pytest.approx(expected, abs=1e-5)
    for what in ("both", "weights", "values"):
        shares = patching.heads("decoder_self", what)
        assert shares.shape == (3, 4)
        for layer, head in np.ndindex(shares.shape):
            logits = plain.read(B, plain.head(a, b, layer, head, what))[1]
            assert shares[layer, head] == pytest.approx(share(patching, logits), abs=1e-4), (what, layer, head)


@pytest.mark.parametrize("name", PLAIN)
def test_streams_and_sublayers_are_what_hooks_on_a_plain_model_say(name: str) -> None:
    plain = Plain(name)
    a, _ = plain.read(A)
    embedded = {}
    for key, ids in (("a", A), ("b", B)):
        with torch.no_grad():
            embedded[key] = plain.model(torch.tensor([ids]), output_hidden_states=True).hidden_states[0][0]
    _, _, patching = patching_of(name)
    streams, sublayers = patching.streams("decoder"), patching.sublayers("decoder")
    assert streams.shape == (4, 7) and set(sublayers) == {"attention", "feed-forward"}
    for position in range(7):
        for layer in range(-1, 3):
            value = embedded["a"][position] if layer < 0 else a["block", layer][position]
            logits = plain.read(B, plain.putting(layer, "block", position, value))[1]
            assert streams[layer + 1, position] == pytest.approx(share(patching, logits), abs=1e-4)
        for part, shares in sublayers.items():
            for layer in range(3):
                logits = plain.read(B, plain.putting(layer, part, position, a[part, layer][position]))[1]
                assert shares[layer, position] == pytest.approx(share(patching, logits), abs=1e-4)


@pytest.mark.parametrize(
    "name", first_quick(["llama", "t5", "bert", "gemma2", "gpt2", "opt", "mixtral", "bart", "jamba", "albert"], 3)
)
@pytest.mark.parametrize("other", [B, LONGER])
def test_edits_do_what_was_measured(name: str, other: list[int]) -> None:
    """Heads, streams and the end of every kind of model, by reading the text with the patch as an edit."""
    reader = attach(architectures.build(name), Numbers())
    texts = [A, other]
    if name in architectures.ENCODERS:
        texts = [[*ids[:-2], Numbers.mask_token_id, ids[-1]] for ids in texts]
    target = {"decoder_input_ids": torch.tensor([[1, 40, 41]])} if name in architectures.PAIRS else {}
    a, b = (reader.read(input_ids=torch.tensor([ids]), **target) for ids in texts)
    step = {"step": 2} if target else {}
    patching = reader.patching(a, b, answer=ANSWER, against=OTHER, **step)
    place = len(texts[1]) - 2 if name in architectures.ENCODERS else -1
    stack = patching.kinds[0].split("_")[0]
    if other == LONGER:
        assert len(patching.unaligned(stack)) == 2
    patches: list[Any] = [
        HeadPatch(kind, reader.config.layers(kind)[-1].layer, 1, what)
        for kind in patching.kinds
        for what in ("both", "weights", "values")
    ]
    if patching.sides:
        patches.append(StreamPatch(stack, 1, 3))
    for patch in patches:
        result = reader.read(input_ids=torch.tensor([texts[1]]), **target, edits=patching.edits(patch))
        if isinstance(patch, HeadPatch):
            expected = patching.heads(patch.kind, patch.what)[-1, 1]
        else:
            expected = patching.streams(stack)[1, 3]
        assert share(patching, result.logits[place]) == pytest.approx(expected, abs=1e-4), patch


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_patches_hold_while_text_is_written(name: str) -> None:
    """What is written greedily with a cache is what whole passes with the patch would write."""
    reader, b, patching = patching_of(name, A, LONGER)
    text = " ".join(map(str, LONGER))
    for patch in (
        HeadPatch("decoder_self", 1, 2, "values"),
        HeadPatch("decoder_self", 0, 1),
        StreamPatch("decoder", 1, 3),
    ):
        edits = patching.edits(patch)
        written = reader.generate(text, tokens=4, edits=edits)
        again = reader.read(input_ids=written.inputs["input_ids"], edits=edits)
        n = len(LONGER)
        greedy = again.logits[n - 1 : -1].argmax(-1).tolist()
        assert greedy == written.inputs["input_ids"][0, n:].tolist()


def test_estimates_come_near_small_changes() -> None:
    """In a model of random weights heads are nearly linear."""
    _, _, patching = patching_of("llama")
    estimate, exact = patching.estimate("decoder_self"), patching.heads("decoder_self")
    assert estimate.shape == exact.shape
    assert np.corrcoef(estimate.ravel(), exact.ravel())[0, 1] > 0.8
    assert patching.estimate("decoder").shape == patching.streams("decoder").shape


def test_what_a_text_was_read_with_stays() -> None:
    reader, a = read("llama", A, edits=Edits(off=(Head("decoder_self", 2, 3),)))
    b = reader.read(input_ids=torch.tensor([B]), edits=a.edits)
    patching = reader.patching(a, b, answer=ANSWER, against=OTHER)
    assert patching.heads("decoder_self")[2, 3] == 0
    patch = patching.edits(HeadPatch("decoder_self", 1, 2))
    assert patch.off == a.edits.off
    again = reader.read(input_ids=torch.tensor([B]), edits=patch)
    assert share(patching, again.logits[-1]) == pytest.approx(patching.heads("decoder_self")[1, 2], abs=1e-4)
    with pytest.raises(ValueError, match="itself read with patches"):
        reader.patching(a, again, answer=ANSWER, against=OTHER).edits(HeadPatch("decoder_self", 1, 2))
    assert patching.clean == pytest.approx(float(a.logits[-1, ANSWER] - a.logits[-1, OTHER]), abs=1e-5)


def test_words_are_chosen_where_both_texts_differ() -> None:
    reader, _, patching = patching_of("llama", answer=None, against=None)
    beginning: list[int] = []
    for _ in range(patching.step):
        beginning.append(int(reader.read(input_ids=torch.tensor([[*A, *beginning]])).logits[-1].argmax()))
    best = [int(reader.read(input_ids=torch.tensor([[*ids, *beginning]])).logits[-1].argmax()) for ids in (A, B)]
    assert [patching.answer, patching.against] == best
    assert best[0] != best[1]


def test_positions_are_counted_on() -> None:
    reader, _, patching = patching_of("llama", step=2)
    positions = torch.arange(len(A))[None]
    results = [reader.read(input_ids=torch.tensor([ids]), position_ids=positions) for ids in (A, B)]
    given = reader.patching(*results, answer=ANSWER, against=OTHER, step=2)
    assert (given.clean, given.corrupted) == pytest.approx((patching.clean, patching.corrupted), abs=1e-5)


def test_words_beyond_the_last_position_are_refused() -> None:
    reader = attach(architectures.build("gpt2"), Numbers())
    most = reader.config.max_length
    assert most is not None
    texts = [(first * most)[:most] for first in (A, B)]
    a, b = (reader.read(input_ids=torch.tensor([ids])) for ids in texts)
    with pytest.raises(ValueError, match=f"{most + 1} tokens are too many"):
        reader.patching(a, b, answer=ANSWER, against=OTHER, step=2)


def test_what_cannot_be_patched_is_said() -> None:
    reader, a = read("llama", A)
    with pytest.raises(ValueError, match="is 2 tokens of this model"):
        reader.patching(a, a, answer="11 12")
    with pytest.raises(ValueError, match="made by another model"):
        reader.patching(a, read("gpt2", A)[1])
    with pytest.raises(ValueError, match="as far apart in one text as in the other"):
        reader.patching(a, a, answer=ANSWER, against=OTHER)
    albert = attach(architectures.build("albert"), Numbers())
    texts = [[*ids[:-1], Numbers.mask_token_id] for ids in (A, B)]
    first, second = (albert.read(input_ids=torch.tensor([ids])) for ids in texts)
    with pytest.raises(ValueError, match="no encoder whose stream is seen"):
        albert.patching(first, second, answer=ANSWER, against=OTHER).streams("encoder")
