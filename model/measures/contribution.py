"""More than weights: how much each key adds to the output of a head, and where attention leads through all layers."""

from collections.abc import Mapping

import numpy as np

from model.results.translation import MODULES, Translation, module_of
from model.transformer import Transformer


def contributions(model: Transformer, result: Translation, kind: str) -> np.ndarray:
    """The length of what a key adds to the output of a head: ||weight * value * output projection||, (L, H, T, S).

    Kobayashi et al. 2020, equation 5: values have their bias; that of the output projection belongs to no key.
    """
    stack, name = MODULES[kind]
    weights = result.attention(kind)  # (L, H, T, S)
    norms = []
    for i, layer in enumerate(getattr(model, stack).layers):
        projection = getattr(layer, name).output_projection.weight.detach().float().numpy()  # (D, H * K)
        values = result.trace[f"{module_of(kind, i)}.v"]  # (H, S, K)
        slices = projection.reshape(len(projection), len(values), -1)  # (D, H, K)
        norms.append(np.linalg.norm(np.einsum("hsk,dhk->hsd", values, slices), axis=-1))  # (H, S)
    return (weights * np.stack(norms)[:, :, None]).astype(np.float32)


def rollout(weights: np.ndarray) -> np.ndarray:
    """Follow self-attention (L, H, T, T) from the output of a stack to its input (Abnar and Zuidema 2020, section 3).

    Heads are averaged and the residual connection counts as much as the attention, A = (W + I) / 2; rows are positions
    of the output, columns input tokens.
    """
    flow = np.eye(weights.shape[-1])
    for mean in weights.mean(axis=1, dtype=np.float64):
        flow = (flow + mean @ flow) / 2
    return flow.astype(np.float32)


def decoder_rollout(
    self_weights: np.ndarray, cross_weights: np.ndarray, encoder: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Follow a decoder, weights (L, H, T, T) and (L, H, T, S), to the translation so far and to the source.

    The rule of `rollout` at both attentions of a layer; from the encoder's output the encoder's rollout (S, S) leads
    on. float32 (T, T) and (T, S): the two rows of a step together sum to 1.
    """
    n_steps = self_weights.shape[-1]
    target = np.eye(n_steps)
    source = np.zeros((n_steps, len(encoder)))
    self_means = self_weights.mean(axis=1, dtype=np.float64)  # (L, T, T)
    cross_means = cross_weights.mean(axis=1, dtype=np.float64)  # (L, T, S)
    for self_mean, cross_mean in zip(self_means, cross_means, strict=True):
        target = (target + self_mean @ target) / 2
        source = (source + self_mean @ source) / 2
        target, source = target / 2, (source + cross_mean @ encoder) / 2
    return target.astype(np.float32), source.astype(np.float32)


def rollouts(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every rollout that the maps of a model, by kind (L, H, queries, keys), allow.

    By name: "encoder" (S, S); of a decoder "target" (T, T) and, with cross-attention, "source" (T, S), which without
    the maps of the encoder ends at its outputs. Different numbers of layers of the two are a ValueError.
    """
    by_name: dict[str, np.ndarray] = {}
    if "encoder_self" in weights:
        by_name["encoder"] = rollout(weights["encoder_self"])
    decoder_self, cross = weights.get("decoder_self"), weights.get("cross")
    if decoder_self is None:
        return by_name
    if cross is None:
        by_name["target"] = rollout(decoder_self)
        return by_name
    if len(decoder_self) != len(cross):
        raise ValueError(
            "attention can be followed through a decoder with as much self-attention as cross-attention, got "
            f"{len(decoder_self)} and {len(cross)} layers"
        )
    encoder = by_name.get("encoder", np.eye(cross.shape[-1]))
    by_name["target"], by_name["source"] = decoder_rollout(decoder_self, cross, encoder)
    return by_name


def without_columns(weights: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave keys, bool (S,), of weights (..., T, S) out, such as sinks, and scale every row back to its sum.

    float32 (..., T, S), 0 in rows that had all their mass there, and the mass removed from each row (..., T).
    """
    removed = weights[..., columns].sum(axis=-1)
    remaining = np.where(columns, 0, weights).astype(np.float64)
    mass = remaining.sum(axis=-1, keepdims=True)
    mass_before = weights.sum(axis=-1, keepdims=True)
    scale = np.divide(mass_before, mass, out=np.zeros_like(mass), where=mass > 1e-6)
    return (remaining * scale).astype(np.float32), removed.astype(np.float32)
