"""Spans that a translation copies, put into pairs of sentences at the same place on both sides.

Names, addresses, emoji, formulas and words in capitals are endless: what a model has to learn of them is to copy,
which pairs as they are written hardly teach (Currey et al. 2017, "Copied Monolingual Data"). Places have names of their
own in either language, and so have times of day. Pieces are those of `Tokenizer.pieces`.
"""

import random
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from model.text.special import MARK, join_pieces
from model.training.data import times
from model.training.data.noise import Pieces
from model.training.data.times import Texts

Cut = Callable[[str], list[str]]  # a text to its pieces
Slot = tuple[slice, slice]  # the places on both sides that a span takes

PLACES: tuple[Texts, ...] = (  # English and German, where they differ
    ("Cologne", "Köln"),
    ("Munich", "München"),
    ("Nuremberg", "Nürnberg"),
    ("Hanover", "Hannover"),
    ("Brunswick", "Braunschweig"),
    ("Vienna", "Wien"),
    ("Zurich", "Zürich"),
    ("Geneva", "Genf"),
    ("Lucerne", "Luzern"),
    ("Milan", "Mailand"),
    ("Rome", "Rom"),
    ("Venice", "Venedig"),
    ("Naples", "Neapel"),
    ("Florence", "Florenz"),
    ("Warsaw", "Warschau"),
    ("Cracow", "Krakau"),
    ("Prague", "Prag"),
    ("Moscow", "Moskau"),
    ("Brussels", "Brüssel"),
    ("Antwerp", "Antwerpen"),
    ("Lisbon", "Lissabon"),
    ("Copenhagen", "Kopenhagen"),
    ("Gothenburg", "Göteborg"),
    ("Athens", "Athen"),
    ("Strasbourg", "Straßburg"),
    ("Nice", "Nizza"),
    ("Bucharest", "Bukarest"),
    ("Belgrade", "Belgrad"),
    ("Tokyo", "Tokio"),
    ("Beijing", "Peking"),
    ("Cairo", "Kairo"),
    ("Jerusalem", "Jerusalem"),
    ("Havana", "Havanna"),
    ("Singapore", "Singapur"),
)
UNSEEN_EMOJI = "🎈 🐢 🍉 🚀 🌻 🎻".split()  # left to tests: what copies these has learned to copy
_EMOJI = [
    chr(code)
    for first, last in (
        (0x2600, 0x27BF),
        (0x1F300, 0x1F64F),
        (0x1F680, 0x1F6FF),
        (0x1F900, 0x1F9FF),
        (0x1FA70, 0x1FAFF),
    )
    for code in range(first, last + 1)
    if unicodedata.category(chr(code)) == "So" and chr(code) not in UNSEEN_EMOJI
]
_WELL_KNOWN_EMOJI = (
    "😀 😂 😍 🙂 😉 😢 😡 👍 👏 🙏 💪 ❤️ 🎉 🎂 ⭐ 🔥 ☀️ 🌧️ 🐶 🐱 🌍 🚗 🚲 ✈️ 🏠 📷 📚 💡 ✅ ❌ ⚽ 🎸 🍕 🍎 ☕".split()
)
FRAMES: tuple[Texts, ...] = (  # sentences for a span that no pair has a place for, English and German
    ("Look at {}!", "Schau dir {} an!"),
    ("This is {}.", "Das ist {}."),
    ("{} is new.", "{} ist neu."),
    ("Do you know {}?", "Kennst du {}?"),
    ("Click on {}.", "Klick auf {}."),
    ("I found {} here.", "Ich habe {} hier gefunden."),
    ("He sent me {} yesterday.", "Er hat mir gestern {} geschickt."),
    ("Where is {} now?", "Wo ist {} jetzt?"),
    ("My address is {}.", "Meine Adresse ist {}."),
    ("You can read it at {}.", "Du kannst es auf {} lesen."),
    ("Send the letter to {}, please.", "Schick den Brief bitte an {}."),
    ("The word {} is long.", "Das Wort {} ist lang."),
    ("We need {} today.", "Wir brauchen heute {}."),
    ("She wrote {} on the board.", "Sie schrieb {} an die Tafel."),
    ("The box is {} long.", "Die Kiste ist {} lang."),
    ("They have {} in the kitchen.", "Sie haben {} in der Küche."),
)
_ONSETS = "B D F G H J K L M N P R S T V W Br Kr Sch St Tr Gr Fl Ch Th Z C Y Sz Š Č Ł Ng Kh Ø É".split()
_MIDDLES = "a a a e e e i i o o u u au ei ie oo y ö ü ä ą ę é í ó å ø ñe ã".split()
_CODAS = "l n r s t m k ller nn rg ck wski sen mann ski berg er in a o ć ç š ng vić quist dze".split()
_ENDINGS = "com de org net eu io co.uk at ch".split()
_UNITS = "km kg m cm m² € $ % GB km/h °C".split()
_SUFFIXES = "_i _1 _0 ^2 ^n (x) +1 !".split()


