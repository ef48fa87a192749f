"""The stage outside the app: in a notebook, and as a file."""

import base64
import gzip
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from model.adapters.attention_file import checked
from model.adapters.outputs import attention_from
from model.adapters.readers.reader import Reader
from model.adapters.readers.reading import Reading
from model.adapters.readers.tasks import attach
from model.interventions.edits import Edits, Head
from model.results.recording import Candidates, Recording
from model.results.translation import Translation
from viz.stage.files import MARK, page
from viz.stage.payload.answers import answer_of, line_of
from viz.stage.payload.message import Version
from viz.stage.payload.message import message as message_of
from viz.stage.payload.notes import of_reading
from viz.stage.payload.packing import pack_head
from viz.stage.payload.payloads import ReportPart
from viz.stage.payload.recordings import ORDER
from viz.stage.payload.roles import heads_here, keep_roles
from viz.text.language import current, message, say
from viz.text.words import KINDS, SHORT_KINDS

HEIGHT = 780  # pixels of the frame in a notebook


@dataclass(frozen=True)
class StagePage:
    """The stage as one HTML file, which needs no network; a notebook shows it as it is."""

    message: bytes = field(repr=False)
    place: Mapping[str, object]  # what is open at first, by the names of an address
    height: int = HEIGHT
    maps: Sequence[np.ndarray] = field(repr=False, default=())  # quantised (L, H, T, S), too many for the message

    def to_html(self) -> str:
        """The file, about 2.3 MB and the maps: Plotly is in it.

        Of maps that are too many for the message, the opened heads are in it and the others stand beside it, a byte for
        each weight.
        """
        parts = {"": _packed(self.message)}
        for number, maps in enumerate(self.maps):
            for layer, head in np.ndindex(maps.shape[:2]):
                parts[f"{number}/{layer}/{head}"] = _packed(pack_head(maps[layer, head], in_bytes=True))
        content = json.dumps({"place": self.place, "parts": parts}).replace("<", "\\u003c")
        return page().replace(MARK, content, 1).replace("<html>", f'<html lang="{current()}">', 1)

    def save(self, path: Path | str) -> Path:
        """Write the file; returns where it is."""
        path = Path(path)
        path.write_text(self.to_html(), encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        # A frame, so that several in one notebook know nothing of each other.
        return (
            f'<iframe title="Headlight" srcdoc="{html.escape(self.to_html())}" sandbox="allow-scripts allow-downloads" '
            f'allow="clipboard-write" style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def stage(
    result: Any = None,
    translator: Any = None,
    text: str | None = None,
    *,
    off: Iterable[tuple[int, int] | tuple[str, int, int] | Head] = (),
    attention: Any = None,
    tokens: Any = None,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    stretch: bool = False,
    height: int = HEIGHT,
) -> StagePage:
    """Put a result, or the attention of any model, on the stage: a notebook shows it, `.save(path)` writes it.

    `stage(model, tokenizer, "a text", off=[(23, 0)])` takes a model of transformers that is loaded already, held in any
    way that `model.attach` takes: what it reads without and with the change can be seen in turn, and the difference.

    Args:
        result: a translation; what a language model read; or a `Recording`, as in `read_attention`.
        translator: that made the result: then the most probable next words are shown. Of a model its tokenizer.
        text: that the model reads.
        off: heads that are switched off, (layer, head), or (kind, layer, head) where it has several kinds.
        attention, tokens: instead of a result, as for `model.adapters.outputs.attention_from`.
        kind, layer, head: what is open at first: "encoder", "decoder" or "cross"; numbered as in the model, from 0.
        stretch: colours end at the largest weight instead of 1.
        height: pixels of the frame in a notebook.

    Raises:
        ValueError: where there is nothing to show, or tokens and maps do not fit together or are too many.

        >>> page = stage(attention=np.full((2, 3, 4, 4), 0.25), tokens=["A", "dog", "runs", "."])  # 2 layers of 3 heads
    """
    before = None
    edits = Edits()
    if text is not None:
        reading, before, translator = _read(result, translator, text, off)
        result = reading
        edits = reading.edits
    if (result is None) == (attention is None):
        raise ValueError("give a result, or attention=... with tokens=...")
    if attention is not None:
        result = attention_from(attention, tokens)
    version = _version_of(result, translator)
    place = _place(version.recording, kind, layer, head)
    old = None
    if before is not None:
        old = version_of(before, translator)
        version = keep_roles(version, old, edits)
    stage_page = page_of(version, old, place | ({"stretch": 1} if stretch else {}))
    return replace(stage_page, height=height)


def page_of(
    version: Version,
    before: Version | None = None,
    place: Mapping[str, object] = {},
    report: Sequence[ReportPart] = (),
) -> StagePage:
    """The page of a version, and of that without its changes; `place` and `report` as in `StagePage` and `message`."""
    open_heads = _open_heads(version.recording, place)
    maps: list[np.ndarray] = []

    def keep(quantised: np.ndarray) -> str:
        maps.append(quantised)
        return str(len(maps) - 1)

    in_file = partial(replace, open_heads=open_heads, in_file=True)
    payload = message_of(in_file(version), keep, before and in_file(before), report=report)
    return StagePage(payload, place, maps=maps)


def _read(model: Any, tokenizer: Any, text: str, off: Iterable[Any]) -> tuple[Reading, Reading | None, Reader]:
    """What a model of transformers reads with heads off, and without where there are any; and its reader."""
    reader = model if isinstance(model, Reader) else attach(model, tokenizer)
    if not isinstance(off, Iterable):
        raise ValueError(f"off is a list of heads, off=[(23, 0)] for example, got {off!r}")
    heads = tuple(head if isinstance(head, Head) else _head(head, reader.config.kinds) for head in off)
    result = reader.read(text)
    if not heads:
        return result, None, reader
    return reader.read(text, edits=Edits(off=heads)), result, reader


def _head(place: Any, kinds: Sequence[str]) -> Head:
    """The head of (layer, head) or (kind, layer, head), where a model has these kinds; else a ValueError."""
    parts = tuple(place) if isinstance(place, Sequence) and not isinstance(place, str) else ()
    if len(parts) == 2 and len(kinds) == 1:
        return Head(kinds[0], *parts)
    if len(parts) != 3 or parts[0] not in kinds:
        short = "(layer, head) or " if len(kinds) == 1 else ""
        raise ValueError(
            f"a head of off is {short}(kind, layer, head) with a kind of {', '.join(kinds)}, got {place!r}"
        )
    return Head(*parts)


def _version_of(result: Any, translator: Any) -> Version:
    """What the stage shows of a recording, or of a result as `version_of` does; a ValueError of anything else."""
    if isinstance(result, Recording):
        return of_recording(checked(result))
    if isinstance(result, Translation):
        return version_of(result, translator)
    type_name = type(result).__name__
    raise ValueError(f"the stage shows a translation, or attention=... with tokens=..., got {type_name}")


def version_of(result: Translation, translator: Any) -> Version:
    """What the stage shows of a result, given what made it, if that is known."""
    logits = result.trace.get("logits") if result.predicted_tokens else None
    if isinstance(translator, Reader):
        candidates = None if logits is None else Candidates.of(logits, SimpleNamespace(tokens=translator.words))
        recording = replace(result.recording(candidates), text=line_of(answer_of(result, candidates)))
        notes = [*_changes(result), *of_reading(result)]
        return Version(recording, roles=heads_here(result), notes=notes, is_live=True, predicts=translator.has_words)
    if translator is None or logits is None:
        return Version(result.recording())
    return Version(result.recording(Candidates.of(logits, translator.tokenizer)))


def _changes(result: Translation) -> list[str]:
    """The heads that were off while a model read a text, in one sentence; nothing where there are none."""
    line = message("{kind} {layer}.{head} off")
    names = []
    for head in getattr(result, "edits", Edits()).off:
        names.append(say(line, kind=say(SHORT_KINDS[head.kind]), layer=head.layer, head=head.head))
    return [f"{', '.join(names)}."] if names else []


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def _place(recording: Recording, kind: str | None, layer: int | None, head: int | None) -> dict[str, object]:
    if kind is layer is head is None:
        return {}
    kinds = [code for code in ORDER if code in recording.weights]
    code = next((code for code in kinds if kind in (None, code, code.removesuffix("_self"))), None)
    if code is None:
        raise ValueError(f"there is no attention of the kind {kind!r} here, only {', '.join(kinds) or 'none'}")
    if layer is None and head is None:
        return {"kind": code}
    n_layers, n_heads, *_ = recording.weights[code].shape
    numbers = recording.layers(code)
    layer = numbers[0] if layer is None else layer
    head = head or 0
    if layer not in numbers or not 0 <= head < n_heads:
        numbering = (
            "counted from 0" if numbers == list(range(n_layers)) else f"the layers {', '.join(map(str, numbers))}"
        )
        raise ValueError(f"{code} has {n_layers} layers of {n_heads} heads, {numbering}; got {layer}, {head}")
    return {"kind": code, "layer": layer, "head": head}


def _open_heads(recording: Recording, place: Mapping[str, Any]) -> dict[str, list[tuple[int, int]]]:
    """By kind the row and column of the head that is open at first, where one is named."""
    if "layer" not in place:
        return {}
    return {place["kind"]: [(recording.layers(place["kind"]).index(place["layer"]), place["head"])]}


def of_recording(recording: Recording) -> Version:
    """What the stage shows of a recording of any model."""
    return Version(recording, notes=[_nan_note(recording, kind) for kind in recording.nan_rows])


def _nan_note(recording: Recording, kind: str) -> str:
    name = say(KINDS[kind].name)
    n_rows = recording.zero_rows(kind)[1]
    line = message(
        "{kind}: {n} of {total} rows are not numbers (NaN), as of queries whose every key is masked. They are drawn as "
        "empty."
    )
    return say(line, kind=name, n=recording.nan_rows[kind], total=n_rows)
