"""What every figure function keeps to, run over all of them: a new one without a case here fails.

A case says how to call a function for T queries and S keys; the checks below know nothing else about it.
"""

from __future__ import annotations

import copy
import html
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import pytest

import viz.figures
from tests.support.repeated import first_quick
from viz.figures import Figure, heatmap
from viz.figures.tables import Cells

QUERIES = ["<s>", "the", "the", "</s>"]
KEYS = ["<s>", "ein", "<b>k</b>", "&amp;", "%{z}", "</s>"]
ODD = ["<script>alert(1)</script>", "$5$", 'say "hi"', "it's", "👩‍👩‍👧", "שלום", "", "\n", "\u200b", "the", "the"]
MARKUP = ("<s>", "</s>", "<b>", "<script>", "</b>", "</script>")


@dataclass(frozen=True)
class Case:
    """How to call one figure function.

    Args:
        arrays: (T, S) -> the arrays it draws, as keywords.
        call: (arrays, queries, keys) -> Figure.
        tokens: the names of the arguments that take tokens: of rows and columns, of rows, or none.
        z: whether its first trace is a map of rows by columns.
        kilobytes: what 64 by 64 tokens may take, where a figure is many pictures.
        blanks: whether NaN is a cell without a number.
    """

    arrays: Callable[[int, int], dict[str, np.ndarray]]
    call: Callable[..., go.Figure]
    tokens: tuple[str, ...] = ("queries", "keys")
    z: bool = True
    kilobytes: int = 200
    blanks: bool = False


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(0).random(shape) + 0.01
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def signed(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape).astype(np.float64)


def mask(n_queries: int, n_keys: int) -> np.ndarray:
    return np.arange(n_queries)[:, None] >= np.arange(n_keys)[None]


def positions(n: int, _: int) -> np.ndarray:
    return np.sin(np.arange(n)[:, None] / 3.0 ** np.arange(6))


