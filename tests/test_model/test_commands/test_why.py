"""`--why` and `--cut`: what they print of a head is what the Python API says of it, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from model import Edits, load_model, load_translator
from model.__main__ import main
from model.config import TransformerConfig
from model.interventions.cuts import Cut
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.test_model.builders import randomise
from tests.test_model.test_adapters.other_models import IDS, VOCAB, save_model, theirs

SENTENCES = ["A man walks.", "Ein Mann geht.", "Two dogs walk."]
TEXT = "the cat sat on the"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that translates, a decoder of transformers with grouped keys, and an encoder-decoder."""
    root = tmp_path_factory.mktemp("models")
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=310, alphabet_size=40)
    sizes = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 16, "max_length": 64}
    torch.manual_seed(5)
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes))
    randomise(model)
    checkpoint.save(root / "ours", model, tokenizer, {})
    theirs("gpt2").save_pretrained(root / "llama")
    shape = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 3, "max_position_embeddings": 64}
    config = LlamaConfig(vocab_size=len(VOCAB), num_attention_heads=4, num_key_value_heads=2, **shape, **IDS)
    llama = LlamaForCausalLM(config)
    randomise(llama)
    llama.save_pretrained(root / "llama")
    theirs("bart").save_pretrained(root / "bart")
    save_model(root / "bart", "bart")
    return root


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs a command; gives exit code, lines of stdout, and stderr."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(root))

    def run(*words: object) -> tuple[int, list[str], str]:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out.splitlines(), captured.err

    return run


def numbers_after(lines: list[str], name: str, start: int = 0) -> np.ndarray:
    """The numbers of the first line with a name from a line on."""
    line = next(line for line in lines[start:] if line.startswith(f"  {name} "))
    return np.array(line.removeprefix(f"  {name} ").split(), dtype=float)


def expect_parts(lines: list[str], parts, weights: np.ndarray, row: int) -> None:
    """Every printed number is the Python API's; parts that are left out stand as one, so that columns add up."""
    keys = numbers_after(lines, "key").astype(int)
    allowed = parts.mask[row]
    np.testing.assert_allclose(numbers_after(lines, "weight"), weights[row, keys], atol=6e-4)
    score = parts.scores[row, keys] - parts.scores[row, allowed].mean()
    starts = [place for place, line in enumerate(lines) if line.startswith("what ")]
    sides = ((parts.key_names, parts.of_keys), (parts.query_names, parts.of_queries))
    for start, (names, values) in zip(starts, sides, strict=True):
        end = next(place for place in range(start, len(lines)) if lines[place].startswith("  sum "))
        shown = [line[:20].strip() for line in lines[start + 1 : end]]
        printed = {name: numbers_after(lines, name, start) for name in shown}
        above = parts.above_mean(values)[:, row][:, keys]
        for name in shown:
            if name in names:
                np.testing.assert_allclose(printed[name], above[names.index(name)], atol=6e-3)
        assert len(set(shown) & set(names)) == min(len(names), 8)
        np.testing.assert_allclose(sum(printed.values()), score, atol=0.006 * len(shown))
        np.testing.assert_allclose(numbers_after(lines, "sum", start), score, atol=6e-3)


@pytest.mark.parametrize(("code", "kind"), [("e1-1", "encoder_self"), ("d1-0", "decoder_self"), ("c1-1", "cross")])
def test_translate_says_why_a_head_looks_where_it_looks(run, root: Path, code: str, kind: str) -> None:
    words = ("translate", "A man walks.", "--checkpoint", "ours", "--beam", 1, "--why", code)
    status, lines, err = run(*words)
    assert (status, err) == (0, "")
    translator = load_translator(str(root / "ours"))
    result = translator.translate("A man walks.", beam=1)
    layer, head = int(code[1]), int(code[3])
    parts = translator.score_parts(result, kind, layer, head)
    weights = result.attention(kind)[layer, head]
    assert lines[0] == result.text
    expect_parts(lines, parts, weights, len(weights) - 1)
    assert numbers_after(lines, "key")[0] == weights[-1].argmax()
    status, lines, err = run(*words, "--row", 1, "--key", 0)
    assert (status, err, numbers_after(lines, "key")[0]) == (0, "", 0)
    expect_parts(lines, parts, weights, 1)


