"""What the browser computes of a recording equals what numpy computes, on recordings of every kind."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest

from model.analysis import comparison
from model.analysis import maps as analysis
from model.analysis.looking import looked_at, looking
from model.results.recording import SIDES, Recording, axis_tokens
from tests.support.javascript import node
from tests.support.repeated import first_quick
from viz.figures import labels
from viz.stage import words
from viz.stage.payload import coarse
from viz.stage.payload.packing import SCALE, pack
from viz.stage.payload.recordings import ORDER, packed

HERE = "tests/test_viz/test_web/test_recording/compute.js"
OPTIONS = (
    {},
    {"rows": "read"},
    {"rows": "predicted"},
    {"words": True},
    {"hide": True},
    {"words": True, "hide": True, "rows": "read"},
    {"share": 70},
    {"words": True, "hide": True, "share": 90, "summary": "mean"},
    {"summary": "mean", "over": "all", "hide": True},
    {"summary": "max", "over": "layers"},
    {"summary": "deviation", "over": "heads", "words": True},
)
HOW = {"mean": "mean", "max": "max", "deviation": "standard deviation"}
WORDS = "▁The ▁an im al ▁did n ' t ▁cross ▁the ▁street , ▁because ▁it ▁was ▁too ▁tired ."
GERMAN = "▁Das ▁T ier ▁über qu erte ▁die ▁Straße ▁nicht , ▁weil ▁es ▁zu ▁müde ▁war ."
MIRRORED = "▁הכלב ▁לא ▁חצ ה ▁את ▁הרחוב ، ▁لأنه ▁كان ▁متعب ا ."
ODD = "▁na <0xC3> <0xAF> ▁<b> $x$ \u200b ▁ <0xF0> <0x9F> <0x98> <0x80> <0x0A> \u0301x 안녕 👩\u200d💻 <0xFF> \t "
ODD += "▁__ [U] ñandúñandúñandúñandú"
BYTE_LEVEL = "ĠThe Ġdog s , Ġran Ċ Ġaway <|endoftext|>"
CHAT = "<|im_start|> user <0x0A> ▁He llo ▁you <|im_end|> <0x0A> <|im_start|> assist ant"
BERT = "[CLS] happ ##y dog ##s ! [SEP]"


def weights_of(shape, mask, seed=0):
    """Rows that add up to 1 under a mask, as they come back from whole numbers of 16 bits; some are zeros."""
    values = np.random.default_rng(seed).random(shape) ** 4 * mask
    values[..., -1, :] *= np.random.default_rng(1).random(shape[:2])[..., None] > 0.3
    values /= np.maximum(values.sum(-1, keepdims=True), 1e-9)
    return (np.rint(values * SCALE).astype(np.float32) / np.float32(SCALE)).astype(np.float32)


def recording(source: str, target: str, layers=2, heads=3, kinds=ORDER, predicted=True, seed=0) -> Recording:
    sides = {"source": [*source.split(" "), "</s>"] if source else []}
    sides["target"] = ["<s>", *target.split(" ")] if target else []
    weights, masks = {}, {}
    for kind in kinds:
        shape = [len(sides[side]) for side in SIDES[kind]]
        masks[kind] = np.tri(shape[0], dtype=bool) if kind == "decoder_self" else np.ones(shape, bool)
        weights[kind] = weights_of((layers, heads, *shape), masks[kind], seed + len(kind))
    predicted_tokens = [*sides["target"][1:], "</s>"] if predicted and target else []
    return Recording(sides["source"], sides["target"], weights, masks, predicted_tokens)


def first_words(count: int) -> str:
    return " ".join((WORDS.split(" ") * 8)[:count])


RECORDINGS = {
    "translation": recording(WORDS, GERMAN),
    "text": recording("", WORDS, kinds=["decoder_self"], predicted=False),
    "byte level": recording("", BYTE_LEVEL, kinds=["decoder_self"], predicted=False),
    "encoder": recording(BERT, "", kinds=["encoder_self"]),
    "file without masks": replace(recording(WORDS, GERMAN), masks={}),
    "right to left": recording(MIRRORED, GERMAN),
    "odd": recording(ODD, MIRRORED),
    "one token": recording("▁a", "▁b", 1, 1),
    "only special tokens": recording("<s>", "</s>", 1, 2),
    "chat": replace(recording("", CHAT, kinds=["decoder_self"]), special={"target": np.arange(12) % 12 < 5}),
    "chat of an encoder": replace(
        recording(CHAT, "", kinds=["encoder_self"]), special={"source": np.arange(12) % 10 < 5}
    ),
    "30 layers of 9 heads": recording("", first_words(14), 30, 9, ["decoder_self"], predicted=False),
    "128 tokens": recording("", first_words(127), 2, 4, ["decoder_self"]),
    "70 tokens, many heads": recording(first_words(69), first_words(40), 6, 16, ["cross"]),
}
PAIRS = {
    "another word": (
        recording(WORDS, GERMAN),
        recording(WORDS.replace("tired", "wide"), GERMAN.replace("müde", "breit"), seed=5),
    ),
    "another model": (recording(WORDS, GERMAN, 3, 2), recording(WORDS, GERMAN.replace("▁die ", ""), 2, 4, seed=7)),
    "nothing in common": (recording("▁a ▁b", "▁c"), recording("▁d", "▁e ▁f ▁g", seed=2)),
}


def map_by_numpy(of: Recording, kind: str, options: dict) -> dict:
    """What numpy makes of it."""
    queries, keys, others = axis_tokens(of, kind, options.get("rows", ""))
    weights, mask = of.weights[kind], of.mask(kind)
    mark = analysis.word_mark([*of.source_tokens, *of.target_tokens]) or "▁"
    merged = [analysis.Words(list(tokens), list(range(len(tokens)))) for tokens in (queries, keys)]
    special = [analysis.is_special(tokens) for tokens in (queries, keys)]
    for place, side in enumerate(SIDES[kind]):
        if side in of.special:
            marks = of.special[side]
            special[place] |= np.append(marks[1:], False) if not place and queries is of.predicted_tokens else marks
    if options.get("words"):
        merged = [analysis.words(tokens, mark) for tokens in (queries, keys)]
        weights, mask = analysis.merge_words(weights, *merged), analysis.merge_words(mask, *merged) > 0
        special = [flags[np.unique(of_.of_token, return_index=True)[1]] for flags, of_ in zip(special, merged)]
    stay = [~flags | (not options.get("hide") or flags.all()) for flags in special]
    weights, removed = analysis.hide(weights, ~stay[0], ~stay[1])
    if (summary := options.get("summary", "single")) != "single":
        over = {"all": ["layers", "heads"]}.get(options.get("over", "heads"), [options.get("over", "heads")])
        weights = analysis.aggregate(weights, HOW[summary], over)
        removed = removed.mean(axis=tuple(map(("layers", "heads").index, over)), keepdims=True)
    share = options.get("share", 100)
    if others:
        n_words = len(merged[0].names)
        others = [" ".join(compress(others, np.equal(merged[0].of_token, word))) for word in range(n_words)]
    return {
        "weights": weights,
        "shown": analysis.top_share(weights, share / 100) if share < 100 else None,
        "mask": mask[stay[0]][:, stay[1]],
        "removed": removed,
        "queries": list(compress(merged[0].names, stay[0])),
        "keys": list(compress(merged[1].names, stay[1])),
        "others": others and list(compress(others, stay[0])),
        **{
            name: np.where(on, np.cumsum(on) - 1, -1)[axis_words.of_token].tolist()
            for name, on, axis_words in zip(("rowOf", "columnOf"), stay, merged)
        },
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the browser's modules answer in Node, by recordings and number of options."""
    folder = tmp_path_factory.mktemp("recordings")
    jobs, keys = [], []
    for name, versions in {**{n: (r,) for n, r in RECORDINGS.items()}, **PAIRS}.items():
        paths = [folder / f"{name} {i}".replace(" ", "_") for i in range(len(versions))]
        for path, version in zip(paths, versions):
            path.write_bytes(pack(packed(version)))
        for number, options in enumerate(OPTIONS):
            jobs.append({"files": list(map(str, paths)), "options": options, "replaced": bool(number % 2)})
            keys.append((name, number))
    (folder / "jobs.json").write_text(json.dumps(jobs))
    finished = node(HERE, folder / "jobs.json", folder / "answers.json")
    assert finished.returncode == 0, finished.stderr
    return dict(zip(keys, json.loads((folder / "answers.json").read_text(), object_hook=_numbers), strict=True))


