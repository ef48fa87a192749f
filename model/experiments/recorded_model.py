"""What a language model does with some texts: its heads, what they add. Of one from elsewhere small enough to ship.

`python -m model.experiments.recorded_circuit DIR` writes FILE from a model of transformers. Maps travel as bytes (an
error of at most 1 / 510), numbers of heads as 16-bit floats.
"""

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from model.adapters.readers.reader import Reader
from model.adapters.readers.recorder import NO_EDITS
from model.analysis.repetitions import repetitions
from model.config import LanguageModelConfig
from model.interventions.edits import Cell, Edits, Head
from model.masks import causal_mask
from model.relative import rotary_frequencies, rotate
from model.results.translation import module_of
from model.running.translator import Writer
from model.storage.checkpoint import checkpoints_folder
from model.taps import Change, intervene
from model.taps import record as record_taps
from model.text.errors import Problem

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
N_MOVERS = 2  # heads that are switched off together
_BYTE = 255
Place = tuple[int, int]  # layer and head


@dataclass(frozen=True)
class Heads:
    """What the heads of a model do with the word asked for in DRINK, at its last token."""

    on_words: np.ndarray  # float32 (2, L, H): what each adds to the logits of ASKED and of RIVAL
    last_rows: np.ndarray  # float32 (L, H, T): weights of the last token
    asked_at: int  # place of ASKED in the text

    @property
    def effects(self) -> np.ndarray:
        """What each head adds to ASKED over RIVAL, in logits (L, H)."""
        return self.on_words[0] - self.on_words[1]

    @property
    def movers(self) -> list[Place]:
        """The name movers (Wang et al. 2022): of the heads that look most at ASKED, the N_MOVERS that add most to it.

        Layer and head of each, the strongest first; fewer where fewer add anything.
        """
        look = self.last_rows.argmax(-1) == self.asked_at
        places = _largest(np.where(look, self.effects, -np.inf), N_MOVERS)
        return [place for place in places if look[place] and self.effects[place] > 0]

    @property
    def strongest(self) -> Place:
        """The head that adds most, wherever it looks."""
        return _largest(self.effects, 1)[0]


@dataclass(frozen=True)
class Recorded:
    """By name of TEXTS its tokens and maps float32 (L, H, T, T); what heads add to the names, and what follows."""

    tokens: dict[str, list[str]]
    ids: dict[str, list[int]]
    weights: dict[str, np.ndarray]
    on_words: np.ndarray  # float32 (2, L, H), as in `Heads`
    asked_at: int
    chances: np.ndarray  # float32 (3, 2), of ASKED and RIVAL: with all heads, without the movers, without the strongest
    n_key_value_heads: int
    is_direct: bool = True  # whether `on_words` are direct effects; else what the words lose without each head

    @property
    def heads(self) -> Heads:
        """What heads do with the word asked for."""
        return Heads(self.on_words, self.weights["drink"][:, :, -1], self.asked_at)

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
    """What was recorded; a ValueError where it is not there."""
    if not path.is_file():
        raise Problem("the recording {path} is missing", path=path)
    with np.load(path) as arrays:
        about = json.loads(str(arrays["about"]))
        weights = {name: arrays[name].astype(np.float32) / _BYTE for name in (*TEXTS, MASKED)}
        on_words, chances = (arrays[name].astype(np.float32) for name in ("on_words", "chances"))
    return Recorded(
        about["tokens"], about["ids"], weights, on_words, about["asked_at"], chances, about["n_key_value_heads"]
    )


def shipped() -> Recorded:
    """The recording beside the checkpoints; errors as in `read`."""
    return read(checkpoints_folder() / FOLDER / FILE)


def study(loaded: Reader | Writer) -> Recorded:
    """What `shipped` has, computed now with a loaded model; a ValueError if that is not possible.

    A language model of ours has no direct effects: what a head adds is what Mary less John loses without it.
    """
    return _study_reader(loaded) if isinstance(loaded, Reader) else _study_writer(loaded)


def _study_reader(reader: Reader) -> Recorded:
    results = {name: reader.read(text) for name, text in TEXTS.items()}
    ids = {name: reader.encode(text)["input_ids"][0].tolist() for name, text in TEXTS.items()}
    words = [reader.spaced_token(word.strip()) for word in (ASKED, RIVAL)]
    drink = results["drink"]
    on_words = np.stack([reader.effects(drink, word).heads("decoder_self")[:, :, -1].sum(-1) for word in words])
    weights = {name: result.attention("decoder_self") for name, result in results.items()}
    masked = reader.read(SINK, edits=_first_blocked(len(results["sink"].target_tokens)))
    heads = Heads(on_words.astype(np.float32), weights["drink"][:, :, -1], _place_of(words[0], ids["drink"]))
    logits = [reader.read(DRINK, edits=_switched_off(off)).logits[-1] for off in _without(heads)]
    return Recorded(
        tokens={name: result.target_tokens for name, result in results.items()},
        ids=ids,
        weights=weights | {MASKED: masked.attention("decoder_self")},
        on_words=heads.on_words,
        asked_at=heads.asked_at,
        chances=np.stack([_softmax(of_text)[words] for of_text in logits]).astype(np.float32),
        n_key_value_heads=reader.config.layers("decoder_self")[0].n_key_value_heads,
    )


