"""Errors of the model in the visitor's language: every sentence that visitors can meet has a template, and no other."""

from __future__ import annotations

import ast
import io
import itertools
import json
import re
import shutil
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from model import checkpoint
from model.adapters.attention_file import read_attention
from model.analysis import lengths
from model.experiments import practice
from model.interventions.edits import Edits
from model.measures import atlas
from model.training.schedules import noam
from model.translator import Translator, load_translator
from tests.support import hostile
from viz.text import errors, language
from viz.text.errors import ERRORS, WORDS, fitting, understood
from viz.text.language import LANGUAGES, MESSAGES, using

ROOT = Path(language.__file__).parents[2]
OTHERS = [code for code in LANGUAGES if code != language.ENGLISH]

# Modules of `model` whose errors no visitor of the app meets.
ELSEWHERE = {
    # Commands that the app does not have.
    "adapters/arrays.py",
    "commands/handlers.py",
    "adapters/bertviz.py",
    "adapters/hub.py",
    "adapters/marian.py",
    "adapters/outputs.py",
    "adapters/views.py",
    "training/averaging.py",
    "measures/evaluate.py",
    "commands/table.py",
    "measures/word_links.py",
    # `python -m model train` and `download`: their configuration, data and states.
    "analysis/effects.py",
    "attribution.py",
    "commands/backtranslate.py",
    "training/grid.py",
    "training/grid_recorder.py",
    "training/optimizers.py",
    "commands/train.py",
    "training/config.py",
    "training/data/corpora.py",
    "training/data/download.py",
    "training/history.py",
    "training/loop.py",
    "training/processes.py",
    "training/state.py",
    "training/tasks.py",
    "training/data/windows.py",
}
# Figures are for programmers, but this one is drawn from what a recorded run says, and its error is shown.
SHOWN_TOO = ("viz/figures/curves.py",)
# What only a programmer or a command can cause in the modules that are left, with … for what is put in.
PROGRAMMERS = {
    # Wrong arguments of functions.
    "a causal mask needs as many keys as queries or more, got … keys, … queries",
    "beam width and length limit must be at least 1, got … and …",
    "heads are summarised over layers, heads or both, got nothing",
    "heads are summarised over layers, heads or both, got …",
    "positions belong to the …, got …",
    "the intervention at … returned … …; it must return … …",
    "the intervention at … returned …; it must return … …",
    "the kind of attention is one of …, got …",
    "the positional encoding is one of …, got …",
    "the share of the mass must be above 0 and at most 1, got …",
    'the side is "source" or "target", got …',
    "the summary must be one of …, got …",
    "the weights have … rows and … columns, the words … and … tokens",
    # Attention that is made in Python: a file's has these already.
    "there is no attention: at least one of … is needed",
    "… must be float32, got …",
    # python -m model atlas, train, translate.
    "the words do not spell the text at …",
    "the text ends before the word …",
    "…, line …: …",
    "…: the model can read none of the … pairs",
    "no sentence of the file is short enough for the model",
    "a Transformer has one vocabulary for both sides, got … and … tokens",
    "vocab_size must be above … (special, byte and character entries), got …",
    "line …: …",
    # Figures of anything else than a recorded run.
    "there are no lines to draw; allowed is at least one.",
    "rates are of …, losses of …; allowed are the same runs.",
    "a mark names the line …; allowed are ….",
    "the line … has … rows; allowed are 2, x and y.",
}


