"""Passes of a model of transformers that can be repeated with changes, as `Patching` needs them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from model.adapters.readers.attachment.followed import Follower, Sublayer, followed, sublayers
from model.adapters.readers.layout import DECODER, ENCODER, Layout
from model.adapters.readers.reading import Reading
from model.results.translation import Translation
from model.running.patching import Hook, Pass, Patching
from model.running.patching_words import ComparedWords, MakePass, compare_continuations, compare_outputs, patching_of
from model.text.errors import Problem


def compare(reader: Any, a: Reading, b: Reading, compared: ComparedWords, reverse: bool) -> Patching:
    """Patch between two readings of one reader; see `Reader.patching`."""
    if reader.config.task == ENCODER:
        return _compare_masked(reader, a, b, compared, reverse)
    make_pass = _maker(reader)
    if reader.config.task == DECODER:
        return compare_continuations(make_pass, reader.words, a, b, compared, reverse)
    return compare_outputs(make_pass, reader.words, a, b, compared, reverse)


def _maker(reader: Any) -> MakePass:
    """Makes the pass over what was read, with words that were written after it."""

    def make_pass(result: Translation, beginning: Sequence[int]) -> Pass:
        assert isinstance(result, Reading)
        if reader.config.task == DECODER:
            inputs = _extended(result.inputs, beginning)
            target = inputs["input_ids"]
        else:
            start = result.inputs["decoder_input_ids"][:, :1]
            target = torch.cat([start, start.new_tensor([list(beginning)], dtype=start.dtype)], dim=1)
            others = {name: value for name, value in result.inputs.items() if not name.startswith("decoder_")}
            inputs = {**others, "decoder_input_ids": target}
        if target.size(1) > (most := reader.config.max_length or math.inf):
            raise Problem("{n} tokens are too many: the model has positions for {most}", n=target.size(1), most=most)
        tokens = {"source": result.source_tokens, "target": reader.words(target[0].tolist())}
        return pass_over(reader, result, inputs, tokens, target.size(1) - 1)

    return make_pass


def _compare_masked(reader: Any, a: Reading, b: Reading, compared: ComparedWords, reverse: bool) -> Patching:
    """Patch between two texts with masked words, by the first for which different words are predicted."""
    words = [reader.words_measured(result) for result in (a, b)]
    ids = [either.ids.tolist() for either in words]
    number = compared.step
    if number is None:
        differ = [number for number, (first, second) in enumerate(zip(*ids)) if first != second]
        if not differ and compared.answer is None:
            raise Problem("both texts have the same words at their masks: name the words to compare")
        number = differ[0] if differ else 0
    if not 0 <= number < min(map(len, ids)):
        raise ValueError(f"masked words of these texts are 0 to {min(map(len, ids)) - 1}, got {number}")
    passes = []
    for result, either in zip((a, b), words):
        tokens = {"source": result.source_tokens, "target": []}
        passes.append(pass_over(reader, result, result.inputs, tokens, int(either.places[number])))
    answer = ids[0][number] if compared.answer is None else compared.answer
    against = ids[1][number] if compared.against is None else compared.against
    first, second = passes
    return patching_of(reader.words, a, b, first, second, answer, against, 0, reverse)


def pass_over(
    reader: Any, result: Reading, inputs: Mapping[str, Tensor], tokens: dict[str, list[str]], place: int
) -> Pass:
    """A pass over inputs, a batch of one, with the edits that a result was read with, up to the logits at a place."""
    keeps = "logits_to_keep" in reader.accepted_inputs
    options = {"logits_to_keep": torch.tensor([place], device=reader.model.device)} if keeps else {}
    addresses = _feed_forward_addresses(reader.layout)

    def run(hook: Hook, rows: int) -> Tensor:
        repeated = {name: value.expand(rows, *value.shape[1:]) if rows > 1 else value for name, value in inputs.items()}
        with reader.apply_edits(result.edits, result.inputs):
            with followed(_Tapped(hook, addresses, reader.layout.width)):
                with reader.failures_named():
                    logits = reader.forward(repeated, **options)["logits"]  # (rows, T or 1, V)
        return logits[:, 0 if keeps else place]

    return Pass(run, tokens, place, reader.layout.shared is None, result.edits)


class _Tapped(Follower):
    """Sends what feed-forwards give through a hook, too, as if they had taps."""

    def __init__(self, hook: Hook, addresses: Mapping[Sublayer, str], width: int) -> None:
        self._hook = hook
        self._addresses = addresses
        self._width = width
        self._n_tokens = 1  # of the stack that is running

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """See `Follower.pass_tap`."""
        if address.endswith(".stream"):
            self._n_tokens = value.size(1)
        return self._hook(address, value)

    def leave_sublayer(self, sublayer: Sublayer, output: Tensor) -> Tensor | None:
        """See `Follower.leave_sublayer`; some models give theirs the positions of all rows as one axis."""
        address = self._addresses.get(sublayer)
        if address is None or output.size(-1) != self._width:
            return None  # the first of the two matrices of a feed-forward
        by_row = output.reshape(-1, self._n_tokens, self._width)
        return self._hook(address, by_row).reshape(output.shape)


def _feed_forward_addresses(layout: Layout) -> dict[Sublayer, str]:
    """The addresses of the parts of feed-forwards, numbered in each layer."""
    addresses: dict[Sublayer, str] = {}
    numbers: dict[tuple[str, int], int] = {}
    for sublayer in sublayers(layout):
        if sublayer.name == "feed-forward":
            number = numbers.get((sublayer.stack, sublayer.layer), 0)
            numbers[sublayer.stack, sublayer.layer] = number + 1
            addresses[sublayer] = f"{sublayer.stack}.layers.{sublayer.layer}.feed_forward.{number}.output"
    return addresses


def _extended(inputs: Mapping[str, Tensor], beginning: Sequence[int]) -> dict[str, Tensor]:
    """The inputs of a language model (1, T) with more words after them.

    Positions are counted on, other values per token are as of the last.
    """
    ids = inputs["input_ids"]
    more = {name: value for name, value in inputs.items() if value.shape == ids.shape}
    extended = {
        name: torch.cat([value, value[:, -1:].expand(-1, len(beginning))], dim=1) for name, value in more.items()
    }
    if "position_ids" in more:
        last = more["position_ids"][:, -1:]  # (1, 1)
        following = last + torch.arange(1, len(beginning) + 1, device=last.device)
        extended["position_ids"] = torch.cat([more["position_ids"], following], dim=1)
    extended["input_ids"] = torch.cat([ids, ids.new_tensor([list(beginning)], dtype=ids.dtype)], dim=1)
    return {**inputs, **extended}
