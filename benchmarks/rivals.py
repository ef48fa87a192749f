"""Headlight beside the tools that it is compared with: attention on a page, a translation, and longer sentences.

    python -m benchmarks.rivals [--rounds N] [--threads 1 2] [--skip pages translation lengths]

What the project itself does not need is installed for this alone: pip install ctranslate2 mpld3 XStatic-jQuery.

One table comes out of one run: a row is what one tool takes for one size, and how that compares with ours.

**On a page.** The same random weights, once 3 kinds x 3 layers x 8 heads x 32 tokens, once 6 layers x 8 heads x 128
tokens, made into one file that needs no network: by BertViz's `model_view` and `head_view`, with the libraries that it
loads (d3, jQuery, and what it asks require.js for) in the file, and by `viz.stage.alone.stage`, all heads of a kind and
one of them large. Bytes are those of the file without what is the same in every file. "make" is Python's time, "paint"
Chromium's, from opening the file to all drawn and two animation frames later (given up after a minute). `head_view`
draws one layer at a time, `model_view` all heads of all layers.

**Translating.** The same sentences with every map recorded (ours, and MarianMT in `transformers`, as in
`benchmarks.translate`), and without maps in CTranslate2, float32: the floor. Greedy, as many steps everywhere.

**Longer sentences.** One recorded pass over n source and n target tokens: ours, and MarianMT's forward with
`output_attentions=True`.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.browsing import PATIENCE, chromium
from benchmarks.common import ratio, sentences, spread, table, timed, translator_of
from benchmarks.peers import random_marian
from benchmarks.translate import generate, steps_of
from model.running.translator import DEFAULT_CHECKPOINT, Translator
from model.taps import record
from model.text.special import BOS_ID, EOS_ID

PARTS = ("pages", "translation", "lengths")
# Packages of the rivals and their modules, which the project does not need.
NEEDED = {
    "pages": {"mpld3": "mpld3", "XStatic-jQuery": "xstatic.pkg.jquery"},
    "translation": {"ctranslate2": "ctranslate2"},
}
SIZES = {"3 kinds x 3 x 8 x 32 tokens": (3, 3, 8, 32), "6 x 8 x 128 tokens": (1, 6, 8, 128)}
LENGTHS = (8, 32, 128, 256, 512)
HEADS = ("what", "of", "threads", "tool", "median (quartiles)", "/ Headlight")
OURS = "Headlight"
NAMES = ("encoder", "decoder", "cross")
Row = tuple[str, ...]

# What BertViz's pages ask require.js for is here already.
SHIM = "window.require = window.requirejs = (names, then) => then(jQuery, d3); requirejs.config = () => {};"
LIMIT = 60.0  # seconds; a page that is not painted by then is given up
# Runs before a page does. It notes when the page was changed last, two frames later, and is done when that was half a
# second ago.
SETTLED = """addEventListener('DOMContentLoaded', () => {
  let last = null;
  const note = () => requestAnimationFrame(() => requestAnimationFrame(() => { last = performance.now(); }));
  const watcher = new MutationObserver(note);
  watcher.observe(document.body, {childList: true, subtree: true, attributes: true});
  note();
  const wait = setInterval(() => {
    if (last === null || performance.now() - last < 500) return;
    clearInterval(wait); watcher.disconnect(); window.painted = last / 1000;
  }, 50);
});"""


def weights_of(size: tuple[int, int, int, int], rng: np.random.Generator) -> np.ndarray:
    """Random rows that sum to 1, float32 (kinds, layers, heads, tokens, tokens)."""
    kinds, layers, heads, tokens = size
    return rng.dirichlet(np.full(tokens, 0.1), (kinds, layers, heads, tokens)).astype(np.float32)


def bertviz_page(view: Callable[..., Any], weights: np.ndarray) -> str:
    """What BertViz makes of the weights."""
    tokens = [f"token{i}" for i in range(weights.shape[-1])]
    layers = [[torch.from_numpy(layer)[None] for layer in kind] for kind in weights]
    if len(weights) == 1:
        return view(layers[0], tokens, html_action="return").data
    maps = {f"{name}_attention": kind for name, kind in zip(NAMES, layers, strict=True)}
    return view(**maps, encoder_tokens=tokens, decoder_tokens=tokens, html_action="return").data


def our_page(weights: np.ndarray) -> str:
    """The stage with the weights, as a file."""
    from viz.stage.alone import stage

    tokens = [f"token{i}" for i in range(weights.shape[-1])]
    if len(weights) == 1:
        return stage(attention=weights[0], tokens=tokens).to_html()
    maps = dict(zip(NAMES, weights, strict=True))
    return stage(attention=maps, tokens={"source": tokens, "target": tokens}).to_html()


def libraries() -> str:
    """The tags with the JavaScript that BertViz's pages load from elsewhere, in the order in which it is needed."""
    from xstatic.pkg import jquery

    # Only the file is wanted: mpld3 itself would import all of matplotlib.
    d3 = Path(importlib.util.find_spec("mpld3").origin).parent / "js" / "d3.v5.min.js"
    scripts = (Path(jquery.BASE_DIR) / "jquery.min.js").read_text(), d3.read_text(), SHIM
    return "".join(f"<script>{script}</script>" for script in scripts)


