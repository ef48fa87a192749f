"""Text in, translation and everything that was computed on the way out: what screens and commands call."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model import checkpoint
from model.config import TransformerConfig
from model.decoding import Search, beam_search
from model.taps import record
from model.tokenizer import BOS_ID, EOS_ID, PAD_ID
from model.training.batching import pad_ids

DEFAULT_CHECKPOINT = "en-de"
KINDS = ("encoder_self", "decoder_self", "cross")
MAX_BEAM = 16
MAX_SOURCE_TOKENS = 128
MAX_CHARACTERS = 2000

_MODULES = {
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


@dataclass(frozen=True)
class Translation:
    """One translation and what the model computed for it.

    In the shapes below S counts source_tokens and T target_tokens.

    Attributes:
        source: the text that was translated, with white space and control characters tidied.
        text: the translation.
        source_tokens: what the encoder read, the end token last.
        target_tokens: what the decoder read, the start token first: the names of the rows of decoder and cross maps.
        predicted_tokens: what it predicted at each of these, the end token last unless the length limit came first.
        log_probabilities: (T,) float32, of each predicted token, in nats.
        finished: whether the translation ended by itself and not at the length limit.
        trace: every recorded array of one teacher-forced pass over the translation, by address, without the batch axis;
            float32, masks bool.
        search: the hypotheses and the search tree; None where the target was given.
        config: of the model.
    """

    source: str
    text: str
    source_tokens: list[str]
    target_tokens: list[str]
    predicted_tokens: list[str]
    log_probabilities: np.ndarray
    finished: bool
    trace: Mapping[str, np.ndarray] = field(repr=False)
    search: Search | None = field(repr=False)
    config: TransformerConfig = field(repr=False)

    def attention(self, kind: str) -> np.ndarray:
        """The attention weights of every layer and head.

        Args:
            kind: "encoder_self", "decoder_self" or "cross".

        Returns:
            float32 (layers, heads, queries, keys): (L, H, S, S), (L, H, T, T) or (L, H, T, S); rows sum to 1.

        Raises:
            ValueError: if the kind is another word.
        """
        return np.stack([self.trace[f"{layer}.weights"] for layer in self._layers(kind)])

    def mask(self, kind: str) -> np.ndarray:
        """The mask that the model used, the same in every layer and head.

        Args:
            kind: "encoder_self", "decoder_self" or "cross".

        Returns:
            bool (queries, keys), True = may attend.

        Raises:
            ValueError: if the kind is another word.
        """
        return self.trace[f"{self._layers(kind)[0]}.mask"][0]

    def positional(self, side: str) -> np.ndarray:
        """The positional encoding that was added to the embeddings.

        Args:
            side: "source" or "target".

        Returns:
            float32 (S, d_model) or (T, d_model).

        Raises:
            ValueError: if the side is another word.
        """
        if side not in ("source", "target"):
            raise ValueError(f'the side is "source" or "target", got {side!r}')
        return self.trace[f"{'encoder' if side == 'source' else 'decoder'}.input.positions"]

    def _layers(self, kind: str) -> list[str]:
        if kind not in _MODULES:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {kind!r}")
        stack, module = _MODULES[kind]
        count = self.config.n_encoder_layers if stack == "encoder" else self.config.n_decoder_layers
        return [f"{stack}.layers.{layer}.{module}" for layer in range(count)]


class Translator:
    """A loaded checkpoint that translates; safe to share between threads.

    Args:
        loaded: the checkpoint.
    """

    def __init__(self, loaded: checkpoint.Checkpoint) -> None:
        self.name = loaded.folder.name
        self.folder = loaded.folder
        self.card = loaded.card
        self.model = loaded.model
        self.tokenizer = loaded.tokenizer

    @property
    def config(self) -> TransformerConfig:
        """The model's sizes and choices."""
        return self.model.config

    @property
    def max_source_tokens(self) -> int:
        """The longest source in tokens, the end token counted."""
        return min(MAX_SOURCE_TOKENS, self.config.max_length)

    def translate(self, text: str, beam: int = 4, length_penalty: float = 0.6) -> Translation:
        """Translate one text and record everything.

        The search runs without recording; one teacher-forced pass over its result then gives whole maps. Nothing of
        an earlier call is remembered.

        Args:
            text: in the checkpoint's source language.
            beam: width of the search; 1 is greedy decoding.
            length_penalty: exponent alpha of the length penalty (Wu et al. 2016); 0 compares bare log-probabilities.

        Returns:
            The Translation.

        Raises:
            ValueError: if there is nothing to translate, the text is too long, or beam or penalty are not allowed.
        """
        source, src = self._read(text)
        search = self._search([src], beam, length_penalty)[0]
        best = search.hypotheses[0]
        return self._record(source, src, best.ids, best.finished, search)

    def force(self, text: str, target: str) -> Translation:
        """Record what the model computes when it is made to read a given translation (teacher forcing).

        Args:
            text: in the source language.
            target: in the target language.

        Returns:
            The Translation, with the target as its text and no search.

        Raises:
            ValueError: if either text is empty or too long.
        """
        source, src = self._read(text)
        target, ids = self._read(target)
        return self._record(source, src, ids[:-1], True, None)

    def translate_lines(self, texts: Sequence[str], beam: int = 4, length_penalty: float = 0.6) -> list[str]:
        """Translate many texts in batches, without recording.

        Args:
            texts: as for `translate`, but as long as the model has positions; an empty one gives an empty translation.
            beam: as for `translate`.
            length_penalty: as for `translate`.

        Returns:
            The translations, in order.

        Raises:
            ValueError: as for `translate`; the message names the line.
        """
        sources: dict[int, list[int]] = {}
        for number, text in enumerate(texts):
            if tidy(text):
                try:
                    sources[number] = self._read(text, self.config.max_length)[1]
                except ValueError as error:
                    raise ValueError(f"line {number + 1}: {error}") from None
        translations = [""] * len(texts)
        order = sorted(sources, key=lambda number: len(sources[number]))
        size = max(1, 128 // beam) if beam > 0 else 1
        for start in range(0, len(order), size):
            numbers = order[start : start + size]
            searches = self._search([sources[number] for number in numbers], beam, length_penalty)
            for number, search in zip(numbers, searches, strict=True):
                translations[number] = self.tokenizer.decode(search.hypotheses[0].ids)
        return translations

    def keep_scores(self, name: str, scores: dict[str, Any]) -> None:
        """Write scores on the checkpoint's card.

        Args:
            name: of the test set.
            scores: as measured by `model.evaluate.evaluate`.
        """
        self.card.setdefault("scores", {})[name] = scores
        checkpoint.write_json(self.folder / checkpoint.CARD, self.card)

    def _read(self, text: str, limit: int | None = None) -> tuple[str, list[int]]:
        """Check and tidy a text; return it and its ids with the end token."""
        limit = limit or self.max_source_tokens
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"the text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are allowed")
        tidied = tidy(text)
        if not tidied:
            raise ValueError("there is nothing to translate: type a sentence")
        ids = [*self.tokenizer.encode(tidied), EOS_ID]
        if len(ids) > limit:
            raise ValueError(f"the text has {len(ids)} tokens; at most {limit} are allowed")
        return tidied, ids

    def _search(self, sources: Sequence[list[int]], beam: int, length_penalty: float) -> list[Search]:
        if not 1 <= beam <= MAX_BEAM:
            raise ValueError(f"the beam width must be from 1 to {MAX_BEAM}, got {beam}")
        if not 0 <= length_penalty <= 5:
            raise ValueError(f"the length penalty must be from 0 to 5, got {length_penalty}")
        return beam_search(
            self.model,
            pad_ids(sources),
            width=beam,
            alpha=length_penalty,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            pad_id=PAD_ID,
            # What is read must have a position: the start token and all but the last that is written.
            max_lengths=[min(2 * len(src) + 10, self.config.max_length) for src in sources],
        )

    @torch.no_grad()
    def _record(self, source: str, src: list[int], ids: list[int], finished: bool, search: Search | None) -> Translation:
        # At the length limit the last token was written and never read.
        written = [*ids, EOS_ID] if finished else ids
        read = [BOS_ID, *written[:-1]]
        with record() as trace:
            logits = self.model(torch.tensor([src]), torch.tensor([read]))  # (1, T, V)
        log_probabilities = logits[0].float().log_softmax(-1)  # (T, V)
        return Translation(
            source=source,
            text=self.tokenizer.decode(ids),
            source_tokens=self.tokenizer.tokens(src),
            target_tokens=self.tokenizer.tokens(read),
            predicted_tokens=self.tokenizer.tokens(written),
            log_probabilities=log_probabilities[torch.arange(len(written)), torch.tensor(written)].numpy(),
            finished=finished,
            trace={address: _array(value[0]) for address, value in trace.items()},
            search=search,
            config=self.config,
        )


