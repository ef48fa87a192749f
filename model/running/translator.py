"""Text in; a translation, or what a language model makes of it, and everything that was computed on the way out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, Unpack, cast

import numpy as np
import torch
from torch import Tensor

from model.analysis.effects import RUNNER_UP, Effects
from model.analysis.head_words import MOST, HeadWords, WordLogit, head_words, strongest_words
from model.analysis.score_parts import ScoreParts, ScoreShares
from model.config import DEFAULT_CHECKPOINT, Config, GruConfig, HeadsByLayer, LanguageModelConfig, TransformerConfig
from model.decoding import Search, beam_search, target_limit
from model.decoding.sampling import Chance, restrict, sample
from model.gru import GruModel, GruState, merge_directions
from model.interventions.cuts import Cut
from model.interventions.edits import Edits, Head
from model.language_model import LanguageModel, TextState
from model.results.translation import Translation, as_array, module_of
from model.running import attribution
from model.running.circuit_tracing import CircuitTracer
from model.running.circuits import CircuitParts
from model.running.cut_path import PathCut, compare_cut
from model.running.patch_passes import compare, pass_at, token_of
from model.running.patching import Pass, Patching
from model.running.patching_words import ComparedWords
from model.running.stepper import Stepper, lay_out
from model.storage.checkpoint import CONFIG, AnyModel, Checkpoint, available, checkpoints_folder, load
from model.taps import record
from model.text.cleaning import source_text, tidy
from model.text.errors import Problem, check_characters, check_tokens
from model.text.pieces import PieceTokenizers
from model.text.special import BOS_ID, EOS_ID, Vocabulary, pad_ids
from model.text.words import AnyTokenizer, PairTokenizer, TextWords
from model.transformer import Cache, Transformer

MAX_BEAM = 16
MAX_SOURCE_TOKENS = 128
MAX_CHARACTERS = 2000
MAX_READ = 4000  # characters, by a Writer
_NO_EDITS = Edits()


Model = TypeVar("Model", bound=AnyModel)
Words = TypeVar("Words", bound=AnyTokenizer)
Settings = TypeVar("Settings", bound=Config)


class System(CircuitTracer, Generic[Model, Words, Settings]):
    """A loaded checkpoint, its model for reading only; safe to share between threads."""

    def __init__(self, loaded: Checkpoint) -> None:
        self.folder = loaded.folder
        self.name = loaded.folder.name
        self.card = loaded.card
        self.model = cast(Model, loaded.model)
        self.tokenizer = cast(Words, loaded.tokenizer)
        self.config = cast(Settings, self.model.config)

    def effects(self, result: Translation, against: str | Sequence[int] | None = None) -> Effects:
        """The direct effects on the logit of each written word; see `model.running.attribution.effects`."""
        return attribution.effects(self.model, result, against)

    def head_words(
        self,
        result: Translation,
        kind: str,
        layer: int,
        head: int,
        *,
        query: int | None = None,
        key: int | None = None,
        most: int = MOST,
    ) -> HeadWords:
        """The words that a head of the decoder writes when it looks at a key; see `model.analysis.head_words`.

        Without a query that which looks most at the key, without a key that which the query looks at most, without
        both the last query. A ValueError for a head of an encoder, which writes no words, and as in `effects`.
        """
        logits, (query, key) = attribution.head_logits(self.model, result, Head(kind, layer, head), query, key)
        weights = result.trace[f"{module_of(kind, layer)}.weights"][head]
        return head_words(weights, query, key, logits, self.tokenizer.target.tokens, most)

    def score_parts(self, result: Translation, kind: str, layer: int, head: int) -> ScoreParts:
        """Why one head looks where it looks: its scores as sums of parts; see `attribution.score_parts`."""
        return attribution.score_parts(self.model, result, kind, layer, head)

    def score_shares(self, result: Translation) -> ScoreShares:
        """What decides where each head looks, for all heads; see `model.running.attribution.score_shares`."""
        return attribution.score_shares(self.model, result)

    def cut_path(self, result: Translation, cut: Cut, parts: ScoreParts | None = None) -> PathCut:
        """What one head does without one part in its queries or keys: as the split predicts, and as it really is.

        Args:
            result: what this model translated or read, unchanged; it reads the same tokens once more.
            cut: the path. A ValueError if there is no such head or part.
            parts: the `score_parts` of the head, where they are there already.

        To have a translation written without the path, give `translate` the edits `Edits(cut=(cut,))`.
        """
        edits = Edits(cut=(cut,))
        edits.check(self.config)
        parts = parts or self.score_parts(result, cut.kind, cut.layer, cut.head)
        return compare_cut(cut, parts, result, self._read_again(result, edits))

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads, by kind of attention and layer."""
        return self.config.heads_by_layer

    def effects_on(
        self, result: Translation, word: str | int | None, against: str | int | None, step: int
    ) -> tuple[int, Effects]:
        """The id of a word, that of the result unless given, and the direct effects on it at a step."""
        target, size = self.tokenizer.target, self.config.vocab_sizes[1]
        named = token_of(target, word, size)
        answer = result.predicted_ids[step] if named is None else named
        output_ids = [*result.predicted_ids[:step], answer, *result.predicted_ids[step + 1 :]]
        others: str | list[int] | None = RUNNER_UP
        if against != RUNNER_UP:
            compared = token_of(target, against, size)
            others = None if compared is None else [compared] * len(output_ids)
        return answer, attribution.effects(self.model, result, others, output_ids)

    def circuit_parts(self, result: Translation) -> CircuitParts:
        """What heads compare and carry in a result, split by what wrote it; errors as in `score_parts`."""
        return CircuitParts(self.model, result)

    def pass_at(self, result: Translation, step: int) -> Pass:
        """The pass over what was read for a result, unchanged, up to the logits of a step; it can be repeated."""
        return pass_at(self.model, self.tokenizer.target, self._ids_read, result, step)

    def patching(
        self,
        a: Translation,
        b: Translation,
        *,
        answer: str | int | None = None,
        against: str | int | None = None,
        step: int | None = None,
        reverse: bool = False,
    ) -> Patching:
        """Find what part of the model carries what two texts differ in; see `model.running.patching.Patching`.

        Args:
            a, b: two results of this model, unchanged: into the pass over the text of b is put what a's had.
            answer: the word of a whose logit is measured, one token or an id. Left out, it and the next are the first
                words in which what both write differs, given the same beginning.
            against: the word of b that it is compared with.
            step: how many words of a's output both have read by then.
            reverse: put what b had into a's pass instead.

        Raises:
            ValueError: for results of another model or a recurrent one, or words that say nothing of the difference.
        """
        target = self.tokenizer.target
        size = self.config.vocab_sizes[1]
        compared = ComparedWords(token_of(target, answer, size), token_of(target, against, size), step)
        return compare(self.model, target, self._ids_read, a, b, compared, reverse)

    def _ids_read(self, result: Translation) -> list[int]:
        """The ids of what an encoder, or a language model, read for a result."""
        raise NotImplementedError

    def _read_again(self, result: Translation, edits: Edits) -> Translation:
        """Record what the model computes when it reads a result with edits."""
        raise NotImplementedError

    def lens(self, result: Translation, k: int = 5) -> attribution.Lens:
        """The k most probable words if the model stopped after each sublayer; see `model.running.attribution.lens`."""
        return attribution.lens(self.model, result, k, self.tokenizer.target.tokens)

    def _result(
        self, input_ids: list[int], output_ids: list[int], logits: Tensor, trace: Mapping[str, Tensor], **fields: Any
    ) -> Translation:
        log_probabilities = logits[0].float().log_softmax(-1)  # (T, V)
        target = self.tokenizer.target
        return Translation(
            target_tokens=target.tokens(input_ids),
            predicted_tokens=target.tokens(output_ids),
            predicted_ids=output_ids,
            log_probabilities=log_probabilities.gather(1, torch.tensor(output_ids)[:, None])[:, 0].numpy(),  # (T,)
            trace={address: as_array(value)[0] for address, value in trace.items()},
            config=self.config,
            **fields,
        )


