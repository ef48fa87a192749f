"""The page Open without a browser: a file is drawn as it is, and one that is wrong leaves what was there."""

from __future__ import annotations

import html
import io
import re

import numpy as np
import pytest

from model import load_model
from model.adapters.attention_file import read_attention
from model.analysis import head_roles
from model.measures import contribution
from model.results.recording import Recording
from model.results.translation import KINDS
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_model.test_adapters.other_models import model_of, theirs
from viz.text.markdown import literal
from viz.ui.models import model_choice
from viz.views import model_shelf

EVERY_KEY = "The file has no mask: every key counts as allowed, so heads look sharper than they are."
NO_DECODER = "Without decoder_self, attention cannot be followed through the decoder."
S, T = 7, 5
SOURCE = ["[CLS]", "the", "c##at", "<b>sat</b>", "on", "mat", "[SEP]"]
TARGET = ["<s>", "▁die", "▁Katze", "▁sitzt", "$x$"]
PREDICTED = [*TARGET[1:], "</s>"]
SHAPES = {"encoder_self": (2, 3, S, S), "decoder_self": (2, 3, T, T), "cross": (4, 2, T, S)}


def random_weights(kind: str) -> np.ndarray:
    values = np.random.default_rng(len(kind)).random(SHAPES[kind]).astype(np.float32)
    values *= np.tri(T, dtype=np.float32) if kind == "decoder_self" else 1
    return values / values.sum(-1, keepdims=True)


WEIGHTS = {kind: random_weights(kind) for kind in KINDS}
MASK = {"decoder_self_mask": np.tri(T, dtype=bool)}


def content(**values) -> bytes:
    file = io.BytesIO()
    np.savez(file, **values)
    return file.getvalue()


WHOLE = content(source_tokens=SOURCE, target_tokens=TARGET, predicted_tokens=PREDICTED, **WEIGHTS, **MASK)
DECODER = content(target_tokens=[token.strip("▁") for token in TARGET], decoder_self=WEIGHTS["decoder_self"])


def open_page(**query):
    at = screen.open_page("open_file.py", **{"model": "file"} | query)
    assert not at.exception and not at.warning
    return at


def upload(at, data: bytes, name: str = "mine.npz"):
    at.file_uploader(key="file").set_value((name, data, "application/octet-stream")).run()
    assert not at.exception
    return at


def is_nothing_open(at) -> bool:
    return not any(part.proto.id.endswith("-stage") for part in at.get("bidi_component"))


def heatmap(at, key: str) -> np.ndarray:
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def kind_payload(at, kind: str) -> dict:
    """What the stage is told of a kind."""
    (maps,) = [entry for entry in screen.stage(at)["kinds"] if entry["code"] == kind]
    return maps


def rows(at, kind: str) -> list[str]:
    return kind_payload(at, kind)["look"]["layout"]["yaxis"]["ticktext"]


@pytest.mark.slow
def test_the_page_says_how_to_make_a_file() -> None:
    at = open_page()
    text = " ".join(element.value for element in at.markdown)
    codes = re.findall(r"```\w+\n(.*?)```", text, re.DOTALL)
    for name in ("source_tokens", "target_tokens", "predicted_tokens", *KINDS, "decoder_self_mask"):
        assert name in text
    for code, part in zip(codes, ("attention_of(outputs", "python -m model trace", "np.savez("), strict=True):
        assert part in code


def answers(at) -> str:
    """The answer of the page, and the small line under it."""
    (answer,) = [element.proto.body for element in at.get("html") if "hl-answer" in element.proto.body]
    return html.unescape(answer)


