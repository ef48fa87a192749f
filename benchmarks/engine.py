"""The engine in the browser beside Python: how long does a translation with all maps take?

    python -m benchmarks.engine [--checkpoint en-de] [--rounds 30] [--warmup 5] [--threads 1] [--tokens 15 46]

Both translate the same sentences, in turns: Chromium in a worker, timed inside the page from the request to the answer
with all its arrays; Python with `load_translator`, everything recorded. Of each length (tokens of the source, the end
token counted) with beam 4 and greedily.

Slower: the engine on the page itself, whose processor Chromium makes four times slower (it cannot do that to a worker);
beside it the same without that. Memory is what the kernel computes in, with the weights, and what JavaScript holds.
Site: the page that `python -m viz site` writes, from the key that ends a sentence until the map is drawn again; once
more with the thread of the page four times slower, which draws, while the worker computes as fast as before.
Ready: from the request to load until the model can translate, everything from this machine; and once more from the
browser's cache, in a new page.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.browsing import FRAMES, chromium, new_page
from benchmarks.common import Machine, ratio, sentences, spread, table, text_of, translator_of
from benchmarks.support.engine_page import ENGINE, FILES, KERNELS, START, serve_engine, serve_folder
from model.running.translator import DEFAULT_CHECKPOINT, Translator
from viz.site import contents, pages
from viz.views.view import EXAMPLE

SLOWER = 4  # times
TOKENS = (15, 46)  # of the source, the end token counted
BEAMS = (4, 1)
WANTED = "<= 1"  # of the ratio to Python
WANTED_TYPED = {15: "<= 80, 95 % <= 120"}  # milliseconds, by tokens
WANTED_SLOWER = {(15, 4): "<= 150"}  # milliseconds, by tokens and beam
TRANSLATE = """async ([text, beam]) => {
  const start = performance.now();
  const answer = await engine.translate("model", { text, beam });
  return [(performance.now() - start) / 1000, answer.text];
}"""
# Opens and translates without a worker.
START_HERE = """async kernels => {
  const { openTranslator } = await import("/engine/run/checkpoint.js");
  const bytes = async url => new Uint8Array(await (await fetch(url)).arrayBuffer());
  const json = async name => (await fetch("/checkpoint/" + name)).json();
  const files = { config: await json("config.json"), tokenizer: await json("tokenizer.json") };
  const compiled = {};
  for (const [name, url] of Object.entries(kernels)) compiled[name] = await bytes(url);
  window.here = await openTranslator({ ...files, weights: await bytes("/checkpoint/model.safetensors") }, compiled);
}"""
TRANSLATE_HERE = """async ([text, beam]) => {
  const start = performance.now();
  const answer = await here.translate({ text, beam });
  return [(performance.now() - start) / 1000, answer.text];
}"""
# Ends when the model of the site has translated.
LOADED = f"""() => new Promise((done, failed) => {{
  {FRAMES}
  late(failed);
  const look = () => {{
    const ready = Number(document.querySelector(".hl-stage")?.dataset.ready ?? 0);
    if (ready > 1) frames(done);
    else requestAnimationFrame(look);
  }};
  look();
}})"""
# Ends when the frame in which the new map stands has been painted: a message that is sent before it comes after it.
TYPE = f"""text => new Promise((done, failed) => {{
  {FRAMES}
  const painted = then => {{
    const {{ port1, port2 }} = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(null);
  }};
  late(failed);
  const stage = document.querySelector(".hl-stage");
  const box = document.querySelector("[data-testid=stage-sentence]");
  const before = stage.dataset.ready;
  const start = performance.now();
  box.value = text;
  box.dispatchEvent(new InputEvent("input", {{ bubbles: true }}));
  const look = () => {{
    if (stage.dataset.ready === before) requestAnimationFrame(look);
    else painted(() => done((performance.now() - start) / 1000));
  }};
  look();
}})"""
MEMORY = "() => [here.model.memory.size / 1e6, performance.memory.usedJSHeapSize / 1e6]"


def main() -> None:
    """Measure, and print tables."""
    options = read_options()
    torch.set_num_threads(options.threads)
    translator = translator_of(options)
    machine = Machine()
    with chromium() as browser:
        print(f"{browser.browser_type.name} {browser.version}, torch {torch.__version__}, {options.threads} threads\n")
        for part in report(browser, translator, options.tokens, options.rounds, options.warmup):
            print(part, flush=True)
    print(f"\n{machine.message()}")


def report(browser: Any, translator: Translator, tokens: Sequence[int], rounds: int, warmup: int) -> Iterator[str]:
    """Yield the report on the engine with a translator's checkpoint, paragraph by paragraph.

    Args:
        browser: of Playwright.
        translator: in Python, beside which it is measured.
        tokens: lengths of sentences.
        rounds: timed sentences of each length and beam.
        warmup: untimed ones before them.

    Raises:
        RuntimeError: if both translate differently.
    """
    with serve_engine(translator.folder) as url:
        page = new_page(browser)
        page.goto(url)
        ready, kernel = start(page)
        again = page.context.new_page()
        again.goto(url)
        from_cache, _ = start(again)
        again.close()
        yield f"kernel: {kernel}; ready after {ready:.2f} s, from the browser's cache {from_cache:.2f} s"
        yield f"files: {sizes(translator)}\n"
        heads = ("tokens", "beam", "engine, ms", "Python, ms", "engine / Python", "wanted")
        yield table(heads, list(compare(page, translator, tokens, rounds, warmup)))
        heads = ("tokens", "beam", "page, ms", f"{SLOWER} times slower, ms", "wanted")
        yield "\n" + table(heads, list(slow_down(page, translator, tokens, rounds, warmup)))
        of_kernel, of_javascript = page.evaluate(MEMORY)
        yield f"\nmemory: {of_kernel:.0f} MB of the kernel, {of_javascript:.0f} MB of JavaScript"
        page.context.close()
    heads = ("tokens", "key to map, ms", "95 %", f"page {SLOWER} times slower, ms", "wanted")
    yield "\n" + table(heads, list(type_sentences(browser, translator, tokens, rounds, warmup)))


def read_options() -> argparse.Namespace:
    """checkpoint, rounds, warmup, threads, tokens."""
    parser = argparse.ArgumentParser(description="The engine in the browser beside Python.")
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="timed sentences of each length (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=5, help="untimed sentences first (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of torch (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=TOKENS, help="lengths (default: 15 46)")
    return parser.parse_args()


def start(page: Any) -> tuple[float, str]:
    """Load the model in a page's worker; return the seconds, and which kernel computes."""
    begin = time.perf_counter()
    kernel = page.evaluate(START, KERNELS)["kernel"]
    return time.perf_counter() - begin, kernel


