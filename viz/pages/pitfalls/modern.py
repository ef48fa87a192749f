"""Mistakes of today: with rotary positions, grouped keys, caches and masks, in the next words of a language model."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.experiments import modern_pitfalls as mistakes
from model.experiments.pitfalls import write
from model.running.translator import Writer
from model.storage.checkpoint import available
from model.taps import record
from viz.figures import bars
from viz.pages.pitfalls.common import HeadPicture, Pitfall, Sentence, both, pitfall
from viz.text.language import message, say
from viz.views import cached

PREFERRED = "wikitext2-modern"  # it has rotary positions and grouped keys
WORDS = 6  # that are written on
SHOWN = 6  # most probable words of either version
DRAWN = message("Next word")


def writer_for(mistake: str) -> Writer | None:
    """A language model here in which a mistake can be made; None if there is none."""
    names = available("language_model")
    for name in sorted(names, key=lambda name: name != PREFERRED):
        try:
            writer = cached.translator(name)
        except ValueError:
            continue
        if isinstance(writer, Writer) and mistakes.MISTAKES[mistake](writer.config):
            return writer
    return None


@dataclass(frozen=True)
class NextWords:
    """What follows a text, with a mistake and without."""

    writer: Writer
    text: str
    mistake: str

    @cached_property
    def ids(self) -> Tensor:
        """The ids of the text, (1, T)."""
        ids = [self.writer.tokenizer.eos_id, *self.writer.tokenizer.encode(self.text)]
        return torch.tensor(ids[: self.writer.config.max_length - mistakes.PADS - WORDS])

    def probabilities(self, mistake: str | None) -> np.ndarray:
        """The probability of every word as the next one, float32 (V,)."""
        logits = mistakes.next_logits(self.writer.model, self.ids, mistake, len(self.ids))
        return logits.float().softmax(-1).numpy()

    def continuation(self, mistake: str | None) -> str:
        """What the model writes after the text, with a mistake or without."""
        ids = mistakes.continue_greedily(self.writer.model, self.ids, mistake, WORDS, self.writer.tokenizer.unk_id)
        return self.writer.tokenizer.decode([*self.ids[1:].tolist(), *ids])

    def demo(self) -> tuple:
        """Both pictures, the numbers and what is written on."""
        wrong, right = (self.probabilities(mistake) for mistake in (self.mistake, None))
        best = [np.argsort(-chances, kind="stable")[:SHOWN] for chances in (right, wrong)]
        ids = list(dict.fromkeys(np.concatenate(best).tolist()))
        names = self.writer.tokenizer.tokens(ids)
        top = float(max(wrong.max(), right.max()))
        figures = both(
            bars, wrong[ids, None], right[ids, None], names, value=message("probability"), token_axis=DRAWN, top=top
        )
        likeliest = int(best[0][0])
        divergence = float((right * (np.log(right + 1e-12) - np.log(wrong + 1e-12))).sum())
        numbers = {
            say("Probability of “{word}”", word=names[0]): (float(wrong[likeliest]), float(right[likeliest])),
            say("Divergence of the two predictions in nats"): divergence,
        }
        return figures, numbers, (self.continuation(self.mistake), self.continuation(None))


def in_next_words(mistake: str) -> Callable[[Sentence], tuple]:
    """What shows a mistake in what follows the visitor's sentence, without the mark at its end."""

    def show(sentence: Sentence) -> tuple:
        text = sentence.result.source.rstrip(" .?!…")
        writer = writer_for(mistake)
        assert writer is not None  # the page offers it only then
        return NextWords(writer, text, mistake).demo()

    return show


