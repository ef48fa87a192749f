"""What `read` and `translate` do with a model of transformers (`--model`)."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from model.adapters.loading import load_model
from model.adapters.readers.inputs.chat import message_of
from model.adapters.readers.layout import DECODER, ENCODER_DECODER
from model.commands import patches, why
from model.commands.heads import head_of
from model.commands.results import as_json, save
from model.interventions.edits import Edits

LENGTH_PENALTY = 0.6  # the default of checkpoints
MOST_WORDS, MOST_HEADS = 5, 10  # that are printed


def load(args: Namespace) -> Any:
    """The reader that --model and --revision name; a download shows its progress on stderr."""
    bar: tqdm | None = None

    def progress(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total:
            bar = tqdm(total=total, desc=args.model, unit="B", unit_scale=True, disable=None, dynamic_ncols=True)
        if bar is not None:
            bar.update(done - bar.n)

    try:
        return load_model(args.model, args.revision, progress)
    finally:
        if bar is not None:
            bar.close()


def read(args: Namespace) -> None:
    """Print what a model predicts or writes, without the heads of --off, too; print --effects, and write --out."""
    if args.against and not args.effects:
        raise ValueError("--against needs --effects: the word whose logit is explained")
    why.check(args)
    patches.check(args)
    reader = load(args)
    if args.target is not None and reader.config.task != ENCODER_DECODER:
        raise ValueError(f"--target is for encoder-decoders; a {reader.config.architecture} is not one")
    given: dict[str, Any] = {"messages": message_of(args.text)} if args.chat else {"text": args.text}
    given |= {} if args.target is None else {"target": args.target}
    runs = [reader.read(**given)]
    if args.off:
        runs.append(reader.read(**given, edits=heads_off(args.off, reader.config.kinds)))
    about_patches: list[str] = []
    if args.patch:
        heads = heads_off(args.patch, reader.config.kinds, "--patch")
        changed, about_patches = patches.patched(args, reader, given, runs[0], heads)
        runs.append(changed)
    result = runs[-1]
    lines = [describe(reader.config), *predictions(reader, runs, "changed"), *about_patches]
    lines += why.explained(reader, result, args)
    if args.cut:
        path = why.cut_path(reader, result, args)
        lines += why.compared(path, result, args)
        lines += predictions(reader, [result, path.result], "with the path cut")
    print(*lines, sep="\n")
    arrays = {}
    if args.effects:
        words = [reader.spaced_token(word) for word in (args.effects, args.against) if word]
        effects = reader.effects(result, words[0], against=words[1] if len(words) > 1 else None)
        print(*strongest_heads(effects, result), sep="\n")
        arrays = {f"heads.{kind}": effects.heads(kind) for kind in effects.kinds}
    if args.out:
        save(args.out, result, {**result.trace, **arrays})


def translate(args: Namespace, texts: Iterable[str]) -> None:
    """Print one translation per line."""
    if args.length_penalty != LENGTH_PENALTY:
        raise ValueError("--length-penalty is for checkpoints: a model of transformers brings its own")
    reader = load(args)
    if reader.config.task != ENCODER_DECODER:
        raise ValueError(f"a {reader.config.architecture} does not translate: use 'read'")
    for text in texts:
        if args.json:
            print(json.dumps(as_json(reader.translate(text, beam=args.beam)), ensure_ascii=False), flush=True)
        else:
            print(reader.translate(text, beam=args.beam).text if text.strip() else "", flush=True)


def heads_off(codes: Iterable[str], kinds: Sequence[str], option: str = "--off") -> Edits:
    """The edit that switches heads off, of codes like "23-0" or "c0-1"; `kinds` are those that the model has."""
    return Edits(off=tuple(head_of(option, code, kinds) for code in codes))


def describe(config: Any) -> str:
    """Layers and heads of each kind of attention, in one line."""
    parts = []
    for kind in config.kinds:
        layers = config.layers(kind)
        heads = max(layer.n_heads for layer in layers)
        shared = min(layer.n_key_value_heads for layer in layers)
        groups = f" over {shared} key-value heads" if shared < heads else ""
        parts.append(f"{kind} {len(layers)} layers of {heads} heads{groups}")
    return f"{config.architecture}: {', '.join(parts)}"


def predictions(reader: Any, runs: Sequence[Any], change: str) -> Iterator[str]:
    """Lines for recordings of one text, the unchanged one first: what the model predicts, or writes."""
    result = runs[0]
    beside = f", and {change}" if len(runs) > 1 else ""
    if reader.config.task == ENCODER_DECODER:
        yield f"{len(result.source_tokens)} tokens; the text that it writes, and its log-probability{beside}:"
        for run in runs:
            yield f"{run.log_probabilities.sum():8.3f}  {run.text}"
    elif "logits" not in result.trace:
        yield "this model has no output over words, so there are maps only"
    elif reader.config.task == DECODER:
        yield f"{len(result.target_tokens)} tokens; the most probable next words{beside}:"
        chances = np.stack([_softmax(run.logits[-1]) for run in runs])  # (runs, V)
        best = np.argsort(-chances, axis=1, kind="stable")[:, :MOST_WORDS]
        ids = list(dict.fromkeys(best.ravel().tolist()))
        for index, word in zip(ids, reader.words(ids)):
            yield "".join(f"{chance:8.3f}" for chance in chances[:, index]) + f"  {word}"
    else:
        yield f"{len(result.source_tokens)} tokens; masked words{beside}:"
        for place in result.masked_words:
            for run in runs:
                words = ", ".join(f"{word} {chance:.3f}" for word, chance in run.masked_words[place])
                yield f"   at {place}: {words}"
        if not result.masked_words:
            yield f"   none: write {reader.tokenizer.mask_token} in place of a word"


def strongest_heads(effects: Any, result: Any) -> Iterator[str]:
    """Lines: the heads that add most to the logit at the last step, and the key from which most of it comes."""
    yield f"logit {float(effects.logits[-1]):.3f} at the last step; the heads that add most to it:"
    rows = []
    for kind in effects.kinds:
        contributions = effects.heads(kind)[:, :, -1]  # (layers, heads, keys)
        weights = result.attention(kind)[:, :, -1]
        keys = result.source_tokens if kind == "cross" else result.target_tokens
        for (place, head), total in np.ndenumerate(contributions.sum(axis=-1)):
            key = int(np.abs(contributions[place, head]).argmax())
            name = f"{kind} {result.layers(kind)[place]}-{head}"
            rows.append((total, f"{name:<20} most from {keys[key]} (weight {weights[place, head, key]:.2f})"))
    for total, line in sorted(rows, key=lambda row: -abs(row[0]))[:MOST_HEADS]:
        yield f"{total:+8.3f}  {line}"


def _softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits.astype(np.float64) - logits.max())
    return shifted / shifted.sum()
