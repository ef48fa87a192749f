"""A batch under other masks: how a mask changes the maps and the numbers of a model."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.attention import masked_softmax
from model.interventions.edits import layer_counts
from model.results.translation import module_of
from model.running.translator import MAX_CHARACTERS, Translator
from model.taps import Change, intervene, record
from model.text.cleaning import source_text, tidy
from model.text.errors import Phrase, Problem, check_characters, check_tokens
from model.text.special import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Vocabulary, pad_ids
from model.transformer import Transformer

MAX_TOKENS = 64  # of a sentence: with more, nobody can read the matrices
MASKS = ("encoder_self", "target_padding", "look_ahead", "decoder_self", "cross")
Cells = Sequence[tuple[int, int, int]]  # (b, t, s) of masks (B, T, S)


@dataclass(frozen=True)
class Sentences:
    """A batch of sentence pairs."""

    src: Tensor  # (B, S) ids, the end token last, then padding
    tgt: Tensor  # (B, T) what the decoder reads: the start token first, then padding
    source_tokens: list[list[str]]  # their names
    target_tokens: list[list[str]]
    predicted_tokens: list[list[str]]  # of the words that the decoder has to write: the end token last, then padding

    def pair(self, number: int) -> tuple[Tensor, Tensor]:
        """The ids of one pair without padding, (1, S') and (1, T')."""
        src, tgt = self.src[number], self.tgt[number]
        return src[None, src != PAD_ID], tgt[None, tgt != PAD_ID]


def read_batch(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> Sentences:
    """Tokenize sentence pairs to one batch; a text that is too long is a ValueError."""
    limit = min(MAX_TOKENS, translator.config.max_length) - 1
    source, target = translator.tokenizer.source, translator.tokenizer.target

    def ids(side: Vocabulary, what: Phrase, text: str, clean: Callable[[str], str]) -> list[int]:
        check_characters(text, MAX_CHARACTERS, what)
        return check_tokens(side.encode(clean(text)), limit, what)

    clean_source = partial(source_text, tokenizer=translator.tokenizer)
    source_ids, target_ids = [], []
    for n, text in enumerate(sources, start=1):
        source_ids.append([*ids(source, Phrase("source {n}", n=n), text, clean_source), EOS_ID])
    for n, text in enumerate(targets, start=1):
        target_ids.append([BOS_ID, *ids(target, Phrase("target {n}", n=n), text, tidy)])
    src, tgt = pad_ids(source_ids), pad_ids(target_ids)
    following = pad_ids([[*row[1:], EOS_ID] for row in target_ids])
    return Sentences(
        src,
        tgt,
        source_tokens=[source.tokens(row) for row in src.tolist()],
        target_tokens=[target.tokens(row) for row in tgt.tolist()],
        predicted_tokens=[target.tokens(row) for row in following.tolist()],
    )


def worked_example() -> Sentences:
    """Three sentences of 4, 2 and 6 tokens in a batch 7 wide, each token the number 2, each pad written 1 (0 here)."""
    ids = pad_ids([[EOS_ID] * n for n in (4, 2, 6, 7)])[:-1]
    names = [["2" if index != PAD_ID else "1 (pad)" for index in row] for row in ids.tolist()]
    return Sentences(ids, ids.clone(), names, names, names)


@dataclass(frozen=True)
class Pass:
    """The recording of a batch in one pass."""

    masks: dict[str, np.ndarray]  # by name of MASKS bool (B, T, S)
    weights: dict[str, np.ndarray]  # by kind of attention, float32 (B, L, H, T, S)
    scores: dict[str, np.ndarray]  # the same before softmax and mask: q k / sqrt(d_head)
    logits: np.ndarray  # (B, T, V)


@torch.inference_mode()
def run(
    model: Transformer,
    src: Tensor,
    tgt: Tensor,
    *,
    padding: bool = True,
    look_ahead: bool = True,
    flipped: Mapping[str, Cells] | None = None,
) -> Pass:
    """Pass a batch, ids (B, S) and (B, T), through a model, recorded, with or without each of its masks.

    `flipped`: by kind of attention the cells that change between open and blocked, in all layers and heads.
    """
    n_target = tgt.size(1)
    pads = masks.padding_mask(tgt) if padding else masks.everything(1, n_target)
    future = masks.causal_mask(n_target) if look_ahead else masks.everything(n_target, n_target)
    kinds = {kind: [module_of(kind, i) for i in range(n)] for kind, n in layer_counts(model.config).items()}
    changes = {}
    for kind, layers in kinds.items():
        # The mask of the decoder's self-attention is combined above.
        change = _changed(not padding and kind != "decoder_self", (flipped or {}).get(kind, ()))
        changes |= dict.fromkeys((f"{layer}.mask" for layer in layers), change)
    with intervene(changes), record("*.mask", "*.weights", "*.raw_scores") as trace:
        logits = model.decode(tgt, masks.combine(pads, future), model.start(src))  # (B, T, V)
    masks_by_name = {kind: trace[f"{layers[0]}.mask"][:, 0] for kind, layers in kinds.items()}
    shape = (tgt.size(0), n_target, n_target)
    masks_by_name |= {"target_padding": pads[:, 0].expand(shape), "look_ahead": future[:, 0].expand(shape)}

    def stacks(name: str) -> dict[str, np.ndarray]:
        """A recorded quantity by kind of attention, (B, L, H, T, S)."""
        by_kind = {}
        for kind, layers in kinds.items():
            arrays = [trace[f"{layer}.{name}"] for layer in layers]
            by_kind[kind] = torch.stack(arrays, dim=1).float().numpy()
        return by_kind

    scale = math.sqrt(model.config.d_head)
    return Pass(
        masks={name: masks_by_name[name].numpy().copy() for name in MASKS},
        weights=stacks("weights"),
        scores={kind: scores / scale for kind, scores in stacks("raw_scores").items()},
        logits=logits.float().numpy(),
    )


def _changed(is_open: bool, flipped: Cells) -> Change:
    def change(mask: Tensor) -> Tensor:  # (B, 1, T, S)
        mask = (_allow_all(mask) if is_open else mask).clone()
        for b, t, s in flipped:
            mask[b, :, t, s] = ~mask[b, :, t, s]
        return mask

    return change


def without_look_ahead(model: Transformer) -> dict[str, Change]:
    """Interventions that let every step of the decoder read the later ones, in passes without padding."""
    layers = range(model.config.n_decoder_layers)
    return dict.fromkeys((f"{module_of('decoder_self', i)}.mask" for i in layers), _allow_all)


def _allow_all(mask: Tensor) -> Tensor:
    return masks.everything(*mask.shape[-2:]).expand(mask.shape)


def pad_difference(model: Transformer, src: Tensor, tgt: Tensor, count: int, *, padding: bool) -> float:
    """How much the logits of a pair's real steps change when pads are appended: about 0 with the padding mask.

    The pair are ids (1, S) and (1, T). A ValueError if the model has no positions for the pads.
    """
    longest = max(src.size(1), tgt.size(1)) + count
    most = model.config.max_length
    if longest > most:
        raise Problem("{n} tokens are too many: the model has positions for {most}", n=longest, most=most)
    bare = run(model, src, tgt, padding=padding).logits
    padded = run(model, *(F.pad(ids, (0, count), value=PAD_ID) for ids in (src, tgt)), padding=padding).logits
    return float(np.abs(padded[:, : tgt.size(1)] - bare).max())


def future_leak(model: Transformer, src: Tensor, tgt: Tensor, *, look_ahead: bool) -> float:
    """How much the logits of the steps before the last depend on the last token, here replaced by <unk>.

    The pair are ids (1, S) and (1, T). A ValueError if there is no such step.
    """
    if tgt.size(1) < 2:
        raise Problem("there is no earlier step that could see the future: type a longer target")
    replaced = tgt.clone()
    replaced[:, -1] = UNK_ID
    before = run(model, src, tgt, look_ahead=look_ahead).logits[:, :-1]
    after = run(model, src, replaced, look_ahead=look_ahead).logits[:, :-1]
    return float(np.abs(after - before).max())


def conventions(mask: np.ndarray) -> dict[str, np.ndarray]:
    """A mask, bool (T, S), as texts in the conventions of `masks.conventions`."""
    tensors = masks.conventions(torch.from_numpy(mask))
    spell = np.vectorize(lambda value: "0" if value == 0 and isinstance(value, float) else str(value), otypes=[object])
    return {name: spell(tensor.numpy().astype(object)) for name, tensor in tensors.items()}


def nothing_to_attend(scores: np.ndarray) -> dict[str, np.ndarray]:
    """The weights of a query, scores float32 (S,), whose every key is blocked, by usual treatments.

    By treatment (S,): softmax of "-inf" and of "-1e9", PyTorch's "fused" attention, "ours".
    """
    row = torch.from_numpy(scores)[None]  # (1, S)
    allowed = ~masks.everything(*row.shape)[0, 0]  # (1, S)
    blocked = row + masks.conventions(allowed)["additive"]
    # With queries of ones and identity values the products are the scores, and the context is the weights.
    query, keys, values = torch.ones(1, 1), row.T.contiguous(), torch.eye(row.size(1))
    fused = F.scaled_dot_product_attention(query[None], keys[None], values[None], attn_mask=allowed[None], scale=1.0)
    results = {
        "-inf": blocked.softmax(-1),
        "-1e9": row.masked_fill(~allowed, -1e9).softmax(-1),
        "fused": fused[0],
        "ours": masked_softmax(blocked),
    }
    return {name: weights[0].numpy() for name, weights in results.items()}
