"""Mistakes in attention: heads, scores, masks, the maps themselves."""

import torch
from torch import Tensor

from model import masks
from model.experiments import pitfalls
from model.taps import record
from model.text.special import EOS_ID, PAD_ID
from viz.figures import attention_heatmap, mask_heatmap, values_heatmap
from viz.pages.pitfalls.common import DROPOUT, LONGER, PADS, Demo, Sentence, both, evaluated, gap, percent, pitfall
from viz.text.language import message, say

FIRST = "encoder.layers.0.self_attention."


@pitfall(
    name="The forgotten transpose",
    explanation="Splitting off the heads leaves them behind the tokens, and without a transpose the product compares "
    "the heads of one token with each other. It runs without an error, but nothing ever passes from one token to "
    "another.",
    wrong_line="q = q.view(B, T, n_heads, d_head)\nscores = q @ k.transpose(-2, -1)   # (B, T, heads, heads)",
    right_line="q = q.view(B, T, n_heads, d_head).transpose(1, 2)\n"
    "scores = q @ k.transpose(-2, -1)   # (B, heads, T, T)",
    wrong_picture="Attention between heads, inside the first token",
    right_picture="Attention between tokens: encoder layer 0, head 0",
)
def transpose(sentence: Sentence) -> Demo:
    weights, q, k, v = (sentence.tensor(FIRST + name) for name in ("weights", *"qkv"))  # (H, S, S), (H, S, K)
    changed = v.clone()
    changed[:, -1] += 1  # at the last token: does it change the others?

    def wrong(v: Tensor) -> tuple[Tensor, Tensor]:
        return pitfalls.forgotten_transpose(*(x.transpose(0, 1) for x in (q, k, v)))

    mistaken, context = wrong(v)
    noticed = gap((weights @ changed)[:, :-1], (weights @ v)[:, :-1]), gap(wrong(changed)[1][:-1], context[:-1])
    heads, tokens = [say("head {head}", head=head) for head in range(len(q))], sentence.result.source_tokens
    axes = {"query_axis": message("head (query)"), "key_axis": message("head (key)")}
    return Demo(
        attention_heatmap(mistaken[0].numpy(), heads, heads, **axes, say=say),
        attention_heatmap(weights[0].numpy(), tokens, tokens, say=say),
        say("Effect on other tokens of adding 1 to the last value: right minus wrong"),
        noticed[0] - noticed[1],
        {say("Effect on the other tokens"): noticed, say("Number of weights"): (weights.numel(), mistaken.numel())},
    )


@pitfall(
    name="Scores without scaling",
    explanation="If components have unit variance, the standard deviation of a dot product is √d_k, so without the "
    "division by √d_k the softmax gives nearly all weight to one key. There its slope is small, and the paper suspects "
    "that little is learned through it.",
    wrong_line="weights = softmax(q @ k.transpose(-2, -1))",
    right_line="weights = softmax(q @ k.transpose(-2, -1) / sqrt(d_k))",
    wrong_picture="Not scaled: encoder layer 0, head 0",
    right_picture="Scaled: encoder layer 0, head 0",
)
def scaling(sentence: Sentence) -> Demo:
    right, tokens = sentence.tensor(FIRST + "weights"), sentence.result.source_tokens
    wrong = pitfalls.unscaled_weights(sentence.tensor(FIRST + "raw_scores"), sentence.tensor(FIRST + "mask"))
    largest = right.amax(-1).mean().item(), wrong.amax(-1).mean().item()
    slopes = tuple((w * (1 - w)).sum(-1).mean() for w in (right, wrong))
    return Demo(
        *both(attention_heatmap, wrong[0], right[0], tokens, tokens),
        say("Mean of the largest row weights in this layer: wrong minus right"),
        largest[1] - largest[0],
        {say("Mean of the largest row weights"): largest, say("Slope of the softmax, Σ w(1 − w) per row"): slopes},
    )


@pitfall(
    name="Attention shown after dropout",
    explanation="Dropout after the softmax sets some weights to 0 and enlarges the others, differently every time, so "
    "a map taken there shows noise and rows that do not sum to 1. In evaluation dropout does nothing and the "
    "difference is 0: the mistake shows only in maps taken while training.",
    wrong_line="weights = dropout(softmax(scores))\nself.attention = weights",
    right_line="weights = softmax(scores)\nself.attention = weights\nweights = dropout(weights)",
    wrong_picture="Taken after dropout: cross-attention, last layer, head 0",
    right_picture="Taken before dropout: cross-attention, last layer, head 0",
)
def after(sentence: Sentence) -> Demo:
    right = torch.from_numpy(sentence.result.attention("cross")[-1])
    wrong = pitfalls.weights_after_dropout(right, DROPOUT)
    shared = {"value": message("weight"), "limit": max(1.0, wrong[0].max().item())}
    shared |= {"row_axis": message("word just read (query)"), "column_axis": message("source (key)")}
    sums = [weights.sum(-1).flatten() for weights in (right, wrong)]
    farthest = tuple(one[(one - 1).abs().argmax()].item() for one in sums)
    return Demo(
        *both(values_heatmap, wrong[0], right[0], sentence.result.target_tokens, **shared),
        say("Largest deviation of a row sum from 1 in this layer: wrong minus right"),
        abs(farthest[1] - 1) - abs(farthest[0] - 1),
        evaluated(right)
        | {say("Row sum farthest from 1"): farthest, say("Weights set to 0"): percent((wrong == 0) & (right > 0))},
    )


