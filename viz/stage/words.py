"""What the stage says, by name: the browser puts values into the sentences (viz/web/recording/text/sentences.js)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.text.special import MARK
from viz.figures import labels
from viz.stage.payload.payloads import Field
from viz.stage.sentences.changing import CHANGES, NEXT_WORD
from viz.stage.sentences.effects import EFFECTS
from viz.stage.sentences.forms import COMPARING, LIVE, PATCHED, PATCHED_BACK, READING
from viz.stage.sentences.frame import FRAME
from viz.stage.sentences.maps import MAPS
from viz.stage.sentences.patching import PATCHING
from viz.stage.sentences.row import ROW
from viz.stage.sentences.why import WHY
from viz.text.language import say, using
from viz.text.words import KINDS, SHORT_KINDS, SOURCE_AXIS, STEP_AXES

WORDS = FRAME | EFFECTS | ROW | WHY | NEXT_WORD | CHANGES | MAPS | PATCHING


Forms = dict[str, dict[str, str]]


def forms() -> Forms:
    """Every sentence by name, in the language of here: of "all", and what stands in its place in other messages.

    "alone": there is no source; "comparing": two stand beside each other; "patched": these are one text without and
    with patches, "patched_back" where that is the first of two; "live": roles of heads are those in one text.
    """
    texts = WORDS | {"source_axis": SOURCE_AXIS} | {f"{naming}_axis": text for naming, text in STEP_AXES.items()}
    for kind, about in KINDS.items():
        texts |= {f"short_{kind}": SHORT_KINDS[kind], f"title_{kind}": about.title}
        texts |= {f"columns_{kind}": about.key_axis}
    of_forms = {"all": texts, "alone": READING, "comparing": COMPARING, "live": LIVE}
    of_forms |= {"patched": PATCHED, "patched_back": PATCHED_BACK}
    return {form: {name: say(text) for name, text in of_form.items()} for form, of_form in of_forms.items()}


@cache
def packed(language: str) -> bytes:
    """The forms of a language as browsers fetch them, once: JSON."""
    with using(language):
        return json.dumps(forms(), ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def address(language: str) -> str:
    """Where browsers fetch them, below the app's root; other sentences have another address."""
    return f"headlight/words/{hashlib.blake2b(packed(language), digest_size=8).hexdigest()}/{language}"


def dull(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens say little, bool."""
    return analysis.is_special(tokens) | analysis.is_punctuation(tokens)


def label(token: str) -> str:
    """A token without the mark of a space, which lines of tokens show by distance."""
    return token.removeprefix(MARK) or token


def unique_labels(tokens: Sequence[str]) -> list[str]:
    """The tokens of a text, in order, as they are shown."""
    return list(map(labels.visible, labels.spell_bytes(list(map(label, tokens)))))


def field(
    kind: str, name: str, label: str, value: object, help: str = "", options: Mapping[str, str] = {}, **settings: Any
) -> Field:
    """A control for menus.js: its name in the address, label and help as they are said, options in English."""
    if options:
        settings["options"] = [[code, say(text)] for code, text in options.items()]
    value = str(int(value)) if isinstance(value, bool) else value
    control: Any = {"type": kind, "name": name, "label": label, "value": value, "help": help, **settings}
    return control
