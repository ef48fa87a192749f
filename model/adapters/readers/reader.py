"""Models of transformers that say why they did what they did: effects, splits of scores, the lens, what is lost."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.readers.explanation.circuit_parts import CircuitParts
from model.adapters.readers.explanation.effects import check_effects, direct_effects
from model.adapters.readers.explanation.head_logits import head_logits
from model.adapters.readers.explanation.layer_inputs import ROOM, LayerInputs
from model.adapters.readers.explanation.lens import layer_lens
from model.adapters.readers.explanation.patch_passes import compare, pass_over
from model.adapters.readers.explanation.removal import Words, without_each_head, without_each_token
from model.adapters.readers.explanation.rotation import rotation_of
from model.adapters.readers.explanation.score_parts import (
    layer_inputs,
    score_parts,
    score_parts_of_layer,
    score_shares,
)
from model.adapters.readers.layout import ENCODER
from model.adapters.readers.reading import Reading, no_words, read_only
from model.adapters.readers.recorder import Recorder
from model.analysis.effects import RUNNER_UP, Effects
from model.analysis.head_words import MOST, HeadWords, cell_of, head_words
from model.analysis.rotation import Rotation
from model.analysis.score_parts import ScoreParts, ScoreShares
from model.config import HeadsByLayer
from model.interventions.cuts import Cut
from model.interventions.edits import Head, check_head
from model.running.attribution import Lens, no_words_of_encoder, whole_trace
from model.running.circuit_tracing import CircuitTracer
from model.running.cut_path import PathCut, compare_cut
from model.running.patching import Pass, Patching
from model.running.patching_words import ComparedWords, id_of_one_token
from model.text.errors import Problem


class Reader(CircuitTracer, Recorder):
    """A model of transformers that reads, is changed, and says why, as our own models do."""

    def effects(
        self,
        result: Reading,
        word: str | int | None = None,
        against: str | int | Sequence[int] | None = None,
    ) -> Effects:
        """The direct effects of every part of a decoder on the logit of a word at each step; see `direct_effects`.

        Args:
            result: what this reader read, perhaps with edits, which hold here too.
            word: a text of one token, or an id; left out, at each step the word that follows it in the result.
            against: what its logit is compared with: such a word, one id per step, "runner-up" (the best other word of
                each step), or None (the mean over the vocabulary).

        Raises:
            ValueError: if the result is another model's, a word is not one token, or effects would not be exact.
        """
        check_effects(self.layout, self.config)
        self._check_own(result)
        steps = len(result.target_tokens)
        output_ids = result.predicted_ids if word is None else [self.token(word)] * steps
        if isinstance(against, int) or (isinstance(against, str) and against != RUNNER_UP):
            against = [self.token(against)] * steps
        with self.apply_edits(result.edits, result.inputs):
            return direct_effects(self.layout, partial(self.forward, result.inputs), np.array(output_ids), against)

    def check_effects(self) -> None:
        """Say in a ValueError why this model has no direct effects, if it has none."""
        check_effects(self.layout, self.config)

    def head_words(
        self,
        result: Reading,
        kind: str,
        layer: int,
        head: int,
        *,
        query: int | None = None,
        key: int | None = None,
        most: int = MOST,
    ) -> HeadWords:
        """The words that a head of a decoder writes when it looks at a key; see `model.analysis.head_words`.

        Without a query that which looks most at the key, without a key that which the query looks at most, without
        both the last query. A ValueError for a head of an encoder, which writes no words, and as in `effects`.
        """
        self._check_own(result)
        if kind == "encoder_self":
            raise no_words_of_encoder()
        check_effects(self.layout, self.config)
        check_head(self.config, Head(kind, layer, head))
        place = next(of_layer for of_layer in self.config.layers(kind) if of_layer.layer == layer)
        with whole_trace():
            weights = result.trace[f"{place.address}.weights"][head]
            query, key = cell_of(weights, result.trace[f"{place.address}.mask"][0], query, key)
        with self.apply_edits(result.edits, result.inputs):
            logits = head_logits(partial(self.forward, result.inputs), place, head, query, key)
        return head_words(weights, query, key, logits, self.words, most)

    def score_parts(
        self, result: Reading, kind: str, layer: int, head: int, layers: LayerInputs | None = None
    ) -> ScoreParts:
        """Why one head looks where it looks: its scores as sums of parts of what it compares; see `ScoreParts`.

        `layer` is as the model numbers it. With the `layer_inputs` of a result without edits only that layer runs
        again, for whoever asks about many heads. A ValueError if the result is another model's, there is no such head,
        or the split would not be exact.
        """
        self._check_own(result)
        place = Head(kind, layer, head)
        with whole_trace():
            if layers is not None and not result.edits:  # an edit may be of another layer
                with self.running():
                    parts = score_parts_of_layer(self.layout, self.config, layers, result.trace, place)
                if parts is not None:
                    return parts
            run = partial(self._again, result)
            return score_parts(self.layout, self.config, run, result.inputs, result.trace, place)

    def layer_inputs(self, result: Reading, room: int = ROOM) -> LayerInputs:
        """What each layer was given of a result, for `score_parts`: at most `room` bytes of it.

        Raises ValueError if the result is another model's, or if the split would not be exact.
        """
        self._check_own(result)
        return layer_inputs(self.layout, self.config, partial(self._again, result), result.inputs, room)

    def score_shares(self, result: Reading) -> ScoreShares:
        """What decides where each head looks, for all heads in one pass; errors as in `score_parts`."""
        self._check_own(result)
        run = partial(self._again, result)
        with whole_trace():
            return score_shares(self.layout, self.config, run, result.inputs, result.trace)

    def cut_path(self, result: Reading, cut: Cut, parts: ScoreParts | None = None) -> PathCut:
        """What one head does without one part in its queries or keys: as the split predicts, and as it really is.

        The same tokens are read once more, with the edits of the result and without the path. `parts` are the
        `score_parts` of the head, where they are there already. Errors as in `score_parts`; also a ValueError for a
        part that the head does not have.
        """
        parts = parts or self.score_parts(result, cut.kind, cut.layer, cut.head)
        edits = replace(result.edits, cut=(cut,))
        self.check_edits(edits, result.inputs)
        changed = self._record(result.source or result.text, result.inputs, edits, result.predicted_ids or None)
        return compare_cut(cut, parts, result, changed)

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads, by kind of attention and layer."""
        return self.config.heads_by_layer

    def effects_on(
        self, result: Reading, word: str | int | None, against: str | int | None, step: int
    ) -> tuple[int, Effects]:
        """The id of a word, that which follows unless given, and the direct effects on it at a step."""
        answer = result.predicted_ids[step] if word is None else self.token(word)
        return answer, self.effects(result, word, against)

    def circuit_parts(self, result: Reading) -> CircuitParts:
        """What heads compare and carry in a result, split by what wrote it; errors as in `score_parts`."""
        layers = LayerInputs(0) if result.edits else self.layer_inputs(result)  # an edit may be of another layer
        return CircuitParts(self.layout, self.config, layers, partial(self._again, result), result.inputs, result.trace)

    def pass_at(self, result: Reading, step: int) -> Pass:
        """The pass over what was read, with its edits, up to the logits of a step; it can be repeated with changes."""
        self._check_own(result)
        self._check_words(result)
        return pass_over(self, result, result.inputs, {"source": [], "target": []}, step)

    def computing(self) -> AbstractContextManager[None]:
        """A block in which parts of the model are run by themselves."""
        return self.running()

    def lens(self, result: Reading, k: int = 5) -> Lens:
        """The k most probable words if the model stopped after each layer; see `layer_lens`."""
        self._check_own(result)
        self._check_words(result)
        stack = "encoder" if self.config.task == ENCODER else "decoder"
        streams = {
            address: torch.from_numpy(value)
            for address, value in result.trace.items()
            if address.startswith(f"{stack}.") and address.endswith(".stream")
        }
        if not streams:
            raise Problem("the layers of this model share their weights or are not known: there is no layer lens")
        return layer_lens(partial(self._again, result), streams, self.config, k, self.words)

    def rotation(self, result: Reading, kind: str, layer: int) -> Rotation | None:
        """What turns queries and keys in a layer, as the model numbers it; None where nothing does."""
        self._check_own(result)
        module = result.modules(kind)[result.layers(kind).index(layer)]
        names = [name for name in ("q", "k", "cos", "sin") if f"{module}.{name}" in result.trace]
        recorded = {name: result.trace[f"{module}.{name}"] for name in names}
        return rotation_of(partial(self._again, result), module, recorded)

    def importance(
        self,
        result: Reading,
        steps: Sequence[int] | None = None,
        progress: Callable[[float], object] = lambda share: None,
    ) -> dict[str, np.ndarray]:
        """By kind float32 (layers, heads, words): the nats that each word loses without each head; `without_each_head`.

        The words are those that a decoder predicted at each step, of an encoder the best one at each masked position;
        `steps` chooses among them, which of a large vocabulary saves a third of the time. `progress` is called with the
        share of the heads that are done.
        """
        self._check_own(result)
        words = self.words_measured(result).at(steps)
        read_again = partial(self._again, result)
        if "logits_to_keep" in self._accepts:
            read_again = partial(read_again, logits_to_keep=words.places)
            words = words.at_the_front()
        return without_each_head(read_again, result.inputs, self.config, words, self.layout.shared is None, progress)

    def patching(
        self,
        a: Reading,
        b: Reading,
        *,
        answer: str | int | None = None,
        against: str | int | None = None,
        step: int | None = None,
        reverse: bool = False,
    ) -> Patching:
        """Find what part of the model carries what two texts differ in; see `model.running.patching.Patching`.

        Args:
            a, b: what this reader read or wrote, with their edits: into the pass over the text of b is put what a's
                had.
            answer: the word of a whose logit is measured, one token or an id. Left out, it and the next are the first
                words in which what both write differs, given the same beginning: of an encoder-decoder its output, of
                a decoder what it goes on with greedily, of an encoder its masked words.
            against: the word of b that it is compared with.
            step: how many words of a's output both have read by then; of an encoder the number of the masked word.
            reverse: put what b had into a's pass instead.

        Raises:
            ValueError: for results of another model, words that are not one token or say nothing of the difference.
        """
        for result in (a, b):
            self._check_own(result)
            self._check_words(result)
        first, second = (None if word is None else self.token(word) for word in (answer, against))
        return compare(self, a, b, ComparedWords(first, second, step), reverse)

    def words_measured(self, result: Reading) -> Words:
        """The words of a result that measures are about."""
        self._check_words(result)
        return Words(torch.arange(len(result.predicted_ids)), torch.tensor(result.predicted_ids))

    def occlusion(self, result: Reading) -> np.ndarray:
        """float32 (words, tokens): the nats that each word loses without each token; see `without_each_token`.

        Tokens are those of the source where there is one; words are those of `importance`.
        """
        self._check_own(result)
        tokens = len(result.source_tokens) or len(result.target_tokens)
        words = self.words_measured(result)
        return without_each_token(partial(self._again, result), result.inputs, self.config, words, tokens)

    def token(self, word: str | int) -> int:
        """The id of a word that is one token; else a ValueError."""
        if not isinstance(word, int):
            self._check_tokenizer()
        return id_of_one_token(word, self._encode, self.words, self.config.vocab_size)

    def spaced_token(self, word: str) -> int:
        """The id of a word as it follows a space, where that is one token, else of the word alone; a ValueError where
        neither is."""
        self._check_tokenizer()
        spaced = self._encode(f" {word}")
        return spaced[0] if len(spaced) == 1 else self.token(word)

    def _encode(self, word: str) -> list[int]:
        """The ids of a word, without special tokens."""
        return self.tokenizer(word, add_special_tokens=False)["input_ids"]

    def _check_own(self, result: Reading) -> None:
        """Refuse what another model has read, and a model in which nothing can be changed."""
        self._refresh()
        if self.config.read_only:
            raise read_only(self.config)
        if not isinstance(result, Reading) or result.config != self.config:
            raise ValueError("the result was made by another model: it has other sizes or choices")
        if result.edits.cut:
            raise Problem("what was read with a path cut can be looked at only: read the text again without the cut")

    def _check_words(self, result: Reading) -> None:
        """Refuse a model that reads no text or has no output over words."""
        if "input_ids" not in result.inputs:
            raise Problem("this model reads no text: it has maps, but nothing about words")
        if not self.has_words:
            raise no_words()

    def _again(self, result: Reading, inputs: Mapping[str, Tensor] | None = None, **options: Any) -> Any:
        """The outputs for what was read, with the edits of the result."""
        with self.apply_edits(result.edits, result.inputs):
            return self.forward(result.inputs if inputs is None else inputs, **options)
