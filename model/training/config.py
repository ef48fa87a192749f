"""How a model is trained, as checked values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from model import architectures
from model.architectures import Config
from model.config import JsonConfig, LanguageModelConfig, TransformerConfig
from model.training import schedules
from model.training.data.batching import Noise
from model.training.data.corpora import parse_mix

LANGUAGES = ("en", "de")
OPTIMIZERS = ("adam", "muon", "sgd")
PRECISIONS = ("auto", "bfloat16", "float32")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(JsonConfig):
    """Data, batches, optimiser and validation of one training run.

    Raises:
        ValueError: if a value is not allowed; the message names the field and the value.
    """

    source: str = "en"
    target: str = "de"
    data: str = "tatoeba + 2*multi30k"  # what a pass consists of
    final_data: str = ""  # what a pass consists of during the final decay, from the same corpora; as before when empty
    steps: int = 10_000
    batch_tokens: int = 4096  # ids in a batch, padding included, source and target
    batch_pairs: int = 0  # pairs in a batch, at most; 0: as many as batch_tokens allows
    accumulate: int = 1  # batches an update in each process, as if they were one
    min_count: int = 0  # 0: subwords; else a vocabulary of the words of each side that are seen so often
    lowercase: bool = False  # both sides, in training and, by the tokenizer, ever after
    columns: int = 20  # of a text for a language model: rows of a batch
    window: int = 35  # tokens of a row
    shuffle_windows: bool = False  # in another order every pass, from another beginning
    max_length: int = 100  # longer pairs are left out, in tokens per side
    schedule: str = "noam"  # a name of model.training.schedules.NAMES, each explained there
    learning_rate: float = 1.0  # the peak; for "noam" the factor of the curve
    warmup: int = 2000  # steps until the peak, for every schedule
    # of the final decay, for "warmup_stable_decay"; between two drops, for "step_decay"
    decay: int = 0
    # or "sgd"; "muon" for the matrices of the layers, with Adam for embeddings, output, norms and biases
    optimizer: str = "adam"
    adam_share: float = 1.0  # beside Muon, of its learning rate
    betas: tuple[float, ...] = (0.9, 0.98)  # of Adam, the paper's
    adam_eps: float = 1e-9
    teacher_forcing: float = 1.0  # how often a recurrent decoder reads the target's token and not its own
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    # of products of matrices (weights stay float32); "auto": bfloat16 where the processor has instructions for it
    precision: str = "auto"
    bpe_dropout: float = 0.0
    bpe_dropout_target: float = 0.0
    typo_rate: float = 0.0
    join_rate: float = 0.0
    recase_rate: float = 0.0
    clause_rate: float = 0.0
    average_last: int = 5  # how many snapshots the shipped weights are the mean of
    average_every: int = 200  # steps between snapshots
    validate_every: int = 1000
    validation_pairs: int = 400  # in all, from the validation sets of the mix
    seed: int = 1
    held_out: tuple[str, ...] = ()  # pairs with such a side are never trained on, compared without case and punctuation

    def __post_init__(self) -> None:
        if self.final_data and not (set(parse_mix(self.final_data)) <= set(parse_mix(self.data)) and self.decay):
            raise ValueError(
                f"final_data is a mix of corpora of data ({self.data}) for the steps of the decay, "
                f"got {self.final_data!r} and decay {self.decay}"
            )
        parse_mix(self.data)
        schedules.by_name(self.schedule, d_model=2, peak=1, warmup=max(self.warmup, 1), steps=1, decay=0)
        if {self.source, self.target} != set(LANGUAGES):
            raise ValueError(f"source and target must be en and de in some order, got {self.source} and {self.target}")
        at_least_one = ("steps", "batch_tokens", "accumulate", "max_length", "columns", "window")
        for name in (*at_least_one, "average_last", "average_every", "validate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"optimizer must be one of {', '.join(OPTIMIZERS)}, got {self.optimizer!r}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")
        if len(self.betas) != 2 or not all(type(beta) in (int, float) and 0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas must be two numbers in [0, 1), got {self.betas}")
        if not 0 <= self.teacher_forcing <= 1:
            raise ValueError(f"teacher_forcing must be in [0, 1], got {self.teacher_forcing}")
        rates = ("typo_rate", "join_rate", "recase_rate", "clause_rate")
        for name in ("label_smoothing", "bpe_dropout", "bpe_dropout_target", *rates):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        for name in ("learning_rate", "clip_norm", "adam_eps", "adam_share"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.lowercase and self.recase_rate:
            raise ValueError(f"recase_rate must be 0 where text is lowercased, got {self.recase_rate}")
        for name in ("warmup", "decay", "validation_pairs", "batch_pairs", "min_count"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")

    @property
    def noise(self) -> Noise:
        """What training changes about the text."""
        return Noise(**{field.name: getattr(self, field.name) for field in fields(Noise)})


@dataclass(frozen=True, kw_only=True)
class RunConfig(JsonConfig):
    """A model and how to train it: what a preset is, and what CONFIG.json holds.

    `model.vocab_size` is the size that a tokenizer of subwords is trained to; those of words become what is found.
    """

    model: Config
    training: TrainingConfig

    def __post_init__(self) -> None:
        words = self.training.min_count > 0
        if words != (type(self.model) is not TransformerConfig):
            kind = architectures.name_of(self.model)
            needs = "1 or more (words)" if words is False else "0 (subwords)"
            raise ValueError(f"min_count must be {needs} for the architecture {kind!r}, got {self.training.min_count}")
        if isinstance(self.model, LanguageModelConfig):
            if self.training.window > self.model.max_length:
                raise ValueError(
                    f"training.window ({self.training.window}) must be at most model.max_length "
                    f"({self.model.max_length})"
                )
            return
        if words and self.training.bpe_dropout + self.training.bpe_dropout_target:
            raise ValueError("words have no merges: bpe_dropout and bpe_dropout_target must be 0 with min_count")
        # One more for the start or the end token.
        if self.training.max_length >= self.model.max_length:
            raise ValueError(
                f"training.max_length ({self.training.max_length}) must be below model.max_length "
                f"({self.model.max_length})"
            )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RunConfig:
        """Read {"model": {...}, "training": {...}}.

        Raises:
            ValueError: if a key is unknown or missing, or a value is not allowed.
        """
        unknown = sorted(set(values) - {"model", "training"})
        if unknown or "model" not in values:
            problem = f"unknown key {unknown[0]!r}" if unknown else "the key 'model' is missing"
            raise ValueError(f"a training configuration has the keys 'model' and 'training': {problem}")
        return cls(
            model=architectures.from_dict(values["model"], default="transformer"),
            training=TrainingConfig.from_dict(values.get("training", {})),
        )

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` reads."""
        return {"model": architectures.to_dict(self.model), "training": self.training.to_dict()}
