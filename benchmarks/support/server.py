"""Starts the app as its users do, on a free port of this machine, and ends it again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    """Returns a port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end(process: subprocess.Popen) -> None:
    """Ends one process and the processes it started, politely first.

    Args:
        process: started with `start_new_session=True`, so that its group is its own.
    """
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        process.wait(timeout=30)
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)


def is_healthy(url: str) -> bool:
    """Asks a Streamlit server whether it is ready."""
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def memory(url: str) -> float:
    """The resident set of the process that serves an address, in MB."""
    port = url.rpartition(":")[2].encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"--server.port" in words and words[words.index(b"--server.port") + 1] == port:
                line = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmRSS"))
                return int(line.split()[1]) / 1000
        except (OSError, StopIteration):  # a process that ended meanwhile
            continue
    raise SystemExit(f"error: no process under /proc serves {url}: memory can be measured on Linux only")


@contextlib.contextmanager
def serve(
    script: Path = ROOT / "app.py",
    patience: float = 180,
    module: str = "streamlit",
    environment: Mapping[str, str] | None = None,
    pause: float = 0.1,
    path: str = "",
) -> Iterator[str]:
    """Serves a Streamlit script for as long as the block lasts.

    Args:
        script: what `streamlit run` is given; it runs in the script's folder.
        patience: seconds until the server must be ready.
        module: what Python runs: Streamlit, or one that hands over to it.
        environment: variables to set on top of those of this process.
        pause: seconds between two looks at whether it is ready.
        path: below which it is served, without slashes at its ends.

    Yields:
        The address, like http://127.0.0.1:40123.

    Raises:
        RuntimeError: the server ended or did not get ready; the message has what it printed.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}" + (f"/{path}" if path else "")
    command = [sys.executable, "-m", module, "run", str(script)]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
    command += ["--server.fileWatcherType", "none", "--browser.gatherUsageStats", "false"]
    command += ["--server.baseUrlPath", path] if path else []
    with tempfile.TemporaryFile("w+b") as printed:
        process = subprocess.Popen(
            command,
            cwd=script.parent,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + patience
            while not is_healthy(url):
                ended = process.poll() is not None
                if ended or time.monotonic() > deadline:
                    printed.seek(0)
                    words = printed.read().decode(errors="replace").strip()
                    reason = f"ended with {process.returncode}" if ended else f"was not ready after {patience:g} s"
                    raise RuntimeError(f"streamlit run {script.name} {reason}; it printed:\n{words}")
                time.sleep(pause)
            yield url
        finally:
            end(process)
