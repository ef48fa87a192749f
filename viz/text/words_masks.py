"""What the page Masks says, in the app and on the site: masks, the PyTorch that makes them, and its sentences."""

from model.results.recording import row_naming
from model.results.translation import SIDES
from viz.text.language import message, messages
from viz.text.words import STEP_AXES, Axes

PAIRS = (
    ("I am happy.", "Ich bin glücklich."),
    ("The dog sleeps in the garden.", "Der Hund schläft im Garten."),
    ("No.", "Nein."),
    ("A man is riding a bicycle down the street.", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."),
)
AXES = messages(source=("source (query)", "source (key)"), target=("target (query)", "target (key)"))
TEXT_AXES: Axes = {"query_axis": message("query"), "key_axis": message("key")}
MASKS = messages(  # what each is called, and what it is for
    encoder_self=("Padding, source", "Encoder: every source token attends to all of the source but padding."),
    target_padding=("Padding, target", "One part of the decoder's mask: no padding of the target."),
    look_ahead=(
        "Look-ahead",
        "The other part: a step attends to itself and to what came before it, in every sentence.",
    ),
    decoder_self=("Padding AND look-ahead", "Decoder: blue where both parts are blue."),
    cross=("Cross", "Every step of the target attends to all of the source but padding."),
)
TEXT_MASKS = messages(  # those of a language model, over the texts in one row
    window=("Sliding window", "Mistral: a query sees its own token and the {n} before it (Beltagy et al. 2020)."),
    documents=("Documents", "Sequence packing: several texts in a row, each query stays within its own."),
    prefix=("Prefix", "Prefix LM: the first text is read in both directions, the rest causally (Raffel et al. 2020)."),
)
LEFT_OUT = {
    "nothing": message("All masks"),
    "look-ahead": message("No look-ahead"),
    "padding": message("No padding mask"),
    "both": message("Neither"),
}
NO_MASK = {
    "look-ahead": message("the look-ahead mask"),
    "padding": message("the padding mask"),
    "both": message("both masks"),
}
VIEWS = messages(
    both="Head under the mask",
    head="Mask, large",
    sentences="All sentences",
    code="PyTorch",
    numbers="As numbers",
    blocked="No key left",
)
SENTENCES = messages(  # of a batch, by name
    # The answer.
    holds="The masks hold: the {n} blocked cells of {total} get 0% of the attention.",
    opens_nothing="Leaving out {mask} opens no cell here.",
    not_taken="No flipped cell opens a way that this head takes.",
    next_word="“{query}” sees the very word that it has to predict: “{key}” gets {share:.0%} of its attention.",
    on_padding="Without the padding mask “{query}” gives {share:.0%} of its attention to padding.",
    opened="The opened cell lets “{query}” read “{key}”: {share:.0%} of its attention.",
    future="Without the look-ahead mask “{query}” reads the future: “{key}” gets {share:.0%} of its attention.",
    # Below it.
    sentence_of="Sentence {number} of {total}.",
    real="{source} source and {target} target tokens are real, the rest is padding.",
    more_probable="With the mask these cells get 0%. Without it the reference is {times} times more probable.",
    less_probable=(
        "With the mask these cells get 0%. Without it the reference is {times} times less probable: this model was "
        "trained with the mask."
    ),
    # Above pictures and under them.
    with_masks="With its masks",
    without="Without {mask}",
    with_flips="With flipped cells",
    leaks="leaks",
    attends="“{query}” attends most to “{a}” ({x:.2f}).",
    attends_both="Left “{query}” attends most to “{a}” ({x:.2f}), right to “{b}” ({y:.2f}).",
    next_tokens="The likeliest next token changes at {n} of {total} steps.",
    to_steer="Translate with these cells on Steer",
    numbered="Sentence {number}",
    tokens="{source} source and {target} target tokens",
    heads="Heads of this kind",
    layers_heads="rows: layers, columns: heads",
    in_padding="the key is padding",
    in_future="the key lies in the future",
    # As numbers.
    pads="Pads appended",
    padding="Padding must change nothing",
    about_padding="Logits at real steps when source and target get pads.",
    leak="The future must not leak",
    about_leak="Logits before the last step when the last token becomes <unk>.",
    mask_on="Largest change, mask on",
    mask_off="Largest change, mask off",
    changes=(
        "Largest changes: {weight} for a weight in this map, {logit} for a logit at real steps. The likeliest next "
        "token changes at {n} of {total} steps."
    ),
    step="step {step}: {a} → {b}",
)
TEXT_SENTENCES = messages(  # of texts in one row, by name
    # The answer.
    answer_window="With a window “{query}” loses sight of “{key}”, which gets {share:.0%} of its attention otherwise.",
    answer_documents=(
        "Without the document mask “{query}” reads another text: “{key}” gets {share:.0%} of its attention."
    ),
    answer_prefix="In the prefix “{query}” reads ahead: “{key}” gets {share:.0%} of its attention.",
    too_short="This mask changes nothing in this row: it is too short.",
    # Below it.
    loss="Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one.",
    loss_prefix=(
        "Loss per token of this row: {causal:.2f} nats with the causal mask, {other:.2f} with this one: the "
        "prefix sees the words that it predicts."
    ),
    # Above pictures.
    causal_only="Causal mask only",
    opens_window="sees further",
    opens_prefix="reads ahead",
    read_by="The source texts in one row, read by {name}.",
    window_keys="Window (keys)",
)
NO_KEY_LEFT = messages(  # of a row of which all keys are blocked, by name
    no_key_title="What if all keys of a query are blocked?",
    no_key_row="This head's first row, four ways:",
    no_key_about="NaN spreads through the whole sentence; a uniform row attends to padding and future, too.",
    key="key",
)
NO_KEY_COLUMNS = {  # what is made of such a row, and its scores
    "scores": message("score"),
    "-inf": message("−inf, then softmax"),
    "-1e9": message("−1e9, then softmax"),
    "fused": "F.scaled_dot_product_attention",
    "ours": message("this project"),
}
_SOURCE = "(src != pad)[:, None, :]"
_TARGET = "(tgt != pad)[:, None, :]"
_PAST = "torch.ones(T, T).tril().bool()"
_KEEP = {
    "target_padding": _TARGET,
    "look_ahead": _PAST,
    "decoder_self": f"{_TARGET} & {_PAST}",
    "window": f"{_PAST} & torch.ones(T, T).triu(1 - WINDOW).bool()",
    "documents": f"(documents[:, :, None] == documents[:, None, :]) & {_PAST}",
    "prefix": f"{_PAST} | (torch.arange(T) < PREFIX)",
}
# Who may attend as FlexAttention asks it, of batch row b, head h, query q and key k.
_FLEX = {
    "encoder_self": "src[b, k] != pad",
    "cross": "src[b, k] != pad",
    "target_padding": "tgt[b, k] != pad",
    "look_ahead": "q >= k",
    "decoder_self": "(tgt[b, k] != pad) & (q >= k)",
    "window": "(q >= k) & (q - k < WINDOW)",
    "documents": "(documents[b, q] == documents[b, k]) & (q >= k)",
    "prefix": "(q >= k) | (k < PREFIX)",
}
# What each is called, who reads a mask so, and a line that applies a broadcastable one to scores, or to q, k and v.
CONVENTIONS = {
    "keep": (
        message("True = may attend"),
        message("F.scaled_dot_product_attention with a boolean mask, and this project."),
        "F.scaled_dot_product_attention(q, k, v, attn_mask={mask})",
    ),
    "blocked": (
        message("True = blocked"),
        message("nn.MultiheadAttention and nn.Transformer (attn_mask, key_padding_mask): the opposite."),
        "scores.masked_fill({mask}, -torch.inf)",
    ),
    "integers": (
        "1 / 0",
        message("attention_mask of many libraries: 1 is a real token, 0 padding."),
        "scores.masked_fill({mask} == 0, -torch.inf)",
    ),
    "additive": (
        "0 / -inf",
        message("Added to the scores, as generate_square_subsequent_mask makes it."),
        "scores + {mask}",
    ),
}
FLEX = message("FlexAttention: a function of the places of query and key, compiled into the kernel.")


def kind_of(mask: str) -> str:
    """The kind of attention that has a mask."""
    return mask if mask in SIDES else "decoder_self"


def axes(mask: str) -> Axes:
    """The titles of the axes of a mask."""
    if mask in TEXT_MASKS:
        return TEXT_AXES
    kind = kind_of(mask)
    rows, columns = SIDES[kind]
    is_written = row_naming(kind) == "predicted"
    return {"query_axis": STEP_AXES["predicted"] if is_written else AXES[rows][0], "key_axis": AXES[columns][1]}


def flex_code(mask: str) -> str:
    """PyTorch's FlexAttention with a mask, of q (B, H, T, K), k and v (B, H, S, K)."""
    return (
        f"def may_attend(b, h, q, k):\n    return {_FLEX[mask]}\n\n"
        "blocks = create_block_mask(may_attend, B=len(q), H=None, Q_LEN=q.size(2), KV_LEN=k.size(2))\n"
        "flex_attention(q, k, v, block_mask=blocks)"
    )


def code(mask: str, convention: str) -> str:
    """PyTorch that makes a mask in a convention and applies it to scores (B, H, T, S), or to q, k and v."""
    keep = _KEEP.get(mask, _SOURCE)
    compound = "&" in keep or "|" in keep
    blocked = keep.replace("!=", "==").replace("tril()", "triu(diagonal=1)").replace("&", "|")
    sentences = {
        "keep": keep,
        "blocked": f"~({keep})" if mask in TEXT_MASKS else blocked,
        "integers": f"({keep}).long()" if compound else f"{keep}.long()",
        "additive": f"torch.where({keep}, 0.0, -torch.inf)",
    }[convention]
    # A mask with a batch axis needs one for the heads.
    without_batch = mask in ("look_ahead", "window", "prefix")
    applied = CONVENTIONS[convention][2].format(mask="mask" if without_batch else "mask[:, None]")
    return f"mask = {sentences}\n{applied}"
