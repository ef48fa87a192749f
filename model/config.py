"""Configurations of models: checked values that are saved beside the weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

DEFAULT_CHECKPOINT = "en-de"  # where none is named
NORM_POSITIONS = ("pre", "post")
ADDED_POSITIONS = ("sinusoidal", "sinusoidal_concatenated", "none", "learned")  # to the embeddings
RELATIVE_POSITIONS = ("rotary", "rotary_halves", "alibi", "buckets")  # inside every self-attention
POSITIONS = ADDED_POSITIONS + RELATIVE_POSITIONS
MAX_NUMBERS = 500_000_000
MAX_LAYERS = 100
MAX_TABLE = 20_000_000  # numbers of a table of positions, which is computed in float64: a second and 0.3 GB

# What the annotation of a field says of its numbers: their type, and what they must be, in words and as a test.
Count = Amount = int
Share = Chance = Part = Positive = Seconds = Limit = float
_KINDS: dict[str, tuple[str, str, Callable[[float], bool]]] = {
    "Count": ("int", "at least 1", lambda value: value >= 1),
    "Amount": ("int", "at least 0", lambda value: value >= 0),
    "Share": ("float", "in [0, 1)", lambda value: 0 <= value < 1),
    "Chance": ("float", "in [0, 1]", lambda value: 0 <= value <= 1),
    "Part": ("float", "above 0 and below 1", lambda value: 0 < value < 1),
    "Positive": ("float", "above 0 and finite", lambda value: 0 < value < float("inf")),
    "Limit": ("float", "at least 0 and finite", lambda value: 0 <= value < float("inf")),
    "Seconds": ("float", "at least 0 and finite", lambda value: 0 <= value < float("inf")),
}
# A list, where none of these.
_TYPES: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str, "bool": bool}


def one_of(*names: str, default: str | None = None) -> Any:
    """A field for one of these names; the default is the first unless given."""
    return dataclasses.field(default=default or names[0], metadata={"names": names})


HeadsByLayer = Mapping[str, Mapping[int, int]]


class JsonConfig:
    """A dataclass read from a JSON object and checked by what its fields say; a ValueError names field and value."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]  # every subclass is a dataclass

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            names = field.metadata.get("names")
            if names and value not in names:
                raise ValueError(f"{field.name} must be one of {', '.join(names)}, got {value!r}")
            if kind := _KINDS.get(str(field.type)):
                _, words, allows = kind
                if not allows(value):
                    raise ValueError(f"{field.name} must be {words}, got {value}")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read a JSON object; keys left out take their defaults. A ValueError names what is wrong."""
        values = _as_object(values, cls)
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - set(fields)):
            raise ValueError(f"{cls.__name__}: unknown key {unknown[0]!r}; allowed are {', '.join(fields)}")
        for name, field in fields.items():
            if name in values:
                kind = _KINDS.get(str(field.type), (str(field.type),))[0]
                if not _is_of(values[name], kind):
                    raise ValueError(f"{cls.__name__}: {name} must be of type {kind}, got {values[name]!r}")
            elif field.default is dataclasses.MISSING:
                raise ValueError(f"{cls.__name__}: the key {name!r} is missing")
        return cls(**{name: _without_lists(value) for name, value in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON, which `from_dict` reads."""
        return dataclasses.asdict(self)


def _as_object(values: object, kind: type[JsonConfig]) -> dict[str, Any]:
    """A value read from JSON, if it is an object."""
    if not isinstance(values, dict):
        raise ValueError(f"{kind.__name__}: expected a JSON object, got {type(values).__name__}")
    return cast(dict[str, Any], values)


def _without_lists(value: object) -> object:
    """A value read from JSON as a field holds it: a list as a tuple, so that no field can change."""
    return tuple(cast(Iterable[object], value)) if isinstance(value, list) else value


def _is_of(value: object, kind: str) -> bool:
    if kind == "tuple[str, ...]":
        return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in cast(Iterable[object], value))
    return isinstance(value, _TYPES.get(kind, (list, tuple))) and isinstance(value, bool) <= (kind == "bool")


