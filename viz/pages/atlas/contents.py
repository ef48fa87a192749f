"""The Head atlas as data: the files that a browser fetches which draws it, in the app and without a server."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import atlas
from model.measures.corpus import edges, index
from model.results.recording import axis_tokens
from model.results.translation import KINDS, Translation
from model.running.translator import Translator, Writer, load_translator
from model.storage.checkpoint import available
from viz.figures.labels import english
from viz.figures.maps import written_numbers
from viz.pages.atlas import idea_file
from viz.stage.payload import head_card, held_out
from viz.stage.payload.head_rows import FAILS_NOTE, NO_FAILS, RowGroup, TextRow, failures, tenths
from viz.stage.payload.packing import pack
from viz.stage.payload.roles import best_aligner
from viz.text import words
from viz.text.language import LANGUAGES, messages, say, using
from viz.views.results import head_boards
from viz.views.results.head_sources import Source, of_report
from viz.views.results.indexed_heads import MEASURES, RULES, IndexedHeads

NAME = "atlas"  # of its address
WORDS = messages(
    model="Model",
    show="Show",
    texts="Many texts",
    board="All heads",
    measure="Measure",
    sort="Sort by",
    place="layer and head",
    kinds="Heads",
    all="all",
    all_heads="All heads",
    tenths="Every tenth",
    fails="Where rules fail",
    numbers="Distributions",
    pairs="Pairs of words",
    points="Points",
    colour="Colour",
    draw="Draw others",
    head="head",
    its_numbers="Numbers of this head",
    held_out="held-out",
    largest_first="rank, largest first",
    strongest="Strongest in these held-out sentences",
    to_stage="Open this head on the stage →",
    cell="“{row}” → “{column}”: {value}",
    masked="“{row}” → “{column}”: masked",
    colors="One cell per head: {value}, {colors}.",
    bright_large="bright where it is large",
    bright_small="bright where it is small",
    orange="orange above 0, blue below",
    in_app="Points, likeness, contributions, your sentence and other models need the app: make run.",
)
WORDS |= {
    "extremes": head_boards.EXTREMES,
    "no_kind": head_boards.NO_KIND,
    "no_fails": NO_FAILS,
}
WORDS |= {"pairs_note": head_card.PAIRS_NOTE, "fails_note": FAILS_NOTE}


@dataclass(frozen=True)
class ModelHeads:
    """What ships of the heads of a model: the index over many texts, and the atlas, where they are there."""

    name: str
    texts: IndexedHeads | None
    report: dict[str, Any] | None
    translator: Translator | None = None  # which translates the sentences where heads are strongest
    views: Sequence[str] = ("texts", "board")  # that are shown, where they are there

    @cached_property
    def roles(self) -> Source | None:
        """What heads do in the held-out sentences."""
        return of_report(self.report) if self.report else None

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Numbers of all heads, by the view that shows them."""
        sources = {"texts": self.texts and self.texts.source(self.roles), "board": self.roles}
        return {view: source for view, source in sources.items() if source and view in self.views}

    @cached_property
    def translated(self) -> Callable[[str], Translation]:
        """Translates a sentence as its address on the stage does, once."""
        assert self.translator is not None
        translate = self.translator.translate
        return cache(lambda text: translate(text, beam=1))

    @property
    def first(self) -> Head:
        """The head that is opened at first: the best aligner of a translator, else the one with most induction."""
        if self.report:
            return Head("cross", *best_aligner(self.report))
        source = next(iter(self.sources.values()))
        kind = list(source.kinds)[-1]
        return Head(kind, *analysis.largest_cell(source.kinds[kind].get("rule induction", np.zeros((1, 1)))))


@dataclass(frozen=True)
class ShippedHeads(IndexedHeads):
    """An index beside the weights of a model that is loaded."""

    loaded: Any = None

    @property
    def translator(self) -> Any:
        """The model."""
        return self.loaded


