"""What is packed is read again; what no browser could read is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as given_by
from hypothesis.extra import numpy as arrays

from tests.support.messages import unpack
from viz.stage.payload.packing import SCALE, pack, pack_head, quantised

SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)
TYPES = given_by.sampled_from([np.uint8, np.uint16, np.int16, np.int32, np.float32])
TEXTS = given_by.text(given_by.characters(exclude_categories=["Cs"]))


@pytest.mark.slow
@given(given_by.dictionaries(TEXTS.filter(lambda name: name not in ("@", "stamp")), TEXTS, min_size=1), given_by.data())
def test_texts_and_arrays_of_every_type_come_back(texts, data) -> None:
    array = data.draw(TYPES.flatmap(lambda dtype: arrays.arrays(dtype, SHAPES)))
    second_array = data.draw(arrays.arrays(np.float32, SHAPES))
    read = unpack(pack({"texts": texts, "nested": [{"array": array}, second_array], "last": array}))
    assert read["texts"] == texts
    for actual, expected in (
        (read["nested"][0]["array"], array),
        (read["nested"][1], second_array),
        (read["last"], array),
    ):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


def test_every_array_begins_at_a_multiple_of_eight() -> None:
    parts = {f"a{n}": np.arange(n, dtype=np.uint8) for n in range(1, 20)} | {"f": np.ones(3, np.float32)}
    message = pack(parts | {"ä": "é"})
    end = 4 + int.from_bytes(message[:4], "little")
    header = json.loads(message[4:end])
    assert end % 8 == 0 and len(message) % 8 == 0
    assert all(header[name]["@"][0] % 8 == 0 for name in parts)


def test_weights_are_within_8e_6_and_0_and_1_are_exact() -> None:
    values = np.append(np.random.default_rng(0).random(5000), [0, 1]).astype(np.float32)
    whole, scale = quantised(values)
    read = unpack(pack({"weights": whole, "scale": scale}))["weights"]
    assert read.dtype == np.float32 and np.abs(read - values).max() < 8e-6
    assert read[-2] == 0 and read[-1] == 1 and whole.max() == SCALE


def test_a_head_in_bytes_is_within_the_said_share_of_its_rows() -> None:
    """Of rows that are even over many keys nothing vanishes, as it would with equal steps."""
    rng = np.random.default_rng(0)
    head = np.concatenate([rng.dirichlet(np.full(600, alpha), 20) for alpha in (0.01, 1, 1000)])
    head[3] = 0
    head[4] = np.eye(600)[7]
    whole, scale = quantised(head)
    read = unpack(pack_head(whole, in_bytes=True))
    restored = (read["roots"] / 255) ** 2 * read["largest"][:, None] / scale
    assert (np.abs(restored - head) <= 0.004 * head.max(axis=1, keepdims=True) + 8e-6).all()
    assert read["roots"].dtype == np.uint8 and not restored[3].any() and (restored[4] == head[4]).all()
    assert (restored[45:] > 0).all()
    exact = unpack(pack_head(whole))
    np.testing.assert_array_equal(exact["weights"], whole)
    signed, _ = quantised(head - 0.5, signed=True)
    np.testing.assert_array_equal(unpack(pack_head(signed, in_bytes=True))["weights"], signed)


def test_what_json_does_not_have() -> None:
    odd = {"nan": float("nan"), "inf": np.inf, "n": np.int64(3), "f": np.float32(0.5), "none": None, "t": (1,)}
    read = unpack(pack(odd))
    read.pop("stamp")
    assert read == {"nan": None, "inf": None, "n": 3, "f": 0.5, "none": None, "t": [1]}
    assert unpack(pack({"b": np.array([True, False])}))["b"].tolist() == [1, 0]
    assert unpack(pack({"d": np.array([1.5])}))["d"].dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_whole_numbers_travel_in_the_type_that_browsers_have(dtype) -> None:
    read = unpack(pack({"a": np.array([0, 70_000], dtype)}))["a"]
    assert read.dtype == np.int32 and read.tolist() == [0, 70_000]


def test_texts_of_an_array_travel_once_each() -> None:
    texts = np.array([["b", "a", "b"], ["b", "b", ""]], dtype=object)
    message = pack({"a": texts, "mixed": np.array(["a", 1, None], dtype=object)})
    read = unpack(message)
    np.testing.assert_array_equal(read["a"], texts)
    assert read["mixed"] == ["a", 1, None] and message.count(b'"b"') == 1


@pytest.mark.parametrize("value", [np.zeros(2, np.complex64), {1}])
def test_what_no_browser_has_is_refused(value) -> None:
    with pytest.raises(TypeError, match="cannot travel"):
        pack({"a": value})


def test_the_stamp_is_of_everything() -> None:
    messages = [{"a": np.zeros(3, np.uint8)}, {"a": np.ones(3, np.uint8)}, {"b": np.zeros(3, np.uint8)}]
    stamps = [unpack(pack(message))["stamp"] for message in messages]
    assert len(set(stamps)) == 3
    assert unpack(pack(messages[0]))["stamp"] == stamps[0]
