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
from viz.views import cached, codes
from viz.views.made import Plot, Recipe, made
from viz.views.model_results import Side, compare, map_made, recipe, usable

IN_A_ROW = 2  # models beside each other
LARGE = 480  # pixels of the map of one model
VECTOR_LABELS = 4  # numbers on the axis of a vector, which stands beside others
Rows = list[tuple[int | None, ...]]


def choose_direction(found: dict[catalogue.Direction, list[str]]) -> catalogue.Direction:
    """Let the visitor choose the languages; the direction with most models is chosen at first."""
    options = {"-".join(languages): languages for languages in found}
    names = {option: words_models.direction(languages) for option, languages in options.items()}
    default = max(options, key=lambda option: len(found[options[option]]))
    return options[controls.choose(say("Direction"), list(options), "direction", default, names)]


def ask(languages: catalogue.Direction) -> tuple[str, str, int, DeltaGenerator]:
    """Ask for a sentence and how to search.

    Returns:
        The sentence, the example, the width of the search, and a place below the sentence.
    """
    source = languages[0]
    examples = words_models.EXAMPLES.get(source, words.EXAMPLES)
    example = next(iter(examples.values()))
    # A sentence comes along from the other pages, where it is English.
    key = "text" if source == "en" else f"text-{source}"
    label = say("{language} sentence", language=say(words.LANGUAGES.get(source, source)))
    text = controls.sentence(label, example, key, examples)
    place = st.container()
    beam = controls.choose(say("Beam width"), list(words.BEAMS), "beam", 4, words.BEAMS, help=say(words.SEARCH))
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
    if not sides:
        shared.warn(problem)
        return []
    shared.warn(f"{problem} {shared.kept(before)}")
    shared.small(sides[0].result.source, "shown")
    return sides


def in_columns(sides: list[Side]):
    """Yield every model with its number, in a column of its own."""
    for start in range(0, len(sides), IN_A_ROW):
        group = sides[start : start + IN_A_ROW]
        for number, (column, side) in enumerate(zip(st.columns(len(group), gap="medium"), group, strict=True), start):
            with column:
                yield number, side


def choose_system(sides: list[Side]) -> int:
    """Show what every model wrote, how long it took and how probable it is; return the number of the chosen one."""
    by_name = {side.name: side for side in sides}
    captions = []
    for side in sides:
        wrote = literal(side.result.text or say("(the model wrote nothing)"))
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        captions.append(f"{wrote}  \n{say(words_models.TOOK, ms=1000 * side.seconds, score=score)}")
    name = choices.control(
        st.radio,
        say("System"),
        list(by_name),
        key="system",
        reader=codes.one_of(by_name),
        default=sides[0].name,
        format_func=lambda name: f"{say(words_models.SYSTEMS[by_name[name].system].name)} · {literal(name)}",
        captions=captions,
        help=say(words_models.SCORE),
    )
    return list(by_name).index(name)


def show_translation(number: int, side: Side) -> None:
    """Show a translation."""
    st.markdown(f"**{say(words_models.SYSTEMS[side.system].name)}**")
    shared.large(side.result.text or say("(the model wrote nothing)"), f"translation-{number}")
    if not side.result.finished:
        st.caption(say("The translation stopped at the length limit."))


def show_model(number: int, side: Side) -> None:
    """Say what a model is, and what it does not know of the sentence."""
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
    n_layers, n_heads = (max(sizes) for sizes in list(zip(*shapes))[:2])
    layer_help, head_help = say(words_models.LAYER), say(words_models.HEAD)
    layer = controls.choose(say("Layer"), list(range(n_layers)), "models-layer", n_layers - 1, help=layer_help)
    heads = {words_models.MEAN: None} | {str(head): head for head in range(n_heads)}
    head = controls.choose(say("Head"), list(heads), "models-head", words_models.MEAN, help=head_help)
    return layer, heads[head]


