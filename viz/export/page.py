"""A web page with one figure that stands for itself: plotly.js in it, nothing fetched."""

import html
import json
from pathlib import Path

from plotly.offline import get_plotlyjs

from viz.figures import Figure
from viz.text import language
from viz.text.language import messages, say

_SCRIPT = Path(__file__).parents[1] / "web/plot/page.js"
# The file may hand out pictures of itself, and ask nobody for anything.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
# What Plotly's buttons and notes say, and the button that page.js adds.
_SAID = messages(
    buttons=(
        "Download plot as a PNG",
        "Download plot as an SVG",
        "Zoom",
        "Pan",
        "Zoom in",
        "Zoom out",
        "Reset axes",
        "Preparing image - this may take a few seconds",
        "Image download succeeded",
        "Sorry, there was a problem downloading your image!",
        "Double-click to zoom back out",
        "Double-click on legend to isolate one trace",
    )
)
_STYLE = """
body { margin: 0 auto; max-width: 75rem; padding: 1.5rem; background: #fff; color: #222;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; }
p { unicode-bidi: plaintext; }
.figure { overflow-x: auto; } .figure > div { min-width: 22rem; }
"""


def of_figure(figure: Figure, title: str, note: str, name: str) -> bytes:
    """The file of a figure with its title inside; a picture of it becomes a file of that name."""
    # Nothing in them can end the script that they stand in.
    buttons = json.dumps({text: say(text) for text in _SAID["buttons"]})
    chart, buttons = (text.replace("<", "\\u003c") for text in (str(figure.to_json()), buttons))
    title, note, name, description = map(html.escape, (title, note, name, figure.description))
    text = (
        f'<!DOCTYPE html>\n<html lang="{language.current()}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
        f'<h1>{title}</h1><p>{note}</p><div class="figure"><div role="img" aria-label="{description}" id="place" '
        f'data-name="{name}"></div></div><p>{description}</p>'
        f'<script type="application/json" id="figure">{chart}</script>'
        f'<script type="application/json" id="buttons">{buttons}</script><script>{get_plotlyjs()}</script>'
        f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script></body></html>\n"
    )
    return text.encode("utf-8", "replace")
