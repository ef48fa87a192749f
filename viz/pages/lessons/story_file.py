"""A lesson that a teacher writes: a Markdown file of cards (docs/teaching.md), in other languages with a suffix."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from model.text.errors import Phrase, Problem
from viz.pages.lessons.card import Card, Link, State, Story, address_of, show_on_stage
from viz.stage.payload import why
from viz.text.language import ENGLISH, LANGUAGES, current
from viz.ui.stage import stage_page
from viz.views import changes, view
from viz.views.cached import Request
from viz.views.view import PLACE, View

VARIABLE = "HEADLIGHT_LESSONS"  # files of lessons, with spaces between
PAGES = ("", "translate", "steer")  # whose pictures cards show
GUESSES = range(2, 5)
_GUESS = re.compile(r"- (?:\[(?P<mark>[xX ])\] )?(?P<text>.+)")
_PICTURE = re.compile(r"\[(?P<when>picture|answer)\]\((?P<address>.+)\)")
Line = tuple[int, str]  # its number, from 1, and what it says


@dataclass(frozen=True)
class AtAddress:
    """The stage at two addresses of the app: before the guess, and with the answer."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with the answer in it; `asked`: what the visitor has opened since."""
        request, place = self._of(answered)
        return show_on_stage(request, place, None, asked)

    def link(self) -> Link:
        """Where the picture can be played with."""
        request, place = self._of(True)
        page, query = address_of(request)
        return page, {**query, **place}

    def _of(self, answered: bool) -> tuple[Request, dict[str, str]]:
        query = self.after if answered else self.before
        return request_of(query), {"kind": "cross"} | {name: query[name] for name in PLACE if name in query}


def request_of(query: Mapping[str, str]) -> Request:
    """What an address asks to translate, with its changes; a ValueError where it asks for what there is not."""
    models = stage_page.translators()
    asked, problems = view.read(query, models, View(model=models[0]))
    if problems or "text" not in query:
        raise Problem("the address names no text, or what there is not ({parts})", parts=", ".join(problems) or "text")
    if why.cell_of(query):
        raise Problem("a card cannot show the view Why")
    return Request(**vars(asked), changes=changes.read(query))


def stories() -> dict[str, Story]:
    """The lessons of the files that VARIABLE names, by their codes, in the language of here; errors as in `read`."""
    return {code_of(path): read(path) for path in map(Path, shlex.split(os.environ.get(VARIABLE, "")))}


def code_of(path: Path) -> str:
    """The name of a file as it stands in an address."""
    return re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "lesson"


def read(path: Path) -> Story:
    """The lesson of a file, or of the one beside it whose name ends with the language of here: story.de.md.

    Raises:
        ValueError: the file cannot be read, or a line of it; the message says which, and what belongs there.
    """
    language = current()
    own = path.with_suffix(f".{language}{path.suffix}")
    chosen = own if language in LANGUAGES and language != ENGLISH and own.is_file() else path
    try:
        text = chosen.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise Problem("the lesson {file} cannot be read: a text file in UTF-8 is needed", file=str(chosen)) from None
    return _parsed(chosen.name, text)


@lru_cache(maxsize=32)
def _parsed(name: str, text: str) -> Story:
    return parse(name, text)


def parse(name: str, text: str) -> Story:
    """The lesson that a text describes; `name` of its file is for errors, which are as in `read`."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    first, title = lines[0] if lines else (1, "")
    if not title.startswith("# "):
        raise _at(first, name, Phrase("a lesson begins with “# ” and its name"))
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith("## ")]
    if not starts:
        raise _at(lines[-1][0], name, Phrase("a lesson has cards: each begins with “## ” and its question"))
    about = [line for _, line in lines[1 : starts[0]]]
    sources = " · ".join(line.removeprefix("Sources:").strip() for line in about if line.startswith("Sources:"))
    line = " ".join(line for line in about if not line.startswith("Sources:"))
    cards = [_card(name, lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)])]
    return Story(title[2:].strip(), line, sources, cards)


def _card(name: str, lines: Sequence[Line]) -> Card:
    (first, question), *others = lines
    guesses = [match for _, line in others if (match := _GUESS.fullmatch(line))]
    if len(guesses) not in GUESSES:
        raise _at(
            first,
            name,
            Phrase("a card has 2 to 4 guesses, in lines that begin with “- ”; here are {n}", n=len(guesses)),
        )
    right = [number for number, match in enumerate(guesses) if (match["mark"] or "") in ("x", "X")]
    if len(right) != 1:
        raise _at(first, name, Phrase("one guess is right and has “[x] ” before it; here {n} have", n=len(right)))
    quoted = [line[1:].strip() for _, line in others if line.startswith(">")]
    if not any(quoted):
        raise _at(first, name, Phrase("a card has an answer, in lines that begin with “> ”"))
    places = dict(_pictures(name, others))
    if "picture" not in places:
        raise _at(first, name, Phrase("a card has a picture: [picture](its address in the app)"))
    look = " ".join(
        line for _, line in others if not (line.startswith(">") or _GUESS.fullmatch(line) or _PICTURE.fullmatch(line))
    )
    answer, *details = quoted
    picture = AtAddress(places["picture"], places.get("answer", places["picture"]))
    texts = [match["text"] for match in guesses]
    parts = (look, question[3:].strip(), texts, answer, " ".join(filter(None, details)))
    return Card(*parts, picture, right[0], numbers=dict)


def _pictures(name: str, lines: Sequence[Line]) -> Iterator[tuple[str, dict[str, str]]]:
    """The queries of a card's addresses, by "picture" and "answer"."""
    for number, line in lines:
        if not (match := _PICTURE.fullmatch(line)):
            continue
        address = urlsplit(match["address"].strip())
        page = address.path.rsplit("/", 1)[-1]
        if page not in PAGES:
            raise _at(number, name, Phrase("a card shows an address of Translate or Steer, not of {page}", page=page))
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        try:
            request_of(query)
        except ValueError as error:
            reason = error if isinstance(error, Phrase) else str(error)
            raise _at(number, name, Phrase("the address cannot be shown: {reason}", reason=reason)) from None
        yield match["when"], query


def _at(number: int, name: str, reason: Phrase) -> Problem:
    return Problem("{file}, line {number}: {reason}", file=name, number=number, reason=reason)
