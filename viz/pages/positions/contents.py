"""The page Positions as data: what a browser is told that computes and draws it, in the app and without a server.

Encodings and what is measured of them are computed there. What needs PyTorch is asked of the app, and recorded for the
page without a server: the trained table, what heads make of positions, and the losses of language models beyond their
trained length. Words in another order are computed by the engine there, by the app here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from viz.pages.positions import beyond, compared, encoding, kernels, order, reading, rotary
from viz.pages.positions.page import EXAMPLE, Choice, choice_of
from viz.stage.payload.packing import pack
from viz.text import words, words_positions
from viz.text.language import messages, say
from viz.text.words_positions import ENCODINGS, RELATIVE, STEER
from viz.ui import controls
from viz.views import cached
from viz.views.snippets import Plot

NAME = "positions"  # of its address
WORDS = messages(
    recorded_sizes=(
        "The trained table is recorded with {positions} positions and {dimensions} dimensions; the app trains other "
        "sizes: make run."
    ),
    use_sizes="Show these sizes",
    only_sizes="{positions} × {dimensions} only",
    trains="trains when chosen",
    showing_example="Showing the example.",
    showing_last="Showing the last one that worked.",
    trained_0="off in the encoder",
    trained_1="as trained",
    head_name="{kind}, layer {layer}, head {head}",
    layer_head="Layer {layer}, head {head}",
    table_cell="{column} {n}, {row} {m}: {value}",
    loss_of="{name}: loss by position",
    examples="Examples",
    no_models="No model here has heads whose positions can be seen.",
    no_positions="{model} has no positions that its heads could read.",
    no_translator="No translation model found.",
) | {"hint": controls.HINT}
GROUPS = {  # of sentences that app and browser share, by what their names begin with
    "answer": words_positions.ANSWERS,
    "label": words_positions.LABELS,
    "table": words_positions.OF_TABLES,
    "order": words_positions.ORDERS,
    "heads": words_positions.OF_HEADS,
    "rotary": words_positions.ROTARY_HEAD,
    "long": words_positions.TOO_LONG,
    "view": words_positions.VIEWS,
    "kind": words.SHORT_KINDS,
}
PLOTS: dict[str, Callable[[Choice], dict[str, Plot]]] = {  # by view
    "encoding": encoding.plots,
    "difference": compared.difference,
    "similarity": compared.similarity,
    "wavelengths": compared.wavelengths,
    "kernels": kernels.plots,
    "order": order.plots,
    "rotary": rotary.plots,
    "beyond": beyond.plots,
}
DATA: dict[str, Callable[[Choice], dict[str, Any]]] = {  # by file
    "learned": encoding.learned_data,
    "reads": reading.data,
    "kernels": kernels.data,
    "rotary": rotary.data,
    "order": order.data,
    "beyond": beyond.data,
}
OF_TEXT = ["encoding", "kernels", "order", "rotary"]  # the views whose sentence the visitor may choose


def told(in_app: bool = False, model: str = "") -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here.

    Args:
        in_app: there other tables are trained, and heads may read the visitor's sentence.
        model: whose heads are looked at; else, and where it has no positions, the default one.
    """
    name = reading.usable_model(model)
    translator, problem = controls.default_translator()
    sentences = {f"{group}.{name}": text for group, texts in GROUPS.items() for name, text in texts.items()}
    sentences |= {f"title.{kind}": of_kind.title for kind, of_kind in words.KINDS.items()}
    sentences |= {f"{axis}.{kind}": text for kind in words.KINDS for axis, text in words.axes(kind).items()}
    sentences |= {"learned": words_positions.LEARNED, **WORDS}
    said = {name: say(text) for name, text in sentences.items()}
    return {
        "words": said | {"sentence": words.sentence_in(translator.card.get("source") if translator else "en")},
        "encodings": {code: {"name": say(name), "about": say(about)} for code, (name, about) in ENCODINGS.items()},
        "relative": RELATIVE,
        "steer": [{"name": say(name), "query": query} for name, query in STEER.items()],
        "views": _views(),
        "of_text": OF_TEXT if in_app else ["order"],
        "text": EXAMPLE,
        "examples": [[say(name), text] for name, text in words.EXAMPLES.items()],
        "recorded": encoding.recorded_sizes(trains=in_app),
        "trains": in_app,
        "model": name,
        "own": reading.positional_of(name) if name else "none",
        "translator": cached.default_checkpoint() if translator else None,
        "no_translator": problem,
        "beyond": {name: beyond.encoding_of(name) for name in beyond.context_losses()},
    }


def _views() -> list[str]:
    """The views that can be shown."""
    is_there = {"rotary": rotary.rotary_model() is not None, "beyond": bool(beyond.context_losses())}
    return [view for view in words_positions.VIEWS if is_there.get(view, True)]


def files() -> dict[str, bytes]:
    """What is fetched when a view of the page is opened, by name, at the defaults."""
    views = _views()
    return {name: file(name, {}) for name in DATA if name not in words_positions.VIEWS or name in views}


def file(name: str, asked: Mapping[str, str]) -> bytes:
    """One of these files at the parameters of an address, packed.

    Raises:
        KeyError: There is none of this name.
        ValueError: It cannot be computed: says what is wrong with the sentence.
    """
    return pack(DATA[name](choice_of(asked)))


def plots(asked: Mapping[str, str]) -> dict[str, Plot]:
    """The pictures at the parameters of an address, by name; errors as for `file`."""
    choice = choice_of(asked)
    return PLOTS[choice.view](choice)
