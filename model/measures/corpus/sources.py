"""Texts as a model reads them: their tokens, and a pass over a batch of them; for every kind of model the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from model import masks
from model.adapters.readers.inputs.batches import pad_of, together
from model.adapters.readers.layout import DECODER, ENCODER_DECODER
from model.gru import GruConfig
from model.interventions.edits import layer_counts
from model.results.recording import KINDS
from model.results.translation import MODULES, module_of
from model.running.translator import Translator, Writer
from model.text.cleaning import source_text, tidy
from model.text.special import BOS_ID, EOS_ID, pad_ids

MOST_TOKENS = 96  # of a text that a decoder alone reads; of a longer text the first words
SEVERAL_SIZES = "an index is of models whose layers all have as many heads"


@dataclass(frozen=True)
class Row:
    """The ids of one text: what an encoder read, what a decoder read, and what each step of a translator wrote."""

    source: list[int]
    target: list[int]
    predicted: list[int]

    @property
    def length(self) -> int:
        """The longer side, in tokens."""
        return max(len(self.source), len(self.target))


class Source:
    """What reads the texts of a corpus.

    Args:
        model: a `Translator`, a `Writer` or a reader of a model of transformers.

    `layers` has, by kind of attention, the numbers of the layers, `n_heads` how many heads each has.
    """

    layers: dict[str, list[int]]
    n_heads: dict[str, int]

    def cut(self, text: Any) -> Any:
        """The part of a text that is read: the whole one unless a subclass says so."""
        return text

    def row(self, text: Any) -> Row:
        """The ids of a text; a ValueError if the model cannot read it."""
        raise NotImplementedError

    def names(self, side: str, ids: Sequence[int]) -> list[str]:
        """The tokens of ids of the "source" or "target"."""
        raise NotImplementedError

    def read(self, rows: Sequence[Row]) -> None:
        """Have the model read a batch."""
        raise NotImplementedError

    def output_matrix(self, kind: str, place: int) -> Tensor:
        """How the heads of a layer, the place-th of `layers[kind]`, write: W_O as (H, K, D), float32."""
        raise NotImplementedError

    def address(self, kind: str, place: int) -> str:
        """The address of the attention of a layer, "decoder.layers.0.cross_attention"."""
        return module_of(kind, self.layers[kind][place])


class _Ours(Source):
    """A checkpoint of this project."""

    def __init__(self, system: Translator | Writer) -> None:
        config = system.config
        assert not isinstance(config, GruConfig)  # of which a translator says so before
        counts = {kind: n for kind, n in layer_counts(config).items() if n}
        self.layers = {kind: list(range(counts[kind])) for kind in KINDS if kind in counts}
        self.n_heads = dict.fromkeys(self.layers, config.n_heads)
        self.system = system

    def output_matrix(self, kind: str, place: int) -> Tensor:
        """See `Source`."""
        stack, name = MODULES[kind]
        attention = getattr(getattr(self.system.model, stack).layers[place], name)
        weight = attention.output_projection.weight.detach().float()  # (D, H * K)
        return weight.T.reshape(attention.n_heads, -1, len(weight))


class TranslatorSource(_Ours):
    """A translator that reads sources and their given translations (teacher forcing); a text is such a pair."""

    def __init__(self, translator: Translator) -> None:
        self._model = translator.transformer  # a ValueError for a recurrent network
        super().__init__(translator)
        self._translator = translator

    def row(self, text: tuple[str, str]) -> Row:
        """See `Source`."""
        source, target = text
        translator = self._translator
        output = [*translator.tokenizer.target.encode(tidy(target)), EOS_ID]
        if len(output) > translator.config.max_length:
            raise ValueError("the translation is too long")
        return Row(translator.source_ids(source), [BOS_ID, *output[:-1]], output)

    def names(self, side: str, ids: Sequence[int]) -> list[str]:
        """See `Source`."""
        tokenizer = self._translator.tokenizer
        return (tokenizer.source if side == "source" else tokenizer.target).tokens(ids)

    def read(self, rows: Sequence[Row]) -> None:
        """See `Source`; logits over the vocabulary, which nobody needs, are not computed."""
        state = self._model.start(pad_ids([row.source for row in rows]))
        target = pad_ids([row.target for row in rows])
        self._model.decoder(target, masks.decoder_mask(target), state)


class WriterSource(_Ours):
    """A language model of this project."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self._writer = writer

    def cut(self, text: str) -> str:
        """See `Source`."""
        tokenizer = self._writer.tokenizer
        return first_words(text, lambda part: 1 + len(tokenizer.encode(source_text(part, tokenizer))))

    def row(self, text: str) -> Row:
        """See `Source`."""
        return Row([], self._writer.ids(text), [])

    def names(self, side: str, ids: Sequence[int]) -> list[str]:
        """See `Source`."""
        return self._writer.tokenizer.tokens(ids)

    def read(self, rows: Sequence[Row]) -> None:
        """See `Source`."""
        ids = pad_ids([row.target for row in rows])
        self._writer.model.decoder(ids, masks.causal_mask(ids.size(1)))


