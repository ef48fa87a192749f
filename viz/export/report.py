"""A report of one translation: everything about it in one file, which needs neither a server nor a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import numpy as np

from model.translation import KINDS, Translation
from viz.export.page import Page
from viz.figures import attention_heatmap, head_overview, mask_heatmap, positional_heatmap
from viz.figures.export import titled
from viz.text import language, words
from viz.text.language import message, say

ADDRESS = "http://127.0.0.1:8501/"  # of the app, as `make run` serves it
TILES_IN_A_ROW = 8
HOW_TO_READ = message("Click a tile to draw its head large below. Point at a cell to read its number.")
SIDES = {
    "source": message("Positional encoding of the source"),
    "target": message("Positional encoding of the translation"),
}


@dataclass(frozen=True)
class Settings:
    """How a translation came about, as the report tells it.

    Attributes:
        checkpoint: its name.
        decoded: how it was decoded, in a sentence.
        card: what the checkpoint is, in a line.
        link: where a running app shows it; empty where the app has no such search.
        code: a Python program that makes it again.
        changes: what was changed inside the model, and what it writes without that, in sentences.
        head: kind, layer and head that is drawn large at first, each counted from 0; of other kinds the first one.
        language: of the report, a key of `viz.text.language.LANGUAGES`; the one of the sentences above, which are said
            where the settings are made. The report itself may be made where there is no visitor.
    """

    checkpoint: str
    decoded: str
    card: str
    link: str
    code: str
    changes: tuple[str, ...] = ()
    head: tuple[str, int, int] = ("", 0, 0)
    language: str = field(default_factory=language.current)


def link_to(address: str, state: Mapping[str, object], page: str = "") -> str:
    """A link to a page of an app.

    Args:
        address: of the app, any page of it.
        state: parameters by name.
        page: its path; Translate has none.

    Example:
        >>> link_to("http://127.0.0.1:8501/?kind=cross", {"text": "a & b", "beam": 4})
        'http://127.0.0.1:8501/?text=a+%26+b&beam=4'
    """
    origin = "/".join(address.split("?")[0].split("/")[:3])
    return f"{origin}/{page}?{urlencode(dict(state), doseq=True, errors='replace')}"


def report(result: Translation, settings: Settings) -> bytes:
    """Make the report.

    Args:
        result: the translation; of its trace weights, masks and positions are needed.
        settings: how it came about.

    Returns:
        An HTML file, plotly.js in it once.
    """
    with language.using(settings.language):
        return _made(result, settings)


def _made(result: Translation, settings: Settings) -> bytes:
    """Make it in the language that is spoken here."""
    quoted = say("“{text}”", text=result.source)
    page = Page(quoted)
    page.text(result.text or say("(the model wrote nothing)"), large=True)
    stopped = "" if result.finished else " " + say("The translation stopped at the length limit.")
    page.text(settings.decoded + stopped)
    for sentence in settings.changes:
        page.text(sentence)
    page.heading(say("Settings"))
    known = [(say("checkpoint"), settings.checkpoint), (say("about it"), settings.card), *vars(result.config).items()]
    page.table((say("setting"), say("value")), known)
    if settings.link:
        page.text(say("The same in a running app:"))
        page.link(settings.link)
    page.text(say("The same in Python, in the folder of the project:"))
    page.code(settings.code)
    page.heading(say("Tokens"))
    chances = [f"{p:.4f}" for p in np.exp(result.log_probabilities)]
    steps = zip(range(len(chances)), result.target_tokens, result.predicted_tokens, chances, strict=True)
    page.text(say("Source: {tokens}", tokens=" ".join(result.source_tokens)))
    page.table((say("step"), say("read"), say("predicted"), say("probability")), steps)
    note = f"{quoted} · {settings.checkpoint}"
    for kind in KINDS:
        _add_kind(page, result, kind, settings, note)
    _add_positions(page, result, note)
    return page.to_html()


def _add_kind(page: Page, result: Translation, kind: str, settings: Settings, note: str) -> None:
    """Add all heads of a kind, one of them large, and the mask; nothing where the model has no such attention."""
    try:
        weights, mask = result.attention(kind), result.mask(kind)
    except ValueError:
        return
    spoken = words.KINDS[kind]
    reading, query_axis = words.named_by(kind, words.READ)
    queries = result.source_tokens if kind == "encoder_self" else result.target_tokens
    keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
    axes = {"query_axis": query_axis, "key_axis": spoken.key_axis}
    chosen, layer, head = settings.head
    if chosen != kind or layer >= weights.shape[0] or head >= weights.shape[1]:
        layer, head = 0, 0
    of_kind = say(spoken.title)
    page.heading(of_kind)
    page.text(f"{reading} {say(HOW_TO_READ)}")
    overview = head_overview(
        weights,
        n_columns=min(TILES_IN_A_ROW, weights.shape[1]),
        shown=np.broadcast_to(mask, weights.shape),
        say=say,
    )
    large = attention_heatmap(
        weights[layer, head],
        queries,
        keys,
        **axes,
        mask=mask,
        predicted=None if kind == "encoder_self" else result.predicted_tokens,
        say=say,
    )
    places = say("layer {layer}, head {head}")
    place = places.format(layer=layer, head=head)
    name = f"headlight-{kind.replace('_', '-')}"
    page.overview(
        titled(overview, say("{kind}: all heads", kind=of_kind), note, clicks=True),
        f"{name}-all-heads",
        weights,
        titled(large, f"{of_kind}, {place}", note),
        name,
        (layer, head),
        places,
    )
    figure = mask_heatmap(mask, queries, keys, **axes, say=say)
    page.figure(titled(figure, say("{kind}: the mask that the model used", kind=of_kind), note), f"{name}-mask")


def _add_positions(page: Page, result: Translation, note: str) -> None:
    """Add the positional encodings that were added; nothing where the model has none."""
    for number, (side, title) in enumerate(SIDES.items()):
        try:
            table = result.positional(side)
        except ValueError:
            return
        if not number:
            page.heading(say("Positional encoding"))
            page.text(say("Rows are positions, columns are dimensions: the numbers that were added to the embeddings."))
        tokens = result.source_tokens if side == "source" else result.target_tokens
        figure = positional_heatmap(table, tokens, say=say)
        page.figure(titled(figure, say(title), note), f"headlight-positions-{side}")
