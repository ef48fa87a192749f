"""Scores a translator on a file of sentence pairs with sacreBLEU, and a language model on a text."""

import time
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics import BLEU, CHRF

from model.analysis import lengths
from model.gru import GruModel
from model.training.data.corpora import Pair, read_lines
from model.training.evaluation import perplexity, text_perplexity
from model.translator import Translator, Writer, tidy


def read_pairs(path: Path) -> list[Pair]:
    """Read lines of source<TAB>reference, gzip-compressed if the name ends in .gz; further columns are ignored.

    Raises:
        ValueError: if the file cannot be read or is empty, or a line has no tab or an empty side.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        source, reference, *_ = [*line.split("\t"), ""]
        if not source.strip() or not reference.strip():
            raise ValueError(f"{path}, line {number}: expected source<TAB>reference, got {line[:60]!r}")
        pairs.append((source, reference))
    if not pairs:
        raise ValueError(f"{path} holds no lines")
    return pairs


def evaluate(
    translator: Translator,
    pairs: list[Pair],
    beam: int,
    length_penalty: float,
    lowercase: bool = False,
    by_length: bool = False,
) -> dict[str, Any]:
    """Translate the sources of raw pairs and compare with the references.

    Returns:
        sentences, bleu and chrf (sacreBLEU, 13a tokenisation, without case where `lowercase`; Post 2018), signature (of
        the BLEU), beam, length_penalty and tokens_per_second (tokens of the translations over the time of translating).
        For a recurrent model also perplexity (of the references' tokens without teacher forcing: every step reads what
        the step before found most probable) and perplexity_teacher_forced. Where asked for by_length, one entry for
        each group of `model.analysis.lengths`.

    Raises:
        ValueError: if a source is too long; the message names the line.
    """
    sources, references = zip(*pairs, strict=True)
    begun = time.perf_counter()
    hypotheses = translator.translate_lines(sources, beam, length_penalty)
    seconds = time.perf_counter() - begun
    bleu, chrf = BLEU(lowercase=lowercase), CHRF(lowercase=lowercase)
    tokens = sum(len(translator.tokenizer.target.encode(text)) for text in hypotheses)
    scores = {
        "sentences": len(pairs),
        "bleu": round(bleu.corpus_score(hypotheses, [references]).score, 2),
        "chrf": round(chrf.corpus_score(hypotheses, [references]).score, 2),
        "signature": str(bleu.get_signature()),
        "beam": beam,
        "length_penalty": length_penalty,
        "tokens_per_second": round(tokens / seconds, 1),
    }
    if isinstance(translator.model, GruModel):
        system = (translator.model, translator.tokenizer, [(tidy(source), tidy(target)) for source, target in pairs])
        scores["perplexity"] = round(perplexity(*system, teacher_forcing=0), 3)
        scores["perplexity_teacher_forced"] = round(perplexity(*system), 3)
    if by_length:
        triples = [(*pair, hypothesis) for pair, hypothesis in zip(pairs, hypotheses, strict=True)]
        groups = ([triples[n] for n in group] for group in lengths.numbers_by_length(sources))
        scores[lengths.KEY] = [_score_group(group, bleu, chrf) for group in groups]
    return scores


def _score_group(sentences: list[tuple[str, str, str]], bleu: BLEU, chrf: CHRF) -> dict[str, Any]:
    """Score sentences of about one length: source, reference and hypothesis of each."""
    sources, references, hypotheses = zip(*sentences, strict=True)
    words = [len(source.split()) for source in sources]
    scores = (round(metric.corpus_score(hypotheses, [references]).score, 2) for metric in (bleu, chrf))
    return vars(lengths.Group(round(sum(words) / len(words), 2), min(words), max(words), len(sentences), *scores))


def evaluate_text(writer: Writer, lines: list[str]) -> dict[str, Any]:
    """Measure a language model on the lines of a plain text, words apart by spaces.

    Returns:
        perplexity (per word, `<eos>` counted, in windows that do not overlap), tokens, window and tokens_per_second.
    """
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