CASES = {
    "attention_heatmap": Case(
        lambda t, s: {"weights": weights(t, s)},
        lambda a, q, k, **say: viz.figures.attention_heatmap(a["weights"], q, k, **say),
    ),
    "attention_heatmap masked": Case(
        lambda t, s: {"weights": weights(t, s), "mask": mask(t, s)},
        lambda a, q, k, **say: viz.figures.attention_heatmap(a["weights"], q, k, mask=a["mask"], **say),
    ),
    "attention_heatmap with every option": Case(
        lambda t, s: {"weights": weights(t, s)},
        lambda a, q, k, **say: viz.figures.attention_heatmap(
            a["weights"],
            q,
            k,
            visible=np.ones(a["weights"].shape, bool),
            removed=np.zeros(len(a["weights"])),
            value="mean weight",
            **say,
        ),
    ),
    "head_board": Case(
        lambda t, s: {"values": signed(t, s)},
        lambda a, q, k, **say: viz.figures.head_board(a["values"], q, k, signed=True, selected=(0, 0), **say),
        tokens=(),
        kilobytes=560,  # a name and a text per cell
    ),
    "head_board with texts": Case(
        lambda t, s: {"values": weights(t, s)},
        lambda a, q, k, **say: viz.figures.head_board(
            a["values"], q, k, texts=[["<b>x</b>"] * len(k)] * len(q), value="<i>worth</i>", low_is_good=True, **say
        ),
        tokens=(),
        kilobytes=560,
    ),
    "written_heatmap": Case(
        lambda t, s: {"values": signed(t, s)},
        lambda a, q, k, **say: viz.figures.written_heatmap(
            a["values"], q, k, row_axis="<i>row</i>", column_axis="column", signed=True, selected=(0, 0), **say
        ),
        tokens=("rows", "columns"),
        kilobytes=560,  # a text per cell
    ),
    "head_map": Case(
        lambda t, s: {"points": signed(2 * t, 2)},
        lambda a, q, k, **say: viz.figures.head_map(
            a["points"], list(np.ndindex(len(q), 2)), [name for name in q for _ in "ab"], selected=(0, 1), **say
        ),
        tokens=(),
        z=False,
    ),
    "head_map of two measures": Case(
        lambda t, s: {"points": signed(2 * t, 2)},
        lambda a, q, k, **say: viz.figures.head_map(
            a["points"], list(np.ndindex(len(q), 2)), ["<b>x</b>"] * 2 * len(q), axes=("<i>a</i>", "b"), **say
        ),
        tokens=(),
        z=False,
    ),
    "candidates_heatmap": Case(
        lambda t, s: {"probabilities": weights(t, 2)},
        lambda a, q, k, **say: viz.figures.candidates_heatmap(
            a["probabilities"], q, [["<b>", "<s>"]] * len(q), output_probabilities=np.full(len(q), 0.5), **say
        ),
        tokens=("tokens",),
    ),
    "loss_board": Case(
        lambda t, s: {"losses": np.abs(signed(t, s))},
        lambda a, q, k, **say: viz.figures.loss_board(a["losses"], q, k, limit=2, selected=[(0, 1)], **say),
        tokens=("rows", "columns"),
        kilobytes=400,  # a number in every cell
    ),
    "mask_heatmap": Case(
        lambda t, s: {"mask": mask(t, s)}, lambda a, q, k, **say: viz.figures.mask_heatmap(a["mask"], q, k, **say)
    ),
    "mask_heatmap with a convention": Case(
        lambda t, s: {"mask": mask(t, s)},
        lambda a, q, k, **say: viz.figures.mask_heatmap(
            a["mask"], q, k, cell_texts=np.where(a["mask"], "0", "-inf"), **say
        ),
    ),
    "offset_lines": Case(
        lambda t, s: {"similarity": signed(2, s)},
        lambda a, q, k, **say: viz.figures.offset_lines(a["similarity"], ["a", "<b>b</b>"], **say),
        tokens=(),
        z=False,
    ),
    "stream_patches": Case(
        lambda t, s: {"shares": signed(t, s)},
        lambda a, q, k, **say: viz.figures.stream_patches(a["shares"], k, selected=(0, 1), **say),
        tokens=(),
        kilobytes=400,  # a number in every cell
        blanks=True,
    ),
    "similarity_heatmap": Case(
        lambda t, s: {"products": signed(t, t)},
        lambda a, q, k, **say: viz.figures.similarity_heatmap(a["products"], **say),
        tokens=(),
    ),
    "wavelength_lines": Case(
        lambda t, s: {"wavelengths": np.abs(signed(2, s)) + 0.1},
        lambda a, q, k, **say: viz.figures.wavelength_lines(a["wavelengths"], ["a", "$b$"], **say),
        tokens=(),
        z=False,
    ),
    "search_tree": Case(
        lambda t, s: {"log_probabilities": -np.abs(signed(t + s))},
        lambda a, q, k, **say: viz.figures.search_tree(
            a["log_probabilities"],
            [-1, *((node - 1) // 2 for node in range(1, len(a["log_probabilities"])))],
            [(q + k)[node % len(q + k)] for node in range(len(a["log_probabilities"]))],
            ["kept" if node % 3 else "pruned" for node in range(len(a["log_probabilities"]))],
            **say,
        ),
        tokens=(),
        z=False,
    ),
    "deviations": Case(
        lambda t, s: {"values": np.abs(signed(t, 3))},
        lambda a, q, k, **say: viz.figures.deviations(a["values"], [f"<b>{n}</b>" for n in range(len(q))], **say),
        tokens=(),
        z=False,
    ),
    "changes_by_seed": Case(
        lambda t, s: {"values": np.abs(signed(t, 2))},
        lambda a, q, k, **say: viz.figures.changes_by_seed(
            a["values"], [f"<b>{n}</b>" for n in range(len(q))], ["<i>a</i>", "b"], **say
        ),
        tokens=(),
        z=False,
    ),
    "difference_heatmap": Case(
        lambda t, s: {"a_minus_b": signed(t, s)},
        lambda a, q, k, **say: viz.figures.difference_heatmap(a["a_minus_b"], q, k, **say),
    ),
    "positional_heatmap": Case(
        lambda t, s: {"table": positions(t, s)},
        lambda a, q, k, **say: viz.figures.positional_heatmap(a["table"], q, **say),
        tokens=("tokens",),
    ),
    "encoding_panels": Case(
        lambda t, s: {"table": positions(t, s)},
        lambda a, q, k, **say: viz.figures.encoding_panels(a["table"], [0, 3], **say),
        tokens=(),
        z=False,
    ),
    "values_heatmap": Case(
        lambda t, s: {"values": signed(t, s)},
        lambda a, q, k, **say: viz.figures.values_heatmap(a["values"], q, value="state", limit=3, **say),
        tokens=("tokens",),
    ),
    "bars": Case(
        lambda t, s: {"values": weights(t, 2)},
        lambda a, q, k, **say: viz.figures.bars(a["values"], q, value="pieces", **say),
        tokens=("tokens",),
        z=False,
    ),
    "curves": Case(
        lambda t, s: {"line": np.stack([np.arange(1, s + 1), signed(s)])},
        lambda a, q, k, **say: viz.figures.curves(
            {"<b>a</b>": a["line"], "b": np.ones((2, 3))}, log_x=True, marks=[("b", 1, 1, "peak <i>")], **say
        ),
        tokens=(),
        z=False,
    ),
    "scatter": Case(
        lambda t, s: {"cloud": signed(2, s)},
        lambda a, q, k, **say: viz.figures.scatter(
            {"<b>a</b>": a["cloud"], "b": np.ones((2, 3))}, diagonal=True, **say
        ),
        tokens=(),
        z=False,
    ),
    "run_curves": Case(
        lambda t, s: {"line": np.stack([np.arange(1, s + 1), signed(s)])},
        lambda a, q, k, **say: viz.figures.run_curves(
            {"<b>a</b>": a["line"]}, {"<b>a</b>": a["line"]}, limit=6, step=20, **say
        ),
        tokens=(),
        z=False,
    ),
}
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
TOKENS = pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.tokens], ids=[n for n, case in CASES.items() if case.tokens]
)
MAPS = pytest.mark.parametrize("case", [c for c in CASES.values() if c.z], ids=[n for n, c in CASES.items() if c.z])


