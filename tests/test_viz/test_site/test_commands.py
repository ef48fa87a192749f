"""What the commands of the page without a server, and the one that serves it here, refuse in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.repeated import first_quick
from viz.__main__ import main
from viz.site import pages
from viz.site.contents import Model


@pytest.mark.parametrize("name", first_quick(["multi30k-de-en-gru", "wikitext2-lm", "nobody"]))
def test_what_browsers_cannot_run_is_said_in_one_line(name: str, tmp_path: Path, capsys) -> None:
    assert main(["site", "--out", str(tmp_path / "out"), "--checkpoints", "en-de", name]) == 2
    assert main(["stage", "A dog runs.", "--live", "--checkpoint", name, "--out", str(tmp_path / "one.html")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: ") and name in line for line in lines)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options, problem",
    [
        (["--model", "/no/such/folder"], "'/no/such/folder'"),
        (["--model", "someone/model", "~/models/mine"], "'~/models/mine'"),
        (["--model", " "], "' '"),
        (["--port", "70000"], "'70000'"),
        (["--port", "eighty"], "'eighty'"),
    ],
)
def test_the_app_is_not_started_with_what_cannot_be(options: list[str], problem: str, capsys, monkeypatch) -> None:
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("it was started"))
    assert main(["run", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and problem in line


def test_the_app_is_started_with_a_folder_and_a_name_on_the_hub(tmp_path: Path, monkeypatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, command: started.append(command))
    monkeypatch.setenv("HEADLIGHT_MODELS", "")
    assert main(["run", "--port", "8600", "--model", str(tmp_path), "someone/model@refs/pr/4"]) == 0
    assert started[0][-2:] == ["--server.port", "8600"]
    assert os.environ["HEADLIGHT_MODELS"].split() == [str(tmp_path), "someone/model@refs/pr/4"]


def test_what_stands_in_an_address_or_beside_no_model_is_said_in_one_line(tmp_path: Path, capsys) -> None:
    out = ["site", "--out", str(tmp_path / "out")]
    assert main([*out, "--address", "example.org"]) == 2
    assert main([*out, "--checkpoints", "de-en", "--lesson", "mine.md"]) == 2
    address, lesson = capsys.readouterr().err.splitlines()
    assert "'example.org'" in address and "en-de" in lesson and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_build_removes_what_the_last_one_wrote_and_nothing_else(tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside.txt"
    old = Model("old", {"tokenizer.json": b"t", "model.safetensors": b"w"}, {})
    new = Model("new", {"tokenizer.json": b"t", "model.safetensors": b"v"}, {})
    pages.write_folder(out, [old], b"")
    site_files = names(out)
    other_files = {"CNAME", "index-old.html", "old/notes.txt"}
    for name in other_files:
        (out / name).write_text("mine")
    changed = next(out.glob("old/tokenizer*"))
    changed.write_text("mine, too")
    outside.write_bytes(b"w")
    with (out / pages.LIST).open("a") as file:
        file.write(f"{pages._digest(b'w')}  ../outside.txt\nnonsense\n")
    pages.write_folder(out, [new], b"")
    other_files.add(changed.relative_to(out).as_posix())
    assert outside.exists()
    assert {name for name in names(out) if name.startswith("old/")} == {name for name in other_files if "/" in name}
    pages.write_folder(out, [old], b"")
    assert names(out) == site_files | other_files
    pages.write_folder(out, [old], b"", address="https://example.org/'course'/")
    page = (out / "index.html").read_text()
    assert (
        f'content="https://example.org/&#x27;course&#x27;/{pages.PREVIEW}"' in page and (out / pages.PREVIEW).exists()
    )


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
