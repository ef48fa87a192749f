"""What the heads of a model do over the lines of a text: where they look, and what they repeat."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from model.adapters.readers.inputs import batches
from model.adapters.readers.layout import DECODER
from model.analysis import head_roles
from model.analysis.head_roles import Tally
from model.analysis.repetitions import Repetitions, repetitions
from model.results.recording import SIDES, axis_tokens
from model.running.translator import Writer

REPEATED = 25  # random tokens, read twice
DRAWS = 4  # of them
FREQUENT = 1 / 3  # of the weight, from which a head is named by what it repeats
LEAST_ROWS = 4  # tokens of one text that occurred before, with less of which no head is named by what it repeats
MOVES = 0.03  # of what heads add to a word's logit, from which one that adds it from where the word stands is a mover
EXAMPLES = 3  # texts that are kept of each head
NAME_MOVER = "name mover"
_ROLES = {"induction": "induction", "duplicate": "duplicate token"}
_PLACES = 4  # decimals


def measure(
    reader: Any,
    texts: Sequence[str],
    sentences: int,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[float], object] = lambda share: None,
) -> dict[str, Any]:
    """Measure every head on texts, and those of a decoder also on random tokens that are repeated.

    Args:
        reader: a model of transformers, or a language model of this project.
        texts: lines; those that the model cannot read are left out.
        sentences: how many are read, spread evenly over the texts.
        say: called with how far it is.
        progress: called with the share of the texts that are read.

    Returns:
        JSON: "sentences", "tokens", "texts" (those that were read) and "kinds": for each kind the "layers" as the model
        numbers them, and of each head (L, H) the means of `head_roles.NUMBERS` over rows, its "role" and "examples":
        the texts in which it attends most to a token that is neither the first one nor the query, each as [text, row,
        column, query, key, weight]. Of a decoder also "induction" and "duplicate", on random tokens
        (`model.analysis.repetitions`): a head that puts FREQUENT of its weight there has that role. Where direct
        effects are exact, and names that the model predicts stood in their text before, also "moves": the share of each
        head in all that heads add directly to the logits of these names, from where they stood. A head with MOVES of it
        that has no role by what it repeats is a name mover.

    Raises:
        ValueError: if no text can be read.
    """
    lines = [line for line in texts if line.strip()]
    step = max(1, len(lines) / sentences)
    sample = [lines[int(place * step)] for place in range(min(sentences, len(lines)))]
    tallies: dict[str, Tally] = {}
    layers: dict[str, list[int]] = {}
    examples: dict[str, list[list]] = {}
    movers = Movers() if _has_effects(reader) else None
    read: list[str] = []
    n_tokens = 0
    for number, text, result in _readings(reader, sample, progress):
        for kind in result.kinds:
            tally_of_kind = tally(result, kind)
            tallies[kind] = tallies[kind] + tally_of_kind if kind in tallies else tally_of_kind
            layers[kind] = result.layers(kind)
            _add_examples(examples.setdefault(kind, []), result, kind, len(read))
        if movers is not None:
            movers.add(reader, result)
        read.append(text)
        n_tokens += len(result.source_tokens or result.target_tokens)
        if number % 20 == 0:
            say(f"{number} of {len(sample)} texts")
    if not read:
        raise ValueError("no line of the file is a text that the model can read")
    kinds = {
        kind: {
            "layers": layers[kind],
            **{name: _rounded(values) for name, values in role_tally.numbers().items()},
            "role": head_roles.roles(role_tally, kind),
            "examples": examples[kind],
        }
        for kind, role_tally in tallies.items()
    }
    if _is_decoder(reader):
        values = kinds["decoder_self"]
        if movers is not None and movers.steps:
            values["moves"] = _rounded(movers.shares())
            for layer, head in np.argwhere(movers.shares() >= MOVES):
                values["role"][layer][head] = NAME_MOVER
        _add_repetitions(reader, values)
    return {"sentences": len(read), "tokens": n_tokens, "texts": read, "kinds": kinds}


def _readings(reader: Any, texts: Sequence[str], progress: Callable[[float], object]) -> Iterator[tuple[int, str, Any]]:
    """The number from 1, the text and the recording of each text that is not too long for a model."""
    lengths = {number: length for number, text in enumerate(texts, start=1) if (length := _length(reader, text))}
    numbers = list(lengths)
    for group in batches.groups(list(lengths.values())):
        of_group = [texts[numbers[row] - 1] for row in group]
        progress(numbers[group[0]] / len(texts))
        results = map(reader.read, of_group) if isinstance(reader, Writer) else reader.read_batch(of_group)
        for row, text, result in zip(group, of_group, results):
            progress(numbers[row] / len(texts))
            yield numbers[row], text, result


def _length(reader: Any, text: str) -> int:
    """The tokens of a text; 0 of one that a model cannot read."""
    try:
        ids = reader.ids(text) if isinstance(reader, Writer) else reader.encode(text)["input_ids"][0]
    except ValueError:
        return 0
    return len(ids)


@dataclass
class Movers:
    """Sums of what heads add directly to names that are predicted and stood in their text before; they grow by text."""

    steps: int = 0  # at which the next word stood before
    contributions: Any = 0.0  # (L, H), what each head added from where it stood
    total: float = 0.0  # what all heads that add to it added together

    def add(self, reader: Any, result: Any) -> None:
        """Count the steps of a text at which a decoder predicts the word that comes."""
        tokens = result.target_tokens
        effects = reader.effects(result).heads("decoder_self")
        best = result.trace["logits"].argmax(axis=-1)  # (T,)
        for step in np.flatnonzero(best == result.predicted_ids):
            word = result.predicted_tokens[step]
            self.count(effects[:, :, step, : step + 1], tokens[: step + 1], word)

    def count(self, values: np.ndarray, tokens: Sequence[str], word: str) -> None:
        """Count a step: what heads add (L, H, S) from S tokens to the word that follows them, if it may be a name.

        A name begins with a capital letter, or with a letter of a script without capital ones.
        """
        stands = np.array([_bare(token) == _bare(word) for token in tokens])
        if not _bare(word)[:1].isalpha() or _bare(word)[0].islower() or not stands.any():
            return
        values = values.astype(np.float64)
        self.steps += 1
        self.contributions = self.contributions + values[:, :, stands].sum(axis=-1)
        self.total += values.clip(min=0).sum()

    def shares(self) -> np.ndarray:
        """The share (L, H) of each head; 0 where heads add nothing."""
        return self.contributions / self.total if self.total > 0 else np.zeros_like(self.contributions)


def _has_effects(reader: Any) -> bool:
    """Whether a model of transformers is a decoder whose direct effects on the next word are exact."""
    if isinstance(reader, Writer):
        return False
    try:
        reader.check_effects()
    except ValueError:
        return False
    return _is_decoder(reader)


def _is_decoder(reader: Any) -> bool:
    return isinstance(reader, Writer) or reader.config.task == DECODER


def _add_examples(examples: list[list], result: Any, kind: str, text: int) -> None:
    """Add to each head's examples (L, H) its largest weight in a text; the EXAMPLES largest stay."""
    queries, keys, _ = axis_tokens(result, kind)
    weights = result.attention(kind).copy()
    weights[..., 0] = 0
    if kind != "cross":
        np.einsum("lhtt->lht", weights)[:] = 0
    if not examples:
        examples += [[[] for _ in layer] for layer in weights]
    places = weights.reshape(*weights.shape[:2], -1).argmax(axis=-1)
    for layer, head in np.ndindex(places.shape):
        row, column = divmod(int(places[layer, head]), weights.shape[-1])
        value = round(float(weights[layer, head, row, column]), _PLACES)
        if value:
            candidates = [*examples[layer][head], [text, row, column, queries[row], keys[column], value]]
            examples[layer][head] = sorted(candidates, key=lambda example: -example[-1])[:EXAMPLES]