class Translator(System[Transformer | GruModel, PairTokenizer | PieceTokenizers, TransformerConfig | GruConfig]):
    """A loaded checkpoint that translates."""

    def __init__(self, loaded: Checkpoint) -> None:
        super().__init__(loaded)
        lay_out(self.model)
        self.stepper = Stepper(self.model) if isinstance(self.model, Transformer) else self.model

    @property
    def transformer(self) -> Transformer:
        """The model; a ValueError if it is a recurrent one."""
        if not isinstance(self.model, Transformer):
            raise ValueError(f"{self.name!r} is a recurrent network, and this needs a Transformer")
        return self.model

    @property
    def max_source_tokens(self) -> int:
        """The most tokens of a source, the end token counted."""
        return min(MAX_SOURCE_TOKENS, self.config.max_length)

    def translate(
        self,
        text: str,
        beam: int = 4,
        length_penalty: float = 0.6,
        edits: Edits = _NO_EDITS,
        prefix: Sequence[int] = (),
    ) -> Translation:
        """Translate one text and record everything.

        The encoder runs once and is recorded. The search runs unrecorded, and one teacher-forced pass over its result
        records the decoder. Nothing of an earlier call is remembered.

        Args:
            beam: width of the search; 1 is greedy decoding.
            length_penalty: exponent alpha (Wu et al. 2016); 0 compares bare log-probabilities.
            edits: changes for this call; cells that open the future change nothing, as later steps do not exist yet.
            prefix: ids that the translation begins with, without the start token; the end token may be the last.

        Raises:
            ValueError: for an empty or too long text, a beam, penalty or prefix that is not allowed, or edits that do
                not fit the model and the sentence.
        """
        tidied, ids = self._read(text)
        last = len(self.tokenizer.target) - 1
        if wrong := [token for token in prefix if not 0 <= token <= last]:
            raise ValueError(f"the prefix holds token {wrong[0]}; tokens are numbered from 0 to {last}")
        if edits:
            edits.check(self.config, len(ids), self._limit(ids))
            edits = edits.without_future
        trace, state = self._encode(ids, edits)
        with edits.applied(self.model, "decoder"):
            search = self._search([ids], state.fresh(), beam, length_penalty, [prefix])[0]
            output_ids = search.tree.path(search.hypotheses[0].node)
        with edits.applied(self.model, "decoder"):
            return self._record(tidied, ids, trace, state, output_ids, search)

    def source_ids(self, text: str) -> list[int]:
        """The ids that the encoder reads, the end token last; errors as for `translate`."""
        return self._read(text)[1]

    def force(self, text: str, target: str | Translation, edits: Edits = _NO_EDITS) -> Translation:
        """Record what the model computes when it reads a given translation (teacher forcing); see `translate`.

        Of an earlier translation the very same tokens are read. Edits that open the future count.
        """
        tidied, ids = self._read(text)
        if isinstance(target, Translation):
            target_ids = target.predicted_ids
        else:
            target_ids = self._read(target, side=self.tokenizer.target)[1]
        if edits:
            edits.check(self.config, len(ids), len(target_ids))
        trace, state = self._encode(ids, edits)
        with edits.applied(self.model, "decoder"):
            return self._record(tidied, ids, trace, state, target_ids)

    def _ids_read(self, result: Translation) -> list[int]:
        return self.source_ids(result.source)

    def _read_again(self, result: Translation, edits: Edits) -> Translation:
        return self.force(result.source, result, edits)

    def score(self, text: str, target: str | Translation, edits: Edits = _NO_EDITS) -> float:
        """The log-probability in nats of a given translation, its end token included where it has one."""
        return float(self.force(text, target, edits).log_probabilities.sum(dtype="float64"))

    def occlusion(self, result: Translation, edits: Edits = _NO_EDITS) -> np.ndarray:
        """How much less probable each word becomes without each source token; see `attribution.occlusion`."""
        return attribution.occlusion(self.model, self.source_ids(result.source), result, edits)

    @torch.inference_mode()
    def translate_lines(
        self, texts: Sequence[str], beam: int = 4, length_penalty: float = 0.6, edits: Edits = _NO_EDITS
    ) -> list[str]:
        """Translate many texts in batches, without recording; an empty one gives an empty translation.

        Texts may be as long as the model has positions; edits are of whole heads. A ValueError, as for `translate`,
        names the line.
        """
        if edits:
            edits.check(self.config)
        sources: dict[int, list[int]] = {}
        for number, text in enumerate(texts):
            if source_text(text, self.tokenizer):
                try:
                    sources[number] = self._read(text, self.config.max_length)[1]
                except ValueError as error:
                    raise ValueError(f"line {number + 1}: {error}") from None
        translations = [""] * len(texts)
        order = sorted(sources, key=lambda number: len(sources[number]))
        size = max(1, 128 // max(1, beam))
        for start in range(0, len(order), size):
            numbers = order[start : start + size]
            batch = [sources[number] for number in numbers]
            with edits.applied(self.model, "encoder"):
                state = self.stepper.start(pad_ids(batch))
            with edits.applied(self.model, "decoder"):
                searches = self._search(batch, state, beam, length_penalty)
            for number, search in zip(numbers, searches, strict=True):
                translations[number] = self.tokenizer.target.decode(search.hypotheses[0].ids)
        return translations

    def head_dictionary(self, layer: int, head: int, texts: Sequence[str], most: int = 3) -> dict[str, list[WordLogit]]:
        """A dictionary of a head of the cross-attention: by source token the words that it writes from it.

        Each text, a word or a sentence, is translated greedily. What the head writes from a token is the mean over its
        occurrences, each at the step that looks most at it, as if it looked at nothing else; errors as in `head_words`.
        """
        sums: dict[str, np.ndarray] = {}
        for text in texts:
            result = self.translate(text, beam=1)
            for key, token in enumerate(result.source_tokens[:-1]):  # the end token means nothing
                logits = self.head_words(result, "cross", layer, head, key=key, most=1).logits
                sums[token] = sums.get(token, 0.0) + logits / result.source_tokens.count(token)
        words_of = self.tokenizer.target.tokens
        return {token: strongest_words(logits, words_of, most) for token, logits in sums.items()}

    def _read(self, text: str, limit: int | None = None, side: Vocabulary | None = None) -> tuple[str, list[int]]:
        """A text, of the source unless said, as it is read, and its ids with the end token."""
        check_characters(text, MAX_CHARACTERS)
        if not (tidied := tidy(text) if side else source_text(text, self.tokenizer)):
            raise Problem("there is nothing to translate: type a sentence")
        ids = [*(side or self.tokenizer.source).encode(tidied), EOS_ID]
        return tidied, check_tokens(ids, limit or self.max_source_tokens)

    def _limit(self, ids: Sequence[int]) -> int:
        return target_limit(len(ids), self.config.max_length)

    @torch.inference_mode()
    def _encode(self, ids: list[int], edits: Edits) -> tuple[dict[str, Tensor], Cache | GruState]:
        with edits.applied(self.model, "encoder"), record() as trace:
            state = self.model.start(torch.tensor([ids]))
        return merge_directions(self.model, trace), state

    def _search(
        self,
        sources: Sequence[list[int]],
        state: Cache | GruState,
        beam: int,
        length_penalty: float,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[Search]:
        if not 1 <= beam <= MAX_BEAM:
            raise ValueError(f"the beam width must be from 1 to {MAX_BEAM}, got {beam}")
        if not 0 <= length_penalty <= 5:
            raise ValueError(f"the length penalty must be from 0 to 5, got {length_penalty}")
        limits = [self._limit(ids) for ids in sources]
        return beam_search(self.stepper, state, width=beam, alpha=length_penalty, max_lengths=limits, prefixes=prefixes)

    @torch.inference_mode()
    def _record(
        self,
        source: str,
        ids: list[int],
        encoded: dict[str, Tensor],
        state: Cache | GruState,
        output_ids: list[int],
        search: Search | None = None,
    ) -> Translation:
        read = [BOS_ID, *output_ids[:-1]]  # what was written last is never read
        teacher_forced: Any = self.model.read  # each kind of model reads with the state that it made itself
        with record() as trace:
            logits = teacher_forced(torch.tensor([read]), state.fresh())  # (1, T, V)
        return self._result(
            read,
            output_ids,
            logits,
            encoded | merge_directions(self.model, trace),
            source=source,
            text=self.tokenizer.target.decode(output_ids),
            source_tokens=self.tokenizer.source.tokens(ids),
            finished=output_ids[-1] == EOS_ID,
            search=search,
        )


class Writer(System[LanguageModel, TextWords, LanguageModelConfig]):
    """A loaded language model."""

    def read(self, text: str, edits: Edits = _NO_EDITS) -> Translation:
        """Record what the model computes when it reads a text, with changes for this call.

        Returns:
            A translation without a source: target_tokens is what was read, the end of the line before it first;
            predicted_tokens are the words that followed and, last, the most probable next one. attention, mask and
            positional have the kind "decoder_self" and the side "target".

        Raises:
            ValueError: for a text that is too long, or edits that do not fit the model and the text.
        """
        return self._record(self.ids(text), edits)

    def _ids_read(self, result: Translation) -> list[int]:
        return self.ids("")[:1] + result.predicted_ids[:-1]

    def _read_again(self, result: Translation, edits: Edits) -> Translation:
        return self._record(self._ids_read(result), edits)

    @torch.inference_mode()
    def _record(self, ids: list[int], edits: Edits) -> Translation:
        if edits:
            edits.check(self.config, 0, len(ids))
        with edits.applied(self.model, "decoder"), record() as trace:
            logits = self.model(torch.tensor([ids]))  # (1, T, V)
        following = [*ids[1:], int(logits[0, -1].argmax())]
        return self._result(
            ids,
            following,
            logits,
            trace,
            source="",
            text=self.tokenizer.decode(ids[1:]),
            source_tokens=[],
            finished=True,
            search=None,
        )

    @torch.inference_mode()
    def distribution(self, text: str, unknown: bool = True, **chance: Unpack[Chance]) -> np.ndarray:
        """float32 (V,), summing to 1: how probable every word is as the next one, by the tokenizer's ids.

        The text may be empty; chance is as for `model.decoding.sampling.restrict`. Without `unknown` the probability of
        <unk> is 0. A ValueError if the text is too long, or a value is not allowed.
        """
        logits = self.model.step(*self._begun(self.ids(text)))[0].clone()  # (V,)
        if not unknown:
            logits[self.tokenizer.unk_id] = -torch.inf
        return restrict(logits, **chance).numpy()

    def write(self, text: str, words: int = 30, seed: int = 0, unknown: bool = False, **chance: Unpack[Chance]) -> str:
        """The text (perhaps empty) and `words` drawn after it; one seed, one result. See `distribution`."""
        if not 1 <= words <= 500:
            raise ValueError(f"words must be from 1 to 500, got {words!r}")
        ids = self.ids(text)
        never = () if unknown else (self.tokenizer.unk_id,)
        sampled_ids = sample(self.model, *self._begun(ids), length=words, never=never, seed=seed, **chance)[0]
        return self.tokenizer.decode([*ids[1:], *sampled_ids])

    def _begun(self, ids: list[int]) -> tuple[TextState, Tensor]:
        return self.model.start(torch.tensor([ids[:-1]], dtype=torch.long)), torch.tensor(ids[-1:])

    def ids(self, text: str) -> list[int]:
        """The ids of a text, the end of the line before it first; a ValueError if there are too many."""
        check_characters(text, MAX_READ)
        text = "\n".join(source_text(line, self.tokenizer) for line in text.split("\n"))
        return check_tokens([self.tokenizer.eos_id, *self.tokenizer.encode(text)], self.config.max_length)


def load_translator(name: str = DEFAULT_CHECKPOINT) -> Translator | Writer:
    """Load a checkpoint by its name in `checkpoints_folder()`, or by path; of a language model a Writer.

    Raises:
        ValueError: if there is no such checkpoint, or something in it is wrong.
    """
    folder = checkpoints_folder() / name if name in available() else Path(name)
    if not (folder / CONFIG).is_file():
        names = ", ".join(available()) or "none"
        raise Problem("there is no checkpoint {name!r}; there are {known}", name=name, known=names)
    loaded = load(folder)
    return Writer(loaded) if isinstance(loaded.model, LanguageModel) else Translator(loaded)
