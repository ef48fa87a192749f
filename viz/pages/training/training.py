"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here."""

from viz.pages.training import grid, here, lab, since
from viz.text.language import message, say
from viz.ui import frame, widgets
from viz.ui.frame import Tile
from viz.views.results import board_results

SECTIONS = {  # the tile of each, and what shows it
    "grid": (message("Recorded runs"), grid.tile_pixels, grid.show),
    "schedules": (message("Schedules"), lab.tile_pixels, lab.show),
    "since": (message("Since 2017"), since.tile_pixels, since.show),
    "here": (message("Train here"), here.tile_pixels, here.show),
}


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    sections = dict(SECTIONS)
    if not grid.is_shipped():
        del sections["grid"]
    if not board_results.exists():
        del sections["since"]
    tiles = [
        Tile(code, say(name), here.tile_note() if code == "here" else "", pixels=pixels())
        for code, (name, pixels, _) in sections.items()
    ]
    with places.left_controls:
        frame.note(say("Learning rate and loss of small models"))
    with places.left:
        section = frame.choose_tile(say("Show"), tiles, "section", tiles[0].code, columns=len(tiles))
    sections[section][2](places)


frame.opening(say("Warm-up"))
live()
