"""MarianMT becomes ours: the same logits, maps and translations as in transformers with eager attention."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model import load_translator
from model.__main__ import main
from model.adapters import marian
from model.decoding import greedy, target_limit
from model.results.translation import KINDS
from model.running.translator import Translator
from model.taps import intervene, record
from model.text.special import BOS_ID, EOS_ID, PAD_ID, pad_ids
from tests.support.repeated import first_quick
from tests.test_model.builders import assert_near
from tests.test_model.test_adapters.marian_models import CODE, ENGLISH, GERMAN, SIZES, save_marian, write_sentencepiece

END_BIAS = {"small": 3.0, "uneven": 3.0, "not-shared": 4.5}  # random models would hardly ever stop
SENTENCES = [*ENGLISH, "a cat", "the street and the dog", f"{CODE} A man.", "Wiese 7 ♞", "x"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory):
    """For a name of SIZES: the MarianMT, our Translator of the same weights, and for each of our ids the id there."""
    root = tmp_path_factory.mktemp("marian")

    @cache
    def pair(name: str, seed: int) -> tuple[Any, Translator, torch.Tensor]:
        folder, out = root / f"{name}-{seed}", root / f"{name}-{seed}-ours"
        theirs = save_marian(folder, seed, **SIZES[name])
        theirs.final_logits_bias[0, 0] += END_BIAS[name]
        theirs.save_pretrained(folder)
        marian.import_marian(str(folder), out)
        vocabulary = json.loads((folder / "vocab.json").read_text("utf-8"))
        translator = load_translator(str(out))
        tokens = translator.tokenizer.source.tokens(range(len(translator.tokenizer.source)))
        return theirs, translator, torch.tensor([vocabulary["<pad>" if token == "<s>" else token] for token in tokens])

    return pair


def batch(translator: Translator) -> tuple[torch.Tensor, torch.Tensor]:
    """Two padded pairs of different lengths, in our ids."""
    size = len(translator.tokenizer.source)
    generator = torch.Generator().manual_seed(1)
    src = torch.randint(EOS_ID, size, (2, 7), generator=generator)
    tgt = torch.randint(EOS_ID, size, (2, 5), generator=generator)
    tgt[:, 0] = BOS_ID
    src[1, 4:], tgt[1, 3:] = PAD_ID, PAD_ID
    return src, tgt


def assert_same_maps(trace: dict[str, torch.Tensor], outputs: Any, lengths: list[tuple[int, int]]) -> None:
    """Every map of every layer, in the rows of real tokens: what padding asks means nothing."""
    kinds = {
        "encoder.layers.{}.self_attention.weights": (outputs.encoder_attentions, 0),
        "decoder.layers.{}.self_attention.weights": (outputs.decoder_attentions, 1),
        "decoder.layers.{}.cross_attention.weights": (outputs.cross_attentions, 1),
    }
    count = 0
    for address, (layers, side) in kinds.items():
        for i, expected in enumerate(layers):
            for row, real in enumerate(lengths):
                assert_near(trace[address.format(i)][row, :, : real[side]], expected[row, :, : real[side]])
            count += 1
    assert count == len(outputs.encoder_attentions) + 2 * len(outputs.decoder_attentions)


@pytest.mark.parametrize("name", first_quick(SIZES))
@torch.no_grad()
def test_logits_and_every_map_are_theirs(pairs, name: str) -> None:
    theirs, translator, to_theirs = pairs(name, 0)
    src, tgt = batch(translator)
    with record("*.weights") as trace:
        logits = translator.model(src, tgt)
    expected = theirs(
        input_ids=to_theirs[src],
        attention_mask=(src != PAD_ID).long(),
        decoder_input_ids=to_theirs[tgt],
        decoder_attention_mask=(tgt != PAD_ID).long(),
        output_attentions=True,
    )
    columns = [i for i in range(len(to_theirs)) if i != BOS_ID]
    for row, length in enumerate((5, 3)):
        assert_near(logits[row, :length, columns], expected.logits[row, :length][:, to_theirs[columns]])
        # The start token is ours alone: whoever reads probabilities reads theirs.
        ours = logits[row, :length].log_softmax(-1)
        assert_near(ours[:, columns], expected.logits[row, :length].log_softmax(-1)[:, to_theirs[columns]])
        assert (ours[:, BOS_ID].exp() == 0).all()
    assert_same_maps(trace, expected, [(7, 5), (4, 3)])


@pytest.mark.parametrize("name", SIZES)
@torch.no_grad()
def test_effects_and_lens_are_those_of_the_original(pairs, name: str) -> None:
    """The direct effects add up to its logits; the lens is its output layer on its own hidden states."""
    theirs, translator, to_theirs = pairs(name, 0)
    result = translator.force(SENTENCES[1], SENTENCES[0])
    src, tgt = torch.tensor([translator.source_ids(SENTENCES[1])]), torch.tensor([[BOS_ID, *result.predicted_ids[:-1]]])
    theirs_of = theirs(input_ids=to_theirs[src], decoder_input_ids=to_theirs[tgt], output_hidden_states=True)
    logits = theirs_of.logits[0]  # (T, V)
    effects = translator.effects(result, "runner-up")
    words, alternatives = (to_theirs[torch.as_tensor(ids)] for ids in (result.predicted_ids, effects.alternatives))
    steps = torch.arange(len(words))
    assert effects.rest <= 1e-4 * max(1, np.abs(effects.logits).max())
    np.testing.assert_allclose(
        sum(effects.parts.values()), logits[steps, words] - logits[steps, alternatives], atol=1e-4
    )
    assert translator.effects(result).rest <= 1e-4 * max(1, np.abs(translator.effects(result).logits).max())
    lens = translator.lens(result, k=3)
    ends = [0, *range(3, len(lens.sublayers), 3)]  # the input, and the end of every layer
    assert len(ends) == len(theirs_of.decoder_hidden_states)
    for place, hidden in zip(ends, theirs_of.decoder_hidden_states, strict=True):
        best = (theirs.lm_head(hidden[0]) + theirs.final_logits_bias).softmax(-1).topk(3)
        np.testing.assert_array_equal(to_theirs[torch.from_numpy(lens.ids[place])], best.indices)
        np.testing.assert_allclose(lens.probabilities[place], best.values, atol=1e-5)


@pytest.mark.parametrize("name", SIZES)
@torch.no_grad()
def test_a_translation_has_the_maps_of_the_original(pairs, name: str) -> None:
    """As the pages see it: `translate`, and what it recorded, against the original reading the same tokens."""
    theirs, translator, to_theirs = pairs(name, 0)
    result = translator.translate(SENTENCES[0], beam=2)
    src = [*translator.tokenizer.source.encode(SENTENCES[0]), EOS_ID]
    assert result.source_tokens == translator.tokenizer.source.tokens(src)
    ids = {token: i for i, token in enumerate(translator.tokenizer.source.tokens(range(len(to_theirs))))}
    tgt = [ids[token] for token in result.target_tokens]
    outputs = theirs(input_ids=to_theirs[src][None], decoder_input_ids=to_theirs[tgt][None], output_attentions=True)
    for kind, layers in zip(KINDS, (outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions)):
        np.testing.assert_allclose(result.attention(kind), torch.cat(layers).numpy(), atol=1e-5)
    table = theirs.get_encoder().embed_positions.weight[: len(src)].numpy()
    np.testing.assert_allclose(result.positional("source"), table, atol=1e-6)
    predicted = [ids[token] for token in result.predicted_tokens]
    expected = outputs.logits[0].log_softmax(-1)[range(len(tgt)), to_theirs[predicted]]
    np.testing.assert_allclose(result.log_probabilities, expected.numpy(), atol=1e-5)


def generated(theirs: Any, to_theirs: torch.Tensor, src: list[int], limit: int, beams: int) -> tuple[list[int], float]:
    """What `generate` finds, in the ids there and without the start token, and its log-probability.

    Scores are compared as bare sums (their penalty divides by length^a, ours by ((5 + length) / 6)^a), the search ends
    with as many finished hypotheses as the beam is wide, and no end is forced at the limit.
    """
    outputs = theirs.generate(
        to_theirs[src][None],
        num_beams=beams,
        do_sample=False,
        max_new_tokens=limit,
        length_penalty=0.0,
        early_stopping=True,
        forced_eos_token_id=None,
        bad_words_ids=[[int(to_theirs[PAD_ID])]],
        return_dict_in_generate=True,
        output_scores=True,
    )
    ids = outputs.sequences[0, 1:].tolist()
    score = float(outputs.sequences_scores[0]) if beams > 1 else float("nan")
    return ids[: ids.index(0) + 1] if 0 in ids else ids, score


@pytest.mark.slow
@pytest.mark.parametrize("name", first_quick(SIZES))
def test_greedy_translations_are_theirs(pairs, name: str) -> None:
    """Every token, whether a translation ends by itself or at the limit; and the whole batch at once."""
    ended = 0
    for seed in range(2):
        theirs, translator, to_theirs = pairs(name, seed)
        sources = [[*translator.tokenizer.source.encode(text), EOS_ID] for text in SENTENCES]
        at_once = greedy(translator.stepper, pad_ids(sources), max_length=20)
        for src, ours in zip(sources, at_once, strict=True):
            expected = generated(theirs, to_theirs, src, 20, 1)[0]
            ended += expected[-1] == 0
            assert to_theirs[ours].tolist() == [index for index in expected if index != 0]
            assert greedy(translator.model, torch.tensor([src]), max_length=20) == [ours]
    assert ended or name != "not-shared"  # the others repeat themselves up to the limit


# Left out are translations that reach the limit: there `generate` counts the unfinished as finished, and we do not.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "beams"), first_quick([("uneven", 4), ("small", 2), ("not-shared", 4)]))
def test_beam_translations_are_theirs(pairs, name: str, beams: int) -> None:
    compared = 0
    for seed in range(2):
        theirs, translator, to_theirs = pairs(name, seed)
        for text in SENTENCES:
            src = [*translator.tokenizer.source.encode(text), EOS_ID]
            result = translator.translate(text, beam=beams, length_penalty=0.0)
            limit = target_limit(len(src), translator.config.max_length)
            expected, score = generated(theirs, to_theirs, src, limit, beams)
            best = result.search.hypotheses[0]
            if expected[-1] == 0 and len(expected) < limit:
                assert to_theirs[best.ids].tolist() == expected[:-1]
                assert best.log_probability == pytest.approx(score, abs=1e-4)
                assert result.text == translator.tokenizer.target.decode(best.ids)
                compared += 1
    assert compared > 2


@torch.no_grad()
def test_heads_can_be_switched_off(pairs) -> None:
    """An intervention on the imported model is felt, and gone afterwards."""
    _, translator, _ = pairs("small", 0)
    src, tgt = batch(translator)
    before = translator.model(src, tgt)
    with intervene({"decoder.layers.0.cross_attention.weights": lambda weights: weights * 0}):
        assert (translator.model(src, tgt) - before).abs().max() > 1e-2
    assert torch.equal(translator.model(src, tgt), before)


class TestCommand:
    """python -m model import marian."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A good model, to be damaged."""
        save_marian(tmp_path / "good")
        return tmp_path / "good"

    def run(self, capsys: pytest.CaptureFixture[str], folder: Path, out: Path) -> tuple[int, str, str]:
        code = main(["import", "marian", str(folder), "--out", str(out)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    def refusal(self, capsys: pytest.CaptureFixture[str], folder: Path) -> str:
        out = folder.with_name("refused")
        code, printed, message = self.run(capsys, folder, out)
        assert (code, printed) == (2, "") and message.startswith("error: ") and message.count("\n") == 1
        assert not out.exists()
        return message

    def change(self, path: Path, **changes: Any) -> None:
        values = json.loads(path.read_text("utf-8")) | changes
        path.write_text(json.dumps({name: value for name, value in values.items() if value is not None}), "utf-8")

    def test_it_makes_a_checkpoint(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = folder.with_name("ours")
        code, printed, message = self.run(capsys, folder, out)
        assert (code, message) == (0, "")
        assert {path.name for path in out.iterdir()} == {
            "config.json", "model.safetensors", "tokenizer.json", "card.json", "manifest.json"
        }  # fmt: skip
        translator = load_translator(str(out))
        count = sum(parameter.numel() for parameter in translator.model.parameters())
        assert f"{out}: {count:,} parameters" in printed
        card = translator.card
        assert card["task"] == "translation en-de" and (card["source"], card["target"]) == ("en", "de")
        assert card["converted_from"] == str(folder) and 0 < card["difference"] < 1e-5
        assert card["command"] == f"python -m model import marian {folder} --out {out}"
        assert "is there already" in self.run(capsys, folder, out)[2]
        assert main(["translate", "a cat", "--checkpoint", str(out)]) == 0

    def test_weights_in_half_precision_stay_so(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """As most on the hub are; others are kept whole."""
        for half, dtype in ((False, torch.float32), (True, torch.float16)):
            if half:
                tensors = load_file(folder / "model.safetensors")
                save_file({name: value.half() for name, value in tensors.items()}, folder / "model.safetensors")
            out = folder.with_name(f"half-{half}")
            assert self.run(capsys, folder, out)[0] == 0
            assert {value.dtype for value in load_file(out / "model.safetensors").values()} == {dtype}

    @pytest.mark.parametrize(
        "changes, message",
        [
            ({"model_type": "bart"}, "the model is of type 'bart', not 'marian'"),
            ({"decoder_attention_heads": 2}, "decoder_attention_heads (2) must be encoder_attention_heads (3)"),
            ({"decoder_vocab_size": 7}, "source and target have two vocabularies"),
            ({"activation_function": "tanh"}, "activation_function must be one of swish, silu, relu, gelu, got 'tanh'"),
            ({"activation_function": ["swish"]}, "activation_function must be one of"),
            ({"d_model": None}, "d_model must be of type int"),
            ({"d_model": "12"}, "d_model must be of type int"),
            ({"d_model": 24}, "a tensor of model.safetensors has another shape than config.json says"),
            ({"vocab_size": 10**9, "decoder_vocab_size": 10**9}, "more than 500,000,000 numbers"),
            ({"encoder_layers": 3}, "is missing"),
            ({"encoder_layers": 1}, "belongs to no layer of config.json"),
            ({"pad_token_id": 3}, "pad_token_id must be"),
            ({"decoder_start_token_id": 0}, "decoder_start_token_id must be"),
        ],
    )
    def test_configurations(self, folder: Path, capsys, changes: dict[str, Any], message: str) -> None:
        self.change(folder / "config.json", **changes)
        assert message in self.refusal(capsys, folder)

    def test_a_file_chooses_no_code(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        evil = {"auto_map": {"AutoModelForSeq2SeqLM": "evil.Evil"}, "quantization_config": {"quant_method": "evil"}}
        self.change(folder / "config.json", **evil, _attn_implementation="evil/kernel")
        (folder / "evil.py").write_text("raise SystemExit('it ran')\n")
        assert self.run(capsys, folder, folder.with_name("ours"))[0] == 0

    def test_vocabularies(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = folder / "vocab.json"
        good = path.read_text("utf-8")
        self.change(path, extra=5)
        assert "must give each of the" in self.refusal(capsys, folder)
        path.write_text(good.replace("<unk>", "<s>"), "utf-8")
        assert "the token '<unk>' is missing" in self.refusal(capsys, folder)
        path.write_text(good.replace(CODE, "<s>"), "utf-8")
        assert "the tokens must differ from each other" in self.refusal(capsys, folder)
        path.unlink()
        assert "vocab.json cannot be read" in self.refusal(capsys, folder)

    def test_sentencepiece_files(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = folder / "source.spm"
        for damaged in (b"", b"garbage garbage", path.read_bytes()[:50]):
            path.write_bytes(damaged)
            assert "source.spm: " in (says := self.refusal(capsys, folder)) and "not a SentencePiece model" in says
        for table in (b"abc", b"\x08\0\0\0" + b"\xff" * 20, b"\0\x04\0\0" + b"\xff" * 1024 + b"a\0"):
            write_sentencepiece(path, [("<unk>", 0.0), ("a", -1.0)], precompiled_charsmap=table)
            assert "not a SentencePiece model" in self.refusal(capsys, folder)
        path.unlink()
        assert "source.spm cannot be read: it does not exist" in self.refusal(capsys, folder)

    def test_weights(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = folder / "model.safetensors"
        tensors = load_file(path)
        name = "model.encoder.layers.0.fc1.weight"
        save_file({key: value for key, value in tensors.items() if key != name}, path)
        assert f"the tensor {name} is missing" in self.refusal(capsys, folder)
        save_file(tensors | {name: tensors[name] * torch.nan}, path)
        assert "must hold finite numbers only" in self.refusal(capsys, folder)
        path.write_bytes(b"\xff" * 99)
        assert "model.safetensors cannot be read" in self.refusal(capsys, folder)
        path.rename(folder / "pytorch_model.bin")
        assert "has no model.safetensors" in self.refusal(capsys, folder)
        assert "NAME@refs/pr/1" in self.refusal(capsys, folder)

    def test_it_cannot_be_trained_with(self, folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        self.run(capsys, folder, tmp_path / "ours")
        data = tmp_path / "data" / "multi30k"
        data.mkdir(parents=True)
        for split in ("train", "val"):
            for language, texts in (("en", ENGLISH), ("de", GERMAN)):
                (data / f"{split}.{language}.gz").write_bytes(gzip.compress("\n".join(texts).encode()))
        words = ["train", "tiny", "--data-dir", str(data.parent), "--out", str(tmp_path / "run")]
        assert main([*words, "--tokenizer", str(tmp_path / "ours")]) == 2
        assert "the tokenizer of an imported translator cannot be trained with" in capsys.readouterr().err
