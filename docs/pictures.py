"""Takes the pictures of the README from the running app, so that they stay true.

    python -m docs.pictures

Needs what `make test` installs. Writes headlight.webp, a short animation (a sentence is typed, lines appear, a head
goes off, the translation changes), one picture per group of pages, and phone.webp, of the page without a server.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image

from benchmarks.browsing import PATIENCE, chromium
from benchmarks.support.server import serve
from viz.__main__ import main as command

DOCS = Path(__file__).parent
WINDOW = {"width": 1280, "height": 720}
TYPED = (
    "My mother said",
    "My mother said that she would come",
    "My mother said that she would come home early.",
)
LAYER, HEAD = 1, 3  # of the cross-attention: without it the sentence is said in another order
QUALITY = 80
PAGES = {
    "translate": "",
    "steer": f"steer?text={quote(TYPED[-1])}&edits=v1_oc{LAYER}-{HEAD}",
    "lessons": "lessons?lesson=attention-1",
    "atlas": "atlas",
}


def ready(page: Any, more_than: int = 0) -> None:
    """Wait until the stage has drawn more messages than that, or a page its figures."""
    page.wait_for_function(
        """before => {
          const stage = document.querySelector('.hl-stage');
          if (stage) return Number(stage.dataset.ready ?? 0) > before && stage.querySelector('.main-svg');
          return document.querySelector('.hl-figure :is(.main-svg, .hl-head-board), .hl-sheet[data-ready]');
        }""",
        arg=more_than,
    )
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
    )
    page.wait_for_timeout(800)


def drawn(page: Any) -> int:
    """How many messages the stage has drawn."""
    return int(page.locator(".hl-stage").get_attribute("data-ready"))


def animation(page: Any, url: str) -> None:
    """Play the short story and write it as one moving picture."""
    frames: list[tuple[Image.Image, int]] = []

    def take(milliseconds: int) -> None:
        frames.append((Image.open(io.BytesIO(page.screenshot())).convert("RGB"), milliseconds))

    page.goto(f"{url}/steer?text=A")
    ready(page)
    field = page.locator(".st-key-sentence input")
    for text in TYPED:
        before = drawn(page)
        field.fill(text)
        field.press("Enter")
        ready(page, before)
        take(900)
    part = page.get_by_test_id
    for word in ("sagte", "würde"):
        part("stage-target").get_by_text(word, exact=True).first.hover()
        page.wait_for_timeout(400)
        take(1200)
    tile = page.locator(f"[data-testid=stage-heads] [data-layer='{LAYER}'][data-head='{HEAD}']")
    tile.click()
    tile.hover()
    page.wait_for_timeout(400)
    take(900)
    before = drawn(page)
    tile.get_by_test_id("stage-off").click()
    ready(page, before)
    page.mouse.move(WINDOW["width"] - 5, WINDOW["height"] // 2)
    page.wait_for_timeout(400)
    take(2600)
    first, *others = [frame for frame, _ in frames]
    times = [milliseconds for _, milliseconds in frames]
    more = {"save_all": True, "append_images": others, "duration": times, "loop": 0}
    first.save(DOCS / "headlight.webp", quality=QUALITY, method=6, **more)


def phone(browser: Any) -> None:
    """Take the page without a server as a phone shows it, from disk and offline: two halves beside each other."""
    size = {"width": 400, "height": 640}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "stage.html")
        command(["stage", TYPED[-1], "--live", "--out", str(file)])
        page = browser.new_context(viewport=size, device_scale_factor=1.5, offline=True).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{file.as_uri()}#page=steer&edits=v1_oc{LAYER}-{HEAD}")
        page.get_by_test_id("stage-changes").locator(".hl-chip").wait_for()
        page.wait_for_timeout(1500)
        upper = Image.open(io.BytesIO(page.screenshot()))
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(500)
        lower = Image.open(io.BytesIO(page.screenshot()))
    both = Image.new("RGB", (2 * upper.width + 24, upper.height), "white")
    both.paste(upper, (0, 0))
    both.paste(lower, (upper.width + 24, 0))
    both.save(DOCS / "phone.webp", quality=QUALITY, method=6)


def main() -> None:
    """Take all pictures."""
    with serve() as url, chromium() as browser:
        page = browser.new_context(viewport=WINDOW).new_page()
        page.set_default_timeout(PATIENCE)
        for name, address in PAGES.items():
            page.goto(f"{url}/{address}")
            ready(page)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.save(DOCS / f"{name}.webp", quality=QUALITY, method=6)
        animation(page, url)
        phone(browser)


if __name__ == "__main__":
    main()
