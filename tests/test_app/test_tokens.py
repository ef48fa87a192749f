"""The scripts that show tokens: what they must not do with them."""

from __future__ import annotations

from pathlib import Path

import viz

WEB = Path(viz.__file__).parent / "web"
SCRIPTS = [path for room in ("pages", "plot", "stage") for path in WEB.glob(f"{room}/**/*.js")]


DANGERS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:")


def test_no_script_makes_html_of_data():
    assert len(SCRIPTS) > 40
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8").replace("http://www.w3.org/", "")  # a name, no address
        text = text.replace("this.svg.innerHTML = lines.map((line) => pathOf(", "")  # paths of numbers, many at a time
        assert [danger for danger in DANGERS if danger in text] == [], script.name
