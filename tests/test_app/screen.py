"""Runs the app's pages without a browser and reads their figures back: the one place that knows how AppTest does it."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox, TextInput

from tests.support.messages import browser_state, unpack
from viz.app.menu import MENU
from viz.pages.pitfalls.demos import PITFALLS
from viz.stage import assets
from viz.ui import sheets
from viz.ui.models import measured_texts
from viz.ui.plot import plot
from viz.views.view import OPTIONS

# What chooses between the views of a page, by page: its key and its codes, the first one the default.
VIEWS = {
    "atlas.py": ("part", ["board", "scatter", "alike", "contribution", "rollout", "alignment", "table"]),
    "training.py": ("section", ["", "here"]),  # the others are drawn by a browser
    "models.py": ("models-show", ["one", "words", "lengths"]),
    "pitfalls.py": ("pitfall", list(PITFALLS)),
}
VIZ = Path(__file__).resolve().parents[2] / "viz"
MAIN = VIZ / "app" / "main.py"


def path(page: str) -> str:
    """Where a page is, by the name of its file: what AppTest opens and switches to."""
    files = [VIZ / "pages" / f"{file}.py" for pages in MENU.values() for file in pages]
    return next(str(file) for file in files if file.name == page)


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
        page: the name of its file in viz/pages.
        query: parameters of the URL.

    Returns:
        The page, after its first run.
    """
    at = AppTest.from_file(str(MAIN), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page(path(page)).run()


def warnings(at: AppTest) -> list[str]:
    """The warnings of a page as they read: without the backslashes and the backticks that keep Markdown away."""
    return [re.sub(r"\\([^\w\s])|`", r"\1", warning.value).replace("&#58;", ":") for warning in at.warning]


def charts(at: AppTest) -> dict[str, Any]:
    """The figures of a page by key, as Streamlit sends them."""
    parts = at.get("bidi_component")
    return {part.proto.id.split("-", 2)[2]: part for part in parts if part.proto.component_name == plot.COMPONENT}


def decode_figure(chart: Any) -> dict[str, Any]:
    """A figure as the browser draws it: data and layout, arrays of texts as lists."""
    message = unpack(chart.proto.bytes)

    def listed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: listed(part) for name, part in value.items()}
        if isinstance(value, np.ndarray) and value.dtype == object:
            return value.tolist()
        return [listed(part) for part in value] if isinstance(value, list) else value

    return listed({"data": message["data"], "layout": message["layout"]})


def described(chart: Any) -> str:
    """What a figure says to those who cannot see it."""
    return unpack(chart.proto.bytes)["alt"]


def figure(at: AppTest, key: str) -> dict[str, Any]:
    """One figure of the page, as `decode_figure` gives it.

    Raises:
        AssertionError: there is no such figure; the message names those there are.
    """
    figures = charts(at)
    assert key in figures, f"no figure {key!r}; there are {sorted(figures)}"
    return decode_figure(figures[key])


def values(array: Any) -> np.ndarray:
    """The numbers of a figure's array."""
    return np.array(array)


def tokens(at: AppTest, key: str, axis: str) -> list[str]:
    """The labels of a figure's axis ("x" or "y"), as they stand in the figure (escaped)."""
    return figure(at, key)["layout"][f"{axis}axis"]["ticktext"]


def component(at: AppTest, key: str) -> dict[str, Any]:
    """What the browser part with this key is given to show."""
    components = {part.proto.id.rsplit("-", 1)[-1]: part for part in at.get("bidi_component")}
    assert key in components, f"no component {key!r}; there are {sorted(components)}"
    return json.loads(components[key].proto.json)


def sheet(at: AppTest) -> dict[str, Any] | None:
    """What a page that a browser draws is given (`SheetMessage` in viz/web/sheets/app.js); None of another page."""
    parts = [part for part in at.get("bidi_component") if part.proto.component_name == sheets.COMPONENT]
    return unpack(parts[0].proto.bytes) if parts else None


def models(at: AppTest) -> Selectbox:
    """The list of models in the row of a sentence."""
    return next(box for box in at.selectbox if box.label == "Model")


def place(at: AppTest) -> TextInput | None:
    """The box for a folder or a name of the hub, where there is one."""
    return next((box for box in at.text_input if box.label.startswith("A folder, or a name")), None)


def stage(at: AppTest) -> dict[str, Any]:
    """What the stage of a page shows (tests/support/tell.js); its address without what goes.

    Raises:
        AssertionError: there is no stage.
    """
    parts = [part for part in at.get("bidi_component") if part.proto.id.endswith("-stage")]
    assert len(parts) == 1, f"{len(parts)} stages"
    options = {name: at.query_params[name] for name in OPTIONS if name in at.query_params}
    options = {name: value[0] if isinstance(value, list) else value for name, value in options.items()}
    cached_maps = {f"headlight/maps/{name}": maps.tobytes() for name, maps in assets._MAPS.items()}
    payload = browser_state(parts[0].proto.bytes, options, cached_maps)
    return payload | {"address": {name: value for name, value in payload["address"].items() if value is not None}}


