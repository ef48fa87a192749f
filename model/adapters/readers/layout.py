"""Where a model of transformers has its attention: addresses, layers, heads, and what its configuration calls them."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import nn

from model.config import HeadsByLayer
from model.results.translation import KINDS, MODULES, module_of

DECODER = "decoder"
ENCODER = "encoder"
ENCODER_DECODER = "encoder-decoder"
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")
_D_HEAD = ("head_dim", "attention_head_size", "key_value_proj_dim")
_PROJECTIONS = ("o_proj", "out_proj", "c_proj", "dense", "o", "out_lin", "Wo", "wo", "proj")
_LOADED = "_is_hf_initialized"  # an attribute of parameters that transformers read from a file
_ADAPTED = ("base_layer", "original_module")  # in an adapter of PEFT, the module of the model
_OTHER_TOWERS = {"vision_tower", "vision_model", "visual", "audio_tower", "audio_model"}


@dataclass(frozen=True)
class AttentionLayer:
    """The attention of one layer, as the configuration of a reader says it."""

    kind: str  # of KINDS
    layer: int  # numbered as in the model
    n_heads: int
    n_key_value_heads: int  # fewer than n_heads where several query heads share keys and values
    d_head: int
    window: int | None  # how many keys a query reaches at most, itself included; None: all

    @property
    def address(self) -> str:
        """The address of the block in traces, as "decoder.layers.0"."""
        return module_of(self.kind, self.layer)


@dataclass(frozen=True)
class ReaderConfig:
    """What a model of transformers is made of, in our words."""

    architecture: str  # as transformers calls it: "llama"
    task: str  # "decoder", "encoder" or "encoder-decoder"
    d_model: int
    vocab_size: int
    norm: str  # "LayerNorm" or "RMSNorm"
    norm_position: str  # "pre", "post" (after the sum), "output" (of what a sublayer adds) or "pre and output"
    positions: str  # "rotary", "learned", "sinusoidal", "relative" or "none"
    max_length: int | None  # tokens; None where positions have no end
    n_layers: int  # of the decoder, or of the encoder where there is none; some may have no attention
    attention: tuple[AttentionLayer, ...] = field(repr=False)
    has_words: bool = True  # whether it has the layer that predicts words
    random_output: str | None = None  # a tensor of that layer that the files of the model did not hold, if so
    score_cap: float = 0.0  # scores are cap * tanh(scores / cap); 0: as they are
    read_only: str | None = None  # why nothing can be changed, if so

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention that the model has: "encoder_self", "decoder_self", "cross"."""
        return [kind for kind in KINDS if any(layer.kind == kind for layer in self.attention)]

    def layers(self, kind: str) -> list[AttentionLayer]:
        """The layers that have a kind of attention, in order."""
        return [layer for layer in self.attention if layer.kind == kind]

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """See `model.interventions.edits.Changeable`."""
        if self.read_only:
            return {}
        return {kind: {layer.layer: layer.n_heads for layer in self.layers(kind)} for kind in self.kinds}


@dataclass(frozen=True)
class Attention:
    """One attention of a model: its layer, its module, the module of its layer, and its output projection."""

    layer: AttentionLayer
    module: nn.Module
    block: nn.Module
    projection: nn.Module | None


