"""SentencePiece's pieces (Kudo and Richardson 2018) for imported translators.

Each language has its own model that cuts texts; both share a list of tokens, which has our special tokens first.
"""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any, Self

from google.protobuf.message import DecodeError
from sentencepiece import SentencePieceProcessor
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue] generated

from model.text.special import SPECIAL_TOKENS, Pair, Vocabulary, as_unicode, join_pieces

MAX_REPLACEMENT = 100  # characters; the longest that SentencePiece's own maps write are 18
_CODE = re.compile(r">>.*?<<")


class PieceTokenizer(Vocabulary):
    """One language of an imported translator, with the content of a SentencePiece model file (.spm).

    A ValueError if a token is empty or occurs twice, the model is not one of SentencePiece, or it replaces characters
    by more than MAX_REPLACEMENT characters.
    """

    def __init__(self, tokens: Sequence[str], model: bytes) -> None:
        if tuple(tokens[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise ValueError(f"the first tokens must be {', '.join(SPECIAL_TOKENS)}")
        if len(set(tokens)) != len(tokens) or "" in tokens:
            raise ValueError("the tokens must differ from each other, and none be empty")
        try:
            if not model:  # the library takes an empty file
                raise RuntimeError("it is empty")
            table = ModelProto.FromString(model).normalizer_spec.precompiled_charsmap
            self._cutter = SentencePieceProcessor(model_proto=model)
        except (DecodeError, RuntimeError) as error:
            raise ValueError(f"not a SentencePiece model: {error}") from None
        replacements = table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
        if max(map(len, replacements)) > MAX_REPLACEMENT:
            raise ValueError(f"at most {MAX_REPLACEMENT} characters can be replaced, and by as many")
        super().__init__(tokens)
        self.model = model

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text; a code such as `>>deu<<` (the target language) in front is one piece."""
        code = _CODE.match(text)
        rest = as_unicode(text[code.end() :] if code else text)
        pieces = self._cutter.encode(rest, out_type=str)
        return [code[0], *pieces] if code else pieces

    def piece_ids(self, piece: str) -> list[int]:
        """The single id of a piece."""
        return [self._id_of_typed(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text without special tokens, `<unk>` among them."""
        return join_pieces(self._ordinary_tokens(ids))


def texts(value: object, name: str) -> list[str]:
    """The value; a ValueError if it is not a list of texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} must be a list of texts")
    return value


class PieceTokenizers(Pair[PieceTokenizer]):
    """The tokenizers of both languages of an imported translator."""

    as_meant = False  # a SentencePiece model brings its own table of such characters

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read the values that `to_json` wrote; a ValueError if they are others."""
        tokens = texts(values.get("tokens"), "the tokens")
        try:
            models = [base64.b64decode(values[side]) for side in ("source", "target")]
        except (KeyError, TypeError, ValueError):
            raise ValueError("the tokenizer has no SentencePiece models: import the translator again") from None
        return cls(*(PieceTokenizer(tokens, model) for model in models))

    def to_json(self) -> str:
        """The text of a tokenizer.json, which `from_dict` reads once it is parsed; the models are in base64."""
        tokens = self.source.tokens(range(len(self.source)))
        sides = {"source": self.source, "target": self.target}
        models = {name: base64.b64encode(side.model).decode() for name, side in sides.items()}
        return json.dumps({"type": "pieces", "tokens": tokens, **models}, ensure_ascii=False)
