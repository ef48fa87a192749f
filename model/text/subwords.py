"""Subwords to text and back: joint byte-pair encoding with byte fallback, on the `tokenizers` library.

A word's first piece starts with the mark U+2581 (as in SentencePiece), punctuation is split off, and a character
outside the alphabet becomes its UTF-8 bytes (`<0xF0>`): every text comes back, up to Unicode normalisation (NFC).
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from model.text.special import BYTE_TOKENS, MARK, SPECIAL_TOKENS, UNK_ID, Vocabulary, as_unicode, switch

# A word, one digit, or one other character, each with the mark of the space before it.
_PIECE = rf"{MARK}?[\p{{L}}\p{{M}}]+|{MARK}?\p{{N}}|{MARK}?[^\p{{L}}\p{{M}}\p{{N}}{MARK}]|{MARK}"


class Tokenizer(Vocabulary):
    """Text, lowercased first if `lowercase` is set, to token ids and back."""

    def __init__(self, backend: tokenizers.Tokenizer, lowercase: bool = False, as_meant: bool = True) -> None:
        super().__init__([backend.id_to_token(index) or "" for index in range(backend.get_vocab_size())])
        self.backend = backend
        self.lowercase, self.as_meant = lowercase, as_meant

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        alphabet_size: int = 160,
        lowercase: bool = False,
        as_meant: bool = True,
    ) -> Self:
        """Learn the merges from sentences of both languages (Sennrich et al. 2016).

        The vocabulary holds special and byte tokens, the `alphabet_size` most frequent characters, and merges; a
        ValueError if `vocab_size` leaves no room for merges.
        """
        reserved = [*SPECIAL_TOKENS, *BYTE_TOKENS]
        if vocab_size <= len(reserved) + alphabet_size:
            least = f"{len(reserved) + alphabet_size} (special, byte and character entries)"
            raise ValueError(f"vocab_size must be above {least}, got {vocab_size}")
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
        return cls.from_json(cls(backend, lowercase, as_meant).to_json())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; a ValueError for anything else, or other ids of special and byte tokens than here.

        Of a file only vocabulary, merges and our own keys "lowercase" and "as_meant" are taken: no added tokens,
        dropout or normalisers can make typed text special or the segmentation random.
        """
        try:
            values = json.loads(text)
            model = values["model"]
            vocab = {str(token): int(index) for token, index in model["vocab"].items()}
            pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
            merges = [(str(left), str(right)) for left, right in pairs]
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
        lowercase = switch(values, "lowercase", False)
        as_meant = switch(values, "as_meant", True)
        return cls(_pipeline(bpe), lowercase, as_meant)

    def to_json(self) -> str:
        """The text of a tokenizer.json: the library's format, after our switches where they are not the default."""
        text = self.backend.to_str(pretty=True)
        switches = {}
        if self.lowercase:
            switches["lowercase"] = True
        if not self.as_meant:
            switches["as_meant"] = False
        return json.dumps(switches | json.loads(text), indent=2, ensure_ascii=False) if switches else text

    def pieces(self, text: str) -> list[str]:
        """Words, digits and signs, inside which subwords are formed, each with the mark of its space."""
        if not text:
            return []
        pieces: list[str] = []
        # A mark that the text itself contains must not come back as a space: it stands apart, spelt in bytes.
        for number, part in enumerate(_mark(text.lower() if self.lowercase else text)):
            if number > 0:
                pieces.append(_LITERAL_MARK)
            pieces += [piece for piece, _ in self.backend.pre_tokenizer.pre_tokenize_str(part)]
        return pieces

    def piece_ids(self, piece: str) -> list[int]:
        """The ids of the subwords of a piece."""
        if piece == _LITERAL_MARK:
            return [len(SPECIAL_TOKENS) + byte for byte in MARK.encode()]
        return [token.id for token in self.backend.model.tokenize(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text without special tokens; bytes that are not UTF-8 become U+FFFD."""
        text = self.backend.decoder.decode(self._ordinary_tokens(ids))
        return text[1:] if text.startswith(" ") else text


# No real piece looks like this: "<" is punctuation and therefore always a piece of its own.
_LITERAL_MARK = "<mark>"


def _mark(text: str) -> list[str]:
    """NFC text with spaces as marks and one in front, cut where it contains a mark itself."""
    parts = unicodedata.normalize("NFC", as_unicode(text)).split(MARK)
    parts[0] = " " + parts[0]
    return [part.replace(" ", MARK) for part in parts]


def _pipeline(model: models.Model) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), behavior="isolated")
    backend.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    return backend
