"""What the page Pitfalls computes about attention: heads, scores, masks, the maps themselves."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model import masks
from model.experiments import pitfalls
from model.taps import record
from model.text.special import EOS_ID, PAD_ID
from viz.figures import attention_heatmap, mask_heatmap, values_heatmap
from viz.pages.pitfalls.common import DROPOUT, LONGER, PADS, Demo, Sentence, both_written
from viz.text.language import message, say


def transpose(sentence: Sentence) -> Demo:
    """Attention without the transpose: heads attend to heads."""
    q, k, v = (sentence.tensor(f"encoder.layers.0.self_attention.{name}") for name in "qkv")  # (H, S, K)
    changed = v.clone()
    changed[:, -1] += 1  # at the last token: does it change the others?

    def right(v: Tensor) -> tuple[Tensor, Tensor]:
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
        return weights, (weights @ v).transpose(0, 1)

    def wrong(v: Tensor) -> tuple[Tensor, Tensor]:
        return pitfalls.forgotten_transpose(*(x.transpose(0, 1) for x in (q, k, v)))

    noticed = [(f(changed)[1] - f(v)[1])[:-1].abs().amax().item() if v.size(1) > 1 else 0.0 for f in (right, wrong)]
    (weights, _), (mistaken, _) = right(v), wrong(v)
    heads = [say("head {head}", head=head) for head in range(len(q))]
    axes = {"query_axis": message("head (query)"), "key_axis": message("head (key)")}
    tokens = sentence.result.source_tokens
    return Demo(
        attention_heatmap(mistaken[0].numpy(), heads, heads, **axes, say=say),
        attention_heatmap(weights[0].numpy(), tokens, tokens, say=say),
        say("Effect on other tokens of adding 1 to the last value: right minus wrong"),
        noticed[0] - noticed[1],
        (
            (say("Effect on the other tokens"), say("{x:.3f}", x=noticed[0]), say("{x:.3f}", x=noticed[1])),
            (say("Number of weights"), f"{weights.numel():,}", f"{mistaken.numel():,}"),
        ),
        both_written(sentence, "transpose"),
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
        attention_heatmap(wrong[0].numpy(), tokens, tokens, say=say),
        attention_heatmap(right[0].numpy(), tokens, tokens, say=say),
        say("Mean of the largest row weights in this layer: wrong minus right"),
        largest[1] - largest[0],
        (
            (say("Mean of the largest row weights"), say("{x:.3f}", x=largest[0]), say("{x:.3f}", x=largest[1])),
            (say("Slope of the softmax, Σ w(1 − w) per row"), say("{x:.3f}", x=slopes[0]), say("{x:.3f}", x=slopes[1])),
        ),
        both_written(sentence, "scaling"),
    )


def after(sentence: Sentence) -> Demo:
    """A map taken before dropout and one taken after it."""
    result = sentence.result
    right = torch.from_numpy(result.attention("cross")[-1].copy())
    wrong = pitfalls.weights_after_dropout(right, DROPOUT)
    shared = {"value": message("weight"), "limit": max(1.0, wrong[0].max().item())}
    shared |= {"row_axis": message("word just read (query)"), "column_axis": message("source (key)")}
    return Demo(
        values_heatmap(wrong[0].numpy(), result.target_tokens, **shared, say=say),
        values_heatmap(right[0].numpy(), result.target_tokens, **shared, say=say),
        say("Largest deviation of a row sum from 1 in this layer: wrong minus right"),
        ((wrong.sum(-1) - 1).abs().max() - (right.sum(-1) - 1).abs().max()).item(),
        (
            (say("Row sum farthest from 1"), say("{x:.3f}", x=_farthest(right)), say("{x:.3f}", x=_farthest(wrong))),
            (say("Weights set to 0"), f"{((wrong == 0) & (right > 0)).float().mean():.1%}"),
            (
                say("Largest difference in evaluation, where dropout does nothing"),
                f"{(nn.Dropout(DROPOUT).eval()(right) - right).abs().max():g}",
            ),
        ),
    )


def start(sentence: Sentence) -> Demo:
    """A decoder that begins with padding, whose first row is fully masked."""
    model, result, cache = sentence.translator.model, sentence.result, _cache(sentence)
    tgt = sentence.tgt
    wrong_tgt, wrong_mask = pitfalls.start_from_padding(tgt)
    address = "decoder.layers.0.self_attention.weights"
    with record(address) as trace:
        wrong = pitfalls.decode_with(model, wrong_tgt, wrong_mask, cache)
    stepwise = pitfalls.decode_step_by_step(model, wrong_tgt, wrong_mask, cache)
    with record(address) as right_trace, torch.inference_mode():
        right = model.decode(tgt, masks.decoder_mask(tgt, PAD_ID), cache.fresh())
    maps = [t[address][0, 0].numpy() for t in (trace, right_trace)]
    first = sentence.translator.tokenizer.target.encode(result.text)[:1] or [EOS_ID]
    chances = [logits[0, 0].softmax(-1)[first[0]].item() for logits in (right, wrong)]
    text = sentence.translator.tokenizer.target.encode(result.text)
    counts = len(text), len(text[1:])
    ever_targets = [say("{n} of {total}", n=n, total=len(text)) for n in counts]
    return Demo(
        attention_heatmap(maps[0], sentence.names(wrong_tgt), sentence.names(wrong_tgt), say=say),
        attention_heatmap(maps[1], sentence.names(tgt), sentence.names(tgt), say=say),
        say("Weight that the first row gives to later tokens: wrong minus right"),
        float(maps[0][0, 1:].sum() - maps[1][0, 1:].sum()),
        (
            (
                say("Largest difference of the logits, full pass against step by step"),
                say("{x:.3g}", x=(wrong - stepwise).abs().max().item()),
            ),
            (say("Tokens that are ever a target"), *ever_targets),
            (say("Probability of the first token"), say("{x:.3f}", x=chances[0]), say("{x:.3f}", x=chances[1])),
        ),
        both_written(sentence, "start"),
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
        mask_heatmap(wrong_mask[0, 0].numpy(), names, names, say=say),
        mask_heatmap(right_mask[0, 0].numpy(), names, names, say=say),
        say("Largest difference of the logits of real tokens, {n} pads on the right", n=PADS),
        at_right,
        (
            (say("With the pads on the left"), say("{x:.3g}", x=_logit_gap(sentence, on_the_left, causal))),
            (say("On the right, without the causal mask"), say("{x:.3g}", x=_logit_gap(sentence, on_the_right, None))),
            (say("Pads after the source of the translations"), str(LONGER)),
        ),
        both_written(sentence, "rows"),
    )


def _farthest(weights: Tensor) -> float:
    """The sum of a row that is farthest from 1."""
    sums = weights.sum(-1).flatten()
    return sums[(sums - 1).abs().argmax()].item()


@torch.inference_mode()
def _cache(sentence: Sentence):
    return sentence.translator.model.start(sentence.src)


def _logit_gap(sentence: Sentence, tgt: Tensor, causal: Tensor | None) -> float:
    """Largest difference of the logits of real tokens between padded columns hidden and padded rows blanked."""
    model, cache = sentence.translator.model, _cache(sentence)
    columns, mistaken = masks.padding_mask(tgt, PAD_ID), pitfalls.row_padding_mask(tgt)
    size = (1, 1, tgt.size(1), tgt.size(1))
    both = [mask.expand(size) if causal is None else masks.combine(mask, causal) for mask in (columns, mistaken)]
    right, wrong = (pitfalls.decode_with(model, tgt, mask, cache)[0] for mask in both)
    return (right - wrong)[tgt[0] != PAD_ID].abs().max().item()
