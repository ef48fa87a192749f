"""The page Four systems: one sentence through every checkpoint of a direction, side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model import checkpoint
from model.analysis import comparison, lengths
from model.text.special import EOS_ID, SPECIAL_TOKENS
from model.training.presets import PRESETS
from model.translator import Translator
from viz.figures import aligned_rows, attention_heatmap, curves, values_heatmap
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import choices, controls, frame, shared
from viz.ui.frame import Tile
from viz.views import cached, recipes
from viz.views.model_results import Side, compare, usable
from viz.views.snippets import Code, Plot, program, snippet

MEAN = message("mean")  # of all heads
MAP = """
from viz.figures import attention_heatmap
picture = attention_heatmap($values, written.names, read.names, query_axis=$query_axis, key_axis=$key_axis)
"""
VECTOR = """
from viz.figures import values_heatmap

picture = values_heatmap(
    $values,
    written.names,
    value=$value,
    most_labels=$most_labels,
    row_axis=$row_axis,
    column_axis=$column_axis,
)
"""
ALIGNED = """
from viz.figures import aligned_rows

figure = aligned_rows(picture, $rows, $n_rows)
figure.show()
"""
LENGTHS = """
import numpy as np
from model import load_translator
from model.analysis import lengths
from viz.figures import curves

lines = {}
for name in $names:
    groups = lengths.read(load_translator(name).card)[$test]
    lines[name] = np.array([[group.words, group.$quality] for group in groups]).T