def word_table(sides: list[Side], rows: Rows, layer: int, head: int | None) -> pd.DataFrame:
    """The translations word by word: beside each word the source word that it read most."""
    table = {}
    for at, side in enumerate(sides):
        read = [say(words_models.NO_MAP)] * len(side.words)
        if side.weights is not None:
            weights, _ = side.map(layer, head)
            best = weights.argmax(axis=1)
            read = [say("{key} {x:.2f}", key=side.keys[key], x=weights[row, key]) for row, key in enumerate(best)]
        places = [row[at] for row in rows]
        table[side.name] = [words_models.NO_WORD if word is None else side.words[word] for word in places]
        table[say("{name} reads", name=side.name)] = [
            words_models.NO_WORD if word is None else read[word] for word in places
        ]
    return pd.DataFrame(table)


def picture(side: Side, layer: int, head: int | None, made_by: Recipe) -> tuple[str, Plot]:
    """What every output word of a model read of the source: a line about it, and the figure, without a title."""
    names = made(side.words, "written.names")
    if side.weights is None:
        axes = {"row_axis": words_models.ROW_AXIS, "column_axis": words_models.NUMBER_AXIS}
        named = {"value": words_models.NUMBER, **axes, "most_labels": VECTOR_LABELS}
        known = made(side.context, "result.trace['decoder.context'][firsts]")
        return say(words_models.ONE_VECTOR, size=side.context.shape[1]), made_by.plot(
            "", values_heatmap, known, names, **named
        )
    axes = {"query_axis": words_models.ASKS, "key_axis": words_models.KEY_AXIS}
    keys, known = made(side.keys, "read.names"), map_made(side, layer, head)
    return side.map(layer, head)[1], made_by.plot("", attention_heatmap, known, names, keys, **axes)


@dataclass(frozen=True)
class Asked:
    """What the views show: the models' translations, and which of them and which map is chosen."""

    sides: list[Side]
    rows: Rows
    chosen: int
    layer: int
    head: int | None
    beam: int


def draw_map(asked: Asked, number: int, height: int | None = None) -> None:
    """Draw what every output word of a model read, in the same row as words of other models that belong to it."""
    side = asked.sides[number]
    made_by = recipe(side, asked.beam)
    line, plot = picture(side, asked.layer, asked.head, made_by)
    title = say(words_models.SYSTEMS[side.system].map)
    places = [place for place, row in enumerate(asked.rows) if row[number] is not None]
    plot = made_by.plot(f"{title}, {line}", aligned_rows, plot, places, len(asked.rows))
    figure = plot.draw(say)
    figure.layout.height = max(height or 0, figure.layout.height)
    explore.draw(plot, f"map-{number}", figure=figure)
    st.caption(f"{title}, {line}")
    if side.weights is None:
        difference = float(np.abs(side.context - side.context[0]).max())
        st.caption(say(words_models.SAME, difference=words_masks.number(difference)))


def show_one(asked: Asked) -> None:
    """Draw the map of the chosen model large."""
    draw_map(asked, asked.chosen, LARGE)
    show_model(asked.chosen, asked.sides[asked.chosen])


def show_all(asked: Asked) -> None:
    """Draw the maps of all models under their translations."""
    for number, side in in_columns(asked.sides):
        show_translation(number, side)
        draw_map(asked, number)
        show_model(number, side)
    st.caption(say(words_models.MAPS))


