"""Six guided tours over the pages: what to open, what to look at, a question, and its answer.

What an answer says of the model that ships is tested against that model (tests/test_app/test_lessons.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from viz.text.language import message, say

INTRO = message("Short tours over the real pages, with a question at every step.")
ANSWER = message("Show the answer")
NEXT, BACK, END, START = message("Next step"), message("Back"), message("All lessons"), message("Start")
BICYCLE = "A man is riding a bicycle down the street."
NO_POSITIONS = {"beam": "1", "scale": "0", "stacks": "encoder"}  # in the encoder
DOG, MAN = "The dog bites the man.", "The man bites the dog."
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
    message("What attention is"),
    message("Each row of weights adds up to 1 and mixes the values of all keys into one vector."),
    (
        Step(
            "",
            message(
                "The large map is one head of the cross-attention: each row is a step of the translation, each "
                "column a source token, and a row adds up to 1. Find the row that writes “Fahrrad”, or point at "
                "“Fahrrad” in the translation."
            ),
            message("Which source token does this step attend to most?"),
            message(
                "To “bicycle”, with most of its weight. No one labelled word pairs: the model found out by learning to "
                "translate."
            ),
            {"text": BICYCLE, "layer": "1", "head": "4"},
        ),
        Step(
            "",
            message(
                "How this row is computed, from top to bottom: the query of “Fahrrad” (what it looks for) times the "
                "key of each source token (what the token offers), divided by √d, then the softmax; these weights "
                "mix the values (what each token hands over). Switch “No scaling” on and watch entropy and gradient "
                "below."
            ),
            message("What changes without the division by √d?"),
            message(
                "The row moves nearly all its weight to one token. Over all cross-attention rows of this sentence "
                "the largest weight is 0.64 with the division and 0.93 without it, on average; the gradient of the "
                "softmax is 0.27 and 0.09. The paper suspects that such small gradients make learning hard (Vaswani "
                "et al. 2017, section 3.2.1)."
            ),
            {"text": BICYCLE, "kind": "cross", "layer": "1", "head": "4", "view": "inside", "row": "5", "pin": "t5"},
        ),
        Step(
            "",
            message("Self-attention: now rows and columns are the same sentence. This is a head of the encoder."),
            message("Which token does this head attend to from most tokens?"),
            message("The next one: the largest weights stand one right of the diagonal."),
            {"text": BICYCLE, "kind": "encoder_self", "layer": "0", "head": "7"},
        ),
        Step(
            "atlas",
            message(
                "A weight says how much a head attends to a token, not how much the token contributes: that also "
                "depends on its value. Compare the weights of this head with each token's share of the "
                "contributions: a share of their lengths, since vectors can cancel."
            ),
            message(
                "This head gives a large part of its weight to the end token </s>. Does that token also contribute "
                "much?"
            ),
            message(
                "No: its share of the contributions is far smaller than its share of the weight. Such tokens are "
                "called attention sinks. That heads attend to them when they find nothing is a hypothesis (Clark et "
                "al. 2019, Kobayashi et al. 2020, Xiao et al. 2023). A map of weights alone does not explain a "
                "translation (Jain and Wallace 2019)."
            ),
            {"text": BICYCLE, "part": "contribution", "kind": "cross", "layer": "2", "head": "6"},
        ),
    ),
)
MASKS = Lesson(
    message("Why masks"),
    message(
        "What must not be attended to: padding, which means nothing, and later tokens, which exist in training but "
        "not in translation."
    ),
    (
        Step(
            "masks",
            message(
                "Sentences of different lengths share one batch; the shorter ones are filled up with padding. These "
                "are the masks that the model used."
            ),
            message("Why is the mask of the decoder a triangle and that of the encoder not?"),
            message(
                "The source is complete before the first step; the translation is written one token at a time. In "
                "training the whole translation is there, so the mask must hide it: the step that predicts token 4 "
                "must not see token 4 or any later one."
            ),
            {"show": "masks"},
        ),
        Step(
            "masks",
            message("A head of the decoder with its masks, and in the same batch without the look-ahead mask."),
            message("In training the decoder reads the reference. What would it learn if it could see the next token?"),
            message(
                "To copy it. It would look perfect in training and be useless in translation, where there is no next "
                "token to copy."
            ),
            {"without": "look-ahead", "show": "both"},
        ),
        Step(
            "masks",
            message("The same head twice: left with the look-ahead mask, right without it."),
            message("Where does the right map have weight and the left one none?"),
            message("Above the diagonal: on tokens that come later than the query."),
            {"without": "look-ahead", "show": "both", "layer": "1", "head": "3"},
        ),
        Step(
            "check",
            message(
                "Ten claims about the maps, measured on this sentence, with the same measurement while the masks are "
                "off."
            ),
            message("Which claims need the masks?"),
            message(
                "That masked cells are 0, that nothing sees the future, and that padding changes nothing: without "
                "the masks each deviation is over a thousand times the allowed one."
            ),
            {"text": BICYCLE},
        ),
    ),
)
POSITIONS = Lesson(
    message("Why positions"),
    message(
        "Without a causal mask, attention treats a sentence as a bag of words; positions are added so that order "
        "counts."
    ),
    (
        Step(
            "positions",
            message(
                "The positional encoding is a table: row = position, column = dimension. Each pair of columns is a "
                "sine and a cosine of one wavelength."
            ),
            message("Which columns tell neighbours apart, and which the beginning from the end?"),
            message(
                "The first columns change from one position to the next. Slower ones tell the beginning from the "
                "end: over these 50 positions column 21 falls from 1 to −0.93. The last 16 columns move by at most "
                "0.05."
            ),
        ),
        Step(
            "steer",
            message("“The dog bites the man.”, translated as trained and with the encoder's positions switched off."),
            message("What is lost in the second one?"),
            message("Who bites whom: the encoder no longer knows which noun came first."),
            {"text": DOG, **NO_POSITIONS},
        ),
        Step(
            "steer",
            message("The same words in the other order, again without the encoder's positions."),
            message("Will its translation differ from that of “The dog bites the man.”?"),
            message(
                "No. Both sentences have the same tokens, and without positions the encoder cannot tell them apart: "
                "shuffle its input, and its output is shuffled the same way."
            ),
            {"text": MAN, **NO_POSITIONS},
        ),
    ),
)
HEADS = Lesson(
    message("What heads do"),
    message("A few heads have one clear role, most are mixed. Many can be spared one by one, but not all at once."),
    (
        Step(
            "atlas",
            message("The roles of all heads over held-out sentences. This one is in the encoder's last layer."),
            message("Which token does this head attend to?"),
            message(
                "The previous one, with most of its weight. Few roles are as clear: by the rules of this page 46 of "
                "the 72 heads are mixed."
            ),
            {"kind": "encoder_self", "layer": "2", "head": "0"},
        ),
        Step(
            "steer",
            message("All cross-attention heads. Choose “Off”, click a head, and read the new translation."),
            message("How many of these heads can you switch off, one at a time, before the bicycle is lost?"),
            message("All 24: without any single one of them, “Fahrrad” is still in the translation of this sentence."),
            {"text": BICYCLE, "kind": "cross"},
        ),
        Step(
            "steer",
            message("Now all eight heads of the first layer's cross-attention are off."),
            message("The translation still mentions the bicycle. How does the model know of it?"),
            message(
                "From the cross-attention of the other two layers. But the old translation has become much less "
                "probable: it loses more than three times the log-probability that any single head costs, and the "
                "model writes another one."
            ),
            {"text": BICYCLE, "kind": "cross", "edits": WHOLE_LAYER},
        ),
        Step(
            "atlas",
            message(
                "How well each cross-attention head finds linked words. Read at the input, a link belongs to the "
                "step that reads the target word, at the output to the step that predicts it."
            ),
            message("Are all heads equally good at it?"),
            message(
                "No. At the input 1 of the 24 heads has a lower error rate than the diagonal; at the output 13 on "
                "the speeches of the European Parliament, 1 on the image captions."
            ),
            {"part": "alignment"},
        ),
    ),
)
WARMUP = Lesson(
    message("Why warmup"),
    message("How high the learning rate goes, and how slowly it gets there."),
    (
        Step(
            "training",
            message(
                "The learning rate of the paper rises in a straight line during the warmup, then falls in proportion "
                "to 1/√step. Move the sliders."
            ),
            message("Where is the peak, and what happens to it when the warmup is made longer?"),
            message("It is at the last step of the warmup; a longer warmup puts it later and makes it lower."),
            {"section": "schedules"},
        ),
        Step(
            "training",
            message("Small runs that vary peak and warmup separately, with the norm after and before each sublayer."),
            message("Which runs fail?"),
            message(
                "Post-norm learns at a peak of 0.005 with every warmup, even with none, and at a peak of 0.1 with none "
                "of them (compare Xiong et al. 2020)."
            ),
            {"section": "grid"},
        ),
    ),
)
RECURRENT = Lesson(
    message("A recurrent network against attention"),
    message("One vector for a whole sentence, or attention to every source word at each step."),
    (
        Step(
            "models",
            message(
                "A German caption through every model of this direction. The GRU has read the sentence into one "
                "vector; the Transformer attends to the source at every step."
            ),
            message("What can be drawn for the GRU in place of an attention map?"),
            message(
                "Only its one vector, the same for every word that it writes. It has no map of attention; but "
                "leaving out one source word at a time shows what each written word depends on (occlusion)."
            ),
            {"direction": "de-en", "models-show": "all"},
        ),
        Step(
            "models",
            message("Quality by the length of the sentence, over the whole test set."),
            message("What happens to the GRU when sentences get longer?"),
            message(
                "From about 6 to 16 words its BLEU falls from 31 to 22; with attention from 32 to 30, so here the "
                "one vector is what costs. At about 21 words all three systems fall."
            ),
            {"direction": "de-en", "models-show": "lengths", "quality": "bleu"},
        ),
        Step(
            "",
            message(
                "A Transformer at work: press ▶. For each word it writes, the lines show which source tokens this "
                "step attends to."
            ),
            message("To how many source tokens does one step attend?"),
            message("In this head often to one or two. A weight shows where a head attends, not what a step needs."),
            {"text": BICYCLE, "step": "0"},
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
    return say(
        "There is no step “{asked}” of a lesson; the lessons are {lessons}, their steps count from 1.",
        asked=value[:40],
        lessons=", ".join(LESSONS),
    )


def progress(lesson: Lesson, number: int) -> str:
    """Where one is: number counts from 1."""
    return say(
        "Lesson: {name} · step {number} of {total}", name=say(lesson.name), number=number, total=len(lesson.steps)
    )
