"""A report of one translation: how it came about, its tokens, and the stage, in one file that needs no network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import numpy as np

from model.translation import Translation
from viz.stage.alone import StagePage
from viz.stage.message import Shown, built
from viz.stage.message import message as message_of
from viz.text import language
from viz.text.language import say
from viz.views import maps

ADDRESS = "http://127.0.0.1:8501/"  # of the app, as `make run` serves it


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
        place: what is open at first, by the names of an address.
        language: of the report, a key of `viz.text.language.LANGUAGES`; the one of the sentences above, which are said
            where the settings are made. The report itself may be made where there is no visitor.
    """

    checkpoint: str
    decoded: str
    card: str
    link: str
    code: str
    changes: tuple[str, ...] = ()
    place: Mapping[str, object] = field(default_factory=dict)
    language: str = field(default_factory=language.current)


def link_to(address: str, state: Mapping[str, object], page: str = "") -> str:
    """A link to a page of an app, given the address of any page, parameters by name, and its path.

    Example:
        >>> link_to("http://127.0.0.1:8501/?kind=cross", {"text": "a & b", "beam": 4})
        'http://127.0.0.1:8501/?text=a+%26+b&beam=4'
    """
    origin = "/".join(address.split("?")[0].split("/")[:3])
    return f"{origin}/{page}?{urlencode(dict(state), doseq=True, errors='replace')}"


def report(
    result: Translation, settings: Settings, candidates: Sequence = (), entropy: np.ndarray | None = None
) -> bytes:
    """The report, an HTML file; candidates and entropy as of `viz.stage.message.Shown`."""
    with language.using(settings.language):
        made = built(result, maps.Options(), "predicted")
        told = message_of(Shown(result, made, np.exp(result.log_probabilities), candidates, entropy))
        below = f'<section class="hl-report">{"".join(_parts(result, settings))}</section>'
        page = StagePage(told, dict(settings.place)).to_html(below, settings.language)
    return page.encode("utf-8", "replace")


def _parts(result: Translation, settings: Settings) -> Iterable[str]:
    """What stands below the stage; every text is escaped."""
    yield _part("h1", say("“{text}”", text=result.source))
    yield _part("p", result.text or say("(the model wrote nothing)"))
    stopped = [] if result.finished else [say("The translation stopped at the length limit.")]
    yield _part("p", " ".join([settings.decoded, *stopped, *settings.changes]))
    if settings.link:
        address = html.escape(settings.link)
        yield _part("p", say("The same in a running app:"))
        yield f'<p><a href="{address}" rel="noreferrer">{address}</a></p>'
    yield _part("p", say("The same in Python, in the folder of the project:")) + _part("pre", settings.code)
    yield _part("h2", say("Settings"))
    known = [(say("checkpoint"), settings.checkpoint), (say("about it"), settings.card), *vars(result.config).items()]
    yield _table((say("setting"), say("value")), known)
    yield _part("h2", say("Tokens"))
    yield _part("p", say("Source: {tokens}", tokens=" ".join(result.source_tokens)))
    chances = [f"{p:.4f}" for p in np.exp(result.log_probabilities)]
    steps = zip(range(len(chances)), result.target_tokens, result.predicted_tokens, chances, strict=True)
    yield _table((say("step"), say("read"), say("predicted"), say("probability")), steps)


def _part(tag: str, text: object) -> str:
    return f"<{tag}>{html.escape(str(text))}</{tag}>"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [[_part("th", cell) for cell in header], *([_part("td", cell) for cell in row] for row in rows)]
    return f"<table>{''.join('<tr>' + ''.join(cells) + '</tr>' for cells in lines)}</table>"
