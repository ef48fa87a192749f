"""Six guided tours over the pages: what to open, what to look at, a question, and its answer.

What an answer says of the model that ships is tested against that model (tests/test_app/test_lessons.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from viz.text.language import message, say

INTRO = message(
    "Each lesson is a short tour over the real pages: every step opens a page with everything set, says what to look "
    "at, and asks a question before it shows the answer. Change whatever you like on the way; the links of a lesson "
    "bring its own settings back."
)
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
    message("A row of weights that adds up to 1, made of dot products: who reads what, and how much of it."),
    (
        Step(
            "",
            message(
                "The large map is one head of the cross-attention. Every row is one step of the translation, named by "
                "the word that it writes, every column a token of the source, and a row adds up to 1. Find the row of "
                "“Fahrrad”, or point at “Fahrrad” in the line of the translation."
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
                "How this row is computed, from top to bottom: the query of “Fahrrad” times the key of every source "
                "token, divided by √d, then the softmax. Switch “No scaling” on and watch entropy and gradient below."
            ),
            message("What does the division by √d_head prevent?"),
            message(
                "Without it the row is nearly all on one token: its entropy and the size of the softmax gradient fall "
                "to about 0, and a head whose gradient is 0 learns nothing."
            ),
            {"text": BICYCLE, "kind": "cross", "layer": "1", "head": "4", "view": "inside", "row": "5", "pin": "t5"},
        ),
        Step(
            "",
            message("Self-attention: now rows and columns are the same sentence. This is a head of the encoder."),
            message("Where does this head look from most tokens?"),
            message(
                "At the next token: the largest weights stand one right of the diagonal. What a word means depends on "
                "its neighbours, and here is how the model gets at them."
            ),
            {"text": BICYCLE, "kind": "encoder_self", "layer": "0", "head": "7"},
        ),
        Step(
            "atlas",
            message(
                "A weight says how much is read, not how much arrives: that also depends on what is there to be read. "
                "Left the weights of a head, in the middle the share of each token in what the head adds, right the "
                "difference."
            ),
            message(
                "This head gives a large part of its weight to the end token </s>. Does it also take much from there?"
            ),
            message(
                "No: the share of </s> in what arrives is far smaller than its share of the weight. Heads with nothing "
                "to look for rest on a token that adds little; such tokens are called sinks."
            ),
            {"text": BICYCLE, "part": "contribution", "kind": "cross", "layer": "2", "head": "6"},
        ),
    ),
)
MASKS = Lesson(
    message("Why masks"),
    message("What may not be read: padding, which means nothing, and the future, which does not exist yet."),
    (
        Step(
            "masks",
            message(
                "Sentences of different lengths stand in one batch, the shorter ones filled up with pads. These are "
                "the masks that the model used: row = query, column = key."
            ),
            message("Why is the mask of the decoder a triangle and that of the encoder not?"),
            message(
                "The source is all there before the first step. The translation is written one token at a time: the "
                "step that writes token 4 cannot know token 5, so in training it may not see it either."
            ),
            {"show": "masks"},
        ),
        Step(
            "masks",
            message("A head of the decoder with its masks, and in the same batch without the look-ahead mask."),
            message(
                "In training the decoder reads the right translation. What would it learn if it could see the next "
                "token?"
            ),
            message(
                "To copy it. It would look perfect in training and be useless in translating, where there is no next "
                "token to copy."
            ),
            {"without": "look-ahead", "show": "both"},
        ),
        Step(
            "masks",
            message("The same head twice: left with the look-ahead mask, right without it."),
            message("Where does the right map have weight that the left one has none of?"),
            message("Above the diagonal: on tokens that come later than the query."),
            {"without": "look-ahead", "show": "both", "layer": "1", "head": "3"},
        ),
        Step(
            "check",
            message(
                "Ten claims about the maps, measured on this sentence, with the same measurement while the masks are "
                "off."
            ),
            message("Which claims rest on the masks?"),
            message(
                "That masked cells are 0, that nothing sees the future, and that padding changes nothing: with the "
                "masks off their numbers are a thousand times what is allowed and more."
            ),
            {"text": BICYCLE},
        ),
    ),
)
POSITIONS = Lesson(
    message("Why positions"),
    message("Attention by itself takes a sentence for a bag of words; positions are added so that order counts."),
    (
        Step(
            "positions",
            message(
                "The positional encoding is a table: one row per position, one column per dimension, each pair of "
                "columns a sine and a cosine of another wavelength."
            ),
            message("Which columns tell neighbours apart, and which the beginning from the end?"),
            message(
                "The first columns wave fastest and change from one position to the next. The last ones hardly move "
                "within a sentence: they tell far apart positions from each other."
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
            message("Do you expect another translation than that of “The dog bites the man.”?"),
            message(
                "It is the same one. Both sentences have the same tokens, and without positions the encoder cannot "
                "tell them apart: shuffle its input, and its output is shuffled alike."
            ),
            {"text": MAN, **NO_POSITIONS},
        ),
    ),
)
HEADS = Lesson(
    message("What heads specialise in"),
    message("Heads take different roles; many can be spared one by one, but not all at once."),
    (
        Step(
            "atlas",
            message("The roles of all heads over held-out sentences. This one is in the encoder's last layer."),
            message("Which token does this head read from?"),
            message("The one before: most of its mass lies on the previous token."),
            {"kind": "encoder_self", "layer": "2", "head": "0"},
        ),
        Step(
            "steer",
            message("All cross-attention heads. Choose “Off”, click a head, and read the new translation."),
            message("How many single heads can be switched off before the meaning of this sentence is lost?"),
            message("Try: no single head changes its meaning. Much of what heads do is done by several of them."),
            {"text": BICYCLE, "kind": "cross"},
        ),
        Step(
            "steer",
            message("Now all eight heads of the first layer's cross-attention are off."),
            message("The translation still mentions the bicycle. How does the model know of it?"),
            message(
                "From the cross-attention of the other two layers. But the old translation has become much less "
                "probable, several times what any single head makes of it, and another one is written."
            ),
            {"text": BICYCLE, "kind": "cross", "edits": WHOLE_LAYER},
        ),
        Step(
            "atlas",
            message("How well each cross-attention head finds the words that people have linked by hand."),
            message("Are all heads equally good at it?"),
            message("By no means: a few heads do most of the aligning, others look elsewhere."),
            {"part": "alignment"},
        ),
    ),
)
WARMUP = Lesson(
    message("Why warmup"),
    message("The learning rate rises before it falls, because a young model is easily thrown off."),
    (
        Step(
            "training",
            message(
                "The learning rate of the paper: it rises in a straight line for the steps of the warmup, then falls "
                "with the square root of the step. Move the sliders."
            ),
            message("Where is the peak, and what happens to it when the warmup is made longer?"),
            message("It is at the last step of the warmup; a longer warmup puts it later and makes it lower."),
        ),
        Step(
            "training",
            message(
                "Six runs of the same tiny model, recorded: with and without warmup, with normalisation after each "
                "sublayer (post-norm, as in the paper, but with one more after the last layer) and before it "
                "(pre-norm)."
            ),
            message("Which run failed?"),
            message(
                "Post-norm without warmup: its loss hardly falls. Pre-norm without warmup learns, but ends above all "
                "runs that warmed up."
            ),
            {"section": "runs"},
        ),
        Step(
            "training",
            message("The same runs by the norm of their gradient, step by step."),
            message("How does one see early that a run will fail?"),
            message(
                "By the gradient that stays small while the loss stands still: the failed run lies below all others "
                "from the first hundreds of steps on. Nothing pulls the model away from where its first large steps "
                "took it."
            ),
            {"section": "runs", "runs-show": "gradient_norm", "runs-log-x": "logarithmic"},
        ),
    ),
)
RECURRENT = Lesson(
    message("A recurrent network against attention"),
    message("One vector for a whole sentence, or a look at every word for each word that is written."),
    (
        Step(
            "models",
            message(
                "A German caption through every model that is here for this direction. The GRU has read the sentence "
                "into one vector; the Transformer reads the source again at every step."
            ),
            message("What can be drawn for the GRU in place of an attention map?"),
            message(
                "Only its one vector: it is the same for every word that is written, so there is no telling which "
                "source word is behind which translated word."
            ),
            {"direction": "de-en"},
        ),
        Step(
            "models",
            message("Further down: quality by the length of the sentence, over the whole test set."),
            message("What happens to the GRU when sentences get longer?"),
            message("It falls off: the longer the sentence, the more has to fit into the same vector."),
            {"direction": "de-en", "quality": "bleu"},
        ),
        Step(
            "",
            message(
                "A Transformer at work: press ▶, and for every word that is written the lines show which source tokens "
                "its row of cross-attention attends to."
            ),
            message("To how many source tokens does one step attend?"),
            message("In this head often to one or two."),
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
