"""The page Four systems: one sentence through every checkpoint of a direction, side by side."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import checkpoint
from model.analysis import comparison, lengths
from model.training.presets import PRESETS
from viz.figures import aligned_rows, attention_heatmap, curves, values_heatmap
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.text.markdown import literal
from viz.ui import choices, controls, explore, shared
from viz.views import cached, recipes
from viz.views.made import Recipe, call, made, value_of
from viz.views.model_results import Side, compare, usable

MEAN = message("mean")  # of all heads
LARGE = 480  # pixels of the map of one model
VIEWS = messages(one="One system", all="Side by side", words="Word by word", lengths="Quality by length")
GERMAN = {
    message("A short one"): "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
    message("Two dogs"): "Zwei Hunde spielen mit einem roten Ball im Schnee.",
    message("No caption"): "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    message("A long one"): (
        "An einem sonnigen Tag im Sommer sitzt eine Gruppe junger Leute vor einem alten Gebäude auf dem Gras, und ein "
        "kleines Mädchen spielt mit einem kleinen braunen Hund, der einen gelben Ball im Maul hat."
    ),
}
SYSTEMS = {  # what each is called, and how a step of it knows of the source
    checkpoint.TRANSFORMER: (
        message("Transformer"),
        message("Every step reads all source tokens, in every layer and head."),
    ),
    checkpoint.GRU_ATTENTION: (
        message("GRU with attention"),
        message("Word by word; every step reads the encoder's states (Bahdanau et al. 2015)."),
    ),
    checkpoint.GRU: (
        message("GRU"),
        message("Word by word; every step knows the source only as one vector (Cho et al. 2014)."),
    ),
}
MEASURE = "python -m model evaluate --data FILE.tsv --checkpoint {name} --by-length --save-as multi30k/test_2016_flickr"
COLUMNS = messages(words="words", shortest="shortest", longest="longest", sentences="sentences", model="model")
BESIDE = message("Words that belong together share a row in every picture. Subwords are merged into words.")


def choose_system(sides: list[Side]) -> int:
    names, captions = {}, []
    for side in sides:
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        names[side.name] = f"{say(SYSTEMS[side.system][0])} · {literal(side.name)}"
        took = say("{ms:.0f} ms · log-probability {score:.1f}", ms=1000 * side.seconds, score=score)
        captions.append(f"{literal(side.result.text or say('(the model wrote nothing)'))}  \n{took}")
    help_ = say("Models with different tokens cannot be compared by log-probability.")
    more = {"widget": st.radio, "captions": captions, "help": help_}
    return list(names).index(controls.choose(say("System"), names, "system", **more))


def choose_head(sides: list[Side]) -> tuple[int, int | None]:
    """A head of None is the mean of all."""
    shapes = [value_of(side.weights).shape for side in sides if side.system == checkpoint.TRANSFORMER]
    if not shapes:
        return 0, None
    n_layers, n_heads = np.max(shapes, axis=0)[:2].tolist()
    layer = controls.choose(say("Layer"), range(n_layers), "models-layer", n_layers - 1)
    head = controls.choose(say("Head"), [MEAN, *range(n_heads)], "models-head")
    return layer, None if head == MEAN else head


def show_maps(seen: list[tuple], numbers: Sequence[int], least: int = 0) -> None:
    """Seen holds of each model: its side, which of its words stands in each row, and as of `Side.map`."""
    for number in shared.columns(numbers, min(len(numbers), 2)):
        side, places, known, about = seen[number]
        system, how = map(say, SYSTEMS[side.system])
        shared.written(side.result, f"translation-{number}")
        recipe, names, notes = recipes.translation(side.request), side.written.names, []
        if side.weights is None:
            axes = {"row_axis": message("word being written"), "column_axis": message("number of the vector")}
            plot = recipe.plot("", values_heatmap, known, names, value=message("number"), most_labels=4, **axes)
        else:
            axes = {"query_axis": words.PREDICTED_AXIS, "key_axis": words.KINDS["cross"].key_axis}
            plot = recipe.plot("", attention_heatmap, known, names, side.read.names, **axes)
        unknown = {"read": side.unknown("source"), "written": side.unknown("target")}
        if any(unknown.values()):
            line = message("<unk>, words that its list lacks: {read} read; {written} written, left out of the text.")
            notes.append(say(line, **unknown))
        rows = [row for row, word in enumerate(places) if word is not None]
        plot = recipe.plot(f"{system}: {about}", aligned_rows, plot.figure, rows, len(places))
        explore.draw(plot, f"map-{number}", least=least, line=how)
        notes.append(words.describe_card(side.name, side.request.translator.card))
        shared.small("\n".join(notes), f"card-{number}")
    st.caption(say(BESIDE))


def show_words(seen: list[tuple]) -> None:
    table = {}
    for side, places, known, _ in seen:
        read = [say("the one vector")] * len(side.words)
        if side.weights is not None:
            read = [say("{key} {x:.2f}", key=side.keys[row.argmax()], x=row.max()) for row in value_of(known)]
        for name, cells in ((side.name, side.words), (say("{name} reads", name=side.name), read)):
            table[name] = ["" if word is None else cells[word] for word in places]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="words")
    st.caption(f"{say(BESIDE)} {say('Beside each word: the source word with the largest weight.')}")


def show_lengths(names: list[str]) -> None:
    found, measured = [], []
    for name in names:
        try:
            for test, groups in lengths.read(cached.translator(name).card).items():
                found += [{"test": test, "model": name, **vars(group)} for group in groups]
        except ValueError as error:
            shared.small(f"{name}: {errors.sentence(error)}", f"lengths-problem-{name}")
    if found:
        table = pd.DataFrame(found)
        with shared.row():
            test = controls.choose(say("Test set"), sorted(set(table.test)), "test")
            qualities = {"bleu": "BLEU", "chrf": "chrF"}
            quality = controls.choose(say("Quality"), qualities, "quality")
        table = table[table.test == test].drop(columns="test")
        measured, lines = list(table.model.unique()), {}
        for name in measured:
            groups = f"lengths.read({call('load_translator', name)}.card)[test]"
            code = f"np.array([[group.words, group.{quality}] for group in {groups}]).T"
            lines[name] = made(table.loc[table.model == name, ["words", quality]].to_numpy().T, code)
        axes = {"x_axis": message("words of the source"), "y_axis": qualities[quality]}
        recipe = Recipe(f"{test} · {' · '.join(measured)}", (f"test = {test!r}",))
        explore.draw(recipe.plot(say("Quality by length of sentence"), curves, lines, **axes), "lengths")
        st.caption(say("Each point is a group of sentences of similar length."))
        with st.expander(say("The numbers, and the commands that made them")):
            st.dataframe(table.rename(columns=say), hide_index=True, key="lengths-table")  # COLUMNS
            for number, name in enumerate(measured):
                score = cached.translator(name).card["scores"][test]
                command = score.get("command", say("no command on its card"))
                shared.small(f"{name}: {command} · {score.get('signature', '')}", f"lengths-command-{number}")
    if missing := [name for name in names if name not in measured]:
        line = message("Not measured yet for {names}. To do so, with lines of source<TAB>reference in FILE.tsv:")
        shared.small(say(line, names=", ".join(missing)), "no-lengths")
        commands(MEASURE.format(name=name) for name in missing)


def commands(lines: Iterable[str]) -> None:
    st.code("\n".join(lines), "bash", wrap_lines=True)


def show_missing(languages: checkpoint.Direction, names: list[str]) -> None:
    here = {checkpoint.system_of(cached.translator(name).config) for name in names}
    if missing := [system for system in SYSTEMS if system not in here]:
        systems = ", ".join(say(SYSTEMS[system][0]) for system in missing)
        st.caption(f"{say('Not found for this direction: {systems}.', systems=systems)} {say(controls.TO_TRAIN)}")
        presets = ["-".join(["multi30k", *languages, system]).removesuffix("-transformer") for system in missing]
        known = [controls.TRAIN.format(preset=preset) for preset in presets if preset in PRESETS]
        commands(known or ["python -m model train CONFIG.json --data-dir data --out checkpoints/NAME"])


def show(languages: checkpoint.Direction, names: list[str], pictures: DeltaGenerator, beside: DeltaGenerator) -> None:
    source = languages[0]
    examples = GERMAN if source == "de" else words.EXAMPLES
    example = next(iter(examples.values()))
    with pictures:
        view = controls.views(VIEWS, "models-show")
        if view == "lengths":
            show_lengths(names)
    with beside:
        # A sentence comes along from the other pages, where it is English.
        key = "text" if source == "en" else f"text-{source}"
        text = controls.sentence(source, example, key, examples)
        place = st.container()
        beam = controls.choose(say("Beam width"), words.BEAMS, "beam", 4, help=say(words.SEARCH))
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
        at = choose_head(sides)
    rows = comparison.align([side.words for side in sides])
    seen = [(side, places, *side.map(*at)) for side, places in zip(sides, zip(*rows))]
    with pictures:
        if view == "one":
            show_maps(seen, [chosen], LARGE)
        elif view == "all":
            show_maps(seen, range(len(seen)))
        elif view == "words":
            show_words(seen)


@choices.fragment
def live() -> None:
    found, unreadable = checkpoint.by_direction()
    problems = [errors.sentence(ValueError(problem)) for problem in unreadable]
    if found:
        pictures, beside = shared.picture_first()
        with beside:
            names = {"-".join(codes): " → ".join(words.language(code, code) for code in codes) for codes in found}
            default = "-".join(max(found, key=lambda codes: len(found[codes])))
            languages = tuple(controls.choose(say("Direction"), names, "direction", default).split("-"))
        names, broken = usable(found[languages])
        problems += broken
        if names:
            show(languages, names, pictures, beside)
        show_missing(languages, names)
    else:
        controls.no_model(preset="multi30k-de-en")
    if problems:
        st.warning(say("Left out, because it cannot be read:"))
        shared.small("\n".join(problems), "unreadable")


shared.opening(say("Four systems"), say("One sentence through every model of a direction."))
live()
