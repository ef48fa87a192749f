"""plotly.js at an address of its own, for pictures of figures: Streamlit's copy is bundled and offers no way in."""

from __future__ import annotations

from plotly import offline
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ADDRESS = "/plotly.min.js"


async def _plotly(_: Request) -> Response:
    """Answer with what Plotly's Python package ships; a browser asks with the first picture, and keeps it."""
    headers = {"cache-control": "public, max-age=604800"}
    return Response(offline.get_plotlyjs(), media_type="text/javascript", headers=headers)


PLOTLY_ROUTE = Route(ADDRESS, _plotly)
