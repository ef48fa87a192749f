"""What each key adds in a head, beside how much the head attends to it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import contribution
from model.results.recording import Recording, axis_tokens
from viz.figures import attention_heatmap, difference_heatmap
from viz.figures.framed import shown_token
from viz.stage.payload.payloads import NamesPayload
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import controls, frame, widgets
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.results import head_sources, heads_results
from viz.views.snippets import Code, Origin, Plot, program, snippet

VIEWS = messages(added="Contributions", change="Contributions minus weights")
SINKS = messages(nothing="nothing", special="special tokens", punctuation="special tokens and punctuation")

SHARES = """
import numpy as np
from model.measures import contribution

whole = translator.force(result.source, result)
lengths = contribution.contributions(translator.model, whole, $kind)[$layer, $head]
shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
weights = result.attention($kind)[$layer, $head]
"""
SPECIAL = """
import model.analysis.maps as analysis
left_out = analysis.is_special($keys)
"""
PUNCTUATION = """
left_out = left_out | analysis.is_punctuation($keys)
"""
LEFT_OUT = """
weights, weights_removed = contribution.without_columns(weights, left_out)
shares, shares_removed = contribution.without_columns(shares, left_out)
"""
CONTRIBUTION = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    $values,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=result.mask($kind),
    removed=$removed,
    value=$value,
)
figure.show()
"""
CHANGE = """
from viz.figures import difference_heatmap

figure = difference_heatmap(
    shares - weights,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    a=$a,
    b=$b,
)
figure.show()
"""


@dataclass(frozen=True)
class Contributions:
    """What each key adds in the heads of a layer, beside their weights: both float32 (H, T, S), rows sum to 1."""

    result: cached.Result
    head: Head
    weights: np.ndarray
    shares: np.ndarray
    removed: tuple[np.ndarray, np.ndarray] | None  # of each row (H, T), where keys are left out

    @property
    def axes(self) -> words.Axes:
        """The titles of the axes of its maps."""
        return words.axes(self.head.kind, has_predictions=bool(self.result.predicted_tokens))

    @cached_property
    def change(self) -> np.ndarray:
        """How much more than its weight each key contributes to each row of the head, (T, S)."""
        return self.shares[self.head.head] - self.weights[self.head.head]

    @property
    def farthest(self) -> tuple[int, int]:
        """The row and column in which both differ most."""
        return analysis.largest_cell(np.abs(self.change))

    def in_words(self) -> str:
        """Both numbers where they differ most."""
        row, column = self.farthest
        queries, keys, _ = axis_tokens(self.result, self.head.kind)
        return say(
            "“{query}” attends to “{key}” with weight {weight:.2f}; “{key}” makes up {share:.2f} of the contributions.",
            query=shown_token(queries[row]),
            key=shown_token(keys[column]),
            weight=self.weights[self.head.head, row, column],
            share=self.shares[self.head.head, row, column],
        )

    def recording(self, values: np.ndarray) -> Recording:
        """Numbers (H, T, S) as the stage draws them."""
        kind = self.head.kind
        result = self.result
        return Recording(
            result.source_tokens,
            result.target_tokens,
            {kind: values[None]},
            {kind: result.mask(kind)},
            predicted_tokens=result.predicted_tokens,
            layer_numbers={kind: [self.head.layer]},
        )


def show(result: cached.Result, request: cached.Request, head: Head) -> None:
    """Weights of a head in this sentence, and beside them its contributions, or how far these differ."""
    with frame.controls("added"):
        part = controls.choose_view(VIEWS, "added-show")
        with frame.options(int(widgets.code_of("sinks", "nothing") != "nothing"), "added"):
            sinks = choose_sinks()
    kind, layer = head.kind, head.layer
    rows, columns = recipes.axis_code(result, kind)
    lengths = heads_results.contributions(request)[kind][layer]
    weights = result.attention(kind)[layer]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    origin = recipes.origin(request).then(snippet(SHARES, kind=kind, layer=layer, head=head.head))
    removed = None
    line = say("Orange: contributes more than its weight suggests. Blue: less.")
    _, keys, _ = axis_tokens(result, kind)
    left_out = np.zeros(len(keys), bool)
    if sinks != "nothing":
        left_out = analysis.is_special(keys)
        origin = origin.then(snippet(SPECIAL, keys=columns))
        if sinks == "punctuation":
            left_out = left_out | analysis.is_punctuation(keys)
            origin = origin.then(snippet(PUNCTUATION, keys=columns))
    if left_out.any():
        weights, weights_removed = contribution.without_columns(weights, left_out)
        shares, shares_removed = contribution.without_columns(shares, left_out)
        removed = weights_removed, shares_removed
        origin = origin.then(LEFT_OUT)
        line = say(
            "{n} of {total} keys are left out: they held {weights:.1%} of the weights and {contributions:.1%} of the "
            "contributions.",
            n=int(left_out.sum()),
            total=left_out.size,
            weights=weights_removed[head.head].mean(),
            contributions=shares_removed[head.head].mean(),
        )
    contributions = Contributions(result, head, weights, shares, removed)
    if part == "added" and removed is None:
        line = contributions.in_words()
    second = change_map(contributions, origin) if part == "change" else share_map(contributions, origin)
    stage_page.show_maps({"weights": weight_map(contributions, origin)} | second)
    frame.note(line)


