"""Checks the types of our Python with pyright, which `tests.support.javascript` installs: a part of `make lint`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.javascript import FOLDER, ROOT, main, node

PYRIGHT = FOLDER / "node_modules/pyright/index.js"


def check(project: Path = ROOT / "pyrightconfig.json") -> str:
    """The complaints of pyright about the files of a project; empty where there are none."""
    finished = node(PYRIGHT, "--project", project, "--pythonpath", sys.executable)
    return finished.stdout + finished.stderr if finished.returncode else ""


if __name__ == "__main__":
    sys.exit(main(check))