def sizes(translator: Translator) -> str:
    """How many bytes a first visit fetches, as they are and compressed."""
    parts = {name: translator.folder / file for name, file in FILES.items()}
    modules = b"".join(path.read_bytes() for path in sorted(ENGINE.rglob("*.js")))
    contents = {name: path.read_bytes() for name, path in parts.items()}
    contents |= {"kernel": (ENGINE / "kernel.relaxed.wasm").read_bytes(), "modules": modules}
    words = [
        f"{name} {len(content) / 1e6:.2f} MB ({len(gzip.compress(content)) / 1e6:.2f} gzipped)"
        for name, content in contents.items()
    ]
    return ", ".join(words)


def texts(translator: Translator, n_tokens: int) -> Iterator[str]:
    """Sentences of n_tokens tokens, each another one."""
    every = itertools.chain.from_iterable(sentences(seed) for seed in itertools.count(4))
    while True:
        yield text_of(translator, n_tokens, every)


def compare(
    page: Any, translator: Translator, tokens: Sequence[int], rounds: int, warmup: int
) -> Iterator[tuple[str, ...]]:
    """The rows of both, by length and beam; a RuntimeError if they translate differently."""
    for n_tokens, beam in itertools.product(tokens, BEAMS):
        ours, theirs = [], []
        for text in itertools.islice(texts(translator, n_tokens), warmup + rounds):
            seconds, translation = page.evaluate(TRANSLATE, [text, beam])
            begin = time.perf_counter()
            result = translator.translate(text, beam)
            theirs.append(time.perf_counter() - begin)
            ours.append(seconds)
            if translation != result.text:
                raise RuntimeError(f"{text!r}: the engine wrote {translation!r}, Python {result.text!r}")
        ours, theirs = ours[warmup:], theirs[warmup:]
        yield str(n_tokens), str(beam), spread(ours), spread(theirs), ratio(ours, theirs), WANTED


def slow_down(
    page: Any, translator: Translator, tokens: Sequence[int], rounds: int, warmup: int
) -> Iterator[tuple[str, ...]]:
    """The rows of the engine on the page, as fast as the machine is and slowed down."""
    page.evaluate(START_HERE, KERNELS)
    session = page.context.new_cdp_session(page)

    def timed(n_tokens: int, beam: int, rate: int, count: int) -> list[float]:
        session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
        chunk = itertools.islice(texts(translator, n_tokens), count)
        return [page.evaluate(TRANSLATE_HERE, [text, beam])[0] for text in chunk]

    for n_tokens, beam in itertools.product(tokens, BEAMS):
        timed(n_tokens, beam, 1, warmup)
        as_it_is, slower = (timed(n_tokens, beam, rate, rounds) for rate in (1, SLOWER))
        target = WANTED_SLOWER.get((n_tokens, beam), "")
        yield str(n_tokens), str(beam), spread(as_it_is), spread(slower), target


def type_sentences(
    browser: Any, translator: Translator, tokens: Sequence[int], rounds: int, warmup: int
) -> Iterator[tuple[str, ...]]:
    """The rows of the site, on which sentences are typed."""
    with tempfile.TemporaryDirectory() as folder:
        model, _ = contents.read_model(str(translator.folder))
        pages.write_folder(Path(folder), [model], contents.first_message(translator, EXAMPLE))
        with serve_folder(Path(folder)) as url:
            page = new_page(browser)
            page.goto(url)
            page.evaluate(LOADED)
            session = page.context.new_cdp_session(page)
            for n_tokens in tokens:
                source = texts(translator, n_tokens)

                def timed(rate: int, count: int, source: Iterator[str] = source) -> list[float]:
                    session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
                    return [page.evaluate(TYPE, text) for text in itertools.islice(source, count)]

                timed(1, warmup)
                as_it_is, slower = timed(1, rounds), timed(SLOWER, rounds)
                late = f"{1000 * statistics.quantiles(as_it_is, n=20, method='inclusive')[-1]:.1f}"
                yield str(n_tokens), spread(as_it_is), late, spread(slower), WANTED_TYPED.get(n_tokens, "")
            page.context.close()


if __name__ == "__main__":
    main()
