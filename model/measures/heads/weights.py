"""What heads can do by their weights alone: copy what they look at, prefer the same token, a distance, a position.

Every layer is given the embeddings themselves, as if nothing were written before it (the direct paths of Elhage et al.
2021), and the model's own code says what it makes of them. What heads really do with what earlier layers wrote is
measured over texts; where both agree the weights alone explain it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model import masks
from model.adapters.readers.explanation.direct_path import follow
from model.adapters.readers.layout import DECODER, ENCODER_DECODER
from model.adapters.readers.reader import Reader
from model.decoding.protocol import between_steps
from model.gru import GruModel
from model.results.translation import MODULES, module_of
from model.running.translator import Translator, Writer
from model.taps import hooked

NAMES = ("copying", "same_by_weights", "previous_by_weights", "distance_by_weights")
MOST_TOKENS = 1024  # of the vocabulary, spread evenly
POSITIONS = 32  # over which distances and positions are measured
_MEAN_OF = 64  # tokens whose mean stands at every position
_ROWS = 256  # tokens at a time
_FIRST_WORD = 4  # of our own vocabularies, after the special tokens
Ids = dict[str, Tensor]  # by stack (B, T)
Run = Callable[[Ids], Any]


def measure(system: Any) -> dict[str, dict[str, np.ndarray]]:
    """By kind of attention and measure of NAMES, float64 (L, H); no measure where it is not defined for a model.

    - copying: the share of the eigenvalues of W_U W_O W_V W_E with a positive real part (Elhage et al. 2021), over
      MOST_TOKENS of the vocabulary, embeddings and words above their means; of decoder self-attention. Near 1: raises
      the word it looks at; 0.5 by chance.
    - same_by_weights: by how many standard deviations a token's score with itself is above its scores with others, of
      self-attention at distance 0.
    - previous_by_weights: the mean weight on the previous token, if all tokens were alike.
    - distance_by_weights: the largest mean weight at any one distance, if all tokens were alike; 1 / keys where
      positions decide nothing.
    """
    lab = _Lab.of(system)
    if lab is None:
        return {}
    vectors = lab.vectors()
    measures: dict[str, dict[str, np.ndarray]] = {kind: {} for kind in lab.kinds}
    for kind in lab.kinds:
        between_steps()
        if kind != "cross":
            layers = [vectors[module_of(kind, layer)] for layer in lab.layers(kind)]
            measures[kind]["same_by_weights"] = np.stack([_same(of_layer["q"], of_layer["k"]) for of_layer in layers])
    for kind, kernels in lab.kernels().items():
        of_kind = _by_position(kernels)
        measures[kind] |= {name: of_kind[name] for name in of_kind if kind != "cross" or name == NAMES[-1]}
    if (words := lab.words()) is not None:
        kind = "decoder_self"
        measures[kind]["copying"] = np.stack(
            [
                _copying(vectors[module_of(kind, layer)]["v"], words[module_of(kind, layer)])
                for layer in lab.layers(kind)
            ]
        )
    return measures


def position_kernels(system: Any) -> dict[str, np.ndarray]:
    """By kind of attention the scores of every head if all tokens were alike, float64 (L, H, T, S), -inf where masked.

    Of additive encodings this is what a head makes of two positions; rotary ones and biases show in it by distance. At
    every position stands the mean of tokens of the vocabulary. Empty where the streams of a model are not seen.
    """
    lab = _Lab.of(system)
    return {} if lab is None else lab.kernels()


class _Lab:
    """Passes of a model in which every layer reads the embeddings themselves."""

    def __init__(self, run: Run, layers: dict[str, list[int]], vocabulary: dict[str, np.ndarray], length: int) -> None:
        """Make passes with `run`.

        Args:
            layers: by kind of attention their numbers.
            vocabulary: by stack the ids of the tokens that are read, sampled.
            length: how many positions are read.
        """
        self._run = run
        self._layers = layers
        self._vocabulary = vocabulary
        self._length = length
        self.kinds = list(layers)
        self.words: Callable[[], dict[str, np.ndarray] | None] = lambda: None

    @staticmethod
    def of(system: Any) -> "_Lab | None":
        """The passes of a system; None where embeddings cannot take the place of what layers read."""
        if isinstance(system, Translator | Writer):
            return _of_ours(system)
        return _of_reader(system) if isinstance(system, Reader) else None

    def layers(self, kind: str) -> list[int]:
        """The numbers of the layers that have a kind of attention."""
        return self._layers[kind]

    @torch.inference_mode()
    def vectors(self) -> dict[str, dict[str, np.ndarray]]:
        """By module "q" (N, H, K), "k" and "v" (N, G, K) of N tokens, each read by itself at the first position."""
        rows: dict[str, dict[str, list[np.ndarray]]] = {}

        def keep(address: str, value: Tensor) -> Tensor:
            module, _, name = address.rpartition(".")
            if name in ("q", "k", "v"):
                rows.setdefault(module, {}).setdefault(name, []).append(value[:, :, 0].float().cpu().numpy())
            return value

        count = max(map(len, self._vocabulary.values()))
        for start in range(0, count, _ROWS):
            between_steps()
            chunk = {stack: np.resize(ids, count)[start : start + _ROWS] for stack, ids in self._vocabulary.items()}
            with hooked(_Unwritten().pass_tap), hooked(keep):
                self._run({stack: torch.from_numpy(ids)[:, None] for stack, ids in chunk.items()})
        return {
            module: {name: np.concatenate(parts).astype(np.float64) for name, parts in of_module.items()}
            for module, of_module in rows.items()
        }

    @torch.inference_mode()
    def kernels(self) -> dict[str, np.ndarray]:
        """See `position_kernels`."""
        count = min(_MEAN_OF, *map(len, self._vocabulary.values()), _MEAN_OF)
        ids = {stack: torch.from_numpy(ids[:: len(ids) // count][:count]) for stack, ids in self._vocabulary.items()}
        scores: dict[str, np.ndarray] = {}

        def keep(address: str, value: Tensor) -> Tensor:
            if address.endswith(".scores"):
                scores[address.removesuffix(".scores")] = value[0].double().cpu().numpy()
            return value

        with hooked(_Unwritten(mean=True).pass_tap), hooked(keep):
            self._run({stack: tokens[:, None].expand(-1, self._length) for stack, tokens in ids.items()})
        return {
            kind: np.stack([scores[module_of(kind, layer)] for layer in layers])
            for kind, layers in self._layers.items()
        }


class _Unwritten:
    """Gives every layer of a stack what its first one reads, with `mean` the mean of all rows in each of them."""

    def __init__(self, mean: bool = False) -> None:
        self._mean = mean
        self._embeddings: dict[str, Tensor] = {}  # by stack

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """As a hook of `model.taps.hooked`."""
        stack = address.partition(".")[0]
        if address == f"{stack}.input.stream":
            self._embeddings[stack] = value.mean(0, keepdim=True).expand_as(value) if self._mean else value
        if address.endswith((".input.stream", ".residual_ff.stream")):
            return self._embeddings.get(stack, value)
        return value


def _of_ours(system: Translator | Writer) -> _Lab | None:
    model = system.model
    if isinstance(model, GruModel):
        return None
    length = min(POSITIONS, model.config.max_length)
    layers = {kind: list(range(n_layers)) for kind, n_layers in _layer_counts(model.config.heads_by_layer).items()}
    target = _spread(_FIRST_WORD, system.config.vocab_sizes[1])
    if isinstance(system, Writer):
        decoder = model.decoder

        def read(ids: Ids) -> None:
            decoder(ids["decoder"], masks.causal_mask(ids["decoder"].size(1)))

        lab = _Lab(read, layers, {"decoder": target}, length)
    else:
        transformer = system.transformer

        def translate(ids: Ids) -> None:
            transformer.read(ids["decoder"], transformer.start(ids["encoder"]))

        source = _spread(_FIRST_WORD, system.config.vocab_sizes[0])
        lab = _Lab(translate, layers, {"encoder": source, "decoder": target}, length)
    last = system.transformer.output if isinstance(system, Translator) else system.model.softmax.output
    if isinstance(last, nn.Linear):
        matrix = last.weight.detach().numpy()[target].astype(np.float64)  # (N, D)
        lab.words = lambda: _words_of_ours(model, matrix)
    return lab


def _words_of_ours(model: Any, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """By module of decoder self-attention the directions (N, H, K) of words in its contexts, up to a factor above 0.

    The deviations of norms are such factors.
    """
    parameters = {name: value.detach().numpy().astype(np.float64) for name, value in model.named_parameters()}

    def before(norm: str, directions: np.ndarray) -> np.ndarray:
        if f"{norm}.weight" not in parameters:
            return directions
        directions = directions * parameters[f"{norm}.weight"]
        is_centred = f"{norm}.bias" in parameters
        return directions - directions.mean(1, keepdims=True) if is_centred else directions

    directions = before("decoder.norm", matrix)
    words = {}
    for layer in reversed(range(len(model.decoder.layers))):
        for name, residual in reversed((("self_attention", "self"), ("cross_attention", "cross"), ("", "ff"))):
            if model.config.norm != "pre":
                directions = before(f"decoder.layers.{layer}.residual_{residual}.norm", directions)
            if name == "self_attention":
                module = module_of("decoder_self", layer)
                projected = directions @ parameters[f"{module}.output_projection.weight"]
                words[module] = projected.reshape(len(matrix), model.config.n_heads, -1)
    return words


def _of_reader(reader: Reader) -> _Lab | None:
    config, layout = reader.config, reader.layout
    if config.read_only or layout.shared is not None or "input_ids" not in reader.accepted_inputs:
        return None
    layers = {kind: [layer.layer for layer in config.layers(kind)] for kind in config.kinds}
    ids = _spread(0, config.vocab_size)
    stacks = ["encoder", "decoder"] if config.task == ENCODER_DECODER else [MODULES[config.kinds[0]][0]]

    def read(tokens: Ids) -> None:
        inputs = {"input_ids": tokens[stacks[0]]}
        if len(stacks) > 1:
            inputs["decoder_input_ids"] = tokens["decoder"]
        reader.forward(inputs)

    lab = _Lab(read, layers, dict.fromkeys(stacks, ids), min(POSITIONS, reader.max_tokens))
    if config.task == DECODER and _has_effects(reader):
        lab.words = lambda: _words_of_reader(reader, ids)
    return lab


@torch.inference_mode(False)
@torch.enable_grad()
def _words_of_reader(reader: Reader, ids: np.ndarray) -> dict[str, np.ndarray]:
    """Like `_words_of_ours`: the direct path of a text of one token, followed back from each word."""
    with follow() as path:
        reader.forward({"input_ids": torch.tensor([[int(ids[0])]])})
    assert path.logits is not None
    logits = path.logits[0, 0]  # (V,)
    modules = list(path.heads)
    rows: list[list[np.ndarray]] = [[] for _ in modules]
    for start in range(0, len(ids), _ROWS):
        between_steps()
        chosen = torch.from_numpy(ids[start : start + _ROWS]).to(logits.device)
        factors = torch.zeros(len(chosen), len(logits), dtype=logits.dtype, device=logits.device)
        factors[torch.arange(len(chosen)), chosen] = 1
        is_last = start + _ROWS >= len(ids)
        leaves = [path.heads[module] for module in modules]
        back = torch.autograd.grad(logits, leaves, factors, retain_graph=not is_last, is_grads_batched=True)
        for kept, of_module in zip(rows, back, strict=True):
            kept.append(of_module[:, 0, :, 0].double().cpu().numpy())  # (N, H, K)
    return {module: np.concatenate(kept) for module, kept in zip(modules, rows, strict=True)}


def _has_effects(reader: Reader) -> bool:
    try:
        reader.check_effects()
    except ValueError:
        return False
    return True


def _layer_counts(heads_by_layer: Any) -> dict[str, int]:
    return {kind: len(layers) for kind, layers in heads_by_layer.items()}


def _spread(first: int, size: int) -> np.ndarray:
    """At most MOST_TOKENS ids from `first` to below `size`, spread evenly."""
    return np.unique(np.linspace(first, size - 1, min(MOST_TOKENS, size - first)).astype(np.int64))


def _same(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """By how many deviations the scores of N tokens with themselves are above those with all, (H,).

    Of queries (N, H, K) and keys (N, G, K).
    """
    keys = np.repeat(keys, queries.shape[1] // keys.shape[1], axis=1)  # (N, H, K)
    centred = keys - keys.mean(axis=0)
    above = (queries * centred).sum(-1)  # (N, H)
    spread = np.einsum("nhk,mhk->hnm", queries, centred, optimize=True).std(axis=-1).T  # (N, H)
    return (above / np.maximum(spread, np.finfo(float).tiny)).mean(axis=0)


def _copying(values: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The share of positive eigenvalues of words times values, (H,), of values (N, G, K) and directions (N, H, K).

    Eigenvalues of the (N, N) matrix of all pairs, those of the small product (K, K) and zeros.
    """
    values = np.repeat(values, words.shape[1] // values.shape[1], axis=1)
    values, words = (vectors - vectors.mean(axis=0) for vectors in (values, words))
    products = np.einsum("nhk,nhj->hkj", values, words, optimize=True)  # (H, K, K)
    return (np.linalg.eigvals(products).real > 0).mean(axis=-1)


def _by_position(kernels: np.ndarray) -> dict[str, np.ndarray]:
    """The mean weights on the previous token and at the strongest distance, (L, H), of scores (L, H, T, S)."""
    largest = kernels.max(axis=-1, keepdims=True)
    exponentials = np.exp(kernels - largest)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # (L, H, T, S)
    n_queries, n_keys = kernels.shape[2:]
    middle = np.arange(n_queries // 2, max(n_queries // 2 + 1, n_queries - n_queries // 4))
    by_distance = []
    for distance in range(-(n_keys // 4) + 1, n_queries // 2 + 1):
        rows = [row for row in middle if 0 <= row - distance < n_keys]
        if len(rows) == len(middle):
            by_distance.append(weights[:, :, rows, [row - distance for row in rows]].mean(axis=-1))
    rows = np.arange(1, min(n_queries, n_keys + 1))
    previous = weights[:, :, rows, rows - 1].mean(axis=-1)
    return {"previous_by_weights": previous, "distance_by_weights": np.max(by_distance, axis=0)}
