"""What every head of a checkpoint is worth and does, measured over held-out sentences and kept beside its weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU

from model.analysis import head_roles
from model.checkpoint import WEIGHTS, read_json, sha256_of, write_text
from model.interventions.edits import Edits, all_heads, layer_counts
from model.measures.head_importance import gradient_estimates, without_each_head
from model.measures.kept import has_form, is_table
from model.text.special import EOS_ID
from model.training.data.corpora import Pair
from model.translation import KINDS
from model.translator import Translator, tidy

FILE = "heads.json"
IMPORTANCE = ("log_probability", "bleu", "gradient")
_PLACES = 5  # decimals
_FORM = {
    "command": str,
    "data": str,
    "sentences": int,
    "tokens": int,
    "bleu": {"score": float, "sentences": int, "signature": str},
}


def measure(
    translator: Translator, pairs: list[Pair], bleu_pairs: int, say: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Measure every head over sentence pairs, the decoder reading the references.

    Args:
        translator: of a Transformer.
        pairs: source and reference; a pair too long for the model is left out.
        bleu_pairs: how many of the pairs are translated once for every head.
        say: told how far it is.

    Returns:
        sentences, tokens (of the references, ends counted), weights (SHA-256 of the file), bleu (of the whole model on
        the first bleu_pairs, greedy) with its signature, and "kinds": for each kind of attention, layers in rows and
        heads in columns, the change without the head in "log_probability" (nats a token) and in "bleu", the "gradient"
        estimate (nats a token), the means of `head_roles.NUMBERS`, the "role"; and the "divergence" of all its heads.

    Raises:
        ValueError: if the model has no such heads or no pair can be read.
    """
    heads = all_heads(_transformer(translator).config)
    usable = [pair for pair in pairs if _ids(translator, pair) is not None]
    if not usable:
        raise ValueError("no pair of the file is short enough for the model")
    counts, divergence = dict.fromkeys(KINDS), dict.fromkeys(KINDS, 0.0)
    shape = {kind: (n, translator.config.n_heads) for kind, n in layer_counts(translator.config).items()}
    change = {kind: np.zeros(size) for kind, size in shape.items()}
    gradient = {kind: np.zeros(size) for kind, size in shape.items()}
    tokens = 0
    for number, pair in enumerate(usable, start=1):
        result = translator.force(*pair)
        source, written = _ids(translator, pair)
        tokens += len(written)
        for kind in KINDS:
            weights, mask = result.attention(kind), result.mask(kind)
            keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
            one = head_roles.tally(weights, mask, keys)
            counts[kind] = one if counts[kind] is None else counts[kind] + one
            divergence[kind] = divergence[kind] + head_roles.divergences(weights)
        whole = float(result.log_probabilities.sum(dtype="float64"))
        for some, values in without_each_head(translator.model, source, written):
            for head, value in zip(some, values, strict=True):
                change[head.kind][head.layer, head.head] += value.sum() - whole
        for kind, estimate in gradient_estimates(translator.model, [source], [written]).items():
            gradient[kind] += estimate[0]
        if number % 20 == 0:
            say(f"{number} of {len(usable)} sentences")
    subset = usable[:bleu_pairs]
    bleu, without = _bleu(translator, subset, heads, say)
    kinds = {
        kind: {
            "log_probability": _round(change[kind] / tokens),
            "bleu": _round(without[kind] - bleu["score"]),
            "gradient": _round(gradient[kind] / tokens),
            **{name: _round(value) for name, value in counts[kind].numbers().items()},
            "role": head_roles.roles(counts[kind], kind),
            "divergence": _round(divergence[kind] / len(usable)),
        }
        for kind in KINDS
    }
    digest = weights_digest(translator.folder)
    return {"sentences": len(usable), "tokens": tokens, "weights": digest, "bleu": bleu, "kinds": kinds}


def _bleu(translator: Translator, pairs: list[Pair], heads: list, say: Callable[[str], None]):
    """BLEU of greedy translations by the whole model, and by kind without each head."""
    sources, references = zip(*pairs, strict=True)
    metric = BLEU()

    def score(edits: Edits) -> float:
        return metric.corpus_score(translator.translate_lines(sources, 1, edits=edits), [references]).score

    whole = score(Edits())
    without = {kind: np.zeros((n, translator.config.n_heads)) for kind, n in layer_counts(translator.config).items()}
    for number, head in enumerate(heads, start=1):
        without[head.kind][head.layer, head.head] = score(Edits(off=(head,)))
        say(f"BLEU without {number} of {len(heads)} heads")
    said = {"score": round(whole, 2), "sentences": len(pairs), "beam": 1, "signature": str(metric.get_signature())}
    return said, without


def write(folder: Path, report: dict[str, Any]) -> Path:
    """Keep a report beside the weights it is of; returns its file."""
    text = json.dumps(report, indent=1, ensure_ascii=False)
    # One line a row of a table, not one a number.
    write_text(folder / FILE, re.sub(r"\[[^\[\]{}]*\]", lambda row: " ".join(row[0].split()), text) + "\n")
    return folder / FILE


def read(folder: Path, config) -> dict[str, Any] | None:
    """Read the report of a checkpoint.

    Args:
        folder: the checkpoint's.
        config: of its model.

    Returns:
        What `measure` returned, with the command; None where the checkpoint has none.

    Raises:
        ValueError: if the file is no report of this model, or of other weights.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    report = read_json(path)
    if report.get("weights") != weights_digest(folder):
        raise ValueError(f"{path} was measured with other weights: run python -m model heads again")
    for name, form in _FORM.items():
        if not has_form(report, {name: form}):
            raise ValueError(f"{path} is not a report of heads: {name} is incomplete")
    numbers = (*IMPORTANCE, *head_roles.NUMBERS)
    tables = dict.fromkeys((*numbers, "role", "divergence"), list)
    for kind, n_layers in layer_counts(config).items():
        if not has_form(report.get("kinds"), {kind: tables}):
            raise ValueError(f"{path} is not a report of heads: {kind} is incomplete")
        measured, size = report["kinds"][kind], (n_layers, config.n_heads)
        n = n_layers * config.n_heads
        fits = is_table(measured["role"], size, "U") and is_table(measured["divergence"], (n, n))
        if not fits or not all(is_table(measured[name], size) for name in numbers):
            raise ValueError(f"{path} does not fit the model: it has other layers or heads in {kind}")
    return report


def weights_digest(folder: Path) -> str:
    """The SHA-256 of a checkpoint's weights, in hexadecimal."""
    return sha256_of(folder / WEIGHTS)


def _transformer(translator: Translator) -> Translator:
    Edits(off=tuple(all_heads(translator.config)[:1])).check(translator.config)
    return translator


def _ids(translator: Translator, pair: Pair) -> tuple[list[int], list[int]] | None:
    """Ids of source and reference with their end tokens; None where one is too long to be recorded."""
    sides = (translator.tokenizer.source, translator.tokenizer.target)
    source, target = ([*side.encode(tidy(text)), EOS_ID] for side, text in zip(sides, pair, strict=True))
    limit = translator.max_source_tokens
    return (source, target) if 1 < len(source) <= limit and 1 < len(target) <= limit else None


def _round(values: np.ndarray) -> list:
    return np.round(values, _PLACES).tolist()
