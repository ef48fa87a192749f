"""The task of a run: its data, tokenizer, batches, validation and loss, for every kind of model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from model.config import Config, LanguageModelConfig
from model.text.pieces import PieceTokenizers
from model.text.subwords import Tokenizer
from model.text.words import PairTokenizer, TextWords, WordTokenizer, WordTokenizers, read_tokenizer
from model.training.batching import TrainingStream, WindowStream
from model.training.config import RunConfig
from model.training.data.corpora import TEXTS, Pair, find, leave_out, load_corpus, load_text, parse_mix
from model.training.evaluation import TextValidation, Validation, spread
from model.training.losses import NextWordLoss, TranslationLoss
from model.training.processes import Processes


class Scorer(Protocol):
    """The interface of a validation."""

    def run(self, model: Any) -> dict[str, float]:
        """Scores by name of a model in evaluation mode, of the kind that the task trains."""
        ...


@dataclass(frozen=True)
class Task:
    """All that a run needs beside its model and optimiser."""

    config: Config  # its vocabulary as large as the tokenizer's
    tokenizer: Any
    stream: TrainingStream | WindowStream
    validation: Scorer
    objective: Callable[[Any], nn.Module]  # model to a module that turns a batch into its mean loss per token
    about: dict[str, Any]  # for the card


def prepare(run: RunConfig, data_dir: Path, tokenizer: Any, processes: Processes) -> Task:
    """Read the data of a run, and without a tokenizer train one, on which the processes agree.

    A ValueError if data are missing, or the tokenizer is of another kind than the run asks for.
    """
    if isinstance(run.model, LanguageModelConfig):
        return _language_model(run, data_dir, tokenizer)
    config = run.training
    languages = (config.source, config.target)
    mix = parse_mix(config.data)
    load = partial(load_corpus, data_dir, languages=languages, as_meant=config.as_meant)
    pairs = {name: leave_out(load(name, "train"), config.held_out) for name in mix}
    if tokenizer is None:
        # As many of each corpus as a pass sees, each pair once at most.
        sample: list[Pair] = []
        for name, weight in mix.items():
            sample += spread(pairs[name], round(len(pairs[name]) * min(weight, 1.0)))
        text = _train_tokenizer(sample, run).to_json() if processes.is_first else ""
        tokenizer = read_tokenizer(processes.agree(text))
    if isinstance(tokenizer, PieceTokenizers):
        raise ValueError("the tokenizer of an imported translator cannot be trained with")
    for name in ("lowercase", "as_meant"):
        of_run, of_tokenizer = getattr(config, name), getattr(tokenizer, name)
        if of_tokenizer != of_run:
            raise ValueError(f"{name} is {of_run} for the run, but {of_tokenizer} for its tokenizer")
    if isinstance(tokenizer, WordTokenizers) != (config.min_count > 0):
        unit = "words" if isinstance(tokenizer, WordTokenizers) else "subwords"
        raise ValueError(f"min_count is {config.min_count} for the run, but its tokenizer is one of {unit}")
    valid = {name: load(name, "valid") for name in mix}
    valid = {name: corpus for name, corpus in valid.items() if corpus}
    data = {
        name: {"weight": weight, "licence": find(name).licence, "group": find(name).group}
        for name, weight in mix.items()
    }
    return Task(
        config=run.model.with_vocabularies(len(tokenizer.source), len(tokenizer.target)),
        tokenizer=tokenizer,
        stream=TrainingStream([(pairs[name], weight) for name, weight in mix.items()], tokenizer, config),
        validation=Validation(valid, tokenizer, config.validation_pairs, config.lowercase),
        objective=lambda model: TranslationLoss(model, config),
        about={
            "task": f"translation {config.source}-{config.target}",
            "source": config.source,
            "target": config.target,
            "data": data,
        },
    )


def _language_model(run: RunConfig, data_dir: Path, tokenizer: Any) -> Task:
    config = run.training
    lines = load_text(data_dir, config.data, "train")
    tokenizer = tokenizer or TextWords.train(lines)
    if not isinstance(tokenizer, TextWords):
        raise ValueError("a language model needs the words of a text: its tokenizer is of another kind")
    valid = load_text(data_dir, config.data, "valid") if config.validation_pairs else []
    train, valid = (torch.tensor(tokenizer.line_ids(part), dtype=torch.long) for part in (lines, valid))
    _, licence = TEXTS[config.data]
    return Task(
        config=run.model.with_vocabularies(len(tokenizer), len(tokenizer)),
        tokenizer=tokenizer,
        stream=WindowStream(train, config),
        validation=TextValidation(config.data, valid, tokenizer.eos_id),
        objective=NextWordLoss,
        about={"task": "language model en", "data": {config.data: {"weight": 1.0, "licence": licence}}},
    )


def _train_tokenizer(pairs: Sequence[Pair], run: RunConfig) -> PairTokenizer:
    config = run.training
    if config.min_count == 0:
        texts = (text for pair in pairs for text in pair)
        _, size = run.model.vocab_sizes
        return Tokenizer.train(texts, size, lowercase=config.lowercase, as_meant=config.as_meant)
    sides = zip((config.source, config.target), zip(*pairs))
    pair = WordTokenizers(
        *(WordTokenizer.train(texts, language, config.min_count, config.lowercase) for language, texts in sides)
    )
    pair.as_meant = config.as_meant
    return pair
