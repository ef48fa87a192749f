"""The scripts that show tokens: what they must not do with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import viz

SCRIPTS = [*Path(viz.__file__).parent.glob("ui/**/*.js"), *Path(viz.__file__).parent.glob("stage/*.js")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_script_makes_html_of_data(script):
    text = script.read_text(encoding="utf-8").replace("http://www.w3.org/", "")  # a name, no address
    text = text.replace("this.svg.innerHTML = found.map((line) => pathOf(", "")  # paths of numbers, many at a time
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:"):
        assert danger not in text
