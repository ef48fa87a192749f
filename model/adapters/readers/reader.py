"""Models of transformers that read, write and are changed as our own models are."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters import byte_level
from model.adapters.hub import reason
from model.adapters.readers import batches, chat
from model.adapters.readers.chat import Messages
from model.adapters.readers.connection import Connection
from model.adapters.readers.cut_paths import cut_paths
from model.adapters.readers.effects import check_effects, direct_effects
from model.adapters.readers.handed_out import add_maps, check_axes
from model.adapters.readers.layout import DECODER, ENCODER
from model.adapters.readers.lens import layer_lens
from model.adapters.readers.patch_passes import compare
from model.adapters.readers.pictures import OTHER_INPUTS, towers_of
from model.adapters.readers.reading import Reading, no_words, read_only
from model.adapters.readers.removal import Words, without_each_head, without_each_token
from model.adapters.readers.rotation import rotation_of
from model.adapters.readers.score_parts import score_parts, score_shares
from model.analysis.effects import RUNNER_UP, Effects
from model.analysis.rotation import Rotation
from model.analysis.score_parts import ScoreParts, ScoreShares
from model.interventions.cuts import Cut
from model.interventions.edits import Edits, Head
from model.results.translation import as_array
from model.running.attribution import Lens, whole_trace
from model.running.cut_path import PathCut, compare_cut
from model.running.patching import Patching
from model.running.patching_words import ComparedWords
from model.taps import intervene, record
from model.text.errors import Problem, check_tokens

MAX_CHARACTERS = 4000
MAX_TOKENS = 256  # of a text that is read: the trace keeps every score of every head
NO_EDITS = Edits()


class Reader(Connection):
    """A model of transformers with its tokenizer; safe to share between threads, as the model is only read."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        whole: Any = None,
        attach_tower: "Callable[[Any, Any], Reader] | None" = None,
    ) -> None:
        """Read with a model.

        Args:
            whole: the model of which this one is a tower, if it is one (`pictures.towers_of`).
            attach_tower: makes the reader of a tower; without it there are none.
        """
        super().__init__(model, tokenizer)
        self.whole = model if whole is None else whole
        self._attach_tower = attach_tower
        self._spell = byte_level.speller(tokenizer)
        self._accepts = set(inspect.signature(model.forward).parameters)

    def read(
        self,
        text: str | None = None,
        *,
        messages: Messages | None = None,
        edits: Edits = NO_EDITS,
        **inputs: Tensor,
    ) -> Reading:
        """Record what the model computes when it reads a text, with the special tokens that its tokenizer adds.

        Args:
            messages: in place of a text the turns of a chat, each {"role": "user", "content": "Hello"}, as the chat
                template of the tokenizer writes them; after a question up to where the answer begins.
            edits: changes for this call.
            inputs: in place of a text the tensors that the model takes, a batch of one: `pixel_values`, for example.
                Pads before and after its tokens are left out. A picture or a sound without a text is read by the tower
                for it, where the model has one.

        Raises:
            ValueError: for an empty or too long text, several texts, messages without a template that takes them, or
                edits that do not fit the model and the text.
        """
        if text is None and messages is None and (tower := self._tower_for(inputs)):
            return tower.read(None, messages=None, edits=edits, **inputs)
        model_inputs = self._given(text, inputs, messages)
        self.check_edits(edits, model_inputs)
        return self._record(text or "", model_inputs, edits, messages=messages)

    def read_batch(
        self,
        texts: Sequence[str] | Mapping[str, Tensor] | None = None,
        *,
        edits: Edits = NO_EDITS,
        **inputs: Tensor,
    ) -> list[Reading]:
        """Read several texts: one recording per row, as `read` makes it of that row alone; see `batches.readings`."""
        return batches.readings(self, texts, edits, inputs)

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

    @cached_property
    def towers(self) -> "dict[str, Reader]":
        """By name ("text", "vision", "audio") readers of the parts of the model that read by themselves."""
        if self._attach_tower is None:
            return {}
        return {name: self._attach_tower(part, self.tokenizer) for name, part in towers_of(self.whole).items()}

    def _tower_for(self, inputs: Mapping[str, Tensor]) -> "Reader | None":
        """The reader of the tower for inputs without a text, if the model has one."""
        others = [name for name in OTHER_INPUTS if name in inputs]
        if not others or "input_ids" in inputs or others[0] in self._accepts & {self.model.main_input_name}:
            return None
        readers = (tower for tower in self.towers.values() if tower is not self)
        return next((tower for tower in readers if others[0] in tower.accepted_inputs), None)

    def check_effects(self) -> None:
        """Say in a ValueError why this model has no direct effects, if it has none."""
        check_effects(self.layout, self.config)

    def score_parts(self, result: Reading, kind: str, layer: int, head: int) -> ScoreParts:
        """Why one head looks where it looks: its scores as sums of parts of what it compares; see `ScoreParts`.

        `layer` is as the model numbers it. A ValueError if the result is another model's, there is no such head, or the
        split would not be exact.
        """
        self._check_own(result)
        run = partial(self._again, result)
        with whole_trace():
            return score_parts(self.layout, self.config, run, result.inputs, result.trace, Head(kind, layer, head))

    def score_shares(self, result: Reading) -> ScoreShares:
        """What decides where each head looks, for all heads in one pass; errors as in `score_parts`."""
        self._check_own(result)
        run = partial(self._again, result)
        with whole_trace():
            return score_shares(self.layout, self.config, run, result.inputs, result.trace)

    def cut_path(self, result: Reading, cut: Cut) -> PathCut:
        """What one head does without one part in its queries or keys: as the split predicts, and as it really is.

        The same tokens are read once more, with the edits of the result and without the path. Errors as in
        `score_parts`; also a ValueError for a part that the head does not have.
        """
        parts = self.score_parts(result, cut.kind, cut.layer, cut.head)
        edits = replace(result.edits, cut=(cut,))
        self.check_edits(edits, result.inputs)
        changed = self._record(result.source or result.text, result.inputs, edits, result.predicted_ids or None)
        return compare_cut(cut, parts, result, changed)

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
        words = self._words(result).at(steps)
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
        return self._words(result)

    def occlusion(self, result: Reading) -> np.ndarray:
        """float32 (words, tokens): the nats that each word loses without each token; see `without_each_token`.

        Tokens are those of the source where there is one; words are those of `importance`.
        """
        self._check_own(result)
        tokens = len(result.source_tokens) or len(result.target_tokens)
        words = self._words(result)
        return without_each_token(partial(self._again, result), result.inputs, self.config, words, tokens)

    def token(self, word: str | int) -> int:
        """The id of a word that is one token; else a ValueError."""
        if not isinstance(word, int):
            self._check_tokenizer()
        ids = [word] if isinstance(word, int) else self.tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(ids) != 1:
            raise Problem(
                "{word!r} is {n} tokens of this model ({tokens}); give one",
                word=word,
                n=len(ids),
                tokens=", ".join(self.words(ids)),
            )
        if not 0 <= ids[0] < self.config.vocab_size:
            raise ValueError(f"ids of words are 0 to {self.config.vocab_size - 1}, got {ids[0]}")
        return ids[0]

    def encode(self, text: str | None = None, messages: Messages | None = None) -> dict[str, Tensor]:
        """What the model is given of a text, or of the messages of a chat, each (1, tokens); errors as in `read`."""
        self._refresh()
        self._check_tokenizer()
        encoded = chat.tokenized(self.tokenizer, text, messages, MAX_CHARACTERS)
        ids = check_tokens(encoded["input_ids"][0].tolist(), self.max_tokens)
        if 0 < self.config.vocab_size <= max(ids):
            raise Problem(
                "the tokenizer gives the id {id}, the model has ids below {size}",
                id=max(ids),
                size=self.config.vocab_size,
            )
        return {name: value.to(self.model.device) for name, value in encoded.items() if name in self._accepts}

    @property
    def has_chat(self) -> bool:
        """Whether the tokenizer has a chat template, so that messages can be read."""
        return chat.has_template(self.tokenizer)

    @property
    def accepted_inputs(self) -> set[str]:
        """The names of what the model's forward pass takes."""
        return self._accepts

    @property
    def has_words(self) -> bool:
        """Whether the model was loaded with the head that predicts words, and not another or none."""
        return self.config.has_words

    @property
    def max_tokens(self) -> int:
        """The longest text that is read."""
        return min(MAX_TOKENS, self.config.max_length or MAX_TOKENS)

    def words(self, ids: Sequence[int]) -> list[str]:
        """How tokens are written on an axis; without a tokenizer the names of ids are their numbers."""
        if not self.names_tokens:
            return list(map(str, ids))
        return list(map(self._spell, self.tokenizer.convert_ids_to_tokens(list(ids)), ids))

    def text_of(self, ids: Sequence[int]) -> str:
        """A text without special tokens; without a tokenizer the ids."""
        if not self.names_tokens:
            return " ".join(map(str, ids))
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def forward(self, inputs: Mapping[str, Tensor], **options: Any) -> Any:
        """The model's outputs, without a cache."""
        if "use_cache" in self._accepts and self.config.task != ENCODER:
            options["use_cache"] = False
        with self.running():
            return self.model(**self.placed(inputs), **options, return_dict=True)

    @contextmanager
    def apply_edits(self, edits: Edits, inputs: Mapping[str, Tensor] | None = None) -> Iterator[None]:
        """Make edits, which must fit, in this thread and block.

        `inputs` are those of the one pass in the block. Without them, while a text is written, no path can be cut.
        """
        if edits.cut and inputs is None:
            raise Problem("a path is cut in a text that is read as a whole, not while one is written: have it read")
        with edits.patching(), intervene(edits.changes(self.config)) if edits else nullcontext():
            with cut_paths(self.layout, self.config, self.forward, inputs or {}, edits.cut):
                yield

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

    def _words(self, result: Reading) -> Words:
        """The words that measures are about."""
        self._check_words(result)
        return Words(torch.arange(len(result.predicted_ids)), torch.tensor(result.predicted_ids))

    def _again(self, result: Reading, inputs: Mapping[str, Tensor] | None = None, **options: Any) -> Any:
        """The outputs for what was read, with the edits of the result."""
        with self.apply_edits(result.edits, result.inputs):
            return self.forward(result.inputs if inputs is None else inputs, **options)

    def _given(
        self, text: str | None, inputs: Mapping[str, Tensor], messages: Messages | None = None
    ) -> dict[str, Tensor]:
        """What the model is given of one text, of messages, or of tensors without their pads."""
        self._refresh()
        if (text is not None) + (messages is not None) + bool(inputs) != 1:
            raise ValueError("give a text, messages, or the tensors that the model takes")
        if not inputs:
            return self.encode(text, messages)
        rows = self.rows(inputs)
        if len(rows) != 1:
            raise ValueError(f"read takes one text, got {len(rows)} rows: read_batch reads several")
        return rows[0]

    def rows(self, inputs: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
        """The rows of tensors that the model takes, each a batch of one without its pads."""
        if self.config.task == DECODER and "input_ids" not in inputs:
            raise ValueError(f"a language model reads input_ids, got {', '.join(inputs)}")
        if apart := [name for name in inputs if name not in self._accepts and self.whole is not self.model]:
            raise Problem(
                "the towers of a {architecture} read apart: give a text or input_ids without {names}, or these alone",
                architecture=self.whole.config.model_type,
                names=", ".join(apart),
            )
        pad = batches.pad_of(self.model, self.tokenizer)
        others = {name: value for name, value in inputs.items() if name in OTHER_INPUTS}
        if others and len(inputs.get("input_ids", ())) == 1:  # pictures of one text may be several rows
            (tokens,) = batches.rows_of({name: inputs[name] for name in inputs if name not in others}, pad)
            return [tokens | others]
        return batches.rows_of(inputs, pad)

    @torch.inference_mode()
    def _record(
        self,
        text: str,
        inputs: Mapping[str, Tensor],
        edits: Edits,
        output_ids: Sequence[int] | None = None,
        messages: Messages | None = None,
    ) -> Reading:
        """Record a whole pass over the tensors that the model takes, a batch of one, with edits that fit.

        `output_ids` are the ids that follow each token that a decoder reads, where they are known; `messages` those of
        which the inputs are the beginning.
        """
        with self.apply_edits(edits, inputs), record() as trace:
            try:
                outputs = self.forward(inputs, **({"output_attentions": True} if self.config.read_only else {}))
            except (AssertionError, AttributeError, IndexError, RuntimeError, TypeError) as error:
                raise Problem(
                    "a {architecture} cannot read this input: its own code fails with “{reason}”",
                    architecture=self.config.architecture,
                    reason=reason(error),
                ) from error
        if self.config.read_only:
            add_maps(trace, outputs, self.config, inputs)
        logits = outputs.get("logits")
        if logits is not None:
            trace.add("logits", logits)
        arrays = {address: as_array(value)[0] for address, value in trace.items()}
        logits = None if logits is None else logits[0]
        reading = self.recording_of(text, inputs, edits, arrays, logits, output_ids, messages)
        counts = {"source": len(reading.source_tokens), "target": len(reading.target_tokens)}
        check_axes(trace, self.config, counts)
        return reading

    def recording_of(
        self,
        text: str,
        inputs: Mapping[str, Tensor],
        edits: Edits,
        arrays: Mapping[str, np.ndarray],
        logits: Tensor | None,
        output_ids: Sequence[int] | None = None,
        messages: Messages | None = None,
    ) -> Reading:
        """The recording of one text: of what was recorded, by address, and logits (tokens, V); see `_record`."""
        fields = self._fields(inputs, logits[None] if self.has_words and logits is not None else None, output_ids)
        if "input_ids" not in inputs:  # images and sounds
            n_positions = arrays[f"{self.config.attention[0].address}.mask"].shape[-1]
            fields["source_tokens"] = _names_of_positions(inputs, n_positions)
        names = {"source": "input_ids", "target": "decoder_input_ids"}
        if self.config.task == DECODER:
            names = {"target": "input_ids"}
        fields["special"] = chat.special_tokens(self.tokenizer, names, inputs, messages)
        source = "" if self.config.task == DECODER else text  # what an encoder reads
        return Reading(source=source, trace=arrays, config=self.config, inputs=inputs, edits=edits, **fields)

    def check_edits(self, edits: Edits, inputs: Mapping[str, Tensor]) -> None:
        """Refuse edits that do not fit the model and what it reads, a batch of one."""
        if edits:
            self._check(edits, self._lengths(inputs))

    def _check(self, edits: Edits, lengths: tuple[int, int]) -> None:
        """Refuse edits that do not fit the model and texts of these lengths, in tokens."""
        if edits and self.config.read_only:
            raise read_only(self.config)
        if edits:
            edits.check(self.config, *lengths)

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, output_ids: Sequence[int] | None
    ) -> dict[str, Any]:
        """The other fields of a recording."""
        raise NotImplementedError

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        """How many tokens an encoder and a decoder read, 0 where there is none."""
        raise NotImplementedError

    @torch.inference_mode()
    def _encoder_length(self, inputs: Mapping[str, Tensor]) -> int:
        """How many positions an encoder has: of images and sounds its first map says it."""
        if "input_ids" in inputs:
            return inputs["input_ids"].size(1)
        module = self.config.layers("encoder_self")[0].address
        with record(f"{module}.mask") as trace:
            self.forward(inputs)
        return trace[f"{module}.mask"].size(-1)

    def _predictions(
        self, input_ids: Sequence[int], logits: Tensor | None, output_ids: Sequence[int] | None
    ) -> dict[str, Any]:
        """The fields of what a decoder read and predicted; `output_ids` is what it read next, with its best word."""
        fields = {"target_tokens": self.words(input_ids), "finished": True, "search": None, "masked_words": {}}
        if logits is None:
            return fields | {"predicted_tokens": [], "predicted_ids": [], "log_probabilities": np.zeros(0, np.float32)}
        log_probabilities = logits[0].float().log_softmax(-1).cpu()  # (T, V)
        if output_ids is None:
            output_ids = [*input_ids[1:], int(log_probabilities[-1].argmax())]
        of_written = log_probabilities.gather(1, torch.tensor(output_ids)[:, None])[:, 0]  # (T,)
        predicted = {"predicted_tokens": self.words(output_ids), "predicted_ids": list(output_ids)}
        return fields | predicted | {"log_probabilities": of_written.numpy()}


def _names_of_positions(inputs: Mapping[str, Tensor], count: int) -> list[str]:
    """How the positions of an encoder of images or sounds are written on an axis.

    Patches of a square image are row and column, counted from 1, what comes before them is "[CLS]"; frames of a sound
    are counted from 0.
    """
    side = math.isqrt(count)
    if "pixel_values" in inputs and count - side**2 in (0, 1):
        patches = [f"{row},{column}" for row in range(1, side + 1) for column in range(1, side + 1)]
        return ["[CLS]"] * (count - side**2) + patches
    return list(map(str, range(count)))
