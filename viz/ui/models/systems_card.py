"""The card "Perplexity" of language models: those of 2017 and of today side by side, what differs, what it brought."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from model.config import LanguageModelConfig
from model.measures import context
from model.running.translator import Writer
from viz.text.language import message, messages, say
from viz.ui import frame, language_menu
from viz.views import cached

SHOWN = 3  # models, at most
POSITIONS = messages(
    sinusoidal="sinusoidal, added",
    sinusoidal_concatenated="sinusoidal, added",
    learned="learned, added",
    none="none",
    rotary="rotary (neighbours)",
    rotary_halves="rotary (halves)",
    alibi="ALiBi",
    buckets="T5 buckets",
)
NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish"}
GATED = {"relu": "ReGLU", "gelu": "GEGLU", "swish": "SwiGLU"}


@dataclass(frozen=True)
class Score:
    """What a language model of this project reached on a test text, as its card says."""

    name: str
    config: LanguageModelConfig
    parameters: int
    test: str
    perplexity: float
    window: int  # tokens that it read at once


def scores(names: Sequence[str]) -> list[Score]:
    """Scores of some models on the test that the first of them with a score was measured on."""
    results: list[Score] = []
    for name in names:
        loaded = cached.translator(name)
        if not isinstance(loaded, Writer):
            continue
        try:
            score = next(
                Score(name, loaded.config, int(loaded.card["parameters"]), test, score["perplexity"], score["window"])
                for test, score in loaded.card["scores"].items()
                if not results or test == results[0].test
            )
        except (LookupError, TypeError, AttributeError, StopIteration):
            continue  # a card that has none
        results.append(score)
    return results[:SHOWN]


def menu(names: Sequence[str]) -> None:
    """Show a button that says the perplexities; it opens the card. Nothing where no card has any."""
    results = scores(names)
    if not results:
        return
    numbers = " | ".join(say("{x:.1f}", x=score.perplexity) for score in results)
    with st.popover(say("Perplexity {numbers}", numbers=numbers), key="systems", on_change="rerun") as popover:
        if popover.open:
            _show(results)


def _show(results: Sequence[Score]) -> None:
    frame.answer(
        answer(results), say("Test perplexity on {test}, as the cards of the models say.", test=results[0].test)
    )
    st.table(table(results))
    st.html(f'<p class="hl-note">{" · ".join(links(results))}</p>')


def links(results: Sequence[Score]) -> list[str]:
    """Links, as HTML, to what shows a row of the table, where one of the models has it."""
    configs = [score.config for score in results]
    lines = []
    if any(config.norm_type == "rms" for config in configs):
        lines.append(language_menu.link(say("RMSNorm beside LayerNorm"), "lessons", {"lesson": "since-5"}))
    if any(config.gated for config in configs):
        lines.append(language_menu.link(say("SwiGLU beside ReLU"), "lessons", {"lesson": "since-6"}))
    if any(config.positional.startswith("rotary") for config in configs):
        lines.append(language_menu.link(say("Rotary head"), "positions", {"picture": "rotary"}))
    if any(_is_measured(score.name) for score in results):
        lines.append(language_menu.link(say("Loss by position"), "positions", {"picture": "beyond"}))
    return lines


def _is_measured(name: str) -> bool:
    """Whether the loss by position of a model is kept beside it."""
    try:
        return context.read(cached.loaded_as(Writer, name).folder) is not None
    except ValueError:  # the page Positions says why
        return False


def answer(results: Sequence[Score]) -> str:
    """The lowest perplexity, against the highest."""
    best, worst = (choose(results, key=lambda score: score.perplexity) for choose in (min, max))
    if best is worst:
        return say("{name} has perplexity {x:.1f}.", name=best.name, x=best.perplexity)
    less = 1 - best.perplexity / worst.perplexity
    numbers = best.parameters / worst.parameters - 1
    line = message("{name} has a perplexity {less:.0%} lower than {other}, with {share:.0%} fewer parameters.")
    if numbers > 0:
        line = message("{name} has a perplexity {less:.0%} lower than {other}, with {share:.0%} more parameters.")
    return say(line, name=best.name, other=worst.name, less=less, share=abs(numbers))


def table(results: Sequence[Score]) -> pd.DataFrame:
    """A row per part of the models, a column per model."""
    rows = {
        say("Positions"): [say(POSITIONS[score.config.positional]) for score in results],
        say("Norm"): [NORMS[score.config.norm_type] for score in results],
        say("Feed-forward"): [feed_forward(score.config) for score in results],
        say("Query heads"): [str(score.config.n_heads) for score in results],
        say("Key/value heads"): [str(score.config.n_groups) for score in results],
        say("Parameters"): [say("{n:,}", n=score.parameters) for score in results],
        say("Tokens read at once"): [say("{n:,}", n=score.window) for score in results],
        say("Perplexity"): [say("{x:.1f}", x=score.perplexity) for score in results],
    }
    return pd.DataFrame(list(rows.values()), list(rows), [score.name for score in results])


def feed_forward(config: LanguageModelConfig) -> str:
    """Activation and units of its feed-forward layers."""
    names = GATED if config.gated else ACTIVATIONS
    return say("{name}, {n:,} units", name=names[config.activation], n=config.d_ff)
