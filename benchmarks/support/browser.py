"""Finds a Chromium or Chrome for the browser tests, and gets one where there is none.

The order: a browser that is there, `apt-get` for root, Playwright's own download. As a program this goes through all of
it (`make test` does that first); the tests themselves only look and never install anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLE = "HEADLIGHT_BROWSER"
# Debian's shell draws as Chromium does, without its windows, menus and services: a page costs a fifth less.
SHELL = "chromium-headless-shell"
COMMANDS = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
WINDOWS_ROOTS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
WINDOWS_PLACES = (r"Google\Chrome\Application\chrome.exe", r"Chromium\Application\chrome.exe")

# No name is looked up, so nothing a page asks for can leave the machine, on a machine with a network too.
LOCAL_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # as outside of the shell; with it texts are wider there
    LOCAL_ONLY,
)
MISSING = (
    "no Chromium or Chrome found: install one (make test does, as root or with a network), "
    f"or set {VARIABLE} to its path"
)


def starts(path: str | Path) -> bool:
    """Says whether a browser can be started: a stub or one with libraries missing does not count.

    Args:
        path: the program.

    Returns:
        True when `path --version` succeeds. On Windows, where that would open a window, True when the file exists.
    """
    if not Path(path).is_file():
        return False
    if sys.platform == "win32":
        return True
    try:
        answer = subprocess.run([str(path), "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def candidates(environment: Mapping[str, str]) -> Iterator[str]:
    """Lists where a browser may already be, best first.

    Args:
        environment: the environment variables, for the places on Windows.

    Yields:
        Paths, which may or may not exist.
    """
    for command in COMMANDS:
        if found := shutil.which(command):
            yield found
    if sys.platform == "darwin":
        yield from MAC_PLACES
    if sys.platform == "win32":
        for root in WINDOWS_ROOTS:
            if root in environment:
                yield from (str(Path(environment[root]) / place) for place in WINDOWS_PLACES)
    if downloaded := playwright_path():
        yield downloaded


def playwright_path() -> str | None:
    """Asks Playwright where its own Chromium is, or would be after a download.

    Returns:
        The path, or None where Playwright has no browser for this system.
    """
    # In a process of its own: Playwright's event loop would otherwise belong to whoever asked.
    code = "from playwright.sync_api import sync_playwright as p\nwith p() as q: print(q.chromium.executable_path)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    return answer.stdout.strip() or None


def find_browser(environment: Mapping[str, str] | None = None) -> str | None:
    """Finds an installed browser; installs nothing.

    Args:
        environment: the environment variables; those of this process when not given.

    Returns:
        The path of the first one that starts, or None.

    Raises:
        ValueError: HEADLIGHT_BROWSER names something that is not a browser.
    """
    environment = os.environ if environment is None else environment
    if setting := environment.get(VARIABLE):
        path = shutil.which(setting) or setting
        if not starts(path):
            raise ValueError(f"{VARIABLE} is {setting!r}, which does not start: set it to a Chromium or Chrome")
        return path
    return next((path for path in candidates(environment) if starts(path)), None)


def install_with_apt() -> None:
    """Installs Chromium with apt-get, where there is one and this process may use it: its shell where that exists."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    print(f"no browser yet: apt-get install {SHELL}, or else chromium", flush=True)
    run_apt("update")
    for package in (SHELL, "chromium"):
        if run_apt("install", "-y", package):
            break


def run_apt(*arguments: str) -> bool:
    """Runs apt-get; says whether it succeeded, and prints why where it did not."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    step = subprocess.run(
        ["apt-get", *arguments], env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if step.returncode:
        print(f"apt-get {' '.join(arguments)} failed: {last_line(step.stderr or step.stdout)}", flush=True)
    return step.returncode == 0


def install_with_playwright() -> None:
    """Has Playwright download its own Chromium, which needs a network."""
    print("no browser yet: playwright install chromium", flush=True)
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        step = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=900, check=False)
    except subprocess.TimeoutExpired:
        print("playwright install chromium took longer than 15 minutes and was ended", flush=True)
        return
    if step.returncode:
        print(f"playwright install chromium failed: {last_line(step.stderr or step.stdout)}", flush=True)


def last_line(text: str) -> str:
    """Returns the last line that says something, which is where such tools put the reason."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason given")


def ensure_browser() -> str | None:
    """Finds a browser and, where there is none, gets one: first by apt-get, then by Playwright.

    Returns:
        Its path, or None when there was no way to get one.

    Raises:
        ValueError: HEADLIGHT_BROWSER names something that is not a browser.
    """
    path = find_browser()
    for install in (install_with_apt, install_with_playwright):
        if path:
            break
        install()
        path = find_browser()
    return path


def main() -> int:
    """Prints what the browser tests will use; having none is not an error here, the tests skip or fail themselves."""
    try:
        print(f"browser: {ensure_browser() or MISSING}", flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