def listed(at) -> dict[str, dict]:
    """The tiles of models and files by their codes."""
    (tiles,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-model-tiles")]
    return {tile["code"]: tile for tile in unpack(tiles.proto.bytes)["tiles"]}


@pytest.fixture
def own_machine(monkeypatch) -> None:
    """As under `make run`: whoever sits at this machine and nobody else."""
    monkeypatch.setattr(model_choice, "is_own_machine", lambda: True)


def test_models_are_opened_on_this_machine(own_machine, monkeypatch) -> None:
    assert screen.place(open_page())
    for suggestion in model_choice.SUGGESTIONS:
        at = open_page(model=suggestion.place)
        tile, body = listed(at)[suggestion.place], " ".join(element.proto.body for element in at.get("html"))
        assert suggestion.licence in tile["note"] and suggestion.size in tile["note"]
        assert html.escape(suggestion.about) in body and html.escape(suggestion.text) in body
        assert suggestion.size in at.button(key="download").label
    monkeypatch.setattr(model_choice, "is_own_machine", lambda: False)  # a served app offers what its operator lists
    at = open_page()
    assert screen.place(at) is None
    assert not listed(at).keys() & {suggestion.place for suggestion in model_choice.SUGGESTIONS}


def test_a_model_that_has_come_is_shown(own_machine, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "tiny"
    model_of("gpt2").save_pretrained(folder)
    theirs("gpt2").save_pretrained(folder)
    monkeypatch.setattr(model_shelf, "SHELF", model_shelf.Shelf())
    at = open_page()
    screen.place(at).set_value(str(folder)).run()
    opening = at.session_state[model_choice.OPENING]
    opening._thread.join()
    at.run()
    assert not at.exception and not at.warning
    assert at.session_state["model"] == "tiny" and "tiny" in listed(at)
    text = "the cat sat on the mat"
    at.text_input(key="own-text-decoder-").set_value(text).run()
    result = load_model(folder).read(text)
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), result.attention("decoder_self"), atol=2e-5)
    shares = np.exp(result.logits[-1] - np.logaddexp.reduce(result.logits[-1].astype(float)))
    assert f"({shares.max():.0%})" in answers(at)
    at.button(key="to-steer").click().run()
    assert not at.exception and at.session_state["stage-model"] == "tiny" and at.session_state["sentence"] == text


def test_a_folder_without_a_model_is_told(own_machine) -> None:
    at = open_page()
    screen.place(at).set_value("/no/such/folder").run()
    at.session_state[model_choice.OPENING]._thread.join()
    at.run()
    assert not at.exception and len(at.warning) == 1


def test_every_head_of_a_file_is_on_the_stage() -> None:
    at = upload(open_page(), WHOLE)
    assert "mine.npz" in answers(at)
    for kind, weights in WEIGHTS.items():
        np.testing.assert_allclose(screen.weights(at, kind), weights, atol=2e-5)
    stage = screen.stage(at)
    assert stage["source"]["tokens"] == SOURCE and stage["target"]["tokens"] == ["die", "Katze", "sitzt", "$x$", "</s>"]
    assert stage["effects"] == {"reason": "A file holds weights alone: direct effects need the model."}
    assert stage["code"]["cross"].count("read_attention('mine.npz')") == 1


def test_rows_are_named_by_what_was_predicted_where_that_is_known() -> None:
    for query, last in (({}, "&lt;/s&gt;"), ({"rows": "read"}, "&#36;x&#36;")):
        at = upload(open_page(**query), WHOLE)
        assert rows(at, "cross")[-1] == last and "rows" in [option["name"] for option in screen.stage(at)["options"]]
    at = upload(at, DECODER)
    assert "rows" not in [option["name"] for option in screen.stage(at)["options"]]
    assert rows(at, "decoder_self")[0] == "&lt;s&gt;"


def test_options_of_the_maps() -> None:
    encoder = WEIGHTS["encoder_self"]
    at = upload(open_page(summary="mean"), WHOLE)
    np.testing.assert_allclose(screen.weights(at, "encoder_self")[:, 0], encoder.mean(1), atol=2e-5)
    at = upload(open_page(hide="1"), WHOLE)
    np.testing.assert_allclose(screen.weights(at, "encoder_self"), encoder[..., 1:-1, 1:-1], atol=2e-5)


def test_masks_are_shown_where_they_are_known() -> None:
    masks = {entry["kind"]: entry for entry in screen.stage(upload(open_page(), WHOLE))["views"]["mask"]}
    np.testing.assert_array_equal(masks["decoder_self"]["z"], np.tri(T))
    assert np.isnan(masks["cross"]["z"]).all() and "is not known" in masks["cross"]["line"]
    assert not screen.stage(upload(open_page(), DECODER))["views"]["mask"]


def test_sums_are_told() -> None:
    def sums_line(weights: np.ndarray) -> str:
        at = upload(open_page(), content(source_tokens=SOURCE, encoder_self=weights))
        return re.search(r"Encoder self: [^<]*", answers(at)).group()

    assert "add up to 1 (largest deviation" in sums_line(WEIGHTS["encoder_self"])
    assert "do not add up to 1: the worst is off by 0.5" in sums_line(WEIGHTS["encoder_self"] / 2)
    even = np.full((2, 2, S, S), 1 / 8, np.float32)
    even[..., :1] = 2 / 8
    assert sums_line(even) == "Encoder self: All rows add up to 1 (largest deviation 0)."
    even[1, 0] = 0
    zeros = "Not counted: {} of 28 rows, which are zeros and attend to nothing."
    assert sums_line(even) == f"Encoder self: All rows add up to 1 (largest deviation 0). {zeros.format(7)}"
    even[1, 0, 1:] = 1 / S
    assert sums_line(even).endswith(zeros.format(1))
    assert sums_line(even * 0) == f"Encoder self: {zeros.format(28)}"


