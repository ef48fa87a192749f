"""Scores a translator on a file of sentence pairs with sacreBLEU, and a language model on a text."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from model.analysis import lengths
from model.gru import GruModel
from model.running.translator import Translator, Writer
from model.text.cleaning import source_text, tidy
from model.training.data.corpora import Pair, read_lines
from model.training.evaluation import perplexity, text_perplexity


def read_pairs(path: Path) -> list[Pair]:
    """Read lines of source<TAB>reference, gzip-compressed if the name ends in .gz; further columns are ignored.

    Empty lines at the end do not count; any other line without a pair is a ValueError with its number.
    """
    return list(pairs_in(path))


def pairs_in(path: Path) -> Iterator[Pair]:
    """The pairs of a file, read one after another; lines and errors as in `read_pairs`."""
    n_pairs = 0
    without_pair: tuple[int, str] | None = None  # the first such line with its number
    for number, line in enumerate(read_lines(path), start=1):
        source, reference, *_ = [*line.split("\t"), ""]
        is_pair = bool(tidy(source) and tidy(reference))
        if not is_pair and without_pair is None:
            without_pair = number, line[:60]
        if without_pair is None:
            n_pairs += 1
            yield source, reference
        elif tidy(line):  # it was no empty line at the end
            raise ValueError(f"{path}, line {without_pair[0]}: expected source<TAB>reference, got {without_pair[1]!r}")
    if not n_pairs:
        raise ValueError(f"{path} holds no lines")


def evaluate(
    translator: Translator,
    pairs: list[Pair],
    beam: int,
    length_penalty: float,
    lowercase: bool = False,
    by_length: bool = False,
) -> dict[str, Any]:
    """Translate the sources of raw pairs and compare with the references; a source that is too long is a ValueError.

    BLEU and chrF are sacreBLEU's (13a tokenisation; Post 2018). Of a recurrent model there is also the perplexity of
    the references, with teacher forcing and without: then every step reads the most probable token of the last step.
    """
    sources, references = zip(*pairs, strict=True)
    begun = time.perf_counter()
    hypotheses = translator.translate_lines(sources, beam, length_penalty)
    seconds = time.perf_counter() - begun
    metrics = {"bleu": BLEU(lowercase=lowercase), "chrf": CHRF(lowercase=lowercase)}

    def score(numbers: Sequence[int]) -> dict[str, float]:
        """The scores, in percent, of the sentences with these numbers."""
        translations = [hypotheses[n] for n in numbers]
        expected = [references[n] for n in numbers]
        return {name: round(metric.corpus_score(translations, [expected]).score, 2) for name, metric in metrics.items()}

    tokens = sum(len(translator.tokenizer.target.encode(text)) for text in hypotheses)
    scores = {
        "sentences": len(pairs),
        **score(range(len(pairs))),
        "signature": str(metrics["bleu"].get_signature()),
        "beam": beam,
        "length_penalty": length_penalty,
        "tokens_per_second": round(tokens / seconds, 1),
    }
    if isinstance(translator.model, GruModel):
        model, tokenizer = translator.model, translator.tokenizer
        clean = [(source_text(source, tokenizer), tidy(target)) for source, target in pairs]
        scores["perplexity"] = round(perplexity(model, tokenizer, clean, teacher_forcing=0), 3)
        scores["perplexity_teacher_forced"] = round(perplexity(model, tokenizer, clean), 3)
    for group in lengths.numbers_by_length(sources) if by_length else ():
        words = [len(sources[n].split()) for n in group]
        sizes = round(sum(words) / len(words), 2), min(words), max(words), len(group)
        scores.setdefault(lengths.KEY, []).append(vars(lengths.Group(*sizes, **score(group))))
    return scores


def evaluate_text(writer: Writer, lines: list[str]) -> dict[str, Any]:
    """Measure a language model on lines of words: its perplexity per word (`<eos>` counted, in windows), and speed."""
    if not lines:
        raise ValueError("the text holds no lines")
    ids = torch.tensor(writer.tokenizer.line_ids(lines))
    begun = time.perf_counter()
    value = text_perplexity(writer.model, ids, writer.tokenizer.eos_id)
    seconds = time.perf_counter() - begun
    return {
        "perplexity": round(value, 2),
        "tokens": len(ids),
        "window": writer.config.max_length,
        "tokens_per_second": round(len(ids) / seconds, 1),
    }
