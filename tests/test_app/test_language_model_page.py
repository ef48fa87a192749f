"""The page Language model without a browser: what the stage is told against the same computed here."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from model import load_translator
from model.storage.checkpoint import WEIGHTS
from tests.test_app import screen
from tests.test_app.systems import LM_CARD, save_language_model
from tests.test_model.test_adapters.other_models import save_model
from viz.pages.lessons.lessons import LESSONS
from viz.stage.payload.sampling import SHOWN
from viz.stage.words import label
from viz.views import model_shelf

TRAIN = "python -m model train wikitext2-lm --data-dir data --out checkpoints/wikitext2-lm"
TEXT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "wikitext2-lm"
    return save_language_model(folder)


@pytest.fixture(scope="module")
def writer(folder):
    return load_translator(str(folder))


@pytest.fixture(autouse=True)
def shipped(folder, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))


def open_page(**query):
    at = screen.open_page("language_model.py", **({"text": TEXT} | query))
    assert not at.exception and not at.error
    return at


def assert_payload(at, writer, text=TEXT, **sampling):
    """Tokens, maps, mask, candidates, the distribution and what was drawn are those of the text."""
    payload, result = screen.stage(at), writer.read(text)
    assert payload["target"]["tokens"] == list(map(label, result.target_tokens)) and not payload["source"]["tokens"]
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), result.attention("decoder_self"), atol=2e-5)
    (mask,) = payload["views"]["mask"]
    np.testing.assert_array_equal(mask["z"], result.mask("decoder_self"))
    np.testing.assert_allclose(payload["target"]["probability"], np.exp(result.log_probabilities), atol=1e-6)
    distribution = writer.distribution(text)
    best = np.argsort(-distribution, kind="stable")
    following, logits = payload["next"], payload["next"]["logits"].astype(np.float64)
    chances = np.exp(logits - logits.max())
    np.testing.assert_allclose(chances / chances.sum(), writer.distribution(text, False)[best], atol=1e-6)
    np.testing.assert_allclose(following["probabilities"], distribution[best[:SHOWN]], atol=1e-6)
    assert following["names"] == writer.tokenizer.tokens(best[:SHOWN].tolist())
    assert best[np.isneginf(following["logits"])].tolist() == [writer.tokenizer.unk_id]
    full_text = writer.write(text, **sampling) if sampling else result.text
    assert payload["translation"] == result.text and result.text + following["continued"] == full_text


@pytest.mark.slow
def test_the_first_paint(writer):
    at = screen.open_page("language_model.py")
    assert not at.exception and not at.warning
    assert_payload(at, writer, "The game was released in")
    unknown = f"5 of 5 words are not in the model's list of {len(writer.tokenizer):,} and are read as <unk>."
    assert unknown in screen.stage(at)["notes"]
    assert not at.markdown and len(at.text) == 1, "the stage, and one line under it"


def test_the_mask_is_written_as_the_numbers_that_are_added():
    (mask,) = screen.stage(open_page())["views"]["mask"]
    expected = [[{"text": "0" if key <= query else "-inf"} for key in range(4)] for query in range(4)]
    assert mask["look"]["texts"] == expected


def test_a_continuation_is_drawn_when_it_is_asked_for_and_goes_with_its_text(writer):
    at = screen.open_page("language_model.py").text_input(key="beginning").set_value(TEXT).run()
    at = screen.ask(at, text=TEXT, seed=3, count=7, temperature=1.5, **{"top-k": 5, "top-p": 0.4})
    assert_payload(at, writer, words=7, seed=3, temperature=1.5, top_k=5, top_p=0.4)
    assert screen.stage(at)["address"] == {"text": TEXT, "seed": "3"} and screen.stage(at)["next"]["seed"] == 3
    at = at.switch_page(screen.path("lessons.py")).run().switch_page(screen.path("language_model.py")).run()
    assert_payload(at, writer, words=7, seed=3, temperature=1.5, top_k=5, top_p=0.4)
    at = at.text_input(key="beginning").set_value("the dog").run()
    assert_payload(at, writer, "the dog")
    assert_payload(open_page(seed="3", count="7"), writer, words=7, seed=3)


def test_options_of_the_maps_come_from_the_address():
    payload = screen.stage(open_page(summary="mean", stretch="1"))
    assert payload["address"] == {"text": TEXT}
    assert payload["kinds"][0]["tiles"].shape[:2] == (2, 1) and payload["kinds"][0]["stretch"]


def test_the_python_of_the_bars_draws_what_is_drawn(writer):
    code = screen.stage(open_page())["code"]
    lines = code["words"].replace("wikitext2-lm", str(writer.folder)).replace("figure.show()", "")
    for name, value in {"temperature": 0.7, "top_k": 5, "top_p": 0.9}.items():
        lines = lines.replace(f"{{{name}}}", str(value))
    namespace: dict = {}
    exec(lines, namespace)
    distribution = writer.distribution(TEXT)
    sampled = writer.distribution(TEXT, False, temperature=0.7, top_k=5, top_p=0.9)
    expected = sampled[np.argsort(-distribution, kind="stable")[:SHOWN]]
    np.testing.assert_allclose(namespace["figure"].data[0].y, expected, atol=1e-6)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code["mask decoder_self"].replace("wikitext2-lm", str(writer.folder)), {})
    assert printed.getvalue().count("-inf") == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [("the cat " * 20, "The text has 41 tokens; at most 24 are allowed."), ("x" * 4001, "4,001 characters")],
)
def test_a_text_that_is_too_long_is_told_and_the_last_one_stays(writer, text, says):
    at = open_page().text_input(key="beginning").set_value(text).run()
    assert not at.exception and len(at.warning) == 1
    assert says in at.warning[0].value and "Showing the last one that worked." in at.warning[0].value
    assert_payload(at, writer)


@pytest.mark.parametrize("text", ["", "<b>bold</b> $x$ **y**", "\x00 the"])
def test_any_text_is_read(writer, text):
    at = open_page().text_input(key="beginning").set_value(text).run()
    assert not at.exception and not at.warning
    assert_payload(at, writer, text)


@pytest.mark.parametrize(
    "query", [{"temperature": "hot"}, {"top-k": "-3"}, {"top-p": "7"}, {"seed": "x"}, {"layer": "x"}, {"view": "none"}]
)
def test_rubbish_in_the_address_is_told_and_falls_back(writer, query):
    at = open_page(**query)
    ((name, value),) = query.items()
    assert f"{name}={value}" in screen.warnings(at)[0]
    assert_payload(at, writer)


def test_without_a_model_one_sentence_and_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("language_model.py")
    assert [element.value for element in at.error] == ["No language model found."]
    assert "To train one (the data first: python -m model download):" in screen.page_text(at)
    assert [code.value for code in at.code] == [TRAIN]
    assert not screen.has_stage(at)


def test_one_that_cannot_be_read_costs_a_sentence(tmp_path, monkeypatch, writer):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    for name in ("a", "b", "c"):
        save_language_model(tmp_path / name)
    (tmp_path / "a" / WEIGHTS).write_bytes(b"no weights")
    at = open_page(model="c")
    assert "is not a whole safetensors file" in screen.page_text(at)
    choice = screen.models(at)
    assert choice.options[:2] == ["b", "c"] and "a" not in choice.options and choice.value == "c"
    assert screen.stage(at)["address"] == {"text": TEXT, "model": "c"}
    assert_payload(at, writer)


def test_the_preset_that_the_page_names_exists():
    from model.training.presets import PRESETS

    assert TRAIN.split()[4] in PRESETS


def test_both_perplexities_stand_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    modern = {"positional": "rotary_halves", "norm_type": "rms", "gated": True, "activation": "swish", "n_kv_heads": 1}
    for name, perplexity, changes in (("a", 114.36, {}), ("b", 57.18, modern), ("c", None, {})):
        scores = {"wikitext-2/test": {"perplexity": perplexity, "window": 24}} if perplexity else {}
        save_language_model(tmp_path / name, LM_CARD | {"parameters": 1000 - len(changes), "scores": scores}, **changes)
    at = screen.open_page("language_model.py", text=TEXT)
    labels = [popover.proto.popover.label for popover in at.get("popover")]
    assert "Perplexity 114.4 | 57.2" in labels
    theirs = tmp_path / "others" / "theirs"
    theirs.parent.mkdir()
    save_model(theirs, "gpt2")
    monkeypatch.setattr(model_shelf, "SHELF", model_shelf.Shelf([str(theirs)]))
    other_page = screen.open_page("language_model.py", text="the cat", model="theirs")
    assert screen.models(other_page).value == "theirs" and not other_page.exception
    assert not any(popover.proto.popover.label.startswith("Perplexity") for popover in other_page.get("popover"))
    at.session_state["systems"] = True  # the popover is open
    at = at.run()
    assert not at.exception and "b has a perplexity 50% lower than a" in screen.framed(at, "answer")
    table = at.table[0].value
    assert list(table.columns) == ["a", "b"] and table.loc["Perplexity"].tolist() == ["114.4", "57.2"]
    assert table.loc["Norm"].tolist() == ["LayerNorm", "RMSNorm"]
    assert table.loc["Feed-forward"].tolist() == ["ReLU, 20 units", "SwiGLU, 20 units"]
    assert table.loc["Key/value heads"].tolist() == ["3", "1"]
    links = " ".join(html.proto.body for html in at.get("html"))
    assert "lesson=since-5" in links and "lesson=since-6" in links and "picture=beyond" not in links
    for number, word in ((5, "RMSNorm"), (6, "SwiGLU")):
        assert word in LESSONS["since"].cards[number - 1].look


def test_the_card_of_the_cache_says_what_keys_and_values_take(writer):
    at = screen.open_page("language_model.py", text=TEXT)
    at.session_state["cache"] = True  # the popover is open
    at = at.run()
    config = writer.config
    n_bytes = 2 * config.n_layers * config.n_heads * config.d_head * 128 * 4
    assert f"128 tokens take {n_bytes / 1e3:.1f} kB." in screen.framed(at, "answer")
    at = at.selectbox(key="cache-model").set_value("Llama 3 8B").run()
    at = at.select_slider(key="cache-length").set_value(8192).run()
    at = at.selectbox(key="cache-type").set_value("bfloat16").run()
    assert "8,192 tokens take 1.1 GB." in screen.framed(at, "answer")  # 2 * 32 * 8 * 128 * 8192 * 2 = 1,073,741,824
    assert "each of 32 query heads: 4.3 GB." in screen.framed(at, "answer-note")
    at = at.number_input(key="cache-n_groups-Llama 3 8B").set_value(1).run()
    assert "8,192 tokens take 134.2 MB." in screen.framed(at, "answer")


def test_the_time_per_token_is_measured_with_the_cache_and_without(writer):
    at = screen.open_page("language_model.py", text=TEXT)
    at.session_state["cache"] = True
    at = at.run().button(key="cache-go").click().run()
    off, on = (screen.values(trace["y"]) for trace in screen.figure(at, "cache-time")["data"])
    assert len(on) == len(off) == writer.config.max_length and min(*on, *off) > 0
    assert f"{on[-10:].mean():.1f} ms with the cache and {off[-10:].mean():.1f} ms without" in screen.framed(at, "note")
