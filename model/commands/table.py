"""checkpoints/README.md, made from the cards: what ships, and its figures beside published ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model.storage.checkpoint import CARD, CONFIG, WEIGHTS, check_file, read_json, write_text

README = "README.md"
MOST_NAMED = 6  # corpora
_SYSTEMS = {"transformer": "Transformer", "gru": "GRU encoder-decoder", "language_model": "causal language model"}
_FLICKR = "multi30k/test_2016_flickr: "
# By checkpoint: the figure, and whose.
PUBLISHED = {
    "en-de": _FLICKR + "BLEU 36.3, cased (OPUS-MT opus-mt-en-de, 74 M, not trained on captions)",
    "de-en": _FLICKR + "BLEU 39.7, cased (OPUS-MT opus-mt-de-en, 74 M, not trained on captions)",
    "multi30k-de-en": _FLICKR + "BLEU 36.5 ¹ (pytorch-seq2seq, Transformer of 9.0 M, greedy)",
    "multi30k-de-en-gru": (
        _FLICKR + "perplexity 40.6 (the reference), 37.5 and 34.7 (pytorch-seq2seq); BLEU 20.6 ¹ (pytorch-seq2seq)"
    ),
    "multi30k-de-en-gru-attention": _FLICKR + "perplexity 25.6, BLEU 28.3 ¹ (pytorch-seq2seq, 20.5 M)",
    "wikitext2-lm": (
        "wikitext-2/test: perplexity 130.3 (PyTorch examples, tied LSTM of width 200, 6 passes), "
        "100.3 (the same, 40 passes)"
    ),
    "wikitext2-modern": "wikitext-2/test: none of this size on 51 million tokens",
}
_HEAD = """\
# Checkpoints

Made by `python -m model checkpoints --readme` from the cards in the folders; do not edit.

| system | data | parameters | our figure | published figure | command |
| --- | --- | --- | --- | --- | --- |
"""
_NOTES = """
BLEU is sacreBLEU with its 13a tokenisation; "lowercased" compares without case. Perplexity of a GRU is that of the
reference's words without teacher forcing; of a language model, that of every word, `<eos>` counted, in windows that do
not overlap. Each card has the signature and the command of its scores.

¹ Made with another tokenizer (words of spaCy, lowercased) and another BLEU: to be compared with care.

`recordings/smollm2-135m.npz` is not a checkpoint: attention maps of five texts and numbers of heads of SmolLM2-135M
(Hugging Face, Apache-2.0), which the lessons "Since 2017" and "Why there?" show, and for the latter the parts of one
query and of its keys in two heads. `python -m model.experiments.recorded_circuit DIR` writes it from a folder with that
model.

`since-2017/board.json` has twelve short runs of a language model on WikiText-2: as in 2017, with one change at a time,
with all of them, from two seeds each. `python -m model board` makes them again.

`films/` has recorded trainings of the page Warm-up: tiny models that learn a task, with all maps of one string and the
scores of all heads at about 60 steps, a byte per weight, and small decoders that read WikiText-2. Each has a card with
the command that makes it again. `python -m model film TASK --out FILE.film` makes one, `python -m model.films.shipped`
all of the tasks.

`recordings/positions.npz` is the learned table of the page Positions: 50 positions of 64 dimensions, trained so that a
head attends to the place before. `python -m model.experiments.recorded_positions` trains and writes it again.
"""


def render(folder: Path) -> str:
    """The table of all checkpoints as Markdown; a ValueError if a card or a configuration lacks what it shows."""
    names = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    return _HEAD + "".join(_row(folder / name) for name in names) + _NOTES


def write(folder: Path) -> Path:
    """Write the table of all checkpoints into the README of their folder; returns its path."""
    write_text(folder / README, render(folder))
    return folder / README


def line(folder: Path) -> str:
    """What a checkpoint is, how large, and its scores; errors as for `render`."""
    card = read_json(folder / CARD)
    size = check_file(folder / WEIGHTS).stat().st_size / 1e6
    with _complete(folder):
        scores = ", ".join(f"{test} {figure(score)}" for test, score in card.get("scores", {}).items())
        return f"{card['task']}, {card['parameters']:,} parameters, {size:.1f} MB; {scores or 'not scored'}"


@contextmanager
def _complete(folder: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{folder / CARD} lacks what the table shows: {error}") from None


def _row(folder: Path) -> str:
    card, config = read_json(folder / CARD), read_json(folder / CONFIG)
    with _complete(folder):
        system = _SYSTEMS.get(config["architecture"]) or str(config["architecture"])
        system += " with attention" if config.get("attention") else ""
        scores: dict[str, Any] = card.get("scores", {})
        cells = (
            f"[{folder.name}]({folder.name}): {system}, {card['task'].replace('translation ', '')}",
            _data(card),
            f"{card['parameters']:,}",
            "<br>".join(f"{test}: {figure(score)}" for test, score in scores.items()) or "not scored",
            PUBLISHED.get(folder.name, "none"),
            f"`{card['command']}`",
        )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _data(card: dict[str, Any]) -> str:
    if len(card["data"]) > MOST_NAMED:
        return f"{card['training']['data']}: {len(card['data'])} corpora, listed on its card"
    return ", ".join(f"{name} × {entry['weight']:g}" for name, entry in card["data"].items())


def figure(score: dict[str, Any]) -> str:
    """A score as the table has it."""
    parts = []
    if "bleu" in score:
        search = "greedy" if score["beam"] == 1 else f"beam {score['beam']}"
        case = ", lowercased" if "case:lc" in score["signature"] else ""
        parts.append(f"BLEU {score['bleu']:.1f} ({search}{case})")
    if "perplexity" in score:
        parts.append(f"perplexity {score['perplexity']:.1f}")
    return ", ".join(parts)
