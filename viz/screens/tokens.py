"""Tokens with their probabilities: as chips that light the map, and as tables. Arrays and strings in, data out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from viz.components.chips import Chip
from viz.language import say
from viz.screens import maps, words
from viz.screens.shared import Shown


def chip_lines(result: Shown, built: maps.Maps, kind: str, named: str, names: tuple[str, str]) -> dict[str, list[Chip]]:
    """The chips of the source and of the translation, with the rows and columns of the map that are theirs.

    Args:
        result: the translation.
        built: the maps of a kind.
        kind: of attention.
        named: whether rows are named by the token "read" or "predicted".
        names: what the two lines are called.

    Returns:
        Chips by the name of their line.
    """
    source = [
        Chip(
            token,
            say("{token}: token {number} of the source.", token=token, number=i),
            row=built.row_of[i] if kind == "encoder_self" else -1,
            column=built.column_of[i] if kind != "decoder_self" else -1,
        )
        for i, token in enumerate(result.source_tokens)
    ]
    target = []
    last = len(result.predicted_tokens) - 1
    for t, (token, probability) in enumerate(zip(result.predicted_tokens, probabilities(result), strict=True)):
        # A token is read one step after it was predicted; the last one is never read.
        row_step = t if named == words.PREDICTED else t + 1 if t < last else None
        row = -1 if kind == "encoder_self" or row_step is None else built.row_of[row_step]
        column = built.column_of[t + 1] if kind == "decoder_self" and t < last else -1
        target.append(Chip(token, candidate_words(result, t), f"{probability:.0%}", row, column))
    return dict(zip(names, (source, target), strict=True))


def probabilities(result: Shown) -> np.ndarray:
    """The probability of each predicted token, float32 (T,)."""
    return np.exp(result.log_probabilities)


def candidate_words(result: Shown, step: int) -> str:
    """Say how probable the token of a step was, and which others there were."""
    token = result.predicted_tokens[step]
    others = [f"{name} {p:.1%}" for name, p in result.candidates[step] if name != token]
    return say(
        "{token}: probability {probability:.1%}. Instead there could have been: {others}",
        token=token,
        probability=probabilities(result)[step],
        others=" · ".join(others),
    )


def token_table(result: Shown) -> pd.DataFrame:
    """One row a step: what was read and predicted, with which probability, and the most probable candidates."""
    columns = {
        say("step"): range(len(result.target_tokens)),
        say("read"): result.target_tokens,
        say("predicted"): result.predicted_tokens,
        say("probability"): probabilities(result),
    }
    for rank in range(len(result.candidates[0])):
        columns[say("candidate {rank}", rank=rank + 1)] = [row[rank][0] for row in result.candidates]
        columns[say("probability {rank}", rank=rank + 1)] = [row[rank][1] for row in result.candidates]
    return pd.DataFrame(columns)


def weight_table(built: maps.Maps, layer: int, head: int) -> pd.DataFrame:
    """One row a cell of the large map: who asks, who is read, how much, and whether it is drawn and allowed."""
    place = built.place(layer, head)
    n_rows, n_columns = built.weights.shape[2:]
    rows, columns = (index.ravel() for index in np.indices((n_rows, n_columns)))
    return pd.DataFrame(
        {
            say("row"): rows,
            say("query"): np.array(built.queries, dtype=object)[rows],
            say("column"): columns,
            say("key"): np.array(built.keys, dtype=object)[columns],
            say(built.value): built.weights[place].ravel(),
            say("drawn"): built.shown[place].ravel(),
            say("allowed"): built.mask.ravel(),
        }
    )
