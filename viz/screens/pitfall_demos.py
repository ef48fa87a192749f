"""What the page Pitfalls computes: each mistake beside the right version, as two figures and numbers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor, nn

from model import masks, pitfalls
from model.positional import sinusoidal
from model.taps import record
from model.tokenizer import BOS_ID, EOS_ID, PAD_ID
from model.translation import Translation
from model.translator import Translator
from viz.figures import attention_heatmap, bars, curves, mask_heatmap, values_heatmap

PADS = 3
DRAWN_DIMENSIONS = 64
DROPOUT = 0.1
NOTEBOOK_TABLE = (58_101, 512)  # vocabulary and d_model of the notebook that leaves out the factor
GRU_SIZES = (32, 24)
PAD = "<pad>"


@dataclass(frozen=True)
class Demo:
    """One mistake beside the right version.

    Attributes:
        wrong, right: the figures.
        measured: what the difference is of.
        difference: in a number.
        more: further numbers: what they are, and the number as text.
    """

    wrong: go.Figure
    right: go.Figure
    measured: str
    difference: float
    more: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sentence:
    """What the visitor typed, translated greedily and recorded whole."""

    translator: Translator
    result: Translation

    @property
    def src(self) -> Tensor:
        """The source ids (1, S)."""
        return torch.tensor([[*self.translator.tokenizer.source.encode(self.result.source), EOS_ID]])

    @property
    def tgt(self) -> Tensor:
        """What the decoder read (1, T), the start token first."""
        ids = self.translator.tokenizer.target.encode(self.result.text)
        return torch.tensor([[BOS_ID, *ids][: self.translator.config.max_length - PADS]])

    def tensor(self, address: str) -> Tensor:
        """A recorded array."""
        return torch.from_numpy(self.result.trace[address].copy())

    def names(self, ids: Tensor) -> list[str]:
        """The tokens of ids (1, T)."""
        return self.translator.tokenizer.target.tokens(ids[0].tolist())


def loop(sentence: Sentence) -> Demo:
    """The literal loop against the paper's encoding."""
    tokens = sentence.result.source_tokens
    width = 2 * (sentence.translator.config.d_model // 2)
    right, wrong = (make(len(tokens), width).numpy() for make in (sinusoidal, pitfalls.literal_loop))
    gap = np.abs(right - wrong)
    shared = {"value": "encoding", "limit": 1.0}
    return Demo(
        values_heatmap(wrong, tokens, **shared),
        values_heatmap(right, tokens, **shared),
        "Largest difference of the two encodings of this sentence",
        float(gap.max()),
        (("numbers that differ by more than 0.1", f"{(gap > 0.1).mean():.0%}"),),
    )


def transpose(sentence: Sentence) -> Demo:
    """Attention without the transpose: heads attend to heads."""
    q, k, v = (sentence.tensor(f"encoder.layers.0.self_attention.{name}") for name in "qkv")  # (H, S, K)
    changed = v.clone()
    changed[:, -1] += 1  # at the last token: what do the other tokens notice?

    def right(v: Tensor) -> tuple[Tensor, Tensor]:
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
        return weights, (weights @ v).transpose(0, 1)

    def wrong(v: Tensor) -> tuple[Tensor, Tensor]:
        return pitfalls.forgotten_transpose(*(x.transpose(0, 1) for x in (q, k, v)))

    noticed = [(f(changed)[1] - f(v)[1])[:-1].abs().amax().item() if v.size(1) > 1 else 0.0 for f in (right, wrong)]
    (weights, _), (mistaken, _) = right(v), wrong(v)
    heads = [f"head {head}" for head in range(len(q))]
    tokens = sentence.result.source_tokens
    return Demo(
        attention_heatmap(mistaken[0].numpy(), heads, heads, query_axis="head (asks)", key_axis="head (is read)"),
        attention_heatmap(weights[0].numpy(), tokens, tokens),
        "What the other tokens notice when the value of the last one grows by 1: right minus wrong",
        noticed[0] - noticed[1],
        (
            ("noticed, right", f"{noticed[0]:.3f}"),
            ("noticed, wrong", f"{noticed[1]:.3f}"),
            ("weights, right", f"{weights.numel():,}"),
            ("weights, wrong", f"{mistaken.numel():,}"),
        ),
    )


def residual(sentence: Sentence) -> Demo:
    """A feed-forward that adds its input itself."""
    model, result = sentence.translator.model, sentence.result
    last = f"encoder.layers.{result.config.n_encoder_layers - 1}.self_attention.weights"
    with torch.inference_mode(), record(last, "encoder.output") as trace:
        memory = pitfalls.double_residual(model, sentence.src)
    right = result.trace["encoder.output"]
    written = pitfalls.write(model, memory, 2 * len(result.target_tokens) + 5)
    tokens = result.source_tokens
    return Demo(
        attention_heatmap(trace[last][0, 0].numpy(), tokens, tokens),
        attention_heatmap(result.trace[last][0], tokens, tokens),
        "Largest difference in the output of the encoder",
        float(np.abs(trace["encoder.output"][0].numpy() - right).max()),
        (
            ("largest number in the right output", f"{np.abs(right).max():.3g}"),
            ("translation, right", result.text),
            ("translation, wrong", sentence.translator.tokenizer.target.decode(written)),
        ),
    )


def scale(sentence: Sentence) -> Demo:
    """Embedding and positions at the start of training, with and without the factor."""
    tokens = sentence.result.source_tokens
    vocab_size, d_model = NOTEBOOK_TABLE
    positions = sinusoidal(len(tokens), d_model).float()
    wrong = pitfalls.bare_embedding(len(tokens), vocab_size, d_model)
    right = torch.randn(wrong.shape, generator=torch.Generator().manual_seed(0)) * d_model**-0.5 * math.sqrt(d_model)
    sizes = {"right": right, "wrong": wrong, "wrong table, with the factor": wrong * math.sqrt(d_model)}
    encoding = _rms(positions)
    shared = {"value": "input", "limit": 2.0, "column_axis": f"dimension (the first {DRAWN_DIMENSIONS} of {d_model})"}
    return Demo(
        values_heatmap((wrong + positions)[:, :DRAWN_DIMENSIONS].numpy(), tokens, **shared),
        values_heatmap((right + positions)[:, :DRAWN_DIMENSIONS].numpy(), tokens, **shared),
        "How many times larger the positions are than the embedding, wrong version",
        encoding / _rms(wrong),
        (
            ("root mean square of the positions", f"{encoding:.3f}"),
            *((f"of the embedding, {name}", f"{_rms(x):.3f}") for name, x in sizes.items()),
        ),
    )


def dropout(sentence: Sentence) -> Demo:
    """The input of the encoder in training, with its dropout applied or forgotten."""
    tokens = sentence.result.source_tokens
    words, positions = (sentence.tensor(f"encoder.input.{name}") for name in ("tokens", "positions"))
    wrong = pitfalls.unused_dropout(words, positions, DROPOUT)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.Dropout(DROPOUT)
        right = layer.train()(words + positions)
        evaluated = layer.eval()(words + positions)
    shared = {"value": "input", "limit": torch.stack([right, wrong]).abs().max().item() or 1.0}
    n = min(DRAWN_DIMENSIONS, right.size(1))
    shared["column_axis"] = f"dimension (the first {n} of {right.size(1)})"
    return Demo(
        values_heatmap(wrong[:, :n].numpy(), tokens, **shared),
        values_heatmap(right[:, :n].numpy(), tokens, **shared),
        "Largest difference in training",
        (right - wrong).abs().max().item(),
        (
            ("largest difference in evaluation, where dropout does nothing", f"{(evaluated - wrong).abs().max():g}"),
            ("set to 0, right", f"{(right == 0).float().mean():.1%}"),
            ("set to 0, wrong", f"{(wrong == 0).float().mean():.1%}"),
        ),
    )


def norm(sentence: Sentence) -> Demo:
    """The tutorial's layer norm, at the start, after one step of Adam, and with trained weights."""
    tokens = sentence.result.source_tokens
    x = sentence.tensor("encoder.input.stream")
    trained = sentence.translator.model.encoder.layers[0].residual_self.norm
    fresh = nn.LayerNorm(x.size(-1), eps=trained.eps)
    unbiased = math.sqrt(1 - 1 / x.size(-1))  # the constant that separates the two deviations

    def gap(layer: nn.LayerNorm) -> float:
        with torch.no_grad():
            return (pitfalls.own_layer_norm(x, layer.weight, layer.bias, layer.eps) / unbiased - layer(x)).abs().max()

    at_start = gap(fresh)
    optimizer = torch.optim.Adam(fresh.parameters(), lr=1e-3)
    (fresh(x) - trained(x).detach()).square().mean().backward()
    optimizer.step()
    after_a_step, after_training = gap(fresh), gap(trained)
    wrong = pitfalls.own_layer_norm(x, trained.weight, trained.bias, trained.eps)
    right = trained(x).detach()
    n = min(DRAWN_DIMENSIONS, x.size(1))
    shared = {"value": "normed", "limit": right.abs().max().item()}
    shared["column_axis"] = f"dimension (the first {n} of {x.size(1)})"
    return Demo(
        values_heatmap(wrong.detach()[:, :n].numpy(), tokens, **shared),
        values_heatmap(right[:, :n].numpy(), tokens, **shared),
        "Largest difference with trained weights",
        (wrong - right).abs().max().item(),
        (
            ("at the start, the constant taken out", f"{at_start:.1e}"),
            ("after one step of Adam (learning rate 0.001)", f"{after_a_step:.1e}"),
            ("with trained weights", f"{after_training:.1e}"),
        ),
    )


def best(_: Sentence) -> Demo:
    """The best model by validation, kept by alias or by copy, while a small model overfits."""
    figures, kept = [], []
    for name, keep in (("alias", pitfalls.keep_alias), ("copy", copy.deepcopy)):
        losses, loss = pitfalls.overfit(keep)
        epochs = np.arange(1, len(losses) + 1)
        line = f"validation loss, kept by {name}"
        at = epochs[int(np.argmin(np.abs(np.array(losses) - loss)))]
        marks = [(line, at, loss, f"kept: epoch {at}, loss {loss:.3f}")]
        figures.append(curves({line: np.stack([epochs, losses])}, x_axis="epoch", y_axis="loss", marks=marks))
        kept.append((loss, at))
    (wrong, last), (right, lowest) = kept
    return Demo(
        *figures,
        "Loss of what was kept: wrong minus right",
        wrong - right,
        (("kept by copy", f"{right:.3f}, epoch {lowest}"), ("kept by alias", f"{wrong:.3f}, epoch {last}")),
    )


def gru(sentence: Sentence) -> Demo:
    """The states of a small GRU over the sentence and the padding after it."""
    tokens = [*sentence.result.source_tokens, *[PAD] * PADS]
    length = len(tokens) - PADS
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        embedding = nn.Embedding(len(sentence.translator.tokenizer.source), GRU_SIZES[0])
        cell = nn.GRU(*GRU_SIZES, batch_first=True)
        ids = torch.cat([sentence.src, torch.full((1, PADS), PAD_ID)], dim=1)
        embedded = embedding(ids)
        wrong = pitfalls.gru_over_padding(cell, embedded)[0]
        packed = nn.utils.rnn.pack_padded_sequence(embedded, torch.tensor([length]), batch_first=True)
        states, context = cell(packed)
        right, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=len(tokens))
    shared = {"value": "state", "limit": 1.0, "column_axis": "hidden dimension"}
    return Demo(
        values_heatmap(wrong.numpy(), tokens, **shared),
        values_heatmap(right[0].numpy(), tokens, **shared),
        f"Largest difference of the context vector, with {PADS} pads after the sentence",
        (wrong[-1] - context[0, 0]).abs().max().item(),
        (
            ("the same without pads", f"{(wrong[length - 1] - context[0, 0]).abs().max():.2g}"),
            ("largest number in the right context vector", f"{context.abs().max():.3f}"),
        ),
    )