def measure_pages(rounds: int) -> Iterator[Row]:
    """Make and paint every page in turns."""
    from bertviz import head_view, model_view

    from viz.stage.files import page as our_frame

    tools: dict[str, Callable[[np.ndarray], str]] = {
        OURS: our_page,
        "BertViz model_view": lambda weights: bertviz_page(model_view, weights),
        "BertViz head_view": lambda weights: bertviz_page(head_view, weights),
    }
    scripts, rng = libraries(), np.random.default_rng(0)
    same_in_all = len(our_frame().encode())
    with chromium() as browser:
        for name, size in SIZES.items():
            rows = {tool: ([], [], []) for tool in tools}
            for i in range(rounds + 1):
                weights = weights_of(size, rng)
                for tool, make in tools.items():
                    seconds, html = timed(lambda make=make, weights=weights: make(weights), False)
                    is_ours = tool == OURS
                    size_in_bytes = len(html.encode()) - is_ours * same_in_all
                    file = html if is_ours else f"<!doctype html><body>{scripts}{html}"
                    painted = LIMIT if LIMIT in rows[tool][2] else paint(browser, file)
                    if i:  # the first of each warms up
                        for values, value in zip(rows[tool], (size_in_bytes, seconds, painted), strict=True):
                            values.append(value)
            yield from _page_rows(name, rows)


def paint(browser: Any, html: str) -> float:
    """How many seconds a file takes to be opened and drawn; LIMIT where it is not drawn by then."""
    from playwright.sync_api import TimeoutError as NotDrawn

    page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)  # ours lets nothing be evaluated
    page.set_default_timeout(PATIENCE)
    page.route("http*://**", lambda route: route.abort())  # what is loaded from elsewhere is in the file
    page.add_init_script(SETTLED)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        try:
            page.goto(file.as_uri(), wait_until="commit")
            page.wait_for_function("window.painted !== undefined", timeout=1000 * LIMIT)
            return page.evaluate("window.painted")
        except NotDrawn:
            return LIMIT
        finally:
            page.close()


def _page_rows(name: str, rows: dict[str, tuple[list, list, list]]) -> Iterator[Row]:
    for number, what in enumerate(("page, bytes", "page, make, ms", "page, paint, ms")):
        ours = rows[OURS][number]
        for tool, values in rows.items():
            mine = values[number]
            given_up = number == 2 and statistics.median(mine) >= LIMIT
            median = f"{statistics.median(mine):,.0f}" if number == 0 else spread(mine)
            quotient = ratio(mine, ours) if number else f"{statistics.median(mine) / statistics.median(ours):.2f}"
            if given_up:
                median, quotient = f"given up after {1000 * LIMIT:,.0f}", f"above {LIMIT / statistics.median(ours):.2f}"
            yield what, name, "", tool, median, quotient


def compared(what: str, of: str, threads: int, times: dict[str, list[float]]) -> Iterator[Row]:
    """The rows of several tools, ours among them, each with its seconds."""
    for tool, mine in times.items():
        yield what, of, str(threads), tool, spread(mine), ratio(mine, times[OURS])


def ctranslate2_of(marian: Any, folder: str) -> Any:
    """CTranslate2's translator with the weights of a MarianMT model.

    Args:
        marian: the model.
        folder: where its own format may be written.
    """
    import ctranslate2
    from ctranslate2.converters.transformers import MarianMTLoader

    spec = MarianMTLoader().get_model_spec(marian)  # without the last word, which is Marian's padding elsewhere
    words = [f"w{i}" for i in range(len(spec.decoder.embeddings.weight))]
    words[EOS_ID] = "</s>"
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.decoder_start_token = words[marian.config.decoder_start_token_id]
    spec.config.eos_token = words[EOS_ID]
    spec.config.unk_token = words[EOS_ID + 1]
    spec.config.bos_token = words[EOS_ID - 1]
    spec.validate()
    spec.optimize()
    spec.save(folder)
    return ctranslate2


