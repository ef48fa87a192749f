"""Passes of our own models that can be repeated with changes, as `Patching` needs them."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.gru import GruModel
from model.language_model import LanguageModel
from model.results.translation import Translation
from model.running.patching import Hook, Pass, Patching
from model.running.patching_words import (
    ComparedWords,
    MakePass,
    compare_continuations,
    compare_outputs,
    id_of_one_token,
)
from model.storage.checkpoint import AnyModel
from model.taps import hooked
from model.text.special import BOS_ID, Vocabulary
from model.transformer import Transformer

_MISS = 1e-3  # by which a result that was decoded step by step may miss a whole pass
IdsOf = Callable[[Translation], list[int]]


def compare(
    model: AnyModel,
    target: Vocabulary,
    ids_of: IdsOf,
    a: Translation,
    b: Translation,
    compared: ComparedWords,
    reverse: bool,
) -> Patching:
    """Patch between two results of a model of ours; see `Translator.patching`.

    Args:
        target: names the words that it writes.
        ids_of: of a result the ids that the encoder read, of a language model those of the text.
    """
    if isinstance(model, GruModel):
        raise ValueError("patching needs a Transformer: a recurrent network has no residual stream")
    for result in (a, b):
        if result.config != model.config:
            raise ValueError("the result was made by another model: it has other sizes or choices")
    is_alone = isinstance(model, LanguageModel)
    make_pass = _reading(model, target, ids_of) if is_alone else _translating(model, target, ids_of)
    for result in (a, b):
        _check_unchanged(make_pass(result, [] if is_alone else result.predicted_ids[:-1]), result)
    compare_texts = compare_continuations if is_alone else compare_outputs
    return compare_texts(make_pass, target.tokens, a, b, compared, reverse)


def pass_at(model: AnyModel, target: Vocabulary, ids_of: IdsOf, result: Translation, step: int) -> Pass:
    """The pass over what a Transformer of ours read for a result, up to the logits of a step; see `compare`."""
    if isinstance(model, GruModel):
        raise ValueError("a pass with changes needs a Transformer: a recurrent network has no residual stream")
    if isinstance(model, LanguageModel):
        return _reading(model, target, lambda result: ids_of(result)[: step + 1])(result, [])
    return _translating(model, target, ids_of)(result, result.predicted_ids[:step])


def _check_unchanged(passed: Pass, result: Translation) -> None:
    """Refuse a result that is not what a pass over all of its text gives, seen in the stream that words follow from."""
    address = next(address for address in reversed(passed.trace) if address.endswith(".residual_ff.stream"))
    stream = passed.trace[address].cpu().numpy()
    if address in result.trace and not np.allclose(stream, result.trace[address], rtol=_MISS, atol=_MISS):
        raise ValueError("the result was made with edits or by another model: patching is between unchanged results")


def token_of(vocabulary: Vocabulary, word: str | int | None, size: int) -> int | None:
    """The id of a word that is one token of a vocabulary of a size, None of none; else a ValueError."""
    return None if word is None else id_of_one_token(word, vocabulary.encode, vocabulary.tokens, size)


def _translating(model: Transformer, target: Vocabulary, ids_of: IdsOf) -> MakePass:
    def make_pass(result: Translation, beginning: Sequence[int]) -> Pass:
        src = torch.tensor([ids_of(result)])
        tgt = torch.tensor([[BOS_ID, *beginning]])
        mask = masks.decoder_mask(tgt)

        def run(hook: Hook, rows: int) -> Tensor:
            with hooked(hook):
                state = model.start(src.expand(rows, -1))
                hidden = model.decoder(tgt.expand(rows, -1), mask, state)  # (rows, T, D)
            return model.output(hidden[:, -1])

        tokens = {"source": result.source_tokens, "target": target.tokens(tgt[0].tolist())}
        return Pass(run, tokens, len(beginning))

    return make_pass


def _reading(model: LanguageModel, target: Vocabulary, ids_of: IdsOf) -> MakePass:
    def make_pass(result: Translation, beginning: Sequence[int]) -> Pass:
        ids = torch.tensor([[*ids_of(result), *beginning]])
        mask = masks.causal_mask(ids.size(1))

        def run(hook: Hook, rows: int) -> Tensor:
            with hooked(hook):
                hidden = model.decoder(ids.expand(rows, -1), mask)  # (rows, T, D)
            return model.softmax(hidden[:, -1])

        return Pass(run, {"source": [], "target": target.tokens(ids[0].tolist())}, ids.size(1) - 1)

    return make_pass
