"""The fuzz run finds what is planted, makes the same input again from its number, and counts what it tried."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from model.interventions.edits import Edits
from tests import fuzz
from tests.test_app.systems import save_all


def test_there_are_ten_thousand_and_every_part_has_some() -> None:
    assert sum(fuzz.COUNTS.values()) >= 10_000
    assert list(fuzz.COUNTS) == list(fuzz.PARTS) and min(fuzz.COUNTS.values()) > 0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_all(tmp_path_factory.mktemp("systems"))


@pytest.mark.parametrize(
    ("part", "count"), [("tokenizers", 15), ("translations", 6), ("attention", 15), ("checkpoints", 6)]
)
def test_a_part_runs_and_its_inputs_differ(tiny: Path, part: str, count: int) -> None:
    assert fuzz.run(part, tiny, 0, count) == []


def test_planted_defects_are_found_with_the_number_that_makes_them_again(tiny: Path, monkeypatch) -> None:
    read = Edits.from_code

    def fails(code: str) -> Edits:
        if len(code) % 7 == 3:
            raise KeyError("planted")
        return read(code)

    monkeypatch.setattr(Edits, "from_code", fails)
    failures = fuzz.run("edits", tiny, 0, 60)
    assert failures and all("KeyError at test_fuzz.py:" in line and "planted" in line for line in failures)
    number = int(failures[-1].split("--first ")[1].split(":")[0])
    assert fuzz.run("edits", tiny, number, 1) == failures[-1:]


@pytest.mark.parametrize("error", [ValueError(""), ValueError("x" * 1000), UnicodeDecodeError("utf-8", b"", 0, 1, "x")])
def test_a_refusal_without_a_sentence_is_a_finding(error: ValueError) -> None:
    def refuse() -> None:
        raise error

    with pytest.raises(fuzz.Finding, match="no sentence"):
        fuzz.answered(refuse)
    assert fuzz.answered(lambda: 5) == 5


def test_damage_changes_bytes_and_is_made_again_from_its_number() -> None:
    content = bytes(range(256))
    variants = [fuzz.damaged(random.Random(number), content) for number in range(50)]
    assert variants == [fuzz.damaged(random.Random(number), content) for number in range(50)]
    assert len(set(variants)) > 40


def test_the_command_prints_how_many_there_were(monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["fuzz", "--part", "tokenizers", "--count", "12"])
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", "set back after the test")
    with pytest.raises(SystemExit) as ended:
        fuzz.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[-1] == "12 inputs, 0 findings"
