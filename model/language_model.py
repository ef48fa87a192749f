"""A causal language model: a stack of layers that each look back only, and a softmax over all words, with taps."""

import math
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model import masks
from model.attention import MultiHeadAttention
from model.config import LanguageModelConfig
from model.layers import EncoderLayer, KeysValues
from model.relative import build_relative
from model.taps import Tap, name_taps
from model.transformer import Cached, Stack, append_keys_values, initialise, select_keys_values


class FullSoftmax(nn.Module):
    """One matrix over all words, that of an embedding where a table is given."""

    def __init__(self, config: LanguageModelConfig, table: nn.Embedding | None) -> None:
        super().__init__()
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=config.output_bias)
        if table is not None:
            self.output.weight = table.weight

    def forward(self, hidden: Tensor) -> Tensor:
        """(..., D) to logits (..., V)."""
        return self.output(hidden)

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy in nats of targets (N,) after hidden (N, D)."""
        return self.losses(hidden, targets).mean()

    def losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy in nats of each of targets (N,) after hidden (N, D)."""
        logits = self.output(hidden)
        return F.cross_entropy(logits.to(torch.promote_types(logits.dtype, torch.float32)), targets, reduction="none")


class AdaptiveSoftmax(nn.Module):
    """Frequent words first, each group of rarer words behind one entry (Grave et al. 2017).

    Probabilities are exact. Training computes a group only where a target is in it. Ids count words from the most
    frequent.
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.output = nn.AdaptiveLogSoftmaxWithLoss(
            config.d_model, config.vocab_size, list(config.cutoffs), div_value=1.0, head_bias=config.output_bias
        )

    def rows(self, ids: Tensor) -> Tensor:
        """The rows of words as their embeddings: ids (...) to (..., D)."""
        frequent, *rarer = self.tables
        shortlist = frequent[: self.output.shortlist_size]
        rows = F.embedding(ids.clamp(0, len(shortlist) - 1), shortlist)
        low = len(shortlist)
        for table in rarer:
            of_group = F.embedding((ids - low).clamp(0, len(table) - 1), table)
            rows = torch.where((ids >= low)[..., None], of_group, rows)
            low += len(table)
        return rows

    @property
    def tables(self) -> list[Tensor]:
        """The rows of frequent words, with an entry for each group of rarer ones; then the rows of each group."""
        groups = [cast(nn.Linear, cast(nn.Sequential, group)[1]) for group in self.output.tail]
        return [self.output.head.weight, *(linear.weight for linear in groups)]

    def forward(self, hidden: Tensor) -> Tensor:
        """(..., D) to log-probabilities (..., V), which are logits too."""
        return self.output.log_prob(hidden.flatten(0, -2)).view(*hidden.shape[:-1], -1)

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The mean cross entropy in nats of targets (N,) after hidden (N, D)."""
        with torch.autocast(hidden.device.type, enabled=False):  # the library's own copying takes one type only
            loss = self.output(hidden.to(self.output.head.weight.dtype), targets).loss
        bounds = self.output.cutoffs  # where each group of rarer words ends, the vocabulary's end last
        for group, low, high in zip(self.output.tail, bounds, bounds[1:]):
            if not ((targets >= low) & (targets < high)).any():
                # Its gradient is 0 and not missing: an optimiser takes as many steps with every parameter.
                loss = loss + 0.0 * sum(parameter.sum() for parameter in group.parameters())
        return loss

    def losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy in nats of each of targets (N,) after hidden (N, D), no group computed without a target."""
        return -self.output(hidden, targets).output


@dataclass
class TextState:
    """The state of a language model between steps: the ids so far (B, length), keys and values of those it has read."""

    ids: Tensor
    cached: Cached
    uses_cache: bool = True

    @property
    def length(self) -> int:
        """How many positions have been read into the cache."""
        first = self.cached[0]
        return 0 if first is None else first[0].size(2)

    def append(self, layer: int, new: KeysValues) -> KeysValues:
        """See `append_keys_values`."""
        return append_keys_values(self.cached, layer, new)


class LanguageModel(nn.Module):
    """The whole model: ids in, logits for the next ids out.

    Example:
        >>> config = LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=16)
        >>> LanguageModel(config)(torch.tensor([[5, 6, 7]])).shape
        torch.Size([1, 3, 11])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        adaptive = AdaptiveSoftmax(config) if config.cutoffs else None
        if adaptive is not None and config.tie_embeddings:
            # A method and not a module: so the rows have one name, that in the softmax.
            table = None
            embedding = adaptive.rows
        else:
            table = embedding = nn.Embedding(config.vocab_size, config.d_model)
        relatives = build_relative(config, causal=True, n_layers=config.n_layers)
        self.decoder = Stack(embedding, config, (EncoderLayer(config, relative) for relative in relatives), "T")
        self.softmax = adaptive or FullSoftmax(config, table if config.tie_embeddings else None)
        self.tap_logits = Tap("B T V")
        self._initialise()
        name_taps(self)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """ids (B, T), T at most config.max_length, to logits (B, T, V).

        The mask, bool, broadcastable to (B, H, T, T), is the causal one unless given: row t is predicted from
        ids[:, :t + 1]. `model.masks` has those of several documents in a row and of a prefix.
        """
        return self.tap_logits(self.softmax(self._read(ids, mask)))

    def loss(self, ids: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean cross entropy in nats of targets (B, T), the ids (B, T) one step on; the mask as for `forward`."""
        return self.softmax.loss(self._read(ids, mask).flatten(0, 1), targets.flatten())

    def losses(self, ids: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        """Cross entropy in nats (B, T) of each target; arguments as for `loss`."""
        hidden = self._read(ids, mask).flatten(0, 1)
        return self.softmax.losses(hidden, targets.flatten()).view_as(targets)

    def _read(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """ids (B, T) to (B, T, D)."""
        mask = masks.causal_mask(ids.size(1), device=ids.device) if mask is None else mask
        return self.decoder(ids, mask)

    # The protocol of model.decoding: start, step, reorder.

    def start(self, src: Tensor, uses_cache: bool = True) -> TextState:
        """Begin with texts (B, S) of one length, 0 or more; without a cache every step reads the whole text again."""
        return TextState(src, [None] * self.config.n_layers, uses_cache)

    def step(self, state: TextState, tokens: Tensor) -> Tensor:
        """Tokens (B,) to logits (B, V); the state is extended.

        Of a text longer than the positions the end is read, every token of it at a position that changes with each
        step: then nothing cached holds.
        """
        state.ids = torch.cat([state.ids, tokens[:, None]], dim=1)
        if state.uses_cache and state.ids.size(1) <= self.config.max_length:
            start = state.length
            mask = masks.causal_mask(state.ids.size(1) - start, state.ids.size(1), device=tokens.device)
            hidden = self.decoder(state.ids[:, start:], mask, start, state.append)  # (B, T, D)
        else:
            hidden = self._read(state.ids[:, -self.config.max_length :])  # (B, T, D)
        return self.tap_logits(self.softmax(hidden[:, -1:]))[:, -1]  # of the last position only: the words are many

    def reorder(self, state: TextState, rows: Tensor) -> TextState:
        """The state with the rows of an index tensor (B',), int64."""
        return TextState(state.ids[rows], select_keys_values(state.cached, rows), state.uses_cache)

    def _initialise(self) -> None:
        if self.config.init == "library":
            self._as_in_the_library()
            return
        normal = partial(nn.init.normal_, std=self.config.d_model**-0.5)
        initialise(self, normal)
        if isinstance(self.softmax, AdaptiveSoftmax):
            for table in self.softmax.tables:
                normal(table)

    def _as_in_the_library(self) -> None:
        """The initial weights of `nn.TransformerEncoder`; embedding and output layer uniform(-0.1, 0.1)."""
        bound = math.sqrt(6 / (4 * self.config.d_model))  # Xavier of the three matrices as one (3 D, D)
        for attention in self.decoder.modules():
            if isinstance(attention, MultiHeadAttention):
                for projection in (attention.q_projection, attention.k_projection, attention.v_projection):
                    nn.init.uniform_(projection.weight, -bound, bound)
                _zero_biases(attention)
        for table in (self.decoder.input.embedding, self.softmax.output):
            nn.init.uniform_(cast(nn.Embedding | nn.Linear, table).weight, -0.1, 0.1)
        _zero_biases(self.softmax)


def _zero_biases(module: nn.Module) -> None:
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
