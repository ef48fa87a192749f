"""The page Four systems: one sentence through every checkpoint of a direction, side by side."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import checkpoint
from model.analysis import comparison, lengths
from model.checkpoint import checkpoints_folder
from model.training.presets import PRESETS
from viz.figures import aligned_rows, attention_heatmap, curves, values_heatmap
from viz.text import errors, words
from viz.text.language import message, messages, say, say_n
from viz.text.markdown import literal
from viz.ui import choices, controls, explore, shared
from viz.views import cached
from viz.views.made import Recipe, made, value_of
from viz.views.model_results import Side, compare, usable

LARGE = 480  # pixels of the map of one model
VECTOR_LABELS = 4  # numbers on the axis of a vector, which stands beside others
VIEWS = messages(one="One system", all="Side by side", words="Word by word", lengths="Quality by length")
GERMAN = {
    message("A short one"): "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
    message("Two dogs"): "Zwei Hunde spielen mit einem roten Ball im Schnee.",
    message("No caption"): "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    message("A long one"): (
        "An einem sonnigen Tag im Sommer sitzt eine Gruppe junger Leute vor einem alten Gebäude auf dem Gras, und "
        "während einige von ihnen essen und miteinander reden, spielt ein kleines Mädchen in einem roten Kleid mit "
        "einem kleinen braunen Hund, der einen gelben Ball im Maul hat."
    ),
}
SYSTEMS = {  # what each is called, how a step of it knows of the source, and the title of what is drawn of it
    checkpoint.TRANSFORMER: (
        message("Transformer"),
        message("Every step reads all source tokens, in every layer and head."),
        message("Transformer: cross-attention"),
    ),
    checkpoint.GRU_ATTENTION: (
        message("GRU with attention"),
        message("Word by word; every step reads the encoder's states (Bahdanau et al. 2015)."),
        message("GRU with attention: additive attention"),
    ),
    checkpoint.GRU: (
        message("GRU"),
        message("Word by word; every step knows the source only as one vector (Cho et al. 2014)."),
        message("GRU: one vector"),
    ),
}
TRAINABLE = ("en-de", "multi30k-de-en", "multi30k-de-en-gru-attention", "multi30k-de-en-gru")  # of PRESETS
TRAIN = "python -m model train {preset} --data-dir data --out checkpoints/{preset}"
MEASURE = "python -m model evaluate --data FILE.tsv --checkpoint {name} --by-length --save-as multi30k/test_2016_flickr"
COLUMNS = message("model"), message("words"), message("shortest"), message("longest"), message("sentences")
BESIDE = message("Words that belong together share a row in every picture. Subwords are merged into words.")


@dataclass(frozen=True)
class Asked:
    """What the views show: the models' translations, and which map is chosen."""

    sides: list[Side]
    rows: list[tuple[int | None, ...]]  # as of `comparison.align`: the words that stand beside each other
    layer: int
    head: int | None  # None for the mean of all


def ask(languages: checkpoint.Direction) -> tuple[str, str, int, DeltaGenerator]:
    """Ask for a sentence and how to search: the sentence, the example, the width, and a place below the sentence."""
    source = languages[0]
    examples = GERMAN if source == "de" else words.EXAMPLES
    # A sentence comes along from the other pages, where it is English.
    key = "text" if source == "en" else f"text-{source}"
    example = next(iter(examples.values()))
    text = controls.sentence(words.sentence_in(source), example, key, examples)
    place = st.container()
    beam = controls.choose(say("Beam width"), words.BEAMS, "beam", 4, help=say(words.SEARCH))
    return text, example, beam, place


def choose_system(sides: list[Side]) -> int:
    """Show what every model wrote, how long it took and how probable it is; return the number of the chosen one."""
    names, captions = {}, []
    for side in sides:
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        names[side.name] = f"{say(SYSTEMS[side.system][0])} · {literal(side.name)}"
        took = say("{ms:.0f} ms · log-probability {score:.1f}", ms=1000 * side.seconds, score=score)
        captions.append(f"{literal(side.result.text or say('(the model wrote nothing)'))}  \n{took}")
    help_ = say(
        "Computing time on this machine, and the translation's log-probability. Models with different tokens cannot be "
        "compared by it."
    )
    more = {"widget": st.radio, "captions": captions, "help": help_}
    return list(names).index(controls.choose(say("System"), names, "system", **more))


