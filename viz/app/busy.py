"""Where visitors go on who wait because others compute: the page without a server, which their browsers run alone.

`make serve` gives it out beside the app, at the address in HEADLIGHT_SITE_URL, which may also be one elsewhere, as soon
as it is built into the folder in HEADLIGHT_SITE_FOLDER, where there is that variable. A page that waits asks
`headlight/busy` (viz/web/pages/busy.js), and shows a link there.
"""

import html
import os
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from streamlit.logger import get_logger

from viz.stage import assets
from viz.text.language import ENGLISH, LANGUAGES, PARAMETER, message, say, using
from viz.views.turns import TURNS

VARIABLE, FOLDER = "HEADLIGHT_SITE_URL", "HEADLIGHT_SITE_FOLDER"
PAGES = ("translate", "steer", "compare", "lessons")  # that the page without a server has, too: view/view.js of viz/web
PAGES += ("masks", "positions", "training", "atlas")  # view/pages.js
PATIENCE = 1.0  # seconds that a visitor may wait for others before a link is shown
LINE = message("The server is busy: continue in your browser, without waiting")
_ADDRESS = re.compile(r"""(https?:/)?/[^\s"'<>]*""")


def site() -> str:
    """Where the page without a server is given out; "" where it is not."""
    address = os.environ.get(VARIABLE, "").strip()
    if address and not _ADDRESS.fullmatch(address):
        get_logger(__name__).warning(f"{VARIABLE} is {address!r}: give a path, as /site/, or an address of the web")
        return ""
    return address


def head() -> str:
    """Tags for the head of every page, which tell busy.js where to lead; none where there is nowhere."""
    address = site()
    if not address:
        return ""
    link = f'<link rel="alternate" data-site href="{html.escape(address)}" data-pages="{" ".join(PAGES)}">'
    return f'{link}<script type="module" src="{assets.address_of("pages/busy.js")}"></script>'


def routes() -> list[BaseRoute]:
    """Where the app says whether somebody waits."""
    return [Route(f"{assets.root()}/headlight/busy", _busy)] if site() else []


async def _busy(request: Request) -> Response:
    """The sentence for the link, in the language of the request, while somebody waits for others; else nothing."""
    headers = {"cache-control": "no-store"}
    folder = os.environ.get(FOLDER)
    is_built = not folder or Path(folder, "index.html").is_file()
    if TURNS.longest_wait < PATIENCE or not is_built:
        return Response(status_code=204, headers=headers)
    language = request.query_params.get(PARAMETER, "")
    with using(language if language in LANGUAGES else ENGLISH):
        return JSONResponse({"line": say(LINE)}, headers=headers)
