"""Rotary positions, norms, feed-forward units and the cache: what the stories of "Since 2017" draw of layers."""

from contextlib import suppress
from typing import Any

import numpy as np
import torch

from model.analysis import maps as analysis
from model.experiments import norms, recorded_model, units
from model.experiments.recorded_model import shipped
from model.measures.context import cache_bytes
from model.positional import sinusoidal
from model.relative import rotary_frequencies, rotate
from model.running.translator import Writer
from model.taps import intervene
from viz.figures import Figure, bars, difference_heatmap, scatter
from viz.pages.lessons.since_recorded import RECORDING
from viz.text.language import message, say
from viz.ui.models import cache_card
from viz.ui.models.cache_card import Sizes
from viz.views.cached import cache_results, loaded_as
from viz.views.turns import in_turn

WRITER, MODERN = "wikitext2-lm", "wikitext2-modern"
TEXT = "the river flows through the valley"  # is moved
MOVED = 20  # positions by which it is moved
LAYERS_TEXT = "The river flows through the valley and the old town"  # whose last word is looked at
LAYER = 1  # whose feed-forward units are drawn
N_TOKENS, MEGABYTE = 8192, 1e6
LAYERS, HEADS, D_HEAD = 30, 9, 64  # of SmolLM2-135M


@cache_results(8)
def moved_by_model(name: str) -> tuple[list[str], np.ndarray]:
    """See `moved_scores` of `model.experiments.recorded_model`."""
    return in_turn(recorded_model.moved_scores)(loaded_as(Writer, name), TEXT, MOVED)


@cache_results()
def moved_scores() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Tokens, and how scores (T, T) of a head change when a text is moved: positions added, and turned instead."""
    writer = loaded_as(Writer, WRITER)
    n_heads = writer.config.n_heads
    root = writer.config.d_head**0.5
    ids = torch.tensor([[writer.tokenizer.eos_id, *writer.tokenizer.encode(TEXT)]])
    n = ids.size(1)
    table = sinusoidal(n + MOVED, writer.config.d_model)
    result = writer.read(TEXT)
    scores = []
    for start in (0, MOVED):
        positions = table[None, start : start + n].float()
        with intervene({"decoder.input.positions": lambda _, rows=positions: rows}):
            scores.append(writer.read(TEXT).trace["decoder.layers.0.self_attention.raw_scores"][n_heads - 1] / root)
    q, k = (
        torch.from_numpy(result.trace[f"decoder.layers.0.self_attention.{side}"][n_heads - 1]).double() for side in "qk"
    )
    turned = []
    for start in (0, MOVED):
        angles = torch.arange(start, start + n)[:, None] * rotary_frequencies(q.size(-1))
        a, b = (rotate(x, angles.cos(), angles.sin(), interleaved=True) for x in (q, k))
        turned.append((a @ b.T).numpy() / root)
    visible = np.tri(n)
    return result.target_tokens, (scores[1] - scores[0]) * visible, (turned[1] - turned[0]) * visible


def draw_moved(answered: bool, model: str = RECORDING) -> Figure:
    """How the scores of a head change when the text is moved: positions added; with the answer turned instead."""
    tokens, sinusoidal, turned = moved_scores()
    scores = turned if answered else sinusoidal
    if model:
        with suppress(ValueError):  # the sentence beside says it
            tokens, differences = moved_by_model(model)
            scores = differences[analysis.largest_cell(np.abs(differences).max((-2, -1)))]
    names = message("moved"), message("in place")
    return difference_heatmap(scores, tokens, tokens, a=names[0], b=names[1], say=say)


def live_turned(name: str) -> str:
    """How much scores of a model change when a text is moved."""
    _, differences = moved_by_model(name)
    layer, head = analysis.largest_cell(np.abs(differences).max((-2, -1)))
    return say(
        "When the text moves by {shift} positions, no score changes by more than {change:.2g}; the map shows head "
        "{layer}.{head}, where scores change most.",
        shift=MOVED,
        change=np.abs(differences).max(),
        layer=layer,
        head=head,
    )


@cache_results()
def last_streams(name: str) -> np.ndarray:
    """What the norms of a language model get at the last word of LAYERS_TEXT, (norms, D)."""
    return norms.last_streams(loaded_as(Writer, name), LAYERS_TEXT)


def draw_norms(answered: bool) -> Figure:
    """The numbers of a word as LayerNorm makes them over what RMSNorm does: first norm; with the answer the last."""
    eps = loaded_as(Writer, WRITER).config.norm_eps
    streams = last_streams(WRITER)
    places = {message("first norm"): 0} | ({message("last norm"): -1} if answered else {})
    clouds = {
        say(name): np.stack([norms.rms_norm(streams[place], eps), norms.layer_norm(streams[place], eps)])
        for name, place in places.items()
    }
    return scatter(clouds, x_axis="RMSNorm", y_axis="LayerNorm", diagonal=True, say=say)


@cache_results()
def other_norms(name: str) -> tuple[str, float, float]:
    """The likeliest word after LAYERS_TEXT, and its probabilities with the model's norms and with the other ones."""
    writer = loaded_as(Writer, name)
    original, swapped_norms = (in_turn(norms.next_words)(writer, LAYERS_TEXT, swapped) for swapped in (False, True))
    word = int(original.argmax())
    return writer.tokenizer.tokens([word])[0], float(original[word]), float(swapped_norms[word])