def show_words(asked: Asked) -> None:
    """Show the translations word by word."""
    st.dataframe(word_table(asked.sides, asked.rows, asked.layer, asked.head), hide_index=True, key="words")
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
    found = read_lengths(names)
    measured: dict[str, list[lengths.Group]] = {}
    if found:
        with st.container(horizontal=True, gap="medium"):
            test = controls.choose(say("Test set"), sorted(found), "test", sorted(found)[0])
            names_of = words_models.QUALITIES
            quality = controls.choose(say("Quality"), list(names_of), "quality", "bleu", names_of)
        measured = found[test]
        lines = {
            name: np.array([[group.words, getattr(group, quality)] for group in groups]).T
            for name, groups in measured.items()
        }
        axes = {"x_axis": words_models.LENGTH_AXIS, "y_axis": words_models.QUALITIES[quality]}
        lines_code = (
            "lines = {}",
            f"for name in {list(measured)!r}:",
            f"    groups = lengths.read(load_translator(name).card)[{test!r}]",
            f"    lines[name] = np.array([[group.words, group.{quality}] for group in groups]).T",
        )
        made_by, title = Recipe(f"{test} · {' · '.join(measured)}", lines_code), say("Quality by length of sentence")
        explore.draw(made_by.plot(title, curves, made(lines, "lines"), **axes), "lengths")
        st.caption(say(words_models.LENGTHS))
        with st.expander(say("The numbers, and the commands that made them")):
            rows = [{"model": name, **group.to_dict()} for name, groups in measured.items() for group in groups]
            table = pd.DataFrame(rows).rename(columns=say)  # words_models.COLUMNS
            st.dataframe(table, hide_index=True, key="lengths-table")
            for number, name in enumerate(measured):
                score = cached.translator(name).card["scores"][test]
                command = score.get("command", say("no command on its card"))
                shared.small(f"{name}: {command} · {score.get('signature', '')}", f"lengths-command-{number}")
    missing = [name for name in names if name not in measured]
    if missing:
        shared.small(say(words_models.NO_LENGTHS, names=", ".join(missing)), "no-lengths")
        st.code("\n".join(words_models.MEASURE.format(name=name) for name in missing), "bash", wrap_lines=True)


def show_missing(languages: catalogue.Direction, names: list[str]) -> None:
    """Say which systems of a direction are not there, and how to train one."""
    here = {catalogue.system_of(cached.translator(name).config) for name in names}
    missing = [system for system in catalogue.SYSTEMS if system not in here]
    if not missing:
        return
    systems = ", ".join(say(words_models.SYSTEMS[system].name) for system in missing)
    st.caption(say(words_models.MISSING, systems=systems))
    presets = words_models.PRESETS.get(languages, {})
    commands = [words_models.TRAIN.format(preset=presets[system]) for system in missing if system in presets]
    st.code("\n".join(commands or [say(words_models.OTHER_DIRECTION)]), "bash", wrap_lines=True)


def show_problems(problems: list[str]) -> None:
    """Say which checkpoints could not be read, a sentence each."""
    if problems:
        st.warning(say("Left out, because it cannot be read:"))
        for number, problem in enumerate(problems):
            shared.small(problem, f"unreadable-{number}")


VIEWS = {words_models.ONE: show_one, words_models.ALL: show_all, words_models.WORDS: show_words}


def show(languages: catalogue.Direction, names: list[str], pictures: DeltaGenerator, beside: DeltaGenerator) -> None:
    """Ask for a sentence, and draw what every model of a direction makes of it."""
    shows = words_models.SHOWS
    with pictures:
        label = say("Show")
        view = controls.choose(label, list(shows), "models-show", words_models.ONE, shows, label_visibility="collapsed")
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
            VIEWS[view](Asked(sides, rows, chosen, layer, head, beam))


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    found, unreadable = catalogue.by_direction()
    if not found:
        st.error(say("No translation model found."))
        shared.small(say("The folder is {folder}.", folder=checkpoints_folder()), "no-model")
        st.code(words_models.TRAIN.format(preset="multi30k-de-en"), "bash", wrap_lines=True)
        show_problems([errors.sentence(ValueError(problem)) for problem in unreadable])
        return
    pictures, beside = shared.picture_first()
    with beside:
        languages = choose_direction(found)
    names, problems = usable(found[languages])
    if names:
        show(languages, names, pictures, beside)
    show_missing(languages, names)
    show_problems([errors.sentence(ValueError(problem)) for problem in unreadable] + problems)


shared.opening(say("Four systems"), say(words_models.INTRO))
live()
