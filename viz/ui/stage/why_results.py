"""Why heads of a text look where they look: what a browser asks about, computed when it asks."""

from collections.abc import Mapping

from viz.stage import assets
from viz.stage.payload import why
from viz.stage.payload.packing import pack
from viz.stage.payload.payloads import NoWhyPayload, WhyPayload
from viz.text import errors
from viz.text.language import current, using
from viz.views.cached import Request
from viz.views.score_traces import trace_of
from viz.views.turns import in_turn


def open_cell(request: Request, query: Mapping[str, str]) -> WhyPayload | NoWhyPayload | None:
    """The parts of the scores of the row that an address asks about; None where it asks about none that there is."""
    cell = why.cell_of(query)
    if not cell:
        return None
    try:
        trace = trace_of(request)
        result = trace.result
        if cell.kind not in result.kinds or cell.layer not in result.layers(cell.kind):
            return None
        weights = trace.weights(cell.kind, cell.layer)  # (H, T, S)
        places = (cell.head, cell.row, 0 if cell.key is None else cell.key)
        if not all(0 <= place < size for place, size in zip(places, weights.shape)):
            return None
        parts = trace.parts(cell.kind, cell.layer, cell.head)
    except ValueError as error:
        return why.no_payload(cell, errors.sentence(error))
    return in_turn(why.payload)(cell, parts, weights[cell.head])


def parts_address(request: Request) -> str:
    """Where a browser fetches the parts of the scores of a cell, which it names in the query."""
    language = current()

    def answer(query: Mapping[str, str]) -> bytes | None:
        with using(language):
            payload = open_cell(request, {**query, "view": "why"})
        return payload and pack(dict(payload))

    return assets.keep_answers(f"why {language} {request!r}", answer)


def shares_address(request: Request) -> str:
    """Where a browser fetches what decides where each head looks, which is computed then."""
    return assets.keep_later(repr(request), lambda: pack(dict(why.shares_payload(trace_of(request).shares()))))