def measure_translation(translator: Translator, threads: int, rounds: int) -> Iterator[Row]:
    """Translate in turns."""
    torch.manual_seed(0)
    marian = random_marian(translator.config)
    with tempfile.TemporaryDirectory() as folder:
        library = ctranslate2_of(marian, folder)
        floor = library.Translator(folder, device="cpu", intra_threads=threads, compute_type="float32")
    times: tuple[list[float], ...] = ([], [], [])
    counts, texts = [], sentences(seed=2)
    for _ in range(rounds + 3):
        text = next(texts)
        ours, result = timed(lambda text=text: translator.translate(text, beam=1), False)
        n_source, steps = len(result.source_tokens), steps_of(result.search.tree)
        words = [f"w{n}" for n in torch.randint(EOS_ID + 2, marian.config.vocab_size - 1, (n_source - 1,)).tolist()]
        options = {"beam_size": 1, "min_decoding_length": steps, "max_decoding_length": steps, "return_scores": False}
        source = [[*words, "</s>"]]
        bare, output = timed(lambda source=source, options=options: floor.translate_batch(source, **options), False)
        if len(output[0].hypotheses[0]) != steps:
            raise RuntimeError(f"CTranslate2 made {len(output[0].hypotheses[0])} steps instead of {steps}")
        theirs = generate(marian, n_source, steps, 1, False)
        counts.append(steps)
        for values, value in zip(times, (ours, theirs, bare), strict=True):
            values.append(value)
    times_by_tool = dict(zip((OURS, "MarianMT", "CTranslate2, no maps"), (values[3:] for values in times), strict=True))
    yield from compared("translation, ms", f"{statistics.mean(counts[3:]):.1f} steps", threads, times_by_tool)


def random_ids(n: int, n_words: int, first: Sequence[int] = (), last: Sequence[int] = ()) -> torch.Tensor:
    """(1, n) ids, with given ones at the ends."""
    ids = torch.randint(EOS_ID + 2, n_words, (1, n))
    if first:
        ids[0, : len(first)] = torch.tensor(first)
    if last:
        ids[0, -len(last) :] = torch.tensor(last)
    return ids


@torch.inference_mode()
def measure_lengths(translator: Translator, threads: int, rounds: int) -> Iterator[Row]:
    """Pass sentences of every length through both models in turns."""
    torch.manual_seed(0)
    marian, model, n_words = random_marian(translator.config), translator.model, translator.config.vocab_size
    for n in LENGTHS:
        if n > translator.config.max_length:
            note = f"none: the model has positions for {translator.config.max_length}"
            yield "recorded pass, ms", f"{n} tokens", str(threads), OURS, note, ""
            continue
        times: tuple[list[float], list[float]] = ([], [])
        for i in range(rounds + 2):
            src, tgt = random_ids(n, n_words, last=[EOS_ID]), random_ids(n, n_words, first=[BOS_ID])

            def ours(src=src, tgt=tgt):
                with record():
                    return model(src, tgt)

            def theirs(src=src, tgt=tgt):
                return marian(input_ids=src, decoder_input_ids=tgt, output_attentions=True)

            for values, call in zip(times, (ours, theirs), strict=True):
                seconds, _ = timed(call, False)
                if i > 1:
                    values.append(seconds)
        times_by_tool = dict(zip((OURS, "MarianMT"), times, strict=True))
        yield from compared("recorded pass, ms", f"{n} tokens", threads, times_by_tool)


def is_there(module: str) -> bool:
    """Whether a module can be imported; unlike `find_spec`, of a package that is not there, too."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=10, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of each side (default: 1 2)")
    parser.add_argument("--skip", nargs="+", choices=PARTS, default=[], help="parts to leave out")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error(f"--rounds must be at least 2, for quartiles, got {options.rounds}")
    if min(options.threads) < 1:
        parser.error(f"--threads must be at least 1, got {min(options.threads)}")
    for part, packages in NEEDED.items():
        missing = [package for package, module in packages.items() if not is_there(module)]
        if missing and part not in options.skip:
            names = " ".join(missing)
            parser.error(f"{part} needs {names}: pip install {names}, or leave it out with --skip {part}")
    translator = translator_of(options)
    print(f"torch {torch.__version__}, float32, wall-clock time, medians of {options.rounds} with quartiles\n")
    rows = [] if "pages" in options.skip else list(measure_pages(options.rounds))
    for part, measure in (("translation", measure_translation), ("lengths", measure_lengths)):
        for threads in () if part in options.skip else options.threads:
            torch.set_num_threads(threads)
            rows += measure(translator, threads, options.rounds)
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