class ModelConfig(JsonConfig):
    """The base of the configurations of all architectures."""

    architecture: ClassVar[str]  # its name in a checkpoint's config.json and a CONFIG.json

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON, with the architecture, which `read_model` reads."""
        return {"architecture": self.architecture, **super().to_dict()}

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """The sizes of the source and target vocabulary, or of what is read and what is written."""
        raise NotImplementedError

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The heads that can be changed: by kind of attention, of each layer that has it, how many."""
        return {}

    def with_vocabularies(self, source: int, target: int) -> Self:
        """This configuration with vocabularies of these sizes, which are equal where both sides share theirs."""
        raise NotImplementedError

    def check_loadable(self) -> None:
        """Refuse sizes (at most these) that no machine for this project could hold, before anything is allocated."""
        layers, numbers, in_table = self._sizes()
        if layers > MAX_LAYERS:
            raise ValueError(f"at most {MAX_LAYERS} layers can be loaded")
        for count, most in ((numbers, MAX_NUMBERS), (in_table, MAX_TABLE)):
            if count > most:
                raise ValueError(f"the sizes ask for more than {most:,} numbers")

    def _sizes(self) -> tuple[int, int, int]:
        """The number of layers, of numbers in all matrices, and of those in a table of positions."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class StackConfig(ModelConfig):
    """The fields of models with layers like those of Vaswani et al. 2017."""

    vocab_size: Count
    d_model: Count = 256
    n_heads: Count = 8
    d_ff: Count = 1024
    dropout: Share = 0.1
    norm: str = one_of(*NORM_POSITIONS)  # "pre": x + f(norm(x)); "post", the paper's: norm(x + f(x))
    final_norm: bool = True  # a norm after the last layer; the paper and Marian have none
    norm_eps: Part = 1e-5
    norm_type: str = one_of("layer", "rms")  # LayerNorm; or RMSNorm (Zhang and Sennrich 2019): no mean, no bias
    qk_norm: bool = False  # RMSNorm of each head's queries and keys (Henry et al. 2020, as Qwen 3 has it)
    attention_bias: bool = True  # the paper's projections have none
    n_kv_heads: Amount = 0  # of keys and values, each read by a group of query heads (Ainslie et al. 2023); 0: n_heads
    attention_window: Amount = 0  # keys that a query sees, its own the last (Beltagy et al. 2020); 0: all
    attention_sink: bool = False  # a learned score per head that takes weight and gives nothing (gpt-oss)
    score_cap: Limit = 0.0  # cap * tanh(scores / cap), before the mask (Gemma 2); 0: none
    activation: str = one_of("relu", "gelu", "swish")
    gated: bool = False  # (activation(x W) * x V) W_2; with swish: SwiGLU (Shazeer 2020)
    feed_forward_bias: bool = True
    positional: str = one_of(*POSITIONS)  # see model.positional
    rotary_base: Positive = 10_000.0
    max_length: Count = 512  # positions in the table: the longest text that is read at once, in tokens
    scale_embedding: bool = True  # embedding * sqrt(d_model), section 3.4 of the paper
    tie_embeddings: bool = True  # one table for source, target and output
    output_bias: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.positional.startswith("sinusoidal") and self.d_model % 2:
            raise ValueError(f"d_model must be even for {self.positional} positions, got {self.d_model}")
        if self.positional.startswith("rotary") and self.d_head % 2:
            raise ValueError(f"d_model / n_heads must be even for {self.positional} positions, got {self.d_head}")
        if self.n_heads % self.n_groups:
            raise ValueError(f"n_heads ({self.n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads})")

    @property
    def d_head(self) -> int:
        """The width of a head, K of the shapes (B, H, T, K)."""
        return self.d_model // self.n_heads

    @property
    def n_groups(self) -> int:
        """The number of heads of keys and values, G of the shapes (B, G, S, K)."""
        return self.n_kv_heads or self.n_heads

    @property
    def is_of_2017(self) -> bool:
        """Whether its layers have the equations of Vaswani et al. and nothing that came later."""
        return self == dataclasses.replace(
            self,
            norm_type="layer",
            qk_norm=False,
            n_kv_heads=0,
            attention_window=0,
            attention_sink=False,
            score_cap=0.0,
            gated=False,
            positional=self.positional if self.positional in ADDED_POSITIONS else "none",
        )

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """The sizes of the source and target vocabulary."""
        return self.vocab_size, self.vocab_size

    def with_vocabularies(self, source: int, target: int) -> Self:
        """This configuration with vocabularies of these sizes."""
        return dataclasses.replace(self, vocab_size=target)

    def _sizes(self) -> tuple[int, int, int]:
        layers = [number for name, number in vars(self).items() if name.endswith("_layers")]
        layer = 8 * self.d_model**2 + 3 * self.d_model * self.d_ff  # of a decoder, at most, without biases and norms
        in_matrices = 2 * self.vocab_size * self.d_model + sum(layers) * layer
        return max(layers), in_matrices, self.max_length * self.d_model


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(StackConfig):
    """An encoder-decoder Transformer."""

    architecture = "transformer"
    n_encoder_layers: Count = 3
    n_decoder_layers: Count = 3
    embedding_init: str = one_of("normal", "xavier")  # N(0, 1/d_model), so that scaled ones have variance 1; or uniform

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads of every layer, by kind of attention."""
        encoder, decoder = (
            dict.fromkeys(range(count), self.n_heads) for count in (self.n_encoder_layers, self.n_decoder_layers)
        )
        return {"encoder_self": encoder, "decoder_self": decoder, "cross": decoder}


