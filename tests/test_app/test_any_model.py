"""Models of transformers on the pages: what the stage is told against the same computed by their reader."""

from __future__ import annotations

import threading
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from streamlit.testing.v1 import AppTest

from model import Cut, Edits, Head, attach, load_model, load_translator
from model.adapters.readers.reading import Reading
from model.experiments.text_pairs import TextPair
from model.measures import atlas
from model.measures.corpus import index
from model.measures.heads import text_roles
from model.storage.checkpoint import available
from tests.support.app_sheets import visit
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_model.builders import randomise
from tests.test_model.test_adapters.other_models import IDS, KINDS, VOCAB, model_of, theirs
from viz.pages.atlas import over_texts, text_atlas
from viz.stage.alone import stage
from viz.stage.words import label
from viz.text.roles import role_name
from viz.ui.models import measured_texts
from viz.views import cached, model_shelf
from viz.views.cached import Request
from viz.views.results import heads_results, patching_results

TEXT = "the cat sat on the mat"
MASK = "tree"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models of transformers by kind, each in the folder of its name."""
    folders = {kind: tmp_path_factory.mktemp("models") / kind for kind in ("gpt2", "bert", "bart")}
    for kind, folder in folders.items():
        model, tokenizer = model_of(kind), theirs(kind)
        if kind == "bert":  # with the head that predicts words, and a word that stands for a masked one
            model = transformers.BertForMaskedLM(
                transformers.BertConfig(vocab_size=len(VOCAB), **IDS, **KINDS[kind][2])
            )
            randomise(model, 0)
            tokenizer.mask_token = MASK
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folders


@pytest.fixture
def shelf(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, checkpoints: Path) -> model_shelf.Shelf:
    """The app's shelf, on which they stand."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    shelf = model_shelf.Shelf(list(map(str, folders.values())))
    monkeypatch.setattr(model_shelf, "SHELF", shelf)
    return shelf


@pytest.mark.slow
def test_a_decoder_on_language_model(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["gpt2"])
    at = screen.open_page("language_model.py", text=TEXT, model="gpt2")
    assert not at.exception and not at.error
    payload, result = screen.stage(at), reader.read(TEXT)
    assert payload["target"]["tokens"] == list(map(label, result.target_tokens)) and not payload["source"]["tokens"]
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), result.attention("decoder_self"), atol=2e-5)
    best = np.argsort(-result.logits[-1], kind="stable")
    np.testing.assert_allclose(payload["next"]["logits"], result.logits[-1][best], atol=1e-5)
    assert payload["next"]["names"][:5] == reader.words(best[:5].tolist())


def test_the_other_pages_go_on_with_a_model(shelf: model_shelf.Shelf) -> None:
    at = screen.open_page("language_model.py", text=TEXT, model="gpt2")
    at = at.switch_page(screen.path("steer.py")).run()
    assert not at.exception and at.session_state["stage-model"] == "gpt2" and at.session_state["sentence"] == TEXT


def test_a_row_of_a_decoder_inside(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    place = {"kind": "decoder_self", "layer": "1", "head": "2", "row": "4"}
    at = screen.open_page("language_model.py", text=TEXT, model="gpt2", view="inside", **place)
    assert not at.exception and not at.error
    message, result = screen.message(at)["after"], load_model(folders["gpt2"]).read(TEXT)
    assert message["rowwise"]
    module = result.modules("decoder_self")[1]
    for name in ("raw_scores", "weights"):
        np.testing.assert_allclose(message["inside"][name], result.trace[f"{module}.{name}"][2, 4], atol=1e-6)
    assert message["inside"]["rotation"] is None


def test_a_head_of_a_decoder_off(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["gpt2"])
    at = screen.open_page("steer.py", text=TEXT, model="gpt2", edits="v1_od1-2")
    assert not at.exception and not at.error
    off = Edits(off=(Head("decoder_self", 1, 2),))
    result, edited = reader.read(TEXT), reader.read(TEXT, edits=off)
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), edited.attention("decoder_self"), atol=2e-5)
    message = screen.message(at)
    assert message["steering"]["off"] == [["decoder_self", 1, 2]]
    before, after = (message[name]["recording"]["text"] for name in ("before", "after"))
    for text, reading in ((before, result), (after, edited)):
        best = int(reading.logits[-1].argmax())
        chance = float(np.exp(reading.logits[-1] - reading.logits[-1].max()).sum() ** -1)
        assert text.startswith(f"{label(reader.words([best])[0])} {chance:.1%}")