def _array(value: torch.Tensor) -> np.ndarray:
    return (value if value.dtype == torch.bool else value.float()).numpy()


def tidy(text: str) -> str:
    """The text with runs of white space as one space, none at the ends, and control characters left out.

    Example:
        >>> tidy("  a\\n\\tb\\x00 ")
        'a b'
    """
    words = " ".join(text.split())
    return "".join(c for c in words if unicodedata.category(c) != "Cc").strip()


def checkpoints_folder() -> Path:
    """Where checkpoints are looked for by name: $HEADLIGHT_CHECKPOINTS, or the project's own folder checkpoints/."""
    own = Path(__file__).resolve().parent.parent / "checkpoints"
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or own)


def available() -> list[str]:
    """The names of the checkpoints in that folder."""
    return sorted(path.parent.name for path in checkpoints_folder().glob(f"*/{checkpoint.CONFIG}"))


def load_translator(name: str = DEFAULT_CHECKPOINT) -> Translator:
    """Load a checkpoint by name or path.

    Args:
        name: of a folder in `checkpoints_folder()`, or the path of any checkpoint folder.

    Returns:
        The Translator.

    Raises:
        ValueError: if there is no such checkpoint, or something in it is wrong.
    """
    folder = checkpoints_folder() / name if name in available() else Path(name)
    if not (folder / checkpoint.CONFIG).is_file():
        raise ValueError(f"there is no checkpoint {name!r}; there are {', '.join(available()) or 'none'}")
    return Translator(checkpoint.load(folder))
