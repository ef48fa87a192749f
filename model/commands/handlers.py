"""What the commands of `python -m model` do, each as run_NAME."""

import gzip
import json
import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.adapters.marian import import_marian
from model.commands import any_model, circuit, corpus, table, why
from model.commands.refresh import refresh
from model.commands.results import as_json, save
from model.films import file as film_file
from model.films import shipped as films
from model.films import text_run
from model.films.settings import Settings
from model.measures import atlas, checks, context, reports
from model.measures.evaluate import evaluate, evaluate_text, read_pairs
from model.measures.word_links import read_linked_text
from model.results.translation import Translation
from model.running.translator import Translator, Writer, load_translator
from model.storage import checkpoint
from model.text.cleaning import tidy
from model.training.config import RunConfig
from model.training.data.corpora import decoded, read_lines
from model.training.data.download import download
from model.training.growth import find_conflict, widen_feed_forward
from model.training.loop import Trainer, mean
from model.training.presets import PRESETS
from model.training.processes import started
from model.training.state import HISTORY
from model.training.sweeps.board import record_board
from model.training.sweeps.recorder import record_grid

# Of back-translation.
CHUNK = 256  # sentences that are translated and kept at once
MAX_TOKENS = 100  # of a sentence; longer ones are left out, as training leaves them out


def run_checkpoints(args: Namespace) -> None:
    """List the checkpoints with sizes and scores."""
    folder = checkpoint.checkpoints_folder()
    names = checkpoint.available()
    if not names:
        raise ValueError(f"there is no checkpoint in {folder}")
    if args.readme:
        print(table.write(folder))
        return
    for name in names:
        try:
            print(f"{name}: {table.line(folder / name)}")
        except ValueError as error:
            print(f"{name} cannot be read: {error}")


def run_seal(args: Namespace) -> None:
    """Write the hashes of a checkpoint's files into its manifest."""
    for folder in args.folders:
        print(f"{folder / checkpoint.MANIFEST}: {len(checkpoint.seal(folder))} files")
        checkpoint.load(folder)  # reports what cannot be loaded


def run_average(args: Namespace) -> None:
    """Card and history are those of the last, for runs that share a beginning (Wortsman et al. 2022, model soups).

    Feed-forward layers of the others may be narrower than those of the last.
    """
    folders, out = args.folders, args.out
    if len(folders) < 2:
        raise ValueError(f"a mean is of two checkpoints or more, got {len(folders)}")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty: name a new folder")
    *others, last = loaded = [checkpoint.load(folder) for folder in folders]
    for other in others:
        if name := find_conflict(other.model.config.to_dict(), last.model.config.to_dict()):
            raise ValueError(f"{other.folder} and {last.folder} differ in {name}")
        if other.tokenizer.to_json() != last.tokenizer.to_json():
            raise ValueError(f"{other.folder} and {last.folder} have different tokenizers")
    widened = [widen_feed_forward(dict(run.model.named_parameters()), last.model) for run in loaded]
    checkpoint.load_parameters(last.model, mean(widened))
    parts = [
        {key: run.card[key] for key in ("command", "steps", "training_tokens", "training_hours") if key in run.card}
        | {"weights": checkpoint.sha256_of(run.folder / checkpoint.WEIGHTS)}
        for run in loaded
    ]
    card = last.card | {"average_command": args.command_line, "mean_of": parts}
    card.pop("scores", None)  # they were of other weights
    checkpoint.save(out, last.model, last.tokenizer, card)
    if (last.folder / HISTORY).is_file():
        shutil.copyfile(last.folder / HISTORY, out / HISTORY)
    print(f"{out}: the mean of {len(folders)}")


def _translator(args: Namespace) -> Translator:
    loaded = load_translator(args.checkpoint)
    if not isinstance(loaded, Translator):
        raise ValueError(f"the checkpoint {args.checkpoint!r} is a language model: use 'write'")
    return loaded


def _search(args: Namespace) -> dict[str, Any]:
    return {"beam": args.beam, "length_penalty": args.length_penalty}


def run_write(args: Namespace) -> None:
    """Go on with a text by a language model."""
    writer = load_translator(args.checkpoint)
    if not isinstance(writer, Writer):
        raise ValueError(f"the checkpoint {args.checkpoint!r} is a translator: use 'translate'")
    chance = {"temperature": args.temperature, "top_k": args.top_k, "top_p": args.top_p}
    print(writer.write(args.text, args.words, seed=args.seed, **chance))


def run_read(args: Namespace) -> None:
    """Print how probable a model finds each token of a text."""
    any_model.read(args)


