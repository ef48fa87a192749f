"""The options of the maps as data, which the browser shows as a form."""

from __future__ import annotations

from viz.text.language import message, say
from viz.views import maps
from viz.views.view import View

ROWS = {"predicted": message("word being written"), "read": message("word just read")}
SUMMARY_HELP = message("A summary is not a real head: no single head may look like it.")
WORDS_HELP = message("Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.")
HIDE_HELP = message("Leaves out the start and end tokens; the rest is not rescaled.")
STRETCH_HELP = message("Ends the colours at the largest weight of each map instead of 1.")
SHARE_HELP = message("At 90 %, each row shows only its largest weights that together hold 90 % of it.")


def form(view: View) -> list[dict]:
    """The options as they are chosen, as menus.js shows them."""

    def choice(name: str, label: str, codes: dict[str, str], help: str = "", enabled: bool = True) -> dict:
        options = [[code, say(text)] for code, text in codes.items()]
        return field("choice", name, label, getattr(view, name), help and say(help), options=options, enabled=enabled)

    def switch(name: str, label: str, help: str) -> dict:
        return field("switch", name, label, str(int(getattr(view, name))), say(help))

    return [
        choice("summary", message("Show"), maps.SUMMARIES, SUMMARY_HELP),
        choice("over", message("Summarised over"), maps.OVER, enabled=view.summary != "single"),
        choice("rows", message("Rows are named by"), ROWS),
        switch("words", message("Words instead of subwords"), WORDS_HELP),
        switch("hide", message("Hide special tokens"), HIDE_HELP),
        switch("stretch", message("Stretch colours"), STRETCH_HELP),
        field("range", "share", message("Largest weights of a row"), view.share, say(SHARE_HELP), low=50, high=100),
    ]


def field(kind: str, name: str, label: str, value: object, help: str = "", **more: object) -> dict:
    """A control: its kind, its name in the address, its label in English, its value, and help as it is said."""
    return {"type": kind, "name": name, "label": say(label), "value": value, "enabled": True, "help": help} | more
