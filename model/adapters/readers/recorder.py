"""Models of transformers that record what they compute when they read, and how they are changed meanwhile."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.conversion import byte_level
from model.adapters.files.hub import reason
from model.adapters.readers.attachment.connection import Connection
from model.adapters.readers.attachment.handed_out import add_maps, check_axes
from model.adapters.readers.explanation.cut_paths import cut_paths
from model.adapters.readers.inputs import batches, chat
from model.adapters.readers.inputs.chat import Messages
from model.adapters.readers.inputs.pictures import OTHER_INPUTS, names_of_positions, towers_of
from model.adapters.readers.layout import DECODER, ENCODER
from model.adapters.readers.reading import Reading, read_only
from model.interventions.edits import Edits
from model.results.translation import as_array
from model.taps import intervene, record
from model.text.errors import Problem, check_tokens

MAX_CHARACTERS = 4000
MAX_TOKENS = 256  # of a text that is read: the trace keeps every score of every head
NO_EDITS = Edits()


class Recorder(Connection):
    """A model of transformers with its tokenizer; safe to share between threads, as the model is only read."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        whole: Any = None,
        attach_tower: "Callable[[Any, Any], Recorder] | None" = None,
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

    @cached_property
    def towers(self) -> "dict[str, Recorder]":
        """By name ("text", "vision", "audio") readers of the parts of the model that read by themselves."""
        if self._attach_tower is None:
            return {}
        return {name: self._attach_tower(part, self.tokenizer) for name, part in towers_of(self.whole).items()}

    def _tower_for(self, inputs: Mapping[str, Tensor]) -> "Recorder | None":
        """The reader of the tower for inputs without a text, if the model has one."""
        others = [name for name in OTHER_INPUTS if name in inputs]
        if not others or "input_ids" in inputs or others[0] in self._accepts & {self.model.main_input_name}:
            return None
        readers = (tower for tower in self.towers.values() if tower is not self)
        return next((tower for tower in readers if others[0] in tower.accepted_inputs), None)

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
            with self.failures_named():
                outputs = self.forward(inputs, **({"output_attentions": True} if self.config.read_only else {}))
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
            fields["source_tokens"] = names_of_positions(inputs, n_positions)
        names = {"source": "input_ids", "target": "decoder_input_ids"}
        if self.config.task == DECODER:
            names = {"target": "input_ids"}
        fields["special"] = chat.special_tokens(self.tokenizer, names, inputs, messages)
        source = "" if self.config.task == DECODER else text  # what an encoder reads
        return Reading(source=source, trace=arrays, config=self.config, inputs=inputs, edits=edits, **fields)

    @contextmanager
    def failures_named(self) -> Iterator[None]:
        """Say in a ValueError that the model's own code failed on what it was given in the block."""
        try:
            yield
        except (AssertionError, AttributeError, IndexError, RuntimeError, TypeError) as error:
            raise Problem(
                "a {architecture} cannot read this input: its own code fails with “{reason}”",
                architecture=self.config.architecture,
                reason=reason(error),
            ) from error

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
