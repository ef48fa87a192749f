"""Tables of weights, and the scripts that show tokens: what they hold, and what they must not do with it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import viz
from tests.test_app.test_translate import EXAMPLE
from viz.ui import tokens
from viz.views import maps


@pytest.mark.parametrize("share", [60, 100])
def test_a_table_holds_what_is_drawn_and_survives_the_way_to_a_file(recorded, share):
    result = recorded.translate(EXAMPLE)
    weights, mask = result.attention("decoder_self"), result.mask("decoder_self")
    names = result.target_tokens
    table = tokens.weight_table(maps.build(weights, mask, names, names, maps.Options(share=share)), 0, 1)
    np.testing.assert_array_equal(table["weight"], weights[0, 1].ravel())
    np.testing.assert_array_equal(table["allowed"], mask.ravel())
    assert (table["drawn"].sum() < len(table)) == (share < 100)
    assert [*table["query"]] == np.repeat(names, len(names)).tolist()
    assert [*table["key"]] == names * len(names)
    read = pd.read_csv(io.StringIO(table.to_csv(index=False)), keep_default_na=False)
    pd.testing.assert_frame_equal(read, table, check_dtype=False, rtol=1e-6)


SCRIPTS = [*Path(viz.__file__).parent.glob("ui/**/*.js"), *Path(viz.__file__).parent.glob("stage/*.js")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_script_makes_html_of_data(script):
    text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, no address
    text = text.replace('this.svg.innerHTML = lines.reverse().join("");', "")  # paths of numbers, many at a time
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:"):
        assert danger not in text
