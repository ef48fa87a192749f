"""Where does the gender come from? Parts of one sentence put into another: streams, heads, weights, values."""

from collections.abc import Callable

import numpy as np

from model.experiments.text_pairs import PAIRS
from model.interventions.patches import WHAT, HeadPatch
from viz.figures import Figure, curves, head_board, stream_patches, written_heatmap
from viz.pages.lessons.card import Figures, Story, card, view_of
from viz.pages.lessons.patching_results import (
    Place,
    Texts,
    heads,
    joined,
    patched_text,
    raised,
    ranked,
    streams,
    written,
)
from viz.text.language import message, say
from viz.views.cached import compute
from viz.views.view import place_of_head

GENDER = Texts.of(PAIRS[0].clean, PAIRS[0].corrupted)  # brother, sister
SPREAD = Texts.of("The man sees the dog.", "The dog sees the man.")
NOUN, OWNER, VERB = "▁sister", "▁my", "▁meine"
LOOKER: Place = (1, 2)  # looks most at "my"
HEAD: Place = (2, 2)
WORDS = 5  # that a head raises most
WRITTEN = ("Wo ist mein Bruder?", "Wo ist meine Bruder?", "Wo ist meine Schwester?")
SHARE = message("share that comes back")


def name_of(head: Place) -> str:
    """A head as papers write it: layer.head."""
    return "{}.{}".format(*head)


def weights(texts: Texts, token: str) -> np.ndarray:
    """How much each head of the cross-attention looks at a token of the text that is changed, for the word that the
    texts are compared by, (L, H)."""
    result = compute(texts.b)
    row = result.predicted_tokens.index(VERB)
    return result.attention("cross")[:, :, row, result.source_tokens.index(token)]


def to_compare(texts: Texts) -> Callable[[], dict[str, str]]:
    """The query with which the page Compare goes on with two texts."""
    return lambda: view_of(texts.a).address() | {"versus": "sentence", "text-b": texts.b.text}


def board(shares: np.ndarray, selected: Place | None = None) -> Figure:
    """What comes back with each head of the cross-attention."""
    return head_board(shares.round(2) + 0.0, value=SHARE, signed=True, selected=selected, say=say)


def _draw_streams(answered: bool) -> Figure:
    tokens = compute(GENDER.b).source_tokens
    shares = streams(GENDER)
    column = tokens.index(OWNER)
    if answered:
        return stream_patches(shares, tokens, selected=(2, column), say=say)
    shares = shares.copy()
    shares[:, column] = np.nan
    return stream_patches(shares, tokens, say=say)


def _draw_heads(answered: bool) -> Figure:
    if answered:
        return board(heads(GENDER), ranked(GENDER)[0])
    return head_board(weights(GENDER, OWNER).round(2), value=message("weight on “my”"), say=say)


def _draw_both(answered: bool) -> Figure:
    if not answered:
        return board(heads(GENDER), HEAD)
    layer, column = HEAD
    shares = np.stack([heads(GENDER, what=what)[layer] for what in WHAT])  # (what, H)
    columns = [name_of((layer, head)) for head in range(shares.shape[1])]
    rows = [say("whole output"), say("weights alone"), say("values alone")]
    return head_board(
        shares.round(2) + 0.0, rows, columns, value=SHARE, signed=True, selected=(WHAT.index("values"), column), say=say
    )


def words_at_nouns() -> list[list[tuple[str, float]]]:
    """The words that the head raises most at “brother” and at “sister”, while “mein” and “meine” are written."""
    words = []
    for request, noun, verb in ((GENDER.a, "▁brother", "▁mein"), (GENDER.b, NOUN, VERB)):
        result = compute(request)
        step, key = result.predicted_tokens.index(verb), result.source_tokens.index(noun)
        words.append(raised(request, HEAD, step, key, WORDS))
    return words


