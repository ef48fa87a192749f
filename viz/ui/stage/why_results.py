"""Why heads of a text look where they look, and what they write there: computed when a browser asks about it."""

from collections.abc import Mapping

from viz.stage import assets
from viz.stage.payload import why, writes
from viz.stage.payload.packing import pack
from viz.stage.payload.payloads import NoWhyPayload, NoWritesPayload, WhyPayload, WritesPayload
from viz.text import errors
from viz.text.language import current, using
from viz.views.cached import Request
from viz.views.score_traces import ScoreTrace, trace_of
from viz.views.turns import in_turn


def open_cell(request: Request, query: Mapping[str, str]) -> WhyPayload | NoWhyPayload | None:
    """The parts of the scores of the row that an address asks about; None where it asks about none that there is."""
    cell = why.cell_of(query)
    if not cell:
        return None
    try:
        trace = trace_of(request)
        if not _has(trace, cell):
            return None
        parts = trace.parts(cell.kind, cell.layer, cell.head)
    except ValueError as error:
        return why.no_payload(cell, errors.sentence(error))
    return in_turn(why.payload)(cell, parts, trace.weights(cell.kind, cell.layer)[cell.head])


def open_words(request: Request, query: Mapping[str, str]) -> WritesPayload | NoWritesPayload | None:
    """The words that the head writes that an address asks about; None where it asks about none that there is."""
    place = writes.place_of(query)
    if not place:
        return None
    try:
        trace = trace_of(request)
        if not _has(trace, place):
            return None
        if place.row is None and place.key is None:
            cells = trace.words_by_key(*place[:3], writes.IN_DICTIONARY)
        else:
            cells = [trace.words(*place)]
    except ValueError as error:
        return writes.no_payload(place, errors.sentence(error))
    return writes.payload(place, cells)


def _has(trace: ScoreTrace, place: why.Cell | writes.Place) -> bool:
    """Whether a text has a cell; what is not named of it is there."""
    result = trace.result
    if place.kind not in result.kinds or place.layer not in result.layers(place.kind):
        return False
    places = (place.head, place.row or 0, place.key or 0)
    return all(0 <= n < size for n, size in zip(places, trace.weights(place.kind, place.layer).shape))


def parts_address(request: Request) -> str:
    """Where a browser fetches the parts of the scores of a cell, or its words, which it names in the query."""
    language = current()

    def answer(query: Mapping[str, str]) -> bytes | None:
        with using(language):
            payload = open_cell(request, query) or open_words(request, query)
        return payload and pack(dict(payload))

    return assets.keep_answers(f"why {language} {request!r}", answer)


def shares_address(request: Request) -> str:
    """Where a browser fetches what decides where each head looks, which is computed then."""
    return assets.keep_later(repr(request), lambda: pack(dict(why.shares_payload(trace_of(request).shares()))))
