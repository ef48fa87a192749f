"""How does a head form? From films of tiny decoders that learn to go on with letters that repeat."""

from collections.abc import Mapping

import numpy as np

from model.films import shipped
from model.films.film import Film, Mark
from viz.figures import Figure, curves
from viz.pages.lessons.card import Figures, Story, card
from viz.text.language import format_count, message, say

TASK = "seen before"
QUERY = {"section": "here", "film-task": TASK}
NAMES = {
    "seen-before": message("two layers"),
    "seen-before-one-layer": message("one layer"),
    "seen-before-no-positions": message("no positions"),
    "seen-before-long-warmup": message("warmup 1,000"),
}
FIRST = "seen-before"
RULES = {"previous": message("previous token"), "induction": message("induction")}


def _film(name: str = FIRST) -> Film:
    return shipped.load(name)


def _query(change: str = "") -> Mapping[str, str]:
    return QUERY | ({f"film-change-{TASK}": change} if change else {})


def _mark(film: Film, rule: str) -> Mark:
    mark = film.mark(rule)
    if mark is None:
        raise LookupError(f"no head of the film learns the rule {rule!r}")
    return mark


def _step(film: Film, rule: str) -> str:
    return format_count(int(film.steps[_mark(film, rule).frame]))


def _best(film: Film, rule: str) -> np.ndarray:
    layer, head = film.best_head(rule)
    return np.stack([film.steps, film.scores[rule][:, layer, head]])


def _scores(*rules: str) -> Figure:
    """The best head of some rules in the first film."""
    return curves({say(RULES[rule]): _best(_film(), rule) for rule in rules}, y_axis=message("score"), say=say)


def _right(*names: str) -> Figure:
    """The shares right of some films."""
    lines = {say(NAMES[name]): np.stack([_film(name).steps, _film(name).right]) for name in names}
    return curves(lines, y_axis=message("share right"), say=say)


def _loss() -> Figure:
    losses = _film().losses
    return curves({say("loss"): np.stack([np.arange(1, len(losses) + 1), losses])}, y_axis=message("loss"), say=say)


STORY = Story(
    "How does a head form?",
    "A tiny decoder is filmed while it learns: which head comes first, and what has to be there for it.",
    "Olsson et al. 2022 · Elhage et al. 2021",
)


@card(
    "A decoder of two layers, attention alone, reads letters that repeat after 6 to 20. To go on, a head has to find "
    "where the last letter stood before and look at what followed it: an induction head. That needs a helper, which "
    "tells each place what stands before it.",
    "Which of the two heads comes first?",
    ("The helper, long before", "Both together, within a few steps", "The induction head, long before"),
    "Of {all} steps the induction head has half of its score by {second}, the previous-token head by {first}.",
    "One is of no use without the other. A score is the best head's mean weight on the place that the rule names, in "
    "48 unseen texts; several heads share the helper's work. One run; others differ.",
    Figures(lambda answered: _scores("previous", "induction") if answered else _loss(), "training", _query),
    right=1,
)
def first() -> dict:
    film = _film()
    steps = format_count(len(film.losses))
    return {"first": _step(film, "previous"), "second": _step(film, "induction"), "all": steps}


@card(
    "An induction head compares its own letter with what an earlier layer wrote about the place before. The same "
    "decoder has one layer only now, and more steps to learn.",
    "How far does one layer get?",
    ("As far as two, only later", "Not far: no induction head can come", "Half of the letters"),
    "After {steps} steps {right:.0%} of the letters are right, and the largest induction score is {score:.2f}.",
    "With a period that is always the same it would do: one layer can look a fixed distance back.",
    Figures(
        lambda answered: _right(*(["seen-before", "seen-before-one-layer"] if answered else ["seen-before"])),
        "training",
        lambda: _query("one-layer"),
    ),
    right=1,
)
def one_layer() -> dict:
    film = _film("seen-before-one-layer")
    score = float(film.scores["induction"][-1].max())
    return {"steps": format_count(len(film.losses)), "right": float(film.right[-1]), "score": score}


@card(
    "Two layers again, but nothing says at which position a letter stands. To look at the token before, a head has "
    "to know which one that is.",
    "What happens without positions?",
    ("It learns nothing at all", "It learns, but much more slowly", "Nothing changes"),
    "After {steps} steps {right:.0%} are right; with positions it took {solved} steps to solve the task.",
    "The look-ahead mask alone tells order: each token sees one more than the one before it (Haviv et al. 2022).",
    Figures(
        lambda answered: _right(*(["seen-before", "seen-before-no-positions"] if answered else ["seen-before"])),
        "training",
        lambda: _query("no-positions"),
    ),
    right=1,
)
def no_positions() -> dict:
    film = _film("seen-before-no-positions")
    solved = format_count(len(_film().losses))
    return {"steps": format_count(len(film.losses)), "right": float(film.right[-1]), "solved": solved}


@card(
    "The learning rate rose to its peak within 100 steps. Now it takes 1,000 steps to get there, with the same peak.",
    "What does the longer warmup change?",
    ("Whether the heads come", "When they come", "Nothing"),
    "The induction head comes by step {late} instead of {early}, and ends at {score:.2f}.",
    "The order and the ends are the same kind of picture; only the moment moves.",
    Figures(
        lambda answered: _right(*(["seen-before", "seen-before-long-warmup"] if answered else ["seen-before"])),
        "training",
        lambda: _query("long-warmup"),
    ),
    right=1,
)
def warmup() -> dict:
    film = _film("seen-before-long-warmup")
    return {
        "late": _step(film, "induction"),
        "early": _step(_film(), "induction"),
        "score": _mark(film, "induction").end,
    }


@card(
    "The loss of the whole training looks like a line that falls. Somewhere in it the induction head has come.",
    "How long does its coming take?",
    ("About the whole training", "A short part of it", "One single step"),
    "From a tenth to nine tenths of its score it takes from step {start} to {end}, of {all} steps.",
    "In large models the same moment is a bump in the loss of the first billions of tokens (Olsson et al. 2022).",
    Figures(lambda answered: _scores("induction") if answered else _loss(), "training", _query),
    right=1,
)
def moment() -> dict:
    film = _film()
    steps, scores = _best(film, "induction")
    start, end = (int(steps[np.flatnonzero(scores < share * scores[-1])[-1] + 1]) for share in (0.1, 0.9))
    return {"start": format_count(start), "end": format_count(end), "all": format_count(len(film.losses))}
