"""Several replicas of the app behind the proxy of Caddyfile, and beside them the page without a server.

That is what `make serve` starts (docs/serving.md); imports no app.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from model.storage.installation import root
from viz.app import static_site

HOSTS, SECRET = "HEADLIGHT_HOSTS", "STREAMLIT_SERVER_COOKIE_SECRET"  # read by viz/app/guard.py, and by Streamlit
FOLDER, SITE_URL = "HEADLIGHT_SITE_FOLDER", "HEADLIGHT_SITE_URL"  # read by Caddyfile, and by viz/app/busy.py
SITE = "/site/"  # where Caddyfile gives the folder out
MOST = 16  # replicas
AT_ONCE = 10  # seconds: what ends sooner would end again
PATIENCE = 10  # seconds for a process to end by itself
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXAMPLE = "as in make serve HOSTS=classroom.lan,192.168.1.20"
_NAME = re.compile(r"[a-z0-9_.-]+|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*", re.I)  # the latter of IPv6


def serve(hosts: str, replicas: str, port: str, with_site: bool = True) -> None:
    """Serve until Ctrl-C or SIGTERM; a ValueError says what is wrong.

    Args:
        hosts: names and addresses by which the class opens the app, with commas between them.
        replicas: how many processes; they listen on this machine only, on the ports after `port`, the proxy's.
        with_site: whether the page without a server is built and given out beside the app.
    """
    names = [name.strip().strip("[]") for name in hosts.split(",") if name.strip()]
    if not names:
        raise ValueError(f"HOSTS is empty: give the names or addresses by which the class opens the app, {EXAMPLE}")
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"HOSTS has {name!r}: give names or IP addresses alone, {EXAMPLE}")
    count = read_number("REPLICAS", replicas, MOST)
    first = read_number("PORT", port, 65535 - MOST)
    caddy = shutil.which("caddy")
    if caddy is None:
        raise ValueError("the proxy Caddy is not installed: apt-get install caddy, or https://caddyserver.com")
    ports = range(first + 1, first + 1 + count)
    for number, address in [(first, ""), *((replica, "127.0.0.1") for replica in ports)]:
        if not is_free(address, number):
            hint = f"choose others with make serve PORT=... (the replicas take the {count} after it)"
            raise ValueError(f"port {number} cannot be listened on (in use, or it needs more rights): {hint}")
    for ending in ENDINGS:  # what a shell starts with "&" ignores the first
        signal.signal(ending, signal.default_int_handler)
    addresses = [f"http://{f'[{name}]' if ':' in name else name}:{first}" for name in names]
    build = static_site.Build(addresses[0] + SITE) if with_site else None
    environment = {
        **os.environ,
        **({FOLDER: str(build.folder), SITE_URL: SITE} if build else {}),
        HOSTS: ",".join(filter(None, [os.environ.get(HOSTS), *names])),
        SECRET: os.environ.get(SECRET) or secrets.token_hex(32),
        "HEADLIGHT_SITE": f":{first}",
        "HEADLIGHT_REPLICAS": "to " + " ".join(f"127.0.0.1:{port}" for port in ports),
    }
    app = [sys.executable, "-m", "streamlit", "run", str(root() / "app.py"), "--server.address", "127.0.0.1"]
    commands = {f"the replica on port {port}": [*app, "--server.port", str(port)] for port in ports}
    commands["the proxy"] = [caddy, "run", "--config", str(root() / "Caddyfile"), "--adapter", "caddyfile"]
    print(f"{count} replicas, on ports {ports[0]} to {ports[-1]} of this machine; Ctrl-C ends them. The class opens")
    print("\n".join(f"  {address}" for address in addresses), flush=True)
    look_after(commands, environment, build)


def read_number(name: str, text: str, most: int) -> int:
    """A number from 1 to `most`; a ValueError names the option that it is not."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise ValueError(f"{name} is {text!r}: it must be a whole number from 1 to {most}")
    return int(text)


def is_free(address: str, port: int) -> bool:
    """Whether a server can listen there."""
    try:
        socket.create_server((address, port)).close()
    except OSError:
        return False
    return True


def look_after(
    commands: Mapping[str, list[str]], environment: Mapping[str, str], build: static_site.Build | None = None
) -> None:
    """Run commands, by name, each again when it ends, and a build once; a ValueError says which one does not start."""
    running: dict[str, tuple[subprocess.Popen, float]] = {}

    def start(name: str) -> None:
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        running[name] = subprocess.Popen(commands[name], cwd=root(), env=environment, **quiet), time.monotonic()

    try:
        for name in commands:
            start(name)
        if build:
            build.start(environment)
        while True:
            time.sleep(0.5)
            if build:
                build.look()
            for name, (process, since) in running.items():
                if process.poll() is None:
                    continue
                ended = f"{name} ended with {process.returncode}"
                if time.monotonic() - since < AT_ONCE:
                    raise ValueError(f"{ended} right after its start: the lines before this one say why")
                print(f"{ended} and is started again", file=sys.stderr, flush=True)
                start(name)
    except KeyboardInterrupt:
        pass
    finally:
        for ending in ENDINGS:
            signal.signal(ending, signal.SIG_IGN)  # a second Ctrl-C would leave some behind
        if build:
            build.stop()
        for process, _ in running.values():
            process.terminate()
        for process, _ in running.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
