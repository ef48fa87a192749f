"""What passes between the stage and its host: the messages that it is sent, and the actions that it sends back.

The same types, under the same names, stand in JavaScript: viz/web/recording/message/payloads.js, and in viz/stage/main
message.js, actions.js and words.js; those of effects and of the next word stand beside what draws them. Arrays travel
as packing.py writes them; a mapping whose values may be missing has no key for them, where null would say something
else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from viz.stage.payload.effects import EffectsPayload
from viz.stage.payload.patching import LaterPatchingPayload, PatchedPayload, PatchingPayload
from viz.stage.payload.sampling import NextPayload

KindCode = Literal["cross", "encoder_self", "decoder_self"]
SideCode = Literal["queries", "keys"]


class Field(TypedDict):
    """A control; its value stands in the address under its name."""

    type: Literal["switch", "range", "number", "choice"]
    name: str
    label: str
    value: Any  # of switches "0" or "1"
    help: NotRequired[str]
    enabled: NotRequired[bool]
    options: NotRequired[Sequence[Sequence[str]]]  # of a choice: codes and texts
    low: NotRequired[float]
    high: NotRequired[float]
    step: NotRequired[float]
    unit: NotRequired[str]


class SummaryPayload(TypedDict):
    """What is known of all heads of a kind before their weights are there."""

    tiles: np.ndarray  # uint8 (L, H, t, s), 255 is a weight of 1
    entropy: np.ndarray  # (L, H), in nats
    largest: np.ndarray  # (L, H)
    on_first: np.ndarray  # (L, H), the mean weight on the first key, over rows that may attend to several keys
    telling: np.ndarray  # int (L, H), the row that is worth a sentence
    first: Sequence[int]  # layer and head, which to open


class PeaksPayload(TypedDict):
    """The largest weight of every row of every head."""

    keys: np.ndarray  # uint16 (L, H, T)
    values: np.ndarray  # (L, H, T), quantised


class AttentionPayload(TypedDict):
    """A kind of attention; its weights, or where they are fetched and what is known of them before."""

    code: KindCode
    shape: Sequence[int]  # layers, heads, queries, keys
    layers: Sequence[int]  # how the model numbers each layer, as edits and actions do
    scale: float  # what weights were multiplied by
    mask: np.ndarray | None  # uint8 (T, S) or (L, T, S), 1 = may attend; None: it is not known
    effects: np.ndarray | None  # float32 (L, H, T, S), in logits
    weights: np.ndarray | None  # uint16 (L, H, T, S)
    address: NotRequired[str]
    byHead: NotRequired[bool]  # heads are fetched each, at address/layer/head
    summary: NotRequired[SummaryPayload]
    openHeads: NotRequired[Mapping[str, np.ndarray]]  # uint16 (T, S) by "layer,head"
    peaks: NotRequired[PeaksPayload | None]


class CandidatesPayload(TypedDict):
    """What could have been written at every step."""

    tokens: Sequence[Sequence[str]]  # the most probable first
    probabilities: np.ndarray  # (T, k)
    entropy: np.ndarray  # (T,), in nats


class RecordingPayload(TypedDict):
    """A recording (docs/recording.md)."""

    text: str | None
    source_tokens: Sequence[str]
    target_tokens: Sequence[str]
    predicted_tokens: Sequence[str]
    kinds: Sequence[AttentionPayload]
    log_probabilities: np.ndarray | None  # (T,), in nats
    candidates: CandidatesPayload | None
    positions: Mapping[str, np.ndarray]  # by side, (tokens, dimensions)
    model: Mapping[str, Any]
    special: NotRequired[Mapping[str, np.ndarray]]  # by side uint8 (tokens,), 1 = special


class ProgramPayload(TypedDict):
    """How Python makes `result`: lines, and the imports that they need."""

    imports: Sequence[str]
    lines: Sequence[str]


class RowPlace(TypedDict):
    """A row of a head."""

    kind: KindCode
    layer: int
    head: int
    row: int


class RotationPayload(TypedDict):
    """What rotary positions do to the products of a row with S keys."""

    plain: np.ndarray  # (S,) q·k before the rotation
    shares: np.ndarray  # (S, 3), of q·k after it: dimensions that turn by up to 45°, up to 180°, and further


class InsidePayload(TypedDict):
    """One row of a head as it was recorded: S keys (inside.py)."""

    place: RowPlace
    depth: int  # of queries and keys, K
    divisor: float  # of the products: √K in the paper
    cap: float  # of the scores then, cap · tanh(score / cap); 0: none
    bias: np.ndarray | None  # (S,), added then: relative positions
    sink: float | None  # score of a learned sink
    rotation: RotationPayload | None
    raw_scores: np.ndarray  # (S,) q·k
    mask: np.ndarray  # (S,), 1 = may attend
    weights: np.ndarray  # (S,) after the softmax
    sizes: np.ndarray  # (S,) of the values, |v|
    dropout: float  # of weights in training
    draws: np.ndarray | None  # of each draw of dropout which weights it leaves, (draws, S)


class CellPlace(RowPlace):
    """A cell of a head: a query and a key."""

    key: int


class WhyPayload(TypedDict):
    """Why a query of a head looks where it looks: S scores as sums over A parts of the query and B parts of the key.

    Everything is above the mean over the keys that the query may attend to, and 0 at the others (why.py). Each column
    of `of_queries` and of `of_keys` sums to the score of its key, and `pairs` to that of the cell.
    """

    place: CellPlace
    query_names: Sequence[str]  # A: "tokens", "head 16.0", "cross head 1.2", "feed-forward 3", "bias", ...
    key_names: Sequence[str]  # B; in cross-attention parts of the encoder
    of_queries: np.ndarray  # (A, S), what is asked for
    of_keys: np.ndarray  # (B, S), what stands at each key
    pairs: np.ndarray  # (A, B), of the cell
    scores: np.ndarray  # (S,)
    weights: np.ndarray  # (S,), after the softmax
    mask: np.ndarray  # (S,), 1 = may attend
    cap: float  # of the scores, which are those before cap · tanh(score / cap); 0: none
    rest: float  # the largest |sum - recorded score| of the head
    groups: Sequence[str]  # G: "positions", "words", "earlier heads", "feed-forward", "bias", "distance", ...
    shares: np.ndarray  # (G, G), group of the query and of the key, of the variance of all scores of the head; sum 1


class NoWhyPayload(TypedDict):
    """Why the scores of a head cannot be split, in a sentence."""

    place: CellPlace
    reason: str


class SharesPayload(TypedDict):
    """What decides where each head looks in this text, by groups of parts."""

    groups: Sequence[str]  # G, as in WhyPayload
    shares: Mapping[str, np.ndarray]  # by kind (L, H, G, G), of each head as in WhyPayload


class ReasonPayload(TypedDict):
    """Why there are no direct effects, in a sentence."""

    reason: str


class NamesPayload(TypedDict):
    """What numbers and axes of maps are called, where they are not attention weights of tokens on tokens."""

    value: str
    rows: str
    columns: str


class VersionPayload(TypedDict):
    """A recording, and what else the stage shows of it."""

    recording: RecordingPayload
    names: NotRequired[NamesPayload]
    notes: Sequence[str]
    roles: Mapping[str, Sequence[Sequence[str]]]  # of heads, by kind
    rules: Mapping[str, str]  # by role the rule by which heads are given it
    first: Mapping[str, Sequence[int]]  # the head to open, by kind
    rowwise: bool  # rows can be looked into
    shares: NotRequired[SharesPayload | str | None]  # or where a browser fetches them, packed
    splits: NotRequired[bool]  # scores can be split into parts: the host answers what is asked about them
    parts: NotRequired[str | None]  # where a browser fetches those of a cell, which follows in the query, packed
    predicts: bool  # the model has an output over words: without one nothing adds to a word or is worth one
    program: ProgramPayload | None
    code: Mapping[str, str]  # programs that the browser does not write, by kind or view
    effects: EffectsPayload | ReasonPayload | None
    inside: InsidePayload | None
    why: NotRequired[WhyPayload | NoWhyPayload | None]
    next: NextPayload | None


class CutPayload(TypedDict):
    """One row of a head, over its S keys, whose queries or keys do without a part (cuts.py)."""

    place: CellPlace
    side: SideCode  # from which the part is left out
    part: str
    query: str
    keys: Sequence[str]  # S
    before: np.ndarray  # (S,), weights without the cut
    predicted: np.ndarray  # (S,), by the split of the scores, with norms held
    actual: np.ndarray  # (S,), with this path cut and nothing else changed, in the same tokens


class SteeringPayload(TypedDict):
    """What can be changed, and what is."""

    chips: Sequence[Sequence[str]]  # every change: the code by which it can be taken back, and a text
    off: Sequence[Sequence[Any]]  # heads: kind, layer, head
    uniform: Sequence[Sequence[Any]]
    forced: Sequence[Sequence[Any]]  # kind, row, key, heads; no heads are all
    cells: Sequence[Sequence[Any]]  # of masks: kind, row, key, whether it is open
    locked: Sequence[int]  # ids of the tokens that the translation begins with
    importance: Mapping[str, np.ndarray] | None  # by kind (L, H), in nats
    positions: Sequence[Field]
    cuts: NotRequired[Sequence[CutPayload]]  # of paths; missing where none can be cut
    pairs: NotRequired[Sequence[Sequence[str]]]  # words before and after
    cost: NotRequired[str]  # of the changes
    future: NotRequired[str]  # a warning
    problem: NotRequired[str]  # why what was asked for last cannot be


class ComparingPayload(TypedDict):
    """Two recordings beside each other, A and B."""

    words: Sequence[Sequence[str]]  # in pairs
    names: Sequence[str]
    about: Sequence[str]  # each in a few words
    note: NotRequired[str]
    program: ProgramPayload | None  # that makes both
    patching: NotRequired[PatchingPayload | LaterPatchingPayload | ReasonPayload | None]  # what comes back of A in B
    patched: NotRequired[PatchedPayload | None]  # then both are one text, without patches and with them


class WordsPayload(TypedDict):
    """The sentences of the stage: those of "all", and of some forms in their place (words.py)."""

    forms: Sequence[str]
    address: str | None  # where they are fetched; None: they are here
    catalogue: Mapping[str, Mapping[str, str]] | None  # by form and name


class ReportPart(TypedDict):
    """An element of a report: a text, or the rows of a table, of which the first names its columns."""

    tag: str  # of HTML
    text: NotRequired[str]
    rows: NotRequired[Sequence[Sequence[str]]]


class Message(TypedDict):
    """A message of the stage."""

    language: str
    words: WordsPayload
    stamp: NotRequired[str | int]  # of the message, where a host sends it more than once
    address: Mapping[str, str | None]  # parameters that the page's should have
    setting: Mapping[str, Any] | None  # what is open, on a page that sets the stage itself
    least: NotRequired[int | None]  # pixels that the large picture has at least, on a page with less room than others
    steering: SteeringPayload | None
    comparing: ComparingPayload | None
    after: VersionPayload
    before: VersionPayload | None
    standIn: NotRequired[bool]  # whether it is shown until that of the address is there, on the page without a server
    report: NotRequired[Sequence[ReportPart]]  # how the translation came about, which files show below the stage


class HeadAction(TypedDict):
    """Switch a head off or on, make it uniform, or leave only it."""

    do: Literal["off", "uniform", "alone"]
    kind: KindCode
    layer: int
    head: int


class LayerAction(TypedDict):
    """Switch all heads of a layer off or on."""

    do: Literal["layer"]
    kind: KindCode
    layer: int


class CellsAction(TypedDict):
    """Block or open cells of a mask, each [row, key]."""

    do: Literal["cells"]
    kind: KindCode
    cells: Sequence[Sequence[int]]
    open: bool


class ForceAction(TypedDict):
    """Have heads, each [layer, head], attend to a key; no heads are all."""

    do: Literal["force"]
    kind: KindCode
    row: int
    key: int
    strength: float
    heads: Sequence[Sequence[int]]


class CutAction(TypedDict):
    """Leave a part out of the queries or keys of one head only, or no longer; asked for at a cell of its map."""

    do: Literal["cut"]
    kind: KindCode
    layer: int
    head: int
    side: SideCode
    part: str
    row: NotRequired[int]
    key: NotRequired[int]


class PatchAction(TypedDict):
    """Put in or take out what the other text had, by the code of a patch."""

    do: Literal["patch"]
    code: str


class PositionsAction(TypedDict):
    """Scale and shift positions; what is missing stays."""

    do: Literal["positions"]
    scale: NotRequired[str | float]
    shift: NotRequired[str | float]
    stacks: NotRequired[str]


class KeepAction(TypedDict):
    """Keep everything up to a step."""

    do: Literal["keep"]
    step: int


class WriteAction(TypedDict):
    """Write a candidate of a step, by its rank from 0."""

    do: Literal["write"]
    step: int
    rank: int


class TypeAction(TypedDict):
    """Write a text at a step."""

    do: Literal["type"]
    step: int
    text: str


class DropAction(TypedDict):
    """Take a change back, by its code."""

    do: Literal["drop"]
    code: str


class PlainAction(TypedDict):
    """Take all changes back; show what each head is worth, or no longer."""

    do: Literal["reset", "importance"]


Action = (
    HeadAction
    | LayerAction
    | CellsAction
    | ForceAction
    | CutAction
    | PatchAction
    | PositionsAction
    | KeepAction
    | WriteAction
    | TypeAction
    | DropAction
    | PlainAction
)
