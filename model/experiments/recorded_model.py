"""What a language model from elsewhere does with some texts, small enough to ship: its heads, what they add.

`python -m model.experiments.recorded_model DIR` writes FILE from a model of transformers. Maps travel as bytes (an
error of at most 1 / 510), numbers of heads as 16-bit floats.
"""

import argparse
import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from model.analysis.repetitions import repetitions
from model.checkpoint import checkpoints_folder
from model.errors import Problem
from model.interventions.edits import Edits, Head

FOLDER, FILE = "recordings", "smollm2-135m.npz"  # below the folder of checkpoints
NAME = "SmolLM2-135M"
LICENCE = "SmolLM2-135M, Hugging Face, Apache-2.0: https://huggingface.co/HuggingFaceTB/SmolLM2-135M"
DRINK = "When Mary and John went to the store, John gave a drink to"
SINK = "The river flows through the valley and the old town"
OTHER_FIRST = "Because " + SINK[0].lower() + SINK[1:]
WITHOUT_FIRST = SINK.partition(" ")[2]
WORDS = "cat", "window", "seven", "river", "blue", "music", "paper", "yes", "stone", "light"
REPEATED = " ".join(2 * random.Random(4).sample(WORDS, len(WORDS)))
TEXTS = {"drink": DRINK, "sink": SINK, "other_first": OTHER_FIRST, "without_first": WITHOUT_FIRST, "repeated": REPEATED}
ASKED, RIVAL = " Mary", " John"
N_OFF = 2  # heads that are switched off: those that add most
_BYTE = 255


@dataclass(frozen=True)
class Recorded:
    """By name of TEXTS its tokens and maps float32 (L, H, T, T); what heads add to Mary less John, and what follows."""

    tokens: dict[str, list[str]]
    ids: dict[str, list[int]]
    weights: dict[str, np.ndarray]
    effects: np.ndarray  # float32 (L, H), in logits
    chances: np.ndarray  # float32 (2,), of Mary, with all heads and without the N_OFF that add most
    n_key_value_heads: int

    @property
    def off(self) -> list[tuple[int, int]]:
        """The heads that are switched off."""
        best = np.argsort(-self.effects, axis=None)[:N_OFF]
        return [tuple(map(int, np.unravel_index(place, self.effects.shape))) for place in best]

    def induction(self) -> np.ndarray:
        """How much each head gives to the token after the last occurrence, (L, H)."""
        return repetitions(self.weights["repeated"], self.ids["repeated"]).means()["induction"]

    def on_first(self, text: str) -> np.ndarray:
        """The mean weight of each head on the first token of a text, over all rows but the first, (L, H)."""
        return self.weights[text][..., 1:, 0].mean(-1)


@cache
def read(path: Path) -> Recorded:
    """What `record` wrote; a ValueError where it is not there."""
    if not path.is_file():
        raise Problem("the recording {path} is missing", path=path)
    with np.load(path) as kept:
        about = json.loads(str(kept["about"]))
        weights = {name: kept[name].astype(np.float32) / _BYTE for name in TEXTS}
        effects, chances = (kept[name].astype(np.float32) for name in ("effects", "chances"))
    return Recorded(about["tokens"], about["ids"], weights, effects, chances, about["n_key_value_heads"])


def shipped() -> Recorded:
    """The recording beside the checkpoints; errors as of `read`."""
    return read(checkpoints_folder() / FOLDER / FILE)


def record(folder: Path) -> None:
    """Read the texts with the model in a folder, and write FILE."""
    from model.adapters.loading import load_model

    reader = load_model(str(folder))
    results = {name: reader.read(text) for name, text in TEXTS.items()}
    asked, rival = (reader.tokenizer.encode(word)[0] for word in (ASKED, RIVAL))
    effects = reader.effects(results["drink"], asked, against=rival).heads("decoder_self")[:, :, -1].sum(-1)
    arrays = {"effects": effects.astype(np.float16)}
    recorded = Recorded({}, {}, {}, effects, np.zeros(2), 0)
    off = Edits(off=tuple(Head("decoder_self", layer, head) for layer, head in recorded.off))
    logits = [results["drink"].logits[-1], reader.read(DRINK, edits=off).logits[-1]]
    arrays["chances"] = np.array([_softmax(one)[asked] for one in logits], dtype=np.float32)
    arrays |= {name: _bytes(result.attention("decoder_self")) for name, result in results.items()}
    about = {
        "licence": LICENCE,
        "tokens": {name: result.target_tokens for name, result in results.items()},
        "ids": {name: [int(index) for index in reader.tokenizer.encode(text)] for name, text in TEXTS.items()},
        "n_key_value_heads": reader.config.layers("decoder_self")[0].n_key_value_heads,
    }
    path = checkpoints_folder() / FOLDER / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, about=json.dumps(about), **arrays)


def _bytes(weights: np.ndarray) -> np.ndarray:
    return np.rint(_BYTE * weights).astype(np.uint8)


def _softmax(logits: np.ndarray) -> np.ndarray:
    chances = np.exp(logits.astype(np.float64) - logits.max())
    return chances / chances.sum()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=record.__doc__)
    parser.add_argument("folder", type=Path, help="a model of transformers")
    record(parser.parse_args().folder)
