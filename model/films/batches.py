"""Samples of a task as tensors for a model: what it reads, what it is to write, and where that comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from model.films.tasks import Sample
from model.text.special import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS, pad_ids

Origin = tuple[int, tuple[int, ...]]  # a row of a map, and the columns from which its prediction is known


@dataclass(frozen=True)
class Batch:
    """B samples, padded: S tokens of a source and T of a decoder.

    Attributes:
        source: ids (B, S) for an encoder; None without one.
        read: ids (B, T) that the decoder reads.
        targets: ids (B, T) of what it is to predict; PAD_ID where nothing is asked for.
        lengths: how many tokens of each row of `read` are not padding.
        origins: of each sample the rows that are asked for, with the columns of what they are to look at.
    """

    source: Tensor | None
    read: Tensor
    targets: Tensor
    lengths: list[int]
    origins: list[list[Origin]]


class Alphabet:
    """The ids of symbols, after the special tokens."""

    def __init__(self, symbols: str) -> None:
        self.tokens = [*SPECIAL_TOKENS, *symbols]
        self._ids = {symbol: index for index, symbol in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, symbols: Sequence[str]) -> list[int]:
        """The ids of symbols."""
        return [self._ids[symbol] for symbol in symbols]

    def batch(self, samples: Sequence[Sample], has_encoder: bool) -> Batch:
        """Samples as tensors; without an encoder a decoder reads the prompt before the answer."""
        sources: list[list[int]] = []
        reads: list[list[int]] = []
        targets: list[list[int]] = []
        origins: list[list[Origin]] = []
        for sample in samples:
            prompt, answer = self.encode(sample.prompt), self.encode(sample.answer)
            before = [] if has_encoder else prompt
            is_text = not sample.prompt
            asked = [PAD_ID if origin is None else symbol for symbol, origin in zip(answer, sample.origins)]
            sources.append([*prompt, EOS_ID])
            reads.append([*before, BOS_ID, *answer[: -1 if is_text else None]])
            targets.append([*[PAD_ID] * len(before), *asked, *([] if is_text else [EOS_ID])])
            # Symbol 0 is predicted where BOS is read; places of a text are those of its own symbols, behind BOS.
            shift = 1 if is_text else 0
            origins.append(
                [
                    (len(before) + place, tuple(key + shift for key in keys))
                    for place, keys in enumerate(sample.origins)
                    if keys
                ]
            )
        lengths = list(map(len, reads))
        return Batch(pad_ids(sources) if has_encoder else None, pad_ids(reads), pad_ids(targets), lengths, origins)
