"""The mistakes that the tests are measured by can still be made."""

from tests import faults
from tests.faults import FAILED, PASSED, Fault


def test_the_text_of_every_mistake_occurs_once_in_its_file() -> None:
    assert len(faults.FAULTS) >= 40 and not faults.misplaced()


def test_the_tests_of_every_mistake_are_there(monkeypatch) -> None:
    assert faults.lost() == []
    gone = ("tests/gone.py", "tests/test_faults.py::test_gone", "tests/test_faults.py::test_the_tests_of_every")
    monkeypatch.setattr(
        faults, "FAULTS", [Fault("it", "file", "old", "new", f"tests/test_faults.py {test}") for test in gone]
    )
    assert faults.lost() == [f"it: {test}" for test in gone]


def test_only_a_mistake_whose_tests_fail_is_caught(monkeypatch, capsys) -> None:
    """With one line as the file, and a test that fails where it does not say what is right."""
    monkeypatch.setattr(faults, "prepare", lambda: None)
    monkeypatch.setattr(faults, "copied", lambda folder: (folder / "file").write_text("right = 1"))
    tried = (("right = 1", "wrong"), ("= 1", "=1"), ("left", ""), ("1", "3 wrong"))
    monkeypatch.setattr(faults, "FAULTS", [Fault(old, "file", old, new, "") for old, new in tried])

    def tested(folder, _) -> tuple[int, list[str]]:
        return (FAILED, ["test.py::it"]) if (folder / "file").read_text().endswith("wrong") else (PASSED, [])

    monkeypatch.setattr(faults, "tested", tested)
    assert faults.main([]) == 1
    caught, missed, gone, again, summary = capsys.readouterr().out.splitlines()
    assert (caught, missed, again) == ("right = 1: caught test.py::it", "= 1: NOT CAUGHT", "1: caught test.py::it")
    assert gone.startswith("left: NOT FOUND") and summary == "4 mistakes, 2 problems"
    assert faults.main(["right"]) == 0
    monkeypatch.setattr(faults, "tested", lambda *_: (FAILED, ["test.py::it"]))
    assert faults.main(["right"]) == 1, "the test fails without the mistake, too"
