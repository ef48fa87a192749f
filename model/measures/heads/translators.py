"""What heads of a translator contribute to its translations, and how well they align words."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.analysis.effects import RUNNER_UP
from model.analysis.score_parts import CAUSES
from model.interventions.edits import Edits, Head, all_heads, layer_counts
from model.measures import agreement, alignment
from model.measures.heads import weights
from model.measures.heads.any_model import HeadMeasures
from model.measures.heads.counts import Activity, HeadCounts, rounded
from model.measures.heads.text_roles import tally
from model.measures.word_links import LinkedText
from model.results.translation import KINDS, SIDES, Translation
from model.running.translator import Translator
from model.text.cleaning import source_text, tidy

# By kind, the measures that every atlas of a translator has; in nats, logits and tokens per row or word, and shares.
ALWAYS: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, (*head_roles.NUMBERS, *CAUSES, "log_probability", "gradient"))
ALWAYS |= {kind: (*ALWAYS[kind], *agreement.AGAINST, "effect", "agreement", "norms") for kind in agreement.DECODER}
ALWAYS["cross"] += ("occlusion", "input_gradient")
# With reference translations; with `bleu_sentences`; with word links; by the weights alone, where they are defined.
SOMETIMES = ("rare", "bleu", "aer_output", "aer_input", *weights.NAMES)


def count(
    translator: Translator,
    result: Translation,
    words: Mapping[str, Mapping[str, np.ndarray]],
    frequencies: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, HeadCounts]:
    """Count what the heads do in one translation without edits: the measures of ALWAYS by kind of attention.

    Args:
        words: the result of `agreement.of_words`.
        frequencies: by kind how often each key occurred; without them "rare" is left out.
    """
    counts = {}
    output_ids = result.predicted_ids
    gradients = agreement.gradient_estimates(translator.transformer, translator.source_ids(result.source), output_ids)
    shares = translator.score_shares(result)
    for kind in KINDS:
        weights = result.attention(kind)
        sums = {}
        for name, values in words[kind].items():  # (L, H, T)
            sums[name] = np.stack([np.nansum(values, -1), np.isfinite(values).sum(-1)])
        sums["gradient"] = np.stack([gradients[kind], np.full(weights.shape[:2], len(output_ids))])
        has_choice = shares.shares[kind].any(axis=(-2, -1))  # (L, H)
        for name, of_sentence in shares.causes(kind).items():
            sums[name] = np.stack([of_sentence, has_choice])
        if frequencies is not None:
            sums["rare"] = _on_rare(weights, result.mask(kind), _keys(result, kind), frequencies[kind])
        counts[kind] = HeadCounts(tally(result, kind), sums, head_roles.divergences(weights))
    return counts


def _keys(result: Translation, kind: str) -> list[str]:
    """The tokens that a kind of attention reads."""
    return getattr(result, f"{SIDES[kind][1]}_tokens")


def _on_rare(weights: np.ndarray, mask: np.ndarray, keys: Sequence[str], frequencies: Mapping[str, int]) -> np.ndarray:
    """The mass on the rarest key that each row may read (Voita et al. 2019, section 4.3), and the rows."""
    counts = np.where(analysis.is_special(keys), np.inf, [frequencies.get(key, 0) for key in keys])
    allowed = np.where(mask, counts, np.inf)  # (T, S)
    rarest = (allowed == allowed.min(axis=1, keepdims=True)) & np.isfinite(allowed)
    is_counted = (mask.sum(axis=1) > 1) & rarest.any(axis=1)
    on = (weights * rarest)[:, :, is_counted].sum(axis=(2, 3), dtype=np.float64)
    return np.stack([on, np.full(on.shape, is_counted.sum())])


class TranslatorMeasures(HeadMeasures):
    """The measures of a translator's heads, on its own greedy translations: those of `ALWAYS` and `SOMETIMES`.

    Args:
        translator: an encoder-decoder Transformer, else a ValueError.
        texts: in its source language.
        references: a translation of each text, or none.
        bleu_sentences: how many of the texts are translated once without each head.
        links: sets of word links, between the languages of the model.
        say: called with how far it is.
    """

    model: Translator

    def __init__(
        self,
        translator: Translator,
        texts: Sequence[str],
        references: Sequence[str],
        bleu_sentences: int,
        links: Sequence[LinkedText],
        say: Callable[[str], None],
    ) -> None:
        Edits(off=(Head("cross", 0, 0),)).check(translator.config)
        super().__init__(translator, [source_text(text, translator.tokenizer) for text in texts])
        self._references = references
        self._bleu_sentences = bleu_sentences
        self._links = links
        self._say = say
        self._frequencies = _key_frequencies(translator, self.texts, references) if references else None
        self._words: list[dict[str, Mapping[str, np.ndarray]]] = []  # by text, kind and measure (L, H, T)

    def readings(self, texts: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """The place and the translation of each text that is not too long."""
        for place, text in enumerate(texts):
            try:
                result = self.model.translate(text, beam=1)
            except ValueError:  # too long
                continue
            yield place, result

    def count(self, result: Translation) -> dict[str, HeadCounts]:
        """By kind what the heads do in one translation; what they add to each of its words is kept."""
        words = agreement.of_words(self.model, result)
        self._words.append({kind: words[kind] for kind in agreement.DECODER})
        return count(self.model, result, words, self._frequencies)

    def activity(self, result: Translation, kind: str, counts: HeadCounts) -> Activity:
        """What makes a text an example of a head: its largest direct effect, in the encoder how sharp it is."""
        if kind in agreement.DECODER:
            effects = self.model.effects(result, RUNNER_UP).heads(kind)
            return Activity(np.abs(effects).max(axis=(2, 3)), effects, result.predicted_tokens, _keys(result, kind))
        entropy = counts.tally.numbers()["relative_entropy"]
        return Activity(-entropy, result.attention(kind), result.source_tokens, result.source_tokens)

    def report(self) -> dict[str, Any]:
        """What `model.measures.atlas.measure` returns, with what only translators have."""
        report = super().report()
        kinds = report["kinds"]
        sets = {text.name: alignment.measure(self.model, text) for text in self._links}
        if sets:
            for at in alignment.READ_AT:
                rates = [alignments["aer"][at]["weights"]["heads"] for alignments in sets.values()]
                kinds["cross"][f"aer_{at}"] = rounded(np.mean(rates, axis=0))
            kinds["cross"]["aligns"] = alignment.roles(sets.values())
        return report | {
            "words": sum(len(measures["cross"]["effect"][0, 0]) for measures in self._words),
            "bleu": self._bleu(kinds) if self._bleu_sentences else None,
            "agreement": _agreement(self._words),
            "alignment": sets,
        }

    def _bleu(self, kinds: dict[str, Any]) -> dict[str, Any]:
        """The BLEU of the whole model; the change without each head goes into `kinds`."""
        numbers = self.numbers[: self._bleu_sentences]
        sources = [self.texts[number] for number in numbers]
        references = [self._references[number] for number in numbers]
        metric = BLEU()
        config = self.model.transformer.config
        heads = all_heads(self.model.config)

        def score(*off: Head) -> float:
            lines = self.model.translate_lines(sources, 1, edits=Edits(off=off))
            return metric.corpus_score(lines, [references]).score

        complete = score()
        without = {kind: np.zeros((n, config.n_heads)) for kind, n in layer_counts(config).items()}
        for number, head in enumerate(heads, start=1):
            without[head.kind][head.layer, head.head] = score(head) - complete
            self._say(f"BLEU without {number} of {len(heads)} heads")
        for kind, change in without.items():
            kinds[kind]["bleu"] = rounded(change)
        signature = str(metric.get_signature())
        return {"score": round(complete, 2), "sentences": len(numbers), "beam": 1, "signature": signature}


def _key_frequencies(
    translator: Translator, texts: Sequence[str], references: Sequence[str]
) -> dict[str, Counter[str]]:
    """By kind of attention, how often each token that it reads occurs in texts and their translations."""
    tokenizer = translator.tokenizer
    tokens = {"source": Counter[str](), "target": Counter[str]()}
    for source, target in zip(texts, references, strict=True):
        tokens["source"].update(tokenizer.source.tokens(tokenizer.source.encode(source)))
        tokens["target"].update(tokenizer.target.tokens(tokenizer.target.encode(tidy(target))))
    return {kind: tokens[SIDES[kind][1]] for kind in KINDS}


def _agreement(words: Sequence[Mapping[str, Mapping[str, np.ndarray]]]) -> dict[str, dict[str, float]]:
    """Rank correlations of direct effects with the loss without a head, over all decoder heads and words.

    Args:
        words: by text, kind of attention and measure of `agreement.of_words` (L, H, T).
    """

    def cells(name: str) -> np.ndarray:  # (words, heads)
        sentences = []
        for measures in words:
            sentences.append(np.concatenate([of_kind[name] for of_kind in measures.values()]))  # (layers, H, T)
        values = np.concatenate(sentences, axis=-1)
        return values.reshape(-1, values.shape[-1]).T

    drops = -cells("log_probability")
    return {
        name: {
            "spearman": rounded(agreement.spearman(cells(name).ravel(), drops.ravel())),
            "kendall": rounded(float(np.nanmean(agreement.kendall(cells(name), drops)))),
        }
        for name in agreement.AGAINST
    }