figure = curves(lines, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""
LEAST = 170  # pixels of a map over another one
VIEWS = messages(all="Side by side", one="One system", words="Word by word", lengths="Quality by length")
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


def choose_system(seen: Sequence["Seen"]) -> int:
    """The outputs of all systems as tiles with small maps; returns the number of the chosen one."""
    tiles = []
    for one in seen:
        side = one.side
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        took = say("{ms:.0f} ms · log-probability {score:.1f}", ms=1000 * side.seconds, score=score)
        text = side.result.text or say("(the model wrote nothing)")
        unknown = {"read": side.unknown("source"), "written": side.unknown("target")}
        line = message("<unk>, words that its list lacks: {read} read; {written} written, left out of the text.")
        flag = say(line, **unknown) if any(unknown.values()) else ""
        tiles.append(Tile(side.name, one.name, f"{text} · {took}", flag=flag, pixels=one.pixels))
    names = [one.side.name for one in seen]
    return names.index(frame.choose_tile(say("System"), tiles, "system", names[0], columns=2, height=72))


def choose_head(sides: list[Side]) -> tuple[int, int | None]:
    """A head of None is the mean of all."""
    shapes = [
        side.weights.shape for side in sides if side.weights is not None and side.system == checkpoint.TRANSFORMER
    ]
    if not shapes:
        frame.label(say("System"))
        return 0, None
    n_layers, n_heads = np.max(shapes, axis=0)[:2].tolist()
    hidden: dict[str, Any] = {"label_visibility": "collapsed"}
    frame.label(say("Layer"))
    layer = controls.choose(say("Layer"), range(n_layers), "models-layer", n_layers - 1, **hidden)
    frame.label(say("Head"))
    names = {head: say(MEAN) if head == MEAN else str(head) for head in (MEAN, *range(n_heads))}
    head = controls.choose(say("Head"), names, "models-head", widget=st.selectbox, width=110, **hidden)
    return layer, None if head == MEAN else head


@dataclass(frozen=True)
class Seen:
    """A translation beside those of other systems: its words in the shared rows (None: another system's row)."""

    side: Side
    places: Sequence[int | None]
    values: np.ndarray  # what is drawn, as of `Side.map`
    code: Code
    about: str

    @property
    def name(self) -> str:
        return f"{say(SYSTEMS[self.side.system][0])} · {self.side.name}"

    @property
    def pixels(self) -> np.ndarray:
        return frame.signed_pixels(self.values) if self.side.weights is None else frame.weight_pixels(self.values)

    def plot(self) -> Plot:
        """The map, its rows where the words stand that belong together."""
        side = self.side
        if side.weights is None:
            axes: dict[str, Any] = {
                "row_axis": message("word being written"),
                "column_axis": message("number of the vector"),
            }
            look: dict[str, Any] = axes | {"value": message("number"), "most_labels": 4}
            picture = values_heatmap(self.values, side.words, **look, say=say)
            code = snippet(VECTOR, values=self.code, **look)
        else:
            axes: dict[str, Any] = {"query_axis": words.PREDICTED_AXIS, "key_axis": words.KINDS["cross"].key_axis}
            picture = attention_heatmap(self.values, side.words, side.keys, **axes, say=say)
            code = snippet(MAP, values=self.code, **axes)
        rows = [row for row, word in enumerate(self.places) if word is not None]
        title = f"{say(SYSTEMS[side.system][0])}: {self.about}"
        figure = aligned_rows(picture, rows, len(self.places), say=say)
        origin = recipes.origin(side.request)
        aligned = snippet(ALIGNED, rows=rows, n_rows=len(self.places))
        return Plot(title, origin.note, figure, program(origin.code, side.code, code, aligned))


def show_maps(seen: Sequence[Seen], numbers: Sequence[int]) -> None:
    """The maps of some systems, two beside each other, down to the window's edge."""
    rows = [numbers[start : start + 2] for start in range(0, len(numbers), 2)]
    for at, row in enumerate(rows):
        plots = {f"map-{number}": seen[number].plot() for number in row}
        titles = {}
        for number in row:
            text = seen[number].side.result.text
            nothing = "" if text else say("(the model wrote nothing)")
            titles[f"map-{number}"] = say(SYSTEMS[seen[number].side.system][0]), "", nothing, "", text
        left = len(rows) - at
        below = frame.TITLED * (left - 1)
        least = LEAST if len(rows) > 1 else 240
        frame.pictures(plots, titles=titles, bar=len(numbers) == 1, below=below, share=1 / left, least=least)


def answer(seen: Sequence[Seen]) -> str:
    """At which word two systems attend most differently; else how many translations they wrote."""
    readers = [one for one in seen if one.side.weights is not None]
    found = []
    for row in range(len(seen[0].places)):
        tops = [top for one in readers if (top := top_of(one, row))]
        if 1 < len(tops) == len(readers) and len({word.lower() for word, *_ in tops}) == 1:
            order = sorted(range(len(tops)), key=lambda number: tops[number][2])
            found.append((tops[order[-1]][2] - tops[order[0]][2], tops, order[-1], order[0]))
    if not found:
        texts = {one.side.result.text.casefold() for one in seen}
        return say("Systems: {n}. Different translations: {m}.", n=len(seen), m=len(texts))
    _, tops, most, least = max(found, key=lambda one: one[0])
    (word, key, x), (_, other, y) = tops[most], tops[least]
    names = [say(SYSTEMS[one.side.system][0]) for one in readers]
    if names[most] == names[least]:
        names = [one.side.name for one in readers]
    line = message("At “{word}” {a} puts {x:.0%} of its attention on “{key}”, {b} {y:.0%} on “{other}”.")
    if key == other:
        line = message("At “{word}” {a} puts {x:.0%} of its attention on “{key}”, {b} only {y:.0%}.")
    return say(line, word=word, key=key, other=other, a=names[most], x=x, b=names[least], y=y)


def top_of(one: Seen, row: int) -> tuple[str, str, float] | None:
    """The word that a system wrote in a row, the source word with its largest weight, and that weight."""
    place = one.places[row]
    if place is None or one.side.words[place] == SPECIAL_TOKENS[EOS_ID]:
        return None
    weights = one.values[place]
    key = int(weights.argmax())
    return one.side.words[place], one.side.keys[key], float(weights[key])


def show_words(seen: Sequence[Seen]) -> None:
    table = {}
    for one in seen:
        side = one.side
        read = [say("the one vector")] * len(side.words)
        if side.weights is not None:
            read = [say("{key} {x:.2f}", key=side.keys[row.argmax()], x=row.max()) for row in one.values]
        for name, cells in ((side.name, side.words), (say("{name} reads", name=side.name), read)):
            table[name] = ["" if word is None else cells[word] for word in one.places]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="words")
    frame.note(f"{say(BESIDE)} {say('Beside each word: the source word with the largest weight.')}")


