"""An induction circuit: why two heads of SmolLM2-135M look where they look, as recorded in the text of repeated words.

The first head looks from a word at the word after its last occurrence, because of what the second one, a
previous-token head, wrote there (Elhage et al. 2021, Olsson et al. 2022). Of one query of each head
the file of `recorded_model` has all parts of the query and of its keys, as 16-bit floats.
`python -m model.experiments.recorded_circuit DIR` writes the whole file.
"""

import argparse
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from model.adapters.readers.reader import Reader
from model.analysis.score_parts import ScoreParts, split_scores
from model.experiments import recorded_model
from model.experiments.recorded_model import FILE, FOLDER, REPEATED, WORDS
from model.storage.checkpoint import checkpoints_folder
from model.text.errors import Problem

TEXT = "repeated"  # its name in the recording
KIND = "decoder_self"
INDUCTION, PREVIOUS = (18, 6), (16, 0)  # layer and head
WORD = 7  # of the first WORDS: after its second occurrence the induction head looks at the word after the first one
AFTER = WORD + 1
QUERY = len(WORDS) + WORD


@dataclass(frozen=True)
class RecordedRow:
    """The parts of the scores of one query of a head.

    Attributes:
        query: the place of the query in the text.
        parts: of this query alone, with all tokens of the text as keys: its scores are (1, T).
    """

    layer: int
    head: int
    query: int
    parts: ScoreParts


def study(reader: Reader) -> dict[str, np.ndarray]:
    """The arrays of a file by name, from a model of transformers; a ValueError where it has no such heads."""
    result = reader.read(REPEATED)
    arrays = {}
    about = []
    for number, ((layer, head), query) in enumerate(((INDUCTION, QUERY), (PREVIOUS, AFTER))):
        parts = reader.score_parts(result, KIND, layer, head)
        queries, keys = parts.row_parts(query)
        n_keys = query + 1  # the others are in the future
        arrays[f"circuit_{number}_queries"] = queries.astype(np.float16)
        arrays[f"circuit_{number}_keys"] = keys[:, :n_keys].astype(np.float16)
        arrays[f"circuit_{number}_scores"] = parts.scores[query, :n_keys].astype(np.float32)
        names = {"query_names": parts.query_names, "key_names": parts.key_names}
        about.append({"layer": layer, "head": head, "query": query} | names)
    return arrays | {"circuit": np.array(json.dumps(about))}


@cache
def read(path: Path) -> list[RecordedRow]:
    """The rows of a file that `record` wrote; a ValueError where it is not there."""
    if not path.is_file():
        raise Problem("the recording {path} is missing", path=path)
    with np.load(path) as file:
        n_tokens = file[TEXT].shape[-1]
        rows = []
        for number, about in enumerate(json.loads(str(file["circuit"]))):
            arrays = {name: file[f"circuit_{number}_{name}"] for name in ("queries", "keys", "scores")}
            rows.append(_row(arrays, about, n_tokens))
    return rows


def shipped() -> list[RecordedRow]:
    """The rows beside the checkpoints; errors as in `read`."""
    return read(checkpoints_folder() / FOLDER / FILE)


def _row(arrays: dict[str, np.ndarray], about: dict, n_tokens: int) -> RecordedRow:
    """A row from queries (A, K), which are divided as the model divides its scores, keys (B, S, K) and scores (S,)."""
    n_keys = len(arrays["scores"])
    keys = np.pad(arrays["keys"].astype(np.float64), ((0, 0), (0, n_tokens - n_keys), (0, 0)))
    parts = split_scores(
        about["query_names"],
        arrays["queries"][:, None],
        about["key_names"],
        keys,
        np.pad(arrays["scores"], (0, n_tokens - n_keys))[None],
        np.arange(n_tokens)[None] < n_keys,
        scale=1.0,
    )
    return RecordedRow(about["layer"], about["head"], about["query"], parts)


def record(folder: Path) -> None:
    """Read the texts with the model in a folder, and write the file of `recorded_model` with these rows."""
    from model.adapters.loading import load_model

    reader = load_model(str(folder))
    path = checkpoints_folder() / FOLDER / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = recorded_model.record(reader) | study(reader)
    np.savez_compressed(path, allow_pickle=False, **arrays)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=record.__doc__)
    parser.add_argument("folder", type=Path, help="a model of transformers")
    record(parser.parse_args().folder)