def test_a_path_of_a_decoder_cut(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["gpt2"])
    cut = Cut("decoder_self", 1, 2, "keys", "head 0.1")
    edits = Edits(cut=(cut,))
    at = screen.open_page("steer.py", text=TEXT, model="gpt2", edits=edits.code, row="3")
    assert not at.exception and not at.error and not screen.warnings(at)
    changed = reader.read(TEXT, edits=edits)
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), changed.attention("decoder_self"), atol=2e-5)
    steering = screen.message(at)["steering"]
    assert [code for code, _ in steering["chips"]] == [cut.code]
    path = reader.cut_path(reader.read(TEXT), cut)
    for name, weights in (("before", path.weights), ("predicted", path.predicted), ("actual", path.actual)):
        np.testing.assert_allclose(steering["cuts"][0][name], weights[3], atol=1e-6)


def test_no_path_of_an_encoder_decoder_is_cut_while_it_writes(shelf: model_shelf.Shelf) -> None:
    """It says so; its output that was typed is read with a path cut."""
    code = Edits(cut=(Cut("encoder_self", 1, 2, "keys", "head 0.1"),)).code
    at = screen.open_page("steer.py", text=TEXT, model="bart", edits=code)
    (warning,) = screen.warnings(at)
    assert "a path is cut in a text that is read as a whole, not while one is written" in warning.lower()
    assert "cuts" not in screen.message(at)["steering"]
    at = screen.open_page("steer.py", text=TEXT, model="bart", edits=code, reference="a dog ran")
    assert not screen.warnings(at) and len(screen.message(at)["steering"]["cuts"]) == 1


def test_heads_that_are_off_or_uniform_keep_the_roles_that_they_had(
    shelf: model_shelf.Shelf, folders: dict[str, Path]
) -> None:
    plain = screen.message(screen.open_page("steer.py", text=TEXT, model="gpt2"))["after"]["roles"]["decoder_self"]
    at = screen.open_page("steer.py", text=TEXT, model="gpt2", edits="v1_od1-2_ud0-1")
    off, uniform = Head("decoder_self", 1, 2), Head("decoder_self", 0, 1)
    steered = screen.message(at)["after"]["roles"]["decoder_self"]
    page = stage(model_of("gpt2"), theirs("gpt2"), TEXT, off=[(1, 2)])
    for roles, heads in ((steered, (off, uniform)), (unpack(page.message)["after"]["roles"]["decoder_self"], (off,))):
        for head in heads:
            assert roles[head.layer][head.head] == plain[head.layer][head.head]
    edited = load_model(folders["gpt2"]).read(TEXT, edits=Edits(off=(off,), uniform=(uniform,)))
    expected_roles = text_roles.in_one_text(edited, "decoder_self")
    assert (expected_roles[1][2], expected_roles[0][1]) == ("nothing", "broad")
    assert role_name("nothing") not in [role for row in steered for role in row]
    other_heads = [place for place in np.ndindex(2, 3) if place not in ((1, 2), (0, 1))]
    names = [expected_roles[layer][head] for layer, head in other_heads]
    assert [steered[layer][head] for layer, head in other_heads] == [
        "" if name == "mixed" else role_name(name) for name in names
    ]


def test_importance_and_effects_of_a_decoder(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["gpt2"])
    result = reader.read(TEXT)
    request = cached.Request(TEXT, "gpt2")
    (importance,) = heads_results.importance(request).values()
    expected = -reader.importance(result, steps=[-1])["decoder_self"][:, :, 0]
    np.testing.assert_allclose(importance, expected, atol=1e-6)
    at = screen.open_page("steer.py", text=TEXT, model="gpt2", measure="effects", against="dog")
    assert not at.exception and not at.error
    effects = reader.effects(result, against="dog")
    (kind,) = screen.message(at)["after"]["recording"]["kinds"]
    np.testing.assert_allclose(kind["effects"], effects.heads("decoder_self"), atol=1e-5)
    assert screen.message(at)["after"]["effects"]["against"].strip() == "dog"


