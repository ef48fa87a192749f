"""The page Warm-up in the browser and in Python: the same rates, the same points, the same sentences, the same maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.films import shipped
from model.training import schedules
from model.training.sweeps.grid import GridCell
from tests.support.javascript import node
from viz.pages.training import contents, film_words, grid, lab
from viz.stage.payload.packing import pack
from viz.text.language import say, using
from viz.views.results import grid_results

SCRIPT = Path(__file__).with_name("training.js")
SIZES = [  # peak, warmup, steps, decay
    (0.001, 4000, 20_000, 1000),
    (0.02, 1, 100, 7),
    (1.5, 0, 500, 0),
    (0.0005, 300, 300, 50),
    (0.1, 2000, 1000, 2000),
]
SAMPLES = [(20_000, [4000], 1000), (100, [1, 50, 8000], 50), (5000, [400, 10], 100), (100_000, [16_000], 5000)]
NOAMS = [(512, 4000, 1.0), (64, 1, 0.1), (1000, 16_000, 4.0)]
RUNS = [[0, 1], [5], [], [16, 17, 22, 23], [3, 40, 2], [8, 32], [44, 45]]
LANGUAGES = ("en", "de", "ko")
STEP = 200


def addresses() -> list[dict[str, str]]:
    """Of the lab, of the grid with its curves and its maps, and of films alone and beside each other."""
    lab_of = {"section": "schedules"}
    noams = [{"noam-d": str(d), "noam-warmup": str(w), "noam-factor": f"{f:g}"} for d, w, f in NOAMS]
    all_others = {"against": ".".join(lab.OTHERS), "epoch": "200", "noam-steps": "5000"}
    runs = [{"grid-runs": ".".join(map(str, places)), "grid-step": str(STEP)} for places in RUNS]
    maps = [{"grid-show": "maps", "grid-kind": "decoder_self", "layer": "1", "head": "3", "grid-runs": "4.9"}]
    films = [
        {"film-task": "backwards"},
        {"film-change-seen before": "no-warmup"},
        {"film-head": "0-decoder_self-1-2-150"},
    ]
    films[-1]["film-view"] = "head"
    of_films = [{"section": "here"} | film for film in films]
    return [*(lab_of | noam for noam in noams), lab_of | all_others, *runs, *maps, *of_films]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser's modules make of all that is asked here."""
    folder = tmp_path_factory.mktemp("training")
    for language in LANGUAGES:
        with using(language):
            (folder / f"told-{language}").write_bytes(pack(contents.told()))
    for name, content in contents.files().items():
        (folder / name).write_bytes(content)
    sizes = [dict(zip(("peak", "warmup", "steps", "decay"), values)) for values in SIZES]
    asked = [{"name": name, "sizes": size, "steps": steps_of(size["steps"])} for name, size in combinations(sizes)]
    noams = [dict(zip(("size", "warmup", "factor"), values)) for values in NOAMS]
    asked += [{"name": "noam", "noam": noam, "steps": steps_of(20_000)} for noam in noams]
    request = {"schedules": asked, "samples": SAMPLES, "addresses": addresses(), "languages": LANGUAGES}
    (folder / "asked.json").write_text(json.dumps(request))
    finished = node(SCRIPT, folder)
    assert not finished.returncode, finished.stderr
    return json.loads(finished.stdout)


