"""Mistakes of one line each, and whether the tests notice them.

    python -m tests.faults                   all of them
    python -m tests.faults beam "axes swapped"   those whose names contain one of these

Each mistake is made in a copy of the tracked files, never in the checkout, and the tests that should notice it run
there. One line per mistake says `caught` or `NOT CAUGHT`; exit status 1 if any was not, if its line is no longer there,
or if its tests fail without it.

Where tests/test_faults.py says that the text of a mistake does not occur once, the code around it was changed: find the
line that does the same now and give `old` and `new` after it; a mistake that can no longer be made gets another one in
its place. Then run it by its name: it must be caught.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[1]
FAILED, PASSED = 1, 0  # what pytest ends with; anything else says nothing about a mistake


class Fault(NamedTuple):
    """A mistake: in a file, one text that occurs once becomes another; tests (arguments of pytest) that should fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


_MODEL, _VIZ, _APP = "tests/test_model/test_", "tests/test_viz/test_", "tests/test_app/test_"
_STAGE, _ALONE = f"{_APP}browser/test_stage.py::test_", f"{_APP}browser/test_alone.py::test_"
FAULTS = (
    # The equations.
    Fault("mask upside down", "model/masks.py", "(ids != PAD_ID)", "(ids == PAD_ID)", f"{_MODEL}masks.py"),
    Fault(
        "causal mask off by one",
        "model/masks.py",
        "diagonal=n_keys - n_queries",
        "diagonal=n_keys - n_queries + 1",
        f"{_MODEL}masks.py",
    ),
    Fault(
        "padding attended",
        "model/masks.py",
        "reduce(torch.logical_and, masks)",
        "reduce(torch.logical_or, masks)",
        f"{_MODEL}masks.py",
    ),
    Fault(
        "scale left out",
        "model/attention.py",
        "raw_scores / math.sqrt(self.d_head)",
        "raw_scores",
        f"{_MODEL}attention.py",
    ),
    Fault(
        "softmax over the wrong axis",
        "model/attention.py",
        "return scores.softmax(dim=-1)",
        "return scores.softmax(dim=-2)",
        f"{_MODEL}attention.py",
    ),
    Fault(
        "uniform row where nothing may be attended",
        "model/attention.py",
        ".softmax(dim=-1).masked_fill(blocked, 0.0)",
        ".softmax(dim=-1)",
        f"{_MODEL}attention.py",
    ),
    Fault(
        "tap after dropout",
        "model/attention.py",
        "        weights = self.dropout(weights)\n",
        "        weights = self.tap_weights(self.dropout(weights))\n",
        f"{_MODEL}attention.py {_MODEL}taps.py",
    ),
    Fault(
        "heads attend to heads",
        "model/attention.py",
        "x.view(*x.shape[:-1], -1, self.d_head).transpose(1, 2)",
        "x.view(x.size(0), -1, x.size(1), self.d_head)",
        f"{_MODEL}attention.py",
    ),
    Fault(
        "positional encoding shifted",
        "model/transformer.py",
        "self.table[None, start:end]",
        "self.table[None, start + 1 : end + 1]",
        f"{_MODEL}transformer.py",
    ),
    Fault(
        "embedding not scaled",
        "model/transformer.py",
        "self.embedding(ids) * self.scale",
        "self.embedding(ids)",
        f"{_MODEL}transformer.py",
    ),
    Fault(
        "weights copied instead of shared",
        "model/transformer.py",
        "self.output.weight = target.weight",
        "self.output.weight = nn.Parameter(target.weight.detach().clone())",
        f"{_MODEL}transformer.py",
    ),
    Fault(
        "cached step at the first position",
        "model/transformer.py",
        "self.input(ids, start=cache.length)",
        "self.input(ids)",
        f"{_MODEL}transformer.py",
    ),
    Fault(
        "norm on the wrong side of the residual",
        "model/layers.py",
        "self.norm(x + self.dropout(sublayer(x)))",
        "x + self.norm(self.dropout(sublayer(x)))",
        f"{_MODEL}layers.py",
    ),
    Fault(
        "gate of the GRU turned round",
        "model/gru.py",
        "u * hidden + (1 - u) * candidate",
        "(1 - u) * hidden + u * candidate",
        f"{_MODEL}gru.py",
    ),
    # Decoding, interventions, analysis.
    Fault(
        "beam length penalty wrong",
        "model/decoding/beam.py",
        "((5 + length) / 6) ** alpha",
        "(5 + length) ** alpha / 6",
        f"{_MODEL}decoding/test_searches.py",
    ),
    Fault(
        "end token not counted in the length",
        "model/decoding/beam.py",
        "len(hypothesis.ids) + hypothesis.finished",
        "len(hypothesis.ids)",
        f"{_MODEL}decoding/test_searches.py",
    ),
    Fault(
        "beam continues another hypothesis",
        "model/decoding/beam.py",
        "kept_rows.append(row)",
        "kept_rows.append(0)",
        f"{_MODEL}decoding/test_searches.py",
    ),
    Fault(
        "top-p cuts one word too many",
        "model/decoding/sampling.py",
        "before > top_p - 1e-6",
        "before + probabilities > top_p - 1e-6",
        f"{_MODEL}language_model.py",
    ),
    Fault(
        "recording goes on after its block",
        "model/taps.py",
        "        _HOOKS.reset(token)\n",
        "        pass\n",
        f"{_MODEL}taps.py",
    ),
    Fault(
        "forced by what is left",
        "model/interventions/edits.py",
        "*= 1 - force.strength",
        "*= force.strength",
        f"{_MODEL}interventions/test_edits.py",
    ),
    Fault(
        "effect with the wrong sign",
        "model/analysis/effects.py",
        "direction = matrix[ids].astype(np.float64) - _of_words(matrix, alternatives)",
        "direction = _of_words(matrix, alternatives) - matrix[ids].astype(np.float64)",
        f"{_MODEL}analysis/test_effects.py {_MODEL}running/test_attribution.py",
    ),
    Fault(
        "rows named by the wrong tokens",
        "model/running/translator.py",
        "target_tokens=target.tokens(input_ids)",
        "target_tokens=target.tokens(output_ids)",
        f"{_MODEL}running/test_translator.py",
    ),
    # Training, scores, commands.
    Fault(
        "target off by one",
        "model/training/losses.py",
        "tgt[:, 1:]",
        "tgt[:, :-1]",
        f"{_MODEL}training/test_loop.py {_MODEL}training/test_loss.py",
    ),
    Fault(
        "schedule off by one step",
        "model/training/schedules.py",
        "step * warmup**-1.5",
        "(step - 1) * warmup**-1.5",
        f"{_MODEL}training/test_schedules.py",
    ),
    Fault(
        "padding counted in the loss",
        "model/training/losses.py",
        "(targets != PAD_ID).to(z.dtype)",
        "torch.ones_like(targets).to(z.dtype)",
        f"{_MODEL}training/test_loss.py",
    ),
    Fault(
        "resumed with other random numbers",
        "model/training/state.py",
        'torch.set_rng_state(tensors["random.cpu"])',
        "torch.manual_seed(0)",
        f"{_MODEL}training/test_state.py",
    ),
    Fault(
        "BLEU lowercased",
        "model/measures/evaluate.py",
        "BLEU(lowercase=lowercase)",
        "BLEU(lowercase=True)",
        f"{_MODEL}training/test_data/test_lowercase.py {_MODEL}commands/test_commands.py",
    ),
    Fault(
        "JSON without log-probabilities",
        "model/commands/results.py",
        '{"log_probabilities": [round(float(value), 5) for value in result.log_probabilities]}',
        "{}",
        f"{_MODEL}commands/test_commands.py",
    ),
    # Figures, views, the server.
    Fault(
        "rows and columns swapped",
        "viz/figures/heatmap.py",
        "rows or len(values), titles[0]",
        "columns or len(values), titles[0]",
        f"{_VIZ}figures/test_contract.py",
    ),
    Fault(
        "wrong title of an axis",
        "viz/figures/heatmap.py",
        "columns or values.shape[1], titles[1]",
        "columns or values.shape[1], titles[0]",
        f"{_VIZ}figures/test_attention.py {_VIZ}figures/test_heatmap.py",
    ),
    Fault(
        "rows upside down",
        "viz/figures/heatmap.py",
        '"range": ends[::-1] if downwards else ends',
        '"range": ends',
        f"{_VIZ}figures/test_contract.py",
    ),
    Fault(
        "colours end at the largest weight",
        "viz/figures/maps.py",
        "if scale_to_max:",
        "if weights.any():",
        f"{_VIZ}figures/test_attention.py",
    ),
    Fault(
        "legend of a mask swapped",
        "viz/figures/maps.py",
        '(message("blocked (orange)"), message("may attend (blue)"))',
        '(message("may attend (blue)"), message("blocked (orange)"))',
        f"{_VIZ}figures/test_masks.py",
    ),
    Fault(
        "differences not centred",
        "viz/figures/heatmap.py",
        '"zmin": -limit',
        '"zmin": float(values.min(initial=0.0))',
        f"{_VIZ}figures/test_differences.py",
    ),
    Fault(
        "the browser's cosines before its sines",
        "viz/web/engine/model/positions.js",
        "? column < half :",
        "? column >= half :",
        f"{_VIZ}web/test_engine/test_encodings.py",
    ),
    Fault(
        "the browser shuffles from the other end",
        "viz/web/engine/arithmetic/random.js",
        "const other = below(i + 1);",
        "const other = i - below(i + 1);",
        f"{_VIZ}web/test_engine/test_encodings.py",
    ),
    Fault(
        "cross-attention named by the wrong side",
        "viz/web/recording/maps/axes.js",
        'const keys = of === "source" ? source : target;',
        'const keys = of === "source" ? target : source;',
        f"{_VIZ}web/test_recording/test_same_numbers.py",
    ),
    Fault(
        "a batch in the browser reads the future",
        "viz/web/engine/analysis/mask_passes.js",
        "!look_ahead || key <= query",
        "!look_ahead || key <= query + 1",
        f"{_VIZ}web/test_engine/test_masks.py",
    ),
    Fault(
        "what padding attends to leaks on the site",
        "viz/web/sheets/makers/masks/compared.js",
        "t < real && !isOpen",
        "!isOpen",
        f"{_VIZ}site/test_masks_page.py",
    ),
    Fault(
        "address forgets a choice",
        "viz/views/view.py",
        "if value != getattr(View, name, value)}",
        "if value != getattr(View, name, value) and name != 'beam'}",
        f"{_VIZ}views/test_view.py",
    ),
    Fault(
        "cache shared between visitors",
        "viz/views/cached.py",
        "@cache_results(line=TRANSLATING)",
        "@st.cache_resource(max_entries=64)",
        f"{_APP}shared.py::TestCache",
    ),
    Fault(
        "the model in use leaves memory first",
        "viz/views/memory.py",
        "            self._models.move_to_end(key)\n",
        "",
        f"{_VIZ}views/test_memory.py",
    ),
    Fault(
        "last to come computes first",
        "viz/views/turns.py",
        "while self._queue[0] is not ticket",
        "while self._queue[-1] is not ticket",
        f"{_VIZ}views/test_turns.py",
    ),
    Fault(
        "host check off",
        "viz/app/guard.py",
        "problem = self._wrong_host(host) or",
        "problem = False or",
        f"{_VIZ}app/test_guard.py",
    ),
    Fault(
        "XSRF protection off",
        ".streamlit/config.toml",
        "enableXsrfProtection = true",
        "enableXsrfProtection = false",
        "tests/test_setup.py::TestConfiguration",
    ),
    # The browser.
    Fault(
        "another head drawn",
        "viz/web/recording/maps/drawing.js",
        "const matrix = this.mapData.weights[layer][head];",
        "const matrix = this.mapData.weights[layer].at(head - 1) ?? [];",
        f"{_ALONE}another_model_with_many_heads_and_hostile_tokens",
    ),
    Fault(
        "tiles of heads swapped",
        "viz/web/stage/tiles/sprite.js",
        "const cells = tiles[row][head];",
        "const cells = tiles[row].at(head - 1) ?? [];",
        f"{_ALONE}tiles_and_lines_are_of_their_head",
    ),
    Fault(
        "lines lead to the wrong words",
        "viz/web/stage/lines/curves.js",
        "M${to} 2C${to} ${height / 2} ${from} ${height / 2} ${from}",
        "M${from} 2C${from} ${height / 2} ${to} ${height / 2} ${to}",
        f"{_ALONE}tiles_and_lines_are_of_their_head",
    ),
    Fault(
        "click returns the wrong cell",
        "viz/web/stage/map/map.js",
        "[point.y, point.x]",
        "[point.x, point.y]",
        f"{_APP}browser/test_steer.py::test_cells_are_forced_a_mask_painted_and_words_written",
    ),
    Fault(
        "painted cell with its axes swapped",
        "viz/web/stage/map/map.js",
        "row < 0 || column < 0 ? null : [row, column]",
        "row < 0 || column < 0 ? null : [column, row]",
        f"{_APP}browser/test_steer.py::test_cells_are_forced_a_mask_painted_and_words_written",
    ),
    Fault(
        "another row lit",
        "viz/web/stage/map/map.js",
        "[this.row, row, -1]",
        "[this.row, row - 1, -1]",
        f"{_STAGE}one_sentence_its_heads_its_words_what_is_lit_its_views_and_what_cannot_be_translated",
    ),
    Fault(
        "film shows a step too few",
        "viz/web/stage/map/picture.js",
        "(i <= step ? row",
        "(i < step ? row",
        f"{_STAGE}steps_and_options_answer_without_a_message_and_options_stay_in_the_address",
    ),
    Fault(
        "address of the stage forgets the head",
        "viz/web/stage/main/state.js",
        "head: hasHead ? head : null",
        "head: null",
        f"{_APP}browser/test_stage.py::TestAddress::test_back_reloading_the_menu_and_another_visitor",
    ),
    Fault(
        "top-k forgotten in the browser",
        "viz/web/stage/changes/sampling.js",
        "temperature === 0 ? 1 : k || logits.length",
        "temperature === 0 ? 1 : logits.length",
        f"{_APP}browser/test_pages.py::test_bars_follow_the_sliders_without_the_server_and_a_text_goes_on",
    ),
    Fault(
        "colour of an effect turned round",
        "viz/web/stage/map/effects.js",
        "(1 + at(place, did)[row] / most) / 2",
        "(1 - at(place, did)[row] / most) / 2",
        f"{_APP}browser/test_effects.py::test_a_lit_row_tints_every_tile_by_what_its_head_did_and_its_parts_sum_to_the_logit",
    ),
    Fault(
        "click on a figure returns the wrong cell",
        "viz/web/plot/plot.js",
        "new FigureHeads(([y, x]) =>",
        "new FigureHeads(([x, y]) =>",
        f"{_APP}browser/test_plot.py::test_heads_of_a_board_are_chosen_with_the_mouse_and_with_arrow_keys_and_the_node_stays",
    ),
)