@dataclass(frozen=True)
class Layout:
    """The parts of a model of transformers that a reader needs, found by name and never by running it.

    `probed` says of a model whose attention is not that of transformers' interface how many heads each layer hands out,
    by kind (`handed_out.probe`), where that is known; layers without attention have 0.
    """

    model: Any
    probed: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @cached_property
    def task(self) -> str:
        """What the model is: an encoder, a decoder, or both."""
        if self.model.config.is_encoder_decoder:
            return ENCODER_DECODER
        if self.probed:
            return DECODER if "decoder_self" in self.probed else ENCODER
        if not self._modules:  # its attention is not that of transformers' interface
            return DECODER if self.model.can_generate() else ENCODER
        return DECODER if any(module.is_causal for _, module in self._modules) else ENCODER

    @cached_property
    def attentions(self) -> list[Attention]:
        """Every attention in the order of the module tree; of layers that share a module one for each layer."""
        if self.shared is None:
            return [self._attention(path, module, _number(path)) for path, module in self._modules]
        config = self.model.config
        size = config.inner_group_num  # of a group of modules, which is passed several times
        groups = [i * config.num_hidden_groups // config.num_hidden_layers for i in range(config.num_hidden_layers)]
        modules = [module for group in groups for module in self._modules[group * size : (group + 1) * size]]
        return [self._attention(*module, number) for number, module in enumerate(modules)]

    @cached_property
    def shared(self) -> nn.Module | None:
        """The module in whose pass one attention is several layers, if there is one (ALBERT)."""
        if getattr(self.model.config, "num_hidden_groups", None) is None:
            return None
        path = self._modules[0][0]
        return self.model.get_submodule(re.split(r"\.\w+\.\d+\.", path)[0])

    @cached_property
    def stacks(self) -> dict[str, list[nn.Module]]:
        """The layers of "encoder" and "decoder", whichever there are, those without attention included."""
        stacks = {name: self._stack(name) for name in ("encoder", "decoder")}
        return {name: list(stack[1]) for name, stack in stacks.items() if stack}

    @property
    def blocks(self) -> list[nn.Module]:
        """The layers of the decoder, or of the encoder where there is no decoder."""
        return self.stacks.get("decoder") or self.stacks["encoder"]

    @property
    def width(self) -> int:
        """The width of the stream, D."""
        return self.model.config.get_text_config(decoder=self.task != ENCODER).hidden_size

    @property
    def is_post_norm(self) -> bool:
        """Whether what a layer adds to the stream passes the norms of all later ones."""
        return self.final_norm is None

    @cached_property
    def final_norm(self) -> nn.Module | None:
        """What normalises the stream after the last of `blocks`; None in post-norm models."""
        stack = self._stack("decoder") or self._stack("encoder")
        if stack is None:
            return None
        norms = [child for name, child in stack[0].named_children() if is_norm(child) and "emb" not in name]
        return norms[-1] if norms else None

    def _stack(self, name: str) -> tuple[nn.Module, nn.ModuleList | nn.Sequential] | None:
        """The module that holds the layers of the encoder or the decoder, and its list of them."""
        for path, module in self._modules:
            match = re.search(r"^(.*?)\.?([A-Za-z_]+)\.\d+\.", path)
            if match and MODULES[self._kind(path.split("."), module)][0] == name:
                stack = self.model.get_submodule(match[1])
                layers = stack.get_submodule(match[2])
                assert isinstance(layers, nn.ModuleList | nn.Sequential)  # what is in it is numbered
                return stack, layers
        return None

    @cached_property
    def _modules(self) -> list[tuple[str, nn.Module]]:
        """The modules that call the attention function, with their paths."""
        modules = [
            (path, module)
            for path, module in self.model.named_modules()
            if "Attention" in type(module).__name__ and isinstance(vars(module).get("is_causal"), bool)
        ]
        numbered = [(path, module) for path, module in modules if re.search(r"\.\d+\.", f".{path}")]
        text = [item for item in numbered if not _OTHER_TOWERS & set(item[0].split("."))]
        return text or numbered

    def _attention(self, path: str, module: nn.Module, number: int) -> Attention:
        parts = path.split(".")
        place = next(place for place, part in enumerate(parts) if part.isdigit())
        block = self.model.get_submodule(".".join(parts[: place + 1]))
        layer = self._describe(self._kind(parts, module), number, module)
        return Attention(layer, module, block, self._projection(parts, module))

    def _kind(self, parts: list[str], module: nn.Module) -> str:
        if self.task == ENCODER_DECODER:
            if "encoder" in next(part for part in parts if "encoder" in part or "decoder" in part):
                return "encoder_self"
            is_self = module.is_causal or any(part.startswith("self_att") for part in parts)
            return "decoder_self" if is_self else "cross"
        if self.task == ENCODER:
            return "encoder_self"
        return "decoder_self" if module.is_causal else "cross"

    def _describe(self, kind: str, number: int, module: nn.Module) -> AttentionLayer:
        config = getattr(module, "config", self.model.config)
        n_heads = _first(module, _HEADS) or config.num_attention_heads
        groups = getattr(module, "num_key_value_groups", None)
        shared = n_heads // groups if groups else getattr(config, "num_key_value_heads", None) or n_heads
        shared = min(shared, n_heads)  # of an encoder-decoder the configuration counts those of one side
        d_head = _first(module, _D_HEAD) or config.hidden_size // n_heads
        return AttentionLayer(kind, number, n_heads, shared, d_head, _window(config, number, module))

    def _projection(self, parts: list[str], module: nn.Module) -> nn.Module | None:
        children = dict(module.named_children())
        projections = [children[name] for name in _PROJECTIONS if name in children]
        if not projections:  # in the files of BERT and its kin the projection stands beside the attention
            beside = dict(self.model.get_submodule(".".join(parts[:-1])).named_modules())
            projections = [beside[name] for name in ("output.dense", "o_proj", "out_proj") if name in beside]
        return projections[0] if projections else None

    @cached_property
    def reads_ids(self) -> bool:
        """Whether the model takes ids of tokens; others take images or sound."""
        return "input_ids" in inspect.signature(self.model.forward).parameters

    def describe(self, read_only: str | None = None) -> ReaderConfig:
        """The configuration of a reader."""
        config = self.model.config.get_text_config(decoder=self.task != ENCODER)
        norm = next((module for module in self.model.modules() if is_norm(module)), None)
        return ReaderConfig(
            architecture=self.model.config.model_type,
            task=self.task,
            d_model=self._width(config),
            vocab_size=getattr(config, "vocab_size", 0),
            norm="none" if norm is None else "RMSNorm" if is_rms(norm) else "LayerNorm",
            norm_position=self._norm_position(),
            positions=self._positions(),
            max_length=self._max_length(config),
            n_layers=config.num_hidden_layers if read_only or self.shared is not None else len(self.blocks),
            attention=tuple(attention.layer for attention in self.attentions) if not read_only else self._by_config(),
            has_words=self.model.get_output_embeddings() is not None,
            random_output=self._random_output(),
            score_cap=getattr(config, "attn_logit_softcapping", None) or 0.0,
            read_only=read_only,
        )

    def _width(self, config: Any) -> int:
        """The size of the residual stream; of models with layers of several widths (of images) that of the first."""
        width = getattr(config, "hidden_size", None)
        if isinstance(width, int):
            return width
        parameter = next(module.weight for module in self.model.modules() if is_norm(module))
        return parameter.size(0)

    def _by_config(self) -> tuple[AttentionLayer, ...]:
        """Every attention as a probe or else the configuration has it, where the modules are not known."""
        config = self.model.config.get_text_config(decoder=self.task != ENCODER)
        kind = "decoder_self" if self.task == DECODER else "encoder_self"
        probed = self.probed or {kind: [config.num_attention_heads] * config.num_hidden_layers}
        return tuple(
            AttentionLayer(kind, number, heads, heads, self._width(config) // heads, None)
            for kind in KINDS
            for number, heads in enumerate(probed.get(kind, ()))
            if heads
        )

    def _random_output(self) -> str | None:
        """The first parameter after the bare stack that was not in the files, by the marks that transformers leaves.

        None of models that come from no file, where nothing has a mark. Adapters have files of their own.
        """
        stack = {id(parameter) for parameter in self.model.base_model.parameters()}
        for module in self.model.modules():
            if (inner := without_adapter(module)) is not module:
                stack |= {id(parameter) for parameter in module.parameters()}
                stack -= {id(parameter) for parameter in inner.parameters()}
        parameters = [
            (name, hasattr(parameter, _LOADED), id(parameter)) for name, parameter in self.model.named_parameters()
        ]
        if self.model.get_output_embeddings() is None or not any(is_loaded for _, is_loaded, _ in parameters):
            return None
        return next((name for name, is_loaded, place in parameters if not is_loaded and place not in stack), None)

    def _norm_position(self) -> str:
        if not self._modules:  # of a model that is read only; all four known ones
            return "post" if self.task == ENCODER else "pre"
        if self.final_norm is None:
            return "post"
        norms = [name.rpartition(".")[2] for name, module in self.blocks[0].named_modules() if is_norm(module)]
        if any(name.startswith(("post_feedforward", "post_mlp")) for name in norms):
            return "pre and output" if any(name.startswith(("input", "pre_")) for name in norms) else "output"
        return "pre"

    def _positions(self) -> str:
        names = {type(module).__name__ for module in self.model.modules()}
        paths = [path for path, _ in self.model.named_modules()]
        config = self.model.config
        if any("Rotary" in name for name in names) or getattr(config, "rotary_dim", None):
            return "rotary"
        if any("relative_attention_bias" in path or "rel_embeddings" in path for path in paths):
            return "relative"
        if config.model_type == "bloom" or getattr(config, "alibi", False):
            return "relative"
        if any("Sinusoidal" in name for name in names):
            return "sinusoidal"
        parameters = [path for path, _ in self.model.named_parameters()]
        return "learned" if any(re.search(r"position|wpe", path) for path in parameters) else "none"

    def _max_length(self, config: Any) -> int | None:
        if self._positions() == "relative":
            return None
        length = getattr(config, "max_position_embeddings", None)
        table = next((m for path, m in self.model.named_modules() if path.endswith("position_embeddings")), None)
        padding = getattr(table, "padding_idx", None)
        if length and padding is not None:  # RoBERTa counts positions from after padding
            length -= padding + 1
        return length


def _number(path: str) -> int:
    """The first number of a path, which is that of the layer."""
    return next(int(part) for part in path.split(".") if part.isdigit())


def without_adapter(module: nn.Module) -> nn.Module:
    """The module that an adapter of PEFT stands around; any other is returned as it is."""
    while (
        inner := next((module._modules.get(name) for name in _ADAPTED if name in module._modules), None)
    ) is not None:
        module = inner
    return module


def is_norm(module: nn.Module) -> bool:
    """Whether a module is a layer norm of any kind, by the name of its class."""
    module = without_adapter(module)
    return "norm" in type(module).__name__.lower() and not list(module.children())


def is_rms(norm: nn.Module) -> bool:
    """Whether a norm divides by the root mean square only, without subtracting the mean (RMSNorm)."""
    name = type(without_adapter(norm)).__name__
    return "RMS" in name or name.startswith("T5")


def _first(module: nn.Module, names: Sequence[str]) -> int | None:
    values = (getattr(module, name, None) for name in names)
    return next((value for value in values if isinstance(value, int)), None)


def _window(config: Any, number: int, module: nn.Module) -> int | None:
    if hasattr(module, "sliding_window"):
        window = module.sliding_window
    else:
        types = getattr(config, "layer_types", None)
        sliding = types[number] == "sliding_attention" if types and number < len(types) else True
        window = getattr(config, "sliding_window", None) if sliding else None
    if not isinstance(window, int):
        return None
    return window if module.is_causal else 2 * window - 1  # to both sides
