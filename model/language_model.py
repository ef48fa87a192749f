"""A causal language model: a stack of layers that each look back only, and a softmax over all words, with taps.

Shape letters: B batch, T positions, D d_model, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model import masks
from model.config import LanguageModelConfig
from model.layers import EncoderLayer
from model.taps import Tap, name_taps
from model.transformer import Stack, xavier


class CausalStack(Stack):
    """Layers whose attention is masked: a decoder without a source."""

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T) to (B, T, D); row t knows ids[:, :t + 1]."""
        mask = masks.causal_mask(ids.size(1), device=ids.device)  # (1, 1, T, T)
        x = self.input(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.tap_output(self.norm(x))


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
        """Mean cross entropy in nats of hidden (N, D), targets (N,) ids."""
        logits = self.output(hidden)
        return F.cross_entropy(logits.to(torch.promote_types(logits.dtype, torch.float32)), targets)


class AdaptiveSoftmax(nn.Module):
    """Frequent words first, each group of rarer words behind one entry (Grave et al. 2017), by the library.

    Probabilities are exact: they sum to 1 over all words. Training computes a group only where a target is in it. Ids
    count words from the most frequent.
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.output = nn.AdaptiveLogSoftmaxWithLoss(
            config.d_model, config.vocab_size, list(config.cutoffs), div_value=1.0, head_bias=config.output_bias
        )

    def rows(self, ids: Tensor) -> Tensor:
        """The rows of words, which may serve as embeddings: ids of any shape, and one more axis, D."""
        shortlist = self.output.head.weight[: self.output.shortlist_size]
        found, low = None, 0
        for table in [shortlist, *(group[1].weight for group in self.output.tail)]:
            own = F.embedding((ids - low).clamp(0, len(table) - 1), table)
            found = own if found is None else torch.where((ids >= low)[..., None], own, found)
            low += len(table)
        return found

    def forward(self, hidden: Tensor) -> Tensor:
        """(..., D) to log-probabilities (..., V), which are logits too."""
        return self.output.log_prob(hidden.flatten(0, -2)).view(*hidden.shape[:-1], -1)

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy in nats of hidden (N, D), targets (N,) ids."""
        with torch.autocast(hidden.device.type, enabled=False):  # the library's own copying takes one type only
            loss = self.output(hidden.to(self.output.head.weight.dtype), targets).loss
        bounds = self.output.cutoffs  # where each group of rarer words ends, the vocabulary's end last
        for group, low, high in zip(self.output.tail, bounds, bounds[1:]):
            if not ((targets >= low) & (targets < high)).any():
                # Its gradient is 0 and not missing: an optimiser takes as many steps with every parameter.
                loss = loss + 0.0 * sum(parameter.sum() for parameter in group.parameters())
        return loss


class SharedTable(nn.Module):
    """An embedding whose rows are those of an adaptive softmax."""

    def __init__(self, softmax: AdaptiveSoftmax) -> None:
        super().__init__()
        self._softmax = (softmax,)  # in a tuple: its parameters have one name, that of the softmax

    def forward(self, ids: Tensor) -> Tensor:
        return self._softmax[0].rows(ids)


@dataclass
class TextState:
    """What a language model keeps between steps: the ids so far, (B, length)."""

    ids: Tensor


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
            embedding: nn.Module = SharedTable(adaptive)
        else:
            embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = CausalStack(embedding, config, EncoderLayer, config.n_layers, "T")
        tied = embedding if config.tie_embeddings and isinstance(embedding, nn.Embedding) else None
        self.softmax = adaptive or FullSoftmax(config, tied)
        self.tap_logits = Tap("B T V")
        self._initialise()
        name_taps(self)

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T), T at most config.max_length, to logits (B, T, V); row t is predicted from ids[:, :t + 1]."""
        return self.tap_logits(self.softmax(self.decoder(ids)))

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy in nats of targets (B, T), the ids (B, T) one step on."""
        return self.softmax.loss(self.decoder(ids).flatten(0, 1), targets.flatten())

    # The protocol of model.decoding: start, step, reorder. A step reads the whole text again: it is short.

    def start(self, src: Tensor) -> TextState:
        """Begin with texts (B, S) of one length, 0 or more."""
        return TextState(src)

    def step(self, state: TextState, tokens: Tensor) -> Tensor:
        """Read one token per row (B,), extend the state, return the logits (B, V) of the next.

        Of a text with more tokens than the model has positions the end is read.
        """
        state.ids = torch.cat([state.ids, tokens[:, None]], dim=1)
        hidden = self.decoder(state.ids[:, -self.config.max_length :])  # (B, T, D)
        return self.tap_logits(self.softmax(hidden[:, -1:]))[:, -1]  # of the last position only: the words are many

    def reorder(self, state: TextState, rows: Tensor) -> TextState:
        return TextState(state.ids[rows])

    def _initialise(self) -> None:
        tables = [module for module in self.modules() if isinstance(module, nn.Embedding)]
        if self.config.init == "library":
            self._as_in_the_library(tables)
            return
        xavier(self)
        adaptive = self.softmax.output if isinstance(self.softmax, AdaptiveSoftmax) else None
        rows = [] if adaptive is None else [adaptive.head.weight, *(group[1].weight for group in adaptive.tail)]
        for weight in [table.weight for table in tables] + rows:
            nn.init.normal_(weight, std=self.config.d_model**-0.5)

    def _as_in_the_library(self, tables: list[nn.Embedding]) -> None:
        """What `nn.TransformerEncoder` starts with, and the embedding and the output layer uniform(-0.1, 0.1)."""
        for layer in self.decoder.layers:
            attention = layer.self_attention
            bound = math.sqrt(6 / (4 * self.config.d_model))  # Xavier of the three matrices as one (3 D, D)
            for projection in (attention.q_projection, attention.k_projection, attention.v_projection):
                nn.init.uniform_(projection.weight, -bound, bound)
            _zero_biases(attention)
        for module in [*tables, *(module for module in self.softmax.modules() if isinstance(module, nn.Linear))]:
            nn.init.uniform_(module.weight, -0.1, 0.1)
        _zero_biases(self.softmax)


def _zero_biases(module: nn.Module) -> None:
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