def in_one_text(result: Any, kind: str, effects: np.ndarray | None = None) -> list[list[str]]:
    """What each head of a kind does in one text, (L, H) names: those of `head_roles.roles` and, of self-attention of a
    decoder, where tokens occur again, what FREQUENT of its weight repeats.

    Args:
        effects: direct effects in logits (L, H, T, T) of a text without a source, where they are known: then heads that
            move the next word from where it stands (`moves`) are name movers.
    """
    roles = head_roles.roles(tally(result, kind), kind)
    if kind != "decoder_self":
        return roles
    _, ids = np.unique(result.target_tokens, return_inverse=True)
    repeated = repetitions(result.attention(kind), ids.tolist())
    if repeated.rows >= LEAST_ROWS:
        _name_repeating(roles, repeated.means())
    if effects is not None and not result.source_tokens:
        for layer, head in np.argwhere(moves(effects, result.target_tokens, result.predicted_tokens[-1]) >= MOVES):
            roles[layer][head] = NAME_MOVER
    return roles


def moves(effects: np.ndarray, tokens: Sequence[str], word: str) -> np.ndarray:
    """How much each head adds to the logit of the next word from the places of a text where that word stands.

    Name movers copy a name to the output (Wang et al. 2022, "Interpretability in the Wild"). Shares (L, H) of all that
    heads add to it, at the last step; 0 where the word is not a name (`Movers.count`), does not stand in the text, or
    heads add nothing.

    Args:
        effects: direct effects in logits (L, H, T, T): what each head adds from each token.
        tokens: the text's, T.
        word: the token that comes next.

    Example:
        >>> effects = np.zeros((1, 2, 3, 3))
        >>> effects[0, :, 2] = [[0.9, 0.0, 0.1], [0.0, 1.0, 0.0]]
        >>> moves(effects, ["Mary", "gave", "to"], " Mary").tolist()
        [[0.45, 0.0]]
    """
    movers = Movers()
    movers.count(effects[:, :, -1], tokens, word)
    return movers.shares() if movers.steps else np.zeros(effects.shape[:2])