def draw(case: Case, queries: list[str], keys: list[str]) -> go.Figure:
    return case.call(case.arrays(len(queries), len(keys)), queries, keys)


def ticks(figure: go.Figure, axis: str) -> list[str]:
    return list(figure.layout[axis].ticktext)


def token_axes(case: Case, figure: go.Figure, queries: list[str], keys: list[str]) -> dict[str, list[str]]:
    """The axes that carry tokens, with the tokens they must carry."""
    if len(case.tokens) == 2:
        return {"yaxis": queries, "xaxis": keys}
    return {"yaxis" if case.z else "xaxis": queries}


def hover_strings(figure: go.Figure) -> list[str]:
    """Every string that a hover text can show."""
    strings = [
        name for side in "yx" if f"{side}axis2" in figure.layout for name in figure.layout[f"{side}axis2"].ticktext
    ]
    for trace in figure.data:
        for part in (trace.customdata, trace.text):
            if part is not None:
                strings += [s for s in np.asarray(part, dtype=object).ravel() if isinstance(s, str)]
    return strings


# -- nobody is missing


def test_every_public_figure_function_has_a_case():
    returns_figure = {}
    for module in pkgutil.iter_modules(viz.figures.__path__, "viz.figures."):
        members = inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)
        for name, function in members:
            if not name.startswith("_") and function.__module__ == module.name:
                returns_figure[name] = inspect.signature(function, eval_str=True).return_annotation is Figure
    # What other modules of the package share is not public.
    shared = {"build_figure", "framed", "grid", "titled"}
    figures = {name for name, gives_figure in returns_figure.items() if gives_figure} - shared
    assert figures == {name.split()[0] for name in CASES}, "write a Case for each figure function"
    assert figures == set(viz.figures.__all__) - {"Figure"}, "viz.figures.__all__ lists each figure function"


