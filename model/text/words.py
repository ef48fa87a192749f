"""Words to text and back, as the recurrent reference system cuts them: spaCy's blank tokenizers and a list of words.

A word that is not in the list becomes `<unk>`. Which words are written without a space before or after them is learnt
from the text that the list is made of, so that a translation can be put together again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Self

from model.text.pieces import PieceTokenizers
from model.text.special import SPECIAL_TOKENS, UNK_ID, Vocabulary, as_unicode
from model.text.subwords import Tokenizer

LANGUAGES = ("en", "de")
_KEYS = {"language": str, "lowercase": bool, "words": list, "no_space_before": list, "no_space_after": list}


class WordTokenizer(Vocabulary):
    """The words of one language.

    Args:
        language: whose rules cut the text, "en" or "de".
        lowercase: whether words are lowercased after they are cut.
        words: those that are known; the special tokens come before them.
        no_space_before: words that are written without a space before them, such as ",".
        no_space_after: words that are written without a space after them, such as "(".

    Raises:
        ValueError: if the language is another, or a word is empty, twice there or that of a special token.
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
        self._ids = {token: index for index, token in enumerate(self._tokens)}
        if len(self._ids) != len(self._tokens) or "" in self._ids:
            raise ValueError("the words must differ from each other and from the special tokens, and none be empty")
        self._before, self._after = frozenset(no_space_before), frozenset(no_space_after)

    @classmethod
    def train(cls, texts: Iterable[str], language: str, min_count: int, lowercase: bool) -> Self:
        """Take the words that occur often enough, the most frequent first.

        Args:
            texts: sentences.
            language: "en" or "de".
            min_count: words seen less often are left out.
            lowercase: whether words differ by case.

        Returns:
            The tokenizer.
        """
        counts: Counter[str] = Counter()
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for text in texts:
            space = True
            parsed = list(_cutter(language)(as_unicode(text)))
            for place, part in enumerate(parsed):
                word = part.text.lower() if lowercase else part.text
                counts[word] += 1
                before[word] += not space
                space = bool(part.whitespace_) or place == len(parsed) - 1
                after[word] += not space
        words = sorted((w for w, n in counts.items() if n >= min_count), key=lambda w: (-counts[w], w))
        # The majority decides how a word is written.
        glued = ([w for w in words if 2 * n[w] > counts[w]] for n in (before, after))
        return cls(language, lowercase, words, *glued)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read what `to_dict` made.

        Raises:
            ValueError: if a key is missing or unknown, or a value is of another kind.
        """
        if not isinstance(values, dict) or set(values) != set(_KEYS):
            raise ValueError(f"not a list of words: the keys must be {', '.join(_KEYS)}")
        for key, kind in _KEYS.items():
            value = values[key]
            if not isinstance(value, kind) or (kind is list and not all(isinstance(word, str) for word in value)):
                problem = "not a list of texts" if kind is list else repr(value)
                raise ValueError(f"not a list of words: {key} is {problem}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The tokenizer as a JSON object."""
        return {
            "language": self.language,
            "lowercase": self.lowercase,
            "words": self._tokens[len(SPECIAL_TOKENS) :],
            "no_space_before": sorted(self._before),
            "no_space_after": sorted(self._after),
        }

    def pieces(self, text: str) -> list[str]:
        """The words and punctuation marks of a text."""
        words = [part.text for part in _cutter(self.language)(as_unicode(text))]
        return [word.lower() for word in words] if self.lowercase else words

    def piece_ids(self, piece: str) -> list[int]:
        """The one id of one of the `pieces`."""
        # Typed text cannot be a special token.
        return [self._ids.get(piece, UNK_ID) if piece not in SPECIAL_TOKENS else UNK_ID]

    def encode(self, text: str) -> list[int]:
        """Turn text into ids, without start or end token; unknown words become UNK_ID."""
        return [index for piece in self.pieces(text) for index in self.piece_ids(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn ids into text; special tokens, `<unk>` among them, give nothing."""
        words = [word for word in self.tokens(ids) if word not in SPECIAL_TOKENS]
        return "".join(words[:1] + [self._space(*pair) + pair[1] for pair in pairwise(words)])

    def _space(self, left: str, right: str) -> str:
        """What stands between two words: nothing, where signs stand close to words.

        What the lists say of plain words comes from the signs beside them ("house" before a full stop, "aged" after a
        hyphen) and holds there only.
        """
        close_to_left = right in self._before and not (left.isalnum() and right.isalnum())
        close_to_right = left in self._after and not left.isalnum()
        return "" if close_to_left or close_to_right else " "


class WordTokenizers:
    """The words of the source and those of the target.

    Args:
        source: cuts the source.
        target: cuts the target, and puts translations together.
    """

    def __init__(self, source: WordTokenizer, target: WordTokenizer) -> None:
        self.source, self.target = source, target
        self.lowercase = source.lowercase

    def to_json(self) -> str:
        """Both as JSON text."""
        values = {"type": "words", "source": self.source.to_dict(), "target": self.target.to_dict()}
        return json.dumps(values, ensure_ascii=False, indent=1)


class TextWords(Vocabulary):
    """The words of one long text, as a language model counts them: all that occur, the most frequent first.

    The text is cut at its spaces, and every line ends with `<eos>`, a word like any other, as is `<unk>`.

    Args:
        words: `<eos>` and `<unk>` among them.

    Raises:
        ValueError: if one of these is missing, or a word is empty, holds white space or is there twice.
    """

    EOS, UNK = "<eos>", "<unk>"

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)
        self._ids = {word: index for index, word in enumerate(words)}
        if len(self._ids) != len(words) or any(word.split() != [word] for word in words):
            raise ValueError("the words of a text must differ from each other and hold no white space")
        if not {self.EOS, self.UNK} <= set(self._ids):
            raise ValueError(f"the words of a text must include {self.EOS} and {self.UNK}")
        self.eos_id, self.unk_id = self._ids[self.EOS], self._ids[self.UNK]

    @classmethod
    def train(cls, lines: Iterable[str]) -> Self:
        """Take all words of a text."""
        counts = Counter({cls.UNK: 0})
        for line in lines:
            counts.update([*line.split(), cls.EOS])
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    def to_json(self) -> str:
        """The words as JSON text."""
        return json.dumps({"type": "text", "words": self._tokens}, ensure_ascii=False, indent=1)

    def line_ids(self, lines: Iterable[str]) -> list[int]:
        """The ids of lines of text as it is distributed, each line with its end."""
        return [index for line in lines for index in [*map(self._id, line.split()), self.eos_id]]

    def encode(self, text: str) -> list[int]:
        """The ids of typed text: what is not a word is cut further, as the text is that the words are from.

        "The well-known cat." becomes The, well, @-@, known, cat, "."; line ends become `<eos>`.
        """
        ids: list[int] = []
        for number, line in enumerate(as_unicode(text).strip().split("\n")):
            ids += [self.eos_id] if number else []
            for piece in line.split():
                parts = [piece] if piece in self._ids else _PARTS.findall(_INSIDE.sub(r" @\g<0>@ ", piece))
                ids += map(self._id, parts)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Words to text: with spaces where they are usual, and lines where `<eos>` ends them."""
        text = " ".join("\n" if word == self.EOS else word for word in self.tokens(ids))
        text = re.sub(r" ?@([-,.])@ ?", r"\1", text)
        return re.sub(r"([(\n]) | (?=[\n.,;:!?)%]|'\w)", r"\1", text).strip()

    def _id(self, word: str) -> int:
        return self._ids.get(word, self.unk_id)


# A hyphen between letters, a comma or a point between digits; and what is cut off by itself.
_INSIDE = re.compile(r"(?<=\w)-(?=\w)|(?<=\d)[.,](?=\d)")
_PARTS = re.compile(r"@[-,.]@|<unk>|'?[^\W_]+|[^\w\s]|_")


AnyTokenizer = Tokenizer | WordTokenizers | TextWords | PieceTokenizers


def read_tokenizer(text: str) -> AnyTokenizer:
    """Read the tokenizer.json of any checkpoint.

    Raises:
        ValueError: if it is none.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return Tokenizer.from_json(text)  # which says what is wrong
    kind = values.get("type") if isinstance(values, dict) else None
    if kind == "text":
        words = values.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError("the words of a text must be a list of texts")
        return TextWords(words)
    if kind == "pieces":
        return PieceTokenizers.from_dict(values)
    if kind != "words":
        return Tokenizer.from_json(text)
    if set(values) != {"type", "source", "target"}:
        raise ValueError("tokenizers of words have the keys type, source and target")
    return WordTokenizers(*(WordTokenizer.from_dict(values[side]) for side in ("source", "target")))


MAX_STRINGS = 50_000  # that a cutter keeps: about 5 MB


def _cutter(language: str):
    """spaCy's rules for a language. They keep every word that they see, and are made again when these are too many."""
    cutter = _blank(language)
    if len(cutter.vocab.strings) > MAX_STRINGS:
        _blank.cache_clear()
    return cutter


@cache
def _blank(language: str):
    import spacy  # takes seconds: only where words are needed

    return spacy.blank(language).tokenizer