@dataclass(frozen=True, kw_only=True)
class GruConfig(ModelConfig):
    """A recurrent encoder-decoder (Cho et al. 2014; Bahdanau et al. 2015)."""

    architecture = "gru"
    source_vocab_size: Count
    target_vocab_size: Count
    d_embedding: Count = 256
    d_hidden: Count = 512
    dropout: Share = 0.5
    attention: bool = False  # additive attention over the encoder's states, instead of its last state alone
    bidirectional: bool = False  # the encoder reads from both ends
    candidate: str = one_of("library", "cho")  # that of nn.GRU, or the paper's: see model.gru.GruStep
    run_over_padding: bool = False  # the encoder goes on over padding, as the reference does: padding changes results
    max_length: Count = 512  # of source and target, in tokens

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """The sizes of the source and target vocabulary."""
        return self.source_vocab_size, self.target_vocab_size

    def with_vocabularies(self, source: int, target: int) -> Self:
        """This configuration with vocabularies of these sizes."""
        return dataclasses.replace(self, source_vocab_size=source, target_vocab_size=target)

    def _sizes(self) -> tuple[int, int, int]:
        width = self.d_embedding + 3 * self.d_hidden
        return 1, sum(self.vocab_sizes) * width + 12 * self.d_hidden * (width + self.d_hidden), 0


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig(StackConfig):
    """A causal language model."""

    architecture = "language_model"
    n_layers: Count = 2
    d_model: Count = 200
    n_heads: Count = 2
    d_ff: Count = 200
    dropout: Share = 0.2
    norm: str = one_of(*NORM_POSITIONS, default="post")
    final_norm: bool = False
    max_length: Count = 35
    tie_embeddings: bool = False
    output_bias: bool = True
    cutoffs: tuple[int, ...] = ()  # ids at which groups of rarer words begin, for an adaptive softmax; none: a full one
    init: str = one_of("library", "normal")  # as nn.TransformerEncoder, tables uniform(-0.1, 0.1); or as a Transformer

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(type(cutoff) is not int for cutoff in self.cutoffs) or list(self.cutoffs) != sorted(set(self.cutoffs)):
            raise ValueError(f"cutoffs must be whole numbers, each above the one before, got {self.cutoffs}")
        if self.cutoffs and not 0 < self.cutoffs[0] <= self.cutoffs[-1] < self.vocab_size:
            raise ValueError(f"cutoffs must be from 1 to {self.vocab_size - 1}, got {self.cutoffs}")
        if self.cutoffs and self.init == "library":
            raise ValueError('an adaptive softmax (cutoffs) needs init "normal", got "library"')

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads of every layer, by kind of attention."""
        return {"decoder_self": dict.fromkeys(range(self.n_layers), self.n_heads)}

    def with_vocabularies(self, source: int, target: int) -> Self:
        """This configuration with a vocabulary of this size."""
        cutoffs = tuple(cutoff for cutoff in self.cutoffs if cutoff < target)
        return dataclasses.replace(self, vocab_size=target, cutoffs=cutoffs)


Config = TransformerConfig | GruConfig | LanguageModelConfig


def read_model(values: dict[str, Any], default: str | None = None) -> Config:
    """Read the result of `ModelConfig.to_dict`; `default` is the architecture where it names none."""
    kinds = {kind.architecture: kind for kind in (TransformerConfig, GruConfig, LanguageModelConfig)}
    values = _as_object(values, kinds[default or "transformer"])
    name = values.get("architecture", default)
    if name not in list(kinds):
        raise ValueError(f"architecture must be one of {', '.join(map(repr, kinds))}, got {name!r}")
    return kinds[name].from_dict({key: value for key, value in values.items() if key != "architecture"})
