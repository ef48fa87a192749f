"""Every mistake of the page Pitfalls."""

import copy
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model import masks
from model.experiments import pitfalls
from model.positional import literal_loop, sinusoidal
from model.storage.checkpoint import NoRandomNumbers
from model.taps import record
from model.text.special import EOS_ID, PAD_ID
from model.training.sweeps import mistakes
from viz.figures import bars, curves, mask_heatmap
from viz.pages.pitfalls.common import (
    LONGER,
    PADS,
    HeadPicture,
    Pitfall,
    Sentence,
    both,
    gap,
    heads,
    percent,
    pitfall,
    values,
)
from viz.text import words
from viz.text.language import format_count, message, say

# Each mistake shows in its translation, which comes out right without them.
EXAMPLE = "The farmer gave the children apples and milk."
FIRST, INPUT = "encoder.layers.0.self_attention.", "encoder.input."
DROPOUT = 0.1


@pitfall(
    "Positions by the literal loop",
    "Positions only have to differ: a model that learns with these is hardly worse, one that learnt with others is "
    "misled.",
    "The paper's exponent is 2i/d for pair i, but a loop over 0, 2, 4, … already counts 2i. Doubled again, "
    "waves slow down twice as fast and a pair's sine and cosine differ in frequency: a shift is no longer a rotation.",
    "The positional encoding",
    "for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (2 * i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (2 * (i + 1) / d_model))",
    "for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (i / d_model))",
)
def loop(sentence: Sentence) -> tuple:
    tokens = sentence.result.source_tokens
    width = sentence.translator.transformer.config.d_model // 2 * 2
    right, wrong = (make(len(tokens), width) for make in (sinusoidal, literal_loop))
    return values(wrong, right, tokens, message("encoding"), message("dimension")), {
        say("Largest difference of the two encodings of this sentence"): gap(right, wrong),
        say("Numbers that differ by more than 0.1"): percent((right - wrong).abs() > 0.1),
    }


@pitfall(
    "The missing √d_model",
    "Embedding and positions must be of a similar size from the start: this training does not make up for it.",
    "The paper multiplies the embedding by √d_model before it adds the positions. Without the factor the "
    "words are small beside the positions, at the start of training (Xavier-uniform table of 58,101 × 512) about 120 "
    "times smaller.",
    "The input of the first layer",
    "x = embedding(ids) + positions",
    "x = embedding(ids) * sqrt(d_model) + positions",
)
def scale(sentence: Sentence) -> tuple:
    positions = sentence.tensor(INPUT + "positions")
    right = sentence.tensor(INPUT + "tokens")
    wrong = right / math.sqrt(right.size(1))
    sizes = [x.square().mean().sqrt() for x in (wrong, right, positions)]
    return values(wrong + positions, right + positions, sentence.result.source_tokens, message("input")), {
        say("Root mean square of the embedding"): tuple(sizes[:2]),
        say("Root mean square of the positions"): sizes[2],
    }


@pitfall(
    "Dropout that is never applied",
    "Dropout works against overfitting, which a short training does not reach: 1,000 steps do not show this mistake.",
    "The paper applies dropout to the sum of embedding and position; a common slip builds that dropout and "
    "never calls it. In evaluation dropout does nothing, so a trained model translates the same with either code.",
    "The input of the first layer in training",
    "self.dropout = nn.Dropout(0.1)\nreturn x + self.pe[:, : x.size(1)]",
    "self.dropout = nn.Dropout(0.1)\nreturn self.dropout(x + self.pe[:, : x.size(1)])",
)
def dropout(sentence: Sentence) -> tuple:
    wrong = sentence.tensor(INPUT + "stream")
    right = pitfalls.weights_after_dropout(wrong, DROPOUT)  # nn.Dropout draws from the generator that all share
    return values(wrong, right, sentence.result.source_tokens, message("input")), {
        say("Largest difference in training"): gap(right, wrong),
        say("Set to 0"): (percent(wrong == 0), percent(right == 0)),
    }


