"""The commands: what they print, where errors go, and that nothing the user can cause shows a traceback."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU, CHRF

from model import load_translator
from model.__main__ import main
from model.analysis.lengths import Group, read
from model.config import TransformerConfig
from model.measures import checks
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer

ROOT = Path(__file__).parents[3]
PAIRS = [("A man walks.", "Ein Mann geht."), ("Two dogs.", "Zwei Hunde."), ("The street.", "Die Straße.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    tokenizer = Tokenizer.train([text for pair in PAIRS for text in pair], vocab_size=310, alphabet_size=40)
    torch.manual_seed(5)
    config = TransformerConfig(
        vocab_size=len(tokenizer), d_model=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, d_ff=16, max_length=64
    )
    model = Transformer(config)
    card = {"task": "translation en-de", "parameters": sum(p.numel() for p in model.parameters())}
    checkpoint.save(folder, model, tokenizer, card)
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a command on the small checkpoint; gives exit code, stdout and stderr."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))

    def run(*words: object, stdin: str | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_checkpoints_lists_names_sizes_and_scores(run, folder: Path) -> None:
    code, out, err = run("checkpoints")
    assert (code, err) == (0, "")
    parameters = sum(p.numel() for p in load_translator(str(folder)).model.parameters())
    assert out.startswith(f"small: translation en-de, {parameters:,} parameters, ")


@pytest.mark.parametrize(
    "card", [{}, {"task": "x"}, {"task": "x", "parameters": "x"}, {"scores": 3}, {"scores": {"a": 3}}]
)
def test_a_checkpoint_that_cannot_be_read_hides_no_other(
    run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: dict
) -> None:
    for name in ("a", "b"):
        shutil.copytree(folder, tmp_path / name)
    (tmp_path / "a" / "card.json").write_text(json.dumps(card))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    code, out, err = run("checkpoints")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.startswith(f"a cannot be read: {tmp_path / 'a' / 'card.json'} lacks what the table shows: ")
    assert second.startswith("b: translation en-de, ")


def test_checkpoints_says_when_there_are_none(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert run("checkpoints") == (2, "", f"error: there is no checkpoint in {tmp_path}\n")


def test_translate_prints_a_line_a_text(run, folder: Path) -> None:
    expected = [load_translator(str(folder)).translate(text, beam=2).text for text in ("A man.", "Two dogs.")]
    code, out, err = run("translate", "A man.", "Two dogs.", "--checkpoint", "small", "--beam", 2)
    assert (code, out.splitlines(), err) == (0, expected, "")


def test_translate_reads_lines_and_keeps_empty_ones(run, folder: Path) -> None:
    expected = [load_translator(str(folder)).translate(text, beam=1).text for text in ("A man.", "Two dogs.")]
    code, out, _ = run("translate", "--checkpoint", "small", "--beam", 1, stdin="A man.\n\nTwo dogs.\n")
    assert (code, out.split("\n")) == (0, [expected[0], "", expected[1], ""])


def test_translate_json_holds_tokens_and_probabilities(run, folder: Path) -> None:
    expected = load_translator(str(folder)).translate("A man.")
    code, out, _ = run("translate", "A man.", "--checkpoint", "small", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["text"] == expected.text
    assert result["source_tokens"] == expected.source_tokens
    assert result["target_tokens"] == expected.target_tokens
    assert result["log_probabilities"] == pytest.approx(expected.log_probabilities.tolist(), abs=1e-4)
    assert result["hypotheses"][0]["score"] == pytest.approx(expected.search.hypotheses[0].score, abs=1e-4)


def test_trace_writes_tokens_and_every_array(run, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    code, out, _ = run("trace", "A man.", "--out", file, "--checkpoint", "small")
    assert code == 0 and str(file) in out
    expected = load_translator(str(folder)).translate("A man.")
    with np.load(file, allow_pickle=False) as arrays:
        assert set(arrays) == {*expected.trace, "source", "text", "source_tokens", "target_tokens", "predicted_tokens"}
        assert arrays["source_tokens"].tolist() == expected.source_tokens
        assert arrays["text"].item() == expected.text
        for address, array in expected.trace.items():
            np.testing.assert_array_equal(arrays[address], array)


@pytest.mark.parametrize("against", [None, "runner-up"])
def test_effects_writes_what_stands_beside_the_weights(run, folder: Path, tmp_path: Path, against: str | None) -> None:
    file, option = tmp_path / "effects.npz", ["--against", against] if against else []
    code, out, _ = run("effects", "A man.", "--out", file, "--checkpoint", "small", *option)
    assert code == 0 and str(file) in out
    translator = load_translator(str(folder))
    result = translator.translate("A man.")
    expected, lens = translator.effects(result, against), translator.lens(result)
    with np.load(file, allow_pickle=False) as arrays:
        assert arrays["predicted_tokens"].tolist() == result.predicted_tokens
        for kind in ("cross", "decoder_self"):
            np.testing.assert_array_equal(arrays[f"heads.{kind}"], expected.heads(kind))
        parts = {name: arrays[name] for name in arrays if name.startswith("parts.")}
        assert set(parts) == {f"parts.{name}" for name in expected.parts}
        np.testing.assert_allclose(sum(parts.values()), arrays["logits"], atol=1e-4)
        assert arrays["lens.words"].tolist() == lens.words and arrays["lens.sublayers"].tolist() == lens.sublayers
        np.testing.assert_array_equal(arrays["occlusion"], translator.occlusion(result))
        if against:
            assert arrays["alternatives"].tolist() == translator.tokenizer.tokens(expected.alternatives.tolist())


def test_check_keeps_what_it_measured(run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), "utf-8")
    code, out, _ = run("check", "--data", tmp_path / "pairs.tsv", "--sentences", 2, "--save", "--checkpoint", "small")
    assert code == 0 and json.loads(out)["sentences"] == 2
    report = checks.read(folder)
    assert [dataclasses.asdict(claim) for claim in report["claims"]] == json.loads(out)["claims"]
    assert report["command"].endswith("--save --checkpoint small")


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_evaluate_ends_with_what_sacrebleu_says(run, folder: Path, tmp_path: Path, name: str) -> None:
    text = "".join(f"{source}\t{target}\tmore\n" for source, target in PAIRS)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    code, out, _ = run("evaluate", "--data", tmp_path / name, "--checkpoint", "small", "--beam", 2)
    scores = json.loads(out.splitlines()[-1])
    hypotheses = load_translator(str(folder)).translate_lines([source for source, _ in PAIRS], beam=2)
    references = [[target for _, target in PAIRS]]
    bleu = BLEU()
    assert code == 0
    assert scores["sentences"] == 3
    assert scores["bleu"] == round(bleu.corpus_score(hypotheses, references).score, 2)
    assert scores["chrf"] == round(CHRF().corpus_score(hypotheses, references).score, 2)
    assert scores["signature"] == str(bleu.get_signature())
    assert "tok:13a" in scores["signature"] and "case:mixed" in scores["signature"]
    assert scores["tokens_per_second"] > 0


def test_evaluate_lowercases_and_keeps_scores_on_request(run, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    data = tmp_path / "pairs.tsv"
    data.write_text("A man walks.\tEIN MANN\n", encoding="utf-8")
    code, out, _ = run("evaluate", "--data", data, "--checkpoint", copy, "--lowercase", "--save-as", "pairs")
    scores = checkpoint.read_json(copy / checkpoint.CARD)["scores"]["pairs"]
    assert code == 0
    assert "case:lc" in scores["signature"]
    assert scores["command"].startswith(f"python -m model evaluate --data {data}")
    assert {key: scores[key] for key in json.loads(out)} == json.loads(out)


def test_evaluate_scores_short_and_long_sentences_apart(run, folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    pairs = [*PAIRS, ("The man walks down the long street.", "Der Mann geht."), ("A dog and a man walk on.", "Nein.")]
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    words = ("evaluate", "--data", data, "--checkpoint", copy, "--beam", 1, "--by-length", "--save-as", "pairs")
    code, out, _ = run(*words)
    assert code == 0
    hypotheses = load_translator(str(copy)).translate_lines([source for source, _ in pairs], beam=1)
    groups = [Group(**row) for row in json.loads(out)["by_length"]]
    for group, part, lengths in zip(groups, (slice(3), slice(3, 5)), ([3, 2, 2], [7, 7]), strict=True):
        references = [[target for _, target in pairs[part]]]
        assert (group.shortest, group.longest, group.sentences) == (min(lengths), max(lengths), len(lengths))
        assert group.words == round(sum(lengths) / len(lengths), 2)
        assert group.bleu == round(BLEU().corpus_score(hypotheses[part], references).score, 2)
        assert group.chrf == round(CHRF().corpus_score(hypotheses[part], references).score, 2)
    card = checkpoint.read_json(copy / checkpoint.CARD)
    assert read(card) == {"pairs": groups}
    assert "--by-length" in card["scores"]["pairs"]["command"]


def test_perfect_translations_score_100(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from model.measures.evaluate import evaluate

    translator = load_translator(str(folder))
    long_pairs = [(source, f"{target} Und noch vier Wörter mehr.") for source, target in PAIRS]
    monkeypatch.setattr(translator, "translate_lines", lambda *_: [target for _, target in long_pairs])
    assert evaluate(translator, long_pairs, 4, 0.6)["bleu"] == 100.0


@pytest.mark.parametrize(
    "words, message",
    [
        (["translate", "x", "--checkpoint", "nope"], "there is no checkpoint 'nope'; there are small"),
        (["translate", "x", "--checkpoint", "../small"], "there is no checkpoint '../small'"),
        (["translate", "", "--checkpoint", "small"], "nothing to translate"),
        (["translate", "x" * 3000, "--checkpoint", "small"], "3,000 characters; at most 2,000"),
        (["translate", "x", "--checkpoint", "small", "--beam", "0"], "from 1 to 16, got 0"),
        (["translate", "x", "--checkpoint", "small", "--length-penalty", "nan"], "from 0 to 5, got nan"),
        (["trace", "x", "--checkpoint", "small", "--out", "no-such-folder/x.npz"], "no-such-folder/x.npz: No such"),
        (["evaluate", "--data", "no-such.tsv", "--checkpoint", "small"], "the file no-such.tsv does not exist"),
        (["train", "nope", "--data-dir", ".", "--out", "x"], "unknown preset 'nope'"),
        (["train", "nope.json", "--data-dir", ".", "--out", "x"], "nope.json cannot be read"),
        (["train", "tiny", "--data-dir", "no-such-folder", "--out", "x"], "python -m model download multi30k"),
        (["download", "nope", "--data-dir", "x"], "unknown corpus 'nope'"),
    ],
)
def test_errors_are_one_line_on_stderr(run, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "holds no lines"),
        (b"no tab here\n", "line 1: expected source<TAB>reference"),
        (b"a\tb\n\tc\n", "line 2: expected source<TAB>reference"),
        (b"\xff\xfe\x00", "line 1 is not UTF-8 text: byte 1 is 0xFF"),
        (b"a\tb\na\xe4\tb\n", "line 2 is not UTF-8 text: byte 2 is 0xE4"),
        (b"a\tb\n\n\na\tb\n", "line 2: expected source<TAB>reference"),
        ("a\t\u200b\n".encode(), "line 1: expected source<TAB>reference"),
        (b"a\t" + b"\0" * 1_000_001, "has more than 1,000,000 characters"),
    ],
)
def test_evaluate_refuses_bad_files(run, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "bad.tsv"
    file.write_bytes(content)
    code, out, err = run("evaluate", "--data", file, "--checkpoint", "small")
    assert (code, out) == (2, "")
    assert message in err and err.count("\n") == 1


def test_evaluate_takes_a_byte_order_mark_crlf_and_empty_lines_at_the_end(run, tmp_path: Path) -> None:
    plain, variant = tmp_path / "plain.tsv", tmp_path / "other.tsv"
    plain.write_bytes(b"A man.\tEin Mann.\nTwo dogs.\tZwei Hunde.\n")
    variant.write_bytes(b"\xef\xbb\xbfA man.\tEin Mann.\r\nTwo dogs.\tZwei Hunde.\r\n\r\n \n")
    scores = []
    for file in (plain, variant):
        code, out, err = run("evaluate", "--data", file, "--checkpoint", "small", "--beam", 1)
        assert (code, err) == (0, "")
        scores.append({name: value for name, value in json.loads(out).items() if name != "tokens_per_second"})
    assert scores[0] == scores[1] and scores[0]["sentences"] == 2


@pytest.fixture
def of_lines(run, monkeypatch: pytest.MonkeyPatch):
    """Translates the bytes of standard input; gives exit code, translations and stderr, of either mode."""

    def translate(content: bytes, *options: str) -> tuple[int, list[str], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="latin-1"))
        code, out, err = run("translate", "--checkpoint", "small", "--beam", 1, *options)
        lines = out.split("\n")[:-1]
        return code, [json.loads(line)["text"] for line in lines] if options else lines, err

    return translate


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["text", "json"])
def test_lines_of_standard_input(of_lines, folder: Path, mode: list[str]) -> None:
    translator = load_translator(str(folder))
    man, street = (translator.translate(text, beam=1).text for text in ("A man.", "Straße"))
    assert of_lines("A man.\n\nStraße\n".encode(), *mode) == (0, [man, "", street], "")
    stdin = "\ufeffA man.\r\n\r\nStraße\r\n\u200b \r\n".encode()
    assert of_lines(stdin, *mode) == (0, [man, "", street, ""], "")
    assert of_lines("A man.\nStraße".encode(), *mode) == (0, [man, street], ""), "without an end of the last line"
    for content, problem in (
        ("A man.\nStraße\n".encode("latin-1"), "standard input, line 2 is not UTF-8 text: byte 5 is 0xDF"),
        (b"A man.\n" + b"A man. " * 40, "line 2: the text has"),
    ):
        code, texts, err = of_lines(content, *mode)
        assert code == 2 and problem in err and err.count("\n") == 1
        assert texts in ([], [man]), "nothing that is not a translation"


def test_an_empty_line_has_the_keys_of_any_other_in_json(run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run("translate", "--checkpoint", "small", "--json", stdin="\nA man.\n")
    empty, line = map(json.loads, out.splitlines())
    assert code == 0 and list(empty) == list(line)
    assert not any(empty.values()) and type(empty["hypotheses"]) is list


def test_what_nobody_sees_changes_no_translation(run, folder: Path) -> None:
    code, out, _ = run("translate", "A m\u00adan.", "\ufeffA man.", "A man.\u200b", "--checkpoint", "small")
    assert code == 0 and len(set(out.splitlines())) == 1
    code, out, err = run("translate", "\u200b", "--checkpoint", "small")
    assert (code, out) == (2, "") and "nothing to translate" in err


def test_bad_usage_exits_with_2_and_help_with_0(run) -> None:
    for words, code in ((["unknown"], 2), ([], 2), (["translate", "--beam", "two"], 2), (["train", "--help"], 0)):
        with pytest.raises(SystemExit) as exit:
            run(*words)
        assert exit.value.code == code


def test_as_a_program(folder: Path) -> None:
    """Once through the shell: exit code and streams; of errors see test_train_command.py."""
    command = [sys.executable, "-m", "model", "translate", "--checkpoint"]
    good = subprocess.run([*command, str(folder), "A man."], cwd=ROOT, capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == load_translator(str(folder)).translate("A man.").text + "\n"
