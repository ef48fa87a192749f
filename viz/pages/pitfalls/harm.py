"""How bad a mistake is: what it costs a model that was trained without it, and one that was trained with it."""

import math
from collections.abc import Iterable, Mapping
from html import escape

import streamlit as st

from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.grid import MISTAKES_FOLDER, Grid, Harm, harm_of
from model.training.sweeps.mistakes import IN_GRU, TRAINED
from viz.pages.pitfalls.demos import PITFALLS
from viz.text import errors
from viz.text.language import format_count, messages, say
from viz.ui import shared
from viz.views.results import grid_results

# Where there are no runs to show, why.
NO_AFTERWARDS = messages(
    start="A loss would mean nothing: the first row reads the very words that are to be predicted.",
    tokenizer="Not possible: each row of the embedding belongs to one token of the tokenizer that it was trained with.",
    after="The same translation: only the picture is wrong.",
    best="Not possible: this mistake is made in training only.",
)
NO_TRAINING = messages(
    after="The same training: what is kept for a picture changes no weight.",
    best="The pictures below show such a training run: it returns its last weights instead of its best.",
)
STYLE = """
<style>
.hl-costs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 1rem; }
.hl-mistake { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem;
  padding: 0.7rem 0.9rem; }
.hl-mistake p, .hl-mistake dl { margin: 0; padding: 0; }
.hl-mistake h2 { font-size: 0.9rem; font-weight: 600; margin: 0; padding: 0; }
.hl-mistake .hl-sum { font-size: 1.6rem; font-weight: 600; line-height: 1.3; }
.hl-mistake .hl-sum small { font-size: 0.8125rem; font-weight: 400; opacity: 0.8; }
.hl-mistake dl { display: grid; grid-template-columns: max-content 1fr max-content; gap: 0.15rem 0.6rem;
  align-items: center; font-size: 0.8125rem; }
.hl-mistake dt, .hl-mistake dd { margin: 0; padding: 0; font-weight: 400; font-variant-numeric: tabular-nums; }
.hl-mistake .hl-bar { position: relative; height: 0.7rem; }
.hl-mistake .hl-bar i { position: absolute; inset: 0 auto 0 0; background: #0072b2; border-radius: 0 2px 2px 0; }
.hl-mistake .hl-with i { background: #d55e00; }
.hl-mistake .hl-bar b { position: absolute; inset-block: -0.2rem; border-left: 1px dashed currentColor; opacity: 0.6; }
.hl-mistake .hl-note { font-size: 0.8125rem; opacity: 0.8; margin-top: 0.3rem; overflow-wrap: anywhere; }
</style>
"""


def load() -> Grid | None:
    """The recorded runs; None where there are none, which is said where they cannot be read."""
    if not (checkpoints_folder() / MISTAKES_FOLDER).is_dir():
        return None
    try:
        return grid_results.load(MISTAKES_FOLDER)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return None


def harms(grid: Grid | None) -> dict[str, Harm]:
    """By pitfall, where a run was trained with it and one without."""
    harms_by_key = {key: harm_of(grid, key) for key in TRAINED} if grid else {}
    return {key: harm for key, harm in harms_by_key.items() if harm.without and harm.trained}


def captions(harms: Mapping[str, Harm], keys: Iterable[str]) -> list[str]:
    """What each of some pitfalls costs afterwards and in training."""
    lines = []
    for key in keys:
        harm = harms.get(key)
        costs = [harm.cost(losses) for losses in (harm.afterwards, harm.trained)] if harm else [None, None]
        lines.append(" / ".join(map(signed, costs)) if harm else "")
    return lines


def signed(cost: float | None) -> str:
    """A change of the loss with its sign, in nats."""
    if cost is None:
        return "–"
    return "∞" if math.isinf(cost) else say("{x:+.2f}", x=round(cost, 2) + 0.0)


