"""Words to text and back: spaCy's blank tokenizers and a list of words; any other word is `<unk>`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Self

from model.text.pieces import PieceTokenizers, texts
from model.text.special import SPECIAL_TOKENS, Pair, Vocabulary, as_unicode, switch
from model.text.subwords import Tokenizer

LANGUAGES = ("en", "de")
_KEYS = {"language": str, "lowercase": bool, "words": list, "no_space_before": list, "no_space_after": list}


class WordTokenizer(Vocabulary):
    """The words of one language, "en" or "de", lowercased after they are cut if `lowercase` is set.

    `train` learns which of them are written without a space before (",") or after them ("("). A ValueError for another
    language, or if a word is empty, occurs twice or is a special token.
    """

    def __init__(
        self,
        language: str,
        lowercase: bool,
        words: Sequence[str],
        no_space_before: Iterable[str] = (),
        no_space_after: Iterable[str] = (),
    ) -> None:
        if language not in LANGUAGES:
            raise ValueError(f"the language of words must be one of {', '.join(LANGUAGES)}, got {language!r}")
        super().__init__([*SPECIAL_TOKENS, *words])
        self.language, self.lowercase = language, lowercase
        if len(self._ids) != len(self) or "" in self._ids:
            raise ValueError("the words must differ from each other and from the special tokens, and none be empty")
        self._before, self._after = frozenset(no_space_before), frozenset(no_space_after)

    @classmethod
    def train(cls, sentences: Iterable[str], language: str, min_count: int, lowercase: bool) -> Self:
        """Collect the words that occur at least min_count times, the most frequent first."""
        counts = Counter[str]()
        no_space_before, no_space_after = Counter[str](), Counter[str]()
        for text in sentences:
            parts = _cutter(language)(as_unicode(text))
            space = True
            for place, part in enumerate(parts, start=1):
                word = part.text.lower() if lowercase else part.text
                counts[word] += 1
                no_space_before[word] += not space
                space = bool(part.whitespace_) or place == len(parts)
                no_space_after[word] += not space
        frequent = (word for word, count in counts.items() if count >= min_count)
        words = sorted(frequent, key=lambda word: (-counts[word], word))
        # The majority decides how a word is written.
        before = [word for word in words if 2 * no_space_before[word] > counts[word]]
        after = [word for word in words if 2 * no_space_after[word] > counts[word]]
        return cls(language, lowercase, words, before, after)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote; a ValueError for other keys or values of another type."""
        if not isinstance(values, dict) or set(values) != set(_KEYS):
            raise ValueError(f"not a list of words: the keys must be {', '.join(_KEYS)}")
        for key, kind in _KEYS.items():
            if kind is list:
                texts(values[key], f"not a list of words: {key}")
            elif not isinstance(values[key], kind):
                raise ValueError(f"not a list of words: {key} is {values[key]!r}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON: one side of a tokenizer.json."""
        return {
            "language": self.language,
            "lowercase": self.lowercase,
            "words": self._tokens[len(SPECIAL_TOKENS) :],
            "no_space_before": sorted(self._before),
            "no_space_after": sorted(self._after),
        }

    def pieces(self, text: str) -> list[str]:
        """The words and signs of a text, as spaCy's rules cut it."""
        words = [part.text for part in _cutter(self.language)(as_unicode(text))]
        return [word.lower() for word in words] if self.lowercase else words

    def piece_ids(self, piece: str) -> list[int]:
        """The single id of a word."""
        return [self._id_of_typed(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text without special tokens, `<unk>` among them."""
        words = self._ordinary_tokens(ids)
        return "".join(words[:1] + [self._space(left, right) + right for left, right in pairwise(words)])

    def _space(self, left: str, right: str) -> str:
        """What is written between two words: a space or nothing."""
        # Between two plain words there is always a space: "house", often before a full stop, is glued to signs only.
        close_to_left = right in self._before and not (left.isalnum() and right.isalnum())
        close_to_right = left in self._after and not left.isalnum()
        return "" if close_to_left or close_to_right else " "


class WordTokenizers(Pair[WordTokenizer]):
    """The word lists of two languages."""

    def to_json(self) -> str:
        """The text of a tokenizer.json, which `read_tokenizer` reads."""
        values: dict[str, Any] = {"type": "words", "source": self.source.to_dict(), "target": self.target.to_dict()}
        if not self.as_meant:
            values["as_meant"] = False
        return json.dumps(values, ensure_ascii=False, indent=1)


class TextWords(Vocabulary):
    """All words of one long text, cut at its spaces, the most frequent first, as a language model counts them.

    `<eos>`, at the end of every line, and `<unk>` are words like any other.
    """

    EOS, UNK = "<eos>", "<unk>"

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)
        if len(self._ids) != len(words) or any(word.split() != [word] for word in words):
            raise ValueError("the words of a text must differ from each other and hold no white space")
        if not {self.EOS, self.UNK} <= set(self._ids):
            raise ValueError(f"the words of a text must include {self.EOS} and {self.UNK}")
        self.eos_id, self.unk_id = self._ids[self.EOS], self._ids[self.UNK]

    @classmethod
    def train(cls, lines: Iterable[str]) -> Self:
        """Collect every word of the lines, the most frequent first."""
        counts = Counter({cls.UNK: 0})
        for line in lines:
            counts.update([*line.split(), cls.EOS])
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    def to_json(self) -> str:
        """The text of a tokenizer.json, which `read_tokenizer` reads."""
        return json.dumps({"type": "text", "words": self._tokens}, ensure_ascii=False, indent=1)

    def line_ids(self, lines: Iterable[str]) -> list[int]:
        """The ids of lines of the text as it is distributed, each with its end."""
        return [index for line in lines for index in [*map(self._id, line.split()), self.eos_id]]

    def encode(self, text: str) -> list[int]:
        """The ids of typed text, cut further where a piece is not a word: well-known to well, @-@, known."""
        ids: list[int] = []
        for number, line in enumerate(as_unicode(text).strip().split("\n")):
            if number > 0:
                ids.append(self.eos_id)
            for piece in line.split():
                parts = [piece] if piece in self._ids else _PARTS.findall(_INSIDE.sub(r" @\g<0>@ ", piece))
                ids += map(self._id, parts)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text with spaces where they are usual, and lines where `<eos>` ends them."""
        text = " ".join("\n" if word == self.EOS else word for word in self.tokens(ids))
        text = re.sub(r" ?@([-,.])@ ?", r"\1", text)
        return re.sub(r"([(\n]) | (?=[\n.,;:!?)%]|'\w)", r"\1", text).strip()

    def _id(self, word: str) -> int:
        return self._ids.get(word, self.unk_id)


# A hyphen between letters, a comma or a point between digits; and what is cut off by itself.
_INSIDE = re.compile(r"(?<=\w)-(?=\w)|(?<=\d)[.,](?=\d)")
_PARTS = re.compile(r"@[-,.]@|<unk>|'?[^\W_]+|[^\w\s]|_")


PairTokenizer = Tokenizer | WordTokenizers  # what training learns from pairs of sentences
AnyTokenizer = PairTokenizer | TextWords | PieceTokenizers


def read_tokenizer(text: str) -> AnyTokenizer:
    """Read the tokenizer.json of any checkpoint; a ValueError if the text is none."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return Tokenizer.from_json(text)  # which says what is wrong
    kind = values.get("type") if isinstance(values, dict) else None
    if kind == "text":
        return TextWords(texts(values.get("words"), "the words of a text"))
    if kind == "pieces":
        return PieceTokenizers.from_dict(values)
    if kind != "words":
        return Tokenizer.from_json(text)
    if set(values) - {"as_meant"} != {"type", "source", "target"}:
        raise ValueError("tokenizers of words have the keys type, source and target, and perhaps as_meant")
    pair = WordTokenizers(*(WordTokenizer.from_dict(values[side]) for side in ("source", "target")))
    pair.as_meant = switch(values, "as_meant", True)
    return pair


MAX_STRINGS = 50_000  # that spaCy may store: about 5 MB


def _cutter(language: str) -> Any:
    """spaCy's rules, which store every word that they see: created again when they store more than MAX_STRINGS."""
    cutter = _blank(language)
    if len(cutter.vocab.strings) > MAX_STRINGS:
        _blank.cache_clear()
    return cutter


@cache
def _blank(language: str) -> Any:
    import spacy  # takes seconds: only where words are needed

    return spacy.blank(language).tokenizer