def _draw_written(answered: bool) -> Figure | list[Figure]:
    if not answered:
        return board(heads(GENDER), HEAD)
    words = words_at_nouns()
    table = written_heatmap(
        np.array([[logit for _, logit in row] for row in words]),
        ["brother", "sister"],
        [str(rank + 1) for rank in range(WORDS)],
        row_axis=message("it looks at"),
        column_axis=message("words that it raises most"),
        texts=[[word for word, _ in row] for row in words],
        value=message("added to the logit"),
        say=say,
    )
    shares = head_board(
        written(GENDER).round(2) + 0.0, value=message("share that is written"), signed=True, selected=HEAD, say=say
    )
    return [table, shares]


def to_dictionary() -> dict[str, str]:
    """The query with which the first page shows what the head writes at “brother”."""
    result = compute(GENDER.a)
    row, key = result.predicted_tokens.index("▁mein"), result.source_tokens.index("▁brother")
    place = place_of_head("cross", *HEAD) | {"view": "writes", "row": str(row), "key": str(key)}
    return view_of(GENDER.a).address() | place


def _draw_reverse(answered: bool) -> Figure:
    return board(heads(GENDER._replace(reverse=answered)), HEAD)


def _draw_joined(answered: bool) -> Figure | list[Figure]:
    lines = {"mein / meine": joined(GENDER)}
    if answered:
        lines |= {"Mann / Hund": joined(SPREAD)}
    figure = curves(
        {name: np.stack([np.arange(1, len(line) + 1), line]) for name, line in lines.items()},
        x_axis=message("heads put in together, the strongest first"),
        y_axis=SHARE,
        reach=(0.0, 1.0),
        say=say,
    )
    return [board(heads(SPREAD), ranked(SPREAD)[0]), figure] if answered else figure


STORY = Story(
    "Where does the gender come from?",
    "Put parts of one sentence into another, and see what comes back.",
    "Vig et al. 2020 · Meng et al. 2022 · Wang et al. 2022 · Heimersheim and Nanda 2024",
)


@card(
    "“Where is my brother?” becomes “mein Bruder”, “Where is my sister?” “meine Schwester”. Into the second pass one "
    "value is put that the first one had, of one token after one layer of the encoder. The map shows how much of "
    "“mein” instead of “meine” comes back: at “sister” ever less.",
    "From where on does “my” know who is meant?",
    ("From the embedding on", "After layer 0", "After layer 1"),
    "After layer 1: at “my” {share:.0%} comes back, after layer 0 {before:.0%}.",
    "At “sister” it is {noun_before:.0%} and then {noun:.0%}: layer 1 has taken part of it along. 0% is as in the "
    "second sentence, 100% as in the first.",
    Figures(_draw_streams, "compare", to_compare(GENDER)),
    right=2,
)
def layer() -> dict:
    tokens = compute(GENDER.b).source_tokens
    owner, noun = (streams(GENDER)[:, tokens.index(token)] for token in (OWNER, NOUN))
    return {"share": owner[2], "before": owner[1], "noun_before": noun[1], "noun": noun[2]}


@card(
    "Heads of the cross-attention bring it to the decoder. The board shows how much each looks at “my” while “meine” "
    "is written. Now each head in turn gets the output that it had in the first sentence.",
    "With which one does most of “mein” come back?",
    ("1.2, which looks most at “my”", "2.1, which looks at it, too", "2.2, which hardly looks at it"),
    "{head}: {share:.0%} comes back. It looks at “sister” with a weight of {weight:.2f}, at “my” with {owner:.2f}.",
    "With head 1.2, whose weight on “my” is {looks:.2f}, {little:.0%} comes back: a weight is not an effect.",
    Figures(_draw_heads, "compare", to_compare(GENDER)),
    right=2,
)
def writer() -> dict:
    head = ranked(GENDER)[0]
    return {
        "head": name_of(head),
        "share": heads(GENDER)[head],
        "weight": weights(GENDER, NOUN)[head],
        "owner": weights(GENDER, OWNER)[head],
        "looks": weights(GENDER, OWNER)[LOOKER],
        "little": heads(GENDER)[LOOKER],
    }


