"""The page without a server that `make serve` gives out beside the app, built when its sources have changed."""

import hashlib
import html
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from model.storage.installation import root
from viz.text.language import LANGUAGES, message, say, using

PACKAGES = Path(__file__).parents[2]
SOURCES = ("viz", "model", "docs")  # folders of it, from which the page is made
LESSONS, CHECKPOINTS = "HEADLIGHT_LESSONS", "HEADLIGHT_CHECKPOINTS"  # what else says what is in it
BUILDING = message("This page is being built. It opens here by itself, in a minute or two.")
AGAIN = 5  # seconds after which a browser asks for it again
PATIENT = 15  # how far a build stands behind what visitors wait for, as in the command `nice`


class Build:
    """The folder of the page, and the process that writes it while it is missing or older than its sources.

    Args:
        address: where the proxy gives the folder out.
    """

    def __init__(self, address: str) -> None:
        self.folder = cache_folder()
        self._address = address
        self._key_file = self.folder.with_name(f"{self.folder.name}.key")
        self._key = sources_key()
        self._process: subprocess.Popen | None = None

    @property
    def is_new(self) -> bool:
        """Whether the folder has what the sources say."""
        has_key = self._key_file.is_file() and self._key_file.read_text(encoding="utf-8") == self._key
        return has_key and (self.folder / "index.html").is_file()

    def start(self, environment: Mapping[str, str]) -> None:
        """Build the page unless it is there; the process says on the terminal how far it is.

        Visitors are served meanwhile, and come first. Where nothing can be kept, a line says so.
        """
        if self.is_new:
            return self._report()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._key_file.unlink(missing_ok=True)
            if not (self.folder / "index.html").exists():
                (self.folder / "index.html").write_text(waiting_page(), encoding="utf-8")
        except OSError as error:
            print(f"The page without a server cannot be kept: {error}", file=sys.stderr, flush=True)
            return None
        print(
            "Building the page without a server, which takes a minute or two, and none at the next start ...",
            flush=True,
        )
        command = [sys.executable, "-m", "viz", "site", "--out", str(self.folder)]
        about: dict[str, Any] = {"cwd": root(), "env": environment, "stdin": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, **about, preexec_fn=lambda: os.nice(PATIENT))

    def look(self) -> None:
        """Say so where the process has ended since the last look."""
        if self._process is None or self._process.poll() is None:
            return
        if self._process.returncode == 0:
            self._key_file.write_text(self._key, encoding="utf-8")
            self._report()
        else:
            print("The page without a server was not built: the lines above say why.", file=sys.stderr, flush=True)
        self._process = None

    def stop(self) -> None:
        """End the process, if it runs; what it leaves is written over by the next one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _report(self) -> None:
        print(f"Without waiting for others, in each browser alone:\n  {self._address}", flush=True)


def waiting_page() -> str:
    """What visitors see until the page is there, in all languages."""
    lines = []
    for code in LANGUAGES:
        with using(code):
            lines.append(f'<p lang="{code}">{html.escape(say(BUILDING))}</p>')
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><meta http-equiv="refresh" content="{AGAIN}"><title>Headlight</title>'
        "<style>:root { color-scheme: light dark } body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 3rem }"
        f"</style></head><body><main><h1>Headlight</h1>{''.join(lines)}</main></body></html>"
    )


def cache_folder() -> Path:
    """Where the page is kept, for each place where Headlight is installed its own."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "headlight" / f"site-{hashlib.blake2b(str(PACKAGES).encode(), digest_size=4).hexdigest()}"


def sources_key() -> str:
    """What tells whether the sources of the page have changed: their names, sizes and times."""
    digest = hashlib.blake2b(digest_size=16)
    for name in (LESSONS, CHECKPOINTS):
        digest.update(f"{name}={os.environ.get(name, '')}\n".encode())
    for path in _sources():
        status = path.stat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    checkpoints = Path(os.environ.get(CHECKPOINTS) or root() / "checkpoints")
    for folder in [*(PACKAGES / name for name in SOURCES), checkpoints]:
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    yield from (path for name in shlex.split(os.environ.get(LESSONS, "")) if (path := Path(name)).is_file())
