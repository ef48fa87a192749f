"""Do weights and direct effects agree with what happens when something is taken away? Rank correlations of all of them.

Shape letters: L layers, H heads, T steps, S source tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.analysis.effects import RUNNER_UP
from model.checkpoint import read_json, write_text
from model.measures.contribution import contributions
from model.measures.head_importance import without_each_head
from model.measures.head_report import weights_digest
from model.measures.kept import has_form, is_table
from model.taps import intervene
from model.text.special import BOS_ID, PAD_ID
from model.transformer import Transformer
from model.translation import Translation
from model.translator import Translator

FILE = "agreement.json"
MEASURES = ("effects", "norms", "occlusion", "gradient")
DECODER = ("decoder_self", "cross")
AGAINST = {"mean": None, RUNNER_UP: RUNNER_UP}
_RATES = {"spearman": float, "kendall": float}
_FORM = {"command": str, "data": str, "sentences": int, "words": int, "heads": dict.fromkeys(AGAINST, _RATES)}


def kendall(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's rank correlation tau-b along the last axis, in which ties count for neither order (Kendall 1945).

    Args:
        a, b: (..., S), broadcastable.

    Returns:
        float64 (...), from -1 to 1; NaN where all values of a or of b are equal.

    Example:
        >>> round(float(kendall(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4]))), 4)
        0.9129
    """
    one, two = (np.sign(x[..., :, None] - x[..., None, :]).astype(np.float64) for x in (a, b))
    pairs = np.sqrt((one**2).sum((-2, -1)) * (two**2).sum((-2, -1)))
    both = (one * two).sum((-2, -1))
    return np.divide(both, pairs, out=np.full_like(both, np.nan), where=pairs > 0)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation of two lists (N,); equal values share the mean of their ranks."""

    def ranks(values: np.ndarray) -> np.ndarray:
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        return (counts.cumsum() - (counts - 1) / 2)[place]

    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def gradient_times_input(model: Transformer, source: Sequence[int], written: Sequence[int]) -> np.ndarray:
    """The gradient of each written word's log-probability by a source embedding, times that embedding.

    Args:
        model: in evaluation mode.
        source: ids of the source, the end token last.
        written: ids of the translation, without the start token.

    Returns:
        (T, S), in nats.
    """
    steps = torch.arange(len(written))
    src, tgt = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    src, tgt = (ids.expand(len(steps), -1) for ids in (src, tgt))  # row t is for step t
    seen: list[Tensor] = []

    def follow(embeddings: Tensor) -> Tensor:
        seen.append(embeddings.requires_grad_())  # (T, S, D)
        return embeddings

    with torch.enable_grad(), intervene({"encoder.input.tokens": lambda tokens: follow(tokens.detach())}):
        hidden = model.decoder(tgt, masks.decoder_mask(tgt, PAD_ID), model.encode(src))[steps, steps]  # (T, D)
        chosen = model.output(hidden).log_softmax(-1)[steps, torch.tensor(written)]  # (T,)
        (gradient,) = torch.autograd.grad(chosen.sum(), seen)
    return (gradient * seen[0]).sum(-1).detach().numpy()


def of_keys(translator: Translator, result: Translation) -> dict[str, np.ndarray]:
    """How far each cross-attention head's weights order the source tokens as other measures do.

    Args:
        translator: of an encoder-decoder Transformer.
        result: what it translated, without edits.

    Returns:
        By measure the rank correlation (`kendall`) of each row, (L, H, T): "effects" (direct, against the most probable
        other word) and "norms" (`contributions`) are of that head; "occlusion" and "gradient" of the whole model.
    """
    source = translator.source_ids(result.source)
    values = (
        translator.effects(result, RUNNER_UP).heads("cross"),
        contributions(translator.model, result, "cross"),
        translator.occlusion(result),
        gradient_times_input(translator.model, source, result.predicted_ids),
    )
    weights = result.attention("cross")
    return {name: kendall(weights, of_model) for name, of_model in zip(MEASURES, values, strict=True)}


def of_heads(translator: Translator, result: Translation) -> dict[str, np.ndarray]:
    """What every decoder head adds to each written word, beside the loss when that head alone is switched off.

    Args:
        translator, result: as for `of_keys`.

    Returns:
        (kinds of DECODER, L, H, T): the direct effects over all keys, in logits, by what they are compared with
        ("mean", "runner-up"), and "drop", that of the word's log-probability, in nats.
    """
    effects = {name: translator.effects(result, against) for name, against in AGAINST.items()}
    found = {name: np.stack([one.heads(kind).sum(-1) for kind in DECODER]) for name, one in effects.items()}
    found["drop"] = np.zeros(found["mean"].shape)
    source = translator.source_ids(result.source)
    for heads, without in without_each_head(translator.model, source, result.predicted_ids):
        for head, value in zip(heads, without, strict=True):
            if head.kind in DECODER:
                found["drop"][DECODER.index(head.kind), head.layer, head.head] = result.log_probabilities - value
    return found


def measure(
    translator: Translator, sources: Sequence[str], say: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Measure the agreement over held-out sentences, on the model's own greedy translations.

    Args:
        translator: of an encoder-decoder Transformer.
        sources: texts that it can read.
        say: told how far it is.

    Returns:
        "sentences"; "words" (written, ends counted); "keys": the means of `of_keys` over words, layers in rows and
        heads in columns; "heads": how direct effect and drop agree, by what effects are compared with, over all pairs
        of a head and a word ("spearman") and over the heads of each word ("kendall", the mean); and by kind of
        attention the means of `of_heads` over words.

    Raises:
        ValueError: if the model is another one, or a text cannot be read.
    """
    found: dict[str, list[np.ndarray]] = {}
    for number, source in enumerate(sources, start=1):
        result = translator.translate(source, beam=1)
        for name, values in (of_keys(translator, result) | of_heads(translator, result)).items():
            found.setdefault(name, []).append(values)
        if number % 20 == 0:
            say(f"{number} of {len(sources)} sentences")
    means, heads, cells = {}, {}, {}
    for name, parts in found.items():
        values = np.concatenate(parts, axis=-1)  # ([2,] L, H, words)
        means[name] = _round(np.nanmean(values, axis=-1))
        cells[name] = values.reshape(-1, values.shape[-1]).T  # (words, heads)
    for name in AGAINST:
        pooled = spearman(cells[name].ravel(), cells["drop"].ravel())
        within = np.nanmean(kendall(cells[name], cells["drop"]))
        heads[name] = {"spearman": _round(pooled), "kendall": _round(within)}
    return {
        "sentences": len(sources),
        "words": len(cells["drop"]),
        "keys": {name: means[name] for name in MEASURES},
        "heads": heads,
        **{kind: {name: means[name][place] for name in (*AGAINST, "drop")} for place, kind in enumerate(DECODER)},
    }


