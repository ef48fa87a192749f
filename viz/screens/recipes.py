"""Recipes of the pages that show a translation: the lines that make it, and the arrays of its figures."""

from __future__ import annotations

from viz.figures.labels import in_quotes
from viz.language import say
from viz.screens import shared, words
from viz.screens.beside import Beside, Recipe
from viz.screens.code_lines import Code, call
from viz.screens.controls import BEAMS, Request
from viz.views import maps

CANDIDATES = (
    f"ids, logs = analysis.candidates(result.trace['logits'], {shared.CANDIDATES})",
    "names = [translator.tokenizer.target.tokens(row.tolist()) for row in ids]",
)


def loading(checkpoint: str, name: str = "translator") -> str:
    """The line that loads a checkpoint."""
    return f"{name} = {call('load_translator', checkpoint)}"


def searching(request: Request) -> dict[str, object]:
    """The arguments that say how a request searches; None for what is so anyway."""
    penalty = request.length_penalty
    return {"beam": request.beam, "length_penalty": None if penalty == shared.LENGTH_PENALTY else penalty}


def spoken(request: Request) -> str:
    """What figures of a request are of: the sentence, the checkpoint, and how it was decoded."""
    how = say("beam {width}", width=request.beam) if request.beam > 1 else say(BEAMS[1])
    if request.reference is not None:
        how = say("reading the reference “{reference}”", reference=request.reference)
    return f"{in_quotes(request.text, say)} · {request.checkpoint} · {how}"


def translation(request: Request) -> Recipe:
    """The translation of a request, in Python called `result`."""
    if request.reference is None:
        made = call("translator.translate", request.text, **searching(request))
    else:
        made = call("translator.force", request.text, request.reference)
    return Recipe(spoken(request), (loading(request.checkpoint), f"result = {made}"))


def axis_code(kind: str, named: str, result: str = "result", predicted: bool = True) -> tuple[Code, Code, Code | None]:
    """How `explore.axis_tokens` reads in Python.

    Args:
        kind: of attention.
        named: whether steps are named by the token read or predicted.
        result: what the recording is called.
        predicted: whether it says what was predicted.
    """
    source, target, other = (Code(f"{result}.{side}_tokens") for side in ("source", "target", "predicted"))
    if kind == "encoder_self":
        return source, source, None
    keys = target if kind == "decoder_self" else source
    if named == words.PREDICTED:
        return other, keys, target
    return target, keys, other if predicted else None