def run_circuit(args: Namespace) -> None:
    """Print the circuit of a word."""
    circuit.run(args)


def run_translate(args: Namespace) -> None:
    """Translate texts, or lines of standard input, of which an empty one has an empty translation.

    Lines are read and checked as a whole before the first is translated, those of a terminal one by one.
    """
    why.check(args)
    if args.why or args.cut:
        _explain(args)
        return
    if args.model:
        any_model.translate(args, args.texts or _lines_of_stdin())
        return
    translator = _translator(args)
    search = _search(args)
    if args.texts:
        for text in args.texts:
            result = translator.translate(text, **search)
            print(json.dumps(as_json(result), ensure_ascii=False) if args.json else result.text, flush=True)
        return
    lines = _lines_of_stdin() if sys.stdin.isatty() else list(_lines_of_stdin())
    if args.json:
        for number, line in enumerate(lines, start=1):
            print(json.dumps(_line_as_json(translator, line, number, search), ensure_ascii=False), flush=True)
    elif isinstance(lines, list):
        print(*translator.translate_lines(lines, **search), sep="\n")
    else:
        for line in lines:
            print(*translator.translate_lines([line], **search), flush=True)


def _explain(args: Namespace) -> None:
    """Print one translation, why a head looks where it looks, and the translation with a path cut."""
    if args.model:
        raise ValueError("--why and --cut are for checkpoints here: of a model of transformers use 'read'")
    if args.json or len(args.texts) != 1:
        raise ValueError("--why and --cut are about one TEXT, without --json")
    translator = _translator(args)
    search = _search(args)
    [text] = args.texts
    result = translator.translate(text, **search)
    lines = [result.text, *why.explained(translator, result, args)]
    if args.cut:
        path = why.cut_path(translator, result, args)
        lines += why.compared(path, result, args)
        lines.append(translator.translate(text, edits=path.edits, **search).text)
    print(*lines, sep="\n")


def _lines_of_stdin() -> Iterator[str]:
    """The lines of standard input, UTF-8 whatever the terminal's encoding, perhaps with a byte order mark and CRLF.

    A ValueError names a line that is not UTF-8.
    """
    for number, line in enumerate(getattr(sys.stdin, "buffer", sys.stdin), start=1):
        text = decoded(line, f"standard input, line {number}") if isinstance(line, bytes) else line
        yield (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")


def _line_as_json(translator: Translator, line: str, number: int, search: Mapping[str, Any]) -> dict:
    if not tidy(line):
        lists = ("source_tokens", "target_tokens", "predicted_tokens", "log_probabilities", "hypotheses")
        return {"source": "", "text": ""} | {name: [] for name in lists}
    try:
        return as_json(translator.translate(line, **search))
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None


def run_trace(args: Namespace) -> None:
    """Write every recorded array of a translation to a file."""
    _, result = _recorded(args)
    save(args.out, result, result.trace)


def run_effects(args: Namespace) -> None:
    """Write the direct effects on each written word to a file."""
    system, result = _recorded(args)
    effects = system.effects(result, args.against)
    lens = system.lens(result)
    arrays = {"logits": effects.logits, "rest": effects.rest}
    arrays |= {f"heads.{kind}": effects.heads(kind) for kind in effects.kinds}
    arrays |= {f"parts.{name}": part for name, part in effects.parts.items()}
    arrays |= {f"lens.{name}": getattr(lens, name) for name in ("sublayers", "words", "probabilities")}
    if effects.alternatives is not None:
        arrays["alternatives"] = system.tokenizer.target.tokens(effects.alternatives.tolist())
    if not isinstance(system, Writer):
        arrays["occlusion"] = system.occlusion(result)
    save(args.out, result, arrays)


def _recorded(args: Namespace) -> tuple[Translator | Writer, Translation]:
    system = load_translator(args.checkpoint)
    if isinstance(system, Writer):
        return system, system.read(args.text)
    return system, system.translate(args.text, **_search(args))


def run_import(args: Namespace) -> None:
    """Convert a model of another library to a checkpoint."""
    card = import_marian(args.name, args.out, args.revision, args.command_line)
    print(
        f"{args.out}: {card['parameters']:,} parameters; on random tokens its logits differ from the original's "
        f"by {card['difference']:.1g} at most"
    )


def run_evaluate(args: Namespace) -> None:
    """Score a checkpoint over a file, print the scores as JSON and keep them on its card where asked."""
    system = load_translator(args.checkpoint)
    if isinstance(system, Writer):
        if args.by_length:
            raise ValueError(f"--by-length is for translators; {args.checkpoint!r} is a language model")
        scores = evaluate_text(system, list(read_lines(args.data)))
    else:
        pairs = read_pairs(args.data)
        scores = evaluate(system, pairs, **_search(args), lowercase=args.lowercase, by_length=args.by_length)
    if args.save_as:
        scores_with_command = scores | {"command": args.command_line}
        checkpoint.keep_scores(system.folder, system.card, args.save_as, scores_with_command)
    print(json.dumps(scores))


def run_atlas(args: Namespace) -> None:
    """Print the strongest heads of a model over a file, and write the numbers of all, of a checkpoint beside it."""
    if min(args.sentences, args.bleu_sentences + 1) < 1:
        raise ValueError("--sentences must be at least 1, --bleu-sentences 0")
    if args.resume and not args.corpus:
        raise ValueError("--resume is for an index: give --corpus, too")
    if args.model and (args.links or args.bleu_sentences):
        raise ValueError("--links and --bleu-sentences are for checkpoints that translate")
    if args.corpus:
        corpus.make_index(args)
        return
    links = [read_linked_text(paths) for paths in args.links]
    model = any_model.load(args) if args.model else load_translator(args.checkpoint)
    texts: Sequence[Any] = [text for path in args.data for text in corpus.texts_in(model, path)]
    references: Sequence[str] = ()
    if isinstance(model, Translator):
        texts, references = zip(*texts)
    out = args.out if args.model else args.out or model.folder / atlas.FILE
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)  # says now if it cannot be written
    report = atlas.measure(
        model,
        texts,
        args.sentences,
        references=references,
        bleu_sentences=args.bleu_sentences,
        links=links,
        say=_say,
    )
    print(f"{report['sentences']} texts, {report['tokens']:,} tokens")
    print(*atlas.strongest(report), sep="\n")
    if out:
        reports.write(out, corpus.about(args) | report)
        print(out)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run_check(args: Namespace) -> None:
    """Check the claims about a checkpoint's numbers."""
    if args.sentences < 1:
        raise ValueError(f"--sentences must be at least 1, got {args.sentences}")
    sources = [source for source, _ in read_pairs(args.data)[: args.sentences]]
    translator = _translator(args)
    report = {"command": args.command_line, "data": args.data.name}
    report |= checks.measure(translator, sources, _say)
    if args.save:
        reports.write(translator.folder / checks.FILE, report)
    print(json.dumps(report))


