"""What the app gives the engine in a visitor's browser: its modules and kernels, and the files of checkpoints.

Each has a hash of its contents in its address, so that browsers keep it.
"""

import hashlib
from functools import cache, lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from viz.stage.assets import root
from viz.stage.files import WEB, read_files

KERNELS = {"relaxed": "kernel.relaxed.wasm", "simd": "kernel.wasm"}  # the fastest first
PARTS = {"config": "config.json", "tokenizer": "tokenizer.json", "weights": "model.safetensors"}
MOST = 100_000_000  # bytes of weights that are sent to a browser
_ENGINE = WEB / "engine"
_TYPES = {".js": "text/javascript", ".wasm": "application/wasm"}
_KEPT = {"cache-control": "private, max-age=86400"}
_offered: dict[str, Path] = {}  # folders of checkpoints by the hash of their weights


@cache
def _modules() -> dict[str, bytes]:
    return read_files(_ENGINE, ["."], _TYPES)


@cache
def _version() -> str:
    return hashlib.blake2b(b"\0".join(_modules().values()), digest_size=8).hexdigest()


@lru_cache(maxsize=64)
def _hash(path: Path, modified: float) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def engine_address(name: str) -> str:
    """The address of a module or a kernel of the engine."""
    return f"{root()}/headlight/engine/{_version()}/{name}"


def offer(folder: Path) -> dict[str, str] | None:
    """Let browsers fetch a checkpoint.

    Returns:
        The addresses of PARTS; None where it has other files, or more than MOST bytes of weights.
    """
    paths = [folder / name for name in PARTS.values()]
    if not all(path.is_file() for path in paths) or paths[-1].stat().st_size > MOST:
        return None
    key = _hash(paths[-1], paths[-1].stat().st_mtime)
    _offered[key] = folder
    return {part: f"{root()}/headlight/checkpoint/{key}/{name}" for part, name in PARTS.items()}


async def _engine(request: Request) -> Response:
    name = request.path_params["name"]
    content = _modules().get(name)
    if content is None:
        return Response(status_code=404)
    return Response(content, media_type=_TYPES[Path(name).suffix], headers=_KEPT)


async def _checkpoint(request: Request) -> Response:
    folder = _offered.get(request.path_params["key"])
    name = request.path_params["name"]
    if folder is None or name not in PARTS.values():
        return Response(status_code=404)
    return FileResponse(folder / name, media_type="application/octet-stream", headers=_KEPT)


def routes() -> list[BaseRoute]:
    """Where the app answers with them."""
    return [
        Route(f"{root()}/headlight/engine/{{version}}/{{name:path}}", _engine),
        Route(f"{root()}/headlight/checkpoint/{{key}}/{{name}}", _checkpoint),
    ]
