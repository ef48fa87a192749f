"""What people have in the place of a bare model (pipelines, adapters of PEFT, compiled models), unwrapped.

The classes are known by the name of their package and their own, and never imported: whoever hands one over has loaded
its library already.
"""

from collections.abc import Callable
from typing import Any

from torch import nn

Pair = tuple[Any, Any]  # what is wrapped, and the tokenizer that the wrapper has for it, or None
EXPECTED = (
    "attach takes a model of transformers that is loaded, or one in a pipeline, in PEFT, compiled, in parallel, or in "
    "a SentenceTransformer"
)


def unwrap(model: Any, tokenizer: Any = None) -> Pair:
    """The model of transformers in a wrapper, and its tokenizer: the wrapper's own where none is given.

    Adapters stay in the layers of the model that comes out, active where they were.

    Raises:
        ValueError: in one sentence, if there is no such model, if its adapters act outside its layers, or if the
            tokenizer is something else.
    """
    from transformers import PreTrainedModel

    outermost = model
    while (split := _split_of(model)) is not None:
        inner, own_tokenizer = split(model)
        tokenizer = own_tokenizer if tokenizer is None else tokenizer
        if inner is model:  # a wrapper without anything in it
            break
        model = inner
    if not isinstance(model, PreTrainedModel):
        raise _refusal(model, outermost)
    if any(parameter.is_meta for parameter in model.parameters()) and not hasattr(model, "hf_device_map"):
        raise ValueError(f"the parameters of this {type(model).__name__} are on the device 'meta', without numbers")
    return model, _tokenizer(tokenizer)


def _split_of(model: Any) -> Callable[[Any], Pair] | None:
    """What splits a wrapper into the model in it and its tokenizer; None of anything else."""
    names = ((ancestor.__module__.partition(".")[0], ancestor.__name__) for ancestor in type(model).__mro__)
    return next((_WRAPPERS[name] for name in names if name in _WRAPPERS), None)


def _of_peft(wrapper: Any) -> Pair:
    """The model whose layers hold the adapters; a ValueError for those that act outside the layers."""
    active = wrapper.active_adapters
    for name in [active] if isinstance(active, str) else active:
        config = wrapper.peft_config[name]
        kind = getattr(config.peft_type, "value", config.peft_type)
        if config.is_prompt_learning:
            raise ValueError(
                f"the adapter {name!r} ({kind}) puts learned vectors before the text, which are not tokens of it: "
                "only adapters inside the layers, as LoRA, can be shown"
            )
        if kind in ("XLORA", "POLY") or getattr(config, "alora_invocation_tokens", None):
            raise ValueError(
                f"the adapter {name!r} ({kind}) is chosen for each text, outside the layers: only adapters that "
                "are always active, as LoRA, can be shown"
            )
    return wrapper.base_model.model, None


def _of_pipeline(wrapper: Any) -> Pair:
    tokenizers = (getattr(wrapper, name, None) for name in ("tokenizer", "image_processor", "feature_extractor"))
    return wrapper.model, next((tokenizer for tokenizer in tokenizers if tokenizer is not None), None)


def _of_sentence_transformer(wrapper: Any) -> Pair:
    """The model in the first of its modules; a CrossEncoder of older releases has it itself."""
    first = wrapper[0] if isinstance(wrapper, nn.Sequential) and len(wrapper) else wrapper
    inner = getattr(first, "auto_model", None) or getattr(first, "model", None)
    return (first if inner is None else inner), getattr(first, "tokenizer", None)


def _of_attribute(name: str) -> Callable[[Any], Pair]:
    return lambda wrapper: (getattr(wrapper, name), None)


_WRAPPERS: dict[tuple[str, str], Callable[[Any], Pair]] = {  # by package and class
    ("torch", "OptimizedModule"): _of_attribute("_orig_mod"),
    ("torch", "DataParallel"): _of_attribute("module"),
    ("torch", "DistributedDataParallel"): _of_attribute("module"),
    ("torch", "AveragedModel"): _of_attribute("module"),
    ("peft", "PeftModel"): _of_peft,
    ("peft", "PeftMixedModel"): _of_peft,
    ("transformers", "Pipeline"): _of_pipeline,
    ("transformers", "Trainer"): lambda wrapper: (wrapper.model, wrapper.processing_class),
    ("sentence_transformers", "SentenceTransformer"): _of_sentence_transformer,
    ("sentence_transformers", "CrossEncoder"): _of_sentence_transformer,
    ("model", "Reader"): lambda wrapper: (wrapper.model, wrapper.tokenizer),
}


def _refusal(model: Any, outermost: Any) -> ValueError:
    """Says that something is not a model of transformers, and what can be given in its place."""
    from transformers import PreTrainedModel

    name = type(model).__name__
    if isinstance(model, str):
        return ValueError(f"{EXPECTED}; the name of one is for load_model({model!r})")
    if isinstance(model, type):
        return ValueError(f"{EXPECTED}; got the class {model.__name__}, not a model that was made of it")
    if hasattr(model, "convert_ids_to_tokens"):
        return ValueError(f"{EXPECTED}; got the tokenizer {name} in its place: attach(model, tokenizer)")
    if not isinstance(model, nn.Module):
        return ValueError(f"{EXPECTED}; got {'None' if model is None else name}")
    wrapper = "" if model is outermost else f" in a {type(outermost).__name__}"
    parts = (path for path, part in model.named_modules() if isinstance(part, PreTrainedModel))
    if (path := next(parts, None)) is not None:
        return ValueError(f"{EXPECTED}; got the module {name}{wrapper}: give the model in it, its {path}")
    return ValueError(f"{EXPECTED}; got the module {name}{wrapper}")


def _tokenizer(tokenizer: Any) -> Any:
    """What makes inputs, and names of tokens: a tokenizer, of a processor the tokenizer in it, or one of images."""
    if tokenizer is None or (hasattr(tokenizer, "convert_ids_to_tokens") and not isinstance(tokenizer, type)):
        return tokenizer
    if hasattr(getattr(tokenizer, "tokenizer", None), "convert_ids_to_tokens"):
        return tokenizer.tokenizer
    if hasattr(tokenizer, "encode_batch") and hasattr(tokenizer, "id_to_token"):  # of the library tokenizers
        from transformers import PreTrainedTokenizerFast

        return PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    if callable(tokenizer) and not isinstance(tokenizer, nn.Module | type):  # what prepares images or sound
        return tokenizer
    name = tokenizer.__name__ if isinstance(tokenizer, type) else type(tokenizer).__name__
    raise ValueError(f"the tokenizer must be one of transformers, a processor, or None, got {name}")