class ReaderSource(Source):
    """A model of transformers of one side: a decoder or an encoder."""

    def __init__(self, reader: Any) -> None:
        config = reader.config
        if config.read_only:
            raise ValueError(config.read_only)
        if config.task == ENCODER_DECODER or "attention_mask" not in reader.accepted_inputs:
            raise ValueError("an index is of checkpoints, and of decoders and encoders of transformers that read texts")
        [kind] = config.kinds
        heads = {layer.n_heads for layer in config.layers(kind)}
        if len(heads) > 1:
            raise ValueError(f"{SEVERAL_SIZES}; this one has {sorted(heads)}")
        self.reader = reader
        self.layers = {kind: [layer.layer for layer in config.layers(kind)]}
        self.n_heads = {kind: heads.pop()}

    def cut(self, text: str) -> str:
        """See `Source`; an encoder reads whole texts only."""
        if self.reader.config.task != DECODER:
            return text
        return first_words(text, lambda part: self.reader.encode(part)["input_ids"].size(1))

    def row(self, text: str) -> Row:
        """See `Source`."""
        ids = self.reader.encode(text)["input_ids"][0].tolist()
        return Row([], ids, []) if self.reader.config.task == DECODER else Row(ids, [], [])

    def names(self, side: str, ids: Sequence[int]) -> list[str]:
        """See `Source`."""
        return self.reader.words(ids)

    def read(self, rows: Sequence[Row]) -> None:
        """See `Source`."""
        pad = pad_of(self.reader.model, self.reader.tokenizer)
        ids = [torch.tensor([row.source or row.target]) for row in rows]
        inputs = together([{"input_ids": row} for row in ids], pad)
        options = {"logits_to_keep": 1} if "logits_to_keep" in self.reader.accepted_inputs else {}
        self.reader.forward(inputs, **options)

    def output_matrix(self, kind: str, place: int) -> Tensor:
        """See `Source`; what the projection does to each dimension of the heads, whatever kind of module it is."""
        attention = self.reader.layout.attentions[place]
        if attention.projection is None:
            raise ValueError("what the heads of this model write is not known: no output projection was found")
        return linear_part(attention.projection, attention.layer.n_heads, self.reader.model.device)


def first_words(text: str, count: Callable[[str], int]) -> str:
    """As many of the first words of a text as have MOST_TOKENS tokens by `count`; "" if the first one has more."""

    def fits(part: str) -> bool:
        try:
            return count(part) <= MOST_TOKENS
        except ValueError:  # longer than the model reads
            return False

    if fits(text):
        return text
    words = text.split(" ")
    low, high = 0, min(len(words), MOST_TOKENS + 1)  # the first `low` words fit, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(" ".join(words[:middle])) else (low, middle)
    return " ".join(words[:low])


@torch.inference_mode()
def linear_part(projection: nn.Module, n_heads: int, device: Any) -> Tensor:
    """The matrix (H, K, D) by which a module, linear but for a bias, projects the outputs of heads, float32."""
    weight = next(projection.parameters())
    width = getattr(projection, "in_features", None) or getattr(projection, "nx", None) or weight.size(0)
    basis = torch.eye(width, device=device, dtype=weight.dtype)
    matrix = projection(basis[None]) - projection(torch.zeros_like(basis[:1])[None])  # (1, H * K, D)
    return matrix[0].float().cpu().reshape(n_heads, -1, matrix.size(-1))


def source_of(model: Any) -> Source:
    """What reads texts with a model; a ValueError says of which models no index can be made."""
    if isinstance(model, Translator):
        return TranslatorSource(model)
    return WriterSource(model) if isinstance(model, Writer) else ReaderSource(model)
