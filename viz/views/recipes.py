"""Recipes of the pages that show a translation: the lines that make it, and the figures of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.figures import attention_heatmap, candidates_heatmap, mask_heatmap, positional_heatmap
from viz.figures.labels import in_quotes
from viz.text import words
from viz.text.language import say
from viz.text.words import BEAMS
from viz.views import cached, maps
from viz.views.cached import Request
from viz.views.made import Made, Plot, Recipe, call, made
from viz.views.next_words import CANDIDATES


def loading(checkpoint: str, name: str = "translator") -> str:
    """The line that loads a checkpoint."""
    return f"{name} = {call('load_translator', checkpoint)}"


def searching(request: Request) -> dict[str, object]:
    """The arguments that say how a request searches; None for what is so anyway."""
    penalty = request.length_penalty
    return {"beam": request.beam, "length_penalty": None if penalty == cached.LENGTH_PENALTY else penalty}


def spoken(request: Request) -> str:
    """What figures of a request are of: the sentence, the checkpoint, and how it was decoded."""
    how = say("beam {width}", width=request.beam) if request.beam > 1 else say(BEAMS[1])
    if request.reference is not None:
        how = say("reading the reference “{reference}”", reference=request.reference)
    return f"{in_quotes(request.text, say)} · {request.checkpoint} · {how}"


def translation(request: Request) -> Recipe:
    """The translation of a request, in Python called `result`."""
    if request.reference is None:
        written = call("translator.translate", request.text, **searching(request))
    else:
        written = call("translator.force", request.text, request.reference)
    return Recipe(spoken(request), (loading(request.checkpoint), f"result = {written}"))


class MapsMade:
    """The maps of a kind: of the recording itself, or of what the options of the maps made of it.

    Args:
        recipe: lines that make `result`.
        result: the recording.
        built: its maps.
        kind: of attention.
        named: whether steps are named by the token read or predicted.
    """

    def __init__(self, recipe: Recipe, result: object, built: maps.Maps, kind: str, named: str) -> None:
        self.result, self.built, self.kind, self.named = made(result, "result"), built, kind, named
        self.recipe, self.plain, self.tokens = recipe, built.options == maps.Options(), result
        # Which cells an overview draws, in Python.
        self.drawn = "built.shown & built.mask"
        if self.plain:
            self.drawn = f"np.broadcast_to(result.mask({kind!r}), result.attention({kind!r}).shape)"
        weights, mask = self.result.attention(kind), self.result.mask(kind)
        queries, keys, others = maps.axis_tokens(self.result, kind, named)
        others = others if built.others is not None else None
        if not self.plain:
            chosen = {name: one for name, one in vars(built.options).items() if one != getattr(maps.Options(), name)}
            options = made(None, call("maps.Options", **chosen))
            arguments = weights, mask, queries, keys, options, others
            self.recipe = recipe.then(f"built = {call('maps.build', *arguments)}")
            known = made(built, "built")
            weights, mask, queries, keys = known.weights, known.mask, known.queries, known.keys
            others = others and known.others
        self.weights, self.mask, self.queries, self.keys, self.others = weights, mask, queries, keys, others

    def of(self, name: str) -> Made | None:
        """An attribute of the maps that options made; None where there are none and it is what it is anyway."""
        return None if self.plain else getattr(made(self.built, "built"), name)

    def heatmap(self, title: str, place: tuple, axes: dict[str, str], stretch: bool) -> Plot:
        """One map large."""
        other = words.READ if self.named == words.PREDICTED else words.PREDICTED
        more: dict[str, Any] = axes | {"mask": None if self.built.mask.all() else self.mask, other: self.others}
        if not self.plain:
            more |= {"shown": self.of("shown")[place], "value": self.of("value")}
            more["removed"] = self.of("removed")[place] if self.built.options.hide else None
        more["scale_to_max"] = stretch or None
        return self.recipe.plot(title, attention_heatmap, self.weights[place], self.queries, self.keys, **more)


def candidates(recipe: Recipe, title: str, result: cached.Shown) -> Plot:
    """The most probable tokens of every step."""
    probabilities = np.array([[p for _, p in row] for row in result.candidates])
    names = [[name for name, _ in row] for row in result.candidates]
    known = made(result, "result")
    lines = (
        f"ids, logs = analysis.candidates(result.trace['logits'], {CANDIDATES})",
        "names = [translator.tokenizer.target.tokens(row.tolist()) for row in ids]",
    )
    return recipe.then(*lines).plot(
        title,
        candidates_heatmap,
        made(probabilities, "np.exp(logs)"),
        known.predicted_tokens,
        made(names, "names"),
        written=made(np.exp, "np.exp")(known.log_probabilities),
    )


def mask(recipe: Recipe, title: str, result: object, kind: str, named: str, **more: Any) -> Plot:
    """The mask of a kind."""
    known = made(result, "result")
    return recipe.plot(title, mask_heatmap, known.mask(kind), *maps.axis_tokens(known, kind, named)[:2], **more)


def head(recipe: Recipe, title: str, result: Made, kind: str, place: tuple[int, int], **more: Any) -> Plot:
    """A head of a recording as it is, rows named by the token that was read."""
    queries, keys, _ = maps.axis_tokens(result, kind, words.READ)
    return recipe.plot(title, attention_heatmap, result.attention(kind)[place], queries, keys, **more)


def positions(recipe: Recipe, result: object) -> Plot:
    """The positional encoding of the source."""
    known, title = made(result, "result"), say("Positional encoding of the source")
    return recipe.plot(title, positional_heatmap, known.positional("source"), known.source_tokens)
