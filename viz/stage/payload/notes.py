"""Sentences above the stage on what a model of transformers read: layers without attention, words it lacks, sinks."""

from model.adapters.readers.layout import ENCODER, ReaderConfig
from model.results.translation import Translation
from viz.text.language import message, say

FEW_KEYS = 3  # rows that have so few keys to choose from say nothing of sinks


def of_reading(result: Translation) -> list[str]:
    """What is said of a text that a model of transformers, or a language model, read; nothing of other results."""
    notes = _sinks(result) if result.target_tokens and not result.source_tokens else []
    return [*_gaps(result.config), *_words(result.config), *notes] if isinstance(result.config, ReaderConfig) else notes


def _gaps(config: ReaderConfig) -> list[str]:
    """How layers are numbered where some have no attention (hybrids with state space models or linear attention)."""
    kind = "encoder_self" if config.task == ENCODER else "decoder_self"
    missing = config.n_layers - len({layer.layer for layer in config.layers(kind)})
    if missing <= 0:
        return []
    line = message(
        "{n} of the {total} layers have no attention: they mix tokens in another way. Layers are numbered as in the "
        "model, so there are gaps."
    )
    return [say(line, n=missing, total=config.n_layers)]


def _words(config: ReaderConfig) -> list[str]:
    """Why a model predicts no words, or why those that it predicts say nothing."""
    if not config.has_words:
        return [say("This model was loaded without a layer that predicts words: there are only its maps.")]
    if config.random_output is None:
        return []
    line = message(
        "The files of this model do not hold {tensor}, so its output layer began with random numbers: unless it was "
        "trained since, the words that it predicts mean nothing."
    )
    return [say(line, tensor=config.random_output)]


def _sinks(result: Translation) -> list[str]:
    """Heads of a text that rest on its first token, where there are any (Xiao et al. 2023)."""
    weights = result.attention("decoder_self")  # (L, H, T, T)
    if weights.shape[2] <= FEW_KEYS:
        return []
    shares = weights[:, :, FEW_KEYS:, 0].mean(axis=2)
    count = int((shares > 0.5).sum())
    total = shares.size
    line = message("{n} of {total} heads put more than half of their weight on the first token (attention sinks).")
    return [say(line, n=count, total=total)] if count else []
