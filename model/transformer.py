"""The encoder-decoder Transformer of Vaswani et al. 2017, with taps."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self, cast

import torch
from torch import Tensor, nn

from model import masks
from model.attention import Dropout
from model.config import StackConfig, TransformerConfig
from model.layers import DecoderLayer, EncoderLayer, KeysValues, build_norm
from model.positional import TABLES
from model.relative import build_relative
from model.taps import Tap, name_taps, observed
from model.text.errors import Problem

Embedding = Callable[[Tensor], Tensor]  # ids (...) to (..., D)


class InputEmbedding(nn.Module):
    """Token embedding * sqrt(d_model) + positional encoding (sections 3.4 and 3.5)."""

    table: Tensor

    def __init__(self, embedding: Embedding, config: StackConfig) -> None:
        super().__init__()
        self.embedding = embedding
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        if config.positional == "learned":
            self.table = nn.Parameter(torch.empty(config.max_length, config.d_model).normal_(std=0.02))
        else:
            make_table = TABLES.get(config.positional, TABLES["none"])  # relative positions are not added here
            with torch.device("cpu"):  # even where parameters have no numbers yet
                table = make_table(config.max_length, config.d_model)  # float64
            self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)  # (max_length, D)
        self.dropout = Dropout(config.dropout)
        self.tap_tokens = Tap("B T D")
        self.tap_positions = Tap("1 T D")
        self.tap_stream = Tap("B T D")

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """The residual stream (B, T, D) of ids (B, T) from position `start` on; a ValueError past the last position."""
        end = start + ids.size(1)
        if end > self.table.size(0):
            raise Problem("{n} tokens are too many: the model has positions for {most}", n=end, most=self.table.size(0))
        tokens = self.tap_tokens(self.embedding(ids) * self.scale)  # (B, T, D)
        positions = self.tap_positions(self.table[None, start:end])  # (1, T, D)
        return self.dropout(self.tap_stream(tokens + positions))


class Stack(nn.Module):
    """Input embedding, layers of one kind, and what stands after the last one: a norm, or nothing."""

    def __init__(self, embedding: Embedding, config: StackConfig, layers: Iterable[nn.Module], letter: str) -> None:
        super().__init__()
        self.input = InputEmbedding(embedding, config)
        self.layers = nn.ModuleList(layers)
        self.norm = build_norm(config) if config.final_norm else nn.Identity()
        self.tap_output = Tap(f"B {letter} D")

    def forward(
        self,
        ids: Tensor,
        mask: Tensor,
        start: int = 0,
        append: Callable[[int, KeysValues], KeysValues] | None = None,
    ) -> Tensor:
        """ids (B, T) from position `start` on to (B, T, D), of an encoder the memory.

        mask bool, broadcastable to (B, H, T, S); append adds keys and values of a layer to those that are cached, and
        returns all S of them.
        """
        x = self.input(ids, start)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, partial(append, i) if append else None)
        return self.tap_output(self.norm(x))


Cached = list[KeysValues | None]  # per layer, of the steps so far (B, G, length, K); None before the first


def append_keys_values(cached: Cached, layer: int, new: KeysValues) -> KeysValues:
    """Add keys and values of new positions to a layer's, and return all of them."""
    old = cached[layer]
    if old is not None:
        new = (torch.cat([old[0], new[0]], dim=2), torch.cat([old[1], new[1]], dim=2))
    cached[layer] = new
    return new


def select_rows(pair: KeysValues, rows: Tensor) -> KeysValues:
    """Keys and values (B, G, S, K) of some rows of the batch, in their order."""
    k, v = pair
    return k.index_select(0, rows), v.index_select(0, rows)


def select_keys_values(cached: Cached, rows: Tensor) -> Cached:
    """The keys and values (B, G, T, K) of some rows of the batch, in the order of `rows` (B',), int64."""
    return [None if pair is None else select_rows(pair, rows) for pair in cached]


@dataclass
class Cache:
    """The state of a decoder between steps: keys and values of every layer."""

    cross: list[KeysValues]  # per layer, of the memory (B, H, S, K), computed once
    cross_mask: Tensor  # (B, 1, 1, S) bool
    decoder_self: Cached  # per layer, of the steps so far (B, H, length, K); None before the first
    sentences: Tensor  # (B,), which of the encoded sentences each row decodes
    length: int = 0  # the number of steps so far

    @cached_property
    def hides(self) -> Tensor | None:
        """The cross mask, or None where it hides nothing: without one the fused attention is faster."""
        return None if self.cross_mask.all() else self.cross_mask

    def fresh(self) -> Self:
        """Over the same memory, with nothing decoded yet."""
        return replace(self, decoder_self=[None] * len(self.decoder_self), length=0)

    def append(self, layer: int, new: KeysValues) -> KeysValues:
        """See `append_keys_values`."""
        return append_keys_values(self.decoder_self, layer, new)

    def select(self, rows: Tensor) -> Self:
        """The cache with the rows of an index tensor (B',), int64."""
        selected = replace(self, decoder_self=select_keys_values(self.decoder_self, rows))
        sentences = self.sentences[rows]
        if torch.equal(sentences, self.sentences):  # the memory stays where rows move within their sentences
            return selected
        cross = [select_rows(pair, rows) for pair in self.cross]
        return replace(selected, cross=cross, cross_mask=self.cross_mask[rows], sentences=sentences)


