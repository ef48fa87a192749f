"""The Head atlas over many texts in the app: what its browser is told, fetches and keeps.

A browser draws it (viz/web/sheets/makers/atlas/texts.js), as on the page without a server.
"""

import secrets
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from model.interventions.edits import Head
from model.storage.checkpoint import available
from viz.pages.atlas import contents, histograms, idea_file, own_text, points
from viz.pages.atlas.contents import ModelHeads
from viz.stage.payload import head_card
from viz.stage.payload.packing import pack
from viz.text.language import current, message, say
from viz.ui import controls
from viz.ui.models import heads_roles
from viz.views import codes, model_shelf, recipes
from viz.views.results import corpus_results, head_boards, heads_results
from viz.views.results.corpus_results import Corpus
from viz.views.snippets import Origin, Plot

NAME = contents.NAME
_MEASURED: "WeakValueDictionary[str, Corpus]" = WeakValueDictionary()  # indexes of visitors, as long as they are there


def name_of(corpus: Corpus) -> str:
    """What a browser calls an index: "" one that ships, others a name that nobody can guess."""
    if corpus.texts is None:
        return ""
    for name, kept in _MEASURED.items():
        if kept is corpus:
            return name
    name = secrets.token_urlsafe(9)
    _MEASURED[name] = corpus
    return name


def asks_of(corpus: Corpus, text: Any) -> dict[str, str]:
    """The parameters by which a browser asks for what is made of an index and of a visitor's text, as it has texts."""
    source, reference = (text or "", "") if isinstance(text, str | None) else text
    asks = {"model": corpus.model, "corpus": name_of(corpus), "text": source, "reference": reference}
    return {name: value for name, value in asks.items() if value}


def told(corpus: Corpus, views: Mapping[str, str], text: Any) -> dict[str, Any]:
    """What the page is told of an index.

    Args:
        views: the names of the parts of the page by code, in English.
        text: of the visitor, as an index has texts.
    """
    heads = _heads(corpus)
    about = contents.told_of([heads])
    return about | {
        "in_app": True,
        "models": {heads.name: {"texts": source_of(corpus)}},
        "views": [[code, say(name)] for code, name in views.items()],
        "points": {
            "sides": {code: say(name) for code, name in points.SIDES.items()},
            "colours": {code: say(name) for code, name in points.COLOURS.items()},
        },
        "problems": idea_file.problems(),
        "command": corpus.report["command"] if corpus.texts is None else "",
        "reads_text": bool(text),
    }


def source_of(corpus: Corpus) -> str:
    """Which texts an index is over, and where they are from."""
    if corpus.texts is None:
        return head_card.source(corpus)
    report = corpus.report
    line = message("{texts:,} texts, {tokens:,} tokens, measured in this session. {source}")
    values = {"texts": report["texts_read"], "tokens": report["tokens"]}
    line = say(line, source=corpus.texts.credit or corpus.texts.name, **values)
    if report["texts_left_out"]:
        left_out = message("{n:,} of the texts could not be read: too long or too short for this model.")
        line += " " + say(left_out, n=report["texts_left_out"])
    return line


def _heads(corpus: Corpus) -> ModelHeads:
    """The heads of the index, with the roles of the atlas of the same weights."""
    return ModelHeads(corpus.model, corpus, heads_results.usable_report(corpus.model), views=["texts"])


def _corpus(asked: Mapping[str, str]) -> Corpus:
    """The index of some parameters; a KeyError where there is none."""
    if asked["model"] not in (*controls.translators(), *available("language_model"), *model_shelf.SHELF.names()):
        raise KeyError(asked["model"])
    name = asked.get("corpus", "")
    corpus = _MEASURED[name] if name else corpus_results.corpus_of(asked["model"])
    if corpus is None or corpus.model != asked["model"]:
        raise KeyError(asked["model"])
    return corpus


