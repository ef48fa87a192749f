"""What roles of heads are called."""

from collections.abc import Iterable

from viz.text.language import messages, say

_REPEATING = messages(names=("induction", "duplicate token", "name mover"))  # of `model.measures.heads.text_roles`
# What `model.analysis.head_roles.roles` names beside measures; of a positional head after "positional: ".
ROLES = messages(names=("broad", "nothing", "no choice", "mixed", "2 before", "3 before", "2 after", "3 after"))


def role_name(name: str, short: bool = False) -> str:
    """A role of a head in words; short: with a star for a positional head.

    >>> role_name("positional: 2 before"), role_name("positional: 2 before", short=True)
    ('positional: 2 before', '★ 2 before')
    """
    place = name.removeprefix("positional: ")
    label = say(place)
    if place == name:
        return label
    return f"★ {label}" if short else say("positional: {place}", place=label)


# By what rule a head is given a role, by the beginning of its name: `model.analysis.head_roles.roles` and
# `model.measures.heads.text_roles`.
_RULES = messages(
    positional=(
        "Rule: the largest weight is at this distance in at least 90 % of the rows that can reach there (Voita et al. "
        "2019)."
    ),
    previous="Rule: more than a third of its weight is on the token before the query.",
    same="Rule: more than a third of its weight is on the query's own token.",
    next="Rule: more than a third of its weight is on the token after the query.",
    place=(
        "Rule: more than a third of its weight is on the key there, where both sides are counted from their beginning."
    ),
    first="Rule: more than a third of its weight is on the first token (an attention sink, Xiao et al. 2023).",
    last="Rule: more than a third of its weight is on the last token.",
    punctuation="Rule: more than a third of its weight is on punctuation.",
    induction=(
        "Rule: more than a third of its weight is on tokens right after an earlier occurrence of the query's token "
        "(Olsson et al. 2022)."
    ),
    duplicate=(
        "Rule: more than a third of its weight is on earlier occurrences of the query's token (Wang et al. 2022)."
    ),
    name=(
        "Rule: where the model predicts a name (a capital letter) that stands in the text, it adds from there at least "
        "3 % of what all heads add directly to the logit of that name (Wang et al. 2022)."
    ),
    broad="Rule: the entropy of its rows is at least 80 % of that of an even spread.",
    nothing="Rule: all its weights are 0.",
    no="Rule: each of its rows may attend to one token only.",
)
_RULE_OF = {f"{name} token": name for name in ("previous", "same", "next", "first", "last", "duplicate")}
_RULE_OF |= dict.fromkeys(("place before", "same place", "place after"), "place")
_RULE_OF |= {name: name for name in ("punctuation", "induction", "broad", "nothing")}
_RULE_OF |= {"name mover": "name", "no choice": "no"}
_NEAR = ("previous token", "same token", "next token", "place before", "same place", "place after")
_FAR = tuple(f"{n} {side}" for n in (2, 3) for side in ("before", "after"))


def rules_of(roles: Iterable[str]) -> dict[str, str]:
    """The rule by which heads are given a role, by the words for that role, where there is one."""
    positional = {f"positional: {place}": "positional" for place in (*_NEAR, *_FAR)}
    rules = {role_name(name): say(_RULES[rule]) for name, rule in (_RULE_OF | positional).items()}
    return {role: rules[name] for role in set(roles) if (name := role.rpartition(", ")[2]) in rules}