@pytest.mark.parametrize(
    ("model", "code", "kind"), [("llama", "2-3", "decoder_self"), ("bart", "e0-1", "encoder_self")]
)
def test_read_says_it_of_models_of_transformers(run, root: Path, model: str, code: str, kind: str) -> None:
    status, lines, err = run("read", TEXT, "--model", root / model, "--why", code, "--row", "cat")
    assert (status, err) == (0, "")
    reader = load_model(str(root / model))
    result = reader.read(TEXT)
    layer, head = (int(number) for number in code.strip("e").split("-"))
    parts = reader.score_parts(result, kind, layer, head)
    tokens = result.target_tokens if kind == "decoder_self" else result.source_tokens
    expect_parts(lines, parts, result.attention(kind)[layer, head], tokens.index("cat"))


def expect_cut(lines: list[str], path, row: int) -> None:
    keys = numbers_after(lines, "key").astype(int)
    for name, weights in (("before", path.weights), ("predicted", path.predicted), ("with the cut", path.actual)):
        np.testing.assert_allclose(numbers_after(lines, name), weights[row, keys], atol=6e-4)


def test_read_cuts_a_path(run, root: Path) -> None:
    """Both weights are those of `cut_path`, and the words that follow those of a text that was read with the edits."""
    cut = Cut("decoder_self", 2, 3, "keys", "feed-forward 0")
    status, lines, err = run("read", TEXT, "--model", root / "llama", "--cut", "2-3", "keys", cut.part)
    assert (status, err) == (0, "")
    reader = load_model(str(root / "llama"))
    result = reader.read(TEXT)
    path = reader.cut_path(result, cut)
    expect_cut(lines, path, -1)
    changed = reader.read(TEXT, edits=Edits(cut=(cut,)))
    place = next(place for place, line in enumerate(lines) if line.endswith("and with the path cut:"))
    chances = [torch.from_numpy(each.logits[-1]).softmax(-1) for each in (result, changed)]
    for line in lines[place + 1 :]:
        before, after, word = line.split()
        index = VOCAB.index(word)
        assert (before, after) == (f"{chances[0][index]:.3f}", f"{chances[1][index]:.3f}")


def test_translate_cuts_a_path(run, root: Path) -> None:
    cut = Cut("cross", 1, 0, "queries", "attention 0")
    words = ("translate", "A man walks.", "--checkpoint", "ours", "--beam", 1)
    status, lines, err = run(*words, "--cut", "c1-0", "queries", "attention 0", "--row", 0)
    assert (status, err) == (0, "")
    translator = load_translator(str(root / "ours"))
    result = translator.translate("A man walks.", beam=1)
    expect_cut(lines, translator.cut_path(result, cut), 0)
    changed = translator.translate("A man walks.", beam=1, edits=Edits(cut=(cut,)))
    assert (lines[0], lines[-1]) == (result.text, changed.text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--why", "x"), "--why takes heads as LAYER-HEAD, 23-0 for example, got 'x'"),
        (("--why", "0-1"), "--why 0-1: say which kind of attention, e0-1, d0-1, c0-1"),
        (("--why", "e9-0"), "layers of the encoder self-attention are 0 to 1, got layer 9"),
        (("--why", "e0-9"), "heads of the encoder self-attention are 0 to 1, got head 9"),
        (("--why", "e0-0", "--row", "99"), "--row is from 0 to "),
        (("--why", "e0-0", "--key", "zebra"), "--key: no token is 'zebra'; there are "),
        (("--why", "e0-0", "--json"), "--why and --cut are about one TEXT, without --json"),
        (("--row", "1"), "--row needs --why or --cut"),
        (("--cut", "e0-0", "values", "tokens"), "--cut takes a head, queries or keys, and a part"),
        (("--cut", "e1-0", "keys", "head 7.7"), "(encoder self-attention) have no part 'head 7.7'; they have"),
        (("--cut", "e1-0", "keys", "bias"), "only a part that stands in the stream can be cut, and 'bias' does not"),
        (("--cut", "e1-0", "keys", "!"), "'!' is not the name of a part"),
        (("--why", "e0-0", "--model", "x"), "of a model of transformers use 'read'"),
    ],
)
def test_what_does_not_fit_is_one_sentence(run, words: tuple[str, ...], expected: str) -> None:
    status, lines, err = run("translate", "A man walks.", "--checkpoint", "ours", "--beam", 1, *words)
    assert (status, lines, err.count("\n")) == (2, [], 1) and expected in err


def test_a_token_that_stands_twice_needs_its_number(run, root: Path) -> None:
    status, _, err = run("read", TEXT, "--model", root / "llama", "--why", "0-0", "--row", "the")
    assert status == 2 and "'the' stands at 0, 4: give one of these numbers" in err
