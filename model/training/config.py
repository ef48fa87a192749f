"""How a model is trained, as checked values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.config import (
    Amount,
    Chance,
    Config,
    Count,
    JsonConfig,
    LanguageModelConfig,
    Limit,
    Positive,
    Share,
    TransformerConfig,
    one_of,
    read_model,
)
from model.text.words import LANGUAGES
from model.training import schedules
from model.training.data.corpora import parse_mix


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(JsonConfig):
    """Data, batches, schedule, optimiser and noise of a run; a ValueError names a value that is not allowed."""

    source: str = "en"
    target: str = "de"
    data: str = "tatoeba + 2*multi30k"  # what a pass consists of
    final_data: str = ""  # the same during the final decay, from the same corpora; as before when empty
    steps: Count = 10_000
    batch_tokens: Count = 4096  # ids in a batch, padding included, source and target
    batch_pairs: Amount = 0  # pairs in a batch, at most; 0: as many as batch_tokens allows
    accumulate: Count = 1  # batches per update in each process, as if they were one
    min_count: Amount = 0  # 0: subwords; else the words of each side that are seen so often
    lowercase: bool = False  # both sides, by the tokenizer
    as_meant: bool = True  # typographic signs of the source are read as plain ones; model/text/cleaning.py
    columns: Count = 20  # of a text for a language model: rows of a batch
    window: Count = 35  # tokens of a row
    shuffle_windows: bool = False  # in another order every pass, from another beginning
    max_length: Count = 100  # longer pairs are left out, in tokens per side
    schedule: str = one_of(*schedules.NAMES)  # see model.training.schedules
    learning_rate: Positive = 1.0  # the peak; for "noam" the factor of the curve
    warmup: Amount = 2000  # steps until the peak, for every schedule
    decay: Amount = 0  # steps of the final decay, for "warmup_stable_decay"; between two drops, for "step_decay"
    optimizer: str = one_of("adam", "muon", "sgd")  # Muon for the matrices of the layers, with Adam for the rest
    adam_share: Positive = 1.0  # beside Muon, of its learning rate
    betas: tuple[float, ...] = (0.9, 0.98)  # of Adam, the paper's
    adam_eps: Positive = 1e-9
    teacher_forcing: Chance = 1.0  # how often a recurrent decoder reads the target's token and not its own
    label_smoothing: Share = 0.1
    clip_norm: Positive = 1.0
    weight_decay: Limit = 0.0  # per step, times the learning rate, of all matrices but not of gains and biases
    # of products of matrices (weights stay float32); "auto": bfloat16 where the device has instructions for it
    precision: str = one_of("auto", "bfloat16", "float32")
    # What is changed about the text, each with a probability.
    bpe_dropout: Share = 0.0  # of leaving out a merge of a source word
    bpe_dropout_target: Share = 0.0
    typo_rate: Share = 0.0  # of a typing error in a source word
    join_rate: Share = 0.0  # of joining a pair with the next
    recase_rate: Share = 0.0  # of the other case for a source word's first letter
    clause_rate: Share = 0.0  # of giving a main clause another pair's subordinate clause
    copy_rate: Share = 0.0  # of putting a span to copy on both sides: a name, an address, emoji, markup, capitals
    average_last: Count = 5  # how many snapshots the shipped weights are the mean of
    average_every: Count = 200  # steps between snapshots
    validate_every: Count = 1000
    validation_pairs: Amount = 400  # in all, from the validation sets of the mix
    seed: int = 1
    held_out: tuple[str, ...] = ()  # pairs with such a side are never trained on, compared without case and punctuation

    def __post_init__(self) -> None:
        super().__post_init__()
        corpora = set(parse_mix(self.data))
        if self.final_data and not (set(parse_mix(self.final_data)) <= corpora and self.decay):
            raise ValueError(
                f"final_data is a mix of corpora of data ({self.data}) for the steps of the decay, "
                f"got {self.final_data!r} and decay {self.decay}"
            )
        if {self.source, self.target} != set(LANGUAGES):
            raise ValueError(f"source and target must be en and de in some order, got {self.source} and {self.target}")
        if len(self.betas) != 2 or not all(type(beta) in (int, float) and 0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas must be two numbers in [0, 1), got {self.betas}")
        if self.weight_decay and self.optimizer == "sgd":
            raise ValueError(f"weight_decay is for the optimizers adam and muon, got {self.weight_decay} with sgd")
        if self.lowercase and self.recase_rate:
            raise ValueError(f"recase_rate must be 0 where text is lowercased, got {self.recase_rate}")

    def rates(self, d_model: int) -> schedules.Schedule:
        """The learning rate of every step, for a model of this width."""
        return schedules.by_name(
            self.schedule,
            d_model=d_model,
            peak=self.learning_rate,
            warmup=self.warmup,
            steps=self.steps,
            decay=self.decay,
        )


@dataclass(frozen=True, kw_only=True)
class RunConfig(JsonConfig):
    """A model and how to train it: what a preset is, and what CONFIG.json holds."""

    model: Config  # its vocab_size is what a tokenizer of subwords is trained to; those of words become what is found
    training: TrainingConfig

    def __post_init__(self) -> None:
        model, training = self.model, self.training
        words = training.min_count > 0
        if words != (type(model) is not TransformerConfig):
            needs = f"{'0 (subwords)' if words else '1 or more (words)'} for the architecture {model.architecture!r}"
            raise ValueError(f"min_count must be {needs}, got {training.min_count}")
        if words and training.bpe_dropout + training.bpe_dropout_target:
            raise ValueError("words have no merges: bpe_dropout and bpe_dropout_target must be 0 with min_count")
        if words and training.copy_rate:
            raise ValueError("words outside a list cannot be copied: copy_rate must be 0 with min_count")
        # Of a pair one more for the start or the end token.
        name, room = ("window", 1) if isinstance(model, LanguageModelConfig) else ("max_length", 0)
        if (length := getattr(training, name)) >= model.max_length + room:
            limit = f"{'at most' if room else 'below'} model.max_length ({model.max_length})"
            raise ValueError(f"training.{name} ({length}) must be {limit}")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RunConfig:
        """Read the content of a CONFIG.json; a ValueError names a key that is unknown or missing, or a wrong value."""
        unknown = sorted(set(values) - {"model", "training"})
        if unknown or "model" not in values:
            problem = f"unknown key {unknown[0]!r}" if unknown else "the key 'model' is missing"
            raise ValueError(f"a training configuration has the keys 'model' and 'training': {problem}")
        model = read_model(values["model"], default="transformer")
        return cls(model=model, training=TrainingConfig.from_dict(values.get("training", {})))

    def to_dict(self) -> dict[str, Any]:
        """The content of a CONFIG.json, which `from_dict` reads."""
        return {"model": self.model.to_dict(), "training": self.training.to_dict()}