IN_NEXT_WORDS = {  # by their names in MISTAKES
    "layout": pitfall(
        "Rotary: the other layout",
        "Weights and layout belong together: both layouts are right, but only with weights that were trained with "
        "them.",
        "The paper rotates neighbouring dimensions (0, 1), (2, 3), …; the Llama code of transformers pairs dimensions"
        " i and i + d/2. Weights of one run in the code of the other without an error, but every distance is wrong.",
        DRAWN,
        "first, second = x[..., 0::2], x[..., 1::2]   # weights trained with halves",
        "first, second = x.chunk(2, dim=-1)",
    )(in_next_words("layout")),
    "groups": pitfall(
        "Grouped keys, repeated in the wrong order",
        "A shape is not an order: `repeat` and `repeat_interleave` give the same shape.",
        "With grouped-query attention neighbouring query heads share a key head. `repeat` deals the key heads out in "
        "turn, so that most query heads read keys of another group.",
        DRAWN,
        "k = k.repeat(1, n_heads // n_groups, 1, 1)",
        "k = k.repeat_interleave(n_heads // n_groups, dim=1)",
    )(in_next_words("groups")),
    "padding": pitfall(
        "Left padding with absolute positions",
        "Where positions are added, count them from the first real token; rotary positions do not mind.",
        "Generating in a batch needs the pads on the left, and the mask hides them, but positions that are counted "
        "from the first pad shift every token. Rotary scores depend on distances only and stay as they are.",
        DRAWN,
        "positions = torch.arange(ids.size(1))",
        "positions = (mask.cumsum(-1) - 1).clamp(min=0)",
    )(in_next_words("padding")),
    "offset": pitfall(
        "A cache with the wrong position",
        "A step with cached keys must know how many there are.",
        "With a cache each step reads one token, and its position is the number of those in the cache. Counted from "
        "the length of the input it is always 0: every new word stands at the beginning of the text.",
        DRAWN,
        "positions = torch.arange(ids.size(1))                  # one token: 0",
        "positions = n_cached + torch.arange(ids.size(1))",
    )(in_next_words("offset")),
    "alignment": pitfall(
        "is_causal with a cache",
        "A mask that is right for a whole text can be wrong for its last token.",
        "With fewer queries than keys the causal mask of PyTorch's scaled_dot_product_attention is aligned at the top "
        "left. The one query of a cached step then sees the first key only, so that the model forgets the text.",
        DRAWN,
        "F.scaled_dot_product_attention(q, k, v, is_causal=True)    # q has one position",
        "F.scaled_dot_product_attention(q, k, v, is_causal=q.size(2) > 1)",
    )(in_next_words("alignment")),
}


@pitfall(
    "A causal mask in an encoder",
    "Which mask a model needs is decided in training: the weights do not say it.",
    "An encoder reads in both directions. With a decoder's causal mask its first tokens know nothing of the rest, "
    "which is how a bidirectional model is spoilt when it is loaded by code for decoders.",
    "Encoder layer 0, head 0",
    "mask = padding & causal",
    "mask = padding",
)
def direction(sentence: Sentence) -> tuple:
    model = sentence.translator.transformer
    address = "encoder.layers.0.self_attention.weights"
    right = sentence.tensor(address)[0]
    tokens = sentence.result.source_tokens
    limit = 2 * len(sentence.result.target_tokens) + 5
    with torch.inference_mode(), mistakes.causal_encoder(model):
        with record(address) as trace:
            cache = model.start(sentence.src)
        ids = write(model, cache, limit)
    wrong = trace[address][0, 0]
    hidden = ~masks.causal_mask(len(tokens))[0, 0]
    pictures = (
        HeadPicture(wrong.numpy(), tokens, tokens, mask=~hidden.numpy()),
        HeadPicture(right.numpy(), tokens, tokens),
    )
    numbers = {
        say("Attention to later tokens, mean per row"): tuple(
            float((w * hidden).sum(-1).mean()) for w in (wrong, right)
        )
    }
    return pictures, numbers, (sentence.translator.tokenizer.target.decode(ids), sentence.result.text)


MODERN: dict[str, Pitfall] = IN_NEXT_WORDS | {"direction": direction}


def fitting() -> dict[str, Pitfall]:
    """The pitfalls that can be shown with the models that are here, by name."""
    return {key: MODERN[key] for key in MODERN if key not in mistakes.MISTAKES or writer_for(key) is not None}
