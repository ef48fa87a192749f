"""Readers of the three kinds of models: those that go on from a text, those that only read, those that translate."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from model.adapters.readers.attachment.attach import instrument
from model.adapters.readers.attachment.wrappers import unwrap
from model.adapters.readers.explanation.removal import Words
from model.adapters.readers.generation import continuation
from model.adapters.readers.inputs.chat import Messages
from model.adapters.readers.inputs.pictures import has_two_towers, towers_of, with_patches
from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.adapters.readers.reader import Reader
from model.adapters.readers.reading import Reading
from model.adapters.readers.recorder import MAX_CHARACTERS, NO_EDITS
from model.decoding import target_limit
from model.decoding.sampling import Chance, restrict
from model.interventions.edits import Edits
from model.text.errors import Phrase, Problem, check_characters, check_tokens

BEST = 5  # words at a masked position
_THE_TARGET = Phrase("the target")


def attach(model: Any, tokenizer: Any = None) -> "Reader":
    """A reader of any model of transformers that is loaded already: its attention seen, changed and explained.

    The model stays what it was for everybody else: it computes the same, as fast, and keeps nothing of a call. What is
    changed on it until `reader.detach()`, or until the end of `with attach(...) as reader:`, puts all of it back:

    - `config._attn_implementation` names our attention function, with the one that the model had, which still computes
      whenever no reader does: "headlight_sdpa". The owner may set another one at any time. A model that has no choice
      of functions (Falcon, Bloom, DeBERTa, GPT-J) is set to "eager", as others hand out no maps.
    - Its modules have forward hooks, which do nothing unless a reader reads.

    While a reader reads, and no longer, modules that are in training mode are in evaluation mode, and compiled parts
    run uncompiled: do not train the model in another thread meanwhile. Save or pickle it as a whole only detached; a
    copy (`copy.deepcopy`) is not attached. Adapters that are added or removed later are seen at the next reading.

    Args:
        model: a model of transformers, or what holds one: a pipeline, a Trainer, a model of PEFT (its adapters stay
            active), of `torch.compile`, `DataParallel` or `DistributedDataParallel`, a SentenceTransformer.
        tokenizer: the model's tokenizer; of a vision or speech model its processor. Left out it is that of the
            pipeline, Trainer or SentenceTransformer; where there is none, ids have their numbers as names.

    Of a model of two towers (CLIP, SigLIP) the reader is that of the texts, and `read(pixel_values=...)` that of the
    pictures; `reader.towers` has each, also of models that read pictures within a text (LLaVA).

    Raises:
        ValueError: if that is not such a model or tokenizer, or the model has no attention, or its adapters act outside
            its layers, as those of prompt tuning.
    """
    model, tokenizer = unwrap(model, tokenizer)
    whole = model
    if has_two_towers(model):
        model = towers_of(model)["text"]
    attached = instrument(model)
    kind = {DECODER: DecoderReader, ENCODER: EncoderReader, ENCODER_DECODER: PairReader}[attached.config.task]
    return kind(model, tokenizer, whole, attach)


class DecoderReader(Reader):
    """A language model, which predicts the next word."""

    def generate(
        self,
        text: str | None = None,
        tokens: int = 30,
        beam: int = 1,
        edits: Edits = NO_EDITS,
        seed: int | None = None,
        *,
        messages: Messages | None = None,
        **chance: Unpack[Chance],
    ) -> Reading:
        """Go on from a text, or answer messages, with a cache, and record a whole pass over both; see `continuation`.

        Edits hold in both; cells that open the future change nothing, as later steps do not exist yet.
        """
        inputs = self._given(text, {}, messages)
        ids = torch.tensor([self._write(inputs, tokens, beam, edits, seed, chance)], device=self.model.device)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return self._record(text or "", inputs, edits.without_future, messages=messages)

    def write(
        self,
        text: str | None = None,
        tokens: int = 30,
        seed: int = 0,
        edits: Edits = NO_EDITS,
        *,
        messages: Messages | None = None,
        **chance: Unpack[Chance],
    ) -> str:
        """The text and at most `tokens` tokens drawn after it; one seed, one result. See `continuation`.

        Of messages the answer alone.
        """
        inputs = self._given(text, {}, messages)
        ids = self._write(inputs, tokens, 1, edits, seed, chance)
        return self.text_of(ids if messages is None else ids[inputs["input_ids"].size(1) :])

    def distribution(
        self,
        text: str | None = None,
        edits: Edits = NO_EDITS,
        *,
        messages: Messages | None = None,
        **chance: Unpack[Chance],
    ) -> np.ndarray:
        """float32 (V,), summing to 1: how probable every token is as the next one; see `sampling.restrict`."""
        logits = torch.from_numpy(self.read(text, messages=messages, edits=edits).logits[-1])
        return restrict(logits, **chance).numpy()

    def _write(
        self, inputs: Mapping[str, Tensor], tokens: int, beam: int, edits: Edits, seed: int | None, chance: Chance
    ) -> list[int]:
        edits = edits.without_future
        n_read = inputs["input_ids"].size(1)
        if n_read + tokens > self.max_tokens:
            raise Problem(
                "the text has {n} tokens and {more} more are to be written; at most {most} are allowed together",
                n=n_read,
                more=tokens,
                most=self.max_tokens,
            )
        self._check(edits, (0, n_read + tokens))
        with self.running(), self.apply_edits(edits):
            return continuation(self.model, inputs, tokens, beam, seed, **chance)

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, output_ids: Sequence[int] | None
    ) -> dict[str, Any]:
        ids = inputs["input_ids"][0].tolist()
        fields = {"text": self.text_of(ids), "source_tokens": [], **self._predictions(ids, logits, output_ids)}
        named = with_patches(fields["target_tokens"], ids, inputs, self.model.config)
        if fields["predicted_tokens"] and output_ids is None:  # what follows each token, and the best word at the end
            fields["predicted_tokens"] = [*named[1:], fields["predicted_tokens"][-1]]
        return fields | {"target_tokens": named}

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        return 0, inputs["input_ids"].size(1)


class EncoderReader(Reader):
    """A model that reads only, and predicts masked words where it was loaded with the head for them."""

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, output_ids: Sequence[int] | None
    ) -> dict[str, Any]:
        nothing = self._predictions([], None, None)
        if "input_ids" not in inputs:
            return {"text": "", "source_tokens": [], **nothing}
        ids = inputs["input_ids"][0].tolist()
        masked = {} if logits is None else self._masked_words(ids, logits)
        tokens = with_patches(self.words(ids), ids, inputs, self.model.config)
        return nothing | {"text": "", "source_tokens": tokens, "masked_words": masked}

    def words_measured(self, result: Reading) -> Words:
        """The most probable word at each mask."""
        self._check_words(result)
        if not result.masked_words:
            self._check_tokenizer()
            raise Problem("no word is masked: write {mask} in the place of one", mask=self.tokenizer.mask_token)
        places = list(result.masked_words)
        return Words(torch.tensor(places), torch.from_numpy(result.logits[places].argmax(-1)))

    def _masked_words(self, ids: Sequence[int], logits: Tensor) -> dict[int, list[tuple[str, float]]]:
        """By masked position the most probable words and their probabilities."""
        mask_id = getattr(self.tokenizer, "mask_token_id", None)
        best = logits[0].float().softmax(-1).topk(min(BEST, logits.size(-1)))  # (S, k)
        return {
            place: list(zip(self.words(best.indices[place].tolist()), best.values[place].tolist()))
            for place, index in enumerate(ids)
            if index == mask_id
        }

    def _lengths(self, inputs: Mapping[str, Tensor]) -> tuple[int, int]:
        return self._encoder_length(inputs), 0


class PairReader(Reader):
    """An encoder-decoder: it translates, or does what it was trained for."""

    def read(  # pyright: ignore[reportIncompatibleMethodOverride]: no tensor of a model is called target
        self,
        text: str | None = None,
        *,
        target: str | Sequence[int] | None = None,
        messages: Messages | None = None,
        edits: Edits = NO_EDITS,
        **inputs: Tensor,
    ) -> Reading:
        """Record what the model computes when it reads a text and must write a target; see `Recorder.read`.

        `target` is a text or ids without the start token; where it is left out, what the model writes greedily.
        """
        model_inputs = self._given(text, inputs, messages)
        if "decoder_input_ids" in model_inputs:
            self.check_edits(edits, model_inputs)
            return self._record(text or "", model_inputs, edits)
        if target is None:
            return self._translate(text or "", model_inputs, 1, edits)
        if isinstance(target, str):
            self._check_tokenizer()
            check_characters(target, MAX_CHARACTERS, _THE_TARGET)
            ids = self.tokenizer(text_target=target)["input_ids"]
        else:
            ids = list(target)
        check_tokens(ids, self.max_tokens, _THE_TARGET)
        self._check(edits, (self._source_length(model_inputs), len(ids)))
        return self._force(text or "", model_inputs, [self.start_token, *ids], edits)

    def translate(self, text: str, beam: int = 4, edits: Edits = NO_EDITS, prefix: Sequence[int] = ()) -> Reading:
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
        with self.running(), self.apply_edits(edits):
            model_inputs = self.placed(inputs if begun is None else {**inputs, "decoder_input_ids": begun})
            ids = continuation(self.model, model_inputs, most - len(prefix), beam)
        return self._force(text, inputs, ids, edits)

    def _force(self, text: str, inputs: Mapping[str, Tensor], ids: Sequence[int], edits: Edits) -> Reading:
        """Record the pass in which the decoder reads ids, the start token first, all but the last."""
        decoder_ids = torch.tensor([ids[:-1]], device=self.model.device)
        return self._record(text, {**inputs, "decoder_input_ids": decoder_ids}, edits, ids[1:])

    def _fields(
        self, inputs: Mapping[str, Tensor], logits: Tensor | None, output_ids: Sequence[int] | None
    ) -> dict[str, Any]:
        decoder_ids = inputs["decoder_input_ids"][0].tolist()
        fields = self._predictions(decoder_ids, logits, output_ids)
        source = self.words(inputs["input_ids"][0].tolist()) if "input_ids" in inputs else []
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
