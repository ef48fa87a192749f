"""Why there? Heads that look by position, what they do when words are shuffled, and a circuit of two heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.analysis.score_parts import TOKENS
from model.experiments.recorded_circuit import AFTER, INDUCTION, PREVIOUS, QUERY, WORD
from model.experiments.recorded_model import Place
from viz.pages.lessons.card import Link, OnStage, State, Story, card, request_translation, stage_of, view_of
from viz.pages.lessons.why_recorded import OnRecording, row_of, weights
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.stage.payload.message import Version
from viz.text.language import say
from viz.ui.stage import stage_page
from viz.views.cached import Request, cache_results, compute
from viz.views.score_traces import trace_of
from viz.views.view import place_of_head

SENTENCE = request_translation("The little girl gave her old dog a new ball.")
SHUFFLED = request_translation("a new little old gave her girl The ball. dog")
ENCODER = "encoder_self"
FOUR: Sequence[Place] = ((0, 0), (0, 1), (0, 6), (0, 7))  # layer and head, in the encoder
MIXED, BY_POSITION, BY_WORDS = (0, 1), (0, 7), (0, 4)


@cache_results()
def shares() -> tuple[np.ndarray, np.ndarray]:
    """How much of where each head of the encoder looks is decided by position, and by the words at keys: (L, H)."""
    causes = trace_of(SENTENCE).shares().causes(ENCODER)
    return causes["by_position"], causes["by_words"]


def largest_keys(request: Request, head: Place) -> np.ndarray:
    """The key with the largest weight in each row of a head of the encoder, (S,)."""
    return compute(request).attention(ENCODER)[head].argmax(-1)


def above_mean(place: Place, key: int) -> tuple[dict[str, float], float]:
    """The parts of a key, by name, and the score, both above the mean of the keys, in the recorded row of a head."""
    parts = row_of(place).parts
    of_keys = parts.above_mean(parts.of_keys)[:, 0, key]
    return dict(zip(parts.key_names, of_keys.tolist())), float(parts.above_mean(parts.scores)[0, key])


@dataclass(frozen=True)
class FourHeads:
    """The maps of four heads, two beside each other; with the answer how much of each is by position."""

    request: Request

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with their shares."""
        result = compute(self.request)
        recording = replace(result.recording(result.next_words, name=self.request.model), text=None)
        stages = []
        for (layer, head), row in zip(FOUR, (0, 0, 1, 1)):
            name = say("Head {layer}.{head}", layer=layer, head=head)
            small = say("by position {share:.0%}", share=shares()[0][layer, head]) if answered else ""
            setting = {**place_of_head(ENCODER, layer, head), "rings": [], "room": 1 / (2 - row)}
            message = stage_message.message(Version(recording), assets.keep, setting=setting, least=stage_page.LOW)
            stages.append(stage_of(message, (name, small)))
        return {"stages": stages}

    def link(self) -> Link:
        """Where the head that looks most by position is asked why."""
        return "", view_of(self.request).address() | place_of_head(ENCODER, *BY_POSITION) | {"view": "why"}


STORY = Story(
    "Why there?",
    "What decides where a head looks: words, positions, other heads.",
    "Elhage et al. 2021 · Ke et al. 2021 · Olsson et al. 2022 · recorded: SmolLM2-135M, Apache-2.0",
)


@card(
    "Four heads of the first layer of the encoder. A score is a product of a query and a key, and both are sums: of a "
    "word and of its position. So every score can be split into parts.",
    "Three of these heads look almost only by position. Which one does not?",
    "0.0 0.1 0.6 0.7".split(),
    "0.1: positions decide {mixed:.0%} of where it looks; in head 0.0 {first:.0%}, in 0.6 {second:.0%}, in 0.7 "
    "{most:.0%}.",
    "These are shares of the differences between the scores of each row. In head 0.1 the words at the keys decide "
    "{words:.0%}.",
    FourHeads(SENTENCE),
    right=1,
)
def by_position() -> dict:
    of_positions, of_words = shares()
    names = dict(zip(("first", "mixed", "second", "most"), (of_positions[head] for head in FOUR)))
    return names | {"words": of_words[MIXED]}


