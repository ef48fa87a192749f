"""The atlas of a model's heads: what each does, and what it contributes, over texts."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from model.config import Config, GruConfig
from model.interventions.edits import layer_counts
from model.measures import reports
from model.measures.heads.any_model import HeadMeasures
from model.measures.heads.decoders import DecoderMeasures, is_decoder
from model.measures.heads.text_roles import MOVES
from model.measures.heads.translators import TranslatorMeasures
from model.measures.word_links import LinkedText
from model.running.translator import Translator, Writer
from model.storage.checkpoint import WEIGHTS, sha256_of

FILE = "atlas.json"
_KNOWN_BY = ("induction", "duplicate", "previous", "first", "moves")  # measures of which a summary has the largest


def measure(
    model: Any,
    texts: Sequence[str],
    sentences: int,
    *,
    references: Sequence[str] = (),
    bleu_sentences: int = 0,
    links: Sequence[LinkedText] = (),
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[float], object] = lambda share: None,
) -> dict[str, Any]:
    """Measure every head of a model on texts; of a translator on its own greedy translations of them.

    Args:
        model: a translator or a language model of this project, or a model of transformers.
        texts: lines; those that the model cannot read are left out.
        sentences: how many are read, spread evenly over the texts.
        references: of a translator, a translation of each text; "rare" and "bleu" need them.
        bleu_sentences: of a translator, how many of the texts that are read are translated once without each head.
        links: of a translator, sets of word links between its languages.
        say: called with how far it is, as a text.
        progress: called with the share of the texts that are read.

    Returns:
        JSON: "sentences" and "tokens", how many were read; "kinds", and the "texts" of their examples; "weights", the
        SHA-256 of a checkpoint's file. For each kind of attention the "layers" as the model numbers them, and of each
        head (L, H) the means of `head_roles.NUMBERS` over rows, its "role", and as "examples" up to MOST_EXAMPLES texts
        where it does most, each as [number of the text, row, column, query, key, value]: the largest weight on a token
        that is neither the first one nor the query.

        Where the streams of the model are seen also the measures of `weights.measure`, by its weights alone. Of a
        decoder also those of `DecoderMeasures`. Of a translator "words", how many it wrote; in "kinds" the
        measures of `translators.ALWAYS` and SOMETIMES, how a head "aligns" words and the "divergence" (N, N) of heads;
        its examples are the largest direct effects on a written word, in the encoder the sharpest rows. Beside "kinds"
        it has "bleu" of the whole model, greedy; "agreement" of direct effect and loss without a head, over all decoder
        heads and words ("spearman") and the mean over the heads of each word ("kendall"); "alignment" by set of links.

    Raises:
        ValueError: if no text can be read, the model has no heads that can be changed, or something is given that only
            a translator has.
    """
    numbers = [number for number, text in enumerate(texts) if text.strip()]
    step = max(1, len(numbers) / sentences)
    numbers = [numbers[int(place * step)] for place in range(min(sentences, len(numbers)))]
    measures = _measures_of(model, texts, references, bleu_sentences, links, say)
    for place, result in measures.readings([texts[number] for number in numbers]):
        measures.add(numbers[place], result)
        progress((place + 1) / len(numbers))
        if (place + 1) % 20 == 0:
            say(f"{place + 1} of {len(numbers)} texts")
    if not measures.numbers:
        raise ValueError("no line of the file is a text that the model can read")
    report = measures.report()
    if isinstance(model, Translator | Writer):
        report["weights"] = sha256_of(model.folder / WEIGHTS)
    return report


def _measures_of(
    model: Any,
    texts: Sequence[str],
    references: Sequence[str],
    bleu_sentences: int,
    links: Sequence[LinkedText],
    say: Callable[[str], None],
) -> HeadMeasures:
    """What can be measured of a model, before the first text is read."""
    if references and len(references) != len(texts):
        raise ValueError(f"there are {len(references)} references for {len(texts)} texts; each needs one")
    if isinstance(model, Translator):
        if bleu_sentences and not references:
            raise ValueError("BLEU needs references, a translation of each text")
        return TranslatorMeasures(model, texts, references, bleu_sentences, links, say)
    if references or bleu_sentences or links:
        raise ValueError("references, BLEU and word links are for checkpoints that translate")
    return DecoderMeasures(model, texts) if is_decoder(model) else HeadMeasures(model, texts)


def strongest(report: dict[str, Any], most: int = 5) -> Iterator[str]:
    """Lines: for what heads are known by, the strongest, and how many have more than half of their weight there."""
    for kind, values in report["kinds"].items():
        for name in _KNOWN_BY:
            if name not in values:
                continue
            numbers = np.array(values[name])
            best = np.argsort(-numbers, axis=None, kind="stable")[:most]
            heads = (divmod(int(place), numbers.shape[1]) for place in best)
            top = ", ".join(f"{values['layers'][row]}-{head} {numbers[row, head]:.2f}" for row, head in heads)
            if name == "moves":
                share = f"{int((numbers >= MOVES).sum())} of {numbers.size} heads add at least {MOVES:.0%}"
                yield f"{kind} name movers: {top}; {share} of what all add directly to names that stood before"
                continue
            share = int((numbers > 0.5).sum())
            yield f"{kind} {name}: {top}; {share} of {numbers.size} heads put more than half of their weight there"


def read(folder: Path, config: Config) -> dict[str, Any] | None:
    """The result of `measure` in a checkpoint's folder, with its "command", "data" and "credit", or None.

    Errors as in `reports.read`; also a ValueError if the atlas is of a model of other sizes, or was written before
    atlases of all models had one form.
    """
    atlas = reports.read(folder / FILE, "atlas")
    if atlas is None:
        return None
    n_heads = 1 if isinstance(config, GruConfig) else config.n_heads
    for kind, n_layers in layer_counts(config).items():
        if "layers" not in atlas["kinds"][kind]:
            raise ValueError(f"{folder / FILE} was written by an older version: run python -m model atlas again")
        if np.shape(atlas["kinds"][kind]["role"]) != (n_layers, n_heads):
            raise ValueError(f"{folder / FILE} does not fit the model: it has other layers or heads in {kind}")
    return atlas
