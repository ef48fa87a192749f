"""What it costs to see everything that a model of transformers computes, beside its own way to hand out its maps.

    python -m benchmarks.any_model [--model DIR] [--rounds N] [--threads 1 2]

The model is SmolLM2-135M where its folder is given; else a Llama of its sizes with random weights (30 layers of 9 heads
over 3 key-value heads, d_model 576). Ours is `reader.read`, which records every quantity of every attention. Theirs is
a copy of the same model with eager attention and output_attentions=True. Where TransformerLens is installed, a third
copy runs in its TransformerBridge, which is asked for the attention patterns alone. Each side is given token ids, and
ends with one array of all maps and one of the logits. All read the same random tokens, each round others; which goes
first changes.
"""

from __future__ import annotations

import argparse
import copy
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.common import conditions, ratio, spread, table, timed
from model import attach
from model.adapters.loading import load

LENGTHS = (14, 64)  # tokens
NEAR = 1e-4  # maps further apart are not of the same model
WANTED = 1.15  # times the time of eager attention
HEADS = ("threads", "tokens", "side", "ms", "times eager")
Side = Callable[[torch.Tensor], tuple[np.ndarray, np.ndarray]]  # ids (1, T) to maps (layers, heads, T, T) and logits


def random_llama() -> tuple[Any, Any]:
    """A model of SmolLM2-135M's sizes with random weights, and a tokenizer that has a word for each id."""
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    config = LlamaConfig(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM._from_config(config, attn_implementation="eager").eval()
    words = models.WordLevel({f"word{index}": index for index in range(config.vocab_size)}, unk_token="word0")
    return model, PreTrainedTokenizerFast(tokenizer_object=Tokenizer(words))


def ours(model: Any, tokenizer: Any) -> Side:
    """`reader.read`, with all that it records."""
    reader = attach(model, tokenizer)

    def read(ids: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        result = reader.read(input_ids=ids)
        return result.attention("decoder_self"), result.logits

    return read


def eager(model: Any) -> Side:
    """The model's own maps."""

    @torch.inference_mode()
    def read(ids: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        outputs = model(input_ids=ids, output_attentions=True, use_cache=False)
        return torch.cat(outputs.attentions).numpy(), outputs.logits[0].numpy()

    return read


def transformer_lens(model: Any, tokenizer: Any) -> Side | None:
    """The patterns of TransformerLens 4; None where it is not installed."""
    try:
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError:
        return None
    name = "HuggingFaceTB/SmolLM2-135M"  # nothing is fetched: the model is given
    bridge = TransformerBridge.boot_transformers(name, hf_model=model, tokenizer=tokenizer, device="cpu")
    n_layers = model.config.num_hidden_layers

    def is_pattern(name: str) -> bool:
        return name.endswith("hook_pattern")

    @torch.inference_mode()
    def read(ids: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        logits, cache = bridge.run_with_cache(ids, names_filter=is_pattern)
        return torch.cat([cache["pattern", layer] for layer in range(n_layers)]).numpy(), logits[0].numpy()

    return read


def measure(sides: dict[str, Side], n_tokens: int, vocab_size: int, options: argparse.Namespace) -> dict[str, list]:
    """Seconds of each side, all of which must find the same."""
    generator = torch.Generator().manual_seed(n_tokens)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(options.warmup + options.rounds):
        ids = torch.randint(vocab_size, (1, n_tokens), generator=generator)
        order = list(sides)[number % len(sides) :] + list(sides)[: number % len(sides)]
        outputs = {}
        for name in order:
            seconds, outputs[name] = timed(lambda name=name, ids=ids: sides[name](ids), options.cpu)
            times[name].append(seconds)
        for name, (maps, logits) in outputs.items():
            expected_maps, expected_logits = outputs["eager"]
            far = max(np.abs(maps - expected_maps).max(), np.abs(logits - expected_logits).max() / 100)
            if far > NEAR:
                raise RuntimeError(f"{name} and eager differ by {far}")
    return {name: seconds[options.warmup :] for name, seconds in times.items()}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", metavar="DIR", help="a folder with a decoder (default: a random Llama)")
    parser.add_argument("--rounds", type=int, default=15, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    try:
        model, tokenizer = load(options.model) if options.model else random_llama()
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    sides = {"ours": ours(copy.deepcopy(model), tokenizer), "eager": eager(model)}
    if lens := transformer_lens(copy.deepcopy(model), tokenizer):
        sides["TransformerLens"] = lens
    rows, worst = [], 0.0
    for threads in options.threads:
        torch.set_num_threads(threads)
        for n_tokens in LENGTHS:
            times = measure(sides, n_tokens, model.config.vocab_size, options)
            worst = max(worst, statistics.median(times["ours"]) / statistics.median(times["eager"]))
            for name, seconds in times.items():
                rows.append([str(threads), str(n_tokens), name, spread(seconds), ratio(seconds, times["eager"])])
    print(
        f"{options.model or 'a Llama with random weights'}, {sum(p.numel() for p in model.parameters()):,} parameters"
    )
    print(conditions(options))
    print(table(HEADS, rows))
    print(f"\nat most {worst:.2f} times as long as eager attention; wanted: {WANTED}")


if __name__ == "__main__":
    main()
