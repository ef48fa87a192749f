"""The page Four systems: one sentence through every checkpoint of a direction, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import comparison, lengths
from model.results.recording import Recording
from model.running.translator import Translator
from model.storage import checkpoint
from model.text.special import BOS_ID, EOS_ID, SPECIAL_TOKENS
from model.training.presets import PRESETS
from viz.figures import curves, values_heatmap
from viz.stage.payload.message import Version
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import controls, frame, language_menu, shared, thumbnails, widgets
from viz.ui.frame import Tile
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.results.model_results import Side, compare, usable
from viz.views.snippets import Code, Plot, program, snippet
from viz.views.view import place_of_head

MEAN = message("mean")  # of all heads
VECTOR = """
from viz.figures import values_heatmap

figure = values_heatmap(
    $values,
    written.names,
    value=$value,
    most_labels=$most_labels,
    row_axis=$row_axis,
    column_axis=$column_axis,
)
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
VIEWS = messages(one="One system", words="Word by word", lengths="Quality by length")
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
BESIDE = message("Words that belong together share a row. Subwords are merged into words.")
OPENS = message("Open this map on the stage →")


def choose_system(systems: Sequence["SystemMap"], first: int) -> int:
    """The outputs of all systems as tiles with small maps; returns the number of the chosen one, at first `first`."""
    tiles = []
    for system in systems:
        side = system.side
        score = float(side.result.log_probabilities.sum(dtype="float64"))
        took = say("{ms:.0f} ms · log-probability {score:.1f}", ms=1000 * side.seconds, score=score)
        text = side.result.text or say("(the model wrote nothing)")
        unknown = {"read": side.unknown("source"), "written": side.unknown("target")}
        line = message("<unk>, words that its list lacks: {read} read; {written} written, left out of the text.")
        flag = say(line, **unknown) if any(unknown.values()) else ""
        tiles.append(Tile(side.name, system.name, f"{text} · {took}", flag=flag, pixels=system.pixels))
    names = [system.side.name for system in systems]
    return names.index(frame.choose_tile(say("System"), tiles, "system", names[first], columns=2, height=72))


def choose_head(sides: list[Side]) -> tuple[int, int | None]:
    """A head of None is the mean of all."""
    shapes = [
        side.weights.shape for side in sides if side.weights is not None and side.system == checkpoint.TRANSFORMER
    ]
    if not shapes:
        frame.label(say("System"))
        return 0, None
    n_layers, n_heads = np.max(shapes, axis=0)[:2].tolist()
    frame.label(say("Layer"))
    layer = controls.choose(say("Layer"), range(n_layers), "models-layer", n_layers - 1, label_visibility="collapsed")
    frame.label(say("Head"))
    names = {head: say(MEAN) if head == MEAN else str(head) for head in (MEAN, *range(n_heads))}
    head = controls.choose(
        say("Head"), names, "models-head", widget=st.selectbox, width=110, label_visibility="collapsed"
    )
    return layer, None if head == MEAN else head


@dataclass(frozen=True)
class SystemMap:
    """A translation beside those of other systems: its words in the shared rows (None: another system's row)."""

    side: Side
    places: Sequence[int | None]
    values: np.ndarray  # what is drawn, as in `Side.map`
    code: Code
    about: str

    @property
    def name(self) -> str:
        """The system and its checkpoint in words."""
        return f"{say(SYSTEMS[self.side.system][0])} · {self.side.name}"

    @property
    def pixels(self) -> np.ndarray:
        """The small picture, a row of it blank where only other systems have a word."""
        if self.side.weights is None:
            tile = thumbnails.signed_pixels(self.values)
            blank = thumbnails.signed_pixels(np.zeros(1)).item()
        else:
            tile, blank = thumbnails.weight_pixels(self.values), 0  # clear
        rows = np.full((len(self.places), *tile.shape[1:]), blank, np.uint8)
        for row, place in enumerate(self.places):
            if place is not None:
                rows[row] = tile[place]
        return rows

    def top(self, row: int) -> tuple[str, str, float] | None:
        """The word that was written in a row, the source word with its largest weight, and that weight."""
        place = self.places[row]
        if place is None or self.side.weights is None or self.side.words[place] == SPECIAL_TOKENS[EOS_ID]:
            return None
        weights = self.values[place]
        key = int(weights.argmax())
        return self.side.words[place], self.side.keys[key], float(weights[key])

    def ring(self, row: int | None) -> tuple[int, int] | None:
        """The cell with the largest weight in a shared row."""
        if row is None or self.top(row) is None or (place := self.places[row]) is None:
            return None
        return place, int(self.values[place].argmax())


def show_large(system: SystemMap, place: Mapping[str, str], row: int | None) -> None:
    """The chosen system large: its map on the stage, the cell of a shared row ringed; without one its vector."""
    side = system.side
    text = side.result.text or say("(the model wrote nothing)")
    if side.weights is None:
        frame.pictures({"vector": vector(system)}, titles={"vector": (system.name, "", "", "", text)})
        frame.note(system.about)
        return
    frame.picture_title(system.name, quoted=text)
    # The words of this page are those of its other pictures, too: the stage is not asked to merge subwords.
    begin = SPECIAL_TOKENS[BOS_ID]
    recording = Recording(side.keys, [begin, *side.words[:-1]], {"cross": side.weights}, {}, side.words)
    ring = system.ring(row)
    pin = {"pin": f"t{ring[0]}"} if ring else {}
    stage_page.show_map(Version(recording), {**place, **pin}, [ring] if ring else [])


