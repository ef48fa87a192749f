"""Sheets as the app's browser makes them, by Node: its files are asked of Python over loopback."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tests.support.javascript import node
from viz.stage.payload.packing import pack
from viz.ui import sheets

SCRIPT = Path(__file__).with_name("make_sheets.js")


def made_sheets(
    page: sheets.Sheet,
    told: Mapping[str, Any],
    addresses: Sequence[Mapping[str, str]],
    asks: Mapping[str, str] = {},
    language: str = "en",
) -> list[dict[str, Any]]:
    """The sheet of each address, with what it "missed"; where there is none, why, as "problem".

    Args:
        told, asks: what the page gives `viz.ui.sheets.show`.
    """

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = dict(parse_qsl(self.path.partition("?")[2], keep_blank_values=True))
            answer = sheets.answer(page, language, query)
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is written."""

    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = Path(folder, "told")
        path.write_bytes(pack(dict(told)))
        job = {"name": page.NAME, "told": str(path), "address": f"http://127.0.0.1:{server.server_port}/"}
        job |= {"addresses": list(addresses), "asks": dict(asks), "language": language}
        Path(folder, "job.json").write_text(json.dumps(job), encoding="utf-8")
        finished = node(SCRIPT, Path(folder, "job.json"))
        server.shutdown()
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)
