"""The engine in Chromium, in a worker: as Python answers, with progress, and without answers that nobody wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.support.engine_page import ENGINE, FILES, KERNELS, START, serve_engine
from model import load_translator
from model.interventions.edits import Edits, Head
from model.running.translator import Translator
from model.storage.checkpoint import checkpoints_folder
from tests.test_viz.test_web.test_engine.comparing import WEIGHTS, Request, near

pytestmark = pytest.mark.slow

TEXT = "The animal didn't cross the street because it was too tired."
FOLDER = checkpoints_folder() / "en-de"
# Arrays do not come out of a page as such.
TRANSLATE = """async request => {
  const { text, predicted_ids, attention, log_probabilities } = await engine.translate("model", request);
  const flat = Object.entries(attention).map(([kind, { data, shape }]) => [kind, [Array.from(data), shape]]);
  return { text, predicted_ids, logs: Array.from(log_probabilities), attention: Object.fromEntries(flat) };
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve_engine(FOLDER) as url:
        yield url


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator("en-de")


@pytest.fixture
def site(browser, address: str) -> Iterator[Any]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


@pytest.mark.parametrize("kernel", ["relaxed", "simd", "plain"])
def test_a_page_gets_what_python_computes(site, translator: Translator, kernel: str) -> None:
    ready = site.evaluate(START, {kernel: KERNELS[kernel]} if kernel in KERNELS else {})
    assert ready["kernel"] == kernel
    requests = [
        Request(TEXT),
        Request(TEXT, 1, Edits(off=tuple(Head("cross", 1, head) for head in range(8)))),
        Request("🐈 שלום!", 2),
    ]
    for request in requests:
        answer, result = site.evaluate(TRANSLATE, request.for_engine()), request.by_python(translator)
        assert answer["text"] == result.text
        assert answer["predicted_ids"] == result.predicted_ids
        near(answer["logs"], result.log_probabilities, 1e-4)
        for kind, (numbers, shape) in answer["attention"].items():
            near(np.reshape(numbers, shape), result.attention(kind), WEIGHTS)


def test_loading_says_how_far_it_has_come_and_is_remembered(site, address: str) -> None:
    site.evaluate(START, KERNELS)
    received = site.evaluate("received")
    files = [*(FOLDER / name for name in FILES.values()), *(ENGINE / url.split("/")[-1] for url in KERNELS.values())]
    assert len(received) > 5
    assert received == sorted(received)
    assert received[-1] == sum(file.stat().st_size for file in files)
    fetched = []
    again = site.context.new_page()
    again.on("response", lambda response: fetched.append(response.url))
    again.goto(address)
    again.evaluate(START, KERNELS)
    assert not [url for url in fetched if url.endswith(".safetensors")]


def test_an_answer_that_is_no_longer_wanted_is_dropped(site, translator: Translator) -> None:
    site.evaluate(START, KERNELS)
    long = "The animal was tired and hungry and cold " * 10
    answers = site.evaluate(
        """async ([long, short]) => {
          const ask = (text, lane) => engine.translate("model", { text, beam: 8 }, { lane });
          const first = ask(long, "left");
          const other = ask(short, "right");
          await new Promise(done => setTimeout(done, 50));
          const all = Promise.all([first, other, ask(long, "left"), ask(short, "left")]);
          const texts = (await all).map(answer => answer && answer.text);
          const cancelled = ask(long, "left");
          engine.cancel("left");
          return [...texts, await cancelled];
        }""",
        [long, TEXT],
    )
    text = translator.translate(TEXT, beam=8).text
    assert answers == [None, text, None, text, None]


def test_what_is_wrong_is_said_in_one_sentence(site) -> None:
    site.evaluate(START, KERNELS)
    script = """async request => {
      try { await engine.translate("model", request); } catch ({ message, template, values }) {
        return [message, template, values];
      }
    }"""
    assert site.evaluate(script, {"text": " \n "}) == ["there is nothing to translate: type a sentence"] * 2 + [{}]
    message, template, values = site.evaluate(script, {"text": "word " * 500})
    assert message == "the text has 2,500 characters; at most 2,000 are allowed"
    assert template == "{what} has {n:,} characters; at most {most:,} are allowed"
    off = {"kind": "cross", "layer": 3, "head": 0}
    message, _, _ = site.evaluate(script, {"text": "word", "edits": {"off": [off]}})
    assert message == "layers of the cross-attention are 0 to 2, got layer 3"


# What is asked about one text, one thing after the other; numbers of each answer, and the order in which they came.
ASK = """async text => {
  const sums = value => ArrayBuffer.isView(value) ? Array.from(value)
    : value && typeof value === "object" ? Object.values(value).map(sums) : value;
  const cell = (layer, head) => ({ why: { kind: "encoder_self", layer, head, row: 2, key: null } });
  const numbers = [], order = [];
  const others = [{ row: cell(1, 2).why }, { effects: { against: null } }];
  for (const also of [cell(1, 2), cell(2, 3), cell(1, 2), ...others, cell(2, 3)]) {
    const { why, row, effects, attention } = await engine.translate("model", { text }, { also });
    numbers.push([sums(why), sums(row), sums(effects), sums(attention)]);
  }
  const look = name => answer => { order.push(name); return answer; };
  const shares = engine.translate("model", { text }, { lane: "shares", also: { shares: true } }).then(look("shares"));
  await engine.translate("model", { text }, { lane: "why", also: cell(2, 5) }).then(look("why"));
  await engine.translate("model", { text: text + text }, { lane: "stage" }).then(look("other"));
  const { names } = (await shares).shares;
  return { numbers, order, names };
}"""


# What comes back of one text in another while another text is typed, and once more for nobody.
PATCH = """async ([a, b]) => {
  const shares = [], order = [];
  const look = name => answer => { order.push(name); return answer; };
  const parts = [{ heads: "cross", what: "both" }, { streams: "encoder" }];
  const texts = { a: { text: a }, b: { text: b } };
  const options = { lane: "patching", progress: share => shares.push(share) };
  const patching = engine.patch("model", texts, parts, options).then(look("patching"));
  await engine.translate("model", { text: a + b }).then(look("translation"));
  const { words, heads } = await patching;
  const dropped = engine.patch("model", texts, [{ sublayers: "encoder" }], { lane: "patching" });
  engine.cancel("patching");
  return { order, shares, words, heads: Array.from(heads.cross.both.data), dropped: await dropped };
}"""


def test_nothing_waits_for_patching_and_it_can_be_stopped(site, translator: Translator) -> None:
    site.evaluate(START, {"simd": KERNELS["simd"]})
    texts = ["Where is my brother?", "Where is my sister?"]
    answer = site.evaluate(PATCH, texts)
    assert answer["order"] == ["translation", "patching"] and answer["dropped"] is None
    assert answer["shares"] == sorted(answer["shares"]) and answer["shares"][-1] == 1 and len(answer["shares"]) > 5
    patching = translator.patching(*(translator.translate(text) for text in texts))
    assert tuple(answer["words"]) == patching.words
    near(answer["heads"], patching.heads("cross").ravel(), 1e-4)


def test_what_is_asked_about_a_text_again_is_the_same_and_nothing_waits_for_shares(site) -> None:
    site.evaluate(START, {"simd": KERNELS["simd"]})
    answer = site.evaluate(ASK, TEXT)
    first, second, third, row, effects, last = answer["numbers"]
    assert first == third and second == last and first[0] != second[0]
    assert first[3] == row[3] == effects[3] and row[1] and effects[2]
    assert answer["order"][0] == "why"
    assert "positions" in answer["names"]
