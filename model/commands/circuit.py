"""What `circuit` prints: the heads that a word comes from, those that these use, and what the answer keeps of them."""

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from model.analysis.circuits import SIDES, Circuit, Edge, HeadName, Node, Place
from model.commands import any_model
from model.commands.circuit_picture import Picture, draw
from model.results.recording import axis_tokens
from model.results.translation import Translation
from model.running.circuit_check import Faithfulness
from model.running.translator import Writer, load_translator
from model.training.data.corpora import read_lines

_KINDS = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}
_MOST_TEXTS = 20  # of a file, over which means are taken


class Source:
    """A system with what it read, and how its heads and tokens are printed."""

    def __init__(self, args: Namespace) -> None:
        self.system: Any = any_model.load(args) if args.model else load_translator(args.checkpoint)
        self.is_reader = bool(args.model)
        self.result = self.read(args.text, args.target)

    def read(self, text: str, target: str | None = None) -> Translation:
        """What the system makes of a text, with a given output where it writes one."""
        if self.is_reader:
            return self.system.read(text=text, **({} if target is None else {"target": target}))
        if isinstance(self.system, Writer):
            if target is not None:
                raise ValueError("--target is for models that translate")
            return self.system.read(text)
        return self.system.translate(text) if target is None else self.system.force(text, target)

    def word(self, word: str | None) -> str | int | None:
        """A word as the system has it; of a model of transformers its id after a space where that is one token."""
        return self.system.spaced_token(word) if self.is_reader and word is not None else word

    def step(self, args: Namespace) -> int:
        """The step of --step; of a translation that which writes --word, else the last one."""
        if args.step is not None or "cross" not in self.result.kinds:
            return -1 if args.step is None else args.step
        if args.word is None:
            raise ValueError("say which word of the translation: give --word, or --step")
        written = [token.replace("▁", " ").strip() for token in self.result.predicted_tokens]
        if args.word.strip() not in written:
            raise ValueError(
                f"{args.word!r} is not a token of the translation; give --step, one of 0 to {len(written) - 1}, or "
                f"one of its tokens: {', '.join(written)}"
            )
        return written.index(args.word.strip())

    def head(self, head: HeadName | Place) -> str:
        """The name of a head; with its kind of attention where the model has several."""
        name = f"{head.layer}.{head.head}"
        return name if len(self.result.kinds) == 1 else f"{_KINDS[head.kind]} {name}"

    def tokens(self, kind: str, side: int) -> Sequence[str]:
        """The tokens that name the queries (0) or keys (1) of a kind of attention, as in maps."""
        queries, keys, _ = axis_tokens(self.result, kind)
        return (queries, keys)[side]

    def place(self, place: Place) -> str:
        """A head at its token."""
        return f"{self.head(place)} at “{self.tokens(place.kind, 0)[place.position]}” ({place.position})"

    def words(self, circuit: Circuit) -> tuple[str, str | None]:
        """The word of a circuit, and that which it is compared with."""
        ids = [circuit.answer] + ([] if circuit.against is None else [circuit.against])
        words = self.system.words(ids) if self.is_reader else self.system.tokenizer.target.tokens(ids)
        return words[0], words[1] if len(words) > 1 else None


def run(args: Namespace) -> None:
    """Print the circuit of a word, and write it to the files of --json and --svg."""
    if args.texts and args.source:
        raise ValueError("--texts and --from do not go together: heads are replaced by means, or by those of one text")
    source = Source(args)
    step = source.step(args)
    is_written = "cross" in source.result.kinds and args.step is None  # the word at the step is --word itself
    answer = None if is_written else source.word(args.word)
    circuit = source.system.circuit(
        source.result, answer, source.word(args.against), step=step, threshold=args.threshold, most=args.most
    )
    print(*_lines(source, circuit), sep="\n")
    kept = _kept(source, circuit, args)
    print(*_lines_kept(circuit, kept, args), sep="\n")
    report = _report(source, circuit, kept)
    if args.cut_edges:
        report["cuts"] = []
        for line, cut in _cuts(source, circuit):
            print(line, flush=True)
            report["cuts"].append(cut)
    if args.json:
        args.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        print(args.json)
    if args.svg:
        _write_picture(args.svg, source, circuit, kept)
        print(args.svg)


