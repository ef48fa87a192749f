"""`pip install .`: a wheel with everything in it, and a command that works where no checkout is."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest

from benchmarks.support.server import end, free_port, is_healthy
from model import load_translator
from model.storage.checkpoint import available

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([*PIP, "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ROOT], check=True)
    (file,) = folder.glob("headlight-*.whl")
    return file


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; the packages that it needs are borrowed from the one that tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run([*PIP, "--python", folder / "bin/python", "install", "--no-deps", wheel], check=True)
    return folder


def headlight(environment: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [environment / "bin/headlight", *words]
    return subprocess.run(command, cwd=environment, capture_output=True, text=True, encoding="utf-8")


def test_the_wheel_has_every_file_that_the_checkout_ships(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "app.py", "Caddyfile", ".streamlit", "checkpoints", "model", "viz"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    names = zipfile.ZipFile(wheel).namelist()
    share = next(name.partition("/share/")[0] for name in names if "/share/" in name) + "/share/headlight/"
    shipped = {name.removeprefix(share) for name in names}
    assert {name for name in listed if name} <= shipped
    assert not any("__pycache__" in name or name.startswith("tests/") for name in names)


def test_the_command_translates_and_lists_what_there_is(environment: Path) -> None:
    result = headlight(environment, "translate", "A dog runs.", "--beam", "1")
    expected = load_translator().translate("A dog runs.", beam=1).text
    assert (result.returncode, result.stdout) == (0, expected + "\n"), result.stderr
    listed = headlight(environment, "checkpoints").stdout
    assert all(f"{name}: " in listed for name in available())
    unknown = headlight(environment, "translate", "A dog runs.", "--checkpoint", "nothing")
    assert unknown.returncode == 2 and unknown.stderr.startswith("error: ") and unknown.stderr.count("\n") == 1


def test_the_command_serves_the_app(environment: Path) -> None:
    port = free_port()
    command = [environment / "bin/headlight", "run", "--port", str(port)]
    process = subprocess.Popen(command, cwd=environment, start_new_session=True)
    try:
        deadline = time.monotonic() + 180
        while not is_healthy(f"http://127.0.0.1:{port}"):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        end(process)
