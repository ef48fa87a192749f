"""Name movers, induction heads and sinks: what SmolLM2-135M did, recorded, or a model that is here does.

The stories of "Since 2017" about heads draw and say this. The pictures are of the recording until a visitor has guessed
and chosen another model.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from model.adapters.readers.layout import DECODER
from model.analysis import maps as analysis
from model.experiments.recorded_model import MASKED, Place, Recorded, shipped, study
from model.storage.checkpoint import available
from viz.figures import Figure, attention_heatmap, head_board
from viz.figures.framed import plain_token
from viz.text.language import listed, message, say
from viz.views import model_shelf
from viz.views.cached import cache_results, translator
from viz.views.results.model_results import usable
from viz.views.turns import in_turn

RECORDING = ""  # in the place of the name of a model


@cache_results(8)
def studied(name: str) -> Recorded:
    """What a model does with the texts of the stories; errors as in `study`."""
    return in_turn(study)(translator(name))


def models() -> list[str]:
    """The language models that read a text from left to right: those that ship, and those that were opened."""
    return [*usable(available("language_model"))[0], *model_shelf.SHELF.names((DECODER,))]


def subject(name: str) -> Recorded:
    """What is drawn: what a model does, or the recording, also where that model cannot do it."""
    if name:
        with suppress(ValueError):  # the sentence beside says it
            return studied(name)
    return shipped()


def head_name(place: Place) -> str:
    """A head as papers write it: layer.head."""
    return "{}.{}".format(*place)


def draw_drink(answered: bool, model: str = RECORDING) -> Figure:
    """What each head adds to Mary over John; with the answer where the name movers and the strongest head look."""
    recorded = subject(model)
    heads = recorded.heads
    if not answered:
        value = message("logits added to “Mary” over “John”")
        return head_board(heads.effects.round(2) + 0, value=value, signed=True, say=say)
    places = list(dict.fromkeys([*heads.movers, heads.strongest]))
    names = [f"{head_name(place)}: {heads.effects[place]:+.1f}" for place in places]
    rows = np.stack([heads.last_rows[place] for place in places])
    tokens = [plain_token(token) for token in recorded.tokens["drink"]]
    axes: dict[str, Any] = {"query_axis": message("head"), "key_axis": message("token")}
    return attention_heatmap(rows / rows.sum(-1, keepdims=True), names, tokens, **axes, say=say)


def draw_repeated(answered: bool, model: str = RECORDING) -> Figure:
    """How much each head gives to the token after the last occurrence."""
    values = subject(model).induction()
    return head_board(
        values.round(2) + 0,
        value=message("weight on the token after the last occurrence"),
        selected=analysis.largest_cell(values) if answered else None,
        say=say,
    )


def draw_sink(answered: bool, model: str = RECORDING) -> Figure:
    """How much each head gives to the first token, with the answer to another one that was put before the text."""
    text = "other_first" if answered else "sink"
    values = subject(model).on_first(text)
    return head_board(values.round(2) + 0, value=message("weight on the first token"), say=say)


def drink_numbers(recorded: Recorded) -> dict:
    """What name movers add, what is left without them, and what the strongest head does."""
    heads = recorded.heads
    chances = recorded.chances.astype(np.float64)
    lead, lead_without = np.log(chances[:2, 0] / chances[:2, 1])  # in logits of one softmax: Mary less John
    strongest = heads.strongest
    row = heads.last_rows[strongest]
    return {
        "before": chances[0, 0],
        "after": chances[1, 0],
        "movers": [head_name(place) for place in heads.movers],
        "added": float(sum(heads.effects[place] for place in heads.movers)),
        "lost": lead - lead_without,
        "strongest": head_name(strongest),
        "effect": float(heads.effects[strongest]),
        "lowered": -float(heads.on_words[1][strongest]),
        "token": plain_token(recorded.tokens["drink"][int(row.argmax())]),
        "weight": float(row.max()),
    }


def repeated_numbers(recorded: Recorded) -> dict:
    """The head that gives most to the token after the last occurrence, and how many give more than half."""
    values = recorded.induction()
    layer, head = analysis.largest_cell(values)
    return {"layer": layer, "head": head, "weight": values.max(), "n": int((values > 0.5).sum()), "all": values.size}


def sink_numbers(recorded: Recorded) -> dict:
    """How many heads give more than half of their weight to the first token that they see, by text."""
    texts = {"n": "sink", "other": "other_first", "without": "without_first", "masked": MASKED}
    counts = {name: int((recorded.on_first(text) > 0.5).sum()) for name, text in texts.items()}
    return counts | {"all": recorded.heads.effects.size, "largest": float(recorded.on_first("sink").max())}


def live_drink(name: str) -> str:
    """What name movers do in a model; of one of ours what depends on a head, since its direct effects are not known."""
    recorded = studied(name)
    numbers = drink_numbers(recorded) | {"movers": listed(drink_numbers(recorded)["movers"])}
    if not numbers["movers"]:
        line = message("“Mary” has {before:.2%}; no head that adds to it looks most at it.")
    else:
        line = message("“Mary” has {before:.2%}, and {after:.2%} without the heads that look at it ({movers}).")
    about = message(
        "Head {strongest} adds most, {effect:.1f} logits over “John”; it looks at “{token}” ({weight:.2f})."
    )
    if not recorded.is_direct:
        about = message(
            "Head {strongest} matters most: without it “Mary” loses {effect:.1f} logits to “John”. It looks at "
            "“{token}” ({weight:.2f})."
        )
    return f"{say(line, **numbers)} {say(about, **numbers)}"


def live_repeated(name: str) -> str:
    """Whether a model has induction heads."""
    return say(
        "Head {layer}.{head} gives {weight:.0%} of its weight to the token after the last occurrence; {n} of {all} "
        "heads give more than half.",
        **repeated_numbers(studied(name)),
    )


def live_sink(name: str) -> str:
    """Whether a model has attention sinks."""
    return say(
        "{n} of {all} heads give “The” more than half, {other} “Because” where that is first, {without} “river” "
        "without “The” and {masked} where “The” is hidden. The largest weight on “The” is {largest:.2f}.",
        **sink_numbers(studied(name)),
    )
