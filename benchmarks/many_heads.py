"""How long models of transformers with 30 layers of 9 heads, and with 32 of 32, keep a visitor waiting on the stage.

    python -m benchmarks.many_heads [--sizes 30x9 32x32] [--rounds 20] [--warmup 3] [--texts 5] [--tokens 64]

Llamas with random weights and few dimensions: what is measured is the stage, not the model. The app runs with
`streamlit run app.py` on a free port and is looked at in Chromium, as `benchmarks.page` does it.

Text: a new one of the given length is entered on the page Steer; the clock runs inside the page from
Enter to the new maps, two frames later. The model's own time, the median of `reader.read` of the same texts by the same
number of threads in another process, is taken off.

Another head: from the mouse button, or the key, to the repainted map, in turns with a bare `Plotly.react` of the same
figure with other numbers; the ratio is that of the medians. Sort: from the choice to two frames after all
tiles stand in another order. Circuit: from the tab *Circuit*, whose numbers are there, to two frames after the graph of
all heads is drawn.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.browsing import ENTER, FRAMES, chromium, open_page
from benchmarks.common import Machine, table
from benchmarks.page import line, measure_heads
from benchmarks.support.server import serve
from model import load_model

SIZES = ("30x9", "32x32")  # layers and heads of each
HEADS = ("", "wanted", "median", "quartiles", "bare redraw", "ratio")
WORDS = [f"word{number}" for number in range(500)]
OPENED_WITHIN, HEAD_WITHIN = 1.5, 0.06  # seconds, on top of the model's own time
CIRCUIT_WITHIN = 1  # seconds
ORDERS = ("first", "role", "layer")
# When the stage has drawn what the page was opened with; seconds since the browser was asked for it.
READY = f"""() => new Promise((done, failed) => {{
  {FRAMES}
  late(failed);
  const look = () => document.querySelector('.hl-stage')?.dataset.ready
    ? frames(() => done(performance.now() / 1000)) : requestAnimationFrame(look);
  look();
}})"""
SORT = f"""order => new Promise((done, failed) => {{
  {FRAMES}
  late(failed);
  const select = document.querySelector('[data-testid=stage-sort]');
  select.value = order;
  const start = performance.now();
  select.dispatchEvent(new Event('change', {{bubbles: true}}));
  frames(() => done((performance.now() - start) / 1000));
}})"""
# The graph of all heads, until it has lines, and once more from another view; seconds of the second time.
CIRCUIT = f"""async () => {{
  {FRAMES}
  const part = name => document.querySelector(`[data-testid=stage-${{name}}]`);
  const open = view => part('views').querySelector(`[data-view=${{view}}]`).click();
  const drawn = () => part('circuit-picture').querySelectorAll('path').length;
  open('circuit');
  part('circuit').querySelector('[data-graph=heads]').click();
  while (!drawn()) await new Promise(done => setTimeout(done, 50));
  open('map');
  await new Promise(done => frames(done));
  part('circuit-picture').replaceChildren();
  const start = performance.now();
  open('circuit');
  await new Promise(done => frames(done));
  return drawn() ? (performance.now() - start) / 1000 : null;
}}"""


def save_model(folder: Path, n_layers: int, n_heads: int) -> Path:
    """A Llama with random weights, and a tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=8 * n_heads,
        intermediate_size=256,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        num_key_value_heads=n_heads // 4 if n_heads % 4 == 0 else n_heads // 3,
        max_position_embeddings=512,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token=WORDS[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return folder


def own_time(folder: Path, texts: list[str]) -> float:
    """The median of the seconds that the model takes to read texts, with everything recorded."""
    reader = load_model(folder)
    reader.read(texts[0])
    times = []
    for text in texts:
        start = time.perf_counter()
        reader.read(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(page: Any, texts: list[str], rounds: int, warmup: int) -> dict[str, list[float]]:
    """Seconds by what was done: texts opened, heads opened by click and key, tiles sorted, and circuits drawn."""
    seconds = {"text": [page.evaluate(ENTER, text)["seconds"] for text in texts]}
    seconds |= measure_heads(page, rounds, warmup)
    seconds["sort"] = [page.evaluate(SORT, order) for _ in range(-(-rounds // len(ORDERS))) for order in ORDERS]
    seconds["circuit"] = [page.evaluate(CIRCUIT) for _ in texts]
    return seconds


def report(browser: Any, size: str, options: argparse.Namespace, texts: list[str]) -> str:
    """The table of a model of a size, and how busy the machine was meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"llama-{size}"
        model = save_model(Path(folder) / name, *map(int, size.split("x")))
        model_time = own_time(model, texts)
        machine = Machine()
        with serve(environment={"HEADLIGHT_MODELS": str(model)}) as url:
            page = open_page(browser, f"{url}/steer?model={name}&text={texts[0].replace(' ', '+')}", READY)
            seconds = measure(page, texts[1:], options.rounds, options.warmup)
            busy = machine.message()
            page.context.close()
    opened, head = f"<= {1000 * OPENED_WITHIN:g}", f"<= {1000 * HEAD_WITHIN:g}"
    rows = [
        line(f"text of {options.tokens} tokens, ms", opened, [whole - model_time for whole in seconds["text"]]),
        line("another head by click, ms", head, seconds["click"], seconds["bare"]),
        line("another head by key, ms", head, seconds["key"], seconds["bare"]),
        line("sort, ms", "", seconds["sort"]),
        line("circuit of all heads, ms", f"<= {1000 * CIRCUIT_WITHIN:g}", seconds["circuit"]),
    ]
    model_line = f"the model reads {options.tokens} tokens in {model_time:.2f} s, which is taken off"
    return f"{size} heads; {model_line}; {busy}\n\n{table(HEADS, rows)}"


def main() -> None:
    """Measure as the command line says, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES, help="layers and heads (default: all)")
    parser.add_argument("--rounds", type=int, default=20, help="heads that are opened (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="heads first that do not count (default: %(default)s)")
    parser.add_argument("--texts", type=int, default=5, help="texts that are entered (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=64, help="of each text (default: %(default)s)")
    options = parser.parse_args()
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=options.tokens)) for _ in range(options.texts + 1)]
    with chromium() as browser:
        for size in options.sizes:
            print(f"{report(browser, size, options, texts)}\n", flush=True)


if __name__ == "__main__":
    main()
