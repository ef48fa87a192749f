"""Subwords to text and back: joint byte-pair encoding with byte fallback, on the `tokenizers` library.

A word's first piece starts with the mark U+2581 (as in SentencePiece), punctuation is split off, and a character
outside the alphabet becomes its UTF-8 bytes (`<0xF0>`), so every text can be encoded and comes back up to Unicode
normalisation (NFC).
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from model.text.special import BYTE_TOKENS, MARK, SPECIAL_TOKENS, UNK_ID, Vocabulary, as_unicode

# A word, one digit, or one other character, each with the mark of the space before it.
_PIECE = rf"{MARK}?[\p{{L}}\p{{M}}]+|{MARK}?\p{{N}}|{MARK}?[^\p{{L}}\p{{M}}\p{{N}}{MARK}]|{MARK}"


class Tokenizer(Vocabulary):
    """Text to token ids and back.

    Args:
        backend: the tokenizer of the `tokenizers` library, as made by `train` or `from_json`.
        lowercase: whether text is lowercased before it is cut.
    """

    def __init__(self, backend: tokenizers.Tokenizer, lowercase: bool = False) -> None:
        super().__init__([backend.id_to_token(index) for index in range(backend.get_vocab_size())])
        self.backend = backend
        self.lowercase = lowercase

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int, alphabet_size: int = 160, lowercase: bool = False) -> Self:
        """Learn the merges from texts of both languages (Sennrich et al. 2016).

        Args:
            texts: sentences.
            vocab_size: number of entries, special and byte tokens included.
            alphabet_size: how many of the most frequent characters are entries; rarer ones become bytes.
            lowercase: whether this text, and all that is encoded later, is lowercased.

        Returns:
            The tokenizer.

        Raises:
            ValueError: if vocab_size leaves no room for merges.
        """
        reserved = [*SPECIAL_TOKENS, *BYTE_TOKENS]
        if vocab_size <= len(reserved) + alphabet_size:
            raise ValueError(
                f"vocab_size must be above {len(reserved) + alphabet_size} (special, byte and character entries), "
                f"got {vocab_size}"
            )
        backend = _pipeline(models.BPE(unk_token=SPECIAL_TOKENS[UNK_ID], byte_fallback=True))
        parts = [part for text in texts for part in _mark(text.lower() if lowercase else text)]
        counts = Counter(character for part in parts for character in part)
        # Chosen here because among equally frequent characters the library's choice differs from run to run.
        alphabet = sorted(counts, key=lambda character: (-counts[character], character))[:alphabet_size]
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=reserved,
            initial_alphabet=alphabet,
            limit_alphabet=len(alphabet),
            show_progress=False,
        )
        backend.train_from_iterator(parts, trainer)
        return cls.from_json(cls(backend, lowercase).to_json())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Args:
            text: the JSON of a BPE tokenizer.

        Returns:
            The tokenizer. Only its vocabulary and merges are taken, and our own key "lowercase": what the file says of
            anything else (added tokens, dropout, normalisers) has no effect, so that it can neither make typed text
            special nor the segmentation random.

        Raises:
            ValueError: if the text is not such a tokenizer, or special and byte tokens have other ids than here.
        """
        try:
            values = json.loads(text)
            model = values["model"]
            vocab = {str(token): int(index) for token, index in model["vocab"].items()}
            merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
            if strange := next(("".join(merge) for merge in merges if "".join(merge) not in vocab), ""):
                raise LookupError(f"the merge {strange[:60]!r} is not a token")  # some of these make the library panic
            bpe = models.BPE(vocab=vocab, merges=merges, unk_token=SPECIAL_TOKENS[UNK_ID], byte_fallback=True)
        except Exception as error:  # the library raises bare Exceptions
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ValueError(f"not a byte-pair tokenizer: {reason}") from error
        for index, token in enumerate([*SPECIAL_TOKENS, *BYTE_TOKENS]):
            if vocab.get(token) != index:
                raise ValueError(f"the token {token} must have id {index}, the tokenizer gives it {vocab.get(token)}")
        if sorted(vocab.values()) != list(range(len(vocab))):
            raise ValueError(f"the {len(vocab)} token ids must be 0 to {len(vocab) - 1} without gaps")
        if not isinstance(values.get("lowercase", False), bool):
            raise ValueError(f"lowercase must be true or false, got {values['lowercase']!r}")
        return cls(_pipeline(bpe), values.get("lowercase", False))

    def to_json(self) -> str:
        """The tokenizer as JSON text."""
        text = self.backend.to_str(pretty=True)
        if not self.lowercase:
            return text
        return json.dumps({"lowercase": True, **json.loads(text)}, indent=2, ensure_ascii=False)

    def encode(self, text: str) -> list[int]:
        """Turn text into token ids, without start or end token.

        Args:
            text: any text; unpaired surrogates, which are not Unicode text, become U+FFFD.

        Returns:
            The ids; empty for the empty text.
        """
        return [index for piece in self.pieces(text) for index in self.piece_ids(piece)]

    def pieces(self, text: str) -> list[str]:
        """The words, digits and punctuation marks of a text, each with the mark of the space before it.

        Args:
            text: any text.

        Returns:
            The units inside which subwords are formed, before any merge.
        """
        if not text:
            return []
        text = text.lower() if self.lowercase else text
        pieces: list[str] = []
        # A mark that the text itself contains must not come back as a space: it stands apart, spelt in bytes.
        for i, part in enumerate(_mark(text)):
            if i:
                pieces.append(_LITERAL_MARK)
            pieces += [piece for piece, _ in self.backend.pre_tokenizer.pre_tokenize_str(part)]
        return pieces

    def piece_ids(self, piece: str) -> list[int]:
        """The token ids of one of the `pieces`."""
        if piece == _LITERAL_MARK:
            return [len(SPECIAL_TOKENS) + byte for byte in MARK.encode()]
        return [token.id for token in self.backend.model.tokenize(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn token ids into text; special tokens give nothing.

        Args:
            ids: token ids.

        Returns:
            The text. Bytes that are not UTF-8 (a model may produce them) become U+FFFD.

        Raises:
            ValueError: if an id is not in the vocabulary.
        """
        tokens = [token for token in self.tokens(ids) if token not in SPECIAL_TOKENS]
        text = self.backend.decoder.decode(tokens)
        return text[1:] if text.startswith(" ") else text


# No real piece looks like this: "<" is punctuation and therefore always a piece of its own.
_LITERAL_MARK = "<mark>"


def _mark(text: str) -> list[str]:
    """NFC text with spaces as marks and one in front, cut where it contains a mark itself."""
    unicode_text = as_unicode(text)
    parts = unicodedata.normalize("NFC", unicode_text).split(MARK)
    parts[0] = " " + parts[0]
    return [part.replace(" ", MARK) for part in parts]


def _pipeline(model: models.Model) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), behavior="isolated")
    backend.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    return backend
