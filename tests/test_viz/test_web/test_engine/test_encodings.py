"""Encodings, their similarity and wavelengths, and words in another order: the browser computes what Python does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import load_translator
from model.analysis import maps as analysis
from model.experiments import positions as experiments
from model.experiments import recorded_positions
from model.relative import MAX_DISTANCE, bucket_of
from model.storage.checkpoint import checkpoints_folder
from tests.support.javascript import node
from tests.test_viz.test_web.test_engine.comparing import Request, assert_same, near
from viz.text.words import EXAMPLES
from viz.text.words_positions import ENCODINGS, RELATIVE
from viz.views.results import position_results

SIZES = ((50, 64), (8, 8), (13, 8), (128, 16), (40, 256), (99, 32))
TRAINED = "learned"  # which is recorded
SEEDS = range(1, 6)
ODD = ("A  man\tis ½ tired .", "too too", "No.", "naïve cats’ “hats” 👩‍💻 안녕 a_b", "b a b a b", "x y")


@pytest.fixture(scope="module")
def learned() -> np.ndarray:
    """The recorded table."""
    table = recorded_positions.shipped(recorded_positions.N_POSITIONS, recorded_positions.D_MODEL)
    assert table is not None
    return table.trained


@pytest.fixture(scope="module")
def of_browser(learned: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the engine computes of every encoding in every size."""
    names = [name for name in ENCODINGS if name != TRAINED]
    tables = [[name, *size] for name in names for size in SIZES]
    path = tmp_path_factory.mktemp("encodings") / "job.json"
    path.write_text(json.dumps({"tables": tables, "learned": learned.tolist()}), "utf-8")
    finished = node(Path(__file__).with_name("encodings.js"), path)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout) | {"tables": tables}


def test_every_encoding_is_that_of_python(of_browser: dict[str, Any]) -> None:
    """Tables, products by offset, and wavelengths; draws of PyTorch's generator, too."""
    for (name, n, d_model), ours in zip(of_browser["tables"], of_browser["computed"], strict=True):
        table = position_results.table(name, n, d_model)
        near(ours["table"], table, 1e-6)
        assert_same_measures(name, ours, table)
        waves = position_results.wavelengths(name, d_model)
        assert (waves is None) == (ours["wavelengths"] is None), name
        if waves is not None:
            np.testing.assert_allclose(ours["wavelengths"], waves, rtol=1e-9)


def test_the_trained_table_is_measured_as_in_python(of_browser: dict[str, Any], learned: np.ndarray) -> None:
    assert_same_measures(TRAINED, of_browser["trained"], learned)


def in_order(name: str, table: np.ndarray) -> np.ndarray:
    """The columns of an encoding with each sine before its cosine, float64 (T, D)."""
    halves = np.split(table, 2, axis=1)
    return np.stack(halves, axis=-1).reshape(table.shape) if name == "sinusoidal_concatenated" else table


def bucket_limits() -> tuple[int, int]:
    """The largest distance with a bucket of its own, and from where on all share the last one, of causal attention."""
    buckets = bucket_of(-torch.arange(2 * MAX_DISTANCE), causal=True).tolist()
    alone = [distance for distance, bucket in enumerate(buckets) if buckets.count(bucket) == 1]
    exact = next(i for i, distance in enumerate([*alone, -1]) if distance != i) - 1
    return exact, buckets.index(max(buckets))


def assert_same_measures(name: str, ours: dict[str, Any], table: np.ndarray) -> None:
    """Order of columns, products, their means by offset and what is left of them."""
    products, by_offset = analysis.by_offset(table)
    near(ours["products"], products, 1e-4)
    near(ours["means"], by_offset.means, 1e-4)
    near(ours["residual"], by_offset.residual, 1e-4)
    assert (ours["residual"] < 1e-9) == (by_offset.residual < 1e-9), name
    if name not in RELATIVE:
        near(ours["ordered"], in_order(name, table), 1e-6)


def test_buckets_end_where_they_do_in_python(of_browser: dict[str, Any]) -> None:
    exact, far = bucket_limits()
    assert of_browser["limits"] == {"exact": exact, "far": far}


def test_words_are_shuffled_as_by_python_in_the_browser(answers) -> None:
    """The same order for a seed, the same texts in both, and an encoder as blind to it; weights without positions."""
    folder = checkpoints_folder() / "en-de"
    translator = load_translator(str(folder))
    asked = [(sentence, seed) for sentence in EXAMPLES.values() for seed in SEEDS] + [(text, 1) for text in ODD]
    off = {"scale": 0.0, "sides": ("encoder",)}
    requests = [Request(sentence, 1, positions=off) for sentence, _ in asked]
    values = [
        request.for_engine() | {"measures": ["order"], "seed": seed} for request, (_, seed) in zip(requests, asked)
    ]
    first = answers(folder, values)
    shuffles = [experiments.shuffle(translator, sentence, seed) for sentence, seed in asked]
    for ours, request, shuffle in zip(first, requests, shuffles, strict=True):
        assert (ours["order"]["text"], ours["order"]["shuffled"]) == (shuffle.text, shuffle.shuffled)
        blind, trained = ours["order"]["differences"]
        assert blind < 2e-5 and experiments.order_difference(translator, shuffle, 0.0) < 2e-5
        assert trained == pytest.approx(experiments.order_difference(translator, shuffle, 1.0), abs=1e-3)
        assert_same(ours, request.by_python(translator))
    others = [Request(shuffle.shuffled, 1, positions=off) for shuffle in shuffles]
    for ours, request in zip(answers(folder, [request.for_engine() for request in others]), others, strict=True):
        assert_same(ours, request.by_python(translator))
