"""Every role that a head can have is said with the rule by which it has it."""

from __future__ import annotations

import pytest

from model.analysis import head_roles
from model.measures.heads import text_roles
from viz.text.language import LANGUAGES, using
from viz.text.roles import role_name, rules_of

NEAR = ("previous token", "same token", "next token", "place before", "same place", "place after")
ROLES = [
    *NEAR,
    *(f"positional: {place}" for place in (*NEAR, "2 before", "3 before", "2 after", "3 after")),
    *("first token", "last token", "punctuation", "broad", head_roles.NOTHING, head_roles.NO_CHOICE),
    *("induction", "duplicate token", text_roles.NAME_MOVER),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_role_has_a_rule(language: str) -> None:
    with using(language):
        names = [role_name(role) for role in ROLES]
        rules = rules_of(names)
        assert rules.keys() == set(names) and len(set(rules.values())) > 10
        assert rules_of([f"aligns words, {names[0]}", ""]) == {f"aligns words, {names[0]}": rules[names[0]]}
