"""Choices of a page: each is kept in the session, and stands in the address as a code where it is not the default.

The address is read where the session does not know a choice yet, and after Back or Forward.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext, get_script_run_ctx

from viz.text.language import say
from viz.text.markdown import literal
from viz.views.codes import Reader, code, read

# In the session: what was drawn last; which page was drawn to its end; what its address asks for that is missing.
PARTS = "choices"
_PAGE = "choices-page"
_PROBLEMS = "choices-problems"
_drawn: ContextVar[dict[str, str | None]] = ContextVar("drawn")  # the codes of the part that is drawn now
_comes: ContextVar[bool] = ContextVar("comes", default=False)  # whether the run before was of another page


class Parts(NamedTuple):
    """The codes of a page's controls, by part of the page.

    Page and codes are one value: a page that is left while it is drawn is interrupted at any write to the session, and
    its codes must not be taken for those of the page before.
    """

    page: str = ""  # its hash
    codes: Mapping[str, Mapping[str, str | None]] = {}


def control(widget: Callable, *args: object, key: str, reader: Reader, default: object, **settings: object) -> Any:
    """Show a widget of Streamlit, whose choice session and address keep under a key.

    The default is chosen at first, and where these hold nothing that the reader knows.
    """
    state = st.session_state
    comes = key not in state or _this_run().is_history_navigation
    query = st.query_params.to_dict() if comes else {key: code(state[key])}
    values, problems = read(query, {key: reader})
    if comes:
        note_problems(problems)
    value = values.get(key, default)
    if comes or code(value) != code(state[key]):
        state[key] = value
    value = widget(*args, key=key, persist_state="session", **settings)
    value = default if value is None else value
    _drawn.get()[key] = None if value == default else code(value)
    return value


def menu_key(key: str) -> str:
    """The key of a widget in a menu that shows what the session keeps under `key`; its `on_change` calls `keep_choice`.

    A closed menu does not hear of what Python chooses, and sends its old value with the next run: for another choice
    than it has, the widget is made again.
    """
    state = st.session_state
    numbered = f"{key}-menu-{state.setdefault(f'{key}-menu', 0)}"
    if numbered not in state or state[numbered] != state[key]:
        state[f"{key}-menu"] += 1
        numbered = f"{key}-menu-{state[f'{key}-menu']}"
        state[numbered] = state[key]
    return numbered


def keep_choice(key: str) -> None:
    """Keep under `key` what a visitor has chosen in its menu."""
    state = st.session_state
    state[key] = state[f"{key}-menu-{state[f'{key}-menu']}"]


def _this_run() -> ScriptRunContext:
    run = get_script_run_ctx()
    assert run is not None  # pages are drawn in runs
    return run


def has_arrived(*keys: str) -> bool:
    """Whether the visitor has just come to a page with these controls, which Streamlit then has emptied."""
    state = st.session_state
    another = _comes.get() or state.get(_PAGE) != _this_run().page_script_hash
    return another or any(key not in state for key in keys)


def goes_through_history() -> bool:
    """Whether the visitor has just gone back or forward to another address of this page."""
    return _this_run().is_history_navigation


def note_codes(codes: Mapping[str, str | None]) -> None:
    """Have the address tell of choices made in other controls; None is a default."""
    _drawn.get().update(codes)


def code_of(key: str, default: str) -> str:
    """The code of a choice whose control is drawn later: by the session, else by the address."""
    state = st.session_state
    return code(state[key]) if state.get(key) is not None else st.query_params.get(key, default)


def note_problems(problems: Iterable[str]) -> None:
    """Have the page tell what its address asks for that is not there, each as name=code."""
    st.session_state.setdefault(_PROBLEMS, []).extend(problems)


def fragment(draw: Callable[[], None]) -> Callable[[], None]:
    """A part of a page, which alone is drawn again after a choice there."""

    @st.fragment
    @wraps(draw)
    def run() -> None:
        with part(draw.__qualname__):
            draw()

    return run


@contextmanager
def part(name: str = "") -> Iterator[None]:
    """Draw a part of a page, or the whole one; at the end of the outermost the address says what is chosen."""
    codes = {}
    inside = _drawn.get(None) is not None
    state = st.session_state
    run = _this_run()
    parts = state.get(PARTS, Parts())
    comes = _comes.get() if inside else parts.page != run.page_script_hash
    if comes and not inside:  # of another page it is not known what its address holds
        parts = Parts()
    before = parts.codes.get(name, {}) if name else _codes(parts)
    codes_of_parts = parts.codes if name else {}
    state[PARTS] = Parts(run.page_script_hash, {**codes_of_parts, name: codes})
    notes = st.container()
    token = _drawn.set(codes)
    came = _comes.set(comes)
    if not name and run.is_history_navigation:
        st.query_params.update()  # says it once more: the page that was left may have written its own over it
    try:
        yield
    finally:
        _drawn.reset(token)
        _comes.reset(came)
        state[_PAGE] = run.page_script_hash
    if inside:
        return
    state[PARTS] = state[PARTS]._replace(page=run.page_script_hash)  # in a new session it is known only now
    parameters = {key: value for key, value in address().items() if key not in before.keys() - _codes().keys()}
    if parameters != st.query_params.to_dict():
        st.query_params.from_dict(parameters)
    if problems := "; ".join(dict.fromkeys(state.pop(_PROBLEMS, ()))):
        text = say("This link asks for something missing ({parts}). Showing the default instead.", parts=problems)
        notes.warning(literal(text))


def address() -> dict[str, str]:
    """The parameters of the page's address: the codes of all controls that are not at their default."""
    parameters = st.query_params.to_dict() | _codes()
    return {key: code for key, code in parameters.items() if code is not None}


def _codes(parts: Parts | None = None) -> dict[str, str | None]:
    if parts is None:
        stored: Parts | None = st.session_state.get(PARTS)
        parts = stored or Parts()
    return {key: code for codes in parts.codes.values() for key, code in codes.items()}
