"""The attention of PyTorch's own modules: the weights of every head of every `nn.MultiheadAttention` in any module.

    with record_attention(model) as maps:
        model(x, mask=mask)
    stage(attention=maps, tokens=tokens)

Nothing about the module changes. While somebody records, one hook of PyTorch's, which sees every module that is called,
computes the weights once more from what an attention was given. So outputs are those without recording, bit for bit,
also where `nn.TransformerEncoder` takes its fast path (in which no attention is called, and which a hook on the module
itself would switch off). What is recorded is the softmax, before dropout. As with taps, each thread records its own
calls only.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.hooks import RemovableHandle

from model.adapters.conversion.weights import is_causal

_ACTIVE: "ContextVar[tuple[AttentionMaps, ...]]" = ContextVar("attention_maps", default=())
_ARGUMENTS = signature(nn.MultiheadAttention.forward)
_LAYER_ARGUMENTS = signature(nn.TransformerEncoderLayer.forward)
_OWN_KIND = {"source": "encoder_self", "target": "decoder_self"}


@dataclass(frozen=True)
class Call:
    """One call of an attention: what it computed, and of what."""

    path: str  # of the module
    weights: Tensor  # float32 (B, H, T, S) on the CPU
    mask: Tensor  # bool (B, H or 1, T, S), True = may attend
    is_key: Tensor  # bool (B, S), False for padding
    is_self: bool  # whether queries and keys are of the same sequence


class AttentionMaps(Mapping[str, Tensor]):
    """What a `record_attention` block recorded: by path of the module float32 (B, H, T, S), of its last call."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.paths = {part: path for path, part in module.named_modules()}
        self._calls: list[Call] = []
        self._in_layer: set[nn.Module] = set()  # attention that was called in the encoder layer that runs
        self._is_whole = False  # whether the calls are those of one whole pass

    def __getitem__(self, path: str) -> Tensor:
        return self.all(path)[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(call.path for call in self._calls))

    def __len__(self) -> int:
        return len({call.path for call in self._calls})

    def all(self, path: str) -> list[Tensor]:
        """The weights of every call of a module in the last pass, the first first."""
        calls = [call.weights for call in self._calls if call.path == path]
        if not calls:
            raise KeyError(f"no attention was computed at {path!r}; recorded are {', '.join(self) or 'none'}")
        return calls

    def by_kind(self, tokens: Any, sequence: int = 0) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
        """By kind of attention the weights (H, T, S) and masks (T, S) of its layers, for one sequence of the batch.

        Args:
            tokens: the texts of the sequence without its padding, or {"source": [...], "target": [...]} where there is
                cross-attention, whose queries are the target.
            sequence: which one of the batch.

        Raises:
            ValueError: in one sentence, if nothing was recorded, or which tokens are rows and columns is not known.
        """
        calls = self._last_calls()
        count = min(len(call.weights) for call in calls)
        if not 0 <= sequence < count:
            raise ValueError(f"the sequence must be from 0 to {count - 1}, got {sequence}")
        kinds = [_kind(call, tokens) for call in calls]
        read = [call.is_key[sequence] for call, kind in zip(calls, kinds) if kind == "decoder_self"]
        layers: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for call, kind in zip(calls, kinds, strict=True):
            is_key = call.is_key[sequence]
            is_query = is_key
            if kind == "cross":  # the padding of the target is that of its self-attention
                n_queries = call.weights.size(2)
                is_query = read[0] if read and len(read[0]) == n_queries else torch.ones(n_queries, dtype=torch.bool)
            weights = call.weights[sequence][:, is_query][..., is_key]
            mask = call.mask[sequence].any(dim=0)[is_query][:, is_key]
            layers.setdefault(kind, []).append((weights.numpy(), mask.numpy()))
        return layers

    def _last_calls(self) -> list[Call]:
        """The calls of the last whole pass; where parts of a model were called by themselves the last one of each."""
        if not self._calls:
            raise ValueError(
                f"no attention of the {type(self.module).__name__} was called inside the block, in this thread: call "
                "the module there (a compiled one does not say what it computes)"
            )
        return self._calls if self._is_whole else list({call.path: call for call in self._calls}.values())

    def begin(self, module: nn.Module) -> None:
        """A module is about to be called: where it is the whole, a new pass begins."""
        if module is self.module:
            self._calls.clear()
            self._in_layer.clear()
            self._is_whole = False

    @torch.no_grad()
    def end(self, module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> None:
        """A module has been called with arguments: keep what an attention among them has computed."""
        if module not in self.paths:
            return
        if isinstance(module, nn.MultiheadAttention):
            self._in_layer.add(module)
            self._add(module, _ARGUMENTS.bind(module, *arguments, **keywords).arguments)
        elif isinstance(module, nn.TransformerEncoderLayer) and _computes_as(module, nn.TransformerEncoderLayer):
            if module.self_attn not in self._in_layer:  # PyTorch's fast path
                given = _LAYER_ARGUMENTS.bind(module, *arguments, **keywords).arguments
                x = module.norm1(given["src"]) if module.norm_first else given["src"]
                masks = {"attn_mask": given.get("src_mask"), "key_padding_mask": given.get("src_key_padding_mask")}
                self._add(module.self_attn, {"query": x, "key": x, "value": x} | masks)
            self._in_layer.discard(module.self_attn)
        if module is self.module:
            self._is_whole = True

    def _add(self, module: nn.MultiheadAttention, given: Mapping[str, Any]) -> None:
        self._is_whole = False
        self._calls.append(_recorded(module, self.paths[module], given))


@contextmanager
def record_attention(module: nn.Module) -> Iterator[AttentionMaps]:
    """Record the weights of every head of every `nn.MultiheadAttention` in a module, without averaging.

    The module computes what it computes without, and nothing stays on it. Of several passes the last one is kept.

    Raises:
        ValueError: if there is no such attention in the module, or one whose class computes in its own way.
    """
    if not isinstance(module, nn.Module):
        raise ValueError(f"record_attention takes a module of PyTorch, got {type(module).__name__}")
    attentions = {path: part for path, part in module.named_modules() if isinstance(part, nn.MultiheadAttention)}
    if not attentions:
        raise ValueError(
            f"there is no nn.MultiheadAttention in the {type(module).__name__}: attach(model, tokenizer) reads models "
            "of transformers, and weights of an attention of your own go to stage(attention=..., tokens=...)"
        )
    for path, attention in attentions.items():
        if not _computes_as(attention, nn.MultiheadAttention):
            raise ValueError(
                f"{path or 'the module'} is a {type(attention).__name__}, which computes attention in a forward of its "
                "own: hand over its weights as stage(attention=..., tokens=...)"
            )
    maps = AttentionMaps(module)
    token = _ACTIVE.set((*_ACTIVE.get(), maps))
    _HOOKS.acquire()
    try:
        yield maps
    finally:
        _HOOKS.release()
        _ACTIVE.reset(token)


class _Hooks:
    """PyTorch's hooks on every module that is called, which are there while somebody records in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._handles: list[RemovableHandle] = []

    def acquire(self) -> None:
        """Count one who records."""
        with self._lock:
            self._count += 1
            if not self._handles:
                before, after = (
                    register_module_forward_pre_hook(_begin),
                    register_module_forward_hook(_end, with_kwargs=True),
                )
                self._handles = [before, after]

    def release(self) -> None:
        """Count one less; after the last the hooks are gone."""
        with self._lock:
            self._count -= 1
            if not self._count:
                for handle in self._handles:
                    handle.remove()
                self._handles = []


_HOOKS = _Hooks()


def _begin(module: nn.Module, arguments: tuple) -> None:
    for maps in _ACTIVE.get():
        maps.begin(module)


def _end(module: nn.Module, arguments: tuple, keywords: dict[str, Any], output: Any) -> None:
    for maps in _ACTIVE.get():
        maps.end(module, arguments, keywords)


def _computes_as(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Whether a module has the forward of PyTorch's class, and not one of a subclass."""
    return type(module).forward is kind.forward


def _recorded(module: nn.MultiheadAttention, path: str, given: Mapping[str, Any]) -> Call:
    """The weights of an attention for what it was given, as `F.multi_head_attention_forward` computes them."""
    query, key = given["query"], given["key"]
    is_self = query is key or (query.shape == key.shape and not query.is_nested and torch.equal(query, key))
    padding = given.get("key_padding_mask")
    if query.is_nested:  # PyTorch's fast path with padding: of each sequence its own tokens only
        lengths = torch.tensor([len(part) for part in query.unbind()], device=query.device)
        query = key = query.to_padded_tensor(0.0)
        padding = torch.arange(query.size(1), device=query.device) >= lengths[:, None]
    if query.dim() == 2:  # one sequence alone
        query, key = query[None], key[None]
        padding = None if padding is None else padding[None]
    elif not module.batch_first:
        query, key = query.transpose(0, 1), key.transpose(0, 1)
    n_batch, n_queries, n_keys = len(query), query.size(1), key.size(1)
    attn_mask = given.get("attn_mask")
    allowed = _allowed(attn_mask, padding, n_batch, n_queries, n_keys)
    _, weights = F.multi_head_attention_forward(
        query.transpose(0, 1),
        key.transpose(0, 1),
        # Weights do not depend on values; keys have another width where values have one of their own.
        key.new_zeros(n_keys, n_batch, module.vdim),
        module.embed_dim,
        module.num_heads,
        module.in_proj_weight,
        module.in_proj_bias,
        module.bias_k,
        module.bias_v,
        module.add_zero_attn,
        0.0,
        module.out_proj.weight,
        module.out_proj.bias,
        training=False,
        key_padding_mask=None if padding is None else _additive(padding, query),
        need_weights=True,
        attn_mask=None if attn_mask is None else _additive(attn_mask, query),
        use_separate_proj_weight=not module._qkv_same_embed_dim,
        q_proj_weight=module.q_proj_weight,
        k_proj_weight=module.k_proj_weight,
        v_proj_weight=module.v_proj_weight,
        average_attn_weights=False,
    )
    assert weights is not None
    is_key = torch.ones(n_batch, n_keys, dtype=torch.bool) if padding is None else _is_open(padding)
    # Beyond the keys of tokens are bias_k and a zero: without them rows sum to less than 1.
    return Call(path, weights[..., :n_keys].float().cpu(), allowed.cpu(), is_key, is_self)


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A mask of PyTorch, in which True means blocked, as what is added to scores."""
    if mask.is_floating_point():
        return mask.to(like.dtype)
    return torch.zeros(mask.shape, dtype=like.dtype, device=mask.device).masked_fill(mask.bool(), -torch.inf)


def _allowed(mask: Tensor | None, padding: Tensor | None, n_batch: int, n_queries: int, n_keys: int) -> Tensor:
    """Bool (B, H or 1, T, S), True = may attend, from PyTorch's masks (T, S) or (B H, T, S), and (B, S) of padding."""
    allowed = torch.ones(n_batch, 1, n_queries, n_keys, dtype=torch.bool)
    if mask is not None:
        open_cells = _is_open(mask)
        allowed = allowed & (open_cells if mask.dim() == 2 else open_cells.view(n_batch, -1, n_queries, n_keys))
    if padding is not None:
        allowed = allowed & _is_open(padding)[:, None, None]
    return allowed


def _is_open(mask: Tensor) -> Tensor:
    """Where a mask of PyTorch blocks nothing."""
    mask = mask.detach().cpu()
    return mask > torch.finfo(mask.dtype).min / 2 if mask.is_floating_point() else ~mask.bool()


def _kind(call: Call, tokens: Any) -> str:
    """The kind of attention of a call, given the tokens of one sequence, or of two by their side."""
    name = call.path or "the attention"
    sides = [side for side in ("source", "target") if side in tokens] if isinstance(tokens, Mapping) else []
    if len(sides) < 2 and not call.is_self:
        raise ValueError(
            f"{name} has queries and keys of two sequences, which one list of tokens does not name: give "
            'tokens={"source": [...], "target": [...]}, or, if they are the same tokens, attention=maps[path]'
        )
    if sides:
        return _OWN_KIND[sides[0]] if len(sides) == 1 else _kind_of_two(call, tokens)
    return "decoder_self" if is_causal(call.mask.numpy()) else "encoder_self"


def _kind_of_two(call: Call, tokens: Mapping[str, Any]) -> str:
    """The kind of a call where there is a source and a target: by the name of the module, or by its length."""
    if not call.is_self:
        return "cross"
    for name in ("encoder", "decoder"):
        if any(name in part for part in call.path.split(".")):
            return f"{name}_self"
    n_tokens = int(call.is_key.sum(dim=-1).max())
    kinds = [kind for side, kind in _OWN_KIND.items() if len(tokens[side]) == n_tokens]
    if len(kinds) != 1:
        raise ValueError(
            f"whether {call.path or 'the attention'} is of the source or of the target is said neither by its name nor "
            "by its length: draw it alone, as stage(attention=maps[path], tokens=tokens)"
        )
    return kinds[0]
