"""A web page that stands for itself: texts, tables and figures in one file, plotly.js in it once, nothing fetched."""

from __future__ import annotations

import base64
import html
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from plotly.offline import get_plotlyjs

from viz.figures import Drawn, labels
from viz.figures.export import in_html
from viz.text import language
from viz.text.language import message, say

_SCRIPT = Path(__file__).with_name("page.js")
# The file may draw and may hand out pictures of itself; it may ask nobody for anything.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
# What Plotly's buttons and notes say, and the button that page.js adds.
BUTTONS = (
    message("Download plot as a PNG"),
    message("Download plot as an SVG"),
    message("Zoom"),
    message("Pan"),
    message("Zoom in"),
    message("Zoom out"),
    message("Reset axes"),
    message("Preparing image - this may take a few seconds"),
    message("Image download succeeded"),
    message("Sorry, there was a problem downloading your image!"),
    message("Double-click to zoom back out"),
    message("Double-click on legend to isolate one trace"),
)
_STYLE = """
body { margin: 0 auto; max-width: 75rem; padding: 1.5rem; background: #fff; color: #222;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; } .large { font-size: 1.4rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; padding: 0.2rem 0.8rem; border-bottom: 1px solid #ddd; }
th, td { overflow-wrap: break-word; }
p, th, td { unicode-bidi: plaintext; }
pre { overflow-x: auto; background: #f6f6f6; padding: 0.8rem; }
.figure { overflow-x: auto; } .figure > div { min-width: 22rem; }
"""


@dataclass
class Page:
    """A page that is put together part by part; every text is escaped.

    Args:
        title: of the page.
        language: of its texts, a key of `LANGUAGES`; the one spoken where the page is begun if left out.
    """

    title: str
    language: str = field(default_factory=language.current)
    _parts: list[str] = field(default_factory=list)
    _numbers: itertools.count = field(default_factory=itertools.count)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str, large: bool = False) -> None:
        """Add a paragraph."""
        kind = ' class="large"' if large else ""
        self._parts.append(f"<p{kind}>{html.escape(text)}</p>")

    def code(self, text: str) -> None:
        """Add lines of a program."""
        self._parts.append(f"<pre>{html.escape(text)}</pre>")

    def link(self, address: str) -> None:
        """Add a link that is its own text; only to web pages."""
        if not address.startswith(("http://", "https://")):
            raise ValueError(f"the link {address!r} leads nowhere: allowed are http:// and https://")
        escaped = html.escape(address)
        self._parts.append(f'<p><a href="{escaped}" rel="noreferrer">{escaped}</a></p>')

    def table(self, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table."""

        def row(cells: Iterable[object], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(cells, "td") for cells in rows)
        self._parts.append(f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>")

    def figure(self, figure: Drawn, name: str) -> str:
        """Add a figure.

        Args:
            figure: with its title inside.
            name: of the file that a picture of it becomes.

        Returns:
            What the figure is called in the page.
        """
        return self._figure(figure, name, "")

    def overview(
        self,
        figure: Drawn,
        name: str,
        weights: np.ndarray,
        large: Drawn,
        large_name: str,
        place: tuple[int, int],
        place_in_title: str,
    ) -> None:
        """Add the overview of all heads, and below it the map of one, which a click in the overview exchanges.

        Args:
            figure: of `head_overview`.
            name: as for `figure`.
            weights: float32 (L, H, T, S), what the overview draws.
            large: of `attention_heatmap`, its head named in its title.
            large_name: as for `figure`.
            place: layer and head of the large one, counted from 0.
            place_in_title: how the title names them, with {layer} and {head} in the places of the numbers.
        """
        numbers = f"n{next(self._numbers)}"
        content = {
            "shape": weights.shape,
            "bytes": base64.b64encode(weights.astype("<f4").tobytes()).decode(),
            "shown": place,
            "named": labels.escape(place_in_title),
        }
        self._parts.append(f'<script type="application/json" id="{numbers}">{json.dumps(content)}</script>')
        self._figure(figure, name, f' data-heads="{numbers}" data-opens="large-{numbers}"')
        self._figure(large, large_name, f' id="large-{numbers}"')

    def _figure(self, figure: Drawn, name: str, more: str) -> str:
        key = f"n{next(self._numbers)}"
        label = html.escape(figure.description)
        self._parts.append(
            f'<div class="figure"><div role="img" aria-label="{label}" data-figure="{key}" '
            f'data-name="{html.escape(name)}"{more}></div></div>'
            f'<script type="application/json" id="{key}">{in_html(figure)}</script>'
        )
        return key

    def to_html(self) -> bytes:
        """The whole file, UTF-8."""
        title = html.escape(self.title)
        with language.using(self.language):
            buttons = json.dumps(spoken_buttons()).replace("<", "\\u003c")
        text = (
            f'<!DOCTYPE html>\n<html lang="{self.language}"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
            f"<h1>{title}</h1>{''.join(self._parts)}"
            f'<script type="application/json" id="buttons">{buttons}</script><script>{get_plotlyjs()}</script>'
            f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script></body></html>\n"
        )
        return text.encode("utf-8", "replace")


def spoken_buttons() -> dict[str, str]:
    """What Plotly's buttons and notes say in the present language, by what they say in English."""
    return {text: say(text) for text in BUTTONS}


def of_figure(figure: Drawn, title: str, note: str, name: str) -> bytes:
    """A page with one figure.

    Args:
        figure: with its title inside.
        title, note: what it shows, and of what, whole.
        name: of the file that a picture of it becomes.

    Returns:
        The file.
    """
    page = Page(title)
    page.text(note)
    page.figure(figure, name)
    page.text(figure.description)
    return page.to_html()
