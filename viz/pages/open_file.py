"""The page Your own model: attention of any model, from a file."""

from dataclasses import replace

import streamlit as st

from model.adapters.attention_file import MAX_NUMBERS, MAX_TOKENS, Attention, read_attention
from model.checkpoint import available
from model.interventions.edits import Head
from model.measures import contribution
from model.translation import KINDS
from viz.app.turns import TURNS
from viz.stage import alone
from viz.text import errors, words
from viz.text.language import message, say, say_n
from viz.ui import choices, controls, heads_roles, shared, speaking, staged
from viz.views import cached, heads_results, recipes, view
from viz.views.made import Recipe, call

PAGE = "open_file"
MAX_MEGABYTES = 20
WHOLE_ROWS = 1e-2  # sums nearer to 1 are 1 but for rounding, of bfloat16 for one
NUMBERS = "opened-numbers"  # where the session keeps what the heads of the file do
EXAMPLE = "multi30k-de-en", "Ein Mann fährt auf einem Fahrrad die Straße hinunter."
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
| `encoder_self_mask`, `decoder_self_mask`, `cross_mask` | optional: True = may attend | queries, keys |

At most {tokens} tokens per side, and {weights:,} weights in all. A model without an encoder has only
`decoder_self`, one without a decoder only `encoder_self`.
""")
RECIPE = """\
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
    """Read the file that was just chosen; one that cannot be read leaves what was shown before."""
    uploaded = st.session_state["file"]
    st.session_state.pop("file-problem", None)
    if uploaded is None:  # so does a browser begin when one file takes the place of another
        return
    try:
        st.session_state["opened"] = uploaded.name, read_attention(uploaded)
    except ValueError as error:
        st.session_state["file-problem"] = f"{uploaded.name}: {errors.sentence(error)}"


def close() -> None:
    st.session_state.pop("opened", None)
    st.session_state.pop(NUMBERS, None)


def choose_file() -> tuple[str, Attention] | None:
    """Offer to open a file; the last one that could be read, its name and content, or None."""
    with st.popover(say("Open a file"), key="files"):
        introduction = say(
            "Any tool can write this file. It does not contain the model: to switch heads off, import the model or "
            "train one here."
        )
        st.markdown(introduction)
        st.file_uploader(
            say("A file of attention (.npz)"),
            "npz",
            key="file",
            on_change=open_uploaded,
            max_upload_size=MAX_MEGABYTES,
            help=say("This app checks and draws the file; it does not keep it, and nothing in it can run."),
        )
        transformers = message(
            '**From Hugging Face transformers**, with a model loaded with `attn_implementation="eager"`:'
        )
        commands = message("**From the command line**: a model of this project, or a T5, BART, GPT-2 or BERT.")
        with st.expander(say("What a file holds, and how to make one")):
            st.markdown(say(FORMAT, tokens=MAX_TOKENS, weights=MAX_NUMBERS))
            st.markdown(say(transformers))
            st.code(RECIPE, language="python")
            st.markdown(say(commands))
            st.code(COMMANDS, language="bash")
            st.markdown(say("**From any other tool**:"))
            st.code(BY_HAND, language="python")
    return st.session_state.get("opened")


@cached.remembered(2, cached.TRANSLATING)
def example() -> tuple[cached.Request, Attention]:
    """What is open at first: what a shipped model attended to, as `python -m model trace` writes it."""
    ours = EXAMPLE[0] in available("transformer")
    request = cached.Request(*EXAMPLE) if ours else cached.Request(cached.default_checkpoint(), view.EXAMPLE)
    result = cached.compute(request)
    weights, masks = ({kind: find(kind) for kind in KINDS} for find in (result.attention, result.mask))
    tokens = result.source_tokens, result.target_tokens
    return request, Attention(*tokens, weights, masks, result.predicted_tokens)


def show_stage(attention: Attention, recipe: Recipe) -> None:
    state = st.session_state
    if state.get(staged.PAGE) != PAGE:
        state[staged.PAGE], state[staged.QUERY] = PAGE, st.query_params.to_dict()
    chosen, problems = view.read(state[staged.QUERY], [])
    choices.missed(problems)
    given = alone.of_attention(attention, chosen)
    code = staged.code(attention, given.built, recipe, given.view)
    address = speaking.address(chosen.address())
    why = message("A file holds weights alone: direct effects need the model.")
    staged.put(replace(given, code=code, address=address, effects=why))
    for kind in attention.kinds:
        shared.small(f"{say(words.KINDS[kind].name)}: {sums(attention, kind)}", f"sums-{kind}")