def start(sentence: Sentence) -> Demo:
    """A decoder that begins with padding, whose first row is fully masked."""
    model, result, memory = sentence.translator.model, sentence.result, _memory(sentence)
    tgt = sentence.tgt
    wrong_tgt, wrong_mask = pitfalls.start_from_padding(tgt)
    address = "decoder.layers.0.self_attention.weights"
    with record(address) as trace:
        wrong = pitfalls.decode_with(model, wrong_tgt, wrong_mask, memory)
    stepwise = pitfalls.decode_step_by_step(model, wrong_tgt, wrong_mask, memory)
    with record(address) as right_trace, torch.inference_mode():
        right = model.decode(tgt, masks.decoder_mask(tgt, PAD_ID), memory.fresh())
    maps = [t[address][0, 0].numpy() for t in (trace, right_trace)]
    first = sentence.translator.tokenizer.target.encode(result.text)[:1] or [EOS_ID]
    chances = [logits[0, 0].softmax(-1)[first[0]].item() for logits in (right, wrong)]
    written = pitfalls.write(model, memory, 2 * len(result.target_tokens) + 5, from_padding=True)
    text = sentence.translator.tokenizer.target.encode(result.text)
    ever_targets = [set(range(len(text))), {i + 1 for i in range(len(pitfalls.pairs_without_start(text)[1]))}]
    return Demo(
        attention_heatmap(maps[0], sentence.names(wrong_tgt), sentence.names(wrong_tgt)),
        attention_heatmap(maps[1], sentence.names(tgt), sentence.names(tgt)),
        "Weight that the first row gives to later tokens: wrong minus right",
        float(maps[0][0, 1:].sum() - maps[1][0, 1:].sum()),
        (
            ("whole pass against step by step, largest difference of logits", f"{(wrong - stepwise).abs().max():.3g}"),
            ("tokens that are ever a target, right", f"{len(ever_targets[0])} of {len(text)}"),
            ("tokens that are ever a target, wrong", f"{len(ever_targets[1])} of {len(text)}"),
            ("probability of the first token, right", f"{chances[0]:.3f}"),
            ("probability of the first token, wrong", f"{chances[1]:.3f}"),
            ("translation, right", result.text),
            ("translation, wrong", sentence.translator.tokenizer.target.decode(written)),
        ),
    )


