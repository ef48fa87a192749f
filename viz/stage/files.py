"""What browsers run: our modules and styles, and the Plotly that its Python package ships."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

from plotly import offline

FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "ui")
TYPES = {".js": "text/javascript", ".css": "text/css"}
ALONE = "alone.js"  # begins the page that stands alone; no other page has it
FILES = {
    path.name: path.read_bytes() for folder in FOLDERS for path in sorted(folder.iterdir()) if path.suffix in TYPES
}
VERSION = hashlib.blake2b(b"\0".join(FILES.values()), digest_size=8).hexdigest()


@cache
def plotly() -> tuple[str, bytes]:
    """The hash and the gzipped source of Plotly; takes a quarter of a second."""
    source = offline.get_plotlyjs().encode("utf-8")
    return hashlib.blake2b(source, digest_size=8).hexdigest(), gzip.compress(source, 6)
