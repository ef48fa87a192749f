"""What is known of heads, measured before or here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from model.adapters.readers.layout import DECODER
from model.adapters.readers.reader import Reader
from model.analysis import head_roles, maps
from model.interventions.edits import Edits, Head, layer_counts
from model.measures import agreement, atlas, contribution
from model.measures.heads import translators
from model.results.recording import Recording, axis_tokens
from model.results.translation import KINDS
from model.running.translator import Translator, Writer
from model.text.special import EOS_ID
from viz.text.language import message, messages, say
from viz.views import cached
from viz.views.cached import cache_results
from viz.views.recipes import axis_code
from viz.views.results.head_sources import Source
from viz.views.snippets import program, snippet
from viz.views.turns import each_in_turn, in_turn

MOST_KEPT = 16
_IMPORTANCE: dict[cached.Request, dict[str, np.ndarray]] = {}  # of models of transformers, the newest
TALLY = """
from model.analysis import head_roles
here[$kind] = head_roles.tally(result.attention($kind), result.mask($kind), $keys).numbers()
"""
COUNT = """
from model.measures import agreement
from model.measures.heads import translators
words = agreement.of_words(translator, result)
here = {kind: counted.numbers() for kind, counted in translators.count(translator, result, words).items()}
"""


def importance(request: cached.Request) -> dict[str, np.ndarray]:
    """How switching off each head changes the log-probability of the answer, by kind float32 (L, H), in nats.

    The answer is the translation, the next word of a text, or the best words under its masks.
    """
    if isinstance(request.translator, Reader):
        return _importance_in(request)
    if isinstance(request.translator, Writer):
        return _importance_one_by_one(request)
    return _importance_of_translation(request)


@cache_results(16)
def _importance_of_translation(request: cached.Request) -> dict[str, np.ndarray]:
    loaded = cached.loaded_as(Translator, request.model)
    result = cached.compute(request)
    total = float(result.log_probabilities.sum(dtype="float64"))
    counts = layer_counts(loaded.config).items()
    importance = {kind: np.zeros((n, loaded.transformer.config.n_heads), np.float32) for kind, n in counts}
    source = [*loaded.tokenizer.source.encode(result.source), EOS_ID]
    for heads, scores in each_in_turn(agreement.without_each_head(loaded.transformer, source, result.predicted_ids)):
        for head, score in zip(heads, scores, strict=True):
            importance[head.kind][head.layer, head.head] = score.sum() - total
    return importance


def _importance_in(request: cached.Request) -> dict[str, np.ndarray]:
    """The importance of every head of a model of transformers, while the page says how far it is."""
    if request not in _IMPORTANCE:
        bar = st.progress(0.0, say("Switching off one head after another …"))
        reader = cached.loaded_as(Reader, request.model)
        steps = [-1] if reader.config.task == DECODER else None
        try:
            lost = reader.importance(request.read_with(reader), steps, bar.progress)
        finally:
            bar.empty()
        while len(_IMPORTANCE) >= MOST_KEPT:
            _IMPORTANCE.pop(next(iter(_IMPORTANCE)), None)
        _IMPORTANCE[request] = {kind: -losses.sum(axis=-1) for kind, losses in lost.items()}
    return _IMPORTANCE[request]


@cache_results(16)
def _importance_one_by_one(request: cached.Request) -> dict[str, np.ndarray]:
    loaded = cached.loaded_as(Writer, request.model)
    kind = "decoder_self"
    old = cached.compute(request)
    ((_, n_layers),) = layer_counts(loaded.config).items()
    importance = np.zeros((n_layers, loaded.config.n_heads), np.float32)
    for layer, head in np.ndindex(importance.shape):
        logits = loaded.read(request.text, edits=Edits(off=(Head(kind, layer, head),))).trace["logits"][-1]
        importance[layer, head] = maps.log_softmax(logits)[old.predicted_ids[-1]] - old.log_probabilities[-1]
    return {kind: importance}


@cache_results(16)
def contributions(request: cached.Request) -> dict[str, np.ndarray]:
    """What keys add in every head to the translation of a request, by kind."""
    loaded = cached.loaded_as(Translator, request.model)
    result = loaded.force(request.text, cached.compute(request))
    return {kind: contribution.contributions(loaded.transformer, result, kind) for kind in KINDS}


SPOTS = messages(
    previous="the token before",
    same="the same token",
    next="the next token",
    first="the first token",
    last="the last token",
)


def in_words(weights: np.ndarray, kind: str) -> str:
    """Where the largest weights of a head (T, S) lie: at one spot in a third of the rows or more, else on how many."""
    tops = weights.argmax(-1)
    rows = np.arange(len(weights))
    n_keys = weights.shape[1]
    hits = {"first": tops == 0, "last": tops == n_keys - 1}
    if kind != "cross":
        hits |= {"previous": tops == rows - 1, "same": tops == rows, "next": tops == rows + 1}
    counts = {spot: int(hit.sum()) for spot, hit in hits.items()}
    spot = max(counts, key=counts.__getitem__)
    values = {"total": len(weights), "share": float(weights.max(-1).mean())}
    if 3 * counts[spot] >= len(weights):
        line = message("in {n} of {total} rows the largest weight lies on {spot}.")
        return say(line, n=counts[spot], spot=say(SPOTS[spot]), **values)
    line = message("its {total} rows put their largest weights, {share:.0%} on average, on {n} different tokens.")
    return say(line, n=len(set(tops.tolist())), **values)


def of_weights(result: cached.Result | Recording, kinds: Sequence[str] = KINDS) -> Source:
    """What heads of some kinds do in one text, counted of their weights."""
    numbers = {}
    code = ["here = {}"]
    for kind in kinds:
        weights = result.attention(kind)
        tally = head_roles.tally(weights, result.mask(kind), axis_tokens(result, kind)[1])
        divergence = head_roles.divergences(weights) if head_roles.comparable(weights) else None
        numbers[kind] = tally.numbers() | {"role": head_roles.roles(tally, kind), "divergence": divergence}
        code.append(snippet(TALLY, kind=kind, keys=axis_code(result, kind)[1]))
    return Source(numbers, "here", program(*code))


@cache_results(16)
def of_request(request: cached.Request) -> Source:
    """What heads do in the translation of a request, with the measures that need the model."""
    loaded = cached.loaded_as(Translator, request.model)
    result = loaded.force(request.text, cached.compute(request))
    counts_by_kind = in_turn(translators.count)(loaded, result, in_turn(agreement.of_words)(loaded, result))
    numbers = {
        kind: counts.numbers() | {"role": head_roles.roles(counts.tally, kind), "divergence": counts.divergence}
        for kind, counts in counts_by_kind.items()
    }
    return Source(numbers, "here", snippet(COUNT))


@cache_results(8)
def report(checkpoint: str) -> dict[str, Any] | None:
    """The atlas that ships with a checkpoint, if any; a ValueError says why it cannot be used."""
    loaded = cached.translator(checkpoint)
    return None if isinstance(loaded, Reader) else atlas.read(loaded.folder, loaded.config)


def usable_report(checkpoint: str) -> dict[str, Any] | None:
    """The atlas that ships with a checkpoint; None where there is none, or it cannot be used."""
    try:
        return report(checkpoint)
    except ValueError:
        return None