def norm_numbers() -> dict:
    """How far LayerNorm and RMSNorm are apart in a word, and what the model makes of the other one."""
    eps = loaded_as(Writer, WRITER).config.norm_eps
    streams = last_streams(WRITER)
    apart = np.abs(norms.layer_norm(streams, eps) - norms.rms_norm(streams, eps)).max(-1)
    word, before, after = other_norms(WRITER)
    return {"word": word, "before": before, "after": after, "first": apart[0], "last": apart[-1]}


@cache_results()
def units_of(name: str) -> units.Units:
    """The feed-forward units of LAYER at the last word of LAYERS_TEXT."""
    return units.last_units(loaded_as(Writer, name), LAYERS_TEXT, LAYER)


def draw_units(answered: bool) -> Figure:
    """What units hand on over what goes into their activation: ReLU; with the answer SwiGLU, too."""
    names = {"ReLU": WRITER} | ({"SwiGLU": MODERN} if answered else {})
    clouds = {label: np.stack(units_of(name)) for label, name in names.items()}
    axes: dict[str, Any] = {"x_axis": message("product before the activation"), "y_axis": message("number handed on")}
    return scatter(clouds, **axes, say=say)


def unit_numbers() -> dict:
    """How many units hand on 0, and how many a number below 0."""
    relu, gated = (units_of(name).hidden for name in (WRITER, MODERN))
    return {
        "zero": float((relu == 0).mean()),
        "n": len(relu),
        "gated_zero": int((gated == 0).sum()),
        "negative": float((gated < 0).mean()),
        "m": len(gated),
    }


def cache_sizes(name: str = RECORDING) -> tuple[float, float]:
    """Megabytes of a cache of N_TOKENS in 2 bytes, with the key/value heads that there are and with one per head."""
    sizes = cache_card.sizes_of(name) if name else Sizes(LAYERS, HEADS, shipped().n_key_value_heads, D_HEAD)
    groups = sizes.n_groups, sizes.n_heads
    shared, full = (cache_bytes(sizes.n_layers, n, sizes.d_head, N_TOKENS, 2) / MEGABYTE for n in groups)
    return shared, full


def draw_cache(answered: bool, model: str = RECORDING) -> Figure:
    """The cache with keys and values for each query head; with the answer as they are grouped, too."""
    grouped, full = cache_sizes(model)
    names = [say("one per query head"), say("grouped")]
    sizes = np.array([[full], [grouped if answered else 0.0]])
    return bars(
        sizes, names, value=message("megabytes"), token_axis=message("keys and values"), top=full * 1.05, say=say
    )


def live_cache(name: str) -> str:
    """What a model's cache takes."""
    grouped, full = cache_sizes(name)
    return say(
        "{n:,} tokens take {grouped:.1f} MB; with keys and values for each query head {whole:.1f} MB.",
        n=N_TOKENS,
        grouped=grouped,
        whole=full,
    )
