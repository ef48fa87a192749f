"""Spans that a translation copies, put into pairs of sentences at the same place on both sides.

Names, addresses, emoji, formulas and words in capitals are endless: what a model has to learn of them is to copy,
which pairs as they are written hardly teach (Currey et al. 2017, "Copied Monolingual Data"). Places have names of their
own in either language, and so have times of day. Pieces are those of `Tokenizer.pieces`.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable

from model.text.special import MARK, join_pieces
from model.training.data import times
from model.training.data.noise import Pieces

Cut = Callable[[str], list[str]]  # a text to its pieces

PLACES = (  # English and German, where they differ
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
_EMOJI = "😀 😂 😍 🙂 😉 😢 😡 👍 👏 🙏 💪 ❤️ 🎉 🎂 ⭐ 🔥 ☀️ 🌧️ 🐶 🐱 🌍 🚗 🚲 ✈️ 🏠 📷 📚 💡 ✅ ❌ ⚽ 🎸 🍕 🍎 ☕".split()
_ONSETS = "B D F G H J K L M N P R S T V W Br Kr Sch St Tr Gr Fl Ch Th Z".split()
_MIDDLES = "a e i o u au ei ie ö ü ä".split()
_CODAS = "l n r s t m k ller nn rg ck wski sen mann ski berg er in a o".split()
_WORDS = "news shop blog data home play open my the web mail list test page photo travel music".split()
_ENDINGS = "com de org net eu io co.uk at ch".split()
_UNITS = "km kg m cm m² € $ % GB km/h °C".split()
_VARIABLES = "x y n k a_i f(x) e^x x^2 a+b n! \\alpha".split()


def made_up_name(rng: random.Random) -> str:
    """A word that looks like a surname and that nobody has read before."""
    syllables = rng.choice(_ONSETS) + rng.choice(_MIDDLES) + rng.choice(_CODAS)
    if rng.random() < 0.5:
        syllables += rng.choice(_MIDDLES) + rng.choice(_CODAS)
    return syllables[0].upper() + syllables[1:].lower()


def address(rng: random.Random) -> str:
    """A made-up URL or e-mail address."""
    site = "".join(rng.sample(_WORDS, 2)) + "." + rng.choice(_ENDINGS)
    match rng.randrange(3):
        case 0:
            return f"https://{rng.choice(['www.', ''])}{site}/{rng.choice(_WORDS)}"
        case 1:
            return f"www.{site}"
    return f"{rng.choice(_WORDS)}.{made_up_name(rng).lower().encode('ascii', 'ignore').decode()}@{site}"


def emphasised(text: str, rng: random.Random) -> str:
    """A text in markup of HTML or Markdown, or in capitals."""
    return rng.choice(["<b>{}</b>", "<i>{}</i>", "**{}**", "*{}*", "`{}`", "_{}_", '"{}"']).format(text)


def find_names(pairs: Iterable[Pieces], least: int = 3) -> list[str]:
    """Words that stand on both sides of pairs as they are, capitalised and not first: names, by how often, with marks.

    `least`: in so many pairs; and never in small letters.
    """
    both: Counter[str] = Counter()
    small: set[str] = set()
    for source, target in pairs:
        small.update(piece for piece in source if piece[1:].islower())
        both.update({piece for piece in source[1:] if _is_capitalised(piece)} & set(target[1:]))
    names = [piece for piece, count in both.most_common() if count >= least]
    return [piece for piece in names if MARK + piece[1].lower() + piece[2:] not in small]


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
        self._cuts = cut_source, cut_target
        self._source = source
        self._places = PLACES if source == "en" else tuple(place[::-1] for place in PLACES)
        texts = [(join_pieces(pair[0]), join_pieces(pair[1])) for pair in pairs]
        self._timed = times.find_timed(texts if source == "en" else [(target, source) for source, target in texts])

    def change(self, pair: Pieces, rng: random.Random) -> Pieces:
        """Put another span in place of a name, add one at the end, write everything in capitals.

        Or give, instead of the pair, a sentence in which a time is told.
        """
        kind = rng.random()
        if kind < 0.1:
            source, target = pair
            return [piece.upper() for piece in source], [piece.upper() for piece in target]
        if kind < 0.2 and self._timed:
            return self._tell_time(rng)
        slot = self._slot(pair)
        if slot is None or kind < 0.3:
            return self._append(pair, rng)
        return self._replace(pair, slot, rng)

    def _slot(self, pair: Pieces) -> tuple[int, int] | None:
        """The places of the one name that stands on both sides exactly once."""
        shared = [piece for piece in pair[0] if piece in self._name_pieces and piece in pair[1]]
        if len(shared) != 1 or pair[1].count(shared[0]) != 1:
            return None
        return pair[0].index(shared[0]), pair[1].index(shared[0])

    def _replace(self, pair: Pieces, slot: tuple[int, int], rng: random.Random) -> Pieces:
        before = [side[i - 1].lower() if i else "" for side, i in zip(pair, slot)]
        if all(word in (MARK + "in", MARK + "to", MARK + "nach", MARK + "from", MARK + "aus") for word in before):
            texts = rng.choice(self._places)
        else:
            texts = (self._span(rng),) * 2
        source, target = (
            [*side[:i], *cut(text), *side[i + 1 :]] for side, i, text, cut in zip(pair, slot, texts, self._cuts)
        )
        return source, target

    def _span(self, rng: random.Random) -> str:
        """A random span to copy."""
        kind = rng.random()
        if kind < 0.45:
            return made_up_name(rng)
        if kind < 0.7 and self.names:
            return rng.choice(self.names).lstrip(MARK)
        if kind < 0.8:
            return emphasised(made_up_name(rng), rng)
        if kind < 0.87:
            return address(rng)
        if kind < 0.91:
            return f"${rng.choice(_VARIABLES)}$"
        if kind < 0.95:
            return f"{rng.randrange(1, 1000)} {rng.choice(_UNITS)}"
        return made_up_name(rng).upper()

    def _append(self, pair: Pieces, rng: random.Random) -> Pieces:
        text = " ".join(rng.choices(_EMOJI, k=rng.choice([1, 1, 1, 2]))) if rng.random() < 0.6 else address(rng)
        source, target = ([*side, *cut(text)] for side, cut in zip(pair, self._cuts))
        return source, target

    def _tell_time(self, rng: random.Random) -> Pieces:
        texts = times.tell(rng.choice(self._timed), self._source, rng)
        source, target = texts if self._source == "en" else texts[::-1]
        cut_source, cut_target = self._cuts
        return cut_source(source), cut_target(target)


def _is_capitalised(piece: str) -> bool:
    letters = piece.removeprefix(MARK)
    return piece != letters and len(letters) >= 3 and letters[0].isupper() and letters[1:].islower()
