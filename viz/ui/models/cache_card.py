"""The card "cache" of a language model: what its keys and values take, and what they save, measured."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
import torch

from model.adapters.readers.reader import Reader
from model.measures import context
from model.running.translator import Writer
from viz.figures import curves
from viz.text.language import message, messages, say
from viz.ui import explore, frame, shared
from viz.ui.plot.plot import plot as show
from viz.views import cached
from viz.views.snippets import Plot, program, snippet
from viz.views.turns import in_turn

MEASURED = 96  # tokens whose steps are timed
LENGTHS = (128, 1024, 8192, 32_768, 131_072)
TYPES = messages(float32="float32 (4 bytes)", bfloat16="bfloat16 (2 bytes)", int8="int8 (1 byte)")
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}
UNITS = (1e9, message("{x:.1f} GB")), (1e6, message("{x:.1f} MB")), (1e3, message("{x:.1f} kB"))

TIMES = """
import numpy as np
import torch
from model import load_translator
from model.measures.context import seconds_per_token
from viz.figures import curves

writer = load_translator($model)
ids = [writer.tokenizer.eos_id, *writer.tokenizer.encode($text)] * $most
ids = torch.tensor(ids[: $count])
seconds = [seconds_per_token(writer.model, ids, uses_cache) for uses_cache in (False, True)]
off, on = (np.stack([1 + np.arange(len(ids)), 1e3 * np.array(times)]) for times in seconds)
figure = curves({$without: off, $cached: on}, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""


@dataclass(frozen=True)
class Sizes:
    """What the size of a cache depends on."""

    n_layers: int
    n_heads: int
    n_groups: int  # heads of keys and values
    d_head: int


# As their published configurations say.
OTHERS = {
    "SmolLM2-135M": Sizes(30, 9, 3, 64),
    "Llama 2 7B": Sizes(32, 32, 32, 128),
    "Llama 3 8B": Sizes(32, 32, 8, 128),
}


def sizes_of(name: str) -> Sizes:
    """The sizes of an open model: of its first kind of layers that decodes, where it has several kinds."""
    loaded = cached.translator(name)
    if isinstance(loaded, Reader):
        layers = loaded.config.layers("decoder_self") or loaded.config.layers(loaded.config.kinds[0])
        return Sizes(len(layers), layers[0].n_heads, layers[0].n_key_value_heads, layers[0].d_head)
    assert isinstance(loaded, Writer)  # there is a cache in no other one
    config = loaded.model.config
    return Sizes(config.n_layers, config.n_heads, config.n_groups, config.d_head)


def in_bytes(count: float) -> str:
    """A number of bytes in a unit that suits it."""
    for size, unit in UNITS:
        if count >= size:
            return say(unit, x=count / size)
    return say("{n} bytes", n=int(count))


@cached.cache_results()
def measure(name: str, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds of each step with the cache and without, float64 (2, T) of positions and times."""
    writer = cached.loaded_as(Writer, name)
    ids = [writer.tokenizer.eos_id, *writer.tokenizer.encode(text)]
    length = min(MEASURED, writer.model.config.max_length)
    ids = torch.tensor((ids * length)[:length])
    timed = in_turn(context.seconds_per_token)
    with_cache, without = (
        np.stack([np.arange(1, length + 1), 1e3 * np.array(timed(writer.model, ids, on))]) for on in (True, False)
    )
    return with_cache, without


def menu(name: str, text: str) -> None:
    """Show the button that opens the card; it is filled when it is opened."""
    with st.popover(say("Cache"), key="cache", on_change="rerun") as popover:
        if popover.open:
            _size(name)
            _time(name, text)


def _size(name: str) -> None:
    presets = {name: sizes_of(name)} | {preset: sizes for preset, sizes in OTHERS.items() if preset != name}
    with shared.row(gap="small", align="bottom"):
        preset = st.selectbox(say("Model"), list(presets), key="cache-model", width=200)
        length = st.select_slider(
            say("Tokens"), LENGTHS, key="cache-length", width=190, format_func=lambda n: say("{n:,}", n=n)
        )
        kind = st.selectbox(
            say("Type"), list(TYPES), key="cache-type", format_func=lambda kind: say(TYPES[kind]), width=170
        )
    sizes = presets[preset]
    with shared.row(gap="small", align="bottom"):
        fields = {
            "n_layers": (say("Layers"), sizes.n_layers),
            "n_groups": (say("Key/value heads"), sizes.n_groups),
            "d_head": ("d_head", sizes.d_head),
        }
        numbers = {
            field: int(st.number_input(label, 1, 1024, default, key=f"cache-{field}-{preset}", width=150))
            for field, (label, default) in fields.items()
        }
    total = context.cache_bytes(**numbers, n_tokens=length, bytes_per_number=BYTES[kind])
    full = context.cache_bytes(**numbers | {"n_groups": sizes.n_heads}, n_tokens=length, bytes_per_number=BYTES[kind])
    frame.answer(
        say("{n:,} tokens take {size}.", n=length, size=in_bytes(total)),
        say(
            "2 (key and value) · {n_layers} layers · {n_groups} heads · {d_head} numbers · {n:,} tokens · {b} bytes. "
            "With keys and values for each of {heads} query heads: {whole}.",
            **numbers,
            n=length,
            b=BYTES[kind],
            heads=sizes.n_heads,
            whole=in_bytes(full),
        ),
    )


def _time(name: str, text: str) -> None:
    if not isinstance(cached.translator(name), Writer):
        return
    if not (
        st.session_state.get("cache-timed") == name or st.button(say("Measure the time per token"), key="cache-go")
    ):
        return
    st.session_state["cache-timed"] = name
    on, off = measure(name, text)
    line = message("Token {n} took {on:.1f} ms with the cache and {off:.1f} ms without (mean of the last ten).")
    frame.note(say(line, n=int(on[0, -1]), on=on[1, -10:].mean(), off=off[1, -10:].mean()))
    names = say("without the cache"), say("with the cache")
    axes: dict[str, Any] = {"x_axis": message("tokens so far"), "y_axis": message("milliseconds per token")}
    figure = curves(dict(zip(names, (off, on))), **axes, say=say)
    figure.layout.height = 240
    values = {"model": name, "text": text, "most": MEASURED, "count": on.shape[1]}
    code = program(snippet(TIMES, **values, without=names[0], cached=names[1], **axes))
    plot = Plot(say("Time per token"), say("“{text}” · {checkpoint}", text=text, checkpoint=name), figure, code)
    show(figure, "cache-time")
    explore.offer(plot, "cache-time", figure)
