"""Tasks that a tiny model learns within a minute, each as data: strings, what is to be written, and where it stands.

A task with a prompt is read by an encoder, or by a decoder before the answer. A task without one is a text, of which
some symbols can be known from those before them.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from model.text.errors import Problem, check_characters

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}  # which kind a bracket closes
LONGEST = 10  # letters of a string
PLACES = 2  # digits of a number
TEXT = 40  # letters of a text that repeats
PERIODS = range(6, 21)  # after how many letters it does
OPEN_TEXT = 24  # letters of the one that is open
BRACKETS = 16  # brackets of a text
DEEPEST = 4  # that are open at a time

Places = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """One string of a task.

    Attributes:
        prompt: the symbols that are given; none of a text.
        answer: the symbols that are to be written, or those of the text.
        origins: for each symbol of the answer the places from which it is known, in the prompt, or in a text among its
            own symbols; None where it cannot be known, and is not asked for.
    """

    prompt: tuple[str, ...]
    answer: tuple[str, ...]
    origins: tuple[Places | None, ...]

    @property
    def text(self) -> str:
        """What is typed to get this sample."""
        return "".join(self.prompt or self.answer)


@dataclass(frozen=True)
class Task:
    """What is to be learned.

    Attributes:
        symbols: the alphabet.
        draw: a random sample.
        read: the sample of what a visitor typed; a Problem where that is not possible.
        sample: what is open at first.
        rules: names of `model.films.rules.RULES`: what heads are expected to learn, the first one first.
        by_symbol: whether solved is counted in symbols, else in whole answers.
        solved: the share of unseen ones from which it is solved.
        defaults: fields of `Settings` that are not as in other tasks.
    """

    symbols: str
    draw: Callable[[random.Random], Sample]
    read: Callable[[str], Sample]
    sample: str
    rules: tuple[str, ...] = ("source",)
    by_symbol: bool = False
    solved: float = 0.99
    defaults: Mapping[str, object] = field(default_factory=dict)

    @property
    def has_prompt(self) -> bool:
        """Whether an encoder may read the prompt."""
        return bool(self.read(self.sample).prompt)


def _letters(dice: random.Random) -> str:
    return "".join(dice.choices(LETTERS, k=dice.randint(1, LONGEST)))


def _checked(text: str, allowed: str, most: int) -> str:
    """A text that was typed, if it has 1 to `most` symbols and all of them are allowed."""
    text = text.strip()
    if not text:
        raise Problem("there is nothing to read: type 1 to {most} of these: {allowed}", most=most, allowed=allowed)
    if strange := text.strip(allowed):
        raise Problem("the model knows {allowed} only, got {value!r}", allowed=allowed, value=strange[0])
    check_characters(text, most)
    return text


def _backwards(text: str) -> Sample:
    count = len(text)
    return Sample(tuple(text), tuple(text[::-1]), tuple((count - 1 - place,) for place in range(count)))


def _copy(text: str) -> Sample:
    return Sample(tuple(text), tuple(text), tuple((place,) for place in range(len(text))))


def _sort(text: str) -> Sample:
    answer = sorted(text)
    origins = [tuple(place for place, letter in enumerate(text) if letter == wanted) for wanted in answer]
    return Sample(tuple(text), tuple(answer), tuple(origins))


def _repeated(letters: Sequence[str], count: int) -> Sample:
    """A text that repeats some letters, all different, until it has `count`."""
    period = len(letters)
    text = tuple(letters[place % period] for place in range(count))
    return Sample((), text, tuple(None if place < period else (place - period,) for place in range(count)))


def _draw_repeated(dice: random.Random) -> Sample:
    return _repeated(dice.sample(LETTERS, dice.choice(PERIODS)), TEXT)


def _read_repeated(text: str) -> Sample:
    letters = _checked(text, LETTERS, OPEN_TEXT // 2)
    if len(set(letters)) < len(letters):
        raise Problem("each letter may come once: the text repeats them all by itself")
    return _repeated(letters, OPEN_TEXT)


def _bracketed(text: str) -> Sample:
    """A text of brackets; what is to be known is which kind closes, wherever one closes."""
    waiting: list[int] = []
    origins: list[Places | None] = []
    for place, symbol in enumerate(text):
        if symbol not in PAIRS:
            waiting.append(place)
            origins.append(None)
        elif waiting and text[waiting[-1]] == PAIRS[symbol]:
            origins.append((waiting.pop(),))
        else:
            raise Problem("the bracket {symbol} in place {place} closes none", symbol=symbol, place=place + 1)
    return Sample((), tuple(text), tuple(origins))


def _draw_brackets(dice: random.Random) -> Sample:
    closing = {opening: symbol for symbol, opening in PAIRS.items()}
    text, waiting = "", ""
    while len(text) + len(waiting) < BRACKETS:
        if waiting and (len(waiting) == DEEPEST or dice.random() < 0.5):
            text += closing[waiting[-1]]
            waiting = waiting[:-1]
        else:
            waiting += dice.choice("".join(closing))
            text += waiting[-1]
    return _bracketed(text + "".join(closing[symbol] for symbol in reversed(waiting)))


def _read_brackets(text: str) -> Sample:
    sample = _bracketed(_checked(text, "([{<>}])", BRACKETS))
    if not any(sample.origins):
        raise Problem("no bracket closes in this text")
    return sample


def _sum(first: int, second: int) -> Sample:
    """Two numbers of PLACES digits; their sum is written from the units on, as one adds by hand."""
    digits = [f"{number:0{PLACES}d}" for number in (first, second)]
    answer = f"{first + second:0{PLACES + 1}d}"[::-1]
    # The digits of the place itself; of the last one, which is a carry, those of the place before.
    places = [PLACES - 1 - min(place, PLACES - 1) for place in range(PLACES + 1)]
    origins = tuple((place, PLACES + 1 + place) for place in places)
    return Sample((*digits[0], "+", *digits[1]), tuple(answer), origins)


def _read_sum(text: str) -> Sample:
    parts = _checked(text, DIGITS + "+", 2 * PLACES + 1).split("+")
    if len(parts) != 2 or not all(part and len(part) <= PLACES for part in parts):
        raise Problem("type two numbers of at most {n} digits with a + between them", n=PLACES)
    return _sum(int(parts[0]), int(parts[1]))


def _of_letters(make: Callable[[str], Sample], sample: str, **fields: object) -> Task:
    def draw(dice: random.Random) -> Sample:
        return make(_letters(dice))

    def read(text: str) -> Sample:
        return make(_checked(text, LETTERS, LONGEST))

    return Task(LETTERS, draw, read, sample, defaults=fields)


DECODER = "decoder"
TASKS: dict[str, Task] = {
    "backwards": _of_letters(_backwards, "headlight"),
    "copy": _of_letters(_copy, "headlight"),
    "sort": _of_letters(_sort, "headlight"),
    "seen before": Task(
        LETTERS,
        _draw_repeated,
        _read_repeated,
        "headligt",
        ("previous", "induction"),
        by_symbol=True,
        defaults={"architecture": DECODER, "layers": 2, "feed_forward": False, "positions": "rotary", "steps": 1000},
    ),
    "brackets": Task(
        "([{<>}])",
        _draw_brackets,
        _read_brackets,
        "([{}]<>)",
        ("source", "previous"),
        defaults={"architecture": DECODER, "layers": 2},
    ),
    "add": Task(
        DIGITS + "+",
        lambda dice: _sum(dice.randrange(10**PLACES), dice.randrange(10**PLACES)),
        _read_sum,
        "27+65",
        defaults={"layers": 2, "positions": "learned"},
    ),
}


def task_of(name: str) -> Task:
    """The task of a name; a ValueError names those there are."""
    if name not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {name!r}")
    return TASKS[name]
