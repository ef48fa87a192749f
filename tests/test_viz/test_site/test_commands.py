"""What the commands of the page without a server refuse, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.__main__ import main


@pytest.mark.parametrize("name", ["multi30k-de-en-gru", "wikitext2-lm", "nobody"])
def test_what_browsers_cannot_run_is_said_in_one_line(name: str, tmp_path: Path, capsys) -> None:
    assert main(["site", "--out", str(tmp_path / "out"), "--checkpoints", "en-de", name]) == 2
    assert main(["stage", "A dog runs.", "--live", "--checkpoint", name, "--out", str(tmp_path / "one.html")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: ") and name in line for line in lines)
    assert not list(tmp_path.iterdir())
