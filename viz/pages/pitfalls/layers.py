"""What the page Pitfalls computes about other layers, and about keeping the best model."""

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
from viz.pages.pitfalls.common import PADS, Demo, Sentence, both_drawn, both_written
from viz.text.language import message, say

GRU_SIZES = (32, 24)
PAD = "<pad>"


def residual(sentence: Sentence) -> Demo:
    """A feed-forward that adds its input itself."""
    model, result = sentence.translator.model, sentence.result
    last = f"encoder.layers.{result.config.n_encoder_layers - 1}.self_attention.weights"
    with torch.inference_mode(), record(last, "encoder.output") as trace:
        pitfalls.double_residual(model).start(sentence.src)
    right = result.trace["encoder.output"]
    tokens = result.source_tokens
    return Demo(
        attention_heatmap(trace[last][0, 0].numpy(), tokens, tokens, say=say),
        attention_heatmap(result.trace[last][0], tokens, tokens, say=say),
        say("Largest difference in the output of the encoder"),
        float(np.abs(trace["encoder.output"][0].numpy() - right).max()),
        ((say("Largest number in the right version"), say("{x:.3g}", x=np.abs(right).max())),),
        both_written(sentence, "residual"),
    )


def norm(sentence: Sentence) -> Demo:
    """The hand-written layer norm, at the start, after one step of Adam, and with trained weights."""
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
    return Demo(
        *both_drawn(wrong, right, tokens, message("normed"), right.abs().max().item()),
        say("Largest difference with trained weights"),
        (wrong - right).abs().max().item(),
        (
            (say("At the start, the constant taken out"), say("{x:.1e}", x=at_start)),
            (say("After one step of Adam (learning rate 0.001)"), say("{x:.1e}", x=after_a_step)),
            (say("With trained weights"), say("{x:.1e}", x=after_training)),
        ),
        both_written(sentence, "norm"),
    )


def gru(sentence: Sentence) -> Demo:
    """The states of a small GRU over the sentence and the padding after it."""
    tokens = [*sentence.result.source_tokens, *[PAD] * PADS]
    length = len(tokens) - PADS
    generator = torch.Generator().manual_seed(0)
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
        values_heatmap(wrong.numpy(), tokens, **shared, say=say),
        values_heatmap(right[0].numpy(), tokens, **shared, say=say),
        say("Largest difference of the context vector, with {n} pads after the sentence", n=PADS),
        (wrong[-1] - context[0, 0]).abs().max().item(),
        (
            (say("The same without pads"), say("{x:.2g}", x=(wrong[length - 1] - context[0, 0]).abs().max())),
            (say("Largest number in the right version"), say("{x:.3f}", x=context.abs().max())),
        ),
    )


def best(_: Sentence) -> Demo:
    """The best model by validation, kept by alias or by copy, while a small model overfits."""
    figures, kept = [], []
    for name, keep in (
        (message("validation loss, kept by alias"), lambda model: model),
        (message("validation loss, kept by copy"), copy.deepcopy),
    ):
        losses, loss = pitfalls.overfit(keep)
        epochs = np.arange(1, len(losses) + 1)
        line = say(name)
        at = epochs[int(np.argmin(np.abs(np.array(losses) - loss)))]
        marks = [(line, at, loss, say("kept: epoch {epoch}, loss {loss:.3f}", epoch=at, loss=loss))]
        figures.append(
            curves(
                {line: np.stack([epochs, losses])},
                x_axis=message("epoch"),
                y_axis=message("loss"),
                marks=marks,
                say=say,
            )
        )
        kept.append((loss, say("{loss:.3f}, epoch {epoch}", loss=loss, epoch=at)))
    (wrong, last), (right, lowest) = kept
    return Demo(
        *figures,
        say("Loss of what was kept: wrong minus right"),
        wrong - right,
        ((say("Kept by copy"), lowest), (say("Kept by alias"), last)),
    )