# -- what comes out


@EVERY
def test_a_figure_is_returned_and_nothing_given_is_changed(case):
    arrays = case.arrays(4, 6)
    queries, keys = list(QUERIES), list(KEYS)
    before = copy.deepcopy(arrays)
    figure = case.call(arrays, queries, keys)
    assert type(figure) is Figure and isinstance(figure, go.Figure)
    assert (queries, keys) == (QUERIES, KEYS)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])
        assert array.dtype == before[name].dtype


@EVERY
def test_a_figure_keeps_its_own_copy_of_the_array(case):
    arrays = {
        name: array.astype(np.float32) if array.dtype != bool else array for name, array in case.arrays(4, 6).items()
    }
    figure = case.call(arrays, QUERIES, KEYS)
    before = figure.to_json()
    for array in arrays.values():
        array[...] = 0
    assert figure.to_json() == before


@EVERY
def test_numbers_travel_as_typed_arrays_of_four_bytes_or_one(case):
    for trace in draw(case, QUERIES, KEYS).data:
        for name in ("x", "y", "z"):
            values = trace[name] if name in trace else None
            if values is not None:
                assert isinstance(values, np.ndarray), (name, type(values))
                assert values.dtype in (np.float32, np.uint8, np.int32), (name, values.dtype)


@EVERY
@pytest.mark.parametrize(
    ("n_queries", "n_keys", "share"), first_quick([(1, 1, 1 / 20), (40, 33, 5 / 9), (64, 64, 1)], 13)
)
def test_it_serialises_to_strict_json_of_a_reasonable_size(case, n_queries, n_keys, share):
    text = draw(case, [f"tok{i}" for i in range(n_queries)], [f"tok{i}" for i in range(n_keys)]).to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert len(text) < share * case.kilobytes * 1000


@EVERY
def test_it_describes_itself_in_one_sentence(case):
    figure = draw(case, QUERIES, KEYS)
    assert 40 < len(figure.description) < 250 and figure.description.endswith(".") and "\n" not in figure.description


@EVERY
def test_it_gives_its_table_along(case):
    figure = draw(case, QUERIES, KEYS)
    rows = list(figure.table.rows())
    assert rows and all(len(row) == len(figure.table.header) for row in rows)
    assert len(figure.table.csv().decode().splitlines()) > len(rows)
    assert figure.table.in_words() and all(len(sentence) > 5 for sentence in figure.table.in_words())
    assert figure.layout.meta is None, "nothing travels to the browser that only Python reads"


@EVERY
def test_every_word_goes_through_say(case):
    """Said in capitals, no sentence of the code is left as it was."""

    def loud(text: str, /, **values: object) -> str:
        return f"«{message_of(text)}»".format(**values) if values else f"«{message_of(text)}»"

    texts: list[str] = []

    def message_of(text: str) -> str:
        texts.append(text)
        return text.upper() if "{" not in text else text

    figure = case.call(case.arrays(4, 6), list(QUERIES), list(KEYS), say=loud)
    assert texts and figure.description.startswith("«")
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert not axis.title.text or axis.title.text.startswith("«")


