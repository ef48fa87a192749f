"""Weights and probabilities as tables. Arrays and strings in, data out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from viz.text.language import say
from viz.views import maps
from viz.views.cached import Shown


def probabilities(result: Shown) -> np.ndarray:
    """The probability of each predicted token, float32 (T,)."""
    return np.exp(result.log_probabilities)


def weight_table(built: maps.Maps, layer: int, head: int) -> pd.DataFrame:
    """One row per cell of the large map: query, key, weight, and whether it is drawn and allowed."""
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
