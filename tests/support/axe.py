"""What axe-core (Deque, MPL 2.0) objects to in a page; `package-lock.json` pins it, `make lint` installs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from tests.support.javascript import FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRIPT = FOLDER / "node_modules/axe-core/axe.min.js"
_RUN = """async (rules) => {
  const { violations } = await axe.run(document, rules ? { runOnly: rules } : {});
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, any, all, none }) => {
    const reasons = [...any, ...all, ...none].map(({ message }) => message).join('; ');
    return `${id}: ${help}. ${target.join(' ')}: ${reasons}`;
  }));
}"""


def findings(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """Run rules of axe-core, without names every one, over a page as it stands.

    Returns one text per rule and element, an empty list where all hold.

    The test is skipped where axe-core is not installed, and fails where CI says that it must be there.
    """
    if not SCRIPT.exists():
        reason = "no axe-core yet: make lint installs it"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    return page.evaluate(_RUN, rules)
