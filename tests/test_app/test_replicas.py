"""`make serve`: what it says where it cannot, one secret for all replicas, one replica for a visitor, nothing left."""

from __future__ import annotations

import asyncio
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.support.server import ROOT, end, is_healthy
from viz.__main__ import main
from viz.app import replicas

NAME = "classroom.test"
COOKIE, XSRF = "headlight_replica", "_streamlit_xsrf"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "HOSTS is empty"),
        (["--hosts", " , "], "HOSTS is empty"),
        (["--hosts", f"{NAME},http://{NAME}:80"], f"HOSTS has 'http://{NAME}:80'"),
        (["--hosts", NAME, "--replicas", "0"], "REPLICAS is '0': it must be a whole number from 1 to 16"),
        (["--hosts", NAME, "--replicas", "17"], "REPLICAS is '17'"),
        (["--hosts", NAME, "--port", "http"], "PORT is 'http'"),
        (["--hosts", NAME], "the proxy Caddy is not installed"),
    ],
)
def test_what_is_wrong_is_one_sentence(options, words, monkeypatch, capsys) -> None:
    monkeypatch.setattr(replicas.shutil, "which", lambda _: None)
    assert main(["serve", *options]) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"error: {words}") and stderr.count("\n") == 1


@pytest.mark.parametrize("offset", [0, 2])
def test_a_port_that_is_taken_is_named(offset, monkeypatch, capsys) -> None:
    monkeypatch.setattr(replicas.shutil, "which", lambda name: f"/bin/{name}")
    first = free_ports()
    with socket.create_server(("127.0.0.1", first + offset)):
        assert main(["serve", "--hosts", NAME, "--port", str(first)]) == 2
    assert f"port {first + offset} cannot be listened on" in capsys.readouterr().err


def free_ports(count: int = 3) -> int:
    """The first of some ports in a row that nothing listens on."""
    return next(
        first
        for first in range(20000 + os.getpid() % 5000, 30000, count)
        if all(replicas.is_free("", port) for port in range(first, first + count))
    )


Start = Callable[..., tuple[subprocess.Popen, int]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `python -m viz serve` with two replicas; with a script in the place of Caddy if it is given one."""
    running = []

    def run(proxy: str = "") -> tuple[subprocess.Popen, int]:
        path = os.environ["PATH"]
        if proxy:
            (tmp_path / "caddy").write_text(f"#!/bin/sh\n{proxy}\n")
            (tmp_path / "caddy").chmod(0o755)
            path = f"{tmp_path}{os.pathsep}{path}"
        first = free_ports()
        process = subprocess.Popen(
            [sys.executable, "-m", "viz", "serve", "--no-site", "--hosts", NAME, "--port", str(first)],
            cwd=ROOT,
            env={**os.environ, "PATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process, first

    yield run
    for process in running:
        end(process)


def wait_until(true: Callable[[], object]) -> None:
    """Look again and again whether something is so."""
    deadline = time.monotonic() + 180
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def ask(port: int, path: str = "/_stcore/health", cookies: str = "", method: str = "GET", body: bytes = b"", **headers):
    """The status and the cookies with which a request by the name of the class is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body, {"Host": f"{NAME}:{port}", "Cookie": cookies, **headers})
    answer = connection.getresponse()
    answer.read()
    set_by_it = SimpleCookie("; ".join(value.split(";")[0] for value in answer.headers.get_all("Set-Cookie", [])))
    return answer.status, {name: morsel.value for name, morsel in set_by_it.items()}


def environment_of(port: int) -> dict[str, str]:
    """The environment variables of the replica on a port."""
    process = process_on(port)
    return dict(line.split("=", 1) for line in Path(f"/proc/{process}/environ").read_text().split("\0") if "=" in line)


