"""What a model is made of, as checked values that are saved beside its weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

DEFAULT_CHECKPOINT = "en-de"  # where none is named
NORM_POSITIONS = ("pre", "post")
ACTIVATIONS = ("relu", "gelu", "swish")
EMBEDDING_INITS = ("normal", "xavier")
CANDIDATES = ("library", "cho")
LANGUAGE_MODEL_INITS = ("library", "normal")
# A configuration that asks for more than this is refused before anything is allocated.
MAX_NUMBERS = 500_000_000
MAX_LAYERS = 100
MAX_TABLE = 20_000_000  # numbers of a table of positions, which is computed in float64: a second and 0.3 GB


class JsonConfig:
    """Reads and writes a frozen dataclass as a JSON object; unknown keys are errors."""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build the configuration from the keys and values of a JSON object.

        Args:
            values: a JSON object; keys left out take their defaults.

        Returns:
            The checked configuration.

        Raises:
            ValueError: if a key is unknown or missing, or a value is not allowed.
        """
        if not isinstance(values, dict):
            raise ValueError(f"{cls.__name__}: expected a JSON object, got {type(values).__name__}")
        known = {field.name: field for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"{cls.__name__}: unknown key {unknown[0]!r}; allowed are {', '.join(known)}")
        required = [name for name, field in known.items() if _has_no_default(field)]
        missing = [name for name in required if name not in values]
        if missing:
            raise ValueError(f"{cls.__name__}: the key {missing[0]!r} is missing")
        for name, value in values.items():
            _check_type(cls.__name__, known[name], value)
        return cls(**{name: _from_json(known[name], value) for name, value in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as a JSON object."""
        return dataclasses.asdict(self)


def _has_no_default(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _check_type(owner: str, field: dataclasses.Field, value: Any) -> None:
    """Refuse a JSON value whose type is not the field's (an int may stand for a float)."""
    allowed = {"int": int, "float": (int, float), "str": str, "bool": bool, "tuple": (list, tuple), "dict": dict}
    kind = str(field.type).split("[")[0]
    is_bool_for_number = isinstance(value, bool) and kind in ("int", "float")
    is_wrong = kind in allowed and (not isinstance(value, allowed[kind]) or is_bool_for_number)
    if not is_wrong and field.type == "tuple[str, ...]" and not all(isinstance(one, str) for one in value):
        is_wrong, kind = True, field.type
    if is_wrong:
        raise ValueError(f"{owner}: {field.name} must be of type {kind}, got {value!r}")


def _from_json(field: dataclasses.Field, value: Any) -> Any:
    return tuple(value) if str(field.type).startswith("tuple") else value


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(JsonConfig):
    """The sizes and choices of one encoder-decoder Transformer (Vaswani et al. 2017).

    Raises:
        ValueError: if a value is not allowed; the message names the field and the value.
    """

    vocab_size: int
    d_model: int = 256
    n_heads: int = 8
    n_encoder_layers: int = 3
    n_decoder_layers: int = 3
    d_ff: int = 1024
    dropout: float = 0.1
    norm: str = "pre"  # "pre": x + f(norm(x)); "post", the paper's: norm(x + f(x))
    final_norm: bool = True  # a norm after the last layer; the paper and Marian have none
    norm_eps: float = 1e-5
    attention_bias: bool = True  # the paper's projections have none
    activation: str = "relu"
    positional: str = "sinusoidal"  # a name of model.positional.TABLES
    max_length: int = 512  # positions in the table, in tokens
    scale_embedding: bool = True  # embedding * sqrt(d_model), section 3.4 of the paper
    tie_embeddings: bool = True  # one table for source, target and output
    output_bias: bool = False
    embedding_init: str = "normal"  # N(0, 1/d_model), so that scaled ones have variance 1; or "xavier", uniform

    def __post_init__(self) -> None:
        _check_values(self, embedding_init=EMBEDDING_INITS)
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.positional != "none" and self.d_model % 2:
            raise ValueError(f"d_model must be even for {self.positional} positions, got {self.d_model}")

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """Of source and target, which share theirs."""
        return self.vocab_size, self.vocab_size

    def with_vocabularies(self, source: int, target: int) -> Self:
        """The same with a vocabulary of this size.

        Raises:
            ValueError: if the two sizes differ.
        """
        if source != target:
            raise ValueError(f"a Transformer has one vocabulary for both sides, got {source} and {target} tokens")
        return dataclasses.replace(self, vocab_size=source)

    def check_loadable(self) -> None:
        """Refuse sizes that no machine for this project could hold."""
        if max(self.n_encoder_layers, self.n_decoder_layers) > MAX_LAYERS:
            raise ValueError(f"at most {MAX_LAYERS} encoder or decoder layers can be loaded")
        attention, feed_forward = 4 * self.d_model**2, 2 * self.d_model * self.d_ff
        check_numbers(
            self.vocab_size * self.d_model
            + self.n_encoder_layers * (attention + feed_forward)
            + self.n_decoder_layers * (2 * attention + feed_forward)
        )  # without biases and norms
        check_numbers(self.max_length * self.d_model, MAX_TABLE)


@dataclass(frozen=True, kw_only=True)
class GruConfig(JsonConfig):
    """The sizes and choices of one recurrent encoder-decoder (Cho et al. 2014; Bahdanau et al. 2015).

    Raises:
        ValueError: if a value is not allowed; the message names the field and the value.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_embedding: int = 256
    d_hidden: int = 512
    dropout: float = 0.5
    attention: bool = False  # additive attention over the encoder's states, instead of its last state alone
    bidirectional: bool = False  # the encoder reads from both ends
    candidate: str = "library"  # that of nn.GRU, or "cho", the paper's: see model.gru.GruStep
    run_over_padding: bool = False  # the encoder goes on over padding, as the reference does: padding changes results
    max_length: int = 512  # of source and target, in tokens

    def __post_init__(self) -> None:
        _check_values(self, candidate=CANDIDATES)

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """Of source and target."""
        return self.source_vocab_size, self.target_vocab_size

    def with_vocabularies(self, source: int, target: int) -> Self:
        """The same with vocabularies of these sizes."""
        return dataclasses.replace(self, source_vocab_size=source, target_vocab_size=target)

    def check_loadable(self) -> None:
        """Refuse sizes that no machine for this project could hold."""
        width = self.d_embedding + 3 * self.d_hidden
        check_numbers(sum(self.vocab_sizes) * width + 12 * self.d_hidden * (width + self.d_hidden))


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig(JsonConfig):
    """The sizes and choices of one causal language model.

    Raises:
        ValueError: if a value is not allowed; the message names the field and the value.
    """

    vocab_size: int
    d_model: int = 200
    n_heads: int = 2
    n_layers: int = 2
    d_ff: int = 200
    dropout: float = 0.2
    norm: str = "post"
    final_norm: bool = False
    norm_eps: float = 1e-5
    attention_bias: bool = True
    activation: str = "relu"
    positional: str = "sinusoidal"
    max_length: int = 35  # positions: the longest text that is read at once, in tokens
    scale_embedding: bool = True
    tie_embeddings: bool = False
    output_bias: bool = True
    cutoffs: tuple[int, ...] = ()  # ids at which groups of rarer words begin, for an adaptive softmax; none: a full one
    init: str = "library"  # as nn.TransformerEncoder, tables uniform(-0.1, 0.1); or "normal": as a Transformer here

    def __post_init__(self) -> None:
        _check_values(self, init=LANGUAGE_MODEL_INITS)
        if self.d_model % self.n_heads or self.d_model % 2:
            raise ValueError(f"d_model must be even and a multiple of n_heads ({self.n_heads}), got {self.d_model}")
        if any(type(cutoff) is not int for cutoff in self.cutoffs) or list(self.cutoffs) != sorted(set(self.cutoffs)):
            raise ValueError(f"cutoffs must be whole numbers, each above the one before, got {self.cutoffs}")
        if self.cutoffs and not 0 < self.cutoffs[0] <= self.cutoffs[-1] < self.vocab_size:
            raise ValueError(f"cutoffs must be from 1 to {self.vocab_size - 1}, got {self.cutoffs}")
        if self.cutoffs and self.init == "library":
            raise ValueError('an adaptive softmax (cutoffs) needs init "normal", got "library"')

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """Of what is read and what is written: the same."""
        return self.vocab_size, self.vocab_size

    def with_vocabularies(self, source: int, target: int) -> Self:
        """The same with a vocabulary of this size; cutoffs that lie beyond it go."""
        cutoffs = tuple(cutoff for cutoff in self.cutoffs if cutoff < target)
        return dataclasses.replace(self, vocab_size=target, cutoffs=cutoffs)

    def check_loadable(self) -> None:
        """Refuse sizes that no machine for this project could hold."""
        if self.n_layers > MAX_LAYERS:
            raise ValueError(f"at most {MAX_LAYERS} layers can be loaded")
        layers = self.n_layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_ff)
        check_numbers(2 * self.vocab_size * self.d_model + layers)
        check_numbers(self.max_length * self.d_model, MAX_TABLE)


def check_numbers(count: int, most: int = MAX_NUMBERS) -> None:
    """Refuse a model, or a part of it, of so many numbers; nothing has been allocated yet.

    Raises:
        ValueError: if they are more than `most`.
    """
    if count > most:
        raise ValueError(f"the sizes ask for more than {most:,} numbers")


def _check_values(config: JsonConfig, **choices: tuple[str, ...]) -> None:
    """Refuse what no configuration of a model may have: whole numbers below 1, and what is not among the choices."""
    from model.positional import TABLES

    for field in dataclasses.fields(config):
        if field.type == "int" and getattr(config, field.name) < 1:
            raise ValueError(f"{field.name} must be at least 1, got {getattr(config, field.name)}")
    if not 0 <= config.dropout < 1:
        raise ValueError(f"dropout must be in [0, 1), got {config.dropout}")
    if hasattr(config, "norm"):
        if not 0 < config.norm_eps < 1:
            raise ValueError(f"norm_eps must be above 0 and below 1, got {config.norm_eps}")
        choices |= {"norm": NORM_POSITIONS, "activation": ACTIVATIONS, "positional": tuple(TABLES)}
    for name, allowed in choices.items():
        if getattr(config, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(config, name)!r}")
