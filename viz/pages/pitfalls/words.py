"""What the page Pitfalls says about each mistake: two sentences, and the wrong and the right line."""

from __future__ import annotations

from dataclasses import dataclass

from viz.text.language import message

# Each mistake shows in its translation, which comes out right without them.
EXAMPLE = "When I was a child, my grandmother gave me an apple every morning."


@dataclass(frozen=True)
class PitfallWords:
    """The words of one pitfall.

    Attributes:
        name: short, for a button and the URL.
        explanation: two sentences.
        wrong_line, right_line: of Python.
        wrong_picture, right_picture: what the two pictures show.
    """

    name: str
    explanation: str
    wrong_line: str
    right_line: str
    wrong_picture: str
    right_picture: str


PITFALLS = {
    "loop": PitfallWords(
        message("Positions by the literal loop"),
        message(
            "The paper's exponent is 2i/d for the pair number i, but a loop over 0, 2, 4, … already counts 2i. "
            "Doubling it again makes the waves slow down twice as fast and gives sine and cosine of a pair different "
            "frequencies, so a shift is no longer a rotation."
        ),
        "for i in range(0, d_model, 2):\n"
        "    pe[pos, i] = sin(pos / 10000 ** (2 * i / d_model))\n"
        "    pe[pos, i + 1] = cos(pos / 10000 ** (2 * (i + 1) / d_model))",
        "for i in range(0, d_model, 2):\n"
        "    pe[pos, i] = sin(pos / 10000 ** (i / d_model))\n"
        "    pe[pos, i + 1] = cos(pos / 10000 ** (i / d_model))",
        message("The literal loop"),
        message("The paper's encoding"),
    ),
    "transpose": PitfallWords(
        message("The forgotten transpose"),
        message(
            "Splitting off the heads leaves them behind the tokens, and without a transpose the product compares the "
            "heads of one token with each other. It runs without an error, but nothing ever passes from one token to "
            "another."
        ),
        "q = q.view(B, T, n_heads, d_head)\nscores = q @ k.transpose(-2, -1)   # (B, T, heads, heads)",
        "q = q.view(B, T, n_heads, d_head).transpose(1, 2)\nscores = q @ k.transpose(-2, -1)   # (B, heads, T, T)",
        message("Attention between heads, inside the first token"),
        message("Attention between tokens: encoder layer 0, head 0"),
    ),
    "residual": PitfallWords(
        message("The double residual"),
        message(
            "A feed-forward that adds its input itself, inside a sublayer that adds it too, counts the input twice. "
            "A network trained that way gets used to it, but weights trained the right way, as here, receive a "
            "residual stream they have never seen."
        ),
        "def feed_forward(x):\n    return x + w_2(relu(w_1(x)))",
        "def feed_forward(x):\n    return w_2(relu(w_1(x)))",
        message("Added twice: last encoder layer, head 0"),
        message("Added once: last encoder layer, head 0"),
    ),
    "scale": PitfallWords(
        message("The missing √d_model"),
        message(
            "The paper multiplies the embedding by √d_model before it adds the positions. With a Xavier-uniform "
            "table of 58,101 × 512 and no factor, the words are about 120 times smaller than the positions, so at "
            "the start of training the input is almost only positions."
        ),
        "nn.init.xavier_uniform_(embedding.weight)\nx = embedding(ids) + positions",
        "nn.init.normal_(embedding.weight, std=d_model ** -0.5)\nx = embedding(ids) * sqrt(d_model) + positions",
        message("Xavier table, no factor: the input of the first layer"),
        message("Table of deviation 1/√d_model, times √d_model"),
    ),
    "dropout": PitfallWords(
        message("Dropout that is never applied"),
        message(
            "The paper applies dropout to the sum of embedding and position; a common slip builds that dropout and "
            "never calls it. Training then sees the whole input, while in evaluation dropout does nothing, so a "
            "trained model translates the same with either code."
        ),
        "self.dropout = nn.Dropout(0.1)\nreturn x + self.pe[:, : x.size(1)]",
        "self.dropout = nn.Dropout(0.1)\nreturn self.dropout(x + self.pe[:, : x.size(1)])",
        message("Built, never applied: the input in training"),
        message("Applied: the input in training"),
    ),
    "norm": PitfallWords(
        message("A hand-written layer norm"),
        message(
            "This norm adds the bias inside the denominator, and takes the unbiased deviation with eps outside the "
            "root. At the start the bias is 0 and both agree up to the constant √((d−1)/d), which hides the mistake "
            "until training moves the bias."
        ),
        "weight * (x - mean) / (x.std(-1, keepdim=True) + eps + bias)",
        "weight * (x - mean) / sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) + bias",
        message("The hand-written norm with trained weights"),
        message("nn.LayerNorm with the same weights"),
    ),
    "best": PitfallWords(
        message("The best model, by alias"),
        message(
            "An assignment gives a second name to the same object, and that object goes on training. What is kept as "
            "the best by validation is therefore always the last; copying it keeps the best."
        ),
        "best_model = model",
        "best_model = copy.deepcopy(model)",
        message("Kept by alias"),
        message("Kept by copy"),
    ),
    "gru": PitfallWords(
        message("A GRU over padding"),
        message(
            "A recurrent encoder that is not told where the sentence ends reads the padding too, and its last state "
            "has then run over the pads. How much padding there is depends on the other sentences of the batch, so "
            "they change the context vector of this one."
        ),
        "states, context = gru(embedded)",
        "packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n"
        "states, context = gru(packed)",
        message("Over the padding: the states"),
        message("Packed: the states end with the sentence"),
    ),
    "start": PitfallWords(
        message("No start token"),
        message(
            "Without a start token and a shift, the first word is read in training but never predicted, so a model "
            "that begins with padding here loses the beginning of the translation. T5 and Marian do start with their "
            "padding token, but shift the target behind it and do not mask it; with −1e9 instead of −∞ a masked "
            "first row turns uniform over all tokens, later ones too."
        ),
        "decoder_input, target = ids[:-1], ids[1:]   # ids without a start token",
        "decoder_input, target = [BOS, *ids], [*ids, EOS]",
        message("Beginning with padding: decoder layer 0, head 0"),
        message("Beginning with the start token: decoder layer 0, head 0"),
    ),
    "tokenizer": PitfallWords(
        message("One side's tokenizer for both"),
        message(
            "A subword model learned on one language cuts another into many small pieces, because its words and some "
            "of its letters are unknown. The sentences get longer and each piece says less; the two small tokenizers "
            "here have the same size and learned from the same few sentences, each in its own language."
        ),
        "labels = tokenizer(targets)                  # the source side's model",
        "labels = tokenizer(text_target=targets)      # the target side's model",
        message("Cut by the source side's tokenizer: pieces per word"),
        message("Cut by its own tokenizer: pieces per word"),
    ),
    "rows": PitfallWords(
        message("Padded rows, not columns"),
        message(
            "A padding mask laid over the rows blanks what padded queries see and leaves the padded keys visible. "
            "With padding on the right the causal mask hides those keys from every real query anyway, so the "
            "difference there is 0; with padding on the left, or without the causal mask, real queries attend to the "
            "pads."
        ),
        "mask = (ids != PAD)[:, None, :, None] & causal",
        "mask = (ids != PAD)[:, None, None, :] & causal",
        message("Padded rows blanked"),
        message("Padded columns hidden"),
    ),
    "scaling": PitfallWords(
        message("Scores without scaling"),
        message(
            "If components have unit variance, the standard deviation of a dot product is √d_k, so without the "
            "division by √d_k the softmax gives nearly all weight to one key. There its slope is small, and the "
            "paper suspects that little is learned through it."
        ),
        "weights = softmax(q @ k.transpose(-2, -1))",
        "weights = softmax(q @ k.transpose(-2, -1) / sqrt(d_k))",
        message("Not scaled: encoder layer 0, head 0"),
        message("Scaled: encoder layer 0, head 0"),
    ),
    "after": PitfallWords(
        message("Attention shown after dropout"),
        message(
            "Dropout after the softmax sets some weights to 0 and enlarges the others, differently every time, so a "
            "map taken there shows noise and rows that do not sum to 1. In evaluation dropout does nothing and the "
            "difference is 0: the mistake shows only in maps taken while training."
        ),
        "weights = dropout(softmax(scores))\nself.attention = weights",
        "weights = softmax(scores)\nself.attention = weights\nweights = dropout(weights)",
        message("Taken after dropout: cross-attention, last layer, head 0"),
        message("Taken before dropout: cross-attention, last layer, head 0"),
    ),
}