@EVERY
def test_backgrounds_are_transparent_and_text_colours_are_left_to_the_page(case):
    figure = draw(case, QUERIES, KEYS)
    layout = figure.layout.to_plotly_json()
    layout.pop("template", None)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"

    def fonts(node, path=""):
        if isinstance(node, dict):
            for key, value in node.items():
                assert not (key == "color" and "font" in path), f"{path} has a colour"
                fonts(value, f"{path}.{key}")

    fonts(layout)
    for trace in figure.data:
        if trace.name != heatmap.WRITTEN:  # on a cell and not on the page: test_heatmap.py looks at their contrast
            fonts(trace.to_plotly_json())


# -- positions, directions, ranges


@MAPS
@pytest.mark.parametrize(("n_queries", "n_keys"), first_quick([(1, 1), (1, 7), (7, 1), (5, 7), (64, 64)], 15))
def test_rows_are_queries_from_the_top_and_columns_keys_from_the_left(case, n_queries, n_keys):
    figure = draw(case, ["q"] * n_queries, ["k"] * n_keys)
    cells = figure.data[0]
    z = np.asarray(cells.z)
    y0, dy, x0, dx = cells.y0 or 0, cells.dy or 1, cells.x0 or 0, cells.dx or 1  # a montage counts tiles
    bottom, top = ((end - y0) / dy for end in figure.layout.yaxis.range)
    left, right = ((end - x0) / dx for end in figure.layout.xaxis.range)
    assert top <= -0.5 and bottom >= z.shape[0] - 0.5, "query 0 is on top and every row is inside"
    assert left <= -0.5 and right >= z.shape[1] - 0.5
    assert figure.data[0].x is None and figure.data[0].y is None, "positions are the coordinates"
    if isinstance(figure.table, Cells):
        np.testing.assert_array_equal(figure.table.values, z)
        assert z.shape[0] == n_queries


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if len(c.tokens) == 2])
def test_a_marked_cell_appears_at_its_query_and_key(name):
    case = CASES[name]
    arrays = case.arrays(4, 6)
    for key in arrays:
        arrays[key] = np.zeros_like(arrays[key])
        arrays[key][3, 1] = 1
    figure = case.call(arrays, QUERIES, KEYS)
    z = np.asarray(figure.data[0].z)
    assert z.shape == (4, 6) and z[3, 1] == 1 and np.count_nonzero(z) == 1
    rows, columns = figure.layout.yaxis2, figure.layout.xaxis2
    assert rows.ticktext[list(rows.tickvals).index(3)].split("<br>")[0] == "3 “&lt;/s&gt;”"
    assert columns.ticktext[list(columns.tickvals).index(1)] == "1 “ein”"


@MAPS
def test_the_colour_range_is_fixed_and_said(case):
    trace = draw(case, QUERIES, KEYS).data[0]
    low, high = trace.zmin, trace.zmax
    of_losses = case is CASES["loss_board"]  # which have no largest value
    # Of a board every cell says its number.
    assert low < high and ((low, high) == (0, 1) or low == -high or of_losses or trace.showscale is False)
    assert trace.colorscale is not None, "the default scale is flipped on dark pages"


# -- labels


@TOKENS
@pytest.mark.parametrize("tokens", [QUERIES, KEYS, ODD], ids=["queries", "keys", "odd"])
def test_ticks_draw_tokens_literally_and_keep_equal_ones_apart(case, tokens):
    figure = draw(case, tokens, tokens)
    for axis, expected in token_axes(case, figure, tokens, tokens).items():
        texts = ticks(figure, axis)
        assert list(figure.layout[axis].tickvals) == list(range(len(expected)))
        assert len(texts) == len(expected)
        for text, token in zip(texts, expected, strict=True):
            assert "<" not in text and ">" not in text and "&quot;" not in text
            assert text.strip() != ""
            if token.isprintable() and 0 < len(token) < 14:
                assert html.unescape(text) == token


