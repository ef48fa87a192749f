"""The atlas of a checkpoint's heads: what each does and is worth over held-out sentences, kept beside its weights."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.analysis.effects import RUNNER_UP
from model.checkpoint import WEIGHTS, sha256_of
from model.config import TransformerConfig
from model.interventions.edits import Edits, Head, all_heads, layer_counts
from model.measures import agreement, alignment, kept
from model.measures.word_links import LinkedText
from model.text.cleaning import source_text, tidy
from model.training.data.corpora import Pair
from model.translation import KINDS, SIDES, Translation
from model.translator import Translator

FILE = "atlas.json"
MOST_EXAMPLES = 5  # sentences of a head
_PLACES = 4  # decimals
# By kind, the measures that every atlas has; in nats, logits and tokens per row or word, shares and correlations.
ALWAYS: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, (*head_roles.NUMBERS, "rare", "log_probability", "gradient"))
ALWAYS |= {kind: (*ALWAYS[kind], *agreement.AGAINST, "effect", "agreement", "norms") for kind in agreement.DECODER}
ALWAYS["cross"] += ("occlusion", "input_gradient")
SOMETIMES = ("bleu", "aer_output", "aer_input")  # where it was asked for, or links were given


@dataclass
class Counted:
    """Sums over sentences, of the heads of one kind."""

    tally: head_roles.Tally  # where they look
    sums: dict[str, np.ndarray]  # by measure (2, L, H): what is summed, and over how many
    divergence: np.ndarray  # (N, N)

    def __add__(self, other: "Counted") -> "Counted":
        sums = {name: one + other.sums[name] for name, one in self.sums.items()}
        return Counted(self.tally + other.tally, sums, self.divergence + other.divergence)

    def numbers(self) -> dict[str, np.ndarray]:
        return self.tally.numbers() | {name: total / np.maximum(n, 1) for name, (total, n) in self.sums.items()}


def count(
    translator: Translator,
    result: Translation,
    words: Mapping[str, Mapping[str, np.ndarray]],
    frequencies: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Counted]:
    """Count what the heads do in one translation without edits: the measures of ALWAYS by kind of attention.

    Takes what `agreement.of_words` gives, and by kind how often a key was seen; without that "rare" is left out.
    """
    found, written = {}, result.predicted_ids
    gradients = agreement.gradient_estimates(translator.transformer, translator.source_ids(result.source), written)
    for kind in KINDS:
        weights, mask, keys = result.attention(kind), result.mask(kind), _keys(result, kind)
        sums = {name: np.stack([np.nansum(one, -1), np.isfinite(one).sum(-1)]) for name, one in words[kind].items()}
        sums["gradient"] = np.stack([gradients[kind], np.full(weights.shape[:2], len(written))])
        if frequencies is not None:
            sums["rare"] = _on_rare(weights, mask, keys, frequencies[kind])
        found[kind] = Counted(head_roles.tally(weights, mask, keys), sums, head_roles.divergences(weights))
    return found


def _keys(result: Translation, kind: str) -> list[str]:
    return getattr(result, f"{SIDES[kind][1]}_tokens")


def _on_rare(weights: np.ndarray, mask: np.ndarray, keys: Sequence[str], frequencies: Mapping[str, int]) -> np.ndarray:
    """The mass on the rarest key that each row may read (Voita et al. 2019, section 4.3), and the rows."""
    counts = np.where(analysis.is_special(keys), np.inf, [frequencies.get(key, 0) for key in keys])
    allowed = np.where(mask, counts, np.inf)  # (T, S)
    rarest = (allowed == allowed.min(axis=1, keepdims=True)) & np.isfinite(allowed)
    counted = (mask.sum(axis=1) > 1) & rarest.any(axis=1)
    on = (weights * rarest)[:, :, counted].sum(axis=(2, 3), dtype=np.float64)
    return np.stack([on, np.full(on.shape, counted.sum())])


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
        say: told how far it is.

    Returns:
        JSON: "bleu" of the whole model, greedy; "agreement" of direct effect and loss without a head, over all decoder
        heads and words ("spearman") and the mean over the heads of each word ("kendall"); "alignment" by set of links;
        "texts" of the examples; "kinds": for each kind the measures of ALWAYS and SOMETIMES (L, H), the "role" of each
        head, how it "aligns" words, the "divergence" (N, N) of heads, and "examples": for each head the strongest
        sentences as [number of the text, row, token of the row, key, value], by the largest direct effect on a written
        word, in the encoder by the sharpness.

    Raises:
        ValueError: if the model is not an encoder-decoder Transformer, or no sentence can be read.
    """
    Edits(off=(Head("cross", 0, 0),)).check(translator.config)
    as_read = [(source_text(source, translator.tokenizer), tidy(target)) for source, target in pairs]
    sides = zip((translator.tokenizer.source, translator.tokenizer.target), zip(*as_read))
    read_by = [Counter(token for text in texts for token in side.tokens(side.encode(text))) for side, texts in sides]
    frequencies = {kind: read_by[SIDES[kind][1] == "target"] for kind in KINDS}
    counts: dict[str, Counted] = {}
    shown: dict[int, int] = {}
    examples: dict[str, list[tuple]] = {kind: [] for kind in KINDS}
    seen, read = [], []
    step = max(1, len(pairs) / sentences)
    chosen = [pairs[int(place * step)] for place in range(min(sentences, len(pairs)))]
    for number, pair in enumerate(chosen, start=1):
        try:
            result = translator.translate(pair[0], beam=1)
        except ValueError:  # too long
            continue
        words = agreement.of_words(translator, result)
        for kind, one in count(translator, result, words, frequencies).items():
            counts[kind] = counts[kind] + one if kind in counts else one
            examples[kind].append(_shown(translator, result, kind, one))
        seen.append({kind: words[kind] for kind in agreement.DECODER})
        read.append((result.source, pair[1]))
        if number % 20 == 0:
            say(f"{number} of {len(chosen)} sentences")
    if not read:
        raise ValueError("no sentence of the file is short enough for the model")
    kinds = {
        kind: {
            **{name: _round(value) for name, value in counted.numbers().items()},
            "role": head_roles.roles(counted.tally, kind),
            "divergence": _round(counted.divergence / len(read)),
            "examples": _examples(examples[kind], shown),
        }
        for kind, counted in counts.items()
    }
    bleu = _bleu(translator, read[:bleu_sentences], kinds, say) if bleu_sentences else None
    sets = {text.name: alignment.measure(translator, text) for text in links}
    if sets:
        for at in alignment.READ_AT:
            rates = [one["aer"][at]["weights"]["heads"] for one in sets.values()]
            kinds["cross"][f"aer_{at}"] = _round(np.mean(rates, axis=0))
        kinds["cross"]["aligns"] = alignment.roles(sets.values())
    return {
        "sentences": len(read),
        "words": sum(len(one["cross"]["effect"][0, 0]) for one in seen),
        "weights": sha256_of(translator.folder / WEIGHTS),
        "bleu": bleu,
        "agreement": _agreement(seen),
        "alignment": sets,
        "kinds": kinds,
        "texts": [read[i][0] for i in shown],
    }