def choose_head(sides: list[Side]) -> tuple[int, int | None]:
    """Let the visitor choose which map of the Transformers is drawn; a head of None is the mean of all."""
    shapes = [side.weights.shape for side in sides if side.system == checkpoint.TRANSFORMER]
    if not shapes:
        return 0, None
    n_layers, n_heads = np.max(shapes, axis=0)[:2].tolist()
    help_ = say("Of a Transformer. A model with fewer layers shows its last one.")
    layer = controls.choose(say("Layer"), range(n_layers), "models-layer", n_layers - 1, help=help_)
    help_ = say(
        "Of a Transformer. The mean of all heads is not a real head; a model with fewer heads shows its last one."
    )
    heads = {message("mean"): None} | {str(head): head for head in range(n_heads)}
    return layer, heads[controls.choose(say("Head"), list(heads), "models-head", help=help_)]


def show_model(asked: Asked, number: int, least: int = 0) -> None:
    """Draw what every output word of a model read of the source, and say which map and which model that is."""
    side = asked.sides[number]
    recipe, names, notes, system = side.recipe(), made(side.words, "written.names"), {}, SYSTEMS[side.system]
    if side.weights is None:
        line = say("No map: the same {size} numbers for every word.", size=side.context.shape[1])
        notes["same"] = say(
            "Columns are the numbers of the source vector that each step read. Largest difference between two words: "
            "{difference}.",
            difference=words.number(float(np.abs(side.context - side.context[0]).max())),
        )
        axes = {"row_axis": message("word being written"), "column_axis": message("number of the vector")}
        known = made(side.context, "result.trace['decoder.context'][firsts]")
        more = axes | {"value": message("number"), "most_labels": VECTOR_LABELS}
        plot = recipe.plot("", values_heatmap, known, names, **more)
    else:
        known, line = side.map(asked.layer, asked.head)
        axes = {"query_axis": words.PREDICTED_AXIS, "key_axis": words.KINDS["cross"].key_axis}
        plot = recipe.plot("", attention_heatmap, known, names, made(side.keys, "read.names"), **axes)
    if n := side.unknown("source"):
        notes["source"] = say_n(
            "{n} word is not in its list and read as <unk>.", "{n} words are not in its list and read as <unk>.", n
        )
    if n := side.unknown("target"):
        notes["target"] = say_n(
            "{n} word is <unk>, which the text leaves out.", "{n} words are <unk>, which the text leaves out.", n
        )
    title = f"{say(system[2])}, {line}"
    places = [place for place, row in enumerate(asked.rows) if row[number] is not None]
    explore.draw(recipe.plot(title, aligned_rows, plot.figure, places, len(asked.rows)), f"map-{number}", least=least)
    st.caption(title)
    shared.small(side.name, f"map-name-{number}")
    st.caption(say(system[1]))
    for about, note in notes.items():
        shared.small(note, f"{about}-{number}")
    shared.card(side.name, f"card-{number}")


def show_all(asked: Asked) -> None:
    for number, side in shared.columns(enumerate(asked.sides), 2):
        st.markdown(f"**{say(SYSTEMS[side.system][0])}**")
        shared.written(side.result, f"translation-{number}")
        show_model(asked, number)
    st.caption(say(BESIDE))


def show_words(asked: Asked) -> None:
    table = {}
    for at, side in enumerate(asked.sides):
        read = [say("the one vector")] * len(side.words)
        if side.weights is not None:
            weights = value_of(side.map(asked.layer, asked.head)[0])
            read = [say("{key} {x:.2f}", key=side.keys[row.argmax()], x=row.max()) for row in weights]
        for name, cells in ((side.name, side.words), (say("{name} reads", name=side.name), read)):
            table[name] = ["" if row[at] is None else cells[row[at]] for row in asked.rows]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="words")
    aligned = say("One row per place in the translations; beside each word, the source word with the largest weight.")
    st.caption(f"{say(BESIDE)} {aligned}")