class Decoder(Stack):
    """A stack that reads the target and the memory."""

    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]: it reads a memory, too
        self, ids: Tensor, mask: Tensor, cache: Cache
    ) -> Tensor:
        """ids (B, T) after those in the cache, which is extended, to (B, T, D).

        mask is that of the self-attention, bool, broadcastable to (B, H, T, cached + T).
        """
        x = self.from_layer(0, self.input(ids, start=cache.length), mask, cache)
        cache.length += ids.size(1)
        return x

    def from_layer(self, first: int, x: Tensor, mask: Tensor, cache: Cache) -> Tensor:
        """Pass the stream (B, T, D) through the layers from that number on, and the norm after them."""
        cross_mask = cache.cross_mask if observed() else cache.hides
        for i in range(first, len(self.layers)):
            x = self.layers[i](x, mask, cache.cross[i], cross_mask, partial(cache.append, i))
        return self.tap_output(self.norm(x))


class Transformer(nn.Module):
    """The whole model: source ids and target ids in, logits for the next target ids out.

    Example:
        >>> config = TransformerConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=16)
        >>> Transformer(config)(torch.tensor([[5, 6, 7]]), torch.tensor([[1, 8]])).shape
        torch.Size([1, 2, 11])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        source = nn.Embedding(config.vocab_size, config.d_model)
        target = source if config.tie_embeddings else nn.Embedding(config.vocab_size, config.d_model)
        both_ways = build_relative(config, causal=False, n_layers=config.n_encoder_layers)
        backwards = build_relative(config, causal=True, n_layers=config.n_decoder_layers)
        self.encoder = Stack(source, config, (EncoderLayer(config, relative) for relative in both_ways), "S")
        self.decoder = Decoder(target, config, (DecoderLayer(config, relative) for relative in backwards), "T")
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=config.output_bias)
        if config.tie_embeddings:
            self.output.weight = target.weight
        self.tap_logits = Tap("B T V")
        normal = partial(nn.init.normal_, std=config.d_model**-0.5)
        initialise(self, nn.init.xavier_uniform_ if config.embedding_init == "xavier" else normal)
        name_taps(self)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """src (B, S) and tgt (B, T), the start token first, both padded, to logits (B, T, V) (teacher forcing).

        Row t is the prediction after reading tgt[:, :t + 1].
        """
        return self.read(tgt, self.start(src))

    def decode(self, tgt: Tensor, mask: Tensor | None, cache: Cache) -> Tensor:
        """Logits (B, T, V) of target ids (B, T) after those in the cache; the mask as for the decoder, or none."""
        hidden = self.decoder(tgt, mask, cache)  # (B, T, D)
        return self.tap_logits(self.output(hidden))  # (B, T, V)

    def read(self, tgt: Tensor, cache: Cache) -> Tensor:
        """Teacher forcing from a fresh cache: tgt (B, T) to logits (B, T, V)."""
        return self.decode(tgt, masks.decoder_mask(tgt), cache)

    # The protocol of model.decoding: start, step, reorder.

    def start(self, src: Tensor, mask: Tensor | None = None) -> Cache:
        """Encode src (B, S) for the decoder; the mask, bool (B, 1, 1, S), is that of the padding unless given."""
        mask = masks.padding_mask(src) if mask is None else mask  # (B, 1, 1, S)
        memory = self.encoder(src, mask)  # (B, S, D)
        cross = [cast(DecoderLayer, layer).cross_attention.keys_values(memory) for layer in self.decoder.layers]
        sentences = torch.arange(src.size(0), device=src.device)
        return Cache(cross=cross, cross_mask=mask, decoder_self=[None] * len(cross), sentences=sentences)

    def step(self, state: Cache, tokens: Tensor) -> Tensor:
        """Tokens (B,) to logits (B, V); the state is extended."""
        mask = masks.causal_mask(1, state.length + 1, device=tokens.device)
        return self.decode(tokens[:, None], mask, state)[:, -1]

    def reorder(self, state: Cache, rows: Tensor) -> Cache:
        """The state with the rows of an index tensor (B',), int64."""
        return state.select(rows)


def initialise(model: nn.Module, table: Callable[[Tensor], Tensor]) -> None:
    """Xavier-uniform matrices and zero biases of linear layers; then `table` for embeddings, shared ones too."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            bias = cast(Tensor | None, module.bias)  # PyTorch's own annotation leaves out that there may be none
            if bias is not None:
                nn.init.zeros_(bias)
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            table(module.weight)
