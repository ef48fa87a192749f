"""Models of transformers that read, write and are changed as our own models are."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.adapters import byte_level
from model.adapters.readers.attach import instrument
from model.adapters.readers.effects import check_effects, direct_effects
from model.adapters.readers.generation import continuation
from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.adapters.readers.lens import layer_lens
from model.adapters.readers.reading import NO_WORDS, Reading
from model.adapters.readers.removal import Words, without_each_head, without_each_token
from model.analysis.effects import RUNNER_UP, Effects
from model.attribution import Lens
from model.decoding import target_limit
from model.decoding.sampling import restrict
from model.errors import Phrase, Problem, check_characters, check_tokens
from model.interventions.edits import Edits
from model.taps import Trace, intervene, record
from model.translation import as_array

MAX_CHARACTERS = 4000
MAX_TOKENS = 256  # of a text that is read: the trace keeps every score of every head
BEST = 5  # words at a masked position
_NO_EDITS = Edits()
_THE_TARGET = Phrase("the target")


def attach(model: Any, tokenizer: Any) -> "Reader":
    """A reader of any model of transformers that is loaded already: its attention seen, changed and explained.

    The model stays what it was for everybody else: it computes the same, as fast, and keeps nothing of a call.

    Args:
        tokenizer: the model's tokenizer; of a vision or speech model its processor, or None.

    Raises:
        ValueError: if the model has no attention.
    """
    attached = instrument(model)
    kind = {DECODER: DecoderReader, ENCODER: EncoderReader, ENCODER_DECODER: PairReader}[attached.config.task]
    return kind(model, tokenizer)


class Reader:
    """A model of transformers with its tokenizer; safe to share between threads, as the model is only read."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        attached = instrument(model)
        self.model, self.tokenizer = model.eval(), tokenizer
        self.layout, self.config, self.taps = attached.layout, attached.config, attached.taps
        self._spell = byte_level.speller(tokenizer)
        self._accepts = set(inspect.signature(model.forward).parameters)

    def read(self, text: str | None = None, *, edits: Edits = _NO_EDITS, **inputs: Tensor) -> Reading:
        """Record what the model computes when it reads a text, with the special tokens that its tokenizer adds.

        Args:
            edits: changes for this call.
            inputs: in place of a text the tensors that the model takes, a batch of one: `pixel_values`, for example.

        Raises:
            ValueError: for an empty or too long text, or edits that do not fit the model and the text.
        """
        given = self._given(text, inputs)
        self._check(edits, self._lengths(given))
        return self._record(text or "", given, edits)

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
        written = result.predicted_ids if word is None else [self.token(word)] * steps
        if isinstance(against, int) or (isinstance(against, str) and against != RUNNER_UP):
            against = [self.token(against)] * steps
        with self.changed(result.edits):
            return direct_effects(self.layout, partial(self.forward, result.inputs), np.array(written), against)

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
            raise ValueError("the layers of this model share their weights or are not known: there is no layer lens")
        return layer_lens(partial(self._again, result), streams, self.config, k, self.words)

    def importance(self, result: Reading, steps: Sequence[int] | None = None) -> dict[str, np.ndarray]:
        """By kind float32 (layers, heads, words): the nats that each word loses without each head; `without_each_head`.

        The words are those that a decoder predicted at each step, of an encoder the best one at each masked position;
        `steps` chooses among them, which of a large vocabulary saves a third of the time.
        """
        self._check_own(result)
        words = self._words(result).at(steps)
        again = partial(self._again, result)
        if "logits_to_keep" in self._accepts:
            again, words = partial(again, logits_to_keep=words.places), words.at_the_front()
        return without_each_head(again, result.inputs, self.config, words, grows=self.layout.shared is None)

    def occlusion(self, result: Reading) -> np.ndarray:
        """float32 (words, tokens): the nats that each word loses without each token; see `without_each_token`.

        Tokens are those of the source where there is one; words are those of `importance`.
        """
        self._check_own(result)
        tokens = len(result.source_tokens) or len(result.target_tokens)
        words = self._words(result)
        return without_each_token(partial(self._again, result), result.inputs, self.config, words, tokens)

    def _check_words(self, result: Reading) -> None:
        """Refuse a model that reads no text or has no output over words."""
        if "input_ids" not in result.inputs:
            raise ValueError("of a model that reads no text there are the maps, and nothing about its words")
        if not self.has_words:
            raise ValueError(NO_WORDS)

    def _again(self, result: Reading, inputs: Mapping[str, Tensor] | None = None, **options: Any) -> Any:
        """The outputs for what was read, with the edits of the result."""
        with self.changed(result.edits):
            return self.forward(result.inputs if inputs is None else inputs, **options)

    def _words(self, result: Reading) -> Words:
        """The words that measures are about."""
        self._check_words(result)
        return Words(torch.arange(len(result.predicted_ids)), torch.tensor(result.predicted_ids))

    def token(self, word: str | int) -> int:
        """The id of a word that is one token; else a ValueError."""
        ids = [word] if isinstance(word, int) else self.tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(ids) != 1:
            raise ValueError(f"{word!r} is {len(ids)} tokens of this model ({', '.join(self.words(ids))}); give one")
        if not 0 <= ids[0] < self.config.vocab_size:
            raise ValueError(f"ids of words are 0 to {self.config.vocab_size - 1}, got {ids[0]}")
        return ids[0]

    def _check_own(self, result: Reading) -> None:
        """Refuse what another model has read, and a model in which nothing can be changed."""
        if self.config.read_only:
            raise ValueError(self.config.read_only)
        if not isinstance(result, Reading) or result.config != self.config:
            raise ValueError("the result was made by another model: it has other sizes or choices")

    def encode(self, text: str) -> dict[str, Tensor]:
        """What the model is given of a text, each (1, tokens); errors as of `read`."""
        check_characters(text, MAX_CHARACTERS)
        if not text.strip():
            raise Problem("there is nothing to read: type a text")
        encoded = self.tokenizer(text, return_tensors="pt")
        ids = check_tokens(encoded["input_ids"][0].tolist(), self.max_tokens)
        if 0 < self.config.vocab_size <= max(ids):
            raise ValueError(f"the tokenizer gives the id {max(ids)}, the model has ids below {self.config.vocab_size}")
        return {name: value.to(self.model.device) for name, value in encoded.items() if name in self._accepts}

    @property
    def has_words(self) -> bool:
        """Whether the model was loaded with the head that predicts words, and not another or none."""
        return self.model.get_output_embeddings() is not None

    @property
    def max_tokens(self) -> int:
        """The longest text that is read."""
        return min(MAX_TOKENS, self.config.max_length or MAX_TOKENS)

    def words(self, ids: Sequence[int]) -> list[str]:
        """How tokens are written on an axis."""
        return list(map(self._spell, self.tokenizer.convert_ids_to_tokens(list(ids)), ids))

    def forward(self, inputs: Mapping[str, Tensor], **options: Any) -> Any:
        """The model's outputs, without a cache."""
        if "use_cache" in self._accepts and self.config.task != ENCODER:
            options["use_cache"] = False
        return self.model(**inputs, **options, return_dict=True)

    @contextmanager
    def changed(self, edits: Edits) -> Iterator[None]:
        """Make edits, which must fit, in this thread and block."""
        with intervene(edits.changes(self.config)) if edits else nullcontext():
            yield

    def _given(self, text: str | None, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if (text is None) == (not inputs):
            raise ValueError("give a text, or the tensors that the model takes")
        return self.encode(text) if text is not None else {name: value[:1] for name, value in inputs.items()}

    @torch.inference_mode()
    def _record(
        self, text: str, inputs: Mapping[str, Tensor], edits: Edits, written: Sequence[int] | None = None
    ) -> Reading:
        """Record a whole pass over the tensors that the model takes, a batch of one, with edits that fit.

        `written` are the ids that follow each token that a decoder reads, where they are known.
        """
        with self.changed(edits), record() as trace:
            outputs = self.forward(inputs, **({"output_attentions": True} if self.config.read_only else {}))
        if self.config.read_only:
            self._add_maps(trace, outputs)
        logits = outputs.get("logits")
        if logits is not None:
            trace.add("logits", logits)
        arrays = {address: as_array(value)[0] for address, value in trace.items()}
        fields = self._fields(inputs, logits if self.has_words else None, written)
        source = "" if self.config.task == DECODER else text  # what an encoder reads
        return Reading(source=source, trace=arrays, config=self.config, inputs=inputs, edits=edits, **fields)

    def text_of(self, ids: Sequence[int]) -> str:
        """A text without special tokens."""
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def _check(self, edits: Edits, lengths: tuple[int, int]) -> None:
        """Refuse edits that do not fit the model and texts of so many tokens."""
        if edits and self.config.read_only:
            raise ValueError(self.config.read_only)
        if edits:
            edits.check(self.config, *lengths)

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, written: Sequence[int] | None
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

    def _predictions(self, read: Sequence[int], logits: Tensor | None, written: Sequence[int] | None) -> dict[str, Any]:
        """The fields of what a decoder read and predicted; `written` is what it read next, and then its best word."""
        fields = {"target_tokens": self.words(read), "finished": True, "search": None, "masked_words": {}}
        if logits is None:
            return fields | {"predicted_tokens": [], "predicted_ids": [], "log_probabilities": np.zeros(0, np.float32)}
        log_probabilities = logits[0].float().log_softmax(-1).cpu()  # (T, V)
        if written is None:
            written = [*read[1:], int(log_probabilities[-1].argmax())]
        chosen = log_probabilities.gather(1, torch.tensor(written)[:, None])[:, 0]  # (T,)
        predicted = {"predicted_tokens": self.words(written), "predicted_ids": list(written)}
        return fields | predicted | {"log_probabilities": chosen.numpy()}

    def _add_maps(self, trace: Trace, outputs: Any) -> None:
        """Add the maps that a model hands out itself, under their addresses."""
        if not outputs.get("attentions"):
            raise ValueError('this model hands out no maps: load it with attn_implementation="eager"')
        for layer, weights in zip(self.config.attention, outputs["attentions"], strict=True):
            n_tokens = weights.size(-1)
            mask = masks.causal_mask(n_tokens) if layer.kind == "decoder_self" else masks.everything(n_tokens, n_tokens)
            trace.add(f"{layer.address}.mask", mask)
            trace.add(f"{layer.address}.weights", weights)

    def _positions(self, inputs: Mapping[str, Tensor]) -> list[str]:
        """How the positions of an encoder of images or sounds are written on an axis.

        Patches of a square image are row and column, counted from 1, what comes before them is "[CLS]"; frames of a
        sound are counted from 0.
        """
        count = self._encoder_length(inputs)
        side = math.isqrt(count)
        if "pixel_values" in inputs and count - side**2 in (0, 1):
            patches = [f"{row},{column}" for row in range(1, side + 1) for column in range(1, side + 1)]
            return ["[CLS]"] * (count - side**2) + patches
        return list(map(str, range(count)))


class DecoderReader(Reader):
    """A language model, which predicts the next word."""

    def generate(
        self,
        text: str,
        tokens: int = 30,
        beam: int = 1,
        edits: Edits = _NO_EDITS,
        seed: int | None = None,
        **chance: float,
    ) -> Reading:
        """Go on from a text, with a cache, and record a whole pass over both; see `continuation`.

        Edits hold in both; cells that open the future change nothing, as later steps do not exist yet.
        """
        whole = torch.tensor([self._write(text, tokens, beam, edits, seed, chance)], device=self.model.device)
        inputs = {"input_ids": whole, "attention_mask": torch.ones_like(whole)}
        return self._record(text, inputs, edits.without_future)

    def write(self, text: str, tokens: int = 30, seed: int = 0, edits: Edits = _NO_EDITS, **chance: float) -> str:
        """The text and at most `tokens` tokens drawn after it; one seed, one result. See `continuation`."""
        ids = self._write(text, tokens, 1, edits, seed, chance)
        return self.text_of(ids)

    def distribution(self, text: str, edits: Edits = _NO_EDITS, **chance: float) -> np.ndarray:
        """float32 (V,), summing to 1: how probable every token is as the next one; see `sampling.restrict`."""
        logits = torch.from_numpy(self.read(text, edits=edits).logits[-1])
        return restrict(logits, **chance).numpy()

    def _write(
        self, text: str, tokens: int, beam: int, edits: Edits, seed: int | None, chance: Mapping[str, float]
    ) -> list[int]:
        inputs, edits = self.encode(text), edits.without_future
        n_read = inputs["input_ids"].size(1)
        if n_read + tokens > self.max_tokens:
            raise ValueError(
                f"the text has {n_read} tokens and {tokens} more are to be written; at most {self.max_tokens} are "
                "allowed together"
            )
        self._check(edits, (0, n_read + tokens))
        with self.changed(edits):
            return continuation(self.model, inputs, tokens, beam, seed, **chance)

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, written: Sequence[int] | None
    ) -> dict[str, Any]:
        ids = inputs["input_ids"][0].tolist()
        return {"text": self.text_of(ids), "source_tokens": [], **self._predictions(ids, logits, written)}

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        return 0, inputs["input_ids"].size(1)


