"""Text in, what a language model makes of it out; and what a translator has in common with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from model import attribution
from model.analysis.effects import Effects
from model.checkpoint import Checkpoint, keep_scores
from model.decoding.sampling import restrict, sample
from model.errors import THE_TEXT, Problem
from model.language_model import LanguageModel
from model.taps import record
from model.translation import Translation, as_array

MAX_CHARACTERS = 4000


class System:
    """A loaded checkpoint; safe to share between threads.

    Args:
        loaded: the checkpoint.

    Attributes:
        name, folder: the folder's.
        card: where it comes from.
        model: the network, for reading only.
        tokenizer: with a source and a target, which are the same where one vocabulary serves both.
        config: the model's sizes and choices.
    """

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

    def keep_scores(self, name: str, scores: dict[str, Any]) -> None:
        """Write scores on the checkpoint's card.

        Args:
            name: of the test set.
            scores: as measured by `model.measures.evaluate`.
        """
        keep_scores(self.folder, self.card, name, scores)


class Writer(System):
    """A loaded language model."""

    model: LanguageModel

    @torch.inference_mode()
    def read(self, text: str) -> Translation:
        """Record what the model computes when it reads a text.

        Args:
            text: any text; unknown words are read as <unk>.

        Returns:
            The result, in the shape of a translation without a source: target_tokens is what was read, the end of the
            line before it first; predicted_tokens and log_probabilities are the words that followed and, last, the
            most probable next one. attention, mask and positional have the kind "decoder_self" and the side "target".

        Raises:
            ValueError: if the text is too long.
        """
        ids = self._ids(text)
        with record() as trace:
            logits = self.model(torch.tensor([ids]))  # (1, T, V)
        log_probabilities = logits[0].float().log_softmax(-1)  # (T, V)
        following = [*ids[1:], int(log_probabilities[-1].argmax())]
        return Translation(
            source="",
            text=self.tokenizer.decode(ids[1:]),
            source_tokens=[],
            target_tokens=self.tokenizer.tokens(ids),
            predicted_tokens=self.tokenizer.tokens(following),
            predicted_ids=following,
            log_probabilities=log_probabilities[torch.arange(len(ids)), torch.tensor(following)].numpy(),
            finished=True,
            trace={address: as_array(value)[0] for address, value in trace.items()},
            search=None,
            config=self.config,
        )

    @torch.inference_mode()
    def distribution(
        self, text: str, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, unknown: bool = True
    ) -> np.ndarray:
        """How probable every word is as the next one.

        Args:
            text: what comes before; may be empty.
            temperature, top_k, top_p: as for `model.decoding.sampling.restrict`.
            unknown: whether <unk> counts as a word; if not, its probability is 0.

        Returns:
            float32 (V,), summing to 1, in the order of the tokenizer's ids.

        Raises:
            ValueError: if the text is too long, or a value is not allowed.
        """
        ids = self._ids(text)
        start = self.model.start(torch.tensor([ids[:-1]], dtype=torch.long))
        logits = self.model.step(start, torch.tensor(ids[-1:]))[0].clone()  # (V,)
        if not unknown:
            logits[self.tokenizer.unk_id] = -torch.inf
        return restrict(logits, temperature, top_k, top_p).numpy()

    def write(
        self,
        text: str,
        words: int = 30,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        unknown: bool = False,
    ) -> str:
        """Go on with a text.

        Args:
            text: how it begins; may be empty.
            words: how many to draw.
            temperature, top_k, top_p: as for `model.decoding.sampling.restrict`.
            seed: the same gives the same words.
            unknown: whether <unk> may be drawn.

        Returns:
            The text and what was drawn.

        Raises:
            ValueError: if the text is too long, or a value is not allowed.
        """
        if not 1 <= words <= 500:
            raise ValueError(f"words must be from 1 to 500, got {words!r}")
        ids = self._ids(text)
        drawn = sample(
            self.model,
            self.model.start(torch.tensor([ids[:-1]], dtype=torch.long)),
            torch.tensor(ids[-1:]),
            length=words,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            never=() if unknown else (self.tokenizer.unk_id,),
            seed=seed,
        )[0]
        return self.tokenizer.decode([*ids[1:], *drawn])

    def _ids(self, text: str) -> list[int]:
        """The ids of a text, after the end of the line before it."""
        if len(text) > MAX_CHARACTERS:
            raise Problem(
                "{what} has {n:,} characters; at most {most:,} are allowed",
                what=THE_TEXT,
                n=len(text),
                most=MAX_CHARACTERS,
            )
        ids = [self.tokenizer.eos_id, *self.tokenizer.encode(text)]
        if len(ids) > self.config.max_length:
            most = self.config.max_length
            raise Problem("{what} has {n} tokens; at most {most} are allowed", what=THE_TEXT, n=len(ids), most=most)
        return ids