@card(
    "The output of a head has two sides: its weights, where it looks, and its values, what it carries from there. Each "
    "can be put into the other sentence alone.",
    "Which of them brings “mein” back with head 2.2?",
    ("Where it looks", "What it carries", "Half each"),
    "What it carries: {values:.0%} comes back, with where it looks {weights:.0%}.",
    "In both sentences it looks at the noun, with {brother:.2f} at “brother” and {sister:.2f} at “sister”: only what "
    "stands there is different.",
    Figures(_draw_both, "compare", to_compare(GENDER)),
    right=1,
)
def sides() -> dict:
    brother = compute(GENDER.a)
    row, noun = brother.predicted_tokens.index("▁mein"), brother.source_tokens.index("▁brother")
    return {
        "values": heads(GENDER, what="values")[HEAD],
        "weights": heads(GENDER, what="weights")[HEAD],
        "brother": brother.attention("cross")[(*HEAD, row, noun)],
        "sister": weights(GENDER, NOUN)[HEAD],
    }


@card(
    "A third way needs no other sentence. Through the output projection and the output matrix what a head carries "
    "becomes words: those that it raises and lowers when it looks at “brother”.",
    "Which words does head 2.2 raise there?",
    ("“Bruder” and the like", "Masculine words like “meinen”", "Words of both genders"),
    "Masculine ones: {brother}. At “sister” it raises {sister}: the gender, but not the noun.",
    "All three ways agree. It looks at the noun ({looks:.2f}), put in it brings {patched:.0%} back, and it writes "
    "{written:.0%} of the difference between “mein” and “meine”, each time most of all heads. Later parts use it too.",
    Figures(_draw_written, "", to_dictionary, shares=(0.45, 1.0)),
    right=1,
)
def three_ways() -> dict:
    brother, sister = (", ".join(word for word, _ in row[:3]) for row in words_at_nouns())
    return {
        "brother": brother,
        "sister": sister,
        "looks": weights(GENDER, NOUN)[HEAD],
        "patched": heads(GENDER)[HEAD],
        "written": written(GENDER)[HEAD],
    }


@card(
    "Now the other way: while the model translates “Where is my brother?”, head 2.2 gets what it had at “sister”, and "
    "nothing else is changed.",
    "What does the model write?",
    WRITTEN,
    "“{text}” The head carries the gender, but not the noun: {share:.0%} of the way to “meine” is enough.",
    "The first way {back:.0%} came back, and the model still wrote “{still}”. One way asks what suffices, the other "
    "what is needed: look at both.",
    Figures(_draw_reverse, "compare", to_compare(GENDER)),
    right=1,
)
def other_way() -> dict:
    back = GENDER._replace(reverse=True)
    patch = HeadPatch("cross", *HEAD)
    return {
        "text": patched_text(back, patch),
        "share": heads(back)[HEAD],
        "back": heads(GENDER)[HEAD],
        "still": patched_text(GENDER, patch),
    }


@card(
    "So far one head carried half of it; with a few more, almost all comes back, as the line shows. Now “The man sees "
    "the dog.” and “The dog sees the man.”: “Der Mann …” or “Der Hund …”.",
    "Which head brings “Mann” back?",
    ("Head 2.2 again", "Another one", "None alone"),
    "None alone: the strongest, {head}, brings {share:.0%} back, all {n} together {all:.0%}.",
    "It takes {half} heads for half of it, for “mein” {few}. Single shares add up to {sum:.0%}: what looks small alone "
    "counts together. In larger models some heads act only when others are cut (Wang et al. 2022).",
    Figures(_draw_joined, "compare", to_compare(SPREAD), shares=(0.45, 1.0)),
    right=2,
)
def spread() -> dict:
    shares = heads(SPREAD)
    together = joined(SPREAD)
    return {
        "head": name_of(ranked(SPREAD)[0]),
        "share": shares.max(),
        "n": shares.size,
        "all": together[-1],
        "half": int(np.argmax(together >= 0.5)) + 1,
        "few": int(np.argmax(joined(GENDER) >= 0.5)) + 1,
        "sum": shares.sum(),
    }
