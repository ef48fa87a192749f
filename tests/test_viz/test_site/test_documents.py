"""The documents as pages of the folder: every link, anchor and picture is there, and no script but ours may run."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.support.repeated import first_quick
from viz.site import documents, head
from viz.text.language import LANGUAGES

PARTS = documents.pages()
NAMES = sorted(name for name in PARTS if name.endswith(".html"))


class Page(HTMLParser):
    """What a page says of itself and of others."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, attribute: str) -> list[str]:
        return [str(attrs[attribute]) for name, attrs in self.elements if name == tag and attribute in attrs]


OPENED = {name: Page(PARTS[name].decode()) for name in NAMES}


def test_every_document_of_the_readmes_table_is_a_page() -> None:
    readme = (documents.ROOT / "README.md").read_text(encoding="utf-8")
    table = {f"docs/{name}.html" for name in re.findall(r"\]\(docs/([\w-]+)\.md", readme)}
    assert table <= set(NAMES) and {"docs/index.html", "docs/changelog.html", "docs/contributing.html"} <= set(NAMES)
    assert sum(map(len, PARTS.values())) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere_and_pictures_are_there(name: str) -> None:
    page = OPENED[name]
    for link in page.all("a", "href"):
        place, _, anchor = link.partition("#")
        if place.startswith("../"):
            assert place == "../index.html"
        elif not place.startswith("https://"):
            target = f"docs/{place}" if place else name
            assert target in OPENED, link
            assert not anchor or anchor in [str(attrs.get("id")) for _, attrs in OPENED[target].elements], link
    assert all(f"docs/{source}" in PARTS for source in page.all("img", "src"))
    assert all(page.all("img", "alt")) and len(page.all("img", "alt")) == len(page.all("img", "src"))


@pytest.mark.parametrize("name", first_quick(NAMES, 2))
def test_a_page_may_run_nothing_and_fetch_nothing_from_elsewhere(name: str) -> None:
    (policy,) = [str(attrs["content"]) for tag, attrs in OPENED[name].elements if attrs.get("http-equiv")]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "'self' data:"
    assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["script-src"])
    assert not [tag for tag, attrs in OPENED[name].elements if tag in ("script", "iframe") and "src" in attrs]


@pytest.mark.parametrize("address", ["", "https://example.org/course"])
def test_each_language_has_a_page_with_its_title_that_names_the_others(address: str) -> None:
    titles = set()
    for language in LANGUAGES:
        page = Page(head.language_page(language, address))
        assert page.all("html", "lang") == [language]
        start = f"{address}/" if address else ""
        places = dict(zip(page.all("link", "hreflang"), page.all("link", "href")[1:]))
        assert places == {"x-default": start or "./"} | {code: f"{start}{code}.html" for code in LANGUAGES}
        contents = [str(attrs["content"]) for tag, attrs in page.elements if attrs.get("name") == "description"]
        titles |= {page.text.split("\n")[1], *contents}
        cards = {attrs["property"]: attrs["content"] for tag, attrs in page.elements if "property" in attrs}
        expected = (f"{address}/{language}.html", language) if address else (None, None)
        assert (cards.get("og:url"), cards.get("og:locale")) == expected
    assert len(titles) == 2 * len(LANGUAGES)
