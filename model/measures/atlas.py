"""The atlas of a checkpoint's heads: what each does and contributes over held-out sentences, beside the weights."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.analysis.effects import RUNNER_UP
from model.analysis.score_parts import CAUSES
from model.config import Config, GruConfig
from model.interventions.edits import Edits, Head, all_heads, layer_counts
from model.measures import agreement, alignment, reports
from model.measures.word_links import LinkedText
from model.results.translation import KINDS, SIDES, Translation
from model.running.translator import Translator
from model.storage.checkpoint import WEIGHTS, sha256_of
from model.text.cleaning import source_text, tidy
from model.training.data.corpora import Pair

FILE = "atlas.json"
MOST_EXAMPLES = 5  # sentences of a head
_PLACES = 4  # decimals
# By kind, the measures that every atlas has; in nats, logits and tokens per row or word, shares and correlations.
ALWAYS: dict[str, tuple[str, ...]] = dict.fromkeys(
    KINDS, (*head_roles.NUMBERS, *CAUSES, "rare", "log_probability", "gradient")
)
ALWAYS |= {kind: (*ALWAYS[kind], *agreement.AGAINST, "effect", "agreement", "norms") for kind in agreement.DECODER}
ALWAYS["cross"] += ("occlusion", "input_gradient")
SOMETIMES = ("bleu", "aer_output", "aer_input")  # with `bleu_sentences`, or with word links


@dataclass
class HeadCounts:
    """Sums over sentences, of the heads of one kind."""

    tally: head_roles.Tally  # where they look
    sums: dict[str, np.ndarray]  # by measure (2, L, H): what is summed, and over how many
    divergence: np.ndarray  # (N, N)

    def __add__(self, other: "HeadCounts") -> "HeadCounts":
        sums = {name: total + other.sums[name] for name, total in self.sums.items()}
        return HeadCounts(self.tally + other.tally, sums, self.divergence + other.divergence)

    def numbers(self) -> dict[str, np.ndarray]:
        """The mean of every measure, (L, H), over the rows or words that have it."""
        return self.tally.numbers() | {name: total / np.maximum(n, 1) for name, (total, n) in self.sums.items()}


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
        mask = result.mask(kind)
        keys = _keys(result, kind)
        sums = {}
        for name, values in words[kind].items():  # (L, H, T)
            sums[name] = np.stack([np.nansum(values, -1), np.isfinite(values).sum(-1)])
        sums["gradient"] = np.stack([gradients[kind], np.full(weights.shape[:2], len(output_ids))])
        has_choice = shares.shares[kind].any(axis=(-2, -1))  # (L, H)
        for name, of_sentence in shares.causes(kind).items():
            sums[name] = np.stack([of_sentence, has_choice])
        if frequencies is not None:
            sums["rare"] = _on_rare(weights, mask, keys, frequencies[kind])
        counts[kind] = HeadCounts(head_roles.tally(weights, mask, keys), sums, head_roles.divergences(weights))
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


def measure(
    translator: Translator,
    pairs: Sequence[Pair],
    sentences: int,
    bleu_sentences: int = 0,
    links: Sequence[LinkedText] = (),
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure every head on the model's own greedy translations of held-out sentences.

    Args:
        sentences: how many are read, spread evenly over the pairs.
        bleu_sentences: how many of them are translated once without each head.
        links: sets of word links, between the languages of the model.
        say: called with the progress from time to time, as a text.

    Returns:
        JSON: "bleu" of the whole model, greedy; "agreement" of direct effect and loss without a head, over all decoder
        heads and words ("spearman") and the mean over the heads of each word ("kendall"); "alignment" by set of links;
        "texts" of the examples; "kinds": for each kind the measures of ALWAYS and SOMETIMES (L, H), the "role" of each
        head, how it "aligns" words, the "divergence" (N, N) of heads, and "examples": for each head the strongest
        sentences as [number of the text, row, token of the row, key, value], by the largest direct effect on a written
        word, in the encoder by the sharpness; "weights", the SHA-256 of the file.

    Raises:
        ValueError: if the model is not an encoder-decoder Transformer, or no sentence can be read.
    """
    Edits(off=(Head("cross", 0, 0),)).check(translator.config)
    frequencies = _key_frequencies(translator, pairs)
    counts: dict[str, HeadCounts] = {}
    candidates: dict[str, list[Candidate]] = {kind: [] for kind in KINDS}
    word_measures, translated = [], []
    step = max(1, len(pairs) / sentences)
    sample = [pairs[int(place * step)] for place in range(min(sentences, len(pairs)))]
    for number, (source, reference) in enumerate(sample, start=1):
        try:
            result = translator.translate(source, beam=1)
        except ValueError:  # too long
            continue
        words = agreement.of_words(translator, result)
        for kind, of_sentence in count(translator, result, words, frequencies).items():
            counts[kind] = counts[kind] + of_sentence if kind in counts else of_sentence
            candidates[kind].append(_candidate(translator, result, kind, of_sentence))
        word_measures.append({kind: words[kind] for kind in agreement.DECODER})
        translated.append((result.source, reference))
        if number % 20 == 0:
            say(f"{number} of {len(sample)} sentences")
    if not translated:
        raise ValueError("no sentence of the file is short enough for the model")
    text_numbers: dict[int, int] = {}
    kinds = {}
    for kind, of_kind in counts.items():
        kinds[kind] = {name: _round(value) for name, value in of_kind.numbers().items()}
        kinds[kind]["role"] = head_roles.roles(of_kind.tally, kind)
        kinds[kind]["divergence"] = _round(of_kind.divergence / len(translated))
        kinds[kind]["examples"] = _examples(candidates[kind], text_numbers)
    bleu = _bleu(translator, translated[:bleu_sentences], kinds, say) if bleu_sentences else None
    sets = {text.name: alignment.measure(translator, text) for text in links}
    if sets:
        for at in alignment.READ_AT:
            rates = [alignments["aer"][at]["weights"]["heads"] for alignments in sets.values()]
            kinds["cross"][f"aer_{at}"] = _round(np.mean(rates, axis=0))
        kinds["cross"]["aligns"] = alignment.roles(sets.values())
    return {
        "sentences": len(translated),
        "words": sum(len(measures["cross"]["effect"][0, 0]) for measures in word_measures),
        "weights": sha256_of(translator.folder / WEIGHTS),
        "bleu": bleu,
        "agreement": _agreement(word_measures),
        "alignment": sets,
        "kinds": kinds,
        "texts": [translated[i][0] for i in text_numbers],
    }


