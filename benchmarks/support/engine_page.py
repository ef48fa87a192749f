"""Pages that have the engine of the browser, over HTTP: an empty one under a strict policy, and the site."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.support.server import ROOT

ENGINE = ROOT / "viz/web/engine"
KERNELS = {"relaxed": "/engine/kernel.relaxed.wasm", "simd": "/engine/kernel.wasm"}  # the fastest first
FILES = {"config": "config.json", "tokenizer": "tokenizer.json", "weights": "model.safetensors"}
# Opens the checkpoint in a worker, with these kernels; leaves `engine`, and in `received` how loading went on.
START = """async kernels => {
  const { Engine } = await import("/engine/client.js");
  window.engine = new Engine(new Worker("/engine/worker.js", { type: "module" }));
  window.received = [];
  const file = name => "/checkpoint/" + name;
  const files = { config: file("config.json"), tokenizer: file("tokenizer.json"), weights: file("model.safetensors") };
  return engine.load("model", files, kernels, count => received.push(count));
}"""
_TYPES = {".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json"}
_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"


@contextmanager
def serve_engine(checkpoint: Path) -> Iterator[str]:
    """Serve the page on a free port while the block runs; gives its address."""
    folders = {"engine": ENGINE, "checkpoint": checkpoint}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            folder, _, name = self.path.strip("/").partition("/")
            path = folders[folder] / name if folder in folders else None
            content = path.read_bytes() if path else b"<!DOCTYPE html><title>Engine</title>"
            self.send_response(200)
            self.send_header(
                "Content-Type", _TYPES.get(path.suffix, "application/octet-stream") if path else "text/html"
            )
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", _POLICY)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with _serve(Handler) as url:
        yield url


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve static files on a free port while the block runs; gives their address."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with _serve(Handler) as url:
        yield url


@contextmanager
def _serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
