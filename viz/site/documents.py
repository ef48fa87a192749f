"""The documents of the repository as pages below docs/ of the folder, with their pictures.

Links between documents lead from page to page; what only the repository has is left as text.
"""

import hashlib
import html
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from viz.site import contents, head
from viz.stage import files

ROOT = Path(__file__).parents[2]
FOLDER = "docs"
FIRST, START = "README.md", f"{FOLDER}/index.html"
_OTHERS = ("CONTRIBUTING.md", "CHANGELOG.md")
_SCROLLED = {
    "<pre>": '<pre tabindex="0">',
    "<table>": '<div class="wide" tabindex="0"><table>',
    "</table>": "</table></div>",
}
# Heads of tables that name nothing, which screen readers would read out, and cells of those that name something.
_NO_HEAD = re.compile(r"<thead>\s*<tr>\s*(?:<th></th>\s*)+</tr>\s*</thead>\s*")
_NO_NAME = re.compile(r"<th></th>")
# The theme that the visitor has chosen beside the stage.
_THEME = """try {
  document.documentElement.dataset.theme = localStorage.getItem("headlight-theme") ?? "";
} catch {}"""
_POLICY = (
    f"default-src 'none'; script-src {head.hash_of(_THEME)}; style-src 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)


def pages() -> dict[str, bytes]:
    """Every page and picture by its name in the folder; nothing where the repository is not there, as in a package."""
    sources = _sources()
    if FIRST not in sources:
        return {}
    titles = {name: _title(text) for name, text in sources.items()}
    pictures: dict[str, bytes] = {}
    result = {}
    for name, text in sources.items():
        body = _Document(name, sources, pictures).render(text)
        result[f"{FOLDER}/{_page_of(name)}"] = _html(name, body, titles).encode()
    return result | pictures


def _sources() -> dict[str, str]:
    """The documents by their place in the repository, the first one first."""
    paths = [ROOT / FIRST, *sorted((ROOT / FOLDER).glob("*.md")), *(ROOT / name for name in _OTHERS)]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths if path.is_file()}


def _page_of(name: str) -> str:
    return "index.html" if name == FIRST else f"{Path(name).stem.lower()}.html"


def _title(text: str) -> str:
    match = re.search(r"^# (.+)$", text, re.M)
    return match[1] if match else "Headlight"


class _Document:
    """One document; its links lead to those of `sources`, and its pictures are put into `pictures`."""

    def __init__(self, name: str, sources: Mapping[str, str], pictures: dict[str, bytes]) -> None:
        self._name, self._sources, self._pictures = name, sources, pictures

    def render(self, text: str) -> str:
        """The document as HTML; `html`: it is ours, and the policy of the page lets no script of it run."""
        markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
        tokens = markdown.parse(text)
        for place, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", _slug(tokens[place + 1].content))
            if token.children:
                token.children = list(self._inline(token.children))
            if token.type in ("fence", "code_block"):
                token.info = ""
        rendered = markdown.renderer.render(tokens, markdown.options, {})
        # A wide table or program is scrolled, also by keyboard.
        for tag, instead in _SCROLLED.items():
            rendered = rendered.replace(tag, instead)
        return _NO_NAME.sub("<td></td>", _NO_HEAD.sub("", rendered))

    def _inline(self, tokens: list[Token]) -> Iterator[Token]:
        """The parts of a line, with links that lead somewhere."""
        is_dropped = False
        for token in tokens:
            if token.type == "link_open":
                target = self._target(str(token.attrs["href"]))
                is_dropped = target is None
                if target is None:
                    continue
                token.attrSet("href", target)
            elif token.type == "link_close" and is_dropped:
                is_dropped = False
                continue
            elif token.type == "image":
                token.attrSet("src", self._picture(str(token.attrs["src"])))
                token.attrSet("loading", "lazy")
            yield token

    def _path(self, place: str) -> str:
        """A place that the document names, from the root of the repository."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self._name), place))

    def _target(self, link: str) -> str | None:
        """Where a link leads from the page; None where the folder has nothing of it."""
        if link.startswith(("#", "https://")):
            return link
        place, _, anchor = link.partition("#")
        path = self._path(place)
        if path not in self._sources:
            return None
        return _page_of(path) + (f"#{anchor}" if anchor else "")

    def _picture(self, place: str) -> str:
        """The address of a picture from the page."""
        path = ROOT / self._path(place)
        content = path.read_bytes()
        name = f"{path.stem}-{hashlib.blake2b(content, digest_size=6).hexdigest()}{path.suffix}"
        self._pictures[f"{FOLDER}/{name}"] = content
        return name


def _slug(heading: str) -> str:
    """The anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _html(name: str, body: str, titles: Mapping[str, str]) -> str:
    style = files.STYLE + "".join(contents.modules()[f"site/{part}.css"].decode() for part in ("site", "documents"))
    items = "".join(
        f'<li><a href="{_page_of(other)}"{" aria-current=page" if other == name else ""}>'
        f"{html.escape(title if other != FIRST else 'Start')}</a></li>"
        for other, title in titles.items()
    )
    title = titles[name] if name == FIRST else f"{titles[name]} · Headlight"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head.tags(title=title)}<script>{_THEME}</script><style>{style}</style></head>\n"
        f'<body class="document"><header><a class="brand" href="../index.html">Headlight</a></header>\n'
        f'<nav aria-label="Documents"><ul>{items}</ul></nav>\n<main>{body}</main></body></html>\n'
    )
