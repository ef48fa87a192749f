"""What the page Warm-up says."""

from __future__ import annotations

from viz.text.language import message, say
from viz.text.words import NORMS

INTRO = message("What the learning rate does to a training run.")
BOARD = message("Validation loss at the end")
CURVES = message("Learning rate and loss")
READING = message(
    "Validation loss per token at the end (nats); {entropy:.2f} is what word frequencies alone reach. Click cells to "
    "compare runs."
)
UNFINISHED = message("The grid is not finished: {n} of its runs are there.")
MAP_OF = message("The maps are those of “{text}” with its reference.")
SECTIONS = {
    "grid": message("Peak and warmup"),
    "schedules": message("Schedules"),
    "here": message("Train here"),
}

SCHEDULES = {
    "noam": message("Noam"),
    "inverse_sqrt": message("inverse square root"),
    "cosine": message("cosine"),
    "linear": message("linear"),
    "step_decay": message("step decay (× 0.95 per epoch)"),
    "constant": message("constant"),
}
SHORT = SCHEDULES | {"step_decay": message("step decay")}
OTHERS = tuple(name for name in SCHEDULES if name != "noam")
NOAM = message(
    "The paper's schedule, often called Noam: the rate rises in a straight line during the warmup and then falls with "
    "the square root of the step: `factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)`."
)
AGAINST = message(
    "The others take peak and warmup from the Noam curve above. Cosine and linear end at 0 after the last step drawn; "
    "step decay is multiplied by 0.95 after every epoch that follows the warmup."
)
KEEP = message("Up to four Noam curves stay on the chart while you move the sliders.")
SAME_CURVE = message(
    "Inverse square root is Noam with the peak as its parameter: with the same peak and warmup it is the same curve. "
    "Largest difference here: {gap}."
)

NO_WARMUP = message("1 means no warmup: the first step has the highest rate already.")
PRACTICE = message(
    "A Transformer with one encoder and one decoder layer (d_model 64) learns on this machine to reverse strings of "
    "up to ten letters. It stops when 99 % of 200 held-out strings are right."
)
NOT_STARTED = message("Choose settings and press Train. Training runs in the background until you leave the page.")
REVERSAL = message(
    "Recorded at step {step:,}. A head that has learnt to reverse attends along the other diagonal, from the end of "
    "the string."
)
STATUS = {
    "running": message("Training"),
    "paused": message("Paused"),
    "solved": message("Solved"),
    "stopped": message("Stopped"),
    "ended": message("Ended without solving it"),
}


def describe(settings) -> str:
    return say(
        "{schedule}, {norm}, heads: {n}, warmup {warmup}, peak {peak:g}",
        schedule=say(SHORT[settings.schedule]),
        norm=say(NORMS[settings.norm]),
        n=settings.n_heads,
        warmup=settings.warmup,
        peak=settings.peak,
    )
