"""The types of model/ and viz/figures, where pyright is installed (make lint), and that a wrong one is found."""

import json

import pytest

from tests.support import python_types

needs_pyright = pytest.mark.skipif(not python_types.PYRIGHT.exists(), reason="no pyright yet: make lint installs it")


@pytest.mark.slow
@needs_pyright
def test_a_wrong_type_is_a_complaint_with_its_place(tmp_path):
    (tmp_path / "half.py").write_text("def half(n: int) -> float:\n    return n / 2\n\n\nhalf('two')\n")
    settings = json.loads((python_types.ROOT / "pyrightconfig.json").read_text()) | {"include": ["."]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    assert "half.py:5:6 - error" in python_types.check(tmp_path / "pyrightconfig.json")
