"""What the story about patching measures: shares of a difference that come back, of the checkpoint that ships."""

from typing import NamedTuple

import numpy as np

from model.interventions.patches import HeadPatch, Patch
from model.running.patching import Patching
from model.running.translator import Translator
from viz.figures import labels
from viz.pages.lessons.card import request_translation
from viz.stage.words import label
from viz.views.cached import Request, cache_results, loaded_as
from viz.views.turns import in_turn

Place = tuple[int, int]  # a layer and a head of the cross-attention


class Texts(NamedTuple):
    """Two sentences: into the pass over b is put what the pass over a had, or with `reverse` the other way."""

    a: Request
    b: Request
    reverse: bool = False

    @classmethod
    def of(cls, a: str, b: str) -> "Texts":
        """Two sentences, translated greedily."""
        return cls(request_translation(a, 1), request_translation(b, 1))


@cache_results()
def heads(texts: Texts, kind: str = "cross", what: str = "both") -> np.ndarray:
    """The share that comes back with each head, (L, H)."""
    return in_turn(_patching(texts).heads)(kind, what)


@cache_results()
def streams(texts: Texts) -> np.ndarray:
    """The share that comes back with the encoder's stream at each position, (layers + 1, S)."""
    return in_turn(_patching(texts).streams)("encoder")


@cache_results()
def joined(texts: Texts) -> np.ndarray:
    """What comes back with the strongest head of the cross-attention, with the two strongest, ... all: (L * H,)."""
    patching = _patching(texts)
    places = [HeadPatch("cross", layer, head) for layer, head in ranked(texts)]
    together = in_turn(patching.together)
    return np.array([together(*places[: count + 1]) for count in range(len(places))])


@cache_results()
def patched_text(texts: Texts, patch: Patch) -> str:
    """What the model writes of the text that is changed, with a patch."""
    own = texts.a if texts.reverse else texts.b
    translator = loaded_as(Translator, own.model)
    return translator.translate(own.text, own.beam, edits=_patching(texts).edits(patch)).text


@cache_results()
def written(texts: Texts) -> np.ndarray:
    """The share of the difference between the words of two texts that each head writes itself, (L, H).

    Of the logit of the first text's word less that of the second's, in the first text less in the second, by direct
    effects.
    """
    translator = loaded_as(Translator, texts.a.model)
    results = [texts.a.translated(), texts.b.translated()]
    step = next(i for i, pair in enumerate(zip(*(result.predicted_ids for result in results))) if len(set(pair)) > 1)
    ids = [result.predicted_ids[step] for result in results]
    parts, logits = np.zeros(()), 0.0
    for result, other in zip(results, reversed(ids)):  # of the second text both signs are turned
        effects = translator.effects(result, [other] * len(result.predicted_ids))
        parts = parts + effects.heads("cross")[:, :, step].sum(-1)
        logits += effects.logits[step]
    return parts / logits


@cache_results()
def raised(request: Request, head: Place, step: int, key: int, most: int) -> list[tuple[str, float]]:
    """The words that a head of the cross-attention raises most at a step when it looks at a key, and by how much."""
    translator = loaded_as(Translator, request.model)
    words = translator.head_words(request.translated(), "cross", *head, query=step, key=key, most=most)
    return [(labels.visible(label(word.word)), word.logit) for word in words.raised]


def ranked(texts: Texts) -> list[Place]:
    """The heads of the cross-attention by what comes back with them, the strongest first."""
    shares = heads(texts)
    return [divmod(int(number), shares.shape[1]) for number in np.argsort(-shares, axis=None)]


def _patching(texts: Texts) -> Patching:
    translator = loaded_as(Translator, texts.a.model)
    return translator.patching(texts.a.translated(), texts.b.translated(), reverse=texts.reverse)
