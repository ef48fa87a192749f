"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here."""

from viz.pages.training import grid, here, lab
from viz.text.language import message, say
from viz.ui import choices, controls, shared

SECTIONS = {
    "grid": (message("Peak and warmup"), grid.compared),
    "schedules": (message("Schedules"), lab.lab),
    "here": (message("Train here"), here.here),
}


@choices.fragment
def live() -> None:
    controls.part({code: part for code, part in SECTIONS.items() if code != "grid" or grid.there()}, "section")()


shared.opening(say("Warm-up"), say("What the learning rate does to a training run."))
live()
