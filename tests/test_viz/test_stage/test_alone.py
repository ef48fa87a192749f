"""The stage outside the app: the file says what was recorded, is bounded, runs nothing but our scripts; any model."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from plotly.offline import get_plotlyjs

from model import Edits, Head, load_model
from model.results.recording import Recording
from tests.support.messages import browser_state, unpack
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.other_models import save_model
from viz import stage
from viz.__main__ import main
from viz.stage import files

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "@message@", "$& ${x} \\u003c"]
NAMES = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}


def of_file(text: str, **options) -> dict:
    """What a file shows: its message with these choices, and what is open at first."""
    parts = parts_of(text)
    assert list(parts) == [""], "all travels at once"
    return browser_state(parts[""], options) | {"place": held_in(text)["place"]}


def held_in(text: str) -> dict:
    (content,) = re.findall(r'<script type="application/json" id="hl-message">(.*?)</script>', text, re.S)
    return json.loads(content)


def parts_of(text: str) -> dict[str, bytes]:
    """The message of a file under "", and the heads beside it."""
    return {name: gzip.decompress(base64.b64decode(part)) for name, part in held_in(text)["parts"].items()}


def kinds(payload: dict) -> dict[str, dict]:
    return {kind["code"]: kind for kind in payload["kinds"]}


def softmaxed(*shape: int, causal: bool = False) -> torch.Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape) + shape[-1])) * 3
    if causal:
        scores = scores.masked_fill(~torch.ones(shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    return scores.softmax(-1)


def layers(n: int, heads: int, *sizes: int, causal: bool = False) -> tuple[torch.Tensor, ...]:
    """Maps as models of transformers hand them out: (1, heads, T, S) per layer."""
    return tuple(softmaxed(n, heads, *sizes, causal=causal)[:, None])


def test_the_file_says_what_was_recorded(tiny, result, tmp_path) -> None:
    payload = of_file(stage(result, tiny).save(tmp_path / "stage.html").read_text("utf-8"))
    assert payload["translation"] == result.text
    for kind in NAMES.values():
        np.testing.assert_allclose(kinds(payload)[kind]["weights"], result.attention(kind), atol=1e-5)
    assert [len(row) for row in payload["target"]["candidates"]] == [5] * len(result.predicted_tokens)
    np.testing.assert_allclose(payload["target"]["probability"], np.exp(result.log_probabilities), atol=1e-6)
    with_place = of_file(stage(result, kind="decoder", layer=1, head=3).to_html())
    assert with_place["place"] == {"kind": "decoder_self", "layer": 1, "head": 3}
    assert with_place["target"]["candidates"] == [] and with_place["views"]["words"] == []


def test_of_a_large_vocabulary_only_the_best_words_travel(tiny, result) -> None:
    size = 58_000
    logits = np.random.default_rng(1).normal(size=(len(result.predicted_tokens), size)).astype(np.float32)
    large = replace(result, trace={**result.trace, "logits": logits})
    names = SimpleNamespace(tokenizer=SimpleNamespace(tokens=lambda ids: [f"word {number}" for number in ids]))
    large_file, small_file = (stage(*arguments).to_html() for arguments in ((large, names), (result, tiny)))
    assert len(large_file) < len(small_file) + 10_000
    assert [row[0][0] for row in of_file(large_file)["target"]["candidates"]] == [
        f"word {best}" for best in logits.argmax(axis=-1)
    ]


def test_the_file_runs_our_scripts_and_nothing_else() -> None:
    weights = np.full((2, 3, len(HOSTILE), len(HOSTILE)), 1 / len(HOSTILE))
    text = stage(attention=weights, tokens=HOSTILE).to_html()
    assert of_file(text)["source"]["tokens"][:3] == HOSTILE[:3]
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
    assert [re.findall('id="(.*?)"', attributes) for attributes, _ in scripts] == [["hl-plotly"], ["hl-message"], []]
    plotly, _, ours = (content for _, content in scripts)
    assert gzip.decompress(base64.b64decode(plotly)).decode() == get_plotlyjs()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    allowed = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in (ours, get_plotlyjs())}
    assert set(re.findall("'sha256-(.*?)'", policy)) == allowed
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "connect" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0] and "unsafe-eval" not in policy
    assert not re.search(r'(?:src|href)="|url\(', text.replace(ours, "")), "nothing is fetched"
    assert "alert(1)" not in text
    frame = stage(attention=weights, tokens=HOSTILE)._repr_html_()
    assert frame.count("<") == 2 and 'sandbox="allow-scripts allow-downloads"' in frame


@pytest.mark.slow
def test_a_file_of_many_weights_holds_the_others_in_bytes() -> None:
    """32 layers of 32 heads over 100 tokens: tiles of all, the opened heads whole, each other one beside them."""
    size, length = 32, 100
    maps = np.random.default_rng(1).dirichlet(np.ones(length), (size, size, length)).astype(np.float32)
    text = stage(attention=maps, tokens=[f"t{i}" for i in range(length)], layer=30, head=3).to_html()
    assert len(text) < 2.5e6 + 1.4 * (maps.size + 1_000_000), "a byte per weight"
    parts = parts_of(text)
    payload = unpack(parts.pop(""))["after"]["recording"]
    (kind,) = payload["kinds"]
    assert kind["byHead"] and kind["weights"] is None and kind["shape"] == list(maps.shape)
    first = tuple(kind["summary"]["first"])
    assert set(kind["openHeads"]) == {f"{first[0]},{first[1]}", "30,3"}
    np.testing.assert_allclose(kind["openHeads"]["30,3"], maps[30, 3], atol=1e-5)
    assert kind["summary"]["tiles"].shape[:2] == (size, size) and max(kind["summary"]["tiles"].shape[2:]) < length
    assert set(parts) == {f"{kind['address']}/{layer}/{head}" for layer in range(size) for head in range(size)}
    for layer, head in ((0, 0), (31, 31), (30, 3)):
        part = unpack(parts[f"{kind['address']}/{layer}/{head}"])
        restored = (part["roots"] / 255) ** 2 * part["largest"][:, None] / kind["scale"]
        assert np.abs(restored - maps[layer, head]).max() <= 0.004 * maps[layer, head].max() + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("size", "length"), first_quick([(12, 40), (32, 60)]))
def test_models_with_many_heads(size, length) -> None:
    maps, tokens = layers(size, size, length, length, causal=True), [f"Ġt{i}" for i in range(length)]
    page = stage(attention=maps, tokens=tokens)
    assert len(page.to_html()) < 2.5e6 + 1.4 * (2 * size**2 * length**2 + 200_000), "16 bits per weight"
    payload = of_file(page.to_html())
    ((code, kind),) = kinds(payload).items()
    assert code == "decoder_self", "nothing attends to what comes later"
    np.testing.assert_allclose(kind["weights"], torch.cat(maps), atol=1e-5)
    assert kind["target"]["row"] == kind["target"]["column"] == list(range(length)), "each token has its own row"
    assert kind["start"] == kind["startRow"] == -1 and payload["source"]["tokens"] == []
    np.testing.assert_array_equal(payload["views"]["mask"][0]["z"], np.tri(length))
    assert payload["target"]["tokens"] == [f"t{i}" for i in range(length)]
    assert payload["translation"] is None and payload["target"]["probability"] is None


def test_an_encoder_and_a_decoder() -> None:
    tokens = {"source": ["▁a", "▁b", "c", "d", "</s>"], "target": ["<s>", "▁x", "y"]}
    sizes = {"encoder": (5, 5), "decoder": (3, 3), "cross": (3, 5)}
    maps = {kind: softmaxed(2, 4, *sizes[kind], causal=kind == "decoder") for kind in sizes}
    forms = (
        maps,
        {kind: value.numpy() for kind, value in maps.items()},
        {NAMES[kind]: tuple(value[:, None].bfloat16()) for kind, value in maps.items()} | {"unknown": None},
        {kind: list(value.double()) for kind, value in maps.items()},
    )
    for form in forms:
        payload = of_file(stage(attention=form, tokens=tokens).to_html())
        by_kind = kinds(payload)
        assert list(by_kind) == ["cross", "encoder_self", "decoder_self"]
        for kind, name in NAMES.items():
            np.testing.assert_allclose(by_kind[name]["weights"], maps[kind], atol=4e-3)
        assert by_kind["cross"]["target"] == {"row": [0, 1, 2], "column": [-1] * 3}
        assert by_kind["cross"]["source"] == {"row": [-1] * 5, "column": [0, 1, 2, 3, 4]}
        assert payload["source"]["tokens"] == ["a", "b", "c", "d", "</s>"]
    # With what was predicted it is as with a translation: rows are named by the word that is written.
    named_tokens = tokens | {"predicted": ["▁x", "y", "</s>"]}
    payload = of_file(stage(attention=maps, tokens=named_tokens).to_html())
    assert payload["target"]["tokens"] == ["x", "y", "</s>"] and payload["target"]["start"] == "<s>"
    assert kinds(payload)["decoder_self"]["target"]["column"] == [1, 2, -1]
    # A mask that is not known is not drawn as if nothing were blocked.
    holes = maps["encoder"].clone()
    holes[..., 2, 3] = 0
    assert of_file(stage(attention=holes, tokens=tokens["source"]).to_html())["views"]["mask"] == []


@pytest.mark.slow
def test_attention_as_it_comes() -> None:
    """Of one layer or one head, averaged, as nested lists, and with tokens of a table."""
    whole, tokens = softmaxed(2, 3, 4, 4), list("abcd")
    for form, expected in (
        (whole[0, 0], whole[:1, :1]),
        (whole[0], whole[:1]),
        (whole[0].mean(0, keepdim=True), whole[:1].mean(1, keepdim=True)),
        ([layer[0] for layer in whole], whole[:, :1]),
        (whole[0, 0].tolist(), whole[:1, :1]),
        (whole.tolist(), whole),
        (whole[None], whole),
        ((whole[0, 0] > 0.5).int(), (whole[:1, :1] > 0.5).float()),
        ((whole[0] > 0.5).numpy(), (whole[:1] > 0.5).float()),
    ):
        for texts in (tokens, tuple(tokens), np.array(tokens), pd.Series(tokens), pd.Index(tokens)):
            payload = of_file(stage(attention=form, tokens=texts).to_html())
            np.testing.assert_allclose(payload["kinds"][0]["weights"], expected, atol=1e-5)
            assert (payload["source"]["tokens"] or payload["target"]["tokens"]) == tokens


def test_rows_that_are_nan_are_drawn_as_empty_and_said() -> None:
    """As a softmax leaves them where every key of a query is masked."""
    scores = torch.randn(1, 2, 4, 4)
    scores[..., 2, :] = -torch.inf
    payload = of_file(stage(attention=scores.softmax(-1), tokens=list("abcd")).to_html())
    assert not payload["kinds"][0]["weights"][..., 2, :].any() and np.isfinite(payload["kinds"][0]["weights"]).all()
    assert payload["notes"] == [
        "Encoder self: 2 of 8 rows are not numbers (NaN), as of queries whose every key is masked. They are drawn as "
        "empty."
    ]
    assert of_file(stage(attention=softmaxed(1, 2, 4, 4), tokens=list("abcd")).to_html())["notes"] == []


def test_tokens_of_bytes_are_drawn_as_text() -> None:
    maps = softmaxed(1, 1, 3, 3)
    for tokens, expected in (
        (["Ġthe", "Ġold", "Stadt"], ["the", "old", "Stadt"]),
        (["Stra", "ÃŁ", "e"], ["Stra", "ß", "e"]),
        (["æĹ¥", "æľ¬", "."], ["日", "本", "."]),
        (["Ġthe", "猫", "ÃŁ"], ["Ġthe", "猫", "ÃŁ"]),  # not all are bytes
    ):
        assert of_file(stage(attention=maps, tokens=tokens).to_html())["source"]["tokens"] == expected
    pair = {"source": list("abc"), "target": ["<s>", "Ã", "¼"], "predicted": ["Ã", "¼", "</s>"]}
    payload = of_file(stage(attention={"cross": maps}, tokens=pair).to_html())
    assert "ü" in payload["target"]["tokens"][0], "what was predicted is the same text, which begins within a character"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "give a result, or attention="),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": list("ab")}, "3 rows and 3 columns, but its rows are 2"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": "abc"}, "must be a list of texts, got 'abc'"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": None}, "must be a list of texts"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": [1, 2, 3]}, "must be a list of texts"),
        ({"attention": softmaxed(3, 3)[0], "tokens": list("abc")}, "must have the axes"),
        ({"attention": [softmaxed(3), softmaxed(3)], "tokens": list("abc")}, "its rows are 3"),
        (
            {"attention": [[[0.5, 0.5], [1.0]]], "tokens": list("ab")},
            "attention must hold numbers, in rows of one length",
        ),
        ({"attention": softmaxed(2, 2, 3, 3) * torch.nan, "tokens": list("abc")}, "holds nothing but NaN"),
        ({"attention": softmaxed(2, 2, 3, 3).log(), "tokens": list("abc")}, "after the softmax"),
        ({"attention": [[["a"]]], "tokens": ["a"]}, "attention must hold numbers, in rows of one length"),
        ({"attention": [], "tokens": ["a"]}, "no layer"),
        ({"attention": (None, None), "tokens": ["a"]}, "eager"),
        ({"attention": np.zeros((0, 2, 3, 3)), "tokens": list("abc")}, "0 layers and 2 heads"),
        ({"attention": [softmaxed(3, 2, 3, 3)], "tokens": list("abc")}, "3 sequences: choose one"),
        ({"attention": ((softmaxed(1, 2, 1, 3),),), "tokens": list("abc")}, "attention_of"),
        (
            {"attention": [softmaxed(1, 2, 3, 3), softmaxed(1, 3, 3, 3)], "tokens": list("abc")},
            "the layers of attention have different shapes",
        ),
        ({"attention": {"crss": softmaxed(2, 2, 3, 3)}, "tokens": list("abc")}, "no kind of attention 'crss'"),
        ({"attention": {"cross": softmaxed(2, 2, 3, 3)}, "tokens": list("abc")}, "two sequences"),
        ({"attention": {}, "tokens": list("abc")}, "there is no attention"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": {"from": list("abc")}}, "no tokens of the side 'from'"),
        ({"attention": np.eye(1025, dtype=bool), "tokens": ["a"] * 1025}, "1,025 target_tokens; at most 1024"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": list("abc"), "head": 2}, "2 layers of 2 heads"),
        ({"attention": softmaxed(2, 2, 3, 3), "tokens": list("abc"), "kind": "cross"}, "no attention of the kind"),
        ({"result": "a text"}, "shows a translation"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(arguments, problem) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as raised:
        stage(**arguments)
    assert "\n" not in str(raised.value)


def test_an_attention_of_a_file_is_a_result() -> None:
    maps = softmaxed(2, 2, 3, 3).numpy()
    payload = of_file(stage(Recording(list("abc"), [], {"encoder_self": maps})).to_html())
    np.testing.assert_allclose(kinds(payload)["encoder_self"]["weights"], maps, atol=1e-5)


@pytest.mark.slow
def test_the_package_is_callable_however_it_is_imported() -> None:
    program = """