@pitfall(
    "One side's tokenizer for both",
    "Small pieces cost learning: a word takes more steps to write, and a batch of as many tokens holds fewer "
    "sentences.",
    "A subword model learned on one language cuts another into many small pieces, each of which says less. "
    "Both tokenizers here have the same size and learned from the same few sentences, each in its language.",
    "Pieces per word",
    "labels = tokenizer(targets)                  # the source side's model",
    "labels = tokenizer(text_target=targets)      # the target side's model",
)
def tokenizer(sentence: Sentence) -> tuple:
    card = sentence.translator.card
    samples = tuple(pitfalls.SAMPLES)
    languages = [
        card[side] if card.get(side) in samples else sample for side, sample in zip(("source", "target"), samples)
    ]
    words = sentence.result.text.split() or pitfalls.SAMPLES[languages[1]].split()[:12]
    cutters = map(pitfalls.sample_tokenizer, languages)
    pieces = [[cutter.tokens(cutter.encode(word)) for word in words] for cutter in cutters]
    wrong, right = (np.array([[len(word)] for word in text]) for text in pieces)
    figures = both(bars, wrong, right, words, value=message("pieces"), top=float(max(wrong.max(), right.max())))
    outputs = tuple(" ".join("·".join(word) for word in text) for text in pieces)
    numbers = {
        say("Pieces per word"): (wrong.mean(), right.mean()),
        say("Pieces in all"): (format_count(wrong.sum()), format_count(right.sum())),
    }
    return figures, numbers, outputs


@pitfall(
    "The forgotten transpose",
    "A good loss does not prove that attention works: in this encoder no token sees another, and the small model is "
    "as good.",
    "Splitting off the heads leaves them behind the tokens, and without a transpose the product compares "
    "the heads of one token with each other. It runs without an error, but nothing passes from one token to another.",
    "Encoder layer 0, head 0",
    "q = q.view(B, T, n_heads, d_head)\nscores = q @ k.transpose(-2, -1)   # (B, T, heads, heads)",
    "q = q.view(B, T, n_heads, d_head).transpose(1, 2)\nscores = q @ k.transpose(-2, -1)   # (B, heads, T, T)",
)
def transpose(sentence: Sentence) -> tuple:
    weights, q, k, v = (sentence.tensor(FIRST + name) for name in ("weights", *"qkv"))  # (H, S, S), (H, S, K)
    shifted = v.clone()
    shifted[:, -1] += 1  # at the last token: does it change the others?

    def forgotten(v: Tensor) -> tuple[Tensor, Tensor]:
        return mistakes.forgotten_transpose(*(x.transpose(0, 1) for x in (q, k, v)))

    mistaken, context = forgotten(v)
    noticed = gap(forgotten(shifted)[1][:-1], context[:-1]), gap((weights @ shifted)[:, :-1], (weights @ v)[:, :-1])
    names = [say("head {head}", head=head) for head in range(len(q))]
    tokens = sentence.result.source_tokens
    between_heads = HeadPicture(
        mistaken[0].numpy(),
        names,
        names,
        title=message("Encoder layer 0, token 0"),
        own_axes={"query_axis": message("head (query)"), "key_axis": message("head (key)")},
    )
    return (between_heads, HeadPicture(weights[0].numpy(), tokens, tokens)), {
        say("Effect on other tokens of adding 1 to the last value"): noticed,
        say("Number of weights"): (format_count(mistaken.numel()), format_count(weights.numel())),
    }


@pitfall(
    "Scores without scaling",
    "The scaling is there for learning: it costs more to train without it than to leave it out afterwards.",
    "With components of unit variance a dot product has the standard deviation √d_k: undivided, it makes "
    "the softmax give nearly all weight to one key. There the slope is small, so that little is learned.",
    "Encoder layer 0, head 0",
    "weights = softmax(q @ k.transpose(-2, -1))",
    "weights = softmax(q @ k.transpose(-2, -1) / sqrt(d_k))",
)
def scaling(sentence: Sentence) -> tuple:
    right = sentence.tensor(FIRST + "weights")
    tokens = sentence.result.source_tokens
    wrong = pitfalls.unscaled_weights(sentence.tensor(FIRST + "raw_scores"), sentence.tensor(FIRST + "mask"))
    return heads(wrong[0], right[0], tokens), {
        say("Mean of the largest row weights in this layer"): tuple(w.amax(-1).mean() for w in (wrong, right)),
        say("Slope of the softmax, Σ w(1 − w) per row"): tuple((w * (1 - w)).sum(-1).mean() for w in (wrong, right)),
    }


@pitfall(
    "Attention shown after dropout",
    "A picture can be wrong while the model is right: take weights before dropout, in evaluation mode.",
    "Dropout after the softmax sets some weights to 0 and enlarges the others, at random, so a map taken "
    "there shows noise and rows that do not sum to 1. It happens only in training: in evaluation dropout does nothing.",
    "Cross-attention, last layer, head 0",
    "weights = dropout(softmax(scores))\nself.attention = weights",
    "weights = softmax(scores)\nself.attention = weights\nweights = dropout(weights)",
)
def after(sentence: Sentence) -> tuple:
    right = torch.from_numpy(sentence.result.attention("cross")[-1])
    wrong = pitfalls.weights_after_dropout(right, DROPOUT)
    axes = words.axes("cross")
    sums = [weights.sum(-1).flatten() for weights in (wrong, right)]
    tokens = sentence.result.predicted_tokens
    value = message("weight")
    return values(wrong[0], right[0], tokens, value, axes["key_axis"], row_axis=axes["query_axis"]), {
        say("Row sum farthest from 1"): tuple(row_sums[(row_sums - 1).abs().argmax()] for row_sums in sums),
        say("Weights set to 0"): percent((wrong == 0) & (right > 0)),
    }


