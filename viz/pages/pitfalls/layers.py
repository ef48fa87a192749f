"""Mistakes with a model's input (positions, embedding, dropout, tokenizer), in its layers, and in keeping the best."""

import copy
import math

import numpy as np
import torch
from torch import Tensor, nn

from model.checkpoint import NoRandomNumbers
from model.experiments import pitfalls
from model.positional import literal_loop, sinusoidal
from model.taps import record
from model.text.special import PAD_ID
from viz.figures import attention_heatmap, bars, curves, values_heatmap
from viz.pages.pitfalls.common import DROPOUT, PADS, Demo, Sentence, both, both_drawn, evaluated, gap, percent, pitfall
from viz.text.language import message, say

TABLE_SIZES = (58_101, 512)  # vocabulary and d_model
GRU_SIZES = (32, 24)


@pitfall(
    name="Positions by the literal loop",
    explanation="The paper's exponent is 2i/d for the pair number i, but a loop over 0, 2, 4, … already counts 2i. "
    "Doubling it again makes the waves slow down twice as fast and gives sine and cosine of a pair different "
    "frequencies, so a shift is no longer a rotation.",
    wrong_line="for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (2 * i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (2 * (i + 1) / d_model))",
    right_line="for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (i / d_model))",
    wrong_picture="The literal loop",
    right_picture="The paper's encoding",
)
def loop(sentence: Sentence) -> Demo:
    tokens, width = sentence.result.source_tokens, sentence.translator.config.d_model // 2 * 2
    right, wrong = (make(len(tokens), width) for make in (sinusoidal, literal_loop))
    return Demo(
        *both(values_heatmap, wrong, right, tokens, value=message("encoding"), limit=1.0),
        say("Largest difference of the two encodings of this sentence"),
        gap(right, wrong),
        {say("Numbers that differ by more than 0.1"): percent((right - wrong).abs() > 0.1)},
    )


@pitfall(
    name="The missing √d_model",
    explanation="The paper multiplies the embedding by √d_model before it adds the positions. With a Xavier-uniform "
    "table of 58,101 × 512 and no factor, the words are about 120 times smaller than the positions, so at the start of "
    "training the input is almost only positions.",
    wrong_line="nn.init.xavier_uniform_(embedding.weight)\nx = embedding(ids) + positions",
    right_line="nn.init.normal_(embedding.weight, std=d_model ** -0.5)\nx = embedding(ids) * sqrt(d_model) + positions",
    wrong_picture="Xavier table, no factor: the input of the first layer",
    right_picture="Table of deviation 1/√d_model, times √d_model",
)
def scale(sentence: Sentence) -> Demo:
    tokens, (vocab_size, d_model) = sentence.result.source_tokens, TABLE_SIZES
    positions = sinusoidal(len(tokens), d_model).float()
    wrong = pitfalls.bare_embedding(len(tokens), vocab_size, d_model)
    right = torch.randn(wrong.shape, generator=torch.Generator().manual_seed(0))  # with its factor, of deviation 1
    encoding = _rms(positions)
    return Demo(
        *both_drawn(wrong + positions, right + positions, tokens, message("input"), 2.0),
        say("Positions ÷ embedding (root mean squares), wrong version"),
        encoding / _rms(wrong),
        {
            say("Root mean square of the positions"): encoding,
            say("Root mean square of the embedding"): (_rms(right), _rms(wrong)),
            say("The same for the wrong table with the factor"): _rms(wrong * math.sqrt(d_model)),
        },
    )


@pitfall(
    name="Dropout that is never applied",
    explanation="The paper applies dropout to the sum of embedding and position; a common slip builds that dropout and "
    "never calls it. Training then sees the whole input, while in evaluation dropout does nothing, so a trained model "
    "translates the same with either code.",
    wrong_line="self.dropout = nn.Dropout(0.1)\nreturn x + self.pe[:, : x.size(1)]",
    right_line="self.dropout = nn.Dropout(0.1)\nreturn self.dropout(x + self.pe[:, : x.size(1)])",
    wrong_picture="Built, never applied: the input in training",
    right_picture="Applied: the input in training",
)
def dropout(sentence: Sentence) -> Demo:
    wrong = sentence.tensor("encoder.input.tokens") + sentence.tensor("encoder.input.positions")
    right = pitfalls.weights_after_dropout(wrong, DROPOUT)  # nn.Dropout draws from the generator that all share
    limit = torch.stack([right, wrong]).abs().max().item() or 1.0
    return Demo(
        *both_drawn(wrong, right, sentence.result.source_tokens, message("input"), limit),
        say("Largest difference in training"),
        gap(right, wrong),
        evaluated(wrong) | {say("Set to 0"): (percent(right == 0), percent(wrong == 0))},
    )