def show(key: str, grid: Grid | None, harms: Mapping[str, Harm], n_changed: int | None) -> None:
    """What a mistake costs, as two tiles; `n_changed` is how many words of the visitor's translation change."""
    harm = harms.get(key)
    if grid is None or key not in PITFALLS or (harm is None and key in TRAINED):
        st.info(say("No training with this mistake was recorded."))
        return
    st.html(STYLE)
    longest = max([grid.entropy, *(loss for losses in harms.values() for loss in _finite_losses(losses))])
    limit = None if key in IN_GRU else grid.entropy  # of subwords, and recurrent models here have words
    afterwards = (
        _losses(harm, harm.afterwards, longest, limit) if harm and harm.afterwards else _reason(NO_AFTERWARDS[key])
    )
    trained = _losses(harm, harm.trained, longest, limit) if harm else _reason(NO_TRAINING[key])
    first = _tile(say("Introduced afterwards"), afterwards, _changed_words(n_changed))
    second = _tile(say("Trained with it"), trained, _written(grid, key))
    st.html(f'<div class="hl-costs">{first}{second}</div>')
    if harm:
        shared.write_small(_legend(grid, limit), "harm")


def _legend(grid: Grid, limit: float | None) -> str:
    steps = format_count(next(iter(grid.runs)).run().training.steps)
    line = say(
        "Validation loss of small models in nats per token after {steps} steps, one number per seed.", steps=steps
    )
    if limit is None:
        return line
    return f"{line} {say('Dashed: {entropy:.2f}, what word frequencies alone reach.', entropy=limit)}"


def _finite_losses(harm: Harm) -> list[float]:
    losses = (harm.without, harm.afterwards, harm.trained)
    return [loss for by_seed in losses for loss in by_seed.values() if math.isfinite(loss)]


def _tile(title: str, body: str, note: str) -> str:
    return f'<section class="hl-mistake"><h2>{escape(title)}</h2>{body}<p class="hl-note">{escape(note)}</p></section>'


def _reason(text: str) -> str:
    return f"<p>{escape(say(text))}</p>"


def _losses(harm: Harm, losses: Mapping[int, float], longest: float, limit: float | None) -> str:
    """The cost in large, and the losses without and with the mistake as a bar each, `longest` the whole width."""
    cost = f"{signed(harm.cost(losses))} <small>{escape(say('nats per token'))}</small>"
    mark = "" if limit is None else f'<b style="left: {limit / longest:.1%}"></b>'
    without = _bar(say("without it"), "hl-bar", harm.without, longest, mark)
    return (
        f'<p class="hl-sum">{cost}</p><dl>{without}{_bar(say("with it"), "hl-bar hl-with", losses, longest, mark)}</dl>'
    )


def _bar(name: str, style: str, losses: Mapping[int, float], longest: float, mark: str) -> str:
    """A row of a list: the mean as a bar, the loss of every seed as a number."""
    width = min(sum(losses.values()) / len(losses) / longest, 1)
    numbers = " · ".join(_number(loss) for _, loss in sorted(losses.items()))
    bar = f'<dd class="{style}"><i style="width: {width:.1%}"></i>{mark}</dd>'
    return f"<dt>{escape(name)}</dt>{bar}<dd>{numbers}</dd>"


def _number(loss: float) -> str:
    return "∞" if math.isinf(loss) else say("{x:.2f}", x=loss)


def _changed_words(n_changed: int | None) -> str:
    if n_changed is None:
        return ""
    if n_changed == 0:
        return say("Your translation below stays the same.")
    return say("Words of your translation below that change: {n}", n=n_changed)


def _written(grid: Grid, key: str) -> str:
    """What the first run with the mistake wrote for the first example at its end."""
    texts = next((run.texts for cell, run in grid.runs.items() if cell.mistake == key), None)
    if not texts:
        return ""
    text = list(texts.values())[-1][0] or say("(nothing)")
    return say("For “{source}” it writes “{text}”", source=grid.examples[0][0], text=text)
