"""Errors in the visitor's language: a template with its values, or of a file, whose English stands after a sentence."""

from __future__ import annotations

import ast
import io
import json
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from model.adapters.attention_file import read_attention
from model.films.tasks import TASKS
from model.interventions.edits import Edits
from model.running.translator import Translator, load_translator
from model.storage import checkpoint
from model.text.errors import Phrase, Problem
from tests.support import hostile
from viz.text import errors, language
from viz.text.language import LANGUAGES, using

ROOT = Path(language.__file__).parents[2]
OTHERS = [code for code in LANGUAGES if code != language.ENGLISH]

# Modules of `model` whose plain errors are of files and addresses: a sentence that says so stands before their English.
OF_FILES = {
    "decoding/sampling.py",
    "films/settings.py",
    "films/file.py",
    "films/tasks.py",
    "interventions/edits.py",
    "interventions/patches.py",
    "running/patch_passes.py",
    "running/patching.py",
    "running/patching_words.py",
    "adapters/readers/explanation/patch_passes.py",
    "training/schedules.py",
    "adapters/attention_file.py",
    "adapters/files/hub.py",
    "adapters/files/inspection.py",
    "adapters/loading.py",
    "adapters/conversion/weights.py",
    "results/recording.py",
    "analysis/lengths.py",
    "storage/checkpoint.py",
    "config.py",
    "measures/atlas.py",
    "measures/reports.py",
    "measures/corpus/edges.py",
    "text/pieces.py",
    "text/subwords.py",
    "text/words.py",
}
# Modules of `model` whose errors no visitor of the app meets.
ELSEWHERE = {
    # Commands that the app does not have.
    "films/text_run.py",
    "films/shipped.py",
    "commands/handlers.py",
    "__main__.py",
    "adapters/bertviz.py",
    "adapters/torch_modules.py",
    "adapters/conversion/generated.py",
    "adapters/marian.py",
    "adapters/outputs.py",
    "adapters/readers/inputs/batches.py",
    "adapters/readers/inputs/chat.py",
    "adapters/readers/attachment/connection.py",
    "adapters/readers/attachment/followed.py",
    "adapters/readers/generation.py",
    "adapters/readers/explanation/lens.py",
    "adapters/readers/reader.py",
    "adapters/readers/recorder.py",
    "adapters/readers/explanation/removal.py",
    "adapters/readers/attachment/wrappers.py",
    "measures/context.py",
    "commands/any_model.py",
    "commands/heads.py",
    "commands/why.py",
    "commands/refresh.py",
    "measures/evaluate.py",
    "commands/table.py",
    "measures/word_links.py",
    "commands/corpus.py",
    "measures/corpus/batches.py",
    "measures/corpus/index.py",
    "measures/corpus/points.py",
    "measures/corpus/row_numbers.py",
    "measures/corpus/sources.py",
    "measures/corpus/tap.py",
    "analysis/rules.py",
    # `python -m model train` and `download`: their configuration, data and states.
    "analysis/effects.py",
    "analysis/score_parts.py",
    "analysis/circuits.py",
    "analysis/head_words.py",
    "running/circuits.py",
    "running/circuit_check.py",
    "commands/circuit.py",
    "interventions/cuts.py",
    "commands/patches.py",
    "running/attribution.py",
    "training/sweeps/grid.py",
    "training/sweeps/recorder.py",
    "training/optimizers.py",
    "training/config.py",
    "training/data/corpora.py",
    "training/data/download.py",
    "training/loop.py",
    "training/processes.py",
    "training/state.py",
    "training/tasks.py",
    "training/batching.py",
    "training/sweeps/board.py",
}
# What only a programmer or a command can cause in the modules that are left, with … for what is put in.
PROGRAMMERS = {
    # Wrong arguments of functions.
    "… is a recurrent network, and this needs a Transformer",
    "attention can be followed through a decoder with as much self-attention as cross-attention, got … and … layers",
    "a causal mask needs as many keys as queries or more, got … keys, … queries",
    "beam width and length limit must be at least 1, got … and …",
    "the intervention at … returned …; it must return … …",
    "the kind of attention is one of …, got …",
    "the positional encoding is one of …, got …",
    "token ids must be 0 to …, got …",
    'the side is "source" or "target", got …',
    "with … positions there is no place before another: at least 2 are needed",
    "d_model must be even to pair sine and cosine, got …",
    # Addresses that nobody copied from the app.
    "the scale must be from 0 to …, got …",
    "the shift must be from 0 to … positions, got …",
    "the beam width must be from 1 to …, got …",
    "the change of positions cannot be read: allowed is …",
    "the length penalty must be from 0 to 5, got …",
    "the locked beginning … cannot be read: it is written like …_12-7",
    "the prefix holds token …; tokens are numbered from 0 to …",
    "this change cannot be made here: …",
    "token … cannot stand in a prefix, or only at its end",
    "words must be from 1 to 500, got …",
    # python -m model atlas, train, translate.
    "the words do not spell the text at …",
    "the text ends before the word …",
    "… must be true or false, got …",
    "…, line …: …",
    "…: the model can read none of the … pairs",
    "line …: …",
}