def _shown(translator: Translator, result: Translation, kind: str, counted: Counted) -> tuple:
    """How strong each head is in a sentence (L, H); its values (L, H, T, S); tokens of rows and keys."""
    if kind in agreement.DECODER:
        values = translator.effects(result, RUNNER_UP).heads(kind)
        return np.abs(values).max(axis=(2, 3)), values, result.predicted_tokens, _keys(result, kind)
    entropy = counted.tally.numbers()["relative_entropy"]
    return -entropy, result.attention(kind), result.source_tokens, result.source_tokens


def _examples(seen: list[tuple], shown: dict[int, int]) -> list:
    """The strongest sentences of every head, of what `_shown` said; `shown` numbers those that are used."""
    strength = np.stack([one[0] for one in seen])  # (sentences, L, H)
    best = np.argsort(-strength, axis=0, kind="stable")[:MOST_EXAMPLES]

    def example(i: int, *head: int) -> list:
        _, values, rows, keys = seen[i]
        row, key = divmod(int(np.abs(values[head]).argmax()), len(keys))
        return [shown.setdefault(i, len(shown)), row, rows[row], keys[key], _round(values[*head, row, key])]

    return [
        [[example(i, layer, head) for i in best[:, layer, head].tolist()] for head in range(best.shape[2])]
        for layer in range(best.shape[1])
    ]


def _agreement(seen: list[dict]) -> dict[str, dict[str, float]]:
    def cells(name: str) -> np.ndarray:  # (words, heads)
        of_all = np.concatenate([np.concatenate([of[name] for of in one.values()]) for one in seen], axis=-1)
        return of_all.reshape(-1, of_all.shape[-1]).T

    drops = -cells("log_probability")
    return {
        name: {
            "spearman": _round(agreement.spearman(cells(name).ravel(), drops.ravel())),
            "kendall": _round(float(np.nanmean(agreement.kendall(cells(name), drops)))),
        }
        for name in agreement.AGAINST
    }


def _bleu(translator: Translator, pairs: list[Pair], kinds: dict[str, Any], say: Callable[[str], None]) -> dict:
    sources, references = [source for source, _ in pairs], [reference for _, reference in pairs]
    metric, heads = BLEU(), all_heads(translator.config)

    def score(*off: Head) -> float:
        lines = translator.translate_lines(sources, 1, edits=Edits(off=off))
        return metric.corpus_score(lines, [references]).score

    whole = score()
    config = translator.transformer.config
    without = {kind: np.zeros((n, config.n_heads)) for kind, n in layer_counts(config).items()}
    for number, head in enumerate(heads, start=1):
        without[head.kind][head.layer, head.head] = score(head) - whole
        say(f"BLEU without {number} of {len(heads)} heads")
    for kind, change in without.items():
        kinds[kind]["bleu"] = _round(change)
    return {"score": round(whole, 2), "sentences": len(pairs), "beam": 1, "signature": str(metric.get_signature())}


def read(folder: Path, config: TransformerConfig) -> dict[str, Any] | None:
    """What `measure` found of a checkpoint, its "command", "data" and "credit"; None without; errors as `kept.read`."""
    found = kept.read(folder / FILE, "atlas")
    if found is None:
        return None
    for kind, n_layers in layer_counts(config).items():
        if np.shape(found["kinds"][kind]["role"]) != (n_layers, config.n_heads):
            raise ValueError(f"{folder / FILE} does not fit the model: it has other layers or heads in {kind}")
    return found


def _round(values: np.ndarray | float) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), _PLACES).tolist()