def _bare(token: str) -> str:
    """A token without the mark of the space before it."""
    return token.lstrip(" ▁")


def strongest(report: dict[str, Any], most: int = 5) -> list[str]:
    """Lines: of each role how many heads have it and, for what heads are known by, the strongest."""
    lines = []
    for kind, values in report["kinds"].items():
        for name in ("induction", "duplicate", "previous", "first", "moves"):
            if name not in values:
                continue
            numbers = np.array(values[name])
            best = np.argsort(-numbers, axis=None, kind="stable")[:most]
            heads = (divmod(int(place), numbers.shape[1]) for place in best)
            top = ", ".join(f"{values['layers'][row]}-{head} {numbers[row, head]:.2f}" for row, head in heads)
            if name == "moves":
                share = f"{int((numbers >= MOVES).sum())} of {numbers.size} heads add at least {MOVES:.0%}"
                lines.append(f"{kind} name movers: {top}; {share} of what all add directly to names that stood before")
                continue
            share = int((numbers > 0.5).sum())
            lines.append(
                f"{kind} {name}: {top}; {share} of {numbers.size} heads put more than half of their weight there"
            )
    return lines


def tally(result: Any, kind: str) -> Tally:
    """The tally of one text, layer by layer where their masks differ."""
    weights = result.attention(kind)
    mask = result.mask(kind)
    keys = getattr(result, f"{SIDES[kind][1]}_tokens")
    if mask.ndim == 2:
        return head_roles.tally(weights, mask, keys)
    parts = [head_roles.tally(weights[i : i + 1], mask[i], keys) for i in range(len(weights))]
    return Tally(
        rows=np.concatenate([part.rows for part in parts]),
        sums=np.concatenate([part.sums for part in parts], axis=1),
        largest=np.concatenate([part.largest for part in parts]),
        possible=np.concatenate([part.possible for part in parts]),
        mass=np.concatenate([part.mass for part in parts]),
    )


def _add_repetitions(reader: Any, values: dict[str, Any]) -> None:
    """Add "induction" and "duplicate" to the numbers of decoder heads, and to their roles."""
    draw = np.random.default_rng(0)
    draws = _words_drawn(reader, draw) if isinstance(reader, Writer) else _tokens_drawn(reader, draw)
    total = next(draws)
    for repeated in draws:
        total += repeated
    means = total.means()
    for name, numbers in means.items():
        values[name] = _rounded(numbers)
    _name_repeating(values["role"], means)


def _tokens_drawn(reader: Any, draw: np.random.Generator) -> Iterator[Repetitions]:
    """What heads of a decoder of transformers repeat where it reads random tokens twice, in DRAWS texts."""
    special = set(reader.tokenizer.all_special_ids)
    begin = [index for index in reader.tokenizer("a")["input_ids"][:1] if index in special]
    ordinary = np.array([index for index in range(len(reader.tokenizer)) if index not in special])
    count = min(REPEATED, len(ordinary), (reader.max_tokens - len(begin)) // 2)

    rows = [[*begin, *2 * draw.choice(ordinary, count, replace=False).tolist()] for _ in range(DRAWS)]
    for ids, result in zip(rows, reader.read_batch(input_ids=torch.tensor(rows))):
        yield repetitions(result.attention("decoder_self"), ids)


def _words_drawn(writer: Writer, draw: np.random.Generator) -> Iterator[Repetitions]:
    """What heads of a language model of this project repeat where it reads random words twice, in DRAWS texts."""
    special = (writer.tokenizer.eos_id, writer.tokenizer.unk_id)
    ordinary = np.array([index for index in range(len(writer.tokenizer)) if index not in special])
    count = min(REPEATED, len(ordinary), (writer.config.max_length - 1) // 2)

    for _ in range(DRAWS):
        words = writer.tokenizer.tokens(draw.choice(ordinary, count, replace=False).tolist())
        result = writer.read(" ".join(2 * words))
        _, ids = np.unique(result.target_tokens, return_inverse=True)
        yield repetitions(result.attention("decoder_self"), ids.tolist())


def _name_repeating(roles: list[list[str]], means: dict[str, np.ndarray]) -> None:
    """Name the heads after what they repeat, where that holds FREQUENT of their weight."""
    for layer, row in enumerate(roles):
        for head in range(len(row)):
            best = max(means, key=lambda name: means[name][layer, head])
            if means[best][layer, head] > FREQUENT:
                row[head] = _ROLES[best]


def _rounded(values: np.ndarray) -> list:
    return np.round(np.asarray(values, dtype=np.float64), _PLACES).tolist()