def tokenizer(sentence: Sentence) -> Demo:
    """The translation cut by a tokenizer of its own language and by one of the source's."""
    card = sentence.translator.card
    known = tuple(pitfalls.SAMPLES)
    source = card.get("source") if card.get("source") in known else known[0]
    target = card.get("target") if card.get("target") in known else known[1]
    words = sentence.result.text.split() or pitfalls.SAMPLES[target].split()[:12]
    counts, pieces = [], []
    for language in (source, target):
        cutter = pitfalls.sample_tokenizer(language)
        cut = [cutter.tokens(cutter.encode(word)) for word in words]
        counts.append(np.array([[len(one)] for one in cut]))
        pieces.append(" ".join("·".join(one) for one in cut))
    wrong, right = counts
    shared = {"value": "pieces", "top": float(max(wrong.max(), right.max()))}
    return Demo(
        bars(wrong, words, **shared),
        bars(right, words, **shared),
        "Pieces in all: wrong minus right",
        float(wrong.sum() - right.sum()),
        (
            ("pieces a word, right", f"{right.mean():.2f}"),
            ("pieces a word, wrong", f"{wrong.mean():.2f}"),
            ("cut, right", pieces[1]),
            ("cut, wrong", pieces[0]),
        ),
    )


def rows(sentence: Sentence) -> Demo:
    """Padding laid over rows or columns: on the right, on the left, and without the causal mask."""
    tgt = sentence.tgt
    pads = torch.full((1, PADS), PAD_ID)
    on_the_right, on_the_left = torch.cat([tgt, pads], dim=1), torch.cat([pads, tgt], dim=1)
    causal = masks.causal_mask(on_the_right.size(1))
    wrong_mask = masks.combine(pitfalls.row_padding_mask(on_the_right), causal)
    right_mask = masks.decoder_mask(on_the_right, PAD_ID)
    names = sentence.names(on_the_right)
    at_right = _logit_gap(sentence, on_the_right, causal)
    return Demo(
        mask_heatmap(wrong_mask[0, 0].numpy(), names, names),
        mask_heatmap(right_mask[0, 0].numpy(), names, names),
        f"Largest difference of the logits of real tokens, {PADS} pads on the right",
        at_right,
        (
            ("with the pads on the left", f"{_logit_gap(sentence, on_the_left, causal):.3g}"),
            ("on the right, without the causal mask", f"{_logit_gap(sentence, on_the_right, None):.3g}"),
        ),
    )


