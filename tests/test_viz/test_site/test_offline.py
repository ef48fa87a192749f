"""What is kept of the page without a server: it works without a network, and an update is not a mixture."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.server import end, free_port
from tests.support import PATIENCE
from viz.site import contents, pages

pytestmark = pytest.mark.slow

FIRST, SECOND = "Two dogs run.", "A cat sleeps."  # of the recorded pictures of two versions
TEXT = "A woman is reading a book."
KEPT = """async () => {
  await navigator.serviceWorker.ready;
  const names = (await caches.keys()).filter(name => name.startsWith("headlight "));
  const sizes = await Promise.all(names.map(async name => (await (await caches.open(name)).keys()).length));
  return [names.length, navigator.serviceWorker.controller !== null, sizes.every(size => size >= 6)].join();
}"""


def served(folder: Path, port: int) -> subprocess.Popen:
    """A plain web server of a folder below which the page has a folder of its own."""
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def shows(page: Page, url: str, text: str) -> None:
    page.goto("about:blank")
    page.goto(url)
    expect(page.get_by_test_id("stage-translation")).to_have_text(text, timeout=PATIENCE)


def test_it_works_without_a_network_and_an_update_is_whole(browser: Browser, tmp_path: Path) -> None:
    model, translator = contents.read_model("en-de")
    out = tmp_path / "course" / "site"
    first, second = (contents.first_message(translator, text) for text in (FIRST, SECOND))
    pages.write_folder(out, [model], first)
    port = free_port()
    url = f"http://127.0.0.1:{port}/course/site/"
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    translations = {text: translator.translate(text).text for text in (FIRST, SECOND, TEXT)}
    server = served(tmp_path, port)
    try:
        shows(page, f"{url}#text={TEXT}", translations[TEXT])
        page.wait_for_function(f"({KEPT})().then(kept => kept === '1,true,true')", timeout=PATIENCE)
        end(server)
        shows(page, f"{url}#text={FIRST}", translations[FIRST])  # with weights that were fetched before
        pages.write_folder(out, [model], second)
        shows(page, f"{url}#text={TEXT}", translations[TEXT])  # the old version, whole
        server = served(tmp_path, port)
        page.route("**/*.safetensors*", lambda route: route.abort())
        old = page.evaluate("caches.keys()")
        shows(page, f"{url}#text={TEXT}", translations[TEXT])  # the new one, with weights that are the same
        page.wait_for_function(
            f"old => ({KEPT})().then(async kept => kept === '1,true,true' && String(await caches.keys()) !== old)",
            arg=",".join(old),
            timeout=PATIENCE,
        )
        end(server)
        shows(page, f"{url}#text={SECOND}", translations[SECOND])
        scripts = page.evaluate("Array.from(document.scripts, script => script.src).filter(Boolean)")
        (script,) = out.glob("headlight-*.js")
        assert [Path(source).name for source in scripts] == [script.name]
        assert errors == []
    finally:
        end(server)
        context.close()