def process_on(port: int) -> int:
    """The number of the process of the replica on a port."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().endswith(f"--server.port\0{port}\0".encode()):
                return int(folder.name)
        except OSError:  # it has ended meanwhile
            continue
    raise AssertionError(f"nothing serves port {port}")


def test_a_proxy_that_does_not_start_ends_the_replicas(start: Start) -> None:
    process, first = start("exit 3")
    assert process.wait(60) == 2
    assert "error: the proxy ended with 3 right after its start" in process.stderr.read()
    assert replicas.is_free("127.0.0.1", first + 1) and replicas.is_free("127.0.0.1", first + 2)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the environment of processes under /proc")
def test_replicas_answer_to_the_name_with_one_secret_and_all_end(start: Start, monkeypatch) -> None:
    monkeypatch.delenv(replicas.SECRET, raising=False)
    process, first = start("exec sleep 600")
    ports = (first + 1, first + 2)
    wait_until(lambda: process.poll() is not None or all(is_healthy(f"http://127.0.0.1:{port}") for port in ports))
    assert [ask(port)[0] for port in ports] == [200, 200]
    first_secret, second_secret = (environment_of(port)[replicas.SECRET] for port in ports)
    assert first_secret == second_secret and len(first_secret) == 64
    assert_all_end(process, signal.SIGINT)


def assert_all_end(process: subprocess.Popen, ending: int) -> None:
    """At a signal, without an error and with nothing left."""
    group = os.getpgid(process.pid)
    process.send_signal(ending)
    assert process.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


@pytest.mark.skipif(not shutil.which("caddy"), reason="the proxy Caddy is not installed")
def test_a_visitor_stays_with_a_replica_and_another_takes_over(start: Start) -> None:
    process, first = start()
    since = time.monotonic()
    ports = (first + 1, first + 2)
    wait_until(lambda: process.poll() is not None or all(is_healthy(f"http://127.0.0.1:{port}") for port in ports))
    wait_until(lambda: is_healthy(f"http://127.0.0.1:{first}"))

    newcomers: dict[str, str] = {}  # newcomers go to both
    wait_until(lambda: newcomers.update({ask(first)[1][COOKIE]: ""}) or len(newcomers) == 2)
    first_cookie, second_cookie = newcomers
    for _ in range(10):
        assert COOKIE not in ask(first, cookies=f"{COOKIE}={first_cookie}")[1]
    assert asyncio.run(upload(first, page=first_cookie, file=first_cookie)) == 204
    assert asyncio.run(upload(first, page=first_cookie, file=second_cookie)) == 400  # which is why they must stay

    wait_until(lambda: time.monotonic() > since + replicas.AT_ONCE + 1)
    ended = process_on(ports[0])
    os.kill(ended, signal.SIGKILL)
    answers = [ask(first, cookies=f"{COOKIE}={cookie}") for cookie in (first_cookie, second_cookie)]
    assert [status for status, _ in answers] == [200, 200]
    new_cookies = [cookies.get(COOKIE) for _, cookies in answers]
    assert new_cookies in ([second_cookie, None], [None, first_cookie])
    wait_until(lambda: is_healthy(f"http://127.0.0.1:{ports[0]}"))
    assert process_on(ports[0]) != ended
    assert_all_end(process, signal.SIGTERM)


async def upload(port: int, page: str, file: str) -> int:
    """The status of an upload for a page at one replica, sent to one."""
    stream = connect(
        f"ws://{NAME}:{port}/_stcore/stream",
        host="127.0.0.1",
        port=port,
        subprotocols=["streamlit"],
        max_size=None,
        origin=f"http://{NAME}:{port}",
        additional_headers={"Cookie": f"{COOKIE}={page}"},
    )
    async with stream as connection:
        await connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        while (message := ForwardMsg.FromString(await connection.recv())).WhichOneof("type") != "new_session":
            pass
        path = f"/_stcore/upload_file/{message.new_session.initialize.session_id}/a-file"
        token = ask(port, cookies=f"{COOKIE}={file}")[1][XSRF]
        part = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\n\r\nwords\r\n--x--\r\n'
        headers = {"Content-Type": "multipart/form-data; boundary=x", "X-Xsrftoken": token}
        cookies = f"{COOKIE}={file}; {XSRF}={token}"
        return (await asyncio.to_thread(ask, port, path, cookies, "PUT", part, **headers))[0]
