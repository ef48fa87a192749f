"""How long it takes to say why a head looks where it looks, beside a translation, or beside reading a text.

    python -m benchmarks.why [--model DIR] [--rounds N] [--threads 1 2] [--cpu]

First the translator: one head of a sentence that it has translated (each round another sentence; cross-attention of the
last layer, which has most parts), and the shares of all heads, beside the translation itself. Then a model of
transformers: SmolLM2-135M where its folder is given, else a Llama of its sizes with random weights; of a text of 14
tokens one head of the last layer, one of the middle, and the shares of all heads, beside reading the text with
everything recorded; the head once more with the inputs of all layers kept, which takes a pass of its own first, as the
app does it. Each round measures every side once, in turns.

Then what a visitor waits for, in Chromium, of one sentence with the view Why open: from the click on another head until
its picture is drawn, by the clock inside the page; in the app, in the page without a server, and in the app with the
model of --model. No head comes twice. The first one, for which the text is read once more, and how long the numbers of
the cards take, which are fetched in the background, have rows of their own.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

from benchmarks.any_model import random_llama
from benchmarks.browsing import MAP, chromium, new_page
from benchmarks.common import conditions, ratio, sentences, spread, table, timed
from benchmarks.page import SHAPE
from benchmarks.support.engine_page import serve_folder
from benchmarks.support.server import serve
from model import attach, load_translator
from model.adapters.loading import load
from model.adapters.readers.explanation.layer_inputs import LayerInputs
from model.config import DEFAULT_CHECKPOINT
from model.results.translation import Translation
from viz.site import contents, pages
from viz.views.view import EXAMPLE

TOKENS = 14
HEADS = ("threads", "model", "side", "ms", "times the pass")
VISITOR = ("page", "from the click to the picture", "ms")
SENTENCE = "When Mary and John went to the store, John gave a drink to"
# End when the heading and the picture are there, and when the card says what decides where its head looks; milliseconds
# since the browser was asked for the page.
UNTIL = (
    "() => new Promise(done => {{ const look = () => {} ? done(performance.now()) : setTimeout(look, 5); look(); }})"
)
OPEN = UNTIL.format(
    f"/^Head .*\\d\\./.test(document.querySelector('.hl-title')?.textContent) && document.querySelector('{MAP}')?.data"
)
HAS_CARD = UNTIL.format("document.querySelector('.hl-card')?.textContent.includes('is decided')")
ANSWERS = """() => performance.getEntriesByType('resource')
  .flatMap(({name, duration}) => name.includes('/answers/') ? [duration] : [])"""
CARDS = "() => performance.getEntriesByType('resource').find(({name}) => name.includes('/later/'))?.duration ?? null"
# Gives the milliseconds from the mouse button until the picture of the head of a heading is drawn.
WATCH = f"""name => {{
  const plot = document.querySelector('{MAP}'), before = plot.data[0].z;
  window.watched = new Promise(done => addEventListener('pointerup', ({{timeStamp}}) => {{
    const look = () => {{
      if (plot.data[0].z === before || !document.querySelector('.hl-title').textContent.startsWith(name)) return;
      plot.removeListener('plotly_afterplot', look);
      setTimeout(() => done(performance.now() - timeStamp));  // texts over it are drawn behind it
    }};
    plot.on('plotly_afterplot', look);
  }}, {{once: true, capture: true}}));
}}"""
Sides = dict[str, Callable[[], object]]  # by name; the pass itself first


def sides_of_translator(name: str, rounds: int) -> list[Sides]:
    """What is timed of a translator, one sentence for each round."""
    translator = load_translator(name)
    last = translator.config.n_decoder_layers - 1

    def head(result: Translation) -> object:
        return translator.score_parts(result, "cross", last, 0).shares

    every = []
    for text in (text for text, _ in zip(sentences(seed=3), range(rounds))):
        result = translator.translate(text)
        every.append(
            {
                "translation": lambda text=text: translator.translate(text),
                "head of the last layer": lambda result=result: head(result),
                "shares of all heads": lambda result=result: translator.score_shares(result),
            }
        )
    return every


def sides_of_reader(folder: str | None, rounds: int) -> list[Sides]:
    """What is timed of a model of transformers, for one random text for each round."""
    loaded = load(folder) if folder else random_llama()
    reader = attach(*loaded)
    last = reader.config.layers("decoder_self")[-1].layer
    every = []
    for _ in range(rounds):
        ids = torch.randint(5, reader.config.vocab_size, (1, TOKENS))
        result = reader.read(input_ids=ids)
        layers = reader.layer_inputs(result)

        def head(layer: int, *kept: LayerInputs, result=result) -> object:
            return reader.score_parts(result, "decoder_self", layer, 0, *kept).shares

        every.append(
            {
                "reading": lambda ids=ids: reader.read(input_ids=ids),
                "head of the last layer": lambda head=head: head(last),
                "head of the middle": lambda head=head: head(last // 2),
                "inputs of all layers": lambda result=result: reader.layer_inputs(result),
                "head of the last layer, with these": lambda head=head, layers=layers: head(last, layers),
                "head of the middle, with these": lambda head=head, layers=layers: head(last // 2, layers),
                "shares of all heads": lambda result=result: reader.score_shares(result),
            }
        )
    return every


def click_heads(page: Any, places: list[tuple[int, int]], heading: str) -> list[float]:
    """Click on heads one after the other; the seconds from each click until its picture, under a heading, is drawn."""
    times = []
    for layer, head in places:
        cell = f"[data-testid=stage-heads] [data-layer='{layer}'][data-head='{head}']"
        page.hover(cell)
        page.evaluate(WATCH, heading.format(layer, head))
        page.click(cell, force=True)
        times.append(page.evaluate("() => window.watched") / 1000)
    return times


def felt(browser: Any, name: str, address: str, rounds: int) -> list[list[str]]:
    """What a visitor waits for on a page with the view Why, whose numbers are those of a sentence; rows of a table."""
    page = new_page(browser)
    page.goto(address)
    first = page.evaluate(OPEN)
    page.evaluate(HAS_CARD)
    shares = page.evaluate(CARDS)
    n_layers, n_heads = page.evaluate(SHAPE)
    places = [(layer, head) for head in range(n_heads) for layer in range(n_layers)]
    another = click_heads(page, places[1 : rounds + 3], "Head {}.{} ")[2:]
    answers = [duration / 1000 for duration in page.evaluate(ANSWERS)][2:]
    page.click("[data-testid=stage-views] [data-view=map]")
    maps = click_heads(page, places[1 : rounds + 3], "")[2:]
    page.context.close()
    rows = [[name, "first head, with the page", f"{first:.0f}"], [name, "another head", spread(another)]]
    if answers:
        rows.append([name, "another head, of which the server", spread(answers)])
    rows.append([name, "for comparison, another head's map", spread(maps)])
    return rows if shares is None else [*rows, [name, "numbers of the cards", f"{shares:.0f}"]]


def measure_pages(model: str | None, rounds: int) -> list[list[str]]:
    """What a visitor waits for, of each page."""
    query = {"text": SENTENCE, "view": "why"}
    ours = query | {"kind": "encoder_self", "layer": 0, "head": 0, "row": 3}
    theirs = query | {"kind": "decoder_self", "layer": 0, "head": 0, "row": 9, "model": model and Path(model).name}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        with serve(environment={"HEADLIGHT_MODELS": model or ""}) as url:
            rows = felt(browser, "app, en-de", f"{url}/?{urlencode(ours)}", rounds)
            if model:
                rows += felt(browser, f"app, {model}", f"{url}/steer?{urlencode(theirs)}", rounds)
        translator = load_translator(DEFAULT_CHECKPOINT)
        ours_here, _ = contents.read_model(str(translator.folder))
        pages.write_folder(Path(folder), [ours_here], contents.first_message(translator, EXAMPLE))
        with serve_folder(Path(folder)) as url:
            rows += felt(browser, "page without a server, en-de", f"{url}#{urlencode(ours)}", rounds)
    return rows


def measure(threads: int, model: str, every: list[Sides], warmup: int, cpu: bool) -> list[list[str]]:
    """Time all sides in turns; return the rows of the table."""
    times: dict[str, list[float]] = {name: [] for name in every[0]}
    for number, sides in enumerate(every):
        for name in list(sides) if number % 2 else list(sides)[::-1]:
            seconds = timed(sides[name], cpu)[0]
            if number >= warmup:
                times[name].append(seconds)
    base = next(iter(times.values()))
    return [[str(threads), model, name, spread(seconds), ratio(seconds, base)] for name, seconds in times.items()]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--model", help="the folder of a model of transformers (default: random weights)")
    parser.add_argument("--rounds", type=int, default=10, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=2, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    options = parser.parse_args()
    rows = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        rounds = options.warmup + options.rounds
        translator = sides_of_translator(options.checkpoint, rounds)
        rows += measure(threads, options.checkpoint, translator, options.warmup, options.cpu)
        reader = sides_of_reader(options.model, rounds)
        rows += measure(threads, options.model or "random Llama", reader, options.warmup, options.cpu)
    print(conditions(options))
    print(table(HEADS, rows))
    print(table(VISITOR, measure_pages(options.model, options.rounds)))


if __name__ == "__main__":
    main()
