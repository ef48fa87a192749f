"""Mistakes in other layers, and in keeping the best model."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from torch import nn

from model.checkpoint import NoRandomNumbers
from model.experiments import pitfalls
from model.taps import record
from model.text.special import PAD_ID
from viz.figures import attention_heatmap, curves, values_heatmap
from viz.pages.pitfalls.common import PADS, Demo, Sentence, both, both_drawn, gap, pitfall, rounded
from viz.text.language import message, say

GRU_SIZES = (32, 24)
PAD = "<pad>"


@pitfall(
    name="The double residual",
    explanation="A feed-forward that adds its input itself, inside a sublayer that adds it too, counts the input "
    "twice. A network trained that way gets used to it, but weights trained the right way, as here, receive a residual "
    "stream they have never seen.",
    wrong_line="def feed_forward(x):\n    return x + w_2(relu(w_1(x)))",
    right_line="def feed_forward(x):\n    return w_2(relu(w_1(x)))",
    wrong_picture="Added twice: last encoder layer, head 0",
    right_picture="Added once: last encoder layer, head 0",
)
def residual(sentence: Sentence) -> Demo:
    result = sentence.result
    last = f"encoder.layers.{result.config.n_encoder_layers - 1}.self_attention.weights"
    with torch.inference_mode(), record(last, "encoder.output") as trace:
        pitfalls.double_residual(sentence.translator.model).start(sentence.src)
    right, tokens = sentence.tensor("encoder.output"), result.source_tokens
    return Demo(
        both(attention_heatmap, trace[last][0, 0], result.trace[last][0], tokens, tokens),
        say("Largest difference in the output of the encoder"),
        gap(trace["encoder.output"][0], right),
        ((say("Largest number in the right version"), rounded(right.abs().max(), ".3g")),),
    )


@pitfall(
    name="A hand-written layer norm",
    explanation="This norm adds the bias inside the denominator, and takes the unbiased deviation with eps outside the "
    "root. At the start the bias is 0 and both agree up to the constant √((d−1)/d), which hides the mistake until "
    "training moves the bias.",
    wrong_line="weight * (x - mean) / (x.std(-1, keepdim=True) + eps + bias)",
    right_line="weight * (x - mean) / sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) + bias",
    wrong_picture="The hand-written norm with trained weights",
    right_picture="nn.LayerNorm with the same weights",
)
def norm(sentence: Sentence) -> Demo:
    x = sentence.tensor("encoder.input.stream")
    trained = sentence.translator.model.encoder.layers[0].residual_self.norm
    fresh = nn.LayerNorm(x.size(-1), eps=trained.eps)
    unbiased = math.sqrt(1 - 1 / x.size(-1))  # the constant that separates the two deviations

    def own(layer: nn.LayerNorm) -> torch.Tensor:
        return pitfalls.own_layer_norm(x, layer.weight, layer.bias, layer.eps)

    def apart(layer: nn.LayerNorm) -> str:
        return rounded(gap(own(layer) / unbiased, layer(x)), ".1e")

    at_start = apart(fresh)
    optimizer = torch.optim.Adam(fresh.parameters(), lr=1e-3)
    (fresh(x) - trained(x).detach()).square().mean().backward()
    optimizer.step()
    wrong, right = own(trained), trained(x).detach()
    return Demo(
        both_drawn(wrong, right, sentence.result.source_tokens, message("normed"), right.abs().max().item()),
        say("Largest difference with trained weights"),
        gap(wrong, right),
        (
            (say("At the start, the constant taken out"), at_start),
            (say("After one step of Adam (learning rate 0.001)"), apart(fresh)),
            (say("With trained weights"), apart(trained)),
        ),
    )


@pitfall(
    name="A GRU over padding",
    explanation="A recurrent encoder that is not told where the sentence ends reads the padding too, and its last "
    "state has then run over the pads. How much padding there is depends on the other sentences of the batch, so they "
    "change the context vector of this one.",
    wrong_line="states, context = gru(embedded)",
    right_line="packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n"
    "states, context = gru(packed)",
    wrong_picture="Over the padding: the states",
    right_picture="Packed: the states end with the sentence",
)
def gru(sentence: Sentence) -> Demo:
    tokens = [*sentence.result.source_tokens, *[PAD] * PADS]
    length, generator = len(tokens) - PADS, torch.Generator().manual_seed(0)
    embedding = torch.randn(len(sentence.translator.tokenizer.source), GRU_SIZES[0], generator=generator)
    with NoRandomNumbers():
        cell = nn.GRU(*GRU_SIZES, batch_first=True)
    with torch.inference_mode():
        for parameter in cell.parameters():
            nn.init.uniform_(parameter, -(GRU_SIZES[1] ** -0.5), GRU_SIZES[1] ** -0.5, generator=generator)
        embedded = embedding[torch.cat([sentence.src, torch.full((1, PADS), PAD_ID)], dim=1)]
        wrong = cell(embedded)[0][0]
        packed = nn.utils.rnn.pack_padded_sequence(embedded, torch.tensor([length]), batch_first=True)
        states, context = cell(packed)
        right, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=len(tokens))
    shared = {"value": message("state"), "limit": 1.0, "column_axis": message("hidden dimension")}
    return Demo(
        both(values_heatmap, wrong, right[0], tokens, **shared),
        say("Largest difference of the context vector, with {n} pads after the sentence", n=PADS),
        gap(wrong[-1], context[0, 0]),
        (
            (say("The same without pads"), rounded(gap(wrong[length - 1], context[0, 0]), ".2g")),
            (say("Largest number in the right version"), context.abs().max()),
        ),
    )


@pitfall(
    name="The best model, by alias",
    explanation="An assignment gives a second name to the same object, and that object goes on training. What is kept "
    "as the best by validation is therefore always the last; copying it keeps the best.",
    wrong_line="best_model = model",
    right_line="best_model = copy.deepcopy(model)",
    wrong_picture="Kept by alias",
    right_picture="Kept by copy",
)
def best(_: Sentence) -> Demo:
    figures, losses_kept, said = [], [], []
    for name, keep in (
        (message("validation loss, kept by alias"), lambda model: model),
        (message("validation loss, kept by copy"), copy.deepcopy),
    ):
        losses, loss = pitfalls.overfit(keep)
        epochs, line = np.arange(1, len(losses) + 1), say(name)
        at = epochs[int(np.argmin(np.abs(np.array(losses) - loss)))]
        marks = [(line, at, loss, say("kept: epoch {epoch}, loss {loss:.3f}", epoch=at, loss=loss))]
        axes = {"x_axis": message("epoch"), "y_axis": message("loss"), "marks": marks}
        figures.append(curves({line: np.stack([epochs, losses])}, **axes, say=say))
        losses_kept.append(loss)
        said.append(say("{loss:.3f}, epoch {epoch}", loss=loss, epoch=at))
    return Demo(
        tuple(figures),
        say("Loss of what was kept: wrong minus right"),
        losses_kept[0] - losses_kept[1],
        ((say("Kept by copy"), said[1]), (say("Kept by alias"), said[0])),
    )
