"""What the stage is told equals what the model recorded, and says whose row and whose column each token has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.maps import entropy as entropy_of
from model.results.recording import Candidates, axis_tokens
from tests.support.messages import browser_state, unpack
from viz.stage.payload import coarse, message, recordings
from viz.stage.payload.coarse import first_head
from viz.stage.words import unique_labels
from viz.text import words
from viz.text.language import using

KINDS = ("cross", "encoder_self", "decoder_self")


def kinds(payload) -> dict[str, dict]:
    return {kind["code"]: kind for kind in payload["kinds"]}


def softmax(logits):
    powers = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def shown_name(token):
    return token.removeprefix("▁") or token


@pytest.mark.parametrize("kind", KINDS)
def test_every_head_is_the_recorded_one(tell, result, kind) -> None:
    payload = kinds(tell(result))[kind]
    recorded = result.attention(kind)
    assert payload["weights"].shape == recorded.shape == payload["tiles"].shape[:2] + recorded.shape[2:]
    np.testing.assert_allclose(payload["weights"], recorded, atol=2e-5)
    np.testing.assert_allclose(payload["largest"], recorded.max((2, 3)), atol=1e-5)
    logs = np.log(np.where(recorded > 0, recorded, 1), dtype=np.float64)
    np.testing.assert_allclose(payload["entropy"], -(recorded * logs).sum(-1).mean(-1), atol=5e-4)
    mask = result.mask(kind)
    blocked = payload["look"]["hover"].get("blocked")
    if mask.all():
        assert blocked is None and len(payload["look"]["data"]) == 1
    else:
        np.testing.assert_array_equal(blocked, mask)
        assert len(payload["look"]["data"]) == 2, "hatched"


def test_numbers_and_axes_have_the_names_that_a_page_gives_them(tell, result) -> None:
    names = {"value": "share", "rows": "head (query)", "columns": "head (key)"}
    default, renamed = (
        kinds(tell(result, {"rows": "read"}, **more))["cross"]["look"] for more in ({}, {"names": names})
    )
    assert renamed["titles"] == ["head (query)", "head (key)"] != default["titles"]
    template = renamed["data"][0]["hovertemplate"]
    assert "share" in template and template.replace("share", "weight") == default["data"][0]["hovertemplate"]


NAMES = {  # by what an address has: whether rows of cross-attention, and of the decoder, have the word being written
    "": (True, False),
    "predicted": (True, True),
    "read": (False, False),
}


@pytest.mark.parametrize("rows", NAMES)
def test_whose_row_and_whose_column_it_is(tell, result, rows) -> None:
    """The numbers of a token's own row and column are found under its name, however the rows are named."""
    by_kind = kinds(tell(result, {"rows": rows} if rows else {}))
    n_source, n_target = len(result.source_tokens), len(result.target_tokens)
    everywhere, nowhere = list(range(n_source)), [-1] * n_source
    cross, encoder, decoder = (by_kind[kind] for kind in KINDS)
    assert encoder["source"] == {"row": everywhere, "column": everywhere}
    assert encoder["target"] == {"row": [-1] * n_target, "column": [-1] * n_target}
    assert cross["source"] == decoder["source"] | {"column": everywhere} == {"row": nowhere, "column": everywhere}
    later = [*range(1, n_target), -1]
    of_cross, of_decoder = (list(range(n_target)) if written else later for written in NAMES[rows])
    assert cross["target"] == {"row": of_cross, "column": [-1] * n_target}
    assert decoder["target"] == {"row": of_decoder, "column": later}
    assert (cross["start"], decoder["start"], encoder["start"]) == (-1, 0, -1)
    start_rows = [-1 if written else 0 for written in NAMES[rows]]
    assert [cross["startRow"], decoder["startRow"], encoder["startRow"]] == [*start_rows, -1]
    for index, token in enumerate(result.predicted_tokens):
        for kind in (cross, decoder):
            row, column = kind["target"]["row"][index], kind["target"]["column"][index]
            assert row < 0 or kind["queries"][row] == shown_name(token)
            assert column < 0 or kind["keys"][column] == shown_name(token)