def show_lengths(names: list[str]) -> None:
    """Draw the quality of every model by length of sentence, and say how it was measured."""
    found: dict[str, dict[str, list[lengths.Group]]] = {}  # by test set and name
    for name in names:
        try:
            for test, groups in lengths.read(cached.translator(name).card).items():
                found.setdefault(test, {})[name] = groups
        except ValueError as error:
            shared.small(f"{name}: {errors.sentence(error)}", f"lengths-problem-{name}")
    measured = {}
    if found:
        with shared.row():
            test = controls.choose(say("Test set"), sorted(found), "test")
            qualities = {"bleu": "BLEU", "chrf": "chrF"}
            quality = controls.choose(say("Quality"), qualities, "quality")
        measured = found[test]
        table = pd.DataFrame([{"model": name, **vars(group)} for name in measured for group in measured[name]])
        lines = {name: table.loc[table.model == name, ["words", quality]].to_numpy().T for name in measured}
        code = (
            "lines = {}",
            f"for name in {list(measured)!r}:\n"
            f"    groups = lengths.read(load_translator(name).card)[{test!r}]\n"
            f"    lines[name] = np.array([[group.words, group.{quality}] for group in groups]).T",
        )
        axes = {"x_axis": message("words of the source"), "y_axis": qualities[quality]}
        recipe, title = Recipe(f"{test} · {' · '.join(measured)}", code), say("Quality by length of sentence")
        explore.draw(recipe.plot(title, curves, made(lines, "lines"), **axes), "lengths")
        line = say(
            "Each point is a group of sentences of similar length (x: mean number of words, split at spaces). Measured "
            "once, by the commands below; the signatures say whether case counts."
        )
        st.caption(line)
        with st.expander(say("The numbers, and the commands that made them")):
            st.dataframe(table.rename(columns=say), hide_index=True, key="lengths-table")  # COLUMNS
            for number, name in enumerate(measured):
                score = cached.translator(name).card["scores"][test]
                command = score.get("command", say("no command on its card"))
                shared.small(f"{name}: {command} · {score.get('signature', '')}", f"lengths-command-{number}")
    if missing := [name for name in names if name not in measured]:
        line = say(
            "Not measured yet for {names}. The command below measures it and keeps it in the model's card.json; "
            "FILE.tsv has lines of source<TAB>reference, in this direction.",
            names=", ".join(missing),
        )
        shared.small(line, "no-lengths")
        commands(MEASURE.format(name=name) for name in missing)


def commands(lines: Iterable[str]) -> None:
    st.code("\n".join(lines), "bash", wrap_lines=True)


def show_missing(languages: checkpoint.Direction, names: list[str]) -> None:
    """Say which systems of a direction are not there, and how to train one."""
    here = {checkpoint.system_of(cached.translator(name).config) for name in names}
    missing = [system for system in checkpoint.SYSTEMS if system not in here]
    if not missing:
        return
    line = say(
        "Not found for this direction: {systems}. The page offers all models in the folder of checkpoints and needs "
        "two for one direction. To train one (the data first: python -m model download):",
        systems=", ".join(say(SYSTEMS[system][0]) for system in missing),
    )
    st.caption(line)
    runs = {name: PRESETS[name] for name in TRAINABLE}
    known = [
        TRAIN.format(preset=name)
        for name, run in runs.items()
        if (run.training.source, run.training.target) == languages and checkpoint.system_of(run.model) in missing
    ]
    other = message(
        "python -m model train CONFIG.json --data-dir data --out checkpoints/NAME   # --help: what is in it"
    )
    commands(known or [say(other)])


def show_problems(problems: list[str]) -> None:
    if problems:
        st.warning(say("Left out, because it cannot be read:"))
        for number, problem in enumerate(problems):
            shared.small(problem, f"unreadable-{number}")


def show(languages: checkpoint.Direction, names: list[str], pictures: DeltaGenerator, beside: DeltaGenerator) -> None:
    with pictures:
        view = controls.views(VIEWS, "models-show")
        if view == "lengths":
            show_lengths(names)
    with beside:
        text, example, beam, place = ask(languages)
    with pictures, st.container():
        asked, first = (tuple(names), text, beam), (tuple(names), example, beam)
        kept = shared.compute_or_keep(f"models-answered-{languages}", asked, lambda one: compare(*one), first)
        if kept is None:
            return
        sides, problems = kept[1]
        if kept[0] is not asked:
            shared.small(sides[0].result.source, "shown")
        for name, problem in problems.items():
            shared.small(f"{name}: {problem}", f"problem-{name}")
    with place:
        chosen = choose_system(sides)
    with beside:
        layer, head = choose_head(sides)
    if view != "lengths":
        with pictures:
            rows = comparison.align([side.words for side in sides])
            asked = Asked(sides, rows, layer, head)
            if view == "one":
                show_model(asked, chosen, LARGE)
            else:
                {"all": show_all, "words": show_words}[view](asked)


@choices.fragment
def live() -> None:
    found, unreadable = checkpoint.by_direction()
    problems = [errors.sentence(ValueError(problem)) for problem in unreadable]
    if not found:
        st.error(say("No translation model found."))
        shared.small(say("The folder is {folder}.", folder=checkpoints_folder()), "no-model")
        commands([TRAIN.format(preset="multi30k-de-en")])
        show_problems(problems)
        return
    pictures, beside = shared.picture_first()
    with beside:
        names = {"-".join(codes): " → ".join(words.language(code, code) for code in codes) for codes in found}
        default = "-".join(max(found, key=lambda codes: len(found[codes])))
        languages = tuple(controls.choose(say("Direction"), names, "direction", default).split("-"))
    names, broken = usable(found[languages])
    if names:
        show(languages, names, pictures, beside)
    show_missing(languages, names)
    show_problems(problems + broken)


shared.opening(say("Four systems"), say("One sentence through every model of a direction."))
live()