@TOKENS
def test_hover_names_tokens_literally_in_full(case):
    strings = hover_strings(draw(case, ODD, ODD))
    assert strings
    hover_text = "\n".join(html.unescape(s) for s in strings)
    for markup in MARKUP:
        assert not any(markup in s for s in strings)
    for token in ("<script>alert(1)</script>", "$5$", 'say "hi"', "it's", "👩‍👩‍👧", "∅", "␊", "[U+200B]"):
        assert token in hover_text, token
    assert "\u2068שלום\u2069" in hover_text, "right-to-left text is isolated"
    assert not any("$" in s for s in strings), "MathJax starts between dollar signs"


@TOKENS
def test_equal_tokens_have_positions_of_their_own_in_the_hover(case):
    names = {string.split("<br>")[0] for string in hover_strings(draw(case, QUERIES, QUERIES))}
    assert {"1 “the”", "2 “the”"} <= names


@TOKENS
@pytest.mark.parametrize("n", first_quick([1, 32, 33, 40, 64, 200], 23))
def test_ticks_are_thinned_and_hover_is_not(case, n):
    tokens = [f"tok{i}" for i in range(n)]
    figure = draw(case, tokens, tokens[:3])
    axis = "yaxis" if case.z else "xaxis"
    values = list(figure.layout[axis].tickvals)
    assert len(values) == len(ticks(figure, axis)) <= 32
    assert ticks(figure, axis) == [f"tok{i}" for i in values]
    assert (len(values) == n) == (n <= 32)
    assert ("labelled" in figure.layout[axis].title.text) == (n > 32)
    assert {f"{i} “tok{i}”" for i in range(n)} <= {string.split("<br>")[0] for string in hover_strings(figure)}


@TOKENS
def test_long_tokens_are_short_on_the_tick_and_whole_in_the_hover(case):
    token = "Donaudampfschifffahrtsgesellschaft"
    figure = draw(case, [token, "a"], [token, "a"])
    for axis in token_axes(case, figure, [], []):
        assert ticks(figure, axis)[0].endswith("…") and len(ticks(figure, axis)[0]) <= 14
    assert any(token in s for s in hover_strings(figure))


# -- what goes in


@TOKENS
def test_wrong_counts_name_the_numbers(case):
    arrays = case.arrays(4, 6)
    with pytest.raises(ValueError, match=rf"{case.tokens[0]} has 5 labels for 4 entries"):
        case.call(arrays, ["a"] * 5, ["b"] * 6)
    if len(case.tokens) == 2:
        with pytest.raises(ValueError, match=rf"{case.tokens[1]} has 4 labels for 6 entries"):
            case.call(arrays, ["a"] * 4, ["b"] * 4)


@TOKENS
def test_a_string_or_numbers_for_labels_are_refused(case):
    arrays = case.arrays(4, 6)
    with pytest.raises(ValueError, match=r"is the string 'abcd'; allowed is a list of 4 tokens"):
        case.call(arrays, "abcd", KEYS)
    with pytest.raises(ValueError, match=r"\[2\] is 7 of type int; allowed are strings"):
        case.call(arrays, ["a", "b", 7, "d"], KEYS)


@EVERY
def test_wrong_arrays_name_shape_type_and_value(case):
    name, array = next(iter(case.arrays(4, 6).items()))

    def call(values):
        return case.call({**case.arrays(4, 6), name: values}, QUERIES, KEYS)

    with pytest.raises(ValueError, match=rf"{name} has {array.ndim + 1} axes .*allowed are {array.ndim}"):
        call(array[None])
    with pytest.raises(ValueError, match=rf"{name} has .* axes \(shape \(.*0.*\)\).*each with at least one entry"):
        call(array[..., :0])
    with pytest.raises(ValueError, match=rf"{name} has type <U1"):
        call(np.full(array.shape, "x"))
    if array.dtype != bool:
        for bad in (np.inf,) if case.blanks else (np.nan, np.inf):
            broken = array.copy()
            broken[(0,) * array.ndim] = bad
            with pytest.raises(ValueError, match=rf"{name} is {bad} at \(0,.*1 such cells.*allowed are finite"):
                call(broken)