def read_heads(model: Translator | Writer) -> ModelHeads | None:
    """What stands beside the weights of a checkpoint of its heads; None where there is nothing of these weights."""
    try:
        report = index.read(model.folder)
        edge_file = edges.read(edges.beside(model.folder / index.FILE), report["weights"]) if report else None
        texts = ShippedHeads(model.name, report, edge_file, model) if report else None
    except ValueError:
        texts = None
    try:
        of_sentences = atlas.read(model.folder, model.config)
    except ValueError:
        of_sentences = None
    translator = model if isinstance(model, Translator) else None
    return ModelHeads(model.name, texts, of_sentences, translator) if texts or of_sentences else None


def parts(models: Sequence[Translator]) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]] | None:
    """What the page says, by language, and its files; None where nothing is known of the heads.

    Args:
        models: the translators that the browser runs: ideas are tested on them. Language models that ship come after.
    """
    writers = map(load_translator, available("language_model"))
    every = [heads for heads in map(read_heads, (*models, *writers)) if heads]
    if not every:
        return None
    in_browser = [model.name for model in models]
    told = {}
    for language in LANGUAGES:
        with using(language):
            told[language] = told_of(every)
    files = {heads.name: pack(board_file(heads, heads.name in in_browser)) for heads in every}
    files |= {f"{heads.name}/{place}": pack(content) for heads in every for place, content in head_files(heads)}
    for heads in every:
        if heads.name in in_browser and heads.texts and heads.texts.edge_texts:
            files[f"{heads.name}/{idea_file.NAME}"] = pack(idea_file.idea_file(heads.texts.edge_texts))
    return told, files


def told_of(every: Sequence[ModelHeads]) -> dict[str, Any]:
    """What the page says of the heads of some models, in the language of here."""
    rules = {f"rule {code}": text for code, text in RULES.items()}
    return {
        "words": {name: say(text) for name, text in (WORDS | idea_file.WORDS).items()},
        "idea": idea_file.choices(),
        "measures": {
            "texts": {code: say(text) for code, text in (MEASURES | rules).items()},
            "board": {code: say(text) for code, text in head_boards.MEASURES.items()},
        },
        "abouts": {measure: say(text) for measure, text in head_boards.ABOUT.items()},
        "kinds": {kind: say(words.SHORT_KINDS[kind]) for kind in KINDS},
        "axes": {kind: _axes(kind) for kind in KINDS},
        "signed": list(head_boards.SIGNED),
        "low_is_good": list(head_boards.LOW_IS_GOOD),
        "low_first": list(head_boards.LOW_FIRST),
        "models": {heads.name: about(heads) for heads in every},
    }


def _axes(kind: str) -> list[str]:
    """What the rows and the columns of a map are."""
    axes = words.axes(kind)
    return [say(axes["query_axis"]), say(axes["key_axis"])]


def about(heads: ModelHeads) -> dict[str, str]:
    """Where the numbers of a model come from, by the view that shows them."""
    abouts = {}
    if heads.texts:
        abouts["texts"] = head_card.source(heads.texts)
    if heads.report and "board" in heads.views:
        abouts["board"] = f"{held_out.about(heads.report)} {heads.report['credit']}"
    return abouts


def board_file(heads: ModelHeads, has_ideas: bool, languages: Iterable[str] = LANGUAGES) -> dict[str, Any]:
    """The numbers of all heads, by view, kind and measure, and what heads are called, by language."""
    first, sources = heads.first, heads.sources
    layers = {
        kind: [source.number(kind, layer) for layer in range(len(of_kind["role"]))]
        for source in sources.values()
        for kind, of_kind in source.kinds.items()
    }
    return {
        "first": [first.kind, first.layer, first.head],
        "edges": bool(has_ideas and heads.texts and heads.texts.edge_texts),
        "layers": layers,
        "views": {view: _numbers(view, source) for view, source in sources.items()},
        "names": {language: _names(heads, language) for language in languages},
    }


def _numbers(view: str, source: Source) -> dict[str, dict[str, Any]]:
    """By kind and measure the numbers that colour a board, (L, H), and how they are written in its cells."""
    of_kinds: dict[str, dict[str, Any]] = {}
    for kind in source.kinds:
        offered = [name for name in source.kinds[kind] if name in MEASURES or name.startswith("rule ")]
        if view == "board":
            offered = [name for name in head_boards.MEASURES if source.having(name, [kind])]
        of_kinds[kind] = {}
        for name in offered:
            values = np.asarray(source.kinds[kind][name], float)
            of_kinds[kind][name] = {"values": values.tolist(), "texts": written_numbers(values, english)}
    return of_kinds