def combinations(sizes: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Every schedule of `model.training.schedules` but Noam's, with every size."""
    return [(name, size) for name in schedules.NAMES if name != "noam" for size in sizes]


def steps_of(n: int) -> list[int]:
    """Steps up to some behind the end of a schedule."""
    return sorted({1, 2, 3, n - 1, n, n + 1, *np.linspace(1, n, 40).astype(int).tolist()})


def test_rates_and_the_steps_of_curves_are_those_of_python(browser) -> None:
    rates = iter(browser["rates"])
    for name, size in combinations([dict(zip(("peak", "warmup", "steps", "decay"), values)) for values in SIZES]):
        rate = schedules.by_name(name, d_model=1, **size)
        expected = [rate(step) for step in steps_of(size["steps"])]
        np.testing.assert_allclose(next(rates), expected, rtol=1e-12, atol=1e-15, err_msg=f"{name} {size}")
    for noam in NOAMS:
        rate = schedules.noam(*noam)
        np.testing.assert_allclose(next(rates), [rate(step) for step in steps_of(20_000)], rtol=1e-12)
    for sample, steps in zip(SAMPLES, browser["steps"], strict=True):
        assert steps == lab.sample(*sample).tolist()


def sheets_of(browser: dict[str, Any], language: str) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """The addresses, and what the browser makes of them in a language."""
    asked = addresses()
    start = LANGUAGES.index(language) * len(asked)
    return list(zip(asked, browser["sheets"][start : start + len(asked)], strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_schedules_are_drawn_and_described_as_in_the_app(browser, language: str) -> None:
    of_lab = [(asked, sheet) for asked, sheet in sheets_of(browser, language) if asked.get("section") == "schedules"]
    assert len(of_lab) == len(NOAMS) + 1
    for asked, sheet in of_lab:
        d_model, warmup = int(asked.get("noam-d", 512)), int(asked.get("noam-warmup", 4000))
        present = lab.Noam(d_model, warmup, float(asked.get("noam-factor", 1)))
        n, epoch = int(asked.get("noam-steps", 20_000)), int(asked.get("epoch", 1000))
        names = asked.get("against", "cosine.linear").split(".")
        with using(language):
            rates = lab.rates_of([present], names, n, epoch)
            lines = lab.lines_at(rates, lab.sample(n, [warmup], epoch))
            assert sheet["answer"] == lab.answer(present, lines[present.name])
        drawn = sheet["right"][0]["panels"][0]["lines"]
        assert [line["name"] for line in drawn] == list(lines)
        for line, expected in zip(drawn, lines.values(), strict=True):
            np.testing.assert_allclose([line["x"], line["y"]], expected, rtol=1e-9)
        assert sheet["missed"] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_runs_are_compared_as_in_the_app(browser, language: str) -> None:
    recorded = grid_results.load()
    cells = list(recorded.runs)
    of_grid = [(asked, sheet) for asked, sheet in sheets_of(browser, language) if "grid-step" in asked]
    for (asked, sheet), places in zip(of_grid, RUNS, strict=True):
        picked = [cells[place] for place in places]
        with using(language):
            assert sheet["answer"] == grid.answer(recorded, picked), asked
            if picked:
                assert sheet["right"][1]["text"] == grid.at_step(recorded, picked, STEP)
        if not picked:
            assert sheet["right"] == []
            continue
        rates, losses = grid_results.lines_of({str(place): recorded.runs[cells[place]] for place in places})
        for panel, expected in zip(sheet["right"][0]["panels"], (rates, losses), strict=True):
            for line, points in zip(panel["lines"], expected.values(), strict=True):
                np.testing.assert_allclose([line["x"], line["y"]], points, rtol=1e-6)
        texts = [recorded.runs[cell].texts[STEP][0] for cell in picked]
        assert [part["text"] for part in sheet["right"][3]["texts"]][: len(texts)] == [
            t or part_of(language) for t in texts
        ]


def part_of(language: str) -> str:
    """What stands where a model wrote nothing."""
    with using(language):
        return grid.say(grid.SENTENCES["nothing"])


def test_maps_are_those_of_the_runs_and_heads_those_of_the_film(browser) -> None:
    recorded = grid_results.load()
    cells: list[GridCell] = list(recorded.runs)
    [sheet] = [sheet for asked, sheet in sheets_of(browser, "en") if asked.get("grid-show") == "maps"]
    for drawn, place in zip(sheet["right"][0]["maps"], (4, 9), strict=True):
        run = recorded.runs[cells[place]]
        np.testing.assert_allclose(drawn["values"], run.maps(max(run.texts), "decoder_self")[1, 3], atol=1e-6)
        assert np.array_equal(drawn["mask"], np.tri(len(drawn["rows"])))
    [sheet] = [sheet for asked, sheet in sheets_of(browser, "en") if "film-head" in asked]
    film = shipped.load("seen-before")
    frame = int(np.searchsorted(film.steps, 150, side="right")) - 1
    expected = film.texts[0].maps["decoder_self"][frame, 1, 2] / 255
    np.testing.assert_allclose(sheet["right"][0]["maps"][0]["values"], expected, atol=1e-6)


@pytest.mark.parametrize("language", LANGUAGES)
def test_films_are_described_as_in_the_app(browser, language: str) -> None:
    of_films = [sheet for asked, sheet in sheets_of(browser, language) if asked.get("section") == "here"]
    backwards, pair, _ = of_films
    films = [shipped.load("seen-before"), shipped.load("seen-before-no-warmup")]
    with using(language):
        assert backwards["answer"] == film_words.answer(shipped.load("backwards"))
        names = [say("As it is"), say("No warmup")]
        assert pair["answer"] == film_words.difference(films, names)
