"""What a run trains on and for: its data, tokenizer, batches, validation and loss, for every kind of model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from model.architectures import Config
from model.config import LanguageModelConfig
from model.text.pieces import PieceTokenizers
from model.text.subwords import Tokenizer
from model.text.words import TextWords, WordTokenizer, WordTokenizers, read_tokenizer
from model.training.config import RunConfig
from model.training.data.batching import TrainingStream
from model.training.data.corpora import TEXTS, Pair, find, leave_out, load_corpus, load_text, parse_mix
from model.training.data.windows import TextValidation, WindowStream
from model.training.evaluation import Validation, spread
from model.training.objectives import NextWordLoss, TranslationLoss
from model.training.processes import Processes


class TrainingBatch(Protocol):
    """A batch of any kind."""

    src: Tensor
    tgt: Tensor
    n_tokens: int
    n_targets: int


class Stream(Protocol):
    """Where batches come from."""

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[TrainingBatch]:
        """The batches of one pass; the same number and weights give the same batches."""


class Measure(Protocol):
    """What validation is."""

    def run(self, model: nn.Module) -> dict[str, float]:
        """Scores by name, for the history."""


@dataclass(frozen=True)
class Task:
    """What a run trains on and for.

    Attributes:
        config: the model's, its vocabulary as large as the tokenizer's.
        tokenizer: cuts the text.
        stream: the batches.
        validation: scores a model in evaluation mode.
        objective: model to a module that turns a batch into its mean loss per token.
        about: what the card says of it.
    """

    config: Config
    tokenizer: Any
    stream: Stream
    validation: Measure
    objective: Callable[[nn.Module], nn.Module]
    about: dict[str, Any]


def prepare(run: RunConfig, data_dir: Path, tokenizer: Any, processes: Processes) -> Task:
    """Read the data of a run.

    Args:
        run: model and training configuration.
        data_dir: the folder with the corpora.
        tokenizer: what cuts the text; None makes one from the data.
        processes: those that train together, which must agree on it.

    Raises:
        ValueError: if data are missing, or the tokenizer is of another kind than the run asks for.
    """
    build = _language_model if isinstance(run.model, LanguageModelConfig) else _translation
    return build(run, data_dir, tokenizer, processes)


def _language_model(run: RunConfig, data_dir: Path, tokenizer: TextWords | None, processes: Processes) -> Task:
    config = run.training
    lines = load_text(data_dir, config.data, "train")
    if tokenizer is None:
        tokenizer = TextWords.train(lines)
    if not isinstance(tokenizer, TextWords):
        raise ValueError("a language model needs the words of a text: its tokenizer is of another kind")
    valid = load_text(data_dir, config.data, "valid") if config.validation_pairs else []
    return Task(
        config=run.model.with_vocabularies(len(tokenizer), len(tokenizer)),
        tokenizer=tokenizer,
        stream=WindowStream(
            torch.tensor(tokenizer.line_ids(lines)), config.columns, config.window, config.seed, config.shuffle_windows
        ),
        validation=TextValidation(
            config.data, torch.tensor(tokenizer.line_ids(valid), dtype=torch.long), tokenizer.eos_id
        ),
        objective=NextWordLoss,
        about={
            "task": "language model en",
            "data": {config.data: {"weight": 1.0, "licence": TEXTS[config.data].licence}},
        },
    )


def _translation(
    run: RunConfig, data_dir: Path, tokenizer: Tokenizer | WordTokenizers | None, processes: Processes
) -> Task:
    config = run.training
    languages = (config.source, config.target)
    mix = parse_mix(config.data)
    pairs = {name: leave_out(load_corpus(data_dir, name, "train", languages), config.held_out) for name in mix}
    if tokenizer is None:
        # As many of each corpus as a pass sees, each pair once at most.
        shares = ((pairs[name], round(len(pairs[name]) * min(weight, 1.0))) for name, weight in mix.items())
        texts = [pair for share in shares for pair in spread(*share)]
        trained = _learn(texts, run).to_json() if processes.is_first else ""
        tokenizer = read_tokenizer(processes.agree(trained))
    if tokenizer.lowercase != config.lowercase:
        ours, its = config.lowercase, tokenizer.lowercase
        raise ValueError(f"lowercase is {ours} for the run, but {its} for its tokenizer")
    if isinstance(tokenizer, PieceTokenizers):
        raise ValueError("the tokenizer of an imported translator cannot be trained with")
    if isinstance(tokenizer, WordTokenizers) != (config.min_count > 0):
        its = "words" if isinstance(tokenizer, WordTokenizers) else "subwords"
        raise ValueError(f"min_count is {config.min_count} for the run, but its tokenizer is one of {its}")
    return Task(
        config=run.model.with_vocabularies(len(tokenizer.source), len(tokenizer.target)),
        tokenizer=tokenizer,
        stream=TrainingStream(
            [(pairs[name], weight) for name, weight in mix.items()],
            tokenizer,
            config.noise,
            config.batch_tokens,
            config.max_length,
            config.seed,
            config.batch_pairs,
        ),
        validation=Validation(
            {name: valid for name in mix if (valid := load_corpus(data_dir, name, "valid", languages))},
            tokenizer,
            config.validation_pairs,
            config.lowercase,
        ),
        objective=lambda model: TranslationLoss(model, config),
        about={
            "task": f"translation {config.source}-{config.target}",
            "source": config.source,
            "target": config.target,
            "data": {
                name: {"weight": weight, "licence": find(name).licence, "group": find(name).group}
                for name, weight in mix.items()
            },
        },
    )


def _learn(pairs: Sequence[Pair], run: RunConfig) -> Tokenizer | WordTokenizers:
    """A tokenizer made from the training pairs."""
    config = run.training
    if config.min_count == 0:
        texts = (text for pair in pairs for text in pair)
        return Tokenizer.train(texts, run.model.vocab_size, lowercase=config.lowercase)
    sides = zip((config.source, config.target), zip(*pairs))
    return WordTokenizers(
        *(WordTokenizer.train(texts, language, config.min_count, config.lowercase) for language, texts in sides)
    )
