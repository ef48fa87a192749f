"""Writes the page without a server: as a folder of static files, or as one HTML file.

Both have the same script, the modules of viz/web joined; what is a file of the folder stands in base64 in the one
file, from where the page reads it by its name.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plotly import offline

from viz.site import contents, documents, head
from viz.site.contents import Lessons, Model, Sheet
from viz.site.head import PREVIEW, hash_of
from viz.stage import files
from viz.stage.payload.packing import pack
from viz.text.language import LANGUAGES, current

PAGE, WORKER, SHEETS = "site/main.js", "engine/worker.js", "site/sheets.js"
SERVICE, SERVICE_MODULE = "service_worker.js", "site/service_worker.js"
STYLES = ("stage/stage", "plot/plot", "pages/frame", "pages/film", "lessons/lessons", "sheets/sheet", "site/site")
PLOTLY, FIRST, SHELL = "plotly", "first", "shell"
PICTURE = Path(__file__).parents[2] / "docs" / "translate.webp"  # for who links to the page
LIST = "files.txt"  # what a build has written into a folder
PIECE = 100_000  # characters; a multiple of four, so that each piece is base64 of its own
_POLICY = (
    "default-src 'none'; script-src {scripts} 'wasm-unsafe-eval'; worker-src {worker}; connect-src {connect}; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def write_folder(
    folder: Path,
    models: Sequence[Model],
    first: bytes,
    lessons: Lessons | None = None,
    address: str = "",
    sheets: Sequence[Sheet] = (),
) -> int:
    """Write the page into a folder, which is made; returns how many bytes it has.

    `address`: where it will be given out; then who links to it sees a picture of it.

    Names of large files hold a hash of what is in them, so that browsers may keep them. What an older build left in the
    folder is removed, by the list that it wrote.
    """
    script, worker = (files.bundle(entry, contents.modules()).encode() for entry in (PAGE, WORKER))
    later = files.bundle_later(SHEETS, PAGE, contents.modules()).encode()
    names = {"headlight": script, "engine": worker, "sheets": later}
    parts = {_named(name, content, ".js"): content for name, content in names.items()}
    script_name, worker_name, sheets_name = parts
    addresses = {}
    for name, content in _resources(models, first).items():
        addresses[name] = _named(name, content, ".bin")
        parts[addresses[name]] = content
    for name, path, content in (*_lesson_parts(lessons), *_sheet_parts(sheets)):
        parts[path] = content
        if name:
            addresses[name] = path
    settings = contents.settings(models) | {
        "files": addresses,
        "worker": worker_name,
        "sheets": sheets_name,
        "service": SERVICE,
    }
    policy = _POLICY.format(scripts=f"'self' {hash_of(offline.get_plotlyjs())}", worker="'self'", connect="'self'")
    if address and PICTURE.is_file():
        parts[PREVIEW] = PICTURE.read_bytes()
    parts |= documents.pages()
    for language in LANGUAGES:
        parts[head.page_of(language)] = head.language_page(language, address).encode()
    script = f'<script src="{script_name}" defer></script>'
    about = head.tags(address) + head.alternates(address)
    if documents.START in parts:
        settings["documents"] = documents.START
    parts["index.html"] = _html(policy, settings, script, about).encode()
    core = [script_name, worker_name, sheets_name, *(addresses[name] for name in (PLOTLY, FIRST, SHELL))]
    parts[SERVICE] = _service_worker(parts, core)
    _replace(folder, parts)
    return sum(map(len, parts.values()))


def _service_worker(parts: Mapping[str, bytes], core: Sequence[str]) -> bytes:
    """What keeps the page for visits without a network: a script that knows its files, and those it begins with."""
    names = sorted(parts)
    version = _digest("".join(f"{name} {_digest(parts[name])}\n" for name in names).encode())
    pages = [head.page_of(language) for language in LANGUAGES]
    build = json.dumps({"version": version, "core": core, "pages": pages, "files": names})
    return f"self.headlight = {build};\n{files.bundle(SERVICE_MODULE, contents.modules())}".encode()


def _lesson_parts(lessons: Lessons | None) -> Iterator[tuple[str, str, bytes]]:
    """The files of the lessons: the name by which the page knows one, path and content. States are known to indexes."""
    if lessons is None:
        return
    cells = {name: _packed_file(f"lessons/{name}", content) for name, content in lessons.cells.items()}
    yield from (("", *file) for file in cells.values())
    for language, index in lessons.indexes.items():
        states = {
            name: _packed_file(f"lessons/{language}/{name}", content)
            for name, content in lessons.states[language].items()
        }
        yield from (("", *file) for file in states.values())
        addresses = {name: path for name, (path, _) in (cells | states).items()}
        yield f"lessons-{language}", *_packed_file(f"lessons/{language}/index", pack({**index, "files": addresses}))


def _sheet_parts(sheets: Sequence[Sheet]) -> Iterator[tuple[str, str, bytes]]:
    """The files of the sheets: the name by which the page knows one, path and content."""
    for sheet in sheets:
        for language, told in sheet.told.items():
            yield f"{sheet.name}-{language}", *_packed_file(f"{sheet.name}/{language}", pack(dict(told)))
        for name, content in sheet.files.items():
            yield f"{sheet.name}/{name}", *_packed_file(f"{sheet.name}/{name}", content)


def _packed_file(name: str, content: bytes) -> tuple[str, bytes]:
    compressed = gzip.compress(content, 6, mtime=0)
    return _named(name, compressed, ".bin"), compressed


def _replace(folder: Path, parts: Mapping[str, bytes]) -> None:
    """Write files by their names, and remove those of the last build that are not among them.

    LIST names what a build has written, with a hash of it: no other file is removed, and none that was changed since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    old = _listed(folder)
    new = {name: _digest(content) for name, content in parts.items()}
    _write_list(folder, old | new)
    for name, content in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name in old.keys() - new.keys():
        path = folder / name
        if path.is_file() and _digest(path.read_bytes()) == old[name]:
            path.unlink()
            for parent in path.parents:
                if parent == folder or any(parent.iterdir()):
                    break
                parent.rmdir()
    _write_list(folder, new)


