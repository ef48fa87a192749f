"""The words that several pages share."""

from contextlib import suppress
from typing import Any, NamedTuple, TypedDict

from model.results.recording import row_naming
from viz.text.language import listed, message, messages, say

LANGUAGES = messages(en="English", de="German", fr="French", es="Spanish")

BEAMS = {1: message("greedy")} | {width: str(width) for width in range(2, 9)}
SEARCH = message(
    "Greedy takes the likeliest token at every step. A beam of 4 keeps the four best beginnings until the end."
)
EXAMPLES = {
    message("A short one"): "A man is riding a bicycle down the street.",
    message("What is “it”?"): "The animal didn't cross the street because it was too tired.",
    message("A question"): "Why are there so many people in front of the church?",
    message("With a typo"): "I am happy. Because studing is hard.",
    message("A long one"): (
        "On a sunny day in the summer, a group of young people is sitting on the grass in front of an old building, "
        "and while some of them are eating and talking to each other, a little girl in a red dress is playing with a "
        "small brown dog that has a yellow ball in its mouth."
    ),
}
TEXTS = {  # that a language model goes on with, in its language
    text: text
    for text in (
        "The game was released in",
        "The river flows through the",
        "The first season of the series",
        "The storm moved",
        "She was born in",
        "When Mary and John went to the store, John gave a drink to",
    )
}


class Axes(TypedDict):
    """The names of both axes of a map."""

    query_axis: str
    key_axis: str


class KindWords(NamedTuple):
    """What is said of a kind of attention."""

    name: str  # short, for a button
    title: str
    rows: str  # who attends to what
    key_axis: str  # the title of the columns


NORMS = messages(pre="pre-norm", post="post-norm")
_KINDS = messages(
    encoder_self=(
        "Encoder self",
        "Encoder self-attention",
        "Every source token attends to the whole source.",
        "source (key)",
    ),
    decoder_self=(
        "Decoder self",
        "Masked decoder self-attention",
        "Each step attends to what was written so far.",
        "word so far (key)",
    ),
    cross=(
        "Cross",
        "Cross-attention",
        "Each step attends to the source.",
        "source (key)",
    ),
)
KINDS = {kind: KindWords(*texts) for kind, texts in _KINDS.items()}
SHORT_KINDS = messages(encoder_self="Encoder", decoder_self="Decoder", cross="Cross")
MOST_NAMED = 6  # corpora
SCORES = (  # of a test set; the first that a card has the numbers for
    message("BLEU {bleu:.1f} on {test}, beam {beam}"),
    message("BLEU {bleu:.1f} on {test}"),
    message("perplexity {perplexity:.1f} on {test}"),
)
SOURCE_AXIS = message("source (query)")
STEP_AXES = messages(predicted="word being written (query)", read="word just read (query)")  # by `row_naming`


def axes(kind: str, requested: str = "", has_predictions: bool = True) -> Axes:
    """The titles of the axes of a map of a kind; the arguments are those of `model.results.recording.row_naming`."""
    naming = row_naming(kind, requested, has_predictions)
    query_axis = SOURCE_AXIS if kind == "encoder_self" else STEP_AXES[naming]
    return {"query_axis": query_axis, "key_axis": KINDS[kind].key_axis}


def how_decoded(request: Any) -> str:
    """How a translation came about; the input as in `viz.views.view.Input`."""
    if request.reference is not None:
        return say("Teacher-forced with this reference; on its own the model may write something else.")
    if request.beam == 1:
        return say("Free-running, greedy: each step reads what the model wrote.")
    line = message(
        "Free-running, beam of {beam}, length penalty {penalty:g}: each step reads what the model wrote itself."
    )
    return say(line, beam=request.beam, penalty=request.penalty)


def language(code: object, otherwise: str) -> str:
    """The name of a language of a card, or another word where it has none."""
    return say(LANGUAGES.get(code, otherwise) if isinstance(code, str) else otherwise)


def sentence_in(code: object) -> str:
    """The language of a code inside a sentence: "German"."""
    return say("{language} sentence", language=language(code, "Source"))


def number(value: float) -> str:
    """A number with three digits, as the language writes it."""
    return "0" if value == 0 else say("{x:.1e}" if abs(value) < 0.001 else "{x:.3f}", x=value)


def describe_reader(name: str, config: Any) -> str:
    """What a model of transformers is made of, given its `ReaderConfig`."""
    parts = [name, config.architecture]
    for kind in config.kinds:
        layers = config.layers(kind)
        n_heads = max(layer.n_heads for layer in layers)
        n_shared = min(layer.n_key_value_heads for layer in layers)
        line = message("{kind}: {layers} layers of {heads} heads")
        if n_shared < n_heads:
            line = message("{kind}: {layers} layers of {heads} heads over {shared} heads of keys and values")
        parts.append(say(line, kind=say(KINDS[kind].title), layers=len(layers), heads=n_heads, shared=n_shared))
    return " · ".join(parts)


def describe_card(name: str, card: dict[str, Any]) -> str:
    """Where a checkpoint comes from; anything in its card may be missing or of another type."""
    types = {"parameters": int, "converted_from": str, "data": dict, "scores": dict}
    facts = {part: card[part] for part, kind in types.items() if isinstance(card.get(part), kind)}
    parts = [say("Checkpoint {name}", name=name)]
    if "parameters" in facts:
        parts.append(say("{millions:.1f} million parameters", millions=facts["parameters"] / 1e6))
    if "converted_from" in facts:
        parts.append(say("converted from {origin}", origin=facts["converted_from"]))
    if names := list(facts.get("data", ())):
        count_text = say("{n} corpora, listed on its card", n=len(names))
        parts.append(
            say("trained in this project on {data}", data=count_text if len(names) > MOST_NAMED else listed(names))
        )
    for test, score in facts.get("scores", {}).items():
        for text in SCORES:
            with suppress(KeyError, TypeError, ValueError):
                parts.append(say(text, **score, test=test))
                break
    return " · ".join(parts)