def keep(folder: Path, found: dict[str, Any]) -> Path:
    """Keep what `measure` found, with its command and data, beside the weights it is of; returns the file."""
    text = json.dumps({**found, "weights": weights_digest(folder)}, indent=1, ensure_ascii=False)
    # One line per row of a table, not one per number.
    write_text(folder / FILE, re.sub(r"\[[^\[\]{}]*\]", lambda row: " ".join(row[0].split()), text) + "\n")
    return folder / FILE


def kept(folder: Path, config) -> dict[str, Any] | None:
    """What `keep` wrote beside the weights of a checkpoint; None where there is nothing.

    Args:
        folder: the checkpoint's.
        config: of its model.

    Raises:
        ValueError: if the file does not fit the model, or is of other weights.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    found, size = read_json(path), (config.n_decoder_layers, config.n_heads)
    if found.get("weights") != weights_digest(folder):
        raise ValueError(f"{path} was measured with other weights: run python -m model agree --save again")
    tables = [found.get(kind, {}).get(name) for kind in DECODER for name in (*AGAINST, "drop")]
    if not has_form(found, _FORM) or not all(is_table(table, size) for table in tables):
        raise ValueError(f"{path} does not fit the model, or is not what python -m model agree --save wrote")
    return found


def _round(values: np.ndarray | float) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), 4).tolist()
