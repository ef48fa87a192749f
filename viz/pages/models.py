"""The page Four systems: one sentence through every checkpoint of a direction, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import catalogue
from model.analysis import comparison, lengths
from model.catalogue import checkpoints_folder
from viz.figures import aligned_rows, attention_heatmap, curves, values_heatmap
from viz.text import errors, words, words_masks, words_models
from viz.text.language import say
from viz.text.markdown import literal
from viz.ui import choices, controls, explore, shared
from viz.views import cached
from viz.views.made import Plot, Recipe, made, value_of
from viz.views.model_results import Side, compare, usable

LARGE = 480  # pixels of the map of one model
VECTOR_LABELS = 4  # numbers on the axis of a vector, which stands beside others


def choose_direction(found: dict[catalogue.Direction, list[str]]) -> catalogue.Direction:
    names = {"-".join(languages): words_models.direction(languages) for languages in found}
    default = "-".join(max(found, key=lambda languages: len(found[languages])))
    return tuple(controls.choose(say("Direction"), names, "direction", default).split("-"))


def ask(languages: catalogue.Direction) -> tuple[str, str, int, DeltaGenerator]:
    """Ask for a sentence and how to search: the sentence, the example, the width, and a place below the sentence."""
    source = languages[0]
    examples = words_models.EXAMPLES.get(source, words.EXAMPLES)
    example = next(iter(examples.values()))
    # A sentence comes along from the other pages, where it is English.
    key = "text" if source == "en" else f"text-{source}"
    label = say("{language} sentence", language=say(words.LANGUAGES.get(source, source)))
    text = controls.sentence(label, example, key, examples)
    place = st.container()
    beam = controls.choose(say("Beam width"), words.BEAMS, "beam", 4, help=say(words.SEARCH))
    return text, example, beam, place


def answer(names: list[str], text: str, example: str, beam: int) -> list[Side]:
    """Translate; what cannot be translated is told in a sentence, and the last sentence stays; empty without any."""
    before = st.session_state.get("models-answered", {}).get(tuple(names))
    sides, problems = compare(names, text, beam)
    if sides:
        st.session_state["models-answered"] = {tuple(names): text}
        for name, problem in problems.items():
            shared.small(f"{name}: {problem}", f"problem-{name}")
        return sides
    problem = next(iter(problems.values()))
    sides, _ = compare(names, before or example, beam)
    shared.warn(f"{problem} {shared.kept(before)}" if sides else problem)
    if sides:
        shared.small(sides[0].result.source, "shown")
    return sides


def wrote(side: Side) -> str:
    return side.result.text or say("(the model wrote nothing)")


def choose_system(sides: list[Side]) -> int:
    """Show what every model wrote, how long it took and how probable it is; return the number of the chosen one."""
    names, captions = {}, []
    for side in sides:
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        names[side.name] = f"{say(words_models.SYSTEMS[side.system].name)} · {literal(side.name)}"
        took = say("{ms:.0f} ms · log-probability {score:.1f}", ms=1000 * side.seconds, score=score)
        captions.append(f"{literal(wrote(side))}  \n{took}")
    more = {"widget": st.radio, "captions": captions, "help": say(words_models.SCORE)}
    return list(names).index(controls.choose(say("System"), names, "system", **more))


def show_model(number: int, side: Side) -> None:
    shared.small(side.name, f"map-name-{number}")
    st.caption(say(words_models.SYSTEMS[side.system].line))
    for which in ("source", "target"):
        if count := side.unknown(which):
            shared.small(words_models.unknown(which, count), f"unknown-{which}-{number}")
    shared.small(words.describe_card(side.name, cached.translator(side.name).card), f"card-{number}")


def choose_head(sides: list[Side]) -> tuple[int, int | None]:
    """Let the visitor choose which map of the Transformers is drawn; a head of None is the mean of all."""
    shapes = [side.weights.shape for side in sides if side.system == catalogue.TRANSFORMER]
    if not shapes:
        return 0, None
    n_layers, n_heads = np.max(shapes, axis=0)[:2].tolist()
    help_ = say(words_models.LAYER)
    layer = controls.choose(say("Layer"), range(n_layers), "models-layer", n_layers - 1, help=help_)
    heads = {words_models.MEAN: None} | {str(head): head for head in range(n_heads)}
    return layer, heads[controls.choose(say("Head"), list(heads), "models-head", help=say(words_models.HEAD))]


@dataclass(frozen=True)
class Asked:
    """What the views show: the models' translations, and which of them and which map is chosen.

    Attributes:
        rows: as of `comparison.align`, the words that stand beside each other.
        head: None for the mean of all.
    """

    sides: list[Side]
    rows: list[tuple[int | None, ...]]
    chosen: int
    layer: int
    head: int | None


def picture(asked: Asked, side: Side, made_by: Recipe) -> tuple[str, Plot]:
    """What every output word of a model read of the source: a line about it, and the figure, without a title."""
    names = made(side.words, "written.names")
    if side.weights is None:
        axes = {"row_axis": words_models.ROW_AXIS, "column_axis": words_models.NUMBER_AXIS}
        known = made(side.context, "result.trace['decoder.context'][firsts]")
        more = axes | {"value": words_models.NUMBER, "most_labels": VECTOR_LABELS}
        line = say("No map: the same {size} numbers for every word.", size=side.context.shape[1])
        return line, made_by.plot("", values_heatmap, known, names, **more)
    known, line = side.map(asked.layer, asked.head)
    axes, keys = {"query_axis": words_models.ASKS, "key_axis": words_models.KEY_AXIS}, made(side.keys, "read.names")
    return line, made_by.plot("", attention_heatmap, known, names, keys, **axes)


def draw_map(asked: Asked, number: int, least: int = 0) -> None:
    side = asked.sides[number]
    made_by = side.recipe()
    line, plot = picture(asked, side, made_by)
    title = f"{say(words_models.SYSTEMS[side.system].map)}, {line}"
    places = [place for place, row in enumerate(asked.rows) if row[number] is not None]
    explore.draw(made_by.plot(title, aligned_rows, plot, places, len(asked.rows)), f"map-{number}", least=least)
    st.caption(title)
    if side.weights is None:
        difference = float(np.abs(side.context - side.context[0]).max())
        st.caption(say(words_models.SAME, difference=words_masks.number(difference)))


def show_one(asked: Asked) -> None:
    draw_map(asked, asked.chosen, LARGE)
    show_model(asked.chosen, asked.sides[asked.chosen])


def show_all(asked: Asked) -> None:
    for number, side in shared.columns(enumerate(asked.sides), 2):
        st.markdown(f"**{say(words_models.SYSTEMS[side.system].name)}**")
        shared.large(wrote(side), f"translation-{number}")
        if not side.result.finished:
            st.caption(say("The translation stopped at the length limit."))
        draw_map(asked, number)
        show_model(number, side)
    st.caption(say(words_models.MAPS))


def show_words(asked: Asked) -> None:
    table = {}
    for at, side in enumerate(asked.sides):
        read = [say(words_models.NO_MAP)] * len(side.words)
        if side.weights is not None:
            weights = value_of(side.map(asked.layer, asked.head)[0])
            read = [say("{key} {x:.2f}", key=side.keys[row.argmax()], x=row.max()) for row in weights]
        for name, cells in ((side.name, side.words), (say("{name} reads", name=side.name), read)):
            table[name] = ["" if row[at] is None else cells[row[at]] for row in asked.rows]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="words")
    st.caption(f"{say(words_models.MAPS)} {say(words_models.ALIGNED)}")


def read_lengths(names: list[str]) -> dict[str, dict[str, list[lengths.Group]]]:
    """What the cards of the models say by length, by test set and name; what cannot be read is told in a sentence."""
    found: dict[str, dict[str, list[lengths.Group]]] = {}
    for name in names:
        try:
            for test, groups in lengths.read(cached.translator(name).card).items():
                found.setdefault(test, {})[name] = groups
        except ValueError as error:
            shared.small(f"{name}: {errors.sentence(error)}", f"lengths-problem-{name}")
    return found


def show_lengths(names: list[str]) -> None:
    """Draw the quality of every model by length of sentence, and say how it was measured."""
    found, measured = read_lengths(names), {}
    if found:
        with st.container(horizontal=True, gap="medium"):
            test = controls.choose(say("Test set"), sorted(found), "test")
            quality = controls.choose(say("Quality"), words_models.QUALITIES, "quality")
        measured = found[test]
        lines = {
            name: np.array([[group.words, getattr(group, quality)] for group in groups]).T
            for name, groups in measured.items()
        }
        code = (
            "lines = {}",
            f"for name in {list(measured)!r}:",
            f"    groups = lengths.read(load_translator(name).card)[{test!r}]",
            f"    lines[name] = np.array([[group.words, group.{quality}] for group in groups]).T",
        )
        axes = {"x_axis": words_models.LENGTH_AXIS, "y_axis": words_models.QUALITIES[quality]}
        made_by, title = Recipe(f"{test} · {' · '.join(measured)}", code), say("Quality by length of sentence")
        explore.draw(made_by.plot(title, curves, made(lines, "lines"), **axes), "lengths")
        st.caption(say(words_models.LENGTHS))
        with st.expander(say("The numbers, and the commands that made them")):
            rows = [{"model": name, **vars(group)} for name, groups in measured.items() for group in groups]
            table = pd.DataFrame(rows).rename(columns=say)  # words_models.COLUMNS
            st.dataframe(table, hide_index=True, key="lengths-table")
            for number, name in enumerate(measured):
                score = cached.translator(name).card["scores"][test]
                command = score.get("command", say("no command on its card"))
                shared.small(f"{name}: {command} · {score.get('signature', '')}", f"lengths-command-{number}")
    if missing := [name for name in names if name not in measured]:
        shared.small(say(words_models.NO_LENGTHS, names=", ".join(missing)), "no-lengths")
        commands(words_models.MEASURE.format(name=name) for name in missing)


def commands(lines) -> None:
    st.code("\n".join(lines), "bash", wrap_lines=True)


def show_missing(languages: catalogue.Direction, names: list[str]) -> None:
    """Say which systems of a direction are not there, and how to train one."""
    here = {catalogue.system_of(cached.translator(name).config) for name in names}
    missing = [system for system in catalogue.SYSTEMS if system not in here]
    if missing:
        systems = ", ".join(say(words_models.SYSTEMS[system].name) for system in missing)
        st.caption(say(words_models.MISSING, systems=systems))
        presets = words_models.PRESETS.get(languages, {})
        known = [words_models.TRAIN.format(preset=presets[system]) for system in missing if system in presets]
        commands(known or [say(words_models.OTHER_DIRECTION)])


def show_problems(problems: list[str]) -> None:
    if problems:
        st.warning(say("Left out, because it cannot be read:"))
        for number, problem in enumerate(problems):
            shared.small(problem, f"unreadable-{number}")


VIEWS = {words_models.ONE: show_one, words_models.ALL: show_all, words_models.WORDS: show_words}


def show(languages: catalogue.Direction, names: list[str], pictures: DeltaGenerator, beside: DeltaGenerator) -> None:
    with pictures:
        view = controls.views(words_models.SHOWS, "models-show")
        if view == words_models.LENGTHS_OF:
            show_lengths(names)
    with beside:
        text, example, beam, place = ask(languages)
    with pictures, st.container():
        sides = answer(names, text, example, beam)
    if not sides:
        return
    with place:
        chosen = choose_system(sides)
    with beside:
        layer, head = choose_head(sides)
    if view in VIEWS:
        with pictures:
            rows = comparison.align([side.words for side in sides])
            VIEWS[view](Asked(sides, rows, chosen, layer, head))


@choices.fragment
def live() -> None:
    found, unreadable = catalogue.by_direction()
    problems = [errors.sentence(ValueError(problem)) for problem in unreadable]
    if not found:
        st.error(say("No translation model found."))
        shared.small(say("The folder is {folder}.", folder=checkpoints_folder()), "no-model")
        commands([words_models.TRAIN.format(preset="multi30k-de-en")])
        show_problems(problems)
        return
    pictures, beside = shared.picture_first()
    with beside:
        languages = choose_direction(found)
    names, broken = usable(found[languages])
    if names:
        show(languages, names, pictures, beside)
    show_missing(languages, names)
    show_problems(problems + broken)


shared.opening(say("Four systems"), say(words_models.INTRO))
live()