@pytest.mark.parametrize("rows", NAMES)
def test_rows_have_the_names_that_python_gives_them(tell, result, rows) -> None:
    """Names and titles of axes in the browser are those of figures and files, with predictions and without."""
    for recording in (result.recording(), replace(result.recording(), predicted_tokens=[])):
        for kind, payload in kinds(tell(recording, {"rows": rows} if rows else {})).items():
            queries, keys, _ = axis_tokens(recording, kind, rows)
            assert payload["queries"] == unique_labels(queries) and payload["keys"] == unique_labels(keys)
            titles = words.axes(kind, rows, bool(recording.predicted_tokens))
            assert payload["look"]["titles"] == [titles["query_axis"], titles["key_axis"]]


def test_a_row_of_self_attention_is_a_token_and_one_of_cross_attention_a_word_being_written(tell, result) -> None:
    by_kind = kinds(tell(result))
    assert by_kind["decoder_self"]["queries"] == by_kind["decoder_self"]["keys"], "the diagonal is the token itself"
    assert by_kind["encoder_self"]["queries"] == by_kind["encoder_self"]["keys"]
    assert by_kind["cross"]["queries"] == unique_labels(result.predicted_tokens)
    assert (np.diagonal(result.mask("decoder_self"))).all(), "and a token may attend to itself"


def test_equal_tokens_keep_rows_of_their_own(tell, result) -> None:
    look = kinds(tell(result))["encoder_self"]["look"]
    axis = look["layout"]["yaxis"]
    assert len(axis["tickvals"]) == len(axis["ticktext"]) == len(result.source_tokens) > len(set(axis["ticktext"]))
    assert axis["tickvals"] == list(range(len(result.source_tokens))), "positions and not names are the coordinates"
    assert len(set(look["hover"]["rows"])) == len(result.source_tokens), "and the hover box says which"


def test_the_lines_of_tokens(tell, result) -> None:
    payload = tell(result)
    assert payload["source"]["tokens"] == list(map(shown_name, result.source_tokens))
    assert payload["target"]["tokens"] == list(map(shown_name, result.predicted_tokens))
    assert payload["target"]["start"] == result.target_tokens[0]
    begins_word = [token.startswith("▁") for token in result.source_tokens]
    continues = payload["source"]["continues"]
    assert not continues[0] and not continues[-1], "the end token goes on with no word"
    assert all(not now for now, mark in zip(continues, begins_word) if mark)
    np.testing.assert_allclose(payload["target"]["probability"], np.exp(result.log_probabilities), atol=1e-6)


def test_tiles_are_the_maps_and_coarse_ones_keep_what_is_large(tell, tiny, result) -> None:
    for kind, payload in kinds(tell(result)).items():
        expected = np.rint(result.attention(kind) * 255)
        np.testing.assert_array_equal(payload["tiles"], expected)
    long = tiny.translate("a man is too tired " * 5)
    for kind, payload in kinds(tell(long)).items():
        weights = long.attention(kind)
        assert payload["tiles"].shape[2] <= min(coarse.TILE, weights.shape[2])
        np.testing.assert_array_equal(payload["tiles"].max((2, 3)), np.rint(weights.max((2, 3)) * 255))
        np.testing.assert_allclose(payload["weights"], weights, atol=2e-5)


def test_what_there_is_to_see_of_masks_positions_and_candidates(tell, result) -> None:
    chances = softmax(result.trace["logits"])
    best = np.argsort(-chances, axis=-1)[:, :3]
    top = np.take_along_axis(chances, best, -1).astype(np.float32)
    candidates = Candidates([[f"w{i}" for i in row] for row in best], top, entropy_of(chances))
    views = tell(result, candidates=candidates)["views"]
    for view in views["mask"]:
        np.testing.assert_array_equal(view["z"], result.mask(view["kind"]))
        count = int((~result.mask(view["kind"])).sum())
        assert (f"{count} of {view['z'].size} cells" in view["line"]) == bool(count)
    tables = [view for view in views["positions"] if "z" in view]
    for view, side in zip(tables, ("source", "target"), strict=True):
        np.testing.assert_allclose(view["z"], result.positional(side), atol=1e-6)
    waves = [view for view in views["positions"] if "z" not in view]
    for view, side in zip(waves, ("source", "target"), strict=True):
        for line in view["look"]["data"]:
            np.testing.assert_allclose(line["y"], result.positional(side)[:, int(line["name"])], atol=1e-6)
    (next_words,) = views["words"]
    np.testing.assert_allclose(next_words["z"], np.take_along_axis(chances, best, -1), atol=1e-6)
    assert tell(result)["views"]["words"] == []


