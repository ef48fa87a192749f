"""Circuits on the stage: what a browser asks about, computed when it asks; nothing on the page waits for it."""

from collections.abc import Mapping
from typing import Any

from model.analysis.effects import RUNNER_UP
from viz.stage import assets, words
from viz.stage.payload import circuit as payloads
from viz.stage.payload.packing import pack
from viz.text import errors
from viz.text.language import current, using
from viz.ui.texts import examples_of
from viz.views import codes
from viz.views.cached import Request
from viz.views.results import circuit_results as results
from viz.views.results.circuit_results import KeptRequest, WordRequest
from viz.views.view import MOST_CHARACTERS

PARTS = ("word", "kept", "edge", "graph")
_READERS = {
    "part": codes.one_of(PARTS),
    "step": codes.number(-1, MOST_CHARACTERS),
    "least": codes.number(results.LEAST, 1.0),
    "edge": codes.number(0, 10_000),
}


def numbers_address(request: Request) -> str:
    """Where a browser fetches what is computed of a text.

    The query says which `part`: "word" with the `step` that it follows and what it is compared with (`against`);
    "kept", what the answer keeps of it from the share `least` on; "edge", one cut, by its number; "graph", of all
    heads. `ask=progress` asks how much of that is done.
    """
    language = current()
    texts = results.texts_beside(request, list(examples_of(request.model).values()))

    def answer(query: Mapping[str, str]) -> bytes | None:
        values, problems = codes.read(query, _READERS)
        if problems or "part" not in values:
            return None
        word = WordRequest(request, values.get("step", -1), query.get("against", RUNNER_UP)[:MOST_CHARACTERS])
        kept = KeptRequest(word, values.get("least", results.LEAST), texts)
        if query.get("ask") == "progress":
            keys = {"word": word.key, "kept": kept.key, "graph": results.graph_key(request)}
            return pack({"share": results.circuits().share(keys.get(values["part"]))})
        with using(language):
            try:
                numbers = _numbers(values["part"], request, word, kept, values.get("edge", 0))
                return None if numbers is None else pack(dict(numbers))
            except ValueError as error:
                return pack({"reason": errors.sentence(error)})

    return assets.keep_answers(f"circuit {language} {request!r}", answer)


def _numbers(part: str, request: Request, word: WordRequest, kept: KeptRequest, edge: int) -> Mapping[str, Any] | None:
    """The numbers of a part; None of an edge that there is not."""
    if part == "graph":
        return payloads.graph_payload(results.graph(request))
    circuit = word.circuit()
    if part == "word":
        answer, other = word.names(circuit)
        return payloads.word_payload(circuit, words.label(answer), other and words.label(other), results.LEAST)
    if part == "kept":
        return payloads.kept_payload(*kept.faithfulness(), kept.threshold)
    if edge >= len(circuit.edges):
        return None
    return payloads.edge_payload(results.cut(word, edge), circuit)
