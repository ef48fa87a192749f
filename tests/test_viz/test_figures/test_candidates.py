"""What else could have been written: the numbers, their names, and the written token."""

import numpy as np
import pytest

from viz.figures import candidates_heatmap

PROBABILITIES = np.array([[0.7, 0.2], [0.5, 0.4]])


def test_cells_name_their_candidates_literally():
    figure = candidates_heatmap(
        PROBABILITIES, ["a", "b"], [["<s>", "c"], ["b", "$5$"]], output_probabilities=np.array([0.1, 0.5])
    )
    np.testing.assert_array_equal(figure.data[0].z, PROBABILITIES.astype(np.float32))
    assert list(figure.data[-1].text) == ["&lt;s&gt;", "c", "b", "&#36;5&#36;"]
    assert figure.layout.yaxis2.ticktext[0] == "0 “a”<br>written with probability 0.100"
    assert figure.layout.xaxis2.ticktext[1] == "1 “2”" and figure.data[0].customdata[0][1] == "“c”"
    assert list(figure.layout.xaxis.ticktext) == ["1", "2"]


def test_many_rows_carry_no_letters():
    probabilities = np.full((60, 2), 0.5)
    assert len(candidates_heatmap(probabilities, ["a"] * 60, [["b", "c"]] * 60).data) == 2, "the map and its ticks"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"candidates": [["a"], ["b"]]}, "candidates has 1 labels for 2 entries"),
        ({"output_probabilities": np.array([0.1, 7])}, "allowed are probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        candidates_heatmap(PROBABILITIES, ["a", "b"], **{"candidates": [["a", "b"]] * 2} | arguments)
