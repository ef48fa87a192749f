"""Waits until a page has taken its layout, which has no event of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FRAMES = 10  # in a row that look the same
# Parts that Streamlit loads late have a skeleton in their place; figures follow the size of their places.
_STILL = """([frames, patience]) => new Promise((done, fail) => {
  const parts = '[class*=st-key-], [class*=hl-], .js-plotly-plot, .main-svg, pre, [data-testid=stSkeleton]';
  const layout = () => {
    const boxes = Array.from(document.querySelectorAll(parts), part => part.getBoundingClientRect());
    return JSON.stringify(boxes.map(box => [box.x, box.y, box.width, box.height]));
  };
  const begun = performance.now();
  let before = '', same = 0;
  const look = () => {
    const now = layout();
    same = now === before && !document.querySelector('[data-testid=stSkeleton]') ? same + 1 : 0;
    before = now;
    if (same >= frames) done();
    else if (performance.now() - begun > patience) fail(new Error('the layout does not come to rest'));
    else requestAnimationFrame(look);
  };
  look();
})"""


def settle(page: Page) -> None:
    """Waits until the script of a page has run and nothing of the app moves any more, for several frames in a row."""
    page.wait_for_selector(".stApp[data-test-script-state=notRunning]", timeout=PATIENCE)
    page.evaluate(_STILL, [_FRAMES, PATIENCE])


def resize(page: Page, width: int, height: int) -> None:
    """Gives a page another size and waits until it has taken its layout there."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
