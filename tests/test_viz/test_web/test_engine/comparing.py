"""What the engine answers, beside what Python computes for the same request."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.experiments.positions import changed_positions
from model.interventions.edits import Edits
from model.interventions.patches import Donor
from model.results.translation import Translation
from model.running.translator import Translator

WEIGHTS, LOGS = 2e-5, 1e-4  # how near weights must be, and log-probabilities in nats
CANDIDATES = 5


@dataclasses.dataclass(frozen=True)
class Request:
    """What both translate, with a change of positions as for `changed_positions`."""

    text: str
    beam: int = 4
    edits: Edits = Edits()
    prefix: tuple[int, ...] = ()
    positions: dict[str, Any] = dataclasses.field(default_factory=dict)
    target: str | None = None
    penalty: float = 0.6
    traced: bool = False
    donor: Request | None = None  # whose result patches among the edits are taken from

    def for_engine(self) -> dict[str, Any]:
        """As viz/web/engine/run/translator.js takes it."""
        edits = dataclasses.asdict(dataclasses.replace(self.edits, donor=None))
        del edits["donor"]
        values = dataclasses.asdict(dataclasses.replace(self, edits=Edits(), donor=None))
        values |= {"edits": edits, "donor": self.donor and self.donor.for_engine()}
        return {name: value for name, value in values.items() if value is not None}

    def by_python(self, translator: Translator) -> Translation:
        """The reference."""
        edits = self.edits
        if self.donor is not None:
            plain = dataclasses.replace(self, edits=Edits(), donor=None)
            donor = Donor.between(self.donor.by_python(translator), plain.by_python(translator))
            edits = dataclasses.replace(edits, donor=donor)
        with changed_positions(translator.config.positional, **self.positions):
            if self.target is not None:
                return translator.force(self.text, self.target, edits)
            return translator.translate(self.text, self.beam, self.penalty, edits, self.prefix)


def assert_same(answer: dict[str, Any], result: Translation, logs: float = LOGS, weights: float = WEIGHTS) -> None:
    """Texts and tokens are equal, weights as near as `weights`, log-probabilities as `logs`."""
    assert answer.get("error") is None
    assert answer["text"] == result.text
    for name in ("source", "source_tokens", "target_tokens", "predicted_tokens", "predicted_ids", "finished"):
        assert answer[name] == getattr(result, name), name
    near(answer["log_probabilities"], result.log_probabilities, logs)
    for kind, maps in answer["attention"].items():
        near(maps, result.attention(kind), weights)
        assert (answer["masks"][kind] == result.mask(kind)).all(), kind
    for side, encoding in answer["positions"].items():
        near(encoding, result.positional(side), WEIGHTS)
    assert_same_candidates(answer, result.trace["logits"], logs)
    if result.search is not None:
        assert_same_search(answer["search"], result, logs)


def assert_same_candidates(answer: dict[str, Any], logits: np.ndarray, within: float) -> None:
    """The most probable words of each step, in any order where they are that near each other."""
    _, log_probabilities = analysis.candidates(logits, CANDIDATES)
    near(answer["candidates"]["log_probabilities"], log_probabilities, within)
    theirs = np.take_along_axis(analysis.log_softmax(logits), np.array(answer["candidates"]["ids"]), axis=1)
    near(theirs, log_probabilities, within)
    logs = analysis.log_softmax(logits)
    near(answer["entropies"], -(np.exp(logs) * logs).sum(-1), 1e-3)


def assert_same_search(search: dict[str, Any], result: Translation, within: float) -> None:
    """The same tree, node by node, and the same hypotheses."""
    tree = result.search.tree
    for name in ("parent", "token", "fate"):
        assert search["tree"][name] == getattr(tree, name), name
    for name in ("log_probability", "total"):
        near(search["tree"][name], getattr(tree, name), within * len(result.predicted_ids))
    ours = [(hypothesis["ids"], hypothesis["finished"], hypothesis["node"]) for hypothesis in search["hypotheses"]]
    assert ours == [(hypothesis.ids, hypothesis.finished, hypothesis.node) for hypothesis in result.search.hypotheses]
    near(
        [hypothesis["score"] for hypothesis in search["hypotheses"]],
        [hypothesis.score for hypothesis in result.search.hypotheses],
        within,
    )


def near(actual: Sequence | np.ndarray, expected: Sequence | np.ndarray, within: float) -> None:
    """Two arrays of one shape agree, absolutely."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within)
