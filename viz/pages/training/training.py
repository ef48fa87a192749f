"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here."""

from viz.pages.training import grid, here, lab, since
from viz.text.language import message, say
from viz.ui import choices, controls, shared
from viz.views import board_results

SECTIONS = {
    "grid": (message("Peak and warmup"), grid.compared),
    "schedules": (message("Schedules"), lab.lab),
    "since": (message("Since 2017"), since.show),
    "here": (message("Train here"), here.here),
}


@choices.fragment
def live() -> None:
    sections = dict(SECTIONS)
    if not grid.there():
        del sections["grid"]
    if not board_results.exists():
        del sections["since"]
    controls.part(sections, "section")()


shared.opening(say("Warm-up"), say("What the learning rate does to a training run."))
live()
