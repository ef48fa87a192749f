"""Direct effects on the logits of a model of transformers: what each head adds for each key, and all other parts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.adapters.readers.explanation.direct_path import DirectPath, follow
from model.adapters.readers.layout import ENCODER, Layout, ReaderConfig, without_adapter
from model.adapters.readers.reading import no_words, read_only
from model.analysis.effects import Effects, compared_words
from model.text.errors import Problem

EXACT = 1e-3  # logits that the parts may miss, relatively where logits are above 1


def check_effects(layout: Layout, config: ReaderConfig) -> None:
    """Say in a ValueError why direct effects on a word are not defined for a model, or would not be exact."""
    if config.read_only:
        raise read_only(config)
    if config.task == ENCODER:
        raise Problem("direct effects are effects on the next word, and this model is an encoder, which predicts none")
    if layout.model.get_output_embeddings() is None:
        raise no_words()
    if layout.final_norm is None:
        raise Problem(
            "this model normalises the sum after every sublayer (post-norm), so that no part adds to a word by itself: "
            "switch heads off, or use occlusion"
        )


@torch.inference_mode(False)
@torch.enable_grad()
def direct_effects(
    layout: Layout, outputs_of: Callable[[], Any], output_ids: np.ndarray, against: str | Sequence[int] | None
) -> Effects:
    """Split the logit of the words `output_ids`, ids (T,), into what every part of the decoder adds to it.

    Of a model that caps its logits at the end (Gemma 2) they are those before the cap.

    Args:
        outputs_of: runs the model over one text, without a cache.
        against: as for `model.analysis.effects.direct_effects`.

    Raises:
        ValueError: if the parts miss the logits, as the model computes something else between them.
    """
    head = layout.model.get_output_embeddings()
    with follow() as path:
        final = outputs_of()["logits"]
    assert path.logits is not None  # the output matrix was passed
    scale, offset = after_the_matrix(path.logits, final)
    logits = path.logits[0].float() * scale + offset  # (T, V)
    alternatives = compared_words(logits.detach().cpu().numpy(), output_ids, against)
    constant = (offset if head.bias is None else offset + head.bias.detach() * scale).expand_as(logits)

    def compare(values: Tensor) -> Tensor:
        """The values (T, V) of the written words less those that they are compared with, (T,)."""
        rows = torch.arange(len(output_ids))
        compared = values.mean(1) if alternatives is None else values[rows, torch.from_numpy(alternatives)]
        return values[rows, torch.from_numpy(output_ids)] - compared

    effects = _split(layout, path, compare(logits), compare(constant), alternatives)
    if not effects.rest <= EXACT * max(1.0, float(np.abs(effects.logits).max())):
        raise Problem(
            "the parts of this model miss its logits by {rest:.2g}: it computes something else between them, so direct "
            "effects would not be exact",
            rest=effects.rest,
        )
    return effects


def after_the_matrix(logits: Tensor, final: Tensor) -> tuple[float, Tensor]:
    """The factor and the offset (V,) that a model gives its logits after the output matrix; 1 and 0 before a cap."""
    before = logits.detach()[0].cpu().double()
    after = final.detach()[0].cpu().double()
    none = torch.zeros_like(logits[0, 0], dtype=torch.float32)
    scale = float((before * after).sum() / (before**2).sum())
    if torch.allclose(before * scale, after, rtol=1e-4, atol=1e-5):
        return (1.0 if abs(scale - 1) < 1e-6 else scale), none
    offset = (after - before).mean(0)
    if torch.allclose(before + offset, after, rtol=1e-4, atol=1e-5):
        return 1.0, offset.to(none)
    return 1.0, none


def _split(
    layout: Layout, path: DirectPath, differences: Tensor, output_bias: Tensor, other_ids: np.ndarray | None
) -> Effects:
    """Follow the differences of logits (T,) back to every part; those of a position depend on its own parts only."""
    leaves = {"input": [path.stream], "norm": path.norm_biases, **path.sublayers}
    leaves |= {f"heads {module}": [context] for module, context in path.heads.items()}
    leaves |= {f"{module}.bias": [output] for module, output in path.outputs.items()}
    flat = [leaf for group in leaves.values() for leaf in group]
    gradients = iter(torch.autograd.grad(differences.sum(), flat, allow_unused=True))
    factors = {name: [next(gradients) for _ in group] for name, group in leaves.items()}

    def contributions_of(name: str, values: Sequence[Tensor]) -> np.ndarray:
        """What vectors (1, T, D) add, (T,): a part without a factor does not lead to the logits."""
        pairs = [(factor, value) for factor, value in zip(factors[name], values) if factor is not None]
        terms = ((factor * value.detach()).sum(-1).flatten().cpu().double().numpy() for factor, value in pairs)
        return sum(terms, np.zeros(len(differences)))

    parts = {"input": contributions_of("input", leaves["input"])}
    heads: dict[str, list[np.ndarray]] = {}
    directions: dict[str, list[np.ndarray]] = {}
    for attention in layout.attentions:
        module = attention.layer.address
        if attention.layer.kind == "encoder_self":
            continue
        factor = factors[f"heads {module}"][0][0].cpu().double()  # (H, T, K)
        values = path.values[module][0].cpu().double()  # (G, S, K)
        values = values.repeat_interleave(len(factor) // len(values), dim=0)  # (H, S, K)
        along = factor @ values.transpose(-2, -1)  # (H, T, S)
        effect = (path.weights[module][0].cpu().double() * along).numpy()  # (H, T, S)
        heads.setdefault(attention.layer.kind, []).append(effect)
        directions.setdefault(attention.layer.kind, []).append(factor.numpy())
        parts[module] = effect.sum((0, 2))
        bias = _bias_of(attention.projection, path.outputs[module], path.heads[module])
        parts[f"{module}.bias"] = contributions_of(f"{module}.bias", [bias])
    for name in path.sublayers:
        parts[name] = contributions_of(name, path.sublayers[name])
    parts |= {"norm": contributions_of("norm", path.norm_biases), "output_bias": output_bias.cpu().double().numpy()}
    return Effects(
        differences.detach().cpu().numpy(),
        other_ids,
        {name: part.astype(np.float32) for name, part in parts.items()},
        {kind: np.stack(layers).astype(np.float32) for kind, layers in heads.items()},
        directions,
    )


@torch.no_grad()
def _bias_of(projection: nn.Module | None, output: Tensor, contexts: Tensor) -> Tensor:
    """What a projection adds to its output (1, T, D) whatever the contexts (1, H, T, K) are; adapters may add some."""
    if projection is not None and without_adapter(projection) is not projection:
        return projection(torch.zeros_like(contexts).transpose(1, 2).flatten(2)).expand_as(output)
    bias = getattr(projection, "bias", None)
    return torch.zeros_like(output) if bias is None else bias.expand_as(output)
