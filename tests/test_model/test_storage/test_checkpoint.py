"""Checkpoint folders: what comes back, and how a damaged or hostile one is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pickle
import stat
import struct
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from model.__main__ import main
from model.config import TransformerConfig
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.test_model.builders import randomise

CARD = {"task": "translation en-de", "scores": {"bleu": 41.5}, "words": "Straße"}
SRC = torch.tensor([[5, 6, 270, 8, 9, 10, 2], [11, 5, 12, 2, 0, 0, 0]])
TGT = torch.tensor([[1, 13, 14, 5, 264], [1, 6, 15, 0, 0]])


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train(["the cat sat on the mat", "die Katze saß auf der Matte"], 290, 20)


@cache
def config(**changes: Any) -> TransformerConfig:
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 20, "n_encoder_layers": 1, "n_decoder_layers": 2, "max_length": 16}
    return TransformerConfig(vocab_size=len(tokenizer()), **(sizes | changes))


def model_of(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(config(**changes))
    randomise(model)
    return model.eval()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good checkpoint, to be damaged; without a manifest, so that what is wrong is found by looking at it."""
    path = tmp_path / "mine"
    checkpoint.save(path, model_of(), tokenizer(), CARD)
    (path / "manifest.json").unlink()
    return path


@pytest.fixture
def sealed(folder: Path) -> Path:
    """A good checkpoint with its manifest."""
    checkpoint.seal(folder)
    return folder


def refusal(folder: Path) -> str:
    """The one sentence with which the folder is refused."""
    begun = time.monotonic()
    with pytest.raises(ValueError) as caught:
        checkpoint.load(folder)
    assert time.monotonic() - begun < 20
    message = str(caught.value)
    assert type(caught.value) is ValueError
    assert folder.name in message and "\n" not in message and len(message) < 500
    return message


def change_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


FILES = ["config.json", "model.safetensors", "tokenizer.json", "card.json", "manifest.json"]
NAME = "decoder.layers.1.cross_attention.k_projection.weight"


