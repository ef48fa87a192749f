"""A file of attention on the page Your own model: its upload, what one holds, its maps, roles and rollout."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from model.adapters.attention_file import MAX_NUMBERS, MAX_TOKENS, read_attention
from model.interventions.edits import Head
from model.results.recording import Recording
from viz.stage import alone
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import controls, frame, language_menu, shared, widgets
from viz.ui.models import heads_roles, heads_together
from viz.ui.stage import stage_page
from viz.views import view
from viz.views.results import head_boards, heads_results
from viz.views.snippets import Origin, snippet
from viz.views.turns import TURNS

WHOLE_ROWS = 1e-2  # sums nearer to 1 are 1 but for rounding, of bfloat16 for one
CODE = "file"  # of the list, in addresses
OPENED, PROBLEM = "opened", "file-problem"  # in the session
UPLOAD = 200  # MB of a file, as in .streamlit/config.toml
VIEWS = messages(maps="Maps", roles="Roles", rollout="Through all layers")
FORMAT = message("""
An `.npz` file of numpy, with at least one of the three kinds of attention and the tokens of its axes:

| name | what it is | shape |
| --- | --- | --- |
| `source_tokens` | texts: what an encoder read | S |
| `target_tokens` | texts: what a decoder read, the start token first | T |
| `predicted_tokens` | texts, optional: what it predicted at each of these | T |
| `encoder_self` | weights after the softmax: row = query, column = key | layers, heads, S, S |
| `decoder_self` | the same of a decoder | layers, heads, T, T |
| `cross` | the same from decoder to encoder | layers, heads, T, S |
| `encoder_self_mask`, `decoder_self_mask`, `cross_mask` | optional: True or 1 = may attend | queries, keys |

Axes of one layer or one head may be left out. Weights of one kind may be called `attention`, and their tokens \
`tokens`. At most {tokens:,} tokens per side, {weights:,} weights in all and {size} MB.

**From Hugging Face transformers**, with a model loaded with `attn_implementation="eager"`:

```python
{transformers}```

**From the command line**: a model of this project, or any model of transformers.

```bash
{commands}```

**From any other tool**:

```python
{by_hand}```
""")
TRANSFORMERS = """\
from model.adapters.outputs import attention_of

inputs = tokenizer(["The street is wide."], return_tensors="pt")
outputs = model.generate(**inputs, num_beams=4, output_attentions=True, return_dict_in_generate=True)
attention_of(outputs, inputs, tokenizer).save("mine.npz")
"""
COMMANDS = """\
python -m model trace "The street is wide." --out mine.npz
python -m model read "The street is wide." --model DIR_OR_HUB_NAME --out mine.npz
"""
BY_HAND = """\
import numpy as np

np.savez("mine.npz", source_tokens=["a", "cat"], target_tokens=["<s>", "eine"],
         cross=np.full((1, 1, 2, 2), 0.5, dtype="float32"))      # layers, heads, target, source
