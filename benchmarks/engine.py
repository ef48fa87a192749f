"""The engine in the browser beside Python: how long does a translation with all maps take?

    python -m benchmarks.engine [--checkpoint en-de] [--rounds 30] [--warmup 5] [--threads 1] [--tokens 15 46]

Both translate the same sentences, in turns: Chromium in a worker, timed inside the page from the request to the answer
with all its arrays; Python with `load_translator`, everything recorded. Of each length (tokens of the source, the end
token counted) with beam 4 and greedily.

Slower: the engine on the page itself, whose processor Chromium makes four times slower (it cannot do that to a worker);
beside it the same without that. Memory is what the kernel computes in, with the weights, and what JavaScript holds.
Ready: from the request to load until the model can translate, everything from this machine; and once more from the
browser's cache, in a new page.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import time
from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.browsing import chromium, new_page
from benchmarks.common import Machine, ratio, sentences, spread, table, translator_of
from benchmarks.page import text_of
from benchmarks.support.engine_page import ENGINE, FILES, KERNELS, START, serve_engine
from model.translator import DEFAULT_CHECKPOINT, Translator

SLOWER = 4
WANTED = {(15, 4): "as Python", (15, 1): "as Python", (46, 4): "as Python", (46, 1): "as Python"}
TRANSLATE = """async ([text, beam]) => {
  const start = performance.now();
  const answer = await engine.translate("model", { text, beam });
  return [(performance.now() - start) / 1000, answer.text];
}"""
# The same without a worker.
START_HERE = """async kernels => {
  const { openTranslator } = await import("/engine/checkpoint.js");
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
MEMORY = "() => [here.model.memory.size / 1e6, performance.memory.usedJSHeapSize / 1e6]"


def main() -> None:
    """Measure, and print a table."""
    options = read_options()
    torch.set_num_threads(options.threads)
    translator = translator_of(options)
    machine = Machine()
    with chromium() as browser, serve_engine(translator.folder) as url:
        print(
            f"{browser.browser_type.name} {browser.version}, torch {torch.__version__} with {options.threads} threads\n"
        )
        page = new_page(browser)
        page.goto(url)
        ready, kernel = start(page)
        again = page.context.new_page()
        again.goto(url)
        from_cache, _ = start(again)
        again.close()
        print(f"kernel: {kernel}; ready after {ready:.2f} s, from the browser's cache {from_cache:.2f} s")
        print(f"files: {sizes(translator)}\n")
        heads = ("tokens", "beam", "engine, ms", "Python, ms", "engine / Python", "wanted")
        print(table(heads, list(compare(page, translator, options))), flush=True)
        print()
        print(
            table(
                ("tokens", "beam", "page, ms", f"{SLOWER} times slower, ms"), list(slow_down(page, translator, options))
            )
        )
        kernel_size, heap = page.evaluate(MEMORY)
        print(f"\nmemory: {kernel_size:.0f} MB of the kernel, {heap:.0f} MB of JavaScript")
        print(machine.said())


def read_options() -> argparse.Namespace:
    """checkpoint, rounds, warmup, threads, tokens."""
    parser = argparse.ArgumentParser(description="The engine in the browser beside Python.")
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="timed sentences of each length (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=5, help="untimed sentences first (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of torch (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[15, 46], help="lengths (default: 15 46)")
    return parser.parse_args()


def start(page: Any) -> tuple[float, str]:
    """Load the model in a page's worker; return the seconds, and which kernel computes."""
    begin = time.perf_counter()
    kernel = page.evaluate(START, KERNELS)["kernel"]
    return time.perf_counter() - begin, kernel


def sizes(translator: Translator) -> str:
    """How many bytes a first visit fetches, as they are and compressed."""
    parts = {name: translator.folder / file for name, file in FILES.items()}
    modules = b"".join(path.read_bytes() for path in sorted(ENGINE.glob("*.js")))
    contents = {name: path.read_bytes() for name, path in parts.items()}
    contents |= {"kernel": (ENGINE / "kernel.relaxed.wasm").read_bytes(), "modules": modules}
    words = [
        f"{name} {len(content) / 1e6:.2f} MB ({len(gzip.compress(content)) / 1e6:.2f} gzipped)"
        for name, content in contents.items()
    ]
    return ", ".join(words)


def texts(translator: Translator, n_tokens: int) -> Iterator[str]:
    """Sentences of so many tokens, each another one."""
    every = itertools.chain.from_iterable(sentences(seed) for seed in itertools.count(4))
    while True:
        yield text_of(translator, n_tokens, every)


def compare(page: Any, translator: Translator, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """The rows of both, by length and beam; a RuntimeError if they translate differently."""
    for n_tokens, beam in itertools.product(options.tokens, (4, 1)):
        ours, theirs = [], []
        for text in itertools.islice(texts(translator, n_tokens), options.warmup + options.rounds):
            seconds, translation = page.evaluate(TRANSLATE, [text, beam])
            begin = time.perf_counter()
            result = translator.translate(text, beam)
            theirs.append(time.perf_counter() - begin)
            ours.append(seconds)
            if translation != result.text:
                raise RuntimeError(f"{text!r}: the engine wrote {translation!r}, Python {result.text!r}")
        ours, theirs = ours[options.warmup :], theirs[options.warmup :]
        wanted = WANTED.get((n_tokens, beam), "")
        yield str(n_tokens), str(beam), spread(ours), spread(theirs), ratio(ours, theirs), wanted


def slow_down(page: Any, translator: Translator, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """The rows of the engine on the page, as fast as the machine is and slowed down."""
    page.evaluate(START_HERE, KERNELS)
    session = page.context.new_cdp_session(page)

    def timed(n_tokens: int, beam: int, rate: int, rounds: int) -> list[float]:
        session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
        some = itertools.islice(texts(translator, n_tokens), rounds)
        return [page.evaluate(TRANSLATE_HERE, [text, beam])[0] for text in some]

    for n_tokens, beam in itertools.product(options.tokens, (4, 1)):
        timed(n_tokens, beam, 1, options.warmup)
        as_it_is, slower = (timed(n_tokens, beam, rate, options.rounds) for rate in (1, SLOWER))
        yield str(n_tokens), str(beam), spread(as_it_is), spread(slower)


if __name__ == "__main__":
    main()
