"""Wrong types in JavaScript are found, where TypeScript is installed (make lint checks viz/), and its tests are run."""

import pytest

from tests.support import javascript

needs_typescript = pytest.mark.skipif(not javascript.FOLDER.exists(), reason="no TypeScript yet: make lint installs it")


@needs_typescript
def test_a_wrong_type_is_a_complaint_with_its_place(tmp_path):
    (tmp_path / "half.js").write_text("/** @param {number} n */\nexport const half = (n) => n / 2;\nhalf('two');\n")
    (tmp_path / "jsconfig.json").write_text((javascript.WEB / "jsconfig.json").read_text())
    assert "half.js(3,6): error TS2345" in javascript.check(tmp_path / "jsconfig.json")


def test_unit_tests_in_javascript_run_and_a_wrong_one_fails(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(javascript.ROOT))
    pytester.makeconftest("from tests.conftest import pytest_collect_file\n")
    for name, value in {"right": "4", "wrong": "5"}.items():
        test = f'import assert from "node:assert/strict";\nassert.equal(2 + 2, {value});\n'
        pytester.path.joinpath(f"{name}.test.js").write_text(test)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*4 !== 5*"])