def sums(attention: Attention, kind: str) -> str:
    """Say whether the rows of a kind add up to 1."""
    residual, (zeros, total) = attention.residual(kind), attention.zero_rows(kind)
    if zeros == total:
        return say("Every weight of this kind is 0: nothing is attended to.")
    if residual > WHOLE_ROWS:
        said = not_whole(residual)
    elif zeros:
        said = say("All other rows add up to 1 (largest deviation {off:.1g}).", off=residual)
    else:
        return say("All rows add up to 1 (largest deviation {off:.1g}).", off=residual)
    if not zeros:
        return said
    empty = say_n(
        "One of {total} rows is entirely 0: it attends to nothing.",
        "{n} of {total} rows are entirely 0: they attend to nothing.",
        zeros,
        total=total,
    )
    return f"{empty} {said}"


def not_whole(residual: float) -> str:
    """Say that rows do not add up to 1, which keeps heads from being told apart, and how far from 1 the worst is."""
    return say(
        "Rows do not add up to 1: the worst is off by {off:.2g}. They may be summed, pruned or taken after dropout, so "
        "roles and attention through layers cannot be computed.",
        off=residual,
    )


def show_roles(attention: Attention, recipe: Recipe) -> None:
    counts = {kind: attention.attention(kind).shape[:2] for kind in attention.kinds}
    head = Head(*controls.choose_head(counts.get, "cross", kinds=attention.kinds))
    kind = head.kind
    if attention.residual(kind) > WHOLE_ROWS:
        st.info(not_whole(attention.residual(kind)))
        return
    if kind == "decoder_self" and kind not in attention.masks:
        line = say(
            "The file does not say which cells were blocked. Every key counts as allowed, so heads of a decoder look "
            "sharper than they are."
        )
        st.caption(line)
    known = st.session_state.setdefault(NUMBERS, {})  # kept while the file is open
    if kind not in known or known[kind][0] is not attention:
        with st.spinner(say("Computing …")), TURNS.turn():
            known[kind] = attention, heads_results.of_weights(attention, [kind])
    source = known[kind][1]
    found = source.kinds[kind]
    heads_roles.show_board(source, [kind], "sharpness", head, recipe)
    st.caption(say(heads_roles.ROLE))
    heads_roles.show_card(head, {say("this sentence"): source})
    left, right = st.columns(2, gap="medium")
    with left:
        heads_roles.show_alike(found, head, recipe, f"head_roles.divergences(result.attention({kind!r}))")
    with right:
        heads_roles.show_here(head, attention, recipe)
    with st.expander(say("All heads of this kind as a table")):
        heads_roles.show_table(found, kind)


def show_rollout(attention: Attention, recipe: Recipe) -> None:
    """Follow attention through both stacks, or the encoder alone, and say what is missing where that cannot be done."""
    encoder, problem = [kind for kind in attention.kinds if kind == "encoder_self"], ""
    tried = [attention.kinds, encoder] if "decoder_self" in attention.kinds else [encoder]
    if "cross" in attention.kinds and "decoder_self" not in attention.kinds:
        problem = say(
            "The file has cross-attention, but no decoder_self: attention cannot be followed through the decoder."
        )
    kinds, flows = [], {}
    for kinds in filter(None, tried):
        residual = max(map(attention.residual, kinds))
        if residual > WHOLE_ROWS:
            problem = problem or not_whole(residual)
            continue
        try:
            flows = contribution.rollouts({kind: attention.weights[kind] for kind in kinds})
            break
        except ValueError as error:
            problem = problem or errors.sentence(error)
    with st.container():
        if problem:
            st.info(problem)
    if flows:
        given = "result.weights"
        if kinds != attention.kinds:
            given = f"{{kind: result.weights[kind] for kind in {kinds!r}}}"
        heads_roles.show_rollout(attention, flows, recipe.then(f"flows = contribution.rollouts({given})"))


VIEWS = {
    "maps": (message("Maps"), show_stage),
    "roles": (message("Roles"), show_roles),
    "rollout": (message("Through all layers"), show_rollout),
}


@choices.fragment
def live() -> None:
    with shared.row(gap="small"):
        show = controls.part(VIEWS, "part")
        opened = choose_file()
        if opened is not None:
            st.button(say("Close this file"), key="close-file", on_click=close)
    if problem := st.session_state.get("file-problem"):
        shared.warn(f"{problem} {say(shared.INSTEAD[1])}" if opened else problem)
    if opened is not None:
        name, attention = opened
        recipe = Recipe(name, (f"result = {call('read_attention', name)}",))
    else:
        try:
            request, attention = example()
        except ValueError:  # there is no model: the other pages say so
            st.info(say("Nothing is open. Open a file above."))
            return
        name = say("Example: a translation by {model}, as python -m model trace writes it.", model=request.checkpoint)
        recipe = recipes.translation(request)
    with st.container():
        show(attention, recipe)
    shared.small(name, "file-name")


shared.opening(say("Your own model"), say("The attention of any model, from a file."))
live()