def _key_frequencies(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Counter[str]]:
    """By kind of attention, how often each token that it reads occurs in the pairs."""
    tokenizer = translator.tokenizer
    tokens = {"source": Counter[str](), "target": Counter[str]()}
    for source, target in pairs:
        source_ids = tokenizer.source.encode(source_text(source, tokenizer))
        tokens["source"].update(tokenizer.source.tokens(source_ids))
        tokens["target"].update(tokenizer.target.tokens(tokenizer.target.encode(tidy(target))))
    return {kind: tokens[SIDES[kind][1]] for kind in KINDS}


class Candidate(NamedTuple):
    """A sentence that may become an example of the heads of one kind."""

    strength: np.ndarray  # (L, H), by which examples are ranked
    values: np.ndarray  # (L, H, T, S)
    rows: list[str]  # T tokens
    keys: list[str]  # S tokens


def _candidate(translator: Translator, result: Translation, kind: str, counts: HeadCounts) -> Candidate:
    if kind in agreement.DECODER:
        effects = translator.effects(result, RUNNER_UP).heads(kind)
        return Candidate(np.abs(effects).max(axis=(2, 3)), effects, result.predicted_tokens, _keys(result, kind))
    entropy = counts.tally.numbers()["relative_entropy"]
    return Candidate(-entropy, result.attention(kind), result.source_tokens, result.source_tokens)


def _examples(candidates: list[Candidate], text_numbers: dict[int, int]) -> list:
    """The strongest sentences of every head, by layer and head.

    `text_numbers` gives each candidate that is used its number among the texts of the atlas, and grows.
    """
    strength = np.stack([candidate.strength for candidate in candidates])  # (sentences, L, H)
    best = np.argsort(-strength, axis=0, kind="stable")[:MOST_EXAMPLES]

    def example(i: int, layer: int, head: int) -> list:
        _, values, rows, keys = candidates[i]
        row, key = divmod(int(np.abs(values[layer, head]).argmax()), len(keys))
        number = text_numbers.setdefault(i, len(text_numbers))
        return [number, row, rows[row], keys[key], _round(values[layer, head, row, key])]

    return [
        [[example(i, layer, head) for i in best[:, layer, head].tolist()] for head in range(best.shape[2])]
        for layer in range(best.shape[1])
    ]


def _agreement(word_measures: list[dict]) -> dict[str, dict[str, float]]:
    """Rank correlations of direct effects with the loss without a head; see `measure`."""

    def cells(name: str) -> np.ndarray:  # (words, heads)
        sentences = []
        for measures in word_measures:
            sentences.append(np.concatenate([of_kind[name] for of_kind in measures.values()]))  # (layers, H, T)
        values = np.concatenate(sentences, axis=-1)
        return values.reshape(-1, values.shape[-1]).T

    drops = -cells("log_probability")
    return {
        name: {
            "spearman": _round(agreement.spearman(cells(name).ravel(), drops.ravel())),
            "kendall": _round(float(np.nanmean(agreement.kendall(cells(name), drops)))),
        }
        for name in agreement.AGAINST
    }


def _bleu(translator: Translator, pairs: list[Pair], kinds: dict[str, Any], say: Callable[[str], None]) -> dict:
    """The BLEU of the whole model; the change without each head goes into `kinds`."""
    sources = [source for source, _ in pairs]
    references = [reference for _, reference in pairs]
    metric = BLEU()
    heads = all_heads(translator.config)

    def score(*off: Head) -> float:
        lines = translator.translate_lines(sources, 1, edits=Edits(off=off))
        return metric.corpus_score(lines, [references]).score

    complete = score()
    config = translator.transformer.config
    without = {kind: np.zeros((n, config.n_heads)) for kind, n in layer_counts(config).items()}
    for number, head in enumerate(heads, start=1):
        without[head.kind][head.layer, head.head] = score(head) - complete
        say(f"BLEU without {number} of {len(heads)} heads")
    for kind, change in without.items():
        kinds[kind]["bleu"] = _round(change)
    return {"score": round(complete, 2), "sentences": len(pairs), "beam": 1, "signature": str(metric.get_signature())}


def read(folder: Path, config: Config) -> dict[str, Any] | None:
    """The result of `measure` in a checkpoint's folder, with its "command", "data" and "credit", or None.

    Errors as in `reports.read`; also a ValueError if the atlas is of a model of other sizes.
    """
    atlas = reports.read(folder / FILE, "atlas")
    if atlas is None:
        return None
    n_heads = 1 if isinstance(config, GruConfig) else config.n_heads
    for kind, n_layers in layer_counts(config).items():
        if np.shape(atlas["kinds"][kind]["role"]) != (n_layers, n_heads):
            raise ValueError(f"{folder / FILE} does not fit the model: it has other layers or heads in {kind}")
    return atlas


def _round(values: np.ndarray | float) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), _PLACES).tolist()
