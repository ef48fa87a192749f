"""The board of heads: numbers, summaries and the frame round the selected head."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures import share_board

VALUES = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.9]])


def test_every_cell_is_at_its_layer_and_head():
    figure = share_board(VALUES, value="error rate", selected=(1, 2))
    board, _ = figure.data
    np.testing.assert_array_equal(board.z, VALUES.astype(np.float32))
    assert (figure.layout.yaxis2.ticktext[1], figure.layout.xaxis2.ticktext[2]) == ("layer 1", "head 2")
    assert (board.zmin, board.zmax) == (0, 1) and not board.reversescale
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)
    assert list(figure.layout.yaxis.range) == [1.5, -0.5], "layer 0 is on top"
    assert "error rate of each of 6 heads" in figure.description


def test_summaries_have_columns_of_their_own():
    figure = share_board(VALUES, summaries={"mean": [0.2, 0.6], "max": [0.3, 0.9]}, low_is_good=True)
    board, _ = figure.data
    np.testing.assert_allclose(board.z[:, 3:], [[0.2, 0.3], [0.6, 0.9]], rtol=1e-6)
    assert list(figure.layout.xaxis.ticktext) == ["0", "1", "2", "mean", "max"]
    assert figure.layout.xaxis2.ticktext[4] == "max"
    assert board.reversescale
    assert "mean and max of each layer. Smaller is better." in figure.description
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 2.5


def test_colours_may_end_at_the_largest_number_and_then_say_so():
    figure = share_board(VALUES, scale_to_max=True)
    assert figure.data[0].zmax == pytest.approx(0.9)
    assert "largest" in figure.data[0].colorbar.title.text
    assert share_board(np.zeros((2, 3)), scale_to_max=True).data[0].zmax == 1


def test_many_heads_have_no_room_for_numbers():
    few, many = (share_board(np.zeros((1, n))).data for n in (12, 13))
    assert list(few[1].text) == ["0.00"] * 12 and not few[0].showscale
    assert len(many) == 2 and many[0].showscale


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": VALUES + 1}, "allowed are probabilities from 0 to 1"),
        ({"values": VALUES[0]}, "allowed are 2"),
        ({"selected": (2, 0)}, "the selected layer is 2; allowed are integers from 0 to 1"),
        ({"selected": (0, 3)}, "the selected head is 3"),
        ({"summaries": {"mean": [0.1]}}, r"the summary 'mean' has shape \(1,\); allowed is \(2,\)"),
    ],
)
def test_what_cannot_be_drawn_is_told(changes, message):
    with pytest.raises(ValueError, match=message):
        share_board(**{"values": VALUES, **changes})