"""


READ = """
from model.adapters.attention_file import read_attention
result = read_attention($name)
"""


class OpenFile(NamedTuple):
    """What a visitor has opened."""

    name: str
    attention: Recording
    numbers: dict[str, heads_results.Source]  # of its heads by kind, as far as they were asked for

    @property
    def origin(self) -> Origin:
        """How `result` is computed."""
        return Origin(self.name, snippet(READ, name=self.name))


def opened_file() -> OpenFile | None:
    """The file that this visitor has open."""
    return st.session_state.get(OPENED)


def close() -> None:
    """Put the file of the session away."""
    st.session_state.pop(OPENED, None)


def _open_uploaded() -> None:
    state = st.session_state
    state.pop(PROBLEM, None)
    if (uploaded := state["file"]) is None:  # so does a browser begin when one file takes the place of another
        return
    try:
        state[OPENED] = OpenFile(uploaded.name, read_attention(uploaded), {})
    except ValueError as error:
        state[PROBLEM] = f"{uploaded.name}: {errors.sentence(error)}"


def say_problem() -> None:
    """Say why the last file could not be read."""
    if problem := st.session_state.get(PROBLEM):
        shared.warn(f"{problem} {say(shared.INSTEAD[1])}" if opened_file() else problem)


def ask_file() -> None:
    """Where a file is dropped."""
    st.file_uploader(
        say("A file of attention (.npz)"),
        "npz",
        key="file",
        on_change=_open_uploaded,
        max_upload_size=UPLOAD,
        help=say("This app checks and draws the file; it does not keep it, and nothing in it can run."),
    )


def explain() -> None:
    """What a file holds, and how to make one."""
    code = {"transformers": TRANSFORMERS, "commands": COMMANDS, "by_hand": BY_HAND}
    st.markdown(say(FORMAT, tokens=MAX_TOKENS, weights=MAX_NUMBERS, size=UPLOAD, **code))


def choose_part() -> str:
    """Which part of a file is shown, in the row above it, and how another one is opened."""
    part = controls.choose_view(VIEWS, "part")
    with st.popover(say("Open a file"), key="files"):
        ask_file()
    st.button(say("Close this file"), key="close-file", on_click=close)
    return part


def show(file: OpenFile, part: str) -> None:
    """Draw a part of a file."""
    if part == "maps":
        _show_stage(file)
    elif part == "roles":
        _show_roles(file)
    else:
        _show_rollout(file)


def _show_stage(file: OpenFile) -> None:
    selection, problems = view.read(st.session_state[stage_page.QUERY] | {"model": CODE}, [CODE])
    widgets.note_problems(problems)
    version = alone.of_recording(file.attention)
    version = replace(
        version, recording=replace(version.recording, text=None), program=stage_page.program_of(file.origin.code)
    )
    why = message("A file holds weights alone: direct effects need the model.")
    stage_page.show_stage(replace(version, address=language_menu.address(selection.address()), effects=why))


def sums(attention: Recording) -> list[str]:
    """Whether the rows of each kind add up to 1."""
    lines = []
    for kind in attention.kinds:
        (zeros, total), captions = attention.zero_rows(kind), [not_whole(attention, [kind])]
        if zeros < total and not captions[0]:
            captions = [say("All rows add up to 1 (largest deviation {off:.1g}).", off=attention.residual(kind))]
        if zeros:
            line = message("Not counted: {n} of {total} rows, which are zeros and attend to nothing.")
            captions.append(say(line, n=zeros, total=total))
        lines.append(f"{say(words.KINDS[kind].name)}: {' '.join(filter(None, captions))}")
    return lines


def not_whole(attention: Recording, kinds: list[str]) -> str:
    """Why heads of these kinds cannot be told apart; "" if their rows add up to 1."""
    residual = max(map(attention.residual, kinds))
    line = message(
        "Rows do not add up to 1: the worst is off by {off:.2g}. They may be summed, pruned or taken after dropout, so "
        "roles and attention through layers cannot be computed."
    )
    return say(line, off=residual) if residual > WHOLE_ROWS else ""


def _show_roles(file: OpenFile) -> None:
    attention = file.attention
    origin = file.origin
    numbers = file.numbers
    small, large = st.columns([45, 55], gap="medium")
    with small:
        counts = {kind: attention.attention(kind).shape[:2] for kind in attention.kinds}
        head = Head(*controls.choose_head(counts.__getitem__, "cross", kinds=attention.kinds))
        kind = head.kind
        if problem := not_whole(attention, [kind]):
            st.info(problem)
            return
        if kind == "decoder_self" and kind not in attention.masks:
            st.caption(say("The file has no mask: every key counts as allowed, so heads look sharper than they are."))
        if kind not in numbers:
            with st.spinner(say("Computing …")), TURNS.turn():
                numbers[kind] = heads_results.of_weights(attention, [kind])
        source = numbers[kind]
        heads_roles.show_board(source, [kind], "sharpness", head, origin)
        heads_together.show_alike(source, head, origin)
    with large:
        heads_roles.show_here(head, attention, origin)
        heads_roles.show_card(head, {say("this sentence"): source})
        frame.note(say(head_boards.ROLE))
        with st.expander(say("All heads of this kind as a table")):
            heads_roles.show_table(source, kind)


def _show_rollout(file: OpenFile) -> None:
    attention, origin = file.attention, file.origin
    place = st.container()
    problems = []
    if "cross" in attention.kinds and "decoder_self" not in attention.kinds:
        problems.append(say("Without decoder_self, attention cannot be followed through the decoder."))
    for needed, kinds in (("decoder_self", attention.kinds), ("encoder_self", ["encoder_self"])):
        if needed not in attention.kinds:
            continue
        problem = not_whole(attention, kinds)
        if not problem:
            try:
                heads_together.show_rollout(attention, kinds, origin)
                break
            except ValueError as error:
                problem = errors.sentence(error)
        problems.append(problem)
    if problems:
        place.info(problems[0])