def run_context(args: Namespace) -> None:
    """Measure how the loss depends on the position of a token."""
    writer = load_translator(args.checkpoint)
    if not isinstance(writer, Writer):
        raise ValueError(f"the loss by position is of a language model; {args.checkpoint!r} is a translator")
    report = {"command": args.command_line, "data": args.data.name}
    report |= context.measure(writer, list(read_lines(args.data)), _say)
    if args.save:
        reports.write(writer.folder / context.FILE, report)
    print(json.dumps(report))


def run_refresh(args: Namespace) -> None:
    """Measure again whatever depends on a checkpoint's weights, and say what changed."""
    if unknown := [name for name in args.names if name not in checkpoint.available()]:
        raise ValueError(f"there is no checkpoint {unknown[0]!r}; there are {', '.join(checkpoint.available())}")
    refresh(args.names, args.pictures, args.main, print)


def run_train(args: Namespace) -> None:
    """Train a preset or a configuration, or go on with a run."""
    name = args.config
    if name not in PRESETS and not name.endswith(".json"):
        raise ValueError(f"unknown preset {name!r}; there are {', '.join(PRESETS)}, or give a CONFIG.json")
    run = PRESETS[name] if name in PRESETS else RunConfig.from_dict(checkpoint.read_json(Path(name)))
    options = {name: value for name in ("steps", "data") if (value := getattr(args, name)) is not None}
    run = replace(run, training=replace(run.training, **options))
    # Being told to end is answered like Ctrl-C: the state is saved.
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell lets what it starts with "&" ignore the first
        signal.signal(ending, signal.default_int_handler)
    names = ("data_dir", "out", "command_line", "resume", "start_from", "tokenizer")
    with started() as processes:
        try:
            Trainer(run, *(getattr(args, name) for name in names), processes=processes).train()
        except KeyboardInterrupt:
            if processes.is_first:
                raise
            raise SystemExit(130) from None  # one process says it for all


