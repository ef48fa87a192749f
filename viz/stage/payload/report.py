"""The report of a translation: what stands below the stage where it leaves as a file."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlencode, urljoin

import numpy as np

from model.results.translation import Translation
from viz.figures.labels import spell_bytes
from viz.stage.payload.payloads import ReportPart
from viz.text.language import say

ADDRESS = "http://127.0.0.1:8501/"  # of the app, as `make run` serves it


def link_to(address: str, state: dict[str, str], page: str = "") -> str:
    """A link to a page of an app, given the address of any page.

    >>> link_to("http://127.0.0.1:8501/?kind=cross", {"text": "a & b", "beam": 4})
    'http://127.0.0.1:8501/?text=a+%26+b&beam=4'
    """
    return f"{urljoin(address, '/' + page)}?{urlencode(state, errors='replace')}"


def report(
    result: Translation, *, checkpoint: str, card: str, decoded: str, link: str, code: str, changes: Sequence[str] = ()
) -> list[ReportPart]:
    """How a translation came about, its settings, and its tokens.

    Args:
        card, decoded: what the checkpoint is, and how it decoded, in sentences.
        link, code: where a running app shows it, if it can, and a Python program that makes it again.
        changes: inside the model, and what it writes without them, in sentences.
    """
    stopped = [] if result.finished else [say("The translation stopped at the length limit.")]
    source = " ".join(spell_bytes(result.source_tokens))
    settings = [(say("checkpoint"), checkpoint), (say("about it"), card), *vars(result.config).items()]
    columns = (say("step"), say("read"), say("predicted"), say("probability"))
    parts = [
        _part("h1", say("“{text}”", text=result.source)),
        _part("p", result.text or say("(the model wrote nothing)")),
        _part("p", " ".join([decoded, *stopped, *changes])),
    ]
    if link:
        parts += [_part("p", say("The same in a running app:")), _part("a", link)]
    return [
        *parts,
        _part("p", say("The same in Python, in the folder of the project:")),
        _part("pre", code),
        _part("h2", say("Settings")),
        _table((say("setting"), say("value")), settings),
        _part("h2", say("Tokens")),
        _part("p", say("Source: {tokens}", tokens=source)),
        _table(columns, _steps(result)),
    ]


def _steps(result: Translation) -> Iterator[tuple[object, ...]]:
    """Each step: its number, the token that was read, the one that was predicted, and its probability."""
    chances = [say("{p:.4f}", p=p) for p in np.exp(result.log_probabilities)]
    inputs, predicted = map(spell_bytes, (result.target_tokens, result.predicted_tokens))
    return zip(range(len(chances)), inputs, predicted, chances, strict=True)


def _part(tag: str, text: str) -> ReportPart:
    return {"tag": tag, "text": text}


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> ReportPart:
    return {"tag": "table", "rows": [list(columns), *([str(cell) for cell in row] for row in rows)]}