class TestFirstHead:
    def test_the_sharpest_head_that_is_not_one_column(self) -> None:
        even = np.full((4, 4), 0.25)
        column = np.eye(4)[[1, 1, 1, 1]]
        sharp, soft = np.eye(4), 0.7 * np.eye(4) + 0.3 * even
        weights = np.stack([[even, column, soft], [column, sharp, even]])
        assert first_head(weights, np.ones((4, 4), bool)) == (1, 1)
        weights[1, 1] = 0
        assert first_head(weights, np.ones((4, 4), bool)) == (0, 2), "a dead head says nothing"

    def test_a_row_without_a_choice_does_not_count(self) -> None:
        mask = np.tril(np.ones((3, 3), bool))
        even = mask / mask.sum(-1, keepdims=True)
        turned = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
        assert first_head(np.stack([[even, turned]]), mask) == (0, 1)
        assert first_head(np.ones((2, 3, 1, 1)), np.ones((1, 1), bool)) == (0, 0)

    def test_where_every_head_is_one_column(self) -> None:
        column = np.eye(3)[[2, 2, 2]]
        weights = np.stack([[0.9 * column + 0.1 / 3, column]])
        assert first_head(weights, np.ones((3, 3), bool)) == (0, 1)

    def test_it_is_opened_unless_more_is_known(self, tell, result) -> None:
        by_kind = kinds(tell(result))
        for kind in KINDS:
            assert by_kind[kind]["first"] == list(first_head(result.attention(kind), result.mask(kind)))
        roles = [[f"r{layer}{head}" for head in range(4)] for layer in range(2)]
        cross = kinds(tell(result, roles={"cross": (roles, (0, 3))}))["cross"]
        assert cross["first"] == [0, 3] and cross["roles"] == roles
        mean = kinds(tell(result, {"summary": "mean"}, roles={"cross": (roles, (0, 3))}))["cross"]
        assert mean["roles"] is None and mean["first"] != [0, 3], "a summary has no role"


class TestOptions:
    @pytest.mark.parametrize(("how", "make"), [("mean", np.mean), ("max", np.max), ("deviation", np.std)])
    @pytest.mark.parametrize(("over", "axes"), [("heads", 1), ("layers", 0), ("all", (0, 1))])
    def test_summaries(self, tell, result, how, make, over, axes) -> None:
        for kind, payload in kinds(tell(result, {"summary": how, "over": over})).items():
            expected = make(result.attention(kind).astype(np.float64), axis=axes)
            np.testing.assert_allclose(payload["weights"].reshape(expected.shape), expected, atol=2e-5)
            assert not payload["single"] and "No single head" in payload["said"][0][0]

    def test_words(self, tell, result) -> None:
        payload = tell(result, {"words": True})
        cross = kinds(payload)["cross"]
        np.testing.assert_allclose(cross["weights"].sum(-1), 1, atol=1e-3)
        assert len(cross["keys"]) < len(result.source_tokens)
        spelt = [""] * len(cross["keys"])
        for token, column in zip(result.source_tokens, cross["source"]["column"], strict=True):
            spelt[column] += token
        assert [text.removeprefix("▁") for text in spelt] == cross["keys"]

    def test_hidden_tokens_and_what_they_took(self, tell, result) -> None:
        cross = kinds(tell(result, {"hide": True}))["cross"]
        rows = len(cross["queries"])
        assert cross["source"]["column"][-1] == -1 and "</s>" not in cross["keys"]
        np.testing.assert_allclose(cross["removed"], result.attention("cross")[:, :, :rows, -1], atol=1e-5)
        np.testing.assert_allclose(cross["weights"].sum(-1) + cross["removed"], 1, atol=1e-3)

    def test_the_largest_weights_alone(self, tell, result) -> None:
        cross = kinds(tell(result, {"share": 60}))["cross"]
        weights, visible = result.attention("cross"), cross["shown"].astype(bool)
        np.testing.assert_allclose(cross["weights"], weights, atol=2e-5)
        visible_weights = np.where(visible, weights, 0)
        assert (visible_weights.sum(-1) >= 0.6 - 1e-5).all() and not visible.all()
        least, most = np.where(visible, weights, 9).min(-1), np.where(visible, 0, weights).max(-1)
        assert (least >= most).all(), "what is shown is larger than what is not"
        assert (visible_weights.sum(-1) - least < 0.6 + 1e-5).all(), "and no more of it than is needed"

    def test_stretched_colours(self, tell, result) -> None:
        for kind, payload in kinds(tell(result, {"stretch": True})).items():
            weights = result.attention(kind)
            assert payload["stretch"]
            np.testing.assert_allclose(payload["tiles"], 255 * weights / weights.max(), atol=0.51)
        assert not any(payload["stretch"] for payload in tell(result)["kinds"])


