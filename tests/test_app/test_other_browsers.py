"""The first page of the app, and Steer, in Firefox and in WebKitGTK."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from model.interventions.edits import Edits
from tests.support.other_browsers import CLICK, DRAWS, READS, firefox, numbers, webkit

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1)]  # these browsers begin slowly on a busy machine

FIRST, TEXT = "A man is riding a bicycle.", "The animal was too tired."
# React notices a value only when the setter of the element itself is called.
TYPE = """
  const box = document.querySelector("input[aria-label='English sentence']");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, arguments[0]);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
"""


@pytest.mark.parametrize("start", [firefox, webkit])
def test_a_sentence_a_head_and_a_change(start, app_server: str, recorded) -> None:
    with start() as browser:
        browser.go(f"{app_server}/?text={quote(FIRST)}")
        browser.wait(READS, recorded.translate(FIRST).text)
        browser.run(TYPE, TEXT)
        result = recorded.translate(TEXT)
        browser.wait(READS, result.text)
        browser.wait(CLICK, "[data-layer='1'][data-head='2']")
        browser.wait(DRAWS, numbers(result.attention("cross")[1, 2]))
        browser.go(f"{app_server}/steer?text={quote(TEXT)}")
        browser.wait(READS, result.text)
        browser.wait(CLICK, "[data-layer='0'][data-head='3'] [data-testid=stage-off]")
        browser.wait("return Boolean(document.querySelector('[data-code=oc0-3]'))")
        browser.wait(READS, recorded.translate(TEXT, edits=Edits.from_code("v1_oc0-3")).text)