def place_of(side: Side, layer: int, head: int | None) -> dict[str, str]:
    """The map of a system with attention, as an address says it; without a head the mean of all of a Transformer."""
    if side.system != checkpoint.TRANSFORMER or side.weights is None:
        return place_of_head("cross", 0, 0)
    n_layers, n_heads, *_ = side.weights.shape
    place = place_of_head("cross", min(layer, n_layers - 1), min(head or 0, n_heads - 1))
    return place | ({"summary": "mean"} if head is None else {})


def vector(system: SystemMap) -> Plot:
    """The one vector that a system without attention knows of the source, at every word."""
    side = system.side
    look: dict[str, Any] = {
        "row_axis": message("word being written"),
        "column_axis": message("number of the vector"),
        "value": message("number"),
        "most_labels": 4,
    }
    figure = values_heatmap(system.values, side.words, **look, say=say)
    origin = recipes.origin(side.request)
    code = program(origin.code, side.code, snippet(VECTOR, values=system.code, **look))
    return Plot(f"{say(SYSTEMS[side.system][0])}: {system.about}", origin.note, figure, code)


def most_different(systems: Sequence[SystemMap]) -> tuple[str, int | None, int]:
    """At which word two systems attend most differently, in which row that is, and which of them attends more there.

    Where no word is the same in all that attend: how many translations they wrote, no row, and the first system.
    """
    readers = [number for number, system in enumerate(systems) if system.side.weights is not None]
    differences = []
    for row in range(len(systems[0].places)):
        tops = [(top, number) for number in readers if (top := systems[number].top(row))]
        if 1 < len(tops) == len(readers) and len({word.lower() for (word, *_), _ in tops}) == 1:
            order = sorted(tops, key=lambda top: top[0][2])
            differences.append((order[-1][0][2] - order[0][0][2], row, order[-1], order[0]))
    if not differences:
        return in_words(systems), None, 0
    _, row, ((word, key, x), most), ((_, other, y), least) = max(differences, key=lambda difference: difference[0])
    names = {number: say(SYSTEMS[systems[number].side.system][0]) for number in (most, least)}
    if names[most] == names[least]:
        names = {number: systems[number].side.name for number in (most, least)}
    line = message("At “{word}” {a} puts {x:.0%} of its attention on “{key}”, {b} {y:.0%} on “{other}”.")
    if key == other:
        line = message("At “{word}” {a} puts {x:.0%} of its attention on “{key}”, {b} only {y:.0%}.")
    return say(line, word=word, key=key, other=other, a=names[most], x=x, b=names[least], y=y), row, most


def in_words(systems: Sequence[SystemMap]) -> str:
    """How many systems there are, and how many different translations."""
    texts = {system.side.result.text.casefold() for system in systems}
    return say("Systems: {n}. Different translations: {m}.", n=len(systems), m=len(texts))


def show_words(systems: Sequence[SystemMap]) -> None:
    """The translations word by word, in rows that all systems share."""
    table = {}
    for system in systems:
        side = system.side
        cells_read = [say("the one vector")] * len(side.words)
        if side.weights is not None:
            cells_read = [say("{key} {x:.2f}", key=side.keys[row.argmax()], x=row.max()) for row in system.values]
        for name, cells in ((side.name, side.words), (say("{name} reads", name=side.name), cells_read)):
            table[name] = ["" if word is None else cells[word] for word in system.places]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="words")
    frame.note(f"{say(BESIDE)} {say('Beside each word: the source word with the largest weight.')}")


def show_lengths(names: list[str]) -> None:
    """How each system does by the length of its sentences, as measured over a test set."""
    rows, scores = [], []
    for name in names:
        try:
            for test, groups in lengths.read(cached.loaded_as(Translator, name).card).items():
                rows += [{"test": test, "model": name, **vars(group)} for group in groups]
        except ValueError as error:
            shared.write_small(f"{name}: {errors.sentence(error)}", f"lengths-problem-{name}")
    if rows:
        table = pd.DataFrame(rows)
        with shared.row():
            test = controls.choose(say("Test set"), sorted(set(table.test)), "test")
            qualities = {"bleu": "BLEU", "chrf": "chrF"}
            quality = controls.choose(say("Quality"), qualities, "quality")
        table = table[table.test == test].drop(columns="test")
        scores = list(table.model.unique())
        lines = {name: table.loc[table.model == name, ["words", quality]].to_numpy().T for name in scores}
        axes: dict[str, Any] = {"x_axis": message("words of the source"), "y_axis": qualities[quality]}
        code = program(snippet(LENGTHS, names=scores, test=test, quality=Code(quality), **axes))
        note = f"{test} · {' · '.join(scores)}"
        plot = Plot(say("Quality by length of sentence"), note, curves(lines, **axes, say=say), code)
        frame.pictures({"lengths": plot}, is_map=False, below=60)
        frame.note(say("Each point is a group of sentences of similar length."))
        with st.expander(say("The numbers, and the commands that made them")):
            translated = table.set_axis([say(name) for name in table.columns], axis="columns")  # COLUMNS
            st.dataframe(translated, hide_index=True, key="lengths-table")
            for number, name in enumerate(scores):
                score = cached.loaded_as(Translator, name).card["scores"][test]
                command = score.get("command", say("no command on its card"))
                shared.write_small(f"{name}: {command} · {score.get('signature', '')}", f"lengths-command-{number}")
    if missing := [name for name in names if name not in scores]:
        line = message("Not measured yet for {names}. To do so, with lines of source<TAB>reference in FILE.tsv:")
        shared.write_small(say(line, names=", ".join(missing)), "no-lengths")
        commands(MEASURE.format(name=name) for name in missing)