@pytest.mark.parametrize(
    "data, problem",
    [
        (b"", "This is not a whole .npz file"),
        (WHOLE[:500], "This is not a whole .npz file"),
        (content(source_tokens=SOURCE, cross=WEIGHTS["cross"]), "cross needs target_tokens and source_tokens"),
        (content(source_tokens=SOURCE[1:], encoder_self=WEIGHTS["encoder_self"]), "its rows are 6 source_tokens"),
        (content(source_tokens=np.array(SOURCE, object), encoder_self=WEIGHTS["encoder_self"]), "could run code"),
    ],
)
def test_a_wrong_file_is_told_and_the_one_before_stays(data: bytes, problem: str) -> None:
    at = upload(open_page(), data, "**wrong** <b>.npz")
    texts = [element.value for element in at.warning]
    assert len(texts) == 1 and texts[0].startswith(literal("**wrong** <b>.npz: This file or link cannot be used. "))
    assert literal(problem) in texts[0]
    assert is_nothing_open(at)
    at = upload(upload(open_page(), WHOLE), data)
    texts = [element.value for element in at.warning]
    assert len(texts) == 1 and literal(problem) in texts[0]
    assert texts[0].endswith(literal("Showing the last one that worked."))
    np.testing.assert_allclose(screen.weights(at, "cross"), WEIGHTS["cross"], atol=2e-5)
    at = upload(at, DECODER)
    assert not at.warning and [entry["code"] for entry in screen.stage(at)["kinds"]] == ["decoder_self"]


def test_a_file_stays_until_it_is_closed() -> None:
    """A browser takes the old file away before it brings a new one."""
    at = upload(open_page(), WHOLE)
    at.file_uploader(key="file").clear().run()
    assert not at.exception and not at.warning
    np.testing.assert_allclose(screen.weights(at, "cross"), WEIGHTS["cross"], atol=2e-5)
    at.button(key="close-file").click().run()
    assert not at.exception and is_nothing_open(at)


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_what_every_head_does(kind: str) -> None:
    at = screen.choose(upload(open_page(), WHOLE), part="roles", kind=kind, layer=1, head=1)
    tokens = {"encoder_self": SOURCE, "decoder_self": TARGET, "cross": SOURCE}[kind]
    mask = np.tri(T, dtype=bool) if kind == "decoder_self" else np.ones(SHAPES[kind][2:], bool)
    tally = head_roles.tally(WEIGHTS[kind], mask, tokens)
    sharpness = 0.5 - tally.numbers()["relative_entropy"]
    np.testing.assert_allclose(heatmap(at, "role-board"), sharpness, atol=1e-5)
    card, table = (frame.value for frame in at.dataframe)
    assert list(card.columns) == ["this sentence"]
    assert card.loc["mean distance (tokens)"].item() == f"{tally.numbers()['distance'][1, 1]:.3f}"
    assert table["role"].tolist() == sum(head_roles.roles(tally, kind), [])
    np.testing.assert_allclose(heatmap(at, "head-opened"), WEIGHTS[kind][1, 1], atol=1e-6)
    assert EVERY_KEY not in [element.value for element in at.caption]
    at = screen.click_marker(at, "head-map", 0, 1)
    np.testing.assert_allclose(heatmap(at, "head-opened"), WEIGHTS[kind][0, 1], atol=1e-6)


def test_roles_of_a_decoder_whose_mask_is_not_known() -> None:
    weights = WEIGHTS["decoder_self"].copy()
    weights[1, 2] = 0
    at = screen.choose(upload(open_page(), content(target_tokens=TARGET, decoder_self=weights)), part="roles")
    assert EVERY_KEY in [element.value for element in at.caption]
    texts = screen.figure(at, "role-board")["data"][0]["text"]
    assert "nothing" in texts[1][2] and heatmap(at, "role-board")[1, 2] == 0


def test_roles_and_rollout_need_whole_rows() -> None:
    half = content(source_tokens=SOURCE, encoder_self=WEIGHTS["encoder_self"] / 2)
    for part in ("roles", "rollout"):
        at = screen.choose(upload(open_page(), half), part=part)
        assert "off by 0.5" in at.info[0].value and not screen.charts(at)


