"""What browsers run: our modules and styles, the Plotly of its Python package, and all of them as one HTML page.

The stage leaves the app as that page. alone.py and file.js put its message in the place of MARK: JSON with `parts` (by
address gzip in base64, the message itself under "") and `place` (what is open at first).
"""

import base64
import gzip
import hashlib
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from plotly import offline

TYPES = {".js": "text/javascript", ".css": "text/css"}
WEB = Path(__file__).parents[1] / "web"  # what browsers run
FOLDERS = ("recording", "stage", "plot", "lessons", "pages")  # of it, whose modules and styles pages of the app fetch
LATER = (
    "sheets",
    "engine/analysis",
    "engine/arithmetic",
    "engine/run",
    "engine/model",
)  # those that some pages fetch when they need them
ALONE = "stage/main/alone.js"  # begins the page that stands alone; no other page has it


def read_files(root: Path, folders: Iterable[str], types: Collection[str]) -> dict[str, bytes]:
    """Read all files with some endings below folders of a root, in order, by their path from the root."""
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*"))]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths if path.suffix in types}


EARLY = read_files(WEB, FOLDERS, TYPES)
FILES = EARLY | read_files(WEB, LATER, TYPES)
VERSION = hashlib.blake2b(b"\0".join(FILES.values()), digest_size=8).hexdigest()
MARK, LIBRARY = "@message@", "@plotly@"
_IMPORT = re.compile(r'^import (?:\* as )?(\w+|\{[^}]*\}) from "(\.\.?/[\w./]+)";$', re.M)
# Comments that have lines of their own, of which browsers make nothing.
_COMMENTS = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.M | re.S)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) (\w+))", re.M)
# Only the scripts of the page, which may ask nobody for anything; Plotly makes pictures of itself.
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'"
)
STYLE = """
:root { color-scheme: light dark; --st-font: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  :root { --st-primary-color: #7fb2e0; --st-background-color: #14181d; --st-secondary-background-color: #1f262e;
    --st-text-color: #e6eaee; --st-border-color: #39434e; }
}
body { margin: 12px 20px; background: var(--st-background-color, #fff); }
.hl-report { color: var(--st-text-color); font: 1rem/1.5 var(--st-font); overflow-wrap: anywhere; }
.hl-report :is(pre, table) { overflow-x: auto; display: block; }
.hl-report :is(th, td) { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; overflow-wrap: normal; }
"""


@cache
def plotly() -> bytes:
    """Gzipped, which takes a quarter of a second."""
    return gzip.compress(offline.get_plotlyjs().encode("utf-8"), 6, mtime=0)


def bundle(entry: str = ALONE, files: Mapping[str, bytes] = FILES) -> str:
    """A module of `files` and all that it imports as one script, which browsers also run from a file."""
    return f'"use strict";\nconst modules = {{}};\n{_join(_scripts(entry, files))}'


def bundle_later(entry: str, first: str, files: Mapping[str, bytes]) -> str:
    """As `bundle`, for a page that runs the script of `first` already: what that has comes from there.

    What the module exports is then `self.headlightLater`.
    """
    known = _scripts(first, files)
    ours = {name: script for name, script in _scripts(entry, files).items() if name not in known}
    return f'"use strict";\n{_join(ours)}self.headlightLater = modules["{entry}"];\n'


def _join(scripts: Mapping[str, str]) -> str:
    return "".join(scripts.values()).replace("</script", "<\\/script")


def _scripts(entry: str, files: Mapping[str, bytes]) -> dict[str, str]:
    """A module and all that it imports, each as a script that puts what it exports into `modules`, by name."""
    scripts: dict[str, str] = {}

    def add(name: str) -> None:
        source = files[name].decode("utf-8").replace("\r\n", "\n")

        def path(imported: str) -> str:
            return posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))

        for _, imported in _IMPORT.findall(source):
            if path(imported) not in scripts:
                add(path(imported))
        if any(not _EXPORT.match(line) for line in re.findall(r"^export .*", source, re.M)):
            raise ValueError(f"{name} exports something that is not a function, a class or a constant of one name")
        exported = ", ".join(match[1] for match in _EXPORT.findall(source))

        def constant(match: re.Match) -> str:
            return f'const {match[1].replace(" as ", ": ")} = modules["{path(match[2])}"];'

        body = _COMMENTS.sub("", _EXPORT.sub(r"\1", _IMPORT.sub(constant, source)))
        scripts[name] = f'modules["{name}"] = (() => {{\n{body}return {{ {exported} }};\n}})();\n'

    add(entry)
    return scripts


@cache
def page() -> str:
    """The page, with MARK in the place of its message."""
    return shell().replace(LIBRARY, base64.b64encode(plotly()).decode())


@cache
def shell() -> str:
    """The page, with LIBRARY in the place of Plotly (gzip in base64), too."""
    ours = bundle()
    hashes = (hashlib.sha256(script.encode()).digest() for script in (ours, offline.get_plotlyjs()))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    style = STYLE + FILES["stage/stage.css"].decode("utf-8")
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Headlight</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(scripts=scripts)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>\n'
        '<body><noscript>This page needs JavaScript.</noscript><main id="hl-place"></main>\n'
        f'<script type="text/plain" id="hl-plotly">{LIBRARY}</script>\n'
        f'<script type="application/json" id="hl-message">{MARK}</script>\n<script>{ours}</script></body></html>\n'
    )
