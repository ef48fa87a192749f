"""What comes back by layer and position: numbers, colours about zero, and positions without a number."""

import numpy as np
import pytest

from viz.figures import stream_patches

SHARES = np.array([[0.0, np.nan, 1.0], [0.25, np.nan, 0.5]])


def test_positions_that_are_left_alone_stay_empty() -> None:
    figure = stream_patches(SHARES, ["a", "b", "c"], selected=(1, 2))
    cells, _, texts = figure.data
    np.testing.assert_array_equal(cells.z, SHARES.astype(np.float32))
    assert (cells.zmin, cells.zmid, cells.zmax) == (-1, 0, 1)
    assert [text.strip() for text in texts.text] == ["0%", "", "100%", "25%", "", "50%"]
    assert list(figure.layout.yaxis.ticktext) == ["embedding", "layer 0"]
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].y0) == (1.5, 0.5)
    assert "empty" in figure.description and "empty" not in stream_patches(SHARES[:, :1], ["a"]).description
    with pytest.raises(ValueError, match="tokens has 2 labels for 3 entries"):
        stream_patches(SHARES, ["a", "b"])


def test_shares_beyond_the_whole_have_their_colour() -> None:
    assert stream_patches(1.5 * np.ones((2, 2)), ["a", "b"]).data[0].zmax == 1.5
