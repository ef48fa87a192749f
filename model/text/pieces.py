"""SentencePiece unigram pieces to text and back, as imported translators cut them: one vocabulary, two ways to cut.

The model of each language (Kudo 2018) finds the most probable pieces of a text; the ids of both come from one list of
tokens, which has our special tokens first. Everything is data: texts, numbers and replacements of characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tokenizers import models

from model.text.special import MARK, SPECIAL_TOKENS, UNK_ID
from model.text.subwords import as_unicode, check_ids

# Stands for what no piece covers. No character: nobody types it, and where it is typed it is not covered either.
_NOTHING = "\ufffe"
MAX_SCORE = 1e30  # of a piece, either side of 0; a whole number of JSON can be no float
MAX_REPLACEMENT = 100  # characters; the longest that SentencePiece's own maps write are 18
_CODE = re.compile(r">>.*?<<")
_KEYS = {"pieces": list, "replacements": dict, "prefix": bool, "squeeze": bool}


class PieceTokenizer:
    """One language of an imported translator.

    Args:
        tokens: the token of every id, the special tokens first; both languages share them.
        pieces: the pieces of this language with their log-probabilities.
        replacements: what is written instead of characters before a text is cut; the longest that fits is taken.
        prefix: whether a text begins with a space, as a word inside it does.
        squeeze: whether spaces at the ends are left out, and several are one.

    Raises:
        ValueError: if tokens or pieces are empty or twice there, a replacement is too long, or a log-probability is not
            finite.
    """

    def __init__(
        self,
        tokens: Sequence[str],
        pieces: Sequence[tuple[str, float]],
        replacements: Mapping[str, str],
        prefix: bool = True,
        squeeze: bool = True,
    ) -> None:
        if tuple(tokens[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise ValueError(f"the first tokens must be {', '.join(SPECIAL_TOKENS)}")
        if len(set(tokens)) != len(tokens) or "" in tokens:
            raise ValueError("the tokens must differ from each other, and none be empty")
        names = [piece for piece, _ in pieces]
        if len(set(names)) != len(names) or not names or "" in names or "" in replacements:
            raise ValueError("the pieces must differ from each other, and neither they nor what is replaced be empty")
        if any(len(text) > MAX_REPLACEMENT for pair in replacements.items() for text in pair):
            raise ValueError(f"at most {MAX_REPLACEMENT} characters can be replaced, and by as many")
        if not all(-MAX_SCORE < score < MAX_SCORE for _, score in pieces):
            raise ValueError("the log-probability of every piece must be a finite number")
        self._tokens, self._pieces = list(tokens), [(piece, float(score)) for piece, score in pieces]
        self.replacements, self.prefix, self.squeeze = dict(replacements), prefix, squeeze
        self._longest: dict[str, int] = {}
        for text in self.replacements:
            self._longest[text[0]] = max(len(text), self._longest.get(text[0], 0))
        # Typed text cannot be a special token.
        self._ids = {token: i for i, token in enumerate(tokens) if i >= len(SPECIAL_TOKENS)}
        self._model = models.Unigram([(_NOTHING, 0.0), *self._pieces], unk_id=0, byte_fallback=False)

    @classmethod
    def from_dict(cls, tokens: Sequence[str], values: Any) -> Self:
        """Read what `to_dict` made.

        Raises:
            ValueError: if a key is missing or unknown, or a value is not allowed.
        """
        if not isinstance(values, dict) or set(values) != set(_KEYS):
            raise ValueError(f"a language of pieces must have the keys {', '.join(_KEYS)}")
        for key, kind in _KEYS.items():
            if not isinstance(values[key], kind):
                raise ValueError(f"{key} of a language of pieces must be of type {kind.__name__}")
        if not all(map(_is_piece, values["pieces"])):
            raise ValueError("every piece must be a text and a number")
        if not all(isinstance(text, str) for text in values["replacements"].values()):
            raise ValueError("characters can be replaced by texts only")
        return cls(tokens, **values)

    def to_dict(self) -> dict[str, Any]:
        """What is special to this language, as a JSON object."""
        return {
            "pieces": self._pieces,
            "replacements": self.replacements,
            "prefix": self.prefix,
            "squeeze": self.squeeze,
        }

    def __len__(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> list[int]:
        """Turn text into token ids, without start or end token.

        Args:
            text: any text; where it begins with a code such as `>>deu<<` (the target language of a translator for
                several), that is one token.

        Returns:
            The ids; the unknown token's for what is in no piece, or in none that the vocabulary has.
        """
        code = _CODE.match(text)
        start = code.end() if code else 0
        cut = [code[0]] if code else []
        cut += [piece.value for piece in self._model.tokenize(self._normalise(text[start:]))]
        return [self._ids.get(piece, UNK_ID) for piece in cut]

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The token strings of ids.

        Raises:
            ValueError: if an id is not in the vocabulary.
        """
        check_ids(ids, len(self))
        return [self._tokens[index] for index in ids]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn token ids into text; special tokens, `<unk>` among them, give nothing."""
        pieces = (token for token in self.tokens(ids) if token not in SPECIAL_TOKENS)
        return "".join(pieces).replace(MARK, " ").strip()

    def _normalise(self, text: str) -> str:
        """Replace characters, tidy spaces, and write spaces as marks: what SentencePiece does before it cuts."""
        text = as_unicode(text)
        parts, place = [], 0
        while place < len(text):
            longest = self._longest.get(text[place], 0)
            ends = range(min(place + longest, len(text)), place, -1)
            end = next((end for end in ends if text[place:end] in self.replacements), 0)
            parts.append(self.replacements[text[place:end]] if end else text[place])
            place = end or place + 1
        text = "".join(parts)
        if self.squeeze:
            text = re.sub(" +", " ", text).strip(" ")
        if self.prefix and text:
            text = " " + text
        return text.replace(" ", MARK)


class PieceTokenizers:
    """Both languages of an imported translator.

    Args:
        source: cuts the source.
        target: cuts the target, and puts translations together.
    """

    lowercase = False

    def __init__(self, source: PieceTokenizer, target: PieceTokenizer) -> None:
        self.source, self.target = source, target

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read the JSON object that `to_json` wrote.

        Raises:
            ValueError: if it is none.
        """
        if set(values) != {"type", "tokens", "source", "target"}:
            raise ValueError("a tokenizer of pieces has the keys type, tokens, source and target")
        tokens = values["tokens"]
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise ValueError("the tokens must be a list of texts")
        return cls(*(PieceTokenizer.from_dict(tokens, values[side]) for side in ("source", "target")))

    def to_json(self) -> str:
        """Both as JSON text."""
        tokens = self.source.tokens(range(len(self.source)))
        sides = {"source": self.source.to_dict(), "target": self.target.to_dict()}
        return json.dumps({"type": "pieces", "tokens": tokens, **sides}, ensure_ascii=False)


def _is_piece(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], int | float)
        and not isinstance(value[1], bool)
    )
