"""What a head of a model of transformers adds to all logits where it looks at one key, along its direct path."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from model.adapters.readers.explanation.direct_path import follow
from model.adapters.readers.explanation.effects import after_the_matrix
from model.adapters.readers.layout import AttentionLayer


@torch.inference_mode(False)
@torch.enable_grad()
def head_logits(outputs_of: Callable[[], Any], layer: AttentionLayer, head: int, query: int, key: int) -> np.ndarray:
    """What a head adds to all logits at a query where it looks at a key alone, float64 (V,).

    The path from its context to the logits is linear, as norms are held. Followed back from logits with a factor each
    it is linear in these factors, too; the gradient by them is the path forwards.

    Args:
        outputs_of: runs the model over one text, without a cache.
        layer: of the head; one for which `effects.check_effects` finds nothing.
    """
    with follow() as path:
        final = outputs_of()["logits"]
    assert path.logits is not None  # the output matrix was passed
    scale, _ = after_the_matrix(path.logits, final)
    logits = path.logits[0, query]  # (V,)
    factors = torch.zeros_like(logits, requires_grad=True)
    contexts = path.heads[layer.address]
    (back,) = torch.autograd.grad(logits, contexts, factors, create_graph=True)  # (1, H, T, K)
    values = path.values[layer.address][0]  # (G, S, K)
    value = values[head * len(values) // layer.n_heads, key]
    (forwards,) = torch.autograd.grad((back[0, head, query] * value).sum(), factors)
    return forwards.double().cpu().numpy() * scale
