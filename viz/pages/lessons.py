"""The page Lessons: six guided tours over the other pages, each with the picture that it begins with."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model import catalogue
from model.analysis import lengths
from model.checkpoint import CARD, read_json
from model.training import schedules
from viz.figures import attention_heatmap, curves, head_overview, positional_heatmap
from viz.text import words, words_lessons
from viz.text.language import say
from viz.ui import choices, explore, shared, tour, ways
from viz.views import cached, position_results, recipes
from viz.views.codes import one_of
from viz.views.made import Plot, Recipe, made

HEAD = (1, 4)  # of the cross-attention, that the first lesson opens
ENCODING = ("sinusoidal", 50, 64)
STEPS = (1, 20_001, 50)
LARGE = 470  # pixels


def translated() -> tuple[Recipe, cached.Shown]:
    """The sentence of the first lesson, translated."""
    request = cached.Request(cached.default_checkpoint(), words_lessons.BICYCLE, 4, cached.LENGTH_PENALTY)
    return recipes.translation(request), cached.compute(request)


def attention() -> Plot:
    """Draw a head of the cross-attention."""
    recipe, result = translated()
    layer, head = (min(at, n - 1) for at, n in zip(HEAD, result.attention("cross").shape))
    known, spoken = made(result, "result"), words.KINDS["cross"]
    axes = {"query_axis": words.named_by("cross", words.PREDICTED)[1], "key_axis": spoken.key_axis}
    weights = known.attention("cross")[layer, head]
    tokens = known.predicted_tokens, known.source_tokens
    return recipe.plot(say(spoken.title), attention_heatmap, weights, *tokens, **axes)


def masks() -> Plot:
    """Draw the mask of the decoder."""
    recipe, result = translated()
    spoken = words.KINDS["decoder_self"]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    return recipes.mask(recipe, say(spoken.title), result, "decoder_self", words.READ, **axes)


def positions() -> Plot:
    """Draw the paper's encoding of positions."""
    recipe = Recipe(" · ".join(map(str, ENCODING)), (f"table = {position_results.table_code(*ENCODING)}",))
    return recipe.plot(say("Positions"), positional_heatmap, made(position_results.table_of(*ENCODING), "table"))


def heads() -> Plot:
    """Draw all heads of the encoder."""
    recipe, result = translated()
    weights = made(result, "result").attention("encoder_self")
    return recipe.plot(say(words.KINDS["encoder_self"].title), head_overview, weights)


def warmup() -> Plot:
    """Draw the paper's learning rate with two warmups."""
    steps = np.arange(*STEPS)
    rates = {f"warmup {warmup}": schedules.noam(512, warmup) for warmup in (4000, 8000)}
    lines = {name: np.array([steps, [rate(int(step)) for step in steps]]) for name, rate in rates.items()}
    code = (
        f"steps = np.arange{STEPS}",
        "rates = {f'warmup {warmup}': schedules.noam(512, warmup) for warmup in (4000, 8000)}",
        "lines = {name: np.array([steps, [rate(int(step)) for step in steps]]) for name, rate in rates.items()}",
    )
    return Recipe("d_model 512", code).plot(say("Learning rate"), curves, made(lines, "lines"), y_axis="learning rate")


def recurrent() -> Plot:
    """Draw the quality of the systems by the length of the sentence."""
    lines, folder = {}, catalogue.checkpoints_folder()
    for name in catalogue.by_direction()[0].get(("de", "en"), []):
        for groups in list(lengths.read(read_json(folder / name / CARD)).values())[:1]:
            lines[name] = np.array([[group.words, group.bleu] for group in groups]).T
    code = (
        "lines = {}",
        f"for name in {list(lines)!r}:",
        "    groups = list(lengths.read(read_json(checkpoints_folder() / name / 'card.json')).values())[0]",
        "    lines[name] = np.array([[group.words, group.bleu] for group in groups]).T",
    )
    axes = {"x_axis": "words of the source", "y_axis": "BLEU"}
    return Recipe(" · ".join(lines), code).plot(say("Quality by length"), curves, made(lines, "lines"), **axes)


PICTURES = {
    "attention": attention,
    "masks": masks,
    "positions": positions,
    "heads": heads,
    "warmup": warmup,
    "recurrent": recurrent,
}


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    pictures, beside = shared.picture_first()
    lessons = words_lessons.LESSONS
    with beside:
        name = choices.control(
            st.radio,
            say("Lesson"),
            list(lessons),
            key="tour",
            reader=one_of(lessons),
            default=next(iter(lessons)),
            format_func=lambda one: say(lessons[one].name),
            label_visibility="collapsed",
        )
        lesson = lessons[name]
        with st.container(border=True, gap="xsmall"):
            st.markdown(say(lesson.line))
            st.html(ways.link(say(words_lessons.START), tour.address(name, 1)))
            steps = enumerate(lesson.steps, start=1)
            links = [ways.link(say(step.question), tour.address(name, number)) for number, step in steps]
            st.html(f"<ol><li>{'</li><li>'.join(links)}</li></ol>")
    with pictures:
        try:
            plot = PICTURES[name]()
            figure = plot.draw(say)
        except ValueError:  # without a model, or what was measured of it, there is the lesson alone
            return
        figure.layout.height = max(LARGE, figure.layout.height)
        explore.draw(plot, "picture", figure=figure)


shared.opening(say("Lessons"), say(words_lessons.INTRO))
live()