@torch.inference_mode()
def _study_writer(writer: Writer) -> Recorded:
    """Texts begin with their own first token here, not with the end of the line before."""
    model = writer.model
    config = writer.model.config
    tokenizer = writer.tokenizer
    ids = {name: tokenizer.encode(text) for name, text in TEXTS.items()}
    words = [tokenizer.encode(word.strip())[0] for word in (ASKED, RIVAL)]

    def weights(text: str, edits: Edits) -> np.ndarray:
        with edits.applied(model, "decoder"), record_taps("*.self_attention.weights") as trace:
            model(torch.tensor([ids[text]]))
        return np.stack([trace[f"{module_of('decoder_self', n)}.weights"][0] for n in range(config.n_layers)])

    def last_logits(off: list[Place]) -> np.ndarray:
        with _switched_off(off).applied(model, "decoder"):
            return model(torch.tensor([ids["drink"]]))[0, -1].double().numpy()

    logits = last_logits([])
    on_words = np.zeros((2, config.n_layers, config.n_heads), np.float32)
    for layer, head in np.ndindex(on_words.shape[1:]):
        on_words[:, layer, head] = (logits - last_logits([(layer, head)]))[words]
    maps = {name: weights(name, Edits()) for name in TEXTS} | {
        MASKED: weights("sink", _first_blocked(len(ids["sink"])))
    }
    heads = Heads(on_words, maps["drink"][:, :, -1], _place_of(words[0], ids["drink"]))
    chances = [_softmax(last_logits(off))[words] for off in _without(heads)]
    return Recorded(
        tokens={name: tokenizer.tokens(of_text) for name, of_text in ids.items()},
        ids=ids,
        weights=maps,
        on_words=on_words,
        asked_at=heads.asked_at,
        chances=np.stack(chances).astype(np.float32),
        n_key_value_heads=config.n_groups,
        is_direct=False,
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
        readings = [
            loaded.read(None, messages=None, edits=NO_EDITS, **inputs, position_ids=positions + start)
            for start in (0, shift)
        ]
        layers = loaded.config.layers("decoder_self")
        tokens = readings[0].target_tokens
        addresses = [f"{layer.address}.scores" for layer in layers]
        scores = [np.stack([reading.trace[address] for address in addresses]) for reading in readings]
    else:
        config = loaded.model.config
        ids = torch.tensor([loaded.tokenizer.encode(text)])
        if shift + ids.size(1) > config.max_length:
            raise Problem("the model has positions for {n} tokens only", n=config.max_length)
        tokens = loaded.tokenizer.tokens(ids[0].tolist())
        scores = []
        addresses = [f"{module_of('decoder_self', n)}.scores" for n in range(config.n_layers)]
        for start in (0, shift):
            with intervene(_turned_further(config, start)), record_taps("*.self_attention.scores") as trace:
                loaded.model.decoder(ids, causal_mask(ids.size(1)), start)  # what is added comes from there on
            scores.append(np.stack([trace[address][0] for address in addresses]))
    visible = np.isfinite(scores[0])
    return tokens, np.where(visible, scores[1] - np.where(visible, scores[0], 0), 0).astype(np.float32)


def _turned_further(config: LanguageModelConfig, shift: int) -> dict[str, Change]:
    """Turn rotary queries and keys by `shift` positions before the model turns them by their own."""
    if not config.positional.startswith("rotary"):
        return {}
    angles = shift * rotary_frequencies(config.d_head, config.rotary_base)[None]  # (1, K / 2)

    def turn(x: Tensor) -> Tensor:  # (B, H or G, T, K)
        cosine = angles.cos().to(x.dtype)
        sine = angles.sin().to(x.dtype)
        return rotate(x, cosine, sine, interleaved=config.positional == "rotary")

    return {f"{module_of('decoder_self', n)}.{side}": turn for n in range(config.n_layers) for side in "qk"}


def _first_blocked(n_tokens: int) -> Edits:
    """Hide the first token from all later ones."""
    return Edits(cells=tuple(Cell("decoder_self", query, 0, False) for query in range(1, n_tokens)))


def _place_of(word: int, ids: list[int]) -> int:
    if word not in ids:
        raise Problem("this model splits the names of the text into several tokens")
    return ids.index(word)


def _without(heads: Heads) -> tuple[list[Place], ...]:
    """Which heads are off in each of the `chances`."""
    return [], heads.movers, [heads.strongest]


def _switched_off(heads: list[Place]) -> Edits:
    return Edits(off=tuple(Head("decoder_self", *place) for place in heads))


def _largest(effects: np.ndarray, count: int) -> list[Place]:
    """Layer and head of the `count` largest (L, H)."""
    best = np.argsort(-effects, axis=None, kind="stable")[:count]
    layers, heads = np.unravel_index(best, effects.shape)
    return list(zip(layers.tolist(), heads.tolist()))


def record(reader: Reader) -> dict[str, np.ndarray]:
    """The arrays of FILE by name, from a model of transformers."""
    recorded = study(reader)
    arrays = {"on_words": recorded.on_words.astype(np.float16), "chances": recorded.chances}
    arrays |= {name: _bytes(weights) for name, weights in recorded.weights.items()}
    about = {
        "licence": LICENCE,
        "tokens": recorded.tokens,
        "ids": recorded.ids,
        "asked_at": recorded.asked_at,
        "n_key_value_heads": recorded.n_key_value_heads,
    }
    return {"about": np.array(json.dumps(about))} | arrays


def _bytes(weights: np.ndarray) -> np.ndarray:
    return np.rint(_BYTE * weights).astype(np.uint8)


def _softmax(logits: np.ndarray) -> np.ndarray:
    chances = np.exp(logits.astype(np.float64) - logits.max())
    return chances / chances.sum()
