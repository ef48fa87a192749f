"""Several texts at once: the rows of a batch without their pads, and rows that are read together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.adapters.readers.attachment.handed_out import check_axes
from model.adapters.readers.layout import ENCODER_DECODER
from model.adapters.readers.reading import Reading
from model.decoding.protocol import between_steps
from model.interventions.edits import Edits
from model.results.translation import as_array
from model.taps import record

MOST_TOKENS = 512  # of the rows that are read together, pads counted: a trace keeps every score of every head
# Token ids and the mask that says which of them are pads; inputs of the second side have "decoder_" before their names.
_SIDES = {"": ("input_ids", "attention_mask"), "decoder_": ("decoder_input_ids", "decoder_attention_mask")}


def readings(
    reader: Any, texts: Sequence[str] | Mapping[str, Tensor] | None, edits: Edits, inputs: Mapping[str, Tensor]
) -> list[Reading]:
    """The recordings of several texts.

    Texts are read together where each recording equals that of its text alone: padded on the right, MOST_TOKENS at a
    time. Else, where a model writes an answer, reads pictures or is not on the interface of transformers, each is read
    by itself.

    Args:
        reader: a `Recorder`, whose file imports this one.
        texts: the texts; or the tensors that the model takes, a row per text, padded on either side.
        edits: changes that hold for each of them.
        inputs: such tensors by name, where no texts are given.

    Raises:
        ValueError: as in `Reader.read`, for any of the texts, before the first is read.
    """
    if (texts is None) == (not inputs):
        raise ValueError("give a list of texts, or the tensors that the model takes")
    if isinstance(texts, str):
        raise ValueError("read_batch takes a list of texts; read takes one text")
    if texts is None or isinstance(texts, Mapping):
        rows = reader.rows(inputs if texts is None else texts)
        names = [""] * len(rows)
    else:
        names = list(texts)
        rows = [reader.encode(text) for text in names]
    if not _reads_together(reader) or not _are_alike(rows):
        return [reader.read(name or None, edits=edits, **({} if name else row)) for name, row in zip(names, rows)]
    for row in rows:
        reader.check_edits(edits, row)
    results = []
    for group in groups([row["input_ids"].size(1) for row in rows]):
        between_steps()
        results += _record_together(reader, [names[row] for row in group], [rows[row] for row in group], edits)
    return results


def _reads_together(reader: Any) -> bool:
    """Whether several texts can be one batch, each recording cut out of that of all."""
    config = reader.config
    of_tokens = config.has_words or reader.model.base_model is reader.model  # other outputs are of a whole text
    one_side = config.task != ENCODER_DECODER and len(config.kinds) == 1
    return one_side and of_tokens and not config.read_only and "attention_mask" in reader.accepted_inputs


def _are_alike(rows: Sequence[Mapping[str, Tensor]]) -> bool:
    """Whether all rows have the same inputs, each with one value per token."""
    if not all(set(row) == set(rows[0]) and "input_ids" in row for row in rows):
        return False
    return all(value.shape == row["input_ids"].shape for row in rows for value in row.values())


@torch.inference_mode()
def _record_together(
    reader: Any, texts: Sequence[str], rows: Sequence[dict[str, Tensor]], edits: Edits
) -> list[Reading]:
    """Record one pass over several texts, and cut out of it what a pass over each records."""
    inputs = together(rows, pad_of(reader.model, reader.tokenizer))
    with reader.apply_edits(edits, inputs), record() as trace:
        logits = reader.forward(inputs).get("logits")
    length = inputs["input_ids"].size(1)
    check_axes(trace, reader.config, {"source": length, "target": length}, len(rows))
    recorded = {address: (value, reader.taps[address].shape) for address, value in trace.items()}
    if logits is not None:
        recorded["logits"] = (logits, "B T V")
    results = []
    for row, (text, inputs) in enumerate(zip(texts, rows)):
        length = inputs["input_ids"].size(1)
        parts = {address: _part(value, axes, row, length) for address, (value, axes) in recorded.items()}
        # Copies: one recording that stays does not hold the others in memory.
        arrays = {address: np.array(as_array(part)) for address, part in parts.items()}
        results.append(reader.recording_of(text, inputs, edits, arrays, parts.get("logits")))
    return results


def pad_of(model: Any, tokenizer: Any) -> int | None:
    """The id that stands for no token where no mask says which tokens are pads, or None.

    As in `generate` of transformers: an id that also ends texts is a token.
    """
    config = model.config.get_text_config()
    pads = (getattr(tokenizer, "pad_token_id", None), getattr(config, "pad_token_id", None))
    pad = next((index for index in pads if index is not None), None)
    ends = getattr(config, "eos_token_id", None)
    ends = {*(ends if isinstance(ends, list) else [ends]), getattr(tokenizer, "eos_token_id", None)}
    return None if pad in ends else pad


def rows_of(inputs: Mapping[str, Tensor], pad: int | None) -> list[dict[str, Tensor]]:
    """The rows of a batch as batches of one, without the pads before and after their tokens.

    Without them every model counts positions from the first token, whatever it counts them by.

    Args:
        inputs: what a model takes; one row is that of all others.
        pad: the id of pads where there is no mask, as `pad_of` says.

    Raises:
        ValueError: for inputs that are not tensors with one row per text, and for a row without a token.
    """
    for name, value in inputs.items():
        if not isinstance(value, Tensor) or value.dim() < 2:
            what = f"the shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            expected = 'a tensor with one row per text, as tokenizer(text, return_tensors="pt") gives it'
            raise ValueError(f"{name} must be {expected}, got {what}")
    counts = {name: len(value) for name, value in inputs.items()}
    most = max(counts.values())
    for name, count in counts.items():
        if count not in (1, most):
            raise ValueError(f"{name} has {count} rows, other inputs have {most}: each text needs one")
    rows = []
    for row in range(most):
        values = {name: value if len(value) < most else value[row : row + 1] for name, value in inputs.items()}
        for prefix in _SIDES:
            values |= _without_pads(values, prefix, pad)
        rows.append(values)
    return rows


def _without_pads(values: Mapping[str, Tensor], prefix: str, pad: int | None) -> dict[str, Tensor]:
    """The inputs of one side of one row, those that have a value per token cut to the tokens between their pads."""
    of_ids, of_mask = _SIDES[prefix]
    ids = values.get(of_ids)
    mask = values.get(of_mask)
    if ids is None or (mask is not None and mask.shape != ids.shape):  # a mask of queries and keys says more
        return {}
    is_token = torch.ones_like(ids, dtype=torch.bool) if pad is None else ids != pad
    if mask is not None:
        is_token = mask.bool()
    elif prefix:  # a decoder may begin with the id of pads
        is_token[:, 0] = True
    places = is_token[0].nonzero()[:, 0].tolist()
    if not places:
        raise ValueError("there is nothing to read: a row has pads alone")
    tokens = slice(places[0], places[-1] + 1)
    return {name: value[:, tokens] for name, value in values.items() if _is_per_token(name, value, prefix, ids)}


def _is_per_token(name: str, value: Tensor, prefix: str, ids: Tensor) -> bool:
    """Whether an input of this side has a value for each token."""
    return name.startswith("decoder_") == bool(prefix) and value.shape[1:2] == ids.shape[1:] and len(value) == len(ids)


def groups(lengths: Sequence[int], most: int | None = None) -> Iterator[list[int]]:
    """The numbers of rows of these lengths, in order, in groups that are read together.

    A group has at most `most` tokens, pads counted, or is one row; MOST_TOKENS unless given.

    Example:
        >>> list(groups([3, 4, 9, 2], most=8))
        [[0, 1], [2], [3]]
    """
    most = MOST_TOKENS if most is None else most
    group: list[int] = []
    longest = 0
    for row, length in enumerate(lengths):
        longest = max(longest, length)
        if group and longest * (len(group) + 1) > most:
            yield group
            group = []
            longest = length
        group.append(row)
    if group:
        yield group


def together(rows: Sequence[Mapping[str, Tensor]], pad: int | None) -> dict[str, Tensor]:
    """Rows of texts as one batch, padded on the right, where pads change no position; its mask says where they are.

    Args:
        rows: batches of one with the same inputs, one value per token each.
    """
    longest = max(row["input_ids"].size(1) for row in rows)
    masked = [{**row, "attention_mask": row.get("attention_mask", torch.ones_like(row["input_ids"]))} for row in rows]

    def padded(name: str, value: Tensor) -> Tensor:
        filling = pad or 0 if name == "input_ids" else 0
        return F.pad(value, (0, longest - value.size(1)), value=filling)

    return {name: torch.cat([padded(name, row[name]) for row in masked]) for name in masked[0]}


def _part(value: Tensor, axes: str, row: int, length: int) -> Tensor:
    """What a tap recorded of one row of a batch, its pads left out.

    Args:
        axes: the letters of the tap, "B H T S" for example: T and S count the tokens of the text.
        row: its number; what is the same for all rows has only one.
        length: how many tokens the row has.
    """
    tokens = tuple(slice(length) if letter in "TS" else slice(None) for letter in axes.split()[1:])
    return value[row if len(value) > 1 else 0][tokens]
