"""What the commands of the page without a server refuse, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.__main__ import main
from viz.site import pages
from viz.site.contents import Model


@pytest.mark.parametrize("name", ["multi30k-de-en-gru", "wikitext2-lm", "nobody"])
def test_what_browsers_cannot_run_is_said_in_one_line(name: str, tmp_path: Path, capsys) -> None:
    assert main(["site", "--out", str(tmp_path / "out"), "--checkpoints", "en-de", name]) == 2
    assert main(["stage", "A dog runs.", "--live", "--checkpoint", name, "--out", str(tmp_path / "one.html")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: ") and name in line for line in lines)
    assert not list(tmp_path.iterdir())


def test_a_build_removes_what_the_last_one_wrote_and_nothing_else(tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside.txt"
    old = Model("old", {"tokenizer.json": b"t", "model.safetensors": b"w"}, {})
    new = Model("new", {"tokenizer.json": b"t", "model.safetensors": b"v"}, {})
    pages.write_folder(out, [old], b"")
    written = names(out)
    kept = {"CNAME", "index-old.html", "old/notes.txt"}
    for name in kept:
        (out / name).write_text("mine")
    changed = next(out.glob("old/tokenizer*"))
    changed.write_text("mine, too")
    outside.write_bytes(b"w")
    with (out / pages.LIST).open("a") as file:
        file.write(f"{pages._digest(b'w')}  ../outside.txt\nnonsense\n")
    pages.write_folder(out, [new], b"")
    kept.add(changed.relative_to(out).as_posix())
    assert outside.exists()
    assert {name for name in names(out) if name.startswith("old/")} == {name for name in kept if "/" in name}
    pages.write_folder(out, [old], b"")
    assert names(out) == written | kept


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
