"""The texts of a visitor over which heads are measured: lines, a file or texts that ship; begun, watched, stopped."""

from typing import Any

import streamlit as st

from model.running.translator import Translator
from model.text.text_file import MOST_MEGABYTES, read_texts
from viz.text import errors
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared
from viz.ui.models.text_measuring import Measuring, TextReport
from viz.views import cached
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus, TextSet

# In the session: by model what was measured; what is measured now; why it could not be; the file that was read last.
MEASURED = "measured-texts"
MEASURING = "measuring-texts"
PROBLEM = "measuring-problem"
FILE = "texts-file"
ORIGINS = messages(lines="Lines", shipped="Texts that ship", file="A file")
EVERY = 0.5  # seconds between two looks at how far it is


def report_of(model: str) -> TextReport | None:
    """What was measured of a model over texts of this visitor."""
    return st.session_state.get(MEASURED, {}).get(model)


def corpus_of(model: str) -> Corpus | None:
    """The index over texts of this visitor, else the one that ships; errors as in `corpus_results.corpus_of`."""
    report = report_of(model)
    return report.corpus if report else corpus_results.corpus_of(model)


def ask_texts(model: str, first_lines: str = "") -> TextSet | None:
    """Let the visitor choose what is read; what is wrong with it is said. None while there is nothing to read.

    Args:
        first_lines: what stands in the box for lines at first; there is a box where this is not empty.
    """
    is_translator = isinstance(cached.translator(model), Translator)
    shipped = None if is_translator and corpus_results.has_index(model) else corpus_results.shipped_texts(model)
    offered = {"lines": bool(first_lines), "shipped": shipped is not None, "file": True}
    names = {code: ORIGINS[code] for code, is_offered in offered.items() if is_offered}
    origin = next(iter(names))
    if len(names) > 1:
        origin = controls.choose(say("Texts"), names, "texts-from", label_visibility="collapsed")
    if origin == "file":
        return ask_file(is_translator)
    try:
        if shipped is not None and origin == "shipped":
            texts = shipped.load()
            frame.note(say("{n} texts. {credit}", n=len(texts.texts), credit=texts.credit))
            return texts
        lines = st.text_area(say("Texts, one per line"), first_lines, key="atlas-lines", height=260)
        return _text_set((lines or "").encode(), "", is_pairs=False)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return None


def ask_file(is_pairs: bool) -> TextSet | None:
    """The texts of a file that the visitor brings, and how many there are."""
    label = say("A text file, one text per line (.txt, .gz)")
    if is_pairs:
        label = say("A text file, per line a sentence, a tab and its translation (.tsv, .gz)")
    uploaded = st.file_uploader(
        label,
        key="atlas-file",
        max_upload_size=MOST_MEGABYTES,
        help=say("Heads are measured over the file; this app does not keep it."),
    )
    if uploaded is None:
        return None
    try:
        texts = _texts_of_upload(uploaded, is_pairs)
    except ValueError as error:
        shared.warn(f"{uploaded.name}: {errors.sentence(error)}")
        return None
    line = say("{n:,} texts.", n=len(texts.texts))
    if len(texts.texts) < texts.n_lines:
        line = message("{n:,} of {total:,} texts, spread evenly over the file.")
        line = say(line, n=len(texts.texts), total=texts.n_lines)
    frame.note(line)
    return texts


def _texts_of_upload(uploaded: Any, is_pairs: bool) -> TextSet:
    """The texts of an upload, read once; errors as in `read_texts`."""
    state = st.session_state
    key = uploaded.file_id, is_pairs
    if state.get(FILE, (None,))[0] != key:
        try:
            texts: TextSet | ValueError = _text_set(uploaded.getvalue(), uploaded.name, is_pairs)
        except ValueError as error:
            texts = error
        state[FILE] = key, texts
    texts = state[FILE][1]
    if isinstance(texts, ValueError):
        raise texts
    return texts


def _text_set(content: bytes, name: str, is_pairs: bool) -> TextSet:
    of_file = read_texts(content, is_pairs=is_pairs)
    return TextSet(of_file.texts, name, of_file.n_lines)


def offer_measuring(model: str, texts: TextSet | None) -> None:
    """A button that has all heads measured over the texts."""
    state = st.session_state

    def begin() -> None:
        assert texts is not None
        state[MEASURING] = Measuring(model, texts)

    is_running = state.get(MEASURING) is not None
    st.button(
        say("Measure all heads"),
        key="measure-heads",
        type="primary",
        on_click=begin,
        disabled=is_running or texts is None,
    )


def offer_shipped(model: str) -> None:
    """A button that goes back to the index that ships, where texts of the visitor took its place."""
    if report_of(model) is None or not corpus_results.has_index(model):
        return

    def forget() -> None:
        del st.session_state[MEASURED][model]

    st.button(say("Back to the index that ships"), key="forget-texts", on_click=forget)


def take_up() -> None:
    """Keep what has been measured by now, or why it could not be."""
    state = st.session_state
    measuring: Measuring | None = state.get(MEASURING)
    if measuring is None or not measuring.is_over:
        return
    del state[MEASURING]
    if measuring.problem is not None:
        state[PROBLEM] = measuring.problem
    elif measuring.report is not None:
        state.setdefault(MEASURED, {})[measuring.model] = measuring.report
        for key in ("kind", "layer", "head", "atlas-colour"):  # what says most may be something else now
            state.pop(key, None)


def show_progress() -> None:
    """How far it is, or once why there are no numbers."""
    state = st.session_state
    if state.get(MEASURING) is not None:
        _watch()
    if problem := state.pop(PROBLEM, None):
        shared.warn(errors.sentence(problem))


@st.fragment(run_every=EVERY)
def _watch() -> None:
    """How far it is, and a way to stop it."""
    measuring: Measuring | None = st.session_state.get(MEASURING)
    if measuring is None:
        return
    if measuring.is_over:
        st.rerun()

    def stop() -> None:
        measuring.is_stopped = True

    with shared.row(gap="small", key="measuring"):
        total = len(measuring.texts.texts)
        line = say("Reading text {n} of {total} …", n=round(measuring.share * total), total=total)
        st.progress(min(measuring.share, 1.0), line)
        st.button(say("Stop"), key="stop-measuring", on_click=stop)