def _listed(folder: Path) -> dict[str, str]:
    """The hashes of what the last build has written, by name; nothing outside of the folder."""
    path = folder / LIST
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    names = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    root = folder.resolve()
    return {name: digest for name, digest in names.items() if name and (root / name).resolve().is_relative_to(root)}


def _write_list(folder: Path, digests: Mapping[str, str]) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    (folder / LIST).write_text(text, encoding="utf-8")


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def one_file(model: Model, first: bytes, text: str, beam: int) -> bytes:
    """The page as one HTML file, which fetches nothing; it speaks the language of here unless its address says else."""
    models = [model]
    script, worker = (files.bundle(entry, contents.modules()) for entry in (PAGE, WORKER))
    settings = contents.settings(models, text, beam) | {"language": current()}
    policy = _POLICY.format(
        scripts=f"{hash_of(script)} {hash_of(offline.get_plotlyjs())}", worker="blob:", connect="'none'"
    )
    pieces = {name: _pieces(name, base64.b64encode(data).decode()) for name, data in _resources(models, first).items()}
    weights = [pieces.pop(f"{model.name}/{file}") for file in model.files]
    # The script begins with the recorded picture before the weights are read.
    parts = [
        *pieces.values(),
        _data("hl-worker", json.dumps(worker).replace("<", "\\u003c")),
        f"<script>{script}</script>",
    ]
    parts += weights
    return _html(policy, settings, "\n".join(parts), head.tags()).encode()


def _resources(models: Sequence[Model], first: bytes) -> dict[str, bytes]:
    """The large files, compressed, by the names that the page knows them by.

    FIRST is the message that is drawn before the weights are there, SHELL the page that a stage is kept as.
    """
    ours = {FIRST: first, SHELL: files.shell().encode()}
    compressed = {name: gzip.compress(content, 9, mtime=0) for name, content in ours.items()}
    of_models = {f"{model.name}/{file}": data for model in models for file, data in model.files.items()}
    return {PLOTLY: files.plotly()} | compressed | of_models


def _named(name: str, content: bytes, suffix: str) -> str:
    return f"{name}-{hashlib.blake2b(content, digest_size=6).hexdigest()}{suffix}"


def _data(name: str, content: str) -> str:
    return f'<script type="text/plain" id="{name}">{content}</script>'


def _pieces(name: str, content: str) -> str:
    """A large file in pieces: WebKit takes half a minute to read one text of 20 MB."""
    pieces = (content[start : start + PIECE] for start in range(0, len(content), PIECE))
    return "".join(f'<script type="text/plain" data-file="{name}">{piece}</script>' for piece in pieces)


def _html(policy: str, settings: Mapping[str, object], scripts: str, about: str) -> str:
    style = files.STYLE + "".join(contents.modules()[f"{name}.css"].decode() for name in STYLES)
    payload = json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{about}<style>{style}</style></head>\n'
        '<body><noscript>This page needs JavaScript.</noscript><main id="hl-place"></main>\n'
        f"{_data('hl-settings', payload)}\n{scripts}</body></html>\n"
    )