class MapCode:
    """The maps of a kind as Python: of the recording itself, or of what the options of the maps made of it.

    Args:
        built: as drawn.
        kind: of attention.
        named: whether steps are named by the token read or predicted.
        predicted: whether the recording says what was predicted.
        masked: whether the recording has a mask.
    """

    def __init__(self, built: maps.Maps, kind: str, named: str, predicted: bool = True, masked: bool = True) -> None:
        queries, keys, others = axis_code(kind, named, predicted=predicted)
        weights, mask = Code(f"result.attention({kind!r})"), Code(f"result.mask({kind!r})")
        self.plain = built.options == maps.Options()
        self.lines: tuple[str, ...] = ()
        self.built, self.kind = built, kind
        if self.plain:
            self.weights, self.mask = weights, mask
            self.queries, self.keys, self.others = queries, keys, others
            return
        chosen = {name: value for name, value in vars(built.options).items() if value != getattr(maps.Options(), name)}
        options = call("maps.Options", **chosen)
        self.lines = (f"built = {call('maps.build', weights, mask, queries, keys, options, others or Code('None'))}",)
        self.weights, self.mask = Code("built.weights"), Code("built.mask")
        self.queries, self.keys = Code("built.queries"), Code("built.keys")
        self.others = others and Code("built.others")

    def at(self, array: str, place: object) -> Code:
        """An array at a place."""
        inside = ", ".join(map(str, place)) if isinstance(place, tuple) else place
        return Code(f"{array}[{inside}]")

    def overview(
        self, recipe: Recipe, title: str, selected: tuple[int, int], n_columns: int, stretch: bool, block: int
    ) -> Beside:
        """All maps at a glance."""
        shown = f"np.broadcast_to({self.mask}, {self.weights}.shape)" if self.plain else "built.shown & built.mask"
        named = {
            "selected": selected,
            "n_columns": n_columns,
            "shown": None if self.plain and self.built.mask.all() else Code(shown),
            "layer_names": None if self.plain else Code("built.layer_names"),
            "head_names": None if self.plain else Code("built.head_names"),
            "value": None if self.plain else Code("built.value"),
            "scale_to_max": stretch or None,
            "block": block if block > 1 else None,
        }
        return recipe.then(*self.lines).figure(title, call("head_overview", self.weights, **named))

    def heatmap(
        self, recipe: Recipe, title: str, place: tuple[int, int], axes: dict, named: str, stretch: bool
    ) -> Beside:
        """One map large."""
        other = words.READ if named == words.PREDICTED else words.PREDICTED
        more: dict[str, object] = axes | {"mask": None if self.built.mask.all() else self.mask, other: self.others}
        if not self.plain:
            more["shown"] = self.at("built.shown", place)
            more["removed"] = self.at("built.removed", place) if self.built.options.hide else None
            more["value"] = Code("built.value")
        more["scale_to_max"] = stretch or None
        made = call("attention_heatmap", self.at(self.weights, place), self.queries, self.keys, **more)
        return recipe.then(*self.lines).figure(title, made)

    def of_lines(self, recipe: Recipe, title: str, layer: int, axes: dict, twin) -> Beside:
        """All heads of a layer as lines."""
        more: dict[str, object] = dict(axes)
        if not self.plain:
            more |= {"head_names": Code("built.head_names"), "shown": self.at("built.shown", layer)}
        made = call("attention_lines", self.at(self.weights, layer), self.queries, self.keys, **more)
        return recipe.then(*self.lines).figure(title, made, twin=twin)


def candidates(recipe: Recipe, title: str) -> Beside:
    """The most probable tokens of every step."""
    made = call(
        "candidates_heatmap",
        Code("np.exp(logs)"),
        Code("result.predicted_tokens"),
        Code("names"),
        written=Code("np.exp(result.log_probabilities)"),
    )
    return recipe.then(*CANDIDATES).figure(title, made)


def mask(recipe: Recipe, title: str, kind: str, named: str, **axes: object) -> Beside:
    """The mask of a kind."""
    queries, keys, _ = axis_code(kind, named)
    return recipe.figure(title, call("mask_heatmap", Code(f"result.mask({kind!r})"), queries, keys, **axes))


def head(
    recipe: Recipe, title: str, kind: str, place: tuple[int, int], result: str = "result", **more: object
) -> Beside:
    """A head of a recording as it is, rows named by the token that was read."""
    queries, keys, _ = axis_code(kind, words.READ, result)
    weights = Code(f"{result}.attention({kind!r})[{place[0]}, {place[1]}]")
    named = {"mask": Code(f"{result}.mask({kind!r})"), **more}
    return recipe.figure(title, call("attention_heatmap", weights, queries, keys, **named))


def positions(recipe: Recipe, side: str, dimensions: list[int] | None = None) -> Beside:
    """The positional encoding of a side, as a table or as waves of some dimensions."""
    table, tokens = Code(f"result.positional({side!r})"), Code(f"result.{side}_tokens")
    if dimensions is None:
        made = call("positional_heatmap", table, tokens)
        of_source, of_target = say("Positional encoding of the source"), say("Positional encoding of the target")
        return recipe.figure(of_source if side == "source" else of_target, made)
    made = call("positional_waves", table, dimensions, tokens)
    of_source = say("Positional encoding of the source as waves")
    of_target = say("Positional encoding of the target as waves")
    return recipe.figure(of_source if side == "source" else of_target, made)
