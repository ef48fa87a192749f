"""What the page Training says."""

from __future__ import annotations

INTRO = "How the learning rate moves, what that does to a training run, and a small model that learns while you watch."
SECTIONS = {"schedules": "Schedules", "here": "Train here", "runs": "Recorded runs"}

SCHEDULES = {
    "noam": "Noam",
    "inverse_sqrt": "inverse square root",
    "cosine": "cosine",
    "linear": "linear",
    "step_decay": "step decay (× 0.95 an epoch)",
    "constant": "constant",
}
OTHERS = tuple(name for name in SCHEDULES if name != "noam")
NOAM = (
    "The paper's schedule, often called Noam: the rate rises in a straight line during the warmup and then falls with "
    "the square root of the step: `factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)`."
)
AGAINST = (
    "The others take peak and warmup from the Noam curve above. Cosine and linear end at 0 after the last step drawn; "
    "step decay is multiplied by 0.95 after every epoch that follows the warmup."
)
KEEP = "Up to four Noam curves stay on the chart while you move the sliders."
SAME_CURVE = (
    "Inverse square root is Noam with the peak as its parameter: with the same peak and warmup it is the same curve. "
    "Largest difference here: {gap}."
)

NORMS = {"pre": "pre-norm", "post": "post-norm"}
NO_WARMUP = "1 means no warmup: the first step has the highest rate already."
PRACTICE = (
    "A Transformer of one encoder and one decoder layer (d_model 64) learns to write strings of up to ten letters "
    "backwards, on this machine, from nothing. It ends when 99 % of 200 strings that it never trained on are right."
)
NOT_STARTED = "Nothing is trained yet: choose and press Train. It runs in the background; leaving the page ends it."
REVERSAL = (
    "Recorded at step {step:,}. Rows ask, columns are read: a head that has learnt reversal reads the string from its "
    "end, along the other diagonal."
)
STATUS = {
    "running": "Training",
    "paused": "Paused",
    "solved": "Solved",
    "stopped": "Stopped",
    "ended": "Ended without solving it",
}


def describe(settings) -> str:
    """The choices of a run in a few words."""
    heads = "1 head" if settings.n_heads == 1 else f"{settings.n_heads} heads"
    name = SCHEDULES[settings.schedule].split(" (")[0]
    return f"{name}, {NORMS[settings.norm]}, {heads}, warmup {settings.warmup}, peak {settings.peak:g}"


RUNS = (
    "The same tiny model, data and seed, trained with `python -m model train`: after its warmup every one of these "
    "learning rates follows the same curve, so the runs differ in their beginnings and in the place of the norm."
)
NO_RUNS = "No recorded runs ship with this copy yet; this command records one, each of the presets in its own folder:"
RECORD_COMMAND = "python -m model train {name} --data-dir data --out runs/{name} --record {folder}/{name}"
RUN_QUANTITIES = {"loss": "Loss", "learning_rate": "Learning rate", "gradient_norm": "Gradient norm"}
RUN_READING = {
    "loss": "Training loss a token in nats, label smoothing counted, mean of every 20 steps.",
    "learning_rate": "The rate at the step that was logged.",
    "gradient_norm": "Norm of the whole gradient before clipping, mean of every 20 steps.",
}
SCRUB = "The weights of a run as they were after a step: what they make of your sentence, and where their heads look."
