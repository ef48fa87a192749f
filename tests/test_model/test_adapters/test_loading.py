"""Models from folders and from a hub on this machine: loaded whole, or refused in one sentence with nothing left."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model.adapters.files import hub, inspection
from model.adapters.loading import load, load_model
from model.adapters.readers.tasks import attach
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.other_models import KINDS, TEXTS, VOCAB, save_model, theirs
from tests.test_model.test_adapters.small_hub import SmallHub, Stall, half, saying, small_hub, web_page

NAME = "someone/tiny"
COPIES = "or name a folder on this machine that holds config.json and model.safetensors"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    """Folder and model of each kind."""
    root = tmp_path_factory.mktemp("saved")
    for kind in KINDS:
        theirs(kind).save_pretrained(root / kind)
    return {kind: (root / kind, save_model(root / kind, kind)) for kind in KINDS}


@pytest.fixture
def folder(saved, tmp_path: Path) -> Path:
    """A GPT-2 that a test may damage."""
    return shutil.copytree(saved["gpt2"][0], tmp_path / "tiny")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where downloads go."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "hub"


@pytest.fixture
def site(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    """A running hub, which downloads go to."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with small_hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def theirs_with(folder: Path, copy: Path, tensor: str, value: float | None) -> Path:
    """A copy of a model in which a tensor is filled with a value, or is missing."""
    shutil.copytree(folder, copy)
    tensors = load_file(copy / "model.safetensors")
    if value is None:
        del tensors[tensor]
    else:
        tensors[tensor] = torch.full_like(tensors[tensor], value)
    save_file(tensors, copy / "model.safetensors", {"format": "pt"})
    return copy


def refusal(name: str | Path, **arguments: Any) -> str:
    """The sentence with which a model is refused."""
    with pytest.raises(ValueError) as caught:
        load(name, **arguments)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    return message


def left(cache: Path) -> list[str]:
    """The files of models in the cache, whole or not."""
    files = [path for path in cache.rglob("*") if path.is_file() or path.is_symlink()]
    return [str(path.relative_to(cache)) for path in files if "models--" in str(path) and ".locks" not in str(path)]


def write_header(path: Path, shapes: dict[str, list[int]], dtype: str = "F32", width: int = 4) -> None:
    """A safetensors file whose header promises tensors that are not in it."""
    header, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + width * int(torch.tensor(shape).prod())
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text)


