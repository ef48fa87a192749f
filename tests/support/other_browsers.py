"""Firefox and WebKitGTK (the engine of Safari), where they are installed: pages are opened and scripts run in them.

Debian has both: `apt-get install firefox-esr webkit2gtk-driver xvfb`. Firefox speaks its own protocol Marionette,
WebKitGTK that of WebDriver (W3C); the commands are the same. Nothing of what is needed here is worth a package.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.support.server import end, free_port

FIREFOXES = ("firefox-esr", "firefox")
MINI_BROWSERS = ("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/libexec/webkit2gtk-4.1/MiniBrowser")
PATIENCE = 240  # seconds until a browser must have begun, or answered; a busy machine draws a large page slowly
# A profile that asks nobody for anything: no updates, no first page, no network.
_PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
# Scripts for the stage. They say whether there was something to click; which translation is read; which numbers the
# large map draws.
CLICK = "const part = document.querySelector(arguments[0]); part?.click(); return Boolean(part);"
READS = """
  const text = document.querySelector("[data-testid=stage-translation]")?.textContent;
  return text?.trim() === arguments[0];
"""
DRAWS = """
  const rows = document.querySelector("[data-testid=stage-map] .js-plotly-plot")?.data?.[0].z ?? [];
  const flat = Array.from(rows, row => Array.from(row)).flat();
  return flat.length === arguments[0].length && flat.every((value, i) => Math.abs(value - arguments[0][i]) < 2e-5);
"""


def numbers(weights: np.ndarray) -> list[float]:
    """The numbers of a map, one after the other, for DRAWS."""
    return weights.astype(float).ravel().tolist()


class OtherBrowser:
    """A browser with one page."""

    def __init__(self, send: Callable[[str, dict[str, Any]], Any]) -> None:
        self._send = send

    def go(self, url: str) -> None:
        """Open an address, and wait until it is loaded."""
        self._send("Navigate", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that the body of a function returns in the page."""
        return self._send("ExecuteScript", {"script": script, "args": list(arguments)})

    def wait(self, script: str, *arguments: Any) -> Any:
        """Run it until it returns something true, and return that."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.run(script, *arguments)):
            assert time.monotonic() < deadline, f"this never came true: {script} {arguments}"
            time.sleep(0.05)
        return value


def missing(reason: str) -> None:
    """Skip a test whose browser is not installed; in CI that installed them it fails."""
    if os.environ.get("HEADLIGHT_BROWSERS") == "installed":
        pytest.fail(f"{reason}, though CI installed it", pytrace=False)
    pytest.skip(f"{reason}: apt-get install firefox-esr webkit2gtk-driver xvfb")


@contextlib.contextmanager
def firefox() -> Iterator[OtherBrowser]:
    """A running Firefox without a window."""
    program = next(filter(None, map(shutil.which, FIREFOXES)), None)
    if program is None:
        missing("Firefox is not installed")
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _PREFERENCES.items()]
        lines.append(f'user_pref("marionette.port", {port});')
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [str(program), "--headless", "--marionette", "--no-remote", "--profile", profile]
        with _running(command, os.environ | {"HOME": profile}), _connected(port) as connection:
            stream = connection.makefile("rb")
            number = 0

            def receive() -> Any:
                digits = b""
                while (digit := stream.read(1)) not in (b":", b""):
                    digits += digit
                return json.loads(stream.read(int(digits)))

            def send(command: str, parameters: dict[str, Any]) -> Any:
                nonlocal number
                number += 1
                packet = json.dumps([0, number, f"WebDriver:{command}", parameters]).encode()
                connection.sendall(b"%d:%s" % (len(packet), packet))
                _, _, error, value = receive()
                assert error is None, f"{command}: {error}"
                return value.get("value") if isinstance(value, dict) else value

            receive()  # who speaks
            send("NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": False}}})
            yield OtherBrowser(send)


@contextlib.contextmanager
def webkit() -> Iterator[OtherBrowser]:
    """A running WebKitGTK on a screen that nobody sees."""
    programs = [
        shutil.which("WebKitWebDriver"),
        shutil.which("Xvfb"),
        next(filter(os.path.exists, MINI_BROWSERS), None),
    ]
    if not all(programs):
        missing("WebKitGTK is not installed")
    driver, screen, browser = map(str, programs)
    port = free_port()
    display = f":{port % 500 + 100}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, contextlib.ExitStack() as stack:
        stack.enter_context(_running([screen, display, "-screen", "0", "1400x900x24", "-nolisten", "tcp"], os.environ))
        environment = os.environ | {"DISPLAY": display, "HOME": home, "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}
        stack.enter_context(_running([driver, f"--port={port}"], environment))
        address = f"http://127.0.0.1:{port}/session"

        def post(url: str, parameters: dict[str, Any]) -> Any:
            data = json.dumps(parameters).encode()
            request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    return json.load(answer)["value"]
            except urllib.error.HTTPError as error:
                raise AssertionError(f"{url}: {error.read().decode(errors='replace')}") from None

        _connected(port).close()
        options = {"binary": browser, "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        session = post(address, {"capabilities": capabilities})["sessionId"]
        paths = {"Navigate": "url", "ExecuteScript": "execute/sync"}
        yield OtherBrowser(lambda command, parameters: post(f"{address}/{session}/{paths[command]}", parameters))


@contextlib.contextmanager
def _running(command: list[str], environment: Any) -> Iterator[None]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=dict(environment), start_new_session=True, **quiet)
    try:
        yield
    finally:
        end(process)


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            assert time.monotonic() < deadline, f"nothing listens on port {port} after {PATIENCE} s"
            time.sleep(0.1)
