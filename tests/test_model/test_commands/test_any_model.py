"""`read`, `translate` and `atlas` with a model of transformers: what they print and write, and what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from model import load_model
from model.__main__ import main
from model.adapters.attention_file import read_attention
from model.analysis.repetitions import repetitions
from model.interventions.edits import Edits, Head
from model.interventions.patches import HeadPatch
from model.measures import atlas
from model.measures.heads import decoders
from tests.support import chats
from tests.test_model.builders import randomise
from tests.test_model.test_adapters.other_models import IDS, VOCAB, save_model, theirs

TEXT = "the cat sat on the"
KINDS = ("llama", "bert", "bart")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Models by kind: a decoder with grouped keys, an encoder without outputs over words, an encoder-decoder."""
    root = tmp_path_factory.mktemp("models")
    for kind in ("bert", "bart"):
        theirs(kind).save_pretrained(root / kind)
        save_model(root / kind, kind)
    theirs("gpt2").save_pretrained(root / "llama")
    sizes = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 3, "max_position_embeddings": 64}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    torch.manual_seed(0)
    llama = LlamaForCausalLM(LlamaConfig(vocab_size=len(VOCAB), **sizes, **heads, **IDS))
    randomise(llama)
    llama.save_pretrained(root / "llama")
    return {kind: str(root / kind) for kind in KINDS}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Runs a command; gives exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_read_prints_the_next_words_with_and_without_heads(run, folders: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "read.npz"
    code, out, err = run("read", TEXT, "--model", folders["llama"], "--off", "0-1", "2-3", "--out", file)
    assert (code, err) == (0, "")
    reader = load_model(folders["llama"])
    edits = Edits(off=(Head("decoder_self", 0, 1), Head("decoder_self", 2, 3)))
    runs = [reader.read(TEXT), reader.read(TEXT, edits=edits)]
    chances = [torch.from_numpy(result.logits[-1]).softmax(-1) for result in runs]
    lines = [line.split() for line in out.splitlines() if line.startswith("   0.")]
    assert lines[0][-1] == VOCAB[int(chances[0].argmax())]
    for before, after, word in lines:
        index = VOCAB.index(word)
        assert (before, after) == (f"{chances[0][index]:.3f}", f"{chances[1][index]:.3f}")
    assert "llama: decoder_self 3 layers of 4 heads over 2 key-value heads\n5 tokens; " in out
    with np.load(file, allow_pickle=False) as arrays:
        for address, array in runs[1].trace.items():
            np.testing.assert_array_equal(arrays[address], array)
    recording = read_attention(file)  # on the page Your own model
    np.testing.assert_array_equal(recording.attention("decoder_self"), runs[1].attention("decoder_self"))
    assert recording.target_tokens == runs[1].target_tokens


def test_read_takes_a_text_as_a_chat_turn(run, folders: dict[str, str], tmp_path: Path) -> None:
    folder = chats.save(tmp_path / "chat")
    code, out, err = run("read", "Hi", "--model", folder, "--chat", "--out", tmp_path / "chat.npz")
    assert (code, err) == (0, "")
    result = load_model(folder).read(messages=[{"role": "user", "content": "Hi"}])
    assert f"{len(result.target_tokens)} tokens; " in out
    recording = read_attention(tmp_path / "chat.npz")
    assert recording.target_tokens == result.target_tokens
    np.testing.assert_array_equal(recording.special["target"], result.special["target"])
    code, out, err = run("read", "Hi", "--model", folders["llama"], "--chat")
    assert code and not out and "no chat template" in err


def test_read_prints_the_heads_that_add_most(run, folders: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "read.npz"
    words = ("--effects", "dog", "--against", "cat", "--off", "1-2", "--out", file)
    code, out, err = run("read", TEXT, "--model", folders["llama"], *words)
    assert (code, err) == (0, "")
    reader = load_model(folders["llama"])
    result = reader.read(TEXT, edits=Edits(off=(Head("decoder_self", 1, 2),)))
    effects = reader.effects(result, "dog", against="cat")
    totals = effects.heads("decoder_self")[:, :, -1].sum(axis=-1)
    lines = out.splitlines()
    place = lines.index(f"logit {effects.logits[-1]:.3f} at the last step; the heads that add most to it:")
    layer, head = np.unravel_index(np.abs(totals).argmax(), totals.shape)
    assert lines[place + 1].split()[:3] == [f"{totals[layer, head]:+.3f}", "decoder_self", f"{layer}-{head}"]
    assert lines[-2].split()[0] == "+0.000" or len(lines) > place + 10
    with np.load(file, allow_pickle=False) as arrays:
        np.testing.assert_allclose(arrays["heads.decoder_self"], effects.heads("decoder_self"), atol=1e-6)


def test_read_of_an_encoder_and_of_an_encoder_decoder(run, folders: dict[str, str]) -> None:
    code, out, _ = run("read", TEXT, "--model", folders["bert"])
    assert code == 0 and "bert: encoder_self 2 layers of 3 heads" in out and "no output over words" in out
    code, out, _ = run("read", TEXT, "--model", folders["bart"], "--target", "a dog ran", "--off", "c1-0")
    reader = load_model(folders["bart"])
    edits = Edits(off=(Head("cross", 1, 0),))
    runs = [reader.read(TEXT, target="a dog ran"), reader.read(TEXT, target="a dog ran", edits=edits)]
    assert code == 0 and out.splitlines()[-2:] == [f"{r.log_probabilities.sum():8.3f}  {r.text}" for r in runs]


@pytest.mark.parametrize(("kind", "target"), [("t5", None), ("bart", "a dog ran"), ("gpt2", None), ("bert", None)])
def test_read_writes_tokens_and_maps_that_open_as_a_recording(run, tmp_path: Path, kind: str, target) -> None:
    """Those of a plain pass of transformers over the text and, of an encoder-decoder, over what it writes."""
    theirs(kind).save_pretrained(tmp_path / kind)
    model = save_model(tmp_path / kind, kind)
    file = tmp_path / "read.npz"
    forced = ("--target", target) if target else ()
    assert run("read", TEXT, "--model", tmp_path / kind, "--out", file, *forced)[0] == 0
    recording = read_attention(file)
    inputs = dict(theirs(kind)(TEXT, return_tensors="pt"))
    inputs.pop("token_type_ids", None)
    tokens = {"decoder_self" if kind == "gpt2" else "encoder_self": inputs["input_ids"][0]}
    if model.config.is_encoder_decoder:
        start = torch.tensor([[model.config.decoder_start_token_id]])
        limit = {"max_new_tokens": len(recording.predicted_tokens), "use_cache": False}
        written = model.generate(**inputs, **limit)[:, 1:]
        if target:
            written = theirs(kind)(target, return_tensors="pt").input_ids
        inputs["decoder_input_ids"] = torch.cat([start, written[:, :-1]], dim=1)
        tokens["decoder_self"] = inputs["decoder_input_ids"][0]
        assert recording.predicted_tokens == [VOCAB[index] for index in written[0]]
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True, use_cache=False)
    names = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
    for map_kind in recording.kinds:
        maps = outputs[names[map_kind] if model.config.is_encoder_decoder else "attentions"]
        np.testing.assert_allclose(recording.attention(map_kind), torch.cat(maps).numpy(), atol=1e-5)
    assert {*recording.kinds} == {*tokens, *(["cross"] if model.config.is_encoder_decoder else [])}
    for map_kind, ids in tokens.items():
        side = recording.source_tokens if map_kind == "encoder_self" else recording.target_tokens
        assert side == [VOCAB[index] for index in ids]


@pytest.mark.parametrize("words", [(), ("gpt2", TEXT, "--out", "x.npz"), ("--revision", "main", "gpt2"), ("--help",)])
def test_the_old_command_attention_says_what_does_it_now(run, words: tuple[str, ...]) -> None:
    code, out, err = run("attention", *words)
    assert (code, out, err.count("\n")) == (2, "", 1) and "use read TEXT --model" in err


def test_translate_prints_a_line_per_text(run, folders: dict[str, str]) -> None:
    reader = load_model(folders["bart"])
    code, out, _ = run("translate", TEXT, "", "a dog ran", "--model", folders["bart"], "--beam", 2)
    assert (code, out.split("\n")[:3]) == (
        0,
        [reader.translate(text, beam=2).text if text else "" for text in (TEXT, "", "a dog ran")],
    )
    code, out, _ = run("translate", TEXT, "--model", folders["bart"], "--json")
    expected = reader.translate(TEXT)
    assert json.loads(out)["target_tokens"] == expected.target_tokens
    assert json.loads(out)["log_probabilities"] == pytest.approx(expected.log_probabilities.tolist(), abs=1e-4)


def test_atlas_measures_every_head_of_every_line(run, folders: dict[str, str], tmp_path: Path) -> None:
    texts = [TEXT, "a dog ran under the tree", "cat " * 300]
    (tmp_path / "lines.txt").write_text("\n".join(texts) + "\n\n", "utf-8")
    file = tmp_path / "new" / "atlas.json"
    code, out, _ = run("atlas", "--model", folders["llama"], "--data", tmp_path / "lines.txt", "--out", file)
    measures = json.loads(file.read_text("utf-8"))
    assert code == 0 and out.startswith("2 texts, 11 tokens\n") and measures["command"].endswith(str(file))
    values = measures["kinds"]["decoder_self"]
    reader = load_model(folders["llama"])
    maps = [reader.read(text).attention("decoder_self") for text in measures["texts"]]
    for name, offset in (("previous", 1), ("same", 0)):
        rows = [part.diagonal(-offset, axis1=2, axis2=3)[..., 1 - offset :] for part in maps]  # of row 1 on
        expected = np.concatenate(rows, axis=-1).mean(axis=-1)
        np.testing.assert_allclose(values[name], expected, atol=1e-4)
    expected = np.concatenate([part[:, :, 1:, 0] for part in maps], axis=-1).mean(axis=-1)
    np.testing.assert_allclose(values["first"], expected, atol=1e-4)
    assert sorted(measures["texts"]) == sorted(texts[:2]) and "moves" not in values  # no name stands in them twice
    text, row, column, query, key, weight = values["examples"][1][2][0]
    tokens = reader.read(measures["texts"][text]).target_tokens
    assert (tokens[row], tokens[column]) == (query, key) and 0 < column < row
    assert weight == pytest.approx(maps[text][1, 2, row, column], abs=1e-4)
    others = [np.tril(part[1, 2], -1)[:, 1:].max() for part in maps]
    assert weight == pytest.approx(max(others), abs=1e-4)
    assert values["layers"] == [0, 1, 2] and np.shape(values["induction"]) == np.shape(values["role"]) == (3, 4)
    code, out, _ = run("atlas", "--model", folders["bart"], "--data", tmp_path / "lines.txt", "--sentences", 1)
    assert code == 0 and "cross first: " in out and "induction" not in out


def test_heads_that_repeat_are_named(folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A head whose weight is put on the token after the earlier occurrence, and one that is put on that token."""
    reader = load_model(folders["llama"])
    read_batch = reader.read_batch

    def read_changed(texts: list[str] | None = None, **inputs: torch.Tensor):
        results = read_batch(texts, **inputs)
        for result in results if texts is None else ():
            ids = result.inputs["input_ids"][0].tolist()
            half = len(ids) // 2
            assert ids[:half] == ids[half:] and not set(ids) & set(reader.tokenizer.all_special_ids)
            for head, after in ((1, 1), (2, 0)):
                weights = result.trace["decoder.layers.1.self_attention.weights"][head]
                weights[half:] = 0
                weights[np.arange(half, 2 * half), np.arange(half) + after] = 1
        return results

    monkeypatch.setattr(reader, "read_batch", read_changed)
    monkeypatch.setattr(decoders, "REPEATED", 6)
    values = atlas.measure(reader, [TEXT], 1)["kinds"]["decoder_self"]
    assert values["role"][1][1:3] == ["induction", "duplicate token"]
    assert values["induction"][1][1] == values["duplicate"][1][2] == 1.0


def test_repetitions_count_every_earlier_occurrence() -> None:
    weights = np.zeros((1, 1, 5, 5))
    weights[0, 0, 4] = [0.1, 0.2, 0.3, 0.4, 0.0]
    means = repetitions(weights, [7, 8, 7, 9, 7]).means()  # rows 2 (all 0) and 4
    assert means["duplicate"].item() == pytest.approx((0.1 + 0.3) / 2)
    assert means["induction"].item() == pytest.approx((0.2 + 0.4) / 2)
    twice = repetitions(weights, [7, 8, 7, 9, 7]) + repetitions(weights, [7, 8, 7, 9, 7])
    assert twice.rows == 4 and twice.means()["duplicate"] == means["duplicate"]
    assert repetitions(weights, [1, 2, 3, 4, 5]).means()["induction"].item() == 0
    assert repetitions(np.ones((1, 1, 2, 2)), [3, 3]).means()["induction"].item() == 0  # what follows is itself


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["read", TEXT, "--model", "llama", "--off", "5-0"], "layers of the decoder self-attention are 0 to 2"),
        (["read", TEXT, "--model", "llama", "--off", "0-9"], "got head 9"),
        (
            ["read", TEXT, "--model", "llama", "--off", "x"],
            "--off takes heads as LAYER-HEAD, 23-0 for example, got 'x'",
        ),
        (["read", TEXT, "--model", "llama", "--off", "c0-0"], "no cross-attention"),
        (["read", TEXT, "--model", "bart", "--off", "0-0"], "say which kind of attention, e0-0, d0-0, c0-0"),
        (["read", TEXT, "--model", "llama", "--against", "dog"], "--against needs --effects"),
        (["read", TEXT, "--model", "llama", "--effects", "mouse dog"], "'mouse dog' is 2 tokens of this model"),
        (["read", TEXT, "--model", "bert", "--effects", "dog"], "this model is an encoder"),
        (["read", TEXT, "--model", "llama", "--target", "dog"], "--target is for encoder-decoders; a llama is not one"),
        (["read", " ", "--model", "llama"], "there is nothing to read"),
        (["read", "cat " * 65, "--model", "llama"], "has 65 tokens; at most 64 are allowed"),
        (["read", "cat " * 300, "--model", "bert"], "has 302 tokens; at most 256 are allowed"),
        (["read", TEXT, "--model", "/nowhere"], "there is no folder and no model on the hub named '/nowhere'"),
        (["read", TEXT, "--model", "llama", "--out", "/nowhere/x.npz"], "/nowhere/x.npz: No such file"),
        (["translate", TEXT, "--model", "llama"], "a llama does not translate: use 'read'"),
        (["translate", "", "--model", "bart", "--json"], "there is nothing to read"),
        (["translate", TEXT, "--model", "bart", "--beam", "99"], "from 1 to 16, got 99"),
        (["translate", TEXT, "--model", "bart", "--length-penalty", "1"], "--length-penalty is for checkpoints"),
        (["atlas", "--model", "llama", "--data", "/nowhere.txt"], "/nowhere.txt does not exist"),
        (["atlas", "--model", "llama", "--data", "{empty}"], "no line of the file is a text that the model can read"),
        (["atlas", "--model", "llama", "--data", "{empty}", "--bleu-sentences", "1"], "are for checkpoints"),
    ],
)
def test_errors_are_one_line(run, folders: dict[str, str], tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "empty.txt").write_text("\n", "utf-8")
    folder_of = folders | {"{empty}": str(tmp_path / "empty.txt")}
    code, out, err = run(*(folder_of.get(word, word) for word in words))
    assert code == 2 and not Path("/nowhere").exists()
    assert err.startswith("error: ") and err.count("\n") == 1 and message in err, err


def test_the_tokenizer_of_another_model(run, folders: dict[str, str], tmp_path: Path) -> None:
    folder = shutil.copytree(folders["llama"], tmp_path / "other")
    values = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    values["model"]["vocab"]["mouse"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(values), "utf-8")
    code, _, err = run("read", "a mouse", "--model", folder)
    assert code == 2 and "gives the id 500, the model has ids below 19" in err


def test_heads_of_another_text(folders: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    reader = load_model(folders["llama"])
    texts = "the dog ran on the", TEXT
    patching = reader.patching(*map(reader.read, texts))
    shares = patching.heads("decoder_self", "values")
    command = ["read", TEXT, "--model", folders["llama"], "--patch", "1-2", "2-0", "--what", "values"]
    assert main([*command, "--from", texts[0]]) == 0
    out = capsys.readouterr().out
    assert f"{shares[1, 2]:8.1%}  of the difference comes back with decoder_self 1-2 (values)" in out
    assert f"{shares[2, 0]:8.1%}  of the difference comes back with decoder_self 2-0 (values)" in out
    both = patching.together(*(HeadPatch("decoder_self", *place, "values") for place in ((1, 2), (2, 0))))
    assert f"{both:8.1%}  with all of them together" in out
    assert main([*command, "--from", texts[0], "--answer", "dog", "--than", "cat"]) == 0
    assert "logit of dog less that of cat" in capsys.readouterr().out
    for more, sentence in (
        ([], "--patch needs --from"),
        (["--from", texts[0], "--off", "0-0"], "--patch and --off do not go together"),
        (["--from", texts[0], "--target", "dog"], "--patch and --target do not go together"),
        (["--from", TEXT], "go on alike for"),
        (["--from", ""], "there is nothing to read"),
        (["--from", texts[0], "--answer", "dog", "--than", "dog"], "would be compared with itself"),
        (["--from", texts[0], "--answer", "dog cat"], "is 2 tokens of this model"),
    ):
        assert main([*command, *more]) == 2
        assert sentence in capsys.readouterr().err
    for heads, sentence in (
        (["9-0"], "layers of the decoder"),
        (["1-9"], "heads"),
        (["c1-2"], "cross"),
        (["18"], "takes heads as LAYER-HEAD"),
    ):
        assert main([*command[:4], "--patch", *heads, "--from", texts[0]]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ") and err.count("\n") == 1 and sentence in err, err
    assert main([*command[:4], "--what", "values"]) == 2
    assert "--what needs --patch" in capsys.readouterr().err