def test_importance_of_an_encoder_decoder(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["bart"])
    lost = reader.importance(reader.translate(TEXT, beam=2))
    for kind, importance in heads_results.importance(cached.Request(TEXT, "bart", 2)).items():
        np.testing.assert_allclose(importance, -lost[kind].sum(axis=-1), atol=1e-4)


def test_importance_that_was_shown_is_not_asked_of_a_model_that_predicts_no_words(
    shelf: model_shelf.Shelf, tmp_path: Path
) -> None:
    for part in (model_of("bert"), theirs("bert")):
        part.save_pretrained(tmp_path / "bare")
    bare = shelf.open(str(tmp_path / "bare"))
    at = screen.open_page("steer.py", text=TEXT, model="gpt2")
    at.session_state["steer-importance"] = True
    assert screen.message(at.run())["steering"]["importance"] is not None
    screen.models(at).set_value(bare).run()
    message = screen.message(at)
    assert not at.exception and message["after"]["recording"]["kinds"][0]["code"] == "encoder_self"
    assert message["steering"]["importance"] is None and "problem" not in message["steering"]
    screen.models(at).set_value("gpt2").run()
    assert screen.message(at)["steering"]["importance"] is not None


def test_masked_words_of_an_encoder(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["bert"])
    text = f"the cat sat on the {MASK}"
    at = screen.open_page("language_model.py", text=text, model="bert")
    assert not at.exception and not at.error
    message, result = screen.message(at)["after"], reader.read(text)
    assert message["next"] is None
    (((word, chance), *_),) = result.masked_words.values()
    assert message["recording"]["text"].startswith(f"{word} {chance:.1%} · ")
    at = screen.open_page("steer.py", text=text, model="bert", edits="v1_oe1-2")
    assert not at.exception and not at.error
    edited = reader.read(text, edits=Edits(off=(Head("encoder_self", 1, 2),)))
    np.testing.assert_allclose(screen.weights(at, "encoder_self"), edited.attention("encoder_self"), atol=2e-5)


def test_a_bert_with_both_layers_of_its_training_predicts_masked_words(
    shelf: model_shelf.Shelf, tmp_path: Path
) -> None:
    model = transformers.BertForPreTraining(transformers.BertConfig(vocab_size=len(VOCAB), **IDS, **KINDS["bert"][2]))
    randomise(model, 3)
    tokenizer = theirs("bert")
    tokenizer.mask_token = MASK
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path / "both")
    name, text = shelf.open(str(tmp_path / "both")), f"the cat sat on the {MASK}"
    ids = tokenizer(text, return_tensors="pt")
    place = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        logits = model.eval()(**ids).prediction_logits[0, place]
    chance, best = logits.softmax(-1).max(-1)
    recording = screen.message(screen.open_page("language_model.py", text=text, model=name))["after"]["recording"]
    assert recording["text"].startswith(f"{tokenizer.decode(best)} {chance:.1%} · ")


def test_an_encoder_without_a_masked_word_says_how_to_mask_one(shelf: model_shelf.Shelf) -> None:
    shelf.reader("bert")
    line = f"No word is masked: write {MASK} in the place of one"
    for text, expected in ((TEXT, True), (f"the cat sat on the {MASK}", False)):
        notes = screen.message(screen.open_page("steer.py", text=text, model="bert"))["after"]["notes"]
        assert any(note.startswith(line) for note in notes) is expected


