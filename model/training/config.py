"""How a model is trained, as checked values, and the presets that are shipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.config import JsonConfig, TransformerConfig
from model.training import schedules
from model.training.batching import Noise
from model.training.data import parse_mix

LANGUAGES = ("en", "de")


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
    accumulate: int = 1  # batches an update in each process, as if they were one
    max_length: int = 100  # longer pairs are left out, in tokens a side
    schedule: str = "noam"  # a name of model.training.schedules.NAMES, each explained there
    learning_rate: float = 1.0  # the peak; for "noam" the factor of the curve
    warmup: int = 2000  # steps until the peak, for every schedule
    decay: int = 0  # steps of the final decay, for "warmup_stable_decay"; between two drops, for "step_decay"
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    bpe_dropout: float = 0.0
    bpe_dropout_target: float = 0.0
    typo_rate: float = 0.0
    join_rate: float = 0.0
    recase_rate: float = 0.0
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
        at_least_one = ("steps", "batch_tokens", "accumulate", "max_length")
        for name in (*at_least_one, "average_last", "average_every", "validate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("label_smoothing", "bpe_dropout", "bpe_dropout_target", "typo_rate", "join_rate", "recase_rate"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        for name in ("learning_rate", "clip_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("warmup", "decay", "validation_pairs"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")

    @property
    def noise(self) -> Noise:
        """What training changes about the text."""
        return Noise(
            self.bpe_dropout, self.bpe_dropout_target, self.typo_rate, self.join_rate, self.recase_rate
        )


@dataclass(frozen=True, kw_only=True)
class RunConfig(JsonConfig):
    """A model and how to train it: what a preset is, and what CONFIG.json holds.

    `model.vocab_size` is the size that the tokenizer is trained to.
    """

    model: TransformerConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
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
            model=TransformerConfig.from_dict(values["model"]),
            training=TrainingConfig.from_dict(values.get("training", {})),
        )


# What the app and its documentation show must not be remembered from training.
HELD_OUT = (
    "I am happy. Because studying is hard.",
    "I am happy. Because studing is hard.",
    "Because studying is hard.",
    "The animal didn't cross the street because it was too tired.",
    "Where is the train station?",
)

PRESETS = {
    # English to German for the app: small enough for two cores, with noise that makes it robust to careless typing.
    "en-de": RunConfig(
        model=TransformerConfig(vocab_size=8000),
        training=TrainingConfig(
            data="tatoeba + 2*multi30k",
            final_data="tatoeba + 3*multi30k",
            steps=12_000,
            batch_tokens=3200,
            schedule="warmup_stable_decay",
            learning_rate=1e-3,
            warmup=600,
            decay=3_000,
            bpe_dropout=0.05,
            typo_rate=0.01,
            recase_rate=0.03,
            join_rate=0.1,
            average_every=150,
            validate_every=600,
            held_out=HELD_OUT,
        ),
    ),
    # A few minutes on a laptop, to see the whole path work.
    "tiny": RunConfig(
        model=TransformerConfig(
            vocab_size=2000, d_model=64, n_heads=4, n_encoder_layers=2, n_decoder_layers=2, d_ff=128
        ),
        training=TrainingConfig(
            data="multi30k",
            steps=600,
            batch_tokens=4096,
            learning_rate=2.0,
            warmup=200,
            average_every=50,
            validate_every=200,
            validation_pairs=100,
        ),
    ),
}