def _head(heads: ModelHeads, asked: Mapping[str, str]) -> Head:
    """The head of an address, else the first one; its layer is numbered as in the model."""
    source = heads.sources["texts"]
    kinds = source.kinds
    first = heads.first
    chosen, _ = codes.read(asked, {"kind": codes.one_of(kinds)})
    kind = chosen.get("kind", first.kind)
    usual = first if kind == first.kind else Head(kind, 0, 0)
    n_layers, n_heads = len(kinds[kind]["role"]), len(kinds[kind]["role"][0])
    numbers = [source.number(kind, layer) for layer in range(n_layers)]
    readers = {"layer": codes.one_of(numbers), "head": codes.number(0, n_heads - 1)}
    chosen, _ = codes.read(asked, readers)
    layer = numbers.index(chosen["layer"]) if "layer" in chosen else usual.layer
    return Head(kind, layer, int(chosen.get("head", usual.head)))


def _text(asked: Mapping[str, str]) -> Any:
    """The visitor's own text, as the index has texts; None without one."""
    source, reference = asked.get("text", ""), asked.get("reference", "")
    return (source, reference) if reference else source or None


def file(name: str, asked: Mapping[str, str]) -> bytes:
    """What is fetched when it is needed, packed.

    Args:
        name: that of the model, and below it "here", "points", "edges", or the place of a head as kind-layer-head.

    Raises:
        KeyError: There is none of this name.
        ValueError: It cannot be made: a text cannot be read.
    """
    corpus = _corpus(asked)
    heads = _heads(corpus)
    only = [current()]
    if name == heads.name:
        return pack(contents.board_file(heads, True, only))
    part = name.removeprefix(f"{heads.name}/")
    if part == idea_file.NAME:
        if corpus.edge_texts is None:
            raise KeyError(name)
        return pack(idea_file.idea_file(corpus.edge_texts))
    if part == "here":
        return pack(own_text.payload(corpus, _head(heads, asked), _text(asked)))
    if part == "points":
        return pack(points.payload(corpus, _head(heads, asked), asked))
    places = heads.sources["texts"].places(list(corpus.report["kinds"]))
    head = {f"{kind}-{layer}-{number}": Head(kind, layer, number) for kind, layer, number in places}[part]
    return pack(contents.head_file(heads, head, only))


def plots(asked: Mapping[str, str]) -> dict[str, Plot]:
    """The board of all heads, and the pictures of one: histograms or points; errors as for `file`."""
    corpus = _corpus(asked)
    heads = _heads(corpus)
    head = _head(heads, asked)
    origin = Origin(corpus.model, recipes.load_code(corpus.model) if corpus.texts is None else "")
    pictures = {"role-board": _board(heads, corpus, head, asked, origin)}
    if asked.get("over-texts") == "numbers":
        pictures |= histograms.plots(corpus, head, _text(asked), origin)
    if asked.get("over-texts") == "points":
        pictures |= points.plots(corpus, head, asked, origin)
    return pictures


def _board(heads: ModelHeads, corpus: Corpus, head: Head, asked: Mapping[str, str], origin: Origin) -> Plot:
    """All heads by the measures of an address."""
    source = heads.sources["texts"]
    names = corpus.measure_names
    readers = {"texts-colour": codes.one_of(names), "texts-sort": codes.one_of(["place", *names])}
    chosen, _ = codes.read(asked, readers)
    measure, sort = chosen.get("texts-colour", "unexplained"), chosen.get("texts-sort", "place")
    measures = [name for name in (measure, sort) if name != "place"]
    kinds = [kind for kind, numbers in source.kinds.items() if all(name in numbers for name in measures)]
    if not kinds:
        raise KeyError(measure)
    kinds = head_boards.equally_wide(source, kinds, head)
    picture = head_boards.picture_of(source, kinds, measure, sort=sort, name=names[measure])
    return heads_roles.board_plot(picture, head, origin)
