"""The page Training, the schedule lab: what is drawn is what the schedules say."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.training import schedules
from tests.test_app import screen
from viz.pages.training import lab

PAGE = screen.path("training.py")


def open_page(**query: str) -> AppTest:
    """The page by itself, as the navigation runs it."""
    at = AppTest.from_file(PAGE, default_timeout=120)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def lines(at: AppTest) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The lines of the schedules' figure by name, without the marks."""
    data = screen.figure(at, "schedules")["data"]
    traces = [trace for trace in data if trace["showlegend"]]
    return {trace["name"]: (screen.values(trace["x"]), screen.values(trace["y"])) for trace in traces}


@pytest.mark.slow
def test_it_is_in_the_navigation():
    at = screen.open_app().switch_page(screen.path("training.py")).run()
    assert ">Warm-up</h1>" in "".join(part.proto.body for part in at.get("html")) and not at.exception


def test_the_papers_curve_and_its_peak():
    at = open_page()
    assert not at.exception
    x, y = lines(at)["Noam 512, warmup 4,000"]
    np.testing.assert_allclose(y, [schedules.noam(512, 4000)(int(step)) for step in x], rtol=1e-6)
    assert x[0] == 1 and x[-1] == 20_000
    assert "Noam 512, warmup 4,000: peak 6.988e-04 at step 4,000" in screen.page_text(at)
    line = "The rate rises for 4,000 steps to 6.99e-04; after 20,000 steps 45% of it is left."
    assert screen.framed(at, "answer") == line
    mark = screen.figure(at, "schedules")["data"][3]
    assert (screen.values(mark["x"])[0], screen.values(mark["y"])[0]) == (4000, pytest.approx(6.98771e-4, rel=1e-5))


def test_the_tutorials_example():
    """d_model 512, warmup 200, steps 1 to 1,000: the peak is 0.003125 at step 200."""
    at = open_page(**{"noam-warmup": "200", "noam-steps": "1000"})
    assert "peak 3.125e-03 at step 200" in screen.page_text(at)
    assert lines(at)["Noam 512, warmup 200"][0][-1] == 1000


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [("noam-d", 256, "Noam 256, warmup 4,000"), ("noam-factor", 2.0, "Noam 512, warmup 4,000, × 2")],
)
def test_the_sliders_move_the_curve(key, value, name):
    at = open_page()
    at = at.slider(key=key).set_value(value).run()
    d_model, factor = (value, 1) if key == "noam-d" else (512, value)
    x, y = lines(at)[name]
    assert y.max() == pytest.approx(factor * d_model**-0.5 * 4000**-0.5, rel=1e-6)
    cosine = lines(at)["cosine"][1]
    assert cosine.max() == pytest.approx(y.max(), rel=1e-6), "the others take its peak"


def test_the_select_sliders_move_the_curve():
    at = open_page()
    at = at.select_slider(key="noam-warmup").set_value(8000).run()
    x, y = lines(at)["Noam 512, warmup 8,000"]
    assert x[y.argmax()] == 8000
    at = at.select_slider(key="noam-steps").set_value(500).run()
    x, y = lines(at)["Noam 512, warmup 8,000"]
    assert x[-1] == 500 and y.argmax() == len(y) - 1, "the peak of what is drawn is its end"
    assert "at step 500" in screen.page_text(at)
    assert screen.framed(at, "answer").endswith("its peak would come at step 8,000.")


def test_every_other_schedule_can_be_laid_over_it():
    at = open_page()
    at = at.button_group(key="against").set_value(list(lab.OTHERS)).run()
    curves = lines(at)
    at_peak = schedules.noam(512, 4000)(4000)
    for name in lab.OTHERS:
        x, y = curves[lab.SCHEDULES[name]]
        schedule = schedules.by_name(name, d_model=512, peak=at_peak, warmup=4000, steps=20_000, decay=1000)
        np.testing.assert_allclose(y, [schedule(int(step)) for step in x], rtol=1e-5, err_msg=name)
    assert "Inverse square root is Noam with its peak given." in screen.page_text(at)
    at = at.select_slider(key="epoch").set_value(5000).run()
    x, y = lines(at)[lab.SCHEDULES["step_decay"]]
    assert y[x == 9000] / y[x == 9001] == pytest.approx(1 / 0.95, rel=1e-5)
    at = at.button_group(key="against").set_value([]).run()
    assert list(lines(at)) == ["Noam 512, warmup 4,000"]


def test_noam_curves_can_be_kept_and_dropped():
    at = open_page()
    at = at.button(key="keep").click().run()
    at = at.select_slider(key="noam-warmup").set_value(8000).run()
    assert {"Noam 512, warmup 4,000", "Noam 512, warmup 8,000"} < set(lines(at))
    for d_model in (256, 320, 384):
        at = at.button(key="keep").click().run()
        at = at.slider(key="noam-d").set_value(d_model).run()
    assert at.button(key="keep").disabled
    assert not at.exception
    at = at.button(key="drop").click().run()
    assert len([name for name in lines(at) if name.startswith("Noam")]) == 1


@pytest.mark.parametrize("axis", ["x", "y"])
def test_linear_and_logarithmic_axes(axis):
    at = open_page()
    assert screen.figure(at, "schedules")["layout"][f"{axis}axis"].get("type", "linear") == "linear"
    at = screen.choose(at, **{f"log-{axis}": lab.LOGARITHMIC})
    layout = screen.figure(at, "schedules")["layout"][f"{axis}axis"]
    assert layout["type"] == "log"
    low, high = layout["range"]
    values = np.concatenate([line["xy".index(axis)] for line in lines(at).values()])
    assert 10**low <= values.min() and values.max() <= 10**high


def test_the_file_holds_what_is_drawn():
    noams = [lab.Noam(256, 100, 1.0), lab.Noam(512, 200, 2.0)]
    rates = lab.rates_of(noams, ["step_decay"], 1000, 50)
    assert list(rates) == [noams[0].name, noams[1].name, lab.SCHEDULES["step_decay"]]
    steps = lab.sample(1000, [100, 200], 50)
    assert {100, 150, 151, 200, 250, 251, 1000} <= set(steps)
    (at,) = np.flatnonzero(steps == 200)
    assert lab.lines_at(rates, steps)[noams[1].name][1, at] == pytest.approx(2 * 512**-0.5 * 200**-0.5)


@pytest.mark.parametrize("warmup", lab.WARMUPS)
@pytest.mark.parametrize("n_steps", [lab.STEPS[0], lab.STEPS[-1]])
def test_steps_are_rising_and_hold_the_peak(warmup, n_steps):
    steps = lab.sample(n_steps, [warmup], 50)
    assert steps[0] == 1 and steps[-1] == n_steps and (np.diff(steps) > 0).all()
    assert warmup in steps or warmup > n_steps


@pytest.mark.parametrize("query", [{"noam-warmup": "x"}, {"noam-d": "-5"}, {"section": "?"}, {"log-x": ""}])
def test_rubbish_in_the_address_falls_back(query):
    at = open_page(**query)
    assert not at.exception and "Noam 512, warmup 4,000" in lines(at)