class TestOtherModels:
    def test_a_gru_has_no_maps(self, tell, grus) -> None:
        payload = tell(grus[False].translate("Ein Mann."))
        assert payload["kinds"] == [] and not payload["views"]["mask"] and not payload["views"]["positions"]
        assert payload["source"]["tokens"] and payload["target"]["tokens"]

    def test_a_gru_with_attention_has_one(self, tell, grus) -> None:
        translated = grus[True].translate("Ein Mann.")
        (only,) = tell(translated)["kinds"]
        assert only["code"] == "cross" and only["weights"].shape[:2] == (1, 1)
        np.testing.assert_allclose(only["weights"], translated.attention("cross"), atol=2e-5)

    def test_one_token(self, tell, tiny) -> None:
        translated = tiny.translate("a")
        for kind, payload in kinds(tell(translated)).items():
            np.testing.assert_allclose(payload["weights"], translated.attention(kind), atol=2e-5)


def test_tokens_of_any_script_stand_as_they_are(tell, foreign) -> None:
    payload = tell(foreign)
    tokens = payload["source"]["tokens"]
    assert tokens[:2] == ["שלום", "العالم"] or tokens[:2] == ["\u2068שלום\u2069", "\u2068العالم\u2069"]
    assert tokens[2] == "안녕" and tokens[-1] == "</s>"
    ticks = kinds(payload)["encoder_self"]["look"]["layout"]["yaxis"]["ticktext"]
    assert not any("<" in tick for tick in ticks), "what Plotly reads is escaped"
    assert "\u200b" not in "".join(tokens), "what cannot be seen is written out"


@pytest.mark.parametrize("code", ["de", "ko"])
def test_the_words_are_those_of_the_language(tell, result, code) -> None:
    english = tell(result)
    with using(code):
        payload = tell(result)
    assert payload["language"] == code and payload["words"].keys() == english["words"].keys()
    assert sum(payload["words"][name] != english["words"][name] for name in payload["words"]) > 30
    assert payload["kinds"][0]["weights"].tolist() == english["kinds"][0]["weights"].tolist()