def test_a_model_that_predicts_no_words_is_given_plain_texts_and_no_answer(
    shelf: model_shelf.Shelf, tmp_path: Path
) -> None:
    for part in (model_of("bert"), theirs("bert")):
        part.save_pretrained(tmp_path / "bare")
    bare = shelf.open(str(tmp_path / "bare"))
    at = screen.open_page("open_file.py", model=bare)
    assert not at.exception and not at.warning
    (text,) = [box.value for box in at.text_input if str(box.key).startswith("own-text")]
    examples = [button.label for button in at.button if str(button.key).startswith("example-")]
    assert examples and not any("[MASK]" in sample for sample in (text, *examples))
    message = screen.message(screen.open_page("steer.py", text=TEXT, model=bare, edits="v1_oe1-2"))
    assert message["steering"]["off"] == [["encoder_self", 1, 2]]
    assert "cost" not in message["steering"]  # there is no answer that could be less probable


def test_a_model_that_does_not_translate_is_one_choice_away_from_translate(shelf: model_shelf.Shelf) -> None:
    shelf.reader("bert")
    at = screen.open_app()
    choice = screen.models(at)
    assert "gpt2 → Language model" in choice.options and "bart" in choice.options
    at = choice.set_value("bert").run()
    assert not at.exception and at.session_state["language-model"] == "bert"
    assert screen.message(at)["after"]["recording"]["kinds"][0]["code"] == "encoder_self"
    assert MASK in at.text_input(key="beginning").value  # in place of the example of Translate
    choice = screen.models(at)
    assert "bart → Translate" in choice.options
    at = choice.set_value("gpt2").run()
    assert MASK not in at.text_input(key="beginning").value
    at.text_input(key="beginning").set_value(TEXT).run()
    at = screen.models(at).set_value("bart").run()
    assert at.session_state["stage-model"] == "bart" and at.text_input(key="sentence").value == TEXT


