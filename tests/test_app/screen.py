"""Runs the app's pages without a browser and reads their figures back: the one place that knows how AppTest does it."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).resolve().parents[2] / "viz" / "screens" / "main.py"
TYPES = {"f4": "<f4", "f8": "<f8", "i1": "i1", "i2": "<i2", "i4": "<i4", "u1": "u1", "u2": "<u2", "u4": "<u4"}


def open_app(**query: str | list[str]) -> AppTest:
    """Opens the app as a visitor does who follows a link.

    Args:
        query: parameters of the URL.

    Returns:
        The page, after its first run.
    """
    at = AppTest.from_file(str(MAIN), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def open_page(page: str, **query: str | list[str]) -> AppTest:
    """Opens another page than the first; arguments as `open_app`.

    Args:
        page: its file in viz/screens.
        query: parameters of the URL.

    Returns:
        The page, after its first run.
    """
    at = AppTest.from_file(str(MAIN), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page(page).run()


def warnings(at: AppTest) -> list[str]:
    """The warnings of a page as they read: without the backslashes and the backticks that keep Markdown away."""
    return [re.sub(r"\\([^\w\s])|`", r"\1", warning.value).replace("&#58;", ":") for warning in at.warning]


def charts(at: AppTest) -> dict[str, Any]:
    """The charts of a page by key, as Streamlit sends them."""
    return {chart.proto.id.split("-", 2)[2]: chart for chart in at.get("plotly_chart")}


def figure(at: AppTest, key: str) -> dict[str, Any]:
    """One figure of the page, as the JSON that the browser draws.

    Raises:
        AssertionError: there is no such chart; the message names those there are.
    """
    found = charts(at)
    assert key in found, f"no chart {key!r}; there are {sorted(found)}"
    return json.loads(found[key].proto.spec)


def values(array: Any) -> np.ndarray:
    """The numbers of a figure's array, which Plotly sends as base64 or as a list."""
    if not isinstance(array, dict):
        return np.array(array)
    flat = np.frombuffer(base64.b64decode(array["bdata"]), TYPES[array["dtype"]])
    return flat.reshape([int(size) for size in array["shape"].split(",")]) if "shape" in array else flat


def tokens(at: AppTest, key: str, axis: str) -> list[str]:
    """The labels of a figure's axis ("x" or "y"), as they stand in the figure (escaped)."""
    return figure(at, key)["layout"][f"{axis}axis"]["ticktext"]


def component(at: AppTest, key: str) -> dict[str, Any]:
    """What the browser part with this key is given to show."""
    found = {part.proto.id.rsplit("-", 1)[-1]: part for part in at.get("bidi_component")}
    assert key in found, f"no component {key!r}; there are {sorted(found)}"
    return json.loads(found[key].proto.json)


def click_head(at: AppTest, layer: int, head: int) -> AppTest:
    """Clicks a tile of the overview.

    AppTest has no public way to select a point of a chart: this adds to the states of all widgets what the browser
    sends when a marker is clicked.

    Args:
        at: the page.
        layer, head: of the tile, counted from 0.

    Returns:
        The page, after it ran again.
    """
    heads = values(figure(at, "overview")["data"][1]["customdata"])
    index = [tuple(row) for row in heads.tolist()].index((layer, head))
    point = {"curve_number": 1, "point_number": index, "point_index": index, "customdata": heads[index].tolist()}
    return select_points(at, [point])


def click_marker(at: AppTest, key: str, *numbers: int) -> AppTest:
    """Clicks the marker of a chart to which these numbers belong (customdata); returns the page, after it ran again."""
    for curve, trace in enumerate(figure(at, key)["data"]):
        for index, belongs in enumerate(trace.get("customdata") or []):
            if trace["type"] == "scatter" and belongs == list(numbers):
                point = {"curve_number": curve, "point_number": index, "point_index": index, "customdata": belongs}
                return select_points(at, [point], key)
    raise AssertionError(f"no marker {numbers} in the chart {key!r}")


def select_points(at: AppTest, points: list[dict[str, Any]], key: str = "overview") -> AppTest:
    """Sends a selection of points of a chart, of the overview unless said; returns the page, after it ran again."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = charts(at)[key].proto.id
    indices = [point["point_index"] for point in points]
    selection = {"points": points, "point_indices": indices, "box": [], "lasso": []}
    state.string_value = json.dumps({"selection": selection})
    return at._run(states)


def choose(at: AppTest, **options: Any) -> AppTest:
    """Chooses options of segmented controls, one after the other; returns the page, after it ran again."""
    for key, option in options.items():
        at = at.button_group(key=key).set_value(option).run()
    return at


def written(at: AppTest) -> str:
    """All text of a page that is shown as it is (not as Markdown)."""
    return "\n".join(element.value for element in at.text)


class _Links(HTMLParser):
    """Collects where links lead, by their text."""

    def __init__(self, at) -> None:
        super().__init__()
        self.found, self.target = {}, None
        for element in at.get("html"):
            self.feed(element.proto.body)

    def handle_starttag(self, tag, attributes) -> None:
        if tag == "a":
            self.target = dict(attributes)["href"]

    def handle_data(self, data) -> None:
        if self.target:
            self.found[data], self.target = self.target, None


def links(at: AppTest) -> dict[str, str]:
    """Where the links of a page lead, by their text."""
    return _Links(at).found
