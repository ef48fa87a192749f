"""What a page without a server needs beside its modules: sentences, a recorded first picture, kernels, weights."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from model.experiments.inside import leaves
from model.experiments.text_pairs import PAIRS
from model.measures import atlas
from model.results.recording import Candidates
from model.running.translator import Translator, load_translator
from viz.site import words
from viz.stage import files
from viz.stage.payload import inside
from viz.stage.payload import message as stage_message
from viz.stage.payload.effects import statistics_payload
from viz.stage.payload.roles import heads_of
from viz.text import errors
from viz.text.language import LANGUAGES, using
from viz.text.roles import rules_of
from viz.text.words import EXAMPLES
from viz.views.view import BEAM, EXAMPLE

FOLDERS = ("engine", "lessons", "pages", "plot", "recording", "sheets", "site", "stage")
PROBLEMS = ("engine", "sheets", "site")  # whose modules say what a visitor did wrong
KERNELS = {"relaxed": "kernel.relaxed.wasm", "simd": "kernel.wasm"}  # the fastest first
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


@cache
def modules() -> dict[str, bytes]:
    """The modules and styles of the page by their place below viz/web/."""
    return files.read_files(files.WEB, FOLDERS, files.TYPES)


@dataclass(frozen=True)
class Lessons:
    """The lessons as they leave, made by `viz.pages.lessons.contents`: what browsers fetch when a card is opened."""

    indexes: Mapping[str, Mapping[str, Any]]  # by language
    states: Mapping[str, Mapping[str, bytes]]  # by language and name of a card and its state
    cells: Mapping[str, bytes]  # of recorded rows, by their names


@dataclass(frozen=True)
class Sheet:
    """A page in the frame of all pages that the browser computes (viz/web/site/sheets.js), as it leaves."""

    name: str  # of its address and of its files
    told: Mapping[str, Mapping[str, Any]]  # by language what it says; "words" has its sentences by name
    files: Mapping[str, bytes]  # what is fetched when it is needed, by name


@dataclass(frozen=True)
class Model:
    """A checkpoint as it leaves: its name, and its large files compressed, by their names."""

    name: str
    files: Mapping[str, bytes]
    about: Mapping[str, Any]  # what the page reads at once

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))


def read_model(name: str) -> tuple[Model, Translator]:
    """A checkpoint that translates, by its name.

    Raises:
        ValueError: where there is none, or the engine of browsers cannot run it.
    """
    translator = load_translator(name)
    folder = translator.folder
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    if not isinstance(translator, Translator) or config.get("architecture", "transformer") != "transformer":
        raise ValueError(f"browsers run Transformers that translate, and the checkpoint {name!r} is none")
    if tokenizer.get("type", "pieces") != "pieces":
        raise ValueError(f"browsers cannot read the tokenizer of the checkpoint {name!r}")
    files = {file: gzip.compress((folder / file).read_bytes(), 6, mtime=0) for file in (TOKENIZER, WEIGHTS)}
    card = translator.card
    report = _report(translator)
    heads, rules = {}, {}
    for language in LANGUAGES:
        with using(language):
            heads[language] = heads_of(report)
            rules[language] = rules_of(role for roles, _ in heads[language].values() for row in roles for role in row)
    about = {
        "name": translator.name,
        "source": card.get("source", ""),
        "target": card.get("target", ""),
        "config": config,
        "roles": {
            language: {kind: roles for kind, (roles, _) in of_kinds.items()} for language, of_kinds in heads.items()
        },
        "rules": rules,
        "first": {
            kind: head for of_kinds in heads.values() for kind, (_, head) in of_kinds.items() if head is not None
        },
        "statistics": report and statistics_payload(report),
        "draws": _draws(translator.config.max_length, translator.config.dropout),
    }
    return Model(translator.name, files, about), translator


def _report(translator: Translator) -> dict[str, Any] | None:
    try:
        return atlas.read(translator.folder, translator.config)
    except ValueError:
        return None


def _draws(n_keys: int, dropout: float) -> list[str]:
    """Which weights each draw of dropout leaves, a bit for each key, in base64; none without dropout."""
    draws = range(1, inside.MOST_SAMPLES + 1) if dropout else ()
    return [base64.b64encode(np.packbits(leaves(n_keys, dropout, draw)).tobytes()).decode() for draw in draws]


def first_message(translator: Translator, text: str, beam: int = 4) -> bytes:
    """The recorded picture that is there before the weights: a message of the stage."""
    result = translator.translate(text, beam)
    candidates = Candidates.of(result.trace["logits"], translator.tokenizer)
    return stage_message.message(stage_message.Version(result.recording(candidates)))


def settings(models: Sequence[Model], text: str = EXAMPLE, beam: int = BEAM) -> dict[str, Any]:
    """What the page reads at once, as JSON; `Settings` in viz/web/site/settings.js says the same.

    Args:
        text, beam: what is drawn before the weights are there, and where the address asks for nothing else.
    """
    catalogues, problems = {}, {}
    for language in LANGUAGES:
        with using(language):
            catalogues[language] = words.catalogue()
            problems[language] = errors.said_in(path for folder in PROBLEMS for path in _modules_of(folder))
    return {
        "languages": LANGUAGES,
        "words": catalogues,
        "problems": problems,
        "text": text,
        "beam": beam,
        "examples": list(EXAMPLES.values()),
        "pairs": [{name: value for name, value in asdict(pair).items() if name != "title"} for pair in PAIRS],
        "models": [dict(model.about) | {"size": model.size} for model in models],
        "kernels": {name: _text(files.WEB / "engine" / file) for name, file in KERNELS.items()},
    }


def _modules_of(folder: str) -> list[Path]:
    return sorted((files.WEB / folder).rglob("*.js"))


def _text(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
