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
    "step decay is multiplied by 0.95 after every epoch."
)
KEEP = "Up to four Noam curves stay on the chart while you move the sliders."
SAME_CURVE = (
    "Inverse square root is Noam with the peak as its parameter: with the same peak and warmup it is the same curve. "
    "Largest difference here: {gap}."
)
