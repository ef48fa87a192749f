"""`python -m viz.text.extract` (make messages): brings the catalogues in step with the sentences of the code.

New sentences come in without a translation, those that nobody says any more go; translations are written by hand.
"""

import ast
import io
import re
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from viz.text.language import ENGLISH, LANGUAGES, begun, path_of

ROOT = Path(__file__).parents[2]
MARKS = {"model": {"Problem", "Phrase"}, "viz": {"say", "message", "Problem", "Phrase"}}  # what is given a sentence
FIRST = {"Story": 2, "card": 5, "pitfall": 4, "TextPair": 1}  # how many of the first arguments are sentences
_PLACE, _WORDS = re.compile(r"\{[^}]*\}|<[^>]*>"), re.compile(r"[^\W\d_]|[“”]")


def _given(node: ast.Call, marks: set[str]) -> list[ast.expr]:
    name = getattr(node.func, "id", "")
    values = [keyword.value for keyword in node.keywords if name == "messages"]
    values += node.args[: FIRST.get(name, 0)]
    parts = [text for value in values for text in (value.elts if isinstance(value, ast.Tuple) else [value])]
    first = node.args[:1] if name in marks else []
    return [*first, *(text for text in parts if not isinstance(text, (ast.Call, ast.Name)))]


@cache
def calls() -> list[tuple[str, ast.Call, str | None]]:
    """The calls that are given sentences: where, the call, and the sentence if it is spelt out."""
    return [
        (
            f"{file.relative_to(ROOT)}:{node.lineno}",
            node,
            argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None,
        )
        for room, marks in MARKS.items()
        for file in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))  # Babel's own misses those in f-strings
        if isinstance(node, ast.Call)
        for argument in _given(node, marks)
    ]


def sentences() -> Catalog:
    """The sentences of the code; those without words are the same in all languages."""
    catalog = Catalog()
    texts = {text for _, _, text in calls() if text}
    for text in texts:
        small = begun(text, small=True)  # in its place, where that is said, too
        if (small == text or small not in texts) and _WORDS.search(_PLACE.sub("", text)):
            catalog.add(text)
    return catalog


def in_step(language: str) -> bytes:
    """The catalogue file of a language, with exactly the sentences of the code."""
    path = path_of(language)
    with path.open("rb") if path.exists() else io.BytesIO() as file:
        catalogue = read_po(file, locale=language)
    catalogue.update(sentences(), no_fuzzy_matching=True, update_creation_date=False)
    file = io.BytesIO()
    write_po(file, catalogue, width=0, sort_output=True, ignore_obsolete=True, no_location=True)
    return file.getvalue()


if __name__ == "__main__":
    for language in LANGUAGES.keys() - {ENGLISH}:
        path_of(language).parent.mkdir(parents=True, exist_ok=True)
        path_of(language).write_bytes(in_step(language))