@pytest.mark.slow
def test_attention_through_all_layers() -> None:
    weights = WEIGHTS | {"cross": WEIGHTS["cross"][:2]}
    tokens = {"source_tokens": SOURCE, "target_tokens": TARGET}
    at = screen.choose(upload(open_page(), content(**tokens, **weights)), part="rollout")
    flows = contribution.rollouts(weights)
    for name in ("encoder", "source", "target"):
        np.testing.assert_allclose(heatmap(at, f"rollout-{name}"), flows[name], atol=1e-6)
    assert screen.tokens(at, "rollout-source", "x")[-1] == "[SEP]"

    def charts_and_words(**values) -> tuple[set[str], str]:
        now = screen.choose(upload(open_page(), content(**values)), part="rollout")
        text = " ".join(element.value for element in [*now.caption, *now.info])
        text += " ".join(element.proto.body for element in now.get("html"))
        return {name for name in screen.charts(now) if name.startswith("rollout")}, text

    two = {kind: weights[kind] for kind in ("decoder_self", "cross")}
    charts, text = charts_and_words(**tokens, **two)
    assert charts == {"rollout-source", "rollout-target"} and "each encoder output" in text
    charts, text = charts_and_words(target_tokens=TARGET, decoder_self=weights["decoder_self"])
    assert charts == {"rollout-target"} and "Mean of a row" not in text
    charts, text = charts_and_words(**tokens, cross=weights["cross"])
    assert not charts and NO_DECODER in text
    charts, text = charts_and_words(**tokens, decoder_self=weights["decoder_self"], cross=WEIGHTS["cross"])
    assert not charts and "got 2 and 4 layers." in text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "got 2 and 4 layers."),
        ({"cross": WEIGHTS["cross"][:2] * 0.4}, "off by 0.6"),
        ({"decoder_self": None}, NO_DECODER),
    ],
)
def test_what_the_decoder_lacks_does_not_hide_the_encoder(changes, problem: str) -> None:
    arrays = {kind: array for kind, array in (WEIGHTS | changes).items() if array is not None}
    data = content(source_tokens=SOURCE, target_tokens=TARGET, **arrays)
    at = screen.choose(upload(open_page(), data), part="rollout")
    assert problem in at.info[0].value
    assert {name for name in screen.charts(at) if name.startswith("rollout")} == {"rollout-encoder"}
    np.testing.assert_allclose(heatmap(at, "rollout-encoder"), contribution.rollout(WEIGHTS["encoder_self"]), atol=1e-6)


def test_words_of_other_vocabularies() -> None:
    """The source says what the mark is, also for the target, where it happens not to stand."""
    source, target = ["[CLS]", "cat", "##s", "sat", "[SEP]"], ["[CLS]", "eine", "Katze"]
    weights = np.random.default_rng(0).dirichlet(np.ones(5), (1, 1, 3)).astype(np.float32)
    at = upload(open_page(words="1"), content(source_tokens=source, target_tokens=target, cross=weights))
    expected = weights[0, 0]
    merged = np.stack([expected[:, 0], expected[:, 1] + expected[:, 2], expected[:, 3], expected[:, 4]], axis=1)
    np.testing.assert_allclose(screen.weights(at, "cross")[0, 0], merged, atol=2e-5)
    assert rows(at, "cross") == target
    lines = ["the", "Ġcat", "s", "Ċ", "."]
    at = upload(at, content(target_tokens=lines, decoder_self=WEIGHTS["decoder_self"]))
    assert rows(at, "decoder_self") == ["the", "cats", "␊", "."]


def test_one_token_leaves_no_choice() -> None:
    at = upload(open_page(), content(source_tokens=["a"], encoder_self=np.ones((1, 1, 1, 1), np.float32)))
    at = screen.choose(at, part="roles")
    ((text,),) = screen.figure(at, "role-board")["data"][0]["text"]
    assert "no choice" in text and heatmap(at, "role-board").tolist() == [[0]]


@pytest.mark.slow
def test_too_many_heads_are_not_compared() -> None:
    data = content(source_tokens=["a", "b"], encoder_self=np.full((100, 128, 2, 2), 0.5, np.float32))
    at = screen.choose(upload(open_page(), data), part="roles", layer=99, head=127)
    assert any("of 12800 heads over this many tokens" in element.value for element in at.caption)
    assert "head-map" not in screen.charts(at) and heatmap(at, "head-opened").shape == (2, 2)


def test_the_examples_of_the_page_make_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(
        r"import numpy.*?(?=```)", " ".join(element.value for element in open_page().markdown), re.DOTALL
    )
    exec(code, {})  # our own text
    assert isinstance(read_attention(tmp_path / "mine.npz"), Recording)