@pitfall(
    name="No start token",
    explanation="Without a start token and a shift, the first word is read in training but never predicted, so a model "
    "that begins with padding here loses the beginning of the translation. T5 and Marian do start with their padding "
    "token, but shift the target behind it and do not mask it; with −1e9 instead of −∞ a masked first row turns "
    "uniform over all tokens, later ones too.",
    wrong_line="decoder_input, target = ids[:-1], ids[1:]   # ids without a start token",
    right_line="decoder_input, target = [BOS, *ids], [*ids, EOS]",
    wrong_picture="Beginning with padding: decoder layer 0, head 0",
    right_picture="Beginning with the start token: decoder layer 0, head 0",
)
def start(sentence: Sentence) -> Demo:
    model, cache, tgt = sentence.translator.model, sentence.cache, sentence.tgt
    address, logits, maps = "decoder.layers.0.self_attention.weights", [], []
    padded = pitfalls.start_from_padding(tgt)
    for ids, mask in (padded, (tgt, masks.decoder_mask(tgt))):
        with record(address) as trace:
            logits.append(pitfalls.decode_with(model, ids, mask, cache))
        maps.append((trace[address][0, 0].numpy(), sentence.names(ids)))
    apart = gap(logits[0], pitfalls.decode_step_by_step(model, *padded, cache))
    text = tgt[0, 1:].tolist()
    first, counts = text[0] if text else EOS_ID, (len(text), len(text[1:]))
    return Demo(
        *(attention_heatmap(weights, names, names, say=say) for weights, names in maps),
        say("Weight that the first row gives to later tokens: wrong minus right"),
        float(maps[0][0][0, 1:].sum() - maps[1][0][0, 1:].sum()),
        {
            say("Largest difference of the logits, full pass against step by step"): apart,
            say("Tokens that are ever a target"): tuple(say("{n} of {total}", n=n, total=len(text)) for n in counts),
            say("Probability of the first token"): tuple(one[0, 0].softmax(-1)[first] for one in logits[::-1]),
        },
    )


@pitfall(
    name="Padded rows, not columns",
    explanation="A padding mask laid over the rows blanks what padded queries see and leaves the padded keys visible. "
    "With padding on the right the causal mask hides those keys from every real query anyway, so the difference there "
    "is 0; with padding on the left, or without the causal mask, real queries attend to the pads.",
    wrong_line="mask = (ids != PAD)[:, None, :, None] & causal",
    right_line="mask = (ids != PAD)[:, None, None, :] & causal",
    wrong_picture="Padded rows blanked",
    right_picture="Padded columns hidden",
)
def rows(sentence: Sentence) -> Demo:
    tgt, pads = sentence.tgt, torch.full((1, PADS), PAD_ID)
    on_the_right, on_the_left = torch.cat([tgt, pads], dim=1), torch.cat([pads, tgt], dim=1)
    causal, names = masks.causal_mask(on_the_right.size(1)), sentence.names(on_the_right)
    wrong_mask = masks.combine(pitfalls.row_padding_mask(on_the_right), causal)
    right_mask = masks.decoder_mask(on_the_right)
    return Demo(
        *both(mask_heatmap, wrong_mask[0, 0], right_mask[0, 0], names, names),
        say("Largest difference of the logits of real tokens, {n} pads on the right", n=PADS),
        _logit_gap(sentence, on_the_right, causal),
        {
            say("With the pads on the left"): _logit_gap(sentence, on_the_left, causal),
            say("On the right, without the causal mask"): _logit_gap(sentence, on_the_right, torch.ones_like(causal)),
            say("Pads after the source of the translations"): LONGER,
        },
    )


def _logit_gap(sentence: Sentence, tgt: Tensor, others: Tensor) -> float:
    """Largest difference of the logits of real tokens between padded columns hidden and padded rows blanked."""
    both = masks.padding_mask(tgt), pitfalls.row_padding_mask(tgt)
    model, cache, real = sentence.translator.model, sentence.cache, tgt[0] != PAD_ID
    return gap(*(pitfalls.decode_with(model, tgt, masks.combine(one, others), cache)[0][real] for one in both))