def scaling(sentence: Sentence) -> Demo:
    """Weights of a head from scores that are scaled, and from bare products."""
    at = "encoder.layers.0.self_attention."
    mask = sentence.tensor(at + "mask")
    right = sentence.tensor(at + "weights")
    wrong = pitfalls.unscaled_weights(sentence.tensor(at + "raw_scores"), mask)
    tokens = sentence.result.source_tokens
    largest = [w.amax(-1).mean().item() for w in (right, wrong)]
    slopes = [(w * (1 - w)).sum(-1).mean().item() for w in (right, wrong)]
    return Demo(
        attention_heatmap(wrong[0].numpy(), tokens, tokens),
        attention_heatmap(right[0].numpy(), tokens, tokens),
        "Largest weight of a row, mean over rows and heads of the layer: wrong minus right",
        largest[1] - largest[0],
        (
            ("largest weight, right", f"{largest[0]:.3f}"),
            ("largest weight, wrong", f"{largest[1]:.3f}"),
            ("slope of the softmax (sum of w(1 − w) in a row), right", f"{slopes[0]:.3f}"),
            ("slope, wrong", f"{slopes[1]:.3f}"),
        ),
    )


def after(sentence: Sentence) -> Demo:
    """A map taken before dropout and one taken after it."""
    result = sentence.result
    right = torch.from_numpy(result.attention("cross")[-1].copy())
    wrong = pitfalls.weights_after_dropout(right, DROPOUT)
    shared = {"value": "weight", "limit": max(1.0, wrong[0].max().item()), "row_axis": "token this step read (asks)"}
    shared["column_axis"] = "source position (is read)"
    return Demo(
        values_heatmap(wrong[0].numpy(), result.target_tokens, **shared),
        values_heatmap(right[0].numpy(), result.target_tokens, **shared),
        "How far a row's sum is from 1 at most, over the heads of the layer: wrong minus right",
        ((wrong.sum(-1) - 1).abs().max() - (right.sum(-1) - 1).abs().max()).item(),
        (
            ("farthest sum, right", f"{_farthest(right):.3f}"),
            ("farthest sum, wrong", f"{_farthest(wrong):.3f}"),
            ("weights set to 0, wrong", f"{((wrong == 0) & (right > 0)).float().mean():.1%}"),
            ("in evaluation, largest difference", f"{(nn.Dropout(DROPOUT).eval()(right) - right).abs().max():g}"),
        ),
    )


