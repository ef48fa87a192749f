"""Text in, what a language model makes of it out; and what a translator has in common with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from model import attribution
from model.analysis.effects import Effects
from model.checkpoint import Checkpoint
from model.decoding import Search
from model.decoding.sampling import restrict, sample
from model.errors import check_characters, check_tokens
from model.language_model import LanguageModel, TextState
from model.taps import record
from model.translation import Translation, as_array

MAX_CHARACTERS = 4000


class System:
    """A loaded checkpoint, its model for reading only; safe to share between threads."""

    def __init__(self, loaded: Checkpoint) -> None:
        self.folder, self.name = loaded.folder, loaded.folder.name
        self.card, self.model, self.tokenizer = loaded.card, loaded.model, loaded.tokenizer
        self.config = self.model.config

    def effects(self, result: Translation, against: str | Sequence[int] | None = None) -> Effects:
        """The direct effects on the logit of each written word; see `model.attribution.effects`."""
        return attribution.effects(self.model, result, against)

    def lens(self, result: Translation, k: int = 5) -> attribution.Lens:
        """The k most probable words if the model stopped after each sublayer; see `model.attribution.lens`."""
        return attribution.lens(self.model, result, k, self.tokenizer.target.tokens)

    def _result(
        self,
        source: str,
        source_ids: list[int],
        ids: list[int],
        read: list[int],
        written: list[int],
        logits: torch.Tensor,
        trace: Mapping[str, torch.Tensor],
        finished: bool = True,
        search: Search | None = None,
    ) -> Translation:
        """What is handed out of a pass in which ids were read and others written, with logits (1, T, V)."""
        log_probabilities = logits[0].float().log_softmax(-1)  # (T, V)
        target = self.tokenizer.target
        return Translation(
            source=source,
            text=target.decode(ids),
            source_tokens=self.tokenizer.source.tokens(source_ids),
            target_tokens=target.tokens(read),
            predicted_tokens=target.tokens(written),
            predicted_ids=written,
            log_probabilities=log_probabilities.gather(1, torch.tensor(written)[:, None])[:, 0].numpy(),  # (T,)
            finished=finished,
            trace={address: as_array(value)[0] for address, value in trace.items()},
            search=search,
            config=self.config,
        )


class Writer(System):
    model: LanguageModel

    @torch.inference_mode()
    def read(self, text: str) -> Translation:
        """Record what the model computes when it reads a text (a ValueError if that is too long).

        Returns:
            A translation without a source: target_tokens is what was read, the end of the line before it first;
            predicted_tokens are the words that followed and, last, the most probable next one. attention, mask and
            positional have the kind "decoder_self" and the side "target".
        """
        ids = self._ids(text)
        with record() as trace:
            logits = self.model(torch.tensor([ids]))  # (1, T, V)
        following = [*ids[1:], int(logits[0, -1].float().log_softmax(-1).argmax())]
        return self._result("", [], ids[1:], ids, following, logits, trace)

    @torch.inference_mode()
    def distribution(self, text: str, unknown: bool = True, **chance: float) -> np.ndarray:
        """float32 (V,), summing to 1: how probable every word is as the next one, by the tokenizer's ids.

        The text may be empty; chance is temperature, top_k and top_p of `model.decoding.sampling.restrict`. Without
        `unknown` the probability of <unk> is 0. A ValueError if the text is too long, or a value is not allowed.
        """
        start, last = self._begun(self._ids(text))
        logits = self.model.step(start, last)[0].clone()  # (V,)
        if not unknown:
            logits[self.tokenizer.unk_id] = -torch.inf
        return restrict(logits, **chance).numpy()

    def write(self, text: str, words: int = 30, seed: int = 0, unknown: bool = False, **chance: float) -> str:
        """The text (perhaps empty) and so many words drawn after it; one seed, one result. See `distribution`."""
        if not 1 <= words <= 500:
            raise ValueError(f"words must be from 1 to 500, got {words!r}")
        ids = self._ids(text)
        never = () if unknown else (self.tokenizer.unk_id,)
        drawn = sample(self.model, *self._begun(ids), length=words, never=never, seed=seed, **chance)[0]
        return self.tokenizer.decode([*ids[1:], *drawn])

    def _begun(self, ids: list[int]) -> tuple[TextState, torch.Tensor]:
        """The state before the last id, and this one."""
        return self.model.start(torch.tensor([ids[:-1]], dtype=torch.long)), torch.tensor(ids[-1:])

    def _ids(self, text: str) -> list[int]:
        check_characters(text, MAX_CHARACTERS)
        return check_tokens([self.tokenizer.eos_id, *self.tokenizer.encode(text)], self.config.max_length)
