"""What the page Positions says, in the app and on the page without a server: encodings, views, and answers."""

from viz.text.language import message, messages

ROTARY = "rotary"
RELATIVE = "alibi", "buckets"  # encodings that have no table of positions
IN_STREAM = ("sinusoidal", "sinusoidal_concatenated", "learned")  # those that are added to embeddings
ENCODINGS = messages(  # what each is called, and what is said of it
    sinusoidal=(
        "paper's formula",
        "Column 2i is sin(pos / 10000^(2i/d)), column 2i + 1 its cosine (Vaswani et al. 2017).",
    ),
    sinusoidal_concatenated=(
        "sines, then cosines",
        "The same waves, all sines first, then all cosines, as in the MarianMT of transformers.",
    ),
    literal_loop=(
        "literal loop",
        "A loop over i = 0, 2, 4 … that uses 2i in the exponent again, a common slip: frequencies fall twice as fast "
        "and differ within a pair.",
    ),
    none=("none", "Zeros: every position looks the same."),
    learned_start=(
        "learned (random)",
        "Normally distributed random numbers, standard deviation 0.02 as in BERT and GPT-2.",
    ),
    learned=(
        "learned (toy)",
        "The same table after training: a head that sees only positions learned to attend to the previous one.",
    ),
    rotary=(
        "rotary",
        "The same waves turn queries and keys inside attention instead of being added (Su et al. 2021).",
    ),
    alibi=(
        "ALiBi",
        "Subtracts slope · distance from every score, with a different slope in each head (Press et al. 2022).",
    ),
    buckets=(
        "T5 buckets",
        "One learned number per head and bucket of distances is added to the scores (Raffel et al. 2020).",
    ),
)
VIEWS = messages(
    encoding="Encoding",
    difference="Two compared",
    similarity="Similarity",
    wavelengths="Wavelengths",
    kernels="Read by heads",
    order="Word order",
    rotary="Rotary head",
    beyond="Too long",
)
LEARNED = message("It does so in {hits:.0%} of the rows; the loss is {loss:.3f}.")
STEER = {  # what can be done to the positions of a model, as the address of Steer has it
    message("positions off"): {"scale": "0"},
    message("off in the encoder"): {"scale": "0", "stacks": "encoder"},
    message("half as strong"): {"scale": "0.5"},
    message("shifted by 20"): {"shift": "20"},
}
# Of an encoding, in the numbers of its table.
ANSWERS = messages(
    none="Without an encoding every position looks the same.",
    alibi="ALiBi: 10 positions back a weight shrinks to {near:.1%} in head 0, to {far:.1%} in head 7.",
    buckets="T5 tells distances up to {exact} apart one by one; from {far} on all share one bucket.",
    by_offset=(
        "Any two positions {apart} apart have the product {product:.1f}, wherever they stand; a position with itself "
        "{self:.1f}."
    ),
    by_place="Here the place matters, too: at one distance products differ by up to {residual}.",
)
# Of one encoding, and of two.
OF_TABLES = messages(
    size="{positions} positions, {dimensions} dimensions",
    title="Positional encoding: {name}",
    about="Above, a row per {column}; below, some of them as lines. Click a row to see its line.",
    no_wave="Choose at least one dimension to see its wave.",
    first="first: {name}",
    second="second: {name}",
    no_table="{name} adds to the scores, not to embeddings: choose an encoding with a table.",
    difference="First minus second: at most {cells}; with each sine before its cosine at most {waves}.",
    difference_title="Difference of the encodings",
    about_difference="Rows are positions, columns dimensions: the difference, the first encoding, the second.",
    similarity="Products at one distance differ by at most {first} in the first encoding, {second} in the second.",
    about_similarity=(
        "Dot products of all pairs of positions. If only distance matters, each diagonal has one colour."
    ),
    similarity_title="Similarity by offset",
    wavelengths="The longest wave of “{name}” takes {n} positions.",
    about_wavelengths="In the paper's formula a sine and its cosine share a wavelength.",
    no_wavelengths="Neither encoding has waves: without positions, or with learned ones, there is no wavelength.",
    wavelengths_title="Wavelengths of the dimensions",
)
# Of the words of a sentence in another order.
ORDERS = messages(
    help="The same words in another order; tokens of a word stay together.",
    trained="Positions as trained",
    off="Off: the encoder has no positions.",
    no_order="This sentence has no other order: type one with two different words or more.",
    same="Both orders give the same translation: “{a}”",
    differs="“{a}” becomes “{b}”",
    blind=(
        "Without positions the encoder is order-blind: shuffled input gives shuffled output (largest difference {off}; "
        "as trained {on})."
    ),
    about="The same head over the sentence and over its words in another order.",
)
# Of heads that read positions.
OF_HEADS = messages(
    read="Of the heads of {model} these read it most, as share of what decides where they look:",
    read_by="{kind} {layer}.{head} {share:.0%}",
    nobody="In this sentence no head of {model} reads it.",
    not_in_model="No head of {model} reads it: its encoding is “{own}”.",
    rotary=(
        "Rotary positions do not stand in the stream: they turn queries and keys, so no part of a score is theirs "
        "alone."
    ),
    kernels="Scores of each head of {model} if all words were alike",
    own="If all words were alike, {name} would look at its own position in {n} of {total} rows.",
    before=("If all words were alike, {name} would look at the position {back} before its own in {n} of {total} rows."),
    after="If all words were alike, {name} would look at the position {back} after its own in {n} of {total} rows.",
    mean="At every position stands the mean of words of the vocabulary, so only the positions differ.",
    share="In “{text}” {share:.0%} of what decides where it looks is positions.",
)
# Of language models that read more than they read at once in training.
TOO_LONG = messages(
    about="Loss by position at 1, 2 and 4 times the trained length",
    side_by_side="Side by side",
    line="{n:,} tokens: {perplexity:.1f}",
    answer="Four times the trained length multiplies the perplexity by {list}.",
    factor="{factor:.2f} ({name})",
    perplexities=("{name} has perplexity {a} at the trained {n:,} tokens, {b} when it reads {m:,} at once."),
    measured="Measured over {n:,} tokens by {command}.",
)
# Of a rotary head.
ROTARY_HEAD = messages(
    heads="q·k of each head, by how far apart query and key stand",
    tiles="rows: layers, columns: heads; left near, right far",
    falls="From distance 0 to {n}, q·k falls from {a:.1f} to {b:.1f}; before the rotation it stays at {a:.1f}.",
    rises="From distance 0 to {n}, q·k rises from {a:.1f} to {b:.1f}; before the rotation it stays at {a:.1f}.",
    about="Layer {layer}, head {head} of {name}: the mean over all pairs of a query and a key of the text.",
    turned="after the turn",
    still="before the turn",
    title="q·k by offset, layer {layer}, head {head}",
    speeds="Each pair of dimensions turns at a speed of its own: the sum of their waves favours some distances.",
)
# Names of controls and axes.
LABELS = messages(
    show="Show",
    positions="Positions",
    encodings="Encodings",
    lines="Lines",
    beside="Beside",
    second="Second encoding",
    on_steer="In the model, on Steer:",
    order="Order",
    heads="Heads",
    models="Models",
    dimension="dimension",
    position="position",
    distance="distance",
    head="head",
    bucket="bucket",
    value="value",
    difference="difference",
    product="dot product",
    mean_product="mean dot product",
    offset="offset (positions apart)",
    wavelength="wavelength (positions)",
    pair="pair",
    sine="sine",
    cosine="cosine",
    query="position of the query",
    key="position of the key",
    score="score above its row's mean",
    mean_score="score above the mean",
    apart="positions from key to query",
    loss="loss per token (nats)",
    blocked="masked",
    by_position="scores by position",
    by_distance="mean score by distance",
    own_encoding="Its encoding",
    dimensions_by_position="dimensions by position",
)
