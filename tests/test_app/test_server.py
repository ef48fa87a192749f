"""The running server keeps what it promises: this machine only, no foreign pages or names, no large uploads."""

from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.support.server import ROOT, end, free_port, is_healthy

MEGABYTE = 2**20
XSRF = "_streamlit_xsrf"


# An empty page behind the guard of app.py. Streamlit's question what address this machine has leaves a file.
APP = """
from pathlib import Path
import streamlit as st
from starlette.middleware import Middleware
from streamlit import net_util
from viz.app.guard import Guard

def ask():
    Path(__file__).with_name("asked").touch()

net_util.get_external_ip = ask
app = st.App("page.py", middleware=[Middleware(Guard)])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the app that is served."""
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """A server of an empty page, with the project's settings and no option but its port."""
    (folder / "page.py").write_text("import streamlit as st\nst.write('hello')\n")
    (folder / "app.py").write_text(APP)
    number = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py"), "--server.port", str(number)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 180
        while not is_healthy(f"http://127.0.0.1:{number}"):
            assert process.poll() is None and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
        yield number
    finally:
        end(process)


def stream(port: int, name: str = "127.0.0.1", origin: str | None = None) -> connect:
    """A websocket to the server, by some name and from a page of some origin."""
    options = {"subprotocols": ["streamlit"], "max_size": None, "origin": origin}
    return connect(f"ws://{name}:{port}/_stcore/stream", host="127.0.0.1", port=port, **options)


async def greeting(port: int):
    """The first thing that a visitor is told."""
    async with stream(port) as connection:
        await connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        while True:
            message = ForwardMsg.FromString(await connection.recv())
            if message.WhichOneof("type") == "new_session":
                return message.new_session


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 without setting it up")
def test_other_addresses_of_this_machine_are_not_listened_on(port: int) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", port)) != 0


def test_the_browser_is_told_not_to_report(port: int) -> None:
    assert asyncio.run(greeting(port)).config.gather_usage_stats is False


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("127.0.0.1", "http://elsewhere.test"),
        ("127.0.0.1", "null"),
        ("127.0.0.1", "http://localhost:1"),  # another server of this machine
        ("elsewhere.test", None),
        ("elsewhere.test", "http://elsewhere.test"),
    ],
)
def test_a_websocket_of_a_foreign_page_or_name_is_refused_and_nobody_is_asked(
    port: int, folder: Path, name: str, origin: str | None
) -> None:
    async def come() -> None:
        async with stream(port, name, origin):
            pass

    with pytest.raises(InvalidStatus) as refused:
        asyncio.run(come())
    answer = refused.value.response
    assert answer.status_code == 403 and answer.body.startswith(b"Headlight ") and answer.body.endswith(b".\n")
    assert not (folder / "asked").exists()


@pytest.mark.parametrize(("name", "scheme"), [("127.0.0.1", "http"), ("localhost", "http"), ("192.0.2.7", "https")])
def test_a_websocket_of_the_apps_own_page_is_taken_and_nobody_is_asked(
    port: int, folder: Path, name: str, scheme: str
) -> None:
    async def come() -> None:
        async with stream(port, name, f"{scheme}://{name}:{port}"):
            pass

    asyncio.run(come())
    assert not (folder / "asked").exists()


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/host-config", "/nothing"])
def test_a_page_is_not_shown_by_a_foreign_name(port: int, path: str) -> None:
    def ask(name: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Host": name})
        answer = connection.getresponse()
        return answer.status, answer.read()

    status, words = ask("elsewhere.test")
    assert status == 403 and b"does not answer to the name 'elsewhere.test'" in words and b"HEADLIGHT_HOSTS" in words
    assert {ask(name)[0] for name in ("127.0.0.1", f"localhost:{port}")} <= {200, 404}


class TestUploads:
    def ask(self, port: int, method: str, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Send a request without a body, however long it says that it is."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse()

    def upload(self, port: int, size: int, token: bool) -> int:
        """The status with which an upload of so many bytes is answered, of a visitor who is there."""

        async def come() -> int:
            async with stream(port) as connection:
                await connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
                while True:
                    message = ForwardMsg.FromString(await connection.recv())
                    if message.WhichOneof("type") == "new_session":
                        break
                path = f"/_stcore/upload_file/{message.new_session.initialize.session_id}/a-file"
                return await asyncio.to_thread(send, path)

        def send(path: str) -> int:
            cookie = SimpleCookie(self.ask(port, "GET", "/_stcore/health", {}).getheader("Set-Cookie"))[XSRF].value
            headers = {"Content-Length": str(size), "Content-Type": "multipart/form-data; boundary=x"}
            if token:
                headers |= {"Cookie": f"{XSRF}={cookie}", "X-Xsrftoken": cookie}
            return self.ask(port, "PUT", path, headers).status

        return asyncio.run(come())

    def test_without_the_token_of_the_page_nothing_is_taken(self, port: int) -> None:
        assert self.upload(port, 0, token=False) == 403

    def test_with_it_the_limit_holds_before_anything_is_read(self, port: int) -> None:
        assert self.upload(port, 200 * MEGABYTE + 1, token=True) == 413
        assert self.upload(port, 0, token=True) == 400  # taken, and found to hold no file


@pytest.mark.slow
def test_the_shipped_app_is_behind_the_guard(app_server: str) -> None:
    def answer(path: str, name: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(app_server.removeprefix("http://"), timeout=60)
        connection.request("GET", path, headers={"Host": name})
        return connection.getresponse()

    for path in ("/", "/_stcore/health", "/masks"):
        refused, answered = answer(path, "elsewhere.test"), answer(path, "localhost:8501")
        assert (refused.status, answered.status) == (403, 200)
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert path.startswith("/_stcore") or "frame-ancestors 'self'" in answered.headers["content-security-policy"]
