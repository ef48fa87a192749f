"""How addresses are read: whose version they are, and what is said of choices that are not there.

Every choice of a page is a parameter of its own, named by its control and checked by it; a default is left out. Codes
of changes (`edits`, `prefix`) begin with a version of their own. An address without `v` is of version 1, and stays so:
if a parameter ever changes its meaning, addresses will be written with a higher `v`, and those of version 1 still read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import streamlit as st

from viz.language import LANGUAGES, say, spellings, using

VERSION = "1"
SHOWN = 40  # characters of a value that are repeated
SEVERAL = 8  # values of one control that are looked at
_RESPELT = "link-respelt"  # what was respelt last
_MISSED = "link-missed"  # where the session keeps, for one run, what the address asked for in vain


def expect(label: str, key: str, names: Mapping[Hashable, str] | Sequence[str]) -> None:
    """Take note where the address asks a control for an option that it does not have; before the control is made.

    Of itself Streamlit takes only names of the page's language from the address: what is named there in another
    language of the app is respelt, and the page begins again.

    Args:
        label: of the control.
        key: in the session and in the address; of several values there, each is asked for.
        names: of its options, in English, by option; or only the names, where they are the options.
    """
    if key in st.session_state:  # so it is but for the first time: no need to name everything in every language
        return
    options = names if isinstance(names, Mapping) else dict(zip(names, names))
    _expect(label, key, set().union(*map(spellings, options.values())).__contains__, _some(options.values()))
    asked = st.query_params.get(key)
    for name in options.values():
        if asked != say(name) and asked in spellings(name) and respell(key, say(name)):
            st.rerun()


def expect_several(label: str, key: str, options: Sequence[Hashable], name: Callable[..., str]) -> None:
    """As `expect`, for a control of which several options can be chosen.

    Args:
        label: of the control.
        key: in the session and in the address.
        options: what can be chosen.
        name: says what an option is called, in the language that is spoken.
    """
    if key in st.session_state:
        return
    spoken = list(map(name, options))
    known: dict[str, Hashable] = {}
    for language in LANGUAGES:
        with using(language):
            known |= {name(option): option for option in options}
    asked = st.query_params.get_all(key)
    _expect(label, key, known.__contains__, _some(spoken))
    if any(one in known and one not in spoken for one in asked):
        if respell(key, [name(known[one]) for one in asked if one in known]):
            st.rerun()


def respell(key: str, value: str | list[str]) -> bool:
    """Write a choice into the address as the page spells it; the page then has to begin again.

    Args:
        key: in the address, of a control that was not made yet.
        value: one that the control has.

    Returns:
        Whether it was written; only once, so that the page is drawn whatever else happens.
    """
    if st.session_state.get(_RESPELT) == (key, value):
        return False
    st.session_state[_RESPELT] = (key, value)
    st.query_params[key] = value
    return True


def _some(names: Iterable[str]) -> str:
    """The first of these names, as they are said here; in quotes where one has a comma of its own."""
    names = list(names)
    said = [say("“{text}”", text=name) if "," in name else name for name in map(say, names[:8])]
    return ", ".join(said) + (", …" if len(names) > 8 else "")


def expect_number(label: str, key: str, low: float, high: float) -> None:
    """As `expect`, for a slider.

    Args:
        label: of the slider.
        key: in the session and in the address.
        low, high: its ends.
    """

    def fits(asked: str) -> bool:
        try:
            return low <= float(asked) <= high
        except ValueError:
            return False

    _expect(label, key, fits, say("{low} to {high}", low=low, high=high))


def expect_switch(label: str, key: str) -> None:
    """As `expect`, for a switch."""
    _expect(label, key, lambda asked: asked.lower() in ("true", "false"), "true, false")


def _expect(label: str, key: str, fits: Callable[[str], bool], allowed: str) -> None:
    if key in st.session_state:
        return
    for asked in st.query_params.get_all(key)[:SEVERAL]:
        if asked and not fits(asked):
            st.session_state.setdefault(_MISSED, []).append(
                say("{label}: {asked} (there is: {allowed})", label=label, asked=asked[:SHOWN], allowed=allowed)
            )


def tell(place: st.delta_generator.DeltaGenerator) -> None:
    """Say what the address asked for in vain; after the page is drawn.

    Args:
        place: over the page.
    """
    version, missed = st.query_params.get("v", VERSION), st.session_state.pop(_MISSED, [])
    with place:
        if version != VERSION:
            st.warning(
                say(
                    "This address was made by another version of Headlight. What it asks for is read as version "
                    "{version} reads it; please look whether it is what you expect.",
                    version=VERSION,
                )
            )
            st.text(
                say(
                    "{label}: {asked} (there is: {allowed})",
                    label=say("Version"),
                    asked=version[:SHOWN],
                    allowed=VERSION,
                )
            )
        if missed:
            st.warning(say("The address asks for something that is not there. The usual is shown in its place."))
            st.text("\n".join(missed))