@pitfall(
    "No start token",
    "A loss does not count what it never asks for: the model that was trained so leaves out the first word.",
    "Without a start token and a shift, the first word is read in training but never predicted, so this "
    "model loses the beginning of the translation. T5 and Marian start with padding, but do not mask it: with −1e9 "
    "for −∞ a masked first row is uniform, later tokens included.",
    "Decoder layer 0, head 0",
    "decoder_input, target = ids[:-1], ids[1:]   # ids without a start token",
    "decoder_input, target = [BOS, *ids], [*ids, EOS]",
)
def start(sentence: Sentence) -> tuple:
    model = sentence.translator.transformer
    cache = sentence.cache
    tgt = sentence.tgt
    address = "decoder.layers.0.self_attention.weights"
    pictures = []
    numbers = []
    first = tgt[0, 1] if tgt.size(1) > 1 else EOS_ID
    for ids, mask in (pitfalls.start_from_padding(tgt), (tgt, masks.decoder_mask(tgt))):
        with record(address) as trace:
            logits = pitfalls.decode_with(model, ids, mask, cache)
        weights = trace[address][0, 0]
        names = sentence.names(ids)
        may_attend = mask[0, 0] | ~mask[0, 0].any(-1, keepdim=True)  # −1e9 everywhere in a row blocks nothing
        pictures.append(HeadPicture(weights.numpy(), names, names, "decoder_self", mask=may_attend.numpy()))
        stepwise = pitfalls.decode_step_by_step(model, ids, mask, cache)
        numbers.append((weights[0, 1:].sum(), gap(logits, stepwise), logits[0, 0].softmax(-1)[first]))
    labels = (
        say("Weight that the first row gives to later tokens"),
        say("Largest difference of the logits, full pass against step by step"),
        say("Probability of the first token"),
    )
    return pictures, dict(zip(labels, zip(*numbers)))


@pitfall(
    "Padded rows, not columns",
    "Batches of like lengths hide it: a model learns almost as well, until a short sentence stands beside a long one.",
    "A padding mask over the rows blanks padded queries and leaves padded keys visible. With padding on "
    "the right the causal mask hides those keys anyway; with padding on the left, or without a causal mask, queries "
    "attend to the pads.",
    "The decoder's mask, with pads on the right",
    "mask = (ids != PAD)[:, None, :, None] & causal",
    "mask = (ids != PAD)[:, None, None, :] & causal",
)
def rows(sentence: Sentence) -> tuple:
    tgt = sentence.tgt
    pads = torch.full((1, PADS), PAD_ID)
    on_the_right = torch.cat([tgt, pads], dim=1)
    on_the_left = torch.cat([pads, tgt], dim=1)
    causal = masks.causal_mask(on_the_right.size(1))
    names = sentence.names(on_the_right)
    padding = mistakes.row_padding_mask, masks.padding_mask

    def apart(tgt: Tensor, other_mask: Tensor) -> float:
        model = sentence.translator.transformer
        cache = sentence.cache
        real = tgt[0] != PAD_ID
        both = (masks.combine(mask(tgt), other_mask) for mask in padding)
        return gap(*(pitfalls.decode_with(model, tgt, mask, cache)[0][real] for mask in both))

    wrong, right = (masks.combine(mask(on_the_right), causal)[0, 0] for mask in padding)
    return both(mask_heatmap, wrong, right, names, names), {
        say("Largest logit difference of real tokens, {n} pads on the right", n=PADS): apart(on_the_right, causal),
        say("With the pads on the left"): apart(on_the_left, causal),
        say("On the right, without the causal mask"): apart(on_the_right, torch.ones_like(causal)),
        say("Pads after the source of the translations"): LONGER,
    }


@pitfall(
    "The double residual",
    "A model trained with it is not worse: it harms only weights that were trained without it.",
    "A feed-forward that adds its input itself, inside a sublayer that adds it too, counts the input "
    "twice. Training gets used to it, but weights trained the right way, as here, receive a stream they never saw.",
    "Last encoder layer, head 0",
    "def feed_forward(x):\n    return x + w_2(relu(w_1(x)))",
    "def feed_forward(x):\n    return w_2(relu(w_1(x)))",
)
def residual(sentence: Sentence) -> tuple:
    output = "encoder.output"
    layer = sentence.translator.transformer.config.n_encoder_layers - 1
    last = f"encoder.layers.{layer}.self_attention.weights"
    with torch.inference_mode(), record(last, output) as trace:
        mistakes.with_mistake("residual", sentence.translator.transformer).start(sentence.src)
    right = sentence.tensor(output)
    tokens = sentence.result.source_tokens
    return heads(trace[last][0, 0], sentence.tensor(last)[0], tokens, layer), {
        say("Largest difference in the output of the encoder"): gap(trace[output][0], right),
        say("Largest number in the right version"): right.abs().max(),
    }