@pitfall(
    name="One side's tokenizer for both",
    explanation="A subword model learned on one language cuts another into many small pieces, because its words and "
    "some of its letters are unknown. The sentences get longer and each piece says less; the two small tokenizers here "
    "have the same size and learned from the same few sentences, each in its own language.",
    wrong_line="labels = tokenizer(targets)                  # the source side's model",
    right_line="labels = tokenizer(text_target=targets)      # the target side's model",
    wrong_picture="Cut by the source side's tokenizer: pieces per word",
    right_picture="Cut by its own tokenizer: pieces per word",
)
def tokenizer(sentence: Sentence) -> Demo:
    card, known = sentence.translator.card, tuple(pitfalls.SAMPLES)
    languages = [card[side] if card.get(side) in known else one for side, one in zip(("source", "target"), known)]
    words = sentence.result.text.split() or pitfalls.SAMPLES[languages[1]].split()[:12]
    cutters = map(pitfalls.sample_tokenizer, languages)
    pieces = [[cutter.tokens(cutter.encode(word)) for word in words] for cutter in cutters]
    wrong, right = (np.array([[len(cut)] for cut in one]) for one in pieces)
    return Demo(
        *both(bars, wrong, right, words, value=message("pieces"), top=float(max(wrong.max(), right.max()))),
        say("Pieces in all: wrong minus right"),
        float(wrong.sum() - right.sum()),
        {say("Pieces per word"): (right.mean(), wrong.mean())},
        tuple(" ".join("·".join(cut) for cut in one) for one in pieces),
    )


def _rms(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


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
    result, output = sentence.result, "encoder.output"
    last = f"encoder.layers.{result.config.n_encoder_layers - 1}.self_attention.weights"
    with torch.inference_mode(), record(last, output) as trace:
        pitfalls.double_residual(sentence.translator.model).start(sentence.src)
    right, tokens = sentence.tensor(output), result.source_tokens
    return Demo(
        *both(attention_heatmap, trace[last][0, 0], result.trace[last][0], tokens, tokens),
        say("Largest difference in the output of the encoder"),
        gap(trace[output][0], right),
        {say("Largest number in the right version"): right.abs().max()},
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

    def own(layer: nn.LayerNorm) -> Tensor:
        return pitfalls.own_layer_norm(x, layer.weight, layer.bias, layer.eps)

    def apart(layer: nn.LayerNorm) -> float:
        unbiased = math.sqrt(1 - 1 / x.size(-1))  # the constant that separates the two deviations
        return gap(own(layer) / unbiased, layer(x))

    at_start = apart(fresh)
    optimizer = torch.optim.Adam(fresh.parameters(), lr=1e-3)
    (fresh(x) - trained(x).detach()).square().mean().backward()
    optimizer.step()
    wrong, right = own(trained), trained(x)
    return Demo(
        *both_drawn(wrong, right, sentence.result.source_tokens, message("normed"), right.abs().max().item()),
        say("Largest difference with trained weights"),
        gap(wrong, right),
        {
            say("At the start, the constant taken out"): at_start,
            say("After one step of Adam (learning rate 0.001)"): apart(fresh),
            say("With trained weights"): apart(trained),
        },
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
    tokens = [*sentence.result.source_tokens, *["<pad>"] * PADS]
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
        *both(values_heatmap, wrong, right[0], tokens, **shared),
        say("Largest difference of the context vector, with {n} pads after the sentence", n=PADS),
        gap(wrong[-1], context[0, 0]),
        {
            say("The same without pads"): gap(wrong[length - 1], context[0, 0]),
            say("Largest number in the right version"): context.abs().max(),
        },
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
    figures, kept, said = [], [], []
    for name, keep in (
        (message("validation loss, kept by alias"), lambda model: model),
        (message("validation loss, kept by copy"), copy.deepcopy),
    ):
        losses, loss = pitfalls.overfit(keep)
        epochs, line = np.arange(1, len(losses) + 1), say(name)
        at = epochs[np.abs(np.array(losses) - loss).argmin()]
        marks = [(line, at, loss, say("kept: epoch {epoch}, loss {loss:.3f}", epoch=at, loss=loss))]
        axes = {"x_axis": message("epoch"), "y_axis": message("loss"), "marks": marks}
        figures.append(curves({line: np.stack([epochs, losses])}, **axes, say=say))
        kept.append(loss)
        said.append(say("{loss:.3f}, epoch {epoch}", loss=loss, epoch=at))
    return Demo(
        *figures,
        say("Loss of what was kept: wrong minus right"),
        kept[0] - kept[1],
        {say("Kept by copy"): said[1], say("Kept by alias"): said[0]},
    )
