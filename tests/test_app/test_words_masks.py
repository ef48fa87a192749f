"""The lines of PyTorch on the page Masks are run: each makes its mask, and applying it blocks just those cells."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from model import masks
from tests.support.repeated import first_quick
from viz.text.words_masks import CONVENTIONS, MASKS, TEXT_MASKS, code, flex_code

PAD, T = 1, 7
SRC = torch.tensor([[2, 2, 2, 1, 1], [2, 2, 2, 2, 2], [2, 1, 1, 1, 1]])
TGT = torch.tensor([[2] * n + [PAD] * (T - n) for n in (4, 2, 6)])  # the worked example


WINDOW, PREFIX = 3, 2
DOCUMENTS = torch.tensor([[0, 0, 1, 1, 1, 2, 2]] * 3)


def keep(mask: str) -> torch.Tensor:
    """What a mask must allow, (3, queries, keys), entry by entry."""
    if mask in TEXT_MASKS:
        causal, window = masks.causal_mask(T), masks.window_mask(T, T, WINDOW)
        of_text = {
            "window": masks.combine(causal, window),
            "documents": masks.document_mask(DOCUMENTS),
            "prefix": masks.prefix_mask(T, PREFIX),
        }
        return of_text[mask].expand(3, 1, T, T)[:, 0]
    queries = SRC if mask == "encoder_self" else TGT
    keys = SRC if mask in ("encoder_self", "cross") else TGT
    allowed = torch.empty(3, queries.size(1), keys.size(1), dtype=torch.bool)
    for b in range(3):
        for t in range(queries.size(1)):
            for s in range(keys.size(1)):
                real, past = bool(keys[b, s] != PAD), s <= t
                allowed[b, t, s] = {"look_ahead": past, "decoder_self": real and past}.get(mask, real)
    return allowed


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("mask", [*MASKS, *TEXT_MASKS])
def test_each_line_makes_its_mask_and_applies_it(mask: str, convention: str) -> None:
    expected = keep(mask)
    _, n_queries, n_keys = expected.shape
    torch.manual_seed(0)
    q, k, v = (torch.randn(3, 2, n, 4) for n in (n_queries, n_keys, n_keys))
    scores = q @ k.transpose(-2, -1) / 2  # sqrt(4)
    names = {"torch": torch, "F": F, "src": SRC, "tgt": TGT, "pad": PAD, "T": T, "q": q, "k": k, "v": v}
    names |= {"scores": scores, "documents": DOCUMENTS, "WINDOW": WINDOW, "PREFIX": PREFIX}
    mask_line, applied = code(mask, convention).split("\n")
    exec(f"{mask_line}\nresult = {applied}", names)  # our own lines
    meaning = {
        "keep": lambda m: m,
        "blocked": lambda m: ~m,
        "integers": lambda m: m == 1,
        "additive": lambda m: m == 0,
    }[convention](names["mask"])
    assert torch.equal(meaning.expand(expected.shape), expected)
    types = {"keep": torch.bool, "blocked": torch.bool, "integers": torch.int64, "additive": torch.float32}
    assert names["mask"].dtype == types[convention]
    masked = scores.masked_fill(~expected[:, None], -torch.inf)
    torch.testing.assert_close(names["result"], masked.softmax(-1) @ v if convention == "keep" else masked)


@pytest.mark.parametrize("mask", first_quick([*MASKS, *TEXT_MASKS]))
def test_flex_attention_with_each_function_blocks_just_those_cells(mask: str) -> None:
    expected = keep(mask)
    torch.manual_seed(0)
    q, k, v = (torch.randn(3, 2, n, 16) for n in (*expected.shape[1:], expected.size(2)))
    names = {"src": SRC, "tgt": TGT, "pad": PAD, "documents": DOCUMENTS, "WINDOW": WINDOW, "PREFIX": PREFIX}
    names |= {"q": q, "k": k, "v": v, "flex_attention": flex_attention}
    names["create_block_mask"] = lambda *args, **kwargs: create_block_mask(*args, **kwargs, device="cpu")
    *lines, last = flex_code(mask).split("\n")
    exec("\n".join([*lines, f"result = {last}"]), names)  # our own lines
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=expected[:, None])
    torch.testing.assert_close(names["result"], attended)