def misplaced(root: Path = ROOT) -> list[str]:
    """The mistakes whose text does not occur exactly once in its file, with how often it does."""
    counts = {fault.name: _text(root / fault.file).count(fault.old) for fault in FAULTS}
    return [f"{name}: its text occurs {count} times" for name, count in counts.items() if count != 1]


def lost(root: Path = ROOT) -> list[str]:
    """The tests of mistakes that are not there: a file, or a name in it."""
    missing = []
    for fault in FAULTS:
        for test in fault.tests.split():
            file, *names = test.split("::")
            text = _text(root / file)
            if not text or not all(re.search(rf"(?:def|class) {name}\b", text) for name in names):
                missing.append(f"{fault.name}: {test}")
    return missing


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def prepare() -> None:
    """Have this process ready to become pytest: with its settings, and with all imported that is not ours."""
    os.environ |= {"HEADLIGHT_PATIENCE": "20", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    for name in ("torch", "plotly.graph_objects", "streamlit.testing.v1", "hypothesis", "playwright.sync_api"):
        importlib.import_module(name)


def copied(folder: Path) -> None:
    """Copy what git tracks, with what is changed in it, but for the large checkpoints, which nothing writes to."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if not name.startswith("checkpoints/") and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "checkpoints").symlink_to(ROOT / "checkpoints")


def tested(folder: Path, tests: Iterable[str]) -> tuple[int, list[str]]:
    """Run tests in a copy up to the first that fails; what pytest ends with, and which failed."""
    printed = folder / ".printed"
    child = os.fork()
    if not child:
        _become_pytest(
            folder, printed, ["-x", "-q", "--no-header", "-rfE", "-p", "no:cacheprovider", "--reruns", "0", *tests]
        )
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    output = _text(printed)
    if code not in (PASSED, FAILED):
        print(output[-4000:], file=sys.stderr)
    return code, re.findall(r"^(?:FAILED|ERROR) ([^[ \n]+)", output, re.M)


def _become_pytest(folder: Path, printed: Path, arguments: list[str]) -> NoReturn:
    """Never returns; forgets the checkout that this process comes from."""
    code = 3
    try:
        os.chdir(folder)
        file = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        sys.path[:] = [place for place in sys.path if Path(place or ROOT).resolve() != ROOT]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        import pytest

        code = int(pytest.main(arguments))
        sys.stdout.flush()
    finally:
        os._exit(code)


def verdict(folder: Path, fault: Fault) -> tuple[str, list[str]]:
    """Make a mistake in a copy, run its tests, and take it back; what became of it, and the tests that failed."""
    path = folder / fault.file
    right = _text(path)
    if right.count(fault.old) != 1:
        return f"NOT FOUND: its text occurs {right.count(fault.old)} times in {fault.file}", []
    path.write_text(right.replace(fault.old, fault.new), "utf-8")
    try:
        code, failed = tested(folder, fault.tests.split())
    finally:
        path.write_text(right, "utf-8")
    return {FAILED: "caught", PASSED: "NOT CAUGHT"}.get(code, f"NOT CAUGHT: pytest ended with {code}"), failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mistakes and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of those to try; all when left out")
    names = parser.parse_args(arguments).names
    selection = [fault for fault in FAULTS if not names or any(name in fault.name for name in names)]
    missed = 0
    prepare()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copied(folder)
        noticed: dict[str, None] = {}
        for fault in selection:
            outcome, failed = verdict(folder, fault)
            missed += outcome != "caught"
            noticed |= dict.fromkeys(failed)
            print(f"{fault.name}: {outcome}", *failed, flush=True)
        if noticed and tested(folder, noticed)[0] != PASSED:
            print("NOT CAUGHT by tests that fail without a mistake, too")
            missed += 1
    print(f"{len(selection)} mistakes, {missed} problems")
    return int(bool(missed) or not selection)


if __name__ == "__main__":
    sys.exit(main())