DEMOS: dict[str, Callable[[Sentence], Demo]] = {
    demo.__name__: demo
    for demo in (
        loop, transpose, residual, scale, dropout, norm, best, gru, start, tokenizer, rows, scaling, after
    )  # fmt: skip
}


def _rms(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


def _farthest(weights: Tensor) -> float:
    """The sum of a row that is farthest from 1."""
    sums = weights.sum(-1).flatten()
    return sums[(sums - 1).abs().argmax()].item()


@torch.inference_mode()
def _memory(sentence: Sentence):
    return sentence.translator.model.encode(sentence.src)


def _logit_gap(sentence: Sentence, tgt: Tensor, causal: Tensor | None) -> float:
    """Largest difference of the logits of real tokens between padded columns hidden and padded rows blanked."""
    model, memory = sentence.translator.model, _memory(sentence)
    columns, mistaken = masks.padding_mask(tgt, PAD_ID), pitfalls.row_padding_mask(tgt)
    size = (1, 1, tgt.size(1), tgt.size(1))
    both = [mask.expand(size) if causal is None else masks.combine(mask, causal) for mask in (columns, mistaken)]
    right, wrong = (pitfalls.decode_with(model, tgt, mask, memory)[0] for mask in both)
    return (right - wrong)[tgt[0] != PAD_ID].abs().max().item()
