"""What the stage says of heads: roles over many sentences or in one text, and which head opens first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from model.analysis import head_roles
from model.analysis import maps as analysis
from model.interventions.edits import Edits
from model.measures.heads import text_roles
from model.results.translation import Translation
from viz.stage.payload.message import Known, Version
from viz.text.language import say
from viz.text.roles import role_name


def heads_of(report: Mapping[str, Any] | None) -> dict[str, Known]:
    """By kind what is known of heads from an atlas (`model.measures.atlas`); nothing without one."""
    heads: dict[str, Known] = {}
    if report is None:
        return heads
    for kind, of_kind in report["kinds"].items():
        roles = [list(map(_said, row)) for row in of_kind["role"]]
        first = None
        if "aligns" in of_kind:
            aligns = say("aligns words")
            first = best_aligner(report)
            pairs = [zip(*row) for row in zip(of_kind["aligns"], roles)]
            roles = [[", ".join(filter(None, (at and aligns, role))) for at, role in row] for row in pairs]
        heads[kind] = roles, first
    return heads


def heads_here(result: Translation, effects: Mapping[str, np.ndarray] | None = None) -> dict[str, Known]:
    """By kind what each head does in one text, and no head to open first.

    Args:
        effects: direct effects by kind (L, H, T, S), where they are known: then name movers are named, too.
    """
    effects_by_kind = effects or {}
    roles = {kind: text_roles.in_one_text(result, kind, effects_by_kind.get(kind)) for kind in result.kinds}
    return {kind: ([list(map(_said, row)) for row in of_kind], None) for kind, of_kind in roles.items()}


def _said(role: str) -> str:
    """A role of a head in words; "" for those that say nothing."""
    return "" if role in ("mixed", head_roles.NO_CHOICE) else role_name(role)


def keep_roles(version: Version, before: Version, edits: Edits) -> Version:
    """Give heads that are off or uniform the roles that they had before, so that they stay in their group."""
    roles_by_kind = {kind: ([list(row) for row in roles], first) for kind, (roles, first) in version.roles.items()}
    for head in (*edits.off, *edits.uniform):
        if head.kind not in roles_by_kind:  # no roles are known
            continue
        row = version.recording.layers(head.kind).index(head.layer)
        roles_by_kind[head.kind][0][row][head.head] = before.roles[head.kind][0][row][head.head]
    return replace(version, roles=roles_by_kind)


def best_aligner(report: Mapping[str, Any]) -> tuple[int, int]:
    """The layer and head of cross-attention that best finds the source word of a written word."""
    rates = np.array(report["kinds"]["cross"].get("aer_output", [[0.0]]))
    return analysis.largest_cell(-rates)