class TestRoundTrip:
    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"norm": "post", "final_norm": False, "attention_bias": False},
            {"tie_embeddings": False, "output_bias": True, "activation": "gelu"},
        ],
    )
    def test_what_comes_back(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        """The weights are stored in half precision: what is loaded is the model rounded to it, exactly."""
        model = model_of(**changes)
        checkpoint.save(tmp_path / "mine", model, tokenizer(), CARD)
        loaded = checkpoint.load(tmp_path / "mine")
        rounded = model_of(**changes)
        for parameter in rounded.parameters():
            parameter.data = parameter.data.half().float()
        with torch.no_grad():
            logits = loaded.model(SRC, TGT)
            assert torch.equal(logits, rounded(SRC, TGT))
            assert not torch.equal(logits, model(SRC, TGT))
        assert loaded.card == CARD
        assert loaded.model.config == model.config
        assert loaded.tokenizer.to_json() == tokenizer().to_json()

    def test_the_loaded_model_is_for_reading(self, folder: Path) -> None:
        model = checkpoint.load(folder).model
        assert not model.training and not any(module.training for module in model.modules())
        assert all(parameter.dtype == torch.float32 and not parameter.requires_grad for parameter in model.parameters())

    def test_loading_draws_no_random_numbers(self, folder: Path) -> None:
        before = torch.get_rng_state()
        checkpoint.load(folder)
        assert torch.equal(torch.get_rng_state(), before)

    def test_tied_parameters_are_stored_once(self, tmp_path: Path, folder: Path) -> None:
        tied = set(load_file(folder / "model.safetensors"))
        checkpoint.save(tmp_path / "untied", model_of(tie_embeddings=False), tokenizer(), CARD)
        untied = set(load_file(tmp_path / "untied" / "model.safetensors"))
        assert untied - tied == {"decoder.input.embedding.weight", "output.weight"}
        model = checkpoint.load(folder).model
        assert model.output.weight is model.encoder.input.embedding.weight is model.decoder.input.embedding.weight

    def test_files(self, folder: Path, tmp_path: Path) -> None:
        checkpoint.save(tmp_path / "another", model_of(), tokenizer(), CARD)
        names = {path.name for path in (tmp_path / "another").iterdir()}
        assert names == {"config.json", "model.safetensors", "tokenizer.json", "card.json", "manifest.json"}
        tensors = load_file(folder / "model.safetensors")
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
        assert not any("table" in name for name in tensors)  # positions are computed, not stored
        assert json.loads((folder / "config.json").read_text("utf-8"))["architecture"] == "transformer"
        assert "Straße" in (folder / "card.json").read_text("utf-8")

    def test_a_number_too_large_for_float16_is_kept(self, folder: Path) -> None:
        model = model_of()
        with torch.no_grad():
            model.output.weight[3, 5] = 70_000.0
        checkpoint.save(folder, model, tokenizer(), CARD)
        assert checkpoint.load(folder).model.output.weight[3, 5] == 70_000.0
        kinds = {name: tensor.dtype for name, tensor in load_file(folder / "model.safetensors").items()}
        assert [name for name, kind in kinds.items() if kind == torch.float32] == ["encoder.input.embedding.weight"]

    def test_weights_that_are_not_finite_are_not_saved(self, folder: Path) -> None:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        model = model_of()
        with torch.no_grad():
            model.output.weight[3, 5] = torch.inf
        with pytest.raises(ValueError, match="embedding.weight must hold finite floating-point numbers only"):
            checkpoint.save(folder, model, tokenizer(), CARD)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_saving_again_replaces(self, folder: Path) -> None:
        checkpoint.save(folder, model_of(n_decoder_layers=1), tokenizer(), {"second": True})
        loaded = checkpoint.load(folder)
        assert loaded.model.config.n_decoder_layers == 1 and loaded.card == {"second": True}

    def test_an_interrupted_save_leaves_the_old_file(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(tensors: dict[str, torch.Tensor], path: Path) -> None:
            Path(path).write_bytes(b"half")
            raise KeyboardInterrupt

        monkeypatch.setattr(checkpoint, "save_file", fail)
        before = (folder / "model.safetensors").read_bytes()
        with pytest.raises(KeyboardInterrupt):
            checkpoint.write_tensors(folder / "model.safetensors", {"a": torch.zeros(1)})
        assert (folder / "model.safetensors").read_bytes() == before
        checkpoint.load(folder)
        monkeypatch.undo()
        checkpoint.write_tensors(folder / "model.safetensors", {"a": torch.zeros(1)})
        assert [path for path in folder.iterdir() if path.suffix == ".part"] == []

    @pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes there")
    @pytest.mark.parametrize("umask", [0o022, 0o027, 0o002])
    def test_files_have_the_mode_of_any_new_file(self, folder: Path, umask: int) -> None:
        (folder / "model.safetensors.part").touch(0o600)  # what an interruption may have left
        before = os.umask(umask)
        try:
            checkpoint.save(folder, model_of(), tokenizer(), {})
        finally:
            os.umask(before)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        assert modes == dict.fromkeys((*checkpoint.LISTED, checkpoint.MANIFEST), 0o666 & ~umask)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
    def test_other_precisions_are_read(self, folder: Path, dtype: torch.dtype) -> None:
        expected = checkpoint.load(folder).model.state_dict()
        change_tensors(folder, lambda tensors: tensors.update({name: t.to(dtype) for name, t in tensors.items()}))
        weights = checkpoint.load(folder).model.state_dict()
        for name, value in expected.items():
            assert torch.equal(weights[name], value.to(dtype).float())


class TestFiles:
    @pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "card.json"])
    def test_missing(self, folder: Path, name: str) -> None:
        (folder / name).unlink()
        assert name in refusal(folder)

    @pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "card.json"])
    def test_a_folder_in_its_place(self, folder: Path, name: str) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()
        assert name in refusal(folder)

    def test_no_folder_at_all(self, tmp_path: Path) -> None:
        assert "config.json" in refusal(tmp_path / "nowhere")

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "card.json"])
    @pytest.mark.parametrize(
        "content",
        [b"", b"[1, 2]", b"null", b"{", b"\xff\xfe{}", b"[" * 10**5, b'{"a":' * 10**5, b'{"d_ff": %s}' % (b"9" * 5000)],
        ids=["empty", "list", "null", "cut", "not-utf-8", "deep-list", "deep-object", "huge-number"],
    )
    def test_not_a_json_object(self, folder: Path, name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)
        assert name in refusal(folder)

    @pytest.mark.parametrize("name", ["config.json", "card.json", "manifest.json"])
    def test_too_large_to_be_read(self, sealed: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file of 100 GB that takes no room on the disk: refused by its size."""
        with (sealed / name).open("r+b") as file:
            file.truncate(10**11)
        read = Path.read_text
        monkeypatch.setattr(
            Path, "read_text", lambda path, **kw: pytest.fail("it was read") if path.name == name else read(path, **kw)
        )
        assert f"{name} has 100,000,000,000 bytes; at most 1,000,000 are read" in refusal(sealed)

    def test_a_tokenizer_too_large_to_be_read(self, folder: Path) -> None:
        with (folder / "tokenizer.json").open("r+b") as file:
            file.truncate(10**11)
        assert "tokenizer.json has 100,000,000,000 bytes; at most 50,000,000 are read" in refusal(folder)

    @pytest.mark.parametrize("name", FILES)
    def test_a_link_that_leads_elsewhere_is_not_followed(self, sealed: Path, tmp_path: Path, name: str) -> None:
        elsewhere = (sealed / name).rename(tmp_path / "secret")
        for target in (elsewhere, Path("..") / "secret", tmp_path / "nothing", Path("/dev/zero")):
            (sealed / name).unlink(missing_ok=True)
            (sealed / name).symlink_to(target)
            assert f"{name} is a link that leads out of its folder" in refusal(sealed)

    def test_a_link_inside_the_folder_and_a_linked_folder_are_followed(self, sealed: Path, tmp_path: Path) -> None:
        (sealed / "model.safetensors").rename(sealed / "weights")
        (sealed / "model.safetensors").symlink_to("weights")
        (tmp_path / "linked").symlink_to(sealed)
        assert checkpoint.load(tmp_path / "linked").card == CARD

    def test_a_pipe_is_not_waited_for(self, folder: Path) -> None:
        (folder / "card.json").unlink()
        os.mkfifo(folder / "card.json")
        assert "card.json cannot be read: it is not a file" in refusal(folder)


class TestManifest:
    """What was damaged, mixed up or changed after it was saved is refused, however well-formed it is."""

    def test_it_lists_what_sha256sum_says(self, sealed: Path) -> None:
        listed = json.loads((sealed / "manifest.json").read_text("utf-8"))
        files = [path for path in sealed.iterdir() if path.name != "manifest.json"]
        assert listed == {"sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}}
        assert len(files) == 4
        checkpoint.load(sealed)

    def test_saving_writes_one_and_an_interrupted_save_leaves_none(
        self, sealed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checkpoint.save(sealed, model_of(n_decoder_layers=1), tokenizer(), {"second": True})
        assert checkpoint.load(sealed).card == {"second": True}

        def fail(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(checkpoint, "write_tensors", fail)
        with pytest.raises(KeyboardInterrupt):
            checkpoint.save(sealed, model_of(n_decoder_layers=1), tokenizer(), {"third": True})
        assert not (sealed / "manifest.json").exists()
        assert checkpoint.load(sealed).card == {"third": True}

    def test_one_changed_weight(self, sealed: Path) -> None:
        change_tensors(sealed, lambda tensors: tensors[NAME][3].add_(1))
        message = refusal(sealed)
        assert "model.safetensors is not the file that manifest.json lists: its SHA-256 is " in message
        assert f"run python -m model seal {sealed}" in message
        assert main(["seal", str(sealed)]) == 0
        checkpoint.load(sealed)

    @pytest.mark.parametrize(
        "name, changes", [("config.json", {"dropout": 0.2}), ("card.json", {"task": "chess"})], ids=str
    )
    def test_a_changed_text(self, sealed: Path, name: str, changes: dict[str, Any]) -> None:
        change_json(sealed / name, **changes)
        assert f"{name} is not the file that manifest.json lists" in refusal(sealed)

    def test_the_tokenizer_of_another_model_of_the_same_size(self, sealed: Path) -> None:
        other_tokenizer = Tokenizer.train(["the dog ran on the hill", "der Hund rannte auf dem Berg"], 290, 20)
        assert len(other_tokenizer) == len(tokenizer())
        (sealed / "tokenizer.json").write_text(other_tokenizer.to_json(), "utf-8")
        assert "tokenizer.json is not the file that manifest.json lists" in refusal(sealed)

    @pytest.mark.parametrize(
        "content",
        [
            {},
            {"sha256": []},
            {"sha256": {"model.safetensors": "0"}},
            {"sha256": dict.fromkeys(["card.json", "config.json", "model.safetensors", "../../etc/passwd"], "0")},
            {"sha256": dict.fromkeys(["card.json", "config.json", "model.safetensors", "/etc/passwd"], "0")},
            {"sha256": dict.fromkeys([*FILES[:-1], "heads.json"], "0")},
        ],
        ids=str,
    )
    def test_a_manifest_that_names_other_files(self, sealed: Path, content: Any) -> None:
        (sealed / "manifest.json").write_text(json.dumps(content))
        assert "one entry for each of card.json, config.json, model.safetensors, tokenizer.json" in refusal(sealed)

    @pytest.mark.parametrize("value", [None, 5, "", "A" * 64, ["x"]])
    def test_a_hash_that_is_none(self, sealed: Path, value: Any) -> None:
        listed = checkpoint.seal(sealed) | {"card.json": value}
        (sealed / "manifest.json").write_text(json.dumps({"sha256": listed}))
        assert "card.json is not the file that manifest.json lists" in refusal(sealed)

    def test_kept_scores_are_part_of_it(self, sealed: Path) -> None:
        checkpoint.keep_scores(sealed, dict(CARD), "toys", {"bleu": 1.0})
        assert checkpoint.load(sealed).card["scores"]["toys"] == {"bleu": 1.0}

    def test_sealing_what_is_no_checkpoint_is_one_sentence(self, sealed: Path, capsys: pytest.CaptureFixture) -> None:
        (sealed / "model.safetensors").unlink()
        assert main(["seal", str(sealed)]) == 2
        assert "model.safetensors cannot be read: it does not exist" in capsys.readouterr().err


class TestWeights:
    def write(self, folder: Path, content: bytes) -> str:
        (folder / "model.safetensors").write_bytes(content)
        message = refusal(folder)
        assert "model.safetensors is not a whole safetensors file" in message
        return message

    @pytest.mark.parametrize("keep", [0, 1, 7, 8, 100, -1000, -1])
    def test_truncated(self, folder: Path, keep: int) -> None:
        self.write(folder, (folder / "model.safetensors").read_bytes()[:keep])

    def test_with_something_appended(self, folder: Path) -> None:
        self.write(folder, (folder / "model.safetensors").read_bytes() + b"x")

    def test_a_pickle_in_its_place_is_not_run(self, folder: Path, tmp_path: Path) -> None:
        witness = tmp_path / "witness"

        class Trap:
            def __reduce__(self):
                return (Path.touch, (witness,))

        content = pickle.dumps({"weight": Trap()})
        pickle.loads(content)  # the trap works
        assert witness.exists()
        witness.unlink()
        self.write(folder, content)
        torch.save({"weight": Trap()}, tmp_path / "torch.pt")
        self.write(folder, (tmp_path / "torch.pt").read_bytes())
        assert not witness.exists()

    @pytest.mark.parametrize(
        "header",
        [
            {"a": {"dtype": "F16", "shape": [2**40, 2**40], "data_offsets": [0, 1]}},
            {"a": {"dtype": "F16", "shape": [10**9], "data_offsets": [0, 2 * 10**9]}},
            {"a": {"dtype": "F16", "shape": [-1], "data_offsets": [0, 2]}},
            {"a": {"dtype": "object", "shape": [1], "data_offsets": [0, 1]}},
            {"a": 5},
            [],
        ],
    )
    def test_a_lying_header(self, folder: Path, header: Any) -> None:
        text = json.dumps(header).encode()
        self.write(folder, struct.pack("<Q", len(text)) + text + b"\0")

    def test_a_header_longer_than_the_file(self, folder: Path) -> None:
        self.write(folder, struct.pack("<Q", 2**60) + b"{}")
        self.write(folder, struct.pack("<Q", 2**64 - 1) + b"{}" * 100)

    def test_a_header_of_gigabytes_is_not_read(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with (folder / "model.safetensors").open("r+b") as file:
            file.write(struct.pack("<Q", 90_000_000))
            file.truncate(10**9)
        monkeypatch.setattr(checkpoint, "safe_open", lambda *_, **__: pytest.fail("it was read"))
        assert "its header would have 90,000,000 bytes" in refusal(folder)

    def test_missing_tensor(self, folder: Path) -> None:
        change_tensors(folder, lambda tensors: tensors.pop(NAME))
        assert f"the tensor {NAME} is missing" in refusal(folder)

    def test_extra_tensor(self, folder: Path) -> None:
        change_tensors(folder, lambda tensors: tensors.update({"encoder.extra": torch.zeros(2)}))
        assert "the tensor encoder.extra does not belong to this model" in refusal(folder)

    def test_a_tied_tensor_stored_twice(self, folder: Path) -> None:
        twice = torch.zeros(len(tokenizer()), 12, dtype=torch.float16)
        change_tensors(folder, lambda tensors: tensors.update({"output.weight": twice}))
        assert "the tensor output.weight does not belong to this model" in refusal(folder)

    @pytest.mark.parametrize("shape", [(12, 13), (144,), (1, 12, 12), (), (0, 12)])
    def test_wrong_shape(self, folder: Path, shape: tuple[int, ...]) -> None:
        change_tensors(folder, lambda tensors: tensors.update({NAME: torch.zeros(shape, dtype=torch.float16)}))
        assert f"the tensor {NAME} has shape {shape}, the configuration says (12, 12)" in refusal(folder)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
    def test_not_finite(self, folder: Path, value: float) -> None:
        change_tensors(folder, lambda tensors: tensors[NAME][3].fill_(value))
        assert f"the tensor {NAME} must hold finite floating-point numbers only" in refusal(folder)

    @pytest.mark.parametrize(
        "dtype", [torch.int64, torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2], ids=str
    )
    def test_another_type(self, folder: Path, dtype: torch.dtype) -> None:
        change_tensors(folder, lambda tensors: tensors.update({NAME: torch.zeros(12, 12).to(dtype)}))
        assert f"the tensor {NAME} must hold finite floating-point numbers only" in refusal(folder)

    def test_shapes_are_checked_before_data_are_read(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Watched:
            def __init__(self, *args, **kwargs):
                self.file = safe_open(*args, **kwargs)

            def __enter__(self):
                self.file.__enter__()
                return self

            def __exit__(self, *error):
                return self.file.__exit__(*error)

            def keys(self):
                return self.file.keys()

            def get_slice(self, name):
                return self.file.get_slice(name)

            def get_tensor(self, name):
                raise AssertionError("data were read")

        monkeypatch.setattr(checkpoint, "safe_open", Watched)
        change_tensors(folder, lambda tensors: tensors.update({NAME: torch.zeros(12, 13)}))
        assert "has shape (12, 13)" in refusal(folder)


class TestConfiguration:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"surprise": 1}, "config.json: TransformerConfig: unknown key 'surprise'"),
            ({"norm": "sideways"}, "config.json: norm must be one of pre, post, got 'sideways'"),
            ({"d_model": "12"}, "config.json: TransformerConfig: d_model must be of type int, got '12'"),
            ({"dropout": float("nan")}, "config.json: dropout must be in [0, 1), got nan"),
            ({"norm_eps": float("inf")}, "config.json: norm_eps must be above 0 and below 1, got inf"),
            ({"architecture": "cnn"}, "config.json: architecture must be one of 'transformer', 'gru', "),
            ({"architecture": "cnn"}, ", got 'cnn'"),
            ({"architecture": ["transformer"]}, ", got ['transformer']"),
            ({"architecture": "gru"}, "GruConfig: unknown key "),
            ({"vocab_size": 9999}, "tokens, the configuration 9999"),
            ({"d_ff": 21}, "the tensor encoder.layers.0.feed_forward.inner.weight has shape (20, 12)"),
            ({"n_decoder_layers": 3}, "the tensor decoder.layers.2.self_attention.q_projection.weight is missing"),
            ({"n_decoder_layers": 1}, "does not belong to this model"),
            ({"final_norm": False}, "does not belong to this model"),
            ({"tie_embeddings": False}, "is missing"),
        ],
    )
    def test_refused(self, folder: Path, changes: dict[str, Any], words: str) -> None:
        change_json(folder / "config.json", **changes)
        assert words in refusal(folder)

    def test_no_architecture(self, folder: Path) -> None:
        (folder / "config.json").write_text(json.dumps(dataclasses.asdict(config())))
        assert "architecture must be one of 'transformer', 'gru'" in refusal(folder)

    def test_the_tokenizer_of_another_model(self, folder: Path) -> None:
        other_tokenizer = Tokenizer.train(["the cat sat on the mat"], 281, 20)
        (folder / "tokenizer.json").write_text(other_tokenizer.to_json(), "utf-8")
        assert f"the tokenizer has {len(other_tokenizer)} tokens, the configuration {len(tokenizer())}" in refusal(
            folder
        )

    @pytest.mark.parametrize(
        "changes",
        [
            {"d_model": 10**9, "n_heads": 1},
            {"d_model": 10**30, "n_heads": 1},
            {"d_ff": 10**12},
            {"max_length": 10**12},
            {"max_length": 2 * 10**6},
            {"max_length": 10**30},
            {"max_length": 10**9, "positional": "none"},
            {"n_encoder_layers": 10**6},
            {"n_decoder_layers": 10**6},
            {"n_decoder_layers": 10**30},
            {"d_model": 2, "n_heads": 1, "d_ff": 1, "n_encoder_layers": 10**5, "n_decoder_layers": 10**5},
            {"d_model": 8192, "n_encoder_layers": 50, "n_heads": 1},
        ],
        ids=str,
    )
    def test_absurd_sizes_are_refused_before_anything_is_made(
        self, folder: Path, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(config: TransformerConfig) -> None:
            raise AssertionError(f"a model was made for {config}")

        monkeypatch.setattr(checkpoint, "build", fail)
        change_json(folder / "config.json", **changes)
        message = refusal(folder)
        assert "config.json: " in message and ("at most" in message or "ask for more than" in message)

    @pytest.mark.slow
    def test_the_largest_that_is_not_refused_is_compared_quickly(self, folder: Path) -> None:
        change_json(folder / "config.json", n_encoder_layers=100, n_decoder_layers=100)
        assert "is missing" in refusal(folder)

    def test_real_sizes_are_not_refused(self) -> None:
        """The paper's big model has 213 million parameters."""
        big = {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "n_encoder_layers": 6, "n_decoder_layers": 6}
        TransformerConfig(vocab_size=37000, max_length=5000, **big).check_loadable()