def commands(lines: Iterable[str]) -> None:
    """Commands, each in a line of its own to copy."""
    st.code("\n".join(lines), "bash", wrap_lines=True)


def show_missing(languages: checkpoint.Direction, names: list[str]) -> None:
    """Say which systems there are no checkpoints of, and how they are trained."""
    available = {checkpoint.system_of(cached.translator(name).config) for name in names}
    if missing := [system for system in SYSTEMS if system not in available]:
        systems = ", ".join(say(SYSTEMS[system][0]) for system in missing)
        st.caption(f"{say('Not found for this direction: {systems}.', systems=systems)} {say(controls.TO_TRAIN)}")
        presets = ["-".join(["multi30k", *languages, system]).removesuffix("-transformer") for system in missing]
        trainings = [controls.TRAIN.format(preset=preset) for preset in presets if preset in PRESETS]
        commands(trainings or ["python -m model train CONFIG.json --data-dir data --out checkpoints/NAME"])


def show(languages: checkpoint.Direction, names: list[str], places: frame.Places) -> None:
    """The systems that translate in a direction, beside each other."""
    source = languages[0]
    examples = GERMAN if source == "de" else words.EXAMPLES
    example = next(iter(examples.values()))
    with places.right_controls:
        view = controls.choose_view(VIEWS, "models-show")
    with places.question:
        # A sentence comes along from the other pages, where it is English.
        key = "text" if source == "en" else f"text-{source}"
        text = controls.sentence_box(source, example, key, examples)
        with frame.options(int(widgets.code_of("beam", "4") != "4"), "models"):
            beam = controls.choose(say("Beam width"), words.BEAMS, "beam", 4, help=say(words.SEARCH))
    with places.notes:
        question, first = (tuple(names), text, beam), (tuple(names), example, beam)
        answer = shared.compute_or_keep(f"models-answered-{languages}", question, lambda sides: compare(*sides), first)
        if answer is None:
            return
        sides, problems = answer[1]
        if answer[0] is not question:
            shared.write_small(sides[0].result.source, "shown")
        for name, problem in problems.items():
            shared.write_small(f"{name}: {problem}", f"problem-{name}")
    with places.left_controls:
        layer, head = choose_head(sides)
    rows = comparison.align([side.words for side in sides])
    systems = [SystemMap(side, words_at, *side.map(layer, head)) for side, words_at in zip(sides, zip(*rows))]
    line, row, first = most_different(systems)
    with places.left:
        system = systems[choose_system(systems, first)]
        side = system.side
        place = place_of(system.side, layer, head)
        frame.note(f"{system.name}: {say(SYSTEMS[side.system][1])} {system.about}")
        if side.weights is not None:
            query = side.request.address() | place | {"words": "1"}
            st.html(f'<p class="hl-note">{language_menu.link(say(OPENS), "", query)}</p>')
        shared.write_card(side.name)
    with places.answer:
        frame.answer(line, say(BESIDE) if row is None else f"{in_words(systems)} {say(BESIDE)}")
    with places.right:
        if view == "one":
            show_large(system, place, row)
        elif view == "words":
            show_words(systems)
        else:
            show_lengths(names)


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    systems, unreadable = checkpoint.by_direction()
    problems = [errors.sentence(ValueError(problem)) for problem in unreadable]
    if systems:
        with places.question:
            names = {"-".join(codes): " → ".join(words.language(code, code) for code in codes) for codes in systems}
            default = "-".join(max(systems, key=lambda codes: len(systems[codes])))
            direction = controls.choose(say("Direction"), names, "direction", default, label_visibility="collapsed")
            languages = tuple(direction.split("-"))
        names, broken = usable(systems[languages])
        problems += broken
        if names:
            show(languages, names, places)
        with places.left:
            show_missing(languages, names)
    else:
        with places.notes:
            controls.say_no_model(preset="multi30k-de-en")
    if problems:
        with places.notes:
            st.warning(say("Left out, because it cannot be read:"))
            shared.write_small("\n".join(problems), "unreadable")


frame.opening(say("Four systems"))
live()