def choose_sinks() -> str:
    """Which keys are left out."""
    help_ = say(
        "Heads with nothing to do often attend to the start, the end or a full stop. Without these keys, the rest "
        "of each row is scaled up."
    )
    sinks = controls.choose(say("Leave out"), SINKS, "sinks", help=help_)
    line = say(
        "What a key adds is weight × value × output projection; its length is drawn as a share of its row "
        "(Kobayashi et al. 2020)."
    )
    frame.note(line)
    return sinks


def weight_map(contributions: Contributions, origin: Origin) -> stage_page.HeadMap:
    """The weights of the head."""
    return head_map(contributions, origin, "weights", say("Weights"), 0, message("weight"))


def share_map(contributions: Contributions, origin: Origin) -> dict[str, stage_page.HeadMap]:
    """The contributions of the head's keys."""
    return {"added": head_map(contributions, origin, "shares", say("Contributions"), 1, message("share"))}


def head_map(
    contributions: Contributions, origin: Origin, variable: str, title: str, side: int, value: str
) -> stage_page.HeadMap:
    """Weights or shares of the head, by the variable that holds them in Python; `side`: 0 are the weights."""
    head, result = contributions.head, contributions.result
    values = (contributions.weights, contributions.shares)[side]
    removed = contributions.removed and contributions.removed[side][head.head]
    queries, keys, _ = axis_tokens(result, head.kind)
    rows, columns = recipes.axis_code(result, head.kind)
    look: dict[str, Any] = {**contributions.axes, "value": value}
    mask = result.mask(head.kind)
    figure = attention_heatmap(values[head.head], queries, keys, **look, mask=mask, removed=removed, say=say)
    removed_code = None if removed is None else Code(f"{variable}_removed")
    tokens = {"queries": rows, "keys": columns}
    code = snippet(CONTRIBUTION, values=Code(variable), **tokens, kind=head.kind, removed=removed_code, **look)
    plot = Plot(f"{title}: {name_of(head)}", origin.note, figure, program(origin.code, code))
    rings = [contributions.farthest]
    names = names_of(contributions, value)
    return stage_page.HeadMap(
        plot, (title, ""), contributions.recording(values), **vars(head), rings=rings, names=names
    )


def change_map(contributions: Contributions, origin: Origin) -> dict[str, stage_page.HeadMap]:
    """Contributions minus weights."""
    head = contributions.head
    title = say("Contributions minus weights")
    queries, keys, _ = axis_tokens(contributions.result, head.kind)
    rows, columns = recipes.axis_code(contributions.result, head.kind)
    both: dict[str, Any] = {**contributions.axes, "a": message("contribution"), "b": message("weights")}
    figure = difference_heatmap(contributions.change, queries, keys, **both, say=say)
    code = snippet(CHANGE, queries=rows, keys=columns, **both)
    plot = Plot(f"{title}: {name_of(head)}", origin.note, figure, program(origin.code, code))
    names = names_of(contributions, message("contribution minus weight"))
    shares = contributions.recording(contributions.shares)
    weights = contributions.recording(contributions.weights)
    rings = [contributions.farthest]
    difference = stage_page.HeadMap(plot, (title, ""), shares, **vars(head), rings=rings, names=names, minus=weights)
    return {"added-change": difference}


def name_of(head: Head) -> str:
    """The head in words, from its kind to its number."""
    return head_sources.name_of(head.kind, head.layer, head.head)


def names_of(contributions: Contributions, value: str) -> NamesPayload:
    """What the stage calls these numbers."""
    return {
        "value": say(value),
        "rows": say(contributions.axes["query_axis"]),
        "columns": say(contributions.axes["key_axis"]),
    }