def message(at: AppTest, key: str = "stage") -> dict[str, Any]:
    """The message of the stage, as it is, or of one of those that stand beside each other."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith(f"-{key}")]
    return unpack(part.proto.bytes)


def stages(at: AppTest) -> set[str]:
    """The keys of all stages of a page."""
    parts = at.get("bidi_component")
    return {part.proto.id.split("-", 2)[2] for part in parts if part.proto.component_name == "headlight_stage"}


def head(at: AppTest, key: str) -> np.ndarray:
    """The weights (T, S) of the head that a stage of this key is set to, which travel as 16-bit integers."""
    payload = message(at, key)
    (kind,) = [entry for entry in payload["after"]["recording"]["kinds"] if entry["code"] == payload["setting"]["kind"]]
    layer = list(kind["layers"]).index(int(payload["setting"]["layer"]))
    return kind["weights"][layer, int(payload["setting"]["head"])]


def has_stage(at: AppTest) -> bool:
    """Whether a stage is shown."""
    return any(part.proto.id.endswith("-stage") for part in at.get("bidi_component"))


def weights(at: AppTest, kind: str) -> np.ndarray:
    """The maps of a kind that the stage is told, (layers, heads, queries, keys)."""
    (kind_payload,) = [entry for entry in stage(at)["kinds"] if entry["code"] == kind]
    return kind_payload["weights"]


def click_head(at: AppTest, layer: int, head: int) -> AppTest:
    """Clicks a tile of the overview; returns the page, after it ran again."""
    return click(at, "overview", curve=1, customdata=[layer, head])


def click_marker(at: AppTest, key: str, *numbers: int) -> AppTest:
    """Clicks the point of a figure to which these numbers belong; returns the page, after it ran again."""
    for curve, trace in enumerate(figure(at, key)["data"]):
        if trace["type"] == "scatter" and list(numbers) in (trace.get("customdata") or []):
            return click(at, key, curve=curve, customdata=list(numbers))
    raise AssertionError(f"no point {numbers} in the figure {key!r}")


def click_cell(at: AppTest, key: str, row: int, column: int) -> AppTest:
    """Clicks a cell of a map; returns the page, after it ran again."""
    assert row < len(figure(at, key)["data"][0]["z"])
    return click(at, key, curve=0, x=column, y=row)


def click(at: AppTest, key: str, **point: Any) -> AppTest:
    """Sends what the browser sends of a click on a figure; returns the page, after it ran again.

    AppTest has no public way to trigger a component: this adds to the states of all widgets.
    """
    return _trigger(at, charts(at)[key].proto.id, "clicked", point)


def do(at: AppTest, command: str, **action: Any) -> AppTest:
    """Sends what the stage sends of a change; returns the page, after it ran again."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-stage")]
    return _trigger(at, part.proto.id, "did", {"do": command} | action)


def ask(at: AppTest, **query: Any) -> AppTest:
    """Sends what the stage sends where it asks for another message; returns the page, after it ran again.

    Args:
        query: the parameters of the address as they are then.
    """
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-stage")]
    return _trigger(at, part.proto.id, "asked", "?" + urlencode(query))


def _trigger(at: AppTest, component: str, event: str, value: Any) -> AppTest:
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = _make_trigger_id(component, "events")
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return at._run(states)


def choose(at: AppTest, **options: Any) -> AppTest:
    """Chooses options of segmented controls and lists, one after the other; returns the page, after it ran again."""
    for key, option in options.items():
        is_list = any(box.key == key for box in at.selectbox)
        control = at.selectbox(key=key) if is_list else at.button_group(key=key)
        at = control.set_value(option).run()
    return at


def tiles(at: AppTest, key: str) -> dict[str, Any]:
    """What the tiles of a page with this key are given: each tile by its code, and which is "selected"."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith(f"-{key}")]
    payload = unpack(part.proto.bytes)
    return {tile["code"]: tile for tile in payload["tiles"]} | {"selected": payload["selected"]}


def leave_sheet(at: AppTest, **parameters: str) -> AppTest:
    """Chooses in a page that a browser draws what Streamlit draws; returns the page, after it ran again."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.component_name == sheets.COMPONENT]
    return _trigger(at, part.proto.id, "left", parameters)


def type_in_sheet(at: AppTest, **parameters: str) -> AppTest:
    """Types in a page that a browser draws, whose address says so already; returns the page, after it ran again."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.component_name == sheets.COMPONENT]
    return _trigger(at, part.proto.id, "typed", parameters)


def choose_tile(at: AppTest, key: str, code: str) -> AppTest:
    """Clicks a tile; returns the page, after it ran again."""
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith(f"-{key}")]
    return _trigger(at, part.proto.id, "selected", code)


def framed(at: AppTest, look: str) -> str:
    """The sentence of the frame of a page with this class: "answer", "answer-note" or the last "note"."""
    paragraphs = [re.findall(rf'<p class="hl-{look}"[^>]*>(.*?)</p>', part.proto.body) for part in at.get("html")]
    return html.unescape([text for texts in paragraphs for text in texts][-1])


def page_text(at: AppTest) -> str:
    """All text of a page that is shown as it is (not as Markdown)."""
    return "\n".join(element.value for element in at.text)


def measure_all(at: AppTest) -> None:
    """Has all heads of the Head atlas measured over the chosen texts, and waits until they are."""
    at.button(key="measure-heads").click().run()
    if measured_texts.MEASURING in at.session_state:
        at.session_state[measured_texts.MEASURING].wait()
        at.run()
    assert not at.exception


class _Links(HTMLParser):
    """Collects where links lead, by their text."""

    def __init__(self, at) -> None:
        super().__init__()
        self.targets, self.target = {}, None
        for element in at.get("html"):
            self.feed(element.proto.body)

    def handle_starttag(self, tag, attributes) -> None:
        if tag == "a":
            self.target = dict(attributes)["href"]

    def handle_data(self, data) -> None:
        if self.target:
            self.targets[data], self.target = self.target, None


def links(at: AppTest) -> dict[str, str]:
    """Where the links of a page lead, by their text."""
    return _Links(at).targets
