"""Colours and sizes of the browser are those of viz/theme.py."""

from __future__ import annotations

import json

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from tests.support.javascript import ROOT, node
from viz import theme

SCALES = ("DIVERGING", "DIVERGING_ON_DARK", "MASK_SCALE", "LINES")


def test_both_sides_have_the_same_theme() -> None:
    path = (ROOT / "viz/web/recording/pictures/theme.js").as_uri()
    script = f"const t = await import('{path}');"
    script += "console.log(JSON.stringify({ ...t, of: [t.SEQUENTIAL, t.DIVERGING].map((s) => t.colours(s)) }))"
    finished = node("--input-type=module", "-e", script)
    assert finished.returncode == 0, finished.stderr
    values = json.loads(finished.stdout)
    for scale, steps in zip((theme.SEQUENTIAL, theme.DIVERGING), values.pop("of"), strict=True):
        expected = 255 * np.array(sample_colorscale(scale, 256, colortype="tuple"))
        assert np.abs(np.array(steps) - expected).max() < 1
    del values["MAX_LABELS"]  # the figures of Python have no such limit
    for name, value in values.items():
        expected = json.loads(json.dumps(getattr(theme, name)))
        if name == "SEQUENTIAL":
            assert [colour for _, colour in value] == [colour for _, colour in expected]
            value, expected = ([place for place, _ in scale] for scale in (value, expected))
        assert value == (
            expected if isinstance(expected, (str, dict)) or name in SCALES else pytest.approx(expected)
        ), name