def run_backtranslate(args: Namespace) -> None:
    """Make pairs to train the other direction with: a later model learns to write what people wrote, and reads this
    one's translation (Sennrich et al. 2016, "Improving Neural Machine Translation Models with Monolingual Data").
    """
    translator = _translator(args)
    out = args.out
    languages = (translator.card.get("source"), translator.card.get("target"))
    if languages not in (("en", "de"), ("de", "en")):
        raise ValueError(f"the card of {translator.name!r} does not say that it translates between en and de")
    if not out.name.endswith(".tsv.gz"):
        raise ValueError(f"the corpus is a file NAME.tsv.gz, got {out}")
    if out.exists():
        raise ValueError(f"{out} is there already: move it away, or choose another --out")
    files = {"weights": translator.folder / checkpoint.WEIGHTS, "data": args.data}
    about = {name: checkpoint.sha256_of(path) for name, path in files.items()} | _search(args)
    out.parent.mkdir(parents=True, exist_ok=True)
    begun = out.with_name(out.name + ".begun")
    n_done = _begin(begun, json.dumps(about), args.resume)
    lines = [tidy(line) for line in read_lines(args.data)]
    limit = min(MAX_TOKENS, translator.config.max_length)
    with begun.open("a", encoding="utf-8", newline="\n") as file, tqdm(total=len(lines), initial=n_done) as bar:
        for start in range(n_done, len(lines), CHUNK):
            chunk = lines[start : start + CHUNK]
            short = [text for text in chunk if text and len(translator.tokenizer.source.encode(text)) < limit]
            translations = dict(zip(short, translator.translate_lines(short, **_search(args))))
            for text in chunk:
                translation = translations.get(text, "")
                pair = (text, translation) if languages[0] == "en" else (translation, text)
                file.write(("\t".join(pair) if translation else "") + "\n")
            file.flush()
            bar.update(len(chunk))
    pairs = [line + "\n" for line in read_lines(begun) if "\t" in line]
    with checkpoint.replacing(out) as out_file:
        out_file.write_bytes(gzip.compress("".join(pairs).encode()))
    begun.unlink()
    left_out = len(lines) - len(pairs)
    print(f"{out}: {len(pairs)} pairs; {left_out} sentences were empty, too long or left without a translation")


def _begin(begun: Path, header: str, resume: bool) -> int:
    """Make OUT.begun, or cut it after its last whole line; returns how many sentences are done.

    It has a header that says what is translated with what, and for each sentence its pair or an empty line.
    """
    if resume and not begun.exists():
        raise ValueError(f"there is nothing to resume: no {begun}")
    lines = checkpoint.read_text(begun, limit=1_000_000_000).split("\n")[:-1] if begun.exists() else []
    if not resume and lines[1:]:
        raise ValueError(f"{begun} holds a translation that was interrupted: pass --resume, or delete it")
    if resume and lines[:1] != [header]:
        raise ValueError(f"{begun} was begun with another checkpoint, other data or another search: delete it")
    rows = lines if resume else [header]
    checkpoint.write_text(begun, "".join(line + "\n" for line in rows))
    return len(rows) - 1


def run_board(args: Namespace) -> None:
    """Measure what each change of architecture since 2017 is worth."""
    record_board(args.data_dir, args.out, args.command_line, args.resume)


def run_film(args: Namespace) -> None:
    """Film a run, and say how far it came."""
    is_text = args.task == text_run.TASK
    changes = films.read_settings(args.set, text_run.TextSettings if is_text else Settings)
    settings = text_run.TextSettings(**changes) if is_text else Settings.of(args.task, **changes)
    if args.out.is_dir():
        raise ValueError(f"{args.out} is a folder: --out names a file")
    args.out.parent.mkdir(parents=True, exist_ok=True)  # says now if it cannot be written
    if isinstance(settings, text_run.TextSettings):
        if args.data_dir is None:
            raise ValueError("a film of wikitext-2 needs --data-dir, the folder with wikitext-2/")
        film = text_run.film_text(settings, args.data_dir, lambda so_far: film_file.save(so_far, args.out))
    else:
        film = films.make(settings)
    film_file.save(film, args.out)
    end = "solved" if film.is_solved else f"{film.right[-1]:.1%} right"
    print(f"{args.out}: {film.n_frames} frames, {len(film.losses)} steps, {end}")


def run_grid(args: Namespace) -> None:
    """Train the grid of small runs."""
    record_grid(args.data_dir, args.out, args.command_line, args.resume, args.only, args.mistakes)


def run_download(args: Namespace) -> None:
    """Fetch a corpus."""
    download(args.name, args.data_dir)