@card(
    "Head 0.7. In most rows its largest weight lies just right of the diagonal, on the next token. Now the words are "
    "shuffled: “a new little old gave her girl The ball. dog”.",
    "Where does it look then?",
    ("At the words that it looked at before", "At the same places, whatever stands there", "Everywhere alike"),
    "In {same} of {total} rows the largest weight stays in its place: this head reads positions, not words.",
    "In head 0.4, {share:.0%} by position, it stays in {other} of {total}.",
    OnStage(SENTENCE, {"kind": ENCODER, "at": BY_POSITION}, after=SHUFFLED),
    right=1,
)
def shuffled() -> dict:
    same, other = (
        int((largest_keys(SENTENCE, head) == largest_keys(SHUFFLED, head)).sum()) for head in (BY_POSITION, BY_WORDS)
    )
    total = len(compute(SENTENCE).source_tokens)
    return {"same": same, "total": total, "other": other, "share": shares()[0][BY_WORDS]}


@card(
    "SmolLM2-135M reads ten random words, then the same ten again. From the second “cat”, head 18.6 looks at “seven”, "
    "which came after the first “cat”: an induction head.",
    "What does it find at “seven”?",
    ("The word “seven”", "What an earlier head wrote there", "Its position"),
    "What head 16.0 wrote there: {part:.1f} of a score of {sum:.1f} above the mean of the keys.",
    "The word itself adds {word:.1f}. Click “head 16.0” in the sentence above the picture, then “Why” again: this is "
    "how to walk along a circuit.",
    OnRecording(
        {"layer": INDUCTION[0], "head": INDUCTION[1], "row": QUERY, "pin": f"t{QUERY}"},
        {"view": "why", "key": AFTER},
    ),
    right=1,
)
def found() -> dict:
    parts, total = above_mean(INDUCTION, AFTER)
    return {"part": parts["head {}.{}".format(*PREVIOUS)], "sum": total, "word": parts[TOKENS]}


@card(
    "So head 16.0 wrote at “seven” what head 18.6 finds there. A click on its name opens its map, at that row.",
    "Where does head 16.0 look from “seven”?",
    ("At “seven” itself", "At “cat”, the word before", "At “river”, the first word"),
    "At “cat”, with a weight of {weight:.2f}. In {n} of {total} rows its largest weight lies on the word before: a "
    "previous-token head.",
    "It notes at “seven” that “cat” came before, and the second “cat” looks for that note: induction takes two heads.",
    OnRecording(
        {"layer": INDUCTION[0], "head": INDUCTION[1], "row": QUERY, "view": "why", "key": AFTER},
        {"layer": PREVIOUS[0], "head": PREVIOUS[1], "row": AFTER, "view": "map", "pin": f"t{AFTER}"},
        ring=(AFTER, WORD),
    ),
    right=1,
)
def previous() -> dict:
    rows = weights()[PREVIOUS]
    before = rows.argmax(-1)[1:] == np.arange(len(rows) - 1)
    return {"weight": rows[AFTER, WORD], "n": int(before.sum()), "total": len(before)}


@card(
    "One more step: why does head 16.0 look at the word before? In en-de, heads that keep a distance read positions.",
    "What does head 16.0 read?",
    ("Positions, as in en-de", "What one earlier head wrote", "A bit of everything: no part decides alone"),
    "No part decides alone: the largest is {part:.1f} of {sum:.1f}.",
    "Here positions are rotary: they do not stand beside the words but turn queries and keys, and so change every "
    "part of a score.",
    OnRecording(
        {"layer": PREVIOUS[0], "head": PREVIOUS[1], "row": AFTER, "pin": f"t{AFTER}"},
        {"view": "why", "key": WORD},
    ),
    right=2,
)
def turned() -> dict:
    parts, total = above_mean(PREVIOUS, WORD)
    return {"part": max(parts.values()), "sum": total}