class EncoderReader(Reader):
    """A model that reads only, and predicts masked words where it was loaded with the head for them."""

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, written: Sequence[int] | None
    ) -> dict[str, Any]:
        nothing = self._predictions([], None, None)
        if "input_ids" not in inputs:
            return {"text": "", "source_tokens": self._positions(inputs), **nothing}
        ids = inputs["input_ids"][0].tolist()
        masked = {} if logits is None else self._masked_words(ids, logits)
        return nothing | {"text": "", "source_tokens": self.words(ids), "masked_words": masked}

    def _words(self, result: Reading) -> Words:
        self._check_words(result)
        if not result.masked_words:
            raise ValueError(f"no word is masked: write {self.tokenizer.mask_token} in the place of one")
        places = list(result.masked_words)
        return Words(torch.tensor(places), torch.from_numpy(result.logits[places].argmax(-1)))

    def _masked_words(self, ids: Sequence[int], logits: Tensor) -> dict[int, list[tuple[str, float]]]:
        """By masked position the most probable words and their probabilities."""
        best = logits[0].float().softmax(-1).topk(min(BEST, logits.size(-1)))  # (S, k)
        return {
            place: list(zip(self.words(best.indices[place].tolist()), best.values[place].tolist()))
            for place, index in enumerate(ids)
            if index == self.tokenizer.mask_token_id
        }

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        return self._encoder_length(inputs), 0