import sys
import viz.stage.payload.packing
from viz import stage
assert "torch" not in sys.modules and "streamlit" not in sys.modules
import viz.stage.payload.message
assert viz.stage is stage and callable(stage)
stage(attention=[[[[1.0]]]], tokens=["a"])
assert "streamlit" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])


def test_modules_become_one_script() -> None:
    assert not re.search(r"^(?:import|export)\b", files.bundle(), re.M)


def test_the_command_writes_the_file(tiny, result, tmp_path, capsys) -> None:
    out = tmp_path / "stage.html"
    assert main(["stage", result.source, "--checkpoint", str(tiny.folder), "--out", str(out), "--lang", "de"]) == 0
    assert f"“{result.text}”" in capsys.readouterr().out
    payload = of_file(out.read_text("utf-8"))
    assert payload["language"] == "de" and payload["kinds"][1]["title"] == "Encoder-Self-Attention"
    np.testing.assert_allclose(kinds(payload)["cross"]["weights"], result.attention("cross"), atol=1e-5)
    assert main(["stage", " ", "--checkpoint", str(tiny.folder), "--out", str(out)]) == 2
    assert capsys.readouterr().err == "error: there is nothing to translate: type a sentence\n"


@pytest.mark.slow
def test_the_command_writes_the_file_of_a_model_of_transformers(tmp_path, capsys) -> None:
    model, out, text = tmp_path / "model", tmp_path / "stage.html", "the cat sat on the mat"
    save_model(model, "gpt2")
    command = ["stage", text, "--model", str(model), "--out", str(out)]
    assert main([*command, "--off", "1-2"]) == 0
    assert str(out) in capsys.readouterr().out
    reader = load_model(model)
    expected = reader.read(text, edits=Edits(off=(Head("decoder_self", 1, 2),))).attention("decoder_self")
    payload = of_file(out.read_text("utf-8"))
    np.testing.assert_allclose(kinds(payload)["decoder_self"]["weights"], expected, atol=2e-5)
    for wrong in (["--off", "9-0"], ["--off", "x"], ["--model", str(tmp_path / "nothing")]):
        assert main([*command, *wrong]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