def test_more_than_the_budget_is_fetched_by_itself(tell, result, monkeypatch) -> None:
    by_kind = kinds(tell(result))
    monkeypatch.setattr(recordings, "BUDGET", 100)
    stored: dict[str, np.ndarray] = {}

    def keep(maps: np.ndarray) -> str:
        stored[f"headlight/maps/{len(stored)}"] = maps
        return f"headlight/maps/{len(stored) - 1}"

    for whole in (True, False):
        if not whole:
            monkeypatch.setattr(coarse, "WHOLE", 0)
        bytes_of = message.message(message.Version(result.recording(), open_heads={"cross": [(1, 2)]}), keep)
        for payload in unpack(bytes_of)["after"]["recording"]["kinds"]:
            kind = payload["code"]
            assert payload["weights"] is None and payload["byHead"] != whole
            weights = result.attention(kind)
            open_heads = {tuple(payload["summary"]["first"])} | ({(1, 2)} if kind == "cross" else set())
            assert set(payload["openHeads"]) == {f"{layer},{head}" for layer, head in open_heads}
            for layer, head in open_heads:
                np.testing.assert_allclose(payload["openHeads"][f"{layer},{head}"], weights[layer, head], atol=2e-5)
            assert list(weights.shape) == payload["shape"]
            np.testing.assert_allclose(stored[payload["address"]] / 65_535, weights, atol=2e-5)
            if whole:
                assert payload["peaks"] is None
                continue
            np.testing.assert_allclose(payload["peaks"]["values"] / 65_535, weights.max(axis=-1), atol=2e-5)
            peak_weights = np.take_along_axis(weights, payload["peaks"]["keys"][..., None].astype(int), axis=-1)[..., 0]
            np.testing.assert_allclose(peak_weights, weights.max(axis=-1), atol=2e-5)
        for kind, payload in kinds(browser_state(bytes_of)).items():
            assert not payload["known"] and payload["has"]
            np.testing.assert_allclose(payload["opened"], result.attention(kind)[tuple(payload["first"])], atol=2e-5)
            for name in ("first", "queries", "keys", "source", "target"):
                assert payload[name] == by_kind[kind][name]
            for name in ("tiles", "entropy", "largest", "telling"):
                np.testing.assert_allclose(payload[name], by_kind[kind][name], atol=1 if name == "tiles" else 5e-4)
        parts = {name: maps.tobytes() for name, maps in stored.items()}
        for kind, payload in kinds(browser_state(bytes_of, {"summary": "mean"}, parts)).items():
            mean = result.attention(kind).mean(1, keepdims=True)
            np.testing.assert_allclose(payload["weights"], mean, atol=2e-5, err_msg="choices that need all fetch all")
    assert len(stored) == 6


def test_the_sentence_under_a_map_is_of_its_most_telling_row(tell, result) -> None:
    cross = kinds(tell(result))["cross"]
    for (layer, head), row in np.ndenumerate(cross["telling"].astype(int)):
        assert math.isclose(
            result.attention("cross")[layer, head, row].max(),
            max(result.attention("cross")[layer, head, t].max() for t in telling(result)),
            rel_tol=1e-6,
        )
    assert entropy_of(result.attention("cross")).shape == result.attention("cross").shape[:3]


def telling(result) -> list[int]:
    """The rows of words."""
    tokens = result.predicted_tokens
    return [t for t, token in enumerate(tokens) if any(c.isalnum() for c in token) and token != "</s>"] or [
        *range(len(tokens))
    ]


def test_bytes_of_a_character_are_named_by_it_wherever_tokens_are(tell, tiny) -> None:
    payload = tell(tiny.translate("👍🏽 tired"))
    thumbs = ["▁", *(f"👍🏽 {number}/8" for number in range(1, 9))]
    by_kind = kinds(payload)
    positions = payload["views"]["positions"][0]["look"]["names"][0]
    encoder, cross = by_kind["encoder_self"], by_kind["cross"]
    for names in (payload["source"]["tokens"], encoder["queries"], encoder["keys"], cross["keys"], positions):
        assert names[:9] == thumbs
    assert cross["look"]["hover"]["columns"][1] == "1 “👍🏽 1/8”"


def test_the_candidate_that_was_written_has_the_name_that_it_has_in_the_line(tell, result) -> None:
    predicted = ["<0xC3>", "<0xA9>", *result.predicted_tokens[2:]]
    spelt = replace(result, predicted_tokens=predicted)
    tokens, n = [[token, "<0xC3>"] for token in predicted], len(predicted)
    payload = tell(spelt, candidates=Candidates(tokens, np.full((n, 2), 0.5, np.float32), np.ones(n, np.float32)))
    assert payload["target"]["tokens"][:2] == ["é 1/2", "é 2/2"]
    names = [[name for name, _ in row] for row in payload["target"]["candidates"]]
    assert names[:2] == [["é 1/2", "é 1/2"], ["é 2/2", "<0xC3>"]]
