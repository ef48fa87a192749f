"""The stage outside the app: what a notebook shows for a result, and the file that it is kept as."""

from __future__ import annotations

import base64
import gzip
import html
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from model.adapters.attention_file import Attention
from model.adapters.outputs import attention_from
from model.translation import Translation
from model.translator import Translator, Writer
from viz.stage.form import options
from viz.stage.message import KINDS_SHOWN, Shown, built
from viz.stage.message import message as message_of
from viz.stage.shell import MARK, shell
from viz.text.language import ENGLISH
from viz.views import maps
from viz.views.view import View

HEIGHT = 780  # pixels of the frame in a notebook


@dataclass(frozen=True)
class StagePage:
    """The stage as one HTML file, which needs neither a server nor a network; a notebook shows it as it is.

    Attributes:
        message: as of `viz.stage.message.message`, with all maps in it.
        place: what is open at first, by the names of an address.
        height: pixels of its frame in a notebook.
    """

    message: bytes = field(repr=False)
    place: dict[str, Any]
    height: int = HEIGHT

    def to_html(self, below: str = "", language: str = ENGLISH) -> str:
        """The file, about 2.3 MB and the maps: Plotly is in it; `below` the stage stands HTML in a language."""
        packed = base64.b64encode(gzip.compress(self.message, 6, mtime=0)).decode()
        told = json.dumps({"place": self.place, "parts": {"": packed}}).replace("<", "\\u003c")
        page = shell().replace(MARK, told, 1).replace("<html>", f'<html lang="{language}">', 1)
        return page.replace("</main>", f"</main>{below}", 1)

    def save(self, path: Path | str) -> Path:
        """Write the file; returns where it is."""
        path = Path(path)
        path.write_text(self.to_html(), encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        """A frame with the file in it, so that several in one notebook know nothing of each other."""
        return (
            f'<iframe title="Headlight" srcdoc="{html.escape(self.to_html())}" sandbox="allow-scripts allow-downloads" '
            f'allow="clipboard-write" style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def stage(
    result: Translation | Attention | None = None,
    translator: Translator | Writer | None = None,
    *,
    attention: Any = None,
    tokens: Any = None,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    stretch: bool = False,
    height: int = HEIGHT,
) -> StagePage:
    """Put a result on the stage, or the attention of any other model: a notebook shows it, `.save(path)` writes it.

    Args:
        result: a translation; what a language model read; or an `Attention`, as of `read_attention`.
        translator: that made the result: then the most probable next words are shown, by their names.
        attention, tokens: instead of a result, as for `model.adapters.outputs.attention_from`.
        kind, layer, head: what is open at first: "encoder", "decoder" or "cross"; counted from 0.
        stretch: colours end at the largest weight instead of 1.
        height: pixels of the frame in a notebook.

    Raises:
        ValueError: where there is nothing to show, or tokens and maps do not fit together or are too large.

    Example:
        >>> weights = np.full((2, 3, 4, 4), 0.25)  # 2 layers of 3 heads
        >>> page = stage(attention=weights, tokens=["A", "dog", "runs", "."])
        >>> weights[0, 0, 0, 0] = np.nan
        >>> stage(attention=weights, tokens=["A", "dog", "runs", "."])
        Traceback (most recent call last):
        ValueError: encoder_self holds numbers from nan to nan; weights are from 0 to 1: take them after the softmax
    """
    if (result is None) == (attention is None):
        raise ValueError("give a result, or attention=... with tokens=...")
    if attention is not None:
        result = attention_from(attention, tokens)
    if isinstance(result, Attention):
        shown = of_attention(result)
    elif isinstance(result, Translation):
        shown = _of_translation(result, translator)
    else:
        raise ValueError(
            f"the stage shows a translation, or attention=... with tokens=..., got {type(result).__name__}"
        )
    if not shown.built and kind is not None:
        raise ValueError("this model has no attention")
    return StagePage(message_of(replace(shown, stretch=stretch)), _place(shown, kind, layer, head), height)


def _place(shown: Shown, kind: str | None, layer: int | None, head: int | None) -> dict[str, Any]:
    """What is open at first; a ValueError where there is no such thing."""
    code = next((one for one in shown.built if kind in (one, one.removesuffix("_self"))), None)
    if kind is not None and code is None:
        raise ValueError(f"there is no attention of the kind {kind!r} here: choose of {', '.join(shown.built)}")
    if layer is None and head is None:
        return {"kind": code} if code else {}
    code = code or next(one for one in KINDS_SHOWN if one in shown.built)
    counts = shown.built[code].weights.shape[:2]
    place = (layer or 0, head or 0)
    if not all(0 <= number < count for number, count in zip(place, counts)):
        raise ValueError(f"{code} has {counts[0]} layers of {counts[1]} heads, counted from 0; got {place}")
    return {"kind": code, "layer": place[0], "head": place[1]}


def _of_translation(result: Translation, translator: Translator | Writer | None) -> Shown:
    shown = Shown(result, built(result, maps.Options(), "predicted"), np.exp(result.log_probabilities))
    if translator is None or "logits" not in result.trace:
        return shown
    found = maps.next_words(result.trace["logits"], translator.tokenizer)
    return replace(shown, candidates=found.candidates, entropy=found.entropy)


def _unknown(side: str) -> np.ndarray:
    raise ValueError(f"the positional encoding of the {side} is not known")


def of_attention(given: Attention, chosen: View | None = None) -> Shown:
    """What the stage shows of the attention of any model.

    Args:
        given: it.
        chosen: the options of the maps; rows are named by the token read where it is not known what was predicted.
    """
    chosen, aligned = chosen or View(), not given.predicted_tokens
    as_ours = {name: getattr(given, name) for name in ("source_tokens", "target_tokens", "attention", "mask")}
    predicted = given.predicted_tokens or given.target_tokens
    foreign = SimpleNamespace(text=None, predicted_tokens=predicted, positional=_unknown, **as_ours)
    rows = "read" if aligned else chosen.rows
    made = built(foreign, options(chosen), rows)
    if aligned:
        made = {kind: replace(one, others=None) for kind, one in made.items()}
    told = {"rows": rows, "stretch": chosen.stretch, "aligned": aligned, "masked": list(given.masks), "rowwise": False}
    return Shown(foreign, made, None, **told)
