"""Files of attention: what comes back, what is refused in one sentence, and that nothing large is unpacked for it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib import format as npy

from model import load_translator
from model.__main__ import main
from model.adapters import attention_file
from model.adapters.attention_file import read_attention
from model.results.recording import Recording
from model.results.translation import KINDS
from tests.test_app.conftest import save_tiny

L, H, T, S = 2, 3, 5, 7
SHAPES = {"encoder_self": (L, H, S, S), "decoder_self": (L, H, T, T), "cross": (L + 1, H + 1, T, S)}
SOURCE, TARGET = [f"s{i}" for i in range(S)], ["<s>", *(f"t{i}" for i in range(1, T))]


def weights(kind: str) -> np.ndarray:
    values = np.random.default_rng(len(kind)).random(SHAPES[kind]).astype(np.float32)
    values *= np.tril(np.ones((T, T), np.float32)) if kind == "decoder_self" else 1
    return values / values.sum(-1, keepdims=True)


def everything(**changes: Any) -> dict[str, Any]:
    """What a good file holds, changed; None leaves something out."""
    values = {"source_tokens": np.array(SOURCE), "target_tokens": np.array(TARGET)}
    values |= {kind: weights(kind) for kind in KINDS} | {"decoder_self_mask": np.tri(T, dtype=bool)} | changes
    return {name: value for name, value in values.items() if value is not None}


def write_file(save: Any = np.savez_compressed, **changes: Any) -> io.BytesIO:
    file = io.BytesIO()
    save(file, **everything(**changes))
    file.seek(0)
    return file


def refusal(file: Any) -> str:
    """The one sentence with which a file is refused."""
    with pytest.raises(ValueError) as caught:
        read_attention(file)
    message = str(caught.value)
    assert type(caught.value) is ValueError and "\n" not in message and 20 < len(message) < 400
    return message


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_a_tool_wrote_comes_back(save) -> None:
    attention = read_attention(write_file(save, predicted_tokens=np.array([*TARGET[1:], "</s>"])))
    assert attention.kinds == list(KINDS)
    assert (attention.source_tokens, attention.target_tokens) == (SOURCE, TARGET)
    assert attention.predicted_tokens == [*TARGET[1:], "</s>"]
    for kind in KINDS:
        np.testing.assert_array_equal(attention.attention(kind), weights(kind))
        assert attention.attention(kind).dtype == np.float32
        assert attention.residual(kind) < 1e-6
    np.testing.assert_array_equal(attention.mask("decoder_self"), np.tri(T, dtype=bool))
    assert set(attention.masks) == {"decoder_self"} and attention.mask("cross").all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_floating_point_type_and_layout_is_read(dtype, order) -> None:
    values = np.asarray(weights("cross"), dtype=dtype, order=order)
    read = read_attention(write_file(cross=values)).attention("cross")
    np.testing.assert_array_equal(read, values.astype(np.float32))


def test_fewer_axes_are_one_head_or_one_layer() -> None:
    all_heads = weights("cross")
    for maps, expected in (
        (all_heads[0, 0], all_heads[:1, :1]),
        (all_heads[0], all_heads[:1]),
        (all_heads[0, :1], all_heads[:1, :1]),  # averaged by torch.nn.MultiheadAttention, with its batch of one
        (all_heads[None], all_heads),
        (all_heads[:, None], all_heads),
    ):
        np.testing.assert_array_equal(read_attention(write_file(cross=maps)).attention("cross"), expected)


def test_arrays_named_as_the_library_names_them() -> None:
    """What is causal is of a decoder, and its mask is known; anything else is of an encoder."""
    for name in ("attention", "attentions"):
        for kind, side in (("decoder_self", "target"), ("encoder_self", "source")):
            texts = SOURCE if side == "source" else TARGET
            file = io.BytesIO()
            np.savez(file, **{name: weights(kind), "tokens": texts})
            attention = read_attention(file)
            assert attention.kinds == [kind] and getattr(attention, f"{side}_tokens") == texts
            np.testing.assert_array_equal(attention.attention(kind), weights(kind))
            np.testing.assert_array_equal(
                attention.mask(kind), np.tri(T) if kind == "decoder_self" else np.ones((S, S))
            )
    # A name that says more goes first.
    assert set(read_attention(write_file(attention=weights("encoder_self"))).kinds) == set(KINDS)
    assert read_attention(write_file(tokens=np.array(["other"] * S))).source_tokens == SOURCE


@pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8, np.float32])
def test_zeros_and_ones_of_any_type(dtype) -> None:
    hard = np.eye(T, S, dtype=dtype)[None, None]
    mask = np.ones((T, S), dtype)
    attention = read_attention(write_file(cross=hard, cross_mask=mask, decoder_self_mask=np.tri(T).astype(dtype)))
    assert attention.attention("cross").dtype == np.float32
    np.testing.assert_array_equal(attention.attention("cross"), hard)
    np.testing.assert_array_equal(attention.masks["decoder_self"], np.tri(T, dtype=bool))
    assert attention.masks["cross"].all() and attention.masks["cross"].dtype == bool


def test_rows_that_are_nan_are_empty_and_counted() -> None:
    values = weights("cross")
    values[:, 1, 2] = np.nan
    attention = read_attention(write_file(cross=values))
    assert attention.nan_rows == {"cross": L + 1} and attention.zero_rows("cross")[0] == L + 1
    assert not attention.attention("cross")[:, 1, 2].any()
    np.testing.assert_array_equal(attention.attention("cross")[:, 0], values[:, 0])


def test_tokens_of_a_byte_level_vocabulary_in_a_file() -> None:
    source = ["Stra", "ÃŁ", "e", "Ġist", "Ġæ", "Ĺ", "¥"]
    attention = read_attention(write_file(source_tokens=np.array(source)))
    assert attention.source_tokens == ["Stra", "ß", "e", "▁ist", "▁<0xE6>", "<0x97>", "<0xA5>"]
    assert attention.target_tokens == TARGET


def test_one_kind_is_enough() -> None:
    only = read_attention(write_file(encoder_self=None, cross=None, source_tokens=None))
    assert only.kinds == ["decoder_self"] and only.source_tokens == [] and only.predicted_tokens == []


def test_it_saves_what_it_reads(tmp_path: Path) -> None:
    first = read_attention(write_file())
    first.save(tmp_path / "a file")
    second = read_attention(str(tmp_path / "a file"))
    assert second.target_tokens == TARGET and set(second.masks) == set(first.masks)
    for kind in KINDS:
        np.testing.assert_array_equal(second.attention(kind), first.attention(kind))


def test_a_recording_of_ours_is_such_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "tiny")
    assert main(["trace", "A man.", "--checkpoint", str(folder), "--out", str(tmp_path / "trace.npz")]) == 0
    result = load_translator(str(folder)).translate("A man.")
    read = read_attention(tmp_path / "trace.npz")
    assert (read.source_tokens, read.target_tokens) == (result.source_tokens, result.target_tokens)
    assert read.predicted_tokens == result.predicted_tokens
    for kind in KINDS:
        np.testing.assert_array_equal(read.attention(kind), result.attention(kind))
        np.testing.assert_array_equal(read.masks[kind], result.mask(kind))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"cross": weights("cross").swapaxes(2, 3)}, "has 7 rows and 5 columns, but its rows are 5 target_tokens"),
        ({"cross": weights("cross")[0, 0, 0]}, "or (layers, heads, queries, keys), got the shape (7,)"),
        (
            {"cross": weights("cross")[None].repeat(2, 0)},
            "or (layers, heads, queries, keys), got the shape (2, 3, 4, 5",
        ),
        ({"cross": weights("cross")[:0]}, "cross has 0 layers and 4 heads; from 1 to"),
        ({"cross": np.zeros((3, 0, T, S), np.float32)}, "3 layers and 0 heads"),
        ({"cross": np.log(weights("cross"))}, "weights are from 0 to 1: take them after the softmax"),
        ({"cross": weights("cross") * 100}, "weights are from 0 to 1"),
        ({"cross": np.full(SHAPES["cross"], np.nan)}, "cross holds nothing but NaN: only a whole row may be"),
        (
            {"cross": np.where(np.eye(T, S), np.nan, weights("cross"))},
            "cross holds NaN beside other weights in one row",
        ),
        ({"cross": np.full(SHAPES["cross"], 2)}, "cross holds numbers from 2 to 2; weights are from 0 to 1"),
        ({"cross": np.ones(SHAPES["cross"], complex)}, "cross must hold numbers, got complex128"),
        ({"cross": np.array([["a"]])}, "cross must hold numbers, got <U1"),
        ({"cross": np.array([None])}, "cross is not a whole array of plain texts or numbers"),
        ({"source_tokens": np.array(SOURCE, dtype=object)}, "Python objects could run code"),
        ({"source_tokens": np.array(SOURCE[:-1])}, "encoder_self has 7 rows and 7 columns, but its rows are 6"),
        ({"source_tokens": None}, "encoder_self needs source_tokens to name its axes"),
        ({"target_tokens": None}, "decoder_self needs target_tokens to name its axes"),
        ({"target_tokens": np.array([TARGET])}, "target_tokens must hold a row of texts"),
        ({"target_tokens": np.arange(T)}, "target_tokens must hold a row of texts, got int64"),
        ({"target_tokens": np.array([*TARGET[1:], "x" * 300])}, "longer than 200 characters"),
        ({"target_tokens": np.array(["x" * 200] * 81)}, "the target_tokens have 16,200 characters; at most 16,000"),
        ({"source_tokens": np.array(["x"] * 1025)}, "there are 1,025 source_tokens; at most 1024"),
        ({"predicted_tokens": np.array(SOURCE)}, "there are 7 predicted_tokens for 5 target_tokens"),
        ({"decoder_self_mask": ~np.tri(T, dtype=bool)}, "decoder_self_mask blocks a cell with a weight of"),
        ({"decoder_self_mask": np.tri(T).T.astype(bool)}, "and rows must be queries"),
        ({"decoder_self_mask": np.log(np.tri(T) + 1e-9)}, "must hold true and false, or 1 and 0: True = may attend"),
        ({"decoder_self_mask": np.array(TARGET)}, "decoder_self_mask must hold numbers, got <U"),
        ({"cross_mask": np.ones((S, T), bool)}, "must be true or false in (5, 7) cells"),
        (dict.fromkeys(KINDS), "there is no attention in the file: at least one of encoder_self, decoder_self, cross"),
        ({"cross": np.zeros((2000, H, T, S), np.float32)}, "2000 layers"),
    ],
)
def test_refusals_say_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    assert message in refusal(write_file(**changes))


def test_layers_by_address_have_their_numbers_and_one_shape() -> None:
    address = "decoder.layers.{}.cross_attention.weights"
    good = {"cross": None, "decoder_self": None, "decoder_self_mask": None}
    layers = {address.format(i): weights("cross")[i] for i in range(3)}
    np.testing.assert_array_equal(read_attention(write_file(**good, **layers)).attention("cross"), weights("cross"))
    gap = {address.format(i): weights("cross")[0] for i in (1, 3)}
    assert read_attention(write_file(**good, **gap)).layers("cross") == [1, 3]
    uneven = {address.format(0): weights("cross")[0], address.format(1): weights("cross")[0, :2]}
    assert "the layers of cross have different shapes" in refusal(write_file(**good, **uneven))


def test_together_they_may_not_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    count = sum(weights(kind).size for kind in KINDS)
    monkeypatch.setattr(attention_file, "MAX_NUMBERS", count)
    read_attention(write_file())
    monkeypatch.setattr(attention_file, "MAX_NUMBERS", count - 1)
    most = f"there are {count} weights; at most {count - 1} can be drawn: take a shorter text or fewer layers"
    assert most in refusal(write_file())


def test_what_memory_has_no_room_for_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_file, "available_memory", lambda: 4 * 1000)
    monkeypatch.setattr(npy, "read_array", lambda *_, **__: pytest.fail("it was unpacked"))
    assert "at most 1,000 are unpacked with the memory that is free now" in refusal(write_file())


@pytest.mark.parametrize(
    "shape", [(12, 12, 197), (12, 12, 200), (32, 32, 100), (2, 2, 1024)], ids=["ViT-B/16", "GPT-2", "32 x 32", "1,024"]
)
def test_what_models_of_today_have_is_read(shape: tuple[int, int, int]) -> None:
    layers, heads, length = shape
    maps = np.zeros((layers, heads, length, length), np.float16)
    maps[..., 0] = 1
    file = io.BytesIO()
    np.savez_compressed(file, source_tokens=[f"t{i}" for i in range(length)], encoder_self=maps)
    assert read_attention(file).attention("encoder_self").shape == maps.shape


class TestHostileFiles:
    """What is not a file of numpy, or pretends to be one."""

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY", b"not a zip file" * 100])
    def test_no_archive(self, content: bytes) -> None:
        assert refusal(io.BytesIO(content)) == "this is not a whole .npz file, as numpy.savez writes it"

    def test_no_file(self, tmp_path: Path) -> None:
        assert "does not exist" in refusal(tmp_path / "none.npz")
        assert "not a whole .npz file" in refusal(tmp_path)

    def test_half_a_file(self) -> None:
        content = write_file().getvalue()
        assert "not a whole .npz file" in refusal(io.BytesIO(content[: len(content) // 2]))

    def zipped(self, **entries: bytes) -> io.BytesIO:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries.items():
                archive.writestr(f"{name}.npy", content)
        file.seek(0)
        return file

    def header(self, shape: tuple[int, ...], descr: str = "<f4") -> bytes:
        file = io.BytesIO()
        npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        return file.getvalue()

    @pytest.mark.parametrize(
        "shape", [(1, 1, 5, 7), (10**9, 10**9, 5, 7), (1, 1, -5, -7), (2**62, 2**62), (1, 1, 10**18, 7)]
    )
    def test_a_shape_that_the_data_do_not_have(self, shape: tuple[int, ...]) -> None:
        file = self.zipped(cross=self.header(shape) + b"\0" * 8)
        assert "cross is not a whole array" in refusal(file)

    @pytest.mark.slow
    def test_a_bomb_is_not_unpacked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A thousandfold of what is in the file, declared truthfully: refused by its size."""
        content = self.header((4, 4, 2000, 2000)) + bytes(4 * 4 * 2000 * 2000 * 4)
        file = self.zipped(cross=content, source_tokens=self.header((10**7,), "<U1") + bytes(4 * 10**7))
        assert len(file.getvalue()) < len(content) / 500
        monkeypatch.setattr(attention_file, "MAX_BYTES", 40_000_000)
        monkeypatch.setattr(npy, "read_array", lambda *_, **__: pytest.fail("it was unpacked"))
        assert "at most 40,000,000 are unpacked" in refusal(file)

    @pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
    def test_packed_as_numpy_never_does(self, packed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """The head of LZMA data may ask for gigabytes before the first number comes."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", packed) as archive:
            archive.writestr("cross.npy", self.header((1, 1, T, S)) + bytes(4 * T * S))
        file.seek(0)
        monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_, **__: pytest.fail("it was unpacked"))
        assert "packed in another way" in refusal(file)

    def test_what_is_not_attention_is_never_read(self) -> None:
        pickled = self.header((1,), "|O") + b"cos\nsystem\n(S'false'\ntR."
        file = write_file(np.savez)
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("extra.npy", pickled)
            archive.writestr("../../escape.npy", b"x")
        file.seek(0)
        assert read_attention(file).kinds == list(KINDS)

    def test_too_many_entries_are_counted_before_they_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for number in range(5001):
                archive.writestr(str(number), b"")
        monkeypatch.setattr(zipfile, "ZipFile", None)
        assert "5,001 entries; at most 5,000" in refusal(file)

    @pytest.mark.parametrize(
        "header",
        [
            b"\x93NUMPY\x01\x00\x10\x00{'descr': [[[[[[",
            b"\x93NUMPY\x03\x00" + b"\0" * 50,
            b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70000,
            b"x",
            b"",
        ],
    )
    def test_headers(self, header: bytes) -> None:
        assert "cross is not a whole array" in refusal(self.zipped(cross=header))

    @given(st.data())
    def test_damage_anywhere_is_told_or_harmless(self, data: st.DataObject) -> None:
        content = bytearray(write_file(np.savez).getvalue())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        try:
            assert isinstance(read_attention(io.BytesIO(bytes(content))), Recording)
        except ValueError as error:
            assert str(error)


def test_what_rounding_led_out_of_the_range_is_read_as_its_end() -> None:
    values = weights("cross")
    values[0, 0, 0, :2] = -0.005, 1.005
    maps = read_attention(write_file(cross=values)).attention("cross")
    assert maps.min() == 0 and maps.max() == 1
    np.testing.assert_array_equal(maps[1], values[1])
    values[0, 0, 0, 0] = -0.02
    assert "numbers from -0.02 to 1" in refusal(write_file(cross=values))


def test_rows_of_zeros_are_counted() -> None:
    values = weights("cross")
    values[0, 1] = 0
    attention = read_attention(write_file(cross=values))
    assert attention.zero_rows("cross") == (T, (L + 1) * (H + 1) * T) and attention.zero_rows("encoder_self")[0] == 0


def test_a_mask_of_each_layer_is_read_and_checked_with_the_weights_of_its_layer() -> None:
    maps = weights("decoder_self")
    maps[1] *= ~np.tri(T, k=-2, dtype=bool)  # a window of two tokens in layer 1
    maps[1] /= maps[1].sum(-1, keepdims=True)
    masks = np.stack([np.tri(T, dtype=bool), np.tri(T, dtype=bool) & ~np.tri(T, k=-2, dtype=bool)])
    read = read_attention(write_file(decoder_self=maps, decoder_self_mask=masks))
    np.testing.assert_array_equal(read.masks["decoder_self"], masks)
    message = refusal(write_file(decoder_self=maps, decoder_self_mask=masks[::-1].copy()))
    assert message.startswith("decoder_self_mask blocks a cell with a weight of")
