"""The page Translate as a visitor meets it, with what is wanted of it beside each figure.

    python -m benchmarks.page [--against DIR] [--starts 5] [--rounds 20] [--warmup 3] [--tokens 16 64 128]

Runs the app with `streamlit run app.py` on a free port and looks at it in Chromium, which is open already. --against is
a second checkout (`git worktree add DIR COMMIT`): its app runs with the same Python, and what both have is measured in
turns, sentence by sentence and start by start. "Drawn" is always two animation frames later.

Another head, kind or summary: from the mouse button, the key or the choice to the repainted map, by the clock inside
the page; each head in turns with a bare `Plotly.react` of the very same figure with other numbers, in the same node.
Messages are those that the browser sent over the websocket meanwhile.

New sentence: one that was never translated before is put into the field; the clock runs inside the page from Enter to
the new maps. The server has a stopwatch on (benchmarks/support/timed_server.py), so that translating can be taken off,
and what is left be told apart: the rest of the rerun; and the way to the server and back, with drawing. Medians are
taken of each row for itself.

Start: from the start of the process to the first large heatmap in the window; a new process and a fresh profile each
time. Its bytes are all that travelled, messages over the websocket included, until nothing more comes; then the page is
loaded again.

Large: a model of 6 x 8 heads with random weights, which does not stop before 128 tokens.

Engine: what `python -m benchmarks.engine` measures, in a table of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks import engine
from benchmarks.browsing import ENTER, FIELDS, FIRST, FRAMES, MAP, Wire, chromium, new_page, only_run, timed_page
from benchmarks.common import Machine, row, sentences, table, text_of
from benchmarks.support.server import ROOT, serve
from model import load_translator
from model.running.translator import DEFAULT_CHECKPOINT, Translator
from model.storage import checkpoint
from model.storage.checkpoint import checkpoints_folder
from model.transformer import Transformer

HEADS = ("", "wanted", "median", "quartiles", "against", "ratio")
PARTS = ("whole", "translate", "rest of the rerun", "transfer and paint", "on top")
LARGE = {"d_model": 64, "n_heads": 8, "n_encoder_layers": 6, "n_decoder_layers": 6, "d_ff": 128, "max_length": 128}
RELOADS = 3  # of each start

# The map counts as repainted when Plotly says so and its numbers are others than before.
_REPAINTED = f"""
{FRAMES}
const plot = document.querySelector('{MAP}'), before = plot.data[0].z;
const repainted = start => new Promise((done, failed) => {{
  late(failed);
  const look = () => {{
    if (plot.data[0].z === before) return;
    plot.removeListener('plotly_afterplot', look);
    frames(() => done((performance.now() - start) / 1000));
  }};
  plot.on('plotly_afterplot', look);
}});
"""
# Made before the event and asked after it: nothing to the browser lies between the event and the picture.
WATCH = f"""type => {{
  {_REPAINTED}
  window.watched = new Promise((done, failed) => {{
    addEventListener(type, event => repainted(event.timeStamp).then(done, failed), {{once: true, capture: true}});
  }});
}}"""
BARE = f"""() => {{
  {_REPAINTED}
  const [heat, ...others] = plot.data, z = heat.z.map(row => row.slice().reverse());
  const seconds = repainted(performance.now());
  Plotly.react(plot, [{{...heat, z}}, ...others], plot.layout, plot._context);
  return seconds;
}}"""
SHAPE = """() => { const cells = [...document.querySelectorAll('[data-testid=stage-heads] [data-head]')].pop();
  return [Number(cells.dataset.layer) + 1, Number(cells.dataset.head) + 1]; }"""
KINDS = "() => [...document.querySelectorAll('[data-testid=stage-kinds] [data-kind]')].map(one => one.dataset.kind)"
OPENED = """() => {
  const {layer, head} = document.querySelector('[data-testid=stage-heads] [aria-selected=true]').dataset;
  return [Number(layer), Number(head)];
}"""
ARROWS = {(0, 1): "ArrowRight", (0, -1): "ArrowLeft", (1, 0): "ArrowDown", (-1, 0): "ArrowUp"}


def enter(page: Any, text: str, log: Path) -> dict[str, float]:
    """Type a sentence that was never translated before and wait for its maps.

    Returns:
        Seconds, by PARTS.

    Raises:
        RuntimeError: if another sentence was translated meanwhile, or the map is of another one.
    """
    n_before = len(log.read_text(encoding="utf-8").splitlines())
    result = page.evaluate(ENTER, text)
    run = only_run(log, n_before)
    if run["text"] != text or run["shape"] != result["shape"]:
        raise RuntimeError(f"{text!r} was entered, but {run['text']!r} translated or another map drawn")
    total, translate, rerun = result["seconds"], run["translate"], run["rerun"]
    return dict(zip(PARTS, (total, translate, rerun - translate, total - rerun, total - translate)))


def walk(layers: int, heads: int) -> Iterator[tuple[int, int]]:
    """Heads for ever, each a neighbour of the one before: through all of them, and back."""
    path = [(layer, head) for layer in range(layers) for head in range(heads)[:: -1 if layer % 2 else 1]]
    yield from itertools.chain.from_iterable(itertools.repeat(path + path[-2:0:-1]))


def repaint(page: Any, event: str, act: Callable[[str], None], what: str) -> float:
    """Do to something what repaints the map; return the seconds since the event."""
    if event == "pointerup":
        page.hover(what)  # who clicks has pointed there before
    page.evaluate(WATCH, event)
    act(what)
    return page.evaluate("() => window.watched")


def measure_heads(page: Any, rounds: int, warmup: int) -> dict[str, list[float]]:
    """Open other heads by click and by key; return the seconds by way, and of the bare drawing."""
    places = walk(*page.evaluate(SHAPE))
    times: dict[str, list[float]] = {"click": [], "key": [], "bare": []}
    opened = tuple(page.evaluate(OPENED))
    for place in places:
        if opened != place:  # where the walk begins
            break
        opened = place
    cell = "[data-testid=stage-heads] [data-layer='{}'][data-head='{}']"
    click = partial(page.click, force=True)  # what the driver checks itself while it clicks would count
    repaint(page, "pointerup", click, cell.format(*place))
    for i in range(2 * (warmup + rounds)):
        opened, place = place, next(places)
        if i % 2:
            page.focus(cell.format(*opened))
            key = ARROWS[place[0] - opened[0], place[1] - opened[1]]
            seconds = repaint(page, "keydown", page.keyboard.press, key)
        else:
            seconds = repaint(page, "pointerup", click, cell.format(*place))
        if tuple(page.evaluate(OPENED)) != place:
            raise RuntimeError(f"head {place} was asked for, and another one opened")
        times["key" if i % 2 else "click"].append(seconds)
        times["bare"].append(page.evaluate(BARE))
    return {way: all_of[(2 if way == "bare" else 1) * warmup :] for way, all_of in times.items()}


def measure_kinds(page: Any, rounds: int, warmup: int) -> list[float]:
    """Open one kind after the other, at last the first one again; return the seconds."""
    kinds = page.evaluate(KINDS)
    next_kinds = itertools.islice(itertools.cycle(kinds), 1, 1 + len(kinds) + warmup + rounds)
    button = "[data-testid=stage-kinds] [data-kind={}]"
    times = [repaint(page, "pointerup", page.click, button.format(kind)) for kind in next_kinds]
    page.click(button.format(kinds[0]))
    return times[len(kinds) + warmup :]


def measure_options(page: Any, rounds: int, warmup: int) -> list[float]:
    """Summarise heads in each way in turns, at last in none; return the seconds."""
    page.click("[data-testid=stage-options]")
    choice = ".hl-panel select >> nth=0"
    ways = itertools.islice(itertools.cycle(("mean", "max", "deviation", "single")), 4 * -(-(warmup + rounds) // 4))
    times = [repaint(page, "change", lambda what, way=way: page.select_option(what, way), choice) for way in ways]
    page.keyboard.press("Escape")
    return times[warmup:]


def visit_once(browser: Any, root: Path) -> dict[str, list[float]]:
    """Start an app and open it for the first time; return start, bytes, plotly (answers) and reload, as lists."""
    page = new_page(browser)
    wire = Wire(page)
    start = time.perf_counter()
    with serve(root / "app.py", environment={"PYTHONPATH": str(root)}, pause=0.02) as url:
        page.goto(url, wait_until="commit")
        page.evaluate(FIRST)
        seconds = time.perf_counter() - start
        page.wait_for_load_state("networkidle")
        wire.settled(1000)
        n_bytes = wire.fetched + wire.messages
        n_plotly = sum("plotly" in address.lower() for address in wire.addresses)
        reloads = []
        for _ in range(RELOADS):
            page.reload(wait_until="commit")
            reloads.append(page.evaluate(FIRST))
            wire.settled()
        page.context.close()
    return {"start": [seconds], "bytes": [n_bytes], "plotly": [n_plotly], "reload": reloads}


def measure_large(browser: Any, rounds: int, texts: Iterator[str]) -> dict[str, list[float]]:
    """Enter long sentences for the large model; return bytes of messages and fetched ones, and the seconds on top."""
    values: dict[str, list[float]] = {"messages": [], "fetched": [], "on top": []}
    with tempfile.TemporaryDirectory() as folder:
        translator = save_large(Path(folder))
        with timed_page(browser, environment={"HEADLIGHT_CHECKPOINTS": folder}) as (page, log):
            page.wait_for_selector(FIELDS)
            wire = Wire(page)
            for _ in range(rounds):
                wire.settled(1500)  # what is fetched afterwards is of the sentence before
                messages, fetched = wire.messages, wire.fetched
                text = text_of(translator, translator.max_source_tokens, texts)
                values["on top"].append(enter(page, text, log)["on top"])
                values["messages"].append(wire.messages - messages)
                values["fetched"].append(wire.fetched - fetched)
    return values


def save_large(folder: Path) -> Translator:
    """Save a model of LARGE's size with random weights as the one that the app starts with."""
    like = checkpoint.load(checkpoints_folder() / DEFAULT_CHECKPOINT)
    torch.manual_seed(0)
    model = Transformer(dataclasses.replace(like.model.config, **LARGE))
    with torch.no_grad():
        model.output.weight.mul_(20)  # sure of each word, and so in no hurry to end
    checkpoint.save(folder / DEFAULT_CHECKPOINT, model, like.tokenizer, like.card)
    return load_translator(str(folder / DEFAULT_CHECKPOINT))


