"""How long a model of transformers with 32 layers of 32 heads keeps a visitor waiting on the stage.

    python -m benchmarks.many_heads [--rounds 20] [--warmup 3] [--texts 5] [--tokens 64]

A Llama with random weights and few dimensions: what is measured is the stage, not the model. The app runs with
`streamlit run app.py` on a free port and is looked at in Chromium, as `benchmarks.page` does it.

Text: one of so many tokens that was never read before is entered on the page Steer; the clock runs inside the page from
Enter to the new maps, two frames later. The model's own time, the median of `reader.read` of the same texts by the same
number of threads in another process, is taken off.

Another head: from the mouse button, or the key, to the repainted map. Sort: from the choice to two frames after all
tiles stand in another order.
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
from benchmarks.common import Machine, row, table
from benchmarks.page import HEADS, measure_heads
from benchmarks.support.server import serve
from model import load_model

LAYERS = N_HEADS = 32
WORDS = [f"word{number}" for number in range(500)]
OPENED_WITHIN, HEAD_WITHIN = 1.5, 0.06  # seconds, on top of the model's own time
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


def save_model(folder: Path) -> Path:
    """A Llama of LAYERS layers of N_HEADS heads with random weights, and a tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=8 * N_HEADS,
        intermediate_size=256,
        num_hidden_layers=LAYERS,
        num_attention_heads=N_HEADS,
        num_key_value_heads=8,
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
    """Seconds by what was done: texts opened, heads opened by click and key, and tiles sorted."""
    found = {"text": [page.evaluate(ENTER, text)["seconds"] for text in texts]}
    found |= measure_heads(page, rounds, warmup)
    found["sort"] = [page.evaluate(SORT, order) for _ in range(-(-rounds // len(ORDERS))) for order in ORDERS]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="heads that are opened (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="heads first that do not count (default: %(default)s)")
    parser.add_argument("--texts", type=int, default=5, help="texts that are entered (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=64, help="of each text (default: %(default)s)")
    options = parser.parse_args()
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=options.tokens)) for _ in range(options.texts + 1)]
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        model = save_model(Path(folder) / "many-heads")
        seconds = own_time(model, texts)
        with serve(environment={"HEADLIGHT_MODELS": str(model)}) as url:
            page = open_page(browser, f"{url}/steer?model=many-heads&text={texts[0].replace(' ', '+')}", READY)
            found = measure(page, texts[1:], options.rounds, options.warmup)
            said = machine.said()
    rows = [
        (f"text of {options.tokens} tokens", f"{OPENED_WITHIN:g} s", [t - seconds for t in found["text"]], 1, "s"),
        ("another head, click", f"{1000 * HEAD_WITHIN:g} ms", found["click"], 1000, "ms"),
        ("another head, key", f"{1000 * HEAD_WITHIN:g} ms", found["key"], 1000, "ms"),
        ("bare Plotly.react", "", found["bare"], 1000, "ms"),
        ("sort", "", found["sort"], 1000, "ms"),
    ]
    cells = [(f"{name} ({unit})", wanted, *row("", times, factor)[1:3]) for name, wanted, times, factor, unit in rows]
    print(f"{LAYERS} layers of {N_HEADS} heads; the model reads {options.tokens} tokens in {seconds:.2f} s, taken off")
    print(table(HEADS[:4], cells))
    print(said)


if __name__ == "__main__":
    main()