def made_up_name(rng: random.Random) -> str:
    """A word that looks like a surname and that nobody has read before."""
    name = "".join(rng.choice(_ONSETS) + rng.choice(_MIDDLES) for _ in range(rng.choice([1, 1, 2, 3])))
    if rng.random() < 0.8:
        name += rng.choice(_CODAS)
    return name.capitalize()


def address(words: Sequence[str], rng: random.Random) -> str:
    """A made-up URL or e-mail address of words in small letters."""
    site = rng.choice(["", "-", "."]).join(rng.choices(words, k=rng.choice([1, 2, 2]))) + "." + rng.choice(_ENDINGS)
    page = rng.choice([rng.choice(words), rng.choice(string.ascii_lowercase)]) + rng.choice(
        ["", str(rng.randrange(100)), str(rng.randrange(1000))]
    )
    match rng.randrange(4):
        case 0:
            return f"http{rng.choice(['s', 's', ''])}://{rng.choice(['www.', ''])}{site}/{page}"
        case 1:
            return rng.choice(["www.", ""]) + site
        case 2:
            return f"{page}@{site}"
    return f"{rng.choice(words)}.{made_up_name(rng).lower().encode('ascii', 'ignore').decode()}@{site}"


def emphasised(text: str, rng: random.Random) -> str:
    """A text in markup of HTML or Markdown, or in quotation marks."""
    return rng.choice(["<b>{}</b>", "<i>{}</i>", "**{}**", "*{}*", "`{}`", "_{}_", '"{}"']).format(text)


def formula(rng: random.Random) -> str:
    """A short formula in the markup of LaTeX, "$x^2$"."""
    letter = rng.choice(string.ascii_letters)
    return f"${letter}{rng.choice(_SUFFIXES)}$" if rng.random() < 0.8 else f"$\\{rng.choice(['alpha', 'beta', 'pi'])}$"


def emoji(rng: random.Random) -> str:
    """One emoji or two, of all that Unicode has but `UNSEEN_EMOJI`, well-known ones more often."""
    return " ".join(
        rng.choice(_WELL_KNOWN_EMOJI if rng.random() < 0.3 else _EMOJI) for _ in range(rng.choice([1, 1, 1, 2]))
    )


def find_names(pairs: Iterable[Pieces], least: int = 3) -> list[str]:
    """Words that stand on both sides of pairs as they are, capitalised and not first: names, by how often, with marks.

    They stand in at least `least` pairs, and never in small letters.
    """
    both: Counter[str] = Counter()
    small: set[str] = set()
    for source, target in pairs:
        small.update(piece for piece in (*source, *target) if piece[1:].islower())
        both.update({piece for piece in source[1:] if _is_capitalised(piece)} & set(target[1:]))
    names = [piece for piece, count in both.most_common() if count >= least]
    return [piece for piece in names if MARK + piece[1].lower() + piece[2:] not in small]


def find_words(pairs: Iterable[Pieces], most: int = 5000) -> list[str]:
    """The `most` frequent words of both sides of pairs, in small letters; those with accents are left out."""
    counts = Counter(piece.lower().removeprefix(MARK) for pair in pairs for side in pair for piece in side)
    return [word for word, _ in counts.most_common(2 * most) if word.isascii() and word.isalpha()][:most]


