"""The page Your own model: where models are opened, and files of attention."""

from dataclasses import replace

import streamlit as st

from model.adapters.attention_file import MAX_NUMBERS, MAX_TOKENS, read_attention
from model.interventions.edits import Head
from model.recording import Recording
from viz.stage import alone
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.ui import choices, controls, heads_roles, model_choice, shared, speaking, staged
from viz.views import heads_results, opened, view
from viz.views.made import Recipe, call
from viz.views.turns import TURNS

WHOLE_ROWS = 1e-2  # sums nearer to 1 are 1 but for rounding, of bfloat16 for one
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

**From the command line**: a model of this project, or a T5, BART, GPT-2 or BERT.

```bash
{commands}```

**From any other tool**:

```python
{by_hand}```
""")
MARIAN = "python -m model import marian DIR|HUB_NAME --out checkpoints/NAME"
TRANSFORMERS = """\
from model.adapters.outputs import attention_of

inputs = tokenizer(["The street is wide."], return_tensors="pt")
outputs = model.generate(**inputs, num_beams=4, output_attentions=True, return_dict_in_generate=True)
attention_of(outputs, inputs, tokenizer).save("mine.npz")
"""
COMMANDS = """\
python -m model trace "The street is wide." --out mine.npz
python -m model attention DIR_OR_HUB_NAME "The street is wide." --out mine.npz
"""
BY_HAND = """\
import numpy as np

np.savez("mine.npz", source_tokens=["a", "cat"], target_tokens=["<s>", "eine"],
         cross=np.full((1, 1, 2, 2), 0.5, dtype="float32"))      # layers, heads, target, source
"""


def open_uploaded() -> None:
    state = st.session_state
    state.pop("file-problem", None)
    if (uploaded := state["file"]) is None:  # so does a browser begin when one file takes the place of another
        return
    try:
        state["opened"] = uploaded.name, read_attention(uploaded), {}
    except ValueError as error:
        state["file-problem"] = f"{uploaded.name}: {errors.sentence(error)}"


def offer_file() -> None:
    st.file_uploader(
        say("A file of attention (.npz)"),
        "npz",
        key="file",
        on_change=open_uploaded,
        max_upload_size=UPLOAD,
        help=say("This app checks and draws the file; it does not keep it, and nothing in it can run."),
    )
    with st.expander(say("What a file holds, and how to make one")):
        code = {"transformers": TRANSFORMERS, "commands": COMMANDS, "by_hand": BY_HAND}
        st.markdown(say(FORMAT, tokens=MAX_TOKENS, weights=MAX_NUMBERS, size=UPLOAD, **code))


def offer_models() -> None:
    """What to open a model by, on this machine, and those that are opened or listed."""
    names = opened.SHELF.names()
    if model_choice.is_own_machine():
        model_choice.offer_opening(in_words=True)
    elif not names:
        st.markdown(say("Whoever runs this app can list models here (`HEADLIGHT_MODELS`)."))
    for name in names:
        st.html(speaking.link(say("{name} on the stage →", name=name), model_choice.home(name), {"model": name}))
    model_choice.say_memory()
    if model_choice.is_own_machine():
        st.caption(say("A command imports a Marian translator, which then stands beside those that ship:"))
        st.code(MARIAN, "bash", wrap_lines=True)


def offer() -> None:
    """What can be opened here."""
    models, files = st.columns(2, gap="large")
    with models:
        st.markdown(say("**A model of transformers**"))
        offer_models()
    with files:
        st.markdown(say("**A file of attention**"))
        st.markdown(say("Any tool can write this file. It holds weights alone: heads can be seen, not switched off."))
        offer_file()


def show_stage(attention: Recording, recipe: Recipe) -> None:
    chosen, problems = view.read(st.session_state[staged.QUERY], [])
    choices.missed(problems)
    shown = alone.of_recording(attention)
    address = speaking.address(chosen.address())
    why = message("A file holds weights alone: direct effects need the model.")
    staged.put(replace(shown, program=staged.program(recipe), address=address, effects=why))
    for kind in attention.kinds:
        (zeros, total), said = attention.zero_rows(kind), [not_whole(attention, [kind])]
        if zeros < total and not said[0]:
            said = [say("All rows add up to 1 (largest deviation {off:.1g}).", off=attention.residual(kind))]
        if zeros:
            line = message("Not counted: {n} of {total} rows, which are zeros and attend to nothing.")
            said.append(say(line, n=zeros, total=total))
        shared.small(f"{say(words.KINDS[kind].name)}: {' '.join(filter(None, said))}", f"sums-{kind}")


def not_whole(attention: Recording, kinds: list[str]) -> str:
    """Why heads of these kinds cannot be told apart; "" if their rows add up to 1."""
    residual = max(map(attention.residual, kinds))
    line = message(
        "Rows do not add up to 1: the worst is off by {off:.2g}. They may be summed, pruned or taken after dropout, so "
        "roles and attention through layers cannot be computed."
    )
    return say(line, off=residual) if residual > WHOLE_ROWS else ""


def show_roles(attention: Recording, recipe: Recipe, numbers: dict[str, heads_results.Source]) -> None:
    counts = {kind: attention.attention(kind).shape[:2] for kind in attention.kinds}
    head = Head(*controls.choose_head(counts.get, "cross", kinds=attention.kinds))
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
    heads_roles.show_board(source, [kind], "sharpness", head, recipe)
    st.caption(say(heads_roles.ROLE))
    heads_roles.show_card(head, {say("this sentence"): source})
    left, right = st.columns(2, gap="medium")
    with left:
        heads_roles.show_alike(source, head, recipe)
    with right:
        heads_roles.show_here(head, attention, recipe)
    with st.expander(say("All heads of this kind as a table")):
        heads_roles.show_table(source, kind)


def show_rollout(attention: Recording, recipe: Recipe) -> None:
    known, place, problems = attention.kinds, st.container(), []
    if "cross" in known and "decoder_self" not in known:
        problems.append(say("Without decoder_self, attention cannot be followed through the decoder."))
    for needed, kinds in (("decoder_self", known), ("encoder_self", ["encoder_self"])):
        if needed not in known:
            continue
        problem = not_whole(attention, kinds)
        if not problem:
            try:
                heads_roles.show_rollout(attention, kinds, recipe)
                break
            except ValueError as error:
                problem = errors.sentence(error)
        problems.append(problem)
    if problems:
        place.info(problems[0])


@choices.fragment
def live() -> None:
    """What is opened, or what can be."""
    state = st.session_state
    if choices.arrives("part"):
        state[staged.QUERY] = st.query_params.to_dict()
    file = state.get("opened")
    if problem := state.get("file-problem"):
        shared.warn(f"{problem} {say(shared.INSTEAD[1])}" if file else problem)
    if file is None:
        model_choice.watch()
        offer()
        return
    name, attention, numbers = file
    with shared.row(gap="small"):
        part = controls.views(VIEWS, "part")
        with st.popover(say("Open a file"), key="files"):
            offer_file()
        st.button(say("Close this file"), key="close-file", on_click=state.pop, args=("opened",))
    recipe = Recipe(name, (f"result = {call('read_attention', name)}",))
    with st.container():
        if part == "maps":
            show_stage(attention, recipe)
        elif part == "roles":
            show_roles(attention, recipe, numbers)
        else:
            show_rollout(attention, recipe)
    shared.small(name, "file-name")


model_choice.arrive((), "", "")  # a model that has come is shown where it is at home
shared.opening(say("Your own model"), say("Open a model, or the attention of any model from a file."))
live()
