"""The recurrent encoder-decoder of Cho et al. 2014, perhaps with the attention of Bahdanau et al. 2015.

Its taps fire once per step: `joined` lays the steps side by side. Shape letters: S source, T target, E d_embedding,
D d_hidden, M memory; in a step S = 1 or T = 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model import masks
from model.attention import AdditiveAttention
from model.config import GruConfig
from model.taps import Tap, Trace, addresses, name_taps
from model.text.special import PAD_ID


class GruStep(nn.Module):
    """One step of a gated recurrent unit: how much of the old state is kept, and what is added.

    r = sigmoid(W_r x + b_r + U_r h + c_r), u = sigmoid(W_u x + b_u + U_u h + c_u), h' = u * h + (1 - u) * candidate.
    The candidate of `nn.GRU` is tanh(W x + b + r * (U h + c)), that of Cho et al. 2014 (equation 8) tanh(W x + b +
    U (r * h) + c): the results differ.
    """

    def __init__(self, d_input: int, d_hidden: int, candidate: str, letter: str) -> None:
        super().__init__()
        self.weight_ih = nn.Parameter(torch.empty(3 * d_hidden, d_input))  # rows: r, u, candidate, as in nn.GRU
        self.weight_hh = nn.Parameter(torch.empty(3 * d_hidden, d_hidden))
        self.bias_ih = nn.Parameter(torch.empty(3 * d_hidden))
        self.bias_hh = nn.Parameter(torch.empty(3 * d_hidden))
        self.is_library = candidate == "library"
        self.tap_r, self.tap_u, self.tap_candidate, self.tap_hidden = (Tap(f"B {letter} D") for _ in range(4))

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        """x (B, 1, d_input) and the state (B, 1, D) to the state after (B, 1, D)."""
        x_r, x_u, x_c = F.linear(x, self.weight_ih, self.bias_ih).chunk(3, dim=-1)  # (B, 1, D) each
        w_r, w_u, w_c = self.weight_hh.chunk(3)  # (D, D) each
        b_r, b_u, b_c = self.bias_hh.chunk(3)  # (D,) each
        r = self.tap_r(torch.sigmoid(x_r + F.linear(hidden, w_r, b_r)))
        u = self.tap_u(torch.sigmoid(x_u + F.linear(hidden, w_u, b_u)))
        reset = r * F.linear(hidden, w_c, b_c) if self.is_library else F.linear(r * hidden, w_c, b_c)
        candidate = self.tap_candidate(torch.tanh(x_c + reset))
        return self.tap_hidden(u * hidden + (1 - u) * candidate)


class GruEncoder(nn.Module):
    """Reads the source word by word; with `bidirectional` once more from its end."""

    def __init__(self, config: GruConfig) -> None:
        super().__init__()
        step = (config.d_embedding, config.d_hidden, config.candidate, "S")
        self.embedding = nn.Embedding(config.source_vocab_size, config.d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.forward_gru = GruStep(*step)
        self.backward_gru = GruStep(*step) if config.bidirectional else None
        self.bridge = nn.Linear(2 * config.d_hidden, config.d_hidden) if config.bidirectional else None
        self.tap_embedded = Tap("B S E")
        self.tap_memory = Tap("B S M") if config.attention else nn.Identity()  # else nothing reads it
        self.tap_summary = Tap("B 1 D")

    def forward(self, src: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """The states (B, S, M) and the summary (B, 1, D), the last of them, of src (B, S).

        Where `real`, bool (B, S), is False, the state stays as it was: at padding.
        """
        x = self.dropout(self.tap_embedded(self.embedding(src)))  # (B, S, E)
        positions = range(src.size(1))
        memory, summary = self._run(self.forward_gru, x, real, positions)
        if self.backward_gru is not None and self.bridge is not None:
            back, last = self._run(self.backward_gru, x, real, reversed(positions))
            memory = torch.cat([memory, back], dim=-1)  # (B, S, 2 D)
            summary = torch.tanh(self.bridge(torch.cat([summary, last], dim=-1)))  # (B, 1, D)
        return self.tap_memory(memory), self.tap_summary(summary)

    @staticmethod
    def _run(step: GruStep, x: Tensor, real: Tensor, positions: Iterable[int]) -> tuple[Tensor, Tensor]:
        hidden = x.new_zeros(x.size(0), 1, step.weight_hh.size(1))  # (B, 1, D)
        states = {}
        for s in positions:
            hidden = torch.where(real[:, s, None, None], step(x[:, s : s + 1], hidden), hidden)
            states[s] = hidden
        return torch.cat([states[s] for s in range(x.size(1))], dim=1), hidden  # (B, S, D), (B, 1, D)


@dataclass
class GruState:
    """The state of a decoder between steps."""

    hidden: Tensor  # (B, 1, D)
    summary: Tensor  # what stands for the source, (B, 1, D)
    memory: Tensor  # the states of the encoder, (B, S, M)
    keys: Tensor  # what attention compares with, (B, S, D); empty without attention
    mask: Tensor  # (B, 1, 1, S) bool, True where the source is not padding

    def fresh(self) -> Self:
        """Over the same source, with nothing decoded yet."""
        return replace(self, hidden=self.summary)

    def select(self, rows: Tensor) -> Self:
        """The state with the rows of an index tensor (B',), int64."""
        return replace(self, **{field.name: getattr(self, field.name).index_select(0, rows) for field in fields(self)})


class GruDecoder(nn.Module):
    """Writes the target word by word; every step reads the last word, its state, and the source's context."""

    def __init__(self, config: GruConfig) -> None:
        super().__init__()
        d_memory = config.d_hidden * (2 if config.bidirectional else 1)
        d_context = d_memory if config.attention else config.d_hidden
        self.embedding = nn.Embedding(config.target_vocab_size, config.d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.cross_attention = AdditiveAttention(config.d_hidden, d_memory) if config.attention else None
        self.gru = GruStep(config.d_embedding + d_context, config.d_hidden, config.candidate, "T")
        self.output = nn.Linear(config.d_embedding + config.d_hidden + d_context, config.target_vocab_size)
        self.tap_embedded = Tap("B T E")
        self.tap_context = nn.Identity() if config.attention else Tap("B T D")  # attention has its own

    def forward(self, tokens: Tensor, state: GruState) -> Tensor:
        """tokens (B, 1), what each row wrote last, to logits (B, 1, V); the state is moved on."""
        x = self.dropout(self.tap_embedded(self.embedding(tokens)))  # (B, 1, E)
        if self.cross_attention is None:
            context = self.tap_context(state.summary)  # (B, 1, D), the same at every step
        else:
            context = self.cross_attention(state.hidden, state.keys, state.memory, state.mask)  # (B, 1, M)
        state.hidden = self.gru(torch.cat([x, context], dim=-1), state.hidden)  # (B, 1, D)
        return self.output(torch.cat([x, state.hidden, context], dim=-1))  # (B, 1, V)


class GruModel(nn.Module):
    """The whole model: source ids and target ids in, logits for the next target ids out.

    Example:
        >>> config = GruConfig(source_vocab_size=11, target_vocab_size=9, d_embedding=4, d_hidden=6)
        >>> GruModel(config)(torch.tensor([[5, 6, 7]]), torch.tensor([[1, 8]])).shape
        torch.Size([1, 2, 9])
    """

    def __init__(self, config: GruConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = GruEncoder(config)
        self.decoder = GruDecoder(config)
        self.tap_logits = Tap("B T V")
        for parameter in self.parameters():  # biases too
            nn.init.normal_(parameter, std=0.01)
        name_taps(self)

    def forward(self, src: Tensor, tgt: Tensor, teacher_forcing: float = 1.0) -> Tensor:
        """src (B, S) and tgt (B, T), the start token first, both padded, to logits (B, T, V).

        With probability `teacher_forcing`, drawn once per step for the whole batch, a step reads the target's token and
        not the one that the step before found most probable.
        """
        return self.read(tgt, self.start(src), teacher_forcing)

    def read(self, tgt: Tensor, state: GruState, teacher_forcing: float = 1.0) -> Tensor:
        """tgt (B, T) to logits (B, T, V) from a state of `start`, which is moved on; the rest as in `forward`."""
        logits = [self._step(tgt[:, :1], state)]
        for t in range(1, tgt.size(1)):
            forced = teacher_forcing >= 1 or (teacher_forcing > 0 and torch.rand(()).item() < teacher_forcing)
            logits.append(self._step(tgt[:, t : t + 1] if forced else logits[-1].argmax(-1), state))
        return torch.cat(logits, dim=1)  # (B, T, V)

    # The protocol of model.decoding: start, step, reorder.

    def start(self, src: Tensor) -> GruState:
        """Encode src (B, S), padded, for the decoder."""
        real = src != PAD_ID
        memory, summary = self.encoder(src, real | self.config.run_over_padding)
        attention = self.decoder.cross_attention
        keys = attention.keys(memory) if attention is not None else memory[..., :0]
        return GruState(hidden=summary, summary=summary, memory=memory, keys=keys, mask=masks.padding_mask(src))

    def step(self, state: GruState, tokens: Tensor) -> Tensor:
        """Tokens (B,) to logits (B, V); the state is moved on."""
        return self._step(tokens[:, None], state)[:, -1]

    def reorder(self, state: GruState, rows: Tensor) -> GruState:
        """The state with the rows of an index tensor (B',), int64."""
        return state.select(rows)

    def _step(self, tokens: Tensor, state: GruState) -> Tensor:
        return self.tap_logits(self.decoder(tokens, state))


def merge_directions(model: nn.Module, trace: Trace) -> dict[str, Tensor]:
    """A recording by address, with the steps of a recurrent model side by side in the order of the words."""
    several = [address for address in trace if len(trace.all(address)) > 1]
    taps = addresses(model) if several else {}  # a walk over the module tree, which a Transformer's pass can spare
    arrays = dict(trace)
    for address in several:
        letters = taps[address].shape.split()
        steps = trace.all(address)
        steps = steps[::-1] if ".backward_gru." in address else steps  # from the last word to the first
        arrays[address] = torch.cat(steps, dim=letters.index("T" if "T" in letters else "S"))
    return arrays