class Copying:
    """Changes pairs so that they hold a span to copy; the same generator and pair give the same."""

    def __init__(self, pairs: Iterable[Pieces], cut_source: Cut, cut_target: Cut, source: str = "en") -> None:
        """Look up names and sentences with a time.

        Args:
            pairs: where they are taken from.
            cut_source: texts of the source language to pieces.
            cut_target: the same of the target language.
            source: "en" or "de".
        """
        pairs = list(pairs)
        self.names = find_names(pairs)
        self._name_pieces = frozenset(self.names)
        self._words = find_words(pairs)
        self._cuts = cut_source, cut_target
        self._source = source
        self._places = PLACES if source == "en" else tuple((german, english) for english, german in PLACES)
        self._frames = FRAMES if source == "en" else tuple((german, english) for english, german in FRAMES)
        slots = ((pair, slot) for pair in pairs if (slot := self._name_slot(pair)))
        self._placed = [(pair, slot) for pair, slot in slots if _is_place(pair, slot)]
        texts = [(join_pieces(pair[0]), join_pieces(pair[1])) for pair in pairs]
        self._timed = times.find_timed(texts if source == "en" else [(target, source) for source, target in texts])

    def change(self, pair: Pieces, rng: random.Random) -> Pieces:
        """Put another span in place of a name or a number, add one at an end, mark up or capitalise everything.

        Or give, instead of the pair, a sentence with a place, with a time, or one made for a span.
        """
        kind = rng.random()
        if kind < 0.07:
            source, target = pair
            return [piece.upper() for piece in source], [piece.upper() for piece in target]
        if kind < 0.29 and self._timed:
            return self._tell_time(rng)
        if kind < 0.37 and self._placed:
            return self._replace(*rng.choice(self._placed), rng.choice(self._places))
        if kind < 0.55:
            return self._frame(rng)
        if kind < 0.9 and (slot := self._name_slot(pair)):
            span = self._span(rng)
            return self._replace(pair, slot, (span, span))
        if slot := _number_slot(pair):
            number = str(rng.randrange(2, 10 ** rng.randint(1, 5)))
            return self._replace(pair, slot, (number, number))
        return self._surround(pair, rng)

    def _name_slot(self, pair: Pieces) -> Slot | None:
        """Where the one name is that stands on both sides exactly once."""
        shared = [piece for piece in pair[0] if piece in self._name_pieces and piece in pair[1]]
        if len(shared) != 1 or pair[1].count(shared[0]) != 1:
            return None
        source = pair[0].index(shared[0])
        target = pair[1].index(shared[0])
        return slice(source, source + 1), slice(target, target + 1)

    def _replace(self, pair: Pieces, slot: Slot, texts: Texts) -> Pieces:
        source, target = (
            [*side[: at.start], *cut(text), *side[at.stop :]]
            for side, at, text, cut in zip(pair, slot, texts, self._cuts)
        )
        return source, target

    def _span(self, rng: random.Random) -> str:
        """A random span to copy."""
        kind = rng.random()
        if kind < 0.25:
            return made_up_name(rng)
        if kind < 0.35 and self.names:
            return rng.choice(self.names).lstrip(MARK)
        if kind < 0.5:
            return emphasised(made_up_name(rng) if rng.random() < 0.5 else rng.choice(self._words), rng)
        if kind < 0.7:
            return address(self._words, rng)
        if kind < 0.78:
            return formula(rng)
        if kind < 0.9:
            return f"{rng.randrange(1, 1000)} {rng.choice(_UNITS)}"
        return made_up_name(rng).upper()

    def _frame(self, rng: random.Random) -> Pieces:
        span = self._span(rng)
        source, target = (cut(frame.format(span)) for frame, cut in zip(rng.choice(self._frames), self._cuts))
        return source, target

    def _surround(self, pair: Pieces, rng: random.Random) -> Pieces:
        """The pair with an emoji or an address after it, an emoji before it, or in markup."""
        sides = pair
        kind = rng.random()
        if kind < 0.15:
            template = emphasised("{}", rng)
        elif kind < 0.3:
            template = "{} " + address(self._words, rng)
        elif kind < 0.4:
            template = emoji(rng) + " {}"
        else:
            template = "{} " + emoji(rng)
            if rng.random() < 0.5 and all(side[-1:] == ["."] for side in pair):  # as people write
                sides = pair[0][:-1], pair[1][:-1]
        source, target = (cut(template.format(join_pieces(side))) for side, cut in zip(sides, self._cuts))
        return source, target

    def _tell_time(self, rng: random.Random) -> Pieces:
        texts = times.tell(rng.choice(self._timed), self._source, rng)
        source, target = texts if self._source == "en" else texts[::-1]
        cut_source, cut_target = self._cuts
        return cut_source(source), cut_target(target)


def _number_slot(pair: Pieces) -> Slot | None:
    """Where the one number, but 1, is that stands on both sides exactly once."""
    runs = [_digit_runs(side) for side in pair]
    if any(len(side) != 1 for side in runs):
        return None
    (source, source_text), (target, target_text) = runs[0][0], runs[1][0]
    return (source, target) if source_text == target_text != "1" else None


def _digit_runs(side: list[str]) -> list[tuple[slice, str]]:
    """The runs of digits in pieces, which have one digit each: their places and texts."""
    runs: list[tuple[slice, str]] = []
    for i, piece in enumerate(side):
        digit = piece.removeprefix(MARK)
        if not digit.isdecimal():
            continue
        if runs and runs[-1][0].stop == i and digit == piece:
            runs[-1] = slice(runs[-1][0].start, i + 1), runs[-1][1] + digit
        else:
            runs.append((slice(i, i + 1), digit))
    return runs


def _is_place(pair: Pieces, slot: Slot) -> bool:
    """Whether a name stands after a preposition of places on both sides."""
    before = [side[at.start - 1].removeprefix(MARK).lower() if at.start else "" for side, at in zip(pair, slot)]
    return all(word in ("in", "to", "nach", "from", "aus") for word in before)


def _is_capitalised(piece: str) -> bool:
    letters = piece.removeprefix(MARK)
    return piece != letters and len(letters) >= 3 and letters[0].isupper() and letters[1:].islower()
