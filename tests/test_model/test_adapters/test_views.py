"""Other models to look at: the maps are those of a forward pass, and what cannot be read is told in a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model.__main__ import main
from model.adapters import views
from model.adapters.attention_file import read_attention
from tests.test_model.test_adapters.other_models import TEXTS, save_model, tokenizer_of

LAYERS = {"encoder_self": 2, "decoder_self": 3, "cross": 3}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory):
    """Folder and model of each kind."""
    root = tmp_path_factory.mktemp("others")
    return {kind: (root / kind, save_model(root / kind, kind)) for kind in views.CLASSES}


def names(kind: str, ids: Any) -> list[str]:
    return [tokenizer_of(kind).id_to_token(int(index)) for index in ids]


def change_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


@pytest.mark.parametrize("kind", views.PAIRS)
@torch.no_grad()
def test_an_encoder_decoder_writes_or_is_made_to(saved, kind: str) -> None:
    folder, model = saved[kind]
    ids = torch.tensor([tokenizer_of(kind).encode(TEXTS[0]).ids])
    forced = tokenizer_of(kind).encode(TEXTS[1]).ids
    predicted_ids = []  # greedily, a whole pass for every token
    while len(predicted_ids) < 2 * ids.size(1) + 10 and predicted_ids[-1:] != [model.config.eos_token_id]:
        so_far = torch.tensor([[model.config.decoder_start_token_id, *predicted_ids]])
        predicted_ids.append(int(model(input_ids=ids, decoder_input_ids=so_far).logits[0, -1].argmax()))
    assert predicted_ids != forced
    for target, expected in ((None, predicted_ids), (TEXTS[1], forced)):
        attention = views.look(str(folder), TEXTS[0], target)
        read = [model.config.decoder_start_token_id, *expected[:-1]]
        assert attention.source_tokens == names(kind, ids[0])
        assert attention.target_tokens == names(kind, read)
        assert attention.predicted_tokens == names(kind, expected)
        outputs = model(input_ids=ids, decoder_input_ids=torch.tensor([read]), output_attentions=True)
        for name, layers in (("encoder_self", "encoder"), ("decoder_self", "decoder"), ("cross", "cross")):
            assert len(attention.attention(name)) == LAYERS[name]
            maps = torch.cat(outputs[f"{layers}_attentions"]).numpy()
            np.testing.assert_allclose(attention.attention(name), maps, atol=1e-5)


@pytest.mark.parametrize(("kind", "map_kind"), [("gpt2", "decoder_self"), ("bert", "encoder_self")])
@torch.no_grad()
def test_one_stack(saved, kind: str, map_kind: str) -> None:
    folder, model = saved[kind]
    attention = views.look(str(folder), TEXTS[0])
    ids = tokenizer_of(kind).encode(TEXTS[0]).ids
    maps = torch.cat(model(input_ids=torch.tensor([ids]), output_attentions=True).attentions).numpy()
    assert attention.kinds == [map_kind]
    np.testing.assert_allclose(attention.attention(map_kind), maps, atol=1e-5)
    assert (attention.target_tokens or attention.source_tokens) == names(kind, ids)
    assert ("decoder_self" in attention.masks) == (kind == "gpt2")


def test_the_command_writes_a_file_that_opens(saved, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bart.npz"
    assert main(["attention", str(saved["bart"][0]), TEXTS[0], "--target", TEXTS[1], "--out", str(file)]) == 0
    assert f"{file}: encoder_self (2, 3, 8, 8)" in capsys.readouterr().out
    attention, expected = read_attention(file), views.look(str(saved["bart"][0]), TEXTS[0], TEXTS[1])
    assert attention.predicted_tokens == expected.predicted_tokens
    for kind in attention.kinds:
        np.testing.assert_array_equal(attention.attention(kind), expected.attention(kind))


class TestRefusals:
    """One sentence each, through the command."""

    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.fixture
    def folder(self, saved, tmp_path: Path) -> Path:
        copy = tmp_path / "t5"
        copy.mkdir()
        for file in saved["t5"][0].iterdir():
            (copy / file.name).write_bytes(file.read_bytes())
        return copy

    def refusal(self, capsys: pytest.CaptureFixture[str], *words: str, target: str | None = None) -> str:
        more = ["--target", target] if target else []
        code = main(["attention", *words, *more, "--out", "never-written.npz"])
        captured = capsys.readouterr()
        assert (code, captured.out) == (2, "") and captured.err.count("\n") == 1
        assert not Path("never-written.npz").exists()
        return captured.err

    def test_another_kind_of_model(self, folder: Path, capsys) -> None:
        change_json(folder / "config.json", model_type="marian")
        (folder / "tokenizer.json").rename(folder / "vocab.json")
        assert "and 'marian' with python -m model import" in self.refusal(capsys, str(folder), "a")
        change_json(folder / "config.json", model_type="llama")
        assert "models of type 'llama' cannot be looked at; there are t5" in self.refusal(capsys, str(folder), "a")

    def test_a_file_chooses_no_code(self, folder: Path, capsys) -> None:
        """A class of its own, in the model's own file, is not even looked at."""
        change_json(folder / "config.json", auto_map={"AutoModelForSeq2SeqLM": "evil.Evil"}, architectures=["Evil"])
        (folder / "evil.py").write_text("raise SystemExit('it ran')\n")
        assert views.look(str(folder), "a cat").kinds
        change_json(folder / "config.json", quantization_config={"quant_method": "evil"})
        assert "quantized models cannot be looked at" in self.refusal(capsys, str(folder), "a cat")

    def test_no_safetensors(self, folder: Path, capsys) -> None:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        assert "has no model.safetensors" in self.refusal(capsys, str(folder), "a cat")

    @pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
    def test_a_missing_file(self, folder: Path, capsys, file: str) -> None:
        (folder / file).unlink()
        assert f"{folder} has no {file}; a model and its tokenizer saved with" in self.refusal(capsys, str(folder), "a")

    def test_no_model(self, capsys) -> None:
        assert "error: name a model on the hub, or name a folder" in self.refusal(capsys, " ", "a cat")
        assert "check it, or name a folder on this machine that holds config.json" in self.refusal(capsys, "/no", "a")

    def test_a_missing_tensor(self, folder: Path, capsys) -> None:
        tensors = load_file(folder / "model.safetensors")
        del tensors["decoder.block.2.layer.1.EncDecAttention.q.weight"]
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        assert "EncDecAttention.q.weight is missing" in self.refusal(capsys, str(folder), "a cat")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"vocab_size": 10**12}, "the sizes ask for "),
            ({"d_ff": 10**11}, "the sizes ask for "),
            ({"vocab_size": 10**18, "d_model": 10**18}, "cannot be read"),
            ({"d_model": 10**400}, "at most 300 are read"),
            ({"num_layers": 10**9}, "num_layers is 1,000,000,000; at most 100 layers"),
            ({"num_layers": "three"}, "cannot be read"),
            ({"d_kv": -4}, "cannot be read"),
            ({"vocab_size": None}, "cannot be read"),
        ],
        ids=str,
    )
    def test_absurd_sizes_are_refused_before_anything_is_made(
        self, folder: Path, capsys, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
    ) -> None:
        import transformers

        def fail(*_: Any, **__: Any) -> None:
            raise AssertionError("the weights were read")

        monkeypatch.setattr(transformers.T5ForConditionalGeneration, "from_pretrained", fail)
        change_json(folder / "config.json", **changes)
        message = self.refusal(capsys, str(folder), "a cat")
        assert words in message and "were read" not in message

    def test_weights_that_are_no_numbers(self, folder: Path, capsys) -> None:
        tensors = load_file(folder / "model.safetensors")
        tensors["shared.weight"][0, 0] = float("nan")
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        assert "must hold finite numbers only" in self.refusal(capsys, str(folder), "a cat")

    def test_a_tensor_of_another_shape(self, folder: Path, capsys) -> None:
        tensors = load_file(folder / "model.safetensors")
        tensors["shared.weight"] = tensors["shared.weight"][:, :-1].contiguous()
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        assert "has another shape than config.json says" in self.refusal(capsys, str(folder), "a cat")

    def test_layers_that_the_configuration_has_not(self, folder: Path, capsys) -> None:
        tensors = load_file(folder / "model.safetensors")
        name = "decoder.block.0.layer.1.EncDecAttention.q.weight"
        tensors[name.replace("block.0", "block.9")] = tensors[name].clone()
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        assert "block.9.layer.1.EncDecAttention.q.weight belongs to no layer" in self.refusal(capsys, str(folder), "a")

    @pytest.mark.parametrize("start", [None, -1, 10**6, "x"])
    def test_a_start_token_that_is_none(self, folder: Path, capsys, start: Any) -> None:
        change_json(folder / "config.json", decoder_start_token_id=start)
        assert self.refusal(capsys, str(folder), "a cat").startswith("error: ")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"activation_function": "evil"}, "config.json names 'evil', which the library does not know"),
            ({"n_layer": "3"}, "'n_layer': TypeError: "),
        ],
    )
    def test_values_that_no_network_can_have(self, saved, tmp_path: Path, capsys, changes, words: str) -> None:
        folder = shutil.copytree(saved["gpt2"][0], tmp_path / "gpt2")
        change_json(folder / "config.json", **changes)
        assert words in self.refusal(capsys, str(folder), "a cat")

    def test_sizes_that_only_fail_when_the_model_runs(self, saved, tmp_path: Path, capsys) -> None:
        folder = shutil.copytree(saved["gpt2"][0], tmp_path / "gpt2")
        change_json(folder / "config.json", n_head=-1)
        assert self.refusal(capsys, str(folder), "a cat").startswith("error: ")

    def test_damaged_files(self, folder: Path, capsys) -> None:
        (folder / "model.safetensors").write_bytes(b"\xff" * 100)
        assert "cannot be read" in self.refusal(capsys, str(folder), "a cat")
        (folder / "tokenizer.json").write_text("{}")
        assert "is not a tokenizer" in self.refusal(capsys, str(folder), "a cat")
        (folder / "config.json").write_text("[]")
        assert "config.json must hold a JSON object" in self.refusal(capsys, str(folder), "a cat")

    def test_texts(self, saved, capsys) -> None:
        gpt2, bert, t5 = (str(saved[kind][0]) for kind in ("gpt2", "bert", "t5"))
        assert "there is nothing to read" in self.refusal(capsys, gpt2, "")
        assert "there is nothing to read" in self.refusal(capsys, bert, " ")
        assert "a bert has no target: only t5 and bart" in self.refusal(capsys, bert, "a cat", target="a")
        assert "has 65 tokens; the model has positions for 64" in self.refusal(capsys, gpt2, "cat " * 65)
        assert "has 1025 tokens; at most 1024 can be drawn" in self.refusal(capsys, t5, "cat " * 1024)

    def test_the_tokenizer_of_another_model(self, folder: Path, capsys) -> None:
        values = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        values["model"]["vocab"]["mouse"] = 500
        (folder / "tokenizer.json").write_text(json.dumps(values), "utf-8")
        assert "gives the id 500, the model has ids below 19" in self.refusal(capsys, str(folder), "a mouse")
