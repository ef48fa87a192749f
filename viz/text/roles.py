"""What roles of heads are called."""

from viz.text.language import messages, say

_REPEATING = messages(names=("induction", "duplicate token"))  # as `model.measures.text_roles` names them
# What `model.analysis.head_roles.roles` names beside measures; of a positional head after "positional: ".
ROLES = messages(names=("broad", "nothing", "no choice", "mixed", "2 before", "3 before", "2 after", "3 after"))


def role_name(name: str, short: bool = False) -> str:
    """A role of a head, as it is said; short: with a star for a positional head.

    >>> role_name("positional: 2 before"), role_name("positional: 2 before", short=True)
    ('positional: 2 before', '★ 2 before')
    """
    place = name.removeprefix("positional: ")
    said = say(place)
    if place == name:
        return said
    return f"★ {said}" if short else say("positional: {place}", place=said)