def _names(heads: ModelHeads, language: str) -> dict[str, Any]:
    """By view and kind what each head is called, with its role, as short as possible, and with a sign only."""
    with using(language):
        names: dict[str, Any] = {}
        for view, source in heads.sources.items():
            names[view] = {}
            for kind, layer, head in source.places(list(source.kinds)):
                place = (kind, layer, head)
                name = source.name(*place)
                row = [name, source.about(*place, name=name), source.code_of(*place), source.short_mark(*place)]
                names[view].setdefault(kind, []).append(row)
        return names


def head_files(heads: ModelHeads) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is fetched when a head is opened, by its place: rows once, what is said of them by language."""
    source = next(iter(heads.sources.values()))
    for kind, layer, head in source.places(list(source.kinds)):
        yield f"{kind}-{layer}-{head}", head_file(heads, Head(kind, layer, head))


def head_file(heads: ModelHeads, head: Head, languages: Iterable[str] = LANGUAGES) -> dict[str, Any]:
    """All that is shown of one head, in some languages."""
    groups = {"tenths": tenths(heads.texts, head), "fails": failures(heads.texts, head)} if heads.texts else {}
    said: dict[str, dict[str, Any]] = {}
    for language in languages:
        with using(language):
            said[language] = _said(heads, head, groups)
    rows = {
        name: [[row_payload(row) for _, row in group.rows] for group in of_name] for name, of_name in groups.items()
    }
    return {"rows": rows, "said": said, "maps": _maps(heads, head)}


def _maps(heads: ModelHeads, head: Head) -> list[dict[str, Any]]:
    """The head in the held-out sentences where it is strongest, of 255 parts each, and the cell that says so."""
    if heads.report is None or heads.translator is None:
        return []
    maps = []
    for text, row, column, *_ in heads.report["kinds"][head.kind]["examples"][head.layer][head.head]:
        result = heads.translated(heads.report["texts"][text])
        queries, keys, _ = axis_tokens(result, head.kind)
        weights = result.attention(head.kind)[head.layer, head.head]
        drawn = {"values": np.rint(255 * weights).astype(np.uint8), "mask": result.mask(head.kind).astype(np.uint8)}
        maps.append({"rows": queries, "columns": keys, "cell": [row, column], **drawn})
    return maps


def row_payload(row: TextRow) -> dict[str, Any]:
    """A row; its pieces are a text, [text, weight] of a key, and [text, weight, 1] of the query."""
    pieces: list[Any] = []
    for piece in row.pieces:
        if piece.is_query:
            pieces.append([piece.text, piece.weight, 1])
        else:
            pieces.append(piece.text if piece.weight is None else [piece.text, piece.weight])
    return {"page": row.page, "query": row.query, "pieces": pieces}


def _said(heads: ModelHeads, head: Head, groups: Mapping[str, Sequence[RowGroup]]) -> dict[str, Any]:
    """What is said of a head in the language of here, by view."""
    said = {}
    if heads.texts:
        name = heads.sources["texts"].title(head.kind, head.layer, head.head)
        card = head_card.head_card(heads.texts, head, name)
        histograms = [
            {
                "name": name,
                "axis": say(drawn.axis),
                "value": say(drawn.value),
                "bins": drawn.bins,
                "shares": drawn.shares,
            }
            for name, drawn in card.histograms.items()
        ]
        labels = {name: [group.labels() for group in of_name] for name, of_name in groups.items()}
        bars = [{**vars(bar), "shares": [{**vars(part), "ink": part.ink} for part in bar.shares]} for bar in card.bars]
        said["texts"] = {**asdict(card), "bars": bars, "histograms": histograms, "labels": labels}
    if heads.report and (roles := heads.sources.get("board")):
        said["board"] = asdict(held_out.held_out_card(heads.report, roles, head, heads.name))
    return said
