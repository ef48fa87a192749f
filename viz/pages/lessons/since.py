"""Since 2017: seven short stories of what attention and the layers about it became.

The questions are about a recording of SmolLM2-135M and about what ships. With the answer a visitor may choose another
language model, one that ships or one that was opened here: then picture and one more sentence are computed from that.
"""

import numpy as np

from model.experiments.recorded_model import shipped
from viz.pages.lessons import since_layers as layers
from viz.pages.lessons import since_recorded as recorded
from viz.pages.lessons.card import Figures, Story, card

STORY = Story(
    "Since 2017",
    "Name movers, induction, sinks, rotary positions, RMSNorm, SwiGLU and the cache.",
    "Wang et al. 2022 · Olsson et al. 2022 · Xiao et al. 2024 · Su et al. 2021 · Zhang and Sennrich 2019 · Shazeer "
    "2020 · Ainslie et al. 2023 · recorded: SmolLM2-135M, Apache-2.0",
)


@card(
    "SmolLM2-135M reads “When Mary and John went to the store, John gave a drink to”. The board shows what each head "
    "adds to “Mary” over “John”. Name movers look at “Mary” and copy it: the two that add most are switched off.",
    "How probable is “Mary” then?",
    ("Nearly 0", "Half as probable", "More than three quarters as probable"),
    "{before:.0%} becomes {after:.0%}.",
    "Heads {a} and {b} look at “Mary” and add {added:.1f} logits over “John”; without them the lead falls by only"
    " {lost:.1f}: others make up for it. The strongest head, {strongest}, looks at “{token}” ({weight:.2f}) and "
    "lowers the lead by {lowered:.1f}.",
    Figures(recorded.draw_drink, "language_model"),
    right=2,
    live=recorded.live_drink,
)
def drink() -> dict:
    numbers = recorded.drink_numbers(shipped())
    a, b = numbers.pop("movers")
    return numbers | {"a": a, "b": b}


@card(
    "Ten random words, then the same ten again. The second time every word can be known: look for it, and take what "
    "came after it.",
    "Is there a head that does this?",
    ("No, random words have no order", "Yes, a few heads do nothing else", "Yes, every head does"),
    "Head {layer}.{head} gives {weight:.0%} of its weight to the token after the last occurrence; {n} of {all} heads "
    "give more than half.",
    "Induction heads make copying from the context work.",
    Figures(recorded.draw_repeated, "language_model"),
    right=1,
    live=recorded.live_repeated,
)
def repeated() -> dict:
    return recorded.repeated_numbers(shipped())


@card(
    "“The river flows through the valley and the old town”. The board shows how much weight each head gives to the "
    "first token, “The”. Now “Because” is put before it.",
    "Which token gets the weight then?",
    ("“the”, as before", "“Because”, because it is first"),
    "{n} of {all} heads gave “The” more than half. Now {other} give it to “Because”; without “The”, {without} to "
    "“river”; with “The” hidden by a mask, {masked}.",
    "The place counts: a weight on a sink is not a sign of importance.",
    Figures(recorded.draw_sink, "language_model"),
    right=1,
    live=recorded.live_sink,
)
def sink() -> dict:
    numbers = recorded.sink_numbers(shipped())
    return {name: numbers[name] for name in ("n", "other", "without", "masked", "all")}


@card(
    "A head of wikitext2-lm, whose positions are added to the words. The whole text moves by 20 positions; the map "
    "shows how its scores change.",
    "And if queries and keys were turned by their positions instead?",
    ("Scores change as much", "No score changes", "Scores become 0"),
    "With added positions, scores change by up to {added:.2f}; with rotated queries and keys, by {turned:.0e}.",
    "The angle between two turned vectors depends on how far apart they stand, not on where.",
    Figures(layers.draw_moved, "positions", {"first": "rotary"}),
    right=1,
    live=layers.live_turned,
)
def turned() -> dict:
    _, sinusoidal, turned = layers.moved_scores()
    return {"added": np.abs(sinusoidal).max(), "turned": np.abs(turned).max()}


@card(
    "LayerNorm subtracts a vector's mean, then divides by its standard deviation; RMSNorm only divides by the root "
    "mean square. Each dot is a number of “town” after the first norm of wikitext2-lm: RMSNorm across, LayerNorm up. "
    "Now RMSNorm replaces all its LayerNorms.",
    "What becomes of its most probable next word?",
    ("Another word takes its place", "It stays, about as probable", "All words become equally probable"),
    "“{word}” had {before:.0%} and has {after:.0%}, without any training for it.",
    "The two norms differ by at most {first:.2f} at the first, where the mean of the added positions is not 0, and "
    "{last:.3f} at the last: the mean hardly matters here.",
    Figures(layers.draw_norms, "language_model", {"model": layers.MODERN}),
    right=1,
)
def norms() -> dict:
    return layers.norm_numbers()


@card(
    "A feed-forward layer of wikitext2-lm at the word “town”. Each dot is a unit: across the product of the word with "
    "its weights, up what ReLU makes of it. In wikitext2-modern SwiGLU multiplies Swish of one product with a second "
    "product.",
    "Where do its dots lie?",
    ("On one smooth curve", "On both sides of 0", "All above 0"),
    "ReLU turns {zero:.0%} of {n:,} units into exactly 0, and none is negative.",
    "With SwiGLU {gated_zero} of {m} are 0 and {negative:.0%} are negative: one product opens the gate, the other "
    "sets sign and size, so no single curve holds them.",
    Figures(layers.draw_units, "language_model", {"model": layers.MODERN}),
    right=1,
)
def units() -> dict:
    return layers.unit_numbers()


@card(
    "Each new word reads the keys and values of all words before it, so they are kept. The bar shows what 8,192 "
    "tokens take in SmolLM2-135M, in numbers of 2 bytes, if each of its 9 query heads had keys and values.",
    "It has 3 heads of keys and values. How much does that take?",
    ("As much", "A third", "A ninth"),
    "{grouped:.0f} MB instead of {whole:.0f}: three query heads share one head of keys and values.",
    "Long texts are limited by this memory, not by the weights.",
    Figures(layers.draw_cache, "language_model"),
    right=1,
    live=layers.live_cache,
)
def remembered_words() -> dict:
    grouped, whole = layers.cache_sizes()
    return {"grouped": grouped, "whole": whole}