class PairReader(Reader):
    """An encoder-decoder: it translates, or does what it was trained for."""

    def read(
        self,
        text: str | None = None,
        *,
        target: str | None = None,
        edits: Edits = _NO_EDITS,
        **inputs: Tensor,
    ) -> Reading:
        """As `Reader.read`; `target` is what the decoder is made to write, left out what it writes greedily."""
        given = self._given(text, inputs)
        if "decoder_input_ids" in given:
            self._check(edits, self._lengths(given))
            return self._record(text or "", given, edits)
        if target is None:
            return self._translate(text or "", given, 1, edits)
        check_characters(target, MAX_CHARACTERS, _THE_TARGET)
        ids = self.tokenizer(text_target=target)["input_ids"]
        check_tokens(ids, self.max_tokens, _THE_TARGET)
        self._check(edits, (self._source_length(given), len(ids)))
        return self._force(text or "", given, [self.start_token, *ids], edits)

    def translate(self, text: str, beam: int = 4, edits: Edits = _NO_EDITS, prefix: Sequence[int] = ()) -> Reading:
        """Translate a text, with a cache, and record a whole pass over both sides.

        Args:
            beam: width of the search; 1 is greedy.
            edits: changes for this call; cells that open the future change nothing.
            prefix: ids that the translation begins with, without the start token.
        """
        return self._translate(text, self.encode(text), beam, edits, prefix)

    @property
    def start_token(self) -> int:
        """What the decoder reads first."""
        return self._rules.decoder_start_token_id

    def _translate(
        self, text: str, inputs: Mapping[str, Tensor], beam: int, edits: Edits, prefix: Sequence[int] = ()
    ) -> Reading:
        edits = edits.without_future
        n_source = self._source_length(inputs)
        most = target_limit(n_source, self.max_tokens)
        self._check(edits, (n_source, most))
        begun = torch.tensor([[self.start_token, *prefix]], device=self.model.device) if prefix else None
        with self.changed(edits):
            given = inputs if begun is None else {**inputs, "decoder_input_ids": begun}
            ids = continuation(self.model, given, most - len(prefix), beam)
        return self._force(text, inputs, ids, edits)

    def _force(self, text: str, inputs: Mapping[str, Tensor], ids: Sequence[int], edits: Edits) -> Reading:
        """Record the pass in which the decoder reads ids, the start token first, all but the last."""
        read = torch.tensor([ids[:-1]], device=self.model.device)
        return self._record(text, {**inputs, "decoder_input_ids": read}, edits, ids[1:])

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, written: Sequence[int] | None
    ) -> dict[str, Any]:
        read = inputs["decoder_input_ids"][0].tolist()
        fields = self._predictions(read, logits, written)
        source = self.words(inputs["input_ids"][0].tolist()) if "input_ids" in inputs else self._positions(inputs)
        fields["finished"] = bool(fields["predicted_ids"]) and fields["predicted_ids"][-1] in self._ends
        return fields | {"text": self.text_of(fields["predicted_ids"]), "source_tokens": source}

    @property
    def _rules(self) -> Any:
        """What says with which tokens the decoder begins and ends; a model that cannot write has its configuration."""
        return getattr(self.model, "generation_config", None) or self.model.config

    @property
    def _ends(self) -> list[int]:
        """The tokens that end a translation."""
        end = self._rules.eos_token_id
        return end if isinstance(end, list) else [end]

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        return self._encoder_length(inputs), inputs["decoder_input_ids"].size(1)

    def _source_length(self, inputs: Mapping[str, Tensor]) -> int:
        if "input_ids" in inputs:
            return inputs["input_ids"].size(1)
        start = torch.tensor([[self.start_token]], device=self.model.device)
        return self._encoder_length({**inputs, "decoder_input_ids": start})
