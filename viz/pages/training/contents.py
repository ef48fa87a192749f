"""The page Warm-up as data: what a browser fetches that computes and draws it without a server."""

from typing import Any

from viz.pages.training import lab
from viz.text.language import messages, say

NAME = "training"  # of its address
WORDS = messages(
    lead="Learning rate and loss of small models",
    show="Show",
    schedules="Schedules",
    in_app="A model that learns while you watch needs the app: make run.",
    # Schedules.
    warmup="Warmup (steps)",
    factor="Factor",
    steps="Steps drawn",
    epoch="Steps per epoch",
    against="Against",
    about_against=(
        "They take peak and warmup from the Noam curve above. Cosine and linear end at 0 after the last step drawn."
    ),
    keep="Save this Noam curve",
    about_keep="Up to four Noam curves stay on the chart while you move the sliders.",
    drop="Clear saved curves",
    x_axis="Training steps",
    y_axis="Learning rate",
    linear="linear",
    logarithmic="logarithmic",
    noam="Noam {d_model}, warmup {warmup:,}",
    times=", × {factor:g}",
    peak="peak {peak:.3e} at step {step:,}",
    inverse="Inverse square root is Noam with its peak given.",
    paper="The paper's schedule, called Noam, rises linearly and then falls as 1/√step.",
    rises="The rate still rises after {n:,} steps: its peak would come at step {step:,}.",
    falls="The rate rises for {step:,} steps to {peak:.2e}; after {n:,} steps {share:.0%} of it is left.",
    rates="Learning rate over the steps",
    step="training step",
    rate="learning rate",
    number="{number:,}",
)


def told() -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here."""
    return {
        "words": {name: say(text) for name, text in WORDS.items()},
        "others": {name: say(text) for name, text in lab.OTHERS.items()},
        "warmups": lab.WARMUPS,
        "steps": lab.STEPS,
        "epochs": lab.EPOCHS,
        "tiles": {"schedules": lab.tile_pixels()},
    }


def files() -> dict[str, bytes]:
    """What is fetched when it is needed, by name."""
    return {}