def show_lengths(names: list[str]) -> None:
    found, measured = [], []
    for name in names:
        try:
            for test, groups in lengths.read(cached.loaded_as(Translator, name).card).items():
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
        measured = list(table.model.unique())
        lines = {name: table.loc[table.model == name, ["words", quality]].to_numpy().T for name in measured}
        axes: dict[str, Any] = {"x_axis": message("words of the source"), "y_axis": qualities[quality]}
        code = program(snippet(LENGTHS, names=measured, test=test, quality=Code(quality), **axes))
        note = f"{test} · {' · '.join(measured)}"
        plot = Plot(say("Quality by length of sentence"), note, curves(lines, **axes, say=say), code)
        frame.pictures({"lengths": plot}, is_map=False, below=60)
        frame.note(say("Each point is a group of sentences of similar length."))
        with st.expander(say("The numbers, and the commands that made them")):
            spoken = table.set_axis([say(name) for name in table.columns], axis="columns")  # COLUMNS
            st.dataframe(spoken, hide_index=True, key="lengths-table")
            for number, name in enumerate(measured):
                score = cached.loaded_as(Translator, name).card["scores"][test]
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


def show(languages: checkpoint.Direction, names: list[str], places: frame.Places) -> None:
    source = languages[0]
    examples = GERMAN if source == "de" else words.EXAMPLES
    example = next(iter(examples.values()))
    with places.right_controls:
        view = controls.views(VIEWS, "models-show")
    with places.question:
        # A sentence comes along from the other pages, where it is English.
        key = "text" if source == "en" else f"text-{source}"
        text = controls.sentence_box(source, example, key, examples)
        with frame.options(int(choices.code_of("beam", "4") != "4"), "models"):
            beam = controls.choose(say("Beam width"), words.BEAMS, "beam", 4, help=say(words.SEARCH))
    with places.notes:
        asked, first = (tuple(names), text, beam), (tuple(names), example, beam)
        kept = shared.compute_or_keep(f"models-answered-{languages}", asked, lambda one: compare(*one), first)
        if kept is None:
            return
        sides, problems = kept[1]
        if kept[0] is not asked:
            shared.small(sides[0].result.source, "shown")
        for name, problem in problems.items():
            shared.small(f"{name}: {problem}", f"problem-{name}")
    with places.left_controls:
        at = choose_head(sides)
    rows = comparison.align([side.words for side in sides])
    seen = [Seen(side, words_at, *side.map(*at)) for side, words_at in zip(sides, zip(*rows))]
    with places.left:
        chosen = seen[choose_system(seen)]
        side = chosen.side
        frame.note(f"{chosen.name}: {say(SYSTEMS[side.system][1])} {chosen.about}")
        shared.card(side.name)
    with places.answer:
        frame.answer(answer(seen), say(BESIDE))
    with places.right:
        if view == "all":
            show_maps(seen, range(len(seen)))
        elif view == "one":
            show_maps(seen, [seen.index(chosen)])
        elif view == "words":
            show_words(seen)
        else:
            show_lengths(names)
        if view in ("all", "one"):
            frame.note(what_differs(seen, chosen))


def what_differs(seen: Sequence[Seen], chosen: Seen) -> str:
    """How much of the attention of the chosen system its largest weights take; without attention, what it reads."""
    if chosen.side.weights is None:
        return say(SYSTEMS[chosen.side.system][1])
    top = float(chosen.values.max(-1).mean())
    texts = {one.side.result.text.casefold() for one in seen}
    line = message("{name}: on average {top:.0%} of a row on one word. Different translations: {m} of {n}.")
    return say(line, name=chosen.name, top=top, m=len(texts), n=len(seen))


@choices.fragment
def live() -> None:
    places = frame.places()
    found, unreadable = checkpoint.by_direction()
    problems = [errors.sentence(ValueError(problem)) for problem in unreadable]
    if found:
        with places.question:
            names = {"-".join(codes): " → ".join(words.language(code, code) for code in codes) for codes in found}
            default = "-".join(max(found, key=lambda codes: len(found[codes])))
            direction = controls.choose(say("Direction"), names, "direction", default, label_visibility="collapsed")
            languages = tuple(direction.split("-"))
        names, broken = usable(found[languages])
        problems += broken
        if names:
            show(languages, names, places)
        with places.left:
            show_missing(languages, names)
    else:
        with places.notes:
            controls.no_model(preset="multi30k-de-en")
    if problems:
        with places.notes:
            st.warning(say("Left out, because it cannot be read:"))
            shared.small("\n".join(problems), "unreadable")


frame.opening(say("Four systems"))
live()