class TestFolders:
    @pytest.mark.parametrize("kind", ["t5", "bart", "gpt2", "bert"])
    def test_the_network_computes_what_was_saved(self, saved, kind: str) -> None:
        folder, expected = saved[kind]
        model, tokenizer = load(folder)
        ids = theirs(kind)(TEXTS[0], return_tensors="pt").input_ids
        assert tokenizer(TEXTS[0], return_tensors="pt").input_ids.tolist() == ids.tolist()
        inputs = {"input_ids": ids} | ({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {})
        with torch.no_grad():
            assert type(model) is type(expected) and not model.training
            torch.testing.assert_close(model(**inputs)[0], expected(**inputs)[0])

    @pytest.mark.parametrize(
        ("config", "model", "architecture", "loaded"),
        [
            ("BertConfig", "BertForMaskedLM", None, "BertForMaskedLM"),
            ("BertConfig", "BertForSequenceClassification", None, "BertModel"),
            ("BertConfig", "BertForPreTraining", None, "BertForMaskedLM"),
            ("BertConfig", "BertModel", None, "BertModel"),
            ("T5Config", "T5EncoderModel", None, "T5Model"),
            ("GPT2Config", "GPT2LMHeadModel", [], "GPT2LMHeadModel"),
            ("BartConfig", "BartForConditionalGeneration", None, "BartForConditionalGeneration"),
            ("WhisperConfig", "WhisperForConditionalGeneration", None, "WhisperForConditionalGeneration"),
            ("ViTConfig", "ViTForImageClassification", None, "ViTModel"),
        ],
    )
    def test_the_class_is_chosen_by_the_architecture(self, config, model, architecture, loaded) -> None:
        from model.adapters.loading import network_of

        values = getattr(transformers, config)().to_dict() | {
            "architectures": [model] if architecture is None else architecture
        }
        assert network_of(Path("config.json"), values) == loaded

    def test_weights_in_several_files(self, saved, tmp_path: Path) -> None:
        original = saved["gpt2"][1]
        original.save_pretrained(tmp_path, max_shard_size="3KB")
        theirs("gpt2").save_pretrained(tmp_path)
        assert len(list(tmp_path.glob("*.safetensors"))) > 1
        model, _ = load(tmp_path)
        for ours, expected in zip(model.parameters(), original.parameters(), strict=True):
            assert torch.equal(ours, expected)
        assert inspection.local_size(tmp_path).parameters == sum(p.numel() for p in original.parameters())
        next(tmp_path.glob("*-00002-*.safetensors")).unlink()
        assert "is not a whole model: model-00002-of-" in refusal(tmp_path)

    def test_an_output_layer_that_was_not_saved_is_left_out(self, saved, tmp_path: Path) -> None:
        """The library would put random numbers in its place, whose words would mean nothing."""
        folder = shutil.copytree(saved["bert"][0], tmp_path / "bare")
        change(folder / "config.json", architectures=["BertForMaskedLM"])
        tokenizer = theirs("bert")
        tokenizer.add_special_tokens({"mask_token": "under"})
        tokenizer.save_pretrained(folder)
        reader = load_model(folder)
        reading = reader.read("the cat sat under the mat")
        assert type(reader.model).__name__ == "BertModel" and not reader.has_words
        assert reading.masked_words == {} and "logits" not in reading.trace
        inputs = theirs("bert")("the cat sat under the mat", return_tensors="pt")
        with torch.no_grad():
            expected = saved["bert"][1](**inputs, output_attentions=True).attentions
        np.testing.assert_allclose(reading.attention("encoder_self"), torch.cat(expected).numpy(), atol=1e-6)
        with pytest.raises(ValueError, match="no output over words"):
            reader.importance(reading)

    def test_a_layer_of_the_stack_that_was_not_saved_is_refused(self, folder: Path, tmp_path: Path) -> None:
        copy = theirs_with(folder, tmp_path / "copy", "transformer.h.1.attn.c_attn.weight", None)
        assert "the tensor transformer.h.1.attn.c_attn.weight is missing" in refusal(copy)

    def test_a_model_in_memory_says_which_output_was_not_in_its_files(self, saved) -> None:
        bare = transformers.BertForMaskedLM.from_pretrained(saved["bert"][0], attn_implementation="eager")
        missing = attach(bare, theirs("bert")).config.random_output
        assert missing is not None and missing.startswith("cls.predictions.")
        whole = transformers.GPT2LMHeadModel.from_pretrained(saved["gpt2"][0], attn_implementation="eager")  # tied
        for model in (whole, saved["gpt2"][1]):
            assert attach(model, theirs("gpt2")).config.random_output is None

    def test_half_precision_becomes_float32_where_memory_allows(self, saved, tmp_path, monkeypatch) -> None:
        folder = shutil.copytree(saved["gpt2"][0], tmp_path / "half")
        saved["gpt2"][1].half().save_pretrained(folder)
        saved["gpt2"][1].float()
        assert load(folder)[0].dtype is torch.float32
        size = inspection.local_size(folder)
        monkeypatch.setattr(inspection, "available_memory", lambda: int(1.3 * size.stored))
        assert load(folder)[0].dtype is torch.float16

    def test_more_parameters_than_memory(self, folder: Path) -> None:
        write_header(folder / "model.safetensors", {"a": [1_000_000, 1_000_000], "b": [7]}, dtype="BF16", width=2)
        with (folder / "model.safetensors").open("r+b") as file:
            file.truncate(2_000_000_000_014 + 1000)  # sparse: nothing is written
        message = refusal(folder)
        assert "has 1,000,000,000,007 parameters, which take about 2,400.0 GB of memory, and " in message
        assert " GB are available" in message

    def test_code_of_the_repository_is_never_run(self, folder: Path) -> None:
        (folder / "evil.py").write_text("raise SystemExit('it ran')\n")
        mapped = {name: f"evil.{name}" for name in ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoTokenizer")}
        change(folder / "config.json", auto_map=mapped)
        assert type(load(folder)[0]).__name__ == "GPT2LMHeadModel"  # the library has a class of its own for it
        change(folder / "config.json", model_type="evil", architectures=["Evil"])
        message = refusal(folder)
        assert "needs Python code of its own repository, which is never run here" in message and "'evil'" in message
        change(folder / "config.json", auto_map=None)
        (folder / "config.json").write_text(json.dumps({"model_type": ["gpt2"]}))
        assert "transformers knows no model of type ['gpt2']" in refusal(folder)

    @pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt", "flax_model.msgpack", "tf_model.h5"])
    def test_weights_that_can_run_code(self, folder: Path, file: str) -> None:
        (folder / "model.safetensors").rename(folder / file)
        assert f"other files with weights ({file}) are not read, because they can run code" in refusal(folder)

    def test_files_that_are_missing_or_damaged(self, folder: Path) -> None:
        whole = (folder / "model.safetensors").read_bytes()
        for content, words in (
            (whole[:-10], f"it has {len(whole) - 10:,} bytes of {len(whole):,}"),
            (whole[:100], "it is not a whole safetensors file"),
            (b"", "it is not a whole safetensors file"),
            (b"\xff" * 100, "it is not a whole safetensors file"),
        ):
            (folder / "model.safetensors").write_bytes(content)
            assert words in refusal(folder)
        (folder / "model.safetensors").unlink()
        assert "has no model.safetensors: a model saved with save_pretrained has one" in refusal(folder)
        (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../../etc/passwd"}}')
        assert "must list the files that hold each tensor" in refusal(folder)
        (folder / "config.json").write_text("[]")
        assert "must hold a JSON object" in refusal(folder)
        (folder / "config.json").unlink()
        assert "has no config.json" in refusal(folder)

    @pytest.mark.parametrize(
        ("kind", "changes", "words"),
        [
            ("t5", {"vocab_size": 10**12}, "the sizes ask for "),
            ("t5", {"d_ff": 10**11}, "the sizes ask for "),
            ("t5", {"vocab_size": 10**18, "d_model": 10**18}, "cannot be read"),
            ("t5", {"d_model": 10**400}, "at most 300 are read"),
            ("t5", {"num_layers": 10**9}, "num_layers is 1,000,000,000; at most 100 layers"),
            ("t5", {"num_layers": "three"}, "cannot be read"),
            ("t5", {"d_kv": -4}, "cannot be read"),
            ("t5", {"vocab_size": None}, "cannot be read"),
            ("t5", {"quantization_config": {"quant_method": "evil"}}, "quantized models cannot be looked at"),
            ("gpt2", {"n_head": -1}, "n_head is -1; it cannot be negative"),
            ("gpt2", {"n_layer": "3"}, "'n_layer': TypeError: "),
            ("gpt2", {"activation_function": "evil"}, "config.json names 'evil', which the library does not know"),
        ],
        ids=str,
    )
    def test_a_configuration_that_no_network_can_have_is_refused_before_the_weights_are_read(
        self, saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, changes: dict[str, Any], words: str
    ) -> None:
        folder = shutil.copytree(saved[kind][0], tmp_path / kind)
        change(folder / "config.json", **changes)
        network = type(saved[kind][1])
        monkeypatch.setattr(network, "from_pretrained", lambda *_, **__: pytest.fail("the weights were read"))
        assert words in refusal(folder)

    def test_tensors_that_do_not_fit_the_configuration(self, saved, tmp_path: Path) -> None:
        """Of another shape, of a layer that the model has not, or without numbers."""
        name = "decoder.block.0.layer.1.EncDecAttention.q.weight"
        whole = load_file(saved["t5"][0] / "model.safetensors")
        for number, (tensors, words) in enumerate(
            [
                (whole | {name: whole[name][:, :-1].contiguous()}, "has another shape than config.json says"),
                (whole | {name.replace("block.0", "block.9"): whole[name].clone()}, "belongs to no layer"),
                (whole | {name: torch.full_like(whole[name], torch.nan)}, "must hold finite numbers only"),
            ]
        ):
            folder = shutil.copytree(saved["t5"][0], tmp_path / str(number))
            save_file(tensors, folder / "model.safetensors", {"format": "pt"})
            assert words in refusal(folder)

    def test_a_tokenizer_that_is_missing_or_damaged(self, folder: Path) -> None:
        (folder / "tokenizer.json").write_text("{}")
        assert f"the tokenizer in {folder} cannot be read: " in refusal(folder)
        for file in ("tokenizer.json", "tokenizer_config.json"):
            (folder / file).unlink()
        assert f"{folder} has no tokenizer: one that is saved with save_pretrained makes tokenizer.json" in refusal(
            folder
        )

    def test_a_model_of_images_is_read_by_its_maps(self, tmp_path: Path) -> None:
        sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 16}
        config = transformers.ViTConfig(image_size=16, patch_size=8, **sizes)
        original = transformers.ViTForImageClassification._from_config(config, attn_implementation="eager").eval()
        original.save_pretrained(tmp_path)
        transformers.ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path)
        image = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
        maps = load_model(tmp_path).read(pixel_values=image).attention("encoder_self")
        with torch.no_grad():
            expected = torch.cat(original(pixel_values=image, output_attentions=True).attentions)
        np.testing.assert_allclose(maps, expected.numpy(), atol=1e-6)
        with pytest.raises(ValueError, match="reads no text"):
            load_model(tmp_path).read("a text")


class TestHub:
    @pytest.mark.slow
    def test_a_download_works_reports_its_bytes_and_is_kept(self, site: SmallHub, folder: Path, cache: Path) -> None:
        (folder / "pytorch_model.bin").write_bytes(b"never fetched")
        (folder / "evil.py").write_text("never fetched")
        site.models[NAME] = folder
        reports: list[tuple[int, int]] = []
        model, tokenizer = load(NAME, progress=lambda done, total: reports.append((done, total)))
        whole = sum((folder / file).stat().st_size for file in site.sent)
        assert sorted(site.sent) == [
            *("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
        ]
        assert reports[-1] == (whole, whole) and [done for done, _ in reports] == sorted(done for done, _ in reports)
        assert model.config.vocab_size == len(VOCAB) and tokenizer("the cat").input_ids == [6, 8]
        site.sent.clear()
        assert torch.equal(load(NAME)[0].lm_head.weight, model.lm_head.weight) and not site.sent
        site.status[""] = (503, "")
        assert load(NAME, "main")[0].config.vocab_size == len(VOCAB)  # it is in the cache

    @pytest.mark.slow
    def test_without_a_network_the_cache_is_used(self, site: SmallHub, folder: Path, monkeypatch) -> None:
        site.models[NAME] = folder
        path = hub.fetch(NAME)
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert hub.fetch(NAME) == path
        assert "the hub cannot be reached: try again where there is a network" in refusal("someone/else")
        monkeypatch.delenv("HF_HUB_OFFLINE")
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens
        assert hub.fetch(NAME) == path
        assert f"the hub cannot be reached: try again where there is a network, {COPIES}" in refusal("someone/else")

    def test_weights_in_several_files(self, site: SmallHub, saved, tmp_path: Path) -> None:
        folder = shutil.copytree(saved["gpt2"][0], tmp_path / "shards")
        (folder / "model.safetensors").unlink()
        saved["gpt2"][1].save_pretrained(folder, max_shard_size="3KB")
        site.models[NAME] = folder
        assert torch.equal(load(NAME)[0].lm_head.weight, saved["gpt2"][1].lm_head.weight)

    @pytest.mark.parametrize(
        ("file", "status", "words"),
        first_quick(
            [
                ("", (401, "RepoNotFound"), f"no folder and no model on the hub named {NAME!r}: check it, {COPIES}"),
                ("", (403, "GatedRepo"), "accept the conditions at http://"),
                ("config.json", (401, "GatedRepo"), "accept the conditions at http://"),
                ("", (500, ""), f"the hub answers with an error (500) when asked for {NAME!r}: try again later"),
                ("model.safetensors", (503, ""), "the hub answers with an error (503)"),
                ("tokenizer.json", (410, ""), "the hub answers with an error (410)"),
            ]
        ),
    )
    def test_errors_of_the_hub(self, site: SmallHub, folder: Path, cache: Path, file, status, words) -> None:
        site.models[NAME] = folder
        site.status[file] = status
        assert words in refusal(NAME)
        assert left(cache) == []

    @pytest.mark.slow
    def test_names_and_revisions_that_there_are_not(self, site: SmallHub, folder: Path, cache: Path) -> None:
        site.models[NAME] = folder
        assert f"the model {NAME!r} has no revision 'nope' on the hub" in refusal(NAME, revision="nope")
        assert "no folder and no model on the hub named '../tiny/x'" in refusal("../tiny/x")
        assert "name a model on the hub, or name a folder" in refusal(" ")
        assert left(cache) == []

    @pytest.mark.slow
    def test_a_revision_behind_the_name(self, site: SmallHub, folder: Path, tmp_path: Path, cache: Path) -> None:
        """Other weights than those of the main branch, each in its own place in the cache."""
        changed = theirs_with(folder, tmp_path / "request", "transformer.ln_f.bias", 0.5)
        site.models[NAME] = folder
        site.revisions[f"{NAME}@refs/pr/1"] = "a" * 40, changed
        biases = [load(name)[0].transformer.ln_f.bias for name in (NAME, f"{NAME}@refs/pr/1", f"{NAME}@{'a' * 40}")]
        assert not torch.equal(biases[0], biases[1]) and torch.equal(biases[1], torch.full_like(biases[1], 0.5))
        assert torch.equal(biases[1], biases[2])
        assert torch.equal(load(NAME, revision="refs/pr/1")[0].transformer.ln_f.bias, biases[1])
        before = left(cache)
        assert f"the model {NAME!r} has no revision 'nope' on the hub" in refusal(f"{NAME}@nope")
        assert left(cache) == before

    @pytest.mark.parametrize(
        ("file", "answer"),
        first_quick(
            [
                ("config.json", web_page),
                ("tokenizer.json", half),
                pytest.param("model.safetensors", half, marks=pytest.mark.slow),
                ("model.safetensors", web_page),
            ]
        ),
    )
    def test_half_a_file_or_a_web_page(self, site: SmallHub, folder: Path, cache: Path, file: str, answer) -> None:
        site.models[NAME] = folder
        site.answers[file] = answer
        assert f"the download of {NAME!r} broke off before its end: try again" in refusal(NAME)
        assert left(cache) == []

    @pytest.mark.parametrize(
        "answer", first_quick([web_page, saying(b"[]"), saying(b"{}"), saying(b'{"id": "x", "sha": 5}')])
    )
    def test_what_is_no_hub(self, site: SmallHub, folder: Path, cache: Path, answer) -> None:
        site.models[NAME] = folder
        site.answers[""] = answer
        assert f"what answers at {site.url} is not the Hugging Face hub" in refusal(NAME)
        assert left(cache) == []

    @pytest.mark.slow
    def test_a_listing_that_stalls(self, site: SmallHub, folder: Path, cache: Path) -> None:
        site.models[NAME] = folder
        stall = site.answers[""] = Stall()
        try:
            assert "the hub cannot be reached: try again" in refusal(NAME)
        finally:
            stall.over.set()
        assert left(cache) == []

    @pytest.mark.parametrize("file", first_quick(["", "tokenizer.json", "model.safetensors"]))
    def test_a_slow_download_can_be_stopped(self, site: SmallHub, folder: Path, cache: Path, file: str) -> None:
        """At once, whatever the callable raises comes out, and nothing of the model stays."""
        site.models[NAME] = folder
        stall = site.answers[file] = Stall()

        class Stopped(Exception):
            pass

        def progress(done: int, total: int) -> None:
            if stall.begun.is_set():
                raise Stopped

        try:
            with pytest.raises(Stopped):
                load(NAME, progress=progress)
        finally:
            stall.over.set()
        assert left(cache) == []

    @pytest.mark.slow
    def test_what_is_in_the_cache_stays(self, site: SmallHub, folder: Path, tmp_path: Path, cache: Path) -> None:
        """Of another model, and of an earlier revision of the same one, which shares files with the new one."""
        site.models |= {NAME: folder, "someone/else": folder}
        folders = [hub.fetch("someone/else"), hub.fetch(NAME)]
        before = left(cache)
        site.commit = "f" * 40
        site.models[NAME] = shutil.copytree(folder, tmp_path / "newer")
        (site.models[NAME] / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-1] + b"x")
        site.answers["model.safetensors"] = web_page
        assert "broke off" in refusal(NAME)
        assert left(cache) == before
        for path in folders:
            assert (path / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
            assert (path / "config.json").read_bytes() == (folder / "config.json").read_bytes()

    @pytest.mark.slow
    def test_what_is_refused_before_the_weights_are_fetched(self, site: SmallHub, folder: Path, cache: Path) -> None:
        site.models[NAME] = folder
        write_header(folder / "model.safetensors", {"a": [1_000_000, 1_000_000]})
        message = refusal(NAME)
        assert f"{NAME} has 1,000,000,000,000 parameters, which take about 4,800.0 GB of memory, and " in message
        (folder / "model.safetensors").write_bytes(b"\xff" * 200)
        assert "has a damaged model.safetensors" in refusal(NAME)
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        assert "(pytorch_model.bin) are not read, because they can run code" in refusal(NAME)
        change(folder / "config.json", model_type="evil", auto_map={"AutoModel": "evil.Evil"})
        assert "needs Python code of its own repository" in refusal(NAME)
        (folder / "config.json").write_text("[]")
        assert "config.json of the model must hold a JSON object" in refusal(NAME)
        (folder / "config.json").unlink()
        assert f"{NAME} has no config.json: it is not a model of transformers" in refusal(NAME)
        assert left(cache) == [] and "model.safetensors" not in site.sent

    def test_a_program_that_dies_is_a_sentence(self, site: SmallHub, monkeypatch) -> None:
        monkeypatch.setattr(hub, "ROOT", Path("/no such folder"))
        monkeypatch.chdir("/")
        assert "ended without an answer" in refusal(NAME)


class TestDevices:
    @pytest.mark.parametrize("by_variable", [True, False])
    @pytest.mark.parametrize(
        ("device", "words"),
        [
            ("gpu", "'gpu' is not a device; this machine has cpu"),
            ("cuda:99", "there is no device 'cuda:99' here; this machine has cpu"),
            ("meta", "the device 'meta' holds no numbers; this machine has cpu"),
        ],
    )
    def test_one_that_is_not_there_is_a_sentence_before_anything_is_fetched(
        self, device: str, words: str, by_variable: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(hub, "ROOT", Path("/no such folder"))  # where a download would start
        if by_variable:
            monkeypatch.setenv("HEADLIGHT_DEVICE", device)
        message = refusal(NAME, **({} if by_variable else {"device": device}))
        assert message.startswith(words) and "\n" not in message

    def test_it_is_where_the_model_computes(self, saved, monkeypatch: pytest.MonkeyPatch) -> None:
        folder, _ = saved["gpt2"]
        monkeypatch.setenv("HEADLIGHT_DEVICE", "cuda:99")
        reader = load_model(folder, device="cpu")  # which the variable does not overrule
        assert reader.model.device.type == "cpu"
        moved = []
        monkeypatch.setattr(transformers.GPT2LMHeadModel, "to", lambda model, device: moved.append(device) or model)
        load_model(folder, device="cpu")
        assert moved == [torch.device("cpu")]

        def no_room(model: Any, device: torch.device) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 20.00 GiB")

        monkeypatch.setattr(transformers.GPT2LMHeadModel, "to", no_room)
        assert (
            refusal(folder, device="cpu")
            == "the model does not fit on the device cpu: choose another one, or a smaller model"
        )

    def test_adapters_without_their_model_are_a_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "adapter_config.json").write_text("{}")
        assert "holds an adapter of PEFT without its model: load both" in refusal(tmp_path)