def _numbers(value: dict) -> object:
    return np.frombuffer(base64.b64decode(value["f4"]), np.float32) if value.keys() == {"f4"} else value


def _same(actual: object, expected: object, tolerance: float, name: str) -> None:
    if expected is None:
        assert actual is None, name
        return
    actual, expected = np.array(actual, np.float64), np.asarray(expected, np.float64)
    np.testing.assert_allclose(actual, expected, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("number", first_quick(range(len(OPTIONS))))
@pytest.mark.parametrize("name", first_quick(RECORDINGS))
def test_maps(answers, name, number) -> None:
    kinds = answers[name, number]["kinds"]
    assert list(kinds) == [kind for kind in ORDER if kind in RECORDINGS[name].weights]
    for kind, payload in kinds.items():
        expected = map_by_numpy(RECORDINGS[name], kind, OPTIONS[number])
        for part in ("queries", "keys", "others", "rowOf", "columnOf"):
            assert payload[part] == expected[part], part
        for part in ("weights", "removed"):
            _same(payload[part], expected[part], 2e-6, part)
        _same(payload["mask"], expected["mask"], 0, "mask")
        if expected["shown"] is not None:  # of the weights that the browser has
            recomputed = analysis.top_share(np.array(payload["weights"]), OPTIONS[number]["share"] / 100)
            _same(payload["shown"], recomputed, 0, "shown")
            assert (recomputed != expected["shown"]).mean() < 0.01
        weights, mask = np.array(payload["weights"], np.float32), np.array(payload["mask"]) > 0
        assert not np.isnan(weights).any()
        summary = coarse.summary(weights, mask, payload["queries"])
        for part in ("largest", "entropy", "on_first"):
            _same(payload[part], summary[part], 1e-5, part)
        assert payload["telling"] == summary["telling"].tolist()
        together = looked_at(weights)
        assert payload["together"] == together.tolist()
        for name_of, across in (("looking", None), ("looking_across", together)):
            for place in np.ndindex(weights.shape[:2]):
                look = looking(weights[place], mask, across)
                assert payload[name_of][place[0]][place[1]] == (look and look._asdict())
        assert payload["first"] == list(summary["first"])
        if payload["shown"] is None:
            assert np.abs(np.array(payload["tiles"]) - summary["tiles"]).max() <= 1


@pytest.mark.parametrize("number", first_quick(range(len(OPTIONS))))
@pytest.mark.parametrize("name", first_quick(PAIRS))
def test_differences(answers, name, number) -> None:
    before, after = PAIRS[name]
    options, replaced = OPTIONS[number], bool(number % 2)
    for kind, payload in answers[name, number]["kinds"].items():
        old, new = (map_by_numpy(version, kind, options) for version in (before, after))
        pairs = [comparison.pairs(old[axis], new[axis]) for axis in ("queries", "keys")]
        assert [payload["pairs"][axis] for axis in ("rows", "columns")] == [
            list(map(list, axis_pairs)) for axis_pairs in pairs
        ]
        if not replaced:
            both = zip(("queries", "keys"), pairs)
            pairs = [[(i, j) for i, j in axis_pairs if old[axis][i] == new[axis][j]] for axis, axis_pairs in both]
        weights, visible = np.array(payload["weights"]), np.array(payload["shown"])
        n_layers, n_heads = (min(a, b) for a, b in zip(old["weights"].shape[:2], new["weights"].shape[:2]))
        assert weights.shape == (n_layers, n_heads, *new["weights"].shape[2:])
        filled = np.zeros(visible.shape[2:], bool)
        for i, j in pairs[0]:
            for k, m in pairs[1]:
                change = new["weights"][:n_layers, :n_heads, j, m] - old["weights"][:n_layers, :n_heads, i, k]
                np.testing.assert_allclose(weights[:, :, j, m], change, atol=2e-6)
                filled[j, m] = True
        assert not weights[..., ~filled].any() and not visible[..., ~filled].any()
        for axis, axis_pairs in zip(("queries", "keys"), pairs):
            for i, j in axis_pairs:
                both = " → ".join(token.lstrip("▁") or token for token in (old[axis][i], new[axis][j]))
                assert payload[axis][j] == (new[axis][j] if old[axis][i] == new[axis][j] else both)


@pytest.mark.parametrize("name", RECORDINGS)
def test_texts_of_tokens(answers, name) -> None:
    payload, of = answers[name, 0]["texts"], RECORDINGS[name]
    tokens = [*of.source_tokens, *of.target_tokens]
    assert payload["named"] == words.unique_labels(tokens)
    assert payload["ticks"] == list(map(labels.tick_text, tokens))
    assert payload["quoted"] == [labels.quoted(token, labels.english) for token in tokens]
    assert payload["width"] == pytest.approx(labels.tick_width(tokens))
    for (dull, joined), side in zip(payload["lines"], (of.source_tokens, of.target_tokens)):
        assert dull == words.dull(side).tolist()
        mark = analysis.word_mark(side)
        of_token = analysis.words(side, mark).of_token if mark else list(range(len(side)))
        assert joined == [i > 0 and word == of_token[i - 1] for i, word in enumerate(of_token)]
