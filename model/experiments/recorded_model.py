"""What a language model does with some texts: its heads, what they add. Of one from elsewhere small enough to ship.

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
import torch
from torch import Tensor

from model.adapters.readers.reader import NO_EDITS, Reader
from model.analysis.repetitions import repetitions
from model.checkpoint import checkpoints_folder
from model.config import LanguageModelConfig
from model.errors import Problem
from model.interventions.edits import Cell, Edits, Head
from model.masks import causal_mask
from model.relative import rotary_frequencies, rotate
from model.taps import Change, intervene
from model.taps import record as record_taps
from model.translation import module_of
from model.translator import Writer

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
MASKED = "masked"  # the text of the sink, its first token hidden from all later ones
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
        return _largest(self.effects)

    def induction(self) -> np.ndarray:
        """How much each head gives to the token after the last occurrence, (L, H)."""
        return repetitions(self.weights["repeated"], self.ids["repeated"]).means()["induction"]

    def on_first(self, text: str) -> np.ndarray:
        """The mean weight of each head on the first token of a text, over all rows but the first, (L, H).

        Of MASKED it is that on the second token, the first that is left, over the rows after it.
        """
        first = int(text == MASKED)
        return self.weights[text][..., first + 1 :, first].mean(-1)


@cache
def read(path: Path) -> Recorded:
    """What `record` wrote; a ValueError where it is not there."""
    if not path.is_file():
        raise Problem("the recording {path} is missing", path=path)
    with np.load(path) as kept:
        about = json.loads(str(kept["about"]))
        weights = {name: kept[name].astype(np.float32) / _BYTE for name in (*TEXTS, MASKED)}
        effects, chances = (kept[name].astype(np.float32) for name in ("effects", "chances"))
    return Recorded(about["tokens"], about["ids"], weights, effects, chances, about["n_key_value_heads"])


def shipped() -> Recorded:
    """The recording beside the checkpoints; errors as of `read`."""
    return read(checkpoints_folder() / FOLDER / FILE)


def study(loaded: Reader | Writer) -> Recorded:
    """The same of a model that is there, computed now; a ValueError if it cannot be.

    A language model of ours has no direct effects: what a head adds is what Mary less John loses without it.
    """
    return _study_reader(loaded) if isinstance(loaded, Reader) else _study_writer(loaded)


def _study_reader(reader: Reader) -> Recorded:
    results = {name: reader.read(text) for name, text in TEXTS.items()}
    asked, rival = (_one_token(reader, word) for word in (ASKED, RIVAL))
    effects = reader.effects(results["drink"], asked, against=rival).heads("decoder_self")[:, :, -1].sum(-1)
    off = Edits(off=tuple(Head("decoder_self", *place) for place in _largest(effects)))
    logits = [results["drink"].logits[-1], reader.read(DRINK, edits=off).logits[-1]]
    masked = reader.read(SINK, edits=_first_blocked(len(results["sink"].target_tokens)))
    return Recorded(
        tokens={name: result.target_tokens for name, result in results.items()},
        ids={name: reader.encode(text)["input_ids"][0].tolist() for name, text in TEXTS.items()},
        weights={name: result.attention("decoder_self") for name, result in (results | {MASKED: masked}).items()},
        effects=effects.astype(np.float32),
        chances=np.array([_softmax(one)[asked] for one in logits], dtype=np.float32),
        n_key_value_heads=reader.config.layers("decoder_self")[0].n_key_value_heads,
    )


@torch.inference_mode()
def _study_writer(writer: Writer) -> Recorded:
    """Texts begin with their own first token here, not with the end of the line before."""
    model, config, tokenizer = writer.model, writer.model.config, writer.tokenizer
    ids = {name: tokenizer.encode(text) for name, text in TEXTS.items()}
    asked, rival = (tokenizer.encode(word.strip())[0] for word in (ASKED, RIVAL))

    def weights(text: str, edits: Edits) -> np.ndarray:
        with edits.applied(config, "decoder"), record_taps("*.self_attention.weights") as trace:
            model(torch.tensor([ids[text]]))
        return np.stack([trace[f"{module_of('decoder_self', n)}.weights"][0] for n in range(config.n_layers)])

    def last_logits(*off: tuple[int, int]) -> np.ndarray:
        edits = Edits(off=tuple(Head("decoder_self", *place) for place in off))
        with edits.applied(config, "decoder"):
            return model(torch.tensor([ids["drink"]]))[0, -1].double().numpy()

    whole = last_logits()
    effects = np.zeros((config.n_layers, config.n_heads))
    for place in np.ndindex(effects.shape):
        without = last_logits(place)
        effects[place] = (whole[asked] - whole[rival]) - (without[asked] - without[rival])
    chances = [_softmax(logits)[asked] for logits in (whole, last_logits(*_largest(effects)))]
    maps = {name: weights(name, Edits()) for name in TEXTS} | {
        MASKED: weights("sink", _first_blocked(len(ids["sink"])))
    }
    return Recorded(
        tokens={name: tokenizer.tokens(of_text) for name, of_text in ids.items()},
        ids=ids,
        weights=maps,
        effects=effects.astype(np.float32),
        chances=np.array(chances, dtype=np.float32),
        n_key_value_heads=config.n_groups,
    )


@torch.inference_mode()
def moved_scores(loaded: Reader | Writer, text: str, shift: int) -> tuple[list[str], np.ndarray]:
    """How scores of a language model change when all of a text moves by `shift` positions.

    Returns:
        The tokens, and the change of each score float32 (L, H, T, T), 0 where the mask blocks.

    Raises:
        ValueError: if the model takes no positions, or has too few of them.
    """
    if isinstance(loaded, Reader):
        inputs = loaded.encode(text)
        positions = torch.arange(inputs["input_ids"].size(1))[None]
        if "position_ids" not in loaded.accepted_inputs:
            raise Problem("this model counts its positions itself: its text cannot be moved")
        readings = [loaded.read(None, edits=NO_EDITS, **inputs, position_ids=positions + start) for start in (0, shift)]
        layers, tokens = loaded.config.layers("decoder_self"), readings[0].target_tokens
        addresses = [f"{layer.address}.scores" for layer in layers]
        scores = [np.stack([reading.trace[address] for address in addresses]) for reading in readings]
    else:
        config, ids = loaded.model.config, torch.tensor([loaded.tokenizer.encode(text)])
        if shift + ids.size(1) > config.max_length:
            raise Problem("the model has positions for {n} tokens only", n=config.max_length)
        tokens, scores = loaded.tokenizer.tokens(ids[0].tolist()), []
        addresses = [f"{module_of('decoder_self', n)}.scores" for n in range(config.n_layers)]
        for start in (0, shift):
            with intervene(_turned_further(config, start)), record_taps("*.self_attention.scores") as trace:
                loaded.model.decoder(ids, causal_mask(ids.size(1)), start)  # what is added comes from there on
            scores.append(np.stack([trace[address][0] for address in addresses]))
    seen = np.isfinite(scores[0])
    return tokens, np.where(seen, scores[1] - np.where(seen, scores[0], 0), 0).astype(np.float32)


def _turned_further(config: LanguageModelConfig, shift: int) -> dict[str, Change]:
    """Turn rotary queries and keys by `shift` positions before the model turns them by their own."""
    if not config.positional.startswith("rotary"):
        return {}
    angles = shift * rotary_frequencies(config.d_head, config.rotary_base)[None]  # (1, K / 2)

    def turn(x: Tensor) -> Tensor:  # (B, H or G, T, K)
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        return rotate(x, cosine, sine, interleaved=config.positional == "rotary")

    return {f"{module_of('decoder_self', n)}.{side}": turn for n in range(config.n_layers) for side in "qk"}


def _one_token(reader: Reader, word: str) -> int:
    """The id of a word after a space, or of the word alone where that is not one token."""
    try:
        return reader.token(word)
    except ValueError:
        return reader.token(word.strip())


def _first_blocked(n_tokens: int) -> Edits:
    """Hide the first token from all later ones."""
    return Edits(cells=tuple(Cell("decoder_self", query, 0, False) for query in range(1, n_tokens)))


def _largest(effects: np.ndarray) -> list[tuple[int, int]]:
    """Layer and head of the N_OFF that add most."""
    best = np.argsort(-effects, axis=None)[:N_OFF]
    layers, heads = np.unravel_index(best, effects.shape)
    return list(zip(layers.tolist(), heads.tolist()))


def record(folder: Path) -> None:
    """Read the texts with the model in a folder, and write FILE."""
    from model.adapters.loading import load_model

    found = study(load_model(str(folder)))
    arrays = {"effects": found.effects.astype(np.float16), "chances": found.chances}
    arrays |= {name: _bytes(weights) for name, weights in found.weights.items()}
    about = {
        "licence": LICENCE,
        "tokens": found.tokens,
        "ids": found.ids,
        "n_key_value_heads": found.n_key_value_heads,
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
