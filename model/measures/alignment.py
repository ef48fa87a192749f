"""How well cross-attention aligns words: every head against word links made by hand."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.measures.contribution import contributions
from model.measures.word_links import LinkedPair, LinkedText
from model.running.translator import Translator
from model.text.cleaning import source_text, tidy
from model.text.special import MARK, Vocabulary
from model.transformer import Transformer

READ_AT, MEASURES = ("output", "input"), ("weights", "norms")


def word_of_each_token(tokenizer: Vocabulary, text: str, words: Sequence[str]) -> list[int]:
    """The number of the word that each token, special ones aside, belongs to: that of its piece's first character.

    Words that do not spell the text, white space aside, are a ValueError.
    """
    spelt = [unicodedata.normalize("NFC", word) for word in words]
    letters_of = ("".join((word.lower() if tokenizer.lowercase else word).split()) for word in spelt)
    owners = [n for n, letters in enumerate(letters_of) for _ in letters]
    of_token: list[int] = []
    place = 0
    for piece in tokenizer.pieces(text):
        letters = "".join(piece.replace(MARK, " ").split())
        if place + len(letters) > len(owners) or not letters:
            raise ValueError(f"the words do not spell the text at {piece!r}")
        of_token += [owners[place]] * len(tokenizer.piece_ids(piece))
        place += len(letters)
    if place != len(owners):
        raise ValueError(f"the text ends before the word {words[owners[place]]!r}")
    return of_token


def best_words(values: np.ndarray, source_of: Sequence[int], target_of: Sequence[int]) -> np.ndarray:
    """The source word that every target word with a token reads most, summed over its tokens: int (..., target words).

    `values` (..., T, S) are of tokens, which belong to the words `target_of` and `source_of`.
    """
    source_words, source_index = np.unique(source_of, return_inverse=True)
    target_words, target_index = np.unique(target_of, return_inverse=True)
    queries = analysis.Words([str(n) for n in target_words], target_index.tolist())
    keys = analysis.Words([str(n) for n in source_words], source_index.tolist())
    return source_words[analysis.merge_words(values, queries, keys).argmax(axis=-1)]


@dataclass
class Counts:
    """Links counted over pairs, for any number of aligners at once."""

    links: int = 0  # |A|, those of one aligner
    sure: int = 0  # |S|
    in_sure: np.ndarray | int = 0  # |A n S|, one number per aligner
    in_possible: np.ndarray | int = 0  # |A n P|

    def add(self, linked: np.ndarray, targets: Sequence[int], pair: LinkedPair) -> None:
        """Count one pair: int (..., N), the source words that N target words are linked to."""
        right = np.zeros((2, len(pair.source_words), len(pair.target_words)), dtype=bool)
        for place, links in enumerate((pair.sure, pair.possible)):
            for link in links:
                right[place, *link] = True
        in_sure, in_possible = right[:, linked, list(targets)].sum(axis=-1)
        self.in_sure = self.in_sure + in_sure
        self.in_possible = self.in_possible + in_possible
        self.links += len(targets)
        self.sure += len(pair.sure)

    def error_rate(self) -> np.ndarray:
        """AER = 1 - (|A n S| + |A n P|) / (|A| + |S|) (Och and Ney 2003, equation 21); 0 is perfect."""
        return 1 - (np.asarray(self.in_sure) + self.in_possible) / (self.links + self.sure)


def measure(translator: Translator, text: LinkedText) -> dict[str, Any]:
    """Score every cross-attention head, teacher-forced with the target, as a word aligner.

    A target word is aligned by the steps that predicted its tokens ("output") or by those that read them, one later
    ("input"; Chen et al. 2020), from weights and, of a Transformer, from norms (Kobayashi et al. 2020).

    Returns:
        JSON: counts; error rates under "aer" by READ_AT and MEASURES, of heads (L, H) and of their means and maxima;
        those of "diagonal", which links words at the same share of their sentences, and of "best", the best possible
        with one link per word. A ValueError if the links are between other languages, or no pair can be read.
    """
    text = text.towards(str(translator.card.get("source")), str(translator.card.get("target")))
    measures = MEASURES if isinstance(translator.model, Transformer) else MEASURES[:1]
    counts = {at: {quantity: {name: Counts() for name in _GROUPS} for quantity in measures} for at in READ_AT}
    diagonal, best = Counts(), Counts()
    too_long = 0
    read = partial(source_text, tokenizer=translator.tokenizer)
    sides = translator.tokenizer.source, translator.tokenizer.target
    for pair in text.pairs:
        try:
            source_of = word_of_each_token(sides[0], read(pair.source), list(map(read, pair.source_words)))
            target_of = word_of_each_token(sides[1], tidy(pair.target), list(map(tidy, pair.target_words)))
        except ValueError as error:
            raise ValueError(f"{text.name}, line {pair.number}: {error}") from None
        if max(len(source_of), len(target_of)) >= translator.max_source_tokens:
            too_long += 1
            continue
        result = translator.force(pair.source, pair.target)
        targets = sorted(set(target_of))
        mass = {"weights": result.attention("cross")}
        if "norms" in measures:
            mass["norms"] = contributions(translator.transformer, result, "cross")
        for start, at in enumerate(READ_AT):  # row t predicted token t and read token t - 1
            for quantity, groups in counts[at].items():
                values = mass[quantity][..., start : start + len(target_of), : len(source_of)]
                for name, of_group in groups.items():
                    of_group.add(best_words(_GROUPS[name](values), source_of, target_of), targets, pair)
        share = (np.array(targets) + 0.5) / len(pair.target_words)
        diagonal.add(np.floor(share * len(pair.source_words)).astype(int), targets, pair)
        right = {t: s for links in (pair.possible, pair.sure) for s, t in sorted(links)}
        best.add(np.array([right.get(t, 0) for t in targets]), targets, pair)
    if not best.links:
        raise ValueError(f"{text.name}: the model can read none of the {len(text.pairs)} pairs")
    return {
        "source": text.languages[0],
        "target": text.languages[1],
        "made_by": text.made_by,
        "pairs": len(text.pairs) - too_long,
        "too_long": too_long,
        "words": best.links,
        "links": best.sure,
        "outside": text.outside,
        "aer": {at: {name: _rates(groups) for name, groups in of_place.items()} for at, of_place in counts.items()},
        **_rates({"diagonal": diagonal, "best": best}),
    }


def _rates(counts: dict[str, Counts]) -> dict[str, Any]:
    return {name: np.round(count.error_rate(), 4).tolist() for name, count in counts.items()}


_GROUPS = {
    "heads": lambda values: values,
    "mean": lambda values: values.mean(axis=1),
    "max": lambda values: values.max(axis=1),
    "mean_of_all": lambda values: values.mean(axis=(0, 1)),
    "max_of_all": lambda values: values.max(axis=(0, 1)),
}


def roles(results: Iterable[dict[str, Any]]) -> list[list[str]]:
    """Where heads align words better than the diagonal, by their weights and on every set of links: L lists of H.

    Of READ_AT that with the smaller mean of the `measure`d rates, or "".
    """
    rates, diagonal = [], []
    for result in results:
        rates.append([result["aer"][at]["weights"]["heads"] for at in READ_AT])
        diagonal.append(result["diagonal"])
    errors = np.array(rates)  # (sets, READ_AT, L, H)
    better = (errors < np.reshape(diagonal, (-1, 1, 1, 1))).all(axis=0)  # (READ_AT, L, H)
    best = np.where(better, errors.mean(axis=0), np.inf).argmin(axis=0)
    return np.where(better.any(axis=0), np.array(READ_AT, dtype=object)[best], "").tolist()