def line(
    name: str, target: str, ours: Sequence[float], theirs: Sequence[float] = (), unit: float = 1000, limit: str = ""
) -> tuple[str, ...]:
    """A row of the table.

    Args:
        name: what is measured.
        target: of the median, or of the ratio.
        ours: in seconds, bytes, or pieces.
        theirs: what ours are compared with, if anything.
        unit: what they are multiplied by.
        limit: wanted of the ratio, where `target` is of the median.
    """
    _, median, quartiles, _ = row(name, ours, unit)
    if not theirs:
        return name, target, median, quartiles, "", ""
    share = statistics.median(ours) / statistics.median(theirs)
    return name, target, median, quartiles, row(name, theirs, unit)[1], f"{share:.2f} {limit}".strip()


def measure(browser: Any, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Measure everything; yield the rows of the table, those of one measurement after the other."""
    texts, translator = sentences(seed=4), load_translator()
    roots = [ROOT, *([options.against] if options.against else [])]
    with ExitStack() as stack:
        apps = [stack.enter_context(timed_page(browser, root=root)) for root in roots]
        for page, _ in apps:
            page.wait_for_selector(FIELDS)  # its code may come after that of charts
        runs: list[list[dict[str, float]]] = [[] for _ in roots]
        for i in range(options.warmup + options.rounds):
            text = next(texts)
            for side in range(len(roots))[:: -1 if i % 2 else 1]:  # each is first in turns
                runs[side].append(enter(apps[side][0], text, apps[side][1]))
        ours, theirs = ([*(side[options.warmup :] for side in runs), []])[:2]
        for part, limit in (("on top", "<= 0.5 of it"), *((part, "") for part in PARTS[:-1])):
            name = f"  {part}, ms" if not limit else "new sentence, on top of translating, ms"
            yield line(name, limit, *([run[part] for run in side] for side in (ours, theirs)))
        page, log = apps[0]
        wire = Wire(page)
        for n_tokens, most in zip(options.tokens, [70] + [120] * len(options.tokens)):
            enter(page, text_of(translator, n_tokens, texts), log)
            n_before = wire.settled().sent
            times = measure_heads(page, options.rounds, options.warmup)
            for way in ("click", "key"):
                name = f"another head by {way}, {n_tokens} tokens, ms (against: bare react)"
                yield line(name, f"<= {most}", times[way], times["bare"], limit="(<= 1.6)")
            if n_tokens == options.tokens[0]:
                times = measure_kinds(page, options.rounds, options.warmup)
                yield line(f"another kind, {n_tokens} tokens, ms", "<= 90", times)
            most = 60 if n_tokens <= 16 else 150
            times = measure_options(page, options.rounds, options.warmup)
            yield line(f"another summary of heads, {n_tokens} tokens, ms", f"<= {most}", times)
            yield line("  messages sent", "0", [wire.settled().sent - n_before], unit=1)
    visits = [visit_once(browser, root) for _ in range(options.starts) for root in roots]

    def both(what: str) -> list[list[float]]:
        return [sum((visit[what] for visit in visits[side :: len(roots)]), []) for side in range(len(roots))]

    yield line("bytes of a first visit, MB", "<= 0.65 of it", *both("bytes"), unit=1e-6)
    yield line("  answers with Plotly in their name", "1", *both("plotly"), unit=1)
    yield line("reload to first heatmap, ms", "<= 0.75 of it", *both("reload"))
    yield line("process start to first heatmap, ms", "<= 1 of it", *both("start"))
    large, name = measure_large(browser, min(options.rounds, 5), texts), "6 x 8 heads, 128 tokens"
    yield line(f"{name}: sent at first, MB", "<= 1", large["messages"], unit=1e-6)
    yield line("  fetched by the browser before the map is there, MB", "", large["fetched"], unit=1e-6)
    yield line(f"{name}: translation to map, ms", "<= 1000", large["on top"])


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, metavar="DIR", help="a second checkout, of an older commit")
    parser.add_argument("--starts", type=int, default=5, help="timed starts (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="timed sentences and clicks (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="untimed ones first (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 128], help="where heads change")
    options = parser.parse_args()
    if min(options.starts, options.rounds) < 1 or options.warmup < 0:
        parser.error(f"starts and rounds must be at least 1, got {options.starts} and {options.rounds}")
    if options.against and not (options.against / "app.py").is_file():
        parser.error(f"{options.against} is not a checkout of this project: it has no app.py")
    return options


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    machine = Machine()
    with chromium() as browser:
        rows = list(measure(browser, options))
        print(f"{options.rounds} sentences and clicks, {options.starts} starts; wall-clock time; {machine.message()}\n")
        print(table(HEADS, rows), flush=True)
        machine = Machine()
        print(f"\nengine, torch with {torch.get_num_threads()} threads\n")
        for part in engine.report(browser, load_translator(), engine.TOKENS, options.rounds, options.warmup):
            print(part, flush=True)
        print(f"\n{machine.message()}")


if __name__ == "__main__":
    main()