@pitfall(
    "A hand-written layer norm",
    "A model can learn with wrong code as long as the code stays the same: it is just as good, but fits only that "
    "code.",
    "This norm adds the bias in the denominator and takes the unbiased deviation. At the start the bias "
    "is 0 and both agree up to √((d−1)/d), which hides the mistake until training moves the bias.",
    "The input of the first layer, normed with trained weights",
    "weight * (x - mean) / (x.std(-1, keepdim=True) + eps + bias)",
    "weight * (x - mean) / sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) + bias",
)
def norm(sentence: Sentence) -> tuple:
    x = sentence.tensor(INPUT + "stream")
    encoder: Any = sentence.translator.transformer.encoder  # Module has no types of what is in it
    trained: nn.LayerNorm = encoder.layers[0].residual_self.norm
    norms = trained, nn.LayerNorm(x.size(-1), eps=trained.eps)
    wrong, fresh = (mistakes.own_layer_norm(x, norm.weight, norm.bias, norm.eps) for norm in norms)
    right, fresh_right = (apply_norm(x) for apply_norm in norms)
    constant = math.sqrt(1 - 1 / x.size(-1))  # between the two deviations
    return values(wrong, right, sentence.result.source_tokens, message("normed")), {
        say("Largest difference with trained weights"): gap(wrong, right),
        say("At the start, the constant taken out"): gap(fresh / constant, fresh_right),
    }


@pitfall(
    "A GRU over padding",
    "Every pad that is read makes the state forget some of the sentence, and training with pads does not cure that.",
    "A recurrent encoder that is not told where the sentence ends reads the padding, too. How much there "
    "is depends on the other sentences of the batch, so they change the context vector of this one.",
    "The states, with pads after the sentence",
    "states, context = gru(embedded)",
    "packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n"
    "states, context = gru(packed)",
)
def gru(sentence: Sentence) -> tuple:
    ids = torch.cat([sentence.src, torch.full((1, PADS), PAD_ID)], dim=1)
    generator = torch.Generator().manual_seed(0)
    length = ids.size(1) - PADS
    embedding = sentence.translator.transformer.encoder.input.embedding
    with NoRandomNumbers():
        cell = nn.GRU(sentence.translator.transformer.config.d_model, 24, batch_first=True)
    with torch.inference_mode():
        for parameter in cell.parameters():
            nn.init.normal_(parameter, std=0.2, generator=generator)
        embedded = embedding(ids)
        wrong = cell(embedded)[0][0]
        states, context = cell(nn.utils.rnn.pack_padded_sequence(embedded, [length], batch_first=True))
        right, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=ids.size(1))
    tokens = [*sentence.result.source_tokens, *["<pad>"] * PADS]
    return values(wrong, right[0], tokens, message("state")), {
        say("Largest difference of the context vector, with {n} pads after the sentence", n=PADS): gap(
            wrong[-1], context[0, 0]
        ),
        say("The same without pads"): gap(wrong[length - 1], context[0, 0]),
    }


@pitfall(
    "The best model, by alias",
    "An assignment copies nothing: keep a copy of what goes on changing.",
    "An assignment gives a second name to the same object, which goes on training. What is kept as the "
    "best is therefore always the last.",
    "Validation loss, and what was kept",
    "best_model = model",
    "best_model = copy.deepcopy(model)",
)
def best(_: Sentence) -> tuple:
    figures, numbers = [], []
    for keep in (lambda model: model, copy.deepcopy):
        losses, loss = pitfalls.overfit(keep)
        epochs = np.arange(1, len(losses) + 1)
        line = say("validation loss")
        at = epochs[np.abs(np.array(losses) - loss).argmin()]
        marks = [(line, at, loss, say("kept: epoch {epoch}, loss {loss:.3f}", epoch=at, loss=loss))]
        axes: dict[str, Any] = {"x_axis": message("epoch"), "y_axis": message("loss"), "marks": marks}
        figures.append(curves({line: np.stack([epochs, losses])}, **axes, say=say))
        numbers.append((loss, at))
    return figures, dict(zip((say("Loss of what was kept"), say("Epoch of what was kept")), zip(*numbers)))


PITFALLS = {key: value for key, value in vars().items() if isinstance(value, Pitfall)}
