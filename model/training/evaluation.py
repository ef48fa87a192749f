"""How good a model in evaluation mode is on held-out pairs or text: perplexity and BLEU."""

import math
from collections.abc import Mapping, Sequence

import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor
from torch.nn import functional as F

from model.decoding import greedy, target_limit
from model.gru import GruModel
from model.language_model import LanguageModel
from model.text.pieces import PieceTokenizers
from model.text.special import EOS_ID, PAD_ID, pad_ids
from model.text.words import PairTokenizer
from model.training.batching import group_by_length, pad
from model.training.data.corpora import Pair
from model.transformer import Transformer

EncoderDecoder = Transformer | GruModel
_BATCH_TOKENS = 4096
_BATCH_TEXTS = 64
_BATCH_WINDOWS = 16


class Validation:
    """Scores a model on n_pairs (0: none), spread evenly over the validation sets: some are sorted by length."""

    def __init__(
        self, corpora: Mapping[str, Sequence[Pair]], tokenizer: PairTokenizer, n_pairs: int, lowercase: bool = False
    ) -> None:
        self._corpora = {name: spread(pairs, n_pairs // len(corpora)) for name, pairs in corpora.items()}
        self._tokenizer = tokenizer
        self._bleu = BLEU(lowercase=lowercase)

    def run(self, model: EncoderDecoder) -> dict[str, float]:
        """Scores by name, for each corpus.

        Perplexity (per token, teacher-forced), nats per character (comparable between tokenizers) and BLEU (greedy); of
        a recurrent model also the "free" perplexity, without teacher forcing.
        """
        scores = {}
        for name, pairs in self._corpora.items():
            if not pairs:
                continue
            sources, targets = zip(*pairs)
            total, count = cross_entropy(model, self._tokenizer, pairs)
            scores[f"valid_perplexity.{name}"] = round(_exp(total / count), 3)
            characters = sum(len(target) + 1 for target in targets)  # an end each
            scores[f"valid_nats_per_character.{name}"] = round(total / characters, 4)
            if isinstance(model, GruModel):
                free = perplexity(model, self._tokenizer, pairs, teacher_forcing=0)
                scores[f"valid_free_perplexity.{name}"] = round(free, 3)
            hypotheses = translate_all(model, self._tokenizer, sources)
            scores[f"valid_bleu.{name}"] = round(self._bleu.corpus_score(hypotheses, [targets]).score, 2)
        return scores


def spread(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """`count` pairs at equal distances, or all if there are fewer."""
    count = min(count, len(pairs))
    return [pairs[i * len(pairs) // count] for i in range(count)]


def perplexity(
    model: EncoderDecoder, tokenizer: PairTokenizer | PieceTokenizers, pairs: Sequence[Pair], **forcing: float
) -> float:
    """Perplexity per target token, end tokens included; arguments as in `cross_entropy`."""
    total, count = cross_entropy(model, tokenizer, pairs, **forcing)
    return _exp(total / count)


def _exp(nats: float) -> float:
    return math.exp(min(nats, 700.0))  # e^709 is the largest float


@torch.no_grad()
def cross_entropy(
    model: EncoderDecoder, tokenizer: PairTokenizer | PieceTokenizers, pairs: Sequence[Pair], **forcing: float
) -> tuple[float, int]:
    """The cross entropy summed over the target tokens, end tokens included, in nats, and the number of tokens.

    With teacher_forcing=0 each step of a recurrent model reads the most probable token of the step before.
    """
    device = next(model.parameters()).device
    examples = [(tokenizer.source.encode(source), tokenizer.target.encode(target)) for source, target in pairs]
    total, count = 0.0, 0
    for group in group_by_length(examples, _BATCH_TOKENS):
        batch = pad(group)
        tgt = batch.tgt.to(device)
        logits = model(batch.src.to(device), tgt[:, :-1], **forcing).flatten(0, 1)  # (B * T, V)
        total += F.cross_entropy(logits, tgt[:, 1:].flatten(), ignore_index=PAD_ID, reduction="sum").item()
        count += batch.n_targets
    return total, count


def translate_all(model: EncoderDecoder, tokenizer: PairTokenizer, texts: Sequence[str]) -> list[str]:
    """Greedy translations, in batches of about equal length."""
    device = next(model.parameters()).device
    sources = [[*tokenizer.source.encode(text), EOS_ID] for text in texts]
    order = sorted(range(len(texts)), key=lambda n: len(sources[n]))
    translations = [""] * len(texts)
    for start in range(0, len(order), _BATCH_TEXTS):
        numbers = order[start : start + _BATCH_TEXTS]
        src = pad_ids([sources[n] for n in numbers])  # (B, S)
        limit = target_limit(src.size(1), model.config.max_length)
        outputs = greedy(model, src.to(device), limit)
        for n, ids in zip(numbers, outputs, strict=True):
            translations[n] = tokenizer.target.decode(ids)
    return translations


class TextValidation:
    """Scores a model by its perplexity on ids (N,), not at all if there are none; `first` is read before them."""

    def __init__(self, name: str, ids: Tensor, first: int) -> None:
        self._name = name
        self._ids = ids
        self._first = first

    def run(self, model: LanguageModel) -> dict[str, float]:
        """The perplexity per token by the name of the text."""
        if len(self._ids) == 0:
            return {}
        return {f"valid_perplexity.{self._name}": round(text_perplexity(model, self._ids, self._first), 3)}


@torch.no_grad()
def text_perplexity(model: LanguageModel, ids: Tensor, first: int) -> float:
    """The perplexity per token of ids (N,), in windows that do not overlap.

    A window's first token is predicted from the one before it alone, at the beginning from the id `first`.
    """
    device = next(model.parameters()).device
    size = model.config.max_length
    stream = torch.cat([torch.tensor([first]), ids[:-1]])
    total = 0.0
    for texts in zip(stream.split(_BATCH_WINDOWS * size), ids.split(_BATCH_WINDOWS * size)):
        n_tokens = len(texts[0]) // size * size
        for part, width in ((slice(n_tokens), size), (slice(n_tokens, None), len(texts[0]) - n_tokens)):
            inputs, targets = (text[part].to(device) for text in texts)
            if len(targets):
                total += model.loss(inputs.view(-1, width), targets.view(-1, width)).item() * len(targets)
    return _exp(total / len(ids))
