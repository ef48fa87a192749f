"""Imported Marian translators in the engine: SentencePiece cuts as in Python, and the translations are the same."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest

from model import load_translator
from model.adapters.marian import import_marian
from model.interventions.edits import Edits, Force, Head
from model.text.pieces import PieceTokenizer
from model.text.special import SPECIAL_TOKENS
from tests.support.javascript import node
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.marian_models import (
    CODE,
    ENGLISH,
    GERMAN,
    SIZES,
    compiled,
    pieces_of,
    save_marian,
    write_sentencepiece,
)
from tests.test_viz.test_web.test_engine.comparing import Request, assert_same

LOGS, WEIGHTS = 1e-3, 1e-4  # of random weights, as in test_models.py
HARD = [
    *(
        "",
        " ",
        "\u200b",
        "  two   spaces ",
        "tab\there",
        "ﬁne…",
        "über u\u0308ber",
        "♞ unknown ♞♞",
        "Straße 7",
        "▁a▁ b▁",
    ),
    *(
        f"{CODE} A man",
        f"{CODE}",
        ">>xx<< a",
        "a >>deu<<",
        "</s> <unk> <pad>",
        "\ufeffa\u2028b",
        "\U0010ffff",
        "aaaa" * 30,
    ),
]
CUT = """
import { PieceTokenizer } from "%s";
const { readFileSync } = await import("node:fs");
const { models, tokens, texts } = JSON.parse(readFileSync(process.argv[1], "utf-8"));
const cut = (model) => {
  try {
    const tokenizer = new PieceTokenizer(tokens, model);
    return texts.map((text) => [tokenizer.encode(text), tokenizer.decode(tokenizer.encode(text))]);
  } catch ({ message }) {
    return message;
  }
};
process.stdout.write(JSON.stringify(models.map(cut)));
"""


def cut(models: list[str], tokens: list[str], texts: list[str], folder: Path) -> list:
    """For each model (base64) the ids of each text, and the text of these."""
    job = folder / "job.json"
    job.write_text(json.dumps({"models": models, "tokens": tokens, "texts": texts}), encoding="utf-8")
    module = Path("viz/web/engine/text/pieces.js").resolve().as_uri()
    finished = node("--input-type=module", "--eval", CUT % module, job)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def typed() -> list[str]:
    """Odd texts, and random ones of characters that pieces, replacements and neither have."""
    rng = random.Random(40)
    signs = "aehistTDmd  \t▁.,üß\u00a0ﬁ\u0308…\u200b♞é🐈"
    return [*ENGLISH, *GERMAN, *HARD, *("".join(rng.choices(signs, k=rng.randint(1, 30))) for _ in range(300))]


def base64_of(tokenizer: PieceTokenizer) -> str:
    return base64.b64encode(tokenizer.model).decode()


def test_texts_are_cut_as_sentencepiece_cuts_them(tmp_path: Path) -> None:
    pieces = pieces_of([*ENGLISH, *GERMAN])
    tokens = [*SPECIAL_TOKENS, *(piece for piece, _ in pieces[1:-3]), CODE]
    changes = [
        {},
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
        {"precompiled_charsmap": b""},
        {"precompiled_charsmap": compiled({"a": "  b ", "tt": "", "T": "▁ "})},
    ]
    sides = []
    for number, change in enumerate(changes):
        path = tmp_path / f"{number}.spm"
        write_sentencepiece(path, pieces, **change)
        sides.append(PieceTokenizer(tokens, path.read_bytes()))
    cuts = cut([base64_of(side) for side in sides], tokens, typed(), tmp_path)
    for side, change, of_side in zip(sides, changes, cuts, strict=True):
        for text, (ids, decoded) in zip(typed(), of_side, strict=True):
            assert ids == side.encode(text), (change, text)
            assert decoded == side.decode(ids), (change, text)


def test_other_models_of_sentencepiece_get_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "bpe.spm"
    pieces = pieces_of(ENGLISH)
    tokens = [*SPECIAL_TOKENS, *(piece for piece, _ in pieces[1:])]
    write_sentencepiece(path, pieces, model_type=2)
    (problem,) = cut([base64_of(PieceTokenizer(tokens, path.read_bytes()))], tokens, ["a"], tmp_path)
    assert problem == "the engine cuts texts with unigram models of SentencePiece only, and this translator has another"


@pytest.mark.parametrize("name", first_quick(SIZES))
def test_an_imported_translator_translates_as_in_python(name: str, tmp_path: Path, answers) -> None:
    save_marian(tmp_path / "theirs", **SIZES[name])
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    translator = load_translator(str(tmp_path / "ours"))
    edits = Edits(off=(Head("cross", 0, 1),), forced=(Force(1, 0, 0.5),))
    plain = [Request(text, beam) for text in [*ENGLISH[:2], "♞ über  u\u0308ber ﬁne…"] for beam in (4, 1)]
    requests = [
        *plain,
        Request(ENGLISH[2], 2, edits),
        Request(ENGLISH[0], target=GERMAN[0]),
        Request(f"{CODE} A man", 3),
    ]
    replies = answers(tmp_path / "ours", [request.for_engine() for request in requests])
    for request, answer in zip(requests, replies, strict=True):
        result = request.by_python(translator)
        assert_same(answer, result, LOGS, WEIGHTS)
