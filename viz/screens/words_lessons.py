"""Six guided tours over the pages: what to open, what to look at, a question, and its answer.

What an answer says of the model that ships is tested against that model (tests/test_app/test_lessons.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

INTRO = (
    "Each lesson is a short tour over the real pages: every step opens a page with everything set, says what to look "
    "at, and asks a question before it shows the answer. Change whatever you like on the way; the links of a lesson "
    "bring its own settings back."
)
ANSWER = "Show the answer"
NEXT, BACK, END, START = "Next step", "Back", "All lessons", "Start"
BICYCLE = "A man is riding a bicycle down the street."
DOG, MAN = "The dog bites the man.", "The man bites the dog."
CROSS, ENCODER, DECODER = "Cross", "Encoder self", "Decoder self (masked)"
# All heads of the first layer's cross-attention, switched off.
WHOLE_LAYER = "v1_" + "_".join(f"oc0-{head}" for head in range(8))


@dataclass(frozen=True)
class Step:
    """One stop of a lesson.

    Attributes:
        page: its path in the address, "" for the first page.
        query: what its controls are set to, as in its address.
        look: what to look at.
        question: to think about first.
        answer: true of the model that ships.
    """

    page: str
    look: str
    question: str
    answer: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    """A tour.

    Attributes:
        name: its title.
        line: what one knows afterwards.
        steps: its stops.
    """

    name: str
    line: str
    steps: tuple[Step, ...]


ATTENTION = Lesson(
    "What attention is",
    "A row of weights that adds up to 1, made of dot products: who reads what, and how much of it.",
    (
        Step(
            "",
            "The large map is one head of the cross-attention. Every row is one step of the translation, every column "
            "a token of the source, and a row adds up to 1. Find the row of “einem”: the step that has read “einem” "
            "and writes the next word.",
            "Which source token does this step read most, and which word does it write?",
            "It reads “bicycle” with most of its weight and writes “Fahrrad”. Nobody told the model which words belong "
            "together: it found out by learning to translate.",
            {"text": BICYCLE, "kind": CROSS, "layer": "1", "head": "4"},
        ),
        Step(
            "inside",
            "The same row as it comes about: the query of “einem” times the key of every source token, divided by "
            "√d_head, then softmax. Go through the steps, then switch “No scaling” on and watch entropy and gradient.",
            "What does the division by √d_head prevent?",
            "Without it the row is nearly all on one token: its entropy and the size of the softmax gradient fall to "
            "about 0, and a head whose gradient is 0 learns nothing.",
            {"text": BICYCLE, "kind": CROSS, "layer": "1", "head": "4", "query": "5", "step": "all"},
        ),
        Step(
            "",
            "Self-attention: now rows and columns are the same sentence. This is a head of the encoder.",
            "Where does this head look from almost every token?",
            "At the next token: the largest weights stand one right of the diagonal. What a word means depends on its "
            "neighbours, and here is how the model gets at them.",
            {"text": BICYCLE, "kind": ENCODER, "layer": "0", "head": "7"},
        ),
        Step(
            "heads",
            "A weight says how much is read, not how much arrives: that also depends on what is there to be read. Left "
            "the weights of a head, in the middle the share of each token in what the head adds, right the difference.",
            "This head gives a large part of its weight to the end token </s>. Does it also take much from there?",
            "No: the share of </s> in what arrives is far smaller than its share of the weight. Heads with nothing to "
            "look for rest on a token that adds little; such tokens are called sinks.",
            {"text": BICYCLE, "part": "Contribution", "kind": CROSS, "layer": "2", "head": "6"},
        ),
    ),
)
MASKS = Lesson(
    "Why masks",
    "What may not be read: padding, which means nothing, and the future, which does not exist yet.",
    (
        Step(
            "masks",
            "Sentences of different lengths stand in one batch, the shorter ones filled up with pads. The masks as the "
            "model used them: rows ask, columns are read.",
            "Why is the mask of the decoder a triangle and that of the encoder not?",
            "The source is all there before the first step. The translation is written one token at a time: the step "
            "that writes token 4 cannot know token 5, so in training it may not see it either.",
        ),
        Step(
            "masks",
            "Below, under “Leave out”, the same batch runs with and without the look-ahead mask.",
            "In training the decoder reads the right translation. What would it learn if it could see the next token?",
            "To copy it. It would look perfect in training and be useless in translating, where there is no next token "
            "to copy.",
            {"without": "the look-ahead mask"},
        ),
        Step(
            "compare",
            "A reads a translation as trained, B reads the same tokens without the look-ahead mask. Orange is what A "
            "reads more, blue what B does.",
            "Where does B put weight that A has none of?",
            "Above the diagonal: on tokens that come later than the step that asks.",
            {"text": BICYCLE, "versus": "Look-ahead mask", "kind": DECODER},
        ),
        Step(
            "check",
            "Nine claims about the maps, measured on this sentence, with the same measurement while the masks are off.",
            "Which claims rest on the masks?",
            "That masked cells are 0, that nothing sees the future, and that padding changes nothing: with the masks "
            "off their numbers are a thousand times what is allowed and more.",
            {"text": BICYCLE},
        ),
    ),
)
POSITIONS = Lesson(
    "Why positions",
    "Attention by itself takes a sentence for a bag of words; positions are added so that order counts.",
    (
        Step(
            "positions",
            "The positional encoding is a table: one row a position, one column a dimension, each pair of columns a "
            "sine and a cosine of another wavelength.",
            "Which columns tell neighbours apart, and which the beginning from the end?",
            "The first columns wave fastest and change from one position to the next. The last ones hardly move within "
            "a sentence: they tell far apart positions from each other.",
        ),
        Step(
            "positions",
            "Further down the live model translates “The dog bites the man.” as trained and with the encoder's "
            "positions switched off.",
            "What is lost in the right one?",
            "Who bites whom: the encoder no longer knows which noun came first.",
            {"text": DOG, "off": "true", "where": "encoder only"},
        ),
        Step(
            "positions",
            "The same words in the other order, again without the encoder's positions.",
            "Do you expect another translation than that of “The dog bites the man.”?",
            "It is the same one. Both sentences have the same tokens, and without positions the encoder cannot tell "
            "them apart: shuffle its input, and its output is shuffled alike.",
            {"text": MAN, "off": "true", "where": "encoder only"},
        ),
    ),
)
HEADS = Lesson(
    "What heads specialise in",
    "Heads take different roles; many can be spared one by one, but not all at once.",
    (
        Step(
            "heads",
            "The roles of all heads over held-out sentences. This one is in the encoder's last layer.",
            "Which token does this head read from?",
            "The one before: most of its mass lies on the previous token.",
            {"part": "Roles", "kind": ENCODER, "layer": "2", "head": "0"},
        ),
        Step(
            "heads",
            "A board of all cross-attention heads. Click one to switch it off and read the new translation.",
            "How many single heads can be switched off before the meaning of this sentence is lost?",
            "Try: no single head of this board changes its meaning. Much of what heads do is done by several of them.",
            {"text": BICYCLE, "part": "Knock out", "kind": CROSS},
        ),
        Step(
            "heads",
            "Now all eight heads of the first layer's cross-attention are off.",
            "The translation still mentions the bicycle. How does the model know of it?",
            "From the cross-attention of the other two layers. But the old translation has become much less probable, "
            "several times what any single head makes of it, and another one is written.",
            {"text": BICYCLE, "part": "Knock out", "kind": CROSS, "edits": WHOLE_LAYER},
        ),
        Step(
            "alignment",
            "How well each cross-attention head finds the words that people have linked by hand.",
            "Are all heads equally good at it?",
            "By no means: a few heads do most of the aligning, others look elsewhere.",
        ),
    ),
)
WARMUP = Lesson(
    "Why warmup",
    "The learning rate rises before it falls, because a young model is easily thrown off.",
    (
        Step(
            "training",
            "The learning rate of the paper: it rises in a straight line for the steps of the warmup, then falls with "
            "the square root of the step. Move the sliders.",
            "Where is the peak, and what happens to it when the warmup is made longer?",
            "It is at the last step of the warmup; a longer warmup puts it later and makes it lower.",
        ),
        Step(
            "training",
            "Six runs of the same tiny model, recorded: with and without warmup, with normalisation after each "
            "sublayer (post-norm, the paper's) and before it (pre-norm).",
            "Which run failed?",
            "Post-norm without warmup: its loss hardly falls. Pre-norm without warmup learns, but ends above all runs "
            "that warmed up.",
            {"section": "Recorded runs"},
        ),
        Step(
            "training",
            "The same runs by the norm of their gradient, step by step.",
            "How does one see early that a run will fail?",
            "By the gradient that stays small while the loss stands still: the failed run lies below all others from "
            "the first hundreds of steps on. Nothing pulls the model away from where its first large steps took it.",
            {"section": "Recorded runs", "runs-show": "Gradient norm", "runs-log-x": "logarithmic"},
        ),
    ),
)
RECURRENT = Lesson(
    "A recurrent network against attention",
    "One vector for a whole sentence, or a look at every word for each word that is written.",
    (
        Step(
            "models",
            "A German caption through every model that is here for this direction. The GRU has read the sentence into "
            "one vector; the Transformer reads the source again at every step.",
            "What can be drawn for the GRU in place of an attention map?",
            "Only its one vector: it is the same for every word that is written, so there is no telling which source "
            "word is behind which translated word.",
            {"direction": "German → English"},
        ),
        Step(
            "models",
            "Further down: quality by the length of the sentence, over the whole test set.",
            "What happens to the GRU when sentences get longer?",
            "It falls off: the longer the sentence, the more has to fit into the same vector.",
            {"direction": "German → English", "quality": "BLEU"},
        ),
        Step(
            "steps",
            "A Transformer at work: the film shows, for every word that is written, the row of cross-attention with "
            "which it reads the source.",
            "How much of the source does one step need?",
            "Often a single token or two. Where the next word is nearly certain, the entropy below is near 0.",
            {"text": BICYCLE},
        ),
    ),
)
LESSONS = {
    "attention": ATTENTION,
    "masks": MASKS,
    "positions": POSITIONS,
    "heads": HEADS,
    "warmup": WARMUP,
    "recurrent": RECURRENT,
}


def unknown(value: str) -> str:
    """Say that an address names no step of a lesson."""
    return (
        f"There is no step “{value[:40]}” of a lesson; the lessons are {', '.join(LESSONS)}, their steps count from 1."
    )


def progress(lesson: Lesson, number: int) -> str:
    """Where one is: number counts from 1."""
    return f"Lesson: {lesson.name} · step {number} of {len(lesson.steps)}"