def test_an_encoder_decoder_translates(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader = load_model(folders["bart"])
    at = screen.open_page("translate.py", text=TEXT, model="bart", beam="2")
    assert not at.exception and not at.error
    result = reader.translate(TEXT, beam=2)
    np.testing.assert_allclose(screen.weights(at, "cross"), result.attention("cross"), atol=2e-5)
    assert screen.message(at)["after"]["recording"]["text"] == result.text


def test_two_texts_of_a_decoder_on_compare(shelf: model_shelf.Shelf, folders: dict[str, Path]) -> None:
    reader, text_b = load_model(folders["gpt2"]), "a dog sat on the mat"
    at = screen.open_page("compare.py", **{"text": TEXT, "model": "gpt2", "text-b": text_b})
    assert not at.exception and not at.error
    message = screen.message(at)
    for name, text, about in zip(("before", "after"), (TEXT, text_b), message["comparing"]["about"], strict=True):
        result = reader.read(text)
        (kind,) = message[name]["recording"]["kinds"]
        np.testing.assert_allclose(screen.values(kind["weights"]), weights_of(result), atol=2e-5)
        assert f"{float(result.log_probabilities[:-1].sum()):.2f}" in about  # of the text, not of what would follow
        best = int(result.logits[-1].argmax())
        assert message[name]["recording"]["text"].startswith(label(reader.words([best])[0]))
    assert "search" not in at.segmented_control(key="versus").options


def weights_of(result: Reading) -> np.ndarray:
    (kind,) = [kind for kind in ("encoder_self", "decoder_self") if kind in result.config.kinds]
    return result.attention(kind)


@pytest.mark.parametrize("b", ["bert", "bart"])
def test_a_decoder_beside_another_model_on_compare(shelf: model_shelf.Shelf, folders: dict[str, Path], b: str) -> None:
    at = screen.open_page("compare.py", **{"text": TEXT, "model": "gpt2", "versus": "model", "model-b": b})
    assert not at.exception and not at.error and not screen.warnings(at)
    message = screen.message(at)
    reader = load_model(folders[b])
    result = reader.translate(TEXT, beam=4) if b == "bart" else reader.read(TEXT)
    for kind in message["after"]["recording"]["kinds"]:
        expected = result.attention(kind["code"])
        np.testing.assert_allclose(screen.values(kind["weights"]), expected, atol=2e-5)
    answers = [" ".join(filter(None, words)) for words in zip(*message["comparing"]["words"])]
    assert answers[1] == (result.text if b == "bart" else TEXT)
    assert message["comparing"]["note"]


@pytest.mark.parametrize("name", first_quick(["gpt2", "bert"]))
def test_the_head_atlas_is_measured_on_request(shelf: model_shelf.Shelf, folders: dict[str, Path], name: str) -> None:
    at = screen.open_page("atlas.py", model=name)
    reader = load_model(folders[name])
    (kind,) = reader.config.kinds
    line_numbers = text_roles.tally(reader.read(text_atlas.LINES.splitlines()[0]), kind).numbers()
    board = screen.figure(at, "role-board")["data"][0]
    np.testing.assert_allclose(screen.values(board["z"]), line_numbers["sharpness"], atol=1e-6)
    texts = [TEXT, "a dog ran on the mat and a cat sat"]
    at.text_area(key="atlas-lines").set_value("\n".join(texts)).run()
    screen.measure_all(at)
    assert not at.warning
    numbers = atlas.measure(reader, texts, 2)["kinds"][kind]
    if screen.sheet(at):  # there is an index
        at = screen.leave_sheet(at, part="strongest")
    for measure in ("induction", "first") if name == "gpt2" else ("sharpness", "first"):
        at.selectbox(key="atlas-colour").set_value(measure).run()
        board = screen.figure(at, "role-board")["data"][0]
        np.testing.assert_allclose(screen.values(board["z"]), numbers[measure], atol=1e-6)
    at.text_area(key="atlas-lines").set_value(" ").run()
    assert len(at.warning) == 1 and at.button(key="measure-heads").disabled and not at.exception


def test_the_heads_of_an_opened_model_are_measured_over_a_file(
    shelf: model_shelf.Shelf, folders: dict[str, Path]
) -> None:
    at = screen.open_page("atlas.py", model="gpt2", **{"texts-from": "file"})
    assert at.button(key="measure-heads").disabled
    texts = [TEXT, "a dog ran on the mat and a cat sat", "", "the cat ran"]
    at.file_uploader(key="atlas-file").set_value(("mine.txt", "\n".join(texts).encode(), "text/plain")).run()
    screen.measure_all(at)
    assert not at.warning
    report = index.measure(load_model(folders["gpt2"]), [text for text in texts if text])
    expected = index.numbers_of_heads(report)["decoder_self"]
    message = screen.sheet(at)
    measures = ("unexplained", "idle", "rule first token")
    boards = [{"texts-colour": measure} for measure in measures]
    views = [{"over-texts": part} for part in ("fails", "numbers", "pairs", "points", "idea")]
    made = visit(over_texts, message["told"], [*boards, *views], asks=message["asks"])
    for measure, of_measure in zip(measures, made):
        np.testing.assert_allclose(of_measure["left"][0]["values"], expected[measure], atol=1e-6)
    assert not any(of_view.get("warning") or of_view["missed"] for of_view in made)


def test_a_model_that_gets_no_index_says_why(shelf: model_shelf.Shelf) -> None:
    at = screen.open_page("atlas.py", model="bart")
    assert not at.exception
    at.text_area(key="atlas-lines").set_value(TEXT).run()
    screen.measure_all(at)
    assert "This model gets no index over many texts: " in screen.framed(at, "answer-note") and not at.exception
    assert "role-board" in screen.charts(at)


@pytest.mark.slow
def test_the_card_of_a_head_has_the_texts_where_it_attends_most(
    shelf: model_shelf.Shelf, folders: dict[str, Path]
) -> None:
    at = screen.open_page("atlas.py", model="gpt2", layer="1", head="2")
    texts = [TEXT, "a dog ran on the mat and a cat sat"]
    at.text_area(key="atlas-lines").set_value("\n".join(texts)).run()
    screen.measure_all(at)
    if screen.sheet(at):  # there is an index
        at = screen.leave_sheet(at, part="strongest")
    at.selectbox(key="layer").set_value(1).run()
    at.selectbox(key="head").set_value(2).run()
    measures = atlas.measure(load_model(folders["gpt2"]), texts, 2)
    text, row, column, *_, weight = measures["kinds"]["decoder_self"]["examples"][1][2][0]
    message = screen.message(at)
    (kind,) = message["after"]["recording"]["kinds"]
    assert message["setting"]["rings"] == [[row, column]] and message["setting"]["pin"] == f"t{row - 1}"
    assert np.asarray(kind["weights"])[1, 2, row, column] == pytest.approx(weight, abs=1e-4)
    assert message["after"]["recording"]["target_tokens"][row] == measures["texts"][text].split()[row]


def address(at: AppTest) -> dict[str, str]:
    """What the address says after a run."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


@pytest.mark.parametrize("name", ["model", "atlas-model"])
def test_the_atlas_takes_a_model_from_its_address_and_has_one_choice_for_all(
    shelf: model_shelf.Shelf, name: str
) -> None:
    at = screen.open_page("atlas.py", **{name: "gpt2"})
    choice = at.selectbox(key="model")
    assert choice.value == "gpt2" and not at.warning and not at.exception
    assert at.text_area(key="atlas-lines") and address(at) == {"model": "gpt2"}
    translator = choice.options[0]
    at = choice.set_value(translator).run()
    assert not at.warning and not at.exception and "model" not in address(at)
    assert at.text_input(key="text") and screen.has_stage(at)
    at = at.selectbox(key="model").set_value("gpt2").run()
    assert address(at) == {"model": "gpt2"} and not at.warning
    at.query_params.clear()  # as the menu does
    at = at.switch_page(screen.path("steer.py")).run()
    assert screen.models(at).value == "gpt2"
    at = screen.models(at).set_value(translator).run()
    at.query_params.clear()
    at = at.switch_page(screen.path("atlas.py")).run()
    assert at.selectbox(key="model").value == translator and not at.exception


def test_a_language_model_of_this_project_has_an_atlas_too(shelf: model_shelf.Shelf, all_systems: None) -> None:
    (name,) = available("language_model")
    at = screen.open_page("atlas.py", model=name)
    writer, texts = load_translator(name), [TEXT, "a dog ran on the mat"]
    at.text_area(key="atlas-lines").set_value("\n".join(texts)).run()
    screen.measure_all(at)
    numbers = atlas.measure(writer, texts, 2)["kinds"]["decoder_self"]
    if screen.sheet(at):  # there is an index
        at = screen.leave_sheet(at, part="strongest")
    for measure in ("induction", "previous"):
        at.selectbox(key="atlas-colour").set_value(measure).run()
        board = screen.figure(at, "role-board")["data"][0]
        np.testing.assert_allclose(screen.values(board["z"]), numbers[measure], atol=1e-6)
    (kind,) = screen.message(at)["after"]["recording"]["kinds"]
    assert kind["code"] == "decoder_self" and not at.exception


def test_measuring_heads_can_be_stopped(shelf: model_shelf.Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def measure(*arguments: Any, progress: Any) -> dict[str, Any]:
        progress(0.5)
        begun.set()
        assert go_on.wait(30)
        progress(1.0)
        raise AssertionError("it went on")

    monkeypatch.setattr(atlas, "measure", measure)
    at = screen.open_page("atlas.py", model="gpt2")
    at.button(key="measure-heads").click().run()
    measuring = at.session_state[measured_texts.MEASURING]
    assert begun.wait(30) and at.button(key="measure-heads").disabled
    at.button(key="stop-measuring").click().run()
    go_on.set()
    measuring.wait()
    at.run()
    assert measuring.report is None and not at.warning and not at.exception
    assert not at.button(key="measure-heads").disabled


def test_a_loaded_model_in_a_notebook() -> None:
    page = stage(model_of("gpt2"), theirs("gpt2"), TEXT, off=[(1, 2)])
    reader = attach(model_of("gpt2"), theirs("gpt2"))
    message = unpack(page.message)
    readings = {
        "before": reader.read(TEXT),
        "after": reader.read(TEXT, edits=Edits(off=(Head("decoder_self", 1, 2),))),
    }
    for name, result in readings.items():
        (kind,) = message[name]["recording"]["kinds"]
        weights = np.asarray(kind["weights"])
        np.testing.assert_allclose(weights, result.attention("decoder_self"), atol=2e-5)
        best = label(reader.words([int(result.logits[-1].argmax())])[0])
        assert message[name]["recording"]["text"].startswith(best)
    assert any("1.2" in note for note in message["after"]["notes"])
    assert not any("1.2" in note for note in message["before"]["notes"])
    assert "iframe" in page._repr_html_()


def test_an_encoder_in_a_notebook_says_the_words_under_masks_or_nothing(folders: dict[str, Path]) -> None:
    reader = load_model(folders["bert"])
    text = f"the cat sat on the {MASK}"
    (predictions,) = reader.read(text).masked_words.values()
    recording = unpack(stage(reader, None, text).message)["after"]["recording"]
    assert recording["text"].startswith(f"{label(predictions[0][0])} ")
    assert unpack(stage(reader, None, TEXT).message)["after"]["recording"]["text"] is None


@pytest.mark.parametrize("off", [(1, 2), 5, ["x"], [(1,)], [("cross", 1, 2)], [(9, 0)]])
def test_heads_that_are_not_there_are_refused_in_a_notebook(off: Any) -> None:
    with pytest.raises(ValueError, match="head|layers"):
        stage(model_of("gpt2"), theirs("gpt2"), TEXT, off=off)


def test_the_least_recently_used_model_goes_and_comes_back(folders: dict[str, Path]) -> None:
    shelf = model_shelf.Shelf(list(map(str, folders.values())), most=2)
    first = shelf.reader("gpt2")
    shelf.reader("bert")
    assert shelf.reader("gpt2") is first
    assert shelf.leaving("bart") == ["bert"] and shelf.leaving("gpt2") == []
    shelf.reader("bart")
    assert list(shelf.in_memory()) == ["gpt2", "bart"]
    assert shelf.reader("bert").config.task == "encoder" and list(shelf.in_memory()) == ["bart", "bert"]


def test_a_model_that_goes_leaves_memory(folders: dict[str, Path]) -> None:
    sizes = {name: sum(4 * p.numel() for p in load_model(folders[name]).model.parameters()) for name in folders}
    shelf = model_shelf.Shelf(list(map(str, folders.values())), budget=max(sizes.values()) + 1000)
    model = weakref.ref(shelf.reader("gpt2").model)
    shelf.reader("gpt2").read(TEXT)
    assert model() is not None and shelf.leaving("bert") == ["gpt2"]
    shelf.reader("bert")
    assert model() is None, "something still holds the model that went"


def test_what_goes_is_said_before_another_model_is_chosen(
    shelf: model_shelf.Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf.memory, "count", 1)
    at = screen.open_page("steer.py", model="gpt2", text=TEXT)
    (line,) = [part.proto.body for part in at.get("html") if "In memory: gpt2" in part.proto.body]
    assert "Choosing bert takes gpt2 out of memory." in line


def test_pairs_of_texts_are_offered_with_their_words_where_a_model_continues_texts_and_has_these(
    shelf: model_shelf.Shelf, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = load_model(folders["gpt2"])
    pair = TextPair("Number: keys or key", "", "the cat sat", "the dog sat", "ran", "mat")
    unknown = replace(pair, title="Names swapped", answer="no single word")
    monkeypatch.setattr(patching_results, "LANGUAGE_MODEL_PAIRS", (unknown, pair))
    at = screen.open_page("compare.py", text=TEXT, model="gpt2")
    assert [button.label for button in at.button if button.key.startswith("pair-")] == [pair.title]
    at = at.button(key="pair-0").click().run()
    numbers = screen.stage(at)["comparing"]["patching"]
    texts = patching_results.TextsRequest(*(Request(text, "gpt2") for text in (pair.clean, pair.corrupted)))
    assert texts.words == {"answer": pair.answer, "against": pair.against} and "address" in numbers
    expected = reader.patching(*map(reader.read, (pair.clean, pair.corrupted)), **texts.words)
    overview = patching_results.patchings().get(texts, [patching_results.OVERVIEW])
    assert overview["clean"] == pytest.approx(expected.clean)
    at = screen.open_page("compare.py", text=TEXT, model="bert")
    assert not [button for button in at.button if str(button.key).startswith("pair-")]