COMMAND = "viz/app/replicas.py"  # python -m viz serve: nobody sees a page yet


def raised(path: Path) -> Iterator[tuple[str, str]]:
    """Where a file raises a plain ValueError, and its text, with … for what is put in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError"), args=[text, *_])):
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                texts = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
                yield f"{path.relative_to(ROOT)}:{node.lineno}", "".join(texts)


@pytest.mark.slow
def test_what_a_visitor_can_cause_is_a_problem_that_every_language_has() -> None:
    """test_language.py shows that each template has its translations."""
    model, rooms = ROOT / "model", ("app", "pages", "ui", "views")
    names = {path.relative_to(model).as_posix() for path in model.rglob("*.py")} - OF_FILES - ELSEWHERE
    plain = [row for name in sorted(names) for row in raised(model / name)]
    plain += [row for room in rooms for path in (ROOT / "viz" / room).rglob("*.py") for row in raised(path)]
    plain = [row for row in plain if not row[0].startswith(COMMAND)]
    assert [] == [(where, text) for where, text in plain if text not in PROGRAMMERS]
    assert not PROGRAMMERS - {text for _, text in plain}, "nobody says that"
    assert [] == [name for name in OF_FILES | ELSEWHERE if not any(raised(model / name))], "nothing to leave out"


def broken(name: str, text: str) -> Callable[[Translator, Path], object]:
    """Loads a checkpoint with other words in one of its files."""

    def cause(translator: Translator, folder: Path) -> object:
        (folder / name).write_text(text)
        return checkpoint.load(folder)

    return cause


def file_of_nothing(translator: Translator, folder: Path) -> object:
    file = io.BytesIO()
    np.savez(file)
    return read_attention(file)


GERMAN, KOREAN = "Diese Datei oder dieser Link ist nicht verwendbar. ", "이 파일 또는 링크를 사용할 수 없습니다. "
FILE = "This file or link cannot be used. "
CONFIG = {"vocab_size": 300, "d_model": 30, "n_heads": 4}
# What is done, what German and Korean say of it: {folder} is the checkpoint's, {last} its last token.
CAUSES = {
    "nothing": (
        lambda translator, folder: translator.translate(" "),
        "Es gibt nichts zu übersetzen: Gib einen Satz ein.",
        "번역할 것이 없습니다. 문장을 입력하세요.",
    ),
    "characters": (
        lambda translator, folder: translator.translate("x" * 20_001),
        "Der Text hat 20.001 Zeichen; erlaubt sind höchstens 2.000.",
        "텍스트의 길이는 20,001자입니다. 최대 2,000자까지 허용됩니다.",
    ),
    "tokens": (
        lambda translator, folder: translator.translate("x " * 100),
        "Der Text hat 201 Tokens; erlaubt sind höchstens 60.",
        "텍스트의 토큰이 201개입니다. 최대 60개까지 허용됩니다.",
    ),
    "beam": (
        lambda translator, folder: translator.translate("a", beam=0),
        f"{GERMAN}The beam width must be from 1 to 16, got 0.",
        f"{KOREAN}The beam width must be from 1 to 16, got 0.",
    ),
    "no edits": (
        lambda translator, folder: Edits.from_code("v1_{oc}"),
        f"{GERMAN}The edits cannot be read: '{{{{oc}}}}' is not a valid edit.",
        f"{KOREAN}The edits cannot be read: '{{{{oc}}}}' is not a valid edit.",
    ),
    "no checkpoint": (
        lambda translator, folder: load_translator("no such {name}"),
        "Den Checkpoint 'no such {{name}}' gibt es nicht; vorhanden: en-de.",
        "체크포인트 'no such {{name}}'이(가) 없습니다. 있는 것: en-de.",
    ),
    "a string": (
        lambda translator, folder: TASKS["copy"].read("ab:"),
        "Das Modell kennt nur abcdefghijklmnopqrstuvwxyz, nicht ':'.",
        "이 모델은 abcdefghijklmnopqrstuvwxyz만 압니다. 입력에 ':'이(가) 있습니다.",
    ),
    "a configuration of other sizes": (
        broken("config.json", json.dumps({"architecture": "transformer", **CONFIG})),
        GERMAN + "{folder}/config.json: d_model (30) must be a multiple of n_heads (4).",
        KOREAN + "{folder}/config.json: d_model (30) must be a multiple of n_heads (4).",
    ),
    "an npz of nothing": (
        file_of_nothing,
        f"{GERMAN}There is no attention in the file: at least one of encoder_self, "
        "decoder_self, cross is needed, got nothing.",
        f"{KOREAN}There is no attention in the file: at least one of encoder_self, "
        "decoder_self, cross is needed, got nothing.",
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_real_errors_in_german_and_korean(cause: str, recorded: Translator, checkpoints: Path, tmp_path: Path) -> None:
    do, german, korean = CAUSES[cause]
    folder = shutil.copytree(checkpoints / "en-de", tmp_path / "mine: {folder}")
    with pytest.raises(ValueError) as error:
        do(recorded, folder)
    details = {"folder": folder, "last": len(recorded.tokenizer) - 1}
    english = str(error.value)
    sentence = english[:1].upper() + english[1:] + "."
    assert errors.sentence(error.value) == ("" if isinstance(error.value, Problem) else FILE) + sentence
    unpickled = pickle.loads(pickle.dumps(error.value))
    assert str(unpickled) == english
    for code, expected in (("de", german), ("ko", korean)):
        with using(code):
            assert errors.sentence(error.value) == errors.sentence(unpickled) == expected.format(**details)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("piece", ["'", '"', "{", "}", "{}", "{error}", "\\", "\n", *hostile.MARKED])
def test_what_a_visitor_or_a_file_says_comes_out_as_it_is(piece: str, code: str) -> None:
    text = piece * (10_000 // len(piece))
    with using(code):
        assert errors.sentence(ValueError(text)).endswith(f". {text[:1].upper()}{text[1:].rstrip('.')}.")
        assert text in errors.sentence(Problem("the checkpoint {name!r} cannot be read: {error}", name="", error=text))
        missing = Problem("there is no checkpoint {name!r}; there are {known}", name=text, known="none")
        assert repr(text) in errors.sentence(missing)


def test_only_phrases_inside_an_error_are_translated() -> None:
    inside = Problem("{what} has {n} tokens; at most {most} are allowed", what=Phrase("source {n}", n=2), n=9, most=8)
    outside = "the checkpoint {name!r} cannot be read: {error}"
    with using("de"):
        sentence = errors.sentence(Problem(outside, name="row", error=inside))
        assert (
            sentence == "Der Checkpoint 'row' lässt sich nicht lesen: Quelle 2 hat 9 Tokens; erlaubt sind höchstens 8."
        )
        assert str(inside) in errors.sentence(Problem(outside, name="row", error=str(inside)))


def test_names_of_settings_stay_as_they_are_spelt_and_an_error_without_words_says_its_kind() -> None:
    assert errors.sentence(Problem("top_k must be 0 (all) or more, got {value}", value=-1)).startswith("top_k must")
    assert errors.sentence(ValueError()) == FILE + "ValueError."
