"""What stands in the head of every page of the folder: title and description by language, where the others are."""

import base64
import hashlib
import html
from collections.abc import Iterable
from pathlib import Path

from viz.text.language import ENGLISH, LANGUAGES, message, say, using

TITLE = message("Headlight: where a Transformer looks")
ABOUT = message("See where a Transformer looks: every attention map of every head, translated live in your browser.")
PREVIEW = "preview.webp"  # what others show of a link
# A page of a language has no more than this: it leads to the one page that has all of them, with what its address says.
_LEAD = """{
  const query = new URLSearchParams(location.hash.slice(1));
  if (!query.has("lang")) query.set("lang", "LANGUAGE");
  location.replace(`${location.protocol === "file:" ? "index.html" : "./"}#${query}`);
}"""
_POLICY = "default-src 'none'; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"


def page_of(language: str) -> str:
    """The name of the page that opens in a language."""
    return f"{language}.html"


def tags(address: str = "", language: str = "", title: str = "") -> str:
    """Title, description and icon; with an address also what others show of a link.

    Args:
        address: where the folder will be given out; "" where that is not known.
        language: of the page, English where it is ""; that one speaks the language of its visitor.
        title: of a page that has one of its own.
    """
    with using(language or ENGLISH):
        title, about = title or say(TITLE), say(ABOUT)
    described = f'<title>{html.escape(title)}</title><meta name="description" content="{html.escape(about)}">'
    icon = f'<link rel="icon" href="data:image/svg+xml;base64,{_icon()}">'
    return described + icon + (_social(address, language, title, about) if address else "")


def alternates(address: str = "") -> str:
    """Where the page opens in each language: whole addresses where the folder's is known."""
    start = f"{address.rstrip('/')}/" if address else ""
    links = [("x-default", start or "./"), *((language, start + page_of(language)) for language in LANGUAGES)]
    return "".join(f'<link rel="alternate" hreflang="{code}" href="{html.escape(place)}">' for code, place in links)


def language_page(language: str, address: str = "") -> str:
    """The page that opens in a language, for links and for those who look for it in that language."""
    script = _LEAD.replace("LANGUAGE", language)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(script=hash_of(script))}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{tags(address, language)}{alternates(address)}<script>{script}</script></head>\n"
        f"<body><main><h1>Headlight</h1><p>{' · '.join(_links())}</p></main></body></html>\n"
    )


def _links() -> Iterable[str]:
    for code, name in LANGUAGES.items():
        yield f'<a href="index.html#lang={code}" hreflang="{code}" lang="{code}">{name}</a>'


def _social(address: str, language: str, title: str, about: str) -> str:
    start = address.rstrip("/")
    url = f"{start}/{page_of(language)}" if language else address
    properties = {"title": title, "type": "website", "url": url, "image": f"{start}/{PREVIEW}", "description": about}
    properties["locale"] = language or ENGLISH
    parts = "".join(f'<meta property="og:{name}" content="{html.escape(text)}">' for name, text in properties.items())
    return f'{parts}<meta name="twitter:card" content="summary_large_image">'


def hash_of(script: str) -> str:
    """A script as policies name it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _icon() -> str:
    return base64.b64encode((Path(__file__).parents[1] / "app" / "icon.svg").read_bytes()).decode()