def spelt(node: ast.expr, function: ast.AST) -> list[str]:
    """The texts that an expression can be, with … for what is not known from the source."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(texts) for texts in itertools.product(*(spelt(part, function) for part in parts))]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [a + b for a, b in itertools.product(spelt(left, function), spelt(right, function))]
        case ast.IfExp(body=body, orelse=other):
            return spelt(body, function) + spelt(other, function)
        case ast.FormattedValue(value=ast.BoolOp(op=ast.Or(), values=[_, ast.Constant(value=str(text))])):
            return ["…", text]  # f"{... or 'nothing'}"
        case ast.FormattedValue(value=ast.Name() | ast.IfExp() as value):
            return spelt(value, function)
        case ast.Name(id=name):
            for one in ast.walk(function):
                if isinstance(one, ast.Assign) and [getattr(to, "id", "") for to in one.targets] == [name]:
                    if isinstance(one.value, (ast.Constant, ast.JoinedStr, ast.IfExp)):
                        return spelt(one.value, ast.Module([], []))  # a name in it may be this one
    return ["…"]


def raised(path: Path) -> Iterator[tuple[str, str]]:
    """Where a file raises a ValueError, and its texts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    function_of = {
        node: function
        for function in ast.walk(tree)  # breadth first: an inner function overwrites its outer one
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            if getattr(node.exc.func, "id", "") == "ValueError":
                for text in spelt(node.exc.args[0], function_of[node]):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def all_raised() -> list[tuple[str, str]]:
    model = ROOT / "model"
    files = [path for path in sorted(model.rglob("*.py")) if path.relative_to(model).as_posix() not in ELSEWHERE]
    return [one for path in [*files, *(ROOT / name for name in SHOWN_TOO)] for one in raised(path)]


RAISED = all_raised()


def fits(text: str) -> str | None:
    """The template of a text from the source: one whose places hold no words of the text but single ones."""
    found = fitting(text)
    return found[0] if found and all(re.fullmatch(r"\w+|…", value) for value in found[1].values()) else None


def test_every_sentence_that_a_visitor_can_meet_has_a_template() -> None:
    assert len(RAISED) > 150
    assert [] == [(where, text) for where, text in RAISED if text not in PROGRAMMERS and fits(text) is None]


def test_every_template_is_that_of_a_sentence() -> None:
    assert set(ERRORS) == {fits(text) for _, text in RAISED if text not in PROGRAMMERS}
    assert len(set(ERRORS)) == len(ERRORS)
    assert not PROGRAMMERS - {text for _, text in RAISED}, "nobody says that"
    for name in ELSEWHERE:
        assert any(raised(ROOT / "model" / name)), "there is nothing in it to leave out"


def test_only_the_model_and_what_is_named_raises_for_visitors_in_english() -> None:
    for path in (path for room in ("app", "pages", "ui", "views") for path in (ROOT / "viz" / room).rglob("*.py")):
        for where, text in raised(path):
            assert text == "…", f"{where}: {text}: say() it"


@pytest.mark.parametrize("code", OTHERS)
def test_templates_keep_their_places_and_what_may_stand_behind_the_name_of_a_file(code: str) -> None:
    for template in (*ERRORS, *WORDS):
        other = MESSAGES[template][code]
        parts, others = ([*string.Formatter().parse(text)] for text in (template, other))
        named = [{name for _, name, _, _ in some if name is not None} for some in (parts, others)]
        assert named[0] == named[1], template
        assert all(not (spec or conversion) for _, _, spec, conversion in parts + others), "values are texts by now"
        assert all(literal or number == 0 for number, (literal, _, _, _) in enumerate(parts)), "nothing parts them"
        if template in ERRORS and not parts[0][0]:
            assert not others[0][0] and others[0][1] == parts[0][1], template


def content(**values) -> bytes:
    file = io.BytesIO()
    np.savez(file, **values)
    return file.getvalue()


def read(**values) -> Callable[[Translator, Path], object]:
    return lambda translator, folder: read_attention(io.BytesIO(content(**values)))


def broken(name: str, text: str, load: Callable[[Path], object] = checkpoint.load) -> Callable:
    """Loads a checkpoint with other words in one of its files."""

    def cause(translator: Translator, folder: Path) -> object:
        (folder / name).write_text(text)
        return load(folder)

    return cause


CONFIG = {"vocab_size": 300, "d_model": 30, "n_heads": 4}
EYE = np.eye(2)[None, None]
# What is done, what German and Korean say of it: {folder} is the checkpoint's.
CAUSES = {
    "nothing": (
        lambda translator, folder: translator.translate(" "),
        "Es gibt nichts zu übersetzen: Gib einen Satz ein.",
        "번역할 것이 없습니다. 문장을 입력하세요.",
    ),
    "characters": (
        lambda translator, folder: translator.translate("x" * 20_001),
        "Der Text hat 20,001 Zeichen; erlaubt sind höchstens 2,000.",
        "텍스트가 20,001자입니다. 최대 2,000자까지 허용됩니다.",
    ),
    "tokens": (
        lambda translator, folder: translator.translate("x " * 100),
        "Der Text hat 201 Tokens; erlaubt sind höchstens 60.",
        "텍스트의 토큰이 201개입니다. 최대 60개까지 허용됩니다.",
    ),
    "beam": (
        lambda translator, folder: translator.translate("a", beam=0),
        "Die Beam-Breite muss zwischen 1 und 16 liegen, sie ist aber 0.",
        "빔 너비는 1부터 16까지여야 하는데 0입니다.",
    ),
    "prefix": (
        lambda translator, folder: translator.translate("a", prefix=[999_999]),
        "Der festgelegte Anfang enthält das Token 999999; die Tokens sind von 0 bis {last} nummeriert.",
        "고정된 앞부분에 토큰 999999이(가) 있습니다. 토큰 번호는 0부터 {last}까지입니다.",
    ),
    "no edits": (
        lambda translator, folder: Edits.from_code("v1_{oc}"),
        "Die Änderungen sind nicht lesbar: '{{oc}}' ist keine gültige Änderung.",
        "변경을 읽을 수 없습니다. '{{oc}}'은(는) 올바른 변경이 아닙니다.",
    ),
    "other edits": (
        lambda translator, folder: Edits.from_code("v9_oc0-0"),
        "Der Code von Änderungen beginnt mit 'v1', hier steht 'v9'.",
        "변경 코드는 'v1'(으)로 시작해야 하는데 'v9'입니다.",
    ),
    "edits that contradict": (
        lambda translator, folder: Edits.from_code("v1_oe1-3_ue1-3"),
        "Ein Kopf wird entweder ausgeschaltet oder gleichverteilt; beides ist verlangt von: "
        "Encoder-Self, Schicht 1, Kopf 3.",
        "헤드는 끄거나 균등하게 하거나 둘 중 하나만 할 수 있는데, 둘 다 요청되었습니다: 인코더 셀프, 레이어 1, 헤드 3.",
    ),
    "edits of no head": (
        lambda translator, folder: translator.translate("a", edits=Edits.from_code("v1_oc0-9")),
        "Kopf 9 gibt es in der Cross-Attention nicht; möglich ist 0 bis 3.",
        "헤드 9은(는) 크로스 어텐션에 없습니다. 0부터 3까지 가능합니다.",
    ),
    "edits of no cell": (
        lambda translator, folder: translator.translate("a", edits=Edits.from_code("v1_be50-0")),
        "Zeile 50 gibt es in der Encoder-Self-Attention hier nicht; möglich ist 0 bis 1.",
        "행 50은(는) 여기 인코더 셀프 어텐션에 없습니다. 0부터 1까지 가능합니다.",
    ),
    "no checkpoint": (
        lambda translator, folder: load_translator("no such {name}"),
        "Den Checkpoint 'no such {{name}}' gibt es nicht; vorhanden: en-de.",
        "체크포인트 'no such {{name}}'이(가) 없습니다. 있는 것: en-de.",
    ),
    "a configuration of other sizes": (
        broken("config.json", json.dumps({"architecture": "transformer", **CONFIG})),
        "{folder}/config.json: d_model (30) muss ein Vielfaches von n_heads (4) sein.",
        "{folder}/config.json: d_model(30)은 n_heads(4)의 배수여야 합니다.",
    ),
    "a configuration with more": (
        broken("config.json", json.dumps({"architecture": "transformer", "x": 1})),
        "{folder}/config.json: TransformerConfig: Der Schlüssel 'x' ist unbekannt; erlaubt sind vocab_size, ",
        "{folder}/config.json: TransformerConfig: 알 수 없는 키 'x'입니다. 허용되는 키: vocab_size, ",
    ),
    "a tokenizer of nothing": (
        broken("tokenizer.json", '{"type": "text", "words": ["a", "a"]}'),
        "{folder}/tokenizer.json: die Wörter eines Textes müssen sich voneinander unterscheiden und dürfen keine "
        "Leerzeichen enthalten.",
        "{folder}/tokenizer.json: 텍스트의 단어는 서로 달라야 하고 공백이 없어야 합니다.",
    ),
    "weights of nothing": (
        broken("model.safetensors", ""),
        "{folder}/model.safetensors ist keine vollständige safetensors-Datei: ",
        "{folder}/model.safetensors은(는) 온전한 safetensors 파일이 아닙니다",
    ),
    "a card of another model": (
        broken("card.json", "{}"),
        "{folder}/card.json ist nicht die Datei, die in manifest.json steht: Ihr SHA-256 ist 44136fa355b3…, nicht ",
        "{folder}/card.json은(는) manifest.json에 적힌 파일이 아닙니다. SHA-256이 ",
    ),
    "no object": (
        broken("card.json", "[]"),
        "{folder}/card.json muss ein JSON-Objekt enthalten, enthält aber list.",
        "{folder}/card.json에는 JSON 객체가 있어야 하는데 list입니다.",
    ),
    "scores by length": (
        lambda translator, folder: lengths.read({"scores": {"a: b": {lengths.KEY: []}}}),
        "Die Ergebnisse nach Länge von 'a: b' sind leer.",
        "'a: b'의 길이별 점수가 비어 있습니다.",
    ),
    "a report of other weights": (
        broken("atlas.json", "{}", lambda folder: atlas.read(folder, None)),
        "{folder}/atlas.json wurde mit anderen Gewichten gemessen: Führe python -m model atlas noch einmal aus.",
        "{folder}/atlas.json은(는) 다른 가중치로 측정되었습니다. python -m model atlas를 다시 실행하세요.",
    ),
    "no npz": (
        lambda translator, folder: read_attention(io.BytesIO(b"PK")),
        "Das ist keine vollständige .npz-Datei, wie numpy.savez sie schreibt.",
        "이 파일은 numpy.savez가 쓰는 온전한 .npz 파일이 아닙니다.",
    ),
    "an npz of nothing": (
        read(),
        "In der Datei ist keine Attention: Nötig ist mindestens eines von encoder_self, decoder_self, cross, "
        "sie ist aber leer.",
        "파일에 어텐션이 없습니다. encoder_self, decoder_self, cross 중 적어도 하나가 필요한데 비어 있습니다.",
    ),
    "an npz without tokens": (
        read(cross=EYE, source_tokens=["a", "b"]),
        "cross braucht target_tokens und source_tokens zur Benennung der Achsen.",
        "Cross의 축에 이름을 붙이려면 target_tokens와(과) source_tokens이(가) 필요합니다.",
    ),
    "an npz of objects": (
        read(encoder_self=EYE, source_tokens=np.array(["a", None])),
        "source_tokens enthält Python-Objekte, die Code ausführen könnten: Speichere einfache Texte oder Zahlen.",
        "source_tokens에 코드를 실행할 수 있는 파이썬 객체가 있습니다. 단순한 텍스트나 수로 저장하세요.",
    ),
    "an npz of scores": (
        read(encoder_self=3 * EYE, source_tokens=["a", "b"]),
        "encoder_self enthält Zahlen von 0 bis 3; Gewichte liegen zwischen 0 und 1: Nimm sie nach dem Softmax.",
        "encoder_self에 0부터 3까지의 수가 있습니다. 가중치는 0부터 1까지이므로 소프트맥스를 거친 값을 저장하세요.",
    ),
    "an npz with another mask": (
        read(encoder_self=EYE, encoder_self_mask=EYE[0, 0] == 0, source_tokens=["a", "b"]),
        "encoder_self_mask sperrt eine Zelle mit dem Gewicht 1.00: True muss „erlaubt“ bedeuten, und Zeilen müssen "
        "Querys sein.",
        "encoder_self_mask가 가중치가 1.00인 칸을 차단합니다. True는 “허용”을 뜻해야 하고, 행은 쿼리여야 합니다.",
    ),
    "a string": (
        lambda translator, folder: practice.checked("ab:"),
        "Das Modell kennt nur die Kleinbuchstaben a bis z, nicht ':'.",
        "이 모델은 소문자 a부터 z까지만 압니다. 입력에 ':'이(가) 있습니다.",
    ),
    "a schedule": (
        lambda translator, folder: noam(4, 0),
        "Der Noam-Zeitplan braucht ein Warmup von mindestens 1 Schritt, angegeben ist 0.",
        "Noam 스케줄에는 최소 1스텝의 웜업이 필요한데 0입니다.",
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_real_errors_in_german_and_korean(cause: str, recorded: Translator, checkpoints: Path, tmp_path: Path) -> None:
    do, german, korean = CAUSES[cause]
    folder = shutil.copytree(checkpoints / "en-de", tmp_path / "mine: {folder}")
    with pytest.raises(ValueError) as found:
        do(recorded, folder)
    known = {"folder": folder, "last": len(recorded.tokenizer) - 1}
    english = str(found.value)
    named = english.startswith(("source_", "target_", "predicted_", "encoder_self", "decoder_self", "cross"))
    first = english[:1] if named else english[:1].upper()  # names of arrays stay as they are spelt
    assert errors.sentence(found.value) == first + english[1:].rstrip(".") + "."
    for code, expected in (("de", german), ("ko", korean)):
        with using(code):
            said = errors.sentence(found.value)
        expected = expected.format(**known)
        assert said == expected or (not expected.endswith(".") and said.startswith(expected))


REPEATED = ("'", '"', "{", "}", "{}", "{error}", ": ", ", got ", "'; there are ", "; at most ", "\\", "\n", " has ")


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("piece", [*REPEATED, *hostile.MARKED])
def test_any_text_that_is_no_error_comes_out_as_it_is(piece: str, code: str) -> None:
    text = piece * (10_000 // len(piece))
    with using(code):
        assert understood(text) == text
        quoted = understood(f"there is no checkpoint {text!r}; there are none")
        assert text in quoted or repr(text) in quoted
        assert not quoted.startswith("there is")


@pytest.mark.parametrize("code", OTHERS)
def test_what_a_visitor_types_is_not_understood(code: str) -> None:
    """Only the places for errors and for words of ours are: a file may have the name of an error."""
    typed = "there is nothing to translate: type a sentence"
    with using(code):
        assert typed in understood(f"the file {typed} does not exist")
        assert typed not in understood(f"config.json: {typed}")
        assert "'row'" in understood("there is no checkpoint 'row'; there are row")
        assert understood("row") == "row"


def test_the_same_place_twice_holds_the_same_twice() -> None:
    with using("de"):
        text = "there is a mask for cross, but no decoder_self"
        assert understood(text) == text
        assert understood("there is a mask for cross, but no cross") == "es gibt eine Maske für cross, aber kein cross"


def test_the_template_with_the_most_literal_text_is_taken() -> None:
    assert fitting("the file a cannot be read: it is not a file")[1] == {"path": "a"}
    assert fitting("at most 7 encoder or decoder layers can be loaded")[1] == {"most": "7"}
    assert fitting("a.json: it burns") == ("{path}: {error}", {"path": "a.json", "error": "it burns"})
    assert fitting("all is well") is None
