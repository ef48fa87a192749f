"""How active heads are, row by row: a histogram on a logarithmic axis, of which tenths are read."""

import numpy as np

LOW, HIGH = -6.0, 2.0  # powers of ten of the axis; what is beyond is in the first or the last bin
PER_DECADE = 20
BINS = int((HIGH - LOW) * PER_DECADE)
SHOWN_PER_DECADE = 4  # bins in a report


def bins_of(activity: np.ndarray) -> np.ndarray:
    """The bin of each activity, int of the same shape."""
    logs = np.log10(np.maximum(activity, 10.0**LOW))
    return np.clip(((logs - LOW) * PER_DECADE).astype(np.int64), 0, BINS - 1)


def count_rows(values: np.ndarray, is_counted: np.ndarray, bins: int) -> np.ndarray:
    """Histograms (H, bins) of whole numbers (B, H, T) below `bins`, of the rows (B, H, T) that are counted."""
    n_heads = values.shape[1]
    places = values + bins * np.arange(n_heads)[:, None]
    return np.bincount(places[is_counted], minlength=n_heads * bins).reshape(n_heads, bins)


def tenths(histogram: np.ndarray) -> np.ndarray:
    """The nine activities between the tenths of histograms (..., BINS): (..., 9); 0 where nothing was counted.

    Within a bin rows are spread evenly over the logarithmic axis.
    """
    flat = histogram.reshape(-1, BINS)
    result = np.zeros((len(flat), 9))
    for row, counts in enumerate(flat):
        if counts.sum():
            below = np.concatenate([[0], np.cumsum(counts)]) / counts.sum()
            # Empty bins would make an edge ambiguous: the upper edge of the last bin below a share is taken.
            shares, first = np.unique(below, return_index=True)
            places = np.interp(np.arange(1, 10) / 10, shares, first)
            result[row] = 10 ** (LOW + places / PER_DECADE)
    return result.reshape(*histogram.shape[:-1], 9)


def shown(histogram: np.ndarray) -> np.ndarray:
    """Histograms (..., BINS) with fewer, wider bins, SHOWN_PER_DECADE to each power of ten."""
    return histogram.reshape(*histogram.shape[:-1], -1, PER_DECADE // SHOWN_PER_DECADE).sum(axis=-1)