def _lines(source: Source, circuit: Circuit) -> Iterator[str]:
    word, other = source.words(circuit)
    less = f"less that of “{other}”" if other is not None else "less the mean of all words"
    step = source.result.target_tokens[circuit.step]
    yield f"logit of “{word}” {less}, after “{step}” ({circuit.step}): {circuit.logit:.3f}"
    if not circuit.nodes:
        yield "no head adds that much of it: lower --threshold"
        return
    yield "heads: logits that they add themselves, all that come from them (by the gradient), and where they look"
    for node in circuit.nodes:
        yield _node_line(source, node)
    yield "edges: logits that come by them (by the gradient), share of the score where the head looks, or of values"
    for edge in circuit.edges:
        yield f"{edge.amount:+8.3f} {edge.share:7.1%}  {_edge(source, edge)}"


def _node_line(source: Source, node: Node) -> str:
    key = source.tokens(node.place.kind, 1)[node.key]
    own = f"{node.effect:+8.3f}" if node.effect else " " * 8
    return f"{own} {node.amount:+8.3f}  {source.place(node.place)} looks at “{key}” ({node.key}) {node.weight:.2f}"


def _edge(source: Source, edge: Edge) -> str:
    return f"{source.place(edge.source)} -> {SIDES[edge.side]} of {source.place(edge.target)}"


def _kept(source: Source, circuit: Circuit, args: Namespace) -> Faithfulness:
    """What the answer keeps with heads replaced by those of --from, or the means over --texts, or over the text."""
    if args.source:
        return source.system.faithfulness(source.result, circuit, [source.read(args.source)], patched=True)
    others = [source.result]
    if args.texts:
        lines = [line for line in read_lines(args.texts) if line.strip()][:_MOST_TEXTS]
        others = [source.read(line) for line in lines]
    return source.system.faithfulness(source.result, circuit, others)


def _lines_kept(circuit: Circuit, kept: Faithfulness, args: Namespace) -> Iterator[str]:
    by = "means over the positions of this text"
    if args.source:
        by = "what they write in the text of --from"
    elif args.texts:
        by = f"means over the texts of {args.texts.name}"
    yield f"with all other heads replaced by {by}:"
    yield f"{kept.whole:8.3f}          no head replaced"
    yield f"{kept.heads:8.3f} {_share(kept, kept.heads)}  these {len(circuit.heads)} heads left, at all positions"
    yield f"{kept.places:8.3f} {_share(kept, kept.places)}  left at the {len(circuit.nodes)} places above only"
    yield f"{kept.nothing:8.3f}          all replaced"


def _share(kept: Faithfulness, value: float) -> str:
    share = kept.share(value)
    return " " * 7 if share is None else f"{share:7.1%}"


def _cuts(source: Source, circuit: Circuit) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines of each edge cut on its own, and the same for JSON."""
    print(
        "each edge cut on its own: logits lost, by the gradient and really; the largest weight of the head without it"
    )
    for number, cut in enumerate(source.system.cut_edges(source.result, circuit)):
        lost = circuit.logit - cut.logit
        line = f"{cut.edge.amount:+8.3f} {lost:+8.3f}  {_edge(source, cut.edge)}"
        if cut.predicted is not None:
            line += f"; weight {cut.weight:.3f}, predicted {cut.predicted:.3f}, is {cut.actual:.3f}"
        values = {"edge": number, "lost": lost, "weight": cut.weight}
        yield line, values | {"predicted": cut.predicted, "actual": cut.actual}


def _report(source: Source, circuit: Circuit, kept: Faithfulness) -> dict[str, Any]:
    """The circuit as JSON, with its tokens and what it keeps."""
    result = source.result
    word, other = source.words(circuit)
    about = {"text": result.source or result.text, "word": word, "against": other}
    tokens = {"source_tokens": list(result.source_tokens), "target_tokens": list(result.target_tokens)}
    shares = {"share_of_heads": kept.share(kept.heads), "share_of_places": kept.share(kept.places)}
    return about | tokens | circuit.to_dict() | {"faithfulness": vars(kept) | shares}


def _write_picture(path: Path, source: Source, circuit: Circuit, kept: Faithfulness) -> None:
    word, other = source.words(circuit)
    share = kept.share(kept.heads)
    note = "" if share is None else f"; without all other heads {share:.0%} is left"
    title = f"“{word}”" + (f" over “{other}”" if other is not None else "")
    result = source.result
    rows = list(result.target_tokens)
    if result.source_tokens:
        rows = [f"{read} → {written}" for read, written in zip(rows, result.predicted_tokens)]
    picture = Picture(f"{title}: {circuit.logit:.2f} logits{note}", word, result.source_tokens, rows, source.head)
    path.write_text(draw(circuit, picture), encoding="utf-8")
